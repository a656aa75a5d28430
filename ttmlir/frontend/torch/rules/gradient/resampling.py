"""The gradients of resizing and padding, which are linear along each dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import SSAValue

from ttmlir.frontend.torch.building import BodyBuilder
from ttmlir.frontend.torch.call import TorchCall, TorchRule
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.rules.contraction import product
from ttmlir.ir.tensor_types import element_type, value_shape


def transpose_along_each(
    build: BodyBuilder, gradient: SSAValue, matrices: Sequence[Any]
) -> SSAValue:
    """The product with a transposed matrix along each of the last dimensions.

    A matrix has the input's extent times that of the result; None leaves a dimension as it is.
    """
    rank = len(value_shape(gradient))
    for dim, matrix in enumerate(matrices, rank - len(matrices)):
        if matrix is None:
            continue
        order = [i for i in range(rank) if i != dim]
        back = [*range(dim), rank - 1, *range(dim, rank - 1)]
        weights = build.cast(build.create_tensor(matrix.mT), element_type(gradient))
        rows = product(build, build.permute(gradient, [*order, dim]), weights)
        gradient = build.permute(rows, back)
    return gradient


def _resize_backward(spatial: int, scales: Sequence[str]) -> TorchRule:
    """The gradient of a resizing of the last dimensions; `scales` are its arguments for them."""

    def rule(call: TorchCall) -> SSAValue:
        torch = torch_package()
        # The operation itself, on rows of the identity, says what it does along a dimension.
        resize = getattr(torch.ops.aten, call.node.target._opname.removesuffix("_backward"))
        corners = (call["align_corners"],) if "align_corners" in call.arguments else ()
        matrices: list[Any] = []
        for dim in range(spatial):
            n, m = call["input_size"][2 + dim], call["output_size"][dim]
            around = [1] * dim, [1] * (spatial - dim - 1)
            factors = [call[name] if i == dim else None for i, name in enumerate(scales)]
            rows = torch.eye(n).reshape(1, n, *around[0], n, *around[1])
            resized = resize(rows, [*around[0], m, *around[1]], *corners, *factors)
            matrices.append(resized.reshape(n, m))
        return transpose_along_each(call.build, call.tensor("grad_output"), matrices)

    return rule


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


_LINE = ("scales",)
_IMAGE = ("scales_h", "scales_w")
_VOLUME = ("scales_d", "scales_h", "scales_w")

RULES: dict[str, TorchRule] = {
    **{
        f"{kind}_pad{spatial}d_backward": _pad_backward(f"{kind}_pad1d")
        for kind in ("reflection", "replication")
        for spatial in (1, 2, 3)
    },
    "_upsample_bicubic2d_aa_backward": _resize_backward(2, _IMAGE),
    "_upsample_bilinear2d_aa_backward": _resize_backward(2, _IMAGE),
    "_upsample_nearest_exact1d_backward": _resize_backward(1, _LINE),
    "_upsample_nearest_exact2d_backward": _resize_backward(2, _IMAGE),
    "_upsample_nearest_exact3d_backward": _resize_backward(3, _VOLUME),
    "upsample_bicubic2d_backward": _resize_backward(2, _IMAGE),
    "upsample_bilinear2d_backward": _resize_backward(2, _IMAGE),
    "upsample_linear1d_backward": _resize_backward(1, _LINE),
    "upsample_nearest1d_backward": _resize_backward(1, _LINE),
    "upsample_nearest2d_backward": _resize_backward(2, _IMAGE),
    "upsample_nearest3d_backward": _resize_backward(3, _VOLUME),
    "upsample_trilinear3d_backward": _resize_backward(3, _VOLUME),
}
"""Rules by the name of the ATen operation."""
