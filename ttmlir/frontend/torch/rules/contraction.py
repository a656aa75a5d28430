"""ATen operations that are sums of products of matrices and vectors."""

from __future__ import annotations

from xdsl.dialects.builtin import bf16, f32
from xdsl.ir import SSAValue

from ttmlir.arrays.array import Array
from ttmlir.frontend.torch.call import Known, TorchCall, TorchRule, on_arrays
from ttmlir.frontend.torch.elements import without_modes
from ttmlir.frontend.torch.packing import integers_of_cpu
from ttmlir.frontend.torch.rules.elementwise import round_to_dtype
from ttmlir.ir.builder import multiply_byte_matrices
from ttmlir.ir.tensor_types import element_type, tensor_of, value_shape


def _product(a: Array, b: Array) -> Array:
    return a @ b


def _add(first: str, second: str) -> TorchRule:
    """`beta * self + alpha * (first @ second)`."""

    def rule(call: TorchCall) -> SSAValue:
        x, a, b = (call.array(name, cast=False) for name in ("self", first, second))
        value = _times(a @ b, call["alpha"])
        return (value if call["beta"] == 0 else value + _times(x, call["beta"])).value

    return rule


def _times(x: Array, factor: float) -> Array:
    return x if factor == 1 else x * factor


def _linear(call: TorchCall) -> SSAValue:
    x, weight = (call.array(name, cast=False) for name in ("input", "weight"))
    # The weight of one result may be a vector.
    weight = weight if weight.rank == 2 else weight.unsqueeze(0)
    value = (x @ weight.transpose()).reshape(call.shape)
    return (value + call.array("bias", cast=False) if call.has("bias") else value).value


def _outer(a: Array, b: Array) -> Array:
    return a.unsqueeze(1) * b.unsqueeze(0)


# -- matrices of few bits ----------------------------------------------------------------------


def _multiply_integers(call: TorchCall) -> SSAValue:
    return multiply_byte_matrices(call.build, call.tensor(), call.tensor("mat2"))


def _multiply_with_bytes(call: TorchCall) -> SSAValue:
    """`(self @ mat2.T) * scales`, with a matrix of integers of 8 bits; sums are in f32."""
    build, x = call.build, call.tensor()
    # bf16 holds the integers, so that the product of bf16 takes them as they are.
    element = bf16 if element_type(x) == bf16 else f32
    weight = build.cast(call.array("mat2", cast=False).transpose().value, element)
    factors = build.cast(x, element), weight
    product = build.create("matmul", factors, tensor_of(f32, call.shape))
    scales = build.cast(call.tensor("scales"), f32)
    return build.cast(build.compute("multiply", product, scales), call.element)


def _multiply_with_nibbles(call: TorchCall) -> SSAValue:
    """`self @ (mat2 * scales + offsets).T`, with known integers of 4 bits and scales of groups."""
    packed, group = call.known("mat2"), int(call["qGroupSize"])
    if packed is None:
        call.refuse(
            "the order of packed bytes is the CPU's, in which only weights that are constants are "
            "read; unpack arguments by & 15 and >> 4, and multiply with their scales"
        )
    with without_modes():
        integers = integers_of_cpu(packed, group)
    rows, columns = integers.shape
    weight = call.build.array(call.value(Known(integers.reshape(rows, -1, group)))).cast("f32")
    # Scales (groups, rows, 2) with offsets beside them.
    factors = call.array("qScaleAndZeros", cast=False).cast("f32").permute((1, 0, 2))
    weight = weight * factors.cut(2, 0, 1) + factors.cut(2, 1, 2)
    x = call.array("self", cast=False)
    weight = weight.reshape((rows, columns)).cast(x.dtype)
    return (x @ weight.transpose()).cast(str(call.element)).value


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
    "bmm": on_arrays(_product, "self", "mat2"),
    "dot": on_arrays(_product, "self", "tensor"),
    "linear": _linear,
    "matmul": on_arrays(_product, "self", "other"),
    "mm": on_arrays(_product, "self", "mat2"),
    "mv": on_arrays(_product, "self", "vec"),
    "outer": on_arrays(_outer, "self", "vec2"),
    "_int_mm": _multiply_integers,
    "_scaled_mm": _multiply_scaled,
    "_weight_int4pack_mm_for_cpu": _multiply_with_nibbles,
    "_weight_int8pack_mm": _multiply_with_bytes,
}
"""Rules by the name of the ATen operation, or of one of its overloads."""
