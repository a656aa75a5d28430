"""A timeline as a file that chrome://tracing and ui.perfetto.dev show.

Every core is a process with a track for each of its threads, and a counter for each circular
buffer that says how many of its pages are filled. Source: "Trace Event Format", the JSON of
Chrome's trace viewer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ttmlir.sim.timing.timeline import Timeline, Track

_ORDER = ("NCRISC", "UNPACK", "MATH", "PACK", "BRISC")
"""Tracks from top to bottom: the way of the data through a core."""


def chrome_trace(timeline: Timeline, clock_hz: int) -> str:
    """The JSON text of a trace; times become microseconds of a clock of `clock_hz`."""
    scale = 1e6 / clock_hz
    cores = sorted({track.core for track in timeline.tracks}, key=lambda core: (core[1], core[0]))
    processes = {core: number for number, core in enumerate(cores, 1)}
    events = [
        *(_process(core, number) for core, number in processes.items()),
        *(
            event
            for track in timeline.tracks
            for event in _track_events(track, processes[track.core], scale)
        ),
        *_counters(timeline, processes, scale),
    ]
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns"})


def _process(core: tuple[int, int], number: int) -> dict[str, Any]:
    name = f"core ({core[0]}, {core[1]})"
    return {"ph": "M", "name": "process_name", "pid": number, "args": {"name": name}}


def _track_events(track: Track, process: int, scale: float) -> Iterator[dict[str, Any]]:
    place = {"pid": process, "tid": _ORDER.index(track.role) + 1}
    label = f"{track.role} {track.kernel}"
    yield {"ph": "M", "name": "thread_name", **place, "args": {"name": label}}
    for each in track.intervals:
        length = each.end - each.start
        yield {
            "ph": "X",
            "name": each.name,
            "cat": "wait" if 2 * each.waited > length else "work",
            **place,
            "ts": each.start * scale,
            "dur": length * scale,
            "args": {"calls": each.calls, "cycles": length, "waited": each.waited},
        }


def _counters(
    timeline: Timeline, processes: dict[tuple[int, int], int], scale: float
) -> Iterator[dict[str, Any]]:
    for (core, cb), levels in timeline.occupancy().items():
        for time, pages in levels:
            yield {
                "ph": "C",
                "name": f"CB {cb}",
                "pid": processes[core],
                "ts": time * scale,
                "args": {"pages": pages},
            }
