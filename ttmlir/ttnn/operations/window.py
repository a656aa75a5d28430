"""Operations that move a window over images (N, H, W, C): convolution, pooling, resizing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ttmlir.arrays import array
from ttmlir.arrays.carriers import array_of
from ttmlir.composites import interpolation
from ttmlir.composites.interpolation import Kernel
from ttmlir.composites.windows import find_maxima
from ttmlir.errors import ArgumentError, ArgumentTypeError, UsageError
from ttmlir.optable.window import WindowAxis
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.elementwise.activations import apply_activations
from ttmlir.ttnn.operations.elementwise.semantics import reference_of
from ttmlir.ttnn.operations.operation import (
    Operation,
    common_device,
    is_integer,
    is_strict,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.tensor.tensor import DeviceStorage, Tensor, round_to
from ttmlir.ttnn.types.configs import Conv2dConfig
from ttmlir.ttnn.types.enums import DataType, Layout
from ttmlir.ttnn.types.memory import DRAM_MEMORY_CONFIG

if TYPE_CHECKING:
    from ttmlir.ttnn.device.mesh import MeshDevice


# --- Extents --------------------------------------------------------------------------------------

Pair = tuple[int, int]


def as_pair(value: Any, name: str) -> Pair:
    """Two numbers: height and width, of one number or two."""
    listed = [int(value)] * 2 if is_integer(value) else [int(each) for each in value]
    if len(listed) != 2:
        raise ArgumentError(f"{name} has one number or two, got {listed}")
    return listed[0], listed[1]


def as_padding(value: Any) -> tuple[Pair, Pair]:
    """Padding (top, bottom), (left, right), of one number, two, or four in that order."""
    listed = [int(value)] * 2 if is_integer(value) else [int(each) for each in value]
    if len(listed) == 2:
        listed = [listed[0], listed[0], listed[1], listed[1]]
    if len(listed) != 4 or min(listed) < 0:
        raise ArgumentError(
            f"padding has one number, two (height, width) or four (top, bottom, left, right), "
            f"none negative; got {listed}"
        )
    return (listed[0], listed[1]), (listed[2], listed[3])


def window_axes_of(
    values: dict[str, Any], extents: Pair, padding: tuple[Pair, Pair], *, ceil_mode: bool = False
) -> tuple[WindowAxis, WindowAxis]:
    """The window along height and width; ValueError if it has no position."""
    names = ("kernel_size", "stride", "dilation")
    kernel, stride, dilation = (as_pair(values[name], name) for name in names)
    rows, columns = (
        WindowAxis(
            extent=extents[axis],
            kernel=kernel[axis],
            stride=stride[axis],
            dilation=dilation[axis],
            low=padding[axis][0],
            high=padding[axis][1],
            ceil_mode=ceil_mode,
        ).checked(name)
        for axis, name in ((0, "height"), (1, "width"))
    )
    return rows, columns


def as_image(tensor: Any, batch: int, height: int, width: int, channels: int) -> Array:
    """The numbers as (N, H, W, C); ValueError if there are others."""
    given: Tensor = require_tensor(tensor, "input_tensor")
    shape = given.shape
    wanted = (batch, height, width, channels)
    flat = (1, 1, batch * height * width, channels)
    if shape not in (wanted, flat):
        raise ArgumentError(
            f"input_tensor has {shape}; for these extents it must be {list(flat)} or {list(wanted)}"
        )
    return given.array.reshape(wanted)


def flatten(image: Array) -> Array:
    """(N, H, W, C) as (1, 1, N * H * W, C)."""
    return image.reshape(1, 1, -1, image.shape[-1])


def window_parameters(
    axes: tuple[WindowAxis, WindowAxis], image: Array, channels: str
) -> dict[str, Any]:
    """The parameters of a row's kernel for a window over an image, but for the padding."""
    rows, columns = axes
    return {
        "batch_size": image.shape[0],
        "input_height": image.shape[1],
        "input_width": image.shape[2],
        channels: image.shape[3],
        "kernel_height": rows.kernel,
        "kernel_width": columns.kernel,
        "stride_height": rows.stride,
        "stride_width": columns.stride,
        "dilation_height": rows.dilation,
        "dilation_width": columns.dilation,
    }


# --- Convolution ----------------------------------------------------------------------------------


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


def _finish_convolution(
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
    result = reference_of("conv2d")(
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
    return _finish_convolution(result, values, tensor, device, filters)


def _conv1d(values: dict[str, Any]) -> Any:
    """As a convolution of images of one column."""
    weight = require_tensor(values["weight_tensor"], "weight_tensor")
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    length, padding = values["input_length"], values["padding"]
    sides = [padding, padding] if is_integer(padding) else list(padding)
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
    result = reference_of("conv_transpose2d")(
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
    return _finish_convolution(result, values, tensor, device, filters)


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


_CONV_IMAGE = "batch_size, input_height, input_width, kernel_size, stride=(1, 1), padding=(0, 0)"
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

_CONVOLUTION: dict[str, Operation] = table_of(
    Operation(
        "conv2d",
        _conv2d,
        f"*, {_OPERANDS}, {_CONV_IMAGE}, dilation=(1, 1), groups=1, {_ASKED}, slice_config",
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
        f"*, {_OPERANDS}, {_CONV_IMAGE}, output_padding=(0, 0), dilation=(1, 1), groups=1, "
        f"{_ASKED}, mirror_kernel=True, dram_slice_config",
    ),
    Operation(
        "prepare_conv_weights",
        _prepare_conv_weights,
        f"*, weight_tensor, weights_format='OIHW', has_bias=False, {_PREPARED}",
    ),
    Operation("prepare_conv_bias", _prepare_conv_bias, f"*, bias_tensor, {_PREPARED}"),
    Operation("get_conv_output_dim", get_conv_output_dim),
)


# --- Pooling --------------------------------------------------------------------------------------


def _image_of(values: dict[str, Any]) -> tuple[Tensor, Array]:
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    common_device(tensor)
    names = ("batch_size", "input_h", "input_w", "channels")
    return tensor, as_image(tensor, *(values[name] for name in names))


def _check_padding(values: dict[str, Any]) -> None:
    """ValueError for windows that lie more in the padding than half."""
    kernel = as_pair(values["kernel_size"], "kernel_size")
    for sides, extent in zip(as_padding(values["padding"]), kernel, strict=True):
        if 2 * max(sides) > extent:
            raise ArgumentError(
                f"padding of {max(sides)} is more than half of the kernel's {extent}; use ttnn.pad "
                "first"
            )


def _finish_pooling(image: Array, values: dict[str, Any], tensor: Tensor) -> Tensor:
    """(1, 1, N * H * W, C) in rows, unless tiles are asked for."""
    dtype, layout = values["dtype"], values["output_layout"]
    made = store(
        flatten(image),
        (tensor,),
        device=common_device(tensor),
        dtype=dtype,
        layout=Layout.ROW_MAJOR if layout is None else layout,
        memory_config=values["memory_config"],
    )
    if values["deallocate_input"]:
        tensor.deallocate(force=True)
    return made


def _result_type(values: dict[str, Any], tensor: Tensor) -> dict[str, Any]:
    """The values with a data type: block floats, which have no rows, become bfloat16."""
    dtype = values["dtype"]
    if dtype is None and tensor.dtype.facts.is_block:
        dtype = DataType.BFLOAT16
    return {**values, "dtype": dtype}


def _filled(
    image: Array, axes: tuple[WindowAxis, WindowAxis], fill: float
) -> tuple[Array, tuple[WindowAxis, WindowAxis]]:
    """The image with all that windows reach, and windows that need no padding."""
    margins = [axis.margin for axis in axes]
    whole = np.pad(image, ((0, 0), *margins, (0, 0)), constant_values=fill)
    rows, columns = (
        WindowAxis(
            extent=(axis.positions - 1) * axis.stride + axis.reach,
            kernel=axis.kernel,
            stride=axis.stride,
            dilation=axis.dilation,
        )
        for axis in axes
    )
    return whole[:, : rows.extent, : columns.extent], (rows, columns)


def _max_pool2d(values: dict[str, Any]) -> Any:
    _check_padding(values)
    tensor, image = _image_of(values)
    values = _result_type(values, tensor)
    axes = window_axes_of(
        values, image.shape[1:3], as_padding(values["padding"]), ceil_mode=values["ceil_mode"]
    )
    lowest = -np.inf if image.dtype.kind == "f" else np.iinfo(image.dtype).min
    whole, inner = _filled(image, axes, lowest)
    result = reference_of("max_pool2d")(
        np,
        whole,
        **window_parameters(inner, whole, "channels"),
        padding_height=0,
        padding_width=0,
        ceil_mode=False,
    )
    if not values["return_indices"]:
        return _finish_pooling(result, values, tensor)
    places = find_maxima(channels_first(image), axes)
    large = math.prod(image.shape[1:3]) > np.iinfo(np.uint16).max
    made = store(
        flatten(channels_last(places)),
        (tensor,),
        device=common_device(tensor),
        dtype=DataType.UINT32 if large else DataType.UINT16,
        layout=Layout.ROW_MAJOR,
        memory_config=values["memory_config"],
    )
    return _finish_pooling(result, values, tensor), made


def _avg_pool2d(values: dict[str, Any]) -> Tensor:
    _check_padding(values)
    tensor, image = _image_of(values)
    values = _result_type({"dilation": (1, 1), **values}, tensor)
    padding = as_padding(values["padding"])
    axes = window_axes_of(values, image.shape[1:3], padding, ceil_mode=values["ceil_mode"])
    divisor = values["divisor_override"]
    average = reference_of("avg_pool2d")
    if divisor is None:
        (top, bottom), (left, right) = padding
        result = average(
            np,
            image,
            **window_parameters(axes, image, "channels"),
            padding_top=top,
            padding_bottom=bottom,
            padding_left=left,
            padding_right=right,
            ceil_mode=values["ceil_mode"],
            count_include_pad=values["count_include_pad"],
        )
        return _finish_pooling(result, values, tensor)
    if divisor == 0:
        raise ArgumentError("divisor_override is not 0")
    whole, inner = _filled(image, axes, 0)
    sides = ("top", "bottom", "left", "right")
    result = average(
        np,
        whole,
        **window_parameters(inner, whole, "channels"),
        **{f"padding_{side}": 0 for side in sides},
        ceil_mode=False,
        count_include_pad=True,
    )
    result = result * (math.prod(axis.kernel for axis in axes) / divisor)
    return _finish_pooling(result, values, tensor)


def _global_avg_pool2d(values: dict[str, Any]) -> Tensor:
    """The mean of each channel of (N, H, W, C): (N, 1, 1, C)."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    device = common_device(tensor)
    if len(tensor.shape) != 4:
        raise ArgumentError(f"input_tensor has {tensor.shape}; it must be (N, H, W, C)")
    result = reference_of("mean")(np, tensor.array, keep_dim=True, dim_arg=(1, 2))
    return store(
        result,
        (tensor,),
        device=device,
        dtype=values["dtype"],
        layout=Layout.TILE,
        memory_config=values["memory_config"],
    )


def _adaptive(values: dict[str, Any], *, largest: bool) -> Tensor:
    """Parts of the image, which may overlap, each to one number of the result."""
    tensor, image = _image_of(values)
    values = _result_type(values, tensor)
    sizes = as_pair(values["output_size"], "output_size")
    if min(sizes) < 1:
        raise ArgumentError(f"output_size has no size of 0, got {list(sizes)}")
    result = image
    for axis, size in enumerate(sizes, 1):
        extent = image.shape[axis]
        parts = [
            result.take(range(i * extent // size, -(-(i + 1) * extent // size)), axis)
            for i in range(size)
        ]
        # Means along one extent after the other are means of the whole part.
        result = np.stack(
            [part.max(axis) if largest else part.mean(axis, dtype=np.float64) for part in parts],
            axis,
        )
    return _finish_pooling(result, values, tensor)


def _adaptive_avg_pool2d(values: dict[str, Any]) -> Tensor:
    return _adaptive(values, largest=False)


def _adaptive_max_pool2d(values: dict[str, Any]) -> Tensor:
    return _adaptive(values, largest=True)


_POOL_IMAGE = "input_tensor, batch_size, input_h, input_w, channels"
_TAIL = (
    "memory_config=None, dram_slice_config, applied_shard_scheme, compute_kernel_config, "
    "deallocate_input=False, reallocate_halo_output, dtype=None, output_layout=None, "
    "config_tensor_in_dram"
)

_POOLING: dict[str, Operation] = table_of(
    Operation(
        "max_pool2d",
        _max_pool2d,
        f"{_POOL_IMAGE}, kernel_size, stride, padding, dilation=(1, 1), ceil_mode=False, *, "
        f"return_indices=False, {_TAIL}",
    ),
    Operation(
        "avg_pool2d",
        _avg_pool2d,
        f"{_POOL_IMAGE}, kernel_size, stride, padding, ceil_mode=False, count_include_pad=True, "
        f"divisor_override=None, *, {_TAIL}",
    ),
    Operation(
        "global_avg_pool2d",
        _global_avg_pool2d,
        "input_tensor, *, dtype=None, memory_config=None, compute_kernel_config",
    ),
    Operation(
        "adaptive_avg_pool2d", _adaptive_avg_pool2d, f"{_POOL_IMAGE}, output_size, *, {_TAIL}"
    ),
    Operation(
        "adaptive_max_pool2d", _adaptive_max_pool2d, f"{_POOL_IMAGE}, output_size, *, {_TAIL}"
    ),
)


# --- Resizing -------------------------------------------------------------------------------------


def as_images(values: dict[str, Any]) -> Tensor:
    """The operand; RuntimeError for what is no images (N, H, W, C)."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    if len(tensor.shape) != 4:
        raise ArgumentError(f"input_tensor has {tensor.shape}; it must be (N, H, W, C)")
    return tensor


MAX_SCALE = 1024
"""More, and a pixel would fill a core's memory."""


def _check_upsample(tensor: Tensor, mode: str) -> None:
    """ArgumentError for an image that a card does not enlarge."""
    in_tiles = tensor.layout is Layout.TILE
    if in_tiles and (mode == "bilinear" or tensor.padded_shape != tensor.shape):
        raise ArgumentError(
            "it takes an image in rows, or with whole tiles for mode='nearest'; use "
            "ttnn.to_layout(tensor, ttnn.ROW_MAJOR_LAYOUT)"
        )
    if mode == "nearest":
        return
    if tensor.dtype is not DataType.BFLOAT16:
        raise ArgumentError(
            f"mode='bilinear' takes bfloat16, not {tensor.dtype}; use ttnn.typecast"
        )
    if tensor.shape[-1] % 32:
        raise ArgumentError(
            f"mode='bilinear' takes a multiple of 32 channels, not {tensor.shape[-1]}"
        )


def _upsample(values: dict[str, Any]) -> Tensor:
    """Height and width times whole numbers."""
    tensor = as_images(values)
    common_device(tensor)
    given, mode = values["scale_factor"], values["mode"]
    if isinstance(given, float):
        if not given.is_integer() and mode == "nearest":
            return _store_resized(_repeat_nearest(tensor.array, given), tensor, values, exact=True)
        given = int(given) if given.is_integer() else given
    scales = as_pair(given, "scale_factor")
    if min(scales) < 1:
        raise ArgumentError(f"scale_factor is at least 1, got {list(scales)}")
    if mode not in KERNELS:
        raise ArgumentError(f"mode is 'nearest' or 'bilinear', not {mode!r}")
    if is_strict(tensor):
        _check_upsample(tensor, mode)
    if mode == "nearest":
        result = tensor.array.repeat(scales[0], 1).repeat(scales[1], 2)
    else:
        rows = interpolation.enlarge(array_of(tensor.array, "f64"), 1, scales[0])
        result = interpolation.enlarge(rows, 2, scales[1]).value
    return _store_resized(result, tensor, values, exact=mode == "nearest")


def _repeat_nearest(image: Array, scale: float) -> Array:
    """Height and width times a number, cut to integers."""
    if not 0 < scale < MAX_SCALE:
        raise ArgumentError(f"scale_factor is more than 0 and less than {MAX_SCALE}, got {scale}")
    for axis in (1, 2):
        extent = image.shape[axis]
        places = (np.arange(int(extent * scale)) / scale).astype(np.int64)
        image = image.take(np.minimum(places, extent - 1), axis)
    return image


def _store_resized(result: Array, tensor: Tensor, values: dict[str, Any], *, exact: bool) -> Tensor:
    return store(
        result,
        (tensor,),
        device=tensor.device(),
        memory_config=values["memory_config"],
        exact=exact,
    )


KERNELS = {"nearest": Kernel.NEAREST, "bilinear": Kernel.LINEAR}
"""How pixels around a place count, by the word for it."""


def channels_first(image: Array) -> array.Array:
    """Images (N, ..., C) as (N, C, ...), for `ttmlir.composites`."""
    return array_of(np.moveaxis(image, -1, 1), "f64")


def channels_last(image: array.Array) -> Array:
    """Images (N, C, ...) of `ttmlir.composites` as (N, ..., C)."""
    return np.moveaxis(image.value, 1, -1)


def _rotate(values: dict[str, Any]) -> Tensor:
    """The image turned counter-clockwise by an angle in degrees, in its own extents."""
    tensor = as_images(values)
    device = common_device(tensor)
    mode = values["interpolation_mode"]
    if mode not in KERNELS:
        raise ArgumentError(f"interpolation_mode is 'nearest' or 'bilinear', not {mode!r}")
    if values["expand"]:
        raise ArgumentError("expand=True is not supported; the result has the input's extents")
    _, height, width, _ = tensor.shape
    middle = ((width - 1) / 2, (height - 1) / 2)
    given = values["center"]
    x0, y0 = middle if given is None else (float(given[0]), float(given[1]))
    angle = math.radians(values["angle"])
    cosine, sine = math.cos(angle), math.sin(angle)
    whole: Array = np.indices((height, width), np.float64)
    y, x = whole
    columns = (x - x0) * cosine - (y - y0) * sine + x0
    rows = (x - x0) * sine + (y - y0) * cosine + y0
    # Angles such as 90 degrees have no exact cosine; their places are whole numbers.
    places: Array = np.round([rows, columns], 6)[:, None]
    image, rows_columns = channels_first(tensor.array), [array_of(each) for each in places]
    found = interpolation.sample_at(image, rows_columns, KERNELS[mode], values["fill"])
    return store(
        channels_last(found), (tensor,), device=device, memory_config=values["memory_config"]
    )


_RESIZING: dict[str, Operation] = table_of(
    Operation(
        "upsample",
        _upsample,
        "input_tensor, scale_factor, *, mode='nearest', memory_config=None, compute_kernel_config",
    ),
    Operation(
        "rotate",
        _rotate,
        "input_tensor, angle, *, center=None, fill=0.0, expand=False, "
        "interpolation_mode='nearest', memory_config=None",
    ),
)


OPERATIONS: dict[str, Operation] = {**_CONVOLUTION, **_POOLING, **_RESIZING}
