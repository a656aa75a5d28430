"""Sweeps: many files, or many cases of a program, run by several processes."""

from __future__ import annotations

import itertools
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from importlib import import_module
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Protocol, cast

from ttmlir.errors import Error
from ttmlir.files import read_text, safe_file_name, write_file
from ttmlir.runtime.errors import BinaryError, InputError
from ttmlir.runtime.loading import announced_bytes, file_bytes
from ttmlir.runtime.ttrt.files import FileManager, Logger, Source
from ttmlir.runtime.ttrt.options import Option, attribute_name
from ttmlir.runtime.ttrt.reports import Artifacts, Outcome, Result
from ttmlir.terminal import show_wait

# --- Cases ----------------------------------------------------------------------------------------
# The cases of a sweep: a file, and values of the options that are swept.

# --- Options --------------------------------------------------------------------------------------
# The options that make a sweep of a command.

SWEEP_OPTIONS = (
    Option(
        name="--jobs",
        type=int,
        default=1,
        least=1,
        most=1024,
        help="Processes that work at once. With --result-file, what was interrupted goes on where "
        "it was when the same command is given again.",
    ),
    Option(
        name="--cluster",
        type=str,
        default="",
        help="Address of a Dask scheduler whose workers do the work, such as tcp://host:8786.",
    ),
    Option(
        name="--sweep",
        type=str,
        default=(),
        multiple=True,
        help="Run every file with each of these values of an option, as in --sweep "
        "numerics=exact,device; several options make all combinations.",
    ),
)


# --- Cases ----------------------------------------------------------------------------------------

Value = str | int | float
OWN = ("jobs", "cluster", "sweep", "binary", "result_file", "log_file", "artifact_dir")
"""Arguments of the whole sweep, which its cases are not given."""
_ONCE = ("clean_artifacts", "quiet")
_SINGLE = ("inputs", "outputs", "golden_file", "save_outputs")
"""Options that name files for one case."""


@dataclass(frozen=True)
class Case:
    """One file with one combination of values."""

    command_class: tuple[str, str]
    """Module and name of the command's class."""
    path: str
    values: Mapping[str, Value]
    """Of the options that are swept."""
    arguments: Mapping[str, Any] = field(repr=False)
    """All arguments of the command but those in `OWN`."""
    namesake: str = ""
    """Tells a file from others of the same name in other folders."""
    is_text: bool = False
    """The file does not say in its first bytes how long it is: all of it counts."""

    @property
    def content(self) -> bytes:
        """What the file holds; BinaryError if it cannot be read."""
        return bytes(file_bytes(self.path)) if self.is_text else announced_bytes(self.path)

    @cached_property
    def id(self) -> str:
        """The same for the same file, by its bytes, under the same arguments."""
        try:
            digest = sha256(self.content).hexdigest()
        except BinaryError as error:
            digest = str(error)
        given = json.dumps(
            [self.command_class, self.path, digest, dict(self.arguments)], default=str
        )
        return sha256(given.encode()).hexdigest()

    @property
    def label(self) -> str:
        """The values in a few words; empty if nothing is swept."""
        return ",".join(f"{name}={value}" for name, value in self.values.items())

    @property
    def folder(self) -> str:
        """Where the artifacts go; the same as without a sweep if there is no other case."""
        values = "+".join(f"{name}={value}" for name, value in self.values.items())
        parts = [self.namesake, safe_file_name(values) if values else ""]
        return "/".join(part for part in parts if part)


def make_cases(
    command_class: tuple[str, str],
    paths: Sequence[str],
    arguments: Mapping[str, Any],
    options: Sequence[Option],
) -> list[Case]:
    """Every file with every combination; InputError for options that cannot be swept."""
    for name in _SINGLE:
        if arguments.get(name):
            raise InputError(
                f"--{name.replace('_', '-')} is for one run of one file; leave it out of sweeps"
            )
    swept = _swept(arguments["sweep"], options)
    common = {
        name: value for name, value in arguments.items() if name not in OWN and name not in _ONCE
    }
    names = Counter(Path(path).name for path in paths)
    return [
        Case(
            command_class,
            path,
            values,
            {**common, **values},
            safe_file_name(path) if names[Path(path).name] > 1 else "",
        )
        for path in paths
        for combination in itertools.product(*swept.values())
        for values in (dict(zip(swept, combination, strict=True)),)
    ]


def _swept(texts: Sequence[str], options: Sequence[Option]) -> dict[str, list[Value]]:
    """The values of each option that is swept."""
    by_name = {option.attribute: option for option in options}
    swept: dict[str, list[Value]] = {}
    for text in texts:
        name, separator, listed = text.partition("=")
        option = by_name.get(attribute_name(name))
        if not separator or option is None or option.attribute in OWN or option.multiple:
            raise InputError(
                f"--sweep {text}: give an option of the command and its values, as in "
                "numerics=exact,device"
            )
        if option.attribute in swept:
            raise InputError(f"--sweep {text}: the values of {name} were given before")
        swept[option.attribute] = [_value(option, word) for word in listed.split(",")]
    return swept


def _value(option: Option, word: str) -> Value:
    if option.is_flag:
        raise InputError(f"--sweep: {option.name} has no values")
    try:
        value = option.type(word)
    except ValueError:
        raise InputError(f"--sweep: {option.name} must be a number, got '{word}'") from None
    option.check(value)
    return value


# --- Journal --------------------------------------------------------------------------------------
# What a sweep has done so far, in a file beside its results, to go on after an interruption.
#
# A line of JSON for each case, written when it ends; a line that was cut off counts as not there.

SUFFIX = ".journal"


class Journal:
    """The results of the cases that have ended, by the id of the case."""

    def __init__(self, result_file: str) -> None:
        """Read what an earlier run has left; without a result file nothing is kept."""
        self._path = f"{result_file}{SUFFIX}" if result_file else ""
        self.done: dict[str, list[dict[str, Any]]] = self._read()

    def _read(self) -> dict[str, list[dict[str, Any]]]:
        try:
            text = read_text(self._path) if self._path else ""
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{self._path}: cannot be read: {error}") from error
        done: dict[str, list[dict[str, Any]]] = {}
        for line in text.splitlines():
            entry = _parse(line)
            if entry is not None:
                done.setdefault(*entry)
        return done

    def add(self, case: str, results: list[dict[str, Any]]) -> bool:
        """Note that a case has ended; False if it had before, which changes nothing."""
        if case in self.done:
            return False
        self.done[case] = results
        if self._path:
            line = json.dumps({"case": case, "results": results})
            try:
                with open(self._path, "a", encoding="utf-8") as file:
                    # A line that was cut off stays alone.
                    file.write(f"\n{line}\n" if file.tell() else f"{line}\n")
            except OSError as error:
                raise InputError(f"{self._path}: cannot be written: {error.strerror}") from error
        return True

    def close(self) -> None:
        """All is done, and the results are in their file."""
        if self._path:
            Path(self._path).unlink(missing_ok=True)


def _parse(line: str) -> tuple[str, list[dict[str, Any]]] | None:
    try:
        entry: Any = json.loads(line)
        return str(entry["case"]), cast("list[dict[str, Any]]", list(entry["results"]))
    except (ValueError, KeyError, TypeError):
        return None


# --- Workers --------------------------------------------------------------------------------------
# Cases on processes of this machine.

# --- Worker ---------------------------------------------------------------------------------------
# Runs one case in a process of its own; what comes and goes are plain values.


class Notes(Logger):
    """Keeps messages for the process that asked."""

    def __init__(self) -> None:
        """Nothing was said yet."""
        super().__init__(os.devnull)
        self.lines: list[tuple[str, str]] = []

    def debug(self, message: str) -> None:
        """Nobody asks for these."""

    def info(self, message: str) -> None:
        """Keep a message."""
        self.lines.append(("info", message))

    def warning(self, message: str) -> None:
        """Keep a message."""
        self.lines.append(("warning", message))

    def error(self, message: str) -> None:
        """Keep a message."""
        self.lines.append(("error", message))

    def output(self, text: str) -> None:
        """Keep what was asked for."""
        self.lines.append(("output", text))


def make_order(case: Case, content: bytes | None) -> dict[str, Any]:
    """What a worker is told; the file's bytes, if it cannot read the file itself."""
    return {
        "command": case.command_class,
        "path": case.path,
        "arguments": dict(case.arguments),
        "content": content,
    }


def run_case(order: Mapping[str, Any]) -> dict[str, Any]:
    """The results, messages and artifacts of a case, as plain values; never raises."""
    notes = Notes()
    with TemporaryDirectory() as folder:
        artifacts = os.path.join(folder, "artifacts")
        path = order["path"]
        if order["content"] is not None:
            path = os.path.join(folder, safe_file_name(Path(path).name))
            write_file(path, order["content"])
        try:
            results = _run_worker(order, path, artifacts, notes)
        except (Error, OSError, MemoryError) as error:
            results = [_failure(path, str(error))]
        except Exception as error:
            # A case that breaks must not keep the others from running.
            reason = f"{path}: this is a mistake of ttrt: {type(error).__name__}: {error}"
            results = [_failure(path, reason)]
        text = json.dumps({"results": results, "lines": notes.lines})
        text = text.replace(_inside(path), _inside(order["path"]))
        done: dict[str, Any] = json.loads(text)
        done["artifacts_folder"] = artifacts
        done["files"] = {
            str(each.relative_to(artifacts)): each.read_bytes()
            for each in sorted(Path(artifacts).rglob("*"))
            if each.is_file()
        }
        return done


def _inside(path: str) -> str:
    """A path as it stands in a text of JSON."""
    return json.dumps(path)[1:-1]


def _run_worker(
    order: Mapping[str, Any], path: str, artifacts: str, notes: Notes
) -> list[dict[str, Any]]:
    module, name = order["command"]
    arguments = {**order["arguments"], "binary": (path,), "artifact_dir": artifacts}
    command: Any = getattr(import_module(module), name)(args=arguments, logging=notes)
    command()
    return [result_to_json(result) for result in command.results]


def _failure(path: str, reason: str) -> dict[str, Any]:
    return result_to_json(Result(file_path=path, outcome=Outcome.ERROR, exception=reason))


def result_to_json(result: Result) -> dict[str, Any]:
    """A result as plain values."""
    return {
        "file_path": result.file_path,
        "outcome": result.outcome.value,
        "exception": result.exception,
        "artifacts": result.artifacts,
        "program_index": result.program_index,
        "details": result.details,
    }


def result_from_json(values: Mapping[str, Any]) -> Result:
    """A result from plain values."""
    fields: dict[str, Any] = {**values, "outcome": Outcome(values["outcome"])}
    return Result(**fields)


# --- Processes ------------------------------------------------------------------------------------

Done = tuple[Case, dict[str, Any] | str]
"""A case with what its worker says, or why there is none."""


def run_on_processes(cases: Sequence[Case], jobs: int) -> Iterator[Done]:
    """Each case as it ends, in any order.

    A process that dies takes the others of its pool along. The cases that may have been in one are
    then run alone, each in a process of its own: the one that is to blame is an error, the others
    are not.
    """
    left = list(cases)
    while left:
        done: list[Case] = []
        for case, result in _run_pool(left, jobs):
            done.append(case)
            yield case, result
        left = [case for case in left if case not in done]
        # Cases begin in the order in which they were given; one more than can run is prepared.
        suspects, left = left[: jobs + 1], left[jobs + 1 :]
        for case in suspects:
            [*found] = _run_pool([case], 1)
            died = "the process that ran it died; there may have been too little memory"
            yield found[0] if found else (case, died)


def _run_pool(cases: Sequence[Case], jobs: int) -> Iterator[Done]:
    """Cases as they end, until all have or a process dies."""
    from concurrent.futures import Future, ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    workers = min(jobs, len(cases))
    # A process that is forked would inherit threads, such as that of the bar, at any point.
    executor = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    try:
        futures: dict[Future[dict[str, Any]], Case] = {}
        # A process may die while cases are still being handed over.
        with suppress(BrokenProcessPool):
            for case in cases:
                futures[executor.submit(run_case, make_order(case, None))] = case
        for future in as_completed(futures):
            if not isinstance(future.exception(), BrokenProcessPool):
                yield futures[future], future.result()
    finally:
        executor.shutdown(cancel_futures=True)


# --- Cluster --------------------------------------------------------------------------------------
# Cases on the workers of a Dask scheduler, which may be on other machines, die and come back.

_TIMEOUT = 10
"""Seconds in which a scheduler has to answer."""


def run_on_cluster(cases: Sequence[Case], address: str) -> Iterator[Done]:
    """Each case as it ends, in any order; InputError if there is no scheduler.

    The scheduler gives a case to another worker if one dies; a case during which several die is an
    error. Workers need this package; files are sent to them.
    """
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise InputError(
            "--cluster needs the package 'distributed', which is not installed; "
            'pip install "ttmlir-py[cluster]" installs it'
        ) from None
    try:
        client = distributed.Client(address, timeout=_TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(
            f"--cluster {address}: no Dask scheduler answers there ({error}); dask scheduler "
            "starts one and prints its address"
        ) from error
    with client:
        futures: dict[Any, Case] = {}
        for case in cases:
            try:
                order = make_order(case, case.content)
            except BinaryError as error:
                yield case, str(error).removeprefix(f"{case.path}: ")
                continue
            futures[client.submit(run_case, order, key=f"ttrt-{case.id}")] = case
        for future in distributed.as_completed(list(futures), loop=client.loop):
            case = futures.pop(future)
            yield case, _result_of(future)


def _result_of(future: Any) -> dict[str, Any] | str:
    if future.status == "finished":
        return future.result()
    if future.status == "error":
        return f"no worker could run it: {future.exception()}"
    raise InputError(
        "--cluster: the scheduler is gone; with --result-file, the same command goes on where it "
        "was"
    )


# --- Sweep ----------------------------------------------------------------------------------------
# A sweep of a command: its cases, on processes or a cluster, and one list of results.


class SweptCommand(Protocol):
    """What a sweep needs of a command."""

    name: ClassVar[str]
    options: ClassVar[tuple[Option, ...]]
    arguments: dict[str, Any]
    logger: Logger
    artifacts: Artifacts
    file_manager: FileManager
    results: list[Result]
    after_results: Callable[[], None]

    def __getitem__(self, key: str) -> Any:
        """Value of an argument."""
        ...

    def sources(self) -> list[Source]:
        """The files to work on."""
        ...


def run_sweep(command: SweptCommand) -> None:
    """Run all cases of a command; its results are those of the cases, in their order."""
    sources = command.sources()
    if any(source.is_standard_input for source in sources):
        raise InputError("standard input cannot be read by several processes; give files")
    paths = list(dict.fromkeys(source.path for source in sources))
    for path in paths:
        if not os.path.isfile(path):
            raise InputError(f"{path}: a pipe cannot be read by several processes; give files")
    kind = type(command)
    cases = make_cases(
        (kind.__module__, kind.__qualname__), paths, command.arguments, command.options
    )
    journal = Journal(command["result_file"])
    left = [case for case in cases if case.id not in journal.done]
    if len(left) < len(cases):
        command.logger.info(f"{len(cases) - len(left)} of {len(cases)} cases were done before")
    with show_wait(f"ttrt {command.name}", len(left), quiet=command["quiet"]) as advance:
        for case, done in _run(command, left):
            journal.add(case.id, _take(command, case, done))
            advance()
    command.results += [
        result_from_json(values) for case in cases for values in journal.done[case.id]
    ]
    command.after_results = journal.close


def _run(command: SweptCommand, cases: list[Case]) -> Iterator[Done]:
    address = command["cluster"]
    if not address:
        return run_on_processes(cases, command["jobs"])
    # Dask is loaded only for those who ask for it.

    return run_on_cluster(cases, address)


def _take(command: SweptCommand, case: Case, done: dict[str, Any] | str) -> list[dict[str, Any]]:
    """Say what a case had to say, and write its artifacts; its results."""
    if isinstance(done, str):
        reason = f"{case.path}: {done}"
        command.logger.error(reason)
        failure = Result(file_path=case.path, outcome=Outcome.ERROR, exception=reason)
        return [_label(case, result_to_json(failure))]
    folder = Path(command.artifacts.get_artifacts_folder_path()) / case.folder
    for name, data in done["files"].items():
        if PurePath(name).is_absolute() or ".." in PurePath(name).parts:
            raise InputError(f"a worker asks for the file {name!r}, which is in no artifacts")
        command.file_manager.write_bytes(str(folder / name), data)
    rename = _renamer(done["artifacts_folder"], str(folder))
    for kind, message in done["lines"]:
        say = getattr(command.logger, kind)
        if kind != "output" or not command["quiet"]:
            say(f"[{case.label}] {rename(message)}" if case.label else rename(message))
    return [_label(case, rename(result)) for result in done["results"]]


def _label(case: Case, result: dict[str, Any]) -> dict[str, Any]:
    """A result with the values of its case."""
    case_values = {"case": dict(case.values)} if case.values else {}
    return {**result, "details": {**case_values, **result["details"]}}


def _renamer(old: str, new: str) -> Callable[[Any], Any]:
    """Puts another folder into texts, wherever they are in plain values."""

    def rename(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace(old, new)
        if isinstance(value, list):
            return [rename(each) for each in cast("list[Any]", value)]
        if isinstance(value, dict):
            items = cast("dict[str, Any]", value).items()
            return {key: rename(each) for key, each in items}
        return value

    return rename
