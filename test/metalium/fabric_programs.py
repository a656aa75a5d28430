"""Programs whose kernels send over the fabric, for the tests of it."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ttmlir.metalium import (
    NOC,
    BufferType,
    CoreCoord,
    CreateGlobalSemaphore,
    CreateKernelFromString,
    CreateProgram,
    DataMovementConfig,
    DataMovementProcessor,
    Program,
    SetRuntimeArgs,
    tt_fabric,
)
from ttmlir.metalium.distributed import (
    DeviceLocalBufferConfig,
    EnqueueMeshWorkload,
    MeshBuffer,
    MeshCoordinate,
    MeshCoordinateRange,
    MeshDevice,
    MeshDeviceConfig,
    MeshShape,
    MeshWorkload,
    ReplicatedBufferConfig,
)
from ttmlir.metalium.tt_fabric import FabricConfig

CORE = CoreCoord(0, 0)
DATA_SIZE = 16384
"""Bytes that each core has for what it sends and, in the second half, for what it gets."""

INCLUDES = """
#include "dataflow_api.h"
#include "tt_metal/fabric/hw/inc/edm_fabric/fabric_connection_manager.hpp"
#include "tt_metal/fabric/hw/inc/packet_header_pool.h"
#include "tt_metal/fabric/hw/inc/noc_addr.h"
#include "tt_metal/fabric/hw/inc/linear/api.h"
using namespace tt::tt_fabric;
"""

SENDER = (
    INCLUDES
    + """
void kernel_main() {
    std::size_t arg = 0;
    const uint32_t data = get_arg_val<uint32_t>(arg++);
    const uint32_t semaphore = get_arg_val<uint32_t>(arg++);
    const uint32_t size = get_arg_val<uint32_t>(arg++);
    const uint32_t count = get_arg_val<uint32_t>(arg++);
    const uint64_t target = get_noc_addr(my_x[0], my_y[0], data + 8192);
    auto sender = WorkerToFabricEdmSender::build_from_args<ProgrammableCoreType::TENSIX>(arg);
    auto* header = PacketHeaderPool::allocate_header();
    auto* words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(data);
    for (uint32_t i = 0; i < size / 4; i++) {
        words[i] = 5 + 7 * i;
    }
    sender.open();
    ROUTE
    header->to_noc_unicast_write(NocUnicastCommandHeader{target}, size);
    for (uint32_t i = 0; i < count; i++) {
        sender.wait_for_empty_write_slot();
        sender.send_payload_without_header_non_blocking_from_address(data, size);
        sender.send_payload_flush_blocking_from_address(
            (uint32_t)header, sizeof(PACKET_HEADER_TYPE));
    }
    header->to_noc_unicast_atomic_inc(
        NocUnicastAtomicIncCommandHeader{get_noc_addr(my_x[0], my_y[0], semaphore), 1});
    sender.wait_for_empty_write_slot();
    sender.send_payload_flush_blocking_from_address((uint32_t)header, sizeof(PACKET_HEADER_TYPE));
    sender.close();
}
"""
)

RECEIVER = """
#include "dataflow_api.h"
void kernel_main() {
    noc_semaphore_wait(reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_arg_val<uint32_t>(1)), 1);
    auto* words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_arg_val<uint32_t>(0) + 8192);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < get_arg_val<uint32_t>(2) / 4; i++) {
        sum += words[i];
    }
    DPRINT << sum << ENDL();
}
"""


def sum_of(size: int) -> int:
    """What a receiver prints of so many bytes of a sender."""
    return sum(5 + 7 * index for index in range(size // 4))


@contextmanager
def open_fabric(
    config: FabricConfig, board: str, shape: Sequence[int], **options: Any
) -> Generator[MeshDevice]:
    """A mesh with a fabric, which others do not get."""
    tt_fabric.SetFabricConfig(config)
    mesh = MeshDevice.create(MeshDeviceConfig(MeshShape(*shape)), board=board, **options)
    try:
        yield mesh
    finally:
        mesh.close()
        tt_fabric.SetFabricConfig(FabricConfig.DISABLED)


def allocate(mesh: MeshDevice) -> MeshBuffer:
    """What each core has in L1 for its data, on all devices at one address."""
    cores = mesh.compute_with_storage_grid_size()
    return MeshBuffer.create(
        ReplicatedBufferConfig(DATA_SIZE * cores.x * cores.y),
        DeviceLocalBufferConfig(page_size=DATA_SIZE, buffer_type=BufferType.L1),
        mesh,
    )


def add_sender(
    mesh: MeshDevice,
    program: Program,
    text: str,
    arguments: Sequence[int],
    *,
    towards: int,
    link: int = 0,
    source: int = 0,
    processor: DataMovementProcessor = DataMovementProcessor.RISCV_0,
) -> None:
    """Add a kernel with a connection from one device of a mesh towards another one."""
    config = DataMovementConfig(processor=processor, noc=NOC(processor.value))
    kernel = CreateKernelFromString(program, text, CORE, config)
    given = list(arguments)
    here, there = (tt_fabric.FabricNodeId(0, mesh.get_device_ids()[at]) for at in (source, towards))
    tt_fabric.append_fabric_connection_rt_args(here, there, link, program, CORE, given)
    SetRuntimeArgs(program, kernel, CORE, given)


def add_kernel(program: Program, text: str, arguments: Sequence[int]) -> None:
    """Add a kernel that sends nothing."""
    kernel = CreateKernelFromString(program, text, CORE, DataMovementConfig())
    SetRuntimeArgs(program, kernel, CORE, list(arguments))


def run(mesh: MeshDevice, programs: Mapping[int, Program]) -> None:
    """Run programs by the number of the device in the mesh."""
    workload = MeshWorkload()
    rows, columns = mesh.num_rows(), mesh.num_cols()
    assert rows * columns > max(programs)
    for index, program in programs.items():
        at = MeshCoordinate(*divmod(index, columns))
        workload.add_program(MeshCoordinateRange(at, at), program)
    EnqueueMeshWorkload(mesh.mesh_command_queue(), workload)


def send(
    mesh: MeshDevice,
    route: str,
    receivers: Sequence[int],
    *,
    size: int = 64,
    count: int = 1,
    towards: int = 1,
    sender: str = SENDER,
    receiver: str = RECEIVER,
) -> list[int]:
    """Send packets from the first device to others: the cycles of the sender and of each."""
    semaphore = CreateGlobalSemaphore(mesh, CORE, 0)
    data = allocate(mesh)
    programs: dict[int, Program] = {0: CreateProgram()}
    arguments = [data.address(), semaphore.address(), size, count]
    add_sender(mesh, programs[0], sender.replace("ROUTE", route), arguments, towards=towards)
    for each in receivers:
        programs[each] = CreateProgram()
        add_kernel(programs[each], receiver, [data.address(), semaphore.address(), size])
    run(mesh, programs)
    devices = mesh.get_devices()
    return [devices[each].command_queue().reports[-1].cycles for each in (0, *receivers)]


def printed(mesh: MeshDevice) -> dict[int, list[int]]:
    """The numbers that the kernels of each device printed."""
    found = {
        index: [int(line.rpartition(": ")[2]) for line in device.printed]
        for index, device in enumerate(mesh.get_devices())
    }
    return {index: numbers for index, numbers in found.items() if numbers}
