"""What tosa's operations on quantized numbers compute: rescaling, tables and resized images.

Integers are computed exactly as the specification has it, in 32 bits: products of 64 bits are two
halves. Source: the TOSA specification, version 1.0.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation

from ttmlir.arrays.array import Array
from ttmlir.composites.bits import multiply_high
from ttmlir.composites.indexing import take
from ttmlir.dialects.definition.table_ops import int_property
from ttmlir.dialects.tosa import mode_word
from ttmlir.ir.rewriting import refuse_to_legalize
from ttmlir.ir.tensor_types import value_shape
from ttmlir.passes.core.ttir_conversion import ArrayFunction, result_dtype
from ttmlir.passes.tosa.tosa_operands import numbers

_WIDTHS = {"i8": 8, "ui8": 8, "i16": 16, "ui16": 16, "i32": 32}
"""Bits of the integers that are rescaled; those of 48 have no place on a device."""
_SIGN = -(2**31)
_HALF = 1 << 30
"""What is added to or subtracted from numbers that are rounded twice."""

# -- rescaling ---------------------------------------------------------------------------------


def _rescale(op: Operation, x: Array, *_: Array) -> Array:
    """`(x - input_zp) * multiplier * 2**-shift + output_zp`, rounded and within the type."""
    dtype = result_dtype(op)
    own = _integer_type(op, "input", x.dtype)
    made = _integer_type(op, "output", dtype)
    multipliers, shifts = numbers(op, "multiplier", 1), numbers(op, "shift", 2)
    channels = x.shape[-1] if x.shape and _flag(op, "per_channel") else 1
    if len(multipliers) != channels or len(shifts) != channels:
        refuse_to_legalize(
            op,
            f"it has {len(multipliers)} multipliers and {len(shifts)} shifts for {channels} "
            "channels",
        )
    if not all(2 <= shift <= 62 for shift in shifts):
        refuse_to_legalize(op, f"its shifts are {list(shifts)}; supported are those from 2 to 62")
    zero = _zero_point(op, "input_zp", 3, own)
    x = (x.bitcast(own) if own.startswith("u") else x).cast("i32")
    rounds_twice = mode_word(op.properties.get("rounding_mode"), "") == "DOUBLE_ROUND"
    scaled = _scale(
        x - zero if zero else x,
        np.array(multipliers, object),
        np.array(shifts, object),
        rounds_twice=rounds_twice or _flag(op, "double_round"),
    )
    zero = _zero_point(op, "output_zp", 4, made)
    scaled = scaled + zero if zero else scaled
    low = 0 if made.startswith("u") else -(1 << (_WIDTHS[made] - 1))
    if made != "i32":
        scaled = scaled.limit(low, low + (1 << _WIDTHS[made]) - 1)
    return scaled.cast(made).bitcast(dtype)


def _integer_type(op: Operation, name: str, dtype: str) -> str:
    """The type of the operand or the result, whose integers an attribute calls unsigned."""
    if dtype not in _WIDTHS or (dtype == "i32" and _flag(op, f"{name}_unsigned")):
        refuse_to_legalize(
            op, f"its {name} is of {dtype}; supported are integers of 8, 16 and 32 bits"
        )
    return f"u{dtype}" if _flag(op, f"{name}_unsigned") and dtype[0] != "u" else dtype


def _flag(op: Operation, name: str) -> bool:
    attr = cast("IntegerAttr | None", op.properties.get(name))
    return attr is not None and attr.value.data != 0


def _zero_point(op: Operation, name: str, operand: int, dtype: str) -> int:
    """A zero point, whose bits are those of the integers that it belongs to."""
    if name in op.properties:
        return int_property(op, name)
    (value,) = numbers(op, name, operand)
    return value % (1 << _WIDTHS[dtype]) if dtype.startswith("u") else value


def _scale(x: Array, multipliers: Any, shifts: Any, *, rounds_twice: bool) -> Array:
    """`(x * multiplier + round) >> shift` of 64 bits, for each place along the last dimension."""
    shape = (1,) * (x.rank - 1) + (-1,) if x.rank else ()

    def constant(values: Any) -> Array:
        """Numbers of 32 bits with the last bits of some integers."""
        kept = [(int(value) - _SIGN) % 2**32 + _SIGN for value in values]
        return x.constant(np.array(kept, np.int32).reshape(shape))

    factor = constant(multipliers)
    low, high = x * factor, multiply_high(x, factor)
    rounds = 1 << (shifts - 1)
    added = [constant(rounds), constant(rounds >> 32)]
    if rounds_twice and any(shift > 31 for shift in shifts):
        more = np.array([_HALF if shift > 31 else 0 for shift in shifts], object)
        is_negative = x < 0
        added = [
            is_negative.where(constant((rounds - more) >> part), constant((rounds + more) >> part))
            for part in (0, 32)
        ]
    total = low + added[0]
    # The sum of the lower halves is less than one of them where it does not fit.
    carry = (total ^ _SIGN) < (low ^ _SIGN)
    high = high + added[1] + carry.cast("i32")
    is_low = shifts < 32
    few, many = np.where(is_low, shifts, 2), np.where(is_low, 32, shifts) - 32
    of_both = total.logical_right_shift(constant(few)) | high.logical_left_shift(constant(32 - few))
    of_high = high.right_shift(constant(many))
    if all(is_low):
        return of_both
    return constant(is_low).ne(0).where(of_both, of_high) if any(is_low) else of_high


# -- tables ------------------------------------------------------------------------------------


def _table(op: Operation, x: Array, table: Array) -> Array:
    """Numbers of a table: of 8 bits at a place for each, of 16 bits between two with 7 bits."""
    kinds = (x.dtype, table.dtype, result_dtype(op), table.shape)
    if kinds == ("i8", "i8", "i8", (256,)):
        return table.select(0, x.cast("i32") + 128)
    if kinds != ("i16", "i16", "i32", (513,)):
        refuse_to_legalize(
            op,
            f"it looks {x.dtype} up in {table.shape[0]} numbers of {table.dtype} for "
            f"{result_dtype(op)}; supported are i8 in 256 of i8 for i8, and i16 in 513 of i16 for "
            "i32",
        )
    place, table = x.cast("i32") + 2**15, table.cast("i32")
    index = place >> 7
    base, after = (table.select(0, each) for each in (index, index + 1))
    return (base << 7) + (after - base) * (place & 127)


# -- resized images ----------------------------------------------------------------------------


def _resize(op: Operation, x: Array, *_: Array) -> Array:
    """Pixels of another grid: the nearest of the image, or a mean of four by their distances."""
    scale, offset, border = (
        numbers(op, name, operand)
        for operand, name in enumerate(("scale", "offset", "border"), start=1)
    )
    is_nearest = mode_word(op.properties.get("mode"), "") == "NEAREST_NEIGHBOR"
    dtype, wanted = result_dtype(op), value_shape(op.results[0])
    if dtype != (x.dtype if is_nearest or x.is_real else "i32") or x.dtype not in (*_REAL, "i8"):
        if not (is_nearest and dtype == x.dtype == "i16"):
            refuse_to_legalize(
                op,
                f"it makes {dtype} of {x.dtype}; supported are floating point numbers, and i8 for "
                "i8 by the nearest or for i32 by four, and i16 by the nearest",
            )
    shape = list(x.shape)
    x = x if is_nearest else x.cast(dtype)
    for dim in (1, 2):
        over, under = scale[2 * dim - 2 : 2 * dim]
        extent = x.shape[dim]
        span = (extent - 1) * over - offset[dim - 1] + border[dim - 1]
        if min(over, under) < 1 or span < 0 or span % under:
            refuse_to_legalize(
                op, f"{extent} pixels at a scale of {over}/{under} make no whole number of pixels"
            )
        shape[dim] = span // under + 1
        at = np.arange(shape[dim], dtype=np.int64) * under + offset[dim - 1]
        x = _resize_along(x, dim, at // over, at % over, over, is_nearest=is_nearest)
    if tuple(shape) != wanted:
        refuse_to_legalize(
            op, f"its result has the shape {list(wanted)}, but what it computes is {shape}"
        )
    return x


_REAL = ("f32", "f16", "bf16")


def _resize_along(
    x: Array, dim: int, places: Any, rests: Any, over: int, *, is_nearest: bool
) -> Array:
    """Pixels at `places + rests / over` along a dimension; integers become `over` times as large.

    Beyond the border is what is at the border.
    """
    last = x.shape[dim] - 1
    first, second = (np.clip(places + step, 0, last) for step in (0, 1))
    if is_nearest:
        return take(x, dim, _places(x, np.where(2 * rests >= over, second, first)))
    shape = [1] * x.rank
    shape[dim] = -1
    parts: list[Array] = []
    for index, weights in ((first, over - rests), (second, rests)):
        kept = weights / over if x.is_real else weights
        weight = x.constant(kept.astype(np.float32 if x.is_real else np.int32).reshape(shape))
        parts.append(take(x, dim, _places(x, index)) * weight)
    return parts[0] + parts[1]


def _places(x: Array, index: Any) -> Array:
    numbers = index.astype(np.int32)
    return Array(x.carrier, x.carrier.constant(numbers, "i32"), numbers.shape, "i32")


FUNCTIONS: dict[str, ArrayFunction] = {
    "tosa.rescale": _rescale,
    "tosa.resize": _resize,
    "tosa.table": _table,
}
"""Functions by the full name of the operation."""
