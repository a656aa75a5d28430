"""One loop over tiles of a compute region (a stage): what it walks over, and its code.

Several tiles are computed between two hand-overs of DST, as many as fit: call by call for all of
them, so that what prepares a call stands there once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.dialects.linalg.ops import GenericOp as LinalgGenericOp
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.ir.kernel_builder import Buffer
from ttmlir.layout.affine import AffineMap, DimExpr
from ttmlir.layout.errors import LayoutError
from ttmlir.mlir.attributes import layout_map
from ttmlir.passes.d2m.dst.code import Call, Code, Format, Index, Needs, Nest, Setting
from ttmlir.passes.d2m.dst.plan import Plan, TooManyTilesError, plan
from ttmlir.passes.d2m.dst.select import Selector, stored_format
from ttmlir.passes.d2m.dst.values import Source

Shape = tuple[int, ...]
Point = Sequence[Index]
"""Where in each buffer the tile in hand is."""
Chunk = Callable[[Sequence[Point]], Code]
"""Makes the code for some tiles that follow each other."""


@dataclass(frozen=True)
class Access:
    """The tiles of a buffer that a stage reads or writes, by its iterators."""

    buffer: Buffer
    format: Format
    tiles: int
    """Of the whole block."""
    offset: int
    strides: Shape


@dataclass(frozen=True)
class Stage:
    """A `linalg.generic` on blocks of tiles."""

    op: LinalgGenericOp
    accesses: tuple[Access, ...]
    """Of the inputs, then of the output."""
    maps: tuple[AffineMap, ...]
    """From the iterators to dimensions of blocks, in the same order."""
    extents: Shape
    """Tiles along each iterator."""
    reduced: tuple[int, ...]
    """The iterators that are reductions."""
    arriving: tuple[int, ...] = ()
    """The inputs that nothing has waited for: tiles are waited for as they are read."""

    @property
    def output(self) -> Access:
        """What is written."""
        return self.accesses[-1]

    @property
    def inputs(self) -> tuple[Access, ...]:
        """What is read."""
        return self.accesses[:-1]

    @property
    def parallel(self) -> tuple[int, ...]:
        """The other iterators, in the order of the output's dimensions."""
        strides = self.output.strides
        kept = (each for each in range(len(self.extents)) if each not in self.reduced)
        return tuple(sorted(kept, key=lambda each: -strides[each]))

    def along(self, iterators: Sequence[int]) -> tuple[list[int], list[tuple[int, list[int]]]]:
        """The extents of some iterators, and of each buffer the first tile and the strides."""
        accesses = [
            (access.offset, [access.strides[each] for each in iterators])
            for access in self.accesses
        ]
        return [self.extents[each] for each in iterators], accesses

    def reads_in_order(self, number: int) -> bool:
        """True if an input is read tile after tile, all of it."""
        extents, accesses = self.along((*self.parallel, *self.reduced))
        return is_in_order(extents, self.inputs[number], accesses[number][1])

    def wait(self, point: Point) -> list[Call]:
        """Wait for the tiles up to a place."""
        return [
            Call("cb_wait_front", (self.inputs[number].buffer, point[number] + 1))
            for number in self.arriving
        ]

    @property
    def root(self) -> SSAValue:
        """The tile that the body yields."""
        end = self.op.body.block.last_op
        assert end is not None, "verified: bodies have a terminator"
        return end.operands[0]

    @property
    def held(self) -> SSAValue | None:
        """The accumulator, if the body has one."""
        argument = self.op.body.block.args[-1]
        return argument if argument.uses else None

    @property
    def root_op(self) -> Operation | None:
        """The operation that computes the result; None for a copy."""
        owner = self.root.owner
        return owner if isinstance(owner, Operation) else None

    @property
    def sources(self) -> tuple[Source, ...]:
        """The inputs as what bodies read."""
        return tuple(
            Source(number, access.buffer, access.format)
            for number, access in enumerate(self.inputs)
        )


def read_stage(op: LinalgGenericOp, numbers: Mapping[SSAValue, int]) -> Stage:
    """A stage whose operands are circular buffers of these numbers."""
    maps = [layout_map(each) for each in op.indexing_maps.data]
    shapes = [cast("MemRefType[Attribute]", value.type).get_shape() for value in op.operands]
    extents = _extents(maps, shapes)
    accesses: list[Access] = []
    for value, index_map, shape in zip(op.operands, maps, shapes, strict=True):
        offset, strides = linear_access(index_map, shape, extents)
        buffer = Buffer(numbers[value])
        data_type = stored_format(cast("MemRefType[Attribute]", value.type).element_type)
        accesses.append(
            Access(buffer, Format(data_type, buffer), math.prod(shape), offset, strides)
        )
    kinds = [kind.data for kind in op.iterator_types.data]
    reduced = tuple(n for n, kind in enumerate(kinds) if kind is not IteratorType.PARALLEL)
    return Stage(op, tuple(accesses), tuple(maps), extents, reduced)


def _extents(maps: Sequence[AffineMap], shapes: Sequence[Sequence[int]]) -> Shape:
    found = {
        result.position: extent
        for index_map, shape in zip(maps, shapes, strict=True)
        for result, extent in zip(index_map.results, shape, strict=True)
        if isinstance(result, DimExpr)
    }
    missing = [f"d{each}" for each in range(maps[0].num_dims) if each not in found]
    if missing:
        raise LayoutError(f"has loops over tiles along {', '.join(missing)}, which no operand has")
    return tuple(found[iterator] for iterator in range(maps[0].num_dims))


def linear_access(
    index_map: AffineMap, shape: Sequence[int], extents: Sequence[int]
) -> tuple[int, Shape]:
    """The number of the first tile in a block, and how it grows along each iterator.

    LayoutError for a map that is not linear within the extents.
    """
    weights = [math.prod(shape[position + 1 :]) for position in range(len(shape))]

    def number(point: Sequence[int]) -> int:
        places = index_map.eval(point)
        return sum(place * weight for place, weight in zip(places, weights, strict=True))

    origin = [0] * len(extents)
    offset = number(origin)
    strides: list[int] = []
    for iterator in range(len(extents)):
        next_ = [int(each == iterator) for each in range(len(extents))]
        strides.append(number(next_) - offset)
    last = [extent - 1 for extent in extents]
    expected = offset + sum(place * by for place, by in zip(last, strides, strict=True))
    if number(last) != expected:
        raise LayoutError(
            f"reads tiles of a block by the map {index_map}, which kernels do not follow; let a "
            "view of the operand do so"
        )
    return offset, tuple(strides)


def split_stage(stage: Stage, last: Access) -> tuple[Stage, Stage]:
    """A stage that packs in order as two, the second of which packs the last tiles elsewhere."""
    iterator = next(each for each in stage.parallel if stage.extents[each] > 1)
    whole, output = stage.extents[iterator], stage.output
    first = whole - whole * last.tiles // output.tiles

    def part(begin: int, end: int, target: Access) -> Stage:
        extents = list(stage.extents)
        extents[iterator] = end - begin
        inputs = (
            replace(access, offset=access.offset + access.strides[iterator] * begin)
            for access in stage.inputs
        )
        return replace(stage, extents=tuple(extents), accesses=(*inputs, target))

    rest = replace(output, tiles=output.tiles - last.tiles)
    target = replace(last, offset=0, strides=output.strides)
    return part(0, first, rest), part(first, whole, target)


# --- Walks --------------------------------------------------------------------------------------


def walk(
    extents: Sequence[int],
    accesses: Sequence[tuple[int, Sequence[int]]],
    most: int,
    chunk: Chunk,
) -> Code:
    """Loops over the tiles along some iterators, at most so many at once.

    `accesses` are the first tile of each buffer and its strides along the iterators.
    """
    # Buffers that are walked over alike have one number.
    walks = list(dict.fromkeys((offset, tuple(each)) for offset, each in accesses))
    number_of = [walks.index((offset, tuple(each))) for offset, each in accesses]
    extents, strides = _merge(extents, [each for _, each in walks])
    *outer, inner = extents
    count = _chunk_size(inner, most)
    turns, rest = divmod(inner, count)
    steps = [each[-1] for each in strides]
    numbers = tuple(map(Index, range(len(walks))))

    def points(first: int, tiles: int) -> list[Point]:
        return [
            [numbers[each] + (first + tile) * steps[each] for each in number_of]
            for tile in range(tiles)
        ]

    body: list[Call | Nest] = [
        Nest((turns,), numbers, tuple((count * step,) for step in steps), chunk(points(0, count)))
    ]
    if rest:
        body += chunk(points(turns * count, rest))
    starts = tuple(Index(offset=offset) for offset, _ in walks)
    return [Nest(tuple(outer), starts, tuple(tuple(each[:-1]) for each in strides), body)]


def _merge(
    extents: Sequence[int], strides: Sequence[Sequence[int]]
) -> tuple[list[int], list[list[int]]]:
    """Loops of which as many as possible are one; at least one is left."""
    merged: list[int] = []
    by: list[list[int]] = [[] for _ in strides]
    for depth, extent in enumerate(extents):
        if extent == 1:
            continue
        steps = [each[depth] for each in strides]
        if merged and all(done[-1] == step * extent for done, step in zip(by, steps, strict=True)):
            merged[-1] *= extent
            for done, step in zip(by, steps, strict=True):
                done[-1] = step
        else:
            merged.append(extent)
            for done, step in zip(by, steps, strict=True):
                done.append(step)
    return (merged, by) if merged else ([1], [[0] for _ in strides])


def _chunk_size(extent: int, most: int) -> int:
    """Tiles at once: so many that few are left, of those that fit."""
    most = min(extent, most)
    divisor = next(size for size in range(most, 0, -1) if extent % size == 0)
    return divisor if 2 * divisor >= most else -(-extent // -(-extent // most))


def is_in_order(extents: Sequence[int], access: Access, strides: Sequence[int]) -> bool:
    """True if loops of these extents meet the tiles of a block one after the other, all of them."""
    stride = 1
    for extent, step in zip(reversed(extents), reversed(strides), strict=True):
        if extent > 1 and step != stride:
            return False
        stride *= extent
    return access.offset == 0 and stride == access.tiles


# --- Packing ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Packing:
    """How a stage packs its results."""

    in_order: bool = True
    """Pages are reserved and pushed as they come; else the caller does so for the whole block."""
    mask: str = ""
    adds: bool = False
    """True to add to what is there; then the caller reserves and pushes."""

    def pack(self, output: Access, results: Sequence[tuple[int, Index]]) -> list[Call]:
        """Hand DST over and pack tiles of it, each to its place, which is said as an index."""
        needs: Needs = {
            Setting.PACKER: output.format,
            Setting.MASK: self.mask,
            Setting.ADDS: self.adds,
        }
        buffer, count = output.buffer, Index(offset=len(results))
        templates = () if self.in_order else (("out_of_order", True),)
        calls = [Call("tile_regs_commit"), Call("tile_regs_wait")]
        if self.in_order:
            calls.append(Call("cb_reserve_back", (buffer, count)))
        for number, (slot, place) in enumerate(results):
            where = Index(offset=number) if self.in_order else place
            operands = (Index(offset=slot), buffer, where)
            calls.append(Call("pack_tile", operands, templates, needs))
        calls.append(Call("tile_regs_release"))
        if self.in_order:
            calls.append(Call("cb_push_back", (buffer, count)))
        return calls


# --- Elementwise stages -------------------------------------------------------------------------


def plan_body(stage: Stage, capacity: int) -> Plan:
    """The plan of a body; LayoutError if DST does not hold what it computes with."""
    failure: TooManyTilesError | None = None
    in_loop = stage.held is not None
    for multiplies in (False,) if in_loop else (True, False):
        selector = Selector(
            stage.sources, stage.held, stage.output.format, multiplies_onto_zeros=multiplies
        )
        try:
            return plan(selector.select(stage.root), capacity)
        except TooManyTilesError as error:
            failure = error
    assert failure is not None, "one of the plans failed"
    raise LayoutError(
        f"has a body that needs {failure.needed} tiles of DST, which holds {capacity}; run "
        "d2m-insert-scratch-buffers before"
    )


def compute_elementwise(stage: Stage, capacity: int, packing: Packing) -> Code:
    """The code of a stage without accumulator."""
    body = plan_body(stage, capacity)

    def chunk(points: Sequence[Point]) -> Code:
        waits = stage.wait(points[-1])
        calls = [*waits, Call("tile_regs_acquire"), *compute_tiles(body, points)]
        results = [
            (body.result + number * body.tiles, point[-1]) for number, point in enumerate(points)
        ]
        return [*calls, *packing.pack(stage.output, results)]

    extents, accesses = stage.along((*stage.parallel, *stage.reduced))
    return walk(extents, accesses, capacity // body.tiles, chunk)


def compute_tiles(body: Plan, points: Sequence[Point]) -> list[Call]:
    """The calls of a body for some tiles, each in tiles of DST of its own."""
    calls: list[Call] = []
    for instruction in body.instructions:
        for number, point in enumerate(points):
            base = number * body.tiles
            calls += instruction.value.calls(
                [slot + base for slot in instruction.slots],
                instruction.result + base,
                lambda source, point=point: point[source.operand],
            )
    return calls
