"""Runs a specification and compares its buffers with what is expected: `run_spec`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ttmlir.kernel_tool.checking import KernelToolError
from ttmlir.kernel_tool.spec_program import Array, SpecBuffer, SpecText, build_program, read_values
from ttmlir.limits import DEFAULT_CYCLE_LIMIT
from ttmlir.metalium import EnqueueProgram, EnqueueReadBuffer
from ttmlir.runtime.golden import compare
from ttmlir.sim.errors import Finding, SimError


@dataclass(frozen=True, kw_only=True)
class BufferResult:
    """A buffer against what is expected."""

    name: str
    passes: bool
    text: str
    """How it was compared, and the first difference if it fails."""

    def __str__(self) -> str:
        """A line of the report."""
        return f"{self.name}: {'pass' if self.passes else 'FAIL'}: {self.text}"


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """What a specification did."""

    results: tuple[BufferResult, ...]
    findings: tuple[Finding, ...]
    """Warnings and notes of the sanitizer."""
    cycles: int
    num_cores: int
    warnings: tuple[str, ...] = ()
    """What compiling the kernels had to say, as compilers print it."""

    @property
    def passes(self) -> bool:
        """Whether all buffers are as expected."""
        return all(each.passes for each in self.results)

    def __str__(self) -> str:
        """Results, findings, cycles."""
        lines = [str(each) for each in self.results]
        if not lines:
            lines.append("nothing is expected of any buffer: give one 'expected'")
        lines += [each.text() for each in self.findings]
        count = len(self.findings)
        lines.append(f"{count or 'no'} finding{'s' * (count != 1)}")
        cores = f"{self.num_cores} core{'s' * (self.num_cores != 1)}"
        lines.append(f"{self.cycles:,} cycles on {cores}")
        return "\n".join(lines)


def run_spec(
    file: str,
    *,
    include_folders: Sequence[str] = (),
    sanitize: bool = True,
    cycle_limit: int = DEFAULT_CYCLE_LIMIT,
    tt_metal: str | None = None,
    print_line: Callable[[str], None] | None = None,
) -> RunReport:
    """Run the program of a specification.

    Raises KernelToolError for what is wrong with the specification or the kernels, and for what the
    sanitizer finds.
    """
    made = build_program(
        SpecText(file),
        include_folders=include_folders,
        sanitize=sanitize,
        cycle_limit=cycle_limit,
        tt_metal=tt_metal,
        print_line=print_line,
    )
    expected = {
        name: read_values(each.table, "expected", each.tensor)
        for name, each in made.buffers.items()
        if each.table.has("expected")
    }
    for each in made.buffers.values():
        _read_bounds(each)
    queue = made.device.command_queue()
    try:
        report = EnqueueProgram(queue, made.program)
    except SimError as error:
        raise KernelToolError(str(error)) from error
    results = list[BufferResult]()
    for name, values in expected.items():
        buffer = made.buffers[name]
        data = EnqueueReadBuffer(queue, buffer.buffer, dtype=np.uint8).tobytes()
        results.append(_compare(buffer, buffer.tensor.decode(data), values))
    return RunReport(
        results=tuple(results),
        findings=report.findings,
        cycles=report.cycles,
        num_cores=report.num_cores,
        warnings=tuple(made.device.simulated.warnings),
    )


def _read_bounds(buffer: SpecBuffer) -> tuple[float | None, float, float]:
    """The least PCC, if there is one, and the absolute and relative tolerance."""
    table = buffer.table
    bounds = [key for key in ("pcc", "atol", "rtol") if table.has(key)]
    if bounds and not table.has("expected"):
        raise table.error(f"'{bounds[0]}' without 'expected' compares nothing", bounds[0])
    if table.has("pcc") and len(bounds) > 1:
        raise table.error("a buffer is compared by 'pcc', or by 'atol' and 'rtol'", "pcc")
    pcc = table.take_number("pcc", 0) if table.has("pcc") else None
    if pcc is not None and pcc > 1:
        raise table.error("'pcc' is a number from 0 to 1", "pcc")
    return pcc, table.take_number("atol", 0), table.take_number("rtol", 0)


def _compare(buffer: SpecBuffer, actual: Array, expected: Array) -> BufferResult:
    pcc, atol, rtol = _read_bounds(buffer)
    x, y = actual.astype(np.float64), expected.astype(np.float64)
    with np.errstate(all="ignore"):
        close = np.isclose(x, y, rtol=rtol, atol=atol, equal_nan=True)
    wrong = np.argwhere(~close)
    if pcc is None:
        passes = not len(wrong)
        bound = f"within atol {atol:g} and rtol {rtol:g}" if atol or rtol else "exactly"
        text = f"{actual.size} numbers agree {bound}" if passes else ""
    else:
        found = compare(actual, expected, rtol=rtol, atol=atol).pcc
        passes = found >= pcc
        text = f"PCC {found:.6f}, at least {pcc:g}"
    if not passes:
        first = tuple(int(each) for each in wrong[0])
        difference = (
            f"{len(wrong)} of {actual.size} numbers differ; first at {list(first)}: "
            f"{x[first]:.9g} instead of {y[first]:.9g}"
        )
        text = f"{text}; {difference}" if text else difference
    return BufferResult(name=buffer.name, passes=passes, text=text)
