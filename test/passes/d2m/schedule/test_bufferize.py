"""Memrefs hold what the tensors did: copies are made where a buffer is still needed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from running.pass_runner import lowered, printed

from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.runtime import read_binary
from ttmlir.runtime.metal_program import MetalBinary
from ttmlir.runtime.metal_session import execute
from ttmlir.sim.options import SimOptions
from ttmlir.target.flatbuffer.ttmetal import ttmetal_to_flatbuffer

Array = np.ndarray[Any, Any]
PASS = "ttcore-one-shot-bufferize"
REST = (
    "ttir-load-system-desc",
    PASS,
    "d2m-insert-scratch-buffers",
    "d2m-grid-selection",
    "d2m-allocate",
    "convert-d2m-to-ttkernel",
    "convert-d2m-to-ttmetal",
)
HEAD = """
#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32,
    collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
!tile = !ttcore.tile<32x32, f32>
!host = tensor<64x96xf32>
!tensor = tensor<1x1x2x3x!tile, #layout>
!shard = tensor<2x3x!tile>
"""


def loop(name: str, body: str, ins: str, outs: str) -> str:
    """A loop over all tiles of a shard."""
    return f"""
    {name} = linalg.generic {{indexing_maps = [#map, #map],
        iterator_types = ["parallel", "parallel"]}} ins({ins} : !shard) outs({outs} : !shard) {{
    ^bb0(%t: !tile, %u: !tile):
      %v = "d2m.tile_{body}"(%t) : (!tile) -> !tile
      linalg.yield %v : !tile
    }} -> !shard"""


def generic(name: str, source: str, target: str, *loops: str, results: str = "%r") -> str:
    """A generic on whole tensors; its shards are `%i` and `%o`."""
    return f"""
  {name} = d2m.generic {{block_factors = [1, 1], grid = #ttcore.grid<1x1>,
      indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel],
      threads = [#d2m.thread<compute>]}} ins({source} : !tensor) outs({target} : !tensor) {{
  ^compute0(%cb0: !d2m.cb<!shard>, %cb1: !d2m.cb<!shard>):
    %i = d2m.wait %cb0 : !d2m.cb<!shard> -> !shard
    %o = d2m.reserve %cb1 : !d2m.cb<!shard> -> !shard{"".join(loops)}
    d2m.yield {results} : (!shard)
  }} : !tensor"""


def negative(name: str, source: str, target: str) -> str:
    """A generic that changes the sign."""
    return generic(name, source, target, loop("%r", "negative", "%i", "%o"))


def function(*lines: str, results: str) -> str:
    """A function of an argument, which is `%x` on the device; device tensors are returned."""
    values = results.split(", ")
    unloads = "".join(
        f"""
  %e{n} = tensor.empty() : !host
  %h{n} = d2m.to_layout {value}, %e{n} : !tensor into !host hostInfo = #layout -> !host"""
        for n, value in enumerate(values)
    )
    hosts = ", ".join(f"%h{n}" for n in range(len(values)))
    types = ", ".join(["!host"] * len(values))
    return f"""{HEAD}
func.func @f(%arg0: !host) -> ({types}) {{
  %e = d2m.empty() : !tensor
  %x = d2m.to_layout %arg0, %e : !host into !tensor -> !tensor{"".join(lines)}{unloads}
  return {hosts} : {types}
}}
"""


def run(text: str) -> tuple[Array, list[Array]]:
    """The argument, and what the program makes of it."""
    binary = read_binary(ttmetal_to_flatbuffer(lowered(text, *REST)), "test.ttm")
    assert isinstance(binary, MetalBinary)
    x = (np.random.default_rng(3).integers(-64, 65, (64, 96)) / 64).astype(np.float32)
    return x, execute(binary.metal_programs[0], [x], SimOptions(numerics="exact")).outputs


def generics_in(text: str) -> int:
    """How many generics the pass leaves, copies among them."""
    return printed(text, PASS).count("d2m.generic")


EMPTY = "\n  %y = d2m.empty() : !tensor"


def test_in_place() -> None:
    """A tensor that nobody needs later is written to in place."""
    text = function(EMPTY, negative("%a", "%x", "%y"), negative("%b", "%x", "%a"), results="%b")
    assert generics_in(text) == 2
    x, [result] = run(text)
    np.testing.assert_array_equal(result, -x)


def test_copy_of_what_is_returned() -> None:
    """The first result is returned, so the second one is written to a copy."""
    text = function(
        EMPTY,
        generic("%a", "%x", "%y", loop("%r", "abs", "%i", "%o")),
        negative("%b", "%x", "%a"),
        results="%a, %b",
    )
    assert generics_in(text) == 3
    x, [first, second] = run(text)
    np.testing.assert_array_equal(first, np.abs(x))
    np.testing.assert_array_equal(second, -x)


def test_copy_of_what_is_read_at_once() -> None:
    """A tensor that is read and written by one generic."""
    text = function(negative("%a", "%x", "%x"), results="%a")
    assert generics_in(text) == 2
    x, [result] = run(text)
    np.testing.assert_array_equal(result, -x)


def test_one_empty_tensor_for_two() -> None:
    """Results of two operations on the same empty tensor have memory of their own."""
    text = function(
        EMPTY,
        generic("%a", "%x", "%y", loop("%r", "abs", "%i", "%o")),
        negative("%b", "%x", "%y"),
        results="%a, %b",
    )
    assert generics_in(text) == 2
    x, [first, second] = run(text)
    np.testing.assert_array_equal(first, np.abs(x))
    np.testing.assert_array_equal(second, -x)


def test_local_memory() -> None:
    """What a region computes on the way is local; what it yields is the output's shard."""
    text = function(
        EMPTY,
        generic(
            "%a",
            "%x",
            "%y",
            "\n    %l = tensor.empty() : !shard",
            loop("%m", "abs", "%i", "%l"),
            # The empty tensor again, and a result that goes there.
            loop("%r", "negative", "%m", "%l"),
        ),
        results="%a",
    )
    body = printed(text, PASS)
    assert body.count("memref.alloc() : memref<2x3x!ttcore.tile<32x32, f32>, #l1>") == 1
    x, [result] = run(text)
    np.testing.assert_array_equal(result, -np.abs(x))


def test_shard_that_is_yielded_as_it_is() -> None:
    """An input that is yielded is copied to the output."""
    text = function(EMPTY, generic("%a", "%x", "%y", results="%i"), results="%a")
    x, [result] = run(text)
    np.testing.assert_array_equal(result, x)


def test_foreign_operations() -> None:
    """Operations on tensors of other dialects are refused, with what there is to do."""
    text = "func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
    text += "  %0 = stablehlo.add %a, %a : tensor<2xf32>\n  return %0 : tensor<2xf32>\n}"
    with pytest.raises(DiagnosticError) as refused:
        lowered(text, PASS)
    assert str(refused.value) == (
        "test.mlir:2:8: error: 'stablehlo.add' op ttcore-one-shot-bufferize has no memrefs for its "
        "tensors; it takes d2m.empty, to_layout, view_layout and generic, tensor.empty, "
        "arith.constant and func.return. Run ttir-to-d2m before"
    )
