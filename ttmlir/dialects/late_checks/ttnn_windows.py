"""Verifiers of 2026: convolutions and pools of ttnn, whose images have one dimension of rows."""

from __future__ import annotations

import math

from ttmlir.dialects.definition.ods import refuse
from ttmlir.dialects.late_checks.verified import Shape, Verified, join, require
from ttmlir.dialects.late_checks.windows import (
    check_channels,
    check_ranks,
    check_transposed_channels,
    pair,
    positions,
)

_Margins = tuple[int, int]


def _margins(padding: Shape) -> _Margins:
    """What is added to height and width; four numbers are top, bottom, left and right."""
    if len(padding) == 2:
        return 2 * padding[0], 2 * padding[1]
    return padding[0] + padding[1], padding[2] + padding[3]


def _image(op: Verified) -> tuple[int, int, int]:
    batch, height, width = (
        op.integer(name) for name in ("batch_size", "input_height", "input_width")
    )
    return batch, height, width


def _is_prepared(weight: Shape, kernel: Shape) -> bool:
    """True for weights in the form that the library computes with: a matrix of four dimensions."""
    return weight[:2] == (1, 1) and weight[2:] != kernel


# --- Convolution ----------------------------------------------------------------------------------


def check_ttnn_conv2d(op: Verified) -> None:
    """Parameters that agree with input, weight and output."""
    check_ranks(op, 4, lambda name: f"{name.capitalize()} must be a 4D tensor")
    _check_counts(op)
    kernel, stride, dilation = (
        pair(op.get(name), "") for name in ("kernel_size", "stride", "dilation")
    )
    padding = op.integers("padding")
    for name, given, least, rule in (
        ("Stride", stride, 1, "greater than 0"),
        ("Padding", padding, 0, "greater than or equal to 0"),
        ("Dilation", dilation, 1, "greater than 0"),
    ):
        require(
            min(given) >= least, f"{name} attribute values must be {rule}, got: ({join(given)})"
        )
    (batch, height, width), rows = _image(op), op.shape("input")[2]
    product = batch * height * width
    require(
        rows == product,
        f"The input tensor's flattened dimension ({rows}) does not match the product of "
        f"batch_size_attr * input_height_attr * input_width_attr ({batch} * {height} * {width} = "
        f"{product}).",
    )
    weight, outputs = op.shape("weight"), op.integer("out_channels")
    if not _is_prepared(weight, kernel):
        _check_weight(op, weight, kernel)
        check_channels(op, op.shape("input")[3], weight)
    more = _margins(padding)
    expected = positions((height + more[0], width + more[1]), kernel, stride, dilation)
    output, count = op.result(), batch * expected[0] * expected[1]
    require(
        output[2] == count,
        f"The output tensor's flattened dimension ({output[2]}) does not match the product of "
        f"batch_size * output_height * output_width ({batch} * {expected[0]} * {expected[1]} = "
        f"{count}).",
    )
    require(
        output[3] == outputs,
        f"The number of output channels from the output tensor ({output[3]}) must match the number "
        f"of output channels in the weight tensor ({outputs}). ",
    )


def _check_weight(op: Verified, weight: Shape, kernel: tuple[int, int]) -> None:
    outputs, inputs = op.integer("out_channels"), op.integer("in_channels")
    groups = op.integer("groups", 1)
    require(groups > 0, "The number of groups must be > 0.")
    _expect("output channels", outputs, "output channels in the weight tensor", weight[0], ".")
    require(
        inputs // groups == weight[1],
        f"Expected input channels / groups attribute ({inputs}/{groups}) = {inputs // groups} to "
        f"match the number of input channels per group in the weight tensor ({weight[1]}).",
    )
    for name, said, there in zip(("height", "width"), kernel, weight[2:], strict=True):
        _expect(f"kernel {name}", said, f"kernel {name} in the weight tensor", there, ".")


def _expect(name: str, said: int, place: str, there: int, end: str = "") -> None:
    require(
        said == there, f"Expected {name} attribute ({said}) to match the {place} ({there}){end}"
    )


def check_ttnn_conv1d(op: Verified) -> None:
    """A convolution along one dimension, whose output is an image of one row each."""
    op.require_rank("input", 3, "input must be a 3D tensor (N, L_in, C)")
    op.require_rank("weight", 3, "weight must be a 3D tensor (O, C/G, K)")
    require(len(op.result()) == 4, "output must be a 4D tensor (1, 1, N * L_out, O)")
    if op.has("bias"):
        op.require_rank("bias", 4, "bias must be a 4D tensor (1, 1, 1, O)")
    require(
        len(op.integers("padding")) == 2,
        "padding attribute must have exactly 2 elements ([pL, pR])",
    )
    groups = op.integer("groups", 1)
    require(groups > 0, "groups must be a positive integer")
    for name in ("in_channels", "out_channels"):
        require(op.integer(name) % groups == 0, f"{name} must be divisible by groups")


def check_ttnn_conv_transpose2d(op: Verified) -> None:
    """A transposed convolution, whose parameters agree with input, weight and output."""
    check_ranks(op, 4, lambda name: f"{name.capitalize()} must be a 4D tensor")
    input, output, weight = op.shape("input"), op.result(), op.shape("weight")
    inputs, outputs = op.integer("in_channels"), op.integer("out_channels")
    require(
        inputs == input[3],
        "Input channels attribute must match the last dimension of the input tensor",
    )
    require(
        outputs == output[3],
        "Output channels attribute match the last dimension of the output tensor",
    )
    image = _image(op)
    batch, height, width = image
    if input[:3] != (1, 1, batch * height * width):
        sides = zip(
            ("Batch size", "Input height", "Input width"),
            ("first", "second", "third"),
            image,
            input,
            strict=False,
        )
        for name, place, said, there in sides:
            require(
                said == there,
                f"{name} attribute must match the {place} dimension of the input tensor",
            )
    for name, least in (("stride", 1), ("padding", 0), ("output padding", 0), ("dilation", 1)):
        require(
            min(op.integers(name.replace(" ", "_"))) >= least,
            f"Attribute '{name}' contains a value less than: {least}",
        )
    kernel, padding = pair(op.get("kernel_size"), ""), op.integers("padding")
    if not _is_prepared(weight, kernel):
        check_transposed_channels(op, inputs, outputs, weight)
    if len(padding) not in (2, 4):
        refuse(f"Padding must have 4 elements. Received {len(padding)} elements.")
    stride, dilation = pair(op.get("stride"), ""), pair(op.get("dilation"), "")
    more = pair(op.get("output_padding"), "")
    # Unlike those of a convolution, the sides are above, left, below and right.
    margins = padding[0] + padding[-2], padding[1] + padding[-1]
    expected = tuple(
        (extent - 1) * s - margin + d * (k - 1) + 1 + end
        for extent, s, margin, d, k, end in zip(
            (height, width), stride, margins, dilation, kernel, more, strict=True
        )
    )
    require(
        min(expected) > 0,
        f"Given input size per channel: ({height} x {width}). Calculated output size per channel: "
        f"({expected[0]} x {expected[1]}). Output size is too small",
    )


# --- Volumes --------------------------------------------------------------------------------------

_ALIGNMENT = 32
"""The library pads channels of weights of volumes to multiples of this."""

_RAW = "a 5D tensor [O, C/G, kD, kH, kW]"
_PREPARED = "a 2D tensor [kD*kH*kW*C_in, O]"


def check_ttnn_conv3d(op: Verified) -> None:
    """A convolution of volumes, whose weights are as they are stored, or prepared as a matrix."""
    for name, shape, ranks, form in (
        ("input", op.shape("input"), (5,), "a 5D tensor [N, D, H, W, C]"),
        ("weight", op.shape("weight"), (5, 2), f"either {_RAW} (raw) or {_PREPARED} (prepared)"),
        ("result", op.result(), (5,), "a 5D tensor [N, D_out, H_out, W_out, O]"),
    ):
        require(len(shape) in ranks, f"{name} must be {form}")
    groups, outputs = op.integer("groups"), op.integer("out_channels")
    require(groups >= 1, f"groups must be >= 1, got: {groups}")
    for name, least, rule in (
        ("kernel_size", 1, ">= 1"),
        ("stride", 1, "> 0"),
        ("padding", 0, ">= 0"),
        ("dilation", 1, ">= 1"),
    ):
        given = op.integers(name)
        require(len(given) == 3, f"{name} must have 3 values, got: {len(given)}")
        require(min(given) >= least, f"{name} values must be {rule}, got: ({join(given)})")
    mode = op.get("padding_mode")
    require(
        mode in ("zeros", "replicate"),
        f"padding_mode must be 'zeros' or 'replicate', got: {mode}",
    )
    require(
        outputs % groups == 0, f"out_channels ({outputs}) must be divisible by groups ({groups})"
    )
    _check_volume_weight(op)
    if op.has("bias"):
        bias = op.shape("bias")
        require(len(bias) == 2, "bias must be a 2D tensor [1, O]")
        require(bias[0] == 1, f"bias first dimension must be 1, got {bias[0]}")
        require(
            bias[1] == outputs,
            f"bias output channels ({bias[1]}) must match weight output channels ({outputs})",
        )
    _check_volume_result(op)


def _check_volume_weight(op: Verified) -> None:
    weight, kernel = op.shape("weight"), op.integers("kernel_size")
    inputs = op.integer("in_channels")
    if len(weight) == 2:
        flattened = math.prod(kernel) * inputs
        require(
            weight[0] == flattened,
            f"weight flattened dimension ({weight[0]}) must equal kD*kH*kW*C_in ({flattened})",
        )
        return
    require(
        weight[2:] == kernel,
        f"weight kernel dimensions ({join(weight[2:])}) must match kernel_size ({join(kernel)})",
    )
    groups = op.integer("groups")
    aligned = -(-weight[1] * groups // _ALIGNMENT) * _ALIGNMENT
    require(
        inputs == aligned,
        f"in_channels ({inputs}) must equal the weight's input channels per group ({weight[1]}) * "
        f"groups ({groups}) aligned to {_ALIGNMENT} ({aligned})",
    )


def _check_volume_result(op: Verified) -> None:
    output, batch = op.result(), op.integer("batch_size")
    require(
        output[0] == batch,
        f"output batch size ({output[0]}) must match input batch size ({batch})",
    )
    sides = ("depth", "height", "width")
    names = ("kernel_size", "stride", "padding", "dilation")
    windows = zip(*(op.integers(name) for name in names), strict=True)
    for side, found, (kernel, stride, padding, dilation) in zip(
        sides, output[1:4], windows, strict=True
    ):
        extent = op.integer(f"input_{side}") + 2 * padding - dilation * (kernel - 1) - 1
        calculated = extent // stride + 1
        require(
            found == calculated,
            f"output {side} ({found}) does not match calculated {side} ({calculated})",
        )
    weight = op.shape("weight")
    channels = weight[0] if len(weight) == 5 else op.integer("out_channels")
    require(
        output[4] == channels,
        f"output channels ({output[4]}) must match weight output channels ({channels})",
    )


# --- Preparation ----------------------------------------------------------------------------------


def check_prepared_weights(op: Verified) -> None:
    """Weights of a convolution, whose extents are those of the parameters."""
    weight, groups = op.shape("weight_tensor"), op.integer("groups", 1)
    inputs, outputs = op.integer("in_channels"), op.integer("out_channels")
    require(len(weight) == 4, "Weight must be a 4D tensor")
    require(groups > 0, "The number of groups must be > 0.")
    if "mirror_kernel" in {parameter.name for parameter in op.op.form().properties}:
        order, first, second = "IOHW", ("input", inputs), ("output", outputs)
    else:
        order, first, second = "OIHW", ("output", outputs), ("input", inputs)
    require(
        op.get("weights_format") == order, f"Only `{order}` weights format is currently supported"
    )
    _expect(f"{first[0]} channels", first[1], "first dimension of the weight tensor", weight[0])
    require(
        second[1] // groups == weight[1],
        f"Expected {second[0]} channels attribute ({second[1]}) to match the number of {second[0]} "
        f"channels per group ({weight[1]})",
    )
    kernel = op.integers("kernel_size")
    require(len(kernel) == 2, "Expected kernel size attribute to be a 2D tensor")
    _expect("kernel height", kernel[0], "third dimension of the weight tensor", weight[2])
    _expect("kernel width", kernel[1], "fourth dimension of the weight tensor", weight[3])
    for name, counts in (("stride", (2,)), ("dilation", (2,)), ("padding", (2, 4))):
        require(len(op.integers(name)) in counts, f"Expected {name} attribute to be a 2D tensor")


def check_prepared_bias(op: Verified) -> None:
    """The bias of a convolution."""
    bias, outputs = op.shape("bias_tensor"), op.integer("out_channels")
    require(len(bias) == 4, "Bias must be a 4D tensor")
    _expect("output channels", outputs, "number of output channels in the bias tensor", bias[3])
    _check_counts(op)


def _check_counts(op: Verified) -> None:
    """Two numbers for height and width, or four where each side has its own."""
    rules = (
        ("kernel_size", "Kernel size", "two values", (2,)),
        ("stride", "Stride", "two values", (2,)),
        ("padding", "Padding", "two or four values", (2, 4)),
        ("dilation", "Dilation", "two values", (2,)),
    )
    for name, shown, wanted, counts in rules:
        count = len(op.integers(name))
        require(count in counts, f"{shown} attribute must have {wanted}, got: {count}")


def check_prepared_weights_3d(op: Verified) -> None:
    """Weights of a convolution of volumes as a matrix, whose blocks of channels are aligned."""
    weight, output = op.shape("weight_tensor"), op.result()
    require(len(weight) == 5, "Weight must be a 5D tensor")
    require(len(output) == 2, "Result must be a 2D tensor")
    groups, alignment = op.integer("groups", 1), op.integer("alignment")
    require(groups > 0, "Groups must be positive")
    require(alignment > 0, "Alignment must be positive")
    channels, *kernel = weight[1:]
    aligned = -(-channels * groups // alignment) * alignment
    flattened = kernel[0] * kernel[1] * kernel[2] * aligned
    require(
        output[0] == flattened,
        f"Expected result first dimension ({output[0]}) to match prepared conv3d weight flattened "
        f"dimension ({flattened})",
    )
    block = op.integer("c_in_block")
    require(
        block == 0 or aligned % block == 0,
        f"C_in_block ({block}) must divide aligned input channels ({aligned})",
    )
    require(
        output[1] == weight[0],
        f"Expected result second dimension ({output[1]}) to match output channels ({weight[0]})",
    )


# --- Pools ----------------------------------------------------------------------------------------


def check_ttnn_pool(op: Verified) -> None:
    """A window that slides over images of which all rows are one dimension."""
    name, padding = op.op.name, op.integers("padding")
    if len(padding) not in (2, 4):
        refuse(f"Padding must have 2 or 4 elements. Received {len(padding)} elements.")
    shape, image, channels = op.shape("input"), _image(op), op.integer("channels")
    kernels = pair(op.get("kernel_size"), " for kernel_size")
    sides = zip(("height", "width"), kernels, image[1:], _margins(padding), strict=True)
    for side, kernel, extent, margin in sides:
        require(
            kernel <= extent + margin,
            f"Kernel {side} {kernel} is greater than input {side} {extent}. This {name} "
            "configuration is invalid.",
        )
    require(
        len(shape) == 4,
        f"Input tensor rank must be 4. Received input with rank {len(shape)}. Shape: "
        f"({join(shape)}).",
    )
    require(
        shape[:2] == (1, 1),
        f"{name} input must be in the form (1, 1, N*H*W, C). Received shape ({join(shape)}).",
    )
    batch, height, width = image
    require(
        shape[2] == batch * height * width,
        f"{name} shape ({join(shape)}) at dim -2 must be equal to N*H*W. However the attributes "
        f"given are N={batch}, H={height}, W={width}. {batch}*{height}*{width} != {shape[2]}.",
    )
    require(
        shape[3] == channels,
        f"{name} shape ({join(shape)}) at dim -3 must be equal to C. However the attribute given "
        f"is C={channels}. {shape[3]} != {channels}",
    )
