"""Texts of a few lines that passes could make gigabytes of operations of."""

from __future__ import annotations

import pytest

from ttmlir.compiler import lower
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.passes.control_flow import flattening
from ttmlir.passes.general import inline

TYPE = "tensor<2xf32>"


def doubling_calls(levels: int) -> str:
    """Functions each of which calls the one before twice."""
    lines = [f"func.func private @f0(%a: {TYPE}) -> {TYPE} {{"]
    lines += [f"  %0 = stablehlo.add %a, %a : {TYPE}", f"  return %0 : {TYPE}", "}"]
    for n in range(1, levels + 1):
        lines += [f"func.func {'private' if n < levels else ''} @f{n}(%a: {TYPE}) -> {TYPE} {{"]
        lines += [f"  %0 = func.call @f{n - 1}(%a) : ({TYPE}) -> {TYPE}"]
        lines += [f"  %1 = func.call @f{n - 1}(%0) : ({TYPE}) -> {TYPE}"]
        lines += [f"  return %1 : {TYPE}", "}"]
    return "\n".join(lines)


def nested_loops(levels: int) -> str:
    """A loop of ten iterations inside of another, and so on."""
    text, value = f"%y = stablehlo.add %x{levels}, %x{levels} : {TYPE}", "%y"
    for n in range(levels - 1, -1, -1):
        types = f"tensor<i32>, {TYPE}"
        text = (
            f"%i{n}e, %x{n}e = stablehlo.while(%i{n} = %zero, %x{n + 1} = %x{n}) : {types} cond {{"
            f"  %c = stablehlo.compare LT, %i{n}, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
            "  stablehlo.return %c : tensor<i1> } do {\n"
            f"  {text}\n  %j = stablehlo.add %i{n}, %one : tensor<i32>\n"
            f"  stablehlo.return %j, {value} : {types} }}"
        )
        value = f"%x{n}e"
    constants = "".join(
        f"  %{name} = stablehlo.constant dense<{number}> : tensor<i32>\n"
        for name, number in (("zero", 0), ("one", 1), ("ten", 10))
    )
    return f"func.func @f(%x0: {TYPE}) -> {TYPE} {{\n{constants}{text}\nreturn {value} : {TYPE} }}"


def test_calls_that_double_are_not_inlined_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The call that makes too many operations is named."""
    monkeypatch.setattr(inline, "MAX_COPIES", 1000)
    assert lower(doubling_calls(5), "stablehlo-to-ttnn-pipeline") is not None
    with pytest.raises(DiagnosticError, match=r":\d+:8: error: 'func.call' op cannot be inlined"):
        lower(doubling_calls(40), "stablehlo-to-ttnn-pipeline")


def test_nested_loops_are_not_unrolled_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each loop is short, all together are not: asked for, they are refused, else they stay."""
    monkeypatch.setattr(flattening, "MAX_COPIES", 1000)
    unrolling = "stablehlo-to-ttnn-pipeline{max-trip-count=64}"
    assert lower(nested_loops(2), unrolling) is not None
    with pytest.raises(DiagnosticError, match="unrolling makes more than 1000 operations"):
        lower(nested_loops(8), unrolling)
    module = lower(nested_loops(8), "stablehlo-to-ttnn-pipeline")
    assert sum(op.name == "ttnn.while" for op in module.walk()) > 1
