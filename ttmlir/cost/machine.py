"""The chip that an estimate is for: its grid, its rates, and what transfers on it take."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from ttmlir.cost.workload import DRAM, LATENCY, NOC, PROCESSOR, HostTransfer, Stage
from ttmlir.errors import ArgumentError
from ttmlir.layout.enums import Arch
from ttmlir.layout.system import ChipDesc, SystemDesc, arch_spec
from ttmlir.machine import GENERATIONS
from ttmlir.machine.figures import LaunchFigures, LinkFigures, ProgramFigures, RateTable
from ttmlir.sim.timing.costs import page_address_cycles
from ttmlir.sim.timing.launch import launch_ns
from ttmlir.sim.timing.noc_parameters import NocParameters, noc_parameters


def cost_parameters(arch: Arch) -> ProgramFigures:
    """The figures of a generation of chips; ValueError for one that is not modelled."""
    if arch.keyword not in GENERATIONS:
        known = " or ".join(GENERATIONS)
        raise ArgumentError(
            f"there are no figures to estimate times on {arch.keyword}; use {known}"
        )
    return GENERATIONS[arch.keyword].programs


def rate_of(table: RateTable, size: float) -> float:
    """The rate for pages of a size; beyond the table that of its end, in proportion below it."""
    first, rate = table[0]
    if size <= first:
        return rate * size / first
    below = table[0]
    for above in table[1:]:
        if size <= above[0]:
            share = (size - below[0]) / (above[0] - below[0])
            return below[1] + share * (above[1] - below[1])
        below = above
    return below[1]


_PROCESSORS = frozenset({"BRISC", "NCRISC", "UNPACK", "MATH", "PACK"})


@dataclass(frozen=True)
class Machine:
    """A chip of a board, and what the tables say about chips of its generation."""

    name: str
    """The board, or the file that describes it."""
    chip: ChipDesc
    chips: int = 1
    """Of the board, or system."""

    @classmethod
    def of(cls, name: str, system: SystemDesc) -> Machine:
        """The first chip of a system; ValueError for a generation that is not modelled."""
        machine = cls(name, system.chip(0), system.num_chips)
        cost_parameters(machine.arch)
        return machine

    @property
    def arch(self) -> Arch:
        """The generation."""
        return self.chip.arch

    @cached_property
    def clock_hz(self) -> int:
        """Cycles in a second."""
        return arch_spec(self.arch).clock_hz

    @cached_property
    def noc(self) -> NocParameters:
        """Rates of networks and DRAM."""
        return noc_parameters(self.arch)

    @cached_property
    def figures(self) -> ProgramFigures:
        """Latencies and shares."""
        return cost_parameters(self.arch)

    @cached_property
    def links(self) -> LinkFigures:
        """Between chips, and what exchanges over them take."""
        return GENERATIONS[self.arch.keyword].links

    @cached_property
    def launching(self) -> LaunchFigures:
        """What starting programs takes, and the host's calls."""
        return GENERATIONS[self.arch.keyword].launch

    @cached_property
    def launch_ns(self) -> float:
        """The least time from the start of a program to that of the next one, for small kernels on
        all processors, and circular buffers."""
        return launch_ns(_PROCESSORS, self.arch, circular_buffers=True)

    @cached_property
    def page_address(self) -> int:
        """Cycles to find the place of a page of a tensor that is spread over banks."""
        return page_address_cycles(self.arch)

    @cached_property
    def interface_rate(self) -> float:
        """Bytes per cycle into or out of a core, in each network, in long streams."""
        return self.noc.packet_bytes / self.noc.occupancy(self.noc.packet_bytes)

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of cores that programs can use."""
        return self.chip.grid

    @property
    def cores(self) -> int:
        """Of the grid."""
        return self.grid[0] * self.grid[1]

    @property
    def channels(self) -> int:
        """Of DRAM."""
        return self.chip.num_dram_channels

    @property
    def dram_rate(self) -> float:
        """Bytes per cycle of all channels together, reads or writes."""
        return self.channels * self.noc.dram_read_rate

    @property
    def spread_read_rate(self) -> float:
        """Bytes per cycle that the cores read together from tensors over all channels."""
        return self.dram_rate * self.figures.spread_read_share

    @property
    def placed_read_rate(self) -> float:
        """The same for tensors that are sharded over the channels."""
        return self.dram_rate * self.figures.placed_read_share

    @property
    def spread_write_rate(self) -> float:
        """Bytes per cycle that they write together."""
        return self.channels * self.noc.dram_write_rate * self.figures.spread_write_share

    def nanoseconds(self, cycles: float) -> float:
        """Cycles of the clock as time."""
        return cycles * 1e9 / self.clock_hz

    # Transfers of one core, while `cores` cores do the same.

    def read_dram(
        self, pages: float, page_bytes: float, cores: int, *, placed: bool = False
    ) -> Stage:
        """Pages of a tensor, and then a barrier.

        `placed` is for tensors that are sharded over the channels, by cores next to these.
        """
        rate = self.placed_read_rate if placed else self.spread_read_rate
        return self._move(
            pages,
            page_bytes,
            latency=self.figures.dram_read_latency,
            issue=self.figures.read_issue + self.page_address,
            together=rate / cores,
            peak=self.dram_rate / cores,
        )

    def write_dram(self, pages: float, page_bytes: float, cores: int) -> Stage:
        """Pages of an interleaved tensor, and then a barrier."""
        return self._move(
            pages,
            page_bytes,
            latency=self.figures.dram_write_latency,
            issue=self.figures.write_issue + self.page_address,
            together=self.spread_write_rate / cores,
            peak=self.dram_rate / cores,
        )

    def read_l1(self, pages: float, page_bytes: float) -> Stage:
        """Pages that lie in the L1 of other cores."""
        return self._move(
            pages,
            page_bytes,
            latency=self.figures.l1_read_latency,
            issue=self.figures.read_issue + self.page_address,
        )

    def write_l1(self, pages: float, page_bytes: float) -> Stage:
        """Pages to the L1 of other cores."""
        return self._move(
            pages,
            page_bytes,
            latency=self.figures.l1_write_latency,
            issue=self.figures.write_issue + self.page_address,
        )

    def multicast_cycles(self, size: float, destinations: int) -> float:
        """Cycles in which a core gives a block to others: they ask for it, and it leaves in linked
        packets, which each of them acknowledges."""
        answers = size / self.noc.packet_bytes * self.noc.multicast_answer * destinations
        return self.figures.semaphore_trip + size / self.interface_rate + answers

    def multicast_delay(self, destinations: int) -> float:
        """Cycles until the last of them has it, beyond those in which it leaves: the path to the
        farthest one of a line, or else of a square, is reserved, then it is a write that all
        acknowledge."""
        is_line = destinations < max(self.grid)
        hops = destinations if is_line else 2 * math.isqrt(destinations + 1)
        path = self.noc.multicast_setup + hops * self.noc.hop_latency
        return path + self.figures.l1_write_latency + self.noc.multicast_answer * destinations

    def _move(
        self,
        pages: float,
        page_bytes: float,
        *,
        latency: float,
        issue: float,
        together: float | None = None,
        peak: float | None = None,
    ) -> Stage:
        if not pages:
            return Stage(LATENCY, 0.0)
        size = pages * page_bytes
        interface = size / self.interface_rate
        alone = latency + max(interface, (pages - 1) * issue, page_bytes / self.noc.dram_read_rate)
        ideal = max(interface, pages * issue if pages > 1 else 0.0)
        if together is not None and peak is not None:
            if size / together >= alone:
                return Stage(DRAM, size / together, size / peak)
            ideal = max(interface, size / peak)
        if latency >= alone / 2:
            kind = LATENCY
        else:
            kind = NOC if interface >= pages * issue else PROCESSOR
        return Stage(kind, alone, ideal)

    def host_transfer(self, size: float, page_bytes: float, *, is_write: bool) -> HostTransfer:
        """Bytes to or from the host, in pages of a tensor."""
        table = self.figures.pcie_write if is_write else self.figures.pcie_read
        return HostTransfer(size, size / rate_of(table, page_bytes), is_write)
