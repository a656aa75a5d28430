"""Says what is wrong with an access that is not ordered, or that reads what nobody wrote."""

from __future__ import annotations

from dataclasses import replace

from ttmlir.sim.findings import Finding
from ttmlir.sim.sanitizer.actors import ProgramActors, ThreadState
from ttmlir.sim.sanitizer.shadow import Conflict, Unwritten
from ttmlir.sim.sanitizer.spaces import Space

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
