"""Kernels on Ethernet cores: what they send over the links of a board, and when it arrives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from ttmlir.metalium import (
    CoreCoord,
    CreateKernelFromString,
    CreateProgram,
    Device,
    EthernetConfig,
    MetaliumError,
    Program,
    SetRuntimeArgs,
)
from ttmlir.metalium.distributed import (
    EnqueueMeshWorkload,
    MeshCoordinate,
    MeshCoordinateRange,
    MeshDevice,
    MeshDeviceConfig,
    MeshShape,
    MeshWorkload,
)
from ttmlir.sim.errors import DeadlockError, SanitizerError, SimError

SOURCE, TARGET = 0x20000, 0x21000
"""Addresses in the L1 of Ethernet cores."""

SEND = """
#include "dataflow_api.h"
#include "ethernet/dataflow_api.h"
void kernel_main() {
    const uint32_t size = get_arg_val<uint32_t>(0);
    auto words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_arg_val<uint32_t>(1));
    for (uint32_t i = 0; i < size / 4; i++) {
        words[i] = 1000 + 3 * i;
    }
    eth_send_bytes(get_arg_val<uint32_t>(1), get_arg_val<uint32_t>(2), size, size, size / 16);
    eth_wait_for_receiver_done();
}
"""

RECEIVE = """
#include "dataflow_api.h"
#include "ethernet/dataflow_api.h"
void kernel_main() {
    const uint32_t size = get_arg_val<uint32_t>(0);
    eth_wait_for_bytes(size);
    auto words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_arg_val<uint32_t>(2));
    uint32_t sum = 0;
    for (uint32_t i = 0; i < size / 4; i++) {
        sum += words[i];
    }
    DPRINT << sum << ENDL();
    eth_receiver_done();
}
"""


def open_pair(board: str = "n300", **options: Any) -> MeshDevice:
    """Two chips with a link."""
    return MeshDevice.create(MeshDeviceConfig(MeshShape(1, 2)), board=board, **options)


def add_kernel(text: str, core: tuple[int, int], arguments: list[int]) -> Program:
    """A program of a kernel on an Ethernet core."""
    program = CreateProgram()
    kernel = CreateKernelFromString(program, text, CoreCoord(*core), EthernetConfig())
    SetRuntimeArgs(program, kernel, CoreCoord(*core), arguments)
    return program


def run_pair(mesh: MeshDevice, sender: Program, receiver: Program) -> tuple[int, int]:
    """Run a program on each of two devices; the cycles of both."""
    workload = MeshWorkload()
    for column, program in enumerate((sender, receiver)):
        at = MeshCoordinate(0, column)
        workload.add_program(MeshCoordinateRange(at, at), program)
    EnqueueMeshWorkload(mesh.mesh_command_queue(), workload)
    left, right = (each.command_queue().reports[-1].cycles for each in mesh.get_devices())
    return left, right


def send(size: int, source: int = SOURCE, **options: Any) -> MeshDevice:
    """Send bytes from the first device of an n300 to the second one."""
    mesh = open_pair("n300", **options)
    here = mesh.get_device(0).get_ethernet_sockets(1)[0]
    _, there = mesh.get_device(0).get_connected_ethernet_core(here)
    arguments = [size, source, TARGET]
    run_pair(mesh, add_kernel(SEND, here, arguments), add_kernel(RECEIVE, there, arguments))
    return mesh


def test_links_of_boards() -> None:
    """Both ends of a link know each other."""
    mesh = open_pair("n300")
    first, second = mesh.get_devices()
    assert first.get_active_ethernet_cores() == [CoreCoord(0, 8), CoreCoord(0, 9)]
    assert second.get_active_ethernet_cores() == [CoreCoord(0, 0), CoreCoord(0, 1)]
    assert first.get_connected_ethernet_core((0, 9)) == (1, CoreCoord(0, 1))
    assert second.get_connected_ethernet_core((0, 0)) == (0, CoreCoord(0, 8))
    with pytest.raises(MetaliumError, match=r"Ethernet core \(0, 3\) of device 0 has no link"):
        first.get_connected_ethernet_core((0, 3))
    # Both ends list their links in the same order, though the channels of a p300 cross.
    left, right = open_pair("p300").get_devices()
    assert left.get_ethernet_sockets(1) == [CoreCoord(0, 2), CoreCoord(0, 3)]
    assert right.get_ethernet_sockets(0) == [CoreCoord(0, 9), CoreCoord(0, 8)]


@pytest.mark.parametrize("options", [{}, {"timed": False}, {"delay_copies": True}])
def test_bytes_arrive(options: dict[str, bool]) -> None:
    """What was sent is in the L1 of the other end, and the sender knows."""
    size = 48
    mesh = send(size, **options)
    numbers = 1000 + 3 * np.arange(size // 4)
    assert mesh.get_device(1).printed == [f"device 1 core (0, 0) ERISC: {numbers.sum()}"]
    core = mesh.get_device(1).simulated.ethernet_core(0)
    assert np.frombuffer(core.l1.read(TARGET, size), np.uint32).tolist() == numbers.tolist()


RATES = {"n300": (12.5, 711, 1.0), "p300": (50.0, 515, 1.35)}
"""GB/s of a link, nanoseconds to the other end, GHz."""

PING = """
#include "ethernet/dataflow_api.h"
void kernel_main() {
    for (uint32_t i = 0; i < get_arg_val<uint32_t>(1); i++) {
        eth_send_bytes_over_channel_payload_only(0x20000, 0x28000, 4096, 4096, 256);
    }
    eth_send_bytes(0x20000, 0x28000, 16);
    eth_wait_for_receiver_done();
}
"""
PONG = """
#include "ethernet/dataflow_api.h"
void kernel_main() {
    eth_wait_for_bytes(16);
    while (eth_txq_is_busy()) {
    }
    eth_receiver_channel_done(0);
}
"""


@pytest.mark.parametrize("board", RATES)
def test_latency_and_bandwidth(board: str) -> None:
    """A round trip is twice the latency, and what is sent between takes the rate of the link."""
    rate, latency, clock = RATES[board]
    cycles: list[int] = []
    for count in (0, 40):
        mesh = open_pair(board, leniencies=frozenset({"uninitialised-read"}))
        here = mesh.get_device(0).get_ethernet_sockets(1)[0]
        _, there = mesh.get_device(0).get_connected_ethernet_core(here)
        programs = add_kernel(PING, here, [0, count]), add_kernel(PONG, there, [])
        cycles.append(run_pair(mesh, *programs)[0])
    packet = (4096 + 50 * math.ceil(4096 / 1500)) / rate * clock
    assert cycles[0] == pytest.approx(2 * latency * clock, rel=0.05)
    assert cycles[1] - cycles[0] == pytest.approx(40 * packet, rel=0.01)


HANDSHAKES = {
    "whole": ("handshake::sender_side_handshake(0x20000);",
              "handshake::receiver_side_handshake(0x20000);"),
    "parts": (
        "handshake::deprecated::sender_side_start(0x20000);"
        "handshake::deprecated::sender_side_finish(0x20000);",
        "handshake::deprecated::receiver_side_start(0x20000);"
        "handshake::deprecated::receiver_side_finish(0x20000);",
    ),
    "2024": ("eth_setup_handshake(0x20000, true);", "eth_setup_handshake(0x20000, false);"),
}  # fmt: skip


@pytest.mark.parametrize("name", HANDSHAKES)
def test_handshakes(name: str) -> None:
    """What is sent after one is received; without an answer there is a deadlock."""
    head = """
    #include "ethernet/dataflow_api.h"
    #include "tt_metal/fabric/hw/inc/edm_fabric/edm_handshake.hpp"
    using namespace erisc::datamover;
    """
    sends, answers = HANDSHAKES[name]
    sender = head + SEND.replace("    const uint32_t size", f"    {sends}\n    const uint32_t size")
    receiver = head + RECEIVE.replace(
        "    const uint32_t size", f"    {answers}\n    const uint32_t size"
    )
    mesh = open_pair()
    arguments = [48, SOURCE + 4096, TARGET]
    programs = [
        add_kernel(text, core, arguments) for text, core in ((sender, (0, 8)), (receiver, (0, 0)))
    ]
    run_pair(mesh, *programs)
    total = sum(1000 + 3 * index for index in range(12))
    assert mesh.get_device(1).printed == [f"device 1 core (0, 0) ERISC: {total}"]
    alone = add_kernel(sender, (0, 8), arguments), add_kernel("void kernel_main() {}", (0, 0), [])
    with pytest.raises(DeadlockError, match="waits for the other end of its link"):
        run_pair(open_pair(), *alone)


def test_unaligned_send() -> None:
    """The queue takes units of 16 bytes."""
    with pytest.raises(SimError) as caught:
        send(48, source=SOURCE + 8)
    text = str(caught.value)
    assert text.startswith(
        "kernel_0.cpp:10:5: error: 48 bytes are sent from 0x20008 to 0x21000; the queue of a link "
        "takes addresses and sizes that are multiples of 16 [unaligned]"
    )
    assert "note: on device 0 core (0, 8) ERISC" in text


def test_a_receiver_that_is_missing() -> None:
    """Who waits is named with its device."""
    mesh = open_pair()
    idle = "void kernel_main() {}"
    with pytest.raises(DeadlockError) as caught:
        run_pair(
            mesh,
            add_kernel(SEND, (0, 8), [16, SOURCE, TARGET]),
            add_kernel(idle, (0, 0), []),
        )
    text = str(caught.value)
    assert "deadlock: 1 thread waits" in text
    assert "device 0 core (0, 8) ERISC waits for the other end of its link" in text
    assert "eth_wait_for_receiver_done" in text
    receive = """#include "ethernet/dataflow_api.h"
        void kernel_main() { eth_wait_for_bytes(16); }"""
    forgot = SEND.replace("eth_wait_for_receiver_done();", "")
    assert forgot != SEND
    with pytest.raises(DeadlockError, match="they are 0; those of eth_send_bytes are told by"):
        run_pair(
            open_pair(),
            add_kernel(forgot, (0, 8), [16, SOURCE, TARGET]),
            add_kernel(receive, (0, 0), []),
        )


def test_an_end_without_credits() -> None:
    """A sender waits for its receiver before it ends."""
    text = SEND.replace("eth_wait_for_receiver_done();", "")
    with pytest.raises(SanitizerError, match="the kernel ends while this send over the link"):
        run_pair(
            open_pair(),
            add_kernel(text, (0, 8), [16, SOURCE, TARGET]),
            add_kernel("void kernel_main() {}", (0, 0), []),
        )


def test_a_read_before_the_bytes_are_there() -> None:
    """Nobody reads what may still be on its way."""
    early = RECEIVE.replace("    eth_wait_for_bytes(size);\n", "").replace(
        "    eth_receiver_done();", "    eth_wait_for_bytes(size);\n    eth_receiver_done();"
    )
    with pytest.raises(SanitizerError) as caught:
        run_pair(
            open_pair(),
            add_kernel(SEND, (0, 8), [48, SOURCE, TARGET]),
            add_kernel(early, (0, 0), [48, SOURCE, TARGET]),
        )
    assert "device 1" in str(caught.value)
    assert caught.value.rule in ("race", "uninitialised-read")


def test_a_channel_without_a_link() -> None:
    """The message lists the channels that have links."""
    with pytest.raises(SimError, match="Ethernet channel 3 of device 0 has no link") as caught:
        run_pair(
            open_pair(),
            add_kernel(SEND, (0, 3), [16, SOURCE, TARGET]),
            add_kernel("void kernel_main() {}", (0, 0), []),
        )
    assert "channels of the device with links to devices that are open: 8, 9" in str(caught.value)


def test_a_device_that_was_opened_alone() -> None:
    """A link needs both its ends."""
    device: Device = MeshDevice.create_unit_mesh(0)
    program = add_kernel(SEND, (0, 8), [16, SOURCE, TARGET])
    with pytest.raises(SimError, match="no other device runs, so that the link leads nowhere"):
        device.command_queue().run(program)


def test_no_such_channel() -> None:
    """Cores are numbered by channel."""
    with pytest.raises(SimError, match=r"there is no Ethernet core \(0, 16\)"):
        run_pair(
            open_pair(),
            add_kernel(SEND, (0, 16), [16, SOURCE, TARGET]),
            add_kernel("void kernel_main() {}", (0, 0), []),
        )
