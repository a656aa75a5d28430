"""Workers that share a link by a mux."""

from __future__ import annotations

from typing import Any

import pytest

from test.metalium.fabric_programs import INCLUDES, allocate, open_fabric, run
from ttmlir.metalium import (
    CoreCoord,
    CoreRange,
    CoreRangeSet,
    CreateGlobalSemaphore,
    CreateKernel,
    CreateKernelFromString,
    CreateProgram,
    CreateSemaphore,
    DataMovementConfig,
    MetaliumError,
    SetRuntimeArgs,
    tt_fabric,
)
from ttmlir.metalium.distributed import MeshDevice
from ttmlir.metalium.tt_fabric import (
    FabricConfig,
    FabricMuxChannelType,
    FabricMuxConfig,
    FabricMuxV2Config,
)
from ttmlir.sim.errors import DeadlockError, SimError

WORKER = (
    INCLUDES
    + """
#include "tt_metal/fabric/hw/inc/tt_fabric_mux_interface.hpp"
void kernel_main() {
    const uint32_t data = get_arg_val<uint32_t>(0);
    const uint32_t semaphore = get_arg_val<uint32_t>(1);
    const uint32_t number = get_arg_val<uint32_t>(2);
    const uint32_t workers = get_arg_val<uint32_t>(3);
    const uint32_t x = get_arg_val<uint32_t>(4);
    const uint32_t y = get_arg_val<uint32_t>(5);
    const uint32_t done = get_semaphore(get_arg_val<uint32_t>(6));
    const uint32_t master_x = get_arg_val<uint32_t>(7);
    const uint32_t master_y = get_arg_val<uint32_t>(8);
    constexpr uint32_t buffers = get_compile_time_arg_val(0);
    constexpr uint32_t status = get_compile_time_arg_val(2);
    constexpr uint32_t termination = get_compile_time_arg_val(3);
    auto sender = build_connection_to_fabric_endpoint<buffers>(
        x, y, get_arg_val<uint32_t>(9), buffers, get_compile_time_arg_val(1),
        get_arg_val<uint32_t>(10), get_arg_val<uint32_t>(11), get_arg_val<uint32_t>(12),
        get_arg_val<uint32_t>(13), get_arg_val<uint32_t>(14), 0, 0, 0);
    wait_for_fabric_endpoint_ready(x, y, status, 0);
    fabric_client_connect(sender);
    auto* header = PacketHeaderPool::allocate_header();
    auto* words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(data);
    for (uint32_t i = 0; i < 512; i++) {
        words[i] = 1000 * number + i;
    }
    for (uint32_t packet = 0; packet < 4; packet++) {
        tt::tt_fabric::linear::experimental::fabric_unicast_noc_fused_unicast_with_atomic_inc(
            &sender, header, data + 512 * packet, 512,
            NocUnicastAtomicIncFusedCommandHeader{
                get_noc_addr(my_x[0], my_y[0], data + 8192 + 512 * packet),
                get_noc_addr(my_x[0], my_y[0], semaphore), 1}, 1);
        noc_async_writes_flushed();
    }
    while (sender.get_num_free_write_slots() != buffers) {
    }
    DISCONNECT
    if (number == 0) {
        noc_semaphore_wait(reinterpret_cast<volatile tt_l1_ptr uint32_t*>(done), workers - 1);
        fabric_endpoint_terminate(x, y, termination);
    } else {
        noc_semaphore_inc(get_noc_addr(master_x, master_y, done), 1);
        noc_async_atomic_barrier();
    }
}
"""
)

RECEIVER = """
#include "dataflow_api.h"
void kernel_main() {
    noc_semaphore_wait(reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_arg_val<uint32_t>(1)), 4);
    auto* words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_arg_val<uint32_t>(0) + 8192);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 512; i++) {
        sum += words[i];
    }
    DPRINT << sum << ENDL();
}
"""

MUX = CoreCoord(3, 1)
WORKERS = CoreRange(CoreCoord(0, 0), CoreCoord(2, 0))
FULL = FabricMuxChannelType.FULL_SIZE_CHANNEL


def send_by_mux(text: str, **options: Any) -> MeshDevice:
    """Three workers of the first chip send to the same cores of the second one."""
    with open_fabric(FabricConfig.FABRIC_1D, "n300", (1, 2), **options) as mesh:
        data = allocate(mesh)
        semaphore = CreateGlobalSemaphore(mesh, CoreRangeSet([WORKERS]), 0)
        base = mesh.simulated.chip.l1_unreserved_base
        buffer_size = tt_fabric.get_tt_fabric_channel_buffer_size_bytes()
        config = FabricMuxConfig(3, 0, 2, 0, buffer_size, base)
        here, there = (tt_fabric.FabricNodeId(0, each) for each in mesh.get_device_ids())
        program, receiver = CreateProgram(), CreateProgram()
        mux = CreateKernel(
            program,
            "tt_metal/fabric/impl/kernels/tt_fabric_mux.cpp",
            MUX,
            DataMovementConfig(compile_args=config.get_fabric_mux_compile_time_args()),
        )
        arguments = config.get_fabric_mux_run_time_args(here, there, 0, program, MUX)
        SetRuntimeArgs(program, mux, MUX, arguments)
        done = CreateSemaphore(program, CoreRangeSet([WORKERS]), 0)
        facts = [config.get_num_buffers(FULL), config.get_buffer_size_bytes(FULL)]
        facts += [config.get_status_address(), config.get_termination_signal_address()]
        worker = CreateKernelFromString(
            program, text, WORKERS, DataMovementConfig(compile_args=facts)
        )
        waiting = CreateKernelFromString(receiver, RECEIVER, WORKERS, DataMovementConfig())
        place, master = (mesh.worker_core_from_logical_core(each) for each in (MUX, (0, 0)))
        for number in range(3):
            core = CoreCoord(number, 0)
            shared = [data.address(), semaphore.address()]
            arguments = [*shared, number, 3, *place, done, *master]
            arguments += [
                config.get_channel_credits_stream_id(FULL, number),
                config.get_channel_base_address(FULL, number),
                config.get_connection_info_address(FULL, number),
                config.get_connection_handshake_address(FULL, number),
                config.get_flow_control_address(FULL, number),
                config.get_buffer_index_address(FULL, number),
            ]
            SetRuntimeArgs(program, worker, core, arguments)
            SetRuntimeArgs(receiver, waiting, core, shared)
        run(mesh, {0: program, 1: receiver})
    return mesh


TEXT = WORKER.replace("DISCONNECT", "fabric_client_disconnect(sender);")


@pytest.mark.parametrize("options", [{}, {"timed": False}])
def test_workers_share_a_link(options: dict[str, bool]) -> None:
    """Each receiver gets what its sender has sent; the mux ends when it is told to."""
    mesh = send_by_mux(TEXT, **options)
    lines = mesh.get_devices()[1].printed
    sums = [512 * 1000 * number + 511 * 512 // 2 for number in range(3)]
    assert sorted(lines) == [
        f"device 1 core ({number}, 0) BRISC: {total}" for number, total in enumerate(sums)
    ]


def test_a_worker_that_stays_connected() -> None:
    """A mux ends when all its workers have left."""
    with pytest.raises(SimError) as caught:
        send_by_mux(WORKER.replace("DISCONNECT", ""))
    assert caught.value.rule == "fabric-connection"
    assert "the mux on core (3, 1) of device 0 is told to end, while device 0 core" in str(
        caught.value
    )
    assert "call fabric_client_disconnect() first" in str(caught.value)


def test_a_mux_that_nobody_ends() -> None:
    """It waits for its workers, and the message says so."""
    with pytest.raises(DeadlockError) as caught:
        send_by_mux(TEXT.replace("fabric_endpoint_terminate(x, y, termination);", ""))
    assert "device 0 core (3, 1) BRISC waits for workers to call fabric_endpoint_terminate()" in (
        str(caught.value)
    )


def test_a_channel_that_two_workers_have() -> None:
    """Each worker has its own."""
    with pytest.raises(SimError, match=r"a connection to channel 7 of the mux on core \(3, 1\)"):
        send_by_mux(TEXT.replace("x, y, get_arg_val<uint32_t>(9), buffers", "x, y, 7, buffers"))


def test_a_channel_without_buffers() -> None:
    """It could hold no packet."""
    text = TEXT.replace("get_arg_val<uint32_t>(9), buffers,", "get_arg_val<uint32_t>(9), 0,")
    with pytest.raises(SimError, match="channel 0 of a mux has 0 buffers; it has at least one"):
        send_by_mux(text)


def test_places_of_channels() -> None:
    """Full channels come first; each has its words and slots."""
    config = FabricMuxConfig(2, 1, 3, 4, 4416, 0x20000)
    headers = FabricMuxChannelType.HEADER_ONLY_CHANNEL
    assert config.get_channel_credits_stream_id(headers, 0) == 2
    slots = 0x20000 + 16 * (2 + 4 * 3)
    assert config.get_channel_base_address(FULL, 1) == slots + 3 * 4416
    assert config.get_channel_base_address(headers, 0) == slots + 2 * 3 * 4416
    assert config.get_memory_map_end_address() == slots + 2 * 3 * 4416 + 4 * 64
    words = {config.get_status_address(), config.get_termination_signal_address()}
    for kind, count in ((FULL, 2), (headers, 1)):
        for number in range(count):
            words.add(config.get_connection_info_address(kind, number))
            words.add(config.get_connection_handshake_address(kind, number))
            words.add(config.get_flow_control_address(kind, number))
            words.add(config.get_buffer_index_address(kind, number))
    assert words == {0x20000 + 16 * each for each in range(14)}
    with pytest.raises(MetaliumError, match="there is no channel 1; 1 are of this kind"):
        config.get_flow_control_address(headers, 1)
    with pytest.raises(MetaliumError, match="a mux has 1 to 32 together"):
        FabricMuxConfig(0, 0, 1, 1, 4416, 0x20000)
    with pytest.raises(MetaliumError, match="buffers of 8192 bytes; one holds a header of 64"):
        FabricMuxConfig(1, 0, 1, 1, 8192, 0x20000)


CLIENT = (
    INCLUDES
    + """
#include "tt_metal/fabric/hw/inc/tt_fabric_mux_v2_sender.hpp"
void kernel_main() {
    std::size_t arg = 0;
    const uint32_t data = get_arg_val<uint32_t>(arg++);
    const uint32_t semaphore = get_arg_val<uint32_t>(arg++);
    const uint32_t number = get_arg_val<uint32_t>(arg++);
    auto sender = tt::tt_fabric::FabricMuxV2Sender<EAGER>::build_from_args(arg);
    using namespace tt::tt_fabric::common::experimental;
    static_assert(is_fabric_mux_v2_sender_v<decltype(sender)>);
    static_assert(!is_fabric_mux_v2_sender_v<WorkerToFabricEdmSender>);
    sender.open();
    auto* header = PacketHeaderPool::allocate_header();
    auto* words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(data);
    for (uint32_t i = 0; i < 512; i++) {
        words[i] = 1000 * number + i;
    }
    for (uint32_t packet = 0; packet < 4; packet++) {
        tt::tt_fabric::linear::experimental::fabric_unicast_noc_fused_unicast_with_atomic_inc(
            &sender, header, data + 512 * packet, 512,
            NocUnicastAtomicIncFusedCommandHeader{
                get_noc_addr(my_x[0], my_y[0], data + 8192 + 512 * packet),
                get_noc_addr(my_x[0], my_y[0], semaphore), 1}, 1);
        sender.flush<true>();
        noc_async_writes_flushed();
    }
    sender.close();
}
"""
)


def send_by_second_mux(text: str, channels: int = 3, **options: Any) -> MeshDevice:
    """The same by a mux that ends when all its workers have closed."""
    with open_fabric(FabricConfig.FABRIC_1D, "n300", (1, 2), **options) as mesh:
        data = allocate(mesh)
        semaphore = CreateGlobalSemaphore(mesh, CoreRangeSet([WORKERS]), 0)
        base = mesh.simulated.chip.l1_unreserved_base
        size = tt_fabric.get_tt_fabric_channel_buffer_size_bytes()
        config = FabricMuxV2Config(mesh, channels, 2, size, base)
        here, there = (tt_fabric.FabricNodeId(0, each) for each in mesh.get_device_ids())
        program, receiver = CreateProgram(), CreateProgram()
        tt_fabric.add_fabric_mux_v2_to_program(program, config, MUX, here, there, 0)
        worker = CreateKernelFromString(program, text, WORKERS, DataMovementConfig())
        waiting = CreateKernelFromString(receiver, RECEIVER, WORKERS, DataMovementConfig())
        place = mesh.worker_core_from_logical_core(MUX)
        for number in range(3):
            core = CoreCoord(number, 0)
            shared = [data.address(), semaphore.address()]
            semaphores = [CreateSemaphore(program, core, 0) for _ in range(2)]
            arguments = [*shared, number]
            config.append_client_connection_rt_args(
                place, number, FabricMuxV2Config.ClientSemaphores(*semaphores), arguments
            )
            assert len(arguments) == 14
            SetRuntimeArgs(program, worker, core, arguments)
            SetRuntimeArgs(receiver, waiting, core, shared)
        run(mesh, {0: program, 1: receiver})
    return mesh


@pytest.mark.parametrize("options", [{}, {"timed": False}])
@pytest.mark.parametrize("eager", ["true", "false"])
def test_a_mux_that_ends_with_its_workers(eager: str, options: dict[str, bool]) -> None:
    """Each receiver gets what its sender has sent; nobody tells the mux to end."""
    mesh = send_by_second_mux(CLIENT.replace("EAGER", eager), **options)
    sums = [512 * 1000 * number + 511 * 512 // 2 for number in range(3)]
    assert sorted(mesh.get_devices()[1].printed) == [
        f"device 1 core ({number}, 0) BRISC: {total}" for number, total in enumerate(sums)
    ]


@pytest.mark.parametrize(
    ("place", "semaphores"), [(None, (0, 1)), ((1, 2), None), ((1, 2), (0, 1, 2)), ((1, 2), (0,))]
)
def test_workers_without_a_mux_or_semaphores(place: Any, semaphores: Any) -> None:
    """Other numbers of arguments would be read as others."""
    config, arguments = FabricMuxV2Config(None, 1, 2, 4416, 0x20000), [7]
    with pytest.raises(MetaliumError, match="has the CoreCoord of its mux and ClientSemaphores"):
        config.append_client_connection_rt_args(place, 0, semaphores, arguments)
    assert arguments == [7]


def test_a_mux_with_more_channels_than_workers() -> None:
    """It waits for those that never connect."""
    with pytest.raises(DeadlockError) as caught:
        send_by_second_mux(CLIENT.replace("EAGER", "true"), channels=4)
    assert "waits for 1 of 4 workers to close their connections" in str(caught.value)
