"""Importing this module makes `import ttnn` find `ttmlir.ttnn`, where no other ttnn is installed.

The finder asks all others first, so that a real ttnn is never hidden. A folder `ttnn` without an
`__init__.py`, as in a checkout of tt-metal, is not one: Python alone would take it for an empty
package. Nothing else is changed: `python -m ttmlir script.py`, the first cell of a notebook and
`pytest -p ttmlir.ttnn.activate` use it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

from ttmlir.errors import ImportOrderError

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
        if sys.modules.get(first) is not sys.modules.get(ours) if dot else _is_installed(first):
            return None
        name = f"{ours}{dot}{rest}"
        found = find_spec(name)
        if found is None:
            return None
        is_package = found.submodule_search_locations is not None
        return ModuleSpec(fullname, _Alias(name), is_package=is_package)


def _is_installed(name: str) -> bool:
    """Whether another finder has a package of a name, not only a folder."""
    others = (each for each in sys.meta_path if not isinstance(each, Finder))
    specs = (each.find_spec(name, None) for each in others)
    return any(spec is not None and spec.loader is not None for spec in specs)


def activate() -> None:
    """Add the finder before all others, once.

    ImportError if a folder was imported by one of the names before.
    """
    for name in STANDS_FOR:
        module = sys.modules.get(name)
        spec = None if module is None else module.__spec__
        if spec is not None and spec.origin is None and spec.submodule_search_locations:
            folder = next(iter(spec.submodule_search_locations))
            raise ImportOrderError(
                f"'import {name}' came before the import that makes it find {STANDS_FOR[name]}, "
                f"and found the folder '{os.path.relpath(folder)}', which is empty for Python: it "
                f"has no __init__.py. Import ttmlir.ttnn.activate or pykernel before {name}, or "
                "run the script by 'python -m ttmlir script.py'"
            )
    if not any(isinstance(each, Finder) for each in sys.meta_path):
        sys.meta_path.insert(0, Finder())


activate()
