"""Rules of tosa's operations that read and write by number, for `convert-tosa-to-ttir`."""

from __future__ import annotations

from xdsl.ir import Operation

from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import replace
from ttmlir.ir.tensor_types import value_shape
from ttmlir.passes.core.ttir_conversion import ConversionRule


def _gather(op: Operation) -> None:
    builder = Builder.before(op)
    shape = value_shape(op.operands[1])
    index = builder.reshape(op.operands[1], (*shape, 1))
    replace(op, builder.create("gather", [op.operands[0], index], op.results[0].type, dim=1))


def _scatter(op: Operation) -> None:
    builder = Builder.before(op)
    values, indices, source = op.operands
    index = builder.reshape(indices, (*value_shape(indices), 1))
    replace(op, builder.create("scatter", [values, index, source], op.results[0].type, dim=1))


RULES: dict[str, ConversionRule] = {
    "tosa.gather": _gather,
    "tosa.scatter": _scatter,
}
"""Rules by the full name of the operation."""
