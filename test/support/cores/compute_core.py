"""A core whose three compute threads run a list of calls, without a compiler of kernels."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ttmlir.layout.enums import DataType
from ttmlir.optable.kernel import Role, find_call
from ttmlir.sim.calls.compute_api import ComputeApi, ComputeSettings, give_registers
from ttmlir.sim.calls.kernel_api import waiting_calls
from ttmlir.sim.calls.math_api import MathApi
from ttmlir.sim.calls.pack_api import PackApi
from ttmlir.sim.calls.unpack_api import UnpackApi
from ttmlir.sim.errors import Finding
from ttmlir.sim.execution.scheduler import KernelSource, KernelThread, Scheduler
from ttmlir.sim.kernels import compile_kernel
from ttmlir.sim.machine.device import Core, SimChip
from ttmlir.sim.machine.memory import CircularBuffer
from ttmlir.sim.options import SimOptions
from ttmlir.sim.timing.costs import tile_bytes

APIS: dict[Role, type[ComputeApi]] = {
    Role.UNPACK: UnpackApi,
    Role.MATH: MathApi,
    Role.PACK: PackApi,
}


@dataclass
class Call:
    """A call in a kernel."""

    name: str
    arguments: tuple[Any, ...]
    template: tuple[Any, ...] = ()


def call(name: str, *arguments: Any, template: tuple[Any, ...] = ()) -> Call:
    """A call as it would stand in C++."""
    return Call(name, arguments, template)


class Recorder:
    """Keeps findings and lets everything else pass."""

    def __init__(self) -> None:
        """Nothing found yet."""
        self.findings: list[Finding] = []

    def report(self, finding: Finding) -> None:
        """Keep a finding."""
        self.findings.append(finding)

    def __getattr__(self, name: str) -> Any:
        """Let any other hook pass."""
        return lambda *arguments: None


@dataclass
class ComputeCore:
    """A core with circular buffers, to run calls on."""

    settings: ComputeSettings = field(default_factory=ComputeSettings)
    options: SimOptions = field(default_factory=SimOptions)
    watch: Any = None
    board: str = "n150"

    def __post_init__(self) -> None:
        """Make an empty core."""
        self.core = Core(SimChip.of_board(self.board), (0, 0))
        self.core.watch = self.watch
        self._next = 0x20000
        self.threads: dict[Role, KernelThread] = {}

    def buffer(
        self, index: int, data_type: DataType, pages: int, page_size: int | None = None
    ) -> CircularBuffer:
        """Add an empty circular buffer."""
        size = page_size or tile_bytes(data_type)
        cb = CircularBuffer(index, self._next, size, pages, data_type)
        self._next += -(-size * pages // 16) * 16
        self.core.cbs[index] = cb
        return cb

    def filled(self, index: int, data_type: DataType, tiles: Sequence[bytes]) -> CircularBuffer:
        """Add a circular buffer full of these pages."""
        cb = self.buffer(index, data_type, len(tiles), len(tiles[0]))
        for number, tile in enumerate(tiles):
            self.core.l1.write(cb.address + number * cb.page_size, tile)
        cb.received = len(tiles)
        return cb

    def run(self, calls: Sequence[Call]) -> Mapping[Role, KernelThread]:
        """Run the calls on the three threads; calls of other roles are left out."""

        def started(role: Role, api: ComputeApi) -> Generator[None, None, None]:
            return _running(api, [each for each in calls if role in _roles(each.name)])

        return self._run(started)

    def run_cpp(self, text: str, **options: Any) -> Mapping[Role, KernelThread]:
        """Run a compute kernel in C++; options are those of `compile_kernel`."""

        def started(role: Role, api: ComputeApi) -> Generator[None, None, None]:
            kernel = compile_kernel(text, "kernel.cpp", role, api=type(api), **options)
            api.thread.kernel = KernelSource("kernel", "kernel.cpp", kernel.sources)
            return kernel.start(api)

        return self._run(started)

    def _run(
        self, started: Callable[[Role, ComputeApi], Generator[None, None, None]]
    ) -> Mapping[Role, KernelThread]:
        give_registers(self.core, self.settings, {}, timed=self.options.timed)
        scheduler = Scheduler(self.options)
        source = KernelSource("kernel", "kernel.cpp")
        for index, (role, api_class) in enumerate(APIS.items()):
            thread = KernelThread(self.core, role, source, index, scheduler=scheduler)
            api = api_class(self.core, thread, self.options, self.settings)
            scheduler.interleave(api, waiting_calls(api_class))
            thread.start(started(role, api))
            self.threads[role] = thread
        with np.errstate(all="ignore"):
            scheduler.run(list(self.threads.values()))
        return self.threads

    def bytes_of(self, index: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """All bytes of a circular buffer."""
        cb = self.core.cbs[index]
        return np.array(np.frombuffer(self.core.l1.read(cb.address, cb.size), np.uint8))


def _roles(name: str) -> Role:
    return find_call(name).roles


def _running(api: ComputeApi, calls: Sequence[Call]) -> Generator[None, None, None]:
    for each in calls:
        method = getattr(api, each.name)
        keywords = {"template": each.template} if each.template else {}
        if each.name in waiting_calls(type(api)):
            while not method(*each.arguments, **keywords):
                yield
        else:
            method(*each.arguments, **keywords)
