"""What each thread of a program did when: recorded only where somebody asks for it.

`Timeline.watch` puts itself between a kernel and its calls before the kernel starts, so that a
program that nobody watches pays nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ttmlir.optable.kernel import ALL_CALLS, Form

_NAMES = sorted({definition.cpp for definition in ALL_CALLS if definition.form is not Form.ELEMENT})
_FLOW = {"cb_push_back": 1, "cb_pop_front": -1}
"""Calls that change how many pages of a circular buffer are filled, and in which direction."""


class Clock(Protocol):
    """What a timeline reads of a thread while it runs."""

    clock: int
    stalls: dict[str, int]


@dataclass(slots=True)
class Interval:
    """Calls of one name that a thread made one after the other, in cycles."""

    name: str
    start: int
    end: int
    waited: int
    """Cycles of these in which the thread could not go on."""
    calls: int = 1


@dataclass
class Track:
    """The calls of one thread."""

    core: tuple[int, int]
    """Logical (x, y)."""
    role: str
    kernel: str
    intervals: list[Interval] = field(default_factory=list[Interval])
    """In the order of time, without those that took none."""
    calls: dict[str, int] = field(default_factory=dict[str, int])
    """How often each call was made."""

    def add(self, name: str, start: int, end: int, waited: int) -> None:
        """Note a call; it joins the interval before it if that is one of the same name."""
        self.calls[name] = self.calls.get(name, 0) + 1
        if end <= start:
            return
        last = self.intervals[-1] if self.intervals else None
        if last is not None and last.name == name and last.end == start:
            last.end = end
            last.waited += waited
            last.calls += 1
        else:
            self.intervals.append(Interval(name, start, end, waited))


class Timeline:
    """The tracks of all threads of a program, and how full the circular buffers were."""

    def __init__(self) -> None:
        """A recording of nothing yet."""
        self.tracks: list[Track] = []
        self._flows: dict[tuple[tuple[int, int], int], list[tuple[int, int]]] = {}

    @property
    def end(self) -> int:
        """The time at which the last thread ended its last call."""
        return max((track.intervals[-1].end for track in self.tracks if track.intervals), default=0)

    def watch(self, api: object, blocking: Iterable[str], thread: Clock, track: Track) -> None:
        """Record the calls of a kernel from now on; the kernel must not have looked them up yet.

        `api` has the calls as methods; those in `blocking` return False to be called again.
        """
        self.tracks.append(track)
        again = frozenset(blocking)
        for name in _NAMES:
            method = getattr(api, name, None)
            if method is None:
                continue
            if name in _FLOW:
                method = self._counted(method, track.core, thread, _FLOW[name])
            wrapper = _blocking if name in again else _plain
            setattr(api, name, wrapper(name, method, thread, track))

    def occupancy(self) -> Mapping[tuple[tuple[int, int], int], list[tuple[int, int]]]:
        """For each core and circular buffer: times, and how many pages are filled from then on."""
        return {key: _levels(self._flows[key]) for key in sorted(self._flows)}

    def _counted(
        self, method: Callable[..., Any], core: tuple[int, int], thread: Clock, direction: int
    ) -> Callable[..., Any]:
        flows = self._flows

        def counted(cb: int, pages: int) -> Any:
            result = method(cb, pages)
            flows.setdefault((core, cb), []).append((thread.clock, direction * pages))
            return result

        return counted


def _levels(flow: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Changes summed up, in the order of time; what comes at one time comes before what goes."""
    levels: list[tuple[int, int]] = []
    filled = 0
    for time, change in sorted(flow, key=lambda each: (each[0], -each[1])):
        filled += change
        if levels and levels[-1][0] == time:
            levels.pop()
        levels.append((time, filled))
    return levels


def _plain(
    name: str, method: Callable[..., Any], thread: Clock, track: Track
) -> Callable[..., Any]:
    def recorded(*arguments: Any, **keywords: Any) -> Any:
        start, stalled = thread.clock, sum(thread.stalls.values())
        result = method(*arguments, **keywords)
        track.add(name, start, thread.clock, sum(thread.stalls.values()) - stalled)
        return result

    return recorded


def _blocking(
    name: str, method: Callable[..., bool], thread: Clock, track: Track
) -> Callable[..., bool]:
    """A call is made again while it returns False; it began with the first of these."""
    began: tuple[int, int] | None = None

    def recorded(*arguments: Any, **keywords: Any) -> bool:
        nonlocal began
        if began is None:
            began = thread.clock, sum(thread.stalls.values())
        if not method(*arguments, **keywords):
            return False
        start, stalled = began
        began = None
        track.add(name, start, thread.clock, sum(thread.stalls.values()) - stalled)
        return True

    return recorded


# --- Trace ----------------------------------------------------------------------------------------
# A timeline as a file that chrome://tracing and ui.perfetto.dev show.
#
# Every core is a process with a track for each of its threads, and a counter for each circular
# buffer that says how many of its pages are filled. Source: "Trace Event Format", the JSON of
# Chrome's trace viewer.

_ORDER = ("NCRISC", "UNPACK", "MATH", "PACK", "BRISC")
"""Tracks from top to bottom: the way of the data through a core."""


def chrome_trace(timelines: Iterable[tuple[Timeline, int]], clock_hz: int) -> str:
    """The JSON text of a trace of programs, each with the cycle that it begins at.

    Times become microseconds of a clock of `clock_hz`. A thread has one track for all programs.
    """
    recorded = list(timelines)
    scale = 1e6 / clock_hz
    found = {track.core for timeline, _ in recorded for track in timeline.tracks}
    cores = sorted(found, key=lambda core: (core[1], core[0]))
    processes = {core: number for number, core in enumerate(cores, 1)}
    events = [_process(core, number) for core, number in processes.items()]
    named: set[tuple[int, str]] = set()
    for timeline, start in recorded:
        for track in timeline.tracks:
            process = processes[track.core]
            if (process, track.role) not in named:
                named.add((process, track.role))
                events.append(_thread(track, process))
            events += _track_events(track, process, start, scale)
        events += _counters(timeline, processes, start, scale)
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns"})


def _process(core: tuple[int, int], number: int) -> dict[str, Any]:
    name = f"core ({core[0]}, {core[1]})"
    return {"ph": "M", "name": "process_name", "pid": number, "args": {"name": name}}


def _place(track: Track, process: int) -> dict[str, Any]:
    return {"pid": process, "tid": _ORDER.index(track.role) + 1}


def _thread(track: Track, process: int) -> dict[str, Any]:
    name = {"name": track.role}
    return {"ph": "M", "name": "thread_name", **_place(track, process), "args": name}


def _track_events(track: Track, process: int, start: int, scale: float) -> Iterator[dict[str, Any]]:
    place = _place(track, process)
    for each in track.intervals:
        length = each.end - each.start
        yield {
            "ph": "X",
            "name": each.name,
            "cat": "wait" if 2 * each.waited > length else "work",
            **place,
            "ts": (start + each.start) * scale,
            "dur": length * scale,
            "args": {
                "kernel": track.kernel,
                "calls": each.calls,
                "cycles": length,
                "waited": each.waited,
            },
        }


def _counters(
    timeline: Timeline, processes: dict[tuple[int, int], int], start: int, scale: float
) -> Iterator[dict[str, Any]]:
    for (core, cb), levels in timeline.occupancy().items():
        for time, pages in levels:
            yield {
                "ph": "C",
                "name": f"CB {cb}",
                "pid": processes[core],
                "ts": (start + time) * scale,
                "args": {"pages": pages},
            }
