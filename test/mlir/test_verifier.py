"""What the verifier reports, in which order, and what it costs."""

from __future__ import annotations

import time

import pytest
from oracles.mlir_opt import FILE, mlir_opt, ours

from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.verifier import verify_module

FAULTY = {
    "dominance in a block": """
func.func @f() {
  %0 = "a.b"(%1) : (i32) -> i32
  %1 = "a.b"(%0) : (i32) -> i32
  return
}""",
    "dominance between blocks": """
func.func @f(%c: i1) {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  %0 = arith.constant 1 : i32
  cf.br ^bb2
^bb2:
  "a.b"(%0) : (i32) -> ()
  return
}""",
    "dominance from a parent region": """
func.func @f(%c: i1) {
  scf.if %c {
    "a.b"(%0) : (i32) -> ()
  }
  %0 = arith.constant 1 : i32
  return
}""",
    "argument of a block that does not dominate": """
func.func @f(%c: i1) {
  cf.cond_br %c, ^bb1(%c : i1), ^bb2
^bb1(%x: i1):
  cf.br ^bb2
^bb2:
  "a.b"(%x) : (i1) -> ()
  return
}""",
    "redefinition before calls": """
func.func @f(%c: i1) {
  func.call @g(%c) : (i1) -> ()
  return
}
func.func @f() { return }""",
    "call of nothing": """
func.func @f() {
  call @g() : () -> ()
  return
}""",
    "call of no function": """
module @g {}
func.func @f() {
  call @g() : () -> ()
  return
}""",
    "operands of a call": """
func.func private @g(i32)
func.func @f(%x: f32) {
  call @g(%x) : (f32) -> ()
  return
}""",
    "results of a return": """
func.func @f(%x: f32) -> (f32, i32) {
  return %x : f32
}""",
    "no terminator": """
func.func @f() {
  %0 = arith.constant 1 : i32
}""",
    "terminator in the middle": """
func.func @f() {
  return
  return
}""",
    "branch to the entry": """
func.func @f() {
^bb0:
  cf.br ^bb0
}""",
    "operation after a branch": """
func.func @f() {
  "a.x"() ({
    "a.b"()[^bb1] : () -> ()
    %0 = arith.constant 1 : i32
    cf.br ^bb1
  ^bb1:
    "a.t"() : () -> ()
  }) : () -> ()
  return
}""",
    "dominance in a deeper region": """
func.func @f(%c: i1) {
  "a.b"() ({
    "a.b"() ({
      "a.c"(%0) : (i32) -> ()
    }) : () -> ()
  }) : () -> ()
  %0 = arith.constant 1 : i32
  return
}""",
    "use in the own region": """
func.func @f(%c: i1) {
  %0 = "a.b"() ({
    "a.c"(%0) : (i1) -> ()
  }) : () -> i1
  return
}""",
    "empty block": """
func.func @f() {
  cf.br ^bb1
^bb1:
}""",
    "no terminator before another block": """
"a.x"() ({
  %0 = arith.constant 1 : i32
^bb1:
  %1 = "a.b"() : () -> i32
}) : () -> ()""",
    "number of results of a return": """
func.func @f(%x: f32) -> f32 {
  return %x, %x : f32, f32
}""",
    "type of a return": """
func.func @f(%x: f32) -> i32 {
  return %x : f32
}""",
    "number of operands of a call": """
func.func private @g(i32)
func.func @f(%x: i32) {
  call @g(%x, %x) : (i32, i32) -> ()
  return
}""",
    "number of results of a call": """
func.func private @g() -> i32
func.func @f() {
  call @g() : () -> ()
  return
}""",
    "declaration without visibility": "func.func @f()",
    "public declaration": "func.func public @f()",
    "number of operands of a branch": """
func.func @f(%x: i32) {
  cf.br ^bb1
^bb1(%y: i32):
  return
}""",
    "type of an operand of a branch": """
func.func @f(%x: i32, %z: f32) {
  cf.br ^bb1(%x, %x : i32, i32)
^bb1(%y: i32, %w: f32):
  return
}""",
    "operands of a condition": """
func.func @f(%c: i1, %x: i32) {
  cf.cond_br %c, ^bb1(%x : i32), ^bb1(%c : i1)
^bb1(%y: i32):
  return
}""",
    "number of operands of a condition": """
func.func @f(%c: i1, %x: i32) {
  cf.cond_br %c, ^bb1(%x, %x : i32, i32), ^bb1(%x : i32)
^bb1(%y: i32):
  return
}""",
    "operands of a switch": """
func.func @f(%x: i32) {
  cf.switch %x : i32, [default: ^bb1, 42: ^bb1(%x : i32)]
^bb1(%y: i32):
  return
}""",
    "type of an operand of a switch": """
func.func @f(%c: i1, %x: i32) {
  cf.switch %x : i32, [default: ^bb1(%x : i32), 42: ^bb1(%x : i32), 43: ^bb1(%c : i1)]
^bb1(%y: i32):
  return
}""",
    "missing operands": '"arith.addi"() : () -> i32',
    "missing result": '"tensor.empty"() : () -> ()',
    "missing attribute": '"func.func"() <{sym_name = "f"}> ({}) : () -> ()',
    "return outside": '"func.return"() : () -> ()',
    "attribute of a module": "module attributes {plain = 1} {}",
    "arguments of a module": "module {\n^bb0(%a: i32):\n}",
    "arguments of a nested module": "module {\nmodule @m {\n^bb0(%a: i32):\n}}",
}
VALID = {
    "no terminator but an unknown operation": """
func.func @f() {
  "a.b"() : () -> ()
}""",
    "branches": """
func.func @f(%c: i1, %x: i32) {
  cf.cond_br %c, ^bb1(%x : i32), ^bb2
^bb1(%y: i32):
  cf.switch %x : i32, [default: ^bb2, 42: ^bb1(%y : i32), 43: ^bb3(%y, %c : i32, i1)]
^bb2:
  cf.br ^bb1(%x : i32)
^bb3(%z: i32, %w: i1):
  return
}""",
    "private declaration": "func.func private @f()",
    "nested declaration": "func.func nested @f()",
    "graph": '"a.b"() ({ %0 = "a.b"(%1) : (i8) -> i8 %1 = "a.b"(%0) : (i8) -> i8 }) : () -> ()',
    "unreachable": """
func.func @f() {
  return
^bb1:
  %0 = "a.b"(%0) : (i32) -> i32
  cf.br ^bb1
}""",
    "loop": """
func.func @f(%c: i1) {
  %x = arith.constant 1 : i32
  cf.br ^head
^head:
  cf.cond_br %c, ^body, ^exit
^body:
  "a.b"(%x) ({ "a.c"(%x) : (i32) -> () }) : (i32) -> ()
  cf.br ^head
^exit:
  "a.b"(%x) : (i32) -> ()
  return
}""",
    "nested symbols": """
module @m {
  func.func private @g()
}
func.func private @g(i32)
func.func @f(%x: i32) {
  scf.execute_region {
    func.call @g(%x) : (i32) -> ()
    scf.yield
  }
  return
}""",
}


def first_diagnostic(text: str) -> str:
    """Heading, source line and caret of the first diagnostic."""
    return "\n".join(text.split("\n")[:3])


@pytest.mark.parametrize("name", FAULTY)
def test_fault_is_reported_as_by_mlir_opt(name: str) -> None:
    """Message, place and source line of the first fault are MLIR's."""
    text = FAULTY[name] + "\n"
    report = ours(text)
    assert "error:" in report
    assert first_diagnostic(report) == first_diagnostic(mlir_opt(text))


@pytest.mark.parametrize("name", [name for name in FAULTY if "dominance" in name or "use" in name])
def test_notes_of_dominance_are_those_of_mlir_opt(name: str) -> None:
    """The operation, and where its operand is defined."""
    ours_, theirs = ours(FAULTY[name]), mlir_opt(FAULTY[name])
    assert "note: operand defined here (op in " in theirs
    assert ours_.split() == theirs.split()


@pytest.mark.parametrize("name", VALID)
def test_valid_module(name: str) -> None:
    """Nothing is reported where MLIR sees nothing wrong."""
    assert "error" not in mlir_opt(VALID[name])
    assert "error" not in ours(VALID[name])


def test_notes_name_the_other_place() -> None:
    """Notes show the operation and where the definition stands."""
    lines = ours(FAULTY["dominance in a block"]).split("\n")
    assert lines[3:5] == [
        f'{FILE}:3:8: note: see current operation: %0 = "a.b"(%1) : (i32) -> i32',
        f"{FILE}:4:8: note: operand defined here (op in the same block)",
    ]


def test_a_branch_leads_to_a_block_of_its_region() -> None:
    """The reader lets no other pass; a pass could make one."""
    text = '"a.b"() ({\n  "a.b"()[^bb1] : () -> ()\n^bb1:\n  "a.t"() : () -> ()\n}, {\n'
    text += '^bb0:\n  "a.t"() : () -> ()\n}) : () -> ()'
    module = parse_module(text, FILE, make_context(allow_unregistered=True))
    assert verify_module(module) == []
    [outer] = module.body.block.ops
    branch = outer.regions[0].blocks[0].first_op
    assert branch is not None
    branch.successors = (outer.regions[1].blocks[0],)
    [fault] = verify_module(module)
    assert fault.message == "branching to block of a different region"
    assert fault.location == branch.location


def test_every_faulty_function_is_reported() -> None:
    """A fault in one function does not hide that in the next."""
    function = "func.func @%s() -> i32 {\n  return\n}\n"
    errors = [line for line in ours(function % "f" + function % "g").split("\n") if "error" in line]
    assert [line.split(": ")[0] for line in errors] == [f"{FILE}:2:3", f"{FILE}:5:3"]


def test_many_calls_of_many_functions_are_linear() -> None:
    """Calls look their functions up without walking the module for each."""
    functions = "".join(f"func.func private @f{n}()\n" for n in range(2000))
    calls = "".join(f"  call @f{n}() : () -> ()\n" for n in range(2000))
    text = f"{functions}func.func @main() {{\n{calls}  return\n}}\n"
    module = parse_module(text, FILE, make_context())
    start = time.process_time()
    assert verify_module(module) == []
    assert time.process_time() - start < 2.0


@pytest.mark.parametrize("chained", ["cf.br ^b{}", "cf.cond_br %c, ^b{}, ^b4000"])
def test_many_blocks_are_linear(chained: str) -> None:
    """What a block sees is not collected anew for each; the last block sees all of them."""
    blocks = (
        f"^b{n}:\n  %{n} = arith.addi %x, %x : i32\n  {chained.format(n + 1)}\n"
        for n in range(4000)
    )
    last = "^b4000:\n  %y = arith.muli %x, %0 : i32\n  return %y : i32\n"
    text = f"func.func @f(%c: i1, %x: i32) -> i32 {{\n  cf.br ^b0\n{''.join(blocks)}{last}}}\n"
    module = parse_module(text, FILE, make_context())
    start = time.process_time()
    assert verify_module(module) == []
    assert time.process_time() - start < 2.0
