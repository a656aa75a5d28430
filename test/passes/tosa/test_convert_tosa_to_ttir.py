"""What tosa programs compute after conversion, against NumPy and Python's `math`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from running.pass_runner import TTNN_PIPELINE, executed, printed
from running.randomness import TestGenerator

from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.passes.tosa.convert_tosa_to_ttir_rules import ELEMENTWISE

PASS = "convert-tosa-to-ttir=spelling=2024"
_RNG = TestGenerator(__name__)
_SHAPES = ((33, 70), (1, 70), (33, 1))
_DTYPES = {"f32": np.float32, "i32": np.int32, "i8": np.int8, "i1": np.bool_}


@dataclass(frozen=True)
class Case:
    """One use of an operation."""

    op: str
    oracle: Callable[..., Any]
    inputs: tuple[str, ...]
    """Element types."""
    out: str
    attributes: str = ""
    sample: str = "signed"

    @property
    def text(self) -> str:
        """A function with the operation alone."""
        types = [_type(*pair) for pair in zip(_SHAPES, self.inputs, strict=False)]
        values = [f"%a{number}" for number in range(len(types))]
        arguments = ", ".join(f"{v}: {t}" for v, t in zip(values, types, strict=True))
        result = _type(_SHAPES[0], self.out)
        return (
            f"func.func @f({arguments}) -> {result} {{\n"
            f'  %0 = "tosa.{self.op}"({", ".join(values)}) {{{self.attributes}}} : '
            f"({', '.join(types)}) -> {result}\n  return %0 : {result}\n}}\n"
        )

    def arrays(self) -> list[np.ndarray]:
        """Inputs."""
        return [_sample(self.sample, *pair) for pair in zip(_SHAPES, self.inputs, strict=False)]


def _type(shape: tuple[int, ...], element: str) -> str:
    return f"tensor<{'x'.join((*map(str, shape), element))}>"


def _sample(kind: str, shape: tuple[int, ...], element: str) -> np.ndarray:
    if element == "i1":
        return _RNG.integers(0, 2, shape).astype(bool)
    if element == "f32":
        # Some numbers are equal, so that comparisons see ties.
        array = np.where(_RNG.random(shape) < 0.3, 1.5, _RNG.uniform(0.3, 3, shape))
    elif element == "i8":
        array = _RNG.integers(1, 128, shape)
    elif kind == "shift":
        # The second operand alone has one row.
        array = (
            _RNG.integers(0, 31, shape) if shape[0] == 1 else _RNG.integers(-(2**31), 2**31, shape)
        )
    else:
        array = np.maximum(1, _RNG.integers(1, 2**31, shape) >> _RNG.integers(0, 20, shape))
    signs = _RNG.choice([-1, 1], shape) if kind == "signed" else 1
    return (array * signs).astype(_DTYPES[element])


def _each(function: Callable[..., float]) -> Callable[..., Any]:
    return np.vectorize(function, otypes=[np.float64])


def _bounds(**given: str) -> str:
    bounds = {
        "min_fp": "0.0 : f32",
        "max_fp": "0.0 : f32",
        "min_int": "0 : i64",
        "max_int": "0 : i64",
    }
    return ", ".join(f"{name} = {value}" for name, value in (bounds | given).items())


def _unary(op: str, oracle: Callable[..., Any], *, element: str = "f32", **options: Any) -> Case:
    return Case(op, oracle, (element,), element, **options)


def _binary(
    op: str, oracle: Callable[..., Any], *, element: str = "f32", out: str = "", **options: Any
) -> Case:
    return Case(op, oracle, (element, element), out or element, **options)


CASES = [
    _unary("abs", lambda x: np.where(x < 0, -x, x)),
    _unary("abs", lambda x: np.where(x < 0, -x, x), element="i32"),
    _unary("bitwise_not", lambda x: -1 - x, element="i32"),
    _unary("ceil", _each(math.ceil)),
    _unary("clz", _each(lambda x: 32 - (int(x) & 0xFFFFFFFF).bit_length()), element="i32"),
    _unary("cos", _each(math.cos)),
    _unary("erf", _each(math.erf)),
    _unary("exp", _each(math.exp)),
    _unary("floor", _each(math.floor)),
    _unary("identity", lambda x: x),
    _unary("log", _each(math.log), sample="positive"),
    _unary("logical_not", lambda x: x == 0, element="i1"),
    _unary("negate", lambda x: 0 - x),
    _unary("negate", lambda x: 0 - x, element="i32"),
    _unary("reciprocal", lambda x: 1 / x),
    _unary("rsqrt", _each(lambda x: 1 / math.sqrt(x)), sample="positive"),
    _unary("sigmoid", _each(lambda x: 1 / (1 + math.exp(-x)))),
    _unary("sin", _each(math.sin)),
    _unary("tanh", _each(math.tanh)),
    _unary(
        "clamp",
        lambda x: np.where(x < -0.5, -0.5, np.where(x > 1.25, 1.25, x)),
        attributes=_bounds(min_fp="-0.5 : f32", max_fp="1.25 : f32"),
    ),
    _unary(
        "clamp",
        lambda x: np.where(x < -3, -3, np.where(x > 1000, 1000, x)),
        element="i32",
        attributes=_bounds(min_int="-3 : i64", max_int="1000 : i64"),
    ),
    _unary(
        "clamp",
        lambda x: np.where(x < 0, 0, x),
        element="i32",
        attributes=_bounds(max_int="2147483647 : i64"),
    ),
    _unary(
        "clamp",
        lambda x: x,
        element="i8",
        attributes=_bounds(min_int=f"{-(2**63)} : i64", max_int=f"{2**63 - 1} : i64"),
    ),
    _binary("add", lambda x, y: x + y),
    _binary("add", lambda x, y: x + y, element="i32"),
    _binary("sub", lambda x, y: x - y),
    _binary("mul", lambda x, y: x * y, attributes="shift = 0 : i8"),
    _binary("mul", lambda x, y: x * y, element="i32", attributes="shift = 0 : i8"),
    _binary("mul", lambda x, y: x * y, element="i8", out="i32", attributes="shift = 0 : i8"),
    _binary("pow", _each(math.pow), sample="positive"),
    _binary("maximum", lambda x, y: np.where(x > y, x, y)),
    _binary("minimum", lambda x, y: np.where(x < y, x, y)),
    *(
        _binary(op, lambda x, y: np.sign(x) * np.sign(y) * (abs(x) // abs(y)), element="i32")
        for op in ("int_div", "intdiv")
    ),
    *(
        Case(op, oracle, ("i32", "i32"), "i32", attributes=attributes, sample="shift")
        for op, attributes, oracle in (
            ("logical_left_shift", "", lambda x, y: x << y),
            ("logical_right_shift", "", lambda x, y: (x & 0xFFFFFFFF) >> y),
            ("arithmetic_right_shift", "round = false", lambda x, y: x >> y),
        )
    ),
    *(
        _binary(op, oracle, element="i32")
        for op, oracle in (
            ("bitwise_and", _each(lambda x, y: int(x) & int(y))),
            ("bitwise_or", _each(lambda x, y: int(x) | int(y))),
            ("bitwise_xor", _each(lambda x, y: int(x) ^ int(y))),
        )
    ),
    *(
        _binary(op, oracle, element=element, out="i1")
        for element in ("f32", "i8")
        for op, oracle in (
            ("equal", lambda x, y: x == y),
            ("greater", lambda x, y: x > y),
            ("greater_equal", lambda x, y: x >= y),
        )
    ),
    _binary("logical_and", lambda x, y: (x + y) == 2, element="i1"),
    _binary("logical_or", lambda x, y: (x + y) > 0, element="i1"),
    _binary("logical_xor", lambda x, y: (x + y) == 1, element="i1"),
    Case("select", lambda p, x, y: p * x + (1 - p) * y, ("i1", "f32", "f32"), "f32"),
    Case("cast", lambda x: x, ("i8",), "f32"),
    Case("cast", lambda x: x, ("i1",), "i32"),
    Case("cast", lambda x: x != 0, ("f32",), "i1"),
    Case("cast", np.rint, ("f32",), "i32"),
    Case("cast", np.rint, ("f32",), "i8"),
    Case("cast", lambda x: (x + 128) % 256 - 128, ("i32",), "i8"),
]
_IDS = [f"{case.op}-{case.out}-{number}" for number, case in enumerate(CASES)]


def test_every_operation_is_used() -> None:
    """There is a case for each elementwise operation, and for the identity."""
    assert {f"tosa.{case.op}" for case in CASES} == {*ELEMENTWISE, "tosa.identity"}


@pytest.mark.parametrize("case", CASES, ids=_IDS)
def test_numbers(case: Case) -> None:
    """The compiled operation computes what tosa defines."""
    arrays = case.arrays()
    (result,) = executed(case.text, arrays, PASS, TTNN_PIPELINE)
    wide = [array.astype(np.float64 if array.dtype.kind == "f" else np.int64) for array in arrays]
    expected = np.broadcast_to(case.oracle(*wide), _SHAPES[0])
    assert result.dtype == _DTYPES[case.out]
    if case.out == "f32":
        np.testing.assert_allclose(result, expected, rtol=2e-6, atol=1e-7)
    else:
        wrapped = expected.astype(np.int64).astype(_DTYPES[case.out])
        np.testing.assert_array_equal(result, wrapped)


def test_constant() -> None:
    """A constant reaches the runtime with all its elements."""
    text = """
      func.func @f(%a: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<1x2xf32>) {
        %0 = "tosa.const"() <{value = dense<[[1.5, -2.25]]> : tensor<1x2xf32>}>
            : () -> tensor<1x2xf32>
        %1 = tosa.add %a, %0 : (tensor<3x2xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
        return %1, %0 : tensor<3x2xf32>, tensor<1x2xf32>
      }"""
    a = np.arange(6, dtype=np.float32).reshape(3, 2)
    total, constant = executed(text, [a], PASS, TTNN_PIPELINE)
    np.testing.assert_array_equal(constant, [[1.5, -2.25]])
    np.testing.assert_array_equal(total, [[1.5, -1.25], [3.5, 0.75], [5.5, 2.75]])


def test_cast_rounds_to_the_even_one_of_two() -> None:
    """Halves go to the even integer, as TOSA asks."""
    text = """
      func.func @f(%a: tensor<1x6xf32>) -> tensor<1x6xi32> {
        %0 = tosa.cast %a : (tensor<1x6xf32>) -> tensor<1x6xi32>
        return %0 : tensor<1x6xi32>
      }"""
    a = np.array([[-2.5, -1.5, -0.75, 0.5, 1.5, 7.25]], np.float32)
    (result,) = executed(text, [a], PASS, TTNN_PIPELINE)
    np.testing.assert_array_equal(result, [[-2, -2, -1, 0, 2, 7]])


def test_later_forms() -> None:
    """Shifts, zero points and bounds as later versions of MLIR write them."""
    text = """
      func.func @f(%a: tensor<3x2xf32>) -> tensor<3x2xf32> {
        %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
        %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
        %0 = tosa.mul %a, %a, %s : (tensor<3x2xf32>, tensor<3x2xf32>, tensor<1xi8>)
            -> tensor<3x2xf32>
        %1 = tosa.negate %0, %zp, %zp : (tensor<3x2xf32>, tensor<1xf32>, tensor<1xf32>)
            -> tensor<3x2xf32>
        %2 = tosa.clamp %1 {min_val = -6.0 : f32, max_val = -0.5 : f32, nan_mode = PROPAGATE}
            : (tensor<3x2xf32>) -> tensor<3x2xf32>
        return %2 : tensor<3x2xf32>
      }"""
    a = np.arange(6, dtype=np.float32).reshape(3, 2)
    (result,) = executed(text, [a], PASS, TTNN_PIPELINE)
    np.testing.assert_array_equal(result, [[-0.5, -1], [-4, -6], [-6, -6]])
    assert "ttir.constant" not in printed(text, PASS)


def test_chain() -> None:
    """Several operations, one value used twice."""
    text = """
      func.func @f(%a: tensor<5x37xf32>, %b: tensor<5x1xf32>) -> tensor<5x37xf32> {
        %0 = tosa.sub %a, %b : (tensor<5x37xf32>, tensor<5x1xf32>) -> tensor<5x37xf32>
        %1 = tosa.mul %0, %0 {shift = 0 : i8} : (tensor<5x37xf32>, tensor<5x37xf32>)
            -> tensor<5x37xf32>
        %2 = tosa.greater %1, %b : (tensor<5x37xf32>, tensor<5x1xf32>) -> tensor<5x37xi1>
        %3 = tosa.select %2, %0, %1 : (tensor<5x37xi1>, tensor<5x37xf32>, tensor<5x37xf32>)
            -> tensor<5x37xf32>
        return %3 : tensor<5x37xf32>
      }"""
    a, b = (_RNG.standard_normal(shape).astype(np.float32) for shape in ((5, 37), (5, 1)))
    (result,) = executed(text, [a, b], PASS, TTNN_PIPELINE)
    difference = a - b
    square = difference * difference
    np.testing.assert_array_equal(result, np.where(square > b, difference, square))


def test_refusal_says_where_what_is_supported_stands() -> None:
    """The message about an operation without a rule names the page that lists all others."""
    text = """
      func.func @f(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
        %0 = tosa.custom %a {domain_name = "a", implementation_attrs = "", operator_name = "b"}
            : (tensor<5x7xf32>) -> tensor<5x7xf32>
        return %0 : tensor<5x7xf32>
      }"""
    with pytest.raises(DiagnosticError) as raised:
        printed(text, PASS)
    assert (
        "failed to legalize operation 'tosa.custom': convert-tosa-to-ttir has no rule for it; "
        "docs/frontends.md lists all that it takes"
    ) in str(raised.value)
