"""Dataclasses that are made sooner: their methods are compiled when they are used often.

Python writes up to seven methods for a dataclass and compiles the text of each. A compiler has some
hundred such classes, xDSL's among them, of which one run makes, compares or prints a few; to
compile all their methods takes a quarter of the time in which `ttmlir-opt` starts. After
`defer_methods` those of this package and of xDSL wait: the first instances of a class are made and
compared field by field. So do xDSL's definitions of attributes and formats; all other classes are
made as ever. Python 3.13 compiles the methods of a class in one text, and is left as it is.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
import re
import sys
from abc import ABCMeta
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from types import MethodType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

_PACKAGES = ("ttmlir.", "xdsl.")
_FEW = 16
"""Calls that take as long as compiling a method."""

# pyright knows no names of the standard library that begin with an underscore.
_dataclasses: Any = dataclasses


@cache
def defer_methods() -> None:
    """Let methods of classes that are defined from now on be compiled when they are used often."""
    if not hasattr(_dataclasses, "_create_fn") or not hasattr(_dataclasses, "_init_fn"):
        return
    _dataclasses._create_fn = _deferring_methods(_dataclasses._create_fn)
    _dataclasses._init_fn = _deferring_initializers(_dataclasses._init_fn)
    _dataclasses._process_class = _processing(_dataclasses._process_class)
    _dataclasses._is_type = _testing_types(_dataclasses._is_type)
    if _IRDL_LOADER not in sys.modules:
        module: Any = ModuleType(_IRDL_LOADER)
        module.IRDLDialectFinder = _LaterFinder
        sys.modules[_IRDL_LOADER] = module


def _waits(module: object) -> bool:
    """True for the modules whose classes are made sooner."""
    return str(module).startswith(_PACKAGES)


class _LaterMethod:
    """Stands in a class for a method until that is used often, which puts the method there.

    `first` does the same for the first calls on instances.
    """

    def __init__(
        self, name: str, make: Callable[[], Any], first: Callable[..., Any] | None = None
    ) -> None:
        self.__name__ = name
        self._make = make
        self._made: Any = None
        self._first: Any = first
        self._uses = 0 if first is not None else _FEW

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is not None and self._uses < _FEW:
            self._uses += 1
            return MethodType(self._first, instance)
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


_COMPARED = re.compile(r"\bself\.(\w+),")
"""A field in the texts of `__eq__` and `__hash__`, which have `(self.x,self.y,)`."""


def _deferring_methods(create: Callable[..., Any]) -> Callable[..., Any]:
    """What makes methods as `create` does, when they are used."""

    def create_later(
        name: str, args: Any, body: Any, *, globals: Mapping[str, Any] | None = None, **given: Any
    ) -> Any:
        if name == "__init__" or not _waits((globals or {}).get("__name__")):
            return create(name, args, body, globals=globals, **given)
        names = _COMPARED.findall("".join(body)) if name in _FIRST else ()
        first = _FIRST[name](_fields_getter(names)) if names else None
        return _LaterMethod(name, lambda: create(name, args, body, globals=globals, **given), first)

    return create_later


FieldsGetter = Callable[[object], tuple[object, ...]]


def _fields_getter(names: Sequence[str]) -> FieldsGetter:
    get: Any = attrgetter(*names)
    return get if len(names) > 1 else lambda instance: (get(instance),)


def _first_comparison(get: FieldsGetter) -> Callable[[object, object], bool]:
    def compare(self: object, other: object) -> bool:
        return get(self) == get(other) if other.__class__ is self.__class__ else NotImplemented

    return compare


def _first_hash(get: FieldsGetter) -> Callable[[object], int]:
    return lambda self: hash(get(self))


_FIRST: Mapping[str, Callable[[FieldsGetter], Callable[..., object]]] = {
    "__eq__": _first_comparison,
    "__hash__": _first_hash,
}
"""How instances are compared and hashed without compiling a method for it."""


def _deferring_initializers(create: Callable[..., Any]) -> Callable[..., Any]:
    """What makes `__init__` as `create` does, when it is used often."""

    def create_later(fields: Any, positional: Any, keyword: Any, *given: Any) -> Any:
        is_frozen, has_post_init, _, module, has_slots = given
        if not _waits(module.get("__name__")):
            return create(fields, positional, keyword, *given)

        def make() -> Any:
            return create(fields, positional, keyword, *given)

        first = None
        if not has_slots and all(each._field_type is _dataclasses._FIELD for each in fields):
            names = [each.name for each in positional]
            assign = object.__setattr__ if is_frozen else setattr
            first = _first_initializer(fields, names, assign, has_post_init, make)
        return _LaterMethod("__init__", make, first)

    return create_later


def _first_initializer(
    fields: Sequence[Any],
    positional: Sequence[str],
    assign: Callable[[object, str, object], None],
    has_post_init: bool,
    make: Callable[[], Any],
) -> Callable[..., None]:
    """What gives an instance its fields one by one; wrong arguments are left to what is made."""
    missing = dataclasses.MISSING

    def initialize(self: Any, /, *given: Any, **named: Any) -> None:
        values = dict(zip(positional, given, strict=False))
        if len(given) > len(positional) or values.keys() & named.keys():
            return make()(self, *given, **named)
        values.update(named)
        for each in fields:
            if each.init and each.name in values:
                value = values.pop(each.name)
            elif each.default_factory is not missing:
                value = each.default_factory()
            elif not each.init:
                continue
            elif each.default is not missing:
                value = each.default
            else:
                return make()(self, *given, **named)
            assign(self, each.name, value)
        if values:
            return make()(self, *given, **named)
        if has_post_init:
            self.__post_init__()
        return None

    return initialize


def _processing(process: Callable[..., Any]) -> Callable[..., Any]:
    """What processes classes as `process` does, but asks for no signature to document them."""

    def process_sooner(cls: Any, *given: Any, **named: Any) -> Any:
        if not _waits(cls.__module__):
            return process(cls, *given, **named)
        if not cls.__doc__:
            cls.__doc__ = cls.__name__
        made = process(cls, *given, **named)
        name = f"{made.__module__}.{made.__name__}"
        if name in _ABSTRACT:
            made.__class__ = _OfRealClasses
        if maker := _MAKERS.get(name):
            _defer_making(made, *maker)
        return made

    return process_sooner


def _testing_types(test: Callable[..., bool]) -> Callable[..., bool]:
    """What looks in annotations for `ClassVar`, `InitVar` and `KW_ONLY`, of which few have one."""

    def test_sooner(annotation: str, cls: type, *given: Any) -> bool:
        can_be = "Var" in annotation or "KW_ONLY" in annotation or not _waits(cls.__module__)
        return can_be and test(annotation, cls, *given)

    return test_sooner


class _OfRealClasses(ABCMeta):
    """Makes abstract classes whose subclasses are all real ones.

    Python looks for virtual ones in all of them, hundreds, when it is asked for the kind of a class
    or of an instance, which passes do for each operation.
    """

    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__


_ABSTRACT = ("xdsl.ir.core.Attribute", "xdsl.ir.core.Operation", "xdsl.ir.core.Block")
"""Classes of that kind."""


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
            # Asked for what an instance has not: all, until it is made, by one thread or by each.
            given: Any = self.__dict__.get("given")
            if given is not None:
                self.__dict__.update(make(*given).__dict__)
                object.__setattr__(self, "__class__", cls)
                self.__dict__.pop("given", None)
            return object.__getattribute__(self, attribute)

    def make_later(*given: Any) -> Any:
        return Later(given) if can_wait(*given) else make(*given)

    setattr(cls, name, staticmethod(make_later))


# --- Dialects in IRDL -----------------------------------------------------------------------------
# xDSL looks for modules that Python does not find in files of IRDL, for which it imports half of
# the standard library.

_IRDL_LOADER = "xdsl.utils.dialect_loader"


class _LaterFinder:
    """Stands in for xDSL's finder until a package has such a file.

    In the current folder, where the files of users are, it does not look.
    """

    def __init__(self, dialects: Callable[[], Any]) -> None:
        self._dialects = dialects

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        file = f"{name.rpartition('.')[2]}.irdl"
        if not any(os.path.isfile(os.path.join(folder, file)) for folder in path or ()):
            return None
        sys.modules.pop(_IRDL_LOADER)
        finder: Any = importlib.import_module(_IRDL_LOADER).IRDLDialectFinder
        return finder(self._dialects).find_spec(name, path, target)
