"""What the borders of programs of a mesh are in ttir: tensors divided over devices.

It is part of `convert-stablehlo-to-ttir` in the spellings of 2025 and 2026. Where a program goes
over from whole tensors to the parts of one device, by `sdy.manual_computation` or by the calls
`@SPMDFullToShardShape` and `@SPMDShardToFullShape`, and back, there is a `ttir.mesh_shard`.
Devices are arranged in two dimensions. Of a mesh of more axes neighbours are joined to two, and it
is the second mesh of the module: what is divided over a part of a joined axis says so by as many
`shard_dims` as that has axes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, cast

from xdsl.dialects.builtin import FunctionType, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ttmlir.dialects.sdy import WHOLE, ManualComputationOp, MeshOp
from ttmlir.dialects.ttcore import (
    MeshesAttr,
    MeshShardDirectionAttr,
    MeshShardTypeAttr,
    ShardStatusAttr,
)
from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import erase, refuse_to_legalize, replace, symbol_name
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.layout.enums import MeshShardDirection, MeshShardType, ShardStatus
from ttmlir.mlir.printing import attribute_text
from ttmlir.passes.shardy.spreading.device_tiles import read_tiling, split_tuple
from ttmlir.passes.shardy.spreading.flow import manual_axes

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

_CALL = "stablehlo.custom_call"
ANNOTATION, TO_PARTS, TO_WHOLE = "Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape"
MANUAL = "{manual}"


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
    meshes = _meshes_of(module)
    for op in tuple(module.walk()):
        if isinstance(op, ManualComputationOp):
            _open_computation(op, meshes)
    found = [mesh for op in tuple(module.walk()) if (mesh := _convert_call(op))]
    shapes = [
        (name, shape)
        for mesh, axes in meshes.items()
        if mesh and axes
        for name, shape in arranged(mesh, tuple(axes.values()))
    ]
    if not shapes and found:
        shapes = [("mesh", found[0])]
    if shapes and "ttcore.meshes" not in module.attributes:
        module.attributes["ttcore.meshes"] = MeshesAttr(tuple(shapes))
    refuse_divisions(module, meshes)
    for op in [op for op in module.ops if isinstance(op, MeshOp)]:
        erase(op)


_BOARDS = ((2, 4), (2, 2), (8, 4), (4, 8), (2, 8), (4, 4), (8, 8), (4, 16), (8, 16), (4, 32))
"""Rows and columns that boards have, the most frequent first."""


def join_axes(mesh: Sequence[int]) -> int:
    """How many of the first axes of a mesh are the rows of a machine; the others are its columns.

    Of the ways to part them, the one that a board has."""
    shapes = [(math.prod(mesh[:count]), math.prod(mesh[count:])) for count in range(1, len(mesh))]
    known = [shapes.index(each) for each in _BOARDS if each in shapes]
    return 1 + (known[0] if known else 0)


def axes_of_module(op: Operation) -> tuple[int, ...]:
    """Extents of all axes of the mesh of a module, of which rows and columns may have several."""
    parent: Operation | None = op
    while parent is not None:
        meshes = parent.attributes.get("ttcore.meshes")
        if isinstance(meshes, MeshesAttr) and meshes.data:
            return meshes.data[-1][1]
        parent = parent.parent_op()
    return ()


def arranged(name: str, mesh: tuple[int, ...]) -> list[tuple[str, tuple[int, ...]]]:
    """A mesh; one of more than two axes behind the rows and columns that it becomes."""
    if len(mesh) <= 2:
        return [(name, mesh)]
    count = join_axes(mesh)
    return [(name, (math.prod(mesh[:count]), math.prod(mesh[count:]))), (f"{name}_axes", mesh)]


_SHARDY, GSPMD = "sdy.sharding", "mhlo.sharding"


def refuse_divisions(
    module: ModuleOp, known: Mapping[str | None, dict[str, int]] | None = None
) -> None:
    """Refuse shardings over several devices that say nothing of what a device computes."""
    meshes = _meshes_of(module) if known is None else known
    for op in module.walk():
        said = [op.attributes]
        if isinstance(op, FuncOp):
            for held in (op.arg_attrs, op.res_attrs):
                said += [each.data for each in held.data] if held is not None else []
        for each in said:
            if divides := _divides(each, meshes):
                for part in split_tuple(divides) if GSPMD in each else ():
                    if not WHOLE.fullmatch(part):
                        _ = read_tiling(part, _place_of(op))
                refuse_to_legalize(
                    _place_of(op),
                    f"the sharding {divides} is over several devices, and nothing says what each "
                    "computes; run stablehlo-pipeline before, which divides programs with "
                    "shardings of Shardy",
                )


def _place_of(op: Operation) -> Operation:
    """Where to say something of an operation: functions stand in no line of a model."""
    first = op.body.blocks[0].first_op if isinstance(op, FuncOp) and op.body.blocks else None
    return op if first is None else first


def _divides(said: Mapping[str, Attribute], meshes: Mapping[str | None, dict[str, int]]) -> str:
    """The sharding among attributes that divides something; empty if none does."""
    gspmd = said.get(GSPMD)
    if isinstance(gspmd, StringAttr) and not WHOLE.fullmatch(gspmd.data):
        return gspmd.data
    text = attribute_text(said[_SHARDY]) if _SHARDY in said else ""
    for mesh, dimensions in _SHARDING.findall(text):
        axes = meshes.get(mesh) or {}
        if any(axes.get(axis, 2) > 1 for axis, _ in _NAME.findall(dimensions)):
            return text
    return ""


# --- Shardy ---------------------------------------------------------------------------------------

_AXIS = re.compile(r'"([^"]+)"\s*=\s*(\d+)')
_SHARDING = re.compile(r"<@([\w.$-]+),\s*\[((?:\{[^}]*\}(?:p\d+)?(?:,\s*)?)*)\]")
_DIMENSION = re.compile(r"\{([^}]*)\}")
_NAME = re.compile(r'"([^"]+)"(:)?')


def _meshes_of(module: ModuleOp) -> dict[str | None, dict[str, int]]:
    return {symbol_name(op): _axes_of(op) for op in module.ops if isinstance(op, MeshOp)}


def _axes_of(mesh: MeshOp) -> dict[str, int]:
    return {name: int(extent) for name, extent in _AXIS.findall(str(mesh.properties["mesh"]))}


def _divisions(op: ManualComputationOp, name: str, meshes: dict[str | None, dict[str, int]]):
    text, manual = attribute_text(op.properties[name]), manual_axes(op)
    for mesh, dimensions in _SHARDING.findall(text):
        axes = meshes.get(mesh)
        if axes is None:
            refuse_to_legalize(op, f"there is no mesh '@{mesh}'")
        divided: list[tuple[int, ...]] = []
        for dimension in _DIMENSION.findall(dimensions):
            numbers: list[int] = []
            for axis, is_part in _NAME.findall(dimension):
                if is_part or axis not in axes:
                    refuse_to_legalize(op, f'a dimension is divided over "{axis}", no whole axis')
                if axes[axis] > 1 and f'"{axis}"' not in manual:
                    refuse_to_legalize(
                        op,
                        f'parts are divided over "{axis}", which is no manual axis; run '
                        "stablehlo-pipeline before, which makes all axes manual",
                    )
                numbers.append([*axes].index(axis))
            divided.append(tuple(numbers))
        yield Spread(tuple(divided), tuple(axes.values()))


@dataclass(frozen=True)
class Spread:
    """The axes of a mesh that each dimension of a tensor is divided over, slowest first."""

    axes: tuple[tuple[int, ...], ...]
    mesh: tuple[int, ...]

    def joined(self) -> Spread:
        """The same over rows and columns, where it divides over all axes of one or none."""
        if len(self.mesh) <= 2:
            return self
        count = join_axes(self.mesh)
        lines = (tuple(range(count)), tuple(range(count, len(self.mesh))))
        found: list[tuple[int, ...]] = []
        for axes in self.axes:
            numbers = [n for n, line in enumerate(lines) if axes and axes[0] == line[0]]
            if len(axes) == len(self.mesh):
                numbers = sorted((0, 1), key=lambda n: axes.index(lines[n][0]))
            if axes != sum((lines[n] for n in numbers), ()):
                return self
            found.append(tuple(numbers))
        return Spread(tuple(found), (math.prod(self.mesh[:count]), math.prod(self.mesh[count:])))

    def split(self, local: Sequence[int]) -> tuple[list[int], list[int], Division]:
        """The shapes of the whole and of a part in which no dimension is divided over two axes,
        and how the whole is divided then."""
        whole, part, shape = list[int](), list[int](), list[int]()
        dims = [-1] * len(self.mesh)
        for axes, extent in zip(self.axes, local, strict=True):
            # The axis that varies fastest divides the dimension itself; others are in front of it.
            for axis in axes[:-1]:
                dims[axis] = len(whole)
                whole.append(self.mesh[axis])
                part.append(1)
                shape.append(self.mesh[axis])
            count = 1
            if axes:
                dims[axes[-1]] = len(whole)
                count = self.mesh[axes[-1]]
            whole.append(extent * count)
            part.append(extent)
            shape.append(count)
        if math.prod(shape) == 1:
            return whole, part, _REPLICATED
        return whole, part, Division(MeshShardType.DEVICES, tuple(shape), tuple(dims))

    def split_with_copies(self, local: Sequence[int]) -> tuple[int, list[int], list[int], Division]:
        """The same with first dimensions for the copies of what axes repeat, and how many.

        Of more than two axes, the parts of all devices are joined in turn: none is left out.
        """
        whole, part, division = self.split(local)
        if len(division.dims) <= 2:
            return 0, whole, part, division
        repeated = [axis for axis, dim in enumerate(division.dims) if dim < 0]
        count, copies = len(repeated), [self.mesh[axis] for axis in repeated]
        dims = tuple(
            repeated.index(axis) if dim < 0 else dim + count
            for axis, dim in enumerate(division.dims)
        )
        division = Division(division.kind, (*copies, *division.shape), dims)
        return count, [*copies, *whole], [*[1] * count, *part], division


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
            part = _shard_split(builder, value, argument.type, division, to_parts)
        argument.replace_all_uses_with(part)
    results = [*end.operands]
    erase(end)
    for inner in tuple(block.ops):
        inner.detach()
        builder.block.insert_op_before(inner, op)
    kept = [_is_kept_in_parts(result) for result in op.results]
    whole = [
        value if stays else _shard_split(builder, value, result.type, division, to_whole)
        for value, result, division, stays in zip(results, op.results, outward, kept, strict=True)
    ]
    function = op.parent_op()
    replace(op, *whole)
    if any(kept) and isinstance(function, FuncOp) and function.body.block.last_op is not None:
        outputs = [each.type for each in function.body.block.last_op.operands]
        inputs = [*function.function_type.inputs.data]
        function.function_type = FunctionType.from_lists(inputs, outputs)


def _shard_split(
    builder: Builder,
    value: SSAValue,
    type: Attribute,
    spread: Spread,
    direction: MeshShardDirection,
) -> SSAValue:
    """Divide a tensor or put it together, through the shape in which each axis has a dimension."""
    is_inward = direction is MeshShardDirection.FULL_TO_SHARD
    given, made = value_shape(value), cast("TensorType[Attribute]", type).get_shape()
    spread = spread.joined()
    if is_inward:
        copies, (before, after, division) = 0, spread.split(made)
    else:
        copies, after, before, division = spread.split_with_copies(given)
    element = element_type(value)
    if tuple(before) != given:
        value = builder.reshape(value, before)
    value = _shard(builder, value, TensorType(element, after), division, direction)
    for axis in range(copies):
        value = builder.slice_along(value, axis, 0, 1)
    return value if value_shape(value) == made else builder.reshape(value, made)


def _is_presharded(value: SSAValue, user: Operation) -> bool:
    """True for an argument of a function that each device gets its own part of."""
    if not isinstance(value, BlockArgument) or len(tuple(value.uses)) != 1:
        return False
    function = value.owner.parent_op()
    if not isinstance(function, FuncOp) or function.arg_attrs is None or user.parent is None:
        return False
    status = function.arg_attrs.data[value.index].data.get("ttcore.shard_status")
    return status == ShardStatusAttr(ShardStatus.PRESHARDED)


def _is_kept_in_parts(value: SSAValue) -> bool:
    """True for a result of a function that each device keeps its own part of."""
    uses = tuple(value.uses)
    if len(uses) != 1 or not isinstance(uses[0].operation, ReturnOp):
        return False
    function = uses[0].operation.parent_op()
    if not isinstance(function, FuncOp) or function.res_attrs is None:
        return False
    status = function.res_attrs.data[uses[0].index].data.get("ttcore.shard_status")
    return status == ShardStatusAttr(ShardStatus.PRESHARDED)


def _retype_argument(argument: BlockArgument, type: Attribute) -> SSAValue:
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


def target_of(op: Operation | None) -> str:
    """What a `stablehlo.custom_call` calls; empty for other operations."""
    if op is None or op.name != _CALL:
        return ""
    return cast("StringAttr", op.properties["call_target_name"]).data


def _sharding(op: Operation) -> str:
    attr = op.attributes.get(GSPMD)
    return attr.data if isinstance(attr, StringAttr) else ""


def _convert_call(op: Operation) -> tuple[int, ...]:
    """Write a call at a border as `ttir.mesh_shard`; the shape of its mesh, if it says one."""
    target = target_of(op)
    if target not in (TO_PARTS, TO_WHOLE) or len(op.operands) != 1:
        return ()
    annotation = op.operands[0].owner
    annotated = annotation if isinstance(annotation, Operation) else None
    is_annotated = target_of(annotated) == ANNOTATION and annotated is not None
    value = annotated.operands[0] if is_annotated and annotated else op.operands[0]
    says = annotated if target == TO_PARTS and is_annotated and annotated else op
    division = read_division(says, _sharding(says))
    direction = (
        MeshShardDirection.FULL_TO_SHARD if target == TO_PARTS else MeshShardDirection.SHARD_TO_FULL
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
    is_known = len(mesh) == 2 or tuple(mesh) == axes_of_module(op)
    if dims is None or not is_known or math.prod(tiles) != math.prod(mesh):
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
