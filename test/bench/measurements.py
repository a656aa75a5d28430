"""What is measured: each function gives rows of the table.

Times are the smallest of several repetitions, and CPU time where one thread works, which leaves out
what else the machine does; ratios are taken within one run.
"""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from chain import chain, perceptron

from ttmlir.compiler import compile_to_ttnn, lower, write_ttnn
from ttmlir.runtime import Tensor, get_layout, open_device, read_binary, submit, to_layout

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Result:
    """A row of the table; `goal` is the largest value that satisfies, `least` the smallest."""

    what: str
    value: float
    unit: str
    goal: float | None = None
    least: float | None = None

    @property
    def is_met(self) -> bool:
        """True without a goal, or if it is reached."""
        return (self.goal is None or self.value <= self.goal) and (
            self.least is None or self.value >= self.least
        )


def best(
    function: Callable[[], object],
    repetitions: int,
    clock: Callable[[], float] = time.process_time,
) -> float:
    """Seconds of the fastest call."""
    times: list[float] = []
    for _ in range(repetitions):
        gc.collect()  # What earlier calls have left is not this one's work.
        started = clock()
        function()
        times.append(clock() - started)
    return min(times)


def scaling(lengths: tuple[int, int, int] = (100, 1_000, 10_000)) -> Iterator[Result]:
    """Pipeline and translation of longer and longer programs."""
    costs: dict[int, float] = {}
    for length in lengths:
        source = chain(length)
        repetitions = max(1, min(5, 5_000 // length))
        costs[length] = best(lambda source=source: compile_to_ttnn(source), repetitions) / length
        yield Result(f"compile a chain of {length:,} operations", costs[length] * 1e6, "µs per op")
    _, middle, largest = lengths
    ratio = costs[largest] / costs[middle]
    yield Result(f"cost per op, {largest:,} to {middle:,} operations", ratio, "ratio", goal=1.3)


def compared_with_stock_xdsl(length: int = 2_000, repetitions: int = 3) -> Iterator[Result]:
    """Reading, pipeline and translation against stock xDSL's parse, verify and print."""
    source = chain(length)
    pairs = [
        (stock_time(source), best(lambda: compile_to_ttnn(source), 1)) for _ in range(repetitions)
    ]
    theirs, ours = (min(times) for times in zip(*pairs, strict=True))
    module = lower(source)
    translation = best(lambda: write_ttnn(module), repetitions)
    yield Result(f"stock xDSL: parse, verify, print {length:,} operations", theirs, "s of CPU")
    yield Result(f"ttmlir: parse, verify, compile, write {length:,} operations", ours, "s of CPU")
    yield Result("of which: write the file", translation, "s of CPU")
    yield Result("ttmlir to stock xDSL", ours / theirs, "ratio", goal=1.0)


def stock_time(source: str) -> float:
    """Seconds that stock xDSL takes, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chain.mlir"
        path.write_text(source, encoding="utf-8")
        command = [sys.executable, str(HERE / "stock_xdsl.py"), str(path)]
        stock = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(stock.stdout)


def start_up(repetitions: int = 5) -> Iterator[Result]:
    """CPU time of `ttmlir-opt` on a small module, its start included."""
    tool = Path(sys.executable).parent / "ttmlir-opt"
    command = [str(tool), "--ttir-to-ttnn-backend-pipeline", "-"]
    times = [cpu_time(command, chain(2)) for _ in range(repetitions)]
    yield Result("ttmlir-opt on a module of 2 operations", min(times), "s of CPU", goal=0.25)


def cpu_time(command: list[str], text: str) -> float:
    """User and system time of a command that reads `text`, with its bytecode kept on disk."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command, input=text, stdout=subprocess.DEVNULL, text=True, check=True, env=environment
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def execution(layers: int = 10, width: int = 1024, repetitions: int = 5) -> Iterator[Result]:
    """A perceptron through a `.ttnn` file against the same NumPy calls by hand."""
    rng = np.random.default_rng(7)
    scale = np.float32(np.sqrt(2.0 / width))
    x = rng.standard_normal((width, width), np.float32)
    weights = [rng.standard_normal((width, width), np.float32) * scale for _ in range(layers)]
    biases = [rng.standard_normal((1, width), np.float32) for _ in range(layers)]

    def by_hand() -> np.ndarray:
        value = x
        for weight, bias in zip(weights, biases, strict=True):
            value = np.maximum(np.add(np.matmul(value, weight), bias), 0)
        return value

    binary = read_binary(compile_to_ttnn(perceptron(layers, width)), "perceptron")
    device = open_device()
    arrays = [x, *(array for pair in zip(weights, biases, strict=True) for array in pair)]
    inputs = [
        to_layout(Tensor.from_numpy(array), device, get_layout(binary, 0, i))
        for i, array in enumerate(arrays)
    ]
    [result] = submit(device, binary, 0, inputs)
    np.testing.assert_allclose(result.to_numpy(), by_hand(), rtol=1e-4, atol=1e-4)
    clock = time.perf_counter
    pairs = [
        (best(by_hand, 1, clock), best(lambda: submit(device, binary, 0, inputs), 1, clock))
        for _ in range(repetitions)
    ]
    theirs, ours = (min(times) for times in zip(*pairs, strict=True))
    name = f"{layers} layers of {width}x{width}"
    yield Result(f"NumPy by hand: {name}", theirs, "s")
    yield Result(f"the .ttnn file: {name}", ours, "s")
    yield Result("runtime to NumPy by hand", ours / theirs, "ratio", goal=1.2)


def all_results() -> Iterator[Result]:
    """Every row."""
    yield from start_up()
    yield from scaling()
    yield from compared_with_stock_xdsl()
    yield from execution()


def row(result: Result) -> str:
    """A row of a Markdown table."""
    goals = [
        f"{sign} {limit:g}"
        for sign, limit in (("≤", result.goal), ("≥", result.least))
        if limit is not None
    ]
    missed = "" if result.is_met else " (missed)"
    return f"| {result.what} | {result.value:.3g} {result.unit} | {', '.join(goals)}{missed} |"
