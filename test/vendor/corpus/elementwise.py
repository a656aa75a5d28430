"""Operations element by element: every function of lax and jax.nn, types, shapes, broadcasting."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array, lax

from corpus.program import DTYPES, Family

FAMILY = Family()

SHAPES = ("33x70", "31x65", "5x7", "70", "3x5x7", "2x3x31x33", "1x1", "64x128", "1", "2x1x3x5x7")

INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
FLOATS = ("f32", "bf16", "f16", "f64")
COMMON = ("f32", "bf16", "i32")

# Functions of lax with the interval in which they are defined and not steep.
UNARY: dict[str, tuple[Callable[[Array], Any], str]] = {
    "acos": (lax.acos, "in -0.9 0.9"),
    "acosh": (lax.acosh, "in 1.1 4"),
    "asin": (lax.asin, "in -0.9 0.9"),
    "asinh": (lax.asinh, ""),
    "atan": (lax.atan, ""),
    "atanh": (lax.atanh, "in -0.9 0.9"),
    "bessel_i0e": (lax.bessel_i0e, ""),
    "bessel_i1e": (lax.bessel_i1e, ""),
    "cbrt": (lax.cbrt, ""),
    "ceil": (lax.ceil, "in -4 4"),
    "cos": (lax.cos, ""),
    "cosh": (lax.cosh, ""),
    "digamma": (lax.digamma, "in 0.5 4"),
    "erf": (lax.erf, ""),
    "erf_inv": (lax.erf_inv, "in -0.9 0.9"),
    "erfc": (lax.erfc, ""),
    "exp": (lax.exp, ""),
    "exp2": (lax.exp2, ""),
    "expm1": (lax.expm1, ""),
    "floor": (lax.floor, "in -4 4"),
    "is_finite": (lax.is_finite, "special"),
    "lgamma": (lax.lgamma, "in 0.5 4"),
    "log": (lax.log, "in 0.1 4"),
    "log1p": (lax.log1p, "in -0.5 4"),
    "logistic": (lax.logistic, ""),
    "reciprocal": (lax.reciprocal, "in 0.5 4"),
    "round_away": (lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), "in -4 4"),
    "round_even": (lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), "in -4 4"),
    "rsqrt": (lax.rsqrt, "in 0.1 4"),
    "sin": (lax.sin, ""),
    "sinh": (lax.sinh, ""),
    "sqrt": (lax.sqrt, "in 0 4"),
    "square": (lax.square, ""),
    "tan": (lax.tan, "in -1 1"),
    "tanh": (lax.tanh, ""),
}

# Activations, as models call them.
ACTIVATIONS: dict[str, Callable[[Array], Any]] = {
    "celu": lambda x: jax.nn.celu(x, 1.5),
    "elu": jax.nn.elu,
    "gelu": lambda x: jax.nn.gelu(x, approximate=False),
    "gelu_tanh": lambda x: jax.nn.gelu(x, approximate=True),
    "glu": lambda x: jax.nn.glu(x, axis=-1),
    "hard_sigmoid": jax.nn.hard_sigmoid,
    "hard_swish": jax.nn.hard_swish,
    "hard_tanh": jax.nn.hard_tanh,
    "leaky_relu": lambda x: jax.nn.leaky_relu(x, 0.2),
    "log_sigmoid": jax.nn.log_sigmoid,
    "mish": jax.nn.mish,
    "relu": jax.nn.relu,
    "relu6": jax.nn.relu6,
    "selu": jax.nn.selu,
    "silu": jax.nn.silu,
    "soft_sign": jax.nn.soft_sign,
    "softplus": jax.nn.softplus,
    "sparse_plus": jax.nn.sparse_plus,
    "squareplus": jax.nn.squareplus,
}

ARITHMETIC: dict[str, Callable[[Array, Array], Any]] = {
    "add": lax.add,
    "subtract": lax.sub,
    "multiply": lax.mul,
    "maximum": lax.max,
    "minimum": lax.min,
}
BITWISE: dict[str, Callable[[Array, Array], Any]] = {
    "and": lax.bitwise_and,
    "or": lax.bitwise_or,
    "xor": lax.bitwise_xor,
}
COMPARISONS: dict[str, Callable[[Array, Array], Any]] = {
    "eq": lax.eq,
    "ne": lax.ne,
    "lt": lax.lt,
    "le": lax.le,
    "gt": lax.gt,
    "ge": lax.ge,
}
SHIFTS: dict[str, Callable[[Array, Array], Any]] = {
    "shift_left": lax.shift_left,
    "shift_right_arithmetic": lax.shift_right_arithmetic,
    "shift_right_logical": lax.shift_right_logical,
}


def _shape_of(name: str) -> str:
    """A shape for an operation, so that they differ, but stay when others are added."""
    return SHAPES[zlib.crc32(name.encode()) % len(SHAPES)]


def _is_chosen(name: str) -> bool:
    """Whether to have a combination of which half are enough; it stays when others are added."""
    return zlib.crc32(name.encode()) % 2 == 1


def _unary() -> None:
    for name, (function, domain) in UNARY.items():
        for dtype in ("f32", "bf16"):
            FAMILY.add(name, function, f"{dtype} {_shape_of(name + dtype)} {domain}".strip())
    for name, function in ACTIVATIONS.items():
        FAMILY.add(name, function, "f32 31x66")
    for name in ("gelu", "relu", "silu", "softplus", "leaky_relu"):
        FAMILY.add(name, ACTIVATIONS[name], "bf16 2x33x70")
    for name in ("exp", "log", "tanh", "rsqrt"):
        function, domain = UNARY[name]
        for dtype in ("f16", "f64"):
            FAMILY.add(name, function, f"{dtype} 31x65 {domain}".strip())


def _unary_of_integers() -> None:
    for dtype in (*FLOATS, *INTEGERS[:4]):
        FAMILY.add("abs", lax.abs, f"{dtype} {_shape_of('abs' + dtype)}")
    for dtype in (*FLOATS, *INTEGERS):
        FAMILY.add("negate", lax.neg, f"{dtype} {_shape_of('negate' + dtype)}")
    for dtype in ("f32", "bf16", "i32", "i8", "u32"):
        FAMILY.add("sign", lax.sign, f"{dtype} {_shape_of('sign' + dtype)}")
    for dtype in ("i1", "i32", "u8", "u32", "i16"):
        FAMILY.add("not", lax.bitwise_not, f"{dtype} 33x70")
    for dtype in ("i32", "u8", "u32"):
        FAMILY.add("popcnt", lax.population_count, f"{dtype} 31x65")
        FAMILY.add("count_leading_zeros", lax.clz, f"{dtype} 31x65")


def _binary() -> None:
    for dtype in (*FLOATS, *INTEGERS):
        for name, function in ARITHMETIC.items():
            if name in ("add", "multiply") or dtype in COMMON or _is_chosen(name + dtype):
                shape = _shape_of(name + dtype)
                FAMILY.add(name, function, f"{dtype} {shape}", f"{dtype} {shape}")
    for dtype in ("i1", "i32", "u8", "u32", "i64", "u16"):
        for name, function in BITWISE.items():
            if dtype in ("i1", "i32") or _is_chosen(name + dtype):
                FAMILY.add(name, function, f"{dtype} 33x70", f"{dtype} 33x70")


def _binary_of_integers() -> None:
    for name, function in SHIFTS.items():
        for dtype in ("i32", "u32"):
            FAMILY.add(name, function, f"{dtype} 31x65", f"{dtype} 31x65 in 0 8")
    for name, function in COMPARISONS.items():
        for dtype in ("f32", "bf16", "i32"):
            FAMILY.add(f"compare_{name}", function, f"{dtype} 5x33", f"{dtype} 5x33")
    for dtype in ("i1", "u8", "u32", "i64", "f64", "u16"):
        FAMILY.add("compare_eq", lax.eq, f"{dtype} 31x65", f"{dtype} 31x65")
        FAMILY.add("compare_lt", lax.lt, f"{dtype} 31x65", f"{dtype} 31x65")
    for dtype in ("f32", "bf16", "i32", "u32", "i64"):
        low = "in 1 9" if dtype[0] in "iu" else "in 0.5 4"
        FAMILY.add("divide", lax.div, f"{dtype} 33x70", f"{dtype} 33x70 {low}")
        FAMILY.add("remainder", lax.rem, f"{dtype} 31x65", f"{dtype} 31x65 {low}")


def _binary_functions() -> None:
    for dtype in ("f32", "bf16"):
        FAMILY.add("power", lax.pow, f"{dtype} 33x70 in 0.1 4", f"{dtype} 33x70")
        FAMILY.add("atan2", lax.atan2, f"{dtype} 5x33", f"{dtype} 5x33")
        FAMILY.add("floor_divide", jnp.floor_divide, f"{dtype} 5x33", f"{dtype} 5x33 in 0.5 4")
        FAMILY.add("nextafter", lax.nextafter, f"{dtype} 5x7", f"{dtype} 5x7")
        FAMILY.add("logaddexp", jnp.logaddexp, f"{dtype} 31x65", f"{dtype} 31x65")
    FAMILY.add("power", lambda x, y: jnp.power(x, y), "i32 5x7", "i32 5x7 in 0 4")
    FAMILY.add("integer_pow", lambda x: lax.integer_pow(x, 3), "f32 33x70", variant="cube")
    FAMILY.add("integer_pow", lambda x: lax.integer_pow(x, -2), "f32 5x7 in 1 2", variant="minus_2")
    FAMILY.add("power", lambda x: x**2.5, "f32 31x65 in 0.1 4", variant="by_constant")
    FAMILY.add("floor_divide", jnp.floor_divide, "i32 5x33", "i32 5x33 in 1 9")
    FAMILY.add("modulo", jnp.mod, "f32 33x70", "f32 33x70 in 0.5 4")
    FAMILY.add("hypot", jnp.hypot, "f32 33x70", "f32 33x70")
    FAMILY.add("zeta", lax.zeta, "f32 5x7 in 1.5 4", "f32 5x7 in 0.5 3")
    FAMILY.add("polygamma", lax.polygamma, "f32 5x7 whole", "f32 5x7 in 0.5 3")
    FAMILY.add("igamma", lax.igamma, "f32 5x7 in 0.5 3", "f32 5x7 in 0.5 3")
    FAMILY.add("betainc", lax.betainc, "f32 5 in 0.5 3", "f32 5 in 0.5 3", "f32 5 in 0.1 0.9")


def _choices() -> None:
    for dtype in ("f32", "bf16", "i32", "i1", "u8"):
        FAMILY.add(
            "select", lax.select, "i1 33x70", f"{dtype} 33x70", f"{dtype} 33x70", variant=dtype
        )
    FAMILY.add("select", lambda p, x, y: lax.select(p, x, y), "i1 scalar", "f32 5x7", "f32 5x7")
    FAMILY.add("where", lambda p, x: jnp.where(p, x, 0), "i1 33x1", "f32 33x70", variant="masked")
    FAMILY.add("where", lambda x: jnp.where(x > 0, x, x * 0.1), "bf16 31x65", variant="by_sign")
    for dtype in ("f32", "bf16", "i32", "u32"):
        FAMILY.add(
            "clamp",
            lambda x: lax.clamp(jnp.array(2, x.dtype), x, jnp.array(5, x.dtype)),
            f"{dtype} 33x70",
        )
    FAMILY.add(
        "clamp", lax.clamp, "f32 5x7 in -1 0", "f32 5x7", "f32 5x7 in 0 1", variant="tensors"
    )
    FAMILY.add(
        "clamp",
        lax.clamp,
        "bf16 scalar in -1 0",
        "bf16 5x7",
        "bf16 scalar in 0 1",
        variant="scalars",
    )
    FAMILY.add("clip", lambda x: jnp.clip(x, -0.5, 0.75), "f32 3x5x7")
    FAMILY.add("nan_to_num", jnp.nan_to_num, "f32 31x65 special")
    FAMILY.add("logical_and", jnp.logical_and, "f32 33x70", "f32 33x70")
    FAMILY.add("logical_not", jnp.logical_not, "i32 33x70")
    FAMILY.add("logical_xor", jnp.logical_xor, "i1 33x70", "i1 33x70")


def _conversions() -> None:
    others = ("bf16", "f16", "f64", *INTEGERS, "i1", "f8e4m3fn", "f8e5m2", "i4")
    for dtype in others:
        FAMILY.add(
            "convert",
            _converter(dtype),
            "f32 33x70 in 0 9",
            variant=f"to_{dtype}",
            wide=dtype in ("f64", "i64", "u64"),
        )
        FAMILY.add("convert", _converter("f32"), f"{dtype} 31x65", variant="to_f32")
    for source, target in (
        ("bf16", "i32"),
        ("i32", "bf16"),
        ("i1", "bf16"),
        ("u8", "bf16"),
        ("i64", "i32"),
        ("i32", "i8"),
        ("i8", "i32"),
        ("i32", "u32"),
        ("u32", "i32"),
        ("i1", "i32"),
        ("i32", "i1"),
        ("bf16", "i1"),
        ("u8", "i32"),
        ("u16", "i32"),
        ("f64", "bf16"),
    ):
        FAMILY.add("convert", _converter(target), f"{source} 5x33", variant=f"to_{target}")
    for source, target in (
        ("f32", "i32"),
        ("i32", "f32"),
        ("bf16", "u16"),
        ("f16", "i16"),
        ("u32", "f32"),
    ):
        # Between the patterns of 1.0 and 4.0, so that results are numbers.
        domain = " in 1065353216 1082130432" if source in ("i32", "u32") else ""
        taken = f"{source} 5x33{domain}"
        FAMILY.add("bitcast_convert", _bitcaster(target), taken, variant=f"to_{target}")
    FAMILY.add("bitcast_convert", _bitcaster("u8"), "u32 5x7", variant="to_u8")
    FAMILY.add("bitcast_convert", _bitcaster("f32"), "u8 5x7x4", variant="to_f32")
    FAMILY.add("reduce_precision", lambda x: lax.reduce_precision(x, 8, 7), "f32 33x70")
    FAMILY.add("reduce_precision", lambda x: lax.reduce_precision(x, 5, 2), "bf16 5x7")


def _converter(dtype: str) -> Callable[[Array], Any]:
    return lambda x: lax.convert_element_type(x, DTYPES[dtype])


def _bitcaster(dtype: str) -> Callable[[Array], Any]:
    return lambda x: lax.bitcast_convert_type(x, DTYPES[dtype])


def _complex() -> None:
    FAMILY.add("complex", lax.complex, "f32 5x7", "f32 5x7")
    FAMILY.add("real", lax.real, "c64 5x7")
    FAMILY.add("imag", lax.imag, "c64 5x7")
    FAMILY.add("conj", lax.conj, "c64 5x7")
    FAMILY.add("abs", lax.abs, "c64 5x7")
    FAMILY.add("multiply", lax.mul, "c64 5x7", "c64 5x7")
    FAMILY.add("exp", lax.exp, "c64 5x7")
    FAMILY.add(
        "complex_product",
        lambda a, b, c, d: jnp.real(lax.complex(a, b) * lax.complex(c, d)),
        "f32 5x7",
        "f32 5x7",
        "f32 5x7",
        "f32 5x7",
    )


def _broadcasting() -> None:
    pairs = (
        ("33x70", "70", "row"),
        ("33x70", "33x1", "column"),
        ("33x70", "scalar", "scalar"),
        ("33x1", "1x70", "outer"),
        ("2x3x31x33", "3x1x33", "middle"),
        ("1", "5x7", "one"),
        ("2x1x3x5x7", "4x1x5x1", "rank_5"),
        ("1x1", "31x65", "one_by_one"),
    )
    for first, second, variant in pairs:
        FAMILY.add("add", jnp.add, f"f32 {first}", f"f32 {second}", variant=f"by_{variant}")
        dtype = "bf16" if variant != "outer" else "i32"
        FAMILY.add(
            "multiply",
            jnp.multiply,
            f"{dtype} {first}",
            f"{dtype} {second}",
            variant=f"by_{variant}",
        )
    FAMILY.add("subtract", lambda x: 1.5 - x, "bf16 33x70", variant="from_constant")
    FAMILY.add("add", lambda x: x + 3, "i32 31x65", variant="constant")
    FAMILY.add("divide", lambda x: x / 3, "f32 31x65", variant="by_constant")
    FAMILY.add("divide", lambda x: 2 / x, "f32 31x65 in 0.5 4", variant="of_constant")
    for shape in ("scalar", "1", "32", "7x32", "32x32", "1x3x224", "5x4x3x2x1", "1x1x1x1x1", "0x5"):
        FAMILY.add("chain", lambda x: lax.tanh(x * 2.0 + 1.0) - x, f"f32 {shape}")
    FAMILY.add("add", lambda x, y: x + y, "bf16 33x70", "f32 33x70", variant="mixed_f32")
    FAMILY.add("multiply", lambda x, y: x * y, "i32 33x70", "f32 33x70", variant="mixed_f32")
    FAMILY.add("add", jnp.add, "i1 5x7", "i1 5x7")
    FAMILY.add("multiply", jnp.multiply, "i1 5x7", "i1 5x7")
    FAMILY.add("maximum", jnp.maximum, "i1 5x7", "i1 5x7")
    FAMILY.add("identity", lambda x: x, "f32 33x70")
    FAMILY.add("identity", lambda x, y: (y, x), "bf16 5x7", "i32 3", variant="swapped")
    FAMILY.add("unused", lambda x, y: x + 1, "f32 5x7", "f32 3x3")
    FAMILY.add("results", lambda x: (x + 1, x * 2, x), "f32 31x65", variant="three")
    FAMILY.add("results", lambda x: (x + 1, x + 1), "f32 5x7", variant="twice_the_same")


_unary()
_unary_of_integers()
_binary()
_binary_of_integers()
_binary_functions()
_choices()
_conversions()
_complex()
_broadcasting()
PROGRAMS = FAMILY.programs
