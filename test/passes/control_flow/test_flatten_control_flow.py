"""Loops and branches of scf, affine and tosa compute what NumPy computes, short or long."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.mlir_opt import mlir_opt
from running.pass_runner import body, executed, printed

from ttmlir.mlir.reporting import DiagnosticError

PASS = "flatten-control-flow"
LINALG = "linalg-to-ttnn-pipeline"
T = "tensor<7x5xf32>"
X = np.random.default_rng(7).uniform(-1, 1, (7, 5)).astype(np.float32)


def _main(text: str, arguments: str = f"%x: {T}", result: str = T) -> str:
    return f"func.func @main({arguments}) -> {result} {{\n{text}\nreturn %r : {result}\n}}"


def rows(iterations: int) -> str:
    """A loop that adds row i modulo 5, times i + 1, to row 6 - i modulo 7."""
    return _main(f"""
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c7 = arith.constant 7 : index
    %end = arith.constant {iterations} : index
    %r = scf.for %i = %c0 to %end step %c1 iter_args(%a = %x) -> ({T}) {{
      %from = arith.remsi %i, %c5 : index
      %to = affine.apply affine_map<(d0)[s0] -> (6 - d0 mod s0)>(%i)[%c7]
      %source = tensor.extract_slice %a[%from, 1] [1, 3] [1, 1] : {T} to tensor<3xf32>
      %target = tensor.extract_slice %a[%to, 1] [1, 3] [1, 1] : {T} to tensor<3xf32>
      %j = arith.addi %i, %c1 : index
      %n = arith.index_cast %j : index to i32
      %f = arith.sitofp %n : i32 to f32
      %many = tensor.splat %f : tensor<3xf32>
      %product = arith.mulf %source, %many : tensor<3xf32>
      %sum = arith.addf %target, %product : tensor<3xf32>
      %next = tensor.insert_slice %sum into %a[%to, 1] [1, 3] [1, 1] : tensor<3xf32> into {T}
      scf.yield %next : {T}
    }}""")


def rows_by_numpy(iterations: int) -> np.ndarray:
    """What `rows` says."""
    a = X.copy()
    for i in range(iterations):
        a[6 - i % 7, 1:4] += a[i % 5, 1:4] * np.float32(i + 1)
    return a


@pytest.mark.parametrize(("iterations", "is_called"), [(3, False), (40, True)])
def test_counted_loop(iterations: int, is_called: bool) -> None:
    """Places in a loop are constants where it is written out, else computed from the counter."""
    text = mlir_opt(rows(iterations))
    module = printed(text, PASS)
    assert ("trip_count = 40" in module, "ttir.while" in module) == (is_called, is_called)
    assert "affine" not in module
    (result,) = executed(text, [X], LINALG)
    np.testing.assert_allclose(result, rows_by_numpy(iterations), rtol=1e-5)


def test_lowered_affine_counts_too() -> None:
    """What mlir-opt makes of affine and of counted loops has the same number of iterations."""
    text = mlir_opt(rows(40), "--lower-affine", "--scf-for-to-while")
    assert "scf.while" in text
    assert "trip_count = 40" in printed(text, PASS)
    (result,) = executed(text, [X], LINALG)
    np.testing.assert_allclose(result, rows_by_numpy(40), rtol=1e-5)


def test_long_loop_is_not_followed() -> None:
    """A trip count is computed from bounds and step, and there is no condition."""
    text = rows(1).replace("constant 1 : index", "constant 3 : index", 1)
    text = text.replace("constant 1 : index", "constant 1000000 : index", 1)
    module = printed(text, PASS)
    assert "trip_count = 333334" in module
    assert "condition" not in module


def test_affine_for_and_if() -> None:
    """Bounds and conditions are maps; a number that outer loops count reaches the inner ones."""
    text = _main(f"""
    %r = affine.for %i = 0 to 7 step 2 iter_args(%a = %x) -> ({T}) {{
      %inner = affine.for %j = affine_map<(d0) -> (d0 floordiv 2)>(%i)
          to min affine_map<(d0) -> (5, d0 + 1)>(%i) iter_args(%b = %a) -> ({T}) {{
        %e = tensor.extract %b[%i, %j] : {T}
        %two = arith.constant 2.0 : f32
        %f = affine.if affine_set<(d0, d1) : (d0 - d1 - 2 >= 0)>(%i, %j) -> f32 {{
          %g = arith.mulf %e, %two : f32
          affine.yield %g : f32
        }} else {{
          %g = arith.addf %e, %two : f32
          affine.yield %g : f32
        }}
        %n = tensor.insert %f into %b[%i, %j] : {T}
        affine.yield %n : {T}
      }}
      affine.yield %inner : {T}
    }}""")
    expected = X.copy()
    for i in range(0, 7, 2):
        for j in range(i // 2, min(5, i + 1)):
            value = expected[i, j]
            expected[i, j] = value * 2 if i - j >= 2 else value + 2
    for form in (mlir_opt(text, "--mlir-print-op-generic"), mlir_opt(text, "--lower-affine")):
        (result,) = executed(form, [X], LINALG)
        np.testing.assert_array_equal(result, expected)
        (result,) = executed(form, [X], LINALG + "=max-trip-count=1")
        np.testing.assert_array_equal(result, expected)


HALVING = _main(
    f"""
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %limit = tensor.extract %n[] : tensor<f32>
    %halves = tensor.splat %half : {T}
    %a, %k = scf.while (%p = %x, %k = %zero) : ({T}, i32) -> ({T}, i32) {{
      %c0 = arith.constant 0 : index
      %e = tensor.extract %p[%c0, %c0] : {T}
      %size = math.absf %e : f32
      %go = arith.cmpf ogt, %size, %limit : f32
      %next = arith.mulf %p, %halves : {T}
      scf.condition(%go) %next, %k : {T}, i32
    }} do {{
    ^bb0(%p: {T}, %k: i32):
      %up = arith.addi %k, %one : i32
      scf.yield %p, %up : {T}, i32
    }}
    %f = arith.sitofp %k : i32 to f32
    %s = tensor.splat %f : {T}
    %r = arith.addf %a, %s : {T}""",
    f"%x: {T}, %n: tensor<f32>",
)


@pytest.mark.parametrize("limit", [10.0, 0.01])
def test_loop_that_data_ends(limit: float) -> None:
    """What the first region hands on is also what the loop gives, once more than the second ran."""
    value, count = X * np.float32(4), 0
    start = value
    while abs(value[0, 0]) > np.float32(limit):
        value, count = value * np.float32(0.5), count + 1
    inputs = [start, np.array(limit, np.float32)]
    (result,) = executed(HALVING, inputs, LINALG)
    np.testing.assert_array_equal(result, value * np.float32(0.5) + np.float32(count))
    assert "condition = @main_condition0" in printed(HALVING, PASS)


@pytest.mark.parametrize("many", [1, 8])
@pytest.mark.parametrize("number", [-3, 0, 2, 5, 6])
def test_branches(number: int, many: int) -> None:
    """Small branches are all computed, others are called; cases have any numbers."""

    def steps(name: str, start: str) -> str:
        lines = [f"%{name}0 = arith.addf {start}, {start} : {T}"]
        lines += [f"%{name}{n} = math.{name} %{name}{n - 1} : {T}" for n in range(1, many + 1)]
        return "\n".join([*lines, f"scf.yield %{name}{many} : {T}"])

    text = _main(
        f"""
    %i = tensor.extract %n[] : tensor<i32>
    %zero = arith.constant 0 : i32
    %k = arith.index_cast %i : i32 to index
    %s = scf.index_switch %k -> {T} case 2 {{ {steps("sin", "%x")} }}
      case 5 {{ {steps("cos", "%x")} }} default {{ {steps("tanh", "%x")} }}
    %up = arith.cmpi sgt, %i, %zero : i32
    %r = scf.if %up -> ({T}) {{ {steps("absf", "%s")} }} else {{ {steps("floor", "%s")} }}""",
        f"%x: {T}, %n: tensor<i32>",
    )

    def repeat(function: np.ufunc, value: np.ndarray) -> np.ndarray:
        value = value + value
        for _ in range(many):
            value = function(value)
        return value

    expected = repeat({2: np.sin, 5: np.cos}.get(number, np.tanh), X)
    expected = repeat(np.abs if number > 0 else np.floor, expected)
    (result,) = executed(text, [X, np.array(number, np.int32)], LINALG)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
    assert ("ttir.case" in printed(text, PASS)) == (many == 8)


TOSA = f"""
func.func @main(%x: {T}, %n: tensor<i32>) -> {T} {{
  %0 = "tosa.const"() {{value = dense<0> : tensor<i32>}} : () -> tensor<i32>
  %end = END
  %1:2 = tosa.while_loop (%i = %0, %a = %x) : (tensor<i32>, {T}) -> (tensor<i32>, {T}) {{
    %2 = tosa.greater %end, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %2 : tensor<i1>
  }} do {{
  ^bb0(%i: tensor<i32>, %a: {T}):
    %one = "tosa.const"() {{value = dense<1> : tensor<i32>}} : () -> tensor<i32>
    %3 = tosa.add %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %4 = tosa.sin %a : ({T}) -> {T}
    %5 = tosa.add %4, %x : ({T}, {T}) -> {T}
    tosa.yield %3, %5 : tensor<i32>, {T}
  }}
  %p = tosa.greater %n, %0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r = tosa.cond_if %p -> ({T}) {{
    %6 = tosa.abs %1#1 : ({T}) -> {T}
    tosa.yield %6 : {T}
  }} else {{
    %6 = tosa.negate %1#1 : ({T}) -> {T}
    tosa.yield %6 : {T}
  }}
  return %r : {T}
}}"""


@pytest.mark.parametrize("count", [2, 200, None])
def test_tosa(count: int | None) -> None:
    """Loops with a known end, or one that is data, and a branch; as written, and as scf."""
    end = "tosa.abs %n : (tensor<i32>) -> tensor<i32>"
    if count is not None:
        end = f'"tosa.const"() {{value = dense<{count}> : tensor<i32>}} : () -> tensor<i32>'
    text = TOSA.replace("END", end)
    number = -3
    expected = X
    for _ in range(3 if count is None else count):
        expected = np.sin(expected) + X
    for form in (text, mlir_opt(text, "--tosa-to-scf")):
        module = printed(form, PASS)
        assert ("trip_count = 200" in module) == (count == 200)
        assert ("condition = " in module) == (count is None)
        (result,) = executed(form, [X, np.array(number, np.int32)], "tosa-to-ttnn-pipeline")
        np.testing.assert_allclose(result, -expected, rtol=1e-5, atol=1e-6)


def test_execute_region_and_extents() -> None:
    """A region of one block is what it contains; an extent that a type says is a number."""
    text = _main(f"""
    %c1 = arith.constant 1 : index
    %d = tensor.dim %x, %c1 : {T}
    %n = arith.index_cast %d : index to i32
    %f = arith.sitofp %n : i32 to f32
    %r = scf.execute_region -> {T} {{
      %s = tensor.splat %f : {T}
      scf.yield %s : {T}
    }}""")
    assert len(body(text, PASS)) == 5
    np.testing.assert_array_equal(executed(text, [X], LINALG)[0], np.full((7, 5), 5, np.float32))


def test_memory_is_refused() -> None:
    """A loop over memory names the value that it uses."""
    text = """
    func.func @main(%m: memref<4xf32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %f = arith.constant 1.0 : f32
      scf.for %i = %c0 to %c4 step %c1 {
        memref.store %f, %m[%i] : memref<4xf32>
      }
      return
    }"""
    with pytest.raises(
        DiagnosticError,
        match=r":7:7: error: failed to legalize operation 'scf.for'"
        r": it uses a value of type memref<4xf32>; supported are tensors and numbers",
    ):
        printed(text, PASS)
