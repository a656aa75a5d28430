"""Keep what elementwise operations of ttnn make in L1, divided over the cores.

Before:

    #dram = #ttnn.buffer_type<dram>
    #l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, f32>, #dram>,
        <interleaved>>
    module {
      ttcore.device @default_device = <workerGrid = #ttcore.grid<8x8, (d0, d1) -> (0, d0, d1)>,
          l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1
          + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, 0, d0 * s1 + d1), meshShape = ,
          chipIds = [0]>
      func.func @main(%a: tensor<5x40xf32, #l>) -> tensor<5x40xf32, #l> {
        %0 = "ttnn.exp"(%a) : (tensor<5x40xf32, #l>) -> tensor<5x40xf32, #l>
        return %0 : tensor<5x40xf32, #l>
      }
    }

After:

    ...
        %0 = "ttnn.to_memory_config"(%arg0)
            : (tensor<5x40xf32, #ttnn_layout>) -> tensor<5x40xf32, #ttnn_layout1>
        %1 = "ttnn.exp"(%0)
            : (tensor<5x40xf32, #ttnn_layout1>) -> tensor<5x40xf32, #ttnn_layout1>
        %2 = "ttnn.to_memory_config"(%1)
            : (tensor<5x40xf32, #ttnn_layout1>) -> tensor<5x40xf32, #ttnn_layout>
        return %2 : tensor<5x40xf32, #ttnn_layout>
        ...

Requires: ttnn of 2026, with layouts, and a `ttcore.device`.
Ensures: tiles that elementwise operations take and make are divided over as many cores as hold a
part, the first of height, width and block that has most; a part is as many whole tiles along each
dimension. Permutations, and reshapes that change the tiles, make interleaved tensors of L1, as do
slices of what is there; what is joined of equal tensors stays on their cores. Elementwise results
that are rows of whole tiles are divided alike. All else takes and makes DRAM, where what does not
fit into L1 stays, and single numbers that are repeated, and operations between others in DRAM that
would be moved there and back more often than they take each other's results. Functions of constants
stay as they are.
Options: `enable-l1-sharding-layouts`: false leaves all in DRAM, as at optimization level 1;
`tensor-l1-usage-cap`: the part of L1 that tensors take, beside circular buffers.
Not done here: asking a model of the device. Products, reductions, convolutions and their like, for
which only it knows what they take, stay in DRAM; `beam-width` and the numbers of candidates of
tt-mlir have nothing to count.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation

from ttmlir.ir.ttnn_types import (
    TILE,
    Shards,
    is_sharded,
    location_of,
    memory_of,
    set_type,
    tensor_in,
)
from ttmlir.ir.ttnn_values import TTNNValueBuilder
from ttmlir.layout.enums import BufferType, TTNNTensorMemoryLayout
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttnn.optimizer.spread_layouts import (
    L1_SHARE,
    check_part,
    device_functions,
    is_elementwise,
    layout_attr,
    parts_of,
    shard_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xdsl.context import Context
    from xdsl.dialects.builtin import IntegerAttr, ModuleOp
    from xdsl.ir import Attribute, Block, SSAValue

    from ttmlir.dialects.ttnn.attrs import TensorMemoryLayoutAttr

_SPREADS = (
    TTNNTensorMemoryLayout.HEIGHT_SHARDED,
    TTNNTensorMemoryLayout.WIDTH_SHARDED,
    TTNNTensorMemoryLayout.BLOCK_SHARDED,
)
"""In this order where as many cores would have a part."""
_REORDERING = ("ttnn.permute", "ttnn.reshape")
"""Operations that take shards, and make what is interleaved."""
_SLICES = ("ttnn.slice", "ttnn.slice_static")
"""Operations that take and make what is interleaved."""


@dataclass(frozen=True)
class TTNNGreedyMemoryLayoutPropagationPass(ModulePass):
    """Keep what elementwise operations of ttnn make in L1, divided over the cores."""

    name = "ttnn-greedy-memory-layout-propagation"
    title = "TTNNGreedyMemoryLayoutPropagation"
    enable_l1_sharding_layouts: bool = option(True, "Divide tensors over the L1 of the cores")
    tensor_l1_usage_cap: float = option(L1_SHARE, "The part of L1 that tensors may take, 0 to 1")

    def check_options(self) -> None:
        """Refuse what is no part of L1."""
        check_part("tensor-l1-usage-cap", self.tensor_l1_usage_cap)

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Choose the layouts of every function of the device."""
        self.check_options()
        if not self.enable_l1_sharding_layouts:
            return
        for block, workers, usable in device_functions(module):
            _Propagation(workers, int(self.tensor_l1_usage_cap * usable)).run(block)


def spread_of(
    tiles: tuple[int, int], workers: tuple[int, int]
) -> tuple[TTNNTensorMemoryLayout, tuple[int, int]]:
    """How a tensor of so many rows and columns of tiles is divided, and into how many parts.

    `workers` are the rows and columns of cores of the device.
    """
    cores = workers[0] * workers[1]
    most = ((cores, 1), (1, cores), workers)
    found = [
        (spread, (parts_of(tiles[0], limit[0]), parts_of(tiles[1], limit[1])))
        for spread, limit in zip(_SPREADS, most, strict=True)
    ]
    return max(found, key=lambda each: each[1][0] * each[1][1])


def _staying_in_dram(ops: Sequence[Operation]) -> set[Operation]:
    """Groups of operations that take each other's results, between others that are in DRAM, and for
    which moving there and back takes longer than is won: what one elementwise operation gives to
    another one is neither written to DRAM nor read."""
    members = {op for op in ops if _is_member(op)}
    group = {op: op for op in members}

    def root(op: Operation) -> Operation:
        while group[op] is not op:
            group[op] = op = group[group[op]]
        return op

    won, moves, between = Counter[Operation](), Counter[Operation](), set[Operation]()
    edges = [(op, use.operation) for op in ops if op in members for use in op.results[0].uses]
    for op, user in edges:
        if user in members:
            group[root(user)] = root(op)
    for op, user in edges:
        won[root(op)] += 2 * (user in members and is_elementwise(op) and is_elementwise(user))
    for op in members:
        users = {use.operation for use in op.results[0].uses} - members
        makers = {each.owner for each in op.operands} - members
        moves[root(op)] += bool(users) + (len(makers) if is_elementwise(op) else 0)
        if any(map(_computes, (*users, *makers))):
            between.add(root(op))
    return {op for op in members if root(op) in between and won[root(op)] <= moves[root(op)]}


def _is_member(op: Operation) -> bool:
    is_moving = op.name in (*_REORDERING, *_SLICES, "ttnn.concat")
    return len(op.results) == 1 and (is_moving or is_elementwise(op))


_CONVERSIONS = ("ttnn.to_tensor_spec", "ttnn.to_layout", "ttnn.deallocate")


def _computes(owner: Operation | Block) -> bool:
    """True for an operation that computes with tensors, rather than making or moving them."""
    return (
        isinstance(owner, Operation)
        and owner.name.startswith("ttnn.")
        and owner.name not in _CONVERSIONS
        and any(isinstance(each.type, TensorType) for each in owner.operands)
    )


def _is_empty(op: Operation) -> bool:
    """True if a tensor has no elements, which no core can have a part of."""
    types = [value.type for value in (*op.operands, *op.results)]
    return any(isinstance(each, TensorType) and 0 in each.get_shape() for each in types)


class _Propagation:
    """The layouts of one function."""

    def __init__(self, workers: tuple[int, int], most: int) -> None:
        """Begin with the cores, and the bytes that tensors may take of each."""
        self._workers = workers
        self._most = most
        self._moved: dict[SSAValue, SSAValue] = {}
        """What has been moved to shards, and where it is there."""
        self._last: dict[SSAValue, int] = {}
        """The number of the last operation that uses a value."""
        self._ending: dict[int, int] = {}
        """Bytes of L1 whose last user is the operation of this number."""
        self._held = 0
        """Bytes of L1 of each core that are in use."""

    def run(self, block: Block) -> None:
        """Decide for each operation in order."""
        ops = tuple(block.ops)
        staying = _staying_in_dram(ops)
        for number, op in enumerate(ops):
            self._last.update(dict.fromkeys(op.operands, number))
        for number, op in enumerate(ops):
            self._held -= self._ending.pop(number - 1, 0)
            if op in staying or _is_empty(op):
                self._take_back(op)
            elif is_elementwise(op):
                self._spread(op)
            elif op.name in (*_REORDERING, *_SLICES):
                self._interleave(op)
            elif op.name == "ttnn.concat" and _is_of_equal_tiles(op):
                self._join(op)
            elif op.name != "func.return":
                self._take_back(op)
        self._return(block)

    def _return(self, block: Block) -> None:
        last = block.last_op
        if last is not None:
            for index, value in enumerate(last.operands):
                if _is_in_l1(value) and isinstance(value.owner, Operation):
                    after = value.owner.next_op
                    assert after is not None, "the end of the function comes after"
                    last.operands[index] = self._to_dram(value, after)

    def _spread(self, op: Operation) -> None:
        """Divide the result, and what it is computed from."""
        made = op.results[0]
        if _is_in_dram(made.type):
            _ = self._move_operands(op, lambda _: self._shards_of(made.type))
        elif _is_of_whole_rows(made.type):
            self._spread_rows(op)
        else:
            self._take_back(op)

    def _spread_rows(self, op: Operation) -> None:
        """Divide a result that is rows; what it is computed from stays where it is."""
        tensor = cast("TensorType[Attribute]", op.results[0].type)
        spread, grid = spread_of(_tiles_of(tensor), self._workers)
        result = self._in_l1(tensor, Shards.on(spread, grid, self._workers), tiled=False)
        if self._fits(result):
            self._give(op.results[0], result)

    def _move_operands(self, op: Operation, layout: Callable[[Attribute], Attribute]) -> bool:
        """Divide what an operation takes, and its result by the shards of its operand.

        False, and nothing is done, if that does not fit.
        """
        made = op.results[0]
        wanted = {
            value: self._shards_of(value.type)
            for value in op.operands
            if _is_in_dram(value.type) and not _is_one_number(value.type, made.type)
        }
        first = op.operands[0]
        result = layout(wanted.get(first, first.type))
        new = [type_ for value, type_ in wanted.items() if value not in self._moved]
        if not self._fits(*new, result):
            return False
        for value, type_ in wanted.items():
            if value not in self._moved:
                self._moved[value] = _move(value, type_, op)
                self._hold(type_, self._last[value])
        for index, value in enumerate(op.operands):
            op.operands[index] = self._moved[value] if value in wanted else value
        self._give(made, result)
        return True

    def _join(self, op: Operation) -> None:
        """Put shards that are alike beside each other, on the cores that have them."""
        if not self._move_operands(op, lambda shards: self._like(op.results[0].type, shards)):
            self._take_back(op)

    def _interleave(self, op: Operation) -> None:
        """Let what is made of a tensor in L1 be there, too."""
        value, made = op.operands[0], op.results[0]
        is_tiled = _is_in_dram(made.type) and (_is_in_l1(value) or _is_in_dram(value.type))
        if not is_tiled or not (_is_in_l1(value) or _reorders(op)):
            self._take_back(op)
            return
        if is_sharded(value.type) and op.name in _REORDERING and not _reorders(op):
            result = self._like(made.type, value.type)
            if self._fits(result):
                self._give(made, result)
                return
        result = self._interleaved(made.type)
        source = self._interleaved(value.type)
        moves = op.name in _SLICES and value.type != source
        if not self._fits(result, *([source] if moves else [])):
            self._take_back(op)
            return
        if moves:
            op.operands[0] = _move(value, source, op)
        self._give(made, result)

    def _give(self, value: SSAValue, type_: Attribute) -> None:
        last = self._last.pop(value, None)
        new = set_type(value, type_)
        if last is not None:
            self._last[new] = last
            self._hold(type_, last)

    def _take_back(self, op: Operation) -> None:
        """Bring what an operation takes to DRAM."""
        for index, value in enumerate(op.operands):
            if _is_in_l1(value) and not op.name.startswith("ttnn.deallocate"):
                op.operands[index] = self._to_dram(value, op)

    def _to_dram(self, value: SSAValue, before: Operation) -> SSAValue:
        memory = memory_of(value.type)
        return _move(value, tensor_in(value.type, tiled=memory is None or memory.is_tiled), before)

    def _shards_of(self, type_: Attribute) -> Attribute:
        tensor = cast("TensorType[Attribute]", type_)
        spread, grid = spread_of(_tiles_of(type_), self._workers)
        return self._in_l1(tensor, Shards.on(spread, grid, self._workers))

    def _like(self, type_: Attribute, shards: Attribute) -> Attribute:
        """A tensor on the cores that another is on."""
        layout = layout_attr(shards)
        assert layout is not None, "the other is in L1"
        spread = cast("TensorMemoryLayoutAttr", layout.spread).data
        rows, columns = layout.grid.data.shape
        tensor = cast("TensorType[Attribute]", type_)
        return self._in_l1(tensor, Shards.on(spread, (rows, columns), self._workers))

    def _interleaved(self, type_: Attribute) -> Attribute:
        spread = TTNNTensorMemoryLayout.INTERLEAVED
        tensor = cast("TensorType[Attribute]", type_)
        return self._in_l1(tensor, Shards.on(spread, self._workers, self._workers))

    def _in_l1(
        self, tensor: TensorType[Attribute], shards: Shards, *, tiled: bool = True
    ) -> Attribute:
        return tensor_in(tensor, tiled=tiled, buffer=BufferType.L1, shards=shards)

    def _fits(self, *types: Attribute) -> bool:
        """True if L1 holds new tensors beside those that are still used."""
        return self._held + sum(map(shard_bytes, types)) <= self._most

    def _hold(self, type_: Attribute, last: int) -> None:
        """Note that a tensor is in L1 up to the operation of a number."""
        size = shard_bytes(type_)
        self._held += size
        self._ending[last] = self._ending.get(last, 0) + size


def _reorders(op: Operation) -> bool:
    """True for a permutation, and a reshape that changes more than the number of dimensions."""
    if op.name not in _REORDERING:
        return False
    return _tiles_of(op.operands[0].type) != _tiles_of(op.results[0].type) or (
        op.name == "ttnn.permute"
    )


def _is_of_equal_tiles(op: Operation) -> bool:
    """True for tensors of the same shape that are joined along whole tiles."""
    shapes = {cast("TensorType[Attribute]", value.type).get_shape() for value in op.operands}
    (shape, *others) = shapes
    dim = cast("IntegerAttr", op.properties["dim"]).value.data
    whole = len(shape) < 2 or shape[dim] % TILE == 0
    return (
        not others
        and whole
        and _is_in_dram(op.results[0].type)
        and all(_is_in_dram(value.type) or is_sharded(value.type) for value in op.operands)
    )


def _move(value: SSAValue, type_: Attribute, before: Operation) -> SSAValue:
    build = TTNNValueBuilder.before(before)
    build.location = location_of(value)
    return build.create("to_memory_config", (value,), type_)


def _tiles_of(type_: Attribute) -> tuple[int, int]:
    """Rows and columns of tiles of all of a tensor."""
    layout = layout_attr(tensor_in(type_, tiled=True))
    assert layout is not None, "it is tiles of ttnn"
    rows, columns = layout.memref.get_shape()
    return rows, columns


def _is_one_number(type_: Attribute, result: Attribute) -> bool:
    """True for a single number that is repeated."""
    shape, made = (cast("TensorType[Attribute]", each).get_shape() for each in (type_, result))
    return prod(shape) == 1 < prod(made)


def _is_in_dram(type_: Attribute) -> bool:
    """True for tiles that are interleaved over the banks of DRAM."""
    memory = memory_of(type_)
    return (
        memory is not None
        and memory.is_tiled
        and memory.buffer is BufferType.DRAM
        and not is_sharded(type_)
    )


def _is_of_whole_rows(type_: Attribute) -> bool:
    """True for rows in DRAM whose extents are those of whole tiles."""
    memory = memory_of(type_)
    if memory is None or memory.is_tiled or memory.buffer is not BufferType.DRAM:
        return False
    shape = cast("TensorType[Attribute]", type_).get_shape()
    is_whole = len(shape) > 1 and not any(extent % TILE for extent in shape[-2:])
    return is_whole and not is_sharded(type_)


def _is_in_l1(value: SSAValue) -> bool:
    memory = memory_of(value.type)
    return memory is not None and memory.buffer is BufferType.L1
