"""A simulated device: a chip with its cores and memories."""

from __future__ import annotations

from collections.abc import Callable

from ttmlir.layout.enums import MemorySpace
from ttmlir.limits import memory_limit
from ttmlir.sim.machine.allocator import Allocator
from ttmlir.sim.machine.chip import MEM_ZEROS_BASE, MEM_ZEROS_SIZE, SimChip
from ttmlir.sim.machine.core import Core
from ttmlir.sim.machine.memory import Memory, MemoryBudget
from ttmlir.sim.machine.noc import Network
from ttmlir.sim.options import SimOptions
from ttmlir.sim.sanitizer.sanitizer import Sanitizer


class SimDevice:
    """One chip; what it holds survives from program to program. Devices know nothing of each other.

    `printed` collects the lines that kernels print; `print_line`, if given, also takes each as it
    is printed.
    """

    def __init__(
        self,
        chip: SimChip,
        options: SimOptions | None = None,
        *,
        device_id: int = 0,
        print_line: Callable[[str], None] | None = None,
    ) -> None:
        """A device whose memory nobody has written."""
        self.chip = chip
        self.options = options or SimOptions()
        self.device_id = device_id
        self.watch = _sanitizer(chip, self.options)
        self.printed: list[str] = []
        self.warnings: dict[str, None] = {}
        """What compiling kernels had to say of them, each once, in order."""
        self._print_line = print_line
        self._cores: dict[tuple[int, int], Core] = {}
        self._budget = MemoryBudget(memory_limit())
        self.network = Network(chip, self.core, self._budget)
        self._allocators = {
            MemorySpace.DEVICE_DRAM: Allocator(
                "DRAM",
                chip.dram_unreserved_base,
                chip.dram_channel_size,
                chip.dram_alignment,
                top_down=False,
            ),
            MemorySpace.DEVICE_L1: Allocator(
                "L1", chip.l1_unreserved_base, chip.l1_size, chip.dram_alignment, top_down=True
            ),
        }
        if self.watch is not None:
            allocator = self.allocator(MemorySpace.DEVICE_DRAM)
            for channel in self.network.dram:
                self.watch.add(channel, chip.dram_unreserved_base, allocator)

    def core(self, x: int, y: int) -> Core:
        """The worker core at logical (x, y); SimError outside of the grid."""
        core = self._cores.get((x, y))
        if core is None:
            core = self._cores[x, y] = Core(self.chip, (x, y), self._budget)
            core.print_line = self._print
            if self.watch is not None:
                core.watch = self.watch
                allocator = self.allocator(MemorySpace.DEVICE_L1)
                self.watch.add(core, self.chip.l1_unreserved_base, allocator)
                self.watch.host_write(core.l1, MEM_ZEROS_BASE, MEM_ZEROS_SIZE)
        return core

    @property
    def dram(self) -> tuple[Memory, ...]:
        """The memory of each DRAM channel."""
        return tuple(endpoint.memory for endpoint in self.network.dram)

    def allocator(self, space: MemorySpace) -> Allocator:
        """What gives out addresses in a memory."""
        return self._allocators[space]

    def _print(self, line: str) -> None:
        self.printed.append(line)
        if self._print_line is not None:
            self._print_line(line)


def _sanitizer(chip: SimChip, options: SimOptions) -> Sanitizer | None:
    if not options.sanitize:
        return None
    return Sanitizer(chip, leniencies=options.leniencies, max_findings=options.max_findings)
