"""Programs of a mesh in steps: what each device computes alone, and what devices exchange between.

A function of ttir of 2026 is cut at its exchanges. What needs as many exchanges before it is one
program without exchanges, the same for all devices. Loops are cut, too, as are branches in which
devices exchange: their functions are steps of their own. Reductions between devices become gathers,
and sums of what was gathered, which are computed as everything else is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from ttmlir.dialects.definition.control import ControlOp
from ttmlir.dialects.definition.table_ops import int_property
from ttmlir.dialects.ttcore import MeshesAttr
from ttmlir.dialects.ttir import CaseOp, WhileOp
from ttmlir.ir.builder import Builder, Spelling, use_style
from ttmlir.ir.constants import attr_numbers
from ttmlir.ir.rewriting import refuse_at, replace
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.mlir.attributes import Elements, attach_blobs, blobs_of
from ttmlir.optable.collectives import groups_of_mesh
from ttmlir.optable.late_forms import COMBINERS
from ttmlir.passes.general.ttcore_wrap_device_module import module_of_device
from ttmlir.passes.stablehlo.mesh_collectives import rows_attr
from ttmlir.runtime.fabric_exchange import Move
from ttmlir.runtime.mesh_kernels import Division, Exchange

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
class LoopOf:
    """A loop, whose parts are functions that are cut into steps, too."""

    op: Operation
    inputs: tuple[int, ...]
    results: tuple[int, ...]
    condition: Steps | None
    body: Steps
    trip_count: int
    """How often, where there is no condition."""


@dataclass(frozen=True)
class BranchOf:
    """A branch in which devices exchange something; its functions are cut into steps, too."""

    op: Operation
    index: int
    """The number of the value that chooses."""
    inputs: tuple[int, ...]
    results: tuple[int, ...]
    branches: tuple[Steps, ...]


@dataclass(frozen=True)
class DivisionOf:
    """A tensor that is cut or put together, by an operation."""

    op: Operation
    division: Division


@dataclass(frozen=True)
class ExchangeOf:
    """What devices send each other, by an operation."""

    op: Operation
    exchange: Exchange


Step = Segment | DivisionOf | ExchangeOf | LoopOf | BranchOf


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

    def walk(self) -> Iterator[Step]:
        """The steps, and those of loops and branches."""
        for step in self.steps:
            yield step
            if isinstance(step, BranchOf):
                for branch in step.branches:
                    yield from branch.walk()
            if isinstance(step, LoopOf):
                if step.condition is not None:
                    yield from step.condition.walk()
                yield from step.body.walk()


# --- Exchanges ------------------------------------------------------------------------------------


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
        return groups_of_mesh(self.mesh, int_property(op, "cluster_axis"))

    # -- reductions ------------------------------------------------------------------------------

    def expand_reductions(self) -> None:
        """Write reductions between devices as gathers, and what is computed of these."""
        for op in tuple(self.function.body.block.ops):
            if op.name in _REDUCING:
                self._expand(op)

    def _expand(self, op: Operation) -> None:
        build, (value,) = Builder.before(op), op.operands
        axis = int_property(op, "cluster_axis")
        shape, element = value_shape(value), element_type(value)
        size, combined = self.mesh[axis], COMBINERS[_keyword(op, "reduce_type")]
        if op.name == "ttir.all_reduce":
            lying = build.reshape(value, (1, *shape))
            type_ = TensorType(element, (size, *shape))
            parts = build.create("all_gather", [lying], type_, all_gather_dim=0, cluster_axis=axis)
        else:
            dim = int_property(op, "scatter_dim") % len(shape)
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

    def division(self, op: Operation) -> DivisionOf:
        """What a border between whole tensors and parts does."""
        source, result = self.number(op.operands[0]), self.number(op.results[0])
        if op.name == "ttir.mesh_partition":
            axis, dim = int_property(op, "cluster_axis"), int_property(op, "dim")
            dims = tuple(dim if n == axis else -1 for n in range(2))
            return DivisionOf(op, Division(source, result, dims, self.mesh, is_whole_before=True))
        dims = tuple(_numbers(op, "shard_dims"))
        mesh = self.axes if len(dims) == len(self.axes) else self.mesh
        if _keyword(op, "shard_type") != "devices" or len(dims) != len(mesh):
            dims = (-1,) * len(mesh)
        enters = _keyword(op, "shard_direction") == "full_to_shard"
        return DivisionOf(op, Division(source, result, dims, mesh, is_whole_before=enters))

    def exchange(self, op: Operation) -> ExchangeOf:
        """What devices send in an operation."""
        moves: list[Move]
        slots, split, concat = 1, None, None
        match op.name:
            case "ttir.collective_permute":
                pairs = _table(op, "source_target_pairs")
                moves = [Move(here, 0, there, 0) for here, there in pairs]
            case "ttir.collective_broadcast":
                groups = _table(op, "replica_groups")
                moves = [Move(row[0], 0, there, 0) for row in groups for there in row]
            case "ttir.all_gather":
                groups, concat = self.groups(op), int_property(op, "all_gather_dim")
                slots = len(groups[0])
                moves = [
                    Move(here, 0, there, slot)
                    for row in groups
                    for slot, here in enumerate(row)
                    for there in row
                ]
            case _:
                groups = _table(op, "replica_groups")
                slots = len(groups[0])
                split, concat = int_property(op, "split_dim"), int_property(op, "concat_dim")
                moves = [
                    Move(here, piece, there, slot)
                    for row in groups
                    for slot, here in enumerate(row)
                    for piece, there in enumerate(row)
                ]
        rank = len(value_shape(op.operands[0]))
        split, concat = (None if dim is None else dim % rank for dim in (split, concat))
        source, result = self.number(op.operands[0]), self.number(op.results[0])
        exchange = Exchange(op.name, "", source, result, tuple(moves), slots, split, concat)
        return ExchangeOf(op, exchange)

    # -- loops and branches ----------------------------------------------------------------------

    def control(self, module: ModuleOp, op: ControlOp, cut: dict[FuncOp, Steps]) -> Step:
        """A loop or a branch, and the steps of its functions, which are `cut` once."""
        inputs, results = tuple(map(self.number, op.operands)), tuple(map(self.number, op.results))
        parts: list[Steps] = []
        for name in op.callees():
            function = _function_named(module, name)
            if function not in cut:
                cut[function] = _cut(module, function, self.mesh, self.axes, cut)
            parts.append(cut[function])
        if isinstance(op, CaseOp):
            return BranchOf(op, inputs[0], inputs[1:], results, tuple(parts))
        assert isinstance(op, WhileOp)
        count = op.trip_count
        condition = parts[1] if count is None else None
        return LoopOf(op, inputs, results, condition, parts[0], count or 0)


_REDUCING = ("ttir.all_reduce", "ttir.reduce_scatter")
_DIVIDING = ("ttir.mesh_partition", "ttir.mesh_shard")
_EXCHANGING = (
    *("ttir.all_gather", "ttir.all_to_all"),
    *("ttir.collective_broadcast", "ttir.collective_permute"),
)
_BETWEEN = (*_DIVIDING, *_EXCHANGING, *_REDUCING, WhileOp.name)


# --- Segments -------------------------------------------------------------------------------------


def cut_into_steps(module: ModuleOp, function: FuncOp) -> Steps:
    """The steps of a function of ttir of 2026, which is changed.

    DiagnosticError for exchanges within loops as files of 2026 have them.
    """
    meshes = module.attributes.get("ttcore.meshes")
    assert isinstance(meshes, MeshesAttr), "what is divided has a mesh"
    shapes = [shape for _, shape in meshes.data]
    rows, columns = shapes[0] if len(shapes[0]) == 2 else (1, *shapes[0])
    cut: dict[FuncOp, Steps] = {}
    made = _cut(module, function, (rows, columns), shapes[-1], cut)
    _refuse_inner_exchanges(module, [function, *cut])
    return made


def _cut(
    module: ModuleOp,
    function: FuncOp,
    mesh: tuple[int, int],
    axes: Shape,
    cut: dict[FuncOp, Steps],
) -> Steps:
    cutter = _Cutter(function, mesh, axes)
    with use_style(Spelling.LATE.style):
        cutter.expand_reductions()
    block = function.body.block
    between = {op for op in block.ops if _is_between(module, op)}
    constants, known, by_level = _order(block, between)
    end = block.last_op
    assert isinstance(end, ReturnOp)
    steps: list[Step] = []
    for level in range(max([*by_level, 0]) + 1):
        mine = by_level.get(level, [])
        # Constants that are sent, or returned, are values as others are.
        alone = _sent_constants(constants, between, end) if level == 0 else []
        computed = list[Operation]()
        for op in mine:
            if op not in between:
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
            elif isinstance(op, ControlOp) and op in between:
                steps.append(cutter.control(module, op, cut))
    return Steps(
        mesh=mesh,
        axes=cutter.axes,
        inputs=tuple(map(cutter.number, block.args)),
        outputs=tuple(map(cutter.number, end.operands)),
        steps=tuple(steps),
        function=function,
    )


def _refuse_inner_exchanges(module: ModuleOp, functions: Sequence[FuncOp]) -> None:
    blocks = [function.body.block for function in functions]
    for op in module_of_device(module).walk():
        if op.name in (*_DIVIDING, *_EXCHANGING, *_REDUCING) and op.parent not in blocks:
            refuse_at(
                op,
                "devices exchange something within ttcore.while_loop; kernels of several devices "
                "exchange in ttir.while: write the loop so, or compile with target='ttnn'",
            )


def _is_between(module: ModuleOp, op: Operation) -> bool:
    """True for what is no part of a program of one device."""
    if not isinstance(op, CaseOp):
        return op.name in _BETWEEN
    called = _called(module, [op])
    return any(each.name in _BETWEEN for function in called for each in function.body.block.ops)


def _function_named(module: ModuleOp, name: str) -> FuncOp:
    return next(
        each
        for each in module_of_device(module).ops
        if isinstance(each, FuncOp) and each.sym_name.data == name
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


def _order(
    block: Block, between: Set[Operation]
) -> tuple[dict[SSAValue, Operation], set[SSAValue], _ByLevel]:
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
        if (op not in between or op.name in _DIVIDING) and all(
            each in known or each in constants for each in used
        ):
            if op not in between and all(value in constants for value in used):
                constants |= dict.fromkeys(op.results, op)
                continue
            known |= {*op.results}
        level = max((levels.get(value, 0) for value in used), default=0)
        by_level.setdefault(level, []).append(op)
        levels |= dict.fromkeys(op.results, level + int(op in between))
    return constants, known, by_level


def _sent_constants(
    constants: Mapping[SSAValue, Operation], between: Set[Operation], end: Operation
) -> list[Operation]:
    found = {
        op: None
        for value, op in constants.items()
        if any(use.operation is end or use.operation in between for use in value.uses)
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
    others = [each.clone() for each in _called(module, needed)]
    made_module = ModuleOp([function, *others])
    attach_blobs(made_module, blobs_of(module))
    numbers = tuple(map(cutter.number, taken)), tuple(map(cutter.number, given))
    return Segment(made_module, *numbers, is_known)


def _called(module: ModuleOp, operations: Sequence[Operation]) -> list[FuncOp]:
    """The functions of loops and branches, and of those within them."""
    found: dict[FuncOp, None] = {}
    waiting = [*operations]
    while waiting:
        for op in waiting.pop().walk():
            for name in op.callees() if isinstance(op, ControlOp) else ():
                function = _function_named(module, name)
                if function not in found:
                    found[function] = None
                    waiting.append(function)
    return [*found]


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
