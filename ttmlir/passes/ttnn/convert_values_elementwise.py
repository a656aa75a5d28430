"""Rules of `convert-ttir-to-ttnn` for elementwise operations that differ in ttnn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttmlir.ir.ttnn_values import NO_ACTIVATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.ttnn_values import TTNNValueBuilder
    from ttmlir.passes.ttnn.convert_values import Rules, ValueRule


def _typecast(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """The result type says it all."""
    return [build.typecast(op.operands[0], op.results[0].type)]


def _swapped(mnemonic: str) -> ValueRule:
    """A comparison whose mirror image ttnn has."""

    def rule(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
        lhs, rhs = op.operands
        return [build.create(mnemonic, (rhs, lhs), op.results[0].type, **NO_ACTIVATIONS)]

    return rule


RULES: Rules = {
    "typecast": _typecast,
    "lt": _swapped("gt"),
    "le": _swapped("ge"),
}
"""Rules by mnemonic."""
