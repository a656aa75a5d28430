"""What JAX cannot trace, because it depends on the numbers in an array, and what to write instead.

JAX's own messages speak of tracers, and of `jit` decorators that a model may not have.
"""

from __future__ import annotations

import traceback
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr

from ttmlir.files import PACKAGE_FOLDER
from ttmlir.frontend.errors import LIBRARIES, in_terms_of_the_user
from ttmlir.mlir.reporting.diagnostics import LocatedError
from ttmlir.mlir.reporting.locations import file_location

_SHAPE = (
    "a shape depends on the numbers in an array; size= fixes that of jnp.nonzero, jnp.unique, "
    "jnp.argwhere and jnp.where(mask), total_repeat_length= that of jnp.repeat, and "
    "jnp.where(mask, x, other) keeps the shape"
)
_SLICE = (
    "the bounds of a slice depend on the numbers in an array; jax.lax.dynamic_slice takes a part "
    "of a known size at any place"
)
_NUMBER = (
    "Python takes a number out of an array; compute with the array, or make the argument a static "
    "one by functools.partial"
)
_REASONS = (
    (
        "TracerBoolConversionError",
        "Python decides by the numbers in an array; jnp.where(condition, a, b) chooses between "
        "arrays, jax.lax.cond(condition, f, g, *args) between functions, and jax.lax.while_loop "
        "repeats one",
    ),
    (
        "TracerArrayConversionError",
        "NumPy computes with an array of JAX, or Python indexes with one; jax.numpy has NumPy's "
        "functions, and jnp.asarray(list)[i] takes an element",
    ),
    (
        "TracerIntegerConversionError",
        "Python indexes or counts with a number in an array; jnp.asarray(list)[i] takes an "
        "element, jax.lax.fori_loop repeats a function",
    ),
    ("NonConcreteBooleanIndexError", _SHAPE),
)
"""Why by the names of JAX's errors, the special ones first."""
_NAMES_OF_SHAPES = ("nonzero", "unique", "where", "repeat", "arange", "argwhere", "bincount")
"""Functions of JAX whose results have shapes that depend on numbers."""
_BY_MESSAGE = (
    ("Shapes must be 1D sequences of concrete values", _SHAPE),
    ("Slice entries must be static integers", _SLICE),
)
"""Why by what JAX says in errors of Python's own kinds."""


@contextmanager
def tracing(name: str) -> Generator[None]:
    """Errors of JAX about unknown numbers become refusals at the user's line."""
    with in_terms_of_the_user(name):
        try:
            yield
        except (TypeError, IndexError) as error:
            reason = _reason_of(error)
            if reason is None:
                raise
            message = f"JAX cannot trace this: {reason}"
            raise LocatedError(_place_of(error), message) from None


def _reason_of(error: Exception) -> str | None:
    """Why a model cannot be traced, and what to write; None for an error of another kind."""
    errors: Any = import_module("jax.errors")
    for name, reason in _REASONS:
        if isinstance(error, getattr(errors, name)):
            return reason
    if isinstance(error, errors.ConcretizationTypeError):
        functions = {frame.name.lstrip("_") for frame in _frames_of(error)}
        return _SHAPE if functions & set(_NAMES_OF_SHAPES) else _NUMBER
    text = str(error)
    return next((reason for start, reason in _BY_MESSAGE if text.startswith(start)), None)


def _frames_of(error: Exception) -> list[traceback.FrameSummary]:
    return list(traceback.extract_tb(error.__traceback__))


def _place_of(error: Exception) -> LocationAttr:
    """The innermost line that is of no library, or that compiles the model."""
    frames = [*traceback.extract_stack(), *_frames_of(error)]
    for frame in reversed(frames):
        if frame.lineno is not None and not frame.filename.startswith(_NOT_THE_USERS):
            return file_location(frame.filename, frame.lineno, (frame.colno or 0) + 1)
    return UNKNOWN_LOC


_NOT_THE_USERS = (*LIBRARIES, PACKAGE_FOLDER, "<frozen ")
