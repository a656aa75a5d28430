"""Meshes of devices, collectives, traces, events and global semaphores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from ttmlir import ttnn

pytestmark = pytest.mark.usefixtures("nothing_open")


def on_mesh(mesh: Any, values: torch.Tensor, *dims: int | None, **others: Any) -> Any:
    """A tensor in tiles, sharded along a dimension over rows and one over columns; None copies."""
    mapper = ttnn.ShardTensor2dMesh(mesh, tuple(mesh.shape), dims)
    others.setdefault("layout", ttnn.TILE_LAYOUT)
    return ttnn.from_torch(values, device=mesh, mesh_mapper=mapper, **others)


def parts_of(tensor: Any) -> list[torch.Tensor]:
    """What each device has."""
    return [ttnn.to_torch(each) for each in ttnn.get_device_tensors(tensor)]


def make_semaphores(mesh: Any) -> list[Any]:
    """Words on some cores of all devices, which operations between devices ask for."""
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 1))])
    return [ttnn.create_global_semaphore(mesh, cores, 0) for _ in range(2)]


def test_meshes_of_one() -> None:
    """A mesh of one device is that device, to which tensors go whole."""
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 1))
    try:
        values = torch.arange(6).reshape(2, 3).float()
        for mapper in (
            ttnn.ReplicateTensorToMesh(mesh),
            ttnn.ShardTensorToMesh(mesh, dim=0),
            ttnn.ShardTensor2dMesh(mesh, (1, 1), (0, 1)),
            ttnn.create_mesh_mapper(mesh, ttnn.MeshMapperConfig(row_dim=0)),
        ):
            tensor = ttnn.from_torch(values, device=mesh, mesh_mapper=mapper)
            composer = ttnn.ConcatMeshToTensor(mesh, dim=0)
            assert torch.equal(ttnn.to_torch(tensor, mesh_composer=composer), values)
            [part] = ttnn.get_device_tensors(tensor)
            assert torch.equal(ttnn.to_torch(part), values)
        assert mesh.create_submesh(ttnn.MeshShape(1, 1)) is mesh
        with pytest.raises(RuntimeError, match=r"\[1, 2\]\) is not within the mesh, which is a"):
            mesh.create_submesh(ttnn.MeshShape(1, 2))
    finally:
        ttnn.close_mesh_device(mesh)
    assert ttnn.cluster.get_cluster_type() == ttnn.cluster.ClusterType.SIMULATOR_WORMHOLE_B0
    assert not ttnn.using_distributed_env()


def test_a_mesh_of_an_open_device(device: ttnn.Device) -> None:
    """A mesh of one chip that is open is that device; several chips must not be open."""
    assert ttnn.open_mesh_device(ttnn.MeshShape(1, 1)) is device
    with pytest.raises(RuntimeError, match="device 0 is open; close it first"):
        ttnn.open_mesh_device(ttnn.MeshShape(1, 2))


def test_devices_of_meshes(mesh: Any) -> None:
    """A mesh has rows and columns of chips, of which submeshes are made."""
    assert repr(mesh) == "MeshDevice(2x3 grid, 6 devices)"
    assert (mesh.get_num_devices(), mesh.get_device_ids()) == (6, [0, 1, 2, 4, 5, 6])
    assert mesh.get_device_id(ttnn.MeshCoordinate(1, 2)) == 6
    assert mesh.core_grid == ttnn.CoreGrid(y=8, x=8)
    assert [each.get_device_ids() for each in mesh.create_submeshes(ttnn.MeshShape(2, 1))] == [
        [0, 4],
        [1, 5],
        [2, 6],
    ]
    part = mesh.create_submesh(ttnn.MeshShape(1, 2), ttnn.MeshCoordinate(1, 1))
    assert (part.shape, part.get_device_ids()) == (ttnn.MeshShape(1, 2), [5, 6])
    assert part in mesh.get_submeshes()
    mesh.reshape(ttnn.MeshShape(1, 6))
    assert mesh.shape == ttnn.MeshShape(1, 6)
    mesh.reshape(ttnn.MeshShape(2, 3))
    with pytest.raises(RuntimeError, match=r"MeshCoordinate\(\[2, 0\]\) is outside of the mesh"):
        mesh.get_device_id(ttnn.MeshCoordinate(2, 0))
    with pytest.raises(
        RuntimeError, match=r"error: MeshDevice.create_submeshes: MeshShape\(\[2, 3"
    ):
        mesh.create_submeshes(ttnn.MeshShape(2, 2))
    with pytest.raises(RuntimeError, match="device 1 is open; close it first"):
        ttnn.open_mesh_device(ttnn.MeshShape(1, 1), physical_device_ids=[1], board="t3000")
    with pytest.raises(RuntimeError, match=r"has 64 devices, but board galaxy has 32"):
        ttnn.open_mesh_device(ttnn.MeshShape(8, 8))


@pytest.mark.parametrize("dims", [(0, 1), (1, 0), (None, 0), (1, None), (None, None), (-1, -2)])
def test_parts_of_tensors(mesh: Any, dims: tuple[int | None, int | None]) -> None:
    """Rows and columns of devices get blocks, and composers put them together."""
    values = torch.arange(12 * 18).reshape(12, 18).float()
    tensor = on_mesh(mesh, values, *dims, dtype=ttnn.float32)
    for number, part in enumerate(parts_of(tensor)):
        expected = values
        for dim, place, count in zip(dims, divmod(number, 3), (2, 3), strict=True):
            if dim is not None:
                expected = expected.chunk(count, dim)[place]
        assert torch.equal(part, expected)
    if None not in dims:
        composer = ttnn.ConcatMesh2dToTensor(mesh, (2, 3), dims)
        assert torch.equal(ttnn.to_torch(tensor, mesh_composer=composer), values)
        host = ttnn.from_device(tensor)
        assert (host.device(), len(ttnn.get_device_tensors(host))) == (None, 6)
        assert torch.equal(ttnn.to_torch(ttnn.aggregate_tensor(host, composer)), values)
        assert torch.equal(ttnn.to_torch(host.to(mesh), mesh_composer=composer), values)
        with ttnn.distribute(composer):
            assert torch.equal(ttnn.to_torch(tensor), values)
    lined = ttnn.ConcatMeshToTensor(mesh, dim=0)
    assert torch.equal(ttnn.to_torch(tensor, mesh_composer=lined), torch.cat(parts_of(tensor)))
    combined = ttnn.combine_device_tensors(tensors=ttnn.get_device_tensors(tensor))
    assert combined.device() is mesh
    spread = ttnn.distribute_tensor(
        ttnn.from_torch(values), ttnn.ShardTensorToMesh(mesh, dim=1), mesh
    )
    assert torch.equal(torch.cat(parts_of(spread), 1), values)
    shards = [ttnn.from_torch(part) for part in values.chunk(6)]
    assert ttnn.from_host_shards(shards, mesh.shape).shape == (2, 18)


def test_composers_of_parts_of_meshes(mesh: Any) -> None:
    """A composer may take the devices of a corner alone."""
    values = torch.arange(24).reshape(4, 6).float()
    tensor = on_mesh(mesh, values, 0, 1)
    config = ttnn.MeshComposerConfig([0, 1], ttnn.MeshShape(1, 2))
    corner = ttnn.to_torch(tensor, mesh_composer=ttnn.create_mesh_composer(mesh, config))
    assert torch.equal(corner, values[:2, :4])
    moved = ttnn.MeshComposerConfig([0, 1], ttnn.MeshShape(2, 1), ttnn.MeshCoordinate(0, 2))
    column = ttnn.to_torch(tensor, mesh_composer=ttnn.create_mesh_composer(mesh, moved))
    assert torch.equal(column, values[:, 4:])


def test_operations_on_each_device(mesh: Any) -> None:
    """Devices compute with their parts: a layer whose weights are divided over the columns."""
    rng = torch.Generator().manual_seed(1)
    x, w = torch.randn(10, 40, generator=rng), torch.randn(40, 36, generator=rng)
    inputs = on_mesh(mesh, x, 0, None, dtype=ttnn.float32)
    weights = on_mesh(mesh, w, None, 1, dtype=ttnn.float32)
    result = ttnn.relu(ttnn.matmul(inputs, weights) + 1)
    assert (result.shape, result.device()) == ((5, 12), mesh)
    assert len(result.devices()) == 6
    composer = ttnn.ConcatMesh2dToTensor(mesh, (2, 3), (0, 1))
    expected = torch.relu(x @ w + 1)
    torch.testing.assert_close(
        ttnn.to_torch(result, mesh_composer=composer), expected, rtol=1e-5, atol=1e-4
    )
    first, second, third = ttnn.split(result, 4, 1)
    assert (first.shape, third.device()) == ((5, 4), mesh)
    ttnn.add_(result, 1.0)
    np.testing.assert_allclose(parts_of(second)[0] + 1, parts_of(result)[0][:, 4:8])
    numbers = ttnn.complex_tensor(first, third)
    torch.testing.assert_close(
        parts_of(ttnn.imag(ttnn.conj(numbers, memory_config=ttnn.L1_MEMORY_CONFIG)))[5],
        -parts_of(third)[5],
    )
    written = ttnn.ones_like(first)
    assert ttnn.add(first, third, output_tensor=written) is written
    np.testing.assert_allclose(parts_of(written)[4], parts_of(first)[4] + parts_of(third)[4])
    assert written.buffer_address() == ttnn.get_device_tensors(written)[5].buffer_address()
    ttnn.deallocate(first)
    assert not first.is_allocated()
    with pytest.raises(RuntimeError, match="the tensor was deallocated"):
        ttnn.exp(first)
    lines = repr(ttnn.ones((1, 2), device=mesh)).splitlines()
    assert lines[8] == "device_id: 5, MeshCoordinate([1, 1])"
    assert lines[9].startswith("ttnn.Tensor([[ 1.0000,  1.0000]]")


def test_traces_of_meshes(mesh: Any) -> None:
    """A trace is computed again on all devices."""
    x = on_mesh(mesh, torch.full((4, 6), 2.0), 0, 1)
    trace = ttnn.begin_trace_capture(mesh, cq_id=0)
    y = ttnn.all_reduce(ttnn.mul(x, x), cluster_axis=0)
    ttnn.end_trace_capture(mesh, trace, cq_id=0)
    ttnn.copy_host_to_device_tensor(ttnn.from_torch(torch.full((2, 2), 3.0)), x)
    ttnn.execute_trace(mesh, trace, cq_id=0)
    assert all(torch.equal(part, torch.full((2, 2), 18.0)) for part in parts_of(y))


ROW_MAJOR = {"layout": ttnn.ROW_MAJOR_LAYOUT, "dtype": ttnn.float32}
ROWS, COLUMNS, ALL = [[0, 1, 2], [3, 4, 5]], [[0, 3], [1, 4], [2, 5]], [[*range(6)]]


@pytest.mark.parametrize(("axis", "groups"), [(0, COLUMNS), (1, ROWS), (None, ALL)])
def test_collectives(mesh: Any, axis: int | None, groups: list[list[int]]) -> None:
    """What each device has is made of what those along the axis had."""
    x = on_mesh(mesh, torch.arange(24 * 18.0).reshape(24, 18), 0, 1, **ROW_MAJOR)
    semaphores = make_semaphores(mesh)
    more = {"cluster_axis": axis, "multi_device_global_semaphore": semaphores}
    parts = parts_of(x)
    gathered = parts_of(ttnn.all_gather(x, 0, cluster_axis=axis))
    buffer = ttnn.zeros((12 * len(groups[0]), 6), ttnn.float32, device=mesh)
    later = ttnn.experimental.all_gather_async(x, buffer, dim=0, **more)
    assert later is buffer
    if axis is not None:
        order = (0, axis, mesh, ttnn.Topology.Linear, semaphores)
        ordered = parts_of(ttnn.experimental.all_gather_async(x, *order))
        assert all(map(torch.equal, ordered, gathered))
    reverse = parts_of(ttnn.experimental.all_gather_async_reversed(x, 0, **more))
    ring = ttnn.experimental.ring_attention_all_gather_async([x], [buffer], 0, **more)
    assert ring[0] is buffer
    reduced = parts_of(ttnn.all_reduce(x, cluster_axis=axis))
    also = parts_of(
        ttnn.experimental.all_reduce_async(
            x, cluster_axis=axis, mesh_device=mesh, math_op=ttnn.ReduceType.Sum
        )
    )
    scattered = parts_of(ttnn.reduce_scatter(x, 1, cluster_axis=axis))
    others = [
        parts_of(ttnn.experimental.reduce_scatter_minimal_async(x, dim=1, **more)),
        parts_of(
            ttnn.experimental.strided_reduce_scatter_async(
                x, 1, mm_block_ht=1, mm_block_wt=1, **more
            )
        ),
        parts_of(ttnn.experimental.reduce_scatter_minimal_direct(x, 1, cluster_axis=axis)),
    ]
    strided = parts_of(ttnn.experimental.strided_all_gather_async(x, None, 0, **more))
    assert all(map(torch.equal, strided, gathered))
    partitioned = parts_of(ttnn.mesh_partition(x, 0, axis))
    exchanged = parts_of(ttnn.experimental.all_to_all_async_generic(x, 0, 1, cluster_axis=axis))
    for group in groups:
        members = torch.stack([parts[device] for device in group])
        for place, device in enumerate(group):
            size = len(group)
            assert torch.equal(gathered[device], torch.cat([*members]))
            assert torch.equal(parts_of(later)[device], torch.cat([*members]))
            assert torch.equal(reverse[device], torch.cat([*members.flip(0)]))
            for each in (reduced, also):
                assert torch.equal(each[device], members.sum(0))
            for each in (scattered, *others):
                assert torch.equal(each[device], members.sum(0).chunk(size, 1)[place])
            assert torch.equal(partitioned[device], members[place].chunk(size, 0)[place])
            blocks = [each.chunk(size, 1)[place] for each in members]
            assert torch.equal(exchanged[device], torch.cat(blocks))


def test_exchanges_of_all_devices(mesh: Any) -> None:
    """All devices exchange blocks through buffers; lists of parts need a line of devices."""
    x = on_mesh(mesh, torch.arange(24 * 18.0).reshape(24, 18), 0, 1, **ROW_MAJOR)
    semaphore = make_semaphores(mesh)[0]
    output = ttnn.zeros((72, 1), ttnn.float32, device=mesh)
    exchanged = ttnn.experimental.all_to_all_async(x, x, output, 0, 1, semaphore)
    assert exchanged is output
    blocks = [part[:, 3:4] for part in parts_of(x)]
    assert torch.equal(parts_of(output)[3], torch.cat(blocks))
    with pytest.raises(RuntimeError, match=r"MeshShape\(\[2, 3\]\) is no line of devices"):
        ttnn.all_broadcast(x)


@pytest.mark.parametrize(("axis", "groups"), [(0, COLUMNS), (1, ROWS)])
def test_what_one_device_sends(mesh: Any, axis: int, groups: list[list[int]]) -> None:
    """Parts of single devices go to those along an axis, or to one."""
    x = on_mesh(mesh, torch.arange(24 * 18.0).reshape(24, 18), 0, 1, **ROW_MAJOR)
    parts, place = parts_of(x), ttnn.MeshCoordinate
    for number, listed in enumerate(ttnn.all_broadcast(x, cluster_axis=axis)):
        for group in groups:
            for device in group:
                assert torch.equal(parts_of(listed)[device], parts[group[number]])
    sent = parts_of(ttnn.broadcast(x, place(1, 1), cluster_axis=axis))
    point = parts_of(ttnn.point_to_point(x, place(1, 1), place(0, 2)))
    for device in range(6):
        is_reached = any(4 in group and device in group for group in groups)
        assert torch.equal(sent[device], parts[4] if is_reached else torch.zeros(12, 6))
        assert torch.equal(point[device], parts[4] if device == 2 else torch.zeros(12, 6))
    held = ttnn.ones_like(x)
    ttnn.point_to_point(x, place(1, 1), place(0, 2), output_tensor=held)
    assert [float(part[0, 0]) for part in parts_of(held)] == [1, 1, float(parts[4][0, 0]), 1, 1, 1]


def test_sums_of_devices_are_rounded(mesh: Any) -> None:
    """Devices add one after another in the tensor's type: 256 and 1 are 256 in bfloat16."""
    values = torch.tensor([[256.0, 1, 1]])
    x = on_mesh(mesh, values, None, 1, dtype=ttnn.bfloat16)
    assert parts_of(ttnn.all_reduce(x, cluster_axis=1))[0].item() == 256
    x = on_mesh(mesh, values.flip(1), None, 1, dtype=ttnn.bfloat16)
    assert parts_of(ttnn.all_reduce(x, cluster_axis=1))[0].item() == 258


def test_refusals_of_meshes(mesh: Any) -> None:
    """What devices cannot do together is refused at the line, with what to do instead."""
    x = on_mesh(mesh, torch.ones(64, 96), 0, 1)
    place = ttnn.MeshCoordinate
    huge = ttnn.MeshComposerConfig([0, 1], ttnn.MeshShape(10**9, 10**9))
    calls: list[tuple[str, Any]] = [
        ("parts on 6 devices; give to_torch a mesh_composer, such as", lambda: ttnn.to_torch(x)),
        ("Tensor.to_list: the tensor has parts on 6 devices", lambda: x.to_list()),
        (
            "6 devices, another one .* is on device 0 alone",
            lambda: x + ttnn.get_device_tensors(x)[0],
        ),
        ("operands must be on device", lambda: x + ttnn.ones((32, 32), layout=ttnn.TILE_LAYOUT)),
        (
            "cluster_axis is 0 .rows., 1 .columns. or None, not 2",
            lambda: ttnn.all_reduce(x, cluster_axis=2),
        ),
        ("dimension 2 is out of range", lambda: ttnn.all_gather(x, 2, cluster_axis=1)),
        (
            "has 32 elements, which 3 devices cannot share",
            lambda: ttnn.reduce_scatter(x, 1, cluster_axis=1),
        ),
        ("blocks of 16 along dimension 1 begin within tiles", lambda: ttnn.mesh_partition(x, 1, 0)),
        (
            "missing argument 'multi_device_global_semaphore'",
            lambda: ttnn.experimental.all_gather_async(x, 1),
        ),
        (
            r"MeshShape\(\[1000000000, 1000000000\]\) from .* on is not in MeshShape\(\[2, 3\]\)",
            lambda: ttnn.to_torch(x, mesh_composer=ttnn.create_mesh_composer(mesh, huge)),
        ),
        ("'x' is none of those that are left", lambda: ttnn.experimental.all_gather_async(x, "x")),
        (
            "sender_coord is a ttnn.MeshCoordinate.* not 3",
            lambda: ttnn.broadcast(x, 3, cluster_axis=1),
        ),
        ("is outside of the mesh", lambda: ttnn.point_to_point(x, place(0, 3), place(0, 0))),
        (
            "dimension 0 .* has 5 elements, which 2 devices cannot",
            lambda: on_mesh(mesh, torch.ones(5, 3), 0, 1),
        ),
        ("sharded along two dimensions of the mesh", lambda: on_mesh(mesh, torch.ones(6, 6), 0, 0)),
        ("out of range for a tensor of", lambda: on_mesh(mesh, torch.ones(6, 6), 3, 0)),
        ("has 8 parts for the 6 devices", lambda: ttnn.ShardTensor2dMesh(mesh, (2, 4), (0, 1))),
        (
            "has 2 dimensions, but .* has 1 placements",
            lambda: ttnn.create_mesh_mapper(mesh, ttnn.MeshMapperConfig([ttnn.PlacementShard(0)])),
        ),
        (
            "joins two dimensions of the mesh",
            lambda: ttnn.ConcatMesh2dToTensor(mesh, (2, 3), (0, 0)),
        ),
        (
            "mesh_mapper is what ttnn.create_mesh_mapper returns",
            lambda: ttnn.from_torch(torch.ones(2), device=mesh, mesh_mapper=3),
        ),
        (
            "mapper is for the 6 devices",
            lambda: ttnn.from_torch(
                torch.ones(6),
                device=mesh.create_submesh(ttnn.MeshShape(1, 2)),
                mesh_mapper=ttnn.ShardTensorToMesh(mesh, 0),
            ),
        ),
        (
            "3 parts for a mesh of MeshShape",
            lambda: ttnn.from_host_shards([ttnn.ones((2,))] * 3, mesh.shape),
        ),
        (
            "the parts of a tensor are alike",
            lambda: ttnn.from_host_shards(
                [ttnn.ones((2 + (i == 3),)) for i in range(6)], mesh.shape
            ),
        ),
        (
            "not the parts of all devices of a mesh",
            lambda: ttnn.combine_device_tensors(tensors=ttnn.get_device_tensors(x)[:2][::-1]),
        ),
    ]
    for message, call in calls:
        with pytest.raises(
            (RuntimeError, TypeError), match=rf"test_mesh.py:\d+:\d+: error: .*{message}"
        ):
            call()


def test_traces(device: Any) -> None:
    """A trace computes again with what its operands hold, into the same results."""
    x = ttnn.from_torch(torch.full((2, 3), 2.0), layout=ttnn.TILE_LAYOUT, device=device)
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    squared = ttnn.mul(x, x)
    y = ttnn.add(squared, 1)
    ttnn.deallocate(squared)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    assert torch.equal(ttnn.to_torch(y), torch.full((2, 3), 5.0))
    address = y.buffer_address()
    ttnn.copy_host_to_device_tensor(ttnn.from_torch(torch.full((2, 3), 3.0)), x)
    for _ in range(2):
        ttnn.execute_trace(device, trace, cq_id=0, blocking=False)
        assert torch.equal(ttnn.to_torch(y), torch.full((2, 3), 10.0))
    assert y.buffer_address() == address
    ttnn.release_trace(device, trace)
    with pytest.raises(RuntimeError, match="the trace is not being captured"):
        ttnn.end_trace_capture(device, trace)


def test_events(device: Any) -> None:
    """Commands are done in order, so that events have passed."""
    event = ttnn.record_event(device, 0)
    ttnn.wait_for_event(1, event)
    ttnn.event_synchronize(event)
    ttnn.synchronize_device(device)
    with ttnn.command_queue(1):
        assert ttnn.ones([2], device=device).to_list() == [1.0, 1.0]


def test_global_semaphores(device: Any) -> None:
    """A word on every core of a range, at one address."""
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 0))])
    semaphore = ttnn.create_global_semaphore(device, cores, 7)
    address = ttnn.get_global_semaphore_address(semaphore)
    words = [bytes(device.simulated.core(x, 0).l1.read(address, 4)) for x in range(2)]
    assert words == [b"\7\0\0\0"] * 2
    ttnn.reset_global_semaphore_value(semaphore, 1)
    assert bytes(device.simulated.core(1, 0).l1.read(address, 4)) == b"\1\0\0\0"
    before = device.get_memory_view(ttnn.BufferType.L1)
    del semaphore
    assert device.get_memory_view(ttnn.BufferType.L1) != before
