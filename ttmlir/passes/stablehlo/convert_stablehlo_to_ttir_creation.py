"""Rules of StableHLO's constants and of counting, for `convert-stablehlo-to-ttir`."""

from __future__ import annotations

from xdsl.ir import Operation

from ttmlir.dialects.stablehlo.text.form import integer
from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import replace
from ttmlir.ir.tensor_types import check_static_shape, value_shape
from ttmlir.passes.core.ttir_conversion import ConversionRule


def _constant(op: Operation) -> None:
    builder = Builder.before(op)
    check_static_shape(op, op.results[0].type)
    replace(op, builder.create_constant(op.properties["value"], op.results[0].type))


def _iota(op: Operation) -> None:
    builder = Builder.before(op)
    type_ = op.results[0].type
    check_static_shape(op, type_)
    dim = integer(op, "iota_dimension")
    extent = value_shape(op.results[0])[dim]
    bounds = {"start": 0, "end": extent, "step": 1, "arange_dimension": dim}
    replace(op, builder.create("arange", (), type_, **bounds))


RULES: dict[str, ConversionRule] = {
    "stablehlo.constant": _constant,
    "stablehlo.iota": _iota,
}
"""Rules by the full name of the operation."""
