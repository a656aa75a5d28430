"""Reductions and running sums, for `ttir-to-d2m`: loops with reduction iterators.

Rows and columns of tiles are reduced by the matrix unit (`tile_reduce_*`), all other dimensions by
the operation that the reduction repeats. What the matrix unit does not reduce (products, integers)
is combined number by number, until one tile is left, and then row by row of that.

The second operand of `tile_reduce_*`, which scales, is a `tile_fill` of 1 in the body: one way to
say constants, and no operand of the generic. A mean is a sum that is multiplied afterwards, since
the matrix unit would round the factor to 16 bits. A reduction that drops dimensions is one that
keeps them, and a reshape.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import i1, i32
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir import optable
from ttmlir.dialects import d2m
from ttmlir.dialects.definition.table_ops import ParameterValue, TableOperation
from ttmlir.ir.kernel_builder import is_float, is_short
from ttmlir.ir.tensor_types import element_type, is_boolean, limits_of, value_shape
from ttmlir.layout.affine import AffineMap, ConstantExpr, dims
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.metal import TILE
from ttmlir.passes.d2m.frontend.ttir_to_d2m import OTHER_PIPELINE, Conversion, RuleTable
from ttmlir.passes.d2m.frontend.ttir_to_d2m_builder import (
    MOST_CONSTANTS,
    NUMBERS_PER_ADDITION,
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
    sum_element,
)
from ttmlir.passes.d2m.frontend.ttir_to_d2m_elementwise import cast as cast_tensor
from ttmlir.passes.d2m.frontend.ttir_to_d2m_elementwise import (
    compute_elementwise,
    convert_tile,
    without_padding,
)
from ttmlir.passes.d2m.frontend.ttir_to_d2m_movement import exchange, reshape, take
from ttmlir.passes.d2m.references import ReferenceRow

_ON_TRUTH = {"sum": "max", "prod": "min", "reduce_or": "max", "reduce_and": "min"}
"""What reductions of truth values are; those of logic take all numbers as truth values."""


def _convert_reduction(conversion: Conversion, op: Operation) -> DeviceTensor:
    assert isinstance(op, TableOperation)
    builder, result = conversion.builder, op.results[0]
    source = conversion.tensor(op.operands[0])
    reduced = _reduced_dimensions(op, source)
    target = element_type(result)
    mnemonic = op.DEFINITION.mnemonic
    count = math.prod(source.shape[dim] for dim in reduced)
    if mnemonic.startswith("reduce_"):
        source = cast_tensor(builder, source, i1)
    kept = reduce_tensor(builder, mnemonic, source, reduced)
    if mnemonic == "mean":
        factor = Splat(1 / count, kept.element, kept.shape)
        kept = compute_elementwise(builder, "multiply", [kept, factor], target, kept.shape)
    kept = cast_tensor(builder, kept, target)
    return reshape(builder, kept, matrix_shape(value_shape(result)))


def _reduced_dimensions(op: TableOperation, source: DeviceTensor) -> list[int]:
    """The dimensions over which an operation reduces a tensor, but those of extent 1."""
    rank = len(value_shape(op.operands[0]))
    written = cast("Shape", op.parameters().get("dim_arg", tuple(range(rank))))
    reduced = sorted(dim % rank + len(source.shape) - rank for dim in written)
    return [dim for dim in reduced if source.shape[dim] > 1]


def reduce_tensor(
    builder: D2MBuilder, mnemonic: str, source: DeviceTensor, reduced: Sequence[int]
) -> DeviceTensor:
    """The reduction over dimensions, which stay with extent 1; of a mean, the sum.

    Long sums of 16-bit numbers are of f32.
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
                f"convert the operand by ttir.typecast or {OTHER_PIPELINE}"
            )
        mnemonic = "sum"
    if is_short(scalar_of(source.element)):
        wide = reduce_tensor(builder, mnemonic, cast_tensor(builder, source, i32), reduced)
        return cast_tensor(builder, wide, source.element)
    within = [dim for dim in reduced if dim >= len(source.shape) - 2]
    if not within:
        return _build(builder, mnemonic, source, reduced)
    if not is_float(scalar_of(source.element)) or mnemonic not in ("sum", "max", "min"):
        return _reduce_by_number(builder, mnemonic, source, reduced)
    if mnemonic == "min":
        # The matrix unit finds the largest number only.
        opposite = _negate(builder, source)
        return _negate(builder, reduce_tensor(builder, "max", opposite, reduced))
    return _build(builder, mnemonic, source, reduced)


def _reduce_by_number(
    builder: D2MBuilder, mnemonic: str, source: DeviceTensor, reduced: Sequence[int]
) -> DeviceTensor:
    """A reduction that the vector unit computes, with all bits.

    All tiles become one, number by number. Its columns are rows of the transposed tile; of rows,
    the second half moves on the first one, until one row is left.
    """
    rank, combiner = len(source.shape), optable.definition(mnemonic).combiner
    within = [dim for dim in (rank - 1, rank - 2) if dim in reduced]
    source = _combine_tiles(builder, mnemonic, source, reduced)
    for dim in within:
        is_column = dim == rank - 1
        source = builder.settle(exchange(source) if is_column else source)
        while source.shape[rank - 2] > 1:
            half = source.shape[rank - 2] // 2
            parts = [take(builder, source, rank - 2, begin, half) for begin in (0, half)]
            shape = parts[0].shape
            source = compute_elementwise(builder, combiner, parts, source.element, shape)
        source = exchange(source) if is_column else source
    return source


def _combine_tiles(
    builder: D2MBuilder, mnemonic: str, source: DeviceTensor, reduced: Sequence[int]
) -> DeviceTensor:
    """One tile along each reduced dimension, as many numbers of which matter as a power of two.

    Beyond the tensor it holds the identity.
    """
    rank = len(source.shape)
    shape = [
        extent
        if dim not in reduced
        else 1 << (min(extent, TILE) - 1).bit_length()
        if dim >= rank - 2
        else 1
        for dim, extent in enumerate(source.shape)
    ]
    if shape == [*source.shape]:
        return source
    output = builder.create_empty(shape, source.element)
    combiner = optable.definition(optable.definition(mnemonic).combiner)
    assert combiner.identity is not None, "what a reduction repeats has an identity"
    identity = _finite(combiner.identity, source.element)

    def body(tiles: TileBuilder, inputs: Sequence[SSAValue], held: SSAValue) -> SSAValue:
        wanted = rank - 2 in reduced, rank - 1 in reduced
        tile = mask_padding(tiles, inputs[0], source, wanted, (rank - 2, rank - 1), identity)
        cls = d2m.tile_op_of(combiner.mnemonic)
        assert cls is not None, "what reductions repeat is an operation on tiles"
        return tiles.add(cls.of([held, tile]))

    rows = _rows_of_tiles(mnemonic, source, reduced, shape, identity)
    return builder.generic([source], output, _nest(rank, reduced), body, rows)


def _rows_of_tiles(
    mnemonic: str,
    source: DeviceTensor,
    reduced: Sequence[int],
    shape: Sequence[int],
    identity: float,
) -> list[ReferenceRow]:
    """What `_combine_tiles` computes, on the tensor filled up with the identity."""
    element = source.element
    # Padding is a number of f32, which has the least integer but not the largest one.
    inverts = mnemonic == "min" and not is_float(scalar_of(element))
    padded: list[int] = []
    split: list[int] = []
    summed: list[int] = []
    for dim, extent in enumerate(source.shape):
        inner = shape[dim] if dim in reduced else extent
        whole = -(-extent // inner) * inner
        if dim in reduced:
            summed.append(len(split))
            split.append(whole // inner)
        padded.append(whole)
        split.append(inner)
    kept = [1 if dim in summed else extent for dim, extent in enumerate(split)]
    widths = [(0, whole - extent) for extent, whole in zip(source.shape, padded, strict=True)]
    padding: dict[str, ParameterValue] = {
        "padding": tuple(each for pair in widths for each in pair),
        "value": float(~int(identity) if inverts else identity),
    }
    steps: list[tuple[str, Sequence[int], dict[str, ParameterValue]]] = [
        ("pad", padded, padding),
        ("reshape", split, {"shape": tuple(split)}),
        ("max" if inverts else mnemonic, kept, {"dim_arg": tuple(summed), "keep_dim": True}),
        ("reshape", shape, {"shape": tuple(shape)}),
    ]
    if inverts:
        steps = [("bitwise_not", source.shape, {}), *steps, ("bitwise_not", shape, {})]
    return [
        ReferenceRow.of(name, (number + 1 if number else 0,), extents, element, parameters)
        for number, (name, extents, parameters) in enumerate(steps)
    ]


def _negate(builder: D2MBuilder, source: DeviceTensor) -> DeviceTensor:
    mnemonic = "logical_not" if is_boolean(source.element) else "neg"
    return compute_elementwise(builder, mnemonic, [source], source.element, source.shape)


def _build(
    builder: D2MBuilder, mnemonic: str, source: DeviceTensor, reduced: Sequence[int]
) -> DeviceTensor:
    rank = len(source.shape)
    combiner = optable.definition(optable.definition(mnemonic).combiner)
    shape = [1 if dim in reduced else extent for dim, extent in enumerate(source.shape)]
    columns, rows = rank - 1 in reduced, rank - 2 in reduced
    element = source.element
    if mnemonic == "sum":
        additions = math.prod(source.shape[dim] for dim in reduced)
        additions //= NUMBERS_PER_ADDITION if rows or columns else 1
        element = sum_element(element, additions, builder.placement.accumulation)
    output = builder.create_empty(shape, element)
    assert combiner.identity is not None, "what a reduction repeats has an identity"
    identity = _finite(combiner.identity, source.element)
    sources, nest = [source], _nest(rank, reduced)
    if builder.placement.single_steps and (rows or columns):
        source = without_padding(builder, source, (rows, columns), identity)
        one_tile = (*(1,) * (rank - 2), TILE, TILE)
        sources = [source, builder.load_constant(source.element, one_tile, [1] * TILE**2)]
        scaler = AffineMap(rank, 0, (ConstantExpr(0),) * rank)
        nest = LoopNest(nest.iterators, (nest.maps[0], scaler, nest.maps[1]))

    def body(tiles: TileBuilder, inputs: Sequence[SSAValue], held: SSAValue) -> SSAValue:
        tile, *scalers = inputs
        if not (rows or columns):
            cls = d2m.tile_op_of(combiner.mnemonic)
            assert cls is not None, "what reductions repeat is an operation on tiles"
            return tiles.add(cls.of([held, convert_tile(tiles, tile, source.element, element)]))
        if not scalers:
            places = (rank - 2, rank - 1)
            tile = mask_padding(tiles, tile, source, (rows, columns), places, identity)
        dim = {
            (False, True): d2m.ReduceDim.R,
            (True, False): d2m.ReduceDim.C,
            (True, True): d2m.ReduceDim.RC,
        }[rows, columns]
        reduce_op = d2m.TileReduceSumOp if mnemonic == "sum" else d2m.TileReduceMaxOp
        scaler = scalers[0] if scalers else tiles.fill(1.0, source.tile)
        return tiles.add(reduce_op.of(tile, scaler, held, dim))

    row = ReferenceRow.of(
        mnemonic, (0,), output.shape, output.element, {"dim_arg": tuple(reduced), "keep_dim": True}
    )
    return builder.generic(sources, output, nest, body, [row])


def _nest(rank: int, reduced: Sequence[int]) -> LoopNest:
    """Loops over all tiles, and a tile of the result along each reduced dimension."""
    iterators = tuple(REDUCTION if dim in reduced else PARALLEL for dim in range(rank))
    kept = tuple(ConstantExpr(0) if dim in reduced else each for dim, each in enumerate(dims(rank)))
    return LoopNest(iterators, (AffineMap.identity(rank), AffineMap(rank, 0, kept)))


def _finite(number: float, element: Attribute) -> float:
    """An identity in an element type: infinities are the ends of integers."""
    lowest, highest = limits_of(element)
    return min(max(number, lowest), highest)


# --- Positions and running sums -------------------------------------------------------------------


def _convert_argmax(conversion: Conversion, op: Operation) -> DeviceTensor:
    """The least position of an element that is the largest, or NaN."""
    assert isinstance(op, TableOperation)
    builder, result = conversion.builder, op.results[0]
    source = conversion.tensor(op.operands[0])
    if is_short(scalar_of(source.element)):
        source = cast_tensor(builder, source, i32)
    reduced = _reduced_dimensions(op, source)
    shape = tuple(1 if dim in reduced else extent for dim, extent in enumerate(source.shape))
    count = math.prod(source.shape[dim] for dim in reduced)
    if count > MOST_CONSTANTS:
        raise LayoutError(f"has more than {MOST_CONSTANTS} positions; {OTHER_PIPELINE}")
    if count == 1:
        zero = Splat(0, element_type(result), matrix_shape(value_shape(result)))
        return builder.materialize(zero)
    # The matrix unit rounds what it compares.
    reduce = reduce_tensor if _is_exact(source.element) else _reduce_by_number
    largest = reduce(builder, "max", source, reduced)
    wide = source.shape
    found = [
        compute_elementwise(builder, mnemonic, operands, i1, wide)
        for mnemonic, operands in (("eq", [source, largest]), ("ne", [source, source]))
    ]
    is_found = compute_elementwise(builder, "logical_or", found, i1, wide)
    extents = [extent if dim in reduced else 1 for dim, extent in enumerate(source.shape)]
    positions = builder.load_constant(i32, extents, range(count))
    operands = [is_found, positions, Splat(count, i32, wide)]
    candidates = compute_elementwise(builder, "where", operands, i32, wide)
    least = reduce_tensor(builder, "min", candidates, reduced)
    assert least.shape == shape, "reduced dimensions stay"
    least = cast_tensor(builder, least, element_type(result))
    return reshape(builder, least, matrix_shape(value_shape(result)))


def _is_exact(element: Attribute) -> bool:
    """True if the matrix unit compares numbers of a type without rounding them."""
    return scalar_of(element).keyword in ("bf16", "f16")


def _convert_cumsum(conversion: Conversion, op: Operation) -> DeviceTensor:
    """Sums over 2, 4, 8 ... elements before each one."""
    assert isinstance(op, TableOperation)
    builder, element = conversion.builder, element_type(op.results[0])
    total = conversion.tensor(op.operands[0])
    given = len(value_shape(op.operands[0]))
    dim = cast("int", op.parameters()["dim"]) % given + len(total.shape) - given
    if is_short(scalar_of(element)):
        total = cast_tensor(builder, total, i32)
    extent, distance = total.shape[dim], 1
    while distance < extent:
        before = builder.rotate(total, dim, distance, extent)
        extents = [extent if each == dim else 1 for each in range(len(total.shape))]
        is_there = builder.load_constant(i1, extents, [n >= distance for n in range(extent)])
        none = Splat(0, total.element, total.shape)
        operands = [is_there, before, none]
        before = compute_elementwise(builder, "where", operands, total.element, total.shape)
        total = compute_elementwise(builder, "add", [total, before], total.element, total.shape)
        distance *= 2
    return cast_tensor(builder, total, element)


RULES: RuleTable = {
    "ttir.argmax": _convert_argmax,
    "ttir.cumsum": _convert_cumsum,
    **{
        f"ttir.{name}": _convert_reduction
        for name in ("sum", "mean", "max", "min", "prod", "reduce_and", "reduce_or")
    },
}
"""Rules by the full name of the operation."""
