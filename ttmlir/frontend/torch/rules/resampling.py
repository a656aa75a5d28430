"""Resizing, and the gradients of resizing and padding: all are linear along each dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import SSAValue

from ttmlir.arrays.carriers import array_of
from ttmlir.composites.indexing import take
from ttmlir.composites.resampling import multiply_along_last
from ttmlir.frontend.torch.building import BodyBuilder
from ttmlir.frontend.torch.call import TorchCall, TorchRule
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.ir.tensor_types import value_shape


def multiply_along_each(build: BodyBuilder, value: SSAValue, matrices: Sequence[Any]) -> SSAValue:
    """The product of rows and a matrix along each of the last dimensions.

    None leaves a dimension as it is.
    """
    arrays = [
        None if matrix is None else build.array(build.create_tensor(matrix)) for matrix in matrices
    ]
    return multiply_along_last(build.array(value), arrays).value


def transpose_along_each(
    build: BodyBuilder, gradient: SSAValue, matrices: Sequence[Any]
) -> SSAValue:
    """The product with the transposed matrices."""
    transposed = [None if matrix is None else matrix.mT for matrix in matrices]
    return multiply_along_each(build, gradient, transposed)


def _resize(call: TorchCall) -> SSAValue:
    build, x = call.build, call.tensor("input" if "input" in call.arguments else "self")
    matrices = _resize_matrices(call, value_shape(x)[2:], call.shape[2:])
    if "nearest" not in call.name:
        return multiply_along_each(build, x, matrices)
    image = build.array(x)
    for dim, matrix in enumerate(matrices, 2):
        image = take(image, dim, array_of(matrix.argmax(0).numpy()))
    return image.value


def _resize_backward(call: TorchCall) -> SSAValue:
    matrices = _resize_matrices(call, call["input_size"][2:], call["output_size"])
    return transpose_along_each(call.build, call.tensor("grad_output"), matrices)


def _resize_matrices(call: TorchCall, extents: Sequence[int], sizes: Sequence[int]) -> list[Any]:
    """What a resizing does along each spatial dimension: the extent times the new extent."""
    torch = torch_package()
    spatial = len(extents)
    # The operation itself, on rows of the identity, says it.
    resize = getattr(torch.ops.aten, call.node.target._opname.removesuffix("_backward")).default
    corners = (call["align_corners"],) if "align_corners" in call.arguments else ()
    factors = call.arguments.get("scale_factors") or [
        call.arguments.get(name) for name in _SCALES[spatial]
    ]
    matrices: list[Any] = []
    for dim, (n, m) in enumerate(zip(extents, sizes, strict=True)):
        # Other dimensions stay two long: torch takes extents of 1 for another order in memory.
        before, after = [2] * dim, [2] * (spatial - dim - 1)
        own = [factor if i == dim else None for i, factor in enumerate(factors)]
        rows = torch.eye(n).reshape(1, n, *(1 for _ in before), n, *(1 for _ in after))
        rows = rows.expand(1, n, *before, n, *after).contiguous()
        resized = resize(rows, [*before, m, *after], *corners, *own)
        firsts = [0] * len(before), [0] * len(after)
        matrices.append(resized[(0, slice(None), *firsts[0], slice(None), *firsts[1])])
    return matrices


_SCALES = {
    1: ("scales",),
    2: ("scales_h", "scales_w"),
    3: ("scales_d", "scales_h", "scales_w"),
}
"""Arguments with the factors of the spatial dimensions, by their number."""


def _pad_backward(pad: str) -> TorchRule:
    """The gradient of `reflection_pad` and `replication_pad`, by the name of the form for rows."""

    def rule(call: TorchCall) -> SSAValue:
        torch = torch_package()
        given = list(call["padding"])
        matrices: list[Any] = []
        # Pairs of a low and a high count, the last dimension first.
        for place in range(len(given) - 2, -1, -2):
            extent = call.shape[len(call.shape) - 1 - place // 2]
            pair = given[place : place + 2]
            rows = torch.eye(extent)[None]
            matrices.append(getattr(torch.ops.aten, pad)(rows, pair)[0] if any(pair) else None)
        return transpose_along_each(call.build, call.tensor("grad_output"), matrices)

    return rule


_KINDS = (
    *("_upsample_bicubic2d_aa", "_upsample_bilinear2d_aa", "upsample_bicubic2d"),
    *(f"_upsample_nearest_exact{spatial}d" for spatial in (1, 2, 3)),
    *(f"upsample_nearest{spatial}d" for spatial in (1, 2, 3)),
    *("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d"),
)

RULES: dict[str, TorchRule] = {
    **{kind: _resize for kind in _KINDS},
    **{f"{kind}_backward": _resize_backward for kind in _KINDS},
    **{
        f"{kind}_pad{spatial}d_backward": _pad_backward(f"{kind}_pad1d")
        for kind in ("reflection", "replication")
        for spatial in (1, 2, 3)
    },
}
"""Rules by the name of the ATen operation."""
