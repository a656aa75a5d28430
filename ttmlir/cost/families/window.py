"""Convolutions and pooling: images whose rows are pixels, divided over the cores."""

from __future__ import annotations

import math
from dataclasses import replace

from ttmlir.cost.families.contraction import divide, multiply
from ttmlir.cost.machine import Machine
from ttmlir.cost.work import (
    TILE,
    Work,
    call_cycles,
    cores_for,
    dram_bytes,
    network_bytes,
    reading,
    stages,
    tile_count,
)
from ttmlir.cost.workload import DRAM, PROCESSOR, UNPACK, OperationCost, Stage, Workload
from ttmlir.layout.enums import DataType, MemorySpace, TensorMemoryLayout
from ttmlir.runtime.tensor import TensorDesc
from ttmlir.sim.timing.costs import pack_cycles, tile_bytes, tilize_unpack_cycles, untilize_cycles

POOL_CHANNELS = 256
NARROWEST = tile_bytes(DataType.BF16) // (TILE * TILE)
ALIGNED = 8
"""Channels of pixels that are rows of numbers are padded to a multiple of it (16 bytes)."""
SPLIT_ROWS = 3
"""From so many rows of tiles of a block on, both data movement processors gather its windows, as
ttnn 0.81 does on an n150: its kernels get `split_reader` for blocks of 4 and more rows of tiles of
3x3x64, 3x3x128, 4x4x16 and 4x7x32 windows, and not for those of 1 and 2."""


def cost_convolution(machine: Machine, work: Work) -> OperationCost:
    """A product: rows are pixels of the result, and K is a window of all channels of a group.

    Windows are gathered from the image, which each core has in L1, and made tiles, step by step
    beside the product; each row of a window is padded to whole tiles.
    """
    height, width = _number(work, "kernel_height"), _number(work, "kernel_width")
    kernel = height * width
    groups = max(1, _number(work, "groups"))
    channels, filters = _number(work, "in_channels"), _number(work, "out_channels")
    pixels = max(1, math.prod(work.output.shape[:-1]))
    inner = kernel * channels // groups
    image, *others = work.operands
    depth = height * _tiles(width * _aligned(channels // groups, image))
    extents = (_tiles(pixels), depth, _tiles(filters))
    flops = 2.0 * pixels * inner * filters
    stride = max(_number(work, "stride_height"), _number(work, "stride_width"))
    if kernel == 1 and stride == 1:
        # The image is the first operand as it is.
        return OperationCost(programs=(multiply(machine, work, extents, flops),))
    there = replace(
        image,
        memory_space=MemorySpace.DEVICE_L1,
        memory_layout=TensorMemoryLayout.BLOCK_SHARDED,
        core_ranges=image.core_ranges or ((0, 0, *machine.grid),),
    )
    inside = replace(work, operands=(there, *others))
    workload = multiply(machine, inside, extents, flops, extra=(_gather(machine, work, extents),))
    return OperationCost(programs=(_give_edges(machine, work), workload))


def _give_edges(machine: Machine, work: Work) -> Workload:
    """The program before a window operation: each core's image becomes rows of pixels in L1, with
    the edges of its neighbours'; each row of the image is copied to its place between margins."""
    source = work.operands[0]
    count = tile_count(source.shape)
    cores = cores_for(machine, source, count)
    unpack, pack = untilize_cycles(source.data_type, by_packer=True)
    pixels = math.prod(source.shape[:-1])
    runs = -(-pixels // _number(work, "input_width") // cores)
    size = -(-pixels // cores) * _aligned(source.shape[-1], source) * _number_bytes(source)
    issues = runs * machine.figures.write_issue
    copies = machine.figures.l1_write_latency + issues + size / machine.interface_rate
    return Workload(
        cores=cores,
        steps=-(-count // cores),
        read=reading(machine, source, 1, cores),
        compute=stages(unpack, call_cycles("copy_tile"), pack) if source.is_tiled else (),
        write=Stage(PROCESSOR, 0.0),
        once=(Stage(PROCESSOR, copies),),
        dram_bytes=dram_bytes(source),
        noc_bytes=network_bytes(source),
    )


def _aligned(channels: int, image: TensorDesc) -> int:
    """The numbers of a pixel with padding."""
    whole = TILE if image.is_tiled else ALIGNED
    return -(-channels // whole) * whole


def _number_bytes(image: TensorDesc) -> float:
    """Of a number in a row of pixels: blocks of 8 bits become bfloat16 there."""
    return max(NARROWEST, tile_bytes(image.data_type) / (TILE * TILE))


def _gather(machine: Machine, work: Work, extents: tuple[int, int, int]) -> Stage:
    """Windows of the pixels of a block are copied within L1 and made tiles, in each step.

    The pixels of a row of the window are one transfer, if they are neighbours. Cores that share
    pixels have some of their channels each.
    """
    division = divide(machine, work, extents)
    tiles = division.block_rows * division.depth / division.columns
    data_type = work.operands[0].data_type
    tilize = tiles * tilize_unpack_cycles(data_type, division.depth)
    tilize /= machine.figures.unpack_speed
    apart = _number(work, "kernel_width") if _number(work, "dilation_width") > 1 else 1
    rows = _number(work, "kernel_height") * apart * division.depth / extents[1]
    size = tiles * TILE * TILE * _number_bytes(work.operands[0])
    issues = division.block_rows * TILE * rows * machine.figures.read_issue
    at_once = work.matmul.block_rows or division.block_rows
    if at_once >= SPLIT_ROWS or division.columns > 1:
        issues /= 2
    copies = max(issues, size / machine.interface_rate)
    return Stage(UNPACK if tilize > copies else PROCESSOR, max(tilize, copies), 0.0)


def cost_pool(machine: Machine, work: Work) -> OperationCost:
    """A window for each pixel of the result, gathered, then reduced as rows of tiles."""
    output, source = work.output, work.operands[0]
    pixels = max(1, math.prod(output.shape[:-1]))
    channels = output.shape[-1]
    cores = cores_for(machine, output, pixels)
    steps = -(-pixels // cores)
    window = _number(work, "kernel_height") * _number(work, "kernel_width")
    blocks = -(-channels // POOL_CHANNELS)
    reduce_cycles = (
        machine.figures.pool_window * 1e-9 * machine.clock_hz * blocks * -(-window // 16)
    )
    size = channels * tile_bytes(source.data_type) / (TILE * TILE)
    gather = window * max(machine.figures.read_issue, size / machine.interface_rate)
    tiles = tile_count(source.shape) / steps / cores
    workload = Workload(
        cores=cores,
        steps=steps,
        read=_image_share(machine, source, tiles, cores),
        compute=(
            Stage(PROCESSOR, gather),
            *stages(
                reduce_cycles,
                call_cycles("copy_tile") * blocks,
                pack_cycles(output.data_type) / TILE,
            ),
        ),
        write=_image_share(machine, output, tile_count(output.shape) / steps / cores, cores),
        flops=float(pixels * channels * window),
        dram_bytes=dram_bytes(source, output),
        noc_bytes=network_bytes(source, output),
    )
    return OperationCost(programs=(_give_edges(machine, work), workload))


def _image_share(machine: Machine, desc: TensorDesc, tiles: float, cores: int) -> Stage:
    """What moving an image in large blocks takes for each step."""
    size = tiles * tile_bytes(desc.data_type)
    rate = min(machine.interface_rate, machine.spread_read_rate / cores)
    if not dram_bytes(desc):
        return Stage(PROCESSOR, 0.0)
    return Stage(DRAM, size / rate, size * cores / machine.dram_rate)


def _number(work: Work, name: str) -> int:
    return int(work.parameters.get(name, 1))


def _tiles(extent: int) -> int:
    return -(-extent // TILE)
