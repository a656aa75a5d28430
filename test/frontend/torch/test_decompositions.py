"""Operations that are expressed in torch, against torch itself."""

from __future__ import annotations

import itertools
from importlib import import_module
from typing import Any, TypeAlias

import pytest
from running.sampling import sampled
from samples.torch_programs import check_all

import ttmlir

torch: Any = import_module("torch")


def numbers(*shape: int, dtype: Any = torch.float32, seed: int = 0) -> Any:
    """Numbers of both signs that are not whole."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator).to(dtype)


def places(*shape: int, count: int, seed: int = 0) -> Any:
    """Numbers of elements."""
    return torch.randint(0, count, shape, generator=torch.Generator().manual_seed(seed))


Sampling: TypeAlias = tuple[str, bool, list[tuple[str, str, str]]]


@pytest.mark.parametrize(
    "case",
    sampled(
        [
            (
                "zeros",
                False,
                [("x", "g", "bilinear"), ("y", "h", "bilinear"), ("x", "g", "bicubic")],
            ),
            ("zeros", True, [("x", "g", "bilinear"), ("y", "h", "nearest")]),
            ("border", True, [("x", "g", "nearest"), ("y", "h", "bilinear")]),
            ("border", False, [("x", "g", "bilinear"), ("one", "g", "bilinear")]),
            ("reflection", False, [("x", "g", "bicubic"), ("one", "g", "bilinear")]),
            ("reflection", True, [("x", "g", "bilinear"), ("one", "g", "nearest")]),
        ]
    ),
)
def test_sampling_of_images(case: Sampling) -> None:
    """Grids that reach over the edges, of one element and more, in two and three dimensions."""
    padding, align, modes = case
    cases = "\n".join(
        f"F.grid_sample({image}, {grid}, mode='{mode}', padding_mode='{padding}', "
        f"align_corners={align})"
        for image, grid, mode in modes
    )
    check_all(
        cases,
        x=numbers(2, 3, 5, 7),
        y=numbers(2, 2, 3, 5, 4),
        one=numbers(2, 3, 1, 7),
        g=numbers(2, 4, 6, 2, seed=1) * 1.3,
        h=numbers(2, 2, 3, 4, 3, seed=2) * 1.3,
    )


def test_grids_of_affine_maps() -> None:
    """As spatial transformers use them."""
    check_all(
        """F.grid_sample(
            x, F.affine_grid(t, (2, 3, 4, 6), align_corners=False), align_corners=False
        )""".replace("\n", ""),
        x=numbers(2, 3, 5, 7),
        t=torch.eye(2, 3).repeat(2, 1, 1) + numbers(2, 2, 3, seed=1) * 0.2,
    )


def test_resizing() -> None:
    """By products with matrices, smoothed or not, to larger and smaller images."""
    sizes = ["size=(3, 14)", "scale_factor=(1.3, 0.6)"]
    cases = "\n".join(
        f"F.interpolate(x, {size}, mode='{mode}', antialias={smooth}, align_corners={align})"
        for size, mode, smooth, align in itertools.product(
            sizes, ("bilinear", "bicubic"), (False, True), (False, True)
        )
    )
    check_all(
        f"""{cases}
        F.interpolate(x[0], size=4, mode='linear')
        F.interpolate(x[:, :, None], size=(2, 9, 3), mode='trilinear', align_corners=True)
        """,
        x=numbers(2, 3, 7, 9),
    )


REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


def slices(dim: int, reduce: str, keep: bool) -> str:
    """The same of whole slices, which torch does not add up."""
    mode = "mean" if reduce == "sum" else reduce
    return f"x.index_reduce({dim}, j{dim}, t{dim}, '{mode}', include_self={keep})"


@pytest.mark.filterwarnings("ignore:index_reduce")
@pytest.mark.parametrize("dtype", [torch.float32, torch.int32], ids=str)
def test_combining_at_places(dtype: Any) -> None:
    """All modes, with and without what was there; sources may be larger than the places."""
    cases = "\n".join(
        f"""x.scatter_reduce({dim}, i, s, '{reduce}', include_self={keep})
        {slices(dim, reduce, keep)}"""
        for dim, reduce, keep in zip(
            (0, 1) * 5, REDUCTIONS * 2, (True,) * 5 + (False,) * 5, strict=True
        )
    )
    x, s = numbers(5, 7) * 3, numbers(6, 8, seed=1) * 3
    check_all(
        cases,
        x=x.to(dtype),
        s=s.to(dtype),
        i=places(4, 6, count=5),
        j0=places(4, count=5),
        t0=s[:4, :7].to(dtype),
        j1=places(3, count=7),
        t1=s[:5, :3].to(dtype),
    )


def test_writing_by_masks_and_numbers() -> None:
    """As many elements as a mask has, elements of the whole tensor, places of what is not 0."""
    x = numbers(5, 7)
    cases = """
        x.masked_scatter(x > 0, y)
        x.masked_scatter(x[0] > 0, y)
        x.put(torch.tensor([0, 33, -2]), y[0, :3])
        x.put(torch.tensor([3, 3, 4]), y[0, :3], accumulate=True)
        torch.nonzero_static(x > 0, size=40)
        torch.nonzero_static(x > 0, size=4)
        torch.nonzero_static(x[0] > 9, size=2, fill_value=7)
    """
    check_all(cases, x=x, y=numbers(5, 7, seed=1))


def test_bags_of_rows() -> None:
    """Sums, means and maxima; empty bags, weights, numbers that do not count."""
    cases = """
        F.embedding_bag(i.reshape(4, 3), w, mode='mean')
        F.embedding_bag(i.reshape(4, 3), w, mode='sum')
        F.embedding_bag(i.reshape(4, 3), w, mode='max')
        F.embedding_bag(i, w, torch.tensor([0, 2, 2, 7]), mode='mean')
        F.embedding_bag(i, w, torch.tensor([0, 2, 2, 7]), mode='max')
        F.embedding_bag(i, w, torch.tensor([0, 5]), mode='sum', per_sample_weights=s)
        F.embedding_bag(i, w, torch.tensor([0, 5, 12]), mode='sum', include_last_offset=True)
        F.embedding_bag(i, w, torch.tensor([0, 5]), mode='mean', padding_idx=2)
    """
    check_all(cases, w=numbers(9, 5), i=places(12, count=9), s=numbers(12, seed=1))


def test_products_and_distances() -> None:
    """Of few rows, and of so many that torch multiplies matrices."""
    cases = """
        torch.addbmm(m, a, b, beta=0.5, alpha=2)
        torch.addbmm(m, a, b, beta=0)
        F.bilinear(a[0], a[1], t)
        torch.conv_tbc(a, t.permute(1, 2, 0)[:3], torch.ones(4), 1)
        torch.pdist(a[0])
        torch.pdist(a[0], p=1)
    """
    orders = (0, 1, 2, 3, float("inf"))
    cases += "\n".join(f"torch.cdist(a, a + 1, p=float('{order}'))" for order in orders)
    cases += """
        torch.cdist(l, l[:5] * 2)
        torch.cdist(l, l[:5], compute_mode='donot_use_mm_for_euclid_dist')
    """
    check_all(
        cases,
        tolerance=1e-4,
        m=numbers(5, 4),
        a=numbers(3, 5, 6),
        b=numbers(3, 6, 4, seed=1),
        t=numbers(4, 6, 6),
        l=numbers(33, 7),
    )


def test_grouped_products() -> None:
    """Of more and of fewer rows than matrices, with empty groups."""
    cases = """
        torch._grouped_mm(x, w, offs=e)
        torch._grouped_mm(x[:4], w, offs=torch.clamp(e, max=4))
    """
    x, w = (numbers(*shape, dtype=torch.bfloat16) for shape in ((16, 8), (5, 8, 24)))
    check_all(cases, tolerance=0.02, x=x, w=w, e=torch.tensor([3, 3, 9, 9, 16], dtype=torch.int32))


def test_quantized_numbers() -> None:
    """For the whole tensor and for each channel."""
    cases = """
        torch.fake_quantize_per_tensor_affine(x, 0.1, 3, -20, 20)
        torch.fake_quantize_per_tensor_affine(x, s[0], z[0], -20, 20)
        torch.fake_quantize_per_channel_affine(x, s, z, 1, -8, 7)
    """
    check_all(
        cases,
        x=numbers(3, 5, 7) * 3,
        s=torch.rand(5, generator=torch.Generator().manual_seed(0)) + 0.1,
        z=places(5, count=4).to(torch.int32),
    )


SPECIAL = """
    torch.special.i0(x)
    torch.special.i0e(x)
    torch.special.i1(x)
    torch.special.i1e(x)
    torch.special.erfcx(x)
    torch.special.log_ndtr(x)
    torch.digamma(x)
    torch.polygamma(1, x)
    torch.polygamma(2, x.abs() + 0.1)
    torch.polygamma(3, x.abs() + 0.1)
    torch.special.zeta(x.abs() + 1.5, x.abs() + 0.1)
    torch.special.zeta(2.0, x.abs() + 0.1)
    torch.copysign(x, y)
    torch.copysign(x, -1.5)
    torch.signbit(x)
    torch.ldexp(x, i)
    F.rrelu(x)
"""


def test_special_functions() -> None:
    """Of small and large numbers of both signs."""
    x = torch.cat([numbers(33) * 3, torch.linspace(-9.05, 30, 41)])
    y = torch.tensor([0.0, -0.0, 1.0, -1.0, torch.nan, -torch.inf]).repeat(13)[: len(x)]
    check_all(SPECIAL, tolerance=2e-5, x=x, y=y, i=places(len(x), count=9).to(torch.int32) - 4)


def test_special_functions_at_their_ends() -> None:
    """Poles, infinities, NaN, and integers that become real."""
    ends = torch.tensor([0.0, -0.0, 1.0, -1.0, -2.0, torch.inf, -torch.inf, torch.nan, 88.0, -5.0])
    cases = """
        torch.digamma(x)
        torch.special.i0e(x)
        torch.special.i1e(x)
        torch.special.erfcx(x)
        torch.special.i0(i)
        torch.digamma(i + 1)
        torch.signbit(x)
        torch.signbit(i)
        torch.copysign(i, x[:9])
    """
    check_all(cases, x=ends, i=torch.arange(9) - 4)


def test_windows() -> None:
    """Adaptive maxima of uneven windows, their places, and what undoes a pooling."""
    cases = """
        F.adaptive_max_pool2d(x, (3, 5))
        F.adaptive_max_pool2d(x, (3, 5), return_indices=True)
        F.adaptive_max_pool2d(x, (7, 3), return_indices=True)
        F.adaptive_max_pool2d(x[0], (2, 9))
        F.adaptive_max_pool1d(x[0], 4, return_indices=True)
        F.adaptive_max_pool3d(x[:, :, None], (1, 3, 4), return_indices=True)
        F.max_unpool2d(x[:, :, :3, :4], i, 2)
        x.unfold(2, 3, 1)
        x.unfold(3, 2, 2)
        x.unfold(1, 2, 3)
        x.unfold(3, 4, 3).unfold(2, 2, 1)
    """
    i = torch.randperm(48, generator=torch.Generator().manual_seed(1))[:12].reshape(3, 4)
    check_all(cases, x=numbers(2, 3, 7, 9), i=i.expand(2, 3, 3, 4).contiguous())


def test_losses_of_several_labels() -> None:
    """Labels of each row up to the first -1; one row by itself."""
    cases = "\n".join(
        f"F.multilabel_margin_loss({x}, {y}, reduction='{reduction}')"
        for x, y in (("x", "y"), ("x[1]", "y[1]"))
        for reduction in ("none", "mean", "sum")
    )
    labels = [[3, 0, -1, 2], [1, -1, -1, -1], [-1, 0, 1, 2], [2, 1, 0, 3]]
    check_all(cases, x=numbers(4, 4), y=torch.tensor(labels))


def test_bits_of_numbers() -> None:
    """As numbers of another type of the same width."""
    check_all("x.view(torch.int32)\nx.to(torch.bfloat16).view(torch.int16)", x=numbers(3, 5))


def test_checks_of_all_and_any() -> None:
    """What torch makes of `torch._check_tensor_all`, as transformers' models of images call it."""
    check_all(
        """torch.ops.aten._is_all_true(some)
        torch.ops.aten._is_all_true(every)
        torch.ops.aten._is_any_true(some)
        torch.ops.aten._is_any_true(~every)""",
        some=torch.tensor([[True, False, True]]),
        every=torch.ones(3, 5, dtype=torch.bool),
    )


def test_check_of_a_tensor_is_left_out() -> None:
    """It has no result; torch checks it while it runs."""

    def checked(x: Any) -> Any:
        torch._check_tensor_all(x > 0)
        return x + 1

    x = torch.arange(1.0, 6.0)
    assert torch.equal(ttmlir.compile(checked, x)(x), x + 1)


def test_segments() -> None:
    """Of each kind, with and without an initial value, an empty one, and a batch of them."""
    check_all(
        """torch.segment_reduce(x, "sum", lengths=n)
        torch.segment_reduce(x, "mean", lengths=n)
        torch.segment_reduce(x, "mean", lengths=n, initial=2.5)
        torch.segment_reduce(x, "max", lengths=n)
        torch.segment_reduce(x[:, 0], "min", lengths=n, initial=-0.25)
        torch.segment_reduce(x, "prod", lengths=n, initial=3)
        torch.segment_reduce(x, "sum", offsets=o)
        torch.segment_reduce(b, "max", lengths=m, axis=1)""",
        x=numbers(7, 3),
        n=torch.tensor([2, 0, 5]),
        o=torch.tensor([0, 3, 7]),
        b=numbers(2, 7, 3),
        m=torch.tensor([[2, 1, 4], [3, 3, 1]]),
    )


def test_counts_and_repetitions_of_known_sizes() -> None:
    """Numbers below a bound are counted, and elements repeated to a size that is said."""
    check_all(
        """torch.bincount(i, minlength=6)
        torch.bincount(i, w, minlength=6)
        torch.bincount(i, w.double(), minlength=6)
        torch.repeat_interleave(x, n, output_size=7)
        torch.repeat_interleave(x[:, None] * w[:2], n, 0, output_size=7)""",
        i=places(9, count=6),
        w=numbers(9),
        x=numbers(3),
        n=torch.tensor([4, 0, 3]),
    )


def test_lists_of_tensors() -> None:
    """Functions of torch on several tensors at once, in place, too."""
    cases = """torch._foreach_add(xs, ys, alpha=2) + torch._foreach_add(xs, [1.0, 2.0])
        torch._foreach_sub(xs, 0.5) + torch._foreach_mul(xs, a[0, 0]) + torch._foreach_div(xs, ys)
        torch._foreach_addcmul(xs, ys, ys, value=0.3) + torch._foreach_pow(2.0, xs)
        torch._foreach_addcdiv(xs, ys, torch._foreach_exp(ys), [0.3, 0.4])
        torch._foreach_norm(xs) + torch._foreach_norm(xs, 1) + torch._foreach_max(xs)
        torch._foreach_maximum(xs, 0.0) + torch._foreach_minimum(xs, ys)
        torch._foreach_lerp(xs, ys, 0.3) + torch._foreach_lerp(xs, ys, ys)
        torch._foreach_sqrt(torch._foreach_abs(xs)) + torch._foreach_clamp_max(xs, 0.2)"""
    named = cases.replace("xs", "[a, b]").replace("ys", "[b, a]")
    check_all(named, a=numbers(2, 3), b=numbers(2, 3, seed=1))

    def change(a: Any, b: Any) -> Any:
        kept = [a.clone(), b.clone(), b + 1]
        torch._foreach_mul_(kept, 0.5)
        torch._foreach_copy_(kept[:1], [b])
        torch._foreach_zero_(kept[1:2])
        factors = torch.tensor([0.5, -2.0])
        torch._foreach_addcdiv_(kept[::2], [a, b], [b, a], factors)
        torch._foreach_addcmul_(kept[::2], [a, b], [b, a], [0.5, 0.2])
        return kept + list(torch._foreach_addcmul([a, b], [b, b], [a, b], factors))

    a, b = numbers(2, 3), numbers(2, 3, seed=1)
    torch.testing.assert_close(ttmlir.compile(change, a, b)(a, b), change(a, b))
