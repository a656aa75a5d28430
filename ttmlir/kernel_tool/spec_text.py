"""Specifications in TOML: typed access to their tables, and errors with file and line."""

from __future__ import annotations

import difflib
import os
import re
import sys
import tomllib
from collections.abc import Iterable, Sequence
from typing import TypeVar, cast

from ttmlir.files import read_text
from ttmlir.kernel_tool.errors import KernelToolError
from ttmlir.sim.findings import Finding

Path = tuple[str | int, ...]
"""Where something stands: keys, and positions in arrays of tables."""

_HEAD = re.compile(r"\s*\[(\[?)\s*([^\[\]#]+?)\s*\]")
_KEY = re.compile(r"""\s*("[^"]*"|'[^']*'|[\w.-]+)\s*=""")
_TEXT_MARK = re.compile(r"\"\"\"|'''")
_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")
_Value = TypeVar("_Value")


class SpecText:
    """The text of a specification, and what it says."""

    def __init__(self, file: str) -> None:
        """Read a file; KernelToolError if it cannot be read or is no TOML."""
        self.file = file
        try:
            self.text = read_text(file)
        except OSError as error:
            raise KernelToolError(f"{file}: error: cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise KernelToolError(f"{file}: error: this is no UTF-8 text") from None
        self._lines = self.text.split("\n")
        try:
            self.root = Table(self, (), tomllib.loads(self.text))
        except tomllib.TOMLDecodeError as error:
            place = _PLACE.search(str(error))
            line, column = map(int, place.groups()) if place else (len(self._lines), 0)
            message = _PLACE.sub("", str(error)).partition("\n")[0]
            raise self._error_at(line, column, f"this is no TOML: {message}") from None
        except ValueError:  # Python reads no integers of thousands of digits.
            raise KernelToolError(f"{file}: error: this is no TOML: a number is too long") from None
        except RecursionError:
            raise KernelToolError(f"{file}: error: its arrays are nested too deeply") from None
        self.folder = os.path.dirname(file)

    def error(self, path: Path, message: str) -> KernelToolError:
        """The error about what stands at a path."""
        line, column = self._find(path)
        return self._error_at(line, column, message)

    def _error_at(self, line: int, column: int, message: str) -> KernelToolError:
        shown = self._lines[line - 1] if 0 < line <= len(self._lines) else ""
        shown = shown if shown.isprintable() else ""
        finding = Finding(
            message=message, file=self.file, line=line, column=column, source_line=shown
        )
        return KernelToolError(finding.text())

    def _find(self, path: Path) -> tuple[int, int]:
        """Line and column of a path, or of the nearest table around it; TOML's reader has none."""
        best, place = 0, (1, 0)
        table: Path = ()
        counts = dict[str, int]()
        inside = False
        for number, line in enumerate(self._lines, 1):
            marks = len(_TEXT_MARK.findall(line))
            was_inside, inside = inside, inside ^ bool(marks % 2)
            if was_inside:
                continue
            if head := _HEAD.match(line):
                name = head[2]
                table = tuple(each.strip().strip("\"'") for each in name.split("."))
                if head[1]:
                    counts[name] = counts.get(name, -1) + 1
                    table = (*table, counts[name])
                found, column = table, head.start(2) + 1
            elif key := _KEY.match(line):
                found = (*table, *(key[1].strip("\"'").split(".")))
                column = key.start(1) + 1
            else:
                continue
            if len(found) > best and path[: len(found)] == found:
                best, place = len(found), (number, column)
        return place


class Table:
    """A table of a specification; what it takes are its keys with their types."""

    def __init__(self, spec: SpecText, path: Path, values: dict[str, object]) -> None:
        """The values at a path."""
        self.spec = spec
        self.path = path
        self.values = values

    def error(self, message: str, *keys: str | int) -> KernelToolError:
        """An error about the table, or about one of its keys."""
        return self.spec.error((*self.path, *keys), message)

    def check_keys(self, known: Sequence[str], what: str) -> None:
        """Refuse keys that mean nothing."""
        for key in self.values:
            if key not in known:
                near = difflib.get_close_matches(key, known, 1)
                hint = f"; did you mean '{near[0]}'?" if near else ""
                shown = key if key.isprintable() and len(key) <= 64 else "..."
                message = f"{what} has no key '{shown}'; there are {', '.join(known)}{hint}"
                raise self.error(message, key)

    def has(self, key: str) -> bool:
        """Whether a key is there."""
        return key in self.values

    def take_string(self, key: str, default: str = "") -> str:
        """The string of a key."""
        return self._take(key, str, default, "a string")

    def take_bool(self, key: str, default: bool) -> bool:
        """The truth value of a key."""
        return self._take(key, bool, default, "true or false")

    def take_integer(self, key: str, default: int, low: int, high: int) -> int:
        """The integer of a key, in bounds that are both included."""
        value = self._take(key, int, default, "an integer")
        if isinstance(value, bool) or not low <= value <= high:
            raise self.error(f"'{key}' is an integer from {low} to {high}", key)
        return value

    def take_integers(self, key: str, low: int, high: int) -> list[int]:
        """The integers of an array, or the one integer that stands for it, in bounds."""
        value = self.values.get(key, [])
        listed = cast("list[object]", value) if isinstance(value, list) else [value]
        numbers = [each for each in listed if isinstance(each, int) and low <= each <= high]
        if len(numbers) < len(listed) or any(isinstance(each, bool) for each in numbers):
            raise self.error(
                f"'{key}' is an integer from {low} to {high}, or an array of them", key
            )
        return numbers

    def take_number(self, key: str, default: float) -> float:
        """The number of a key, which is not negative."""
        value = self._take(key, (int, float), default, "a number")
        if isinstance(value, bool) or not 0 <= value <= sys.float_info.max:
            raise self.error(f"'{key}' is a number from 0 on", key)
        return float(value)

    def take_choice(self, key: str, choices: Iterable[str], default: str) -> str:
        """One of several words."""
        value, known = self.take_string(key, default), list(choices)
        if value not in known:
            raise self.error(f"'{key}' is one of {', '.join(known)}", key)
        return value

    def take_list(self, key: str) -> list[object]:
        """The array of a key; empty if it is missing."""
        return self._take(key, list, [], "an array")

    def take_strings(self, key: str) -> list[str]:
        """The array of strings of a key; empty if it is missing."""
        values = self.take_list(key)
        if not all(isinstance(each, str) for each in values):
            raise self.error(f"'{key}' is an array of strings", key)
        return cast("list[str]", values)

    def take_table(self, key: str) -> Table:
        """The table of a key; empty if it is missing."""
        return Table(self.spec, (*self.path, key), self._take(key, dict, {}, "a table"))

    def take_tables(self, key: str) -> list[Table]:
        """The array of tables of a key; empty if it is missing."""
        tables = list[Table]()
        for index, each in enumerate(self.take_list(key)):
            if not isinstance(each, dict):
                raise self.error(f"'{key}' is an array of tables: write [[{key}]]", key)
            values = cast("dict[str, object]", each)
            tables.append(Table(self.spec, (*self.path, key, index), values))
        return tables

    def _take(
        self, key: str, type_: type[_Value] | tuple[type[_Value], ...], default: _Value, what: str
    ) -> _Value:
        value = self.values.get(key, default)
        if not isinstance(value, type_):
            raise self.error(f"'{key}' is {what}", key)
        return value
