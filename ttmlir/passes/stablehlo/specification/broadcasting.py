"""CHLO's operations that broadcast their operands, and its constants."""

from __future__ import annotations

import re
from typing import NoReturn, cast

from xdsl.dialects.builtin import (
    ComplexType,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects.chlo import OPERATIONS as CHLO_OPERATIONS
from ttmlir.dialects.stablehlo.attrs import (
    ComparisonDirectionAttr,
    ComparisonTypeAttr,
    DotDimensionNumbersAttr,
    EnumAttr,
    GatherDimensionNumbersAttr,
)
from ttmlir.dialects.stablehlo.form import integers
from ttmlir.errors import plural
from ttmlir.ir.rewriting import insert_before, refuse_to_legalize, replace
from ttmlir.ir.stablehlo_arrays import StableHLOCarrier, i64_array, replace_by
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.ir.ttnn_types import location_of
from ttmlir.mlir.reporting import around
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.stablehlo.stablehlo_bodies import IN_BODIES, operations_of

_PREFIX = "chlo.broadcast_"
_CHLO = {cls.name: cls for cls in CHLO_OPERATIONS}


def _broadcast(op: Operation) -> None:
    """Bring the operands to one shape; then the operation is one of pairs of elements."""
    write = StableHLOCarrier.before(op)
    shapes = [value_shape(value) for value in op.operands]
    rank = max(map(len, shapes))
    if "broadcast_dimensions" in op.properties:
        given = integers(op, "broadcast_dimensions")
        placed = [given if len(shape) < rank else range(rank) for shape in shapes]
    else:
        placed = [range(rank - len(shape), rank) for shape in shapes]
    extents = [1] * rank
    for shape, dims in zip(shapes, placed, strict=True):
        for extent, dim in zip(shape, dims, strict=True):
            if extent != 1:
                if extents[dim] not in (1, extent):
                    refuse_to_legalize(
                        op,
                        f"extents {extents[dim]} and {extent} of dimension {dim} cannot be "
                        "broadcast; one of them has to be 1, or both the same",
                    )
                extents[dim] = extent
    operands: list[SSAValue] = []
    for value, dims in zip(op.operands, placed, strict=True):
        write.location = location_of(value)
        operands.append(write.broadcast(value, extents, dims))
    mnemonic = op.name.removeprefix(_PREFIX)
    type_ = TensorType(element_type(op.results[0]), extents)
    if f"chlo.{mnemonic}" in _CHLO:
        new = _CHLO[f"chlo.{mnemonic}"].create(
            operands=operands, result_types=[type_], location=op.location
        )
        insert_before(op, new)
        replace(op, new.results[0])
        return
    properties: dict[str, Attribute] = {}
    for name, cls in _COMPARED.items():
        if name in op.properties:
            properties[name] = cls(cast("EnumAttr", op.properties[name]).data)
    replace_by(op, mnemonic, operands, type_, **properties)


_COMPARED: dict[str, type[EnumAttr]] = {
    "comparison_direction": ComparisonDirectionAttr,
    "compare_type": ComparisonTypeAttr,
}


def _constant(op: Operation) -> None:
    replace_by(op, "constant", (), op.results[0].type, value=op.properties["value"])


def _constant_like(op: Operation) -> None:
    """One number in the shape of the operand."""
    value = op.properties["value"]
    if not isinstance(value, (FloatAttr, IntegerAttr)):
        refuse_to_legalize(op, "the value of a constant has to be one real number")
    number = cast("FloatAttr | IntegerAttr", value).value.data
    (operand,) = op.operands
    write = StableHLOCarrier.before(op)
    one = write.make_constant(TensorType(element_type(operand), ()), [number])
    replace(op, write.broadcast(one, value_shape(operand), ()))


def _conj(op: Operation) -> None:
    """Real numbers are their own conjugates."""
    replace(op, op.operands[0])


def is_real_conj(op: Operation) -> bool:
    """True for a conjugate of real numbers; that of complex ones is left as it is."""
    return not isinstance(element_type(op.operands[0]), ComplexType)


# -- structure ---------------------------------------------------------------------------------


def module_of(op: Operation) -> Operation:
    """The module that an operation is in."""
    module = around(op, ModuleOp)
    assert module is not None, "passes run on modules"
    return module


def _map(op: Operation) -> None:
    """Write the body out with whole tensors instead of single numbers."""
    body = op.regions[0]
    others = sorted({name for name in operations_of(body) if not _is_elementwise(name)})
    if others:
        refuse_to_legalize(
            op,
            f"its function may hold operations on each element and constants, not {others[0]}",
        )
    write = StableHLOCarrier.before(op)
    shape = value_shape(op.results[0])
    known: dict[SSAValue, SSAValue] = dict(zip(body.block.args, op.operands, strict=True))
    for inner in body.block.ops:
        operands = [
            known[value] if value in known else write.broadcast(value, shape, ())
            for value in inner.operands
        ]
        if inner.name == "stablehlo.return":
            replace(op, operands[0])
            return
        is_constant = not inner.operands
        new = type(inner).create(
            operands=operands,
            result_types=[
                TensorType(element_type(value), () if is_constant else shape)
                for value in inner.results
            ],
            properties=inner.properties,
            location=inner.location,
        )
        insert_before(op, new)
        for result, value in zip(inner.results, new.results, strict=True):
            known[result] = write.broadcast(value, shape, ()) if is_constant else value


def _is_elementwise(name: str) -> bool:
    return name in IN_BODIES or (name.startswith("chlo.") and name not in _ON_TENSORS)


_ON_TENSORS = ("chlo.ragged_dot", "chlo.scan", "chlo.top_k")


# -- Einstein's sums and products --------------------------------------------------------------


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
    write = StableHLOCarrier.before(op)
    values = list(op.operands)
    for place, value in enumerate(op.operands):
        others = "".join(labels[:place] + labels[place + 1 :])
        alone = set(labels[place]) - set(others) - set(result)
        if alone:
            values[place], labels[place] = _summed(write, value, labels[place], alone)
    product, order = values[0], labels[0]
    if len(values) > 1:
        product, order = _product(write, values, labels, result, extents)
    found = write.wrap(product).permute([order.index(label) for label in result])
    replace(op, found.value)


def _terms(op: Operation) -> tuple[list[str], str]:
    """A label for each dimension of each operand, and for those of the result."""
    source, arrow, target = _config(op).partition("->")
    terms = source.split(",")
    if not arrow or not all(map(_TERM.fullmatch, (*terms, target))):
        _refuse(op, 'it has to be of the form "ij,jk->ik"')
    if len(terms) != len(op.operands):
        _refuse(
            op, f"it has {plural(len(terms), 'term')} for {plural(len(op.operands), 'operand')}"
        )
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
        _refuse(op, f"the term '{term}' does not fit an operand of rank {rank}")
    return term.replace("...", _BATCH[:more][::-1])


def _summed(
    write: StableHLOCarrier, value: SSAValue, labels: str, alone: set[str]
) -> tuple[SSAValue, str]:
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
    ones = write.make_constant(TensorType(element_type(value), shape), [1])
    summed = write.make_one("dot_general", (value, ones), type_, dot_dimension_numbers=numbers)
    return summed, rest


def _product(
    write: StableHLOCarrier,
    values: list[SSAValue],
    labels: list[str],
    result: str,
    extents: dict[str, int],
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
    product = write.make_one("dot_general", values, type_, dot_dimension_numbers=numbers)
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
    replace_by(
        op,
        "gather",
        op.operands,
        op.results[0].type,
        dimension_numbers=numbers,
        slice_sizes=i64_array(sizes),
    )


BROADCASTS: dict[str, ConversionRule] = {
    name: _broadcast for name in _CHLO if name.startswith(_PREFIX)
}
"""Rules of operations that broadcast, by the full name of the operation."""
RULES: dict[str, ConversionRule] = {
    **BROADCASTS,
    "chlo.conj": _conj,
    "chlo.constant": _constant,
    "chlo.constant_like": _constant_like,
    "stablehlo.map": _map,
    "stablehlo.einsum": _einsum,
    "stablehlo.torch_index_select": _index_select,
    "stablehlo.unary_einsum": _einsum,
}
"""Rules by the full name of the operation."""
