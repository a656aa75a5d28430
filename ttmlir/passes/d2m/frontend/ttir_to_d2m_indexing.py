"""Operations whose numbers name elements, for `ttir-to-d2m`: views by numbers, and choices.

What is read by numbers is a view that the reader of a kernel follows. What is written by numbers is
chosen element by element, one of the numbers after the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import i1, i32
from xdsl.ir import Operation, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.definition.table_ops import ParameterValue, TableOperation
from ttmlir.ir.tensor_types import value_shape
from ttmlir.layout.affine import AffineExpr, AffineMap, ConstantExpr, DimExpr, dim, dims
from ttmlir.passes.d2m.frontend.ttir_to_d2m import Conversion, RuleTable
from ttmlir.passes.d2m.frontend.ttir_to_d2m_builder import (
    D2MBuilder,
    DeviceTensor,
    LoopNest,
    Shape,
    Splat,
    TileBuilder,
    matrix_shape,
)
from ttmlir.passes.d2m.frontend.ttir_to_d2m_elementwise import cast as cast_tensor
from ttmlir.passes.d2m.frontend.ttir_to_d2m_elementwise import compute_elementwise
from ttmlir.passes.d2m.frontend.ttir_to_d2m_movement import reshape, shift
from ttmlir.passes.d2m.references import ReferenceRow


def pick(
    builder: D2MBuilder,
    operands: tuple[DeviceTensor, DeviceTensor],
    shape: Shape,
    maps: tuple[AffineMap, Sequence[AffineExpr]],
    count: int,
    rows: Sequence[ReferenceRow],
) -> DeviceTensor:
    """A tensor of a shape, from elements of one tensor that numbers in another name.

    `maps` are those of `d2m.view_numbered`; of its places, those that follow a dimension have all
    of it. `rows` say what it is: of the elements, operand 0, and the numbers, operand 1.
    """
    source, numbers = (builder.settle(each) for each in operands)
    index_map, places = maps
    type_ = builder.tensor_type(shape, source.tile, builder.placement.output_space)
    at = AffineMap(len(shape), 0, tuple(places))
    buffers = source.buffer, numbers.buffer
    view = builder.add(d2m.ViewNumberedOp.pick(buffers, type_, (index_map, at), shape, count))
    whole = DeviceTensor.whole(view, source.element)
    picked = DeviceTensor(view, whole.element, whole.view, source.moves)
    output = builder.create_empty(shape, source.element)
    tile = [each if isinstance(each, DimExpr) else ConstantExpr(0) for each in places]
    nest = LoopNest.parallel(output.rank, [dims(output.rank), tile])

    def body(_: TileBuilder, inputs: Sequence[SSAValue], __: SSAValue) -> SSAValue:
        return inputs[0]

    return builder.generic([picked, numbers], output, nest, body, rows)


def _numbers(conversion: Conversion, value: SSAValue) -> DeviceTensor:
    """The numbers of an operand, with 32 bits."""
    return cast_tensor(conversion.builder, conversion.tensor(value), i32)


# --- Look-up --------------------------------------------------------------------------------------


def _convert_embedding(conversion: Conversion, op: Operation) -> DeviceTensor:
    """Rows of a table."""
    builder = conversion.builder
    table = conversion.tensor(op.operands[1])
    numbers = _numbers(conversion, op.operands[0])
    looked_up, (count, width) = math.prod(numbers.shape), table.shape
    column = reshape(builder, numbers, (looked_up, 1))
    shape = (looked_up, width)
    rows = [
        ReferenceRow.of("embedding", (1, 0), (looked_up, 1, width), table.element, {}),
        ReferenceRow.of("reshape", (3,), shape, table.element, {"shape": shape}),
    ]
    maps = AffineMap(3, 0, (dim(2), dim(1))), (dim(0), ConstantExpr(0))
    found = pick(builder, (table, column), shape, maps, count, rows)
    return reshape(builder, found, value_shape(op.results[0]))


def _convert_gather(conversion: Conversion, op: Operation) -> DeviceTensor:
    """Elements along a dimension; tensor and numbers are repeated along the others."""
    assert isinstance(op, TableOperation)
    source = conversion.tensor(op.operands[0])
    numbers = _numbers(conversion, op.operands[1])
    shape = matrix_shape(value_shape(op.results[0]))
    axis = _axis(op, source)
    rank = len(shape)
    place: list[AffineExpr] = [
        ConstantExpr(0) if extent == 1 else dim(each) for each, extent in enumerate(source.shape)
    ]
    place[axis] = dim(rank)
    at = [
        ConstantExpr(0) if extent == 1 else dim(each) for each, extent in enumerate(numbers.shape)
    ]
    rows = [ReferenceRow.of("gather", (0, 1), shape, source.element, {"dim": axis})]
    maps = AffineMap(rank + 1, 0, tuple(place)), at
    return pick(conversion.builder, (source, numbers), shape, maps, source.shape[axis], rows)


def _axis(op: TableOperation, source: DeviceTensor) -> int:
    """The dimension of an operation, of a tensor filled up to two."""
    rank = len(value_shape(op.operands[0]))
    return cast("int", op.parameters()["dim"]) % rank + len(source.shape) - rank


# --- Slices ---------------------------------------------------------------------------------------


def _convert_slice_dynamic(conversion: Conversion, op: Operation) -> DeviceTensor:
    """Dimension by dimension, each from its number on."""
    builder = conversion.builder
    tensor = conversion.tensor(op.operands[0])
    begins = _numbers(conversion, op.operands[1])
    added = len(tensor.shape) - len(value_shape(op.operands[0]))
    for axis, size in enumerate(value_shape(op.results[0]), added):
        if size < tensor.shape[axis]:
            tensor = _slice_from(builder, tensor, (begins, axis - added), axis, size)
    return tensor


def _slice_from(
    builder: D2MBuilder,
    source: DeviceTensor,
    begin: tuple[DeviceTensor, int],
    axis: int,
    size: int,
    *,
    twice: bool = False,
) -> DeviceTensor:
    """So many elements of a dimension, from a number of a vector on; of the tensor twice in a row.

    A number that would lead over the end is the last that does not.
    """
    begins, number = begin
    extent, rank = source.shape[axis], len(source.shape)
    shape = tuple(size if each == axis else own for each, own in enumerate(source.shape))
    first = dim(axis) + dim(rank)
    place = [*dims(rank)]
    place[axis] = first % extent if twice else first
    rows = _rows_of_slice(source, shape, number, axis, twice=twice)
    count = extent + 1 if twice else extent - size + 1
    maps = AffineMap(rank + 1, 0, tuple(place)), (ConstantExpr(0), ConstantExpr(number))
    return pick(builder, (source, begins), shape, maps, count, rows)


def _rows_of_slice(
    source: DeviceTensor, shape: Shape, number: int, axis: int, *, twice: bool
) -> list[ReferenceRow]:
    """The slice in operations; one of them wants a number for each dimension.

    Those of dimensions that are whole do not matter.
    """
    rank, element = len(shape), source.element
    part: dict[str, ParameterValue] = {
        "begins": (0, number),
        "ends": (1, number + 1),
        "step": (1, 1),
    }
    rows = [
        ReferenceRow.of("slice", (1,), (1, 1), i32, part),
        ReferenceRow.of("reshape", (3,), (1,), i32, {"shape": (1,)}),
        ReferenceRow.of("repeat", (4,), (rank,), i32, {"repeat_dimensions": (rank,)}),
    ]
    if not twice:
        return [*rows, ReferenceRow.of("slice_dynamic", (0, 5), shape, element, {"sizes": shape})]
    doubled = tuple(2 * own if each == axis else own for each, own in enumerate(source.shape))
    return [
        *rows,
        ReferenceRow.of("concat", (0, 0), doubled, element, {"dim": axis}),
        ReferenceRow.of("slice_dynamic", (6, 5), shape, element, {"sizes": shape}),
    ]


def _convert_slice_write(conversion: Conversion, op: Operation) -> DeviceTensor:
    """The update is rotated until it begins at its indices; a mask rotated alike selects it."""
    builder = conversion.builder
    target, update = (conversion.tensor(value) for value in op.operands[:2])
    begins = _numbers(conversion, op.operands[2])
    added = len(target.shape) - len(value_shape(op.operands[0]))
    sizes = update.shape
    written = [
        axis for axis, extent in enumerate(target.shape) if axis >= added and sizes[axis] < extent
    ]
    if not written:
        return update
    rotations = _rotations(builder, begins, target.shape[added:], sizes[added:])
    masks: list[DeviceTensor] = []
    for axis in written:
        extent = target.shape[axis]
        extents = [extent if each == axis else 1 for each in range(len(target.shape))]
        mask = builder.load_constant(i1, extents, [place < sizes[axis] for place in range(extent)])
        rotation = rotations, axis - added
        masks.append(_slice_from(builder, mask, rotation, axis, extent, twice=True))
        wide = shift(builder, update, axis, 0, extent)
        update = _slice_from(builder, wide, rotation, axis, extent, twice=True)
    for mask in masks:
        operands = [mask, update, target]
        update = compute_elementwise(builder, "where", operands, target.element, target.shape)
    return update


def _rotations(
    builder: D2MBuilder, begins: DeviceTensor, extents: Shape, sizes: Shape
) -> DeviceTensor:
    """By how much each dimension is rotated: its extent minus where the update begins."""
    shape = begins.shape
    lasts = [extent - size for extent, size in zip(extents, sizes, strict=True)]
    last = builder.load_constant(i32, shape, lasts)
    whole = builder.load_constant(i32, shape, extents)
    zero = Splat(0, i32, shape)
    begins = compute_elementwise(builder, "maximum", [begins, zero], i32, shape)
    begins = compute_elementwise(builder, "minimum", [begins, last], i32, shape)
    return compute_elementwise(builder, "subtract", [whole, begins], i32, shape)


RULES: RuleTable = {
    "ttir.embedding": _convert_embedding,
    "ttir.gather": _convert_gather,
    "ttir.slice_dynamic": _convert_slice_dynamic,
    "ttir.slice_write": _convert_slice_write,
}
"""Rules by the full name of the operation."""
