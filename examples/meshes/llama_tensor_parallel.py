"""A block of a Llama model whose weights are divided over the devices of a mesh.

    python examples/meshes/llama_tensor_parallel.py --mesh 2x4

Rows of the mesh share a batch, columns the heads and the hidden features. JAX says where arrays
are, the compiler what each device computes and when devices exchange something.
"""

from __future__ import annotations

import numpy as np
from mesh_report import parse_mesh, report

import ttmlir

BATCH, TOKENS, WIDTH, HIDDEN, HEADS = 4, 24, 128, 352, 8


def main() -> None:
    """Compile, run, and compare with JAX on one device."""
    rows, columns = parse_mesh(__doc__)
    import jax
    import jax.numpy as jnp
    from jax.sharding import AxisType, NamedSharding, PartitionSpec

    axes = (AxisType.Auto, AxisType.Auto)
    mesh = jax.make_mesh((rows, columns), ("batch", "model"), axis_types=axes)

    def norm(x, scale):
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * scale

    def attend(x, wq, wk, wv, wo):
        heads = (*x.shape[:2], HEADS, -1)
        q, k, v = ((x @ w).reshape(heads) for w in (wq, wk, wv))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(WIDTH / HEADS)
        mask = jnp.tril(jnp.ones((TOKENS, TOKENS), bool))
        weights = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), axis=-1)
        return jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape) @ wo

    def block(x, p):
        x = x + attend(norm(x, p["norm1"]), p["wq"], p["wk"], p["wv"], p["wo"])
        y = norm(x, p["norm2"])
        return x + (jax.nn.silu(y @ p["gate"]) * (y @ p["up"])) @ p["down"]

    columns_of, rows_of = PartitionSpec(None, "model"), PartitionSpec("model", None)
    shapes = {
        **{name: ((WIDTH, WIDTH), columns_of) for name in ("wq", "wk", "wv")},
        "wo": ((WIDTH, WIDTH), rows_of),
        "gate": ((WIDTH, HIDDEN), columns_of),
        "up": ((WIDTH, HIDDEN), columns_of),
        "down": ((HIDDEN, WIDTH), rows_of),
        "norm1": ((WIDTH,), PartitionSpec()),
        "norm2": ((WIDTH,), PartitionSpec()),
    }
    random = np.random.default_rng(0)

    def place(shape, spec):
        array = random.standard_normal(shape, np.float32) / np.sqrt(shape[0])
        return jax.device_put(array, NamedSharding(mesh, spec))

    parameters = {name: place(*each) for name, each in shapes.items()}
    x = place((BATCH, TOKENS, WIDTH), PartitionSpec("batch"))

    compiled = ttmlir.compile(block, x, parameters)
    result = np.asarray(compiled(x, parameters))
    expected = block(*jax.tree.map(np.asarray, (x, parameters)))
    [parts] = compiled.run_on_devices(x, parameters)
    text = compiled.text("ttir")
    sums = text.count('"ttir.all_reduce"')
    print(f"{rows * columns} devices, {sums} sums over the columns of the mesh")
    print(f"each device has {'x'.join(map(str, parts[0].shape))} of the result")
    report(compiled, result, expected)


if __name__ == "__main__":
    main()
