"""The queue of a device with tensors: programs of kernels see their bytes."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ttmlir.sim.execution.program import Program
from ttmlir.sim.execution.run import CommandQueue, ProgramReport
from ttmlir.sim.machine.device import SimDevice

if TYPE_CHECKING:
    from ttmlir.ttnn.tensor.tensor import DeviceStorage


class TensorQueue(CommandQueue):
    """Brings the bytes of shared tensors up to date before programs, and back afterwards."""

    def __init__(self, device: SimDevice, shared: Collection[DeviceStorage]) -> None:
        """A queue without commands."""
        super().__init__(device)
        self._shared = shared

    def run(self, program: Program) -> ProgramReport:
        """Run a program."""
        for storage in list(self._shared):
            storage.write_bytes()
        try:
            return super().run(program)
        finally:
            for storage in list(self._shared):
                storage.forget_array()
