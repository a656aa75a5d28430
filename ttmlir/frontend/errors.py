"""What a frontend says about a program that it cannot compile: the user's own line, and why.

    model.py:7:12: error: 'stablehlo.fft' op ... is supported
        return jnp.fft.fft(x)
               ^

Frameworks keep the Python frames of every operation as locations: the location in a message is the
innermost frame of a model. Where that is a library's, a note has the user's line that led there.
"""

from __future__ import annotations

import linecache
import os
import sys
import sysconfig
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import cast

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    NameLoc,
)
from xdsl.ir import Attribute

from ttmlir.errors import CompilationError, MissingPackageError
from ttmlir.mlir.reporting import (
    Diagnostic,
    DiagnosticError,
    Source,
    file_location,
    name_of,
    note,
    render_all,
)


@contextmanager
def in_terms_of_the_user(
    name: str,
    texts: Mapping[str, Source] | None = None,
    *,
    first_column: int = 1,
    file: str = "",
) -> Generator[None]:
    """Refusals inside become `CompilationError`s that quote the user's own lines.

    `texts` are texts that locations may be in, by the file names in those; in other files, which
    are read, columns count from `first_column`. What has no location is reported for the model
    `name`, or, if that is in a `file` without lines, for what the location names in it.
    """
    try:
        yield
    except DiagnosticError as error:
        texts = texts or {}
        shift = 1 - first_column
        diagnostics = [
            in_binary_file(each, file) if file else _at_user_location(each, name, texts, shift)
            for each in error.diagnostics
        ]
        sources = {**texts, **_sources_of(diagnostics)}
        short = (diagnostic.without_operation() for diagnostic in diagnostics)
        text = render_all(short, sources).rstrip("\n")
        raise CompilationError(text, diagnostics) from error


def user_location(location: Attribute) -> FileLineColLoc | None:
    """The innermost frame that a location holds, those of installed libraries left out.

    The innermost of all frames if every one is of a library; None if there is none.
    """
    locations = list(_frames(location))
    own = (found for found in locations if not is_installed(found.filename.data))
    return next(own, next(iter(locations), None))


def _frames(location: Attribute) -> Iterator[FileLineColLoc]:
    """The locations in files that a location holds, callees before callers."""
    pending: list[Attribute] = [location]
    while pending:
        match pending.pop():
            case FileLineColLoc() as found:
                yield found
            case NameLoc(location=inner):
                pending.append(inner)
            case CallSiteLoc(caller=caller, callee=callee):
                pending += (caller, callee)
            case FusedLoc(locations=parts):
                pending += reversed(cast(ArrayAttr[Attribute], parts).data)
            case _:
                pass


def library_location(location: Attribute) -> FileLineColLoc | None:
    """The innermost frame of a location if it is of a library's model that the user calls.

    Frames of Python and of frameworks, which compute what models ask for, are left out.
    """
    for found in _frames(location):
        if is_of_library(found.filename.data):
            return found
        if not is_installed(found.filename.data):
            break
    return None


def is_of_library(file: str) -> bool:
    """True for files of installed packages other than the frameworks."""
    return file.startswith(PACKAGES) and not file.startswith(_FRAMEWORKS)


def is_installed(file: str) -> bool:
    """True for files of Python itself and of installed packages."""
    return file.startswith(LIBRARIES)


PACKAGES = tuple({sysconfig.get_path(kind) + os.sep for kind in ("purelib", "platlib")})
"""Folders of installed packages, which may lie in those of Python."""
LIBRARIES = (*PACKAGES, *{sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib")})
"""Folders of Python itself and of installed packages."""
_FRAMEWORKS = tuple(
    f"{folder}{name}{os.sep}" for folder in PACKAGES for name in ("jax", "jaxlib", "numpy", "torch")
)
CALLED = "the model is called here"
"""A note at the user's line, where a message is about a line of a library."""


def _module_path(location: Attribute) -> str:
    """The modules in the name that JAX gives an operation: `jit(f)/Encoder/Dense_0/dot_general`.

    Names of transformations have parentheses; the last name is that of the operation.
    """
    match location:
        case CallSiteLoc(caller=caller, callee=callee):
            return "/".join(filter(None, map(_module_path, (caller, callee))))
        case NameLoc(desc=name):
            *parts, _ = name.data.split("/")
            return "/".join(part for part in parts if "(" not in part)
        case _:
            return ""


def in_binary_file(diagnostic: Diagnostic, file: str) -> Diagnostic:
    """The message for a file whose parts have names instead of lines."""
    if diagnostic.file:
        return diagnostic
    name = name_of(diagnostic.location)
    message = diagnostic.message
    if name and diagnostic.severity != "note":
        message += f" (in the node '{name}')"
    notes = tuple(in_binary_file(each, file) for each in diagnostic.notes)
    return replace(diagnostic, location=UNKNOWN_LOC, message=message, notes=notes, file=file)


def _at_user_location(
    diagnostic: Diagnostic, name: str, texts: Mapping[str, Source], shift: int
) -> Diagnostic:
    found = user_location(diagnostic.location)
    notes = tuple(_at_user_location(each, name, texts, shift) for each in diagnostic.notes)
    inner = library_location(diagnostic.location)
    if inner is not None and found is not None and inner != found:
        path = _module_path(diagnostic.location)
        where = f" (in the module '{path}')" if path else ""
        diagnostic = replace(diagnostic, message=diagnostic.message + where)
        notes = (*notes, note(_in_file(found, shift), CALLED))
        found = inner
    if found is not None:
        if found.filename.data not in texts:
            found = _in_file(found, shift)
        return replace(diagnostic, location=found, notes=notes)
    message = diagnostic.message
    if diagnostic.severity != "note":
        message += f" (in '{name}')"
    return replace(diagnostic, location=UNKNOWN_LOC, message=message, notes=notes)


def _in_file(found: FileLineColLoc, shift: int) -> FileLineColLoc:
    """The location with its column counted from 1, the file named from the current folder."""
    file = Path(found.filename.data)
    with suppress(OSError):
        if file.is_relative_to(Path.cwd()):
            file = file.relative_to(Path.cwd())
    return file_location(str(file), found.line.data, found.column.data + shift)


def _sources_of(diagnostics: list[Diagnostic]) -> dict[str, Source]:
    """The files that diagnostics and their notes are about, as far as they can be read."""
    sources: dict[str, Source] = {}
    for diagnostic in diagnostics:
        if isinstance(diagnostic.location, FileLineColLoc):
            file = diagnostic.location.filename.data
            # A file may have changed since an earlier model was compiled of it.
            linecache.checkcache(file)
            lines = linecache.getlines(file)
            if lines:
                sources[file] = Source("".join(lines))
        sources |= _sources_of(list(diagnostic.notes))
    return sources


def missing_package(package: str, extra: str, purpose: str) -> MissingPackageError:
    """The error for a framework that is asked for and not installed."""
    return MissingPackageError(
        f"{purpose} needs the package '{package}', which is not installed in {sys.executable}; "
        f'pip install "ttmlir-py[{extra}]" installs it',
        name=package,
    )
