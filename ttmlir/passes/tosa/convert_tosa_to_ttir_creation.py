"""Rules of tosa's constants, for `convert-tosa-to-ttir`."""

from __future__ import annotations

from xdsl.ir import Operation

from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import replace
from ttmlir.passes.core.ttir_conversion import ConversionRule


def _const(op: Operation) -> None:
    builder = Builder.before(op)
    value = op.properties.get("value", op.properties.get("values"))
    assert value is not None, "a constant has a value"
    replace(op, builder.create_constant(value, op.results[0].type))


def _keep(op: Operation) -> None:
    """Leave an operation until its users are converted."""


RULES: dict[str, ConversionRule] = {
    "tosa.const": _const,
    "tosa.const_shape": _keep,
}
"""Rules by the full name of the operation."""
