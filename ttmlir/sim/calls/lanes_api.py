"""The vector unit as sfpi's classes drive it: instructions on vectors of 32 lanes.

Vector k of a face, k from 0 to 7, is its rows 4 * (k // 2) to 4 * (k // 2) + 3, of which it has the
even columns if k is even and the odd ones if it is odd; lane l is the row l // 8 of these and the
column 2 * (l % 8) + k % 2. Vector i of DST, counted from the place that the unit stands at, is
vector i % 8 of face i // 8 % 4 of tile i // 32.

Each lane takes part or not: assignments and stores leave the others as they are. In device numerics
denormal results are 0, and stores cut off what the format of DST has no bits for. Integers are in
two's complement, save where a function says that they have a sign bit. Sources:
tt-isa-documentation, WormholeB0/TensixTile/TensixCoprocessor (VectorUnit.md, SFPLOAD.md,
SFPSTORE.md, SFPSETCC.md, SFPSTOCHRND.md, SFPCAST.md); sfpi, include/{sfpi,wormhole/sfpi_hw}.h.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ttmlir.optable.kernel import find_row
from ttmlir.optable.kernel.cpp_calls.lanes import ORDERS, PREFIX
from ttmlir.sim.calls.columns_api import ColumnsApi
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.calls.declaration import kernel_call
from ttmlir.sim.execution.thread import KernelThread
from ttmlir.sim.machine.core import Core
from ttmlir.sim.machine.numerics import Register, round_to, to_source
from ttmlir.sim.options import SimOptions

Array = NDArray[Any]

LANES = 32
"""Lanes of a vector, and vectors of a tile."""

_FACE = 8
"""Vectors of a face."""
_MOST_NESTED = 8
"""How many sets of lanes the unit remembers (SFPPUSHC.md)."""
_REGISTERS = 8
_CONSTANTS = 3
_SMALLEST_NORMAL = np.float32(2.0**-126)
_SIGN = np.int32(-1 << 31)
_MAGNITUDE = np.int32(0x7FFFFFFF)
_FREE_CONSTANTS = frozenset((0.0, 1.0, -1.0, float(np.float32(0.8373))))
"""Those that a register holds anyway (sfpi_hw.h: `vConst0`, ...)."""
_COMPARE: tuple[Callable[[Array, Array], Array], ...] = tuple(
    {
        "<": operator.lt,
        "<=": operator.le,
        ">": operator.gt,
        ">=": operator.ge,
        "==": operator.eq,
        "!=": operator.ne,
    }[order]
    for order in ORDERS
)


def _find_places() -> tuple[Array, ...]:
    """Where in a tile, in the order of memory, the lanes of each of its vectors are."""
    tile = np.arange(1024).reshape(4, 16, 16)
    return tuple(
        tile[face, row : row + 4, column::2].ravel()
        for face in range(4)
        for row in range(0, 16, 4)
        for column in range(2)
    )


_PLACES = _find_places()


class LanesApi(ColumnsApi):
    """What the classes of sfpi's header do; kernels cannot name these calls themselves."""

    def __init__(
        self, core: Core, thread: KernelThread, options: SimOptions, settings: ComputeSettings
    ) -> None:
        """A unit that stands at the first tile, with all lanes."""
        super().__init__(core, thread, options, settings)
        self._face = 0
        self._place = 0
        self._lanes: Array | None = None
        """Those that take part; None: all."""
        self._around: list[Array | None] = []
        """Those that take part around each of the conditions that are open."""
        self._before: list[Array | None] = []
        """Those that the branches of each of these conditions share."""
        self._registers = np.zeros((_REGISTERS, LANES), np.int32)
        self._constants = np.zeros((_CONSTANTS, LANES), np.int32)
        self._checked: set[tuple[int, str]] = set()
        self._started: tuple[int, int] | None = None
        """How many conditions were open when a function was started, and the clock then."""
        self._cycles = 0
        self._last_product: Array | None = None

    # --- Where the unit stands ------------------------------------------------------------------

    @kernel_call()
    def builtin_sfpi_start(self, tile: int) -> None:
        """Stand at a tile, to call a function on its faces."""
        if self._started is not None:
            raise self.thread.error(
                "a function of the vector unit starts another one; call it directly", rule="sfpi"
            )
        self.check_tile(tile, "write")
        self._face = self._place = LANES * tile
        self._started = (len(self._around), self.thread.clock)
        self._cycles = 0
        self._checked = set()

    @kernel_call()
    def builtin_sfpi_next_face(self, count: int) -> None:
        """Stand so many faces further on, wherever the function has moved the unit to."""
        self._check_conditions()
        self._face += _FACE * count
        self._place = self._face

    @kernel_call()
    def builtin_sfpi_finish(self) -> None:
        """Stand at the first tile again; only the instructions of the function take time.

        The processor hands them over while the unit computes.
        """
        self._check_conditions()
        assert self._started is not None, "the header starts what it finishes"
        if self.timed:
            self.thread.clock = self._started[1] + self._cycles
        self._started = None
        self._face = self._place = 0

    def _check_conditions(self) -> None:
        before = 0 if self._started is None else self._started[0]
        if len(self._around) == before:
            return
        del self._around[before:], self._before[before:]
        self._lanes = None
        raise self.thread.error(
            "the function leaves a v_if or v_block before its end; 'return', 'break' and "
            "'continue' in one concern all lanes: write them behind v_endif",
            rule="sfpi",
        )

    @kernel_call()
    def builtin_sfpi_advance(self, count: int) -> None:
        """`dst_reg += count`."""
        self._place += _signed(count)
        self._take("advance")

    def _take(self, name: str) -> None:
        """Account for an instruction."""
        cycles = _cost(name)
        self._cycles += cycles
        if self._started is None:
            self.spend(cycles)

    def _find(self, index: int, kind: Literal["read", "write"]) -> tuple[Array, Array]:
        """A tile with the places of a vector in it."""
        tile, vector = divmod(self._place + _signed(index), LANES)
        if (tile, kind) not in self._checked:
            if not 0 <= tile < self.dst.capacity:
                raise self.thread.error(
                    f"dst_reg[{_signed(index)}] is vector {vector} of tile {tile} of DST, where a "
                    f"thread sees the tiles 0 to {self.dst.capacity - 1}; each has {LANES} vectors",
                    rule="dst-bounds",
                )
            self.check_tile(tile, kind)
            if self._started is not None:
                self._checked.add((tile, kind))
        return self.dst.math.faces(tile), _PLACES[vector]

    @kernel_call()
    def builtin_sfpi_load_floats(self, index: int) -> Array:
        """Numbers of DST."""
        tile, places = self._find(index, "read")
        self._take("load_floats")
        return tile.take(places)

    @kernel_call()
    def builtin_sfpi_load_integers(self, index: int) -> Array:
        """Integers of DST, or the bits of its numbers as float32."""
        tile, places = self._find(index, "read")
        self._take("load_integers")
        return tile.take(places).view(np.int32)

    @kernel_call()
    def builtin_sfpi_store_floats(self, index: int, values: Array) -> None:
        """Numbers to DST, cut to its format."""
        tile, places = self._find(index, "write")
        register = self.dst.register
        if not self.exact and register is not Register.FP32:
            values = to_source(values, register)
        self._put_lanes(tile, places, values)
        self._take("store_floats")

    @kernel_call()
    def builtin_sfpi_store_integers(self, index: int, values: Array) -> None:
        """Integers to DST; one of 16 bits takes them for the bits of float32."""
        self.builtin_sfpi_store_floats(index, values.view(np.float32))

    def _put_lanes(self, tile: Array, places: Array, values: Array) -> None:
        lanes = self._lanes
        if lanes is None:
            tile[places] = values
        else:
            tile[places[lanes]] = values[lanes]

    # --- Lanes that take part -------------------------------------------------------------------

    @kernel_call()
    def builtin_sfpi_begin_if(self, condition: Array) -> None:
        """`v_if`: only lanes in which a condition holds."""
        self._open()
        self._narrow(condition)
        self._take("begin_if")

    @kernel_call()
    def builtin_sfpi_begin_block(self) -> None:
        """`v_block`: a place for `v_and`."""
        self._open()
        self._take("begin_block")

    def _open(self) -> None:
        if len(self._around) == _MOST_NESTED:
            raise self.thread.error(
                f"more than {_MOST_NESTED} v_if and v_block in each other, which is what the "
                "vector unit remembers",
                rule="sfpi",
            )
        self._around.append(self._lanes)
        self._before.append(self._lanes)

    def _narrow(self, condition: Array) -> None:
        lanes = self._lanes
        self._lanes = condition if lanes is None else lanes & condition

    @kernel_call()
    def builtin_sfpi_narrow(self, condition: Array) -> None:
        """`v_and`: of the lanes those in which a condition holds, too."""
        if not self._around:
            raise self.thread.error("v_and stands outside of v_if and v_block", rule="sfpi")
        self._narrow(condition)
        self._take("narrow")

    @kernel_call()
    def builtin_sfpi_begin_else(self) -> None:
        """`v_else`: the lanes that took no part in the branches before it."""
        before, lanes = self._before[-1], self._lanes
        assert lanes is not None, "a condition comes before"
        self._lanes = ~lanes if before is None else before & ~lanes
        self._take("begin_else")

    @kernel_call()
    def builtin_sfpi_begin_elseif(self, condition: Array) -> None:
        """`v_elseif`, behind `v_else`: of these lanes those in which a condition holds."""
        self._before[-1] = self._lanes
        self._narrow(condition)
        self._take("begin_elseif")

    @kernel_call()
    def builtin_sfpi_end_if(self) -> None:
        """`v_endif` and `v_endblock`: the lanes of before."""
        self._lanes = self._around.pop()
        self._before.pop()
        self._take("end_if")

    @kernel_call()
    def builtin_sfpi_assign_floats(self, old: Array, new: Array) -> Array:
        """New numbers in lanes that take part."""
        return self._assign(old, new)

    @kernel_call()
    def builtin_sfpi_assign_integers(self, old: Array, new: Array) -> Array:
        """New integers in lanes that take part."""
        return self._assign(old, new)

    def _assign(self, old: Array, new: Array) -> Array:
        return new if self._lanes is None else np.where(self._lanes, new, old)

    # --- Constants and registers ----------------------------------------------------------------

    @kernel_call()
    def builtin_sfpi_fill_floats(self, value: float) -> Array:
        """The same number in all lanes; those of 32 bits take two instructions to load."""
        number = np.float32(value)
        if float(number) not in _FREE_CONSTANTS:
            is_short = not int(number.view(np.int32)) & 0xFFFF
            self._cycles += 1 if is_short else 2
        return np.full(LANES, number)

    @kernel_call()
    def builtin_sfpi_fill_integers(self, value: int) -> Array:
        """The same integer in all lanes."""
        number = _signed(value)
        if number:
            self._cycles += 1 if -(1 << 15) <= number < 1 << 16 else 2
        return np.full(LANES, number, np.int32)

    @kernel_call()
    def builtin_sfpi_lane_numbers(self) -> Array:
        """`vConstTileId`: twice the number of each lane."""
        return np.arange(0, 2 * LANES, 2, dtype=np.int32)

    @kernel_call()
    def builtin_sfpi_read_register(self, number: int) -> Array:
        """What a register holds that the kernel names."""
        return self._registers[self._number(number, _REGISTERS, "l_reg")].copy()

    @kernel_call()
    def builtin_sfpi_write_register(self, number: int, values: Array) -> None:
        """Change such a register."""
        register = self._registers[self._number(number, _REGISTERS, "l_reg")]
        register[:] = self._assign(register, values)
        self._take("write_register")

    @kernel_call()
    def builtin_sfpi_read_constant(self, number: int) -> Array:
        """A constant that kernels can set."""
        return self._constants[self._number(number, _CONSTANTS, "vConstPrgm")].copy()

    @kernel_call()
    def builtin_sfpi_write_constant(self, number: int, values: Array) -> None:
        """Set it, whatever lanes take part."""
        self._constants[self._number(number, _CONSTANTS, "vConstPrgm")] = values
        self._take("write_constant")

    def _number(self, number: int, count: int, name: str) -> int:
        if not 0 <= _signed(number) < count:
            message = f"{name} {_signed(number)}: there are those from 0 to {count - 1}"
            raise self.thread.error(message, rule="sfpi")
        return number

    # --- Floating-point numbers -----------------------------------------------------------------

    @kernel_call()
    def builtin_sfpi_add_floats(self, a: Array, b: Array) -> Array:
        """Sums; with a product that was just computed they are one instruction."""
        self._add_up(a, b, "add_floats")
        return self._finish(a + b)

    @kernel_call()
    def builtin_sfpi_subtract_floats(self, a: Array, b: Array) -> Array:
        """Differences, likewise."""
        self._add_up(a, b, "subtract_floats")
        return self._finish(a - b)

    def _add_up(self, a: Array, b: Array, name: str) -> None:
        product = self._last_product
        self._last_product = None
        if product is None or (product is not a and product is not b):
            self._take(name)

    @kernel_call()
    def builtin_sfpi_multiply_floats(self, a: Array, b: Array) -> Array:
        """Products."""
        self._take("multiply_floats")
        self._last_product = product = self._finish(a * b)
        return product

    def _finish(self, values: Array) -> Array:
        """Results as the unit computes them."""
        if self.exact:
            return values
        tiny = np.abs(values) < _SMALLEST_NORMAL
        return np.where(tiny, np.copysign(np.float32(0), values), values) if tiny.any() else values

    @kernel_call()
    def builtin_sfpi_negate_floats(self, a: Array) -> Array:
        """The other sign."""
        self._take("negate_floats")
        return -a

    @kernel_call()
    def builtin_sfpi_absolute_floats(self, a: Array) -> Array:
        """Without sign."""
        self._take("absolute_floats")
        return np.abs(a)

    @kernel_call()
    def builtin_sfpi_minimum_floats(self, a: Array, b: Array) -> Array:
        """The smaller ones; of a NaN and a number the number."""
        self._take("minimum_floats")
        return np.fmin(a, b)

    @kernel_call()
    def builtin_sfpi_maximum_floats(self, a: Array, b: Array) -> Array:
        """The larger ones."""
        self._take("maximum_floats")
        return np.fmax(a, b)

    @kernel_call()
    def builtin_sfpi_approximate_reciprocal(self, a: Array) -> Array:
        """1 / a, of which the chip has about 7 bits."""
        self._take("approximate_reciprocal")
        return self._shorten(np.float32(1) / a)

    @kernel_call()
    def builtin_sfpi_approximate_exponential(self, a: Array) -> Array:
        """e^a, likewise."""
        self._take("approximate_exponential")
        return self._shorten(np.exp(a))

    def _shorten(self, values: Array) -> Array:
        return values if self.exact else to_source(self._finish(values), Register.BF16)

    @kernel_call()
    def builtin_sfpi_round_to_fp16a(self, a: Array, mode: int) -> Array:
        """Numbers with 5 bits of exponent and 10 of mantissa, still laid out as float32."""
        self._take("round_to_fp16a")
        finite = np.nan_to_num(self._dither(a, 13, mode), nan=131008.0, posinf=131008.0)
        return round_to(finite.astype(np.float64), Register.FP16).astype(np.float32)

    @kernel_call()
    def builtin_sfpi_round_to_fp16b(self, a: Array, mode: int) -> Array:
        """Numbers with 7 bits of mantissa, laid out as float32: to nearest, ties to even."""
        self._take("round_to_fp16b")
        bits = self._dither(a, 16, mode).view(np.uint32)
        rounded = bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))
        kept = np.where(np.isfinite(a), rounded, bits | np.uint32(np.isnan(a)) << np.uint32(16))
        return (kept & np.uint32(0xFFFF0000)).astype(np.uint32).view(np.float32)

    def _dither(self, a: Array, dropped: int, mode: int) -> Array:
        """With mode 1 the dropped bits round up as often as they are large (SFPSTOCHRND.md)."""
        if not mode:
            return a
        noise = self._random.integers(0, 1 << dropped, LANES).astype(np.uint32)
        bits = a.view(np.uint32)
        lifted = (bits + noise) & np.uint32((1 << 32) - (1 << dropped))
        return np.where(np.isfinite(a), lifted, bits).astype(np.uint32).view(np.float32)

    @kernel_call()
    def builtin_sfpi_round_to_integers(self, a: Array, mode: int, most: int, signed: int) -> Array:
        """Numbers as integers up to `most`, with a sign bit or without their sign."""
        self._take("round_to_integers")
        limit = np.float64(most)
        size = np.minimum(np.nan_to_num(np.abs(a.astype(np.float64)), nan=limit), limit)
        if mode:
            size = np.floor(size + self._random.random(LANES))
        whole = np.minimum(np.rint(size), limit).astype(np.int64).astype(np.int32)
        return np.where(np.signbit(a), whole | _SIGN, whole) if signed else whole

    @kernel_call()
    def builtin_sfpi_floats_of_integers(self, a: Array) -> Array:
        """The numbers that integers with a sign bit are."""
        self._take("floats_of_integers")
        size = (a & _MAGNITUDE).astype(np.float32)
        return np.where(a < 0, -size, size)

    @kernel_call()
    def builtin_sfpi_bits_of_floats(self, a: Array) -> Array:
        """The bits of numbers."""
        return a.view(np.int32)

    @kernel_call()
    def builtin_sfpi_floats_of_bits(self, a: Array) -> Array:
        """The numbers of these bits."""
        return a.view(np.float32)

    # --- Integers -------------------------------------------------------------------------------

    @kernel_call()
    def builtin_sfpi_add_integers(self, a: Array, b: Array) -> Array:
        """Sums."""
        self._take("add_integers")
        return a + b

    @kernel_call()
    def builtin_sfpi_subtract_integers(self, a: Array, b: Array) -> Array:
        """Differences."""
        self._take("subtract_integers")
        return a - b

    @kernel_call()
    def builtin_sfpi_multiply_integers(self, a: Array, b: Array) -> Array:
        """The lower 23 bits of products of 23 bits, which Blackhole has."""
        if not self._on_blackhole:
            raise self.thread.error(
                "the vector unit of Wormhole does not multiply integers; convert them to vFloat, "
                "or shift and add",
                rule="sfpi",
            )
        self._take("multiply_integers")
        low = np.int64(0x7FFFFF)
        return (((a & low) * (b & low)) & low).astype(np.int32)

    @kernel_call()
    def builtin_sfpi_absolute_integers(self, a: Array) -> Array:
        """Without sign."""
        self._take("absolute_integers")
        return np.abs(a)

    @kernel_call()
    def builtin_sfpi_and_integers(self, a: Array, b: Array) -> Array:
        """Bits of both."""
        self._take("and_integers")
        return a & b

    @kernel_call()
    def builtin_sfpi_or_integers(self, a: Array, b: Array) -> Array:
        """Bits of either."""
        self._take("or_integers")
        return a | b

    @kernel_call()
    def builtin_sfpi_xor_integers(self, a: Array, b: Array) -> Array:
        """Bits that differ."""
        self._take("xor_integers")
        return a ^ b

    @kernel_call()
    def builtin_sfpi_invert_integers(self, a: Array) -> Array:
        """The other bits."""
        self._take("invert_integers")
        return ~a

    @kernel_call()
    def builtin_sfpi_count_leading_zeros(self, a: Array) -> Array:
        """The zeros before the first bit that is set."""
        self._take("count_leading_zeros")
        bits = a.view(np.uint32).astype(np.float64)
        return (32 - np.frexp(bits)[1]).astype(np.int32)

    @kernel_call()
    def builtin_sfpi_shift_integers(self, a: Array, count: Array) -> Array:
        """Bits to the left, or to the right for negative counts; zeros come in."""
        self._take("shift_integers")
        return _shift(a.view(np.uint32).astype(np.int64), count)

    @kernel_call()
    def builtin_sfpi_shift_signed(self, a: Array, count: Array) -> Array:
        """The same with copies of the sign from the left, which Blackhole has."""
        if not self._on_blackhole:
            raise self.thread.error(
                "the vector unit of Wormhole shifts zeros in from the left; write "
                "reinterpret<vUInt>(x) >> n for that",
                rule="sfpi",
            )
        self._take("shift_signed")
        return _shift(a.astype(np.int64), count)

    @kernel_call()
    def builtin_sfpi_draw_integers(self) -> Array:
        """Random bits; they are not those of the chip."""
        self._take("draw_integers")
        return self._random.integers(0, 1 << 32, LANES).astype(np.uint32).view(np.int32)

    # --- Comparisons ----------------------------------------------------------------------------

    @kernel_call()
    def builtin_sfpi_compare_floats(self, a: Array, b: Array, order: int) -> Array:
        """In which lanes numbers are in an order."""
        self._take("compare_floats")
        return _COMPARE[order](a, b)

    @kernel_call()
    def builtin_sfpi_compare_integers(self, a: Array, b: Array, order: int) -> Array:
        """In which lanes integers are."""
        self._take("compare_integers")
        return _COMPARE[order](a, b)

    @kernel_call()
    def builtin_sfpi_compare_unsigned(self, a: Array, b: Array, order: int) -> Array:
        """In which lanes integers without sign are."""
        self._take("compare_unsigned")
        return _COMPARE[order](a.view(np.uint32), b.view(np.uint32))

    @kernel_call()
    def builtin_sfpi_and_truths(self, a: Array, b: Array) -> Array:
        """Where both hold."""
        return a & b

    @kernel_call()
    def builtin_sfpi_or_truths(self, a: Array, b: Array) -> Array:
        """Where one holds."""
        self._take("or_truths")
        return a | b

    @kernel_call()
    def builtin_sfpi_invert_truths(self, a: Array) -> Array:
        """Where it does not hold."""
        self._take("invert_truths")
        return ~a

    # --- Lanes among each other -----------------------------------------------------------------

    @kernel_call()
    def builtin_sfpi_rotate_rows(self, a: Array) -> Array:
        """Each row of 8 lanes turned to the right by one."""
        self._take("rotate_rows")
        return np.roll(a.reshape(4, 8), 1, axis=1).ravel()

    @kernel_call()
    def builtin_sfpi_shift_rows(self, a: Array) -> Array:
        """Each row of 8 lanes shifted to the right by one; zeros come in."""
        self._take("shift_rows")
        moved = np.roll(a.reshape(4, 8), 1, axis=1)
        moved[:, 0] = 0
        return moved.ravel()

    @kernel_call()
    def builtin_sfpi_row_of_registers(
        self, a: Array, b: Array, c: Array, d: Array, row: int
    ) -> Array:
        """The row of a number, from 0 to 3, of each of four vectors, below each other."""
        self._take("row_of_registers")
        return np.concatenate([each.reshape(4, 8)[row] for each in (a, b, c, d)])


def _signed(value: int) -> int:
    """A number of 32 bits as one with sign."""
    return (value + (1 << 31) & 0xFFFF_FFFF) - (1 << 31)


def _shift(a: Array, count: Array) -> Array:
    """Numbers of 64 bits shifted, cut to 32 bits; from 32 places on nothing is left of them."""
    places = np.clip(count.astype(np.int64), -32, 32)
    left = a << np.maximum(places, 0)
    shifted = np.where(places < 0, a >> np.maximum(-places, 0), left)
    return (shifted & np.int64(0xFFFF_FFFF)).astype(np.uint32).view(np.int32)


@cache
def _cost(name: str) -> int:
    """Cycles of an instruction, from its row."""
    return find_row(PREFIX + name).cost.math
