"""Convolutions of images whose last dimension is the channels."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError, UsageError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.elementwise.activations import apply_activations
from ttmlir.ttnn.operations.elementwise.meanings import meaning_of
from ttmlir.ttnn.operations.operation import (
    Operation,
    common_device,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.operations.window.extents import (
    Pair,
    as_image,
    as_padding,
    as_pair,
    flatten,
    window_axes_of,
    window_parameters,
)
from ttmlir.ttnn.tensor.formats import round_to
from ttmlir.ttnn.tensor.storage import DeviceStorage
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.convolution import Conv2dConfig
from ttmlir.ttnn.types.enums import DataType, Layout
from ttmlir.ttnn.types.memory import DRAM_MEMORY_CONFIG

if TYPE_CHECKING:
    from ttmlir.ttnn.device.mesh import MeshDevice


def _filters(weight: Tensor, shape: tuple[int, ...]) -> Array:
    """A weight as (first, second, kernel height, kernel width), which may be prepared.

    A prepared one is a matrix whose rows are kernel y, x, second and whose columns are first.
    """
    first, second, height, width = shape
    prepared = (1, 1, height * width * second, first)
    if weight.shape == shape:
        return weight.array
    if weight.shape == prepared:
        matrix = weight.array.reshape(height, width, second, first)
        return np.ascontiguousarray(matrix.transpose(3, 2, 0, 1))
    raise ArgumentError(
        f"weight_tensor has {weight.shape}; for these channels and this kernel it must be "
        f"{list(shape)}, or {list(prepared)} if it is prepared"
    )


def _prepare_weight(weight: Array, dtype: DataType, device: MeshDevice | None) -> Tensor:
    """A matrix of a weight (first, second, kernel height, kernel width), in tiles."""
    first = weight.shape[0]
    matrix = weight.transpose(2, 3, 1, 0).reshape(1, 1, -1, first)
    return _place(np.ascontiguousarray(matrix), dtype, device)


def _place(array: Array, dtype: DataType, device: MeshDevice | None) -> Tensor:
    from ttmlir.ttnn.types.spec import TensorSpec

    spec = TensorSpec(array.shape, dtype, Layout.TILE, DRAM_MEMORY_CONFIG)
    return Tensor.on(device, spec, round_to(array, dtype))


def _config(values: dict[str, Any]) -> Conv2dConfig:
    config = values["conv_config"]
    if config is None:
        return Conv2dConfig()
    if not isinstance(config, Conv2dConfig):
        raise ArgumentTypeError(f"conv_config is a ttnn.Conv2dConfig, not {type(config).__name__}")
    return config


def _weight_shape(values: dict[str, Any], kernel: Pair) -> tuple[int, ...]:
    inner, outer, groups = (values[name] for name in ("in_channels", "out_channels", "groups"))
    if groups < 1 or inner % groups or outer % groups:
        raise ArgumentError(
            f"{inner} input and {outer} output channels cannot be split into {groups} groups"
        )
    return (outer, inner // groups, *kernel)


def _bias(values: dict[str, Any]) -> Array | None:
    bias = values["bias_tensor"]
    if bias is None:
        return None
    array = require_tensor(bias, "bias_tensor").array
    if array.size != values["out_channels"]:
        raise ArgumentError(
            f"bias_tensor has {bias.shape}; it must have {values['out_channels']} numbers, one "
            "for each output channel"
        )
    return array.reshape(-1)


def _placed(values: dict[str, Any]) -> tuple[Tensor, MeshDevice]:
    """The input on the device, where it comes from the host."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    if not isinstance(tensor.storage, DeviceStorage):
        device = values["device"]
        if device is None:
            raise UsageError("input_tensor is on the host; give the device that computes")
        device.check_open()
        return tensor, device
    return tensor, common_device(tensor)


def _finish(
    image: Array, values: dict[str, Any], tensor: Tensor, device: MeshDevice, weight: Array
) -> Any:
    """The result, with what else was asked for."""
    config = _config(values)
    if config.activation is not None:
        image = apply_activations(image, config.activation)
    memory = values["memory_config"]
    made = store(
        flatten(image),
        (tensor,),
        device=device,
        dtype=values["dtype"],
        layout=config.output_layout,
        memory_config=DRAM_MEMORY_CONFIG if memory is None else memory,
    )
    if config.deallocate_activation and tensor.device() is not None:
        tensor.deallocate(force=True)
    result: list[Any] = [made]
    if values["return_output_dim"]:
        result.append((image.shape[1], image.shape[2]))
    if values["return_weights_and_bias"]:
        result.append(_prepared_pair(values, config, tensor, device, weight))
    return made if len(result) == 1 else tuple(result)


def _prepared_pair(
    values: dict[str, Any],
    config: Conv2dConfig,
    tensor: Tensor,
    device: MeshDevice,
    weight: Array,
) -> tuple[Tensor, Tensor | None]:
    given, bias = values["weight_tensor"], values["bias_tensor"]
    dtype = given.dtype if config.weights_dtype is None else config.weights_dtype
    prepared = _prepare_weight(weight, dtype, device)
    if bias is None:
        return prepared, None
    return prepared, _place(bias.array.reshape(1, 1, 1, -1), dtype, device)


def _rounded(weight: Array, values: dict[str, Any]) -> Array:
    """The weight in the data type that the configuration names for it."""
    dtype = _config(values).weights_dtype
    return weight if dtype is None else round_to(weight, dtype)


def _conv2d(values: dict[str, Any]) -> Any:
    tensor, device = _placed(values)
    weight = require_tensor(values["weight_tensor"], "weight_tensor")
    extents = values["input_height"], values["input_width"]
    image = as_image(tensor, values["batch_size"], *extents, values["in_channels"])
    filters = _filters(weight, _weight_shape(values, as_pair(values["kernel_size"], "kernel_size")))
    padding = as_padding(values["padding"])
    axes = window_axes_of(values, extents, padding)
    if any(low != high for low, high in padding):
        # The row's padding is the same on both sides.
        image = np.pad(image, ((0, 0), *padding, (0, 0)))
        padding = ((0, 0), (0, 0))
    result = meaning_of("conv2d")(
        np,
        image,
        _rounded(filters, values),
        _bias(values),
        **window_parameters(axes, image, "in_channels"),
        out_channels=values["out_channels"],
        padding_height=padding[0][0],
        padding_width=padding[1][0],
        groups=values["groups"],
    )
    return _finish(result, values, tensor, device, filters)


def _conv1d(values: dict[str, Any]) -> Any:
    """As a convolution of images of one column."""
    weight = require_tensor(values["weight_tensor"], "weight_tensor")
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    length, padding = values["input_length"], values["padding"]
    sides = [padding, padding] if isinstance(padding, int) else list(padding)
    array = tensor.array.reshape(1, 1, -1, tensor.shape[-1])
    if len(weight.shape) == 3:
        shape = (*weight.shape, 1)
        weight = Tensor.on(
            weight.device(), weight.spec.replace(shape=shape), weight.array.reshape(shape)
        )
    flat = Tensor.on(tensor.device(), tensor.spec.replace(shape=array.shape), array)
    made = _conv2d(
        {
            **values,
            "input_tensor": flat,
            "weight_tensor": weight,
            "input_height": length,
            "input_width": 1,
            "kernel_size": (values["kernel_size"], 1),
            "stride": (values["stride"], 1),
            "dilation": (values["dilation"], 1),
            "padding": (sides[0], sides[-1], 0, 0),
        }
    )
    if values["return_output_dim"]:
        return (made[0], made[1][0], *made[2:])
    return made


def _conv_transpose2d(values: dict[str, Any]) -> Any:
    """Each pixel spreads its products with the weight (I, O / groups, kernel height, width)."""
    tensor, device = _placed(values)
    weight = require_tensor(values["weight_tensor"], "weight_tensor")
    extents = values["input_height"], values["input_width"]
    image = as_image(tensor, values["batch_size"], *extents, values["in_channels"])
    inner, outer, groups = (values[name] for name in ("in_channels", "out_channels", "groups"))
    _weight_shape(values, (1, 1))
    kernel = as_pair(values["kernel_size"], "kernel_size")
    filters = _filters(weight, (inner, outer // groups, *kernel))
    turned = filters if values["mirror_kernel"] else filters[:, :, ::-1, ::-1]
    (top, bottom), (left, right) = as_padding(values["padding"])
    added = as_pair(values["output_padding"], "output_padding")
    stride, dilation = (as_pair(values[name], name) for name in ("stride", "dilation"))
    if min(*stride, *dilation, *kernel) < 1 or min(added) < 0:
        raise ArgumentError("kernel_size, stride and dilation are at least 1, output_padding 0")
    if any(
        extra >= max(pair)
        for extra, pair in zip(added, zip(stride, dilation, strict=True), strict=True)
    ):
        raise ArgumentError("output_padding is smaller than stride or dilation")
    sizes = [
        (extent - 1) * step - sum(sides) + spread * (taps - 1) + 1 + extra
        for extent, step, sides, spread, taps, extra in zip(
            extents, stride, ((top, bottom), (left, right)), dilation, kernel, added, strict=True
        )
    ]
    if min(sizes) < 1:
        raise ArgumentError(f"the result would have {sizes[0]}x{sizes[1]} pixels")
    result = meaning_of("conv_transpose2d")(
        np,
        image,
        _rounded(turned, values),
        _bias(values),
        batch_size=values["batch_size"],
        input_height=extents[0],
        input_width=extents[1],
        in_channels=inner,
        out_channels=outer,
        groups=groups,
        stride_height=stride[0],
        stride_width=stride[1],
        dilation_height=dilation[0],
        dilation_width=dilation[1],
        padding_top=top,
        padding_bottom=bottom,
        padding_left=left,
        padding_right=right,
        output_padding_height=added[0],
        output_padding_width=added[1],
    )
    return _finish(result, values, tensor, device, filters)


def _prepare_conv_weights(values: dict[str, Any]) -> Tensor:
    weight = require_tensor(values["weight_tensor"], "weight_tensor")
    if values["weights_format"] != "OIHW":
        raise ArgumentError(f"weights_format is 'OIHW', not {values['weights_format']!r}")
    shape = _weight_shape(values, as_pair(values["kernel_size"], "kernel_size"))
    dtype = _config(values).weights_dtype
    return _prepare_weight(
        _filters(weight, shape), weight.dtype if dtype is None else dtype, values["device"]
    )


def _prepare_conv_bias(values: dict[str, Any]) -> Tensor:
    array = _bias(values)
    if array is None:
        raise ArgumentTypeError("bias_tensor is a ttnn.Tensor, not None")
    dtype = _config(values).weights_dtype
    given: DataType = values["bias_tensor"].dtype
    return _place(array.reshape(1, 1, 1, -1), given if dtype is None else dtype, values["device"])


def get_conv_output_dim(
    input: int, window: int, stride: int = 1, pad: int = 0, dilation: int = 1
) -> int:
    """Positions of a window along an extent with padding on both sides."""
    return math.floor((input + 2 * pad - dilation * (window - 1) - 1) / stride) + 1


_IMAGE = "batch_size, input_height, input_width, kernel_size, stride=(1, 1), padding=(0, 0)"
_ASKED = (
    "dtype=None, bias_tensor=None, conv_config=None, compute_config, memory_config=None, "
    "return_output_dim=False, return_weights_and_bias=False"
)
_OPERANDS = "input_tensor, weight_tensor, device=None, in_channels, out_channels"
_PREPARED = (
    "input_memory_config=None, input_layout=None, in_channels, out_channels, batch_size=None, "
    "input_height=None, input_width=None, kernel_size, stride=(1, 1), padding=(0, 0), "
    "dilation=(1, 1), groups=1, device=None, input_dtype=None, output_dtype=None, "
    "conv_config=None, compute_config, slice_config"
)

OPERATIONS: dict[str, Operation] = table_of(
    Operation(
        "conv2d",
        _conv2d,
        f"*, {_OPERANDS}, {_IMAGE}, dilation=(1, 1), groups=1, {_ASKED}, slice_config",
    ),
    Operation(
        "conv1d",
        _conv1d,
        f"*, {_OPERANDS}, batch_size, input_length, kernel_size, stride=1, padding=0, dilation=1, "
        f"groups=1, {_ASKED}, slice_config",
    ),
    Operation(
        "conv_transpose2d",
        _conv_transpose2d,
        f"*, {_OPERANDS}, {_IMAGE}, output_padding=(0, 0), dilation=(1, 1), groups=1, {_ASKED}, "
        "mirror_kernel=True, dram_slice_config",
    ),
    Operation(
        "prepare_conv_weights",
        _prepare_conv_weights,
        f"*, weight_tensor, weights_format='OIHW', has_bias=False, {_PREPARED}",
    ),
    Operation("prepare_conv_bias", _prepare_conv_bias, f"*, bias_tensor, {_PREPARED}"),
    Operation("get_conv_output_dim", get_conv_output_dim),
)
