"""The text of StableHLO's operations is what jaxlib prints, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from oracles.stablehlo_oracle import reprinted
from samples.jax_corpus import CORPUS, lowered

from ttmlir.dialects import DIALECTS
from ttmlir.mlir.context import make_context
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import file_location, name_location
from ttmlir.mlir.verifier import verify_module

EVERY_OPERATION = Path(__file__).parent / "Inputs" / "every_operation.mlir"
SHARDED = """
module attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=1]>
  func.func public @main(%arg0: tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> (tensor<4x3xf32> {jax.result_info = "result"}) {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {?}]> : tensor<4x3xf32>
    %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg1: tensor<2x3xf32>) {
      %2 = "stablehlo.all_reduce"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
        %3 = stablehlo.add %arg2, %arg3 : tensor<f32>
        stablehlo.return %3 : tensor<f32>
      }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
      sdy.return %2 : tensor<2x3xf32>
    } : (tensor<4x3xf32>) -> tensor<4x3xf32>
    sdy.sharding_group %1 group_id=3 : tensor<4x3xf32>
    return %1 : tensor<4x3xf32>
  }
}
"""  # noqa: E501 (the text is what JAX prints)


def ours(text: str, *, generic: bool = False, debuginfo: bool = False) -> str:
    """What we print after reading and verifying a module."""
    module = parse_module(text, "input.mlir", make_context(DIALECTS))
    assert not verify_module(module)
    return print_module(module, generic=generic, debuginfo=debuginfo).rstrip()


@pytest.mark.parametrize("text", [EVERY_OPERATION.read_text(), SHARDED], ids=["every", "sharded"])
def test_both_forms_are_read_and_printed_as_jaxlib_does(text: str) -> None:
    """From either form to either form."""
    pretty, generic = reprinted(text).rstrip(), reprinted(text, generic=True).rstrip()
    assert ours(text, generic=True) == generic
    assert ours(text) == pretty
    assert ours(generic) == pretty
    assert ours(pretty) == pretty
    assert ours(pretty, generic=True) == reprinted(pretty, generic=True).rstrip()


SCAN = """
func.func @f(%x: tensor<2x3xf32>, %carry: tensor<3xf32>) {
  %0:2 = "chlo.scan"(%x, %carry) <{operandSegmentSizes = array<i32: 1, 1>,
      resultSegmentSizes = array<i32: 1, 1>, dimension = 0 : i64, is_associative = true}> ({
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
    stablehlo.return %a, %b : tensor<3xf32>, tensor<3xf32>
  }) : (tensor<2x3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>)
  return
}
"""


def test_scans_are_read_and_printed_in_the_generic_form() -> None:
    """With their region, whatever it is that they fold."""
    assert ours(SCAN, generic=True) == reprinted(SCAN, generic=True).rstrip()


@pytest.mark.parametrize("name", CORPUS)
def test_programs_keep_the_text_that_jax_prints(name: str) -> None:
    """The pretty and the generic form are those of jaxlib; it reads what we print with places."""
    text = lowered(name).as_text()
    assert ours(text) == text.rstrip()
    assert ours(text, generic=True) == reprinted(text, generic=True).rstrip()
    with_places = ours(lowered(name).as_text(debug_info=True), debuginfo=True)
    assert reprinted(with_places).rstrip() == text.rstrip()


@pytest.mark.parametrize(
    "operation",
    [
        "stablehlo.optimization_barrier {t.x = 1 : i32}()",
        "stablehlo.optimization_barrier()",
        "%0 = stablehlo.optimization_barrier {t.x} %a : tensor<2xf32>",
        "%0:2 = stablehlo.optimization_barrier %a, %a : tensor<2xf32>, tensor<2xf32>",
    ],
)
def test_barriers_keep_their_attributes(operation: str) -> None:
    """With operands and without."""
    text = f"func.func @f(%a: tensor<2xf32>) {{\n  {operation}\n  return\n}}\n"
    module = parse_module(text, "input.mlir", make_context(DIALECTS))
    assert print_module(module).strip() == reprinted(text).strip()


@pytest.mark.parametrize("function", ["add", "and", "maximum", "minimum", "multiply", "or", "xor"])
def test_places_of_reductions(function: str) -> None:
    """A location after the short form is that of all it stands for; else its operands have it."""
    types = "(tensor<2x3xi1>, tensor<i1>) -> tensor<2xi1>"
    short = f"stablehlo.reduce(%a init: %s) applies stablehlo.{function} across dimensions = [1]"
    text = (
        "func.func @f(%a: tensor<2x3xi1>, %s: tensor<i1>) -> tensor<2xi1> {\n"
        f'  %0 = {short} : {types} loc("here")\n'
        f"  %1 = {short} : {types} loc(#there)\n"
        f"  %2 = {short} : {types}\n"
        '  return %2 : tensor<2xi1> loc("end")\n}\n#there = loc("other.mlir":3:4)\n'
    )
    module = parse_module(text, "input.mlir", make_context(DIALECTS))
    places = [(op.name, op.location) for op in module.walk()][2:]
    names = ["stablehlo.reduce", f"stablehlo.{function}", "stablehlo.return"]
    other, own = file_location("other.mlir", 3, 4), file_location("input.mlir", 4, 24)
    expected = [(name, place) for place in (name_location("here"), other, own) for name in names]
    assert places == [*expected, ("func.return", name_location("end"))]
