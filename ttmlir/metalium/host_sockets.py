"""Sockets between a core and the host: pages in order, with credits, while kernels run.

Workloads that are enqueued run as far as they go when the host waits: for room, for pages, or for
their end. What goes over PCIe takes no time.

Source: tt-metal, tt-metalium/experimental/sockets/h2d_socket.hpp and d2h_socket.hpp.
"""

from __future__ import annotations

import struct
from itertools import count
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ttmlir.metalium.ends import configure
from ttmlir.metalium.enums import BufferType, NamedNumber
from ttmlir.metalium.errors import MetaliumError
from ttmlir.metalium.host_api import host_bytes
from ttmlir.metalium.meshes import MeshDevice
from ttmlir.metalium.sockets import (
    MeshCoreCoord,
    allocate_on_cores,
    check_core,
    check_fifo_size,
    core_of,
)
from ttmlir.sim.execution.scheduler import deadlock
from ttmlir.sim.machine.memory import Memory
from ttmlir.sim.machine.sockets import (
    RECEIVER_SIZE,
    SENDER_SIZE,
    UNIT,
    HostMemory,
    Peer,
    SocketEnd,
)

_numbers = count(1)
"""The upper halves of addresses on PCIe, of which each socket has its own."""
_WORDS = 1 << 32


class H2DMode(NamedNumber):
    """Who moves pages that the host has for a core."""

    HOST_PUSH = 0
    DEVICE_PULL = 1


class _HostSocket:
    """What both kinds have."""

    def __init__(self, mesh_device: MeshDevice, core: MeshCoreCoord, fifo_size: int) -> None:
        """An end on a core; MetaliumError for sizes that are not possible."""
        if not isinstance(cast("object", mesh_device), MeshDevice):
            raise MetaliumError(f"a socket is on a MeshDevice, not on {mesh_device!r}")
        check_core(core)
        mesh_device.check_open()
        check_fifo_size(fifo_size)
        self._unit = mesh_device.simulated.chip.dram_alignment
        if fifo_size < 1 or fifo_size % self._unit:
            raise MetaliumError(
                f"'fifo_size' is {fifo_size}; it has to be a multiple of {self._unit} bytes, as "
                "PCIe has them"
            )
        self._mesh = mesh_device
        self._place = core
        self._core = core_of(mesh_device, core)
        self._size = fifo_size
        self._system = mesh_device.wait_for_host()
        self._page = 0
        self._whole = fifo_size
        self._pointer = 0
        self._count = 0
        """Bytes that the host has written, or read."""
        self._config = 0
        memory = Memory(f"the host's part of a socket of {self._core.name}", fifo_size + UNIT)
        memory.write(0, bytes(fifo_size + UNIT))
        self._host = HostMemory(memory, next(_numbers) << 32, fifo_size)

    def __repr__(self) -> str:
        """The core and the size."""
        return f"{type(self).__name__}({self._core.name}, {self._size:,} bytes)"

    def get_page_size(self) -> int:
        """Bytes of a page; 0 before they are set."""
        return self._page

    def get_config_buffer_address(self) -> int:
        """The address that kernels are given."""
        return self._config

    def get_active_cores(self) -> list[MeshCoreCoord]:
        """The core."""
        return [self._place]

    def get_mesh_device(self) -> MeshDevice:
        """The mesh."""
        return self._mesh

    def set_page_size(self, page_size: int) -> None:
        """Have pages of another size from now on."""
        if page_size < 1 or page_size % self._unit or page_size > self._size:
            raise MetaliumError(
                f"pages of {page_size} bytes in a socket of {self._size}; pages are multiples of "
                f"{self._unit} bytes, and at least one fits into the socket"
            )
        self._page, self._whole = page_size, self._size - self._size % page_size
        following = -(-self._pointer // page_size) * page_size
        if following >= self._whole:
            self._skip(self._size - following)
            following = 0
        self._pointer = following

    def _skip(self, size: int) -> None:
        self._count += size

    def _told(self) -> int:
        """What kernels have told the host."""
        return int.from_bytes(self._host.memory.read(self._host.word, 4), "little")

    def _tell(self, address: int) -> None:
        """Tell kernels what the host has written, or read."""
        core, value = self._core, self._count % _WORDS
        core.set_word_time(address, value, self._system.clock)
        watch = self._mesh.simulated.watch
        if watch is not None:
            watch.host_write(core.l1, address, 4)
            watch.semaphore_created(core.l1, address)
        core.l1.write(address, value.to_bytes(4, "little"))

    def _move(self, size: int) -> None:
        """Go on by whole pages."""
        self._count += size
        if self._pointer + size >= self._whole:
            self._pointer = self._pointer + size - self._whole
            self._count += self._size - self._whole
        else:
            self._pointer += size

    def _check_pages(self, num_pages: int) -> int:
        self._mesh.check_open()
        if not self._page:
            raise MetaliumError("the socket has no size of pages; call set_page_size() first")
        size = num_pages * self._page
        if not 0 < size <= self._whole:
            raise MetaliumError(
                f"{num_pages} pages of {self._page} bytes; the socket has "
                f"{self._whole // self._page}"
            )
        return size

    def _await(self, what: str, is_there: Any) -> None:
        """Have kernels run until something is there; DeadlockError if it never is."""
        if is_there():
            return
        blocked = self._system.advance()
        if is_there():
            return
        if blocked:
            raise deadlock(blocked)
        raise MetaliumError(f"the host waits for {what}, and no kernel runs that could give it")


class H2DSocket(_HostSocket):
    """Pages from the host to a core."""

    def __init__(
        self,
        mesh_device: MeshDevice,
        recv_core: MeshCoreCoord,
        buffer_type: BufferType,
        fifo_size: int,
        h2d_mode: H2DMode,
    ) -> None:
        """A socket whose pages wait in the L1 of the core; the host writes them there."""
        if buffer_type is not BufferType.L1:
            raise MetaliumError(f"pages of the host wait in BufferType.L1, not in {buffer_type!r}")
        if h2d_mode is not H2DMode.HOST_PUSH:
            raise MetaliumError(
                "kernels that read the host's memory are not simulated; use H2DMode.HOST_PUSH"
            )
        super().__init__(mesh_device, recv_core, fifo_size)
        self._fifo = allocate_on_cores(mesh_device, fifo_size, [recv_core.core_coord]).address()
        buffer = allocate_on_cores(mesh_device, RECEIVER_SIZE, [recv_core.core_coord])
        self._config = address = buffer.address()
        high = self._host.address >> 32
        words = [0, self._fifo, self._fifo, fifo_size, 0, 1, self._host.word, high, 0, high, 0]
        data = struct.pack(f"<{len(words)}I", *words)
        configure(mesh_device, self._core, address, data, [address])
        peer = Peer("the host", self._core.device, self._host.memory, self._host.word)
        self._core.sockets[address] = SocketEnd(
            False, (peer,), fifo_size, self._unit, host=self._host
        )

    def get_h2d_mode(self) -> H2DMode:
        """Who moves pages: the host."""
        return H2DMode.HOST_PUSH

    def _free(self) -> int:
        return self._size - (self._count - self._told()) % _WORDS

    def _skip(self, size: int) -> None:
        self._await("room in the socket", lambda: self._free() >= size)
        super()._skip(size)

    def has_space(self, num_bytes_to_check: int | None = None) -> bool:
        """Whether a page, or so many bytes, can be written without waiting."""
        return self._free() >= (num_bytes_to_check or self._page)

    def get_bytes_sent(self) -> int:
        """Bytes that were written since the socket was made."""
        return self._count % _WORDS

    def write(self, data: ArrayLike | bytes, num_pages: int) -> None:
        """Write pages; DeadlockError if their core never has room for them."""
        size = self._check_pages(num_pages)
        written = host_bytes(data)
        if len(written) != size:
            raise MetaliumError(f"{len(written)} bytes for {num_pages} pages of {self._page}")
        self._await("room in the socket", lambda: self._free() >= size)
        watch = self._mesh.simulated.watch
        for first in range(0, size, self._page):
            address, page = self._fifo + self._pointer, written[first : first + self._page]
            self._core.l1.write(address, page)
            if watch is not None:
                watch.host_write(self._core.l1, address, len(page))
            self._move(self._page)
        self._tell(self._config)

    def barrier(self, timeout_ms: int | None = None) -> None:
        """Wait until the core has popped all pages."""
        self._await("a core to pop all pages", lambda: self._told() == self._count % _WORDS)


class D2HSocket(_HostSocket):
    """Pages from a core to the host."""

    def __init__(self, mesh_device: MeshDevice, sender_core: MeshCoreCoord, fifo_size: int) -> None:
        """A socket whose pages wait in the memory of the host."""
        super().__init__(mesh_device, sender_core, fifo_size)
        size = SENDER_SIZE + 2 * UNIT
        buffer = allocate_on_cores(mesh_device, size, [sender_core.core_coord])
        self._config = address = buffer.address()
        self._acked = address + SENDER_SIZE
        high = self._host.address >> 32
        words = [0, 1, 0, self._host.word, 0, fifo_size, 1, 0, 0, 0, 0, 0, high, high, 0, 0]
        data = struct.pack(f"<{len(words)}I", *words)
        configure(mesh_device, self._core, address, data, [self._acked])
        peer = Peer("the host", self._core.device, self._host.memory, self._host.word)
        self._core.sockets[address] = SocketEnd(
            True, (peer,), fifo_size, self._unit, host=self._host
        )

    def _there(self) -> int:
        return (self._told() - self._count) % _WORDS

    def _skip(self, size: int) -> None:
        self._await("pages of a core", lambda: self._there() >= size)
        super()._skip(size)

    def has_data(self, num_bytes_to_check: int | None = None) -> bool:
        """Whether a page, or so many bytes, can be read without waiting."""
        return self._there() >= (num_bytes_to_check or self._page)

    def pages_available(self) -> int:
        """Pages that can be read without waiting."""
        return self._there() // self._page if self._page else 0

    def read(self, num_pages: int, notify_sender: bool = True) -> NDArray[np.uint8]:
        """The bytes of pages; DeadlockError if their core never sends them.

        Without `notify_sender` the core gets their room when others are read.
        """
        size = self._check_pages(num_pages)
        needed = size
        if self._pointer + size >= self._whole:
            needed += self._size - self._whole
        self._await("pages of a core", lambda: self._there() >= needed)
        parts: list[bytes] = []
        for _ in range(num_pages):
            parts.append(bytes(self._host.memory.read(self._pointer, self._page)))
            self._move(self._page)
        if notify_sender:
            self._tell(self._acked)
        return np.frombuffer(b"".join(parts), np.uint8)

    def barrier(self, timeout_ms: int | None = None) -> None:
        """Find pages that were sent and not read; MetaliumError for these."""
        self._system.advance()
        if self._there():
            raise MetaliumError(f"{self._there()} bytes were sent that the host has not read")
