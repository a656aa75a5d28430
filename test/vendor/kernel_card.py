"""Scripts of kernels on the real ttnn library: what `test_kernel_card.py` holds them to.

    python test/vendor/kernel_card.py OUT                          scripts, run here
    python test/vendor/kernel_card.py OUT --command 'ref ttnn'     and by the real library
    python test/vendor/kernel_card.py OUT --command ... --record   and keep the verdicts

As `card.py`; each program is compiled for each board. Modes are `mock` (kernels are compiled, and
there are no numbers) and `sim` (a simulated chip).
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import hashlib
import io
import json
import runpy
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import jax.numpy as jnp
import numpy as np
from card import run_check
from card_programs import make_program, program_names

import ttmlir
from pykernel import PyKernelOp

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from samples.random_programs import ALIASES, HOST, Program, program_of

from ttmlir.compiler import parse, transform
from ttmlir.frontend.scripts import ScriptData, write_kernels_script
from ttmlir.mlir.reporting import DiagnosticError

VERDICTS = Path(__file__).parent / "Inputs" / "kernel_card.json"
BOARDS = ("n150", "p150")
_MODES = ("mock", "sim")
_VERSIONS = "ttnn 0.81.1; ttsim 1.10.0"
_PIPELINE = "ttir-to-ttmetal-pipeline{{system-desc-path={} translate-coordinates=true}}"
_UNPACKS = ", unpack_to_dest=("
WIDE = "not run: the simulator unpacks no 32-bit numbers to DST on Wormhole"
REFUSALS = (ttmlir.CompilationError, ttmlir.InputError, DiagnosticError)
RANDOM = 70
"""How many random graphs there are."""
_EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "pykernel"
_PYKERNEL = (
    *("control_flow", "eltwise_sfpu", "matmul_on_many_cores", "matmul_on_one_core"),
    *("softmax", "vector_add"),
)
"""Examples of operations in Python, which are saved where they are profiled."""


class KernelProgram(Program):
    """A random graph of what kernels compute."""

    extents = (1, 2, 5, 31, 33, 40, 70)
    missing = frozenset({"erfinv", "lgamma"})

    def growths(self) -> Any:
        """Moves are rarer, since those of single elements take long."""
        often = (self.smooth, self.arithmetic, self.reduction, self.matmul, self.softmax)
        return (*super().growths(), *often, *often, *often)


def _f32(*shape: int) -> Any:
    return np.random.default_rng(5).normal(size=shape).astype(np.float32)


def _bf16(*shape: int) -> Any:
    return jnp.asarray(_f32(*shape), jnp.bfloat16)


_OWN: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "grid_matmul": (lambda x, y: x @ y, (_bf16(300, 333), _bf16(333, 290))),
    "grid_matmul_f32": (lambda x, y: x @ y, (_f32(300, 333), _f32(333, 290))),
    "wide_rows": (lambda x: (x - x.mean(-1, keepdims=True)) ** 2, (_bf16(40, 2100),)),
    "large_sum": (lambda x: x + x.T, (_bf16(530, 530),)),
}
"""Programs on many cores: multicast over the grid, rows that cores share."""


def names() -> list[str]:
    """Names of all programs."""
    random = (f"random_{seed}" for seed in range(RANDOM))
    return [*program_names(), *_OWN, *random, *(f"pykernel_{name}" for name in _PYKERNEL)]


def write_script(name: str, board: str, folder: Path) -> Path:
    """The script of a program for a board, with golden results."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "kernels.py"
    if name.startswith("random_"):
        return _write_random(int(name.removeprefix("random_")), board, path)
    if name.startswith("pykernel_"):
        return _write_example(name.removeprefix("pykernel_"), path)
    function, arguments = _OWN[name] if name in _OWN else make_program(name)
    compiled = ttmlir.compile(function, *arguments, target="kernels", board=board)
    return compiled.save(path, golden=True)


def _write_random(seed: int, board: str, path: Path) -> Path:
    program, returned = program_of(seed, 2 + seed % 9, KernelProgram)
    text = ALIASES + program.text.returning(*(value.name for value in returned))
    inputs = [value.array.astype(HOST[value.element]) for value in program.inputs]
    outputs = [value.array.astype(HOST[value.element]) for value in returned]
    module = parse(text)
    transform(module, _PIPELINE.format(board))
    return write_kernels_script(
        module, ScriptData(path.parent.name, inputs, outputs, None, False), path
    )


def _write_example(name: str, path: Path) -> Path:
    """The script of an example's operation, which is the same for all boards."""
    profile = PyKernelOp.profile

    def save(operation: PyKernelOp, *tensors: Any, **options: Any) -> Any:
        operation.save(path, *tensors, **options)
        return profile(operation, *tensors, **options)

    with (
        mock.patch.object(PyKernelOp, "profile", save),
        mock.patch.object(sys, "path", [str(_EXAMPLES), *sys.path]),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        runpy.run_path(str(_EXAMPLES / f"{name}.py"), run_name="__main__")
    return path


def hash_of(script: Path) -> str:
    """Stands for kernels and programs, without what all scripts have around them."""
    frame = {name for path in _FRAMES for node in _body(path) for name in _names(node)}
    kept = [node for node in _body(script) if not frame.intersection(_names(node))]
    kept = [
        _without_names(node) if isinstance(node, ast.FunctionDef) else node
        for node in kept
        if isinstance(node, ast.FunctionDef | ast.Assign)
    ]
    return hashlib.sha256("\n".join(map(ast.unparse, kept)).encode()).hexdigest()[:16]


def bits_of(results: Path) -> str:
    """Stands for the bytes of all results of a script."""
    found = hashlib.sha256()
    with np.load(results) as arrays:
        for name in arrays.files:
            found.update(arrays[name].tobytes())
    return found.hexdigest()[:16]


_FRAMES = [
    Path(ttmlir.__file__).parent / "target" / "python" / name
    for name in ("script_frame.py", "kernel_frame.py")
]


def _body(path: Path) -> list[ast.stmt]:
    return ast.parse(path.read_text(encoding="utf-8")).body


def _without_names(function: ast.FunctionDef) -> ast.FunctionDef:
    """The function with numbers for what its arguments and variables are called."""
    places: dict[str, str] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            places.setdefault(node.arg, f"v{len(places)}")
            node.arg = places[node.arg]
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            places.setdefault(node.id, f"v{len(places)}")
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            node.id = places.get(node.id, node.id)
    return function


def _names(node: ast.stmt) -> list[str]:
    """What a statement defines."""
    targets = node.targets if isinstance(node, ast.Assign) else [node]
    return [
        each.id if isinstance(each, ast.Name) else getattr(each, "name", "")
        for target in targets
        for each in (target.elts if isinstance(target, ast.Tuple) else [target])
    ]


def _verdicts(
    name: str, old: dict[str, Any], options: argparse.Namespace
) -> Iterator[tuple[str, str]]:
    for board in options.boards:
        folder = options.out.resolve() / board / name
        try:
            script = write_script(name, board, folder)
        except REFUSALS as error:
            said = str(error).splitlines()[0].partition("error: ")[2]
            # What helps may name other operations from day to day.
            yield f"{board} refused", said.partition(";")[0]
            continue
        key = hash_of(script)
        known = old if old.get(f"{board} script") == key else {}
        yield f"{board} script", key
        if board == BOARDS[0]:
            own = [sys.executable, "-m", "ttmlir"]
            yield "own", known.get("own") or run_check(script, own, "", "")
        for mode in options.modes if options.command else ():
            verdict = known.get(f"{board} {mode}")
            if mode == "sim" and board == "n150" and _UNPACKS in script.read_text():
                verdict = WIDE
            if verdict is None or options.again:
                verdict = run_check(script, shlex.split(options.command), mode, board)
            yield f"{board} {mode}", verdict
            results = script.with_name(f"sim-{board}.npz")
            if mode == "sim" and verdict == "right":
                bits = bits_of(results) if results.exists() else known.get(f"{board} bits", "")
                yield f"{board} bits", bits


def main() -> int:
    """Write, run and print; 0 where all are right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--command", default="")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--modes", nargs="*", default=[*_MODES])
    parser.add_argument("--boards", nargs="*", default=[*BOARDS])
    parser.add_argument("--again", action="store_true", help="run what is known, too")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    known: dict[str, Any] = json.loads(VERDICTS.read_text()) if VERDICTS.exists() else {}
    programs: dict[str, Any] = known.get("programs", {})
    count = 0
    for name in options.only or names():
        verdicts = dict(_verdicts(name, programs.get(name, {}), options))
        programs[name] = dict(sorted(verdicts.items()))
        bad = {
            key: each
            for key, each in verdicts.items()
            if not key.endswith(("script", "bits")) and each != "right"
        }
        count += bool(bad)
        print(name, bad or "right", flush=True)
        if options.record:
            text = {"versions": _VERSIONS, "programs": dict(sorted(programs.items()))}
            VERDICTS.write_text(json.dumps(text, indent=1) + "\n", encoding="utf-8")
    print(f"{count} of {len(options.only or names())} are not right everywhere")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
