"""Rules of `convert-ttir-to-ttnn` for quantized numbers, whose scales and zeros are tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttmlir.dialects import ttnn
from ttmlir.dialects.quant import uniform_of
from ttmlir.dialects.tt.layout import DataTypeAttr
from ttmlir.ir.tensor_types import element_type, scalar_of
from ttmlir.layout.enums import DataType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.ttnn_values import TTNNValueBuilder
    from ttmlir.passes.ttnn.conversion.convert_values import Rules


def _quantization(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    result = op.results[0]
    is_quantized = uniform_of(element_type(result)) is not None
    dtype = DataType.SI32 if is_quantized else scalar_of(result.type).data_type
    mnemonic = op.name.removeprefix("ttir.").removesuffix("_unrolled")
    new = ttnn.op_class(mnemonic).create(
        operands=op.operands,
        result_types=[result.type],
        properties={**op.properties, "output_dtype": DataTypeAttr(dtype)},
        location=op.location,
    )
    return build.add(new).results


RULES: Rules = dict.fromkeys(
    ("quantize_unrolled", "dequantize_unrolled", "requantize_unrolled"), _quantization
)
"""Rules by mnemonic."""
