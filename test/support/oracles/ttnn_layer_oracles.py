"""What ttnn's products, normalisations, losses, windows, heads and caches mean, in torch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from oracles.ttnn_oracle import PLAIN_FLOATS, SHARDABLE, Oracle, Shape, draw
from torch.nn import functional

from ttmlir import ttnn

Call = Callable[..., Any]
_TILES = ("TILE_LAYOUT",)
_SUMS = 8.0
"""Roundings that a sum of products may be away: the accumulator has 32 bits."""


def _drawn(*shapes: Shape, low: float = -2, high: float = 2) -> list[torch.Tensor]:
    return [draw(shape, low, high, seed) for seed, shape in enumerate(shapes)]


def _product(expected: Call, call: Call | None = None, more: tuple[Shape, ...] = ()) -> Oracle:
    """A product of a matrix, a second one of 5 columns, and operands of shapes of their own."""
    return Oracle(
        expected,
        lambda shape: _drawn(shape, (shape[-1], 5), *more),
        call,
        shapes=(SHARDABLE, (33, 70), (3, 33, 70), (1, 2, 5, 31)),
        layouts=_TILES,
        memory=ttnn.DRAM_MEMORY_CONFIG,
        room=_SUMS,
    )


PRODUCTS: dict[str, Oracle] = {
    "addmm": Oracle(
        lambda x, a, b: torch.addmm(x, a, b, beta=0.5, alpha=2.0),
        lambda shape: _drawn((shape[0], 5), shape, (shape[1], 5)),
        lambda f, *given: f(*given, beta=0.5, alpha=2.0),
        shapes=((33, 70), (64, 96), (1, 31)),
        layouts=_TILES,
        memory=ttnn.DRAM_MEMORY_CONFIG,
        room=_SUMS,
    ),
    "linear": _product(
        lambda a, b, c: torch.relu(a @ b + c),
        lambda f, a, b, c: f(a, b, bias=c, activation="relu"),
        more=((1, 5),),
    ),
    "matmul": _product(torch.matmul),
}

_ROWS: Any = {"shapes": (SHARDABLE, (33, 70), (3, 33, 70), (1, 2, 5, 31)), "room": _SUMS}


_TILED: Any = {**_ROWS, "layouts": ("TILE_LAYOUT",)}


def _masked(shape: Shape) -> list[torch.Tensor]:
    return _drawn(shape, (1,) * (len(shape) - 2) + shape[-2:])


def _scaled_softmax(**facts: Any) -> Oracle:
    return Oracle(
        lambda x, mask: torch.softmax(0.5 * x + mask, -1),
        _masked,
        lambda f, x, mask: f(x, 0.5, mask),
        **_TILED,
        **facts,
    )


def _normalized(x: torch.Tensor) -> torch.Tensor:
    return functional.layer_norm(x, x.shape[-1:], eps=1e-5)


def _rms(x: torch.Tensor) -> torch.Tensor:
    return x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt()


def _per_column(shape: Shape) -> list[torch.Tensor]:
    return _drawn(shape, (1, shape[-1]), (1, shape[-1]))


def _statistics(*sums: Call) -> Call:
    """Sums of rows, each in the first of 32 columns."""

    def expected(x: torch.Tensor) -> torch.Tensor:
        return torch.cat([functional.pad(one(x)[..., None], (0, 31)) for one in sums], -1)

    return expected


def _squares(x: torch.Tensor) -> torch.Tensor:
    return x.square().sum(-1)


def _before(*sums: Call) -> Oracle:
    return Oracle(
        _statistics(*sums),
        lambda shape: _drawn(shape, low=0.5),
        **{**_ROWS, "memories": ("dram", "l1")},
        result_dtypes=("bfloat16",),
        result_layout="TILE_LAYOUT",
    )


def _after(expected: Call, *sums: Call) -> Oracle:
    """Operands whose sums every type holds exactly: quarters, as many as there are."""

    def drawn(shape: Shape) -> list[torch.Tensor]:
        x = torch.arange(math.prod(shape)).reshape(shape) % 4 / 2.0 - 0.5
        return [x, _statistics(*sums)(x)]

    shapes = ((33, 64), (3, 33, 32), (1, 2, 5, 32))
    return Oracle(
        lambda x, stats: expected(x),
        drawn,
        lambda f, x, stats: f(x, stats, epsilon=1e-5),
        shapes=shapes,
        dtypes=PLAIN_FLOATS,
        room=_SUMS,
    )


def _group(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    groups = functional.group_norm(
        x.permute(0, 3, 1, 2), 2, weight.reshape(-1), bias.reshape(-1), 1e-5
    )
    return groups.permute(0, 2, 3, 1)


def _images(*others: Callable[[Shape], Shape]) -> Callable[[Shape], list[torch.Tensor]]:
    return lambda shape: _drawn(shape, *(other(shape) for other in others))


def _batch_statistics(shape: Shape) -> list[torch.Tensor]:
    channels = (1, shape[1], 1, 1)
    return [*_drawn(shape, channels), draw(channels, 0.5, 2, 2), draw(channels, -1, 1, 3)]


NORMS: dict[str, Oracle] = {
    "batch_norm": Oracle(
        lambda x, mean, var, weight: functional.batch_norm(
            x, mean.reshape(-1), var.reshape(-1), weight.reshape(-1), eps=1e-5
        ),
        _batch_statistics,
        lambda f, x, mean, var, weight: f(x, running_mean=mean, running_var=var, weight=weight),
        shapes=((2, 3, 5, 7), (1, 33, 4, 40)),
        room=_SUMS,
    ),
    "group_norm": Oracle(
        _group,
        _images(lambda s: (1, 1, 1, s[3]), lambda s: (1, 1, 1, s[3])),
        lambda f, x, weight, bias: f(x, num_groups=2, epsilon=1e-5, weight=weight, bias=bias),
        shapes=((2, 1, 35, 6), (1, 1, 64, 64)),
        room=_SUMS,
    ),
    "layer_norm": Oracle(
        lambda x, weight, bias: _normalized(x) * weight + bias,
        _per_column,
        lambda f, x, weight, bias: f(x, epsilon=1e-5, weight=weight, bias=bias),
        **_ROWS,
    ),
    "layer_norm_post_all_gather": _after(_normalized, _squares, lambda x: x.sum(-1)),
    "layer_norm_pre_all_gather": _before(_squares, lambda x: x.sum(-1)),
    "rms_norm": Oracle(
        lambda x, weight, bias: _rms(x) * weight + bias,
        _per_column,
        lambda f, x, weight, bias: f(x, epsilon=1e-5, weight=weight, bias=bias),
        **_TILED,
    ),
    "rms_norm_post_all_gather": _after(_rms, _squares),
    "rms_norm_pre_all_gather": _before(_squares),
    "scale_causal_mask_hw_dims_softmax_in_place": _scaled_softmax(writes=0),
    "scale_mask_softmax": _scaled_softmax(),
    "scale_mask_softmax_in_place": _scaled_softmax(writes=0),
    "softmax": Oracle(
        lambda x: torch.softmax(x, 0), lambda s: _drawn(s), lambda f, x: f(x, 0), **_TILED
    ),
    "softmax_in_place": Oracle(
        lambda x: torch.softmax(x, -1), lambda s: _drawn(s), **_TILED, writes=0
    ),
}


def _pair(shape: Shape) -> list[torch.Tensor]:
    return _drawn(shape, shape)


LOSSES: dict[str, Oracle] = {
    "bcast": Oracle(
        lambda a, b: a * b,
        lambda shape: _drawn(shape, (*shape[:-1], 1)),
        lambda f, a, b: f(a, b, ttnn.BcastOpMath.MUL, ttnn.BcastOpDim.W),
        shapes=((2, 3, 33, 40), (1, 2, 5, 31)),
    ),
    "l1_loss": Oracle(
        lambda a, b: functional.l1_loss(b, a, reduction="sum"),
        _pair,
        lambda f, a, b: f(a, b, reduction=ttnn.LossReductionMode.SUM),
        **_ROWS,
        result_layout="TILE_LAYOUT",
    ),
    "mse_loss": Oracle(
        lambda a, b: functional.mse_loss(b, a, reduction="mean"),
        _pair,
        lambda f, a, b: f(a, b, reduction=ttnn.LossReductionMode.MEAN),
        **_ROWS,
        result_layout="TILE_LAYOUT",
    ),
}


def _first(image: torch.Tensor) -> torch.Tensor:
    """(N, H, W, C) as torch's (N, C, H, W)."""
    return image.permute(0, 3, 1, 2)


def _flat(image: torch.Tensor) -> torch.Tensor:
    """torch's (N, C, H, W) as (1, 1, N * H * W, C)."""
    return image.permute(0, 2, 3, 1).reshape(1, 1, -1, image.shape[1])


_IMAGES = ((2, 8, 6, 3), (1, 5, 7, 4))


def _convolution(call: Call, expected: Call, weight: Callable[[Shape], Shape]) -> Oracle:
    return Oracle(
        lambda x, w: _flat(expected(_first(x), w)),
        _images(weight),
        call,
        shapes=_IMAGES,
        dtypes=PLAIN_FLOATS,
        memory=ttnn.DRAM_MEMORY_CONFIG,
        result_layout="TILE_LAYOUT",
        room=_SUMS,
    )


def _sizes(x: Any) -> dict[str, Any]:
    batch, height, width, channels = x.shape
    return {
        "batch_size": batch,
        "input_height": height,
        "input_width": width,
        "in_channels": channels,
        "device": x.device(),
    }


def _conv2d(f: Any, x: Any, w: Any) -> Any:
    return f(
        input_tensor=x,
        weight_tensor=w,
        out_channels=5,
        kernel_size=(3, 2),
        stride=(2, 1),
        padding=(1, 0),
        **_sizes(x),
    )


def _conv1d(f: Any, x: Any, w: Any) -> Any:
    return f(
        input_tensor=x,
        weight_tensor=w,
        device=x.device(),
        in_channels=x.shape[2],
        out_channels=5,
        batch_size=x.shape[0],
        input_length=x.shape[1],
        kernel_size=3,
        padding=1,
    )


def _conv_transpose2d(f: Any, x: Any, w: Any) -> Any:
    return f(
        input_tensor=x,
        weight_tensor=w,
        out_channels=5,
        kernel_size=(3, 2),
        stride=(2, 1),
        output_padding=(1, 0),
        **_sizes(x),
    )


def _pool(expected: Call, *args: Any) -> Oracle:
    """A pooling of images (N, H, W, C), with the arguments behind their extents."""

    def call(f: Any, x: Any) -> Any:
        batch, height, width, channels = x.shape
        return f(x, batch, height, width, channels, *args)

    return Oracle(
        lambda x: _flat(expected(_first(x))),
        lambda shape: _drawn(shape),
        call,
        shapes=_IMAGES,
        room=2.0,
        dtypes=PLAIN_FLOATS,
        result_layout="ROW_MAJOR_LAYOUT",
    )


def _last(image: torch.Tensor) -> torch.Tensor:
    return image.permute(0, 2, 3, 1)


WINDOWS: dict[str, Oracle] = {
    "adaptive_avg_pool2d": _pool(lambda x: functional.adaptive_avg_pool2d(x, (3, 2)), (3, 2)),
    "adaptive_max_pool2d": _pool(lambda x: functional.adaptive_max_pool2d(x, (3, 2)), (3, 2)),
    "avg_pool2d": _pool(
        lambda x: functional.avg_pool2d(x, (3, 2), (2, 1), (1, 0)), (3, 2), (2, 1), (1, 0)
    ),
    "conv1d": Oracle(
        lambda x, w: functional.conv1d(x.mT, w, padding=1).mT.reshape(1, 1, -1, 5),
        _images(lambda s: (5, s[2], 3)),
        _conv1d,
        shapes=((2, 9, 3), (1, 33, 7)),
        dtypes=PLAIN_FLOATS,
        memory=ttnn.DRAM_MEMORY_CONFIG,
        result_layout="TILE_LAYOUT",
        room=_SUMS,
    ),
    "conv2d": _convolution(
        _conv2d,
        lambda x, w: functional.conv2d(x, w, stride=(2, 1), padding=(1, 0)),
        lambda s: (5, s[3], 3, 2),
    ),
    "conv_transpose2d": _convolution(
        _conv_transpose2d,
        lambda x, w: functional.conv_transpose2d(x, w, stride=(2, 1), output_padding=(1, 0)),
        lambda s: (s[3], 5, 3, 2),
    ),
    "global_avg_pool2d": Oracle(
        lambda x: x.mean((1, 2), keepdim=True),
        shapes=_IMAGES,
        room=2.0,
        result_layout="TILE_LAYOUT",
    ),
    "grid_sample": Oracle(
        lambda x, grid: _last(functional.grid_sample(_first(x), grid, align_corners=False)),
        lambda shape: [draw(shape, -2, 2), draw((shape[0], 4, 5, 2), -1, 1, 1)],
        shapes=_IMAGES,
        room=_SUMS,
        dtypes=PLAIN_FLOATS,
    ),
    "max_pool2d": _pool(
        lambda x: functional.max_pool2d(x, (3, 2), (2, 1), (1, 0)), (3, 2), (2, 1), (1, 0), (1, 1)
    ),
    "rotate": Oracle(
        lambda x: x.rot90(2, (1, 2)), call=lambda f, x: f(x, 180.0), shapes=_IMAGES, exact=True
    ),
    "upsample": Oracle(
        lambda x: _last(functional.interpolate(_first(x), scale_factor=(2, 3))),
        call=lambda f, x: f(x, (2, 3)),
        shapes=_IMAGES,
        exact=True,
    ),
}


def _heads(x: torch.Tensor, count: int) -> list[torch.Tensor]:
    """Heads (B, heads, S, d) of query, key and value of (B, S, columns)."""
    batch, rows, _ = x.shape
    return list(x.reshape(batch, rows, 3 * count, -1).permute(0, 2, 1, 3).split(count, 1))


def _three(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> list[torch.Tensor]:
    """With turned keys."""
    return [query, key.mT, value]


_JOINED = ((2, 4, 33, 16), (1, 3, 5, 32))
_SPLIT = ((2, 1, 33, 4 * 3 * 16), (1, 1, 5, 4 * 3 * 32))


def _split(expected: Call, shapes: tuple[Shape, ...] = _SPLIT) -> Oracle:
    return Oracle(expected, call=lambda f, x: f(x, num_heads=4), shapes=shapes, exact=True)


def _join(expected: Call, **more: Any) -> Oracle:
    return Oracle(expected, call=lambda f, x: f(x, **more), shapes=_JOINED, exact=True)


def _scores(**facts: Any) -> Oracle:
    return Oracle(
        lambda x, mask: torch.softmax(x / 8 + mask, -1),
        _masked,
        lambda f, x, mask: f(x, head_size=64, attention_mask=mask),
        shapes=((2, 3, 33, 40), (1, 2, 5, 31)),
        room=_SUMS,
        **facts,
    )


def _attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)


def _one_token(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """The queries (1, B, heads, d) of one token see the first three keys."""
    query = q[0][:, :, None]
    keys, values = k[:, :, :3], v[:, :, :3]
    result = functional.scaled_dot_product_attention(query, keys, values, enable_gqa=True)
    return result[:, :, 0][None]


def _decoded(shape: Shape) -> list[torch.Tensor]:
    batch, heads, rows, size = shape
    return _drawn((1, batch, heads, size), (batch, 2, rows, size), (batch, 2, rows, size))


def _paged(shape: Shape) -> list[torch.Tensor]:
    """Pages in the order of the users, and the table that says so."""
    batch, _, rows, size = shape
    q, k, v = _decoded(shape)
    pages = [
        each.reshape(batch, 2, 2, rows // 2, size).transpose(1, 2).flatten(0, 1) for each in (k, v)
    ]
    return [q, *pages, torch.arange(2 * batch).reshape(batch, 2)]


def _unpaged(pages: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """(B, heads, S, d) of pages (pages, heads, rows, d)."""
    return torch.stack([torch.cat(list(pages[row]), 1) for row in table])


def _chunk(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    keys, values = (_unpaged(each, table) for each in (k, v))
    seen = torch.ones(q.shape[2], keys.shape[2]).tril(2).bool()
    return functional.scaled_dot_product_attention(q, keys, values, seen, enable_gqa=True)


_HEADS = ((2, 4, 12, 32), (1, 2, 6, 16))
_ATTENTION: Any = {"shapes": _HEADS, "room": 2 * _SUMS}


def _positions(count: int) -> list[int]:
    return [2] * count


def _filled(cache: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    result = cache.clone()
    result[1, :, : x.shape[2]] = x[0]
    return result


def _updated(cache: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    result = cache.clone()
    result[:, :, 2] = x[0].transpose(0, 1)
    return result


def _updated_each(cache: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    result = cache.clone()
    result[:, :, 2] = x[0]
    return result


def _filled_pages(cache: torch.Tensor, x: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    result = cache.clone()
    for page, rows in zip(table[1], x[0].split(cache.shape[2], 1), strict=False):
        result[page, :, : rows.shape[1]] = rows
    return result


_CACHES = ((2, 3, 33, 16), (3, 2, 5, 32))
_CACHE: Any = {"shapes": _CACHES, "exact": True, "writes": 0, "dtypes": PLAIN_FLOATS}
_FILL = Oracle(
    _filled,
    lambda s: _drawn(s, (1, s[1], s[2] - 2, s[3])),
    lambda f, cache, x: f(cache, x, 1),
    **_CACHE,
)
_UPDATE = Oracle(
    _updated,
    lambda s: _drawn(s, (1, s[1], s[0], s[3])),
    lambda f, cache, x: f(cache, x, 2),
    **_CACHE,
)


def _turned(x: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, -1)
    return torch.cat([-second, first], -1)


def _turned_pairs(x: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    width = matrix.shape[-1]
    return (x.unflatten(-1, (-1, width)) @ matrix[0, 0]).flatten(-2)


def _angles(shape: Shape) -> list[torch.Tensor]:
    return _drawn(shape, (1, 1, 40, shape[3]), (1, 1, 40, shape[3]))


_TURNED = ((2, 3, 33, 64), (1, 2, 5, 32))

TRANSFORMERS: dict[str, Oracle] = {
    "experimental.concatenate_heads": _join(lambda x: x.transpose(1, 2).flatten(2)[:, None]),
    "experimental.nlp_concat_heads": _join(lambda x: x.transpose(1, 2).flatten(2)[:, None]),
    "experimental.nlp_concat_heads_decode": Oracle(
        lambda x: x[:, :, :3].flatten(2)[:, None],
        call=lambda f, x: f(x, num_heads=3),
        shapes=((1, 5, 4, 16), (1, 2, 3, 32)),
        exact=True,
    ),
    "experimental.nlp_create_qkv_heads": _split(lambda x: _three(*_heads(x[:, 0], 4))),
    "experimental.nlp_create_qkv_heads_decode": _split(
        lambda x: [each.transpose(1, 2) for each in _heads(x[0], 4)],
        ((1, 1, 33, 4 * 3 * 16), (1, 1, 5, 4 * 3 * 32)),
    ),
    "experimental.paged_fill_cache": Oracle(
        _filled_pages,
        lambda s: [*_drawn(s, (1, s[1], s[2] + 2, s[3])), torch.tensor([[0, 0], [1, 0]])],
        lambda f, cache, x, table: f(cache, x, table, batch_idx=1),
        **_CACHE,
    ),
    "experimental.paged_update_cache": Oracle(
        _updated_each,
        lambda s: _drawn(s, (1, s[0], s[1], s[3])),
        lambda f, cache, x: f(cache, x, update_idxs=_positions(cache.shape[0])),
        **_CACHE,
    ),
    "experimental.rotary_embedding": Oracle(
        lambda x, cos, sin: x * cos[..., : x.shape[2], :] + _turned(x) * sin[..., : x.shape[2], :],
        _angles,
        shapes=_TURNED,
    ),
    "experimental.rotary_embedding_llama": Oracle(
        lambda x, cos, sin, matrix: (
            x * cos[..., : x.shape[2], :] + _turned_pairs(x, matrix) * sin[..., : x.shape[2], :]
        ),
        lambda s: [*_angles(s), draw((1, 1, 32, 32), -1, 1, 9)],
        shapes=_TURNED,
        room=_SUMS,
    ),
    "experimental.rotate_half": Oracle(_turned, shapes=_TURNED, exact=True),
    "experimental.split_query_key_value_and_split_heads": _split(
        lambda x: _three(*_heads(x[:, 0], 4))
    ),
    "fill_cache": _FILL,
    "kv_cache.fill_cache_for_user_": _FILL,
    "kv_cache.update_cache_for_token_": _UPDATE,
    "transformer.attention_softmax": _scores(),
    "transformer.attention_softmax_": _scores(writes=0),
    "transformer.chunked_scaled_dot_product_attention": Oracle(
        _chunk,
        lambda s: [draw((s[0], s[1], 4, s[3]), -2, 2, 7), *_paged(s)[1:]],
        lambda f, *given: f(*given, 2),
        **_ATTENTION,
    ),
    "transformer.concatenate_heads": _join(lambda x: x.transpose(1, 2).flatten(2)),
    "transformer.paged_scaled_dot_product_attention_decode": Oracle(
        lambda q, k, v, table: _one_token(q, _unpaged(k, table), _unpaged(v, table)),
        _paged,
        lambda f, q, *given: f(q, *given, cur_pos=_positions(q.shape[1])),
        **_ATTENTION,
    ),
    "transformer.scaled_dot_product_attention": Oracle(
        _attention,
        lambda s: _drawn(s, (s[0], 2, *s[2:]), (s[0], 2, *s[2:])),
        **_ATTENTION,
        memory=ttnn.DRAM_MEMORY_CONFIG,
    ),
    "transformer.scaled_dot_product_attention_decode": Oracle(
        _one_token,
        _decoded,
        lambda f, q, k, v: f(q, k, v, cur_pos=_positions(q.shape[1])),
        **_ATTENTION,
    ),
    "transformer.split_query_key_value_and_split_heads": _split(
        lambda x: _three(*_heads(x, 4)), ((2, 33, 4 * 3 * 16), (1, 5, 4 * 3 * 32))
    ),
    "update_cache": _UPDATE,
}

LAYERS = {**PRODUCTS, **NORMS, **LOSSES, **WINDOWS, **TRANSFORMERS}
