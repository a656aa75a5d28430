"""Convolutions, pooling and normalisation against torch."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from samples.torch_programs import check_all

torch: Any = import_module("torch")


def numbers(*shape: int, seed: int = 0) -> Any:
    """Numbers of both signs."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def test_convolutions() -> None:
    """One to two dimensions, strides, groups, transposed ones."""
    check_all(
        """
        F.conv2d(x, w)
        F.conv2d(x, w, b, stride=2, padding=1)
        F.conv2d(x, w, b, stride=(1, 3), padding=(2, 0), dilation=(1, 2))
        F.conv2d(x, w, padding="same")
        F.conv2d(x, w[:, :2], b, groups=2)
        F.conv2d(x, w[:4, :1], groups=4)
        F.conv2d(x[0], w, b)
        F.conv2d(x, w[:, :, :1, :1])
        F.conv1d(x[..., 0], w[..., 0], b, padding=1)
        F.conv1d(x[..., 0], w[..., 0], stride=2, dilation=2)
        F.conv_transpose2d(x, v)
        F.conv_transpose2d(x, v, b, stride=2, padding=1, output_padding=1)
        F.conv_transpose2d(x, v[:, :3], b, stride=(2, 1), groups=2, dilation=(1, 2))
        F.conv_transpose1d(x[..., 0], v[..., 0], b, stride=3)
        F.conv_transpose1d(x[..., 0], v[..., 0], stride=3, padding=2, output_padding=1)
        """,
        x=numbers(2, 4, 9, 11),
        w=numbers(6, 4, 3, 3, seed=1),
        v=numbers(4, 6, 3, 2, seed=2),
        b=numbers(6, seed=3),
        tolerance=1e-4,
    )


def test_pooling() -> None:
    """Largest values and averages of windows, with padding that counts or does not."""
    check_all(
        """
        F.max_pool2d(x, 2)
        F.max_pool2d(x, 3, stride=2, padding=1)
        F.max_pool2d(x, (3, 2), stride=(1, 2), ceil_mode=True)
        F.max_pool2d(x, 2, dilation=2)
        F.max_pool2d(x[0], 2)
        F.max_pool1d(x[0], 3, 2)
        F.avg_pool2d(x, 2)
        F.avg_pool2d(x, 3, stride=2, padding=1)
        F.avg_pool2d(x, 3, stride=2, padding=1, count_include_pad=False)
        F.avg_pool2d(x, (3, 2), ceil_mode=True)
        F.avg_pool2d(x, 2, divisor_override=3)
        F.avg_pool1d(x[0], 3)
        F.lp_pool2d(x, 2, 2)
        F.adaptive_avg_pool2d(x, 1)
        F.adaptive_avg_pool2d(x, (3, 11))
        F.adaptive_max_pool2d(x, (3, 1))
        F.adaptive_avg_pool1d(x[0], 1)
        F.adaptive_avg_pool2d(x, (4, 5))
        F.interpolate(x, scale_factor=2)
        F.interpolate(x, size=(5, 7))
        F.interpolate(x, scale_factor=1.5, mode="bilinear", align_corners=True)
        F.interpolate(x, size=(5, 7), mode="bilinear")
        F.interpolate(x, size=(5, 7), mode="bilinear", antialias=True)
        F.interpolate(x, scale_factor=(1.7, 0.6), mode="bicubic")
        F.interpolate(x, scale_factor=0.45, mode="bicubic", antialias=True, align_corners=True)
        """,
        x=numbers(2, 4, 9, 11),
    )


def test_normalisation() -> None:
    """Over features, groups, channels; with and without weights."""
    check_all(
        """
        F.layer_norm(x, (11,))
        F.layer_norm(x, (9, 11), x[0, 0] * 0.1, x[1, 0])
        F.group_norm(x, 2)
        F.group_norm(x, 4, w, b)
        F.instance_norm(x)
        F.instance_norm(x, weight=w, bias=b)
        F.batch_norm(x, b, w.abs() + 1)
        F.batch_norm(x, b, w.abs() + 1, w, b, eps=0.1)
        F.batch_norm(x, None, None, w, b, training=True)
        F.rms_norm(x, (11,))
        F.rms_norm(x, (11,), x[0, 0, 0])
        F.local_response_norm(x, 3)
        F.dropout(x, 0.5, training=False)
        """,
        x=numbers(2, 4, 9, 11),
        w=numbers(4, seed=1),
        b=numbers(4, seed=2),
        tolerance=1e-4,
    )


def test_products() -> None:
    """Products of vectors, matrices and batches of them."""
    check_all(
        """
        x @ y
        x[0] @ y[0]
        x[0, 0] @ y[0]
        x @ y[0, :, 0]
        x[0, 0] @ y[0, :, 0]
        torch.bmm(x, y)
        torch.mv(x[0], y[0, :, 0])
        torch.dot(x[0, 0], x[0, 1])
        torch.outer(x[0, 0], x[0, 1])
        torch.addmm(x[0, :, :1], x[0], y[0], beta=2, alpha=3)
        torch.addmm(x[0, :, :1], x[0], y[0], beta=0)
        torch.baddbmm(x[:, :, :1], x, y, alpha=2)
        torch.addmv(x[0, :, 0], x[0], y[0, :, 0])
        torch.matmul(x[:, None], y[None])
        x @ y[:1]
        torch.einsum("bij,bjk->bik", x, y)
        torch.einsum("bij,cjk->bcik", x, y)
        torch.einsum("bij->bji", x)
        torch.einsum("bii->bi", x[:, :, :5])
        torch.einsum("bij,bij->b", x, x)
        torch.einsum("i,j->ij", x[0, 0], x[0, 1])
        torch.tensordot(x, y, ([2], [1]))
        torch.kron(x[0], y[0, :2, :2])
        F.linear(x, y[0].t())
        F.linear(x[0, 0], y[0].t(), y[0, 0])
        F.scaled_dot_product_attention(x, x, x)
        F.scaled_dot_product_attention(x, x, x, is_causal=True)
        F.scaled_dot_product_attention(x, x, x, x @ x.mT, scale=0.3)
        F.scaled_dot_product_attention(x, x, x, (x @ x.mT) > 0)
        F.scaled_dot_product_attention(x, x, x, ((x @ x.mT) > 0) & (x[..., :1] > 0))
        F.scaled_dot_product_attention(x, x, x, torch.where(x[..., :1] > 0, x @ x.mT, -torch.inf))
        F.scaled_dot_product_attention(q, x[:, None], x[:, None], enable_gqa=True)
        """,
        x=numbers(2, 5, 7),
        y=numbers(2, 7, 3, seed=1),
        q=numbers(2, 4, 5, 7, seed=2),
    )


@settings(max_examples=8)
@given(st.data())
def test_convolutions_at_random(data: st.DataObject) -> None:
    """Any combination of the parameters."""

    def pair(low: int, high: int) -> tuple[int, int]:
        return data.draw(st.tuples(st.integers(low, high), st.integers(low, high)))

    groups, inner, outer = (data.draw(st.integers(1, 3)) for _ in range(3))
    kernel, stride, padding, dilation = pair(1, 3), pair(1, 3), pair(0, 2), pair(1, 2)
    height, width = pair(5, 9)
    options = f"stride={stride}, padding={padding}, dilation={dilation}, groups={groups}"
    extra = tuple(min(s, d) - 1 for s, d in zip(stride, dilation, strict=True))
    check_all(
        f"""
        F.conv2d(x, w, b, {options})
        F.conv_transpose2d(x, v, b, {options}, output_padding={extra})
        """,
        x=numbers(2, groups * inner, height, width),
        w=numbers(groups * outer, inner, *kernel, seed=1),
        v=numbers(groups * inner, outer, *kernel, seed=2),
        b=numbers(groups * outer, seed=3),
        tolerance=1e-4,
    )
