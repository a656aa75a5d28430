"""C++ of types and constants: as mlir-translate spells them, and what neither spells."""

from __future__ import annotations

import subprocess

import pytest
from running.ir_text import parse
from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute

from ttmlir.cpp.errors import CannotEmitError
from ttmlir.target.cpp.emitter import literal_text, result_text, type_text

TYPES = (
    *("i1", "i8", "i16", "i32", "i64", "si8", "ui8", "si16", "ui16", "si32", "ui32", "ui64", "ui1"),
    *("index", "f32", "f64", "!emitc.size_t", "!emitc.ssize_t", "!emitc.ptrdiff_t"),
    *('!emitc.opaque<"std::vector<int>">', "!emitc.ptr<i32>", '!emitc.ptr<!emitc.opaque<"T">>'),
    *("tensor<2x3xf32>", "tensor<i8>", "tuple<i32, f32>", "tuple<>", "tuple<tuple<i1>, index>"),
)
VALUES = (
    *("true", "false", "-7 : i8", "200 : ui8", "-1 : i64", "9223372036854775807 : i64"),
    *("1.5 : f32", "-0.0 : f32", "1.0e-3 : f64", "0x7F800000 : f32", "0xFF800000 : f32"),
    *("0x7FC00000 : f32", "0xFFF0000000000000 : f64", "0x7FF0000000000000 : f64"),
    *("dense<[1, -2]> : tensor<2xi32>", "dense<[true, false]> : tensor<2xi1>"),
    *("dense<[[1.0, 2.5]]> : tensor<1x2xf32>", "dense<4> : tensor<3xi8>", "@symbol"),
    *("dense<0xFF800000> : tensor<2xf32>", "dense<[3, 4]> : tensor<2xindex>", "i32"),
    *('#emitc.opaque<"std::nullopt">', "dense<> : tensor<0xi32>", "!emitc.ptr<f32>"),
)


def attribute_of(text: str) -> Attribute:
    """The attribute that a text spells."""
    return parse(f"module attributes {{t.a = {text}}} {{}}").attributes["t.a"]


def test_types_and_values_are_those_of_mlir() -> None:
    """As arguments of functions and of calls."""
    functions = "".join(
        f"func.func @t{n}(%a: {type}) {{ return }}\n" for n, type in enumerate(TYPES)
    )
    calls = "".join(
        f'emitc.call_opaque "v"() {{args = [{value}]}} : () -> ()\n' for value in VALUES
    )
    run = subprocess.run(
        ["mlir-translate-19", "--mlir-to-cpp"],
        input=f"{functions}func.func @main() {{\n{calls}return\n}}\n",
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line.strip() for line in run.stdout.splitlines()]
    signatures = [line for line in lines if line.startswith("void t")]
    assert signatures == [
        f"void t{n}({type_text(attribute_of(type))} v1) {{" for n, type in enumerate(TYPES)
    ]
    values = [line for line in lines if line.startswith("v(")]
    assert values == [f"v({literal_text(attribute_of(value))});" for value in VALUES]


@pytest.mark.parametrize(
    ("types", "text"),
    [
        ("()", "void"),
        ("i32", "int32_t"),
        ("(i32, f32)", "std::tuple<int32_t, float>"),
        ("(i1, tuple<index>, i8)", "std::tuple<bool, std::tuple<size_t>, int8_t>"),
    ],
)
def test_results_are_one_type(types: str, text: str) -> None:
    """Nothing, the type, or a tuple of all."""
    type_ = attribute_of(f"() -> {types}")
    assert isinstance(type_, FunctionType)
    assert result_text(type_.outputs.data) == text


@pytest.mark.parametrize(
    ("types", "message"),
    [
        ("!emitc.array<2xi32>", "cannot emit array type as result type"),
        ("(i32, !emitc.array<2xi32>)", "cannot emit array type as result type"),
        ("(!emitc.array<2xi32>, i32)", "cannot emit array type as result type"),
        ("tuple<i32, !emitc.array<2xi32>>", "cannot emit tuple of array type"),
        ("tensor<*xf32>", "cannot emit unranked tensor type"),
        ("tensor<?xf32>", "cannot emit tensor type with non static shape"),
        ("i7", "cannot emit integer type 'i7'"),
        ("i128", "cannot emit integer type 'i128'"),
        ("f8E5M2", "cannot emit float type 'f8E5M2'"),
        ("memref<2xf32>", "cannot emit type 'memref<2xf32>'"),
    ],
)
def test_other_types_are_refused(types: str, message: str) -> None:
    """Arrays as results wherever they stand, and what C++ has no word for."""
    type_ = attribute_of(f"() -> {types}")
    assert isinstance(type_, FunctionType)
    with pytest.raises(CannotEmitError) as error:
        result_text(type_.outputs.data)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ('"text"', 'cannot emit attribute: "text"'),
        ("@a::@b::@c", "attribute has more than 1 nested reference"),
        ("unit", "cannot emit attribute: unit"),
        (
            "1.0 : f8E5M2",
            "expected floating point attribute to be f16, bf16, f32 or f64",
        ),
    ],
)
def test_other_values_are_refused(value: str, message: str) -> None:
    """The message has the attribute or what is supported."""
    with pytest.raises(CannotEmitError) as error:
        literal_text(attribute_of(value))
    assert str(error.value) == message
