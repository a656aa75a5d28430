"""Programs whose types say how arrays lie: meshes of explicit axes; see `shard_map_programs.py`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from shard_map_programs import F32, AxisType, P, Program

jax: Any = import_module("jax")
jnp: Any = import_module("jax.numpy")
lax: Any = import_module("jax.lax")
reshard: Any = import_module("jax.sharding").reshard

MESH = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)


class Explicit:
    """A function of whole arrays that are put where it takes them, while the mesh is set."""

    def __init__(self, function: Callable[..., Any], *specs: Any) -> None:
        """What is called has an argument for each of `specs`."""

        def placed(*arguments: Any) -> Any:
            pairs = zip(arguments, specs, strict=True)
            return function(*(reshard(each, spec) for each, spec in pairs))

        self.function = jax.jit(placed)

    def __call__(self, *arguments: Any) -> Any:
        """The results."""
        with jax.set_mesh(MESH):
            return self.function(*arguments)

    def lower(self, *arguments: Any) -> Any:
        """As a jitted function."""
        with jax.set_mesh(MESH):
            return self.function.lower(*arguments)


_SPECS = {"xy": P("x", "y"), "x_": P("x", None), "_y": P(None, "y"), "__": P(None, None)}


def programs() -> Iterator[tuple[str, Program]]:
    """All of them."""
    for (name, given), (other, made) in itertools.product(_SPECS.items(), _SPECS.items()):
        yield (
            f"reshard_{name}_{other}",
            (Explicit(lambda a, s=made: reshard(jnp.sin(a), s) + 1, given), [((8, 12), F32)]),
        )
    for (name, left), (other, made) in itertools.product(
        _SPECS.items(), {"xy": P("x", "y"), "x_": P("x", None), "__": P(None, None)}.items()
    ):
        yield (
            f"dot_{name}_{other}",
            (
                Explicit(
                    lambda a, b, s=made: jnp.dot(a, b, out_sharding=s),
                    left,
                    P(left[1], None),
                ),
                [((6, 8), F32), ((8, 12), F32)],
            ),
        )
    yield (
        "einsum_with_a_sharding",
        (
            Explicit(
                lambda a, b: jnp.einsum("bij,bjk->bik", a, b, out_sharding=P("x", None, "y")),
                P("x", None, "y"),
                P("x", "y", None),
            ),
            [((2, 3, 8), F32), ((2, 8, 4), F32)],
        ),
    )
    yield (
        "types_spread_over_operations",
        (
            Explicit(lambda a: (jnp.tanh(a) * 2 + a).T.sum(0), P("x", "y")),
            [((4, 12), F32)],
        ),
    )
    yield (
        "broadcast_of_a_row",
        (Explicit(lambda a, b: a * b[None], P("x", "y"), P("y")), [((4, 12), F32), ((12,), F32)]),
    )
    yield (
        "reshape_with_a_sharding",
        (
            Explicit(
                lambda a: lax.reshape(a, (8, 3, 4), out_sharding=P("x", None, "y")), P("x", None)
            ),
            [((8, 12), F32)],
        ),
    )
    yield (
        "gradient",
        (
            Explicit(
                jax.grad(lambda a, b: jnp.tanh(jnp.dot(a, b, out_sharding=P("x", None))).sum()),
                P("x", "y"),
                P("y", None),
            ),
            [((4, 8), F32), ((8, 5), F32)],
        ),
    )
    yield (
        "scan_over_layers",
        (
            Explicit(
                lambda a, ws: lax.scan(
                    lambda c, w: (jnp.tanh(jnp.dot(c, w, out_sharding=P("x", None))), c.sum()),
                    a,
                    ws,
                )[0],
                P("x", None),
                P(None, None, None),
            ),
            [((4, 6), F32), ((3, 6, 6), F32)],
        ),
    )
    yield (
        "mapped_inside",
        (
            Explicit(
                lambda a: (
                    jax.shard_map(
                        lambda p: lax.psum(p, "y"), in_specs=P("x", "y"), out_specs=P("x", None)
                    )(a)
                    * 2
                ),
                P("x", "y"),
            ),
            [((4, 12), F32)],
        ),
    )
    yield (
        "take_with_a_sharding",
        (
            Explicit(
                lambda table, at: table.at[at].get(out_sharding=P("x", "y")),
                P(None, "y"),
                P("x"),
            ),
            [((9, 8), F32), ((4,), "index9")],
        ),
    )
    yield (
        "softmax",
        (Explicit(lambda a: jax.nn.softmax(a, -1), P("x", None)), [((4, 12), F32)]),
    )
    yield (
        "split_and_join",
        (
            Explicit(
                lambda a: jnp.concatenate([a[:, :4] * 2, jnp.flip(a[:, 4:], 1)], 1), P("x", None)
            ),
            [((4, 12), F32)],
        ),
    )
    yield (
        "automatic_part",
        (
            Explicit(
                lambda a: jax.sharding.auto_axes(
                    lambda b: jnp.sort(b * 2, axis=1), out_sharding=P("x", "y")
                )(a),
                P("x", "y"),
            ),
            [((4, 12), F32)],
        ),
    )
