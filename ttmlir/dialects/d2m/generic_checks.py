"""What a `d2m.generic` requires, with the messages of tt-mlir (late 2025)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Region

from ttmlir.dialects.d2m.attrs import CBType, SemaphoreType
from ttmlir.dialects.definition.ods import refuse, text
from ttmlir.dialects.ttcore import DeviceLayout, device_layout_of
from ttmlir.layout.affine import AffineMap, ConstantExpr, DimExpr
from ttmlir.layout.grid import NO_MAPPING
from ttmlir.layout.metal.iteration import iterator_extents, iterator_positions

if TYPE_CHECKING:
    from ttmlir.dialects.d2m.generic import GenericOp


def verify_generic(op: GenericOp) -> None:
    """Check C1 to C9 of the operation's documentation, in tt-mlir's order."""
    _check_tensor_form(op)
    _check_threads(op)
    layouts = _layouts(op)
    output = layouts[len(op.inputs)]
    if not _divides(op.grid_shape, output):
        refuse("output grid shape must be divisible by the generic op's grid shape")
    maps = op.indexing_maps
    if maps:
        _check_maps(op, maps, layouts)
        _check_outputs(op, maps)
    for region in op.regions:
        _check_region(op, region, layouts)
    if not op.regions and any(thread.symbol is None for thread in op.threads):
        refuse("threads must have a kernel symbol in external symbol form (i.e. without regions)")


def _check_threads(op: GenericOp) -> None:
    if op.grid.data.mapping != NO_MAPPING:
        refuse("grid mapping is not supported")
    if not op.outputs:
        refuse("must have at least one output operand")
    if not op.threads:
        refuse("must have at least one thread")
    if op.regions and len(op.regions) != len(op.threads):
        refuse("number of regions must match the number of threads")


def _divides(grid: Sequence[int], output: DeviceLayout) -> bool:
    """Blocks of a view may be fewer on the last cores; shards are where they are."""
    blocks_of = output.grid_shape
    return len(blocks_of) == len(grid) and all(
        0 < cores <= blocks if output.index_map is not None else cores > 0 and not blocks % cores
        for blocks, cores in zip(blocks_of, grid, strict=True)
    )


def _check_tensor_form(op: GenericOp) -> None:
    if not all(isinstance(value.type, TensorType) for value in op.operands):
        return
    words = "generic op with pure tensor semantics must have"
    if len(op.regions) != 1:
        refuse(f"{words} exactly 1 region")
    (region,) = op.regions
    if len(region.blocks) != 1:
        refuse(f"{words} exactly 1 block")
    end = region.block.last_op
    if end is None or end.name != "d2m.yield":
        refuse(f"{words} yield terminator")
    if len(end.operands) != len(op.results):
        refuse("yield terminator must have the same number of arguments as generic results")


def _layouts(op: GenericOp) -> list[DeviceLayout]:
    layouts: list[DeviceLayout] = []
    for number, value in enumerate(op.operands):
        layout = device_layout_of(value.type)
        if layout is None:
            refuse(
                f"operand #{number} has no grid, got '{text(value.type)}'; expected a tensor with "
                "#ttcore.metal_layout or a memref with #ttcore.shard, #ttcore.interleaved or "
                "#ttcore.view"
            )
        layouts.append(layout)
    return layouts


def _check_maps(op: GenericOp, maps: Sequence[AffineMap], layouts: Sequence[DeviceLayout]) -> None:
    if len(maps) != len(layouts):
        refuse(f"expected {len(layouts)} indexing maps, one for each operand, got {len(maps)}")
    if len({each.num_dims for each in maps}) > 1:
        refuse("all indexing maps must have the same number of dimensions")
    factors, iterators = len(op.block_factors), len(op.iterator_types)
    if factors != iterators:
        refuse(
            f"number of block factors[{factors}] must match the number of iterators[{iterators}]"
        )
    if maps[0].num_dims != iterators:
        refuse(f"expected maps of {iterators} iterators, got {maps[0].num_dims}")
    for number, (each, layout) in enumerate(zip(maps, layouts, strict=True)):
        _check_map(number, each, len(layout.grid_shape))
    grids = [layout.grid_shape for layout in layouts]
    _check_agreement("grid", maps, grids)
    _check_agreement("shard", maps, [layout.scalar_shard_shape for layout in layouts])
    output = len(op.inputs)
    expected = iterator_extents(maps[output], op.grid_shape, op.block_factors)
    if layouts[output].index_map is not None:
        expected = _uneven_extents(maps[output], op, grids[output], expected)
    for number, (each, grid) in enumerate(zip(maps, grids, strict=True)):
        for iterator, extent in _extents(each, grid):
            if extent != expected[iterator]:
                wanted = [
                    expected[result.position] if isinstance(result, DimExpr) else size
                    for result, size in zip(each.results, grid, strict=True)
                ]
                refuse(
                    f"grid dim unexpected for operand[{number}] grid_shape={_list(grid)} "
                    f"expected grid_shape={_list(wanted)} at affine dim d{iterator}"
                )


def _uneven_extents(
    output_map: AffineMap, op: GenericOp, blocks: Sequence[int], even: Sequence[int]
) -> Sequence[int]:
    """Blocks along each iterator, where the last cores may have fewer than the factor."""
    extents = list(even)
    for iterator, position in iterator_positions(output_map).items():
        if -(-blocks[position] // op.grid_shape[position]) == op.block_factors[iterator]:
            extents[iterator] = blocks[position]
    return extents


def _check_outputs(op: GenericOp, maps: Sequence[AffineMap]) -> None:
    """Refuse outputs of which several cores would write the same block."""
    first, *others = maps[len(op.inputs) :]
    for iterator, position in iterator_positions(first).items():
        for number, each in enumerate(others, len(op.inputs) + 1):
            if op.grid_shape[position] > 1 and iterator not in iterator_positions(each):
                refuse(
                    f"the cores are spread over iterator d{iterator}, which is no result of the "
                    f"indexing map of output operand #{number}; they would all write the same "
                    "blocks"
                )


def _check_map(number: int, index_map: AffineMap, rank: int) -> None:
    if len(index_map.results) != rank:
        refuse(
            f"the indexing map of operand #{number} has {len(index_map.results)} results, its "
            f"grid {rank} dimensions"
        )
    for result in index_map.results:
        if not isinstance(result, DimExpr) and result != ConstantExpr(0):
            refuse(
                f"the indexing map of operand #{number} has the result '{result}'; supported are "
                "iterators and the constant 0"
            )


def _extents(index_map: AffineMap, shape: Sequence[int]) -> list[tuple[int, int]]:
    """The iterators of a map with the extents of their dimensions; constants are left out."""
    return [
        (result.position, extent)
        for result, extent in zip(index_map.results, shape, strict=True)
        if isinstance(result, DimExpr)
    ]


def _check_agreement(what: str, maps: Sequence[AffineMap], shapes: Sequence[Sequence[int]]) -> None:
    """Refuse two operands with other extents at the same iterator."""
    extents = [_extents(each, shape) for each, shape in zip(maps, shapes, strict=True)]
    for first, second in combinations(range(len(maps)), 2):
        others = dict(extents[second])
        for iterator, extent in extents[first]:
            if others.get(iterator, extent) != extent:
                refuse(
                    f"{what} shape mismatch between operand[{first}] "
                    f"{what}_shape={_list(shapes[first])} and operand[{second}] "
                    f"{what}_shape={_list(shapes[second])} at affine dim d{iterator}"
                )


def _list(shape: Sequence[int]) -> str:
    return f"[{', '.join(map(str, shape))}]"


def _check_region(op: GenericOp, region: Region, layouts: Sequence[DeviceLayout]) -> None:
    if len(region.blocks) != 1:
        refuse("region must have a single block")
    arguments = region.block.args
    first = op.regions[0].blocks.first
    assert first is not None, "an empty region is refused before"
    if len(arguments) < len(layouts):
        refuse("region must have at least as many arguments as the number of top-level operands")
    if len(arguments) != len(first.args):
        refuse("all regions must have the same number of arguments")
    types = [argument.type for argument in arguments]
    if not all(isinstance(each, CBType | SemaphoreType) for each in types):
        refuse("all regions must either cb or semaphore block argument type")
    if types != [argument.type for argument in first.args]:
        refuse("all regions must have the same argument types")
    for each, layout in zip(types, layouts, strict=False):
        if not isinstance(each, CBType) or each.shape != layout.shard_shape:
            refuse("region argument shape must match the shape of the corresponding operand")
    if not all(isinstance(each, SemaphoreType) for each in types[len(layouts) :]):
        refuse("additional region arguments must be of 'semaphore' type")
