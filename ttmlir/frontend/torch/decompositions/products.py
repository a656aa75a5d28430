"""Products of several tensors and of groups of rows, and operations in other forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ttmlir.errors import NotSupportedError
from ttmlir.frontend.torch.elements import is_tensor, torch_package


def _dist(x: Any, other: Any, p: float = 2.0) -> Any:
    """The norm of a difference."""
    return torch_package().linalg.vector_norm(x - other, p)


def _index_fill(x: Any, dim: int, index: Any, value: Any) -> Any:
    """An assignment, since places below 0 count from the end; those of `index_copy` do not."""
    torch = torch_package()
    rows = x if x.dim() else x.unsqueeze(0)
    value = value.to(x.dtype) if is_tensor(value) else torch.scalar_tensor(value, dtype=x.dtype)
    indices = [*[None] * (dim % rows.dim()), index]
    return torch.ops.aten.index_put(rows, indices, value).reshape(x.shape)


def _rrelu(
    x: Any,
    noise: Any,
    lower: float = 0.125,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Any = None,
) -> Any:
    torch = torch_package()
    if training:
        # It is random, and stays an operation that draws from a seed.
        return NotImplemented
    return torch.nn.functional.leaky_relu(x, (lower + upper) / 2), noise


def _multilabel_margin_loss(x: Any, target: Any, reduction: int) -> tuple[Any, Any]:
    """The loss of a row by itself, of which torch's fake tensors have another shape."""
    if x.dim() != 1:
        return NotImplemented
    forward = torch_package().ops.aten.multilabel_margin_loss_forward.default
    loss, is_target = forward(x.unsqueeze(0), target.reshape(1, -1), reduction)
    return loss.reshape(()), is_target.reshape(target.shape)


# -- products of matrices and vectors --------------------------------------------


def _addbmm(x: Any, batch1: Any, batch2: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    total = torch_package().bmm(batch1, batch2).sum(0)
    total = total if alpha == 1 else total * alpha
    return (x if beta == 1 else x * beta) + total if beta else total.expand_as(total)


def _trilinear(
    a: Any,
    b: Any,
    c: Any,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int = 1,
) -> Any:
    """The sum over some dimensions of the product of three tensors, given those they lack."""
    expanded: list[Any] = []
    for tensor, dims in ((a, expand1), (b, expand2), (c, expand3)):
        for dim in sorted(dims):
            tensor = tensor.unsqueeze(dim)
        expanded.append(tensor)
    return (expanded[0] * expanded[2] * expanded[1]).sum(list(sumdim))


def _conv_tbc(x: Any, weight: Any, bias: Any, pad: int = 0) -> Any:
    """A convolution of (time, batch, channels)."""
    conv = torch_package().nn.functional.conv1d
    return conv(x.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=pad).permute(2, 0, 1)


def _grouped_mm(
    x: Any, weight: Any, offs: Any = None, bias: Any = None, out_dtype: Any = None
) -> Any:
    """Groups of rows, each times a matrix of its own: those of group i end before `offs[i]`.

    All rows are multiplied with one tall matrix, in which the matrices stand below each other; a
    row has its numbers at the place of its own matrix, and 0 at all others. Where there are fewer
    rows than matrices, each row takes its own.
    """
    torch = torch_package()
    if x.dim() != 2 or weight.dim() != 3 or offs is None:
        raise NotSupportedError(
            "grouped products take a matrix, a batch of matrices and the ends of groups of rows; "
            "write others as torch.bmm"
        )
    groups, depth, width = weight.shape
    position = torch.arange(x.shape[0]).unsqueeze(1)
    ends = offs.unsqueeze(0).to(torch.int64)
    is_after = position >= ends
    if x.shape[0] <= groups:
        number = torch.clamp(is_after.to(torch.int64).sum(1), max=groups - 1)
        found = torch.bmm(x.unsqueeze(1), weight.index_select(0, number)).squeeze(1)
        found = torch.where(is_after.narrow(1, groups - 1, 1), 0, found)
    else:
        begins = torch.cat(
            [torch.zeros_like(ends.narrow(1, 0, 1)), ends.narrow(1, 0, groups - 1)], 1
        )
        member = torch.logical_and(position >= begins, torch.logical_not(is_after))
        wide = torch.where(member.unsqueeze(2), x.unsqueeze(1), 0)
        found = wide.reshape(-1, groups * depth) @ weight.reshape(groups * depth, width)
    found = found if bias is None else found + bias
    return found if out_dtype is None else found.to(out_dtype)


DECOMPOSITIONS: dict[str, Callable[..., Any]] = {
    "dist": _dist,
    "index_fill": _index_fill,
    "rrelu_with_noise_functional": _rrelu,
    "_grouped_mm": _grouped_mm,
    "_trilinear": _trilinear,
    "multilabel_margin_loss_forward": _multilabel_margin_loss,
    "addbmm": _addbmm,
    "conv_tbc": _conv_tbc,
    "transformers.grouped_mm_fallback": _grouped_mm,
}
"""Functions in torch by the names of operations."""
