"""Attributes of torch's modules and classes, and of users' objects, that are others for a while."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

_NONE_OF_ITS_OWN = object()


@contextmanager
def attributes_replaced(owner: Any, values: Mapping[str, Any]) -> Generator[None]:
    """Let an object, a class or a module have other attributes of its own while the context lasts.

    What `own_attributes` found before may be among them.
    """
    put: Callable[[str, Any], None]
    drop: Callable[[str], None]
    if isinstance(owner, type):
        # Which show what they hold, but do not let anybody write to it.
        put, drop = partial(setattr, owner), partial(delattr, owner)
    else:
        put, drop = owner.__dict__.__setitem__, owner.__dict__.__delitem__

    def write(attributes: Mapping[str, Any]) -> None:
        for name, value in attributes.items():
            if value is not _NONE_OF_ITS_OWN:
                put(name, value)
            elif name in owner.__dict__:
                drop(name)

    before = own_attributes(owner, values)
    write(values)
    try:
        yield
    finally:
        write(before)


def own_attributes(owner: Any, names: Iterable[str]) -> dict[str, Any]:
    """What an object holds by these names, or that it holds nothing, as where a class does.

    Of a class the static methods and such, not the functions that they give.
    """
    return {name: owner.__dict__.get(name, _NONE_OF_ITS_OWN) for name in names}
