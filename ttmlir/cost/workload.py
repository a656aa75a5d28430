"""What a program of kernels does on its cores, and how long it takes by that.

A core's work is a number of equal steps, such as the tiles of its share. A step goes through
stages: data is read, unpacked, computed with, packed and written, each by another unit, with room
for two in the buffers between them. So the first step takes the sum of its stages and every further
one as long as the longest stage.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from ttmlir.errors import plural
from ttmlir.layout.enums import MathFidelity

DRAM, NOC, COMPUTE, UNPACK, PACK = "DRAM", "NoC", "compute", "unpack", "pack"
LATENCY, DISPATCH, PCIE, PROCESSOR = "latency", "dispatch", "PCIe", "data movement processor"
HOST, LINKS = "host", "links"


@dataclass(frozen=True)
class Interval:
    """A time with its bounds."""

    low: float
    mid: float
    high: float
    unit: str = "ns"
    """`ns`, or `cycles` of the cores."""

    def __add__(self, other: Interval) -> Interval:
        """The times, of one unit, one after another."""
        low, mid, high = self.low + other.low, self.mid + other.mid, self.high + other.high
        return Interval(low, mid, high, self.unit)

    def scale(self, factor: float, unit: str = "") -> Interval:
        """So many times as long, or the same time in another unit."""
        low, mid, high = self.low * factor, self.mid * factor, self.high * factor
        return Interval(low, mid, high, unit or self.unit)

    def __repr__(self) -> str:
        """`Interval(12,345 ns, from 10,000 to 20,000)`, in whole units."""
        return f"Interval({self.mid:,.0f} {self.unit}, from {self.low:,.0f} to {self.high:,.0f})"


NOTHING = Interval(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Stage:
    """What one unit does in a step."""

    kind: str
    """What it is bound by: `DRAM`, `NoC`, `latency`, `unpack`, `compute`, `pack`."""
    cycles: float
    least: float = -1.0
    """With every transfer hidden and all rates at their peaks; -1: the cycles."""
    delay: float = 0.0
    """Until the next stage has what was done, beyond the cycles; the unit itself goes on."""

    @property
    def ideal(self) -> float:
        """Cycles that the unit itself needs."""
        return self.cycles if self.least < 0 else self.least


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A program of kernels: the steps of the core that has most to do, and totals."""

    cores: int
    steps: int
    read: Stage
    compute: tuple[Stage, ...] = ()
    """Of unpackers, matrix or vector unit, and packers, which work side by side."""
    write: Stage
    once: tuple[Stage, ...] = ()
    """What comes before the first step or after the last one, one after the other."""
    tiles_per_step: int = 1
    """What the computing units hand over to each other within a step."""
    flops: float = 0.0
    """Additions and multiplications that the operation means, padding not counted."""
    dram_bytes: float = 0.0
    noc_bytes: float = 0.0
    """Moved between cores, or between a core and DRAM."""
    fidelity: MathFidelity | None = None
    """Of a program that multiplies on the matrix unit."""
    notes: tuple[str, ...] = ()
    """What the estimate leaves out or assumes."""

    @property
    def stages(self) -> tuple[Stage, ...]:
        """In the order of the data."""
        return (self.read, *self.compute, self.write)

    @property
    def cycles(self) -> Interval:
        """Cycles of the kernels.

        Low: only the unit with most to do counts, at its peak. High: a step does not begin to read
        before the one before it is written. Neither is closer than the usual error.
        """
        if not self.steps:
            return NOTHING
        once = sum(stage.cycles for stage in self.once)
        units = [stage.cycles for stage in self.compute] or [0.0]
        waits = (sum(units) - max(units)) / self.tiles_per_step
        delay = sum(stage.delay for stage in self.stages)
        serial = self.read.cycles + max(units) + self.write.cycles
        longest = max(stage.cycles for stage in self.stages)
        mid = once + serial + waits + delay + (self.steps - 1) * longest
        low = max(
            self.steps * max(stage.ideal for stage in self.stages),
            max((stage.ideal for stage in self.once), default=0.0),
        )
        high = once + self.steps * (serial + waits + delay)
        low, high = min(low, mid * (1 - USUAL_ERROR)), max(high, mid * (1 + USUAL_ERROR))
        return Interval(low, mid, high, "cycles")

    @property
    def bound_by(self) -> str:
        """The stage that takes most of the time; latency if none of them does for long."""
        if not self.steps:
            return DISPATCH
        totals: dict[str, float] = {}
        for stage in self.stages:
            if stage.cycles >= totals.get(stage.kind, 0.0):
                totals[stage.kind] = self.steps * stage.cycles
        for stage in self.once:
            totals[stage.kind] = totals.get(stage.kind, 0.0) + stage.cycles
        kind, cycles = max(totals.items(), key=lambda item: item[1])
        return kind if cycles >= _BOUND_SHARE * self.cycles.mid else LATENCY


USUAL_ERROR = 0.2
"""Of estimates against public figures of operations; docs/cost.md has the table."""

_BOUND_SHARE = 0.5
"""Below this share of the time nothing is held to bind a program."""


@dataclass(frozen=True)
class HostTransfer:
    """Bytes over PCIe; the time is the link's alone."""

    bytes: float
    nanoseconds: float
    is_write: bool
    """True towards the device."""


@dataclass(frozen=True)
class LinkUse:
    """The links between neighbours along an axis of a mesh, while devices exchange something."""

    axis: int
    """1 along rows, 0 along columns."""
    devices: int
    is_ring: bool
    links: int
    """Between neighbours, all of which are used."""
    bytes: float
    """Over the busiest link, in one direction."""
    busy: float
    """Nanoseconds in which it carries them."""

    def __str__(self) -> str:
        """One line, such as for reports."""
        shape = "a ring" if self.is_ring else "a line"
        lane = f"{self.devices} devices in {shape}, {plural(self.links, 'link')}"
        return (
            f"links along {('columns', 'rows')[self.axis]} ({lane}): "
            f"{self.bytes / 1e6:,.2f} MB over each, {self.busy / 1e3:,.1f} us"
        )


def sum_links(uses: Iterable[LinkUse], times: float = 1) -> tuple[LinkUse, ...]:
    """All of each axis together, so many times."""
    found: dict[int, LinkUse] = {}
    for use in uses:
        known = found.get(use.axis)
        more = (0.0, 0.0) if known is None else (known.bytes, known.busy)
        links = use.links if known is None else max(use.links, known.links)
        size, busy = more[0] + times * use.bytes, more[1] + times * use.busy
        found[use.axis] = replace(use, links=links, bytes=size, busy=busy)
    return tuple(found[axis] for axis in sorted(found))


@dataclass(frozen=True, kw_only=True)
class OperationCost:
    """What an operation does: programs of kernels one after another, and transfers."""

    programs: Sequence[Workload] = ()
    transfers: Sequence[HostTransfer] = ()
    host_calls: int = 0
    """What the host enqueues, one after the other, while the device waits."""
    notes: tuple[str, ...] = field(default=())
    links: tuple[LinkUse, ...] = ()
    """Between devices, of each axis that something is exchanged along."""
