"""What passes ask of the layouts, devices and machines in the IR, as plain data."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import ModuleOp, NoneAttr, TensorType
from xdsl.ir import Attribute, Operation

from ttmlir.dialects import tt
from ttmlir.dialects.definition.names import DEVICE, SYSTEM_DESC
from ttmlir.ir.rewriting import refuse
from ttmlir.layout.device import DeviceView
from ttmlir.layout.element_type import ScalarType
from ttmlir.layout.system.chip import SystemDesc
from ttmlir.layout.tensor_layout import TensorLayout


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
        attr = scope.attributes.get(DEVICE)
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
            f"there is no device: {pass_name} needs the attribute {DEVICE} on this or an "
            "enclosing operation; run ttir-load-system-desc and ttir-implicit-device before",
        )
    return attr.data


def require_system_desc(module: ModuleOp, pass_name: str) -> SystemDesc:
    """The machine that the module names, or an error that says how to get one."""
    attr = module.attributes.get(SYSTEM_DESC)
    if not isinstance(attr, tt.SystemDescAttr):
        refuse(
            module,
            f"there is no description of the machine: {pass_name} needs the attribute "
            f"{SYSTEM_DESC} on the module; run ttir-load-system-desc before",
        )
    return attr.data
