"""The same program with the same options gives the same bytes, cycles and reports, anywhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TEST = Path(__file__).resolve().parents[2]
GOLDEN = TEST / "golden"

SCRIPT = """
import hashlib, sys
import numpy as np
sys.path[:0] = [sys.argv[1], sys.argv[2]]
import handwritten
from ttmlir.runtime import read_binary
from ttmlir.runtime.metal_session import execute
from ttmlir.sim.errors import SimError
from ttmlir.sim.options import SimOptions

options = [
    SimOptions(), SimOptions(schedule_seed=7, delay_copies=True),
    SimOptions(schedule_seed=8, timed=False, numerics="exact"),
]
for workload in handwritten.workloads():
    for chosen in options:
        outcome = workload.run(workload.kernels, chosen, None)
        print(workload.name, outcome.cycles, hashlib.sha256(outcome.result).hexdigest())
    for file, text in workload.kernels.items():
        broken = text.replace("noc_async_read_barrier();", "")
        broken = broken.replace("cb_pop_front", "cb_wait_front")
        try:
            workload.run({**workload.kernels, file: broken}, options[1], None)
        except SimError as error:
            print(error)
with open(sys.argv[3], "rb") as file:
    program = read_binary(file.read(), "file.ttm").metal_programs[0]
inputs = [np.ones(each.ref.desc.shape, np.float32) for each in program.input_tensors]
lenient = SimOptions(leniencies=frozenset({"aliased-cbs", "pop-unfilled"}))
run = execute(program, inputs, lenient)
print(run.cycles, hashlib.sha256(run.outputs[0].tobytes()).hexdigest())
print([each.report.threads for each in run.reports])
"""


@pytest.mark.exhaustive
def test_two_processes_agree() -> None:
    """Whatever the seeds of their hashes are."""
    folders = [str(TEST / "sim" / "mutation"), str(TEST / "support")]
    runs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT, *folders, str(GOLDEN / "chain.ttm")],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    assert runs[0].count("\n") > 30
    assert "error: " in runs[0]


ROAD = """
import hashlib, sys
import numpy as np
from ttmlir.compiler import D2M_PIPELINE, lower, write_ttm
from ttmlir.runtime import read_binary
from ttmlir.runtime.metal_session import execute
from ttmlir.sim.options import SimOptions

for path in sys.argv[1:]:
    with open(path) as file:
        text = file.read()
    data = write_ttm(lower(text, D2M_PIPELINE, file_name="model.mlir"))
    program = read_binary(data, "model.ttm").metal_programs[0]
    rng = np.random.default_rng(1)
    shapes = [each.ref.desc.shape for each in program.input_tensors]
    inputs = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
    run = execute(program, inputs, SimOptions())
    numbers = [hashlib.sha256(each.tobytes()).hexdigest() for each in run.outputs]
    print(path, hashlib.sha256(data).hexdigest(), run.cycles, numbers)
"""


def test_two_processes_make_the_same_kernels() -> None:
    """Bytes, cycles and numbers, in whatever order programs are compiled."""
    names = ("mlp", "causal_attention", "eltwise")
    models = [str(TEST / "models" / f"{name}.mlir") for name in names]
    runs = [
        subprocess.run(
            [sys.executable, "-c", ROAD, *paths],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        for seed, paths in (("1", models), ("2", models[::-1]))
    ]
    assert len(runs[0]) == len(models)
    assert runs[0] == runs[1][::-1]
