"""Enumerations of the host API, with the numbers that TT-Metalium gives them.

Sources: tt-metal, tt_metal/api/tt-metalium/tt_backend_api_types.hpp, kernel_types.hpp,
buffer_types.hpp, circular_buffer_constants.h.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import TYPE_CHECKING

from ttmlir.layout.enums import DataType, MathFidelity
from ttmlir.metalium.cores import CoreCoord, CoreRange, CoreRangeSet
from ttmlir.metalium.errors import MetaliumError, host_call, names_fields, names_options
from ttmlir.sim.machine.numerics import FORMAT_NUMBERS, TILE_BYTES
from ttmlir.sim.machine.tile_shapes import TileShape

if TYPE_CHECKING:
    from ttmlir.metalium.device import Device


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
    RawUInt8 = 240
    RawUInt16 = 241
    RawUInt32 = 242

    @property
    def data_type(self) -> DataType:
        """The format as the rest of the project names it."""
        return _DATA_TYPES[self.value]


_DATA_TYPES = {number: data_type for data_type, number in FORMAT_NUMBERS.items()} | {
    int(DataFormat.RawUInt8): DataType.U8,
    int(DataFormat.RawUInt16): DataType.U16,
    int(DataFormat.RawUInt32): DataType.U32,
}


TILE_WIDTH = 32
TILE_HEIGHT = 32
TILE_HW = TILE_WIDTH * TILE_HEIGHT
FACE_WIDTH = 16
FACE_HEIGHT = 16
FACE_HW = FACE_WIDTH * FACE_HEIGHT
"""Extents of tiles and their faces (tt-metal, constants.hpp)."""


@dataclass(frozen=True)
class Tile:
    """Rows and columns of tiles (tt-metal, tile.hpp); MetaliumError for extents without support."""

    tile_shape: tuple[int, int] = (TILE_HEIGHT, TILE_WIDTH)
    transpose_tile: bool = False

    def __post_init__(self) -> None:
        """Refuse what circular buffers cannot hold."""
        if self.tile_shape[1] != TILE_WIDTH or self.transpose_tile:
            raise MetaliumError(f"{self}: tiles have 32 columns here and are not transposed")
        with host_call():
            TileShape.of_height(self.tile_shape[0])

    def get_tile_size(self, data_format: DataFormat) -> int:
        """Bytes of a tile in a format."""
        return TileShape.of_height(self.tile_shape[0]).size_told(data_format.data_type)


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


# --- Configs --------------------------------------------------------------------------------------
# What buffers and kernels are made from.
#
# Sources: tt-metal, tt_metal/api/tt-metalium/buffer.hpp, kernel_types.hpp.


@names_fields
@dataclass(frozen=True, kw_only=True)
class InterleavedBufferConfig:
    """A buffer whose pages go to the banks in turn; sizes in bytes."""

    device: Device
    size: int
    page_size: int
    buffer_type: BufferType = BufferType.DRAM
    buffer_layout: TensorMemoryLayout = TensorMemoryLayout.INTERLEAVED


@names_fields
@dataclass(frozen=True)
class ShardSpecBuffer:
    """How a two-dimensional tensor is cut into shards."""

    core_sets: CoreRangeSet | CoreRange
    shard_shape: tuple[int, int]
    """Rows and columns of a shard, in elements."""
    shard_orientation: ShardOrientation = ShardOrientation.ROW_MAJOR
    page_shape: tuple[int, int] = (32, 32)
    """Rows and columns of a page, in elements."""
    tensor2d_shape: tuple[int, int] = (1, 1)
    """Rows and columns of the tensor, in pages."""


@names_fields
@dataclass(frozen=True, kw_only=True)
class ShardedBufferConfig:
    """A buffer in L1 whose shards belong to cores; sizes in bytes."""

    device: Device
    size: int
    page_size: int
    buffer_type: BufferType = BufferType.L1
    buffer_layout: TensorMemoryLayout = TensorMemoryLayout.HEIGHT_SHARDED
    shard_parameters: ShardSpecBuffer


@names_fields
@dataclass(frozen=True, kw_only=True)
class DataMovementConfig:
    """A kernel that moves data, and the processor and network that it uses."""

    processor: DataMovementProcessor = DataMovementProcessor.RISCV_0
    noc: NOC = NOC.RISCV_0_default
    compile_args: Sequence[int] = ()
    defines: Mapping[str, str] = field(default_factory=dict[str, str])
    named_compile_args: Mapping[str, int] = field(default_factory=dict[str, int])
    noc_mode: NOC_MODE = NOC_MODE.DM_DEDICATED_NOC
    opt_level: KernelBuildOptLevel = KernelBuildOptLevel.O2
    """Changes nothing here: kernels take the cycles of the calls that they make."""


class Eth(NamedNumber):
    """What a kernel on an Ethernet core is for; kernels of both kinds have the same calls."""

    SENDER = 0
    RECEIVER = 1
    IDLE = 2


class CoreType(NamedNumber):
    """Kinds of cores."""

    WORKER = 0
    ETH = 1


@names_fields
@dataclass(frozen=True, kw_only=True)
class EthernetConfig:
    """A kernel on Ethernet cores, at (0, channel), and the processor and network that it uses."""

    eth_mode: Eth = Eth.SENDER
    noc: NOC = NOC.NOC_0
    processor: DataMovementProcessor = DataMovementProcessor.RISCV_0
    compile_args: Sequence[int] = ()
    defines: Mapping[str, str] = field(default_factory=dict[str, str])
    named_compile_args: Mapping[str, int] = field(default_factory=dict[str, int])
    opt_level: KernelBuildOptLevel = KernelBuildOptLevel.Os
    """Changes nothing here."""


@names_options
def ReaderDataMovementConfig(
    compile_args: Sequence[int] = (),
    defines: Mapping[str, str] | None = None,
    named_compile_args: Mapping[str, int] | None = None,
) -> DataMovementConfig:
    """The usual configuration of a kernel that reads: RISCV_1, on network 0."""
    return DataMovementConfig(
        processor=DataMovementProcessor.RISCV_1,
        noc=NOC.NOC_0,
        compile_args=compile_args,
        defines=defines or {},
        named_compile_args=named_compile_args or {},
    )


@names_options
def WriterDataMovementConfig(
    compile_args: Sequence[int] = (),
    defines: Mapping[str, str] | None = None,
    named_compile_args: Mapping[str, int] | None = None,
) -> DataMovementConfig:
    """The usual configuration of a kernel that writes: RISCV_0, on network 1."""
    return DataMovementConfig(
        processor=DataMovementProcessor.RISCV_0,
        noc=NOC.NOC_1,
        compile_args=compile_args,
        defines=defines or {},
        named_compile_args=named_compile_args or {},
    )


@names_fields
@dataclass(frozen=True, kw_only=True)
class ComputeConfig:
    """A kernel that computes, on all three compute processors."""

    math_fidelity: MathFidelity = MathFidelity.HIFI4
    fp32_dest_acc_en: bool = False
    dst_full_sync_en: bool = False
    unpack_to_dest_mode: Sequence[UnpackToDestMode] = ()
    """By the index of the circular buffer."""
    bfp8_pack_precise: bool = False
    """Changes nothing here: block floats are always packed from all bits of DST."""
    math_approx_mode: bool = False
    compile_args: Sequence[int] = ()
    defines: Mapping[str, str] = field(default_factory=dict[str, str])
    named_compile_args: Mapping[str, int] = field(default_factory=dict[str, int])
    opt_level: KernelBuildOptLevel = KernelBuildOptLevel.O3
    """Changes nothing here."""


def shard_cores(spec: ShardSpecBuffer, layout: TensorMemoryLayout) -> tuple[CoreCoord, ...]:
    """The cores that the shards go to, row of shards by row of shards.

    MetaliumError for block-sharded tensors with more columns or rows of shards than the cores.
    """
    cores = list(spec.core_sets)
    by_column = spec.shard_orientation == ShardOrientation.COL_MAJOR
    if layout != TensorMemoryLayout.BLOCK_SHARDED:
        if by_column:
            cores.sort(key=lambda core: (core.x, core.y))
        return tuple(cores)
    ranges = [spec.core_sets] if isinstance(spec.core_sets, CoreRange) else spec.core_sets.ranges()
    if len(ranges) != 1:
        raise MetaliumError("a block-sharded buffer takes one rectangle of cores")
    grid, start = ranges[0].grid_size(), ranges[0].start_coord
    rows, columns = shards_of(spec)
    across, down = (rows, columns) if by_column else (columns, rows)
    if across > grid.x or down > grid.y:
        raise MetaliumError(
            f"{rows}x{columns} shards need {across} columns and {down} rows of cores, but the "
            f"rectangle has {grid.x} columns and {grid.y} rows"
        )
    places = [(row, column) for row in range(rows) for column in range(columns)]
    return tuple(
        CoreCoord(
            start.x + (row if by_column else column), start.y + (column if by_column else row)
        )
        for row, column in places
    )


def shards_of(spec: ShardSpecBuffer) -> tuple[int, int]:
    """Rows and columns of shards that the tensor has."""
    pages = shard_pages(spec)
    rows, columns = (
        -(-extent // shard) for extent, shard in zip(spec.tensor2d_shape, pages, strict=True)
    )
    return rows, columns


def shard_pages(spec: ShardSpecBuffer) -> tuple[int, int]:
    """Rows and columns of a shard, in pages; MetaliumError if pages do not fill it."""
    (height, width), (page_height, page_width) = spec.shard_shape, spec.page_shape
    if min(*spec.shard_shape, *spec.page_shape, *spec.tensor2d_shape) < 1:
        raise MetaliumError("extents of shards, pages and tensors are at least 1")
    if height % page_height or width % page_width:
        raise MetaliumError(
            f"a shard of {height}x{width} elements is not made of pages of "
            f"{page_height}x{page_width}"
        )
    return height // page_height, width // page_width
