"""Turn operations of linalg, tensor, arith and math on tensors into ttir operations.

Named operations are converted by what they compute, `linalg.generic`, `map` and `reduce` by their
body: elementwise computations, reductions, and sums of products, which become products of matrices.

Before:

    func.func @layer(%x: tensor<33x70xf32>, %w: tensor<70x5xf32>) -> tensor<33x5xf32> {
      %zero = arith.constant 0.0 : f32
      %0 = tensor.empty() : tensor<33x5xf32>
      %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<33x5xf32>) -> tensor<33x5xf32>
      %2 = linalg.matmul ins(%x, %w : tensor<33x70xf32>, tensor<70x5xf32>)
          outs(%1 : tensor<33x5xf32>) -> tensor<33x5xf32>
      %3 = linalg.exp ins(%2 : tensor<33x5xf32>) outs(%0 : tensor<33x5xf32>) -> tensor<33x5xf32>
      return %3 : tensor<33x5xf32>
    }

After:

    #any_device_tile = #tt.operand_constraint<dram|l1|tile|...>
    module {
      func.func @layer(%arg0: tensor<33x70xf32>, %arg1: tensor<70x5xf32>) -> tensor<33x5xf32> {
        %0 = tensor.empty() : tensor<33x5xf32>
        %1 = "ttir.matmul"(%arg0, %arg1, %0) <{operand_constraints =
            [#any_device_tile, #any_device_tile, #any_device_tile]}>
            : (tensor<33x70xf32>, tensor<70x5xf32>, tensor<33x5xf32>) -> tensor<33x5xf32>
        %2 = tensor.empty() : tensor<33x5xf32>
        %3 = "ttir.exp"(%1, %2) <{operandSegmentSizes = array<i32: 1, 1>,
            operand_constraints = [#any_device_tile, #any_device_tile]}>
            : (tensor<33x5xf32>, tensor<33x5xf32>) -> tensor<33x5xf32>
        return %3 : tensor<33x5xf32>
      }
    }

Requires: static shapes; numbers outside of tensors are constants or computed from constants and
elements of tensors.
Ensures: no operation of linalg is left, nor one of tensor, arith or math with a tensor as result,
but for `tensor.empty`; constants and numbers that are not used any more are gone.
Options: none.
Not done here: operations on memory, computed shapes, convolutions as `linalg.generic`. Operations
of other dialects stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation

from ttmlir.dialects.definition.narrowing import warn_of_narrowing
from ttmlir.ir.rewriting import erase_unused, refuse_to_legalize
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.core.ttir_conversion import ConversionRule, convert_inside
from ttmlir.passes.linalg.convert_arith_to_ttir import convert_tensor_arithmetic
from ttmlir.passes.linalg.convert_linalg_to_ttir_generic import RULES as GENERIC
from ttmlir.passes.linalg.convert_linalg_to_ttir_named import RULES as NAMED
from ttmlir.passes.linalg.convert_linalg_to_ttir_tensor import RULES as TENSOR

if TYPE_CHECKING:
    from xdsl.context import Context

RULES: Mapping[str, ConversionRule] = {**NAMED, **GENERIC, **TENSOR}
"""What becomes of each operation of linalg and tensor that can be converted."""

_NUMBERS = ("arith.", "math.", "tensor.extract", "tensor.empty", "ttir.constant")


@dataclass(frozen=True)
class ConvertLinalgToTTIRPass(ModulePass):
    """Turn operations of linalg, tensor, arith and math on tensors into ttir operations."""

    name = "convert-linalg-to-ttir"
    title = "ConvertLinalgToTTIR"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert everything inside the module, and erase what nobody uses then."""
        convert_inside(module, RULES, _convert_other)
        erase_unused(op for op in module.walk() if op.name.startswith(_NUMBERS))
        warn_of_narrowing(module)


def _convert_other(op: Operation) -> None:
    """Convert arithmetic on tensors; leave numbers and operations of other dialects."""
    gives_tensors = any(isinstance(type, TensorType) for type in op.result_types)
    if op.name.startswith(("arith.", "math.")) and gives_tensors:
        convert_tensor_arithmetic(op)
    elif op.name.startswith(("linalg.", "tensor.")) and op.name != "tensor.extract":
        taken = ", ".join(sorted(RULES))
        refuse_to_legalize(
            op, f"{ConvertLinalgToTTIRPass.name} takes {taken}, and operations of arith and math"
        )
