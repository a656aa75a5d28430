"""Kernels of the IR as C++ text."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ttmlir.cpp.parse import parse
from ttmlir.cpp.tree import Evaluate, For, Function, Namespace
from ttmlir.dialects import DIALECTS
from ttmlir.dialects.ttmetal import DispatchOp
from ttmlir.layout.enums import CBPort, ThreadType
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.schema.versions import load
from ttmlir.target.cpp.from_ttkernel import kernel_text, kernel_tree, write_kernels

GOLDEN = Path(__file__).parents[2] / "golden"
LOWERED = sorted((Path(__file__).parents[1] / "flatbuffer" / "Inputs").glob("*.mlir"))
CONTEXT = make_context(DIALECTS)
COMPILER = shutil.which("g++")
ADDRESS = "!ttkernel.noc_addr"


def module(text: str) -> ModuleOp:
    """The module with this text, in the file x.mlir."""
    return parse_module(text, "x.mlir", CONTEXT)


def kernel(*body: str, arguments: str = "", thread: str = "noc") -> str:
    """A function that is a kernel, its body from line 2 on."""
    head = f"func.func @k({arguments}) attributes {{ttkernel.thread = #ttkernel.thread<{thread}>}}"
    return "\n".join([f"{head} {{", *body, '"ttkernel.return"() : () -> ()', "}"])


def golden_kernels(path: Path) -> Iterator[str]:
    """The sources of the kernels in a file."""
    for program in load(path.read_bytes(), path.name).root.programs:
        for command in program.device_programs[0].command_queues[0].commands:
            if command.type_type == "EnqueueProgramCommand":
                yield from (each.kernel.source for each in command.type.program.kernels)


@pytest.mark.parametrize("path", LOWERED, ids=lambda path: path.stem)
def test_kernels_are_those_of_tt_mlir(path: Path) -> None:
    """The text of every kernel is letter by letter what tt-mlir has put into its file."""
    texts = [
        kernel_text(op, region, config.thread_type)
        for op in module(path.read_text()).walk()
        if isinstance(op, DispatchOp)
        for region, config in zip(op.regions, op.properties["kernelConfigs"], strict=True)
    ]
    assert texts == list(golden_kernels(GOLDEN / f"{path.stem}.ttm"))


COMPUTED = """
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %minus = arith.constant -7 : i32
  %five = arith.constant 5 : i32
  %three = arith.constant 3 : i32
  %less_signed = arith.cmpi slt, %minus, %five : i32
  %less_unsigned = arith.cmpi ult, %minus, %five : i32
  %signed = arith.divsi %minus, %three : i32
  %unsigned = arith.divui %minus, %three : i32
  %rest = arith.remsi %minus, %three : i32
  %shifted = arith.shrsi %minus, %one : i32
  %shifted_in = arith.shrui %minus, %one : i32
  %wrapped = arith.muli %unsigned, %five : i32
  %largest = arith.maxui %minus, %five : i32
  %chosen = arith.select %less_unsigned, %five, %minus : i32
  %byte = arith.trunci %minus : i32 to i8
  %widened = arith.extui %byte : i8 to i32
  %bit = arith.extui %less_signed : i1 to i32
  %all = arith.extsi %less_signed : i1 to i32
  %odd = arith.trunci %five : i32 to i1
  %both = arith.xori %odd, %less_unsigned : i1
  %place = arith.index_cast %minus : i32 to index
  %limit = arith.index_cast %five : i32 to index
  %before = arith.cmpi sgt, %limit, %place : index
  %a, %b = scf.for %i = %zero to %five step %one iter_args(%x = %zero, %y = %one)
      -> (i32, i32) : i32 {
    %next = arith.addi %x, %y : i32
    scf.yield %y, %next : i32, i32
  }
  %p, %q = scf.for %i = %zero to %three step %one iter_args(%x = %five, %y = %minus)
      -> (i32, i32) : i32 {
    scf.yield %y, %x : i32, i32
  }
  %gcd, %left = scf.while (%m = %a, %n = %widened) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi ne, %n, %zero : i32
    scf.condition(%more) %m, %n : i32, i32
  } do {
  ^bb0(%m: i32, %n: i32):
    %r = arith.remui %m, %n : i32
    scf.yield %n, %r : i32, i32
  }
  %doubled = scf.while (%m = %one) : (i32) -> i32 {
    %twice = arith.addi %m, %m : i32
    %more = arith.cmpi slt, %twice, %wrapped_limit : i32
    scf.condition(%more) %twice : i32
  } do {
  ^bb0(%m: i32):
    scf.yield %m : i32
  }
  %branch = scf.if %less_unsigned -> (i32) {
    scf.yield %one : i32
  } else {
    %inner = arith.subi %zero, %three : i32
    scf.yield %inner : i32
  }
  %f = arith.constant 2.5 : f32
  %g = arith.sitofp %minus : i32 to f32
  %h = arith.mulf %f, %g : f32
  %rounded = arith.fptosi %h : f32 to i32
  %yes = arith.constant true
  %no = arith.constant false
  %far = arith.constant 3.0e9 : f32
  %above = arith.fptoui %far : f32 to i32
  %bits = arith.uitofp %minus : i32 to f32
  %halved = arith.divf %bits, %f : f32
  %quotient = arith.fptoui %halved : f32 to i32
  %least = arith.minsi %minus, %one : i32
  %least_unsigned = arith.minui %minus, %one : i32
  %most = arith.maxsi %minus, %one : i32
""".replace("  %minus =", "  %wrapped_limit = arith.constant 100 : i32\n  %minus =")

EXPECTED = {
    "less_signed": 1,
    "less_unsigned": 0,
    "signed": -2,
    "unsigned": (2**32 - 7) // 3,
    "rest": -1,
    "shifted": -4,
    "shifted_in": (2**32 - 7) >> 1,
    "wrapped": (2**32 - 7) // 3 * 5 % 2**32,
    "largest": 2**32 - 7,
    "chosen": -7,
    "widened": 249,
    "bit": 1,
    "all": -1,
    "odd": 1,
    "both": 1,
    "before": 1,
    "a": 5,
    "b": 8,
    "p": -7,
    "q": 5,
    "gcd": 1,
    "left": 0,
    "doubled": 128,
    "branch": -3,
    "rounded": -17,
    "yes": 1,
    "no": 0,
    "above": 3_000_000_000,
    # The nearest number of 24 bits to 2^32 - 7 is 2^32; 2^32 / 2.5 is rounded to a multiple of 128.
    "quotient": 1_717_986_944,
    "least": -7,
    "least_unsigned": 1,
    "most": 1,
}
"""Worked out by hand: Fibonacci numbers 5 and 8; three swaps of 5 and -7; gcd(5, 249) = 1."""


SHOWING = """
#include <cstdio>
int64_t get_noc_addr(int32_t x, int32_t y, int32_t address) { return 0; }
void noc_async_write(int32_t value, int64_t to, int32_t size) { std::printf("%d\\n", value); }
"""
"""An API in which a write shows its source address."""


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
def test_computations_mean_what_the_ir_says(tmp_path: Path) -> None:
    """A compiled kernel shows the values that the operations have by their definition."""
    booleans = {"less_signed", "less_unsigned", "odd", "both", "before", "yes", "no"}
    shown = ['%to = "ttkernel.get_noc_addr"(%zero, %zero, %zero) : (i32, i32, i32) -> ' + ADDRESS]
    for name in EXPECTED:
        whole = f"arith.ori %{name}, %zero : i32"
        bit = f"arith.extui %{name} : i1 to i32"
        call = f'"ttkernel.noc_async_write"(%{name}_shown, %to, %zero)'
        shown += [
            f"%{name}_shown = {bit if name in booleans else whole}",
            f"{call} : (i32, {ADDRESS}, i32) -> ()",
        ]
    (tmp_path / "dataflow_api.h").write_text(SHOWING)
    text = write_kernels(module(kernel(COMPUTED, *shown)))
    program = tmp_path / "program"
    command = [str(COMPILER), "-std=c++17", "-w", "-I", str(tmp_path), "-x", "c++", "-"]
    source = text + "int main() { kernel_main(); }\n"
    subprocess.run([*command, "-o", str(program)], input=source, text=True, check=True)
    result = subprocess.run([program], check=True, capture_output=True, text=True)
    numbers = [int(each) for each in result.stdout.split()]
    wanted = {name: (value + 2**31) % 2**32 - 2**31 for name, value in EXPECTED.items()}
    assert dict(zip(EXPECTED, numbers, strict=True)) == wanted


def test_positions_are_those_of_the_ir() -> None:
    """Statements know the operation that they are made from."""
    text = kernel(
        "%c = arith.constant 2 : i32",
        "scf.for %i = %c to %c step %c : i32 {",
        '    "ttkernel.noc_async_read_barrier"() : () -> ()',
        "}",
        thread="tensix",
    )
    function = next(op for op in module(text).walk() if isinstance(op, FuncOp))
    *_, namespace = kernel_tree(function, function.body, ThreadType.TENSIX).items
    assert isinstance(namespace, Namespace)
    main = namespace.items[0]
    assert isinstance(main, Function)
    assert main.body is not None
    _, loop, _ = main.body.statements
    assert str(loop.position) == "x.mlir:3:1"
    assert isinstance(loop, For)
    [call] = loop.body.statements
    assert isinstance(call, Evaluate)
    assert str(call.position) == "x.mlir:4:5"
    assert str(call.expression.position) == "x.mlir:4:5"


def test_every_port_has_a_name() -> None:
    """The enumerators are numbered as the ports are (tt-metal, common_values.hpp)."""
    families = ("c_in", "dataflow", "c_out", "c_intermed")
    names = [f"::tt::CB::{family}{index}" for family in families for index in range(8)]
    assert [port.cpp_name for port in CBPort] == names


REFUSALS = [
    (
        "func.func @f() { return }",
        "error: 'builtin.module' op has no kernels: no 'ttmetal.dispatch', and no "
        "function with the attribute 'ttkernel.thread'; lower the module with "
        "--ttir-to-ttmetal-backend-pipeline first",
    ),
    (
        'func.func @f() { "ttkernel.tile_regs_wait"() : () -> ()\nreturn }',
        "x.mlir:1:1: error: 'func.func' op has kernel calls, but no attribute 'ttkernel.thread' "
        "with its processor; give it #ttkernel.thread<noc>, #ttkernel.thread<tensix> or "
        "#ttkernel.thread<ethernet>",
    ),
    (
        kernel(arguments="%n: i32"),
        "x.mlir:1:1: error: 'func.func' op has a kernel with an argument of type 'i32'; arguments "
        "of kernels are circular buffers",
    ),
    (
        kernel("%t = tensor.empty() : tensor<2x3xf32>"),
        "x.mlir:2:6: error: 'tensor.empty' op has no form in a kernel; kernels are written in C++ "
        "from calls of ttkernel, scalar arith, local memrefs and scf.for, scf.if, scf.while",
    ),
    (
        kernel("%t = arith.constant dense<1> : tensor<2xi32>"),
        "x.mlir:2:6: error: 'arith.constant' op cannot emit constant 'dense<1> : tensor<2xi32>'; "
        "kernels have scalar ones only",
    ),
    (
        kernel("%t = arith.constant 1 : i7"),
        "x.mlir:2:6: error: 'arith.constant' op cannot emit integer type 'i7'",
    ),
    (
        kernel(
            "%a = arith.constant 1 : i32",
            "%b = builtin.unrealized_conversion_cast %a, %a : i32, i32 to i64",
        ),
        "x.mlir:3:6: error: 'builtin.unrealized_conversion_cast' op has no form in a kernel unless "
        "it casts one value to one",
    ),
    (
        kernel("cf.br ^bb1", "^bb1:"),
        "x.mlir:1:1: error: 'func.func' op has a kernel of 2 blocks; kernels are written in C++",
    ),
    (
        kernel("%b = arith.constant true", "%c = arith.addi %b, %b : i1"),
        "x.mlir:3:6: error: 'arith.addi' op cannot emit arithmetic on booleans; use 'arith.andi' "
        "and others",
    ),
]


@pytest.mark.parametrize(("text", "message"), REFUSALS, ids=lambda value: value[:40])
def test_refusals(text: str, message: str) -> None:
    """What has no C++ is refused at its place."""
    with pytest.raises(DiagnosticError) as error:
        write_kernels(module(text))
    assert message in str(error.value)


def test_several_kernels_are_parts_of_a_split_text() -> None:
    """Each begins with where it comes from, and is C++ by itself."""
    text = write_kernels(module(kernel().replace("@k", "@a") + "\n" + kernel(thread="tensix")))
    reader, compute = text.split("// -----\n")
    assert reader.startswith('// @a\n#include <cstdint>\n#include "dataflow_api.h"\n')
    assert compute.startswith('// @k\n#include <cstdint>\n#include "compute_kernel_api/common.h"')
    assert len(parse(compute).items) == 6
