"""What a card makes of the numbers of tensors: functions of its units on whole arrays.

Tensors of 16 bits and of block floats go through a DST of 16 bits. A function of one of them has
one result for each of the 65,536 numbers, which is computed once. Tensors of float32 go through a
DST of 32 bits, on Blackhole alone: for Wormhole there are no bits to hold them to.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

import ml_dtypes
import numpy as np

from ttmlir.layout.enums import Arch
from ttmlir.sim.machine.vector_functions import FUNCTIONS
from ttmlir.sim.machine.vector_operands import OPERATIONS
from ttmlir.sim.machine.vector_unit import (
    Array,
    Lanes,
    pack_bfloat16,
    store_float32,
    vector_unit,
)

CardFunction = Callable[..., Array]
"""Of the float32 numbers of tensors: those of the result, as the card stores them."""

_ALIASES = {
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide",
    "swish": "silu",
    "sigmoid_accurate": "sigmoid",
    "clip": "clamp",
}
_NOT_WIDE = frozenset({"cbrt", "identity", "round", "softplus", "where"})
"""Functions whose bits are others in a DST of 32 bits: copies keep denormal numbers."""
_PART = 1 << 14
"""Numbers that are computed at a time."""

_Parameters = tuple[tuple[str, float], ...]


@cache
def _names_of(function: Callable[..., Lanes]) -> tuple[frozenset[str], frozenset[str]]:
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
    *,
    wide: bool,
    operands: int = 1,
    parameters: Mapping[str, object] | None = None,
) -> CardFunction | None:
    """The function of this name in ttnn, or None if the units have no program for it.

    A parameter that is None is not given.
    """
    name = _ALIASES.get(name, name)
    function = (FUNCTIONS if operands == 1 else OPERATIONS).get(name)
    if function is None or arch is Arch.GRAYSKULL:
        return None
    if wide and (arch is not Arch.BLACKHOLE or name in _NOT_WIDE):
        return None
    given = {key: each for key, each in (parameters or {}).items() if each is not None}
    numbers = {key: each for key, each in given.items() if isinstance(each, int | float)}
    known, required = _names_of(function)
    if given.keys() != numbers.keys() or not required <= numbers.keys() <= known:
        return None
    key = tuple(sorted(numbers.items()))
    if operands == 1 and not wide:
        return partial(_look_up, name, arch, key)
    return partial(_compute, function, arch, key, wide)


def _compute(
    function: Callable[..., Lanes],
    arch: Arch,
    parameters: _Parameters,
    wide: bool,
    *arrays: Array,
) -> Array:
    shape = np.broadcast_shapes(*(each.shape for each in arrays))
    flats = [_flat(each, shape, wide) for each in arrays]
    result = np.empty(int(np.prod(shape)), np.float32)
    for start in range(0, result.size, _PART):
        part = slice(start, start + _PART)
        parts = [each if each.size == 1 else each[part] for each in flats]
        result[part] = _run(function, arch, parameters, parts, wide=wide)
    return result.reshape(shape)


def _flat(array: Array, shape: Sequence[int], wide: bool) -> Array:
    """The numbers in a row; of a number beside tensors one, which has as many bits as theirs."""
    if not array.ndim:
        number = array.astype(np.float32)
        return (number if wide else number.astype(ml_dtypes.bfloat16)).reshape(1).astype(np.float32)
    return np.ascontiguousarray(np.broadcast_to(array, shape), np.float32).reshape(-1)


def _look_up(name: str, arch: Arch, parameters: _Parameters, values: Array) -> Array:
    patterns = np.ascontiguousarray(values, np.float32).view(np.uint32) >> 16
    return _table(name, arch, parameters).take(patterns)


@cache
def _table(name: str, arch: Arch, parameters: _Parameters) -> Array:
    values = (np.arange(1 << 16, dtype=np.uint32) << 16).view(np.float32)
    return _run(FUNCTIONS[name], arch, parameters, [values], wide=False)


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
        found = np.broadcast_to(lanes.array, np.broadcast_shapes(*(each.shape for each in arrays)))
        return store_float32(found) if wide else pack_bfloat16(found)
