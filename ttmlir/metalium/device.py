"""Devices and their command queues, as the host sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING
from weakref import WeakSet

from ttmlir.layout.enums import Arch
from ttmlir.layout.system import BOARD_NAMES
from ttmlir.layout.system import board as board_named
from ttmlir.metalium.cores import CoreCoord, CoreSpec, cores_of
from ttmlir.metalium.errors import MetaliumError, host_call
from ttmlir.optable.kernel.releases import RELEASES, Release
from ttmlir.runtime.tensor import Device as RuntimeDevice
from ttmlir.runtime.tensor import Numerics
from ttmlir.sim.machine.cluster import Cluster, End
from ttmlir.sim.machine.device import SimChip, SimDevice
from ttmlir.sim.machine.fabric import Fabric
from ttmlir.sim.options import SimOptions

if TYPE_CHECKING:
    from ttmlir.sim.execution.run import CommandQueue


def chip_of_board(name: str, device_id: int) -> SimChip:
    """The chip with this number on a board; MetaliumError if there is none."""
    if name not in BOARD_NAMES:
        raise MetaliumError(f"unknown board '{name}'; known are {', '.join(BOARD_NAMES)}")
    system = board_named(name)
    if not 0 <= device_id < system.num_chips:
        raise MetaliumError(
            f"board {name} has no device {device_id}; its devices are numbered 0 to "
            f"{system.num_chips - 1}"
        )
    return SimChip.of_board(name, device_id)


_devices: WeakSet[Device] = WeakSet()
"""Devices that were opened and are still known to somebody."""
_openings = count()
_fabrics: dict[int, Fabric] = {}
"""Those of open meshes, by when they were opened; of a chip that is opened anew there is none."""


def remember_fabric(fabric: Fabric) -> None:
    """Have a fabric be found by the numbers of its chips."""
    forget_fabric(fabric)
    _fabrics[next(_openings)] = fabric


def forget_fabric(fabric: Fabric | None) -> None:
    """Forget the fabric of a mesh that is closed."""
    for number, each in list(_fabrics.items()):
        if each is fabric:
            del _fabrics[number]


def fabric_of_chip(chip: int) -> Fabric | None:
    """The fabric of the open mesh that has a chip, of several the one opened last."""
    found = [each for each in _fabrics.values() if chip in each.cluster.devices]
    return found[-1] if found else None


def check_cores(cores: Iterable[tuple[int, int]], chips: Sequence[SimChip] | None = None) -> None:
    """MetaliumError for a core that is on none of the chips, which are those of all open devices.

    A program does not know its device before it is enqueued. Where no device is open, all cores
    may be meant.
    """
    if chips is None:
        chips = [device.simulated.chip for device in list(_devices) if device.is_open]
    for x, y in cores:
        if chips and not any(chip.has_worker((x, y)) for chip in chips):
            grids = " and of the ".join(sorted({chip.workers_text for chip in chips}))
            raise MetaliumError(
                f"core ({x}, {y}) is outside of the {grids}; use other cores, or open the device "
                "that the program is for first"
            )


def find_release() -> Release | None:
    """The release of tt-metal that the device opened last is for; None if it does not say."""
    opened = [device for device in list(_devices) if device.is_open]
    last = max(opened, key=lambda device: device.opening, default=None)
    return None if last is None else last.release


def check_semaphore_value(value: object) -> int:
    """The value of a semaphore; MetaliumError for what does not fit into its word."""
    if not isinstance(value, int) or not 0 <= value < 1 << 32:
        raise MetaliumError(f"a semaphore is set to {value!r}; it has 32 bits, no sign")
    return value


def check_device(device: object) -> Device:
    """A device that is open; MetaliumError for anything else."""
    if not isinstance(device, Device):
        raise MetaliumError(
            f"{device!r} is no device; CreateDevice(0) or MeshDevice.create_unit_mesh(0) opens one"
        )
    device.check_open()
    return device


def existing_cores(core_spec: CoreSpec) -> tuple[tuple[int, int], ...]:
    """The cores that are meant; MetaliumError for one that no open device has."""
    cores = cores_of(core_spec)
    check_cores(cores)
    return cores


class Device(RuntimeDevice):
    """A simulated device; methods are named as those of tt-metal's IDevice.

    It is a device of the runtime, too: programs of `.ttnn` files run on it.
    """

    def __init__(
        self,
        device_id: int,
        chip: SimChip,
        options: SimOptions,
        print_line: Callable[[str], None] | None,
    ) -> None:
        """An open device; `CreateDevice` makes it."""
        super().__init__((device_id,), Numerics(options.numerics))
        self.simulated = SimDevice(chip, options, device_id=device_id, print_line=print_line)
        """The device as the simulator knows it."""
        self.cluster: Cluster | None = None
        """The devices of the mesh that it is opened in, and their links, if there are several."""
        self.fabric: Fabric | None = None
        """The routers of the mesh, if it was opened with some."""
        self.opening = next(_openings)
        """The number of its opening, which grows from device to device."""
        # A mesh that had the chip and was never closed is not there any more.
        forget_fabric(fabric_of_chip(device_id))
        _devices.add(self)

    def get_devices(self) -> list[Device]:
        """The device, or those of a mesh, row by row."""
        return [self]

    def __repr__(self) -> str:
        """Number, chip, numerics, and whether it was closed."""
        state = "" if self.is_open else ", closed"
        grid = self.simulated.chip.workers_text
        return f"Device({self.id()}: {grid}, numerics={self.numerics.value}{state})"

    @cached_property
    def _queue(self) -> CommandQueue:
        """The queue, made when it is first needed: many devices never run a kernel."""
        return self.create_queue()

    def create_queue(self) -> CommandQueue:
        """The queue of a new device."""
        from ttmlir.sim.execution.run import CommandQueue

        return CommandQueue(self.simulated)

    @property
    def release(self) -> Release | None:
        """The release of tt-metal that the device is for; None if it does not say."""
        return RELEASES.get(self.simulated.options.tt_metal or "")

    def id(self) -> int:
        """The number of the device."""
        return self.chip_ids[0]

    @property
    def printed(self) -> list[str]:
        """Lines that kernels printed."""
        return self.simulated.printed

    def command_queue(self, index: int = 0) -> CommandQueue:
        """The queue that commands go to; MetaliumError if the device is closed."""
        self.check_open()
        if index != 0:
            raise MetaliumError(f"command queue {index} does not exist; a device has queue 0")
        return self._queue

    def compute_with_storage_grid_size(self) -> CoreCoord:
        """Columns and rows of the cores that programs can use."""
        return CoreCoord(*self.simulated.chip.grid)

    def worker_core_from_logical_core(self, core: tuple[int, int]) -> CoreCoord:
        """Where on the network a core is, for the addresses that kernels make."""
        with host_call():
            return CoreCoord(*self.simulated.chip.noc_coordinate((core[0], core[1])))

    def get_active_ethernet_cores(
        self, skip_reserved_tunnel_cores: bool = False
    ) -> list[CoreCoord]:
        """The Ethernet cores with a link to another device that is open, at (0, channel)."""
        cluster = self.cluster
        channels = () if cluster is None else cluster.channels(self.id())
        return [CoreCoord(0, channel) for channel in channels]

    def get_ethernet_sockets(self, connected_chip_id: int) -> list[CoreCoord]:
        """Those with a link to a device; both ends list their links in the same order."""
        cluster = self.cluster
        ends = [] if cluster is None else cluster.links(self.id(), connected_chip_id)
        return [CoreCoord(0, here.channel) for here, _ in ends]

    def get_connected_ethernet_core(self, eth_core: tuple[int, int]) -> tuple[int, CoreCoord]:
        """The device and the Ethernet core at the other end of a link; MetaliumError without."""
        cluster = self.cluster
        other = None if cluster is None else cluster.other_end(End(self.id(), eth_core[1]))
        if other is None:
            raise MetaliumError(
                f"Ethernet core ({eth_core[0]}, {eth_core[1]}) of device {self.id()} has no link "
                "to a device that is open; get_active_ethernet_cores() lists those that have"
            )
        return other.device, CoreCoord(0, other.channel)

    def ethernet_core_from_logical_core(self, eth_core: tuple[int, int]) -> CoreCoord:
        """Where on the network an Ethernet core is."""
        with host_call():
            core = self.simulated.ethernet_core(eth_core[1])
        return CoreCoord(*core.coordinate)

    def num_dram_channels(self) -> int:
        """Channels of DRAM."""
        return self.simulated.chip.num_dram_channels

    def l1_size_per_core(self) -> int:
        """Bytes of L1 of a core."""
        return self.simulated.chip.l1_size

    def clock_hz(self) -> int:
        """Cycles per second."""
        return self.simulated.chip.clock_hz

    def check_open(self) -> None:
        """MetaliumError if the device is closed."""
        if not self.is_open:
            raise MetaliumError(f"device {self.id()} is closed")

    def close(self) -> bool:
        """End the use of the device; MetaliumError if reads were never finished."""
        self.check_open()
        self.is_open = False
        if "_queue" in self.__dict__:
            self._queue.is_open = False
        if "_queue" in self.__dict__ and self._queue.open_reads:
            raise MetaliumError(
                f"device {self.id()} is closed while {self._queue.open_reads} reads are not "
                "finished; call Finish before the data is used"
            )
        return True

    def arch(self) -> Arch:
        """The generation."""
        return self.simulated.chip.arch

    def grid_size(self) -> CoreCoord:
        """Columns and rows of the network, DRAM and other tiles included."""
        return CoreCoord(*self.simulated.chip.noc_size)

    def logical_grid_size(self) -> CoreCoord:
        """Columns and rows of the worker cores."""
        return self.compute_with_storage_grid_size()

    def dram_size_per_channel(self) -> int:
        """Bytes of a channel of DRAM."""
        return self.simulated.chip.dram_channel_size
