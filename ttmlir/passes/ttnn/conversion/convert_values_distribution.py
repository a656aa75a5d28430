"""Rules of `convert-ttir-to-ttnn` for what devices of a mesh exchange."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    f32,
    i32,
)

from ttmlir.dialects.ttcore import device_of
from ttmlir.dialects.ttnn.configs import (
    MeshComposerConfigAttr,
    MeshMapperConfigAttr,
    PlacementAttr,
)
from ttmlir.errors import plural
from ttmlir.ir.rewriting import refuse_to_legalize
from ttmlir.ir.tensor_types import value_shape
from ttmlir.ir.ttnn_types import tensor_in, with_shape
from ttmlir.layout.enums import BufferType
from ttmlir.passes.stablehlo.mesh_borders import axes_of_module
from ttmlir.passes.ttnn.conversion.convert_values import renamed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.dialects.builtin import (
        DenseArrayBase,
        DenseIntOrFPElementsAttr,
        TensorType,
    )
    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.dialects.definition.syntax import KeywordAttr
    from ttmlir.ir.ttnn_values import TTNNValueBuilder
    from ttmlir.layout.enums import MeshShardDirection, MeshShardType
    from ttmlir.passes.ttnn.conversion.convert_values import Rules


def _rows(op: Operation, name: str) -> Sequence[Sequence[int]]:
    """Groups of devices, or pairs of them."""
    attr = cast("DenseIntOrFPElementsAttr", op.properties[name])
    numbers = [cast("int", number) for number in attr.get_values()]
    count = attr.get_shape()[-1]
    return [numbers[start : start + count] for start in range(0, len(numbers), count)]


@dataclass(frozen=True)
class _Senders:
    """Sends tensors from one device to another."""

    op: Operation
    build: TTNNValueBuilder
    columns: int
    """Devices in a row of the mesh."""

    @classmethod
    def of(cls, op: Operation, build: TTNNValueBuilder) -> Self:
        """For an operation of devices that the mesh has."""
        device = device_of(op)
        mesh = (1, 1) if device is None else device.mesh_shape or (1, 1)
        return cls(op, build, mesh[-1])

    @property
    def devices(self) -> int:
        """How many devices the mesh has."""
        device = device_of(self.op)
        return 1 if device is None else math.prod(device.mesh_shape)

    def _place(self, device: int) -> tuple[int, int]:
        return divmod(device, self.columns)

    def send(self, value: SSAValue, kept: SSAValue, source: int, target: int) -> SSAValue:
        """What devices keep, but the target what the source has."""
        return self.build.create(
            "point_to_point",
            (value, kept),
            kept.type,
            sender_coord=self._place(source),
            receiver_coord=self._place(target),
        )

    def deliver(self, value: SSAValue, pairs: Sequence[Sequence[int]]) -> SSAValue:
        """What targets are sent; zeros on devices that nobody sends anything."""
        result = self.build.create("assign", (value,), value.type)
        for source, target in pairs:
            if source != target:
                result = self.send(value, result, source, target)
        targets = {target for _, target in pairs}
        left = [device for device in range(self.devices) if device not in targets]
        if left:
            zeros = _zeros(self.build, value.type)
            for device in left:
                # A device does not send to itself.
                result = self.send(zeros, result, int(device == 0), device)
        return result


def _zeros(build: TTNNValueBuilder, type_: Attribute) -> SSAValue:
    is_float = isinstance(cast("TensorType[Attribute]", type_).element_type, AnyFloat)
    return build.full(FloatAttr(0.0, f32) if is_float else IntegerAttr(0, i32), type_)


def _permute(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """A copy into which each target gets what its source has."""
    senders, pairs = _Senders.of(op, build), _rows(op, "source_target_pairs")
    if senders.devices == 1 and any(source != target for source, target in pairs):
        return renamed("collective_permute")(op, build)
    return [senders.deliver(op.operands[0], pairs)]


def _broadcast(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """A copy into which the others of a group get what its first device has."""
    groups = _rows(op, "replica_groups")
    if all(len(group) == 1 for group in groups):
        # What a device sends to itself it has.
        return [op.operands[0]]
    senders = _Senders.of(op, build)
    _require_devices(op, senders, groups)
    pairs = [(group[0], device) for group in groups for device in group if device >= 0]
    return [senders.deliver(op.operands[0], pairs)]


def _require_devices(op: Operation, senders: _Senders, groups: Sequence[Sequence[int]]) -> None:
    if any(device >= senders.devices for group in groups for device in group):
        refuse_to_legalize(
            op, f"it names devices that a mesh of {plural(senders.devices, 'device')} has not"
        )


def _all_to_all(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """A part for each device, copied, and all parts that arrived, side by side."""
    value, groups, senders = op.operands[0], _rows(op, "replica_groups"), _Senders.of(op, build)
    _require_devices(op, senders, groups)
    split, concat = (
        cast("IntegerAttr", op.properties[name]).value.data for name in ("split_dim", "concat_dim")
    )
    shape, count = value_shape(value), len(groups[0])
    extent = shape[split] // count
    type_ = with_shape(value.type, (*shape[:split], extent, *shape[split + 1 :]))
    parts: list[SSAValue] = []
    for number in range(count):
        begins, ends = [0] * len(shape), [*shape]
        begins[split], ends[split] = number * extent, (number + 1) * extent
        steps = (1,) * len(shape)
        parts.append(build.create("slice", (value,), type_, begins=begins, ends=ends, step=steps))
    # In each, the devices that it comes from have their own part already.
    arrived = [build.create("assign", (part,), type_) for part in parts]
    for group in groups:
        for place, source in enumerate(group):
            for number, target in enumerate(group):
                if source != target:
                    arrived[place] = senders.send(parts[number], arrived[place], source, target)
    return [build.create("concat", arrived, op.results[0].type, dim=concat)]


def _mesh_shard(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """Each axis of the mesh divides a dimension of the tensor, or repeats the tensor."""
    device = device_of(op)
    if device is None:
        refuse_to_legalize(op, "there is no ttcore.device; run ttcore-register-device before")
    mesh: Sequence[int] = device.mesh_shape
    said = cast("DenseArrayBase[IntegerType]", op.properties["shard_dims"]).get_values()
    kind = cast("KeywordAttr[MeshShardType]", op.properties["shard_type"]).data.keyword
    dims = [-1] * len(mesh) if kind == "replicate" else [*said]
    if len(dims) > len(mesh):
        mesh = axes_of_module(op)
    if len(dims) != len(mesh):
        refuse_to_legalize(op, f"it has {len(dims)} shard_dims, and the mesh {len(mesh)} axes")
    direction = cast("KeywordAttr[MeshShardDirection]", op.properties["shard_direction"])
    # The library takes and makes rows of the host.
    result = op.results[0].type
    taken, type_ = (_on_host(each) for each in (op.operands[0].type, result))
    operands = (build.create("to_tensor_spec", op.operands[:1], taken), build.device())
    if direction.data.keyword == "full_to_shard":
        placements = tuple(
            PlacementAttr(("replicate" if dim < 0 else "shard", IntegerAttr(dim, i32)))
            for dim in dims
        )
        shape = tuple(IntegerAttr(extent, _UI32) for extent in mesh)
        fields = (("placements", placements), ("mesh_shape_override", shape))
        mapper = MeshMapperConfigAttr(fields)
        made = build.create("distribute_tensor", operands, type_, mapper_config=mapper)
        return [build.create("to_tensor_spec", (made,), result)]
    # An axis that repeats the tensor counts once, along a dimension that no other one divides.
    free = iter(n for n in range(len(value_shape(op.operands[0]))) if n not in dims)
    fields = {
        "dims": tuple(IntegerAttr(next(free, 0) if dim < 0 else dim, i32) for dim in dims),
        "mesh_shape_override": tuple(
            IntegerAttr(1 if dim < 0 else extent, i32)
            for dim, extent in zip(dims, mesh, strict=True)
        ),
    }
    composer = MeshComposerConfigAttr(tuple(fields.items()))
    made = build.create("aggregate_tensor", operands, type_, composer_config=composer)
    return [build.create("to_tensor_spec", (made,), result)]


_UI32 = IntegerType(32, Signedness.UNSIGNED)


def _on_host(type_: Attribute) -> Attribute:
    return tensor_in(type_, tiled=False, buffer=BufferType.SYSTEM_MEMORY)


RULES: Rules = {
    "mesh_shard": _mesh_shard,
    "all_to_all": _all_to_all,
    "collective_broadcast": _broadcast,
    "collective_permute": _permute,
}
"""Rules by mnemonic."""
