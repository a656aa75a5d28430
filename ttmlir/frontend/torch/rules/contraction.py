"""ATen operations that are sums of products of matrices and vectors."""

from __future__ import annotations

import math

from xdsl.dialects.builtin import bf16, f32
from xdsl.ir import SSAValue

from ttmlir.frontend.torch.building import BodyBuilder, Shape
from ttmlir.frontend.torch.call import TorchCall, TorchRule
from ttmlir.frontend.torch.rules.elementwise import round_to_dtype
from ttmlir.ir.builder import multiply_byte_matrices
from ttmlir.ir.tensor_types import element_type, tensor_of, value_shape
from ttmlir.optable.row import broadcast_shape


def product(build: BodyBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """`torch.matmul`: vectors are rows or columns, leading dimensions are batches."""
    left, right = value_shape(a), value_shape(b)
    if len(left) == 1:
        a = build.reshape(a, (1, *left))
    if len(right) == 1:
        b = build.reshape(b, (*right, 1))
    shape = (*_batches(a, b), *left[-2:-1], *(right[-1:] if len(right) > 1 else ()))
    if len(value_shape(b)) == 2 and len(value_shape(a)) > 2:
        # One product for the whole batch.
        rows = math.prod(value_shape(a)[:-1])
        a = build.reshape(a, (rows, value_shape(a)[-1]))
    rank = max(len(value_shape(a)), len(value_shape(b)))
    a, b = (build.reshape(x, (1,) * (rank - len(value_shape(x))) + value_shape(x)) for x in (a, b))
    return build.reshape(build.matmul(a, b), shape)


def _batches(a: SSAValue, b: SSAValue) -> Shape:
    return broadcast_shape(value_shape(a)[:-2], value_shape(b)[:-2])


def swap(build: BodyBuilder, x: SSAValue) -> SSAValue:
    """The tensor with its last two dimensions exchanged."""
    rank = len(value_shape(x))
    return build.permute(x, [*range(rank - 2), rank - 1, rank - 2])


def _product(first: str = "self", second: str = "other") -> TorchRule:
    return lambda call: product(call.build, call.tensor(first), call.tensor(second))


def _add(first: str, second: str) -> TorchRule:
    """`beta * self + alpha * (first @ second)`."""

    def rule(call: TorchCall) -> SSAValue:
        build = call.build
        value = _times(
            build, product(build, call.tensor(first), call.tensor(second)), call["alpha"]
        )
        if call["beta"] == 0:
            return value
        return build.compute("add", value, _times(build, call.tensor(), call["beta"]))

    return rule


def _times(build: BodyBuilder, x: SSAValue, factor: float) -> SSAValue:
    return x if factor == 1 else build.compute("multiply", x, build.create_number(factor, x))


def _linear(call: TorchCall) -> SSAValue:
    build = call.build
    value = product(build, call.tensor("input"), swap(build, _matrix(call)))
    value = build.reshape(value, call.shape)
    bias = call.optional("bias")
    return value if bias is None else build.compute("add", value, bias)


def _matrix(call: TorchCall) -> SSAValue:
    weight = call.tensor("weight")
    shape = value_shape(weight)
    return weight if len(shape) == 2 else call.build.reshape(weight, (1, *shape))


def _outer(call: TorchCall) -> SSAValue:
    build, a, b = call.build, call.tensor("self"), call.tensor("vec2")
    column = build.reshape(a, (*value_shape(a), 1))
    return build.compute("multiply", column, build.reshape(b, (1, *value_shape(b))))


# -- matrices of few bits ----------------------------------------------------------------------


def _multiply_integers(call: TorchCall) -> SSAValue:
    return multiply_byte_matrices(call.build, call.tensor(), call.tensor("mat2"))


def _multiply_with_bytes(call: TorchCall) -> SSAValue:
    """`(self @ mat2.T) * scales`, with a matrix of integers of 8 bits; sums are in f32."""
    build, x = call.build, call.tensor()
    # bf16 holds the integers, so that the product of bf16 takes them as they are.
    element = bf16 if element_type(x) == bf16 else f32
    weight = build.cast(swap(build, call.tensor("mat2")), element)
    factors = build.cast(x, element), weight
    product = build.create("matmul", factors, tensor_of(f32, call.shape))
    scales = build.cast(call.tensor("scales"), f32)
    return build.cast(build.compute("multiply", product, scales), call.element)


def _multiply_scaled(call: TorchCall) -> SSAValue:
    """`(self * scale_a) @ (mat2 * scale_b) + bias`, of floating point numbers of 8 bits.

    The scales are of the whole matrix, or of the rows of the first and the columns of the second.
    """
    build = call.build
    if call.has("scale_result"):
        call.refuse("_scaled_mm with scale_result is not supported; multiply its result instead")
    value = build.create("matmul", [call.tensor(), call.tensor("mat2")], tensor_of(f32, call.shape))
    for name in ("scale_a", "scale_b"):
        scale = call.tensor(name)
        extents = (*(1,) * (2 - len(value_shape(scale))), *value_shape(scale))
        if any(extent not in (1, whole) for extent, whole in zip(extents, call.shape, strict=True)):
            call.refuse("scales of _scaled_mm are of the whole matrix, of rows or of columns")
        value = build.compute("multiply", value, build.cast(scale, f32))
    if call.has("bias"):
        value = build.compute("add", value, build.cast(call.tensor("bias"), f32))
    return build.cast(round_to_dtype(call, value), call.element)


RULES: dict[str, TorchRule] = {
    "addmm": _add("mat1", "mat2"),
    "addmv": _add("mat", "vec"),
    "baddbmm": _add("batch1", "batch2"),
    "bmm": _product("self", "mat2"),
    "dot": _product("self", "tensor"),
    "linear": _linear,
    "matmul": _product(),
    "mm": _product("self", "mat2"),
    "mv": _product("self", "vec"),
    "outer": _outer,
    "_int_mm": _multiply_integers,
    "_scaled_mm": _multiply_scaled,
    "_weight_int8pack_mm": _multiply_with_bytes,
}
"""Rules by the name of the ATen operation, or of one of its overloads."""
