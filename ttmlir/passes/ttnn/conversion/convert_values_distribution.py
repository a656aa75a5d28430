"""Rules of `convert-ttir-to-ttnn` for collectives, which one device alone does by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import IntegerAttr, i32

from ttmlir.dialects.ttcore import device_of
from ttmlir.dialects.ttnn.configs import (
    MeshComposerConfigAttr,
    MeshMapperConfigAttr,
    PlacementAttr,
)
from ttmlir.ir.rewriting import refuse_to_legalize
from ttmlir.ir.tensor_types import value_shape
from ttmlir.ir.ttnn_types import tensor_in
from ttmlir.layout.enums import BufferType
from ttmlir.passes.ttnn.conversion.convert_values import renamed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.dialects.builtin import DenseArrayBase, DenseIntOrFPElementsAttr, IntegerType
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


def _require_one_device(op: Operation) -> None:
    if any(len(group) > 1 for group in _rows(op, "replica_groups")):
        refuse_to_legalize(op, "ttnn has it for a mesh of one device only")


def _permute(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """Devices that send to themselves keep a copy."""
    if any(source != target for source, target in _rows(op, "source_target_pairs")):
        return renamed("collective_permute")(op, build)
    return [build.create("assign", op.operands, op.results[0].type)]


def _broadcast(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """What a device sends to itself it has."""
    _require_one_device(op)
    return [op.operands[0]]


def _all_to_all(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """A part for each device, copied, and all parts that arrived, side by side."""
    _require_one_device(op)
    value, type_ = op.operands[0], op.results[0].type
    shape = value_shape(value)
    zeros, ones = (0,) * len(shape), (1,) * len(shape)
    part = build.create("slice", (value,), type_, begins=zeros, ends=shape, step=ones)
    copy = build.create("assign", (part,), type_)
    dim = cast("IntegerAttr", op.properties["concat_dim"]).value.data
    return [build.create("concat", (copy,), type_, dim=dim)]


def _mesh_shard(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """Each axis of the mesh divides a dimension of the tensor, or repeats the tensor."""
    device = device_of(op)
    if device is None:
        refuse_to_legalize(op, "there is no ttcore.device; run ttcore-register-device before")
    mesh = device.mesh_shape
    said = cast("DenseArrayBase[IntegerType]", op.properties["shard_dims"]).get_values()
    kind = cast("KeywordAttr[MeshShardType]", op.properties["shard_type"]).data.keyword
    dims = [-1] * len(mesh) if kind == "replicate" else [*said]
    if len(dims) != len(mesh):
        refuse_to_legalize(op, f"it has {len(dims)} shard_dims, and the mesh {len(mesh)} axes")
    direction = cast("KeywordAttr[MeshShardDirection]", op.properties["shard_direction"])
    # The library takes and makes rows of the host.
    result = op.results[0].type
    taken, type_ = (_on_host(each) for each in (op.operands[0].type, result))
    operands = (build.create("to_tensor_spec", op.operands[:1], taken), build.device())
    if direction.data.keyword == "full_to_shard":
        placements = tuple(
            PlacementAttr(("replicate", None) if dim < 0 else ("shard", IntegerAttr(dim, i32)))
            for dim in dims
        )
        mapper = MeshMapperConfigAttr((("placements", placements),))
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


def _on_host(type_: Attribute) -> Attribute:
    return tensor_in(type_, tiled=False, buffer=BufferType.SYSTEM_MEMORY)


RULES: Rules = {
    "mesh_shard": _mesh_shard,
    "all_to_all": _all_to_all,
    "collective_broadcast": _broadcast,
    "collective_permute": _permute,
}
"""Rules by mnemonic."""
