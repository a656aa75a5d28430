"""What elementwise operations compute: the one table of oracles for them.

Every test that needs to know what an elementwise operation means asks here: those of the rows'
reference functions, of the road to ttnn, of kernels, of calls on tiles and of random programs. It
is written from the meaning of the operations, without the rows: single numbers in Python's own
arithmetic, so that it shares no code with rows that call NumPy.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np

Array = Any
Domain = Callable[[Array], bool]
Sampler = Callable[[np.random.Generator, tuple[int, ...]], Any]


# --- Where numbers come from ----------------------------------------------------------------------


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers around 0."""
    return rng.standard_normal(shape) * 2


def positive(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers from 0.1 to 4."""
    return rng.uniform(0.1, 4, shape)


def from_one(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers from 1 to 9."""
    return rng.uniform(1, 9, shape)


def nonzero(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers whose size is 0.5 to 3."""
    return rng.uniform(0.5, 3, shape) * rng.choice([-1, 1], shape)


def inside_one(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers between -0.9 and 0.9."""
    return rng.uniform(-0.9, 0.9, shape)


def acute(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Angles between -1.4 and 1.4."""
    return rng.uniform(-1.4, 1.4, shape)


def special(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Infinities and NaN among other numbers."""
    return rng.choice([1.5, -2.0, 0.0, np.inf, -np.inf, np.nan], shape)


def few(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Whole numbers from -3 to 3, many of them equal."""
    return rng.integers(-3, 4, shape)


def bits(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """0 and 1."""
    return rng.integers(0, 2, shape)


def whole(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Whole numbers of many sizes."""
    return rng.integers(-(2**30), 2**30, shape) >> rng.integers(0, 30, shape)


def distances(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers that are shifted, and distances that may be the width of a number and more."""
    return rng.integers(0, 40, shape)


def _everywhere(x: Array) -> bool:
    return True


def within(low: float, high: float) -> Domain:
    """Numbers between two."""
    return lambda x: bool(low <= x.min() and x.max() <= high)


def away_from_zero(x: Array) -> bool:
    """Numbers whose size is at least a quarter."""
    return bool(np.abs(x).min() >= 0.25)


# --- The table ------------------------------------------------------------------------------------


def each(function: Callable[..., Any]) -> Callable[..., np.ndarray]:
    """A function of single numbers, for arrays; one of integers gives integers of 64 bits."""

    def compute(*arrays: Array) -> np.ndarray:
        operands = [np.asarray(array) for array in arrays]
        is_whole = all(array.dtype.kind in "iubO" for array in operands)
        numbers = [array.astype(object) for array in operands]
        if not is_whole:
            return np.vectorize(function, otypes=[np.float64])(*numbers)
        results = np.vectorize(function, otypes=[object])(*numbers)
        # Python's integers have no end; NumPy's have 64 bits, of which the lower ones are right.
        kept = [(int(number) + 2**63) % 2**64 - 2**63 for number in results.ravel()]
        return np.array(kept, np.int64).reshape(results.shape)

    return compute


@dataclass(frozen=True, kw_only=True)
class Oracle:
    """What one operation means, and on which numbers it is tried."""

    of_numbers: Callable[..., Any]
    """The result for single numbers: floats, integers, or truth values as 0 and 1."""
    of_width: Callable[[int], Callable[..., Any]] | None = None
    """The same for integers of so many bits, where it depends on them; `of_numbers` has 64."""
    parameters: Mapping[str, float] = field(default_factory=dict[str, float])
    sample: Sampler | None = None
    """Floats that it is tried on; None for any."""
    slope: float | None = None
    """Its largest slope on `smooth`; None for functions that jump or are not tried in kernels."""
    smooth: Domain = _everywhere
    """Where random programs apply it."""
    jumps: bool = False
    """True for functions of floats that jump."""
    elements: tuple[str, ...] = ("f32", "bf16")
    """Element types on which it means the same."""

    @property
    def compute(self) -> Callable[..., np.ndarray]:
        """The result for arrays."""
        return each(self.of_numbers)

    def at_width(self, width: int) -> Callable[..., np.ndarray]:
        """The result for arrays of integers of so many bits."""
        return each(self.of_numbers if self.of_width is None else self.of_width(width))

    @property
    def attributes(self) -> str:
        """The parameters as attributes of the operation."""
        return ", ".join(f"{name} = {value} : f32" for name, value in self.parameters.items())


def _smooth(
    function: Callable[..., Any],
    slope: float,
    smooth: Domain = _everywhere,
    sample: Sampler | None = None,
    **others: Any,
) -> Oracle:
    return Oracle(of_numbers=function, slope=slope, smooth=smooth, sample=sample, **others)


def _jumping(function: Callable[..., Any], **others: Any) -> Oracle:
    return Oracle(of_numbers=function, jumps=True, **others)


def _of_width(make: Callable[[int], Callable[..., Any]], sample: Sampler) -> Oracle:
    return Oracle(of_numbers=make(64), of_width=make, sample=sample, elements=("i32",))


def sigmoid(x: float) -> float:
    """The textbook form."""
    return 1 / (1 + math.exp(-x))


def _to_whole(function: Callable[[float], int]) -> Callable[[float], float]:
    """A function that gives whole numbers; infinities and NaN stay."""
    return lambda x: function(x) if math.isfinite(x) else x


def _shifted_left(width: int) -> Callable[[int, int], int]:
    """What the bits keep, as a signed number."""
    return lambda x, y: ((int(x) << int(y)) % 2**width ^ 1 << width - 1) - (1 << width - 1)


def _shifted_right(width: int) -> Callable[[int, int], int]:
    """A number that may be negative, without its sign."""
    return lambda x, y: int(x) % 2**width >> int(y) if y else int(x)


_ALL = ("f32", "bf16", "i32")
_POSITIVE = within(0.25, math.inf)
_INSIDE = within(-0.95, 0.95)
_BOUNDED = within(-99, 99)
_SMALL = within(-99, 3)

UNARY: dict[str, Oracle] = {
    "abs": _smooth(abs, 1, elements=_ALL),
    "neg": _smooth(lambda x: 0 - x, 1, elements=_ALL),
    "relu": _smooth(lambda x: x if x > 0 else 0 * x, 1, elements=_ALL),
    "square": _smooth(lambda x: x * x, 16, within(-8, 8)),
    "clamp": _smooth(lambda x: min(max(x, -0.5), 1.25), 1, parameters={"min": -0.5, "max": 1.25}),
    "leaky_relu": _smooth(lambda x: x if x > 0 else 0.25 * x, 1, parameters={"parameter": 0.25}),
    "sigmoid": _smooth(sigmoid, 1, _BOUNDED),
    "tanh": _smooth(math.tanh, 1),
    "sin": _smooth(math.sin, 1, _BOUNDED),
    "cos": _smooth(math.cos, 1, _BOUNDED),
    "tan": _smooth(math.tan, 4, within(-1, 1), acute),
    "atan": _smooth(math.atan, 1),
    "erf": _smooth(math.erf, 2),
    "gelu": _smooth(lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2, 2),
    "silu": _smooth(lambda x: x * sigmoid(x), 2, _BOUNDED),
    "exp": _smooth(math.exp, 21, _SMALL),
    "expm1": _smooth(math.expm1, 21, _SMALL),
    "log": _smooth(
        lambda x: math.log(x) if x > 0 else -math.inf if x == 0 else math.nan,
        4,
        _POSITIVE,
        positive,
    ),
    "log1p": _smooth(
        lambda x: math.log1p(x) if x > -1 else -math.inf if x == -1 else math.nan,
        2,
        within(-0.5, math.inf),
        positive,
    ),
    "sqrt": _smooth(lambda x: math.sqrt(x) if x >= 0 else math.nan, 1, _POSITIVE, positive),
    "rsqrt": _smooth(
        lambda x: 1 / math.sqrt(x) if x > 0 else math.inf if x == 0 else math.nan,
        4,
        _POSITIVE,
        positive,
    ),
    "cbrt": _smooth(math.cbrt, 1, away_from_zero),
    "reciprocal": _smooth(lambda x: 1 / x if x else math.inf, 16, away_from_zero, nonzero),
    "exp2": _smooth(math.exp2, 8, _SMALL),
    "sinh": _smooth(math.sinh, 11, within(-3, 3)),
    "cosh": _smooth(math.cosh, 11, within(-3, 3)),
    "asin": _smooth(lambda x: math.asin(x) if abs(x) <= 1 else math.nan, 4, _INSIDE, inside_one),
    "acos": _smooth(lambda x: math.acos(x) if abs(x) <= 1 else math.nan, 4, _INSIDE, inside_one),
    "asinh": _smooth(math.asinh, 1),
    "acosh": _smooth(
        lambda x: math.acosh(x) if x >= 1 else math.nan, 2, within(1.25, math.inf), from_one
    ),
    "atanh": _smooth(
        lambda x: (
            math.atanh(x) if abs(x) < 1 else math.copysign(math.inf, x) if abs(x) == 1 else math.nan
        ),
        11,
        _INSIDE,
        inside_one,
    ),
    "erfc": _smooth(math.erfc, 2),
    "hardsigmoid": _smooth(lambda x: min(max(x + 3, 0), 6) / 6, 1),
    "floor": _jumping(_to_whole(math.floor), elements=_ALL),
    "ceil": _jumping(_to_whole(math.ceil), elements=_ALL),
    "trunc": _jumping(_to_whole(math.trunc), elements=_ALL),
    "round": _jumping(_to_whole(round), elements=_ALL),
    "sign": _jumping(lambda x: (x > 0) - (x < 0), elements=_ALL, sample=few),
    "logical_not": _jumping(lambda x: x == 0, elements=(*_ALL, "i1"), sample=bits),
    "isfinite": _jumping(math.isfinite, sample=special),
    "typecast": Oracle(of_numbers=lambda x: x, elements=_ALL),
    "bitwise_not": Oracle(of_numbers=lambda x: -1 - x, elements=("i32",), sample=whole),
    "erfinv": Oracle(
        of_numbers=lambda x: NormalDist().inv_cdf((x + 1) / 2) / math.sqrt(2), sample=inside_one
    ),
    "lgamma": Oracle(of_numbers=math.lgamma, sample=positive),
    "bitcast_convert": Oracle(
        of_numbers=lambda x: struct.unpack("<d", struct.pack("<q", x))[0], elements=("i32",)
    ),
    "population_count": _of_width(lambda width: lambda x: (x % 2**width).bit_count(), whole),
    "count_leading_zeros": _of_width(
        lambda width: lambda x: width - (x % 2**width).bit_length(), whole
    ),
}

BINARY: dict[str, Oracle] = {
    "add": Oracle(of_numbers=lambda x, y: x + y, elements=_ALL),
    "subtract": Oracle(of_numbers=lambda x, y: x - y, elements=_ALL),
    "multiply": Oracle(of_numbers=lambda x, y: x * y, elements=_ALL),
    "maximum": Oracle(of_numbers=max, elements=_ALL),
    "minimum": Oracle(of_numbers=min, elements=_ALL),
    "div": Oracle(of_numbers=lambda x, y: x / y, sample=nonzero),
    "remainder": Oracle(of_numbers=math.fmod, sample=nonzero),
    "pow": Oracle(of_numbers=math.pow, sample=positive),
    "atan2": Oracle(of_numbers=math.atan2),
    "eq": _jumping(lambda x, y: x == y, elements=_ALL, sample=few),
    "ne": _jumping(lambda x, y: x != y, elements=_ALL, sample=few),
    "gt": _jumping(lambda x, y: x > y, elements=_ALL, sample=few),
    "ge": _jumping(lambda x, y: x >= y, elements=_ALL, sample=few),
    "lt": _jumping(lambda x, y: x < y, elements=_ALL, sample=few),
    "le": _jumping(lambda x, y: x <= y, elements=_ALL, sample=few),
    "logical_and": _jumping(lambda x, y: bool(x) and bool(y), elements=_ALL, sample=few),
    "logical_or": _jumping(lambda x, y: bool(x) or bool(y), elements=_ALL, sample=few),
    "logical_xor": _jumping(lambda x, y: bool(x) != bool(y), elements=_ALL, sample=few),
    "bitwise_and": Oracle(of_numbers=lambda x, y: x & y, elements=("i32",), sample=whole),
    "bitwise_or": Oracle(of_numbers=lambda x, y: x | y, elements=("i32",), sample=whole),
    "bitwise_xor": Oracle(of_numbers=lambda x, y: x ^ y, elements=("i32",), sample=whole),
    "logical_left_shift": _of_width(_shifted_left, distances),
    "logical_right_shift": _of_width(_shifted_right, distances),
    "right_shift": _of_width(lambda width: lambda x, y: int(x) >> int(y), distances),
}

ORACLES: dict[str, Oracle] = {
    **UNARY,
    **BINARY,
    "where": Oracle(of_numbers=lambda c, x, y: x if c else y, elements=_ALL),
}
"""Every elementwise operation by its mnemonic."""

SMOOTH: dict[str, tuple[Callable[[Array], Array], Domain, float, str]] = {
    name: (oracle.compute, oracle.smooth, oracle.slope, oracle.attributes)
    for name, oracle in UNARY.items()
    if oracle.slope is not None
}
"""Functions of floats: where they are applied, their largest slope there, parameters."""

STEPS: dict[str, Callable[[Array], Array]] = {
    name: oracle.compute for name, oracle in UNARY.items() if oracle.jumps
}
"""Functions of floats that jump."""

OF_INTEGERS: dict[str, Callable[[Array], Array]] = {
    name: oracle.compute
    for name, oracle in UNARY.items()
    if "i32" in oracle.elements and oracle.of_width is None
    if name not in ("typecast", "bitcast_convert")
} | {"square": UNARY["square"].compute}

COMPARISONS: dict[str, Callable[[Array, Array], Array]] = {
    name: oracle.compute for name, oracle in BINARY.items() if oracle.jumps
}

ARITHMETIC: dict[str, Callable[[Array, Array], Array]] = {
    name: BINARY[name].compute for name in ("add", "subtract", "multiply", "maximum", "minimum")
}


def _quotient(x: Array, y: Array) -> Array:
    return np.sign(x) * np.sign(y) * (np.abs(x) // np.abs(y))


DIVISIONS: dict[str, Callable[[Array, Array], Array]] = {
    "div": _quotient,
    "remainder": lambda x, y: x - y * _quotient(x, y),
}
BITWISE: dict[str, Callable[[Array, Array], Array]] = {
    name: oracle.compute for name, oracle in BINARY.items() if name.startswith("bitwise_")
}
OF_BOOLEANS: dict[str, Callable[[Array, Array], Array]] = {
    **BITWISE,
    "add": lambda x, y: x | y,
    "subtract": lambda x, y: x ^ y,
    "multiply": lambda x, y: x & y,
    "maximum": lambda x, y: x | y,
    "minimum": lambda x, y: x & y,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "remainder": lambda x, y: x & ~y,
}


def wrapped(x: Array) -> Array:
    """What 32 bits keep of integers."""
    return (x.astype(np.int64) + 2**31) % 2**32 - 2**31


def _fraction_bits(x: Array) -> float:
    """Bits after the binary point; infinity if they are more than a few."""
    return next((n for n in range(9) if not np.any(np.fmod(x * 2.0**n, 1))), math.inf)


def is_exact(size: Array, *factors: Array, bits: int = 24) -> bool:
    """True if sums of products of such factors need no rounding to so many bits.

    `size` is the sum of the sizes of the products.
    """
    fraction = sum(_fraction_bits(factor) for factor in factors)
    return float(np.abs(size).max()) * 2.0**fraction <= 2.0**bits


EXACT = {"abs", "neg", "relu", "square", "clamp", "leaky_relu"}
"""Functions that are computed without rounding where the result needs none."""


def wrapped_product(x: Array, dim: int) -> Array:
    """The product along a dimension, which stays, in 32 bits."""
    result = np.ones_like(np.take(x, [0], dim))
    for index in range(x.shape[dim]):
        result = wrapped(result * np.take(x, [index], dim))
    return result


def wrapped_matmul(x: Array, y: Array) -> Array:
    """Matrix product with one sum at a time, so that 64 bits do not overflow unnoticed."""
    result = np.zeros((*x.shape[:-1], y.shape[-1]), np.int64)
    for k in range(x.shape[-1]):
        result = wrapped(result + x[..., :, k, None] * y[..., None, k, :])
    return result
