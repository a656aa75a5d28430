"""Rules of `convert-ttir-to-ttnn` for elementwise operations that differ in ttnn."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ttmlir.ir.constants import number_of_elements
from ttmlir.ir.rewriting import symbols_in
from ttmlir.passes.ttir.value_rewriting import elements_known
from ttmlir.passes.ttnn.conversion.convert_values import renamed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.dialects.builtin import FloatAttr, IntegerAttr
    from xdsl.ir import Operation, OpResult, SSAValue

    from ttmlir.dialects.ttcore import LoadCachedOp
    from ttmlir.ir.ttnn_values import TTNNValueBuilder
    from ttmlir.passes.ttnn.conversion.convert_values import Rules


def _typecast(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """The result type says it all."""
    return [build.typecast(op.operands[0], op.results[0].type)]


def _pow(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """A power whose exponent is a number, and not negative, has it as a parameter."""
    base, exponent = op.operands
    found = known_number(exponent)
    if found is None or found < 0 or base.type != op.results[0].type:
        return renamed("pow")(op, build)
    return [build.create("pow_scalar", (base,), op.results[0].type, rhs=found)]


def known_number(value: SSAValue) -> int | float | None:
    """The one number of a constant, also of one that a function of constants makes."""
    owner = value.owner
    if getattr(owner, "name", "") == "ttcore.load_cached":
        return _loaded_number(cast("LoadCachedOp", owner), cast("OpResult", value).index)
    if getattr(owner, "name", "") == "ttnn.full":
        # The function of constants comes first, and is converted already.
        filled = cast("Operation", owner).properties["fill_value"]
        return cast("FloatAttr | IntegerAttr", filled).value.data
    elements = elements_known(value)
    return None if elements is None else number_of_elements(elements)


def _loaded_number(load: LoadCachedOp, index: int) -> int | float | None:
    function = load.parent_op()
    table = None if function is None else function.parent_op()
    if table is None:
        return None
    callee = symbols_in(table)[load.callee]
    end = callee.regions[0].blocks[0].last_op
    assert end is not None, "functions return"
    return known_number(end.operands[index])


RULES: Rules = {
    "pow": _pow,
    "typecast": _typecast,
}
"""Rules by mnemonic."""
