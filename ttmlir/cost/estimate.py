"""The result of an estimate: a row for each operation, totals, and the memory that is needed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ttmlir.cost.machine import Machine
from ttmlir.cost.workload import NOTHING, Interval
from ttmlir.files import write_file
from ttmlir.layout.enums import MathFidelity
from ttmlir.sim.timing.costs import UNITS

if TYPE_CHECKING:
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
    """Launching included."""
    kernels: Interval
    """Of its kernels alone; zero for what runs on the host."""
    bound_by: str
    """`compute`, `unpack`, `pack`, `data movement processor`, `NoC`, `DRAM`, `latency`, `dispatch`,
    `host` or `PCIe`; `nothing` for an operation that takes no time."""
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
    on_host: bool = False
    """True for transfers between the host and the device, and for what the host does."""
    notes: tuple[str, ...] = ()
    """What the estimate of this operation leaves out or assumes."""
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
class Estimate:
    """How long a program would take on a board, and what of it each operation takes.

    Printing it shows a table; `operations` has the rows, `total` all of the time, `device` that of
    kernels with their launches, `host` that of transfers over PCIe, each as an `Interval` of
    nanoseconds. `memory` says what the tensors take of DRAM and L1.
    """

    name: str
    """The program, or the model."""
    machine: Machine
    operations: tuple[OperationEstimate, ...]
    memory: ProgramMemory | None = None
    """None for lists of shapes."""
    traced: bool = True
    """Programs are launched from a trace, not called one by one by the host."""

    @property
    def board(self) -> str:
        """That the estimate is for."""
        return self.machine.name

    @cached_property
    def total(self) -> Interval:
        """All operations one after the other."""
        return _sum(each.time for each in self.operations)

    @cached_property
    def device(self) -> Interval:
        """Those that run on the device."""
        return _sum(each.time for each in self.operations if not each.on_host)

    @cached_property
    def host(self) -> Interval:
        """Transfers between the host and the device."""
        return _sum(each.time for each in self.operations if each.on_host)

    @property
    def flops(self) -> float:
        """Of all operations."""
        return sum(each.flops for each in self.operations)

    @property
    def bytes(self) -> float:
        """From and to DRAM, and between the host and the device."""
        return sum(each.bytes for each in self.operations)

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
        """An operation's part of the total, from 0 to 1."""
        return operation.time.mid / self.total.mid if self.total.mid else 0.0

    def rate(self, batch: int, unit: str = "items") -> Rate:
        """Items per second, if one run is a batch of so many; transfers do not count.

        ValueError for a batch of less than one.
        """
        if batch < 1:
            raise ValueError(f"a batch has at least one of the {unit}, not {batch}")
        return Rate(unit, batch, self.device)

    def to_csv(self) -> str:
        """A row per operation in the columns of tt-metal's table of operations, and some more."""
        from ttmlir.cost.reports import estimate_csv

        return estimate_csv(self)

    def to_json(self) -> str:
        """Everything as JSON."""
        from ttmlir.cost.reports import estimate_json

        return estimate_json(self)

    def to_trace(self) -> str:
        """A timeline for ui.perfetto.dev: tracks of the device, of DRAM and of the host."""
        from ttmlir.cost.reports import estimate_trace

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
            raise ValueError(f"{name}: an estimate is written as .csv, .json or .trace.json")
        write_file(path, text.encode())
        return Path(path)

    def table(self, *, most: int | None = None) -> str:
        """A row for each operation that takes time, or for the `most` that take the longest."""
        from ttmlir.cost.reports import estimate_table

        return estimate_table(self, most=most)

    def __repr__(self) -> str:
        """The total, the operations that take longest, and the memory."""
        return self.table(most=10)


TRACED = (
    "programs are taken to be launched from a trace; without one, the host needs about 29 us each"
)
CALLED = "the host calls one operation after the other, in about 29 us each; a trace needs no calls"
"""How programs are launched."""

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
