"""Checks of what operations and arguments say of meshes: axes, shardings, shapes of parts.

Messages are those of Shardy's verifiers.
Source: https://openxla.org/shardy/sdy_dialect, shardy/dialect/sdy/ir/verifiers.cc
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, TensorType
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ttmlir.dialects import sdy
from ttmlir.dialects.definition.ods import refuse
from ttmlir.mlir.printing import show_attribute

_MESH_AXIS = re.compile(r'"([^"]*)"\s*=\s*(-?\d+)')
_LONG_NUMBER = re.compile(r"\d{20,}")
_IDS = re.compile(r"device_ids\s*=\s*\[([^\]\[]*)\]")
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
    names = set[str]()
    for name, _ in axes:
        if name in names:
            refuse(f'duplicate axis name: "{name}"')
        names.add(name)
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
    if not axes:
        if len(ids) > 1:
            refuse("axes is empty and device_ids has more than one element")
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
    ids: tuple[int, ...]
    """The numbers of devices where they are not in order."""

    @classmethod
    def read(cls, text: str) -> _Mesh:
        found = _IDS.search(text)
        ids = tuple(map(int, found[1].split(","))) if found is not None else ()
        return cls(sdy.axes_of(text), ids)

    @property
    def is_maximal(self) -> bool:
        """True for a single device."""
        return bool(self.ids) and not self.axes


def _parents(op: Operation) -> Iterator[Operation]:
    """An operation, what it stands in, and so on."""
    parent: Operation | None = op
    while parent is not None:
        yield parent
        parent = parent.parent_op()


def _mesh_of(op: Operation, name: str) -> _Mesh:
    """The mesh that a sharding names, or is of."""
    if not name.startswith("@"):
        return _Mesh.read(name)
    for parent in _parents(op):
        if isinstance(parent, ModuleOp):
            for each in parent.body.block.ops:
                if isinstance(each, sdy.MeshOp) and each.symbol in (name, name.replace('"', "")):
                    return _Mesh.read(each.text)
    refuse(f"unknown mesh: {name}")


# --- Shardings ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Axis:
    """An axis, or a part of it: so many devices, behind those of a product of other parts."""

    name: str
    before: int
    size: int
    text: str

    @property
    def is_part(self) -> bool:
        """True where it is not the axis as a whole."""
        return self.text.endswith(f"){self.size}")

    def overlaps(self, other: _Axis) -> bool:
        """True where devices that differ along one may differ along the other."""
        first, second = sorted((self, other), key=lambda each: each.before)
        return self.name == other.name and first.before * first.size > second.before


@dataclass(frozen=True)
class _Sharding:
    mesh: _Mesh
    dimensions: Sequence[tuple[list[_Axis], bool, str]]
    """Axes, whether more may be added, and the priority."""
    rest: Mapping[str, list[_Axis]]

    @property
    def axes(self) -> list[list[_Axis]]:
        """The axes of each dimension."""
        return [axes for axes, _, _ in self.dimensions]

    @property
    def listed(self) -> list[list[_Axis]]:
        """Axes of dimensions, then those that are said besides."""
        return [*self.axes, *self.rest.values()]


def _read(op: Operation, found: re.Match[str]) -> _Sharding:
    _check_numbers(found[0])
    mesh = _mesh_of(op, found[1])
    dimensions = [
        (_axes(axes, mesh), "?" in axes, priority)
        for axes, priority in sdy.DIMENSION.findall(found[2])
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
        found.append(_Axis(name, before, size, each[0]))
    return found


def _check_parts(listed: Sequence[Sequence[_Axis]], mesh: _Mesh) -> None:
    """VerifyException for parts that an axis cannot have."""
    for each in (axis for axes in listed for axis in axes if axis.is_part):
        whole, size = mesh.axes[each.name], each.before * each.size
        if whole % size:
            refuse(
                f"sub-axis next pre-size {size} doesn't divide the size of the full axis "
                f"{whole}: {each.text}"
            )
        if each.size == whole:
            refuse(f"sub-axis size is equal to the full axis size: {each.text}")


def _check(op: Operation, found: re.Match[str], type: Attribute) -> _Sharding:
    """A sharding of a value of a type; VerifyException with the reason alone."""
    sharding = _read(op, found)
    listed = sharding.listed
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
    _check_parts(listed, sharding.mesh)
    for word, axes in sharding.rest.items():
        _check_order(word, axes, sharding.mesh)
    return sharding


def _check_order(word: str, axes: Sequence[_Axis], mesh: _Mesh) -> None:
    """VerifyException for axes in another order than that of the mesh."""
    order = [*mesh.axes]
    places = [(order.index(each.name), each.before) for each in axes]
    if places != sorted(places):
        refuse(f"{word} axes are not ordered w.r.t. mesh")


def _check_once(listed: Sequence[Sequence[_Axis]]) -> None:
    """VerifyException for an axis that is used twice, or in parts that belong together."""
    seen: list[_Axis] = []
    for each in itertools.chain(*listed):
        if each in seen:
            refuse(f"duplicate axis ref: {each.text}")
        seen.append(each)
    seen.clear()
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
    if not (one.is_part and other.is_part):
        refuse(f'both sub-axis and full-axis are used for axis name: "{one.name}"')
    if one.overlaps(other):
        refuse(f"overlapping sub-axes: {one.text}, {other.text}")


# --- Operations -----------------------------------------------------------------------------------


def check_sharded(op: Operation) -> None:
    """VerifyException for a sharding of its result that an operation of sdy cannot have."""
    check_same_type(op)
    said = op.properties.get("sharding", _out(op))
    if not isinstance(said, sdy.TensorShardingAttr):
        return
    found = sdy.SHARDING.fullmatch(said.data)
    if found is not None:
        _check_free(op, _check(op, found, op.results[0].type))


def check_same_type(op: Operation) -> None:
    """VerifyException for a result of another type than that of the operand."""
    if op.operands[0].type != op.results[0].type:
        refuse("requires the same type for all operands and results")


def check_edge(op: Operation) -> None:
    """VerifyException for an edge beside other uses, or of what has no edges."""
    check_same_type(op)
    owner = op.operands[0].owner
    if isinstance(owner, Operation) and owner.name.startswith("sdy."):
        if not isinstance(owner, sdy.NamedComputationOp | sdy.ManualComputationOp):
            refuse(
                "expected input of sdy.data_flow_edge to not be defined by an SdyDialect op "
                "(other than an sdy.named_computation)."
            )
    _check_only_use(op)
    check_sharded(op)


def check_edge_of_function(op: Operation) -> None:
    """VerifyException for an edge that is at the border of no function."""
    check_same_type(op)
    value = op.operands[0]
    if isinstance(value, BlockArgument):
        if not isinstance(value.owner.parent_op(), FuncOp):
            refuse(f"expected operand of {op.name} to be a block argument of a func op.")
    elif not isinstance(value.owner, CallOp):
        refuse(f"expected operand of {op.name} to be a result of call op.")
    _check_only_use(op, "operand")


def _check_only_use(op: Operation, what: str = "input") -> None:
    if len([*op.operands[0].uses]) > 1:
        refuse(f"expected {what} of {op.name} to have a single user")


def _out(op: Operation) -> Attribute | None:
    return op.properties.get("out_sharding")


def _check_free(op: Operation, sharding: _Sharding) -> None:
    """VerifyException for axes that a region around an operation has bound."""
    _check_names_are_free(op, [each.name for axes in sharding.listed for each in axes])


def _check_names_are_free(op: Operation, names: Sequence[str]) -> None:
    bound: set[str] = set()
    for parent in _parents(op):
        if parent is not op and isinstance(parent, sdy.ManualComputationOp):
            bound.update(_manual_axes(parent))
    for name in names:
        if name in bound:
            refuse(
                f'operates on axis "{name}" which is already bound by a parent '
                "sdy.manual_computation op"
            )


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
    return any(
        isinstance(parent, ModuleOp)
        and any(isinstance(each, sdy.MeshOp) for each in parent.body.block.ops)
        for parent in _parents(op)
    )


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
                found = sdy.SHARDING.fullmatch(sharding.data)
            if found is not None:
                with _saying(f"{what} {number} - "):
                    _check(op, found, type)


def _check_values(
    op: Operation, text: str, values: Sequence[SSAValue], what: str
) -> list[_Sharding]:
    found = [*sdy.SHARDING.finditer(text)]
    if len(found) != len(values):
        refuse(
            f"{what} shardings don't match number of values: {len(found)} shardings vs "
            f"{len(values)} values"
        )
    checked: list[_Sharding] = []
    for number, (each, value) in enumerate(zip(found, values, strict=True)):
        with _saying(f"{what} {number} - " if len(values) > 1 else f"{what} - "):
            checked.append(_check(op, each, value.type))
            _check_free(op, checked[-1])
    return checked


@contextmanager
def _saying(before: str) -> Generator[None]:
    try:
        yield
    except VerifyException as error:
        raise VerifyException(f"{before}{error}") from error


# --- Collectives ----------------------------------------------------------------------------------


def check_collective(op: Operation, kind: str) -> None:
    """VerifyException for a move between devices that does not make what its sharding says.

    Kinds are the names of the operations, without that of the dialect.
    """
    check_sharded(op)
    made = _said(op, cast("sdy.TensorShardingAttr", _out(op)).data)
    text = sdy.sharding_text(op.operands[0])
    if text is None and kind in _NEED_SHARDINGS:
        refuse("collective on operand without sharding")
    given = None
    if text is not None:
        given = _said(op, text[0], bound=text[1])
        _check_meshes(given.mesh, made.mesh, kind)
    old: list[list[_Axis]] = [[] for _ in made.dimensions] if given is None else given.axes
    match kind:
        case "collective_permute":
            _check_sizes(old, made.axes)
        case "all_reduce":
            replicated = given.rest.get("replicated", ()) if given is not None else ()
            _check_sum(op, made, old, replicated)
        case "all_to_all":
            _check_expected(made.axes, _exchanged(op, made.mesh, old))
        case "replicated_to_unreduced":
            _check_terms(op, given, made)
        case _:
            _check_gather(op, made.mesh, old, made.axes, _GONE.get(kind, ""))
            if kind == "sharded_to_unreduced" and given is not None:
                text = _text_of_axes(op)
                moved = [each for axes in _LIST.findall(text) for each in _axes(axes, made.mesh)]
                _check_unreduced(given, moved, made, "sharded_to_unreduced")


def _check_meshes(given: _Mesh, made: _Mesh, kind: str) -> None:
    if kind != "collective_permute" and given != made:
        refuse("result mesh does not match operand mesh")
    if given.axes != made.axes:
        refuse("result mesh has different axes than operand mesh")


def _check_sizes(old: Sequence[list[_Axis]], new: Sequence[list[_Axis]]) -> None:
    """VerifyException for parts of another size than those that were there."""
    for number, pair in enumerate(zip(new, old, strict=True)):
        one, other = (math.prod(each.size for each in axes) for axes in pair)
        if one != other:
            refuse(
                "sharded size of result doesn't match operand on dimension "
                f"{number}: {one} != {other}"
            )


def _check_gather(
    op: Operation,
    mesh: _Mesh,
    old: Sequence[list[_Axis]],
    new: Sequence[list[_Axis]],
    word: str,
) -> None:
    """VerifyException for other axes than those behind a move.

    The word says what takes axes away; without one, they are added.
    """
    listed = [_axes(each, mesh) for each in _LIST.findall(_text_of_axes(op))]
    _check_once(listed)
    _check_parts(listed, mesh)
    if len(listed) != len(old):
        refuse(f"result sharding has rank {len(old)} but collective axes has rank {len(listed)}")
    expected: list[list[_Axis]] = []
    for number, (axes, more) in enumerate(zip(old, listed, strict=True)):
        expected.append(_without(axes, more, word, number) if word else [*axes, *more])
        _check_expected(new[: number + 1], expected)


def _check_terms(op: Operation, given: _Sharding | None, made: _Sharding) -> None:
    """VerifyException for copies that cannot become terms of a sum along some axes."""
    if given is None:
        return
    if given.dimensions != made.dimensions:
        refuse("input and output must share the same dimension shardings")
    axes = _axes(_text_of_axes(op), made.mesh)
    if not axes:
        refuse("r2u axes must not be empty")
    _check_once([axes])
    _check_parts([axes], made.mesh)
    _check_order("r2u", axes, made.mesh)
    unreduced = given.rest.get("unreduced", ())
    for each in axes:
        for word, used in (
            ("dimension sharding", itertools.chain(*given.axes)),
            ("unreduced axes", unreduced),
        ):
            if any(each.overlaps(other) for other in used):
                refuse(f"r2u axis {each.text} overlaps with operand {word}")
    _check_unreduced(given, axes, made, "r2u")


def _check_unreduced(given: _Sharding, moved: Sequence[_Axis], made: _Sharding, word: str) -> None:
    """VerifyException for a sum that has terms along other axes than the operand and the move."""
    order = {name: place for place, name in enumerate(made.mesh.axes)}
    expected = sorted(
        [*given.rest.get("unreduced", ()), *moved], key=lambda each: (order[each.name], each.before)
    )
    if _merged(expected) != _merged(made.rest.get("unreduced", ())):
        refuse(f"out_unreduced_axes should be in_unreduced_axes + {word}_axes")


_NEED_SHARDINGS = (
    *("all_gather", "all_to_all", "collective_permute"),
    *("replicated_to_unreduced", "sharded_to_unreduced"),
)
"""Moves of tensors that have to be divided."""
_GONE = {"all_gather": "gathering", "sharded_to_unreduced": "shard-to-unreduce"}
"""Moves that take axes away from dimensions, as Shardy says it."""
_LIST = re.compile(r"\{([^{}]*)\}")
_PARAMETER = re.compile(r"\{([^{}]*)\}\s*:\s*(-?\d+)\s*->\s*(-?\d+)")


def _text_of_axes(op: Operation) -> str:
    [text] = [each.data for each in op.properties.values() if isinstance(each, sdy.AxesAttr)]
    return text


def _said(op: Operation, text: str, bound: Sequence[str] = ()) -> _Sharding:
    """A sharding as it is said, without axes that a region has bound."""
    found = sdy.SHARDING.fullmatch(text)
    if found is None:
        refuse(f"'{text}' is no sharding of a tensor over the axes of a mesh")
    sharding = _read(op, found)
    dimensions = [
        ([each for each in axes if each.name not in bound], is_open, priority)
        for axes, is_open, priority in sharding.dimensions
    ]
    return replace(sharding, dimensions=dimensions)


def _check_sum(
    op: Operation, made: _Sharding, old: Sequence[list[_Axis]], replicated: Sequence[_Axis]
) -> None:
    axes = _axes(_text_of_axes(op), made.mesh)
    _check_once([axes])
    _check_parts([axes], made.mesh)
    _check_order("reduction", axes, made.mesh)
    if [*map(_merged, old)] != [*map(_merged, made.axes)]:
        refuse("operand and result shardings are not equivalent")
    for word, used in (
        ("operand dimension sharding or replicated", [*itertools.chain(*old), *replicated]),
        ("result unreduced", made.rest.get("unreduced", ())),
    ):
        for each in axes:
            if any(each.overlaps(other) for other in used):
                refuse(f"reduction axis {each.text} overlaps with {word} axes")


def _exchanged(op: Operation, mesh: _Mesh, old: Sequence[list[_Axis]]) -> list[list[_Axis]]:
    """The axes of dimensions behind an exchange between them."""
    found = [
        (_axes(axes, mesh), int(source), int(target))
        for axes, source, target in _PARAMETER.findall(_text_of_axes(op))
    ]
    if not found:
        refuse("parameter list is empty")
    _check_once([axes for axes, _, _ in found])
    _check_parts([axes for axes, _, _ in found], mesh)
    seen: set[int] = set()
    last, expected = -1, [*old]
    for _, source, target in found:
        for word, number in (("source", source), ("target", target)):
            if not 0 <= number < len(old):
                refuse(f"{word} dimension {number} is out of range [0, {len(old)})")
        for number in (source, target):
            if number in seen:
                refuse(f"overlapping source/target dimensions in all-to-all params: {number}")
            seen.add(number)
        if source < last:
            refuse(
                f"source dimensions are not sorted in ascending order: {source} appears after "
                f"{last}"
            )
        last = source
    for axes, source, target in found:
        expected[source] = _without(expected[source], axes, "all-to-all", source)
        expected[target] = [*expected[target], *axes]
    return expected


def _merged(axes: Sequence[_Axis]) -> list[_Axis]:
    """The same with parts of an axis that follow each other as one."""
    done: list[_Axis] = []
    for each in axes:
        last = done[-1] if done else None
        if last is not None and last.name == each.name and last.before * last.size == each.before:
            size = last.size * each.size
            done[-1] = _Axis(each.name, last.before, size, f'"{each.name}":({last.before}){size}')
        else:
            done.append(each)
    # An axis as a whole is one, however it is written.
    return [replace(each, text="") for each in done]


def _without(
    axes: Sequence[_Axis], gone: Sequence[_Axis], word: str, dimension: int
) -> list[_Axis]:
    """What is left of the axes of a dimension whose last ones are gone."""
    left = [*axes]
    for each in reversed(gone):
        last = left.pop() if left else None
        if last is not None and _merged([last]) != _merged([each]):
            # The end of an axis may go alone.
            is_end = last.name == each.name and each.before > last.before
            if is_end and last.before * last.size == each.before * each.size:
                size = each.before // last.before
                text = f'"{last.name}":({last.before}){size}'
                left.append(_Axis(last.name, last.before, size, text))
            else:
                last = None
        if last is None:
            refuse(
                f"can't apply {word} axis {each.text} to operand sharding on dimension {dimension}"
            )
    return left


def _check_expected(made: Sequence[list[_Axis]], expected: Sequence[list[_Axis]]) -> None:
    for number, (one, other) in enumerate(zip(made, expected, strict=True)):
        if _merged(one) != _merged(other):
            refuse(
                "result sharding doesn't match expected sharding "
                f"[{', '.join(each.text for each in other)}] on dimension {number}"
            )


# --- Regions --------------------------------------------------------------------------------------


def check_named(op: Operation) -> None:
    """VerifyException for a named region of other types or shardings than its values."""
    block = op.regions[0].block
    last = block.last_op
    if not isinstance(last, sdy.ReturnOp):
        found = "" if last is None else last.name
        refuse(f"expects regions to end with 'sdy.return', found '{found}'")
    if last.operand_types != op.result_types:
        made, said = (
            ", ".join(f"'{show_attribute(each)}'" for each in types)
            for types in (last.operand_types, op.result_types)
        )
        refuse(f"inferred type(s) {made} are incompatible with return type(s) of operation {said}")
    if len(block.args) != len(op.operands):
        refuse(
            "number of block arguments must match the number of operands: "
            f"{len(block.args)} != {len(op.operands)}"
        )
    for number, (argument, operand) in enumerate(zip(block.args, op.operands, strict=True)):
        if argument.type != operand.type:
            one, other = (show_attribute(value.type) for value in (argument, operand))
            refuse(
                f"expected the type of the {number}'th block argument to match the type of the "
                f"corresponding operand: '{one}' vs '{other}'"
            )
    for name, values in (("in_shardings", op.operands), ("out_shardings", op.results)):
        said = op.properties.get(name)
        if isinstance(said, sdy.TensorShardingPerValueAttr):
            _check_values(op, said.data, values, name)


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
    manual = _manual_axes(op)
    for name in manual:
        if meshes and name not in meshes[0].axes:
            refuse(f'unknown manual axis: "{name}"')
    _check_names_are_free(op, manual)
    for (what, _, whole, parts), said in zip(sides, shardings, strict=True):
        if len(whole) != len(parts):
            refuse(
                f"number of op {what}s and region {what}s must match. Op has {len(whole)} op "
                f"{what}s and {len(parts)} region {what}s"
            )
        for number, (one, part, sharding) in enumerate(zip(whole, parts, said, strict=True)):
            _check_part(what, number, one.type, part.type, sharding, manual)


def _manual_axes(op: Operation) -> list[str]:
    return re.findall(r'"([^"]*)"', cast("sdy.ManualAxesAttr", op.properties["manual_axes"]).data)


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
    expected = TensorType(cast("TensorType[Attribute]", whole).element_type, shape)
    if expected != part:
        refuse(
            f"{what} shape, corresponding sharding, and region {what} shape at index {number} must "
            f"match. Expected local shape '{show_attribute(expected)}', actual local shape "
            f"'{show_attribute(cast('Attribute', part))}'"
        )


# --- Rules ----------------------------------------------------------------------------------------

_MAPPING = re.compile(r"\[([^\[\]]*)\]")
_FACTOR = re.compile(sdy.FACTOR)
_SETS = re.compile(r"(\w+)\s*=\s*\{([^{}]*)\}")
_LETTERS = ord("z") - ord("i") + 1
_SPECIAL = ("reduction", "need_replication", "permutation")


def check_rule(op: Operation) -> str | None:
    """What is wrong with how a rule says that dimensions belong together; None if nothing is."""
    said = op.attributes.get("sdy.sharding_rule")
    found = sdy.RULE.fullmatch(said.data) if isinstance(said, sdy.OpShardingRuleAttr) else None
    if found is None:
        return None
    try:
        _check_rule(op, found)
    except VerifyException as error:
        return str(error)
    return None


def _check_rule(op: Operation, found: re.Match[str]) -> None:
    factors = ["".join(each.split()) for each in (found[3] or "").split(",") if each.strip()]
    names = [each.partition("=")[0] for each in factors]
    for number, name in enumerate(names):
        if _number(name) != number:
            wanted = chr(ord("i") + number) if number < _LETTERS else f"z_{number - _LETTERS + 1}"
            refuse(
                "expecting factor indices to be ordered like an iota ([0,1,2,...], e.g. "
                f"{{i=#, j=#, ...}}). Expecting factor index symbol '{wanted}', received: '{name}'"
            )
    sets = {word: _FACTOR.findall(each) for word, each in _SETS.findall(found[4])}
    used: dict[str, set[str]] = {}
    for what, text, values in (
        ("operand", found[1], op.operands),
        ("result", found[2], op.results),
    ):
        mappings = [
            [_FACTOR.findall(dim) for dim in mapping.split(",") if mapping.strip()]
            for mapping in _MAPPING.findall(text)
        ]
        if len(mappings) != len(values):
            refuse(f"number of {what}s and mappings must match: {len(values)} != {len(mappings)}")
        used[what] = set()
        for number, (mapping, value) in enumerate(zip(mappings, values, strict=True)):
            with _saying(f"{what} {number} - " if len(values) > 1 else f"{what} - "):
                used[what] |= _check_mapping(mapping, value, names)
    if not used["result"].isdisjoint(sets.get("reduction", ())):
        refuse("reduction factor cannot be in result mappings")
    for name, factor in zip(names, factors, strict=True):
        if name not in used["operand"] | used["result"]:
            refuse(f"has factor {factor} that isn't used in operand and result mappings")
    _check_special([sets.get(word, []) for word in _SPECIAL])


def _check_special(sets: list[list[str]]) -> None:
    """VerifyException for factors of a set that are not in order, or in several sets."""
    for each in sets:
        if [*map(_number, each)] != sorted(map(_number, each)):
            refuse("indices of special factors must be sorted")
    if len({*itertools.chain(*sets)}) != sum(map(len, sets)):
        refuse(
            "a factor can only be in one of the reduction, need replication, or permutation "
            "factor sets"
        )


def _check_mapping(mapping: list[list[str]], value: SSAValue, names: Sequence[str]) -> set[str]:
    rank = len(cast("TensorType[Attribute]", value.type).shape.data)
    if len(mapping) != rank:
        refuse(f"mapping rank must match: {len(mapping)} != {rank}")
    factors = [each for dim in mapping for each in dim]
    for each in factors:
        if each not in names:
            refuse(
                "expecting factor indices to be within 0<=...<num_factors; "
                f"received: {_number(each)}, num_factors: {len(names)}"
            )
    if len({*factors}) != len(factors):
        refuse("cannot reuse factors for the same tensor value")
    return {*factors}


def _number(factor: str) -> int:
    """The index of a factor: `i` is 0, `z_1` is 18."""
    letter, _, more = factor.partition("_")
    return ord(letter) - ord("i") + int(more or 0)
