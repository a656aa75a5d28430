"""Figures of the fabric: rates of packets of 4096 bytes over a link, and times of a hop.

Source: tt-metal, `tests/tt_metal/tt_fabric/routing/golden`, bandwidth and latency of a T3000, of a
Galaxy and of four p150.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from figures.comparison import Comparison

from ttmlir.metalium import (
    BufferType,
    CoreCoord,
    CreateGlobalSemaphore,
    CreateKernel,
    CreateProgram,
    DataMovementConfig,
    SetRuntimeArgs,
    tt_fabric,
)
from ttmlir.metalium.distributed import (
    DeviceLocalBufferConfig,
    EnqueueMeshWorkload,
    MeshBuffer,
    MeshCoordinate,
    MeshCoordinateRange,
    MeshDevice,
    MeshDeviceConfig,
    MeshShape,
    MeshWorkload,
    ReplicatedBufferConfig,
)
from ttmlir.metalium.tt_fabric import FabricConfig

FABRIC = "fabric"

NUMBERS = frozenset({"C59", "C60", "C61", "C62"})
"""Figures that are compared here."""

_KERNELS = Path(__file__).parents[1] / "kernels"
_CORE = CoreCoord(0, 0)
_ROOM = 16384
"""Bytes of L1 for what is sent and for what comes."""
_FEW, _MANY = 40, 100


@dataclass(frozen=True)
class Way:
    """Packets from the first chip of a row to another one."""

    board: str
    columns: int
    config: FabricConfig
    hops: int


@dataclass(frozen=True)
class Traffic:
    """Packets of all chips of a row, both ways: to neighbours, or to all chips on the way."""

    board: str
    columns: int
    config: FabricConfig
    is_multicast: bool = False
    is_one_way: bool = False
    """Of the first chip alone."""

    def hops(self, chip: int, step: int) -> int:
        """How far packets of a chip go ahead (1) or back (-1)."""
        if self.config is _RING:
            ahead = self.columns - 1
        else:
            ahead = self.columns - 1 - chip if step > 0 else chip
        return ahead if self.is_multicast else min(ahead, 1)

    def senders(self) -> list[tuple[int, int, int]]:
        """Chips that send, ahead or back, and how far."""
        if self.is_one_way:
            return [(0, 1, self.columns - 1)]
        ways = [
            (chip, step, self.hops(chip, step)) for chip in range(self.columns) for step in _BOTH
        ]
        return [way for way in ways if way[2]]

    def busiest(self) -> int:
        """Packets that a link carries for each one of its senders, at most."""
        return self.columns - 1 if self.is_multicast and not self.is_one_way else 1


_LINE, _RING = FabricConfig.FABRIC_1D, FabricConfig.FABRIC_1D_RING
_BOTH = (1, -1)

RATES = (
    ("C59: packets over a link", "T3000, to the neighbours", Traffic("t3000", 4, _LINE), 8.40),
    ("C61: the same", "T3000, multicast in a line", Traffic("t3000", 4, _LINE, True), 11.6),
    ("C61: the same", "T3000, multicast of one", Traffic("t3000", 4, _LINE, True, True), 9.9),
    ("C61: the same", "T3000, multicast in a ring", Traffic("t3000", 8, _RING, True), 8.3),
    ("C61: the same", "T3000, in a ring", Traffic("t3000", 8, _RING), 7.7),
    ("C61: the same", "Galaxy, multicast in a line", Traffic("galaxy", 8, _LINE, True), 11.5),
    ("C61: the same", "Galaxy, multicast of one", Traffic("galaxy", 8, _LINE, True, True), 9.0),
    ("C61: the same", "Galaxy, in a ring", Traffic("galaxy", 8, _RING), 7.8),
    ("C61: the same", "p150, multicast in a line", Traffic("p150x8", 4, _LINE, True), (15.6, 32.9)),
    ("C61: the same", "p150, of one", Traffic("p150x8", 4, _LINE, True, True), (15.6, 32.9)),
    ("C61: the same", "p150, in a ring", Traffic("p150x4", 4, _RING), (19.4, 23.9)),
)
"""GB/s."""

HOPS = (
    ("C60: a hop", "T3000, line", "t3000", _LINE, (769, 1288)),
    ("C62: the same", "T3000, ring", "t3000", _RING, (882, 1343)),
    ("C62: the same", "Galaxy, line", "galaxy", _LINE, (824, 1359)),
    ("C62: the same", "Galaxy, ring", "galaxy", _RING, (853, 1434)),
    ("C62: the same", "p150, line", "p150x8", _LINE, (655, 755)),
    ("C62: the same", "p150, ring", "p150x8", _RING, (697, 793)),
)
"""Nanoseconds, of packets of 16 and of 4096 bytes."""


def compare_all() -> Iterator[Comparison]:
    """Every value."""
    yield from compare_rates()
    yield from compare_hops()


def compare_rates() -> Iterator[Comparison]:
    """What a link carries."""
    for name, case, traffic, rate in RATES:
        few, many = (simulate_all(traffic, 4096, count) for count in (_FEW, _MANY))
        simulated = 4096 * (_MANY - _FEW) * traffic.busiest() / (many - few)
        yield Comparison(name, FABRIC, case, rate, simulated, "GB/s")


def compare_hops() -> Iterator[Comparison]:
    """What a hop takes: half of what two more of them add."""
    for name, case, board, config, measured in HOPS:
        for size, nanoseconds in zip((16, 4096), measured, strict=True):
            near, far = (simulate(Way(board, 4, config, hops), size, 0) for hops in (1, 3))
            yield Comparison(name, FABRIC, f"{case}, {size} B", nanoseconds, (far - near) / 2, "ns")


def simulate(way: Way, size: int, count: int) -> float:
    """Nanoseconds until the last chip knows that one packet, and so many before, have come."""
    row = _Row(way.board, way.columns, way.config, size, count)
    row.send(0, 1, way.hops, is_multicast=False)
    return row.run()[way.hops]


def simulate_all(traffic: Traffic, size: int, count: int) -> float:
    """Nanoseconds until all chips know that all packets have come."""
    row = _Row(traffic.board, traffic.columns, traffic.config, size, count)
    for chip, step, hops in traffic.senders():
        row.send(chip, step, hops, is_multicast=traffic.is_multicast)
    return max(row.run().values())


class _Row:
    """Chips of a row, their programs, and how many senders each of them waits for."""

    def __init__(
        self, board: str, columns: int, config: FabricConfig, size: int, count: int
    ) -> None:
        tt_fabric.SetFabricConfig(config)
        self._mesh = MeshDevice.create(
            MeshDeviceConfig(MeshShape(1, columns)), board=board, sanitize=False
        )
        grid = self._mesh.compute_with_storage_grid_size()
        data = MeshBuffer.create(
            ReplicatedBufferConfig(_ROOM * grid.x * grid.y),
            DeviceLocalBufferConfig(page_size=_ROOM, buffer_type=BufferType.L1),
            self._mesh,
        )
        semaphore = CreateGlobalSemaphore(self._mesh, _CORE, 0)
        self._arguments = [data.address(), semaphore.address(), size, count]
        self._columns = columns
        self._programs = [CreateProgram() for _ in range(columns)]
        self._expected = [0] * columns

    def send(self, chip: int, step: int, hops: int, *, is_multicast: bool) -> None:
        """Have a chip send ahead (1) or back (-1)."""
        program, core = self._programs[chip], CoreCoord(0, 1 if step > 0 else 2)
        kernel = CreateKernel(program, _KERNELS / "send_packets.cpp", core, DataMovementConfig())
        x, y = self._mesh.worker_core_from_logical_core(_CORE)
        arguments = [*self._arguments, hops, int(is_multicast), x, y]
        here, there = (
            self._mesh.get_fabric_node_id(MeshCoordinate(0, at % self._columns))
            for at in (chip, chip + step)
        )
        tt_fabric.append_fabric_connection_rt_args(here, there, 0, program, core, arguments)
        SetRuntimeArgs(program, kernel, core, arguments)
        for at in range(1 if is_multicast else hops, hops + 1):
            self._expected[(chip + step * at) % self._columns] += 1

    def run(self) -> dict[int, float]:
        """Nanoseconds of the chips that wait for packets."""
        workload = MeshWorkload()
        for chip, (program, expected) in enumerate(
            zip(self._programs, self._expected, strict=True)
        ):
            if expected:
                kernel = CreateKernel(
                    program, _KERNELS / "await_packets.cpp", _CORE, DataMovementConfig()
                )
                SetRuntimeArgs(program, kernel, _CORE, [self._arguments[1], expected])
            if program.kernels:
                place = MeshCoordinate(0, chip)
                workload.add_program(MeshCoordinateRange(place, place), program)
        EnqueueMeshWorkload(self._mesh.mesh_command_queue(), workload)
        devices = self._mesh.get_devices()
        found = {
            chip: device.command_queue().reports[-1].cycles / device.clock_hz() * 1e9
            for chip, device in enumerate(devices)
            if self._expected[chip]
        }
        self._mesh.close()
        tt_fabric.SetFabricConfig(FabricConfig.DISABLED)
        return found
