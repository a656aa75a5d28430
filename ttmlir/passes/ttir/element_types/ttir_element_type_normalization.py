"""Give tensors element types that devices have.

Before:

    func.func @main(%a: tensor<5x7xi1>, %b: tensor<5x7xf64>) -> tensor<5x7xi64> {
      %0 = "ttir.constant"() <{value = dense<[1, 4294967296]> : tensor<2xi64>}>
          : () -> tensor<2xi64>
      %1 = "ttir.typecast"(%b) <{conservative_folding = false}>
          : (tensor<5x7xf64>) -> tensor<5x7xi64>
      return %1 : tensor<5x7xi64>
    }

After:

    module {
      func.func @main(%arg0: tensor<5x7xbf16>, %arg1: tensor<5x7xf32>) -> tensor<5x7xsi32> {
        %0 = "ttir.constant"() <{value = dense<[1, 2147483647]> : tensor<2xsi32>}>
            : () -> tensor<2xsi32>
        %1 = "ttir.typecast"(%arg1) <{conservative_folding = false}>
            : (tensor<5x7xf32>) -> tensor<5x7xsi32>
        return %1 : tensor<5x7xsi32>
      }
    }

Requires: nothing.
Ensures: f64 is f32, truth values are bf16, signed and signless integers are si32, unsigned ones of
64 bits ui32; constants keep their numbers, or take the nearest. The bits of a float of 16 bits as a
signed integer are extended by their sign, and cut off on the way back.
Options: `keep-element-types` (false): numbers keep their types, for layouts that say what devices
store; integers without a word about signs are signed.
Not done here: other types stay, quantized ones among them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    FunctionType,
    IntegerType,
    ModuleOp,
    Signedness,
    TensorType,
    bf16,
    f32,
    f64,
)
from xdsl.dialects.func import FuncOp

from ttmlir.ir.builder import Builder, Spelling, use_style
from ttmlir.ir.constants import attr_numbers, number_of_elements
from ttmlir.ir.rewriting import replace
from ttmlir.ir.tensor_types import element_type, limits_of, value_shape
from ttmlir.ir.ttnn_types import set_type
from ttmlir.mlir.attributes import Elements, ElementsType, elements_of
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.general.ttcore_register_device import device_modules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.context import Context
    from xdsl.ir import Attribute, Operation, SSAValue

_SI32 = IntegerType(32, Signedness.SIGNED)
_SIGNED: dict[int, Attribute] = {
    8: IntegerType(8, Signedness.SIGNED),
    16: IntegerType(16, Signedness.SIGNED),
    64: IntegerType(64, Signedness.SIGNED),
}
_UI32 = IntegerType(32, Signedness.UNSIGNED)
_UI16 = IntegerType(16, Signedness.UNSIGNED)
_SHORTS = (_SI32, IntegerType(16, Signedness.SIGNED))
"""What integers of 16 bits become."""
_HALVES = (Float16Type, BFloat16Type)


@dataclass(frozen=True)
class TTIRElementTypeNormalizationPass(ModulePass):
    """Give tensors element types that devices have."""

    name = "ttir-element-type-normalization"
    title = "ElementTypeNormalization"
    keep_element_types: bool = option(
        False, "Numbers keep their types; layouts say what devices store"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert the types of all values, the numbers of constants, and signatures."""
        for op in [op for each in device_modules(module) for op in each.walk()]:
            _convert(op, self.keep_element_types)
            if op.name == "ttir.bitcast_convert":
                with use_style(Spelling.LATE.style):
                    _widen_bits(op)


def _widen_bits(op: Operation) -> None:
    """Bits of a number of 16 bits as an integer that is kept in 32, and back."""
    [value], result = op.operands, op.results[0]
    source, target = element_type(value), element_type(result)
    if source in _SHORTS and isinstance(target, _HALVES):
        builder = Builder.before(op)
        wide = builder.cast(value, _SI32)
        mask = builder.create_splat(0xFFFF, wide.type)
        low = builder.create("bitwise_and", (wide, mask), wide.type)
        bits = builder.cast(low, _UI16)
        replace(op, builder.create("bitcast_convert", (bits,), result.type))
    elif target in _SHORTS and isinstance(source, _HALVES):
        builder = Builder.before(op)
        bits = builder.create("bitcast_convert", (value,), TensorType(_UI16, value_shape(value)))
        wide = builder.cast(bits, _SI32)
        # The sign is the upper bit of 16.
        places = builder.create_splat(16, wide.type)
        high = builder.create("logical_left_shift", (wide, places), wide.type)
        signed = builder.create("right_shift", (high, places), wide.type)
        replace(op, builder.cast(signed, target))


def _convert(op: Operation, keeps: bool) -> None:
    for region in op.regions:
        for block in region.blocks:
            _retype(block.args, keeps)
    _retype(op.results, keeps)
    value = op.properties.get("value")
    if op.name == "ttir.constant" and isinstance(value, DenseIntOrFPElementsAttr):
        op.properties["value"] = _constant(cast("Elements", value), keeps)
    if isinstance(op, FuncOp):
        type_ = op.function_type
        op.properties["function_type"] = FunctionType.from_lists(
            *(
                [_normal_type(each, keeps) for each in types.data]
                for types in (type_.inputs, type_.outputs)
            )
        )


def _retype(values: Sequence[SSAValue], keeps: bool) -> None:
    for value in tuple(values):
        set_type(value, _normal_type(value.type, keeps))


def _normal_type(type_: Attribute, keeps: bool) -> Attribute:
    """A tensor type with elements that devices have; the same object if it has them."""
    if not isinstance(type_, TensorType):
        return type_
    tensor = cast("TensorType[Attribute]", type_)
    element = _normal_element(tensor.element_type, keeps)
    if element is tensor.element_type:
        return tensor
    return TensorType(element, tensor.get_shape(), tensor.encoding)


def _normal_element(element: Attribute, keeps: bool) -> Attribute:
    """The element type that devices have for another; the same object if they have it.

    What layouts store as another type stays if types are kept.
    """
    if element == f64:
        return element if keeps else f32
    if not isinstance(element, IntegerType):
        return element
    integer = cast("IntegerType", element)
    width, is_unsigned = integer.width.data, integer.signedness.data is Signedness.UNSIGNED
    if width == 1:
        return bf16
    if is_unsigned:
        return integer if width <= 32 or keeps else _UI32
    if not keeps or width == 32:
        return _SI32
    # What no device stores is refused as the program says it.
    return _SIGNED.get(width, integer)


def _constant(elements: Elements, keeps: bool) -> Elements:
    """The numbers in an element type that devices have, as near as it has them."""
    element = elements.get_element_type()
    found = _normal_element(element, keeps)
    if found is element:
        return elements
    splat = number_of_elements(elements)
    numbers = attr_numbers(elements) if splat is None else (splat,)
    assert numbers is not None, "constants of several numbers are written out"
    type_ = cast("ElementsType", TensorType(found, elements.get_shape()))
    if isinstance(found, IntegerType):
        low, high = limits_of(type_.get_element_type())
        whole = [int(min(max(number, low), high)) for number in numbers]
        return elements_of(type_, whole)
    largest = 3.4028234663852886e38
    floats = [float(number) for number in numbers]
    rounded = [
        math.copysign(math.inf, number) if abs(number) > largest * (1 + 2**-25) else number
        for number in floats
    ]
    return elements_of(type_, rounded)
