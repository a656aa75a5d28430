"""Devices as ttnn sees them: meshes of simulated chips, with tensors in their memories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakSet

from ttmlir.errors import ArgumentTypeError, UsageError
from ttmlir.layout.enums import Arch, MemorySpace
from ttmlir.layout.system import board as board_named
from ttmlir.metalium.cores import CoreCoord, CoreRangeSet, cores_of
from ttmlir.metalium.device import Device, forget_fabric
from ttmlir.metalium.enums import BufferType
from ttmlir.metalium.errors import MetaliumError
from ttmlir.metalium.mesh_shapes import MeshCoordinate, MeshCoordinateRange, MeshShape
from ttmlir.metalium.tt_fabric import FabricNodeId, node_of_mesh, open_fabric
from ttmlir.runtime.tensor import Numerics
from ttmlir.sim.machine.card_steps import FEW_STEPS
from ttmlir.sim.machine.cluster import Cluster
from ttmlir.sim.machine.device import Allocator, SimChip
from ttmlir.sim.machine.fabric import FabricConfig
from ttmlir.ttnn.errors import locate_error
from ttmlir.ttnn.types.memory import CoreGrid

if TYPE_CHECKING:
    from ttmlir.sim.execution.run import CommandQueue
    from ttmlir.sim.options import SimOptions
    from ttmlir.ttnn.device.queue import SharedStorage


# --- Parts of the cores ---------------------------------------------------------------------------


@dataclass(frozen=True)
class SubDeviceId:
    """The number of a part."""

    id: int


class SubDevice:
    """Cores that programs may have for themselves, by the kinds of cores: Tensix, Ethernet."""

    def __init__(self, cores: Sequence[CoreRangeSet]) -> None:
        """Cores of each kind; the first are those that compute."""
        if not cores:
            raise UsageError("a sub-device has cores: ttnn.SubDevice([CoreRangeSet(...)])")
        self.cores = tuple(cores)


class SubDevices:
    """The divisions of a device."""

    def __init__(self) -> None:
        """No division."""
        self._divisions: dict[int, tuple[SubDevice, ...]] = {}
        self._next = 1
        self.loaded: int | None = None

    def create(self, sub_devices: Sequence[SubDevice], grid: tuple[int, int]) -> int:
        """The number of a division; RuntimeError for cores in two parts, or outside the grid."""
        seen: set[tuple[int, int]] = set()
        for place in (place for part in sub_devices for place in cores_of(part.cores[0])):
            if place in seen:
                raise UsageError(f"core {place} is in two sub-devices")
            if place[0] >= grid[0] or place[1] >= grid[1]:
                raise UsageError(f"core {place} is outside of the {grid[0]}x{grid[1]} cores")
            seen.add(place)
        number, self._next = self._next, self._next + 1
        self._divisions[number] = tuple(sub_devices)
        return number

    def load(self, number: int) -> None:
        """Take a division for the current one."""
        self._require_known(number)
        self.loaded = number

    def remove(self, number: int) -> None:
        """Forget a division; RuntimeError for the current one."""
        self._require_known(number)
        if number == self.loaded:
            raise UsageError(
                f"sub-device manager {number} is loaded; call clear_loaded_sub_device_manager first"
            )
        del self._divisions[number]

    def numbers(self) -> list[SubDeviceId]:
        """The parts of the current division."""
        count = 1 if self.loaded is None else len(self._divisions[self.loaded])
        return [SubDeviceId(number) for number in range(count)]

    def require(self, numbers: Sequence[SubDeviceId]) -> None:
        """RuntimeError for a part that the current division does not have."""
        known = self.numbers()
        for each in numbers:
            if each not in known:
                raise UsageError(f"{each} is none of the {len(known)} sub-devices")

    def _require_known(self, number: int) -> None:
        if number not in self._divisions:
            raise UsageError(f"there is no sub-device manager {number}")


# --- Devices --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MemoryView:
    """How full the banks of a memory are."""

    num_banks: int
    total_bytes_per_bank: int
    total_bytes_allocated_per_bank: int
    total_bytes_free_per_bank: int
    largest_contiguous_bytes_free_per_bank: int
    block_table: list[dict[str, str]]


class MeshDevice(Device):
    """One chip; it is a device of TT-Metalium's API and of the runtime, too."""

    def __init__(
        self,
        device_id: int,
        chip: SimChip,
        options: SimOptions,
        *,
        l1_small_size: int = 0,
        is_strict: bool = True,
    ) -> None:
        """An open device; `open_device` makes it."""
        super().__init__(device_id, chip, options, print)
        self.chip = chip
        self.core_coord = CoreCoord(*chip.grid)
        spaces = (MemorySpace.DEVICE_DRAM, MemorySpace.DEVICE_L1)
        self.allocators: dict[MemorySpace, Allocator] = {
            space: self.simulated.allocator(space) for space in spaces
        }
        """What gives out the addresses of tensors."""
        self.shared: WeakSet[SharedStorage] = WeakSet()
        """Tensors whose bytes programs may see."""
        self.l1_small_size = l1_small_size
        if not 0 <= l1_small_size < chip.l1_size - chip.l1_unreserved_base:
            raise UsageError(
                f"l1_small_size={l1_small_size} does not fit into L1, of which buffers may take "
                f"{chip.l1_size - chip.l1_unreserved_base} bytes"
            )
        if l1_small_size:
            unit = chip.l1_alignment
            reserved = -(-l1_small_size // unit) * unit
            self.allocators[MemorySpace.DEVICE_L1].take(chip.l1_size - reserved, reserved)
        self.program_cache: set[object] = set()
        """What tells apart the operations that have run."""
        self.caches_programs = True
        self.is_strict = is_strict
        """Whether operations take what a card takes, and no more."""
        self.card_steps = FEW_STEPS if self.numerics is Numerics.DEVICE else 0
        """Up to how many steps of a card's units are computed one by one."""

        self.sub_devices = SubDevices()
        """Parts that programs divided the cores into; here they change nothing."""

    def check_open(self) -> None:
        """RuntimeError if the device is closed."""
        if not self.is_open:
            raise UsageError(f"device {self.id()} is closed; open it again with ttnn.open_device")

    def create_queue(self) -> CommandQueue:
        """A queue whose programs see the bytes of tensors."""
        from ttmlir.ttnn.device.queue import TensorQueue

        return TensorQueue(self.simulated, self.shared)

    # What the mesh is.

    @property
    def shape(self) -> MeshShape:
        """Rows and columns of devices."""
        return MeshShape(1, 1)

    @property
    def units(self) -> tuple[MeshDevice, ...]:
        """The devices, each a mesh of one, row by row."""
        return (self,)

    @property
    def is_several(self) -> bool:
        """Whether tensors are on more than one device."""
        return False

    def get_num_devices(self) -> int:
        """How many devices there are."""
        return len(self.units)

    def get_device_ids(self) -> list[int]:
        """The numbers of the chips, row by row."""
        return [each.id() for each in self.units]

    def get_device_id(self, coord: MeshCoordinate) -> int:
        """The number of the chip at a place; RuntimeError for a place outside."""
        return self.units[self.index_of(coord)].id()

    def get_fabric_node_id(self, coord: MeshCoordinate) -> FabricNodeId:
        """How the fabric numbers the device at a place; RuntimeError for a place outside."""
        return node_of_mesh(self.get_device_id(coord), self.fabric)

    def disconnect(self) -> None:
        """Forget the fabric of the mesh."""

    def index_of(self, coord: object) -> int:
        """The number of a device in the mesh, row by row; RuntimeError for a place outside."""
        if not isinstance(coord, MeshCoordinate):
            raise ArgumentTypeError(
                f"a device is named by a ttnn.MeshCoordinate(row, column), not by {coord!r}"
            )
        places = [*MeshCoordinateRange(self.shape)]
        if coord not in places:
            wrong = UsageError(f"{coord} is outside of the mesh, which is a {self.shape}")
            raise locate_error(wrong)
        return places.index(coord)

    def get_submeshes(self) -> list[MeshDevice]:
        """Those that were made of the devices."""
        return []

    def create_submesh(
        self, submesh_shape: Iterable[int], offset: MeshCoordinate | None = None
    ) -> MeshDevice:
        """A part of the devices, from `offset` on; RuntimeError unless it is within the mesh."""
        shape = MeshShape(list(submesh_shape))
        start = (0,) * shape.dims() if offset is None else offset.coords()
        whole = tuple(self.shape)
        if not len(shape) == len(start) == len(whole) or any(
            first + part > extent or part < 1
            for first, part, extent in zip(start, shape, whole, strict=True)
        ):
            at = "" if offset is None else f" at {offset}"
            raise locate_error(
                UsageError(f"{shape}{at} is not within the mesh, which is a {self.shape}"),
                "MeshDevice.create_submesh",
            )
        return self._submesh(shape, start)

    def _submesh(self, shape: MeshShape, start: tuple[int, ...]) -> MeshDevice:
        return self

    def create_submeshes(self, submesh_shape: Iterable[int]) -> list[MeshDevice]:
        """All devices, in parts of one shape, row by row; RuntimeError if they do not fill it."""
        shape = MeshShape(list(submesh_shape))
        whole = tuple(self.shape)
        if len(shape) != len(whole) or any(
            part < 1 or extent % part for part, extent in zip(shape, whole, strict=True)
        ):
            wrong = UsageError(f"{self.shape} is not divided into parts of {shape}")
            raise locate_error(wrong, "MeshDevice.create_submeshes")
        steps = MeshCoordinateRange(
            MeshShape([extent // part for part, extent in zip(shape, whole, strict=True)])
        )
        return [
            self.create_submesh(
                shape,
                MeshCoordinate(*(a * b for a, b in zip(step.coords(), shape, strict=True))),
            )
            for step in steps
        ]

    def reshape(self, new_shape: MeshShape) -> None:
        """Number the devices by other rows and columns; RuntimeError for more or fewer devices."""
        if new_shape.mesh_size() != self.get_num_devices():
            wrong = UsageError(
                f"{new_shape} has {new_shape.mesh_size()} devices, the mesh has "
                f"{self.get_num_devices()}"
            )
            raise locate_error(wrong, "MeshDevice.reshape")

    def quiesce_devices(self) -> None:
        """Wait until all commands are done."""
        self.check_open()

    # What the chip has.

    def arch(self) -> Arch:
        """The generation."""
        return self.chip.arch

    @cached_property
    def core_grid(self) -> CoreGrid:
        """Columns and rows of the cores that programs can use."""
        columns, rows = self.chip.grid
        return CoreGrid(y=rows, x=columns)

    def dram_grid_size(self) -> CoreCoord:
        """Channels of DRAM, in a row."""
        return CoreCoord(self.chip.num_dram_channels, 1)

    def get_memory_view(self, buffer_type: BufferType) -> MemoryView:
        """How full a memory is."""
        is_dram = buffer_type == BufferType.DRAM
        space = MemorySpace.DEVICE_DRAM if is_dram else MemorySpace.DEVICE_L1
        allocator = self.allocators[space]
        total = allocator.end - allocator.start
        used = sum(size for _, size in allocator.taken)
        return MemoryView(
            self.chip.num_dram_channels if is_dram else len(self.chip.workers),
            total,
            used,
            total - used,
            allocator.largest_gap,
            [
                {"address": str(address), "size": str(size), "allocated": "yes"}
                for address, size in allocator.taken
            ],
        )

    # Parts of the device.

    def create_sub_device_manager(
        self, sub_devices: Sequence[SubDevice], local_l1_size: int = 0
    ) -> int:
        """The number of a division of the cores into parts."""
        return self.sub_devices.create(sub_devices, self.chip.grid)

    def load_sub_device_manager(self, sub_device_manager_id: int) -> None:
        """Divide the cores; RuntimeError for a number that no division has."""
        self.sub_devices.load(sub_device_manager_id)

    def clear_loaded_sub_device_manager(self) -> None:
        """Divide the cores no more."""
        self.sub_devices.loaded = None

    def remove_sub_device_manager(self, sub_device_manager_id: int) -> None:
        """Forget a division, which is not loaded."""
        self.sub_devices.remove(sub_device_manager_id)

    def get_sub_device_ids(self) -> list[SubDeviceId]:
        """The parts of the loaded division; without one, all cores are one part."""
        return self.sub_devices.numbers()

    def set_sub_device_stall_group(self, sub_device_ids: Sequence[SubDeviceId]) -> None:
        """Nothing: commands are done in order, so that none waits."""
        self.sub_devices.require(sub_device_ids)

    def reset_sub_device_stall_group(self) -> None:
        """Nothing: commands are done in order, so that none waits."""

    # Programs that were run before.

    def enable_program_cache(self) -> None:
        """Count the programs that run."""
        for each in self.units:
            each.caches_programs = True

    def clear_program_cache(self) -> None:
        """Forget the programs that ran."""
        for each in self.units:
            each.program_cache.clear()

    def disable_and_clear_program_cache(self) -> None:
        """Forget the programs that ran, and count no more."""
        self.clear_program_cache()
        for each in self.units:
            each.caches_programs = False

    def num_program_cache_entries(self) -> int:
        """How many different programs ran: operations, their attributes, specifications."""
        return len(self.program_cache)

    def __repr__(self) -> str:
        """As ttnn prints it."""
        columns, rows = self.chip.grid
        return f"MeshDevice(1x1 grid, {columns}x{rows} cores of {self.chip.name})"


class SeveralDevices(MeshDevice):
    """Chips that hold the parts of tensors, and compute what they hold.

    What all of them have alike, such as grids and memories, is read from the first one.
    """

    def __init__(self, units: Sequence[MeshDevice], shape: MeshShape) -> None:
        """Open devices, row by row; `open_mesh_device` makes it."""
        self.__dict__.update(units[0].__dict__)
        self.chip_ids = tuple(each.id() for each in units)
        self._units = tuple(units)
        self._shape = shape
        self._submeshes: list[MeshDevice] = []
        _meshes.add(self)

    def connect(self, config: FabricConfig, board: str) -> None:
        """Link the devices as the board does, by a fabric."""
        self.cluster = Cluster(board_named(board))
        for each in self._units:
            self.cluster.add(each.simulated)
            each.cluster = self.cluster
        self.fabric = open_fabric(self.cluster, config)

    def disconnect(self) -> None:
        """Forget the fabric of the mesh."""
        forget_fabric(self.fabric)

    @property
    def shape(self) -> MeshShape:
        """Rows and columns of devices."""
        return self._shape

    @property
    def units(self) -> tuple[MeshDevice, ...]:
        """The devices, each a mesh of one, row by row."""
        return self._units

    @property
    def is_several(self) -> bool:
        """Whether tensors are on more than one device."""
        return True

    def check_open(self) -> None:
        """RuntimeError if the mesh, or one of its devices, is closed."""
        if not all(each.is_open for each in self._units):
            raise UsageError("the mesh is closed; open it again with ttnn.open_mesh_device")

    def command_queue(self, index: int = 0) -> CommandQueue:
        """The queue of the first device, whose reports are those of the others."""
        return self._units[0].command_queue(index)

    def close(self) -> bool:
        """End the use of all devices."""
        self.is_open = False
        for each in self._units:
            each.close()
        return True

    def get_submeshes(self) -> list[MeshDevice]:
        """Those that were made of the devices."""
        return [*self._submeshes]

    def _submesh(self, shape: MeshShape, start: tuple[int, ...]) -> MeshDevice:
        last = (first + extent - 1 for first, extent in zip(start, shape, strict=True))
        places = MeshCoordinateRange(MeshCoordinate(*start), MeshCoordinate(*last))
        chosen = [self._units[self.index_of(place)] for place in places]
        made = chosen[0] if len(chosen) == 1 else SeveralDevices(chosen, shape)
        if made.is_several:
            made.cluster, made.fabric = self.cluster, self.fabric
        self._submeshes.append(made)
        return made

    def reshape(self, new_shape: MeshShape) -> None:
        """Number the devices by other rows and columns; RuntimeError for more or fewer devices."""
        super().reshape(new_shape)
        self._shape = new_shape

    def __repr__(self) -> str:
        """As ttnn prints it."""
        extents = "x".join(map(str, self._shape))
        return f"MeshDevice({extents} grid, {len(self._units)} devices)"


_meshes: WeakSet[SeveralDevices] = WeakSet()


def open_meshes() -> list[SeveralDevices]:
    """Meshes of several devices that are open, and their submeshes."""
    return [each for each in list(_meshes) if all(unit.is_open for unit in each.units)]


def chip_of(board: str, device_id: int) -> SimChip:
    """A chip of a board; RuntimeError if there is none."""
    from ttmlir.metalium.device import chip_of_board

    try:
        return chip_of_board(board, device_id)
    except MetaliumError as error:
        raise UsageError(str(error)) from error


def num_chips(board: str) -> int:
    """How many chips a board has."""
    return board_named(board).num_chips


# --- Reports --------------------------------------------------------------------------------------


def get_memory_view(device: MeshDevice, buffer_type: BufferType) -> MemoryView:
    """How full a memory is."""
    device.check_open()
    return device.get_memory_view(buffer_type)


def ReadDeviceProfiler(device: MeshDevice) -> None:
    """Nothing: operations on tensors take no time on a simulated device."""
    device.check_open()
