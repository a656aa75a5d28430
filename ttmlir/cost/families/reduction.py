"""Reductions, softmax and normalizations: every core has its share of the rows of tiles."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ttmlir.cost.families.elementwise import first_banks, share_channels, stream_tiles
from ttmlir.cost.functions import (
    call_cycles,
    elementwise_stages,
    function_cycles,
    is_narrow_float,
    stages,
)
from ttmlir.cost.machine import Machine
from ttmlir.cost.tensors import (
    cores_for,
    dram_bytes,
    network_bytes,
    reading,
    tile_count,
    tile_shape,
    writing,
)
from ttmlir.cost.work import Work
from ttmlir.cost.workload import OperationCost, Stage, Workload
from ttmlir.layout.enums import DataType
from ttmlir.runtime.tensor import TensorDesc
from ttmlir.sim.timing.costs import pack_cycles, unpack_cycles

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
            name,
            (data_type, data_type),
            data_type,
            work.other_fidelity,
            unpack_speed=machine.figures.unpack_speed,
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
        "add",
        (source.data_type, source.data_type),
        source.data_type,
        work.other_fidelity,
        unpack_speed=machine.figures.unpack_speed,
    )
    return stream_tiles(machine, (source,), work.output, compute, tiles=count)


def cost_softmax(machine: Machine, work: Work) -> OperationCost:
    """Per tile: maximum, difference, exponential, sum and product; reciprocals once per row."""
    passes = [
        "reduce_tile",
        "sub_tiles_bcast_cols",
        "exp_tile",
        "reduce_tile",
        "mul_tiles_bcast_cols",
    ]
    return OperationCost(
        programs=(
            stream_rows(
                machine,
                work,
                calls=passes,
                once=("recip_tile",),
                flops_per_element=5.0,
                notes=("numbers of a row that does not fit into L1 would be read twice",),
            ),
        )
    )


def cost_batch_norm(machine: Machine, work: Work) -> OperationCost:
    """Two operations on elements with rows that are broadcast."""
    calls = ["sub_tiles_bcast_cols", "mul_tiles_bcast_cols", "mul_tiles_bcast_cols", "add_tiles"]
    return OperationCost(
        programs=(stream_rows(machine, work, calls=calls, once=("rsqrt_tile",)),),
    )


def cost_layer_norm(machine: Machine, work: Work) -> OperationCost:
    """Mean, variance and scaling in one program."""
    calls = [
        *("reduce_tile", "sub_tiles_bcast_cols", "mul_tiles", "reduce_tile"),
        *("mul_tiles_bcast_cols", "mul_tiles_bcast_cols", "add_tiles"),
    ]
    return OperationCost(
        programs=(stream_rows(machine, work, calls=calls, once=("rsqrt_tile",)),),
    )


def cost_rms_norm(machine: Machine, work: Work) -> OperationCost:
    """Sum of squares and scaling in one program."""
    calls = ["mul_tiles", "reduce_tile", "mul_tiles_bcast_cols", "mul_tiles_bcast_cols"]
    return OperationCost(
        programs=(stream_rows(machine, work, calls=calls, once=("rsqrt_tile",)),),
    )


def cost_cumsum(machine: Machine, work: Work) -> OperationCost:
    """One addition for each tile; columns of the summed dimension are independent."""
    return OperationCost(programs=(stream_rows(machine, work, calls=["add_tiles"]),))


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

    Every call packs its result to L1, and the next one unpacks it.
    """
    source = work.operands[0]
    matrices, rows, columns = tile_shape(source.shape)
    units = matrices * rows
    cores = cores_for(machine, source, units)
    row_steps = -(-units // cores)
    data_type = source.data_type
    unpack = sum(_call_unpack(call, data_type) for call in calls) / machine.figures.unpack_speed
    busy = sum(_call_math(call, work) for call in calls)
    per_row = sum(function_cycles(_FUNCTIONS[call]) for call in once) / max(1, columns)
    compute = stages(unpack, busy + per_row, len(calls) * pack_cycles(data_type))
    read = reading(machine, source, 1, cores)
    write = writing(machine, work.output, 1, cores)
    read, write = share_channels(machine, (source,), work.output, cores, read, write)
    steps = row_steps * columns
    return Workload(
        cores=cores,
        steps=steps,
        read=read,
        compute=compute,
        write=write,
        once=first_banks(machine, [source], steps, cores, read),
        flops=flops_per_element * math.prod(source.shape),
        dram_bytes=dram_bytes(*work.operands, work.output),
        noc_bytes=network_bytes(*work.operands, work.output),
        fidelity=work.other_fidelity,
        notes=notes,
    )


_FUNCTIONS = {"recip_tile": "reciprocal", "rsqrt_tile": "rsqrt", "exp_tile": "exp"}


def _call_unpack(call: str, data_type: DataType) -> int:
    if call in _FUNCTIONS:
        return unpack_cycles(data_type)
    return unpack_cycles(data_type, data_type)


def _call_math(call: str, work: Work) -> int:
    if call in _FUNCTIONS:
        return call_cycles("copy_tile") + function_cycles(_FUNCTIONS[call])
    if call == "reduce_tile":
        return call_cycles(call, work.other_fidelity)
    word = call.removesuffix("_bcast_cols")
    return call_cycles(word, work.other_fidelity)
