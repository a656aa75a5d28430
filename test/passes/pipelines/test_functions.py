"""Signatures, calls and layouts that the program itself gives."""

from __future__ import annotations

import re

import numpy as np
import pytest
from running.pass_runner import TTNN_PIPELINE, body, executed, printed
from samples.ttir_text import ALIASES, FunctionText, tensor

from ttmlir.mlir.reporting import DiagnosticError

WIDE = tensor(33, 70)
LAYOUTS = """
#dram_ = #tt.memory_space<dram>
#spread = #tt.layout<(d0, d1) -> (d0, d1), undef, <2x2>, memref<17x35xf32, #dram_>, interleaved>
#bare = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #dram_>>
"""
SPREAD = "tensor<33x70xf32, #spread>"
BARE = "tensor<33x70xf32, #bare>"


def _negation(type_: str, constraint: str = "#device", name: str = "f") -> str:
    f = FunctionText([type_], name=name, constraint=constraint)
    return f.function(f.op("neg", ["%arg0"], type_))


def _caller(type_: str) -> str:
    f = FunctionText([type_], name="main")
    value = f.op("abs", ["%arg0"], type_)
    called = f.define(f"func.call @f({value}) : ({type_}) -> {type_}", type_)
    return f.function(f.op("relu", [called], type_))


def test_several_functions() -> None:
    """Each function is a program with a device of its own."""
    text = ALIASES + _negation(WIDE, name="one") + _negation(tensor(5), name="two")
    assert (
        body(text, TTNN_PIPELINE).count('%0 = "ttnn.get_device"() : () -> !tt.device<#device>') == 2
    )
    x = np.arange(5, dtype=np.float32)
    [result] = executed(text, [x], program=1)
    np.testing.assert_array_equal(result, -x)


@pytest.mark.parametrize("constraint", ["#device", "#tile", "#system"])
def test_called_function_returns_what_its_callers_expect(constraint: str) -> None:
    """Neither constraints nor grids change the signature of a function that others call."""
    text = ALIASES + _negation(WIDE, constraint) + _caller(WIDE)
    [call] = [line for line in body(text, TTNN_PIPELINE) if " call @f" in line]
    assert "(tensor<33x70xf32, #layout>) -> tensor<33x70xf32, #layout>" in call


def test_call_after_inlining_computes() -> None:
    """Inlined first, the program runs."""
    text = ALIASES + _negation(WIDE).replace("@f", "private @f", 1) + _caller(WIDE)
    x = np.random.default_rng(0).standard_normal((33, 70), np.float32)
    [result] = executed(text, [x], "inline", TTNN_PIPELINE)
    np.testing.assert_array_equal(result, np.maximum(-abs(x), 0))


def test_declaration_keeps_its_results() -> None:
    """A function without a body has layouts and results."""
    text = printed(ALIASES + f"func.func private @f({WIDE}) -> {WIDE}", TTNN_PIPELINE)
    assert "@f(tensor<33x70xf32, #layout>) -> tensor<33x70xf32, #layout>" in text


def test_given_layout_of_result() -> None:
    """What is returned moves to the layout that the signature gives, on the device, too."""
    lines = body(ALIASES + LAYOUTS + _negation(BARE), TTNN_PIPELINE)
    assert lines[-2].startswith('%6 = "ttnn.to_device"')
    assert lines[-1].startswith("return %6")


def test_given_layout_that_fits_is_kept() -> None:
    """An operand that is where its constraint wants it does not move, whatever its grid."""
    lines = body(
        ALIASES + LAYOUTS + _negation(SPREAD),
        "ttir-load-system-desc",
        "ttir-implicit-device",
        "ttir-layout",
    )
    assert not any("to_layout" in line for line in lines)


def test_several_outputs() -> None:
    """Each output has its own destination and layout."""
    types = f"{WIDE}, {WIDE}"
    text = (
        ALIASES
        + f"""
      func.func @f(%a: {WIDE}) -> ({types}) {{
        %e = tensor.empty() : {WIDE}
        %f = tensor.empty() : {WIDE}
        %0:2 = "ttir.neg"(%a, %e, %f) <{{operandSegmentSizes = array<i32: 1, 2>,
            operand_constraints = [#device, #device, #tile]}}> : ({WIDE}, {types}) -> ({types})
        return %0#0, %0#1 : {types}
      }}"""
    )
    [line] = [line for line in body(text, TTNN_PIPELINE) if "ttnn.neg" in line]
    assert line.startswith("%5:2 = ")
    assert line.endswith("-> (tensor<33x70xf32, #layout2>, tensor<33x70xf32, #layout3>)")


def test_layout_that_cannot_be_computed_with() -> None:
    """A layout without a memory space is refused where it is used."""
    layout = "#odd = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32>>\n"
    text = ALIASES + layout + _negation("tensor<33x70xf32, #odd>")
    with pytest.raises(
        DiagnosticError, match="names one of the memory spaces system, mmio, dram, l1"
    ):
        printed(text, TTNN_PIPELINE)


def test_operation_of_another_dialect_sees_initial_layouts() -> None:
    """Its operands and results keep the types that it relates to each other."""
    f = FunctionText([WIDE])
    value = f.op("abs", ["%arg0"], WIDE)
    total = f.define(f"arith.addf {value}, {value} : {WIDE}", WIDE)
    text = f.returning(f.op("neg", [total], WIDE))
    lines = body(text, "ttir-load-system-desc", "ttir-implicit-device", "ttir-layout")
    [line] = [line for line in lines if "arith.addf" in line]
    assert line.endswith(" : tensor<33x70xf32, #layout>")
    with pytest.raises(DiagnosticError, match="failed to legalize operation 'arith\\.addf'"):
        printed(text, TTNN_PIPELINE)


_METAL_PIPELINE = "ttir-to-ttmetal-backend-pipeline"
_OTHER_DIALECTS = [
    ("%r = stablehlo.exponential %x : T", "stablehlo.exponential", "stablehlo-to-ttir-pipeline"),
    ("%r = stablehlo.constant dense<1.0> : T", "stablehlo.constant", "stablehlo-to-ttir-pipeline"),
    ("%r = tosa.exp %x : (T) -> T", "tosa.exp", "tosa-to-ttir-pipeline"),
    ("%r = arith.addf %x, %x : T", "arith.addf", "linalg-to-ttir-pipeline"),
    ("%r = arith.constant dense<1.0> : T", "arith.constant", "linalg-to-ttir-pipeline"),
    ("%r = math.exp %x : T", "math.exp", "linalg-to-ttir-pipeline"),
    (
        "%r = linalg.exp ins(%x : T) outs(%x : T) -> T",
        "linalg.exp",
        "linalg-to-ttir-pipeline",
    ),
]


@pytest.mark.parametrize("pipeline", [TTNN_PIPELINE, _METAL_PIPELINE])
@pytest.mark.parametrize(("line", "name", "before"), _OTHER_DIALECTS)
def test_pipelines_refuse_other_dialects(line: str, name: str, before: str, pipeline: str) -> None:
    """Nothing but the target's dialect leaves a pipeline; the message names the one to run."""
    text = f"func.func @f(%x: T) -> T {{\n  {line}\n  return %r : T\n}}\n".replace("T", WIDE)
    message = rf"2:8: error: failed to legalize operation '{name}': .*; run {before} before"
    with pytest.raises(DiagnosticError, match=re.escape("test.mlir:") + message):
        printed(text, pipeline)


@pytest.mark.parametrize("pipeline", [TTNN_PIPELINE, _METAL_PIPELINE])
def test_pipelines_refuse_unknown_dialects(pipeline: str) -> None:
    """Those that nothing converts, too."""
    text = (
        f"func.func @f(%x: {WIDE}) -> {WIDE} {{\n"
        f'  %r = emitc.call_opaque "f"(%x) : ({WIDE}) -> {WIDE}\n  return %r : {WIDE}\n}}\n'
    )
    message = r"legalize operation 'emitc.call_opaque': convert-ttir-to-\w+ takes ttir, func and te"
    with pytest.raises(DiagnosticError, match=message):
        printed(text, pipeline)
