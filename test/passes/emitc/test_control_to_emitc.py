"""Loops and branches in C++: it compiles, and calls the functions as often as the program says."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ttmlir.compiler import lower, write_cpp

HEADER = """
#include <cstdint>
#include <iostream>
#include <optional>
#include <tuple>
namespace ttnn {
struct Device {};
struct Tensor {
  double number = 0;
  template <typename T> T item() const { return static_cast<T>(number); }
};
inline Tensor abs(Tensor x, Tensor) { std::cout << "abs "; return x; }
inline Tensor neg(Tensor x, Tensor) { std::cout << "neg "; return {x.number - 1}; }
inline Tensor sin(Tensor x, Tensor) { std::cout << "sin "; return x; }
inline Tensor empty(Device) { return {}; }
enum class Layout { TILE };
template <typename... T> Tensor to_layout(Tensor x, T...) { return x; }
inline Tensor to_device(Tensor x, Device) { return x; }
inline Tensor to_memory_config(Tensor x, Device) { return x; }
}
using bfloat16 = float;
static ttnn::Device device;
"""
V = "tensor<1x1xf32>"


def function(name: str, *operations: str) -> str:
    """A private function that applies operations to its argument."""
    lines = [f"func.func private @{name}(%x: {V}) -> {V} {{"]
    value = "%x"
    for number, operation in enumerate(operations):
        lines += [
            f"%e{number} = tensor.empty() : {V}",
            f'%{number} = "ttir.{operation}"({value}, %e{number}) <{{operandSegmentSizes = '
            f"array<i32: 1, 1>, operand_constraints = [#any, #any]}}> : ({V}, {V}) -> {V}",
        ]
        value = f"%{number}"
    return "\n".join([*lines, f"return {value} : {V}", "}"])


def printed_by(program: str, argument: int, folder: Path) -> str:
    """What the C++ of a program prints, for a tensor of one number."""
    text = "#any = #tt.operand_constraint<any_device_tile>\n" + program
    module = lower(text, "ttir-to-ttnn-backend-pipeline")
    (folder / "ttnn-precompiled.hpp").write_text(HEADER)
    code = write_cpp(module)
    main = f"\nint main() {{ std::cout << f({{{argument}}}).number; }}\n"
    (folder / "program.cpp").write_text(code + main)
    command = ["g++", "-std=c++20", "-o", str(folder / "program"), str(folder / "program.cpp")]
    subprocess.run(command, check=True)
    return subprocess.run(
        [str(folder / "program")], check=True, capture_output=True, text=True
    ).stdout


def test_counted_loops_inside_of_loops(tmp_path: Path) -> None:
    """A `for` in a function that a `for` calls."""
    program = f"""
func.func @f(%x: {V}) -> {V} {{
  %0 = "ttir.while"(%x) <{{body = @outer, trip_count = 2 : i64}}> : ({V}) -> {V}
  return %0 : {V}
}}
func.func private @outer(%x: {V}) -> {V} {{
  %0 = "ttir.while"(%x) <{{body = @inner, trip_count = 3 : i64}}> : ({V}) -> {V}
  return %0 : {V}
}}
{function("inner", "neg")}
"""
    assert printed_by(program, 10, tmp_path) == "neg neg neg neg neg neg 4"


def test_loops_with_a_condition(tmp_path: Path) -> None:
    """It is asked before each iteration, and the loop ends at 0."""
    program = f"""
func.func @f(%x: {V}) -> {V} {{
  %0 = "ttir.while"(%x) <{{body = @body, condition = @condition}}> : ({V}) -> {V}
  return %0 : {V}
}}
{function("body", "neg")}
{function("condition", "abs")}
"""
    assert printed_by(program, 2, tmp_path) == "abs neg abs neg abs 0"


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("index", "name"), [(0, "abs"), (1, "neg"), (2, "sin"), (7, "sin"), (-1, "sin")]
)
def test_branches(index: int, name: str, tmp_path: Path) -> None:
    """One of three is called; numbers that are no place mean the last."""
    program = f"""
func.func @f(%x: {V}) -> {V} {{
  %0 = "ttir.case"(%x, %x) <{{branches = [@a, @b, @c]}}> : ({V}, {V}) -> {V}
  return %0 : {V}
}}
{function("a", "abs")}
{function("b", "neg")}
{function("c", "sin")}
"""
    assert printed_by(program, index, tmp_path).startswith(f"{name} ")
