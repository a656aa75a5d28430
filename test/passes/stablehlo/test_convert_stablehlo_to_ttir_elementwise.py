"""StableHLO's elementwise operations as JAX computes them, through files and the runtime.

Many operations are the results of one function, so that JAX compiles little.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from running.pass_runner import executed, printed
from samples.stablehlo_programs import check_against_jax, jax, run_stablehlo, stablehlo_of

from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.optable import named_in

lax, jnp = jax.lax, jax.numpy
Array = Any
Functions = Mapping[str, Callable[..., Any]]

REAL: Functions = {
    name: getattr(lax, name)
    for name in (
        *("abs", "asinh", "atan", "cbrt", "ceil", "cos", "cosh", "exp", "expm1", "floor"),
        *("is_finite", "logistic", "neg", "round", "sign", "sin", "sinh", "square", "tan", "tanh"),
        *("erf", "erfc"),
    )
}
POSITIVE: Functions = {
    name: getattr(lax, name) for name in ("log", "log1p", "rsqrt", "sqrt", "lgamma")
}
UNIT: Functions = {name: getattr(lax, name) for name in ("acos", "asin", "atanh", "erf_inv")}
FROM_ONE: Functions = {"acosh": lax.acosh}
PAIRS: Functions = {
    **{name: getattr(lax, name) for name in ("add", "sub", "mul", "div", "max", "min", "atan2")},
    "rem": lax.rem,
    "pow": lambda x, y: lax.pow(lax.abs(x), y),
    "clamp": lambda x, y: lax.clamp(-lax.abs(y), x, lax.abs(y)),
    "clamp_scalars": lambda x, y: lax.clamp(x.dtype.type(-0.5), x, x.dtype.type(1.25)),
    "clamp_unordered": lambda x, y: lax.clamp(x.dtype.type(1), x, x.dtype.type(-1)),
    "select": lambda x, y: lax.select(x < y, x, y),
    "select_scalar": lambda x, y: lax.select(x.ravel()[0] < y.ravel()[0], x, y),
}
COMPARISONS: Functions = {name: getattr(lax, name) for name in ("eq", "ne", "ge", "gt", "le", "lt")}
OF_INTEGERS: Functions = {
    **{name: getattr(lax, name) for name in ("add", "sub", "mul", "max", "min")},
    **{f"bitwise_{name}": getattr(lax, f"bitwise_{name}") for name in ("and", "or", "xor")},
    "not": lambda x, y: lax.bitwise_not(x),
    "neg": lambda x, y: -x,
    "sign": lambda x, y: lax.sign(x),
    "population_count": lambda x, y: lax.population_count(x),
    "clz": lambda x, y: lax.clz(x),
    "clamp": lambda x, y: lax.clamp(x.dtype.type(3), x, x.dtype.type(90)),
    "clamp_tensors": lambda x, y: lax.clamp(lax.min(x, y), y ^ x, lax.max(x, y)),
    **COMPARISONS,
}
SHIFTS: Functions = {
    name: getattr(lax, name)
    for name in ("shift_left", "shift_right_arithmetic", "shift_right_logical")
}
OF_BOOLEANS: Functions = {
    **{f"bitwise_{name}": getattr(lax, f"bitwise_{name}") for name in ("and", "or", "xor")},
    "not": lambda x, y: lax.bitwise_not(x),
    "max": lax.max,
    "min": lax.min,
    **COMPARISONS,
}
BF16 = ml_dtypes.bfloat16
INTEGERS = (np.int8, np.int32, np.uint16, np.uint32)


def together(functions: Functions) -> Callable[..., Any]:
    """A function with the results of all of them."""
    return lambda *arguments: [function(*arguments) for function in functions.values()]


def random(seed: int, shape: tuple[int, ...], dtype: Any = np.float32) -> Array:
    """Numbers around 0; integers of all sizes."""
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind not in "iub":
        return np.asarray(rng.standard_normal(shape) * 2).astype(dtype)
    return rng.integers(0, 256, (*shape, np.dtype(dtype).itemsize), np.uint8).view(dtype)[..., 0]


@pytest.mark.parametrize("shape", [(33, 70), (5, 1, 7)], ids=str)
def test_functions_of_floats(shape: tuple[int, ...]) -> None:
    """On whole tiles and parts."""
    x, y = random(1, shape), random(2, shape)
    check_against_jax(together(REAL), x)
    check_against_jax(together(PAIRS), x, y, rtol=1e-5)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (0, 3)], ids=str)
def test_small_tensors(shape: tuple[int, ...]) -> None:
    """No dimension, extents of 1 and 0."""
    functions = ("add", "max", "clamp", "clamp_scalars", "select")
    check_against_jax(
        together({name: PAIRS[name] for name in functions}), random(1, shape), random(2, shape)
    )


@pytest.mark.parametrize("dtype", [BF16, np.float16], ids=["bf16", "f16"])
def test_functions_of_narrow_floats(dtype: Any) -> None:
    """Results are rounded to the type."""
    x, y = random(3, (5, 1, 7), dtype), random(4, (5, 1, 7), dtype)
    check_against_jax(together(REAL), x)
    simple = {name: PAIRS[name] for name in ("add", "sub", "mul", "div", "max", "select")}
    check_against_jax(together(simple), x, y)


def test_functions_on_their_domains() -> None:
    """Logarithms, roots and inverse functions."""
    x = np.abs(random(5, (33, 7))) + np.float32(0.1)
    check_against_jax(together(POSITIVE), x, rtol=1e-5, atol=4e-6)
    check_against_jax(together(FROM_ONE), x + 1, rtol=1e-5)
    inside = np.random.default_rng(6).uniform(-0.95, 0.95, (5, 7)).astype(np.float32)
    check_against_jax(together(UNIT), inside, rtol=1e-5)


SPECIAL = np.array(
    [np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -1.5, 0.49999997, 8388609.0],
    np.float32,
)


def test_special_numbers() -> None:
    """NaN, infinities and both zeros; halves are rounded to even or away from 0."""
    functions = {
        **{name: REAL[name] for name in ("abs", "ceil", "floor", "is_finite", "neg", "sign")},
        "exp": lax.exp,
        "even": lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
        "away": lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
        "is_inf": jnp.isinf,
        "is_pos_inf": jnp.isposinf,
        "is_neg_inf": jnp.isneginf,
    }
    check_against_jax(together(functions), SPECIAL)
    pairs = {
        **COMPARISONS,
        "max": lax.max,
        "min": lax.min,
        "clamp": lambda x, y: lax.clamp(y, x, x),
    }
    check_against_jax(together(pairs), SPECIAL, np.roll(SPECIAL, 1))


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("dtype", INTEGERS, ids=lambda dtype: dtype.__name__)
def test_integers(dtype: Any) -> None:
    """Sums wrap, quotients are rounded toward 0, bits are those of the type."""
    x, y = random(7, (3, 40), dtype), random(8, (3, 40), dtype)
    y[0, :5] = x[0, :5]
    check_against_jax(together(OF_INTEGERS), x, y)
    if np.dtype(dtype).kind == "i":
        check_against_jax(lax.abs, x)
    # XLA defines division by 0, and the quotient that does not fit the type.
    x[1, :2], y[1, :3] = np.iinfo(dtype).min, np.array([-1, 0, 0]).astype(dtype)
    check_against_jax(lambda x, y: (lax.div(x, y), lax.rem(x, y), x // y), x, y)
    # Distances may be the width of the type and more.
    distance = np.random.default_rng(9).integers(0, 40, x.shape).astype(dtype)
    check_against_jax(together(SHIFTS), x, distance)
    check_against_jax(lambda x: lax.integer_pow(x, 3), x)


def test_integer_powers() -> None:
    """Powers wrap; of a negative exponent, only those of 1 and -1 are not 0."""
    base, exponent = np.meshgrid(np.arange(-3, 4), np.arange(-3, 20))
    text = """
      func.func @power(%x: tensor<23x7xi32>, %y: tensor<23x7xi32>) -> tensor<23x7xi32> {
        %0 = stablehlo.power %x, %y : tensor<23x7xi32>
        return %0 : tensor<23x7xi32>
      }"""
    (result,) = run_stablehlo(text, [base.astype(np.int32), exponent.astype(np.int32)])
    for x, y, power in zip(base.flat, exponent.flat, result.flat, strict=True):
        whole = int(x) ** int(y) if y >= 0 else {1: 1, -1: (-1) ** int(-y)}.get(int(x), 0)
        assert power == (whole + 2**31) % 2**32 - 2**31


def test_booleans() -> None:
    """and, or, xor and not are logical."""
    x, y = np.array([[True, True, False, False]]), np.array([[True, False, True, False]])
    check_against_jax(together(OF_BOOLEANS), x, y)


NUMBERS = (np.float32, BF16, np.float16, np.int8, np.int32, np.uint8, np.uint32, np.bool_)


@pytest.mark.parametrize("source", NUMBERS, ids=lambda dtype: np.dtype(dtype).name)
def test_conversions(source: Any) -> None:
    """Fractions are cut, integers wrap, truth is what is not 0."""
    numbers = np.array([[0, 1, 2, 100, 127]])
    kind = np.dtype(source).kind
    if kind not in "iub":
        numbers = np.array([[0, 0.25, 2.75, 100.5, 0.99]])
    elif kind == "i":
        numbers = numbers - 50
    values = numbers.astype(source)
    # Conversion of a fraction below 0 to an unsigned type is not defined.
    check_against_jax(lambda x: [lax.convert_element_type(x, target) for target in NUMBERS], values)


def test_truncation_of_negative_numbers() -> None:
    """Toward 0, not down."""
    x = np.float32([-0.25, -2.75, -100.5])
    check_against_jax(lambda x: (x.astype(jnp.int32), x.astype(jnp.int8)), x)


def test_conversion_to_the_same_type_vanishes() -> None:
    """JAX writes such conversions."""
    text = "func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
    text += "%0 = stablehlo.convert %x : tensor<3xf32>\n return %0 : tensor<3xf32> }"
    assert "ttir" not in printed(text, "convert-stablehlo-to-ttir=spelling=2024")


def test_reduced_precision() -> None:
    """Through f16 and bf16, and unchanged where the type has no more bits."""
    x = random(10, (33,)) * 1000
    check_against_jax(
        lambda x: [lax.reduce_precision(x, *bits) for bits in ((5, 10), (8, 7), (8, 23), (11, 52))],
        x,
        rtol=0,
        atol=0,
    )


def test_reduced_precision_of_small_numbers() -> None:
    """What has no full fraction in the format is 0, though f16 has smaller numbers."""
    least = 2.0**-14
    near = [least, least - 2.0**-26, least - 2.0**-26 - 2.0**-36, least - 2.0**-25, 1e-5, 1e-9, 0.0]
    x = np.array([near, [-number for number in near]], np.float32)
    (found,) = executed(
        jax.jit(lambda x: lax.reduce_precision(x, 5, 10)).lower(x).as_text(),
        [x],
        "stablehlo-to-ttnn-pipeline",
    )
    expected = np.asarray(lax.reduce_precision(x, 5, 10))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.parametrize(
    ("own", "bits", "through"),
    [
        ("f32", (5, 10), "f16"),
        ("f32", (8, 7), "bf16"),
        ("f32", (8, 23), ""),
        ("f32", (9, 24), ""),
        ("f32", (11, 52), ""),
        ("f16", (5, 10), ""),
        ("f16", (8, 10), ""),
        ("f16", (8, 7), "bf16"),
        ("f16", (8, 23), ""),
        ("bf16", (8, 7), ""),
        ("bf16", (8, 8), ""),
        ("bf16", (5, 10), "f16"),
        ("f64", (8, 23), "f32"),
        ("f64", (8, 7), "bf16"),
        ("f64", (11, 52), ""),
        ("f32", (8, 22), None),
        ("f32", (7, 23), None),
        ("f32", (9, 7), None),
        ("f16", (4, 10), None),
        ("f64", (11, 51), None),
        ("f64", (10, 52), None),
    ],
)
def test_formats_of_reduced_precision(own: str, bits: tuple[int, int], through: str | None) -> None:
    """By the type that has these bits, unless the own one has no more; others are refused."""
    asked = "exponent_bits = {} : i32, mantissa_bits = {} : i32".format(*bits)
    text = f"func.func @f(%x: tensor<3x{own}>) -> tensor<3x{own}> {{\n"
    text += f'%0 = "stablehlo.reduce_precision"(%x) <{{{asked}}}> : (tensor<3x{own}>) -> '
    text += f"tensor<3x{own}>\nreturn %0 : tensor<3x{own}> }}"
    if through is None:
        with pytest.raises(DiagnosticError, match=f"{bits[0]} exponent and {bits[1]} mantissa"):
            printed(text, "convert-stablehlo-to-ttir=spelling=2024")
        return
    changes = re.findall(
        r'"ttir.typecast".*-> tensor<3x(\w+)>',
        printed(text, "convert-stablehlo-to-ttir=spelling=2024"),
    )
    assert changes == ([through, own] if through else [])


def test_bits_as_numbers_of_another_type() -> None:
    """Floats, integers, and back; not-a-numbers too."""
    check_against_jax(
        lambda x, h, i: (
            lax.bitcast_convert_type(x, jnp.int32),
            lax.bitcast_convert_type(-x, jnp.uint32),
            lax.bitcast_convert_type(h, jnp.int16),
            lax.bitcast_convert_type(i, jnp.bfloat16),
            lax.bitcast_convert_type(i, jnp.uint16) + jnp.uint16(1),
        ),
        *(SPECIAL, SPECIAL.astype(BF16), np.int16([1, 16256, -16512, 0x4049])),
    )


@pytest.mark.parametrize("dtype", [np.float32, BF16, np.float16], ids=["f32", "bf16", "f16"])
def test_total_order(dtype: Any) -> None:
    """-NaN, -inf, numbers, -0, 0, numbers, inf, NaN."""
    sorted_ = np.array([-np.nan, -np.inf, -1.5, -0.0, 0.0, 1.0, np.inf, np.nan]).astype(dtype)
    x, y = (part.astype(dtype) for part in np.meshgrid(sorted_, sorted_))
    rank_x, rank_y = np.meshgrid(np.arange(8), np.arange(8))
    element = {np.float32: "f32", np.float16: "f16"}.get(dtype, "bf16")
    type_ = f"tensor<8x8x{element}>"
    for direction, oracle in (("LT", np.less), ("GE", np.greater_equal), ("EQ", np.equal)):
        text = f"""
          func.func @f(%x: {type_}, %y: {type_}) -> tensor<8x8xi1> {{
            %0 = stablehlo.compare {direction}, %x, %y, TOTALORDER
                : ({type_}, {type_}) -> tensor<8x8xi1>
            return %0 : tensor<8x8xi1>
          }}"""
        (result,) = run_stablehlo(text, [x, y])
        np.testing.assert_array_equal(result, oracle(rank_x, rank_y))


def test_random_numbers_of_a_key() -> None:
    """JAX computes them from the key by shifts, sums and bits."""
    key = np.uint32([7, 2**31])
    check_against_jax(
        lambda key: jax.random.normal(jax.random.wrap_key_data(key), (3, 5)), key, rtol=1e-5
    )


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.uint64])
def test_64_bits(dtype: Any) -> None:
    """Values of 64-bit types are those of the type, if they are stored in fewer bits too."""
    x = random(11, (3, 5), np.int16).astype(dtype)
    y = np.abs(random(12, (3, 5), np.int8).astype(np.int32)).astype(dtype) + dtype(1)
    with jax.enable_x64(True):
        check_against_jax(
            lambda x, y: (x + y, x - y, x * y, lax.div(x, y), lax.rem(x, y), x < y, lax.max(x, y)),
            x,
            y,
        )


# JAX writes quotients of exponentials, and one of the two tangents.
NOT_OF_JAX: Functions = {
    "chlo.tan": np.tan,
    "stablehlo.logistic": lambda x: 1 / (1 + np.exp(-x)),
    "stablehlo.tan": np.tan,
}


def test_operations_that_jax_does_not_write() -> None:
    """As text, in the generic form."""
    lines = [
        f'%{i} = "{name}"(%x) : (tensor<3x5xf32>) -> tensor<3x5xf32>'
        for i, name in enumerate(NOT_OF_JAX)
    ]
    results, types = "%0, %1, %2", ", ".join(["tensor<3x5xf32>"] * 3)
    head = f"func.func @f(%x: tensor<3x5xf32>) -> ({types}) {{"
    text = "\n".join([head, *lines, f"return {results} : {types}", "}"])
    x = random(13, (3, 5)) / 2
    for result, oracle in zip(run_stablehlo(text, [x]), NOT_OF_JAX.values(), strict=True):
        np.testing.assert_allclose(result, oracle(x.astype(np.float64)), rtol=1e-5)


def test_every_operation_of_the_table_is_used() -> None:
    """No name of the table is left out above."""
    x, y = np.float32([0.5, 0.25]), np.float32([0.25, 0.5])
    i, b = np.int32([1, 2]), np.array([True, False])
    text = stablehlo_of(
        lambda x, y, i, b: [
            *together(REAL | POSITIVE | UNIT)(x),
            *together(FROM_ONE)(x + 1),
            *together(PAIRS)(x, y),
            *together(OF_INTEGERS | SHIFTS)(i, i),
            *together(OF_BOOLEANS)(b, b),
            x.astype(jnp.int32),
            lax.bitcast_convert_type(x, jnp.int32),
            lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
        ],
        *(x, y, i, b),
    )
    used = set(re.findall(r"\b(?:stablehlo|chlo)\.\w+", text))
    assert set(named_in("stablehlo", "chlo")) - used <= set(NOT_OF_JAX)


def refusal(operation: str, operands: str, types: str, result: str) -> str:
    """The message for an operation."""
    arguments = ", ".join(
        f"{name}: {type}" for name, type in zip(operands.split(","), types.split("; "), strict=True)
    )
    source, _, properties = operation.partition(" ")
    text = (
        f"func.func @f({arguments}) -> {result} {{\n"
        f'  %r = "{source}"({operands}) <{{{properties}}}> : ({types.replace("; ", ", ")}) -> '
        f"{result}\n  return %r : {result}\n}}"
    )
    with pytest.raises(DiagnosticError) as error:
        printed(text, "convert-stablehlo-to-ttir=spelling=2024")
    message = str(error.value)
    assert re.match(r"test\.mlir:2:\d+: error: ", message)
    return message


def test_refusals() -> None:
    """The message says what is supported."""
    bits = "stablehlo.bitcast_convert "
    message = refusal(bits, "%a", "tensor<3xf32>", "tensor<3x4xi8>")
    assert "bits of one number cannot become several" in message
    narrow = "stablehlo.reduce_precision exponent_bits = 4 : i32, mantissa_bits = 3 : i32"
    message = refusal(narrow, "%a", "tensor<3xf32>", "tensor<3xf32>")
    assert (
        "numbers of 4 exponent and 3 mantissa bits have no type; supported are 5 and 10" in message
    )
