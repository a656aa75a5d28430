"""Runs one case in a process of its own; what comes and goes are plain values."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ttmlir.files import safe_file_name, write_file
from ttmlir.runtime.errors import RuntimeFailure
from ttmlir.runtime.ttrt.reports.logger import Logger
from ttmlir.runtime.ttrt.reports.results import Outcome, Result
from ttmlir.runtime.ttrt.sweeps.cases import Case


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
            results = _run(order, path, artifacts, notes)
        except (RuntimeFailure, OSError, MemoryError) as error:
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


def _run(order: Mapping[str, Any], path: str, artifacts: str, notes: Notes) -> list[dict[str, Any]]:
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
