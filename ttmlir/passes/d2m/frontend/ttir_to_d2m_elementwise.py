"""Elementwise operations as loops over tiles, for `ttir-to-d2m`.

A body has one operation of the definition, on the numbers that `ttmlir.ir.kernel_builder` says,
with conversions around it. An operand that is repeated within tiles goes through `d2m.tile_bcast`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerType, i1, i32
from xdsl.ir import Attribute, SSAValue

from ttmlir import optable
from ttmlir.dialects import d2m
from ttmlir.dialects.definition.table_ops import ParameterValue
from ttmlir.dialects.ttcore import metal_tile_type
from ttmlir.ir.kernel_builder import (
    computed_as,
    is_float,
    is_short,
    is_wide,
    is_wide_unsigned,
    nearest_integer,
    steps_of,
)
from ttmlir.ir.tensor_types import is_boolean
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.metal import TILE
from ttmlir.passes.d2m.frontend.ttir_to_d2m_builder import (
    D2MBuilder,
    DeviceTensor,
    LoopNest,
    Operand,
    Shape,
    Splat,
    TileBuilder,
    matrix_shape,
    place_of,
    scalar_of,
    spread_tile,
)
from ttmlir.passes.d2m.references import ReferenceRow

SIGNBIT = "signbit"
"""Whether floating-point numbers have a sign: no operation of its own in ttir of 2024, where
integers of the same bits are compared with 0, but one call on tiles."""
_BITCAST = "bitcast_convert"


def compute_elementwise(
    builder: D2MBuilder,
    mnemonic: str,
    operands: Sequence[Operand],
    element: Attribute,
    shape: Shape,
    parameters: Mapping[str, ParameterValue] | None = None,
) -> DeviceTensor:
    """An operation of a definition, or `signbit`, on tensors that broadcast to a shape.

    LayoutError for what kernels do not compute on the elements.
    """
    first = operands[0]
    if mnemonic == _BITCAST:
        mnemonic = _checked_bitcast(first.element, element)
    if mnemonic == "typecast" and isinstance(first, DeviceTensor):
        if not converts(first.element, element):
            if first.element == element:
                return first
            return first.then(mnemonic, {}, first.view, element)
    elif mnemonic == "clamp" and is_wide_unsigned(scalar_of(element)):
        return _clamp_unsigned(builder, first, element, shape, parameters or {})
    elif mnemonic not in (SIGNBIT, _BITCAST):
        steps_of(mnemonic, scalar_of(operands[-1].element))
    for follow in (_below_views, _without_inner_ones):
        moved = follow(operands, shape)
        if moved is not None:
            result = compute_elementwise(
                builder, mnemonic, moved.operands, element, moved.shape, parameters
            )
            return moved.restore(result)
    output = builder.create_empty(shape, element)
    operands = [each.narrow() if isinstance(each, DeviceTensor) else each for each in operands]
    tensors = list(dict.fromkeys(each for each in operands if isinstance(each, DeviceTensor)))
    nest = LoopNest.parallel(output.rank, [place_of(each, output) for each in tensors])

    def body(tiles: TileBuilder, inputs: Sequence[SSAValue], _: SSAValue) -> SSAValue:
        spread = {
            tensor: spread_tile(tiles, tile, tensor.shape, output.shape)
            for tensor, tile in zip(tensors, inputs, strict=True)
        }
        values = [each if isinstance(each, Splat) else spread[each] for each in operands]
        elements = [each.element for each in operands]
        return _compute_tile(tiles, mnemonic, values, elements, element, parameters or {})

    rows = _rows(mnemonic, operands, tensors, element, output.shape, parameters or {})
    return builder.generic(tensors, output, nest, body, rows)


def _checked_bitcast(source: Attribute, target: Attribute) -> str:
    """What takes bits as those of another type: of integers it is a conversion.

    LayoutError for floating-point numbers that have not the 32 bits of DST.
    """
    if not any(is_float(scalar_of(each)) for each in (source, target)):
        return "typecast"
    if not all(is_wide(scalar_of(each)) for each in (source, target)):
        raise LayoutError(
            f"kernels take 32 bits as a number of another type, not those of {source}; run "
            "ttir-composite-decomposition before"
        )
    return _BITCAST


def _clamp_unsigned(
    builder: D2MBuilder,
    operand: Operand,
    element: Attribute,
    shape: Shape,
    parameters: Mapping[str, ParameterValue],
) -> DeviceTensor:
    """Two extremes: the call that clamps compares integers with their sign."""
    bounds = {"maximum": parameters["min"], "minimum": parameters["max"]}
    result = operand
    for mnemonic, bound in bounds.items():
        assert isinstance(bound, float), "limits are numbers"
        limit = Splat(nearest_integer(bound, has_sign=False), element, (1, 1))
        result = compute_elementwise(builder, mnemonic, [result, limit], element, shape)
    assert isinstance(result, DeviceTensor), "what is computed is a tensor"
    return result


@dataclass(frozen=True)
class _Moved:
    """Operands in a shape in which whole tiles are computed, and the way back."""

    operands: Sequence[Operand]
    shape: Shape
    restore: Callable[[DeviceTensor], DeviceTensor]


def _below_views(operands: Sequence[Operand], shape: Shape) -> _Moved | None:
    """The buffers of operands that all move parts of tiles in one way: the result moves instead."""
    tensors = list(dict.fromkeys(each for each in operands if isinstance(each, DeviceTensor)))
    if not tensors or tensors[0].has_whole_tiles or tensors[0].shape != shape:
        return None
    first, buffers = tensors[0], [DeviceTensor.whole(each.buffer, each.element) for each in tensors]
    below = buffers[0].shape
    if math.prod(below) > math.prod(shape) or any(
        each.view != first.view or buffer.shape != below
        for each, buffer in zip(tensors, buffers, strict=True)
    ):
        return None
    places = dict(zip(tensors, buffers, strict=True))
    return _Moved(
        [places[each] if isinstance(each, DeviceTensor) else each for each in operands],
        below,
        lambda result: result.as_moved(first),
    )


def _without_inner_ones(operands: Sequence[Operand], shape: Shape) -> _Moved | None:
    """Operands whose rows are not one in each matrix: extents of 1 stand in front."""
    *outer, last = shape
    if shape[-2] > 1 or math.prod(outer) == 1:
        return None
    order = sorted(range(len(outer)), key=lambda dim: shape[dim] > 1)
    target = (*(shape[dim] for dim in order), last)
    moved: list[Operand] = []
    for each in operands:
        if isinstance(each, DeviceTensor):
            own = (*(1,) * (len(shape) - len(each.shape)), *each.shape)
            wanted = (*(own[dim] for dim in order), own[-1])
            view = each.view.reshape(wanted)
            if view is None:
                return None
            each = each.then("reshape", {"shape": wanted}, view)
            if not each.has_whole_tiles:
                return None
        moved.append(each)

    def restore(result: DeviceTensor) -> DeviceTensor:
        view = result.view.reshape(shape)
        assert view is not None, "extents of 1 stand anywhere"
        return result.then("reshape", {"shape": shape}, view)

    return _Moved(moved, target, restore)


def _rows(
    mnemonic: str,
    operands: Sequence[Operand],
    tensors: Sequence[DeviceTensor],
    element: Attribute,
    shape: Shape,
    parameters: Mapping[str, ParameterValue],
) -> Sequence[ReferenceRow]:
    """What is computed, on tensors by number and on numbers."""
    if mnemonic == SIGNBIT:
        bits = IntegerType(8 * scalar_of(operands[0].element).size_bytes)
        return (
            ReferenceRow.of(_BITCAST, (0,), shape, bits),
            ReferenceRow.of("lt", (2, 0.0), shape, element),
        )
    values: list[int | float] = [
        float(each.number) if isinstance(each, Splat) else tensors.index(each) for each in operands
    ]
    if mnemonic == "typecast" and is_boolean(element) and not is_boolean(operands[0].element):
        # Truth values are stored as numbers, to which a typecast changes nothing.
        return (ReferenceRow.of("ne", (*values, 0.0), shape, element),)
    return (ReferenceRow.of(mnemonic, values, shape, element, parameters),)


def _compute_tile(
    tiles: TileBuilder,
    mnemonic: str,
    values: Sequence[SSAValue | Splat],
    elements: Sequence[Attribute],
    element: Attribute,
    parameters: Mapping[str, ParameterValue],
) -> SSAValue:
    """One tile of the result, from tiles and numbers."""
    if mnemonic == "typecast":
        return convert_tile(tiles, _tile_of(tiles, values[0], elements[0]), elements[0], element)
    if mnemonic == SIGNBIT:
        tile = _tile_of(tiles, values[0], elements[0])
        made = element if is_float(scalar_of(element)) else elements[0]
        signs = tiles.add(d2m.tile_op("tile_signbit").of([tile], metal_tile_type(made)))
        return convert_tile(tiles, signs, made, element, has_truths=True)
    if mnemonic == _BITCAST:
        tile = _tile_of(tiles, values[0], elements[0])
        return tiles.add(d2m.tile_op("tile_bitcast").of([tile], metal_tile_type(element)))
    working = i32 if is_short(scalar_of(elements[-1])) else elements[-1]
    wanted = [
        i1 if mnemonic == "where" and not number else working for number in range(len(values))
    ]
    uses = list(zip(values, elements, wanted, strict=True))
    made_of = {use: _operand(tiles, *use) for use in dict.fromkeys(uses)}
    operands = [made_of[use] for use in uses]
    meant = computed_as(mnemonic, scalar_of(elements[-1]))
    cls = d2m.tile_op_of(meant)
    assert cls is not None, "what has steps is an operation on tiles"
    gives_truth = optable.definition(meant).gives_truth
    is_direct = gives_truth and is_float(scalar_of(working)) and is_float(scalar_of(element))
    made = element if is_direct else working
    result = tiles.add(cls.of(operands, metal_tile_type(made), **parameters))
    if meant == "div" and not is_float(scalar_of(working)):
        result = _where_divided(tiles, result, values[1], operands[1], working)
    return result if is_direct else convert_tile(tiles, result, working, element, gives_truth)


def _where_divided(
    tiles: TileBuilder,
    quotient: SSAValue,
    value: SSAValue | Splat,
    divisor: SSAValue,
    element: Attribute,
) -> SSAValue:
    """Quotients, and -1 by 0, where each chip has a number of its own."""
    if isinstance(value, Splat) and value.number:
        return quotient
    tile = metal_tile_type(element)
    return tiles.add(d2m.tile_op("tile_where").of([divisor, quotient, tiles.fill(-1, tile)], tile))


def _tile_of(tiles: TileBuilder, value: SSAValue | Splat, element: Attribute) -> SSAValue:
    if isinstance(value, Splat):
        return tiles.fill(value.number, metal_tile_type(element))
    return value


def _operand(
    tiles: TileBuilder, value: SSAValue | Splat, own: Attribute, wanted: Attribute
) -> SSAValue:
    """An operand in the kind of numbers that is computed with: of both, floats stay as they are."""
    if isinstance(value, Splat):
        return tiles.fill(value.number, metal_tile_type(wanted))
    if is_short(scalar_of(own)) or is_float(scalar_of(own)) != is_float(scalar_of(wanted)):
        return convert_tile(tiles, value, own, wanted)
    return value


def converts(source: Attribute, target: Attribute, has_truths: bool = False) -> bool:
    """True if a conversion changes tiles."""
    asks = is_boolean(target) and not is_boolean(source) and not has_truths
    return asks or metal_tile_type(source) != metal_tile_type(target)


def convert_tile(
    tiles: TileBuilder,
    tile: SSAValue,
    source: Attribute,
    target: Attribute,
    has_truths: bool = False,
) -> SSAValue:
    """A tile of one element type as one of another; 0 and 1 are truth values as they are."""
    if not converts(source, target, has_truths):
        return tile
    named = {
        name: element
        for name, element in (("source", source), ("target", target))
        if is_short(scalar_of(element)) or is_boolean(element)
    }
    cls = d2m.tile_op("tile_typecast")
    return tiles.add(
        cls.create(
            operands=[tile],
            result_types=[metal_tile_type(target)],
            properties=named,
        )
    )


def without_padding(
    builder: D2MBuilder, source: DeviceTensor, wanted: tuple[bool, bool], number: float
) -> DeviceTensor:
    """The tensor with a number in place of the padding of its rows, of its columns, or of both.

    The host pads constants by zeros, so one of ones chooses.
    """
    rank = len(source.shape)
    for dim, is_wanted in zip((rank - 2, rank - 1), wanted, strict=True):
        if is_wanted and source.shape[dim] % TILE:
            extents = [source.shape[dim] if each == dim else 1 for each in range(rank)]
            inside = builder.load_constant(source.element, extents, [1] * source.shape[dim])
            operands = [inside, source, Splat(number, source.element, source.shape)]
            source = compute_elementwise(builder, "where", operands, source.element, source.shape)
    return source


def cast(builder: D2MBuilder, source: DeviceTensor, element: Attribute) -> DeviceTensor:
    """The tensor with another element type."""
    return compute_elementwise(builder, "typecast", [source], element, matrix_shape(source.shape))
