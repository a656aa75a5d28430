"""Reductions, softmax and normalizations: every core has its share of the rows of tiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ttmlir.cost.families.elementwise import first_banks, share_channels, stream_tiles
from ttmlir.cost.machine import Machine
from ttmlir.cost.work import (
    Work,
    call_cycles,
    cores_for,
    dram_bytes,
    elementwise_stages,
    function_cycles,
    is_narrow_float,
    is_sharded,
    network_bytes,
    reading,
    stages,
    tile_count,
    tile_shape,
    writing,
)
from ttmlir.cost.workload import COMPUTE, NOC, OperationCost, Stage, Workload
from ttmlir.layout.enums import DataType
from ttmlir.optable.kernel.cpp_compute_calls import COLUMNS_CALLS
from ttmlir.runtime.tensor import TensorDesc
from ttmlir.sim.timing.costs import pack_cycles, tile_bytes, unpack_cycles

COMBINERS = {"prod": "multiply", "reduce_and": "multiply", "reduce_or": "maximum"}
"""Elementwise operations that reduce tile by tile where the matrix unit has no reduction."""


def cost_reduction(machine: Machine, work: Work) -> OperationCost:
    """A program for the last two dimensions, and one for those before, if both are reduced."""
    source = work.operands[0]
    rank = len(source.shape)
    given = work.parameters.get("dim_arg") or range(rank)
    dims = {int(dim) % rank for dim in given} if rank else {0}
    inner = [dim for dim in dims if dim >= rank - 2]
    programs: list[Workload] = []
    count = tile_count(source.shape)
    if inner or not dims:
        programs.append(_reduce_tiles(machine, work, source, count, len(inner)))
        count = max(1, count // max(1, _reduced_tiles(source.shape, inner)))
    if len(dims) > len(inner):
        programs.append(_add_matrices(machine, work, source, count))
    return OperationCost(programs=programs)


def _reduced_tiles(shape: tuple[int, ...], inner: list[int]) -> int:
    _, rows, columns = tile_shape(shape)
    factor = 1
    for dim in inner:
        factor *= columns if dim == len(shape) - 1 else rows
    return factor


def _reduce_tiles(
    machine: Machine, work: Work, source: TensorDesc, count: int, dims: int
) -> Workload:
    """Each core reduces whole rows or columns of tiles, tile by tile."""
    outputs = max(1, tile_count(work.output.shape))
    cores = cores_for(machine, source, min(outputs, count))
    steps = -(-count // cores)
    data_type = source.data_type
    if work.mnemonic in COMBINERS or not is_narrow_float(data_type):
        name = COMBINERS.get(work.mnemonic, "maximum" if work.mnemonic == "max" else "add")
        compute = elementwise_stages(
            machine,
            name,
            (data_type, data_type),
            data_type,
            work.other_fidelity,
        )
    else:
        math_cycles = max(1, dims) * call_cycles("reduce_tile", work.other_fidelity)
        unpack = unpack_cycles(data_type, DataType.BF16) / machine.figures.unpack_speed
        compute = stages(unpack, math_cycles, pack_cycles(data_type) * outputs / count)
    read = reading(machine, source, 1, cores)
    write = writing(machine, work.output, 1, cores)
    share = outputs / count
    return Workload(
        cores=cores,
        steps=steps,
        read=read,
        compute=compute,
        write=Stage(write.kind, write.cycles * share, write.ideal * share),
        once=first_banks(machine, [source], steps, cores, read),
        flops=float(math.prod(source.shape)),
        dram_bytes=dram_bytes(source, work.output),
        noc_bytes=network_bytes(source, work.output),
    )


def _add_matrices(machine: Machine, work: Work, source: TensorDesc, count: int) -> Workload:
    """Tiles of several matrices become one, by additions."""
    compute = elementwise_stages(
        machine,
        "add",
        (source.data_type, source.data_type),
        source.data_type,
        work.other_fidelity,
    )
    return stream_tiles(machine, (source,), work.output, compute, tiles=count)


def cost_softmax(machine: Machine, work: Work) -> OperationCost:
    """Per tile: maximum, difference, exponential, sum and product; reciprocals once per row.

    The exponential is the fast one, as ttnn asks for unless it is set otherwise.
    """
    calls = (REDUCE, "sub_tiles_bcast", FAST_EXP, REDUCE, "mul_tiles_bcast")
    note = "rows that do not fit into L1 would be read twice"
    workload = stream_rows(
        machine, work, calls=calls, once=("reciprocal",), flops_per_element=5.0, notes=(note,)
    )
    return OperationCost(programs=(workload,))


def cost_batch_norm(machine: Machine, work: Work) -> OperationCost:
    """A difference, two products and a sum with rows that are broadcast."""
    calls = ("sub_tiles_bcast", "mul_tiles_bcast", "mul_tiles_bcast", "add_tiles_bcast")
    workload = stream_rows(machine, work, calls=calls, once=("rsqrt",), flops_per_element=4.0)
    return OperationCost(programs=(workload,))


def cost_layer_norm(machine: Machine, work: Work) -> OperationCost:
    """Mean, variance and scaling in one program."""
    calls = (
        *(REDUCE, "sub_tiles_bcast", "mul_tiles", REDUCE),
        *("mul_tiles_bcast", "mul_tiles_bcast", "add_tiles_bcast"),
    )
    workload = stream_rows(machine, work, calls=calls, once=("rsqrt",), flops_per_element=7.0)
    return OperationCost(programs=(workload,))


def cost_rms_norm(machine: Machine, work: Work) -> OperationCost:
    """Sum of squares and scaling in one program."""
    calls = ("mul_tiles", REDUCE, "mul_tiles_bcast", "mul_tiles_bcast")
    workload = stream_rows(machine, work, calls=calls, once=("rsqrt",), flops_per_element=4.0)
    return OperationCost(programs=(workload,))


def cost_group_norm(machine: Machine, work: Work) -> OperationCost:
    """As a layer norm, with masks for the groups before both sums and before scaling."""
    calls = (
        *("mul_tiles", REDUCE, "sub_tiles_bcast", "mul_tiles", "mul_tiles", REDUCE),
        *("sub_tiles_bcast", "mul_tiles_bcast", "mul_tiles", "mul_tiles_bcast"),
        *("add_tiles_bcast", "add_tiles"),
    )
    workload = stream_rows(machine, work, calls=calls, once=("rsqrt",), flops_per_element=7.0)
    return OperationCost(programs=(workload,))


def cost_cumsum(machine: Machine, work: Work) -> OperationCost:
    """One addition for each tile; columns of the summed dimension are independent."""
    return OperationCost(programs=(stream_rows(machine, work, calls=("add_tiles",)),))


REDUCE, FAST_EXP = "reduce_tile", "fast exp"


def stream_rows(
    machine: Machine,
    work: Work,
    *,
    calls: Sequence[str],
    once: Sequence[str] = (),
    flops_per_element: float = 1.0,
    notes: tuple[str, ...] = (),
) -> Workload:
    """A program that gives each core whole rows of tiles, and makes several calls per tile.

    Every call is a pass from L1 to L1, one after the other. Sharded rows may be spread over several
    cores, which give their sums to each other. `once` are functions of a tile for each row.
    """
    source = work.operands[0]
    matrices, rows, columns = tile_shape(source.shape)
    units = matrices * rows
    count = tile_count(source.shape)
    cores = cores_for(machine, source, count if is_sharded(source) else units)
    steps = -(-count // cores) if is_sharded(source) else -(-units // cores) * columns
    data_type = source.data_type
    passes = sum(pass_cycles(machine, call, data_type, work) for call in calls)
    per_row = sum(function_cycles(machine.arch, function) for function in once) * max(
        1, units // cores
    )
    read = reading(machine, source, 1, cores)
    write = writing(machine, work.output, 1, cores)
    read, write = share_channels(machine, (source,), work.output, cores, read, write)
    sums = sum(call == REDUCE for call in calls)
    gathered = _gather_sums(machine, -(-cores // units), data_type) * sums
    return Workload(
        cores=cores,
        steps=steps,
        read=read,
        compute=(Stage(COMPUTE, passes),),
        write=write,
        once=(
            *first_banks(machine, [source], steps, cores, read),
            Stage(COMPUTE, per_row),
            Stage(NOC, gathered),
        ),
        flops=flops_per_element * math.prod(source.shape),
        dram_bytes=dram_bytes(*work.operands, work.output),
        noc_bytes=network_bytes(*work.operands, work.output),
        notes=notes,
    )


def _gather_sums(machine: Machine, cores: int, data_type: DataType) -> float:
    """Cycles in which the cores of a row read each other's sums, add them and pass them on."""
    if cores < 2:
        return 0.0
    size = tile_bytes(data_type)
    read = machine.read_l1(cores - 1, size).cycles
    added = cores * (unpack_cycles(data_type, data_type) + machine.figures.block_handover)
    back = machine.multicast_cycles(size, cores - 1) + machine.multicast_delay(cores - 1)
    return read + added + back


def pass_cycles(machine: Machine, call: str, data_type: DataType, work: Work) -> float:
    """Cycles of a call on a tile in L1 whose result goes back to L1."""
    if call == FAST_EXP:
        unpack = unpack_cycles(data_type)
        busy = call_cycles("copy_tile") + function_cycles(machine.arch, "exp", approximate=True)
    else:
        unpack = unpack_cycles(data_type, data_type)
        busy = call_cycles(call, work.other_fidelity)
    unpacked = unpack / machine.figures.unpack_speed
    return max(unpacked, busy, pack_cycles(data_type)) + machine.figures.block_handover


# --- Ordering -------------------------------------------------------------------------------------
# Numbers in order: every core sorts rows of tiles by a network of comparisons.

_NOTE = "the network of comparisons is that of the calls topk_local_sort, topk_merge, topk_rebuild"
_CALLS = ("topk_local_sort", "topk_merge", "topk_rebuild")


def cost_ordering(machine: Machine, work: Work) -> OperationCost:
    """Pairs of tiles are sorted, then merged: all of them in each round for a sort.

    For the k largest ones, each round leaves half of the tiles. Two transpositions per tile turn
    rows into the columns that the calls sort, and back.
    """
    sort, merge, rebuild = (_cycles(name) for name in _CALLS)
    _, _, columns = tile_shape(work.operands[0].shape)
    levels = max(0, (columns - 1).bit_length() - 1)
    # Per pair of tiles. A bitonic network merges again in every later round.
    merges = levels * (levels + 1) / 2 if work.mnemonic == "sort" else min(levels, 1) * 1.0
    pair = sort + merges * (merge + rebuild)
    moved = stream_rows(
        machine, work, calls=("transpose_wh_tile", "transpose_wh_tile"), notes=(_NOTE,)
    )
    stages = (*moved.compute, Stage(COMPUTE, pair / 2))
    return OperationCost(programs=(replace(moved, compute=stages),))


def _cycles(name: str) -> float:
    return float(next(call for call in COLUMNS_CALLS if call.mnemonic == name).cost.math)
