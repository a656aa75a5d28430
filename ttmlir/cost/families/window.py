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
from ttmlir.layout.enums import MemorySpace, TensorMemoryLayout
from ttmlir.runtime.tensor import TensorDesc
from ttmlir.sim.timing.costs import pack_cycles, tile_bytes, tilize_unpack_cycles, untilize_cycles

POOL_CHANNELS = 256


def cost_convolution(machine: Machine, work: Work) -> OperationCost:
    """A product: rows are pixels of the result, and K is a window of all channels of a group.

    Windows are gathered from the image, which each core has in L1, and made tiles, step by step
    beside the product.
    """
    kernel = _number(work, "kernel_height") * _number(work, "kernel_width")
    groups = max(1, _number(work, "groups"))
    channels, filters = _number(work, "in_channels"), _number(work, "out_channels")
    pixels = max(1, math.prod(work.output.shape[:-1]))
    inner = kernel * channels // groups
    extents = (_tiles(pixels), _tiles(inner), _tiles(filters))
    flops = 2.0 * pixels * inner * filters
    stride = max(_number(work, "stride_height"), _number(work, "stride_width"))
    if kernel == 1 and stride == 1:
        # The image is the first operand as it is.
        return OperationCost(programs=(multiply(machine, work, extents, flops),))
    image, *others = work.operands
    there = replace(
        image,
        memory_space=MemorySpace.DEVICE_L1,
        memory_layout=TensorMemoryLayout.BLOCK_SHARDED,
        core_ranges=image.core_ranges or ((0, 0, *machine.grid),),
    )
    inside = replace(work, operands=(there, *others))
    workload = multiply(machine, inside, extents, flops, extra=(_gather(machine, work, extents),))
    return OperationCost(programs=(give_edges(machine, image), workload))


def give_edges(machine: Machine, source: TensorDesc) -> Workload:
    """The program before a window operation: each core's image becomes rows of pixels in L1, with
    the edges of its neighbours'."""
    count = tile_count(source.shape)
    cores = cores_for(machine, source, count)
    tiles = -(-count // cores)
    unpack, pack = untilize_cycles(source.data_type, by_packer=True)
    pixels = math.prod(source.shape[:-1]) / cores
    copies = machine.figures.l1_read_latency + pixels * machine.figures.read_issue
    return Workload(
        cores=cores,
        steps=tiles,
        read=reading(machine, source, 1, cores),
        compute=stages(unpack, call_cycles("copy_tile"), pack),
        write=Stage(PROCESSOR, 0.0),
        once=(Stage(PROCESSOR, copies),),
        dram_bytes=dram_bytes(source),
        noc_bytes=network_bytes(source),
    )


def _gather(machine: Machine, work: Work, extents: tuple[int, int, int]) -> Stage:
    """Windows of the pixels of a block are copied within L1 and made tiles, in each step.

    The pixels of a row of the window are one transfer, if they are neighbours.
    """
    division = divide(machine, work, extents)
    tiles = division.block_rows * division.depth
    data_type = work.operands[0].data_type
    tilize = tiles * tilize_unpack_cycles(data_type, division.depth)
    tilize /= machine.figures.unpack_speed
    channels = max(1, _number(work, "in_channels") // max(1, _number(work, "groups")))
    dilation = _number(work, "dilation_width")
    row = channels * (_number(work, "kernel_width") if dilation == 1 else 1)
    transfers = division.block_rows * TILE * division.depth * TILE / row
    size = tiles * tile_bytes(data_type)
    copies = max(transfers * machine.figures.read_issue, size / machine.interface_rate)
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
    return OperationCost(programs=(give_edges(machine, source), workload))


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
