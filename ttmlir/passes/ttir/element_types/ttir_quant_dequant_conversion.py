"""Compute with quantized numbers where numbers are quantized right after they no longer were.

Before:

    func.func @main(%a: tensor<5x7x!quant.uniform<i32:f32, 0.1>>)
        -> tensor<5x7x!quant.uniform<i32:f32, 0.2>> {
      %0 = "ttir.dequantize"(%a)
          : (tensor<5x7x!quant.uniform<i32:f32, 0.1>>) -> tensor<5x7xf32>
      %1 = "ttir.quantize"(%0)
          : (tensor<5x7xf32>) -> tensor<5x7x!quant.uniform<i32:f32, 0.2>>
      return %1 : tensor<5x7x!quant.uniform<i32:f32, 0.2>>
    }

After:

    ...
        %0 = "ttir.requantize"(%arg0) : (tensor<5x7x!quant.uniform<i32:f32, 1.000000e-01>>)
            -> tensor<5x7x!quant.uniform<i32:f32, 2.000000e-01>>
        ...

Requires: ttir of 2026.
Ensures: no `ttir.quantize` takes the result of a `ttir.dequantize`: there is a `ttir.requantize`,
or what was there before if both quantize alike.
Options: none.
Not done here: products and sums of dequantized numbers stay those of numbers, which is what they
are defined as.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.dialects import ttir
from ttmlir.ir.greedy_rewriting import GreedyRewriter
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttir.value_rewriting import adapted, made_by

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.builder import Builder


@dataclass(frozen=True)
class TTIRQuantDequantConversionPass(ModulePass):
    """Compute with quantized numbers where numbers are quantized right after."""

    name = "ttir-quant-dequant-conversion"
    title = "TTIRQuantDequantConversion"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Merge each pair."""
        GreedyRewriter(adapted({"quantize": [_requantize]})).run(module)


def _requantize(op: Operation, builder: Builder) -> SSAValue | None:
    before = made_by(op.operands[0], "dequantize")
    if before is None:
        return None
    source, result = before.operands[0], op.results[0]
    if source.type == result.type:
        return source
    new = ttir.op_class("requantize").create(
        operands=[source], result_types=[result.type], location=builder.location
    )
    return builder.insert(new).results[0]
