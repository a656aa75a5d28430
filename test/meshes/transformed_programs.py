"""Programs that transform what runs on each device, and meshes of three axes; see
`shard_map_programs.py`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Any

from shard_map_programs import F32, P, Program, make_mesh, mapped

jax: Any = import_module("jax")
jnp: Any = import_module("jax.numpy")
lax: Any = import_module("jax.lax")
NamedSharding: Any = import_module("jax.sharding").NamedSharding

FLAT = make_mesh(x=2, y=4)
DEEP = make_mesh(a=2, b=2, c=2)
ROWS = P("x", "y")


def programs() -> Iterator[tuple[str, Program]]:
    """All of them."""
    yield from _vectorized()
    yield from _differentiated()
    yield from _repeated()
    yield from _within_one_another()
    yield from _replicas()
    yield from _deep_collectives()
    yield from _deep_shardings()


def on_flat(function: Callable[..., Any], given: Any, made: Any) -> Callable[..., Any]:
    """A jitted function of the devices of two axes."""
    return mapped(FLAT, function, given, made)


_COLLECTIVES: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "psum": (lambda a: lax.psum(a, "y"), P("x")),
    "pmax": (lambda a: lax.pmax(a, "y"), P("x")),
    "pmean": (lambda a: lax.pmean(a, ("x", "y")), P()),
    "gather": (lambda a: lax.all_gather(a, "y", axis=0), P("x")),
    "gather_tiled": (lambda a: lax.all_gather(a, "y", axis=1, tiled=True), P("x")),
    "scatter": (lambda a: lax.psum_scatter(a, "y", scatter_dimension=1, tiled=True), ROWS),
    "exchange": (lambda a: lax.all_to_all(a, "y", 1, 0, tiled=True), ROWS),
    "exchange_new": (lambda a: lax.all_to_all(a.reshape(-1, 4, 2), "y", 1, 1).sum(2), ROWS),
    "permute": (lambda a: lax.ppermute(a, "y", [(0, 2), (2, 1), (1, 0)]), ROWS),
    "index": (lambda a: a * lax.axis_index("y"), ROWS),
    "groups": (lambda a: lax.psum(a, "y", axis_index_groups=[[0, 3], [1, 2]]), ROWS),
}
"""Of parts of 3 or 4 rows and 8 columns."""


def _vectorized() -> Iterator[tuple[str, Program]]:
    for name, (function, made) in _COLLECTIVES.items():
        yield (
            f"collective_{name}",
            (on_flat(function, ROWS, made), [((8, 32), F32)]),
        )
        behind = P(*made, None, None)[: len(made)]
        yield (
            f"vmap_of_{name}",
            (
                on_flat(jax.vmap(function), P(None, "x", "y"), P(None, *behind)),
                [((3, 8, 32), F32)],
            ),
        )
    yield (
        "vmap_over_other_axes",
        (
            on_flat(
                jax.vmap(lambda a, w: lax.psum(a @ w, "y"), in_axes=(1, None), out_axes=2),
                (P("x", None, "y"), P("y")),
                P("x"),
            ),
            [((4, 3, 8), F32), ((8, 5), F32)],
        ),
    )
    yield (
        "vmap_around_a_mapped_function",
        (
            jax.jit(
                jax.vmap(
                    jax.shard_map(
                        lambda a: a - lax.pmean(a, "y"),
                        mesh=FLAT,
                        in_specs=ROWS,
                        out_specs=ROWS,
                        check_vma=False,
                    )
                )
            ),
            [((3, 4, 8), F32)],
        ),
    )
    yield (
        "vmap_with_a_name",
        (
            on_flat(
                jax.vmap(lambda a: a - lax.psum(lax.psum(a, "i"), "y"), axis_name="i"),
                ROWS,
                ROWS,
            ),
            [((4, 8), F32)],
        ),
    )


def _whole(mesh: Any, function: Callable[..., Any], given: Any, made: Any) -> Callable[..., Any]:
    return jax.shard_map(function, mesh=mesh, in_specs=given, out_specs=made, check_vma=True)


def _differentiated() -> Iterator[tuple[str, Program]]:
    for name, (function, made) in _COLLECTIVES.items():
        if name in ("pmax", "groups", "exchange_new", "index"):
            continue
        held = mapped(FLAT, function, ROWS, made)
        yield (
            f"grad_of_{name}",
            (
                jax.jit(jax.grad(lambda a, f=held: (jnp.sin(f(a)) ** 2).sum())),
                [((8, 32), F32)],
            ),
        )
    layer = _whole(FLAT, lambda x, w: lax.psum(jnp.tanh(x @ w), "y"), (P("x", "y"), P("y")), P("x"))
    shapes = [((6, 8), F32), ((8, 5), F32)]
    yield (
        "value_and_grad_of_a_layer",
        (jax.jit(jax.value_and_grad(lambda x, w: layer(x, w).sum(), argnums=1)), shapes),
    )
    yield (
        "grad_of_remat",
        (jax.jit(jax.grad(lambda x, w: jax.checkpoint(layer)(x, w).sum(), argnums=1)), shapes),
    )
    yield (
        "jvp_of_a_layer",
        (
            jax.jit(lambda x, w, t: jax.jvp(lambda each: layer(each, w), (x,), (t,))[1]),
            [*shapes, ((6, 8), F32)],
        ),
    )
    yield (
        "vjp_of_a_layer",
        (
            jax.jit(lambda x, w, t: jax.vjp(layer, x, w)[1](t)),
            [*shapes, ((6, 5), F32)],
        ),
    )
    yield (
        "hessian_of_a_sum",
        (
            jax.jit(
                jax.hessian(
                    lambda a: _whole(
                        FLAT, lambda b: lax.psum((b**3).sum(), ("x", "y")), P(("x", "y")), P()
                    )(a)
                )
            ),
            [((8,), F32)],
        ),
    )

    def inside(w: Any, x: Any) -> Any:
        def loss(each: Any) -> Any:
            return jnp.square(jnp.tanh(x @ each)).mean()

        return lax.pmean(jax.grad(loss)(w), ("x", "y"))

    yield (
        "grad_inside",
        (
            on_flat(inside, (P(), P(("x", "y"))), P()),
            [((5, 3), F32), ((16, 5), F32)],
        ),
    )
    yield (
        "remat_inside",
        (
            on_flat(
                lambda w, x: jax.grad(
                    lambda each: lax.psum(jax.checkpoint(lambda v: jnp.sin(x @ v))(each).sum(), "y")
                )(w),
                (P(), P(("x", "y"))),
                P(),
            ),
            [((5, 3), F32), ((16, 5), F32)],
        ),
    )
    for name, policy in {
        "dots": jax.checkpoint_policies.dots_saveable,
        "nothing": jax.checkpoint_policies.nothing_saveable,
    }.items():
        yield (
            f"remat_saves_{name}",
            (
                jax.jit(
                    jax.grad(
                        lambda w, x, p=policy: jax.checkpoint(layer, policy=p)(x, w).sum(),
                    )
                ),
                shapes[::-1],
            ),
        )
    yield (
        "custom_gradient",
        (jax.jit(jax.grad(lambda a: mapped(FLAT, _clipped, ROWS, ROWS)(a).sum())), [((4, 8), F32)]),
    )


@jax.custom_vjp
def _clipped(a: Any) -> Any:
    return jnp.clip(a, -1, 1) * 2


_clipped.defvjp(lambda a: (_clipped(a), a), lambda a, g: (lax.psum(g, "y") * (jnp.abs(a) < 1),))


def _repeated() -> Iterator[tuple[str, Program]]:
    for name, (function, _) in _COLLECTIVES.items():
        if name in ("gather", "gather_tiled", "exchange", "scatter", "exchange_new"):
            continue
        yield (
            f"loop_of_{name}",
            (
                on_flat(
                    lambda a, f=function: lax.fori_loop(0, 3, lambda i, c: f(c) / 2 + i, a),
                    ROWS,
                    ROWS,
                ),
                [((8, 32), F32)],
            ),
        )
        yield (
            f"branch_of_{name}",
            (
                on_flat(
                    lambda a, f=function: lax.cond(
                        lax.psum(a.sum(), ("x", "y")) > 3, f, lambda c: c + 1, a
                    ),
                    ROWS,
                    ROWS,
                ),
                [((8, 32), F32)],
            ),
        )
    yield (
        "scan_over_layers",
        (
            on_flat(
                lambda x, ws: lax.scan(
                    lambda c, w: (jnp.tanh(lax.psum(c[:, :2] @ w, "y")), c.mean()), x, ws
                )[0],
                (P("x"), P(None, "y")),
                P("x"),
            ),
            [((6, 5), F32), ((3, 8, 5), F32)],
        ),
    )
    yield (
        "scan_of_results",
        (
            on_flat(
                lambda a: lax.scan(
                    lambda c, row: (c + row, lax.all_gather(c, "y", tiled=True)),
                    jnp.zeros(a.shape[1:]),
                    a,
                )[1],
                P(None, ("x", "y")),
                P(None, "x"),
            ),
            [((5, 16), F32)],
        ),
    )
    yield (
        "map_over_rows",
        (
            on_flat(lambda a: lax.map(lambda row: lax.psum(row, "y") * row.sum(), a), ROWS, ROWS),
            [((6, 20), F32)],
        ),
    )
    yield (
        "associative_scan_of_parts",
        (
            on_flat(lambda a: lax.associative_scan(jnp.add, a) + lax.pmax(a[-1], "x"), ROWS, ROWS),
            [((10, 8), F32)],
        ),
    )
    yield (
        "prefix_over_devices",
        (
            on_flat(
                lambda a: (
                    jnp.cumsum(a, 1)
                    + jnp.sum(
                        jnp.where(
                            jnp.arange(4)[:, None, None] < lax.axis_index("y"),
                            lax.all_gather(a.sum(1, keepdims=True), "y"),
                            0,
                        ),
                        0,
                    )
                ),
                ROWS,
                ROWS,
            ),
            [((4, 12), F32)],
        ),
    )


def _within_one_another() -> Iterator[tuple[str, Program]]:
    inner = jax.shard_map(
        lambda a: lax.psum(a, "y") * 2,
        in_specs=P(None, "y"),
        out_specs=P(),
        axis_names={"y"},
        check_vma=False,
    )
    for name, function in {
        "sum": lambda a: inner(a).sum(0, keepdims=True),
        "product": lambda a: inner(a) @ jnp.ones((3, 2)),
        "two": lambda a: inner(a) + inner(a * a),
    }.items():
        yield (
            f"nested_{name}",
            (
                jax.jit(
                    jax.shard_map(
                        function,
                        mesh=FLAT,
                        in_specs=P("x"),
                        out_specs=P("x"),
                        axis_names={"x"},
                        check_vma=False,
                    )
                ),
                [((6, 12), F32)],
            ),
        )
    for name, (manual, given, made, function) in {
        "rows": ({"x"}, P("x"), P("x"), lambda a: (a * 2).sum(1, keepdims=True)),
        "columns": ({"y"}, P(None, "y"), P(None, "y"), lambda a: a - a.mean(0)),
        "exchange": (
            {"y"},
            P(None, "y"),
            P("y"),
            lambda a: lax.all_to_all(a, "y", 0, 1, tiled=True),
        ),
        "sum": ({"x"}, P("x"), P(), lambda a: lax.psum(jnp.sin(a), "x")),
        "product": ({"y"}, P(None, "y"), P(), lambda a: lax.psum(a @ a.T, "y")),
    }.items():
        part = jax.shard_map(
            function,
            mesh=FLAT,
            in_specs=given,
            out_specs=made,
            axis_names=manual,
            check_vma=False,
        )
        yield (
            f"auto_{name}",
            (
                jax.jit(
                    lambda a, f=part: f(a + 1) * 3, in_shardings=NamedSharding(FLAT, P("x", "y"))
                ),
                [((8, 12), F32)],
            ),
        )
    yield (
        "donated",
        (
            jax.jit(
                lambda a, b: (a + b, b * 2),
                in_shardings=(NamedSharding(FLAT, ROWS), NamedSharding(FLAT, P("y"))),
                out_shardings=(NamedSharding(FLAT, ROWS), NamedSharding(FLAT, P("x"))),
                donate_argnums=0,
            ),
            [((4, 12), F32), ((4, 12), F32)],
        ),
    )
    yield (
        "tree_of_results",
        (
            on_flat(
                lambda a, b: {"sum": lax.psum(a, "y"), "pair": (b, [a * b.sum()])},
                (ROWS, P("y")),
                {"sum": P("x"), "pair": (P("y"), [ROWS])},
            ),
            [((4, 12), F32), ((8, 3), F32)],
        ),
    )


def _replicas() -> Iterator[tuple[str, Program]]:
    pmap = jax.pmap
    yield "pmap_of_a_tree", (pmap(lambda a, b: {"x": a + b, "y": b}), [((8, 5), F32)] * 2)
    yield (
        "pmap_with_one_for_all",
        (pmap(lambda a, w: a @ w, in_axes=(0, None)), [((8, 3, 5), F32), ((5, 2), F32)]),
    )
    yield (
        "pmap_over_columns",
        (pmap(lambda a: a * 2, in_axes=1, out_axes=1), [((5, 8), F32)]),
    )
    yield (
        "pmap_with_a_static_argument",
        (
            _Fixed(pmap(lambda a, n: a**n, static_broadcasted_argnums=1), 3),
            [((8, 5), F32)],
        ),
    )
    for name, function in {
        "mean": lambda a: lax.pmean(a, "i"),
        "max": lambda a: lax.pmax(a, "i"),
        "gather": lambda a: lax.all_gather(a, "i"),
        "scatter": lambda a: lax.psum_scatter(a.reshape(8, 2), "i"),
        "permute": lambda a: lax.ppermute(a, "i", [(n, (n + 3) % 8) for n in range(8)]),
        "exchange": lambda a: lax.all_to_all(a.reshape(8, 2), "i", 0, 0),
        "index": lambda a: a * lax.axis_index("i"),
        "groups": lambda a: lax.psum(a, "i", axis_index_groups=[[0, 1, 4, 5], [2, 3, 6, 7]]),
    }.items():
        yield f"pmap_{name}", (pmap(function, axis_name="i"), [((8, 16), F32)])
    yield (
        "pmap_of_four",
        (
            pmap(lambda a: lax.psum(a, "i"), axis_name="i", devices=jax.devices()[:4]),
            [((4, 7), F32)],
        ),
    )
    yield (
        "pmap_of_gradients",
        (
            pmap(
                lambda w, x: lax.pmean(jax.grad(lambda v: jnp.tanh(x @ v).sum())(w), "i"),
                axis_name="i",
                in_axes=(None, 0),
                out_axes=None,
            ),
            [((5, 3), F32), ((8, 4, 5), F32)],
        ),
    )
    yield (
        "pmap_of_a_scan",
        (
            pmap(
                lambda a: lax.scan(lambda c, x: (c + lax.psum(x, "i"), c), jnp.zeros(3), a)[1],
                axis_name="i",
            ),
            [((8, 4, 3), F32)],
        ),
    )


class _Fixed:
    """A function of which the last argument is known."""

    def __init__(self, function: Any, value: Any) -> None:
        self.function, self.value = function, value

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments, self.value)

    def lower(self, *arguments: Any) -> Any:
        """As a jitted function."""
        return self.function.lower(*arguments, self.value)


# --- Three axes -----------------------------------------------------------------------------------


def _deep_collectives() -> Iterator[tuple[str, Program]]:
    spec = P("a", ("b", "c"))
    for count in (1, 2, 3):
        for over in itertools.combinations("abc", count):
            name = "".join(over)
            yield (
                f"deep_psum_{name}",
                (mapped(DEEP, partial(lax.psum, axis_name=over), spec, spec), [((4, 12), F32)]),
            )
    for over in ("a", "b", "c", ("a", "c"), ("c", "b"), ("b", "c", "a")):
        name = "".join(over)
        size = 2 ** len(over)
        yield (
            f"deep_gather_{name}",
            (
                mapped(
                    DEEP,
                    partial(lax.all_gather, axis_name=over, axis=1, tiled=True),
                    P(None, over),
                    P(),
                ),
                [((3, 16), F32)],
            ),
        )
        yield (
            f"deep_scatter_{name}",
            (
                mapped(
                    DEEP,
                    partial(lax.psum_scatter, axis_name=over, scatter_dimension=0, tiled=True),
                    P(),
                    P(over),
                ),
                [((16, 3), F32)],
            ),
        )
        yield (
            f"deep_exchange_{name}",
            (
                mapped(
                    DEEP,
                    partial(
                        lax.all_to_all, axis_name=over, split_axis=1, concat_axis=0, tiled=True
                    ),
                    P(over),
                    P(None, over),
                ),
                [((2 * size, 8 * size), F32)],
            ),
        )
    for axis in "abc":
        yield (
            f"deep_index_{axis}",
            (
                mapped(DEEP, lambda x, n=axis: x + lax.axis_index(n), P(("a", "b"), "c"), spec),
                [((4, 12), F32)],
            ),
        )
        yield (
            f"deep_permute_{axis}",
            (
                mapped(
                    DEEP,
                    partial(lax.ppermute, axis_name=axis, perm=[(0, 1), (1, 0)]),
                    spec,
                    spec,
                ),
                [((4, 12), F32)],
            ),
        )
    yield (
        "deep_pmax",
        (
            mapped(DEEP, lambda x: lax.pmax(x, ("a", "c")), P(("a", "c"), "b"), P(None, "b")),
            [((8, 6), F32)],
        ),
    )
    yield (
        "four_axes",
        (
            mapped(
                make_mesh(a=2, b=1, c=2, d=2),
                lambda x: lax.psum(x, ("a", "d")) + lax.axis_index("c"),
                P(("a", "d"), ("b", "c")),
                P(None, ("b", "c")),
            ),
            [((8, 6), F32)],
        ),
    )


def _deep_shardings() -> Iterator[tuple[str, Program]]:
    specs = {
        "a_b": P("a", "b"),
        "c_a": P("c", "a"),
        "ab_c": P(("a", "b"), "c"),
        "cb": P(("c", "b")),
        "_b": P(None, "b"),
        "bca": P(("b", "c", "a")),
        "__": P(),
    }
    for (name, given), (other, made) in itertools.product(specs.items(), specs.items()):
        yield (
            f"deep_move_{name}_to_{other}",
            (
                jax.jit(
                    lambda x: x * 2 + 1,
                    in_shardings=NamedSharding(DEEP, given),
                    out_shardings=NamedSharding(DEEP, made),
                ),
                [((8, 24), F32)],
            ),
        )
    for left, right in itertools.product(("a_b", "ab_c", "_b"), ("c_a", "cb", "_b")):
        yield (
            f"deep_matmul_{left}_{right}",
            (
                jax.jit(
                    jnp.matmul,
                    in_shardings=(
                        NamedSharding(DEEP, specs[left]),
                        NamedSharding(DEEP, specs[right]),
                    ),
                ),
                [((4, 12), F32), ((12, 6), F32)],
            ),
        )
    yield (
        "deep_attention",
        (
            jax.jit(
                lambda q, k, v: jnp.einsum(
                    "bhqk,bkhd->bqhd",
                    jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k), -1),
                    v,
                ),
                in_shardings=(NamedSharding(DEEP, P("a", "b", "c")),) * 3,
            ),
            [((2, 6, 4, 5), F32)] * 3,
        ),
    )
    yield (
        "deep_mlp",
        (
            jax.jit(
                lambda x, up, down: jax.nn.silu(x @ up) @ down,
                in_shardings=(
                    NamedSharding(DEEP, P("a")),
                    NamedSharding(DEEP, P(None, ("b", "c"))),
                    NamedSharding(DEEP, P(("b", "c"))),
                ),
            ),
            [((6, 8), F32), ((8, 16), F32), ((16, 8), F32)],
        ),
    )
