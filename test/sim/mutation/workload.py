"""A program whose kernels can be replaced, and what it does with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ttmlir.sim.errors import Finding, SimError
from ttmlir.sim.options import SimOptions
from ttmlir.sim.timing.timeline import Timeline

Texts = Mapping[str, str]
"""Kernels by the names of their files."""


MOST_CALLS = 20_000
"""Calls of a thread, of which the programs here make less than a tenth."""


class Refused(Exception):
    """A kernel in Python that is none."""


@dataclass(frozen=True)
class Outcome:
    """A run that came to its end."""

    right: bool
    """Whether all numbers are NumPy's."""
    findings: Sequence[Finding]
    result: bytes
    cycles: int


@dataclass(frozen=True)
class Workload:
    """A program on small data, of integers, so that results are exact in every format.

    `run` takes the kernels; it raises SimError for what the simulator refuses.
    """

    name: str
    read: Callable[[], Texts]
    run: Callable[[Texts, SimOptions, Timeline | None], Outcome]
    leniencies: frozenset[str] = frozenset()

    @property
    def is_python(self) -> bool:
        """Whether its kernels are Python."""
        return any(file.endswith(".py") for file in self.kernels)

    @cached_property
    def kernels(self) -> Texts:
        """The kernels unmutated."""
        return self.read()


class CallLog(Timeline):
    """Every call that kernels make to the machine, with its arguments and result, by thread.

    Kernels have no other effect: two runs with equal logs behave in the same way. Calls that only
    ask for a value are left out; what is done with the value is in the log.
    """

    def __init__(self) -> None:
        """An empty log."""
        super().__init__()
        self.calls: list[list[object]] = []

    def watch(self, api: object, blocking: Any, thread: Any, track: Any) -> None:
        """Log the calls of one thread from now on."""
        calls = list[object]()
        self.calls.append(calls)
        for name in dir(type(api)):
            method = getattr(api, name)
            if not name.startswith(("_", "get_")) and callable(method):
                setattr(api, name, _logged(name, method, calls, again=name in blocking))


def _logged(
    name: str, method: Callable[..., Any], calls: list[object], *, again: bool
) -> Callable[..., Any]:
    def logged(*arguments: Any, **keywords: Any) -> Any:
        result = method(*arguments, **keywords)
        if len(calls) == MOST_CALLS:
            raise SimError("the kernel has no end", rule="cycle-limit")
        if not again or result:
            calls.append((name, *map(_plain, arguments), str(keywords), _plain(result)))
        return result

    return logged


def _plain(value: object) -> object:
    if value is None or isinstance(value, int | float | str):
        return value
    names = [name for each in type(value).__mro__ for name in getattr(each, "__slots__", ())]
    names += getattr(value, "__dict__", {})
    attributes = [(name, getattr(value, name, None)) for name in names]
    return type(value).__name__, str([each for each in attributes if isinstance(each[1], int)])
