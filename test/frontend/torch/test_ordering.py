"""torch's operations that put numbers in order, and those that are made of them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from samples.torch_programs import check_all, imported, run

torch: Any = import_module("torch")


def few(*shape: int, dtype: Any = torch.float32, seed: int = 0) -> Any:
    """Whole numbers of which many are equal."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-4, 5, shape, generator=generator).to(dtype)


def different(*shape: int, seed: int = 0) -> Any:
    """Numbers of which no two are equal: where torch does not say which of equals it takes."""
    count = torch.Size(shape).numel()
    order = torch.randperm(count, generator=torch.Generator().manual_seed(seed))
    return (order - count // 3).to(torch.float32).reshape(shape) / 7


def with_nan(x: Any) -> Any:
    """Some rows with several NaN, one with nothing else."""
    x = x.clone()
    x[0, 3], x[0, 5], x[1, 0], x[2] = torch.nan, torch.nan, torch.nan, torch.nan
    return x


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.int32, torch.uint8], ids=str)
def test_sorting(dtype: Any) -> None:
    """Stable, in both directions, along every dimension."""
    cases = """
        torch.sort(x, stable=True, dim=0)
        torch.sort(x, stable=True, dim=-1, descending=True)
        torch.argsort(x, dim=1, stable=True)
        torch.argsort(x, dim=1, stable=True, descending=True)
        torch.sort(x, 1).values
        torch.msort(x)
        x.flatten().sort(descending=True).values
    """
    check_all(
        cases,
        x=few(3, 37, 5).abs().to(dtype) if dtype == torch.uint8 else few(3, 37, 5, dtype=dtype),
    )


def test_nan_is_the_largest() -> None:
    """Last in ascending order, first in descending order and among the largest."""
    cases = """
        torch.sort(x, stable=True, dim=1)
        torch.sort(x, stable=True, dim=1, descending=True)
        torch.topk(x, 3, 1).values
        torch.topk(x, 3, 1, largest=False).values
    """
    check_all(cases, x=with_nan(different(4, 11)))


def test_the_largest() -> None:
    """So many of them, or of the smallest ones, in order; of one number by itself."""
    cases = """
        torch.topk(x, 5)
        torch.topk(x, 4, 0, largest=False)
        torch.topk(x, 33, 1)
        torch.topk(x, 1, 2)
        torch.topk(x[0, 0, 0], 1)
        torch.sort(x[0, 0, 0])
    """
    check_all(cases, x=different(4, 33, 7))


STATISTICS = """
    torch.kthvalue(x, 3, 1)
    torch.kthvalue(x, 2, 0, keepdim=True)
    torch.median(x)
    torch.median(x, 1)
    torch.median(x, 0, keepdim=True)
    torch.nanmedian(x, 1)
    torch.nanmedian(x)
    torch.quantile(x, 0.3, dim=1)
    torch.quantile(x, torch.tensor([0.1, 0.5]), dim=0)
    torch.nanquantile(x, 0.3, dim=1)
"""


def test_statistics() -> None:
    """Of even and odd numbers of elements, with values and places."""
    check_all(STATISTICS, x=different(4, 11))
    check_all("torch.median(x)\ntorch.median(x, 0)\ntorch.kthvalue(x, 1)", x=torch.tensor(3.0))


def test_statistics_with_nan() -> None:
    """The median of a row with NaN is NaN, at its first place; others leave NaN out."""
    x = with_nan(different(4, 11))
    cases = """
        torch.median(x, 1)
        torch.median(x)
        torch.nanmedian(x, 1).values
        torch.nanmedian(x)
        torch.nanquantile(x, 0.3, dim=1)
    """
    check_all(cases, x=x)


def test_the_most_frequent_number() -> None:
    """The smallest of several, and a place where it is."""
    x = few(6, 37)
    check_all("torch.mode(x, 1).values\ntorch.mode(x, 0, keepdim=True).values", x=x)
    program = imported(lambda x: torch.mode(x, 1), x)
    values, places = run(program, x)
    assert torch.equal(x.gather(1, places.unsqueeze(1)).squeeze(1), values)


def test_running_values() -> None:
    """Products, sums of exponentials, and extremes with the last places where they are."""
    cases = """
        torch.cumprod(x, 0)
        torch.cumprod(x, 1, dtype=torch.float64)
        torch.cumprod(i, 2)
        torch.cummax(x, 1)
        torch.cummin(i, 1)
        torch.logcumsumexp(x, 1)
        torch.logcumsumexp(x * 50, 2)
        torch.cummax(x[0, 0, 0], 0)
        torch.cumprod(x[0, 0, 0], 0)
    """
    check_all(cases, x=different(3, 37, 5) / 9, i=few(3, 37, 5, dtype=torch.int32))


def test_running_extremes_with_nan() -> None:
    """NaN stays, at its last place so far."""
    check_all("torch.cummax(x, 1)\ntorch.cummin(x, 1)", x=with_nan(few(4, 11)))


def test_histograms() -> None:
    """Parts of a range, that of the numbers if none is given; the last part has its end, too."""
    x = different(7, 11)
    cases = """
        torch.histc(x, 5, -1, 3)
        torch.histc(x, 4)
        torch.histc(torch.ones(3) * x.amax(), 6)
        torch.histc(i.to(torch.float32), 8, 0, 7)
    """
    check_all(cases, x=x, i=few(5, 9, dtype=torch.int32).abs())


@pytest.mark.parametrize("count", [7, 100])
def test_places_among_sorted_numbers(count: int) -> None:
    """By comparison with few numbers, by halving of many."""
    cases = """
        torch.bucketize(x, b)
        torch.bucketize(x, b, right=True, out_int32=True)
        torch.searchsorted(rows, x)
        torch.searchsorted(rows, x, side="right")
        torch.searchsorted(b, x)
        torch.searchsorted(b, 1.0)
        torch.searchsorted(mixed, x, sorter=torch.argsort(mixed, dim=1, stable=True))
    """
    x = torch.cat([few(3, 9), torch.tensor([[torch.nan], [torch.inf], [-torch.inf]])], 1)
    mixed = torch.arange(3 * count).reshape(3, count).flip(1).to(torch.float32) % 7
    check_all(
        cases,
        x=x,
        b=torch.linspace(-4, 4, count),
        rows=few(3, count, seed=1).sort(1).values,
        mixed=mixed,
    )
