"""Programs of `jit` whose arguments, results or values have shardings, by name.

Each is a function and the shapes of its arguments; see `shard_map_programs.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from shard_map_programs import F32, P, Program, make_mesh

jax: Any = import_module("jax")
jnp: Any = import_module("jax.numpy")
lax: Any = import_module("jax.lax")
NamedSharding: Any = import_module("jax.sharding").NamedSharding


def spread(
    mesh: Any, function: Callable[..., Any], given: list[Any], made: Any = None
) -> Callable[..., Any]:
    """A jitted function of arguments that are spread, and whose result may be."""
    options = {} if made is None else {"out_shardings": NamedSharding(mesh, made)}
    shardings = [None if spec is None else NamedSharding(mesh, spec) for spec in given]
    return jax.jit(function, in_shardings=shardings, **options)


MESH = make_mesh(x=2, y=4)


def keep(array: Any, *spec: Any) -> Any:
    """An array that is spread."""
    return lax.with_sharding_constraint(array, NamedSharding(MESH, P(*spec)))


def attention(q: Any, k: Any, v: Any) -> Any:
    """Each token looks at all."""
    weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k), axis=-1)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def programs() -> Iterator[tuple[str, Program]]:
    """All of them."""
    yield from _moves()
    yield from _layers()
    yield from _reductions()
    yield from _shapes()
    yield from _parts()
    yield from _models()


def _moves() -> Iterator[tuple[str, Program]]:
    mesh = MESH
    specs = {"x": P("x"), "y": P(None, "y"), "xy": P("x", "y"), "yx": P("y", "x"), "none": P()}
    for name, spec in specs.items():
        for other, made in specs.items():
            yield (
                f"move_{name}_{other}",
                (
                    spread(mesh, lambda a: a * 2 + 1, [spec], made),
                    [((8, 12), F32)],
                ),
            )
    for name, spec in {"rows": P(("x", "y")), "columns": P(None, ("y", "x"))}.items():
        yield (
            f"compound_{name}",
            (
                spread(mesh, jnp.sin, [spec], P("y", None)),
                [((16, 8), F32)],
            ),
        )
    left = {"x_": P("x"), "_y": P(None, "y"), "xy": P("x", "y"), "__": P()}
    right = {"y_": P("y"), "_y": P(None, "y"), "xy": P("x", "y"), "__": P()}
    for one, first in left.items():
        for two, second in right.items():
            yield (
                f"matmul_{one}_{two}",
                (
                    spread(mesh, lambda a, b: a @ b, [first, second]),
                    [((6, 8), F32), ((8, 12), F32)],
                ),
            )


def _layers() -> Iterator[tuple[str, Program]]:
    mesh = MESH
    yield (
        "batched_matmul",
        (
            spread(mesh, lambda a, b: jnp.einsum("bij,bjk->bik", a, b), [P("x", "y"), P("x")]),
            [((2, 4, 5), F32), ((2, 5, 3), F32)],
        ),
    )

    def mlp(x: Any, up: Any, down: Any) -> Any:
        return jax.nn.silu(x @ up) @ down

    shapes = [((6, 8), F32), ((8, 16), F32), ((16, 8), F32)]
    yield "mlp", (spread(mesh, mlp, [P("x"), P(None, "y"), P("y")]), shapes)
    yield (
        "mlp_scattered",
        (
            spread(mesh, mlp, [P("x"), P(None, "y"), P("y")], P("x", "y")),
            shapes,
        ),
    )
    yield (
        "gradient_of_mlp",
        (
            spread(
                mesh,
                jax.grad(lambda x, up, down: (mlp(x, up, down) ** 2).mean(), argnums=(1, 2)),
                [P("x"), P(None, "y"), P("y")],
            ),
            shapes,
        ),
    )

    def norm(x: Any, scale: Any) -> Any:
        mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(variance + 1e-5) * scale

    yield "norm_of_rows", (spread(mesh, norm, [P("x"), P()]), [((6, 20), F32), ((20,), F32)])
    yield (
        "norm_of_columns",
        (
            spread(mesh, norm, [P("x", "y"), P("y")]),
            [((6, 20), F32), ((20,), F32)],
        ),
    )
    for name, spec in {
        "heads": P("x", None, "y"),
        "tokens": P("x", "y"),
        "elements": P("x", None, None, "y"),
    }.items():
        yield (
            f"attention_{name}",
            (
                spread(mesh, attention, [spec] * 3),
                [((2, 8, 4, 8), F32)] * 3,
            ),
        )


def _reductions() -> Iterator[tuple[str, Program]]:
    mesh = MESH
    for kind in ("sum", "max", "min", "prod", "mean"):
        for axis in (0, 1, None):
            yield (
                f"{kind}_{axis}",
                (
                    spread(mesh, lambda a, k=kind, n=axis: getattr(a, k)(n), [P("x", "y")]),
                    [((4, 12), F32)],
                ),
            )
    yield "argmax", (spread(mesh, lambda a: a.argmax(1), [P("x", "y")]), [((4, 12), F32)])
    yield "any", (spread(mesh, lambda a: (a > 1.9).any(1), [P("x", "y")]), [((4, 12), F32)])
    yield "softmax", (spread(mesh, jax.nn.softmax, [P("x", "y")]), [((4, 12), F32)])
    yield "cumsum", (spread(mesh, lambda a: a.cumsum(1), [P("x", "y")]), [((4, 12), F32)])
    yield "sort", (spread(mesh, lambda a: jnp.sort(a, 1), [P("x", "y")]), [((4, 12), F32)])
    yield "reversed", (spread(mesh, lambda a: a[:, ::-1], [P("x", "y")]), [((4, 12), F32)])


def _shapes() -> Iterator[tuple[str, Program]]:
    mesh = MESH
    yield (
        "constraint",
        (
            spread(mesh, lambda a: keep(keep(a * 2, None, "y") + 1, "x", None) * 3, [P("x", "y")]),
            [((4, 12), F32)],
        ),
    )
    yield (
        "constraint_of_argument",
        (
            spread(mesh, lambda a: keep(a, "x", "y") + 1, [None]),
            [((4, 12), F32)],
        ),
    )
    yield "transpose", (spread(mesh, lambda a: a.T + 1, [P("x", "y")]), [((4, 12), F32)])
    yield (
        "split_dimension",
        (
            spread(mesh, lambda a: a.reshape(4, 4, 3).transpose(1, 0, 2) * 2, [P("y")]),
            [((16, 3), F32)],
        ),
    )
    yield (
        "merged_dimensions",
        (
            spread(mesh, lambda a: a.reshape(-1) * 2, [P("x", "y")]),
            [((4, 12), F32)],
        ),
    )
    yield (
        "merged_first",
        (
            spread(mesh, lambda a: a.reshape(-1) * 2, [P("x")]),
            [((4, 12), F32)],
        ),
    )
    yield (
        "odd_reshape",
        (
            spread(mesh, lambda a: a.reshape(6, 8) * 2, [P("x", "y")]),
            [((4, 12), F32)],
        ),
    )


def _parts() -> Iterator[tuple[str, Program]]:
    mesh = MESH
    yield "slice", (spread(mesh, lambda a: a[1:3, 2:9], [P("x", "y")]), [((4, 12), F32)])
    yield "slice_of_rows", (spread(mesh, lambda a: a[:, 2:9], [P("x")]), [((4, 12), F32)])
    yield (
        "pad",
        (
            spread(mesh, lambda a: jnp.pad(a, ((0, 0), (1, 2))), [P("x", "y")]),
            [((4, 12), F32)],
        ),
    )
    yield (
        "concatenate",
        (
            spread(mesh, lambda a, b: jnp.concatenate([a, b], 1), [P("x", "y"), P("y")]),
            [((4, 12), F32), ((4, 8), F32)],
        ),
    )
    yield (
        "concatenate_other",
        (
            spread(mesh, lambda a, b: jnp.concatenate([a, b], 0), [P(None, "y"), P(None, "y")]),
            [((4, 12), F32), ((3, 12), F32)],
        ),
    )
    yield (
        "take_rows",
        (
            spread(mesh, lambda table, ids: table[ids], [P("y"), P("x")]),
            [((12, 5), F32), ((2, 7), "index12")],
        ),
    )
    yield (
        "scatter_into_parts",
        (
            spread(
                mesh,
                lambda table, ids, rows: table.at[ids].add(rows, mode="drop"),
                [P(("y", "x")), P("x"), P("x")],
            ),
            [((16, 5), F32), ((6,), "index19"), ((6, 5), F32)],
        ),
    )
    yield (
        "gradient_of_table",
        (
            spread(
                mesh,
                jax.grad(lambda table, ids: (table[ids] ** 2).sum()),
                [P("y", "x"), P()],
                P("y", "x"),
            ),
            [((12, 6), F32), ((2, 7), "index12")],
        ),
    )
    yield (
        "take_of_both_axes",
        (
            spread(
                mesh, lambda table, ids: jnp.take(table, ids, 0, mode="clip"), [P(("y", "x")), P()]
            ),
            [((16, 5), F32), ((9,), "index19")],
        ),
    )
    yield (
        "take_of_each_row",
        (
            spread(
                mesh, lambda table, ids: jnp.take_along_axis(table, ids, 1), [P("x", "y"), P("x")]
            ),
            [((6, 16), F32), ((6, 3), "index16")],
        ),
    )
    yield (
        "take_of_small_table",
        (
            spread(mesh, lambda table, ids: table[ids], [P("y"), P("x")]),
            [((4, 5), F32), ((8, 30), "index4")],
        ),
    )
    yield (
        "take_of_columns",
        (
            spread(mesh, lambda table, ids: table[ids], [P(None, "y"), P("x")]),
            [((12, 8), F32), ((2, 7), "index12")],
        ),
    )
    yield "iota", (spread(mesh, lambda a: a + jnp.arange(12.0), [P("x", "y")]), [((4, 12), F32)])
    yield "lower_triangle", (spread(mesh, jnp.tril, [P("x", "y")]), [((8, 12), F32)])
    yield (
        "constant",
        (
            spread(mesh, lambda a: a + jnp.asarray([1.0, 2.0, 3.0, 4.0]), [P("x", "y")]),
            [((2, 4), F32)],
        ),
    )
    yield (
        "where",
        (
            spread(mesh, lambda a, b: jnp.where(a > b, a, b * 2), [P("x"), P(None, "y")]),
            [((4, 12), F32)] * 2,
        ),
    )
    yield "clip", (spread(mesh, lambda a: jnp.clip(a, -1, 1), [P("x", "y")]), [((4, 12), F32)])
    yield (
        "scan",
        (
            spread(
                mesh,
                lambda a, b: lax.scan(lambda c, _: (jnp.tanh(c @ b), None), a, None, length=3)[0],
                [P("x"), P(None, "y")],
            ),
            [((4, 8), F32), ((8, 8), F32)],
        ),
    )
    yield (
        "cond",
        (
            spread(
                mesh,
                lambda a: lax.cond(a.sum() > 0, lambda: a * 2, lambda: a - 1),
                [P("x", "y")],
            ),
            [((4, 12), F32)],
        ),
    )
    yield (
        "convolution",
        (
            spread(
                mesh,
                lambda image, kernel: lax.conv(image, kernel, (1, 1), "SAME"),
                [P("x"), P("y")],
            ),
            [((2, 3, 6, 5), F32), ((4, 3, 3, 3), F32)],
        ),
    )
    yield (
        "convolution_of_channels",
        (
            spread(
                mesh,
                lambda image, kernel: lax.conv(image, kernel, (1, 1), "VALID"),
                [P("x", "y"), P(None, "y")],
            ),
            [((2, 4, 6, 5), F32), ((3, 4, 3, 3), F32)],
        ),
    )
    yield (
        "max_pool",
        (
            spread(
                mesh,
                lambda a: lax.reduce_window(
                    a, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"
                ),
                [P("x", "y")],
            ),
            [((2, 4, 6, 8), F32)],
        ),
    )
    yield (
        "dynamic_update",
        (
            spread(
                mesh,
                lambda cache, new, at: lax.dynamic_update_slice(cache, new, (0, at, 0)),
                [P("x", None, "y"), P("x", None, "y"), P()],
            ),
            [((2, 6, 8), F32), ((2, 1, 8), F32), ((), "index5")],
        ),
    )
    yield (
        "dynamic_slice",
        (
            spread(
                mesh,
                lambda a, at: lax.dynamic_slice(a, (0, at), (4, 5)),
                [P("x"), P()],
            ),
            [((4, 12), F32), ((), "index6")],
        ),
    )
    yield "not_divided", (spread(mesh, lambda a: a * 2, [P()]), [((5, 7), F32)])
    yield (
        "two_results",
        (
            jax.jit(
                lambda a: (a.sum(0), a * 2),
                in_shardings=NamedSharding(mesh, P("x", "y")),
                out_shardings=(NamedSharding(mesh, P("x")), NamedSharding(mesh, P("y"))),
            ),
            [((4, 12), F32)],
        ),
    )
    yield (
        "integers",
        (
            spread(mesh, lambda a, b: (a @ b).sum(0), [P("x", "y"), P("y")]),
            [((4, 8), "int32"), ((8, 3), "int32")],
        ),
    )
    yield (
        "one_axis_of_eight",
        (
            spread(make_mesh(i=8), lambda a: (a * 2).sum(0), [P("i")]),
            [((16, 3), F32)],
        ),
    )
    yield (
        "argument_that_is_returned",
        (
            spread(mesh, lambda a: a, [P("x", "y")], P("y", "x")),
            [((8, 12), F32)],
        ),
    )


def _models() -> Iterator[tuple[str, Program]]:
    mesh = MESH

    def block(x: Any, wq: Any, wk: Any, wv: Any, wo: Any, up: Any, gate: Any, down: Any) -> Any:
        def rms(a: Any) -> Any:
            return a * lax.rsqrt((a * a).mean(-1, keepdims=True) + 1e-5)

        batch, tokens, width = x.shape
        normed = rms(x)
        q, k, v = ((normed @ w).reshape(batch, tokens, 4, -1) for w in (wq, wk, wv))
        mixed = attention(q, k, v).reshape(batch, tokens, width)
        x = x + mixed @ wo
        normed = rms(x)
        return x + (jax.nn.silu(normed @ gate) * (normed @ up)) @ down

    columns, rows = P(None, "y"), P("y")
    yield (
        "llama_block",
        (
            spread(
                mesh,
                block,
                [P("x"), columns, columns, columns, rows, columns, columns, rows],
                P("x"),
            ),
            [((2, 5, 16), F32), *[((16, 16), F32)] * 4, *[((16, 32), F32)] * 2, ((32, 16), F32)],
        ),
    )
