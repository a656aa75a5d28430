"""The queue of a device with tensors: programs of kernels see their bytes."""

from __future__ import annotations

from collections.abc import Collection, Generator
from contextlib import contextmanager
from typing import Protocol

from ttmlir.sim.execution.program import Program
from ttmlir.sim.execution.run import CommandQueue, ProgramReport
from ttmlir.sim.machine.device import SimDevice


class SharedStorage(Protocol):
    """The numbers of a tensor whose bytes programs may see."""

    def write_bytes(self) -> None:
        """Write the numbers to the device, unless its bytes are theirs."""

    def forget_array(self) -> None:
        """Read the numbers from the device when they are asked for next."""


class TensorQueue(CommandQueue):
    """Brings the bytes of shared tensors up to date before programs, and back afterwards."""

    def __init__(self, device: SimDevice, shared: Collection[SharedStorage]) -> None:
        """A queue without commands."""
        super().__init__(device)
        self._shared = shared

    def run(self, program: Program) -> ProgramReport:
        """Run a program."""
        with self.seen_by_programs():
            return super().run(program)

    @contextmanager
    def seen_by_programs(self) -> Generator[None]:
        """Within the block programs see, and may change, what shared tensors hold."""
        for storage in list(self._shared):
            storage.write_bytes()
        try:
            yield
        finally:
            for storage in list(self._shared):
                storage.forget_array()
