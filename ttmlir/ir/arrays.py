"""Arrays that are values of IR: each operation on them creates one of ttir.

x = array_in(Builder.before(op), op.operands[0])
replace(op, digamma(x.cast("f32")).cast(x.dtype).value)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    ComplexType,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    Signedness,
    TensorType,
    i32,
)
from xdsl.ir import Attribute, SSAValue

from ttmlir.arrays.array import Array, Number, Scalar, Shape
from ttmlir.composites.complex_numbers import Complex
from ttmlir.ir.builder import Builder
from ttmlir.ir.tensor_types import element_type, value_shape

if TYPE_CHECKING:
    from ttmlir.mlir.attributes import ElementsType
    from ttmlir.optable.row import Row

_FLOATS: tuple[AnyFloat, ...] = (Float32Type(), BFloat16Type(), Float16Type(), Float64Type())
_TYPES: dict[str, Attribute] = {
    **{each.name: each for each in _FLOATS},
    **{str(each): each for each in map(ComplexType[AnyFloat], _FLOATS)},
}


def element_of(dtype: str) -> Attribute:
    """The element type of a name such as `f32` or `ui8`."""
    if dtype in _TYPES:
        return _TYPES[dtype]
    kind = Signedness.UNSIGNED if dtype.startswith("ui") else Signedness.SIGNLESS
    return IntegerType(int(dtype.lstrip("ui")), kind)


def dtype_of(element: Attribute) -> str:
    """The name of an element type, which `element_of` gives for it."""
    name = str(element)
    _TYPES.setdefault(name, element)
    return name


class TTIRCarrier:
    """Creates operations of ttir with a builder."""

    holds_numbers = False

    def __init__(self, build: Builder) -> None:
        """Create them where the builder does."""
        self.build = build
        self._numbers: dict[tuple[str, bool, str], SSAValue] = {}
        self._constants: dict[int, tuple[Any, SSAValue]] = {}

    def create(
        self,
        row: Row,
        operands: Sequence[Array | Scalar],
        shape: Shape,
        dtype: str,
        parameters: dict[str, Any],
    ) -> Any:
        """The operation of a row; a permutation of two dimensions is a transposition."""
        values = [
            self.number(each, len(shape)) if isinstance(each, Scalar) else self.value(each)
            for each in operands
        ]
        if row.mnemonic == "permute":
            return self.build.permute(values[0], parameters["permutation"])
        type_ = TensorType(element_of(dtype), shape)
        if len(row.results) > 1:
            types = (type_, TensorType(i32, shape))
            return self.build.create_several(row.mnemonic, values, types, **parameters)
        return self.build.create(row.mnemonic, values, type_, **parameters)

    def value(self, array: Array) -> SSAValue:
        """The value of an array; numbers are a constant, which is made once for all its uses."""
        if not array.carrier.holds_numbers:
            return array.value
        found = self._constants.get(id(array.value))
        if found is None:
            # The numbers are kept, so that no others get their identity.
            return self.remember(array, self.constant(array.value, array.dtype))
        return found[1]

    def remember(self, numbers: Array, constant: SSAValue) -> SSAValue:
        """Let an array of numbers be a constant that there is."""
        self._constants[id(numbers.value)] = numbers.value, constant
        return constant

    def number(self, scalar: Scalar, rank: int) -> SSAValue:
        """A number as an operand of an operation whose result has that many dimensions."""
        return self.fill(scalar.number, (), scalar.dtype)

    def fill(self, number: Number, shape: Shape, dtype: str) -> SSAValue:
        """A constant of one number; those without dimensions are made once."""
        # 0.0 and -0.0, 1 and True, and NaN of both signs are different numbers.
        key = repr(number), number == number or math.copysign(1, number) > 0, dtype
        if not shape and key in self._numbers:
            return self._numbers[key]
        found = self.build.create_splat(number, TensorType(element_of(dtype), shape))
        if not shape:
            self._numbers[key] = found
        return found

    def constant(self, numbers: Any, dtype: str) -> SSAValue:
        """A constant of the numbers of an array of NumPy, rounded to floats or integers."""
        from ttmlir.arrays.carriers import host_dtype
        from ttmlir.mlir.attributes import elements_attr

        type_ = cast("ElementsType", TensorType(element_of(dtype), numbers.shape))
        elements = elements_attr(type_, numbers.astype(host_dtype(dtype)).tobytes())
        return self.build.create_constant(elements, type_)


def array_in(build: Builder | TTIRCarrier, value: SSAValue) -> Array:
    """A tensor as an array whose operations a builder creates."""

    carrier = TTIRCarrier(build) if isinstance(build, Builder) else build
    return Array(carrier, value, value_shape(value), dtype_of(element_type(value)))


def complex_in(build: Builder, real: SSAValue, imag: SSAValue) -> Complex:
    """Two tensors as an array of complex numbers."""
    carrier = TTIRCarrier(build)
    return Complex(array_in(carrier, real), array_in(carrier, imag))


def build_function(
    build: Builder, function: Callable[..., Array], operands: Sequence[SSAValue], element: Attribute
) -> SSAValue:
    """What a function of arrays makes of tensors, which it gets in one floating point type.

    It computes in f64 if the element type of the result is that, else in f32.
    """
    carrier, dtype = TTIRCarrier(build), dtype_of(element)
    wide = "f64" if dtype == "f64" else "f32"
    found = function(*(array_in(carrier, value).cast(wide) for value in operands))
    return cast("SSAValue", found.cast(dtype).value)
