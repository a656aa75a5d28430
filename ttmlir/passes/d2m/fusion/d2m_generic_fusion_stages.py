"""Generics with one loop nest, as `d2m-generic-fusion` sees them: stages of a fused generic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from xdsl.dialects.linalg.attrs import IteratorType as LinalgIteratorType
from xdsl.dialects.linalg.ops import IndexOp
from xdsl.dialects.linalg.ops import YieldOp as LinalgYieldOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.linalg import GenericOp as LinalgGenericOp
from ttmlir.dialects.tt.layout import TileType
from ttmlir.dialects.ttcore import metal_layout_of
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.layout.affine import AffineExpr, ConstantExpr, DimExpr
from ttmlir.mlir.attributes import layout_map

Places = tuple[int | None, ...]
"""The iterator that goes over each dimension of a tensor; None where it has one tile."""
Shape = tuple[int, ...]


NARROW = 4
"""Tiles of the terms, or columns, of a product that may be whole in each block."""


def tile_shape(value: SSAValue) -> Shape:
    """The extents of a tensor on a grid of ones, in tiles."""
    shape = value_shape(value)
    return shape[len(shape) // 2 :]


def tile_bytes(value: SSAValue) -> int:
    """The size of a tile of a tensor."""
    return cast("TileType", element_type(value)).format.data.stored_bytes


def buffer_below(value: SSAValue) -> SSAValue:
    """What views lead to in the end."""
    while isinstance(value.owner, d2m.ViewLayoutOp):
        value = value.owner.input
    return value


@dataclass(frozen=True)
class Read:
    """An input of a stage."""

    operand: int
    value: SSAValue
    """The operand as it was read: a buffer or a view."""
    places: Places
    buffer: SSAValue
    """What is below the views."""
    buffer_places: Places | None
    """The iterators that go over the dimensions of the buffer; None where no others do."""
    argument: int
    """The argument of the body that has a tile of it."""


@dataclass(frozen=True, eq=False)
class Stage:
    """The loop nest of a generic, whose maps take iterators to tiles."""

    op: d2m.GenericOp
    loops: LinalgGenericOp
    position: int
    """Of the operation in its block."""
    reads: tuple[Read, ...]
    output_places: Places
    extents: Shape
    reductions: frozenset[int]

    @property
    def result(self) -> SSAValue:
        """What it computes."""
        return self.op.results[0]

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """The body without its end."""
        *operations, _ = self.loops.body.block.ops
        return tuple(operations)

    @cached_property
    def is_product(self) -> bool:
        """True for products of matrices, whose blocks the schedule divides in all dimensions."""
        return any(isinstance(op, d2m.TileMatmulOp) for op in self.operations)

    @cached_property
    def narrow_sides(self) -> frozenset[int]:
        """The terms and columns of a product of which one are few tiles, as in attention.

        They may be whole in each block: reading all of the right factor for each row of tiles then
        takes no longer than writing and reading what is between two products.
        """
        if not self.is_product:
            return frozenset()
        columns = self.columns
        tiles = (
            math.prod(self.extents[each] for each in side) for side in (self.reductions, columns)
        )
        return self.reductions | columns if min(tiles) <= NARROW else frozenset()

    @cached_property
    def columns(self) -> frozenset[int]:
        """The iterators of a product that only its right factor and its result follow."""
        product = next(op for op in self.operations if isinstance(op, d2m.TileMatmulOp))
        left, right = (self._iterators_of(value) for value in product.operands[:2])
        return right - left

    @cached_property
    def left(self) -> SSAValue | None:
        """The left factor of a product, if it is read as it is."""
        for op in self.operations:
            if isinstance(op, d2m.TileMatmulOp):
                for read in self.reads:
                    if self.loops.body.block.args[read.argument] is op.operands[0]:
                        return read.value
        return None

    def _iterators_of(self, value: SSAValue) -> frozenset[int]:
        """The iterators that a tile of the body follows."""
        if isinstance(value.owner, d2m.TileOp):
            return frozenset[int]().union(*map(self._iterators_of, value.owner.operands))
        return frozenset(
            each
            for read in self.reads
            if self.loops.body.block.args[read.argument] is value
            for each in read.places
            if each is not None
        )

    @cached_property
    def has_positions(self) -> bool:
        """True if the body asks where its loops are."""
        return any(isinstance(op, IndexOp) for op in self.operations)

    @cached_property
    def is_elementwise(self) -> bool:
        """True if each tile of the result depends on one of each input alone."""
        held = self.loops.body.block.args[-1]
        return not (self.reductions or self.has_positions or held.uses)

    @property
    def result_tiles(self) -> int:
        """Tiles of what it computes."""
        return math.prod(tile_shape(self.result))

    @property
    def domain(self) -> int:
        """The number of times that the body runs."""
        return math.prod(self.extents)

    @cached_property
    def tiles(self) -> frozenset[Attribute]:
        """The types of tiles that the body works on."""
        return frozenset(
            value.type
            for op in self.operations
            for value in (*op.operands, *op.results)
            if isinstance(value.type, TileType)
        ) | {each.type for each in self.loops.body.block.args}

    @cached_property
    def constants(self) -> frozenset[tuple[float, Attribute]]:
        """Numbers that the body reads from circular buffers."""
        return frozenset(
            (value.owner.number, value.type)
            for value in self._read_again
            if isinstance(value.owner, d2m.TileFillOp)
        )

    @cached_property
    def scratch(self) -> tuple[tuple[frozenset[int], int], ...]:
        """Tiles that are computed and then read from circular buffers.

        Of each, the iterators that it depends on, and its bytes.
        """
        arguments = self.loops.body.block.args
        places: dict[SSAValue, frozenset[int]] = {
            arguments[read.argument]: frozenset(each for each in read.places if each is not None)
            for read in self.reads
        }
        for op in self.operations:
            found = frozenset[int]().union(*(places.get(each, ()) for each in op.operands))
            places.update(dict.fromkeys(op.results, found))
        return tuple(
            (places[value], cast("TileType", value.type).format.data.stored_bytes)
            for value in self._read_again
            if not isinstance(value.owner, d2m.TileFillOp)
        )

    @cached_property
    def _read_again(self) -> tuple[SSAValue, ...]:
        """Results of operations of the body that others take from circular buffers."""
        found: dict[SSAValue, None] = {}
        for op in self.operations:
            if isinstance(op, d2m.TileOp):
                for index, value in enumerate(op.operands):
                    if index not in op.DST_OPERANDS and isinstance(value.owner, d2m.TileOp):
                        found[value] = None
            if op.name == "d2m.tile_div" and isinstance(op.operands[1].owner, d2m.TileBcastOp):
                # Of what is repeated, the reciprocal is computed first.
                found[op.operands[1]] = None
        return tuple(found)

    def takes_registers(self, argument: int) -> bool:
        """True if all uses of an argument of the body take it where another operation leaves it."""
        return all(
            isinstance(use.operation, LinalgYieldOp)
            or (isinstance(use.operation, d2m.TileOp) and use.index in use.operation.DST_OPERANDS)
            for use in self.loops.body.block.args[argument].uses
        )


def read_stage(op: d2m.GenericOp, position: int) -> Stage | None:
    """The only loop nest of a generic; None for a generic of another form."""
    if len(op.outputs) != 1 or not isinstance(op.outputs[0].owner, d2m.EmptyOp):
        return None
    if {*op.grid_shape, *op.block_factors} != {1} or not op.is_compute_only:
        return None
    block = op.compute_region.block
    loops = [each for each in block.ops if isinstance(each, LinalgGenericOp)]
    others = [
        each
        for each in block.ops
        if not isinstance(each, LinalgGenericOp | d2m.WaitOp | d2m.ReserveOp | d2m.YieldOp)
    ]
    if len(loops) != 1 or others or len(loops[0].outputs) != 1:
        return None
    (nest,) = loops
    operands = [_operand_of(op, value) for value in nest.operands]
    if operands[-1] != len(op.inputs) or {*operands} != {*range(len(op.operands))}:
        return None
    shapes = [tile_shape(op.operands[each]) for each in operands if each is not None]
    maps = [layout_map(each).results for each in nest.indexing_maps.data]
    placed = [_places(results, shape) for results, shape in zip(maps, shapes, strict=True)]
    extents = _extents(len(nest.iterator_types.data), placed, shapes)
    if extents is None:
        return None
    *inputs, output = [places for places in placed if places is not None]
    reads = tuple(
        _read(op, operand, places, argument)
        for argument, (operand, places) in enumerate(zip(operands, inputs, strict=False))
        if operand is not None
    )
    kinds = [kind.data for kind in nest.iterator_types.data]
    reductions = frozenset(
        number for number, kind in enumerate(kinds) if kind is not LinalgIteratorType.PARALLEL
    )
    return Stage(op, nest, position, reads, output, extents, reductions)


def _operand_of(op: d2m.GenericOp, value: SSAValue) -> int | None:
    """The operand of a generic whose shard a value in its region is."""
    owner = value.owner
    if isinstance(owner, d2m.WaitOp | d2m.ReserveOp):
        cb = owner.operands[0]
        if isinstance(cb, BlockArgument):
            return cb.index
    return None


def _places(results: Sequence[AffineExpr], shape: Shape) -> Places | None:
    """The iterators of a map; None for a map that is no projected permutation."""
    places: list[int | None] = []
    for result, extent in zip(results, shape, strict=True):
        if isinstance(result, DimExpr):
            places.append(result.position)
        elif result == ConstantExpr(0) and extent == 1:
            places.append(None)
        else:
            return None
    return tuple(places)


def _extents(count: int, placed: Sequence[Places | None], shapes: Sequence[Shape]) -> Shape | None:
    """How far iterators go; None if two tensors do not agree on it."""
    found: dict[int, int] = {}
    for places, shape in zip(placed, shapes, strict=True):
        if places is None:
            return None
        for place, extent in zip(places, shape, strict=True):
            if place is not None and found.setdefault(place, extent) != extent:
                return None
    if len(found) != count:
        return None
    return tuple(found[number] for number in range(count))


def _read(op: d2m.GenericOp, operand: int, places: Places, argument: int) -> Read:
    value = op.operands[operand]
    below, found = value, places
    while found is not None and isinstance(below.owner, d2m.ViewLayoutOp):
        found = _through_view(below, found)
        below = below.owner.input
    return Read(operand, value, places, buffer_below(value), found, argument)


def _through_view(view: SSAValue, places: Places) -> Places | None:
    """The iterators over the tiles below a view; None if it does more than reorder dimensions."""
    assert isinstance(view.owner, d2m.ViewLayoutOp)
    below = tile_shape(view.owner.input)
    layout = metal_layout_of(view.type)
    if layout is None or not layout.data.is_view:
        return places if tile_shape(view) == below else None
    rank, shape = len(places), tile_shape(view)
    found: list[int | None] = []
    for result, extent in zip(layout.data.index_map.results[len(below) :], below, strict=True):
        if isinstance(result, DimExpr) and result.position >= rank:
            dim = result.position - rank
            if shape[dim] != extent:
                return None
            found.append(places[dim])
        elif result == ConstantExpr(0) and extent == 1:
            found.append(None)
        else:
            return None
    return tuple(found)
