"""Runs a program of operations as often as asked, with its reference beside the first run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from ttmlir.runtime.binary import BinaryProgram, Operation
from ttmlir.runtime.device import close_device, open_device
from ttmlir.runtime.element import Array, Numerics, convert
from ttmlir.runtime.execution.executor import Observer
from ttmlir.runtime.execution.prepare import prepare
from ttmlir.runtime.golden import GoldenObserver, GoldenResult, Tolerance
from ttmlir.runtime.session import prepare_submission, run_prepared, to_host, to_layout
from ttmlir.runtime.tensor import Tensor

if TYPE_CHECKING:
    from ttmlir.runtime.generic.runner import GenericReport, GenericRunner
    from ttmlir.runtime.metal.session import MetalRun


class Golden(Protocol):
    """What a golden run found."""

    tolerance: Tolerance
    results: list[GoldenResult]

    @property
    def without_reference(self) -> Sequence[Operation]:
        """Loops and branches, which are not compared."""
        ...

    @property
    def first_failure(self) -> GoldenResult | None:
        """The first operation that is off."""
        ...


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """How programs are run."""

    numerics: Numerics
    golden: bool = False
    """Run the reference of each operation beside the first run."""
    keep_golden: bool = False
    """Keep the results of the reference, too."""
    tolerance: Tolerance = field(default_factory=Tolerance)
    warm_up: bool = False
    """Run programs of operations once before those runs that are timed and watched."""
    runs: Callable[[], Iterable[int]] = lambda: range(1)
    """Counts the runs; called once for each program."""


@dataclass(frozen=True, kw_only=True)
class ProgramRun:
    """What running a program gave; the arrays have the host's types."""

    inputs: list[Array]
    outputs: list[Array]
    durations: list[int]
    """Nanoseconds of each run."""
    golden: Golden | None
    peak_bytes: dict[str, int]
    """Most bytes that were in use in each memory of the device; empty for kernels."""
    kernels: MetalRun | None = None
    """What the simulator says about the last run of a program of kernels."""
    generics: Sequence[GenericReport] = ()
    """What the programs of kernels among the operations of the last run did."""
    details: dict[str, Any] = field(default_factory=dict[str, Any])
    """What the results say about the simulated device."""


def run_operations(
    program: BinaryProgram,
    inputs: list[Array],
    settings: RunSettings,
    make_observer: Callable[[], Observer | None],
    make_runner: Callable[[BinaryProgram], GenericRunner] | None = None,
) -> ProgramRun:
    """Run a program of a `.ttnn` file.

    `make_observer` gives what watches a run, if the reference does not, and `make_runner` what runs
    programs of kernels, if there are any.
    """
    chips = prepare(program, settings.numerics).chip_ids
    device = open_device(chips or (0,), numerics=settings.numerics)
    try:
        tensors = [
            to_layout(Tensor.from_numpy(array), device, ref.desc)
            for array, ref in zip(inputs, program.inputs, strict=True)
        ]
        prepared = prepare_submission(device, program.binary, program.index, tensors)
        golden = _golden_observer(program, tensors, settings) if settings.golden else None
        if settings.warm_up and golden is None and not prepared.has_kernels:
            run_prepared(device, prepared, tensors)
        durations: list[int] = []
        outputs: list[Tensor] = []
        runner: GenericRunner | None = None
        for number in settings.runs():
            observer = golden if number == 0 and golden is not None else make_observer()
            runner = make_runner(program) if make_runner and prepared.has_kernels else None
            start = time.perf_counter_ns()
            outputs = run_prepared(device, prepared, tensors, observer, runner)
            durations.append(time.perf_counter_ns() - start)
        return ProgramRun(
            inputs=inputs,
            outputs=[to_host(tensor).to_numpy() for tensor in outputs],
            durations=durations,
            golden=golden,
            peak_bytes={space.keyword: size for space, size in prepared.peak_bytes.items()},
            generics=() if runner is None else tuple(runner.reports),
            details={} if runner is None else _kernel_details(runner.reports),
        )
    finally:
        close_device(device)


def _kernel_details(reports: Sequence[GenericReport]) -> dict[str, Any]:
    return {
        "cycles": sum(each.report.cycles for each in reports),
        "kernels": [
            {"index": each.operation.index, "name": each.title, "cycles": each.report.cycles}
            for each in reports
        ],
        "findings": [str(finding) for each in reports for finding in each.report.findings],
    }


def _golden_observer(
    program: BinaryProgram, inputs: list[Tensor], settings: RunSettings
) -> GoldenObserver:
    arrays = [
        convert(tensor.values, ref.desc.element.compute)
        for tensor, ref in zip(inputs, program.inputs, strict=True)
    ]
    return GoldenObserver(arrays, settings.tolerance, keep_tensors=settings.keep_golden)
