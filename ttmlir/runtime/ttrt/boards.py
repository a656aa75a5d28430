"""Boards that can be simulated, by name."""

from __future__ import annotations

from typing import Any

from ttmlir.layout.boards import BOARD_NAMES, board
from ttmlir.layout.system_tables import system_desc_to_table

DEFAULT_BOARD = BOARD_NAMES[0]


def board_table(name: str) -> dict[str, Any]:
    """The `SystemDesc` table of a board; LayoutError for an unknown name."""
    return system_desc_to_table(board(name))
