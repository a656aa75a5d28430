"""ATen operations that multiply matrices of few bits."""

from __future__ import annotations

from xdsl.dialects.builtin import bf16, f32
from xdsl.ir import SSAValue

from ttmlir.frontend.torch.call import TorchCall, TorchRule
from ttmlir.frontend.torch.rules.contraction import swap
from ttmlir.frontend.torch.rules.elementwise import round_to_dtype
from ttmlir.ir.integer_products import multiply_byte_matrices
from ttmlir.ir.tensor_types import element_type, tensor_of, value_shape


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
    "_int_mm": _multiply_integers,
    "_scaled_mm": _multiply_scaled,
    "_weight_int8pack_mm": _multiply_with_bytes,
}
"""Rules by the name of the ATen operation, or of one of its overloads."""
