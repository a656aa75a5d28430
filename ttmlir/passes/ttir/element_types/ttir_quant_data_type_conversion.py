"""Give quantized numbers integers of another width.

Before:

    // Options: target-bit-width=32
    func.func @main(%a: tensor<5x7xf32>) -> tensor<5x7x!quant.uniform<i8:f32, 0.1>> {
      %0 = "ttir.quantize"(%a) : (tensor<5x7xf32>) -> tensor<5x7x!quant.uniform<i8:f32, 0.1>>
      return %0 : tensor<5x7x!quant.uniform<i8:f32, 0.1>>
    }

After:

    module {
      func.func @main(%arg0: tensor<5x7xf32>)
          -> tensor<5x7x!quant.uniform<i32:f32, 1.000000e-01>> {
        %0 = "ttir.quantize"(%arg0)
            : (tensor<5x7xf32>) -> tensor<5x7x!quant.uniform<i32:f32, 1.000000e-01>>
        return %0 : tensor<5x7x!quant.uniform<i32:f32, 1.000000e-01>>
      }
    }

Requires: nothing.
Ensures: all quantized types have integers of that width, and all of their range.
Options: `target-bit-width` (32): 8, 16 or 32.
Not done here: wider integers are no narrower ones: they are refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import FunctionType, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ttmlir.dialects.quant import UniformType, range_of, uniform_of
from ttmlir.ir.rewriting import refuse
from ttmlir.ir.ttnn_types import set_type
from ttmlir.mlir.option_values import OptionError, option
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation, Region, SSAValue

_WIDTHS = (8, 16, 32)


@dataclass(frozen=True)
class TTIRQuantDataTypeConversionPass(ModulePass):
    """Give quantized numbers integers of another width."""

    name = "ttir-quant-data-type-conversion"
    title = "TTIRQuantDataTypeConversion"
    target_bit_width: int = option(32, "Bits of the integers: 8, 16 or 32")

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert the types of all values and signatures."""
        if self.target_bit_width not in _WIDTHS:
            raise OptionError(
                f"for the --target-bit-width option: {self.target_bit_width} is none of the widths "
                "of quantized numbers; give 8, 16 or 32"
            )
        for op in tuple(module.walk()):
            if isinstance(op, FuncOp):
                type_ = op.function_type
                inputs = [self._widened(op, each) for each in type_.inputs.data]
                outputs = [self._widened(op, each) for each in type_.outputs.data]
                op.properties["function_type"] = FunctionType.from_lists(inputs, outputs)
            values = [*op.results, *(arg for region in op.regions for arg in _arguments(region))]
            for value in values:
                set_type(value, self._widened(op, value.type))

    def _widened(self, op: Operation, type_: Attribute) -> Attribute:
        if not isinstance(type_, TensorType):
            return type_
        tensor = cast("TensorType[Attribute]", type_)
        uniform, width = uniform_of(tensor.element_type), self.target_bit_width
        if uniform is None:
            return tensor
        if uniform.width > width:
            refuse(
                op,
                f"Target integer type of width {width} is smaller than quantized type's storage "
                f"width {uniform.width}. Out of range.",
            )
        low, high = range_of(width, is_signed=uniform.is_signed)
        if (uniform.low, uniform.high) != range_of(uniform.width, is_signed=uniform.is_signed):
            low, high = uniform.low, uniform.high
        wide = replace(uniform, width=width, low=low, high=high)
        return TensorType(cast("Attribute", UniformType(wide)), tensor.get_shape(), tensor.encoding)


def _arguments(region: Region) -> list[SSAValue]:
    return [argument for block in region.blocks for argument in block.args]
