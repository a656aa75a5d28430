"""Records of `.ttnn` files of 2026 about the devices of a mesh.

Those that move numbers between devices become operations `ExchangeOp`, which say plainly what is
exchanged: `ttmlir.runtime.execution.exchanges` does it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ttmlir.errors import ArgumentError
from ttmlir.layout.enums import ReduceType
from ttmlir.optable.op_definition import Shape, check_dimension
from ttmlir.runtime.binary import BinaryProgram, Operation, Table, TensorRef, require
from ttmlir.runtime.errors import BinaryError, UnsupportedError

_COMBINED = ("sum", "max", "min", "prod")
"""What devices combine numbers by."""


class Translator(Protocol):
    """Takes the operations of a program as the executor knows them."""

    program: BinaryProgram

    def put(self, table: str, fields: Mapping[str, Any], *, is_free: bool = False) -> None:
        """An operation of a table."""
        ...


Converter = Callable[[Any, Operation], None]


def _get_device(t: Translator, record: Operation) -> None:
    mesh = record.scalar("mesh")
    count = 1 if mesh is None else int(mesh.y) * int(mesh.x)
    chips = tuple(record.scalar("chip_ids") or ())
    if len(chips) != count and count > 1:
        chips = tuple(range(count)) if count == math.prod(t.program.mesh) else ()
        if not chips:
            raise BinaryError(
                f"{record.where}: asks for {count} chips; the program is for a mesh of "
                f"{'x'.join(map(str, t.program.mesh))}"
            )
    t.put("GetDeviceOp", {"chip_ids": chips or (0,), "out": record.scalar("out")})


def _exchange(t: Translator, record: Operation, kind: str, shape: Shape, **said: Any) -> None:
    """An exchange that gives each device a tensor of a shape."""
    out = record.tensor("out")
    if out.desc.shape != shape:
        raise BinaryError(
            f"{record.where}: gives tensors of shape {list(shape)}, not {list(out.desc.shape)}"
        )
    t.put("ExchangeOp", {"kind": kind, "in": record.tensor("in"), **said, "out": out})


def _along(t: Translator, record: Operation) -> tuple[int | None, int]:
    """The axis of the mesh, and how many devices are along it; None for all of them."""
    said, mesh = record.scalar("cluster_axis"), t.program.mesh
    if said is None:
        return None, math.prod(mesh)
    axis = int(said)
    if not 0 <= axis < len(mesh):
        raise BinaryError(f"{record.where}: a mesh has axes 0 and 1, not {axis}")
    return axis, mesh[axis]


def _dim(record: Operation, name: str, shape: Shape) -> int:
    dim = int(record.scalar(name))
    try:
        check_dimension(dim, len(shape))
    except ArgumentError as error:
        raise BinaryError(f"{record.where}: {error}") from error
    return dim % len(shape)


def _scaled(record: Operation, shape: Shape, dim: int, times: int, parts: int) -> Shape:
    """A shape with so many times the elements along a dimension, of which there are parts."""
    if shape[dim] % parts:
        raise BinaryError(
            f"{record.where}: dimension {dim} of {list(shape)} does not divide into {parts} parts"
        )
    return (*shape[:dim], shape[dim] // parts * times, *shape[dim + 1 :])


def _combination(record: Operation) -> str:
    number = int(record.scalar("reduce_type"))
    known = {kind.value: kind.keyword for kind in ReduceType}
    kind = known.get(number, str(number))
    if kind not in _COMBINED:
        raise UnsupportedError(
            f"{record.where}: devices combine numbers by {', '.join(_COMBINED)}, not by {kind}; "
            "compile the program without it"
        )
    return kind


def _all_gather(t: Translator, record: Operation) -> None:
    shape = record.tensor("in").desc.shape
    (axis, count), dim = _along(t, record), _dim(record, "all_gather_dim", shape)
    _exchange(t, record, "all_gather", _scaled(record, shape, dim, count, 1), dim=dim, axis=axis)


def _all_reduce(t: Translator, record: Operation) -> None:
    axis, _ = _along(t, record)
    shape = record.tensor("in").desc.shape
    _exchange(t, record, "all_reduce", shape, combination=_combination(record), axis=axis)


def _reduce_scatter(t: Translator, record: Operation) -> None:
    shape = record.tensor("in").desc.shape
    (axis, count), dim = _along(t, record), _dim(record, "scatter_dim", shape)
    shape, kind = _scaled(record, shape, dim, 1, count), _combination(record)
    _exchange(t, record, "reduce_scatter", shape, dim=dim, combination=kind, axis=axis)


def _mesh_partition(t: Translator, record: Operation) -> None:
    shape = record.tensor("in").desc.shape
    (axis, count), dim = _along(t, record), _dim(record, "dim", shape)
    shape = _scaled(record, shape, dim, 1, count)
    _exchange(t, record, "mesh_partition", shape, dim=dim, axis=axis)


def _point_to_point(t: Translator, record: Operation) -> None:
    ends: list[int] = []
    for name in ("sender_coord", "receiver_coord"):
        place, mesh = [int(each) for each in record.numbers(name)], t.program.mesh
        if len(place) != len(mesh) or any(
            not 0 <= each < extent for each, extent in zip(place, mesh, strict=True)
        ):
            raise BinaryError(
                f"{record.where}: field '{name}' is {place}, no place in a mesh of "
                f"{'x'.join(map(str, mesh))}"
            )
        ends.append(place[0] * mesh[1] + place[1])
    kept: dict[str, TensorRef] = {}
    shape = record.tensor("in").desc.shape
    if record.has("optional_output_tensor"):
        kept["kept"] = record.tensor("optional_output_tensor")
        if kept["kept"].desc.shape != shape:
            raise BinaryError(f"{record.where}: the tensors have different shapes")
    _exchange(t, record, "point_to_point", shape, **kept, sender=ends[0], receiver=ends[1])


def _mesh_of(t: Translator, config: Table, where: str) -> Shape:
    override = tuple(int(each) for each in config["mesh_shape_override"] or ()) or t.program.mesh
    if len(override) > len(t.program.mesh) and math.prod(override) == math.prod(t.program.mesh):
        # Devices stand in turn, whatever rows they have.
        return override
    if len(override) != len(t.program.mesh) or any(
        not 0 < one <= extent for one, extent in zip(override, t.program.mesh, strict=True)
    ):
        raise BinaryError(
            f"{where}: {list(override)} is no part of a mesh of "
            f"{'x'.join(map(str, t.program.mesh))}"
        )
    return override


def _distribute(t: Translator, record: Operation) -> None:
    config = require(record.fields, "mapper_config", record.where)
    mesh = _mesh_of(t, config, record.where)
    if math.prod(mesh) != math.prod(t.program.mesh):
        raise UnsupportedError(
            f"{record.where}: tensors are distributed over all devices of the mesh; compile the "
            "program without mesh_shape_override"
        )
    placements = config["placements"] or ()
    dims = tuple(int(each.dim) if int(each.type) else -1 for each in placements)
    shape = record.tensor("in").desc.shape
    _check_dims(record, dims, mesh, shape)
    for dim, extent in zip(dims, mesh, strict=True):
        if dim >= 0:
            shape = _scaled(record, shape, dim, 1, extent)
    _exchange(t, record, "distribute", shape, dims=dims, over=mesh)


def _aggregate(t: Translator, record: Operation) -> None:
    config = require(record.fields, "composer_config", record.where)
    mesh = _mesh_of(t, config, record.where)
    dims = tuple(int(each) for each in config["dims"] or ())
    shape = record.tensor("in").desc.shape
    # An axis of which one device is taken joins nothing.
    joined = tuple(-1 if n == 1 else dim for n, dim in zip(mesh, dims, strict=False))
    _check_dims(record, joined, mesh, shape)
    for dim, extent in zip(joined, mesh, strict=True):
        if dim >= 0:
            shape = _scaled(record, shape, dim, extent, 1)
    _exchange(t, record, "aggregate", shape, dims=joined, taken=mesh)


def _check_dims(record: Operation, dims: Sequence[int], mesh: Shape, shape: Shape) -> None:
    if len(dims) != len(mesh) or any(not -1 <= dim < len(shape) for dim in dims):
        raise BinaryError(
            f"{record.where}: {list(dims)} are no dimensions of a tensor of shape {list(shape)} "
            f"for the axes of a mesh of {'x'.join(map(str, mesh))}"
        )
    used = [dim for dim in dims if dim >= 0]
    if len({*used}) != len(used):
        raise BinaryError(f"{record.where}: a dimension is divided over two axes of the mesh")


CONVERTERS: dict[str, Converter] = {
    "GetDeviceOp": _get_device,
    "AllGatherOp": _all_gather,
    "AllReduceOp": _all_reduce,
    "AllReduceAsyncOp": _all_reduce,
    "ReduceScatterOp": _reduce_scatter,
    "MeshPartitionOp": _mesh_partition,
    "PointToPointOp": _point_to_point,
    "DistributeTensorOp": _distribute,
    "AggregateTensorOp": _aggregate,
}
"""By the table of the record."""
