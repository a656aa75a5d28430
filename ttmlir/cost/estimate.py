"""The result of an estimate, and its reports: a row for each operation, totals, and memory."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ttmlir.cost.machine import Machine
from ttmlir.cost.workload import NOTHING, Interval, LinkUse, sum_links
from ttmlir.errors import ArgumentError
from ttmlir.files import write_file
from ttmlir.layout.enums import MathFidelity
from ttmlir.runtime.locations import place_in
from ttmlir.runtime.memory import memory_document, memory_lines
from ttmlir.runtime.profiler_table import device_operation, profiler_csv, tensor_columns
from ttmlir.sim.timing.costs import UNITS
from ttmlir.terminal import ShownAsText, printable

if TYPE_CHECKING:
    from ttmlir.cost.workload import Interval
    from ttmlir.runtime.memory import ProgramMemory
    from ttmlir.runtime.tensor import TensorDesc


@dataclass(frozen=True, kw_only=True)
class OperationEstimate:
    """One operation of a program; times in nanoseconds."""

    index: int
    """Its number in the program."""
    name: str
    """In the IR, such as `ttnn.matmul`."""
    location: str
    """The inside of `loc(...)`; empty if the file does not say."""
    time: Interval
    """Of a call, launching included; zero for what is done once."""
    kernels: Interval
    """Of its kernels alone; zero for what runs on the host."""
    bound_by: str
    """`compute`, `unpack`, `pack`, `data movement processor`, `NoC`, `DRAM`, `latency`, `dispatch`,
    `links` between devices, `host` or `PCIe`; `nothing` for an operation that takes no time."""
    flops: float
    """Additions and multiplications that the operation means, or its elements if it does neither.
    """
    bytes: float
    """Moved from and to DRAM, or between the host and the device."""
    noc_bytes: float
    """Moved over the network on the chip, those of DRAM included."""
    programs: int
    """How many programs of kernels there are."""
    cores: int
    """Of the program with most of them; 0 without programs."""
    fidelity: MathFidelity | None
    flops_utilisation: float
    """Of the matrix units of all cores at this fidelity, in the time of the kernels."""
    dram_utilisation: float
    """Of all channels, in the time of the kernels."""
    once: Interval = NOTHING
    """Before the first call: of weights, and of what follows from them alone."""
    on_host: bool = False
    """True for transfers between the host and the device, for what the host does, and for what
    only brings results of a mesh to the host."""
    notes: tuple[str, ...] = ()
    """What the estimate of this operation leaves out or assumes."""
    links: tuple[LinkUse, ...] = ()
    """What links between devices carry for it, by axes of the mesh."""
    inputs: tuple[TensorDesc, ...] = field(default=(), repr=False)
    output: TensorDesc | None = field(default=None, repr=False)

    @property
    def low(self) -> float:
        """Nanoseconds if only the busiest unit counts, at its peak."""
        return self.time.low

    @property
    def mid(self) -> float:
        """Nanoseconds to be expected."""
        return self.time.mid

    @property
    def high(self) -> float:
        """Nanoseconds if nothing overlaps."""
        return self.time.high

    @property
    def utilisation(self) -> float:
        """The larger of those of the matrix units and of DRAM, from 0 to 1."""
        return max(self.flops_utilisation, self.dram_utilisation)


@dataclass(frozen=True)
class Rate:
    """How many items, such as images, are done in a second."""

    unit: str
    batch: int
    time: Interval
    """Nanoseconds of a batch."""

    @property
    def per_second(self) -> float:
        """To be expected."""
        return self._of(self.time.mid)

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the most."""
        return self._of(self.time.high), self._of(self.time.low)

    def _of(self, nanoseconds: float) -> float:
        return self.batch * 1e9 / nanoseconds if nanoseconds else 0.0

    def __str__(self) -> str:
        """One line."""
        least, most = self.bounds
        return f"{self.per_second:,.0f} {self.unit} per second ({least:,.0f} to {most:,.0f})"


@dataclass(frozen=True, repr=False)
class Estimate(ShownAsText):
    """How long a program would take on a board, and what of it each operation takes.

    Printing it shows a table; `operations` has the rows, `total` the time of a call on the device,
    with weights there, `transfers` that of inputs and results over PCIe, `once` that of weights and
    what follows from them alone, before the first call, each as an `Interval` of nanoseconds.
    `memory` says what the tensors take of DRAM and L1.
    """

    name: str
    """The program, or the model."""
    machine: Machine
    operations: tuple[OperationEstimate, ...]
    memory: ProgramMemory | None = None
    """None for lists of shapes."""
    traced: bool = True
    """Programs are launched from a trace, not called one by one by the host."""
    mesh: tuple[int, ...] = (1, 1)
    """Rows and columns of devices that compute side by side; times and memory are those of each."""

    @property
    def board(self) -> str:
        """That the estimate is for."""
        return self.machine.name

    @property
    def place(self) -> str:
        """The board, and how many of its chips compute: `n150`, `2x4 chips of t3000`, `1 of 8 chips
        of t3000`."""
        devices, chips = math.prod(self.mesh), self.machine.chips
        grid = "x".join(map(str, self.mesh))
        if devices == chips:
            return self.board if chips == 1 else f"{grid} chips of {self.board}"
        if devices > chips:
            return f"{grid} devices like {self.board}"
        return f"{devices if devices == 1 else grid} of {chips} chips of {self.board}"

    @property
    def in_call(self) -> tuple[OperationEstimate, ...]:
        """The operations that take time on the device in a call."""
        return tuple(each for each in self.operations if each.time.mid and not each.on_host)

    @cached_property
    def total(self) -> Interval:
        """A call: the operations that run on the device, one after the other."""
        return _sum(each.time for each in self.in_call)

    @cached_property
    def transfers(self) -> Interval:
        """Inputs and results of a call, between the host and the device."""
        return _sum(each.time for each in self.operations if each.on_host)

    @cached_property
    def exchanges(self) -> Interval:
        """What the devices of a mesh give each other in a call."""
        return _sum(each.time for each in self.in_call if each.name in EXCHANGES)

    @cached_property
    def links(self) -> tuple[LinkUse, ...]:
        """What the links between devices carry in a call, by axes of the mesh."""
        return sum_links(use for each in self.in_call for use in each.links)

    @cached_property
    def once(self) -> Interval:
        """What is done before the first call: weights, and what follows from them alone."""
        return _sum(each.once for each in self.operations)

    @cached_property
    def _called(self) -> tuple[OperationEstimate, ...]:
        return tuple(each for each in self.operations if not each.once.mid or each.time.mid)

    @property
    def flops(self) -> float:
        """Of all operations of a call."""
        return sum(each.flops for each in self._called)

    @property
    def bytes(self) -> float:
        """From and to DRAM, and between the host and the device, in a call."""
        return sum(each.bytes for each in self._called)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the estimate leaves out or assumes, of the whole and of single operations."""
        launching = TRACED if self.traced else CALLED
        return tuple(
            dict.fromkeys(
                (launching, *LEFT_OUT, *(note for each in self.operations for note in each.notes))
            )
        )

    def share(self, operation: OperationEstimate) -> float:
        """An operation's part of the total, from 0 to 1; transfers have none."""
        if operation.on_host or not self.total.mid:
            return 0.0
        return operation.time.mid / self.total.mid

    @property
    def bounds(self) -> dict[str, float]:
        """What binds operations of a call, with its part of the total, from 0 to 1."""
        shares = dict[str, float]()
        for each in self.in_call:
            shares[each.bound_by] = shares.get(each.bound_by, 0.0) + self.share(each)
        return shares

    def rate(self, batch: int, unit: str = "items") -> Rate:
        """Items per second, if one run is a batch of so many; transfers do not count.

        ValueError for a batch of less than one.
        """
        if batch < 1:
            raise ArgumentError(f"a batch has at least one of the {unit}, not {batch}")
        return Rate(unit, batch, self.total)

    def to_csv(self) -> str:
        """A row per operation in the columns of tt-metal's table of operations, and some more."""

        return estimate_csv(self)

    def to_json(self) -> str:
        """Everything as JSON."""

        return estimate_json(self)

    def to_trace(self) -> str:
        """A timeline for ui.perfetto.dev: tracks of the device, of DRAM and of the host."""

        return estimate_trace(self)

    def write(self, path: str | Path) -> Path:
        """Write the estimate to a file: `.csv`, `.json`, or `.trace.json` for the timeline."""
        name = str(path)
        if name.endswith(".csv"):
            text = self.to_csv()
        elif name.endswith(".trace.json"):
            text = self.to_trace()
        elif name.endswith(".json"):
            text = self.to_json()
        else:
            raise ArgumentError(f"{name}: an estimate is written as .csv, .json or .trace.json")
        write_file(path, text.encode())
        return Path(path)

    def table(self, *, most: int | None = None) -> str:
        """A row for each operation that takes time, or for the `most` that take the longest."""

        return estimate_table(self, most=most)

    def __repr__(self) -> str:
        """The total, the operations that take longest, and the memory."""
        return self.table(most=10)


TRACED = (
    "programs are taken to be launched from a trace; without one, the host needs about 29 us each"
)
CALLED = "the host calls one operation after the other, in about 29 us each; a trace needs no calls"
"""How programs are launched."""

EXCHANGES = frozenset(
    f"ttnn.{kind}" for kind in ("all_gather", "all_reduce", "point_to_point", "reduce_scatter")
)
"""Operations in which devices wait for each other."""

LEFT_OUT = (
    "compiling and loading kernels, which the first run does, is not counted",
    "clocks are taken to be those of the data sheets; under load a chip may run slower",
)
"""What every estimate leaves out or assumes."""


def peak_flops(machine: Machine, fidelity: MathFidelity) -> float:
    """Additions and multiplications per second of the matrix units of all cores."""
    return UNITS.matrix_operations * machine.clock_hz * machine.cores / max(1, int(fidelity))


def _sum(times: Iterable[Interval]) -> Interval:
    total = NOTHING
    for time in times:
        total = total + time
    return total


# --- Reports --------------------------------------------------------------------------------------
# Estimates as a table for people, CSV, JSON and a timeline.


_HEAD = ("operation", "us", "low", "high", "share", "MFLOP", "MB", "util", "bound by", "location")
_LEAST_WIDTHS = (28, 10, 9, 10, 8, 11, 9, 7, 24, 0)
"""Of the columns, in characters, so that tables of different boards look the same."""
_LONGEST_NAME = 40
"""Of a location without a place, in characters."""
_MORE_COLUMNS = (
    "OPERATION",
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
    busy = estimate.in_call
    shown = busy if most is None else sorted(busy, key=lambda each: -each.time.mid)[:most]
    apart = (
        ("apart from it: inputs and results over PCIe", estimate.transfers),
        ("of it: exchanges between devices", estimate.exchanges),
        ("before the first call: weights, and what follows from them alone", estimate.once),
    )
    lines = [
        f"{estimate.name} on {estimate.place}: {_microseconds(estimate.total)} in {len(busy)} "
        f"operation{'s' * (len(busy) != 1)}",
        *(f"  {text} {_microseconds(time)}" for text, time in apart if time.mid),
        *(f"  {use}, {use.busy / estimate.total.mid:.0%} of the time" for use in estimate.links),
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
    """A row per operation of the device in the columns of tt-metal's profiler, and further ones."""
    listed = [each for each in estimate.operations if each.programs]
    most_inputs = max((len(each.inputs) for each in listed), default=0)
    return profiler_csv(_csv_rows(estimate), most_inputs, _MORE_COLUMNS)


def _csv_rows(estimate: Estimate) -> Iterator[dict[str, Any]]:
    start = 0.0
    cycle = estimate.machine.clock_hz / 1e9
    for each in estimate.operations:
        duration = each.time.mid
        start += duration
        if not each.programs or not duration:
            continue
        begin = start - duration
        yield {
            "OP CODE": device_operation(each.name, each.output),
            "OP TYPE": "estimated",
            "GLOBAL CALL COUNT": each.index,
            "DEVICE ID": 0,
            "DEVICE ARCH": estimate.machine.arch.keyword,
            "MATH FIDELITY": (each.fidelity or MathFidelity.HIFI4).schema_name,
            "CORE COUNT": each.cores,
            "AVAILABLE WORKER CORE COUNT": math.prod(estimate.machine.chip.grid),
            "HOST START TS": round(begin),
            "HOST END TS": round(start),
            "DEVICE FW START CYCLE": round(begin * cycle),
            "DEVICE FW END CYCLE": round(start * cycle),
            "OP TO OP LATENCY [ns]": round(duration - each.kernels.mid),
            "DEVICE FW DURATION [ns]": round(duration),
            "DEVICE KERNEL DURATION [ns]": round(each.kernels.mid),
            **tensor_columns(each.inputs, each.output),
            "PM IDEAL [ns]": round(each.kernels.low),
            "LOC": each.location,
            "OPERATION": each.name,
            "SHARE [%]": f"{100 * estimate.share(each):.2f}",
            "ESTIMATE LOW [ns]": round(each.time.low),
            "ESTIMATE HIGH [ns]": round(each.time.high),
            "BOUND BY": each.bound_by,
            "FLOPS": round(each.flops),
            "DRAM OR PCIE BYTES": round(each.bytes),
            "FLOPS UTILISATION [%]": f"{100 * each.flops_utilisation:.1f}",
            "DRAM UTILISATION [%]": f"{100 * each.dram_utilisation:.1f}",
            "NOTES": "; ".join(each.notes),
        }


def estimate_json(estimate: Estimate) -> str:
    """Totals, operations, memory and notes."""
    document = {
        "program": estimate.name,
        "board": estimate.board,
        "chips": estimate.machine.chips,
        "mesh": [*estimate.mesh],
        "clock_hz": estimate.machine.clock_hz,
        "total_ns": _interval(estimate.total),
        "exchanges_ns": _interval(estimate.exchanges),
        "links": [_links(each) for each in estimate.links],
        "transfers_ns": _interval(estimate.transfers),
        "once_ns": _interval(estimate.once),
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
        "once_ns": _interval(each.once),
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
        "links": [_links(use) for use in each.links],
        "on_host": each.on_host,
        "notes": list(each.notes),
    }


def _links(use: LinkUse) -> dict[str, Any]:
    return {
        "axis": use.axis,
        "devices": use.devices,
        "is_ring": use.is_ring,
        "count": use.links,
        "bytes": round(use.bytes),
        "busy_ns": round(use.busy, 1),
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
            "args": {"name": f"{estimate.name}, estimated on {estimate.place}"},
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
