"""Dataclasses that are made sooner: their methods are compiled when they are first used.

Python writes up to seven methods for a dataclass and compiles the text of each. A compiler has some
hundred such classes, xDSL's among them, of which one run makes, compares or prints a few; to
compile all their methods takes a quarter of the time in which `ttmlir-opt` starts. After
`defer_methods` those of this package and of xDSL wait, as do xDSL's definitions of attributes and
formats; all other classes are made as ever. Python 3.13 compiles the methods of a class in one
text, and is left as it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

_PACKAGES = ("ttmlir.", "xdsl.")


@cache
def defer_methods() -> None:
    """Let methods of classes that are defined from now on be compiled at their first use."""
    # pyright knows no names of the standard library that begin with an underscore.
    module: Any = dataclasses
    if getattr(module, "_create_fn", None) is None or getattr(module, "_init_fn", None) is None:
        return
    module._create_fn = _deferring_methods(module._create_fn)
    module._init_fn = _deferring_initializers(module._init_fn)
    module._process_class = _processing(module._process_class)


def _waits(module: object) -> bool:
    """True for the modules whose classes are made sooner."""
    return str(module).startswith(_PACKAGES)


class _LaterMethod:
    """Stands in a class for a method until that is used, which puts the method there."""

    def __init__(self, name: str, make: Callable[[], Any]) -> None:
        self.__name__ = name
        self._make = make
        self._made: Any = None

    def __get__(self, instance: object, owner: type) -> Any:
        made = self._method()
        for each in owner.__mro__:
            if each.__dict__.get(self.__name__) is self:
                made.__qualname__ = f"{each.__qualname__}.{self.__name__}"
                setattr(each, self.__name__, made)
        return made if instance is None else made.__get__(instance, owner)

    def __call__(self, *arguments: Any) -> Any:
        # As the method that another one wraps.
        return self._method()(*arguments)

    def _method(self) -> Any:
        if self._made is None:
            self._made = self._make()
        return self._made


def _deferring_methods(create: Callable[..., Any]) -> Callable[..., Any]:
    """What makes methods as `create` does, when they are used."""

    def create_later(
        name: str, args: Any, body: Any, *, globals: Mapping[str, Any] | None = None, **given: Any
    ) -> Any:
        if name == "__init__" or not _waits((globals or {}).get("__name__")):
            return create(name, args, body, globals=globals, **given)
        return _LaterMethod(name, lambda: create(name, args, body, globals=globals, **given))

    return create_later


def _deferring_initializers(create: Callable[..., Any]) -> Callable[..., Any]:
    """What makes `__init__` as `create` does, when it is used."""

    def create_later(*given: Any) -> Any:
        # Fields of three kinds, two facts about the class, a name, and the globals of its module.
        module: Mapping[str, Any] = given[6]
        if not _waits(module.get("__name__")):
            return create(*given)
        return _LaterMethod("__init__", lambda: create(*given))

    return create_later


def _processing(process: Callable[..., Any]) -> Callable[..., Any]:
    """What processes classes as `process` does, but asks for no signature to document them."""

    def process_sooner(cls: Any, *given: Any, **named: Any) -> Any:
        if not _waits(cls.__module__):
            return process(cls, *given, **named)
        if not cls.__doc__:
            cls.__doc__ = cls.__name__
        made = process(cls, *given, **named)
        if maker := _MAKERS.get(f"{made.__module__}.{made.__name__}"):
            _defer_making(made, *maker)
        return made

    return process_sooner


# --- Definitions ----------------------------------------------------------------------------------
# xDSL evaluates the annotations of each attribute's class and parses the format of each operation
# when a dialect is loaded. Those of its own dialects and of this package's are known to be right.

_WITH_FORMATS = frozenset(("arith", "cf", "func", "linalg", "math", "memref", "scf", "tensor"))


def _is_of_known_dialect(text: str, operation: Any) -> bool:
    return operation.name.partition(".")[0] in _WITH_FORMATS


def _is_known_attribute(attribute: type) -> bool:
    return _waits(attribute.__module__)


_MAKERS: Mapping[str, tuple[str, Callable[..., bool]]] = {
    "xdsl.irdl.attributes.ParamAttrDef": ("from_pyrdl", _is_known_attribute),
    "xdsl.irdl.declarative_assembly_format.FormatProgram": ("from_str", _is_of_known_dialect),
}
"""Static methods that make instances, and whether one can wait until something of it is used."""


def _defer_making(cls: Any, name: str, can_wait: Callable[..., bool]) -> None:
    """Let a static method of a class give instances that are made when they are used."""
    make = getattr(cls, name)

    class Later(cls):
        def __init__(self, given: tuple[Any, ...]) -> None:
            self.__dict__["given"] = given

        def __getattr__(self, attribute: str) -> Any:
            # Asked for what an instance has not: all, until it is made.
            given: Any = self.__dict__.pop("given", None)
            if given is not None:
                self.__dict__.update(make(*given).__dict__)
            return object.__getattribute__(self, attribute)

    def make_later(*given: Any) -> Any:
        return Later(given) if can_wait(*given) else make(*given)

    setattr(cls, name, staticmethod(make_later))
