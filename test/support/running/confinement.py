"""Bounds on what a piece of work may take: memory beyond what is in use, and processor time.

    with confined(megabytes=200, cpu_seconds=10):
        read(hostile_file)

The bound is on what is allocated beyond what the process has: CPython 3.11 does not survive it when
no frame can be allocated for a call (wrong exceptions, functions that are released twice).
An allocation beyond the bound is a MemoryError. Processor time is no wall-clock time: a busy
machine changes nothing.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

_MEGABYTE = 1 << 20


class TooMuchTime(BaseException):
    """The work took more processor time than it may; nothing in the product catches this."""


@contextmanager
def confined(*, megabytes: int, cpu_seconds: float) -> Generator[None]:
    """Bound the memory that the body allocates and the processor time that it takes."""
    with limited_memory(megabytes), limited_time(cpu_seconds):
        yield


@contextmanager
def limited_time(cpu_seconds: float) -> Generator[None]:
    """Bound the processor time that the body takes."""
    handler = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, handler)


@contextmanager
def limited_memory(megabytes: int) -> Generator[None]:
    """Bound the memory that the body allocates."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    in_use = pages * os.sysconf("SC_PAGE_SIZE")
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (in_use + megabytes * _MEGABYTE, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _stop(number: int, frame: FrameType | None) -> None:
    raise TooMuchTime("the work takes too much processor time")
