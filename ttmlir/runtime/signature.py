"""How the model of a program is called: names of arguments, and containers around the arrays.

A program takes arrays in a row and returns arrays in a row. The model that it was compiled from
takes nested tuples, lists and dictionaries; files keep these beside the program, so that a loaded
file is called as the model was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import ml_dtypes
import numpy as np

from ttmlir.errors import plural
from ttmlir.layout.data_format import PARTS
from ttmlir.runtime.errors import BinaryError, InputError

Table = Mapping[str, Any]
Key = str | int | float | bool | None
Types = tuple[np.dtype[Any] | None, ...]

MAX_DEPTH = 64
"""Deepest nesting of containers of arguments that is read from a file."""
_TYPES: Mapping[str, np.dtype[Any]] = {
    np.dtype(each).name: np.dtype(each)
    for each in (
        *(np.bool_, np.int8, np.int16, np.int32, np.int64),
        *(np.uint8, np.uint16, np.uint32, np.uint64),
        *(np.float16, np.float32, np.float64, np.complex64, np.complex128),
        *(ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2),
    )
}
"""Those that arguments of models have; others are not kept."""
_LEAVES = ("Leaf", "Complex")
_CONTAINERS = ("Tuple", "List", "Dict", "Bounded")


@dataclass(frozen=True, kw_only=True)
class Structure:
    """An array, a container of structures, or a value that is no array."""

    kind: str
    """An enumerator of the schema's `StructureKind`."""
    children: tuple[Structure, ...] = ()
    keys: tuple[Key, ...] = ()
    """Of a dictionary, in the order of the children; of a bounded array, the dimensions whose
    extents its children are, after the array itself."""
    value: Key = None
    """Of a constant; of an ignored generator of random numbers, which seed comes from it."""

    def flatten(self, value: Any, what: str) -> list[Any]:
        """The leaves of a value of this structure; `what` is named if it has another one."""
        match self.kind:
            case "Leaf" | "Complex":
                return [value]
            case "Ignored":
                return []
            case "Nothing" | "Constant":
                if not _are_equal(value, self.value):
                    raise InputError(f"{what} is {self.value!r} in this program, not {value!r}")
                return []
            case "Dict":
                return self._flatten_dict(value, what)
            case "Bounded":
                return [value, *(np.int64(value.shape[dim]) for dim in self.keys)]
            case _:
                return self._flatten_sequence(value, what)

    def _flatten_dict(self, value: Any, what: str) -> list[Any]:
        if isinstance(value, Mapping):
            given = cast("Mapping[Key, Any]", value)
        else:
            # An object of the model is described by what it holds, as far as files can hold it.
            given = {key: held for key, held in _attributes(value).items() if key in self.keys}
            if not given:
                raise InputError(f"{what} is a dictionary, got a {type(value).__name__}")
        if set(given) != set(self.keys):
            raise InputError(
                f"{what} has the keys {_spell_keys(self.keys)}, got {_spell_keys(given)}"
            )
        return [
            leaf
            for key, child in zip(self.keys, self.children, strict=True)
            for leaf in child.flatten(given[key], f"{what}[{key!r}]")
        ]

    def _flatten_sequence(self, value: Any, what: str) -> list[Any]:
        if not isinstance(value, tuple | list):
            raise InputError(f"{what} is a {self.kind.lower()}, got a {type(value).__name__}")
        items = cast("Sequence[Any]", value)
        if len(items) != len(self.children):
            raise InputError(f"{what} has {plural(len(self.children), 'item')}, got {len(items)}")
        return [
            leaf
            for index, (child, item) in enumerate(zip(self.children, items, strict=True))
            for leaf in child.flatten(item, f"{what}[{index}]")
        ]

    def unflatten(self, leaves: Iterator[Any]) -> Any:
        """A value of this structure with the next leaves."""
        match self.kind:
            case "Leaf" | "Complex":
                return next(leaves)
            case "Tuple":
                return tuple(child.unflatten(leaves) for child in self.children)
            case "List":
                return [child.unflatten(leaves) for child in self.children]
            case "Dict":
                children = (child.unflatten(leaves) for child in self.children)
                return dict(zip(self.keys, children, strict=True))
            case "Bounded":
                return self._cut(next(leaves), [int(next(leaves)) for _ in self.keys])
            case _:
                return self.value

    def _cut(self, array: Any, extents: Sequence[int]) -> Any:
        """What counts of a bounded array."""
        index = [slice(None)] * array.ndim
        if max(cast("Sequence[int]", self.keys)) >= array.ndim:
            raise BinaryError(f"a result of {plural(array.ndim, 'dimension')} has fewer than said")
        for dim, extent in zip(cast("Sequence[int]", self.keys), extents, strict=True):
            index[dim] = slice(extent)
        return array[tuple(index)]

    @property
    def leaf_count(self) -> int:
        """The number of arrays of the program in it."""
        return sum(1 + is_complex for is_complex in self.are_complex)

    @property
    def are_complex(self) -> tuple[bool, ...]:
        """Of each leaf, whether it is complex: two arrays of the program."""
        if self.kind in _LEAVES:
            return (self.kind == "Complex",)
        return tuple(flag for child in self.children for flag in child.are_complex)

    @property
    def is_bounded(self) -> bool:
        """Whether arrays in it have extents that are known only when the program has run."""
        return self.kind == "Bounded" or any(child.is_bounded for child in self.children)

    def with_complex(self, are_complex: Iterator[bool]) -> Structure:
        """The same structure with the next leaves complex or not."""
        if self.kind in _LEAVES:
            return replace(self, kind="Complex" if next(are_complex) else "Leaf")
        children = tuple(child.with_complex(are_complex) for child in self.children)
        return replace(self, children=children)

    def find_ignored(self, value: Any) -> Iterator[tuple[Structure, Any]]:
        """What stands in a value at the places of what is ignored, as far as it has the form."""
        if self.kind == "Ignored":
            yield self, value
        parts: Iterable[Any] = ()
        if self.kind == "Dict":
            held = (
                cast("Mapping[Key, Any]", value)
                if isinstance(value, Mapping)
                else _attributes(value)
            )
            parts = [held.get(key) for key in self.keys]
        elif isinstance(value, tuple | list):
            parts = cast("Sequence[Any]", value)
        for child, part in zip(self.children, parts, strict=False):
            yield from child.find_ignored(part)

    def with_seeds(self, numbers: Iterator[int]) -> Structure:
        """The same structure, where the seeds of these numbers come from what is ignored."""
        if self.kind == "Ignored":
            return replace(self, value=next(numbers))
        return replace(self, children=tuple(each.with_seeds(numbers) for each in self.children))

    def to_tables(self) -> list[Table]:
        """`StructureNode` tables: this one, then its children."""
        text = None
        if self.kind in ("Dict", "Bounded"):
            text = json.dumps(self.keys)
        elif self.kind == "Constant" or self.value is not None:
            text = json.dumps(self.value)
        node = {"kind": self.kind, "count": len(self.children), "text": text}
        return [node, *(table for child in self.children for table in child.to_tables())]


LEAF = Structure(kind="Leaf")
IGNORED = Structure(kind="Ignored")
NOTHING = Structure(kind="Nothing")


def tuple_of(*children: Structure) -> Structure:
    """A tuple."""
    return Structure(kind="Tuple", children=children)


def bounded(dims: Sequence[int]) -> Structure:
    """An array of the largest extents there can be, and its extents along dimensions."""
    return Structure(kind="Bounded", keys=tuple(dims), children=(LEAF,) * (1 + len(dims)))


def dict_of(children: Mapping[Any, Structure]) -> Structure:
    """A dictionary; keys that are neither texts nor numbers are spelled out."""
    keys = tuple(key if isinstance(key, str | int) else str(key) for key in children)
    return Structure(kind="Dict", keys=keys, children=tuple(children.values()))


def constant(value: Any) -> Structure:
    """A value that is no array; one that is no text, number or None is spelled out."""
    if value is None:
        return NOTHING
    known = isinstance(value, str | int | float)
    return Structure(kind="Constant", value=value if known else repr(value))


def names_of_pair(name: str) -> tuple[str, str]:
    """The names of the two arrays of a complex one."""
    real, imag = (f"{name}.{part}" for part in PARTS)
    return real, imag


def positional(inputs: int, outputs: int) -> tuple[Structure, Structure]:
    """The structures of a call by position: one result is returned as such, several as a tuple."""
    arguments = tuple_of(tuple_of(*[LEAF] * inputs), dict_of({}))
    return arguments, LEAF if outputs == 1 else tuple_of(*[LEAF] * outputs)


@dataclass(frozen=True, kw_only=True)
class CallSignature:
    """How a model is called; see the schema's table of that name."""

    name: str
    """Of the model."""
    input_names: tuple[str, ...]
    framework: str = ""
    arguments: Structure
    """A tuple of the arguments by position and of a dictionary of those by name."""
    results: Structure
    bound: tuple[int, ...] = ()
    state: int = 0
    parameters: tuple[tuple[str, int], ...] = ()
    """Names of what the model learns, such as `fc.weight`, and how many numbers each has."""
    resident: tuple[int, ...] = ()
    """Inputs that a call passes, but that stay on the device between calls: weights, then state."""
    kept: tuple[int, ...] = ()
    """Outputs that stay there: the new values of state, in the order of the last of those."""
    argument_types: Types = ()
    """Of the inputs of the program in the model; none where the program has the same."""
    result_types: Types = ()

    @property
    def package(self) -> str:
        """Of the arrays that the model returned; empty for NumPy's, as of ONNX and of texts."""
        return "" if self.framework == "onnx" else self.framework

    def flatten(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
        """The leaves of a call; InputError for another structure."""
        positions, names = self.arguments.children
        if len(args) != len(positions.children):
            count = len(positions.children)
            raise InputError(f"takes {plural(count, 'argument')} by position, got {len(args)}")
        leaves = [
            leaf
            for index, (child, value) in enumerate(zip(positions.children, args, strict=True))
            for leaf in child.flatten(value, f"argument {index}")
        ]
        if set(kwargs) != set(names.keys):
            raise InputError(
                f"takes the arguments {_spell_keys(names.keys)} by name, got {_spell_keys(kwargs)}"
            )
        for key, child in zip(names.keys, names.children, strict=True):
            leaves += child.flatten(kwargs[str(key)], f"argument {key}")
        return leaves

    @property
    def leaf_names(self) -> list[str]:
        """The user's names of the arrays of a call."""
        bound = set(self.bound)
        names = iter(name for i, name in enumerate(self.input_names) if i not in bound)
        return [
            _name_of_pair(next(names), next(names)) if is_pair else next(names)
            for is_pair in self.arguments.are_complex
        ]

    def to_table(self) -> dict[str, Any]:
        """The schema's table."""
        return {
            "name": self.name,
            "input_names": list(self.input_names),
            "framework": self.framework,
            "arguments": self.arguments.to_tables(),
            "results": self.results.to_tables(),
            "bound": list(self.bound),
            "state": self.state,
            "parameter_names": [name for name, _ in self.parameters],
            "parameter_sizes": [size for _, size in self.parameters],
            "resident": list(self.resident),
            "kept": list(self.kept),
            "argument_types": _names_of_types(self.argument_types),
            "result_types": _names_of_types(self.result_types),
        }


def _name_of_pair(real: str, imag: str) -> str:
    """The name of what two arrays are the parts of."""
    del imag
    return real.removesuffix(f".{PARTS[0]}")


def read_signature(table: Table, inputs: int, outputs: int, where: str) -> CallSignature:
    """The signature in a file; BinaryError if it does not fit the numbers of inputs and outputs."""
    signature = CallSignature(
        name=table["name"] or "",
        input_names=tuple(name or "" for name in table["input_names"] or ()),
        framework=table["framework"] or "",
        arguments=_read_structure(table["arguments"] or (), f"{where}.arguments"),
        results=_read_structure(table["results"] or (), f"{where}.results"),
        bound=tuple(int(index) for index in table["bound"] or ()),
        state=int(table["state"]),
        parameters=_read_parameters(table, where),
        resident=tuple(int(index) for index in table["resident"] or ()),
        kept=tuple(int(index) for index in table["kept"] or ()),
        argument_types=_read_types(table["argument_types"], f"{where}.argument_types"),
        result_types=_read_types(table["result_types"], f"{where}.result_types"),
    )
    arguments = signature.arguments
    kinds = [child.kind for child in arguments.children]
    if arguments.kind != "Tuple" or kinds != ["Tuple", "Dict"]:
        raise BinaryError(f"{where}.arguments: not a tuple of a tuple and a dictionary")
    if any(node["kind"] == "Bounded" for node in table["arguments"] or ()):
        raise BinaryError(f"{where}.arguments: only results are bounded")
    if not all(isinstance(key, str) for key in arguments.children[1].keys):
        raise BinaryError(f"{where}.arguments: names of arguments are texts")
    bound = signature.bound
    fits = (
        len(signature.input_names) == inputs
        and len(set(bound)) == len(bound)
        and all(index < inputs for index in bound)
        and arguments.leaf_count == inputs - len(bound)
        and signature.state <= min(len(bound), outputs)
        and all(index < inputs for index in signature.resident)
        and all(index < outputs for index in signature.kept)
        and len(signature.kept) <= len(signature.resident)
        and signature.results.leaf_count == outputs - signature.state
        and len(signature.argument_types) in (0, inputs)
        and len(signature.result_types) in (0, outputs)
    )
    if not fits:
        raise BinaryError(
            f"{where}: does not fit a program of {plural(inputs, 'input')}, "
            f"{plural(outputs, 'output')}"
        )
    return signature


def _names_of_types(types: Types) -> list[str]:
    return [each.name if each is not None and each.name in _TYPES else "" for each in types]


def _read_types(names: Sequence[str | None] | None, where: str) -> Types:
    unknown = next((name for name in names or () if name and name not in _TYPES), None)
    if unknown is not None:
        raise BinaryError(f"{where}: {unknown!r} is no type of numbers")
    return tuple(_TYPES.get(name or "") for name in names or ())


def _read_parameters(table: Table, where: str) -> tuple[tuple[str, int], ...]:
    names, sizes = table["parameter_names"] or (), table["parameter_sizes"] or ()
    if len(names) != len(sizes):
        raise BinaryError(f"{where}: {len(names)} names of parameters, but {len(sizes)} sizes")
    return tuple((name or "", int(size)) for name, size in zip(names, sizes, strict=True))


def _read_structure(nodes: Sequence[Table], where: str) -> Structure:
    rest = iter(nodes)
    structure = _read_node(rest, len(nodes), 0, where)
    if next(rest, None) is not None:
        raise BinaryError(f"{where}: more nodes than the first one has")
    return structure


def _read_node(rest: Iterator[Table], most: int, depth: int, where: str) -> Structure:
    node = next(rest, None)
    if node is None or depth > MAX_DEPTH:
        raise BinaryError(f"{where}: {'too few nodes' if node is None else 'nested too deeply'}")
    kind, count = node["kind"], int(node["count"])
    if count > most or (count and kind not in _CONTAINERS):
        raise BinaryError(f"{where}: a {kind} with {count} children")
    children = tuple(_read_node(rest, most, depth + 1, where) for _ in range(count))
    if kind == "Dict":
        keys = _read_json(node["text"], where)
        if not isinstance(keys, list) or len(cast("list[Any]", keys)) != count:
            raise BinaryError(f"{where}: a dictionary of {plural(count, 'item')} with other keys")
        return Structure(
            kind=kind, children=children, keys=_scalars(cast("list[Any]", keys), where)
        )
    if kind == "Bounded":
        return _read_bounded(children, _read_json(node["text"], where), where)
    value = None
    if kind in ("Constant", "Ignored"):
        [value] = _scalars([_read_json(node["text"], where)], where)
    return Structure(kind=kind, children=children, value=value)


def _read_bounded(children: Sequence[Structure], dims: Any, where: str) -> Structure:
    listed = cast("list[Any]", dims) if isinstance(dims, list) else []
    are_dims = all(type(dim) is int and 0 <= dim < MAX_DEPTH for dim in listed)
    kinds = [each.kind for each in children]
    if not listed or not are_dims or kinds != ["Leaf"] * (1 + len(listed)):
        raise BinaryError(f"{where}: a bounded array with other children than its extents")
    return bounded(listed)


def _read_json(text: str | None, where: str) -> Any:
    try:
        return json.loads(text or "null")
    except (ValueError, RecursionError) as error:
        raise BinaryError(f"{where}: {error}") from error


def _scalars(values: list[Any], where: str) -> tuple[Key, ...]:
    if not all(value is None or isinstance(value, str | int | float) for value in values):
        raise BinaryError(f"{where}: keys and values are texts and numbers")
    return tuple(values)


def _attributes(value: Any) -> dict[Key, Any]:
    return dict(getattr(value, "__dict__", {}))


def _are_equal(value: Any, expected: Key) -> bool:
    if value is None or expected is None:
        return value is expected
    if not isinstance(value, str | int | float):
        return repr(value) == expected
    return value == expected


def _spell_keys(keys: Any) -> str:
    return ", ".join(map(repr, keys)) or "none"
