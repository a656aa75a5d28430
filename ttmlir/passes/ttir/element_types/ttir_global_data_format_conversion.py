"""Compute in one floating point type.

Before:

    // Options: target-format=bf16
    func.func @main(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
      %0 = "ttir.exp"(%a) : (tensor<5x7xf32>) -> tensor<5x7xf32>
      return %0 : tensor<5x7xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<5x7xf32>) -> tensor<5x7xf32> {
        %0 = "ttir.typecast"(%arg0) <{conservative_folding = false}>
            : (tensor<5x7xf32>) -> tensor<5x7xbf16>
        %1 = "ttir.exp"(%0) : (tensor<5x7xbf16>) -> tensor<5x7xbf16>
        %2 = "ttir.typecast"(%1) <{conservative_folding = false}>
            : (tensor<5x7xbf16>) -> tensor<5x7xf32>
        return %2 : tensor<5x7xf32>
      }
    }

Requires: ttir of 2026.
Ensures: what functions compute in floating point has that element type; arguments are cast to it,
and what is returned is cast back, so that signatures stay.
Options: `target-format` (bf16): f32 or bf16.
Not done here: block floats, which tensors of ttir do not have: `experimental-weight-dtype` of the
pipelines packs weights to them. Integers, truth values and quantized numbers stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    TensorType,
    bf16,
    f32,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from ttmlir.ir.builder import Builder, Spelling, use_style
from ttmlir.ir.constants import attr_numbers, number_of_elements
from ttmlir.ir.tensor_types import element_type, is_plain_tensor, tensor_of, value_shape
from ttmlir.ir.ttnn_types import set_type
from ttmlir.mlir.attributes import Elements, ElementsType, elements_of
from ttmlir.mlir.option_values import OptionError, option
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation

_FORMATS = {"f32": f32, "bf16": bf16}


@dataclass(frozen=True)
class TTIRGlobalDataFormatConversionPass(ModulePass):
    """Compute in one floating point type."""

    name = "ttir-global-data-format-conversion"
    title = "TTIRGlobalDataFormatConversion"
    target_format: str = option("bf16", "Element type to compute in: f32 or bf16")

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert what every function computes."""
        element = _FORMATS.get(self.target_format)
        if element is None:
            raise OptionError(
                f"for the --target-format option: Invalid target format '{self.target_format}'. "
                "Supported formats: f32, bf16"
            )
        functions = [op for op in module.walk() if isinstance(op, FuncOp) and op.body.blocks]
        with use_style(Spelling.LATE.style):
            for function in functions:
                _convert(function, element)


def _is_other(value: SSAValue, element: Attribute) -> bool:
    if not is_plain_tensor(value.type):
        return False
    own = element_type(value)
    return isinstance(own, AnyFloat) and own != element


def _convert(function: FuncOp, element: AnyFloat) -> None:
    block = function.body.blocks[0]
    inside = dict.fromkeys(op for op in function.walk() if op.name.startswith("ttir."))
    results = [each for op in inside for each in op.results if _is_other(each, element)]
    before: dict[SSAValue, Attribute] = {}
    for result in results:
        _convert_constant(result.owner, element)
        own = element_type(result)
        before[set_type(result, tensor_of(element, value_shape(result)))] = own
    casts: dict[SSAValue, SSAValue] = {}
    for op in tuple(function.walk()):
        for place, value in enumerate(op.operands):
            if op in inside and isinstance(value, BlockArgument) and _is_other(value, element):
                if value not in casts:
                    first = block.first_op
                    assert first is not None, "functions end by returning"
                    casts[value] = Builder.before(first).cast(value, element)
                op.operands[place] = casts[value]
            elif op not in inside and value in before:
                op.operands[place] = Builder.before(op).cast(value, before[value])


def _convert_constant(op: Operation, element: AnyFloat) -> None:
    """Round the numbers of a constant."""
    value = op.properties.get("value")
    if op.name == "ttir.constant" and isinstance(value, DenseIntOrFPElementsAttr):
        elements = cast("Elements", value)
        splat = number_of_elements(elements)
        numbers = attr_numbers(elements) if splat is None else (splat,)
        assert numbers is not None, "constants of several numbers are written out"
        type_ = cast("ElementsType", TensorType(element, elements.get_shape()))
        op.properties["value"] = elements_of(type_, [float(each) for each in numbers])
