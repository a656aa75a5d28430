"""Runs the programs of a file: inputs, kernels from files, and expected outputs."""

from __future__ import annotations

import math
import time
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ttmlir.errors import plural
from ttmlir.files import NO_ARRAY
from ttmlir.limits import memory_advice, memory_limit
from ttmlir.optable.op_definition import Domain, Family
from ttmlir.runtime.binary import BinaryProgram, GoldenTensors, Operation
from ttmlir.runtime.errors import BinaryError, InputError
from ttmlir.runtime.execution.executor import Observer
from ttmlir.runtime.execution.prepare import prepare
from ttmlir.runtime.golden import (
    Accuracy,
    GoldenObserver,
    GoldenOfDevices,
    GoldenResult,
    Tolerance,
    compare,
)
from ttmlir.runtime.session import prepare_submission, run_prepared, to_host, to_layout
from ttmlir.runtime.tensor import (
    Array,
    ElementType,
    Numerics,
    Shape,
    Tensor,
    close_device,
    convert,
    open_device,
    split_complex,
)

if TYPE_CHECKING:
    from ttmlir.runtime.execution.executor import GenericReport, GenericRunner
    from ttmlir.runtime.metal_session import MetalRun
    from ttmlir.sim.options import SimOptions


# --- Inputs ---------------------------------------------------------------------------------------
# Inputs of programs: made up by an initializer, or read from `.npy` and `.npz` files.
#
# Random numbers come from NumPy's PCG64 generator seeded with `--seed`; the same seed, file and
# NumPy version give the same inputs.

Generator = np.random.Generator

_EXACT_INTEGERS = {"bf16": 1 << 8, "f16": 1 << 11}
"""Up to where narrow floating-point types have all integers; the others reach 2 to the 24th."""
# Random integers lie below this, so that products of a few of them fit into 32 bits.
_INTEGER_LIMIT = 100


def _randn(rng: Generator, shape: Shape, element: ElementType, rows: int | None) -> Array:
    if element.is_float and rows is None:
        return rng.standard_normal(shape)
    return rng.integers(0, 2 if element.is_bool else rows or _INTEGER_LIMIT, shape)


def _rand(rng: Generator, shape: Shape, element: ElementType, rows: int | None) -> Array:
    if element.is_float and rows is None:
        return rng.random(shape)
    return _randn(rng, shape, element, rows)


def _arange(rng: Generator, shape: Shape, element: ElementType, rows: int | None) -> Array:
    values = np.arange(int(np.prod(shape, dtype=np.int64)))
    return (values if rows is None else values % rows).reshape(shape)


def _zeros(rng: Generator, shape: Shape, element: ElementType, rows: int | None) -> Array:
    return np.zeros(shape, element.host)


def _ones(rng: Generator, shape: Shape, element: ElementType, rows: int | None) -> Array:
    return np.full(shape, 0 if rows == 1 else 1, element.host)


_INITIALIZERS: dict[str, Callable[[Generator, Shape, ElementType, int | None], Array]] = {
    "randn": _randn,
    "arange": _arange,
    "zeros": _zeros,
    "ones": _ones,
    "rand": _rand,
}


class TorchInitilizer:
    """Initializers by name.

    `randn` gives normally distributed numbers, `rand` uniform ones in [0, 1), `arange` counts in
    row-major order, `zeros` and `ones` are constant. Random integers are uniform in [0, 100),
    booleans in {0, 1}. The spelling of the name is tt-mlir's; nothing here needs torch.
    """

    init_fns = tuple(_INITIALIZERS)

    @staticmethod
    def get_init_fns() -> tuple[str, ...]:
        """Names of the initializers."""
        return TorchInitilizer.init_fns

    @staticmethod
    def get_initilizer(name: str) -> Callable[..., Array]:
        """`function(shape, element, rng, rows)` for a name; InputError if there is none.

        With `rows`, the numbers are those of the rows of a table.
        """
        if name not in _INITIALIZERS:
            names = ", ".join(_INITIALIZERS)
            raise InputError(f"there is no initializer '{name}'; supported are {names}")
        function = _INITIALIZERS[name]

        def initialize(
            shape: Shape,
            element: ElementType,
            rng: Generator | None = None,
            rows: int | None = None,
        ) -> Array:
            if rows is not None and element.is_float:
                # Larger numbers could be rounded up to one row too many.
                rows = min(rows, _EXACT_INTEGERS.get(element.keyword, 1 << 24))
            values = function(rng or np.random.default_rng(0), shape, element, rows)
            return values if values.dtype == element.host else values.astype(element.host)

        return initialize

    @staticmethod
    def randn(shape: Shape, element: ElementType, rng: Generator | None = None) -> Array:
        """Normally distributed numbers, or integers from 0 to 99."""
        return TorchInitilizer.get_initilizer("randn")(shape, element, rng)

    @staticmethod
    def arange(shape: Shape, element: ElementType, rng: Generator | None = None) -> Array:
        """0, 1, 2, ... in row-major order."""
        return TorchInitilizer.get_initilizer("arange")(shape, element, rng)

    @staticmethod
    def zeros(shape: Shape, element: ElementType, rng: Generator | None = None) -> Array:
        """Zeros."""
        return TorchInitilizer.get_initilizer("zeros")(shape, element, rng)


def generate_inputs(program: BinaryProgram, initializer: str, rng: Generator) -> list[Array]:
    """Inputs of a program; those that number the rows of a table stay within it."""
    initialize = TorchInitilizer.get_initilizer(initializer)
    needed = sum(ref.desc.volume for ref in program.inputs) * np.dtype(np.float64).itemsize
    if needed > memory_limit():
        raise InputError(
            f"{program.where}: making its inputs takes {needed} bytes; {memory_advice()}"
        )
    limits = {} if program.binary.is_metal else _index_limits(program)
    return [
        initialize(ref.desc.shape, ref.desc.element, rng, limits.get(i))
        for i, ref in enumerate(program.inputs)
    ]


def _index_limits(program: BinaryProgram) -> dict[int, int]:
    """Least number of rows of the tables that each input looks up rows of.

    An input may be moved, reshaped and converted before it is used, and integers may be computed
    with, as with `i + rows where i < 0`.
    """
    prepared = prepare(program, Numerics.EXACT)
    sources: dict[int, frozenset[int]] = {
        slot: frozenset((number,)) for number, slot in enumerate(prepared.inputs)
    }
    limits: dict[int, int] = {}
    for step in prepared.steps:
        call = step.call
        if call is not None and Domain.INDEX in call.definition.domains:
            domains = call.definition.domains
            index, of = domains.index(Domain.INDEX), domains.index(Domain.REAL)
            table, dim = call.operands[of], int(call.parameters.get("dim", 0))
            if table is not None:
                rows = max(1, table.desc.shape[dim])
                for number in sources.get(step.inputs[index], ()):
                    limits[number] = min(limits.get(number, rows), rows)
            carried = step.inputs[of : of + 1]
        elif call is None or call.definition.family is Family.MOVEMENT:
            carried = step.inputs
        elif call.definition.family.is_elementwise and call.definition.mnemonic == "typecast":
            carried = step.inputs
        elif call.definition.family.is_elementwise and not call.output.desc.element.is_float:
            carried = step.inputs
        else:
            continue
        found = frozenset[int]().union(*(sources.get(slot, ()) for slot in carried))
        sources.update((slot, found) for slot in step.written if found)
    return limits


def load_inputs(paths: Sequence[str]) -> list[Array]:
    """Arrays of `.npy` files, one each, and `.npz` files, in the order of their entries.

    Entries whose names end in numbers (`input_0`, `input_1`, ...) are sorted by these; the others
    stay in the order in which they were saved.
    """
    entries = (sorted(_load(path), key=lambda entry: entry_number(entry[0])) for path in paths)
    return [array for group in entries for _, array in group]


def load_entries(paths: Sequence[str]) -> list[tuple[str, Array]]:
    """Names and arrays in the order in which they were saved; a `.npy` file has one without name.

    InputError for what is no such file.
    """
    return [entry for path in paths for entry in _load(path)]


def _load(path: str) -> list[tuple[str, Array]]:
    try:
        with open(path, "rb") as file:
            content: Any = np.load(file, allow_pickle=False)
            if isinstance(content, np.ndarray):
                return [("", content)]
            # Compressed zeros take no space in the file.
            size = sum(entry.file_size for entry in content.zip.infolist())
            if size > memory_limit():
                raise InputError(f"{path}: its arrays have {size} bytes; {memory_advice()}")
            return [(name, content[name]) for name in content.files]
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    except (*NO_ARRAY, KeyError, MemoryError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{path}: not a .npy or .npz file of numbers; write one with numpy.save or numpy.savez"
        ) from error


def entry_number(name: str) -> int:
    """The number at the end of an entry's name; 0 if there is none."""
    digits = name[len(name.rstrip("0123456789")) :]
    return int(digits) if digits else 0


def fit_inputs(program: BinaryProgram, arrays: Sequence[Array]) -> list[Array]:
    """The arrays in the element types of the program's inputs; InputError where they do not fit.

    A complex array stands for two inputs, its real and its imaginary part.
    Floating point numbers may become narrower or wider, integers may change their width if all
    values fit, integers may become floating point numbers; nothing else is converted.
    """
    refs, count = program.inputs, len(arrays)
    arrays = split_complex(arrays)
    if len(arrays) != len(refs):
        pairs = "" if len(arrays) == count else "; a complex array is two of them"
        raise InputError(
            f"{program.where} takes {plural(len(refs), 'input')}, got {len(arrays)}{pairs}"
        )
    return [
        _fit(array, ref.desc.shape, ref.desc.element, f"{program.where}: input {i}")
        for i, (array, ref) in enumerate(zip(arrays, refs, strict=True))
    ]


def _fit(array: Array, shape: Shape, element: ElementType, where: str) -> Array:
    if array.shape != shape:
        raise InputError(f"{where} has shape {array.shape} instead of {shape}")
    if array.dtype == element.host:
        return array
    given = array.dtype.kind
    if given not in "fiub" or (given == "f" and not element.is_float):
        raise InputError(
            f"{where} has element type {array.dtype} instead of {element}; convert it first"
        )
    with np.errstate(all="ignore"):
        result = convert(array, element.host)
    if not element.is_float and not np.array_equal(result.astype(array.dtype), array):
        raise InputError(f"{where} has numbers that do not fit into element type {element}")
    return result


# --- Expected -------------------------------------------------------------------------------------
# Results that a framework has computed: read from a file, compared with a program's.
#
# They stand in the binary itself or in a `.npz` file whose arrays are called `input_0`, ... and
# `output_0`, ... (any names that begin so and end in numbers), or are the inputs followed by the
# outputs, in the order in which they were saved. Complex arrays stand for two of the program each.

_KINDS = ("input", "output")


@dataclass(frozen=True, kw_only=True)
class ExpectedOutput:
    """Comparison of an output with what was expected."""

    index: int
    accuracy: Accuracy
    passed: bool

    def as_dict(self, tolerance: Tolerance) -> dict[str, Any]:
        """For JSON."""
        return {
            "output": self.index,
            "passed": self.passed,
            "expected_pcc": tolerance.pcc,
            "actual_pcc": self.accuracy.pcc,
            "rtol": tolerance.rtol,
            "atol": tolerance.atol,
            **self.accuracy.as_dict(),
        }

    def __str__(self) -> str:
        """One line for people."""
        accuracy = self.accuracy
        return (
            f"output {self.index}: pcc {accuracy.pcc:.6f}, max abs error "
            f"{accuracy.max_absolute_error:.3g}, mean abs error "
            f"{accuracy.mean_absolute_error:.3g}, {accuracy.mismatched_specials} infinities or "
            "NaNs differ"
        )


def load_golden_file(path: str, program: BinaryProgram) -> GoldenTensors:
    """Inputs and expected outputs of a program; InputError if the file has others."""
    entries = load_entries([path])
    kinds = {name: _kind(name) for name, _ in entries}
    if all(kinds.values()):
        entries.sort(key=lambda entry: entry_number(entry[0]))
        inputs, outputs = (
            tuple(split_complex(array for name, array in entries if kinds[name] == kind))
            for kind in _KINDS
        )
    elif any(kinds.values()):
        others = ", ".join(name for name, kind in kinds.items() if not kind)
        raise InputError(
            f"{path}: {others} are neither inputs nor outputs; call the arrays input_0, ... and "
            "output_0, ..., or none of them"
        )
    else:
        arrays = split_complex(array for _, array in entries)
        count = len(program.inputs)
        inputs, outputs = tuple(arrays[:count]), tuple(arrays[count:])
    if not outputs:
        raise InputError(f"{path}: there are no expected outputs; call them output_0, ...")
    return GoldenTensors(inputs=inputs, outputs=outputs)


def _kind(name: str) -> str:
    return next((kind for kind in _KINDS if name.startswith(kind)), "")


def compare_outputs(
    program: BinaryProgram, outputs: Sequence[Array], expected: GoldenTensors, tolerance: Tolerance
) -> list[ExpectedOutput]:
    """Every output against what was expected; BinaryError where shapes differ."""
    shapes = [array.shape for array in outputs]
    wanted = [array.shape for array in expected.outputs]
    if shapes != wanted:
        raise BinaryError(
            f"{program.where}: outputs have the shapes {shapes}; expected were {wanted}"
        )
    results: list[ExpectedOutput] = []
    for i, (actual, golden) in enumerate(zip(outputs, expected.outputs, strict=True)):
        accuracy = compare(actual, golden, rtol=tolerance.rtol, atol=tolerance.atol)
        results.append(
            ExpectedOutput(index=i, accuracy=accuracy, passed=tolerance.accepts(accuracy))
        )
    return results


# --- Judgement ------------------------------------------------------------------------------------
# What is wrong with the numbers that a program computed, in sentences.


def identity_problems(
    inputs: Sequence[Array], outputs: Sequence[Array], rtol: float, atol: float
) -> list[str]:
    """Where outputs are not the inputs, within tolerances, as far as there are pairs of them."""
    if not (inputs and outputs):
        count = f"{plural(len(inputs), 'input')} and {plural(len(outputs), 'output')}"
        return [f"identity compares inputs with outputs; there are {count}"]
    problems: list[str] = []
    for i, (given, result) in enumerate(zip(inputs, outputs, strict=False)):
        if given.shape != result.shape:
            problems.append(f"output {i} has shape {result.shape}, its input {given.shape}")
            continue
        x, y = np.asarray(result, np.float64), np.asarray(given, np.float64)
        if not np.allclose(x, y, rtol=rtol, atol=atol, equal_nan=True):
            error = np.nanmax(np.abs(x - y))
            problems.append(f"output {i} differs from input {i} by up to {error:.6g}")
    return problems


def zero_problems(outputs: Sequence[Array]) -> list[str]:
    """Which outputs hold nothing but zeros."""
    return [f"output {i} is all zeros" for i, output in enumerate(outputs) if not output.any()]


def expected_problems(results: Sequence[ExpectedOutput]) -> list[str]:
    """Which outputs are not those of the reference run that the user or the file holds."""
    return [
        f"differs from what its file or --golden-file expects: {result}"
        for result in results
        if not result.passed
    ]


def _inherited(result: GoldenResult) -> str:
    return "; it is right for its operands, whose differences grow here" * result.inherited


def golden_problem(result: GoldenResult) -> str:
    """How an operation differs from its reference."""
    operation, accuracy = result.operation, result.accuracy
    location = f" at loc({operation.location})" if operation.location else ""
    text = f": {operation.debug_info}" if operation.debug_info else ""
    where = "" if result.device is None else f" on device {result.device}"
    return (
        f"operation {operation.index} ({result.name}){location}{where} is the first that differs "
        f"from its reference: pcc {accuracy.pcc:.6f}, max absolute error "
        f"{accuracy.max_absolute_error:.6g}, {accuracy.mismatched_specials} infinities or NaNs "
        f"differ{'; ' if result.tile else ''}{result.tile}{_inherited(result)}{text}"
    )


# --- Program --------------------------------------------------------------------------------------
# Runs a program of operations as often as asked, with its reference beside the first run.


class Golden(Protocol):
    """What a golden run found."""

    tolerance: Tolerance
    results: list[GoldenResult]

    @property
    def without_reference(self) -> Sequence[Operation]:
        """Loops and branches, which are not compared."""
        ...

    def find_failure(self, outputs: Sequence[Array], *, confirmed: bool) -> GoldenResult | None:
        """The first operation that is off; `confirmed` outputs are known not to be."""
        ...


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """How programs are run."""

    numerics: Numerics
    golden: bool = False
    """Run the reference of each operation beside the first run."""
    keep_golden: bool = False
    """Keep the results of the reference, too."""
    tolerance: Tolerance = field(default_factory=Tolerance)
    warm_up: bool = False
    """Run programs of operations once before those runs that are timed and watched."""
    runs: Callable[[], Iterable[int]] = lambda: range(1)
    """Counts the runs; called once for each program."""


@dataclass(frozen=True, kw_only=True)
class ProgramRun:
    """What running a program gave; the arrays have the host's types."""

    inputs: list[Array]
    outputs: list[Array]
    durations: list[int]
    """Nanoseconds of each run."""
    golden: Golden | None
    peak_bytes: dict[str, int]
    """Most bytes that were in use in each memory of the device; empty for kernels."""
    kernels: MetalRun | None = None
    """What the simulator says about the last run of a program of kernels."""
    generics: Sequence[GenericReport] = ()
    """What the programs of kernels among the operations of the last run did."""
    details: dict[str, Any] = field(default_factory=dict[str, Any])
    """What the results say about the simulated device."""


def run_operations(
    program: BinaryProgram,
    inputs: list[Array],
    settings: RunSettings,
    make_observer: Callable[[], Observer | None],
    make_runner: Callable[[BinaryProgram], GenericRunner] | None = None,
) -> ProgramRun:
    """Run a program of a `.ttnn` file.

    `make_observer` gives what watches a run, if the reference does not, and `make_runner` what runs
    programs of kernels, if there are any.
    """
    chips = prepare(program, settings.numerics).chip_ids
    device = open_device(chips or (0,), numerics=settings.numerics)
    try:
        tensors = [
            to_layout(Tensor.from_numpy(array), device, ref.desc)
            for array, ref in zip(inputs, program.inputs, strict=True)
        ]
        prepared = prepare_submission(device, program.binary, program.index, tensors)
        golden = _golden_observer(program, tensors, settings) if settings.golden else None
        if settings.warm_up and golden is None and not prepared.has_kernels:
            run_prepared(device, prepared, tensors)
        durations: list[int] = []
        outputs: list[Tensor] = []
        runner: GenericRunner | None = None
        for number in settings.runs():
            observer = golden if number == 0 and golden is not None else make_observer()
            runner = make_runner(program) if make_runner and prepared.has_kernels else None
            start = time.perf_counter_ns()
            outputs = run_prepared(device, prepared, tensors, observer, runner)
            durations.append(time.perf_counter_ns() - start)
        return ProgramRun(
            inputs=inputs,
            outputs=[to_host(tensor).to_numpy() for tensor in outputs],
            durations=durations,
            golden=golden,
            peak_bytes={space.keyword: size for space, size in prepared.peak_bytes.items()},
            generics=() if runner is None else tuple(runner.reports),
            details={} if runner is None else _kernel_details(runner.reports),
        )
    finally:
        close_device(device)


def _kernel_details(reports: Sequence[GenericReport]) -> dict[str, Any]:
    return {
        "cycles": sum(each.report.cycles for each in reports),
        "kernels": [
            {"index": each.operation.index, "name": each.title, "cycles": each.report.cycles}
            for each in reports
        ],
        "findings": [str(finding) for each in reports for finding in each.report.findings],
    }


def _golden_observer(
    program: BinaryProgram, inputs: list[Tensor], settings: RunSettings
) -> GoldenObserver | GoldenOfDevices:
    arrays = [
        convert(tensor.values, ref.desc.element.compute)
        for tensor, ref in zip(inputs, program.inputs, strict=True)
    ]
    if (devices := math.prod(program.mesh)) > 1:
        return GoldenOfDevices(arrays, settings.tolerance, settings.keep_golden, devices)
    return GoldenObserver(arrays, settings.tolerance, keep_tensors=settings.keep_golden)


# --- Kernels --------------------------------------------------------------------------------------
# Runs a program of kernels on the simulator, with the reference of its operations beside it.


def run_kernels(
    program: BinaryProgram,
    inputs: list[Array],
    settings: RunSettings,
    options: SimOptions,
    *,
    print_line: Callable[[str], None] | None = None,
    record: bool = False,
) -> ProgramRun:
    """Run a program of a `.ttm` file.

    `print_line` takes what kernels print; `record` keeps what their threads did when.
    """
    from ttmlir.runtime.metal_program import MetalProgram
    from ttmlir.runtime.metal_session import MeshGolden, MetalGolden, execute, keep_no_pages

    assert isinstance(program, MetalProgram), "the program is one of a .ttm file"
    values = [
        convert(array, ref.desc.element.compute)
        for array, ref in zip(inputs, program.inputs, strict=True)
    ]
    golden = None
    if settings.golden:
        tolerance, keep = settings.tolerance, settings.keep_golden
        golden = (
            MetalGolden(program, values, tolerance, keep_tensors=keep)
            if program.mesh_plan is None
            else MeshGolden(tolerance, keep)
        )
    durations: list[int] = []
    run: MetalRun | None = None
    for number in settings.runs():
        start = time.perf_counter_ns()
        run = execute(
            program,
            values,
            options,
            observer=golden if number == 0 else None,
            pages_of=(
                golden.pages_of
                if isinstance(golden, MetalGolden) and number == 0
                else keep_no_pages
            ),
            print_line=print_line,
            record=record,
        )
        durations.append(time.perf_counter_ns() - start)
    assert run is not None, "there is at least one run"
    outputs = [
        convert(values, ref.desc.element.host)
        for values, ref in zip(run.outputs, program.outputs, strict=True)
    ]
    return ProgramRun(
        inputs=inputs,
        outputs=outputs,
        durations=durations,
        golden=golden,
        peak_bytes={},
        kernels=run,
        details=_details(run),
    )


def _details(run: MetalRun) -> dict[str, Any]:
    return {
        "cycles": run.cycles,
        "commands": [
            {"index": each.command.index, "cycles": each.report.cycles} for each in run.reports
        ],
        "findings": [str(f) for each in run.reports for f in each.report.findings],
    }
