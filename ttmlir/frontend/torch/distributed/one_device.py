"""What torch is told while a model is traced for one of several devices.

Where DTensors take a part by the place of the device, there is an operation that says so instead:
the trace is the same for all devices.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

from ttmlir.frontend.torch.distributed.operations import operations, size_of
from ttmlir.frontend.torch.distributed.placing import Mesh, Place, is_distributed
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.locations import location_of_here
from ttmlir.frontend.torch.replacing import attributes_replaced
from ttmlir.mlir.reporting import LocatedError


@contextmanager
def as_device(mesh: Mesh, place: Place) -> Generator[None]:
    """Let torch take this process for the device at a place of a mesh."""
    with ExitStack() as stack:
        for owner, name, new in _Device(mesh, place).replaced():
            stack.enter_context(attributes_replaced(owner, {name: new}))
        yield


@dataclass
class _Device:
    """The methods of torch that look at the number of the device, for one of them.

    `part` is the mesh, or the part of it, that torch calls them for, and `dim` an axis of that.
    """

    mesh: Mesh
    place: Place

    def replaced(self) -> Iterator[tuple[Any, str, Any]]:
        """Where each of them is."""
        meshes: Any = import_module("torch.distributed.device_mesh").DeviceMesh
        placing: Any = import_module("torch.distributed.tensor.placement_types")
        package: Any = torch_package().distributed
        # Positions of minima and maxima count from the beginning of the whole.
        ordering: Any = import_module("torch.distributed.tensor._nonlinear_redux")
        number = int(self.mesh.root.mesh[self.place])
        rank = partial(_rank, number, package.get_rank)
        yield meshes, "get_coordinate", self.methods(self.coordinate)
        yield meshes, "_sym_get_coordinate", self.methods(self.index)
        yield meshes, "get_local_rank", self.methods(self.local_rank)
        yield meshes, "get_rank", self.methods(partial(_number, number))
        yield package, "get_rank", rank
        yield package.distributed_c10d, "get_rank", rank
        yield placing.Shard, "_replicate_to_shard", self.methods(self.take_shard)
        yield placing.Shard, "_shard_tensor", self.methods(self.distribute)
        yield placing.Replicate, "_make_replicate_tensor", self.replicate
        reduce = partial(self.reduce_to_shard, placing.Shard._reduce_shard_tensor)
        yield placing.Shard, "_reduce_shard_tensor", self.methods(reduce)
        yield placing.Shard, "_to_new_shard_dim", self.methods(self.exchange_shards)
        yield placing._MaskPartial, "_partition_value", self.methods(self.take_rows)
        yield ordering, "compute_local_shape_and_global_offset", self.offsets
        # torch says by split sizes what this device sends, not what the others do.
        collectives: Any = import_module("torch.distributed._functional_collectives")
        yield collectives, "permute_tensor", partial(self.permute, collectives, self.mesh.groups())
        functional: Any = torch_package().nn.functional
        attend = partial(_attend, functional.scaled_dot_product_attention)
        yield functional, "scaled_dot_product_attention", attend
        dispatcher: Any = import_module("torch.distributed.tensor").DTensor._op_dispatcher
        handlers = dict(dispatcher._custom_op_handlers)
        for op, name in _CONVOLUTIONS.items():
            call = getattr(torch_package().ops.aten, op).default
            handlers[call] = partial(_convolve, handlers[call], name)
        yield dispatcher, "_custom_op_handlers", handlers

    @staticmethod
    def methods(function: Any) -> Any:
        """A function as a method of a class, which passes the object along."""

        def method(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return method

    # -- places ---------------------------------------------------------------------------------

    def index(self, part: Any, dim: int) -> int:
        """The place along an axis."""
        axis = self.mesh.axis_of(part, dim)
        if axis is None:
            _refuse("a mesh takes part that is no part of the model's")
        return self.place[axis]

    def coordinate(self, part: Any) -> Place:
        """The places along all axes."""
        return tuple(self.index(part, dim) for dim in range(len(part.shape)))

    def local_rank(self, part: Any, mesh_dim: int | str | None = None) -> int:
        """The place along an axis by its name or number."""
        if isinstance(mesh_dim, str):
            return self.index(part, part.mesh_dim_names.index(mesh_dim))
        return self.index(part, mesh_dim or 0)

    def axis(self, part: Any, dim: int) -> int | None:
        """The axis of the program that one of torch is; None if it has one device."""
        axis = self.mesh.axis_of(part, dim)
        return None if axis is None or part.size(dim) == 1 else self.mesh.axes[axis]

    # -- parts ----------------------------------------------------------------------------------

    def take_shard(self, shard: Any, tensor: Any, part: Any, dim: int, *_: Any) -> Any:
        """Of what all devices have, the part of this one."""
        _check_extent(int(tensor.shape[shard.dim]), shard.dim, part.size(dim))
        axis = self.axis(part, dim)
        if axis is None:
            return tensor.clone()
        return operations().mesh_part(tensor, shard.dim, axis, [*self.mesh.extents])

    def distribute(self, shard: Any, tensor: Any, part: Any, dim: int, source: Any = 0) -> Any:
        """Of what one device has, the part of this one."""
        return self.take_shard(shard, self.replicate(tensor, part, dim, source), part, dim)

    def replicate(self, tensor: Any, part: Any, dim: int, source: Any = 0) -> Any:
        """What one device has; without a `source` all have it."""
        axis = self.axis(part, dim)
        if axis is None or source is None:
            return tensor
        return operations().mesh_broadcast(tensor, source, [axis], [*self.mesh.extents])

    def reduce_to_shard(
        self, reduce: Any, shard: Any, tensor: Any, part: Any, kind: str, dim: int
    ) -> Any:
        """Of what all devices have together, the part of this one."""
        _check_extent(int(tensor.shape[shard.dim]), shard.dim, part.size(dim))
        return reduce(shard, tensor, part, kind, dim)

    def exchange_shards(
        self, shard: Any, tensor: Any, part: Any, dim: int, shape: Sequence[int], divided: int
    ) -> Any:
        """Parts of another dimension, of which each device has a piece."""
        for each in (shard.dim, divided):
            _check_extent(int(shape[each]), each, part.size(dim))
        axis = self.axis(part, dim)
        if axis is None:
            return tensor.clone()
        mesh = [*self.mesh.extents]
        return operations().mesh_all_to_all(tensor, divided, shard.dim, [axis], mesh)

    def permute(
        self,
        collectives: Any,
        groups: Mapping[Place, Place],
        tensor: Any,
        targets: Sequence[int],
        group: Any,
        tag: str = "",
    ) -> Any:
        """What another device of a group has, which sends it here."""
        distributed: Any = torch_package().distributed
        name = collectives._resolve_group(group, tag)
        if isinstance(name, str):
            name = distributed.distributed_c10d._resolve_process_group(name)
        axes = groups.get(tuple(distributed.get_process_group_ranks(name)))
        if axes is None or sorted(targets) != [*range(size_of(axes, self.mesh.extents))]:
            _refuse(
                f"permute_tensor sends to {[*targets]}: each device along an axis of the mesh, or "
                "of all of it, gets from one; give the mesh and the axis as the group: (mesh, 0)"
            )
        if not axes:
            return tensor.clone()
        return operations().mesh_permute(tensor, [*targets], [*axes], [*self.mesh.extents])

    def begin(self, extent: int, part: Any, dim: int) -> Any:
        """Where the part of a device begins in what an axis divides: a tensor of one number."""
        torch, axis, count = torch_package(), self.axis(part, dim), part.size(dim)
        if axis is None:
            return torch.zeros((), dtype=torch.int64)
        begins = torch.arange(0, extent, extent // count)
        return operations().mesh_part(begins, 0, axis, [*self.mesh.extents]).reshape(())

    def take_rows(self, rows_of: Any, tensor: Any, part: Any, dim: int) -> Any:
        """Rows of a table counted from the first that a device has, and 0 for those of others."""
        rows, count = int(rows_of.offset_shape[rows_of.offset_dim]), part.size(dim)
        _check_extent(rows, rows_of.offset_dim, count)
        first = self.begin(rows, part, dim)
        outside = (tensor < first) | (tensor >= first + rows // count)
        rows_of.mask_buffer.materialize_mask(outside)
        return torch_package().where(outside, 0, tensor - first)

    def offsets(
        self, shape: Sequence[int], part: Any, placements: Sequence[Any]
    ) -> tuple[list[int], list[Any]]:
        """The shape of the part that a device has, and where it begins in the whole."""
        local, first = [*shape], list[Any]([0] * len(shape))
        for number, each in enumerate(placements):
            if each.is_shard():
                dim, count = int(each.dim), int(part.size(number))
                _check_extent(local[dim], dim, count)
                first[dim] = first[dim] + self.begin(local[dim], part, number)
                local[dim] //= count
        return local, first


def _attend(
    attend: Any, query: Any, key: Any, value: Any, attn_mask: Any = None, *args: Any, **kwargs: Any
) -> Any:
    """Attention of the batches and heads that a device has.

    torch joins them to one dimension, which it does not if both are divided.
    """
    tensors = (query, key, value)
    if not all(map(is_distributed, tensors)) or is_distributed(attn_mask):
        return attend(query, key, value, attn_mask, *args, **kwargs)
    mesh, places = query.device_mesh, query.placements
    is_apart = all(
        each.dim() == 4 and each.device_mesh == mesh and each.placements == places
        for each in tensors
    )
    divided = [place for place in places if not place.is_replicate()]
    masked = 0 if attn_mask is None else max([1, *attn_mask.shape[:-2]])
    if not is_apart or masked > 1 or not all(map(_is_of_heads, divided)):
        return attend(query, key, value, attn_mask, *args, **kwargs)
    local = (each.to_local() for each in tensors)
    found = attend(*local, attn_mask, *args, **kwargs)
    kind: Any = import_module("torch.distributed.tensor").DTensor
    return kind.from_local(found, mesh, places, run_check=False)


def _is_of_heads(place: Any) -> bool:
    return type(place).__name__ == "Shard" and place.dim in (0, 1)


_CONVOLUTIONS = {"convolution": 0, "convolution_backward": 1}
"""Convolutions of aten, and which operand is the image."""


def _convolve(convolve: Any, image: int, op: Any, operands: Sequence[Any], keywords: Any) -> Any:
    """A convolution of the batch that a device has.

    Of an image in parts, torch sends borders between devices by their numbers, which one program
    for all devices has not.
    """
    places = operands[image].placements if is_distributed(operands[image]) else ()
    divided = [place.dim for place in places if place.is_shard() and place.dim > 1]
    if divided:
        _refuse(
            f"a convolution along dimension {divided[0]}, which is divided over devices, needs the "
            "borders of other parts, which devices do not exchange here; divide the batch "
            "(Shard(0)), or redistribute the image to Replicate() before"
        )
    return convolve(op, operands, keywords)


def _number(number: int, mesh: Any) -> int:
    del mesh
    return number


def _rank(number: int, original: Any, group: Any = None) -> int:
    return number if group is None else original(group)


def _check_extent(extent: int, dim: int, count: int) -> None:
    if extent % count:
        _refuse(
            f"dimension {dim} has {extent} elements, which {count} devices do not share evenly; "
            "choose another dimension, or pad it"
        )


def _refuse(reason: str) -> NoReturn:
    raise LocatedError(location_of_here(), reason)
