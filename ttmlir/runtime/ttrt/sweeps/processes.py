"""Cases on processes of this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context
from typing import Any

from ttmlir.runtime.ttrt.sweeps.cases import Case
from ttmlir.runtime.ttrt.sweeps.worker import make_order, run_case

Done = tuple[Case, dict[str, Any] | str]
"""A case with what its worker says, or why there is none."""


def run_on_processes(cases: Sequence[Case], jobs: int) -> Iterator[Done]:
    """Each case as it ends, in any order.

    A process that dies takes the others of its pool along. The cases that may have been in one are
    then run alone, each in a process of its own: the one that is to blame is an error, the others
    are not.
    """
    left = list(cases)
    while left:
        done: list[Case] = []
        for case, result in _run_pool(left, jobs):
            done.append(case)
            yield case, result
        left = [case for case in left if case not in done]
        # Cases begin in the order in which they were given; one more than can run is prepared.
        suspects, left = left[: jobs + 1], left[jobs + 1 :]
        for case in suspects:
            [*found] = _run_pool([case], 1)
            died = "the process that ran it died; there may have been too little memory"
            yield found[0] if found else (case, died)


def _run_pool(cases: Sequence[Case], jobs: int) -> Iterator[Done]:
    """Cases as they end, until all have or a process dies."""
    workers = min(jobs, len(cases))
    # A process that is forked would inherit threads, such as that of the bar, at any point.
    executor = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    try:
        futures: dict[Future[dict[str, Any]], Case] = {}
        # A process may die while cases are still being handed over.
        with suppress(BrokenProcessPool):
            for case in cases:
                futures[executor.submit(run_case, make_order(case, None))] = case
        for future in as_completed(futures):
            if not isinstance(future.exception(), BrokenProcessPool):
                yield futures[future], future.result()
    finally:
        executor.shutdown(cancel_futures=True)
