"""Boards that can be simulated, by name."""

from __future__ import annotations

from typing import Any

from ttmlir.layout.system import BOARD_NAMES, DEFAULT_BOARD, board, system_desc_to_table
from ttmlir.runtime.binary import Binary
from ttmlir.runtime.errors import InputError

__all__ = ["BOARD_NAMES", "DEFAULT_BOARD", "board_table", "compile_advice"]


def compile_advice(system: str) -> str:
    """How a program is compiled for a board or a `.ttsys` file."""
    return (
        f"with the option system-desc-path={system} of ttmlir-opt's pipeline or board={system!r} "
        "of ttmlir.compile"
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
