"""Estimates of records of 2026 that are one program on a card, and several calls of the runtime."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ttmlir
from ttmlir.cost.machine import Machine
from ttmlir.cost.times import cost_operation
from ttmlir.cost.work import MatmulConfig, Work, make_desc
from ttmlir.cost.workload import COMPUTE
from ttmlir.layout.system import board

N150 = Machine.of("n150", board("n150"))


def programs_of(text: str) -> dict[str, int]:
    """How many programs run in each call, by operation."""
    options = "enable-ttnn-decomposition-pass=false"
    compiled = ttmlir.compile(f"module {{ {text} }}", spelling="2026", options=options)
    estimate = compiled.estimate("n150")
    return {each.name: each.programs for each in estimate.operations if each.programs}


def test_a_normalization_is_one_program() -> None:
    """The runtime has means, differences, squares and products for it."""
    x, w = "tensor<96x352xbf16>", "tensor<352xbf16>"
    found = programs_of(
        f"""func.func @main(%x: {x}, %w: {w}, %b: {w}) -> {x} {{
      %0 = "ttir.layer_norm"(%x, %w, %b) <{{epsilon = 1.0e-5 : f32,
        normalized_shape = array<i64: 352>, operandSegmentSizes = array<i32: 1, 1, 1>}}>
        : ({x}, {w}, {w}) -> {x}
      return %0 : {x}
    }}"""
    )
    assert found["ttnn.layer_norm"] == 1
    assert not {"ttnn.mean", "ttnn.subtract", "ttnn.multiply", "ttnn.add"} & found.keys()


def test_attention_is_one_program() -> None:
    """Keys are not transposed, and scores do not go through DRAM."""
    q = "tensor<2x4x70x64xbf16>"
    found = programs_of(
        f"""func.func @main(%q: {q}, %k: {q}, %v: {q}) -> {q} {{
      %0 = "ttir.scaled_dot_product_attention"(%q, %k, %v) <{{is_causal = false,
        scale = 0.125 : f32, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}}>
        : ({q}, {q}, {q}) -> {q}
      return %0 : {q}
    }}"""
    )
    found.pop("ttnn.to_layout", None)
    assert found == {"ttnn.scaled_dot_product_attention": 1}


def test_a_bias_and_an_activation_take_time() -> None:
    """They are part of the product's program, and not free: gelu takes the vector unit longest."""

    def cycles(bias: bool, activation: str) -> float:
        a, b, c = make_desc((256, 512)), make_desc((512, 1024)), make_desc((256, 1024))
        operands = (a, b, make_desc((1024,))) if bias else (a, b)
        matmul = MatmulConfig(activation=activation)
        work = Work(mnemonic="matmul", operands=operands, output=c, matmul=matmul)
        [program] = cost_operation(N150, work).programs
        return program.cycles.mid

    assert cycles(False, "") < cycles(True, "") < cycles(True, "gelu")


def test_functions_of_operands_take_time() -> None:
    """silu(a) * b takes as many cycles of the vector unit more as silu takes, 1387 a tile."""
    desc = make_desc((2048, 32))
    plain, gated = (
        cost_operation(
            N150,
            Work(mnemonic="multiply", operands=(desc, desc), output=desc, activations=functions),
        ).programs[0]
        for functions in ((), ("silu",))
    )
    [before], [after] = (
        [stage.cycles for stage in each.compute if stage.kind == COMPUTE] for each in (plain, gated)
    )
    assert after - before == pytest.approx(1387, rel=0.05)


def test_a_mask_of_attention_takes_time() -> None:
    """Its tiles are read, and added to the scores."""
    q, mask = make_desc((2, 4, 256, 64)), make_desc((2, 1, 256, 256))
    without, masked = (
        cost_operation(
            N150, Work(mnemonic="scaled_dot_product_attention", operands=operands, output=q)
        ).programs[0]
        for operands in ((q, q, q), (q, q, q, mask))
    )
    assert masked.cycles.mid > without.cycles.mid


def test_products_of_jax_have_their_bias() -> None:
    """A dense layer with gelu is one program of 2026, and its numbers are those of JAX."""

    def layer(x: jax.Array, w: jax.Array, b: jax.Array) -> jax.Array:
        return jax.nn.silu(x @ w + b)

    x, w, b = jnp.ones((70, 96)), jnp.full((96, 33), 0.01), jnp.arange(33.0)
    compiled = ttmlir.compile(layer, x, w, b, spelling="2026")
    np.testing.assert_allclose(compiled(x, w, b), layer(x, w, b), rtol=1e-6)
    rows = [each for each in compiled.estimate("n150").operations if each.programs]
    assert [each.programs for each in rows if each.name == "ttnn.matmul"] == [1]
    assert not [each for each in rows if each.name == "ttnn.add"]


def test_decoded_attention_reads_keys_once() -> None:
    """Heads that share keys take them from one core; the library's other program has each read
    them. 8 sequences of 2 groups and 512 positions have 4 MiB of keys and values of bfloat16."""
    q, k = "tensor<8x8x1x128xbf16>", "tensor<8x2x512x128xbf16>"
    text = f"""module {{ func.func @main(%q: {q}, %k: {k}, %v: {k}) -> {q} {{
      %0 = "ttir.scaled_dot_product_attention"(%q, %k, %v) <{{is_causal = false,
        scale = 0.125 : f32, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}}>
        : ({q}, {k}, {k}) -> {q}
      return %0 : {q}
    }} }}"""
    rows = {
        level: next(
            each
            for each in ttmlir.compile(
                text, spelling="2026", optimization_level=level, options=options
            )
            .estimate("n150")
            .operations
            if each.programs and "attention" in each.name
        )
        for level, options in ((0, "enable-ttnn-decomposition-pass=false"), (3, ""))
    }
    assert 1 << 22 < rows[3].bytes < 1.3 * (1 << 22) < rows[0].bytes
    assert rows[3].time.mid < rows[0].time.mid


def test_a_rotation_is_one_program() -> None:
    """Halves, a change of sign, products and a sum."""
    x, c, part = "tensor<1x4x64x64xbf16>", "tensor<1x1x64x64xbf16>", "tensor<1x4x64x32xbf16>"

    def half(begin: int) -> str:
        return f"""<{{begins = [0 : i32, 0 : i32, 0 : i32, {begin} : i32],
          ends = [1 : i32, 4 : i32, 64 : i32, {begin + 32} : i32],
          step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}}> : ({x}) -> {part}"""

    text = f"""module {{ func.func @main(%x: {x}, %c: {c}, %s: {c}) -> {x} {{
      %0 = "ttir.slice_static"(%x) {half(0)}
      %1 = "ttir.slice_static"(%x) {half(32)}
      %2 = "ttir.neg"(%1) : ({part}) -> {part}
      %3 = "ttir.concat"(%2, %0) <{{dim = 3 : si32}}> : ({part}, {part}) -> {x}
      %4 = "ttir.multiply"(%x, %c) : ({x}, {c}) -> {x}
      %5 = "ttir.multiply"(%3, %s) : ({x}, {c}) -> {x}
      %6 = "ttir.add"(%4, %5) : ({x}, {x}) -> {x}
      return %6 : {x}
    }} }}"""
    compiled = ttmlir.compile(text, spelling="2026", optimization_level=3)
    found = {each.name: each.programs for each in compiled.estimate("n150").operations}
    assert found["ttnn.rotary_embedding"] == 1
    assert not {"ttnn.neg", "ttnn.concat", "ttnn.multiply", "ttnn.add"} & found.keys()
