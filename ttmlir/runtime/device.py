"""Simulated devices: which chips are open, what memory is in use, what was moved."""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from ttmlir.layout.enums import MemorySpace
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system import BOARD_NAMES, SystemDesc, system_desc_from_table
from ttmlir.layout.system import board as find_board
from ttmlir.runtime.errors import BinaryError, InputError
from ttmlir.runtime.loading import file_bytes
from ttmlir.runtime.tensor import Numerics
from ttmlir.schema import FlatbufferError, TableView
from ttmlir.schema import versions as files

if TYPE_CHECKING:
    from ttmlir.runtime.tensor import Tensor, TensorDesc


# --- System ---------------------------------------------------------------------------------------
# System descriptions: loaded from `.ttsys` files, and compared field by field.

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
        return system_desc_from_table(load_system_desc(board)["system_desc"])
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


def system_differences(expected: Table, actual: Table) -> list[str]:
    """Where two `SystemDesc` tables differ, one line per field; empty if they are equal."""
    return _differences("system_desc", plain_system(expected), plain_system(actual))


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


# --- Device ---------------------------------------------------------------------------------------


@dataclass
class Counters:
    """Traffic between host and device since the device was opened."""

    writes: int = 0
    """Tensors moved from the host to the device."""
    bytes_written: int = 0
    reads: int = 0
    """Tensors moved from the device to the host."""
    bytes_read: int = 0
    programs: int = 0
    """Programs that ran."""

    def count_write(self, desc: TensorDesc) -> None:
        """Note that a tensor was moved to the device."""
        self.writes += 1
        self.bytes_written += desc.size_in_bytes

    def count_read(self, desc: TensorDesc) -> None:
        """Note that a tensor was moved to the host."""
        self.reads += 1
        self.bytes_read += desc.size_in_bytes

    def add(self, other: Counters, times: int = 1) -> None:
        """Add the traffic of a run, or of as many runs of a function within one."""
        self.writes += other.writes * times
        self.bytes_written += other.bytes_written * times
        self.reads += other.reads * times
        self.bytes_read += other.bytes_read * times
        self.programs += other.programs


@dataclass(eq=False)
class Device:
    """An open device of one or more chips; made by `open_device`."""

    chip_ids: tuple[int, ...]
    numerics: Numerics = Numerics.EXACT
    counters: Counters = field(default_factory=Counters)
    is_open: bool = True
    bytes_in_use: dict[MemorySpace, int] = field(default_factory=dict[MemorySpace, int])
    """Bytes of live tensors per device memory space, those between programs, not within one."""

    def __repr__(self) -> str:
        """Chips, numerics, and whether it was closed."""
        state = "" if self.is_open else ", closed"
        return f"Device(chips {list(self.chip_ids)}, numerics={self.numerics.value}{state})"

    def check_open(self) -> None:
        """InputError if the device was closed."""
        if not self.is_open:
            raise InputError(f"device {list(self.chip_ids)} was closed; open it again first")

    def allocate(self, tensor: Tensor, desc: TensorDesc) -> weakref.finalize[Any, Any]:
        """Account for a tensor until the returned function is called or the tensor is gone."""
        space, size = desc.memory_space, desc.size_in_bytes
        self.bytes_in_use[space] = self.bytes_in_use.get(space, 0) + size
        return weakref.finalize(tensor, _release, self.bytes_in_use, space, size)


def _release(bytes_in_use: dict[MemorySpace, int], space: MemorySpace, size: int) -> None:
    bytes_in_use[space] -= size


def open_device(
    device_ids: Sequence[int] = (0,),
    num_hw_cqs: Sequence[int] = (),
    *,
    numerics: Numerics | str = Numerics.EXACT,
) -> Device:
    """Open simulated chips by id.

    `numerics` says how the results of programs on this device are rounded. `num_hw_cqs`, the number
    of hardware command queues per chip, is accepted and changes nothing here.
    """
    ids = tuple(device_ids)
    if not ids:
        raise InputError("no device ids were given; the default device is [0]")
    if len(set(ids)) != len(ids) or min(ids) < 0:
        raise InputError(f"device ids {list(ids)} must be different and not negative")
    if num_hw_cqs and len(num_hw_cqs) != len(ids):
        raise InputError(
            f"{len(num_hw_cqs)} numbers of command queues were given for {len(ids)} devices"
        )
    return Device(ids, Numerics(numerics))


def close_device(device: Device) -> None:
    """Close a device; tensors on it can still be read, programs no longer run on it."""
    device.check_open()
    device.is_open = False
