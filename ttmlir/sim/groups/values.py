"""What tiles hold while a group of cores is traced: how their numbers are to be found, not numbers.

A tile of a group stands for one tile on each of its cores. Units do the same with all of them, and
with those of the next round, so NumPy computes many at once (`evaluate`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ttmlir.layout.enums import DataType, MathFidelity
from ttmlir.sim.calls.pack_api import accumulate
from ttmlir.sim.calls.unpack_api import ARRANGEMENT, TileReader
from ttmlir.sim.machine import numerics
from ttmlir.sim.machine.memory import Memory
from ttmlir.sim.machine.numerics import (
    BLOCK_FLOATS,
    LONGEST_CHAIN,
    TILE_VOLUME,
    Factor,
    Register,
    faces_of_rows,
    rows_of_faces,
    tile_bytes,
)

Array = NDArray[Any]

_TILES_AT_ONCE = 64
"""So many tiles of float32 numbers stay in the cache of a core of the machine."""
_KEPT_FACTORS = 4096
"""Factors that are kept, each of 20 KiB; the oldest go."""
_PRODUCTS_AT_ONCE = 8
"""So many tiles do with their products."""


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


class Packed:
    """A page that the packer made of a tile of DST, added to what was there if it was so set up."""

    __slots__ = ("data", "data_type", "level", "node", "onto", "pack", "size")

    def __init__(
        self,
        node: Tile,
        data_type: DataType,
        pack: Callable[[Array], Array],
        onto: Page | None = None,
    ) -> None:
        """`pack` makes the bytes of a tile of its numbers, which are added to `onto`."""
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


Page = Fetched | Packed


class Operand:
    """A tile in a source register: a page of a circular buffer, read for a use."""

    __slots__ = ("form", "page", "reader")

    def __init__(self, page: Page, reader: TileReader, form: int) -> None:
        """See `TileReader.read`."""
        self.page = page
        self.reader = reader
        self.form = form

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for tiles that are decoded alike."""
        return self.reader.variant, self.form


class Node:
    """How the numbers of a tile of DST are found; `level` counts pages that were packed before."""

    __slots__ = ("inputs", "level")

    def __init__(self, *inputs: Operand) -> None:
        """From these operands."""
        self.inputs = inputs
        self.level = 1 + max((each.page.level for each in inputs), default=0)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for nodes that are computed together."""
        return (type(self), *(each.key for each in self.inputs))

    def compute(self, *operands: Array) -> Array:
        """Numbers in the order of memory, a row for each tile, of those of the operands."""
        raise NotImplementedError


class Copied(Node):
    """An operand as it is."""

    __slots__ = ()

    def compute(self, *operands: Array) -> Array:
        """The same numbers."""
        return operands[0]


class Combined(Node):
    """A sum or difference."""

    __slots__ = ("function", "register")

    def __init__(
        self, function: Callable[..., Array], register: Register, a: Operand, b: Operand
    ) -> None:
        """See `numerics.combine`."""
        super().__init__(a, b)
        self.function = function
        self.register = register

    @property
    def key(self) -> tuple[object, ...]:
        """Of the same function."""
        return (*super().key, self.function, self.register)

    def compute(self, *operands: Array) -> Array:
        """The matrix unit's sum."""
        a, b = operands
        found = np.empty(a.shape, np.float32)
        numerics.combine(self.function, a, b, self.register, found)
        return found


class Multiplied(Node):
    """A product, number by number, in a tile of DST that was free."""

    __slots__ = ("fidelity", "register")

    def __init__(self, fidelity: MathFidelity, register: Register, a: Operand, b: Operand) -> None:
        """See `numerics.multiply`."""
        super().__init__(a, b)
        self.fidelity = fidelity
        self.register = register

    @property
    def key(self) -> tuple[object, ...]:
        """Of the same fidelity."""
        return (*super().key, self.fidelity, self.register)

    def compute(self, *operands: Array) -> Array:
        """The matrix unit's product, tile by tile: it looks for numbers that are not ordinary."""
        return np.stack(
            [
                numerics.multiply(a, b, self.fidelity, self.register)
                for a, b in zip(*operands, strict=True)
            ]
        )


class Chain:
    """Matrix products that are added to a tile of DST one after another.

    `is_read` once somebody has looked: what is added later makes another chain.
    """

    __slots__ = ("fidelity", "is_read", "level", "products", "register", "start")

    def __init__(self, start: Tile | None, fidelity: MathFidelity, register: Register) -> None:
        """Onto what is in the tile, or onto zeros."""
        self.start = start
        self.fidelity = fidelity
        self.register = register
        self.products: list[tuple[Operand, Operand]] = []
        self.is_read = False
        self.level = 1 if start is None else start.level

    def add(self, a: Operand, b: Operand) -> None:
        """Add a product, of SrcA and SrcB."""
        self.products.append((a, b))
        self.level = max(self.level, 1 + a.page.level, 1 + b.page.level)

    @property
    def key(self) -> tuple[object, ...]:
        """Of equally many products."""
        start = None if self.start is None else self.start.key
        return len(self.products), self.fidelity, self.register, start


Tile = Node | Chain


class Evaluation:
    """Computes the pages that a group packed."""

    def __init__(self, num_cores: int) -> None:
        """For a group of so many cores."""
        self._num_cores = num_cores
        self._pages_at_once = -(-_TILES_AT_ONCE // num_cores)
        self._factors: dict[tuple[object, ...], Factor] = {}
        """Of tiles of memories that nobody writes."""

    def compute(self, pages: Iterable[Packed]) -> None:
        """Find the bytes of pages; those that they were made of come with them or are known."""
        levels: dict[int, dict[tuple[object, ...], list[Packed]]] = {}
        for page in pages:
            node = page.node
            assert node is not None, "a page is computed once"
            key = page.data_type, page.pack, page.onto is None, *node.key
            levels.setdefault(page.level, {}).setdefault(key, []).append(page)
        for level in sorted(levels):
            for alike in levels[level].values():
                for first in range(0, len(alike), self._pages_at_once):
                    self._compute_alike(alike[first : first + self._pages_at_once])

    def _compute_alike(self, pages: Sequence[Packed]) -> None:
        nodes = [page.node for page in pages if page.node is not None]
        numbers = self._numbers(nodes)
        first = pages[0]
        if first.data_type in BLOCK_FLOATS:
            data = np.stack([first.pack(row) for row in numbers])
        else:
            data = first.pack(numbers.reshape(-1)).reshape(len(numbers), -1)
        there = [page.onto.read() for page in pages if page.onto is not None]
        if there:
            data = _accumulate(np.concatenate(there), data, first.data_type)
        cores = self._num_cores
        for place, page in enumerate(pages):
            page.data = data[place * cores : (place + 1) * cores]
            page.node = page.onto = None

    def _numbers(self, nodes: Sequence[Tile]) -> Array:
        """The tiles of nodes that are alike, in the order of memory, a row for each."""
        first = nodes[0]
        if isinstance(first, Node):
            alike = [node for node in nodes if isinstance(node, Node)]
            columns = zip(*(node.inputs for node in alike), strict=True)
            return first.compute(*map(_decode, columns))
        chains = [node for node in nodes if isinstance(node, Chain)]
        return self._add_products(chains)

    def _add_products(self, chains: Sequence[Chain]) -> Array:
        first = chains[0]
        queues: list[list[numerics.Product]] = []
        for chain in chains:
            columns = [
                list(zip(self._find_factors(a), self._find_factors(b), strict=True))
                for a, b in chain.products
            ]
            queues += map(list, zip(*columns, strict=True))
        if first.start is None:
            rows = np.zeros((len(queues), 32, 32), np.float32)
        else:
            starts = [chain.start for chain in chains if chain.start is not None]
            rows = np.stack([rows_of_faces(each) for each in self._numbers(starts)])
        tiles = list(rows)
        for start in range(0, len(queues[0]), LONGEST_CHAIN):
            part = slice(start, start + LONGEST_CHAIN)
            for place in range(0, len(tiles), _PRODUCTS_AT_ONCE):
                some = slice(place, place + _PRODUCTS_AT_ONCE)
                parts = [queue[part] for queue in queues[some]]
                numerics.add_products(tiles[some], parts, first.fidelity, first.register)
        return np.stack([faces_of_rows(tile) for tile in tiles])

    def _find_factors(self, operand: Operand) -> list[Factor]:
        page, reader, form = operand.page, operand.reader, operand.form
        if isinstance(page, Packed):
            return [reader.decode(row, form) for row in page.read()]
        known = self._factors
        found: list[Factor] = []
        for memory, source in zip(page.memories, page.sources, strict=True):
            key = id(memory), source, reader.variant, form
            factor = known.get(key)
            if factor is None:
                data = np.frombuffer(memory.read(source, page.size), np.uint8)
                if len(known) >= _KEPT_FACTORS:
                    del known[next(iter(known))]
                factor = known[key] = reader.decode(data, form)
            found.append(factor)
        return found


def _accumulate(there: Array, data: Array, data_type: DataType) -> Array:
    """Packed tiles added to those that are there, a row for each."""
    if data_type in BLOCK_FLOATS:
        return np.stack([accumulate(*each, data_type) for each in zip(there, data, strict=True)])
    return accumulate(there.reshape(-1), data.reshape(-1), data_type).reshape(data.shape)


def _decode(operands: Sequence[Operand]) -> Array:
    """The numbers of operands that are decoded alike, a row for each tile."""
    reader, form = operands[0].reader, operands[0].form
    data = np.concatenate([each.page.read() for each in operands])
    if reader.data_type in BLOCK_FLOATS or form & ARRANGEMENT:
        return np.stack([reader.decode(row, form) for row in data])
    return reader.decode(data.reshape(-1), form).reshape(len(data), TILE_VOLUME)
