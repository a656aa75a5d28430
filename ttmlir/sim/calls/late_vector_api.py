"""Calls of the MATH thread on the vector unit that tt-metal 0.81 has and that are no function of
numbers alone: they remember a number that they were prepared with, go over rows and columns, or
change the kind of numbers.

Source: tt-metal 0.81, the headers of `ttmlir.optable.kernel.late_vector`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttmlir.optable import special
from ttmlir.optable.kernel import NARROW, find_call
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.calls.followed_lanes import FollowedLanesApi
from ttmlir.sim.calls.kernel_api import Template, kernel_call
from ttmlir.sim.calls.lanes_api import INTEGER_FORMATS
from ttmlir.sim.execution.scheduler import KernelThread
from ttmlir.sim.machine.device import Core
from ttmlir.sim.machine.numerics import faces_of_rows, rows_of_faces, store_vector
from ttmlir.sim.options import SimOptions

Array = NDArray[Any]

_SUM, _AVERAGE, _LARGEST, _SMALLEST = range(4)
"""Numbers of tt-metal's PoolType."""
_ROWS, _COLUMNS = 0, 1
"""Numbers of tt-metal's ReduceDim."""
_COLUMN, _ROW, _FIRST = 1, 2, 3
"""Numbers of tt-metal's BroadcastType."""
_TRUNCATED, _FLOOR = 1, 2
"""Numbers of tt-metal's RoundingMode."""
_OPERATIONS: dict[int, Callable[..., Array]] = {0: np.multiply, 2: np.add, 3: np.subtract}
"""Functions by the numbers of tt-metal's EltwiseBinaryType."""
_POOLS: dict[int, Callable[..., Array]] = {
    _SUM: np.sum,
    _AVERAGE: np.sum,
    _LARGEST: np.max,
    _SMALLEST: np.min,
}
_HEIGHT = 32
_ONE = 0x3F80
"""The bits of 1 as a bfloat16."""
_WIDE_AT = 4
"""Which template argument of `exp_tile` says whether DST has 32 bits."""
_MOST_ORDER = 11
"""The highest order that `polygamma_tile` is made for."""


def _float_of(bits: int) -> np.float32:
    return np.uint32(bits & 0xFFFF_FFFF).view(np.float32)


def _exponential(xp: Any, x: Array) -> Array:
    return xp.exp(x)


def _special(name: str) -> Callable[..., Array]:
    """A function of `ttmlir.composites`, on NumPy's arrays; what a run needs not is not loaded."""
    from ttmlir.arrays.carriers import on_numbers
    from ttmlir.composites import bessel, special

    return on_numbers(getattr(bessel if hasattr(bessel, name) else special, name))


def _special_call(name: str) -> Callable[..., None]:
    @kernel_call()
    def call(self: LateVectorApi, dst: int) -> None:
        self.change(f"{name}_tile", dst, _special(name))

    return call


def _quantized_call(name: str, *, from_integers: bool) -> Callable[..., None]:
    @kernel_call()
    def call(self: LateVectorApi, values: int, scale: int, out: int) -> None:
        self.quantize(name, values, scale, out, from_integers=from_integers)

    return call


def _quantized_preparation(name: str, target: str) -> Callable[..., None]:
    @kernel_call()
    def call(self: LateVectorApi, zero_point: int) -> None:
        self.prepare_quantization(name, target, zero_point)

    return call


def _spread_call(name: str, operation: int, part: int) -> Callable[..., None]:
    @kernel_call()
    def call(self: LateVectorApi, dst: int, other: int) -> None:
        self.combine_spread(name, dst, other, operation, part)

    return call


def _spread_preparation(part: str) -> Callable[..., None]:
    @kernel_call()
    def call(self: LateVectorApi) -> None:
        self.prepare_vector(f"sfpu_bcast_{part}_init")

    return call


class LateVectorApi(FollowedLanesApi):
    """The calls."""

    def __init__(
        self, core: Core, thread: KernelThread, options: SimOptions, settings: ComputeSettings
    ) -> None:
        """Nothing is prepared."""
        super().__init__(core, thread, options, settings)
        self._divisor = np.float32(1)
        self._exponent_scale = np.float32(1)
        self._zero_point = np.float32(0)
        self._quantized = "int"
        """As what the prepared quantization stores integers."""

    def change(self, name: str, dst: int, function: Callable[[Array], Array]) -> None:
        """Replace the numbers of a tile by a function of them."""
        definition = find_call(name)
        self.check_vector_prepared(definition)
        poison = self.half.poisons.pop(dst, None)
        with np.errstate(all="ignore"):
            self.put_floats(dst, function(self.tile(dst)))
        self.half.put_poison(dst, poison)
        self.spend(definition.cost.math)

    def put_floats(self, dst: int, values: Array) -> None:
        """Store float32 in a tile."""
        found = np.asarray(values).astype(np.float32, copy=False).reshape(-1)
        rounded = found if self.exact else store_vector(found, self.dst.register)
        self.tile(dst, "write")[:] = rounded

    # --- Remainders -----------------------------------------------------------------------------

    @kernel_call()
    def remainder_tile_init(self, divisor: int, reciprocal: int) -> None:
        """Remember the divisor, given as bits of float32, as is its reciprocal."""
        self._divisor = _float_of(divisor)
        self.prepare_vector("remainder_tile_init")

    @kernel_call()
    def fmod_tile_init(self, divisor: int, reciprocal: int) -> None:
        """Remember the divisor, given as bits of float32, as is its reciprocal."""
        self._divisor = _float_of(divisor)
        self.prepare_vector("fmod_tile_init")

    @kernel_call()
    def remainder_tile(self, dst: int) -> None:
        """With the sign of the divisor."""
        self.change("remainder_tile", dst, lambda x: np.mod(x, self._divisor))

    @kernel_call()
    def fmod_tile(self, dst: int) -> None:
        """With the sign of x."""
        self.change("fmod_tile", dst, lambda x: np.fmod(x, self._divisor))

    @kernel_call()
    def rdiv_tile(self, dst: int, value: int, mode: int = 0, *, template: Template = ()) -> None:
        """A number divided by x; rounded as the mode says."""
        rounding = int(template[0]) if template else 0

        def divide(x: Array) -> Array:
            found = _float_of(value) / x
            if rounding == _FLOOR:
                return np.floor(found)
            return np.trunc(found) if rounding == _TRUNCATED else found

        self.change("rdiv_tile", dst, divide)

    # --- Exponentials -----------------------------------------------------------------------------

    @kernel_call()
    def exp_tile_init(self, *arguments: Any, template: Template = ()) -> None:
        """Prepare exponentials, and remember the factor of the fast form, bits of float32."""
        self.prepare_exponential("exp_tile_init", template)

    def prepare_exponential(self, name: str, template: Template) -> None:
        """The same for the call of a name."""
        scale = int(template[1]) if len(template) > 1 else 0
        self._exponent_scale = _float_of(scale) if scale > 1 else np.float32(1)
        self.prepare_vector(name)

    @kernel_call()
    def exp_tile_since_2026(
        self, dst: int, mode: int = 4, scale: int = _ONE, *, template: Template = ()
    ) -> None:
        """Of x, or of x times a number; the fast form is that of the chip in device numerics."""
        self.exponentiate("exp_tile", dst, scale, template)

    def exponentiate(self, name: str, dst: int, scale: int, template: Template) -> None:
        """The same by the call of a name; `scale` is the bits of a bfloat16."""
        is_fast, is_scaled = (*map(bool, template[:2]), False, False)[:2]
        # The fast form has the factor of its preparation in its constants, asked for or not.
        factor = self._exponent_scale if is_fast else _float_of(scale << 16)
        is_scaled = is_scaled or (is_fast and factor != 1)
        self.check_vector_prepared(find_call(name))
        definition = find_call("exp_tile")
        assert definition.approximation is not None, "the table has it"
        cost = definition.approximation.cost if is_fast else definition.cost
        # The last template argument is `is_fp32_dest_acc_en`, that of the kernel by default.
        is_narrow = not is_fast and len(template) > _WIDE_AT and not template[_WIDE_AT]
        function = special.fast_exp if is_fast and not self.exact else _exponential
        if not (self.exact or is_scaled):
            form = "_approximate" if is_fast else f"_{NARROW}" if is_narrow else ""
            on_card = self.find_on_card(f"exp{form}", 1, {})
            if on_card is not None:
                self.apply_stored(on_card, dst)
                self.spend_on_math(cost, narrow=is_narrow)
                return
        kind = function, float(factor) if is_scaled else None

        def compute(x: Array) -> Array:
            return function(np, x * factor if is_scaled else x)

        self._apply(compute, [dst], dst, np.dtype(np.float32), kind)
        self.spend_on_math(cost, narrow=is_narrow)

    # --- Special functions ----------------------------------------------------------------------

    i0_tile = _special_call("i0")
    i1_tile = _special_call("i1")
    digamma_tile = _special_call("digamma")

    @kernel_call()
    def polygamma_tile(self, dst: int, order: int, scale: int) -> None:
        """Of an order from 1 to 11, given as bits of float32, as is (-1)^(n + 1) * n!."""
        number = float(_float_of(order))
        if not (number.is_integer() and 1 <= number <= _MOST_ORDER):
            raise self.thread.error(
                f"polygamma_tile of order {number:g}; there are orders 1 to {_MOST_ORDER}, given "
                "as bits of float32",
                rule="arguments",
            )
        zeta = _special("zeta")
        factor = float(_float_of(scale))
        self.change(
            "polygamma_tile",
            dst,
            lambda x: factor * zeta(np.full(x.shape, number + 1), x.astype(np.float64)),
        )

    @kernel_call()
    def stochastic_round_tile(self, dst: int) -> None:
        """16 random bits are added below the 16 that stay; they are not those of the chip."""

        def round_up_or_down(x: Array) -> Array:
            bits = x.view(np.uint32)
            drawn = self._random.integers(0, 1 << 16, bits.shape, np.uint32)
            rounded = ((bits + drawn) & np.uint32(0xFFFF_0000)).view(np.float32)
            return np.where(np.isfinite(x), rounded, x)

        self.change("stochastic_round_tile", dst, round_up_or_down)

    # --- Two tiles ------------------------------------------------------------------------------

    @kernel_call()
    def div_int32_tile(self, x: int, y: int, out: int) -> None:
        """Integers divided: a floating-point number."""
        definition = find_call("div_int32_tile")
        self.check_vector_prepared(definition)
        a, b = (self.tile(each).view(np.int32).astype(np.float64) for each in (x, y))
        with np.errstate(all="ignore"):
            self.put_floats(out, a / b)
        self.spend(definition.cost.math)

    @kernel_call()
    def isclose_binary_tile(
        self, x: int, y: int, out: int, relative: int, absolute: int, *, template: Template = ()
    ) -> None:
        """1 where two numbers are as near to each other as two tolerances, as bits, allow."""
        definition = find_call("isclose_binary_tile")
        self.check_vector_prepared(definition)
        a, b = self.tile(x), self.tile(y)
        with np.errstate(all="ignore"):
            allowed = _float_of(absolute) + _float_of(relative) * np.abs(b)
            near = np.where(np.isfinite(a) & np.isfinite(b), np.abs(a - b) <= allowed, a == b)
        if template and template[0]:
            near |= np.isnan(a) & np.isnan(b)
        self.put_floats(out, near)
        self.spend(definition.cost.math)

    # --- Quantization ---------------------------------------------------------------------------

    def prepare_quantization(self, name: str, target: str, zero_point: int) -> None:
        """Remember the zero point, as bits of float32, and as what integers are stored."""
        self._zero_point = _float_of(zero_point)
        self._quantized = target
        self.prepare_vector(name)

    def quantize(
        self, name: str, values: int, scale: int, out: int, *, from_integers: bool
    ) -> None:
        """Numbers or integers to integers of 8 bits; `dequant` gives floating-point numbers."""
        definition = find_call(name)
        kind = name.partition("_")[0]
        if not any(each.startswith(f"{kind}_") for each in self._vector_prepared):
            self.check_vector_prepared(definition)
        factor = self.tile(scale)
        given = self.tile(values)
        x = given.view(np.int32).astype(np.float32) if from_integers else given
        with np.errstate(all="ignore"):
            if kind == "dequant":
                self.put_floats(out, (x + self._zero_point) * factor)
            else:
                low, high = (0, 255) if self._quantized == "uint8" else (-128, 127)
                found = np.rint(x * factor + self._zero_point)
                whole = np.clip(np.nan_to_num(found), low, high).astype(np.int32)
                self.tile(out, "write").view(np.int32)[:] = whole
        self.spend(definition.cost.math)

    quant_tile_init = _quantized_preparation("quant_tile_init", "int")
    quant_uint8_tile_init = _quantized_preparation("quant_uint8_tile_init", "uint8")
    quant_int8_tile_init = _quantized_preparation("quant_int8_tile_init", "int8")
    requant_tile_init = _quantized_preparation("requant_tile_init", "int")
    requant_uint8_tile_init = _quantized_preparation("requant_uint8_tile_init", "uint8")
    requant_int8_tile_init = _quantized_preparation("requant_int8_tile_init", "int8")
    requant_int8_in_tile_init = _quantized_preparation("requant_int8_in_tile_init", "int")
    requant_int8_in_uint8_out_tile_init = _quantized_preparation(
        "requant_int8_in_uint8_out_tile_init", "uint8"
    )
    requant_int8_in_int8_out_tile_init = _quantized_preparation(
        "requant_int8_in_int8_out_tile_init", "int8"
    )
    dequant_tile_init = _quantized_preparation("dequant_tile_init", "float")
    dequant_int8_tile_init = _quantized_preparation("dequant_int8_tile_init", "float")
    quant_tile = _quantized_call("quant_tile", from_integers=False)
    quant_int8_tile = _quantized_call("quant_int8_tile", from_integers=False)
    requant_tile = _quantized_call("requant_tile", from_integers=True)
    requant_int8_tile = _quantized_call("requant_int8_tile", from_integers=True)
    requant_int8_in_tile = _quantized_call("requant_int8_in_tile", from_integers=True)
    requant_int8_in_int8_out_tile = _quantized_call(
        "requant_int8_in_int8_out_tile", from_integers=True
    )
    dequant_tile = _quantized_call("dequant_tile", from_integers=True)
    dequant_int8_tile = _quantized_call("dequant_int8_tile", from_integers=True)

    # --- A part of a tile, spread ---------------------------------------------------------------

    def combine_spread(self, name: str, dst: int, other: int, operation: int, part: int) -> None:
        """A tile and a part of another one, spread, into the first."""
        definition = find_call(name)
        self.check_vector_prepared(definition)
        if operation not in _OPERATIONS or not _COLUMN <= part <= _FIRST:
            raise self.thread.error(
                f"{name} of operation {operation} and part {part}; there are ELWADD, ELWSUB and "
                "ELWMUL, and COL, ROW and SCALAR",
                rule="template",
            )
        with np.errstate(all="ignore"):
            found = _OPERATIONS[operation](self._rows_of(dst), self._spread_part(other, part))
        self.put_floats(dst, faces_of_rows(found))
        self.spend(definition.cost.math)

    def _rows_of(self, dst: int) -> Array:
        return np.array(rows_of_faces(self.tile(dst)))

    def _spread_part(self, dst: int, part: int) -> Array:
        rows = self._rows_of(dst)
        if part == _COLUMN:
            return rows[:, :1]
        return rows[:1] if part == _ROW else rows[:1, :1]

    @kernel_call()
    def sfpu_bcast(self, dst: int, other: int, *, template: Template = ()) -> None:
        """The part and the operation are template arguments."""
        part, operation = self.numbers_of("sfpu_bcast", template, 2)
        self.combine_spread("sfpu_bcast", dst, other, operation, part)

    sfpu_sub_bcast_col_init = _spread_preparation("col")
    sfpu_add_bcast_col_init = _spread_preparation("col")
    sfpu_mul_bcast_col_init = _spread_preparation("col")
    sfpu_sub_bcast_row_init = _spread_preparation("row")
    sfpu_add_bcast_row_init = _spread_preparation("row")
    sfpu_mul_bcast_row_init = _spread_preparation("row")
    sfpu_sub_bcast_col = _spread_call("sfpu_sub_bcast_col", 3, _COLUMN)
    sfpu_add_bcast_col = _spread_call("sfpu_add_bcast_col", 2, _COLUMN)
    sfpu_mul_bcast_col = _spread_call("sfpu_mul_bcast_col", 0, _COLUMN)
    sfpu_sub_bcast_row = _spread_call("sfpu_sub_bcast_row", 3, _ROW)
    sfpu_add_bcast_row = _spread_call("sfpu_add_bcast_row", 2, _ROW)
    sfpu_mul_bcast_row = _spread_call("sfpu_mul_bcast_row", 0, _ROW)

    def _normalize(self, name: str, dst: int, mean: int, factor: int, part: int) -> None:
        definition = find_call(name)
        self.check_vector_prepared(definition)
        with np.errstate(all="ignore"):
            found = self._rows_of(dst) - self._spread_part(mean, part)
            found = found * self._spread_part(factor, part)
        self.put_floats(dst, faces_of_rows(found))
        self.spend(definition.cost.math)

    @kernel_call()
    def sfpu_normalize_bcast_col(self, dst: int, mean: int, factor: int) -> None:
        """(x - column 0 of a tile) * column 0 of another one."""
        self._normalize("sfpu_normalize_bcast_col", dst, mean, factor, _COLUMN)

    @kernel_call()
    def sfpu_normalize_bcast_col_two_tiles(
        self, dst: int, second: int, mean: int, factor: int
    ) -> None:
        """The same of two tiles."""
        for each in (dst, second):
            self._normalize("sfpu_normalize_bcast_col", each, mean, factor, _COLUMN)

    @kernel_call()
    def sfpu_residual_normalize_bcast_col(
        self, dst: int, residual: int, mean: int, factor: int
    ) -> None:
        """The same of the sum of two tiles."""
        self.put_floats(dst, self.tile(dst) + self.tile(residual))
        self._normalize("sfpu_residual_normalize_bcast_col", dst, mean, factor, _COLUMN)

    @kernel_call()
    def sfpu_normalize_bcast_scalar(self, dst: int, mean: int, factor: int) -> None:
        """(x - first number of a tile) * first number of another one."""
        self._normalize("sfpu_normalize_bcast_scalar", dst, mean, factor, _FIRST)

    # --- Rows and columns -----------------------------------------------------------------------

    @kernel_call()
    def sfpu_reduce(
        self, dst: int, ct_dim: int = 1, rt_dim: int = 1, *, template: Template = ()
    ) -> None:
        """Columns of a tile into row 0, rows of a block of tiles into column 0 of its first."""
        definition = find_call("sfpu_reduce")
        self.check_vector_prepared(definition)
        pool, format_ = self.numbers_of("sfpu_reduce", template, 2)
        dimension = int(template[2]) if len(template) > 2 else _COLUMNS
        is_wrong = dimension == _COLUMNS and (ct_dim, rt_dim) != (1, 1)
        if is_wrong or dimension not in (_ROWS, _COLUMNS) or (dimension, pool) == (_ROWS, _AVERAGE):
            raise self.thread.error(
                "sfpu_reduce takes a single tile to reduce columns, and a block to reduce rows, of "
                "which it computes SUM, MAX and MIN",
                rule="template",
            )
        element = np.dtype(np.float32)
        if format_ in INTEGER_FORMATS:
            is_signed = INTEGER_FORMATS[format_].kind == "i"
            element = np.dtype(np.int32 if is_signed else np.uint32)
        for row in range(rt_dim):
            numbers = [dst + row * ct_dim + column for column in range(ct_dim)]
            rows = np.concatenate([self._rows_of(each) for each in numbers], axis=1).view(element)
            axis = 0 if dimension == _COLUMNS else 1
            found = _POOLS[pool](rows, axis=axis)
            if pool == _AVERAGE:
                found = found / _HEIGHT if element.kind == "f" else found // _HEIGHT
            tile = self._rows_of(numbers[0])
            place = tile[0] if axis == 0 else tile[:, 0]
            place.view(element)[:] = found.astype(element)
            if element.kind == "f":
                self.put_floats(numbers[0], faces_of_rows(tile))
            else:
                self.tile(numbers[0], "write")[:] = faces_of_rows(tile).reshape(-1)
        self.spend(definition.cost.math * ct_dim * rt_dim)

    @kernel_call()
    def sfpu_add_top_row(self, x: int, y: int, out: int, *, template: Template = ()) -> None:
        """Rows 0 to 3 of two tiles added, into those of a third."""
        definition = find_call("sfpu_add_top_row")
        self.check_vector_prepared(definition)
        (format_,) = self.numbers_of("sfpu_add_top_row", template, 1)
        element = np.dtype(np.int32 if format_ in INTEGER_FORMATS else np.float32)
        a, b, tile = (self._rows_of(each) for each in (x, y, out))
        tile[:4].view(element)[:] = a[:4].view(element) + b[:4].view(element)
        self.tile(out, "write")[:] = faces_of_rows(tile).reshape(-1)
        self.spend(definition.cost.math)

    @kernel_call()
    def alt_complex_rotate90_tile(self, dst: int) -> None:
        """Each two numbers side by side, (a, b), become (-b, a)."""
        pairs = np.array(self.tile(dst)).reshape(-1, 2)
        turned = np.stack([-pairs[:, 1], pairs[:, 0]], axis=1)
        self.change("alt_complex_rotate90_tile", dst, lambda x: turned)

    def _sum_integers(self, name: str, dst: int, axis: int) -> None:
        definition = find_call(name)
        self.check_vector_prepared(definition)
        tile = self._rows_of(dst)
        whole = tile.view(np.int32)
        total = whole.sum(axis=axis, dtype=np.int32)
        if axis == 0:
            whole[0] = total
        else:
            whole[:, 0] = total
        self.tile(dst, "write")[:] = faces_of_rows(tile).reshape(-1)
        self.spend(definition.cost.math)

    @kernel_call()
    def sfpu_sum_int_col(self, dst: int) -> None:
        """The sum of each column of integers, into row 0."""
        self._sum_integers("sfpu_sum_int_col", dst, 0)

    @kernel_call()
    def sfpu_sum_int_row(self, dst: int) -> None:
        """The sum of each row of integers, into column 0."""
        self._sum_integers("sfpu_sum_int_row", dst, 1)
