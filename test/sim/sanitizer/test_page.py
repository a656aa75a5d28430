"""The kernels of the page about the sanitizer: each mistake is found, correct ones pass."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sanitizer_cases import KERNELS, MACHINE_CASES, SANITIZER_CASES, Case, run
from sanitizer_page import numbers

from ttmlir.sim.errors import LENIENCIES, PROFILES, SimError
from ttmlir.sim.options import SimOptions

CASES = SANITIZER_CASES + MACHINE_CASES
SANITIZER = Path(__file__).resolve().parents[3] / "ttmlir" / "sim" / "sanitizer"

UNORDERED = {
    *("race", "read-before-barrier", "reuse-before-barrier", "write-before-barrier"),
    *("missing-barrier", "cb-unreserved-write", "cb-unwaited-read", "cb-pop-unwaited"),
    *("cb-push-unreserved", "dst-wait", "semaphore-address"),
}
"""Rules that find a mistake whatever the order is in which threads happen to run."""


@pytest.mark.parametrize("case", CASES, ids=[case.rule for case in CASES])
def test_the_mistake_is_found(case: Case) -> None:
    """There is one report, in the kernel that was changed or where the change takes effect."""
    outcome = run(case.kernels, SimOptions(), numbers(), case.page_size)
    assert len(outcome.reports) == 1
    first = outcome.reports[0].splitlines()[0]
    assert first.endswith(f"[{case.rule}]")
    assert ("error: " in first) == case.error
    assert (outcome.result != b"") != case.error


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.rule in UNORDERED],
    ids=[case.rule for case in CASES if case.rule in UNORDERED],
)
def test_the_mistake_is_found_in_any_order(case: Case, seed: int) -> None:
    """What does not depend on luck is found on every schedule."""
    options = SimOptions(schedule_seed=seed, timed=False, delay_copies=seed % 2 == 1)
    outcome = run(case.kernels, options, numbers())
    assert f"[{case.rule}]" in outcome.reports[0].splitlines()[0]


@pytest.mark.parametrize("timed", [True, False])
@pytest.mark.parametrize("delay_copies", [True, False])
@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_correct_kernels_pass(seed: int | None, delay_copies: bool, timed: bool) -> None:
    """Without the mistakes there is no report, and the tensor is copied."""
    options = SimOptions(schedule_seed=seed, delay_copies=delay_copies, timed=timed)
    outcome = run(KERNELS, options, numbers())
    assert outcome.reports == ()
    assert outcome.result == numbers()


def test_the_page_has_every_rule() -> None:
    """Each rule that the sanitizer reports has its section."""
    sources = "".join(path.read_text(encoding="utf-8") for path in SANITIZER.glob("*.py"))
    literal = r'"([a-z]+(?:-[a-z]+)+)"'
    named = re.findall(rf"rule={literal}|^ +{literal},$|^ +rule, .*= {literal}", sources, re.M)
    rules = {name for names in named for name in names if name}
    assert len(rules) > 10
    assert rules <= {case.rule for case in CASES}


def test_the_list_of_leniencies_is_complete() -> None:
    """What the sanitizer and the units of a core report can be named, and nothing else."""
    simulator = SANITIZER.parent
    sources = "".join(path.read_text(encoding="utf-8") for path in SANITIZER.glob("*.py"))
    units = "".join(path.read_text(encoding="utf-8") for path in simulator.rglob("*.py"))
    literal = r'"([a-z]+(?:-[a-z]+)*)"'
    named = re.findall(
        rf"rule={literal}|^ +{literal},$|^ +rule(?:, .*)? = {literal}", sources, re.M
    )
    reported = re.findall(rf"self\.report\(\s*{literal}", units)
    found = {name for names in named for name in names if name} | set(reported)
    looser = {"aliased-cbs", "pop-unfilled", "noc-alignment"}
    assert found | looser | set(PROFILES) == set(LENIENCIES)
    assert len(LENIENCIES) == len(set(LENIENCIES))


def test_profiles_stand_for_rules() -> None:
    """Others may be named beside them."""
    chosen = SimOptions(leniencies=frozenset({"tt-metal", "race"})).leniencies
    assert chosen >= {"race", "cb-pop-unwaited", "uninitialised-read"}
    assert "out-of-bounds" not in chosen


def test_unknown_leniencies_are_refused() -> None:
    """A name that is no finding's would let nothing pass, and nobody would notice."""
    with pytest.raises(SimError, match="no finding 'no-such-rule' to let pass; supported are alia"):
        SimOptions(leniencies=frozenset({"race", "no-such-rule"}))
