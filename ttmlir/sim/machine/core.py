"""A Tensix core: its L1, circular buffers, semaphores and registers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ttmlir.sim.machine.chip import MEM_ZEROS_BASE, MEM_ZEROS_SIZE, SimChip
from ttmlir.sim.machine.circular_buffer import CircularBuffers
from ttmlir.sim.machine.mailboxes import Mailboxes
from ttmlir.sim.machine.memory import Memory, MemoryBudget

if TYPE_CHECKING:
    from ttmlir.sim.machine.registers import DestinationRegisters, SourceRegisters
    from ttmlir.sim.sanitizer.sanitizer import Sanitizer


class Endpoint:
    """A tile of the chip that has memory and answers on the network."""

    __slots__ = (
        "coordinate",
        "index",
        "kind",
        "memory",
        "name",
        "read_alignment",
        "write_alignment",
    )

    def __init__(
        self, name: str, kind: str, index: int, coordinate: tuple[int, int], memory: Memory
    ) -> None:
        """`kind` is `worker` or `dram`; `index` numbers the workers or the DRAM channels."""
        self.name = name
        self.kind = kind
        self.index = index
        self.coordinate = coordinate
        """(x, y) on the network."""
        self.memory = memory
        self.read_alignment = 1
        self.write_alignment = 1


class Core(Endpoint):
    """A worker core; what its threads share.

    `src` and `dst` are the source and destination registers of the program that runs, `watch` the
    sanitizer, if there is one.
    """

    __slots__ = (
        *("cbs", "chip", "dst", "l1", "logical", "mailboxes", "print_line", "semaphore_times"),
        *("semaphores", "src", "watch"),
    )

    def __init__(
        self, chip: SimChip, logical: tuple[int, int], budget: MemoryBudget | None = None
    ) -> None:
        """The core at logical (x, y), with poisoned L1; SimError outside of the grid.

        L1 takes its bytes from `budget`.
        """
        coordinate = chip.noc_coordinate(logical)
        name = f"L1 of core ({logical[0]}, {logical[1]})"
        memory = Memory(name, chip.l1_size, budget)
        index = logical[1] * chip.grid[0] + logical[0]
        super().__init__(f"core ({logical[0]}, {logical[1]})", "worker", index, coordinate, memory)
        self.read_alignment = self.write_alignment = chip.l1_alignment
        self.chip = chip
        self.logical = logical
        self.l1 = memory
        memory.write(MEM_ZEROS_BASE, bytes(MEM_ZEROS_SIZE))
        self.watch: Sanitizer | None = None
        self.print_line: Callable[[str], None] = print
        """Takes the lines that kernels print."""
        self.reset()

    def reset(self) -> None:
        """Forget circular buffers, semaphores and registers, before a program."""
        self.l1.waiters.clear()
        self.cbs = CircularBuffers()
        self.semaphores: dict[int, int] = {}
        """Address of the word of each semaphore, by id."""
        self.semaphore_times: dict[int, int] = {}
        """When words in L1 that semaphores use last changed, by address."""
        self.mailboxes = Mailboxes()
        self.src: SourceRegisters | None = None
        self.dst: DestinationRegisters | None = None
