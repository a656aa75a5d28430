"""Memory and time that constants take on their way from a text to results, measured in processes.

    python test/bench/large_constants.py MIB       # prints a line for each way and step

Every number is that of a process of its own: the peak of its memory without files that are mapped.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

CONSTRAINT = "#tt.operand_constraint<dram|l1|tile|any_layout|any_device_tile>"
COLUMNS = 1024
CONSTANTS = 4

_PRELUDE = """
import json, sys, time
start = time.perf_counter()
def peak():
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return int(status["VmHWM"].split()[0]) / 1024
path, shape = sys.argv[1], json.loads(sys.argv[2])
"""
STEPS = {
    "compile": """
from ttmlir.compiler import lower, read_source, write_ttnn
from pathlib import Path
Path(path + ".ttnn").write_bytes(write_ttnn(lower(read_source(path))))
""",
    "run": """
import numpy as np
from ttmlir.runtime import Tensor, load_binary, open_device, submit
binary = load_binary(path + ".ttnn")
[result] = submit(open_device(numerics="exact"), binary, 0, [
    Tensor.from_numpy(np.zeros((1, shape[1]), np.float32))])
np.save(path + ".npy", result.to_numpy()[:, :3])
""",
    "in one": """
import numpy as np, ttmlir
from pathlib import Path
model = ttmlir.compile(Path(path))
np.save(path + ".npy", model(np.zeros((1, shape[1]), np.float32))[:, :3])
""",
}
_EPILOGUE = """
print(json.dumps([peak(), time.perf_counter() - start]))
"""
FRAMEWORKS = {
    "torch": """
import torch, ttmlir
count = int(shape)
layers = [torch.nn.Linear(1024, 1024, bias=False) for _ in range(count // 4)]
model, x = torch.nn.Sequential(*layers), torch.randn(1, 1024)
""",
    "JAX": """
import jax, jax.numpy as jnp, ttmlir
count = int(shape)
weights = [jax.random.normal(jax.random.key(i), (1024, 1024)) for i in range(count // 4)]
x = jnp.ones((1, 1024))
def model(x):
    for weight in weights:
        x = x @ weight.T
    return x
jax.block_until_ready(weights)
""",
}
"""Models with that many MiB of weights."""
_COMPILE = """
import gc
gc.collect()
before, start = peak(), time.perf_counter()
compiled = ttmlir.compile(model, x)
print(json.dumps([peak() - before, time.perf_counter() - start]))
"""


def write_text(path: Path, mebibytes: int, form: str) -> tuple[int, int]:
    """A text that adds constants of this size together; their shape.

    `form` is `hex`, `resource` or `splat`.
    """
    rows = (mebibytes << 20) // CONSTANTS // 4 // COLUMNS
    type_ = f"tensor<{rows}x{COLUMNS}xf32>"
    rng = np.random.default_rng(0)
    with path.open("w", encoding="utf-8") as file:
        file.write(f"func.func @main(%x: tensor<1x{COLUMNS}xf32>) -> {type_} {{\n")
        last, last_type, blobs = "%x", f"tensor<1x{COLUMNS}xf32>", list[str]()
        for i in range(CONSTANTS):
            digits = rng.standard_normal((rows, COLUMNS), np.float32).tobytes().hex().upper()
            blobs.append(f'w{i}: "0x10000000{digits}"')
            value = {
                "hex": f'dense<"0x{digits}">',
                "resource": f"dense_resource<w{i}>",
                "splat": f"dense<{i}.5>",
            }[form]
            file.write(
                f'  %c{i} = "ttir.constant"() <{{value = {value} : {type_}}}> : () -> {type_}\n'
                f"  %e{i} = tensor.empty() : {type_}\n"
                f'  %r{i} = "ttir.add"({last}, %c{i}, %e{i}) <{{operandSegmentSizes = '
                f"array<i32: 2, 1>, operand_constraints = [{', '.join([CONSTRAINT] * 3)}]}}> : "
                f"({last_type}, {type_}, {type_}) -> {type_}\n"
            )
            last, last_type = f"%r{i}", type_
        file.write(f"  return {last} : {type_}\n}}\n")
        if form == "resource":
            file.write(f"{{-# dialect_resources: {{ builtin: {{ {', '.join(blobs)} }} }} #-}}\n")
    return rows, COLUMNS


def expected(shape: tuple[int, int], form: str) -> np.ndarray:
    """The first columns of the sum."""
    rng = np.random.default_rng(0)
    total = np.zeros(shape, np.float32)
    for i in range(CONSTANTS):
        part = rng.standard_normal(shape, np.float32)
        total += np.float32(i + 0.5) if form == "splat" else part
    return total[:, :3]


def measure(step: str, path: Path, shape: tuple[int, int]) -> tuple[float, float]:
    """Peak memory in MiB and seconds of a step in a process of its own."""
    program = _PRELUDE + STEPS[step] + _EPILOGUE
    command = [sys.executable, "-c", program, str(path), json.dumps(shape)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    peak, seconds = json.loads(done.stdout)
    return peak, seconds


def measure_framework(name: str, mebibytes: int) -> tuple[float, float]:
    """MiB that compiling a model of a framework adds to its peak memory, and seconds."""
    program = _PRELUDE + FRAMEWORKS[name] + _COMPILE
    command = [sys.executable, "-c", program, "", str(mebibytes)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    added, seconds = json.loads(done.stdout)
    return added, seconds


def report(mebibytes: int) -> list[str]:
    """One line for each form of constants and step."""
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for form in ("hex", "resource", "splat"):
            path = Path(folder) / "constants.mlir"
            shape = write_text(path, mebibytes, form)
            for step in STEPS:
                peak, seconds = measure(step, path, shape)
                ratio = f"{peak / mebibytes:.1f} x constants"
                lines.append(f"{form:9} {step:8} {peak:7.0f} MiB ({ratio}) {seconds:6.2f} s")
    for name in FRAMEWORKS:
        added, seconds = measure_framework(name, mebibytes)
        ratio = f"{added / mebibytes:.1f} x weights"
        lines.append(f"{name:9} compile  {added:7.0f} MiB ({ratio}) {seconds:6.2f} s, added")
    return lines


if __name__ == "__main__":
    print(*report(int(sys.argv[1])), sep="\n")
