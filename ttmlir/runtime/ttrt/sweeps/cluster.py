"""Cases on the workers of a Dask scheduler, which may be on other machines, die and come back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from ttmlir.runtime.errors import BinaryError, InputError
from ttmlir.runtime.ttrt.sweeps.cases import Case
from ttmlir.runtime.ttrt.sweeps.processes import Done
from ttmlir.runtime.ttrt.sweeps.worker import make_order, run_case

_TIMEOUT = 10
"""Seconds in which a scheduler has to answer."""


def run_on_cluster(cases: Sequence[Case], address: str) -> Iterator[Done]:
    """Each case as it ends, in any order; InputError if there is no scheduler.

    The scheduler gives a case to another worker if one dies; a case during which several die is an
    error. Workers need this package; files are sent to them.
    """
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise InputError(
            "--cluster needs the package 'distributed', which is not installed; "
            'pip install "ttmlir-py[cluster]" installs it'
        ) from None
    try:
        client = distributed.Client(address, timeout=_TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(
            f"--cluster {address}: no Dask scheduler answers there ({error}); dask scheduler "
            "starts one and prints its address"
        ) from None
    with client:
        futures: dict[Any, Case] = {}
        for case in cases:
            try:
                order = make_order(case, case.content)
            except BinaryError as error:
                yield case, str(error).removeprefix(f"{case.path}: ")
                continue
            futures[client.submit(run_case, order, key=f"ttrt-{case.id}")] = case
        for future in distributed.as_completed(list(futures), loop=client.loop):
            case = futures.pop(future)
            yield case, _result_of(future)


def _result_of(future: Any) -> dict[str, Any] | str:
    if future.status == "finished":
        return future.result()
    if future.status == "error":
        return f"no worker could run it: {future.exception()}"
    raise InputError(
        "--cluster: the scheduler is gone; with --result-file, the same command goes on where it "
        "was"
    )
