"""Which iterator of a generic each dimension of its operands and local memrefs follows.

The indexing maps of a `d2m.generic` tell it for the operands; the loops in its region tie the
dimensions of local memrefs to those. A dimension that follows no iterator is whole in every block.
Loops may read or write a part of an operand, or its tiles in another order: such an operand is
accessed through a view with a dimension for each iterator of the loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.linalg.attrs import IteratorType as LinalgIteratorType
from xdsl.dialects.linalg.ops import IndexOp
from xdsl.dialects.memref import AllocOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.linalg import GenericOp as LinalgGenericOp
from ttmlir.dialects.tt.layout import element_of
from ttmlir.ir.rewriting import refuse
from ttmlir.layout.affine import AffineExpr, AffineMap, ConstantExpr, DimExpr, dim, dims
from ttmlir.layout.data_format import TileFormat, is_block_float, repeated_bytes
from ttmlir.mlir.attributes import layout_map

Shape = tuple[int, ...]
Labels = list[int | None]
"""For each dimension, the iterator of the generic that it follows."""


@dataclass(frozen=True)
class Access:
    """How a generic goes over an operand."""

    iterators: tuple[int | None, ...]
    """For each dimension the iterator that it follows; None if it is whole in every block."""
    extents: Shape
    """In tiles."""
    coordinates: tuple[AffineExpr, ...]
    """From these dimensions to those of the operand."""
    loops_map: AffineMap | None = None
    """From the iterators of the loops to these dimensions, if they are not the operand's."""


class Loops:
    """A `linalg.generic` in the region of a generic."""

    def __init__(self, op: LinalgGenericOp) -> None:
        """Look at the maps and at the memrefs."""
        self.op = op
        self.maps = [layout_map(each) for each in op.indexing_maps.data]
        self.reductions = [
            kind.data is LinalgIteratorType.REDUCTION for kind in op.iterator_types.data
        ]
        self.extents = self._extents()
        self.labels: Labels = [None] * len(self.extents)

    def _extents(self) -> list[int]:
        """How far each iterator goes: over the dimensions that it indexes alone, of the output."""
        found: dict[int, int] = {}
        for index_map, value in zip(self.maps, self.op.operands, strict=True):
            for result, extent in zip(index_map.results, shape_of(value), strict=True):
                if isinstance(result, DimExpr):
                    found[result.position] = extent
        return [found[number] for number in range(len(self.reductions))]

    @property
    def accumulates(self) -> bool:
        """True if several points are combined to one tile of the result."""
        return any(self.reductions)


def shape_of(value: SSAValue) -> Shape:
    """The extents of a memref."""
    return tuple(cast("MemRefType[Attribute]", value.type).get_shape())


def locals_of(op: d2m.GenericOp) -> list[AllocOp]:
    """Where the region of a generic has local memory."""
    return [each for each in op.compute_region.block.ops if isinstance(each, AllocOp)]


def count_circular_buffers(op: d2m.GenericOp) -> int:
    """How many the kernels of a generic need: for each operand, and for all local memory."""
    return len(op.operands) + len(locals_of(op))


class IterationSpace:
    """The iterators of a generic on whole buffers, and what follows them."""

    def __init__(self, op: d2m.GenericOp) -> None:
        """Look at a generic on memrefs with one region."""
        self.op = op
        block = op.compute_region.block
        self.loops = [Loops(each) for each in block.ops if isinstance(each, LinalgGenericOp)]
        self.locals = [each for each in block.ops if isinstance(each, AllocOp)]
        self._refuse_indices()
        self._labels: dict[SSAValue, Labels] = {}
        for cb, index_map in zip(block.args, op.indexing_maps, strict=False):
            self._labels[cb] = [
                result.position if isinstance(result, DimExpr) else None
                for result in index_map.results
            ]
        for each in self.locals:
            self._labels[each.memref] = [None] * len(shape_of(each.memref))
        while self._spread():
            pass
        self.accesses = [self._access(number) for number in range(len(op.operands))]
        self.extents = self._extents()

    def labels_of(self, value: SSAValue) -> Labels:
        """What the dimensions of a memref in the region follow."""
        return self._labels[_root(value)]

    def _refuse_indices(self) -> None:
        for loops in self.loops:
            for each in loops.op.body.block.ops:
                if isinstance(each, IndexOp):
                    refuse(
                        self.op,
                        "has loops that ask where they are; d2m-grid-selection divides loops. Run "
                        "d2m-mask-padding before",
                    )

    def _spread(self) -> bool:
        """Carry labels from memrefs to loops and back; True if one was new."""
        changed = False
        for loops in self.loops:
            for _, _, labels, dimension, result in self._pairs(loops):
                if not isinstance(result, DimExpr):
                    continue
                known, given = labels[dimension], loops.labels[result.position]
                if known is not None and given is None:
                    loops.labels[result.position] = known
                    changed = True
            for value, extent, labels, dimension, result in self._pairs(loops):
                if not isinstance(result, DimExpr) or labels[dimension] is not None:
                    continue
                given = loops.labels[result.position]
                is_operand = isinstance(value, BlockArgument)
                if (
                    given is not None
                    and not is_operand
                    and extent == loops.extents[result.position]
                ):
                    labels[dimension] = given
                    changed = True
        return changed

    def _pairs(self, loops: Loops) -> Iterator[tuple[SSAValue, int, Labels, int, AffineExpr]]:
        """Each dimension of what loops access: memref, extent, labels, number, map's result."""
        for index_map, value in zip(loops.maps, loops.op.operands, strict=True):
            root = _root(value)
            labels = self._labels[root]
            for dimension, extent in enumerate(shape_of(value)):
                yield root, extent, labels, dimension, index_map.results[dimension]

    # --- Accesses ------------------------------------------------------------------------------

    def _access(self, number: int) -> Access:
        cb = self.op.cb(number)
        labels = self._labels[cb]
        extents = cast("d2m.CBType", cb.type).shape
        users = list(self.users_of(number))
        if all(self._is_plain(loops, index_map, labels, extents) for loops, index_map in users):
            if len(users) == 1 and _is_transposed_factor(*users[0], cb):
                return _transposed(labels, extents, users[0][1])
            return Access(tuple(labels), extents, dims(len(extents)))
        if len(users) != 1:
            refuse(
                self.op,
                f"accesses parts of operand #{number} in several loops; d2m-grid-selection takes "
                "one. Give the parts views of their own by d2m.view_layout",
            )
        ((loops, index_map),) = users
        return _window(loops, index_map)

    def users_of(self, number: int) -> Iterator[tuple[Loops, AffineMap]]:
        """The loops that access an operand, with their map."""
        cb = self.op.cb(number)
        for loops in self.loops:
            for index_map, value in zip(loops.maps, loops.op.operands, strict=True):
                if _root(value) is cb:
                    yield loops, index_map

    def _is_plain(
        self, loops: Loops, index_map: AffineMap, labels: Labels, extents: Sequence[int]
    ) -> bool:
        """True if loops go over a block of an operand as its labels say."""
        for label, extent, result in zip(labels, extents, index_map.results, strict=True):
            if isinstance(result, DimExpr):
                follows = loops.labels[result.position]
                if follows != label or loops.extents[result.position] != extent:
                    return False
            elif result != ConstantExpr(0) or extent != 1:
                return False
        return True

    def _extents(self) -> Shape:
        found: dict[int, int] = {}
        for access in self.accesses:
            for iterator, extent in zip(access.iterators, access.extents, strict=True):
                if iterator is not None:
                    found[iterator] = extent
        return tuple(found.get(number, 1) for number in range(len(self.op.iterator_types)))


def _root(value: SSAValue) -> SSAValue:
    """The circular buffer that a shard is in, or the local memref itself."""
    owner = value.owner
    if isinstance(owner, d2m.WaitOp | d2m.ReserveOp):
        return cast("Operation", owner).operands[0]
    return value


def operand_number(value: SSAValue) -> int | None:
    """The operand whose shard a memref of the region is; None for a local one."""
    root = _root(value)
    return root.index if isinstance(root, BlockArgument) else None


def _is_transposed_factor(loops: Loops, index_map: AffineMap, cb: SSAValue) -> bool:
    """True for loops that multiply by an operand whose columns are terms of the product."""
    body = loops.op.body.block
    products = [each for each in body.ops if isinstance(each, d2m.TileMatmulOp)]
    if len(products) != 1 or len(index_map.results) < 2:
        return False
    factor = products[0].operands[1].owner
    if not isinstance(factor, d2m.TileTransposeOp):
        return False
    tile = factor.operands[0]
    if not isinstance(tile, BlockArgument) or _root(loops.op.operands[tile.index]) is not cb:
        return False
    row, column = index_map.results[-2:]
    if not isinstance(row, DimExpr) or not isinstance(column, DimExpr):
        return False
    return loops.reductions[column.position] and not loops.reductions[row.position]


def _transposed(labels: Labels, extents: Shape, index_map: AffineMap) -> Access:
    """An access to an operand in blocks of exchanged rows and columns of tiles.

    The tiles of a row of the product then follow each other, so that one call takes several.
    """
    rank = len(extents)
    order = [*range(rank - 2), rank - 1, rank - 2]
    places = dims(rank)
    results = index_map.results
    return Access(
        tuple(labels[each] for each in order),
        tuple(extents[each] for each in order),
        tuple(places[each] for each in order),
        AffineMap(index_map.num_dims, 0, tuple(results[each] for each in order)),
    )


def _window(loops: Loops, index_map: AffineMap) -> Access:
    """The access to the tiles that a map takes the iterators of loops to."""
    used: list[list[int]] = [sorted(result.used_dims()) for result in index_map.results]
    flat = [iterator for each in used for iterator in each]
    if max(map(len, used)) > 1 or len(set(flat)) < len(flat):
        # The dimensions are the iterators; those in front of less than two have the extent 1.
        missing: list[list[int]] = [[] for _ in range(2 - len(set(flat)))]
        used = [*missing, *([each] for each in sorted(set(flat)))]
    order = [each[0] if each else None for each in used]
    places: list[AffineExpr] = [ConstantExpr(0)] * len(loops.extents)
    for place, iterator in zip(dims(len(order)), order, strict=True):
        if iterator is not None:
            places[iterator] = place
    return Access(
        tuple(None if each is None else loops.labels[each] for each in order),
        tuple(1 if each is None else loops.extents[each] for each in order),
        tuple(result.rename(places) for result in index_map.results),
        AffineMap(
            len(loops.extents),
            0,
            tuple(ConstantExpr(0) if each is None else dim(each) for each in order),
        ),
    )


# --- Repeated parts -------------------------------------------------------------------------------
# What of the tiles of an input is needed where loops only repeat a part of them.
#
# The vector that is added to each row of a matrix has one row in its tiles, which `d2m.tile_bcast`
# repeats. Nothing else of them has to be read.


Parts = tuple[tuple[int, int], ...]
"""The first byte of each part of a tile, and how many bytes."""


def repeated_parts(generic: d2m.GenericOp, number: int) -> Parts:
    """The parts of the tiles of an input that its loops read; none if they read all."""
    cb = generic.compute_region.block.args[number]
    kinds: set[d2m.BroadcastKind] = set()
    for use in cb.uses:
        if not isinstance(use.operation, d2m.WaitOp):
            return ()
        for reader in use.operation.results[0].uses:
            loops = reader.operation
            if not isinstance(loops, LinalgGenericOp):
                return ()
            for each in loops.body.block.args[reader.index].uses:
                if not isinstance(each.operation, d2m.TileBcastOp):
                    return ()
                kinds.add(each.operation.kind)
    tile = _tile_of(generic.operands[number])
    if len(kinds) != 1 or tile is None:
        return ()
    (kind,) = kinds
    return repeated_bytes(kind.keyword, tile.size_bytes // (32 * 32))


def read_bytes(generic: d2m.GenericOp, number: int) -> int | None:
    """Bytes of each tile of an input that are read, if those are not all."""
    return sum(size for _, size in repeated_parts(generic, number)) or None


def _tile_of(value: SSAValue) -> TileFormat | None:
    """The tiles of an operand, if each number in them is a whole number of bytes."""
    element = element_of(cast("MemRefType[Attribute]", value.type).element_type)
    if not isinstance(element, TileFormat) or is_block_float(element.data_type):
        return None
    return element if (element.height, element.width) == (32, 32) else None
