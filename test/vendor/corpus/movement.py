"""Operations that move elements: shapes, slices, gathers, scatters, sorts."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from corpus.program import Family

FAMILY = Family()


def _shapes() -> None:
    add = FAMILY.add
    for dtype in ("f32", "bf16", "i32", "u8", "i1"):
        add("reshape", lambda x: x.reshape(70, 33), f"{dtype} 33x70", variant="to_70x33")
        add("transpose", lambda x: x.T, f"{dtype} 33x70")
        add("concatenate", lambda x, y: jnp.concatenate([x, y], 1), f"{dtype} 5x7", f"{dtype} 5x33")
    add("reshape", lambda x: x.reshape(-1), "f32 2x3x5x7", variant="to_flat")
    add("reshape", lambda x: x.reshape(2, 3, 5, 7), "bf16 210", variant="to_rank_4")
    add("reshape", lambda x: x.reshape(1, 33, 1, 70), "bf16 33x70", variant="with_ones")
    add("reshape", lambda x: x.reshape(()), "f32 1x1", variant="to_scalar")
    add("reshape", lambda x: x.reshape(1, 1), "f32 scalar", variant="of_scalar")
    add("reshape", lambda x: x.reshape(6, 5, 7), "f32 2x3x5x7", variant="to_6x5x7")
    add("reshape", lambda x: x.reshape(2, 16, 3, 16, 2, 2), "f32 32x48x4", variant="to_rank_6")
    add("squeeze", lambda x: jnp.squeeze(x, (0, 2)), "bf16 1x33x1x70")
    add("expand_dims", lambda x: jnp.expand_dims(x, 1), "f32 33x70")
    for order in ((0, 2, 1), (2, 0, 1), (1, 0, 2), (2, 1, 0)):
        name = "".join(map(str, order))
        add("transpose", lambda x, order=order: x.transpose(order), "f32 3x5x33", variant=name)
    for order in ((0, 2, 1, 3), (0, 2, 3, 1), (0, 3, 1, 2), (3, 2, 1, 0)):
        name = "".join(map(str, order))
        add("transpose", lambda x, order=order: x.transpose(order), "bf16 2x3x31x33", variant=name)
    add("transpose", lambda x: x.transpose(4, 1, 3, 0, 2), "f32 2x1x3x5x7", variant="41302")
    add("transpose", lambda x: x.transpose(0), "f32 70", variant="rank_1")
    for dtype in ("f32", "bf16", "i32", "u8"):
        add("broadcast_in_dim", lambda x: jnp.broadcast_to(x, (33, 70)), f"{dtype} 70")
    add(
        "broadcast_in_dim",
        lambda x: jnp.broadcast_to(x, (3, 33, 70)),
        "f32 33x1",
        variant="1_to_70",
    )
    add("broadcast_in_dim", lambda x: jnp.broadcast_to(x, (5, 7)), "bf16 scalar")
    add(
        "broadcast_in_dim",
        lambda x: lax.broadcast_in_dim(x, (5, 33, 7), (1,)),
        "f32 33",
        variant="middle",
    )
    add(
        "broadcast_in_dim",
        lambda x: lax.broadcast_in_dim(x, (2, 33, 3, 70), (1, 3)),
        "bf16 33x70",
        variant="1_and_3",
    )
    add("tile", lambda x: jnp.tile(x, (2, 3)), "f32 5x7")
    add("repeat", lambda x: jnp.repeat(x, 3, axis=0), "bf16 5x33")
    add("repeat_interleave", lambda x: jnp.repeat(x, 2, axis=1), "f32 2x4x33")
    for dtype in ("f32", "bf16", "i32"):
        add("reverse", lambda x: x[::-1], f"{dtype} 33x70")
    add("reverse", lambda x: lax.rev(x, (0, 2)), "f32 3x5x7", variant="0_and_2")
    add(
        "concatenate",
        lambda x, y, z: jnp.concatenate([x, y, z], 0),
        "f32 1x33",
        "f32 31x33",
        "f32 2x33",
        variant="three",
    )
    add(
        "concatenate",
        lambda x, y: jnp.concatenate([x, y], -1),
        "bf16 2x3x5x32",
        "bf16 2x3x5x32",
        variant="rank_4",
    )
    add("concatenate", lambda x, y: jnp.concatenate([x, y]), "i32 5", "i32 33", variant="rank_1")
    add("stack", lambda x, y: jnp.stack([x, y], 1), "f32 5x7", "f32 5x7")
    add("split", lambda x: jnp.split(x, 3, axis=1), "bf16 33x96")
    add("split", lambda x: jnp.split(x, (5, 40), axis=1), "f32 33x70", variant="at_5_and_40")
    for dtype in ("f32", "bf16", "i32"):
        add(
            "iota",
            lambda dtype=dtype: jnp.arange(
                70, dtype={"f32": jnp.float32, "bf16": jnp.bfloat16, "i32": jnp.int32}[dtype]
            ),
            variant=dtype,
        )
    add("iota", lambda: lax.broadcasted_iota(jnp.int32, (5, 33), 1), variant="i32-5x33-dim_1")
    add("iota", lambda: lax.broadcasted_iota(jnp.float32, (5, 33), 0), variant="f32-5x33-dim_0")
    add("arange", lambda: jnp.arange(3, 40, 5, dtype=jnp.int32), variant="i32-3_to_40_by_5")
    add("linspace", lambda: jnp.linspace(0.0, 1.0, 33), variant="f32-33")
    add("full", lambda: jnp.full((5, 33), 2.5, jnp.bfloat16), variant="bf16-5x33")
    add("zeros", lambda: jnp.zeros((33, 70)), variant="f32-33x70")
    add("ones", lambda: jnp.ones((7,), jnp.int32), variant="i32-7")
    add("eye", lambda: jnp.eye(33), variant="f32-33")
    add("triangle", lambda x: jnp.tril(x), "f32 33x33", variant="lower")
    add("triangle", lambda x: jnp.triu(x, 1), "bf16 31x65", variant="upper")
    add("diagonal", jnp.diagonal, "f32 33x33")
    add("roll", lambda x: jnp.roll(x, 3, axis=1), "f32 5x33")
    add("meshgrid", lambda x, y: jnp.meshgrid(x, y), "f32 5", "f32 7")
    add("swapaxes", lambda x: jnp.swapaxes(x, 1, 3), "bf16 2x3x4x33")
    add(
        "pixel_shuffle",
        lambda x: x.reshape(1, 5, 7, 2, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(1, 10, 14, 3),
        "f32 1x5x7x12",
    )


def _slices() -> None:
    add = FAMILY.add
    for dtype in ("f32", "bf16", "i32", "u8"):
        add("slice", lambda x: x[3:30, 5:69], f"{dtype} 33x70")
        add(
            "pad",
            lambda x: lax.pad(x, jnp.array(0, x.dtype), ((1, 2, 0), (3, 0, 0))),
            f"{dtype} 5x7",
        )
    add("slice", lambda x: x[::2, 1::3], "f32 33x70", variant="strided")
    add("slice", lambda x: x[:, -1], "bf16 5x33", variant="last_column")
    add("slice", lambda x: x[..., :32], "f32 2x3x31x64", variant="rank_4")
    add(
        "pad",
        lambda x: lax.pad(x, jnp.float32(1.5), ((0, 0, 2), (1, 1, 1))),
        "f32 5x7",
        variant="interior",
    )
    add(
        "pad",
        lambda x: lax.pad(x, jnp.float32(0), ((-1, 2, 0), (0, -3, 0))),
        "f32 31x33",
        variant="negative",
    )
    add(
        "pad",
        lambda x: jnp.pad(x, ((0, 0), (1, 1), (2, 2), (0, 0))),
        "bf16 1x5x7x3",
        variant="image",
    )
    add("pad", lambda x: jnp.pad(x, ((1, 2), (3, 1)), mode="reflect"), "f32 5x7", variant="reflect")
    add("pad", lambda x: jnp.pad(x, ((1, 2), (3, 1)), mode="edge"), "f32 5x7", variant="edge")
    add(
        "dynamic_slice",
        lambda x, i, j: lax.dynamic_slice(x, (i, j), (5, 33)),
        "f32 33x70",
        "i32 scalar in 0 28",
        "i32 scalar in 0 37",
    )
    add(
        "dynamic_slice",
        lambda x, i: lax.dynamic_slice_in_dim(x, i, 1, 0),
        "bf16 33x70",
        "i32 scalar in 0 33",
        variant="row",
    )
    add(
        "dynamic_slice",
        lambda x, i: lax.dynamic_index_in_dim(x, i, 1, keepdims=False),
        "f32 3x5x33",
        "u32 scalar in 0 5",
        variant="unsigned",
    )
    add(
        "dynamic_update_slice",
        lambda x, y, i: lax.dynamic_update_slice(x, y, (i, 0)),
        "f32 33x70",
        "f32 5x70",
        "i32 scalar in 0 28",
    )
    add(
        "dynamic_update_slice",
        lambda x, y, i: lax.dynamic_update_slice_in_dim(x, y, i, 2),
        "bf16 1x4x64x32",
        "bf16 1x4x1x32",
        "i32 scalar in 0 63",
        variant="cache",
    )
    add(
        "dynamic_update_slice",
        lambda x, y: lax.dynamic_update_slice(x, y, (2, 3)),
        "i32 5x33",
        "i32 2x7",
        variant="constant_start",
    )
    add("at_set", lambda x: x.at[1:3, 2].set(0.0), "f32 5x7")
    add("at_add", lambda x, i, y: x.at[i].add(y), "f32 33x70", "i32 5 in 0 33", "f32 5x70")
    add(
        "at_set",
        lambda x, i, y: x.at[:, i].set(y),
        "f32 5x33",
        "i32 scalar in 0 33",
        "f32 5",
        variant="column",
    )


def _gathers() -> None:
    add = FAMILY.add
    for dtype in ("f32", "bf16", "i32"):
        add(
            "take",
            lambda x, i: jnp.take(x, i, axis=0),
            f"{dtype} 33x70",
            "i32 5 in 0 33",
            variant="rows",
        )
    add("take", lambda x, i: x[i], "bf16 128x64", "i32 2x7 in 0 128", variant="embedding")
    add("take", lambda x, i: x.at[i].get(mode="clip"), "f32 33x70", "u32 5 in 0 33", variant="clip")
    add(
        "take",
        lambda x, i: x.at[i].get(mode="fill", fill_value=0),
        "f32 33x70",
        "i32 5 in 0 33",
        variant="fill",
    )
    add("take", lambda x, i: jnp.take(x, i, axis=1), "f32 5x33", "i32 7 in 0 33", variant="columns")
    add("take", lambda x, i: jnp.take(x, i), "f32 70", "i32 5 in 0 70", variant="rank_1")
    add(
        "take",
        lambda x, i: jnp.take(x, i, axis=2),
        "bf16 2x3x33x5",
        "i32 4 in 0 33",
        variant="axis_2",
    )
    add(
        "take_along_axis",
        lambda x, i: jnp.take_along_axis(x, i, axis=1),
        "f32 5x33",
        "i32 5x3 in 0 33",
    )
    add(
        "take_along_axis",
        lambda x, i: jnp.take_along_axis(x, i, axis=0),
        "bf16 33x5",
        "i32 2x5 in 0 33",
        variant="axis_0",
    )
    add(
        "gather",
        lambda x, i, j: x[i, j],
        "f32 5x33",
        "i32 7 in 0 5",
        "i32 7 in 0 33",
        variant="points",
    )
    add(
        "gather",
        lambda x, i, j: x[:, i, j],
        "f32 2x5x33",
        "i32 3 in 0 5",
        "i32 3 in 0 33",
        variant="inner_points",
    )
    add("gather", jax.vmap(lambda x, i: x[i]), "f32 3x33x5", "i32 3 in 0 33", variant="batched")
    add("gather", lambda x: x[jnp.array([4, 0, 2])], "f32 5x33", variant="constant")
    add("embedding", lambda i, x: x[i], "i32 1x33 in 0 100", "bf16 100x64")
    add("embedding", lambda i, x: x[i] * 8.0, "u32 2x5 in 0 70", "f32 70x33", variant="scaled")
    for mode in ("set", "add", "max", "min", "mul"):
        add(
            "scatter",
            lambda x, i, y, mode=mode: getattr(x.at[i], mode if mode != "mul" else "multiply")(y),
            "f32 33x70",
            "i32 5 in 0 33",
            "f32 5x70",
            variant=f"rows_{mode}",
        )
    add(
        "scatter",
        lambda x, i, j, y: x.at[i, j].set(y),
        "f32 5x33",
        "i32 3 in 0 5",
        "i32 3 in 0 33",
        "f32 3",
        variant="points_set",
    )
    add(
        "scatter",
        lambda x, i, j, y: x.at[i, j].add(y),
        "bf16 5x33",
        "i32 3 in 0 5",
        "i32 3 in 0 33",
        "bf16 3",
        variant="points_add",
    )
    add(
        "scatter",
        lambda x, i, y: x.at[:, i].set(y),
        "f32 5x33",
        "i32 3 in 0 33",
        "f32 5x3",
        variant="columns_set",
    )
    add(
        "scatter",
        lambda x, i, y: x.at[i].set(y),
        "i32 70",
        "i32 5 in 0 70",
        "i32 5",
        variant="rank_1_set",
    )
    add("segment_sum", lambda x, i: jax.ops.segment_sum(x, i, 5), "f32 33x7", "i32 33 in 0 5")
    add("bincount", lambda i: jnp.bincount(i, length=7), "i32 33 in 0 7")


def _orders() -> None:
    add = FAMILY.add
    for dtype in ("f32", "bf16", "i32"):
        add("sort", lambda x: jnp.sort(x, axis=-1), f"{dtype} 5x33 distinct")
        add("top_k", lambda x: lax.top_k(x, 4), f"{dtype} 5x33 distinct")
    add("sort", lambda x: jnp.sort(x, axis=0), "f32 33x5 distinct", variant="axis_0")
    add("sort", lambda x: jnp.sort(x, descending=True), "f32 70 distinct", variant="descending")
    add("argsort", lambda x: jnp.argsort(x, axis=-1), "f32 5x33 distinct")
    add(
        "argsort",
        lambda x: jnp.argsort(x, descending=True),
        "bf16 1x70 distinct",
        variant="descending",
    )
    add(
        "sort",
        lambda k, v: lax.sort((k, v), num_keys=1),
        "i32 5x33 distinct",
        "f32 5x33",
        variant="key_value",
    )
    add(
        "sort",
        lambda k, v: lax.sort((k, v), num_keys=2),
        "i32 33 distinct",
        "i32 33",
        variant="two_keys",
    )
    add("top_k", lambda x: lax.top_k(x, 1), "f32 1x1000 distinct", variant="k_1")
    add("top_k", lambda x: lax.top_k(x, 33)[0], "f32 2x3x65 distinct", variant="values")
    add("searchsorted", lambda x, y: jnp.searchsorted(jnp.sort(x), y), "f32 33", "f32 5")
    add("median", lambda x: jnp.median(x, axis=1), "f32 5x33")
    add("unique", lambda x: jnp.unique(x, size=5, fill_value=0), "i32 33")


def _encodings() -> None:
    add = FAMILY.add
    for dtype in (jnp.float32, jnp.bfloat16, jnp.int32):
        name = {"float32": "f32", "bfloat16": "bf16", "int32": "i32"}[jnp.dtype(dtype).name]
        add(
            "one_hot",
            lambda i, dtype=dtype: jax.nn.one_hot(i, 33, dtype=dtype),
            "i32 5 in 0 33",
            variant=f"to_{name}",
        )
    add("one_hot", lambda i: jax.nn.one_hot(i, 10), "i32 2x7 in 0 10", variant="rank_2")
    add(
        "resize",
        lambda x: jax.image.resize(x, (1, 10, 14, 3), "nearest"),
        "f32 1x5x7x3",
        variant="nearest",
    )
    add(
        "resize",
        lambda x: jax.image.resize(x, (1, 10, 14, 3), "bilinear"),
        "f32 1x5x7x3",
        variant="bilinear",
    )
    add("resize", lambda x: jax.image.resize(x, (9, 21), "cubic"), "f32 5x7", variant="cubic")
    add("interp", lambda x, y, z: jnp.interp(x, jnp.sort(y), z), "f32 5", "f32 7", "f32 7")
    add("polyval", lambda c, x: jnp.polyval(c, x), "f32 4", "f32 33x7")
    add("random_bits", lambda k: jax.random.bits(k, (5, 7)), "u32 2 in 0 1000")
    add("random_uniform", lambda k: jax.random.uniform(k, (31, 33)), "u32 2 in 0 1000")
    add("random_normal", lambda k: jax.random.normal(k, (5, 7)), "u32 2 in 0 1000")
    add(
        "dropout",
        lambda k, x: jnp.where(jax.random.bernoulli(k, 0.9, x.shape), x / 0.9, 0),
        "u32 2 in 0 1000",
        "f32 5x33",
    )


_shapes()
_slices()
_gathers()
_orders()
_encodings()
PROGRAMS = FAMILY.programs
