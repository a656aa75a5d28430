"""Kernels that send over the fabric: what arrives where, when, and what is told of mistakes."""

from __future__ import annotations

import pytest

from test.metalium.fabric_programs import (
    CORE,
    INCLUDES,
    RECEIVER,
    SENDER,
    add_kernel,
    add_sender,
    allocate,
    open_fabric,
    printed,
    run,
    send,
    sum_of,
)
from ttmlir.metalium import (
    CreateGlobalSemaphore,
    CreateProgram,
    DataMovementProcessor,
    MetaliumError,
    tt_fabric,
)
from ttmlir.metalium.distributed import (
    MeshCoordinate,
    MeshDevice,
    MeshDeviceConfig,
    MeshShape,
)
from ttmlir.metalium.tt_fabric import FabricConfig, FabricNodeId
from ttmlir.sim.errors import DeadlockError, SanitizerError, SimError

ONE_HOP = "header->to_chip_unicast(1);"


def multicast(start: int, reach: int) -> str:
    """Send to chips on a line, from the one after `start` hops on."""
    return f"header->to_chip_multicast(MulticastRoutingCommandHeader{{{start}, {reach}}});"


@pytest.mark.parametrize("options", [{}, {"timed": False}, {"delay_copies": True}])
def test_a_packet_to_the_neighbour(options: dict[str, bool]) -> None:
    """The payload is in the L1 of the other chip when its semaphore says so."""
    with open_fabric(FabricConfig.FABRIC_1D, "n300", (1, 2), **options) as mesh:
        send(mesh, ONE_HOP, [1], size=208)
        assert printed(mesh) == {1: [sum_of(208)]}


@pytest.mark.parametrize(
    ("route", "receivers"),
    [
        ("header->to_chip_unicast(3);", [3]),
        (multicast(1, 3), [1, 2, 3]),
        (multicast(2, 2), [2, 3]),
        ("header->to_chip_sparse_multicast("
         "SparseMulticastRoutingCommandHeader<PACKET_HEADER_TYPE>{5});", [1, 3]),
    ],
)  # fmt: skip
def test_packets_along_a_line(route: str, receivers: list[int]) -> None:
    """A header says how many hops away its chips are."""
    with open_fabric(FabricConfig.FABRIC_1D, "t3000", (1, 4)) as mesh:
        send(mesh, route, receivers)
        assert printed(mesh) == {each: [sum_of(64)] for each in receivers}


def test_a_ring_turns_at_corners() -> None:
    """Eight chips of 2x4 are a ring: five hops to the east are three to the west."""
    with open_fabric(FabricConfig.FABRIC_1D_RING, "t3000", (2, 4)) as mesh:
        send(mesh, "header->to_chip_unicast(5);", [6])
        assert printed(mesh) == {6: [sum_of(64)]}


@pytest.mark.parametrize(
    ("config", "route"),
    [(FabricConfig.FABRIC_1D_RING, ONE_HOP),
     (FabricConfig.FABRIC_2D_TORUS_X, "fabric_set_unicast_route(header, 7, 0);")],
)  # fmt: skip
def test_a_row_of_a_torus_is_a_ring(config: FabricConfig, route: str) -> None:
    """From the first chip of a row of a Galaxy the last one is one hop to the west."""
    with open_fabric(config, "galaxy", (4, 8)) as mesh:
        send(mesh, route, [7], towards=7)
        assert printed(mesh) == {7: [sum_of(64)]}


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(("target", "towards"), [(6, 4), (3, 1), (4, 4)])
def test_packets_in_two_dimensions(target: int, towards: int) -> None:
    """They go along the column first, then along the row."""
    with open_fabric(FabricConfig.FABRIC_2D, "p150x8", (2, 4)) as mesh:
        chip = mesh.get_device_ids()[target]
        send(mesh, f"fabric_set_unicast_route(header, {chip}, 0);", [target], towards=towards)
        assert printed(mesh) == {target: [sum_of(64)]}


def test_a_multicast_in_two_dimensions() -> None:
    """The chips of a column send on along their rows."""
    with open_fabric(FabricConfig.FABRIC_2D, "p150x8", (2, 4)) as mesh:
        south = mesh.get_device_ids()[4]
        send(mesh, f"fabric_set_mcast_route(header, {south}, 0, 2, 0, 0, 1);", [4, 5, 6], towards=4)
        assert printed(mesh) == {each: [sum_of(64)] for each in (4, 5, 6)}


LINKS = {"t3000": (1.0, 9.9, 1350, 0.127), "p150x4": (1.35, 26.3, 780, 0.0245)}
"""GHz; GB/s of packets of 4096 bytes of one worker; nanoseconds of a hop, and per byte."""


@pytest.mark.parametrize("board", LINKS)
def test_rate_of_a_link(board: str) -> None:
    """Packets of 4096 bytes take the rate of their worker, one after the other."""
    clock, rate, _, _ = LINKS[board]
    cycles: list[int] = []
    for count in (40, 120):
        with open_fabric(FabricConfig.FABRIC_1D, board, (1, 2)) as mesh:
            cycles.append(send(mesh, ONE_HOP, [1], size=4096, count=count)[1])
    assert cycles[1] - cycles[0] == pytest.approx(80 * 4096 / rate * clock, rel=0.01)


def test_time_of_a_hop() -> None:
    """Each hop takes what is published for packets of its size."""
    clock, _, hop, byte = LINKS["t3000"]
    with open_fabric(FabricConfig.FABRIC_1D, "t3000", (1, 4)) as mesh:
        _, first, second, third = send(mesh, multicast(1, 3), [1, 2, 3], size=16)
    small = (hop - 4096 * byte) * clock
    assert second - first == pytest.approx(small, rel=0.01)
    assert third - second == pytest.approx(small, rel=0.01)


def test_a_link_that_two_chips_share() -> None:
    """Packets of the farther chip wait for slots on the chip between, and this for the link."""
    clock, rate, _, _ = LINKS["t3000"]
    few, many = (share_a_link(count) for count in (20, 60))
    alone = 40 * 4096 / rate * clock
    farther, _, last = (more - less for less, more in zip(few, many, strict=True))
    # The link carries 12.5 GB/s of both.
    assert last == pytest.approx(2 * 40 * 4096 / 12.5 * clock, rel=0.05)
    # The farther chip's own link could carry its packets sooner.
    assert farther > 1.1 * alone


def share_a_link(count: int) -> list[int]:
    """The first and the second chip send packets to the third one: the cycles of all."""
    with open_fabric(FabricConfig.FABRIC_1D, "t3000", (1, 4)) as mesh:
        data = allocate(mesh)
        far, near = (CreateGlobalSemaphore(mesh, CORE, 0) for _ in range(2))
        programs = {index: CreateProgram() for index in (0, 1, 2)}
        for source, semaphore, hops in ((0, far, 2), (1, near, 1)):
            text = SENDER.replace("ROUTE", f"header->to_chip_unicast({hops});")
            text = text.replace("data + 8192", f"data + {8192 + 4096 * source}")
            arguments = [data.address(), semaphore.address(), 4096, count]
            add_sender(mesh, programs[source], text, arguments, towards=source + 1, source=source)
        waiting = RECEIVER.replace(
            "noc_semaphore_wait(",
            f"noc_semaphore_wait((volatile tt_l1_ptr uint32_t*){far.address()}, 1);"
            "noc_semaphore_wait(",
        )
        add_kernel(programs[2], waiting, [data.address(), near.address(), 64])
        run(mesh, programs)
        return [each.command_queue().reports[-1].cycles for each in mesh.get_devices()[:3]]


# Mistakes of kernels.


def fails(text: str, *, route: str = ONE_HOP, size: int = 64) -> SimError:
    """The error of a sender on an n300."""
    with open_fabric(FabricConfig.FABRIC_1D, "n300", (1, 2)) as mesh:
        with pytest.raises(SimError) as caught:
            send(mesh, route, [1], sender=text, size=size)
    return caught.value


def test_a_full_slot() -> None:
    """Nobody writes to a slot without knowing that it is empty."""
    error = fails(SENDER.replace("        sender.wait_for_empty_write_slot();\n", "", 1))
    text = str(error)
    assert error.rule == "fabric-slot"
    assert (
        "a packet is written to a slot of Ethernet channel 8 of device 0 that may be full" in text
    )
    assert "kernel_0.cpp:26:9: error" in text
    assert "packets sent over the connection so far: 0" in text


def test_a_connection_that_stays_open() -> None:
    """The place that opened it is told."""
    error = fails(SENDER.replace("    sender.close();\n", ""))
    assert isinstance(error, SanitizerError)
    assert error.rule == "fabric-connection"
    assert "leaves this connection to Ethernet channel 8 of device 0 open" in str(error)
    assert "kernel_0.cpp:22:5: error" in str(error)


def test_a_connection_that_is_not_open() -> None:
    """A send needs a connection."""
    error = fails(SENDER.replace("    sender.open();\n", ""))
    assert "no connection to Ethernet channel 8 of device 0 is open; call open()" in str(error)


@pytest.mark.parametrize(
    ("channel", "text"),
    [
        (
            3,
            "Ethernet channel 3 of device 0 has no router of the fabric FABRIC_1D; links of the de",
        ),
        (4000, "the arguments name channel 4000, which no router has; they come from append_fabr"),
    ],
)
def test_arguments_that_name_no_router(channel: int, text: str) -> None:
    """Run-time arguments may be anything."""
    with open_fabric(FabricConfig.FABRIC_1D, "n300", (1, 2)) as mesh:
        program, data = CreateProgram(), allocate(mesh)
        kernel = SENDER.replace("ROUTE", ONE_HOP)
        add_kernel(program, kernel, [data.address(), 0, 64, 1, channel, 0, 1])
        with pytest.raises(SimError) as caught:
            run(mesh, {0: program})
    assert text in str(caught.value)
    assert caught.value.rule == "fabric-connection"


def test_two_workers_of_one_router() -> None:
    """The message says where the first one connected."""
    with open_fabric(FabricConfig.FABRIC_1D, "n300", (1, 2)) as mesh:
        program, data = CreateProgram(), allocate(mesh)
        text = SENDER.replace("    sender.close();\n", "").replace("ROUTE", "return;")
        for processor in (DataMovementProcessor.RISCV_0, DataMovementProcessor.RISCV_1):
            arguments = [data.address(), 0, 0, 0]
            add_sender(mesh, program, text, arguments, towards=1, processor=processor)
        with pytest.raises(SimError) as caught:
            run(mesh, {0: program})
    text = str(caught.value)
    assert "a connection to Ethernet channel 8 of device 0 is opened, which device 0 core" in text
    assert "use another link" in text
    assert "opened the connection" in text


def test_a_route_off_the_line() -> None:
    """The message says where the line ends."""
    error = fails(SENDER, route="header->to_chip_unicast(2);")
    assert error.rule == "fabric-route"
    assert "a packet of 2 hops leaves the line: after 1 hops it is on device 1" in str(error)
    assert "links of the device: west: 0, 1" in str(error)


def test_exchanges_of_neighbours_alone() -> None:
    """There is a fabric that forwards nothing."""
    config = FabricConfig.FABRIC_1D_NEIGHBOR_EXCHANGE
    with open_fabric(config, "t3000", (1, 4)) as mesh:
        send(mesh, ONE_HOP, [1])
        assert printed(mesh) == {1: [sum_of(64)]}
    with open_fabric(config, "t3000", (1, 4)) as mesh:
        with pytest.raises(SimError, match="a packet of 2 hops: chips of the fabric FABRIC_1D_NEI"):
            send(mesh, "header->to_chip_unicast(2);", [2])


def test_headers_that_say_nothing() -> None:
    """Neither a route nor a command."""
    error = fails(SENDER, route="")
    assert "the header of a packet has no route; set it with to_chip_unicast" in str(error)
    error = fails(SENDER, route="header->to_chip_unicast(0);")
    assert "a packet of no hops" in str(error)


def test_payloads_that_do_not_fit() -> None:
    """What is sent is what the header says, and fits into a slot."""
    error = fails(SENDER.replace("NocUnicastCommandHeader{target}, size)",
                                 "NocUnicastCommandHeader{target}, 32)"))  # fmt: skip
    assert "the header says 32 bytes of payload, but 64 were sent" in str(error)
    error = fails(SENDER, size=4368)
    assert "4368 bytes of payload; a packet has at most 4352" in str(error)


MISTAKES = {
    "closed twice": (
        "    sender.close();\n",
        "    sender.close();\n    sender.close();\n",
        "no connection to Ethernet channel 8 of device 0 is open, which is closed here: each is",
    ),
    "more slots than there are": (
        "    for (uint32_t i = 0; i < count; i++) {\n        sender.wait_for_empty_write_slot();\n",
        "    for (uint32_t i = 0; i < count; i++) {\n"
        "        while (!sender.edm_has_space_for_packet<9>()) {}\n",
        "9 empty slots are asked for; Ethernet channel 8 of device 0 has 8",
    ),
    "no command": (
        "    header->to_noc_unicast_write(NocUnicastCommandHeader{target}, size);\n",
        "",
        "the header says 0 bytes of payload, but 64 were sent; to_noc_unicast_write and its likes",
    ),
    "a half of a header": (
        "            (uint32_t)header, sizeof(PACKET_HEADER_TYPE));\n    }",
        "            (uint32_t)header, 32);\n    }",
        "a packet of 32 bytes from 0x1000: a header has 64 bytes",
    ),
    "headers in a loop": (
        "    sender.open();\n",
        "    sender.open();\n    while (true) { PacketHeaderPool::allocate_header(); }\n",
        "no header is left: a processor has 32; use one for several packets",
    ),
    "half a word": (
        "my_y[0], semaphore), 1}",
        "my_y[0], semaphore + 2), 1}",
        "a packet changes the word at",
    ),
    "an address of no core": (
        "get_noc_addr(my_x[0], my_y[0], data + 8192)",
        "get_noc_addr(0, 0, data + 8192)",
        "no tile with memory is at (0, 0) on the network of n300",
    ),
    "beyond L1": (
        "data + 8192)",
        "data + (1 << 24))",
        "of L1 of core (0, 0) of device 1, of which kernels may use",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_of_senders(name: str) -> None:
    """Each is found where it is made, with the device and the core."""
    old, new, message = MISTAKES[name]
    assert old in SENDER
    text = str(fails(SENDER.replace(old, new)))
    assert message in text
    assert "note: on device 0 core (0, 0) BRISC" in text


def test_hops_in_two_dimensions() -> None:
    """Routes lead to chips there, and the message says so."""
    with open_fabric(FabricConfig.FABRIC_2D, "p150x8", (2, 4)) as mesh:
        with pytest.raises(SimError, match="has no route; set it with fabric_set_unicast_route or"):
            send(mesh, ONE_HOP, [1])


def test_a_read_without_its_semaphore() -> None:
    """What another chip sends is a race until its semaphore was waited for."""
    early = RECEIVER.replace("    noc_semaphore_wait", "    if (false) noc_semaphore_wait")
    with open_fabric(FabricConfig.FABRIC_1D, "n300", (1, 2)) as mesh:
        with pytest.raises(SanitizerError) as caught:
            send(mesh, ONE_HOP, [1], receiver=early)
    assert caught.value.rule in ("race", "uninitialised-read")
    assert "device 1 core (0, 0)" in str(caught.value)


def test_two_chips_that_write_to_the_same_bytes() -> None:
    """Nothing orders what comes from different chips."""
    with open_fabric(FabricConfig.FABRIC_1D, "t3000", (1, 4)) as mesh:
        data, semaphore = allocate(mesh), CreateGlobalSemaphore(mesh, CORE, 0)
        programs = {index: CreateProgram() for index in (0, 2)}
        for source in programs:
            arguments = [data.address(), semaphore.address(), 64, 1]
            text = SENDER.replace("ROUTE", ONE_HOP)
            add_sender(mesh, programs[source], text, arguments, towards=1, source=source)
        with pytest.raises(SanitizerError) as caught:
            run(mesh, programs)
    text = str(caught.value)
    assert caught.value.rule == "race"
    assert "of L1 of core (0, 0) of device 1, which device 0 core (0, 0) BRISC writes" in text
    assert "note: on device 2 core (0, 0) BRISC" in text


ANSWER = (
    INCLUDES
    + """
void kernel_main() {
    std::size_t arg = 0;
    const uint32_t data = get_arg_val<uint32_t>(arg++);
    const uint32_t semaphore = get_arg_val<uint32_t>(arg++);
    const uint32_t first = get_arg_val<uint32_t>(arg++);
    auto sender = WorkerToFabricEdmSender::build_from_args<ProgrammableCoreType::TENSIX>(arg);
    auto* header = PacketHeaderPool::allocate_header();
    auto* word = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(data);
    auto* seen = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(semaphore);
    header->to_chip_unicast(1);
    header->to_noc_fused_unicast_write_atomic_inc(
        NocUnicastAtomicIncFusedCommandHeader{
            get_noc_addr(my_x[0], my_y[0], data), get_noc_addr(my_x[0], my_y[0], semaphore), 1},
        16);
    sender.open();
    for (uint32_t turn = 0; turn < 3; turn++) {
        if (first && turn == 0) {
            for (uint32_t i = 0; i < 4; i++) { word[i] = 2; }
        } else {
            noc_semaphore_wait_min(seen, turn + !first);
        }
        word[0] = word[0] * 3 + 1;
        sender.wait_for_empty_write_slot();
        sender.send_payload_without_header_non_blocking_from_address(data, 16);
        sender.send_payload_flush_blocking_from_address(
            (uint32_t)header, sizeof(PACKET_HEADER_TYPE));
    }
    if (first) {
        noc_semaphore_wait_min(seen, 3);
        DPRINT << word[0] << ENDL();
    }
    sender.close();
}
"""
)


def test_an_answer_in_the_bytes_that_were_sent() -> None:
    """A packet that arrives has left its source, which the answer may write."""
    with open_fabric(FabricConfig.FABRIC_1D, "n300", (1, 2)) as mesh:
        data, semaphore = allocate(mesh), CreateGlobalSemaphore(mesh, CORE, 0)
        programs = {index: CreateProgram() for index in (0, 1)}
        for index, program in programs.items():
            given = [data.address(), semaphore.address(), 1 - index]
            add_sender(mesh, program, ANSWER, given, towards=1 - index, source=index)
        run(mesh, programs)
        assert printed(mesh) == {0: [3**6 * 2 + (3**6 - 1) // 2]}


def test_words_that_come_later_do_not_hold_up() -> None:
    """A receiver that is late waits for the packet that it needs, not for the last one."""
    again = """sender.wait_for_empty_write_slot();
    sender.send_payload_flush_blocking_from_address((uint32_t)header, sizeof(PACKET_HEADER_TYPE));
    sender.close();"""
    busy = """volatile uint32_t* own = (volatile uint32_t*)get_arg_val<uint32_t>(0);
    for (uint32_t i = 0; i < 100; i++) { own[i] = i; }
    noc_semaphore_wait_min("""
    ends = list[int]()
    for count in (1, 2):
        waits = RECEIVER.replace("noc_semaphore_wait(", busy).replace(", 1);", f", {count});", 1)
        with open_fabric(FabricConfig.FABRIC_1D, "t3000", (1, 2)) as mesh:
            sender = SENDER.replace("sender.close();", again)
            ends.append(send(mesh, ONE_HOP, [1], sender=sender, receiver=waits)[1])
    # A router takes the second one 414 ns after the first.
    assert ends[1] - ends[0] == pytest.approx(414, abs=30)


def test_a_semaphore_that_nobody_increases() -> None:
    """Who waits is told with its chip and core."""
    with open_fabric(FabricConfig.FABRIC_1D, "t3000", (1, 4)) as mesh:
        with pytest.raises(DeadlockError) as caught:
            send(mesh, ONE_HOP, [1, 2])
    assert f"device {mesh.get_device_ids()[2]} core (0, 0) BRISC waits for" in str(caught.value)


def test_no_fabric() -> None:
    """Without SetFabricConfig there is none, whatever mesh was left open."""
    tt_fabric.SetFabricConfig(FabricConfig.FABRIC_1D)
    left = MeshDevice.create(MeshDeviceConfig(MeshShape(1, 2)), board="n300")
    assert links(left, 0, 1) == [0, 1]
    tt_fabric.SetFabricConfig(FabricConfig.DISABLED)
    with open_fabric(FabricConfig.DISABLED, "n300", (1, 2)) as mesh:
        with pytest.raises(MetaliumError, match="no fabric connects chip 0; call SetFabricConfig"):
            send(mesh, ONE_HOP, [1])
        with pytest.raises(MetaliumError, match=r"'1D' is no FabricConfig; known are DISABLED, "):
            tt_fabric.SetFabricConfig("1D")  # pyright: ignore[reportArgumentType]
        program, data = CreateProgram(), allocate(mesh)
        add_kernel(program, SENDER.replace("ROUTE", ONE_HOP), [data.address(), 0, 64, 1, 8, 0, 1])
        with pytest.raises(SimError, match="there is no fabric; call SetFabricConfig"):
            run(mesh, {0: program})


def links(mesh: MeshDevice, source: int, target: int) -> list[int]:
    """Numbers of links between chips."""
    return tt_fabric.get_forwarding_link_indices(FabricNodeId(0, source), FabricNodeId(0, target))


def test_arguments_of_hosts() -> None:
    """Links have numbers; chips that are no neighbours have none in one dimension."""
    with open_fabric(FabricConfig.FABRIC_1D, "t3000", (2, 4)) as mesh:
        first, second = (mesh.get_fabric_node_id(MeshCoordinate(0, at)) for at in (0, 1))
        assert links(mesh, first.chip_id, second.chip_id) == [0, 1]
        with pytest.raises(MetaliumError, match="has 2 links towards chip 1, no link 2"):
            tt_fabric.append_fabric_connection_rt_args(
                first, second, 2, CreateProgram(), (0, 0), list[int]()
            )
        with pytest.raises(MetaliumError, match="chip 9 is no other chip of the mesh"):
            tt_fabric.append_fabric_connection_rt_args(
                first, FabricNodeId(0, 9), 0, CreateProgram(), (0, 0), list[int]()
            )
