"""Rules of `ttir-decomposition` for quantized numbers of 2026: scales and zeros become tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import Float32Type, IntegerAttr, IntegerType, Signedness, i32

from ttmlir.dialects import ttir
from ttmlir.dialects.quant import uniform_of
from ttmlir.ir.tensor_types import element_type, tensor_of
from ttmlir.passes.ttir.value_rewriting import adapted, mnemonic_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.dialects.quant import Uniform
    from ttmlir.ir.builder import Builder
    from ttmlir.ir.greedy_rewriting import Rule

_SI32 = IntegerType(32, Signedness.SIGNED)


def _unroll(op: Operation, builder: Builder) -> SSAValue | None:
    value, result = op.operands[0], op.results[0]
    found = [uniform_of(element_type(each)) for each in (value, result)]
    uniforms = [each for each in found if each is not None]
    numbers = [tensor for each in uniforms for tensor in _tensors(builder, each)]
    axes = [each.axis for each in uniforms if each.axis is not None]
    new = ttir.op_class(f"{mnemonic_of(op)}_unrolled").create(
        operands=[value, *numbers],
        result_types=[result.type],
        properties={"axis": IntegerAttr(axes[0], i32)} if axes else {},
        location=builder.location,
    )
    return builder.insert(new).results[0]


def _tensors(builder: Builder, uniform: Uniform) -> tuple[SSAValue, SSAValue]:
    """The scales and the zeros, of the whole tensor or of places along an axis."""
    shape = (len(uniform.scales),)
    scales = builder.create_numbers(uniform.scales, tensor_of(Float32Type(), shape))
    return scales, builder.create_numbers(uniform.zeros, tensor_of(_SI32, shape))


_QUANTIZATIONS = ("quantize", "dequantize", "requantize")

RULES: Mapping[str, Sequence[Rule]] = adapted({name: [_unroll] for name in _QUANTIZATIONS})
"""Rules by the name of the operation."""
