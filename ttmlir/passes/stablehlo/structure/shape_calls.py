"""Custom calls that JAX writes about shapes which are only known when a program is called.

`jax.export` with symbolic extents makes them: some check what the caller gives, others say to what
shape a value is to be refined.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from ttmlir.ir.rewriting import erase, refuse_at, replace
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.stablehlo.structure.known_sizes import KnownSizes


def _check(op: Operation) -> None:
    """Drop an assertion that holds; its other operands are numbers for the message."""
    sizes = KnownSizes()
    (holds,) = sizes.numbers(op, 0, "extents that are checked")
    if not holds:
        said = op.attributes.get("error_message")
        message = said.data if isinstance(said, StringAttr) else "an assertion about shapes fails"
        for number, operand in enumerate(op.operands[1:]):
            found = sizes.find(operand)
            message = message.replace(f"{{{number}}}", str(found[0]) if found else "?")
        refuse_at(op, message)
    erase(op)


def _pass_on(op: Operation) -> None:
    """Let go of the shape, which the operand has when it is refined."""
    replace(op, op.operands[0])


_CALLS: dict[str, ConversionRule] = {
    "shape_assertion": _check,
    "stablehlo.shape_refinement_operand_wrapper": _pass_on,
}


def rule_of_call(op: Operation) -> ConversionRule | None:
    """The rule of a custom call about shapes; None for other operations."""
    if op.name != "stablehlo.custom_call":
        return None
    return _CALLS.get(cast("StringAttr", op.properties["call_target_name"]).data)
