"""Boards that can be simulated, by name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ttmlir.errors import plural
from ttmlir.layout.system import (
    BOARD_NAMES,
    DEFAULT_BOARD,
    board,
    larger_boards,
    system_desc_to_table,
)
from ttmlir.runtime.binary import Binary
from ttmlir.runtime.errors import InputError

__all__ = ["BOARD_NAMES", "DEFAULT_BOARD", "board_table", "compile_advice"]


def compile_advice(name: str, system: Mapping[str, Any], binary: Binary) -> str:
    """How programs get to run on a board, or on the system of a `.ttsys` file."""
    chips = max((math.prod(program.mesh) for program in binary.programs), default=1)
    there = len(system["chip_desc_indices"])
    if there < chips:
        return (
            f"it has {plural(there, 'chip')}, and the program is for {chips}: name a board with as "
            f"many by --board, of {', '.join(larger_boards(chips)) or 'none'}"
        )
    return (
        f"compile the program again for it, with the option system-desc-path={name} of "
        f"ttmlir-opt's pipeline or board={name!r} of ttmlir.compile"
    )


def board_table(name: str, binary: Binary | None = None) -> dict[str, Any]:
    """The `SystemDesc` table of a board; InputError for an unknown name.

    With a binary, it is the board as compilers of the binary's year describe it.
    """
    if name not in BOARD_NAMES:
        raise InputError(f"there is no board '{name}'; supported are {', '.join(BOARD_NAMES)}")
    if binary is not None:
        return binary.describe_board(name)
    return system_desc_to_table(board(name))
