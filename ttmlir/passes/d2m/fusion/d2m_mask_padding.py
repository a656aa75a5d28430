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

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Final, cast

import numpy as np
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import AffineMapAttr, TensorType, bf16
from xdsl.dialects.func import FuncOp
from xdsl.dialects.linalg.attrs import IteratorType as LinalgIteratorType
from xdsl.dialects.linalg.ops import IndexOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.linalg import GenericOp as LinalgGenericOp
from ttmlir.dialects.tt.layout import TileType
from ttmlir.dialects.ttcore import metal_layout_of, metal_tensor_type, metal_tile_type
from ttmlir.dialects.ttir import TTNNMetalLayoutCastOp
from ttmlir.ir.builder import OpBuilder
from ttmlir.ir.kernel_builder import is_float
from ttmlir.ir.rewriting import erase
from ttmlir.ir.tensor_types import value_shape
from ttmlir.layout.affine import AffineMap, ConstantExpr, DimExpr
from ttmlir.layout.data_format import DEFAULT_TILE_SHAPE
from ttmlir.layout.enums import MemorySpace
from ttmlir.mlir.attributes import ElementsType, affine_map_attr, elements_of, layout_map
from ttmlir.passes.d2m.frontend.unified_form import ComputingModulePass
from ttmlir.passes.d2m.references import REFERENCE, reference_of

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class D2MMaskPaddingPass(ComputingModulePass):
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
            self._made[key] = builder.put(
                d2m.ToLayoutOp.of(builder.put(constant), builder.put(d2m.EmptyOp.of(buffer)))
            )
        return self._made[key]


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
    outside = builder.put(d2m.TileFillOp.of(number, tile.type))
    where = d2m.tile_op_of("where")
    assert where is not None, "tiles are chosen by a call"
    chosen = builder.put(where.of([argument, tile, outside], tile.type))
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
    shard = OpBuilder.before(first).put(d2m.WaitOp.on(cb))
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


# --- Values of padding ----------------------------------------------------------------------------
# What tiles hold beyond the shape of a tensor, as far as it is known: for `d2m-mask-padding`.
#
# Rows and columns of a matrix divide its tiles into four regions: the data, rows beyond the last
# one, columns beyond the last one, and what is beyond both. Each holds one number, or it is not
# known what, or there is no such place.


TILE = DEFAULT_TILE_SHAPE[0]


class _Vacant(Enum):
    VACANT = "vacant"


VACANT: Final = _Vacant.VACANT
"""In place of a number: there is no such place."""
Content = float | None | _Vacant
"""The number of a region; None if it is not known."""


@dataclass(frozen=True)
class Padding:
    """The content of the regions of a tensor, or of a tile of one."""

    data: Content = None
    rows: Content = None
    columns: Content = None
    corner: Content = None

    @classmethod
    def everywhere(cls, number: float) -> Padding:
        """One number, in whatever region."""
        return cls(number, number, number, number)

    def transposed(self) -> Padding:
        """With rows and columns exchanged."""
        return replace(self, rows=self.columns, columns=self.rows)

    def masked(self, rows: bool, columns: bool, number: float) -> Padding:
        """With a number in the regions beyond rows, beyond columns, or both."""
        return Padding(
            self.data,
            number if rows else self.rows,
            number if columns else self.columns,
            number if rows or columns else self.corner,
        )

    def is_masked(self, rows: bool, columns: bool, number: float) -> bool:
        """True if the number is there already."""
        wanted = (
            *((self.rows, self.corner) if rows else ()),
            *((self.columns, self.corner) if columns else ()),
        )
        return all(each is VACANT or each == number for each in wanted)

    def within(self, shape: Sequence[int]) -> Padding:
        """Without the regions that a tensor of a shape does not have."""
        rows, columns = (extent % TILE > 0 for extent in shape[-2:])
        return Padding(
            self.data,
            self.rows if rows else VACANT,
            self.columns if columns else VACANT,
            self.corner if rows and columns else VACANT,
        )


UNKNOWN = Padding()
LOADED = Padding(None, 0, 0, 0)
"""Of tensors from the host, whose padding is written as 0."""
FROM_HOST = "ttnn.from_host"
"""On an argument in ttnn: the host has laid it out in tiles. Padding of others is not known."""


def _combine(function: Callable[[Sequence[float]], Content], tiles: Sequence[Padding]) -> Padding:
    """What a function of tiles makes of each region."""

    def combine(contents: Sequence[Content]) -> Content:
        if VACANT in contents:
            return VACANT
        known = [each for each in contents if isinstance(each, float | int)]
        return function(known) if len(known) == len(contents) else None

    return Padding(
        combine([tile.data for tile in tiles]),
        combine([tile.rows for tile in tiles]),
        combine([tile.columns for tile in tiles]),
        combine([tile.corner for tile in tiles]),
    )


def _is_from_host(value: SSAValue) -> bool:
    owner = value.owner
    if not isinstance(value, BlockArgument) or not isinstance(owner, Block):
        return False
    function = owner.parent_op()
    said = function.arg_attrs if isinstance(function, FuncOp) else None
    return said is not None and FROM_HOST in said.data[value.index].data


class PaddingAnalysis:
    """What is known of the values of a block; operations are visited in order."""

    def __init__(self) -> None:
        """Begin with nothing known."""
        self._known: dict[SSAValue, Padding] = {}
        self.masked: dict[Operation, Padding] = {}
        """What each `tile_mask` gets."""

    def of(self, value: SSAValue) -> Padding:
        """What is known of a tensor."""
        known = self._known.get(value, UNKNOWN)
        layout = metal_layout_of(value.type)
        return known if layout is None else known.within(layout.logical_shape)

    def visit(self, op: Operation) -> None:
        """Learn what the results of an operation hold."""
        match op:
            case d2m.ToLayoutOp() if metal_layout_of(op.input.type) is None and op.results:
                self._known[op.results[0]] = LOADED
            case TTNNMetalLayoutCastOp() if _is_from_host(op.operands[0]):
                self._known[op.results[0]] = LOADED
            case d2m.ViewLayoutOp():
                self._known[op.results[0]] = self._see(op)
            case d2m.GenericOp() if op.is_compute_only:
                self._visit_generic(op)
            case _:
                pass

    def _see(self, op: d2m.ViewLayoutOp) -> Padding:
        """What a view shows: the padding of the buffer where its last rows are last, too."""
        view, below = (metal_layout_of(value.type) for value in (op.results[0], op.input))
        if view is None or below is None or view.data.device_rank != view.data.rank:
            return UNKNOWN
        known, rank, count = self.of(op.input), view.data.rank, below.data.device_rank
        if not view.data.is_view or count != below.data.rank:
            return known if view.logical_shape == below.logical_shape else Padding(known.data)
        places = view.data.index_map.results[count:]
        same_rows, same_columns = (
            places[count - dim] == DimExpr(2 * rank - dim)
            and view.logical_shape[-dim] == below.logical_shape[-dim]
            for dim in (2, 1)
        )
        # Rows of the view may be any of the buffer, but only columns that are beyond the last one
        # there are so here.
        columns = known.columns if known.corner in (VACANT, known.columns) else None
        rows = known.rows if known.corner in (VACANT, known.rows) else None
        padding = {known.rows, known.columns, known.corner} - {VACANT, known.data}
        return Padding(
            None if padding else known.data,
            (known.rows if same_columns else rows) if same_rows else None,
            (known.columns if same_rows else columns) if same_columns else None,
            known.corner if same_rows and same_columns else None,
        )

    # --- Generics ------------------------------------------------------------------------------

    def _visit_generic(self, op: d2m.GenericOp) -> None:
        block = op.compute_region.block
        shards = {cb: self.of(value) for cb, value in zip(block.args, op.operands, strict=False)}
        shapes = {
            cb: layout.logical_shape
            for cb, value in zip(block.args, op.operands, strict=False)
            if (layout := metal_layout_of(value.type)) is not None
        }
        known: dict[SSAValue, Padding] = {}
        for each in block.ops:
            if isinstance(each, d2m.WaitOp):
                known[each.results[0]] = shards.get(
                    cast("BlockArgument", each.operands[0]), UNKNOWN
                )
            elif isinstance(each, LinalgGenericOp) and len(each.results) == 1:
                tiles = [known.get(value, UNKNOWN) for value in each.inputs]
                made = self._visit_loops(each, tiles)
                known[each.results[0]] = made if _covers(each) else UNKNOWN
        end = block.last_op
        if isinstance(end, d2m.YieldOp):
            outputs = block.args[len(op.inputs) :]
            for value, result, cb in zip(end.operands, op.results, outputs, strict=False):
                if cb in shapes:
                    self._known[result] = known.get(value, UNKNOWN)

    def _visit_loops(self, op: LinalgGenericOp, tiles: Sequence[Padding]) -> Padding:
        """What the result of a loop nest holds."""
        kinds = [kind.data for kind in op.iterator_types.data]
        if all(kind is LinalgIteratorType.PARALLEL for kind in kinds):
            return self._visit_body(op, (*tiles, UNKNOWN))
        start = _identity_of(op)
        once = self._visit_body(op, (*tiles, start))
        again = self._visit_body(op, (*tiles, once))
        # What stays the same in the second step stays so in all.
        return _combine(lambda each: each[0] if each[0] == each[1] else None, (once, again))

    def _visit_body(self, op: LinalgGenericOp, tiles: Sequence[Padding]) -> Padding:
        block = op.body.block
        known: dict[SSAValue, Padding] = dict(zip(block.args, tiles, strict=True))
        for each in block.ops:
            if isinstance(each, d2m.TileMaskOp):
                self.masked[each] = known[each.operands[0]]
            if each.results:
                operands = [known.get(value, UNKNOWN) for value in each.operands]
                known[each.results[0]] = compute_padding(each, operands)
        end = block.last_op
        assert end is not None, "bodies end in a yield"
        return known.get(end.operands[0], UNKNOWN)


def _covers(op: LinalgGenericOp) -> bool:
    """True if a loop nest writes all tiles of its output, each at the place of its loops."""
    results = layout_map(op.indexing_maps.data[-1]).results
    shape = value_shape(op.results[0])
    return all(
        isinstance(each, DimExpr) or (each == ConstantExpr(0) and extent == 1)
        for each, extent in zip(results, shape, strict=True)
    )


def _identity_of(op: LinalgGenericOp) -> Padding:
    """What an accumulator starts from."""
    for use in op.body.block.args[-1].uses:
        match use.operation:
            case d2m.CombiningTileOp() as combining:
                return Padding.everywhere(combining.IDENTITY)
            case d2m.ElementwiseTileOp(TILE_OPERATION=operation) if (
                operation.definition is not None and operation.definition.identity is not None
            ):
                return Padding.everywhere(operation.definition.identity)
            case _:
                pass
    return UNKNOWN


def mask_of(op: d2m.TileMaskOp) -> tuple[bool, bool, float]:
    """Whether a mask is about rows, whether about columns, and its number."""
    rows, columns = (extent % TILE > 0 for extent in op.valid)
    return rows, columns, op.number


def compute_padding(op: Operation, tiles: Sequence[Padding]) -> Padding:
    """What an operation on tiles makes of the padding of its operands."""
    match op:
        case d2m.TileFillOp():
            return Padding.everywhere(op.number)
        case d2m.TileMaskOp():
            return tiles[0].masked(*mask_of(op))
        case d2m.TileTransposeOp():
            return tiles[0].transposed()
        case d2m.TileBcastOp():
            return _repeat(tiles[0], op.kind)
        case d2m.TileMatmulOp():
            return _multiply(tiles[0], tiles[1])
        case d2m.TileReduceSumOp() | d2m.TileReduceMaxOp():
            return _reduce(op, tiles[0])
        case d2m.ElementwiseTileOp():
            return _compute_elementwise(op, tiles)
        case _:
            return UNKNOWN


def _repeat(tile: Padding, kind: d2m.BroadcastKind) -> Padding:
    """The first row, column or number, in all places of a tile."""
    data, rows, columns = (
        None if each is VACANT else each for each in (tile.data, tile.rows, tile.columns)
    )
    if kind is d2m.BroadcastKind.ROW:
        # Columns beyond the last one are those of the only row.
        return Padding(data, data, tile.columns if tile.columns is VACANT else columns, columns)
    if kind is d2m.BroadcastKind.COLUMN:
        return Padding(data, tile.rows if tile.rows is VACANT else rows, data, rows)
    return Padding(data, data, data, data)


def _multiply(a: Padding, b: Padding) -> Padding:
    """Rows of zeros, and columns of zeros, make such."""

    def zero(*contents: Content) -> Content:
        return 0 if all(each is VACANT or each == 0 for each in contents) else None

    rows = VACANT if a.rows is VACANT else zero(a.rows, a.corner)
    columns = VACANT if b.columns is VACANT else zero(b.columns, b.corner)
    # Zeros times what is not known may be no number.
    return Padding(None, rows, columns, 0 if rows == 0 and columns == 0 else None)


def _reduce(op: d2m.TileReduceSumOp | d2m.TileReduceMaxOp, tile: Padding) -> Padding:
    """What is not in the first row or column of a reduction is undefined."""
    is_sum = isinstance(op, d2m.TileReduceSumOp)

    def reduce(*contents: Content) -> Content:
        if contents[0] is VACANT:
            return VACANT
        numbers = {each for each in contents if each is not VACANT}
        if len(numbers) != 1:
            return None
        (number,) = numbers
        return number if not is_sum or number == 0 else None

    if op.reduce_dim is d2m.ReduceDim.R:
        return Padding(None, reduce(tile.rows, tile.corner), None, None)
    if op.reduce_dim is d2m.ReduceDim.C:
        return Padding(None, None, reduce(tile.columns, tile.corner), None)
    return UNKNOWN


def _compute_elementwise(op: d2m.ElementwiseTileOp, tiles: Sequence[Padding]) -> Padding:
    definition = op.TILE_OPERATION.definition
    if definition is None:
        return UNKNOWN
    if definition.mnemonic == "typecast":
        # These are the same in all types.
        return _combine(lambda each: each[0] if each[0] in (0, 1) else None, tiles)
    parameters = op.parameters()
    operand, result = (cast("TileType", value.type) for value in (op.operands[-1], op.results[0]))
    dtype = np.float32 if is_float(operand.format.data.scalar) else np.int32

    def compute(numbers: Sequence[float]) -> Content:
        try:
            arrays = [np.asarray(number, dtype) for number in numbers]
            with np.errstate(all="ignore"):
                made = float(definition.reference(np, *arrays, **parameters))
        except (ValueError, TypeError, ArithmeticError):
            return None
        return made if _is_exact(made, result) else None

    return _combine(compute, tiles)


def _is_exact(number: float, tile: TileType) -> bool:
    """True if any format of tiles holds a number as it is: one of few bits."""
    if not is_float(tile.format.data.scalar):
        return number.is_integer() and abs(number) < 128
    if math.isinf(number):
        return True
    mantissa, exponent = math.frexp(number)
    return (mantissa * 128).is_integer() and abs(exponent) < 14
