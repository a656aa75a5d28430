"""Calls on the vector unit that tt-metal 0.81 has beyond the operations, against torch and NumPy.

Oracles compute in float64; tolerances are a few units of the last place of float32, for special
functions 2^-18. In device numerics with a DST of 16 bits results are those bfloat16 holds.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from cores.compute_core import Recorder, call
from cores.tile_bytes import BOTH, core_of, eighths, has_recorded_bits, result
from numpy.typing import NDArray

from ttmlir.layout.enums import DataType
from ttmlir.optable.kernel import KernelCall, find_call
from ttmlir.optable.kernel.late_vector import CALLS
from ttmlir.sim.errors import SimError
from ttmlir.sim.options import Numerics

torch = pytest.importorskip("torch")
functional = torch.nn.functional
Array = NDArray[Any]
FLOAT32, BFLOAT16, INT32 = 0, 5, 8
SUM, AVERAGE, LARGEST, SMALLEST = range(4)


def word(number: float) -> int:
    """The bits of a float32."""
    return struct.unpack("<I", struct.pack("<f", number))[0]


def gelu_derivative(x: Any) -> Any:
    """By torch's own differentiation."""
    x = x.clone().requires_grad_()
    functional.gelu(x).sum().backward()
    return x.grad


def xielu(x: Any) -> Any:
    """With slopes 0.8 and 0.3 (Huang and Schlag, 2024), beta 0.5."""
    below = 0.3 * (torch.expm1(torch.minimum(x, torch.tensor(-1e-6, dtype=x.dtype))) - x)
    return torch.where(x > 0, 0.8 * x * x, below) + 0.5 * x


def reflected(x: Any) -> Any:
    """lgamma of x or of 1 - x."""
    return torch.lgamma(torch.where(x < 0.5, 1 - x, x))


UNARY: dict[str, tuple[tuple[float, ...], Callable[[Any], Any]]] = {
    "celu_tile": ((0.5, 2.0), lambda x: functional.celu(x, 0.5)),
    "softshrink_tile": ((0.75,), lambda x: functional.softshrink(x, 0.75)),
    "hardshrink_tile": ((0.75,), lambda x: functional.hardshrink(x, 0.75)),
    "hardmish_tile": ((), lambda x: x * torch.clamp(x + 2, 0, 2) / 2),
    "mish_tile": ((), functional.mish),
    "prelu_tile": ((0.25,), lambda x: torch.where(x > 0, x, 0.25 * x)),
    "rpow_tile": ((2.5,), lambda x: torch.pow(2.5, x)),
    "rdiv_tile": ((2.5,), lambda x: 2.5 / x),
    "threshold_tile": ((0.5, -3.0), lambda x: functional.threshold(x, 0.5, -3.0)),
    "softcap_tile": ((4.0, 0.25), lambda x: 4 * torch.tanh(x / 4)),
    "tanhshrink_tile": ((), functional.tanhshrink),
    "tanh_derivative_tile": ((), lambda x: 1 - torch.tanh(x) ** 2),
    "gelu_tanh_tile": ((), lambda x: functional.gelu(x, approximate="tanh")),
    "gelu_derivative_tile": ((), gelu_derivative),
    "erfinv_tile": ((), torch.erfinv),
    "i0_tile": ((), torch.special.i0),
    "i1_tile": ((), torch.special.i1),
    "digamma_tile": ((), torch.digamma),
    "lgamma_stirling_tile": ((), reflected),
    "xielu_tile": ((0.8, 0.3), xielu),
    "unary_max_tile": ((0.5,), lambda x: torch.clamp(x, min=0.5)),
    "unary_min_tile": ((0.5,), lambda x: torch.clamp(x, max=0.5)),
    "polygamma_tile": ((2.0, -2.0), lambda x: torch.polygamma(2, x)),
}
"""Numbers, and torch's function in float64."""

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "remainder_binary_tile": torch.remainder,
    "xlogy_binary_tile": torch.xlogy,
    "logaddexp_binary_tile": torch.logaddexp,
    "logaddexp2_binary_tile": torch.logaddexp2,
    "clamped_silu_glu_tile": lambda x, y: (
        functional.silu(torch.clamp(x, max=10)) * torch.clamp(y, -10, 10)
    ),
    "situ_glu_tile": lambda x, y: (
        4 * torch.tanh(x / 4) * torch.sigmoid(x) * 25 * torch.tanh(y / 25)
    ),
}

INTEGERS: dict[str, Callable[[Any, Any], Any]] = {
    "remainder_int32_tile": torch.remainder,
    "div_int32_floor_tile": lambda x, y: torch.div(x, y, rounding_mode="floor"),
    "gcd_tile": torch.gcd,
    "lcm_tile": torch.lcm,
    "rsub_int_tile": lambda x, y: y - x,
}

TERNARY: dict[str, tuple[tuple[float, ...], Callable[[Any, Any, Any], Any]]] = {
    "addcmul_tile": ((0.5,), lambda a, b, c: torch.addcmul(a, b, c, value=0.5)),
    "addcdiv_tile": ((0.5,), lambda a, b, c: torch.addcdiv(a, b, c, value=0.5)),
    "lerp_tile": ((), torch.lerp),
    "mac_tile": ((), lambda a, b, c: a * b + c),
    "snake_beta_tile": ((), lambda x, alpha, beta: x + torch.sin(alpha * x) ** 2 / beta),
}


def prepared(name: str, *numbers: int, template: tuple[int, ...] = ()) -> list[Any]:
    """The call that prepares."""
    definition = find_call(name)
    kinds = template or tuple(FLOAT32 for _ in find_call(definition.init).templates)
    return [call("init_sfpu", 0, 16), call(definition.init, *numbers, template=kinds)]


def loaded(count: int) -> list[Any]:
    """So many tiles in DST, one of each circular buffer."""
    calls = list[Any]()
    for cb in range(count):
        calls += call("reconfig_data_format_srca", cb), call("copy_tile", cb, 0, cb)
    return calls


def oracle(function: Callable[..., Any], *arrays: Array) -> Array:
    """In float64."""
    return function(*(torch.from_numpy(each.astype(np.float64)) for each in arrays)).numpy()


def run(
    arrays: list[Array],
    calls: list[Any],
    numerics: Numerics,
    *,
    out: DataType = DataType.F32,
    wide: bool = True,
    integers: bool = False,
    kinds: list[DataType] | None = None,
) -> Array:
    """Tile 0 of DST after the calls."""
    kind = DataType.U32 if integers else DataType.BF16
    formats = kinds or [kind] * len(arrays)
    core = core_of(
        *zip(arrays, formats, strict=True), out=out, numerics=numerics, fp32_dest_acc_en=wide
    )
    return result(core, calls[0], *loaded(len(arrays)), *calls[1:])


def close(got: Array, expected: Array, *, wide: bool, rtol: float = 2.0**-18) -> None:
    """Equal up to the last places of float32, or of bfloat16."""
    np.testing.assert_allclose(got, expected, rtol=rtol if wide else 2.0**-8, atol=2.0**-21)


@pytest.mark.parametrize("numerics", BOTH)
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_a_tile(name: str, numerics: Numerics) -> None:
    """With DST of 32 bits and of 16."""
    numbers, function = UNARY[name]
    x = eighths(41, 24)
    if name in ("digamma_tile", "polygamma_tile", "rdiv_tile"):
        x = np.abs(x) + 0.125
    x = np.clip(x, -0.875, 0.875) if name == "erfinv_tile" else x
    bits = tuple(map(word, numbers))
    for wide in (True, False):
        if numerics == "device" and has_recorded_bits(name, wide=wide):
            continue
        got = run([x], [*prepared(name), call(name, 0, *bits)], numerics, wide=wide)
        close(got, oracle(function, x), wide=wide or numerics == "exact")


@pytest.mark.parametrize("numerics", BOTH)
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_tiles(name: str, numerics: Numerics) -> None:
    """The result goes to the first tile."""
    x, y = eighths(42, 24), eighths(43, 24)
    y = np.abs(y) if name == "xlogy_binary_tile" else y
    x[0, 0] = 0
    got = run([x, y], [*prepared(name), call(name, 0, 1, 0)], numerics)
    close(got, oracle(BINARY[name], x, y), wide=True)


@pytest.mark.parametrize("numerics", BOTH)
@pytest.mark.parametrize("name", TERNARY)
def test_functions_of_three_tiles(name: str, numerics: Numerics) -> None:
    """The result goes to a tile of its own."""
    arrays = [eighths(44, 24), eighths(45, 24), np.abs(eighths(46, 24)) + 0.125]
    numbers, function = TERNARY[name]
    calls = [
        *prepared(name),
        call(name, 0, 1, 2, 3, *map(word, numbers), template=(FLOAT32,)),
        call("copy_dest_values_init"),
        call("copy_dest_values", 3, 0),
    ]
    close(run(arrays, calls, numerics), oracle(function, *arrays), wide=True)


def integers(seed: int, size: int = 2000) -> Array:
    """With sign, some of them equal to 1."""
    values = np.random.default_rng(seed).integers(-size, size, (32, 32))
    values[values == 0] = 1
    return values


def words(values: Array) -> Array:
    """As a circular buffer of UInt32 has them."""
    return values.astype(np.int64).astype(np.uint32)


@pytest.mark.parametrize("name", INTEGERS)
def test_functions_of_integers(name: str) -> None:
    """32 bits with sign."""
    x, y = integers(47), integers(48, 90)
    template = (INT32,) if name == "rsub_int_tile" else ()
    calls = [*prepared(name), call(name, 0, 1, 0, template=template)]
    got = run([words(x), words(y)], calls, "device", out=DataType.U32, integers=True)
    expected = INTEGERS[name](torch.from_numpy(x), torch.from_numpy(y)).numpy()
    np.testing.assert_array_equal(got, words(expected))


WITH_NUMBERS: dict[str, tuple[tuple[int, ...], Callable[[int], int]]] = {
    "unary_max_int32_tile": ((-7,), lambda x: max(x, -7)),
    "unary_min_int32_tile": ((-7,), lambda x: min(x, -7)),
    "unary_max_uint32_tile": ((7,), lambda x: max(x % 2**32, 7)),
    "unary_min_uint32_tile": ((7,), lambda x: min(x % 2**32, 7)),
    "relu_max_tile_int32": ((50,), lambda x: min(max(x, 0), 50)),
    "relu_min_tile_int32": ((50,), lambda x: max(x, 50)),
    "relu_max_tile_uint32": ((50,), lambda x: min(x % 2**32, 50)),
    "relu_min_tile_uint32": ((50,), lambda x: max(x % 2**32, 50)),
    "relu_max_tile_uint16": ((50,), lambda x: min(x % 2**32, 50)),
    "relu_min_tile_uint16": ((50,), lambda x: max(x % 2**32, 50)),
    "rsub_unary_int32_tile": ((9,), lambda x: 9 - x),
    "remainder_tile_uint32": ((11,), lambda x: x % 2**32 % 11),
    "signbit_tile_int32": ((), lambda x: int(x < 0)),
    "identity_tile_uint32": ((), lambda x: x),
    "eqz_tile_uint16": ((), lambda x: int(x == 0)),
    "eqz_tile_uint32": ((), lambda x: int(x == 0)),
    "nez_tile_uint16": ((), lambda x: int(x != 0)),
    "nez_tile_uint32": ((), lambda x: int(x != 0)),
}


@pytest.mark.parametrize("name", WITH_NUMBERS)
def test_functions_of_integers_and_numbers(name: str) -> None:
    """By Python's own integers."""
    x = integers(49)
    x[0] = 0
    numbers, function = WITH_NUMBERS[name]
    calls = [*prepared(name), call(name, 0, *numbers)]
    got = run([words(x)], calls, "device", out=DataType.U32, integers=True)
    expected = np.vectorize(lambda each: function(int(each)), otypes=[np.int64])(x)
    np.testing.assert_array_equal(got, words(expected))


@pytest.mark.parametrize("name", ["binary_max_uint32_tile", "binary_min_uint32_tile"])
def test_extremes_of_unsigned_integers(name: str) -> None:
    """Negative ones are large."""
    x, y = words(integers(50)), words(integers(51))
    calls = [*prepared(name), call(name, 0, 1, 0)]
    got = run([x, y], calls, "device", out=DataType.U32, integers=True)
    np.testing.assert_array_equal(got, (np.maximum if "max" in name else np.minimum)(x, y))


def test_a_remainder_of_unsigned_integers() -> None:
    """As NumPy's; the dividend where the divisor is 0."""
    x, y = words(integers(52)), words(np.abs(integers(53, 60)))
    y[0] = 0
    name = "remainder_uint32_tile"
    calls = [*prepared(name), call(name, 0, 1, 0)]
    got = run([x, y], calls, "device", out=DataType.U32, integers=True)
    np.testing.assert_array_equal(got[1:], (x % np.maximum(y, 1))[1:])
    np.testing.assert_array_equal(got[0], x[0])


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", ["remainder", "fmod"])
def test_remainders_by_a_number(name: str, sign: float) -> None:
    """The call that prepares has the number and its reciprocal."""
    x, divisor = eighths(54, 24), 0.75 * sign
    calls = [*prepared(f"{name}_tile", word(divisor), word(1 / divisor)), call(f"{name}_tile", 0)]
    expected = getattr(torch, name)(torch.from_numpy(x.astype(np.float64)), divisor).numpy()
    close(run([x], calls, "device"), expected, wide=True)


@pytest.mark.parametrize(("mode", "rounded"), [(0, np.positive), (1, np.trunc), (2, np.floor)])
def test_quotients_are_rounded(mode: int, rounded: Callable[..., Array]) -> None:
    """RoundingMode::None, Trunc and Floor."""
    x = eighths(55, 24)
    x[x == 0] = 1
    calls = [*prepared("rdiv_tile"), call("rdiv_tile", 0, word(-2.5), template=(mode,))]
    close(run([x], calls, "exact"), rounded(-2.5 / x.astype(np.float64)), wide=True)


def test_quotients_of_integers_are_floats() -> None:
    """No rounding to integers."""
    x, y = integers(56), integers(57)
    calls = [*prepared("div_int32_tile"), call("div_int32_tile", 0, 1, 0)]
    got = run([words(x), words(y)], calls, "exact", integers=True)
    close(got, x / y, wide=True)


@pytest.mark.parametrize("equal_nan", [False, True])
def test_near_numbers(equal_nan: bool) -> None:
    """As torch.isclose."""
    x, y = eighths(58), eighths(58)
    y[::2] += 0.125
    x[3, :2], y[3, :2] = (np.nan, np.inf), (np.nan, np.inf)
    bits = word(0.05), word(0.01)
    name = "isclose_binary_tile"
    calls = [*prepared(name), call(name, 0, 1, 0, *bits, template=(int(equal_nan),))]
    expected = torch.isclose(
        torch.from_numpy(x), torch.from_numpy(y), rtol=0.05, atol=0.01, equal_nan=equal_nan
    )
    np.testing.assert_array_equal(run([x, y], calls, "exact"), expected.numpy())


def test_next_numbers() -> None:
    """Of 32 bits as NumPy's, of 16 as those of ml_dtypes."""
    x, y = eighths(59), eighths(60)
    x[0], y[0, ::2] = 0, 0
    for name, dtype in (
        ("nextafter_binary_tile", np.float32),
        ("nextafter_bf16_binary_tile", ml_dtypes.bfloat16),
    ):
        got = run([x, y], [*prepared(name), call(name, 0, 1, 0)], "exact")
        expected = np.nextafter(x.astype(dtype), y.astype(dtype)).astype(np.float32)
        np.testing.assert_array_equal(got, expected)


def test_lgamma_in_steps() -> None:
    """The calls that ttnn makes one after another give torch's function."""
    x = eighths(61, 24) + 0.0625
    sine = np.log(np.abs(np.sin(np.pi * x.astype(np.float64)))).astype(np.float32)
    log = np.log(np.where(x < 0.5, 1 - x, x).astype(np.float64)).astype(np.float32)
    calls = [
        *prepared("lgamma_stirling_float_tile"),
        call("lgamma_stirling_float_tile", 2, 1, 0),
        call("lgamma_adjusted_tile_init"),
        call("lgamma_adjusted_tile", 0, 3, 2, 0),
    ]
    core = core_of(
        (np.stack([log, x, sine]), DataType.F32),
        out=DataType.F32, numerics="exact", fp32_dest_acc_en=True,
    )  # fmt: skip
    copies = [call("copy_tile", 0, place, place + 1) for place in range(3)]
    got = result(core, calls[0], *copies, *calls[1:])
    np.testing.assert_allclose(got, oracle(torch.lgamma, x), rtol=1e-5, atol=1e-5)


def test_quantization() -> None:
    """x / scale + zero point, rounded to the nearest; and back."""
    x, scale = eighths(62, 24), np.full((32, 32), 16.0, np.float32)
    x[0, :2] = 100, -100
    calls = [
        *prepared("quant_tile", word(3.0)),
        call("quant_tile", 0, 1, 0),
    ]
    expected = np.clip(np.rint(x * 16 + 3), -128, 127).astype(np.int64)
    got = run([x, scale], calls, "device", out=DataType.U32)
    np.testing.assert_array_equal(got, words(expected))
    back = np.full((32, 32), 0.0625, np.float32)
    calls = [
        call("init_sfpu", 0, 16),
        call("dequant_tile_init", word(-3.0)),
        call("dequant_tile", 0, 1, 0),
    ]
    kinds = [DataType.U32, DataType.BF16]
    found = run([got, back], calls, "device", kinds=kinds)
    close(found, (expected - 3) / 16, wide=True)


@pytest.mark.parametrize(
    ("call_name", "init", "zero", "low", "high"),
    [
        ("requant_tile", "requant_tile_init", -5.0, -128, 127),
        ("requant_tile", "requant_uint8_tile_init", 5.0, 0, 255),
        ("requant_int8_tile", "requant_int8_tile_init", 5.0, -128, 127),
    ],
)
def test_requantization(call_name: str, init: str, zero: float, low: int, high: int) -> None:
    """Integers of 8 bits of integers."""
    x, scale = integers(63, 900), np.full((32, 32), 0.25, np.float32)
    calls = [call("init_sfpu", 0, 16), call(init, word(zero)), call(call_name, 0, 1, 0)]
    kinds = [DataType.U32, DataType.BF16]
    got = run([words(x), scale], calls, "device", out=DataType.U32, kinds=kinds)
    np.testing.assert_array_equal(got, words(np.clip(np.rint(x / 4 + zero), low, high)))


PARTS: dict[str, Callable[[Array], Array]] = {"col": lambda y: y[:, :1], "row": lambda y: y[:1]}
FUNCTIONS: dict[str, Callable[[Array, Array], Array]] = {
    "sub": np.subtract,
    "add": np.add,
    "mul": np.multiply,
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("word_", FUNCTIONS)
def test_a_part_is_spread(word_: str, part: str) -> None:
    """Column 0 or row 0 of the second tile."""
    x, y = eighths(64, 9), eighths(65, 9)
    name = f"sfpu_{word_}_bcast_{part}"
    calls = [*prepared(name), call(name, 0, 1)]
    expected = FUNCTIONS[word_](x, PARTS[part](y))
    np.testing.assert_array_equal(run([x, y], calls, "device"), expected)
    kind, operation = {"col": 1, "row": 2}[part], {"mul": 0, "add": 2, "sub": 3}[word_]
    calls = [call("init_sfpu", 0, 16), call("sfpu_bcast_init", template=(kind,))]
    calls.append(call("sfpu_bcast", 0, 1, template=(kind, operation)))
    np.testing.assert_array_equal(run([x, y], calls, "device"), expected)


def test_normalization_by_parts() -> None:
    """(x - mean) * factor, with columns and with a single number."""
    x, mean, factor = eighths(66, 9), eighths(67, 9), eighths(68, 9)
    name = "sfpu_normalize_bcast_col"
    calls = [*prepared(name), call(name, 0, 1, 2)]
    expected = (x - mean[:, :1]) * factor[:, :1]
    np.testing.assert_array_equal(run([x, mean, factor], calls, "exact"), expected)
    calls[-1] = call("sfpu_residual_normalize_bcast_col", 0, 0, 1, 2)
    expected = (x + x - mean[:, :1]) * factor[:, :1]
    np.testing.assert_array_equal(run([x, mean, factor], calls, "exact"), expected)
    calls[-1] = call("sfpu_normalize_bcast_col_two_tiles", 1, 0, 1, 2)
    name = "sfpu_normalize_bcast_scalar"
    calls = [*prepared(name), call(name, 0, 1, 2)]
    expected = (x - mean[0, 0]) * factor[0, 0]
    np.testing.assert_array_equal(run([x, mean, factor], calls, "exact"), expected)


@pytest.mark.parametrize("dimension", [0, 1])
@pytest.mark.parametrize(
    ("pool", "function"),
    [(SUM, np.sum), (AVERAGE, np.mean), (LARGEST, np.max), (SMALLEST, np.min)],
)
def test_reductions(pool: int, function: Callable[..., Array], dimension: int) -> None:
    """Columns of a tile, rows of two tiles side by side."""
    x, y = eighths(69, 9), eighths(70, 9)
    counts = (2, 1) if dimension == 0 else (1, 1)
    init = prepared("sfpu_reduce", template=(pool, FLOAT32))
    reduce = call("sfpu_reduce", 0, *counts, template=(pool, FLOAT32, dimension))
    if dimension == 0 and pool == AVERAGE:
        with pytest.raises(SimError, match="sfpu_reduce takes a single tile to reduce columns"):
            run([x, y], [*init, reduce], "exact")
        return
    got = run([x, y], [*init, reduce], "exact")
    if dimension == 0:
        np.testing.assert_array_equal(got[:, 0], function(np.hstack([x, y]), axis=1))
        np.testing.assert_array_equal(got[:, 1:], x[:, 1:])
    else:
        np.testing.assert_array_equal(got[0], function(x, axis=0))
        np.testing.assert_array_equal(got[1:], x[1:])


def test_sums_of_integers() -> None:
    """Down the columns, along the rows, and of the first four rows of two tiles."""
    x, y = integers(71), integers(72)
    for name, place in (("sfpu_sum_int_col", 0), ("sfpu_sum_int_row", 1)):
        calls = [*prepared(name), call(name, 0)]
        got = run([words(x)], calls, "device", out=DataType.U32, integers=True)
        first = got[0] if place == 0 else got[:, 0]
        np.testing.assert_array_equal(first, words(x.sum(axis=place)))
    name = "sfpu_add_top_row"
    calls = [*prepared(name), call(name, 0, 1, 0, template=(INT32,))]
    got = run([words(x), words(y)], calls, "device", out=DataType.U32, integers=True)
    np.testing.assert_array_equal(got[:4], words(x + y)[:4])
    np.testing.assert_array_equal(got[4:], words(x)[4:])


def test_a_turn_of_complex_numbers() -> None:
    """i times what stands in an even column and the odd one after it."""
    x = eighths(73)
    name = "alt_complex_rotate90_tile"
    got = run([x], [*prepared(name), call(name, 0)], "device")
    turned = 1j * (x[:, ::2] + 1j * x[:, 1::2])
    np.testing.assert_array_equal(got[:, ::2], turned.real)
    np.testing.assert_array_equal(got[:, 1::2], turned.imag)


def test_stochastic_rounding() -> None:
    """To one of the two neighbours in bfloat16, right on average."""
    x = np.full((32, 32), 1 + 2.0**-9, np.float32)
    name = "stochastic_round_tile"
    core = core_of((x, DataType.F32), out=DataType.F32, numerics="exact", fp32_dest_acc_en=True)
    copy = call("copy_tile", 0, 0, 0)
    got = result(core, *prepared(name), copy, call(name, 0))
    assert set(np.unique(got)) == {1.0, 1 + 2.0**-7}
    assert abs(got.mean() - x.mean()) < 2.0**-10


def test_orders_that_polygamma_lacks() -> None:
    """The message says how an order is given."""
    calls = [*prepared("polygamma_tile"), call("polygamma_tile", 0, 2, 0)]
    with pytest.raises(SimError, match="there are orders 1 to 11, given as bits of float32"):
        run([eighths(74)], calls, "exact")


def test_a_function_that_was_not_prepared() -> None:
    """A finding that names the call to add."""
    watch = Recorder()
    core = core_of((eighths(1), DataType.BF16), watch=watch)
    copy = call("copy_tile", 0, 0, 0)
    result(core, call("init_sfpu", 0, 16), copy, call("quant_tile", 0, 0, 0))
    assert [each.message for each in watch.findings] == [
        "the vector unit is not prepared for quant_tile; call quant_tile_init before"
    ]


def _is_computed(definition: KernelCall) -> bool:
    return not definition.mnemonic.endswith("_init")


TESTED = {
    *(*UNARY, *BINARY, *INTEGERS, *TERNARY, *WITH_NUMBERS),
    *("binary_max_uint32_tile", "binary_min_uint32_tile", "remainder_uint32_tile"),
    *("remainder_tile", "fmod_tile", "div_int32_tile", "isclose_binary_tile"),
    *("nextafter_binary_tile", "nextafter_bf16_binary_tile", "lgamma_stirling_float_tile"),
    *("lgamma_adjusted_tile", "sfpu_bcast", "sfpu_reduce", "sfpu_add_top_row"),
    *("sfpu_sum_int_col", "sfpu_sum_int_row", "alt_complex_rotate90_tile"),
    *("stochastic_round_tile", "sfpu_normalize_bcast_col", "sfpu_normalize_bcast_scalar"),
    *("sfpu_normalize_bcast_col_two_tiles", "sfpu_residual_normalize_bcast_col"),
    *(f"sfpu_{each}_bcast_{part}" for each in FUNCTIONS for part in PARTS),
    *("quant_tile", "dequant_tile", "requant_tile", "requant_int8_tile"),
    # In test/sim/kernels/test_releases.py.
    *("power_tile_since_2026", "exp_tile_since_2026"),
}
ALIKE = {
    "quant_int8_tile",
    "dequant_int8_tile",
    "requant_int8_in_tile",
    "requant_int8_in_int8_out_tile",
}
"""The same functions by other names."""


def test_every_call_is_tested() -> None:
    """A new definition without an oracle fails."""
    assert {each.cpp for each in CALLS if _is_computed(each)} == TESTED | ALIKE
