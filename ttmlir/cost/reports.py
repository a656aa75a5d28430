"""Estimates as a table for people, CSV, JSON and a timeline."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ttmlir.runtime.locations import place_in
from ttmlir.runtime.memory import memory_document, memory_lines
from ttmlir.runtime.profiler_table import MISSING, profiler_csv, tensor_columns
from ttmlir.terminal import printable

if TYPE_CHECKING:
    from ttmlir.cost.estimate import Estimate, OperationEstimate
    from ttmlir.cost.workload import Interval

_HEAD = ("operation", "us", "low", "high", "share", "MFLOP", "MB", "util", "bound by", "location")
_LEAST_WIDTHS = (28, 10, 9, 10, 8, 11, 9, 7, 24, 0)
"""Of the columns, in characters, so that tables of different boards look the same."""
_LONGEST_NAME = 40
"""Of a location without a place, in characters."""
_MORE_COLUMNS = (
    "SHARE [%]",
    "ESTIMATE LOW [ns]",
    "ESTIMATE HIGH [ns]",
    "BOUND BY",
    "FLOPS",
    "DRAM OR PCIE BYTES",
    "FLOPS UTILISATION [%]",
    "DRAM UTILISATION [%]",
    "NOTES",
)


def estimate_table(estimate: Estimate, *, most: int | None = None) -> str:
    """Totals, a line for each operation, memory, and what is left out.

    Names come from the file: what a terminal would obey is replaced.
    """
    busy = [each for each in estimate.operations if each.time.mid]
    shown = busy if most is None else sorted(busy, key=lambda each: -each.time.mid)[:most]
    lines = [
        f"{estimate.name} on {estimate.board}: {_microseconds(estimate.total)} in {len(busy)} "
        f"operation{'s' * (len(busy) != 1)}",
        f"  device {_microseconds(estimate.device)}, host transfers {_microseconds(estimate.host)}",
        *_align([_HEAD, *(_cells(estimate, each) for each in shown)]),
    ]
    if len(shown) < len(busy):
        lines.append(f"... and {len(busy) - len(shown)} more operations")
    if estimate.memory is not None:
        lines += memory_lines(estimate.memory)
    lines += [f"note: {note}" for note in estimate.notes]
    return printable("\n".join(lines))


def _microseconds(time: Interval) -> str:
    return f"{time.mid / 1e3:,.1f} us ({time.low / 1e3:,.1f} to {time.high / 1e3:,.1f})"


def _cells(estimate: Estimate, each: OperationEstimate) -> tuple[str, ...]:
    """The texts of an operation's line, in the order of `_HEAD`."""
    return (
        f"{each.index} {each.name}",
        f"{each.time.mid / 1e3:,.1f}",
        f"{each.time.low / 1e3:,.1f}",
        f"{each.time.high / 1e3:,.1f}",
        f"{100 * estimate.share(each):.1f}%",
        f"{each.flops / 1e6:,.1f}",
        f"{each.bytes / 1e6:,.2f}",
        f"{100 * each.utilisation:.0f}%",
        each.bound_by,
        _place(each.location),
    )


def _align(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines with numbers to the right; a column is wider than usual where its texts are."""
    widths = [
        max(least, 2 + max(map(len, column)))
        for least, column in zip(_LEAST_WIDTHS, zip(*rows, strict=True), strict=True)
    ]
    first, *others, last, _ = widths
    for operation, *numbers, bound_by, place in rows:
        right = "".join(f"{text:>{width}}" for text, width in zip(numbers, others, strict=True))
        yield f"{operation:<{first}}{right}  {bound_by:<{last}}{place}"


def _place(location: str) -> str:
    """The place in the user's file, or the name, of an operation."""
    return place_in(location) or location.strip('"')[:_LONGEST_NAME] or "-"


def estimate_csv(estimate: Estimate) -> str:
    """A row per operation in the columns of tt-metal's profiler, and those of the estimate."""
    most_inputs = max((len(each.inputs) for each in estimate.operations), default=0)
    return profiler_csv(_csv_rows(estimate), most_inputs, _MORE_COLUMNS)


def _csv_rows(estimate: Estimate) -> Iterator[dict[str, Any]]:
    start = 0.0
    cycle = estimate.machine.clock_hz / 1e9
    for each in estimate.operations:
        duration = each.time.mid
        row: dict[str, Any] = {
            "OP CODE": each.name,
            "OP TYPE": "estimated",
            "GLOBAL CALL COUNT": each.index,
            "CALL DEPTH": 1,
            "LOC": each.location or MISSING,
            "SHARE [%]": f"{100 * estimate.share(each):.2f}",
            "ESTIMATE LOW [ns]": round(each.time.low),
            "ESTIMATE HIGH [ns]": round(each.time.high),
            "BOUND BY": each.bound_by,
            "FLOPS": round(each.flops),
            "DRAM OR PCIE BYTES": round(each.bytes),
            "FLOPS UTILISATION [%]": f"{100 * each.flops_utilisation:.1f}",
            "DRAM UTILISATION [%]": f"{100 * each.dram_utilisation:.1f}",
            "NOTES": "; ".join(each.notes) or MISSING,
        }
        row |= tensor_columns(each.inputs, each.output)
        if each.programs:
            row |= {
                "DEVICE ID": 0,
                "CORE COUNT": each.cores,
                "MATH FIDELITY": each.fidelity.schema_name if each.fidelity else MISSING,
                "DEVICE FW START CYCLE": round(start * cycle),
                "DEVICE FW END CYCLE": round((start + duration) * cycle),
                "DEVICE FW DURATION [ns]": round(duration),
                "DEVICE KERNEL DURATION [ns]": round(each.kernels.mid),
                "PM IDEAL [ns]": round(each.kernels.low),
            }
        elif duration:
            row |= {
                "HOST START TS": round(start),
                "HOST END TS": round(start + duration),
                "HOST DURATION [ns]": round(duration),
            }
        start += duration
        yield row


def estimate_json(estimate: Estimate) -> str:
    """Totals, operations, memory and notes."""
    document = {
        "program": estimate.name,
        "board": estimate.board,
        "clock_hz": estimate.machine.clock_hz,
        "total_ns": _interval(estimate.total),
        "device_ns": _interval(estimate.device),
        "host_ns": _interval(estimate.host),
        "flops": round(estimate.flops),
        "bytes": round(estimate.bytes),
        "operations": [_operation(estimate, each) for each in estimate.operations],
        "memory": None if estimate.memory is None else memory_document(estimate.memory),
        "notes": list(estimate.notes),
    }
    return json.dumps(document, indent=2)


def _operation(estimate: Estimate, each: OperationEstimate) -> dict[str, Any]:
    return {
        "index": each.index,
        "name": each.name,
        "location": each.location,
        "time_ns": _interval(each.time),
        "kernels_ns": _interval(each.kernels),
        "share": round(estimate.share(each), 5),
        "bound_by": each.bound_by,
        "flops": round(each.flops),
        "bytes": round(each.bytes),
        "noc_bytes": round(each.noc_bytes),
        "programs": each.programs,
        "cores": each.cores,
        "fidelity": each.fidelity.schema_name if each.fidelity else None,
        "flops_utilisation": round(each.flops_utilisation, 4),
        "dram_utilisation": round(each.dram_utilisation, 4),
        "on_host": each.on_host,
        "notes": list(each.notes),
    }


def _interval(time: Interval) -> dict[str, float]:
    return {"low": round(time.low, 1), "mid": round(time.mid, 1), "high": round(time.high, 1)}


_TRACKS = {"device": 1, "DRAM": 2, "host": 3}


def estimate_trace(estimate: Estimate) -> str:
    """The JSON of a trace: operations on the tracks of device and host, and DRAM's rate.

    Source: "Trace Event Format", the JSON of Chrome's trace viewer.
    """
    process = {"pid": 1}
    events: list[dict[str, Any]] = [
        {
            "ph": "M",
            "name": "process_name",
            **process,
            "args": {"name": f"{estimate.name}, estimated on {estimate.board}"},
        }
    ]
    events += [
        {"ph": "M", "name": "thread_name", **process, "tid": number, "args": {"name": name}}
        for name, number in _TRACKS.items()
    ]
    start = 0.0
    for each in estimate.operations:
        if not each.time.mid:
            continue
        event = {
            "ph": "X",
            "name": each.name,
            "cat": each.bound_by,
            **process,
            "ts": start / 1e3,
            "dur": each.time.mid / 1e3,
            "args": {"location": each.location, "bound by": each.bound_by},
        }
        events.append({**event, "tid": _TRACKS["host" if each.on_host else "device"]})
        if each.dram_utilisation:
            events.append(
                {
                    **event,
                    "tid": _TRACKS["DRAM"],
                    "dur": each.time.mid / 1e3 * min(1.0, each.dram_utilisation),
                    "args": {"bytes": round(each.bytes)},
                }
            )
        start += each.time.mid
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns"})
