"""Loops and branches of tosa, scf and affine, which are regions, held against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ttmlir.compiler import parse
from ttmlir.interpreter import execute
from ttmlir.interpreter.bisection import bisect
from ttmlir.limits import ITERATIONS_VARIABLE
from ttmlir.mlir.reporting import DiagnosticError

T = "tensor<3x5xf32>"
X = np.random.default_rng(11).uniform(-1, 1, (3, 5)).astype(np.float32)
Numbers = np.ndarray[Any, Any]


def function(body: str, argument: str = "") -> str:
    """A function of a tensor `%x`, and of an argument, whose body makes `%r`."""
    arguments = f"%x: {T}" + (f", {argument}" if argument else "")
    return f"func.func @main({arguments}) -> {T} {{\n{body}\nreturn %r : {T}\n}}"


def run(text: str, *inputs: Any) -> Numbers:
    """The result of a function of `X` and other inputs."""
    [found] = execute(parse(text), [X, *inputs])
    return found


NESTED = function(
    f"""
    %0 = "tosa.const"() {{value = dense<0> : tensor<i32>}} : () -> tensor<i32>
    %1 = "tosa.const"() {{value = dense<1> : tensor<i32>}} : () -> tensor<i32>
    %2 = "tosa.const"() {{value = dense<2> : tensor<i32>}} : () -> tensor<i32>
    %i, %r = tosa.while_loop (%i = %0, %a = %x) : (tensor<i32>, {T}) -> (tensor<i32>, {T}) {{
      %go = tosa.greater %n, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
      tosa.yield %go : tensor<i1>
    }} do {{
    ^bb0(%i: tensor<i32>, %a: {T}):
      %j, %b = tosa.while_loop (%j = %0, %b = %a) : (tensor<i32>, {T}) -> (tensor<i32>, {T}) {{
        %go = tosa.greater %2, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>
        tosa.yield %go : tensor<i1>
      }} do {{
      ^bb0(%j: tensor<i32>, %b: {T}):
        %next = tosa.add %j, %1 : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %sum = tosa.add %b, %x : ({T}, {T}) -> {T}
        tosa.yield %next, %sum : tensor<i32>, {T}
      }}
      %late = tosa.greater %i, %1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %c = tosa.cond_if %late -> ({T}) {{
        %d = tosa.abs %b : ({T}) -> {T}
        tosa.yield %d : {T}
      }} else {{
        %d = tosa.sin %b : ({T}) -> {T}
        tosa.yield %d : {T}
      }}
      %next = tosa.add %i, %1 : (tensor<i32>, tensor<i32>) -> tensor<i32>
      tosa.yield %next, %c : tensor<i32>, {T}
    }}""",
    "%n: tensor<i32>",
)


def nested(iterations: int) -> Numbers:
    """What `NESTED` says."""
    a = X
    for i in range(iterations):
        a = a + X + X
        a = np.abs(a) if i > 1 else np.sin(a)
    return a


@pytest.mark.parametrize("iterations", [0, 1, 4])
def test_tosa_loops_and_a_branch(iterations: int) -> None:
    """A loop that data ends, around a counted loop and a branch that takes a counter."""
    found = run(NESTED, np.int32(iterations))
    np.testing.assert_allclose(found, nested(iterations), rtol=1e-6)


def test_bisection_of_tosa_loops_begins_with_tosa() -> None:
    """Nothing is skipped, and all levels compute what NumPy does."""
    report = bisect(NESTED, [X, np.int32(4)], framework_results=[nested(4)])
    assert (report.reference, report.skipped) == ("tosa", ())
    assert report.agrees, str(report)
    assert report.levels[1].compared >= 7


BRANCH = f"""
func.func private @halve(%a: {T}) -> {T} {{
  %half = stablehlo.constant dense<0.5> : {T}
  %0 = stablehlo.multiply %a, %half : {T}
  return %0 : {T}
}}
func.func @main(%x: {T}) -> {T} {{
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<90> : tensor<i32>
  %i, %r, %same = stablehlo.while(%i = %0, %a = %x, %w = %x) : tensor<i32>, {T}, {T}
  cond {{
    %go = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  }} do {{
    %odd = stablehlo.and %i, %1 : tensor<i32>
    %c = "stablehlo.case"(%odd) ({{
      %d = func.call @halve(%a) : ({T}) -> {T}
      stablehlo.return %d : {T}
    }}, {{
      %d = stablehlo.add %a, %w : {T}
      stablehlo.return %d : {T}
    }}) : (tensor<i32>) -> {T}
    %next = stablehlo.add %i, %1 : tensor<i32>
    stablehlo.return %next, %c, %w : tensor<i32>, {T}, {T}
  }}
  return %r : {T}
}}"""


def test_what_loops_leave_out_is_no_difference() -> None:
    """Both branches are computed in each iteration once lowered; what is only read is not carried.

    The branch itself is compared in each iteration.
    """
    expected = X
    for i in range(90):
        expected = expected + X if i % 2 else expected * np.float32(0.5)
    report = bisect(BRANCH, [X], framework_results=[expected])
    assert report.reference == "stablehlo"
    assert report.agrees, str(report)
    assert report.levels[1].compared >= 5


SCF = function(
    f"""
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c5 = arith.constant 5 : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %limit = tensor.extract %n[] : tensor<f32>
    %s = scf.for %i = %c0 to %c5 step %c2 iter_args(%a = %x) -> ({T}) {{
      %e = tensor.extract %a[%c1, %i] : {T}
      %up = arith.cmpf ogt, %e, %zero : f32
      %f = scf.if %up -> (f32) {{
        %g = arith.addf %e, %one : f32
        scf.yield %g : f32
      }} else {{
        scf.yield %limit : f32
      }}
      %h = scf.index_switch %i -> f32 case 2 {{
        %g = arith.negf %f : f32
        scf.yield %g : f32
      }} default {{
        scf.yield %f : f32
      }}
      %n2 = tensor.insert %h into %a[%c2, %i] : {T}
      scf.yield %n2 : {T}
    }}
    %r = scf.while (%p = %s) : ({T}) -> {T} {{
      %e = tensor.extract %p[%c0, %c0] : {T}
      %size = math.absf %e : f32
      %go = arith.cmpf ogt, %size, %limit : f32
      %next = arith.addf %p, %p : {T}
      scf.condition(%go) %next : {T}
    }} do {{
    ^bb0(%p: {T}):
      %eighths = arith.constant dense<0.125> : {T}
      %next = arith.mulf %p, %eighths : {T}
      scf.yield %next : {T}
    }}""",
    "%n: tensor<f32>",
)


def by_scf(limit: float) -> Numbers:
    """What `SCF` says: what the first region of the `while` hands on is its result."""
    a = X.copy()
    for i in (0, 2, 4):
        value = a[1, i] + np.float32(1) if a[1, i] > 0 else np.float32(limit)
        a[2, i] = -value if i == 2 else value
    while abs(a[0, 0]) > np.float32(limit):
        a = (a + a) * np.float32(0.125)
    return a + a


@pytest.mark.parametrize("limit", [5.0, 0.001])
def test_scf(limit: float) -> None:
    """A counted loop, branches and a loop that data ends, as numbers and tensors."""
    np.testing.assert_array_equal(run(SCF, np.float32(limit)), by_scf(limit))
    report = bisect(SCF, [X, np.float32(limit)], framework_results=[by_scf(limit)])
    assert (report.reference, report.skipped) == ("linalg", ())
    assert report.agrees, str(report)


AFFINE = function(f"""
    %c5 = arith.constant 5 : index
    %two = arith.constant 2.0 : f32
    %r = affine.for %i = 0 to 3 iter_args(%a = %x) -> ({T}) {{
      %inner = affine.for %j = affine_map<(d0) -> (d0 floordiv 2)>(%i)
          to min affine_map<(d0) -> (5, d0 + 2)>(%i) iter_args(%b = %a) -> ({T}) {{
        %k = affine.apply affine_map<(d0)[s0] -> (4 - d0 mod s0)>(%j)[%c5]
        %m = affine.min affine_map<(d0) -> (d0, 2)>(%k)
        %e = tensor.extract %b[%m, %j] : {T}
        %f = "affine.if"(%i, %j) <{{condition = affine_set<(d0, d1) : (d0 - d1 - 1 >= 0)>}}> ({{
          %g = arith.mulf %e, %two : f32
          "affine.yield"(%g) : (f32) -> ()
        }}, {{
          %g = arith.addf %e, %two : f32
          "affine.yield"(%g) : (f32) -> ()
        }}) : (index, index) -> f32
        %n = tensor.insert %f into %b[%i, %j] : {T}
        affine.yield %n : {T}
      }}
      affine.yield %inner : {T}
    }}""")


def test_affine() -> None:
    """Bounds, places and conditions are maps of outer counters."""
    expected = X.copy()
    for i in range(3):
        for j in range(i // 2, min(5, i + 2)):
            value = expected[min(4 - j % 5, 2), j]
            expected[i, j] = value * np.float32(2) if i - j >= 1 else value + np.float32(2)
    np.testing.assert_array_equal(run(AFFINE), expected)
    report = bisect(AFFINE, [X], framework_results=[expected])
    assert (report.reference, report.skipped) == ("linalg", ())
    assert report.agrees, str(report)


ENDLESS = [
    f"""%r = tosa.while_loop (%a = %x) : ({T}) -> {T} {{
      %go = "tosa.const"() {{value = dense<true> : tensor<i1>}} : () -> tensor<i1>
      tosa.yield %go : tensor<i1>
    }} do {{
    ^bb0(%a: {T}):
      tosa.yield %a : {T}
    }}""",
    f"""%r = stablehlo.while(%a = %x) : {T}
    cond {{
      %go = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %go : tensor<i1>
    }} do {{
      stablehlo.return %a : {T}
    }}""",
    f"""%r = scf.while (%a = %x) : ({T}) -> {T} {{
      %go = arith.constant true
      scf.condition(%go) %a : {T}
    }} do {{
    ^bb0(%a: {T}):
      scf.yield %a : {T}
    }}""",
    f"""%c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %end = arith.constant 1000000000000 : index
    %r = scf.for %i = %c0 to %end step %c1 iter_args(%a = %x) -> ({T}) {{
      scf.yield %a : {T}
    }}""",
]


@pytest.mark.parametrize("body", ENDLESS)
def test_loops_without_an_end(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """They come to one at the limit that the runtime has."""
    monkeypatch.setenv(ITERATIONS_VARIABLE, "20")
    message = f"the loop has made 21 iterations; {ITERATIONS_VARIABLE} sets another limit"
    with pytest.raises(DiagnosticError, match=message):
        run(function(body))
