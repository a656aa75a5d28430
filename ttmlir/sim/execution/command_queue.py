"""A queue of commands of the host: writes, programs, reads, in the order in which they came.

Commands take effect when they are queued; what the host does not wait for it still does not see: a
read that does not block fills its destination when the queue is finished.
"""

from __future__ import annotations

from collections.abc import Callable

from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.program import Program
from ttmlir.sim.execution.run import ProgramReport, run_program
from ttmlir.sim.machine.buffer import Buffer
from ttmlir.sim.machine.device import SimDevice
from ttmlir.sim.timing.timeline import Timeline


class CommandQueue:
    """The commands of one device; `reports` has one entry for each program that ran."""

    def __init__(self, device: SimDevice) -> None:
        """A queue without commands."""
        self.device = device
        self.timeline: Timeline | None = None
        """Records the programs that follow."""
        self.reports: list[ProgramReport] = []
        self._deliveries: list[Callable[[], None]] = []

    def __repr__(self) -> str:
        """How many programs ran."""
        count = len(self.reports)
        return f"CommandQueue({count} program{'s' * (count != 1)} ran)"

    @property
    def open_reads(self) -> int:
        """Reads whose data the host has not got yet."""
        return len(self._deliveries)

    def write(
        self, buffer: Buffer, data: bytes | memoryview, *, pages: range | None = None
    ) -> None:
        """Fill a buffer, or some of its pages."""
        self._check(buffer)
        buffer.write(data, pages=pages)

    def run(self, program: Program) -> ProgramReport:
        """Run a program."""
        report = run_program(self.device, program, timeline=self.timeline)
        self.reports.append(report)
        return report

    def read(
        self,
        buffer: Buffer,
        deliver: Callable[[bytes], None],
        *,
        blocking: bool,
        pages: range | None = None,
    ) -> None:
        """Read a buffer, or some of its pages.

        `deliver` takes the bytes, now or when the queue is finished.
        """
        self._check(buffer)
        data = buffer.read(pages=pages)
        if blocking:
            self.finish()
            deliver(data)
        else:
            self._deliveries.append(lambda: deliver(data))

    def finish(self) -> None:
        """Wait until all commands are done: hand out what was read."""
        deliveries, self._deliveries = self._deliveries, []
        for deliver in deliveries:
            deliver()

    def _check(self, buffer: Buffer) -> None:
        if buffer.device is not self.device:
            raise SimError(
                f"the buffer at {buffer.address:#x} is on device {buffer.device.device_id}, the "
                f"command queue is that of device {self.device.device_id}"
            )
