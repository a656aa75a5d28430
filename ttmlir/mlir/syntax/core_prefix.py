"""The prefix of the dialect of tiles, grids, memories and devices: `tt` or `ttcore`.

Until June 2025 its name was `tt`. Both prefixes are read into the same classes, which are called
`tt.` in memory; what exists only in the later form is called `ttcore.`. A module is printed with
one of them: `ttcore` if it was read so or holds operations or attributes of the later form, else
`tt`. Messages about a module that is being read or verified use its prefix, too.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from typing import cast
from weakref import WeakSet

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, Operation, ParametrizedAttribute

TT = "tt"
TTCORE = "ttcore"

_SHARED_KEYS = {"tt.system_desc": "ttcore.system_desc"}
"""Names of attributes of modules in both spellings."""
_KEYS_READ = {late: name for name, late in _SHARED_KEYS.items()}
_LATE_DIALECTS = ("ttcore", "d2m")
_LATE_MODULE = "ttmlir.dialects.ttcore"
"""Until it is imported, nothing of the later form can be in an IR."""

_current: ContextVar[str] = ContextVar("core_prefix", default=TT)
_read_as_ttcore: WeakSet[Operation] = WeakSet()


def core_prefix() -> str:
    """The prefix in which texts are made and read now."""
    return _current.get()


@contextmanager
def use_core_prefix(prefix: str) -> Generator[None]:
    """Make texts in a spelling."""
    token = _current.set(prefix)
    try:
        yield
    finally:
        _current.reset(token)


def note_ttcore() -> None:
    """Remember that the text that is read has the later prefix."""
    if _current.get() != TTCORE:
        _current.set(TTCORE)


def mark_as_read(module: Operation) -> None:
    """Let a module that was just read be printed as it was spelled."""
    if core_prefix() == TTCORE:
        _read_as_ttcore.add(module)


def core_prefix_of(op: Operation) -> str:
    """The prefix that an operation, and all of the module around it, is printed with."""
    if _LATE_MODULE not in sys.modules:
        return TT
    while (parent := op.parent_op()) is not None:
        op = parent
    if op in _read_as_ttcore or _holds_late(op):
        return TTCORE
    return TT


def prefix_of_attribute(attr: Attribute) -> str:
    """The prefix for the text of an attribute on its own."""
    if _current.get() == TT and _LATE_MODULE in sys.modules and _is_late(attr, {}):
        return TTCORE
    return _current.get()


def spelled_name(name: str, prefix: str) -> str:
    """The name of an attribute or type as it is printed."""
    return f"{TTCORE}.{name[3:]}" if prefix == TTCORE and name.startswith("tt.") else name


def spelled_key(key: str, prefix: str) -> str:
    """The name of an entry of a dictionary as it is printed."""
    return _SHARED_KEYS.get(key, key) if prefix == TTCORE else key


def key_as_read(key: str) -> str:
    """The name of an entry of a dictionary in memory."""
    return _KEYS_READ.get(key, key)


def other_spelling(name: str) -> str | None:
    """An attribute's or type's name with the other prefix, or None if it has neither."""
    dialect, _, rest = name.partition(".")
    other = {TT: TTCORE, TTCORE: TT}.get(dialect)
    return None if other is None else f"{other}.{rest}"


def _holds_late(root: Operation) -> bool:
    known: dict[int, bool] = {}
    for op in root.walk():
        if op.dialect_name() in _LATE_DIALECTS:
            return True
        types: Iterable[Attribute] = (result.type for result in op.results)
        if any(_is_late(type, known) for type in types):
            return True
        for region in op.regions:
            for block in region.blocks:
                if any(_is_late(argument.type, known) for argument in block.args):
                    return True
    return False


def _is_late(attr: Attribute, known: dict[int, bool]) -> bool:
    """True if an attribute or a part of it exists only in the later form."""
    found = known.get(id(attr))
    if found is None:
        found = attr.name.partition(".")[0] in _LATE_DIALECTS
        known[id(attr)] = found
        known[id(attr)] = found = found or any(_is_late(part, known) for part in _parts(attr))
    return found


def _parts(attr: Attribute) -> Iterable[Attribute]:
    if isinstance(attr, ParametrizedAttribute):
        return attr.parameters
    return cast("ArrayAttr[Attribute]", attr).data if isinstance(attr, ArrayAttr) else ()
