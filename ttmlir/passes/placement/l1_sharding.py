"""Runs of operations whose results stay in L1, each core holding a part.

A run is a chain in which every operation's result has one user, the next in the chain. All but
the last of them keep their results in L1. The division of a result is the first of these that
needs most cores: by blocks over any part of the worker grid, by rows over up to all cores, by
columns over up to all cores; the tensor's rows and columns, counted in tiles, must come out even.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from itertools import chain

from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from ttmlir.dialects import ttir
from ttmlir.ir.layouts import layout_of, with_layout
from ttmlir.ir.rewriting import AttributeMemo, refuse
from ttmlir.ir.tensor_types import shape_of
from ttmlir.layout.enums import MemorySpace, TensorMemoryLayout
from ttmlir.layout.errors import LayoutError

Grid = tuple[int, ...]

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
