"""Rules of `ttir-fusing` for several products of one matrix, and for parts of products.

matmul(x, a), matmul(x, b)  ->  product = matmul(x, concat(a, b)), and a slice for each
slice(matmul(x, a))         ->  matmul(x, slice(a)), where nothing else uses the product
"""

from __future__ import annotations

from functools import partial
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from ttmlir.ir.greedy_rewriting import may_vanish
from ttmlir.ir.tensor_types import element_type, tensor_like, value_shape
from ttmlir.passes.ttir.value_rewriting import (
    adapted,
    elements_known,
    inputs_of,
    made_by,
    parameters_of,
    rank_of,
    reorder,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Attribute, SSAValue

    from ttmlir.ir.builder import Builder
    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule

_TILE = 32
_PRODUCTS = ("ttir.matmul", "ttir.linear")


def _share_left(op: Operation, rewriter: GreedyRewriter, *, whole_tiles: bool = False) -> bool:
    """Products of one left operand, the first of which is visited.

    `whole_tiles`: only where the columns of all, but for the last one, fill tiles: slices copy
    these, and move numbers one by one where a part begins within a tile.
    """
    kind = _kind(op)
    products: list[Operation] = []
    # The first uses come last: of many products, most are left at once.
    for each in reversed(_uses_of_left(op, whole_tiles)):
        if _kind(each) == kind and _fits(each):
            if each.is_before_in_block(op):
                return False
            products.append(each)
    if len(products) < 2 or op not in products:
        return False
    if all(elements_known(each.operands[1]) for each in products):
        return False
    products = sorted(products, key=lambda each: _order(each, op))
    needed: dict[Operation, None] = {}
    for product in products:
        found = _needed_after(op, product, set(products))
        if found is None:
            return False
        needed |= dict.fromkeys(found)
    for each in needed:
        block = each.parent_block()
        assert block is not None, "it is in the block of the products"
        each.detach()
        block.insert_op_before(each, op)
    parts = _slices(products, rewriter.builder(_place_of(products, op)))
    for product, part in zip(products, parts, strict=True):
        rewriter.replace(product, part)
    return True


def _uses_of_left(op: Operation, whole_tiles: bool) -> list[Operation]:
    """What has the left operand as its first one.

    `whole_tiles`: without products of other columns than whole tiles, where these are more than
    one.
    """
    uses = [use.operation for use in op.operands[0].uses if use.index == 0]
    unaligned = {each for each in uses if each.name in _PRODUCTS and _is_unaligned(each)}
    return [each for each in uses if not whole_tiles or len(unaligned) < 2 or each not in unaligned]


def _place_of(products: Sequence[Operation], first: Operation) -> Operation:
    """Where one product is computed: as early as arguments alone allow, before constants, too."""
    block = first.parent_block()
    earliest = None if block is None else block.first_op
    assert earliest is not None, "products are in a block"
    operands = [value for each in products for value in each.operands]
    is_made = any(isinstance(value.owner, Operation) for value in operands)
    return first if is_made else earliest


def _order(op: Operation, first: Operation) -> tuple[bool, bool, int]:
    """Slices that begin with whole tiles come first; last products are used most recently."""
    unaligned = _is_unaligned(op)
    block = op.parent_block()
    assert block is not None, "it is in the block of the products"
    place = block.get_operation_index(op)
    if op.name == "ttir.linear":
        return unaligned, True, place
    transposed = op is first and parameters_of(op)["transpose_b"]
    return unaligned, not transposed, -place


def _is_unaligned(op: Operation) -> bool:
    return value_shape(op.results[0])[-1] % _TILE != 0


def _kind(op: Operation) -> tuple[object, ...]:
    """What products have in common that differ in the columns of their right operands alone."""
    if op.name not in _PRODUCTS:
        return ()
    values = (*op.operands[1:], *op.results)
    apart: list[Attribute | tuple[int, ...]] = []
    for value in values:
        apart += [element_type(value), (rank_of(value),)]
    rows = [value_shape(value)[:-1] for value in (*op.operands[2:], *op.results)]
    batch = value_shape(op.operands[1])[:-2]
    return (op.name, op.parent, parameters_of(op)["transpose_a"], *apart, *rows, batch)


def _fits(op: Operation) -> bool:
    """True for matrices on the right, and a bias that has a number for each column."""
    columns = value_shape(op.results[0])[-1:]
    return rank_of(op.operands[1]) >= 2 and all(
        value_shape(bias)[-1:] == columns for bias in op.operands[2:]
    )


def _needed_after(
    place: Operation, op: Operation, products: set[Operation]
) -> list[Operation] | None:
    """What an operation needs of those that come after a place, in order.

    None if a product is among them, or what does more than give results, which stays where it is.
    """
    found: dict[Operation, None] = {}
    waiting = [value.owner for value in op.operands]
    while waiting:
        maker = waiting.pop()
        if not isinstance(maker, Operation) or maker in found:
            continue
        if maker is place or place.is_before_in_block(maker):
            if maker in products or maker.regions or not may_vanish(maker):
                return None
            found[maker] = None
            waiting += [value.owner for value in maker.operands]
    block = place.parent_block()
    assert block is not None, "products are in a block"
    return sorted(found, key=block.get_operation_index)


def _slices(products: Sequence[Operation], builder: Builder) -> Sequence[SSAValue]:
    """The results of products, as slices of one whose right operand is all of theirs."""
    first = products[0]
    right = [_with_columns_last(each, builder) for each in products]
    operands = [_concat(right, builder)]
    if len(first.operands) > 2:
        operands.append(_concat([each.operands[2] for each in products], builder))
    widths = [value_shape(each.results[0])[-1] for each in products]
    shape = value_shape(first.results[0])
    whole = builder.create(
        first.name.removeprefix("ttir."),
        (first.operands[0], *operands),
        tensor_like(first.results[0], (*shape[:-1], sum(widths))),
        transpose_a=parameters_of(first)["transpose_a"],
        transpose_b=False,
    )
    return [
        _cut(builder, whole, len(shape) - 1, (begin, end, 1))
        for begin, end in pairwise(accumulate(widths, initial=0))
    ]


def _with_columns_last(op: Operation, builder: Builder) -> SSAValue:
    """The right operand of a product, not transposed."""
    value = op.operands[1]
    if not parameters_of(op)["transpose_b"]:
        return value
    rank = rank_of(value)
    return reorder(builder, value, (*range(rank - 2), rank - 1, rank - 2))


def _concat(values: Sequence[SSAValue], builder: Builder) -> SSAValue:
    """The columns of tensors side by side."""
    shape = value_shape(values[0])
    width = sum(value_shape(value)[-1] for value in values)
    type_ = tensor_like(values[0], (*shape[:-1], width))
    return builder.create("concat", values, type_, dim=len(shape) - 1)


def _part(op: Operation, builder: Builder) -> SSAValue | None:
    """Some rows or some columns of a product that has no other use: those alone are computed."""
    value = inputs_of(op)[0]
    product = made_by(value, "matmul", "linear")
    if product is None or not value.has_one_use():
        return None
    if any(rank_of(each) < 2 for each in inputs_of(product)[:2]):
        return None
    said, shape = parameters_of(op), value_shape(value)
    lists = tuple(tuple(said[name]) for name in ("begins", "ends", "step"))
    rank = len(shape)
    cut = [d for d in range(rank) if tuple(each[d] for each in lists) != (0, shape[d], 1)]
    if len(cut) != 1 or cut[0] < rank - 2:
        return None
    columns = cut[0] == rank - 1
    flags = parameters_of(product)
    operands = list(inputs_of(product))
    is_last = columns != flags["transpose_b" if columns else "transpose_a"]
    part = tuple(each[cut[0]] for each in lists)
    at = int(columns)
    operands[at] = _cut(builder, operands[at], rank_of(operands[at]) - (1 if is_last else 2), part)
    for number, bias in enumerate(operands[2:], 2):
        extents = value_shape(bias)
        if columns and extents[-1] != 1:
            operands[number] = _cut(builder, bias, len(extents) - 1, part)
        elif not columns and len(extents) > 1 and extents[-2] != 1:
            operands[number] = _cut(builder, bias, len(extents) - 2, part)
    name = "linear" if len(operands) > 2 else "matmul"
    return builder.create(name, operands, op.results[0].type, **flags)


def _cut(builder: Builder, value: SSAValue, dim: int, part: tuple[int, ...]) -> SSAValue:
    """The elements of a tensor from a begin to an end, by a step, along one dimension."""
    begin, end, step = part
    shape = [*value_shape(value)]
    begins, ends, steps = [0] * len(shape), [*shape], [1] * len(shape)
    begins[dim], ends[dim], steps[dim] = begin, end, step
    shape[dim] = -(-(end - begin) // step)
    return builder.create(
        "slice",
        (value,),
        tensor_like(value, shape),
        begins=tuple(begins),
        ends=tuple(ends),
        step=tuple(steps),
    )


RULES: Mapping[str, Sequence[Rule]] = {
    **dict.fromkeys(_PRODUCTS, (_share_left,)),
    **adapted({"slice": [_part]}),
}
"""Rules by the name of the operation."""
OF_WHOLE_TILES: Mapping[str, Sequence[Rule]] = {
    **RULES,
    **dict.fromkeys(_PRODUCTS, (partial(_share_left, whole_tiles=True),)),
}
"""The same, but products are joined only where slices copy tiles."""
