"""Meshes of devices, which have one device here.

Source: tt-metal, tt_metal/api/tt-metalium/mesh_device.hpp, mesh_config.hpp.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from ttmlir.metalium.device import Device
from ttmlir.metalium.distributed.shapes import MeshCoordinate, MeshShape, check_place
from ttmlir.metalium.errors import MetaliumError, names_fields, names_options
from ttmlir.metalium.host_api import open_device
from ttmlir.sim.options import Numerics, SimOptions

if TYPE_CHECKING:
    from ttmlir.metalium.distributed.workloads import MeshCommandQueue


@names_fields
@dataclass(frozen=True)
class MeshDeviceConfig:
    """Which devices a mesh is made of."""

    mesh_shape: MeshShape
    offset: MeshCoordinate | None = None
    physical_device_ids: tuple[int, ...] = ()


class MeshDevice(Device):
    """A mesh of one device, which it is at the same time; `create_unit_mesh` makes it."""

    @classmethod
    @names_options
    def create_unit_mesh(
        cls,
        device_id: int = 0,
        *,
        board: str = "n150",
        numerics: Numerics = "device",
        sanitize: bool = True,
        timed: bool = True,
        schedule_seed: int | None = None,
        delay_copies: bool = False,
        cycle_limit: int = SimOptions.cycle_limit,
        leniencies: frozenset[str] = frozenset(),
        max_findings: int = 1,
        print_line: Callable[[str], None] | None = None,
    ) -> MeshDevice:
        """Open a simulated device of a board; the options are those of `CreateDevice`."""
        return open_device(
            cls,
            device_id,
            board,
            print_line,
            numerics=numerics,
            sanitize=sanitize,
            timed=timed,
            schedule_seed=schedule_seed,
            delay_copies=delay_copies,
            cycle_limit=cycle_limit,
            leniencies=leniencies,
            max_findings=max_findings,
        )

    @classmethod
    def create(cls, config: MeshDeviceConfig) -> MeshDevice:
        """Open the device of a mesh of 1x1; MetaliumError for larger ones."""
        if not isinstance(cast("object", config), MeshDeviceConfig):
            raise MetaliumError(f"MeshDevice.create takes a MeshDeviceConfig, not {config!r}")
        if config.mesh_shape.mesh_size() != 1:
            raise MetaliumError(
                f"{config.mesh_shape} has {config.mesh_shape.mesh_size()} devices; a mesh has one "
                "device here: open others by MeshDevice.create_unit_mesh(device_id)"
            )
        return cls.create_unit_mesh(*config.physical_device_ids[:1])

    def __repr__(self) -> str:
        """Number, chip, numerics, and whether it was closed."""
        return f"Mesh{super().__repr__()}"

    def create_queue(self) -> MeshCommandQueue:
        """The queue of a new device."""
        from ttmlir.metalium.distributed.workloads import MeshCommandQueue

        return MeshCommandQueue(self.simulated)

    def mesh_command_queue(self, cq_id: int = 0) -> MeshCommandQueue:
        """The queue that commands go to; MetaliumError if the device is closed."""
        return cast("MeshCommandQueue", self.command_queue(cq_id))

    def shape(self) -> MeshShape:
        """One row and one column."""
        return MeshShape(1, 1)

    def num_rows(self) -> int:
        """One."""
        return 1

    def num_cols(self) -> int:
        """One."""
        return 1

    def num_devices(self) -> int:
        """One."""
        return 1

    def get_device_ids(self) -> list[int]:
        """The number of the device."""
        return [self.id()]

    def get_devices(self) -> list[Device]:
        """The device."""
        return [self]

    def get_device(self, row: int | MeshCoordinate, column: int | None = None) -> Device:
        """The device at a place; MetaliumError if it is not the first one."""
        match row, column:
            case MeshCoordinate(), None:
                check_place(row)
            case int(), int():
                check_place(MeshCoordinate(row, column))
            case int(), None:
                if row != self.id():
                    raise MetaliumError(f"the mesh has device {self.id()}, no device {row}")
            case _:
                raise MetaliumError("get_device takes a MeshCoordinate, or a row and a column")
        return self
