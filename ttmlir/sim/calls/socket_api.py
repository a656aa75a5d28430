"""What the header of sockets is made of: waits for the other end, and checks of its arguments."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from ttmlir.sim.calls.kernel_api import KernelApi, kernel_call
from ttmlir.sim.errors import Finding, SimError
from ttmlir.sim.machine.device import Core
from ttmlir.sim.machine.memory import Memory
from ttmlir.sim.machine.sockets import SENDER_SIZE, UNIT, SocketEnd
from ttmlir.sim.protocols import RunningThread, WaitReason

_WORDS = 1 << 32
_LOOK = 10
"""Cycles of a look at a word in L1."""


class SocketCalls(KernelApi):
    """Calls with sockets; of compute kernels UNPACK alone makes them."""

    @cached_property
    def _receives_from(self) -> set[int]:
        """The configurations of the sockets that the kernel receives from."""
        return set()

    def leftovers(self) -> Iterator[Finding]:
        """Notes on what was sent to the kernel and what it has not taken, when all have ended."""
        for config in sorted(self._receives_from):
            count = (self._word(self.l1, config) - self._end(config).count) % _WORDS
            if 0 < count < _WORDS // 2:
                yield self._left_over(f"the socket at {config:#x}", count, "socket-not-empty")

    def _left_over(self, what: str, count: int, rule: str) -> Finding:
        return self.thread.finding(
            f"{what} still has {count} bytes at the end of the program, which were sent and not "
            "popped: the next program begins with them; wait for and pop as many pages as are sent",
            rule=rule,
            severity="note",
        )

    def _end(self, config: int) -> SocketEnd:
        end = self.core.sockets.get(config)
        if end is None:
            raise self._error(
                f"there is no socket at {config:#x} of this core; begin with "
                "create_sender_socket_interface() or create_receiver_socket_interface()"
            )
        return end

    @kernel_call()
    def socket_open(self, config: int, is_sender: bool) -> None:
        """Find that an end of a socket is configured there, and that its state was not lost."""
        end = self.core.sockets.get(config)
        kind = "sender" if is_sender else "receiver"
        if end is None or end.is_sender != is_sender:
            there = ", ".join(f"{at:#x} ({each.kind})" for at, each in self.core.sockets.items())
            raise self._error(
                f"{config:#x} is not the configuration of a socket's {kind} on this core; it is "
                "get_config_buffer().address() of the socket, on the cores of its connections",
                f"sockets of this core: {there or 'none'}",
            )
        if not end.is_open and end.count > self._word(self.l1, config + (0 if is_sender else UNIT)):
            raise self._error(
                f"the socket goes on where it was before the last program, in which {end.count} "
                f"bytes were {'pushed' if is_sender else 'popped'} in all; call "
                "update_socket_config() at the end of the kernel"
            )
        end.is_open = True
        if not is_sender:
            self._receives_from.add(config)

    @kernel_call()
    def socket_check_page(self, config: int, page_size: int, fifo_size: int) -> None:
        """Find pages that the buffer of a receiver cannot have."""
        unit = self._end(config).page_alignment
        if page_size < 1 or page_size % unit or page_size > fifo_size:
            raise self._error(
                f"pages of {page_size} bytes in a socket of {fifo_size}; pages are multiples of "
                f"{unit} bytes, and at least one fits into the socket"
            )

    @kernel_call()
    def socket_check_pages(self, num_pages: int, page_size: int, size: int) -> None:
        """Find numbers of pages that never fit."""
        if page_size == 0:
            raise self._error(
                "the socket has no size of pages; call set_sender_socket_page_size() or "
                "set_receiver_socket_page_size() first"
            )
        if num_pages * page_size > size:
            raise self._error(
                f"{num_pages} pages of {page_size} bytes; the socket has {size // page_size}"
            )

    @kernel_call()
    def socket_check_downstream(self, count: int, number: int) -> None:
        """Find receivers that there are not."""
        if number >= count:
            raise self._error(f"there is no receiver {number}; the socket has {count}")

    @kernel_call()
    def socket_check_peers(self, config: int) -> None:
        """Find other ends that the network does not reach."""
        end = self._end(config)
        far = next((each for each in end.peers if each.device != self.core.device), None)
        if far is not None:
            raise self._error(
                f"the {end.peer_kind} is {far.name}, which the network of this device does not "
                f"reach; call fabric_socket_notify_{end.peer_kind}()"
            )

    @kernel_call()
    def socket_pushed(self, config: int, sent: int, count: int) -> None:
        """Find pages that were written where there was no room."""
        end = self._end(config)
        end.count = sent
        for index in range(count):
            acked = self._word(self.l1, config + SENDER_SIZE + index * UNIT)
            if (sent - acked) % _WORDS > end.fifo_size:
                raise self.thread.error(
                    f"{sent - acked} bytes are on the way to {end.peers[index].name}, whose "
                    f"socket has {end.fifo_size}; call socket_reserve_pages() before pages are "
                    "written",
                    rule="socket-overrun",
                )

    @kernel_call()
    def socket_popped(self, config: int, acked: int) -> None:
        """Find pages that are given back before they have come."""
        self._end(config).count = acked
        sent = self._word(self.l1, config)
        if (sent - acked) % _WORDS >= _WORDS // 2:
            raise self.thread.error(
                f"{acked} bytes are popped of {sent} that were sent; call socket_wait_for_pages() "
                "first",
                rule="socket-overrun",
            )

    @kernel_call()
    def socket_close(self, config: int) -> None:
        """Find pages that the other end was not told of."""
        end = self._end(config)
        for peer in end.peers:
            told = self._word(peer.l1, peer.address)
            if told < end.count:
                verb = "pushed" if end.is_sender else "popped"
                raise self.thread.error(
                    f"{end.count} bytes were {verb}, but {peer.name} was told of {told}; call "
                    f"socket_notify_{end.peer_kind}(), or fabric_socket_notify_{end.peer_kind}() "
                    "for another device, before update_socket_config()",
                    rule="socket-overrun",
                )

    @kernel_call()
    def socket_assign(self, config: int, cb: int, start: int, size: int, pointer: int) -> None:
        """Have a circular buffer be the bytes of a socket, from its next page on."""
        self._end(config)
        buffer = self.cbs[cb]
        if size % buffer.page_size:
            raise self._error(
                f"circular buffer {cb} has pages of {buffer.page_size} bytes, which do not fill "
                f"the {size} of the socket's pages"
            )
        buffer.take_place(start, size, pointer)

    @kernel_call()
    def socket_tell_host(self, config: int, value: int) -> None:
        """Tell the host what was pushed, or popped."""
        host = self._end(config).host
        if host is None:
            raise self._error("the other end of the socket is a core, not the host")
        self.thread.step(_LOOK)
        host.memory.write(host.word, (value % _WORDS).to_bytes(4, "little"))
        self.scheduler.progress += 1

    @kernel_call()
    def socket_write_to_host(self, source: int, address: int, size: int) -> None:
        """Copy bytes of L1 to what a socket has in the memory of the host."""
        hosts = [end.host for end in self.core.sockets.values() if end.host is not None]
        there = next(
            (each for each in hosts if 0 <= address - each.address <= each.word - size), None
        )
        if there is None:
            raise self.thread.error(
                f"{size} bytes are written to {address:#x} on PCIe, where no socket of this core "
                "has them; pages go to downstream_fifo_addr + write_ptr, with the upper half of "
                "the address in d2h.data_addr_hi",
                rule="socket",
            )
        if self.watch is not None:
            self.watch.read(self.l1, source, size, self.thread)
        there.memory.write(address - there.address, bytes(self.l1.read(source, size)))
        self.scheduler.progress += 1

    @kernel_call()
    def socket_refuse_update(self) -> None:
        """Find a compute kernel that writes back what two of its processors do not have."""
        raise self._error(
            "a compute kernel calls update_socket_config(), by which MATH and PACK write numbers "
            "that they do not have; call it in the kernel that tells the sender"
        )

    @kernel_call(waits=True)
    def socket_wait(self, address: int, value: int, is_acked: bool) -> bool:
        """Wait until the other end has told of so many bytes."""
        if self._is_there(address, value):
            return True
        self.l1.waiters.setdefault(address, []).append(self.thread)
        self.thread.wait(_WaitForSocket(self.core, address, is_acked), value)
        return False

    @kernel_call(waits=True)
    def socket_pause(self, looks: int) -> bool:
        """Look so many times in vain, while others run."""
        if self.timed and not self.thread.polling:
            self.thread.step(_LOOK * looks)
        return self.poll()

    @kernel_call()
    def socket_look(self, address: int, value: int) -> bool:
        """Whether the other end has told of so many bytes by now."""
        now = self.thread.clock
        if self.timed and self.core.time_of_word(address, value, now) > now:
            return False
        return self._is_there(address, value)

    def _is_there(self, address: int, value: int, kind: str = "socket_wait") -> bool:
        """Whether a word that the other end writes has come to a value."""
        if (self._word(self.l1, address) - value) % _WORDS >= _WORDS // 2:
            return False
        if self.timed:
            time = self.core.time_of_word(address, value, self.thread.clock)
            self.thread.wait_until(time, kind)
        if self.watch is not None:
            self.watch.semaphore_wait(self.thread, self.l1, address, value, exactly=False)
        return True

    @staticmethod
    def _word(memory: Memory, address: int) -> int:
        return int.from_bytes(memory.read(address, 4), "little")

    def _error(self, message: str, *detail: str) -> SimError:
        return self.thread.error(message, rule="socket", detail=detail)


class _WaitForSocket(WaitReason):
    """A word that the other end of a socket writes."""

    kind = "socket_wait"

    def __init__(self, core: Core, address: int, is_acked: bool) -> None:
        self._core = core
        self._address = address
        self._is_acked = is_acked

    def describe(self, thread: RunningThread) -> tuple[str, ...]:
        """How many bytes are missing."""
        value = int.from_bytes(self._core.l1.read(self._address, 4), "little")
        if self._is_acked:
            return (
                f"a receiver to acknowledge {thread.wanted} bytes of its socket; it has {value}",
            )
        return (f"{thread.wanted} bytes of its socket; {value} were sent",)
