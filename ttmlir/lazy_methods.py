"""Dataclasses that are made sooner: their methods are compiled when they are first called.

Python writes six methods for a frozen dataclass and compiles the text of each. A compiler has some
hundred such classes, xDSL's among them, of which one run compares, hashes or prints a few; to
compile all their methods takes a third of the time in which `ttmlir-opt` starts. After
`defer_methods` those of this package and of xDSL wait; all other classes are made as ever. Python
3.13 compiles the methods of a class in one text, and is left as it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

_PACKAGES = ("ttmlir.", "xdsl.")
_NEEDED = "__init__"
"""The method that is called at once or not at all, and of which others ask for the signature."""


@cache
def defer_methods() -> None:
    """Let methods of classes that are defined from now on be compiled at their first call."""
    if (create := getattr(dataclasses, "_create_fn", None)) is not None:
        setattr(dataclasses, "_create_fn", _deferring(create))  # noqa: B010


def _deferring(create: Callable[..., Any]) -> Callable[..., Any]:
    """What makes methods as `create` does, when they are called."""

    def create_later(
        name: str, args: Any, body: Any, *, globals: Mapping[str, Any] | None = None, **given: Any
    ) -> Any:
        module = str((globals or {}).get("__name__", ""))
        if name == _NEEDED or not module.startswith(_PACKAGES):
            return create(name, args, body, globals=globals, **given)
        made: Any = None

        def method(*arguments: Any) -> Any:
            nonlocal made
            if made is None:
                made = create(name, args, body, globals=globals, **given)
                made.__qualname__ = method.__qualname__
                for each in type(arguments[0]).__mro__:
                    if each.__dict__.get(name) is method:
                        setattr(each, name, made)
            return made(*arguments)

        method.__name__ = name
        return method

    return create_later
