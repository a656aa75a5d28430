"""What a card makes of the numbers of tensors: functions of its units on whole arrays.

Where an operand is float32, DST has 32 bits, else 16. A function of one tensor of 16 bits has one
result for each of the 65,536 numbers, which is computed once. Of float32 alone the bits are known
on Blackhole only.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from ttmlir.layout.enums import Arch, DataType, MathFidelity
from ttmlir.sim.machine import matrix_unit
from ttmlir.sim.machine.card_formats import FORMATS, pack, unpack
from ttmlir.sim.machine.vector_functions import FUNCTIONS
from ttmlir.sim.machine.vector_operands import OPERATIONS
from ttmlir.sim.machine.vector_powers import BY_NUMBER, LOGARITHMS, POWERS
from ttmlir.sim.machine.vector_unit import (
    Array,
    Lanes,
    all_bfloat16,
    pack_bfloat16,
    store_float32,
    vector_unit,
)


class CardFunction(NamedTuple):
    """A function of tensors, as a card's units compute it."""

    function: Callable[..., Array]
    """Of the float32 numbers of tensors: those of the result, as the card stores them."""
    steps: int
    """Steps that a number of the result takes here."""


_ALIASES = {
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide",
    "swish": "silu",
    "sigmoid_accurate": "sigmoid",
    "clip": "clamp",
    "negative": "neg",
    "recip": "reciprocal",
}
_BLOCKS = (DataType.BFP_BF8, DataType.BFP_BF4)
_NOT_WIDE = frozenset({"identity", "where"})
"""Functions whose bits are others in a DST of 32 bits: copies keep denormal numbers."""
_COMBINED, _COMPUTED = 4, 32
"""Steps of a function of the matrix unit, and about those of the vector unit."""
_QUICK = frozenset({"multiply", "divide", "maximum", "minimum", "where"})
"""Functions of 16 bits that take as few steps as those of the matrix unit."""
ONE = {**FUNCTIONS, **LOGARITHMS}
"""Functions of one tensor."""
_OF_SEVERAL = {**OPERATIONS, **POWERS}
_PART = 1 << 14
"""Numbers that are computed at a time."""
_WORTH_A_TABLE = 1 << 15
"""Numbers that take as long as a table of the results for all numbers."""

_Parameters = tuple[tuple[str, float], ...]


def unaliased(name: str) -> str:
    """The name by which a function is known here."""
    return _ALIASES.get(name, name)


@cache
def find_numbers(function: Callable[..., Lanes]) -> tuple[frozenset[str], frozenset[str]]:
    """The parameters of a function that are numbers, and those that have to be given."""
    numbers = [
        each
        for each in inspect.signature(function).parameters.values()
        if each.annotation == "float"
    ]
    required = (each.name for each in numbers if each.default is inspect.Parameter.empty)
    return frozenset(each.name for each in numbers), frozenset(required)


def card_function(
    name: str,
    arch: Arch,
    formats: Sequence[DataType],
    *,
    operands: int = 1,
    parameters: Mapping[str, object] | None = None,
) -> CardFunction | None:
    """The function of this name in ttnn, or None if the units have no program for it.

    `formats` are those of the tensors; numbers may stand in the places of other operands. The
    result has the first one. A parameter that is None is not given.
    """
    given = {key: each for key, each in (parameters or {}).items() if each is not None}
    if given:
        return _function_of(name, arch, formats, operands, given)
    return _plain_function_of(name, arch, tuple(formats), operands)


@cache
def _plain_function_of(
    name: str, arch: Arch, formats: tuple[DataType, ...], operands: int
) -> CardFunction | None:
    return _function_of(name, arch, formats, operands, {})


def _function_of(
    name: str, arch: Arch, formats: Sequence[DataType], operands: int, given: Mapping[str, object]
) -> CardFunction | None:
    name = unaliased(name)
    wide = DataType.F32 in formats
    if arch is Arch.GRAYSKULL or not set(formats) <= FORMATS:
        return None
    if not given and operands == 2 and _is_of_matrix_unit(name, formats):
        second = formats[1] if len(formats) > 1 else DataType.F32 if wide else DataType.BF16
        return CardFunction(partial(_combine, name, arch, formats[0], second, wide), _COMBINED)
    if wide and (arch is not Arch.BLACKHOLE or name in _NOT_WIDE):
        return None
    if name in BY_NUMBER and len(formats) == 1 and not (wide and name == "rpow"):
        by_number = partial(_compute_by_number, name, arch, wide, formats[0])
        steps = _COMPUTED if wide else 0
        if operands == 2:
            return CardFunction(by_number, steps)
        if len(given) == 1 and all(isinstance(each, int | float) for each in given.values()):
            return CardFunction(partial(by_number, number=next(iter(given.values()))), steps)
    function = (ONE if operands == 1 else _OF_SEVERAL).get(name)
    if function is None or (wide and function is POWERS["pow"]):
        return None
    numbers = {key: each for key, each in given.items() if isinstance(each, int | float)}
    known, required = find_numbers(function)
    if given.keys() != numbers.keys() or not required <= numbers.keys() <= known:
        return None
    key = tuple(sorted(numbers.items()))
    if operands == 1 and not wide:
        return CardFunction(partial(_look_up, function, arch, key, formats[0]), 0)
    steps = _COMBINED if name in _QUICK and not wide else _COMPUTED
    return CardFunction(partial(_compute, function, arch, key, wide, formats[0]), steps)


def _is_of_matrix_unit(name: str, formats: Sequence[DataType]) -> bool:
    """Whether the matrix unit combines two tiles; others go through the vector unit."""
    if name in ("add", "subtract"):
        return any(each is not DataType.F32 for each in formats)
    return name == "multiply" and any(each in _BLOCKS for each in formats)


@np.errstate(all="ignore")
def _combine(
    name: str, arch: Arch, first: DataType, second: DataType, wide: bool, a: Array, b: Array
) -> Array:
    x, y = (
        unpack(each if each.ndim else _number(each, wide), kept, wide=wide)
        for each, kept in ((a, first), (b, second))
    )
    wormhole = arch is Arch.WORMHOLE_B0
    if name == "multiply":
        dst = matrix_unit.multiply(x, y, MathFidelity.HIFI4, wide=wide, wormhole=wormhole)
    else:
        dst = matrix_unit.add(x, y if name == "add" else -y, wide=wide, wormhole=wormhole)
    shape = np.broadcast_shapes(a.shape, b.shape)
    # Packing makes a row of a single number.
    return pack(dst.reshape(shape), first, wide=wide).reshape(shape)


def _compute(
    function: Callable[..., Lanes],
    arch: Arch,
    parameters: _Parameters,
    wide: bool,
    kept: DataType,
    *arrays: Array,
) -> Array:
    shape = np.broadcast_shapes(*(each.shape for each in arrays))
    if math.prod(shape) <= _PART:
        parts = [each if each.ndim else _number(each, wide) for each in arrays]
        result = _run(function, arch, parameters, parts, wide=wide).reshape(shape)
    else:
        flats = [_flat(each, shape, wide) for each in arrays]
        result = np.empty(math.prod(shape), np.float32)
        for start in range(0, result.size, _PART):
            part = slice(start, start + _PART)
            parts = [each if each.size == 1 else each[part] for each in flats]
            result[part] = _run(function, arch, parameters, parts, wide=wide)
        result = result.reshape(shape)
    return result if kept is DataType.F32 else pack(result, kept, wide=wide).reshape(shape)


def _compute_by_number(
    name: str, arch: Arch, wide: bool, kept: DataType, array: Array, number: Any
) -> Array:
    key = (("value", float(number)),)
    function = BY_NUMBER[name]
    if wide:
        return _compute(function, arch, key, wide, kept, array)
    return _look_up(function, arch, key, kept, array)


def _number(array: Array, wide: bool) -> Array:
    """A number beside tensors, which has as many bits as theirs."""
    number = array.astype(np.float32)
    return (number if wide else number.astype(ml_dtypes.bfloat16)).reshape(1).astype(np.float32)


def _flat(array: Array, shape: Sequence[int], wide: bool) -> Array:
    """The numbers in a row; of a number beside tensors one."""
    if not array.ndim:
        return _number(array, wide)
    return np.ascontiguousarray(np.broadcast_to(array, shape), np.float32).reshape(-1)


def _look_up(
    function: Callable[..., Lanes],
    arch: Arch,
    parameters: _Parameters,
    kept: DataType,
    values: Array,
) -> Array:
    if parameters:
        # A table is worth its time where it is looked up again.
        count = _count(function, arch, parameters)
        count[0] += values.size
        if count[0] < _WORTH_A_TABLE:
            return _compute(function, arch, parameters, False, kept, values)
    # A view of the upper halves of numbers, which takes no copy of them.
    patterns = np.ascontiguousarray(values, np.float32).view(np.uint16)[..., 1::2]
    result = _table(function, arch, parameters).take(patterns)
    return result.reshape(values.shape) if kept is DataType.BF16 else pack(result, kept, wide=False)


@lru_cache(maxsize=1024)
def _count(function: Callable[..., Lanes], arch: Arch, parameters: _Parameters) -> list[int]:
    """How many numbers a function with these parameters was asked for."""
    return [0]


@lru_cache(maxsize=256)
def _table(function: Callable[..., Lanes], arch: Arch, parameters: _Parameters) -> Array:
    return _run(function, arch, parameters, [all_bfloat16()], wide=False)


def _run(
    function: Callable[..., Lanes],
    arch: Arch,
    parameters: _Parameters,
    arrays: Sequence[Array],
    *,
    wide: bool,
) -> Array:
    unit = vector_unit(arch)
    with np.errstate(all="ignore"):
        lanes = function(*(Lanes(unit, each) for each in arrays), wide, **dict(parameters))
        found = lanes.array
        if len(arrays) > 1 or found.shape != arrays[0].shape:
            shape = np.broadcast_shapes(*(each.shape for each in arrays))
            found = found if found.shape == shape else np.broadcast_to(found, shape)
        return store_float32(found) if wide else pack_bfloat16(found)
