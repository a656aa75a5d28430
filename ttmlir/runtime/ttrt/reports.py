"""What ttrt writes: logs, artifacts, results, and tables of times."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from ttmlir.errors import plural
from ttmlir.files import safe_file_name
from ttmlir.layout.enums import MathFidelity
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.late_machine import any_system_from_table, late_board
from ttmlir.layout.system import BOARD_NAMES, SystemDesc, board
from ttmlir.runtime.binary import Binary, BinaryProgram, TensorRef, system_of
from ttmlir.runtime.errors import BinaryError, InputError
from ttmlir.runtime.execution.executor import GenericReport, Run
from ttmlir.runtime.execution.steps import Step
from ttmlir.runtime.hooks import DebugHooks
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.locations import place_in
from ttmlir.runtime.memory import memory_document, program_memory
from ttmlir.runtime.profiler_table import profiler_csv, tensor_columns
from ttmlir.runtime.system_desc import read_system_desc
from ttmlir.runtime.tensor import TensorDesc
from ttmlir.runtime.ttrt.files import FileManager, Logger, Source
from ttmlir.runtime.ttrt.running import Golden, ProgramRun
from ttmlir.schema import FlatbufferError, TableView, identify, load_schema
from ttmlir.schema.versions import unknown_kind
from ttmlir.sim.timing.report import ProgramTimes, bound, operation_table, thread_table
from ttmlir.sim.timing.report import summary as report_summary
from ttmlir.sim.timing.timeline import Timeline, chrome_trace
from ttmlir.terminal import shown_name

if TYPE_CHECKING:
    from ttmlir.runtime.binary import Operation
    from ttmlir.runtime.metal_session import CommandReport
    from ttmlir.runtime.tensor import Array
    from ttmlir.sim.execution.run import ProgramReport


# --- Artifacts ------------------------------------------------------------------------------------
# The artifacts folder: what the commands leave behind.
#
# system_desc.ttsys                                   the system described or simulated
# <binary>/<binary>                                   copy of the flatbuffer
# <binary>/system_desc.ttsys                          the system that it ran on
# <binary>/run/program_<i>/program_<i>_input_<k>.npy  inputs, and likewise outputs and goldens
# <binary>/perf/ops_perf_results.csv                  times per operation

FOLDER = "ttrt-artifacts"
HOME_VARIABLE = "TT_MLIR_HOME"
"""Environment variable with the folder that the artifacts folder stands in."""
SYSTEM_DESC_FILE = "system_desc.ttsys"


def _default_folder() -> str:
    if home := os.environ.get(HOME_VARIABLE):
        return os.path.join(home, FOLDER)
    try:
        return os.path.join(os.getcwd(), FOLDER)
    except OSError:
        # The current folder is gone, which matters only if something is saved.
        return FOLDER


class Artifacts:
    """Paths below an artifacts folder, and how they are filled."""

    def __init__(
        self,
        logger: Logger | None = None,
        file_manager: FileManager | None = None,
        artifacts_folder_path: str = "",
        *,
        logging: Logger | None = None,
    ) -> None:
        """Use a folder; by default `ttrt-artifacts` in that of `TT_MLIR_HOME`, or the current one.

        Nothing is created yet.
        """
        self.logger = logger or logging or Logger()
        self.file_manager = file_manager or FileManager(self.logger)
        self.artifacts_folder_path = artifacts_folder_path or _default_folder()
        self._names: dict[str, str] = {}

    def get_artifacts_folder_path(self) -> str:
        """The folder."""
        return self.artifacts_folder_path

    def get_binary_folder_path(self, binary: str | os.PathLike[str]) -> str:
        """Folder of a binary, by its path; each of several files of one name has its own."""
        path = os.fspath(binary)
        if path not in self._names:
            name, taken = Path(path).name, set(self._names.values())
            others = (f"{name}.{count}" for count in itertools.count(2))
            candidates = itertools.chain((name,), others)
            self._names[path] = next(each for each in candidates if each not in taken)
        return str(Path(self.artifacts_folder_path, self._names[path]))

    def get_binary_run_folder_path(self, binary: str | os.PathLike[str], program: int) -> str:
        """Folder for the tensors of a program."""
        return str(Path(self.get_binary_folder_path(binary), "run", f"program_{program}"))

    def get_binary_perf_folder_path(self, binary: str | os.PathLike[str]) -> str:
        """Folder for the times of a binary."""
        return str(Path(self.get_binary_folder_path(binary), "perf"))

    def create_artifacts(self) -> None:
        """Make the folder."""
        self.file_manager.create_directory(self.artifacts_folder_path)

    def clean_artifacts(self) -> None:
        """Remove the folder and all it holds."""
        self.file_manager.remove_directory(self.artifacts_folder_path)

    def clean_binary_artifacts(self, binary: str | os.PathLike[str]) -> None:
        """Remove the folder of a binary."""
        self.file_manager.remove_directory(self.get_binary_folder_path(binary))

    def save_binary(self, binary: str | os.PathLike[str], system_desc: bytes | None = None) -> None:
        """Copy a binary and, if given, the description of the system that it ran on."""
        self.save_source(Source(os.fspath(binary)), system_desc)

    def save_source(self, source: Source, system_desc: bytes | None = None) -> None:
        """The same for a binary that may have arrived on standard input."""
        folder = self.get_binary_folder_path(source.name)
        target = os.path.join(folder, Path(source.name).name)
        if source.is_standard_input:
            self.file_manager.write_bytes(target, bytes(source.content))
        else:
            self.file_manager.copy_file(target, source.path)
        if system_desc is not None:
            self.file_manager.write_bytes(os.path.join(folder, SYSTEM_DESC_FILE), system_desc)

    def save_system_desc(self, data: bytes) -> str:
        """Write the system description; returns its path."""
        path = os.path.join(self.artifacts_folder_path, SYSTEM_DESC_FILE)
        self.file_manager.write_bytes(path, data)
        return path

    def save_tensor(self, folder_path: str, tensor: Array, name: str) -> str:
        """Write an array as `.npy`; bf16 becomes float32, which holds it exactly."""
        # NumPy is loaded only where there are arrays.
        from ttmlir.runtime.ttrt.files import write_arrays

        self.file_manager.create_directory(folder_path)
        path = os.path.join(folder_path, f"{name}.npy")
        write_arrays(path, {name: tensor})
        return path

    save_torch_tensor = save_tensor


# --- Kernel times ---------------------------------------------------------------------------------
# `ttrt perf` on kernels: tables, traces and a summary of simulated time.
#
# <file>/perf/ops_perf_results.csv     a row per program of kernels, in tt-metal's columns
# <file>/perf/threads.csv              a row per kernel, core and thread: cycles, stalls, traffic
# <file>/perf/trace_<program>.json     for ui.perfetto.dev and chrome://tracing
#
# For programs of kernels among the operations of a `.ttnn` file, whose operations have the first of
# these names, it is kernels_perf_results.csv.

_MOST_PROGRAMS = 10
_LEAST_WIDTH = 40
"""Of the column of names."""
_LEAST_BINDING_WIDTH = 12
"""Of the column of what binds."""


@dataclass(frozen=True)
class KernelProgram:
    """A program of kernels that ran."""

    name: str
    location: str
    fidelity: MathFidelity | None
    """Of the kernel that computes; None if none does."""
    report: ProgramReport
    timeline: Timeline | None

    @property
    def times(self) -> ProgramTimes:
        """What its threads did, under its name."""
        return self.report.times(self.name)

    @property
    def bound_by(self) -> str:
        """The busiest part of the chip, or latency if none is busy enough."""
        return bound(self.times)

    @property
    def dram_bytes(self) -> int:
        """Read from and written to DRAM."""
        return self.times.networks.dram_bytes


@dataclass(frozen=True)
class KernelRuns:
    """The programs of kernels of one run of a function, in their order."""

    function: BinaryProgram
    programs: tuple[KernelProgram, ...]

    @property
    def cycles(self) -> int:
        """Cycles of all of them one after another, without launching them."""
        return sum(each.report.cycles for each in self.programs)

    @classmethod
    def of_run(cls, function: BinaryProgram, run: ProgramRun) -> KernelRuns | None:
        """Those of a function of a `.ttm` or a `.ttnn` file; None for one without kernels."""
        if run.kernels is not None:
            return cls(function, tuple(_of_command(function, each) for each in run.kernels.reports))
        if run.generics:
            return cls(function, tuple(_of_operation(function, each) for each in run.generics))
        return None


def _of_command(function: BinaryProgram, each: CommandReport) -> KernelProgram:
    command = each.command
    return KernelProgram(
        f"{function.name} {command.index} {command.meaning}",
        command.location,
        command.fidelity,
        each.report,
        each.timeline,
    )


def _of_operation(function: BinaryProgram, each: GenericReport) -> KernelProgram:
    return KernelProgram(
        f"{function.name} {each.operation.index} {each.title}",
        each.operation.location,
        each.description.math_fidelity,
        each.report,
        each.timeline,
    )


def perf_files(runs: Sequence[KernelRuns], table: str = "ops_perf_results.csv") -> dict[str, str]:
    """Contents of the files by name; `table` is that of the first."""
    timed = [each.times for run in runs for each in run.programs]
    details = [_details(each, run) for run in runs for each in run.programs]
    files = {table: operation_table(timed, details), "threads.csv": thread_table(timed)}
    for run in runs:
        name = f"trace_{run.function.index}_{safe_file_name(run.function.name)}.json"
        files[name] = trace_of(run)
    return files


def perf_summary(path: str, runs: Sequence[KernelRuns]) -> str:
    """Time of every function, of the programs that take most of it, and what binds these."""
    lines: list[str] = []
    for run in runs:
        timed = [(each, each.times) for each in run.programs]
        kernels = sum(times.kernel_ns for _, times in timed)
        launches = sum(times.launch_ns for _, times in timed)
        name = shown_name(run.function.name)
        lines.append(
            f"{path}: '{name}': {run.cycles:,} cycles = {kernels / 1e3:.1f} us in "
            f"{len(timed)} program{'' if len(timed) == 1 else 's'}, and {launches / 1e3:.1f} us "
            "to launch them"
        )
        ranked = sorted(timed, key=lambda pair: -pair[1].cycles)[:_MOST_PROGRAMS]
        width = max([_LEAST_WIDTH, *(len(times.name) + 1 for _, times in ranked)])
        binding = max([_LEAST_BINDING_WIDTH, *(len(bound(times)) + 2 for _, times in ranked)])
        lines.append(
            f"{'program':<{width}}{'cycles':>12}{'share':>8}{'DRAM bytes':>14}  "
            f"{'bound by':<{binding}}location"
        )
        for each, times in ranked:
            lines.append(
                f"{times.name:<{width}}{times.cycles:>12,}{_share(each, run):>7.1f}%"
                f"{each.dram_bytes:>14,}  {bound(times):<{binding}}{place_in(each.location) or '-'}"
            )
        if ranked:
            each, times = ranked[0]
            cores = len({thread.core for thread in times.threads})
            fidelity = each.fidelity or MathFidelity.HIFI4
            lines.append(report_summary(times, flops=0, cores=cores, fidelity=fidelity))
    return "\n".join(lines)


def _share(each: KernelProgram, run: KernelRuns) -> float:
    """Percent of the cycles of a run."""
    return 100 * each.report.cycles / run.cycles if run.cycles else 0.0


def _details(each: KernelProgram, run: KernelRuns) -> dict[str, str]:
    chip = each.report.chip
    return {
        "DEVICE ARCH": chip.spec.arch.keyword,
        "AVAILABLE WORKER CORE COUNT": str(math.prod(chip.grid)),
        "MATH FIDELITY": "" if each.fidelity is None else each.fidelity.schema_name,
        "SHARE [%]": f"{_share(each, run):.2f}",
        "DRAM BYTES": str(each.dram_bytes),
        "LOC": each.location,
    }


def trace_of(run: KernelRuns) -> str:
    """The timelines of all programs one after another, as JSON for viewers of traces."""
    start = 0
    recorded: list[tuple[Timeline, int]] = []
    clock_hz = 1_000_000_000
    for each in run.programs:
        if each.timeline is not None:
            recorded.append((each.timeline, start))
        clock_hz = each.report.chip.clock_hz
        start += each.report.cycles
    return chrome_trace(recorded, clock_hz)


# --- Operation times ------------------------------------------------------------------------------
# Times of operations on the host: measured, as a table of tt-metal's profiler, and in short.

CSV_NAME = "ops_perf_results.csv"
_MOST_OPERATIONS = 10


@dataclass(frozen=True)
class Timing:
    """One operation of one run; times in nanoseconds of the monotonic clock."""

    step: Step
    inputs: tuple[TensorDesc, ...]
    start: int
    end: int

    @property
    def duration(self) -> int:
        """Nanoseconds."""
        return self.end - self.start

    @property
    def code(self) -> str:
        """Name of the operation in the IR."""
        call = self.step.call
        return self.step.operation.ir_name if call is None else call.name


def _no_timings() -> list[Timing]:
    return []


@dataclass
class TimingObserver:
    """Times every operation; registered hooks run outside of the times."""

    timings: list[Timing] = field(default_factory=_no_timings)
    hooks: DebugHooks | None = None
    _start: int = 0

    def before(self, run: Run, step: Step) -> None:
        """Start the clock."""
        if self.hooks is not None:
            self.hooks.before(run, step)
        self._start = time.perf_counter_ns()

    def after(self, run: Run, step: Step) -> None:
        """Stop the clock."""
        end = time.perf_counter_ns()
        call = step.call
        refs = () if call is None else call.operands
        inputs = tuple(ref.desc for ref in refs if ref is not None)
        self.timings.append(Timing(step, inputs, self._start, end))
        if self.hooks is not None:
            self.hooks.after(run, step)


def summary(path: str, timings: list[Timing]) -> str:
    """Total time and the kinds of operations that take most of it, as a table."""
    total = sum(timing.duration for timing in timings)
    by_code: dict[str, list[int]] = {}
    for timing in timings:
        by_code.setdefault(timing.code, []).append(timing.duration)
    ranked = sorted(by_code.items(), key=lambda item: -sum(item[1]))[:_MOST_OPERATIONS]
    lines = [
        f"{path}: {total / 1e6:.3f} ms of host time, on this computer's CPU, in {len(timings)} "
        "operations; --device estimates the device's"
    ]
    lines.append(f"{'operation':<32}{'calls':>8}{'host ms':>12}{'mean host us':>14}{'share':>8}")
    for code, durations in ranked:
        spent = sum(durations)
        share = 100 * spent / total if total else 0.0
        mean = spent / len(durations) / 1e3
        lines.append(
            f"{code:<32}{len(durations):>8}{spent / 1e6:>12.3f}{mean:>14.1f}{share:>7.1f}%"
        )
    return "\n".join(lines)


def timings_as_csv(timings: list[Timing]) -> str:
    """One row per operation, in the columns of tt-metal's profiler."""
    most_inputs = max((len(timing.inputs) for timing in timings), default=0)
    return profiler_csv(
        (_csv_row(count, timing) for count, timing in enumerate(timings)), most_inputs
    )


def _csv_row(count: int, timing: Timing) -> dict[str, Any]:
    step = timing.step
    row: dict[str, Any] = {
        "OP CODE": timing.code,
        "OP TYPE": "host",
        "GLOBAL CALL COUNT": count,
        "HOST START TS": timing.start,
        "HOST END TS": timing.end,
        "HOST DURATION [ns]": timing.duration,
        "LOC": step.operation.location,
    }
    if step.call is not None and step.call.parameters:
        row["ATTRIBUTES"] = "; ".join(f"{k}={v}" for k, v in step.call.parameters.items())
    row |= tensor_columns(timing.inputs, step.output_desc)
    if step.output_desc is not None:
        cores = sum(height * width for _, _, height, width in step.output_desc.core_ranges)
        if cores:
            row["CORE COUNT"] = cores
    return row


# --- Results --------------------------------------------------------------------------------------
# Results of the commands: one entry per file and program, exit status, JSON and JUnit XML.

# --- Golden report --------------------------------------------------------------------------------
# What a golden run found, operation by operation: for JSON and as lines for people.


def golden_report(golden: Golden) -> list[dict[str, Any]]:
    """An entry for each operation."""
    return [result.as_dict(golden.tolerance) for result in golden.results]


def golden_lines(golden: Golden, kernels: Sequence[GenericReport] = ()) -> Iterator[str]:
    """A line for each operation, marked `ok` or `OFF`, and `--` for what has no reference.

    `~~` are operations that are off, but right for their operands.
    """
    for index, title in dict.fromkeys((each.operation.index, each.title) for each in kernels):
        yield (
            f"golden --  operation {index} ttnn.generic ({title}): kernels have no reference; the "
            "later operations are judged by what it makes of golden numbers"
        )
    for operation in golden.without_reference:
        yield (
            f"golden --  operation {operation.index} {operation.ir_name}{_place(operation)}: "
            "loops, branches and what follows from weights alone have no reference; the later "
            "operations are judged by its results"
        )
    for result in golden.results:
        accuracy = result.accuracy
        mark = "ok " if result.passed else "~~ " if result.inherited else "OFF"
        location = _place(result.operation)
        if result.device is not None:
            location += f" on device {result.device}"
        yield (
            f"golden {mark} operation {result.operation.index} {result.name}{location}: "
            f"pcc {accuracy.pcc:.6f}, max abs error {accuracy.max_absolute_error:.3g}, "
            f"mean abs error {accuracy.mean_absolute_error:.3g}, "
            f"max rel error {accuracy.max_relative_error:.3g}"
            + (f"; {result.tile}" if result.tile else "")
        )


def _place(operation: Operation) -> str:
    return f" loc({operation.location})" if operation.location else ""


# --- Results --------------------------------------------------------------------------------------

EXIT_SUCCESS = 0
EXIT_FAILURE = 1
EXIT_ACCURACY = 42

REPORT_FILE = "ttrt_report.xml"


class Outcome(Enum):
    """How it went."""

    PASS = "pass"
    SKIP = "skip"
    ERROR = "error"
    TEST_ERROR = "test_error"
    """The program ran, but its numbers are not as they should be."""


@dataclass(kw_only=True)
class Result:
    """What became of one program of a file, or of a file without programs."""

    file_path: str
    outcome: Outcome = Outcome.PASS
    exception: str = ""
    log_file: str = ""
    artifacts: str = ""
    program_index: str = ""
    details: dict[str, Any] = field(default_factory=dict[str, Any])
    """Further entries of the JSON object, by command."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "file_path": self.file_path,
            "result": self.outcome.value,
            "exception": self.exception,
            "log_file": self.log_file,
            "artifacts": self.artifacts,
            "program_index": self.program_index,
            **self.details,
        }


def exit_status(results: list[Result]) -> int:
    """0 if all passed, 42 if only numbers were wrong, else 1; 1 also if there are no results."""
    outcomes = {result.outcome for result in results}
    if not outcomes or outcomes & {Outcome.ERROR, Outcome.SKIP}:
        return EXIT_FAILURE
    return EXIT_ACCURACY if Outcome.TEST_ERROR in outcomes else EXIT_SUCCESS


def results_as_json(results: list[Result]) -> bytes:
    """JSON text: a list of objects."""
    text = json.dumps([result.as_dict() for result in results], indent=2, allow_nan=False)
    return text.encode() + b"\n"


def results_as_junit(command: str, results: list[Result]) -> bytes:
    """JUnit XML with one test case per result."""
    failures = sum(result.outcome is Outcome.TEST_ERROR for result in results)
    errors = sum(result.outcome is Outcome.ERROR for result in results)
    skipped = sum(result.outcome is Outcome.SKIP for result in results)
    suite = ElementTree.Element(
        "testsuite",
        name=f"ttrt {command}",
        tests=str(len(results)),
        failures=str(failures),
        errors=str(errors),
        skipped=str(skipped),
    )
    for result in results:
        _test_case(suite, command, result)
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


_ELEMENTS = {Outcome.SKIP: "skipped", Outcome.ERROR: "error", Outcome.TEST_ERROR: "failure"}


def _test_case(suite: ElementTree.Element, command: str, result: Result) -> None:
    name = result.file_path
    if result.program_index:
        name += f" program {result.program_index}"
    case = ElementTree.SubElement(
        suite, "testcase", classname=f"ttrt.{command}", name=_xml_text(name)
    )
    element = _ELEMENTS.get(result.outcome)
    if element is not None:
        ElementTree.SubElement(case, element, message=_xml_text(result.exception))


_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that an XML 1.0 document cannot hold, not even as references."""


def _xml_text(text: str) -> str:
    """The text with a replacement character for each one that XML cannot hold."""
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)


# --- Sections -------------------------------------------------------------------------------------
# The sections of a file, as JSON or text for people.

# --- File summary ---------------------------------------------------------------------------------
# What a file is, on one screen.

MOST_NAMES = 8
MOST_TENSORS = 5
MOST_KINDS = 5


def summarize_binary(binary: Binary, size: int, sections: Sequence[str]) -> str:
    """What a program file holds; `size` counts its bytes, `sections` are what else can be read."""
    kind = "programs of kernels" if binary.is_metal else "calls of the ttnn library"
    version = ".".join(map(str, binary.version))
    lines = [
        f"{binary.source}: {kind}, {size:,} bytes, version {version}"
        + (f", schema {binary.schema_hash[:12]}..." if binary.schema_hash else ""),
        f"compiled for {describe_system(binary.comparable_system)}",
    ]
    first, *others = [*binary.programs, None]
    if first is not None:
        lines += ["", *_summarize_program(first)]
    names = [program.name for program in others if program is not None]
    if names:
        lines += ["", f"more programs: {_shorten(names, MOST_NAMES)}"]
    return "\n".join([*lines, "", f"more with --section {', '.join(sections)}"])


def summarize_system(source: str, root: TableView) -> str:
    """What a system description says."""
    version = root["version"]
    numbers = "unknown" if version is None else ".".join(str(part) for part in version)
    return (
        f"{source}: system description, version {numbers}\n"
        f"describes {describe_system(root['system_desc'])}\n\n"
        "more with --section all, version, system_desc"
    )


def describe_system(table: Mapping[str, Any] | None) -> str:
    """The board that a `SystemDesc` table describes, or its chips."""
    if table is None:
        return "no system that it names"
    try:
        system = any_system_from_table(table)
    except LayoutError as error:
        return f"a system that is not known: {error}"
    name = next((name for name in BOARD_NAMES if system in (board(name), late_board(name))), None)
    return f"board '{name}', {_describe_chips(system)}" if name else _describe_chips(system)


def _describe_chips(system: SystemDesc) -> str:
    chip = system.chip(0)
    rows, columns = chip.grid
    count = system.num_chips
    chips = "a chip" if count == 1 else f"{count} chips"
    return f"{chips} of {chip.arch.name.lower()} with {rows}x{columns} cores"


def _summarize_program(program: BinaryProgram) -> list[str]:
    signature = program.signature
    names = [""] * len(program.inputs) if signature is None else signature.input_names
    of_model = f" of the model '{shown_name(signature.name)}'" if signature is not None else ""
    lines = [f"program {program.index} '{shown_name(program.name)}'{of_model}"]
    lines += _list(
        "inputs", [_spell(name, ref) for name, ref in zip(names, program.inputs, strict=True)]
    )
    lines += _list("outputs", [_spell("", ref) for ref in program.outputs])
    lines += _list("does", [_count(_kinds(program))])
    if constants := _constants(program):
        size = sum(ref.desc.volume * ref.desc.element.host.itemsize for ref in constants)
        lines += _list("constants", [f"{len(constants)}, {size:,} bytes"])
    texts = [name for name, text in program.debug_sources() if text]
    golden = ["golden results of the framework"] if program.golden is not None else []
    lines += _list("also", [", ".join([*(f"its text in {name}" for name in texts), *golden])])
    return lines


def _kinds(program: BinaryProgram) -> list[str]:
    if not program.binary.is_metal:
        return list(program.record_titles)
    # The simulator is loaded only for files that need it.
    from ttmlir.runtime.metal_program import MetalProgram

    assert isinstance(program, MetalProgram), "the file is a .ttm file"
    plan = program.mesh_plan
    exchanges = [] if plan is None else [each.name for each in plan.exchanges]
    return [*exchanges, *(f"launch of {command.meaning}" for command in program.launches)]


def _constants(program: BinaryProgram) -> list[TensorRef]:
    operations = [each for each in program.operations if each.table == "ConstantOp"]
    refs = {ref.global_id: ref for each in operations for ref in (each.tensor("out"),)}
    return [ref for ref in refs.values() if ref.constant is not None]


def _count(kinds: Sequence[str]) -> str:
    counts = Counter(kinds).most_common()
    shown = _shorten((f"{count} {kind}" for kind, count in counts), MOST_KINDS)
    return f"{plural(len(kinds), 'operation')}: {shown}" if kinds else "nothing"


def _spell(name: str, ref: TensorRef) -> str:
    text = str(ref.desc) if ref.desc.is_on_device else ref.desc.type_text
    return f"{name}: {text}" if name else text


def _shorten(texts: Iterable[str], most: int) -> str:
    texts = list(texts)
    more = [f"... {len(texts) - most} more"] if len(texts) > most else []
    return ", ".join([*texts[:most], *more])


def _list(title: str, items: Sequence[str]) -> list[str]:
    """Lines under a title, of many the first ones."""
    items = [item for item in items if item]
    if len(items) > MOST_TENSORS:
        items = [*items[: MOST_TENSORS - 1], f"... {len(items) - MOST_TENSORS + 1} more"]
    return [f"  {title if i == 0 else '':<10}{item}" for i, item in enumerate(items)]


# --- Sections -------------------------------------------------------------------------------------

SUMMARY = "summary"
ALL = "all"
MAX_BYTES = 4096
"""Longer vectors of bytes, such as the elements of constants, are shown by their size."""
PLAIN_SECTIONS = (SUMMARY, "version", "mlir", "cpp")
"""Sections that are no JSON."""
_METAL_SECTIONS = (ALL, "version", "system_desc", "mlir", "cpp", "inputs", "outputs")


def joined_documents(documents: Mapping[str, str]) -> str:
    """JSON documents as one: an object with an entry for each, by name."""
    # Lines end in no JSON string, so all of them may be indented.
    entries = (f"{json.dumps(name)}: {text.rstrip()}" for name, text in documents.items())
    body = ",\n".join(entries).replace("\n", "\n  ")
    return f"{{\n  {body}\n}}" if documents else "{}"


def section_text(path: str, data: bytes | memoryview, section: str) -> str:
    """A section of a `.ttnn`, `.ttm` or `.ttsys` file; `path` names it in messages.

    Raises BinaryError for a damaged file and InputError for a section that it does not have.
    """
    try:
        match identify(data):
            case "TTSY":
                return _read_system(path, data, section)
            case "TTM0":
                return _read_metal(path, data, section)
            case "TTNN":
                binary = read_binary(data, path, ignore_version=True)
                if section == SUMMARY:
                    return summarize_binary(binary, len(data), tuple(_SECTIONS))
                return _SECTIONS[section](binary)
            case _:
                raise unknown_kind(path)
    except FlatbufferError as error:
        raise BinaryError(str(error)) from error


def _unavailable(path: str, section: str, available: tuple[str, ...]) -> InputError:
    return InputError(f"{path}: there is no section '{section}'; it has {', '.join(available)}")


def _read_system(path: str, data: bytes | memoryview, section: str) -> str:
    root = read_system_desc(data, path)
    match section:
        case "summary":
            return summarize_system(path, root)
        case "all":
            return root.to_json()
        case "version":
            digest = root["schema_hash"] if "schema_hash" in root else ""
            return _version_text(root["version"], root["ttmlir_git_hash"], digest)
        case "system_desc":
            return root["system_desc"].to_json()
        case _:
            raise _unavailable(path, section, (SUMMARY, ALL, "version", "system_desc"))


def _read_metal(path: str, data: bytes | memoryview, section: str) -> str:
    if section == SUMMARY:
        binary = read_binary(data, path, ignore_version=True)
        return summarize_binary(binary, len(data), _METAL_SECTIONS)
    root = load_schema("TTMetal/binary.fbs").read(data, path)
    match section:
        case "all":
            return root.to_json(max_bytes=MAX_BYTES)
        case "version":
            return _version_text(root["version"], root["ttmlir_git_hash"])
        case "system_desc" if root["system_desc"] is not None:
            return root["system_desc"].to_json()
        case "inputs" | "outputs":
            programs = root.as_dict(max_bytes=MAX_BYTES)["programs"]
            return json.dumps({p["name"]: p.get(section, []) for p in programs}, indent=2)
        case "cpp":
            return _kernel_sources(root)
        case "mlir" if (sources := _module_sources(root)) is not None:
            return sources
        case _:
            raise _unavailable(path, section, (SUMMARY, *_METAL_SECTIONS))


def _module_sources(root: TableView) -> str | None:
    """The modules that the programs were written from, None if the file does not say."""
    debug = [program["debug_info"] for program in root["programs"] or ()]
    modules = [each["mlir"] for each in debug if each is not None and each["mlir"] is not None]
    # The programs of a file share one module.
    return "\n".join(dict.fromkeys(each["source"] or "" for each in modules)) or None


def _kernel_sources(root: TableView) -> str:
    """C++ of every kernel of every program, with the operation that runs it."""
    parts: list[str] = []
    listed = [
        (kind, i, program)
        for kind in ("program", "function")
        for i, program in enumerate(root[f"{kind}s"] or ())
    ]
    for kind, i, program in listed:
        parts.append(f"{kind}[{i}]: {program['name']}")
        for command in _commands(program):
            if command["type_type"] != "EnqueueProgramCommand":
                continue
            parts.append(f"// {command['debug_info'] or 'no debug information'}")
            parts += [source.strip() for source in _sources_of(command["type"])]
    return "\n".join(parts)


def _sources_of(command: TableView) -> list[str]:
    """C++ of the kernels of an `EnqueueProgramCommand`."""
    if command["descriptor"] is not None:
        return [kernel["source"] or "" for kernel in command["descriptor"]["kernels"] or ()]
    kernels = command["program"]["kernels"] or ()
    return [each["kernel"]["source"] for each in kernels if each["kernel_type"] == "KernelSource"]


def _commands(program: TableView) -> list[TableView]:
    return [
        command
        for device in program["device_programs"] or ()
        for queue in device["command_queues"] or ()
        for command in queue["commands"] or ()
    ]


def _version_text(version: Any, git_hash: str | None, digest: str = "") -> str:
    numbers = "unknown" if version is None else ".".join(str(part) for part in version)
    text = f"version: {numbers}\ntt-mlir git hash: {git_hash or 'unknown'}"
    return f"{text}\nschema hash: {digest}" if digest else text


def _all(binary: Binary) -> str:
    return binary.view.to_json(max_bytes=MAX_BYTES)


def _version(binary: Binary) -> str:
    return _version_text(binary.view["version"], binary.ttmlir_git_hash, binary.schema_hash)


def _system_desc(binary: Binary) -> str:
    if binary.system_desc is None:
        raise BinaryError(f"{binary.source}: field 'system_desc' is missing")
    return binary.system_desc.to_json()


def _sources(is_wanted: Callable[[str], bool]) -> Callable[[Binary], str]:
    def read(binary: Binary) -> str:
        parts: list[str] = []
        for program in binary.programs:
            parts.append(f"program[{program.index}]: {shown_name(program.name)}")
            found = [(name, text) for name, text in program.debug_sources() if is_wanted(name)]
            parts += [f"[{name}]\n{text.strip()}" for name, text in found]
            if not found:
                parts.append("no debug information")
        return "\n".join(parts)

    return read


def _cpp(binary: Binary) -> str:
    """The C++ of the host, then that of every kernel, with the operation that runs it."""
    parts = [_sources(lambda name: name == "cpp")(binary)]
    for program in binary.programs:
        for operation in program.operations:
            if operation.table != "GenericOp" or not operation.has("program"):
                continue
            title = f"// program[{program.index}] operation {operation.index}"
            for kernel in operation.table_field("program")["kernels"] or ():
                parts.append(f"{title}: kernel {kernel['name'] or ''}")
                parts.append((kernel["source"] or "").strip())
    return "\n".join(parts)


def _tensors(field: str) -> Callable[[Binary], str]:
    def read(binary: Binary) -> str:
        programs = binary.view.as_dict(max_bytes=MAX_BYTES)["programs"]
        return json.dumps({p["name"]: p.get(field) or [] for p in programs}, indent=2)

    return read


def _op_stats(binary: Binary) -> str:
    stats: dict[str, dict[str, int]] = {}
    for program in binary.programs:
        counts: dict[str, int] = {}
        for title in program.record_titles:
            counts[title] = counts.get(title, 0) + 1
        stats[program.name] = dict(sorted(counts.items()))
    return json.dumps(stats, indent=2)


def _mesh_shape(binary: Binary) -> str:
    meshes = {
        program["name"]: [
            operation["type"].as_dict()
            for operation in program["operations"] or ()
            if operation["type_type"] == "GetDeviceOp"
        ]
        for program in binary.view["programs"] or ()
    }
    return json.dumps(meshes, indent=2)


def _memory(binary: Binary) -> str:
    """What each program's tensors take of the memories of the chip that it was compiled for."""
    chip = system_of(binary).chip(0)
    documents = {
        program.name: memory_document(program_memory(program, chip)) for program in binary.programs
    }
    return json.dumps(documents, indent=2)


_SECTIONS: dict[str, Callable[[Binary], str]] = {
    ALL: _all,
    "version": _version,
    "system_desc": _system_desc,
    "mlir": _sources(lambda name: name != "cpp"),
    "cpp": _cpp,
    "inputs": _tensors("inputs"),
    "outputs": _tensors("outputs"),
    "op_stats": _op_stats,
    "mesh_shape": _mesh_shape,
    "memory": _memory,
}
SECTIONS = (SUMMARY, *_SECTIONS)
"""Names of all sections."""
