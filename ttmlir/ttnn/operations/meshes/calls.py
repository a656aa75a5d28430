"""Calls with tensors of several devices: each device computes with the parts that it has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ttmlir.errors import UsageError
from ttmlir.ttnn.device.mesh import SeveralDevices
from ttmlir.ttnn.tensor.complex import ComplexTensor
from ttmlir.ttnn.tensor.distribution import TensorTopology, common_topology
from ttmlir.ttnn.tensor.tensor import DeviceStorage, MeshStorage, Tensor

if TYPE_CHECKING:
    from ttmlir.ttnn.device.mesh import MeshDevice


@dataclass(frozen=True)
class MeshCall:
    """The tensors and the meshes of a call of which at least one tensor is on several devices."""

    divided: tuple[Tensor, ...]
    meshes: tuple[MeshDevice, ...]
    count: int
    """How many devices there are."""

    @classmethod
    def of(cls, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> MeshCall | None:
        """What a call is about; None if no tensor is on several devices.

        RuntimeError for tensors of different meshes, or of a mesh and of one device.
        """
        found = [*_walk((*args, *kwargs.values()))]
        tensors = [each for each in found if isinstance(each, Tensor)]
        divided = [each for each in tensors if each.mesh_storage is not None]
        if not divided:
            return None
        storages = [cast("MeshStorage", each.mesh_storage) for each in divided]
        count = len(storages[0].parts)
        if any(len(each.parts) != count for each in storages):
            counts = sorted({len(each.parts) for each in storages})
            raise UsageError(f"operands have parts on {' and on '.join(map(str, counts))} devices")
        meshes = [each for each in found if isinstance(each, SeveralDevices)]
        meshes += [each.device for each in storages if isinstance(each.device, SeveralDevices)]
        for mesh in meshes:
            if mesh.units != meshes[0].units:
                raise UsageError(
                    "operands are on different meshes, of the devices "
                    f"{meshes[0].get_device_ids()} and {mesh.get_device_ids()}; move one of them"
                )
        if len(meshes[0].units) != count if meshes else False:
            raise UsageError(
                f"the tensor has {count} parts, the mesh has {len(meshes[0].units)} devices"
            )
        alone = next((each for each in tensors if isinstance(_raw(each), DeviceStorage)), None)
        if alone is not None:
            raise UsageError(
                f"one operand has parts on {count} devices, another one of {alone.shape} is on "
                f"device {cast('DeviceStorage', _raw(alone)).device.id()} alone; move one of them"
            )
        return cls(tuple(divided), tuple(meshes), count)

    def run(
        self,
        call: Callable[[tuple[Any, ...], dict[str, Any]], Any],
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
    ) -> Any:
        """What all devices compute, as tensors of all of them."""
        results = [
            call(
                cast("tuple[Any, ...]", pick_part(args, index)),
                {name: pick_part(value, index) for name, value in kwargs.items()},
            )
            for index in range(self.count)
        ]
        return self.join(results)

    def join(self, results: Sequence[Any]) -> Any:
        """The results of all devices as one: tensors become one of all devices."""
        first = results[0]
        match first:
            case Tensor():
                return self._join_tensors(cast("Sequence[Tensor]", results))
            case ComplexTensor():
                pair = (self.join([each[part] for each in results]) for part in (0, 1))
                return ComplexTensor(*pair)
            case list():
                return [self.join(each) for each in zip(*results, strict=True)]
            case tuple() if type(cast("object", first)) is tuple:
                # Named tuples and shapes are no results of several devices.
                return tuple(self.join(each) for each in zip(*results, strict=True))
            case _:
                return first

    def _join_tensors(self, parts: Sequence[Tensor]) -> Tensor:
        for operand in self.divided:
            storage = cast("MeshStorage", operand.mesh_storage)
            if all(a is b for a, b in zip(storage.parts, parts, strict=True)):
                return operand
        is_on_host = parts[0].device() is None
        if not is_on_host and not self.meshes:
            raise UsageError(
                f"the tensor has {self.count} parts, for the devices of a mesh; "
                f"{parts[0].device()} is one"
            )
        mesh = None if is_on_host or not self.meshes else self.meshes[0]
        return Tensor.divided(parts, mesh, self.topology)

    @property
    def topology(self) -> TensorTopology:
        """How results are divided: as their operands are."""
        storages = (cast("MeshStorage", each.mesh_storage) for each in self.divided)
        return common_topology([each.topology for each in storages])


def _raw(tensor: Tensor) -> object:
    return tensor.storage if tensor.is_allocated() else None


def _walk(values: Sequence[Any]) -> Iterator[Tensor | SeveralDevices]:
    """The tensors and the meshes in arguments, which may be lists of them."""
    for value in values:
        match value:
            case Tensor() | SeveralDevices():
                yield value
            case ComplexTensor():
                yield from (value.real, value.imag)
            case list() | tuple():
                yield from _walk(cast("Sequence[Any]", value))
            case dict():
                yield from _walk([*cast("dict[Any, Any]", value).values()])
            case _:
                pass


def pick_part(value: Any, index: int) -> Any:
    """An argument as the device with this number in the mesh gets it."""
    match value:
        case Tensor():
            storage = value.mesh_storage
            return value if storage is None else storage.parts[index]
        case SeveralDevices():
            return value.units[index]
        case ComplexTensor():
            return ComplexTensor(pick_part(value.real, index), pick_part(value.imag, index))
        case list():
            return [pick_part(each, index) for each in cast("list[Any]", value)]
        case tuple() if type(cast("object", value)) is tuple:
            return tuple(pick_part(each, index) for each in cast("tuple[Any, ...]", value))
        case dict():
            named = cast("dict[Any, Any]", value)
            return {name: pick_part(each, index) for name, each in named.items()}
        case _:
            return value
