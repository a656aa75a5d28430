"""Tensor types: shapes, element types and their limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    ComplexType,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerType,
    ModuleOp,
    NoneAttr,
    Signedness,
    TensorType,
    f32,
    f64,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.comparisons import signed_value_range, unsigned_value_range

from ttmlir.dialects import tt
from ttmlir.dialects.definition.ods import DEVICE_NAME, SYSTEM_DESC
from ttmlir.ir.rewriting import refuse, refuse_to_legalize
from ttmlir.layout.data_format import ScalarType
from ttmlir.layout.device import DeviceView
from ttmlir.layout.system import SystemDesc
from ttmlir.layout.tensor_layout import TensorLayout

if TYPE_CHECKING:
    from ttmlir.mlir.attributes import ElementsType


# --- Layouts --------------------------------------------------------------------------------------
# What passes ask of the layouts, devices and machines in the IR, as plain data.


def layout_of(type_: Attribute) -> TensorLayout | None:
    """The layout of a tensor type; None if it has none or is no tensor.

    LayoutError if it is one that cannot be computed with.
    """
    if not isinstance(type_, TensorType):
        return None
    encoding = cast("TensorType[Attribute]", type_).encoding
    return encoding.tensor_layout if isinstance(encoding, tt.TensorLayoutAttr) else None


def is_plain_tensor(type_: Attribute) -> bool:
    """True for a tensor type without an encoding."""
    return isinstance(type_, TensorType) and isinstance(
        cast("TensorType[Attribute]", type_).encoding, NoneAttr
    )


def with_layout(type_: Attribute, layout: TensorLayout) -> Attribute:
    """A tensor type with another layout."""
    tensor = cast("TensorType[Attribute]", type_)
    encoding = tt.LayoutAttr.from_tensor_layout(layout)
    return TensorType(tensor.element_type, tensor.get_shape(), encoding)


def scalar_of(type_: Attribute) -> ScalarType:
    """The element type of a tensor type; LayoutError if it cannot be stored."""
    return tt.element_of(cast("TensorType[Attribute]", type_).element_type).scalar


def device_attr_in_scope(op: Operation) -> tt.DeviceAttr | None:
    """The device of the nearest operation around `op`, itself included, that names one."""
    scope: Operation | None = op
    while scope is not None:
        attr = scope.attributes.get(DEVICE_NAME)
        if isinstance(attr, tt.DeviceAttr):
            return attr
        scope = scope.parent_op()
    return None


def system_desc_in_scope(op: Operation) -> SystemDesc | None:
    """The machine of the nearest operation around `op`, itself included, that names one."""
    scope: Operation | None = op
    while scope is not None:
        attr = scope.attributes.get(SYSTEM_DESC)
        if isinstance(attr, tt.SystemDescAttr):
            return attr.data
        scope = scope.parent_op()
    return None


def require_device(op: Operation, pass_name: str) -> DeviceView:
    """The device in scope, or an error that says how to get one."""
    attr = device_attr_in_scope(op)
    if attr is None:
        refuse(
            op,
            f"there is no device: {pass_name} needs the attribute {DEVICE_NAME} on this or an "
            "enclosing operation; run ttir-load-system-desc and ttir-implicit-device before",
        )
    return attr.data


def require_system_desc(module: ModuleOp, pass_name: str) -> SystemDesc:
    """The machine that the module or one inside names, or an error that says how to get one."""
    inner = (op for op in module.walk() if isinstance(op, ModuleOp))
    found = (op.attributes.get(SYSTEM_DESC) for op in inner)
    attr = next((each for each in found if isinstance(each, tt.SystemDescAttr)), None)
    if attr is None:
        refuse(
            module,
            f"there is no description of the machine: {pass_name} needs the attribute "
            f"{SYSTEM_DESC} on the module; run ttir-load-system-desc before",
        )
    return attr.data


# --- Tensor types ---------------------------------------------------------------------------------


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """The extents of a tensor type."""
    return cast("TensorType[Attribute]", type_).get_shape()


def value_shape(value: SSAValue) -> tuple[int, ...]:
    """The extents of a tensor."""
    return shape_of(value.type)


def element_type(value: SSAValue) -> Attribute:
    """Element type of a tensor."""
    return cast("TensorType[Attribute]", value.type).element_type


def tensor_of(element: Attribute, shape: Sequence[int]) -> TensorType[Attribute]:
    """The type of tensors of these elements and of this shape, without a layout."""
    return TensorType(element, shape)


def tensor_like(value: SSAValue, shape: Sequence[int]) -> TensorType[Attribute]:
    """The type of tensors with the elements of another, but of this shape and without a layout."""
    return TensorType(element_type(value), shape)


def is_tensor(value: SSAValue) -> bool:
    """True for tensors, false for numbers."""
    return isinstance(value.type, TensorType)


def is_plain_and_static(value: SSAValue) -> bool:
    """True for tensors of known extents, without a layout."""
    type_ = value.type
    if not isinstance(type_, TensorType):
        return False
    tensor = cast("TensorType[Attribute]", type_)
    return tensor.has_static_shape() and isinstance(tensor.encoding, NoneAttr)


def is_complex(type_: Attribute) -> bool:
    """True for tensors of complex numbers."""
    return isinstance(type_, TensorType) and isinstance(
        cast("TensorType[Attribute]", type_).element_type, ComplexType
    )


def real_type(type_: Attribute) -> ElementsType:
    """The type of both parts of a complex tensor."""
    tensor = cast("TensorType[ComplexType]", type_)
    return cast("ElementsType", TensorType(tensor.element_type.element_type, tensor.get_shape()))


def is_boolean(element: Attribute) -> bool:
    """True for integers of one bit."""
    return element == i1


def invert_permutation(permutation: Sequence[int]) -> tuple[int, ...]:
    """The permutation that undoes another."""
    return tuple(sorted(range(len(permutation)), key=permutation.__getitem__))


def check_static_shape(op: Operation, type_: Attribute) -> None:
    """Refuse to convert `op` if a type is no tensor of a static shape."""
    if not (isinstance(type_, TensorType) and type_.has_static_shape()):
        refuse_to_legalize(
            op, f"the shape of {type_} is not known; give every tensor a static shape"
        )


def check_static_shapes(op: Operation) -> None:
    """Refuse to convert `op` if an operand or result is no tensor of a static shape."""
    for value in (*op.operands, *op.results):
        check_static_shape(op, value.type)


def widest_float(element: Attribute) -> Attribute:
    """The floats that functions of an element type compute in: f64 for 64 bits, otherwise f32."""
    is_long = isinstance(element, IntegerType) and cast("IntegerType", element).width.data == 64
    return f64 if is_long or element == f64 else f32


def limits_of(element: Attribute) -> tuple[float, float]:
    """The values of an element type that no other is below and above; bits are 0 and 1."""
    if not isinstance(element, IntegerType):
        return -math.inf, math.inf
    integer = cast("IntegerType", element)
    width = integer.width.data
    is_unsigned = integer.signedness.data is Signedness.UNSIGNED or width == 1
    first, end = unsigned_value_range(width) if is_unsigned else signed_value_range(width)
    return first, end - 1


# -- names of element types ----------------------------------------------------------------------

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
