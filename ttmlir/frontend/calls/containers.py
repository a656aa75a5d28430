"""Containers of arrays: nested tuples, dictionaries, dataclasses, caches of language models.

    layout, leaves = read_layout(value, opener)
    layout.flatten(other_value, "x")       # the arrays in it, or InputError
    layout.unflatten(iter(arrays))         # a value of the same kind

What a container is, is decided by its kind alone: no class has to be registered. An object of any
other class is one if arrays are found in its attributes, as in the caches of transformers.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, cast

from ttmlir.runtime.errors import InputError
from ttmlir.runtime.signature import LEAF, Structure, constant, dict_of

MAX_DEPTH = 64
"""Deepest nesting that is looked into."""

_PLAIN = (str, bytes, int, float, complex, type, ModuleType)
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType)


@dataclass(frozen=True)
class Opened:
    """One level of a container."""

    names: tuple[str, ...]
    """How each child is reached: `[0]`, `['w']`, `.keys`."""
    children: tuple[Any, ...]
    rebuild: Callable[[Sequence[Any]], Any]
    """A container of the same kind with other children."""
    kind: str
    """An enumerator of the schema's `StructureKind`: what it is in a file."""
    keys: tuple[Any, ...] = ()
    """Of what is a dictionary in a file."""
    context: Any = None
    """What must be equal for two containers to be of one kind, beside class and names."""


class Opener(ABC):
    """What a framework takes for arrays and for containers."""

    @abstractmethod
    def is_leaf(self, value: Any) -> bool:
        """True for what becomes an array of the program."""

    @abstractmethod
    def example_like(self, leaf: Any, shape: Sequence[int]) -> Any:
        """An example of the same type with another shape."""

    def open_registered(self, value: Any) -> Opened | None:
        """The container as the framework's own registry describes it."""
        del value
        return None

    def order(self, keys: Sequence[Any]) -> list[Any]:
        """The keys of a dictionary in the order of its leaves."""
        return list(keys)

    def open_mapping(self, value: Mapping[Any, Any]) -> Opened:
        """A dictionary of any kind."""
        return _open_mapping(value, self.order)

    def open(self, value: Any) -> Opened | None:
        """One level of a container; None for everything else."""
        if value is None or isinstance(value, (*_PLAIN, *_FUNCTIONS)) or self.is_leaf(value):
            return None
        if isinstance(value, Mapping):
            return self.open_mapping(cast("Mapping[Any, Any]", value))
        if type(value) in (list, tuple) or hasattr(value, "_fields"):
            return _open_sequence(value)
        if (opened := self.open_registered(value)) is not None:
            return opened
        if isinstance(value, tuple | list):
            return _open_sequence(cast("Sequence[Any]", value))
        if _attributes(value) and self._holds_leaf(value, set()):
            return _open_object(value)
        return None

    def _holds_leaf(self, value: Any, seen: set[int]) -> bool:
        """True if there is an array in a value, which may hold itself."""
        if self.is_leaf(value):
            return not isinstance(value, bool | int | float)
        if value is None or isinstance(value, (*_PLAIN, *_FUNCTIONS)) or id(value) in seen:
            return False
        seen.add(id(value))
        if isinstance(value, Mapping):
            children: Sequence[Any] = list(cast("Mapping[Any, Any]", value).values())
        elif isinstance(value, tuple | list):
            children = cast("Sequence[Any]", value)
        else:
            children = list(_attributes(value).values())
        return any(self._holds_leaf(child, seen) for child in children)


def _attributes(value: Any) -> dict[str, Any]:
    """What an object holds; nothing for objects of C."""
    if dataclasses.is_dataclass(value):
        names = [each.name for each in dataclasses.fields(value)]
        return {name: getattr(value, name) for name in names if hasattr(value, name)}
    return dict(getattr(value, "__dict__", {}))


def _open_mapping(value: Mapping[Any, Any], order: Callable[[Sequence[Any]], list[Any]]) -> Opened:
    keys = order(list(value))
    kind = cast("Any", type(value))
    factory: Any = getattr(value, "default_factory", None)

    def rebuild(items: Sequence[Any]) -> Any:
        pairs = dict(zip(keys, items, strict=True))
        if issubclass(kind, defaultdict):
            return defaultdict(factory, pairs)
        if dataclasses.is_dataclass(kind):
            # The results of transformers: dictionaries whose items are attributes, too.
            return cast("Any", kind)(**pairs)
        try:
            return kind(pairs)
        except TypeError:
            return pairs

    return Opened(
        names=tuple(f"[{key!r}]" for key in keys),
        children=tuple(value[key] for key in keys),
        rebuild=rebuild,
        kind="Dict",
        keys=tuple(keys),
    )


def _open_sequence(value: Any) -> Opened:
    kind = cast("Any", type(value))
    children = tuple(cast("Sequence[Any]", value))
    names = tuple(f"[{index}]" for index in range(len(children)))
    if hasattr(value, "_fields"):
        names = tuple(f".{field}" for field in value._fields)
        # `structseq`s of C, such as what torch.max returns, take one argument.
        rebuild = getattr(kind, "_make", kind)
        return Opened(names, children, lambda items: rebuild(items), "Tuple")
    return Opened(names, children, kind, "List" if isinstance(value, list) else "Tuple")


def _open_object(value: Any) -> Opened:
    kind = cast("Any", type(value))
    attributes = _attributes(value)

    def rebuild(items: Sequence[Any]) -> Any:
        made = object.__new__(kind)
        for name, item in zip(attributes_names, items, strict=True):
            object.__setattr__(made, name, item)
        return made

    attributes_names = tuple(attributes)
    return Opened(
        names=tuple(f".{name}" for name in attributes_names),
        children=tuple(attributes.values()),
        rebuild=rebuild,
        kind="Dict",
        keys=attributes_names,
    )


@dataclass(frozen=True)
class Ignored:
    """Stands in an example for an array that the program does not take."""

    array: Any


@dataclass(frozen=True)
class Layout(ABC):
    """Where the arrays of a value are: an array, a constant, or a container of layouts."""

    opener: Opener

    @abstractmethod
    def flatten(self, value: Any, what: str) -> list[Any]:
        """The arrays in a value of this layout; InputError, which calls it `what`, for others."""

    @abstractmethod
    def unflatten(self, leaves: Iterator[Any]) -> Any:
        """A value of this layout with the next arrays."""

    @abstractmethod
    def name_leaves(self, what: str) -> list[str]:
        """What the arrays are called in a value that is called `what`: `params['w']`."""

    @abstractmethod
    def describe(self) -> str:
        """What it is, for messages: `a dictionary of 'b', 'w'`."""

    @property
    @abstractmethod
    def structure(self) -> Structure:
        """How it is described in a file."""


@dataclass(frozen=True)
class ArrayLayout(Layout):
    """One array."""

    def flatten(self, value: Any, what: str) -> list[Any]:
        """The value itself."""
        if value is None or self.opener.open(value) is not None:
            raise InputError(
                f"takes {what} as {self.describe()}; got {describe(value, self.opener)}"
            )
        return [value]

    def unflatten(self, leaves: Iterator[Any]) -> Any:
        """The next array."""
        return next(leaves)

    def name_leaves(self, what: str) -> list[str]:
        """The name itself."""
        return [what]

    def describe(self) -> str:
        """An array."""
        return "an array"

    @property
    def structure(self) -> Structure:
        """A leaf."""
        return LEAF


@dataclass(frozen=True)
class IgnoredLayout(ArrayLayout):
    """An array that the program does not take: it has no effect."""

    def flatten(self, value: Any, what: str) -> list[Any]:
        """Nothing."""
        return []

    def name_leaves(self, what: str) -> list[str]:
        """Nothing."""
        return []

    @property
    def structure(self) -> Structure:
        """A value that is not looked at."""
        return Structure(kind="Ignored")


@dataclass(frozen=True)
class ConstantLayout(Layout):
    """A value that is no array, and is part of the program."""

    value: Any

    def flatten(self, value: Any, what: str) -> list[Any]:
        """Nothing; the value must be the same."""
        if not _are_same(value, self.value):
            raise InputError(
                f"was compiled for {what} = {_spell(self.value)}, not {_spell(value)}; call "
                "ttmlir.compile again with this value"
            )
        return []

    def unflatten(self, leaves: Iterator[Any]) -> Any:
        """The value."""
        return self.value

    def name_leaves(self, what: str) -> list[str]:
        """Nothing."""
        return []

    def describe(self) -> str:
        """The value."""
        return _spell(self.value)

    @property
    def structure(self) -> Structure:
        """A constant."""
        return constant(self.value)


@dataclass(frozen=True)
class ContainerLayout(Layout):
    """A container."""

    of: Any
    """The class."""
    names: tuple[str, ...]
    parts: tuple[Layout, ...]
    opened: Opened
    """With the children left out."""

    def flatten(self, value: Any, what: str) -> list[Any]:
        """The arrays of all children."""
        opened = self.opener.open(value)
        if opened is None or not self._is_kind_of(opened, value):
            raise InputError(
                f"takes {what} as {self.describe()}; got {describe(value, self.opener)}"
            )
        if not self.is_mapping and not _are_same(opened.context, self.opened.context):
            raise InputError(
                f"was compiled for another {self.of.__name__} as {what}: one that differs in what "
                "is no array; call ttmlir.compile again with this value"
            )
        given = dict(zip(opened.names, opened.children, strict=True))
        return [
            leaf
            for name, part in zip(self.names, self.parts, strict=True)
            for leaf in part.flatten(given[name], what + name)
        ]

    @property
    def is_mapping(self) -> bool:
        """True for dictionaries of all kinds."""
        return issubclass(self.of, Mapping)

    def _is_kind_of(self, opened: Opened, value: Any) -> bool:
        if set(opened.names) != set(self.names) or opened.kind != self.opened.kind:
            return False
        if self.is_mapping and _is_mapping(value):
            return True
        return type(value) is self.of

    def unflatten(self, leaves: Iterator[Any]) -> Any:
        """A container of the same class."""
        return self.opened.rebuild([part.unflatten(leaves) for part in self.parts])

    def name_leaves(self, what: str) -> list[str]:
        """The names of all children's."""
        return [
            leaf
            for name, part in zip(self.names, self.parts, strict=True)
            for leaf in part.name_leaves(what + name)
        ]

    def describe(self) -> str:
        """Class and names."""
        return _describe_container(self.of, self.opened)

    @property
    def structure(self) -> Structure:
        """A tuple, list or dictionary; constants that no file can hold are left out of objects."""
        if self.opened.kind != "Dict":
            children = tuple(part.structure for part in self.parts)
            return Structure(kind=self.opened.kind, children=children)
        parts: dict[Any, Layout] = dict(zip(self.opened.keys, self.parts, strict=True))
        if not self.is_mapping:
            parts = {key: part for key, part in parts.items() if not _is_opaque(part)}
        return dict_of({key: part.structure for key, part in parts.items()})


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_opaque(part: Layout) -> bool:
    return isinstance(part, ConstantLayout) and not (
        part.value is None or isinstance(part.value, str | int | float)
    )


def read_layout(value: Any, opener: Opener) -> tuple[Layout, list[Any]]:
    """The layout of a value, and its arrays; TypeError for what holds itself."""
    leaves: list[Any] = []
    return _read(value, opener, leaves, 0), leaves


def _read(value: Any, opener: Opener, leaves: list[Any], depth: int) -> Layout:
    if depth > MAX_DEPTH:
        raise TypeError(f"containers of arrays are nested more than {MAX_DEPTH} deep")
    if isinstance(value, Ignored):
        return IgnoredLayout(opener)
    if opener.is_leaf(value):
        leaves.append(value)
        return ArrayLayout(opener)
    opened = opener.open(value)
    if opened is None:
        return ConstantLayout(opener, value)
    parts = tuple(_read(child, opener, leaves, depth + 1) for child in opened.children)
    # The arrays of an example are not kept.
    empty = dataclasses.replace(opened, children=())
    return ContainerLayout(opener, cast("Any", type(value)), opened.names, parts, empty)


def describe(value: Any, opener: Opener) -> str:
    """What a value is, for messages: one line, no numbers of arrays."""
    if opener.is_leaf(value) and not isinstance(value, bool | int | float):
        return "an array"
    opened = opener.open(value)
    if opened is None:
        return _spell(value)
    return _describe_container(cast("Any", type(value)), opened)


def _describe_container(of: Any, opened: Opened) -> str:
    kinds: dict[Any, str] = {tuple: "a tuple", list: "a list", dict: "a dictionary"}
    article = "an" if of.__name__[:1] in "AEIOUaeiou" else "a"
    kind = kinds.get(of, f"{article} {of.__name__}")
    if opened.kind == "Dict":
        keys = [repr(key) for key in opened.keys] if issubclass(of, Mapping) else opened.keys
        return f"{kind} of {_join(keys)}"
    return f"{kind} of {len(opened.names)}"


def _join(keys: Sequence[str]) -> str:
    most = 8
    shown = ", ".join(keys[:most]) or "nothing"
    return shown + (", ..." if len(keys) > most else "")


def _spell(value: Any) -> str:
    """A value in a message, short."""
    text = repr(value)
    return text if len(text) <= 60 and "\n" not in text else f"a {type(value).__name__}"


def _are_same(value: Any, expected: Any) -> bool:
    if value is expected:
        return True
    try:
        return type(value) is type(expected) and bool(value == expected)
    except (TypeError, ValueError, RuntimeError):
        return False
