"""What ttnn's reductions, orders, look-ups and moves mean, in torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from oracles.ttnn_oracle import (
    FLOATS,
    INTEGERS,
    PLAIN_FLOATS,
    Oracle,
    Shape,
    between,
    draw,
    draw_integers,
    draw_whole,
)

from ttmlir import ttnn

Call = Callable[..., Any]
MATRICES = ((2, 96, 192), (33, 70), (3, 33, 70), (1, 2, 5, 31))
TYPES = ("bfloat16", "float32", "bfloat8_b")


def _wholes(dtype: str, shape: Shape) -> list[torch.Tensor]:
    return [draw_whole(dtype, shape)]


def _small(dtype: str, shape: Shape) -> list[torch.Tensor]:
    return [draw_integers(shape, -9 if dtype == "int32" else 0, 9)]


def _reduction(
    function: Call,
    *,
    dim: Any = -1,
    integers: Any = (),
    result_layout: str | None = None,
    integers_in_tiles: bool = False,
    **more: Any,
) -> Oracle:
    """A reduction along dimensions, which stay with extent 1."""
    return Oracle(
        lambda x: function(x, dim),
        between((-2, 3)),
        lambda operation, x: operation(x, dim, True, **more),
        shapes=MATRICES,
        integers=integers,
        draw_integers=_small,
        result_layout=result_layout,
        integers_in_tiles=integers_in_tiles,
    )


_TILES: dict[str, Any] = {"result_layout": "TILE_LAYOUT"}


def _flat(function: Call) -> Call:
    """A function of torch along one dimension, along two."""
    return lambda x, dim: function(x.flatten(-2), -1)[..., None, None]


def _distinct(shape: Shape) -> list[torch.Tensor]:
    """Numbers of which no two are equal, exact in bfloat16 along the last dimension."""
    order = np.random.default_rng(0)
    rows = [order.permutation(shape[-1]) for _ in range(int(np.prod(shape[:-1])))]
    return [torch.as_tensor(np.array(rows).reshape(shape) - 30.0)]


REDUCTIONS: dict[str, Oracle] = {
    "argmax": Oracle(
        lambda x: x.argmax(-1),
        _distinct,
        lambda operation, x: operation(x, dim=-1),
        dtypes=("float32",),
        shapes=((33, 70), (7,), (3, 33, 70), (1, 2, 5, 31)),
        result_dtypes=("uint32",),
        result_layout="ROW_MAJOR_LAYOUT",
    ),
    "cumprod": Oracle(
        lambda x: x.cumprod(0), between((0.9, 1.1)), lambda operation, x: operation(x, 0)
    ),
    "cumsum": Oracle(
        lambda x: x.cumsum(-1),
        between((0, 2)),
        lambda operation, x: operation(x, -1),
        integers=("int32",),
        draw_integers=_small,
    ),
    "max": _reduction(
        lambda x, dim: x.amax(dim, True), dim=(-1, -2), integers=("int32",), **_TILES
    ),
    "mean": _reduction(lambda x, dim: x.mean(dim, True)),
    "min": _reduction(lambda x, dim: x.amin(dim, True), dim=0, integers=("int32",), **_TILES),
    "prod": Oracle(
        lambda x: x.prod(-1, True),
        between((0.95, 1.06)),
        lambda operation, x: operation(x, -1, True),
        shapes=MATRICES,
        **_TILES,
    ),
    "std": _reduction(lambda x, dim: x.std(dim, keepdim=True), dim=(-2, -1), **_TILES),
    "sum": _reduction(lambda x, dim: x.sum(dim, True), integers=("int32",), integers_in_tiles=True),
    "var": _reduction(
        lambda x, dim: x.var(dim, keepdim=True, correction=0), dim=-2, correction=False, **_TILES
    ),
}


_ROWS = ((33, 70), (7,), (3, 33, 70), (2, 96, 192))

ORDER: dict[str, Oracle] = {
    "index_fill": Oracle(
        lambda x, index: x.index_fill(-2, index, 3.0),
        lambda shape: [draw(shape, -4, 4), torch.tensor([0, 4, 2])],
        lambda operation, x, index: operation(x, -2, index, 3.0),
        shapes=MATRICES,
        exact=True,
    ),
    "plus_one": Oracle(
        lambda x: x + 1,
        dtypes=(),
        integers=INTEGERS,
        draw_integers=_wholes,
        writes=0,
    ),
    "sort": Oracle(
        lambda x: list(x.sort(-1, descending=True)),
        _distinct,
        lambda operation, x: operation(x, -1, True),
        shapes=_ROWS,
        dtypes=PLAIN_FLOATS,
        exact=True,
        result_dtypes=(None, "uint16"),
        results_of={"float32": (None, "uint32")},
    ),
    "topk": Oracle(
        lambda x: list(x.topk(5, -1)),
        _distinct,
        lambda operation, x: operation(x, 5, -1),
        shapes=_ROWS,
        dtypes=PLAIN_FLOATS,
        exact=True,
        result_dtypes=(None, "uint16"),
        results_of={"float32": (None, "uint32")},
    ),
}


def _indexed(shape: Shape) -> list[torch.Tensor]:
    """A tensor and places along its first dimension, fewer than it has."""
    order = np.random.default_rng(1)
    index = np.argsort(order.random(shape), 0)[: max(1, shape[0] - 1)]
    return [draw(shape, -4, 4), torch.as_tensor(index)]


def _written(shape: Shape) -> list[torch.Tensor]:
    tensor, index = _indexed(shape)
    return [tensor, index, draw(tuple(index.shape), -4, 4, 3)]


def _count_and_places(x: torch.Tensor) -> list[torch.Tensor]:
    """How many numbers are not 0, and the four indices of each."""
    found = torch.nonzero(x).reshape(-1)
    count, places = torch.zeros(1, 1, 1, 8), torch.zeros(1, 1, 1, 4 * x.numel())
    count[..., 0] = len(found) // 4
    places[..., : len(found)] = found
    return [count, places]


_TABLE = ((96, 192), (33, 70), (4, 5))

LOOKUP: dict[str, Oracle] = {
    "embedding": Oracle(
        lambda index, table: table[index],
        lambda shape: [draw_integers((2, 3), 0, shape[0], 1), draw(shape, -4, 4)],
        shapes=_TABLE,
        dtypes=PLAIN_FLOATS,
        exact=True,
        typed_by=1,
        result_layout="ROW_MAJOR_LAYOUT",
    ),
    "gather": Oracle(
        lambda x, index: x.gather(0, index),
        _indexed,
        lambda operation, x, index: operation(x, 0, index),
        exact=True,
    ),
    "nonzero": Oracle(
        _count_and_places,
        lambda shape: [draw(shape, -4, 4).relu()],
        lambda operation, x: operation(x),
        shapes=((1, 2, 5, 32), (2, 3, 33, 7), (1, 1, 1, 8)),
        dtypes=PLAIN_FLOATS,
        exact=True,
        result_dtypes=("uint32", "uint32"),
        result_layout="ROW_MAJOR_LAYOUT",
    ),
    "scatter": Oracle(
        lambda x, index, source: x.scatter(0, index, source),
        _written,
        lambda operation, x, index, source: operation(x, 0, index, source),
        exact=True,
        results_of={"bfloat8_b": ("bfloat16",)},
    ),
    "scatter_add": Oracle(
        lambda x, index, source: x.scatter_add(0, index, source),
        _written,
        lambda operation, x, index, source: operation(x, 0, index, source),
        results_of={"bfloat8_b": ("bfloat16",)},
    ),
}


def _moved(
    call: Call, expected: Call, shapes: tuple[Shape, ...] = MATRICES, **facts: Any
) -> Oracle:
    """An operation whose result has the numbers of its operand."""
    facts.setdefault("integers", INTEGERS)
    return Oracle(
        expected,
        call=call,
        shapes=shapes,
        draw_integers=_wholes,
        exact=True,
        **facts,
    )


_ANY: Any = {"shapes": ((2, 96, 192), (33, 70), (7,), (3, 33, 70), (1, 2, 5, 31))}
_THREE = ((2, 96, 192), (3, 33, 70), (4, 5, 31))
_EXPANDED = ((1, 33, 70), (1, 5, 31))

MOVEMENTS: dict[str, Oracle] = {
    "chunk": _moved(lambda f, x: f(x, 2, -1), lambda x: list(x.chunk(2, -1)), **_ANY),
    "concat": _moved(
        lambda f, x: f([x, x, x], -2),
        lambda x: torch.cat([x, x, x], -2),
        memory=ttnn.DRAM_MEMORY_CONFIG,
    ),
    "expand": _moved(
        lambda f, x: f(x, (4, -1, -1)), lambda x: x.expand(4, -1, -1), shapes=_EXPANDED
    ),
    "experimental.broadcast_to": _moved(
        lambda f, x: f(x, (4, *x.shape[1:])),
        lambda x: x.broadcast_to((4, *x.shape[1:])),
        shapes=_EXPANDED,
    ),
    "experimental.view": _moved(lambda f, x: f(x, [1, *x.shape]), lambda x: x[None], **_ANY),
    "pad": _moved(
        lambda f, x: f(x, [(0, 1)] * len(x.shape), 3.0 if x.dtype == ttnn.float32 else 3),
        lambda x: torch.nn.functional.pad(x, (0, 1) * x.ndim, value=3),
        **_ANY,
    ),
    "permute": _moved(lambda f, x: f(x, (2, 0, -2)), lambda x: x.permute(2, 0, 1), shapes=_THREE),
    "rearrange": _moved(
        lambda f, x: f(x, "a b c -> c (b a)"),
        lambda x: x.permute(2, 1, 0).flatten(1),
        shapes=_THREE,
    ),
    "narrow": _moved(
        lambda f, x: f(x, -1, -9, 7), lambda x: x.narrow(-1, -9, 7), shapes=((3, 33, 70), (40, 9))
    ),
    "repeat": _moved(
        lambda f, x: f(x, [2] * (len(x.shape) - 1) + [3]),
        lambda x: x.repeat([2] * (x.ndim - 1) + [3]),
        **_ANY,
    ),
    "repeat_interleave": _moved(
        lambda f, x: f(x, 2, -1), lambda x: x.repeat_interleave(2, -1), **_ANY
    ),
    "reshape": _moved(lambda f, x: f(x, (1, -1, 1)), lambda x: x.reshape(1, -1, 1), **_ANY),
    "reshape_on_device": _moved(
        lambda f, x: f(x, 1, 1, x.shape[-1], -1),
        lambda x: x.reshape(1, 1, x.shape[-1], -1),
        **_ANY,
    ),
    "roll": _moved(lambda f, x: f(x, (2, -3), (0, -1)), lambda x: x.roll((2, -3), (0, -1))),
    "slice": _moved(
        lambda f, x: f(x, [0, 1, -9], [2, 33, 70], [1, 2, 3]),
        lambda x: x[0:2, 1:33:2, -9 % x.shape[2] : 70 : 3],
        shapes=((3, 33, 70), (2, 40, 71)),
    ),
    "split": _moved(
        lambda f, x: f(x, [3, x.shape[-1] - 3], -1),
        lambda x: list(x.split([3, x.shape[-1] - 3], -1)),
        **_ANY,
    ),
    "squeeze": _moved(lambda f, x: f(x, 0), lambda x: x[0], shapes=((1, 33, 70), (1, 2, 5, 31))),
    "stack": _moved(
        lambda f, x: f([x, x], 1),
        lambda x: torch.stack([x, x], 1),
        memory=ttnn.DRAM_MEMORY_CONFIG,
        **_ANY,
    ),
    "transpose": _moved(lambda f, x: f(x, -1, 0), lambda x: x.transpose(-1, 0)),
    "unsqueeze": _moved(lambda f, x: f(x, -2), lambda x: x.unsqueeze(-2), **_ANY),
    "unsqueeze_to_4D": _moved(
        lambda f, x: f(x), lambda x: x.reshape((1,) * (4 - x.ndim) + tuple(x.shape)), **_ANY
    ),
    "view": _moved(lambda f, x: f(x, [1, *x.shape]), lambda x: x[None], **_ANY),
}


def _same(x: torch.Tensor) -> torch.Tensor:
    return x


def _kept(call: Call = lambda f, x: f(x), **facts: Any) -> Oracle:
    """An operation whose result is its operand in another place."""
    return _moved(call, _same, **{**_ANY, **facts})


_L1_BLOCKS = ttnn.MemoryConfig(
    ttnn.TensorMemoryLayout.BLOCK_SHARDED,
    ttnn.BufferType.L1,
    ttnn.ShardSpec(
        ttnn.CoreGrid(x=3, y=2).to_core_range_set(), (96, 64), ttnn.ShardOrientation.ROW_MAJOR
    ),
)
_WHOLE = ((2, 96, 192), (64, 32), (3, 32, 96))
_SHARDED: Any = {"shapes": ((2, 96, 192),), "memory": _L1_BLOCKS}
_IN_TILES: Any = {"result_layout": "TILE_LAYOUT"}
_IN_ROWS: Any = {"result_layout": "ROW_MAJOR_LAYOUT", "dtypes": PLAIN_FLOATS}
_FILLED: Any = {**_IN_TILES, "layouts": ("ROW_MAJOR_LAYOUT",), "dtypes": PLAIN_FLOATS}


def _round_up(extent: int) -> int:
    return -(-extent // 32) * 32


def make_semaphore(device: Any) -> Any:
    """A word on a core, which operations between devices ask for."""
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (0, 0))])
    return ttnn.create_global_semaphore(device, cores, 0)


PLACES: dict[str, Oracle] = {
    **{
        name: _kept(lambda f, x: f(x, -1))
        for name in ("all_gather", "reduce_scatter", "mesh_partition")
    },
    **{
        f"experimental.{name}": _kept(lambda f, x: f(x, -1, [make_semaphore(x.device())]))
        for name in (
            *("all_gather_async", "all_gather_async_reversed"),
            "reduce_scatter_minimal_async",
        )
    },
    "all_broadcast": _kept(),
    "all_reduce": _kept(),
    "assign": _kept(),
    "bitcast": Oracle(
        lambda x: x.float().view(torch.int32),
        call=lambda f, x: f(x, ttnn.int32),
        dtypes=("float32",),
        result_dtypes=("int32",),
    ),
    "clone": _kept(),
    "copy": Oracle(
        lambda x, y: x,
        between((-4, 4), (-4, 4)),
        lambda f, x, y: f(x, y),
        exact=True,
        writes=1,
    ),
    "fill_implicit_tile_padding": _kept(lambda f, x: f(x, 7.0)),
    "interleaved_to_sharded": _kept(lambda f, x: f(x, _L1_BLOCKS), **_SHARDED),
    "move": _kept(consumes=True),
    "reallocate": _kept(consumes=True),
    "reshard": _kept(lambda f, x: f(x, _L1_BLOCKS), **_SHARDED),
    "sharded_to_interleaved": _kept(memory=ttnn.DRAM_MEMORY_CONFIG),
    "tilize": _kept(shapes=_WHOLE, **_IN_TILES),
    "tilize_with_val_padding": _moved(
        lambda f, x: f(x, [*x.shape[:-2], *map(_round_up, x.shape[-2:])], 3),
        lambda x: x,
        **_FILLED,
    ),
    "tilize_with_zero_padding": _kept(**_FILLED),
    "to_layout": _kept(lambda f, x: f(x, ttnn.TILE_LAYOUT), **_IN_TILES),
    "to_memory_config": _kept(
        lambda f, x: f(x, ttnn.DRAM_MEMORY_CONFIG), memory=ttnn.DRAM_MEMORY_CONFIG
    ),
    "typecast": Oracle(
        lambda x: x.trunc().to(torch.int64),
        between((-400, 400)),
        lambda f, x: f(x, ttnn.int32),
        result_dtypes=("int32",),
        dtypes=FLOATS,
    ),
    "untilize": _kept(**_IN_ROWS),
    "untilize_with_unpadding": _moved(
        lambda f, x: f(x, [x.shape[0] - 1, 3, x.shape[-1] - 2]),
        lambda x: x[:, :4, :-1],
        shapes=_THREE,
        **_IN_ROWS,
    ),
}


def _noise(name: str) -> Oracle:
    """Numbers that a scale and a zero point make integers, and back."""

    def quantized(x: torch.Tensor) -> torch.Tensor:
        return torch.round(x / 0.25 + 3)

    def dequantized(x: torch.Tensor) -> torch.Tensor:
        return (x - 3) * 0.25

    def requantized(x: torch.Tensor) -> torch.Tensor:
        return torch.round((x - 3) * (0.25 / 0.5) + 1)

    if name == "quantize":
        return Oracle(quantized, call=lambda f, x: f(x, 0.25, 3), result_dtypes=("int32",))
    if name == "dequantize":
        return Oracle(
            dequantized,
            call=lambda f, x: f(x, 0.25, 3),
            dtypes=(),
            integers=("int32",),
            draw_integers=_small,
            result_dtypes=("bfloat16",),
        )
    return Oracle(
        requantized,
        call=lambda f, x: f(x, 0.25, 3, 0.5, 1),
        dtypes=(),
        integers=("int32",),
        draw_integers=_small,
    )


QUANTIZED = {name: _noise(name) for name in ("quantize", "dequantize", "requantize")}

ORDER["index_fill_new"] = ORDER["index_fill"]

MOVING = {**REDUCTIONS, **ORDER, **LOOKUP, **MOVEMENTS, **PLACES, **QUANTIZED}
