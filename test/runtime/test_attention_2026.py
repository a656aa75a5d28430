"""Records of attention in files of 2026, against torch."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import torch
from running.randomness import TestGenerator
from torch.nn import functional

import ttmlir

_ATTENDS = "scaled_dot_product_attention"
OPTIONS = "enable-ttnn-decomposition-pass=false"
RANDOM = TestGenerator(__name__)


def run(body: str, *arrays: np.ndarray) -> list[np.ndarray]:
    """The results of a function of ttir of 2026; `body` is all but the module."""
    compiled = ttmlir.compile(f"module {{ {body} }}", spelling="2026", options=OPTIONS)
    found = compiled(*arrays)
    return [np.asarray(each) for each in (found if isinstance(found, (tuple, list)) else [found])]


def normal(*shape: int) -> np.ndarray:
    """Random numbers."""
    return RANDOM.normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("kind", ["plain", "causal", "masked", "grouped"])
def test_attention_is_that_of_torch(kind: str) -> None:
    """Without a mask, with one of its own or of the arguments, and with shared heads of keys."""
    groups, rows, positions = (2 if kind == "grouped" else 6), 37, (37 if kind == "causal" else 45)
    q, k, v = normal(3, 6, rows, 64), *(normal(3, groups, positions, 64) for _ in range(2))
    mask = normal(3, 1, rows, positions)
    types = [f"tensor<{'x'.join(map(str, each.shape))}xf32>" for each in (q, k, v, mask)]
    given, segments = (", %m", "1, 1, 1, 1, 0") if kind == "masked" else ("", "1, 1, 1, 0, 0")
    used = types if kind == "masked" else types[:3]
    causal = str(kind == "causal").lower()
    last = f", %m: {types[3]}" if kind == "masked" else ""
    text = f"""
    func.func @main(%q: {types[0]}, %k: {types[1]}, %v: {types[2]}{last}) -> {types[0]} {{
      %0 = "ttir.scaled_dot_product_attention"(%q, %k, %v{given}) <{{is_causal = {causal},
        scale = 0.2 : f32, operandSegmentSizes = array<i32: {segments}>}}>
        : ({", ".join(used)}) -> {types[0]}
      return %0 : {types[0]}
    }}"""
    arrays = (q, k, v, mask) if kind == "masked" else (q, k, v)
    [found] = run(text, *arrays)
    expected = functional.scaled_dot_product_attention(
        *map(torch.from_numpy, (q, k, v)),
        attn_mask=torch.from_numpy(mask) if kind == "masked" else None,
        is_causal=kind == "causal",
        scale=0.2,
        enable_gqa=kind == "grouped",
    )
    np.testing.assert_allclose(found, expected, atol=2e-6)


def test_attention_of_one_position_is_decoded() -> None:
    """Heads of a sequence share tiles, and a mask is repeated for them; tables rotate queries."""
    users, heads, groups, positions, size = 32, 4, 2, 96, 64
    x, k, v = normal(users, heads * size), *(normal(users, groups, positions, size),) * 2
    cos, sin = (normal(users, 1, 1, size) for _ in range(2))
    mask = np.where(RANDOM.random((users, 1, 1, positions)) < 0.5, -np.inf, 0).astype(np.float32)
    mask[..., 0] = 0
    arrays = [torch.from_numpy(each).bfloat16() for each in (x, k, v, cos, sin, mask)]
    rows, half = f"{users}x{heads}x1", size // 2
    q, part = f"tensor<{rows}x{size}xbf16>", f"tensor<{rows}x{half}xbf16>"
    cache, table = (
        f"tensor<{users}x{groups}x{positions}x{size}xbf16>",
        f"tensor<{users}x1x1x64xbf16>",
    )

    def half_of(begin: int) -> str:
        return f"""<{{begins = [0 : i32, 0 : i32, 0 : i32, {begin} : i32],
          ends = [{users} : i32, {heads} : i32, 1 : i32, {begin + half} : i32],
          step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}}> : ({q}) -> {part}"""

    text = f"""
    func.func @main(%x: tensor<{users}x{heads * size}xbf16>, %k: {cache}, %v: {cache},
        %cos: {table}, %sin: {table}, %m: tensor<{users}x1x1x{positions}xbf16>)
        -> tensor<{users}x{heads * size}xbf16> {{
      %0 = "ttir.reshape"(%x) <{{shape = [{users} : i32, {heads} : i32, 1 : i32, {size} : i32]}}>
        : (tensor<{users}x{heads * size}xbf16>) -> {q}
      %1 = "ttir.slice_static"(%0) {half_of(0)}
      %2 = "ttir.slice_static"(%0) {half_of(half)}
      %3 = "ttir.neg"(%2) : ({part}) -> {part}
      %4 = "ttir.concat"(%3, %1) <{{dim = 3 : si32}}> : ({part}, {part}) -> {q}
      %5 = "ttir.multiply"(%0, %cos) : ({q}, {table}) -> {q}
      %6 = "ttir.multiply"(%4, %sin) : ({q}, {table}) -> {q}
      %7 = "ttir.add"(%5, %6) : ({q}, {q}) -> {q}
      %8 = "ttir.scaled_dot_product_attention"(%7, %k, %v, %m) <{{is_causal = false,
        scale = 0.125 : f32, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}}>
        : ({q}, {cache}, {cache}, tensor<{users}x1x1x{positions}xbf16>) -> {q}
      %9 = "ttir.abs"(%8) : ({q}) -> {q}
      %10 = "ttir.reshape"(%9) <{{shape = [{users} : i32, {heads * size} : i32]}}>
        : ({q}) -> tensor<{users}x{heads * size}xbf16>
      return %10 : tensor<{users}x{heads * size}xbf16>
    }}"""
    compiled = ttmlir.compile(f"module {{ {text} }}", spelling="2026", optimization_level=3)
    found = compiled.text("ttnn")
    for name in ("rotary_embedding", "scaled_dot_product_attention_decode"):
        assert f'"ttnn.{name}"' in found
    given = (each.float().numpy().astype(ml_dtypes.bfloat16) for each in arrays)
    result = np.asarray(compiled(*given)).astype(np.float32)
    wide = [each.float() for each in arrays]
    query = wide[0].unflatten(1, (heads, 1, size))
    first, second = query.chunk(2, -1)
    turned = query * wide[3] + torch.cat([-second, first], -1) * wide[4]
    expected = functional.scaled_dot_product_attention(
        *(turned.bfloat16().float(), wide[1], wide[2]),
        attn_mask=wide[5],
        scale=0.125,
        enable_gqa=True,
    )
    # Results have 8 bits of mantissa.
    np.testing.assert_allclose(result, expected.flatten(1).abs(), rtol=2**-7, atol=2**-7)


@pytest.mark.parametrize("paged", [False, True])
def test_positions_say_which_keys_count(paged: bool) -> None:
    """Caches of three sequences, whole or in pages that a table names."""
    users, heads, groups, size, page, count = 3, 4, 2, 64, 32, 3
    positions = page * count
    q, k, v = normal(1, users, heads, size), *(normal(users, groups, positions, size),) * 2
    last = np.array([0, 40, 95], np.int32)
    table = np.array([[5, 1, 9], [2, 7, 0], [8, 3, 4]], np.int32)

    def in_pages(cache: np.ndarray) -> np.ndarray:
        pages = np.zeros((11, groups, page, size), np.float32)
        parts = cache.reshape(users, groups, count, page, size).swapaxes(1, 2)
        pages[table] = parts
        return pages

    arrays = [q, *map(in_pages, (k, v)), table, last] if paged else [q, k, v, last]
    kinds = {"f": "f32", "i": "i32"}
    types = [
        f"tensor<{'x'.join(map(str, each.shape))}x{kinds[each.dtype.kind]}>" for each in arrays
    ]
    given = [f"%a{number}: {each}" for number, each in enumerate(types)]
    if paged:
        name, flags = "paged_scaled_dot_product_attention_decode", 'has_cur_pos_tensor = "True", '
    else:
        name, flags = "scaled_dot_product_attention_decode", ""
    text = f"""
    func.func @main({", ".join(given)}) -> {types[0]} {{
      %0 = stablehlo.custom_call @tt.{name}({", ".join(each[:3] for each in given)})
        {{mhlo.frontend_attributes = {{{flags}is_causal = "True", scale = "0.125"}}}}
        : ({", ".join(types)}) -> {types[0]}
      return %0 : {types[0]}
    }}"""
    compiled = ttmlir.compile(f"module {{ {text} }}", spelling="2026", options=OPTIONS)
    assert f'"ttnn.{name}"' in compiled.text("ttnn")
    assert '"ttnn.embedding"' not in compiled.text("ttnn")
    mask = np.where(np.arange(positions) > last[:, None, None, None], -np.inf, 0)
    expected = functional.scaled_dot_product_attention(
        torch.from_numpy(q).movedim(0, 2),
        *map(torch.from_numpy, (k, v)),
        attn_mask=torch.from_numpy(mask.astype(np.float32)),
        scale=0.125,
        enable_gqa=True,
    )
    found = np.asarray(compiled(*arrays))
    np.testing.assert_allclose(found, expected.movedim(2, 0), atol=2e-6)
    read = sum(each.bytes for each in compiled.estimate("n150").operations if _ATTENDS in each.name)
    # Both caches are read once, beside the queries and the result, whose few heads fill tiles.
    assert read == 2 * k.nbytes + 2 * users * groups * 32 * size * 4
