"""Enumerations of the host API, with the numbers that TT-Metalium gives them.

Sources: tt-metal, tt_metal/api/tt-metalium/tt_backend_api_types.hpp, kernel_types.hpp,
buffer_types.hpp, circular_buffer_constants.h.
"""

from __future__ import annotations

from enum import Enum, IntEnum

from ttmlir.layout.enums import DataType
from ttmlir.sim.machine.tile_formats import FORMAT_NUMBERS, TILE_BYTES


class NamedNumber(IntEnum):
    """A number that is printed by its name, such as BufferType.L1."""

    __str__ = Enum.__str__


class DataFormat(IntEnum):
    """Format of the numbers in a circular buffer."""

    Float32 = 0
    Float16 = 1
    Bfp8 = 2
    Bfp4 = 3
    Float16_b = 5
    Bfp8_b = 6
    Bfp4_b = 7
    UInt16 = 9
    Bfp2 = 11
    Bfp2_b = 15
    UInt32 = 24
    UInt8 = 30

    @property
    def data_type(self) -> DataType:
        """The format as the rest of the project names it."""
        return _DATA_TYPES[self.value]


_DATA_TYPES = {number: data_type for data_type, number in FORMAT_NUMBERS.items()}


TILE_WIDTH = 32
TILE_HEIGHT = 32
TILE_HW = TILE_WIDTH * TILE_HEIGHT
FACE_WIDTH = 16
FACE_HEIGHT = 16
FACE_HW = FACE_WIDTH * FACE_HEIGHT
"""Extents of tiles and their faces (tt-metal, constants.hpp)."""


def tile_size(data_format: DataFormat) -> int:
    """Bytes of a 32x32 tile in a format, the exponents of block floats included."""
    return TILE_BYTES[data_format.data_type]


class CBIndex(IntEnum):
    """Circular buffers of a core."""

    c_0 = 0
    c_1 = 1
    c_2 = 2
    c_3 = 3
    c_4 = 4
    c_5 = 5
    c_6 = 6
    c_7 = 7
    c_8 = 8
    c_9 = 9
    c_10 = 10
    c_11 = 11
    c_12 = 12
    c_13 = 13
    c_14 = 14
    c_15 = 15
    c_16 = 16
    c_17 = 17
    c_18 = 18
    c_19 = 19
    c_20 = 20
    c_21 = 21
    c_22 = 22
    c_23 = 23
    c_24 = 24
    c_25 = 25
    c_26 = 26
    c_27 = 27
    c_28 = 28
    c_29 = 29
    c_30 = 30
    c_31 = 31


class BufferType(NamedNumber):
    """Memory that a buffer is in."""

    DRAM = 0
    L1 = 1
    L1_SMALL = 3
    TRACE = 4


class TensorMemoryLayout(NamedNumber):
    """How the pages of a buffer are spread over banks."""

    INTERLEAVED = 0
    HEIGHT_SHARDED = 2
    WIDTH_SHARDED = 3
    BLOCK_SHARDED = 4


class ShardOrientation(NamedNumber):
    """In which order shards are dealt to the cores of a grid."""

    ROW_MAJOR = 0
    COL_MAJOR = 1


class DataMovementProcessor(NamedNumber):
    """Processor of a core that moves data."""

    RISCV_0 = 0
    """BRISC, usually the writer."""
    RISCV_1 = 1
    """NCRISC, usually the reader."""


class NOC(NamedNumber):
    """Network that a kernel uses unless its calls name the other one."""

    NOC_0 = 0
    NOC_1 = 1
    RISCV_0_default = 0
    RISCV_1_default = 1


class NOC_MODE(NamedNumber):
    """Whether each of the two data movement processors keeps to one network."""

    DM_DEDICATED_NOC = 0
    DM_DYNAMIC_NOC = 1


class KernelBuildOptLevel(NamedNumber):
    """How much the compiler for the chip optimizes."""

    O1 = 0
    O2 = 1
    O3 = 2
    O0 = 3
    Os = 4
    Ofast = 5
    Oz = 6


class UnpackToDestMode(NamedNumber):
    """Whether Float32 tiles of a circular buffer are copied to DST with all their bits."""

    Default = 0
    UnpackToDestFp32 = 1
