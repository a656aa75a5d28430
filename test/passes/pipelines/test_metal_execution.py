"""Programs of kernels, run on the simulator with all its checks, compute what NumPy computes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from oracles.elementwise_oracles import (
    ARITHMETIC,
    BITWISE,
    COMPARISONS,
    OF_BOOLEANS,
    OF_INTEGERS,
    SMOOTH,
    STEPS,
    wrapped,
)
from running.pass_runner import lowered, ttm_of
from running.sampling import sampled
from samples.ttir_text import FunctionText, tensor
from xdsl.dialects.builtin import UnknownLoc

from ttmlir.mlir.reporting import DiagnosticError, listening
from ttmlir.runtime import read_binary
from ttmlir.runtime.metal_program import MetalBinary
from ttmlir.runtime.metal_session import MetalRun, execute
from ttmlir.sim.options import SimOptions

PIPELINE = "ttir-to-ttmetal-backend-pipeline"
WIDE = f"{PIPELINE}=fp32-dest-acc-en=true"
LENIENCIES = frozenset({"pop-unfilled", "unallocated-write"})
"""Kernels on buffers that stay in place do without synchronisation."""
SHAPE = (33, 40)

Array = np.ndarray
Reference = Callable[..., Array]


def run(text: str, *inputs: Array, passes: Sequence[str] = (WIDE,), exact: bool = True) -> Array:
    """The only result of `results`."""
    (output,) = results(text, *inputs, passes=passes, exact=exact)
    return output


def results(
    text: str, *inputs: Array, passes: Sequence[str] = (WIDE,), exact: bool = True
) -> list[Array]:
    """What the compiled function makes of arrays; `exact`: without the roundings of the chip."""
    result = executed(text, *inputs, passes=passes, exact=exact)
    return [np.asarray(output) for output in result.outputs]


def executed(
    text: str,
    *inputs: Array,
    passes: Sequence[str],
    exact: bool = True,
    timed: bool = False,
) -> MetalRun:
    """A run of the compiled function, with all checks."""
    binary = read_binary(ttm_of(text, *passes), "test.ttm")
    assert isinstance(binary, MetalBinary)
    options = SimOptions(
        numerics="exact" if exact else "device", timed=timed, leniencies=LENIENCIES
    )
    result = execute(binary.metal_programs[0], list(inputs), options)
    assert not [finding for each in result.reports for finding in each.report.findings]
    return result


def function(*mnemonics: str, types: Sequence[str], result: str = "") -> str:
    """A function that does operations on its arguments, each by itself."""
    text = FunctionText(types, constraint="#tile")
    names = [f"%arg{number}" for number in range(len(types))]
    attributes = {name: row[3] for name, row in SMOOTH.items()}
    return text.returning(
        *(text.op(name, names, result or types[-1], attributes.get(name, "")) for name in mnemonics)
    )


def normal(shape: tuple[int, ...], seed: int = 0) -> Array:
    """Numbers around 0."""
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def integers(shape: tuple[int, ...], seed: int = 0) -> Array:
    """Small integers, 0 often among them."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.int32)


# --- Operations ----------------------------------------------------------------------------------


def check(
    references: Mapping[str, Reference],
    inputs: Sequence[Array],
    elements: Sequence[str],
    result: str = "",
    tolerance: float = 0.0,
) -> None:
    """Compare operations on arrays, in these element types, with what they mean."""
    types = [tensor(*each.shape, element=e) for each, e in zip(inputs, elements, strict=True)]
    into = tensor(*inputs[0].shape, element=result) if result else ""
    got = results(function(*references, types=types, result=into), *inputs)
    for (name, reference), output in zip(references.items(), got, strict=True):
        np.testing.assert_allclose(
            output.astype(np.float64),
            reference(*inputs).astype(np.float64),
            rtol=tolerance,
            atol=tolerance,
            err_msg=name,
        )


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("part", range(4))
def test_functions(part: int) -> None:
    """Every function of one floating-point number, where it is smooth."""
    x = normal(SHAPE)
    inputs = (x, np.abs(x) + 0.5, np.clip(x, -0.4, 0.9), np.abs(x) + 1.25)

    def part_of(domain: Callable[[Array], bool]) -> int:
        return next(number for number, each in enumerate(inputs) if domain(each))

    references = {name: row[0] for name, row in SMOOTH.items() if part_of(row[1]) == part}
    check(references, [inputs[part]], ["f32"], tolerance=1e-4)


def test_functions_that_jump() -> None:
    """Rounding and sign, of infinity, too, and truth values."""
    x = np.round(normal(SHAPE) * 4) / 4
    x[3, 5], x[32, 39] = np.inf, 0
    truths = ("logical_not", "isfinite")
    check({name: STEPS[name] for name in STEPS if name not in truths}, [x], ["f32"])
    check({name: STEPS[name] for name in truths}, [x], ["f32"], "i1")


@pytest.mark.parametrize("element", ["f32", "bf16"])
def test_arithmetic(element: str) -> None:
    """Operations on two tensors, on the matrix unit and on the vector unit."""
    others = {"div": np.divide, "remainder": np.fmod, "pow": np.power, "atan2": np.arctan2}
    x, y = (np.round(np.abs(normal(SHAPE, seed)) * 8) / 8 + 0.5 for seed in (1, 2))
    tolerance = 1e-5 if element == "f32" else 2**-8
    check({**ARITHMETIC, **others}, [x, y], [element] * 2, tolerance=tolerance)


@pytest.mark.parametrize("element", ["f32", "i32"])
def test_truth_values(element: str) -> None:
    """Comparisons and logic, of floats and integers."""
    x, y = integers(SHAPE, 3), integers(SHAPE, 4)
    if element == "f32":
        x, y = x.astype(np.float32) / 4, y.astype(np.float32) / 4
    check(COMPARISONS, [x, y], [element] * 2, "i1")


def test_integers_of_32_bits() -> None:
    """All 32 bits count, and sums wrap."""
    rng = np.random.default_rng(5)
    x, y = (rng.integers(-(2**31), 2**31, SHAPE).astype(np.int32) for _ in range(2))

    def wrapping(reference: Reference) -> Reference:
        return lambda x, y: wrapped(reference(x.astype(object), y.astype(object)))

    references = {name: wrapping(each) for name, each in {**ARITHMETIC, **BITWISE}.items()}
    check(references, [x, y], ["i32"] * 2)


_TYPES = {"i8": np.int8, "i16": np.int16, "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32}
_QUOTIENTS: dict[str, Reference] = {
    "div": lambda x, y: np.trunc(x.astype(np.float64) / y),
    "remainder": np.fmod,
}


def all_integers(element: str) -> tuple[Array, Array]:
    """Two tensors of all integers that a type has, the second without 0; some are equal."""
    info = np.iinfo(_TYPES[element])
    rng = np.random.default_rng(37)
    x, y = (
        rng.integers(info.min, int(info.max) + 1, SHAPE).astype(_TYPES[element]) for _ in range(2)
    )
    y[0] = x[0]
    return x, np.where(y == 0, 3, y).astype(_TYPES[element])


@pytest.mark.parametrize(("element", "exact"), sampled(_TYPES, (True, False)))
def test_other_integers(element: str, exact: bool) -> None:
    """Short integers are computed with 32 bits and wrap; those without a sign have their order."""
    x, y = all_integers(element)
    references: dict[str, Reference] = {**ARITHMETIC, **BITWISE}
    references |= {"maximum": np.maximum, "minimum": np.minimum}
    references |= {} if element == "ui32" else _QUOTIENTS
    types = [tensor(*SHAPE, element=element)] * 2
    got = results(function(*references, types=types), x, y, exact=exact)
    for (name, reference), output in zip(references.items(), got, strict=True):
        expected = reference(x, y).astype(x.dtype)
        np.testing.assert_array_equal(output.astype(x.dtype), expected, err_msg=name)
    truths = tensor(*SHAPE, element="i1")
    got = results(function(*COMPARISONS, types=types, result=truths), x, y, exact=exact)
    for (name, reference), output in zip(COMPARISONS.items(), got, strict=True):
        np.testing.assert_array_equal(output != 0, reference(x, y) != 0, err_msg=name)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("element", ["i8", "i16", "ui8", "ui16"])
def test_conversions_of_short_integers(element: str) -> None:
    """Signs stay, longer integers lose their upper bits, and floats become the nearest limit."""
    short, long = (tensor(*SHAPE, element=each) for each in (element, "i32"))
    x, _ = all_integers(element)
    np.testing.assert_array_equal(run(function("typecast", types=[short], result=long), x), x)
    y = np.random.default_rng(38).integers(-(2**31), 2**31, SHAPE).astype(np.int32)
    got = run(function("typecast", types=[long], result=short), y)
    np.testing.assert_array_equal(got.astype(x.dtype), y.astype(x.dtype))
    floats = integers(SHAPE, 39).astype(np.float32)
    got = run(function("typecast", types=[tensor(*SHAPE)], result=short), floats)
    limits = np.iinfo(x.dtype)
    np.testing.assert_array_equal(got.astype(x.dtype), floats.clip(limits.min, limits.max))


def test_functions_of_integers() -> None:
    """Functions of one integer."""
    check(OF_INTEGERS, [integers(SHAPE, 6)], ["i32"])


def test_booleans() -> None:
    """Arithmetic on truth values is logic."""
    check(OF_BOOLEANS, [integers(SHAPE, 7) > 0, integers(SHAPE, 8) > 0], ["i1"] * 2)


@pytest.mark.parametrize(("condition", "element"), [("f32", "f32"), ("i1", "f32"), ("i1", "i32")])
def test_where(condition: str, element: str) -> None:
    """A choice between two tensors by a third of another type."""
    x, y, z = integers(SHAPE, 9), integers(SHAPE, 10), integers(SHAPE, 11)
    types = [tensor(*SHAPE, element=each) for each in (condition, element, element)]
    inputs = [x > 0 if condition == "i1" else x.astype(np.float32), y, z]
    if element == "f32":
        inputs[1:] = [each.astype(np.float32) / 8 for each in inputs[1:]]
    got = run(function("where", types=types), *inputs)
    np.testing.assert_array_equal(got, np.where(inputs[0] != 0, inputs[1], inputs[2]))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        *(("f32", "bf16"), ("bf16", "f32"), ("f32", "i32"), ("i32", "f32"), ("i32", "bf16")),
        *(("f32", "i1"), ("i32", "i1"), ("i1", "f32"), ("i1", "i32"), ("f16", "f32")),
    ],
)
def test_conversions(source: str, target: str) -> None:
    """Small integers are the same in every format; truth is what is not 0."""
    x = integers(SHAPE, 12)
    given = {"i1": x > 0, "i32": x}.get(source, x.astype(np.float32))
    types = (tensor(*SHAPE, element=each) for each in (source, target))
    type_, result = types
    got = run(function("typecast", types=[type_], result=result), given)
    np.testing.assert_array_equal(got, given != 0 if target == "i1" else given)


@pytest.mark.parametrize("element", ["f32", "i32"])
@pytest.mark.parametrize("back", ["f32", "i32"])
def test_truth_is_0_or_1_within_a_kernel(element: str, back: str) -> None:
    """A fraction, too, is true, and what is true is 1 again as a number."""
    x = integers(SHAPE, 13)
    given = x if element == "i32" else x.astype(np.float32) / 8
    f = FunctionText([tensor(*SHAPE, element=element)], constraint="#tile")
    truth = f.op("typecast", ["%arg0"], tensor(*SHAPE, element="i1"))
    number = f.op("typecast", [truth], tensor(*SHAPE, element=back))
    got = run(f.returning(f.op("add", [number, number], tensor(*SHAPE, element=back))), given)
    np.testing.assert_array_equal(got, 2 * (given != 0))


# --- Shapes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shapes",
    [
        *(((1,), (1, 1)), ((1, 1), (1,)), ((40,), (1, 40)), ((1, 33, 40), (33, 40))),
        *(((2, 40), (1, 1, 2, 40)), ((), (1, 1)), ((), (1,)), ((40,), (1, 3, 40))),
    ],
)
@pytest.mark.parametrize("element", ["f32", "i32"])
def test_operands_of_fewer_dimensions(
    shapes: tuple[tuple[int, ...], tuple[int, ...]], element: str
) -> None:
    """Outer dimensions of extent 1 are added where they are missing."""
    inputs = [
        integers(shape, 70).astype(element.replace("i", "int").replace("f", "float"))
        for shape in shapes
    ]
    inputs[1] += 3
    types = [tensor(*shape, element=element) for shape in shapes]
    right = inputs[0] + inputs[1]
    result = tensor(*right.shape, element=element)
    got = run(function("add", types=types, result=result), *inputs)
    assert got.shape == right.shape
    np.testing.assert_array_equal(got, right)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0,)])
def test_no_elements(shape: tuple[int, ...]) -> None:
    """There is no memory for kernels to work on, and the compiler says so."""
    text = function("exp", types=[tensor(*shape)])
    spelled = "x".join(map(str, shape))
    message = rf"has a tensor of {spelled}, without elements, which kernels do not take; use ttir-"
    with pytest.raises(DiagnosticError, match=message):
        run(text, np.zeros(shape, np.float32))


_WHOLE = (2, 33, 40)


@pytest.mark.parametrize("element", ["f32", "i32"])
@pytest.mark.parametrize("shape", [(40,), (33, 1), (), (2, 1, 40), (2, 1, 1)])
def test_broadcasts(shape: tuple[int, ...], element: str) -> None:
    """An operand is repeated along every dimension that it lacks."""
    x, y = integers(_WHOLE, 13), integers(shape, 14)
    if "f" in element:
        x, y = x.astype(np.float32), y.astype(np.float32)
    whole = tensor(*_WHOLE, element=element)
    types = whole, tensor(*shape, element=element)
    text = function("subtract", types=types, result=whole)
    np.testing.assert_array_equal(run(text, x, y), x - y)


def test_both_operands_broadcast() -> None:
    """A column and a row make a rectangle."""
    x, y = normal((33, 1), 15), normal((1, 70), 16)
    text = function("multiply", types=(tensor(33, 1), tensor(1, 70)), result=tensor(33, 70))
    np.testing.assert_allclose(run(text, x, y), x * y, rtol=1e-6)


def test_broadcast_operation() -> None:
    """A `ttir.broadcast` that is returned, with a dimension in front."""
    x = normal((33, 1), 17)
    text = FunctionText([tensor(33, 1)], constraint="#tile")
    value = text.op("broadcast", ["%arg0"], tensor(2, 33, 70), "dimension = [1, 2]")
    got = run(text.returning(value), x)
    np.testing.assert_array_equal(got, np.broadcast_to(x, (2, 33, 70)))


# --- Values --------------------------------------------------------------------------------------


def test_constants() -> None:
    """One number for all positions, or several."""
    listed = "[[1.0, 2.5, -3.0], [0.5, 0.25, 8.0]]"
    text = FunctionText([tensor(2, 3)], constraint="#tile")
    half = text.constant("0.5", tensor(2, 3))
    several = text.constant(listed, tensor(2, 3))
    value = text.op("multiply", ["%arg0", half], tensor(2, 3))
    value = text.op("subtract", [value, several], tensor(2, 3))
    x = normal((2, 3), 18)
    expected = x * np.float32(0.5) - np.array([[1, 2.5, -3], [0.5, 0.25, 8]], np.float32)
    np.testing.assert_allclose(run(text.returning(value), x), expected, rtol=1e-6)


def test_returned_constant() -> None:
    """A constant that nobody computes with is made on the device."""
    text = FunctionText([], constraint="#tile")
    value = text.constant("-7", tensor(3, 5, element="i32"))
    np.testing.assert_array_equal(run(text.returning(value)), np.full((3, 5), -7))


def test_one_value_used_often() -> None:
    """A value is both operands, the result is used twice, and one operation is dead."""
    text = FunctionText([tensor(*SHAPE)], constraint="#tile")
    square = text.op("multiply", ["%arg0", "%arg0"], tensor(*SHAPE))
    text.op("exp", [square], tensor(*SHAPE))
    less = text.op("subtract", [square, "%arg0"], tensor(*SHAPE))
    value = text.op("maximum", [less, square], tensor(*SHAPE))
    x = normal(SHAPE, 19)
    expected = np.maximum(x * x - x, x * x)
    np.testing.assert_allclose(run(text.returning(value), x), expected, rtol=1e-6, atol=1e-6)


def test_on_the_device() -> None:
    """With the chip's roundings: 10 bits after the leading one in each step."""
    text = FunctionText([tensor(*SHAPE), tensor(40)], constraint="#tile")
    value = text.op("sigmoid", ["%arg0"], tensor(*SHAPE))
    value = text.op("multiply", [value, "%arg1"], tensor(*SHAPE))
    x, y = normal(SHAPE, 20), normal((40,), 21)
    got = run(text.returning(value), x, y, exact=False)
    np.testing.assert_allclose(got, y / (1 + np.exp(-x)), rtol=8 * 2**-10, atol=2**-14)


def test_integers_are_exact_on_the_device() -> None:
    """No rounding touches 32-bit integers, those that broadcast included."""
    rng = np.random.default_rng(22)
    x = rng.integers(-(2**31), 2**31, SHAPE).astype(np.int32)
    y = rng.integers(-(2**31), 2**31, (33, 1)).astype(np.int32)
    types = tensor(*SHAPE, element="i32"), tensor(33, 1, element="i32")
    got = run(function("bitwise_xor", types=types, result=types[0]), x, y, exact=False)
    np.testing.assert_array_equal(got, x ^ y)


# --- Places --------------------------------------------------------------------------------------


def moved(shape: tuple[int, int], source: str, target: str, element: str = "f32") -> str:
    """A move of a tensor between two layouts, each memory space, grid and shard."""

    def type_(place: str) -> str:
        space, grid, memref = place.split(" ", 2)
        text = f"(d0, d1) -> (d0, d1), undef, <{grid}>, memref<{memref}, #tt.memory_space<{space}>>"
        return f"tensor<{shape[0]}x{shape[1]}x{element}, #tt.layout<{text}>>"

    return f"""
func.func @move(%arg0: {type_(source)}) -> {type_(target)} {{
  %0 = tensor.empty() : {type_(target)}
  %1 = "ttir.to_layout"(%arg0, %0) : ({type_(source)}, {type_(target)}) -> {type_(target)}
  return %1 : {type_(target)}
}}
"""


MOVES = (
    "ttir-load-system-desc",
    "ttir-implicit-device",
    "ttir-split-compound-layout=formats-on-tiles=true",
    "ttir-allocate",
    "convert-ttir-to-ttmetal",
)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("shape", "source", "target"),
    [
        ((96, 64), "dram 1x1 96x64xf32", "dram 3x1 32x64xf32"),
        ((96, 64), "dram 1x1 96x64xf32", "dram 1x1 96x64xf32"),
        ((352, 320), "dram 1x1 352x320xf32", "l1 4x2 88x160xf32"),
        ((352, 320), "l1 4x2 88x160xf32", "dram 1x1 352x320xf32"),
        ((50, 90), "dram 1x1 64x96xf32", "l1 2x3 1x1x!tt.tile<32x32, f32>"),
    ],
)
def test_moves(shape: tuple[int, int], source: str, target: str) -> None:
    """From DRAM to DRAM, beyond the first round over its channels, and to tiles."""
    x = normal(shape, 23)
    np.testing.assert_array_equal(run(moved(shape, source, target), x, passes=MOVES), x)


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(
    ("shape", "element", "source", "target"),
    [
        ((5, 7), "f32", "l1 1x1 5x7xf32", "l1 1x2 5x4xf32"),
        ((33, 70), "bf16", "l1 2x1 17x70xbf16", "l1 1x3 33x24xbf16"),
        ((33, 70), "bf16", "dram 2x1 17x70xbf16", "l1 1x3 33x24xbf16"),
        ((5, 7), "f32", "l1 1x2 5x4xf32", "dram 1x1 5x7xf32"),
        ((33, 71), "i8", "l1 2x1 17x71xi8", "dram 1x3 33x24xi8"),
        ((33, 41), "f32", "dram 1x1 33x41xf32", "dram 2x2 17x21xf32"),
        ((70, 131), "bf16", "l1 1x1 70x131xbf16", "l1 2x2 35x66xbf16"),
    ],
)
def test_short_rows(
    shape: tuple[int, int], element: str, source: str, target: str, exact: bool
) -> None:
    """Rows that are no multiple of the network's unit pass through scratch memory."""
    x = integers(shape, 26).astype(np.float32 if "f" in element else np.int8)
    got = run(moved(shape, source, target, element), x, passes=MOVES, exact=exact)
    np.testing.assert_array_equal(got.astype(np.float32), x)


_TILE = "!tt.tile<32x32, {}>"


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(
    ("element", "source", "target"),
    [
        ("f32", "l1 1x1 64x96xf32", f"l1 2x3 1x1x{_TILE.format('bf16')}"),
        ("f32", f"dram 2x3 1x1x{_TILE.format('bf16')}", "dram 1x1 64x96xf32"),
        ("f32", "l1 1x1 64x96xf32", "l1 1x1 64x96xbf16"),
        ("i32", "l1 1x1 64x96xi32", f"l1 1x1 2x3x{_TILE.format('f32')}"),
        ("i32", f"l1 1x1 2x3x{_TILE.format('u16')}", "l1 1x1 64x96xi32"),
    ],
)
def test_formats(element: str, source: str, target: str, exact: bool) -> None:
    """Numbers that both formats have stay the same while rows become tiles or tiles rows."""
    x = np.abs(integers((33, 70), 27)).astype(np.float32 if element == "f32" else np.int32)
    got = run(moved((33, 70), source, target, element), x, passes=MOVES, exact=exact)
    np.testing.assert_array_equal(got.astype(np.float32), x)


def test_calls() -> None:
    """Functions that call others have these inlined."""
    type_ = tensor(5, 7)
    x, y = normal((5, 7), 28), normal((5, 7), 29)
    inner = function("subtract", types=(type_, type_))
    name = inner.split("func.func @")[1].split("(")[0]
    text = f"""{inner.replace("func.func @", "func.func private @")}
func.func @twice(%a: {type_}, %b: {type_}) -> {type_} {{
  %0 = call @{name}(%a, %b) : ({type_}, {type_}) -> {type_}
  %1 = call @{name}(%0, %b) : ({type_}, {type_}) -> {type_}
  return %1 : {type_}
}}
"""
    np.testing.assert_allclose(run(text, x, y), x - y - y, rtol=1e-6, atol=1e-6)


def test_several_cores() -> None:
    """Each core computes on its own shard."""
    layout = (
        "#tt.layout<(d0, d1) -> (d0, d1), undef, <2x3>, memref<32x32xf32, #tt.memory_space<l1>>>"
    )
    type_ = f"tensor<50x90xf32, {layout}>"
    x, y = normal((50, 90), 24), normal((50, 90), 25)
    got = run(function("subtract", types=(type_, type_)), x, y)
    np.testing.assert_allclose(got, x - y, rtol=1e-6, atol=1e-6)


def several_operations(shape: tuple[int, int], row: int) -> str:
    """sigmoid(x) * y - z, where y is one row."""
    whole = tensor(*shape)
    text = FunctionText([whole, tensor(row), whole], constraint="#tile")
    value = text.op("sigmoid", ["%arg0"], whole)
    value = text.op("multiply", [value, "%arg1"], whole)
    return text.returning(text.op("subtract", [value, "%arg2"], whole))


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(
    "options", ["grid=2,4", "init-memory-space=dram", "init-memory-space=dram grid=3,1"]
)
def test_places_of_kernels(options: str, exact: bool) -> None:
    """Arguments in DRAM, kernels on several cores: 3x2 tiles are divided by 1x2 or 3x1."""
    shape = (90, 40)
    x, y, z = normal(shape, 30), normal((40,), 31), normal(shape, 32)
    passes = [f"{PIPELINE}={options} fp32-dest-acc-en=true"]
    got = run(several_operations(shape, 40), x, y, z, passes=passes, exact=exact)
    tolerance = 1e-5 if exact else 8 * 2**-10
    np.testing.assert_allclose(got, y / (1 + np.exp(-x)) - z, rtol=tolerance, atol=tolerance)


def test_numbers_of_32_bits_that_pass_through_16_bits() -> None:
    """Kernels of f32 alone get fp16 without infinity, and who compiles them is told so, once."""
    text = function("multiply", "add", types=[tensor(*SHAPE)] * 2)
    x, y = np.full(SHAPE, 3e5, np.float32), np.full(SHAPE, 2, np.float32)
    with listening() as warnings:
        product, total = results(text, x, y, passes=[PIPELINE], exact=False)
    np.testing.assert_array_equal([product, total], np.full((2, *SHAPE), 131008))
    [warning] = warnings.values()
    assert warning.severity == "warning"
    assert re.search("f32 through fp16.* 131008 .*fp32-dest-acc-en=true", warning.message)
    assert not isinstance(warning.location, UnknownLoc)
    with listening() as warnings:
        product, total = results(text, x, y, passes=[WIDE], exact=False)
    np.testing.assert_allclose(product, 6e5, rtol=2**-9)
    np.testing.assert_allclose(total, 300002, rtol=2**-9)
    assert not warnings
    short = function("multiply", types=[tensor(*SHAPE, element="bf16")] * 2)
    with listening() as warnings:
        lowered(short, PIPELINE)
    assert not warnings


def test_more_cores_take_less_time() -> None:
    """The busiest core has an eighth of the tiles."""
    shape = (64, 128)
    text = FunctionText([tensor(*shape, element="bf16")], constraint="#tile")
    value = text.op("exp", ["%arg0"], tensor(*shape, element="bf16"))
    program = text.returning(value)
    one, eight = (
        executed(program, normal(shape, 33), passes=[f"{PIPELINE}=grid={grid}"], timed=True)
        for grid in ("1,1", "2,4")
    )
    np.testing.assert_array_equal(one.outputs[0], eight.outputs[0])
    assert eight.cycles < one.cycles


@pytest.mark.parametrize("exact", [True, False])
def test_operands_on_different_grids(exact: bool) -> None:
    """They move to the grid of the output; those of a broadcast move to one core."""

    def spread(rows: int, columns: int) -> str:
        shard = f"memref<{96 // rows}x{64 // columns}xf32, #tt.memory_space<l1>>"
        layout = f"#tt.layout<(d0, d1) -> (d0, d1), undef, <{rows}x{columns}>, {shard}>"
        return f"tensor<90x50xf32, {layout}>"

    types = spread(1, 2), spread(3, 1)
    row = tensor(50)
    text = FunctionText([*types, row], constraint="#tile")
    value = text.op("maximum", ["%arg0", "%arg1"], types[1])
    value = text.op("subtract", [value, "%arg2"], spread(3, 2))
    x, y, z = normal((90, 50), 34), normal((90, 50), 35), normal((50,), 36)
    got = run(text.returning(value), x, y, z, exact=exact)
    tolerance = 1e-6 if exact else 2**-9
    expected = np.maximum(x, y) - z
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("grid", ["0,4", "2"])
def test_impossible_grids(grid: str) -> None:
    """The message says what the option takes."""
    with pytest.raises(DiagnosticError) as error:
        lowered(function("exp", types=[tensor(64, 64)]), f"{PIPELINE}=grid={grid}")
    assert (
        f"operand #0 cannot be laid out: kernel-grid is {grid}; give 2 numbers of cores, each of "
        "at least 1, as in 2,4"
    ) in str(error.value)


# --- What has no kernel --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mnemonic", "element", "message"),
    [
        ("exp", "i32", "'ttir.generic' op kernels do not compute exp of i32; on i32 they compute"),
        ("div", "ui32", "'ttir.generic' op kernels do not compute div of ui32; on ui32 they"),
        ("pow", "i8", "'ttir.generic' op kernels do not compute pow of i8; on i8 they compute"),
    ],
)
def test_refused(mnemonic: str, element: str, message: str) -> None:
    """The message says what there is on these numbers."""
    type_ = tensor(*SHAPE, element=element)
    types = (type_,) if mnemonic == "exp" else (type_, type_)
    with pytest.raises(DiagnosticError) as error:
        lowered(function(mnemonic, types=types), PIPELINE)
    assert message in str(error.value)


@pytest.mark.parametrize("first", ["%x", "%z"])
def test_body_that_reads_what_its_output_held(first: str) -> None:
    """The destination is an operand as well; the matrix unit takes inputs alone."""
    second = "%x" if first == "%z" else "%z"
    text = f"""
      #any = #tt.operand_constraint<any_device_tile>
      #map = affine_map<(d0, d1) -> (d0, d1)>
      #parallel = #tt.iterator_type<parallel>
      func.func @f(%a: tensor<33x40xf32>, %b: tensor<33x40xf32>) -> tensor<33x40xf32> {{
        %1 = "ttir.generic"(%a, %b) <{{grid = #tt.grid<1x1>, indexing_maps = [#map, #map],
            iterator_types = [#parallel, #parallel], operandSegmentSizes = array<i32: 1, 1>,
            operand_constraints = [#any, #any]}}> ({{
        ^bb0(%x: tensor<33x40xf32>, %z: tensor<33x40xf32>):
          %2 = arith.subf {first}, {second} : tensor<33x40xf32>
          "ttir.yield"(%2) : (tensor<33x40xf32>) -> ()
        }}) : (tensor<33x40xf32>, tensor<33x40xf32>) -> tensor<33x40xf32>
        return %1 : tensor<33x40xf32>
      }}"""
    x, z = normal(SHAPE, 80), normal(SHAPE, 81)
    np.testing.assert_array_equal(run(text, x, z), x - z if first == "%x" else z - x)
    sums = text.replace("subf", "addf")
    np.testing.assert_array_equal(run(sums, x, z), x + z)
