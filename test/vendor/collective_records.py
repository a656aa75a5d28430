"""Collectives of ttnn on a mock machine, whose factories are logged for `collective_replays.py`.

    FACTORY_LOG=LOG LD_PRELOAD=factory_log.so python collective_records.py CONFIG 1x4 NAME...

The real library takes its machine from TT_METAL_MOCK_CLUSTER_DESC_PATH, whose chips have the grid
of those of the simulator and, of Wormhole, no translated coordinates; kernels need not be compiled
(`Inputs/factory_log.cpp` says how the preloaded library is made). NAME is one of the functions
below. Nothing is computed: numbers are those of the replay.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

ttnn: Any = importlib.import_module("ttnn")

CONFIG, (ROWS, COLUMNS) = sys.argv[1], map(int, sys.argv[2].split("x"))
ttnn.set_fabric_config(getattr(ttnn.FabricConfig, CONFIG))
MESH = ttnn.open_mesh_device(ttnn.MeshShape(ROWS, COLUMNS))
RING = ttnn.Topology.Ring if "RING" in CONFIG or "TORUS" in CONFIG else ttnn.Topology.Linear
GIVEN = {"topology": RING, **({"cluster_axis": 1} if "2D" in CONFIG else {})}
CORES = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(7, 7))})


def log(what: str, **facts: object) -> None:
    """Add a line to the log."""
    with open(os.environ["FACTORY_LOG"], "a") as file:
        file.write(json.dumps({"do": what, **facts}) + "\n")


def send(*shape: int, rows: bool = False) -> Any:
    """A tensor of the mesh, in tiles or as rows."""
    count = 1
    for extent in shape:
        count *= extent
    layout = ttnn.ROW_MAJOR_LAYOUT if rows else ttnn.TILE_LAYOUT
    tensor = ttnn.Tensor([0.0] * count, list(shape), ttnn.bfloat16, layout, MESH)
    log("input", address=tensor.buffer_address(), shape=shape, tiles=not rows)
    return tensor


def send_numbers(parts: Sequence[Sequence[int]], *shape: int) -> Any:
    """A tensor of 16-bit integers in rows, a part for each device."""
    kind = ttnn.ROW_MAJOR_LAYOUT
    tensor = ttnn.Tensor([0] * len(parts[0]), list(shape), ttnn.uint16, kind, MESH)
    log("numbers", address=tensor.buffer_address(), shape=shape, parts=parts)
    return tensor


def expect(operation: str, tensor: Any, **facts: object) -> None:
    """Say what a tensor is of the last input, or of the one with the number `input`."""
    tiles = tensor.layout == ttnn.TILE_LAYOUT
    facts |= {"address": tensor.buffer_address(), "shape": list(tensor.shape), "tiles": tiles}
    log("output", operation=operation, **facts)


def semaphores(count: int) -> list[Any]:
    """Words on many cores of all devices."""
    return [ttnn.create_global_semaphore(MESH, CORES, 0) for _ in range(count)]


def all_gather() -> None:
    """Each device sends to all others at once."""
    expect("all_gather", ttnn.all_gather(send(1, 1, 64, 96), dim=3, **GIVEN), dim=3)


def all_gather_rows() -> None:
    """Rows that are no whole tiles."""
    found = ttnn.all_gather(send(1, 1, 7, 64, rows=True), dim=2, **GIVEN)
    expect("all_gather", found, dim=2)


def all_gather_async() -> None:
    """Workers share links by muxes."""
    x = send(1, 1, 64, 96)
    found = ttnn.experimental.all_gather_async(
        x, dim=3, multi_device_global_semaphore=semaphores(2), num_links=1, **GIVEN
    )
    expect("all_gather", found, dim=3)


def ring_attention_gather() -> None:
    """Keys and values at once, without the own ones, as ring attention exchanges them."""
    inputs = [send(1, 2, 64, 64) for _ in range(2)]
    buffers = [send(1, 2, 64 * COLUMNS, 64) for _ in range(2)]
    found = ttnn.experimental.ring_attention_all_gather_async(
        inputs, persistent_output_buffer=buffers, dim=2, cluster_axis=1, mesh_device=MESH,
        multi_device_global_semaphore=semaphores(2), topology=RING, num_links=1,
    )  # fmt: skip
    for index, each in enumerate(found):
        expect("gather_others", each, dim=2, input=index, kept=index + 2)


def reduce_scatter() -> None:
    """The default: in rings each device adds what all others send it."""
    x = send(1, 1, 64, 32 * COLUMNS * 3)
    expect("reduce_scatter", ttnn.reduce_scatter(x, dim=3, **GIVEN), dim=3)


def reduce_scatter_ring() -> None:
    """Sums that go round, along the last dimension."""
    _scatter(send(1, 1, 64, 32 * COLUMNS * 3), 3)


def reduce_scatter_ring_batches() -> None:
    """The same along the first dimension."""
    _scatter(send(2 * COLUMNS, 1, 64, 64), 0)


def reduce_scatter_ring_rows() -> None:
    """The same along rows of several batches."""
    _scatter(send(2, 2, 32 * COLUMNS, 64), 2)


def _scatter(x: Any, dim: int) -> None:
    found = ttnn.experimental.reduce_scatter_minimal_async(
        x, dim=dim, multi_device_global_semaphore=semaphores(3), num_links=1, **GIVEN
    )
    expect("reduce_scatter", found, dim=dim)


def all_reduce() -> None:
    """`reduce_scatter` and `all_gather`."""
    expect("all_reduce", ttnn.all_reduce(send(1, 1, 64, 32 * COLUMNS), **GIVEN))


def all_reduce_async() -> None:
    """The same with kernels of `reduce_scatter_minimal_async` and `all_gather_async`."""
    x = send(1, 1, 64, 32 * COLUMNS)
    barriers, gathering, scattering = semaphores(2), semaphores(2), semaphores(3)
    found = ttnn.experimental.all_reduce_async(
        x, COLUMNS, barrier_semaphores=barriers, rs_global_semaphores=scattering,
        ag_global_semaphores=gathering, math_op=ttnn.ReduceType.Sum, topology=RING, num_links=1,
    )  # fmt: skip
    expect("all_reduce", found)


def all_broadcast() -> None:
    """Each device sends its part to all others."""
    for index, each in enumerate(ttnn.all_broadcast(send(1, 1, 64, 96), **GIVEN)):
        expect("broadcast", each, source=index)


def broadcast() -> None:
    """One device sends its part, in tiles."""
    found = ttnn.broadcast(send(1, 1, 64, 96), ttnn.MeshCoordinate(0, 1), **GIVEN)
    expect("broadcast", found, source=1)


def broadcast_rows() -> None:
    """One device sends its part, as rows."""
    x = send(1, 1, 7, 64, rows=True)
    expect("broadcast", ttnn.broadcast(x, ttnn.MeshCoordinate(0, 1), **GIVEN), source=1)


def all_to_all() -> None:
    """Parts along columns become parts along rows."""
    x = send(1, 1, 32 * COLUMNS, 64 * COLUMNS)
    found = ttnn.experimental.all_to_all_async_generic(x, in_dim=2, out_dim=3, **GIVEN)
    expect("all_to_all", found, from_dim=3, to_dim=2)


def all_to_all_columns() -> None:
    """Parts along rows become parts along columns."""
    x = send(1, 1, 32 * COLUMNS, 64 * COLUMNS)
    found = ttnn.experimental.all_to_all_async_generic(x, in_dim=3, out_dim=2, **GIVEN)
    expect("all_to_all", found, from_dim=2, to_dim=3)


def all_to_all_dispatch() -> None:
    """Tokens go to the devices that have their experts, two on each; others get nothing."""
    tokens, chosen, count = 5, 4, 2 * COLUMNS
    turns = [(token, each) for token in range(tokens) for each in range(chosen)]
    choices = [
        [(3 * token + 5 * device + each) % count for token, each in turns]
        for device in range(COLUMNS)
    ]
    places = [int(expert // 2 == device) for expert in range(count) for device in range(COLUMNS)]
    x = send(1, 1, tokens, 64, rows=True)
    indices = send_numbers(choices, 1, 1, tokens, chosen)
    mapping = send_numbers([places] * COLUMNS, 1, 1, count, COLUMNS)
    sent, metadata = ttnn.all_to_all_dispatch(
        x, indices, mapping, cluster_axis=1, num_links=1, topology=RING
    )
    log("output", operation="dispatch", address=sent.buffer_address(), shape=list(sent.shape))
    log("output", operation="choices", address=metadata.buffer_address(), shape=[])


def all_gather_strided() -> None:
    """In the order in which a product takes blocks."""
    x = send(1, 1, 64, 64)
    found = ttnn.experimental.strided_all_gather_async(
        x, None, 3, semaphores(2), topology=RING, num_links=1, num_workers_per_link=1,
        mm_cores_y=1, mm_block_ht=2, mm_block_wt=2, cluster_axis=1,
    )  # fmt: skip
    expect("all_gather", found, dim=3)


def all_gather_matmul() -> None:
    """Columns are gathered while a product takes those that are there."""
    x, weights = send(1, 1, 64, 64), send(1, 1, 64 * COLUMNS, 96)
    whole = send(1, 1, 64, 64 * COLUMNS)
    config = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(3, 2), in0_block_w=1, out_subblock_h=1,
        out_subblock_w=1, per_core_M=1, per_core_N=1, transpose_mcast=False, fused_activation=None,
        fuse_batch=False,
    )  # fmt: skip
    found = ttnn.experimental.all_gather_matmul_async(
        x, weights, persistent_output_buffer=whole, dim=3,
        multi_device_global_semaphore=semaphores(2),
        all_gather_core_grid_offset=ttnn.CoreCoord(0, 4), num_links=1, topology=RING,
        program_config=config,
    )  # fmt: skip
    expect("gather_product", found[-1], input=0, weights=1)


def matmul_reduce_scatter() -> None:
    """Products are added as soon as they are there."""
    x, weights = send(1, 1, 64, 64), send(1, 1, 64, 32 * COLUMNS)
    between, part = send(1, 1, 64, 32 * COLUMNS), send(1, 1, 64, 32)
    config = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(COLUMNS, 2), in0_block_w=1, out_subblock_h=1,
        out_subblock_w=1, per_core_M=1, per_core_N=1, transpose_mcast=False, fused_activation=None,
        fuse_batch=False,
    )  # fmt: skip
    found = ttnn.experimental.matmul_reduce_scatter_async(
        x, weights, between, part, 3, semaphores(3), ttnn.CoreCoord(0, 4), num_links=1,
        topology=RING, program_config=config, barrier_semaphore=semaphores(1)[0],
    )  # fmt: skip
    expect("product_sums", found[-1], input=0, weights=1)


def ring_attention() -> None:
    """Attention whose keys and values go round."""
    q, k, v = (send(1, 2, 64, 64) for _ in range(3))
    buffers = [send(1, 2, 64 * COLUMNS, 64) for _ in range(2)]
    config = ttnn.SDPAProgramConfig(
        compute_with_storage_grid_size=ttnn.CoreCoord(2, 2), q_chunk_size=32, k_chunk_size=32,
        exp_approx_mode=False,
    )  # fmt: skip
    found = ttnn.transformer.ring_joint_scaled_dot_product_attention(
        q, k, v, persistent_output_buffer_k=buffers[0], persistent_output_buffer_v=buffers[1],
        joint_strategy="rear", logical_n=64 * COLUMNS, program_config=config, scale=1 / 64, dim=2,
        multi_device_global_semaphore=semaphores(2), num_links=1, cluster_axis=1,
        mesh_device=MESH, topology=RING, ccl_core_grid_offset=ttnn.CoreCoord(0, 4),
    )  # fmt: skip
    expect("attention", found[0], input=0)


def record(cases: dict[str, Callable[..., object]]) -> None:
    """Run the cases that are named on the command line."""
    for name in sys.argv[3:]:
        log("case", name=name)
        if CONFIG != "DISABLED":
            log("header", size=ttnn.get_tt_fabric_packet_header_size_bytes())
        cases[name]()


if __name__ == "__main__":
    record(globals())
