"""Opening and closing devices, and meshes of them."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any, cast

from ttmlir.errors import ArgumentError, UsageError
from ttmlir.layout.enums import Arch
from ttmlir.layout.system import board as board_named
from ttmlir.metalium.enums import NamedNumber
from ttmlir.metalium.errors import MetaliumError
from ttmlir.metalium.meshes import MeshCoordinate, MeshDeviceConfig, MeshShape, chips_of_mesh
from ttmlir.sim.machine.card_steps import ALL_STEPS
from ttmlir.sim.machine.fabric import FabricConfig as SimFabricConfig
from ttmlir.sim.options import Numerics, SimOptions, asks_for_card_bits
from ttmlir.ttnn.device.mesh import (
    MeshDevice,
    SeveralDevices,
    chip_of,
    num_chips,
    open_meshes,
)
from ttmlir.ttnn.errors import check_arguments

# --- Devices --------------------------------------------------------------------------------------

DEFAULT_BOARD = "n150"


class DispatchCoreType(NamedNumber):
    """Cores that commands come from."""

    WORKER = 0
    ETH = 1


class DispatchCoreAxis(NamedNumber):
    """Whether the cores that commands come from are rows or columns."""

    ROW = 0
    COL = 1


@dataclass(frozen=True)
class DispatchCoreConfig:
    """Where commands come from; without effect here, since all cores are free for programs."""

    type: DispatchCoreType | object = None
    axis: DispatchCoreAxis | object = None
    fabric_tensix_config: object = None

    def __post_init__(self) -> None:
        """ValueError for what is no type, no axis, or both of what does not go together."""
        if self.type is not None and not isinstance(self.type, DispatchCoreType):
            raise ArgumentError(f"type is a DispatchCoreType, not {self.type!r}")
        if self.axis is not None and not isinstance(self.axis, DispatchCoreAxis):
            raise ArgumentError(f"axis is a DispatchCoreAxis, not {self.axis!r}")
        if (self.type, self.axis) == (DispatchCoreType.ETH, DispatchCoreAxis.COL):
            raise ArgumentError("Ethernet cores dispatch by rows: axis is DispatchCoreAxis.ROW")


_open: dict[int, MeshDevice] = {}
"""Open devices by their numbers."""
_opening = Lock()
_default: list[MeshDevice] = []
"""The default device, if there is one."""


@check_arguments
def open_device(
    *,
    device_id: int = 0,
    l1_small_size: int = 0,
    trace_region_size: int = 0,
    num_command_queues: int = 1,
    dispatch_core_config: DispatchCoreConfig | None = None,
    worker_l1_size: int = 0,
    board: str = DEFAULT_BOARD,
    numerics: Numerics = "device",
    sanitize: bool = True,
    strict: bool = True,
    card_bits: bool | None = None,
) -> MeshDevice:
    """Open a simulated device; the same one if it is open.

    `board`, `numerics` (`device`: results are rounded to the tensor's data type; `exact`: they keep
    all digits) and `sanitize` are those of the simulator. Without `strict`, operations take data
    types and layouts that a card refuses, where they have a meaning. Results of device
    numerics have the bits of a card where these are known and take few steps; with `card_bits` in
    any case, with `card_bits=False` they are the nearest numbers.
    """
    # Threads that open the same device share it.
    with _opening:
        if device_id in _open:
            opened = _open[device_id]
            _check_open_as_asked(opened, numerics, strict, card_bits)
            return opened
        if num_command_queues not in (1, 2):
            raise UsageError(f"a device has one or two command queues, not {num_command_queues}")
        has_bits = asks_for_card_bits() if card_bits is None else bool(card_bits)
        options = SimOptions(numerics=numerics, sanitize=sanitize, card_bits=has_bits)
        chip = chip_of(board, device_id)
        device = MeshDevice(device_id, chip, options, l1_small_size=l1_small_size, is_strict=strict)
        device.card_steps = _card_steps(card_bits, device)
        _open[device_id] = device
        return device


def _check_open_as_asked(
    device: MeshDevice, numerics: Numerics, strict: bool, card_bits: bool | None
) -> None:
    """UsageError for an open device that is not what somebody else opens it for."""
    if not isinstance(cast("object", numerics), str):
        raise UsageError(f"numerics are 'device' or 'exact', not {numerics!r}")
    wanted = _card_steps(card_bits, device)
    for asked, name in (
        (wanted != device.card_steps, f"{card_bits=}"),
        (not strict and device.is_strict, "strict=False"),
        (numerics != "device" and device.numerics.value != numerics, f"{numerics=}"),
    ):
        if asked:
            raise UsageError(
                f"device {device.id()} is open without {name}; close it first with "
                f"ttnn.close_device, or leave out {name.partition('=')[0]}"
            )


def _card_steps(card_bits: bool | None, device: MeshDevice) -> int:
    if card_bits not in (None, True, False):
        raise UsageError(f"card_bits is True, False or None, not {card_bits!r}")
    if card_bits is None or device.numerics.value != "device":
        return device.card_steps
    return ALL_STEPS if card_bits else 0


def close_device(device: MeshDevice) -> None:
    """Close a device, once; its tensors cannot be used any more."""
    if device.is_several:
        close_mesh_device(device)
    if not device.is_open:
        return
    _open.pop(device.id(), None)
    if _default and _default[0] is device:
        _default.clear()
    device.close()


@contextmanager
def manage_device(device_id: int = 0) -> Generator[MeshDevice, None, None]:
    """A device that is open within a `with` block."""
    device = open_device(device_id=device_id)
    try:
        yield device
    finally:
        close_device(device)


def CreateDevice(
    device_id: int = 0,
    num_command_queues: int = 1,
    l1_small_size: int = 0,
    trace_region_size: int = 0,
    dispatch_core_config: DispatchCoreConfig | None = None,
    *,
    worker_l1_size: int = 0,
) -> MeshDevice:
    """As `open_device`."""
    return open_device(
        device_id=device_id,
        num_command_queues=num_command_queues,
        l1_small_size=l1_small_size,
        trace_region_size=trace_region_size,
        dispatch_core_config=dispatch_core_config,
        worker_l1_size=worker_l1_size,
    )


def CreateDevices(
    device_ids: Iterable[int],
    num_command_queues: int = 1,
    l1_small_size: int = 0,
    trace_region_size: int = 0,
    dispatch_core_config: DispatchCoreConfig | None = None,
    *,
    worker_l1_size: int = 0,
) -> dict[int, MeshDevice]:
    """Several devices by their numbers."""
    return {
        device_id: CreateDevice(device_id, num_command_queues, l1_small_size)
        for device_id in device_ids
    }


def CloseDevice(device: MeshDevice) -> None:
    """As `close_device`."""
    close_device(device)


def CloseDevices(devices: Mapping[int, MeshDevice]) -> None:
    """Close several devices."""
    for device in devices.values():
        close_device(device)


def synchronize_device(
    device: MeshDevice, cq_id: int | None = None, sub_device_ids: Iterable[object] = ()
) -> None:
    """Wait until all commands are done."""
    device.check_open()


def SetDefaultDevice(device: MeshDevice | None) -> None:
    """Set the device that operations take where none is given; None for no device."""
    _default[:] = [] if device is None else [device]


def GetDefaultDevice() -> MeshDevice | None:
    """The device that `SetDefaultDevice` set."""
    return next(iter(_default), None)


def GetNumAvailableDevices() -> int:
    """Chips of the board."""
    return num_chips(DEFAULT_BOARD)


GetNumPCIeDevices = get_num_devices = get_num_pcie_devices = GetNumAvailableDevices


def get_device_ids() -> list[int]:
    """The numbers of the chips."""
    return list(range(GetNumAvailableDevices()))


get_pcie_device_ids = get_device_ids


def GetPCIeDeviceID(device_id: int) -> int:
    """The number of the chip that the host reaches a chip through: its own."""
    return device_id


def get_arch_name() -> str:
    """The generation of the board, such as wormhole_b0."""
    return chip_of(DEFAULT_BOARD, 0).arch.keyword


def get_l1_alignment() -> int:
    """Bytes that addresses in L1 are multiples of."""
    return chip_of(DEFAULT_BOARD, 0).l1_alignment


def get_max_worker_l1_unreserved_size() -> int:
    """Bytes of L1 of a core that buffers may take."""
    chip = chip_of(DEFAULT_BOARD, 0)
    return chip.l1_size - chip.l1_unreserved_base


def get_dram_alignment() -> int:
    """Bytes that addresses in DRAM are multiples of."""
    return chip_of(DEFAULT_BOARD, 0).dram_alignment


def _is_arch(arch: Arch, device: MeshDevice | None) -> bool:
    return (chip_of(DEFAULT_BOARD, 0).arch if device is None else device.arch()) == arch


def is_wormhole_b0(device: MeshDevice | None = None) -> bool:
    """Whether a device, or the board, is a Wormhole."""
    return _is_arch(Arch.WORMHOLE_B0, device)


def is_blackhole(device: MeshDevice | None = None) -> bool:
    """Whether a device, or the board, is a Blackhole."""
    return _is_arch(Arch.BLACKHOLE, device)


def is_grayskull(device: MeshDevice | None = None) -> bool:
    """Whether a device, or the board, is a Grayskull."""
    return _is_arch(Arch.GRAYSKULL, device)


# --- Meshes ---------------------------------------------------------------------------------------


class FabricConfig(NamedNumber):
    """How chips are linked, for kernels; operations of ttnn reach other chips at once."""

    DISABLED = 0
    FABRIC_1D_NEIGHBOR_EXCHANGE = 1
    FABRIC_1D = 2
    FABRIC_1D_RING = 3
    FABRIC_2D = 4
    FABRIC_2D_TORUS_X = 5
    FABRIC_2D_TORUS_Y = 6
    FABRIC_2D_TORUS_XY = 7
    CUSTOM = 8


class FabricReliabilityMode(NamedNumber):
    """What is done about links that are down."""

    STRICT_INIT = 0
    RELAXED_INIT = 1
    DYNAMIC_RECONFIG = 2


class FabricTensixConfig(NamedNumber):
    """Whether cores forward what links bring."""

    DISABLED = 0
    MUX = 1


_fabric_config = [FabricConfig.DISABLED]


def set_fabric_config(config: FabricConfig, *args: object, **others: object) -> None:
    """Choose the fabric of meshes that are opened from now on, over which kernels may send.

    Operations of ttnn itself reach other chips at once.
    """
    _fabric_config[0] = config


def get_fabric_config() -> FabricConfig:
    """The fabric of meshes that are opened from now on."""
    return _fabric_config[0]


@check_arguments
def open_mesh_device(
    mesh_shape: Iterable[int] | None = None,
    l1_small_size: int = 0,
    trace_region_size: int = 0,
    num_command_queues: int = 1,
    dispatch_core_config: Any = None,
    offset: MeshCoordinate | None = None,
    physical_device_ids: Sequence[int] = (),
    *,
    worker_l1_size: int = 0,
    board: str | None = None,
    numerics: Numerics = "device",
    sanitize: bool = True,
    strict: bool = True,
    card_bits: bool | None = None,
) -> MeshDevice:
    """Open chips of a board as a mesh, by default all chips of the default board.

    `board` is by default the smallest of Wormhole with as many chips. RuntimeError if it has fewer,
    or if one of them is open; a mesh of one chip that is no part of a mesh is the open device.
    """
    shape = _shape_of_mesh(mesh_shape, board)
    if board is None:
        board = next(
            (each for each in _MESH_BOARDS if num_chips(each) >= shape.mesh_size()),
            _MESH_BOARDS[-1],
        )
    try:
        config = MeshDeviceConfig(shape, offset, tuple(physical_device_ids))
        numbers = chips_of_mesh(config, board)
    except MetaliumError as error:
        raise UsageError(str(error)) from error
    with _opening:
        parts = {unit.id() for mesh in open_meshes() for unit in mesh.units}
        taken = [number for number in numbers if number in (_open if numbers[1:] else parts)]
    if taken:
        raise UsageError(f"device {taken[0]} is open; close it first with ttnn.close_device")
    units = [
        open_device(
            device_id=number,
            l1_small_size=l1_small_size,
            num_command_queues=num_command_queues,
            dispatch_core_config=dispatch_core_config,
            board=board,
            numerics=numerics,
            sanitize=sanitize,
            strict=strict,
            card_bits=card_bits,
        )
        for number in numbers
    ]
    if len(units) == 1:
        return units[0]
    mesh = SeveralDevices(units, shape)
    if _fabric_config[0] in tuple(SimFabricConfig):
        mesh.connect(SimFabricConfig(_fabric_config[0]), board)
    return mesh


_MESH_BOARDS = ("n150", "n300", "t3000", "galaxy")


def _shape_of_mesh(extents: Iterable[int] | None, board: str | None) -> MeshShape:
    """The shape of a mesh; without one, that of a board."""
    if extents is not None:
        return extents if isinstance(extents, MeshShape) else MeshShape(list(extents))
    places = board_named(DEFAULT_BOARD if board is None else board).chip_coords
    return MeshShape(max(at.y for at in places) + 1, max(at.x for at in places) + 1)


def close_mesh_device(mesh_device: MeshDevice) -> None:
    """Close all devices of a mesh, once; its tensors cannot be used any more."""
    for each in mesh_device.units:
        close_device(each)
    mesh_device.disconnect()
    mesh_device.is_open = False


@contextmanager
def create_mesh_device(*args: Any, **others: Any) -> Generator[MeshDevice, None, None]:
    """A mesh that is open within a `with` block."""
    mesh = open_mesh_device(*args, **others)
    try:
        yield mesh
    finally:
        close_mesh_device(mesh)


def using_distributed_env() -> bool:
    """Whether several hosts run the program: no."""
    return False
