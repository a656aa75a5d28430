"""Source locations: what they say, and how to make them.

`ttmlir.ir.pattern_rewriting` holds the driver that gives new operations the location of the old.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, cast

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
)
from xdsl.ir import Attribute


class FileLineCol(NamedTuple):
    """A place in a file; lines and columns count from 1, columns in bytes."""

    file: str
    line: int
    column: int


def file_line_col(location: Attribute) -> FileLineCol | None:
    """The first place in a file that a location holds, outermost first, or None."""
    for part in _parts(location):
        if isinstance(part, FileLineColLoc):
            return FileLineCol(part.filename.data, part.line.data, part.column.data)
    return None


def name_of(location: Attribute) -> str | None:
    """The first name (`loc("name")`) that a location holds, outermost first, or None."""
    return next((part.desc.data for part in _parts(location) if isinstance(part, NameLoc)), None)


def override_name(location: Attribute) -> str | None:
    """The name under which options pick an operation, or None for an unknown location.

    That is the name of a named location, `caller/callee` for a call site of two names, the first
    of several fused ones, and `file.mlir:12`, without folders, for a place in a file.
    """
    match location:
        case NameLoc():
            return location.desc.data
        case CallSiteLoc():
            names = (name_of(location.caller), name_of(location.callee))
            return "/".join(name for name in names if name is not None) or None
        case FusedLoc():
            first = cast(ArrayAttr[Attribute], location.locations).data[:1]
            return override_name(first[0]) if first else None
        case FileLineColLoc():
            file = re.split(r"[/\\]", location.filename.data)[-1]
            return f"{file}:{location.line.data}"
        case _:
            return None


def _parts(location: Attribute) -> Iterator[Attribute]:
    """A location and those that it is made of, outermost first; what it shares comes once."""
    pending: list[Attribute] = [location]
    seen: set[int] = set()
    while pending:
        current = pending.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        match current:
            case NameLoc():
                pending.append(current.location)
            case CallSiteLoc():
                pending += (current.caller, current.callee)
            case FusedLoc():
                pending += reversed(cast(ArrayAttr[Attribute], current.locations).data)
            case _:
                pass


@lru_cache(maxsize=1 << 14)
def _number(value: int) -> IntAttr:
    return IntAttr(value)


@lru_cache(maxsize=64)
def _file(name: str) -> StringAttr:
    return StringAttr(name)


def file_location(file: str, line: int, column: int) -> FileLineColLoc:
    """`loc("file":line:column)`."""
    return FileLineColLoc(_file(file), _number(line), _number(column))


def name_location(name: str, child: LocationAttr | None = None) -> NameLoc:
    """`loc("name")` or `loc("name"(child))`."""
    return NameLoc(StringAttr(name), NoneAttr() if child is None else child)


def fused_location(locations: Sequence[LocationAttr]) -> LocationAttr:
    """The location of something made from several: duplicates and unknown ones are dropped."""
    known = list(dict.fromkeys(loc for loc in locations if loc != UNKNOWN_LOC))
    if not known:
        return UNKNOWN_LOC
    return known[0] if len(known) == 1 else FusedLoc(tuple(known), NoneAttr())
