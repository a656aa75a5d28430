"""Stages with an accumulator: products of matrices, reductions, and what combines tiles.

Results of a block are in DST while the stage runs over its reduction iterators. Where the generic
takes several steps over blocks, `Carry` says where they are between steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from xdsl.dialects.builtin import IntegerType, Signedness, f32
from xdsl.ir import SSAValue

from ttmlir.dialects import d2m
from ttmlir.ir.kernel_builder import TileCall, is_float
from ttmlir.ir.tensor_types import limits_of
from ttmlir.layout.enums import DataType
from ttmlir.layout.errors import LayoutError
from ttmlir.passes.d2m.dst.code import Call, Code, Index, Nest, Preparation, Setting
from ttmlir.passes.d2m.dst.select import scalar_of_tile
from ttmlir.passes.d2m.dst.values import Filled, Source, copy_tile
from ttmlir.passes.d2m.kernels.compute.stage import (
    Chunk,
    Packing,
    Point,
    Stage,
    compute_tiles,
    is_in_order,
    plan_body,
    walk,
)

_ACCUMULATED_IN_L1 = (DataType.F32, DataType.BF16, DataType.F16)
"""Formats of which the packer adds tiles to what is in L1."""
_INTEGERS = {
    "i32": IntegerType(32, Signedness.SIGNED),
    "ui32": IntegerType(32, Signedness.UNSIGNED),
}
_MASKS = {
    d2m.ReduceDim.R: "REDUCE_ROW",
    d2m.ReduceDim.C: "REDUCE_COL",
    d2m.ReduceDim.RC: "REDUCE_SCALAR",
}


class Carry(Enum):
    """Where results are between the steps of a generic over blocks."""

    NOWHERE = auto()
    """There is one step."""
    DST = auto()
    """They stay in DST."""
    PACKER = auto()
    """The packer adds them to what is in L1."""
    RELOAD = auto()
    """They are copied from a local buffer, and packed to it again."""


@dataclass
class Steps:
    """The code of a stage: in front of the steps over blocks, in each of them, behind them."""

    begin: list[Call | Nest] = field(default_factory=list[Call | Nest])
    step: list[Call | Nest] = field(default_factory=list[Call | Nest])
    end: list[Call | Nest] = field(default_factory=list[Call | Nest])


def choose_carry(stage: Stage, capacity: int, *, is_alone: bool, is_local: bool) -> Carry:
    """Where the results of a stage stay between steps; LayoutError if there is no place.

    `is_alone`: nothing else is computed in a step; `is_local`: they go to a local buffer.
    """
    if is_alone and _tiles_at_once(stage, capacity) <= capacity:
        return Carry.DST
    if _is_sum(stage) and stage.output.format.data_type in _ACCUMULATED_IN_L1:
        return Carry.PACKER
    if not is_local:
        raise LayoutError(
            "combines blocks in several steps into more tiles than DST holds; run "
            "d2m-insert-scratch-buffers before, so that they go through a local buffer"
        )
    return Carry.RELOAD


def _is_sum(stage: Stage) -> bool:
    op = stage.root_op
    if isinstance(op, d2m.TileMatmulOp | d2m.TileReduceSumOp):
        return True
    row = op.TILE_OPERATION.row if isinstance(op, d2m.ElementwiseTileOp) else None
    return row is not None and row.mnemonic == "add"


def compute_accumulating(stage: Stage, capacity: int, carry: Carry, packing: Packing) -> Steps:
    """The code of a stage with an accumulator."""
    op = stage.root_op
    if isinstance(op, d2m.TileMatmulOp):
        maker: _Maker = _Product(stage, op, capacity)
    elif isinstance(op, d2m.TileReduceSumOp | d2m.TileReduceMaxOp):
        maker = _Reduction(stage, op)
        packing = replace(packing, mask=maker.mask)
    else:
        maker = _Combination(stage, capacity)
    steps = Steps()
    if carry is Carry.DST:
        points = maker.all_points()
        steps.begin = [Call("tile_regs_acquire"), *maker.begin(points)]
        steps.step = list(maker.step(points))
        steps.end = list(packing.pack(stage.output, maker.results(points)))
        return steps
    if carry is Carry.PACKER:
        packing = replace(packing, in_order=False, adds=True)
        steps.begin = _pack_identity(stage, Packing(in_order=False), 0)
    elif carry is Carry.RELOAD:
        packing = replace(packing, in_order=True)
        steps.begin = _pack_identity(stage, Packing(), _identity(stage))

    def chunk(points: Sequence[Point]) -> Code:
        reload = carry is Carry.RELOAD
        begin = _reload(stage, maker, points) if reload else maker.begin(points)
        return [
            Call("tile_regs_acquire"),
            *begin,
            *maker.step(points),
            *packing.pack(stage.output, maker.results(points)),
        ]

    steps.step = list(maker.walk(capacity, chunk))
    return steps


def can_wait(stage: Stage, number: int) -> bool:
    """True if a stage can wait for the tiles of an input one after the other."""
    op = stage.root_op
    is_reduction = isinstance(op, d2m.TileReduceSumOp | d2m.TileReduceMaxOp)
    return (stage.held is None or is_reduction) and stage.reads_in_order(number)


def packs_in_order(stage: Stage, capacity: int) -> bool:
    """True if a stage packs the tiles of its block one after the other."""
    if isinstance(stage.root_op, d2m.TileMatmulOp):
        return _Product(stage, stage.root_op, capacity).is_in_order
    extents, accesses = stage.along(stage.parallel)
    return is_in_order(extents, stage.output, accesses[-1][1])


def _identity(stage: Stage) -> float:
    op = stage.root_op
    if isinstance(op, d2m.CombiningTileOp):
        return op.IDENTITY
    row = op.TILE_OPERATION.row if isinstance(op, d2m.ElementwiseTileOp) else None
    if row is None or row.identity is None:
        raise LayoutError("combines tiles by an operation that has no identity to begin with")
    element = scalar_of_tile(stage.root.type)
    lowest, highest = limits_of(f32 if is_float(element) else _INTEGERS[element.keyword])
    return min(max(row.identity, lowest), highest)


def _pack_identity(stage: Stage, packing: Packing, number: float) -> list[Call | Nest]:
    """Fill the whole block with what an accumulator begins with."""
    output = stage.output
    filled = Filled(number=number, element=scalar_of_tile(stage.root.type))
    begin, *end = packing.pack(output, [(0, Index(0))])
    # One tile of DST is packed to all places.
    loop = [each for each in end if each.mnemonic not in ("tile_regs_wait", "tile_regs_release")]
    return [
        Call("tile_regs_acquire"),
        *filled.calls((), 0, lambda source: Index()),
        begin,
        Call("tile_regs_wait"),
        Nest((output.tiles,), (Index(),), ((1,),), loop),
        Call("tile_regs_release"),
    ]


def _reload(stage: Stage, maker: _Maker, points: Sequence[Point]) -> list[Call]:
    output = stage.output
    source = Source(0, output.buffer, output.format)
    slots = [slot for slot, _ in maker.results(points)]
    count = Index(offset=len(slots))
    return [
        Call("cb_wait_front", (output.buffer, count)),
        *(copy_tile(source, Index(offset=place), slot) for place, slot in enumerate(slots)),
        Call("cb_pop_front", (output.buffer, count)),
    ]


def _tiles_at_once(stage: Stage, capacity: int) -> int:
    """Tiles of DST that all results of a block need; more than there are if that is not known."""
    op = stage.root_op
    results = math.prod(stage.extents[each] for each in stage.parallel)
    if isinstance(op, d2m.TileMatmulOp):
        product = _Product(stage, op, capacity)
        return results if product.is_one_block else capacity + 1
    if isinstance(op, d2m.TileReduceSumOp | d2m.TileReduceMaxOp):
        return results
    return results * plan_body(stage, capacity).tiles


# --- What computes chunks ------------------------------------------------------------------------


class _Maker:
    """Makes the code for some results; `points` says where the tiles of each buffer begin."""

    tiles = 1
    """Tiles of DST for each point."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    def begin(self, points: Sequence[Point]) -> Code:
        """Set the accumulators to what they begin with; tiles of DST are zeros before."""
        return []

    def step(self, points: Sequence[Point]) -> Code:
        """Accumulate."""
        raise NotImplementedError

    def results(self, points: Sequence[Point]) -> list[tuple[int, Index]]:
        """The tiles of DST with results, and where in the output each goes."""
        return [(number * self.tiles, point[-1]) for number, point in enumerate(points)]

    def all_points(self) -> list[Point]:
        """Where all results of a block are."""
        stage = self.stage
        extents = [stage.extents[each] for each in stage.parallel]
        return [
            [
                Index(
                    offset=access.offset
                    + sum(
                        access.strides[iterator] * place
                        for iterator, place in zip(stage.parallel, places, strict=True)
                    )
                )
                for access in stage.accesses
            ]
            for places in _product(extents)
        ]

    def walk(self, capacity: int, chunk: Chunk) -> Code:
        """Loops over the results of a block."""
        stage = self.stage
        extents, accesses = stage.along(stage.parallel)
        return walk(extents, accesses, capacity // self.tiles, chunk)

    def reduce(self, point: Point, body: Code) -> Nest:
        """Loops over the reduction iterators; in it, running number n is that of input n."""
        stage = self.stage
        extents = tuple(stage.extents[each] for each in stage.reduced)
        strides = tuple(
            tuple(access.strides[each] for each in stage.reduced) for access in stage.inputs
        )
        starts = tuple(Index(index.number) for index in point[:-1])
        return Nest(extents, starts, strides, body)

    def inside(self, point: Point) -> Point:
        """Where tiles of the inputs are within these loops."""
        return [Index(number, index.offset) for number, index in enumerate(point[:-1])]


def _product(extents: Sequence[int]) -> list[tuple[int, ...]]:
    places: list[tuple[int, ...]] = [()]
    for extent in extents:
        places = [(*place, each) for place in places for each in range(extent)]
    return places


class _Combination(_Maker):
    """A body that combines the accumulator with a tile it computes."""

    def __init__(self, stage: Stage, capacity: int) -> None:
        super().__init__(stage)
        self._body = plan_body(stage, capacity)
        self.tiles = self._body.tiles

    def begin(self, points: Sequence[Point]) -> Code:
        filled = Filled(number=_identity(self.stage), element=scalar_of_tile(self.stage.root.type))
        return [
            call
            for slot, _ in self.results(points)
            for call in filled.calls((), slot, lambda source: Index())
        ]

    def step(self, points: Sequence[Point]) -> Code:
        inside = [self.inside(point) for point in points]
        return [self.reduce(points[0], compute_tiles(self._body, inside))]


class _Reduction(_Maker):
    """`tile_reduce_sum` and `tile_reduce_max`."""

    def __init__(self, stage: Stage, op: d2m.TileReduceSumOp | d2m.TileReduceMaxOp) -> None:
        super().__init__(stage)
        pool = "SUM" if isinstance(op, d2m.TileReduceSumOp) else "MAX"
        self.mask = _MASKS[op.reduce_dim]
        self._templates = (("reduce_type", pool), ("reduce_dim", self.mask))
        self._operands = tuple(_argument(stage, value) for value in op.operands[:2])

    def step(self, points: Sequence[Point]) -> Code:
        stage = self.stage
        tile, scaler = (stage.accesses[each] for each in self._operands)
        buffers = (tile.buffer, scaler.buffer)
        prepared = Preparation(
            ("reduce_tile", self._templates, tile.format, scaler.format, stage.output.format),
            TileCall("reduce_init", (*buffers, stage.output.buffer), self._templates),
            (
                (Setting.SOURCE_A, tile.format),
                (Setting.SOURCE_B, scaler.format),
                (Setting.PACKER, stage.output.format),
                (Setting.MASK, self.mask),
            ),
        )
        code: list[Call | Nest] = []
        for slot, point in enumerate(points):
            inside = self.inside(point)
            places = [inside[each] for each in self._operands]
            call = Call(
                "reduce_tile",
                (*buffers, *places, Index(offset=slot)),
                self._templates,
                {Setting.MATRIX: prepared},
            )
            code.append(self.reduce(point, [*stage.wait(inside), call]))
        return code


def _argument(stage: Stage, value: SSAValue) -> int:
    """Which operand of a stage a value of its body is."""
    arguments = stage.op.body.block.args
    if value not in arguments:
        raise LayoutError(
            "has an operation that takes a tile from a circular buffer, but the tile is computed; "
            "run d2m-insert-scratch-buffers before"
        )
    return arguments.index(value)


class _Product(_Maker):
    """`tile_matmul`, in blocks of rows and columns of tiles that DST holds."""

    def __init__(self, stage: Stage, op: d2m.TileMatmulOp, capacity: int) -> None:
        super().__init__(stage)
        right = op.operands[1]
        self._transposes = isinstance(right.owner, d2m.TileTransposeOp)
        if isinstance(right.owner, d2m.TileTransposeOp):
            right = right.owner.operands[0]
        self._a, self._b = _argument(stage, op.operands[0]), _argument(stage, right)
        a, b = (stage.accesses[each].strides for each in (self._a, self._b))
        rows = [each for each in stage.parallel if not b[each] and a[each]]
        columns = [each for each in stage.parallel if not a[each] and b[each] == 1]
        self._choose(rows, columns, capacity)

    def _choose(self, rows: Sequence[int], columns: Sequence[int], capacity: int) -> None:
        """The shape of blocks, and the iterators along them: a long side first, then many tiles.

        The tiles of the shorter side stay in their source register in turn, while all of the longer
        side stream past (tt-llk, llk_unpack_AB_matmul.h): so its length is what saves unpacking.
        """
        extents = self.stage.extents
        best = (1, 1, None, None)
        for row in (None, *rows):
            for column in (None, *columns):
                for rt in _divisors(1 if row is None else extents[row], capacity):
                    for ct in _divisors(1 if column is None else extents[column], capacity // rt):
                        if (max(rt, ct), rt * ct) > (max(best[:2]), best[0] * best[1]):
                            best = (rt, ct, row, column)
        self._rt, self._ct, self._row, self._column = best

    @property
    def is_one_block(self) -> bool:
        """True if one block holds all results."""
        results = math.prod(self.stage.extents[each] for each in self.stage.parallel)
        return results == self._rt * self._ct

    @property
    def is_in_order(self) -> bool:
        """True if blocks after each other are tiles after each other."""
        extents, _, strides = self._loops()
        inner = self._inner_strides(-1)
        return is_in_order(
            [*extents, self._rt, self._ct], self.stage.output, [*strides[-1], *inner]
        )

    def _inner_strides(self, access: int) -> list[int]:
        strides = self.stage.accesses[access].strides
        return [0 if each is None else strides[each] for each in (self._row, self._column)]

    def _loops(self) -> tuple[list[int], list[int], list[list[int]]]:
        """Extents of the loops over blocks, first tiles and strides of each buffer."""
        stage = self.stage
        sizes = {self._row: self._rt, self._column: self._ct}
        extents = [stage.extents[each] // sizes.get(each, 1) for each in stage.parallel]
        strides = [
            [access.strides[each] * sizes.get(each, 1) for each in stage.parallel]
            for access in stage.accesses
        ]
        return extents, [access.offset for access in stage.accesses], strides

    def walk(self, capacity: int, chunk: Chunk) -> Code:
        extents, offsets, strides = self._loops()
        return walk(extents, list(zip(offsets, strides, strict=True)), 1, chunk)

    def all_points(self) -> list[Point]:
        return [[Index(offset=access.offset) for access in self.stage.accesses]]

    def results(self, points: Sequence[Point]) -> list[tuple[int, Index]]:
        (point,) = points
        down, right = self._inner_strides(-1)
        return [
            (row * self._ct + column, point[-1] + (row * down + column * right))
            for row in range(self._rt)
            for column in range(self._ct)
        ]

    def step(self, points: Sequence[Point]) -> Code:
        (point,) = points
        stage = self.stage
        a, b = stage.accesses[self._a], stage.accesses[self._b]
        down = self._inner_strides(self._a)[0]
        sizes = (int(self._transposes), self._ct, self._rt, max(down, 1))
        prepared = Preparation(
            ("matmul_block", sizes, a.format, b.format),
            TileCall("mm_block_init_short", (a.buffer, b.buffer, *sizes)),
        )
        needs = {
            Setting.SOURCE_A: b.format,
            Setting.SOURCE_B: a.format,
            Setting.MATRIX: prepared,
        }
        inside = self.inside(point)
        operands = (a.buffer, b.buffer, inside[self._a], inside[self._b], Index(offset=0))
        numbers = tuple(Index(offset=each) for each in sizes)
        call = Call("matmul_block", (*operands, *numbers), needs=needs)
        return [self.reduce(point, [call])]


def _divisors(extent: int, most: int) -> list[int]:
    return [each for each in range(1, min(extent, most) + 1) if extent % each == 0]
