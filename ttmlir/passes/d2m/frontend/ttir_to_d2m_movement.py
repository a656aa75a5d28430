"""Operations that move elements, for `ttir-to-d2m`: changes of the view on a buffer.

Nothing is copied before something reads the tensor, and then only what is not a view of whole
tiles. Concatenations and paddings write their parts into a new buffer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue

from ttmlir.dialects.definition.table_ops import TableOperation
from ttmlir.dialects.ttir import TTIRTableOp
from ttmlir.ir.tensor_types import element_type, limits_of, value_shape
from ttmlir.layout.affine import AffineMap, DimExpr
from ttmlir.passes.d2m.frontend.ttir_to_d2m import Conversion, RuleTable
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
from ttmlir.passes.d2m.frontend.ttir_to_d2m_elementwise import compute_elementwise
from ttmlir.passes.d2m.references import ReferenceRow

# --- Reshapes -------------------------------------------------------------------------------------


def reshape(builder: D2MBuilder, source: DeviceTensor, shape: Sequence[int]) -> DeviceTensor:
    """The elements in row-major order under another shape."""
    target = matrix_shape(shape)
    view = source.view.reshape(target)
    if source.shape == target:
        return source
    if view is None:
        return builder.regroup(source, target)
    return source.then("reshape", {"shape": target}, view)


def permute(source: DeviceTensor, order: Sequence[int]) -> DeviceTensor:
    """The tensor with its last dimensions in another order; those in front stay."""
    added = len(source.shape) - len(order)
    whole = (*range(added), *(added + dim for dim in order))
    return source.then("permute", {"permutation": whole}, source.view.permute(whole))


def _convert_reshape(conversion: Conversion, op: Operation) -> DeviceTensor:
    source = conversion.tensor(op.operands[0])
    return reshape(conversion.builder, source, value_shape(op.results[0]))


def exchange(source: DeviceTensor) -> DeviceTensor:
    """The tensor with its last two dimensions exchanged."""
    rank = len(source.shape)
    return permute(source, (*range(rank - 2), rank - 1, rank - 2))


def _convert_permute(conversion: Conversion, op: Operation) -> DeviceTensor:
    assert isinstance(op, TableOperation)
    value, parameters = op.operands[0], op.parameters()
    rank = len(value_shape(value))
    if "permutation" in parameters:
        order = list(cast("Shape", parameters["permutation"]))
    else:
        order = list(range(rank))
        first, second = (cast("int", parameters[name]) % rank for name in ("dim0", "dim1"))
        order[first], order[second] = order[second], order[first]
    return permute(conversion.tensor(value), order)


# --- Parts ----------------------------------------------------------------------------------------


def _is_inner(dim: int, rank: int) -> bool:
    """True for the dimensions that tiles divide."""
    return dim >= rank - 2


def take(
    builder: D2MBuilder, source: DeviceTensor, dim: int, begin: int, count: int, step: int = 1
) -> DeviceTensor:
    """Some elements of a dimension."""
    extent = source.shape[dim]
    if count == extent:
        return source
    view = source.view.slice(dim, begin, count, step)
    if view is None:
        source = builder.settle(source)
        view = source.view.slice(dim, begin, count, step)
        assert view is not None, "dimensions of a buffer are cut anywhere"
    rank = len(source.shape)
    parameters = {
        "begins": tuple(begin if each == dim else 0 for each in range(rank)),
        "ends": tuple(
            begin + (count - 1) * step + 1 if each == dim else whole
            for each, whole in enumerate(source.shape)
        ),
        "step": tuple(step if each == dim else 1 for each in range(rank)),
    }
    return source.then("slice", parameters, view)


def _convert_slice(conversion: Conversion, op: Operation) -> DeviceTensor:
    assert isinstance(op, TableOperation)
    tensor = conversion.tensor(op.operands[0])
    parameters = cast("dict[str, Shape]", op.parameters())
    begins, steps = parameters["begins"], parameters["step"]
    counts = value_shape(op.results[0])
    added = len(tensor.shape) - len(begins)
    for dim, (begin, count, step) in enumerate(zip(begins, counts, steps, strict=True), added):
        first = begin % tensor.shape[dim] if begin < 0 else begin
        tensor = take(conversion.builder, tensor, dim, first, count, step)
    return tensor


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
        # Only an iterator over all of a dimension stands alone.
        DimExpr(dim) % count if not offset and count < whole else DimExpr(dim) + offset
        for dim, (offset, count, whole) in enumerate(zip(offsets, counts, wholes, strict=True))
    )
    nest = LoopNest((PARALLEL,) * rank, (AffineMap.identity(rank), AffineMap(rank, 0, place)))

    def body(tiles: TileBuilder, inputs: Sequence[SSAValue], _: SSAValue) -> SSAValue:
        (tile,) = inputs
        if padding is None:
            return tile
        wanted = (True, True)
        return mask_padding(tiles, tile, source, wanted, (rank - 2, rank - 1), padding)

    return builder.generic([source], output, nest, body, rows)


def shift(
    builder: D2MBuilder, source: DeviceTensor, dim: int, distance: int, extent: int
) -> DeviceTensor:
    """A longer dimension with the tensor from `distance` on; around it are any numbers."""
    view = None if distance else source.view.widen(dim, extent)
    if view is None:
        return builder.rotate(source, dim, distance, extent)
    widths = [0] * 2 * len(source.shape)
    widths[2 * dim + 1] = extent - source.shape[dim]
    widened = source.then("pad", {"padding": tuple(widths), "value": 0.0}, view)
    if widened.tile_map is None:
        return builder.rotate(source, dim, distance, extent)
    return widened


def _convert_concat(conversion: Conversion, op: Operation) -> DeviceTensor:
    assert isinstance(op, TTIRTableOp)
    builder, result = conversion.builder, op.results[0]
    shape = value_shape(result)
    target = matrix_shape(shape)
    rank = len(target)
    dim = cast("int", op.parameters()["dim"]) % len(shape) + rank - len(shape)
    parts = [conversion.tensor(value) for value in op.inputs]
    unit = TILE if _is_inner(dim, rank) else 1
    if any(part.shape[dim] % unit for part in parts[:-1]):
        return _merge_parts(builder, parts, dim)
    output = builder.create_empty(target, element_type(result))
    first = 0
    for part in parts:
        offsets = [first // unit if each == dim else 0 for each in range(rank)]
        end = first + part.shape[dim]
        held = [end if each == dim else extent for each, extent in enumerate(target)]
        # The part after those that the output has.
        row = ReferenceRow.of("concat", (1, 0), held, output.element, {"dim": dim})
        output = _write_part(builder, part, output, offsets, [row] if first else [])
        first = end
    return output


def _merge_parts(builder: D2MBuilder, parts: Sequence[DeviceTensor], dim: int) -> DeviceTensor:
    """The concatenation of parts that share tiles: each as long as all, and one of them chosen."""
    ends = [sum(part.shape[dim] for part in parts[: number + 1]) for number in range(len(parts))]
    extent = ends[-1]
    merged = shift(builder, parts[0], dim, 0, extent)
    for part, begin in zip(parts[1:], ends, strict=False):
        extents = [extent if each == dim else 1 for each in range(len(part.shape))]
        is_before = builder.load_constant(i1, extents, [n < begin for n in range(extent)])
        here = shift(builder, part, dim, begin, extent)
        merged = compute_elementwise(
            builder, "where", [is_before, merged, here], part.element, merged.shape
        )
    return merged


def _convert_pad(conversion: Conversion, op: Operation) -> DeviceTensor:
    assert isinstance(op, TableOperation)
    builder, result = conversion.builder, op.results[0]
    source = conversion.tensor(op.operands[0])
    parameters = op.parameters()
    padding = cast("Shape", parameters["padding"])
    if not any(padding):
        return source
    number = _clamped(cast("float", parameters["value"]), op)
    shape = value_shape(result)
    target = matrix_shape(shape)
    rank = len(target)
    widths = [*(0,) * 2 * (rank - len(shape)), *padding]
    lows = widths[::2]
    for dim in (rank - 2, rank - 1):
        if lows[dim] % TILE:
            source = _pad_within(builder, source, dim, (lows[dim], target[dim]), number)
            lows[dim] = widths[2 * dim] = widths[2 * dim + 1] = 0
    if source.shape == target:
        return source
    offsets = [low // TILE if _is_inner(dim, rank) else low for dim, low in enumerate(lows)]
    output = builder.materialize(Splat(number, element_type(result), target))
    rest = {"padding": tuple(widths), "value": float(number)}
    row = ReferenceRow.of("pad", (0,), target, output.element, rest)
    return _write_part(builder, source, output, offsets, [row], number)


def _pad_within(
    builder: D2MBuilder,
    source: DeviceTensor,
    dim: int,
    place: tuple[int, int],
    number: float,
) -> DeviceTensor:
    """A dimension of an extent that holds the tensor from somewhere in a tile on."""
    begin, extent = place
    end = begin + source.shape[dim]
    shifted = shift(builder, source, dim, begin, extent)
    extents = [extent if each == dim else 1 for each in range(len(source.shape))]
    is_inside = builder.load_constant(i1, extents, [begin <= n < end for n in range(extent)])
    around = Splat(number, source.element, shifted.shape)
    return compute_elementwise(
        builder, "where", [is_inside, shifted, around], source.element, shifted.shape
    )


def _clamped(number: float, op: Operation) -> float:
    """The number of a padding in the element type."""
    lowest, highest = limits_of(element_type(op.results[0]))
    return number if lowest == -math.inf else int(min(max(number, lowest), highest))


# --- Repetitions ----------------------------------------------------------------------------------


def broadcast(source: DeviceTensor, shape: Sequence[int]) -> DeviceTensor:
    """The tensor repeated along its dimensions until it has a shape."""
    view = source.view
    counts = tuple(whole // extent for extent, whole in zip(source.shape, shape, strict=True))
    if math.prod(counts) == 1:
        return source
    for dim, count in enumerate(counts):
        view = view.repeat(dim, count)
    return source.then("repeat", {"repeat_dimensions": counts}, view)


def _convert_repeat(conversion: Conversion, op: Operation) -> DeviceTensor:
    source = conversion.tensor(op.operands[0])
    return broadcast(source, matrix_shape(value_shape(op.results[0])))


def _convert_broadcast(conversion: Conversion, op: Operation) -> DeviceTensor:
    assert isinstance(op, TableOperation)
    value, shape = op.operands[0], value_shape(op.results[0])
    source = conversion.tensor(value)
    given = value_shape(value)
    dimension = cast("Shape", op.parameters()["dimension"])
    placed = [*(1,) * (len(shape) - len(given)), *given]
    if len(given) < len(shape) and len(dimension) == len(given):
        placed = [1] * len(shape)
        for extent, dim in zip(given, dimension, strict=True):
            placed[dim] = extent
    source = reshape(conversion.builder, source, placed)
    return broadcast(source, matrix_shape(shape))


def _convert_reverse(conversion: Conversion, op: Operation) -> DeviceTensor:
    assert isinstance(op, TableOperation)
    source = conversion.tensor(op.operands[0])
    given = len(value_shape(op.operands[0]))
    added = len(source.shape) - given
    turned = tuple(dim % given + added for dim in cast("Shape", op.parameters()["dimensions"]))
    view = source.view
    for dim in turned:
        view = view.reverse(dim)
    return source.then("reverse", {"dimensions": turned}, view)


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
