"""arith and linalg on tensors, and emitc: what is accepted, and how it prints, is what mlir-opt says."""

# ruff: noqa: E501 (operations stand on one line)

from __future__ import annotations

import re
from functools import cache

import pytest
from oracles.mlir_opt import FILE, mlir_opt

from ttmlir.dialects import DIALECTS
from ttmlir.mlir.context import make_context
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.mlir.verifier import verify_module

SEPARATOR = "// -----"
CASTS = (
    *(("extf", "f16", "f32"), ("extf", "bf16", "f32"), ("extsi", "i1", "i8"), ("extui", "i8", "i32")),
    *(("fptosi", "f32", "i8"), ("fptoui", "bf16", "i64"), ("sitofp", "i1", "f16")),
    *(("uitofp", "i64", "f32"), ("truncf", "f64", "f32"), ("trunci", "i32", "i1")),
    *(("index_cast", "index", "i32"), ("index_cast", "i64", "index")),
)  # fmt: skip
CMPI = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
CMPF = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)


VALID = [
    *(f"arith.{name} %a {{x}} : {before} to {after}" for name, before, after in CASTS),
    *(f"arith.cmpi {word}, %a, %a {{x}} : i32" for word in CMPI),
    *(f"arith.cmpf {word}, %a, %a : bf16" for word in CMPF),
    "arith.cmpf olt, %a, %a fastmath<nnan,ninf> {x} : f32",
    "arith.remf %a, %a : f32",
    "arith.remf %a, %a fastmath<fast> {y = 1 : i32} : f32",
    "arith.select %c, %a, %a {x} : f32",
]
"""Operations on numbers; `%c` is a truth value, `%a` has the first type after the colon."""
SHAPES = {"numbers": "{}", "tensors": "tensor<3x5x{}>", "vectors": "vector<4x{}>"}


def function_of(operation: str, shape: str) -> str:
    """A function with an operation on numbers of a shape."""
    words, _, types = operation.rpartition(" : ")
    before, to, after = types.partition(" to ")
    before, after = (shape.format(each) if each else "" for each in (before, after))
    truth = shape.format("i1")
    chosen = f"{truth}, " if "select" in words and shape != "{}" else ""
    arguments = f"%a: {before}, %c: {truth}"
    return f"func.func @f({arguments}) {{\n  %0 = {words} : {chosen}{before}{to}{after}\n  return\n}}\n"


INVALID_ARITH = """
%0 = arith.cmpi lt, %i, %i : tensor<3xi32>
%0 = arith.cmpi slt, %f, %f : tensor<3xf32>
%0 = arith.cmpf olt, %i, %i : tensor<3xi32>
%0 = arith.cmpf slt, %f, %f : tensor<3xf32>
%0 = arith.extf %f : tensor<3xf32> to tensor<3xf16>
%0 = arith.extf %f : tensor<3xf32> to tensor<3xf32>
%0 = arith.extf %f : tensor<3xf32> to tensor<4xf64>
%0 = arith.extf %f : tensor<3xf32> to f64
%0 = arith.truncf %f : tensor<3xf32> to tensor<3xf64>
%0 = arith.extsi %i : tensor<3xi32> to tensor<3xi32>
%0 = arith.extui %i : tensor<3xi32> to tensor<3xi8>
%0 = arith.trunci %i : tensor<3xi32> to tensor<3xi32>
%0 = arith.trunci %i : tensor<3xi32> to tensor<3xi64>
%0 = arith.extf %i : tensor<3xi32> to tensor<3xf64>
%0 = arith.extsi %i : tensor<3xi32> to tensor<3xf64>
%0 = arith.sitofp %f : tensor<3xf32> to tensor<3xf32>
%0 = arith.uitofp %i : tensor<3xi32> to tensor<3xi32>
%0 = arith.fptosi %i : tensor<3xi32> to tensor<3xi32>
%0 = arith.fptoui %f : tensor<3xf32> to tensor<3xf32>
%0 = arith.index_cast %f : tensor<3xf32> to tensor<3xindex>
%0 = arith.select %m, %f, %f : tensor<4xi1>, tensor<3xf32>
%0 = arith.select %i, %f, %f : tensor<3xi32>, tensor<3xf32>
%0 = "arith.select"(%n, %f, %i) : (tensor<3xi1>, tensor<3xf32>, tensor<3xi32>) -> tensor<3xf32>
%0 = "arith.select"(%n, %f, %f) : (tensor<3xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xi32>
%0 = "arith.cmpi"(%i, %i) <{predicate = 0 : i64}> : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi8>
%0 = "arith.cmpi"(%i, %i) <{predicate = 0 : i64}> : (tensor<3xi32>, tensor<3xi32>) -> tensor<4xi1>
%0 = "arith.cmpi"(%i, %n) <{predicate = 0 : i64}> : (tensor<3xi32>, tensor<3xi1>) -> tensor<3xi1>
%0 = "arith.remf"(%f, %f) : (tensor<3xf32>, tensor<3xf32>) -> tensor<4xf32>
%0 = "arith.remf"(%f, %f) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf64>
%0 = "arith.remf"(%i, %i) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
"""
ARITH = "%f: tensor<3xf32>, %i: tensor<3xi32>, %n: tensor<3xi1>, %m: tensor<4xi1>"

INVALID_LINALG = """
%0 = linalg.transpose ins(%a : tensor<2x3xf32>) outs(%c : tensor<2x3x4xf32>) permutation = [1, 0]
%0 = linalg.transpose ins(%c : tensor<2x3x4xf32>) outs(%c : tensor<2x3x4xf32>) permutation = [1, 0]
%0 = linalg.transpose ins(%a : tensor<2x3xf32>) outs(%a : tensor<2x3xf32>) permutation = [0, 2]
%0 = linalg.broadcast ins(%a : tensor<2x3xf32>) outs(%c : tensor<2x3x4xf32>) dimensions = [3]
%0 = linalg.broadcast ins(%a : tensor<2x3xf32>) outs(%c : tensor<2x3x4xf32>) dimensions = [-1]
%0 = linalg.broadcast ins(%b : tensor<2xf32>) outs(%c : tensor<2x3x4xf32>) dimensions = [1, 1]
%0 = linalg.reduce {arith.addf} ins(%c : tensor<2x3x4xf32>) outs(%b : tensor<2xf32>) dimensions = [1, 1]
%0 = linalg.reduce {arith.addf} ins(%c : tensor<2x3x4xf32>) outs(%b : tensor<2xf32>) dimensions = [1]
%0 = linalg.reduce {arith.addf} ins(%a : tensor<2x3xf32>) outs(%b : tensor<2xf32>) dimensions = [2]
%0 = linalg.reduce {arith.addf} ins(%a : tensor<2x3xf32>) outs(%b : tensor<2xf32>) dimensions = [-1]
%0 = linalg.reduce {arith.addf} ins(%a : tensor<2x3xf32>) outs(%b : tensor<2xf32>) dimensions = [0]
%0:2 = linalg.reduce ins(%a, %c : tensor<2x3xf32>, tensor<2x3x4xf32>) outs(%b, %b : tensor<2xf32>, tensor<2xf32>) dimensions = [1] (%p: f32, %q: f32, %r: f32, %s: f32) { linalg.yield %p, %q : f32, f32 }
%0 = linalg.reduce ins(%a : tensor<2x3xf32>) outs(%b : tensor<2xf32>) dimensions = [1] (%p: f32) { linalg.yield %p : f32 }
%0 = linalg.reduce ins(%a : tensor<2x3xf32>) outs(%b : tensor<2xf32>) dimensions = [1] (%p: f32, %q: f64) { linalg.yield %p : f32 }
%0 = linalg.reduce ins(%a : tensor<2x3xf32>) outs(%b : tensor<2xf32>) dimensions = [1] (%p: f32, %q: f32) { linalg.yield %p, %q : f32, f32 }
%0 = linalg.map {arith.addf} ins(%a, %b : tensor<2x3xf32>, tensor<2xf32>) outs(%a : tensor<2x3xf32>)
%0 = linalg.map ins(%a : tensor<2x3xf32>) outs(%a : tensor<2x3xf32>) (%p: f64) { linalg.yield %p : f64 }
%0 = linalg.map ins(%a : tensor<2x3xf32>) outs(%a : tensor<2x3xf32>) (%p: f32, %q: f32) { linalg.yield %p : f32 }
linalg.add ins(%a, %a : tensor<2x3xf32>, tensor<2x3xf32>) outs(%a : tensor<2x3xf32>)
%0 = linalg.add ins(%a, %b : tensor<2x3xf32>, tensor<2xf32>) outs(%a : tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = linalg.softmax dimension(0) ins(%a : tensor<2x3xf32>) outs(%c : tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
%0 = linalg.softmax dimension(2) ins(%a : tensor<2x3xf32>) outs(%a : tensor<2x3xf32>) -> tensor<2x3xf32>
%0 = linalg.conv_2d_nhwc_hwcf {strides = dense<[1, 0]> : tensor<2xi64>} ins(%i, %w : tensor<1x9x9x2xf32>, tensor<3x3x2x4xf32>) outs(%o : tensor<1x7x7x4xf32>) -> tensor<1x7x7x4xf32>
"""
LINALG = "%a: tensor<2x3xf32>, %b: tensor<2xf32>, %c: tensor<2x3x4xf32>, %i: tensor<1x9x9x2xf32>, %w: tensor<3x3x2x4xf32>, %o: tensor<1x7x7x4xf32>"

INVALID_EMITC = """
emitc.global static extern @x : i32
emitc.global @x : i32 = "a"
emitc.global @x : i32 = 1.5
emitc.global @x : !emitc.array<2xi32> = dense<1> : tensor<3xi32>
emitc.func @f() -> (i32, i32) { emitc.return }
emitc.func @f() -> i32 { emitc.return }
emitc.func @f(%a: i32) { emitc.return %a : i32 }
emitc.func @f(%a: f32) -> i32 { emitc.return %a : f32 }
emitc.func private @f() -> !emitc.array<2xi32>
emitc.declare_func @g
"emitc.func"() <{function_type = (i32) -> (), sym_name = "f"}> ({ emitc.return }) : () -> ()
"emitc.func"() <{function_type = (i32) -> (), sym_name = "f"}> ({ ^bb0(%a: f32): emitc.return }) : () -> ()
emitc.func @f(%a: index) { "emitc.for"(%a, %a, %a) ({ ^bb0(%b: i32): emitc.yield }) : (index, index, index) -> () emitc.return }
emitc.func @f(%a: i32) { emitc.if %a { } emitc.return }
emitc.func @f(%a: i32) { %0 = emitc.call_opaque ""(%a) : (i32) -> i32 emitc.return }
emitc.func @f(%a: i32) { %0 = emitc.call_opaque "g"(%a) {args = [1 : index]} : (i32) -> i32 emitc.return }
emitc.func @f(%a: i32) { emitc.assign %a : i32 to %a : i32 emitc.return }
emitc.func @f(%a: i32) { %0 = emitc.expression : i32 { %1 = emitc.add %a, %a : (i32, i32) -> i32 } emitc.return }
emitc.func @f(%a: i32) { %0 = emitc.apply "+"(%a) : (i32) -> i32 emitc.return }
emitc.include <>
"""

INVALID = [
    *(f"{operation}\n" for operation in INVALID_EMITC.strip().split("\n")),
    *(
        f"func.func @f({arguments}) {{\n  {operation}\n  return\n}}\n"
        for arguments, operations in ((ARITH, INVALID_ARITH), (LINALG, INVALID_LINALG))
        for operation in operations.strip().split("\n")
    ),
]


def ours(text: str) -> str:
    """What our tools print; raises DiagnosticError."""
    module = parse_module(text, FILE, make_context(DIALECTS))
    if faults := verify_module(module):
        raise DiagnosticError(*faults)
    return print_module(module)


@pytest.mark.parametrize("shape", SHAPES)
def test_valid_operations_print_as_in_mlir(shape: str) -> None:
    """Every predicate, conversion and flag, with attributes of no meaning."""
    texts = [function_of(operation, SHAPES[shape]) for operation in VALID]
    theirs = mlir_opt(f"{SEPARATOR}\n".join(texts), "--split-input-file").split(SEPARATOR)
    for text, expected in zip(texts, theirs, strict=True):
        assert "error" not in expected
        assert ours(text).strip() == expected.strip()


@cache
def lines_that_mlir_refuses() -> dict[int, int]:
    """The line of the first error of each of the invalid texts."""
    found: dict[int, int] = {}
    for number, text in enumerate(INVALID):
        report = mlir_opt(text)
        if f"{FILE}:" in report and "error:" in report:
            found[number] = int(report.partition(f"{FILE}:")[2].partition(":")[0])
    return found


@pytest.mark.parametrize(
    "number", range(len(INVALID)), ids=lambda number: max(INVALID[number].split("\n"), key=len)[:50]
)
def test_invalid_operations_are_refused_where_mlir_refuses_them(number: int) -> None:
    """On the same line; mlir-opt has to refuse each of them, or the case is none."""
    with pytest.raises(DiagnosticError) as caught:
        ours(INVALID[number])
    assert str(caught.value).startswith(f"{FILE}:{lines_that_mlir_refuses()[number]}:")


SPELLED_TWICE = [
    "%0 = emitc.cmp lt, %i, %i {predicate = 3 : i64} : (i32, i32) -> i1",
    '%0 = emitc.literal "x" {value = "y"} : f32',
    'emitc.verbatim "x" {value = "y"}',
    'emitc.call_opaque "f"() {callee = "g"} : () -> ()',
    "%0 = arith.remf %f, %f fastmath<nnan> {fastmath = #arith.fastmath<none>} : f32",
    "%0 = linalg.softmax {dimension = 1 : i64} dimension(0) ins(%t : tensor<3x5xf32>) outs(%t : tensor<3x5xf32>) -> tensor<3x5xf32>",
]
"""Operations of a function whose dictionary contradicts what stands before or after it."""
SPELLED_TWICE_OUTSIDE = [
    "emitc.global @g : i32 {type = f32, const_specifier}",
    "emitc.global @h : i32\n  emitc.func @f() {\n    %0 = emitc.get_global @g : i32 {name = @h}\n    emitc.return\n  }",
    "ml_program.global private @g(5 : i32) : i32 {type = i64}",
    'ml_program.global private @g : i32 {sym_visibility = "public", value = 6 : i32, is_mutable}',
    'tosa.variable @a {name = "b"} = dense<1> : tensor<3x5xi32>',
]


def test_the_dictionary_prevails_over_what_the_syntax_spells() -> None:
    """An attribute that is given twice has the value of the dictionary, as in MLIR."""
    texts = [
        f"func.func @f(%i: i32, %f: f32, %t: tensor<3x5xf32>) {{\n  {each}\n  return\n}}\n"
        for each in SPELLED_TWICE
    ]
    texts += [f"{each}\n" for each in SPELLED_TWICE_OUTSIDE]
    theirs = mlir_opt(f"{SEPARATOR}\n".join(texts), "--split-input-file").split(SEPARATOR)
    for text, expected in zip(texts, theirs, strict=True):
        assert "error" not in expected
        # Names of results that MLIR suggests are no matter here.
        assert without_names(ours(text)) == without_names(expected)


def without_names(text: str) -> str:
    """Text without the numbers and names of results."""
    return re.sub(r"%\w+ = ", "", text).strip()


BODY = """(%in: f32{more}) {{
    %1 = arith.addf %in, %in : f32
    %2 = arith.mulf %1, %in : f32
    linalg.yield %2 : f32
  }}"""
WITH_ATTRIBUTES = [
    "%0 = linalg.reduce ins(%t : tensor<3x5xf32>) outs(%r : tensor<3xf32>) dimensions = [1] {x.y = -1 : i8} "
    + BODY.format(more=", %init: f32"),
    "%0 = linalg.map ins(%r : tensor<3xf32>) outs(%r : tensor<3xf32>) {x.y = -1 : i8} "
    + BODY.format(more=""),
    "%0 = linalg.transpose ins(%t : tensor<3x5xf32>) outs(%u : tensor<5x3xf32>) permutation = [1, 0] {x.y = 2}",
    "%0 = linalg.broadcast ins(%r : tensor<3xf32>) outs(%t : tensor<3x5xf32>) dimensions = [1] {x.y}",
    """%0 = tosa.while_loop (%x = %n) : (tensor<i32>) -> tensor<i32> {
    %1 = tosa.greater %x, %x : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %1 : tensor<i1>
  } do {
  ^bb0(%y: tensor<i32>):
    tosa.yield %y : tensor<i32>
  } attributes {x.y = 1 : i8}""",
]
"""Operations whose attributes of no meaning stand somewhere else than behind the name."""


@pytest.mark.parametrize("operation", WITH_ATTRIBUTES, ids=lambda text: text.split()[2])
def test_what_is_printed_with_attributes_is_read_again(operation: str) -> None:
    """By our tools and by mlir-opt, which makes the same of it as of the text that it had."""
    arguments = "%t: tensor<3x5xf32>, %u: tensor<5x3xf32>, %r: tensor<3xf32>, %n: tensor<i32>"
    text = f"func.func @f({arguments}) {{\n  {operation}\n  return\n}}\n"
    printed = ours(text)
    assert "x.y" in printed
    assert ours(printed) == printed
    assert mlir_opt(printed) == mlir_opt(text)
    assert ours(mlir_opt(text)) == printed


NUMBERS = [
    *("f32 = 0x7F800000", "f32 = 0xFF800000", "f32 = 0x7FC00000", "f64 = 0x7FF0000000000000"),
    *("i32 = 255", "index = -3", "i1 = true", "f32 = -1.500000e+03"),
    "!emitc.array<2xf32> = dense<[1.000000e+00, 0x7F800000]>",
]
WRONG_NUMBERS = [
    *("f32 = -0x7F800000", "f32 = 5", "f32 = 0x7FF800000", "i8 = 300", "i32 = 1.5", "i8 = 3 : i8"),
    *("!emitc.ptr<i32> = 4", "i32 = true"),
]


def test_numbers_of_global_variables_are_read_as_they_are_printed() -> None:
    """Infinities and NaN too, which have hexadecimal digits."""
    text = "\n".join(f"  emitc.global @g{i} : {each}" for i, each in enumerate(NUMBERS))
    assert mlir_opt(text).strip() == ours(text).strip() == f"module {{\n{text}\n}}"


@pytest.mark.parametrize("number", WRONG_NUMBERS)
def test_wrong_numbers_of_global_variables_are_refused_as_in_mlir(number: str) -> None:
    """In the same words, at the same place."""
    text = f"emitc.global @g : {number}"
    with pytest.raises(DiagnosticError) as caught:
        ours(text)
    assert str(caught.value).splitlines()[0] == mlir_opt(text).splitlines()[0]


@pytest.mark.parametrize(
    ("type", "column", "message"),
    [
        ("!emitpy.class", 14, "'emitpy.class' takes 1 parameter, not 0"),
        ('!emitpy.class]"Model">', 14, "'emitpy.class' takes 1 parameter, not 0"),
        ('!emitpy.class<"a", "b">', 24, "'emitpy.class' takes 1 parameter, not 2"),
        ("!emitpy.str<i32>", 17, "'emitpy.str' takes 0 parameters, not 1"),
        ("!ttkernel.cb<-1, i32>", 14, "expected a number of elements from 0 to 2**63 - 1"),
        (f"!ttkernel.cb<{1 << 63}, i32>", 14, "expected a number of elements from 0 to 2**63 - 1"),
    ],
)
def test_wrong_parameters_of_types_are_refused(type: str, column: int, message: str) -> None:
    """At their place, in the argument of a function and in an attribute."""
    for before, after in (
        ("func.func @f(%a: ", ") { return }"),
        ("module attributes {x = ", "} {}"),
    ):
        with pytest.raises(DiagnosticError) as caught:
            ours(before + type + after)
        place = f"{FILE}:1:{len(before) + column}"
        assert str(caught.value).splitlines()[0] == f"{place}: error: {message}"


@pytest.mark.parametrize(("results", "count"), [("()", 0), ("(i32, i32)", 2)])
def test_an_expression_has_one_result(results: str, count: int) -> None:
    """The type of a function with another number of results is refused."""
    with pytest.raises(DiagnosticError) as caught:
        ours(f"func.func @f() {{\n  %0 = emitc.expression : () -> {results} {{\n  }}\n  return\n}}")
    error = str(caught.value).splitlines()[0]
    assert error == f"{FILE}:2:27: error: expected one result, not {count}"
