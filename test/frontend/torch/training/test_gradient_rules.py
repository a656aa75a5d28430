"""Gradients of operations against torch, many in one program."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from samples.torch_gradients import check_slopes, numbers
from samples.torch_programs import check_all

torch: Any = import_module("torch")


CONVOLUTIONS = [(1, 1, 0, 1, 1), (2, 2, 1, 2, 2), (3, 2, 1, 1, 4), (2, 3, 0, 1, 2)]


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(("spatial", "stride", "padding", "dilation", "groups"), CONVOLUTIONS)
def test_convolutions(spatial: int, stride: int, padding: int, dilation: int, groups: int) -> None:
    """One to three dimensions; groups, strides that leave elements over, transposed ones."""
    extents, kernel = (9, 8, 7)[:spatial], (3, 2, 2)[:spatial]
    given = f"stride={stride}, padding={padding}, dilation={dilation}, groups={groups}"
    check_slopes(
        f"""
        x, w, b: F.conv{spatial}d(x, w, b, {given})
        x, w: F.conv{spatial}d(x[1], w, {given})
        x, v: F.conv_transpose{spatial}d(x, v, {given}, output_padding={stride - 1})
        x, v, c: F.conv_transpose{spatial}d(x[0], v, c, {given})
        """,
        x=numbers(2, 4, *extents),
        w=numbers(8, 4 // groups, *kernel, seed=1),
        b=numbers(8, seed=2),
        v=numbers(4, 3, *kernel, seed=3),
        c=numbers(3 * groups, seed=4),
        tolerance=1e-4,
    )


def test_largest_of_windows() -> None:
    """The gradient goes to the first of equal elements; places are results, too."""
    check_slopes(
        """
        F.max_pool2d(x, 2)
        F.max_pool2d(x, 3, stride=2, padding=1)
        F.max_pool2d(x, (3, 2), stride=(1, 2), ceil_mode=True)
        F.max_pool2d(x, 2, dilation=2)
        F.max_pool2d(x.round(), 3, stride=1)
        F.max_pool2d(x[0], 2)
        F.max_pool1d(x[0], 3, 2)
        F.max_pool3d(x, (2, 3, 2), padding=(1, 1, 0))
        F.adaptive_max_pool2d(x, (3, 1))
        F.adaptive_max_pool3d(x, (2, 3, 1))
        """,
        x=numbers(2, 4, 9, 11),
    )
    check_all(
        """
        F.max_pool2d(x, 3, stride=2, padding=1, return_indices=True)
        F.max_pool2d(torch.where(x > 0, x, -torch.inf), 2, padding=1, return_indices=True)
        F.max_pool2d(torch.where(x > 1, torch.nan, x), 2, return_indices=True)
        F.max_pool3d(x, 2, dilation=2, return_indices=True)
        F.max_pool1d(x[0], 3, 2, return_indices=True)
        F.adaptive_max_pool2d(x, (3, 11), return_indices=True)
        """,
        x=numbers(2, 4, 9, 11),
    )


def test_averages_of_windows() -> None:
    """Side by side, overlapping, beyond the border, and as many as asked for."""
    check_slopes(
        """
        F.avg_pool2d(x, 2)
        F.avg_pool2d(x, (3, 11))
        F.avg_pool2d(x, 3, stride=2, padding=1)
        F.avg_pool2d(x, 3, stride=2, padding=1, count_include_pad=False)
        F.avg_pool2d(x, (3, 2), ceil_mode=True)
        F.avg_pool2d(x, 2, divisor_override=3)
        F.avg_pool1d(x[0], 3)
        F.avg_pool3d(x, (2, 3, 2), stride=(1, 2, 2))
        F.adaptive_avg_pool2d(x, 1)
        F.adaptive_avg_pool2d(x, (3, 11))
        F.adaptive_avg_pool2d(x, (4, 5))
        F.adaptive_avg_pool3d(x, (2, 3, 4))
        F.lp_pool2d(x, 2, 2)
        """,
        x=numbers(2, 4, 9, 11),
    )


def test_resizing_and_padding() -> None:
    """All ways to interpolate, and the paddings that repeat elements."""
    check_slopes(
        """
        F.interpolate(x, scale_factor=2)
        F.interpolate(x, size=(4, 7))
        F.interpolate(x, size=(12, 7), mode="nearest-exact")
        F.interpolate(x, scale_factor=1.5, mode="bilinear", align_corners=True)
        F.interpolate(x, size=(5, 13), mode="bilinear")
        F.interpolate(x, size=(5, 13), mode="bicubic")
        F.interpolate(x, size=(5, 4), mode="bilinear", antialias=True)
        F.interpolate(x[0], size=5, mode="linear")
        F.interpolate(x[0], scale_factor=1.7)
        F.interpolate(x[None], size=(3, 5, 7), mode="trilinear")
        F.interpolate(x[None], size=(3, 5, 7))
        F.pad(x, (2, 1, 0, 3), mode="reflect")
        F.pad(x, (2, 1, 0, 3), mode="replicate")
        F.pad(x, (2, 1, 0, 3), mode="circular")
        F.pad(x[0], (2, 1), mode="reflect")
        F.pad(x[None], (2, 1, 0, 3, 1, 0), mode="replicate")
        F.pad(x, (2, -1, 0, 3), value=3.0)
        """,
        x=numbers(2, 3, 8, 9),
    )


def test_normalisation() -> None:
    """Statistics of the batch, of groups, of instances and of rows are differentiated, too."""
    check_slopes(
        """
        x, w, b: F.batch_norm(x, None, None, w, b, training=True)
        x, w: F.batch_norm(x, b, b.abs() + 1, w, b)
        x, w, b: F.group_norm(x, 2, w, b)
        x, w, b: F.instance_norm(x, weight=w, bias=b)
        x, v: F.layer_norm(x, (7,), v, v)
        F.layer_norm(x, (5, 7))
        x, v: F.rms_norm(x, (7,), v)
        F.normalize(x, dim=1)
        F.local_response_norm(x, 3)
        x.std(dim=(0, 2))
        x, u: torch._weight_norm(x, u)
        x, v: torch._weight_norm(x, v[None, None, None], 3)
        """,
        x=numbers(3, 4, 5, 7),
        w=numbers(4, seed=1),
        b=numbers(4, seed=2),
        v=numbers(7, seed=3),
        u=numbers(3, 1, 1, 1, seed=4),
        tolerance=1e-4,
    )


def test_functions_of_elements() -> None:
    """Activations and other functions of one tensor."""
    check_slopes(
        """
        F.relu(x)
        F.gelu(x)
        F.gelu(x, approximate="tanh")
        F.silu(x)
        F.mish(x)
        F.elu(x, 0.7)
        F.selu(x)
        F.celu(x)
        F.softplus(x)
        F.hardswish(x)
        F.hardsigmoid(x)
        F.hardtanh(x)
        F.hardshrink(x)
        F.softshrink(x)
        F.leaky_relu(x, 0.3)
        F.logsigmoid(x)
        F.tanhshrink(x)
        F.softsign(x)
        F.glu(x, 1)
        x, y: F.prelu(x, y[:1, 0])
        F.softmax(x, 0)
        F.log_softmax(x, 1)
        F.softmin(x, 1)
        x.logsumexp(1)
        x.sigmoid() + x.tanh()
        x.sin() * x.cos() + x.atan()
        x.abs().sqrt() + x.abs().log1p()
        x.erf() + x.expm1()
        x.clamp(-0.5, 1.0)
        x, y: torch.maximum(x, y) + torch.minimum(x, y)
        x, y: torch.atan2(x, y)
        x, y: x.abs() ** y.tanh()
        x, y: torch.where(x > y, x * y, y)
        x, y: torch.lerp(x, y, 0.3)
        x, y: torch.hypot(x, y)
        x.amax(1) + x.max(1).values + x.min(1).values
        x.cumsum(0)
        x.norm() + x.norm(dim=1, p=1)
        x.var(1)
        """,
        x=numbers(5, 6),
        y=numbers(5, 6, seed=1),
        tolerance=1e-4,
    )


def test_losses() -> None:
    """Losses of numbers, of classes, and of pairs; with weights and targets that are left out."""
    names = {
        "classes": torch.tensor([2, 0, -100, 3, 1]),
        "pixels": torch.tensor([[2, 0, 1], [3, -100, 1]]),
        "signs": torch.tensor([1.0, -1, 1, 1, -1]),
    }
    arguments = {
        "x": numbers(5, 4),
        "y": numbers(5, 4, seed=1),
        "z": numbers(2, 4, 3, seed=2),
        "w": numbers(4, seed=3).abs(),
    }
    check_slopes(
        """
        F.cross_entropy(x, classes)
        F.cross_entropy(x, classes, w, reduction="sum", label_smoothing=0.1)
        F.cross_entropy(x, y.softmax(1), reduction="none")
        z: F.cross_entropy(z, pixels)
        F.nll_loss(x.log_softmax(1), classes, w)
        F.mse_loss(x, y)
        F.l1_loss(x, y)
        F.smooth_l1_loss(x, y, beta=0.5)
        F.huber_loss(x, y, delta=0.7)
        F.binary_cross_entropy(x.sigmoid(), y.sigmoid(), w)
        F.binary_cross_entropy_with_logits(x, y.sigmoid(), pos_weight=w)
        F.kl_div(x.log_softmax(1), y.log_softmax(1), log_target=True, reduction="batchmean")
        F.poisson_nll_loss(x, y.abs())
        F.soft_margin_loss(x[:, 0], signs)
        F.hinge_embedding_loss(x[:, 0], signs)
        F.cosine_embedding_loss(x, y, signs)
        x, y: F.margin_ranking_loss(x[:, 0], y[:, 0], signs, margin=0.2)
        x, y: F.triplet_margin_loss(x, y, x.roll(1, 0))
        x, y: F.cosine_similarity(x, y)
        x, y: F.pairwise_distance(x, y)
        """,
        tolerance=1e-5,
        **{name: value for name, value in {**arguments, **names}.items()},
    )


def test_looking_up_and_moving() -> None:
    """Elements that were read several times get the sum of the gradients."""
    check_slopes(
        """
        F.embedding(i, x)
        F.embedding(i, x, padding_idx=2)
        x[i]
        x[:, i]
        x[i, j]
        x[1:4, ::2]
        x.index_select(1, j)
        x.gather(1, i)
        x.take_along_dim(j[None], 1)
        x, y: torch.cat([x, y[:2]]) ** 2
        x, y: torch.stack([x, y], 1)
        x.flip(0).roll(2, 1)
        x.repeat(2, 3)
        x.unfold(1, 3, 2)
        x.T.reshape(3, -1)
        x[:, None].expand(-1, 4, -1)
        x.tril() + x.triu(1)
        x.diagonal() + x.diagonal(1)
        x.diagonal(-3, 1, 0)
        x.masked_fill(x > 0, 0.5)
        x, y: x.index_put((j,), y[:3], accumulate=True)
        x, y: x.index_add(0, j, y[:3])
        x, y: x.scatter_add(1, i, y[:, :3])
        x, y: x.scatter(0, i[:1], y[:1, :3])
        x, y: x.slice_scatter(y[1:3], 0, 1, 3)
        F.unfold(x[None, None], 3)
        F.pixel_shuffle(x[:4, :5, None, None].permute(3, 0, 1, 2), 2)
        """,
        x=numbers(5, 6),
        y=numbers(5, 6, seed=1),
        i=torch.tensor([[0, 2, 2], [4, 1, 0], [3, 3, 3], [0, 1, 2], [1, 1, 4]]),
        j=torch.tensor([4, 0, 0]),
    )


def test_products() -> None:
    """Products of matrices, vectors and batches."""
    check_slopes(
        """
        x, y: x @ y
        x, v: x @ v
        x, y, v: F.linear(x, y.mT[0], v[:5])
        x, y: torch.einsum("bij,bjk->ik", x, y)
        x, y: torch.baddbmm(x @ y, x, y, beta=0.5, alpha=2)
        x, v: x[0, 0].outer(v)
        """,
        x=numbers(2, 4, 6),
        y=numbers(2, 6, 5, seed=1),
        v=numbers(6, seed=2),
        tolerance=1e-4,
    )
