"""Tuples, tokens, numbers of devices, and functions of each element."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue

from ttmlir.dialects.stablehlo.text.form import integer
from ttmlir.ir.rewriting import insert_before, refuse_to_legalize, replace
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.mlir.attributes.elements import ElementsType
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.stablehlo.specification.writer import Writer
from ttmlir.passes.stablehlo.stablehlo_bodies import operations_of
from ttmlir.passes.stablehlo.stablehlo_body_application import IN_BODIES

UNUSED = ("stablehlo.tuple", "stablehlo.create_token", "stablehlo.after_all")
"""Operations that are gone when their users are."""


def _get_tuple_element(op: Operation) -> None:
    owner = op.operands[0].owner
    if not isinstance(owner, Operation) or owner.name != "stablehlo.tuple":
        refuse_to_legalize(
            op,
            "only tuples that stablehlo.tuple makes in the same function can be taken apart; give "
            "the parts as arguments and results of their own",
        )
    replace(op, owner.operands[integer(op, "index")])


def _number_of_device(attribute: str) -> ConversionRule:
    """The rule of the number among so many as an attribute of the module says: 0 of one."""

    def rule(op: Operation) -> None:
        count = module_of(op).attributes.get(attribute)
        number = cast("IntegerAttr", count).value.data if isinstance(count, IntegerAttr) else 1
        if number > 1:
            refuse_to_legalize(
                op, f"the module is for {number} devices ({attribute}); supported is one"
            )
        type_ = cast("ElementsType", op.results[0].type)
        replace(op, Writer(op).constant(type_, [0]))

    return rule


def module_of(op: Operation) -> Operation:
    """The module that an operation is in."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, ModuleOp):
        parent = parent.parent_op()
    assert parent is not None, "passes run on modules"
    return parent


def _map(op: Operation) -> None:
    """Write the body out with whole tensors instead of single numbers."""
    body = op.regions[0]
    others = sorted({name for name in operations_of(body) if not _is_elementwise(name)})
    if others:
        refuse_to_legalize(
            op,
            f"its function may hold operations on each element and constants, not {others[0]}",
        )
    write = Writer(op)
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

RULES: dict[str, ConversionRule] = {
    "stablehlo.get_tuple_element": _get_tuple_element,
    "stablehlo.map": _map,
    "stablehlo.partition_id": _number_of_device("mhlo.num_partitions"),
    "stablehlo.replica_id": _number_of_device("mhlo.num_replicas"),
}
"""Rules by the full name of the operation."""
