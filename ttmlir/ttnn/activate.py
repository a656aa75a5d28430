"""Importing this module makes `import ttnn` find `ttmlir.ttnn`, where no other ttnn is installed.

The finder comes after all others, so that a real ttnn is never hidden. Nothing else is changed:
`python -m ttmlir script.py`, the first cell of a notebook and `pytest -p ttmlir.ttnn.activate` use
it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

STANDS_FOR = {"ttnn": "ttmlir.ttnn"}
"""Packages by the names that guides import them by."""


class _Alias(Loader):
    """Loads a module that has another name, too."""

    def __init__(self, name: str) -> None:
        """`name` is the module's own."""
        self._name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module itself, not a copy."""
        module = import_module(self._name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module as it was: it has run under its own name."""
        module.__spec__ = self._spec


class Finder(MetaPathFinder):
    """Finds the packages of `STANDS_FOR` by their short names."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module that a name stands for; None for all other names.

        Modules below a package that somebody else has installed are none of ours.
        """
        first, dot, rest = fullname.partition(".")
        if first not in STANDS_FOR:
            return None
        ours = STANDS_FOR[first]
        if dot and sys.modules.get(first) is not sys.modules.get(ours):
            return None
        name = f"{ours}{dot}{rest}"
        found = find_spec(name)
        if found is None:
            return None
        is_package = found.submodule_search_locations is not None
        return ModuleSpec(fullname, _Alias(name), is_package=is_package)


def activate() -> None:
    """Add the finder behind all others, once."""
    if not any(isinstance(each, Finder) for each in sys.meta_path):
        sys.meta_path.append(Finder())


activate()
