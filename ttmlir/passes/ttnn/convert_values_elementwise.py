"""Rules of `convert-ttir-to-ttnn` for elementwise operations that differ in ttnn."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.ttnn_values import TTNNValueBuilder
    from ttmlir.passes.ttnn.convert_values import Rules


def _typecast(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """The result type says it all."""
    return [build.typecast(op.operands[0], op.results[0].type)]


RULES: Rules = {
    "typecast": _typecast,
}
"""Rules by mnemonic."""
