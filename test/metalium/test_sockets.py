"""Sockets: pages from core to core, within a chip and over the fabric, and mistakes with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

from test.metalium.fabric_programs import open_fabric
from ttmlir.metalium import (
    NOC,
    BufferType,
    CircularBufferConfig,
    ComputeConfig,
    CoreCoord,
    CreateCircularBuffer,
    CreateKernelFromString,
    CreateProgram,
    DataFormat,
    DataMovementConfig,
    DataMovementProcessor,
    MetaliumError,
    Program,
    SetRuntimeArgs,
    tt_fabric,
)
from ttmlir.metalium.distributed import (
    DeviceLocalBufferConfig,
    EnqueueMeshWorkload,
    Finish,
    MeshBuffer,
    MeshCoordinate,
    MeshCoordinateRange,
    MeshCoreCoord,
    MeshDevice,
    MeshDeviceConfig,
    MeshShape,
    MeshSocket,
    MeshWorkload,
    ReadShard,
    ReplicatedBufferConfig,
    SocketConfig,
    SocketConnection,
    SocketEndpoint,
    SocketMemoryConfig,
    WriteShard,
    create_socket_pair,
)
from ttmlir.metalium.tt_fabric import FabricConfig, FabricNodeId
from ttmlir.sim.errors import DeadlockError, SimError
from ttmlir.sim.execution.run import ProgramReport
from ttmlir.sim.machine.device import SimChip, SimDevice
from ttmlir.sim.options import SimOptions

PAGE = 96
"""Bytes of a page, of which some do not fill a socket."""
DATA = 8192
"""Bytes of a buffer of DRAM, in one page."""

SENDER = """
#include "dataflow_api.h"
#include "api/socket_api.h"
void kernel_main() {
    std::size_t arg = 0;
    const uint32_t config = get_arg_val<uint32_t>(arg++);
    const uint32_t data = get_arg_val<uint32_t>(arg++);
    const uint32_t page = get_arg_val<uint32_t>(arg++);
    const uint32_t count = get_arg_val<uint32_t>(arg++);
    const uint32_t room = get_arg_val<uint32_t>(arg++);
    noc_async_read(get_noc_addr_from_bank_id<true>(0, data), room, page * count);
    noc_async_read_barrier();
    OPEN
    SocketSenderInterface socket = create_sender_socket_interface(config);
    set_sender_socket_page_size(socket, page);
    for (uint32_t i = 0; i < count; i++) {
        socket_reserve_pages(socket, 1);
        for (uint32_t each = 0; each < socket.num_downstreams; each++) {
            const auto target = get_downstream_encoding(socket, each);
            const uint64_t address = get_noc_addr(
                target.d2d.downstream_noc_x,
                target.d2d.downstream_noc_y,
                socket.downstream_fifo_addr + socket.write_ptr);
            SEND
        }
        socket_push_pages(socket, 1);
        TELL
    }
    update_socket_config(socket);
    CLOSE
}
"""
RECEIVER = """
#include "dataflow_api.h"
#include "api/socket_api.h"
void kernel_main() {
    std::size_t arg = 0;
    const uint32_t config = get_arg_val<uint32_t>(arg++);
    const uint32_t data = get_arg_val<uint32_t>(arg++);
    const uint32_t page = get_arg_val<uint32_t>(arg++);
    const uint32_t count = get_arg_val<uint32_t>(arg++);
    OPEN
    SocketReceiverInterface socket = create_receiver_socket_interface(config);
    set_receiver_socket_page_size(socket, page);
    for (uint32_t i = 0; i < count; i++) {
        socket_wait_for_pages(socket, 1);
        noc_async_write(socket.read_ptr, get_noc_addr_from_bank_id<true>(0, data + i * page), page);
        noc_async_write_barrier();
        socket_pop_pages(socket, 1);
        TELL
    }
    update_socket_config(socket);
    CLOSE
}
"""
NEAR = {
    "OPEN": "",
    "SEND": "noc_async_write(room + i * page, address, page); noc_async_write_barrier();",
    "TELL": "socket_notify_receiver(socket);",
    "CLOSE": "noc_async_write_barrier();",
}
FAR = {
    "OPEN": """
    auto connection = tt::tt_fabric::WorkerToFabricEdmSender::build_from_args<
        ProgrammableCoreType::TENSIX>(arg);
    auto* header = PacketHeaderPool::allocate_header();
    auto* signal = PacketHeaderPool::allocate_header();
    connection.open();
    """,
    "SEND": """
            fabric_set_unicast_route(header, target);
            header->to_noc_unicast_write(NocUnicastCommandHeader{address}, page);
            connection.wait_for_empty_write_slot();
            connection.send_payload_without_header_non_blocking_from_address(room + i * page, page);
            connection.send_payload_flush_blocking_from_address(
                (uint32_t)header, sizeof(PACKET_HEADER_TYPE));
    """,
    "TELL": "fabric_socket_notify_receiver(socket, connection, signal);",
    "CLOSE": "connection.close();",
}


def fill(text: str, parts: Mapping[str, str]) -> str:
    """A kernel with its parts; receivers tell senders."""
    is_receiver = "create_receiver" in text
    for name, part in parts.items():
        text = text.replace(name, part.replace("receiver", "sender") if is_receiver else part)
    return text


def at(device: int, x: int, y: int = 0) -> MeshCoreCoord:
    """A core of a device of a row."""
    return MeshCoreCoord(MeshCoordinate(0, device), CoreCoord(x, y))


def make(
    mesh: MeshDevice,
    connections: Sequence[tuple[MeshCoreCoord, MeshCoreCoord]],
    size: int,
    **of: Any,
) -> tuple[MeshSocket, MeshSocket]:
    """A socket of so many bytes."""
    listed = [SocketConnection(*each) for each in connections]
    return create_socket_pair(
        mesh, mesh, SocketConfig(listed, SocketMemoryConfig(BufferType.L1, size, **of))
    )


def dram(mesh: MeshDevice) -> MeshBuffer:
    """Data in bank 0 of each device."""
    local = DeviceLocalBufferConfig(page_size=DATA, buffer_type=BufferType.DRAM)
    return MeshBuffer.create(ReplicatedBufferConfig(DATA), local, mesh)


class Run:
    """Programs of a mesh that run at once."""

    def __init__(self, mesh: MeshDevice) -> None:
        """No kernels yet."""
        self.mesh = mesh
        self.programs: dict[int, Program] = {}
        cores = mesh.compute_with_storage_grid_size()
        self.room = MeshBuffer.create(
            ReplicatedBufferConfig(DATA * cores.x * cores.y),
            DeviceLocalBufferConfig(page_size=DATA, buffer_type=BufferType.L1),
            mesh,
        )

    def add(
        self,
        place: MeshCoreCoord,
        text: str,
        arguments: Sequence[int],
        towards: int | FabricNodeId | None = None,
    ) -> None:
        """Add a kernel, with a connection towards another device, of another mesh by its node."""
        device = place.device_coord[1]
        program = self.programs.setdefault(device, CreateProgram())
        core = place.core_coord
        is_receiver = "create_receiver" in text
        processor = DataMovementProcessor(int(is_receiver))
        config = DataMovementConfig(processor=processor, noc=NOC(int(is_receiver)))
        kernel = CreateKernelFromString(program, text, core, config)
        given = list(arguments)
        if towards is not None:
            here, there = (
                each if isinstance(each, FabricNodeId) else self.node(each)
                for each in (device, towards)
            )
            tt_fabric.append_fabric_connection_rt_args(here, there, 0, program, core, given)
        SetRuntimeArgs(program, kernel, core, given)

    def node(self, device: int) -> FabricNodeId:
        """How the fabric numbers a device."""
        return self.mesh.get_fabric_node_id(MeshCoordinate(0, device))

    def run(self) -> list[int]:
        """Run them: the cycles of each device."""
        workload = MeshWorkload()
        for device, program in self.programs.items():
            place = MeshCoordinate(0, device)
            workload.add_program(MeshCoordinateRange(place, place), program)
        EnqueueMeshWorkload(self.mesh.mesh_command_queue(), workload)
        return [
            self.mesh.get_devices()[each].command_queue().reports[-1].cycles
            for each in self.programs
        ]


def transfer(
    mesh: MeshDevice,
    source: MeshCoreCoord,
    targets: Sequence[MeshCoreCoord],
    *,
    size: int = 256,
    counts: Sequence[tuple[int, int]] = ((PAGE, 11),),
    sender: str = SENDER,
    receiver: str = RECEIVER,
    parts: Mapping[str, str] = NEAR,
) -> list[list[int]]:
    """Send pages of these sizes and numbers in one program each, and compare: their cycles."""
    here = source.device_coord[1]
    pair = make(mesh, [(source, each) for each in targets], size)
    data, copies = dram(mesh), [dram(mesh) for _ in targets]
    queue, cycles = mesh.mesh_command_queue(), list[list[int]]()
    for number, (page, count) in enumerate(counts):
        words = np.random.default_rng(number).integers(0, 1 << 32, DATA // 4, np.uint32)
        WriteShard(queue, data, words, source.device_coord)
        made = Run(mesh)
        there = targets[0].device_coord[1]
        far = there != here
        arguments = [pair[0].get_config_buffer_address(), data.address(), page, count]
        arguments.append(made.room.address())
        made.add(source, fill(sender, parts), arguments, there if far else None)
        for target, copy in zip(targets, copies, strict=True):
            arguments = [pair[1].get_config_buffer().address(), copy.address(), page, count]
            made.add(target, fill(receiver, parts), arguments, here if far else None)
        cycles.append(made.run())
        for target, copy in zip(targets, copies, strict=True):
            got = ReadShard(queue, None, copy, target.device_coord).view(np.uint32)
            assert np.array_equal(got[: page * count // 4], words[: page * count // 4])
    return cycles


@pytest.mark.parametrize("options", [{}, {"timed": False}, {"delay_copies": True}])
def test_pages_to_another_core(options: dict[str, bool]) -> None:
    """Eleven pages of 96 bytes, in a socket with room for two."""
    with open_fabric(FabricConfig.DISABLED, "n150", (1, 1), **options) as mesh:
        transfer(mesh, at(0, 1), [at(0, 3, 2)])


def test_pages_to_the_same_core() -> None:
    """Both processors of a core are ends, as ttnn 0.81 has it."""
    with open_fabric(FabricConfig.DISABLED, "n150", (1, 1)) as mesh:
        transfer(mesh, at(0, 1), [at(0, 1)])


def test_pages_to_several_cores() -> None:
    """A sender waits for the slowest receiver."""
    with open_fabric(FabricConfig.DISABLED, "p150", (1, 1)) as mesh:
        transfer(mesh, at(0, 0), [at(0, 4, 2), at(0, 1), at(0, 0, 3)])


def test_programs_go_on_where_others_ended() -> None:
    """Sizes of pages change from program to program; what does not fill the socket is skipped."""
    with open_fabric(FabricConfig.DISABLED, "n150", (1, 1)) as mesh:
        transfer(mesh, at(0, 1), [at(0, 2)], counts=((96, 5), (64, 7), (256, 3), (16, 40), (96, 1)))


@pytest.mark.parametrize(
    ("config", "board", "shape", "target"),
    [(FabricConfig.FABRIC_1D, "n300", (1, 2), 1), (FabricConfig.FABRIC_1D, "t3000", (1, 4), 3),
     (FabricConfig.FABRIC_2D, "p150x8", (1, 4), 2)],
)  # fmt: skip
def test_pages_to_another_device(
    config: FabricConfig, board: str, shape: tuple[int, int], target: int
) -> None:
    """Routes come from the configuration: hops along a line, or the number of the device."""
    with open_fabric(config, board, shape) as mesh:
        transfer(
            mesh, at(0, 1), [at(target, 2, 1)], parts=FAR, counts=((PAGE, 11), (64, 5)), size=272
        )


def test_credits_take_time() -> None:
    """With room for one page each page waits for the way there and back; with room for all, not."""
    with open_fabric(FabricConfig.FABRIC_1D, "t3000", (1, 2)) as mesh:
        counts = ((64, 20),)
        slow, fast = (
            transfer(mesh, at(0, 0), [at(1, 0)], parts=FAR, size=size, counts=counts)[0][0]
            for size in (64, 2048)
        )
    # A hop of a small packet takes 824 ns at 1 GHz, here and back; the pages go one after another,
    # each with what its cores do with it.
    assert 20 * 2 * 824 <= slow < 3 * 20 * 2 * 824
    assert fast < slow / 4


def test_pages_on_their_way_take_no_time_of_others() -> None:
    """Three hops take longer than one once, as long as credits come back in time."""
    cycles = dict[int, int]()
    for hops in (1, 3):
        with open_fabric(FabricConfig.FABRIC_1D, "t3000", (1, 4)) as mesh:
            ends = at(0, 0), [at(hops, 0)]
            cycles[hops] = transfer(mesh, *ends, parts=FAR, size=2048, counts=((64, 100),))[0][1]
    assert 2 * 824 < cycles[3] - cycles[1] < 4 * 824


WAITS = "socket_wait_for_pages(socket, 1);"
RESERVES = "socket_reserve_pages(socket, 1);"


@pytest.mark.parametrize(
    ("changed", "into", "rule", "line", "message"),
    [
        ("create_sender_socket_interface(config)", "create_sender_socket_interface(config + 64)",
         "socket", "create_sender", "is not the configuration of a socket's sender on this core"),
        ("create_receiver_socket_interface(config)", "create_receiver_socket_interface(data)",
         "socket", "create_receiver", r"sockets of this core: 0x\w+ \(receiver\)"),
        ("= create_sender_socket_interface(config)", "= {}", "socket", "set_sender_socket",
         "there is no socket at 0x0 of this core; begin with create_sender_socket_interface()"),
        ("= create_receiver_socket_interface(config)", "= {}", "socket", "set_receiver_socket",
         "there is no socket at 0x0 of this core; begin with create_sender_socket_interface()"),
        ("set_sender_socket_page_size(socket, page);", "", "socket", RESERVES,
         "the socket has no size of pages; call set_sender_socket_page_size()"),
        ("set_receiver_socket_page_size(socket, page)",
         "set_receiver_socket_page_size(socket, page + 8)", "socket", "set_receiver",
         "pages of 104 bytes in a socket of 256; pages are multiples of 16 bytes"),
        (RESERVES, "socket_reserve_pages(socket, 3);", "socket", "socket_reserve_pages(socket, 3);",
         "3 pages of 96 bytes; the socket has 2"),
        ("get_downstream_encoding(socket, each)", "get_downstream_encoding(socket, each + 1)",
         "socket", "get_downstream", "there is no receiver 1; the socket has 1"),
        (RESERVES, "", "race", "noc_async_write(room", "nothing orders the two accesses"),
        (RESERVES, "socket_push_pages(socket, 2); socket_push_pages(socket, 1);", "socket-overrun",
         "socket_push_pages(socket, 2);", "whose socket has 256; call socket_reserve_pages()"),
        (WAITS, "", "uninitialised-read", "noc_async_write(socket.read_ptr", "nobody has written"),
        ("socket_wait_for_pages(socket, 1);", "socket_pop_pages(socket, 1);", "socket-overrun",
         "socket_pop_pages", "96 bytes are popped of 0 that were sent"),
        ("socket_notify_sender(socket);", "", "deadlock", "", "a receiver to acknowledge 96 bytes"),
        ("socket_notify_receiver(socket);", "", "deadlock", "", "96 bytes of its socket; 0 were"),
        ("socket_notify_receiver(socket);", "if (i + 1 < count) socket_notify_receiver(socket);",
         "socket-overrun", "update_socket_config", "were pushed, but core (3, 2) was told of"),
    ],
)  # fmt: skip
def test_mistakes(changed: str, into: str, rule: str, line: str, message: str) -> None:
    """Each is told at the line of the kernel."""
    texts = [fill(each, NEAR) for each in (SENDER, RECEIVER)]
    assert sum(each.count(changed) for each in texts) == 1
    sender, receiver = (each.replace(changed, into) for each in texts)
    with (
        open_fabric(FabricConfig.DISABLED, "n150", (1, 1)) as mesh,
        pytest.raises(SimError) as caught,
    ):
        transfer(mesh, at(0, 1), [at(0, 3, 2)], sender=sender, receiver=receiver, parts={})
    text = str(caught.value)
    assert f"[{rule}]" in text
    assert re.search(message if "\\" in message else re.escape(message), text), text
    if line:
        assert line in text.splitlines()[1], text


def test_a_socket_that_forgets() -> None:
    """The next program finds that the last one did not write the state back."""
    texts = [
        fill(each, NEAR).replace("update_socket_config(socket);", "") for each in (SENDER, RECEIVER)
    ]
    with (
        open_fabric(FabricConfig.DISABLED, "n150", (1, 1)) as mesh,
        pytest.raises(
            SimError, match=r"in which \d+ bytes were \w+ in all; call update_socket_config"
        ),
    ):
        transfer(mesh, at(0, 1), [at(0, 2)], sender=texts[0], receiver=texts[1], parts={},
                 counts=((96, 1), (96, 1)))  # fmt: skip


def test_the_network_does_not_reach_other_devices() -> None:
    """A receiver on another chip is told by a packet."""
    parts = {**FAR, "TELL": NEAR["TELL"]}
    with (
        open_fabric(FabricConfig.FABRIC_1D, "n300", (1, 2)) as mesh,
        pytest.raises(
            SimError, match=r"core \(2, 0\) of device 1, which .* fabric_socket_notify_receiver"
        ),
    ):
        transfer(mesh, at(0, 1), [at(1, 2)], parts=parts)


def test_looks_that_do_not_wait() -> None:
    """With a number of looks the call says whether the pages are there."""
    polls = RECEIVER.replace(WAITS, "while (!socket_wait_for_pages(socket, 1, 5)) { misses++; }")
    polls = polls.replace("OPEN", "uint32_t misses = 0; OPEN")
    polls = polls.replace("CLOSE", "CLOSE DPRINT << (misses > 3) << ENDL();")
    for timed in (True, False):
        with open_fabric(FabricConfig.DISABLED, "n150", (1, 1), timed=timed) as mesh:
            transfer(mesh, at(0, 1), [at(0, 3, 2)], receiver=polls)
            assert not timed or mesh.printed[0].endswith(": 1")


def test_a_word_is_there_when_it_came() -> None:
    """Whatever was asked before; what has come by now is there at once."""
    core = SimDevice(SimChip.of_board("n150"), SimOptions()).core(0, 0)
    for value, time in ((96, 100), (192, 200), (288, 300)):
        core.set_word_time(64, value, time)
    assert core.time_of_word(64, 384, 0) == 0
    assert core.time_of_word(64, 288, 50) == 300
    assert core.time_of_word(64, 96, 50) == 100
    assert core.time_of_word(64, 97, 150) == 200
    assert core.time_of_word(64, 96, 250) <= 250
    assert core.time_of_word(64, 288, 250) == 300
    # What was before 250 is forgotten, but for the value then.
    assert core.time_of_word(64, 96, 0) == 200


def test_additions_count_in_the_order_in_which_they_come() -> None:
    """Simulated are those that come at 500, 100, 300 and 300, beginning with 7."""
    core = SimDevice(SimChip.of_board("n150"), SimOptions()).core(0, 0)
    for value, time, added in ((8, 500, 1), (10, 100, 2), (13, 300, 3), (17, 300, 4)):
        core.set_word_time(64, value, time, added=added)
    times = {value: core.time_of_word(64, value, 0) for value in range(8, 19)}
    first, second, last = dict.fromkeys((8, 9), 100), dict.fromkeys(range(10, 17), 300), {17: 500}
    assert times == {**first, **second, **last, 18: 0}
    assert core.semaphore_times[64] == 500


@pytest.mark.parametrize(
    ("connections", "size", "message"),
    [
        ([], 256, "a socket has a list of SocketConnection, one or more"),
        ([(at(0, 0), at(0, 1))], 100, "'fifo_size' is 100; it has to be a multiple of 16 bytes"),
        ([(at(0, 0), at(0, 1))], 0, "'fifo_size' is 0; it has to be a multiple of 16 bytes"),
        ([(at(0, 0), at(0, 1))], -16, "'fifo_size' is -16; it is a number of 32 bits without"),
        ([(at(0, 0), at(0, 1))], 1 << 32, "it is a number of 32 bits without a sign"),
        ([(at(0, 0), at(0, 1)), (at(0, 2), at(0, 1))], 256, "receives from several cores"),
        ([(at(0, 0), at(1, 1))], 256, "a socket from device 0 to device 1 needs a fabric"),
        ([(at(0, 0), at(2, 1))], 256, "is outside of the mesh"),
        ([(at(0, 0), at(0, 90))], 256, "(90, 0)"),
        ([(at(0, 0), at(0, 1))], 1 << 24, "and at most the 1,499,136 of L1"),
        ([(at(0, 0), at(0, 1))], 1497088, "L1"),
        ([(at(0, 0), at(0, 1))] * 2, 256, "core_coord=(x=1,y=0))) is in the list more than once"),
    ],
)
def test_sockets_that_cannot_be(
    connections: list[tuple[MeshCoreCoord, MeshCoreCoord]], size: int, message: str
) -> None:
    """The call of the host is refused."""
    with (
        open_fabric(FabricConfig.DISABLED, "n300", (1, 2)) as mesh,
        pytest.raises(MetaliumError, match=re.escape(message)),
    ):
        make(mesh, connections, size)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: SocketConnection(cast("Any", 1), at(0, 1)), "is a MeshCoreCoord, not 1"),
        (lambda: SocketConnection(at(0, 1), cast("Any", (0, 2))), "is a MeshCoreCoord, not (0, 2)"),
        (
            lambda: MeshCoreCoord(MeshCoordinate(0, 0), cast("Any", (0, 1))),
            "takes a MeshCoordinate and a CoreCoord, not (MeshCoordinate([0, 0]), (0, 1))",
        ),
        (
            lambda: MeshCoreCoord(cast("Any", [0, 3]), CoreCoord(1, 2)),
            "takes a MeshCoordinate and a CoreCoord, not ([0, 3], (x=1,y=2))",
        ),
        (
            lambda: SocketMemoryConfig(cast("Any", "L1"), 256),
            "wait in BufferType.L1 or BufferType.DRAM, not in 'L1'",
        ),
    ],
)
def test_parts_of_sockets_that_cannot_be(build: Callable[[], object], message: str) -> None:
    """What is no core, connection or memory is refused where it is made."""
    with pytest.raises(MetaliumError, match=re.escape(message)):
        build()


def test_a_socket_without_a_list() -> None:
    """What is no list of connections is refused as an empty one is."""
    config = SocketConfig(cast("Any", None), SocketMemoryConfig(fifo_size=64))
    with (
        open_fabric(FabricConfig.DISABLED, "n150", (1, 1)) as mesh,
        pytest.raises(MetaliumError, match="a socket has a list of SocketConnection"),
    ):
        create_socket_pair(mesh, mesh, config)


def test_words_of_a_socket_that_is_given_back_are_data() -> None:
    """Who uses them without an order is told so, as anywhere else."""
    with open_fabric(FabricConfig.DISABLED, "n150", (1, 1)) as mesh:
        _, receiver = make(mesh, [(at(0, 0), at(0, 1))], 256)
        given_back = receiver.get_config_buffer()
        address = given_back.address()
        given_back.deallocate()
        cores = mesh.compute_with_storage_grid_size()
        local = DeviceLocalBufferConfig(page_size=64, buffer_type=BufferType.L1)
        config = ReplicatedBufferConfig(64 * cores.x * cores.y)
        assert MeshBuffer.create(config, local, mesh, address).address() == address
        x, y = mesh.worker_core_from_logical_core(CoreCoord(1, 0))
        run, include = Run(mesh), '#include "dataflow_api.h"\n'
        write = f"noc_async_write({address}, get_noc_addr({x}, {y}, {address}), 16);"
        words = f"auto* words = (volatile uint32_t*){address};"
        ready = f"{words} for (int i = 0; i < 4; i++) words[i] = i + 1; {write}"
        read = f"{words} if (words[0] == 1) DPRINT << words[1] << ENDL();"
        for place, text in ((at(0, 0), f"{ready} noc_async_write_barrier();"), (at(0, 1), read)):
            run.add(place, f"{include}void kernel_main() {{ {text} }}", [])
        with pytest.raises(SimError, match=r"\[race\]"):
            run.run()


def enqueue(run: Run) -> list[ProgramReport]:
    """Let what was added to meshes run: a report of each, which is there later."""
    found = list[ProgramReport]()
    for device, program in run.programs.items():
        workload, place = MeshWorkload(), MeshCoordinate(0, device)
        workload.add_program(MeshCoordinateRange(place, place), program)
        found.append(EnqueueMeshWorkload(run.mesh.mesh_command_queue(), workload))
    return found


@contextmanager
def two_meshes(config: FabricConfig, *, named: bool) -> Generator[tuple[MeshDevice, MeshDevice]]:
    """Two meshes of two chips each of the first row of a t3000."""
    tt_fabric.SetFabricConfig(config)
    opened = list[MeshDevice]()
    try:
        if named:
            for chips in ((0, 1), (2, 3)):
                of = MeshDeviceConfig(MeshShape(1, 2), physical_device_ids=chips)
                opened.append(MeshDevice.create(of, board="t3000"))
            yield opened[0], opened[1]
        else:
            opened.append(MeshDevice.create(MeshDeviceConfig(MeshShape(1, 4)), board="t3000"))
            first, second = opened[0].create_submeshes(MeshShape(1, 2))
            yield first, second
    finally:
        for each in opened:
            each.close()
        tt_fabric.SetFabricConfig(FabricConfig.DISABLED)


def send_between(
    first: MeshDevice, second: MeshDevice, *, size: int = 256, counts: Sequence[int] = (11, 4)
) -> list[ProgramReport]:
    """Send pages from the second chip of a mesh to the last one of another, without waiting."""
    source, target = at(1, 1), at(1, 2, 1)
    config = SocketConfig([SocketConnection(source, target)], SocketMemoryConfig(fifo_size=size))
    ends = create_socket_pair(first, second, config)
    data, copy = dram(first), dram(second)
    words = np.random.default_rng(0).integers(0, 1 << 32, DATA // 4, np.uint32)
    WriteShard(first.mesh_command_queue(), data, words, source.device_coord)
    reports = list[ProgramReport]()
    here, there = (mesh.get_fabric_node_id(MeshCoordinate(0, 1)) for mesh in (first, second))
    for mesh, text, end, memory, other in (
        (first, SENDER, ends[0], data, there),
        (second, RECEIVER, ends[1], copy, here),
    ):
        for count in counts:
            run = Run(mesh)
            arguments = [end.get_config_buffer_address(), memory.address(), PAGE, count]
            arguments += [run.room.address()] if text is SENDER else []
            run.add(source if text is SENDER else target, fill(text, FAR), arguments, towards=other)
            reports += enqueue(run)
    got = ReadShard(second.mesh_command_queue(), None, copy, target.device_coord).view(np.uint32)
    # The second program begins at the first page again.
    assert np.array_equal(got[: PAGE * counts[0] // 4], words[: PAGE * counts[0] // 4])
    return reports


@pytest.mark.parametrize("config", [FabricConfig.FABRIC_1D, FabricConfig.FABRIC_2D])
@pytest.mark.parametrize("named", [False, True])
def test_pages_to_another_mesh(config: FabricConfig, named: bool) -> None:
    """Both meshes run two programs, the second of which goes on; each begins with its partner."""
    with two_meshes(config, named=named) as (first, second):
        reports = send_between(first, second)
    assert [len(each.threads) for each in reports] == [1] * 4
    # Eleven pages with room for two: each waits for hops here and back.
    assert all(each.cycles > 5 * 2 * 2 * 824 for each in (reports[0], reports[2]))
    assert repr(reports[1]) == f"ProgramReport({reports[1].cycles:,} cycles on 1 cores)"


def test_a_mesh_whose_partner_does_not_run() -> None:
    """Who waits first for one of two programs finds that the other was not enqueued."""
    with two_meshes(FabricConfig.FABRIC_1D, named=False) as (first, second):
        config = SocketConfig([SocketConnection(at(0, 1), at(0, 1))], SocketMemoryConfig())
        with pytest.raises(
            MetaliumError, match="'fifo_size' is 0; it has to be a multiple of 16 bytes"
        ):
            create_socket_pair(first, second, config)
        _, receiver = create_socket_pair(
            first, second, replace(config, socket_mem_config=SocketMemoryConfig(fifo_size=96))
        )
        assert receiver.get_mesh_device() is second
        assert receiver.get_fabric_node_id(SocketEndpoint.SENDER, MeshCoordinate(0, 0)) == (0, 0)
        assert receiver.get_fabric_node_id(SocketEndpoint.RECEIVER, MeshCoordinate(0, 0)) == (0, 2)
        run, copy = Run(second), dram(second)
        arguments = [receiver.get_config_buffer_address(), copy.address(), PAGE, 1]
        node = first.get_fabric_node_id(MeshCoordinate(0, 1))
        run.add(at(0, 1), fill(RECEIVER, FAR), arguments, towards=node)
        [report] = enqueue(run)
        with pytest.raises(DeadlockError) as caught:
            Finish(second.mesh_command_queue())
        assert "device 2 core (1, 0) NCRISC waits for 96 bytes of its socket" in str(caught.value)
        with pytest.raises(SimError, match="the program did not run to its end"):
            _ = report.cycles


TILE = 2048
"""Bytes of a tile of bfloat16."""
HAND_OVER = """
#include "dataflow_api.h"
#include "api/socket_api.h"
void kernel_main() {
    SocketReceiverInterface socket = create_receiver_socket_interface(get_arg_val<uint32_t>(0));
    set_receiver_socket_page_size(socket, 2048);
    for (uint32_t i = 0; i < get_arg_val<uint32_t>(3); i++) {
        cb_reserve_back(3, 1);
        socket_wait_for_pages(socket, 1);
        cb_push_back(3, 1);
        cb_wait_front(16, 1);
        const uint64_t target = get_noc_addr_from_bank_id<true>(
            0, get_arg_val<uint32_t>(1) + i * 2048);
        noc_async_write(get_read_ptr(16), target, 2048);
        noc_async_write_barrier();
        cb_pop_front(16, 1);
        socket_pop_pages(socket, 1);
        socket_notify_sender(socket);
    }
    update_socket_config(socket);
    noc_async_write_barrier();
}
"""
"""Has a compute kernel read the pages where they are, and writes what it makes of them."""
DOUBLE = """
#include "api/compute/common.h"
#include "api/compute/eltwise_binary.h"
#include "api/socket_api.h"
void kernel_main() {
    SocketReceiverInterface socket = create_receiver_socket_interface(get_arg_val<uint32_t>(0));
    set_receiver_socket_page_size(socket, 2048);
    assign_local_cb_to_socket(socket, 3);
    binary_op_init_common(3, 3, 16);
    add_tiles_init(3, 3);
    for (uint32_t i = 0; i < get_arg_val<uint32_t>(3); i++) {
        socket_wait_for_pages(socket, 1);
        cb_wait_front(3, 1);
        tile_regs_acquire();
        add_tiles(3, 3, 0, 0, 0);
        tile_regs_commit();
        cb_pop_front(3, 1);
        socket_pop_pages(socket, 1);
        cb_reserve_back(16, 1);
        tile_regs_wait();
        pack_tile(0, 16);
        tile_regs_release();
        cb_push_back(16, 1);
    }
}
"""


def double_tiles(compute: str = DOUBLE, count: int = 4) -> None:
    """Send tiles to a core whose compute kernel adds each to itself, with room for three."""
    with open_fabric(FabricConfig.DISABLED, "n150", (1, 1)) as mesh:
        source, target = at(0, 1), at(0, 3, 2)
        ends = make(mesh, [(source, target)], 3 * TILE + 64)
        data, copy, run = dram(mesh), dram(mesh), Run(mesh)
        words = np.random.default_rng(0).integers(0, 1 << 32, DATA // 4, np.uint32)
        # Neither NaN nor denormal numbers, of which the double is the next power of two.
        words = (words & 0x3FFF_3FFF) | 0x2000_2000
        WriteShard(mesh.mesh_command_queue(), data, words, source.device_coord)
        sends = [ends[0].get_config_buffer_address(), data.address(), TILE, count]
        run.add(source, fill(SENDER, NEAR), [*sends, run.room.address()])
        arguments = [ends[1].get_config_buffer_address(), copy.address(), TILE, count]
        run.add(target, HAND_OVER, arguments)
        program, core = run.programs[0], target.core_coord
        for index in (3, 16):
            config = CircularBufferConfig(3 * TILE, {index: DataFormat.Float16_b})
            CreateCircularBuffer(program, core, config.set_page_size(index, TILE))
        kernel = CreateKernelFromString(program, compute, core, ComputeConfig())
        SetRuntimeArgs(program, kernel, core, arguments)
        run.run()
        got = ReadShard(mesh.mesh_command_queue(), None, copy, target.device_coord)
        # The exponent of bfloat16 begins at bit 7 of each half.
        expected = words + 0x0080_0080
        assert np.array_equal(
            got.view(np.uint32)[: TILE * count // 4], expected[: TILE * count // 4]
        )


def test_compute_kernels_read_pages_in_place() -> None:
    """UNPACK waits for them, too; who tells the sender is the kernel on NCRISC."""
    double_tiles()


@pytest.mark.parametrize(
    ("changed", "into", "message"),
    [
        ("tile_regs_release();", "tile_regs_release(); update_socket_config(socket);",
         "a compute kernel calls update_socket_config(), by which MATH and PACK write numbers"),
        ("tile_regs_release();", "tile_regs_release(); socket_notify_sender(socket);",
         "there is no function 'socket_notify_sender'"),
        ("socket_page_size(socket, 2048)", "socket_page_size(socket, 1600)",
         "circular buffer 3 has pages of 2048 bytes, which do not fill the 4800"),
        ("socket_interface(get_arg_val<uint32_t>(0))", "socket_interface(64)",
         "0x40 is not the configuration of a socket's receiver on this core"),
    ],
)  # fmt: skip
def test_mistakes_of_compute_kernels(changed: str, into: str, message: str) -> None:
    """Each is told at its line."""
    assert DOUBLE.count(changed) == 1
    with pytest.raises(SimError, match=re.escape(message)):
        double_tiles(DOUBLE.replace(changed, into))


def test_sockets_between_systems_are_refused() -> None:
    """Chips that are opened for themselves have no links."""
    config = SocketConfig([SocketConnection(at(0, 0), at(0, 1))], SocketMemoryConfig(fifo_size=64))
    with (
        open_fabric(FabricConfig.DISABLED, "n150", (1, 1)) as one,
        open_fabric(FabricConfig.DISABLED, "n150", (1, 1)) as other,
        pytest.raises(MetaliumError, match="a socket is between meshes of one system"),
    ):
        create_socket_pair(one, other, config)


def test_what_a_socket_says() -> None:
    """Ends, cores, buffers."""
    with open_fabric(FabricConfig.FABRIC_1D, "n300", (1, 2)) as mesh:
        sender, receiver = make(mesh, [(at(0, 1), at(1, 2)), (at(0, 1), at(1, 3))], 512)
        assert repr(sender) == "MeshSocket(SENDER, 2 connections)"
        assert sender.get_active_cores() == [at(0, 1)]
        assert receiver.get_active_cores() == [at(1, 2), at(1, 3)]
        assert receiver.get_data_buffer().page_size() == 512
        assert sender.get_fabric_node_id(
            sender.get_socket_endpoint_type(), MeshCoordinate(0, 1)
        ) == (0, 1)
        with pytest.raises(MetaliumError, match="at the end that receives"):
            sender.get_data_buffer()
