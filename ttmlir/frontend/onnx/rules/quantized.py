"""Operators on integers that onnxruntime's quantizers write beside those of the standard."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ttmlir.arrays.array import Array, concatenate
from ttmlir.arrays.carriers import array_of
from ttmlir.composites import indexing, normalization
from ttmlir.composites.quantization import Quantization, dequantize
from ttmlir.frontend.onnx.call import Call, Rule
from ttmlir.frontend.onnx.elements import Tensor
from ttmlir.frontend.onnx.rules import quantization, recurrent, window
from ttmlir.frontend.onnx.rules.attention import attend_to_itself
from ttmlir.frontend.onnx.rules.fused import attribute, channels_first, channels_last


def _number(call: Call, name: str, x: Array) -> Array:
    """A scale or a zero point of all elements."""
    given = call.array(name).cast("f32")
    return given.reshape((1,) * x.rank) if given.rank < 2 else given


def _value(call: Call, name: str, scale: str, zero: str) -> Array:
    """The numbers that integers stand for."""
    x = call.array(name).cast("f32")
    zeros = _number(call, zero, x) if call.has(zero) else (0,)
    return dequantize(x, Quantization("f32", 0, 0, _number(call, scale, x), zeros))


def _round(call: Call, x: Array, like: str, scale: str, zero: str) -> Tensor:
    """Numbers as integers of the type of a zero point, or of an input."""
    name = call.tensor(zero if call.has(zero) else like).type
    point = _number(call, zero, x) if call.has(zero) else None
    return quantization.round_to_type(x / _number(call, scale, x), name, point)


def _on_two(function: Callable[[Array, Array], Array]) -> Rule:
    def rule(call: Call) -> Tensor:
        a, b = (_value(call, each, f"{each}_scale", f"{each}_zero_point") for each in ("A", "B"))
        return _round(call, function(a, b), "A", "C_scale", "C_zero_point")

    return rule


def _on_one(function: Callable[[Call, Array], Array]) -> Rule:
    def rule(call: Call) -> Tensor:
        found = function(call, _value(call, "X", "X_scale", "X_zero_point"))
        return _round(call, found, "X", "Y_scale", "Y_zero_point")

    return rule


def _leaky_relu(call: Call, x: Array) -> Array:
    return (x < 0).where(x * float(attribute(call, "alpha", 0.01)), x)


def _softmax(call: Call, x: Array) -> Array:
    dim = call.dim(x.rank, default=-1)
    if int(attribute(call, "opset", 13)) >= 13:
        return normalization.softmax(x, dim)
    flat = x.reshape((math.prod(x.shape[:dim]), math.prod(x.shape[dim:])))
    return normalization.softmax(flat, 1).reshape(x.shape)


def _reduce_mean(call: Call, x: Array) -> Array:
    axes = call["axes"] or range(x.rank)
    return x.mean(*call.dims(x.rank, tuple(axes)), keep=bool(attribute(call, "keepdims", 1)))


def _image(call: Call, x: Array) -> Array:
    return channels_first(x) if call["channels_last"] else x


def _back(call: Call, x: Array) -> Array:
    return channels_last(x) if call["channels_last"] else x


def _global_average(call: Call, x: Array) -> Array:
    image = _image(call, x)
    return _back(call, image.mean(*range(2, image.rank)))


def _average(call: Call, x: Array) -> Array:
    inner = call.with_defaults(auto_pad="NOTSET", ceil_mode=0, count_include_pad=0)
    image = Tensor(_image(call, x), "FLOAT")
    return _back(call, window.RULES["AveragePool"](replace(inner, inputs={"X": image})))


def _concatenate(call: Call) -> Tensor:
    """Tensors with scales and zero points of their own as one with the result's."""
    values = [each for each in call.sequence("inputs") if isinstance(each, Tensor)]
    if not values or len(values) % 3:
        call.refuse("its inputs have to be tensors, each with its scale and its zero point")
    arrays = [call.use(each.array) for each in values]
    parts = [
        dequantize(
            x.cast("f32"),
            Quantization("f32", 0, 0, scale.cast("f32").reshape(()), zero.cast("f32").reshape(())),
        )
        for x, scale, zero in zip(arrays[::3], arrays[1::3], arrays[2::3], strict=True)
    ]
    found = concatenate(parts, call.dim(parts[0].rank))
    return _round(call, found, "Y_zero_point", "Y_scale", "Y_zero_point")


def _where(call: Call) -> Tensor:
    x, y = (
        _value(call, each, f"{each.lower()}_scale", f"{each.lower()}_zero_point") for each in "XY"
    )
    return _round(call, call.array("condition").where(x, y), "X", "z_scale", "z_zero_point")


# -- products ------------------------------------------------------------------------------------


def _product(call: Call, zero: str = "a_zero_point") -> Array:
    """The product of matrices of integers without their zero points, as f32."""
    a = quantization.take_factor(call, "A", zero, dim=-2)
    b = quantization.take_factor(call, "B", "b_zero_point", dim=-1)
    return quantization.multiply(call, a, b).cast("f32")


def _matmul_to_float(call: Call) -> Array:
    return _scaled(call, _product(call), call.array("a_scale").reshape(()))


def _scaled(call: Call, product: Array, scale: Array) -> Array:
    found = product * (call.array("b_scale") * scale)
    bias = call.optional("bias")
    return found if bias is None else found + bias


def _dynamic_matmul(call: Call) -> Array:
    """The product with integers of rows that are rounded by their own least and largest number."""
    x, scale, zero = quantization.RULES["DynamicQuantizeLinear"](
        replace(call, inputs={"x": call.tensor("A")})
    )
    inputs = {**call.inputs, "A": Tensor(x, "UINT8"), "a_zero_point": Tensor(zero, "UINT8")}
    return _scaled(call, _product(replace(call, inputs=inputs)), scale)


def _gemm(call: Call) -> Array | Tensor:
    a = quantization.take_factor(call, "A", "a_zero_point", dim=0)
    b = quantization.take_factor(call, "B", "b_zero_point", dim=0 if call["transB"] else 1)
    a, b = a.transpose() if call["transA"] else a, b.transpose() if call["transB"] else b
    product = quantization.multiply(call, a, b)
    if (bias := call.optional("C")) is not None:
        product = product + bias
    scale = call.array("a_scale").reshape(()) * call.array("b_scale")
    found = product.cast("f32") * (scale * float(attribute(call, "alpha", 1)))
    if not call.has("y_scale"):
        return found
    return _round(call, found, "A", "y_scale", "y_zero_point")


def _conv(call: Call) -> Tensor:
    x = call.tensor("x")
    image = Tensor(_image(call, call.use(x.array)), x.type)
    inner = call.with_defaults(group=1, auto_pad="NOTSET")
    inner = replace(inner, inputs={**call.inputs, "x": image})
    found: Tensor = quantization.RULES["QLinearConv"](inner)
    return Tensor(_back(call, found.array), found.type)


def _attention(call: Call) -> tuple[Array, ...]:
    """Attention whose projection is a product of integers."""
    inputs = {
        "A": call.inputs["input"],
        "B": call.inputs["weight"],
        "a_zero_point": call.inputs.get("input_zero_point"),
        "b_zero_point": call.inputs.get("weight_zero_point"),
        "b_scale": call.inputs["weight_scale"],
        "bias": call.inputs["bias"],
    }
    inner = replace(call, inputs=inputs)
    scale = call.array("input_scale").reshape(())
    return attend_to_itself(call, _scaled(inner, _product(inner), scale))


def _lstm(call: Call) -> tuple[Array, ...]:
    """A network whose weights, with a row for each number of the input, are integers."""
    found: dict[str, Tensor] = {}
    for name in "WR":
        x = call.of_rank(name, 3).cast("f32")
        # One of each direction, or one of each of its columns.
        points = (call.array(f"{name}_{each}").cast("f32") for each in ("scale", "zero_point"))
        scale, zero = (
            each.reshape((x.shape[0], 1, math.prod(each.shape) // x.shape[0])) for each in points
        )
        found[name] = Tensor(((x - zero) * scale).permute((0, 2, 1)), "FLOAT")
    inner = call.with_defaults(direction="forward", input_forget=0)
    return recurrent.RULES["LSTM"](replace(inner, operator="LSTM", inputs={**call.inputs, **found}))


# -- packed weights ------------------------------------------------------------------------------


def unpack(call: Call, packed: Array, bits: int, count: int) -> Array:
    """Numbers of few bits along the last dimension of bytes, those of the lowest bits first."""
    if bits not in (2, 4, 8):
        call.refuse(f"weights of {bits} bits are not supported; those of 2, 4 and 8 are")
    if bits == 8:
        return packed.cut(packed.rank - 1, 0, count)
    dim = packed.rank
    wide = packed.cast("i32")
    parts = [((wide >> shift) & ((1 << bits) - 1)).unsqueeze(dim) for shift in range(0, 8, bits)]
    whole = concatenate(parts, dim).reshape((*packed.shape[:-1], packed.shape[-1] * (8 // bits)))
    return whole.cut(dim - 1, 0, count)


def _matmul_of_bits(call: Call) -> Array:
    """The product with a weight (N, K) of blocks along K, each with a scale and a zero point."""
    x, packed = call.array("A"), call.array("B")
    bits = int(attribute(call, "bits", 4))
    columns, depth, block = (int(call.required(name)) for name in ("N", "K", "block_size"))
    if call["weight_prepacked"]:
        call.refuse("weights in an order for one processor (weight_prepacked) are not supported")
    blocks = -(-depth // max(block, 1))
    expected = columns * blocks * block * bits // 8
    if block < 1 or math.prod(packed.shape) != expected or x.shape[-1] != depth:
        call.refuse(
            f"a weight of {list(packed.shape)} bytes does not have {columns} rows of {depth} "
            f"numbers of {bits} bits in blocks of {block}, or rows have {x.shape[-1]}"
        )
    packed = packed.reshape((columns, blocks, block * bits // 8))
    weight = unpack(call, packed, bits, block).cast(x.dtype)
    scales = call.array("scales").reshape((columns, blocks)).cast(x.dtype)
    zeros = _zero_points(call, bits, columns, blocks)
    zeros = scales.fill(1 << (bits - 1)) if zeros is None else zeros.cast(x.dtype)
    if call.has("g_idx"):
        groups = call.array("g_idx").cast("i64").cut(0, 0, depth)
        weight = weight.reshape((columns, blocks * block)).cut(1, 0, depth)
        scales, zeros = (indexing.take(each, 1, groups) for each in (scales, zeros))
        weight = (weight - zeros) * scales
    else:
        weight = (weight - zeros.unsqueeze(2)) * scales.unsqueeze(2)
        weight = weight.reshape((columns, blocks * block)).cut(1, 0, depth)
    found = x @ weight.transpose()
    bias = call.optional("bias")
    return found if bias is None else found + bias


_STEPS_OF_4_BITS = (
    # FP4: a sign, and a number of a third of an eighth's precision.
    (0, 0.0052083333, 0.66666667, 1, 0.33333333, 0.5, 0.16666667, 0.25),
    # NF4: quantiles of the normal distribution (https://arxiv.org/abs/2305.14314).
    (
        *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453),
        *(-0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0),
        *(0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224),
        *(0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0),
    ),
)
"""What numbers of 4 bits stand for, by `quant_type`; the first are followed by their negatives."""


def _matmul_of_steps(call: Call) -> Array:
    """The product with a weight (N, K) whose numbers are places in a table, with a scale each."""
    x = call.array("A")
    columns, depth, block = (int(call.required(name)) for name in ("N", "K", "block_size"))
    kind, count = int(call.required("quant_type")), columns * depth
    scales = call.array("absmax")
    if kind not in (0, 1):
        call.refuse(f"quant_type is {kind}; 0, for FP4, and 1, for NF4, are supported")
    packed = call.array("B")
    packed = packed.reshape((math.prod(packed.shape),))
    blocks = -(-count // max(block, 1))
    if block < 1 or packed.shape[0] != -(-count // 2) or scales.shape != (blocks,):
        call.refuse(
            f"{packed.shape[0]} bytes and scales of shape {list(scales.shape)} are not those of "
            f"{columns} rows of {depth} numbers of 4 bits in blocks of {block}"
        )
    steps = _STEPS_OF_4_BITS[kind]
    table = np.array(steps if kind else (*steps, *(-each for each in steps)), np.float32)
    wide = packed.cast("i32").unsqueeze(1)
    # The first of two numbers has the upper bits.
    places = concatenate([wide >> 4, wide & 15], 1).reshape((2 * packed.shape[0],))
    numbers = indexing.take(array_of(table), 0, places.cut(0, 0, count).cast("i64"))
    numbers = numbers.pad([(0, blocks * block - count)], 0).reshape((blocks, block))
    weight = (numbers * scales.cast("f32").unsqueeze(1)).reshape((blocks * block,))
    weight = weight.cut(0, 0, count).cast(x.dtype)
    if attribute(call, "transB", 1):
        return x @ weight.reshape((columns, depth)).transpose()
    return x @ weight.reshape((columns, depth))


def _zero_points(call: Call, bits: int, columns: int, blocks: int) -> Array | None:
    zeros = call.optional("zero_points")
    if zeros is None:
        return None
    if zeros.is_real:
        return zeros.reshape((columns, blocks))
    row = -(-blocks * bits // 8)
    return unpack(call, zeros.reshape((columns, row)), bits, blocks)


def _gather_blocks(call: Call) -> Array:
    """Rows of a table of blocks along its last dimension."""
    data, scales = call.tensor("data"), call.array("scales")
    table, bits = call.use(data.array), int(attribute(call, "bits", 4))
    dims = [
        call.dims(table.rank, (int(attribute(call, *each)),), each[0])[0]
        for each in (("gather_axis", 0), ("quantize_axis", 1))
    ]
    if dims[0] != 0 or dims[1] != table.rank - 1:
        call.refuse("rows are looked up along the first dimension, and blocks are along the last")
    block = int(attribute(call, "block_size", 128))
    index = call.array("indices").cast("i64")
    is_packed = data.type == "UINT8"
    width = table.shape[-1] * (8 // bits if is_packed else 1)
    found, scales = indexing.take(table, 0, index), indexing.take(scales, 0, index)
    found = unpack(call, found, bits, width) if is_packed else found
    zeros = call.optional("zero_points")
    if zeros is not None:
        zeros = indexing.take(zeros, 0, index)
        if call.tensor("zero_points").type == "UINT8":
            zeros = unpack(call, zeros, bits, scales.shape[-1])
    elif is_packed:
        zeros = array_of(np.int32(1 << (bits - 1)))

    def spread(x: Array) -> Array:
        wide = x.unsqueeze(x.rank).broadcast((*x.shape, block))
        return wide.reshape((*x.shape[:-1], x.shape[-1] * block)).cut(x.rank - 1, 0, width)

    value = found.cast(scales.dtype)
    if zeros is not None:
        point = zeros.cast(scales.dtype)
        value = value - (spread(point) if point.rank else point)
    return value * spread(scales)


RULES: dict[str, Rule] = {
    "DequantizeLinear": quantization.RULES["DequantizeLinear"],
    "DynamicQuantizeLSTM": _lstm,
    "DynamicQuantizeMatMul": _dynamic_matmul,
    "GatherBlockQuantized": _gather_blocks,
    "MatMulBnb4": _matmul_of_steps,
    "MatMulIntegerToFloat": _matmul_to_float,
    "MatMulNBits": _matmul_of_bits,
    "QAttention": _attention,
    "QGemm": _gemm,
    "QLinearAdd": _on_two(lambda a, b: a + b),
    "QLinearAveragePool": _on_one(_average),
    "QLinearConcat": _concatenate,
    "QLinearConv": _conv,
    "QLinearGlobalAveragePool": _on_one(_global_average),
    "QLinearLeakyRelu": _on_one(_leaky_relu),
    "QLinearMul": _on_two(lambda a, b: a * b),
    "QLinearReduceMean": _on_one(_reduce_mean),
    "QLinearSigmoid": _on_one(lambda call, x: x.sigmoid()),
    "QLinearSoftmax": _on_one(_softmax),
    "QLinearWhere": _where,
    "QuantizeLinear": quantization.RULES["QuantizeLinear"],
}
"""Rules by the names of operators of the domain `com.microsoft`."""

_ONE = "X X_scale X_zero_point Y_scale Y_zero_point"
_TWO = "A A_scale A_zero_point B B_scale B_zero_point C_scale C_zero_point"

INPUTS: dict[str, str] = {
    "DequantizeLinear": "x x_scale x_zero_point",
    "DynamicQuantizeLSTM": "X W R B sequence_lens initial_h initial_c P W_scale W_zero_point "
    "R_scale R_zero_point",
    "DynamicQuantizeMatMul": "A B b_scale b_zero_point bias",
    "GatherBlockQuantized": "data indices scales zero_points",
    "MatMulBnb4": "A B absmax",
    "MatMulIntegerToFloat": "A B a_scale b_scale a_zero_point b_zero_point bias",
    "MatMulNBits": "A B scales zero_points g_idx bias",
    "QAttention": "input weight bias input_scale weight_scale mask_index input_zero_point "
    "weight_zero_point past",
    "QGemm": "A a_scale a_zero_point B b_scale b_zero_point C y_scale y_zero_point",
    "QLinearAdd": _TWO,
    "QLinearConcat": "Y_scale Y_zero_point inputs*",
    "QLinearConv": "x x_scale x_zero_point w w_scale w_zero_point y_scale y_zero_point B",
    "QLinearMul": _TWO,
    "QLinearWhere": "condition X x_scale x_zero_point Y y_scale y_zero_point z_scale z_zero_point",
    "QuantizeLinear": "x y_scale y_zero_point",
    **dict.fromkeys(
        (
            *("QLinearAveragePool", "QLinearGlobalAveragePool", "QLinearLeakyRelu"),
            *("QLinearReduceMean", "QLinearSigmoid", "QLinearSoftmax"),
        ),
        _ONE,
    ),
}
"""Names of inputs, in their order; that with a star takes all that follow."""
