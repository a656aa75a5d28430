"""Calls on the vector unit, each against an oracle of its own in Python's float64.

In exact numerics results are float32; in device numerics DST rounds them to its format. Tolerances
are a few units of the last place of float32 for functions that NumPy computes in float32.
"""

from __future__ import annotations

import inspect
import math
import struct
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from cores.compute_core import APIS, Recorder, call
from cores.tile_bytes import BOTH, core_of, eighths, has_recorded_bits, result
from numpy.typing import NDArray
from oracles.elementwise_oracles import ORACLES

from ttmlir.layout.enums import DataType
from ttmlir.optable.kernel import CALLS, Element, Form, KernelCall, Role, calls_named
from ttmlir.sim.calls.kernel_api import waiting_calls
from ttmlir.sim.options import Numerics

Array = NDArray[Any]


def word(number: float) -> int:
    """The bits of a float32."""
    return struct.unpack("<I", struct.pack("<f", number))[0]


def elu(x: float) -> float:
    """With slope 0.5."""
    return x if x > 0 else 0.5 * math.expm1(x)


_CALLS = {"negative": "neg", "recip": "reciprocal"}
"""Operations of ttir whose calls have another name."""
UNARY: dict[str, Callable[[float], float]] = {
    **{
        name: ORACLES[_CALLS.get(name, name)].of_numbers
        for name in (
            *("abs", "negative", "sign", "square", "sqrt", "rsqrt", "cbrt", "recip", "exp"),
            *("exp2", "expm1", "log", "log1p", "sin", "cos", "tan", "asin", "acos", "atan"),
            *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "sigmoid", "gelu"),
            *("silu", "relu", "hardsigmoid", "isfinite", "logical_not", "floor", "ceil", "trunc"),
        )
    },
    "signbit": lambda x: float(x < 0),
    "softsign": lambda x: x / (1 + abs(x)),
    "eqz": lambda x: float(x == 0),
    "nez": lambda x: float(x != 0),
    "gtz": lambda x: float(x > 0),
    "gez": lambda x: float(x >= 0),
    "ltz": lambda x: float(x < 0),
    "lez": lambda x: float(x <= 0),
    "isinf": lambda x: 0.0,
    "isposinf": lambda x: 0.0,
    "isneginf": lambda x: 0.0,
    "isnan": lambda x: 0.0,
    "identity": lambda x: x,
    "frac": lambda x: x - math.trunc(x),
}
"""Functions of one tile: `<name>_tile`."""

WITH_NUMBERS: dict[str, tuple[tuple[Any, ...], Callable[[float], float]]] = {
    "log_with_base_tile": (
        (word(1 / math.log(2)),),
        lambda x: math.log2(x) if x > 0 else (-math.inf if x == 0 else math.nan),
    ),
    "power_tile": ((3,), lambda x: x**3),
    "relu_max_tile": ((word(1.5),), lambda x: min(max(x, 0.0), 1.5)),
    "relu_min_tile": ((word(1.5),), lambda x: max(x, 1.5)),
    "leaky_relu_tile": ((word(0.25),), lambda x: x if x > 0 else 0.25 * x),
    "elu_tile": ((word(0.5),), elu),
    "selu_tile": (
        (word(1.5), word(0.5)),
        lambda x: 1.5 * (x if x > 0 else 0.5 * math.expm1(x)),
    ),
    "softplus_tile": (
        (word(2.0), word(0.5), word(4.0)),
        lambda x: x if 2 * x > 4 else math.log1p(math.exp(2 * x)) / 2,
    ),
    "hardtanh_tile": ((word(-1.0), word(2.0)), lambda x: min(max(x, -1), 2)),
    "clamp_tile": ((word(-1.0), word(2.0)), lambda x: min(max(x, -1), 2)),
    "heaviside_tile": ((word(0.5),), lambda x: 0.5 if x == 0 else float(x > 0)),
    "round_tile": ((1,), lambda x: round(x, 1)),
    "add_unary_tile": ((word(2.5),), lambda x: x + 2.5),
    "sub_unary_tile": ((word(2.5),), lambda x: x - 2.5),
    "mul_unary_tile": ((word(2.5),), lambda x: x * 2.5),
    "div_unary_tile": ((word(0.25),), lambda x: x * 0.25),
    "rsub_unary_tile": ((word(2.5),), lambda x: 2.5 - x),
    "fill_tile": ((2.5,), lambda x: 2.5),
    "fill_tile_bitcast": ((word(-2.5),), lambda x: -2.5),
    "unary_eq_tile": ((word(1.5),), lambda x: float(x == 1.5)),
    "unary_ne_tile": ((word(1.5),), lambda x: float(x != 1.5)),
    "unary_gt_tile": ((word(1.5),), lambda x: float(x > 1.5)),
    "unary_ge_tile": ((word(1.5),), lambda x: float(x >= 1.5)),
    "unary_lt_tile": ((word(1.5),), lambda x: float(x < 1.5)),
    "unary_le_tile": ((word(1.5),), lambda x: float(x <= 1.5)),
}
"""Functions of a tile and numbers."""

BINARY: dict[str, Callable[[float, float], float]] = {
    "add_binary_tile": lambda x, y: x + y,
    "sub_binary_tile": lambda x, y: x - y,
    "mul_binary_tile": lambda x, y: x * y,
    "div_binary_tile": lambda x, y: x / y if y else (math.copysign(math.inf, x) if x else math.nan),
    "rsub_binary_tile": lambda x, y: y - x,
    "fmod_binary_tile": lambda x, y: math.fmod(x, y) if y else math.nan,
    "power_binary_tile": lambda x, y: abs(x) ** y if x else (0.0 if y > 0 else float(y == 0)),
    "atan2_binary_tile": math.atan2,
    "binary_max_tile": max,
    "binary_min_tile": min,
    "eq_binary_tile": lambda x, y: float(x == y),
    "ne_binary_tile": lambda x, y: float(x != y),
    "lt_binary_tile": lambda x, y: float(x < y),
    "gt_binary_tile": lambda x, y: float(x > y),
    "le_binary_tile": lambda x, y: float(x <= y),
    "ge_binary_tile": lambda x, y: float(x >= y),
}
"""Functions of two tiles."""


def wrapped(number: int) -> int:
    """An integer as 32 bits with sign."""
    return (number + 2**31) % 2**32 - 2**31


def truncated(x: int, y: int) -> int:
    """The quotient, rounded toward 0."""
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


INTEGER_UNARY: dict[str, tuple[tuple[Any, ...], Callable[[int], int]]] = {
    "abs_tile_int32": ((), abs),
    "negative_tile_int32": ((), lambda x: -x),
    "relu_tile_int32": ((), lambda x: max(x, 0)),
    "logical_not_tile_int32": ((), lambda x: int(x == 0)),
    "clamp_tile_int32": ((wrapped(-100), 1000), lambda x: min(max(x, -100), 1000)),
    "bitwise_not_tile": ((), lambda x: ~x),
    "bitwise_and_tile": ((0xFF,), lambda x: x & 0xFF),
    "bitwise_or_tile": ((0xFF,), lambda x: x | 0xFF),
    "bitwise_xor_tile": ((0xFF,), lambda x: x ^ 0xFF),
    "left_shift_tile": ((3,), lambda x: x << 3),
    "right_shift_tile": ((3,), lambda x: x >> 3),
    "add_unary_tile_int32": ((7,), lambda x: x + 7),
    "sub_unary_tile_int32": ((7,), lambda x: x - 7),
    "fill_tile_int": ((7,), lambda x: 7),
    **{
        f"{name}_tile_int32": ((), test)
        for name, test in {
            "eqz": lambda x: int(x == 0),
            "nez": lambda x: int(x != 0),
            "gtz": lambda x: int(x > 0),
            "gez": lambda x: int(x >= 0),
            "ltz": lambda x: int(x < 0),
            "lez": lambda x: int(x <= 0),
        }.items()
    },
    **{
        f"unary_{name}_tile_int32": ((5,), test)
        for name, test in {
            "eq": lambda x: int(x == 5),
            "ne": lambda x: int(x != 5),
            "gt": lambda x: int(x > 5),
            "ge": lambda x: int(x >= 5),
            "lt": lambda x: int(x < 5),
            "le": lambda x: int(x <= 5),
        }.items()
    },
}
"""Functions of a tile of 32-bit integers, and numbers."""

INTEGER_BINARY: dict[str, tuple[tuple[Any, ...], Callable[[int, int], int]]] = {
    "add_int_tile": ((8,), lambda x, y: x + y),
    "sub_int_tile": ((8,), lambda x, y: x - y),
    "mul_int_tile": ((8,), lambda x, y: x * y),
    "bitwise_and_binary_tile": ((), lambda x, y: x & y),
    "bitwise_or_binary_tile": ((), lambda x, y: x | y),
    "bitwise_xor_binary_tile": ((), lambda x, y: x ^ y),
    "div_int32_trunc_tile": ((), truncated),
    "fmod_int32_tile": ((), lambda x, y: x - y * truncated(x, y) if y else x),
    "binary_max_int32_tile": ((), max),
    "binary_min_int32_tile": ((), min),
    **{
        f"{name}_int32_tile": ((), test)
        for name, test in {
            "eq": lambda x, y: int(x == y),
            "ne": lambda x, y: int(x != y),
            "lt": lambda x, y: int(x < y),
            "gt": lambda x, y: int(x > y),
            "le": lambda x, y: int(x <= y),
            "ge": lambda x, y: int(x >= y),
        }.items()
    },
}
"""Functions of two tiles of 32-bit integers, with their template arguments."""

SHIFTS: dict[str, Callable[[int, int], int]] = {
    "binary_left_shift_tile": lambda x, y: x << y,
    "binary_right_shift_tile": lambda x, y: x >> y,
    "binary_logical_right_shift_tile": lambda x, y: (x % 2**32) >> y,
}

BY_HAND = {"typecast_tile", "rand_tile", "where_tile", "copy_dest_values"}
"""Calls with tests of their own below."""


def row_of(name: str) -> KernelCall:
    """The definition of a call."""
    return calls_named(name)[0]


def test_every_call_has_an_oracle_here() -> None:
    """A new definition of the vector unit without one fails."""
    known = {f"{name}_tile" for name in UNARY}
    known |= {*WITH_NUMBERS, *BINARY, *INTEGER_UNARY, *INTEGER_BINARY, *SHIFTS, *BY_HAND}
    definitions = {
        definition.cpp
        for definition in CALLS
        if definition.tiles is not None and not definition.tiles.cbs
    }
    assert definitions == known


def test_every_call_of_a_compute_thread_is_implemented() -> None:
    """In the API of each role that its definition names, blocking where it has to wait for a
    register."""
    for definition in CALLS:
        if not definition.header or definition.form is not Form.CALL:
            continue
        for role, api in APIS.items():
            if role in definition.roles and definition.cpp != "get_compile_time_arg_val":
                assert callable(getattr(api, definition.cpp, None)), (definition.cpp, role)


def test_blocking_calls_return_whether_they_are_done() -> None:
    """Every other method has no result, save those that ask for something."""
    for role, api in APIS.items():
        for definition in CALLS:
            if (
                definition.form is not Form.CALL
                or role not in definition.roles
                or definition.result is not None
            ):
                continue
            method = getattr(api, definition.cpp, None)
            if method is None or not inspect.isfunction(method):
                continue
            returns = method.__annotations__.get("return")
            assert (returns == "bool") == (definition.cpp in waiting_calls(api)), (
                role,
                definition.cpp,
            )


def _inits(definition: KernelCall) -> list[Any]:
    if not definition.init:
        return []
    init = row_of(definition.init)
    template = tuple(8 for _ in init.templates)
    arguments = tuple(1 for _ in init.operands)
    return [call(definition.init, *arguments, template=template)]


def _one(x: Array, name: str, numbers: tuple[Any, ...], numerics: Numerics, wide: bool) -> Array:
    core = core_of((x, DataType.BF16), out=DataType.F32, numerics=numerics, fp32_dest_acc_en=wide)
    return result(
        core,
        call("init_sfpu", 0, 16),
        call("copy_tile", 0, 0, 0),
        *_inits(row_of(name)),
        call(name, 0, *numbers),
    )


def _close(got: Array, expected: Array, *, wide: bool) -> None:
    """Equal up to float32's last places; to the nearest bfloat16 where DST has 16 bits."""
    if not wide:
        step = 2.0**-8
    else:
        step = 2.0**-20
    np.testing.assert_allclose(got, expected, rtol=step, atol=2.0**-22)


ALL_UNARY = {
    **{f"{name}_tile": ((), function) for name, function in UNARY.items()},
    **WITH_NUMBERS,
}


@pytest.mark.parametrize("numerics", BOTH)
@pytest.mark.parametrize("name", ALL_UNARY)
def test_functions_of_a_tile(name: str, numerics: Numerics) -> None:
    """With DST of 32 bits, and in device numerics also of 16."""
    x = eighths(20, 24)
    numbers, function = ALL_UNARY[name]
    expected = np.vectorize(function, otypes=[np.float64])(x)
    for wide in (True, False):
        if numerics == "device" and has_recorded_bits(name, wide=wide):
            continue
        got = _one(x, name, numbers, numerics, wide)
        _close(got, expected, wide=wide or numerics == "exact")


@pytest.mark.parametrize("numerics", BOTH)
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_tiles(name: str, numerics: Numerics) -> None:
    """The first and second tile of DST into the third."""
    if numerics == "device" and has_recorded_bits(name, wide=True, tiles=2):
        return
    x, y = eighths(21, 24), eighths(22, 24)
    x = np.abs(x) if name.startswith("power") else x
    y = np.abs(y) if name.startswith("power") else y
    expected = np.vectorize(BINARY[name], otypes=[np.float64])(x, y)
    core = core_of(
        (x, DataType.BF16),
        (y, DataType.BF16),
        out=DataType.F32,
        numerics=numerics,
        fp32_dest_acc_en=True,
    )
    got = result(
        core,
        call("init_sfpu", 0, 16),
        call("copy_tile", 0, 0, 1),
        call("copy_tile", 1, 0, 2),
        *_inits(row_of(name)),
        call(name, 1, 2, 0),
    )
    _close(got, expected, wide=True)


def _integers(seed: int) -> Array:
    rng = np.random.default_rng(seed)
    values = rng.integers(-(2**31) + 1, 2**31, (32, 32))
    values[:4] = rng.integers(-6, 7, (4, 32))
    return values


def _as_words(values: Array) -> Array:
    return values.astype(np.int64).astype(np.uint32)


@pytest.mark.parametrize("numerics", BOTH)
@pytest.mark.parametrize("name", INTEGER_UNARY)
def test_functions_of_integers(name: str, numerics: Numerics) -> None:
    """32 bits with sign; results wrap."""
    x = _integers(23)
    numbers, function = INTEGER_UNARY[name]
    core = core_of(
        (_as_words(x), DataType.U32),
        out=DataType.U32,
        numerics=numerics,
        fp32_dest_acc_en=True,
    )
    got = result(
        core,
        call("init_sfpu", 0, 16),
        call("copy_tile", 0, 0, 0),
        *_inits(row_of(name)),
        call(name, 0, *numbers),
    )
    expected = np.vectorize(lambda each: wrapped(function(int(each))), otypes=[np.int64])(x)
    np.testing.assert_array_equal(got, _as_words(expected))


@pytest.mark.parametrize("numerics", BOTH)
@pytest.mark.parametrize("name", [*INTEGER_BINARY, *SHIFTS])
def test_functions_of_two_tiles_of_integers(name: str, numerics: Numerics) -> None:
    """32 bits with sign; results wrap; shifts by 0 to 31."""
    x, y = _integers(24), _integers(25)
    y[::2] = x[::2]
    y = y % 32 if name in SHIFTS else y
    if name == "div_int32_trunc_tile":
        y[y == 0] = 5
    template, function = INTEGER_BINARY[name] if name in INTEGER_BINARY else ((), SHIFTS[name])
    core = core_of(
        (_as_words(x), DataType.U32),
        (_as_words(y), DataType.U32),
        out=DataType.U32,
        numerics=numerics,
        fp32_dest_acc_en=True,
    )
    got = result(
        core,
        call("init_sfpu", 0, 16),
        call("copy_tile", 0, 0, 0),
        call("copy_tile", 1, 0, 1),
        *_inits(row_of(name)),
        call(name, 0, 1, 0, template=template),
    )
    expected = np.vectorize(lambda a, b: wrapped(function(int(a), int(b))), otypes=[np.int64])(x, y)
    np.testing.assert_array_equal(got, _as_words(expected))


BY_ZERO = {
    "exact": dict.fromkeys((0, 3, -1, -7, 1000003, 2**31 - 1, -(2**31)), -1),
    "device": {
        **dict.fromkeys((0, 3, 7, 1000003, 2**31 - 1), 65536),
        **dict.fromkeys((-1, -7, -(2**31) + 1), -65536),
        -(2**31): -65534,
    },
}
"""Quotients by 0: all ones as in XLA, and what ttsim 1.10.0 gave for tt-metal 0.81 on Blackhole."""


@pytest.mark.parametrize("numerics", BOTH)
def test_division_of_integers_by_zero(numerics: Numerics) -> None:
    """Device numerics have what the algorithm of the kernel library leaves."""
    x = np.resize(np.array([*BY_ZERO[numerics]], np.int64), (32, 32))
    core = core_of(
        (_as_words(x), DataType.U32),
        (_as_words(np.zeros_like(x)), DataType.U32),
        out=DataType.U32,
        numerics=numerics,
        fp32_dest_acc_en=True,
    )
    got = result(
        core,
        call("init_sfpu", 0, 16),
        call("copy_tile", 0, 0, 0),
        call("copy_tile", 1, 0, 1),
        call("div_int32_trunc_tile_init"),
        call("div_int32_trunc_tile", 0, 1, 0),
    )
    expected = np.vectorize(BY_ZERO[numerics].__getitem__, otypes=[np.int64])(x)
    np.testing.assert_array_equal(got, _as_words(expected))


@pytest.mark.parametrize("numerics", BOTH)
def test_choice(numerics: Numerics) -> None:
    """`where`: the condition is tile 0."""
    condition, x, y = np.sign(eighths(26, 3)), eighths(27), eighths(28)
    tiles = np.stack([condition, x, y])
    core = core_of((tiles, DataType.BF16), numerics=numerics)
    got = result(
        core,
        call("init_sfpu", 0, 16),
        *(call("copy_tile", 0, index, index) for index in range(3)),
        call("where_tile_init"),
        call("where_tile", 0, 1, 2, 0, template=(5,)),
    )
    np.testing.assert_array_equal(got, np.where(condition != 0, x, y))


def test_copy_within_dst() -> None:
    """From tile 2 to tile 0."""
    x = eighths(29)
    core = core_of((x, DataType.BF16))
    got = result(
        core,
        call("init_sfpu", 0, 16),
        call("copy_tile", 0, 0, 2),
        call("copy_dest_values_init"),
        call("copy_dest_values", 2, 0),
    )
    np.testing.assert_array_equal(got, x)


FLOAT32, BFLOAT16, INT32, UINT16, UINT32, UINT8 = 0, 5, 8, 9, 24, 30


@pytest.mark.parametrize("numerics", BOTH)
@pytest.mark.parametrize(
    ("target", "out", "low", "high"),
    [
        (INT32, DataType.U32, -(2**31), 2**31 - 1),
        (UINT32, DataType.U32, 0, 2**32 - 1),
        (UINT16, DataType.U16, 0, 2**16 - 1),
        (UINT8, DataType.U8, 0, 255),
    ],
)
def test_floats_to_integers(
    target: int, out: DataType, low: int, high: int, numerics: Numerics
) -> None:
    """The fraction is dropped, what is too large saturates."""
    x = eighths(30)
    x[0, :4] = [3e9, -3e9, 1e6, 300]
    core = core_of((x, DataType.BF16), out=out, numerics=numerics, fp32_dest_acc_en=True)
    got = result(
        core,
        call("init_sfpu", 0, 16),
        call("copy_tile", 0, 0, 0),
        call("typecast_tile_init", template=(BFLOAT16, target)),
        call("typecast_tile", 0, template=(BFLOAT16, target)),
    )
    stored = x.astype(ml_dtypes.bfloat16).astype(np.float64)
    expected = np.clip(np.trunc(stored), low, high).astype(np.int64)
    np.testing.assert_array_equal(got, expected.astype(got.dtype))


@pytest.mark.parametrize("numerics", BOTH)
def test_integers_to_floats(numerics: Numerics) -> None:
    """Exactly, up to the target's precision: nearest, ties to even."""
    x = _integers(31)
    core = core_of(
        (_as_words(x), DataType.U32), out=DataType.F32, numerics=numerics, fp32_dest_acc_en=True
    )
    for target, dtype in ((FLOAT32, np.float32), (BFLOAT16, ml_dtypes.bfloat16)):
        core = core_of(
            (_as_words(x), DataType.U32),
            out=DataType.F32,
            numerics=numerics,
            fp32_dest_acc_en=True,
        )
        got = result(
            core,
            call("init_sfpu", 0, 16),
            call("copy_tile", 0, 0, 0),
            call("typecast_tile_init", template=(INT32, target)),
            call("typecast_tile", 0, template=(INT32, target)),
        )
        expected = x.astype(np.float32).astype(dtype).astype(np.float32)
        np.testing.assert_array_equal(got, expected)


def test_random_numbers_depend_on_the_seed_alone() -> None:
    """From 2 to 5, the same twice."""

    def drawn(seed: int) -> Array:
        core = core_of((eighths(1), DataType.BF16), out=DataType.F32, fp32_dest_acc_en=True)
        return result(
            core,
            call("init_sfpu", 0, 16),
            call("rand_tile_init", seed),
            call("rand_tile", 0, word(2.0), word(3.0)),
        )

    first = drawn(1)
    assert 2 <= first.min() < 2.1
    assert 4.9 < first.max() < 5
    np.testing.assert_array_equal(first, drawn(1))
    assert (first != drawn(2)).any()


def test_infinity_and_nan_pass_the_vector_unit() -> None:
    """1 / 0 and the root of a negative number, packed to bfloat16 from 16 bits."""
    x = np.zeros((32, 32), np.float32)
    x[0, 0] = -1
    core = core_of((x, DataType.BF16))
    got = result(
        core,
        call("init_sfpu", 0, 16),
        call("copy_tile", 0, 0, 0),
        call("sqrt_tile_init"),
        call("sqrt_tile", 0),
        call("recip_tile_init"),
        call("recip_tile", 0),
    )
    # As recorded: a DST of 16 bits has infinity for NaN.
    assert got[0, 0] == 0
    assert (got.ravel()[1:] == np.inf).all()


def test_a_function_that_was_not_prepared() -> None:
    """A finding that names the call to add."""
    watch = Recorder()
    core = core_of((eighths(1), DataType.BF16), watch=watch)
    result(
        core,
        call("init_sfpu", 0, 16),
        call("copy_tile", 0, 0, 0),
        call("exp_tile_init"),
        call("exp_tile", 0),
        call("sin_tile", 0),
    )
    assert [(each.rule, each.message) for each in watch.findings] == [
        ("init", "the vector unit is not prepared for sin_tile; call sin_tile_init before")
    ]


def test_elements_of_the_rows_are_known() -> None:
    """A new kind of element needs code here."""
    assert {
        definition.tiles.element for definition in CALLS if definition.tiles is not None
    } <= set(Element)
    assert Role.MATH in APIS


# --- Approximations -----------------------------------------------------------------------------

FAST = (1, 1)
"""`exp_tile<approx, fast_and_approx>`."""


def schraudolph(x: float) -> float:
    """The power of e whose bits are a multiple of x, in Python's float64."""
    scaled = round(max(x, -88.5) * 256 / math.log(2) + 32500.818359375)
    return struct.unpack("<f", struct.pack("<I", min(max(scaled, 0), 65535) << 15))[0]


def exponentials(x: Array, template: tuple[int, ...], numerics: Numerics) -> Array:
    """Of a tile of float32."""
    core = core_of((x, DataType.F32), out=DataType.F32, numerics=numerics, fp32_dest_acc_en=True)
    return result(
        core,
        call("init_sfpu", 0, 16),
        call("copy_tile", 0, 0, 0),
        call("exp_tile_init", template=template),
        call("exp_tile", 0, template=template),
    )


def test_the_fast_exponential() -> None:
    """The published algorithm, in device numerics; at most 3.2 % off, and 0 where e^x is tiny."""
    x = eighths(5)
    x.ravel()[:5] = 0, 1, -88.5, -1e30, -math.inf
    found = exponentials(x, FAST, "device")
    np.testing.assert_array_equal(found, np.vectorize(schraudolph)(x))
    assert found.ravel()[:5].tolist() == [0.978515625, 2.796875, 0, 0, 0]
    np.testing.assert_allclose(found.ravel()[5:], np.exp(x.ravel()[5:]), rtol=0.032)


@pytest.mark.parametrize(
    ("template", "numerics"),
    [(FAST, "exact"), ((), "device"), ((0, 1), "device"), ((1, 0), "device")],
)
def test_exponentials_that_are_not_fast(template: tuple[int, ...], numerics: Numerics) -> None:
    """By default, with one flag of two, or in exact numerics."""
    x = eighths(5)
    np.testing.assert_allclose(exponentials(x, template, numerics), np.exp(x), rtol=1e-3)


@pytest.mark.parametrize(
    ("name", "template", "wormhole", "blackhole"),
    [
        ("exp_tile", (), 672, 482),
        ("exp_tile", (1, 1), 128, 52),
        ("exp_tile", (1, 0), 672, 482),
        ("sigmoid_tile", (), 1394, 1247),
        ("sigmoid_tile", (4, 1), 198, 221),
        ("tanh_tile", (), 764, 764),
        ("tanh_tile", (1,), 160, 160),
        ("gelu_tile", (0,), 2847, 2847),
        ("gelu_tile", (), 221, 221),
        ("sqrt_tile", (), 896, 896),
        ("sqrt_tile", (1,), 576, 576),
        ("rsqrt_tile", (0,), 1024, 1024),
        ("rsqrt_tile", (1,), 704, 704),
    ],
)
def test_cycles_by_template_and_chip(
    name: str, template: tuple[int, ...], wormhole: int, blackhole: int
) -> None:
    """Published figures, of the other chip where there are none of one."""
    assert cycles_of(name, template, wide=False) == [wormhole, blackhole]


@pytest.mark.parametrize(
    ("template", "wormhole", "blackhole"),
    [((), 1376, 1344), ((0, 1, 1), 672, 482), ((1, 1, 1), 128, 52)],
)
def test_cycles_of_exponentials_of_32_bits(
    template: tuple[int, ...], wormhole: int, blackhole: int
) -> None:
    """The instructions of tt-metal 0.81's kernel, unless 16 bits of them are asked for."""
    assert cycles_of("exp_tile", template, wide=True) == [wormhole, blackhole]


def cycles_of(name: str, template: tuple[int, ...], *, wide: bool) -> list[int]:
    """Of a call on Wormhole and on Blackhole, with DST of 32 or of 16 bits."""
    found: list[int] = []
    for board in ("n150", "p150"):
        clocks: list[int] = []
        for count in (1, 2):
            core = core_of((eighths(1), DataType.BF16), board=board, fp32_dest_acc_en=wide)
            result(core, call(f"{name}_init"), *[call(name, 0, template=template)] * count)
            clocks.append(core.threads[Role.MATH].clock)
        found.append(clocks[1] - clocks[0])
    return found


@pytest.mark.parametrize("template", [(), (0, 1, 1)])
def test_exponentials_round_where_16_bits_are_asked_for(template: tuple[int, ...]) -> None:
    """To within the next number of bfloat16 into a DST of 32 bits."""
    x = eighths(5)
    found = exponentials(x, template, "device").astype(np.float32)
    error = np.abs(found / np.exp(x.astype(np.float64)) - 1).max()
    narrow = bool(template)
    assert (found.view(np.uint32) & 0xFFFF == 0).all() == narrow
    assert 2**-10 < error < 2**-7 if narrow else error < 2**-20
