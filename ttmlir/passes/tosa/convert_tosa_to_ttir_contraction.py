"""Rules of tosa's products of matrices, for `convert-tosa-to-ttir`."""

from __future__ import annotations

from xdsl.ir import Operation

from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import replace
from ttmlir.ir.tensor_types import element_type
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.tosa.tosa_operands import check_zero_points


def _matmul(op: Operation) -> None:
    builder = Builder.before(op)
    check_zero_points(op, 2)
    element = element_type(op.results[0])
    factors = [builder.cast(factor, element) for factor in op.operands[:2]]
    replace(op, builder.create("matmul", factors, op.results[0].type))


def _fully_connected(op: Operation) -> None:
    builder = Builder.before(op)
    check_zero_points(op, 3)
    element = element_type(op.results[0])
    image, weight, bias = (builder.cast(value, element) for value in op.operands)
    product = builder.create("matmul", [image, builder.permute(weight, (1, 0))], op.results[0].type)
    replace(op, builder.create("add", [product, bias], op.results[0].type))


RULES: dict[str, ConversionRule] = {
    "tosa.fully_connected": _fully_connected,
    "tosa.matmul": _matmul,
}
"""Rules by the full name of the operation."""
