"""Errors of ttnn's calls: a RuntimeError whose text begins with the line of the user's program."""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from itertools import islice
from types import CodeType, FrameType
from typing import Any

from ttmlir.errors import CompilationError, InputError
from ttmlir.files import PACKAGE_FOLDER
from ttmlir.sim.errors import SimError


class PlacedError(InputError, RuntimeError):
    """A call that cannot be: `file:line:col: error: ...`, the source line and a caret."""

    def __init__(self, message: str, place: str) -> None:
        """`place` has the two lines below the message, and what comes before it."""
        super().__init__(join_place(message, place))
        self.message = message


class PlacedTypeError(InputError, TypeError):
    """A call with arguments that the function does not take, as `PlacedError`."""

    def __init__(self, message: str, place: str) -> None:
        """As for `PlacedError`."""
        super().__init__(join_place(message, place))


PLACED = (CompilationError, PlacedError, PlacedTypeError)
"""What has the place of a call already."""


def join_place(message: str, place: str) -> str:
    """The message with its place before and below it."""
    first, _, rest = place.partition("\n")
    lines = (f"{first}error: {message}" if first else message, rest)
    return "\n".join(line for line in lines if line)


def place_error(error: Exception, name: str = "") -> PlacedError:
    """What to raise for an error, at the line of the program that called this package."""
    if isinstance(error, PlacedError):
        return error
    if isinstance(error, SimError) and error.position is not None:
        # What stopped it stands in a kernel, which has a place of its own.
        return PlacedError(f"{name}: a kernel cannot go on", f"{place_of_call()}\n{error}")
    message = error.message if isinstance(error, SimError) else str(error)
    return PlacedError(f"{name}: {message}" if name else message, place_of_call())


def place_type_error(error: Exception, name: str, wrong: str = "") -> PlacedTypeError:
    """What to raise for arguments of a wrong type; `wrong` says more than the error does."""
    if isinstance(error, PlacedTypeError):
        return error
    message = wrong or str(error)
    short = name.rpartition(".")[2]
    if not message.startswith((name, f"{short}()")):
        message = f"{name}: {message}"
    return PlacedTypeError(message, place_of_call())


def refuse_operator(operator: str, call: str) -> PlacedTypeError:
    """What to raise for an operator that tensors of ttnn do not have."""
    return PlacedTypeError(f"a ttnn.Tensor has no operator {operator}; use {call}", place_of_call())


def placing(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The function, whose errors have the line of the program that called it."""

    @wraps(function)
    def placed(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except PLACED:
            raise
        except (TypeError, AttributeError) as error:
            from ttmlir.ttnn.operations.misuse import find_misuse

            if str(error).startswith(f"{function.__name__}()"):
                wrong = f"{error}; it takes {signature_of(function)}"
            else:
                wrong = find_misuse(function, args, kwargs)
            if not wrong and isinstance(error, AttributeError):
                raise
            raise place_type_error(error, name, wrong) from error
        except (RuntimeError, SimError) as error:
            raise place_error(error, name) from error

    return placed


def signature_of(function: Callable[..., Any]) -> str:
    """The arguments of a function with their defaults, without their types."""
    from inspect import Parameter, signature

    found = signature(function)
    plain = [each.replace(annotation=Parameter.empty) for each in found.parameters.values()]
    return str(found.replace(parameters=plain, return_annotation=Parameter.empty))


@dataclass(frozen=True)
class CallPosition:
    """Where a program called this package."""

    file: str
    """As Python knows it."""
    line: int
    column: int
    """Bytes of UTF-8 before the call, or 0."""

    @property
    def name(self) -> str:
        """The file as messages show it: below the current folder without that folder's name."""
        name = os.path.relpath(self.file)
        return self.file if name.startswith("..") else name

    def show(self) -> str:
        """`file:line:col: `, the source line and a caret."""
        source = linecache.getline(self.file, self.line).rstrip()
        place = f"{self.name}:{self.line}:{self.column + 1}: "
        if not source:
            return place
        before = source.encode()[: self.column].decode(errors="replace")
        return f"{place}\n  {source}\n  {' ' * len(before)}^"


def find_call() -> CallPosition | None:
    """The place in the program from which this package was called; None if there is none."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE_FOLDER):
        frame = frame.f_back
    return None if frame is None else _position(frame.f_code, frame.f_lasti, frame.f_lineno)


def _position(code: CodeType, instruction: int, line: int) -> CallPosition:
    positions = next(islice(code.co_positions(), instruction // 2, None), None)
    column = 0 if positions is None or positions[2] is None else positions[2]
    return CallPosition(code.co_filename, line, column)


def place_of_call() -> str:
    """`file:line:col: `, the source line and a caret; empty if nobody called this package."""
    call = find_call()
    return "" if call is None else call.show()


def place_of_error(error: BaseException) -> str:
    """The same for the last line of the program in the traceback of an error."""
    place = ""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if not code.co_filename.startswith(PACKAGE_FOLDER):
            place = _position(code, trace.tb_lasti, trace.tb_lineno).show()
        trace = trace.tb_next
    return place
