"""Tensors on meshes of devices. Here a mesh has one device, which has all of every tensor."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ttmlir.errors import UsageError
from ttmlir.metalium.enums import NamedNumber
from ttmlir.ttnn.device.mesh import MeshDevice, MeshShape
from ttmlir.ttnn.device.opening import close_device, open_device
from ttmlir.ttnn.errors import check_arguments

if TYPE_CHECKING:
    from ttmlir.ttnn.tensor.tensor import Tensor


class FabricConfig(NamedNumber):
    """How chips are linked; without effect on one."""

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


def set_fabric_config(config: FabricConfig, *args: object, **others: object) -> None:
    """Nothing: one chip has no links."""


@dataclass(frozen=True)
class MeshCoordinate:
    """The place of a device in a mesh."""

    row: int
    column: int = 0

    def __repr__(self) -> str:
        """As ttnn prints it."""
        return f"MeshCoordinate([{self.row}, {self.column}])"


@dataclass(frozen=True)
class PlacementReplicate:
    """Every device has all of a tensor."""


@dataclass(frozen=True)
class PlacementShard:
    """Every device has a part along a dimension."""

    dim: int


@dataclass(frozen=True)
class MeshMapperConfig:
    """What becomes of a tensor along each dimension of a mesh."""

    placements: Sequence[PlacementReplicate | PlacementShard] = ()
    mesh_shape_override: MeshShape | None = None
    row_dim: int | None = None
    col_dim: int | None = None


class Distribution:
    """How a tensor goes to a mesh, or comes from it; on one device as it is."""

    def __init__(self, mesh_device: MeshDevice, *args: Any, **others: Any) -> None:
        """For the devices of a mesh."""
        self.mesh_device = mesh_device

    def unwrap(self) -> Distribution:
        """The distribution itself."""
        return self


class TensorToMesh(Distribution):
    """How a tensor goes to a mesh."""


class MeshToTensor(Distribution):
    """How a tensor comes from a mesh."""


CppTensorToMesh, CppMeshToTensor = TensorToMesh, MeshToTensor


class ReplicateTensorToMesh(TensorToMesh):
    """Every device gets all of a tensor."""


class ShardTensorToMesh(TensorToMesh):
    """Every device gets a part along a dimension."""


class ShardTensor2dMesh(TensorToMesh):
    """Every device gets a part along two dimensions."""


class ConcatMeshToTensor(MeshToTensor):
    """The parts of all devices are put together along a dimension."""


class ConcatMesh2dToTensor(MeshToTensor):
    """The parts of all devices are put together along two dimensions."""


def create_mesh_mapper(mesh_device: MeshDevice, config: object = None) -> TensorToMesh:
    """How a tensor goes to a mesh."""
    return TensorToMesh(mesh_device, config)


def create_mesh_composer(mesh_device: MeshDevice, config: object = None) -> MeshToTensor:
    """How a tensor comes from a mesh."""
    return MeshToTensor(mesh_device, config)


@check_arguments
def open_mesh_device(
    mesh_shape: Iterable[int] | None = None,
    l1_small_size: int = 0,
    trace_region_size: int = 0,
    num_command_queues: int = 1,
    dispatch_core_config: Any = None,
    offset: object = None,
    physical_device_ids: Sequence[int] = (),
    *,
    worker_l1_size: int = 0,
) -> MeshDevice:
    """A mesh of one device; RuntimeError for more."""
    shape = MeshShape(1, 1) if mesh_shape is None else MeshShape(list(mesh_shape))
    if shape.mesh_size() != 1:
        raise UsageError(f"{shape} has {shape.mesh_size()} devices; here a mesh has one")
    return open_device(
        device_id=physical_device_ids[0] if physical_device_ids else 0,
        l1_small_size=l1_small_size,
        num_command_queues=num_command_queues,
        dispatch_core_config=dispatch_core_config,
    )


def close_mesh_device(mesh_device: MeshDevice) -> None:
    """As `close_device`."""
    close_device(mesh_device)


@contextmanager
def create_mesh_device(*args: Any, **others: Any) -> Generator[MeshDevice, None, None]:
    """A mesh that is open within a `with` block."""
    mesh = open_mesh_device(*args, **others)
    try:
        yield mesh
    finally:
        close_mesh_device(mesh)


def get_device_tensors(tensor: Tensor) -> list[Tensor]:
    """The parts of all devices."""
    return [tensor]


def from_host_shards(tensors: Sequence[Tensor], mesh_shape: Iterable[int]) -> Tensor:
    """The tensor whose parts these are; RuntimeError for more than one."""
    if len(tensors) != 1:
        raise UsageError(f"{len(tensors)} parts for a mesh of one device")
    return tensors[0]


aggregate_tensor = from_host_shards


def distribute_tensor(tensor: Tensor, mapper: object, device: MeshDevice | None = None) -> Tensor:
    """The tensor on the devices of a mesh."""
    return tensor if device is None else tensor.to(device)


@contextmanager
def distribute(default: object) -> Generator[None, None, None]:
    """A mapper or a composer for all conversions within a `with` block."""
    yield


def using_distributed_env() -> bool:
    """Whether several hosts run the program: no."""
    return False
