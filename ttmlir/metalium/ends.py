"""What sockets and global circular buffers have in the L1 of the cores that are their ends."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

from ttmlir.metalium.cores import CoreCoord, CoreRange, CoreRangeSet
from ttmlir.metalium.device import Device
from ttmlir.metalium.enums import ShardSpecBuffer
from ttmlir.sim.machine.device import Core

_End = TypeVar("_End", bound=Hashable)


def find_repeated(ends: Iterable[_End]) -> _End | None:
    """The first one that was there before; None if each is there once."""
    seen = set[_End]()
    for each in ends:
        if each in seen:
            return each
        seen.add(each)
    return None


def pages_on(cores: Iterable[CoreCoord]) -> ShardSpecBuffer:
    """A page on each core, row by row."""
    ordered = sorted(set(cores), key=lambda core: (core.y, core.x))
    return ShardSpecBuffer(
        CoreRangeSet([CoreRange(each, each) for each in ordered]),
        (1, 1),
        page_shape=(1, 1),
        tensor2d_shape=(len(ordered), 1),
    )


def configure(
    device: Device, core: Core, address: int, data: bytes, signals: Iterable[int]
) -> None:
    """Write a configuration into L1; at `signals` are words that the other end writes later."""
    core.l1.write(address, data)
    watch = device.simulated.watch
    if watch is not None:
        watch.host_write(core.l1, address, len(data))
        for each in signals:
            watch.semaphore_created(core.l1, each)
