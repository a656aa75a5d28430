"""`ttrt query`: describes a simulated board."""

from __future__ import annotations

import json
from typing import Any

from ttmlir.runtime.system import plain_system
from ttmlir.runtime.ttrt.boards import BOARD_NAMES, DEFAULT_BOARD, board_table
from ttmlir.runtime.ttrt.commands.command import Command
from ttmlir.runtime.ttrt.commands.option import COMMON_OPTIONS, Option, result_file
from ttmlir.schema.system_desc import pack_system_desc


class Query(Command):
    """Describe a system as JSON; with `--save-artifacts`, write it as `system_desc.ttsys`."""

    name = "query"
    summary = "Describe a simulated board, or save its description for the compiler."
    options = (
        *COMMON_OPTIONS,
        Option(
            name="--board",
            type=str,
            default=DEFAULT_BOARD,
            choices=BOARD_NAMES,
            help="Board to describe; the default is the chip that the compiler assumes.",
        ),
        result_file(name),
    )

    def execute(self) -> None:
        """Print and save the description."""
        system = board_table(self["board"])
        described = plain_system(system)
        if not self["quiet"]:
            self.logger.output(json.dumps(described, indent=2))
        path = ""
        if self["save_artifacts"]:
            path = self.artifacts.save_system_desc(pack_system_desc(system, self["board"]))
            self.logger.info(f"system description saved to {path}")
        self.note(path, details={"board": self["board"], "system_desc": described})

    def get_system_desc_as_dict(self) -> dict[str, Any]:
        """The description as plain values."""
        return plain_system(board_table(self["board"]))
