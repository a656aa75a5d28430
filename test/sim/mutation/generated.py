"""Programs that the compiler makes of ttir."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
from mutants import normalised
from samples.ttir_text import FunctionText, tensor
from workload import Outcome, Texts, Workload

from ttmlir.compiler import compile_to_ttm
from ttmlir.runtime import read_binary
from ttmlir.runtime.metal_program import Command, MetalBinary, MetalProgram
from ttmlir.runtime.metal_session import execute
from ttmlir.sim.options import SimOptions
from ttmlir.sim.timing.timeline import Timeline

LENIENCIES = frozenset({"aliased-cbs", "pop-unfilled"})
"""What kernels on tensors that stay in place need: they do without synchronisation."""

SHAPE = (40, 80)

_OPERATIONS: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "generated_sum": (("add",), np.add),
    "generated_chain": (("subtract", "abs"), lambda a, b: np.abs(a - b)),
    "generated_select": (("maximum", "neg"), lambda a, b: -np.maximum(a, b)),
}


def workloads() -> list[Workload]:
    """All programs."""
    return [_workload(name) for name in _OPERATIONS]


@cache
def _program(name: str) -> MetalProgram:
    type_ = tensor(*SHAPE, element="bf16")
    text = FunctionText((type_, type_), constraint="#tile")
    first, *rest = _OPERATIONS[name][0]
    value = text.op(first, ["%arg0", "%arg1"], type_)
    for mnemonic in rest:
        value = text.op(mnemonic, [value], type_)
    binary = read_binary(compile_to_ttm(text.returning(value)), f"{name}.ttm")
    assert isinstance(binary, MetalBinary)
    return binary.metal_programs[0]


def _sources(program: MetalProgram) -> list[str]:
    """The different kernels of a program, in the order of their use."""
    return list(dict.fromkeys(each.source for step in program.commands for each in step.kernels))


def _workload(name: str) -> Workload:
    def read() -> Texts:
        files = {
            f"{name}_{i}.cpp": normalised(source, name)
            for i, source in enumerate(_sources(_program(name)))
        }
        # The kernels that make tiles of rows, and rows of tiles, are the same everywhere.
        shared = ("tilize_block", "untilize_block")
        return {
            file: text
            for file, text in files.items()
            if name == "generated_sum" or not any(call in text for call in shared)
        }

    def run(kernels: Texts, options: SimOptions, timeline: Timeline | None) -> Outcome:
        program = _program(name)
        sources = {
            source: kernels.get(f"{name}_{i}.cpp", source)
            for i, source in enumerate(_sources(program))
        }
        changed = replace(program)
        changed.__dict__["commands"] = tuple(_with(each, sources) for each in program.commands)
        rng = np.random.default_rng(5)
        inputs = [rng.integers(-9, 10, SHAPE).astype(np.float32) for _ in range(2)]
        with patch("ttmlir.runtime.metal_session.Timeline", lambda: timeline):
            result = execute(changed, inputs, options, record=timeline is not None)
        [output] = result.outputs
        findings = [each for step in result.reports for each in step.report.findings]
        right = np.array_equal(np.asarray(output, np.float32), _OPERATIONS[name][1](*inputs))
        return Outcome(bool(right), findings, output.tobytes(), result.cycles)

    return Workload(name, read, run, LENIENCIES)


def _with(command: Command, sources: dict[str, str]) -> Command:
    kernels = tuple(replace(each, source=sources[each.source]) for each in command.kernels)
    return replace(command, kernels=kernels)
