"""Grids of generics on tensors, by tt-mlir's rule: the largest extents that divide the tiles.

The pipeline of this project divides generics on memrefs, by a cost model. Generics on tensors have
their operands moved to a grid each: a square of the device, of whose rows and columns as many are
used as divide the tensor, its padding included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, TensorType, i64
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr
from xdsl.rewriter import Rewriter

from ttmlir.dialects import d2m
from ttmlir.dialects.linalg import GenericOp as LinalgGenericOp
from ttmlir.dialects.tt.layout import GridAttr, TileType, element_of
from ttmlir.dialects.ttcore import MetalLayoutAttr, metal_layout_of, shard_type_of
from ttmlir.dialects.ttir import TTNNMetalLayoutCastOp
from ttmlir.ir.builder import OpBuilder
from ttmlir.ir.rewriting import erase_unused, refuse
from ttmlir.layout.data_format import DEFAULT_TILE_SHAPE
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.metal import infer_block_factors
from ttmlir.layout.tensor_layout import NO_MAPPING

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

Tensor = TensorType[Attribute]


def divide_tensors(module: ModuleOp, device: Sequence[int]) -> None:
    """Choose the grid of every generic on tensors that computes, for a device of such extents."""
    target = (min(device),) * len(device)
    for op in list(module.walk()):
        if isinstance(op, d2m.GenericOp) and op.results and op.has_maps and op.regions:
            if all(thread.kind is not d2m.ThreadKind.DATAMOVEMENT for thread in op.threads):
                _divide(op, target)


def _divide(op: d2m.GenericOp, target: Sequence[int]) -> None:
    if any(isinstance(value.owner, TTNNMetalLayoutCastOp) for value in op.buffers):
        return  # ttnn has chosen where its tensors are
    try:
        types = [_type_for(value, target) for value in op.buffers]
        outputs = types[len(op.inputs) :]
        grid = _grid_of(outputs[0])
        maps = op.indexing_maps
        pairs = [(index_map, _grid_of(type_)) for index_map, type_ in zip(maps, types, strict=True)]
        number = len(op.inputs)
        factors = infer_block_factors(pairs[number][0], grid, grid, pairs[:number])
    except LayoutError as error:
        refuse(op, f"has no grid: {error}")
    if types == [value.type for value in op.buffers] and factors == op.block_factors:
        return
    if not _may_change(op.regions[0], op):
        return
    for number, (value, type_) in enumerate(zip(op.buffers, types, strict=True)):
        op.operands[number] = _moved(op, value, type_)
    op.properties["grid"] = GridAttr.get(grid)
    op.properties["block_factors"] = ArrayAttr(IntegerAttr(each, i64) for each in factors)
    _retype_results(op, outputs)
    _retype(op)


def _grid_of(type_: Tensor) -> tuple[int, ...]:
    shape = type_.get_shape()
    return tuple(shape[: len(shape) // 2])


def _type_for(value: SSAValue, target: Sequence[int]) -> Tensor:
    """The type of an operand on its own grid."""
    type_ = cast("Tensor", value.type)
    attr = metal_layout_of(type_)
    assert attr is not None, "operands of generics have a layout"
    layout = attr.data
    if layout.is_view:
        layout = replace(layout, index_map=NO_MAPPING)
    alignments = tuple(
        max(pair) for pair in zip(layout.grid_alignments(target), layout.alignments, strict=True)
    )
    chosen = replace(layout, alignments=alignments)
    tile = TileType.get(*DEFAULT_TILE_SHAPE, element_of(type_.element_type).scalar.data_type)
    physical = chosen.physical_shape(element_of(tile))
    grid = [1] * len(physical)
    for dim in range(max(0, len(physical) - 2), len(physical)):
        most = target[dim - len(physical)]
        grid[dim] = max(cores for cores in range(1, most + 1) if physical[dim] % cores == 0)
    return MetalLayoutAttr(chosen).tensor_type(grid, type_.element_type)


def _moved(op: d2m.GenericOp, value: SSAValue, type_: Tensor) -> SSAValue:
    """The operand in another type: made so, if nothing else uses it, or moved."""
    if value.type == type_:
        return value
    owner = value.owner
    build = OpBuilder.before(op)

    def empty() -> SSAValue:
        made = d2m.EmptyOp.of(type_)
        made.location = op.location
        return build.insert(made).results[0]

    if isinstance(owner, d2m.EmptyOp):
        found = empty()
        source = None
    else:
        source = owner.input if isinstance(owner, d2m.ToLayoutOp) else value
        move = d2m.ToLayoutOp.of(source, empty(), None)
        move.location = op.location
        found = build.insert(move).results[0]
    if isinstance(owner, d2m.EmptyOp | d2m.ToLayoutOp):
        uses = [use.operation for use in value.uses if use.operation is not op]
        if not uses:
            behind = owner.operands[-1].owner if isinstance(owner, d2m.ToLayoutOp) else None
            for number, each in enumerate(op.operands):
                if each is value:
                    op.operands[number] = found
            erase_unused(each for each in (behind, owner) if isinstance(each, Operation))
    return found


def _retype_results(op: d2m.GenericOp, types: Sequence[Tensor]) -> None:
    """Give results the types of the outputs; what needs the old one gets a copy."""
    for result, type_ in zip(op.results, types, strict=True):
        old = result.type
        if old == type_:
            continue
        keeps = [use for use in result.uses if not isinstance(use.operation, d2m.ToLayoutOp)]
        keeps = [
            use
            for use in keeps
            if not isinstance(use.operation, d2m.GenericOp)
            or not _may_change(use.operation.regions[0], use.operation)
        ]
        for use in result.uses:
            if isinstance(use.operation, d2m.ToLayoutOp) and "layout" in use.operation.properties:
                use.operation.properties["layout"] = cast("MetalLayoutAttr", type_.encoding)
        new = Rewriter.replace_value_with_new_type(result, type_)
        if not keeps:
            continue
        following = op.next_op
        assert following is not None, "what uses a result is behind it"
        build = OpBuilder.before(following)
        empty = d2m.EmptyOp.of(old)
        empty.location = op.location
        move = d2m.ToLayoutOp.of(new, build.insert(empty).results[0], None)
        move.location = op.location
        copy = build.insert(move).results[0]
        for use in keeps:
            use.operation.operands[use.index] = copy


# --- Regions --------------------------------------------------------------------------------------

_LOCAL = ("tensor.empty", "d2m.empty")


def _may_change(region: Region, op: d2m.GenericOp) -> bool:
    """True where all local tensors are shards of operands, so that their types follow.

    Loops that write a part of a shard have maps that know its extents.
    """
    for each in region.walk():
        if isinstance(each, LinalgGenericOp) and not _is_whole(each):
            return False
        if each.name in _LOCAL and not _shard_users(each, op):
            return False
    return True


def _is_whole(loops: LinalgGenericOp) -> bool:
    """True for loops over all tiles of what they write."""
    maps = loops.indexing_maps.data
    if not all(
        isinstance(result, AffineDimExpr | AffineConstantExpr)
        for each in maps
        for result in each.data.results
    ):
        return False
    return all(
        isinstance(result, AffineDimExpr) or extent == 1
        for value, each in zip(loops.outputs, maps[len(loops.inputs) :], strict=True)
        for result, extent in zip(
            each.data.results, cast("Tensor", value.type).get_shape(), strict=True
        )
    )


def _shard_users(empty: Operation, op: d2m.GenericOp) -> list[SSAValue]:
    """The operands whose shards a local tensor takes: loaded into it, or computed there."""
    found: list[SSAValue] = []
    for use in empty.results[0].uses:
        user = use.operation
        if isinstance(user, d2m.RemoteLoadOp):
            found.append(user.remote)
        elif isinstance(user, LinalgGenericOp) and user.results:
            stores = [each.operation for each in user.results[0].uses]
            found += [each.remote for each in stores if isinstance(each, d2m.RemoteStoreOp)]
            if any(isinstance(each, d2m.YieldOp) for each in stores):
                found.append(op.outputs[0])
        elif isinstance(user, d2m.RemoteStoreOp):
            found.append(user.remote)
    return found


def _retype(op: d2m.GenericOp) -> None:
    """Let a region work on the shards that the operands have now."""
    for region in op.regions:
        for argument, value in zip(list(region.block.args), op.buffers, strict=False):
            shard = d2m.CBType(shard_type_of(value.type))
            Rewriter.replace_value_with_new_type(argument, shard)
        for each in list(region.walk()):
            match each:
                case d2m.WaitOp() | d2m.ReserveOp():
                    type_: Attribute = cast("d2m.CBType", each.operands[0].type).underlying
                case d2m.RemoteLoadOp() | d2m.RemoteStoreOp() | LinalgGenericOp():
                    if not each.results:
                        continue
                    values = (
                        each.outputs
                        if isinstance(each, LinalgGenericOp)
                        else each.group("localBuffer")
                        if isinstance(each, d2m.RemoteLoadOp)
                        else (each.remote,)
                    )
                    type_ = values[0].type
                case Operation() if each.name in _LOCAL:
                    users = _shard_users(each, op)
                    type_ = shard_type_of(users[0].type)
                case _:
                    continue
            for result in list(each.results):
                Rewriter.replace_value_with_new_type(result, type_)
