"""A sweep of a command: its cases, on processes or a cluster, and one list of results."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path, PurePath
from typing import Any, ClassVar, Protocol, cast

from ttmlir.runtime.errors import InputError
from ttmlir.runtime.ttrt.commands.option import Option
from ttmlir.runtime.ttrt.files.file_manager import FileManager
from ttmlir.runtime.ttrt.files.sources import Source
from ttmlir.runtime.ttrt.reports.artifacts import Artifacts
from ttmlir.runtime.ttrt.reports.logger import Logger
from ttmlir.runtime.ttrt.reports.results import Outcome, Result
from ttmlir.runtime.ttrt.sweeps.cases import Case, make_cases
from ttmlir.runtime.ttrt.sweeps.journal import Journal
from ttmlir.runtime.ttrt.sweeps.processes import Done, run_on_processes
from ttmlir.runtime.ttrt.sweeps.worker import result_from_json, result_to_json
from ttmlir.terminal import show_wait


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
    from ttmlir.runtime.ttrt.sweeps.cluster import run_on_cluster

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
