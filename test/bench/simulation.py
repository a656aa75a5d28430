"""How fast programs run on the simulator, compared with another simulator and with NumPy.

Programs are those of `examples/metalium`, and what is measured is `EnqueueProgram`: circular
buffers, threads, kernels, all but the compilation of the kernels, which is done once.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import patch

import numpy as np
from direct_to_metal import add, measure
from measurements import Result, best
from ml_dtypes import bfloat16

import ttmlir
from ttmlir.metalium import CreateDevice, EnqueueProgram, Program
from ttmlir.runtime.metal_program import MetalProgram
from ttmlir.runtime.metal_session import execute
from ttmlir.sim.execution.run import CommandQueue
from ttmlir.sim.groups.group_run import SWITCH
from ttmlir.sim.groups.known_times import known
from ttmlir.sim.options import SimOptions

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXAMPLES = ROOT / "examples" / "metalium"

TT_LANG_SIM = "tt-lang-sim==1.1.6"
"""The other simulator, from PyPI."""


def tile_by_tile(
    extent: int = 2048, repetitions: int = 5, *, compared: bool = True
) -> Iterator[Result]:
    """A sum of two matrices, a tile at a time on one core, checked and unchecked."""
    tiles = (extent // 32) ** 2
    theirs = tt_lang_seconds() if compared else None
    name = f"add {tiles:,} tiles one by one"
    if theirs is not None:
        yield Result(f"{TT_LANG_SIM}: {name}", theirs / tiles * 1e6, "µs per tile")
    elif compared:
        print(f"{TT_LANG_SIM} cannot be installed; its rows are left out", file=sys.stderr)

    def ours(numerics: str, *, timed: bool, sanitize: bool) -> float:
        extents = {"m": extent, "n": extent}
        return seconds_of(
            "eltwise_add",
            repetitions,
            numerics=numerics,
            timed=timed,
            sanitize=sanitize,
            **extents,
        )

    for numerics in ("exact", "device"):
        for timed in (False, True):
            mode = f"{numerics} numerics, {'timed' if timed else 'untimed'}"
            plain = ours(numerics, timed=timed, sanitize=False)
            checked = ours(numerics, timed=timed, sanitize=True)
            yield Result(f"simulator, {mode}: {name}", plain / tiles * 1e6, "µs per tile")
            if theirs is not None:
                goal = None if timed else 0.2
                yield Result(f"simulator, {mode}, to {TT_LANG_SIM}", plain / theirs, "ratio", goal)
            yield Result(f"sanitizer on to off, {mode}", checked / plain, "ratio", goal=3.0)


def tile_products(extent: int = 2048, repetitions: int = 2) -> Iterator[Result]:
    """A product of two matrices on 8x8 cores against NumPy's products of as many tiles."""
    products = (extent // 32) ** 3
    a, b = np.random.default_rng(0).standard_normal((2, 32, 32)).astype(np.float32)
    count = min(products, 20_000)

    def by_numpy() -> None:
        for _ in range(count):
            a @ b

    theirs = best(by_numpy, 5) / count
    yield Result("NumPy: product of two tiles", theirs * 1e6, "µs")
    extents = {"m": extent, "k": extent, "n": extent}
    for timed in (False, True):
        seconds = seconds_of(
            "matmul_multi_core_reuse",
            repetitions,
            numerics="exact",
            timed=timed,
            sanitize=False,
            **extents,
        )
        mode = f"exact numerics, {'timed' if timed else 'untimed'}"
        ours = seconds / products
        yield Result(f"simulator, {mode}: product of two tiles, all included", ours * 1e6, "µs")
        yield Result(f"simulator, {mode}, to NumPy", ours / theirs, "ratio", None if timed else 4.0)


def default_products(extent: int = 1024, repetitions: int = 2) -> Iterator[Result]:
    """Products of bfloat16 matrices on 8x8 cores as by default: device numerics, timed, checked.

    In groups of cores, as by default, the first time and again, and core by core; also exact and
    unchecked.
    """
    a, b = np.random.default_rng(0).standard_normal((2, extent, extent)).astype(np.float32)
    theirs = best(lambda: a @ b, 5)

    def measured(example: str, groups: str, *, anew: bool = False, is_exact: bool = False) -> float:
        with patch.dict(os.environ, {SWITCH: groups}):
            return seconds_of(
                example,
                repetitions,
                numerics="exact" if is_exact else "device",
                timed=True,
                sanitize=not is_exact,
                anew=anew,
                **{"m": extent, "k": extent, "n": extent},
            )

    for example in ("matmul_multi_core", "matmul_multi_core_reuse", "matmul_multicast"):
        name = f"simulator, by default, {extent}x{extent}x{extent} on 64 cores: {example}.py"
        ours = measured(example, "1", anew=True)
        yield Result(name, ours, "s of CPU")
        yield Result(f"{name}, to NumPy", ours / theirs, "ratio", goal=10.0)
        again, apart = measured(example, "1"), measured(example, "0")
        yield Result(f"{name}, again, to NumPy", again / theirs, "ratio", goal=10.0)
        yield Result(f"{name}, to core by core", ours / apart, "ratio")
        exact = measured(example, "1", is_exact=True)
        what = f"{name}, exact without the sanitizer, again, to NumPy"
        yield Result(what, exact / theirs, "ratio", goal=3.0)


def default_sum(extent: int = 2048, repetitions: int = 3) -> Iterator[Result]:
    """A sum of bfloat16 matrices, compiled for 8x8 cores, as by default."""
    seconds: list[float] = []
    for groups, anew in (("1", True), ("1", False), ("0", False)):
        runs: list[float] = []
        with patch.dict(os.environ, {SWITCH: groups}):
            for _ in range(repetitions):
                if anew:
                    known.clear()
                runs.append(measure(add(extent, extent), sanitize=True, numerics="device").seconds)
        seconds.append(min(runs))
    ours, again, apart = seconds
    name = f"simulator, by default: add {(extent // 32) ** 2:,} tiles on 64 cores"
    yield Result(name, ours, "s of CPU", goal=0.1)
    yield Result(f"{name}, again", again, "s of CPU", goal=0.1)
    yield Result(f"{name}, to core by core", ours / apart, "ratio")


def default_attention(
    heads: int = 8, tokens: int = 1024, width: int = 64, repetitions: int = 2
) -> Iterator[Result]:
    """Attention of bfloat16 tensors, compiled from JAX to kernels that multicast."""
    import jax

    def attention(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        return jax.nn.softmax(q @ k.swapaxes(-1, -2) / 8) @ v

    inputs = np.random.default_rng(0).standard_normal((3, heads, tokens, width)).astype(bfloat16)
    text = jax.jit(attention).lower(*inputs).as_text()
    program = ttmlir.compile(text, target="kernels").binary.program(0)
    assert isinstance(program, MetalProgram)
    q, k, v = wide = inputs.astype(np.float32)
    powers = np.exp((scores := q @ k.swapaxes(-1, -2) / 8) - scores.max(-1, keepdims=True))
    expected = powers / powers.sum(-1, keepdims=True) @ v
    name = f"attention of {heads} heads and {tokens:,} tokens"
    for numerics, goal in (("device", 3.0), ("exact", None)):
        known.clear()
        for what in ("", ", again"):
            runs: list[float] = []
            for _ in range(repetitions if what else 1):
                started = time.process_time()
                (found,) = execute(program, [*wide], SimOptions(numerics=numerics)).outputs
                runs.append(time.process_time() - started)
                assert np.linalg.norm(found - expected) <= 0.02 * np.linalg.norm(expected)
            title = f"simulator, {numerics} numerics, timed, checked: {name}{what}"
            yield Result(title, min(runs), "s of CPU", goal=goal)


SIMULATIONS = {
    "tile_by_tile": tile_by_tile,
    "tile_products": tile_products,
    "default_products": default_products,
    "default_sum": default_sum,
    "default_attention": default_attention,
}


def all_simulations() -> Iterator[Result]:
    """Every row."""
    for rows in SIMULATIONS.values():
        yield from rows()


def seconds_of(
    example: str,
    repetitions: int,
    *,
    numerics: str,
    timed: bool,
    sanitize: bool,
    anew: bool = False,
    **extents: int,
) -> float:
    """CPU seconds in which an example's program runs, after a first time; its result is checked.

    `anew`: the clocks of former runs are forgotten.
    """
    if str(EXAMPLES) not in sys.path:
        sys.path.insert(0, str(EXAMPLES))
    program = importlib.import_module(example)
    data = importlib.import_module("matrix_data")
    options = importlib.import_module("matrix_options").MatrixOptions(numerics=numerics, **extents)
    seconds = 0.0

    def run(queue: CommandQueue, work: Program, blocking: bool) -> None:
        nonlocal seconds

        def repeat() -> None:
            if anew:
                known.clear()
            EnqueueProgram(queue, work, blocking)

        repeat()
        seconds = best(repeat, repetitions)

    def check(*arguments: object) -> None:
        *_, a, b, c = arguments
        operation: Callable[..., np.ndarray] = np.add if "add" in example else np.matmul
        expected = operation(*(data.stored(each, options.data_format) for each in (a, b)))
        bound = 0.05 if numerics == "device" else 0.01
        assert np.linalg.norm(c - expected) <= bound * np.linalg.norm(expected)

    outcome = "sum_outcome" if "add" in example else "product_outcome"
    device = CreateDevice(0, numerics=numerics, timed=timed, sanitize=sanitize)
    replaced = {"EnqueueProgram": run, "open_device": lambda _: device, outcome: check}
    with patch.multiple(program, **replaced):
        program.run(options)
    return seconds


def tt_lang_seconds() -> float | None:
    """CPU seconds in which the other simulator adds 2048x2048 elements; None without it."""
    command = tt_lang_sim()
    if command is None:
        return None
    script = HERE / "tt_lang_add.py"
    found = subprocess.run([command, script], capture_output=True, text=True, check=False)
    if found.returncode:
        print(found.stdout + found.stderr, file=sys.stderr)
        return None
    return float(found.stdout.split()[-1])


def tt_lang_sim() -> Path | None:
    """The other simulator: in the folder that TT_LANG_SIM names, or installed here; None if not.

    With PyTorch, which it needs, that takes some minutes the first time.
    """
    folder = os.environ.get("TT_LANG_SIM")
    if folder:
        return Path(folder) / "tt-lang-sim"
    environment = ROOT / "build" / "tt_lang_sim"
    tool = environment / "bin" / "tt-lang-sim"
    if tool.exists():
        return tool
    for command in (
        [sys.executable, "-m", "venv", environment],
        [environment / "bin" / "pip", "install", "--quiet", TT_LANG_SIM],
    ):
        if subprocess.run(command, check=False).returncode:
            return None
    return tool
