"""Meshes of one device, traces, events and global semaphores."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from ttmlir import ttnn


def test_meshes_of_one() -> None:
    """A mesh has one device, to which tensors go whole."""
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, 1))
    try:
        values = torch.arange(6).reshape(2, 3).float()
        for mapper in (
            ttnn.ReplicateTensorToMesh(mesh),
            ttnn.ShardTensorToMesh(mesh, dim=0),
            ttnn.ShardTensor2dMesh(mesh, (1, 1), (0, 1)),
            ttnn.create_mesh_mapper(mesh, ttnn.MeshMapperConfig([ttnn.PlacementShard(0)])),
        ):
            tensor = ttnn.from_torch(values, device=mesh, mesh_mapper=mapper)
            composer = ttnn.ConcatMeshToTensor(mesh, dim=0)
            assert torch.equal(ttnn.to_torch(tensor, mesh_composer=composer), values)
            [part] = ttnn.get_device_tensors(tensor)
            assert torch.equal(ttnn.to_torch(part), values)
        assert mesh.create_submesh(ttnn.MeshShape(1, 1)) is mesh
        with pytest.raises(RuntimeError, match="a mesh of one device has no submesh"):
            mesh.create_submesh(ttnn.MeshShape(1, 2))
    finally:
        ttnn.close_mesh_device(mesh)
    with pytest.raises(RuntimeError, match=r"MeshShape\(\[2, 4\]\) has 8 devices; here a mesh has"):
        ttnn.open_mesh_device(ttnn.MeshShape(2, 4))
    assert ttnn.cluster.get_cluster_type() == ttnn.cluster.ClusterType.SIMULATOR_WORMHOLE_B0
    assert not ttnn.using_distributed_env()


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
