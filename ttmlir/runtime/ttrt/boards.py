"""Boards that can be simulated, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttmlir.layout.chip import SystemDesc, default_system_desc
from ttmlir.layout.system_tables import system_desc_to_table

DEFAULT_BOARD = "default"

_BOARDS: dict[str, Callable[[], SystemDesc]] = {DEFAULT_BOARD: default_system_desc}


def board_names() -> tuple[str, ...]:
    """Names of the boards, the default first."""
    return tuple(_BOARDS)


def board_table(name: str) -> dict[str, Any]:
    """The `SystemDesc` table of a board."""
    return system_desc_to_table(_BOARDS[name]())
