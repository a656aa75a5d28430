"""Two layers whose weights are divided over the devices of a mesh, against NumPy.

    python -m ttmlir examples/meshes/tensor_parallel_mlp.py

The rows of the mesh share the batch, its columns the hidden width: each device computes a part of
the hidden numbers, and of the result a part of the sums, which `all_reduce` adds along a row. Keys
and values of the attention before the layers go round the ring that a row is.
"""

from __future__ import annotations

import numpy as np
import ttnn

ROWS, COLUMNS = 2, 4
BATCH, HEADS, TOKENS, WIDTH, HIDDEN = 4, 2, 256, 64, 512


def attend(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """What NumPy computes of (batch, heads, tokens, width)."""
    scores = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[-1])
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def place(mesh: ttnn.MeshDevice, array: np.ndarray, *dims: int | None) -> ttnn.Tensor:
    """A tensor divided along dimensions over rows and columns of the mesh; None copies."""
    mapper = ttnn.ShardTensor2dMesh(mesh, (ROWS, COLUMNS), dims)
    return ttnn.from_torch(
        array, ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=mesh, mesh_mapper=mapper
    )


def attend_in_rings(mesh: ttnn.MeshDevice, *arrays: np.ndarray) -> ttnn.Tensor:
    """Attention of tokens that are divided over the columns of the mesh."""
    grid = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (7, 7))])
    keys, values = (
        ttnn.zeros((BATCH // ROWS, HEADS, TOKENS, WIDTH), ttnn.bfloat16, ttnn.TILE_LAYOUT, mesh)
        for _ in range(2)
    )
    result, *_ = ttnn.transformer.ring_joint_scaled_dot_product_attention(
        *(place(mesh, each, 0, 2) for each in arrays),
        persistent_output_buffer_k=keys,
        persistent_output_buffer_v=values,
        joint_strategy="rear",
        logical_n=TOKENS,
        program_config=ttnn.SDPAProgramConfig(compute_with_storage_grid_size=(8, 7)),
        dim=2,
        multi_device_global_semaphore=[ttnn.create_global_semaphore(mesh, grid, 0)] * 2,
        num_links=1,
        cluster_axis=1,
        mesh_device=mesh,
        topology=ttnn.Topology.Ring,
        ccl_core_grid_offset=(0, 7),
    )
    return result


def main() -> None:
    """Compute both, and compare."""
    rng = np.random.default_rng(0)
    shapes = [(BATCH, HEADS, TOKENS, WIDTH)] * 3 + [(WIDTH, HIDDEN), (HIDDEN, WIDTH)]
    q, k, v, w1, w2 = (rng.normal(0, 0.3, shape).astype(np.float32) for shape in shapes)

    ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
    with ttnn.create_mesh_device(ttnn.MeshShape(ROWS, COLUMNS)) as mesh:
        attended = ttnn.all_gather(attend_in_rings(mesh, q, k, v), 2, cluster_axis=1)
        hidden = ttnn.relu(ttnn.matmul(attended, place(mesh, w1, None, 1)))
        partial = ttnn.matmul(hidden, place(mesh, w2, None, 0))
        result = ttnn.all_reduce(partial, cluster_axis=1)
        print(f"{mesh}: {hidden.shape} of {HIDDEN} hidden numbers on each device")

        # The devices of a row have the same: those of the first column have all.
        config = ttnn.MeshComposerConfig([0, 1], ttnn.MeshShape(ROWS, 1))
        composer = ttnn.create_mesh_composer(mesh, config)
        found = ttnn.to_numpy(ttnn.aggregate_tensor(result, composer))
    expected = np.maximum(attend(q, k, v) @ w1, 0) @ w2
    pcc = ttnn.pearson_correlation_coefficient(expected, found.astype(np.float32))
    print(f"agrees with NumPy: PCC {pcc:.6f}")
    assert pcc > 0.999


if __name__ == "__main__":
    main()
