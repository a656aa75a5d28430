"""What happened before what: vector clocks over the threads of a program and their copies.

Everything that accesses memory is an actor with a time of its own. A thread is an actor that knows,
of every actor, up to which time its accesses are over. Two accesses are ordered if the later actor
knows the time of the earlier one; otherwise they are a race, whatever the order was in which this
run made them. Threads learn from each other through sync points: a semaphore, the pages of a
circular buffer.

Bytes of an asynchronous copy move at some time between the call and the barrier. The copy is
therefore the access of another actor, an agent: it knows what its thread knows, and the thread
knows of its time only after the barrier.

Source: Flanagan, Freund, "FastTrack: efficient and precise dynamic race detection", PLDI 2009.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.int64]

_STEP = 16
"""Actors that clocks have room for at first; the room doubles when it is used up."""


class VectorClock:
    """A time for every actor; `view` holds the same numbers as `times`, for reading single ones.

    What it knows of actors of the running program lies in `part`, the times from `start` up to
    `end`: threads of one core, which have neighbouring places, need not look at those of others.
    """

    __slots__ = ("end", "part", "start", "times", "view")

    def __init__(self, times: Times) -> None:
        """Keep the array, which nobody else may write, and know of no actor of the program."""
        self.start = self.end = 0
        self.set_times(times)

    def set_times(self, times: Times) -> None:
        """Replace the array, for instance by a longer one."""
        self.times = times
        self.view: memoryview[int] = times.data
        self.part = times[self.start : self.end]

    def reach(self, start: int, end: int) -> None:
        """Have the places from `start` up to `end` in the part that is looked at."""
        if self.start < self.end:
            start, end = min(start, self.start), max(end, self.end)
        self.start, self.end = start, end
        self.part = self.times[start:end]

    def copy(self) -> VectorClock:
        """A clock that knows the same."""
        clock = VectorClock(self.times.copy())
        clock.reach(self.start, self.end)
        return clock

    def learn(self, start: int, end: int, part: Times) -> None:
        """Know what a clock knows that has this part."""
        own = self.part
        if start != self.start or end != self.end:
            if start < self.start or end > self.end:
                self.reach(start, end)
            own = self.times[start:end]
        np.maximum(own, part, out=own)

    def learn_of(self, index: int, time: int) -> None:
        """Know of one actor up to a time."""
        if not self.start <= index < self.end:
            self.reach(index, index + 1)
        if self.view[index] < time:
            self.view[index] = time


class Actor:
    """Something that accesses memory: a thread, or an agent that copies for it.

    `index` is its place in vector clocks, `time` its own, `knows` the clock of its thread.
    `in_order` says that accesses of this actor to one place take effect in the order of the calls.
    """

    __slots__ = ("in_order", "index", "knows", "time")

    def __init__(self, index: int, time: int, knows: VectorClock, in_order: bool) -> None:
        """An actor that has done nothing yet."""
        self.index = index
        self.time: int = time
        self.knows = knows
        self.in_order = in_order

    def sees(self, other: Actor, time: int) -> bool:
        """True if what the other did at that time is over before this actor's next access."""
        return self.knows.view[other.index] >= time or (other is self and self.in_order)


class Agent(Actor):
    """An actor that copies for a thread; busy from the first copy until its thread has waited."""

    __slots__ = ("_thread", "busy", "flushed", "last")

    def __init__(self, index: int, time: int, thread: Thread, in_order: bool) -> None:
        """An agent without copies under way."""
        super().__init__(index, time, thread.knows, in_order)
        thread.knows.reach(index, index + 1)
        self._thread = thread
        self.busy = False
        self.flushed = time - 1
        self.last = time - 1
        """When it last started a copy."""

    def finish(self) -> None:
        """The thread has waited for all copies."""
        self.knows.view[self.index] = self.time
        self._thread.lessons += 1
        self.time += 1
        self.busy = False

    def flush(self) -> None:
        """The copies so far have left: what is sent from now on arrives behind them."""
        self.flushed = self.time
        self.time += 1


class Thread(Actor):
    """An actor with a vector clock of its own; `lessons` counts how often it learnt of others."""

    __slots__ = ("_news", "_told", "learnt", "lessons", "places")

    def __init__(self, index: int, time: int, knows: VectorClock, places: range) -> None:
        """A thread that knows what its clock says; `places` are kept for its agents."""
        super().__init__(index, time, knows, in_order=True)
        self.lessons = 0
        self.learnt: News | None = None
        """What it learnt last, which brings nothing new a second time."""
        self._news: News = (0, 0, knows.part)
        self._told = -1
        """Its lessons when it told `_news`."""
        self.places = places
        knows.reach(index, max(places.stop, index + 1))
        knows.view[index] = time

    def advance(self) -> None:
        """Go on to the next time: what comes from now on is not told yet."""
        self.time += 1
        self.knows.view[self.index] = self.time

    def tell(self) -> News:
        """What it has learnt of others, and of itself up to some earlier time."""
        if self._told != self.lessons:
            knows = self.knows
            self._news = knows.start, knows.end, knows.part.copy()
            self._told = self.lessons
        return self._news

    def release(self, point: VectorClock) -> None:
        """Let those who acquire the point know all that this thread did and knows."""
        known = self.knows
        point.learn(known.start, known.end, known.part)
        self.advance()

    def release_behind(self, point: VectorClock, agent: Agent) -> None:
        """Release a point by a message behind which the copies of an agent are over."""
        point.learn_of(agent.index, agent.time)
        agent.time += 1

    def release_flushed(self, point: VectorClock, agent: Agent) -> None:
        """Release a point by a message that only overtakes what has not left."""
        point.learn_of(agent.index, agent.flushed)

    def acquire(self, point: VectorClock) -> None:
        """Know what those knew who released the point."""
        self.knows.learn(point.start, point.end, point.part)
        self.lessons += 1


News = tuple[int, int, Times]
"""What a clock knew: start, end and part."""


class HandOver:
    """A queue from one thread to one other: whoever takes an entry knows what its giver knew.

    Unlike a sync point it does not tell what the giver does ahead of the taker. Entries may be
    counted: pages of a circular buffer, for instance.
    """

    __slots__ = ("_entries", "_put", "_taken", "_told")

    def __init__(self) -> None:
        """An empty queue."""
        self._entries: deque[tuple[int, Thread, int, News | None]] = deque()
        self._told = -1
        """Lessons of the giver when its whole clock was last put into an entry."""
        self._put = 0
        self._taken = 0
        """The sums of what was put and taken."""

    def put(self, giver: Thread, count: int = 1) -> None:
        """Tell what the giver did and knows."""
        news = None
        if giver.lessons != self._told:
            news = giver.tell()
            self._told = giver.lessons
        self._put += count
        time = giver.time
        self._entries.append((self._put, giver, time, news))
        giver.time = giver.knows.view[giver.index] = time + 1  # As `advance` does.

    def take(self, taker: Thread) -> None:
        """Know what the first entry tells, if there is one."""
        if not self._entries:
            return
        self._taken, giver, time, news = self._entries.popleft()
        knows = taker.knows
        if news is not None and news is not taker.learnt:
            knows.learn(*news)
            taker.learnt = news
        index = giver.index
        if knows.start <= index < knows.end:
            if knows.view[index] < time:
                knows.view[index] = time
        else:
            knows.learn_of(index, time)
        taker.lessons += 1

    def is_known(self, taker: Thread, count: int) -> bool:
        """Whether something else told the taker of the entries until the sum reached `count`."""
        known = self._taken
        for total, giver, time, _ in self._entries:
            if known >= count or taker.knows.view[giver.index] < time:
                break
            known = total
        return known >= count

    def take_until(self, taker: Thread, count: int) -> None:
        """Know what the entries tell that were put until the sum reached `count`."""
        while self._taken < count and self._entries:
            self.take(taker)


class Timeline:
    """The actors of one program after the other: each program knows all that was before it.

    Actors may join while the program runs; its clocks grow with them.
    """

    def __init__(self) -> None:
        """No program has run."""
        self._past: Times = np.zeros(_STEP, np.int64)
        self._actors: list[Actor] = []
        self._clocks: list[VectorClock] = []
        self._places = 0
        """How many places of clocks are taken."""

    def begin(self) -> None:
        """Start a program; what was before is over for all its actors."""
        for actor in self._actors:
            self._past[actor.index] = actor.time
        self._actors = []
        self._clocks = []
        self._places = 0

    def clock(self) -> VectorClock:
        """A clock that knows the programs before this one."""
        clock = VectorClock(self._past.copy())
        self._clocks.append(clock)
        return clock

    def thread(self, room: int = 0) -> Thread:
        """One more actor, with a clock of its own, and places beside it for so many agents."""
        index = self._take_places(1 + room)
        places = range(index + 1, index + 1 + room)
        thread = Thread(index, int(self._past[index]) + 1, self.clock(), places)
        self._actors.append(thread)
        return thread

    def agent(self, thread: Thread, *, in_order: bool = False) -> Agent:
        """One more actor, which copies for the thread."""
        if thread.places:
            index, thread.places = thread.places[0], thread.places[1:]
        else:
            index = self._take_places(1)
        agent = Agent(index, int(self._past[index]) + 1, thread, in_order)
        self._actors.append(agent)
        return agent

    def is_known(self, agent: Agent) -> bool:
        """Whether some thread knows that all copies of an agent are over."""
        threads = (actor for actor in self._actors if isinstance(actor, Thread))
        return any(thread.knows.view[agent.index] >= agent.last for thread in threads)

    def _take_places(self, count: int) -> int:
        """The first of the places of the next actors, for which there is room in all clocks."""
        first = self._places
        self._places += count
        while self._places > self._past.size:
            room = np.zeros(self._past.size, np.int64)
            self._past = np.concatenate((self._past, room))
            for clock in self._clocks:
                clock.set_times(np.concatenate((clock.times, room)))
        return first
