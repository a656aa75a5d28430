"""What tiles hold while a group of cores is traced: how their numbers are to be found, not numbers.

A tile of a group stands for one tile on each of its cores. Units do the same with all of them, and
with those of the next round, so NumPy computes many at once (`evaluate`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ttmlir.layout.enums import DataType, MathFidelity
from ttmlir.sim.calls.pack_api import accumulate
from ttmlir.sim.calls.unpack_api import ARRANGEMENT, TileReader
from ttmlir.sim.groups.products import Factors, add_grid, multiply_floats
from ttmlir.sim.machine import numerics
from ttmlir.sim.machine.memory import Memory
from ttmlir.sim.machine.numerics import (
    BLOCK_FLOATS,
    LONGEST_CHAIN,
    TILE_VOLUME,
    Factor,
    Register,
    multiply_matrices,
    rows_of_tiles,
    tile_bytes,
    tiles_of_rows,
)
from ttmlir.sim.sanitizer.regular import IrregularError

Array = NDArray[Any]

_TILES_AT_ONCE = 64
"""So many tiles of float32 numbers stay in the cache of a core of the machine."""
_APPLIED_AT_ONCE = 16
"""Functions of many steps, some of them in float64, take these."""
_CHAINS_AT_ONCE = 16
"""So many times as many products of matrices share the work on their factors; they are computed in
blocks of their own."""
_KEPT_FACTORS = 4096
"""Factors that are kept, each of 20 KiB; the oldest go."""


class Fetched:
    """A page that was copied from other memories, which no core of the program writes."""

    __slots__ = ("memories", "size", "sources")

    level: ClassVar[int] = 0

    def __init__(self, memories: Sequence[Memory], sources: Sequence[int], size: int) -> None:
        """For each core: from which memory and address."""
        self.memories = memories
        self.sources = sources
        self.size = size

    def read(self) -> Array:
        """The bytes, a row for each core."""
        found = np.empty((len(self.sources), self.size), np.uint8)
        for row, memory, source in zip(found, self.memories, self.sources, strict=True):
            row.data[:] = memory.read(source, self.size)
        return found


class Stored:
    """A page of one core whose bytes are known."""

    __slots__ = ("data", "size")

    level: ClassVar[int] = 0

    def __init__(self, data: Array) -> None:
        """Bytes that nobody changes."""
        self.data = data.reshape(1, -1)
        self.size = data.size

    def read(self) -> Array:
        """The bytes, in one row."""
        return self.data


class Packed:
    """A page that the packer made of a tile of DST, added to what was there if it was so set up."""

    __slots__ = ("data", "data_type", "level", "node", "onto", "pack", "size")

    def __init__(self, node: Tile, data_type: DataType, pack: Pack, onto: Page | None) -> None:
        """`pack` makes the bytes of the tile, which are added to `onto`."""
        self.node: Tile | None = node
        self.level: int = node.level
        if onto is not None:
            self.level = max(self.level, onto.level + 1)
        self.onto = onto
        self.data_type = data_type
        self.pack = pack
        self.size = tile_bytes(data_type)
        self.data: Array | None = None

    def read(self) -> Array:
        """The bytes, a row for each core; they have been computed."""
        assert self.data is not None, "levels are computed in order"
        return self.data


Page = Fetched | Packed | Stored


class Pack:
    """What the packer does to a tile: a mask of numbers that it keeps, ReLU, a format."""

    __slots__ = ("_data_type", "_kept", "_pack", "_rectify")

    def __init__(
        self,
        pack: Callable[[Array], Array],
        data_type: DataType,
        kept: Array | None,
        rectify: Callable[[Array], Array],
    ) -> None:
        """`pack` makes the bytes of numbers; a mask of None keeps all numbers."""
        self._pack = pack
        self._data_type = data_type
        self._kept = None if kept is None else kept.reshape(-1)
        self._rectify = rectify

    def compute(self, numbers: Array) -> Array:
        """The bytes of tiles, a row for each."""
        if self._kept is not None:
            numbers = np.where(self._kept, numbers, 0).astype(numbers.dtype)
        # Packing looks at the bytes of numbers; rows of DST may be views of others.
        numbers = np.ascontiguousarray(self._rectify(numbers))
        if self._data_type in BLOCK_FLOATS:
            return np.stack([self._pack(row) for row in numbers])
        return self._pack(numbers.reshape(-1)).reshape(len(numbers), -1)


class Operand:
    """A tile in a source register: a page of a circular buffer, read for a use."""

    __slots__ = ("depth", "form", "kind", "level", "page", "reader")

    def __init__(self, page: Page, reader: TileReader, form: int) -> None:
        """See `TileReader.read`."""
        self.page = page
        self.reader = reader
        self.form = form
        self.level = page.level
        self.depth = 0
        self.kind: Hashable = (reader.variant, form)

    @property
    def inputs(self) -> tuple[Input, ...]:
        """What has to be known before, beside its page: nothing."""
        return ()


DEEPEST = 200
"""Functions of functions that are computed at once."""


class _Node:
    """How the numbers of a tile of DST are found.

    `level` counts the pages that were packed before, one after another. Nodes with equal `kind`, of
    inputs of equal kinds, are computed together.
    """

    __slots__ = ("depth", "inputs", "kind", "level")

    def __init__(self, kind: Hashable, *inputs: Input) -> None:
        self.kind = kind
        self.inputs: tuple[Input, ...] = inputs
        self.level: int = max((_level_after(each) for each in inputs), default=1)
        self.depth: int = 1 + max((each.depth for each in inputs), default=0)
        if self.depth > DEEPEST:
            raise IrregularError

    def copy(self) -> _Node:
        """Itself: it does not change."""
        return self


class Applied(_Node):
    """A function of numbers, which computes those of many tiles at once."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[..., Array], kind: Hashable, *inputs: Input) -> None:
        """`function` takes the numbers of inputs and gives as many, or one for all."""
        super().__init__(kind, *inputs)
        self.function = function


class Reduced(_Node):
    """A tile reduced onto another one."""

    __slots__ = ("function", "together")

    def __init__(
        self,
        function: Callable[[Array, Sequence[Any], Sequence[Any]], None],
        kind: Hashable,
        start: Tile | None,
        a: Operand,
        b: Operand,
        together: Callable[[Array, Array, Any], None] | None,
    ) -> None:
        """`function` changes tiles of 32 rows in place, by SrcA and SrcB; no `start` are zeros.

        So does `together`, by rows of numbers in SrcA, where all tiles have the same SrcB.
        """
        super().__init__(kind, *(() if start is None else (start,)), a, b)
        self.function = function
        self.together = together


class Chain:
    """Matrix products that are added to a tile of DST one after another.

    `is_read` once somebody has looked: what is added later makes another chain.
    """

    __slots__ = ("depth", "fidelity", "is_read", "level", "products", "register", "start")

    def __init__(self, start: Tile | None, fidelity: MathFidelity, register: Register) -> None:
        """Onto what is in the tile, or onto zeros."""
        self.start = start
        self.fidelity = fidelity
        self.register = register
        self.products: list[tuple[Operand, Operand]] = []
        self.is_read = False
        self.level: int = 1 if start is None else start.level
        self.depth: int = 1 if start is None else 1 + start.depth
        if self.depth > DEEPEST:
            raise IrregularError

    def add(self, a: Operand, b: Operand) -> None:
        """Add a product, of SrcA and SrcB."""
        self.products.append((a, b))
        self.level = max(self.level, _level_after(a), _level_after(b))

    def copy(self) -> Chain:
        """Itself: it was read, and does not change."""
        return self

    @property
    def kind(self) -> Hashable:
        """Of equally many products."""
        return len(self.products), self.fidelity, self.register

    @property
    def inputs(self) -> tuple[Input, ...]:
        """What it begins with."""
        return () if self.start is None else (self.start,)


Tile = Applied | Reduced | Chain
Input = Operand | Tile


def _level_after(each: Input) -> int:
    return each.level + isinstance(each, Operand)


class Evaluation:
    """Computes the pages that a group packed."""

    def __init__(self, num_cores: int, *, is_exact: bool) -> None:
        """For a group of so many cores, with numerics that are exact or the device's."""
        self._num_cores = num_cores
        self._is_exact = is_exact
        self._pages_at_once = -(-_TILES_AT_ONCE // num_cores)
        self._factors: dict[tuple[object, ...], Factor] = {}
        """Of tiles of memories that nobody writes."""
        self._of_pages: dict[tuple[int, int, int], tuple[Page, list[Any]]] = {}
        """Of pages that were computed."""
        self._matrices: dict[Hashable, Factors] = {}
        """The same tiles, for products of all cores at once."""
        self._known: dict[tuple[int, ...], Array] = {}
        """The numbers of nodes that are computed together, for a batch of pages."""
        self._kinds: dict[Hashable, int] = {}
        self._kind_of: dict[int, int] = {}

    def compute(self, pages: Iterable[Packed]) -> None:
        """Find the bytes of pages; those that they were made of come with them or are known."""
        levels: dict[int, dict[Hashable, list[Packed]]] = {}
        for page in pages:
            node = page.node
            assert node is not None, "a page is computed once"
            key = page.pack, page.onto is None, self._find_kind(node)
            levels.setdefault(page.level, {}).setdefault(key, []).append(page)
        for level in sorted(levels):
            for alike in levels[level].values():
                count = self._pages_at_once
                if isinstance(alike[0].node, Chain):
                    count *= _CHAINS_AT_ONCE
                for first in range(0, len(alike), count):
                    self._compute_alike(alike[first : first + count])
        self._kinds.clear()
        self._kind_of.clear()

    def _find_kind(self, node: Input) -> int:
        """A number that nodes share that are computed together, and so are their inputs."""
        kind = self._kind_of.get(id(node))
        if kind is None:
            key = node.kind, *map(self._find_kind, node.inputs)
            kind = self._kind_of[id(node)] = self._kinds.setdefault(key, len(self._kinds))
        return kind

    def _compute_alike(self, pages: Sequence[Packed]) -> None:
        data = pages[0].pack.compute(self._numbers([page.node for page in pages if page.node]))
        self._known.clear()
        there = [page.onto.read() for page in pages if page.onto is not None]
        if there:
            data = _accumulate(np.concatenate(there), data, pages[0].data_type)
        cores = self._num_cores
        for place, page in enumerate(pages):
            page.data = data[place * cores : (place + 1) * cores]
            page.node = page.onto = None
            page.level = 0

    def find(self, node: Tile) -> Array:
        """The numbers of a tile of each core, in the order of memory."""
        found = self._numbers([node])
        self._known.clear()
        return found

    def _numbers(self, nodes: Sequence[Input]) -> Array:
        """The tiles of nodes that are alike, in the order of memory, a row for each."""
        key = tuple(map(id, nodes))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._compute(nodes)
        return found

    def _compute(self, nodes: Sequence[Input]) -> Array:
        first = nodes[0]
        if isinstance(first, Operand):
            return _decode([node for node in nodes if isinstance(node, Operand)])
        columns = list(zip(*(node.inputs for node in nodes), strict=True))
        if isinstance(first, Applied):
            return _apply(first, [*map(self._numbers, columns)], len(nodes) * self._num_cores)
        if isinstance(first, Chain):
            chains = [node for node in nodes if isinstance(node, Chain)]
            return self._add_products(chains, columns[0] if columns else None)
        *start, a, b = columns
        tiles = self._rows(start[0] if start else None, len(nodes))
        others = self._values(b)
        if first.together is not None and all(map(partial(_are_same, others[0]), others)):
            operands = [each for each in a if isinstance(each, Operand)]
            first.together(tiles, _decode_rows(operands), others[0])
        else:
            first.function(tiles, self._values(a), others)
        return tiles_of_rows(tiles)

    def _rows(self, nodes: Sequence[Input] | None, count: int) -> Array:
        """The rows of tiles, to be changed; zeros for None."""
        if nodes is None:
            return np.zeros((count * self._num_cores, 32, 32), np.float32)
        return rows_of_tiles(self._numbers(nodes))

    def _values(self, operands: Iterable[Input]) -> list[Any]:
        """What is in a source register for each tile: numbers, or factors."""
        found: list[Any] = []
        for each in operands:
            if isinstance(each, Operand):
                found += self._find_values(each)
        return found

    def _add_products(self, chains: Sequence[Chain], starts: Sequence[Input] | None) -> Array:
        found = self._add_matrices(chains, starts)
        if found is not None:
            return found
        count = self._pages_at_once
        if len(chains) > count:
            parts = [slice(start, start + count) for start in range(0, len(chains), count)]
            return np.concatenate(
                [self._add_products(chains[part], starts and starts[part]) for part in parts]
            )
        first = chains[0]
        queues: list[list[tuple[Any, Any]]] = []
        for chain in chains:
            columns = [
                list(zip(self._find_values(a), self._find_values(b), strict=True))
                for a, b in chain.products
            ]
            queues += map(list, zip(*columns, strict=True))
        tiles = self._rows(starts, len(chains))
        if self._is_exact:
            _add_exact_products(tiles, queues, are_new=starts is None)
            return tiles_of_rows(tiles)
        for start in range(0, len(queues[0]), LONGEST_CHAIN):
            parts = [queue[start : start + LONGEST_CHAIN] for queue in queues]
            numerics.add_products([*tiles], parts, first.fidelity, first.register)
        return tiles_of_rows(tiles)

    def _add_matrices(
        self, chains: Sequence[Chain], starts: Sequence[Input] | None
    ) -> Array | None:
        """As `_add_products`, of pages that were fetched; None if they make no matrices."""
        first = chains[0]
        sides: list[Factors] = []
        for side in (0, 1):
            operands = [product[side] for chain in chains for product in chain.products]
            reader, form = operands[0].reader, operands[0].form
            are_fetched = all(isinstance(each.page, Fetched) for each in operands)
            are_alike = len({each.kind for each in operands}) == 1
            if not (are_fetched and are_alike and Factors.suit(reader, form)):
                return None
            sides.append(self._matrices.setdefault(operands[0].kind, Factors(reader, form)))
        if starts is None:
            tiles = np.zeros((len(chains) * self._num_cores, TILE_VOLUME), np.float32)
        else:
            tiles = np.ascontiguousarray(self._numbers(starts))
        for start in range(0, len(first.products), LONGEST_CHAIN):
            places: list[tuple[Factors, NDArray[np.intp]]] = []
            for side, factors in enumerate(sides):
                pages = [
                    product[side].page
                    for chain in chains
                    for product in chain.products[start : start + LONGEST_CHAIN]
                ]
                found = factors.find([page for page in pages if isinstance(page, Fetched)])
                if found is None:
                    return None
                found = found.reshape(len(chains), -1, self._num_cores)
                places.append((factors, found.swapaxes(1, 2).reshape(len(tiles), -1)))
            a, b = places
            multiply = partial(multiply_floats, is_new=starts is None and start == 0)
            if not self._is_exact:
                settings = {"fidelity": first.fidelity, "dst": first.register}
                multiply = partial(multiply_matrices, **settings, bits_of=sides[0].bits_of)
            result = add_grid(tiles, a, b, multiply)
            if result is None:
                return None
            tiles = result
        return tiles

    def _find_values(self, operand: Operand) -> list[Any]:
        """What is in a source register on each core."""
        page, reader, form = operand.page, operand.reader, operand.form
        if not isinstance(page, Fetched):
            return self._find_computed(page, reader, form)
        known = self._factors
        variant = reader.variant
        keys = [
            (id(memory), source, variant, form)
            for memory, source in zip(page.memories, page.sources, strict=True)
        ]
        new = {
            key: memory.read(key[1], page.size)
            for key, memory in zip(keys, page.memories, strict=True)
            if key not in known
        }
        if new:
            while known and len(known) + len(new) > _KEPT_FACTORS:
                del known[next(iter(known))]
            if not all(key in known or key in new for key in keys):
                return self._find_values(operand)
            data = np.frombuffer(b"".join(new.values()), np.uint8).reshape(-1, page.size)
            known.update(zip(new, reader.decode_all(data, form), strict=True))
        return [known[key] for key in keys]

    def _find_computed(self, page: Packed | Stored, reader: TileReader, form: int) -> list[Any]:
        # Who keeps a page keeps the number that it is found by.
        known = self._of_pages
        key = id(page), reader.variant, form
        found = known.get(key)
        if found is None:
            if len(known) * self._num_cores >= _KEPT_FACTORS:
                del known[next(iter(known))]
            found = known[key] = page, reader.decode_all(page.read(), form)
        return found[1]


def _apply(node: Applied, inputs: Sequence[Array], count: int) -> Array:
    """The numbers of so many tiles, a function of those of others."""
    parts: list[Array] = []
    for start in range(0, count, _APPLIED_AT_ONCE):
        stop = min(start + _APPLIED_AT_ONCE, count)
        result = node.function(*(each[start:stop] for each in inputs))
        shape = stop - start, TILE_VOLUME
        parts.append(result if result.shape == shape else np.broadcast_to(result, shape))
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _add_exact_products(
    tiles: Iterable[Array], queues: Iterable[Sequence[tuple[Array, Array]]], *, are_new: bool
) -> None:
    """Add the products of SrcB and SrcA one by one, as a core does; the first onto nothing."""
    product = np.empty((32, 32), np.float32)
    for tile, queue in zip(tiles, queues, strict=True):
        for place, (a, b) in enumerate(queue):
            if are_new and place == 0:
                np.dot(b, a, tile)
            else:
                np.add(tile, np.dot(b, a, product), tile)


def _accumulate(there: Array, data: Array, data_type: DataType) -> Array:
    """Packed tiles added to those that are there, a row for each."""
    if data_type in BLOCK_FLOATS:
        return np.stack([accumulate(*each, data_type) for each in zip(there, data, strict=True)])
    return accumulate(there.reshape(-1), data.reshape(-1), data_type).reshape(data.shape)


def _decode(operands: Sequence[Operand]) -> Array:
    """The numbers of operands that are decoded alike, a row for each tile."""
    reader, form = operands[0].reader, operands[0].form
    if reader.data_type in BLOCK_FLOATS or form & ARRANGEMENT:
        return tiles_of_rows(_decode_rows(operands))
    data = np.concatenate([each.page.read() for each in operands])
    return reader.decode(data.reshape(-1), form).reshape(len(data), TILE_VOLUME)


def _decode_rows(operands: Sequence[Operand]) -> Array:
    """The numbers of operands that are decoded alike, 32 rows for each tile."""
    first = operands[0]
    data = np.concatenate([each.page.read() for each in operands])
    return first.reader.decode_rows(data, first.form)


def _are_same(one: Any, other: Any) -> bool:
    """Whether values of source registers are the same numbers."""
    if one is other or not isinstance(one, Factor) or not isinstance(other, Factor):
        return one is other
    return np.array_equal(one.values, other.values)
