"""Boards that can be simulated, by name."""

from __future__ import annotations

from typing import Any

from ttmlir.runtime.system import system_table

DEFAULT_BOARD = "default"


def board_names() -> tuple[str, ...]:
    """Names of the boards, the default first."""
    from ttmlir.layout.boards import BOARDS

    return (DEFAULT_BOARD, *BOARDS)


def board_table(name: str) -> dict[str, Any]:
    """The `SystemDesc` table of a board."""
    from ttmlir.layout.boards import BOARDS
    from ttmlir.layout.chip import default_system_desc

    return system_table(default_system_desc() if name == DEFAULT_BOARD else BOARDS[name]())
