"""Where the tensors of a model lie on a mesh of devices, and what one device computes of them.

`DTensor`s say how weights and arguments are divided. A model is traced for one device, with the
parts that it has; the program that comes out takes and returns whole tensors, and says itself where
they are divided, exchanged and joined (`operations`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NoReturn

from ttmlir.errors import ArgumentError
from ttmlir.frontend.torch.distributed.operations import operations
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.locations import location_of_here
from ttmlir.mlir.reporting import LocatedError

Place = tuple[int, ...]

# --- Tensors --------------------------------------------------------------------------------------


def is_distributed(tensor: object) -> bool:
    """Whether a tensor is one of several devices."""
    return isinstance(tensor, _classes())


def _classes() -> tuple[type, ...]:
    """The classes of tensors of several devices; none where nobody has imported them."""
    homes = (
        ("torch.distributed.tensor", "DTensor"),
        ("torch.distributed._local_tensor", "LocalTensor"),
        ("torch.distributed._functional_collectives", "AsyncCollectiveTensor"),
    )
    found = ((sys.modules.get(home), name) for home, name in homes)
    return tuple(getattr(home, name) for home, name in found if hasattr(home, name))


def _is_dtensor(tensor: object) -> bool:
    home = sys.modules.get("torch.distributed.tensor")
    return home is not None and isinstance(tensor, home.DTensor)


def whole_of(tensor: Any, what: str) -> Any:
    """The numbers of a tensor of several devices in one tensor; others are returned as they are.

    ArgumentError if the devices have different numbers of it, or not all have been kept.
    """
    if not is_distributed(tensor):
        return tensor
    if not _is_dtensor(tensor):
        return _common(tensor, what)
    needs_gradient, tensor = tensor.requires_grad, tensor.detach()
    local, mesh = tensor._local_tensor, tensor.device_mesh
    places = [each for each in tensor.placements if not each.is_replicate()]
    for place in places:
        if type(place).__name__ != "Shard":
            _refuse_placement(what, place)
    parts = _parts(local)
    if parts is None:
        if not places or mesh.size() == 1:
            return local.requires_grad_(needs_gradient)
        raise ArgumentError(
            f"{what} has what one of {mesh.size()} devices has of it; distribute it in a block "
            "of ttmlir.virtual_devices, where all devices are, by distribute_tensor, "
            "distribute_module or parallelize_module (fully_shard makes parts of one device only)"
        )
    return (
        _joined(parts, _numbers_of(mesh), tensor.placements).detach().requires_grad_(needs_gradient)
    )


def _refuse_placement(what: str, place: Any) -> NoReturn:
    raise ArgumentError(
        f"{what} is placed as {place!r}; tensors are divided by Shard(dim), or are on all devices "
        "(Replicate())"
    )


def _parts(local: Any) -> Mapping[int, Any] | None:
    """What each device has of a tensor; None if that is not kept."""
    waiting = getattr(local, "wait", None)
    local = waiting() if callable(waiting) else local
    return getattr(local, "_local_tensors", None)


def _numbers_of(mesh: Any) -> Any:
    """The devices of a mesh; of a part of one, those that the first device is among.

    torch knows these of a part in the block of the devices alone.
    """
    root = mesh._get_root_mesh()
    names, known = mesh.mesh_dim_names or (), root.mesh_dim_names or ()
    if mesh == root or not {*names} <= {*known}:
        return mesh.mesh
    axes = [known.index(name) for name in names]
    others = [axis for axis in range(root.ndim) if axis not in axes]
    shape = [root.shape[axis] for axis in axes]
    return root.mesh.permute(*axes, *others).reshape(*shape, -1)[..., 0]


def _joined(parts: Mapping[int, Any], numbers: Any, placements: Sequence[Any]) -> Any:
    """One tensor of the parts of devices; the first axis of a mesh varies slowest."""
    if not placements:
        return parts[int(numbers)]
    rows = numbers if placements[0].is_shard() else numbers[:1]
    found = [_joined(parts, row, placements[1:]) for row in rows]
    return torch_package().cat(found, placements[0].dim) if len(found) > 1 else found[0]


def like_devices_of(tensor: Any, whole: Any, what: str) -> Any:
    """A whole tensor as one of the devices that another one is on; itself if that is on none.

    It is divided as the other is if it has the same shape; else all devices have it. Both are
    outside of programs, also behind the block of their devices. ArgumentError as by `whole_of`.
    """
    if not _is_dtensor(tensor):
        return whole
    package: Any = import_module("torch.distributed.tensor")
    specs: Any = import_module("torch.distributed.tensor._dtensor_spec")
    mesh, parts = tensor.device_mesh, _parts(tensor._local_tensor)
    is_alike = whole.shape == tensor.shape
    places = tensor.placements if is_alike else (package.Replicate(),) * mesh.ndim
    if parts is None:
        whole_of(tensor, what)
        local = whole
    else:
        kind: Any = import_module("torch.distributed._local_tensor").LocalTensor
        local = kind(_cut(whole, parts, mesh, places, what))
    meta = specs.TensorMeta(whole.shape, whole.stride(), whole.dtype)
    return package.DTensor(
        local, specs.DTensorSpec(mesh, tuple(places), tensor_meta=meta), requires_grad=False
    )


def write_whole(tensor: Any, whole: Any, what: str) -> None:
    """Copy a whole tensor into one, of which each device gets its part; as `like_devices_of`."""
    own = like_devices_of(tensor, whole, what)
    if own is whole:
        tensor.copy_(whole)
        return
    given, parts = _parts(own._local_tensor), _parts(tensor._local_tensor)
    if parts is None or given is None:
        tensor._local_tensor.copy_(whole)
        return
    for number, part in parts.items():
        part.copy_(given[number])


def _cut(
    whole: Any, devices: Iterable[int], mesh: Any, placements: Sequence[Any], what: str
) -> dict[int, Any]:
    """What each device has of a tensor that is placed on a mesh, which may be a part of another."""
    root = Mesh.of(mesh._get_root_mesh())
    axes = [root.known_axis(what, mesh, number) for number in range(mesh.ndim)]
    found: dict[int, Any] = {}
    for device in devices:
        place, part = (root.root.mesh == device).nonzero()[0].tolist(), whole
        for axis, each in zip(axes, placements, strict=True):
            if each.is_shard():
                pieces = part.chunk(root.root.shape[axis], each.dim)
                is_there = place[axis] < len(pieces)
                part = pieces[place[axis]] if is_there else pieces[0].narrow(each.dim, 0, 0)
        found[device] = part.clone()
    return found


def _common(tensor: Any, what: str) -> Any:
    """What all devices have."""
    parts = _parts(tensor)
    if parts is None:
        return tensor.wait()
    first, *others = (part.detach() for part in parts.values())
    if any(not torch_package().equal(first, other) for other in others):
        raise ArgumentError(
            f"{what} is another tensor on each device; say how they belong together by "
            "DTensor.from_local(x, mesh, [Shard(0)])"
        )
    return first


def without_sums(tensor: Any) -> Any:
    """A tensor of several devices, with the sums that are still to be made of their numbers."""
    if not _is_dtensor(tensor) or not any(each.is_partial() for each in tensor.placements):
        return tensor
    whole: Any = import_module("torch.distributed.tensor").Replicate()
    places = [whole if each.is_partial() else each for each in tensor.placements]
    return tensor.redistribute(placements=places)


def on_one_device(tensor: Any) -> Any:
    """What each device has of a tensor after all parts are exchanged and all sums are made."""
    return tensor.full_tensor() if _is_dtensor(tensor) else tensor


def placed_as(tensor: Any, other: Any) -> Any:
    """A tensor with its sums made, divided over the devices as another one is."""
    is_other = _is_dtensor(tensor) and _is_dtensor(other) and tensor.placements != other.placements
    return tensor.redistribute(placements=other.placements) if is_other else tensor


def as_of_devices(tensor: Any, other: Any) -> Any:
    """A tensor that all devices have, as one of those that another is on, if it is on several."""
    if not _is_dtensor(other):
        return tensor
    package: Any = import_module("torch.distributed.tensor")
    places = [package.Replicate()] * other.device_mesh.ndim
    return package.DTensor.from_local(tensor, other.device_mesh, places, run_check=False)


@contextmanager
def alone() -> Generator[None]:
    """Let torch compute with tensors as on one device, also in a block of virtual devices."""
    local = sys.modules.get("torch.distributed._local_tensor")
    if local is None or local.local_tensor_mode() is None:
        yield
        return
    modes: Any = import_module("torch.utils._python_dispatch")
    with local.maybe_disable_local_tensor_mode(), modes._disable_current_modes():
        yield


# --- Meshes ---------------------------------------------------------------------------------------


@dataclass
class Mesh:
    """A mesh of devices, whose axes programs name by numbers."""

    root: Any
    """The mesh of torch that others are parts of."""
    extents: Place
    """Those of several devices, of which there are two or more: rows and columns."""
    axes: Place
    """For each axis of torch, which of these it is; axes of one device are the first."""

    @classmethod
    def of(cls, root: Any) -> Mesh:
        """ArgumentError for a mesh whose devices are not in order."""
        sizes = tuple(root.shape)
        long = [axis for axis, extent in enumerate(sizes) if extent > 1]
        if root.mesh.flatten().tolist() != list(range(math.prod(sizes))):
            raise ArgumentError(
                "the devices of the mesh are not all devices in their order; "
                "torch.distributed.device_mesh.init_device_mesh makes such a mesh"
            )
        extents = [sizes[axis] for axis in long]
        first = max(2 - len(extents), 0)
        numbers = {axis: first + place for place, axis in enumerate(long)}
        axes = tuple(numbers.get(axis, 0) for axis in range(len(sizes)))
        return cls(root, (*((1,) * first), *extents), axes)

    def axis_of(self, mesh: Any, number: int) -> int | None:
        """The axis of the root that one of a part of it is; None for others."""
        names, roots = mesh.mesh_dim_names, self.root.mesh_dim_names
        if mesh == self.root:
            return number
        if names is None or roots is None or names[number] not in roots:
            return None
        return roots.index(names[number])

    def known_axis(self, what: str, mesh: Any, number: int) -> int:
        """As `axis_of`; ArgumentError if there is none."""
        axis = self.axis_of(mesh, number)
        if axis is None:
            raise ArgumentError(
                f"{what} is on a mesh that is no part of that of others by the names of axes; "
                "mesh['name'] is one"
            )
        return axis

    def dims(self, what: str, tensor: Any) -> list[int]:
        """For each axis of a program, the dimension of a tensor that is divided over it, or -1."""
        found = [-1] * len(self.extents)
        for number, place in enumerate(tensor.placements):
            axis = self.known_axis(what, tensor.device_mesh, number)
            if not place.is_replicate() and self.root.shape[axis] > 1:
                if type(place).__name__ != "Shard":
                    _refuse_placement(what, place)
                found[self.axes[axis]] = place.dim % tensor.dim()
        return found

    def groups(self) -> dict[Place, Place]:
        """The axes that the devices of a group lie along, by those of the first device's group."""
        numbers, found = self.root.mesh, dict[Place, Place]()
        rank = numbers.dim()
        for axis in range(rank):
            row = numbers[tuple(slice(None) if each == axis else 0 for each in range(rank))]
            found[tuple(row.tolist())] = (self.axes[axis],) if len(row) > 1 else ()
        long = sorted({self.axes[axis] for axis in range(rank) if self.root.shape[axis] > 1})
        found[tuple(numbers.flatten().tolist())] = tuple(long)
        return found


_GIVEN = ContextVar[Any]("given", default=None)
"""The mesh that the user names, for programs without DTensors."""


@contextmanager
def on_mesh(mesh: Any) -> Generator[None]:
    """Trace programs for the devices of a mesh of torch, also those that have no DTensors."""
    token = _GIVEN.set(mesh)
    try:
        yield
    finally:
        _GIVEN.reset(token)


# --- Devices --------------------------------------------------------------------------------------


@dataclass
class _Spec:
    """How a tensor is divided."""

    what: str
    tensor: Any
    dims: list[int]


@dataclass
class Devices:
    """How the weights and the arguments of a model are divided over a mesh."""

    mesh: Mesh
    weights: dict[str, _Spec] = field(default_factory=dict[str, _Spec])
    arguments: dict[int, _Spec] = field(default_factory=dict[int, _Spec])

    # -- the tensors of a call ------------------------------------------------------------------

    def divide_weights(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """What one device has of each weight."""
        return {
            name: self._divided(value, self.weights.get(name)) for name, value in values.items()
        }

    def divide_arguments(self, values: Sequence[Any]) -> list[Any]:
        """What one device has of each argument."""
        return [
            self._divided(value, self.arguments.get(number)) for number, value in enumerate(values)
        ]

    def spread_arguments(self, values: Sequence[Any]) -> list[Any]:
        """Whole arguments as tensors of all devices."""
        distribute: Any = import_module("torch.distributed.tensor").distribute_tensor
        return [
            value
            if (spec := self.arguments.get(number)) is None
            else distribute(value, spec.tensor.device_mesh, spec.tensor.placements)
            for number, value in enumerate(values)
        ]

    def _divided(self, value: Any, spec: _Spec | None) -> Any:
        if spec is None:
            return value
        local = operations().mesh_divide(value, spec.dims, list(self.mesh.extents))
        tensor = spec.tensor
        kind: Any = import_module("torch.distributed.tensor").DTensor
        return kind.from_local(
            local,
            tensor.device_mesh,
            tensor.placements,
            run_check=False,
            shape=tensor.shape,
            stride=tensor.stride(),
        )

    def join(self, value: Any) -> Any:
        """The whole tensor of what one device has of a result."""
        dims = [-1] * len(self.mesh.extents)
        if _is_dtensor(value):
            value = without_sums(value)
            dims = self.mesh.dims("a result", value)
            value = value.to_local()
        return operations().mesh_join(value, dims, list(self.mesh.extents))

    def join_state(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
        """The whole tensors of weights after a call; those that it has not changed are `before`."""
        return {
            name: self.join(value) if _is_changed(value) else before[name]
            for name, value in after.items()
        }

    # -- tracing --------------------------------------------------------------------------------

    @property
    def corners(self) -> list[Place]:
        """The first and the last device by their places in torch's mesh."""
        shape = tuple(self.mesh.root.shape)
        return [(0,) * len(shape), tuple(extent - 1 for extent in shape)]


def _is_changed(tensor: Any) -> bool:
    """Whether a call has written into a tensor, or into the part of it that a device has."""
    local = tensor._local_tensor if _is_dtensor(tensor) else tensor
    return max(tensor._version, local._version) > 0


def is_for_devices(exported: Any) -> bool:
    """Whether an exported program is for several devices: by a mesh that is given, or tensors."""
    if _GIVEN.get() is not None:
        return True
    given = torch_package().utils._pytree.tree_leaves(exported.example_inputs)
    return any(map(is_distributed, (*given, *exported.state_dict.values())))


def find_devices(
    weights: Mapping[str, Any], arguments: Sequence[tuple[str, Any]]
) -> Devices | None:
    """How weights by their names, and arguments with theirs, are divided; None if none is.

    Within `on_mesh` the program is for several devices even then.
    ArgumentError for arguments that cannot be divided so, and where no devices are left to trace
    for; LocatedError, at the line that compiles, for weights whose plan does not fit.
    """
    named = [(name, f"the weight '{name}'", each) for name, each in weights.items()]
    held = [(number, what, each) for number, (what, each) in enumerate(arguments)]
    divided = [each for _, _, each in (*named, *held) if _is_dtensor(each)]
    given = _GIVEN.get()
    if not divided and given is None:
        return None
    torch = torch_package()
    if not torch.distributed.is_initialized():
        raise ArgumentError(
            "the model is on devices of a block of ttmlir.virtual_devices that has ended; compile "
            "it in the block"
        )
    meshes = [each.device_mesh for each in divided] + ([] if given is None else [given])
    roots = [each._get_root_mesh() for each in meshes]
    mesh = Mesh.of(max(roots, key=lambda each: each.size()))
    found = Devices(mesh)
    for name, what, each in named:
        if _is_dtensor(each):
            try:
                found.weights[name] = _spec(mesh, what, each)
            except ArgumentError as error:
                raise LocatedError(location_of_here(), str(error)) from error
    for number, what, each in held:
        if _is_dtensor(each):
            found.arguments[number] = _spec(mesh, what, each)
    return found


def _spec(mesh: Mesh, what: str, tensor: Any) -> _Spec:
    dims = mesh.dims(what, tensor)
    for dim in {*dims} - {-1}:
        count = math.prod(mesh.extents[each] for each, other in enumerate(dims) if other == dim)
        if tensor.shape[dim] % count:
            raise ArgumentError(
                f"{what}: dimension {dim} has {tensor.shape[dim]} elements, which {count} devices "
                "do not share evenly; choose another dimension, or pad it"
            )
    return _Spec(what, tensor, dims)


_WHOLE = ContextVar[dict[int, Any] | None]("whole", default=None)
"""Whole tensors by the identities of those that they are of."""


@contextmanager
def sharing_whole_weights() -> Generator[None]:
    """Let modules that are traced have one whole tensor of each tensor that they share."""
    token = _WHOLE.set({})
    try:
        yield
    finally:
        _WHOLE.reset(token)


@contextmanager
def whole_weights(module: Any) -> Generator[None]:
    """Let a module have whole tensors for a while, instead of those of several devices."""
    torch = torch_package()
    shared = _WHOLE.get()
    whole: dict[int, Any] = {} if shared is None else shared
    with ExitStack() as stack:
        for path, inner in module.named_modules():
            for tensors in (inner._parameters, inner._buffers):
                for name, tensor in tensors.items():
                    if not is_distributed(tensor):
                        continue
                    if id(tensor) not in whole:
                        what = f"the weight '{path}.{name}'" if path else f"the weight '{name}'"
                        found = whole_of(tensor, what)
                        if isinstance(tensor, torch.nn.Parameter):
                            found = torch.nn.Parameter(found.detach(), tensor.requires_grad)
                        whole[id(tensor)] = found
                    stack.callback(tensors.__setitem__, name, tensor)
                    tensors[name] = whole[id(tensor)]
        yield
