"""Checks of what operations and arguments say of meshes: axes, shardings, shapes of parts.

Messages are those of Shardy's verifiers.
Source: https://openxla.org/shardy/sdy_dialect, shardy/dialect/sdy/ir/verifiers.cc
"""

from __future__ import annotations

import math
import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ttmlir.dialects import sdy
from ttmlir.dialects.definition.ods import refuse
from ttmlir.mlir.printing import show_attribute

_MESH_AXIS = re.compile(r'"([^"]*)"\s*=\s*(-?\d+)')
_LONG_NUMBER = re.compile(r"\d{20,}")
_IDS = re.compile(r"device_ids\s*=\s*\[([^\]]*)\]")
_SHARDING = re.compile(
    r'<(@(?:"[^"]*"|[\w.$-]+)|mesh<[^\[]*\[[^\]]*\][^>]*>), \[([^\[\]]*)\]([^<>]*)>'
)
_DIMENSION = re.compile(r"\{([^{}]*)\}(p\d+)?")
_AXIS = re.compile(r'"([^"]*)"(?::\((\d+)\)(\d+))?')
_REST = re.compile(r"(replicated|unreduced)\s*=\s*\{([^{}]*)\}")


# --- Meshes ---------------------------------------------------------------------------------------


def check_mesh(op: Operation) -> None:
    """VerifyException for axes without devices or with one name, and for numbers of no devices."""
    text = cast("sdy.MeshOp", op).text
    _check_numbers(text)
    axes = [
        (name, int(extent)) for name, extent in _MESH_AXIS.findall(text.partition("device_")[0])
    ]
    for _, extent in axes:
        if extent < 1:
            refuse(f"axis size must be at least 1, got: {extent}")
    names = [name for name, _ in axes]
    for index, name in enumerate(names):
        if name in names[:index]:
            refuse(f'duplicate axis name: "{name}"')
    found = _IDS.search(text)
    if found is not None:
        _check_ids([int(each) for each in found[1].split(",") if each.strip()], axes)


def _check_numbers(text: str) -> None:
    """VerifyException for numbers that are none of a machine."""
    if found := _LONG_NUMBER.search(text):
        refuse(f"numbers have at most 19 digits, got {len(found[0])}")


def _check_ids(ids: Sequence[int], axes: Sequence[tuple[str, int]]) -> None:
    """VerifyException for numbers that are not those of the devices, in any order."""
    for each in ids:
        if each < 0:
            refuse(f"device id must be non-negative, got: {each}")
    if not axes and len(ids) == 1:
        return
    count = math.prod(extent for _, extent in axes)
    if count != len(ids):
        refuse(
            "total product of axis sizes must match total number of device ids, got: "
            f"{count} != {len(ids)}"
        )
    if sorted(ids) != [*range(count)]:
        refuse(
            "sorted device ids must be iota(product(axes)), got: "
            f"{', '.join(map(str, sorted(ids)))}"
        )


@dataclass(frozen=True)
class _Mesh:
    axes: Mapping[str, int]
    is_maximal: bool


def _mesh_of(op: Operation, name: str) -> _Mesh:
    """The mesh that a sharding names, or is of."""
    if not name.startswith("@"):
        return _Mesh(sdy.axes_of(name), _is_maximal(name))
    parent: Operation | None = op
    while parent is not None:
        if isinstance(parent, ModuleOp):
            for each in parent.body.block.ops:
                if isinstance(each, sdy.MeshOp) and each.symbol in (name, name.replace('"', "")):
                    return _Mesh(sdy.axes_of(each.text), _is_maximal(each.text))
        parent = parent.parent_op()
    refuse(f"unknown mesh: {name}")


def _is_maximal(text: str) -> bool:
    return "=" in text and not _MESH_AXIS.search(text) and _IDS.search(text) is not None


# --- Shardings ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Axis:
    """An axis, or a part of it: so many devices, behind those of a product of other parts."""

    name: str
    before: int
    size: int
    text: str


@dataclass(frozen=True)
class _Sharding:
    mesh: _Mesh
    dimensions: Sequence[tuple[list[_Axis], bool, str]]
    """Axes, whether more may be added, and the priority."""
    rest: Mapping[str, list[_Axis]]


def _read(op: Operation, found: re.Match[str]) -> _Sharding:
    _check_numbers(found[0])
    mesh = _mesh_of(op, found[1])
    dimensions = [
        (_axes(axes, mesh), "?" in axes, priority)
        for axes, priority in _DIMENSION.findall(found[2])
    ]
    rest = {word: _axes(axes, mesh) for word, axes in _REST.findall(found[3])}
    return _Sharding(mesh, dimensions, rest)


def _axes(text: str, mesh: _Mesh) -> list[_Axis]:
    found: list[_Axis] = []
    for each in _AXIS.finditer(text):
        name, before, size = each[1], each[2], each[3]
        if name not in mesh.axes:
            refuse(f'unknown axis name: "{name}"')
        whole = mesh.axes[name]
        if size is None:
            found.append(_Axis(name, 1, whole, each[0]))
            continue
        before, size = int(before), int(size)
        if before < 1:
            refuse(f"sub-axis pre-size must be at least 1: {each[0]}")
        if size <= 1:
            refuse(f"sub-axis sizes must be greater than 1: {each[0]}")
        if whole % (before * size):
            refuse(
                f"sub-axis next pre-size {before * size} doesn't divide the size of the full axis "
                f"{whole}: {each[0]}"
            )
        if size == whole:
            refuse(f"sub-axis size is equal to the full axis size: {each[0]}")
        found.append(_Axis(name, before, size, each[0]))
    return found


def _check(op: Operation, found: re.Match[str], type: Attribute) -> _Sharding:
    """A sharding of a value of a type; VerifyException with the reason alone."""
    sharding = _read(op, found)
    listed = [axes for axes, _, _ in sharding.dimensions] + [*sharding.rest.values()]
    if sharding.mesh.is_maximal and (sharding.dimensions or any(listed)):
        refuse(
            "a maximal sharding can only have a sharding with rank 0 and no replicated or "
            "unreduced axes."
        )
    if isinstance(type, TensorType) and not sharding.mesh.is_maximal:
        rank = len(cast("TensorType[Attribute]", type).shape.data)
        if len(sharding.dimensions) != rank:
            refuse(f"sharding doesn't match tensor rank: {len(sharding.dimensions)} != {rank}")
    for number, (axes, is_open, priority) in enumerate(sharding.dimensions):
        if priority and not axes and not is_open:
            refuse(f"dim {number} is empty and closed but has a priority")
    _check_once(listed)
    order = [*sharding.mesh.axes]
    for word, axes in sharding.rest.items():
        places = [(order.index(each.name), each.before) for each in axes]
        if places != sorted(places):
            refuse(f"{word} axes are not ordered w.r.t. mesh")
    return sharding


def _check_once(listed: Sequence[Sequence[_Axis]]) -> None:
    """VerifyException for an axis that is used twice, or in parts that belong together."""
    seen: list[_Axis] = []
    for axes in listed:
        for index, each in enumerate(axes):
            for other in seen:
                _check_apart(other, each)
            seen.append(each)
            previous = axes[index - 1] if index else None
            is_next = previous is not None and previous.name == each.name
            if is_next and previous is not None and previous.before * previous.size == each.before:
                refuse(f"two consecutive sub-axes can be merged: {previous.text}, {each.text}")


def _check_apart(one: _Axis, other: _Axis) -> None:
    if one.name != other.name:
        return
    if one == other:
        refuse(f"duplicate axis ref: {other.text}")
    if ":" not in one.text or ":" not in other.text:
        refuse(f'both sub-axis and full-axis are used for axis name: "{one.name}"')
    first, second = sorted((one, other), key=lambda each: each.before)
    if first.before * first.size > second.before:
        refuse(f"overlapping sub-axes: {one.text}, {other.text}")


# --- Operations -----------------------------------------------------------------------------------


def check_sharded(op: Operation) -> None:
    """VerifyException for a sharding of its result that an operation of sdy cannot have."""
    said = op.properties.get("sharding", op.properties.get("out_sharding"))
    found = _SHARDING.fullmatch(said.data) if isinstance(said, sdy.TensorShardingAttr) else None
    if found is not None:
        _check(op, found, op.results[0].type)


def check_said(op: Operation) -> str | None:
    """What is wrong with shardings of an operation's results or a function's arguments; or None."""
    try:
        if isinstance(op, FuncOp):
            _check_function(op)
        elif "sdy.sharding" in op.attributes and op.results and _has_meshes(op):
            said = op.attributes["sdy.sharding"]
            if not isinstance(said, sdy.TensorShardingPerValueAttr):
                refuse("should have a sharding attribute of type TensorShardingPerValueAttr")
            _check_values(op, said.data, op.results, "result")
    except VerifyException as error:
        return str(error)
    return None


def _has_meshes(op: Operation) -> bool:
    """False where meshes have been resolved, and nobody reads what is said of them any more."""
    parent: Operation | None = op
    while parent is not None:
        if isinstance(parent, ModuleOp) and any(
            isinstance(each, sdy.MeshOp) for each in parent.body.block.ops
        ):
            return True
        parent = parent.parent_op()
    return False


def _check_function(op: FuncOp) -> None:
    types = (op.function_type.inputs.data, op.function_type.outputs.data)
    for name, what, listed in zip(
        ("arg_attrs", "res_attrs"), ("arg", "result"), types, strict=True
    ):
        said = op.properties.get(name)
        if not isinstance(said, ArrayAttr):
            continue
        entries = cast("ArrayAttr[DictionaryAttr]", said).data
        for number, (entry, type) in enumerate(zip(entries, listed, strict=False)):
            sharding = entry.data.get("sdy.sharding")
            found = None
            if isinstance(sharding, sdy.TensorShardingAttr):
                found = _SHARDING.fullmatch(sharding.data)
            if found is not None:
                with _saying(f"{what} {number} - "):
                    _check(op, found, type)


def _check_values(
    op: Operation, text: str, values: Sequence[SSAValue], what: str
) -> list[_Sharding]:
    found = [*_SHARDING.finditer(text)]
    if len(found) != len(values):
        refuse(
            f"{what} shardings don't match number of values: {len(found)} shardings vs "
            f"{len(values)} values"
        )
    checked: list[_Sharding] = []
    for number, (each, value) in enumerate(zip(found, values, strict=True)):
        with _saying(f"{what} {number} - " if len(values) > 1 else f"{what} - "):
            checked.append(_check(op, each, value.type))
    return checked


@contextmanager
def _saying(before: str) -> Generator[None]:
    try:
        yield
    except VerifyException as error:
        raise VerifyException(f"{before}{error}") from error


# --- Regions of parts -----------------------------------------------------------------------------


def check_manual(op: Operation) -> None:
    """VerifyException for a region whose values are not the parts that shardings say."""
    texts = [
        cast("sdy.TensorShardingPerValueAttr", op.properties[name]).data
        for name in ("in_shardings", "out_shardings")
    ]
    block = op.regions[0].block
    last = block.last_op
    sides = (
        ("operand", texts[0], op.operands, block.args),
        ("result", texts[1], op.results, () if last is None else last.operands),
    )
    shardings = [_check_values(op, text, whole, what) for what, text, whole, _ in sides]
    meshes = [each.mesh for side in shardings for each in side if each.mesh.axes]
    if any(each != meshes[0] for each in meshes):
        refuse("all in and out shardings must be bound to the same mesh or an empty mesh.")
    manual = re.findall(r'"([^"]*)"', cast("sdy.ManualAxesAttr", op.properties["manual_axes"]).data)
    for name in manual:
        if meshes and name not in meshes[0].axes:
            refuse(f'unknown manual axis: "{name}"')
    for (what, _, whole, parts), said in zip(sides, shardings, strict=True):
        if len(whole) != len(parts):
            refuse(
                f"number of op {what}s and region {what}s must match. Op has {len(whole)} op "
                f"{what}s and {len(parts)} region {what}s"
            )
        for number, (one, part, sharding) in enumerate(zip(whole, parts, said, strict=True)):
            _check_part(what, number, one.type, part.type, sharding, manual)


def _check_part(
    what: str,
    number: int,
    whole: Attribute,
    part: Attribute,
    sharding: _Sharding,
    manual: Sequence[str],
) -> None:
    if not (isinstance(whole, TensorType) and isinstance(part, TensorType)):
        return
    shape = list(cast("TensorType[Attribute]", whole).get_shape())
    for dim, (axes, _, _) in enumerate(sharding.dimensions):
        names = [each.name in manual for each in axes]
        for index, each in enumerate(axes):
            free = next((other for other in axes[:index] if other.name not in manual), None)
            if names[index] and free is not None:
                refuse(
                    f"{what} sharding at index {number} must have all manual axes come before free "
                    f"axes in its dimension sharding at index {dim}. Saw manual axis {each.text} "
                    f"after free axis {free.text}"
                )
        count = math.prod(each.size for each in axes if each.name in manual)
        if shape[dim] >= 0:
            if shape[dim] % count:
                refuse(
                    f"{what} dimension size {shape[dim]} is not divisible by the manual axes size "
                    f"{count}"
                )
            shape[dim] //= count
    if tuple(shape) != cast("TensorType[Attribute]", part).get_shape():
        expected = TensorType(cast("TensorType[Attribute]", whole).element_type, shape)
        refuse(
            f"{what} shape, corresponding sharding, and region {what} shape at index {number} must "
            f"match. Expected local shape '{show_attribute(expected)}', actual local shape "
            f"'{show_attribute(cast('Attribute', part))}'"
        )
