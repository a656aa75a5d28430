"""The calls of compute kernels that say how numbers are found, instead of finding them.

Tiles of DST are descriptions (`values`), and so is what the packer makes of them. Clocks, checks
and hand-overs are those of the calls, which have methods of their own for numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttmlir.sim.calls.math_api import MathApi
from ttmlir.sim.calls.pack_api import PackApi, rectify
from ttmlir.sim.calls.unpack_api import POOL_MAX, REDUCE_COL, REDUCE_ROW
from ttmlir.sim.groups.values import Applied, Chain, Operand, Pack, Reduced, Tile
from ttmlir.sim.machine import numerics
from ttmlir.sim.machine.numerics import INTEGERS, Register
from ttmlir.sim.machine.registers import Half, Products
from ttmlir.sim.sanitizer.regular import IrregularError

Array = NDArray[Any]


_PLACES = {REDUCE_ROW: np.s_[:, :, 0], REDUCE_COL: np.s_[:, 0]}
"""What reductions write of tiles: column 0 or row 0."""


class DescribedHalf(Half):
    """A half of DST whose tiles are descriptions."""

    __slots__ = ("values",)

    def __init__(self, products: Products) -> None:
        """No tile; `products` are those of no tile."""
        super().__init__(0, products)
        self.values: dict[int, Tile] = {}

    def written(self, index: int) -> bool:
        """Whether a tile was written since the half was released."""
        return index in self.values

    def clear(self) -> None:
        """Forget all tiles."""
        self.values.clear()
        if self.poisons:
            self.poisons.clear()

    def put(self, index: int, tile: Tile) -> None:
        """Overwrite a tile."""
        self.values[index] = tile
        if self.poisons:
            self.poisons.pop(index, None)

    def faces(self, index: int) -> Any:
        """A tile as it is now."""
        if self.poisons:
            self._tell(index)
        tile = self.values.get(index)
        if tile is None:
            tile = self.values[index] = Applied(_zero, _zero)
        elif isinstance(tile, Chain):
            tile.is_read = True
        return tile

    def forget(self, index: int) -> None:
        """Make a tile zeros."""
        self.values.pop(index, None)
        self.poisons.pop(index, None)

    def new_faces(self, index: int) -> Any:
        """The place of a tile that is overwritten."""
        return self, index

    def rows(self, index: int) -> Any:
        """Refuse: nothing here needs it."""
        raise IrregularError

    new_rows = rows


class DescribingMath(MathApi):
    """The calls of MATH."""

    def _store(self, place: Any, tile: Any) -> None:
        half, index = place
        half.put(index, Applied(_same, "copy", tile))

    def _add(self, half: Any, dst: int, function: Callable[..., Any], a: Any, b: Any) -> None:
        _refuse_integers(a, b)
        register = self.dst.register
        if self._accumulates and half.written(dst):
            if self.exact:
                half.put(dst, Applied(_add_exactly(function), function, half.faces(dst), a, b))
                return

            def combine_onto(tile: Array, a: Array, b: Array) -> Array:
                return numerics.combine_onto(function, tile, a, b, register)

            half.put(dst, Applied(combine_onto, (function, register), half.faces(dst), a, b))
            return
        if self.exact:
            half.put(dst, Applied(function, function, a, b))
            return

        def combine(a: Array, b: Array) -> Array:
            found = np.empty(a.shape, np.float32)
            numerics.combine(function, a, b, register, found)
            return found

        half.put(dst, Applied(combine, (function, register), a, b))

    def _multiply(self, half: Any, dst: int, a: Any, b: Any) -> None:
        _refuse_integers(a, b)
        fidelity, register = settings = self._fidelity, self.dst.register
        if half.written(dst):
            there = half.faces(dst)
            if self.exact:
                half.put(dst, Applied(_multiply_exactly, _multiply_exactly, there, a, b))
                return

            def multiply_onto(tile: Array, a: Array, b: Array) -> Array:
                return numerics.multiply_onto(tile, a, b, fidelity, register)

            half.put(dst, Applied(multiply_onto, settings, there, a, b))
        elif self.exact:
            half.put(dst, Applied(np.multiply, np.multiply, a, b))
        else:

            def multiply(a: Array, b: Array) -> Array:
                return numerics.multiply(a, b, fidelity, register)

            half.put(dst, Applied(multiply, settings, a, b))

    def _moved(self, values: Any, like: Any) -> Any:
        _refuse_integers(like)
        if self.exact:
            return values
        source = self._source

        def move(tiles: Array) -> Array:
            return numerics.to_source(tiles, source)

        return Applied(move, source, values)

    def _pool(self, half: Any, dst: int, pool: int, dimension: int, a: Any, b: Any) -> None:
        largest = pool == POOL_MAX
        _refuse_integers(a, b)
        first = not half.written(dst)
        start = None if first else half.faces(dst)

        def reduce(tiles: Array, a: Sequence[Any], b: Sequence[Any]) -> None:
            for tile, of_a, of_b in zip(tiles, a, b, strict=True):
                if largest:
                    rows = numerics.rows_of_faces(of_a)
                    self._reduce_max(tile, rows, dimension, first=first)
                else:
                    self._reduce_sum(tile, of_a, of_b, dimension)

        kind = largest, dimension, first, self._fidelity, self.dst.register
        half.put(dst, Reduced(reduce, kind, start, a, b, self._reduction(pool, dimension, first)))

    def _reduction(
        self, pool: int, dimension: int, first: bool
    ) -> Callable[[Array, Array, Any], None] | None:
        """A reduction of many tiles; None where they are reduced one by one."""
        if self.exact or self.dst.register is Register.FP16 or dimension not in _PLACES:
            return None
        place = _PLACES[dimension]

        def reduce(tiles: Array, rows: Array, factors: Any) -> None:
            there = tiles[place]
            if pool == POOL_MAX:
                largest = rows.max(axis=1)
                there[:] = largest if first else np.maximum(there, largest)
            else:
                there[:] = self.pool_onto(there, rows, factors, dimension)

        return reduce

    def _apply(
        self,
        function: Callable[..., Any],
        inputs: Sequence[int],
        output: int,
        element: np.dtype[Any],
        kind: Hashable,
        *,
        is_stored: bool = False,
    ) -> None:
        half: Any = self.dst.math
        poisons = half.take_poisons(inputs, output)
        for index in inputs:
            self.check_tile(index, "read")
        self.check_tile(output, "write")

        def compute(*tiles: Array) -> Array:
            result = function(*(tile.view(element) for tile in tiles))
            return (result if is_stored else self.rounded(result, element)).view(np.float32)

        tiles = [half.faces(index) for index in inputs]
        half.put(output, Applied(compute, (kind, element.str, self.dst.register), *tiles))
        for index, poison in poisons.items():
            half.put_poison(index, poison)

    def _multiply_block(self, half: Any, dst: int, a: Any, b: Any) -> None:
        places = ((right, left) for left in b for right in a)
        for place, factors in enumerate(places, dst):
            self._matmul(half, place, *factors)

    def _matmul(self, half: Any, dst: int, a: Any, b: Any) -> None:
        _refuse_integers(a, b)
        there = half.values.get(dst)
        if not isinstance(there, Chain) or there.is_read:
            start = None if there is None else half.faces(dst)
            there = half.values[dst] = Chain(start, self._fidelity, self.dst.register)
        there.add(a, b)


class DescribingPack(PackApi):
    """The calls of PACK, which make a tile and what is done to it of one of DST."""

    packs: dict[tuple[object, ...], Pack]
    """What is done to tiles, by how the packer is set up."""

    def _bytes(self, tile: Any, data_type: Any) -> Any:
        self.tiles_packed += 1
        # By its bits: thresholds of 0 and -0 are two, and NaN is one.
        threshold = int(self._threshold.view(np.uint32))
        setting = data_type, self.dst.register, id(self._kept), self._relu, threshold
        pack = self.packs.get(setting)
        if pack is None:
            relu, least = self._relu, self._threshold
            pack = self.packs[setting] = Pack(
                self._packer(data_type),
                data_type,
                self._kept,
                lambda numbers: rectify(numbers, relu, least),
            )
        return tile, pack


def _zero() -> Array:
    return np.zeros(1, np.float32)


def _same(numbers: Array) -> Array:
    return numbers.view(np.float32)


def _add_exactly(function: Callable[..., Array]) -> Callable[..., Array]:
    def add(tile: Array, a: Array, b: Array) -> Array:
        return tile + function(a, b)

    return add


def _multiply_exactly(tile: Array, a: Array, b: Array) -> Array:
    return tile + a * b


def _refuse_integers(*inputs: Any) -> None:
    """IrregularError for operands whose numbers are integers."""
    if any(isinstance(each, Operand) and each.reader.data_type in INTEGERS for each in inputs):
        raise IrregularError
