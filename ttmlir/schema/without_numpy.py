"""Imports flatbuffers without NumPy, which takes longer to load than a small file to write.

The package imports NumPy for arrays of numbers, which nothing here stores or reads by it. To its
modules that NumPy is an object which imports it when something of it is used, so that programs
which use the package for arrays, too, find it as ever.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType


class _LaterModule(ModuleType):
    """A module that is imported when something of it is used."""

    def __getattr__(self, name: str) -> object:
        return getattr(import_module(self.__name__), name)


def _import_without_numpy() -> None:
    package = find_spec("flatbuffers")
    assert package is not None, "flatbuffers is installed with this package"
    name = "flatbuffers.compat"
    [folder, *_] = package.submodule_search_locations or [""]
    spec = spec_from_file_location(name, Path(folder) / "compat.py")
    assert spec is not None, "a file has a loader"
    assert spec.loader is not None
    compat = module_from_spec(spec)
    spec.loader.exec_module(compat)
    setattr(compat, "import_numpy", lambda: _LaterModule("numpy"))  # noqa: B010
    sys.modules[name] = compat
    import_module("flatbuffers")


if not {"flatbuffers", "numpy"} & sys.modules.keys():
    _import_without_numpy()
