"""What the vector unit makes of tiles of DST: the functions that kernels call, bit by bit.

Most are those of ttnn's operations; here is where a call of kernels has a program of its own.
Results are stored without rounding: a DST of 16 bits keeps the upper halves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ttmlir.layout.enums import Arch
from ttmlir.optable.kernel import NARROW
from ttmlir.sim.machine import vector_operands, vector_powers
from ttmlir.sim.machine.card_functions import ONE, find_numbers, unaliased
from ttmlir.sim.machine.vector_unit import (
    Array,
    Lanes,
    all_bfloat16,
    store_float32,
    vector_unit,
)

Function = Callable[..., Lanes]


def _add(a: Lanes, b: Lanes, wide: bool) -> Lanes:
    return a + b


def _subtract(a: Lanes, b: Lanes, wide: bool) -> Lanes:
    return a - b


def _add_number(a: Lanes, wide: bool, value: float) -> Lanes:
    return a + value


def _subtract_number(a: Lanes, wide: bool, value: float) -> Lanes:
    return a - value


def _multiply_number(a: Lanes, wide: bool, value: float) -> Lanes:
    return a * value


def _exp_narrow(x: Lanes, wide: bool) -> Lanes:
    return ONE["exp"](x, False)


_ONE: dict[str, Function] = {
    **ONE,
    f"exp_{NARROW}": _exp_narrow,
    "add_unary": _add_number,
    "sub_unary": _subtract_number,
    "mul_unary": _multiply_number,
    "div_unary": _multiply_number,
}
_TWO: dict[str, Function] = {
    "add_binary": _add,
    "sub_binary": _subtract,
    "mul_binary": vector_operands.multiply,
    "div_binary": vector_operands.divide,
    "binary_max": vector_operands.maximum,
    "binary_min": vector_operands.minimum,
    "atan2_binary": vector_operands.OPERATIONS["atan2"],
    "power_binary": vector_powers.power,
}


@lru_cache(maxsize=1024)
def _find(
    name: str, arch: Arch, wide: bool, numbers: tuple[tuple[str, float], ...], tiles: int
) -> Callable[..., Array] | None:
    if arch is Arch.GRAYSKULL:
        return None
    if not tiles:
        return (
            partial(_stored, np.float32(dict(numbers)["value"]), wide) if name == "fill" else None
        )
    function = (_ONE if tiles == 1 else _TWO).get(unaliased(name))
    if function is None or (wide and function is vector_powers.power):
        return None
    given, (known, required) = dict(numbers), find_numbers(function)
    if not required <= given.keys() <= known:
        return None
    if tiles > 1 or wide:
        return partial(_compute, function, arch, wide, numbers)
    return partial(_look_up, function, arch, numbers)


def tile_function(
    name: str, arch: Arch, *, wide: bool, numbers: Mapping[str, float], tiles: int = 1
) -> Callable[..., Array] | None:
    """The function of a call such as `exp` or `add_binary` on float32 numbers of tiles of DST.

    `wide` says whether DST has 32 bits; `numbers` are those beside the tiles. None where the units
    have no program that is known.
    """
    key = tuple(sorted((each, float(number)) for each, number in numbers.items()))
    return _find(name, arch, wide, key, tiles)


@np.errstate(all="ignore")
def _compute(
    function: Function,
    arch: Arch,
    wide: bool,
    numbers: tuple[tuple[str, float], ...],
    *tiles: Array,
) -> Array:
    unit = vector_unit(arch)
    lanes = function(*(Lanes(unit, each) for each in tiles), wide, **dict(numbers))
    return _stored(np.broadcast_to(lanes.array, tiles[0].shape), wide)


def _stored(values: Any, wide: bool) -> Array:
    """What DST has of numbers of registers."""
    if wide:
        return store_float32(values)
    kept = np.ascontiguousarray(values, np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    return kept.view(np.float32)


def _look_up(
    function: Function, arch: Arch, numbers: tuple[tuple[str, float], ...], values: Array
) -> Array:
    patterns = np.ascontiguousarray(values, np.float32).view(np.uint16)[..., 1::2]
    return _table(function, arch, numbers).take(patterns)


@lru_cache(maxsize=256)
def _table(function: Function, arch: Arch, numbers: tuple[tuple[str, float], ...]) -> Array:
    return _compute(function, arch, False, numbers, all_bfloat16())
