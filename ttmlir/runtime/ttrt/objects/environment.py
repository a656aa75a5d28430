"""Which runtime is in force, on which system; names as in tt-mlir's Python module."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ttmlir.layout.enums import DataType
from ttmlir.runtime.binary import Binary
from ttmlir.runtime.errors import UnsupportedError
from ttmlir.runtime.ttrt.boards import DEFAULT_BOARD, board_table
from ttmlir.runtime.ttrt.objects.flatbuffers import Binary as BinaryFile
from ttmlir.runtime.ttrt.objects.flatbuffers import Flatbuffer, SystemDesc
from ttmlir.schema.system_desc import pack_system_desc

__all__ = [
    "DataType",
    "DebugEnv",
    "DeviceRuntime",
    "get_available_runtimes",
    "get_current_runtime",
    "get_current_system_desc",
    "set_compatible_runtime",
]


class DeviceRuntime(Enum):
    """What executes programs."""

    Disabled = 0
    TTNN = 1
    TTMetal = 2


@dataclass(frozen=True)
class DebugEnv:
    """Debug switches of tt-mlir's runtime; kept, but they change nothing here."""

    load_kernels_from_disk: bool = False
    enable_async_ttnn: bool = False

    @staticmethod
    def get(load_kernels_from_disk: bool = False, enable_async_ttnn: bool = False) -> DebugEnv:
        """The switches given."""
        return DebugEnv(load_kernels_from_disk, enable_async_ttnn)


def get_available_runtimes() -> list[DeviceRuntime]:
    """Runtimes that can be used: that for TTNN programs."""
    return [DeviceRuntime.TTNN]


def get_current_runtime() -> DeviceRuntime:
    """The runtime in force."""
    return DeviceRuntime.TTNN


def set_compatible_runtime(binary: Binary | Flatbuffer) -> None:
    """Choose the runtime that a binary needs; UnsupportedError if there is none for it."""
    if isinstance(binary, Binary | BinaryFile):
        return
    raise UnsupportedError(f"there is no runtime for a {type(binary).__name__}")


def get_current_system_desc() -> tuple[SystemDesc, list[int]]:
    """Description of the simulated default system, and the ids of its chips."""
    table = board_table(DEFAULT_BOARD)
    system = SystemDesc(file_path="system_desc.ttsys", capsule=pack_system_desc(table))
    return system, list(table["chip_desc_indices"])
