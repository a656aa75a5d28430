"""Programs in the manner of JAX's tests of `shard_map`, by name, with shapes of their arguments.

Each is a function of arrays that run on a mesh of virtual CPU devices; `record.py` writes what JAX
makes of them, which `test_shard_map.py` compares with.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

jax: Any = import_module("jax")
jnp: Any = import_module("jax.numpy")
lax: Any = import_module("jax.lax")
sharding: Any = import_module("jax.sharding")
AxisType, P = sharding.AxisType, sharding.PartitionSpec

Program = tuple[Callable[..., Any], list[tuple[tuple[int, ...], str]]]
F32 = "float32"


def make_mesh(**axes: int) -> Any:
    """A mesh of the first devices with named axes."""
    return jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=(AxisType.Auto,) * len(axes))


def mapped(mesh: Any, function: Callable[..., Any], given: Any, made: Any) -> Callable[..., Any]:
    """A jitted function that runs on each device."""
    whole = jax.shard_map(function, mesh=mesh, in_specs=given, out_specs=made, check_vma=False)
    return jax.jit(whole)


def programs() -> Iterator[tuple[str, Program]]:
    """All of them."""
    yield from _reductions()
    yield from _gathers()
    yield from _exchanges()
    yield from _numbers()
    yield from _models()
    yield from _control()
    yield from _replicas()


_MESHES: dict[str, dict[str, int]] = {
    "2x4": {"x": 2, "y": 4},
    "4x2": {"x": 4, "y": 2},
    "8": {"y": 8},
    "1x2": {"x": 1, "y": 2},
    "8x1": {"y": 8, "x": 1},
}


def _reductions() -> Iterator[tuple[str, Program]]:
    kinds = {"psum": lax.psum, "pmean": lax.pmean, "pmax": lax.pmax, "pmin": lax.pmin}
    for name, axes in _MESHES.items():
        mesh = make_mesh(**axes)
        for kind, reduce in kinds.items():
            for over in ("y", "x", ("x", "y"), ("y", "x")):
                if not {*over} <= {*axes} or (kind != "psum" and name in ("1x2", "8x1", "4x2")):
                    continue
                spec = P(*axes)
                kept = P(*(None if axis in over else axis for axis in axes))
                yield (
                    f"{kind}_{''.join(over)}_{name}",
                    (
                        mapped(mesh, lambda a, r=reduce, o=over: r(a, o), spec, kept),
                        [((8, 24), F32)],
                    ),
                )
    mesh = make_mesh(x=2, y=4)
    spec = P("x", "y")
    for dtype in ("int32", "uint32", "bfloat16", "float16", "int8"):
        yield (
            f"psum_{dtype}",
            (
                mapped(mesh, lambda a: lax.psum(a, "y"), spec, P("x")),
                [((6, 20), dtype)],
            ),
        )
    yield (
        "psum_of_two",
        (
            mapped(
                mesh, lambda a, b: lax.psum((a, b * 2), "x"), (spec, P("x")), (P(None, "y"), P())
            ),
            [((4, 12), F32), ((6, 5), F32)],
        ),
    )
    for kind, reduce in {"psum": lax.psum, "pmax": lax.pmax}.items():
        for groups in ([[0, 2], [1, 3]], [[0, 1], [2, 3]], [[3, 0], [1, 2]]):
            name = "".join(map(str, itertools.chain(*groups)))
            yield (
                f"{kind}_groups_{name}",
                (
                    mapped(
                        mesh,
                        lambda a, r=reduce, g=groups: r(a, "y", axis_index_groups=g),
                        spec,
                        spec,
                    ),
                    [((4, 12), F32)],
                ),
            )
    yield (
        "psum_of_a_number",
        (mapped(mesh, lambda a: a * lax.psum(1, "y"), spec, spec), [((4, 12), F32)]),
    )
    yield (
        "psum_of_scalars",
        (
            mapped(mesh, lambda a: lax.psum(a.sum(), ("x", "y")), spec, P()),
            [((4, 12), F32)],
        ),
    )
    yield (
        "logsumexp",
        (
            mapped(
                mesh,
                lambda a: jnp.log(lax.psum(jnp.exp(a - lax.pmax(a.max(), "y")).sum(), "y")),
                spec,
                P(),
            ),
            [((4, 12), F32)],
        ),
    )


def _gathers() -> Iterator[tuple[str, Program]]:
    mesh = make_mesh(x=2, y=4)
    for over in ("y", "x", ("x", "y"), ("y", "x")):
        name = "".join(over)
        for axis in (0, 1):
            given = P(over) if axis == 0 else P(None, over)
            yield (
                f"all_gather_{name}_{axis}",
                (
                    mapped(
                        mesh,
                        lambda a, o=over, n=axis: lax.all_gather(a, o, axis=n, tiled=True),
                        given,
                        P(),
                    ),
                    [((16, 24), F32)],
                ),
            )
            yield (
                f"psum_scatter_{name}_{axis}",
                (
                    mapped(
                        mesh,
                        lambda a, o=over, n=axis: lax.psum_scatter(
                            a * (1 + lax.axis_index(o)), o, scatter_dimension=n, tiled=True
                        ),
                        P(),
                        given,
                    ),
                    [((16, 24), F32)],
                ),
            )
        yield (
            f"all_gather_new_{name}",
            (
                mapped(mesh, lambda a, o=over: lax.all_gather(a, o), P(over), P()),
                [((16, 3), F32)],
            ),
        )
        yield (
            f"divided_{name}",
            (
                mapped(mesh, lambda a: a * 2, P(over, None), P(over, None)),
                [((16, 3), F32)],
            ),
        )
        yield (
            f"placed_{name}",
            (
                mapped(
                    mesh,
                    lambda a, o=over: a + lax.axis_index(o),
                    P(None, over),
                    P(None, over),
                ),
                [((3, 16), F32)],
            ),
        )
    for groups in ([[0, 2], [1, 3]], [[3, 1], [2, 0]]):
        name = "".join(map(str, itertools.chain(*groups)))
        yield (
            f"all_gather_groups_{name}",
            (
                mapped(
                    mesh,
                    lambda a, g=groups: lax.all_gather(
                        a, "y", axis_index_groups=g, axis=1, tiled=True
                    ),
                    P("x", "y"),
                    P("x", "y"),
                ),
                [((4, 12), F32)],
            ),
        )
        yield (
            f"psum_scatter_groups_{name}",
            (
                mapped(
                    mesh,
                    lambda a, g=groups: lax.psum_scatter(
                        a, "y", axis_index_groups=g, scatter_dimension=1, tiled=True
                    ),
                    P("x", "y"),
                    P("x", "y"),
                ),
                [((4, 24), F32)],
            ),
        )
    yield (
        "psum_scatter_drops_a_dimension",
        (
            mapped(mesh, lambda a: lax.psum_scatter(a, "y"), P(), P("y")),
            [((4, 6), F32)],
        ),
    )
    yield (
        "transposed_tiles",
        (
            mapped(mesh, lambda a: a.T, P("x", "y"), P("y", "x")),
            [((6, 20), F32)],
        ),
    )
    yield "replicated", (mapped(mesh, lambda a: jnp.sin(a), P(), P()), [((5, 7), F32)])
    yield (
        "gather_of_integers",
        (
            mapped(mesh, lambda a: lax.all_gather(a, "y", tiled=True), P("y"), P()),
            [((8, 3), "int32")],
        ),
    )


def _exchanges() -> Iterator[tuple[str, Program]]:
    mesh, spec = make_mesh(x=2, y=4), P("x", "y")
    for over in ("y", "x", ("x", "y"), ("y", "x")):
        for split, concat in ((1, 0), (0, 1), (0, 0)):
            given: list[Any] = [None, None]
            made: list[Any] = [None, None]
            given[concat], made[split] = over, over
            yield (
                f"all_to_all_{''.join(over)}_{split}{concat}",
                (
                    mapped(
                        mesh,
                        lambda a, o=over, s=split, c=concat: lax.all_to_all(a, o, s, c, tiled=True),
                        P(*given) if split != concat else P(None, over),
                        P(*made) if split != concat else P(None, over),
                    ),
                    [((16, 24), F32)],
                ),
            )
    yield (
        "all_to_all_untiled",
        (
            mapped(mesh, lambda a: lax.all_to_all(a, "y", 0, 1), P(None, "y"), P(None, "y")),
            [((4, 8, 3), F32)],
        ),
    )
    yield (
        "all_to_all_groups",
        (
            mapped(
                mesh,
                lambda a: lax.all_to_all(
                    a, "y", 0, 0, axis_index_groups=[[0, 3], [2, 1]], tiled=True
                ),
                P(None, "y"),
                P(None, "y"),
            ),
            [((4, 8), F32)],
        ),
    )
    rings: dict[str, list[tuple[int, int]]] = {
        "ring": [(0, 1), (1, 2), (2, 3), (3, 0)],
        "line": [(0, 1), (1, 2), (2, 3)],
        "one": [(2, 0)],
        "none": [],
        "swap_and_keep": [(0, 3), (3, 0), (1, 1)],
        "reversed": [(0, 3), (1, 2), (2, 1), (3, 0)],
    }
    for name, pairs in rings.items():
        yield (
            f"ppermute_{name}",
            (
                mapped(mesh, lambda a, p=pairs: lax.ppermute(a, "y", p), spec, spec),
                [((4, 12), F32)],
            ),
        )
    yield (
        "ppermute_over_both",
        (
            mapped(
                mesh,
                lambda a: lax.ppermute(a, ("x", "y"), [(i, (i + 3) % 8) for i in range(8)]),
                spec,
                spec,
            ),
            [((4, 12), F32)],
        ),
    )
    yield (
        "ppermute_of_not_finite",
        (
            mapped(mesh, lambda a: lax.ppermute(jnp.log(a), "y", [(0, 1)]), spec, spec),
            [((4, 12), F32)],
        ),
    )
    yield (
        "pshuffle",
        (
            mapped(mesh, lambda a: lax.pshuffle(a, "y", [3, 0, 2, 1]), spec, spec),
            [((4, 12), F32)],
        ),
    )
    yield (
        "pswapaxes",
        (
            mapped(mesh, lambda a: lax.pswapaxes(a, "y", 0), P(None, "y"), P(None, "y")),
            [((4, 8), F32)],
        ),
    )


def _numbers() -> Iterator[tuple[str, Program]]:
    for name, axes in _MESHES.items():
        mesh = make_mesh(**axes)
        for axis in axes:
            yield (
                f"axis_index_{axis}_{name}",
                (
                    mapped(mesh, lambda a, n=axis: a + lax.axis_index(n), P(*axes), P(*axes)),
                    [((8, 16), F32)],
                ),
            )
    mesh, spec = make_mesh(x=2, y=4), P("x", "y")
    yield (
        "axis_index_of_both",
        (
            mapped(mesh, lambda a: a * lax.axis_index(("y", "x")), spec, spec),
            [((4, 12), F32)],
        ),
    )
    yield (
        "axis_size",
        (
            mapped(mesh, lambda a: a / lax.axis_size("y"), spec, spec),
            [((4, 12), F32)],
        ),
    )
    yield (
        "index_alone",
        (
            mapped(mesh, lambda: lax.axis_index("y")[None], (), P("y")),
            [],
        ),
    )
    yield (
        "masked_by_index",
        (
            mapped(mesh, lambda a: jnp.where(lax.axis_index("y") == 2, a, 0), spec, spec),
            [((4, 12), F32)],
        ),
    )
    yield (
        "sliced_by_index",
        (
            mapped(
                mesh,
                lambda a: lax.dynamic_slice_in_dim(a, lax.axis_index("y") * 3, 3),
                P("x"),
                P(("x", "y")),
            ),
            [((24, 5), F32)],
        ),
    )


def _models() -> Iterator[tuple[str, Program]]:
    mesh = make_mesh(x=2, y=4)
    yield (
        "matmul_columns",
        (
            mapped(mesh, lambda a, b: a @ b, (P("x"), P(None, "y")), P("x", "y")),
            [((6, 10), F32), ((10, 12), F32)],
        ),
    )
    yield (
        "matmul_contracted",
        (
            mapped(mesh, lambda a, b: lax.psum(a @ b, "y"), (P("x", "y"), P("y")), P("x")),
            [((6, 12), F32), ((12, 5), F32)],
        ),
    )
    yield (
        "matmul_scattered",
        (
            mapped(
                mesh,
                lambda a, b: lax.psum_scatter(a @ b, "y", scatter_dimension=1, tiled=True),
                (P("x", "y"), P("y")),
                P("x", "y"),
            ),
            [((6, 12), F32), ((12, 8), F32)],
        ),
    )

    def ring_matmul(a: Any, b: Any) -> Any:
        total = jnp.zeros((a.shape[0], b.shape[1]), a.dtype)
        block = b.shape[0]
        for step in range(4):
            owner = (lax.axis_index("y") + step) % 4
            part = lax.dynamic_slice_in_dim(a, owner * block, block, axis=1)
            total = total + part @ b
            b = lax.ppermute(b, "y", [(i, (i - 1) % 4) for i in range(4)])
        return total

    yield (
        "matmul_in_a_ring",
        (
            mapped(mesh, ring_matmul, (P("x"), P("y")), P("x")),
            [((4, 12), F32), ((12, 5), F32)],
        ),
    )

    def mlp(x: Any, up: Any, down: Any) -> Any:
        return lax.psum(jax.nn.silu(x @ up) @ down, "y")

    yield (
        "mlp",
        (
            mapped(mesh, mlp, (P("x"), P(None, "y"), P("y")), P("x")),
            [((6, 8), F32), ((8, 16), F32), ((16, 8), F32)],
        ),
    )

    def softmax(a: Any) -> Any:
        shifted = jnp.exp(a - lax.pmax(a.max(-1, keepdims=True), "y"))
        return shifted / lax.psum(shifted.sum(-1, keepdims=True), "y")

    yield "softmax", (mapped(mesh, softmax, P("x", "y"), P("x", "y")), [((6, 20), F32)])

    def norm(a: Any, scale: Any) -> Any:
        mean = lax.pmean(a.mean(-1, keepdims=True), "y")
        variance = lax.pmean(((a - mean) ** 2).mean(-1, keepdims=True), "y")
        return (a - mean) * lax.rsqrt(variance + 1e-5) * scale

    yield (
        "layer_norm",
        (
            mapped(mesh, norm, (P("x", "y"), P("y")), P("x", "y")),
            [((6, 20), F32), ((20,), F32)],
        ),
    )

    def attention(q: Any, k: Any, v: Any) -> Any:
        weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k), axis=-1)
        return jnp.einsum("bhqk,bkhd->bqhd", weights, v)

    heads = P("x", None, "y")
    yield (
        "attention_by_heads",
        (
            mapped(mesh, attention, (heads,) * 3, heads),
            [((2, 5, 4, 6), F32)] * 3,
        ),
    )

    def ring_attention(q: Any, k: Any, v: Any) -> Any:
        k, v = (lax.all_gather(each, "y", axis=1, tiled=True) for each in (k, v))
        return attention(q, k, v)

    yield (
        "attention_by_tokens",
        (
            mapped(mesh, ring_attention, (P("x", "y"),) * 3, P("x", "y")),
            [((2, 8, 2, 6), F32)] * 3,
        ),
    )

    def loss(w: Any, x: Any) -> Any:
        return lax.pmean(((x @ w) ** 2).mean(), ("x", "y"))

    yield (
        "gradient_of_a_mean",
        (
            mapped(
                mesh,
                lambda w, x: lax.pmean(jax.grad(lambda w: ((x @ w) ** 2).mean())(w), ("x", "y")),
                (P(), P(("x", "y"))),
                P(),
            ),
            [((6, 3), F32), ((16, 6), F32)],
        ),
    )
    yield (
        "loss",
        (
            mapped(mesh, loss, (P(), P(("x", "y"))), P()),
            [((6, 3), F32), ((16, 6), F32)],
        ),
    )
    yield (
        "embedding_by_rows",
        (
            mapped(
                mesh,
                lambda table, ids: lax.psum(
                    jnp.where(
                        ((ids // 3) == lax.axis_index("y"))[..., None],
                        table[jnp.clip(ids - 3 * lax.axis_index("y"), 0, 2)],
                        0.0,
                    ),
                    "y",
                ),
                (P("y"), P()),
                P(),
            ),
            [((12, 5), F32), ((2, 7), "index12")],
        ),
    )
    yield (
        "halo_exchange",
        (
            mapped(
                mesh,
                lambda a: (
                    a
                    + lax.ppermute(a[:, -1:], "y", [(i, (i + 1) % 4) for i in range(4)])
                    + lax.ppermute(a[:, :1], "y", [(i, (i - 1) % 4) for i in range(4)])
                ),
                P("x", "y"),
                P("x", "y"),
            ),
            [((4, 12), F32)],
        ),
    )
    yield (
        "outside_and_inside",
        (
            jax.jit(
                lambda a: mapped(mesh, lambda b: lax.psum(b, "y"), P("x", "y"), P("x"))(a * 2).sum(
                    0
                )
            ),
            [((4, 12), F32)],
        ),
    )
    yield (
        "two_regions",
        (
            jax.jit(
                lambda a: mapped(mesh, lambda b: lax.psum(b, "x"), P("x"), P())(
                    mapped(mesh, lambda b: b + lax.axis_index("y"), P("x", "y"), P("x", "y"))(a)
                )
            ),
            [((4, 12), F32)],
        ),
    )
    yield (
        "manual_over_one_axis",
        (
            jax.jit(
                jax.shard_map(
                    lambda a: lax.psum(a, "y"),
                    mesh=mesh,
                    in_specs=P(None, "y"),
                    out_specs=P(),
                    axis_names={"y"},
                    check_vma=False,
                )
            ),
            [((4, 12), F32)],
        ),
    )


def _control() -> Iterator[tuple[str, Program]]:
    mesh, spec = make_mesh(x=2, y=4), P("x", "y")
    yield (
        "fori_with_sum",
        (
            mapped(
                mesh,
                lambda a: lax.fori_loop(0, 3, lambda i, c: lax.psum(c, "y") / 2, a),
                spec,
                P("x"),
            ),
            [((4, 12), F32)],
        ),
    )
    yield (
        "scan_with_exchange",
        (
            mapped(
                mesh,
                lambda a: lax.scan(
                    lambda c, i: (
                        lax.ppermute(c, "y", [(0, 1), (1, 2), (2, 3), (3, 0)]) + i,
                        c.sum(),
                    ),
                    a,
                    jnp.arange(3.0),
                )[0],
                spec,
                spec,
            ),
            [((4, 12), F32)],
        ),
    )
    yield (
        "while_until_all_are_large",
        (
            mapped(
                mesh,
                lambda a: lax.while_loop(
                    lambda c: lax.pmin(c.min(), ("x", "y")) < 9, lambda c: c * 2, jnp.abs(a) + 1
                ),
                spec,
                spec,
            ),
            [((4, 12), F32)],
        ),
    )
    yield (
        "while_of_each_device",
        (
            mapped(
                mesh,
                lambda a: lax.while_loop(
                    lambda c: c.sum() < 20 + 9 * lax.axis_index("y"), lambda c: c + 1, jnp.abs(a)
                ),
                spec,
                spec,
            ),
            [((4, 12), F32)],
        ),
    )
    yield (
        "cond_of_each_device",
        (
            mapped(
                mesh,
                lambda a: lax.cond(lax.axis_index("y") > 1, lambda c: c * 2, lambda c: c - 1, a),
                spec,
                spec,
            ),
            [((4, 12), F32)],
        ),
    )
    yield (
        "cond_with_exchange",
        (
            mapped(
                mesh,
                lambda a: lax.cond(
                    lax.psum(a.sum(), ("x", "y")) > 0,
                    lambda c: lax.psum(c, "y") + 0 * c,
                    lambda c: c - 1,
                    a,
                ),
                spec,
                spec,
            ),
            [((4, 12), F32)],
        ),
    )
    yield (
        "switch_by_index",
        (
            mapped(
                mesh,
                lambda a: lax.switch(
                    lax.axis_index("y"), [jnp.sin, jnp.cos, jnp.tanh, lambda c: -c], a
                ),
                spec,
                spec,
            ),
            [((4, 12), F32)],
        ),
    )


def _replicas() -> Iterator[tuple[str, Program]]:
    yield "pmap", (jax.pmap(lambda a: a * 2 + 1), [((8, 5), F32)])
    yield "pmap_psum", (jax.pmap(lambda a: lax.psum(a, "i"), axis_name="i"), [((8, 5), F32)])
    yield (
        "pmap_of_two",
        (
            jax.pmap(lambda a, b: (a @ b, lax.axis_index("i")), axis_name="i"),
            [((4, 3, 5), F32), ((4, 5, 2), F32)],
        ),
    )
