"""Rows that several cores share: each reduces its columns, and all combine what they have found.

Softmax and norms go over rows after they have reduced them, so that a core has whole rows. A split
generic has an iterator for the columns, too, one block of which each core of a row of the chip has.
What is left of a reduction goes to all of them (`d2m.all_gather`), and each combines it.

    %sums = memref.alloc() : memref<2x1x!tile, #l1>         // of the columns of this core
    linalg.generic ... ins(%x, %one) outs(%sums) { d2m.tile_reduce_sum }
    %parts = memref.alloc() : memref<8x2x1x!tile, #l1>      // of all cores
    d2m.all_gather %sums, %parts : memref<2x1x!tile, #l1> into memref<8x2x1x!tile, #l1>
    %all = memref.alloc() : memref<2x1x!tile, #l1>
    linalg.generic ... ins(%parts) outs(%all) { d2m.tile_add }
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import MemRefType, NoneAttr
from xdsl.dialects.linalg.attrs import IteratorType as LinalgIteratorType
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.dialects.memref import AllocOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.linalg import GenericOp as LoopsOp
from ttmlir.dialects.tt.layout import MemorySpaceAttr
from ttmlir.ir.rewriting import erase, insert_before
from ttmlir.layout.affine import AffineMap, ConstantExpr, DimExpr, dims
from ttmlir.layout.enums import IteratorType, MemorySpace
from ttmlir.layout.metal import CIRCULAR_BUFFERS
from ttmlir.mlir.attributes import affine_map_attr
from ttmlir.mlir.reporting import OpError
from ttmlir.passes.d2m.schedule.iteration_space import (
    IterationSpace,
    Loops,
    count_circular_buffers,
    shape_of,
)

MOST_EXCHANGES = 4
"""Each takes two semaphores of a core, which has 16."""
_COMBINE: dict[type[Operation], str] = {
    d2m.TileReduceSumOp: "tile_add",
    d2m.TileReduceMaxOp: "tile_maximum",
}
"""What combines the results of a reduction on several cores."""


def columns_of(op: d2m.GenericOp) -> int | None:
    """The tiles of a row that cores could share; None if a generic has no such rows.

    Its iterators, all parallel, are the dimensions of its outputs but the last one, which is whole
    in each block; so it is in its inputs.
    """
    rank = len(op.iterator_types) + 1
    if any(each is not IteratorType.PARALLEL for each in op.iterator_types) or op.results:
        return None
    shapes = [cast("d2m.CBType", op.cb(number).type).shape for number in range(len(op.operands))]
    if rank < 2:
        return None
    if any(each.results[-1] != ConstantExpr(0) for each in op.indexing_maps):
        return None
    width = shapes[-1][-1]
    for number in range(len(op.inputs), len(op.operands)):
        if op.indexing_maps[number].results[:-1] != dims(rank - 1) or shapes[number][-1] != width:
            return None
    return width if width > 1 and all(shape[-1] in (1, width) for shape in shapes) else None


def split_rows(op: d2m.GenericOp, cores: int) -> d2m.GenericOp | None:
    """A copy in front of a generic in which so many cores share each row; None if none could."""
    width = columns_of(op)
    if width is None or width % cores:
        return None
    made = _with_columns(op, width)
    try:
        space = IterationSpace(made)
    except OpError:
        # Of a product, both factors of which have rows of this width.
        erase(made)
        return None
    columns = len(op.iterator_types)
    partial = [each for each in space.loops if _reduces_columns(each, columns)]
    if (
        not 0 < len(partial) <= MOST_EXCHANGES
        or not _is_split(space)
        or not all(map(_is_exchanged, partial))
    ):
        erase(made)
        return None
    for loops in partial:
        _exchange(loops, cores)
    if count_circular_buffers(made) > CIRCULAR_BUFFERS:
        erase(made)
        return None
    return made


def exchanges_of(op: d2m.GenericOp) -> list[d2m.AllGatherOp]:
    """What the cores of a generic tell each other in each step."""
    return [each for each in op.compute_region.block.ops if isinstance(each, d2m.AllGatherOp)]


def _with_columns(op: d2m.GenericOp, width: int) -> d2m.GenericOp:
    """The generic with an iterator along the columns."""
    count = len(op.iterator_types)
    column = dims(count + 1)[-1]
    maps: list[AffineMap] = []
    for number, index_map in enumerate(op.indexing_maps):
        shape = cast("d2m.CBType", op.cb(number).type).shape
        last = column if shape[-1] == width else ConstantExpr(0)
        maps.append(AffineMap(count + 1, 0, (*index_map.results[:-1], last)))
    made = d2m.GenericOp.of(
        op.inputs,
        op.outputs,
        maps,
        [IteratorType.PARALLEL] * (count + 1),
        op.threads,
        grid=op.grid_shape,
        block_factors=(*op.block_factors, 1),
        regions=[region.clone() for region in op.regions],
    )
    made.attributes.update(op.attributes)
    made.location = op.location
    insert_before(op, made)
    return made


def _reduces_columns(loops: Loops, columns: int) -> bool:
    """True if loops reduce along an iterator of the generic."""
    return any(
        reduces and label == columns
        for reduces, label in zip(loops.reductions, loops.labels, strict=True)
    )


def _is_split(space: IterationSpace) -> bool:
    """True if all loops go over rows and columns as operands and local memory have them."""
    if any(access.loops_map is not None for access in space.accesses):
        return False
    for loops in space.loops:
        for index_map, value in zip(loops.maps, loops.op.operands, strict=True):
            labels = space.labels_of(value)
            for label, result in zip(labels, index_map.results, strict=True):
                if isinstance(result, DimExpr):
                    if loops.labels[result.position] != label:
                        return False
                elif result != ConstantExpr(0):
                    return False
    return True


def _is_exchanged(loops: Loops) -> bool:
    """True for a sum or a maximum of a whole row, which goes to local memory."""
    target = loops.op.outputs[0]
    writers = [use for use in target.uses if use.index == len(use.operation.operands) - 1]
    return type(_root(loops)) in _COMBINE and isinstance(target.owner, AllocOp) and len(writers) < 2


def _root(loops: Loops) -> Operation | None:
    end = loops.op.body.block.last_op
    assert end is not None, "verified: bodies have a terminator"
    owner = end.operands[0].owner
    return owner if isinstance(owner, Operation) else None


def _exchange(loops: Loops, cores: int) -> None:
    """Combine the results of loops on all cores, for all that read them."""
    part = loops.op.outputs[0]
    shape = shape_of(part)
    root = _root(loops)
    assert root is not None, "reductions are computed"
    tile = cast("MemRefType[Attribute]", part.type).element_type
    following = loops.op.next_op
    assert following is not None, "outputs are written after what is reduced"
    readers = [use for use in part.uses if use.operation is not loops.op]
    parts, whole = _allocate(tile, (cores, *shape)), _allocate(tile, shape)
    gather = d2m.AllGatherOp.of(part, parts.memref)
    scaler = _scaler_of(root, tile)
    body = Block(arg_types=[tile, *(each.type for each in scaler), tile])
    combined = _combine(root, body.args)
    end = YieldOp(combined.results[0])
    body.add_ops([combined, end])
    rank = len(shape)
    zeros = AffineMap(rank + 1, 0, (ConstantExpr(0),) * 2)
    combine = LoopsOp(
        [parts.memref, *(loops.op.operands[each.index] for each in scaler)],
        [whole.memref],
        Region(body),
        [
            affine_map_attr(AffineMap.identity(rank + 1)),
            *[affine_map_attr(zeros)] * len(scaler),
            affine_map_attr(AffineMap(rank + 1, 0, dims(rank + 1)[1:])),
        ],
        [
            IteratorTypeAttr(LinalgIteratorType.REDUCTION),
            *[IteratorTypeAttr(LinalgIteratorType.PARALLEL)] * rank,
        ],
        [],
    )
    for new in (parts, whole, gather, combine, combined, end):
        new.location = loops.op.location
    insert_before(following, parts, whole, gather, combine)
    for use in readers:
        use.operation.operands[use.index] = whole.memref


def _combine(
    root: Operation, tiles: Sequence[SSAValue]
) -> d2m.TileReduceSumOp | d2m.ElementwiseTileOp:
    """A part, combined with the accumulator; with a scaler between them, as the parts were made."""
    if isinstance(root, d2m.TileReduceSumOp) and len(tiles) > 2:
        part, scaler, held = tiles
        return d2m.TileReduceSumOp.of(part, scaler, held, root.reduce_dim)
    part, held = tiles
    return d2m.tile_op(_COMBINE[type(root)]).of([held, part])


def _scaler_of(root: Operation, tile: Attribute) -> list[BlockArgument[Attribute]]:
    """The scaler of a sum of shorter numbers than its result has, else none.

    Such parts are summed like tiles of one core: the matrix unit takes more bits of them than it
    took of what they are sums of, in a fraction of the time of the vector unit.
    """
    if not isinstance(root, d2m.TileReduceSumOp) or root.operands[0].type == tile:
        return []
    scaler = root.operands[1]
    return [scaler] if isinstance(scaler, BlockArgument) else []


def _allocate(tile: Attribute, shape: tuple[int, ...]) -> AllocOp:
    space = MemorySpaceAttr(MemorySpace.DEVICE_L1)
    return AllocOp((), (), MemRefType(tile, shape, NoneAttr(), space))


def buffers_of_local(local: SSAValue) -> int:
    """How many times local memory of a region is there: two, if other cores write to it.

    So they may do so while this one reads what they wrote in the step before.
    """
    return 1 + any(
        isinstance(use.operation, d2m.AllGatherOp) and use.index == 1 for use in local.uses
    )
