"""Sockets with the host: pages to a core and back while its kernel runs, and mistakes with them."""

from __future__ import annotations

import re
from typing import Any, cast

import numpy as np
import pytest

from test.metalium.fabric_programs import open_fabric
from ttmlir.metalium import (
    BufferType,
    CoreCoord,
    CreateKernelFromString,
    CreateProgram,
    DataMovementConfig,
    MetaliumError,
    SetRuntimeArgs,
)
from ttmlir.metalium.distributed import (
    D2HSocket,
    EnqueueMeshWorkload,
    Finish,
    H2DMode,
    H2DSocket,
    MeshCoordinate,
    MeshCoordinateRange,
    MeshCoreCoord,
    MeshDevice,
    MeshWorkload,
)
from ttmlir.metalium.tt_fabric import FabricConfig
from ttmlir.sim.errors import DeadlockError, SimError

PAGE = 96
"""Bytes of a page, of which some do not fill a socket."""

ADD_ONE = """
#include "api/dataflow/dataflow_api.h"
#include "api/socket_api.h"
void kernel_main() {
    const uint32_t page = get_arg_val<uint32_t>(2);
    auto from = create_receiver_socket_interface(get_arg_val<uint32_t>(0));
    auto to = create_sender_socket_interface(get_arg_val<uint32_t>(1));
    set_receiver_socket_page_size(from, page);
    set_sender_socket_page_size(to, page);
    noc_write_init_state<write_cmd_buf>(NOC_INDEX, NOC_UNICAST_WRITE_VC);
    const uint64_t high = to.d2h.data_addr_hi;
    const uint64_t base = high << 32 | to.downstream_fifo_addr;
    for (uint32_t i = 0; i < get_arg_val<uint32_t>(3); i++) {
        socket_wait_for_pages(from, 1);
        auto* words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(from.read_ptr);
        for (uint32_t n = 0; n < page / 4; n++) {
            words[n] += 1;
        }
        socket_reserve_pages(to, 1);
        noc_wwrite_with_state<
            noc_mode, write_cmd_buf, CQ_NOC_SNDL, CQ_NOC_SEND, CQ_NOC_WAIT, true, false>(
            NOC_INDEX, from.read_ptr, to.d2h.pcie_xy_enc, base + to.write_ptr, page, 1);
        noc_async_writes_flushed();
        socket_push_pages(to, 1);
        socket_notify_receiver(to);
        socket_pop_pages(from, 1);
        socket_notify_sender(from);
    }
    update_socket_config(from);
    update_socket_config(to);
    noc_async_write_barrier();
}
"""


class Pair:
    """A socket to a core and one back, and a kernel between them."""

    def __init__(self, mesh: MeshDevice, size: int = 256, text: str = ADD_ONE) -> None:
        """Sockets of so many bytes on the last device of a mesh."""
        self.mesh, self.text = mesh, text
        self.place = MeshCoreCoord(MeshCoordinate(0, mesh.num_cols() - 1), CoreCoord(1, 2))
        self.to = H2DSocket(mesh, self.place, BufferType.L1, size, H2DMode.HOST_PUSH)
        self.back = D2HSocket(mesh, self.place, size)

    def set_page_size(self, page: int) -> None:
        """Of both."""
        self.to.set_page_size(page)
        self.back.set_page_size(page)

    def start(self, count: int) -> None:
        """Enqueue a program for so many pages."""
        program, core = CreateProgram(), self.place.core_coord
        kernel = CreateKernelFromString(program, self.text, core, DataMovementConfig())
        ends = [each.get_config_buffer_address() for each in (self.to, self.back)]
        SetRuntimeArgs(program, kernel, core, [*ends, self.to.get_page_size(), count])
        workload, at = MeshWorkload(), self.place.device_coord
        workload.add_program(MeshCoordinateRange(at, at), program)
        EnqueueMeshWorkload(self.mesh.mesh_command_queue(), workload)


def numbers(seed: int, count: int, page: int = PAGE) -> Any:
    """Pages of words."""
    return np.random.default_rng(seed).integers(0, 1 << 31, (count, page // 4), np.uint32)


@pytest.mark.parametrize(
    ("board", "shape", "options"),
    [
        ("n150", (1, 1), {}),
        ("n300", (1, 2), {"timed": False}),
        ("n150", (1, 1), {"delay_copies": True}),
    ],
)
def test_pages_to_a_core_and_back(board: str, shape: tuple[int, int], options: Any) -> None:
    """With room for two pages the host and the kernel wait for each other; then once more."""
    with open_fabric(FabricConfig.DISABLED, board, shape, **options) as mesh:
        pair = Pair(mesh)
        for seed, page, count in ((0, 96, 11), (1, 64, 6)):
            pair.set_page_size(page)
            pair.start(count)
            data = numbers(seed, count, page)
            pair.to.write(data[0], 1)
            for index in range(1, count):
                pair.to.write(data[index], 1)
                got = pair.back.read(1).view(np.uint32)
                assert np.array_equal(got, data[index - 1] + 1)
            assert np.array_equal(pair.back.read(1).view(np.uint32), data[-1] + 1)
            pair.to.barrier()
            pair.back.barrier()
            Finish(mesh.mesh_command_queue())
        device = mesh.get_devices()[-1]
        assert len(device.command_queue().reports) == 2


def test_several_pages_at_once() -> None:
    """Those that were written before the kernel began are there at once."""
    with open_fabric(FabricConfig.DISABLED, "n150", (1, 1)) as mesh:
        pair = Pair(mesh, 1024)
        pair.set_page_size(PAGE)
        data = numbers(2, 9)
        pair.to.write(data, 9)
        assert pair.to.get_bytes_sent() == 9 * PAGE
        assert not pair.to.has_space(3 * PAGE)
        assert not pair.back.has_data()
        pair.start(9)
        assert np.array_equal(pair.back.read(4).view(np.uint32), (data[:4] + 1).ravel())
        assert pair.back.pages_available() == 5
        assert np.array_equal(pair.back.read(5).view(np.uint32), (data[4:] + 1).ravel())


def test_the_host_waits_for_ever() -> None:
    """Who waits for whom is told, with the core."""
    with open_fabric(FabricConfig.DISABLED, "n150", (1, 1)) as mesh:
        pair = Pair(mesh)
        pair.set_page_size(PAGE)
        with pytest.raises(MetaliumError, match="waits for pages of a core, and no kernel runs"):
            pair.back.read(1)
        pair.start(3)
        pair.to.write(numbers(0, 1), 1)
        pair.back.read(1)
        # The second page ends the socket: 64 bytes behind it hold none.
        with pytest.raises(DeadlockError, match=r"core \(1, 2\) BRISC waits for 256 bytes of its"):
            pair.back.read(1)
        with pytest.raises(DeadlockError, match="96 were sent"):
            Finish(mesh.mesh_command_queue())


@pytest.mark.parametrize(
    ("changed", "into", "message"),
    [
        ("base + to.write_ptr", "to.write_ptr", "96 bytes are written to 0x0 on PCIe, where no"),
        ("socket_reserve_pages(to, 1);", "socket_push_pages(to, 2); socket_push_pages(to, 1);",
         "bytes are on the way to the host, whose socket has 256"),
        ("socket_notify_sender(from);", "", "were popped, but the host was told of 0"),
        ("socket_wait_for_pages(from, 1);", "", "nobody has written"),
    ],
)  # fmt: skip
def test_mistakes_of_kernels(changed: str, into: str, message: str) -> None:
    """Each is told at its line."""
    assert ADD_ONE.count(changed) == 1
    with open_fabric(FabricConfig.DISABLED, "n150", (1, 1)) as mesh:
        pair = Pair(mesh, text=ADD_ONE.replace(changed, into))
        pair.set_page_size(PAGE)
        pair.start(1)
        if "wait_for_pages" not in changed:
            pair.to.write(numbers(0, 1), 1)
        with pytest.raises(SimError, match=re.escape(message)):
            Finish(mesh.mesh_command_queue())


def test_sockets_that_cannot_be() -> None:
    """The call of the host is refused."""
    with open_fabric(FabricConfig.DISABLED, "n150", (1, 1)) as mesh:
        place = MeshCoreCoord(MeshCoordinate(0, 0), CoreCoord(1, 2))
        push, l1 = H2DMode.HOST_PUSH, BufferType.L1
        cases: list[tuple[Any, str]] = [
            (
                lambda: D2HSocket(mesh, place, 100),
                "'fifo_size' is 100; it has to be a multiple of 32",
            ),
            (lambda: D2HSocket(mesh, place, -32), "'fifo_size' is -32; it is a number of 32 bits"),
            (lambda: H2DSocket(mesh, place, BufferType.DRAM, 64, push), "wait in BufferType.L1"),
            (lambda: H2DSocket(mesh, place, l1, 64, H2DMode.DEVICE_PULL), "use H2DMode.HOST_PUSH"),
            (lambda: D2HSocket(cast("Any", 3), place, 64), "a socket is on a MeshDevice, not on 3"),
            (lambda: D2HSocket(mesh, cast("Any", (0, 0)), 64), "is a MeshCoreCoord, not (0, 0)"),
            (lambda: H2DSocket(mesh, place, l1, 1 << 24, push), "L1"),
        ]
        for make, message in cases:
            with pytest.raises(MetaliumError, match=re.escape(message)):
                make()
        socket = D2HSocket(mesh, place, 256)
        with pytest.raises(MetaliumError, match="has no size of pages; call set_page_size"):
            socket.read(1)
        with pytest.raises(MetaliumError, match="pages of 48 bytes in a socket of 256; pages are"):
            socket.set_page_size(48)
        socket.set_page_size(PAGE)
        with pytest.raises(MetaliumError, match="3 pages of 96 bytes; the socket has 2"):
            socket.read(3)
        assert repr(socket) == "D2HSocket(core (1, 2), 256 bytes)"
        to = H2DSocket(mesh, place, l1, 256, push)
        to.set_page_size(PAGE)
        with pytest.raises(MetaliumError, match="64 bytes for 1 pages of 96"):
            to.write(bytes(64), 1)
