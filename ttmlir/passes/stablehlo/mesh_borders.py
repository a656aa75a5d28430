"""What the programs of a mesh are in ttir: tensors divided over devices, and collectives.

It is part of `convert-stablehlo-to-ttir` in the spellings of 2025 and 2026. Where a program goes
over from whole tensors to the parts of one device, by `sdy.manual_computation` or by the calls
`@SPMDFullToShardShape` and `@SPMDShardToFullShape`, and back, there is a `ttir.mesh_shard`.
Devices are arranged in two dimensions; collectives act along one of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, cast

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ttmlir.dialects.sdy import ManualComputationOp, MeshOp
from ttmlir.dialects.stablehlo.form import integer
from ttmlir.dialects.ttcore import (
    MeshesAttr,
    MeshShardDirectionAttr,
    MeshShardTypeAttr,
    ReduceTypeAttr,
    ShardStatusAttr,
)
from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import attr_numbers
from ttmlir.ir.rewriting import erase, refuse_to_legalize, replace, symbol_name
from ttmlir.layout.enums import MeshShardDirection, MeshShardType, ShardStatus
from ttmlir.mlir.attributes import Elements
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.stablehlo.stablehlo_bodies import REDUCE_TYPES, combiners

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

_CALL = "stablehlo.custom_call"
_ANNOTATION, _TO_PARTS, _TO_WHOLE = "Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape"
_MANUAL = "{manual}"


@dataclass(frozen=True)
class Division:
    """How a tensor lies on a mesh."""

    kind: MeshShardType
    shape: tuple[int, ...] = (1,)
    """Parts along each dimension of the tensor."""
    dims: tuple[int, ...] = (-1,)
    """For each dimension of the mesh, the one of the tensor that is divided over it, or -1."""
    mesh: tuple[int, ...] = ()


_REPLICATED = Division(MeshShardType.REPLICATE)


def write_mesh_borders(module: ModuleOp) -> None:
    """Write the borders between whole tensors and parts as `ttir.mesh_shard`, and name the mesh."""
    meshes = {symbol_name(op): _axes_of(op) for op in module.ops if isinstance(op, MeshOp)}
    for op in tuple(module.walk()):
        if isinstance(op, ManualComputationOp):
            _open_computation(op, meshes)
    found = [mesh for op in tuple(module.walk()) if (mesh := _convert_call(op))]
    shapes = [(name, tuple(axes.values())) for name, axes in meshes.items() if name and axes]
    if not shapes and found:
        shapes = [("mesh", found[0])]
    if shapes and "ttcore.meshes" not in module.attributes:
        module.attributes["ttcore.meshes"] = MeshesAttr(tuple(shapes))


# --- Shardy ---------------------------------------------------------------------------------------

_AXIS = re.compile(r'"([^"]+)"\s*=\s*(\d+)')
_SHARDING = re.compile(r"<@([\w.$-]+),\s*\[((?:\{[^}]*\}(?:p\d+)?(?:,\s*)?)*)\]")
_DIMENSION = re.compile(r"\{([^}]*)\}")
_NAME = re.compile(r'"([^"]+)"(:)?')


def _axes_of(mesh: MeshOp) -> dict[str, int]:
    return {name: int(extent) for name, extent in _AXIS.findall(str(mesh.properties["mesh"]))}


def _divisions(op: ManualComputationOp, name: str, meshes: dict[str | None, dict[str, int]]):
    text = str(op.properties[name])
    for mesh, dimensions in _SHARDING.findall(text):
        axes = meshes.get(mesh)
        if axes is None:
            refuse_to_legalize(op, f"there is no mesh '@{mesh}'")
        dims, shape = [-1] * len(axes), list[int]()
        for number, dimension in enumerate(_DIMENSION.findall(dimensions)):
            extent = 1
            for axis, is_part in _NAME.findall(dimension):
                if is_part or axis not in axes:
                    refuse_to_legalize(op, f'a dimension is divided over "{axis}", no whole axis')
                extent *= axes[axis]
                dims[[*axes].index(axis)] = number
            shape.append(extent)
        if math.prod(shape) == 1:
            yield _REPLICATED
        else:
            yield Division(MeshShardType.DEVICES, tuple(shape), tuple(dims))


def _open_computation(op: ManualComputationOp, meshes: dict[str | None, dict[str, int]]) -> None:
    """Put the body in the place of the operation, with its borders."""
    block = op.regions[0].block
    inward = list(_divisions(op, "in_shardings", meshes))
    outward = list(_divisions(op, "out_shardings", meshes))
    end = block.last_op
    if len(inward) != len(op.operands) or len(outward) != len(op.results) or end is None:
        refuse_to_legalize(op, "it has another number of shardings than of operands and results")
    builder = Builder.before(op)
    to_parts, to_whole = MeshShardDirection.FULL_TO_SHARD, MeshShardDirection.SHARD_TO_FULL
    for value, argument, division in zip(op.operands, block.args, inward, strict=True):
        if _is_presharded(value, op):
            part = _retype_argument(cast("BlockArgument", value), argument.type)
        else:
            part = _shard(builder, value, argument.type, division, to_parts)
        argument.replace_all_uses_with(part)
    results = [*end.operands]
    erase(end)
    for inner in tuple(block.ops):
        inner.detach()
        builder.block.insert_op_before(inner, op)
    whole = [
        _shard(builder, value, result.type, division, to_whole)
        for value, result, division in zip(results, op.results, outward, strict=True)
    ]
    replace(op, *whole)


def _is_presharded(value: SSAValue, user: Operation) -> bool:
    """True for an argument of a function that each device gets its own part of."""
    if not isinstance(value, BlockArgument) or len(tuple(value.uses)) != 1:
        return False
    function = value.owner.parent_op()
    if not isinstance(function, FuncOp) or function.arg_attrs is None or user.parent is None:
        return False
    status = function.arg_attrs.data[value.index].data.get("ttcore.shard_status")
    return status == ShardStatusAttr(ShardStatus.PRESHARDED)


def _retype_argument(argument: BlockArgument, type: Attribute) -> SSAValue:
    from xdsl.dialects.builtin import FunctionType
    from xdsl.rewriter import Rewriter

    function = cast("FuncOp", argument.owner.parent_op())
    new = Rewriter.replace_value_with_new_type(argument, type)
    inputs = [each.type for each in function.body.block.args]
    function.function_type = FunctionType.from_lists(inputs, [*function.function_type.outputs.data])
    return new


def _shard(
    builder: Builder,
    value: SSAValue,
    type: Attribute,
    division: Division,
    direction: MeshShardDirection,
) -> SSAValue:
    return builder.create(
        "mesh_shard",
        [value],
        type,
        shard_type=MeshShardTypeAttr(division.kind),
        shard_direction=MeshShardDirectionAttr(direction),
        shard_shape=division.shape,
        shard_dims=division.dims,
    )


# --- GSPMD ----------------------------------------------------------------------------------------


def _target(op: Operation | None) -> str:
    if op is None or op.name != _CALL:
        return ""
    return cast("StringAttr", op.properties["call_target_name"]).data


def _sharding(op: Operation) -> str:
    attr = op.attributes.get("mhlo.sharding")
    return attr.data if isinstance(attr, StringAttr) else ""


def _convert_call(op: Operation) -> tuple[int, ...]:
    """Write a call at a border as `ttir.mesh_shard`; the shape of its mesh, if it says one."""
    target = _target(op)
    if target not in (_TO_PARTS, _TO_WHOLE) or len(op.operands) != 1:
        return ()
    annotation = op.operands[0].owner
    annotated = annotation if isinstance(annotation, Operation) else None
    is_annotated = _target(annotated) == _ANNOTATION and annotated is not None
    value = annotated.operands[0] if is_annotated and annotated else op.operands[0]
    says = annotated if target == _TO_PARTS and is_annotated and annotated else op
    division = read_division(says, _sharding(says))
    direction = (
        MeshShardDirection.FULL_TO_SHARD
        if target == _TO_PARTS
        else MeshShardDirection.SHARD_TO_FULL
    )
    builder = Builder.before(op)
    replace(op, _shard(builder, value, op.results[0].type, division, direction))
    if is_annotated and annotated is not None and not any(r.uses for r in annotated.results):
        erase(annotated)
    return division.mesh


_DEVICES = re.compile(r"\{devices=\[([\d,]+)\](?:<=\[([\d,]+)\](?:T\(([\d,]+)\))?|([\d,]+))(.*)\}$")


def read_division(op: Operation, text: str) -> Division:
    """The division that the text of an HloSharding says, such as `{devices=[1,2]<=[2]}`."""
    if text == "{replicated}":
        return _REPLICATED
    if text.startswith("{maximal"):
        return Division(MeshShardType.MAXIMAL)
    found = _DEVICES.match(text)
    if found is None:
        _refuse_sharding(op, text)
    tiles = _numbers(found[1])
    copies = "last_tile_dim_replicate" in found[5]
    parts = tiles[:-1] if copies else tiles
    divided = [extent for extent in tiles if extent > 1]
    if found[4] is not None:
        ids = _numbers(found[4])
        in_turn = len(ids) < 2 or ids[0] + 1 == ids[1]
        mesh = divided if in_turn else divided[::-1]
        order = [*range(len(mesh))] if in_turn else [*range(len(mesh))][::-1]
    elif found[3] is not None:
        mesh, order = _numbers(found[2]), _numbers(found[3])
    else:
        mesh = _numbers(found[2])
        if len(mesh) == 1:
            mesh = divided
        order = [*range(len(mesh))]
    if len(mesh) == 1:
        mesh, order = [1, *mesh], [0, 1]
    dims = _assign(parts, mesh, order)
    if dims is None or len(mesh) != 2 or math.prod(tiles) != math.prod(mesh):
        _refuse_sharding(op, text)
    return Division(MeshShardType.DEVICES, tuple(parts), tuple(dims), tuple(mesh))


def _assign(parts: Sequence[int], mesh: Sequence[int], order: Sequence[int]) -> list[int] | None:
    """For each dimension of the mesh, the one of the tensor that is divided over it."""
    dims, axes = [-1] * len(mesh), [axis for axis in order if mesh[axis] > 1]
    for number, extent in enumerate(parts):
        while extent > 1:
            if not axes or extent % mesh[axes[0]]:
                return None
            axis = axes.pop(0)
            dims[axis] = number
            extent //= mesh[axis]
    return dims


def _numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


def _refuse_sharding(op: Operation, text: str) -> NoReturn:
    refuse_to_legalize(
        op,
        f"the division '{text}' is not one over a mesh of two dimensions, such as "
        "{devices=[1,2]<=[2]}, {devices=[4,2]<=[2,4]T(1,0)} or {replicated}",
    )


# --- Collectives ----------------------------------------------------------------------------------


def _groups(op: Operation) -> tuple[list[int], int]:
    """The devices of the first group, and how many each has."""
    groups = cast("Elements", op.properties["replica_groups"])
    size = groups.type.get_shape()[1]
    return [int(each) for each in (attr_numbers(groups) or ())[:size]], size


def _axis(op: Operation) -> int:
    """The dimension of the mesh along which the devices of a group lie."""
    ids, _ = _groups(op)
    return int(len(ids) > 1 and ids[0] + 1 == ids[1])


def _kind(op: Operation) -> ReduceTypeAttr:
    combining = combiners(op.regions[0])
    mnemonic = combining[0].mnemonic if combining is not None and len(combining) == 1 else ""
    if mnemonic not in REDUCE_TYPES:
        known = ", ".join(REDUCE_TYPES)
        refuse_to_legalize(op, f"devices combine their numbers by one of {known}")
    return ReduceTypeAttr(REDUCE_TYPES[mnemonic])


def _is_alone(op: Operation) -> bool:
    """True where each device is a group; it has what all of its group have."""
    if _groups(op)[1] != 1:
        return False
    replace(op, *op.operands)
    return True


def _all_gather(op: Operation) -> None:
    if _is_alone(op):
        return
    builder, dim, axis = Builder.before(op), integer(op, "all_gather_dim"), _axis(op)
    parameters = {"all_gather_dim": dim, "cluster_axis": axis}
    replace(
        op,
        *(
            builder.create("all_gather", [value], result.type, **parameters)
            for value, result in zip(op.operands, op.results, strict=True)
        ),
    )


def _all_reduce(op: Operation) -> None:
    if _is_alone(op):
        return
    builder, kind, axis = Builder.before(op), _kind(op), _axis(op)
    replace(
        op,
        *(
            builder.create("all_reduce", [value], result.type, reduce_type=kind, cluster_axis=axis)
            for value, result in zip(op.operands, op.results, strict=True)
        ),
    )


def _reduce_scatter(op: Operation) -> None:
    if _is_alone(op):
        return
    new = Builder.before(op).create(
        "reduce_scatter",
        op.operands,
        op.results[0].type,
        reduce_type=_kind(op),
        scatter_dim=integer(op, "scatter_dimension"),
        cluster_axis=_axis(op),
    )
    replace(op, new)


COLLECTIVES: dict[str, ConversionRule] = {
    "stablehlo.all_gather": _all_gather,
    "stablehlo.all_reduce": _all_reduce,
    "stablehlo.reduce_scatter": _reduce_scatter,
}
"""What becomes of the operations that act along a dimension of the mesh."""
