"""Programs that `ttir-to-ttmetal-pipeline` makes of ttir: fused, in blocks, on several cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any
from unittest.mock import patch

import numpy as np
from mutants import normalised
from running.kernel_runs import KERNEL_PIPELINE
from running.pass_runner import lowered
from samples.ttir_text import FunctionText, tensor
from workload import Outcome, Texts, Workload

from ttmlir.runtime import read_binary
from ttmlir.runtime.metal_program import Command, MetalBinary, MetalProgram
from ttmlir.runtime.metal_session import execute
from ttmlir.sim.options import SimOptions
from ttmlir.sim.timing.timeline import Timeline
from ttmlir.target.flatbuffer.ttmetal import ttmetal_to_flatbuffer

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Fused:
    """A function of ttir, what it means in NumPy, and the cores that it is given."""

    text: Callable[[], str]
    shapes: Sequence[tuple[int, ...]]
    reference: Callable[..., Array]
    cores: str
    tolerance: float = 0.0
    """Of numbers that are no integers."""
    change: Callable[[Array], Array] = np.asarray
    """What is made of each input, of integers from -2 to 2."""


def _chain() -> str:
    """Absolute values, a row that is added to all, and the input once more."""
    type_, row = tensor(40, 80, element="bf16"), tensor(1, 80, element="bf16")
    text = FunctionText([type_, row])
    value = text.op("add", [text.op("abs", ["%arg0"], type_), "%arg1"], type_)
    return text.returning(text.op("multiply", [value, "%arg0"], type_))


def _sums() -> str:
    """Sums of squares, whose padding is 1 until a mask makes it 0."""
    type_ = tensor(70, 90)
    text = FunctionText([type_])
    less = text.op("subtract", ["%arg0", text.constant("1.0", tensor(1, 1))], type_)
    over = "dim_arg = [1 : i32], keep_dim = true"
    squares = text.op("square", [less], type_)
    return text.returning(text.op("sum", [squares], tensor(70, 1), over))


def _softmax() -> str:
    """Three passes over rows: the largest number, the sum of powers, the quotients."""
    type_ = tensor(40, 70)
    text = FunctionText([type_])
    return text.returning(text.op("softmax", ["%arg0"], type_, "dimension = 1 : si32"))


def _spread(x: Array) -> Array:
    """Rows below 0, rows that powers overflow for, rows with such a tile, and plain ones."""
    row, column = np.indices(x.shape)
    return x + np.choose(row % 4, [-150, 150, 150 * (column // 32 == row % 12 // 4), 0])


def _powers(x: Array) -> Array:
    powers = np.exp(x - x.max(1, keepdims=True))
    return np.asarray(powers / powers.sum(1, keepdims=True))


def _product() -> str:
    """Both operands go to several cores, and the bias to each."""
    text = FunctionText([tensor(*shape, element="bf16") for shape in PRODUCT])
    type_ = tensor(PRODUCT[0][0], PRODUCT[1][1], element="bf16")
    product = text.op("matmul", ["%arg0", "%arg1"], type_)
    return text.returning(text.op("add", [product, "%arg2"], type_))


PRODUCT = ((192, 96), (96, 192), (1, 192))


def _views() -> str:
    """Heads of attention: whole tiles from elsewhere, those of one operand transposed."""
    text = FunctionText([tensor(64, 128, element="bf16")])
    heads = text.op(
        *("reshape", ["%arg0"], tensor(64, 2, 64, element="bf16")),
        "shape = [64 : i32, 2 : i32, 64 : i32]",
    )
    order = "permutation = array<i64: 1, 0, 2>"
    heads = text.op("permute", [heads], tensor(2, 64, 64, element="bf16"), order)
    order = "permutation = array<i64: 0, 2, 1>"
    turned = text.op("permute", [heads], tensor(2, 64, 64, element="bf16"), order)
    return text.returning(text.op("matmul", [heads, turned], tensor(2, 64, 64, element="bf16")))


def _scores(x: Array) -> Array:
    heads = x.reshape(64, 2, 64).transpose(1, 0, 2)
    return np.asarray(heads @ heads.transpose(0, 2, 1))


def _gather() -> str:
    """Parts of tiles: neighbours that are not aligned, and elements from anywhere."""
    text = FunctionText([tensor(3, 34, 7)])
    order = "permutation = array<i64: 1, 0, 2>"
    turned = text.op("permute", ["%arg0"], tensor(34, 3, 7), order)
    flat = text.op("reshape", [turned], tensor(34, 21), "shape = [34 : i32, 21 : i32]")
    return text.returning(text.op("abs", [flat], tensor(34, 21)))


_PROGRAMS = {
    "fused_chain": Fused(
        _chain, [(40, 80), (1, 80)], lambda x, row: (np.abs(x) + row) * x, cores="1,2"
    ),
    "fused_sums": Fused(
        _sums, [(70, 90)], lambda x: ((x - 1) ** 2).sum(1, keepdims=True), cores="1,2"
    ),
    "fused_softmax": Fused(
        *(_softmax, [(40, 70)], _powers), cores="1,1", tolerance=1e-3, change=_spread
    ),
    "fused_product": Fused(_product, PRODUCT, lambda x, w, row: x @ w + row, cores="2,3"),
    "fused_views": Fused(_views, [(64, 128)], _scores, cores="1,2"),
    "fused_gather": Fused(
        *(_gather, [(3, 34, 7)]),
        lambda x: np.abs(x).transpose(1, 0, 2).reshape(34, 21),
        cores="1,2",
    ),
}


def workloads() -> list[Workload]:
    """All programs."""
    return [_workload(name, fused) for name, fused in _PROGRAMS.items()]


@cache
def _program(name: str) -> MetalProgram:
    fused = _PROGRAMS[name]
    module = lowered(fused.text(), f"{KERNEL_PIPELINE}=override-device-shape={fused.cores}")
    binary = read_binary(ttmetal_to_flatbuffer(module), f"{name}.ttm")
    assert isinstance(binary, MetalBinary)
    return binary.metal_programs[0]


def _workload(name: str, fused: Fused) -> Workload:
    def read() -> Texts:
        return {
            f"{kernel.name}.cpp": normalised(kernel.source, kernel.name)
            for command in _program(name).commands
            if command.description
            for kernel in command.description.kernels
        }

    def run(kernels: Texts, options: SimOptions, timeline: Timeline | None) -> Outcome:
        changed = replace(_program(name))
        changed.__dict__["commands"] = tuple(_with(each, kernels) for each in changed.commands)
        rng = np.random.default_rng(5)
        integers = (rng.integers(-2, 3, shape) for shape in fused.shapes)
        inputs = [fused.change(each).astype(np.float32) for each in integers]
        with patch("ttmlir.runtime.metal_session.Timeline", lambda: timeline):
            result = execute(changed, inputs, options, record=timeline is not None)
        [output] = result.outputs
        findings = [each for step in result.reports for each in step.report.findings]
        expected = fused.reference(*inputs)
        right = np.allclose(output, expected, rtol=fused.tolerance, atol=fused.tolerance)
        return Outcome(right, findings, output.tobytes(), result.cycles)

    return Workload(name, read, run)


def _with(command: Command, kernels: Texts) -> Command:
    """A command with other kernels."""
    if command.description is None:
        return command
    changed = tuple(
        replace(each, source=kernels.get(f"{each.name}.cpp", each.source))
        for each in command.description.kernels
    )
    return replace(command, description=replace(command.description, kernels=changed))
