"""What the header of remote circular buffers is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

from ttmlir.sim.calls.kernel_api import kernel_call
from ttmlir.sim.calls.socket_api import SocketCalls
from ttmlir.sim.errors import Finding, SimError
from ttmlir.sim.machine.memory import CircularBuffer
from ttmlir.sim.machine.remote_buffers import POINTER, UNIT, RemotePeer, RemoteView
from ttmlir.sim.protocols import RunningThread, WaitReason
from ttmlir.sim.sanitizer.sanitizer import Sanitizer

_WORD = 4


class RemoteBufferCalls(SocketCalls):
    """Calls with remote circular buffers; of compute kernels UNPACK alone makes them."""

    @cached_property
    def _views(self) -> dict[int, RemoteView]:
        """The ends as this processor sees them, by the index of the circular buffer."""
        return {}

    def leftovers(self) -> Iterator[Finding]:
        """The same of ends of global circular buffers, too."""
        yield from super().leftovers()
        for cb, view in sorted(self._views.items()):
            end, peer = view.end, view.end.peers[0]
            units = end.word(peer.sent) - end.word(peer.acked)
            if not end.is_sender and units > 0:
                yield self._left_over(f"circular buffer {cb}", units * UNIT, "cb-not-empty")

    def view_of(self, cb: int) -> RemoteView:
        """An end as this processor sees it; error for a circular buffer that is none."""
        view = self._views.get(cb)
        if view is not None:
            return view
        given = self.core.remote_cbs.get(cb)
        if given is None:
            there = ", ".join(
                f"{index} ({each.end.kind})" for index, each in self.core.remote_cbs.items()
            )
            raise self._misuse(
                f"circular buffer {cb} is no end of a global circular buffer on this core; those "
                f"are {there or 'none'}"
            )
        if not given.end.is_consistent():
            raise self._misuse(
                f"circular buffer {cb} goes on where it was before the last program, in which "
                "pages were moved; call update_remote_cb_config_in_l1() at the end of the kernel"
            )
        view = self._views[cb] = replace(given)
        return view

    def _misuse(self, message: str, *detail: str) -> SimError:
        return self.thread.error(message, rule="remote-cb", detail=detail)

    @kernel_call()
    def remote_buffer_peers(self, cb: int) -> int:
        """How many cores are at the other end."""
        return len(self.view_of(cb).end.peers)

    @kernel_call()
    def remote_buffer_resize(self, cb: int, page_size: int, is_sender: bool) -> int:
        """Have pages of another size: how many units are skipped."""
        view = self.view_of(cb)
        self._check_end(cb, view, is_sender)
        try:
            return view.resize(page_size)
        except SimError as error:
            raise self._misuse(error.message) from error

    def _check_end(self, cb: int, view: RemoteView, is_sender: bool) -> None:
        if view.end.is_sender != is_sender:
            wanted = "sends" if is_sender else "receives"
            raise self._misuse(
                f"this core is a {view.end.kind} of circular buffer {cb}; the call is for a core "
                f"that {wanted}"
            )

    @kernel_call()
    def remote_buffer_units(self, cb: int, pages: int, is_sender: bool) -> int:
        """What so many pages take, from where the end is."""
        view = self.view_of(cb)
        self._check_end(cb, view, is_sender)
        if pages * view.page_size > view.whole:
            raise self._misuse(
                f"{pages} pages of {view.page_size} bytes; circular buffer {cb} has "
                f"{view.whole // view.page_size}"
            )
        return view.units(pages)

    @kernel_call()
    def remote_buffer_check_write(self, cb: int, pages: int, size: int) -> None:
        """Find pages that are not written whole, and those beyond the end."""
        view = self.view_of(cb)
        if size != pages * view.page_size:
            raise self._misuse(
                f"{size} bytes are written for {pages} pages of {view.page_size} bytes of circular "
                f"buffer {cb}; rows x pages of a row x their size is what a receiver gets"
            )
        if view.pointer + size > view.limit:
            raise self._misuse(
                f"{pages} pages run over the end of circular buffer {cb}, where "
                f"{(view.limit - view.pointer) // view.page_size} are left; use a number of pages "
                "that divides that of the circular buffer"
            )
        for peer in view.end.peers:
            self._check_room(cb, view, peer, view.units(pages))

    def _check_room(self, cb: int, view: RemoteView, peer: RemotePeer, units: int) -> None:
        end = view.end
        used = end.word(peer.sent) - end.word(peer.acked) + units
        if used * UNIT > end.size:
            raise self.thread.error(
                f"{used * UNIT} bytes are on the way to {peer.name}, where circular buffer {cb} "
                f"has {end.size}; call remote_cb_reserve_back() before pages are written",
                rule="remote-cb-overrun",
            )

    @kernel_call()
    def remote_buffer_check_pop(self, cb: int, units: int) -> None:
        """Find pages that are given back before they have come."""
        end = self.view_of(cb).end
        peer = end.peers[0]
        sent, acked = end.word(peer.sent), end.word(peer.acked)
        if acked + units > sent:
            raise self.thread.error(
                f"{units * UNIT} bytes of circular buffer {cb} are popped, but "
                f"{(sent - acked) * UNIT} have come; call remote_cb_wait_front() first",
                rule="remote-cb-overrun",
            )

    @kernel_call()
    def remote_buffer_move(self, cb: int, pages: int) -> None:
        """Go on by so many pages."""
        self.view_of(cb).move(pages)

    @kernel_call()
    def remote_buffer_commit(self, cb: int) -> None:
        """Write back where the end is, for the next program."""
        view = self.view_of(cb)
        address = view.end.config + POINTER
        if isinstance(self.watch, Sanitizer):
            self.watch.write(self.l1, address, _WORD, self.thread)
        self.l1.write(address, view.pointer.to_bytes(_WORD, "little"))

    @kernel_call(waits=True)
    def remote_buffer_wait(self, cb: int, number: int, units: int) -> bool:
        """Wait for room for so many units, or for so many that were sent."""
        end = self.view_of(cb).end
        peer = end.peers[number]
        if end.is_sender:
            wanted = end.word(peer.sent) + units - end.size // UNIT
            return wanted <= 0 or self._wait_for(cb, peer, peer.acked, wanted)
        return self._wait_for(cb, peer, peer.sent, end.word(peer.acked) + units)

    @kernel_call(waits=True)
    def remote_buffer_wait_empty(self, cb: int, number: int) -> bool:
        """Wait until a receiver has given all back."""
        end = self.view_of(cb).end
        peer = end.peers[number]
        return self._wait_for(cb, peer, peer.acked, end.word(peer.sent))

    def _wait_for(self, cb: int, peer: RemotePeer, address: int, wanted: int) -> bool:
        if self._is_there(address, wanted, "remote_cb_wait"):
            return True
        self.l1.waiters.setdefault(address, []).append(self.thread)
        self.thread.wait(_WaitForPeer(cb, self.view_of(cb), peer, address), wanted)
        return False

    @kernel_call()
    def remote_buffer_align(self, cb: int, local: int) -> None:
        """Have a local circular buffer of the same bytes begin where the next page is."""
        align(self.cbs[local], self.view_of(cb))


def align(buffer: CircularBuffer, view: RemoteView) -> None:
    """Have a circular buffer of the same bytes begin where the next page of an end is."""
    if view.whole % buffer.page_size:
        raise SimError(
            f"circular buffer {buffer.index} has pages of {buffer.page_size} bytes, which do not "
            f"fill the {view.whole} of the global circular buffer",
            rule="remote-cb",
        )
    buffer.take_place(view.end.start, view.whole, view.pointer)


class _WaitForPeer(WaitReason):
    """A word that the other end of a global circular buffer counts in."""

    kind = "remote_cb_wait"

    def __init__(self, cb: int, view: RemoteView, peer: RemotePeer, address: int) -> None:
        self._cb = cb
        self._view = view
        self._peer = peer
        self._address = address

    def describe(self, thread: RunningThread) -> tuple[str, ...]:
        """How many bytes are missing."""
        end = self._view.end
        missing = (thread.wanted - end.word(self._address)) * UNIT
        if end.is_sender:
            return (
                f"{missing} bytes that {self._peer.name} gives back of circular buffer {self._cb}",
            )
        return (f"{missing} bytes that {self._peer.name} sends to circular buffer {self._cb}",)
