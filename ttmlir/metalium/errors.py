"""What the host API raises for calls that cannot be meant."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from ttmlir.errors import InputError
from ttmlir.sim.errors import SimError

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")
_Class = TypeVar("_Class", bound=type[Any])


class MetaliumError(InputError, ValueError):
    """A call of the host API with wrong arguments; the message says which, and what is allowed."""


@contextmanager
def host_call() -> Generator[None, None, None]:
    """Raise what the simulator says about the arguments of a call as an error of the call.

    What it says about kernels, which a call may wait for, stays as it is.
    """
    try:
        yield
    except SimError as error:
        if error.position is not None:
            raise
        raise MetaliumError("\n".join((error.message, *error.detail))) from error


def suggest(name: str, known: Iterable[str]) -> str:
    """What else may have been meant by a name, as the end of a message; empty if nothing is near.

    Capitals do not count.
    """
    by_lower = {each.lower(): each for each in known}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.7)
    return f"; did you mean '{by_lower[near[0]]}'?" if near else ""


def names_options(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Answer a call whose arguments do not fit with a MetaliumError that lists the options."""

    @wraps(function)
    def call(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        try:
            return function(*args, **kwargs)
        except TypeError:
            _check_arguments(function, function.__name__, args, kwargs)
            raise

    return call


def names_fields(made: _Class) -> _Class:
    """The same for the fields of a dataclass."""
    plain = made.__init__

    @wraps(plain)
    def initialise(self: object, *args: object, **kwargs: object) -> None:
        try:
            plain(self, *args, **kwargs)
        except TypeError:
            _check_arguments(plain, made.__name__, (self, *args), kwargs)
            raise

    made.__init__ = initialise
    return made


def _check_arguments(
    function: Callable[..., object], name: str, args: tuple[object, ...], kwargs: dict[str, object]
) -> None:
    """MetaliumError if the arguments do not fit the parameters."""
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        options = [each for each in signature.parameters if each not in ("self", "cls")]
        known = f"{name} takes {', '.join(options) or 'no arguments'}"
        unknown = next((each for each in kwargs if each not in options), None)
        if unknown is not None:
            hint = suggest(unknown, options)
            raise MetaliumError(f"{name} has no option '{unknown}'{hint or ';'} {known}") from error
        raise MetaliumError(f"{name}: {error}; {known}") from error
