"""Names of ttnn with a dot: `ttnn.transformer`, `ttnn.experimental` and others are modules of them.

Their names are those of the registry behind the dot, so that a module here says only which.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttmlir.errors import MissingNameError
from ttmlir.ttnn import registry


def names_below(prefix: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of the module that has the names `prefix.NAME`."""

    def get(name: str) -> Any:
        if name.startswith("__"):
            raise MissingNameError(f"module 'ttnn.{prefix}' has no attribute {name!r}")
        full = f"{prefix}.{name}"
        try:
            return registry.find(full)
        except KeyError:
            raise MissingNameError(registry.explain_missing(full)) from None

    def names() -> list[str]:
        known = (name.partition(".") for name in registry.known_names())
        return [rest for first, _, rest in known if first == prefix and rest]

    return get, names


def all_names(module: str) -> Callable[[str], Any]:
    """`__getattr__` of a module of ttnn's own that has names which `ttnn` itself has, too."""

    def get(name: str) -> Any:
        if name.startswith("__"):
            raise MissingNameError(f"module 'ttnn.{module}' has no attribute {name!r}")
        try:
            return registry.find(name)
        except KeyError:
            raise MissingNameError(registry.explain_missing(name)) from None

    return get
