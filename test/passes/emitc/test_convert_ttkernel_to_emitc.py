"""Kernels in emitc print as the C++ that is written from ttkernel itself."""

from __future__ import annotations

import re

import pytest

from ttmlir.compiler import lower
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.target.cpp.emitter import emit_cpp
from ttmlir.target.cpp.from_ttkernel import write_kernels

PASS = "convert-ttkernel-to-emitc"
CB = "!ttkernel.cb<cb_out1, 4096, memref<2x3x!tt.tile<32x32, f32>>, 4096, 1>"
BODY = """
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %n = "ttkernel.get_compile_time_arg_val"() <{arg_index = 2 : i32}> : () -> i32
  %pages = "ttkernel.get_common_arg_val"(%one) <{type = "int32_t"}> : (i32) -> i32
  "ttkernel.typecast_tile"(%one) <{in_dtype = "Float32", out_dtype = "UInt16"}> : (i32) -> ()
  %a, %b = scf.for %i = %zero to %n step %one iter_args(%x = %zero, %y = %one) -> (i32, i32) : i32 {
    %more = arith.cmpi ugt, %x, %pages : i32
    %chosen = scf.if %more -> (i32) {
      %left = arith.divui %x, %pages : i32
      %shifted = arith.shrsi %left, %one : i32
      scf.yield %shifted : i32
    } else {
      scf.yield %i : i32
    }
    %kept = arith.select %more, %chosen, %x : i32
    "ttkernel.tile_regs_acquire"() : () -> ()
    "ttkernel.pack_tile"(%zero, %cb, %kept) : (i32, CB, i32) -> ()
    scf.yield %y, %kept : i32, i32
  }
  %to = "ttkernel.get_noc_addr"(%a, %b, %n) : (i32, i32, i32) -> !ttkernel.noc_addr
  "ttkernel.noc_async_write"(%a, %to, %b) : (i32, !ttkernel.noc_addr, i32) -> ()
  "ttkernel.return"() : () -> ()
""".replace("CB", CB)


def kernel(body: str, arguments: str = f"%cb: {CB}") -> str:
    """A function that is a data movement kernel."""
    thread = "attributes {ttkernel.thread = #ttkernel.thread<noc>}"
    return f"func.func @kernel_main({arguments}) {thread} {{{body}}}\n"


def function_of(text: str) -> str:
    """The one function of a C++ text."""
    found = re.search(r"^void kernel_main\(\) \{\n.*?^\}$", text, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found.group()


def test_the_text_is_that_of_the_kernel() -> None:
    """Two ways to C++: through emitc, and through the kernel tree."""
    through_emitc = function_of(emit_cpp(lower(kernel(BODY), PASS)))
    through_tree = function_of(write_kernels(lower(kernel(BODY), "")))
    assert through_emitc == through_tree
    formats = "((uint32_t) DataFormat::Float32), ((uint32_t) DataFormat::UInt16)"
    assert f"typecast_tile<{formats}>" in through_emitc


def test_functions_that_are_no_kernels_stay() -> None:
    """A function without kernel operations is left to others."""
    text = "func.func @f(%x: i32) -> i32 {\n  %y = arith.addi %x, %x : i32\n  return %y : i32\n}\n"
    module = lower(text, PASS)
    assert [op.name for op in module.walk()][2:] == ["arith.addi", "func.return"]


REFUSALS = [
    (
        kernel('"ttkernel.return"() : () -> ()', "%x: i32"),
        "<text>:1:1: error: failed to legalize operation 'func.func': argument #0 is no circular "
        "buffer; those of kernels are",
    ),
    (
        kernel('\n%t = tensor.empty() : tensor<2xf32>\n"ttkernel.return"() : () -> ()'),
        "<text>:2:6: error: failed to legalize operation 'tensor.empty': kernels are calls of "
        "ttkernel, scalar arith, local memrefs and scf",
    ),
    (
        kernel('\n%c = arith.constant 1 : i32\n%x = "ttkernel.my_x"(%c) : (i32) -> i32\nreturn'),
        "<text>:3:6: error: failed to legalize operation 'ttkernel.my_x': it is no function in C++ "
        "for emitc; ttmlir-translate --ttkernel-to-cpp writes it",
    ),
    (
        kernel('\n"ttkernel.pack_set_data_type"() <{data_type = 0 : i32}> : () -> ()\nreturn'),
        "<text>:2:1: error: failed to legalize operation 'ttkernel.pack_set_data_type': tt-metal "
        "has no function for it",
    ),
    (
        kernel("\ncf.br ^bb1\n^bb1:\nreturn"),
        "<text>:1:1: error: a kernel is one sequence of operations, this has 2 blocks",
    ),
]


@pytest.mark.parametrize(("text", "message"), REFUSALS, ids=lambda value: value[-30:])
def test_refusals(text: str, message: str) -> None:
    """What has no form in emitc is refused at its place."""
    with pytest.raises(DiagnosticError) as error:
        lower(text, PASS)
    assert message in str(error.value)


BINARY = (
    *("addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "andi", "ori", "xori"),
    *("shli", "shrsi", "shrui", "maxsi", "maxui", "minsi", "minui"),
)
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
CASTS = {
    "%c = arith.trunci %a : i32 to i8": "%v = arith.extsi %c : i8 to i32",
    "%c = arith.trunci %b : i32 to i16": "%v = arith.extui %c : i16 to i32",
    "%c = arith.cmpi slt, %a, %b : i32": "%v = arith.extui %c : i1 to i32",
    "%c = arith.extsi %a : i32 to i64": "%v = arith.trunci %c : i64 to i32",
    "%c = arith.index_cast %a : i32 to index": "%v = arith.index_cast %c : index to i32",
    "%c = arith.sitofp %a : i32 to f32": "%v = arith.fptosi %c : f32 to i32",
    "%c = arith.uitofp %a : i32 to f32": "%v = arith.fptoui %c : f32 to i32",
}


def arithmetic() -> list[str]:
    """Statements that compute `%v` from `%a` and `%b`."""
    return [
        *(f"%v = arith.{name} %a, %b : i32" for name in BINARY),
        *(
            f"%c = arith.cmpi {name}, %a, %b : i32\n%v = arith.select %c, %a, %b : i32"
            for name in PREDICATES
        ),
        *(f"{first}\n{second}" for first, second in CASTS.items()),
        *(
            "%f = arith.sitofp %a : i32 to f32\n%g = arith.sitofp %b : i32 to f32\n"
            f"%h = arith.{name} %f, %g : f32\n%v = arith.fptosi %h : f32 to i32"
            for name in ("addf", "subf", "mulf", "divf")
        ),
        "%f = arith.sitofp %a : i32 to f32\n%g = arith.negf %f : f32\n"
        "%v = arith.fptosi %g : f32 to i32",
    ]


@pytest.mark.parametrize("statement", arithmetic())
def test_arithmetic_is_that_of_the_kernel(statement: str) -> None:
    """The kernel tree is compared with g++; what goes through emitc is the same text."""
    body = (
        "%zero = arith.constant 0 : i32\n%one = arith.constant 1 : i32\n"
        '%a = "ttkernel.get_common_arg_val"(%zero) <{type = "int32_t"}> : (i32) -> i32\n'
        '%b = "ttkernel.get_common_arg_val"(%one) <{type = "int32_t"}> : (i32) -> i32\n'
        f'{statement}\n"ttkernel.pack_tile"(%zero, %cb, %v) : (i32, {CB}, i32) -> ()\n'
        '"ttkernel.return"() : () -> ()\n'
    )
    through_emitc = function_of(emit_cpp(lower(kernel(body), PASS)))
    assert through_emitc == function_of(write_kernels(lower(kernel(body), "")))
