"""Programs that mix several kinds of division in one, by name, with shapes of their arguments.

See `shard_map_programs.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from jit_programs import MESH, keep, spread
from shard_map_programs import F32, P, Program, make_mesh, mapped

jax: Any = import_module("jax")
jnp: Any = import_module("jax.numpy")
lax: Any = import_module("jax.lax")

RING = make_mesh(y=8)


def programs() -> Iterator[tuple[str, Program]]:
    """All of them."""
    yield from _written()
    yield from _signals()
    yield from _ordered()
    yield from _sums()
    yield from _narrow()
    yield from _manual()
    yield from _mapped()
    yield from _training()


def jitted(function: Callable[..., Any], *specs: Any, made: Any = None) -> Callable[..., Any]:
    """A jitted function on the mesh of two by four."""
    return spread(MESH, function, [*specs], made)


def _written() -> Iterator[tuple[str, Program]]:
    """What is written into tensors that are divided."""
    x_y = P("x", "y")
    table, rows = ((16, 8), F32), ((6,), "index16")
    yield (
        "scatter_of_points",
        (
            jitted(lambda a, i, j, u: a.at[i, j].add(u), x_y, None, None, None, made=x_y),
            [table, rows, ((6,), "index8"), ((6,), F32)],
        ),
    )
    yield (
        "scatter_of_points_that_replace",
        (
            jitted(lambda a, i, j: a.at[i, j].set(7.0), x_y, None, None, made=x_y),
            [table, rows, ((6,), "index8")],
        ),
    )
    yield (
        "scatter_of_points_in_rows",
        (
            jitted(lambda a, i, j, u: a.at[i, j].max(u), P("y"), None, None, None, made=P("y")),
            [table, rows, ((6,), "index8"), ((6,), F32)],
        ),
    )
    yield (
        "scatter_of_lines",
        (
            jitted(
                lambda a, i, j, u: a.at[i, j].add(u),
                P("x", "y", None),
                None,
                None,
                P(None, None),
                made=P("x", "y"),
            ),
            [((4, 8, 6), F32), ((5,), "index4"), ((5,), "index8"), ((5, 6), F32)],
        ),
    )
    yield (
        "scatter_outside",
        (
            jitted(
                lambda a, i, u: a.at[i - 3].add(u, mode="drop"), P("y"), None, None, made=P("y")
            ),
            [table, rows, ((6, 8), F32)],
        ),
    )
    yield (
        "scatter_of_divided_updates",
        (
            jitted(lambda a, i, u: a.at[i].add(u), P(), P("y"), P("y"), made=P()),
            [((5, 8), F32), ((8,), "index5"), ((8, 8), F32)],
        ),
    )
    yield (
        "segment_sum",
        (
            jitted(
                lambda a, i: jax.ops.segment_sum(a, i, num_segments=8), P("x"), P("x"), made=P("y")
            ),
            [((12, 6), F32), ((12,), "index8")],
        ),
    )
    yield (
        "gather_of_points",
        (
            jitted(lambda a, i, j: a[i, j], x_y, None, None),
            [table, rows, ((6,), "index8")],
        ),
    )
    yield (
        "histogram",
        (jitted(lambda i: jnp.zeros(12).at[i].add(1.0), P("x"), made=P("y")), [((16,), "index12")]),
    )
    yield (
        "update_of_a_block",
        (
            jitted(
                lambda a, u, i: lax.dynamic_update_slice(a, u, (i, i)), x_y, None, None, made=x_y
            ),
            [table, ((3, 2), F32), ((), "index4")],
        ),
    )
    yield (
        "diagonal",
        (
            jitted(lambda a: jnp.fill_diagonal(a, 3.0, inplace=False), x_y, made=x_y),
            [((8, 8), F32)],
        ),
    )


def _signals() -> Iterator[tuple[str, Program]]:
    """Transforms and windows over dimensions that are divided."""
    yield (
        "fft_over_rows",
        (jitted(lambda a: jnp.abs(jnp.fft.fft(a, axis=0)), P("x")), [((8, 6), F32)]),
    )
    yield (
        "fft_of_batches",
        (jitted(lambda a: jnp.fft.rfft(a).real, P("x"), made=P("x")), [((4, 16), F32)]),
    )
    yield (
        "fft_and_back",
        (
            jitted(lambda a: jnp.fft.irfft(jnp.fft.rfft(a, axis=1), axis=1), P("x", "y")),
            [((4, 8), F32)],
        ),
    )

    def halo(part: Any, kernel: Any) -> Any:
        left = lax.ppermute(part[:, -1:], "y", [(i, i + 1) for i in range(7)])
        right = lax.ppermute(part[:, :1], "y", [(i + 1, i) for i in range(7)])
        whole = jnp.concatenate([left, part, right], axis=1)
        return lax.conv_general_dilated(
            whole, kernel, (1, 1), [(0, 0), (1, 1)], dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    yield (
        "convolution_with_halo",
        (
            mapped(RING, halo, (P(None, "y"), P()), P(None, "y")),
            [((2, 16, 5, 3), F32), ((3, 3, 3, 4), F32)],
        ),
    )
    yield (
        "convolution_of_batches",
        (
            jitted(
                lambda a, k: lax.conv_general_dilated(
                    a, k, (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
                ),
                P("x"),
                P(None, None, None, "y"),
            ),
            [((4, 7, 6, 3), F32), ((3, 3, 3, 8), F32)],
        ),
    )
    yield (
        "convolution_in_groups",
        (
            jitted(
                lambda a, k: lax.conv_general_dilated(
                    a,
                    k,
                    (1, 1),
                    "VALID",
                    dimension_numbers=("NHWC", "HWIO", "NHWC"),
                    feature_group_count=8,
                ),
                P("x", None, None, "y"),
                P(None, None, None, "y"),
            ),
            [((2, 6, 5, 8), F32), ((3, 2, 1, 8), F32)],
        ),
    )
    yield (
        "moving_sums",
        (
            jitted(
                lambda a: lax.reduce_window(a, 0.0, lax.add, (1, 3), (1, 1), "SAME"), P("x", "y")
            ),
            [((4, 12), F32)],
        ),
    )
    yield (
        "differences",
        (jitted(lambda a: jnp.diff(a, axis=0) * 2, P("y")), [((12, 6), F32)]),
    )
    yield (
        "rolled",
        (jitted(lambda a: jnp.roll(a, 3, axis=0), P("y"), made=P("y")), [((12, 6), F32)]),
    )


def _ordered() -> Iterator[tuple[str, Program]]:
    """Prefixes, orders and largest elements along dimensions that are divided."""
    yield (
        "cumulative_product",
        (jitted(lambda a: jnp.cumprod(a / 2, axis=0), P("y")), [((8, 6), F32)]),
    )
    yield (
        "cumulative_maximum_of_rows",
        (jitted(lambda a: lax.cummax(a, axis=1), P("x", "y"), made=P("x")), [((4, 8), F32)]),
    )
    yield (
        "cumulative_logsumexp",
        (jitted(lambda a: lax.cumlogsumexp(a, axis=1), P("x")), [((4, 8), F32)]),
    )
    yield (
        "sort_with_keys",
        (
            jitted(lambda a, b: lax.sort((a, b), dimension=0, num_keys=1), P("x"), P("x")),
            [((16,), F32), ((16,), F32)],
        ),
    )
    yield ("argsort", (jitted(lambda a: jnp.argsort(a, axis=1), P("x", "y")), [((4, 8), F32)]))
    yield (
        "argmin_with_ties",
        (
            jitted(lambda a: (a.argmin(1), a.argmax(0)), P("x", "y"), made=P("y")),
            [((8, 16), "index4")],
        ),
    )
    yield (
        "tokens_of_divided_words",
        (
            jitted(
                lambda i, e, w: lax.scan(
                    lambda t, _: (jnp.argmax(jnp.tanh(e[t]) @ w, axis=1),) * 2, i, None, length=3
                )[1],
                P(),
                P("y"),
                P(None, ("x", "y")),
            ),
            [((3,), "index16"), ((16, 6), F32), ((6, 16), F32)],
        ),
    )
    yield (
        "gather_that_fills",
        (
            jitted(
                lambda a, i, j: a.at[i - 4, j].get(mode="fill", fill_value=-1.0),
                P("x", "y"),
                None,
                None,
            ),
            [((8, 12), F32), ((9,), "index16"), ((9,), "index12")],
        ),
    )
    yield ("top", (jitted(lambda a: lax.top_k(a, 3), P("x")), [((6, 16), F32)]))
    yield ("top_of_divided", (jitted(lambda a: lax.top_k(a, 3), P("x", "y")), [((6, 16), F32)]))
    yield ("median", (jitted(lambda a: jnp.median(a, axis=1), P("x", "y")), [((4, 12), F32)]))
    yield (
        "searched",
        (
            jitted(lambda a, v: jnp.searchsorted(jnp.sort(a), v), None, P("y")),
            [((10,), F32), ((12,), F32)],
        ),
    )
    yield (
        "triangular_solve",
        (
            jitted(
                lambda a, b: jax.scipy.linalg.solve_triangular(
                    jnp.tril(a) + 4 * jnp.eye(6), b, lower=True
                ),
                None,
                P(None, "y"),
            ),
            [((6, 6), F32), ((6, 8), F32)],
        ),
    )


def _sums() -> Iterator[tuple[str, Program]]:
    """Products of three arrays, and reductions of several kinds."""
    three = [((4, 8, 6), F32), ((8, 6, 5), F32), ((5, 4), F32)]
    yield (
        "einsum_of_three",
        (
            jitted(lambda a, b, c: jnp.einsum("xki,kij,jl->xl", a, b, c), P("x", "y"), P("y"), P()),
            three,
        ),
    )
    yield (
        "einsum_of_three_that_stay",
        (
            jitted(
                lambda a, b, c: jnp.einsum("xki,kij,jl->xkl", a, b, c),
                P("x", "y"),
                P("y"),
                P(None, "y"),
                made=P("x", "y"),
            ),
            three,
        ),
    )
    yield (
        "outer_products",
        (
            jitted(lambda a, b: jnp.einsum("bi,bj->bij", a, b).sum(0), P("x"), P("x", "y")),
            [((6, 4), F32), ((6, 8), F32)],
        ),
    )
    yield ("variance", (jitted(lambda a: a.var(axis=0), P("x", "y")), [((8, 12), F32)]))
    yield ("norm_of_all", (jitted(lambda a: a / jnp.linalg.norm(a), P("x", "y")), [((8, 12), F32)]))
    yield (
        "argmax_of_rows",
        (jitted(lambda a: (a.argmin(0), a.max(0)), P("x", "y")), [((8, 12), F32)]),
    )
    yield (
        "masked_softmax",
        (
            jitted(
                lambda a, m: jax.nn.softmax(jnp.where(m > 0, a, -jnp.inf), axis=1),
                P("x", "y"),
                P("x", "y"),
            ),
            [((4, 16), F32), ((4, 16), F32)],
        ),
    )
    yield (
        "kronecker",
        (jitted(jnp.kron, P("x"), P(None, "y")), [((4, 3), F32), ((2, 4), F32)]),
    )
    yield (
        "one_hot_product",
        (
            jitted(lambda i, w: jax.nn.one_hot(i, 16) @ w, P("x"), P("y")),
            [((6,), "index16"), ((16, 10), F32)],
        ),
    )
    yield (
        "group_norm",
        (
            jitted(
                lambda a: (
                    lambda g: (
                        (g - g.mean((1, 3), keepdims=True))
                        * lax.rsqrt(g.var((1, 3), keepdims=True) + 1e-5)
                    ).reshape(a.shape)
                )(a.reshape(4, 6, 4, 2)),
                P("x", None, "y"),
            ),
            [((4, 6, 8), F32)],
        ),
    )


def _narrow() -> Iterator[tuple[str, Program]]:
    """Narrow types."""
    yield (
        "product_of_bfloat16",
        (
            jitted(lambda a, b: a @ b, P("x", "y"), P("y")),
            [((4, 16), "bfloat16"), ((16, 6), "bfloat16")],
        ),
    )
    yield (
        "product_of_int8",
        (
            jitted(
                lambda a, b: lax.dot(a, b, preferred_element_type=jnp.int32), P("x", "y"), P("y")
            ),
            [((4, 16), "int8"), ((16, 6), "int8")],
        ),
    )
    yield (
        "scaled_int8",
        (
            jitted(lambda a, w, s: a @ (w.astype(jnp.float32) * s), P("x"), P(None, "y"), P("y")),
            [((4, 16), F32), ((16, 8), "int8"), ((8,), F32)],
        ),
    )
    yield (
        "scaled_int4",
        (
            jitted(lambda a, w: a @ w.astype(jnp.float32), P("x"), P(None, "y")),
            [((4, 16), F32), ((16, 8), "int4")],
        ),
    )
    yield (
        "float8",
        (
            jitted(
                lambda a, w: a.astype(jnp.float8_e4m3fn).astype(jnp.float32) @ w,
                P("x"),
                P(None, "y"),
            ),
            [((4, 16), F32), ((16, 8), F32)],
        ),
    )
    yield (
        "logic",
        (
            jitted(lambda a, b: ((a > 0) & (b > 0)).all(0), P("x", "y"), P(None, "y")),
            [((4, 8), F32), ((4, 8), F32)],
        ),
    )
    yield (
        "unsigned_sum",
        (
            mapped(MESH, lambda a: lax.psum(a, ("x", "y")), P("x", "y"), P()),
            [((4, 8), "uint8")],
        ),
    )


def _manual() -> Iterator[tuple[str, Program]]:
    """Programs that say what each device computes, in part or in several regions."""

    def partly(function: Any, names: set[str], given: Any, made: Any) -> Any:
        return jax.jit(
            jax.shard_map(
                function,
                mesh=MESH,
                in_specs=given,
                out_specs=made,
                axis_names=names,
                check_vma=False,
            )
        )

    yield (
        "auto_axis_within",
        (
            partly(
                lambda a, w: lax.psum(jnp.tanh(keep_auto(a, None, "x") @ w), "y"),
                {"y"},
                (P("y"), P()),
                P(),
            ),
            [((8, 6), F32), ((6, 4), F32)],
        ),
    )

    def both(part: Any, weights: Any) -> Any:
        inner = jax.shard_map(
            lambda a, w: lax.psum(a @ w, "y"),
            in_specs=(P(None, "y"), P("y")),
            out_specs=P(),
            axis_names={"y"},
            check_vma=False,
        )
        return lax.pmean(inner(part, weights), "x")

    yield (
        "nested_regions",
        (partly(both, {"x"}, (P("x"), P()), P()), [((4, 8), F32), ((8, 6), F32)]),
    )
    yield (
        "sum_over_two_axes_in_parts",
        (
            mapped(
                MESH,
                lambda a: lax.psum_scatter(lax.psum(a, "x"), "y", scatter_dimension=1, tiled=True),
                P("x"),
                P(None, "y"),
            ),
            [((4, 8), F32)],
        ),
    )

    def pipeline(weights: Any, batches: Any) -> Any:
        stage = lax.axis_index("y")

        def step(state: Any, number: Any) -> Any:
            inputs = jnp.where(stage == 0, batches[jnp.minimum(number, 3)], state)
            made = jnp.tanh(inputs @ weights[0])
            return lax.ppermute(made, "y", [(i, (i + 1) % 8) for i in range(8)]), made

        _, outs = lax.scan(step, jnp.zeros_like(batches[0]), jnp.arange(11))
        return outs[None, 7:]

    yield (
        "pipeline_of_microbatches",
        (
            mapped(RING, pipeline, (P("y"), P()), P("y")),
            [((8, 6, 6), F32), ((4, 3, 6), F32)],
        ),
    )

    def experts(tokens: Any, gate: Any, weights: Any) -> Any:
        choice = jnp.argmax(tokens @ gate, axis=1)
        order = jnp.cumsum(jax.nn.one_hot(choice, 8, dtype=jnp.int32), axis=0)
        place = jnp.take_along_axis(order, choice[:, None], 1)[:, 0] - 1
        sent = jnp.zeros((8, 4, tokens.shape[1])).at[choice, place].set(tokens, mode="drop")
        got = lax.all_to_all(sent, "y", 0, 0, tiled=True)
        made = jax.nn.gelu(got @ weights[0])
        back = lax.all_to_all(made, "y", 0, 0, tiled=True)
        kept = (place < 4)[:, None]
        return jnp.where(kept, back[choice, jnp.minimum(place, 3)], 0)

    yield (
        "mixture_of_experts",
        (
            mapped(RING, experts, (P("y"), P(), P("y")), P("y")),
            [((48, 6), F32), ((6, 8), F32), ((8, 6, 6), F32)],
        ),
    )

    yield (
        "exchange_of_a_tree",
        (
            mapped(
                MESH,
                lambda a, b: lax.all_to_all((a, b), "y", 1, 0, tiled=True),
                (P("y"), P("y")),
                (P(None, "y"), P(None, "y")),
            ),
            [((8, 8), F32), ((4, 12), F32)],
        ),
    )
    yield (
        "random_by_device",
        (
            mapped(
                RING,
                lambda a: a + jnp.sin(lax.axis_index("y").astype(jnp.float32) * jnp.arange(3.0)),
                P("y"),
                P("y"),
            ),
            [((8, 3), F32)],
        ),
    )

    def switched(part: Any) -> Any:
        index = lax.axis_index("x")
        return lax.switch(index, [jnp.sin, lambda a: lax.cumsum(a, axis=1)], part)

    yield ("branch_by_device", (mapped(MESH, switched, P("x", "y"), P("x", "y")), [((4, 8), F32)]))

    def sorted_parts(part: Any) -> Any:
        """Odd-even transposition between neighbours."""
        index = lax.axis_index("y")
        part = jnp.sort(part)
        for turn in range(8):
            is_left = (index + turn) % 2 == 0
            pairs = [(i, i + 1) for i in range(turn % 2, 7, 2)]
            other = lax.ppermute(part, "y", pairs + [(b, a) for a, b in pairs])
            has = (is_left & (index < 7)) | (~is_left & (index > 0))
            whole = jnp.sort(jnp.concatenate([part, other]))
            new = jnp.where(is_left, whole[:4], whole[4:])
            part = jnp.where(has, new, part)
        return part

    yield ("sort_between_devices", (mapped(RING, sorted_parts, P("y"), P("y")), [((32,), F32)]))


def keep_auto(array: Any, *spec: Any) -> Any:
    """An array that is spread over axes that a region leaves to the compiler."""
    return lax.with_sharding_constraint(array, P(*spec))


def _mapped() -> Iterator[tuple[str, Program]]:
    """Transformed regions."""
    region = jax.shard_map(
        lambda a, w: lax.psum(a @ w, "y"),
        mesh=MESH,
        in_specs=(P("x", "y"), P("y")),
        out_specs=P("x"),
        check_vma=False,
    )
    yield (
        "vmap_of_a_region",
        (jax.jit(jax.vmap(region, (0, None))), [((3, 4, 8), F32), ((8, 5), F32)]),
    )
    yield (
        "gradient_of_a_region",
        (
            jax.jit(jax.grad(lambda a, w: (region(a, w) ** 2).sum(), (0, 1))),
            [((4, 8), F32), ((8, 5), F32)],
        ),
    )
    yield (
        "linearized_region",
        (
            jax.jit(lambda a, w: jax.jvp(lambda b: jnp.sin(region(b, w)), (a,), (a * 2,))),
            [((4, 8), F32), ((8, 5), F32)],
        ),
    )

    @jax.custom_vjp
    def scaled(a: Any) -> Any:
        return lax.psum(a, "y")

    scaled.defvjp(lambda a: (lax.psum(a, "y"), None), lambda _, g: (g * 3,))
    yield (
        "custom_gradient_of_a_sum",
        (
            mapped(
                MESH,
                lambda a: jax.grad(lambda b: (scaled(b * b) ** 2).sum())(a),
                P("x", "y"),
                P("x", "y"),
            ),
            [((4, 8), F32)],
        ),
    )
    yield (
        "map_in_batches",
        (
            jitted(lambda a, w: lax.map(lambda r: jnp.tanh(r @ w), a), P(None, "x"), P(None, "y")),
            [((3, 4, 6), F32), ((6, 8), F32)],
        ),
    )
    yield (
        "loop_until",
        (
            jitted(
                lambda a: lax.while_loop(lambda s: jnp.sum(s) < 90.0, lambda s: s + s * s + 1.0, a),
                P("x", "y"),
            ),
            [((4, 8), F32)],
        ),
    )


def _training() -> Iterator[tuple[str, Program]]:
    """Layers in loops, and steps of optimizers, whose weights are divided."""

    def layers(weights: Any, x: Any) -> Any:
        def layer(h: Any, pair: Any) -> Any:
            up, down = pair
            return keep(h + jax.nn.gelu(h @ up) @ down, "x"), h.mean()

        return lax.scan(layer, x, weights)

    stacked = [((3, 8, 16), F32), ((3, 16, 8), F32)]
    up, down = P(None, None, "y"), P(None, "y")
    yield (
        "scan_of_divided_layers",
        (jitted(lambda u, d, x: layers((u, d), x), up, down, P("x")), [*stacked, ((4, 8), F32)]),
    )

    def loss(weights: Any, x: Any, y: Any) -> Any:
        return ((layers(weights, x)[0] - y) ** 2).mean()

    yield (
        "gradient_of_divided_layers",
        (
            jitted(
                lambda u, d, x, y: jax.grad(loss)((u / 9, d / 9), x, y), up, down, P("x"), P("x")
            ),
            [*stacked, ((4, 8), F32), ((4, 8), F32)],
        ),
    )

    def adam(weights: Any, first: Any, second: Any, x: Any, y: Any) -> Any:
        value, slope = jax.value_and_grad(lambda w: ((jnp.tanh(x @ w) - y) ** 2).mean())(weights)
        first = 0.9 * first + 0.1 * slope
        second = 0.99 * second + 0.01 * slope**2
        step = 0.1 * (first / 0.1) / (jnp.sqrt(second / 0.01) + 1e-4)
        return weights - step, first, second, value

    whole = P(("x", "y"))
    yield (
        "step_of_fully_divided_weights",
        (
            jitted(adam, whole, whole, whole, whole, whole),
            [((16, 6), F32)] * 3 + [((8, 16), F32), ((8, 6), F32)],
        ),
    )

    def gathered(part: Any, x: Any, y: Any) -> Any:
        def local(w: Any) -> Any:
            return ((jnp.tanh(x @ lax.all_gather(w, "y", tiled=True)) - y) ** 2).mean()

        value, slope = jax.value_and_grad(local)(part)
        return part - 0.1 * slope / 8, lax.pmean(value, "y")

    yield (
        "gathered_weights_by_hand",
        (
            mapped(RING, gathered, (P("y"), P("y"), P("y")), (P("y"), P())),
            [((16, 6), F32), ((8, 16), F32), ((8, 6), F32)],
        ),
    )

    def heads(x: Any, qkv: Any, out: Any) -> Any:
        q, k, v = jnp.einsum("bsd,cdhe->cbhse", x, qkv)
        weights = jax.nn.softmax(q @ k.swapaxes(-1, -2) / 2, axis=-1)
        return jnp.einsum("bhse,hed->bsd", weights @ v, out)

    yield (
        "attention_of_divided_heads",
        (
            jitted(heads, P("x"), P(None, None, "y"), P("y"), made=P("x")),
            [((2, 6, 8), F32), ((3, 8, 4, 4), F32), ((4, 4, 8), F32)],
        ),
    )
    yield (
        "attention_with_a_cache",
        (
            jitted(
                lambda c, k, q, i: (
                    lambda n: (n, jax.nn.softmax(jnp.einsum("bhe,bshe->bhs", q, n)))
                )(lax.dynamic_update_slice(c, k[:, None], (0, i, 0, 0))),
                P("x", None, "y"),
                P("x", "y"),
                P("x", "y"),
                None,
            ),
            [((2, 6, 4, 3), F32), ((2, 4, 3), F32), ((2, 4, 3), F32), ((), "index6")],
        ),
    )
    yield (
        "cross_entropy_of_divided_classes",
        (
            jitted(
                lambda a, i: -jnp.take_along_axis(jax.nn.log_softmax(a), i[:, None], 1).mean(),
                P("x", "y"),
                P("x"),
            ),
            [((6, 16), F32), ((6,), "index16")],
        ),
    )
    yield (
        "embedding_and_its_product",
        (
            jitted(lambda e, i: jnp.take(e, i, axis=0) @ e.T, P("y"), P("x")),
            [((16, 6), F32), ((4, 3), "index16")],
        ),
    )
    yield (
        "recurrence",
        (
            jitted(
                lambda w, xs: lax.scan(
                    lambda h, x: (jnp.tanh(h @ w + x),) * 2, jnp.zeros((4, 8)), xs
                )[1],
                P(None, "y"),
                P(None, "x"),
            ),
            [((8, 8), F32), ((5, 4, 8), F32)],
        ),
    )
    yield (
        "prefix_of_matrices",
        (
            jitted(functools.partial(lax.associative_scan, jnp.matmul), P(None, "x")),
            [((4, 2, 3, 3), F32)],
        ),
    )
