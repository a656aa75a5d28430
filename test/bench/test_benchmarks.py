"""The benchmarks run on small programs; nothing is said about their times."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import gemm_report
import pytest
from measurements import (
    Result,
    compared_with_stock_xdsl,
    execution,
    row,
    scaling,
    start_up,
)


@pytest.mark.parametrize(
    ("measure", "rows"),
    [
        (partial(start_up, repetitions=1), 1),
        (partial(scaling, lengths=(1, 2, 5)), 4),
        (partial(compared_with_stock_xdsl, length=5, repetitions=1), 4),
        (partial(execution, layers=2, width=40, repetitions=1), 3),
    ],
    ids=["start_up", "scaling", "compared_with_stock_xdsl", "execution"],
)
def test_benchmark_gives_its_rows(measure: Callable[[], Iterable[Result]], rows: int) -> None:
    """Every row has a positive value; `execution` compares the results with NumPy's itself."""
    results = list(measure())
    assert len(results) == rows
    assert all(result.value > 0 for result in results)


def test_row_says_when_a_goal_is_missed() -> None:
    """A goal is the largest value that satisfies."""
    assert row(Result("a", 1.0, "s", goal=1.0)) == "| a | 1 s | ≤ 1 |"
    assert row(Result("a", 1.5, "s", goal=1.0)) == "| a | 1.5 s | ≤ 1 (missed) |"
    assert row(Result("a", 1.5, "s")) == "| a | 1.5 s |  |"


def test_simulated_products_take_about_as_long_as_measured_ones() -> None:
    """The smallest product of tt-metal's report at LoFi, within 15 %."""
    compared = list(gemm_report.compare([(512, 512, 512)], ["bfp8 LoFi"]))
    assert [each.case for each in compared] == ["bfp8 LoFi"]
    assert all(0.85 <= each.ratio <= 1.15 for each in compared)


def test_row_of_a_product() -> None:
    """Cycles with separators, and their ratio."""
    comparison = gemm_report.Comparison((512, 1024, 2048), "bf16 HiFi2", 48_132, 50_539)
    expected = "| 512x1024x2048 | bf16 HiFi2 | 48,132 | 50,539 | 1.05 |"
    assert gemm_report.row(comparison) == expected
