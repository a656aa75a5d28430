"""Which kernel of a program is wrong, by the tiles in its circular buffers.

The program runs again, and the pages that the kernels of one launch push are kept. The schedule is
wrong if a core gets other tiles than its outputs are computed from. A reader is wrong if a circular
buffer of an input gets other tiles than the memory holds where the schedule says; a compute kernel,
if that of an output gets other numbers than the operations give; a writer, if what it was given is
right and memory is not.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.ttcore import device_layout_of
from ttmlir.interpreter.statistics import Statistics
from ttmlir.layout.affine import AffineMap, DimExpr
from ttmlir.layout.data_format import TileFormat, untilize
from ttmlir.layout.metal import TILE, grid_cores
from ttmlir.passes.d2m.schedule.iteration_space import repeated_parts
from ttmlir.runtime.generic import simulator_options
from ttmlir.runtime.golden import Tolerance, compare
from ttmlir.runtime.metal_program import (
    BlockPlacement,
    Command,
    HostBuffer,
    MetalProgram,
    MetalTensor,
)
from ttmlir.runtime.metal_session import (
    MetalGolden,
    Session,
    execute,
    needed_leniencies,
    reference_of,
    tile_of_page,
)
from ttmlir.runtime.tensor import Array, Numerics, TensorDesc
from ttmlir.sim.execution.run import PageLog, PushedPage

# --- Gathers --------------------------------------------------------------------------------------
# What readers gather from within tiles, element by element (`d2m.view_elements`).

ValueOf = Callable[[SSAValue], Array | None]
"""The numbers of a buffer in memory, in rows and with their padding; None if nobody knows them."""


def gathered_elements(gather: d2m.Gather, value_of: ValueOf) -> Array | None:
    """The elements of a view without its padding; None for views of views of elements."""
    points: Sequence[Any] = np.indices(gather.shape, sparse=True)
    if isinstance(gather, d2m.ViewNumberedOp):
        numbers = _elements_at(gather.numbers, gather.places, points, gather.shape, value_of)
        if numbers is None:
            return None
        named = np.clip(numbers.astype(np.int64), 0, gather.count - 1)
        points = (*points, named)
    return _elements_at(gather.input, gather.map, points, gather.shape, value_of)


def _elements_at(
    value: SSAValue,
    index_map: AffineMap,
    points: Sequence[Any],
    shape: Sequence[int],
    value_of: ValueOf,
) -> Array | None:
    """The elements of a view of whole tiles that a map leads to from points of a shape."""
    buffer, view = d2m.buffer_of_view(value)
    numbers = None if isinstance(buffer.owner, d2m.Gather) else value_of(buffer)
    memory = device_layout_of(buffer.type)
    if numbers is None or memory is None:
        return None
    *outer, row, column = np.broadcast_arrays(*index_map.eval(points), np.zeros(shape, np.int8))[
        :-1
    ]
    tile = (*outer, row // TILE, column // TILE)
    point = cast("Sequence[Any]", (*(0,) * len(tile), *tile))
    place = view.eval(point)
    rank = len(memory.shard_shape)
    *outer, tile_row, tile_column = (
        block * extent + inner
        for block, extent, inner in zip(place[:rank], memory.shard_shape, place[rank:], strict=True)
    )
    return numbers[(*outer, tile_row * TILE + row % TILE, tile_column * TILE + column % TILE)]


# --- Streams --------------------------------------------------------------------------------------
# Which tiles go through which circular buffer of a `d2m.generic`, as its maps say it.
#
# A generic whose operands are streams, in front of `convert-d2m-to-ttkernel`, says for each core
# and step which block of a buffer is loaded or stored (docs/d2m.md). Here that is written down
# without the code that makes kernels of it, so that kernels can be held against it.

Shape = tuple[int, ...]
Core = tuple[int, int]


@dataclass(frozen=True)
class StreamedTile:
    """A tile that goes through a circular buffer, by its place in the buffer in memory."""

    place: Shape | None
    """Grid and shard; None for what lies beyond the buffer."""


def gather_of(generic: d2m.GenericOp, number: int) -> d2m.Gather | None:
    """The view whose elements are gathered for an operand; None for whole tiles of a buffer."""
    buffer, _ = d2m.buffer_of_view(generic.operands[number])
    return buffer.owner if isinstance(buffer.owner, d2m.Gather) else None


def needed_tiles(
    generic: d2m.GenericOp, number: int, stored: Sequence[Shape]
) -> list[Shape] | None:
    """The tiles of an input that tiles of the first output are computed from.

    `generic` is not divided yet: each operand is one block. Tiles are named by their rows and
    columns in the buffers in memory. None where that cannot be said.
    """
    output = len(generic.inputs)
    places = {place: point for point, place in _tiles_in(generic, output).items()}
    used, given = (_dimensions(generic.indexing_maps[each]) for each in (number, output))
    shared = [(used[iterator], given[iterator]) for iterator in used if iterator in given]
    if any(place not in places for place in stored):
        return None
    wanted = {tuple(places[place][at] for _, at in shared) for place in stored}
    return [
        place
        for point, place in _tiles_in(generic, number).items()
        if tuple(point[at] for at, _ in shared) in wanted
    ]


def _tiles_in(generic: d2m.GenericOp, number: int) -> dict[Shape, Shape]:
    """The tiles of an operand in one block by their places in it: where they are in the buffer.

    What lies beyond the buffer is left out.
    """
    layout = device_layout_of(generic.operands[number].type)
    assert layout is not None, "operands of generics have grids"
    buffer, view = d2m.buffer_of_view(generic.operands[number])
    memory = device_layout_of(buffer.type)
    assert memory is not None, "what is below a stream is on the device"
    grid = (0,) * len(layout.grid_shape)
    points = itertools.product(*map(range, layout.shard_shape))
    found = {point: _tile(view, (*grid, *point), memory.shape).place for point in points}
    return {
        point: tile_at(place, memory.shard_shape)
        for point, place in found.items()
        if place is not None
    }


def tile_at(place: Shape, shard: Shape) -> Shape:
    """Rows and columns of tiles in a buffer, of a place in its grid and shard."""
    rank = len(shard)
    return tuple(
        block * extent + inner
        for block, extent, inner in zip(place[:rank], shard, place[rank:], strict=True)
    )


def streamed_tiles(
    generic: d2m.GenericOp, number: int, chip_grid: tuple[int, int]
) -> dict[Core, list[StreamedTile]]:
    """The tiles of an operand by the core, logical (x, y), through which they go, in order."""
    layout = device_layout_of(generic.operands[number].type)
    assert layout is not None, "operands of generics have grids"
    buffer, view = d2m.buffer_of_view(generic.operands[number])
    memory = device_layout_of(buffer.type)
    assert memory is not None, "what is below a stream is on the device"
    cores = grid_cores(generic.grid_shape, chip_grid)
    positions = itertools.product(*map(range, generic.grid_shape))
    index_map = generic.indexing_maps[number]
    return {
        core: [
            _tile(view, (*block, *tile), memory.shape)
            for step in _steps(generic, number, position)
            for block in (tuple(map(int, index_map.eval(step))),)
            for tile in itertools.product(*map(range, layout.shard_shape))
        ]
        for core, position in zip(cores, positions, strict=True)
    }


def _tile(view: AffineMap, point: Sequence[int], extents: Shape) -> StreamedTile:
    place = tuple(map(int, view.eval(point)))
    is_there = all(0 <= at < extent for at, extent in zip(place, extents, strict=True))
    return StreamedTile(place if is_there else None)


def _steps(generic: d2m.GenericOp, number: int, position: Shape) -> Iterator[Shape]:
    """The points at which a core loads or stores a block of an operand.

    There is a loop for each iterator with a factor above 1; the operand comes in the last of those
    that its map depends on.
    """
    factors = generic.block_factors
    looped = [iterator for iterator, factor in enumerate(factors) if factor > 1]
    used = _dimensions(generic.indexing_maps[number])
    depth = max((i + 1 for i, iterator in enumerate(looped) if iterator in used), default=0)
    spread = _dimensions(generic.indexing_maps[len(generic.inputs)])
    counts = _block_counts(generic)
    first = [
        position[spread[iterator]] * factor if iterator in spread else 0
        for iterator, factor in enumerate(factors)
    ]
    ranges = [
        range(begin, begin + 1)
        if iterator not in looped[:depth]
        else range(begin, min(begin + factors[iterator], counts[iterator]))
        for iterator, begin in enumerate(first)
    ]
    yield from itertools.product(*ranges)


def _dimensions(index_map: AffineMap) -> dict[int, int]:
    """The iterators of a map, with the dimension of the operand that each one runs over."""
    return {
        result.position: dimension
        for dimension, result in enumerate(index_map.results)
        if isinstance(result, DimExpr)
    }


def _block_counts(generic: d2m.GenericOp) -> list[int]:
    """How many blocks there are along each iterator, over all cores."""
    counts = list(generic.block_factors)
    for index_map, layout in zip(generic.indexing_maps, generic.layouts, strict=True):
        for iterator, dimension in _dimensions(index_map).items():
            counts[iterator] = layout.grid_shape[dimension]
    return counts


# --- Kernel check ---------------------------------------------------------------------------------

SCHEDULE, READER, COMPUTE, WRITER = "schedule", "reader", "compute", "writer"


@dataclass(frozen=True, kw_only=True)
class KernelDifference:
    """The first tile of a launch that is not what it should be."""

    kernel: str
    """Which kernel is wrong: `reader`, `compute` or `writer`; `schedule` for what all follow."""
    cb: int
    """The circular buffer that the tile is in, or, of a writer, that it was taken from."""
    tile: int
    """Its number among those that were pushed there, from 0; one more than all if it is missing."""
    core: tuple[int, int]
    """Logical (x, y)."""
    launch: str
    """What the launch does."""
    location: str
    """The `loc(...)` of the launch."""
    expected: Statistics | None
    """None where a tile is missing or was not asked for."""
    actual: Statistics | None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "kernel": self.kernel,
            "circular_buffer": self.cb,
            "tile": self.tile,
            "core": [*self.core],
            "launch": self.launch,
            "location": self.location,
            "expected": None if self.expected is None else self.expected.as_dict(),
            "actual": None if self.actual is None else self.actual.as_dict(),
        }

    def __str__(self) -> str:
        """Lines for people."""
        at = f"tile {self.tile} of circular buffer {self.cb} on core {self.core}"
        verb = "does not store" if self.kernel == WRITER else "pushes a wrong"
        lines = [f"the {self.kernel} kernel of '{self.launch}' {verb} {at}"]
        if self.kernel == SCHEDULE:
            lines = [f"the schedule of '{self.launch}' has another tile than is needed as {at}"]
        lines += [f"  expected: {self.expected or 'no such tile'}"]
        lines += [f"  {self.kernel}: {self.actual or 'no such tile'}"]
        return "\n".join(lines)


def check_kernels(
    program: MetalProgram,
    inputs: Sequence[Array],
    schedule: ModuleOp,
    whole: ModuleOp,
    numerics: Numerics,
    tolerance: Tolerance,
) -> KernelDifference | None:
    """The first tile that is wrong in the first launch whose results are; None if none is found.

    `inputs` are in compute types; `schedule` is the module whose generics became the launches,
    `whole` the one before these were divided into blocks.
    """
    generics, undivided = (
        [op for op in module.walk() if isinstance(op, d2m.GenericOp)]
        for module in (schedule, whole)
    )
    if not len(generics) == len(undivided) == len(program.launches):
        return None
    generic_of = {
        command.index: generic for command, generic in zip(program.launches, generics, strict=True)
    }
    whole_of = dict(zip(generic_of, undivided, strict=True))
    observer = _LaunchChecker(program, list(inputs), tolerance, generic_of, whole_of)
    options = replace(
        simulator_options(numerics), timed=False, leniencies=needed_leniencies(program)
    )
    execute(program, inputs, options, observer=observer, pages_of=observer.pages_of)
    return observer.found


@dataclass
class _LaunchChecker:
    program: MetalProgram
    inputs: list[Array]
    tolerance: Tolerance
    generic_of: dict[int, d2m.GenericOp]
    whole_of: dict[int, d2m.GenericOp]
    found: KernelDifference | None = None
    log: PageLog = field(default_factory=PageLog)

    def __post_init__(self) -> None:
        self.golden = MetalGolden(self.program, self.inputs, self.tolerance, keep_tensors=True)

    def pages_of(self, command: Command) -> PageLog | None:
        """A new log for each launch, until something is found."""
        if self.found is not None:
            return None
        self.log = PageLog()
        return self.log

    def after(self, session: Session, command: Command) -> None:
        """Check a launch whose results differ."""
        if self.found is not None:
            return
        before = len(self.golden.results)
        self.golden.after(session, command)
        results = self.golden.results[before:]
        if command.is_launch and not all(result.passed for result in results):
            goldens = [result.golden for result in results]
            self.found = self._check(session, command, goldens)

    def _check(
        self, session: Session, command: Command, goldens: Sequence[Array | None]
    ) -> KernelDifference | None:
        generic = self.generic_of[command.index]
        chip_grid = session.device.chip.grid[1], session.device.chip.grid[0]
        count = len(generic.inputs)
        launch = _Launch(session, command, generic, self.log, chip_grid, self.tolerance)
        for number in range(count):
            if found := launch.check_schedule(number, self.whole_of[command.index]):
                return found
        for number in range(count):
            if found := launch.check_input(number):
                return found
        for output, golden in zip(reference_of(command).outputs, goldens, strict=True):
            host = HostBuffer(
                output.shape or (), output.strides, command.tensors[output.operand].ref.desc.volume
            )
            if golden is None or output.shape is None:
                continue
            if found := launch.check_output(output.operand, golden, host):
                return found
        return None


@dataclass(frozen=True)
class _Launch:
    session: Session
    command: Command
    generic: d2m.GenericOp
    log: PageLog
    chip_grid: tuple[int, int]
    tolerance: Tolerance

    def check_schedule(self, number: int, whole: d2m.GenericOp) -> KernelDifference | None:
        """The first tile that outputs of a core need and that its steps leave out."""
        if gather_of(self.generic, number) or self.generic.indexing_maps != whole.indexing_maps:
            # Rows that cores share, and outputs that are stored in parts, follow other maps.
            return None
        output = len(self.generic.inputs)
        stored = streamed_tiles(self.generic, output, self.chip_grid)
        for core, tiles in streamed_tiles(self.generic, number, self.chip_grid).items():
            needed = needed_tiles(whole, number, self._tiles_at(output, stored[core]))
            missing = sorted(set(needed or ()) - set(self._tiles_at(number, tiles)))
            if missing:
                return self._difference(SCHEDULE, number, len(tiles), core, None, None)
        return None

    def _tiles_at(self, number: int, tiles: Sequence[StreamedTile]) -> list[tuple[int, ...]]:
        """Rows and columns of those tiles that are in a buffer."""
        placement = self.command.tensors[number].placement
        assert isinstance(placement, BlockPlacement), "operands of launches are blocks"
        return [tile_at(each.place, placement.shard) for each in tiles if each.place is not None]

    def check_input(self, number: int) -> KernelDifference | None:
        """The first tile that a reader pushes and that memory does not hold there."""
        if gather := gather_of(self.generic, number):
            return self._check_gathered(number, gather)
        tensor = self.command.tensors[number]
        values = self.session.value(tensor, self.command.where)
        is_read = _elements_read(self.generic, number, tensor.ref.desc)
        for core, index, tile, page in self._tiles(number, number):
            if tile is None or page is None:
                return self._difference(READER, number, index, core, None, None)
            if tile.place is None:
                continue
            expected = _tile_of(values, tensor, tile.place)
            actual = tile_of_page(page, tensor.ref.desc)
            if not is_read.all():
                expected, actual = expected[is_read], actual[is_read]
            if not np.array_equal(expected, actual, equal_nan=True):
                return self._difference(READER, number, index, core, expected, actual)
        return None

    def _check_gathered(self, number: int, gather: d2m.Gather) -> KernelDifference | None:
        """The first tile with an element that is not the one that it is gathered from."""
        elements = gathered_elements(gather, self._value_of)
        if elements is None:
            return None
        desc = self.command.tensors[number].ref.desc
        for core, index, tile, page in self._tiles(number, number):
            if tile is None or page is None:
                return self._difference(READER, number, index, core, None, None)
            if tile.place is None:
                continue
            *outer, row, column = tile.place[len(tile.place) // 2 :]
            height, width = desc.tile
            rows = slice(row * height, (row + 1) * height)
            expected = elements[(*outer, rows, slice(column * width, (column + 1) * width))]
            actual = tile_of_page(page, desc)[: expected.shape[0], : expected.shape[1]]
            if not np.array_equal(expected, actual, equal_nan=True):
                return self._difference(READER, number, index, core, expected, actual)
        return None

    def _value_of(self, buffer: SSAValue) -> Array | None:
        """What an operand's memory holds."""
        for number, tensor in enumerate(self.command.tensors):
            if d2m.memory_of(self.generic.operands[number]) is buffer:
                return self.session.value(tensor, self.command.where)
        return None

    def check_output(self, number: int, golden: Array, host: HostBuffer) -> KernelDifference | None:
        """The first tile that the compute kernel has wrong, or else that the writer has."""
        tensor = self.command.tensors[number]
        shape = tensor.ref.desc.shape
        wanted = host.pad(golden).reshape(shape)
        is_number = host.pad(np.ones(golden.shape, np.bool_)).reshape(shape)
        cb = len(self.command.storages) - len(self.generic.operands) + number
        stored = self.session.value(tensor, self.command.where)
        unstored: KernelDifference | None = None
        for core, index, tile, page in self._tiles(number, cb):
            if tile is None or page is None:
                return self._difference(COMPUTE, cb, index, core, None, None)
            if tile.place is None:
                continue
            mask = _tile_of(is_number, tensor, tile.place)
            expected = _tile_of(wanted, tensor, tile.place)[mask]
            actual = tile_of_page(page, tensor.ref.desc)[mask]
            if not self._agree(actual, expected):
                return self._difference(COMPUTE, cb, index, core, expected, actual)
            written = _tile_of(stored, tensor, tile.place)[mask]
            if unstored is None and not self._agree(written, expected):
                unstored = self._difference(WRITER, cb, index, core, expected, written)
        return unstored

    def _agree(self, actual: Array, expected: Array) -> bool:
        if not expected.size:
            return True
        tolerance = self.tolerance
        accuracy = compare(actual, expected, rtol=tolerance.rtol, atol=tolerance.atol)
        return tolerance.accepts(accuracy)

    def _tiles(
        self, number: int, cb: int
    ) -> Iterator[tuple[tuple[int, int], int, StreamedTile | None, PushedPage | None]]:
        """Core, number, what should go through a circular buffer and what did, tile by tile."""
        for core, tiles in streamed_tiles(self.generic, number, self.chip_grid).items():
            pages = self.log.pages.get((core, cb), [])
            for index in range(max(len(tiles), len(pages))):
                yield (
                    core,
                    index,
                    tiles[index] if index < len(tiles) else None,
                    pages[index] if index < len(pages) else None,
                )

    def _difference(
        self,
        kernel: str,
        cb: int,
        tile: int,
        core: tuple[int, int],
        expected: Array | None,
        actual: Array | None,
    ) -> KernelDifference:
        return KernelDifference(
            kernel=kernel,
            cb=cb,
            tile=tile,
            core=core,
            launch=self.command.meaning,
            location=self.command.location,
            expected=None if expected is None else Statistics.of(expected),
            actual=None if actual is None else Statistics.of(actual),
        )


def _elements_read(generic: d2m.GenericOp, number: int, desc: TensorDesc) -> Array:
    """Which elements of a tile of an input are read: of what is repeated, the first ones alone."""
    volume = math.prod(desc.tile)
    parts = repeated_parts(generic, number)
    if not parts:
        return np.ones(desc.tile, np.bool_)
    is_read = np.zeros(volume, np.bool_)
    size = TileFormat(1, 1, desc.data_type).size_bytes
    for begin, count in parts:
        is_read[begin // size : (begin + count) // size] = True
    return untilize(is_read.reshape(1, 1, volume), desc.tile, desc.tile)


def _tile_of(values: Array, tensor: MetalTensor, place: tuple[int, ...]) -> Array:
    """The tile of a buffer at a place, which is grid and shard."""
    placement = tensor.placement
    assert isinstance(placement, BlockPlacement), "operands of launches are blocks"
    height, width = tensor.ref.desc.tile
    *outer, row, column = tile_at(place, placement.shard)
    rows = slice(row * height, (row + 1) * height)
    return values[(*outer, rows, slice(column * width, (column + 1) * width))]
