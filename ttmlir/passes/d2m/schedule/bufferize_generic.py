"""The region of a generic on memrefs, for `ttcore-one-shot-bufferize`.

What a region yields is written to the shard that it reserves of the output; every other tensor
that it computes gets memory of its own, local to the core.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    IntegerAttr,
    LocationAttr,
    MemRefType,
    NoneAttr,
    TensorType,
    i64,
)
from xdsl.dialects.linalg.attrs import IteratorType as LinalgIteratorType
from xdsl.dialects.linalg.attrs import IteratorTypeAttr as LinalgIteratorTypeAttr
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.dialects.memref import AllocOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.d2m.structure import BOUNCE
from ttmlir.dialects.linalg import GenericOp as LinalgGenericOp
from ttmlir.dialects.tt.layout import MemorySpaceAttr
from ttmlir.ir.builder import OpBuilder
from ttmlir.ir.rewriting import refuse
from ttmlir.layout.affine import AffineMap
from ttmlir.layout.enums import IteratorType, MemorySpace
from ttmlir.mlir.attributes import affine_map_attr

Tensor = TensorType[Attribute]


def bufferize_generic(
    op: d2m.GenericOp, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]
) -> d2m.GenericOp:
    """The generic on buffers; the bodies of its loops are taken out of `op`."""
    made = d2m.GenericOp.of(
        inputs,
        outputs,
        op.indexing_maps,
        op.iterator_types,
        op.threads,
        grid=op.grid_shape,
        block_factors=op.block_factors,
    )
    made.attributes.update(op.attributes)
    for number, value in enumerate(inputs):
        view = d2m.buffer_of_view(value)[0].owner
        if isinstance(view, d2m.Gather):
            _insert_bounce(made, number, d2m.bounce_tiles(view), op.location)
    for before, after in zip(op.regions, made.regions, strict=True):
        _Region(op, before.block, after.block, made).bufferize()
    return made


def _insert_bounce(op: d2m.GenericOp, number: int, tiles: int, location: LocationAttr) -> None:
    """Local memory of some tiles, for the kernel that gathers an input."""
    element = cast("MemRefType[Attribute]", op.inputs[number].type).element_type
    space = MemorySpaceAttr(MemorySpace.DEVICE_L1)
    local = AllocOp((), (), MemRefType(element, (1, tiles), NoneAttr(), space))
    local.attributes[BOUNCE] = IntegerAttr(number, i64)
    local.location = location
    op.regions[0].block.add_op(local)


def copy_tiles(source: SSAValue, target: SSAValue, location: LocationAttr) -> d2m.GenericOp:
    """The generic that copies all tiles of a buffer to another of the same type."""
    layout = cast("MemRefType[Attribute]", source.type)
    rank = len(layout.get_shape()) // 2
    generic = d2m.GenericOp.of(
        [source],
        [target],
        [AffineMap.identity(rank)] * 2,
        [IteratorType.PARALLEL] * rank,
        [d2m.ThreadKind.COMPUTE],
        block_factors=(1,) * rank,
    )
    generic.location = location
    block = generic.compute_region.block
    builder = OpBuilder(block, location)
    shards = (
        builder.put(d2m.WaitOp.on(block.args[0])),
        builder.put(d2m.ReserveOp.on(block.args[1])),
    )
    copy_shard(builder, *shards)
    return generic


def copy_shard(builder: OpBuilder, source: SSAValue, target: SSAValue) -> None:
    """Loops that copy what is local to a core."""
    shard = cast("MemRefType[Attribute]", source.type)
    rank = len(shard.get_shape())
    tiles = Block(arg_types=[shard.get_element_type()] * 2)
    end = YieldOp(tiles.args[0])
    end.location = builder.location
    tiles.add_op(end)
    loops = LinalgGenericOp(
        [source],
        [target],
        Region(tiles),
        [affine_map_attr(AffineMap.identity(rank))] * 2,
        [LinalgIteratorTypeAttr(LinalgIteratorType.PARALLEL)] * rank,
        [],
    )
    loops.location = builder.location
    builder.insert(loops)


class _Region:
    """A region on tensors, and the one on memrefs that is made of it."""

    def __init__(self, op: d2m.GenericOp, before: Block, after: Block, made: d2m.GenericOp) -> None:
        self._op = op
        self._before = before
        self._after = after
        self._first_output = len(op.inputs)
        self._buffers: dict[SSAValue, SSAValue] = {
            **dict(zip(op.buffers, made.buffers, strict=True)),
            **dict(zip(before.args, after.args, strict=True)),
        }
        self._places = {each: place for place, each in enumerate(before.ops)}
        self._targets: dict[Operation, SSAValue] = {}
        """The shard of an output that loops write to, by their operation."""

    def bufferize(self) -> None:
        """Fill the new block."""
        shards = [each for each in self._before.ops if isinstance(each, d2m.WaitOp | d2m.ReserveOp)]
        for each in shards:
            self._convert_shard(each)
        end = self._before.last_op
        yielded = end.operands if isinstance(end, d2m.YieldOp) else ()
        copies = [
            (value, self._reserved(number))
            for number, value in enumerate(yielded)
            if not self._claim(value, self._reserved(number))
        ]
        for each in tuple(self._before.ops):
            if each not in shards and each is not end:
                self._convert(each)
        for value, target in copies:
            source = self._buffers[value]
            if source is not target:
                copy_shard(OpBuilder(self._after, self._op.location), source, target)

    def _convert_shard(self, op: d2m.WaitOp | d2m.ReserveOp) -> None:
        made = type(op).on(self._buffers[op.operands[0]])
        self._buffers[op.results[0]] = self._add(op, made)

    def _reserved(self, number: int) -> SSAValue:
        """The shard that the region has of an output; it is reserved if it is not yet."""
        cb = self._after.args[self._first_output + number]
        for use in cb.uses:
            if isinstance(use.operation, d2m.ReserveOp):
                return use.operation.results[0]
        return self._add(self._op, d2m.ReserveOp.on(cb))

    def _claim(self, value: SSAValue, target: SSAValue) -> bool:
        """Let the loops that compute a value write to a shard; False if no loops can."""
        owner = value.owner
        if not isinstance(owner, LinalgGenericOp) or owner in self._targets:
            return False
        self._targets[owner] = target
        init = owner.outputs[0]
        if isinstance(init.owner, LinalgGenericOp) and not self._is_needed(init, owner):
            self._claim(init, target)
        return True

    def _convert(self, op: Operation) -> None:
        match op:
            case LinalgGenericOp():
                self._convert_loops(op)
            case d2m.TileTilizeBlockOp() | d2m.TileUntilizeBlockOp() | d2m.TileMatmulBlockOp() if (
                all(each in self._buffers for each in op.operands)
            ):
                operands = [self._buffers[each] for each in op.operands]
                self._after.add_op(type(op).create(operands=operands, location=op.location))
                self._buffers.update((each, operands[-1]) for each in op.results)
            case d2m.DMAOp() if op.src in self._buffers and op.dst in self._buffers:
                self._after.add_op(moved := op.clone(dict(self._buffers)))
                moved.location = op.location
                op.results[0].replace_all_uses_with(moved.results[0])
            case _ if op.name in ("tensor.empty", "d2m.empty"):
                pass  # The loops that write to it allocate.
            case _ if any(
                isinstance(each.type, TensorType) for each in (*op.operands, *op.results)
            ):
                refuse(op, "computes on whole shards; ttcore-one-shot-bufferize takes loops")
            case _:
                op.detach()
                self._after.add_op(op)

    def _convert_loops(self, op: LinalgGenericOp) -> None:
        inputs = [self._buffers.get(value, value) for value in op.inputs]
        target = self._target(op)
        made = LinalgGenericOp(
            inputs,
            [target],
            Region(),
            list(op.indexing_maps),
            list(op.iterator_types),
            [],
        )
        made.attributes.update(op.attributes)
        op.body.move_blocks(made.body)
        made.location = op.location
        self._after.add_op(made)
        self._buffers[op.results[0]] = target

    def _target(self, op: LinalgGenericOp) -> SSAValue:
        """What loops write to."""
        init = op.outputs[0]
        continues = isinstance(init.owner, LinalgGenericOp)
        target = self._targets.get(op)
        if target is None and continues and not self._is_needed(init, op):
            return self._buffers[init]
        if target is None:
            type_ = cast("Tensor", init.type)
            space = MemorySpaceAttr(MemorySpace.DEVICE_L1)
            local = MemRefType(type_.element_type, type_.get_shape(), NoneAttr(), space)
            target = self._add(op, AllocOp((), (), local))
        if continues and self._buffers[init] is not target:
            copy_shard(OpBuilder(self._after, op.location), self._buffers[init], target)
        return target

    def _is_needed(self, value: SSAValue, op: Operation) -> bool:
        """True if a value is read by an operation, or after it; its own init does not count."""
        return any(
            self._places[use.operation] > self._places[op]
            or (use.operation is op and use.index != len(op.operands) - 1)
            for use in value.uses
        )

    def _add(self, source: Operation, op: Operation) -> SSAValue:
        op.location = source.location
        self._after.add_op(op)
        return op.results[0]
