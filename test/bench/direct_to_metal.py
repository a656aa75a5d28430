"""How well the kernels of `ttir-to-ttmetal-pipeline` use a chip, and how long they take to make.

    python test/bench/direct_to_metal.py [--only cosh] [--perf]

Programs run on the timed simulator, exactly and unchecked, as neither changes their times; those
with coarse exponentials in device numerics, which round as the chip does. Inputs and results are in
DRAM; the results of the transformer block, and all between, are in L1. Results are compared with
NumPy's. The roofline of a program is the longest of the times that DRAM takes for its inputs and
outputs and the matrix units for its products, at the rates of the chip.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from chain import HEADER, elementwise, operation
from encoder import BLOCK, encoder_text, numpy_encoder, random_inputs
from measurements import Result, row
from ml_dtypes import bfloat16
from transformer import Size

import ttmlir
from ttmlir.layout.enums import MathFidelity
from ttmlir.runtime.metal_program import MetalProgram
from ttmlir.runtime.metal_session import MetalRun, execute
from ttmlir.runtime.ttrt.reports import KernelRuns, perf_summary
from ttmlir.runtime.ttrt.running import ProgramRun
from ttmlir.sim.options import SimOptions
from ttmlir.sim.timing.report import peak_flops

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "metalium"
FIDELITY = MathFidelity.HIFI2
CORES = 64
OPTIONS = (
    f"set-math-fidelity={FIDELITY.schema_name.lower()} "
    "default-input-memspace=dram default-output-memspace=dram"
)

RESIDENT = "default-output-memspace=l1"
"""Results of operations stay in L1 where they fit; what a program is given is in DRAM."""
APPROXIMATE = "math-approx-mode=true"
"""Exponentials are at most 3.2 % off."""

NARROW = "fp32-dest-acc-en=false"
"""Sums of bf16 have 16 bits."""

Array = np.ndarray


@dataclass(frozen=True)
class Case:
    """A program, what it computes, and what it has to do at least."""

    name: str
    text: str
    shapes: Sequence[tuple[int, ...]]
    """Of the inputs, in bf16."""
    expected: Callable[..., Array]
    """The result by NumPy, in float32."""
    result: tuple[int, ...]
    """The shape of the result."""
    flops: int = 0
    """Of products of matrices."""
    inputs: Callable[[], Sequence[Array]] | None = None
    """Instead of normally distributed numbers."""

    @property
    def dram_bytes(self) -> int:
        """Of inputs and results."""
        return 2 * sum(int(np.prod(shape)) for shape in (*self.shapes, self.result))

    def make_inputs(self) -> Sequence[Array]:
        """The same numbers each time."""
        if self.inputs is not None:
            return self.inputs()
        rng = np.random.default_rng(0)
        return [rng.standard_normal(shape, np.float32).astype(bfloat16) for shape in self.shapes]


@dataclass(frozen=True)
class Measured:
    """A run of a case."""

    case: Case
    runs: KernelRuns = field(repr=False)
    seconds: float
    """CPU time of the simulation."""

    @property
    def cycles(self) -> int:
        """Of all programs, one after the other."""
        return self.runs.cycles

    @property
    def dram_bytes(self) -> int:
        """Of all programs."""
        return sum(each.dram_bytes for each in self.runs.programs)

    @property
    def dram_share(self) -> float:
        """The traffic that is needed to what DRAM could do in the time."""
        return self.case.dram_bytes / self._dram_rate / self.cycles

    @property
    def flops_share(self) -> float:
        """Products to what the matrix units could do in the time."""
        times = self.runs.programs[0].times
        rate = peak_flops(times.clock_hz, CORES, FIDELITY) / times.clock_hz
        return self.case.flops / rate / self.cycles

    @property
    def roofline_share(self) -> float:
        """The roofline to the time."""
        return max(self.dram_share, self.flops_share)

    @property
    def _dram_rate(self) -> float:
        return self.runs.programs[0].times.networks.dram_peak


def measure(
    case: Case, options: str = "", *, sanitize: bool = False, numerics: str = "exact"
) -> Measured:
    """Compile and run a case; AssertionError if its result is not NumPy's.

    With coarse exponentials, in device numerics.
    """
    is_coarse = options == APPROXIMATE
    model = ttmlir.compile(case.text, target="kernels", options=f"{OPTIONS} {options}".strip())
    program = model.binary.program(0)
    assert isinstance(program, MetalProgram)
    inputs = case.make_inputs()
    is_exact = numerics == "exact" and not is_coarse
    sim = SimOptions(numerics="exact" if is_exact else "device", sanitize=sanitize)
    started = time.process_time()
    run = execute(program, [each.astype(np.float32) for each in inputs], sim)
    seconds = time.process_time() - started
    wanted = case.expected(*(each.astype(np.float32) for each in inputs))
    error = np.linalg.norm(run.outputs[0] - wanted) / np.linalg.norm(wanted)
    assert error < (0.04 if is_coarse else 0.02), f"{case.name}: relative error {error:.2g}"
    return Measured(case, _runs(program, run, inputs), seconds)


def _runs(program: MetalProgram, run: MetalRun, inputs: Sequence[Array]) -> KernelRuns:
    done = ProgramRun(
        inputs=[*inputs], outputs=run.outputs, durations=[], golden=None, peak_bytes={}, kernels=run
    )
    runs = KernelRuns.of_run(program, done)
    assert runs is not None
    return runs


# -- programs -------------------------------------------------------------------------------------


class _Function:
    """Writes a function in ttir on tensors of bf16."""

    def __init__(self, *shapes: tuple[int, ...]) -> None:
        """Start with arguments of these shapes."""
        self.types = {f"%arg{i}": _tensor(shape) for i, shape in enumerate(shapes)}
        self.arguments = [*self.types]
        self._lines: list[str] = []

    def elementwise(self, mnemonic: str, shape: tuple[int, ...], *operands: str) -> str:
        """An operation on elements."""
        suffix, output = f"{len(self.types)}", _tensor(shape)
        self._lines += elementwise(suffix, mnemonic, self._values(operands), output)
        return self._define(suffix, output)

    def operation(
        self, mnemonic: str, shape: tuple[int, ...], *operands: str, properties: str = ""
    ) -> str:
        """Any other operation."""
        suffix, output = f"{len(self.types)}", _tensor(shape)
        self._lines += operation(suffix, mnemonic, self._values(operands), output, properties)
        return self._define(suffix, output)

    def constant(self, number: float, shape: tuple[int, ...]) -> str:
        """A tensor of one number."""
        name, type_ = f"%c{len(self.types)}", _tensor(shape)
        value = f"dense<{number:e}> : {type_}"
        self._lines.append(f'  {name} = "ttir.constant"() <{{value = {value}}}> : () -> {type_}')
        self.types[name] = type_
        return name

    def text(self, result: str) -> str:
        """The module."""
        arguments = ", ".join(f"{each}: {self.types[each]}" for each in self.arguments)
        type_ = self.types[result]
        head = f"func.func @main({arguments}) -> {type_} {{"
        return HEADER + "\n".join([head, *self._lines, f"  return {result} : {type_}", "}\n"])

    def _values(self, operands: Sequence[str]) -> list[tuple[str, str]]:
        return [(each, self.types[each]) for each in operands]

    def _define(self, suffix: str, output: str) -> str:
        self.types[f"%v{suffix}"] = output
        return f"%v{suffix}"


def _tensor(shape: tuple[int, ...]) -> str:
    return f"tensor<{'x'.join(map(str, shape))}xbf16>"


def cosh(rows: int = 2048, columns: int = 2048) -> Case:
    """(exp(x) + exp(-x)) / 2, the function of the guide to ttnn.jit."""
    shape = (rows, columns)
    f = _Function(shape)
    (x,) = f.arguments
    powers = f.elementwise("exp", shape, x)
    others = f.elementwise("exp", shape, f.elementwise("neg", shape, x))
    total = f.elementwise("add", shape, powers, others)
    half = f.elementwise("multiply", shape, total, f.constant(0.5, shape))
    return Case(f"cosh {rows}x{columns}", f.text(half), [shape], np.cosh, shape)


def add(rows: int = 4096, columns: int = 4096) -> Case:
    """A sum of two matrices."""
    shape = (rows, columns)
    f = _Function(shape, shape)
    text = f.text(f.elementwise("add", shape, *f.arguments))
    return Case(f"add {rows}x{columns}", text, [shape, shape], np.add, shape)


def matmul(m: int = 2048, k: int = 2048, n: int = 2048) -> Case:
    """A product of two matrices."""
    f = _Function((m, k), (k, n))
    text = f.text(f.operation("matmul", (m, n), *f.arguments))
    name = f"matmul {m}x{k}x{n}"
    return Case(name, text, [(m, k), (k, n)], np.matmul, (m, n), flops=2 * m * k * n)


def softmax(rows: int = 2048, columns: int = 4096) -> Case:
    """Of each row."""
    shape = (rows, columns)
    f = _Function(shape)
    result = f.operation("softmax", shape, *f.arguments, properties="dimension = -1 : si32, ")

    def expected(x: Array) -> Array:
        powers = np.exp(x - x.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True)

    return Case(f"softmax {rows}x{columns}", f.text(result), [shape], expected, shape)


def layer_norm(rows: int = 2048, columns: int = 4096) -> Case:
    """Of each row, with a scale and an offset for each column."""
    shape, column, row_ = (rows, columns), (rows, 1), (columns,)
    f = _Function(shape, row_, row_)
    x, scale, offset = f.arguments
    mean = "dim_arg = [-1 : i32], keep_dim = true, "
    centered = f.elementwise("subtract", shape, x, f.operation("mean", column, x, properties=mean))
    square = f.elementwise("multiply", shape, centered, centered)
    variance = f.operation("mean", column, square, properties=mean)
    shifted = f.elementwise("add", column, variance, f.constant(1e-5, column))
    factor = f.elementwise("rsqrt", column, shifted)
    result = f.elementwise("multiply", shape, centered, factor)
    result = f.elementwise("multiply", shape, result, scale)
    result = f.elementwise("add", shape, result, offset)

    def expected(x: Array, scale: Array, offset: Array) -> Array:
        centered = x - x.mean(-1, keepdims=True)
        variance = (centered * centered).mean(-1, keepdims=True)
        return centered / np.sqrt(variance + 1e-5) * scale + offset

    return Case(
        f"layer norm {rows}x{columns}", f.text(result), [shape, row_, row_], expected, shape
    )


def block(size: Size = BLOCK) -> Case:
    """A layer of an encoder."""
    width, sequence, batch = size.width, size.sequence, size.batch
    products = 2 * batch * sequence * (12 * width * width + 2 * sequence * width)
    return Case(
        f"transformer block, d {width}, {size.heads} heads, {sequence} tokens",
        encoder_text(size),
        [size.input_shape, *size.layer_shapes()],
        lambda *arrays: numpy_encoder(size, *arrays),
        size.input_shape,
        flops=products * size.layers,
        inputs=lambda: random_inputs(size),
    )


# -- rows -----------------------------------------------------------------------------------------


def cosh_rows(case: Case | None = None) -> Iterator[Result]:
    """One program, which reads its input once."""
    case = case or cosh()
    measured = measure(case)
    yield from _times(measured)
    yield Result(f"{case.name}: programs", len(measured.runs.programs), "programs", goal=1)
    traffic = measured.dram_bytes / case.dram_bytes
    yield Result(f"{case.name}: DRAM traffic to input and output", traffic, "ratio", goal=1.05)
    yield Result(f"{case.name}: DRAM bandwidth", measured.dram_share, "of the peak", least=0.8)
    yield from _coarse_rows(case, least=0.8)


def add_rows(case: Case | None = None) -> Iterator[Result]:
    """Bound by DRAM."""
    case = case or add()
    measured = measure(case)
    yield from _times(measured)
    yield Result(f"{case.name}: DRAM bandwidth", measured.dram_share, "of the peak", least=0.8)


def matmul_rows(extents: tuple[int, int, int] = (2048, 2048, 2048)) -> Iterator[Result]:
    """Against the program that somebody wrote, which sums in 16 bits."""
    case = matmul(*extents)
    yield Result(f"{case.name}, long sums in 32 bits: cycles", measure(case).cycles, "cycles")
    measured = measure(case, NARROW)
    yield from _times(measured)
    by_hand = multicast_cycles(*extents)
    what = f"{case.name}: the example matmul_multicast.py"
    yield Result(what, by_hand, "cycles")
    ratio = by_hand / measured.cycles
    yield Result(f"{what}, its cycles to these", ratio, "ratio", least=0.9)
    name = f"{case.name}: products at {FIDELITY.schema_name}"
    yield Result(name, measured.flops_share, "of the peak", least=0.6)


def multicast_cycles(m: int, k: int, n: int) -> int:
    """Cycles of the example that multiplies with multicast."""
    if str(EXAMPLES) not in sys.path:
        sys.path.insert(0, str(EXAMPLES))
    program = importlib.import_module("matmul_multicast")
    options = importlib.import_module("matrix_options").MatrixOptions(
        m=m, k=k, n=n, fidelity=FIDELITY, numerics="exact", sanitize=False
    )
    return program.run(options).times.cycles


def row_wise_rows(cases: Sequence[Case] | None = None) -> Iterator[Result]:
    """Softmax and layer norm, which are bound by DRAM where they are fused."""
    for case in cases or (softmax(), layer_norm()):
        measured = measure(case)
        yield from _times(measured)
        traffic = measured.dram_bytes / case.dram_bytes
        yield Result(f"{case.name}: DRAM traffic to input and output", traffic, "ratio")
        yield Result(f"{case.name}: DRAM bandwidth", measured.dram_share, "of the peak", least=0.65)
        if "exp" in case.text or "softmax" in case.text:
            yield from _coarse_rows(case, least=0.65)


def _coarse_rows(case: Case, least: float) -> Iterator[Result]:
    """With the exponentials of `math-approx-mode`."""
    measured = measure(case, APPROXIMATE)
    what = f"{case.name}, {APPROXIMATE}"
    yield Result(f"{what}: cycles", measured.cycles, "cycles")
    yield Result(f"{what}: DRAM bandwidth", measured.dram_share, "of the peak", least=least)


def block_rows(size: Size = BLOCK) -> Iterator[Result]:
    """Fused and not."""
    case = block(size)
    fused = measure(case, RESIDENT)
    yield from _times(fused)
    unfused = measure(case, f"{RESIDENT} enable-fusion=false")
    yield Result(f"{case.name}: cycles without fusion", unfused.cycles, "cycles")
    ratio = unfused.cycles / fused.cycles
    yield Result(f"{case.name}: cycles without fusion to fused", ratio, "ratio", least=1.5)
    yield Result(f"{case.name}: roofline", fused.roofline_share, "of the peak", least=0.4)
    for sanitize, goal in ((False, 60), (True, 150)):
        checked = measure(case, RESIDENT, sanitize=sanitize, numerics="device")
        words = "with" if sanitize else "without"
        what = f"simulate it, device numerics, timed, {words} the sanitizer"
        yield Result(what, checked.seconds, "s of CPU", goal=goal)


def compilation_rows(
    layers: tuple[int, int] = (12, 48), size: Size = BLOCK, goal: float | None = 30
) -> Iterator[Result]:
    """Layers of the block."""
    costs: list[float] = []
    for count in layers:
        text = encoder_text(Size(count, sequence=size.sequence, width=size.width, heads=size.heads))
        started = time.process_time()
        ttmlir.compile(text, target="kernels")
        costs.append((time.process_time() - started) / count)
        limit = goal if count == layers[0] else None
        what = f"compile {count} layers of it to kernels"
        yield Result(what, costs[-1] * count, "s of CPU", goal=limit)
    what = f"cost per layer, {layers[1]} to {layers[0]} layers"
    yield Result(what, costs[1] / costs[0], "ratio", goal=1.3)


def _times(measured: Measured) -> Iterator[Result]:
    if _SHOW:
        print(perf_summary(measured.case.name, [measured.runs]), file=sys.stderr)
    yield Result(f"{measured.case.name}: cycles", measured.cycles, "cycles")
    yield Result(f"{measured.case.name}: simulate it", measured.seconds, "s of CPU")


_SHOW: list[str] = []
"""Not empty to print what binds programs beside the rows."""

PARTS: dict[str, Callable[[], Iterator[Result]]] = {
    "cosh": cosh_rows,
    "add": add_rows,
    "matmul": matmul_rows,
    "rows": row_wise_rows,
    "block": block_rows,
    "compilation": compilation_rows,
}


def all_direct_to_metal() -> Iterator[Result]:
    """Every row."""
    for rows in PARTS.values():
        yield from rows()


def main() -> None:
    """Print the rows of some parts, or of all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--perf", action="store_true", help="say what binds the programs")
    options = parser.parse_args()
    if options.perf:
        _SHOW.append("perf")
    for name in options.only:
        for result in PARTS[name]():
            print(row(result), flush=True)


if __name__ == "__main__":
    main()
