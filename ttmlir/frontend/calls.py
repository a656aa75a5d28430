"""Calls of compiled functions: signatures, and containers in arguments and results."""

from __future__ import annotations

import dataclasses
import inspect
import os
import reprlib
import sys
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeGuard, cast

import numpy as np

from ttmlir.collector import without_collections
from ttmlir.errors import ArgumentError, ArgumentTypeError, plural
from ttmlir.frontend.errors import missing_package
from ttmlir.runtime.binary import Binary, BinaryProgram
from ttmlir.runtime.errors import BinaryError, InputError, UnsupportedError
from ttmlir.runtime.execution.executor import rehearse
from ttmlir.runtime.execution.planning import make_plans
from ttmlir.runtime.execution.prepare import prepare
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.session import array_of_torch, run_on_arrays
from ttmlir.runtime.signature import (
    LEAF,
    CallSignature,
    Structure,
    Types,
    constant,
    dict_of,
    tuple_of,
)
from ttmlir.runtime.tensor import (
    Array,
    Device,
    Numerics,
    TensorDesc,
    convert,
    element_of_dtype,
    join_pairs,
    open_device,
    split_leaves,
    widen,
)
from ttmlir.terminal import show_wait

if TYPE_CHECKING:
    from ttmlir.cost import Estimate
    from ttmlir.frontend.summary import ModelPlot, ModelProfile, ModelSummary


# --- Containers -----------------------------------------------------------------------------------
# Containers of arrays: nested tuples, dictionaries, dataclasses, caches of language models.
#
#     layout, leaves = read_layout(value, opener)
#     layout.flatten(other_value, "x")       # the arrays in it, or InputError
#     layout.unflatten(iter(arrays))         # a value of the same kind
#
# What a container is, is decided by its kind alone: no class has to be registered. An object of any
# other class is one if arrays are found in its attributes, as in the caches of transformers.

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

    @abstractmethod
    def result_shapes(
        self, function: Callable[..., Any], leaves: Sequence[Any]
    ) -> list[tuple[int, ...]]:
        """The shapes of the arrays that a function returns, by the framework, without numbers."""

    def is_same(self, value: Any, expected: Any) -> bool:
        """True for a constant of a call that the program, which has another, is right for."""
        return _are_same(value, expected)

    def structure_of(self, value: Any) -> Structure:
        """A constant as files describe it."""
        return constant(value)

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
        if not self.opener.is_same(value, self.value):
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
        return self.opener.structure_of(self.value)


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
        raise ArgumentTypeError(f"containers of arrays are nested more than {MAX_DEPTH} deep")
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
        return f"{kind} of {_join_containers(keys)}"
    return f"{kind} of {len(opened.names)}"


def _join_containers(keys: Sequence[str]) -> str:
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


# --- Call layout ----------------------------------------------------------------------------------
# Where the arrays of a call are: in its arguments by position and by name.

# --- Binding --------------------------------------------------------------------------------------
# Arguments of calls by the names of parameters: `compiled(images=x)` is `compiled(x)`.

CallArguments = tuple[tuple[Any, ...], dict[str, Any]]
"""Arguments by position and by name."""

_MANY = 8


@dataclass(frozen=True)
class Binding:
    """The form of the call that a model was compiled for: which arguments have which position."""

    signature: inspect.Signature | None
    """Of the function; None if Python does not know it."""
    positions: tuple[str, ...]
    """Names of the arguments by position; `argument 0` where there is none."""
    keywords: tuple[str, ...]
    """Names of the arguments by name, in the order of the example."""
    given: frozenset[str]
    """The parameters that have an argument."""

    @classmethod
    def of(cls, function: Callable[..., Any] | None, arguments: CallArguments) -> Binding:
        """The form of a call of a function, or of one whose parameters are not known."""
        args, kwargs = arguments
        signature = None if function is None else _signature_of(function)
        positions = [f"argument {index}" for index in range(len(args))]
        given = frozenset[str]()
        if signature is not None:
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError:
                # What the framework says of this call is better.
                signature = None
            else:
                given = frozenset(bound.arguments)
                positions = _names_of_positions(signature, len(args))
        return cls(signature, tuple(positions), tuple(kwargs), given)

    def arrange(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> CallArguments:
        """The arguments of a call, ordered as the example's; InputError if they do not fit."""
        if len(args) == len(self.positions) and set(kwargs) == set(self.keywords):
            return args, {name: kwargs[name] for name in self.keywords}
        if self.signature is None:
            raise self._refuse(args, kwargs)
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise self._refuse(args, kwargs) from error
        parameters = self.signature.parameters
        for name, value in bound.arguments.items():
            if name not in self.given and value is not parameters[name].default:
                raise self._refuse(args, kwargs)
        if any(
            name not in bound.arguments and parameters[name].default is inspect.Parameter.empty
            for name in self.given
        ):
            raise self._refuse(args, kwargs)
        bound.apply_defaults()
        return self._place(bound.arguments, args, kwargs)

    def _place(
        self, values: Mapping[str, Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> CallArguments:
        """The bound values, by the names of parameters, in the positions of the example's."""
        assert self.signature is not None, "there are names"
        parameters = self.signature.parameters.values()
        kinds = {each.kind: each.name for each in parameters}
        rest = values.get(kinds.get(inspect.Parameter.VAR_POSITIONAL, ""), ())
        others = values.get(kinds.get(inspect.Parameter.VAR_KEYWORD, ""), {})
        named = {**values, **others}
        single = [name for name in self.positions if name in named]
        keywords = {name: named[name] for name in self.keywords if name in named}
        if (len(single) + len(rest), len(keywords)) != (len(self.positions), len(self.keywords)):
            raise self._refuse(args, kwargs)
        return (*(named[name] for name in single), *rest), keywords

    def _refuse(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> InputError:
        takes = [*self.positions, *(f"{name}=" for name in self.keywords)]
        got = [f"{len(args)} by position"] if args else []
        got += [f"{name}=" for name in kwargs]
        return InputError(f"takes {_join(takes)}; got {_join(got)}")


def _join(names: list[str]) -> str:
    return ", ".join(names[:_MANY]) + (", ..." if len(names) > _MANY else "") or "no arguments"


def _signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def _names_of_positions(signature: inspect.Signature, count: int) -> list[str]:
    names: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            first = len(names)
            names += [f"{parameter.name}[{index - first}]" for index in range(first, count)]
        elif parameter.kind in _BY_POSITION:
            names.append(parameter.name)
    return names[:count]


_BY_POSITION = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)


# --- Call layout ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class CallLayout:
    """The arguments that a model was compiled for."""

    name: str
    """Of the model, in messages."""
    binding: Binding
    positions: tuple[Layout, ...]
    keywords: tuple[Layout, ...]

    def flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The arrays in the arguments of a call; InputError where they do not fit."""
        try:
            args, kwargs = self.binding.arrange(args, kwargs)
            leaves: list[Any] = []
            for what, layout, value in zip(
                self._names, self._layouts, (*args, *kwargs.values()), strict=True
            ):
                leaves += layout.flatten(value, what)
        except InputError as error:
            raise InputError(f"'{self.name}' {error}") from error
        return leaves

    def unflatten(self, leaves: Sequence[Any]) -> CallArguments:
        """The arguments of a call with these arrays."""
        rest: Iterator[Any] = iter(leaves)
        args = tuple(layout.unflatten(rest) for layout in self.positions)
        names = self.binding.keywords
        return args, {
            name: layout.unflatten(rest) for name, layout in zip(names, self.keywords, strict=True)
        }

    @property
    def _names(self) -> tuple[str, ...]:
        return (*self.binding.positions, *self.binding.keywords)

    @property
    def _layouts(self) -> tuple[Layout, ...]:
        return (*self.positions, *self.keywords)

    @property
    def leaf_names(self) -> list[str]:
        """The user's names of the arrays: `params['w']`."""
        return [
            leaf
            for what, layout in zip(self._names, self._layouts, strict=True)
            for leaf in layout.name_leaves(what)
        ]

    @property
    def structure(self) -> Structure:
        """How the arguments are described in a file."""
        return self.describe()

    def describe(self, *further: str) -> Structure:
        """The structure with further arguments by name after all others, each of them an array."""
        keywords = zip(self.binding.keywords, self.keywords, strict=True)
        named = {name: layout.structure for name, layout in keywords}
        return tuple_of(
            tuple_of(*(layout.structure for layout in self.positions)),
            dict_of({**named, **dict.fromkeys(further, LEAF)}),
        )


def read_call(
    name: str, function: Callable[..., Any] | None, arguments: CallArguments, opener: Opener
) -> tuple[CallLayout, list[Any]]:
    """The layout of a call of a function, and the arrays in its arguments.

    `function` gives the names of its parameters; `name` is that of the model in messages.
    """
    args, kwargs = arguments
    read = [read_layout(value, opener) for value in (*args, *kwargs.values())]
    layouts = tuple(layout for layout, _ in read)
    call = CallLayout(
        name, Binding.of(function, arguments), layouts[: len(args)], layouts[len(args) :]
    )
    return call, [leaf for _, leaves in read for leaf in leaves]


# --- Calling --------------------------------------------------------------------------------------
# What a compiled model and one from a file have in common: a binary that is called like a model.
#
# A `CallingConvention` says how the arguments of a call become the arrays of the program, and its
# results what the call returns.

Number = bool | int | float
NumericsName = Literal["exact", "device"]

MANY = 4
"""A model shows as many inputs and outputs when it is printed."""


@dataclass(frozen=True, kw_only=True)
class CallingConvention:
    """Between the values of a call and the arrays of a program."""

    name: str
    """The name of the model in messages and in the file."""
    input_names: Sequence[str]
    """The user's names for the arrays of `flatten`, such as `params['w']`."""
    flatten: Callable[[tuple[Any, ...], dict[str, Any]], Sequence[Array | Number]]
    """From the arguments of a call to arrays, and numbers of Python, which become arrays of the
    type that the program takes; raises InputError for another structure."""
    unflatten: Callable[[Sequence[Array]], Any]
    """From results to what a call returns."""
    bound: Mapping[int, Array] = field(default_factory=dict[int, Array])
    """Inputs of the program that a call does not pass, by index: weights kept outside, state."""
    state: Sequence[int] = ()
    """Those of which each call leaves new values in `bound`."""
    write_back: Callable[[tuple[Any, ...], dict[str, Any], Any], Any] | None = None
    """Changes the arguments of a call in place by what `unflatten` gives; returns its result."""


class CallableModel:
    """A program of a binary, called as the model that it was compiled from."""

    def __init__(
        self,
        data: bytes | memoryview,
        convention: CallingConvention,
        *,
        file_name: str,
        program: int = 0,
        numerics: NumericsName = "exact",
    ) -> None:
        """Wrap the bytes of a file; `file_name` names it in messages."""
        self.numerics: NumericsName = checked_numerics(numerics)
        self._bytes = data
        self._convention = convention
        self._file_name = file_name
        self._program_index = program
        self._beginning: dict[int, Array] = {}
        with suppress(InputError):
            # State without numbers can be estimated, but not run.
            self._beginning = {index: convention.bound[index] for index in convention.state}

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._convention.name

    @cached_property
    def binary(self) -> Binary:
        """The file as the runtime reads it."""
        return read_binary(self._bytes, self._file_name)

    @cached_property
    def inputs(self) -> tuple[tuple[str, TensorDesc], ...]:
        """Names and descriptions of the arrays that a call passes, truth values as the source's."""
        bound = self._convention.bound
        descs = with_truth_values(self._taken, self._source_types[0])
        passed = [desc for index, desc in enumerate(descs) if index not in bound]
        return tuple(zip(self._convention.input_names, passed, strict=True))

    @property
    def _taken(self) -> Sequence[TensorDesc]:
        """Descriptions of all arrays that the program takes."""
        return [ref.desc for ref in self._program.inputs]

    @cached_property
    def _takes_wide(self) -> bool:
        """True for a program that takes an array of 64 bits."""
        return any(np.dtype(desc.element.host).itemsize == _WIDE for desc in self._taken)

    @cached_property
    def _source_types(self) -> tuple[Types, Types]:
        """The types that the source has its arguments and results in, where the file has others."""
        found = self._program.signature
        return ((), ()) if found is None else (found.argument_types, found.result_types)

    @property
    def is_bounded(self) -> bool:
        """Whether sizes of results are known only when the program has run."""
        found = self._program.signature
        return found is not None and found.results.is_bounded

    @property
    def outputs(self) -> tuple[TensorDesc, ...]:
        """Descriptions of the arrays that the program computes, truth values as the source's."""
        descs = [ref.desc for ref in self._program.outputs]
        return tuple(with_truth_values(descs, self._source_types[1]))

    @property
    def _program(self) -> BinaryProgram:
        return self.binary.program(self._program_index)

    def __call__(self, *args: Any, numerics: NumericsName | None = None, **kwargs: Any) -> Any:
        """Run the model; arguments are those of the function that was compiled."""
        found = self.run_arrays(self.flatten(args, kwargs), numerics=numerics)
        write_back = self._convention.write_back
        return found if write_back is None else write_back(args, kwargs, found)

    def restart(self) -> None:
        """Give state, such as what `keep` names, the numbers back that it began with."""
        cast("MutableMapping[int, Array]", self._convention.bound).update(self._beginning)

    def prepare(self) -> None:
        """Do beforehand what the first call would otherwise take longer for.

        Compiled models are prepared. Programs that cannot run are refused when they are called.
        """
        with without_collections(), suppress(BinaryError, UnsupportedError):
            if not self.binary.is_metal:
                prepared = prepare(self._program, Numerics(self.numerics))
                if prepared.devices == 1:
                    make_plans(prepared)
                    rehearse(prepared)
                # Read from the file, and kept, as is the device.
                _ = self._source_types, self.inputs, self._forms, self._device(self.numerics)

    def flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Array | Number]:
        """The arrays in the arguments of a call, and its numbers; InputError for another form."""
        return list(self._convention.flatten(args, kwargs))

    def run_arrays(
        self,
        given: Sequence[Array | Number],
        *,
        numerics: NumericsName | None = None,
        change: Callable[[Sequence[Array]], Sequence[Array]] = list,
    ) -> Any:
        """Run the model on what `flatten` gives; `change` is made to the arrays of the results."""
        device = self._device(self._numerics(numerics))
        arrays = self._complete(given)
        # What runs with NumPy is called often, and mostly too short for a bar.
        with show_wait(f"running {self.name}") if self.binary.is_metal else nullcontext():
            found = run_on_arrays(device, self.binary, self._program_index, arrays)
        if sources := self._source_types[1]:
            found = [*map(as_in_source, found, sources)]
        return self._convention.unflatten(change(found))

    def run_on_devices(
        self, *args: Any, numerics: NumericsName | None = None, **kwargs: Any
    ) -> list[list[Array]]:
        """Run the model, and return what each device has of each result: lists of arrays.

            [parts] = compiled.run_on_devices(x)
            parts[3]                             # what device 3 has

        Devices are in row-major order of the mesh; a result that is whole is so on each.
        """
        from ttmlir.runtime.execution.mesh import results_by_device

        prepared = prepare(self._program, Numerics(self._numerics(numerics)))
        refs, arrays = self._program.inputs, self.arrays_of_call(args, kwargs)
        given = [
            convert(array, ref.desc.element.compute)
            for array, ref in zip(arrays, refs, strict=True)
        ]
        return [
            [convert(part, desc.element.host) for part in parts]
            for parts, desc in zip(
                results_by_device(prepared, given), prepared.output_descs, strict=True
            )
        ]

    def profile(
        self, *args: Any, numerics: NumericsName | None = None, **kwargs: Any
    ) -> ModelProfile:
        """Run the model on a timed simulator: what its kernels did, and what the call returned.

            profile = compiled.profile(x)
            print(profile.cycles, profile)
            profile.write_trace("trace.json")

        InputError for a model without kernels: `target="kernels"` makes them.
        """
        # The simulator is loaded only where it is needed.
        from ttmlir.frontend.summary import ModelProfile, run_recorded

        arrays = self.arrays_of_call(args, kwargs)
        with show_wait(f"timing {self.name}"):
            outputs, runs = run_recorded(self._program, arrays, Numerics(self._numerics(numerics)))
        return ModelProfile(self.name, self._convention.unflatten(outputs), runs)

    def estimate(
        self, board: str | os.PathLike[str] | None = None, *, traced: bool = True
    ) -> Estimate:
        """How long the program would take on a board, operation by operation, without running it.

            estimate = compiled.estimate("n150")
            print(estimate, estimate.total.mid, estimate.rate(batch=8, unit="images"))
            estimate.write("operations.csv")

        `board` is a name, the path of a `.ttsys` file, or None: what the model was compiled for.
        Programs are launched from a trace, or, if they are not `traced`, called one by one by the
        host. For calls of the ttnn library only: `profile` simulates kernels.
        """
        from ttmlir.cost import estimate_program

        return estimate_program(self._program, board, traced=traced)

    def summary(self, board: str | os.PathLike[str] | None = None) -> ModelSummary:
        """Layers with their operations, parameters and estimated times, and the memory they take.

        Times are for a `board` as in `estimate`; models of kernels have none, see `profile`.
        """
        from ttmlir.frontend.summary import summarize

        return summarize(self._program, self._spell_signature(), len(self._bytes), board)

    def plot(self, board: str | os.PathLike[str] | None = None) -> ModelPlot:
        """A picture: operations under the roofline of a board, and the time of each layer.

            compiled.plot("n150").save("model.png")

        `board` is as in `estimate`. ImportError without matplotlib: the extra `plot` installs it.
        """
        from ttmlir.frontend.summary import plot_estimate

        return plot_estimate(self.estimate(board), self.name)

    def _repr_html_(self) -> str:
        """The summary, for notebooks."""
        return self.summary().to_html()

    def to_bytes(self) -> bytes:
        """The `.ttnn` or `.ttm` file."""
        return bytes(self._bytes)

    def __repr__(self) -> str:
        """Signature and size."""
        return (
            f"{type(self).__name__}({self._spell_signature()}, {describe_size(self._program)}, "
            f"{len(self._bytes):,} bytes, numerics={self.numerics})"
        )

    def _spell_signature(self) -> str:
        """Name, arguments and results."""
        inputs = _join_calling([f"{name}: {spell_type(desc)}" for name, desc in self.inputs])
        outputs = _join_calling([spell_type(desc) for desc in self.outputs])
        return f"{self.name}({inputs}) -> ({outputs})"

    def _numerics(self, asked: NumericsName | None) -> NumericsName:
        return self.numerics if asked is None else checked_numerics(asked)

    @cached_property
    def _devices(self) -> dict[str, Device]:
        return {}

    def _device(self, numerics: NumericsName) -> Device:
        if numerics not in self._devices:
            rows, columns = self._program.mesh
            chips = range(rows * columns)
            self._devices[numerics] = open_device(chips, numerics=Numerics(numerics))
        return self._devices[numerics]

    def arrays_of_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Array]:
        """All arrays that the program takes in a call, with those that the model keeps."""
        return self._complete(self.flatten(args, kwargs))

    def _complete(self, given: Sequence[Array | Number]) -> list[Array]:
        """All arrays that the program takes, checked against what it was compiled for."""
        if len(given) != len(self.inputs):
            raise InputError(
                f"'{self.name}' takes {plural(len(self.inputs), 'array')}, got {len(given)}"
            )
        if self._fits(given):
            return list(given)
        bound = self._convention.bound
        hosts = [desc.element.host for desc in self._taken]
        sources = self._source_types[0] or [None] * len(hosts)
        passed = [index for index in range(len(hosts)) if index not in bound]
        shown = [
            array_of_number(value, sources[n] or hosts[n], f"'{self.name}': {name}")
            for n, (name, _), value in zip(passed, self.inputs, given, strict=True)
        ]
        taken = [
            as_taken(array, hosts[n], sources[n]) for n, array in zip(passed, shown, strict=True)
        ]
        wrong = [
            f"{name} is {spell_array(array)} instead of {spell_type(desc)}"
            for (name, desc), array, each in zip(self.inputs, shown, taken, strict=True)
            if each is None or each.shape != desc.shape
        ]
        if wrong:
            raise InputError(
                f"'{self.name}' was compiled for other arguments: {'; '.join(wrong)}; "
                f"{self.REMEDY_FOR_OTHER_ARGUMENTS}"
            )
        arrays = [each for each in taken if each is not None]
        for index in sorted(bound):
            # New values of state have the types of the program.
            host, kept = hosts[index], bound[index]
            fitted = kept if kept.dtype == host else as_taken(kept, host, sources[index])
            arrays.insert(index, kept if fitted is None else fitted)
        return arrays

    @cached_property
    def _forms(self) -> list[tuple[tuple[int, ...], np.dtype[Any], np.dtype[Any]]]:
        """The shapes and types that arrays have in the program, and the types in its source."""
        descs = self._taken
        hosts = [desc.element.host for desc in descs]
        sources = self._source_types[0] or hosts
        return [
            (desc.shape, host, source or host)
            for desc, host, source in zip(descs, hosts, sources, strict=True)
        ]

    def _fits(self, given: Sequence[Array | Number]) -> TypeGuard[Sequence[Array]]:
        """True if these are all arrays of the program, as it takes them."""
        return len(given) == len(self._forms) and all(
            isinstance(array, np.ndarray) and array.shape == shape and array.dtype == host == source
            for array, (shape, host, source) in zip(given, self._forms, strict=True)
        )

    REMEDY_FOR_OTHER_ARGUMENTS = "give arguments of these shapes and types"


def with_truth_values(descs: Sequence[TensorDesc], sources: Types) -> Sequence[TensorDesc]:
    """Descriptions of truth values where the source has them; files have numbers for them."""
    return [
        replace(desc, element=element_of_dtype(source)) if source == np.bool_ else desc
        for desc, source in zip(descs, sources or [None] * len(descs), strict=True)
    ]


def as_in_source(array: Array, source: np.dtype[Any] | None) -> Array:
    """Truth values, which are any number but 0 in files, and narrow integers, as the source has."""
    if source is None or array.dtype == source:
        return array
    if source.kind == "b":
        return array != 0
    is_narrow = source.kind in "iu" and array.dtype.kind in "iu" and source.itemsize < 4
    return array.astype(source) if is_narrow else array


def describe_size(program: BinaryProgram) -> str:
    """What a program does, counted: operations of the library, or launches of kernels."""
    if not program.binary.is_metal:
        kernels = sum(each.ir_name == "ttnn.generic" for each in program.operations)
        among = f" with {plural(kernels, 'program')} of kernels" if kernels else ""
        return f"{plural(len(program.operations), 'ttnn operation')}{among}"
    from ttmlir.runtime.metal_program import MetalProgram

    assert isinstance(program, MetalProgram), "the file is a .ttm file"
    launches = len(program.launches)
    return f"{launches} program{'s' * (launches != 1)} of kernels"


def checked_numerics(name: str) -> NumericsName:
    """The name of numerics; ArgumentError for another one."""
    if name not in ("exact", "device"):
        raise ArgumentError(f"numerics are 'exact' or 'device', not {name!r}")
    return name


def _join_calling(texts: list[str]) -> str:
    """Texts separated by commas; of many the first ones and their number."""
    if len(texts) > MANY + 1:
        texts = [*texts[:MANY], f"... {len(texts) - MANY} more"]
    return ", ".join(texts)


def spell_type(desc: TensorDesc) -> str:
    """Element type and shape: `float32[33,70]`."""
    return f"{desc.element.host}[{','.join(map(str, desc.shape))}]"


def as_taken(array: Array, host: np.dtype[Any], source: np.dtype[Any] | None) -> Array | None:
    """An array as an input of `host` in a program takes it; None for one of another type.

    Arrays have the type that the program's `source` has, if that is known, for which the program
    may have another, as for truth values; or one of few bits, all of whose numbers it holds.
    """
    small = widen(array, host)
    if small is not array:
        return small
    # A type is equal to None if it is float64.
    return convert(array, host) if array.dtype == (source or host) else None


def spell_array(array: Array) -> str:
    """Element type and shape of an array, as `spell_type` says them."""
    return f"{array.dtype}[{','.join(map(str, array.shape))}]"


# --- Jax containers -------------------------------------------------------------------------------
# What JAX takes for arrays and for containers in arguments and results.


def _is_registered(value: Any) -> bool:
    """True for what `jax.tree_util` looks into, be it empty."""
    return not import_module("jax.tree_util").all_leaves((value,))


def _is_switch(owner: Any, part: Any) -> bool:
    """True for a truth value of a module of equinox, by which Python decides what it computes."""
    equinox: Any = sys.modules.get("equinox")
    return equinox is not None and type(part) is bool and isinstance(owner, equinox.Module)


class JaxOpener(Opener):
    """Arrays and numbers; containers as in `jax.tree_util`, in its order."""

    def is_leaf(self, value: Any) -> bool:
        """True for arrays, numbers, and JAX's descriptions of arrays.

        Containers may have a shape, too: sparse matrices, and variables of flax.
        """
        if isinstance(value, bool | int | float | complex | np.generic | np.ndarray):
            return True
        return hasattr(value, "shape") and hasattr(value, "dtype") and not _is_registered(value)

    def example_like(self, leaf: Any, shape: Sequence[int]) -> Any:
        """A description: JAX traces with nothing else."""
        return import_module("jax").ShapeDtypeStruct(tuple(shape), leaf.dtype)

    def result_shapes(
        self, function: Callable[..., Any], leaves: Sequence[Any]
    ) -> list[tuple[int, ...]]:
        """As JAX traces it."""
        jax: Any = import_module("jax")
        return [np.shape(each) for each in jax.tree.leaves(jax.eval_shape(function, *leaves))]

    def order(self, keys: Sequence[Any]) -> list[Any]:
        """Sorted, as in JAX; as they are if they cannot be compared."""
        try:
            return sorted(keys)
        except TypeError:
            return list(keys)

    def open_mapping(self, value: Mapping[Any, Any]) -> Opened:
        """A dictionary; classes that JAX knows are ordered and rebuilt by their own rules.

        An `OrderedDict` is not sorted.
        """
        is_sorted = type(value) in (dict, defaultdict)
        registered = None if is_sorted else self.open_registered(value)
        return registered or super().open_mapping(value)

    def open_registered(self, value: Any) -> Opened | None:
        """What `jax.tree_util` has registered of the class."""
        if not _is_registered(value):
            return None
        tree_util: Any = import_module("jax.tree_util")

        def is_child(part: Any) -> bool:
            return part is not value

        keyed, tree = tree_util.tree_flatten_with_path(value, is_leaf=is_child)
        keys = tuple(path[0].key for path, _ in keyed) if isinstance(value, Mapping) else ()
        switches = {n: each for n, (_, each) in enumerate(keyed) if _is_switch(value, each)}

        def rebuild(items: Sequence[Any]) -> Any:
            given = iter(items)
            count = range(len(keyed))
            return tree_util.tree_unflatten(
                tree, [switches[n] if n in switches else next(given) for n in count]
            )

        kept = [each for n, each in enumerate(keyed) if n not in switches]
        return Opened(
            names=tuple(tree_util.keystr(path) for path, _ in kept),
            children=tuple(child for _, child in kept),
            rebuild=rebuild,
            kind="Dict" if isinstance(value, Mapping) else "Tuple",
            keys=keys,
            context=(tree, tuple(switches.items())),
        )


OPENER = JaxOpener()


# --- Signature ------------------------------------------------------------------------------------
# Calls by the signature that a file holds, without the framework that the model comes from.

FRAMEWORKS = ("", "jax", "torch")
"""Packages whose arrays a call can return; an empty name is NumPy."""


def convention_of(
    signature: CallSignature,
    bound: Mapping[int, Array],
    framework: str = "",
    *,
    takes_wide: Callable[[], bool],
) -> CallingConvention:
    """How a program is called by its signature.

    Arguments are arrays of NumPy, JAX or torch; results those of `framework`. `bound` are the
    inputs that no argument gives. Where the program `takes_wide` arrays, of 64 bits, JAX did, too.
    """
    caller = _Caller(signature, dict(bound), make_arrays_of(framework), takes_wide)
    return CallingConvention(
        name=signature.name,
        input_names=[
            each for index, each in enumerate(signature.input_names) if index not in bound
        ],
        flatten=caller.flatten,
        unflatten=caller.unflatten,
        bound=caller.bound,
        state=caller.state,
    )


class _Caller:
    """Between the values of a call and the arrays of one program; keeps state between calls."""

    def __init__(
        self,
        signature: CallSignature,
        bound: dict[int, Array],
        make: Callable[[Array], Any],
        takes_wide: Callable[[], bool],
    ) -> None:
        self.bound = bound
        self.state = signature.bound[len(signature.bound) - signature.state :]
        self._signature = signature
        self._make = make
        self._takes_wide = takes_wide
        nodes = signature.arguments.to_tables()
        self._has_generators = any(node["kind"] == "Ignored" and node["text"] for node in nodes)

    def flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Array | Number]:
        """The arrays of a call."""
        if self._has_generators:
            kwargs = self._with_seed(args, kwargs)
        try:
            leaves = self._signature.flatten(args, kwargs)
        except InputError as error:
            raise InputError(f"'{self._signature.name}': {error}") from error
        narrow = self._signature.framework == "jax" and not self._takes_wide()
        flags, names = self._signature.arguments.are_complex, self._signature.leaf_names
        arrays = [
            as_array(leaf, f"'{self._signature.name}': {name}", narrow=narrow)
            for name, leaf in zip(names, leaves, strict=True)
        ]
        return split_leaves(arrays, flags, names, self._signature.name)

    def _with_seed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Arguments by name with the seed that comes from generators of torch, if none is given."""
        given = self._signature.arguments.find_ignored((args, kwargs))
        sources = {node.value: value for node, value in given if node.value is not None}
        seeding: Any = import_module("ttmlir.frontend.torch.random.seeding")
        if seeding.SEED in kwargs or not sources:
            return kwargs
        generators = [sources.get(number) for number in range(len(sources))]
        try:
            return {**kwargs, seeding.SEED: seeding.create_seed(None, generators)}
        except InputError as error:
            raise InputError(f"'{self._signature.name}': {error}") from error

    def unflatten(self, results: Sequence[Array]) -> Any:
        """What a call returns; new values of state are kept."""
        signature = self._signature
        self.bound.update(zip(self.state, results, strict=False))
        joined = join_pairs(results[signature.state :], signature.results.are_complex)
        return signature.results.unflatten(iter([self._make(result) for result in joined]))


def as_array(leaf: Any, what: str, *, narrow: bool = False) -> Array | Number:
    """A number of Python as it is, an array of NumPy, JAX or torch as one of NumPy.

    With `narrow`, numbers of 64 bits become those of 32 bits, as in JAX. InputError, which calls it
    `what`, for everything else.
    """
    if isinstance(leaf, Number):
        return leaf
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(leaf, torch.Tensor):
        array = array_of_torch(torch, leaf, what)
    else:
        array = np.asarray(words_of_key(leaf))
    if array.dtype == np.dtype(object):
        held = "an array of objects" if hasattr(leaf, "dtype") else f"a {type(leaf).__name__}"
        raise InputError(f"{what} is an array or a number, not {held}")
    kind = array.dtype.kind
    if narrow and array.dtype.itemsize == (_WIDE_COMPLEX if kind == "c" else _WIDE):
        return array.astype(f"{kind}{array.dtype.itemsize // 2}")
    return array


def array_of_number(number: Array | Number, dtype: np.dtype[Any], what: str) -> Array:
    """A number of Python in the type that a program takes; an array as it is.

    What loses its fraction there, or more than being true or not, keeps a type of its own, which
    the program refuses. InputError, which calls it `what`, if the type does not reach so far.
    """
    if not isinstance(number, Number):
        return number
    if isinstance(number, float) and dtype.kind in "iub":
        return np.asarray(number, np.float32)
    if dtype.kind == "b" and not isinstance(number, bool):
        return np.asarray(number, np.int32)
    try:
        with np.errstate(over="ignore"):
            return np.asarray(number, dtype)
    except OverflowError:
        raise InputError(
            f"{what} is {reprlib.repr(number)}, which {dtype.name} cannot hold"
        ) from None


def words_of_key(leaf: Any) -> Any:
    """The integers in a key of JAX's random numbers; everything else as it is."""
    jax: Any = sys.modules.get("jax")
    if jax is None or not isinstance(leaf, jax.Array):
        return leaf
    return jax.random.key_data(leaf) if is_key(leaf.dtype) else leaf


def jax_array_of(array: Array) -> Any:
    """An array of JAX with the same numbers, of 64 bits where JAX itself makes none, too."""
    jax: Any = import_module("jax")
    if array.dtype.itemsize < _WIDE:
        return jax.numpy.asarray(array)
    # Older versions of JAX have it among experiments.
    owner: Any = jax if hasattr(jax, "enable_x64") else import_module("jax.experimental")
    with owner.enable_x64(True):
        return jax.numpy.asarray(array)


def is_key(dtype: Any) -> bool:
    """Whether arrays of a type of JAX are keys of random numbers."""
    jax: Any = import_module("jax")
    return jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key)


_WIDE = 8
_WIDE_COMPLEX = 16
"""Bytes of numbers of 64 bits."""


def make_arrays_of(framework: str) -> Callable[[Array], Any]:
    """What makes a framework's arrays; ImportError if it is not installed."""
    if framework not in FRAMEWORKS:
        raise ArgumentError(f"framework is 'jax', 'torch' or '' for NumPy, not {framework!r}")
    try:
        if framework == "torch":
            return import_module("ttmlir.frontend.torch.model").tensor_of
        if framework == "jax":
            import_module("jax")
            return jax_array_of
    except ImportError as error:
        raise missing_package(framework, framework, f"returning arrays of {framework}") from error
    return lambda array: array
