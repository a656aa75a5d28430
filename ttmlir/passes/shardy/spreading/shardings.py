"""Shardings and meshes, read from the text that attributes of sdy keep.

    sharding = Sharding.parse('<@mesh, [{"x"}, {?}]>', op)
    sharding.local_shape((64, 32), {"x": 2})      # (32, 32)

`map_shardings` replaces every sharding of a module, wherever it stands.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Self, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, DictionaryAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects import sdy
from ttmlir.ir.rewriting import refuse_at
from ttmlir.ir.tensor_types import is_tensor, value_shape
from ttmlir.limits import MAX_CHIPS

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

SHARDING = "sdy.sharding"
"""The attribute of arguments, results and operations that says how their tensors are spread."""


@dataclass(frozen=True)
class Dimension:
    """The axes that one dimension of a tensor is spread over."""

    axes: tuple[str, ...] = ()
    """As they are spelled, such as `"x"` or `"x":(1)2`."""
    is_open: bool = False
    """True where more axes may be added."""
    priority: str = ""

    def __str__(self) -> str:
        """As in the text of an attribute."""
        return f"{{{', '.join((*self.axes, *(['?'] if self.is_open else [])))}}}{self.priority}"


@dataclass(frozen=True)
class Sharding:
    """How one tensor is spread over a mesh."""

    mesh: str
    """`@name`, or the mesh itself."""
    dimensions: tuple[Dimension, ...]
    rest: str = ""
    """What is said of axes besides, with a comma before."""

    @classmethod
    def parse(cls, text: str, op: Operation) -> Self:
        """Read one sharding; what is none is refused at an operation."""
        found = sdy.SHARDING.fullmatch(text)
        if found is None:
            refuse_at(op, f"'{text}' is no sharding of a tensor over the axes of a mesh")
        return cls._of(found)

    @classmethod
    def _of(cls, found: re.Match[str]) -> Self:
        dimensions: list[Dimension] = []
        for axes, priority in sdy.DIMENSION.findall(found[2]):
            words = [word.strip() for word in axes.split(",") if word.strip()]
            named = tuple(word for word in words if word != "?")
            dimensions.append(Dimension(named, "?" in words, priority))
        return cls(found[1], tuple(dimensions), found[3])

    @classmethod
    @lru_cache(maxsize=64)
    def parse_all(cls, text: str) -> tuple[Self, ...]:
        """Read the shardings of several values."""
        return tuple(cls._of(found) for found in sdy.SHARDING.finditer(text))

    @classmethod
    def open(cls, mesh: str, rank: int) -> Self:
        """That of a tensor of which nothing is said."""
        return cls(mesh, (Dimension(is_open=True),) * rank)

    def __str__(self) -> str:
        """As in the text of an attribute, angle brackets included."""
        return f"<{self.mesh}, [{', '.join(map(str, self.dimensions))}]{self.rest}>"

    @property
    def is_spread(self) -> bool:
        """True where a dimension is spread over axes."""
        return any(each.axes for each in self.dimensions)

    def parts(self, mesh: sdy.Mesh) -> tuple[int, ...]:
        """Into how many parts each dimension is cut."""
        return tuple(_volume(each.axes, mesh) for each in self.dimensions)

    def local_shape(self, shape: tuple[int, ...], mesh: sdy.Mesh) -> tuple[int, ...] | None:
        """The extents of the part of one device; None if a dimension cannot be cut so."""
        parts = self.parts(mesh)
        if len(parts) != len(shape) or _uneven(shape, parts) is not None:
            return None
        return tuple(extent // count for extent, count in zip(shape, parts, strict=True))

    def describe_uneven(self, shape: tuple[int, ...], mesh: sdy.Mesh) -> str:
        """Why there is no `local_shape`, as a sentence behind others."""
        parts = self.parts(mesh)
        if len(parts) != len(shape):
            return f" It is for {len(parts)} dimensions, the tensor has {len(shape)}."
        at = _uneven(shape, parts)
        assert at is not None, "the tensor is divided unevenly"
        axes = ", ".join(self.dimensions[at].axes)
        if shape[at] == DYNAMIC_INDEX:
            return (
                f" Dimension {at}, which is ?, is divided by {parts[at]} ({axes}); give it a size, "
                "or divide another one."
            )
        return (
            f" Dimension {at} of {shape[at]} is divided by {parts[at]} ({axes}); pad it to a "
            "multiple, or divide another one."
        )

    def without(self, axes: Container[str]) -> Self:
        """That of the part along some axes, which dimensions are divided over no more."""
        dimensions = (
            replace(each, axes=tuple(axis for axis in each.axes if axis not in axes))
            for each in self.dimensions
        )
        return replace(self, dimensions=tuple(dimensions))

    def closed(self) -> Self:
        """The same without dimensions that more axes may be added to."""
        return replace(self, dimensions=tuple(replace(d, is_open=False) for d in self.dimensions))


def _uneven(shape: tuple[int, ...], parts: tuple[int, ...]) -> int | None:
    """The first dimension without a size, or of no multiple of its parts; None if there is none."""
    for at, (extent, count) in enumerate(zip(shape, parts, strict=True)):
        if count > 1 and (extent == DYNAMIC_INDEX or extent % count):
            return at
    return None


def check_devices(op: Operation, mesh: sdy.Mesh) -> None:
    """Refuse a mesh of more devices than run, whose groups are lists of devices."""
    if (count := math.prod(mesh.values())) > MAX_CHIPS:
        refuse_at(op, f"a mesh has 1 to {MAX_CHIPS} chips, got {count}")


def _volume(axes: tuple[str, ...], mesh: sdy.Mesh) -> int:
    volume = 1
    for axis in axes:
        name, _, part = axis.partition(":")
        volume *= int(part.rpartition(")")[2]) if part else mesh.get(name.strip('"'), 1)
    return volume


def sharding_of(value: SSAValue) -> Sharding | None:
    """What is said of a value: of an argument by its function, of a result by its operation."""
    said = sdy.sharding_text(value)
    if said is None:
        return None
    text, axes = said
    owner = value.owner if isinstance(value.owner, Operation) else value.owner.parent_op()
    sharding = Sharding.parse(text, cast("Operation", owner))
    return sharding.without({f'"{axis}"' for axis in axes}) if axes else sharding


def sharding_or_open(value: SSAValue, mesh: str) -> Sharding:
    """What is said of a value; where nothing is, an open one of a mesh."""
    return sharding_of(value) or open_sharding(value, mesh)


def open_sharding(value: SSAValue, mesh: str) -> Sharding:
    """That of a value of which nothing is said; what is no tensor has no dimensions."""
    return Sharding.open(mesh, len(value_shape(value)) if is_tensor(value) else 0)


def result_sharding(function: FuncOp, index: int) -> Sharding | None:
    """What a function says of one of its results."""
    said = said_of(function.res_attrs, index).get(SHARDING)
    return Sharding.parse(said.data, function) if isinstance(said, sdy.TensorShardingAttr) else None


def per_value(shardings: tuple[Sharding, ...]) -> sdy.TensorShardingPerValueAttr:
    """The attribute of several values."""
    return sdy.TensorShardingPerValueAttr(f"<[{', '.join(map(str, shardings))}]>")


Change = Callable[[Sharding], Sharding]


def map_shardings(module: ModuleOp, change: Change) -> None:
    """Replace every sharding of arguments, results and operations."""

    def changed(attribute: Attribute) -> Attribute:
        if isinstance(attribute, sdy.TensorShardingAttr | sdy.TensorShardingPerValueAttr):
            text = sdy.SHARDING.sub(lambda found: _changed(found, change), attribute.data)
            return type(attribute)(text)
        return attribute

    for op in module.walk():
        for held in (op.attributes, op.properties):
            for name, attribute in held.items():
                held[name] = changed(attribute)
        if isinstance(op, FuncOp):
            for name in ("arg_attrs", "res_attrs"):
                said = op.properties.get(name)
                if isinstance(said, ArrayAttr):
                    op.properties[name] = ArrayAttr(
                        [
                            DictionaryAttr({key: changed(each) for key, each in entry.data.items()})
                            for entry in cast("ArrayAttr[DictionaryAttr]", said).data
                        ]
                    )


def _changed(found: re.Match[str], change: Change) -> str:
    return str(change(Sharding._of(found)))  # pyright: ignore[reportPrivateUsage]


def said_of(held: ArrayAttr[DictionaryAttr] | None, index: int) -> Mapping[str, Attribute]:
    """What is said of one argument or result, by name."""
    return {} if held is None else held.data[index].data


def set_argument(function: FuncOp, index: int, **more: Attribute | None) -> None:
    """Say more of an argument; a value of None takes back what is said."""
    said = function.arg_attrs
    entries = [*said.data] if said else [DictionaryAttr({})] * len(function.function_type.inputs)
    function.arg_attrs = _updated(entries, index, more)


def set_result(function: FuncOp, index: int, **more: Attribute | None) -> None:
    """Say more of a result."""
    said = function.res_attrs
    entries = [*said.data] if said else [DictionaryAttr({})] * len(function.function_type.outputs)
    function.res_attrs = _updated(entries, index, more)


def _updated(
    entries: list[DictionaryAttr], index: int, more: Mapping[str, Attribute | None]
) -> ArrayAttr[DictionaryAttr]:
    words = {name.replace("__", "."): value for name, value in more.items()}
    known = {name: value for name, value in entries[index].data.items() if name not in words}
    known |= {name: value for name, value in words.items() if value is not None}
    entries[index] = DictionaryAttr(dict(sorted(known.items())))
    return ArrayAttr(entries)
