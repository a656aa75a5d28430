"""The IR of kernels in Python: memref for annotated variables, values for others, scf, arith."""

from __future__ import annotations

import re

import pytest
from running.python_source import load_module

from ttmlir.frontend.pykernel import compilation
from ttmlir.frontend.pykernel.builder import CompileTimeValue


def ir(body: str, before: str = "") -> str:
    """The IR of a function with a body."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text = f"{before}\n@ttkernel_compile()\ndef k(p, q):\n{lines}"
    return load_module(text, ttkernel_compile=compilation.ttkernel_compile)["k"].compile(1, 2).ir


def check(text: str, *patterns: str) -> None:
    """Hold a text against patterns that have to occur one after the other; `...` is anything."""
    position = 0
    for pattern in patterns:
        expression = re.escape(pattern).replace(r"\.\.\.", ".*?")
        found = re.compile(expression).search(text, position)
        assert found is not None, f"{pattern!r} is missing behind:\n{text[position:]}"
        position = found.end()


CASES = {
    "assign": (
        "a = 7\nb: int = 2\nb = a",
        "func.func @k() {",
        "%c7_i32 = arith.constant 7 : i32",
        "%c2_i32 = arith.constant 2 : i32",
        "%alloca = memref.alloca() : memref<1xi32>",
        "memref.store %c2_i32, %alloca[...] : memref<1xi32>",
        "memref.store %c7_i32, %alloca[...] : memref<1xi32>",
        "return",
    ),
    "if": (
        "if p > q:\n    a = 1\nelif p:\n    a = 2\nelse:\n    a = 3\nb = a + 1",
        "arith.cmpi sgt, %...",
        "= scf.if %... -> (i32) {",
        "} else {",
        "arith.cmpi ne,",
        "scf.if %... -> (i32) {",
        "} else {",
        "arith.addi",
    ),
    "if_without_values": (
        "a: int = 0\nif p:\n    a = 1",
        "scf.if %... {",
        "memref.store",
        "}",
        "return",
    ),
    "for": (
        "a: int = 0\nfor i in range(0, 10, 2):\n    a += i",
        "scf.for %arg0 = %... to %... step %...  : i32 {",
        "memref.load %alloca",
        "arith.addi %...",
        "memref.store",
    ),
    "for_that_carries": (
        "a = 0\nfor i in range(p):\n    a = a + i",
        "= scf.for %arg0 = %... iter_args(%arg1 = %...) -> (i32)  : i32 {",
        "arith.addi %arg1, %arg0 : i32",
        "scf.yield",
    ),
    "while": (
        "a = p\nwhile a > 3:\n    a = a - 1",
        "scf.while (%arg0 = %0) : (i32) -> i32 {",
        "arith.cmpi sgt, %arg0",
        "scf.condition(%...) %arg0 : i32",
        "} do {",
        "arith.subi %arg0",
        "scf.yield",
    ),
    "continue_stays_in_for": (
        "a = 0\nfor i in range(p):\n    if i == q:\n        continue\n    a += i",
        "scf.for",
        "scf.if",
        "} else {",
        "arith.addi",
    ),
    "binary": (
        "a = p + q\na = p - q\na = p * q\na = p // q\na = p % q\na = p << q\na = p >> q\n"
        "a = p & q\na = p | q\na = p ^ q",
        *("arith.addi", "arith.subi", "arith.muli", "arith.floordivsi", "arith.remsi"),
        *("arith.shli", "arith.shrsi", "arith.andi", "arith.ori", "arith.xori"),
    ),
    "comparisons": (
        "a = p == q\na = p != q\na = p < q\na = p <= q\na = p > q\na = p >= q",
        *(f"arith.cmpi {each}, %0, %1 : i32" for each in ("eq", "ne", "slt", "sle", "sgt", "sge")),
    ),
    "booleans": (
        "a = True\nb = p > q\nc = a and b\nd = a or b",
        "arith.constant true",
        "arith.andi %... : i1",
        "arith.ori %... : i1",
    ),
    "unary": (
        "a = -p\na = +p\na = ~p\na = not p",
        "emitc.unary_minus %0",
        "emitc.unary_plus %0",
        "emitc.bitwise_not %0",
        "emitc.logical_not %...",
    ),
    "arrays": (
        "a: [int, 5] = 0\na[0] = p\na[q] = a[0]\nb: [int, 2, 3] = 1\nb[1, 2] = b[0][1]",
        "memref.alloca() : memref<5xi32>",
        "memref.store %0, ... : memref<5xi32>",
        "memref.load %alloca[%...] : memref<5xi32>",
        "arith.index_cast %1 : i32 to index",
        "memref.alloca() : memref<2x3xi32>",
        "memref.load ... : memref<2x3xi32>",
        "memref.store ... : memref<2x3xi32>",
    ),
    "lists": (
        "a = [p, q, 7]\nfor x in a:\n    a[1] = x",
        "memref.alloca() : memref<3xi32>",
        "scf.for",
        "memref.load",
    ),
    "conditional": (
        "a = p if p > q else q",
        "arith.select",
    ),
    "only_what_is_needed": (
        "a = [1, 2]\nb = p < 2 and a[p] == q",
        "scf.if %... -> (i1) {",
        "memref.load",
        "} else {",
        "scf.yield %...",
    ),
    "chain": (
        "a = 0 < p <= q",
        *("arith.cmpi slt", "arith.cmpi sle", "arith.andi"),
    ),
    "print": (
        'print(f"p is {p}", q, "q {}".format(q), end="")',
        '"ttkernel.dprint"(%0, %1, %1) <{fmt = "p is {} {} q {}"}>',
    ),
    "assert": (
        "assert p > q",
        '"ttkernel.assert"(%...) : (i1) -> ()',
    ),
    "accessor": (
        "args = TensorAccessorArgs(2, 0)\ns = TensorAccessor(args, p, page_size=2048)\n"
        "a = s.get_noc_addr(q)\nnoc_async_read(a, p, 64)",
        '"ttkernel.TensorAccessorArgs"() <{cta_base = 2 : i32}>',
        '"ttkernel.TensorAccessor"',
        '"ttkernel.tensor_accessor.get_noc_addr"',
        '"ttkernel.noc_async_read"',
    ),
    "words_of_l1": (
        "w = reinterpret_cast(p)\nw[1] = w[0] + q",
        *('"ttkernel.reinterpret_cast"', '"ttkernel.load_from_l1"', '"ttkernel.store_to_l1"'),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_ir(case: str) -> None:
    """What a construct becomes."""
    body, *patterns = CASES[case]
    check(ir(body), *patterns)


def test_a_jump_ends_a_loop_by_a_flag() -> None:
    """A `for` with `break` becomes a `scf.while` that asks for the flag first."""
    text = ir("a = 0\nfor i in range(p):\n    if i == q:\n        break\n    a += i")
    check(text, "scf.while", "emitc.logical_not", "arith.cmpi slt", "arith.andi", "scf.condition")


def test_functions_and_constants_of_the_module_become_part_of_the_kernel() -> None:
    """A helper with a default and an early return; a tuple and an int of the module."""
    before = "N = 3\nT = (1, 2, 4)\ndef f(x, by=N):\n    if x:\n        return by\n    return T[x]"
    text = ir("a = f(p)\nb = f(x=q, by=2)\nc = T[1] + N", before)
    check(text, "memref.alloca() : memref<3xi32>", "scf.if", "scf.if")
    assert "func.call" not in text


def test_integers_of_numpy_are_integers() -> None:
    """Constants of the module may come from elsewhere."""
    check(ir("a = N + T[1] + p", "import numpy as np\nN = np.int64(40)\nT = (1, N)"), "constant 80")


def test_constants_decide_branches_when_the_kernel_is_compiled() -> None:
    """Only the arm that is taken is there, so that the other one may make no sense."""
    text = (
        load_module(
            "@ttkernel_noc_compile()\ndef k(p, flag: CompileTimeValue):\n"
            "    if flag:\n        a = p + 1\n    else:\n        a = undefined\n",
            ttkernel_noc_compile=compilation.ttkernel_noc_compile,
            CompileTimeValue=CompileTimeValue,
        )["k"]
        .compile(1, flag=True)
        .ir
    )
    assert "scf.if" not in text
    assert "ttkernel.thread = #ttkernel.thread<noc>" in text
