"""Products of matrices as loops with reduction iterators, for `ttir-to-d2m`.

Dimensions of any number are iterators: batches and what one operand has alone are parallel, what is
summed over is a reduction. A tile is a product of tiles; where the operands' last two dimensions
are in the other order, it is transposed first.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import cast

from xdsl.dialects.builtin import TensorType, UnitAttr, bf16, f32, i1, i32
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.definition.table_ops import TableOperation
from ttmlir.ir.kernel_builder import is_float, is_short, is_wide_unsigned
from ttmlir.ir.tensor_types import element_type, is_boolean, value_shape
from ttmlir.layout.affine import AffineExpr, AffineMap, ConstantExpr, DimExpr
from ttmlir.layout.errors import LayoutError
from ttmlir.optable.contraction import DotDimensions
from ttmlir.passes.d2m.frontend.ttir_to_d2m import OTHER_PIPELINE, Conversion, RuleTable
from ttmlir.passes.d2m.frontend.ttir_to_d2m_builder import (
    NUMBERS_PER_ADDITION,
    PARALLEL,
    REDUCTION,
    D2MBuilder,
    DeviceTensor,
    LoopNest,
    Operand,
    Shape,
    Splat,
    TileBuilder,
    mask_padding,
    matrix_shape,
    scalar_of,
    sum_element,
    transpose_tile,
)
from ttmlir.passes.d2m.frontend.ttir_to_d2m_elementwise import cast as cast_tensor
from ttmlir.passes.d2m.frontend.ttir_to_d2m_elementwise import (
    compute_elementwise,
    without_padding,
)
from ttmlir.passes.d2m.frontend.ttir_to_d2m_movement import exchange, permute, reshape, take
from ttmlir.passes.d2m.references import ReferenceRow


@dataclass(frozen=True)
class _Factor:
    """An operand of a product: its tensor, and the iterator of each of its dimensions."""

    tensor: DeviceTensor
    iterators: tuple[int, ...]
    contract: int
    """The iterator within tiles that is summed over."""
    is_left: bool
    is_alone: bool = False
    """True for a tensor whose tiles the product takes as they are."""

    def in_tiles(self, builder: D2MBuilder) -> _Factor:
        """The factor with the order of the last two dimensions that its tiles have."""
        places, factor = self.tensor.tile_map, self
        if places is None:
            factor = replace(self, tensor=builder.settle(self.tensor))
        elif places.transposes:
            *outer, rows, columns = self.iterators
            turned = self.tensor.transposed()
            factor = replace(self, tensor=turned, iterators=(*outer, columns, rows))
        return factor._alone(builder) if builder.placement.single_steps else factor

    def _alone(self, builder: D2MBuilder) -> _Factor:
        """The factor computed before: without padding, what is summed over at its place."""
        *outer, rows, columns = self.iterators
        wanted = rows == self.contract, columns == self.contract
        tensor, iterators = without_padding(builder, self.tensor, wanted, 0), self.iterators
        if wanted != (not self.is_left, self.is_left):
            tensor, iterators = builder.settle(exchange(tensor)), (*outer, columns, rows)
        return replace(self, tensor=tensor, iterators=iterators, is_alone=True)

    @property
    def place(self) -> Sequence[AffineExpr]:
        """The tile that is read."""
        return [DimExpr(iterator) for iterator in self.iterators]

    def tile(self, tiles: TileBuilder, tile: SSAValue) -> SSAValue:
        """A tile as the product takes it: without padding, what is summed over at its place."""
        if self.is_alone:
            return tile
        *_, rows, columns = self.iterators
        wanted = rows == self.contract, columns == self.contract
        tile = mask_padding(tiles, tile, self.tensor, wanted, (rows, columns), 0)
        is_in_place = columns == self.contract if self.is_left else rows == self.contract
        return tile if is_in_place else transpose_tile(tiles, tile)


def _are_floats(elements: Sequence[Attribute]) -> bool:
    """True for numbers that the matrix unit multiplies; LayoutError for some of another kind."""
    floats = [is_float(scalar_of(each)) and not is_boolean(each) for each in elements]
    if any(floats) and not all(floats):
        kinds = ", ".join(map(str, elements))
        raise LayoutError(
            f"products are of floating-point numbers or of others, got {kinds}; convert the "
            f"operands by ttir.typecast or {OTHER_PIPELINE}"
        )
    return all(floats)


def _build(
    builder: D2MBuilder,
    factors: Sequence[_Factor],
    places: Sequence[Sequence[AffineExpr]],
    result: tuple[Shape, Attribute],
    iterators: int,
    results: Sequence[int],
    row: ReferenceRow,
    *,
    exact: bool = False,
) -> DeviceTensor:
    """The product, of this shape and element type: `results` are the iterators of its dimensions.

    Where it sums many 16-bit numbers it is of f32 first, and so is the result of its `row`. With
    `exact`, of numbers of eight bits, the fidelity of its kernel is enough for all of them.
    """
    shape, target = result
    extents = {
        iterator: extent
        for factor in factors
        for iterator, extent in zip(factor.iterators, factor.tensor.shape, strict=True)
    }
    terms = math.prod(extents[each] for each in range(iterators) if each not in results)
    accumulation = builder.placement.accumulation
    element = sum_element(target, terms // NUMBERS_PER_ADDITION, accumulation)
    output = builder.create_empty(shape, element)
    row = replace(row, type=TensorType(element, output.shape))
    kinds = tuple(PARALLEL if each in results else REDUCTION for each in range(iterators))
    maps = [AffineMap(iterators, 0, tuple(place)) for place in places]
    maps.append(AffineMap(iterators, 0, tuple(map(DimExpr, results))))

    def body(tiles: TileBuilder, inputs: Sequence[SSAValue], held: SSAValue) -> SSAValue:
        a, b = (factor.tile(tiles, tile) for factor, tile in zip(factors, inputs, strict=True))
        product = d2m.TileMatmulOp.create(operands=[a, b, held], result_types=[held.type])
        if exact:
            product.attributes[d2m.EXACT] = UnitAttr()
        return tiles.add(product)

    tensors = [factor.tensor for factor in factors]
    product = builder.generic(tensors, output, LoopNest(kinds, tuple(maps)), body, [row])
    return cast_tensor(builder, product, target)


def _convert_matmul(conversion: Conversion, op: Operation) -> DeviceTensor:
    a, b = (conversion.tensor(value) for value in op.operands[:2])
    b = conversion.builder.narrow_weight(b)
    result = op.results[0]
    return _multiply(conversion.builder, a, b, value_shape(result), element_type(result))


def _multiply(
    builder: D2MBuilder,
    a: DeviceTensor,
    b: DeviceTensor,
    shape: Shape,
    target: Attribute,
    *,
    exact: bool = False,
) -> DeviceTensor:
    """The product of matrices, and of batches of them, which may be repeated."""
    if not _are_floats([a.element, b.element, target]):
        return _multiply_others(builder, a, b, shape, target)
    result = matrix_shape(shape)
    rank = len(result)
    # The iterators are the dimensions of the result, then what is summed over.
    rows, columns, terms = rank - 2, rank - 1, rank
    factors = [
        _Factor(each, (*range(rank - len(each.shape), rank - 2), *matrix), terms, is_left).in_tiles(
            builder
        )
        for each, matrix, is_left in ((a, (rows, terms), True), (b, (terms, columns), False))
    ]
    places = [
        [
            ConstantExpr(0)
            if dim < len(factor.tensor.shape) - 2
            and factor.tensor.shape[dim] < result[factor.iterators[dim]]
            else each
            for dim, each in enumerate(factor.place)
        ]
        for factor in factors
    ]
    row = ReferenceRow.of("matmul", (0, 1), result, target)
    whole = result, target
    return _build(builder, factors, places, whole, rank + 1, range(rank), row, exact=exact)


def _multiply_others(
    builder: D2MBuilder, a: DeviceTensor, b: DeviceTensor, shape: Shape, target: Attribute
) -> DeviceTensor:
    """The product of truth values, by numbers that are 0 or not, or of integers."""
    if is_boolean(target):
        wide = [cast_tensor(builder, cast_tensor(builder, each, i1), bf16) for each in (a, b)]
        return cast_tensor(builder, _multiply(builder, wide[0], wide[1], shape, bf16), target)
    scalar = scalar_of(target)
    working = i32 if is_short(scalar) else target
    factors = [cast_tensor(builder, each, working) for each in (a, b)]
    digits = scalar.size_bytes
    product = _multiply_integers(builder, factors, matrix_shape(shape), working, digits)
    return cast_tensor(builder, product, target)


def _multiply_integers(
    builder: D2MBuilder,
    factors: Sequence[DeviceTensor],
    shape: Shape,
    element: Attribute,
    digits: int,
) -> DeviceTensor:
    """The product modulo 256 to the power of `digits`, by the matrix unit.

    Factors are sums of digits from -128 to 127 times powers of 256. Digits have seven bits beside
    their sign and fit in bf16, and sums of a few hundred of their products fit in f32.
    """
    left, right = (_digits_of(builder, each, digits) for each in factors)
    terms = factors[0].shape[-1]
    has_sign = not is_wide_unsigned(scalar_of(element))
    parts: list[list[DeviceTensor]] = [[] for _ in range(digits)]
    for begin in range(0, terms, MOST_EXACT_TERMS):
        count = min(MOST_EXACT_TERMS, terms - begin)
        columns, rows = (
            [take(builder, each, len(each.shape) - place, begin, count) for each in tensors]
            for tensors, place in ((left, 1), (right, 2))
        )
        for power, place in itertools.product(range(digits), repeat=2):
            if place <= power:
                pair = columns[place], rows[power - place]
                part = _multiply(builder, *pair, shape, f32, exact=True)
                if not has_sign:
                    operands = [part, Splat(float(_HALF), f32, shape)]
                    part = compute_elementwise(builder, "add", operands, f32, shape)
                parts[power].append(cast_tensor(builder, part, element))

    def compute(mnemonic: str, a: DeviceTensor, b: Operand) -> DeviceTensor:
        return compute_elementwise(builder, mnemonic, [a, b], element, shape)

    sums = [reduce(partial(compute, "add"), each) for each in parts]
    eight = Splat(8, element, shape)
    total = reduce(
        lambda high, low: compute("add", compute("logical_left_shift", high, eight), low),
        reversed(sums),
    )
    if has_sign:
        return total
    added = sum(len(each) * _HALF << 8 * power for power, each in enumerate(parts))
    return compute("subtract", total, Splat(added % 2**32, element, shape))


MOST_EXACT_TERMS = 512
"""Products of digits whose sum has at most 23 bits, of 24 that f32 has: with all of them Wormhole's
matrix unit counts some bits of -1 wrongly."""
_HALF = 1 << 23
"""What makes such a sum positive."""


def _digits_of(builder: D2MBuilder, tensor: DeviceTensor, count: int) -> list[DeviceTensor]:
    """The digits of integers, from -128 to 127, the lowest first: with 128 they are their bytes."""
    element, shape = tensor.element, tensor.shape
    offset = sum(128 << 8 * place for place in range(count))
    if not is_wide_unsigned(scalar_of(element)):
        offset = (offset + 2**31) % 2**32 - 2**31
    biased = [tensor, Splat(offset, element, shape)]
    moved = compute_elementwise(builder, "add", biased, element, shape)
    found: list[DeviceTensor] = []
    for place in range(count):
        byte = moved
        if place:
            by = Splat(8 * place, element, shape)
            byte = compute_elementwise(builder, "logical_right_shift", [byte, by], element, shape)
        low = [byte, Splat(255, element, shape)]
        byte = compute_elementwise(builder, "bitwise_and", low, element, shape)
        number = [cast_tensor(builder, byte, bf16), Splat(128.0, bf16, shape)]
        found.append(compute_elementwise(builder, "subtract", number, bf16, shape))
    return found


def _convert_dot_general(conversion: Conversion, op: Operation) -> DeviceTensor:
    assert isinstance(op, TableOperation)
    lhs, rhs = (conversion.tensor(value) for value in op.operands[:2])
    rhs = conversion.builder.narrow_weight(rhs)
    target = element_type(op.results[0])
    floats = _are_floats([lhs.element, rhs.element, target])
    shapes = [value_shape(value) for value in op.operands[:2]]
    dims = cast("dict[str, Shape]", op.parameters())
    left = DotDimensions.of(len(shapes[0]), dims["batch_dims_lhs"], dims["contract_dims_lhs"])
    right = DotDimensions.of(len(shapes[1]), dims["batch_dims_rhs"], dims["contract_dims_rhs"])
    result = value_shape(op.results[0])
    if not floats or min(map(len, shapes)) < 2 or not _fits_tiles(left, right, shapes):
        return _convert_flat_product(conversion, op, (lhs, rhs), (left, right), shapes)
    batch, free = len(left.batch), len(left.free)
    terms = range(len(result), len(result) + len(left.contract))
    ours = {
        **dict(zip(left.batch, range(batch), strict=True)),
        **dict(zip(left.free, range(batch, batch + free), strict=True)),
        **dict(zip(left.contract, terms, strict=True)),
    }
    theirs = {
        **dict(zip(right.batch, range(batch), strict=True)),
        **dict(zip(right.free, range(batch + free, len(result)), strict=True)),
        **dict(zip(right.contract, terms, strict=True)),
    }
    within = next(ours[dim] for dim in left.contract if dim >= len(shapes[0]) - 2)
    factors = [
        _Factor(tensor, tuple(places[dim] for dim in range(len(places))), within, is_left).in_tiles(
            conversion.builder
        )
        for tensor, places, is_left in ((lhs, ours, True), (rhs, theirs, False))
    ]
    places = [factor.place for factor in factors]
    count = len(result) + len(terms)
    row = ReferenceRow.of("dot_general", (0, 1), result, target, op.parameters())
    whole = result, target
    return _build(conversion.builder, factors, places, whole, count, range(len(result)), row)


def _fits_tiles(left: DotDimensions, right: DotDimensions, shapes: Sequence[Shape]) -> bool:
    """True if tiles of the operands hold rows, columns and terms of tiles of the result."""
    inner = [{len(shape) - 2, len(shape) - 1} for shape in shapes]
    terms = [
        [n for n, dim in enumerate(each.contract) if dim in dims]
        for each, dims in zip((left, right), inner, strict=True)
    ]
    return (
        len(terms[0]) == 1
        and terms[0] == terms[1]
        and left.free[-1:] != ()
        and left.free[-1] in inner[0]
        and len(right.free) == 1
        and right.free[0] in inner[1]
    )


def _convert_flat_product(
    conversion: Conversion,
    op: Operation,
    operands: Sequence[DeviceTensor],
    roles: Sequence[DotDimensions],
    shapes: Sequence[Shape],
) -> DeviceTensor:
    """A product whose tiles are others than those of the operands: of matrices, after a move."""
    builder = conversion.builder
    matrices: list[DeviceTensor] = []
    for number, (tensor, role, shape) in enumerate(zip(operands, roles, shapes, strict=True)):
        groups = (role.free, role.contract) if number == 0 else (role.contract, role.free)
        order = (*role.batch, *groups[0], *groups[1])
        extents = [math.prod(shape[dim] for dim in group) for group in groups]
        moved = permute(tensor, order)
        matrices.append(reshape(builder, moved, (*(shape[d] for d in role.batch), *extents)))
    a, b = matrices
    shape = (*a.shape[:-1], b.shape[-1])
    product = _multiply(builder, a, b, shape, element_type(op.results[0]))
    return reshape(builder, product, value_shape(op.results[0]))


RULES: RuleTable = {
    "ttir.dot_general": _convert_dot_general,
    "ttir.matmul": _convert_matmul,
}
"""Rules by the full name of the operation."""
