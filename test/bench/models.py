"""Whole models: a transformer from StableHLO to results, and large constants.

    python test/bench/models.py         # the rows of these

A process of its own that computes in one thread takes the times of running, as threads that wait
for each other would count.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import large_constants
import numpy as np
from measurements import Result, best, row
from transformer import Size, numpy_transformer, random_inputs, stablehlo_text
from xdsl.dialects.func import FuncOp

from ttmlir.compiler import compile_to_ttnn, lower
from ttmlir.runtime import (
    Tensor,
    get_layout,
    open_device,
    read_binary,
    submit,
    to_layout,
)

PIPELINE = "stablehlo-to-ttnn-pipeline"
COMPILE_SECONDS = 10
RUN_RATIO = 1.5


def compilation(layers: tuple[int, int] = (12, 48), repetitions: int = 2) -> Iterator[Result]:
    """From StableHLO's text to the bytes of a file, for two numbers of layers."""
    costs: list[float] = []
    for count in layers:
        source = stablehlo_text(Size(count))
        module = lower(source, "inline")
        [function] = [op for op in module.ops if isinstance(op, FuncOp)]
        operations = sum(
            op.name.startswith(("stablehlo.", "chlo.")) for op in function.body.block.ops
        )
        del module, function
        seconds = best(lambda source=source: compile_to_ttnn(source, PIPELINE), repetitions)
        costs.append(seconds / operations)
        yield Result(
            f"compile a transformer of {count} layers, {operations:,} StableHLO operations",
            seconds,
            "s of CPU",
            goal=COMPILE_SECONDS if count == layers[0] else None,
        )
    what = f"cost per operation, {layers[1]} to {layers[0]} layers"
    yield Result(what, costs[1] / costs[0], "ratio", goal=1.3)


def execution(layers: int = 12, repetitions: int = 5, **extents: int) -> Iterator[Result]:
    """The file of a transformer against the same NumPy calls by hand, in one process."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    size = json.dumps({"layers": layers, **extents})
    command = [sys.executable, __file__, "--execution", size, str(repetitions)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    theirs, ours = json.loads(done.stdout)
    name = f"transformer of {layers} layers, batch {extents.get('batch', 1)}"
    yield Result(f"NumPy by hand: {name}", theirs, "s of CPU")
    yield Result(f"the .ttnn file: {name}", ours, "s of CPU")
    yield Result(f"runtime to NumPy by hand: {name}", ours / theirs, "ratio", goal=RUN_RATIO)


def run_times(size: Size, repetitions: int) -> tuple[float, float]:
    """Seconds of NumPy by hand and of the file, turn by turn; the results are compared."""
    binary = read_binary(compile_to_ttnn(stablehlo_text(size), PIPELINE), "transformer")
    device = open_device()
    arrays = random_inputs(size)
    inputs = [
        to_layout(Tensor.from_numpy(array), device, get_layout(binary, 0, i))
        for i, array in enumerate(arrays)
    ]
    [result] = submit(device, binary, 0, inputs)
    expected = numpy_transformer(size, *arrays)
    np.testing.assert_allclose(result.to_numpy(), expected, rtol=1e-3, atol=1e-4)
    times: list[tuple[float, float]] = []
    for _ in range(repetitions):
        gc.collect()
        start = time.process_time()
        numpy_transformer(size, *arrays)
        middle = time.process_time()
        submit(device, binary, 0, inputs)
        times.append((middle - start, time.process_time() - middle))
    theirs, ours = (min(each) for each in zip(*times, strict=True))
    return theirs, ours


def constants(mebibytes: int = 100) -> Iterator[Result]:
    """Memory of a process that reads, compiles and runs a program with large constants."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "constants.mlir"
        shape = large_constants.write_text(path, mebibytes, "hex")
        compiling, _ = large_constants.measure("compile", path, shape)
        peak, seconds = large_constants.measure("in one", path, shape)
    goal = 3 * mebibytes + 300
    what = f"compile {mebibytes} MiB of weights as constants: peak memory"
    yield Result(what, compiling, "MiB", goal=goal)
    what = f"read, compile and run {mebibytes} MiB of constants"
    yield Result(f"{what}: time", seconds, "s")
    yield Result(f"{what}: peak memory", peak, "MiB", goal=goal)


def all_models() -> Iterator[Result]:
    """Every row."""
    yield from compilation()
    yield from execution(batch=1)
    yield from execution(batch=4)
    yield from constants()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--execution"]:
        print(json.dumps(run_times(Size(**json.loads(sys.argv[2])), int(sys.argv[3]))))
    else:
        for each in all_models():
            print(row(each), flush=True)
