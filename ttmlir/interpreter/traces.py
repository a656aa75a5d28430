"""What a run of a program at some level computed, by the operations of the source."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from ttmlir.runtime.element import Array

_NAME = re.compile(r'"operation#(\d+)"')


def number_in(text: str | None) -> int | None:
    """The number of the operation that a location's name says; None if it says none."""
    match = _NAME.search(text or "")
    return None if match is None else int(match[1])


@dataclass
class Trace:
    """What a run computed: the results of the program, and those of its operations by number."""

    outputs: list[Array] = field(default_factory=list[Array])
    values: dict[int, list[Array]] = field(default_factory=dict[int, list[Array]])
    """For each operation of the source all results of what it became, in order of execution."""

    def note(self, number: int | None, value: Any) -> None:
        """Add a result of an operation."""
        if number is not None and isinstance(value, np.ndarray):
            self.values.setdefault(number, []).append(cast("Array", value))
