"""Whether a mutant is noticed: reported, stuck, endless, or wrong in its numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from mutants import Mutant, mutants
from python_mutants import python_mutants
from workload import CallLog, Outcome, Refused, Texts, Workload

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.runtime.errors import ExecutionError
from ttmlir.sim.errors import SimError
from ttmlir.sim.options import SimOptions

CYCLE_LIMIT = 20_000
"""Turns of threads, of which the programs here take less than a tenth."""

SCHEDULES = (
    SimOptions(timed=False, cycle_limit=CYCLE_LIMIT),
    SimOptions(timed=False, cycle_limit=CYCLE_LIMIT, schedule_seed=1, delay_copies=True),
    SimOptions(cycle_limit=100 * CYCLE_LIMIT, schedule_seed=2),
)
"""The last one with clocks: without them the unpacker may be further ahead than on the chip."""


class Fate(Enum):
    """What became of a mutant."""

    REFUSED = "refused by the kernel compiler"
    SAME = "does exactly what the kernel does"
    REPORTED = "reported"
    WRONG = "wrong numbers"
    SURVIVED = "survived"


@dataclass(frozen=True)
class Verdict:
    """The fate of a mutant, and the rule that reported it."""

    workload: str
    kernel: str
    mutant: Mutant
    fate: Fate
    rule: str = ""

    @property
    def key(self) -> str:
        """Names the mutant among all."""
        return f"{self.kernel}: {self.mutant.key}"


def all_mutants(workload: Workload) -> list[tuple[str, Mutant]]:
    """The mutants of all kernels of a program, with the names of the kernels."""
    return [
        (file, each)
        for file, text in workload.kernels.items()
        for each in (python_mutants(text) if file.endswith(".py") else mutants(text, file))
    ]


@dataclass(frozen=True)
class Expected:
    """What the unmutated program does."""

    calls: list[list[object]]
    notes: frozenset[str]
    """Rules that the sanitizer has notes about; they tell nothing about a mutant."""

    @classmethod
    def of(cls, workload: Workload) -> Expected:
        """Run the program as it is."""
        outcome, calls = _logged(workload, workload.kernels)
        assert outcome.right, workload.name
        return cls(calls, frozenset(each.rule for each in outcome.findings))


def _logged(workload: Workload, kernels: Texts) -> tuple[Outcome, list[list[object]]]:
    log = CallLog()
    return workload.run(kernels, _options(workload, SCHEDULES[0]), log), log.calls


def _options(workload: Workload, schedule: SimOptions) -> SimOptions:
    return replace(schedule, leniencies=workload.leniencies)


def judge(workload: Workload, file: str, mutant: Mutant, expected: Expected) -> Verdict:
    """Run a mutant, in one order of its threads after the other, until something notices it."""
    try:
        fate, rule = _fate(workload, {**workload.kernels, file: mutant.text}, expected)
    except Refused:
        fate, rule = Fate.REFUSED, ""
    except (SimError, ExecutionError) as error:
        fate, rule = _reported(error)
    return Verdict(workload.name, file, mutant, fate, rule)


def _reported(error: SimError | ExecutionError) -> tuple[Fate, str]:
    cause = error if isinstance(error, SimError) else error.__cause__
    if not isinstance(cause, SimError):
        raise error
    refused = isinstance(cause.__context__, CppSyntaxError)
    return (Fate.REFUSED, "") if refused else (Fate.REPORTED, cause.rule)


def _fate(workload: Workload, kernels: Texts, expected: Expected) -> tuple[Fate, str]:
    outcome, calls = _logged(workload, kernels)
    if calls == expected.calls:
        return Fate.SAME, ""
    for schedule in (*SCHEDULES[1:], None):
        rules = [each.rule for each in outcome.findings if each.rule not in expected.notes]
        if rules:
            return Fate.REPORTED, rules[0]
        if not outcome.right:
            return Fate.WRONG, ""
        if schedule is not None:
            outcome = workload.run(kernels, _options(workload, schedule), None)
    return Fate.SURVIVED, ""
