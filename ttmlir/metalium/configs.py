"""What buffers and kernels are made from.

Sources: tt-metal, tt_metal/api/tt-metalium/buffer.hpp, kernel_types.hpp.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ttmlir.layout.enums import MathFidelity
from ttmlir.metalium.cores import CoreCoord, CoreRange, CoreRangeSet
from ttmlir.metalium.enums import (
    NOC,
    NOC_MODE,
    BufferType,
    DataMovementProcessor,
    KernelBuildOptLevel,
    ShardOrientation,
    TensorMemoryLayout,
    UnpackToDestMode,
)
from ttmlir.metalium.errors import MetaliumError, names_fields, names_options

if TYPE_CHECKING:
    from ttmlir.metalium.device import Device


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
