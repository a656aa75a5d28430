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
_FEW, _MANY = 20, 60


@dataclass(frozen=True)
class Way:
    """Packets from the first chip of a row to another one."""

    board: str
    columns: int
    config: FabricConfig
    hops: int
    is_multicast: bool = False


_LINE, _RING = FabricConfig.FABRIC_1D, FabricConfig.FABRIC_1D_RING

RATES = (
    ("C59: packets over a link", "T3000, to the neighbour", Way("t3000", 4, _LINE, 1), 8.40),
    ("C61: the same", "T3000, multicast in a line", Way("t3000", 4, _LINE, 3, True), 11.6),
    ("C61: the same", "T3000, multicast in a ring", Way("t3000", 4, _RING, 3, True), 8.3),
    ("C61: the same", "T3000, in a ring", Way("t3000", 4, _RING, 1), 7.7),
    ("C61: the same", "Galaxy, multicast in a line", Way("galaxy", 8, _LINE, 3, True), 11.5),
    ("C61: the same", "Galaxy, in a ring", Way("galaxy", 8, _RING, 1), 7.8),
    ("C61: the same", "p150, in a line", Way("p150x8", 4, _LINE, 1), (15.6, 32.9)),
    ("C61: the same", "p150, in a ring", Way("p150x8", 4, _RING, 1), (19.4, 23.9)),
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
    for name, case, way, rate in RATES:
        few, many = (simulate(way, 4096, count) for count in (_FEW, _MANY))
        simulated = 4096 * (_MANY - _FEW) / (many - few)
        yield Comparison(name, FABRIC, case, rate, simulated, "GB/s")


def compare_hops() -> Iterator[Comparison]:
    """What a hop takes: half of what two more of them add."""
    for name, case, board, config, measured in HOPS:
        for size, nanoseconds in zip((16, 4096), measured, strict=True):
            near, far = (simulate(Way(board, 4, config, hops), size, 0) for hops in (1, 3))
            yield Comparison(name, FABRIC, f"{case}, {size} B", nanoseconds, (far - near) / 2, "ns")


def simulate(way: Way, size: int, count: int) -> float:
    """Nanoseconds until the last chip knows that one packet, and so many before, have come."""
    tt_fabric.SetFabricConfig(way.config)
    mesh = MeshDevice.create(
        MeshDeviceConfig(MeshShape(1, way.columns)),
        board=way.board,
        leniencies=frozenset({"uninitialised-read"}),
    )
    grid = mesh.compute_with_storage_grid_size()
    data = MeshBuffer.create(
        ReplicatedBufferConfig(_ROOM * grid.x * grid.y),
        DeviceLocalBufferConfig(page_size=_ROOM, buffer_type=BufferType.L1),
        mesh,
    )
    semaphore = CreateGlobalSemaphore(mesh, _CORE, 0)
    here, next_one = (mesh.get_fabric_node_id(MeshCoordinate(0, at)) for at in (0, 1))
    sender, receiver = CreateProgram(), CreateProgram()
    config = DataMovementConfig()
    kernel = CreateKernel(sender, _KERNELS / "send_packets.cpp", _CORE, config)
    arguments = [data.address(), semaphore.address(), size, count, way.hops, int(way.is_multicast)]
    tt_fabric.append_fabric_connection_rt_args(here, next_one, 0, sender, _CORE, arguments)
    SetRuntimeArgs(sender, kernel, _CORE, arguments)
    kernel = CreateKernel(receiver, _KERNELS / "await_packets.cpp", _CORE, config)
    SetRuntimeArgs(receiver, kernel, _CORE, [semaphore.address()])
    workload = MeshWorkload()
    for program, column in ((sender, 0), (receiver, way.hops)):
        at = MeshCoordinate(0, column)
        workload.add_program(MeshCoordinateRange(at, at), program)
    EnqueueMeshWorkload(mesh.mesh_command_queue(), workload)
    last = mesh.get_device(0, way.hops)
    cycles = last.command_queue().reports[-1].cycles
    mesh.close()
    tt_fabric.SetFabricConfig(FabricConfig.DISABLED)
    return cycles / last.simulated.chip.clock_hz * 1e9
