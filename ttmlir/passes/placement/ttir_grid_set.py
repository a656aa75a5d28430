"""Choose the grid of cores that each operation runs on.

Every operation gets the whole worker grid of the device and results interleaved in DRAM, whatever
its constraints; layout changes, constants and what is not ttir keep theirs. An operation at a
location of `override-grid-sizes` gets that grid instead.

One at a location of `override-output-layout` gets what that names of a grid, a memory, a memory
layout and a data type: `fc1=8x1:l1:height_sharded:bf16`. Names are those of named locations; a call
site is `caller/callee`, and a location in a file is `file.mlir:12`.

With `sharding-pass-enabled`, runs of operations in which each one has the next one as its only user
keep their results in L1, divided over the cores.

Before:

    // After ttir-load-system-desc ttir-implicit-device ttir-layout
    #d = #tt.operand_constraint<dram|scalar|any_layout>
    func.func @exp(%arg0: tensor<33x70xf32>) -> tensor<33x70xf32> {
      %0 = tensor.empty() : tensor<33x70xf32>
      %1 = "ttir.exp"(%arg0, %0) <{operandSegmentSizes = array<i32: 1, 1>,
          operand_constraints = [#d, #d]}>
          : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
      return %1 : tensor<33x70xf32>
    }

After:

    ...
    #layout1 = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #dram>,
        interleaved>
    #layout2 = #tt.layout<(d0, d1) -> (d0, d1), undef, <8x8>, memref<5x9xf32, #dram>,
        interleaved>
    ...
        %2 = tensor.empty() : tensor<33x70xf32, #layout2>
        %3 = "ttir.exp"(%1, %2) <{operandSegmentSizes = array<i32: 1, 1>,
            operand_constraints = [#operand_constraint, #operand_constraint]}>
            : (tensor<33x70xf32, #layout1>, tensor<33x70xf32, #layout2>)
            -> tensor<33x70xf32, #layout2>
        ...

Requires: `tt.device` and `tt.system_desc` on the module, layouts on all tensors (`ttir-layout`).
Ensures: results and destinations of ttir operations have the chosen layouts; the signature of a
function says what it returns, but a function that others call still returns what it did.
Options: `override-grid-sizes` (`name=RxC,name=RxC`) and `override-output-layout`
(`name=RxC:l1:block_sharded:tile:bf16`), with a warning for names that no operation has and an error
for grids of more cores than the device has and for shards that L1 does not hold, and
`sharding-pass-enabled` (false).
Not done here: operands are not moved to the layout that the user would like best; ttnn operations
take them as they are.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from ttmlir.dialects import ttir
from ttmlir.dialects.definition.control import ControlOp
from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import AttributeMemo, refuse
from ttmlir.ir.tensor_types import (
    layout_of,
    require_device,
    require_system_desc,
    shape_of,
    with_layout,
)
from ttmlir.layout.enums import MemorySpace, TensorMemoryLayout
from ttmlir.layout.errors import LayoutError
from ttmlir.mlir.option_values import option
from ttmlir.mlir.reporting import override_name
from ttmlir.mlir.xdsl_internals import retype
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.placement.layout_overrides import (
    GRID_OVERRIDES,
    LAYOUT_OVERRIDES,
    GridOverrides,
    LayoutOverride,
    LayoutOverrides,
    warn_of_unknown_names,
)
from ttmlir.passes.placement.ttir_layout import ControlParts, parts_of_control

if TYPE_CHECKING:
    from xdsl.context import Context


# --- L1 sharding ----------------------------------------------------------------------------------
# Runs of operations whose results stay in L1, each core holding a part.
#
# A run is a chain in which every operation's result has one user, the next in the chain. All but
# the last of them keep their results in L1. The division of a result is the first of these that
# needs most cores: by blocks over any part of the worker grid, by rows over up to all cores, by
# columns over up to all cores; the tensor's rows and columns, counted in tiles, must come out even.

_TILE = 32
_L1_SHARE = 0.8
"""Part of the usable L1 that two neighbours in a run may fill together."""


class Sharding:
    """Plans the runs of blocks."""

    def __init__(self, workers: Grid, usable_l1_size: int):
        """Take the extents of the worker grid and the bytes of L1 that a program may use."""
        self._workers = workers
        self._limit = _L1_SHARE * usable_l1_size
        self._sharded = AttributeMemo(self._sharded_type)

    def plan(
        self, block: Block, is_overridden: Callable[[Operation], bool]
    ) -> dict[Operation, Attribute]:
        """Order a block so that runs are contiguous; the types of results that stay in L1.

        Every operation takes its first division: as two neighbours only join a run if these fit
        into L1 together, there is never a reason to take a later one.
        """
        schedule = _Schedule(block)
        types: dict[Operation, Attribute] = {}

        def in_l1(op: Operation) -> Attribute | None:
            return None if is_overridden(op) else self._type_in_l1(op)

        while (op := schedule.take_ready()) is not None:
            if isinstance(op, ttir.ToLayoutOp):
                continue
            while (user := schedule.only_user(op)) is not None:
                own, following = in_l1(op), in_l1(user)
                if own is None or following is None or not self._fit(own, following):
                    break
                types[op] = own
                schedule.take(user)
                op = user
        schedule.apply()
        return types

    def _fit(self, first: Attribute, second: Attribute) -> bool:
        return _shard_bytes(first) + _shard_bytes(second) < self._limit

    def _type_in_l1(self, op: Operation) -> Attribute | None:
        if len(op.results) != 1:
            return None
        type_ = op.results[0].type
        try:
            layout = layout_of(type_)
            # Kernels find tensors where they were written to find them.
            if layout is None or isinstance(op, ttir.CustomKernelOp):
                return None
            if isinstance(op, ttir.TTIROp) and not isinstance(op, ttir.ToLayoutOp):
                return self._sharded(type_)
        except LayoutError as error:
            refuse(op, f"cannot be divided over cores: {error}")
        return type_ if layout.is_sharded else None

    def _sharded_type(self, type_: Attribute) -> Attribute | None:
        layout = layout_of(type_)
        assert layout is not None, "asked for tensors with a layout"
        shape = shape_of(type_)
        rows, columns = (-(-extent // _TILE) for extent in (1, 1, *shape)[-2:])
        even = (
            (memory_layout, grid)
            for memory_layout, grid in self._divisions()
            if rows % grid[0] == 0 and columns % grid[1] == 0
        )
        memory_layout, grid = max(even, key=lambda division: division[1][0] * division[1][1])
        outer = (1,) * (len(self._workers) - 2)
        moved = layout.with_memory_space(MemorySpace.DEVICE_L1).with_memory_layout(memory_layout)
        return with_layout(type_, moved.with_grid(shape, (*outer, *grid)))

    def _divisions(self) -> Iterator[tuple[TensorMemoryLayout, tuple[int, int]]]:
        height, width = self._workers[-2:]
        return chain(
            (
                (TensorMemoryLayout.BLOCK_SHARDED, (rows, columns))
                for rows in range(1, height + 1)
                for columns in range(1, width + 1)
            ),
            (
                (TensorMemoryLayout.HEIGHT_SHARDED, (rows, 1))
                for rows in range(2, height * width + 1)
            ),
            (
                (TensorMemoryLayout.WIDTH_SHARDED, (1, columns))
                for columns in range(2, height * width + 1)
            ),
        )


def _shard_bytes(type_: Attribute) -> int:
    layout = layout_of(type_)
    assert layout is not None, "asked for tensors with a layout"
    return layout.shard_bytes


class _Schedule:
    """The operations of a block in a new order, each after those whose results it uses.

    Layout changes that are ready go first, then the first ready operation in the old order. A
    `tensor.empty` goes with the first operation that it is the destination of.
    """

    def __init__(self, block: Block):
        self._block = block
        destinations = _destinations(block)
        self._destination = {op: empty for empty, op in destinations.items()}
        self._ops = [
            op for op in block.ops if op not in destinations and not op.has_trait(IsTerminator)
        ]
        self._place = {op: number for number, op in enumerate(self._ops)}
        self._users: dict[Operation, list[Operation]] = {op: [] for op in self._ops}
        self._missing: dict[Operation, int] = {}
        self._ready: list[tuple[bool, int]] = []
        self._order: list[Operation] = []
        self._taken: set[Operation] = set()
        for op in self._ops:
            # A dictionary is a set whose order is the same in every run.
            producers = dict.fromkeys(destinations.get(used, used) for used in _used_operations(op))
            known = [used for used in producers if used in self._users and used is not op]
            self._missing[op] = len(known)
            for used in known:
                self._users[used].append(op)
            if not known:
                self._push(op)

    def _push(self, op: Operation) -> None:
        heapq.heappush(self._ready, (not isinstance(op, ttir.ToLayoutOp), self._place[op]))

    def take_ready(self) -> Operation | None:
        """Put the next operation that is ready into the new order; None if all are there."""
        while self._ready:
            op = self._ops[heapq.heappop(self._ready)[1]]
            if op not in self._taken:
                self.take(op)
                return op
        return None

    def take(self, op: Operation) -> None:
        """Put an operation into the new order."""
        self._taken.add(op)
        self._order.append(op)
        for user in self._users[op]:
            self._missing[user] -= 1
            if not self._missing[user]:
                self._push(user)

    def only_user(self, op: Operation) -> Operation | None:
        """The operation that alone uses the results of `op`, if it is ready."""
        uses = [use for result in op.results for use in result.uses]
        if len(uses) != 1 or uses[0].operation not in self._missing:
            return None
        user = uses[0].operation
        return None if self._missing[user] or user in self._taken else user

    def apply(self) -> None:
        """Move the operations of the block into the new order."""
        if self._order == self._ops:
            return
        last = self._block.last_op
        assert last is not None, "a block without operations is in order"
        for op in self._order:
            empty = self._destination.get(op)
            for moved in (op,) if empty is None else (empty, op):
                moved.detach()
                if last.has_trait(IsTerminator):
                    self._block.insert_op_before(moved, last)
                else:
                    self._block.add_op(moved)


def _destinations(block: Block) -> dict[Operation, Operation]:
    """For each `tensor.empty` that is a destination, the first operation it is that of."""
    result: dict[Operation, Operation] = {}
    for op in block.ops:
        inits = op.inits if isinstance(op, ttir.TTIROp) else ()
        if inits:
            owner = inits[-1].owner
            if isinstance(owner, EmptyOp) and owner.parent is block:
                result.setdefault(owner, op)
    return result


def _used_operations(op: Operation) -> Iterator[Operation]:
    """The operations whose results an operation, or anything inside it, uses."""
    values: Iterator[SSAValue] = (value for inner in op.walk() for value in inner.operands)
    return (value.owner for value in values if isinstance(value.owner, Operation))


# --- Ttir grid set --------------------------------------------------------------------------------

Grid = tuple[int, ...]


@dataclass(frozen=True)
class TTIRGridSetPass(ModulePass):
    """Choose the grid of cores that each operation runs on."""

    name = "ttir-grid-set"
    title = "TTIRGridSet"
    override_grid_sizes: GridOverrides = option(
        (), "Grids for the operations at these locations", type=GRID_OVERRIDES
    )
    override_output_layout: LayoutOverrides = option(
        (),
        "Layouts of the results of the operations at these locations",
        type=LAYOUT_OVERRIDES,
    )
    sharding_pass_enabled: bool = option(
        False, "Keep the results of runs of operations in L1, divided over the cores"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Choose and set the grids of all operations of the module."""
        device = require_device(module, self.name)
        chip = require_system_desc(module, self.name).chip_descs[0]
        workers = device.worker_grid.shape
        layouts = dict(self.override_output_layout)
        overrides = _Overrides(
            workers, chip.usable_l1_size, dict(self.override_grid_sizes), layouts
        )
        choice = _Choice(workers, overrides)
        sharding = Sharding(workers, chip.usable_l1_size)
        ops = list(module.walk())
        for option_name, applies, pairs in (
            ("override-grid-sizes", _is_of_ttir, self.override_grid_sizes),
            ("override-output-layout", _computes, self.override_output_layout),
        ):
            warn_of_unknown_names(option_name, module, applies, pairs)
        called = {op.callee.string_value() for op in ops if isinstance(op, CallOp)}
        control = parts_of_control(module)
        called |= control.parts
        choice.begin_control(ops, control)
        for function in [op for op in ops if isinstance(op, FuncOp)]:
            for block in _blocks(function):
                runs: dict[Operation, Attribute] = {}
                if self.sharding_pass_enabled:
                    runs = sharding.plan(block, overrides.has)
                for op in block.ops:
                    choice.apply(op, runs)
            if function.sym_name.data in called:
                _return_as_declared(function)
            else:
                _declare_what_is_returned(function)
        choice.end_control(ops, control)


def _is_of_ttir(op: Operation) -> bool:
    return op.name.startswith("ttir.")


def _computes(op: Operation) -> bool:
    """True for operations whose results can be anywhere."""
    moves = isinstance(op, ttir.ToLayoutOp | ttir.CustomKernelOp)
    return isinstance(op, ttir.TTIROp) and not moves


def _spell(grid: Grid) -> str:
    return "x".join(map(str, grid))


def _blocks(op: Operation) -> Iterator[Block]:
    """All blocks inside an operation, except those of a `ttir.generic`."""
    for region in op.regions:
        for block in region.blocks:
            yield block
            for inner in block.ops:
                if inner.regions and not isinstance(inner, ttir.GenericOp):
                    yield from _blocks(inner)


def _declare_what_is_returned(function: FuncOp) -> None:
    """Let the signature say what the function returns; a declaration keeps its own."""
    returned = function.get_return_op()
    if returned is not None:
        function.function_type = FunctionType.from_lists(
            function.function_type.inputs.data, [value.type for value in returned.operands]
        )


def _return_as_declared(function: FuncOp) -> None:
    """Move what the function returns to the layouts that its callers know."""
    for returned in function.walk():
        if not isinstance(returned, ReturnOp):
            continue
        for number, declared in enumerate(function.function_type.outputs):
            value = returned.operands[number]
            if value.type != declared:
                returned.operands[number] = Builder.before(returned).move_to_layout(value, declared)


@dataclass(frozen=True)
class _Overrides:
    """The layouts that the options give to operations by the names of their locations."""

    workers: Grid
    usable_l1_size: int
    grids: dict[str, Grid]
    layouts: dict[str, LayoutOverride]

    def has(self, op: Operation) -> bool:
        """True if an option says where the results of an operation are."""
        return self._grid(op) is not None or self._layout(op) is not None

    def choose(self, op: Operation, current: Attribute) -> Attribute | None:
        """The type that the options give to a result; None if they leave it alone."""
        override = self._layout(op)
        if override is not None:
            return self._place(op, current, override)
        grid = self._grid(op)
        return None if grid is None else _type_on_grid(current, grid)

    def _grid(self, op: Operation) -> Grid | None:
        is_ours = isinstance(op, EmptyOp) or _is_of_ttir(op)
        name = override_name(op.location) if self.grids and is_ours else None
        grid = None if name is None else self.grids.get(name)
        if grid is not None:
            self._check_cores(op, grid, "override-grid-sizes")
        return grid

    def _layout(self, op: Operation) -> LayoutOverride | None:
        """Of an operation that computes: its operands are still moved to where it wants them."""
        name = override_name(op.location) if self.layouts and _computes(op) else None
        override = None if name is None else self.layouts.get(name)
        if override is not None and override.grid is not None:
            self._check_cores(op, override.grid, "override-output-layout")
        return override

    def _place(self, op: Operation, current: Attribute, override: LayoutOverride) -> Attribute:
        layout = layout_of(current)
        if layout is None:
            return current
        # What is not named is as it would be without the override.
        dram = layout.with_memory_space(MemorySpace.DEVICE_DRAM).with_memory_layout(
            TensorMemoryLayout.INTERLEAVED
        )
        shape = tuple(shape_of(current))
        try:
            placed = override.apply(shape, dram.with_grid(shape, self.workers))
        except LayoutError as error:
            refuse(op, f"cannot take '{override}' of override-output-layout: {error}")
        if placed.memory_layout.is_sharded and placed.shard_bytes > self.usable_l1_size:
            refuse(
                op,
                f"cannot take '{override}' of override-output-layout: each core would hold "
                f"{placed.shard_bytes} bytes, and its L1 has {self.usable_l1_size}; take more "
                "cores, or dram",
            )
        return with_layout(current, placed)

    def _check_cores(self, op: Operation, grid: Grid, option_name: str) -> None:
        if math.prod(grid) > math.prod(self.workers):
            refuse(
                op,
                f"cannot run on the grid {_spell(grid)} that {option_name} gives it: the"
                f" device has {_spell(self.workers)} = {math.prod(self.workers)} cores",
            )


class _Choice:
    """The layouts of operations that are not part of a run in L1."""

    def __init__(self, workers: Grid, overrides: _Overrides):
        self._workers = workers
        self._overrides = overrides
        self._on_workers = AttributeMemo(self._type_on_workers)
        self._taken: set[SSAValue] = set()

    def apply(self, op: Operation, run: dict[Operation, Attribute]) -> None:
        """Give the results of an operation, and its destinations, the chosen layouts."""
        for result in op.results:
            try:
                chosen = run.get(op) or self._chosen(op, result.type)
            except LayoutError as error:
                refuse(op, f"cannot run on the grid chosen for it: {error}")
            retype(result, chosen)
        if isinstance(op, ttir.TTIROp):
            for number, result in op.written_results.items():
                self._retype_destination(op, number, result.type)

    def begin_control(self, ops: Sequence[Operation], control: ControlParts) -> None:
        """Say what parts of loops and branches take and return, and what loops and branches give.

        They are the layouts that operations leave their results in.
        """
        for op in ops:
            if isinstance(op, FuncOp) and control.takes_from_device(op):
                self._take_on_workers(op, returns=control.returns_on_device(op))
            elif control.gives_from_device(op):
                for result in op.results:
                    retype(result, self._on_workers(result.type))

    def end_control(self, ops: Sequence[Operation], control: ControlParts) -> None:
        """Move what loops and branches pass to their parts, where it is in another layout."""
        for op in ops:
            if isinstance(op, ControlOp) and control.gives_from_device(op):
                self._pass_on_workers(op)

    def _take_on_workers(self, function: FuncOp, *, returns: bool) -> None:
        """Let a part of a loop or branch take, and return, tensors on the cores of the device."""
        signature = function.function_type
        outputs = signature.outputs.data
        function.function_type = FunctionType.from_lists(
            [self._on_workers(type_) for type_ in signature.inputs],
            [self._on_workers(type_) for type_ in outputs] if returns else outputs,
        )
        for argument in function.body.block.args:
            retype(argument, self._on_workers(argument.type))

    def _pass_on_workers(self, op: ControlOp) -> None:
        """Bring what a loop or branch passes to its functions to the cores of the device."""
        for number, value in enumerate(op.passed, len(op.operands) - len(op.passed)):
            wanted, owner = self._on_workers(value.type), value.owner
            if wanted == value.type:
                continue
            if value.has_one_use() and isinstance(owner, ttir.ToLayoutOp | ttir.ConstantOp):
                retype(value, wanted)
                if isinstance(owner, ttir.ToLayoutOp):
                    self._retype_destination(owner, owner.init_range[0], wanted)
            else:
                op.operands[number] = Builder.before(op).move_to_layout(value, wanted)

    def _chosen(self, op: Operation, current: Attribute) -> Attribute:
        overridden = self._overrides.choose(op, current)
        if overridden is not None:
            return overridden
        return self._on_workers(current) if _computes(op) else current

    def _retype_destination(self, op: Operation, number: int, chosen: Attribute) -> None:
        """Let the destination have the result's type, or make one if it is needed otherwise."""
        value = op.operands[number]
        is_free = isinstance(value.owner, EmptyOp) and value not in self._taken
        self._taken.add(value)
        if is_free:
            retype(value, chosen)
        elif value.type != chosen:
            builder, is_empty = Builder.before(op), isinstance(value.owner, EmptyOp)
            op.operands[number] = (
                builder.create_empty(chosen) if is_empty else builder.move_to_layout(value, chosen)
            )

    def _type_on_workers(self, type_: Attribute) -> Attribute:
        return _in_memory(
            type_, MemorySpace.DEVICE_DRAM, TensorMemoryLayout.INTERLEAVED, self._workers
        )


def _type_on_grid(type_: Attribute, grid: Grid) -> Attribute:
    layout = layout_of(type_)
    if layout is None:
        return type_
    return with_layout(type_, layout.with_grid(shape_of(type_), grid))


def _in_memory(
    type_: Attribute, memory_space: MemorySpace, memory_layout: TensorMemoryLayout, grid: Grid
) -> Attribute:
    layout = layout_of(type_)
    if layout is None:
        return type_
    moved = layout.with_memory_space(memory_space).with_memory_layout(memory_layout)
    return with_layout(type_, moved.with_grid(shape_of(type_), grid))
