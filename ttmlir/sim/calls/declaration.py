"""Which methods of an API object are calls that kernels can make.

A kernel's text comes from strangers, so its names are looked up in this table and nowhere else: a
method without `@kernel_call` does not exist for kernels, whatever it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

_Method = TypeVar("_Method", bound=Callable[..., Any])


@dataclass(frozen=True)
class CallFacts:
    """What the compiler of kernels has to know about the method behind a call."""

    waits: bool = False
    """It gives no result but returns whether it is done; if not, it has to be called again."""
    pure: bool = False
    """It does nothing but find a value."""
    steady: bool = False
    """It finds the same value whenever it is asked."""


_DECLARED: dict[Callable[..., Any], CallFacts] = {}


def kernel_call(
    *, waits: bool = False, pure: bool = False, steady: bool = False
) -> Callable[[_Method], _Method]:
    """Declare a method to be the kernel call of its name.

    What C++ passes and gets stands in the row of that name in `ttmlir.optable.kernel`.
    """
    facts = CallFacts(waits, pure or steady, steady)

    def declare(method: _Method) -> _Method:
        _DECLARED[method] = facts
        return method

    return declare


@cache
def declared_calls(api: type) -> Mapping[str, CallFacts]:
    """The calls that kernels can make on objects of a class, by name.

    A method that overrides a call is one only if it is declared, too.
    """
    found: dict[str, CallFacts] = {}
    hidden: set[str] = set()
    for owner in api.__mro__:
        for name, method in vars(owner).items():
            if name.startswith("_") or name in hidden:
                continue
            hidden.add(name)
            facts = _DECLARED.get(method) if callable(method) else None
            if facts is not None:
                found[name] = facts
    return found


@cache
def waiting_calls(api: type) -> frozenset[str]:
    """The calls of a class that may have to wait."""
    return frozenset(name for name, facts in declared_calls(api).items() if facts.waits)
