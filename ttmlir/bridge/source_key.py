"""What the program of a kernel's function depends on besides its arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import FunctionType
from typing import Any

_CONSTANTS = (str, bytes, int, float)


def source_key(function: Callable[..., Any]) -> tuple[object, ...]:
    """A key that differs when the code of a function does, or what it finds around it.

    That are constants, such as the C++ of kernels, and other functions with theirs.
    """
    return tuple(_parts(function, set()))


def _parts(function: object, seen: set[object]) -> Iterator[object]:
    if not isinstance(function, FunctionType):
        yield function
        return
    code = function.__code__
    if code in seen:
        return
    seen.add(code)
    yield code
    yield function.__defaults__ and tuple(map(repr, function.__defaults__))
    for name, value in _found_around(function):
        if isinstance(value, _CONSTANTS):
            yield name, type(value), value
        elif isinstance(value, FunctionType):
            yield from _parts(value, seen)


def _found_around(function: FunctionType) -> Iterator[tuple[str, object]]:
    """The names that a function takes from its module and from functions around it."""
    around: Mapping[str, object] = function.__globals__
    for name in function.__code__.co_names:
        if name in around:
            yield name, around[name]
    cells = function.__closure__ or ()
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:
            # Not assigned yet.
            continue
