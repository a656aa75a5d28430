"""`ttrt check`: compares the system that a binary was compiled for with others, and its tensors
with their memories."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system.system_tables import system_desc_from_table
from ttmlir.runtime.errors import BinaryError, InputError
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.memory import overflow_of
from ttmlir.runtime.system import load_system_desc, system_differences
from ttmlir.runtime.ttrt.boards import BOARD_NAMES, DEFAULT_BOARD, board_table, compile_advice
from ttmlir.runtime.ttrt.commands.command import Command
from ttmlir.runtime.ttrt.commands.option import BINARY, COMMON_OPTIONS, Option, result_file
from ttmlir.runtime.ttrt.files.file_manager import TTSYS_EXTENSION
from ttmlir.runtime.ttrt.files.sources import Source
from ttmlir.runtime.ttrt.reports.results import Outcome
from ttmlir.runtime.ttrt.sweeps.options import SWEEP_OPTIONS
from ttmlir.schema import FlatbufferError, TableView, identify, versions

_MOST_LINES = 20


class Check(Command):
    """Compare each binary's system description with every one given, field by field."""

    name = "check"
    summary = "Check that binaries were compiled for a system."
    options = (
        BINARY,
        *COMMON_OPTIONS,
        *SWEEP_OPTIONS,
        Option(
            name="--system-desc",
            type=str,
            default="",
            help="File or folder of .ttsys files; default: the system that ttrt query describes.",
        ),
        Option(
            name="--board",
            type=str,
            choices=BOARD_NAMES,
            help="Board to compare with instead of a description.",
        ),
        result_file(name),
    )

    def check_constraints(self) -> None:
        """There is one thing to compare with."""
        super().check_constraints()
        if self["board"] and self["system_desc"]:
            raise InputError("--board and --system-desc both say what to compare with; give one")

    def execute(self) -> None:
        """Check every file."""
        self._systems = self._load_systems()
        self.run_on_each()

    def _load_systems(self) -> dict[str, Mapping[str, Any]]:
        path = self["system_desc"]
        if not path:
            name = self["board"] or DEFAULT_BOARD
            return {name: board_table(name)}
        if not os.path.exists(path):
            raise InputError(f"{path}: No such file or directory")
        paths = [path] if os.path.isfile(path) else self.file_manager.find_ttsys_binary_paths(path)
        if not paths:
            raise InputError(f"{path}: the folder holds no {TTSYS_EXTENSION} files")
        return {found: load_system_desc(found)["system_desc"] for found in paths}

    def execute_on(self, source: Source) -> None:
        """Compare one file with every system."""
        own = _system_of_program(source)
        for name, system in self._systems.items():
            self._compare(source.name, own, name, system)
            if identify(source.content) == "TTNN":
                self._check_memory(source, name, system)
        if self["save_artifacts"]:
            self.artifacts.save_source(source)

    def _compare(
        self, path: str, own: Mapping[str, Any], system_name: str, system: Mapping[str, Any]
    ) -> None:
        name = self._spell(system_name)
        lines = system_differences(system, own)
        details = {"system_desc": name, "differences": lines}
        if not lines:
            self.logger.info(f"{path}: system description matches {name}")
            self.note(path, details=details)
            return
        shown = lines[:_MOST_LINES]
        if len(lines) > len(shown):
            shown.append(f"... and {len(lines) - len(shown)} more")
        message = (
            f"{path}: system description does not match {name}; compile the program again for it, "
            f"{compile_advice(system_name)}, or check it against its own system:\n  "
            + "\n  ".join(shown)
        )
        self.logger.error(message)
        self.note(path, outcome=Outcome.ERROR, exception=message, details=details)

    def _spell(self, system_name: str) -> str:
        return system_name if self["system_desc"] else f"board '{system_name}'"

    def _check_memory(self, source: Source, system_name: str, system: Mapping[str, Any]) -> None:
        """Refuse a file with a program whose tensors do not fit into the chips of a system."""
        name = self._spell(system_name)
        try:
            chip = system_desc_from_table(system).chip(0)
        except LayoutError as error:
            raise BinaryError(f"{name}: {error}") from None
        for program in read_binary(source.content, source.name).programs:
            problem = overflow_of(program, chip)
            if problem is not None:
                message = f"{problem} (on {name})"
                self.logger.error(message)
                self.note(source.name, outcome=Outcome.ERROR, exception=message)


def _system_of_program(source: Source) -> TableView:
    """The system that a `.ttnn` or `.ttm` file was compiled for."""
    path = source.name
    try:
        loaded = versions.load(source.content, path)
    except FlatbufferError as error:
        raise BinaryError(str(error)) from error
    if loaded.identifier == "TTSY":
        raise BinaryError(f"{path}: expected a program, got a system description")
    if loaded.root["system_desc"] is None:
        raise BinaryError(f"{path}: field 'system_desc' is missing")
    return loaded.root["system_desc"]
