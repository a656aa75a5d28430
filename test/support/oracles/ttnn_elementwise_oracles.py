"""What ttnn's operations on elements mean, in torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from oracles.ttnn_oracle import (
    INTEGER_TYPES,
    INTEGERS,
    PLAIN_FLOATS,
    Oracle,
    Shape,
    between,
    draw,
    draw_integers,
    draw_whole,
)
from torch.nn import functional

from ttmlir import ttnn


def _wholes(count: int) -> Callable[[str, Shape], list[torch.Tensor]]:
    """Integers of all bits."""
    return lambda dtype, shape: [draw_whole(dtype, shape, seed) for seed in range(count)]


def _small(low: int, high: int, count: int = 2) -> Callable[[str, Shape], list[torch.Tensor]]:
    return lambda dtype, shape: [draw_integers(shape, low, high, seed) for seed in range(count)]


_UNARY: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], float, float]] = {
    "abs": (torch.abs, -3, 3),
    "acos": (torch.acos, -0.9, 0.9),
    "acosh": (torch.acosh, 1.2, 9),
    "asin": (torch.asin, -0.9, 0.9),
    "asinh": (torch.asinh, -5, 5),
    "atan": (torch.atan, -5, 5),
    "atanh": (torch.atanh, -0.9, 0.9),
    "cbrt": (lambda x: x.sign() * x.abs() ** (1 / 3), -9, 9),
    "ceil": (torch.ceil, -5, 5),
    "cos": (torch.cos, -1, 1),
    "cosh": (torch.cosh, -4, 4),
    "deg2rad": (torch.deg2rad, -180, 180),
    "digamma": (torch.digamma, 2, 9),
    "eqz": (lambda x: x == 0, -1, 1),
    "erf": (torch.erf, -2, 2),
    "erfc": (torch.erfc, -2, 2),
    "erfinv": (torch.erfinv, -0.9, 0.9),
    "exp": (torch.exp, -4, 4),
    "exp2": (torch.exp2, -4, 4),
    "expm1": (torch.expm1, -4, 4),
    "floor": (torch.floor, -5, 5),
    "frac": (torch.frac, -5, 5),
    "gelu": (functional.gelu, -3, 3),
    "gez": (lambda x: x >= 0, -1, 1),
    "gtz": (lambda x: x > 0, -1, 1),
    "hardmish": (lambda x: x * (x + 2).clamp(0, 2) / 2, -4, 4),
    "hardsigmoid": (functional.hardsigmoid, -5, 5),
    "hardswish": (functional.hardswish, -5, 5),
    "i0": (torch.i0, -4, 4),
    "i1": (torch.special.i1, -4, 4),
    "identity": (torch.clone, -4, 4),
    "isfinite": (torch.isfinite, -1, 1),
    "isinf": (torch.isinf, -1, 1),
    "isnan": (torch.isnan, -1, 1),
    "isneginf": (torch.isneginf, -1, 1),
    "isposinf": (torch.isposinf, -1, 1),
    "lez": (lambda x: x <= 0, -1, 1),
    "lgamma": (torch.lgamma, 2.5, 9),
    "log": (torch.log, 0.1, 9),
    "log10": (torch.log10, 0.1, 9),
    "log1p": (torch.log1p, -0.5, 9),
    "log2": (torch.log2, 0.1, 9),
    "log_sigmoid": (functional.logsigmoid, -4, 4),
    "logical_not": (torch.logical_not, -1, 1),
    "logit": (torch.logit, 0.1, 0.9),
    "ltz": (lambda x: x < 0, -1, 1),
    "mish": (functional.mish, -4, 4),
    "multigammaln": (lambda x: torch.special.multigammaln(x, 4), 3, 9),
    "neg": (torch.neg, -4, 4),
    "nez": (lambda x: x != 0, -1, 1),
    "rad2deg": (torch.rad2deg, -4, 4),
    "reciprocal": (torch.reciprocal, 0.1, 9),
    "relu": (torch.relu, -4, 4),
    "relu6": (functional.relu6, -9, 9),
    "rsqrt": (torch.rsqrt, 0.1, 9),
    "selu": (functional.selu, -4, 4),
    "sigmoid": (torch.sigmoid, -4, 4),
    "sigmoid_accurate": (torch.sigmoid, -4, 4),
    "sign": (torch.sign, -4, 4),
    "signbit": (torch.signbit, -4, 4),
    "silu": (functional.silu, -4, 4),
    "sin": (torch.sin, -4, 4),
    "sinh": (torch.sinh, -4, 4),
    "softsign": (functional.softsign, -4, 4),
    "sqrt": (torch.sqrt, 0.1, 9),
    "square": (torch.square, -4, 4),
    "swish": (functional.silu, -4, 4),
    "tan": (torch.tan, -1, 1),
    "tanh": (torch.tanh, -4, 4),
    "tanhshrink": (functional.tanhshrink, 1, 4),
    "trunc": (torch.trunc, -4, 4),
}
"""Functions of one operand, and numbers on which they are smooth enough to compare."""

_OF_INTEGERS = ("abs neg relu square eqz nez gtz gez ltz lez logical_not identity").split()

UNARY = {
    name: Oracle(
        function,
        between((low, high)),
        integers=("int32",) if name in _OF_INTEGERS else (),
        draw_integers=_small(-5, 6, 1),
    )
    for name, (function, low, high) in _UNARY.items()
}


def _with(function: Callable[..., Any], *args: Any, low: float = -3, high: float = 3, **kw: Any):
    """An operation of one operand with parameters."""
    return Oracle(function, between((low, high)), lambda operation, x: operation(x, *args, **kw))


def _even(function: Callable[..., Any], **kw: Any) -> Oracle:
    """An operation on halves of the last dimension."""
    shapes = ((2, 96, 192), (33, 70), (8,), (3, 33, 70), (1, 2, 5, 32))
    return Oracle(function, call=lambda operation, x: operation(x, **kw), shapes=shapes)


def _halves(function: Callable[[torch.Tensor], torch.Tensor]) -> Oracle:
    def expected(x: torch.Tensor) -> torch.Tensor:
        first, second = x.chunk(2, -1)
        return first * function(second)

    return _even(expected, dim=-1)


def _rotate90(x: torch.Tensor) -> torch.Tensor:
    """Multiplication of the complex numbers (re, im) by i."""
    return torch.view_as_real(
        torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous()) * 1j
    ).flatten(-2)


def _relu_and_exp() -> list[Any]:
    return [
        ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU),
        ttnn.UnaryWithParam(ttnn.UnaryOpType.EXP),
    ]


PARAMETERS: dict[str, Oracle] = {
    "alt_complex_rotate90": _even(_rotate90),
    "celu": _with(lambda x: functional.celu(x, 0.5), alpha=0.5),
    "clamp": _with(lambda x: x.clamp(-1, 2), -1.0, max=2.0),
    "clip": _with(lambda x: x.clamp(max=2), None, 2.0),
    "elu": _with(lambda x: functional.elu(x, 0.5), alpha=0.5),
    "fill": _with(lambda x: torch.full_like(x, 3), 3.0),
    "geglu": _halves(functional.gelu),
    "glu": _halves(torch.sigmoid),
    "hardshrink": _with(lambda x: functional.hardshrink(x, 0.703), lambd=0.703),
    "hardtanh": _with(lambda x: functional.hardtanh(x, -0.5, 1.0), min_val=-0.5),
    "heaviside": _with(lambda x: torch.heaviside(x, torch.tensor(0.5, dtype=x.dtype)), 0.5),
    "leaky_relu": _with(lambda x: functional.leaky_relu(x, 0.1), 0.1),
    "polygamma": _with(lambda x: torch.polygamma(2, x), 2, low=0.5, high=9),
    "polyval": _with(lambda x: 2 * x * x + 3, [2.0, 0.0, 3.0]),
    "prelu": _with(lambda x: torch.where(x >= 0, x, 0.25 * x), 0.25),
    "rdiv": _with(lambda x: 3.0 / x, 3.0, low=0.5),
    "reglu": _halves(torch.relu),
    "relu_max": _with(lambda x: x.clamp(0, 1.5), 1.5),
    "relu_min": _with(lambda x: x.clamp(min=-1.5), -1.5),
    "round": _with(torch.round),
    "rpow": _with(lambda x: 2.0**x, 2.0),
    "softplus": _with(lambda x: functional.softplus(x, 2.0), beta=2.0),
    "softshrink": _with(lambda x: functional.softshrink(x, 0.703), lambd=0.703),
    "swiglu": _halves(functional.silu),
    "threshold": _with(lambda x: functional.threshold(x, 1.0, 5.0), 1.0, 5.0),
    "unary_chain": Oracle(
        lambda x: torch.exp(torch.relu(x)),
        call=lambda operation, x: operation(x, _relu_and_exp()),
    ),
}
_MATRICES = ((2, 96, 192), (33, 70), (3, 33, 70), (1, 2, 5, 31))
PARAMETERS |= {
    "tril": Oracle(
        lambda x: torch.tril(x, 3),
        call=lambda f, x: f(x, diagonal=3),
        shapes=_MATRICES,
        exact=True,
        result_layout="TILE_LAYOUT",
    ),
    "triu": Oracle(
        lambda x: torch.triu(x, -2),
        call=lambda f, x: f(x, diagonal=-2),
        shapes=_MATRICES,
        exact=True,
        result_layout="TILE_LAYOUT",
    ),
    "bitwise_not": Oracle(
        torch.bitwise_not, dtypes=(), integers=INTEGERS, draw_integers=_wholes(1)
    ),
}

_POSITIVE = between((0.5, 4.5), (0.5, 2.5))
_SIGNED = between((-4, 4), (-4, 4))


def _whole(function: Callable[..., Any], *, draw: Any = _SIGNED, given: Any = None) -> Oracle:
    """An operation on real numbers and on integers of all types."""
    return Oracle(function, draw, integers=INTEGERS, draw_integers=given or _wholes(2))


def _number(function: Callable[..., Any], draw: Any = _SIGNED, **facts: Any) -> Oracle:
    return Oracle(function, draw, **facts)


def _only_integers(function: Callable[..., Any], given: Any, types: Any = INTEGERS) -> Oracle:
    return Oracle(function, dtypes=(), integers=types, draw_integers=given)


def _shifted(dtype: str, shape: Shape) -> list[torch.Tensor]:
    bits = np.iinfo(INTEGER_TYPES[dtype]).bits
    return [draw_whole(dtype, shape), draw_integers(shape, 0, bits, 1)]


def _truth(function: Callable[..., Any]) -> Oracle:
    """Truth of numbers, some of which are 0."""

    def drawn(shape: Shape) -> list[torch.Tensor]:
        return [draw(shape, -2, 2, seed).round() for seed in (0, 1)]

    return Oracle(function, drawn, integers=("int32",), draw_integers=_small(-2, 3))


def _compared(function: Callable[..., Any]) -> Oracle:
    """Comparisons, of numbers some of which are equal."""

    def drawn(shape: Shape) -> list[torch.Tensor]:
        return [draw(shape, -2, 2, seed).round() for seed in (0, 1)]

    # A card keeps 0 and 1 in no fewer than 16 bits.
    widened = {"uint8": ("uint16",)}
    return Oracle(
        function, drawn, integers=INTEGERS, draw_integers=_small(0, 5), results_of=widened
    )


_QUOTIENT = _number(torch.div, between((-4, 4), (0.5, 2.5)))
_DIFFERENCE = _whole(torch.sub)
_SUM, _PRODUCT = _whole(torch.add), _whole(torch.mul)

BINARY: dict[str, Oracle] = {
    "add": _SUM,
    "addalpha": Oracle(
        lambda a, b: a + 0.5 * b, _SIGNED, lambda operation, a, b: operation(a, b, 0.5)
    ),
    "atan2": _number(torch.atan2),
    "bias_gelu": _number(lambda a, b: functional.gelu(a + b), between((-1, 3), (0, 1))),
    "bitwise_and": _only_integers(torch.bitwise_and, _wholes(2)),
    "bitwise_left_shift": _only_integers(torch.bitwise_left_shift, _shifted),
    "bitwise_or": _only_integers(torch.bitwise_or, _wholes(2)),
    "bitwise_right_shift": _only_integers(torch.bitwise_right_shift, _shifted),
    "bitwise_xor": _only_integers(torch.bitwise_xor, _wholes(2)),
    "div": _QUOTIENT,
    "div_no_nan": _QUOTIENT,
    "divide": _QUOTIENT,
    "eq": _compared(torch.eq),
    "floor_div": _number(torch.floor_divide, between((-4, 4), (0.5, 2.5)), dtypes=PLAIN_FLOATS),
    "fmod": _number(torch.fmod, between((-4, 4), (0.5, 2.5)), dtypes=PLAIN_FLOATS),
    "gcd": _only_integers(torch.gcd, _small(-99, 100), ("int32",)),
    "ge": _compared(torch.ge),
    "gt": _compared(torch.gt),
    "hypot": _number(torch.hypot),
    "isclose": Oracle(
        lambda a, b: torch.isclose(a, b, 0.1, 0.01),
        between((1, 2), (1, 2)),
        lambda operation, a, b: operation(a, b, rtol=0.1, atol=0.01),
    ),
    "lcm": _only_integers(torch.lcm, _small(-99, 100), ("int32",)),
    "ldexp": _number(torch.ldexp),
    "le": _compared(torch.le),
    "logaddexp": _number(torch.logaddexp, _POSITIVE),
    "logaddexp2": _number(torch.logaddexp2, _POSITIVE),
    "logical_and": _truth(torch.logical_and),
    "logical_left_shift": _only_integers(torch.bitwise_left_shift, _shifted),
    "logical_or": _truth(torch.logical_or),
    "logical_right_shift": _only_integers(
        lambda a, b: torch.bitwise_right_shift(a & 0xFFFFFFFF, b), _shifted
    ),
    "logical_xor": _truth(torch.logical_xor),
    "lt": _compared(torch.lt),
    "maximum": _whole(torch.maximum),
    "minimum": _whole(torch.minimum),
    "mul": _PRODUCT,
    "multiply": _PRODUCT,
    "ne": _compared(torch.ne),
    "nextafter": Oracle(
        lambda a, b: torch.nextafter(a.float(), b.float()), _POSITIVE, dtypes=("float32",)
    ),
    "outer": Oracle(
        torch.outer,
        lambda shape: [draw(shape, -2, 2), draw((5,), -2, 2, 1)],
        shapes=((33,), (7,)),
    ),
    "pow": _number(torch.pow, _POSITIVE),
    "pow_tensor": _number(torch.pow, _POSITIVE),
    "remainder": _number(torch.remainder, between((-4, 4), (0.5, 2.5)), dtypes=PLAIN_FLOATS),
    "rsub": _number(lambda a, b: b - a),
    "squared_difference": _number(lambda a, b: (a - b) ** 2),
    "sub": _DIFFERENCE,
    "subalpha": Oracle(
        lambda a, b: a - 0.5 * b, _SIGNED, lambda operation, a, b: operation(a, b, 0.5)
    ),
    "subtract": _DIFFERENCE,
    "xlogy": _number(torch.xlogy, _POSITIVE),
}

_IN_PLACE = (
    "add subtract sub multiply mul divide div rsub gt ge lt le eq ne logical_and logical_or "
    "logical_xor ldexp logaddexp logaddexp2 squared_difference bias_gelu"
).split()

IN_PLACE = {
    f"{name}_": Oracle(
        BINARY[name].expected,
        BINARY[name].draw,
        dtypes=BINARY[name].dtypes,
        integers=BINARY[name].integers,
        draw_integers=BINARY[name].draw_integers,
        writes=0,
    )
    for name in _IN_PLACE
}


def _chosen(shape: Shape) -> list[torch.Tensor]:
    return [draw(shape, -1, 1).round(), draw(shape, -4, 4, 1), draw(shape, -4, 4, 2)]


_WHERE = Oracle(lambda p, a, b: torch.where(p != 0, a, b), _chosen, exact=True)
_THREE = between((-4, 4), (0.5, 3), (1, 3))

TERNARY: dict[str, Oracle] = {
    "addcdiv": Oracle(
        lambda a, b, c: torch.addcdiv(a, b, c, value=0.5),
        _THREE,
        lambda operation, *given: operation(*given, value=0.5),
    ),
    "addcmul": Oracle(
        lambda a, b, c: torch.addcmul(a, b, c, value=0.5),
        _THREE,
        lambda operation, *given: operation(*given, value=0.5),
    ),
    "experimental.where": _WHERE,
    "lerp": Oracle(torch.lerp, _THREE),
    "mac": Oracle(lambda a, b, c: a * b + c, _THREE),
    "where": _WHERE,
}

ELEMENTWISE = {**UNARY, **PARAMETERS, **BINARY, **IN_PLACE, **TERNARY}
