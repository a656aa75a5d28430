"""What kernels on Ethernet cores can call beside what moves data: sends over the link.

Bytes move when a send is called; clocks say when they would have. Source: tt-metal,
tt_metal/hw/inc/ethernet/dataflow_api.h and tunneling.h.
"""

from __future__ import annotations

from collections.abc import Hashable

from ttmlir.sim.calls.device_objects import DataMovementApi
from ttmlir.sim.calls.kernel_api import kernel_call
from ttmlir.sim.machine.cluster import Cluster, End, Lane
from ttmlir.sim.machine.device import EthernetCore
from ttmlir.sim.protocols import RunningThread, WaitReason
from ttmlir.sim.sanitizer.sanitizer import LINK, Sanitizer

_WORD = 4
_UNIT = 16
"""What addresses and sizes of packets are multiples of."""
_ACK = 4
"""Where the word is that says that what was sent is acknowledged."""


class EthernetApi(DataMovementApi):
    """Calls of a kernel on an Ethernet core, whose link leads to another chip."""

    _cluster: Cluster | None = None
    _signalled = False
    """It has told the other end how much was sent, and waits for an answer."""

    def link_to(self, cluster: Cluster) -> None:
        """Know the links of the chip."""
        self._cluster = cluster

    def _link(self) -> tuple[EthernetCore, EthernetCore, Lane]:
        """This core, that at the other end of the link, and what leads there; error without one."""
        core = self.core
        assert isinstance(core, EthernetCore)
        number = core.device
        if self._cluster is None or number is None:
            raise self.thread.error(
                "no other device runs, so that the link leads nowhere; open the devices at both "
                "ends as one mesh, and enqueue their programs as one MeshWorkload",
                rule="eth-link",
            )
        end = End(number, core.index)
        lane = self._cluster.lane(end)
        other = self._cluster.other_end(end)
        assert other is not None
        return core, self._cluster.core_at(other), lane

    # Sending.

    def _send(self, source: int, target: int, size: int) -> bool:
        """Send bytes of this L1 to that of the other end; False to be tried again."""
        thread = self.thread
        if thread.clock > self.scheduler.horizon:
            return False
        if source % _UNIT or target % _UNIT or size % _UNIT or size < _UNIT:
            raise thread.error(
                f"{size} bytes are sent from {source:#x} to {target:#x}; the queue of a link takes "
                f"addresses and sizes that are multiples of {_UNIT}",
                rule="unaligned",
            )
        core, other, lane = self._link()
        other.l1.check_bounds(target, size)
        if self.timed:
            thread.wait_until(int(lane.free), "eth_txq_is_busy")
            _, arrived = lane.send(thread.clock, size)
            other.semaphore_times[target] = arrived
            self._arrived = arrived
        if self.watch is not None:
            self.watch.copy_started(thread, LINK, "write", core.l1, source, other.l1, target, size)
        self.scheduler.progress += 1
        other.l1.copy(target, core.l1, source, size)
        return True

    _arrived = 0
    """When what was sent last is at the other end."""

    @kernel_call(waits=True)
    def eth_send_packet(self, queue: int, source: int, target: int, num_words: int) -> bool:
        """Send words of 16 bytes, which addresses count, too."""
        return self._send(source * _UNIT, target * _UNIT, num_words * _UNIT)

    @kernel_call(waits=True)
    def eth_send_bytes(
        self,
        source: int,
        target: int,
        size: int,
        size_per_send: int = 16,
        words_per_send: int = 1,
    ) -> bool:
        """Send bytes in packets, and count them for `eth_wait_for_bytes`."""
        if not self._send_all(source, target, size, size_per_send, words_per_send):
            return False
        core = self._link()[0]
        address = core.sync_word(0)
        self._store(core, address, self._load(core, address) + size)
        return True

    @kernel_call(waits=True)
    def eth_send_bytes_over_channel_payload_only(
        self,
        source: int,
        target: int,
        size: int,
        size_per_send: int = 16,
        words_per_send: int = 1,
    ) -> bool:
        """Send bytes in packets and tell nobody."""
        return self._send_all(source, target, size, size_per_send, words_per_send)

    eth_send_bytes_over_channel_payload_only_unsafe = eth_send_bytes_over_channel_payload_only

    @kernel_call(waits=True)
    def eth_send_bytes_over_channel_payload_only_unsafe_one_packet(
        self, source: int, target: int, size: int
    ) -> bool:
        """Send bytes in one packet and tell nobody."""
        return self._send(source, target, size)

    @kernel_call(waits=True)
    def eth_send_bytes_over_channel(
        self,
        source: int,
        target: int,
        size: int,
        channel: int,
        size_per_send: int = 16,
        words_per_send: int = 1,
    ) -> bool:
        """Send bytes in packets, and tell the other end how many under a number."""
        if not self._send_all(source, target, size, size_per_send, words_per_send):
            return False
        return self.eth_send_payload_complete_signal_over_channel(channel, size)

    _sent = 0
    """Bytes that a call has sent before it gave way."""

    def _send_all(
        self, source: int, target: int, size: int, size_per_send: int, words_per_send: int
    ) -> bool:
        if size_per_send < 1 or words_per_send * _UNIT < min(size_per_send, size):
            raise self.thread.error(
                f"sends of {words_per_send} words of {_UNIT} bytes every {size_per_send} bytes "
                "leave bytes out",
                rule="arguments",
            )
        while self._sent < size:
            if not self._send(source + self._sent, target + self._sent, words_per_send * _UNIT):
                return False
            self._sent += size_per_send
        self._sent = 0
        return True

    @kernel_call(waits=True)
    def eth_txq_is_busy(self, queue: int = 0) -> bool:
        """Wait until the queue takes a packet at once: then it is not busy."""
        if self.timed:
            self.thread.wait_until(int(self._link()[2].free), "eth_txq_is_busy")
        return True

    # What the two ends tell each other.

    def _load(self, core: EthernetCore, address: int) -> int:
        return int.from_bytes(core.l1.read(address, _WORD), "little")

    def _store(self, core: EthernetCore, address: int, value: int) -> None:
        core.l1.write(address, (value & 0xFFFF_FFFF).to_bytes(_WORD, "little"))

    def _tell(self, channel: int, count: int, acknowledged: int) -> None:
        """Set the words of a number at both ends; the other one sees them when they arrive."""
        core, other, lane = self._link()
        for each in (core, other):
            address = each.sync_word(channel)
            self._store(each, address + _ACK, acknowledged)
            self._store(each, address, count)
        if self.timed:
            self.thread.wait_until(int(lane.free), "eth_txq_is_busy")
            _, arrived = lane.send(self.thread.clock, _UNIT)
            other.semaphore_times[other.sync_word(channel)] = arrived
        if isinstance(self.watch, Sanitizer):
            self.watch.release_copies(self.thread, LINK, self._key(other, channel))
        self.scheduler.progress += 1

    def _key(self, core: EthernetCore, channel: int) -> Hashable:
        return "link", core, channel

    def _wait_word(self, channel: int, offset: int, value: int, what: str) -> bool:
        """Wait until the other end has set a word to a value."""
        core = self._link()[0]
        address = core.sync_word(channel) + offset
        if self._load(core, address) != value:
            core.l1.waiters.setdefault(address, []).append(self.thread)
            self.thread.wait(_WaitForLink(core, address, what), value)
            return False
        if self.timed:
            time = core.semaphore_times.get(core.sync_word(channel), 0)
            self.thread.wait_until(time, what)
        if self.watch is not None:
            self.watch.acquire(self.thread, self._key(core, channel))
            self.watch.copies_done(self.thread, LINK, "write")
        return True

    @kernel_call(waits=True)
    def eth_send_payload_complete_signal_over_channel(self, channel: int, size: int) -> bool:
        """Tell the other end under a number how many bytes were sent."""
        if self.thread.clock > self.scheduler.horizon:
            return False
        self._tell(channel, size, 0)
        return True

    @kernel_call(waits=True)
    def eth_wait_for_bytes(self, size: int, wait_min: int = 0) -> bool:
        """Wait until so many bytes were sent, and their sender waits for the receiver."""
        return self._wait_word(0, 0, size, "eth_wait_for_bytes")

    @kernel_call(waits=True)
    def eth_wait_for_bytes_on_channel(self, size: int, channel: int, wait_min: int = 0) -> bool:
        """Wait until so many bytes were sent under a number."""
        return self._wait_word(channel, 0, size, "eth_wait_for_bytes")

    @kernel_call(waits=True)
    def eth_wait_for_receiver_done(self, wait_min: int = 0) -> bool:
        """Tell the other end how many bytes were sent, and wait until it has taken them."""
        if not self._signalled:
            if self.thread.clock > self.scheduler.horizon:
                return False
            core = self._link()[0]
            self._tell(0, self._load(core, core.sync_word(0)), 0)
            self._signalled = True
        if not self._wait_word(0, 0, 0, "eth_wait_for_receiver_done"):
            return False
        self._signalled = False
        return True

    @kernel_call(waits=True)
    def eth_wait_receiver_done(self, wait_min: int = 0) -> bool:
        """Wait until the other end has taken what was sent."""
        return self._wait_word(0, 0, 0, "eth_wait_for_receiver_done")

    @kernel_call(waits=True)
    def eth_wait_for_receiver_channel_done(self, channel: int) -> bool:
        """Wait until the other end has taken what was sent under a number."""
        return self._wait_word(channel, 0, 0, "eth_wait_for_receiver_done")

    @kernel_call(waits=True)
    def eth_receiver_done(self) -> bool:
        """Tell the sender that its bytes were taken."""
        return self.eth_receiver_channel_done(0)

    @kernel_call(waits=True)
    def eth_receiver_channel_done(self, channel: int) -> bool:
        """Tell the sender that its bytes under a number were taken."""
        if self.thread.clock > self.scheduler.horizon:
            return False
        self._tell(channel, 0, 0)
        return True

    @kernel_call(waits=True)
    def eth_receiver_acknowledge(self, channel: int = 0) -> bool:
        """Tell the sender that the receiver is there."""
        if self.thread.clock > self.scheduler.horizon:
            return False
        self._tell(channel, 1, 0)
        return True

    @kernel_call(waits=True)
    def eth_wait_receiver_acknowledge(self, channel: int = 0) -> bool:
        """Wait until the receiver has said that it is there."""
        return self._wait_word(channel, 0, 1, "eth_wait_receiver_acknowledge")

    @kernel_call(waits=True)
    def eth_noc_semaphore_wait(self, address: int, value: int, wait_min: int = 0) -> bool:
        """Wait until the word of a semaphore equals a value."""
        return self.noc_semaphore_wait(address, value)

    @kernel_call(waits=True)
    def eth_noc_semaphore_wait_min(self, address: int, value: int, wait_min: int = 0) -> bool:
        """Wait until the word of a semaphore is at least a value."""
        return self.noc_semaphore_wait_min(address, value)

    @kernel_call(waits=True)
    def eth_noc_async_read_barrier(self) -> bool:
        """Wait until all reads have arrived."""
        return self.noc_async_read_barrier()

    @kernel_call(waits=True)
    def eth_noc_async_write_barrier(self) -> bool:
        """Wait until all writes have arrived and are acknowledged."""
        return self.noc_async_write_barrier()

    @kernel_call()
    def run_routing(self) -> None:
        """Let firmware have a turn, which there is none of."""


class _WaitForLink(WaitReason):
    """A word that the other end of a link sets."""

    def __init__(self, core: EthernetCore, address: int, kind: str) -> None:
        self.kind = kind
        self._core = core
        self._address = address

    def describe(self, thread: RunningThread) -> tuple[str, ...]:
        """What has to happen, and how far it is."""
        value = int.from_bytes(self._core.l1.read(self._address, _WORD), "little")
        asked = f"the other end of its link, in {self.kind}: bytes sent to be {thread.wanted}; "
        told = "; those of eth_send_bytes are told by eth_wait_for_receiver_done of the sender"
        is_untold = self.kind == "eth_wait_for_bytes" and not value
        return (f"{asked}they are {value}{told * is_untold}",)
