"""Descriptions of systems: by the name of a board, from `.ttsys` files, and how two differ."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from typing import Any, cast

from ttmlir.layout.errors import LayoutError
from ttmlir.layout.late_machine import any_system_from_table, plain_table
from ttmlir.layout.system import BOARD_NAMES, SystemDesc
from ttmlir.layout.system import board as find_board
from ttmlir.runtime.errors import BinaryError, InputError
from ttmlir.runtime.loading import file_bytes
from ttmlir.schema import FlatbufferError, TableView
from ttmlir.schema import versions as files

Table = Mapping[str, Any]
_Dict = dict[str, Any]
_List = list[Any]


def load_system_desc(path: str | os.PathLike[str]) -> TableView:
    """The root table of a `.ttsys` file; BinaryError if it cannot be read or is something else."""
    return read_system_desc(file_bytes(path), os.fspath(path))


def read_system_desc(data: bytes | memoryview, source: str) -> TableView:
    """The root table of a `.ttsys` file from its bytes; `source` names them in messages."""
    try:
        return files.load_system_desc(data, source).root
    except FlatbufferError as error:
        raise BinaryError(str(error)) from error


def comparable_system_desc(path: str | os.PathLike[str]) -> Table:
    """The `SystemDesc` table of a `.ttsys` file, one of 2026 as one of 2024."""
    try:
        return plain_table(load_system_desc(path)["system_desc"])
    except LayoutError as error:
        raise BinaryError(f"{os.fspath(path)}: {error}") from error


def find_system(board: str | os.PathLike[str]) -> SystemDesc:
    """The system of a board by its name, or that of a `.ttsys` file by its path.

    InputError for what is neither, BinaryError for a file that cannot be used.
    """
    board = board_text(board)
    if board in BOARD_NAMES:
        return find_board(board)
    if not board.endswith(".ttsys") and not os.path.exists(board):
        raise InputError(
            f"there is no board '{board}'; supported are {', '.join(BOARD_NAMES)} and the paths of "
            ".ttsys files"
        )
    try:
        return any_system_from_table(load_system_desc(board)["system_desc"])
    except LayoutError as error:
        raise BinaryError(f"{board}: {error}") from error


def board_text(board: str | os.PathLike[str]) -> str:
    """The name or path of a system as text; InputError for what is neither text nor a path."""
    given: object = board
    text = os.fspath(board) if isinstance(board, os.PathLike) else given
    if not isinstance(text, str):
        raise InputError(
            f"a board is a name or the path of a .ttsys file, got {board!r}; the names are "
            + ", ".join(BOARD_NAMES)
        )
    return text


def plain_system(system: Table) -> dict[str, Any]:
    """A `SystemDesc` table as plain values, defaults included, whichever way it was made."""
    if not isinstance(system, TableView):
        packed = files.pack_system_desc(system)
        system = files.load_system_desc(packed, "system description").root["system_desc"]
    assert isinstance(system, TableView), "a packed description reads as a table"
    return system.as_dict()


def system_differences(
    expected: Table, actual: Table, *, unsaid: Collection[str] = ()
) -> list[str]:
    """Where two `SystemDesc` tables differ, one line per field; empty if they are equal.

    Fields of chips in `unsaid` are not compared.
    """
    plain = plain_system(expected), plain_system(actual)
    for system in plain:
        for chip in system.get("chip_descs") or ():
            for name in unsaid:
                chip.pop(name, None)
    return _differences("system_desc", *plain)


def _differences(path: str, expected: Any, actual: Any) -> list[str]:
    if isinstance(expected, dict) and isinstance(actual, dict):
        return _dict_differences(path, cast(_Dict, expected), cast(_Dict, actual))
    if isinstance(expected, list) and isinstance(actual, list):
        return _list_differences(path, cast(_List, expected), cast(_List, actual))
    return [] if expected == actual else [f"{path}: expected {expected}, got {actual}"]


def _dict_differences(path: str, expected: _Dict, actual: _Dict) -> list[str]:
    lines: list[str] = []
    for key in (*expected, *(key for key in actual if key not in expected)):
        lines += _differences(f"{path}.{key}", expected.get(key), actual.get(key))
    return lines


def _list_differences(path: str, expected: _List, actual: _List) -> list[str]:
    if len(expected) != len(actual):
        return [f"{path}: expected {len(expected)} entries, got {len(actual)}"]
    lines: list[str] = []
    for i, (one, other) in enumerate(zip(expected, actual, strict=True)):
        lines += _differences(f"{path}[{i}]", one, other)
    return lines
