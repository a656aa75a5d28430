"""Every elementwise operation, from TTIR through kernels and a file to numbers of the simulator.

Each test takes both roads to kernels: that of the pipeline of 2024, and the direct one by d2m.

With exact numerics a kernel computes in float32 and stores the result in the format of the tensor.
On the device, numbers pass through registers, whose roundings are known, so that they are done here
to the operands before the oracle sees them, and none of them needs a tolerance:

- what the matrix unit reads is cut to TF32, 10 bits after the leading one: on the road of 2024,
  operands that it repeats along rows or columns, and those of float32 sums and products. Of the
  first factor of a product it takes 9 bits. Other float32 numbers reach DST whole, and bfloat16
  numbers fit everywhere;
- the vector unit computes in float32. Functions are good to 4 units of their last place, and a sum
  of two terms that nearly cancel to as many units of its terms, which are of the size of 1 here;
- DST holds float32 (`fp32-dest-acc-en`), or, for bfloat16 alone, bfloat16: one rounding to 8 bits
  of precision, 2^-8 at most. The product is the sum of 4 partial ones (HiFi4), each rounded.

So the error is at most `4 * 2^-24 * (1 + |expected|)`, plus, in bfloat16, `2^-8 * |expected|`, four
times that for products. The matrix unit knows neither NaN nor infinity, the vector unit does.
Sources: tt-isa-documentation, WormholeB0/TensixTile/TensixCoprocessor (SrcASrcB.md, ELWMUL.md).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from oracles.elementwise_oracles import (
    ARITHMETIC,
    BITWISE,
    COMPARISONS,
    DIVISIONS,
    OF_BOOLEANS,
    OF_INTEGERS,
    SMOOTH,
    STEPS,
    UNARY,
    wrapped,
)
from running.sampling import sampled
from samples.ttir_text import FunctionText, tensor

from ttmlir.compiler import TTMETAL_PIPELINE, lower
from ttmlir.layout.enums import Arch
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.optable import DEFINITIONS, elementwise
from ttmlir.runtime import read_binary
from ttmlir.runtime.metal_program import MetalBinary
from ttmlir.runtime.metal_session import execute
from ttmlir.sim.machine.card_tiles import tile_function
from ttmlir.sim.machine.vector_unit import pack_bfloat16
from ttmlir.sim.options import SimOptions
from ttmlir.target.flatbuffer.ttmetal import ttmetal_to_flatbuffer

Array = np.ndarray
Oracle = Callable[..., Any]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Road:
    """A pipeline to kernels."""

    pipeline: str
    options_of_wide: str = ""
    """Options where numbers have 32 bits."""
    leniencies: frozenset[str] = frozenset()
    rounds: bool = False
    """True if the matrix unit computes with float32."""


ROADS = {
    # Kernels on buffers that stay in place do without synchronisation.
    "2024": Road(
        TTMETAL_PIPELINE,
        "{fp32-dest-acc-en=true}",
        frozenset({"aliased-cbs", "pop-unfilled"}),
        rounds=True,
    ),
    "d2m": Road("ttir-to-ttmetal-pipeline"),
}
HOST = {
    "f32": np.float32,
    "bf16": ml_dtypes.bfloat16,
    "i32": np.int32,
    "ui32": np.uint32,
    "i1": np.bool_,
}
FUNCTION_ERROR = 4 * 2.0**-24
PHASES = 4
STORE_ERROR = {"f32": 0.0, "bf16": 2.0**-8}

SHAPES = ((33, 70), (1, 5), (2, 3, 40, 17))
"""Of the first operand; none is a multiple of the tile's 32."""


# --- Compiling and running ------------------------------------------------------------------------


@dataclass(frozen=True)
class Use:
    """Operations on the same operands."""

    names: tuple[str, ...]
    shapes: tuple[Shape, ...]
    elements: tuple[str, ...]
    result: str
    """Element type of the results."""

    def text(self) -> str:
        """A function with each operation by itself."""
        types = [tensor(*s, element=e) for s, e in zip(self.shapes, self.elements, strict=True)]
        shape = np.broadcast_shapes(*self.shapes)
        text = FunctionText(types, constraint="#tile")
        operands = [f"%arg{number}" for number in range(len(types))]
        attributes = {name: row[3] for name, row in SMOOTH.items()}
        into = tensor(*shape, element=self.result)
        return text.returning(
            *(text.op(name, operands, into, attributes.get(name, "")) for name in self.names)
        )


@pytest.fixture(autouse=True, params=sorted(ROADS))
def road(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take one road after the other."""
    monkeypatch.setitem(ROADS, "", ROADS[request.param])


@cache
def compiled(use: Use, road: Road) -> MetalBinary:
    """The program; 32 bits in DST where a number has as many."""
    wide = {"f32", "i32", "ui32"} & {*use.elements, use.result}
    options = road.options_of_wide if wide else ""
    module = lower(use.text(), f"{road.pipeline}{options}", file_name="test.mlir")
    binary = read_binary(ttmetal_to_flatbuffer(module), "test.ttm")
    assert isinstance(binary, MetalBinary)
    return binary


def run(use: Use, inputs: Sequence[Array], numerics: str) -> list[Array]:
    """What the operations make of arrays, with every check of the simulator."""
    exact = numerics == "exact"
    options = SimOptions(
        numerics="exact" if exact else "device", timed=False, leniencies=ROADS[""].leniencies
    )
    result = execute(compiled(use, ROADS[""]).metal_programs[0], list(inputs), options)
    assert not [finding for each in result.reports for finding in each.report.findings]
    return [np.asarray(output) for output in result.outputs]


def with_bits(x: Array, count: int) -> Array:
    """A number cut to so many bits after the leading one if it is a float32."""
    if x.dtype != np.float32:
        return x
    return (x.view(np.int32) & np.int32(-1 << (23 - count))).view(np.float32)


def is_spread(shape: Shape, result: Shape) -> bool:
    """True for operands whose only row or column the matrix unit repeats."""
    is_row = math.prod(shape[:-1]) == 1 < math.prod(result[:-1])
    return is_row or shape[-1] != result[-1]


def in_registers(name: str, inputs: Sequence[Array]) -> list[Array]:
    """What of the operands of an operation is computed with on the device."""
    if not ROADS[""].rounds:
        return list(inputs)
    shape = np.broadcast_shapes(*(each.shape for each in inputs))
    on_matrix_unit = name in ("add", "multiply")
    kept = [
        with_bits(each, 10) if on_matrix_unit or is_spread(each.shape, shape) else each
        for each in inputs
    ]
    if name == "multiply":
        kept[0] = with_bits(kept[0], 9)
    return kept


def without_type(x: Array) -> Array:
    """The same numbers in the type that oracles compute in."""
    return x.astype(np.int64 if x.dtype.kind in "biu" else np.float64)


def check(
    oracles: Mapping[str, Oracle],
    inputs: Sequence[Array],
    numerics: str,
    *,
    result: str = "",
    elements: Sequence[str] = (),
) -> None:
    """Run operations in the element types of the inputs and compare with the oracles."""
    keywords = {np.dtype(host): keyword for keyword, host in HOST.items()}
    kinds = tuple(elements) or tuple(keywords[each.dtype] for each in inputs)
    result = result or kinds[-1]
    use = Use(tuple(oracles), tuple(each.shape for each in inputs), kinds, result)
    for name, output in zip(oracles, run(use, inputs, numerics), strict=True):
        operands = inputs if numerics == "exact" else in_registers(name, inputs)
        if has_bits_of_card(name, inputs, numerics):
            # test/vendor/test_numerics.py holds them to what was recorded.
            expected = bits_of_card(name, *inputs)
            expected = expected != 0 if result == "i1" else expected
            np.testing.assert_array_equal(output, expected, err_msg=name)
            continue
        with np.errstate(all="ignore"):
            expected = np.asarray(oracles[name](*map(without_type, operands)))
        error = 0.0
        if numerics == "device" and name in ("add", "subtract"):
            # The matrix unit rounds the smaller operand to 10 bits below the larger one.
            error = 2.0**-10 * float(
                max(np.abs(each).max() for each in map(without_type, operands))
            )
        compare(name, output, expected, result, error)


WITH_NUMBERS = ("leaky_relu",)
"""Functions of which the steps are known for one number alone."""
OF_TWO_TILES = {"maximum": "binary_max", "minimum": "binary_min", "div": "div_binary"}
OF_TWO_TILES |= {"atan2": "atan2_binary", "pow": "power_binary"}


def card_call(
    name: str, inputs: Sequence[Array], given: Mapping[str, float] | None = None
) -> Callable[..., Array] | None:
    """What a card's vector unit makes of tiles; None where that is not known."""
    kinds = {each.dtype.type for each in inputs}
    if (name in WITH_NUMBERS and not given) or not kinds <= {HOST["f32"], HOST["bf16"]}:
        return None
    name, wide = OF_TWO_TILES.get(name, name), HOST["f32"] in kinds
    if len(inputs) > 1 and name not in OF_TWO_TILES.values():
        return None
    return tile_function(name, Arch.WORMHOLE_B0, wide=wide, numbers=given or {}, tiles=len(inputs))


def has_bits_of_card(name: str, inputs: Sequence[Array], numerics: str) -> bool:
    """Whether the vector unit computes a function as a card does."""
    return numerics != "exact" and card_call(name, inputs) is not None


def bits_of_card(name: str, *inputs: Array, **given: float) -> Array:
    """What a card computes of numbers, and packs."""
    function = card_call(name, inputs, given)
    assert function is not None
    kept = np.broadcast_arrays(*in_registers(name, inputs))
    flat = (np.ascontiguousarray(each, np.float32).reshape(-1) for each in kept)
    found = np.asarray(function(*flat)).reshape(kept[0].shape)
    return found if HOST["f32"] in {each.dtype.type for each in inputs} else pack_bfloat16(found)


def compare(name: str, output: Array, expected: Array, element: str, error: float = 0.0) -> None:
    """Compare numbers with exact ones, as the text above derives."""
    if element not in STORE_ERROR:
        np.testing.assert_array_equal(output.astype(np.int64), expected, err_msg=name)
        return
    expected = expected.astype(np.float64)
    np.testing.assert_array_equal(output.astype(HOST[element]).astype(output.dtype), output, name)
    np.testing.assert_allclose(
        output.astype(np.float64),
        expected,
        rtol=STORE_ERROR[element] * (PHASES if name == "multiply" else 1) + FUNCTION_ERROR,
        atol=FUNCTION_ERROR + error,
        err_msg=name,
    )


# --- Inputs ---------------------------------------------------------------------------------------


def numbers(shape: Shape, element: str, seed: int) -> Array:
    """Numbers around 0, some of them far."""
    made = np.random.default_rng(seed).normal(size=shape) * 2
    return made.astype(HOST[element])


def away_from_zero(x: Array) -> Array:
    """The same signs, sizes from 1/4 to 4."""
    return np.copysign(np.clip(np.abs(x), 0.25, 4), x).astype(x.dtype)


def many_bits(shape: Shape, seed: int) -> Array:
    """Integers of all sizes."""
    rng = np.random.default_rng(seed)
    return (rng.integers(-(2**31), 2**31, shape) >> rng.integers(0, 31, shape)).astype(np.int32)


def few(shape: Shape, seed: int) -> Array:
    """Small integers, many of them equal."""
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.int32)


BOTH = ("exact", "device")
ELEMENTS = ("f32", "bf16")
NUMERICS = pytest.mark.parametrize("numerics", BOTH)
FLOATS = pytest.mark.parametrize("element", ELEMENTS)
PAIRS = (((2, 3, 40, 17), (40, 1)), ((40, 1), (2, 1, 1, 17)), ((1, 5), (1,)))
"""Shapes of two operands of which one is repeated, or both are."""


# --- Operations on floats -------------------------------------------------------------------------

_DOMAINS: tuple[Callable[[Array], Array], ...] = (
    lambda x: x,
    lambda x: np.clip(x, -0.4, 0.9).astype(x.dtype),
    lambda x: np.abs(away_from_zero(x)),
    lambda x: np.abs(x) + x.dtype.type(1.25),
)


def _domain_of(name: str) -> int:
    """The first of the inputs that a function is smooth on."""
    x = numbers(SHAPES[0], "f32", 0)
    return next(n for n, domain in enumerate(_DOMAINS) if SMOOTH[name][1](domain(x)))


@pytest.mark.parametrize(
    ("domain", "element", "numerics"), sampled(range(len(_DOMAINS)), ELEMENTS, BOTH)
)
def test_functions(domain: int, element: str, numerics: str) -> None:
    """Functions of one number, a part of them on each domain."""
    x = _DOMAINS[domain](numbers(SHAPES[domain % len(SHAPES)], element, domain))
    check({n: row[0] for n, row in SMOOTH.items() if _domain_of(n) == domain}, [x], numerics)


@pytest.mark.sampled(every=2)
@NUMERICS
@FLOATS
def test_functions_that_jump(element: str, numerics: str) -> None:
    """On whole numbers, between them, at infinity, and at 0, which has no sign once packed."""
    x = (np.round(numbers(SHAPES[0], "f32", 3) * 4) / 4 + 0.0).astype(HOST[element])
    x[1, 2], x[32, 69] = np.inf, -np.inf
    truths = ("logical_not", "isfinite")
    check({n: each for n, each in STEPS.items() if n not in truths}, [x], numerics)
    check({name: STEPS[name] for name in truths}, [x], numerics, result="i1")


@pytest.mark.sampled(every=2)
@NUMERICS
@FLOATS
def test_arithmetic(element: str, numerics: str) -> None:
    """Operations on two tensors."""
    x, y = (away_from_zero(numbers((33, 70), element, 4 + n)) for n in range(2))
    others = {"div": np.divide, "remainder": np.fmod, "atan2": np.arctan2}
    check({**ARITHMETIC, **others}, [x, y], numerics)
    check({"pow": np.power}, [np.abs(x), y], numerics)


@pytest.mark.parametrize(("shapes", "element", "numerics"), sampled(PAIRS, ELEMENTS, BOTH))
def test_broadcasts(shapes: tuple[Shape, Shape], element: str, numerics: str) -> None:
    """Operations of the vector unit and of the matrix unit on operands that are repeated."""
    x, y = (away_from_zero(numbers(shape, element, 5 + n)) for n, shape in enumerate(shapes))
    check({"subtract": np.subtract, "multiply": np.multiply}, [x, y], numerics)


@pytest.mark.parametrize(("element", "numerics"), sampled(ELEMENTS, BOTH))
def test_remainder_of_large_quotients(element: str, numerics: str) -> None:
    """No rounding of a quotient spoils the remainder."""
    x, y = (numbers((33, 70), element, 6 + n) for n in range(2))
    x = (x.astype(np.float32) * np.float32(2.0**20)).astype(x.dtype)
    check({"remainder": np.fmod}, [x, away_from_zero(y)], numerics)


@pytest.mark.parametrize(("element", "numerics"), sampled(ELEMENTS, BOTH))
def test_truth_values(element: str, numerics: str) -> None:
    """Comparisons and logic where many numbers are equal."""
    x, y = (few(SHAPES[2], 8 + n).astype(HOST[element]) for n in range(2))
    check(COMPARISONS, [x, y], numerics, result="i1")


# --- Operations on integers and truth values ------------------------------------------------------


@pytest.mark.sampled(every=2)
@NUMERICS
def test_functions_of_integers(numerics: str) -> None:
    """Functions of one integer keep all of its bits, and wrap."""
    oracles = {
        name: lambda x, oracle=oracle: wrapped(oracle(x)) for name, oracle in OF_INTEGERS.items()
    }
    check(oracles, [many_bits(SHAPES[0], 10)], numerics)
    others = {"clamp": lambda x: np.clip(x, 0, 1), "isfinite": lambda x: x == x}
    check({**others, "sign": np.sign, "ceil": lambda x: x}, [few(SHAPES[1], 11)], numerics)


@NUMERICS
@pytest.mark.parametrize("element", [np.int32, np.uint32])
def test_shifts(element: type, numerics: str) -> None:
    """Distances are numbers without a sign; those beyond the width leave 0, or the sign."""
    x = many_bits((33, 70), 14).view(element)
    places = np.resize([0, 1, 31, 32, 33, 64, -1, -(2**31), 7, 30], (33, 70))
    distance = places.astype(np.int32).view(element)

    def shift(operate: Callable[[int, int], int]) -> Oracle:
        def compute(x: Array, distance: Array) -> Array:
            pairs = zip(x.flat, distance.flat, strict=True)
            made = [operate(int(a), min(int(b) % 2**32, 40)) % 2**32 for a, b in pairs]
            bits = np.array(made, np.uint32).reshape(x.shape)
            return bits.view(element).astype(np.int64)

        return compute

    oracles = {
        "logical_left_shift": shift(lambda a, b: a << b),
        "logical_right_shift": shift(lambda a, b: a % 2**32 >> b),
        "right_shift": shift(lambda a, b: a >> b),
    }
    check(oracles, [x, distance], numerics)


def clamp_between(least: str, most: str) -> str:
    """A function that limits integers; limits as MLIR writes float32."""
    text = FunctionText([tensor(33, 70, element="i32")], constraint="#tile")
    limits = f"min = {least} : f32, max = {most} : f32"
    return text.returning(text.op("clamp", ["%arg0"], tensor(33, 70, element="i32"), limits))


def test_limits_beyond_all_integers() -> None:
    """They limit nothing, however far they are; NaN is refused."""
    x = many_bits((33, 70), 13)
    road = ROADS[""]
    for least, most in (("-1.0e+12", "5.0"), ("-3.0", "0x7F800000"), ("0xFF800000", "1.0e+12")):
        limits = (-np.inf if "F" in least or "12" in least else -3, 5 if most == "5.0" else np.inf)
        pipeline = f"{road.pipeline}{road.options_of_wide}"
        module = lower(clamp_between(least, most), pipeline, file_name="test.mlir")
        binary = read_binary(ttmetal_to_flatbuffer(module), "test.ttm")
        assert isinstance(binary, MetalBinary)
        options = SimOptions(timed=False, leniencies=road.leniencies)
        (output,) = execute(binary.metal_programs[0], [x], options).outputs
        np.testing.assert_array_equal(output, np.clip(x.astype(np.float64), *limits))
    with pytest.raises(DiagnosticError) as error:
        lower(clamp_between("0x7FC00000", "5.0"), road.pipeline, file_name="test.mlir")
    assert re.match(r"test\.mlir:\d+:\d+", str(error.value))
    assert "has a limit of integers that is NaN; give a number" in str(error.value)


@NUMERICS
def test_functions_of_integers_without_sign(numerics: str) -> None:
    """Numbers from 2^31 have no sign that a function could take away."""
    x = many_bits(SHAPES[0], 12).view(np.uint32)
    assert (x >= 2**31).any()
    oracles = {
        "abs": lambda x: x,
        "relu": lambda x: x,
        "neg": lambda x: -x % 2**32,
        "sign": np.sign,
        "isfinite": np.ones_like,
    }
    check(oracles, [x], numerics)


@pytest.mark.sampled(every=2)
@NUMERICS
def test_pairs_of_integers(numerics: str) -> None:
    """Sums and products wrap, quotients are rounded toward 0."""
    x, y = (many_bits(SHAPES[0], 12 + n) for n in range(2))

    def in_32_bits(oracle: Oracle) -> Oracle:
        return lambda x, y: wrapped(oracle(x, y))

    oracles = {name: in_32_bits(each) for name, each in {**ARITHMETIC, **BITWISE}.items()}
    check(oracles, [x, y], numerics)
    check(DIVISIONS, [x, np.where(y == 0, -1, y).astype(np.int32)], numerics)
    x, y = (few((3, 33), 14 + n) for n in range(2))
    assert not y.all()
    divisor = np.where(y == 0, 1, y)
    check({"remainder": lambda x, y: np.where(y == 0, x, np.fmod(x, divisor))}, [x, y], numerics)
    check(COMPARISONS, [x, y], numerics, result="i1")


@NUMERICS
@pytest.mark.parametrize("shapes", PAIRS)
def test_broadcasts_of_integers(shapes: tuple[Shape, Shape], numerics: str) -> None:
    """No bit is lost where integers are repeated."""
    x, y = (many_bits(shape, 12 + n) for n, shape in enumerate(shapes))
    check({"bitwise_xor": BITWISE["bitwise_xor"]}, [x, y], numerics)


@pytest.mark.sampled(every=2)
@NUMERICS
def test_pairs_of_truth_values(numerics: str) -> None:
    """Arithmetic on truth values is logic, and so are bits."""
    x, y = few((3, 33), 16) > 0, few((3, 33), 17) > 0
    oracles = {**OF_BOOLEANS, **{n: COMPARISONS[n] for n in ("logical_and", "logical_xor")}}
    check(oracles, [x, y], numerics)
    check({"bitwise_not": lambda x: 1 - x, "logical_not": lambda x: 1 - x}, [x], numerics)


@NUMERICS
@pytest.mark.parametrize("element", ["f32", "bf16", "i32"])
def test_choices(element: str, numerics: str) -> None:
    """A condition that is repeated along rows, and alternatives along columns."""
    condition = few((2, 3, 1, 17), 18) > 0
    x, y = few((40, 1), 19).astype(HOST[element]), few((40, 17), 20).astype(HOST[element])
    check({"where": lambda c, x, y: np.where(c != 0, x, y)}, [condition, x, y], numerics)


_ORDER = ("f32", "bf16", "i32", "i1")


@NUMERICS
@pytest.mark.parametrize(
    ("source", "target"), [(s, t) for s in _ORDER for t in _ORDER if (s, t) != ("i1", "i1")]
)
def test_conversions(source: str, target: str, numerics: str) -> None:
    """Fractions are cut where integers come from floats; truth is what is not 0."""
    x = few((33, 70), 21) if source in ("i1", "i32") else numbers((33, 70), "bf16", 21)
    x = x.astype(HOST[source])

    def oracle(x: Array) -> Array:
        return x != 0 if target == "i1" else np.trunc(x) if target == "i32" else x

    check({"typecast": oracle}, [x], numerics, result=target)


# --- What no arithmetic should touch --------------------------------------------------------------

_SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.0, 2.0**-126, -(2.0**-126), 2.0**127]
_DENORMAL = [2.0**-127, -(2.0**-130), 2.0**-133]


@NUMERICS
@FLOATS
def test_special_values(element: str, numerics: str) -> None:
    """NaN, infinities, both zeros and the smallest numbers that are not denormal."""
    values = _SPECIAL + (_DENORMAL if numerics == "exact" else [])
    x = np.resize(np.array(values), (33, 70)).astype(HOST[element])
    oracles = {
        "abs": np.abs,
        "neg": np.negative,
        "sign": np.sign,
        "floor": np.floor,
        "ceil": np.ceil,
        "relu": lambda x: np.maximum(x, 0),
        "leaky_relu": lambda x: np.where(x >= 0, x, x / 4),
    }
    use = Use(tuple(oracles), (x.shape,), (element,), element)
    for name, output in zip(oracles, run(use, [x], numerics), strict=True):
        expected = oracles[name](x.astype(np.float64))
        if name == "leaky_relu" and numerics == "device":
            expected = bits_of_card(name, x, parameter=0.25).astype(np.float64)
        elif has_bits_of_card(name, [x], numerics):
            expected = bits_of_card(name, x).astype(np.float64)
        got = output.astype(np.float64)
        np.testing.assert_array_equal(got, expected, err_msg=name)
        signs = ~np.isnan(expected) & (name in ("abs", "neg", "floor", "ceil"))
        np.testing.assert_array_equal(
            np.signbit(got)[signs], np.signbit(expected)[signs], err_msg=name
        )


@pytest.mark.sampled(every=2)
@NUMERICS
@FLOATS
def test_pairs_of_special_values(element: str, numerics: str) -> None:
    """Every value with every other; NaN is equal to nothing and is the larger and the smaller."""
    x = np.array(_SPECIAL).astype(HOST[element])
    pair = [np.repeat(x, len(x)).reshape(10, 10), np.tile(x, (10, 1))]
    oracles = {"maximum": np.maximum, "minimum": np.minimum, "div": np.divide}
    if numerics == "exact":
        oracles |= {"add": np.add, "subtract": np.subtract, "multiply": np.multiply}
    limit = float(ml_dtypes.finfo(HOST[element]).max)

    def in_range(oracle: Oracle) -> Oracle:
        """Results that the format does not have: beyond its largest number, or denormal."""

        def bounded(*operands: Array) -> Array:
            exact = oracle(*operands)
            exact = np.where(np.abs(exact) > limit, np.copysign(np.inf, exact), exact)
            return np.where(np.abs(exact) < 2.0**-126, 0, exact)

        return bounded

    check({name: in_range(each) for name, each in oracles.items()}, pair, numerics)
    if numerics == "device":
        # What is packed on the way to a comparison is no NaN any more.
        pair = [np.where(np.isnan(each), HOST[element](1), each) for each in pair]
    numbers_only = {name: COMPARISONS[name] for name in ("eq", "ne", "gt", "ge", "lt", "le")}
    check(numbers_only, pair, numerics, result="i1")


# --- All definitions ------------------------------------------------------------------------------

_FLOAT_OPERATIONS = {*SMOOTH, *STEPS, *ARITHMETIC, *COMPARISONS}
_FLOAT_OPERATIONS |= {"div", "remainder", "atan2", "pow", "where", "typecast"}
_INTEGER_OPERATIONS = {*OF_INTEGERS, *ARITHMETIC, *BITWISE, *DIVISIONS, *COMPARISONS}
_INTEGER_OPERATIONS |= {"clamp", "isfinite", "where", "typecast", "ceil", "trunc", "round"}
_INTEGER_OPERATIONS |= {"logical_left_shift", "logical_right_shift", "right_shift"}
_WITHOUT_KERNEL = {
    *("erfinv", "lgamma", "bitcast_convert", "population_count", "count_leading_zeros"),
}
_OF_D2M = {
    "erfinv": ("f32", "bf16"),
    "bitcast_convert": ("f32", "bf16", "i32"),
    **dict.fromkeys(("population_count", "count_leading_zeros"), ("i32",)),
}
"""What the direct road alone computes, by element type; test_orders_and_bits.py has the numbers of
bits."""


_REFUSED = [
    (road, definition.mnemonic, element)
    for road in sorted(ROADS)
    for element, computed in (
        ("f32", _FLOAT_OPERATIONS),
        ("bf16", _FLOAT_OPERATIONS),
        ("i32", _INTEGER_OPERATIONS),
    )
    for definition in elementwise.DEFINITIONS
    if definition.mnemonic not in computed
    and not (definition.takes_bits and element != "i32")
    and not (road == "d2m" and element in _OF_D2M.get(definition.mnemonic, ()))
]


def test_every_operation_is_here() -> None:
    """An operation that is in no test above has no kernel on the road of 2024."""
    definitions = {definition.mnemonic for definition in elementwise.DEFINITIONS}
    assert definitions == _FLOAT_OPERATIONS | _INTEGER_OPERATIONS | _WITHOUT_KERNEL


@pytest.mark.parametrize(
    ("road", "element"), [("d2m", each) for each in ELEMENTS], indirect=["road"]
)
def test_inverse_error_function(element: str) -> None:
    """Kernels compute a polynomial of a logarithm, in float32 for either type."""
    x = np.clip(numbers(SHAPES[0], element, 9), -0.9, 0.9).astype(HOST[element])
    expected = UNARY["erfinv"].compute(x.astype(np.float64))
    for numerics in BOTH:
        [output] = run(Use(("erfinv",), (x.shape,), (element,), element), [x], numerics)
        compare("erfinv", output, expected, element)


@pytest.mark.parametrize(("road", "name", "element"), _REFUSED, indirect=["road"])
def test_refused(name: str, element: str) -> None:
    """The message says where, and what kernels compute on such numbers."""
    arity = elementwise.arity(DEFINITIONS[name])
    with pytest.raises(DiagnosticError) as error:
        compiled(Use((name,), ((3, 5),) * arity, (element,) * arity, element), ROADS[""])
    message = rf"kernels do not compute {name} of {element}; on {element} they compute .*add"
    assert re.match(r"test\.mlir:\d+:\d+", str(error.value))
    assert re.search(message, str(error.value))
