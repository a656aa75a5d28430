"""Functions of each element."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue

from ttmlir.ir.rewriting import insert_before, refuse_to_legalize, replace
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.stablehlo.specification.writer import Writer
from ttmlir.passes.stablehlo.stablehlo_bodies import operations_of
from ttmlir.passes.stablehlo.stablehlo_body_application import IN_BODIES


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
    "stablehlo.map": _map,
}
"""Rules by the full name of the operation."""
