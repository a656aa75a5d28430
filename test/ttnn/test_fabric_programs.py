"""Kernels of `generic_op` that send over the fabric of a mesh."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest
import torch

import ttmlir.ttnn as ttnn

CORE = ttnn.CoreCoord(0, 0)
ALONE = ttnn.CoreRangeSet([ttnn.CoreRange(CORE, CORE)])

BEGIN = """
#include "dataflow_api.h"
#include "tt_metal/fabric/hw/inc/edm_fabric/fabric_connection_manager.hpp"
#include "tt_metal/fabric/hw/inc/packet_header_pool.h"
#include "tt_metal/fabric/hw/inc/noc_addr.h"
#include "tt_metal/fabric/hw/inc/linear/api.h"
using namespace tt::tt_fabric;
void kernel_main() {
    constexpr uint32_t pages = 2;
    constexpr auto own_args = TensorAccessorArgs<0>();
    const auto own = TensorAccessor(own_args, get_common_arg_val<uint32_t>(0), 2048);
    constexpr auto result_args = TensorAccessorArgs<own_args.next_compile_time_args_offset()>();
    const auto result = TensorAccessor(result_args, get_common_arg_val<uint32_t>(1), 2048);
    const uint32_t semaphore = get_common_arg_val<uint32_t>(2);
    const uint64_t signal = get_noc_addr(my_x[0], my_y[0], semaphore);
    std::size_t arg = 0;
    OPEN
    for (uint32_t page = 0; page < pages; page++) {
        cb_reserve_back(0, 1);
        const uint32_t data = get_write_ptr(0);
        noc_async_read_page(page, own, data);
        noc_async_read_barrier();
        const NocUnicastAtomicIncFusedCommandHeader command{result.get_noc_addr(page), signal, 1};
        SEND
        noc_async_writes_flushed();
    }
    CLOSE
    auto* word = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(semaphore);
    noc_semaphore_wait_min(word, pages);
    noc_semaphore_set(word, 0);
}
"""
CALL = "linear::experimental::fabric_unicast_noc_fused_unicast_with_atomic_inc"
ONE = {
    "OPEN": """constexpr auto type = ProgrammableCoreType::TENSIX;
    auto sender = WorkerToFabricEdmSender::build_from_args<type>(arg);
    auto* header = PacketHeaderPool::allocate_header();
    sender.open();""",
    "SEND": f"{CALL}(&sender, header, data, 2048, command, 1);",
    "CLOSE": "sender.close();",
}
MANAGED = {
    "OPEN": """RoutingPlaneConnectionManager manager;
    open_connections(manager, 1, arg);
    uint8_t hops[1] = {1};
    const uint8_t route = PacketHeaderPool::allocate_header_n(1);""",
    "SEND": f"{CALL}(manager, route, data, 2048, command, hops);",
    "CLOSE": "close_connections(manager);",
}


@contextmanager
def opened(config: Any, board: str) -> Generator[Any]:
    """Two devices with a fabric, which others do not get."""
    ttnn.set_fabric_config(config)
    try:
        with ttnn.create_mesh_device(ttnn.MeshShape(1, 2), board=board) as mesh:
            yield mesh
    finally:
        ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)


def swap(mesh: Any, x: Any, y: Any, steps: dict[str, str]) -> None:
    """The programs with which two devices send their tiles to each other."""
    text = BEGIN
    for word, code in steps.items():
        text = text.replace(f"    {word}\n", f"    {code}\n")
    semaphore = ttnn.create_global_semaphore(mesh, ALONE, 0)
    programs = ttnn.MeshProgramDescriptor()
    places = [ttnn.MeshCoordinate(0, column) for column in range(2)]
    here, there = map(mesh.get_fabric_node_id, places)
    for place, ends in zip(places, ((here, there), (there, here)), strict=True):
        buffer = ttnn.CBDescriptor(
            total_size=4096,
            core_ranges=ALONE,
            format_descriptors=[
                ttnn.CBFormatDescriptor(buffer_index=0, data_format=ttnn.bfloat16, page_size=2048)
            ],
        )
        kernel = ttnn.KernelDescriptor(
            kernel_source=text,
            source_type=ttnn.KernelDescriptor.SourceType.SOURCE_CODE,
            core_ranges=ALONE,
            compile_time_args=[
                word
                for each in (x, y)
                for word in ttnn.TensorAccessorArgs(each).get_compile_time_args()
            ],
            common_runtime_args=[
                x.buffer_address(),
                y.buffer_address(),
                ttnn.get_global_semaphore_address(semaphore),
            ],
            config=ttnn.WriterConfigDescriptor(),
        )
        program = ttnn.ProgramDescriptor([kernel], [], [buffer])
        if steps is MANAGED:
            words = ttnn.fabric_connection_rt_args(ends[0], [ends[1]], [], program, 0, CORE)
            assert len(words) == ttnn.fabric_connection_rt_args_size(1)
            kernel.defines = ttnn.get_fabric_kernel_defines()
        else:
            words = ttnn.setup_fabric_connection(*ends, 1, program, CORE)
        kernel.runtime_args = [(CORE, words)]
        assert [each.id for each in program.semaphores] == [0, 1]
        programs[ttnn.MeshCoordinateRange(place, place)] = program
    ttnn.generic_op([x, y], programs)


@pytest.mark.parametrize(
    ("config", "board", "steps"),
    [
        (ttnn.FabricConfig.FABRIC_1D, "n300", ONE),
        (ttnn.FabricConfig.FABRIC_1D, "p150x2", MANAGED),
        (ttnn.FabricConfig.FABRIC_2D, "p150x2", MANAGED),
    ],
    ids=["connection", "manager", "two dimensions"],
)
def test_devices_swap_their_tiles(config: Any, board: str, steps: dict[str, str]) -> None:
    """Each sends to the other one, and waits for what that sends."""
    values = torch.arange(32 * 128).reshape(32, 128).float() % 251
    with opened(config, board) as mesh:
        mapper = ttnn.ShardTensorToMesh(mesh, 1)
        x, y = (
            ttnn.from_torch(
                each, ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=mesh, mesh_mapper=mapper
            )
            for each in (values, torch.zeros_like(values))
        )
        swap(mesh, x, y, steps)
        found = ttnn.to_torch(y, mesh_composer=ttnn.ConcatMeshToTensor(mesh, 1)).float()
        assert torch.equal(found, torch.cat([values[:, 64:], values[:, :64]], 1))


def test_what_goes_wrong() -> None:
    """Without a fabric, over links that there are not, and in a kernel that does not send."""
    with opened(ttnn.FabricConfig.DISABLED, "n300") as mesh:
        x = ttnn.zeros((32, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, mesh)
        # What is said first depends on whether a mesh of another test is still there.
        with pytest.raises(RuntimeError, match="call SetFabricConfig before the"):
            swap(mesh, x, x, ONE)
    with opened(ttnn.FabricConfig.FABRIC_1D, "n300") as mesh:
        first, second = (mesh.get_fabric_node_id(ttnn.MeshCoordinate(0, each)) for each in (0, 1))
        program = ttnn.ProgramDescriptor()
        with pytest.raises(RuntimeError, match="chip 0 has 2 links towards chip 1, no link 2"):
            ttnn.setup_fabric_connection(first, second, 2, program, CORE)
        assert not program.semaphores
        with pytest.raises(RuntimeError, match="kernel 0 of a program with 0"):
            ttnn.fabric_connection_rt_args(first, [second], [], program, 0, CORE)
        with pytest.raises(RuntimeError, match="'api_type' is Linear or Mesh, not 'Ring'"):
            ttnn.get_fabric_kernel_defines("Ring")
        for _ in range(8):
            ttnn.setup_fabric_connection(first, second, 0, program, CORE)
        with pytest.raises(RuntimeError, match="has 16 semaphores, and no room for more"):
            ttnn.setup_fabric_connection(first, second, 0, program, CORE)
        x, y = (ttnn.zeros((32, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, mesh) for _ in range(2))
        with pytest.raises(RuntimeError) as caught:
            swap(mesh, x, y, {**ONE, "SEND": ""})
        text = str(caught.value)
        assert "device 0 core (0, 0)" in text
        assert "device 1 core (0, 0)" in text
