"""Einstein's sums, and slices by number."""

from __future__ import annotations

import re
from typing import NoReturn, cast

from xdsl.dialects.builtin import IntegerAttr, StringAttr, TensorType
from xdsl.ir import Operation, SSAValue

from ttmlir.dialects.stablehlo.attrs import DotDimensionNumbersAttr, GatherDimensionNumbersAttr
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.mlir.attributes.elements import ElementsType
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.stablehlo.specification.writer import Writer, i64_array

_TERM = re.compile(r"[A-Za-z]*(\.\.\.)?[A-Za-z]*")
_BATCH = "0123456789"
"""Labels of the dimensions that `...` stands for, from the last one."""


def _einsum(op: Operation) -> None:
    """Sums of what one operand alone has, a contraction, and an order of the dimensions."""
    labels, result = _terms(op)
    extents: dict[str, int] = {}
    for term, operand in zip(labels, op.operands, strict=True):
        for label, extent in zip(term, value_shape(operand), strict=True):
            if extents.setdefault(label, extent) != extent:
                _refuse(op, f"the extents {extents[label]} and {extent} have one name")
    write = Writer(op)
    values = list(op.operands)
    for place, value in enumerate(op.operands):
        others = "".join(labels[:place] + labels[place + 1 :])
        alone = set(labels[place]) - set(others) - set(result)
        if alone:
            values[place], labels[place] = _summed(write, value, labels[place], alone)
    product, order = values[0], labels[0]
    if len(values) > 1:
        product, order = _product(write, values, labels, result, extents)
    replace(op, write.transpose(product, [order.index(label) for label in result]))


def _terms(op: Operation) -> tuple[list[str], str]:
    """A label for each dimension of each operand, and for those of the result."""
    source, arrow, target = _config(op).partition("->")
    terms = source.split(",")
    if not arrow or not all(map(_TERM.fullmatch, (*terms, target))):
        _refuse(op, 'it has to be of the form "ij,jk->ik"')
    if len(terms) != len(op.operands):
        _refuse(op, f"it has {len(terms)} terms for {len(op.operands)} operands")
    labels = [
        _labels(op, term, len(value_shape(value)))
        for term, value in zip(terms, op.operands, strict=True)
    ]
    most = max(sum(label in _BATCH for label in term) for term in labels)
    result = target.replace("...", _BATCH[:most][::-1])
    for term in (*labels, result):
        if len(set(term)) != len(term):
            _refuse(op, "a dimension stands twice in a term; take the diagonal before")
    if unknown := set(result) - set("".join(labels)):
        _refuse(op, f"no operand has the dimension '{min(unknown)}'")
    return labels, result


def _config(op: Operation) -> str:
    return cast("StringAttr", op.properties["einsum_config"]).data.replace(" ", "")


def _refuse(op: Operation, reason: str) -> NoReturn:
    refuse_to_legalize(op, f'the sum "{_config(op)}" is not supported: {reason}')


def _labels(op: Operation, term: str, rank: int) -> str:
    """The labels of all dimensions of an operand."""
    named = len(term.replace("...", ""))
    more = rank - named
    if more < 0 or (more and "..." not in term) or more > len(_BATCH):
        _refuse(op, f"the term '{term}' does not fit an operand of {rank} dimensions")
    return term.replace("...", _BATCH[:more][::-1])


def _summed(write: Writer, value: SSAValue, labels: str, alone: set[str]) -> tuple[SSAValue, str]:
    """Sum over dimensions, as a product with ones."""
    places = [place for place, label in enumerate(labels) if label in alone]
    shape = tuple(value_shape(value)[place] for place in places)
    numbers = DotDimensionNumbersAttr.of(
        lhs_contracting_dimensions=places, rhs_contracting_dimensions=range(len(places))
    )
    rest = "".join(label for label in labels if label not in alone)
    left = [
        extent
        for label, extent in zip(labels, value_shape(value), strict=True)
        if label not in alone
    ]
    type_ = TensorType(element_type(value), left)
    ones = write.constant(cast("ElementsType", TensorType(element_type(value), shape)), [1])
    summed = write.create("dot_general", (value, ones), type_, dot_dimension_numbers=numbers)
    return summed, rest


def _product(
    write: Writer, values: list[SSAValue], labels: list[str], result: str, extents: dict[str, int]
) -> tuple[SSAValue, str]:
    """The contraction, and the labels of its dimensions."""
    left, right = labels
    shared = [label for label in left if label in right]
    batch = [label for label in shared if label in result]
    inner = [label for label in shared if label not in result]
    numbers = DotDimensionNumbersAttr.of(
        lhs_batching_dimensions=[left.index(label) for label in batch],
        rhs_batching_dimensions=[right.index(label) for label in batch],
        lhs_contracting_dimensions=[left.index(label) for label in inner],
        rhs_contracting_dimensions=[right.index(label) for label in inner],
    )
    order = "".join(
        [
            *batch,
            *(label for label in left if label not in shared),
            *(label for label in right if label not in shared),
        ]
    )
    type_ = TensorType(element_type(values[0]), [extents[label] for label in order])
    product = write.create("dot_general", values, type_, dot_dimension_numbers=numbers)
    return product, order


def _index_select(op: Operation) -> None:
    """A gather of slices that are whole but for one dimension."""
    operand, index = op.operands
    shape, rank = value_shape(operand), len(value_shape(index))
    dim, batches = (cast("IntegerAttr", op.properties[n]).value.data for n in ("dim", "batch_dims"))
    dim += len(shape) if dim < 0 else 0
    batches += rank if batches < 0 else 0
    if not 0 <= batches <= min(dim, rank) or dim >= len(shape):
        refuse_to_legalize(op, f"dim {dim} and batch_dims {batches} do not fit the operands")
    sizes = [1 if place < batches or place == dim else each for place, each in enumerate(shape)]
    after = dim + rank - batches
    numbers = GatherDimensionNumbersAttr.of(
        offset_dims=[*range(batches, dim), *range(after, after + len(shape) - dim - 1)],
        collapsed_slice_dims=[dim],
        operand_batching_dims=range(batches),
        start_indices_batching_dims=range(batches),
        start_index_map=[dim],
        index_vector_dim=rank,
    )
    taken = Writer(op).create(
        "gather",
        op.operands,
        op.results[0].type,
        dimension_numbers=numbers,
        slice_sizes=i64_array(sizes),
    )
    replace(op, taken)


RULES: dict[str, ConversionRule] = {
    "stablehlo.einsum": _einsum,
    "stablehlo.torch_index_select": _index_select,
    "stablehlo.unary_einsum": _einsum,
}
"""Rules by the full name of the operation."""
