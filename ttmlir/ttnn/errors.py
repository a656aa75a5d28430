"""Errors of ttnn's calls: a RuntimeError whose text begins with the line of the user's program."""

from __future__ import annotations

import contextlib
import linecache
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import partial, wraps
from inspect import Parameter, signature
from itertools import islice
from threading import Lock
from types import CodeType, FrameType, FunctionType
from typing import Any, NoReturn, cast

from ttmlir.errors import (
    ArgumentError,
    ArgumentTypeError,
    CompilationError,
    Error,
    IndexRangeError,
    UsageError,
)
from ttmlir.files import PACKAGE_FOLDER
from ttmlir.sim.errors import SimError
from ttmlir.terminal import excerpt


class PlacedError(UsageError):
    """A call that is refused: `file:line:col: error: ...`, the source line and a caret."""


class PlacedTypeError(ArgumentTypeError):
    """A call with arguments that the function does not take, as `PlacedError`."""


class PlacedIndexError(IndexRangeError):
    """An index outside of a tensor, as `PlacedError`."""


PLACED = (CompilationError, PlacedError, PlacedTypeError, PlacedIndexError)
"""What has the location of a call already."""


def join_location(message: str, location: str) -> str:
    """The message with its location before it and the source line below it."""
    first, _, rest = location.partition("\n")
    lines = (f"{first}error: {message}" if first else message, rest)
    return "\n".join(line for line in lines if line)


def locate_error(error: Error, name: str = "") -> Error:
    """What to raise for a refusal of the function `name`, at the user's call of this package.

    The class stays the one that Python has for the case: TypeError, IndexError, else RuntimeError,
    as ttnn raises.
    """
    if isinstance(error, PLACED):
        return error
    location = locate_call()
    if isinstance(error, SimError) and error.position is not None:
        # What stopped it is in a kernel, which has a location of its own.
        return PlacedError(join_location(f"{name}: a kernel cannot go on", f"{location}\n{error}"))
    message = error.message if isinstance(error, SimError) else str(error)
    short = name.rpartition(".")[2]
    if name and not message.startswith((f"{name} ", f"{name}:", f"{short}()")):
        message = f"{name}: {message}"
    kinds = {TypeError: PlacedTypeError, IndexError: PlacedIndexError}
    kind = next((kinds[each] for each in kinds if isinstance(error, each)), PlacedError)
    return kind(join_location(message, location))


def refuse_operator(operator: str, call: str) -> Error:
    """What to raise for an operator that tensors of ttnn do not have."""
    return locate_error(ArgumentTypeError(f"a ttnn.Tensor has no operator {operator}; use {call}"))


def locate_errors(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The function, whose refusals have the location of the user's call.

    Other exceptions are faults of the project unless an argument is wrong; they stay as they are.
    """

    @wraps(function)
    def located(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            raise_refusal(error, name, partial(explain_arguments, function, args, kwargs))

    EXPLAINERS.add(cast("FunctionType", located).__code__)
    return located


EXPLAINERS: set[CodeType] = set()
"""The code of functions that end in `raise_refusal`."""


def raise_refusal(
    error: Exception, name: str, explain: Callable[[Exception], Error | None]
) -> NoReturn:
    """Raise a refusal of the function `name` at the user's call; another error as it is.

    `explain` says which argument of the call is of a wrong type, if one is: then that is what led
    to any error without a location, be it a mistake of Python's or a refusal further inside.
    """
    if isinstance(error, PLACED):
        raise error
    is_about_types = isinstance(error, ArgumentTypeError) or not isinstance(error, Error)
    refusal = (explain(error) or _reason_of(error)) if is_about_types else None
    if refusal is None:
        if isinstance(error, MemoryError):
            refusal = UsageError(": ".join(filter(None, ("not enough memory", str(error)))))
            raise locate_error(refusal, name) from error
        if not isinstance(error, Error):
            raise error
        refusal = error
    raise locate_error(refusal, name) from error


def check_arguments(function: Callable[..., Any]) -> Callable[..., Any]:
    """The constructor or method, which refuses arguments that it fails on for their types.

    Within a function of ttnn it is that function which says what is wrong, as it does before a
    program has used the class.
    """

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Error:
            raise
        except Exception as error:
            wrong = explain_arguments(function, args, kwargs, error) or _reason_of(error)
            if wrong is None:
                raise
            if _is_within_function(sys._getframe(1)):  # pyright: ignore[reportPrivateUsage]
                # The function that the program called may say it by its own arguments.
                error.__dict__[_REASON] = wrong
                raise
            name = function.__qualname__.removesuffix(".__init__").removesuffix(".__new__")
            raise locate_error(wrong, name) from error

    return checked


def _is_within_function(frame: FrameType | None) -> bool:
    """Whether a function that explains its arguments is between the frame and the program."""
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE_FOLDER):
        if frame.f_code in EXPLAINERS:
            return True
        frame = frame.f_back
    return False


_REASON = "ttmlir_reason"
"""Attribute of an error of Python's: which argument of a class of this package led to it."""


def _reason_of(error: Exception) -> Error | None:
    return error.__dict__.get(_REASON)


_checked: set[type[Any]] = set()
_checking = Lock()


def check_class(made: type[Any]) -> None:
    """Have constructor and public methods of a class refuse what they fail on, as above.

    They do so for a program's calls only; each class is changed once, whichever thread comes first.
    """
    if made in _checked or issubclass(made, Enum):
        return
    with _checking:
        if made in _checked:
            return
        for name in ("__init__", "__new__"):
            if isinstance(own := getattr(made, name), FunctionType):
                setattr(made, name, check_arguments(own))
        for name, own in list(vars(made).items()):
            if isinstance(own, FunctionType) and not name.startswith("_"):
                setattr(made, name, check_arguments(own))
        _checked.add(made)


def explain_arguments(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception
) -> Error | None:
    """What is wrong with the arguments of a call that failed; None if types and sizes are right."""
    # Loaded here, since programs without mistakes do not need it.
    from ttmlir.ttnn.operations.signature import COMMON_TYPES, find_wrong_argument

    try:
        bound = signature(function).bind(*args, **kwargs)
    except TypeError:
        # The function was not entered: the error is Python's about the call.
        text = str(error).replace(".__init__()", "()").replace(".__new__()", "()")
        return ArgumentTypeError(f"{text}; it takes {signature_of(function)}")
    if is_about(error, bound.arguments):
        return None
    named = [
        (name, each)
        for name, value in bound.arguments.items()
        for each in (value if bound.signature.parameters[name].kind is _MANY else (value,))
        if name in COMMON_TYPES or not isinstance(error, Error)
    ]
    wrong = find_wrong_argument(function, named, find_type)
    return ArgumentTypeError(wrong) if wrong else explain_size(named, error)


def explain_size(named: Iterable[tuple[str, Any]], error: Exception) -> Error | None:
    """Which argument of a call that failed is an integer of too many bits; None if none is."""
    from ttmlir.ttnn.operations.signature import find_large_number

    if isinstance(error, Error):
        return None
    # What C calls an int has 32 bits, the places of arrays 64.
    large = find_large_number(named, 31 if isinstance(error, OverflowError) else 63)
    return ArgumentError(large) if large else None


type_finders: list[Callable[[str], Any]] = []
"""How types are found by name; the registry, which imports this module, adds its own."""


def find_type(name: str) -> Any:
    """The type of ttnn with a name, for annotations; KeyError if there is none."""
    return type_finders[0](name)


def is_about(error: Exception, arguments: Iterable[str]) -> bool:
    """Whether a refusal says itself which argument of a call is wrong."""
    return isinstance(error, Error) and str(error).split(" ")[0] in arguments


_MANY = Parameter.VAR_POSITIONAL


def signature_of(function: Callable[..., Any]) -> str:
    """The arguments of a function with their defaults, without their types."""
    found = signature(function)
    plain = [
        each.replace(annotation=Parameter.empty)
        for each in found.parameters.values()
        if each.name not in ("self", "cls")
    ]
    return str(found.replace(parameters=plain, return_annotation=Parameter.empty))


@dataclass(frozen=True)
class CallPosition:
    """Location of the call of this package in a program."""

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
        location = f"{self.name}:{self.line}:{self.column + 1}: "
        if not source:
            return location
        before = source.encode()[: self.column].decode(errors="replace")
        return "\n  ".join((location, *excerpt(source, len(before))))


_NOT_THE_PROGRAM = (PACKAGE_FOLDER, contextlib.__file__)
"""Where calls pass through: a `with` block of a program enters its generator by contextlib."""


def find_call() -> CallPosition | None:
    """The location in the program from which this package was called; None if there is none."""
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_code.co_filename.startswith(_NOT_THE_PROGRAM):
        frame = frame.f_back
    return None if frame is None else _position(frame.f_code, frame.f_lasti, frame.f_lineno)


def _position(code: CodeType, instruction: int, line: int) -> CallPosition:
    positions = next(islice(code.co_positions(), instruction // 2, None), None)
    column = 0 if positions is None or positions[2] is None else positions[2]
    return CallPosition(code.co_filename, line, column)


def locate_call() -> str:
    """`file:line:col: `, the source line and a caret; empty if nobody called this package."""
    call = find_call()
    return "" if call is None else call.show()


def locate_traceback(error: BaseException) -> str:
    """The same for the last line of the program in the traceback of an error."""
    place = ""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if not code.co_filename.startswith(PACKAGE_FOLDER):
            place = _position(code, trace.tb_lasti, trace.tb_lineno).show()
        trace = trace.tb_next
    return place
