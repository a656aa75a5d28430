"""Numbers that all of a row of a product are multiplied with, where there are fewer tiles of them.

    (x * r) @ y is (x @ y) * r        where r is a column, and the result has fewer columns than x
    (x @ y) * c is (x * c) @ y        where c is a power of two, and x has fewer columns than y

So softmax in front of a product divides the result, and what scales scores scales a factor of them.
A power of two changes no bits of numbers that stay within the range of the format.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import MemRefType, NoneAttr
from xdsl.dialects.linalg.attrs import IteratorType, IteratorTypeAttr
from xdsl.dialects.linalg.ops import GenericOp as UpstreamLoops
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.dialects.memref import AllocOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.linalg import GenericOp as LoopsOp
from ttmlir.dialects.tt.layout import MemorySpaceAttr
from ttmlir.ir.rewriting import erase, insert_before
from ttmlir.layout.affine import AffineMap, DimExpr
from ttmlir.layout.enums import MemorySpace
from ttmlir.mlir.attributes import affine_map_attr, layout_map
from ttmlir.passes.d2m.dst.select import scalar_of_tile

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
    # What was local to the product may stand behind it.
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
