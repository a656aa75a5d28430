"""Verifiers of 2026: convolutions, pools and other windows of images."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.ir import Data

from ttmlir.dialects.definition.ods import refuse
from ttmlir.dialects.late_checks.verified import Shape, Verified, join, require

Pair = tuple[int, int]
Margins = tuple[int, int, int, int]


def pair(value: int | tuple[int, ...], name: str) -> Pair:
    """Height and width; the message says which parameter has other numbers."""
    if isinstance(value, int):
        return value, value
    if len(value) != 2:
        refuse(f"Expected integer or pair of integers, got tuple of size {len(value)}{name}")
    return value[0], value[1]


def _margins(value: int | tuple[int, ...], name: str) -> Margins:
    """Top, left, bottom and right."""
    if isinstance(value, int):
        return value, value, value, value
    if len(value) == 2:
        return value[0], value[1], value[0], value[1]
    if len(value) != 4:
        refuse(
            f"Expected integer, pair, or tuple of size 4, but got tuple of size {len(value)}{name}"
        )
    return value[0], value[1], value[2], value[3]


@dataclass(frozen=True)
class _Image:
    """The extents of an image, whose rows may be one dimension with the batch."""

    batch: int
    height: int
    width: int
    channels: int


def _flattened(op: Verified) -> Data[tuple[int, int, int]] | None:
    return op.get("flattened_compat_info")


def _input_image(op: Verified, start: str, end: str) -> _Image:
    """The input, whose flattened dimension is as long as its description says."""
    dims = [op.integer(name, n) for n, name in enumerate(_DIMS)]
    shape = op.shape("input")
    info = _flattened(op)
    if info is None:
        if any(not 0 <= dim < 4 for dim in dims) or len(set(dims)) != 4:
            refuse(f"the dimensions of an image are 0 to 3, each once, got {join(dims)}")
        return _Image(*(shape[dim] for dim in dims))
    batch, height, width = info.data
    product = batch * height * width
    require(
        shape[2] == product,
        f"{start} input tensor's flattened dimension ({shape[2]}) does not match the product of "
        "batch_size * input_height * input_width from FlattenedCompatInfo "
        f"({batch} * {height} * {width} = {product}){end}",
    )
    return _Image(batch, height, width, shape[3])


_DIMS = ("batch_dim", "height_dim", "width_dim", "channel_dim")


def check_ranks(op: Verified, rank: int, message: Callable[[str], str]) -> None:
    """Refuse an image, a weight, an output or a bias of another number of dimensions."""
    for name in ("input", "weight"):
        if name in op.op.form().operand_index:
            op.require_rank(name, rank, message(name))
    require(len(op.result()) == rank, message("output"))
    if "bias" in op.op.form().operand_index and op.has("bias"):
        op.require_rank("bias", rank, message("bias"))


# --- Convolution ----------------------------------------------------------------------------------


def check_conv2d(op: Verified) -> None:
    """A convolution of images, of which weight, bias and output agree."""
    check_ranks(op, 4, lambda name: f"{name} must be a 4D tensor")
    stride = pair(op.get("stride"), " for stride")
    padding = _margins(op.get("padding"), " for padding")
    dilation = pair(op.get("dilation"), " for dilation")
    require(min(stride) > 0, "Stride attribute values must be > 0.")
    require(min(dilation) > 0, "Dilation attribute values must be > 0.")
    require(min(padding) >= 0, "Padding attribute values must be >= 0.")
    image = _input_image(op, "The", ".")
    weight = op.shape("weight")
    check_channels(op, image.channels, weight)
    top, left, bottom, right = padding
    padded = (image.height + top + bottom, image.width + left + right)
    expected = positions(padded, weight[2:], stride, dilation)
    _check_convolved(op, image.batch, expected, weight[0])


def check_channels(op: Verified, channels: int, weight: Shape) -> None:
    """Groups divide channels, and the weight has those of one group."""
    groups = op.integer("groups", 1)
    require(groups > 0, "The number of groups must be > 0.")
    divided = "is not divisible by the number of groups"
    require(
        channels % groups == 0,
        f"The number of input channels from the input tensor ({channels}) {divided} ({groups}).",
    )
    require(
        weight[0] % groups == 0,
        f"The number of output channels from the weight tensor ({weight[0]}) {divided} ({groups}).",
    )
    require(
        channels // groups == weight[1],
        f"The number of input channels per group ({channels // groups}) must match the number of "
        f"input channels in the weight tensor ({weight[1]}).",
    )
    if op.has("bias"):
        bias = op.shape("bias")[-1]
        require(
            weight[0] == bias,
            f"The number of output channels from the weight tensor ({weight[0]}) must match the "
            f"number of output channels in the bias tensor ({bias}).",
        )


def positions(
    padded: tuple[int, ...], kernel: Shape, stride: tuple[int, ...], dilation: tuple[int, ...]
) -> tuple[int, ...]:
    """How many windows there are along each dimension."""
    effective = tuple(d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True))
    require(
        all(e <= p for e, p in zip(effective, padded, strict=True)),
        f"The effective kernel size ({join(effective)}) cannot be greater than the padded input "
        f"size per channel ({join(padded)}).",
    )
    return tuple((p - e) // s + 1 for p, e, s in zip(padded, effective, stride, strict=True))


def _check_convolved(op: Verified, batch: int, expected: tuple[int, ...], channels: int) -> None:
    output = op.result()
    if _flattened(op) is not None:
        product = batch * expected[0] * expected[1]
        require(
            output[2] == product,
            f"The output tensor's flattened dimension ({output[2]}) does not match the product of "
            f"batch_size * output_height * output_width ({batch} * {expected[0]} * {expected[1]} = "
            f"{product}).",
        )
        found = output[3]
    else:
        dims = [op.integer(name, n) for n, name in enumerate(_DIMS)]
        found_batch, height, width, found = (output[dim] for dim in dims)
        require(
            found_batch == batch,
            f"Batch size from the input tensor ({batch}) must match the first dimension of the "
            f"output tensor ({found_batch})",
        )
        require(
            (height, width) == expected,
            f"The output tensor height and width dimension ({height}, {width}) do not match the "
            f"expected dimensions ({join(expected)}).",
        )
    require(
        found == channels,
        f"The number of output channels from the output tensor ({found}) must match the number of "
        f"output channels in the weight tensor ({channels}). ",
    )


def check_conv1d(op: Verified) -> None:
    """A convolution along one dimension."""
    op.require_rank("input", 3, "input must be a 3D tensor")
    op.require_rank("weight", 3, "weight must be a 3D tensor (O, C/G, K)")
    require(len(op.result()) == 3, "output must be a 3D tensor")
    if op.has("bias"):
        op.require_rank("bias", 3, "bias must be a 3D tensor (1, 1, O)")
    groups, weight = op.integer("groups"), op.shape("weight")
    require(groups > 0, "groups must be a positive integer")
    dim = op.integer("channel_dim", 2)
    require(0 <= dim < 3, f"channel_dim must be 0, 1 or 2, got {dim}")
    outputs, inputs = op.result()[dim], op.shape("input")[dim]
    require(
        outputs == weight[0],
        f"expected weight's output channel dimension ({weight[0]}) to match the output tensor's "
        f"channel dimension ({outputs})",
    )
    require(
        inputs % groups == 0,
        f"number of input channels ({inputs}) must be divisible by groups ({groups})",
    )
    require(
        weight[0] % groups == 0,
        f"number of output channels ({weight[0]}) must be divisible by groups ({groups})",
    )
    require(
        weight[1] == inputs // groups,
        f"expected weight's input channel dimension ({weight[1]}) to match in_channels / groups "
        f"({inputs // groups})",
    )


def _triple(value: int | tuple[int, ...], name: str) -> tuple[int, int, int]:
    if isinstance(value, int):
        return value, value, value
    if len(value) != 3:
        refuse(f"Expected integer or array of size 3, but got array of size {len(value)}{name}")
    return value[0], value[1], value[2]


def check_conv3d(op: Verified) -> None:
    """A convolution along three dimensions."""
    for name in ("input", "weight"):
        op.require_rank(name, 5, f"{name} must be a 5D tensor")
    require(len(op.result()) == 5, "output must be a 5D tensor")
    weight = op.shape("weight")
    if op.has("bias"):
        bias = op.shape("bias")
        require(
            len(bias) == 5 and bias[:4] == (1, 1, 1, 1),
            "bias must be a 5D tensor with shape (1,1,1,1,C_out)",
        )
    stride = _triple(op.get("stride"), " for stride")
    padding = _triple(op.get("padding"), " for padding")
    dilation = op.get("dilation", 1)
    if not isinstance(dilation, int):
        require(len(dilation) == 3, f"dilation must have 3 values, got: {len(dilation)}")
    dilation = _triple(dilation, " for dilation")
    require(
        op.get("padding_mode", "zeros") in ("zeros", "replicate"),
        "padding_mode must be either 'zeros' or 'replicate'",
    )
    require(min(stride) > 0, "Stride attribute values must be > 0.")
    require(min(padding) >= 0, "Padding attribute values must be >= 0.")
    require(min(dilation) > 0, "Dilation attribute values must be > 0.")
    names = ("batch_dim", "depth_dim", "height_dim", "width_dim", "channel_dim")
    dims = [op.integer(name, n) for n, name in enumerate(names)]
    if sorted(dims) != [0, 1, 2, 3, 4]:
        refuse(f"the dimensions of an image are 0 to 4, each once, got {join(dims)}")
    batch, *extents, channels = (op.shape("input")[dim] for dim in dims)
    check_channels(op, channels, weight)
    padded = tuple(extent + 2 * margin for extent, margin in zip(extents, padding, strict=True))
    expected = positions(padded, weight[2:], stride, dilation)
    out_batch, *found, out_channels = (op.result()[dim] for dim in dims)
    require(
        batch == out_batch,
        f"Batch size from the input tensor ({batch}) must match the first dimension of the output "
        f"tensor ({out_batch})",
    )
    require(
        tuple(found) == expected,
        f"The output tensor spatial dimensions ({join(found)}) do not match the expected "
        f"dimensions ({join(expected)}).",
    )
    require(
        out_channels == weight[0],
        f"The number of output channels from the output tensor ({out_channels}) must match the "
        f"number of output channels in the weight tensor ({weight[0]}). ",
    )


def check_conv_transpose2d(op: Verified) -> None:
    """A transposed convolution."""
    check_ranks(op, 4, lambda name: f"{name.capitalize()} must be a 4D tensor")
    image = _input_image(op, "The", ".")
    dims = [op.integer(name, n) for n, name in enumerate(_DIMS)]
    output, weight = op.result(), op.shape("weight")
    flat = _flattened(op) is not None
    channels = output[3] if flat else output[dims[3]]
    if not flat:
        require(output[dims[0]] == image.batch, "Batch size of input and output tensors must match")
    stride = pair(op.get("stride"), " for stride")
    require(min(stride) > 0, "Stride values must be greater than 0")
    padding = _margins(op.get("padding"), " for padding")
    require(min(padding) >= 0, "Padding values must be greater or equal than 0")
    more = pair(op.get("output_padding"), " for output padding")
    require(min(more) >= 0, "Output padding values must be greater or equal than 0")
    dilation = pair(op.get("dilation"), " for dilation")
    require(min(dilation) > 0, "Dilation values must be greater than 0")
    check_transposed_channels(op, image.channels, channels, weight)
    top, left, bottom, right = padding
    expected = tuple(
        (extent - 1) * s - margin + d * (kernel - 1) + 1 + end
        for extent, s, margin, d, kernel, end in zip(
            (image.height, image.width),
            stride,
            (top + bottom, left + right),
            dilation,
            weight[2:],
            more,
            strict=True,
        )
    )
    require(
        min(expected) > 0,
        f"Given input size per channel: ({image.height} x {image.width}). Calculated output size "
        f"per channel: ({expected[0]} x {expected[1]}). Output size is too small",
    )
    if flat:
        product = image.batch * expected[0] * expected[1]
        require(
            output[2] == product,
            f"Mismatch between expected flattened NHW dim size. Expected: {product}, got: "
            f"{output[2]}.",
        )
        return
    found = (output[dims[1]], output[dims[2]])
    require(
        found == expected,
        "Mismatch between expected output size per channel and got output tensor dimensions. "
        f"Expected: ({expected[0]} x {expected[1]}), got: ({found[0]} x {found[1]}).",
    )


def check_transposed_channels(op: Verified, inputs: int, outputs: int, weight: Shape) -> None:
    """Groups divide channels, and weight and bias have those of one group."""
    groups = op.integer("groups", 1)
    require(groups > 0, "Number of groups must be greater than 0")
    divided = "must be divisible by the number of groups."
    require(
        inputs % groups == 0,
        f"Number of input channels from input tensor {divided} Got {inputs} input channels and "
        f"{groups} groups.",
    )
    require(
        outputs % groups == 0,
        f"Number of output channels from output tensor {divided} Got {outputs} output channels and "
        f"{groups} groups.",
    )
    require(
        inputs == weight[0],
        "Number of input channels from input tensor must match the first dimension of the weight "
        f"tensor. Got {inputs} input channels and {weight[0]} in the weight tensor.",
    )
    require(
        outputs // groups == weight[1],
        "Number of output channels per group must match the second dimension of the weight tensor. "
        f"Got {outputs // groups} output channels per group and {weight[1]} in the weight tensor.",
    )
    if op.has("bias"):
        bias = op.shape("bias")[-1]
        require(
            bias == outputs,
            f"Mismatch in bias tensor dimensions. Bias tensor has {bias} channels, but the output "
            f"tensor has {outputs} channels.",
        )


# --- Pools ----------------------------------------------------------------------------------------


def check_pool(op: Verified) -> None:
    """A window that slides over an image."""
    op.require_rank("input", 4, "input must be a 4D tensor")
    require(len(op.result()) == 4, "output must be a 4D tensor")
    kernel = pair(op.get("kernel"), " for kernel attribute")
    stride = pair(op.get("stride"), " for stride attribute")
    padding = _margins(op.get("padding"), " for padding attribute")
    dilation = pair(op.get("dilation"), " for dilation attribute")
    require(min(kernel) > 0, "kernel size attribute values must be > 0")
    require(min(stride) > 0, "stride attribute values must be > 0")
    require(min(dilation) > 0, "dilation attribute values must be > 0")
    require(min(padding) >= 0, "padding attribute values must be >= 0")
    image = _input_image(op, "the", "")
    top, left, bottom, right = padding
    padded = (image.height + top + bottom, image.width + left + right)
    effective = tuple(d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True))
    require(
        all(e <= p for e, p in zip(effective, padded, strict=True)),
        f"effective kernel size ({join(effective)}) cannot be greater than the padded input size "
        f"per channel ({join(padded)})",
    )
    sides = zip((image.height, image.width), (top, left), padded, effective, stride, strict=True)
    expected = tuple(_pooled(*side, rounds_up=op.get("ceil_mode")) for side in sides)
    _check_pooled(op, image, expected)


def _pooled(
    extent: int, before: int, padded: int, effective: int, stride: int, *, rounds_up: bool
) -> int:
    """How many windows begin inside the image; rounded up, the last may end outside."""
    count = (padded - effective) // stride + 1
    if not rounds_up:
        return count
    count = -(-(padded - effective) // stride) + 1
    return count - 1 if (count - 1) * stride >= extent + before else count


def _check_pooled(op: Verified, image: _Image, expected: tuple[int, ...]) -> None:
    output = op.result()
    channels = (
        f"number of output channels from the output tensor ({output[3]}) must match the number of "
        f"input channels ({image.channels})"
    )
    if _flattened(op) is not None:
        product = image.batch * expected[0] * expected[1]
        require(
            output[2] == product,
            f"output tensor's flattened dimension ({output[2]}) does not match the product of "
            f"batch_size * output_height * output_width ({image.batch} * {expected[0]} * "
            f"{expected[1]} = {product})",
        )
        require(output[3] == image.channels, channels)
        return
    require(
        output[0] == image.batch,
        f"batch size from the input tensor ({image.batch}) must match the first dimension of the "
        f"output tensor ({output[0]})",
    )
    require(
        output[1:3] == expected,
        f"output tensor height and width dimension ({join(output[1:3])}) do not match the expected "
        f"dimensions ({join(expected)})",
    )
    require(output[3] == image.channels, channels)


def check_pool_with_indices(op: Verified) -> None:
    """A pool that says, too, where the largest numbers are."""
    check_pool(op)
    require(op.result() == op.result(1), "Pooled values and indices must have the same shape")
    require(
        op.result_element(1).name == "integer_type",
        "Indices result must have integer element type",
    )


def check_global_avg_pool2d(op: Verified) -> None:
    """The mean over both spatial dimensions, which are kept."""
    shape, output = op.shape("input"), op.result()
    require(
        len(shape) >= 2,
        "input tensor must have at least 2 dimensions for global average pooling over 2 spatial "
        "dimensions",
    )
    require(len(shape) == len(output), "output tensor must have the same rank as input tensor")
    if len(shape) < 4:
        return
    require(output[0] == shape[0], "batch dimension must remain the same between input and output")
    require(
        output[-1] == shape[-1], "channel dimension must remain the same between input and output"
    )
    require(output[1:3] == (1, 1), "spatial dimensions must be reduced to 1")


def check_upsample(op: Verified) -> None:
    """An image, enlarged by positive factors."""
    shape, output = op.shape("input"), op.result()
    require(len(shape) == 4, f"Expected rank of input tensor is 4, got rank {len(shape)}")
    require(len(output) == 4, f"Expected rank of output tensor is 4, got rank {len(output)}")
    down, across = pair(op.get("scale_factor"), "")
    require(
        down > 0 and across > 0,
        f"Scale factors H = {down} and W = {across} must be positive integers",
    )
    for name, scale, dim, factor in (("H", "scaleH", 1, down), ("W", "scaleW", 2, across)):
        expected = shape[dim] * factor
        require(
            output[dim] == expected,
            f"Expected output {name} dimension to be input {name} dimension * {scale} = "
            f"{expected}, got {output[dim]}",
        )
    for name, dim in (("N", 0), ("C", 3)):
        require(
            output[dim] == shape[dim],
            f"Expected output {name} dimension to be {shape[dim]}, got {output[dim]}",
        )
    mode = op.get("mode")
    require(
        mode in ("nearest", "bilinear"),
        f'Expected modes are (nearest, bilinear), got "{mode}"',
    )
