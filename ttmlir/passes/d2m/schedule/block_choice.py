"""Block sizes and grids of loop nests, by a small model of what a core does in how many cycles.

    choose_schedule(nest, machine)    # the same for equal nests, computed once

A block of an operand has, for each iterator that it follows, as many tiles as the iterator's block
size, which divides its extent. Cores are spread over iterators of the outputs. On each core the
loops over blocks nest in the order of the iterators; an operand is loaded where its innermost
iterator steps. Cycles are those of the busiest of reader, writer, compute and DRAM, by the figures
of the chip's generation in `ttmlir.machine`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from ttmlir.layout.enums import Arch, MemorySpace
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.metal import shared_cores
from ttmlir.layout.system import ChipDesc
from ttmlir.machine import generation
from ttmlir.machine.figures import ScheduleFigures
from ttmlir.mlir.option_values import OptionError

Shape = tuple[int, ...]

_MOST_STREAM_BUFFERS = 1024
"""Blocks of a circular buffer; not many more of the smallest, a tile of bytes, fit in L1."""
_TILE_BYTES = 2048
"""Of a tile of 16 bits, which figures are for."""
SHARED_TILES = 16
"""Tiles of a block that is stored by both kernels."""
MOST_SIZES = 10
"""Block sizes that are tried for an iterator."""


@dataclass(frozen=True)
class Blocks:
    """What is divided into blocks: an operand, or memory that is local to a core."""

    iterators: tuple[int | None, ...]
    extents: Shape
    tile_bytes: int
    is_gathered: bool = False
    """True if the elements of each tile are gathered."""
    in_dram: bool = True
    """False for a buffer that is expected to be in L1."""
    read_bytes: int | None = None
    """Of a tile, if only parts of it are read."""

    def page_cycles(self, figures: ScheduleFigures) -> int:
        """Of the processor that moves data, for each tile."""
        return figures.gather_tile if self.is_gathered else figures.read_page

    @property
    def moved_bytes(self) -> int:
        """Of a tile, between memory and the core."""
        return self.tile_bytes if self.read_bytes is None else self.read_bytes

    def tiles(self, sizes: Sequence[int]) -> int:
        """Tiles of a block for the block size of each iterator."""
        return math.prod(
            extent if iterator is None else sizes[iterator]
            for iterator, extent in zip(self.iterators, self.extents, strict=True)
        )

    def follows(self, iterator: int) -> bool:
        """True if each step of an iterator has another block."""
        return iterator in self.iterators


@dataclass(frozen=True)
class Work:
    """The loops of a region over tiles."""

    iterators: tuple[int | None, ...]
    extents: Shape
    cycles: int
    """For each point; for a product, of a tile that is unpacked."""
    is_product: bool = False

    def points(self, sizes: Sequence[int]) -> int:
        """Points in a step, for the block size of each iterator."""
        return math.prod(
            extent if iterator is None else sizes[iterator]
            for iterator, extent in zip(self.iterators, self.extents, strict=True)
        )

    def step_cycles(self, sizes: Sequence[int], parallel: int, dst_tiles: int) -> float:
        """Of a step; the first `parallel` iterators are no reductions.

        For products along a side of DST's part of a block, one tile stays and the others change.
        """
        cycles = self.points(sizes) * self.cycles
        if not self.is_product:
            return cycles
        sides = [sizes[each] for each in self.iterators if each is not None and each < parallel]
        side = max(
            (each for size in sides for each in divisors(size) if each <= dst_tiles), default=1
        )
        return cycles * (1 + 1 / side)


@dataclass(frozen=True)
class Nest:
    """The loops of a generic over blocks."""

    extents: Shape
    """Of each iterator in tiles; those of reductions last."""
    reductions: int
    """How many iterators are reductions."""
    spread: tuple[int, ...]
    """Iterators that cores may be spread over, in the order of the grid."""
    inputs: tuple[Blocks, ...]
    outputs: tuple[Blocks, ...]
    locals: tuple[Blocks, ...]
    works: tuple[Work, ...]
    dst_tiles: int
    accumulates: bool = False
    """True if a step of a reduction adds to what the steps before have computed."""
    adds_in_output: bool = False
    """True if that of a product alone is added up in L1 where it is stored from."""
    stores_last: bool = False
    """True if the only output holds products, which are stored after the last step."""
    is_serial: bool = False
    """True if nothing of a block is stored before all of it is loaded."""
    shared: int | None = None
    """The iterator, the last one of `spread`, along which cores share each block."""
    sharers: int = 1
    """How many cores share one: neighbours, in rows of the chip one after the other."""
    exchanges: int = 0
    """How often they tell each other something in each step."""


@dataclass(frozen=True)
class Machine:
    """What a nest may use of a chip."""

    rows: int
    columns: int
    l1_bytes: int
    """For circular buffers."""
    channels: int
    buffers: int = 2
    """Of a circular buffer that is filled again while it is read."""
    arch: Arch = Arch.WORMHOLE_B0

    @cached_property
    def figures(self) -> ScheduleFigures:
        """What the chip takes."""
        return generation(self.arch.keyword).schedules

    def most_sharing(self, sharers: int) -> int:
        """How many blocks neighbours, so many each, may share."""
        return self.rows * self.columns // sharers


@dataclass(frozen=True)
class Schedule:
    """Block sizes and cores along each iterator."""

    sizes: Shape
    cores: Shape
    l1_bytes: int
    cycles: int
    shares_stores: bool = False
    """True if the reader stores a part of each block of the output."""
    input_blocks: int | None = None
    """How many blocks the circular buffers of inputs hold, if not as many as usual."""

    def factors(self, extents: Sequence[int]) -> Shape:
        """Steps of each core along each iterator."""
        return tuple(
            -(-extent // (size * cores))
            for extent, size, cores in zip(extents, self.sizes, self.cores, strict=True)
        )


def check_stream_buffers(buffers: int) -> None:
    """Refuse numbers of blocks that no circular buffer holds, by an OptionError."""
    if not 1 <= buffers <= _MOST_STREAM_BUFFERS:
        raise OptionError(
            f"for the --num-stream-buffers option: expected 1 to {_MOST_STREAM_BUFFERS}, "
            f"got {buffers}"
        )


def restrict_l1(chip: ChipDesc, addresses: Sequence[int], capacity: int) -> ChipDesc:
    """A chip with part of its L1: between a first address and an end, below a number of bytes.

    Without addresses, or with a capacity of 0, as much as the chip has. OptionError for what is not
    in its L1.
    """
    first, end = chip.l1_unreserved_base, chip.l1_size
    if addresses:
        if len(addresses) != 2 or not first <= addresses[0] < addresses[1] <= end:
            raise OptionError(
                "for the --available-l1-addr-range option: expected a first address and an end "
                f"between {first} and {end}, got {','.join(map(str, addresses))}"
            )
        first, end = chip.align(addresses[0], MemorySpace.DEVICE_L1), addresses[1]
    if capacity:
        if not first < capacity <= chip.l1_size:
            raise OptionError(
                f"for the --test-assume-l1-capacity option: expected {first + 1} to "
                f"{chip.l1_size} bytes, or 0 for the chip's, got {capacity}"
            )
        end = min(end, capacity)
    return replace(chip, l1_unreserved_base=first, l1_size=end)


@lru_cache(maxsize=4096)
def choose_schedule(nest: Nest, machine: Machine) -> Schedule:
    """The schedule of the fewest cycles; LayoutError if no block fits in L1."""
    best: Schedule | None = None
    least = math.inf
    for sizes in _sizes(nest):
        blocks = [extent // size for extent, size in zip(nest.extents, sizes, strict=True)]
        for cores in _grids(nest, blocks, machine):
            schedule = _evaluate(nest, machine, sizes, cores)
            least = min(least, schedule.l1_bytes)
            if schedule.l1_bytes > machine.l1_bytes:
                continue
            if best is None or _rank(schedule) < _rank(best):
                best = schedule
    if best is None:
        raise LayoutError(
            f"needs {least:.0f} bytes of L1 for its blocks and circular buffers, one tile along "
            f"each iterator; there are {machine.l1_bytes}. Divide it into operations of fewer "
            "operands or of shorter rows"
        )
    return best


def _rank(schedule: Schedule) -> tuple[int, int, Shape]:
    return schedule.cycles, schedule.l1_bytes, schedule.sizes


def _sizes(nest: Nest) -> Iterator[Shape]:
    """Block sizes that divide the extents."""
    options = [divisors(extent) for extent in nest.extents]
    if nest.shared is not None:
        options[nest.shared] = (nest.extents[nest.shared] // nest.sharers,)
    for number, each in enumerate(options):
        # What is local to a core, or many iterators, leave little to choose from.
        while math.prod(map(len, options)) > MOST_SIZES**3 and len(each) > 4:
            each = options[number] = (*each[: len(each) // 2], each[-1])
    yield from _product(options)


def _product(options: Sequence[Sequence[int]]) -> Iterator[Shape]:
    if not options:
        yield ()
        return
    for first in options[0]:
        for rest in _product(options[1:]):
            yield (first, *rest)


@lru_cache(maxsize=1024)
def divisors(number: int) -> Shape:
    """The divisors of a number of tiles, ascending; a dozen of them if there are more."""
    found = [each for each in range(1, min(number, 4096) + 1) if number % each == 0]
    if len(found) > MOST_SIZES:
        found = found[: MOST_SIZES - 1] + found[-1:]
    return tuple(found)


def _grids(nest: Nest, blocks: Sequence[int], machine: Machine) -> Iterator[Shape]:
    """Cores along each iterator, so that every core has a block and steps are few."""
    spread = nest.spread
    cores = [1] * len(blocks)
    limit = machine.rows * machine.columns
    if nest.shared is not None:
        spread, limit = spread[:-1], machine.most_sharing(nest.sharers)
        cores[nest.shared] = nest.sharers

    def choose(position: int, left: int) -> Iterator[Shape]:
        if position == len(spread):
            yield tuple(cores)
            return
        iterator = spread[position]
        last = position == len(spread) - 1
        for count in _counts(blocks[iterator], left, only_most=last):
            cores[iterator] = count
            yield from choose(position + 1, left // count)
        cores[iterator] = 1

    yield from choose(0, limit)


@lru_cache(maxsize=4096)
def _counts(blocks: int, most: int, *, only_most: bool) -> Shape:
    """Counts of cores for so many blocks: the fewest for each number of steps."""
    if only_most:
        steps = -(-blocks // min(blocks, most))
        return (-(-blocks // steps),)
    return tuple(
        dict.fromkeys(
            -(-blocks // -(-blocks // count)) for count in range(1, min(blocks, most) + 1)
        )
    )


def _evaluate(nest: Nest, machine: Machine, sizes: Shape, cores: Shape) -> Schedule:
    factors = [
        -(-extent // (size * count))
        for extent, size, count in zip(nest.extents, sizes, cores, strict=True)
    ]
    figures = machine.figures
    parallel = len(factors) - nest.reductions
    l1_bytes = sum(each.tiles(sizes) * each.tile_bytes for each in nest.locals)
    # Steps of all cores together: along an iterator that is spread, each block is one.
    total = [
        factor if count == 1 else extent // size
        for factor, count, extent, size in zip(factors, cores, nest.extents, sizes, strict=True)
    ]
    reader, writer, dram_bytes, l1_traffic, block_bytes = 0.0, 0.0, 0.0, 0.0, 0
    for each in nest.inputs:
        depth = operand_depth(each.iterators, factors)
        loads = math.prod(factors[:depth])
        tiles = each.tiles(sizes)
        l1_bytes += tiles * each.tile_bytes * (machine.buffers if loads > 1 else 1)
        block_bytes += tiles * each.tile_bytes if loads > 1 else 0
        moved = loads * tiles * each.moved_bytes
        cycles = max(loads * tiles * each.page_cycles(figures), moved / figures.core_rate)
        # The core that multicasts a block waits for each of its parts in turn.
        sending = moved / figures.multicast_rate + loads * figures.multicast_latency
        # Cores that are spread over an iterator which does not count read the same block.
        readers = math.prod(total[:depth]) * math.prod(cores[depth:])
        axis, sharers = _route(each, nest, sizes, cores, machine)
        if axis == "x":
            # The first core of a row sends on the network of the writer.
            writer += cycles + sending
        else:
            reader += cycles + (sending if axis else 0)
        read = readers * tiles * each.moved_bytes / sharers
        if each.in_dram:
            dram_bytes += read
        elif not all(each.follows(iterator) for iterator in nest.spread):
            # What each core reads alone is best where that core is.
            l1_traffic += read
    stored = factors[:parallel]
    added = 0.0
    for each in nest.outputs:
        loads = math.prod(stored[: operand_depth(each.iterators, stored)])
        tiles = each.tiles(sizes)
        l1_bytes += tiles * each.tile_bytes * (machine.buffers if loads > 1 else 1)
        if nest.accumulates and math.prod(factors[parallel:]) > 1 and tiles > nest.dst_tiles:
            l1_bytes += 0 if nest.adds_in_output else tiles * each.tile_bytes
            # Sums of more bits than the output has are in local memory.
            wide = (held.tile_bytes for held in nest.locals if not nest.adds_in_output)
            added += tiles * max(each.tile_bytes, *wide, _TILE_BYTES) / _TILE_BYTES
        moved = loads * tiles * each.tile_bytes
        writer += max(loads * tiles * figures.read_page, moved / figures.core_rate)
        if each.in_dram:
            dram_bytes += math.prod(total[:parallel]) * tiles * each.tile_bytes
    steps = math.prod(factors)
    in_step, after = _compute_cycles(nest, sizes, parallel, added * figures.add_in_l1)
    compute = steps * in_step + math.prod(stored) * after
    compute += steps * nest.exchanges * figures.exchange
    rows = -(-math.prod(cores) // machine.columns)
    dram_rate = min(machine.channels * figures.channel_rate, rows * figures.row_rate)
    memory = max(dram_bytes / dram_rate, l1_traffic / figures.l1_rate)
    if nest.reductions and any(work.is_product for work in nest.works):
        movement = _movement_of(nest, machine, sizes, cores, factors)
        return _schedule_product(movement, in_step, after, memory, l1_bytes)
    busiest = max(reader, writer, compute, memory)
    # The first block is there before anything is computed, the last one is written afterwards.
    moving = max(reader + writer, memory) if nest.is_serial else reader + writer
    fill = moving / steps + figures.first_load
    cycles = busiest + fill + steps * figures.step
    input_blocks = None
    has_room = l1_bytes + block_bytes <= machine.l1_bytes
    if nest.exchanges and has_room and 1 < machine.buffers < steps:
        # Cores that wait for others load one block more meanwhile.
        input_blocks = machine.buffers + 1
        l1_bytes += block_bytes
    return Schedule(sizes, cores, l1_bytes, round(cycles), input_blocks=input_blocks)


def _compute_cycles(nest: Nest, sizes: Shape, parallel: int, adding: float) -> tuple[float, float]:
    """Cycles of the compute kernel in each step, and after the last step of a reduction.

    `adding` are those of the packer in each step for sums that DST does not hold.
    """
    in_step, after = 0.0, 0.0
    for work in nest.works:
        cycles = work.step_cycles(sizes, parallel, nest.dst_tiles)
        if any(each is not None and each >= parallel for each in work.iterators):
            # Sums that DST does not hold are added to L1, all of them in each step.
            in_step += max(cycles, adding)
        else:
            after += cycles
    return in_step, after


@dataclass(frozen=True)
class _Movement:
    """What the data-movement kernels of a product do, in cycles."""

    sizes: Shape
    cores: Shape
    rounds: int
    """Blocks of the output that a core computes."""
    steps: int
    """Steps of a round."""
    first: float
    """Until the blocks of the first step are there."""
    others: float
    """Of the busier kernel, for all further steps."""
    store: float
    """For a block of the output of each core, on one network."""
    shared_tiles: int
    """Tiles of the output that both kernels may store together; 0 if they may not."""
    tile_bytes: int
    """Of the output."""
    parts: float
    """How many times in the last steps a part of a block is complete; 0 if it is all at once."""
    input_bytes: int
    """Of one block of each input."""
    lost: float
    """Of the unpackers, to what a core loads and sends."""
    machine: Machine


@dataclass
class _Load:
    """What a kernel loads, in cycles."""

    first: float = 0.0
    """The first blocks of all inputs."""
    others: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    """Of each input, reading and multicasting all further blocks."""

    @property
    def cycles(self) -> float:
        """Of all further blocks: while one is on its way, the next one of the input is read."""
        if len(self.others) == 1:
            return max(self.others[0])
        return sum(map(sum, self.others))


def _movement_of(
    nest: Nest, machine: Machine, sizes: Shape, cores: Shape, factors: Sequence[int]
) -> _Movement:
    figures = machine.figures
    parallel = len(factors) - nest.reductions
    rounds, steps = math.prod(factors[:parallel]), math.prod(factors[parallel:])
    active = math.prod(cores)
    routes = [_route(each, nest, sizes, cores, machine) for each in nest.inputs]
    loads = [math.prod(factors[: operand_depth(each.iterators, factors)]) for each in nest.inputs]
    passed = 0.0
    kernels = {name: _Load() for name in ("reader", "writer")}
    for number, each in enumerate(nest.inputs):
        axis, sharers = routes[number]
        moved = each.tiles(sizes) * each.tile_bytes
        reading = max(
            each.tiles(sizes) * max(figures.multicast_page, each.page_cycles(figures)),
            moved / figures.core_rate,
        )
        sending = moved / figures.linked_rate + figures.handshake if axis else 0.0
        # No core sends both what rows and what columns share.
        passed += loads[number] * moved * (1.5 if axis else 1)
        # All that read at once share the network, and the channels that their blocks are in.
        if each.in_dram:
            channels = (
                channels_of(each, sizes, cores, factors, machine.channels) * figures.channel_rate
            )
            rate = channels if axis else min(channels, figures.all_read_rate)
            reading = max(reading, active / sharers * moved / rate)
        # Rows travel on the network of the writer, all else on that of the reader.
        load = kernels["writer" if axis == "x" else "reader"]
        load.first += reading + sending
        if loads[number] > 1:
            load.others.append(((loads[number] - 1) * reading, (loads[number] - 1) * sending))
    store, shared, tile_bytes = 0.0, 0, 0
    for each in nest.outputs:
        tiles, tile_bytes = each.tiles(sizes), each.tile_bytes
        issuing = tiles * figures.multicast_page
        store += max(
            issuing, active * tiles * tile_bytes / figures.all_write_rate if each.in_dram else 0
        )
        if each.in_dram and tiles > nest.dst_tiles and rounds == 1 < steps and nest.stores_last:
            shared = tiles if tiles >= SHARED_TILES else 0
    others = kernels["reader"].cycles, kernels["writer"].cycles + (rounds - 1) * store
    in_dram = all(each.in_dram for each in (*nest.inputs, *nest.outputs))
    ends_apart = nest.adds_in_output and in_dram and steps > 1
    parts = nest.outputs[0].tiles(sizes) / nest.dst_tiles if ends_apart else 0.0
    return _Movement(
        *(sizes, cores, rounds, steps),
        *(max(each.first for each in kernels.values()), max(others)),
        *(store, shared, tile_bytes),
        parts,
        sum(each.tiles(sizes) * each.tile_bytes for each in nest.inputs),
        passed * figures.moved_byte,
        machine,
    )


def channels_of(
    each: Blocks, sizes: Shape, cores: Shape, factors: Sequence[int], channels: int
) -> int:
    """How many channels of DRAM the tiles are in that all cores read first."""
    spans: list[tuple[int, int]] = []
    stride = 1
    for iterator, extent in zip(reversed(each.iterators), reversed(each.extents), strict=True):
        size = extent if iterator is None else sizes[iterator]
        spans.append((size, stride % channels))
        if iterator is not None:
            spans.append((cores[iterator], size * factors[iterator] * stride % channels))
        stride *= extent
    return _residues(tuple(spans), channels)


@lru_cache(maxsize=65536)
def _residues(spans: tuple[tuple[int, int], ...], modulus: int) -> int:
    """How many remainders sums have of one multiple below each count of each stride."""
    found = {0}
    for count, stride in spans:
        steps = {number * stride % modulus for number in range(min(count, modulus))}
        found = {(first + step) % modulus for first in found for step in steps}
    return len(found)


def _schedule_product(
    movement: _Movement, in_step: float, after: float, memory: float, l1_bytes: int
) -> Schedule:
    """The schedule of products that take so many cycles in a step, and what follows them.

    All cores store their last blocks at once; both kernels may do so.
    """
    figures = movement.machine.figures
    rounds, steps = movement.rounds, movement.rounds * movement.steps
    in_step += movement.lost / steps
    busiest = max(steps * in_step, movement.others, memory)
    cycles = movement.first + figures.first_load + busiest + (rounds - 1) * after
    # Meanwhile, as many steps of the next round are loaded as circular buffers hold.
    ahead = movement.others / rounds * min(1.0, (movement.machine.buffers - 1) / movement.steps)
    cycles -= min(busiest - steps * in_step, (rounds - 1) * min(after, ahead))
    both, one = max(after, movement.store / 2), max(after, movement.store)
    shares = movement.shared_tiles > 0 and both + figures.shared_cost < one
    if shares:
        l1_bytes += movement.shared_tiles // 2 * movement.tile_bytes
    last = both if shares else one
    input_blocks = None
    if movement.parts > 1:
        last, more = _store_early(movement, in_step, last, l1_bytes)
        if more:
            input_blocks = movement.machine.buffers + more
            l1_bytes += more * movement.input_bytes
    cycles += last + steps * figures.product_step
    sizes, cores = movement.sizes, movement.cores
    return Schedule(sizes, cores, l1_bytes, round(cycles), shares, input_blocks)


def _store_early(
    movement: _Movement, in_step: float, last: float, l1_bytes: int
) -> tuple[float, int]:
    """The cycles in the end if parts of a block are stored in the last steps, and what that takes.

    That is: how many blocks more there are of each input. One is loaded while the last are used.
    """
    machine, steps = movement.machine, movement.steps
    least = last / movement.parts
    best, more = max(last - in_step, least), 0
    for blocks in range(machine.buffers + 1, steps + 1):
        extra = blocks - machine.buffers
        # Blocks that are used together are side by side in each round.
        if steps % blocks or l1_bytes + extra * movement.input_bytes > machine.l1_bytes:
            continue
        hidden = (blocks - 1) * in_step * (1 - 1 / movement.parts)
        if best > least and max(last - hidden, least) < best:
            best, more = max(last - hidden, least), extra
    return best, more


def operand_depth(iterators: Collection[int | None], factors: Sequence[int]) -> int:
    """How many loops are around the loads of an operand: to the last one that it follows."""
    return max(
        (number + 1 for number, factor in enumerate(factors) if factor > 1 and number in iterators),
        default=0,
    )


@dataclass(frozen=True)
class Kept:
    """An operand that comes again in each step of a loop which it does not follow."""

    loop: int
    """The iterator of that loop, the innermost one."""
    blocks: int
    """How many blocks come in each of its steps."""


def kept_blocks(iterators: Collection[int | None], factors: Sequence[int]) -> Kept | None:
    """The blocks of an operand that could stay in L1; None if they never come again."""
    depth = operand_depth(iterators, factors)
    loops = [each for each in range(depth) if factors[each] > 1 and each not in iterators]
    return Kept(loops[-1], math.prod(factors[loops[-1] + 1 : depth])) if loops else None


def _route(
    each: Blocks, nest: Nest, sizes: Shape, cores: Shape, machine: Machine
) -> tuple[str, int]:
    """The cores that an input is multicast to, as `shared_cores` says, and how many these are.

    What is multicast changes with a reduction, or takes part in products; each core has as many
    steps as the others. Else there are none, and each core reads for itself.
    """
    parallel = len(cores) - nest.reductions
    is_reduced = any(each.follows(iterator) for iterator in range(parallel, len(cores)))
    is_product = any(work.is_product for work in nest.works)
    if not is_reduced and (each.is_gathered or not is_product):
        return "", 1
    even = all(
        nest.extents[iterator] % (sizes[iterator] * cores[iterator]) == 0
        for iterator in nest.spread
    )
    along = nest.outputs[0].iterators
    grid = [cores[iterator] if iterator in nest.spread else 1 for iterator in along]
    follows = [iterator is not None and each.follows(iterator) for iterator in along]
    shared = shared_cores(grid, follows, (machine.rows, machine.columns)) if even else None
    return shared or ("", 1)
