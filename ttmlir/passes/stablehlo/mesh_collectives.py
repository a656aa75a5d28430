"""Collectives of StableHLO in ttir of 2026: exchanges between the devices of a mesh.

Operations of ttir act along an axis of the mesh. Groups that are the rows or the columns of the
mesh, or all of its devices, become one operation for each axis; any other groups, and reductions
that the library lacks, become an exchange of parts (`ttir.all_to_all`), which has its groups.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import NoReturn, cast

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, TensorType, UnitAttr, i64
from xdsl.ir import Operation, SSAValue

from ttmlir.dialects.stablehlo.attrs import ChannelHandleAttr
from ttmlir.dialects.stablehlo.form import integer
from ttmlir.dialects.ttcore import MeshesAttr, ReduceTypeAttr
from ttmlir.errors import ArgumentError
from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import attr_numbers
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.tensor_types import element_type, is_boolean, value_shape
from ttmlir.mlir.attributes import Elements, ElementsType, elements_attr
from ttmlir.optable.collectives import check_groups, check_pairs
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.stablehlo.mesh_borders import axes_of_module, join_axes
from ttmlir.passes.stablehlo.specification.broadcasting import module_of
from ttmlir.passes.stablehlo.stablehlo_bodies import REDUCE_TYPES, combiners

_Groups = list[list[int]]

# --- Devices --------------------------------------------------------------------------------------


def _mesh_of(op: Operation) -> tuple[int, ...]:
    """Extents of the mesh of a module; none if it says nothing of several devices."""
    meshes = module_of(op).attributes.get("ttcore.meshes")
    shape = meshes.data[0][1] if isinstance(meshes, MeshesAttr) and meshes.data else ()
    return tuple(shape) if math.prod(shape) > 1 else ()


def _count(op: Operation, kind: str) -> int:
    attr = module_of(op).attributes.get(f"mhlo.num_{kind}")
    return cast("IntegerAttr", attr).value.data if isinstance(attr, IntegerAttr) else 1


def _table(op: Operation, name: str) -> _Groups:
    """The numbers of a property of two dimensions, row by row."""
    elements = cast("Elements", op.properties[name])
    rows, columns = elements.type.get_shape()
    numbers = [int(each) for each in attr_numbers(elements) or ()]
    return [numbers[row * columns :][:columns] for row in range(rows)]


_ALL_REPLICAS = ("stablehlo.all_gather", "stablehlo.all_reduce", "stablehlo.reduce_scatter")
"""Operations that take groups of replicas on a channel, and join the partitions of each."""


def _groups_of(op: Operation) -> _Groups:
    """The devices of each group, in the order of the group, by the specification's four cases."""
    groups = _processes_of(op, _table(op, "replica_groups"))
    _check_groups(op, groups)
    return groups


def _processes_of(op: Operation, rows: _Groups) -> _Groups:
    """The devices that rows of replicas, of partitions, or of both name; all for no rows.

    A device is replica * partitions + partition.
    """
    replicas, partitions = _count(op, "replicas"), _count(op, "partitions")
    channel = op.properties.get("channel_handle")
    is_on_channel = isinstance(channel, ChannelHandleAttr) and cast("int", channel.data[0]) > 0
    is_global = isinstance(op.properties.get("use_global_device_ids"), UnitAttr)
    if is_global and not is_on_channel:
        refuse_to_legalize(op, "use_global_device_ids needs a channel_handle above 0")
    if not rows or not rows[0]:
        return [[*range(replicas if not is_on_channel else replicas * partitions)]]
    if is_global or 1 in (replicas, partitions):
        return rows
    if not is_on_channel:
        return [[r * partitions + p for r in row] for row in rows for p in range(partitions)]
    if op.name in _ALL_REPLICAS:
        return [[r * partitions + p for p in range(partitions) for r in row] for row in rows]
    return [[r * partitions + p for p in row] for row in rows for r in range(replicas)]


def _check_groups(op: Operation, groups: _Groups) -> None:
    mesh = _mesh_of(op)
    if min(device for row in groups for device in row) < 0:
        _refuse(op, groups, "groups have the same number of devices")
    devices = math.prod(mesh) if mesh else 1 + max(device for row in groups for device in row)
    try:
        check_groups(groups, devices, even=True)
    except ArgumentError as error:
        refuse_to_legalize(op, str(error))


def _refuse(op: Operation, groups: _Groups, why: str) -> NoReturn:
    refuse_to_legalize(op, f"{why}, not {groups}")


def _axes_of(op: Operation, groups: _Groups) -> tuple[int, ...] | None:
    """The axes of the mesh that groups lie along, slowest first; None if they do not."""
    mesh = _mesh_of(op)
    if not mesh:
        # Nothing says how the devices are arranged: neighbours are in a row.
        return (int(groups[0][0] + 1 == groups[0][1]),)
    numbers = np.arange(math.prod(mesh)).reshape(mesh)
    axes = [axis for axis, extent in enumerate(mesh) if extent > 1]
    for count in range(1, len(axes) + 1):
        for chosen in itertools.permutations(axes, count):
            others = [axis for axis in range(len(mesh)) if axis not in chosen]
            size = math.prod(mesh[axis] for axis in chosen)
            found = numbers.transpose([*others, *chosen]).reshape(-1, size)
            if sorted(found.tolist()) == sorted(groups):
                return chosen
    return None


# --- Reductions and gathers -----------------------------------------------------------------------


@dataclass(frozen=True)
class _Exchange:
    """A collective of one tensor among groups."""

    op: Operation
    build: Builder
    groups: _Groups

    @property
    def size(self) -> int:
        """How many devices a group has."""
        return len(self.groups[0])

    def parts(self, value: SSAValue, split: int, concat: int) -> SSAValue:
        """Each device gets a part of the tensor of every device of its group, side by side."""
        shape = [*value_shape(value)]
        shape[split] //= self.size
        shape[concat] *= self.size
        type_ = TensorType(element_type(value), shape)
        parameters = {
            "split_dim": split,
            "concat_dim": concat,
            "split_count": self.size,
            "replica_groups": rows_attr(self.groups),
        }
        return self.build.create("all_to_all", [value], type_, **parameters)

    def fold(self, value: SSAValue, mnemonic: str) -> SSAValue:
        """Combine what lies along the first dimension, in its order."""
        build = self.build
        first, *rest = (build.slice_along(value, 0, n, n + 1) for n in range(self.size))
        for part in rest:
            first = build.create(mnemonic, [first, part], first.type)
        return build.reshape(first, value_shape(value)[1:])


def rows_attr(rows: _Groups) -> Elements:
    """Groups of devices, or pairs, as an attribute."""
    numbers = np.array(rows, "<i8")
    return elements_attr(TensorType(i64, numbers.shape), numbers.tobytes())


def _combiner(op: Operation) -> str:
    combining = combiners(op.regions[0])
    if combining is None or len({*combining}) != 1:
        refuse_to_legalize(op, f"devices combine their numbers by one of {', '.join(REDUCE_TYPES)}")
    mnemonic = combining[0].mnemonic
    is_truth = is_boolean(element_type(op.operands[0]))
    return mnemonic.replace("bitwise", "logical") if is_truth else mnemonic


def _exchange(op: Operation) -> _Exchange | None:
    """What an operation exchanges; None where each device is a group, and has the result."""
    groups = _groups_of(op)
    if len(groups[0]) == 1:
        replace(op, *op.operands)
        return None
    return _Exchange(op, Builder.before(op), groups)


_OF_THE_LIBRARY = ("sum", "max", "min")
"""The reductions that collectives have."""


def _reduce_type(mnemonic: str) -> ReduceTypeAttr | None:
    found = REDUCE_TYPES.get(mnemonic)
    if found is None or found.keyword not in _OF_THE_LIBRARY:
        return None
    return ReduceTypeAttr(found)


def _all_gather(op: Operation) -> None:
    exchange = _exchange(op)
    if exchange is None:
        return
    dim, axes = integer(op, "all_gather_dim"), _axes_of(op, exchange.groups)
    results: list[SSAValue] = []
    for value in op.operands:
        if axes is None:
            copies = exchange.build.concat([value] * exchange.size, dim)
            results.append(exchange.parts(copies, dim, dim))
            continue
        # What varies fastest is gathered first.
        for axis in reversed(axes):
            shape = [*value_shape(value)]
            shape[dim] *= _mesh_of(op)[axis] if len(axes) > 1 else exchange.size
            type_ = TensorType(element_type(value), shape)
            parameters = {"all_gather_dim": dim, "cluster_axis": axis}
            value = exchange.build.create("all_gather", [value], type_, **parameters)
        results.append(value)
    replace(op, *results)


def _all_reduce(op: Operation) -> None:
    exchange = _exchange(op)
    if exchange is None:
        return
    mnemonic, axes = _combiner(op), _axes_of(op, exchange.groups)
    kind, build = _reduce_type(mnemonic), exchange.build
    results: list[SSAValue] = []
    for value in op.operands:
        if axes is None or kind is None:
            flat = build.reshape(value, (1, *value_shape(value)))
            copies = build.concat([flat] * exchange.size, 0)
            results.append(exchange.fold(exchange.parts(copies, 0, 0), mnemonic))
            continue
        for axis in axes:
            value = build.create(
                "all_reduce", [value], value.type, reduce_type=kind, cluster_axis=axis
            )
        results.append(value)
    replace(op, *results)


def _reduce_scatter(op: Operation) -> None:
    exchange = _exchange(op)
    if exchange is None:
        return
    dim, axes = integer(op, "scatter_dimension"), _axes_of(op, exchange.groups)
    (value,), mnemonic = op.operands, _combiner(op)
    if value_shape(value)[dim] % exchange.size:
        refuse_to_legalize(
            op,
            f"dimension {dim} has {value_shape(value)[dim]} elements, which do not divide into "
            f"{exchange.size} parts",
        )
    kind, build = _reduce_type(mnemonic), exchange.build
    if axes is None or kind is None:
        flat = build.reshape(value, (1, *value_shape(value)))
        replace(op, exchange.fold(exchange.parts(flat, dim + 1, 0), mnemonic))
        return
    # What varies slowest is divided first.
    for axis in axes:
        shape = [*value_shape(value)]
        shape[dim] //= _mesh_of(op)[axis] if len(axes) > 1 else exchange.size
        value = build.create(
            "reduce_scatter",
            [value],
            TensorType(element_type(value), shape),
            reduce_type=kind,
            scatter_dim=dim,
            cluster_axis=axis,
        )
    replace(op, value)


# --- Exchanges ------------------------------------------------------------------------------------


def _all_to_all(op: Operation) -> None:
    split, concat = integer(op, "split_dimension"), integer(op, "concat_dimension")
    groups = _groups_of(op)
    # Of a single device it stays, as tt-mlir leaves it.
    exchange = _Exchange(op, Builder.before(op), groups) if groups == [[0]] else _exchange(op)
    if exchange is None:
        return
    if integer(op, "split_count") != exchange.size:
        _refuse(op, exchange.groups, f"groups have {integer(op, 'split_count')} devices")
    replace(op, *(exchange.parts(value, split, concat) for value in op.operands))


def _broadcast(op: Operation) -> None:
    build, groups = Builder.before(op), rows_attr(_groups_of(op))
    replace(
        op,
        build.create(
            "collective_broadcast", op.operands, op.results[0].type, replica_groups=groups
        ),
    )


def _permute(op: Operation) -> None:
    said = _table(op, "source_target_pairs")
    mesh, pairs = _mesh_of(op), _processes_of(op, said) if said else []
    devices = math.prod(mesh) if mesh else 1 + max((max(pair) for pair in pairs), default=0)
    try:
        check_pairs([(source, target) for source, target in pairs], devices)
    except ArgumentError as error:
        refuse_to_legalize(op, str(error))
    attr = op.properties["source_target_pairs"] if pairs == said else rows_attr(pairs)
    build = Builder.before(op)
    replace(
        op,
        build.create(
            "collective_permute", op.operands, op.results[0].type, source_target_pairs=attr
        ),
    )


def convert_all_slice(op: Operation) -> None:
    """Let each device along an axis of the mesh keep its part."""
    said = cast("DictionaryAttr", op.properties["backend_config"]).data
    dim, axis = (cast("IntegerAttr", said[name]).value.data for name in ("dim", "cluster_axis"))
    build, (value,) = Builder.before(op), op.operands
    axes = axes_of_module(op)
    if len(axes) > 2:
        # Along a part of the rows or columns, several devices keep the same part.
        count = join_axes(axes)
        line = axes[:count] if axis < count else axes[count:]
        place = axis if axis < count else axis - count
        slower, faster = math.prod(line[:place]), math.prod(line[place + 1 :])
        extent = value_shape(value)[dim] // line[place]
        parts = [
            build.slice_along(value, dim, number * extent, (number + 1) * extent)
            for number in range(line[place])
        ]
        repeated = [part for part in parts for _ in range(faster)] * slower
        if len(repeated) > len(parts):
            value = build.concat(repeated, dim)
        axis = int(axis >= count)
    parameters = {"dim": dim, "cluster_axis": axis}
    replace(op, build.create("mesh_partition", [value], op.results[0].type, **parameters))


def _number(kind: str, other: str) -> ConversionRule:
    """The rule of the number of a device among the partitions or the replicas."""

    def rule(op: Operation) -> None:
        mesh, build, type_ = _mesh_of(op), Builder.before(op), element_type(op.results[0])
        count, others = _count(op, kind), _count(op, other)
        if mesh and count * others == 1:
            # Regions of Shardy say their devices without counting them in the module.
            count = math.prod(mesh) if kind == "partitions" else 1
        numbers = np.arange(math.prod(mesh) if mesh else 1, dtype="<u4")
        numbers = numbers % count if kind == "partitions" else numbers // others
        table = numbers.reshape(mesh or (1, 1))
        whole = cast("ElementsType", TensorType(type_, table.shape))
        value = build.create_constant(elements_attr(whole, table.tobytes()), whole)
        for axis in reversed([axis for axis, extent in enumerate(mesh) if extent > 1]):
            shape = [1 if axis == n else extent for n, extent in enumerate(value_shape(value))]
            parameters = {"dim": axis, "cluster_axis": axis}
            type_of_part = TensorType(type_, shape)
            value = build.create("mesh_partition", [value], type_of_part, **parameters)
        replace(op, build.reshape(value, ()))

    return rule


COLLECTIVES: dict[str, ConversionRule] = {
    "stablehlo.all_gather": _all_gather,
    "stablehlo.all_reduce": _all_reduce,
    "stablehlo.all_to_all": _all_to_all,
    "stablehlo.collective_broadcast": _broadcast,
    "stablehlo.collective_permute": _permute,
    "stablehlo.partition_id": _number("partitions", "replicas"),
    "stablehlo.reduce_scatter": _reduce_scatter,
    "stablehlo.replica_id": _number("replicas", "partitions"),
}
"""What becomes of the operations between devices, by the full name of the operation."""
