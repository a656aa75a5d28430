"""`emit_cpp` prints what MLIR's own C++ emitter prints, and says why where it cannot print."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ttmlir.dialects import DIALECTS
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.target.cpp.emitter import emit_cpp

UPSTREAM = shutil.which("mlir-translate-19")
CASES = sorted((Path(__file__).parent / "Inputs").glob("*.mlir"))


def emit(source: str, *, at_top: bool = False, elide_above: int | None = None) -> str:
    """The C++ text of MLIR text."""
    module = parse_module(source, "test.mlir", make_context(DIALECTS, allow_unregistered=True))
    return emit_cpp(module, declare_variables_at_top=at_top, elide_above=elide_above)


@pytest.mark.skipif(UPSTREAM is None, reason="needs mlir-translate-19")
@pytest.mark.parametrize("at_top", [False, True], ids=["inline", "at-top"])
@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_text_is_that_of_mlir(case: Path, at_top: bool) -> None:
    """Every input prints as `mlir-translate --mlir-to-cpp` prints it, or neither prints."""
    flags = ["--declare-variables-at-top"] if at_top else []
    expected = subprocess.run(
        [str(UPSTREAM), "--mlir-to-cpp", *flags, str(case)],
        capture_output=True,
        text=True,
        check=False,
    )
    source = case.read_text(encoding="utf-8")
    if expected.returncode:
        with pytest.raises(DiagnosticError):
            emit(source, at_top=at_top)
    else:
        assert emit(source, at_top=at_top) == expected.stdout


BINARY = (
    *("mul", "div", "rem", "add", "sub", "bitwise_left_shift", "bitwise_right_shift"),
    *("bitwise_and", "bitwise_xor", "bitwise_or"),
)


def nested(outer: str, inner: str, *, right: bool) -> str:
    """A function of an operation on the result of another."""
    operands = "%b, %0" if right else "%0, %b"
    return f"""func.func @{outer}_{inner}_{"right" if right else "left"}(%a: i32, %b: i32) -> i32 {{
  %e = emitc.expression : i32 {{
    %0 = emitc.{inner} %a, %b : (i32, i32) -> i32
    %1 = emitc.{outer} {operands} : (i32, i32) -> i32
    emitc.yield %1 : i32
  }}
  return %e : i32
}}
"""


@pytest.mark.skipif(UPSTREAM is None, reason="needs mlir-translate-19")
@pytest.mark.parametrize("right", [False, True])
def test_brackets_are_those_of_mlir(right: bool) -> None:
    """Of every operator in every other one, on either side."""
    text = "".join(nested(outer, inner, right=right) for outer in BINARY for inner in BINARY)
    run = subprocess.run(
        [str(UPSTREAM), "--mlir-to-cpp"], input=text, capture_output=True, text=True, check=True
    )
    assert emit(text) == run.stdout


def test_nested_address_and_dereference_keep_their_operand() -> None:
    """`*` of a sum is a sum in parentheses; MLIR 19 prints a variable that does not exist."""
    text = emit("""
        func.func @f(%p: !emitc.ptr<i32>, %i: i32) -> i32 {
          %0 = emitc.expression : i32 {
            %1 = emitc.add %p, %i : (!emitc.ptr<i32>, i32) -> !emitc.ptr<i32>
            %2 = emitc.apply "*"(%1) : (!emitc.ptr<i32>) -> i32
            emitc.yield %2 : i32
          }
          return %0 : i32
        }""")
    assert "int32_t v3 = *(v1 + v2);" in text


def test_function_without_body_is_a_declaration() -> None:
    """MLIR 19 prints an empty body, which defines the function."""
    assert emit("func.func private @f(f32, i1) -> i64") == "int64_t f(float, bool);\n\n"


@pytest.mark.parametrize(
    ("type", "expected"),
    [("f16", "_Float16 v1 = 1.50000e+00f16"), ("bf16", "__bf16 v1 = 1.5000e+00bf16")],
)
def test_sixteen_bit_floats_print_as_in_llvm_20(type: str, expected: str) -> None:
    """Types and literals of 16 bits have the spellings of later versions."""
    source = f"""
        func.func @f() -> {type} {{
          %0 = "emitc.constant"() <{{value = 1.5 : {type}}}> : () -> {type}
          return %0 : {type}
        }}"""
    assert f"  {expected};\n" in emit(source)


def test_large_constants_can_be_left_out() -> None:
    """Above the limit only the number of values is printed."""
    source = """
        func.func @f() {
          emitc.call_opaque "g"() {args = [dense<[1, 2, 3]> : tensor<3xi32>]} : () -> ()
          return
        }"""
    assert "g({1, 2, 3});" in emit(source, elide_above=3)
    assert "g({/* 3 values */});" in emit(source, elide_above=2)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            '"foo.bar"() : () -> ()',
            "test.mlir:2:1: error: 'foo.bar' op unable to find printer for op; C++ is printed from "
            "the dialects emitc, func and cf",
        ),
        (
            "%0 = arith.constant 1 : i32",
            "test.mlir:2:6: error: 'arith.constant' op unable to find printer for op; C++ is "
            "printed from the dialects emitc, func and cf",
        ),
        (
            'emitc.call_opaque "g"() {args = ["text"]} : () -> ()',
            "test.mlir:2:1: error: 'emitc.call_opaque' op cannot emit attribute: \"text\"",
        ),
        (
            'emitc.call_opaque "g"() {args = [@a::@b::@c]} : () -> ()',
            "test.mlir:2:1: error: 'emitc.call_opaque' op attribute has more than 1 nested "
            "reference",
        ),
        (
            'emitc.call_opaque "g"() {args = [1.0 : f8E5M2]} : () -> ()',
            "test.mlir:2:1: error: 'emitc.call_opaque' op expected floating point attribute to be "
            "f16, bf16, f32 or f64",
        ),
    ],
)
def test_operation_without_text_is_refused(body: str, message: str) -> None:
    """The message is located and names what is supported."""
    with pytest.raises(DiagnosticError) as error:
        emit(f"func.func @f() {{\n{body}\nreturn\n}}")
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("type", "message"),
    [
        ("i17", "cannot emit integer type 'i17'"),
        ("f8E5M2", "cannot emit float type 'f8E5M2'"),
        ("tensor<*xf32>", "cannot emit unranked tensor type"),
        ("tensor<?xf32>", "cannot emit tensor type with non static shape"),
        ("memref<2xf32>", "cannot emit type 'memref<2xf32>'"),
        ("tuple<!emitc.array<2xf32>>", "cannot emit tuple of array type"),
    ],
)
def test_type_without_spelling_is_refused(type: str, message: str) -> None:
    """The message names the type."""
    with pytest.raises(DiagnosticError) as error:
        emit(f"func.func @f(%a: {type}) {{ return }}")
    assert str(error.value) == f"test.mlir:1:1: error: 'func.func' op {message}"


def test_several_blocks_need_variables_at_top() -> None:
    """The message names the flag that helps."""
    with pytest.raises(DiagnosticError, match="add --declare-variables-at-top"):
        emit("func.func @f() {\n  cf.br ^bb1\n^bb1:\n  return\n}")


@pytest.mark.parametrize("function", ['@"f(){} int g"() { return }', 'private @"f(){} int g"()'])
def test_names_are_no_code(function: str) -> None:
    """Names of functions come from files."""
    with pytest.raises(DiagnosticError, match=r"'f\(\){} int g' is no name in C\+\+; rename it"):
        emit(f"func.func {function}")
