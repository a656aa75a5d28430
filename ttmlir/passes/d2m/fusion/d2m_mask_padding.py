"""Remove loop indices from bodies: padding is known to be neutral, or masked by a constant.

Before:

    #layout = #ttcore.metal_layout<logical_shape = 33x70, dim_alignments = 32x32,
        collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
    #sums = #ttcore.metal_layout<logical_shape = 33x1, dim_alignments = 32x32,
        collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
    #map = affine_map<(d0, d1) -> (d0, d1)>
    #rows = affine_map<(d0, d1) -> (d0, 0)>
    #parallel = #ttcore.iterator_type<parallel>
    #reduction = #ttcore.iterator_type<reduction>
    !tile = !ttcore.tile<32x32, f32>
    func.func @f(%x: tensor<1x1x2x3x!tile, #layout>) -> tensor<1x1x2x1x!tile, #sums> {
      %0 = d2m.empty() : tensor<1x1x2x1x!tile, #sums>
      %1 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<1x1>, indexing_maps = [#map,
          #rows], iterator_types = [#parallel, #reduction], threads = [#d2m.thread<compute>]}
          ins(%x : tensor<1x1x2x3x!tile, #layout>) outs(%0 : tensor<1x1x2x1x!tile, #sums>) {
      ^compute0(%cb0: !d2m.cb<tensor<2x3x!tile>>, %cb1: !d2m.cb<tensor<2x1x!tile>>):
        %i = d2m.wait %cb0 : !d2m.cb<tensor<2x3x!tile>> -> tensor<2x3x!tile>
        %o = d2m.reserve %cb1 : !d2m.cb<tensor<2x1x!tile>> -> tensor<2x1x!tile>
        %r = linalg.generic {indexing_maps = [#map, #rows], iterator_types = ["parallel",
            "reduction"]} ins(%i : tensor<2x3x!tile>) outs(%o : tensor<2x1x!tile>) {
        ^bb0(%a: !tile, %b: !tile):
          %row = linalg.index 0 : index
          %column = linalg.index 1 : index
          %m = "d2m.tile_mask"(%a, %row, %column) <{valid = array<i64: 64, 70>, value = 0.0 : f32}>
              : (!tile, index, index) -> !tile
          %one = "d2m.tile_fill"() <{value = 1.0 : f32}> : () -> !tile
          %s = "d2m.tile_reduce_sum"(%m, %one, %b) <{reduce_dim = #d2m<reduce_dim R>}>
              : (!tile, !tile, !tile) -> !tile
          linalg.yield %s : !tile
        } -> tensor<2x1x!tile>
        d2m.yield %r : (tensor<2x1x!tile>)
      } : tensor<1x1x2x1x!tile, #sums>
      return %1 : tensor<1x1x2x1x!tile, #sums>
    }

After:

    ...
        %cst = arith.constant dense<1.000000e+00> : tensor<32x70xf32>
        %0 = d2m.empty() : tensor<1x1x1x3x!ttcore.tile<32x32, f32>, ...>
        %1 = d2m.to_layout %cst, %0 : tensor<32x70xf32> into ...
        %3 = d2m.generic {... indexing_maps = [#map, #map1, #map2], ...
          ^bb0(%in: !ttcore.tile<32x32, f32>, %in_0: !ttcore.tile<32x32, f32>, ...):
            %8 = "d2m.tile_fill"() <{value = 0.000000e+00 : f32}> ...
            %9 = "d2m.tile_where"(%in_0, %in, %8) ...
            %10 = "d2m.tile_fill"() <{value = 1.000000e+00 : f32}> ...
            %11 = "d2m.tile_reduce_sum"(%9, %10, %out) ...

Requires: generics on tensors on a grid of ones, before blocks are chosen.
Ensures: no `d2m.tile_mask` and no `linalg.index` is left. A mask whose number the padding holds
anyway is gone. Any other is `where` on one more input: a constant of ones, which the host pads by
zeros, with as many tiles as the masked dimensions have.
Options: none.
Not done here: nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import AffineMapAttr, TensorType, bf16
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg.ops import IndexOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.linalg import GenericOp as LinalgGenericOp
from ttmlir.dialects.tt.layout import TileType
from ttmlir.dialects.ttcore import metal_layout_of, metal_tensor_type, metal_tile_type
from ttmlir.ir.builder import OpBuilder
from ttmlir.ir.kernel_builder import is_float
from ttmlir.ir.rewriting import erase
from ttmlir.layout.affine import AffineMap, ConstantExpr, DimExpr
from ttmlir.layout.enums import MemorySpace
from ttmlir.mlir.attributes import ElementsType, affine_map_attr, elements_of
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.d2m.fusion.d2m_mask_padding_values import TILE, PaddingAnalysis, mask_of
from ttmlir.passes.d2m.references import REFERENCE, reference_of

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class D2MMaskPaddingPass(ModulePass):
    """Remove loop indices from bodies."""

    name = "d2m-mask-padding"
    title = "D2MMaskPadding"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Go through every function in order."""
        for function in [op for op in module.walk() if isinstance(op, FuncOp)]:
            for block in function.body.blocks:
                _mask_block(block)


def _mask_block(block: Block) -> None:
    analysis = PaddingAnalysis()
    constants = _Constants(block)
    for op in tuple(block.ops):
        analysis.visit(op)
    for op in tuple(block.ops):
        if isinstance(op, d2m.GenericOp):
            _mask_generic(op, analysis, constants)


def _mask_generic(op: d2m.GenericOp, analysis: PaddingAnalysis, constants: _Constants) -> None:
    masks = [each for each in op.walk() if isinstance(each, d2m.TileMaskOp)]
    for mask in masks:
        known = analysis.masked.get(mask)
        if known is not None and known.is_masked(*mask_of(mask)):
            _replace_mask(mask, mask.operands[0])
        else:
            op = _mask_by_constant(op, mask, constants)


def _replace_mask(mask: d2m.TileMaskOp, value: SSAValue) -> None:
    """Let a tile stand for a masked one; what said where the loops are goes."""
    places = [each.owner for each in mask.operands[1:]]
    mask.results[0].replace_all_uses_with(value)
    erase(mask)
    for place in dict.fromkeys(places):
        if isinstance(place, IndexOp) and place.result.first_use is None:
            erase(place)


@dataclass
class _Constants:
    """Constants that are 1 inside of a shape, and 0 beyond it, at the beginning of a block."""

    block: Block

    def __post_init__(self) -> None:
        self._made: dict[tuple[object, ...], SSAValue] = {}
        self._successor = self.block.first_op

    def find(
        self, shape: tuple[int, int], tile: TileType, space: MemorySpace, op: Operation
    ) -> SSAValue:
        """The constant of a shape, in tiles."""
        numbers = tile.scalar_type if is_float(tile.format.data.scalar) else bf16
        key = (shape, numbers, space)
        if key not in self._made:
            builder = OpBuilder(self.block, op.location, before=self._successor)
            type_ = TensorType(numbers, shape)
            ones = elements_of(cast("ElementsType", type_), [1.0])
            constant = ConstantOp.create(result_types=[type_], properties={"value": ones})
            buffer = metal_tensor_type(shape, metal_tile_type(numbers), space)
            self._made[key] = _add(
                builder,
                d2m.ToLayoutOp.of(_add(builder, constant), _add(builder, d2m.EmptyOp.of(buffer))),
            )
        return self._made[key]


def _add(builder: OpBuilder, op: Operation) -> SSAValue:
    op.location = builder.location
    return builder.insert(op).results[0]


def _mask_by_constant(
    op: d2m.GenericOp, mask: d2m.TileMaskOp, constants: _Constants
) -> d2m.GenericOp:
    """The generic with one more input, which chooses between a tile and the number of a mask."""
    rows, columns, number = mask_of(mask)
    tile = mask.operands[0]
    layout = metal_layout_of(op.outputs[0].type)
    assert layout is not None, "tensors on grids have a layout"
    shape = (mask.valid[0] if rows else TILE, mask.valid[1] if columns else TILE)
    type_ = cast("TileType", tile.type)
    constant = constants.find(shape, type_, layout.data.memory_space, mask)
    loops = cast("LinalgGenericOp", mask.parent_op())
    iterators = len(loops.iterator_types.data)
    places = [cast("IndexOp", each.owner).dim.value.data for each in mask.operands[1:]]
    index_map = AffineMap(
        iterators,
        0,
        tuple(
            DimExpr(place) if is_masked else ConstantExpr(0)
            for place, is_masked in zip(places, (rows, columns), strict=True)
        ),
    )
    op, shard = _append_input(op, constant, index_map)
    argument = _append_argument(loops, shard, index_map)
    builder = OpBuilder.before(mask)
    outside = _add(builder, d2m.TileFillOp.of(number, tile.type))
    where = d2m.tile_op_of_row("where")
    assert where is not None, "tiles are chosen by a call"
    chosen = _add(builder, where.of([argument, tile, outside], tile.type))
    _replace_mask(mask, chosen)
    return op


def _append_input(
    op: d2m.GenericOp, value: SSAValue, index_map: AffineMap
) -> tuple[d2m.GenericOp, SSAValue]:
    """The generic with one more input, and the shard of it in its region."""
    inputs, outputs, maps = list(op.inputs), list(op.outputs), list(op.indexing_maps)
    count = len(inputs)
    made = d2m.GenericOp.of(
        [*inputs, value],
        outputs,
        [*maps[:count], index_map, *maps[count:]],
        op.iterator_types,
        op.threads,
        grid=op.grid_shape,
        block_factors=op.block_factors,
        regions=[op.detach_region(region) for region in tuple(op.regions)],
    )
    made.attributes.update(op.attributes)
    reference = reference_of(op)
    if reference is not None:
        made.attributes[REFERENCE] = reference.insert_input(count, len(op.operands)).attr
    made.location = op.location
    OpBuilder.before(op).insert(made)
    for before, after in zip(op.results, made.results, strict=True):
        after.name_hint = before.name_hint
        before.replace_all_uses_with(after)
    erase(op)
    block = made.compute_region.block
    cb = block.insert_arg(d2m.GenericOp.argument_types([value])[0], count)
    first = block.first_op
    assert first is not None, "regions on tensors end in a yield"
    shard = _add(OpBuilder.before(first), d2m.WaitOp.on(cb))
    return made, shard


def _append_argument(loops: LinalgGenericOp, shard: SSAValue, index_map: AffineMap) -> SSAValue:
    """The tile of one more input in the body of a loop nest."""
    inputs: Sequence[SSAValue] = tuple(loops.inputs)
    count = len(inputs)
    maps: list[AffineMapAttr] = list(loops.indexing_maps.data)
    element = cast("TensorType[Attribute]", shard.type).get_element_type()
    argument = loops.body.block.insert_arg(element, count)
    made = LinalgGenericOp(
        [*inputs, shard],
        tuple(loops.outputs),
        loops.detach_region(loops.body),
        [*maps[:count], affine_map_attr(index_map), *maps[count:]],
        list(loops.iterator_types.data),
        loops.result_types,
    )
    made.attributes.update(loops.attributes)
    made.location = loops.location
    OpBuilder.before(loops).insert(made)
    for before, after in zip(loops.results, made.results, strict=True):
        before.replace_all_uses_with(after)
    erase(loops)
    return argument
