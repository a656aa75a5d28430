"""Says what is wrong with an access: not ordered, not written, or not in a buffer."""

from __future__ import annotations

from dataclasses import replace

from ttmlir.sim.findings import Finding
from ttmlir.sim.sanitizer.actors import ProgramActors, ThreadState
from ttmlir.sim.sanitizer.semaphores import SLOT
from ttmlir.sim.sanitizer.shadow import Conflict, Mark, Unwritten
from ttmlir.sim.sanitizer.spaces import Space
from ttmlir.sim.sanitizer.vector_clock import Actor

ORDER_BY = (
    "hand the bytes over through a circular buffer (cb_push_back, cb_wait_front) or a semaphore "
    "(noc_semaphore_inc or _set, noc_semaphore_wait)"
)


def unwritten(mine: ThreadState, space: Space, missing: Unwritten, reader: str) -> Finding:
    """The finding about bytes that nobody wrote."""
    finding = mine.thread.finding(
        f"{reader} {_bytes(missing.start, missing.end)} of {space.name}, which nobody has written; "
        "write them first, or check the address",
        rule="uninitialised-read",
        detail=_buffers(space, missing.start, missing.end),
    )
    return finding


def overrunning(
    mine: ThreadState, space: Space, address: int, end: int, buffer: tuple[int, int], verb: str
) -> Finding:
    """The finding about bytes behind the end of the buffer that the first of them is in."""
    start, stop = buffer
    return mine.thread.finding(
        f"{verb} {_bytes(address, end)} of {space.name}, {end - stop} of them behind the end of "
        f"the buffer at {start:#x}, which has {stop - start} bytes there; other buffers may lie "
        "behind it: check the address and the size",
        rule="out-of-bounds",
    )


def overlapping(mine: ThreadState, space: Space, address: int, end: int) -> Finding:
    """The finding about a copy to a semaphore that reaches over the next ones."""
    return mine.thread.finding(
        f"copies to {_bytes(address, end)} of {space.name}, over a semaphore and what lies behind "
        f"it; a semaphore has 4 bytes, and the next one begins {SLOT} bytes behind it",
        rule="out-of-bounds",
    )


def unallocated(mine: ThreadState, space: Space, address: int, end: int, verb: str) -> Finding:
    """The finding about bytes that nobody was given."""
    given = "buffer, circular buffer or semaphore" if space.is_core else "buffer"
    return mine.thread.finding(
        f"{verb} {_bytes(address, end)} of {space.name}, which belong to no {given}; check the "
        "address, or create a buffer for them",
        rule="unallocated-write",
    )


def undoing(
    program: ProgramActors, mine: ThreadState, space: Space, address: int, actor: Actor, mark: Mark
) -> Finding:
    """The finding about two changes of a semaphore that are not ordered."""
    other, _ = program.owner(actor)
    name = other.thread.name
    finding = mine.thread.finding(
        f"changes the semaphore at {address:#x} in {space.name}, which {name} changes at any time: "
        "one may undo the other; set a semaphore before the message that lets others change it, "
        "or after a wait for all their changes",
        rule="semaphore-race",
    )
    return replace(finding, related=(other.note(mark, f"{name} changes it here"),))


def conflicting(
    program: ProgramActors, mine: ThreadState, space: Space, conflict: Conflict, writer: str
) -> Finding:
    """The finding about two accesses that are not ordered; `writer` says what this one does."""
    other, kind = program.owner(conflict.actor)
    where = f"{_bytes(conflict.start, conflict.end)} of {space.name}"
    rule, text, note = "race", "", ""
    if other is mine:
        rule, text, note = _own_copy(kind, conflict.writes)
        message = f"{writer} {where}, {text}"
    else:
        verb = "writes" if conflict.writes else "reads"
        busy = kind != "thread" and conflict.actor.time == conflict.time
        message = (
            f"race: {writer} {where}, which {other.thread.name} {verb} at any time: nothing orders "
            f"the two accesses; {ORDER_BY}"
        )
        note = f"{other.thread.name} {verb} them here"
        if busy:
            note += f", by a noc_async_{kind} that it does not wait for"
    finding = mine.thread.finding(
        message, rule=rule, detail=_buffers(space, conflict.start, conflict.end)
    )
    return replace(finding, related=(other.note(conflict.mark, note),))


def _own_copy(kind: str, writes: bool) -> tuple[str, str, str]:
    """Rule, message and note for a conflict with a copy that the same thread has started."""
    started = f"the {kind} was started here"
    match kind, writes:
        case "read", True:
            return (
                "read-before-barrier",
                "which a noc_async_read still brings; call noc_async_read_barrier() before",
                started,
            )
        case "read", False:
            return (
                "reuse-before-barrier",
                "which a noc_async_read still takes; call noc_async_read_barrier() before",
                started,
            )
        case _, True:
            return (
                "write-before-barrier",
                "which a noc_async_write still changes; call noc_async_write_barrier() before",
                started,
            )
        case _:
            return (
                "reuse-before-barrier",
                "which a noc_async_write still sends; call noc_async_writes_flushed() or "
                "noc_async_write_barrier() before",
                started,
            )


def _bytes(start: int, end: int) -> str:
    return f"bytes {start:#x} to {end:#x}"


def _buffers(space: Space, start: int, end: int) -> tuple[str, ...]:
    """The circular buffers that bytes belong to, in words."""
    return tuple(state.describe() for state in space.buffers(start, end))
