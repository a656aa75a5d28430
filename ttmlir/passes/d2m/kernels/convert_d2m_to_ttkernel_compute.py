"""The kernel that computes: one elementwise loop over tiles, one tile at a time in DST.

It gets the plan of the kernels and an empty kernel whose arguments are all circular buffers
(`plan.numbers` has the number of each argument of the region and of each local buffer), and writes
the loops over blocks. At the depth of each operand it waits for a block and pops it, or reserves
room for one and pushes it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import FloatAttr, MemRefType
from xdsl.dialects.linalg.ops import GenericOp as LinalgGenericOp
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects import d2m
from ttmlir.ir.kernel_builder import KernelBuilder
from ttmlir.ir.rewriting import refuse
from ttmlir.layout.affine import AffineMap, DimExpr
from ttmlir.mlir.attributes.affine import layout_map
from ttmlir.optable.kernel import CALLS
from ttmlir.passes.d2m.kernels.convert_d2m_to_ttkernel_loops import (
    BlockLoops,
    Indices,
    operand_depth,
)
from ttmlir.passes.d2m.kernels.convert_d2m_to_ttkernel_plan import KernelPlan

_INITS = {call.mnemonic: call.init for call in CALLS}


def build_compute(plan: KernelPlan, kernel: KernelBuilder) -> None:
    """Write the kernel; refuses what is no single elementwise loop."""
    generic = plan.generic
    stages = [op for op in generic.compute_region.block.ops if isinstance(op, LinalgGenericOp)]
    if len(stages) != 1:
        refuse(generic, f"has {len(stages)} loops over tiles; kernels of one are made")
    [stage] = stages
    buffers = kernel.buffers
    numbers = [_number(plan, value) for value in stage.operands]
    kernel.call("init_sfpu", buffers[numbers[0]], buffers[numbers[-1]])
    depths = [operand_depth(generic, stream.number) for stream in plan.streams]
    deepest = sum(factor > 1 for factor in generic.block_factors)
    inputs = len(plan.inputs)

    def before(depth: int, indices: Indices) -> None:
        for stream, at in zip(plan.streams, depths, strict=True):
            if at == depth:
                word = "cb_wait_front" if stream.number < inputs else "cb_reserve_back"
                kernel.call(word, buffers[stream.cb], stream.tiles)
        if depth == deepest:
            _compute_block(kernel, stage, numbers)

    def after(depth: int, indices: Indices) -> None:
        for stream, at in zip(plan.streams, depths, strict=True):
            if at == depth:
                word = "cb_pop_front" if stream.number < inputs else "cb_push_back"
                kernel.call(word, buffers[stream.cb], stream.tiles)

    BlockLoops(generic, kernel).run(before, after)


def _number(plan: KernelPlan, value: SSAValue) -> int:
    """The circular buffer that a value of the region lies in."""
    owner = value.owner
    if isinstance(owner, d2m.WaitOp | d2m.ReserveOp):
        return plan.numbers[owner.operands[0]]
    return plan.numbers[value]


def _compute_block(kernel: KernelBuilder, stage: LinalgGenericOp, numbers: Sequence[int]) -> None:
    maps = [layout_map(each) for each in stage.indexing_maps.data]
    shapes = [cast("MemRefType[Attribute]", value.type).get_shape() for value in stage.operands]
    extents = _extents(maps, shapes)
    strides = [_strides(each, shape) for each, shape in zip(maps, shapes, strict=True)]

    def on_tile(places: Sequence[SSAValue]) -> None:
        kernel.call("tile_regs_acquire")
        result = _compute_tile(kernel, stage, numbers, places)
        kernel.call("tile_regs_commit")
        kernel.call("tile_regs_wait")
        kernel.call("pack_tile", result, kernel.buffers[numbers[-1]], places[-1], out_of_order=True)
        kernel.call("tile_regs_release")

    start = [kernel.constant(0)] * len(strides)
    kernel.walk(extents, [[per[i] for i in range(len(extents))] for per in strides], start, on_tile)


def _extents(maps: Sequence[AffineMap], shapes: Sequence[Sequence[int]]) -> list[int]:
    found = {
        result.position: extent
        for index_map, shape in zip(maps, shapes, strict=True)
        for result, extent in zip(index_map.results, shape, strict=True)
        if isinstance(result, DimExpr)
    }
    return [found[iterator] for iterator in range(maps[0].num_dims)]


def _strides(index_map: AffineMap, shape: Sequence[int]) -> list[int]:
    strides = [0] * index_map.num_dims
    for position, result in enumerate(index_map.results):
        if isinstance(result, DimExpr):
            strides[result.position] += math.prod(shape[position + 1 :])
    return strides


def _compute_tile(
    kernel: KernelBuilder,
    stage: LinalgGenericOp,
    numbers: Sequence[int],
    places: Sequence[SSAValue],
) -> int:
    """Leave the result in a tile of DST; its number."""
    arguments = stage.body.block.args
    slots: dict[SSAValue, int] = {}
    used = 0

    def load(value: SSAValue) -> int:
        nonlocal used
        if value in slots:
            return slots[value]
        number = arguments.index(value)
        buffer = kernel.buffers[numbers[number]]
        kernel.call("copy_tile_init", buffer)
        kernel.call("copy_tile", buffer, places[number], used)
        used += 1
        return used - 1

    *ops, end = stage.body.block.ops
    for op in ops:
        slots[op.results[0]] = _run(kernel, op, [load(value) for value in op.operands])
    return load(end.operands[0])


def _run(kernel: KernelBuilder, op: Operation, slots: Sequence[int]) -> int:
    steps = op.TILE_OPERATION.call.floats if isinstance(op, d2m.ElementwiseTileOp) else None
    if steps is None:
        refuse(op, "is not computed by kernels yet")
    for step in steps:
        numbers = [_bits(op, each) for each in step.scalars]
        kernel.call(_INITS[step.call])
        kernel.call(step.call, *(slots[slot] for slot in step.slots), *numbers)
    return slots[0]


def _bits(op: Operation, scalar: str | float) -> int:
    value = op.properties[scalar] if isinstance(scalar, str) else None
    number = value.value.data if isinstance(value, FloatAttr) else float(cast("float", scalar))
    (bits,) = struct.unpack("<i", struct.pack("<f", number))
    return bits
