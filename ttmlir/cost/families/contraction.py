"""Products of matrices, cut over the cores as ttnn's programs cut them.

The result is divided in blocks, one for each core, and a core adds up products along K block by
block: the operands' blocks come from DRAM or from shards in L1, once for each row or column of
cores, whose others get them by multicast. Products of a batch of matrices are divided by matrices,
and every core reads what it needs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from ttmlir.cost.families.reduction import FAST_EXP, REDUCE, pass_cycles
from ttmlir.cost.machine import Machine
from ttmlir.cost.work import (
    NO_TRANSFER,
    TILE,
    MatmulConfig,
    Work,
    cores_for,
    dram_bytes,
    function_cycles,
    is_sharded,
    join,
    network_bytes,
    reading,
    shard_cores,
    tile_shape,
    writing,
)
from ttmlir.cost.workload import COMPUTE, DRAM, NOC, PACK, UNPACK, OperationCost, Stage, Workload
from ttmlir.layout.enums import DataType, MathFidelity, MemorySpace, TensorMemoryLayout
from ttmlir.runtime.tensor import TensorDesc
from ttmlir.sim.timing.costs import (
    UNITS,
    fidelity_phases,
    matmul_math_cycles,
    matmul_unpack_cycles,
    pack_cycles,
    tile_bytes,
    unpack_cycles,
)

DST_TILES = UNITS.dst_tiles // 2
"""Tiles of 16 bits in the half of DST that is computed in."""
NARROW = 8
"""A result that is so many times longer than wide is divided along its long side alone."""
PACKED = "relu"
"""The function that the packer computes."""
DEFAULT_DEPTH = 2
"""Tiles along K of a block, where K has an even number of them."""


@dataclass(frozen=True)
class Division:
    """How the result is divided: rows and columns of cores, and the tiles of a core's block."""

    rows: int
    columns: int
    block_rows: int
    block_columns: int
    depth: int
    steps: int

    @property
    def cores(self) -> int:
        """That have a block."""
        return self.rows * self.columns


def cost_matmul(machine: Machine, work: Work) -> OperationCost:
    """`matmul`: one program. Tiles of a transposed first operand are turned by the cores that
    multiply them, those of the second one while they are unpacked."""
    a, b = work.operands[:2]
    (batch, rows, inner), (matrices, depth, columns) = tile_shape(a.shape), tile_shape(b.shape)
    extent = a.shape[-1]
    if work.parameters.get("transpose_a"):
        rows, inner, extent = inner, rows, a.shape[-2]
    if work.parameters.get("transpose_b"):
        columns = depth
    if matrices == 1:
        rows, batch = rows * batch, 1
    flops = 2.0 * math.prod(work.output.shape) * extent
    if batch > 1 or matrices > 1:
        batch = max(batch, matrices)
        workload = _batched(machine, work, batch, (rows, inner, columns), flops)
    else:
        workload = multiply(machine, work, (rows, inner, columns), flops)
    return OperationCost(programs=(workload,))


def multiply(
    machine: Machine,
    work: Work,
    extents: tuple[int, int, int],
    flops: float,
    *,
    extra: tuple[Stage, ...] = (),
) -> Workload:
    """The program for M x K x N tiles; `extra` is done in every step besides multiplying."""
    a, b = work.operands[:2]
    division = divide(machine, work, extents)
    down, across = division.rows, division.columns
    first = _block_read(
        machine,
        a,
        division.block_rows * division.depth,
        readers=down,
        receivers=across,
        ring=work.matmul.ring,
    )
    tiles = division.block_columns * division.depth
    if work.matmul.at_banks:
        second = _bank_read(machine, b, tiles, across)
    else:
        second = _block_read(machine, b, tiles, readers=across, receivers=down)
    compute = block_stages(
        machine,
        (a.data_type, b.data_type, work.output.data_type),
        (division.block_rows, division.block_columns, division.depth),
        work.product_fidelity,
        subblock=work.matmul.subblock,
        accumulates=division.steps > 1,
        wide_sums=work.wide_sums,
    )
    if work.parameters.get("transpose_a"):
        tiles = division.block_rows * division.depth
        turning = tiles * pass_cycles(machine, "transpose_wh_tile", a.data_type, work)
        compute = tuple(replace(each, cycles=each.cycles + turning) for each in compute)
    results = division.block_rows * division.block_columns
    size = tile_bytes(work.output.data_type)
    given = machine.write_l1(results, size) if work.matmul.at_banks else None
    once = [given or writing(machine, work.output, results, division.cores)]
    for bias in work.operands[2:]:
        # A row of the bias is added to the results, which go through L1 once more, as many tiles at
        # once as DST holds.
        added = pass_cycles(machine, "add_tiles_bcast", work.output.data_type, work)
        height, width = work.matmul.subblock or choose_subblock(
            division.block_rows,
            division.block_columns,
            wide=work.wide_sums or work.output.data_type is DataType.F32,
        )
        added -= machine.figures.block_handover * (1 - 1 / (height * width))
        once.append(reading(machine, bias, division.block_columns, across))
        once.append(Stage(COMPUTE, results * added))
    if work.matmul.activation:
        once.append(Stage(COMPUTE, results * activation_cycles(machine, work.matmul)))
    return Workload(
        cores=division.cores,
        steps=division.steps,
        read=_side_by_side(machine, division, a, b, first, second),
        compute=(*compute, *extra),
        tiles_per_step=division.block_rows * division.block_columns,
        write=NO_TRANSFER,
        once=tuple(once),
        flops=flops,
        dram_bytes=dram_bytes(a, b, work.output),
        noc_bytes=network_bytes(a, b, work.output),
        fidelity=work.product_fidelity,
    )


def divide(machine: Machine, work: Work, extents: tuple[int, int, int]) -> Division:
    """The cores and blocks of a product of M x K x N tiles."""
    rows, inner, columns = extents
    down, across = work.matmul.grid or _grid(machine, work)
    # Those of a product whose result is narrow form one row, or one column.
    if work.matmul.grid is None and not is_sharded(work.output):
        if columns >= NARROW * rows or rows == 1:
            down, across = 1, down * across
        elif rows >= NARROW * columns or columns == 1:
            down, across = down * across, 1
    block_rows, block_columns = -(-rows // down), -(-columns // across)
    down, across = -(-rows // block_rows), -(-columns // block_columns)
    depth = work.matmul.block_depth or (DEFAULT_DEPTH if inner % DEFAULT_DEPTH == 0 else 1)
    depth = min(depth, inner)
    return Division(down, across, block_rows, block_columns, depth, -(-inner // depth))


def _grid(machine: Machine, work: Work) -> tuple[int, int]:
    if is_sharded(work.output):
        ranges, layout = work.output.core_ranges, work.output.memory_layout
        if layout is TensorMemoryLayout.HEIGHT_SHARDED:
            return shard_cores(work.output), 1
        if layout is TensorMemoryLayout.WIDTH_SHARDED:
            return 1, shard_cores(work.output)
        if len(ranges) == 1:
            _, _, height, width = ranges[0]
            return max(1, height), max(1, width)
        return 1, shard_cores(work.output)
    return machine.grid


def block_stages(
    machine: Machine,
    formats: tuple[DataType, DataType, DataType],
    block: tuple[int, int, int],
    fidelity: MathFidelity,
    *,
    subblock: tuple[int, int] | None = None,
    accumulates: bool = True,
    wide_sums: bool = False,
) -> tuple[Stage, ...]:
    """Unpack, multiply and pack a block of rows x columns tiles and so many steps along K."""
    a, b, result = formats
    rows, columns, depth = block
    height, width = subblock or choose_subblock(
        rows, columns, wide=wide_sums or result is DataType.F32
    )
    calls = -(-rows // height) * -(-columns // width)
    products = height * width
    unpack = matmul_unpack_cycles(a, b, height, width) / machine.figures.unpack_speed
    multiply_cycles = matmul_math_cycles(fidelity, products)
    handover = calls * machine.figures.block_handover
    unpacks = calls * depth * max(unpack, UNITS.matmul_unpack_call)
    # With the longest blocks, each tile of one operand is unpacked for 8 of the other.
    streamed = min(unpack_cycles(each, instructions=1) for each in (a, b))
    least = rows * columns * depth * streamed / machine.figures.unpack_speed * 9 / 8
    return (
        Stage(UNPACK, unpacks + handover, min(least, unpacks)),
        Stage(
            COMPUTE,
            calls * depth * multiply_cycles + handover,
            calls * depth * products * UNITS.matmul_phase * fidelity_phases(fidelity),
        ),
        Stage(PACK, rows * columns * pack_cycles(result, accumulates)),
    )


def activation_cycles(machine: Machine, config: MatmulConfig) -> int:
    """Cycles of the math thread for a tile of the function that is applied to the result.

    ttnn's kernels let the packer do `relu` (`PACK_RELU`), which takes no time.
    """
    if config.activation == PACKED:
        return 0
    return function_cycles(machine.arch, config.activation, approximate=config.approximate)


def choose_subblock(rows: int, columns: int, *, wide: bool) -> tuple[int, int]:
    """The largest block of tiles that fits DST and divides the core's block, square if it can."""
    room = DST_TILES // 2 if wide else DST_TILES
    fitting = [
        (height, width)
        for height in range(1, min(rows, room) + 1)
        for width in range(1, min(columns, room // height) + 1)
        if rows % height == 0 and columns % width == 0
    ]
    return max(fitting, key=lambda each: (each[0] * each[1], min(each)))


def _block_read(
    machine: Machine,
    desc: TensorDesc,
    tiles: int,
    *,
    readers: int,
    receivers: int,
    ring: bool = False,
) -> Stage:
    """A block of an operand: read by one core of each row or column, given to the others."""
    read = reading(machine, desc, tiles, readers)
    size = tiles * tile_bytes(desc.data_type)
    if ring:
        # Every core sends on what it has to its neighbour, and waits for what it gets.
        sent = size / machine.interface_rate
        hop = machine.noc.write_latency + machine.noc.hop_latency
        return Stage(NOC, sent + hop, sent)
    if is_sharded(desc) and receivers == 1:
        return NO_TRANSFER
    if receivers == 1:
        return read
    # The sender begins to read the next block while this one is on its way.
    given = machine.multicast_cycles(size, receivers - 1)
    kind = read.kind if read.cycles > given else NOC
    least = max(read.ideal, size / machine.interface_rate)
    return Stage(kind, read.cycles + given, least, machine.multicast_delay(receivers - 1))


def _bank_read(machine: Machine, desc: TensorDesc, tiles: int, cores: int) -> Stage:
    """A block that lies in one bank, in packets of as many whole tiles as divide it."""
    size = tile_bytes(desc.data_type)
    most = max(1, machine.noc.packet_bytes // size)
    packet = next(count for count in range(most, 0, -1) if tiles % count == 0)
    return machine.read_dram(tiles // packet, packet * size, cores, placed=True)


def _side_by_side(
    machine: Machine,
    division: Division,
    a: TensorDesc,
    b: TensorDesc,
    first: Stage,
    second: Stage,
) -> Stage:
    """Both operands' blocks come on processors of their own, but through the same DRAM."""
    longer = max(first, second, key=lambda stage: stage.cycles)
    size, together = 0.0, 0.0
    for desc, count in (
        (a, division.block_rows * division.rows),
        (b, division.block_columns * division.columns),
    ):
        if desc.memory_space is MemorySpace.DEVICE_DRAM:
            block = count * division.depth * tile_bytes(desc.data_type)
            placed = desc.memory_layout.is_sharded
            rate = machine.placed_read_rate if placed else machine.spread_read_rate
            size, together = size + block, together + block / rate
    if together > longer.cycles:
        return Stage(DRAM, together, size / machine.dram_rate, longer.delay)
    return longer


def _batched(
    machine: Machine, work: Work, batch: int, extents: tuple[int, int, int], flops: float
) -> Workload:
    """One matrix of the batch after the other, or a part of its rows, on each core."""
    a, b = work.operands[:2]
    rows, inner, columns = extents
    parts = max(1, min(rows, machine.cores // batch)) if batch < machine.cores else 1
    block_rows = -(-rows // parts)
    units = batch * -(-rows // block_rows)
    cores = cores_for(machine, work.output, units)
    depth = work.matmul.block_depth or (DEFAULT_DEPTH if inner % DEFAULT_DEPTH == 0 else 1)
    blocks = -(-inner // depth)
    read = join(
        [
            reading(machine, a, block_rows * depth, cores),
            reading(machine, b, columns * depth, cores),
        ]
    )
    compute = block_stages(
        machine,
        (a.data_type, b.data_type, work.output.data_type),
        (block_rows, columns, depth),
        work.product_fidelity,
        subblock=work.matmul.subblock,
        accumulates=blocks > 1,
        wide_sums=work.wide_sums,
    )
    written = writing(machine, work.output, block_rows * columns, cores)
    return Workload(
        cores=cores,
        steps=-(-units // cores) * blocks,
        read=read,
        compute=compute,
        tiles_per_step=block_rows * columns,
        write=Stage(written.kind, written.cycles / blocks, written.ideal / blocks),
        flops=flops,
        dram_bytes=dram_bytes(a, b, work.output),
        noc_bytes=network_bytes(a, b, work.output),
        fidelity=work.product_fidelity,
    )


# --- Attention ------------------------------------------------------------------------------------
# Attention in one program: products, softmax and products again, on blocks that stay in L1.

_PASSES = (REDUCE, "sub_tiles_bcast", FAST_EXP, REDUCE)
"""On each tile of the scores; what is done once per row of tiles is left out."""


def cost_attention(machine: Machine, work: Work) -> OperationCost:
    """`scaled_dot_product_attention` of q [b, heads, s, d], k and v [b, kv heads, t, d].

    Each core has some blocks of rows of q, and goes through the blocks of k and v. A fourth operand
    is a mask, whose tiles are added to the scores. Parameters:
    `q_chunk` and `k_chunk`, rows of a block; `is_causal`, which halves the work.
    """
    q, k, v = work.operands[:3]
    batch, heads, rows, width = q.shape
    columns = k.shape[2]
    q_chunk = min(int(work.parameters.get("q_chunk", TILE)), -(-rows // TILE) * TILE)
    k_chunk = min(int(work.parameters.get("k_chunk", TILE)), -(-columns // TILE) * TILE)
    down, across, depth = q_chunk // TILE, k_chunk // TILE, -(-width // TILE)
    units = batch * heads * -(-rows // q_chunk)
    blocks = -(-columns // k_chunk)
    causal = bool(work.parameters.get("is_causal", False))
    share = (blocks + 1) / (2 * blocks) if causal else 1.0
    cores = cores_for(machine, work.output, units)
    steps = max(1, round(-(-units // cores) * blocks * share))
    scores = _longest(machine, work, (down, across, depth))
    values = _longest(machine, work, (down, depth, across))
    masks = work.operands[3:]
    calls = (*_PASSES, *("add_tiles" for _ in masks))
    passes = sum(pass_cycles(machine, call, q.data_type, work) for call in calls)
    rescale = down * depth * pass_cycles(machine, "mul_tiles_bcast", q.data_type, work)
    phases = fidelity_phases(work.product_fidelity)
    exponential = function_cycles(machine.arch, "exp", approximate=True)
    least = down * across * (2 * depth * UNITS.matmul_phase * phases + exponential / 2)
    read = join(
        [
            reading(machine, k, across * depth, cores),
            reading(machine, v, across * depth, cores),
            *(reading(machine, mask, down * across, cores) for mask in masks),
        ]
    )
    written = writing(machine, work.output, down * depth, cores)
    flops = 4.0 * batch * heads * rows * columns * width * share
    workload = Workload(
        cores=cores,
        steps=steps,
        read=read,
        compute=(Stage(COMPUTE, scores + values + down * across * passes + rescale, least),),
        write=Stage(written.kind, written.cycles / blocks, written.ideal / blocks),
        flops=flops,
        dram_bytes=dram_bytes(q, work.output)
        + units * share * (dram_bytes(k, v) / batch) / k.shape[1],
        noc_bytes=network_bytes(q, k, v, work.output),
        fidelity=work.product_fidelity,
    )
    return OperationCost(programs=(workload,))


def _longest(machine: Machine, work: Work, block: tuple[int, int, int]) -> float:
    """Cycles of a product of blocks in L1."""
    formats = (work.operands[0].data_type, work.operands[1].data_type, work.output.data_type)
    stages = block_stages(machine, formats, block, work.product_fidelity, accumulates=False)
    return max(stage.cycles for stage in stages)


_ROTATION = ("mul_tiles_bcast", "mul_tiles_bcast", "mul_tiles_bcast", "add_tiles")
"""On each tile: the change of sign, the products with sines and cosines, and their sum."""


def cost_rotation(machine: Machine, work: Work) -> OperationCost:
    """`rotary_embedding` of x, cosines and sines: a core takes rows of tiles, and reads each tile
    and the one that is turned into it, with a tile of each table."""
    x, *tables = work.operands
    count, rows, columns = tile_shape(work.output.shape)
    units = count * rows
    cores = cores_for(machine, work.output, units)
    read = join([reading(machine, each, 1, cores) for each in (x, x, *tables)])
    passes = sum(pass_cycles(machine, call, x.data_type, work) for call in _ROTATION)
    workload = Workload(
        cores=cores,
        steps=-(-units // cores) * columns,
        read=read,
        compute=(Stage(COMPUTE, passes),),
        write=writing(machine, work.output, 1, cores),
        flops=4.0 * math.prod(work.output.shape),
        dram_bytes=2 * dram_bytes(x) + dram_bytes(work.output) + count * dram_bytes(*tables),
        noc_bytes=network_bytes(x, x, work.output),
    )
    return OperationCost(programs=(workload,))
