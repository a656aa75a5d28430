"""What `ttir-sliding-window-2d-fix-shapes` does for operations of 2026, that make their results.

Convolutions and pools of two dimensions whose images have the order batch, height, width, channels
take and make images of the shape 1 x 1 x (batch * height * width) x channels, and say what they are
in `flattened_compat_info`:

    %0 = "ttir.reshape"(%image) <{shape = [1 : i32, 1 : i32, 1024 : i32, 8 : i32]}> : ...
    %1 = "ttir.max_pool2d"(%0) <{..., flattened_compat_info = #ttir<flattened_compat
        batch_size = 1, input_height = 32, input_width = 32>, ...}> : ...
    %2 = "ttir.reshape"(%1) <{shape = [1 : i32, 16 : i32, 16 : i32, 8 : i32]}> : ...
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import TensorType

from ttmlir.dialects.ttir import FlattenedCompatAttr, op_class
from ttmlir.ir.builder import Builder, Spelling, use_style
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.ir.ttnn_types import location_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.dialects.builtin import IntegerAttr, ModuleOp
    from xdsl.ir import Attribute, Operation, SSAValue

_WINDOWS = tuple(
    f"ttir.{name}"
    for name in (
        *("conv2d", "conv_transpose2d", "max_pool2d", "avg_pool2d", "max_pool2d_with_indices"),
    )
)
_DIMS = ("batch_dim", "height_dim", "width_dim", "channel_dim")


def flatten_windows(module: ModuleOp) -> None:
    """Reshape the images of every window."""
    with use_style(Spelling.LATE.style):
        for op in tuple(module.walk()):
            if op.name in _WINDOWS and _is_late(op) and _is_channels_last(op):
                _flatten(op)


def _is_late(op: Operation) -> bool:
    return (
        not getattr(op, "has_destination", False) and "flattened_compat_info" not in op.properties
    )


def _is_channels_last(op: Operation) -> bool:
    dims = (op.properties.get(name) for name in _DIMS)
    return all(
        attr is None or cast("IntegerAttr", attr).value.data == place
        for place, attr in enumerate(dims)
    )


def _flatten(op: Operation) -> None:
    build = Builder.before(op)
    image = op.operands[0]
    batch, height, width, _ = value_shape(image)
    build.location = location_of(image)
    flat = _reshape(build, image, _flat_shape(value_shape(image)))
    build.location = op.location
    types = [_flat_type(result) for result in op.results]
    new = op_class(op.name.removeprefix("ttir.")).create(
        operands=[flat, *op.operands[1:]],
        result_types=types,
        properties={
            **op.properties,
            "flattened_compat_info": FlattenedCompatAttr((batch, height, width)),
        },
        attributes=dict(op.attributes),
        location=op.location,
    )
    build.insert(new)
    pairs = zip(op.results, new.results, strict=True)
    for old, value in [(old, _reshape(build, made, value_shape(old))) for old, made in pairs]:
        old.replace_all_uses_with(value)
    op.detach()
    op.erase()


def _flat_shape(shape: Sequence[int]) -> tuple[int, ...]:
    return (1, 1, math.prod(shape[:3]), shape[3])


def _flat_type(value: SSAValue) -> TensorType[Attribute]:
    return TensorType(element_type(value), _flat_shape(value_shape(value)))


def _reshape(build: Builder, value: SSAValue, shape: Sequence[int]) -> SSAValue:
    type_ = TensorType(element_type(value), shape)
    return build.create("reshape", (value,), type_, shape=tuple(shape))
