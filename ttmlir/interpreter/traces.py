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


MOST_RESULTS = 1024
"""Results of an operation that are kept."""


@dataclass
class Trace:
    """What a run computed: the results of the program, and those of its operations by number."""

    outputs: list[Array] = field(default_factory=list[Array])
    values: dict[int, list[Array]] = field(default_factory=dict[int, list[Array]])
    """For each operation of the source the results of what it became, in order of execution."""

    def note(self, number: int | None, value: Any) -> None:
        """Add a result of an operation; those of the first iterations of a loop are enough."""
        if number is not None and isinstance(value, np.ndarray):
            values = self.values.setdefault(number, [])
            if len(values) < MOST_RESULTS:
                values.append(cast("Array", value))
