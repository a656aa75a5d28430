"""Boards that can be simulated, by name."""

from __future__ import annotations

from typing import Any

from ttmlir.layout.system import BOARD_NAMES, board, system_desc_to_table
from ttmlir.runtime.errors import InputError

DEFAULT_BOARD = BOARD_NAMES[0]


def compile_advice(system: str) -> str:
    """How a program is compiled for a board or a `.ttsys` file."""
    return (
        f"with the option system-desc-path={system} of ttmlir-opt's pipeline or board={system!r} "
        "of ttmlir.compile"
    )


def board_table(name: str) -> dict[str, Any]:
    """The `SystemDesc` table of a board; InputError for an unknown name."""
    if name not in BOARD_NAMES:
        raise InputError(f"there is no board '{name}'; supported are {', '.join(BOARD_NAMES)}")
    return system_desc_to_table(board(name))
