"""Verifiers of 2026: elementwise operations, reductions, products and norms."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import bf16, f16, f32
from xdsl.ir import Attribute

from ttmlir.dialects.definition.ods import refuse
from ttmlir.dialects.definition.table_ops import broadcast_pair, shape_of
from ttmlir.dialects.late_checks.verified import (
    Shape,
    Verified,
    is_float,
    is_integer,
    join,
    require,
    spell,
)
from ttmlir.dialects.quant import UniformType
from ttmlir.optable import is_activation


def check_elementwise(op: Verified) -> None:
    """Operands broadcast against each other, and the result has the shape that follows."""
    found: Shape = ()
    for value in op.op.operands:
        shape = shape_of(value)
        pair = broadcast_pair(found, shape)
        if pair is None:
            refuse(
                f"operand shape ({join(shape)}) is not broadcast compatible with inferred operand "
                f"shapes ({join(found)})"
            )
        found = pair
    require(
        found == op.result(),
        f"result shape ({join(op.result())}) doesn't match expected shape after broadcasting "
        f"({join(found)})",
    )


def check_pow_scalar(op: Verified) -> None:
    """An exponent that is not negative."""
    exponent = op.get("rhs")
    require(isinstance(exponent, int | float), "exponent must be an integer or float attribute.")
    require(exponent >= 0, f"exponent must be non-negative; but got {exponent}")


def check_reduced_precision(op: Verified) -> None:
    """Floating-point numbers rounded: an exponent of one bit or more, a type that stays."""
    for name, least, rule in (
        ("exponent_bits", 1, "whose minimum value is 1"),
        ("mantissa_bits", 0, "whose value is non-negative"),
    ):
        require(
            op.integer(name) >= least,
            f"attribute '{name}' failed to satisfy constraint: 32-bit signed integer attribute "
            f"{rule}",
        )
    elements = op.element("input"), op.result_element()
    types = op.value("input").type, op.op.results[0].type
    for kind, element, type in zip(("operand", "result"), elements, types, strict=True):
        require(
            element in (f32, bf16, f16),
            f"{kind} #0 must be ranked tensor of 32-bit float or bfloat16 type or 16-bit float "
            f"values, but got {spell(type)}",
        )
    verb = "failed to verify that all of {input, result} have same"
    require(op.shape("input") == op.result(), f"{verb} shape")
    require(elements[0] == elements[1], f"{verb} element type")


def check_bitcast(op: Verified) -> None:
    """Numbers of as many bits, each in its place."""
    check_elementwise(op)
    elements = (op.element("input"), op.result_element())
    for side, element in zip(("Input", "Output"), elements, strict=True):
        require(
            is_integer(element) or is_float(element),
            f"{side} tensor type must be an integer or floating point type",
        )
    widths = {getattr(element, "bitwidth", None) for element in elements}
    require(len(widths) == 1, "Input and output tensor element types must have the same bit width")


def check_shift(op: Verified) -> None:
    """Integers shifted."""
    if op.op.name.startswith("ttir."):
        check_elementwise(op)
    left, right = (value for value in op.op.operands)
    sides = {"Left operand": left, "Right operand": right, "Output": op.op.results[0]}
    for side, value in sides.items():
        element = getattr(value.type, "element_type", value.type)
        require(
            is_integer(element), f"{side} element type must be integer, but got {spell(element)}"
        )


def check_clamp_scalar(op: Verified) -> None:
    """The shape of the input."""
    require(op.shape("input") == op.result(), "input and output must have same shape.")


def check_clamp_tensor(op: Verified) -> None:
    """Bounds that broadcast to the output."""
    for side in ("Min", "Max"):
        shape = op.shape(side.lower())
        require(
            broadcast_pair(shape, op.result()) is not None,
            f"{side} attribute shape ({join(shape, ',')}) cannot be broadcasted to output shape "
            f"({join(op.result(), ',')}).",
        )


def check_gelu_backward(op: Verified) -> None:
    """A gradient and a tensor of as many dimensions, two to four."""
    if op.op.name.startswith("ttir."):
        check_elementwise(op)
    approximate = op.get("approximate")
    require(
        approximate in ("none", "tanh"),
        f"approximate attribute must be either 'none' or 'tanh', but got '{approximate}'",
    )
    gradient, input = (len(shape_of(value)) for value in op.op.operands)
    require(
        2 <= gradient <= 4,
        f"gradient tensor (lhs) must have rank 2, 3, or 4, but got rank {gradient}",
    )
    require(2 <= input <= 4, f"input tensor (rhs) must have rank 2, 3, or 4, but got rank {input}")
    require(
        gradient == input,
        "gradient tensor (lhs) and input tensor (rhs) must have the same rank, but got lhs rank "
        f"{gradient} and rhs rank {input}",
    )
    result = len(op.result())
    require(2 <= result <= 4, f"result tensor must have rank 2, 3, or 4, but got rank {result}")
    require(
        result == input,
        "input tensors and result tensor must have the same rank, but got input rank "
        f"{input} and result rank {result}",
    )


# --- Reductions -----------------------------------------------------------------------------------


def check_reduction(op: Verified) -> None:
    """Dimensions of the input, each once, and the shape that is left."""
    shape, dims = op.shape("input"), op.get("dim_arg")
    rank = len(shape)
    for dim in dims or ():
        require(
            -rank <= dim < rank,
            f"Reduce dimension {dim} is out of range for input tensor of rank {rank}",
        )
    expected = _reduced(shape, dims, keeps=op.get("keep_dim"))
    require(
        expected == op.result(),
        f"Expected output shape ({join(expected)}), got ({join(op.result())})",
    )


def _reduced(shape: Shape, dims: Sequence[int] | None, *, keeps: bool) -> Shape:
    """The shape that a reduction leaves; no list of dimensions means all."""
    rank = len(shape)
    reduced = range(rank) if dims is None else [dim + rank if dim < 0 else dim for dim in dims]
    require(len(set(reduced)) == len(reduced), "Reduce dimensions are not unique")
    return tuple(
        1 if dim in reduced else extent
        for dim, extent in enumerate(shape)
        if keeps or dim not in reduced
    )


def check_ttnn_argmax(op: Verified) -> None:
    """A dimension of the input, or all of them."""
    shape, dim = op.shape("input"), op.get("dim")
    rank = len(shape)
    if dim is not None:
        require(
            -rank <= dim < rank,
            f"dim attribute value {dim} is out of range for input tensor of rank {rank}, expected "
            f"value in range [{-rank}, {rank - 1}]",
        )
    expected = _reduced(shape, None if dim is None else (dim,), keeps=op.get("keep_dim"))
    require(
        expected == op.result(),
        f"expected output shape ({join(expected)}), got ({join(op.result())})",
    )


def check_ttnn_reduction(op: Verified) -> None:
    """The shape that is left; dimensions that the input lacks leave all of it."""
    expected = _reduced(op.shape("input"), op.get("dim_arg"), keeps=op.get("keep_dim"))
    require(
        expected == op.result(),
        f"Expected output shape ({join(expected)}), got ({join(op.result())})",
    )


def check_ttnn_product(op: Verified) -> None:
    """At most four dimensions."""
    require(op.rank("input") <= 4, "Input tensor rank is greater than 4 for reduce(product).")


def check_cumulative(op: Verified) -> None:
    """A dimension of the input, and of the general form a reduction that it has."""
    reduction = op.get("reduction")
    if reduction is not None:
        kind = reduction.data.keyword
        require(
            kind in ("max", "min", "logsumexp"),
            f"reduction must be max, min or logsumexp, but got: {kind}",
        )
    rank, dim = op.rank("input"), op.get("dim")
    require(
        -rank <= dim < rank,
        f"specified dimension should be between {-rank} and {rank - 1}, but got: {dim}",
    )


# --- Products -------------------------------------------------------------------------------------


def check_matmul(op: Verified) -> None:
    """The columns of `a` are the rows of `b`, and batches broadcast."""
    _check_product(op, None)


def check_linear(op: Verified) -> None:
    """A product whose shape the bias broadcasts to."""
    bias = op.shape("bias") if op.has("bias") else None
    _check_product(op, bias)


def _check_product(op: Verified, bias: Shape | None) -> None:
    a, b = op.shape("a"), op.shape("b")
    activation = op.get("activation")
    require(
        not activation or is_activation(activation),
        f"computes the activation '{activation}', which is no function of one tensor alone, such "
        "as relu, gelu or silu",
    )
    require(bool(a), "Input A must be at least a 1D tensor")
    require(bool(b), "Input B must be at least a 1D tensor")
    left = (1, *a) if len(a) == 1 else _turned(a, turns=op.get("transpose_a", False))
    right = (*b, 1) if len(b) == 1 else _turned(b, turns=op.get("transpose_b", False))
    require(
        left[-1] == right[-2],
        f"Input A[-1]({left[-1]}) and B[-2]({right[-2]}) must have matching inner dimensions",
    )
    batches = broadcast_pair(left[:-2], right[:-2])
    if batches is None:
        refuse(
            f"Batch dimensions of input A({join(left[:-2], ',')}) and B({join(right[:-2], ',')}) "
            "are not broadcast compatible"
        )
    expected = (
        *batches,
        *((left[-2],) if len(a) > 1 else ()),
        *((right[-1],) if len(b) > 1 else ()),
    )
    if bias is not None:
        require(bool(bias), "Bias must be at least a 1D tensor")
        pair = broadcast_pair(expected, bias)
        if pair is None:
            refuse(
                f"Bias shape({join(bias, ',')}) is not broadcast compatible with the matmul output "
                f"shape({join(expected, ',')})"
            )
        if op.op.name.startswith("ttnn."):
            _check_biased(op.result(), pair, expected)
            return
        expected = pair
    if "ttnn.fused_swiglu" in op.op.attributes:
        require(expected[-1] % 2 == 0, "SwiGLU matmul requires an even output width")
        expected = (*expected[:-1], expected[-1] // 2)
    _check_product_shape(op.result(), expected)


def _check_biased(output: Shape, biased: Shape, product: Shape) -> None:
    """The library's bias may be added to a product whose shape it has not."""
    require(
        output in (biased, product),
        f"Output shape({join(output, ',')}) must match the broadcasted shape({join(biased, ',')})"
        + (f" or the matmul output shape({join(product, ',')})" if product != biased else ""),
    )


def _turned(shape: Shape, *, turns: bool) -> Shape:
    """A matrix, transposed."""
    return (*shape[:-2], shape[-1], shape[-2]) if turns else shape


def _check_product_shape(output: Shape, expected: Shape) -> None:
    if not expected:
        require(bool(output), "Scalar output is not supported, output must be at least a 1D tensor")
        require(output == (1,), "Scalar output must be a 1D tensor of size 1")
        return
    require(
        len(output) == len(expected),
        f"Output shape rank({len(output)}) must match the expected output shape "
        f"rank({len(expected)})",
    )
    for dim, (there, rule) in enumerate(zip(output, expected, strict=True)):
        require(
            there == rule,
            f"Output shape dimension[{dim}]({there}) doesn't match the expected output shape "
            f"dimension[{dim}]({rule})",
        )


_MODES = {
    (True, True): ("sparse-sparse", 4, "1, E, M, N"),
    (False, True): ("dense-sparse", 6, "A, B, 1, E, M, N"),
    (True, False): ("sparse-dense", 4, "A, E, M, N"),
}
"""By which operands are sparse: the name of the mode, the output's dimensions and their names."""


def check_sparse_matmul(op: Verified) -> None:
    """Products of a stack of matrices, of which some are left out."""
    a, b, sparsity, output = op.shape("a"), op.shape("b"), op.shape("sparsity"), op.result()
    sparse = (op.get("is_input_a_sparse"), op.get("is_input_b_sparse"))
    require(len(a) >= 4, "Input A must be at least a 4D tensor")
    require(len(b) == 4, "Input B must be a 4D tensor [1, E, K, N]")
    require(len(sparsity) == 4, "Sparsity tensor must be a 4D tensor")
    require(any(sparse), "At least one of is_input_a_sparse or is_input_b_sparse must be true")
    require(op.get("nnz") is None or op.get("nnz") > 0, "nnz must be greater than 0 when set")
    require(b[0] == 1, "Input B first dimension must be 1")
    require(a[-1] == b[2], "Input A inner dimension must match Input B K dimension")
    require(
        sparsity[-1] == b[1],
        "Sparsity tensor last dimension must match number of experts in Input B",
    )
    mode, rank, names = _MODES[sparse]
    require(len(output) == rank, f"Output must be {rank}D for {mode} mode")
    extents = {"1": 1, "A": a[0], "B": a[1], "E": b[1], "M": a[-2], "N": b[3]}
    require(
        output == tuple(extents[name] for name in names.split(", ")),
        f"Output shape must be [{names}] for {mode} mode",
    )


# --- Norms ----------------------------------------------------------------------------------------


def check_softmax(op: Verified) -> None:
    """A dimension of the input, whose shape the output has."""
    shape, dim = op.shape("input"), op.get("dimension")
    require(shape == op.result(), "Input and output shapes must be the same")
    require(
        -len(shape) <= dim < len(shape),
        "Dimension attribute must be within the bounds of the input tensor",
    )


def check_norm(op: Verified) -> None:
    """The last dimensions of the input, over which weight and bias lie."""
    shape, normalized = op.shape("input"), op.get("normalized_shape")
    require(shape == op.result(), "input and output must have the same shape")
    require(bool(normalized), "normalized_shape cannot be empty")
    require(len(normalized) <= len(shape), "normalized_shape has more dimensions than input tensor")
    require(
        shape[len(shape) - len(normalized) :] == normalized,
        "normalized_shape dimensions must match trailing dimensions of input tensor",
    )
    for name in ("weight", "bias"):
        require(
            not op.has(name) or op.shape(name) == normalized,
            f"{name} tensor shape must match normalized_shape",
        )


def check_ttnn_norm(op: Verified) -> None:
    """Weight and bias along the last dimension."""
    shape = op.shape("input")
    require(shape == op.result(), "input and output must have the same shape")
    _check_last(op, shape, ("weight", "bias"))
    if op.has("residual_input"):
        require(
            op.shape("residual_input") == shape,
            "residual_input tensor must have the same shape as input",
        )


def _check_last(op: Verified, shape: Shape, names: tuple[str, ...]) -> None:
    for name in names:
        if not op.has(name):
            continue
        if not shape:
            require(not op.shape(name), f"{name} tensor must be 0D for 0D input tensor")
            continue
        require(
            op.shape(name) == shape[-1:],
            f"{name} tensor must be 1D with size matching the last dimension of input",
        )


def check_group_norm(op: Verified) -> None:
    """Groups of channels, of which each has as many."""
    shape, groups = op.shape("input"), op.get("num_groups")
    require(len(shape) >= 4, f"input must be at least a 4D tensor, got rank {len(shape)}")
    require(shape == op.result(), "input and output must have the same shape")
    require(groups > 0, f"num_groups must be positive, got {groups}")
    dim = op.integer("channel_dim", len(shape) - 1)
    require(
        0 <= dim < len(shape),
        f"channel_dim must be in range [0, rank), got {dim} for rank {len(shape)}",
    )
    channels = shape[dim]
    require(
        channels % groups == 0,
        f"channel dimension (dim {dim}) must be divisible by num_groups; got C={channels}, "
        f"num_groups={groups}",
    )
    for name in ("weight", "bias"):
        require(
            not op.has(name) or op.shape(name) == (channels,),
            f"{name} must be 1D with size matching channel dimension C={channels}",
        )


def check_ttnn_group_norm(op: Verified) -> None:
    """Groups of channels of an image whose rows are one dimension."""
    shape, groups = op.shape("input"), op.get("num_groups")
    require(shape == op.result(), "input and output must have the same shape")
    require(len(shape) == 4, f"input must be a 4D tensor [N, 1, H*W, C], got rank {len(shape)}")
    require(
        shape[1] == 1,
        f"input second dimension must be 1 for shape [N, 1, H*W, C], got {shape[1]}",
    )
    require(groups > 0, f"num_groups must be positive, got {groups}")
    channels = shape[3]
    require(
        channels % groups == 0,
        f"channel dimension (last dim) must be divisible by num_groups; got C={channels}, "
        f"num_groups={groups}",
    )
    require(
        not op.has("input_mask") or channels % 32 == 0,
        "input_mask is not supported when channel dimension is not tile-aligned (multiple of 32); "
        f"got C={channels}",
    )
    for name in ("weight", "bias"):
        if not op.has(name):
            continue
        given = op.shape(name)
        require(
            len(given) in (1, 4),
            f"{name} must be either 1D [C] or 4D [1,1,C/32,32], got rank {len(given)}",
        )
        if len(given) == 1:
            require(
                given == (channels,),
                f"{name} must be 1D with size matching channel dimension C={channels}",
            )
        else:
            require(
                given == (1, 1, channels // 32, 32),
                f"{name} must be either 1D [C] or 4D [1,1,C/32,32]",
            )


def check_batch_norm(op: Verified) -> None:
    """A dimension of an input of two to five."""
    rank, dim = op.rank("operand"), op.get("dimension")
    require(2 <= rank <= 5, f"input tensor must have rank between 2 and 5, got rank {rank}")
    require(
        0 <= dim < rank,
        f"dimension attribute must be within input rank bounds, got dimension {dim} for rank "
        f"{rank}",
    )


def check_ttnn_batch_norm(op: Verified) -> None:
    """Tensors of four dimensions."""
    names = {
        "input": "Input",
        "running_mean": "Running mean",
        "running_var": "Running variance",
        "weight": "Weight",
        "bias": "Bias",
    }
    for name, shown in names.items():
        require(not op.has(name) or op.rank(name) == 4, f"{shown} tensor must have rank 4")


def check_distributed_norm(op: Verified) -> None:
    """A norm over the devices along an axis of the mesh."""
    shape = op.shape("input")
    require(shape == op.result(), "output shape must match input shape")
    require(op.get("cluster_axis") in (0, 1), "cluster_axis must be 0 or 1")
    require(op.get("epsilon") > 0.0, "epsilon must be positive")
    for name in ("weight", "bias"):
        require(
            not op.has(name) or op.shape(name)[-1:] == shape[-1:],
            f"{name} tensor's last dimension must match input's last dimension",
        )
    require(
        not op.has("residual") or op.shape("residual") == shape,
        "residual tensor shape must match input tensor shape",
    )


def _check_statistics(op: Verified, name: str, ranks: str) -> Shape:
    """A sum of squares or more, of each row: dimensions of the input but for the last."""
    shape, output = op.shape("input"), op.result()
    require(len(shape) >= 2, f"input tensor must have rank {ranks}")
    require(
        len(shape) == len(output),
        "input and output must have the same rank"
        if name == "residual_input"
        else "input rank must match the output rank",
    )
    for dim, (there, rule) in enumerate(zip(output[:-1], shape, strict=False)):
        require(
            there == rule, f"output dimension {dim} ({there}) must match input dimension ({rule})"
        )
    require(
        not op.has(name) or op.shape(name) == shape,
        "residual_input shape must match input shape"
        if name == "residual_input"
        else "residual tensor shape must match the input tensor shape",
    )
    return output


def check_layer_norm_statistics(op: Verified) -> None:
    """Sums and sums of squares, a tile each."""
    output = _check_statistics(op, "residual_input", ">= 2")
    require(
        output[-1] == 64,
        "output last dimension must be 64 (2 * TILE_WIDTH) for layernorm partial statistics, got "
        f"{output[-1]}",
    )


def check_rms_norm_statistics(op: Verified) -> None:
    """Sums of squares."""
    _check_statistics(op, "residual", "greater than 1")


def check_ttnn_distributed_rms_norm(op: Verified) -> None:
    """A norm over the devices along an axis of the mesh, whose weight may lie in tiles."""
    shape = op.shape("input")
    require(op.get("cluster_axis") in (0, 1), "cluster_axis must be 0 or 1")
    require(shape == op.result(), "output shape must match input shape")
    require(
        not op.has("weight") or prod(op.shape("weight")) == shape[-1],
        "weight tensor total elements must match input's last dimension",
    )
    require(op.get("epsilon") > 0.0, "epsilon must be positive")
    require(
        not op.has("residual") or op.shape("residual") == shape,
        "residual tensor shape must match input tensor shape",
    )


def check_adamw(op: Verified) -> None:
    """Tensors of one shape, and numbers of one element; results have the types of what they
    replace."""
    shape = op.shape("param")
    names = ["grad", "exp_avg", "exp_avg_sq"]
    has_max = op.has("max_exp_avg_sq")
    for name in [*names, *(["max_exp_avg_sq"] if has_max else [])]:
        require(op.shape(name) == shape, f"{name} must have the same shape as param")
    for name in ("lr", "beta1_pow", "beta2_pow"):
        single = all(extent == 1 for extent in op.shape(name))
        require(
            single and spell(op.element(name)) == "'f32'",
            f"{name} must be a single-element f32 tensor",
        )
    if not op.op.results:
        return
    require(
        has_max == (len(op.op.results) > 3),
        "max_exp_avg_sq and max_exp_avg_sq_out must both be present or both be absent",
    )
    replaced = ["param", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"][: len(op.op.results)]
    for name, result in zip(replaced, op.op.results, strict=True):
        require(op.value(name).type == result.type, f"{name}_out type must match {name}")


# --- Quantization ---------------------------------------------------------------------------------


_SHAPE = {"ttir": "inferred shape", "ttnn": "input tensor shape"}


def check_quantization(op: Verified) -> None:
    """The shape of the input, and a quantized type on one side or both."""
    input, output = op.shape("input"), op.result()
    kind = op.op.name.partition(".")[2].removesuffix("_unrolled")
    _check_quantized(op, kind)
    require(
        len(input) == len(output),
        f"Input tensor rank of {len(input)} does not match the output tensor rank of {len(output)}",
    )
    require(
        input == output,
        f"Output tensor shape ({join(output, ',')}) must match the {_SHAPE[op.op.name[:4]]}: "
        f"({join(input, ',')})",
    )
    for element in (op.element("input"), op.result_element()):
        _check_axis(input, element)
    axis = op.get("axis")
    require(
        axis is None or 0 <= axis < len(input),
        f"Axis value {axis} is out of the range [0, {len(input)}) for the input tensor of rank "
        f"{len(input)}",
    )


def _check_quantized(op: Verified, kind: str) -> None:
    before, after = op.element("input"), op.result_element()
    one_of = "UniformQuantizedType or UniformQuantizedPerAxisType"
    if kind == "quantize":
        require(
            spell(before).startswith(("'f", "'bf")),
            f"Input element type must be float, but got {spell(before)}",
        )
    elif kind != "requantize" or op.op.name.startswith("ttir."):
        require(
            _is_quantized(before),
            f"Input element type must be {one_of}, but got {spell(before)}",
        )
    if kind == "dequantize":
        require(
            spell(after).startswith(("'f", "'bf")),
            f"Output element type must be float, but got {spell(after)}",
        )
    elif kind != "requantize" or op.op.name.startswith("ttir."):
        require(
            _is_quantized(after),
            f"Output element type must be {one_of}, but got {spell(after)}",
        )
    if kind == "requantize" and isinstance(before, UniformType) and isinstance(after, UniformType):
        require(
            (before.data.axis is None) == (after.data.axis is None),
            "Input and output element types must both be per-axis or both be per-tensor quantized "
            f"types, but got {spell(before)} and {spell(after)}",
        )


def _is_quantized(element: Attribute) -> bool:
    return element.name.startswith("quant.")


def _check_axis(shape: Shape, element: Attribute) -> None:
    if not isinstance(element, UniformType) or element.data.axis is None:
        return
    axis, count = element.data.axis, len(element.data.scales)
    require(
        axis < len(shape),
        f"Axis value {axis} is out of the range [0, {len(shape)}) for the input tensor of rank "
        f"{len(shape)}",
    )
    require(
        count == shape[axis],
        f"Number of scales ({count}) does not match the size of the quantized axis ({shape[axis]})",
    )
