"""What a timed program's threads and networks were busy with, as far as reports need it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ttmlir.sim.timing.noc_model import NocModel


@dataclass(frozen=True, kw_only=True)
class ThreadTimes:
    """One kernel on one processor."""

    core: tuple[int, int]
    """Logical (x, y)."""
    role: str
    """BRISC, NCRISC, UNPACK, MATH or PACK."""
    kernel: str
    cycles: int
    """When it ended, counted from the start of the program."""
    stalls: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many of these it waited, by the call that waited."""
    counters: Mapping[str, int] = field(default_factory=dict[str, int])
    """What it moved: bytes, tiles."""

    @property
    def busy(self) -> int:
        """Cycles in which it did not wait."""
        return self.cycles - sum(self.stalls.values())


@dataclass(frozen=True, kw_only=True)
class ProgramTimes:
    """One run of a program on one chip."""

    name: str
    clock_hz: int
    threads: Sequence[ThreadTimes]
    networks: NocModel
    launch_ns: float
    """What starting the program takes before its first kernel runs."""

    @property
    def cycles(self) -> int:
        """From the start of the kernels to the end of the last one."""
        return max((thread.cycles for thread in self.threads), default=0)

    @property
    def kernel_ns(self) -> float:
        """The same in nanoseconds."""
        return self.cycles * 1e9 / self.clock_hz

    @property
    def total_ns(self) -> float:
        """With the launch."""
        return self.launch_ns + self.kernel_ns
