"""Rules of StableHLO's sorting, for `convert-stablehlo-to-ttir`.

A sort of one tensor becomes `ttir.sort`. One of several tensors orders the keys, the least
important one first, since equal elements keep their order; the places move all other tensors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, TensorType, i1, i32
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects.stablehlo.text.form import integer
from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.tensor_types import check_static_shapes, element_type, value_shape
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_elementwise import in_total_order
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_reduction import counts_along
from ttmlir.passes.stablehlo.stablehlo_bodies import operations_of

if TYPE_CHECKING:
    from ttmlir.passes.stablehlo.regions.comparators import SortKey

TOP_K = "mhlo.topk"
"""The custom call for an operation of MHLO that StableHLO does not have."""


def _sort(op: Operation) -> None:
    check_static_shapes(op)
    shape = value_shape(op.operands[0])
    dim = integer(op, "dimension") if "dimension" in op.properties else -1
    if not shape or shape[dim] < 2:
        replace(op, *op.operands)
        return
    # NumPy is loaded only for programs that sort.
    from ttmlir.passes.stablehlo.regions.comparators import find_keys

    keys = find_keys(op.regions[0])
    if keys is None:
        body = ", ".join(operations_of(op.regions[0])) or "no operation"
        refuse_to_legalize(
            op,
            f"its comparator computes {body}; supported are comparators that order by operands as "
            "numbers, ascending (LT) or descending (GT), by one or by several of them in turn",
        )
    replace(op, *_sorted(Builder.before(op), list(op.operands), keys, dim % len(shape)))


def _sorted(
    builder: Builder, operands: Sequence[SSAValue], keys: Sequence[SortKey], dim: int
) -> list[SSAValue]:
    """All operands in the order of the keys."""
    keys = _needed(keys, operands, dim)
    if not keys:
        return [*operands]
    order: SSAValue | None = None
    values: SSAValue | None = None
    for key in reversed(keys):
        given = operands[key.operand]
        if key.is_total:
            given = in_total_order(builder, given)
        moved = given if order is None else _move(builder, given, order, dim)
        values, places = builder.create_several(
            "sort",
            (moved,),
            (moved.type, TensorType(i32, value_shape(moved))),
            dim=dim,
            descending=key.descending,
            stable=True,
        )
        order = places if order is None else _move(builder, order, places, dim)
    assert order is not None, "there are keys"
    assert values is not None, "there are keys"
    results: list[SSAValue] = []
    for number, operand in enumerate(operands):
        if number == keys[0].operand and not keys[0].is_total:
            results.append(values)
        elif counts_along(operand, dim):
            results.append(builder.cast(order, element_type(operand)))
        else:
            results.append(_move(builder, operand, order, dim))
    return results


def _needed(keys: Sequence[SortKey], operands: Sequence[SSAValue], dim: int) -> Sequence[SortKey]:
    """The keys up to the first one that counts: elements that are equal so far keep their order."""
    for number, key in enumerate(keys):
        if counts_along(operands[key.operand], dim) and not key.descending:
            return keys[:number]
    return keys


def _move(builder: Builder, value: SSAValue, places: SSAValue, dim: int) -> SSAValue:
    return builder.create("gather", (value, places), value.type, dim=dim)


def _top_k(op: Operation) -> None:
    _take_best(op, integer(op, "k"), largest=True)


def _take_best(op: Operation, count: int, *, largest: bool) -> None:
    check_static_shapes(op)
    [operand] = op.operands
    results = Builder.before(op).create_several(
        "topk",
        (operand,),
        [result.type for result in op.results],
        k=count,
        dim=-1,
        largest=largest,
        sorted=True,
    )
    replace(op, *results)


def convert_top_k_call(op: Operation) -> None:
    """Convert the custom call that stands for `mhlo.topk`."""
    given = op.attributes.get("mhlo.attributes")
    attributes: Mapping[str, Attribute] = given.data if isinstance(given, DictionaryAttr) else {}
    count = _number(attributes.get("k"))
    largest = _number(attributes.get("largest", IntegerAttr(1, i1)))
    if None in (count, largest) or len(op.operands) != 1 or len(op.results) != 2:
        refuse_to_legalize(
            op,
            f"'{TOP_K}' takes one operand, has two results and says how many elements it takes: "
            "mhlo.attributes = {k = 3 : i64, largest = true}",
        )
    assert count is not None, "tested above"
    _take_best(op, count, largest=bool(largest))


def _number(attribute: Attribute | None) -> int | None:
    if not isinstance(attribute, IntegerAttr):
        return None
    return cast("IntegerAttr", attribute).value.data


RULES: dict[str, ConversionRule] = {"chlo.top_k": _top_k, "stablehlo.sort": _sort}
"""Rules by the full name of the operation."""
