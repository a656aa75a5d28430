"""The benchmarks run on small programs; nothing is said about their times."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from runpy import run_path
from typing import Any

import cost_report
import direct_to_metal
import eager
import eltwise_report
import gemm_report
import models
import numpy as np
import pytest
import tuning
from measurements import (
    Result,
    compared_with_stock_xdsl,
    execution,
    row,
    scaling,
    start_up,
)
from ml_dtypes import bfloat16
from simulation import default_attention, tile_by_tile, tile_products
from transformer import Size

from ttmlir.cost.times import cost_operation
from ttmlir.cost.work import Work, make_desc

ROW_WISE = (direct_to_metal.softmax(33, 70), direct_to_metal.layer_norm(33, 70))
SMALL = Size(1, sequence=33, width=64, heads=2)
"""A block of a transformer that does not take long."""


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    ("measure", "rows"),
    [
        (partial(start_up, repetitions=1), 1),
        (partial(scaling, lengths=(1, 2, 5)), 4),
        (partial(compared_with_stock_xdsl, length=5, repetitions=1), 4),
        (partial(execution, layers=2, width=40, repetitions=1), 3),
        (partial(eager.importing, repetitions=1), 1),
        (partial(eager.operations, extent=33, repetitions=1), 12),
        (partial(models.compilation, layers=(1, 2), repetitions=1), 3),
        (
            partial(
                models.execution,
                layers=1,
                repetitions=1,
                batch=2,
                sequence=5,
                width=12,
                heads=3,
            ),
            3,
        ),
        (partial(models.constants, mebibytes=1), 3),
        (partial(tile_by_tile, extent=64, repetitions=1, compared=False), 8),
        (partial(tile_products, extent=64, repetitions=1), 5),
        (partial(default_attention, heads=1, tokens=32, width=32, repetitions=1), 4),
        (lambda: direct_to_metal.cosh_rows(direct_to_metal.cosh(64, 96)), 7),
        (lambda: direct_to_metal.add_rows(direct_to_metal.add(64, 96)), 3),
        (lambda: direct_to_metal.matmul_rows((64, 96, 128)), 6),
        (lambda: direct_to_metal.row_wise_rows(ROW_WISE), 10),
        (lambda: direct_to_metal.block_rows(SMALL), 7),
        (lambda: direct_to_metal.compilation_rows((1, 2), SMALL), 3),
    ],
    ids=[
        *("start_up", "scaling", "compared_with_stock_xdsl", "execution"),
        *("import ttnn", "ttnn operations"),
        *("transformer", "run transformer", "constants"),
        *("tile_by_tile", "tile_products", "default_attention"),
        *("kernels of cosh", "kernels of add", "kernels of matmul"),
        *("kernels of rows", "kernels of a block", "compilation to kernels"),
    ],
)
def test_benchmark_gives_its_rows(measure: Callable[[], Iterable[Result]], rows: int) -> None:
    """Every row has a positive value; `execution` compares the results with NumPy's itself."""
    results = list(measure())
    assert len(results) == rows
    assert all(result.value > 0 for result in results)


def test_row_says_when_a_goal_is_missed() -> None:
    """A goal is the largest value that satisfies, or the least."""
    assert row(Result("a", 1.0, "s", goal=1.0)) == "| a | 1 s | ≤ 1 |"
    assert row(Result("a", 1.5, "s", goal=1.0)) == "| a | 1.5 s | ≤ 1 (missed) |"
    assert row(Result("a", 1.5, "s")) == "| a | 1.5 s |  |"
    assert row(Result("a", 0.5, "ratio", least=0.5)) == "| a | 0.5 ratio | ≥ 0.5 |"
    assert row(Result("a", 0.4, "ratio", least=0.5)) == "| a | 0.4 ratio | ≥ 0.5 (missed) |"


def test_simulated_products_take_about_as_long_as_measured_ones() -> None:
    """The smallest product of tt-metal's report at LoFi, within 15 %."""
    compared = list(gemm_report.compare([(512, 512, 512)], ["bfp8 LoFi"]))
    assert [each.case for each in compared] == ["bfp8 LoFi"]
    assert all(0.85 <= each.ratio <= 1.15 for each in compared)


def test_row_of_products() -> None:
    """Cycles with separators, and their ratio."""
    shape = (512, 1024, 2048)
    comparisons = [
        gemm_report.Comparison(shape, "bf16 HiFi2", 48_132, 50_539),
        gemm_report.Comparison(shape, "bf16 HiFi4", 50_012, 45_011),
    ]
    expected = "| 512x1024x2048 | 50,539 of 48,132: 1.05 | 45,011 of 50,012: 0.90 |"
    assert gemm_report.row(shape, comparisons) == expected


@pytest.mark.parametrize(
    ("cases", "count", "median"),
    [
        (cost_report.tuned_cases, 50, 0.1),
        (cost_report.other_product_cases, 8, 0.2),
        (cost_report.operation_cases, 32, 0.2),
        (cost_report.model_cases, 6, 0.25),
    ],
    ids=["tuned products", "other products", "operations", "models"],
)
def test_estimates_are_near_public_figures(
    cases: Callable[[], Iterable[cost_report.Case]], count: int, median: float
) -> None:
    """Half of them by less than the median, none by more than half of the time."""
    errors = [abs(each.estimate_ns()[1] / each.measured_ns - 1) for each in cases()]
    assert len(errors) == count
    assert statistics.median(errors) <= median
    assert max(errors) <= 0.5


def test_estimates_are_near_simulated_times() -> None:
    """Kernels in the way of ttnn's, 39 cores with a tile each, within 15 %."""
    case = eltwise_report.Case("silu", 96, 416)
    zeros = np.zeros((96, 416), np.float32)
    _, times = eltwise_report.simulate(case, (zeros, zeros))
    desc = make_desc((96, 416))
    work = Work(mnemonic="silu", operands=(desc,), output=desc)
    [program] = cost_operation(cost_report.N150, work).programs
    assert program.cores == 39
    assert program.cycles.mid == pytest.approx(times.kernel_ns, rel=0.15)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("operation", ["silu", "sigmoid", eltwise_report.ADD])
def test_timed_elementwise_programs_are_right(operation: str) -> None:
    """What is timed computes what NumPy computes, to the 8 bits of a bfloat16."""
    rng = np.random.default_rng(3)
    numbers = (rng.standard_normal((96, 416)) * 4 for _ in range(2))
    x, y = (each.astype(bfloat16).astype(np.float32) for each in numbers)
    result, times = eltwise_report.simulate(eltwise_report.Case(operation, 96, 416), (x, y))
    logistic = 1 / (1 + np.exp(-x))
    expected = {"silu": x * logistic, "sigmoid": logistic, "add": x + y}[operation]
    np.testing.assert_allclose(result, expected, rtol=2**-8, atol=2**-16)
    assert len({thread.core for thread in times.threads}) == 39


def test_simulated_silu_takes_about_as_long_as_the_measured_one() -> None:
    """1024x1024, within 10 % of the kernel as tt-metal PR 41949 left it."""
    case = next(each for each in eltwise_report.CASES if each.rows == 1024)
    zeros = np.zeros((1024, 1024), np.float32)
    _, times = eltwise_report.simulate(case, (zeros, zeros))
    assert 0.9 <= times.kernel_ns / case.measured_ns[0] <= 1.1


def test_row_of_an_elementwise_operation() -> None:
    """A ratio for each of the measured times, and none where none was measured."""
    measured = eltwise_report.report(eltwise_report.Case("silu", 32, 32, (1000, 2000)))
    assert measured.startswith("| silu 32x32 | ")
    assert measured.count(" to ") == 2
    alone = eltwise_report.report(eltwise_report.Case("add", 32, 64))
    assert alone.startswith("| add 32x64 | ")
    assert alone.endswith(" |  |  | dispatch |")


@pytest.mark.exhaustive
def test_what_tuning_brings_is_a_table() -> None:
    """A row for each network, on few images and candidates."""
    rows = tuning.table(budget=2, images=3)
    assert len(rows) == 2 + len(tuning.MODELS)
    assert all(float(line.split("|")[4]) >= 1 for line in rows[2:])


def test_tables_are_chosen_by_their_names(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only these are measured, in the order of the command; other names are an error."""
    run: Any = run_path(str(Path(__file__).with_name("__main__.py")))
    called: list[str] = []

    def table(name: str) -> Iterator[Result]:
        called.append(name)
        yield Result(name, 2, "s", goal=1)

    for tables in (run["TABLES"], run["SIMULATIONS"]):
        for name in tables:
            monkeypatch.setitem(tables, name, partial(table, name))
    run["main"](["default_sum", "eager"])
    assert called == ["default_sum", "eager"]
    assert "| eager | 2 s | ≤ 1 (missed) |" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        run["main"](["sums"])
    assert "there is no table 'sums'" in capsys.readouterr().err
    run["main"]([])
    assert called[2:] == [*run["TABLES"]]
