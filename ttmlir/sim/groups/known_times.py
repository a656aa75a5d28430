"""Clocks that were found before: programs that do the same in time again need no new ones.

Layers of a model run one program on other buffers, and programs run many times. What `replay` finds
depends on records, cores and circular buffers alone, never on numbers, so it is found once.
"""

from __future__ import annotations

import marshal
from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

from ttmlir.sim.groups.timing import Step, TimedThread, replay
from ttmlir.sim.timing.noc_model import NocModel

_KEPT = 32
"""Programs that are remembered; the oldest go."""


class _Found(NamedTuple):
    """What came of the records of a program."""

    clocks: list[int]
    stalls: list[dict[str, int]]
    networks: NocModel


known: dict[bytes, _Found] = {}
"""By digest, the one that was used last at the end."""


def find_times(threads: Sequence[TimedThread], networks: NocModel, limit: int) -> None:
    """Find the clocks and stalls of threads, and the traffic, as `replay` does, if need be.

    Raises what `replay` does.
    """
    try:
        key = _digest(threads, networks, limit)
    except ValueError:
        # Numbers that are no plain integers are not worth their own encoding.
        key = None
    found = None if key is None else known.pop(key, None)
    if found is None:
        # The next try, where kernels were told something wrong, is not to meet these bookings.
        booked = NocModel(networks.parameters, networks.dram)
        replay(threads, booked, limit)
        kept = NocModel(networks.parameters, networks.dram)
        kept.take_totals(booked)
        found = _Found(
            [each.clock for each in threads], [dict(each.stalls) for each in threads], kept
        )
    else:
        for thread, clock, stalls in zip(threads, found.clocks, found.stalls, strict=True):
            thread.clock, thread.stalls = clock, dict(stalls)
    networks.take_totals(found.networks)
    if key is not None:
        if len(known) >= _KEPT:
            del known[next(iter(known))]
        known[key] = found


def _digest(threads: Sequence[TimedThread], networks: NocModel, limit: int) -> bytes:
    """Of all that `replay` looks at."""
    records: dict[int, tuple[int, Sequence[Step]]] = {}
    cores: dict[int, int] = {}
    for thread in threads:
        records.setdefault(id(thread.steps), (len(records), thread.steps))
        cores.setdefault(id(thread.core), len(cores))
    places: list[tuple[object, ...]] = []
    for thread in threads:
        core = thread.core
        queues = [(index, queue.num_pages) for index, queue in core.queues.items()]
        record, _ = records[id(thread.steps)]
        words = [(address, word.value) for address, word in core.words.items()]
        where = core.coordinate, core.lane, len(core.dst_times), queues, words
        places.append((thread.index, cores[id(core)], record, *where))
    state = blake2b(repr((networks.parameters, sorted(networks.dram.items()), limit)).encode())
    # Version 2 writes equal values alike, whichever of them are one object.
    state.update(marshal.dumps(places, 2))
    for _, steps in records.values():
        state.update(marshal.dumps([*steps], 2))
    return state.digest()
