"""How tensors are divided over the devices of a mesh, and put together again.

A distribution is a shape of devices with a placement along each of its dimensions: replicated, or
sharded along a dimension of the tensor. Devices take its places in row-major order.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError, UsageError
from ttmlir.metalium.mesh_shapes import MeshCoordinate, MeshCoordinateRange, MeshShape
from ttmlir.ttnn.errors import check_arguments

if TYPE_CHECKING:
    from ttmlir.runtime.tensor import Array
    from ttmlir.ttnn.device.mesh import MeshDevice


# --- Placements -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlacementReplicate:
    """Every device has all of a tensor."""


@dataclass(frozen=True)
class PlacementShard:
    """Every device has a part along a dimension."""

    dim: int

    def __repr__(self) -> str:
        """As ttnn prints it."""
        return f"PlacementShard({self.dim})"


Placement = PlacementReplicate | PlacementShard


@dataclass(frozen=True)
class TensorTopology:
    """How a tensor is divided over a mesh."""

    shape: MeshShape
    placed: tuple[Placement, ...]
    coordinates: tuple[MeshCoordinate, ...]

    def distribution_shape(self) -> MeshShape:
        """The extents of the distribution."""
        return self.shape

    def placements(self) -> list[Placement]:
        """What is along each dimension of the distribution."""
        return [*self.placed]

    def mesh_coords(self) -> list[MeshCoordinate]:
        """The devices of the mesh, in the order of the parts."""
        return [*self.coordinates]

    def replicated(self) -> TensorTopology:
        """The same devices, each with all of a tensor."""
        placed = (PlacementReplicate(),) * len(self.placed)
        return TensorTopology(self.shape, placed, self.coordinates)

    def __repr__(self) -> str:
        """As ttnn prints it."""
        return (
            f"TensorTopology(distribution_shape={self.shape}, placements=SmallVector"
            f"({[*self.placed]}), mesh_coords={', '.join(map(str, self.coordinates))})"
        )


def replicated_topology(mesh: MeshShape) -> TensorTopology:
    """All of a tensor on each device of a mesh."""
    devices = MeshShape([mesh.mesh_size()])
    return TensorTopology(devices, (PlacementReplicate(),), tuple(MeshCoordinateRange(mesh)))


def common_topology(operands: Sequence[TensorTopology]) -> TensorTopology:
    """The topology of what is computed of tensors: that with the most dimensions.

    A dimension is replicated where it is so for all operands of that shape.
    """
    rank = max(len(each.placed) for each in operands)
    largest = [each for each in operands if len(each.placed) == rank]
    first = largest[0]
    alike = [each.placed for each in largest if each.shape == first.shape]
    placed = tuple(
        next((each for each in placements if isinstance(each, PlacementShard)), placements[0])
        for placements in zip(*alike, strict=True)
    )
    return TensorTopology(first.shape, placed, first.coordinates)


# --- Configurations -------------------------------------------------------------------------------


class MeshMapperConfig:
    """What becomes of a tensor along each dimension of a mesh."""

    @check_arguments
    def __init__(
        self,
        placements: Sequence[Placement] | int | None = None,
        mesh_shape_override: MeshShape | int | None = None,
        mesh_offset_override: MeshCoordinate | None = None,
        *,
        row_dim: int | None = None,
        col_dim: int | None = None,
    ) -> None:
        """Placements; or the dimensions that rows and columns divide, None for copies.

        `mesh_shape_override` is the shape of a distribution over all devices of the mesh.
        """
        if isinstance(placements, int) or isinstance(mesh_shape_override, int):
            # MeshMapperConfig(row_dim, col_dim)
            row_dim, col_dim = cast("Any", placements), cast("Any", mesh_shape_override)
            placements = mesh_shape_override = None
        if placements is None:
            dims = (row_dim, col_dim)
            placements = [
                PlacementReplicate() if dim is None else PlacementShard(dim) for dim in dims
            ]
        self.placements: tuple[Placement, ...] = tuple(placements)
        for each in self.placements:
            if not isinstance(cast("object", each), Placement):
                raise ArgumentTypeError(
                    f"a placement is a PlacementShard(dim) or a PlacementReplicate(), not {each!r}"
                )
        self.mesh_shape_override = mesh_shape_override
        if mesh_offset_override is not None and any(mesh_offset_override.coords()):
            raise UsageError(
                "mesh_offset_override leaves devices without a part, which is not supported; "
                "distribute over mesh_device.create_submesh(shape, offset)"
            )

    def __repr__(self) -> str:
        """As ttnn prints it."""
        return f"MeshMapperConfig(placements: {[*self.placements]})"


class MeshComposerConfig:
    """The dimensions of a tensor along which the parts of a mesh's dimensions are joined."""

    @check_arguments
    def __init__(
        self,
        dims: Sequence[int] | int | None = None,
        mesh_shape_override: MeshShape | int | None = None,
        mesh_offset_override: MeshCoordinate | None = None,
        *,
        row_dim: int | None = None,
        col_dim: int | None = None,
    ) -> None:
        """A dimension for each of the mesh; `mesh_shape_override` takes a part of its devices."""
        if isinstance(dims, int):
            # MeshComposerConfig(row_dim, col_dim)
            row_dim, col_dim = dims, cast("Any", mesh_shape_override)
            dims = mesh_shape_override = None
        if dims is None:
            if row_dim is None or col_dim is None:
                raise ArgumentTypeError("MeshComposerConfig takes dims, or row_dim and col_dim")
            dims = (row_dim, col_dim)
        self.dims = tuple(dims)
        self.mesh_shape_override = mesh_shape_override
        self.mesh_offset_override = mesh_offset_override

    def __repr__(self) -> str:
        """As ttnn prints it."""
        return f"MeshComposerConfig(dims: {[*self.dims]})"


def _shape_of(mesh: MeshDevice | MeshShape) -> MeshShape:
    """The extents of a mesh; TypeError for what is none."""
    shape = mesh if isinstance(mesh, MeshShape) else getattr(mesh, "shape", None)
    if not isinstance(shape, MeshShape):
        raise ArgumentTypeError(f"mesh_device is what ttnn.open_mesh_device returns, not {mesh!r}")
    return shape


# --- From a tensor to a mesh ----------------------------------------------------------------------


class TensorToMesh:
    """How a tensor goes to a mesh."""

    def __init__(self, mesh: MeshDevice | MeshShape, config: MeshMapperConfig) -> None:
        """RuntimeError unless the configuration has a placement for each dimension of the mesh."""
        self.mesh_shape = _shape_of(mesh)
        self.mesh_device = None if isinstance(mesh, MeshShape) else mesh
        override = config.mesh_shape_override
        self.shape = self.mesh_shape if override is None else _as_shape(override)
        self.placements = config.placements
        if len(self.placements) != self.shape.dims():
            raise ArgumentError(
                f"{self.shape} has {self.shape.dims()} dimensions, but {config} has "
                f"{len(self.placements)} placements"
            )
        if self.shape.mesh_size() != self.mesh_shape.mesh_size():
            raise UsageError(
                f"a distribution over {self.shape} has {self.shape.mesh_size()} parts for the "
                f"{self.mesh_shape.mesh_size()} devices of {self.mesh_shape}; each needs one"
            )

    def unwrap(self) -> TensorToMesh:
        """The mapper itself."""
        return self

    @property
    def topology(self) -> TensorTopology:
        """How the tensors are divided that it makes."""
        coordinates = tuple(MeshCoordinateRange(self.mesh_shape))
        return TensorTopology(self.shape, self.placements, coordinates)

    def divide(self, array: Array) -> list[Array]:
        """The part of each device, in row-major order; RuntimeError if parts are not equal."""
        shards: dict[int, tuple[int, int]] = {}
        for axis, placement in enumerate(self.placements):
            if isinstance(placement, PlacementShard):
                dim = self._dimension(placement.dim, array, self.shape[axis])
                if dim in shards:
                    raise ArgumentError(
                        f"dimension {dim} is sharded along two dimensions of the mesh; shard it "
                        "over all devices, with mesh_shape_override=ttnn.MeshShape([devices])"
                    )
                shards[dim] = axis, array.shape[dim] // self.shape[axis]
        parts: list[Array] = []
        for places in np.ndindex(*self.shape):
            chosen = [slice(None)] * array.ndim
            for dim, (axis, extent) in shards.items():
                chosen[dim] = slice(places[axis] * extent, (places[axis] + 1) * extent)
            parts.append(array[tuple(chosen)])
        return parts

    @staticmethod
    def _dimension(dim: int, array: Array, count: int) -> int:
        if not -array.ndim <= dim < array.ndim:
            raise ArgumentError(f"dimension {dim} is out of range for a tensor of {array.ndim}")
        dim %= array.ndim
        if array.shape[dim] % count:
            raise ArgumentError(
                f"dimension {dim} of a tensor of {list(array.shape)} has {array.shape[dim]} "
                f"elements, which {count} devices cannot share evenly; pad it to a multiple of "
                f"{count} first"
            )
        return dim


def _as_shape(extents: Iterable[int]) -> MeshShape:
    return extents if isinstance(extents, MeshShape) else MeshShape(list(extents))


def _all_devices(mesh: MeshDevice) -> MeshShape:
    """All devices of a mesh in a line."""
    return MeshShape([_shape_of(mesh).mesh_size()])


def replicate_tensor_to_mesh_mapper(mesh_device: MeshDevice) -> TensorToMesh:
    """Every device gets all of a tensor."""
    config = MeshMapperConfig([PlacementReplicate()], _all_devices(mesh_device))
    return TensorToMesh(mesh_device, config)


def shard_tensor_to_mesh_mapper(mesh_device: MeshDevice, dim: int) -> TensorToMesh:
    """Every device gets a part along a dimension, row by row."""
    config = MeshMapperConfig([PlacementShard(dim)], _all_devices(mesh_device))
    return TensorToMesh(mesh_device, config)


ReplicateTensorToMesh = replicate_tensor_to_mesh_mapper
ShardTensorToMesh = shard_tensor_to_mesh_mapper


def ShardTensor2dMesh(
    mesh_device: MeshDevice, mesh_shape: Sequence[int], dims: Sequence[int | None]
) -> TensorToMesh:
    """Every device gets a part along the dimensions that rows and columns divide; None copies."""
    placements = [PlacementReplicate() if dim is None else PlacementShard(dim) for dim in dims]
    return TensorToMesh(mesh_device, MeshMapperConfig(placements, _as_shape(mesh_shape)))


def create_mesh_mapper(
    mesh_device: MeshDevice | MeshShape, config: MeshMapperConfig
) -> TensorToMesh:
    """How a tensor goes to a mesh."""
    if not isinstance(cast("object", config), MeshMapperConfig):
        raise ArgumentTypeError(f"config is a ttnn.MeshMapperConfig, not {config!r}")
    return TensorToMesh(mesh_device, config)


# --- From a mesh to a tensor ----------------------------------------------------------------------


class MeshToTensor:
    """How a tensor comes from a mesh."""

    def __init__(self, mesh: MeshDevice | MeshShape, config: MeshComposerConfig) -> None:
        """RuntimeError unless the configuration has a dimension for each of the mesh's."""
        self.mesh_shape = _shape_of(mesh)
        override = config.mesh_shape_override
        self.shape = self.mesh_shape if override is None else _as_shape(cast("Any", override))
        self.dims = config.dims
        if len(self.dims) != self.shape.dims():
            raise ArgumentError(
                f"{self.shape} has {self.shape.dims()} dimensions, but {config} names "
                f"{len(self.dims)}"
            )
        if len({*self.dims}) < len(self.dims):
            raise ArgumentError(
                f"{config} joins two dimensions of the mesh along the same one of the tensor; "
                "ttnn.ConcatMeshToTensor joins the parts of all devices along one"
            )
        offset = config.mesh_offset_override
        self.offset = (0,) * self.shape.dims() if offset is None else offset.coords()

    def unwrap(self) -> MeshToTensor:
        """The composer itself."""
        return self

    def join(self, parts: Sequence[Array]) -> Array:
        """The parts of the devices that it takes as one array.

        RuntimeError if the parts are of another mesh, or do not fit together.
        """
        if len(parts) != self.mesh_shape.mesh_size():
            raise UsageError(
                f"the composer is for the {self.mesh_shape.mesh_size()} devices of "
                f"{self.mesh_shape}, the tensor has {len(parts)} parts"
            )
        rank = parts[0].ndim
        for dim in self.dims:
            if not -rank <= dim < rank:
                raise ArgumentError(f"dimension {dim} is out of range for a tensor of {rank}")
        return self._join(parts, self._first_places(), 0)

    def _first_places(self) -> list[int]:
        """The parts that are taken, in the order of the composer's own shape."""
        mesh = tuple(self.mesh_shape)
        if math.prod(self.shape) > math.prod(mesh):
            raise UsageError(f"{self.shape} from {self.offset} on is not in {self.mesh_shape}")
        places = [*np.ndindex(*self.shape)]
        if len(mesh) == self.shape.dims() and all(
            start + extent <= whole
            for start, extent, whole in zip(self.offset, self.shape, mesh, strict=True)
        ):
            moved = (tuple(np.add(place, self.offset)) for place in places)
            return [int(np.ravel_multi_index(place, mesh)) for place in moved]
        if any(self.offset):
            raise UsageError(f"{self.shape} from {self.offset} on is not in {self.mesh_shape}")
        return [*range(len(places))]

    def _join(self, parts: Sequence[Array], places: Sequence[int], axis: int) -> Array:
        if axis == self.shape.dims():
            return parts[places[0]]
        size = len(places) // self.shape[axis]
        pieces = [
            self._join(parts, places[start : start + size], axis + 1)
            for start in range(0, len(places), size)
        ]
        try:
            return np.concatenate(pieces, self.dims[axis])
        except ValueError as error:
            raise UsageError(f"the parts of the devices differ in their shapes: {error}") from error


def concat_mesh_to_tensor_composer(mesh_device: MeshDevice, dim: int) -> MeshToTensor:
    """The parts of all devices are put together along a dimension, row by row."""
    return MeshToTensor(mesh_device, MeshComposerConfig([dim], _all_devices(mesh_device)))


ConcatMeshToTensor = concat_mesh_to_tensor_composer


def ConcatMesh2dToTensor(
    mesh_device: MeshDevice, mesh_shape: Sequence[int], dims: Sequence[int]
) -> MeshToTensor:
    """The parts are put together along the dimensions that rows and columns are joined along."""
    return MeshToTensor(mesh_device, MeshComposerConfig([*dims], _as_shape(mesh_shape)))


def create_mesh_composer(
    mesh_device: MeshDevice | MeshShape, config: MeshComposerConfig
) -> MeshToTensor:
    """How a tensor comes from a mesh."""
    if not isinstance(cast("object", config), MeshComposerConfig):
        raise ArgumentTypeError(f"config is a ttnn.MeshComposerConfig, not {config!r}")
    return MeshToTensor(mesh_device, config)


CppTensorToMesh, CppMeshToTensor = TensorToMesh, MeshToTensor


# --- For all conversions of a block ---------------------------------------------------------------

_mapper: ContextVar[TensorToMesh | None] = ContextVar("mapper", default=None)
_composer: ContextVar[MeshToTensor | None] = ContextVar("composer", default=None)


@contextmanager
def distribute(default: TensorToMesh | MeshToTensor) -> Generator[None, None, None]:
    """A mapper for `from_torch`, or a composer for `to_torch`, within a `with` block."""
    if not isinstance(cast("object", default), TensorToMesh | MeshToTensor):
        raise ArgumentTypeError(f"distribute takes a mapper or a composer, not {default!r}")
    variable: ContextVar[Any] = _mapper if isinstance(default, TensorToMesh) else _composer
    token = variable.set(default)
    try:
        yield
    finally:
        variable.reset(token)


def choose_mapper(given: Any) -> TensorToMesh | None:
    """The mapper of a conversion, or that of the block; TypeError for what is none."""
    mapper = _mapper.get() if given is None else given
    if mapper is not None and not isinstance(mapper, TensorToMesh):
        raise ArgumentTypeError(
            f"mesh_mapper is what ttnn.create_mesh_mapper returns, not {mapper!r}"
        )
    return mapper


def choose_composer(given: Any) -> MeshToTensor | None:
    """The composer of a conversion, or that of the block; TypeError for what is none."""
    composer = _composer.get() if given is None else given
    if composer is not None and not isinstance(composer, MeshToTensor):
        raise ArgumentTypeError(
            f"mesh_composer is what ttnn.create_mesh_composer returns, not {composer!r}"
        )
    return composer
