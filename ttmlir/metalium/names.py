"""Public names that are loaded on first use, and what is said about names that there are not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

from ttmlir.errors import MissingNameError

NAMESPACES = ("distributed", "detail", "experimental", "tt_fabric")
"""Namespaces of C++ that are modules below this package."""


def load_names(namespace: str, homes: Mapping[str, Sequence[str]]) -> Callable[[str], object]:
    """What loads the names of a module from the modules that define them.

    AttributeError for others, with the namespace that has the name, or with one that is alike.
    """
    modules = {name: module for module, names in homes.items() for name in names}

    def load(name: str) -> object:
        module = modules.get(name)
        if module is not None:
            return getattr(import_module(module), name)
        raise MissingNameError(
            f"module {namespace!r} has no attribute {name!r}{_advise(namespace, name, modules)}"
        )

    return load


def _advise(namespace: str, name: str, known: Mapping[str, str]) -> str:
    if name.startswith("_"):
        return ""
    for other in NAMESPACES:
        module = import_module(f"ttmlir.metalium.{other}")
        if module.__name__ != namespace and name in module.__all__:
            return f"; it is {other}.{name}"
    if namespace != "ttmlir.metalium" and name in import_module("ttmlir.metalium").__all__:
        return "; it is a name of ttmlir.metalium"
    from ttmlir.metalium.errors import suggest

    return suggest(name, known) or "; docs/metalium_names.md lists the names of C++"
