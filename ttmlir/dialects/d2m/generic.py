"""The operation `d2m.generic`: work on blocks, by a grid of cores, in threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IntegerAttr, MemRefType, TensorType, i64
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import traits_def
from xdsl.parser import Parser
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, NoTerminator, Pure, ReturnLike

from ttmlir.dialects.d2m.movement import ReserveOp, WaitOp
from ttmlir.dialects.d2m.structure import (
    CANONICAL,
    SHAPED,
    CBType,
    D2MOp,
    RegionOp,
    SemaphoreType,
    StreamLayoutOp,
    ThreadAttr,
    ThreadKind,
    ToLayoutOp,
    ViewLayoutOp,
    WritesMemrefs,
    element_type_of_value,
    parse_list_in,
)
from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.assembly import parse_operands
from ttmlir.dialects.definition.ods import (
    SEGMENTS,
    CanonicalPatterns,
    DestinationStyleOp,
    KeepsConstants,
    Property,
    Signature,
    TypeConstraint,
    ValueGroup,
    properties,
    refuse,
    segment_sizes,
    segments_attr,
    text,
)
from ttmlir.dialects.tt.layout import GridAttr, IteratorTypeAttr, element_of
from ttmlir.dialects.ttcore import (
    DeviceLayout,
    MetalLayoutAttr,
    ViewLayoutAttr,
    device_layout_of,
    shard_type_of,
)
from ttmlir.layout.affine import AffineMap, ConstantExpr, DimExpr
from ttmlir.layout.enums import IteratorType
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.metal import (
    compose_views,
    infer_block_factors,
    iterator_extents,
    iterator_positions,
)
from ttmlir.layout.tensor_layout import NO_MAPPING
from ttmlir.mlir.attributes import affine_map_attr, layout_map

# --- Generic checks -------------------------------------------------------------------------------
# What a `d2m.generic` requires, with the messages of tt-mlir (late 2025).


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
    if not all(isinstance(value.type, TensorType) for value in op.buffers):
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
    for number, value in enumerate(op.buffers):
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
    if not arguments:
        return  # since 2026 regions name circular buffers by d2m.get_cb
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


# --- Generic --------------------------------------------------------------------------------------


_ADDITIONAL = "additionalArgs"
_LATE_PROPERTIES = (
    Property("scratch_inputs", ods.DENSE_I64, optional=True),
    Property(
        "fabricConnectionConfig", ods.named_attr("ttcore.fabric_connection_config"), optional=True
    ),
)


class GenericOp(DestinationStyleOp, D2MOp):
    """Work that each core of a grid does on blocks of its operands, in one or more threads.

    Core c runs the regions once for each point of `block_factors`, the first iterator outermost.
    `indexing_maps` take the iterators to the block of each operand; where the map of the output has
    an iterator at dimension g of the grid, the core's index in g comes before it:
    c[g] * factor + step. The arguments of each region are a circular buffer for each operand, whose
    type is a shard, and then semaphores. Regions without terminator work on memrefs; on tensors
    there is one region, which ends in `d2m.yield`.

    Three forms: with maps; with loops in the regions, then maps and iterator types are empty; and
    without regions, then the threads name functions.

    C1: on tensors, one region of one block that ends in a yield of the results. C2: the grid has no
    mapping. C3: an output or more. C4: a thread for each region. C5: the grid divides the output's;
    of an output that is a view, the last cores may have fewer blocks, and no core is without. C6:
    maps over the same iterators, with a block factor for each. C7: operands agree on the blocks of
    an iterator and on their extents, and each core has blocks of its own of every output. C8:
    regions have the same arguments, circular buffers of the operands' shards and semaphores. C9:
    without regions, threads have symbols.

    Example:
        %r = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<8x8>,
            indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel],
            threads = [#d2m.thread<compute>]}
            ins(%a : tensor<8x8x2x1x!ttcore.tile<32x32, bf16>, #layout>)
            outs(%o : tensor<8x8x2x1x!ttcore.tile<32x32, bf16>, #layout>) {
        ^compute0(%cb0: !d2m.cb<...>, %cb1: !d2m.cb<...>):
          ...
          d2m.yield %x : (tensor<2x1x!ttcore.tile<32x32, bf16>>)
        } : tensor<8x8x2x1x!ttcore.tile<32x32, bf16>, #layout>
    """

    name = "d2m.generic"
    SPELLED: ClassVar = (SEGMENTS,)
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("inputs", SHAPED, variadic=True), ValueGroup("outputs", SHAPED, variadic=True)),
        (ValueGroup("results", variadic=True),),
        properties(
            grid=ods.named_attr("tt.grid"),
            block_factors=ods.I64_ARRAY,
            indexing_maps=ods.MAP_ARRAY,
            iterator_types=ods.array_attr(
                "iterator types", lambda item: item.name == "tt.iterator_type"
            ),
            threads=ods.array_attr("threads", lambda item: item.name == "d2m.thread"),
        )
        + _LATE_PROPERTIES,
        regions=None,
        init="outputs",
    )
    LATE_FORM: ClassVar[Signature] = replace(
        SIGNATURE,
        operands=(
            *SIGNATURE.operands,
            ValueGroup("additionalArgs", TypeConstraint("any type", ods.always), variadic=True),
        ),
    )
    """The form of 2026, with semaphores and other values that kernels take."""
    traits = traits_def(
        NoTerminator(),
        KeepsConstants(),
        WritesMemrefs(),
        CanonicalPatterns(f"{CANONICAL}:GENERIC_PATTERNS"),
    )

    # --- Construction --------------------------------------------------------------------------

    @classmethod
    def of(
        cls,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        indexing_maps: Sequence[AffineMap],
        iterator_types: Sequence[IteratorType],
        threads: Sequence[ThreadKind | ThreadAttr],
        *,
        grid: Sequence[int] | None = None,
        block_factors: Sequence[int] | None = None,
        regions: Sequence[Region] | None = None,
        semaphores: int = 0,
    ) -> Self:
        """The operation on operands that have grids.

        The default grid is the output's; block factors follow from the grids of the operands. With
        no regions given, there is an empty block for each thread, with its arguments
        (`regions=()` makes the form without regions). LayoutError where factors do not follow.
        """
        operands = (*inputs, *outputs)
        layouts = [_layout(value) for value in operands]
        cores = layouts[len(inputs)].grid_shape if grid is None else tuple(grid)
        if block_factors is None:
            grids = [layout.grid_shape for layout in layouts]
            pairs = list(zip(indexing_maps, grids, strict=True))
            output_map, output_grid = pairs[len(inputs)]
            block_factors = infer_block_factors(
                output_map, output_grid, cores, pairs[: len(inputs)]
            )
        if regions is None:
            types = cls.argument_types(operands, semaphores)
            regions = [Region(Block(arg_types=types)) for _ in threads]
        return cls.create(
            operands=operands,
            result_types=[each.type for each in outputs if each.type.name == "tensor"],
            properties={
                "grid": GridAttr.get(cores),
                "block_factors": ArrayAttr(IntegerAttr(each, i64) for each in block_factors),
                "indexing_maps": ArrayAttr(map(affine_map_attr, indexing_maps)),
                "iterator_types": ArrayAttr(map(IteratorTypeAttr, iterator_types)),
                "threads": ArrayAttr(
                    each if isinstance(each, ThreadAttr) else ThreadAttr.of(each)
                    for each in threads
                ),
                SEGMENTS: segments_attr((len(inputs), len(outputs))),
            },
            regions=list(regions),
        )

    @staticmethod
    def argument_types(operands: Sequence[SSAValue], semaphores: int = 0) -> list[Attribute]:
        """The types of the arguments of regions on these operands."""
        shards = [CBType(shard_type_of(value.type)) for value in operands]
        return [*shards, *([SemaphoreType()] * semaphores)]

    # --- Parts ---------------------------------------------------------------------------------

    @classmethod
    def group_counts(cls) -> tuple[int, ...]:
        """Inputs and outputs, and since 2026 other values."""
        return (2, 3)

    def form(self) -> Signature:
        """With other values or without."""
        sizes = self.properties.get(SEGMENTS)
        has_more = sizes is not None and len(segment_sizes(sizes)) == 3
        return self.LATE_FORM if has_more else self.SIGNATURE

    @property
    def buffers(self) -> Sequence[SSAValue]:
        """Inputs and outputs."""
        return self.operands[: len(self.operands) - len(self.additional)]

    @property
    def additional(self) -> tuple[SSAValue, ...]:
        """Values beside them that kernels take."""
        return self.group(_ADDITIONAL) if self.form() is self.LATE_FORM else ()

    @property
    def grid(self) -> GridAttr:
        """The cores."""
        return cast("GridAttr", self.properties["grid"])

    @property
    def grid_shape(self) -> tuple[int, ...]:
        """Rows and columns of cores."""
        return self.grid.shape

    @property
    def block_factors(self) -> tuple[int, ...]:
        """Steps of each core along each iterator."""
        items = cast("ArrayAttr[IntegerAttr]", self.properties["block_factors"])
        return tuple(item.value.data for item in items.data)

    @property
    def indexing_maps(self) -> tuple[AffineMap, ...]:
        """From the iterators to the block of each operand; none in the form with loops."""
        items = cast("ArrayAttr[AffineMapAttr]", self.properties["indexing_maps"])
        return tuple(map(layout_map, items.data))

    @property
    def iterator_types(self) -> tuple[IteratorType, ...]:
        """What each iterator does; none in the form with loops."""
        items = cast("ArrayAttr[IteratorTypeAttr]", self.properties["iterator_types"])
        return tuple(item.data for item in items.data)

    @property
    def threads(self) -> tuple[ThreadAttr, ...]:
        """The thread of each region."""
        return cast("ArrayAttr[ThreadAttr]", self.properties["threads"]).data

    @property
    def outputs(self) -> tuple[SSAValue, ...]:
        """What the results are written to."""
        return self.inits

    @property
    def layouts(self) -> tuple[DeviceLayout, ...]:
        """Grid and shard of each operand."""
        return tuple(map(_layout, self.buffers))

    @property
    def has_maps(self) -> bool:
        """True in the form whose regions have no loops over blocks yet."""
        return bool(self.indexing_maps)

    @property
    def reductions(self) -> tuple[int, ...]:
        """The iterators that are reductions."""
        return tuple(
            number
            for number, kind in enumerate(self.iterator_types)
            if kind is IteratorType.REDUCTION
        )

    def regions_of(self, kind: ThreadKind) -> list[Region]:
        """The regions of the threads of a kind, in order; none in the form without regions."""
        if not self.regions:
            return []
        pairs = zip(self.regions, self.threads, strict=True)
        return [region for region, thread in pairs if thread.kind is kind]

    @property
    def compute_region(self) -> Region:
        """The region of the only compute thread."""
        (region,) = self.regions_of(ThreadKind.COMPUTE)
        return region

    @property
    def is_compute_only(self) -> bool:
        """True if there is one thread, which computes."""
        return [thread.kind for thread in self.threads] == [ThreadKind.COMPUTE]

    @property
    def is_dma_only(self) -> bool:
        """True if no thread computes."""
        return all(thread.kind is not ThreadKind.COMPUTE for thread in self.threads)

    def cb(self, operand: int, region: int = 0) -> BlockArgument[Attribute]:
        """The circular buffer of an operand in a region."""
        return self.regions[region].block.args[operand]

    def semaphores(self, region: int = 0) -> Sequence[BlockArgument[Attribute]]:
        """The semaphores of a region."""
        return self.regions[region].block.args[len(self.buffers) :]

    # --- Names ---------------------------------------------------------------------------------

    def block_name(self, region: int) -> str:
        """The kind of the thread and its number among those of its kind."""
        if len(self.threads) != len(self.regions):
            return ""
        kind = self.threads[region].kind
        before = [thread.kind for thread in self.threads[:region]]
        return f"{kind.keyword}{before.count(kind)}"

    def argument_names(self, region: int) -> Sequence[str]:
        """`cb0`, `cb1` and so on, then `sem0`."""
        arguments = self.regions[region].block.args
        operands = len(self.buffers)
        return [
            f"cb{number}" if number < operands else f"sem{number - operands}"
            for number in range(len(arguments))
        ]

    # --- Text ----------------------------------------------------------------------------------

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        properties, attributes = cls.parse_dict(parser, {})
        groups = [parse_value_group(parser, keyword) for keyword in ("ins", "outs")]
        if parser.parse_optional_keyword(_ADDITIONAL) is not None:
            groups.append(parse_values(parser))
        properties[SEGMENTS] = segments_attr(tuple(map(len, groups)))
        regions, results = parse_regions_and_types(parser)
        return cls.create(
            operands=[value for group in groups for value in group],
            result_types=results,
            properties=properties,
            attributes=attributes,
            regions=regions,
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        self.print_dict(printer)
        print_value_group(printer, "ins", self.inputs)
        print_value_group(printer, "outs", self.outputs)
        if self.additional:
            print_value_group(printer, _ADDITIONAL, self.additional)
        print_regions_and_types(printer, self)

    def verify_op(self) -> None:
        """Check C1 to C9."""
        verify_generic(self)


def _layout(value: SSAValue) -> DeviceLayout:
    layout = device_layout_of(value.type)
    if layout is None:
        raise LayoutError(
            f"an operand of d2m.generic has a grid, a tensor of type '{value.type}' has none; "
            "move it with d2m.to_layout"
        )
    return layout


def parse_value_group(parser: Parser, keyword: str) -> list[SSAValue]:
    """Read `ins(%a, %b : A, B)`."""
    parser.parse_keyword(keyword)
    return parse_values(parser)


def parse_values(parser: Parser) -> list[SSAValue]:
    """Read `(%a, %b : A, B)`, possibly `()`."""
    parser.parse_punctuation("(")
    operands = parse_operands(parser)
    types: list[Attribute] = []
    position = parser.pos
    if operands:
        parser.parse_punctuation(":")
        position = parser.pos
        types += parser.parse_comma_separated_list(Parser.Delimiter.NONE, parser.parse_type)
    parser.parse_punctuation(")")
    return list(parser.resolve_operands(operands, types, position))


def print_value_group(printer: Printer, keyword: str, listed: Sequence[SSAValue]) -> None:
    """Write what `parse_value_group` reads, on a line of its own."""
    printer.print_string(f"\n    {keyword}(")
    if listed:
        printer.print_list(listed, printer.print_operand)
        printer.print_string(" : ")
        printer.print_list([value.type for value in listed], printer.print_attribute)
    printer.print_string(")")


def parse_regions_and_types(parser: Parser) -> tuple[list[Region], list[Attribute]]:
    """Read `{...}, {...} : types`, each if there."""
    regions: list[Region] = []
    region = parser.parse_optional_region()
    while region is not None:
        regions.append(region)
        if parser.parse_optional_punctuation(",") is None:
            break
        region = parser.parse_region()
    results: list[Attribute] = []
    if parser.parse_optional_punctuation(":") is not None:
        results += parser.parse_comma_separated_list(Parser.Delimiter.NONE, parser.parse_type)
    return regions, results


def print_regions_and_types(printer: Printer, op: Operation) -> None:
    """Write what `parse_regions_and_types` reads."""
    for number, region in enumerate(op.regions):
        printer.print_string(", " if number else "  ")
        printer.print_region(region)
    if op.results:
        printer.print_string(" : ")
        printer.print_list(op.result_types, printer.print_attribute)


class YieldOp(RegionOp):
    """The end of a region on tensors: `d2m.yield %t : (tensor<2x1x...>)`.

    C1: it is the last operation of its block.
    """

    name = "d2m.yield"
    SIGNATURE: ClassVar = Signature((ValueGroup("values", SHAPED, variadic=True),))
    traits = traits_def(Pure(), ReturnLike(), IsTerminator())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        operands = parse_operands(parser)
        _, attributes = cls.parse_dict(parser, {})
        types: list[Attribute] = []
        position = parser.pos
        if operands:
            parser.parse_punctuation(":")
            position = parser.pos
            types += parse_list_in(parser, "(", parser.parse_type)
        return cls.create(
            operands=parser.resolve_operands(operands, types, position), attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        if self.operands:
            printer.print_string(" ")
            printer.print_list(self.operands, printer.print_operand)
        self.print_dict(printer)
        if self.operands:
            printer.print_string(" : (")
            printer.print_list(self.operand_types, printer.print_attribute)
            printer.print_string(")")

    def verify_op(self) -> None:
        """Check the place in the block (C1)."""
        if self.parent is not None and self.next_op is not None:
            refuse("must be the last operation in the parent block")


# --- Canonical ------------------------------------------------------------------------------------
# Canonical forms of d2m.


class ToLayoutFoldIdentityPattern(RewritePattern):
    """A change of layout that changes nothing is its input."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Let the input stand for the result."""
        if (
            isinstance(op, ToLayoutOp)
            and len(op.results) == 1
            and op.input.type == op.results[0].type
        ):
            rewriter.replace(op, (), [op.input])


class ToLayoutFoldRedundantPattern(RewritePattern):
    """Two changes of layout one after another are one.

    The numbers in between must be in the format of one of the ends: else they were rounded there.
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Start from the first input."""
        if not isinstance(op, ToLayoutOp) or len(op.results) != 1:
            return
        before = op.input.owner
        if not isinstance(before, ToLayoutOp) or len(before.results) != 1:
            return
        formats = [_format(value) for value in (before.input, op.input, op.output)]
        if formats[1] in (formats[0], formats[2]):
            host_info = op.properties.get("layout", before.properties.get("layout"))
            folded = ToLayoutOp.of(
                before.input, op.output, cast("MetalLayoutAttr | None", host_info)
            )
            rewriter.replace(op, folded)


def _format(value: SSAValue) -> str:
    return element_of(element_type_of_value(value)).scalar.data_type.keyword


def _map_of(type: Attribute) -> AffineMap | None:
    """The map of a view to what is below it; None for a type that tells none."""
    if isinstance(type, TensorType):
        encoding = cast("TensorType[Attribute]", type).encoding
        return encoding.data.index_map if isinstance(encoding, MetalLayoutAttr) else None
    if isinstance(type, MemRefType):
        layout: Attribute = cast("MemRefType[Attribute]", type).layout
        return layout.map if isinstance(layout, ViewLayoutAttr) else None
    return None


def _on_buffer(type: Attribute, below: Attribute) -> Attribute | None:
    """The type of a view on a view, as a view on the buffer of that."""
    upper, lower = _map_of(type), _map_of(below)
    if upper is None or lower is None:
        return None
    composed = compose_views(upper, lower)
    if isinstance(type, TensorType):
        tensor = cast("TensorType[Attribute]", type)
        layout = cast("MetalLayoutAttr", tensor.encoding).data.with_index_map(composed)
        return TensorType(tensor.element_type, tensor.shape, MetalLayoutAttr(layout))
    memref = cast("MemRefType[Attribute]", type)
    return MemRefType(
        memref.element_type, memref.shape, ViewLayoutAttr.of(composed), memref.memory_space
    )


def _only_d2m_uses(value: SSAValue) -> bool:
    """True if the type of a value may change: no other operation says it again."""
    return all(
        use.operation.dialect_name() == "d2m" and use.operation.name != "d2m.yield"
        for use in value.uses
    )


def _view_below(value: SSAValue) -> ViewLayoutOp | None:
    owner = value.owner
    return owner if isinstance(owner, ViewLayoutOp) and not owner.reinterprets else None


class ViewOfViewPattern(RewritePattern):
    """A view of a view is a view of the buffer, with both maps in one."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Compose the maps."""
        if not isinstance(op, ViewLayoutOp) or op.reinterprets:
            return
        below = _view_below(op.input)
        if below is None or not _only_d2m_uses(op.results[0]):
            return
        upper, lower = op.remapping, below.remapping
        if upper is not None and lower is not None:
            made = ViewLayoutOp.of(below.input, op.results[0].type, remapping=lower.compose(upper))
            rewriter.replace(op, made)
        if upper is not None or lower is not None:
            return
        type = _on_buffer(op.results[0].type, below.results[0].type)
        if type is not None:
            rewriter.replace(op, ViewLayoutOp.of(below.input, type))


class StreamOfViewPattern(RewritePattern):
    """A stream of a view is a stream of the buffer."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Compose the maps."""
        if not isinstance(op, StreamLayoutOp):
            return
        below = _view_below(op.input)
        if below is None or below.remapping is not None or not _only_d2m_uses(op.results[0]):
            return
        type = op.results[0].type
        if type != below.results[0].type:
            type = _on_buffer(type, below.results[0].type)
        if type is not None:
            rewriter.replace(op, StreamLayoutOp.of(below.input, op.storage, type))


class ComputeIntoOutputPattern(RewritePattern):
    """What a region computes into the buffer of an input, or into a fresh one, goes to the output.

    The operation must be in destination-passing style and on tensors; its result is what the region
    yields.
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        """Rewire the destinations of what the regions yield."""
        if not isinstance(op, GenericOp):
            return
        for region in op.regions:
            first = region.blocks.first
            end = None if first is None else first.last_op
            if end is None or end.name != "d2m.yield" or len(op.outputs) != 1:
                continue
            target = _output_shard(op, region.block.args[len(op.inputs)])
            if target is None:
                continue
            for value in end.operands:
                _rewire(op, value, target, rewriter)


def _output_shard(op: GenericOp, cb: BlockArgument[Attribute]) -> SSAValue | None:
    """The shard that the region reserves, or waits for, of the output."""
    for use in cb.uses:
        if isinstance(use.operation, ReserveOp | WaitOp):
            return use.operation.results[0]
    return None


def _rewire(op: GenericOp, value: SSAValue, target: SSAValue, rewriter: PatternRewriter) -> None:
    owner = value.owner
    inits = getattr(owner, "outputs", None)
    if not isinstance(owner, Operation) or owner.name != "linalg.generic" or len(inits or ()) != 1:
        return
    number = len(owner.operands) - 1
    init = owner.operands[number]
    if init is target or init.type != target.type or not _is_foreign(op, init):
        return
    shard = target.owner
    if not isinstance(shard, Operation) or not _stands_before(shard, owner):
        return
    owner.operands[number] = target
    rewriter.handle_operation_modification(owner)


def _is_foreign(op: GenericOp, init: SSAValue) -> bool:
    """True for a fresh buffer, and for a shard of an input."""
    owner = init.owner
    if not isinstance(owner, Operation):
        return False
    if owner.name in ("d2m.empty", "tensor.empty"):
        return True
    if not isinstance(owner, ReserveOp | WaitOp):
        return False
    cb = owner.operands[0]
    return isinstance(cb, BlockArgument) and cb.index < len(op.inputs)


def _stands_before(first: Operation, second: Operation) -> bool:
    if first.parent is not second.parent:
        return False
    following = first.next_op
    while following is not None:
        if following is second:
            return True
        following = following.next_op
    return False


TO_LAYOUT_PATTERNS = (ToLayoutFoldIdentityPattern(), ToLayoutFoldRedundantPattern())
VIEW_PATTERNS = (ViewOfViewPattern(),)
STREAM_PATTERNS = (StreamOfViewPattern(),)
GENERIC_PATTERNS = (ComputeIntoOutputPattern(),)
