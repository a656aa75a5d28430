"""What was read of headers in this process, with all that it depends on.

What a header says depends on its text, on the macros that are defined before it, on the headers
that it includes and on which of them have been read already. Two kernels, and the roles of a
compute kernel, mostly agree in these.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ttmlir.cpp.preprocessor.include_path import Found, HeaderText, IncludePath
from ttmlir.cpp.preprocessor.macros import Macro
from ttmlir.cpp.preprocessor.tokens import SourceText
from ttmlir.cpp.tree import Header

_MAX_HEADERS = 1024
_MAX_FORMS = 16
"""How many forms of a header are kept: the roles of kernels, and a few kernels that differ."""


class IncludedSize(NamedTuple):
    """How much was included."""

    headers: int = 0
    """How many headers, each as often as it was."""
    length: int = 0
    """How many characters."""
    depth: int = 0
    """How many headers within each other."""


@dataclass(frozen=True)
class Lookup:
    """An `#include` or `__has_include`, and what it found."""

    name: str
    is_quoted: bool
    includer: SourceText
    found: Found
    was_read: bool
    """Whether it had been read before, with `#pragma once`."""

    @property
    def identity(self) -> str:
        """What `#pragma once` knows the header by."""
        return "" if self.found.header is None else self.found.header.identity

    def is_current(self, include_path: IncludePath) -> bool:
        """Whether the header is found again, as it was."""
        found = include_path.find(self.name, is_quoted=self.is_quoted, includer=self.includer)
        return found.status == self.found.status and found.header is self.found.header


@dataclass(frozen=True, kw_only=True)
class Dependencies:
    """What the reading of a source depends on, apart from its text."""

    defined: Mapping[str, Macro]
    """The macros before it that mattered."""
    undefined: frozenset[str]
    """The names that would have mattered, had they been macros."""
    lookups: tuple[Lookup, ...]

    def fits(self, include_path: IncludePath, macros: Mapping[str, Macro], once: set[str]) -> bool:
        """Whether the source would be read the same."""
        if not self.undefined.isdisjoint(macros):
            return False
        for name, macro in self.defined.items():
            if not macro.is_like(macros.get(name)):
                return False
        return all(
            (each.identity in once) == each.was_read and each.is_current(include_path)
            for each in self.lookups
        )


@dataclass(frozen=True, kw_only=True)
class Fragment(Dependencies):
    """A header as it was read, with what it needed and what it left."""

    header: Header
    changed: Mapping[str, Macro | None]
    """What the macros are behind it that it has defined, or None."""
    once: frozenset[str]
    size: IncludedSize
    """What it takes of the limits, itself included."""

    def apply(self, macros: dict[str, Macro], once: set[str]) -> None:
        """Do to the macros what the header did."""
        for name, macro in self.changed.items():
            if macro is None:
                macros.pop(name, None)
            else:
                macros[name] = macro
        once |= self.once


class FragmentCache:
    """Fragments by the headers that they were made of."""

    def __init__(self) -> None:
        """Nothing was read yet."""
        self._fragments = OrderedDict[HeaderText, list[Fragment]]()

    def find(
        self,
        header: HeaderText,
        include_path: IncludePath,
        macros: Mapping[str, Macro],
        once: set[str],
    ) -> Fragment | None:
        """What was read of a header where it says the same."""
        forms = self._fragments.get(header, ())
        return next((each for each in forms if each.fits(include_path, macros, once)), None)

    def keep(self, header: HeaderText, fragment: Fragment) -> None:
        """Keep what was read of a header."""
        forms = self._fragments.setdefault(header, [])
        forms.insert(0, fragment)
        del forms[_MAX_FORMS:]
        self._fragments.move_to_end(header)
        if len(self._fragments) > _MAX_HEADERS:
            self._fragments.popitem(last=False)


FRAGMENTS = FragmentCache()
"""Those of this process."""
