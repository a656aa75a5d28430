"""Twelve models as NumPy programs against torch's eager mode, both in one thread.

    python test/bench/torch_models.py [NAME...]         # the rows of these

A process of its own computes in one thread. Models are small forms of what people write: their
weights are random, their layers those of the families that they are named after.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from measurements import Result, row

WORST_RATIO = 2.0
MEDIAN_RATIO = 1.0


def all_torch_models(names: list[str] | None = None, repetitions: int = 5) -> Iterator[Result]:
    """Two rows for each model, and the median of their ratios."""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--times", str(repetitions), *(names or [])]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    ratios: list[float] = []
    for name, (theirs, ours, first) in json.loads(done.stdout).items():
        yield Result(f"torch eager: {name}", theirs * 1e3, "ms of CPU")
        yield Result(f"runtime to torch eager: {name}", ours / theirs, "ratio", goal=WORST_RATIO)
        yield Result(f"first call to later ones: {name}", first / ours, "ratio", goal=1.5)
        ratios.append(ours / theirs)
    what = f"runtime to torch eager: median of {len(ratios)} models"
    yield Result(what, statistics.median(ratios), "ratio", goal=MEDIAN_RATIO)


def measure(names: list[str], repetitions: int) -> dict[str, tuple[float, float, float]]:
    """CPU seconds of torch, of the compiled model and of its first call, turn by turn."""
    import torch
    from torch_model_families import FAMILIES

    import ttmlir

    torch.set_num_threads(1)
    times: dict[str, tuple[float, float, float]] = {}
    for name in names or FAMILIES:
        torch.set_rng_state(torch.Generator().manual_seed(0).get_state())
        model, inputs = FAMILIES[name]()
        model.eval()
        with torch.no_grad():
            compiled = ttmlir.compile(model, *inputs)
            first = seconds(lambda c=compiled, i=inputs: c(*i))
            result = compiled(*inputs)
            expected = model(*inputs)
            torch.testing.assert_close(
                torch.as_tensor(result),
                expected,
                rtol=1e-3,
                atol=1e-3 * float(expected.abs().max()),
            )
            pairs = [
                (
                    seconds(lambda m=model, i=inputs: m(*i)),
                    seconds(lambda c=compiled, i=inputs: c(*i)),
                )
                for _ in range(repetitions)
            ]
        theirs, ours = (min(each) for each in zip(*pairs, strict=True))
        times[name] = theirs, ours, first
    return times


def seconds(function: Callable[[], Any]) -> float:
    """CPU time of one call."""
    start = time.process_time()
    function()
    return time.process_time() - start


if __name__ == "__main__":
    if sys.argv[1:2] == ["--times"]:
        print(json.dumps(measure(sys.argv[3:], int(sys.argv[2]))))
    else:
        for each in all_torch_models(sys.argv[1:]):
            print(row(each), flush=True)
