"""What a sweep has done so far, in a file beside its results, to go on after an interruption.

A line of JSON for each case, written when it ends; a line that was cut off counts as not there.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from ttmlir.files import read_text
from ttmlir.runtime.errors import InputError

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
