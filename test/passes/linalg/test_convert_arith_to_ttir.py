"""What operations of arith and math on tensors compute after conversion, against NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from running.pass_runner import TTNN_PIPELINE, executed, printed
from running.randomness import TestGenerator

from ttmlir.mlir.reporting import DiagnosticError

PASS = "convert-arith-to-ttir"
_RNG = TestGenerator(__name__)
_SHAPE = (3, 37)
_DTYPES = {
    "f32": np.float32,
    "f64": np.float64,
    "bf16": np.float32,
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
}
_NUMBERS = np.array([1.0, -2.5, np.nan, 0.0, 7.0, np.nan, -np.inf], np.float32)


def _sample(element: str, kind: str) -> np.ndarray:
    if element == "i1":
        return _RNG.random(_SHAPE) < 0.5
    if element.startswith("i"):
        width = int(element[1:])
        low, high = (0, width) if kind == "shift" else (-(2 ** (width - 1)), 2 ** (width - 1))
        array = _RNG.integers(low, high, _SHAPE)
        return np.where(array == 0, 3, array).astype(_DTYPES[element])
    if kind == "special":
        return _RNG.choice(_NUMBERS, _SHAPE)
    low, high = {"unit": (-0.9, 0.9), "positive": (0.3, 3), "above_one": (1.1, 3)}.get(
        kind, (-3, 3)
    )
    return _RNG.uniform(low, high, _SHAPE).astype(_DTYPES[element])


def _each(function: Callable[..., Any]) -> Callable[..., Any]:
    return np.vectorize(function, otypes=[np.float64])


def _check(line: str, elements: str, result: str, oracle: Callable[..., Any], kind: str) -> None:
    """`line` is the text of `%r = ...` on `%0`, `%1` ..., `T` standing for the shape."""
    names = elements.split()
    types = [f"tensor<3x37x{name}>" for name in names]
    gives = f"tensor<3x37x{result}>"
    arguments = ", ".join(f"%{number}: {type}" for number, type in enumerate(types))
    line = line.replace("T<", "tensor<3x37x")
    text = f"func.func @f({arguments}) -> {gives} {{\n%r = {line}\nreturn %r : {gives}\n}}"
    inputs = [
        _sample(name, kind if number or kind != "shift" else "")
        for number, name in enumerate(names)
    ]
    (found,) = executed(text, inputs, PASS, TTNN_PIPELINE)
    with np.errstate(all="ignore"):
        wide = [array.astype(np.float64) if array.dtype.kind == "f" else array for array in inputs]
        expected = np.asarray(oracle(*wide))
    if result.startswith("f"):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    else:
        np.testing.assert_array_equal(found, expected.astype(_DTYPES[result]))


_UNARY: list[tuple[str, Callable[..., Any], str]] = [
    ("math.absf", np.abs, ""),
    ("math.acos", np.arccos, "unit"),
    ("math.acosh", np.arccosh, "above_one"),
    ("math.asin", np.arcsin, "unit"),
    ("math.asinh", np.arcsinh, ""),
    ("math.atan", np.arctan, ""),
    ("math.atanh", np.arctanh, "unit"),
    ("math.cbrt", np.cbrt, ""),
    ("math.ceil", np.ceil, ""),
    ("math.cos", np.cos, ""),
    ("math.cosh", np.cosh, ""),
    ("math.erf", _each(math.erf), ""),
    ("math.exp", np.exp, ""),
    ("math.exp2", np.exp2, ""),
    ("math.expm1", np.expm1, ""),
    ("math.floor", np.floor, ""),
    ("math.log", np.log, "positive"),
    ("math.log10", np.log10, "positive"),
    ("math.log1p", np.log1p, "positive"),
    ("math.log2", np.log2, "positive"),
    ("math.roundeven", np.rint, ""),
    ("math.rsqrt", lambda x: 1 / np.sqrt(x), "positive"),
    ("math.sin", np.sin, ""),
    ("math.sinh", np.sinh, ""),
    ("math.sqrt", np.sqrt, "positive"),
    ("math.tan", np.tan, "unit"),
    ("math.tanh", np.tanh, ""),
    ("math.trunc", np.trunc, ""),
    ("arith.negf", np.negative, ""),
]
_BINARY: list[tuple[str, Callable[..., Any], str]] = [
    ("arith.addf", np.add, ""),
    ("arith.divf", np.divide, ""),
    ("arith.maximumf", np.maximum, "special"),
    ("arith.maxnumf", np.fmax, "special"),
    ("arith.minimumf", np.minimum, "special"),
    ("arith.minnumf", np.fmin, "special"),
    ("arith.mulf", np.multiply, ""),
    ("arith.subf", np.subtract, ""),
    ("math.atan2", np.arctan2, ""),
    ("math.copysign", np.copysign, ""),
    ("math.powf", np.power, "positive"),
]


def _on_bits(function: Callable[..., Any], element: str) -> Callable[..., Any]:
    """A function of integers without sign."""
    unsigned = {"i8": np.uint8, "i16": np.uint16, "i32": np.uint32}[element]
    return lambda *arrays: function(*(array.view(unsigned) for array in arrays)).astype(
        _DTYPES[element], copy=False
    )


def _as_unsigned(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, y: function(x.view(np.uint8), y.view(np.uint8))


def _quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    wide = x.astype(np.int64), y.astype(np.int64)
    return np.sign(wide[0]) * np.sign(wide[1]) * (abs(wide[0]) // abs(wide[1]))


_INTEGERS: list[tuple[str, Callable[..., Any], str]] = [
    ("arith.addi", np.add, ""),
    ("arith.andi", np.bitwise_and, ""),
    ("arith.divsi", _quotient, ""),
    ("arith.ceildivsi", lambda a, b: (-(-a.astype(np.int64) // b)).astype(a.dtype), ""),
    ("arith.floordivsi", np.floor_divide, ""),
    ("arith.maxsi", np.maximum, ""),
    ("arith.minsi", np.minimum, ""),
    ("arith.muli", np.multiply, ""),
    ("arith.ori", np.bitwise_or, ""),
    ("arith.remsi", np.fmod, ""),
    ("arith.shli", np.left_shift, "shift"),
    ("arith.shrsi", np.right_shift, "shift"),
    ("arith.subi", np.subtract, ""),
    ("arith.xori", np.bitwise_xor, ""),
]
_UNSIGNED: list[tuple[str, Callable[..., Any], str]] = [
    ("arith.divui", np.floor_divide, ""),
    ("arith.maxui", np.maximum, ""),
    ("arith.minui", np.minimum, ""),
    ("arith.remui", np.remainder, ""),
    ("arith.shrui", np.right_shift, "shift"),
]
_BOOLEAN: list[tuple[str, Callable[..., Any]]] = [
    ("arith.addi", np.logical_xor),
    ("arith.andi", np.logical_and),
    # As a signed number, true is -1.
    ("arith.maxsi", np.logical_and),
    ("arith.maxui", np.logical_or),
    ("arith.minsi", np.logical_or),
    ("arith.minui", np.logical_and),
    ("arith.muli", np.logical_and),
    ("arith.ori", np.logical_or),
    ("arith.subi", np.logical_xor),
    ("arith.xori", np.logical_xor),
]


def _ordered(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, y: function(x, y) & ~np.isnan(x) & ~np.isnan(y)


def _unordered(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, y: function(x, y) | np.isnan(x) | np.isnan(y)


_COMPARED: dict[str, Callable[..., Any]] = {
    "eq": np.equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lt": np.less,
    "le": np.less_equal,
    "ne": np.not_equal,
}
_CASTS: list[tuple[str, str, str, Callable[..., Any]]] = [
    ("extsi", "i8", "i32", lambda x: x),
    ("extsi", "i1", "i32", lambda x: -x.astype(np.int32)),
    ("extui", "i8", "i32", lambda x: x.astype(np.uint8)),
    ("extui", "i1", "i32", lambda x: x),
    ("trunci", "i32", "i8", lambda x: x),
    ("trunci", "i32", "i1", lambda x: x & 1),
    ("sitofp", "i32", "f32", lambda x: x),
    ("sitofp", "i1", "f32", lambda x: -x.astype(np.float32)),
    ("uitofp", "i8", "f32", lambda x: x.astype(np.uint8)),
    ("uitofp", "i1", "f32", lambda x: x),
    ("fptosi", "f32", "i32", np.trunc),
    ("fptosi", "f32", "i8", np.trunc),
    ("bitcast", "i32", "i32", lambda x: x),
]


def _same(
    rows: list[tuple[str, Callable[..., Any], str]], element: str, arity: int
) -> list[tuple[str, str, str, Callable[..., Any], str]]:
    operands = ", ".join(f"%{number}" for number in range(arity))
    return [
        (f"{op} {operands} : T<{element}>", " ".join([element] * arity), element, oracle, kind)
        for op, oracle, kind in rows
    ]


CASES: list[tuple[str, str, str, Callable[..., Any], str]] = [
    *_same(_UNARY, "f32", 1),
    *_same(_BINARY, "f32", 2),
    *_same(_INTEGERS, "i32", 2),
    *_same(_INTEGERS, "i8", 2),
    *(
        case
        for element in ("i32", "i8")
        for case in _same(
            [(op, _on_bits(oracle, element), kind) for op, oracle, kind in _UNSIGNED], element, 2
        )
    ),
    *_same([(op, oracle, "") for op, oracle in _BOOLEAN], "i1", 2),
    *_same(
        [
            ("math.absi", np.abs, ""),
            ("math.ctlz", _each(lambda x: 32 - (int(x) & 0xFFFFFFFF).bit_length()), ""),
            ("math.ctpop", _each(lambda x: (int(x) & 0xFFFFFFFF).bit_count()), ""),
        ],
        "i32",
        1,
    ),
    *_same([("math.round", lambda x: np.sign(x) * np.floor(abs(x) + 0.5), "")], "f32", 1),
    *_same([("math.fma", lambda x, y, z: x * y + z, "")], "f32", 3),
    *(
        (f"arith.cmpf {prefix}{name}, %0, %1 : T<f32>", "f32 f32", "i1", how(function), "special")
        for prefix, how in (("o", _ordered), ("u", _unordered))
        for name, function in _COMPARED.items()
    ),
    *(
        (f"arith.cmpf {word}, %0, %1 : T<f32>", "f32 f32", "i1", oracle, "special")
        for word, oracle in (
            ("true", lambda x, y: np.ones_like(x)),
            ("false", lambda x, y: np.zeros_like(x)),
        )
    ),
    ("arith.cmpf ord, %0, %1 : T<f32>", "f32 f32", "i1", _ordered(lambda x, y: True), "special"),
    ("arith.cmpf uno, %0, %1 : T<f32>", "f32 f32", "i1", _unordered(lambda x, y: False), "special"),
    *(
        (f"arith.cmpi {sign}{name}, %0, %1 : T<i8>", "i8 i8", "i1", oracle, "")
        for name, function in _COMPARED.items()
        for sign, oracle in (
            (("", function),)
            if name in ("eq", "ne")
            else (("s", function), ("u", _as_unsigned(function)))
        )
    ),
    *(
        # As a number with sign, true is -1.
        (f"arith.cmpi {word}, %0, %1 : T<i1>", "i1 i1", "i1", oracle, "")
        for word, oracle in (
            *(("slt", lambda x, y: x & ~y), ("sle", lambda x, y: x | ~y)),
            *(("sgt", lambda x, y: ~x & y), ("sge", lambda x, y: ~x | y)),
            *(("ult", lambda x, y: ~x & y), ("uge", lambda x, y: x | ~y)),
            *(("eq", np.equal), ("ne", np.not_equal)),
        )
    ),
    ("math.fpowi %0, %1 : T<f32>, T<i32>", "f32 i32", "f32", np.power, "shift"),
    *(
        (f"arith.{op} %0 : T<{source}> to T<{target}>", source, target, oracle, "")
        for op, source, target, oracle in _CASTS
    ),
    ("arith.select %0, %1, %2 : T<i1>, T<f32>", "i1 f32 f32", "f32", np.where, ""),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].replace(" ", "_")[:28])
def test_numbers(case: tuple[str, str, str, Callable[..., Any], str]) -> None:
    """The compiled operation computes what arith and math define."""
    _check(*case)


def test_round_of_halves() -> None:
    """`math.round` goes away from 0, `math.roundeven` to the even number."""
    text = """
      func.func @f(%a: tensor<1x7xf32>) -> (tensor<1x7xf32>, tensor<1x7xf32>) {
        %0 = math.round %a : tensor<1x7xf32>
        %1 = math.roundeven %a : tensor<1x7xf32>
        return %0, %1 : tensor<1x7xf32>, tensor<1x7xf32>
      }"""
    a = np.array([[-2.5, -0.5, 0.49999997, 0.5, 1.5, 2.5, 8388609.0]], np.float32)
    away, even = executed(text, [a], PASS, TTNN_PIPELINE)
    np.testing.assert_array_equal(away, [[-3, -1, 0, 1, 2, 3, 8388609]])
    np.testing.assert_array_equal(even, [[-2, 0, 0, 0, 2, 2, 8388609]])


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64"])
def test_signs_of_zeros_are_copied(element: str) -> None:
    """The sign is a bit: that of -0 and of the infinities too."""
    gives = f"tensor<3x5x{element}>"
    text = f"""
      func.func @f(%a: {gives}, %b: {gives}) -> {gives} {{
        %0 = math.copysign %a, %b : {gives}
        return %0 : {gives}
      }}"""
    dtype = {"f16": np.float16, "f64": np.float64}.get(element, np.float32)
    size = np.array([[0.0], [-1.5], [np.inf]], dtype) * np.ones((3, 5), dtype)
    sign = np.array([0.0, -0.0, -np.inf, 2.0, -0.25], dtype) * np.ones((3, 5), dtype)
    (found,) = executed(text, [size, sign], PASS, TTNN_PIPELINE)
    expected = np.copysign(size, sign)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_canonical_forms_keep_tensors() -> None:
    """Comparisons of a value with itself become a constant on scalars, and stay on tensors."""
    text = """
      func.func @f(%a: tensor<3xi32>, %c: tensor<3xi1>, %n: i32)
          -> (tensor<3xi1>, tensor<3xi32>, i1) {
        %0 = arith.cmpi eq, %a, %a : tensor<3xi32>
        %1 = arith.select %c, %a, %a : tensor<3xi1>, tensor<3xi32>
        %2 = arith.cmpi eq, %n, %n : i32
        return %0, %1, %2 : tensor<3xi1>, tensor<3xi32>, i1
      }"""
    result = printed(text, "canonicalize")
    assert "arith.cmpi eq, %arg0, %arg0 : tensor<3xi32>" in result
    assert "arith.constant true" in result


def test_constants_and_scalars() -> None:
    """Constant tensors are converted; scalars stay."""
    text = """
      func.func @f(%a: tensor<3x2xf32>) -> tensor<3x2xf32> {
        %0 = arith.constant dense<2.5> : tensor<3x2xf32>
        %1 = arith.addf %a, %0 fastmath<fast> : tensor<3x2xf32>
        return %1 : tensor<3x2xf32>
      }"""
    a = np.arange(6, dtype=np.float32).reshape(3, 2)
    (result,) = executed(text, [a], PASS, TTNN_PIPELINE)
    np.testing.assert_array_equal(result, a + 2.5)
    kept = "func.func @f(%a: i32) -> i32 {\n%0 = arith.addi %a, %a : i32\nreturn %0 : i32\n}"
    assert "arith.addi" in printed(kept, PASS)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "math.cttz %i : tensor<3x2xi32>",
            "failed to legalize operation 'math.cttz': of arith and",
        ),
        ("arith.divui %b, %b : tensor<3x2xi1>", "it computes with i1; supported are wider"),
        (
            "arith.select %s, %a, %a : tensor<3x2xf32>",
            "one of its operands is no tensor; give it a tensor",
        ),
        ("arith.addf %d, %d : tensor<?x2xf32>", "the shape of tensor<?x2xf32> is not known"),
    ],
)
def test_refusals(line: str, message: str) -> None:
    """What has no meaning in ttir is refused with what is supported."""
    text = (
        "func.func @f(%a: tensor<3x2xf32>, %i: tensor<3x2xi32>, %b: tensor<3x2xi1>, %s: i1, "
        f"%d: tensor<?x2xf32>) {{\n%r = {line}\nreturn\n}}"
    )
    with pytest.raises(DiagnosticError) as raised:
        printed(text, PASS)
    assert message in str(raised.value)
