"""Calls are recorded with their times, and come out as a trace that viewers can show."""

from __future__ import annotations

import json

from ttmlir.sim.timing.timeline import Interval, Timeline, Track, chrome_trace


class FakeThread:
    """A clock that calls advance."""

    def __init__(self) -> None:
        """A thread at the start of time."""
        self.clock = 0
        self.stalls: dict[str, int] = {}

    def stall(self, kind: str, cycles: int) -> None:
        """Lose time."""
        self.clock += cycles
        self.stalls[kind] = self.stalls.get(kind, 0) + cycles


class FakeApi:
    """A producer: blocks once in every `cb_reserve_back`, then works."""

    BLOCKING = frozenset({"cb_reserve_back"})

    def __init__(self, thread: FakeThread) -> None:
        """Calls that move the clock of a thread."""
        self.thread = thread
        self.refused = False
        self.my_x = [0, 0]

    def cb_reserve_back(self, cb: int, pages: int) -> bool:
        """False the first time."""
        self.refused = not self.refused
        if self.refused:
            return False
        self.thread.stall("cb_reserve_back", 30)
        return True

    def cb_push_back(self, cb: int, pages: int) -> None:
        """Costs a little."""
        self.thread.clock += 5

    def cb_pop_front(self, cb: int, pages: int) -> None:
        """Costs a little."""
        self.thread.clock += 5

    def pack_tile(self, tile: int, cb: int) -> None:
        """Works."""
        self.thread.clock += 45

    def get_arg_val(self, index: int) -> int:
        """Free, and not blocking."""
        return index + 1


def recorded() -> Timeline:
    """A core that makes two pages of two tiles and consumes one."""
    timeline = Timeline()
    thread = FakeThread()
    api = FakeApi(thread)
    timeline.watch(api, api.BLOCKING, thread, Track((3, 1), "PACK", "make"))
    assert api.get_arg_val(4) == 5
    for _ in range(2):
        while not api.cb_reserve_back(16, 1):
            pass
        api.pack_tile(0, 16)
        api.pack_tile(1, cb=16)
        api.cb_push_back(16, 1)
    api.cb_pop_front(16, 1)
    return timeline


def test_intervals_say_when_and_how_much_was_waiting() -> None:
    """A call that was made again is one call; calls of one name in a row are one interval."""
    (track,) = recorded().tracks
    assert track.intervals == [
        Interval("cb_reserve_back", 0, 30, 30),
        Interval("pack_tile", 30, 120, 0, calls=2),
        Interval("cb_push_back", 120, 125, 0),
        Interval("cb_reserve_back", 125, 155, 30),
        Interval("pack_tile", 155, 245, 0, calls=2),
        Interval("cb_push_back", 245, 250, 0),
        Interval("cb_pop_front", 250, 255, 0),
    ]
    assert track.calls == {
        "get_arg_val": 1,
        "cb_reserve_back": 2,
        "pack_tile": 4,
        "cb_push_back": 2,
        "cb_pop_front": 1,
    }
    assert recorded().end == 255


def test_values_of_the_library_stay_as_they_are() -> None:
    """Where a core is on the networks is an array, which nobody calls."""
    thread = FakeThread()
    api = FakeApi(thread)
    api.my_x = [7, 3]
    Timeline().watch(api, FakeApi.BLOCKING, thread, Track((0, 0), "BRISC", "reader"))
    assert api.my_x[1] == 3


def test_occupancy_of_circular_buffers() -> None:
    """Pages count from the end of the call that brings them to that of the one that frees them."""
    assert recorded().occupancy() == {((3, 1), 16): [(125, 1), (250, 2), (255, 1)]}


def test_trace_has_a_process_per_core_and_a_track_per_thread() -> None:
    """Times are microseconds: 45 cycles at 1.35 GHz are 1/30 of one."""
    trace = json.loads(chrome_trace([(recorded(), 0)], 1_350_000_000))
    events = trace["traceEvents"]
    assert [each["args"]["name"] for each in events if each["ph"] == "M"] == [
        "core (3, 1)",
        "PACK",
    ]
    packs = [each for each in events if each["name"] == "pack_tile"]
    assert [round(each["dur"] * 1350) for each in packs] == [90, 90]
    assert [round(each["ts"] * 1350) for each in packs] == [30, 155]
    assert {each["cat"] for each in packs} == {"work"}
    assert packs[0]["args"] == {"kernel": "make", "calls": 2, "cycles": 90, "waited": 0}
    waits = [each for each in events if each["name"] == "cb_reserve_back"]
    assert {each["cat"] for each in waits} == {"wait"}
    counters = [each for each in events if each["ph"] == "C"]
    assert [each["args"]["pages"] for each in counters] == [1, 2, 1]
    assert {(each["name"], each["pid"]) for each in counters} == {("CB 16", 1)}


def test_programs_follow_each_other() -> None:
    """The second program begins where its start says; both share their threads' tracks."""
    trace = json.loads(chrome_trace([(recorded(), 0), (recorded(), 1000)], 10**9))
    events = trace["traceEvents"]
    assert len([each for each in events if each["ph"] == "M"]) == 2
    packs = [each for each in events if each["name"] == "pack_tile"]
    assert [round(each["ts"] * 1000) for each in packs] == [30, 155, 1030, 1155]


def test_empty_timeline() -> None:
    """A program without kernels has an empty trace."""
    assert Timeline().end == 0
    assert json.loads(chrome_trace([(Timeline(), 0)], 10**9))["traceEvents"] == []
