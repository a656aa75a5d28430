"""What JAX cannot trace, because it depends on the numbers in an array, and what to write instead.

JAX's own messages speak of tracers, and of `jit` decorators that a model may not have.
"""

from __future__ import annotations

import traceback
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr

from ttmlir.files import PACKAGE_FOLDER
from ttmlir.frontend.errors import CALLED, in_terms_of_the_user, is_installed, is_of_library
from ttmlir.mlir.reporting.diagnostics import Diagnostic, LocatedError, note
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
_STATE_ERROR = "TraceContextError"
"""The error of flax.nnx about variables that a traced function changes."""
_STATE = (
    "the function changes a variable of a module that was made outside of it; pass the module "
    "itself to ttmlir.compile, or call a copy that the function makes: nnx.clone(model)(x)"
)
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
        except Exception as error:
            reason = _reason_of(error)
            if reason is None:
                raise
            place, notes = _places_of(error)
            raise LocatedError(place, f"JAX cannot trace this: {reason}", notes) from None


def _reason_of(error: Exception) -> str | None:
    """Why a model cannot be traced, and what to write; None for an error of another kind."""
    errors: Any = import_module("jax.errors")
    for name, reason in _REASONS:
        if isinstance(error, getattr(errors, name)):
            return reason
    if isinstance(error, errors.ConcretizationTypeError):
        functions = {frame.name.lstrip("_") for frame in _frames_of(error)}
        return _SHAPE if functions & set(_NAMES_OF_SHAPES) else _NUMBER
    if type(error).__name__ == _STATE_ERROR:
        return _STATE
    text = str(error)
    return next((reason for start, reason in _BY_MESSAGE if text.startswith(start)), None)


def _frames_of(error: Exception) -> list[traceback.FrameSummary]:
    return list(traceback.extract_tb(error.__traceback__))


def _places_of(error: Exception) -> tuple[LocationAttr, Sequence[Diagnostic]]:
    """The innermost line of a model, and a note at the user's own if that is a library's."""
    frames = [
        frame
        for frame in (*traceback.extract_stack(), *_frames_of(error))
        if frame.lineno is not None
    ]
    own = [frame for frame in frames if _is_the_users(frame.filename)]
    if type(error).__name__ == _STATE_ERROR:
        return _location_of(own), ()
    models = [frame for frame in frames if frame in own or is_of_library(frame.filename)]
    if not own or models[-1] is own[-1]:
        return _location_of(models), ()
    return _location_of(models), [note(_location_of(own), CALLED)]


def _is_the_users(file: str) -> bool:
    return not is_installed(file) and not file.startswith((PACKAGE_FOLDER, "<frozen "))


def _location_of(frames: Sequence[traceback.FrameSummary]) -> LocationAttr:
    if not frames:
        return UNKNOWN_LOC
    last = frames[-1]
    return file_location(last.filename, last.lineno or 1, (last.colno or 0) + 1)
