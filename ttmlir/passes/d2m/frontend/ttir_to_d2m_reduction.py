"""Reductions as loops with reduction iterators, for `ttir-to-d2m`.

Rows and columns of tiles are reduced by the matrix unit (`tile_reduce_*`), all other dimensions by
the operation that the reduction repeats. The second operand of `tile_reduce_*`, which scales, is a
`tile_fill` of 1 in the body: one way to say constants, and no operand of the generic. A mean is a
sum that is multiplied afterwards, since the matrix unit would round the factor to 16 bits. A
reduction that drops dimensions is one that keeps them, and a reshape.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import i1, i32
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir import optable
from ttmlir.dialects import d2m
from ttmlir.dialects.definition.row_ops import RowOperation
from ttmlir.ir.tensor_types import element_type, is_boolean, limits_of, value_shape
from ttmlir.ir.tile_arithmetic import is_float, is_short
from ttmlir.layout.affine import AffineMap, ConstantExpr, dims
from ttmlir.layout.errors import LayoutError
from ttmlir.passes.d2m.frontend.ttir_to_d2m import OTHER_ROAD, Conversion, RuleTable
from ttmlir.passes.d2m.frontend.ttir_to_d2m_builder import (
    PARALLEL,
    REDUCTION,
    D2MBuilder,
    DeviceTensor,
    LoopNest,
    Shape,
    Splat,
    TileBuilder,
    mask_padding,
    matrix_shape,
    scalar_of,
)
from ttmlir.passes.d2m.frontend.ttir_to_d2m_elementwise import cast as cast_tensor
from ttmlir.passes.d2m.frontend.ttir_to_d2m_elementwise import compute_elementwise
from ttmlir.passes.d2m.frontend.ttir_to_d2m_movement import reshape
from ttmlir.passes.d2m.references import ReferenceRow

_ON_TRUTH = {"sum": "max", "prod": "min", "reduce_or": "max", "reduce_and": "min"}
"""What reductions of truth values are; those of logic take all numbers as truth values."""


def _convert_reduction(conversion: Conversion, op: Operation) -> DeviceTensor:
    assert isinstance(op, RowOperation)
    builder, result = conversion.builder, op.results[0]
    value = op.operands[0]
    shape = value_shape(value)
    parameters = op.parameters()
    written = cast("Shape", parameters.get("dim_arg", tuple(range(len(shape)))))
    added = len(matrix_shape(shape)) - len(shape)
    reduced = sorted(dim % len(shape) + added for dim in written)
    source = conversion.tensor(value)
    reduced = [dim for dim in reduced if source.shape[dim] > 1]
    target = element_type(result)
    mnemonic = op.ROW.mnemonic
    count = math.prod(source.shape[dim] for dim in reduced)
    if mnemonic.startswith("reduce_"):
        source = cast_tensor(builder, source, i1)
    kept = reduce_tensor(builder, mnemonic, source, reduced)
    if mnemonic == "mean":
        factor = Splat(1 / count, kept.element, kept.shape)
        kept = compute_elementwise(builder, "multiply", [kept, factor], target, kept.shape)
    kept = cast_tensor(builder, kept, target)
    return reshape(builder, kept, matrix_shape(value_shape(result)))


def reduce_tensor(
    builder: D2MBuilder, mnemonic: str, source: DeviceTensor, reduced: Sequence[int]
) -> DeviceTensor:
    """The reduction over dimensions, which stay with extent 1; of a mean, the sum.

    LayoutError for what tiles do not reduce.
    """
    if not reduced:
        return source
    if is_boolean(source.element):
        mnemonic = _ON_TRUTH.get(mnemonic, mnemonic)
    if mnemonic == "mean":
        if not is_float(scalar_of(source.element)) or is_boolean(source.element):
            raise LayoutError(
                f"kernels compute the mean of floating-point numbers, got {source.element}; "
                f"convert the operand by ttir.typecast or {OTHER_ROAD}"
            )
        mnemonic = "sum"
    if is_short(scalar_of(source.element)):
        wide = reduce_tensor(builder, mnemonic, cast_tensor(builder, source, i32), reduced)
        return cast_tensor(builder, wide, source.element)
    within = [dim for dim in reduced if dim >= len(source.shape) - 2]
    if within:
        _check_within(mnemonic, source, within)
    if within and mnemonic == "min":
        # The matrix unit finds the largest number only.
        opposite = _negate(builder, source)
        return _negate(builder, reduce_tensor(builder, "max", opposite, reduced))
    return _build(builder, mnemonic, source, reduced)


def _check_within(mnemonic: str, source: DeviceTensor, within: Sequence[int]) -> None:
    if is_float(scalar_of(source.element)) and mnemonic in ("sum", "max", "min"):
        return
    raise LayoutError(
        f"kernels do not compute the {mnemonic} of {source.element} over dimension "
        f"{within[0]} of {list(source.shape)}, which is inside of tiles; there they compute sum, "
        f"mean, max and min of floating-point numbers, over other dimensions all of them; "
        f"{OTHER_ROAD}"
    )


def _negate(builder: D2MBuilder, source: DeviceTensor) -> DeviceTensor:
    mnemonic = "logical_not" if is_boolean(source.element) else "neg"
    return compute_elementwise(builder, mnemonic, [source], source.element, source.shape)


def _build(
    builder: D2MBuilder, mnemonic: str, source: DeviceTensor, reduced: Sequence[int]
) -> DeviceTensor:
    rank = len(source.shape)
    combiner = optable.row(optable.row(mnemonic).combiner)
    shape = [1 if dim in reduced else extent for dim, extent in enumerate(source.shape)]
    output = builder.create_empty(shape, source.element)
    iterators = tuple(REDUCTION if dim in reduced else PARALLEL for dim in range(rank))
    kept = tuple(ConstantExpr(0) if dim in reduced else each for dim, each in enumerate(dims(rank)))
    nest = LoopNest(iterators, (AffineMap.identity(rank), AffineMap(rank, 0, kept)))
    columns, rows = rank - 1 in reduced, rank - 2 in reduced
    assert combiner.identity is not None, "what a reduction repeats has an identity"
    identity = _finite(combiner.identity, source.element)

    def body(tiles: TileBuilder, inputs: Sequence[SSAValue], held: SSAValue) -> SSAValue:
        (tile,) = inputs
        if not (rows or columns):
            cls = d2m.tile_op_of_row(combiner.mnemonic)
            assert cls is not None, "what reductions repeat is an operation on tiles"
            return tiles.add(cls.of([held, tile]))
        tile = mask_padding(tiles, tile, source, (rows, columns), (rank - 2, rank - 1), identity)
        dim = {
            (False, True): d2m.ReduceDim.R,
            (True, False): d2m.ReduceDim.C,
            (True, True): d2m.ReduceDim.RC,
        }[rows, columns]
        reduce_op = d2m.TileReduceSumOp if mnemonic == "sum" else d2m.TileReduceMaxOp
        scaler = tiles.fill(1.0, source.tile)
        return tiles.add(reduce_op.of(tile, scaler, held, dim))

    row = ReferenceRow.of(
        mnemonic, (0,), output.shape, output.element, {"dim_arg": tuple(reduced), "keep_dim": True}
    )
    return builder.generic([source], output, nest, body, [row])


def _finite(number: float, element: Attribute) -> float:
    """An identity in an element type: infinities are the ends of integers."""
    lowest, highest = limits_of(element)
    return min(max(number, lowest), highest)


RULES: RuleTable = {
    f"ttir.{name}": _convert_reduction
    for name in ("sum", "mean", "max", "min", "prod", "reduce_and", "reduce_or")
}
"""Rules by the full name of the operation."""
