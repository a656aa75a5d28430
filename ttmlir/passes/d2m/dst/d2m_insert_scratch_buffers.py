"""Give local buffers to tiles that have to be in memory while a region computes.

Before:

    #l1 = #ttcore.memory_space<l1>
    #dram = #ttcore.memory_space<dram>
    #map = affine_map<(d0, d1) -> (d0, d1)>
    #row = affine_map<(d0, d1) -> (d0, 0)>
    #parallel = #ttcore.iterator_type<parallel>
    #reduction = #ttcore.iterator_type<reduction>
    !tile = !ttcore.tile<32x32, bf16>
    !in = memref<2x3x!tile, #l1>
    !out = memref<2x1x!tile, #l1>
    func.func @f(%x: memref<1x1x2x3x!tile, #ttcore.interleaved<6144x2048>, #dram>,
        %y: memref<1x1x2x1x!tile, #ttcore.interleaved<2048x2048>, #dram>) {
      d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<1x1>, indexing_maps = [#map, #row],
          iterator_types = [#parallel, #reduction], threads = [#d2m.thread<compute>]}
          ins(%x : memref<1x1x2x3x!tile, #ttcore.interleaved<6144x2048>, #dram>)
          outs(%y : memref<1x1x2x1x!tile, #ttcore.interleaved<2048x2048>, #dram>) {
      ^compute0(%cb0: !d2m.cb<!in>, %cb1: !d2m.cb<!out>):
        %i = d2m.wait %cb0 : !d2m.cb<!in> -> !in
        %o = d2m.reserve %cb1 : !d2m.cb<!out> -> !out
        linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]}
            ins(%i : !in) outs(%o : !out) {
        ^bb0(%a: !tile, %held: !tile):
          %s = "d2m.tile_square"(%a) : (!tile) -> !tile
          %one = "d2m.tile_fill"() <{value = 1.0 : f32}> : () -> !tile
          %r = "d2m.tile_reduce_sum"(%s, %one, %held) <{reduce_dim = #d2m<reduce_dim R>}>
              : (!tile, !tile, !tile) -> !tile
          linalg.yield %r : !tile
        }
      }
      return
    }

After:

    ...
          %alloc = memref.alloc() : memref<2x3x!ttcore.tile<32x32, bf16>, #l1>
          %alloc_0 = memref.alloc() : memref<1x1x!ttcore.tile<32x32, bf16>, #l1>
          linalg.generic {...} outs(%alloc_0 : ...) {
          ^bb0(%out: ...):
            %2 = "d2m.tile_fill"() ...
            linalg.yield %2 : ...
          }
          linalg.generic {...} ins(%0 : ...) outs(%alloc : ...) {
          ^bb0(%in: ..., %out: ...):
            %2 = "d2m.tile_square"(%in) : ...
            linalg.yield %2 : ...
          }
          linalg.generic {...} ins(%alloc, %alloc_0 : ...) outs(%1 : ...) {
          ^bb0(%in: ..., %in_1: ..., %out: ...):
            %2 = "d2m.tile_reduce_sum"(%in, %in_1, %out) ...
            linalg.yield %2 : ...
          }
    ...

Requires: generics on memrefs with one compute region of loops over tiles.
Ensures: products, reductions, `tile_bcast` and `tile_transpose` take tiles of circular buffers, as
the matrix unit does (the right factor of a product may be transposed). Bodies fit DST: what is too
much is computed in loops of its own. Outputs are not read. What is divided by a repeated local
value is multiplied with its reciprocal. What combines blocks in several steps,
and is no sum, goes to a local buffer if other loops run in these steps, too. Buffers that only save
time stop where a core has no more.
Options: tiles of DST.
Not done here: the size of local buffers, which becomes that of blocks, and their addresses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from ml_dtypes import bfloat16
from xdsl.dialects.builtin import MemRefType, NoneAttr
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.dialects.linalg.ops import GenericOp as UpstreamLoops
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.dialects.memref import AllocOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.linalg import GenericOp as LoopsOp
from ttmlir.dialects.tt.layout import MemorySpaceAttr, TileType, element_of
from ttmlir.ir.builder import OpBuilder
from ttmlir.ir.kernel_builder import Buffer, is_float
from ttmlir.ir.rewriting import erase, erase_unused, insert_before, refuse, replace
from ttmlir.layout.affine import AffineExpr, AffineMap, ConstantExpr, DimExpr
from ttmlir.layout.enums import DataType, MemorySpace
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.metal import CIRCULAR_BUFFERS
from ttmlir.mlir.attributes import affine_map_attr, layout_map
from ttmlir.mlir.option_values import option
from ttmlir.passes.d2m.dst.select import (
    Selector,
    capacity_of,
    needs_buffer,
    scalar_of_tile,
    stored_format,
)
from ttmlir.passes.d2m.dst.tile_program import Format, Source, TooManyTilesError, plan
from ttmlir.passes.d2m.frontend.unified_form import ComputingModulePass
from ttmlir.passes.d2m.schedule.bufferize_generic import copy_shard
from ttmlir.passes.d2m.schedule.iteration_space import count_circular_buffers

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

_FLOATS = (DataType.F32, DataType.F16, DataType.BF16)
MOST_BUFFERS = CIRCULAR_BUFFERS - 4
"""Circular buffers of a generic up to which long bodies get others."""
_PARALLEL = IteratorTypeAttr(IteratorType.PARALLEL)


_INTEGERS = (DataType.SI32, DataType.U32, DataType.U16, DataType.U8)
_BF16_TILE = TileType.get(32, 32, DataType.BF16)
_THROUGH_SOURCES = (d2m.TileReduceSumOp, d2m.TileReduceMaxOp, d2m.TileMatmulOp)


@dataclass(frozen=True)
class D2MInsertScratchBuffersPass(ComputingModulePass):
    """Give local buffers to tiles that have to be in memory while a region computes."""

    name = "d2m-insert-scratch-buffers"
    title = "D2MInsertScratchBuffers"
    max_dst_physical_size_tiles: int = option(
        0, "Tiles of 16-bit numbers in DST; 0 for those of the chip"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Look through every generic of the module that has a region."""
        for op in list(module.walk()):
            if not isinstance(op, d2m.GenericOp) or op.results:
                continue
            if op.regions and op.is_compute_only:
                try:
                    _split(op, self.max_dst_physical_size_tiles)
                except LayoutError as error:
                    refuse(op, f"has no kernels: {error}")


def _split(generic: d2m.GenericOp, dst_tiles: int) -> None:
    """Split the loops of a region, with fewer buffers for speed if a core does not have as many."""
    most = CIRCULAR_BUFFERS
    while True:
        original = generic.clone()
        splitter = _Splitter(generic, dst_tiles, most)
        splitter.run()
        excess = count_circular_buffers(generic) - CIRCULAR_BUFFERS
        if excess <= 0 or not splitter.spared:
            original.drop_all_references()
            return
        most = max(splitter.spared - excess, 0)
        insert_before(generic, original)
        replace(generic, *original.results)
        generic = original


class _Splitter:
    """One compute region."""

    def __init__(self, generic: d2m.GenericOp, dst_tiles: int, most_spared: int) -> None:
        """Of buffers that only make it faster, it gets `most_spared` at most."""
        self.spared = 0
        """Buffers that it could do without."""
        self._most_spared = most_spared
        self._generic = generic
        self._capacity = capacity_of(generic, dst_tiles)
        self._constants: dict[tuple[float, Attribute], SSAValue] = {}
        self._long: set[UpstreamLoops] = set()
        """Loops whose bodies get circular buffers for what the matrix unit takes."""

    def run(self) -> None:
        """Split the loops of the region until each can be computed."""
        block = self._generic.compute_region.block
        loops = [op for op in block.ops if isinstance(op, UpstreamLoops)]
        for op in loops:
            self._keep_output(op)
        waiting = loops[::-1]
        while waiting:
            op = waiting.pop()
            made = self._split(op)
            if made is not None:
                waiting += reversed(made)
        move_factors(self._generic)
        if _is_cut_to_fp16(self._generic):
            self._allocate(self._first_loops(), (1, 1), _BF16_TILE)

    def _split(self, loops: UpstreamLoops) -> list[UpstreamLoops] | None:
        """What loops become if they are split: further loops, then what is left of them."""
        for op in tuple(loops.body.block.ops):
            _multiply_instead(op, loops)
        for op in loops.body.block.ops:
            for value in needs_buffer(op):
                if not _is_in_buffer(op, value, loops):
                    return self._move_to_buffer(loops, value, op)
            repeated = self._repeated_operand(op, loops)
            if repeated is not None:
                self.spared += 1
                return self._move_to_buffer(loops, repeated, None)
        value = self._worth_a_buffer(loops)
        if value is not None:
            self.spared += 1
            made = self._move_to_buffer(loops, value, None)
            self._long.add(made[-1])
            return made
        value = self._too_much(loops)
        return None if value is None else self._move_to_buffer(loops, value, None)

    def _too_much(self, loops: UpstreamLoops) -> SSAValue | None:
        """A value that should not be computed in DST together with the others."""
        body = loops.body.block
        held = body.args[-1] if body.args[-1].uses else None
        end = body.last_op
        assert end is not None, "verified: bodies have a terminator"
        root = end.operands[0]
        if isinstance(root.owner, d2m.CombiningTileOp):
            return None
        output = Format(DataType.BF16, Buffer(0))
        sources = [
            Source(number, Buffer(number), Format(stored_format(value.type), Buffer(number)))
            for number, value in enumerate(body.args[:-1])
        ]
        selector = Selector(sources, held, output, multiplies_onto_zeros=False)
        try:
            plan(selector.select(root), self._capacity)
        except TooManyTilesError as error:
            victim = None if error.victim is None else selector.result_of(error.victim)
            if victim is None or victim is root or _depends_on(victim, held):
                raise LayoutError(
                    f"an operation needs {error.needed} tiles of DST at once, which has "
                    f"{self._capacity}; give a larger max-dst-physical-size-tiles"
                ) from error
            return victim
        return None

    def _repeated_operand(self, op: Operation, loops: UpstreamLoops) -> SSAValue | None:
        """What should be repeated in a circular buffer, if there are enough."""
        return _repeated_operand(op, loops) if self.spared < self._most_spared else None

    def _worth_a_buffer(self, loops: UpstreamLoops) -> SSAValue | None:
        """A value of a long body that the matrix unit should take from a circular buffer."""
        if loops not in self._long and not is_long(loops, self._generic):
            return None
        if count_circular_buffers(self._generic) >= MOST_BUFFERS:
            return None
        if self.spared >= self._most_spared:
            return None
        return next(iter(matrix_operands(loops)), None)

    # --- Local buffers --------------------------------------------------------------------------

    def _move_to_buffer(
        self, loops: UpstreamLoops, value: SSAValue, user: Operation | None
    ) -> list[UpstreamLoops]:
        """Compute a value of a body in loops of its own, and read it from a buffer."""
        if isinstance(value.owner, d2m.TileFillOp):
            local = self._constant(loops, value.owner)
            zeros = AffineMap(len(loops.iterator_types.data), 0, (ConstantExpr(0),) * 2)
            return [_read_from_buffer(loops, value, local, zeros)]
        body = loops.body.block
        if _depends_on(value, body.args[-1]):
            raise LayoutError(
                "a tile of a circular buffer depends on the accumulator of the same loops"
            )
        maps = [layout_map(each) for each in loops.indexing_maps.data]
        read = _arguments_of(value)
        used = {dim for each in read for dim in maps[each.index].used_dims()}
        order = sorted(used, key=_order_of(loops, maps, value, user))
        # Buffers have two dimensions or more.
        missing = max(2 - len(order), 0)
        rank = missing + len(order)
        extents = _extents(loops)
        shape = (*(1,) * missing, *(extents[each] for each in order))
        local = self._allocate(loops, shape, value.type)
        zero: AffineExpr = ConstantExpr(0)
        places: list[AffineExpr] = [zero] * len(extents)
        for number, iterator in enumerate(order):
            places[iterator] = DimExpr(missing + number)
        inner = [
            AffineMap(rank, 0, tuple(each.rename(places) for each in maps[argument.index].results))
            for argument in read
        ]
        inputs = [loops.operands[each.index] for each in read]
        made = _insert_loops(loops, inputs, local, inner, value)
        outer = AffineMap(len(extents), 0, (*(zero,) * missing, *map(DimExpr, order)))
        return [made, _read_from_buffer(loops, value, local, outer)]

    def _constant(self, loops: UpstreamLoops, fill: d2m.TileFillOp) -> SSAValue:
        """The buffer with a tile of one number."""
        key = (fill.number, fill.results[0].type)
        if key not in self._constants:
            first = self._first_loops()
            local = self._allocate(first, (1, 1), fill.results[0].type)
            self._constants[key] = local
            _insert_loops(first, [], local, [], fill.results[0])
        return self._constants[key]

    def _first_loops(self) -> UpstreamLoops:
        ops = self._generic.compute_region.block.ops
        return next(op for op in ops if isinstance(op, UpstreamLoops))

    def _allocate(self, before: Operation, shape: Sequence[int], tile: Attribute) -> SSAValue:
        space = MemorySpaceAttr(MemorySpace.DEVICE_L1)
        op = AllocOp((), (), MemRefType(tile, shape, NoneAttr(), space))
        op.location = before.location
        insert_before(before, op)
        return op.memref

    def _keep_output(self, loops: UpstreamLoops) -> None:
        """Let loops write to a local buffer, which is copied, if they may not write to the output.

        Other loops cannot read what the writer takes away. What is combined in steps is read again,
        unless it stays in DST, or the packer adds it up.
        """
        target = loops.outputs[0]
        if not isinstance(target.owner, d2m.ReserveOp):
            return
        reads = [
            use
            for use in target.uses
            if use.operation is not loops and use.index < len(use.operation.operands) - 1
        ]
        if not reads and not self._is_carried(loops):
            return
        local = self._allocate(loops, _shape_of(target), _tile_of(target))
        loops.operands[len(loops.operands) - 1] = local
        for use in reads:
            use.operation.operands[use.index] = local
        block = self._generic.compute_region.block
        builder = OpBuilder(block, loops.location, before=loops.next_op)
        copy_shard(builder, local, target)

    def _is_carried(self, loops: UpstreamLoops) -> bool:
        """True for what is no sum, in steps in which other loops run, too."""
        body = loops.body.block
        root = body.last_op.operands[0].owner if body.last_op is not None else None
        if not (body.args[-1].uses and self._generic.reductions):
            return False
        if isinstance(root, d2m.TileMatmulOp | d2m.TileReduceSumOp):
            return False
        if isinstance(root, d2m.ElementwiseTileOp):
            definition = root.TILE_OPERATION.definition
            is_float = element_of(root.results[0].type).data_type in _FLOATS
            if definition is not None and definition.mnemonic == "add" and is_float:
                return False
            return True
        read = needs_buffer(root) if isinstance(root, Operation) else ()
        computed = any(not isinstance(each, BlockArgument) for each in read)
        return computed or any(isinstance(each.owner, AllocOp) for each in loops.inputs)


def _tile_of(value: SSAValue) -> Attribute:
    return cast("MemRefType[Attribute]", value.type).element_type


def _shape_of(value: SSAValue) -> Sequence[int]:
    return cast("MemRefType[Attribute]", value.type).get_shape()


# --- Bodies ---------------------------------------------------------------------------------------


def _is_in_buffer(op: Operation, value: SSAValue, loops: UpstreamLoops) -> bool:
    """True if an operation finds a tile in a circular buffer, as it is there."""
    if isinstance(op, d2m.TileMatmulOp) and value is op.operands[1]:
        # The unpacker transposes the right factor of a product.
        owner = value.owner
        value = owner.operands[0] if isinstance(owner, d2m.TileTransposeOp) else value
    return isinstance(value, BlockArgument) and value is not loops.body.block.args[-1]


def _multiply_instead(op: Operation, loops: UpstreamLoops) -> None:
    """Let a division by what a local buffer repeats be a product with the reciprocal.

    There are fewer tiles to be divided by than to be divided, and the matrix unit multiplies.
    """
    if not isinstance(op, d2m.ElementwiseTileOp) or op.name != "d2m.tile_div":
        return
    spread = op.operands[1].owner
    if not isinstance(spread, d2m.TileBcastOp) or not is_float(scalar_of_tile(op.results[0].type)):
        return
    source = spread.operands[0]
    if not isinstance(source, BlockArgument):
        return
    if not isinstance(loops.operands[source.index].owner, AllocOp):
        return
    reciprocal = d2m.tile_op("tile_recip").of([source])
    repeated = d2m.TileBcastOp.of(reciprocal.results[0], spread.kind)
    product = d2m.tile_op("tile_mul").of([op.operands[0], repeated.results[0]], op.results[0].type)
    for new in (reciprocal, repeated, product):
        new.location = op.location
    insert_before(op, reciprocal, repeated, product)
    replace(op, product.results[0])
    if not spread.results[0].uses:
        erase(spread)


def _repeated_operand(op: Operation, loops: UpstreamLoops) -> SSAValue | None:
    """What an operation takes of a local buffer that is repeated for many tiles, if it is slow so.

    A sum, difference or product of a tile of DST is computed by the matrix unit if the other one is
    in a circular buffer as a whole; a part that is repeated to DST takes the vector unit.
    """
    if op.name not in ("d2m.tile_add", "d2m.tile_sub", "d2m.tile_mul"):
        return None
    if any(scalar_of_tile(each.type).keyword != "bf16" for each in (*op.operands, *op.results)):
        return None
    for spread, other in (op.operands, op.operands[::-1]):
        source = spread.owner.operands[0] if isinstance(spread.owner, d2m.TileBcastOp) else None
        if not isinstance(source, BlockArgument) or isinstance(other, BlockArgument):
            continue
        is_computed = isinstance(other.owner, d2m.ElementwiseTileOp)
        is_local = isinstance(loops.operands[source.index].owner, AllocOp)
        dims = layout_map(loops.indexing_maps.data[source.index]).used_dims()
        if is_computed and is_local and len(dims) < len(loops.iterator_types.data):
            return spread
    return None


def _expression_of(value: SSAValue) -> tuple[set[Operation], set[BlockArgument[Attribute]]]:
    """The operations that compute a value, and the arguments that they read."""
    ops: set[Operation] = set()
    arguments: set[BlockArgument[Attribute]] = set()
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, BlockArgument):
            arguments.add(each)
        elif isinstance(each.owner, Operation) and each.owner not in ops:
            ops.add(each.owner)
            waiting += each.owner.operands
    return ops, arguments


def _arguments_of(value: SSAValue) -> list[BlockArgument[Attribute]]:
    return sorted(_expression_of(value)[1], key=lambda each: each.index)


def _depends_on(value: SSAValue, argument: SSAValue | None) -> bool:
    return any(each is argument for each in _arguments_of(value))


def _order_of(
    loops: UpstreamLoops, maps: Sequence[AffineMap], value: SSAValue, user: Operation | None
) -> Callable[[int], tuple[int, int]]:
    """In which order the iterators of a value are dimensions of its buffer.

    Factors of products are matrices, terms being the columns of the left and the rows of the right.
    """
    kinds = [kind.data for kind in loops.iterator_types.data]
    left: frozenset[int] = frozenset()
    is_right = isinstance(user, d2m.TileMatmulOp) and value is user.operands[1]
    if is_right and isinstance(user, d2m.TileMatmulOp):
        arguments = _arguments_of(user.operands[0])
        left = frozenset(dim for each in arguments for dim in maps[each.index].used_dims())

    def key(iterator: int) -> tuple[int, int]:
        if kinds[iterator] is not IteratorType.PARALLEL:
            return 1, iterator
        return (0 if not is_right or iterator in left else 2), iterator

    return key


def _extents(loops: UpstreamLoops) -> dict[int, int]:
    """How far each iterator goes."""
    maps = [layout_map(each) for each in loops.indexing_maps.data]
    return {
        result.position: extent
        for index_map, value in zip(maps, loops.operands, strict=True)
        for result, extent in zip(index_map.results, _shape_of(value), strict=True)
        if isinstance(result, DimExpr)
    }


def _insert_loops(
    before: UpstreamLoops,
    inputs: Sequence[SSAValue],
    target: SSAValue,
    maps: Sequence[AffineMap],
    value: SSAValue,
) -> UpstreamLoops:
    """Loops in front of others that compute a value of a body for every place of a buffer."""
    ops, _ = _expression_of(value)
    arguments = _arguments_of(value)
    body = Block(arg_types=[*(each.type for each in arguments), value.type])
    values: dict[SSAValue, SSAValue] = dict(zip(arguments, body.args, strict=False))
    owner_block = value.owner.parent if isinstance(value.owner, Operation) else None
    assert owner_block is not None, "values that are moved are computed in a body"
    for op in owner_block.ops:
        if op in ops:
            body.add_op(op.clone(values))
    end = YieldOp(values[value])
    end.location = before.location
    body.add_op(end)
    rank = len(_shape_of(target))
    made = LoopsOp(
        inputs,
        [target],
        Region(body),
        [affine_map_attr(each) for each in (*maps, AffineMap.identity(rank))],
        [_PARALLEL] * rank,
        [],
    )
    made.location = before.location
    insert_before(before, made)
    return made


def _read_from_buffer(
    loops: UpstreamLoops, value: SSAValue, buffer: SSAValue, index_map: AffineMap
) -> UpstreamLoops:
    """Let a body read a value from a buffer instead of computing it."""
    count = len(loops.inputs)
    body = loops.body.block
    argument = body.insert_arg(value.type, count)
    for use in tuple(value.uses):
        use.operation.operands[use.index] = argument
    erase_unused(op for op in body.ops if op is not body.last_op)
    maps = list(loops.indexing_maps.data)
    maps.insert(count, affine_map_attr(index_map))
    inputs = [*loops.inputs, buffer]
    for number in reversed(range(count)):
        if not body.args[number].uses:
            body.erase_arg(body.args[number])
            del inputs[number], maps[number]
    made = LoopsOp(
        inputs,
        loops.outputs,
        loops.detach_region(loops.body),
        maps,
        list(loops.iterator_types.data),
        [],
    )
    made.attributes.update(loops.attributes)
    made.location = loops.location
    insert_before(loops, made)
    erase(loops)
    return made


# --- Matrix operands ------------------------------------------------------------------------------
# Values of a body that the matrix unit had better take from circular buffers.
#
# The matrix unit adds, subtracts or multiplies a tile of DST with one of a circular buffer, in a
# sixth of the time that the vector unit takes for two tiles of DST, or a tile and a number. In a
# long body that pays for another circular buffer: of a value that is used again and again, as the
# argument of gelu, and of a constant.


LEAST_SAVED = 400
"""Cycles of a tile for which a body gets circular buffers: about the loops that fill them."""
_WITH_TILE, _WITH_NUMBER = 138, 106
"""Cycles saved where the vector unit would take 160 and 128, and the matrix unit takes 22."""
_NAMES = ("d2m.tile_add", "d2m.tile_sub", "d2m.tile_mul")


def is_long(loops: UpstreamLoops, generic: d2m.GenericOp) -> bool:
    """True if a body is so long that it should get circular buffers.

    Those of a stage that writes an output block by block are as small as its blocks.
    """
    target = loops.outputs[0]
    if not isinstance(target.owner, d2m.ReserveOp) or loops.body.block.args[-1].uses:
        return False
    cb = cast("BlockArgument[d2m.CBType]", target.owner.operands[0])
    is_divided = all(
        extent == 1 or isinstance(result, DimExpr)
        for extent, result in zip(
            cb.type.shape, generic.indexing_maps[cb.index].results, strict=True
        )
    )
    return is_divided and sum(matrix_operands(loops).values()) >= LEAST_SAVED


def matrix_operands(loops: UpstreamLoops) -> dict[SSAValue, int]:
    """Values that could be in circular buffers, with the cycles that this would save."""
    uses: dict[SSAValue, int] = {}
    numbers: dict[SSAValue, int] = {}
    for op in loops.body.block.ops:
        if op.name not in _NAMES or not _is_short(op):
            continue
        for value in dict.fromkeys(op.operands):
            others = [each for each in op.operands if each is not value] or [value]
            if not all(isinstance(each.owner, d2m.ElementwiseTileOp) for each in others):
                continue
            if isinstance(value.owner, d2m.TileFillOp):
                if _is_exact(value.owner.number):
                    numbers[value] = numbers.get(value, 0) + _WITH_NUMBER
            elif isinstance(value.owner, d2m.ElementwiseTileOp):
                uses[value] = uses.get(value, 0) + _WITH_TILE
    return {value: saved for value, saved in uses.items() if saved > _WITH_TILE} | numbers


def _is_short(op: Operation) -> bool:
    return all(scalar_of_tile(each.type).keyword == "bf16" for each in (*op.operands, *op.results))


def _is_exact(number: float) -> bool:
    return float(np.float32(number).astype(bfloat16)) == number


def _is_cut_to_fp16(generic: d2m.GenericOp) -> bool:
    """True if f32 would reach the matrix unit as fp16, which ends at 131008.

    Circular buffers of f32 and integers, without one that has 8 bits of exponent, have that effect
    (tt-metal, jit_build/data_format.cpp); one more buffer of bf16, which nobody uses, prevents it.
    """
    types = [value.type for op in generic.compute_region.block.ops for value in op.results]
    memories = [
        cast("MemRefType[Attribute]", each) for each in types if isinstance(each, MemRefType)
    ]
    formats = {stored_format(each.element_type) for each in memories}
    return (
        DataType.F32 in formats
        and not formats.isdisjoint(_INTEGERS)
        and formats <= {DataType.F32, *_INTEGERS}
        and any(isinstance(op, _THROUGH_SOURCES) for op in generic.walk())
        and count_circular_buffers(generic) < CIRCULAR_BUFFERS
    )


# --- Product factors ------------------------------------------------------------------------------
# Numbers that all of a row of a product are multiplied with, where there are fewer tiles of them.
#
#     (x * r) @ y is (x @ y) * r        where r is a column, and the result has fewer columns than x
#     (x @ y) * c is (x * c) @ y        where c is a power of two, and x has fewer columns than y
#
# So softmax in front of a product divides the result, and what scales scores scales a factor of
# them. A power of two changes no bits of numbers that stay within the range of the format.


_WIDE_RANGES = ("bf16", "f32")
"""Formats in which sums before they are divided are no larger than their range."""


def move_factors(generic: d2m.GenericOp) -> None:
    """Move factors in the region of a generic, whose loops read what they need from buffers."""
    for loops in list(generic.compute_region.block.ops):
        if isinstance(loops, UpstreamLoops) and _is_product(loops):
            _multiply_result(loops)
    for loops in list(generic.compute_region.block.ops):
        if isinstance(loops, UpstreamLoops) and _is_product(loops):
            _multiply_factor(loops)


def _is_product(loops: UpstreamLoops) -> bool:
    """True for a product of matrices alone, in a format with a wide range."""
    end = loops.body.block.last_op
    assert end is not None, "verified: bodies have a terminator"
    root = end.operands[0].owner
    return (
        isinstance(root, d2m.TileMatmulOp)
        and isinstance(root.operands[0], BlockArgument)
        and all(scalar_of_tile(each.type).keyword in _WIDE_RANGES for each in root.operands)
    )


def _multiply_result(product: UpstreamLoops) -> None:
    """Multiply the result of a product by a column instead of its left factor."""
    left, out = _sides(product)
    local = product.operands[left]
    writer = _only_writer(local)
    if writer is None or _count_readers(local) != 1 or not _is_smaller(product.outputs[0], local):
        return
    match [*writer.body.block.ops]:
        case [
            d2m.TileBcastOp(kind=d2m.BroadcastKind.COLUMN) as spread,
            Operation(name="d2m.tile_mul") as multiply,
            YieldOp(),
        ] if multiply.operands[1] is spread.results[0]:
            value, column = multiply.operands[0], spread.operands[0]
        case _:
            return
    if not isinstance(value, BlockArgument) or not isinstance(column, BlockArgument):
        return
    maps = [layout_map(each) for each in writer.indexing_maps.data]
    source, repeated = writer.operands[value.index], writer.operands[column.index]
    rank = len(maps[-1].results)
    if maps[-1] != AffineMap.identity(rank) or maps[value.index] != maps[-1]:
        return
    own = [layout_map(each) for each in product.indexing_maps.data]
    index_map = maps[column.index].compose(own[left])
    place_of = {
        result.position: number
        for number, result in enumerate(own[out].results)
        if isinstance(result, DimExpr)
    }
    if not index_map.used_dims() <= place_of.keys():
        return
    target = product.outputs[0]
    total = _allocate(product, target)
    result_rank = len(own[out].results)
    places = [DimExpr(place_of.get(each, 0)) for each in range(index_map.num_dims)]
    column_map = AffineMap(result_rank, 0, tuple(each.rename(places) for each in index_map.results))
    product.operands[left] = source
    product.operands[out] = total
    identity = AffineMap.identity(result_rank)
    tiles = [each.type for each in (value, column, product.body.block.args[-1])]
    body = Block(arg_types=tiles)
    again = d2m.TileBcastOp.of(body.args[1], spread.kind)
    scaled = d2m.tile_op("tile_mul").of([body.args[0], again.results[0]], tiles[2])
    body.add_ops([again, scaled])
    made = _loops([total, repeated], target, [identity, column_map, identity], body, product)
    block = product.parent
    assert block is not None, "loops are in a region"
    block.insert_op_after(made, product)
    _erase_local(writer, local)


def _multiply_factor(product: UpstreamLoops) -> None:
    """Multiply the left factor of a product by a power of two instead of the result."""
    left, out = _sides(product)
    local, factor = product.outputs[0], product.operands[left]
    readers = _readers(local)
    if len(readers) != 1 or not isinstance(local.owner, AllocOp) or not _is_smaller(factor, local):
        return
    (reader,) = readers
    match [*reader.body.block.ops]:
        case [d2m.TileFillOp() as fill, Operation(name="d2m.tile_mul") as multiply, YieldOp()]:
            pass
        case _:
            return
    number = fill.number
    if number == 0 or not math.isfinite(number) or abs(math.frexp(number)[0]) != 0.5:
        return
    values = [each for each in multiply.operands if each is not fill.results[0]]
    maps = [layout_map(each) for each in reader.indexing_maps.data]
    if len(values) != 1 or not isinstance(values[0], BlockArgument) or len(maps) != 2:
        return
    if maps[0] != AffineMap.identity(len(maps[1].results)) or maps[0] != maps[1]:
        return
    scaled = _allocate(product, factor)
    rank = len(cast("MemRefType[Attribute]", factor.type).get_shape())
    tile = product.body.block.args[left].type
    body = Block(arg_types=[tile, tile])
    constant = d2m.TileFillOp.of(number, tile)
    result = d2m.tile_op("tile_mul").of([body.args[0], constant.results[0]], tile)
    body.add_ops([constant, result])
    maps = [AffineMap.identity(rank)] * 2
    insert_before(product, _loops([factor], scaled, maps, body, product))
    product.operands[left] = scaled
    product.operands[out] = reader.outputs[0]
    # What was local to the product may stand after it.
    owner = reader.outputs[0].owner
    if isinstance(owner, AllocOp):
        owner.detach()
        insert_before(product, owner)
    _erase_local(reader, local)


def _sides(product: UpstreamLoops) -> tuple[int, int]:
    """Which operands of loops are the left factor of a product and its result."""
    body = product.body.block
    assert body.last_op is not None, "verified: bodies have a terminator"
    root = cast("Operation", body.last_op.operands[0].owner)
    left = cast("BlockArgument[Attribute]", root.operands[0])
    return left.index, len(product.operands) - 1


def _readers(memref: SSAValue) -> list[UpstreamLoops]:
    """The loops that read a memref, as often as they do."""
    return [
        use.operation
        for use in memref.uses
        if isinstance(use.operation, UpstreamLoops) and use.index < len(use.operation.operands) - 1
    ]


def _count_readers(memref: SSAValue) -> int:
    return len(_readers(memref))


def _only_writer(memref: SSAValue) -> UpstreamLoops | None:
    """The only loops that write to local memory."""
    if not isinstance(memref.owner, AllocOp):
        return None
    found = [
        use.operation
        for use in memref.uses
        if isinstance(use.operation, UpstreamLoops) and use.index == len(use.operation.operands) - 1
    ]
    return found[0] if len(found) == 1 else None


def _is_smaller(first: SSAValue, second: SSAValue) -> bool:
    """True if a memref has fewer tiles than another one."""
    small, large = (
        math.prod(cast("MemRefType[Attribute]", each.type).get_shape()) for each in (first, second)
    )
    return small < large


def _allocate(before: Operation, like: SSAValue) -> SSAValue:
    memref = cast("MemRefType[Attribute]", like.type)
    space = MemorySpaceAttr(MemorySpace.DEVICE_L1)
    op = AllocOp((), (), MemRefType(memref.element_type, memref.get_shape(), NoneAttr(), space))
    op.location = before.location
    insert_before(before, op)
    return op.memref


def _loops(
    inputs: Sequence[SSAValue],
    output: SSAValue,
    maps: Sequence[AffineMap],
    body: Block,
    like: Operation,
) -> UpstreamLoops:
    """Loops with a body that yields what it computes last, at the place of others in the source."""
    assert body.last_op is not None, "bodies compute something"
    body.add_op(YieldOp(body.last_op.results[0]))
    parallel = IteratorTypeAttr(IteratorType.PARALLEL)
    made = LoopsOp(
        inputs,
        [output],
        Region(body),
        [affine_map_attr(each) for each in maps],
        [parallel] * maps[-1].num_dims,
        [],
    )
    for op in (*body.ops, made):
        op.location = like.location
    return made


def _erase_local(writer: UpstreamLoops, local: SSAValue) -> None:
    """Take off loops, and the local memory that nobody needs any more."""
    erase(writer)
    if not local.uses and isinstance(local.owner, AllocOp):
        erase(local.owner)
