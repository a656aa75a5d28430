"""The commands of ttrt: check, perf, query, read and run, and their options."""

from __future__ import annotations

import argparse
import json
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import numpy as np

from ttmlir.errors import (
    Error,
    MissingNameError,
    NotSupportedError,
    UnknownKeyError,
    show_cause,
)
from ttmlir.files import safe_file_name
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.late_machine import late_board, late_system_to_table
from ttmlir.layout.system import system_desc_from_table
from ttmlir.limits import DEFAULT_CYCLE_LIMIT
from ttmlir.runtime.binary import Binary, BinaryProgram, GoldenTensors
from ttmlir.runtime.errors import BinaryError, ExecutionError, InputError, UnsupportedError
from ttmlir.runtime.execution.executor import Observer
from ttmlir.runtime.golden import Tolerance
from ttmlir.runtime.hooks import DebugHooks
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.memory import overflow_of
from ttmlir.runtime.system_desc import (
    comparable_system_desc,
    find_system,
    read_system_desc,
    system_differences,
)
from ttmlir.runtime.tensor import Array, Numerics, join_pairs
from ttmlir.runtime.ttrt.boards import BOARD_NAMES, DEFAULT_BOARD, board_table, compile_advice
from ttmlir.runtime.ttrt.files import (
    TTMETAL_EXTENSION,
    TTNN_EXTENSION,
    TTSYS_EXTENSION,
    FileManager,
    Logger,
    Source,
    check_writable,
    find_sources,
    is_collection,
    list_paths,
    progress,
    write_arrays,
)
from ttmlir.runtime.ttrt.options import (
    BINARY,
    COMMON_OPTIONS,
    SUMMARIES,
    Option,
    attribute_name,
    resolve,
    result_file,
)
from ttmlir.runtime.ttrt.reports import (
    CSV_NAME,
    PLAIN_SECTIONS,
    REPORT_FILE,
    SECTIONS,
    SUMMARY,
    Artifacts,
    Outcome,
    Result,
    Timing,
    TimingObserver,
    exit_status,
    golden_lines,
    golden_report,
    joined_documents,
    results_as_json,
    results_as_junit,
    section_text,
    summary,
    timings_as_csv,
)
from ttmlir.runtime.ttrt.running import (
    ExpectedOutput,
    ProgramRun,
    RunSettings,
    TorchInitilizer,
    compare_outputs,
    expected_problems,
    fit_inputs,
    generate_inputs,
    golden_problem,
    identity_problems,
    load_golden_file,
    load_inputs,
    run_operations,
    zero_problems,
)
from ttmlir.runtime.ttrt.sweeps import SWEEP_OPTIONS
from ttmlir.schema import identify
from ttmlir.schema.versions import pack_later_system_desc, pack_system_desc
from ttmlir.sim.errors import LENIENCIES
from ttmlir.terminal import show_wait, shown_name

if TYPE_CHECKING:
    from ttmlir.cost import Estimate
    from ttmlir.runtime.execution.executor import GenericRunner
    from ttmlir.runtime.ttrt.reports import KernelRuns
    from ttmlir.sim.options import SimOptions


# --- Command --------------------------------------------------------------------------------------
# What all commands share: arguments, logger, artifacts, results and the order of the work.


class _RegisteredArgs:
    """A class attribute that is a new dictionary each time, so that callers may fill it in."""

    def __get__(self, instance: object, owner: type[Command]) -> dict[str, Any]:
        return {option.name: option for option in owner.options}


class Command:
    """One command of ttrt.

    `args` is a dictionary or an argparse namespace; keys may be spelled `clean-artifacts`,
    `--clean-artifacts` or `clean_artifacts`. Calling the object does the work; then `results` and
    `exit_code` tell how it went. Results of an earlier call are forgotten.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    options: ClassVar[tuple[Option, ...]] = ()
    registered_args: ClassVar[_RegisteredArgs] = _RegisteredArgs()
    api_only_arg: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        args: Mapping[str, Any] | argparse.Namespace | None = None,
        logging: Logger | None = None,
        artifacts: Artifacts | None = None,
        *,
        logger: Logger | None = None,
    ) -> None:
        """Take the arguments; raises KeyError for unknown ones."""
        given = vars(args) if isinstance(args, argparse.Namespace) else dict(args or {})
        self.arguments = resolve(self.options, given)
        self._check_outputs()
        log_file, quiet = self.arguments["log_file"], self.arguments["quiet"]
        self.logger = logging or logger or Logger(log_file, quiet=quiet)
        self.file_manager = FileManager(self.logger)
        self.artifacts = artifacts or Artifacts(
            self.logger, self.file_manager, self.arguments["artifact_dir"]
        )
        self.results: list[Result] = []
        self.after_results: Callable[[], None] = lambda: None
        """What is left to do when the results are written."""

    def __getitem__(self, key: str) -> Any:
        """Value of an argument, in any spelling."""
        name = attribute_name(key)
        if name not in self.arguments:
            raise UnknownKeyError(f"there is no argument '{key}' of '{self.name}'")
        return self.arguments[name]

    def __getattr__(self, name: str) -> Any:
        """Value of an argument as an attribute."""
        arguments = self.__dict__.get("arguments", {})
        if name in arguments:
            return arguments[name]
        raise MissingNameError(f"{type(self).__name__} has no argument or attribute '{name}'")

    def __call__(self) -> int:
        """Do the work; returns the exit status."""
        self.results = []
        self.after_results = lambda: None
        try:
            self.preprocess()
            self.check_constraints()
            if self.is_sweep:
                # Processes and clusters are loaded only for those who ask for them.
                from ttmlir.runtime.ttrt.sweeps import run_sweep

                run_sweep(self)
            else:
                self.execute()
        except Error as error:
            self.fail(", ".join(list_paths(self.arguments.get("binary", ""))), error)
        self.postprocess()
        return self.exit_code

    @property
    def is_sweep(self) -> bool:
        """True if there are several cases, or several processes to run them."""
        given = self.arguments
        return bool(given.get("jobs", 1) > 1 or given.get("cluster") or given.get("sweep"))

    @property
    def exit_code(self) -> int:
        """0, 1 or 42; see `exit_status`."""
        return exit_status(self.results)

    def preprocess(self) -> None:
        """Clear and make the artifacts folder if asked to."""
        if self["clean_artifacts"] or self["save_artifacts"]:
            self._check_artifacts_folder()
        if self["clean_artifacts"]:
            self._check_cleaning()
            self.artifacts.clean_artifacts()
        if self["save_artifacts"]:
            self.artifacts.create_artifacts()

    def _check_artifacts_folder(self) -> None:
        """Refuse a folder for artifacts that is, or lies in, what is no folder."""
        folder = Path(self.artifacts.get_artifacts_folder_path())
        for path in (folder, *folder.parents):
            if os.path.lexists(path) and not path.is_dir():
                raise InputError(f"--artifact-dir {folder}: {path} is a file, not a folder")

    def _check_outputs(self) -> None:
        """Refuse to write where nobody can, or to a file that is read: the log would empty it."""
        inputs = [path for path in list_paths(self.arguments.get("binary", "")) if path]
        for option in ("result_file", "log_file"):
            path = self.arguments[option]
            if path and any(_are_same(path, each) for each in inputs):
                raise InputError(
                    f"--{option.replace('_', '-')} would replace {path}, which is read; give it "
                    "another name"
                )
        # A long run would otherwise be in vain.
        for option in ("result_file", "outputs"):
            if self.arguments.get(option):
                check_writable(self.arguments[option])

    def _check_cleaning(self) -> None:
        """Refuse to delete a folder with the current one, the user's or a given file in it."""
        try:
            current = Path.cwd()
        except OSError as error:
            raise InputError(f"the current folder: {error.strerror}") from error
        folder = Path(self.artifacts.get_artifacts_folder_path()).resolve()
        home = Path(os.path.expanduser("~"))
        kept = [current, home, *map(Path, list_paths(self.arguments.get("binary", "")))]
        for path in map(Path.resolve, kept):
            if folder == path or folder in path.parents:
                raise InputError(
                    f"--clean-artifacts would delete {folder} with {path}; give --artifact-dir a "
                    "folder that holds nothing else"
                )

    def check_constraints(self) -> None:
        """Refuse arguments out of range; commands also those that make no sense together."""
        for option in self.options:
            option.check(self.arguments[option.attribute])

    def execute(self) -> None:
        """Do the command's own work."""
        raise NotSupportedError(f"command '{self.name}' does nothing")

    def postprocess(self) -> None:
        """Write the JSON results and the JUnit report, if they were asked for."""
        path = self["result_file"]
        if not path:
            return
        report = str(Path(path).parent / REPORT_FILE)
        try:
            self.file_manager.write_bytes(path, results_as_json(self.results))
            self.file_manager.write_bytes(report, results_as_junit(self.name, self.results))
            self.after_results()
        except InputError as error:
            self.fail("", error)

    def fail(self, path: str, error: Exception, outcome: Outcome = Outcome.ERROR) -> Result:
        """Note that a file could not be dealt with, and say so."""
        show_cause(error)
        self.logger.error(str(error))
        return self.note(path, outcome=outcome, exception=str(error))

    def note(self, path: str, **entries: Any) -> Result:
        """Add a result."""
        result = Result(
            file_path=path,
            log_file=self.logger.file_name,
            artifacts=self.artifacts.get_binary_folder_path(path) if path else "",
            **entries,
        )
        self.results.append(result)
        return result

    def sources(self, *extensions: str) -> list[Source]:
        """The files to work on; programs if no extensions are given; InputError without any."""
        return find_sources(
            self["binary"], extensions or (TTNN_EXTENSION, TTMETAL_EXTENSION), self.file_manager
        )

    def run_on_each(self, *extensions: str) -> None:
        """Do `execute_on` for every file; an error in one does not keep the others from running."""
        for source in self.sources(*extensions):
            try:
                self.execute_on(source)
            except Error as error:
                self.fail(source.name, error)

    def execute_on(self, source: Source) -> None:
        """Work on one file."""
        raise NotSupportedError(f"command '{self.name}' does not work on files")

    @classmethod
    def initialize_api(cls) -> None:
        """Nothing to do: arguments are registered when the class is defined."""

    @classmethod
    def get_upstream_apis(cls) -> list[type[Command]]:
        """Commands whose work this one includes."""
        return []

    @classmethod
    def register_arg(
        cls,
        name: str,
        type: type,
        default: Any,
        choices: tuple[str, ...] | None = None,
        help: str = "",
        api_only: bool = True,
    ) -> None:
        """Add an argument to the command."""
        option = Option(
            name=name, type=type, default=default, choices=choices, help=help, api_only=api_only
        )
        kept = tuple(o for o in cls.options if o.attribute != option.attribute)
        cls.options = (*kept, option)
        if api_only:
            cls.api_only_arg = (*cls.api_only_arg, option.name)

    @classmethod
    def generate_subparser(cls, subparsers: Any) -> argparse.ArgumentParser:
        """Add the command to an argparse parser's subparsers."""
        parser: argparse.ArgumentParser = subparsers.add_parser(
            cls.name, help=cls.summary, description=cls.summary
        )
        parser.set_defaults(api=cls)
        for option in cls.options:
            if option.api_only:
                continue
            names = (option.name, *option.aliases)
            if option.is_flag:
                parser.add_argument(*names, action="store_true", help=option.help)
            elif option.is_positional and option.multiple:
                parser.add_argument(*names, type=option.type, nargs="+", help=option.help)
            else:
                parser.add_argument(
                    *names,
                    type=option.type,
                    default=option.default,
                    choices=option.choices,
                    action="append" if option.multiple else "store",
                    help=option.help,
                )
        return parser


def _are_same(one: str, other: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(one).st_mode) and os.path.samefile(one, other)
    except (OSError, ValueError):
        return False


# --- Check ----------------------------------------------------------------------------------------
# `ttrt check`: compares the system that a binary was compiled for with others, and its tensors with
# their memories.

_MOST_LINES = 20


class Check(Command):
    """Compare each binary's system description with every one given, field by field."""

    name = "check"
    summary = SUMMARIES["check"]
    options = (
        BINARY,
        *COMMON_OPTIONS,
        *SWEEP_OPTIONS,
        Option(
            name="--system-desc",
            type=str,
            default="",
            help="File or folder of .ttsys files; default: the system that ttrt query describes.",
        ),
        Option(
            name="--board",
            type=str,
            choices=BOARD_NAMES,
            help="Board to compare with instead of a description.",
        ),
        result_file(name),
    )

    def check_constraints(self) -> None:
        """There is one thing to compare with."""
        super().check_constraints()
        if self["board"] and self["system_desc"]:
            raise InputError("--board and --system-desc both say what to compare with; give one")

    def execute(self) -> None:
        """Check every file."""
        self._systems = self._load_systems()
        self.run_on_each()

    def _load_systems(self) -> dict[str, Mapping[str, Any] | None]:
        """Systems by name; None for that of a board, which each year describes in its way."""
        path = self["system_desc"]
        if not path:
            name = self["board"] or DEFAULT_BOARD
            return {name: None}
        if not os.path.exists(path):
            raise InputError(f"{path}: No such file or directory")
        paths = [path] if os.path.isfile(path) else self.file_manager.find_ttsys_binary_paths(path)
        if not paths:
            raise InputError(f"{path}: the folder holds no {TTSYS_EXTENSION} files")
        return {found: comparable_system_desc(found) for found in paths}

    def execute_on(self, source: Source) -> None:
        """Compare one file with every system."""
        binary = read_binary(source.content, source.name)
        own = _system_of_program(binary)
        for name, described in self._systems.items():
            system = board_table(name, binary) if described is None else described
            self._compare(binary, own, name, system)
            if identify(source.content) == "TTNN":
                self._check_memory(source, name, system)
        if self["save_artifacts"]:
            self.artifacts.save_source(source)

    def _compare(
        self,
        binary: Binary,
        own: Mapping[str, Any],
        system_name: str,
        system: Mapping[str, Any],
    ) -> None:
        path, name = binary.source, self._spell(system_name)
        lines = system_differences(system, own, unsaid=binary.UNSAID)
        details = {"system_desc": name, "differences": lines}
        if not lines:
            self.logger.info(f"{path}: system description matches {name}")
            self.note(path, details=details)
            return
        shown = lines[:_MOST_LINES]
        if len(lines) > len(shown):
            shown.append(f"... and {len(lines) - len(shown)} more")
        message = (
            f"{path}: system description does not match {name}; "
            f"{compile_advice(system_name, system, binary)}, or check it against its own system:"
            + "".join(f"\n  {line}" for line in shown)
        )
        self.logger.error(message)
        self.note(path, outcome=Outcome.ERROR, exception=message, details=details)

    def _spell(self, system_name: str) -> str:
        return system_name if self["system_desc"] else f"board '{system_name}'"

    def _check_memory(self, source: Source, system_name: str, system: Mapping[str, Any]) -> None:
        """Refuse a file with a program whose tensors do not fit into the chips of a system."""
        name = self._spell(system_name)
        try:
            chip = system_desc_from_table(system).chip(0)
        except LayoutError as error:
            raise BinaryError(f"{name}: {error}") from error
        for program in read_binary(source.content, source.name).programs:
            problem = overflow_of(program, chip)
            if problem is not None:
                message = f"{problem} (on {name})"
                self.logger.error(message)
                self.note(source.name, outcome=Outcome.ERROR, exception=message)


def _on_chips(program: BinaryProgram) -> str:
    """On how many chips a program has run, if that is more than one."""
    rows, columns = program.mesh
    return f" on {rows * columns} chips ({rows}x{columns})" if rows * columns > 1 else ""


def _system_of_program(binary: Binary) -> Mapping[str, Any]:
    """The system that a `.ttnn` or `.ttm` file was compiled for."""
    if binary.comparable_system is None:
        raise BinaryError(f"{binary.source}: field 'system_desc' is missing")
    return binary.comparable_system


# --- Query ----------------------------------------------------------------------------------------
# `ttrt query`: describes a simulated board.


class Query(Command):
    """Describe a system as JSON; with `--save-artifacts`, write it as `system_desc.ttsys`."""

    name = "query"
    summary = SUMMARIES["query"]
    options = (
        *COMMON_OPTIONS,
        Option(
            name="--board",
            type=str,
            default=DEFAULT_BOARD,
            choices=BOARD_NAMES,
            help="Board to describe; the default is the chip that the compiler assumes.",
        ),
        Option(
            name="--spelling",
            type=str,
            default="2024",
            choices=("2024", "2026"),
            help="Year of the tt-mlir whose description and .ttsys file it is.",
        ),
        result_file(name),
    )

    def execute(self) -> None:
        """Print and save the description."""
        packed = self._packed()
        described = self.get_system_desc_as_dict()
        if not self["quiet"]:
            self.logger.output(json.dumps(described, indent=2))
        path = ""
        if self["save_artifacts"]:
            path = self.artifacts.save_system_desc(packed)
            self.logger.info(f"system description saved to {path}")
        self.note(path, details={"board": self["board"], "system_desc": described})

    def get_system_desc_as_dict(self) -> dict[str, Any]:
        """The description as plain values."""
        return read_system_desc(self._packed(), self["board"])["system_desc"].as_dict()

    def _packed(self) -> bytes:
        board = self["board"]
        if self["spelling"] == "2026":
            return pack_later_system_desc(late_system_to_table(late_board(board)), board)
        return pack_system_desc(board_table(board), board)


# --- Run ------------------------------------------------------------------------------------------
# `ttrt run`: runs programs, checks and saves their results.

# --- Run options ----------------------------------------------------------------------------------
# Options of `ttrt run`, which `ttrt perf` shares.

MAX_LOOPS = 1_000_000
"""Most runs of a program: each leaves its duration in the results."""

_ACCEPTED = "Accepted for compatibility; changes nothing here."


def _flag(name: str, help: str, *aliases: str) -> Option:
    return Option(name=name, type=bool, default=False, help=help, aliases=aliases)


def _accepted(*names: str) -> tuple[Option, ...]:
    return tuple(_flag(name, _ACCEPTED) for name in names)


def _number(name: str, default: float, help: str, most: float | None = None) -> Option:
    return Option(name=name, type=float, default=default, help=help, least=0, most=most)


_PROGRAM = (
    Option(
        name="--program-index", type=str, default="all", help="Program to run by number, or 'all'."
    ),
    Option(
        name="--loops", type=int, default=1, least=1, most=MAX_LOOPS, help="Runs of each program."
    ),
    Option(
        name="--board",
        type=str,
        help="Run only files compiled for this board; default: simulate what each asks for. perf "
        "--device estimates for it, or for a .ttsys file, whatever files were compiled for.",
    ),
    Option(
        name="--numerics",
        type=str,
        default="exact",
        choices=("exact", "device"),
        help="Keep all digits, or round every result to its storage format as the device does.",
    ),
    _flag("--ignore-version", "Run files of any version, whatever their numbers mean."),
)
_DATA = (
    Option(
        name="--init",
        type=str,
        default="randn",
        choices=("randn", "arange", "zeros", "ones", "rand"),
        help="How inputs are made up.",
    ),
    Option(
        name="--seed",
        type=int,
        default=0,
        least=0,
        help="Seed of the random numbers (NumPy PCG64).",
    ),
    Option(
        name="--inputs",
        type=str,
        default=(),
        multiple=True,
        help="A .npy or .npz file with inputs, in order; may be given several times.",
    ),
    Option(
        name="--outputs",
        type=str,
        default="",
        aliases=("--save-outputs",),
        help="A .npz (or, for one output, .npy) file for the outputs.",
    ),
    _flag("--print-input-output-tensors", "Print inputs and outputs."),
)
_CHECKS = (
    _flag(
        "--identity",
        "Fail (exit 42) unless output k equals input k, for all that there are, within --rtol and "
        "--atol.",
    ),
    _flag("--non-zero", "Fail (exit 42) if an output is all zeros."),
    _number("--rtol", 1e-05, "Relative tolerance of --identity."),
    _number("--atol", 1e-08, "Absolute tolerance of --identity."),
    _flag(
        "--golden",
        "Run each operation's reference in float64 as well and fail (exit 42) if one is off, or if "
        "the outputs differ from those that the file or --golden-file holds.",
        "--enable-golden",
    ),
    Option(
        name="--golden-file",
        type=str,
        default="",
        help="A .npz file with inputs (input_0, ...) and expected outputs (output_0, ...), or the "
        "inputs and then the outputs in order.",
    ),
    _number("--pcc", 0.99, "Least correlation of --golden.", most=1),
    _number("--rtol-allclose", 5e-02, "Relative tolerance that --golden accepts without --pcc."),
    _number("--atol-allclose", 1e-03, "Absolute tolerance that --golden accepts without --pcc."),
    _flag("--save-golden-tensors", "Save golden results with the artifacts; implies --golden."),
    _flag("--memory", "Report the peak of device memory."),
)
_SIMULATOR = (
    _flag("--sanitize", "Check every access of kernels; the default."),
    _flag("--no-sanitize", "Do not check the accesses of kernels, which is faster."),
    Option(
        name="--schedule-seed",
        type=int,
        least=0,
        help="Run the threads of kernels in a random order that this number fixes.",
    ),
    _flag("--delay-copies", "Let asynchronous copies of kernels move bytes at their barriers."),
    Option(
        name="--lenient",
        type=str,
        default=(),
        multiple=True,
        help="Rule of the sanitizer to suppress; by default those that tt-mlir's .ttm files need.",
    ),
    Option(
        name="--cycle-limit",
        type=int,
        default=DEFAULT_CYCLE_LIMIT,
        least=1,
        help="Cycles that a program of kernels may take.",
    ),
)
_IGNORED = _accepted(
    "--load-kernels-from-disk",
    "--disable-async-ttnn",
    "--disable-golden",
    "--enable-program-cache",
    "--disable-eth-dispatch",
)

RUN_OPTIONS = (
    BINARY,
    *COMMON_OPTIONS,
    *SWEEP_OPTIONS,
    *_PROGRAM,
    *_DATA,
    *_CHECKS,
    *_SIMULATOR,
    *_IGNORED,
    result_file("run"),
)

_ESTIMATES = (
    _flag(
        "--host-only",
        "Time operations of .ttnn files on this computer's CPU; the default without --device.",
    ),
    _flag(
        "--device",
        "Estimate the operations of .ttnn files on the device, --board or what they were compiled "
        "for, without running them; .ttm files are simulated anyway.",
    ),
    _flag(
        "--untraced",
        "With --device: the host calls the operations one by one, instead of replaying a trace.",
    ),
    Option(
        name="--batch",
        type=int,
        least=1,
        help="With --device: items in a run of a program, for items per second.",
    ),
    Option(
        name="--unit",
        type=str,
        default="items",
        help="With --batch: what the items are called, such as tokens or images.",
    ),
)

PERF_OPTIONS = (
    *(option for option in RUN_OPTIONS if option.name != "--result-file"),
    *_ESTIMATES,
    result_file("perf"),
)


# --- Run ------------------------------------------------------------------------------------------


class Run(Command):
    """Run every program of every file, on made-up inputs or given ones."""

    name = "run"
    summary = SUMMARIES["run"]
    options = RUN_OPTIONS
    RECORDS_KERNELS: ClassVar[bool] = False
    """True if `note_run` wants to know what the threads of kernels did when."""
    WARMS_UP: ClassVar[bool] = False
    """True if the first of several runs should not count."""
    TorchInitilizer = TorchInitilizer
    saved_outputs: dict[str, Array]
    """Arrays for `--outputs`, by name."""

    @classmethod
    def get_upstream_apis(cls) -> list[type[Command]]:
        """The description of the system comes first."""
        return [Query]

    def check_constraints(self) -> None:
        """Refuse arguments out of range or at odds with each other."""
        super().check_constraints()
        index = self["program_index"]
        if index != "all" and not str(index).isdecimal():
            raise InputError(f"--program-index must be 'all' or a number, got '{index}'")
        if Path(self["outputs"]).suffix not in ("", ".npy", ".npz"):
            raise InputError(f"--outputs must be a .npz or .npy file, got '{self['outputs']}'")
        if self["board"] is not None:
            self.check_board(self["board"])
        for name in self["lenient"]:
            if name not in LENIENCIES:
                raise InputError(
                    f"--lenient: there is no finding '{name}'; supported are "
                    + ", ".join(LENIENCIES)
                )

    def check_board(self, board: str) -> None:
        """Refuse boards that programs cannot be compared with."""
        board_table(board)

    def execute(self) -> None:
        """Run every file."""
        self.saved_outputs = {}
        for option in ("--inputs", "--outputs", "--golden-file"):
            if self[option] and len(self.sources()) > 1:
                raise InputError(f"{option} needs a single file, got {len(self.sources())}")
        self.run_on_each()
        if self["outputs"] and all(result.outcome is not Outcome.ERROR for result in self.results):
            write_arrays(self["outputs"], self.saved_outputs)

    def execute_on(self, source: Source) -> None:
        """Run the programs of one file."""
        ignore = self["ignore_version"]
        binary = read_binary(source.content, source.name, ignore_version=ignore)
        if not self._fits_system(binary):
            return
        if binary.warning:
            self.logger.warning(binary.warning)
        for program in self.selected_programs(binary):
            self._try_program(binary, program)
        if self["save_artifacts"]:
            self._save_binary(source, binary)

    def _fits_system(self, binary: Binary) -> bool:
        """Compare with the board that was asked for; without one, the file's own is simulated."""
        board = self["board"]
        if board is None:
            return True
        own = _system_of_program(binary)
        system = board_table(board, binary)
        lines = system_differences(system, own, unsaid=binary.UNSAID)
        if not lines:
            return True
        message = (
            f"{binary.source}: compiled for another system than board '{board}': {lines[0]}"
            + (f" and {len(lines) - 1} more differences" if len(lines) > 1 else "")
            + f"; nothing ran; {compile_advice(board, system, binary)}; without --board it runs on "
            "the system that it was compiled for, and ttrt check lists the differences"
        )
        self.logger.warning(message)
        self.note(binary.source, outcome=Outcome.SKIP, exception=message)
        return False

    def selected_programs(self, binary: Binary) -> Sequence[BinaryProgram]:
        """Those that `--program-index` asks for."""
        index = self["program_index"]
        if not binary.programs:
            raise BinaryError(f"{binary.source}: the file has no programs")
        return binary.programs if index == "all" else [binary.program(int(index))]

    def _try_program(self, binary: Binary, program: BinaryProgram) -> None:
        try:
            expected = self._expected(program)
            inputs = self._inputs(program, expected)
            try:
                run = self._run(binary, program, inputs)
            except ExecutionError as error:
                if self["inputs"] or (expected is not None and expected.inputs):
                    raise
                raise ExecutionError(
                    f"{error}; these are random inputs (--init {self['init']}): --inputs gives it "
                    "those of a call"
                ) from error
            self._report(binary, program, run, expected)
        except (BinaryError, UnsupportedError, InputError, ExecutionError) as error:
            self.fail(binary.source, error).program_index = str(program.index)
        except MemoryError as error:
            failure = ExecutionError(f"{program.where}: not enough memory: {error}")
            self.fail(binary.source, failure).program_index = str(program.index)

    def _expected(self, program: BinaryProgram) -> GoldenTensors | None:
        """Inputs and outputs of a reference run, of the file asked for or the binary itself."""
        if path := self["golden_file"]:
            expected = load_golden_file(path, program)
            if bool(expected.inputs) == bool(self["inputs"]) and program.inputs:
                has = "has inputs of its own" if expected.inputs else "has no inputs"
                remedy = "leave --inputs out" if expected.inputs else "give them with --inputs"
                raise InputError(f"{path}: {has}; {remedy}")
            return expected
        # Other inputs than the reference's give other outputs.
        is_other = bool(self["inputs"]) or self["init"] != "randn" or self["seed"]
        return program.golden if self["golden"] and not is_other else None

    def _inputs(self, program: BinaryProgram, expected: GoldenTensors | None) -> list[Array]:
        if self["inputs"]:
            return fit_inputs(program, load_inputs(self["inputs"]))
        if expected is not None and (expected.inputs or not program.inputs):
            return fit_inputs(program, expected.inputs)
        rng = np.random.default_rng(self["seed"])
        return generate_inputs(program, self["init"], rng)

    def _run(self, binary: Binary, program: BinaryProgram, inputs: list[Array]) -> ProgramRun:
        title = f"{Path(binary.source).name} {shown_name(program.name)}"
        settings = RunSettings(
            numerics=Numerics(self["numerics"]),
            golden=self["golden"] or self["save_golden_tensors"],
            keep_golden=self["save_golden_tensors"],
            tolerance=self._tolerance,
            warm_up=self.WARMS_UP,
            runs=partial(progress, self["loops"], title, self["quiet"]),
        )
        if not binary.is_metal:
            return run_operations(program, inputs, settings, self.observer, self._make_runner)
        # The simulator is loaded only for files that need it.
        from ttmlir.runtime.metal_session import needed_leniencies
        from ttmlir.runtime.ttrt.running import run_kernels

        return run_kernels(
            program,
            inputs,
            settings,
            self._sim_options(needed_leniencies(program)),
            print_line=self.logger.output,
            record=self.RECORDS_KERNELS,
        )

    @property
    def _tolerance(self) -> Tolerance:
        return Tolerance(pcc=self["pcc"], rtol=self["rtol_allclose"], atol=self["atol_allclose"])

    def _make_runner(self, program: BinaryProgram) -> GenericRunner:
        """What runs the programs of kernels of a `.ttnn` file."""
        from ttmlir.runtime.binary import chip_of
        from ttmlir.runtime.execution.executor import GenericRunner

        return GenericRunner(
            chip_of(program.binary),
            self._sim_options(frozenset()),
            print_line=self.logger.output,
            record=self.RECORDS_KERNELS,
        )

    def _sim_options(self, leniencies: frozenset[str]) -> SimOptions:
        """The options of the simulator; `leniencies` hold unless others are given."""
        from ttmlir.sim.options import SimOptions

        return SimOptions(
            numerics=cast('Literal["exact", "device"]', self["numerics"]),
            sanitize=not self["no_sanitize"],
            schedule_seed=self["schedule_seed"],
            delay_copies=self["delay_copies"],
            cycle_limit=self["cycle_limit"],
            leniencies=frozenset(self["lenient"]) or leniencies,
        )

    def observer(self) -> Observer | None:
        """What watches every run: registered hooks, if any."""
        return DebugHooks.registered()

    def note_run(self, program: BinaryProgram, run: ProgramRun) -> None:
        """Called with what running each program gave."""

    def _report(
        self,
        binary: Binary,
        program: BinaryProgram,
        run: ProgramRun,
        expected: GoldenTensors | None,
    ) -> None:
        """Say, judge, keep and note what a program computed."""
        self.note_run(program, run)
        outputs: list[ExpectedOutput] = []
        if expected is not None:
            outputs = compare_outputs(program, run.outputs, expected, self._tolerance)
        self._show(program, run, outputs)
        self._keep(program, run.outputs)
        if self["save_artifacts"]:
            self._save_tensors(binary, program, run)
        confirmed = bool(outputs) and all(each.passed for each in outputs)
        problems = [*self._problems(run, confirmed), *expected_problems(outputs)]
        for problem in problems:
            self.logger.error(f"{program.where}: {problem}")
        if not problems:
            mean = sum(run.durations) / len(run.durations) / 1e6
            self.logger.info(f"{program.where}: pass{_on_chips(program)}, {mean:.3f} ms per run")
        self.note(
            binary.source,
            outcome=Outcome.TEST_ERROR if problems else Outcome.PASS,
            exception="; ".join(problems),
            program_index=str(program.index),
            details=self._details(program, run, outputs),
        )

    def _problems(self, run: ProgramRun, confirmed: bool) -> list[str]:
        """What is wrong with the numbers; `confirmed` outputs are what was expected."""
        problems: list[str] = []
        if self["identity"]:
            problems += identity_problems(run.inputs, run.outputs, self["rtol"], self["atol"])
        if self["non_zero"]:
            problems += zero_problems(run.outputs)
        failure = None
        if run.golden is not None:
            failure = run.golden.find_failure(run.outputs, confirmed=confirmed)
        if failure is not None:
            problems.append(golden_problem(failure))
        return problems

    def _details(
        self, program: BinaryProgram, run: ProgramRun, outputs: Sequence[ExpectedOutput]
    ) -> dict[str, object]:
        """Entries of the results that are about the run."""
        details: dict[str, object] = {
            "program_name": program.name,
            "program_results": {
                str(i): {"duration_ns": duration} for i, duration in enumerate(run.durations)
            },
            "numerics": self["numerics"],
        }
        if outputs:
            details["golden_outputs"] = [each.as_dict(self._tolerance) for each in outputs]
        if self["memory"] and run.peak_bytes:
            details["peak_memory_bytes"] = run.peak_bytes
        details |= run.details
        if run.golden is not None:
            details["golden_results"] = golden_report(run.golden)
        return details

    def _show(
        self, program: BinaryProgram, run: ProgramRun, outputs: Sequence[ExpectedOutput]
    ) -> None:
        for result in outputs:
            self.logger.info(f"golden {'ok ' if result.passed else 'OFF'} {result}")
        if self["print_input_output_tensors"]:
            for kind, arrays in (("input", run.inputs), ("output", run.outputs)):
                for i, array in enumerate(arrays):
                    self.logger.output(f"{kind} {i}: {array.dtype} {array.shape}\n{array}")
        if self["memory"] and run.peak_bytes:
            self.logger.info(f"{program.where}: peak memory {run.peak_bytes} bytes")
        if run.golden is not None:
            for line in golden_lines(run.golden, run.generics):
                self.logger.info(line)
        for each in run.generics:
            self.logger.info(
                f"kernels    operation {each.operation.index} ({each.title}): "
                f"{each.report.cycles:,} cycles on {each.report.num_cores} cores"
            )

    def _keep(self, program: BinaryProgram, outputs: Sequence[Array]) -> None:
        """Remember outputs for `--outputs`, by names that tell programs apart."""
        if not self["outputs"]:
            return
        is_only = self["program_index"] != "all" or len(program.binary.programs) == 1
        prefix = "" if is_only else f"program_{program.index}_"
        for i, array in enumerate(_of_the_model(program, outputs)):
            self.saved_outputs[f"{prefix}output_{i}"] = array

    def _save_tensors(self, binary: Binary, program: BinaryProgram, run: ProgramRun) -> None:
        folder = self.artifacts.get_binary_run_folder_path(binary.source, program.index)
        for kind, arrays in (("input", run.inputs), ("output", run.outputs)):
            for i, array in enumerate(arrays):
                self.artifacts.save_tensor(folder, array, f"program_{program.index}_{kind}_{i}")
        if run.golden is None:
            return
        report = json.dumps(golden_report(run.golden), indent=2).encode()
        self.file_manager.write_bytes(os.path.join(folder, "golden_report.json"), report)
        for result in run.golden.results:
            if result.golden is not None:
                name = f"program_{program.index}_golden_{result.operation.index}"
                self.artifacts.save_tensor(folder, result.golden, name)

    def _save_binary(self, source: Source, binary: Binary) -> None:
        """Copy the file, with the system that it ran on if it says which that is."""
        if binary.comparable_system is None:
            self.artifacts.save_source(source)
            return
        system = pack_system_desc(binary.comparable_system)
        path = self.artifacts.save_system_desc(system)
        self.logger.debug(f"system description saved to {path}")
        self.artifacts.save_source(source, system)


def _of_the_model(program: BinaryProgram, outputs: Sequence[Array]) -> Sequence[Array]:
    """Outputs of a program, the pairs among its model's results as complex arrays."""
    signature = program.signature
    if signature is None:
        return outputs
    return join_pairs(outputs, [*[False] * signature.state, *signature.results.are_complex])


# --- Perf -----------------------------------------------------------------------------------------
# `ttrt perf`: how long programs take: estimated for a device, measured on the host, simulated.


class Perf(Run):
    """Report the time of operations, estimated on the device or measured on the host, and that of
    kernels, simulated."""

    name = "perf"
    summary = SUMMARIES["perf"]
    options = PERF_OPTIONS
    RECORDS_KERNELS = True
    WARMS_UP = True

    @classmethod
    def get_upstream_apis(cls) -> list[type[Command]]:
        """Programs are run."""
        return [Run]

    def observer(self) -> Observer:
        """The clock."""
        return self._timing

    def check_constraints(self) -> None:
        """Refuse options that ask for two things at once, or mean nothing."""
        if self["device"] and self["host_only"]:
            raise InputError("--device and --host-only say where to time; give one")
        if self["batch"] is not None and not self["device"]:
            raise InputError("--batch counts items of an estimate; give --device, too")
        if self["untraced"] and not self["device"]:
            raise InputError("--untraced says how an estimate launches; give --device, too")
        super().check_constraints()

    def check_board(self, board: str) -> None:
        """An estimate takes the description of any system, too."""
        if self["device"]:
            find_system(board)
        else:
            super().check_board(board)

    def execute_on(self, source: Source) -> None:
        """Time the programs of one file."""
        if self["device"] and identify(source.content) == "TTNN":
            self._estimate(source)
            return
        self._timing = TimingObserver(hooks=DebugHooks.registered())
        self._kernels: list[KernelRuns] = []
        super().execute_on(source)
        if self._timing.timings:
            self._report_operations(source.name, self._timing.timings)
        if self._kernels:
            self._report_kernels(source.name)

    def _estimate(self, source: Source) -> None:
        """Estimate the programs of a `.ttnn` file."""
        from ttmlir.cost import estimate_program

        binary = read_binary(source.content, source.name, ignore_version=self["ignore_version"])
        if binary.warning:
            self.logger.warning(binary.warning)
        files: dict[str, str | bytes] = {}
        for program in self.selected_programs(binary):
            traced = not self["untraced"]
            with show_wait(
                f"estimating {source.name} {shown_name(program.name)}", quiet=self["quiet"]
            ):
                estimate = estimate_program(program, self["board"], traced=traced)
            self._print(f"{source.name}: estimated for the device\n{estimate.table()}")
            details = {"board": estimate.board, "total_ns": estimate.total.mid}
            if self["batch"] is not None:
                rate = estimate.rate(self["batch"], self["unit"])
                self._print(f"{rate} in batches of {rate.batch}")
                details |= {"unit": rate.unit, "per_second": rate.per_second}
            files |= _estimate_files(program, estimate)
            self.note(source.name, program_index=str(program.index), details=details)
        folder = self._save(source.name, files)
        if folder:
            self._print(f"tables, JSON and traces of the estimate: {folder}")
        if self["save_artifacts"]:
            self.artifacts.save_source(source)

    def note_run(self, program: BinaryProgram, run: ProgramRun) -> None:
        """Keep the times of kernels for the report."""
        if run.kernels is None and not run.generics:
            return
        # The simulator is loaded only for files that need it.
        from ttmlir.runtime.ttrt.reports import KernelRuns

        kernels = KernelRuns.of_run(program, run)
        if kernels is not None:
            self._kernels.append(kernels)

    def _report_kernels(self, path: str) -> None:
        from ttmlir.runtime.ttrt.reports import perf_files, perf_summary

        self._print(perf_summary(path, self._kernels))
        table = "kernels_perf_results.csv" if self._timing.timings else CSV_NAME
        folder = self._save(path, perf_files(self._kernels, table))
        if folder:
            self._print(f"times, threads and traces: {folder}")

    def _report_operations(self, path: str, timings: list[Timing]) -> None:
        self._print(summary(path, timings))
        folder = self._save(path, {CSV_NAME: timings_as_csv(timings)})
        if folder:
            self._print(f"times of all operations: {folder}/{CSV_NAME}")

    def _print(self, text: str) -> None:
        if not self["quiet"]:
            self.logger.output(text)

    def _save(self, path: str, files: Mapping[str, str | bytes]) -> str:
        """Write the files of a report; their folder, or nothing where it cannot be written.

        That is an error only if the folder was chosen: the times have been shown.
        """
        folder = self.artifacts.get_binary_perf_folder_path(path)
        try:
            for name, content in files.items():
                data = content if isinstance(content, bytes) else content.encode()
                self.file_manager.write_bytes(f"{folder}/{name}", data)
        except InputError as error:
            if self["artifact_dir"] or self["save_artifacts"]:
                raise
            self.logger.warning(f"{error}; --artifact-dir names another folder for the times")
            return ""
        for result in self.results:
            if result.file_path == path:
                result.details["perf_csv"] = f"{folder}/{CSV_NAME}"
        return folder


def _report_of(program: BinaryProgram, estimate: Estimate) -> bytes:
    from ttmlir.runtime.report_database import report_database

    timed = {each.index: (each.name, each.time.mid / 1e9) for each in estimate.operations}
    return report_database(program, estimate.machine.chip, timed)


def _estimate_files(program: BinaryProgram, estimate: Estimate) -> dict[str, str | bytes]:
    """Contents of the files of an estimate by name; the first program's table has the usual one."""
    stem = f"{program.index}_{safe_file_name(program.name)}"
    table = CSV_NAME if program.index == 0 else f"{stem}_{CSV_NAME}"
    report = f"report_{stem}"
    return {
        table: estimate.to_csv(),
        f"estimate_{stem}.json": estimate.to_json(),
        f"trace_{stem}.json": estimate.to_trace(),
        f"{report}/db.sqlite": _report_of(program, estimate),
        f"{report}/config.json": json.dumps({"report_name": program.name}),
    }


# --- Read -----------------------------------------------------------------------------------------
# `ttrt read`: shows what is in a file.


class Read(Command):
    """Print a section of a `.ttnn`, `.ttm` or `.ttsys` file."""

    name = "read"
    summary = SUMMARIES["read"]
    options = (
        BINARY,
        *COMMON_OPTIONS,
        Option(name="--section", type=str, default=SUMMARY, choices=SECTIONS, help="What to show."),
        result_file(name),
    )

    def execute(self) -> None:
        """Show every file: one as it is, several as one JSON document or under their names."""
        self._texts: dict[str, str] = {}
        self.run_on_each(TTNN_EXTENSION, TTMETAL_EXTENSION, TTSYS_EXTENSION)
        if not is_collection(self["binary"]):
            for text in self._texts.values():
                self.logger.output(text)
        elif self["section"] in PLAIN_SECTIONS:
            for name, text in self._texts.items():
                self.logger.output(f"{name}:\n{text}")
        else:
            self.logger.output(joined_documents(self._texts))

    def execute_on(self, source: Source) -> None:
        """Read one file."""
        section: str = self["section"]
        self._texts[source.name] = section_text(source.name, source.content, section)
        if self["save_artifacts"]:
            self.artifacts.save_source(source)
        self.note(source.name, details={"section": section})
