"""A timeline as a file that chrome://tracing and ui.perfetto.dev show.

Every core is a process with a track for each of its threads, and a counter for each circular
buffer that says how many of its pages are filled. Source: "Trace Event Format", the JSON of
Chrome's trace viewer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from ttmlir.sim.timing.timeline import Timeline, Track

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
