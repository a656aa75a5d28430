"""Custom calls that spell operations of CHLO, as StableHLO of other versions writes them."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from ttmlir.dialects.chlo import OPERATIONS
from ttmlir.ir.rewriting import insert_before, replace
from ttmlir.passes.core.ttir_conversion import ConversionRule

_PREFIXES = ("mhlo.", "chlo.")
_SPELLED = {
    prefix + cls.name.removeprefix("chlo."): cls
    for cls in OPERATIONS
    if not cls.name.startswith("chlo.broadcast_")
    for prefix in _PREFIXES
}


def _class_of(op: Operation) -> type[Operation] | None:
    found = _SPELLED.get(cast("StringAttr", op.properties["call_target_name"]).data)
    signature = getattr(found, "SIGNATURE", None)
    if found is None or signature is None or signature.properties or signature.regions:
        return None
    fits = (len(op.operands), len(op.results)) == (len(signature.operands), len(signature.results))
    return found if fits else None


def is_spelled(op: Operation) -> bool:
    """True for a call that means an operation on each element."""
    return _class_of(op) is not None


def _call(op: Operation) -> None:
    cls = _class_of(op)
    assert cls is not None, "is_spelled has said so"
    new = cls.create(
        operands=op.operands,
        result_types=[result.type for result in op.results],
        location=op.location,
    )
    insert_before(op, new)
    replace(op, *new.results)


RULES: dict[str, ConversionRule] = {"stablehlo.custom_call": _call}
"""Rules by the full name of the operation."""
