"""Exchanges that are joined with what is computed, sockets, and what feeds products on a card."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from ttmlir import ttnn

pytestmark = pytest.mark.usefixtures("nothing_open")

FLOATS = {"dtype": ttnn.float32, "layout": ttnn.TILE_LAYOUT}
ROWS = {"layout": ttnn.ROW_MAJOR_LAYOUT}


@pytest.fixture
def mesh() -> Any:
    """Two rows of three devices, whose numbers are exact."""
    return ttnn.open_mesh_device(ttnn.MeshShape(2, 3), numerics="exact", strict=False)


def on_mesh(mesh: Any, values: torch.Tensor, *dims: int | None, **others: Any) -> Any:
    """A tensor sharded along a dimension over rows and one over columns; None copies."""
    mapper = ttnn.ShardTensor2dMesh(mesh, tuple(mesh.shape), dims or (None, None))
    return ttnn.from_torch(values, device=mesh, mesh_mapper=mapper, **others)


def parts_of(tensor: Any) -> list[torch.Tensor]:
    """What each device has."""
    return [ttnn.to_torch(each) for each in ttnn.get_device_tensors(tensor)]


def close(found: torch.Tensor, expected: torch.Tensor) -> None:
    """Assert that numbers are those in single precision."""
    torch.testing.assert_close(found, expected.float(), rtol=1e-4, atol=1e-4)


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    """Random numbers in double precision."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def semaphores(mesh: Any) -> list[Any]:
    """Two, which say nothing here."""
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 1))])
    return [ttnn.create_global_semaphore(mesh, cores, 0)] * 2


# --- Products -------------------------------------------------------------------------------------


def test_products_of_exchanged_tensors(mesh: Any) -> None:
    """A product of what all devices have, and a sum of products of which each has a block."""
    word = semaphores(mesh)
    x, w, bias = random(10, 36), random(36, 20, seed=1), random(1, 20, seed=2)
    mapper = ttnn.ShardTensorToMesh(mesh, 1)
    divided = ttnn.from_torch(x, device=mesh, mesh_mapper=mapper, **FLOATS)
    whole, product = ttnn.experimental.all_gather_matmul_async(
        divided,
        on_mesh(mesh, w, None, None, **FLOATS),
        dim=1,
        multi_device_global_semaphore=word,
        bias=on_mesh(mesh, bias, None, None, **FLOATS),
    )
    close(parts_of(whole)[3], x)
    close(parts_of(product)[5], x @ w + bias)
    weights = ttnn.from_torch(w, device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, 0), **FLOATS)
    wide = ttnn.zeros((10, 20), ttnn.float32, ttnn.TILE_LAYOUT, mesh)
    part = ttnn.zeros((10, 20), ttnn.float32, ttnn.TILE_LAYOUT, mesh)
    with pytest.raises(RuntimeError, match="has 20 elements, which 6 devices cannot share evenly"):
        ttnn.experimental.matmul_reduce_scatter_async(divided, weights, wide, part, 1, word, (0, 6))
    cut = ttnn.experimental.matmul_reduce_scatter_async(
        divided,
        ttnn.from_torch(
            w[:, :18], device=mesh, mesh_mapper=ttnn.ShardTensorToMesh(mesh, 0), **FLOATS
        ),
        wide,
        ttnn.zeros((10, 3), ttnn.float32, ttnn.TILE_LAYOUT, mesh),
        1,
        word,
        (0, 6),
    )
    close(torch.cat(parts_of(cut[1]), 1), x @ w[:, :18])


def test_minimal_products_of_exchanged_tensors(mesh: Any) -> None:
    """Rows that three devices share, along columns or rows of the mesh."""
    word = semaphores(mesh)
    x, w, bias = random(10, 36), random(36, 64, seed=1), random(1, 64, seed=2)
    residual, gate = random(10, 64, seed=3), random(1, 64, seed=4)
    copies = {
        name: on_mesh(mesh, each, **FLOATS)
        for name, each in {"w": w, "bias": bias, "residual": residual, "gate": gate}.items()
    }
    rows = on_mesh(mesh, x, None, 1, **FLOATS)
    names = {"multi_device_global_semaphore": word, "cluster_axis": 1}
    gathered = ttnn.experimental.all_gather_minimal_matmul_async
    [product] = gathered(rows, copies["w"], bias_tensor=copies["bias"], **names)
    close(parts_of(product)[4], x @ w + bias)
    halves = gathered(rows, copies["w"], chunks=2, **names)
    close(torch.cat([parts_of(each)[2] for each in halves], 1), x @ w)
    added = {"addcmul_input_tensor1": copies["residual"], "addcmul_input_tensor2": copies["gate"]}
    [product] = gathered(rows, copies["w"], scalar=0.5, **added, **names)
    close(parts_of(product)[1], residual + 0.5 * (x @ w) * gate)
    with pytest.raises(RuntimeError, match="are given together, without an activation and chunks"):
        gathered(rows, copies["w"], scalar=0.5, **names)
    with pytest.raises(RuntimeError, match="fsdp_cluster_axis is not supported; gather the weight"):
        gathered(rows, copies["w"], fsdp_cluster_axis=0, **names)

    strided = ttnn.experimental.strided_all_gather_minimal_matmul_async
    offset = ttnn.CoreCoord(0, 6)
    activation = ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)
    whole, product = strided(
        rows, copies["w"], None, 1, word, offset, cluster_axis=1, fused_activation=activation
    )
    close(parts_of(whole)[5], x)
    close(parts_of(product)[5], (x @ w).relu())

    parts = on_mesh(mesh, w[:, :48], None, 0, **FLOATS)
    scattered = ttnn.experimental.minimal_matmul_strided_reduce_scatter_async
    product, block = scattered(rows, parts, 1, word, offset, cluster_axis=1)
    close(sum(parts_of(product)[3:]), x @ w[:, :48])
    close(torch.cat(parts_of(block)[3:], 1), x @ w[:, :48])
    two = scattered([rows, rows], ttnn.concat([parts, parts], 0), 1, word, offset, cluster_axis=1)
    close(torch.cat(parts_of(two[1])[:3], 1), 2 * x @ w[:, :48])

    llama = ttnn.experimental.llama_all_gather_matmul_async
    product = llama(rows, copies["w"], rows, 1, 1, mesh, ttnn.Topology.Ring, word[0])
    close(parts_of(product)[2], x @ w)


# --- Heads, norms, exchanges ----------------------------------------------------------------------


def test_heads_of_exchanged_tensors(mesh: Any) -> None:
    """Sums of what three devices have, for some of the users; heads of all users in one row."""
    word, x = semaphores(mesh)[0], random(3, 1, 6, 80)
    terms = on_mesh(mesh, x, None, 0, **FLOATS)
    first = torch.tensor([[0], [3]], dtype=torch.int32)
    offset = on_mesh(mesh, first, 0, None, dtype=ttnn.int32, **ROWS)
    total, *parts = ttnn.experimental.all_reduce_create_qkv_heads(
        terms, terms, offset, 1, mesh, word, 3, num_kv_heads=1, slice_size=2
    )
    close(parts_of(total)[4][0, 0], x.sum(0)[0])
    for device, begin in ((1, 0), (5, 3)):
        users = x.sum(0)[0, begin : begin + 2].reshape(1, 2, 5, 16)
        expected = users[:, :, :3], users[:, :, 3:4], users[:, :, 4:]
        for part, heads in zip(parts, expected, strict=True):
            close(parts_of(part)[device], heads)
    with pytest.raises(RuntimeError, match="users 3 to 8 are not in the 6 of the tensor"):
        ttnn.experimental.nlp_create_qkv_heads_decode(
            total, num_heads=3, num_kv_heads=1, batch_offset=offset, slice_size=5
        )

    heads = random(1, 6, 4, 16)
    divided = on_mesh(mesh, heads, None, 1, **FLOATS)
    joined = ttnn.experimental.all_gather_concat(
        divided, divided, 1, 1, mesh, word, 3, ttnn.DRAM_MEMORY_CONFIG
    )
    close(parts_of(joined)[0], heads[:, :, :3].reshape(1, 1, 6, 48))


def test_norms_of_rows_of_several_devices(mesh: Any) -> None:
    """Norms by statistics of whole rows, along an axis; without one, of each device's own rows."""
    x, weight, bias = random(1, 1, 5, 192), random(1, 192, seed=1), random(1, 192, seed=2)
    word = semaphores(mesh)
    rows = on_mesh(mesh, x, None, 3, **FLOATS)
    scales, shifts = (on_mesh(mesh, each, None, 1, **FLOATS) for each in (weight, bias))
    layer = ttnn.experimental.dit_fused_distributed_layernorm
    found = layer(rows, 1, mesh, word, weight=scales, bias=shifts)
    expected = torch.nn.functional.layer_norm(x, (192,), weight[0], bias[0])
    close(torch.cat(parts_of(found)[3:], 3), expected)
    heads = layer(rows, 1, mesh, word, num_heads_per_device=2)
    plain = torch.nn.functional.layer_norm(x, (192,))[..., 64:128].reshape(1, 5, 2, 32)
    close(parts_of(heads)[4], plain.transpose(1, 2))
    alone = layer(rows, None, mesh, word)
    close(parts_of(alone)[1], torch.nn.functional.layer_norm(x[..., 64:128], (64,)))
    alone = ttnn.experimental.dit_fused_distributed_rmsnorm(rows, None, mesh, word)
    close(parts_of(alone)[1], torch.nn.functional.rms_norm(x[..., 64:128], (64,), eps=1e-5))

    gamma = on_mesh(mesh, weight.reshape(6, 32), None, 0, dtype=ttnn.float32, **ROWS)
    config = ttnn.LayerNormDefaultProgramConfig()
    found = ttnn.fused_rms_minimal(rows, config, 1, mesh, word[0], weight=gamma, epsilon=1e-5)
    expected = torch.nn.functional.rms_norm(x, (192,), weight[0], 1e-5)
    close(torch.cat(parts_of(found)[:3], 3), expected)
    with pytest.raises(RuntimeError, match="residual_input_tensor is not supported; add it before"):
        ttnn.fused_rms_minimal(
            rows, config, 1, mesh, word[0], weight=gamma, residual_input_tensor=rows
        )
    stats = ttnn.experimental.dit_fused_distributed_rmsnorm_create_stats_buffer
    assert stats(rows, None, mesh) is None
    assert stats(rows, 1, mesh).device() is mesh
    other = ttnn.experimental.dit_fused_distributed_layernorm_create_stats_buffer
    assert other(rows, 1, mesh).dtype is ttnn.float32


def test_exchanges_into_buffers(mesh: Any) -> None:
    """Sums in blocks and whole tensors, in tensors that are made before."""
    word, x = semaphores(mesh)[0], random(1, 1, 4, 96)
    copies = on_mesh(mesh, x, **FLOATS)
    buffers = ttnn.experimental.reduce_scatter_minimal_direct_create_persistent_buffers(
        copies, 3, cluster_axis=1
    )
    direct = ttnn.experimental.reduce_scatter_minimal_direct
    block = direct(copies, 3, cluster_axis=1, persistent_buffers=buffers)
    assert block is buffers[0]
    close(parts_of(block)[4], 3 * x[..., 32:64])
    staging = ttnn.experimental.reduce_scatter_minimal_direct_create_staging_buffer(copies, 3)
    assert staging.dtype is ttnn.uint8
    with pytest.raises(RuntimeError, match="has 4 elements, which 3 devices cannot"):
        ttnn.experimental.reduce_scatter_minimal_direct_create_persistent_buffers(
            copies, 2, cluster_axis=1
        )
    middle, last = ttnn.experimental.reduce_scatter_minimal_async_create_intermediate_buffer(
        copies, 3, topology=ttnn.Topology.Ring
    )
    block = ttnn.experimental.reduce_scatter_minimal_async(
        copies, [middle, buffers[0]], 3, [word] * 3, cluster_axis=1
    )
    close(parts_of(block)[0], 3 * x[..., :32])
    assert last.device() is mesh
    with pytest.raises(RuntimeError, match="are for rings and dimensions after the first"):
        ttnn.experimental.reduce_scatter_minimal_async_create_intermediate_buffer(
            copies, 0, topology=ttnn.Topology.Ring
        )
    llama = ttnn.experimental.llama_reduce_scatter
    block = llama(copies, copies, 3, word, ttnn.SubDeviceId(0), 1, mesh)
    close(parts_of(block)[2], 3 * x[..., 64:])

    into = ttnn.zeros((1, 1, 4, 96), ttnn.float32, ttnn.TILE_LAYOUT, mesh)
    rows = on_mesh(mesh, x, None, 3, **FLOATS)
    assert ttnn.experimental.high_bw_all_gather(rows, 3, into, cluster_axis=1) is into
    close(parts_of(into)[3], x)
    with pytest.raises(RuntimeError, match="gathered_dim_size is not supported"):
        ttnn.experimental.high_bw_all_gather(rows, 3, into, cluster_axis=1, gathered_dim_size=64)


# --- Sockets --------------------------------------------------------------------------------------


def core(row: int, column: int, x: int = 0) -> Any:
    """A core of a device."""
    return ttnn.MeshCoreCoord(ttnn.MeshCoordinate(row, column), ttnn.CoreCoord(x, 0))


def socket_config(*pairs: tuple[Any, Any], size: int = 4096) -> Any:
    """Connections of cores, with room for pages in L1."""
    connections = [ttnn.SocketConnection(sender, receiver) for sender, receiver in pairs]
    return ttnn.SocketConfig(connections, ttnn.SocketMemoryConfig(ttnn.BufferType.L1, size))


def test_sockets_between_meshes(mesh: Any) -> None:
    """The rows of a mesh as two: tensors go from devices to others, in order."""
    top, bottom = mesh.create_submeshes((1, 3))
    config = socket_config((core(0, 0), core(0, 2)), (core(0, 1), core(0, 0)))
    sender, receiver = ttnn.create_socket_pair(top, bottom, config)
    x, y = random(2, 66), random(2, 66, seed=1)
    first, second = (on_mesh(top, each, None, 1, **FLOATS) for each in (x, y))
    into = ttnn.zeros((2, 22), ttnn.float32, ttnn.TILE_LAYOUT, bottom)
    assert ttnn.experimental.send_async(first, sender) == []
    assert ttnn.experimental.send_async(second, sender) == []
    # What is sent is what the tensor holds then.
    ttnn.copy(second, first)
    assert ttnn.experimental.recv_async(into, receiver) == [into]
    found = parts_of(into)
    close(found[2], x[:, :22])
    close(found[0], x[:, 22:44])
    close(found[1], torch.zeros(2, 22))
    ttnn.experimental.recv_direct_async(into, receiver)
    close(parts_of(into)[0], y[:, 22:44])
    with pytest.raises(RuntimeError, match="operations are done in order here: send before you"):
        ttnn.experimental.recv_async(into, receiver)
    assert receiver.get_active_cores() == [core(0, 2), core(0, 0)]
    assert sender.get_mesh_device() is top
    assert sender.get_connection_config() == config.connections
    assert repr(receiver) == "MeshSocket(RECEIVER, 2 connections)"

    ttnn.experimental.send_direct_async(first, sender)
    short = ttnn.zeros((2, 20), ttnn.float32, ttnn.TILE_LAYOUT, bottom)
    for run, message in (
        (
            lambda: ttnn.experimental.recv_async(short, receiver),
            r"what was sent has Shape\(\[2, 22",
        ),
        (lambda: ttnn.experimental.recv_async(first, receiver), "the socket on"),
        (lambda: ttnn.experimental.recv_async(into, sender), "is the SENDER of its pair; this is"),
        (lambda: ttnn.experimental.send_async(into, receiver), "is the RECEIVER of its pair"),
    ):
        with pytest.raises(RuntimeError, match=message):
            run()
    # What a tensor could not take is still there for one that can.
    ttnn.experimental.recv_async(into, receiver)
    close(parts_of(into)[2], y[:, :22])


def test_sockets_that_are_refused(mesh: Any) -> None:
    """Cores that are not there, that receive from two, and hosts that there are none of."""
    for pairs, message in (
        ([], "connections is a list of ttnn.SocketConnection"),
        ([(core(0, 0), core(2, 0))], "is outside of the mesh"),
        ([(core(0, 0), core(0, 1, 40))], "is outside of the 8x8 cores of a device"),
        ([(core(0, 0), core(1, 1)), (core(0, 1), core(1, 1))], "receives from several cores"),
        ([(core(0, 0), core(1, 1)), (core(0, 1), core(1, 1, 1))], "from two devices over one"),
    ):
        with pytest.raises(RuntimeError, match=message):
            ttnn.create_socket_pair(mesh, mesh, socket_config(*pairs))
    good = socket_config((core(0, 0), core(1, 1)))
    none = socket_config((core(0, 0), core(1, 1)), size=0)
    with pytest.raises(
        RuntimeError, match=r"fifo_size is a multiple of 16 bytes, and at most .* of L1, not 0"
    ):
        ttnn.create_socket_pair(mesh, mesh, none)
    with pytest.raises(RuntimeError, match="connects two hosts, and there is one here"):
        ttnn.MeshSocket(mesh, good)
    other = ttnn.SocketConfig(good.connections, good.memory_config, 0, 1)
    with pytest.raises(RuntimeError, match="are of other hosts"):
        ttnn.create_socket_pair(mesh, mesh, other)


# --- Prefetching ----------------------------------------------------------------------------------


def test_products_of_prefetched_weights() -> None:
    """What other cores read for a product changes nothing; RuntimeError as of ttnn 0.81."""
    device = ttnn.open_device(device_id=0, numerics="exact", strict=False)
    x, w = random(5, 64), random(64, 70, seed=1)
    a, b = (ttnn.from_torch(each, device=device, **FLOATS) for each in (x, w))
    cores = [
        (ttnn.CoreCoord(0, row), ttnn.CoreRangeSet([ttnn.CoreRange((1, row), (2, row))]))
        for row in (0, 1)
    ]
    buffer = ttnn.create_global_circular_buffer(device, cores, 1088 * 8)
    addresses = ttnn.zeros((2, 1), ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT, device)
    made = ttnn.dram_prefetcher([b, addresses], 1, buffer)
    # As ttnn 0.81.1 answers.
    assert (made.shape, made.dtype, made.layout) == ((32, 32), ttnn.bfloat16, ttnn.TILE_LAYOUT)
    close(ttnn.to_torch(ttnn.matmul(a, b, global_cb=buffer)), x @ w)
    for tensors, layers, given, message in (
        ([b, addresses], 1, None, "global_cb is missing"),
        ([b], 1, buffer, "one weight or more, and the tensor of their addresses"),
        ([b, addresses], 2, buffer, "has 1, for 2 layers of 1 tensors"),
        ([b, b], 1, buffer, "it is uint32 in rows"),
    ):
        with pytest.raises(RuntimeError, match=message):
            ttnn.dram_prefetcher(tensors, layers, given)
    for mapping, size, message in (
        ([(ttnn.CoreCoord(1, 0), cores[0][1])], 1088, "twice"),
        ([cores[0], (ttnn.CoreCoord(0, 2), cores[0][1])], 1088, "twice"),
        ([], 1088, "has senders, each with one receiver or more"),
        (cores, 10**8, "bytes per bank do not fit into L1"),
    ):
        with pytest.raises(RuntimeError, match=message):
            ttnn.create_global_circular_buffer(device, mapping, size)
