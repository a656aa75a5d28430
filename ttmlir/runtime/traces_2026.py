"""Recordings of the device in `.ttnn` files of 2026: which program a launch runs, and on what.

A launch names three programs. One makes the slots, tensors of the device that the recording reads
and writes; one writes the launch's inputs from the host to their slots, calls the recorded program
and records such a call; one runs the recording. The recorded program copies its results to the
last slots. So a launch is a call of the recorded program on tensors of the device, whose results
are what it copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ttmlir.runtime.errors import BinaryError, UnsupportedError

if TYPE_CHECKING:
    from ttmlir.runtime.binary import Table

LAUNCH = "CaptureOrExecuteTraceOp"
_WITHOUT_EFFECT = ("GetDeviceOp", "ExecuteTraceOp", "DeallocateOp")


@dataclass(frozen=True)
class Recording:
    """What a launch calls."""

    place: int
    """The recorded program's place in the file."""
    inputs: tuple[int | None, ...]
    """For each tensor that it takes: which of the launch's inputs it is, None for a slot that is
    written only."""
    outputs: tuple[int, ...]
    """For each result of the launch: which of those tensors it is."""


def find_recording(tables: Sequence[Table], launch: Table, where: str) -> Recording:
    """The recording that a launch runs; `tables` are the programs of the file.

    Raises BinaryError for what makes no sense, and UnsupportedError for a recording of another form
    than compilers write.
    """
    capture, slots_program = (
        _program(tables, launch[f"{name}_program_id"], where)
        for name in ("capture", "allocate_slots")
    )
    taken, kept = _ids(capture["inputs"]), _ids(slots_program["inputs"])
    slots = _ids(slots_program["outputs"])
    of_host = len(taken) - len(slots)
    if of_host < 0 or of_host + len(kept) != len(launch["inputs"] or ()):
        raise BinaryError(f"{where}: its inputs are not those of the programs that it names")
    values: dict[int, int | None] = {
        own: kept.index(slot) if slot in kept else None
        for own, slot in zip(taken[of_host:], slots, strict=True)
    }
    hosts = {own: len(kept) + number for number, own in enumerate(taken[:of_host])}
    call = _recorded_call(capture, hosts, values, where)
    place = call["program_id"]
    _program(tables, place, where)
    given = _ids(call["inputs"])
    count = len(launch["outputs"] or ())
    results = taken[len(taken) - count :]
    if not set(given) <= set(values) or not set(results) <= set(given):
        raise BinaryError(f"{where}: the recorded program takes other tensors than the slots")
    return Recording(
        place,
        tuple(values[own] for own in given),
        tuple(given.index(own) for own in results),
    )


def _recorded_call(
    capture: Table, hosts: dict[int, int], values: dict[int, int | None], where: str
) -> Table:
    """The call that is recorded; notes which inputs are written to slots before."""
    is_recording = False
    found: list[Table] = []
    for record in capture["operations"] or ():
        kind, fields = record["type_type"], record["type"]
        if fields is None:
            raise BinaryError(f"{where}: the program that records has an empty operation")
        if kind == "WriteTensorOp":
            source, slot = (_id(fields[name]) for name in ("host_tensor", "device_tensor"))
            if source not in hosts or slot not in values:
                raise BinaryError(f"{where}: a slot is written that is none, or from no input")
            values[slot] = hosts[source]
        elif kind == "FuncCallOp":
            found += [fields] if is_recording else []
        elif kind in ("BeginTraceCaptureOp", "EndTraceCaptureOp"):
            is_recording = kind == "BeginTraceCaptureOp"
        elif kind not in _WITHOUT_EFFECT:
            raise UnsupportedError(f"{where}: the program that records has a {kind}")
    if len(found) != 1:
        raise UnsupportedError(f"{where}: records {len(found)} calls, not one")
    return found[0]


def written_inputs(program: Table) -> tuple[int, ...]:
    """Which inputs a program copies its results to."""
    inputs = _ids(program["inputs"])
    written = {
        _id(record["type"]["dst"])
        for record in program["operations"] or ()
        if record["type_type"] == "CopyOp" and record["type"] is not None
    }
    return tuple(number for number, own in enumerate(inputs) if own in written)


def _program(tables: Sequence[Table], place: int, where: str) -> Table:
    if not 0 <= place < len(tables):
        raise BinaryError(f"{where}: names program {place}, but the file has {len(tables)}")
    return tables[place]


def _ids(refs: Sequence[Table] | None) -> list[int]:
    return [_id(ref) for ref in refs or ()]


def _id(ref: Any) -> int:
    return -1 if ref is None else int(ref["global_id"])
