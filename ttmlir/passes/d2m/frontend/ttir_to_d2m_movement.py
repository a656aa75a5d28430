"""Operations that move whole tiles, for `ttir-to-d2m`: loops whose maps say which tile is read.

Rows, columns and single elements stay where they are in their tiles, but for an exchange of rows
and columns. All else is refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NoReturn, cast

from xdsl.ir import Operation, SSAValue

from ttmlir.dialects.definition.row_ops import RowOperation
from ttmlir.ir.tensor_types import element_type, limits_of, value_shape
from ttmlir.layout.affine import AffineExpr, AffineMap, ConstantExpr, DimExpr, dims
from ttmlir.layout.errors import LayoutError
from ttmlir.passes.d2m.frontend.ttir_to_d2m import OTHER_ROAD, Conversion, RuleTable
from ttmlir.passes.d2m.frontend.ttir_to_d2m_builder import (
    PARALLEL,
    TILE,
    D2MBuilder,
    DeviceTensor,
    LoopNest,
    Shape,
    Splat,
    TileBuilder,
    mask_padding,
    matrix_shape,
    tiles_of,
)
from ttmlir.passes.d2m.frontend.ttir_to_d2m_elementwise import broadcast
from ttmlir.passes.d2m.references import ReferenceRow


def refuse_move(what: str, supported: str) -> NoReturn:
    """Refuse what moves parts of tiles."""
    raise LayoutError(
        f"{what} moves parts of tiles of {TILE}x{TILE}; kernels move whole ones: {supported}; "
        f"{OTHER_ROAD}"
    )


# --- Reshapes ------------------------------------------------------------------------------------


def reshape(builder: D2MBuilder, source: DeviceTensor, shape: Sequence[int]) -> DeviceTensor:
    """The elements in row-major order under another shape; LayoutError where tiles change."""
    target = matrix_shape(shape)
    if source.shape == target:
        return source
    *_, rows, columns = source.shape
    *outer, new_rows, new_columns = target
    place = dims(len(target))
    if columns == new_columns and (rows == new_rows or rows % TILE == new_rows % TILE == 0):
        flat = _flatten(place, tiles_of(target), len(target) - 1)
        lead = _split(flat, tiles_of(source.shape)[:-1])
        return builder.move(source, target, (*lead, place[-1]), "reshape", {"shape": target})
    if (rows, columns) == (new_columns, new_rows) and 1 in (rows, columns):
        # A row becomes a column, or a column a row.
        lead = _split(_flatten(place, target, len(outer)), source.shape[:-2])
        place = (*lead, place[-1], place[-2])
        return builder.move(source, target, place, "reshape", {"shape": target}, transposes=True)
    refuse_move(
        f"the reshape from {list(source.shape)} to {list(target)}",
        "reshapes that keep the last two dimensions, or the last one where the ones before are "
        "multiples of 32, or that make a row a column",
    )


def _flatten(place: Sequence[AffineExpr], extents: Sequence[int], count: int) -> AffineExpr:
    """The position of a place in row-major order of the first `count` dimensions."""
    position: AffineExpr = ConstantExpr(0)
    for each, extent in zip(place[:count], extents[:count], strict=True):
        position = position * extent + (each if extent > 1 else 0)
    return position


def _split(position: AffineExpr, extents: Sequence[int]) -> list[AffineExpr]:
    """The place at a position in row-major order."""
    place: list[AffineExpr] = []
    for number, extent in enumerate(extents):
        after = math.prod(extents[number + 1 :])
        before = math.prod(extents[:number])
        index = position // after
        place.append(ConstantExpr(0) if extent == 1 else index % extent if before > 1 else index)
    return place


def permute(
    builder: D2MBuilder, source: DeviceTensor, order: Sequence[int], shape: Sequence[int]
) -> DeviceTensor:
    """The tensor of a shape with its dimensions in another order; LayoutError within tiles."""
    rank = len(shape)
    target = [shape[dim] for dim in order]
    long = [dim for dim in order if shape[dim] > 1]
    if long == sorted(long):
        return reshape(builder, source, target)
    # Here the rank is two or more.
    inner = (rank - 2, rank - 1)
    if set(order[-2:]) != set(inner):
        refuse_move(
            f"the permutation {list(order)} of {list(shape)}",
            "permutations that keep or exchange the last two dimensions",
        )
    place: list[AffineExpr] = [ConstantExpr(0)] * rank
    for new, old in enumerate(order):
        place[old] = DimExpr(new)
    return builder.move(
        source,
        target,
        place,
        "permute",
        {"permutation": tuple(order)},
        transposes=order[-1] != rank - 1,
    )


def _convert_reshape(conversion: Conversion, op: Operation) -> DeviceTensor:
    source = conversion.tensor(op.operands[0])
    return reshape(conversion.builder, source, value_shape(op.results[0]))


def _convert_permute(conversion: Conversion, op: Operation) -> DeviceTensor:
    assert isinstance(op, RowOperation)
    value, parameters = op.operands[0], op.parameters()
    rank = len(value_shape(value))
    if "permutation" in parameters:
        order = list(cast("Shape", parameters["permutation"]))
    else:
        order = list(range(rank))
        first, second = (cast("int", parameters[name]) % rank for name in ("dim0", "dim1"))
        order[first], order[second] = order[second], order[first]
    return permute(conversion.builder, conversion.tensor(value), order, value_shape(value))


# --- Parts ---------------------------------------------------------------------------------------


def _is_inner(dim: int, rank: int) -> bool:
    """True for the dimensions that tiles divide."""
    return dim >= rank - 2


def _part(dim: int, step: int, first: int, count: int, whole: int) -> AffineExpr:
    """The place of a tile of a part in a whole; only iterators over all of it stand alone."""
    place = DimExpr(dim) * step + first
    return place % count if place == DimExpr(dim) and count < whole else place


def _convert_slice(conversion: Conversion, op: Operation) -> DeviceTensor:
    assert isinstance(op, RowOperation)
    source = conversion.tensor(op.operands[0])
    parameters = cast("dict[str, Shape]", op.parameters())
    begins, steps = parameters["begins"], parameters["step"]
    added = len(source.shape) - len(begins)
    shape = matrix_shape(value_shape(op.results[0]))
    rank = len(shape)
    counts = tiles_of(source.shape)
    place: list[AffineExpr] = []
    for dim, (begin, step) in enumerate(
        zip((0,) * added + begins, (1,) * added + steps, strict=True)
    ):
        first = begin % source.shape[dim] if begin < 0 else begin
        step = 1 if shape[dim] == 1 else step
        unit = TILE if _is_inner(dim, rank) else 1
        if first % unit or (unit > 1 and step > 1):
            refuse_move(
                f"the slice from {begin} by {step} of dimension {dim - added}",
                "slices of the last two dimensions begin at multiples of 32 and have step 1",
            )
        place.append(_part(dim, step, first // unit, tiles_of(shape)[dim], counts[dim]))
    ends = parameters["ends"]
    return conversion.builder.move(
        source,
        shape,
        place,
        "slice",
        {
            "begins": (*(0,) * added, *begins),
            "ends": (*source.shape[:added], *ends),
            "step": (*(1,) * added, *steps),
        },
    )


def _write_part(
    builder: D2MBuilder,
    source: DeviceTensor,
    output: DeviceTensor,
    offsets: Sequence[int],
    rows: Sequence[ReferenceRow],
    padding: float | None = None,
) -> DeviceTensor:
    """The output with a tensor in it, from some tile on; its padding may become a number.

    `rows` say what the output holds then, up to the end of the tensor.
    """
    rank = len(output.shape)
    counts, wholes = tiles_of(source.shape), tiles_of(output.shape)
    place = tuple(
        _part(dim, 1, offset, counts[dim], wholes[dim]) for dim, offset in enumerate(offsets)
    )
    nest = LoopNest((PARALLEL,) * rank, (AffineMap.identity(rank), AffineMap(rank, 0, place)))

    def body(tiles: TileBuilder, inputs: Sequence[SSAValue], _: SSAValue) -> SSAValue:
        (tile,) = inputs
        if padding is None:
            return tile
        wanted = (True, True)
        return mask_padding(tiles, tile, source, wanted, (rank - 2, rank - 1), padding)

    return builder.generic([source], output, nest, body, rows)


def _convert_concat(conversion: Conversion, op: Operation) -> DeviceTensor:
    assert isinstance(op, RowOperation)
    builder, result = conversion.builder, op.results[0]
    shape = value_shape(result)
    values = op.operands[:-1]
    target = matrix_shape(shape)
    dim = cast("int", op.parameters()["dim"]) % len(shape) + len(target) - len(shape)
    unit = TILE if _is_inner(dim, len(target)) else 1
    output = builder.create_empty(target, element_type(result))
    first = 0
    for value in values:
        if first % unit:
            refuse_move(
                f"the concatenation along dimension {dim - len(target) + len(shape)}, in which a "
                f"part begins at {first},",
                "along the last two dimensions all parts but the last are multiples of 32 long",
            )
        offsets = [first // unit if each == dim else 0 for each in range(len(target))]
        part = conversion.tensor(value)
        end = first + part.shape[dim]
        whole = [end if each == dim else extent for each, extent in enumerate(target)]
        # The part behind those that the output has.
        row = ReferenceRow.of("concat", (1, 0), whole, output.element, {"dim": dim})
        output = _write_part(builder, part, output, offsets, [row] if first else [])
        first = end
    return output


def _convert_pad(conversion: Conversion, op: Operation) -> DeviceTensor:
    assert isinstance(op, RowOperation)
    builder, result = conversion.builder, op.results[0]
    source = conversion.tensor(op.operands[0])
    parameters = op.parameters()
    padding = cast("Shape", parameters["padding"])
    if not any(padding):
        return source
    number = cast("float", parameters["value"])
    shape = value_shape(result)
    target = matrix_shape(shape)
    lows = (*(0,) * (len(target) - len(shape)), *padding[::2])
    offsets: list[int] = []
    for dim, low in enumerate(lows):
        unit = TILE if _is_inner(dim, len(target)) else 1
        if low % unit:
            refuse_move(
                f"the padding of {low} in front of dimension {dim - len(target) + len(shape)}",
                "the last two dimensions are padded by multiples of 32 in front, and by any number "
                "behind",
            )
        offsets.append(low // unit)
    number = _clamped(number, op)
    output = builder.materialize(Splat(number, element_type(result), target))
    widths = (*(0,) * 2 * (len(target) - len(shape)), *padding)
    parameters = {"padding": widths, "value": float(number)}
    row = ReferenceRow.of("pad", (0,), target, output.element, parameters)
    return _write_part(builder, source, output, offsets, [row], number)


def _clamped(number: float, op: Operation) -> float:
    """The number of a padding in the element type."""
    lowest, highest = limits_of(element_type(op.results[0]))
    return number if lowest == -math.inf else int(min(max(number, lowest), highest))


# --- Repetitions ---------------------------------------------------------------------------------


def _convert_repeat(conversion: Conversion, op: Operation) -> DeviceTensor:
    source = conversion.tensor(op.operands[0])
    shape = matrix_shape(value_shape(op.results[0]))
    rank = len(shape)
    narrow = [
        extent if _is_inner(dim, rank) and source.shape[dim] == 1 else source.shape[dim]
        for dim, extent in enumerate(shape)
    ]
    if tuple(narrow) != source.shape:
        source = broadcast(conversion.builder, source, narrow)
    place: list[AffineExpr] = []
    for dim, (extent, whole) in enumerate(zip(source.shape, shape, strict=True)):
        if extent != whole and _is_inner(dim, rank) and extent % TILE:
            refuse_move(
                f"the repetition of {extent} elements of dimension {dim - rank}",
                "the last two dimensions are repeated if they are 1 or a multiple of 32 long",
            )
        count = tiles_of(source.shape)[dim]
        place.append(DimExpr(dim) if extent == whole else DimExpr(dim) % count)
    if source.shape == shape:
        return source
    counts = tuple(whole // extent for extent, whole in zip(source.shape, shape, strict=True))
    return conversion.builder.move(source, shape, place, "repeat", {"repeat_dimensions": counts})


def _convert_broadcast(conversion: Conversion, op: Operation) -> DeviceTensor:
    assert isinstance(op, RowOperation)
    value, shape = op.operands[0], value_shape(op.results[0])
    source = conversion.tensor(value)
    given = value_shape(value)
    dimension = cast("Shape", op.parameters()["dimension"])
    if len(given) < len(shape) and len(dimension) == len(given):
        placed = [1] * len(shape)
        for extent, dim in zip(given, dimension, strict=True):
            placed[dim] = extent
        source = reshape(conversion.builder, source, placed)
    target = matrix_shape(shape)
    return source if source.shape == target else broadcast(conversion.builder, source, target)


def _convert_reverse(conversion: Conversion, op: Operation) -> DeviceTensor:
    assert isinstance(op, RowOperation)
    source = conversion.tensor(op.operands[0])
    given = len(value_shape(op.operands[0]))
    rank = len(source.shape)
    place: list[AffineExpr] = list(dims(rank))
    axes: list[int] = []
    for dim in cast("Shape", op.parameters()["dimensions"]):
        axis = dim % given + rank - given
        axes.append(axis)
        if source.shape[axis] > 1 and _is_inner(axis, rank):
            refuse_move(
                f"the opposite order of dimension {dim}", "the last two dimensions keep their order"
            )
        place[axis] = source.shape[axis] - 1 - place[axis]
    return conversion.builder.move(
        source, source.shape, place, "reverse", {"dimensions": tuple(axes)}
    )


RULES: RuleTable = {
    "ttir.broadcast": _convert_broadcast,
    "ttir.concat": _convert_concat,
    "ttir.pad": _convert_pad,
    "ttir.permute": _convert_permute,
    "ttir.repeat": _convert_repeat,
    "ttir.reshape": _convert_reshape,
    "ttir.reverse": _convert_reverse,
    "ttir.slice": _convert_slice,
    "ttir.squeeze": _convert_reshape,
    "ttir.transpose": _convert_permute,
    "ttir.unsqueeze": _convert_reshape,
}
"""Rules by the full name of the operation."""
