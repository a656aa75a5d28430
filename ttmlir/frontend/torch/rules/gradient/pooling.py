"""The gradients of pooling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from ttmlir.frontend.torch.building import Shape
from ttmlir.frontend.torch.call import TorchCall, TorchRule
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.rules.resampling import transpose_along_each
from ttmlir.frontend.torch.rules.window import each_dim
from ttmlir.ir.tensor_types import tensor_of, value_shape


def _max_pool_backward(spatial: int) -> TorchRule:
    """Each gradient goes to the element that was the largest, whose place is known."""

    def rule(call: TorchCall) -> SSAValue:
        build, gradient = call.build, call.tensor("grad_output")
        shape = call.shape
        rows = math.prod(shape[:-spatial])
        columns, positions = math.prod(shape[-spatial:]), math.prod(_extents(gradient, spatial))
        if not rows * positions:
            return build.create_splat(0, tensor_of(call.element, shape))
        zeros = build.create_splat(0, tensor_of(call.element, (rows, columns)))
        places = build.cast(call.tensor("indices"), IntegerType(64))
        written = build.create_inferred(
            "scatter_add",
            zeros,
            build.reshape(places, (rows, positions)),
            build.reshape(gradient, (rows, positions)),
            dim=1,
        )
        return build.reshape(written, shape)

    return rule


def _extents(value: SSAValue, spatial: int) -> Shape:
    """The last dimensions of a tensor."""
    return value_shape(value)[-spatial:]


def _avg_pool_backward(spatial: int) -> TorchRule:
    """Each gradient is spread over its window."""

    def rule(call: TorchCall) -> SSAValue:
        kernel = each_dim(call["kernel_size"], spatial)
        stride = each_dim(call["stride"] or kernel, spatial)
        padding = each_dim(call["padding"], spatial)
        extents = call.shape[-spatial:]
        positions = _extents(call.tensor("grad_output"), spatial)
        override = call.arguments.get("divisor_override")
        matrices: list[Any] = []
        sizes = zip(extents, positions, kernel, stride, padding, strict=True)
        for n, m, k, s, p in sizes:
            begins = torch_package().arange(m) * s - p
            sums = _window_sums(n, begins, k)
            low, high = (-p, n + p) if call["count_include_pad"] else (0, n)
            counts = (begins + k).clamp(max=high) - begins.clamp(min=low)
            matrices.append(sums if override else sums / counts)
        if override:
            matrices[0] = matrices[0] / override
        return _spread(call, matrices)

    return rule


def _window_sums(extent: int, begins: Any, size: int) -> Any:
    """The matrix (extent x positions) of what each window of a row sums."""
    torch = torch_package()
    places = torch.arange(extent)[:, None]
    return ((places >= begins) & (places < begins + size)).to(torch.float32)


def _adaptive_avg_pool_backward(spatial: int) -> TorchRule:
    def rule(call: TorchCall) -> SSAValue:
        torch = torch_package()
        pool = torch.nn.functional.adaptive_avg_pool1d
        positions = _extents(call.tensor("grad_output"), spatial)
        pairs = zip(call.shape[-spatial:], positions, strict=True)
        return _spread(call, [pool(torch.eye(n)[None], m)[0] for n, m in pairs])

    return rule


def _spread(call: TorchCall, matrices: Sequence[Any]) -> SSAValue:
    """The product with transposed matrices, or repetition where windows lie side by side."""
    build, gradient = call.build, call.tensor("grad_output")
    gradient = build.cast(gradient, call.element)
    repeats: list[int] = []
    share = 1.0
    for matrix in matrices:
        n, m = matrix.shape
        torch = torch_package()
        blocks = torch.eye(m).repeat_interleave(n // m, 0) if n % m == 0 else None
        if blocks is None or not torch.equal(blocks * matrix.max(), matrix):
            return transpose_along_each(build, gradient, matrices)
        repeats.append(n // m)
        share *= float(matrix.max())
    shape = value_shape(gradient)
    front, positions = shape[: -len(matrices)], shape[-len(matrices) :]
    pairs = zip(positions, repeats, strict=True)
    apart = (*front, *(extent for m in positions for extent in (m, 1)))
    wide = (*front, *(extent for pair in pairs for extent in pair))
    gradient = build.compute("multiply", gradient, build.create_number(share, gradient))
    spread = build.broadcast(build.reshape(gradient, apart), wide)
    return build.reshape(spread, call.shape)


RULES: dict[str, TorchRule] = {
    "_adaptive_avg_pool2d_backward": _adaptive_avg_pool_backward(2),
    "_adaptive_avg_pool3d_backward": _adaptive_avg_pool_backward(3),
    "adaptive_max_pool2d_backward": _max_pool_backward(2),
    "adaptive_max_pool3d_backward": _max_pool_backward(3),
    "avg_pool2d_backward": _avg_pool_backward(2),
    "avg_pool3d_backward": _avg_pool_backward(3),
    "fractional_max_pool2d_backward": _max_pool_backward(2),
    "fractional_max_pool3d_backward": _max_pool_backward(3),
    "max_pool2d_with_indices_backward": _max_pool_backward(2),
    "max_pool3d_with_indices_backward": _max_pool_backward(3),
}
"""Rules by the name of the ATen operation."""
