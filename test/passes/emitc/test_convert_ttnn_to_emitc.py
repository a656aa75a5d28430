"""`convert-ttnn-to-emitc` turns every ttnn operation into a call that MLIR's tools can read."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from examples import HEADER, function_text
from ttmlir.compiler import compile_to_cpp, lower, write_cpp, write_ttnn
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.optable import DEFINITIONS
from ttmlir.schema.versions import load

PASS = "convert-ttnn-to-emitc"
UPSTREAM = shutil.which("mlir-translate-19")
COMPILER = shutil.which("g++")
LIBRARY = """\
#include <initializer_list>
#include <optional>
#include <tuple>
namespace ttnn {{
struct Tensor {{}};
struct Device {{}};
enum class Layout {{ ROW_MAJOR, TILE, INVALID }};
struct Any {{
  Any() = default;
  Any(std::initializer_list<double>);
  template <typename T> Any(const T &);
}};
{declarations}}}
inline ttnn::Device device;
"""
DEVICE = """\
#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>,
    l1Map = (d0, d1)[s0, s1] -> (0, d0, d1, s0), dramMap = (d0, d1)[s0, s1] -> (0, d0, d1, s0),
    meshShape = , chipIds = [0]>
"""


TILE, DRAM = "!tt.tile<32x32, f32>", "#tt.memory_space<dram>"


def converted(source: str) -> str:
    """The text of a module after the pass."""
    return print_module(lower(DEVICE + source, PASS))


def call_in(text: str, name: str) -> str:
    """The line of C++ that calls a function of the library."""
    [line] = [line for line in text.splitlines() if f" = ttnn::{name}(" in line]
    return line.partition(" = ")[2]


def test_empty_module_includes_the_header() -> None:
    """The include comes once per run, also where nothing is converted."""
    assert converted("module {}") == 'module {\n  emitc.include "ttnn-precompiled.hpp"\n}\n'


def test_signatures_calls_and_block_arguments_change_their_types() -> None:
    """Tensors and devices become opaque in every place that a type can be; others stay."""
    text = converted("""
        func.func private @g(tensor<3x5xf32>, i32) -> (tensor<3x5xf32>, i32)
        func.func @f(%a: tensor<3x5xf32>, %d: !tt.device<#device>) -> tensor<3x5xf32> {
          %c = "ttnn.empty"(%d) : (!tt.device<#device>) -> tensor<3x5xf32>
          return %c : tensor<3x5xf32>
        }
        func.func @h(%a: tensor<3x5xf32>, %i: i32) -> (tensor<3x5xf32>, i32) {
          %0:2 = call @g(%a, %i) : (tensor<3x5xf32>, i32) -> (tensor<3x5xf32>, i32)
          return %0#0, %0#1 : tensor<3x5xf32>, i32
        }""")
    tensor, device = '!emitc.opaque<"ttnn::Tensor">', '!emitc.opaque<"ttnn::Device">'
    assert f"func.func private @g({tensor}, i32) -> ({tensor}, i32)" in text
    assert f"func.func @f(%arg0: {tensor}, %arg1: {device}) -> {tensor} {{" in text
    assert f"%0:2 = call @g(%arg0, %arg1) : ({tensor}, i32) -> ({tensor}, i32)" in text
    assert "tensor<" not in text


def test_locations_stay() -> None:
    """A call is where its operation was."""
    module = lower(
        DEVICE
        + """
        func.func @f(%d: !tt.device<#device>) -> tensor<3xf32> {
          %0 = "ttnn.empty"(%d) : (!tt.device<#device>) -> tensor<3xf32> loc("made here")
          return %0 : tensor<3xf32>
        }""",
        PASS,
    )
    assert 'loc("made here")' in print_module(module, debuginfo=True)


def test_arguments_keep_their_places() -> None:
    """Also those whose type changes."""
    module = lower('func.func @f(%a: tensor<3xf32> loc("given here")) {\n  return\n}', PASS)
    assert 'loc("given here")' in print_module(module, debuginfo=True)


def test_layouts_name_tensor_layout_and_the_address_of_the_device() -> None:
    """The arguments between them, data type and memory configuration, are left to the library."""
    row_major, tile = (
        f"tensor<33x70xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<{memref}>>>"
        for memref in ("33x70xf32, #tt.memory_space<system>", f"2x3x{TILE}, {DRAM}")
    )
    text = write_cpp(
        lower(f"""{DEVICE}
        func.func @f(%a: {row_major}, %d: !tt.device<#device>) -> {tile} {{
          %0 = "ttnn.to_layout"(%a, %d) <{{layout = #ttnn.layout<tile>}}>
              : ({row_major}, !tt.device<#device>) -> {tile}
          return %0 : {tile}
        }}""")
    )
    expected = "ttnn::to_layout(v1, ttnn::Layout::TILE, std::nullopt, std::nullopt, v3);"
    assert "v3 = &v2;" in text
    assert call_in(text, "to_layout") == expected


@pytest.mark.parametrize(
    ("weights", "data_type"),
    [("bfp_bf8", "BFLOAT8_B"), ("bfp_bf4", "BFLOAT4_B"), ("bf16", "BFLOAT16")],
)
def test_to_layout_names_the_format_of_narrower_weights(weights: str, data_type: str) -> None:
    """Without it the library would keep the weight in 32 bits."""
    text = compile_to_cpp(
        """#any = #tt.operand_constraint<dram|scalar|tile|any_layout|any_device|any_device_tile>
        func.func @f(%x: tensor<33x70xf32>, %w: tensor<70x5xf32>) -> tensor<33x5xf32> {
          %0 = tensor.empty() : tensor<33x5xf32>
          %1 = "ttir.matmul"(%x, %w, %0) <{operand_constraints = [#any, #any, #any]}>
              : (tensor<33x70xf32>, tensor<70x5xf32>, tensor<33x5xf32>) -> tensor<33x5xf32>
          return %1 : tensor<33x5xf32>
        }""",
        f"ttir-to-ttnn-backend-pipeline{{experimental-weight-dtype={weights}}}",
    )
    formats = re.findall(r"to_layout\(v\d+, ttnn::Layout::TILE, ([\w:]+),", text)
    assert formats == ["std::nullopt", f"ttnn::DataType::{data_type}"]


def test_operations_of_emitc_stay() -> None:
    """A module may be converted in part."""
    text = converted("""
        func.func @f(%a: tensor<3xf32>, %i: i32) -> (tensor<3xf32>, i32) {
          %0 = emitc.call_opaque "own"(%i) : (i32) -> i32
          return %a, %0 : tensor<3xf32>, i32
        }""")
    assert 'emitc.call_opaque "own"(%arg1) : (i32) -> i32' in text


@pytest.mark.parametrize(
    ("mnemonic", "call"),
    [
        ("add", "ttnn::add(v6, v9, v10);"),
        ("multiply", "ttnn::multiply(v6, v9, std::nullopt, std::nullopt, v10);"),
        ("softmax", "ttnn::softmax(v5, v6);"),
        ("squeeze", "ttnn::reshape(v5, v6);"),
        ("clamp", "ttnn::clamp(v5, 0.0e+00f, 6.000000000e+00f, v6);"),
        ("slice", "ttnn::slice(v5, {3, 0}, {33, 70}, {3, 2}, v6);"),
        ("repeat", "ttnn::repeat(v5, {2, 3}, v6);"),
        ("pad", "ttnn::pad(v5, {1, 0, 0, 2}, 5.000000000e-01f, v6);"),
        ("min", "ttnn::min(v5, true, {1}, v6);"),
        ("arange", "ttnn::arange(0, 10, 2, 1, v1);"),
    ],
)
def test_operands_then_parameters_then_destination(mnemonic: str, call: str) -> None:
    """Operations that tt-mlir had in 2024 keep its argument lists; later ones spell parameters."""
    text = compile_to_cpp(HEADER + function_text(DEFINITIONS[mnemonic]))
    name = call.removeprefix("ttnn::").partition("(")[0]
    assert call_in(text, name) == call


def test_constants_are_values_and_shape() -> None:
    """Long constants can be left out of the text."""
    module = lower(HEADER + function_text(DEFINITIONS["constant"]))
    values = ", ".join(f"{value}.000000000e+00f" for value in range(1, 7))
    assert call_in(write_cpp(module), "constant") == f"ttnn::constant({{{values}}}, {{2, 3}}, v1);"
    elided = write_cpp(module, elide_above=5)
    assert call_in(elided, "constant") == "ttnn::constant({/* 6 values */}, {2, 3}, v1);"


@pytest.mark.parametrize(
    ("type_", "bits", "tenth"),
    [("bf16", "0x7FC1, 0xFF80", "1.00097656"), ("f32", "0x7FC00001, 0xFF800000", "1.00000001")],
)
def test_constants_of_2026_are_of_32_bits(type_: str, bits: str, tenth: str) -> None:
    """With nine digits; numbers that are none, and infinities."""
    tensor = f"tensor<2x2x{type_}>"
    value = f"dense<[[1.5, -0.1], [{bits}]]>"
    constant = f'"ttir.constant"() <{{value = {value} : {tensor}}}> : () -> {tensor}'
    text = f"func.func @main() -> {tensor} {{ %0 = {constant} return %0 : {tensor} }}"
    module = lower(text, "ttir-to-ttnn-backend-pipeline{spelling=2026}")
    expected = f"{{1.500000000e+00f, -{tenth}0e-01f, NAN, -INFINITY}}"
    assert f"create_tensor<float>({expected}, ttnn::Shape({{2, 2}})" in write_cpp(module)


def test_texts_in_a_file_leave_out_more_than_16_elements() -> None:
    """The C++ and the lines of the operations alike."""
    types = [f"tensor<1x{count}xi32>" for count in (16, 17)]
    values = [f"dense<[{list(range(count))}]>" for count in (16, 17)]
    body = "".join(
        f'%{i} = "ttir.constant"() <{{value = {value} : {type}}}> : () -> {type}\n'
        for i, (value, type) in enumerate(zip(values, types, strict=True))
    )
    types = ", ".join(types)
    text = f"func.func @main() -> ({types}) {{\n{body}return %0, %1 : {types}\n}}"
    program = load(write_ttnn(lower(text)), "x").root.programs[0]
    assert f"ttnn::constant({{{', '.join(map(str, range(16)))}}}, " in program.debug_info.cpp
    assert "ttnn::constant({/* 17 values */}, " in program.debug_info.cpp
    lines = [op.debug_info for op in program.operations if op.type_type == "ConstantOp"]
    assert ["dense_resource<__elided__>" in line for line in lines] == [False, True]


def test_absent_optional_parameter_is_nullopt() -> None:
    """A reduction over all dimensions has no list of them."""
    source = function_text(DEFINITIONS["prod"]).replace(", dim_arg = [1 : i32]", "")
    source = source.replace("33x1x", "1x1x")
    assert call_in(compile_to_cpp(HEADER + source), "prod").startswith(
        "ttnn::prod(v5, true, std::nullopt, "
    )


@pytest.mark.skipif(UPSTREAM is None, reason="needs mlir-translate-19")
@pytest.mark.parametrize(
    "mnemonic", [name for name, definition in DEFINITIONS.items() if definition.in_ttir]
)
def test_mlir_prints_the_same_text(mnemonic: str) -> None:
    """MLIR reads the converted module of every operation and prints the C++ that we print."""
    source = HEADER + function_text(DEFINITIONS[mnemonic])
    module = lower(source, f"ttir-to-ttnn-backend-pipeline,{PASS}")
    upstream = subprocess.run(
        [str(UPSTREAM), "--mlir-to-cpp", "--allow-unregistered-dialect"],
        input=print_module(module),
        capture_output=True,
        text=True,
        check=True,
    )
    assert compile_to_cpp(source) == upstream.stdout


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
def test_compiler_accepts_every_call(tmp_path: Path) -> None:
    """The calls of all operations are C++, given functions that take anything."""
    functions = "".join(
        function_text(definition) for definition in DEFINITIONS.values() if definition.in_ttir
    )
    text = compile_to_cpp(HEADER + functions)
    callees = sorted(set(re.findall(r"ttnn::(\w+)\(", text)))
    parameters = ", ".join(f"Any p{number} = {{}}" for number in range(32))
    pairs = {
        definition.mnemonic for definition in DEFINITIONS.values() if len(definition.results) == 2
    }
    declarations = "".join(
        f"{'std::tuple<Tensor, Tensor>' if callee in pairs else 'Tensor'} {callee}({parameters});\n"
        for callee in callees
    )
    header = LIBRARY.format(declarations=declarations)
    (tmp_path / "ttnn-precompiled.hpp").write_text(header, encoding="utf-8")
    (tmp_path / "program.cpp").write_text(text, encoding="utf-8")
    command = [str(COMPILER), "-std=c++20", "-fsyntax-only", "program.cpp"]
    subprocess.run(command, cwd=tmp_path, check=True)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            "%0 = arith.addf %a, %a : f32",
            "failed to legalize operation 'arith.addf': convert-ttnn-to-emitc takes ttnn, func and "
            "emitc operations",
        ),
        (
            '%0 = "ttnn.alloc"() <{address = 64 : i64, memory_space = #tt.memory_space<dram>, '
            "size = 12 : i64}> : () -> tensor<3xf32, #tt.layout<(d0) -> (0, d0), undef, <1x1>, "
            "memref<1x3xf32, #tt.memory_space<dram>>, interleaved>>",
            "failed to legalize operation 'ttnn.alloc': the ttnn library chooses addresses itself "
            "in C++",
        ),
    ],
)
def test_operation_without_call_is_refused(line: str, reason: str) -> None:
    """The message is located and says why."""
    source = f"func.func @f(%a: f32, %t: tensor<3xf32>) {{\n{line}\nreturn\n}}"
    with pytest.raises(DiagnosticError) as error:
        lower(source, PASS, file_name="test.mlir")
    column = 1 + line.index(" = ") + 3
    assert str(error.value) == f"test.mlir:2:{column}: error: {reason}"
