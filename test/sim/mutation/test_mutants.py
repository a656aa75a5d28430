"""A sample of the mutants of all kernels is noticed, and nothing is found in the kernels."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from running.sampling import sampled

from ttmlir.sim.options import SimOptions

HERE = Path(__file__).resolve().parent
STRIDE = 41
"""Every so manieth mutant is run; all of them by `python test/sim/mutation`."""
QUARTERS = sampled(range(4), every=4)
"""Three of four of these are left to `make test-all`."""
FUSED = 4
"""So many times fewer of those of fused programs, which run on several cores."""

PROGRAMS = (
    *("eltwise_add_1x1", "matmul_single_core_1x1", "matmul_multi_core_2x2"),
    *("matmul_multi_core_reuse_2x1", "matmul_multicast_3x1", "matmul_multicast_1x3"),
    *("matmul_sharded_3x1", "handshake", "sfpu_chain", "tilize_untilize"),
    *("reduce_and_broadcast", "sharded", "generated_sum", "generated_chain", "generated_select"),
    *("fused_chain", "fused_sums", "fused_softmax", "fused_product", "fused_views"),
    *("fused_gather", "AddRow", "SumRows", "Linear", "Gather", "Share"),
)
OPTIONS = [
    {"schedule_seed": seed, "delay_copies": late, "numerics": numerics, "timed": seed is None}
    for numerics, seed, late in (
        ("device", None, False),
        ("exact", None, True),
        ("device", 3, True),
        ("exact", 4, False),
    )
]


def modules() -> tuple[Any, Any, Any]:
    """The modules of this folder, which is no package."""
    for place in (HERE, HERE.parents[1] / "support"):
        if str(place) not in sys.path:
            sys.path.append(str(place))
    names = ("programs", "detection", "survivors")
    programs, detection, survivors = (import_module(name) for name in names)
    return programs, detection, survivors


def workload_named(name: str) -> Any:
    """A program by its name."""
    return {each.name: each for each in modules()[0].all_workloads()}[name]


def test_all_programs_are_tested() -> None:
    """The names here are those that there are."""
    assert [each.name for each in modules()[0].all_workloads()] == list(PROGRAMS)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_found_in_the_kernels_themselves(name: str) -> None:
    """In any order, with copies that come late, with both numerics; notes are no errors."""
    workload = workload_named(name)
    for options in OPTIONS:
        chosen = replace(SimOptions(**options), leniencies=workload.leniencies)
        outcome = workload.run(workload.kernels, chosen, None)
        assert outcome.right
        assert {each.rule for each in outcome.findings} <= {"atomic-open"}


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("quarter", QUARTERS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_mutants_are_noticed(name: str, quarter: int) -> None:
    """Or there is a reason why they need not be."""
    _, detection, survivors = modules()
    workload = workload_named(name)
    expected = detection.Expected.of(workload)
    first, stride = PROGRAMS.index(name), STRIDE
    if name.startswith("fused_"):
        stride *= FUSED
    for file, mutant in detection.all_mutants(workload)[first::stride][quarter::4]:
        verdict = detection.judge(workload, file, mutant, expected)
        survived = verdict.fate is detection.Fate.SURVIVED
        assert not survived or survivors.reason_for(name, verdict.key), verdict.key
