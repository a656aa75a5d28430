"""Small functions of StableHLO, whose arguments are single numbers, applied to whole tensors.

`apply` writes the operations of a body out in ttir, each on all elements at once. The bodies of
windows and of reductions that are no single operation of ttir are brought over in this way.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType, UnrealizedConversionCastOp
from xdsl.ir import Operation, Region, SSAValue

from ttmlir.ir.rewriting import erase, insert_before
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.passes.stablehlo import (
    convert_stablehlo_to_ttir_creation,
    convert_stablehlo_to_ttir_elementwise,
)
from ttmlir.passes.stablehlo.stablehlo_bodies import operations_of

IN_BODIES = {
    **convert_stablehlo_to_ttir_elementwise.RULES,
    "stablehlo.constant": convert_stablehlo_to_ttir_creation.RULES["stablehlo.constant"],
}
"""Rules of the operations that bodies may hold, by name."""


def can_be_applied(body: Region) -> bool:
    """True if a body has nothing but elementwise operations and constants."""
    return all(name in IN_BODIES for name in operations_of(body))


def apply(op: Operation, body: Region, arguments: Sequence[SSAValue]) -> list[SSAValue]:
    """The results of a body on tensors instead of single numbers, in front of `op`."""
    known: dict[SSAValue, SSAValue] = dict(zip(body.block.args, arguments, strict=True))
    for inner in body.block.ops:
        operands = [known[value] for value in inner.operands]
        if inner.name == "stablehlo.return":
            return operands
        shape = max((value_shape(value) for value in operands), key=len, default=())
        new = type(inner).create(
            operands=operands,
            result_types=[TensorType(element_type(value), shape) for value in inner.results],
            properties=dict(inner.properties),
            location=op.location,
        )
        # Whatever replaces the operation takes the place of this, its one user.
        insert_before(op, new)
        uses = UnrealizedConversionCastOp.create(operands=new.results)
        insert_before(op, uses)
        IN_BODIES[inner.name](new)
        known |= dict(zip(inner.results, uses.operands, strict=True))
        erase(uses)
    raise AssertionError("verified: a body ends in stablehlo.return")
