"""What every script of kernels has around it: buffers, programs, and the way to and from them.

`kernel_script.py` copies the functions into the script; `script_frame.py` has those that scripts of
calls have, too.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import ttnn

L1_SMALL_SIZE = 0
ARCH, GRID, DRAM_BANKS = "", (0, 0), 0
"""The chip that the kernels are made for: columns and rows of cores."""


def check_cores(device: Any) -> None:
    """Stop on a chip with less cores than the kernels are for."""
    grid = device.compute_with_storage_grid_size()
    if grid.x < GRID[0] or grid.y < GRID[1]:
        print(
            f"the kernels are for {GRID[0]}x{GRID[1]} cores; this chip has {grid.x}x{grid.y}",
            file=sys.stderr,
        )
        raise SystemExit(1)


def check_chip(device: Any) -> None:
    """Stop on a chip that the kernels are not made for."""
    grid, banks = device.compute_with_storage_grid_size(), device.dram_grid_size()
    found = device.arch().name.lower(), (grid.x, grid.y), banks.x * banks.y
    if found[0] != ARCH or grid.x < GRID[0] or grid.y < GRID[1] or found[2] != DRAM_BANKS:
        print(
            f"the kernels are made for {ARCH} with {GRID[0]}x{GRID[1]} cores and {DRAM_BANKS} "
            f"banks of DRAM; this is {found[0]} with {grid.x}x{grid.y} and {found[2]}: compile "
            "for its board",
            file=sys.stderr,
        )
        raise SystemExit(1)


class Blocks:
    """A buffer of a grid of shards in tiles, one below the other.

    `cores` are rectangles (first column, first row, last column, last row), each core of which has
    `count` shards in its L1, or none for a buffer whose tiles go round the banks of DRAM.
    """

    def __init__(self, dtype: Any, grid: Any, shard: Any, cores: Any = (), count: int = 1) -> None:
        """Extents of the shard are in numbers."""
        self.dtype, self.grid, self.shard, self.cores = dtype, grid, shard, cores
        self.rows, self.count = math.prod(shard[:-1]), count

    def config(self) -> Any:
        """The memory of the tensor."""
        if not self.cores:
            return ttnn.DRAM_MEMORY_CONFIG
        spec = ttnn.ShardSpec(
            cores_of(self.cores),
            [self.count * self.rows, self.shard[-1]],
            ttnn.ShardOrientation.ROW_MAJOR,
        )
        return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)

    def allocate(self, device: Any) -> Any:
        """A tensor with no numbers yet."""
        shape = [math.prod(self.grid) * self.count * self.rows, self.shard[-1]]
        return ttnn.allocate_tensor_on_device(
            ttnn.Shape(shape), self.dtype, ttnn.TILE_LAYOUT, device, self.config()
        )

    def write(self, array: Any, strides: Any, device: Any) -> Any:
        """A tensor with the numbers of an array, whose strides say where they are among padding."""
        array = numbers(array, self.dtype)
        flat = np.zeros(math.prod(self.grid) * self.rows * self.shard[-1], array.dtype)
        view(flat, array.shape, strides)[...] = array
        rank = len(self.grid)
        mixed = [each for pair in zip(self.grid, self.shard, strict=True) for each in pair]
        order = (*range(0, 2 * rank, 2), *range(1, 2 * rank, 2))
        shards = flat.reshape(mixed).transpose(order).reshape(-1, self.rows, self.shard[-1])
        room = np.zeros((len(shards), (self.count - 1) * self.rows, self.shard[-1]), array.dtype)
        stack = np.concatenate([shards, room], 1).reshape(-1, self.shard[-1])
        tensor = ttnn.Tensor(np.ascontiguousarray(stack), self.dtype, layout=ttnn.TILE_LAYOUT)
        return ttnn.to_device(tensor, device, memory_config=self.config())

    def read(self, tensor: Any, shape: Any, strides: Any) -> Any:
        """The numbers of a tensor without padding."""
        host = ttnn.from_device(tensor)
        if host.dtype in (ttnn.bfloat16, ttnn.bfloat8_b, ttnn.bfloat4_b):
            host = ttnn.to_dtype(host, ttnn.float32)
        stack = host.to_numpy().reshape(-1, self.count * self.rows, self.shard[-1])
        shards = stack[:, : self.rows].reshape(*self.grid, *self.shard)
        rank = len(self.grid)
        order = [axis + half * rank for axis in range(rank) for half in range(2)]
        flat = np.ascontiguousarray(shards.transpose(order)).reshape(-1)
        return np.array(view(flat, shape, strides))


def numbers(array: Any, dtype: Any) -> Any:
    """The numbers of an array as the library takes those of a data type."""
    kinds = {ttnn.int32: np.int32, ttnn.uint32: np.uint32}
    kinds |= {ttnn.uint16: np.uint16, ttnn.uint8: np.uint8}
    return np.asarray(array, kinds.get(dtype, np.float32), order="C")


def on_device(array: Any, dtype: Any, layout: Any, memory_config: Any, device: Any) -> Any:
    """A tensor with the numbers of an array."""
    tensor = ttnn.Tensor(numbers(array, dtype), dtype, layout=layout)
    return ttnn.to_device(tensor, device, memory_config=memory_config)


def sharded(memory_layout: str, buffer: str, cores: Any, shape: Any, orientation: str) -> Any:
    """The memory of a tensor whose shards are on cores."""
    spec = ttnn.ShardSpec(cores_of(cores), shape, getattr(ttnn.ShardOrientation, orientation))
    return ttnn.MemoryConfig(
        getattr(ttnn.TensorMemoryLayout, memory_layout), getattr(ttnn.BufferType, buffer), spec
    )


def accessor(tensor: Any) -> Any:
    """What a kernel's `TensorAccessorArgs` reads about a tensor."""
    return ttnn.TensorAccessorArgs(tensor).get_compile_time_args()


def view(flat: Any, shape: Any, strides: Any) -> Any:
    """The elements of an array with padding that are numbers."""
    steps = [each * flat.itemsize for each in strides]
    return np.lib.stride_tricks.as_strided(flat, shape, steps)


def cores_of(rectangles: Any) -> Any:
    """Cores from rectangles (first column, first row, last column, last row)."""
    ranges = [
        ttnn.CoreRange(ttnn.CoreCoord(left, top), ttnn.CoreCoord(right, bottom))
        for left, top, right, bottom in rectangles
    ]
    return ttnn.CoreRangeSet(ranges)


def reader(source: str, cores: Any, arguments: Any = (), **others: Any) -> Any:
    """A kernel on the processor that reads."""
    return kernel(source, ttnn.ReaderConfigDescriptor(), cores, arguments, **others)


def writer(source: str, cores: Any, arguments: Any = (), **others: Any) -> Any:
    """A kernel on the processor that writes."""
    return kernel(source, ttnn.WriterConfigDescriptor(), cores, arguments, **others)


def compute(
    source: str,
    cores: Any,
    arguments: Any = (),
    runtime: Any = (),
    by_core: Any = (),
    defines: Any = (),
    fidelity: str = "HiFi4",
    unpack_to_dest: Any = (),
    **flags: bool,
) -> Any:
    """A kernel that computes; tiles of circular buffers `unpack_to_dest` keep all of 32 bits."""
    config = ttnn.ComputeConfigDescriptor(
        math_fidelity=getattr(ttnn.MathFidelity, fidelity), **flags
    )
    modes = ttnn.UnpackToDestMode
    config.unpack_to_dest_mode = [
        modes.UnpackToDestFp32 if number in unpack_to_dest else modes.Default
        for number in range(CIRCULAR_BUFFERS)
    ]
    return kernel(source, config, cores, arguments, runtime, by_core, defines)


CIRCULAR_BUFFERS = 64


def kernel(
    source: str,
    config: Any,
    cores: Any,
    arguments: Any,
    runtime: Any = (),
    by_core: Any = (),
    defines: Any = (),
) -> Any:
    """A kernel, the arguments that it is compiled with, those of all cores and of each."""
    return ttnn.KernelDescriptor(
        kernel_source=source,
        source_type=ttnn.KernelDescriptor.SourceType.SOURCE_CODE,
        core_ranges=cores_of(cores),
        compile_time_args=[*arguments],
        common_runtime_args=[*runtime],
        runtime_args=[(ttnn.CoreCoord(*core), [*words]) for core, words in by_core],
        defines=[*defines],
        config=config,
    )


def circular_buffer(number: int, dtype: Any, page: int, size: int, cores: Any) -> Any:
    """A circular buffer with memory of its own."""
    form = ttnn.CBFormatDescriptor(buffer_index=number, data_format=dtype, page_size=page)
    return ttnn.CBDescriptor(
        total_size=size, core_ranges=cores_of(cores), format_descriptors=[form]
    )


def semaphore(number: int, cores: Any, value: int = 0) -> Any:
    """A semaphore, and the number that it begins at."""
    return ttnn.SemaphoreDescriptor(id=number, core_ranges=cores_of(cores), initial_value=value)


def to_array(result: Any) -> Any:
    """The numbers of a result."""
    return np.asarray(result)
