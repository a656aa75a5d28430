"""Measure models, each in a process of its own with a limit of time and of memory."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.connection import Connection

from model_zoo.catalogue import ENTRIES
from model_zoo.entry import Entry
from model_zoo.measure import Finding, measure

TIME_LIMIT = 300
"""Seconds for one model on a busy machine."""
_GRACE = 20
"""Seconds to end after that."""
MEMORY_LIMIT = 10 << 30
"""Bytes of addresses; a torch that has done nothing takes 3 GiB."""


def measure_apart(entry: Entry, examine: Callable[[Entry], Finding] = measure) -> Finding:
    """What becomes of a model, in a process that ends with it."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["model_zoo.preloaded"])
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_measure_into, args=(sender, entry.key, examine), daemon=True)
    process.start()
    sender.close()
    try:
        if not receiver.poll(TIME_LIMIT):
            return Finding("wrong", f"TimeoutError: takes longer than {TIME_LIMIT} s")
        finding = receiver.recv()
        process.join(_GRACE)
        return finding
    except EOFError:
        process.join()
        return Finding("wrong", f"ended with exit status {process.exitcode}")
    finally:
        process.kill()
        process.join()
        receiver.close()


def measure_all(entries: Sequence[Entry], jobs: int) -> Iterator[tuple[Entry, Finding]]:
    """What becomes of models, in the order in which they end."""
    with ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(measure_apart, entry): entry for entry in entries}
        for future in as_completed(futures):
            yield futures[future], future.result()


def _measure_into(sender: Connection, key: str, examine: Callable[[Entry], Finding]) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    finding = examine(ENTRIES[key])
    sender.send(replace(finding, seconds=round(time.process_time(), 1)))
    sender.close()
