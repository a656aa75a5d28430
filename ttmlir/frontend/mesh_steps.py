"""Programs of a mesh in steps: what each device computes alone, and what devices exchange between.

A function of ttir of 2026 is cut at its exchanges. What needs as many exchanges before it is one
program without exchanges, the same for all devices. Reductions between devices become gathers, and
sums of what was gathered, which are computed as everything else is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from ttmlir.dialects.ttcore import MeshesAttr
from ttmlir.ir.builder import Builder, Spelling, use_style
from ttmlir.ir.constants import attr_numbers
from ttmlir.ir.rewriting import refuse_at, replace
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.mlir.attributes import Elements, attach_blobs, blobs_of
from ttmlir.optable.collectives import groups_of_mesh
from ttmlir.optable.late_forms import COMBINERS
from ttmlir.passes.general.ttcore_wrap_device_module import module_of_device
from ttmlir.passes.stablehlo.mesh_collectives import rows_attr

if TYPE_CHECKING:
    from ttmlir.runtime.tensor import Array

Shape = tuple[int, ...]
Groups = list[list[int]]


@dataclass(frozen=True)
class Segment:
    """What each device computes alone: a module of one function."""

    module: ModuleOp
    inputs: tuple[int, ...]
    """Numbers of the values that it takes."""
    outputs: tuple[int, ...]
    is_known: bool
    """True for what follows from constants and the number of a device alone."""


@dataclass(frozen=True)
class Division:
    """A tensor cut into parts for the devices, or put together from them; or a part that stays.

    `dims` are, for each axis of `mesh`, the dimension that is divided over it, or -1.
    """

    op: Operation
    source: int
    result: int
    dims: tuple[int, ...]
    mesh: Shape
    is_whole_before: bool
    """False where parts are put together."""

    def cut(self, parts: Sequence[Array]) -> list[Array]:
        """The part of each device, of what each has."""
        found: list[Array] = []
        for device, whole in enumerate(parts):
            place = np.unravel_index(device, self.mesh)
            for dim, extent, at in zip(self.dims, self.mesh, place, strict=True):
                whole = whole if dim < 0 else np.split(whole, extent, dim)[int(at)]
            found.append(whole)
        return found

    def join(self, parts: Sequence[Array]) -> list[Array]:
        """The whole of the parts of all devices, on each of them."""
        rows = list(parts)
        for dim, extent in reversed([*zip(self.dims, self.mesh, strict=True)]):
            rows = [
                rows[first] if dim < 0 else np.concatenate(rows[first : first + extent], dim)
                for first in range(0, len(rows), extent)
            ]
        return rows * len(parts)


@dataclass(frozen=True)
class Exchange:
    """What devices send each other: pieces of their tensors, which the others join."""

    op: Operation
    source: int
    result: int
    moves: tuple[tuple[int, int, int, int], ...]
    """Device and piece, device and slot; devices that get nothing have zeros."""
    slots: int
    split: int | None = None
    """The dimension along which tensors are cut into as many pieces as there are slots."""
    concat: int | None = None
    """The dimension along which slots are joined."""

    def cut(self, part: Array) -> list[Array]:
        """The pieces of what a device has."""
        return [part] if self.split is None else np.split(part, self.slots, self.split)

    def join(self, slots: Mapping[int, Array], like: Array) -> Array:
        """What a device has of the slots that it got; the others have zeros, as many as `like`."""
        parts = [slots.get(slot, np.zeros_like(like)) for slot in range(self.slots)]
        return parts[0] if self.concat is None else np.concatenate(parts, self.concat)

    def move(self, parts: Sequence[Array]) -> list[Array]:
        """What all devices have after it."""
        pieces = [self.cut(part) for part in parts]
        slots: list[dict[int, Array]] = [{} for _ in parts]
        for here, piece, there, slot in self.moves:
            slots[there][slot] = pieces[here][piece]
        return [self.join(each, pieces[0][0]) for each in slots]


Step = Segment | Division | Exchange


@dataclass(frozen=True)
class Steps:
    """A program of a mesh; its values have numbers."""

    mesh: tuple[int, int]
    """Rows and columns of devices."""
    axes: Shape
    """Extents of all axes, of which rows and columns may have several."""
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    steps: tuple[Step, ...]
    function: FuncOp
    """What was cut."""

    @property
    def devices(self) -> int:
        """How many devices there are."""
        return self.mesh[0] * self.mesh[1]


# --- Exchanges ------------------------------------------------------------------------------------


def _number(op: Operation, name: str) -> int:
    return cast("IntegerAttr", op.properties[name]).value.data


def _numbers(op: Operation, name: str) -> list[int]:
    held: Any = op.properties[name]
    return [int(each) for each in held.get_values()]


def _table(op: Operation, name: str) -> Groups:
    elements = cast("Elements", op.properties[name])
    return np.array(attr_numbers(elements) or (), int).reshape(elements.type.get_shape()).tolist()


def _keyword(op: Operation, name: str) -> str:
    held: Any = op.properties[name]
    return held.data.keyword


@dataclass
class _Cutter:
    function: FuncOp
    mesh: tuple[int, int]
    axes: Shape
    """Extents of all axes, of which rows and columns may have several."""
    numbers: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])

    def number(self, value: SSAValue) -> int:
        """The number of a value."""
        return self.numbers.setdefault(value, len(self.numbers))

    def groups(self, op: Operation) -> Groups:
        """The devices along the axis that an operation names."""
        return groups_of_mesh(self.mesh, _number(op, "cluster_axis"))

    # -- reductions ------------------------------------------------------------------------------

    def expand_reductions(self) -> None:
        """Write reductions between devices as gathers, and what is computed of these."""
        for op in tuple(self.function.body.block.ops):
            if op.name in _REDUCING:
                self._expand(op)

    def _expand(self, op: Operation) -> None:
        build, (value,) = Builder.before(op), op.operands
        axis, shape, element = _number(op, "cluster_axis"), value_shape(value), element_type(value)
        size, combined = self.mesh[axis], COMBINERS[_keyword(op, "reduce_type")]
        if op.name == "ttir.all_reduce":
            lying = build.reshape(value, (1, *shape))
            type_ = TensorType(element, (size, *shape))
            parts = build.create("all_gather", [lying], type_, all_gather_dim=0, cluster_axis=axis)
        else:
            dim = _number(op, "scatter_dim") % len(shape)
            part = (*shape[:dim], shape[dim] // size, *shape[dim + 1 :])
            lying = build.reshape(value, (*shape[:dim], size, *part[dim:]))
            lying = build.permute(lying, (dim, *(n for n in range(len(shape) + 1) if n != dim)))
            type_ = TensorType(element, (size, *part))
            rows = groups_of_mesh(self.mesh, axis)
            parameters = {"split_dim": 0, "concat_dim": 0, "split_count": size}
            parts = build.create(
                "all_to_all", [lying], type_, replica_groups=rows_attr(rows), **parameters
            )
        first, *others = (build.slice_along(parts, 0, n, n + 1) for n in range(size))
        for other in others:
            first = build.create(combined, [first, other], first.type)
        replace(op, build.reshape(first, value_shape(op.results[0])))

    # -- exchanges -------------------------------------------------------------------------------

    def division(self, op: Operation) -> Division:
        """What a border between whole tensors and parts does."""
        source, result = self.number(op.operands[0]), self.number(op.results[0])
        if op.name == "ttir.mesh_partition":
            axis, dim = _number(op, "cluster_axis"), _number(op, "dim")
            dims = tuple(dim if n == axis else -1 for n in range(2))
            return Division(op, source, result, dims, self.mesh, is_whole_before=True)
        dims = tuple(_numbers(op, "shard_dims"))
        mesh = self.axes if len(dims) == len(self.axes) else self.mesh
        if _keyword(op, "shard_type") != "devices" or len(dims) != len(mesh):
            dims = (-1,) * len(mesh)
        enters = _keyword(op, "shard_direction") == "full_to_shard"
        return Division(op, source, result, dims, mesh, is_whole_before=enters)

    def exchange(self, op: Operation) -> Exchange:
        """What devices send in an operation."""
        source, result = self.number(op.operands[0]), self.number(op.results[0])
        match op.name:
            case "ttir.collective_permute":
                pairs = _table(op, "source_target_pairs")
                moves = tuple((here, 0, there, 0) for here, there in pairs)
                return Exchange(op, source, result, moves, 1)
            case "ttir.collective_broadcast":
                groups = _table(op, "replica_groups")
                moves = tuple((row[0], 0, there, 0) for row in groups for there in row)
                return Exchange(op, source, result, moves, 1)
            case "ttir.all_gather":
                groups, dim = self.groups(op), _number(op, "all_gather_dim")
                moves = tuple(
                    (here, 0, there, slot)
                    for row in groups
                    for slot, here in enumerate(row)
                    for there in row
                )
                return Exchange(op, source, result, moves, len(groups[0]), concat=dim)
            case _:
                groups = _table(op, "replica_groups")
                moves = tuple(
                    (here, piece, there, slot)
                    for row in groups
                    for slot, here in enumerate(row)
                    for piece, there in enumerate(row)
                )
                split, concat = _number(op, "split_dim"), _number(op, "concat_dim")
                return Exchange(op, source, result, moves, len(groups[0]), split, concat)


_REDUCING = ("ttir.all_reduce", "ttir.reduce_scatter")
_DIVIDING = ("ttir.mesh_partition", "ttir.mesh_shard")
_EXCHANGING = (
    *("ttir.all_gather", "ttir.all_to_all"),
    *("ttir.collective_broadcast", "ttir.collective_permute"),
)
_BETWEEN = (*_DIVIDING, *_EXCHANGING)


# --- Segments -------------------------------------------------------------------------------------


def cut_into_steps(module: ModuleOp, function: FuncOp) -> Steps:
    """The steps of a function of ttir of 2026, which is changed.

    DiagnosticError for exchanges within loops and branches.
    """
    meshes = module.attributes.get("ttcore.meshes")
    assert isinstance(meshes, MeshesAttr), "what is divided has a mesh"
    shapes = [shape for _, shape in meshes.data]
    rows, columns = shapes[0] if len(shapes[0]) == 2 else (1, *shapes[0])
    cutter = _Cutter(function, (rows, columns), shapes[-1])
    _refuse_inner_exchanges(module, function)
    with use_style(Spelling.LATE.style):
        cutter.expand_reductions()
    block = function.body.block
    constants, known, by_level = _order(block)
    end = block.last_op
    assert isinstance(end, ReturnOp)
    steps: list[Step] = []
    for level in range(max([*by_level, 0]) + 1):
        mine = by_level.get(level, [])
        # Constants that are sent, or returned, are values as others are.
        alone = _sent_constants(constants, end) if level == 0 else []
        computed = list[Operation]()
        for op in mine:
            if op.name not in _BETWEEN:
                is_known = all(value in known for value in op.results)
                (alone if is_known else computed).append(op)
        for is_known, operations in ((True, alone), (False, computed)):
            if operations:
                steps.append(_segment(cutter, module, operations, constants, is_known=is_known))
        for op in mine:
            if op.name in _DIVIDING:
                steps.append(cutter.division(op))
            elif op.name in _EXCHANGING:
                steps.append(cutter.exchange(op))
    return Steps(
        mesh=(rows, columns),
        axes=cutter.axes,
        inputs=tuple(map(cutter.number, block.args)),
        outputs=tuple(map(cutter.number, end.operands)),
        steps=tuple(steps),
        function=function,
    )


def _refuse_inner_exchanges(module: ModuleOp, function: FuncOp) -> None:
    block = function.body.block
    for op in module_of_device(module).walk():
        if op.name in (*_BETWEEN, *_REDUCING) and op.parent is not block:
            refuse_at(
                op,
                "devices exchange something within a loop or branch; kernels of several devices "
                "exchange between programs: unroll the loop, or compile with target='ttnn'",
            )


def _used_by(op: Operation) -> Iterator[SSAValue]:
    """What an operation uses from outside, in its regions, too."""
    inside = {value for each in op.walk() for value in each.results}
    for each in op.walk():
        for value in each.operands:
            is_own = isinstance(value, BlockArgument) and _is_within(value, op)
            if value not in inside and not is_own:
                yield value


def _is_within(value: BlockArgument, op: Operation) -> bool:
    parent = value.block.parent_op()
    while parent is not None and parent is not op:
        parent = parent.parent_op()
    return parent is op


_ByLevel = dict[int, list[Operation]]


def _order(block: Block) -> tuple[dict[SSAValue, Operation], set[SSAValue], _ByLevel]:
    """What makes constants; what follows from them and the number of a device; other operations.

    Operations are by the number of exchanges before them.
    """
    levels, known = dict[SSAValue, int](), set[SSAValue]()
    constants = dict[SSAValue, Operation]()
    by_level: _ByLevel = {}
    for op in block.ops:
        used = [*_used_by(op)]
        if isinstance(op, ReturnOp):
            continue
        if op.name not in _EXCHANGING and all(each in known or each in constants for each in used):
            if op.name not in _BETWEEN and all(value in constants for value in used):
                constants |= dict.fromkeys(op.results, op)
                continue
            known |= {*op.results}
        level = max((levels.get(value, 0) for value in used), default=0)
        by_level.setdefault(level, []).append(op)
        levels |= dict.fromkeys(op.results, level + int(op.name in _BETWEEN))
    return constants, known, by_level


def _sent_constants(constants: Mapping[SSAValue, Operation], end: Operation) -> list[Operation]:
    found = {
        op: None
        for value, op in constants.items()
        if any(use.operation is end or use.operation.name in _BETWEEN for use in value.uses)
    }
    return [*found]


def _segment(
    cutter: _Cutter,
    module: ModuleOp,
    operations: Sequence[Operation],
    constants: Mapping[SSAValue, Operation],
    *,
    is_known: bool,
) -> Segment:
    """A module that computes operations."""
    needed = _with_constants(operations, constants)
    made = {value for op in needed for value in op.results}
    taken = {value: None for op in needed for value in _used_by(op) if value not in made}
    inside = set(operations)
    given = [
        value
        for op in operations
        for value in op.results
        if any(_outer(use.operation, cutter) not in inside for use in value.uses)
    ]
    block = Block(arg_types=[value.type for value in taken])
    mapper = dict[SSAValue, SSAValue](zip(taken, block.args, strict=True))
    for op in needed:
        block.add_op(op.clone(mapper))
    end = ReturnOp(*(mapper[value] for value in given))
    block.add_op(end)
    types = [value.type for value in taken], [value.type for value in given]
    function = FuncOp("main", types, Region(block))
    function.location = cutter.function.location
    others = [
        each.clone()
        for each in module_of_device(module).ops
        if isinstance(each, FuncOp) and each is not cutter.function
    ]
    made_module = ModuleOp([function, *others])
    attach_blobs(made_module, blobs_of(module))
    numbers = tuple(map(cutter.number, taken)), tuple(map(cutter.number, given))
    return Segment(made_module, *numbers, is_known)


def _outer(op: Operation, cutter: _Cutter) -> Operation:
    """The operation of the function that one is in."""
    parent = op
    while parent.parent is not cutter.function.body.block:
        above = parent.parent_op()
        assert above is not None
        parent = above
    return parent


def _with_constants(
    operations: Sequence[Operation], constants: Mapping[SSAValue, Operation]
) -> list[Operation]:
    """Operations behind the constants that they use."""
    found: dict[Operation, None] = {}
    waiting = [*reversed(operations)]
    while waiting:
        op = waiting[-1]
        makers = (constants[value] for value in _used_by(op) if value in constants)
        missing = [] if op in found else [each for each in makers if each not in found]
        if missing:
            waiting += missing
        else:
            found[waiting.pop()] = None
    return [*found]
