"""Operations that are right and wrong: the verdict is jaxlib's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

import pytest
from oracles.stablehlo_oracle import refusal
from samples.stablehlo_modules import random_gather, random_scatter
from xdsl.dialects.builtin import FileLineColLoc

from ttmlir.dialects import DIALECTS
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.verifier import verify_module


def own_refusal(text: str) -> str | None:
    """Our first fault, which is on line 2; None for a valid module."""
    faults = verify_module(parse_module(text, "in.mlir", make_context(DIALECTS)))
    if not faults:
        return None
    place = faults[0].location
    assert isinstance(place, FileLineColLoc)
    assert place.line.data == 2
    return faults[0].message


def module(arguments: str, operation: str) -> str:
    """A function with an operation, which stands on line 2."""
    return f"func.func @f({arguments}) {{\n  {operation}\n  return\n}}"


def check(text: str) -> None:
    """The verdicts agree, and so do the words."""
    theirs, ours = refusal(text), own_refusal(text)
    assert (ours is None) == (theirs is None), (ours, theirs, text)
    if ours is not None and theirs is not None:
        assert ours.partition("' op ")[2] in theirs


C, R = "2x3x8xcomplex<f32>", "2x3x8xf32"
TRANSFORMS = [
    *((C, kind, length, C) for kind in ("FFT", "IFFT") for length in ("8", "7", "3, 8", "2, 3, 8")),
    *((C, "FFT", length, C) for length in ("", "1, 2, 3, 8")),
    (R, "FFT", "8", R),
    (C, "FFT", "8", "2x3x8xcomplex<f64>"),
    (C, "FFT", "8", "2x3x7xcomplex<f32>"),
    ("8xcomplex<f32>", "FFT", "8, 8", "8xcomplex<f32>"),
    (R, "RFFT", "8", "2x3x5xcomplex<f32>"),
    (R, "RFFT", "3, 8", "2x3x5xcomplex<f32>"),
    (R, "RFFT", "7", "2x3x4xcomplex<f32>"),
    (R, "RFFT", "4, 8", "2x3x5xcomplex<f32>"),
    (R, "RFFT", "8", "2x3x8xcomplex<f32>"),
    (R, "RFFT", "8", "2x3x5xf32"),
    (C, "RFFT", "8", "2x3x5xcomplex<f32>"),
    ("8xf64", "RFFT", "8", "5xcomplex<f64>"),
    ("8xf64", "RFFT", "8", "5xcomplex<f32>"),
    ("8xf16", "RFFT", "8", "5xcomplex<f32>"),
    ("2x0xf32", "RFFT", "0", "2x0xcomplex<f32>"),
    ("2x0xf32", "RFFT", "0", "2x1xcomplex<f32>"),
    ("?x8xf32", "RFFT", "3, 8", "?x5xcomplex<f32>"),
    ("?x?xf32", "RFFT", "3, 8", "?x5xcomplex<f32>"),
    *((C, "IRFFT", str(n), f"2x3x{n}xf32") for n in (14, 15, 8, 16)),
    (C, "IRFFT", "3, 14", "2x3x14xf32"),
    (C, "IRFFT", "4, 14", "2x3x14xf32"),
    (C, "IRFFT", "14", "2x3x15xf32"),
    (R, "IRFFT", "14", "2x3x14xf32"),
    *((f"2x{m}xcomplex<f32>", "IRFFT", n, f"2x{n}xf32") for m in (0, 1) for n in ("0", "1")),
    ("?x?xcomplex<f32>", "IRFFT", "3, 8", "3x8xf32"),
]


@pytest.mark.parametrize(("operand", "kind", "length", "result"), TRANSFORMS)
def test_fft(operand: str, kind: str, length: str, result: str) -> None:
    """Ranks, element types, and lengths against extents."""
    operation = f"%0 = stablehlo.fft %a, type = {kind}, length = [{length}]"
    types = f"(tensor<{operand}>) -> tensor<{result}>"
    check(module(f"%a: tensor<{operand}>", f"{operation} : {types}"))


SYSTEMS = [
    *(("3x3xf32", "3x4xf32", "true", "3x4xf32"), ("3x3xf32", "3x4xf32", "false", "3x4xf32")),
    *(("3x3xf32", "4x3xf32", "true", "4x3xf32"), ("3x3xf32", "4x3xf32", "false", "4x3xf32")),
    ("3x4xf32", "3x4xf32", "true", "3x4xf32"),
    ("3xf32", "3xf32", "true", "3xf32"),
    ("f32", "f32", "true", "f32"),
    ("3x3xf32", "3xf32", "true", "3xf32"),
    ("3x3xf32", "2x3x4xf32", "true", "2x3x4xf32"),
    ("2x3x3xf32", "2x3x4xf32", "true", "2x3x4xf32"),
    ("2x3x3xf32", "5x3x4xf32", "true", "5x3x4xf32"),
    ("3x3xf32", "3x4xf64", "true", "3x4xf64"),
    ("3x3xf32", "3x4xf32", "true", "3x4xf64"),
    ("3x3xf32", "3x4xf32", "true", "3x5xf32"),
    ("3x3xcomplex<f32>", "3x4xcomplex<f32>", "true", "3x4xcomplex<f32>"),
    ("?x3xf32", "3x4xf32", "true", "3x4xf32"),
    ("2x?x3x3xf32", "?x5x3x4xf32", "true", "?x5x3x4xf32"),
]


@pytest.mark.parametrize(("a", "b", "left", "result"), SYSTEMS)
@pytest.mark.parametrize("transposed", ["NO_TRANSPOSE", "ADJOINT", "TRANSPOSE_INVALID"])
def test_triangular_solve(a: str, b: str, left: str, result: str, transposed: str) -> None:
    """Square matrices whose extent is that of one side of the other."""
    operation = (
        f'%0 = "stablehlo.triangular_solve"(%a, %b) <{{left_side = {left}, lower = true, '
        f"transpose_a = #stablehlo<transpose {transposed}>, unit_diagonal = false}}> : "
        f"(tensor<{a}>, tensor<{b}>) -> tensor<{result}>"
    )
    check(module(f"%a: tensor<{a}>, %b: tensor<{b}>", operation))


@pytest.mark.parametrize(
    ("operand", "result"),
    [
        *(("2xcomplex<f32>", f"2x{other}") for other in ("f64", "i64", "2xf32", "complex<f32>")),
        *(("2xcomplex<f32>", f"{other}xcomplex<f64>") for other in ("2", "1")),
        ("3x2xcomplex<f32>", "3xcomplex<f64>"),
        ("2x3xcomplex<f32>", "2xcomplex<f64>"),
        ("3xcomplex<f64>", "3x2xcomplex<f32>"),
        ("2xcomplex<f32>", "3xcomplex<f32>"),
        *((other, "2xcomplex<f32>") for other in ("2xf64", "2x2xf32", "2xi64")),
        *(("2x8xi1", "2xi8"), ("2xi1", "2xi8"), ("3x4xi8", "3xf32"), ("3x4xi8", "4xf32")),
    ],
)
def test_bitcast_convert(operand: str, result: str) -> None:
    """Complex numbers are bits of complex numbers only."""
    operation = f'%0 = "stablehlo.bitcast_convert"(%a) : (tensor<{operand}>) -> tensor<{result}>'
    check(module(f"%a: tensor<{operand}>", operation))


@pytest.mark.parametrize("shape", ["", "1x", "2x", "0x", "?x", "1x1x", "2x3x"])
@pytest.mark.parametrize(("name", "branches", "element"), [("if", 2, "i1"), ("case", 1, "i32")])
def test_what_chooses_a_branch(name: str, branches: int, element: str, shape: str) -> None:
    """It is a single number."""
    regions = ", ".join(["{ stablehlo.return %s : tensor<f32> }"] * branches)
    type = f"tensor<{shape}{element}>"
    operation = f'%0 = "stablehlo.{name}"(%p) ({regions}) : ({type}) -> tensor<f32>'
    check(module(f"%p: {type}, %s: tensor<f32>", operation))


TWO = "%x: tensor<f32>, %y: tensor<f32>"
FIRST = "stablehlo.return %x : tensor<f32>"
MAPS = [
    *((TWO, FIRST, result) for result in ("2x3xf32", "2x4xf32", "2x3xf64", "?x3xf32")),
    *((TWO, "stablehlo.return %i : tensor<i32>", result) for result in ("2x3xf32", "2x3xi32")),
    ("%x: tensor<f32>", FIRST, "2x3xf32"),
    ("%x: tensor<f32>, %y: tensor<i32>", FIRST, "2x3xf32"),
    ("%x: tensor<f32>, %y: tensor<3xf32>", FIRST, "2x3xf32"),
    ("%x: tensor<f32>, %y: tensor<?xf32>", FIRST, "2x3xf32"),
    ("%x: tensor<f32>, %y: f32", FIRST, "2x3xf32"),
    (TWO, "stablehlo.return %v : tensor<3xf32>", "2x3xf32"),
    (TWO, "stablehlo.return %x, %y : tensor<f32>, tensor<f32>", "2x3xf32"),
    (TWO, "stablehlo.return", "2x3xf32"),
]


@pytest.mark.parametrize(("parameters", "returned", "result"), MAPS)
def test_map(parameters: str, returned: str, result: str) -> None:
    """The function takes and returns single elements; the result has the operands' shape."""
    operation = (
        '%0 = "stablehlo.map"(%a, %a) <{dimensions = array<i64: 0, 1>}> ({ '
        f"^bb0({parameters}): {returned} }}) "
        f": (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<{result}>"
    )
    check(module("%a: tensor<2x3xf32>, %i: tensor<i32>, %v: tensor<3xf32>", operation))


def test_operands_of_a_map() -> None:
    """They have one shape, but not one element type."""
    for other, element in (("3x2xf32", "f32"), ("2x3xi32", "i32"), ("2x?xi32", "i32")):
        operation = (
            '%0 = "stablehlo.map"(%a, %b) <{dimensions = array<i64: 0, 1>}> ({ '
            f"^bb0(%x: tensor<f32>, %y: tensor<{element}>): {FIRST} }}) "
            f": (tensor<2x3xf32>, tensor<{other}>) -> tensor<2x3xf32>"
        )
        check(module(f"%a: tensor<2x3xf32>, %b: tensor<{other}>", operation))


@pytest.mark.parametrize("make", [random_gather, random_scatter])
def test_random_dimension_numbers(make: Callable[[Random], str]) -> None:
    """The verdict on orders, ranges and extents, valid and invalid ones in about equal parts."""
    random, verdicts = Random(11), Counter[bool]()
    for _ in range(600):
        text = make(random)
        theirs, ours = refusal(text), own_refusal(text)
        assert (ours is None) == (theirs is None), (ours, theirs, text)
        verdicts[theirs is None] += 1
    assert min(verdicts.values()) > 150
