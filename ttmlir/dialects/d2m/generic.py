"""The operation `d2m.generic`: work on blocks, by a grid of cores, in threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, IntegerAttr, i64
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue
from xdsl.irdl import traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsTerminator,
    NoTerminator,
    Pure,
    ReturnLike,
)

from ttmlir.dialects.d2m.attrs import CBType, SemaphoreType, ThreadAttr, ThreadKind
from ttmlir.dialects.d2m.generic_checks import verify_generic
from ttmlir.dialects.d2m.operation import (
    CANONICAL,
    SHAPED,
    D2MOp,
    RegionOp,
    WritesMemrefs,
    parse_list_in,
)
from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.assembly import parse_operands
from ttmlir.dialects.definition.dps import DestinationStyleOp
from ttmlir.dialects.definition.ods import (
    SEGMENTS,
    Property,
    Signature,
    ValueGroup,
    refuse,
    segments_attr,
)
from ttmlir.dialects.definition.traits import CanonicalPatterns, KeepsConstants
from ttmlir.dialects.tt.keywords import IteratorTypeAttr
from ttmlir.dialects.tt.layout import GridAttr
from ttmlir.dialects.ttcore import DeviceLayout, device_layout_of, shard_type_of
from ttmlir.layout.affine import AffineMap
from ttmlir.layout.enums import IteratorType
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.metal.iteration import infer_block_factors
from ttmlir.mlir.attributes.affine import affine_map_attr, layout_map


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
        operands=(
            ValueGroup("inputs", SHAPED, variadic=True),
            ValueGroup("outputs", SHAPED, variadic=True),
        ),
        results=(ValueGroup("results", variadic=True),),
        properties=(
            Property("grid", ods.named_attr("tt.grid")),
            Property("block_factors", ods.I64_ARRAY),
            Property("indexing_maps", ods.MAP_ARRAY),
            Property(
                "iterator_types",
                ods.array_attr("iterator types", lambda item: item.name == "tt.iterator_type"),
            ),
            Property("threads", ods.array_attr("threads", lambda item: item.name == "d2m.thread")),
        ),
        regions=None,
        init="outputs",
    )
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
        return tuple(map(_layout, self.operands))

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
        return self.regions[region].block.args[len(self.operands) :]

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
        operands = len(self.operands)
        return [
            f"cb{number}" if number < operands else f"sem{number - operands}"
            for number in range(len(arguments))
        ]

    # --- Text ----------------------------------------------------------------------------------

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        properties, attributes = cls.parse_dict(parser, {})
        groups = [_parse_group(parser, word) for word in ("ins", "outs")]
        properties[SEGMENTS] = segments_attr(tuple(map(len, groups)))
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
        return cls.create(
            operands=[*groups[0], *groups[1]],
            result_types=results,
            properties=properties,
            attributes=attributes,
            regions=regions,
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        self.print_dict(printer)
        inputs = len(self.inputs)
        for word, values in (("ins", self.operands[:inputs]), ("outs", self.operands[inputs:])):
            printer.print_string(f"\n    {word}(")
            if values:
                printer.print_list(values, printer.print_operand)
                printer.print_string(" : ")
                printer.print_list([value.type for value in values], printer.print_attribute)
            printer.print_string(")")
        for number, region in enumerate(self.regions):
            printer.print_string(", " if number else "  ")
            printer.print_region(region)
        if self.results:
            printer.print_string(" : ")
            printer.print_list(self.result_types, printer.print_attribute)

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


def _parse_group(parser: Parser, word: str) -> list[SSAValue]:
    parser.parse_keyword(word)
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


class YieldOp(RegionOp):
    """The end of a region on tensors: `d2m.yield %t : (tensor<2x1x...>)`.

    C1: it is the last operation of its block.
    """

    name = "d2m.yield"
    SIGNATURE: ClassVar = Signature(operands=(ValueGroup("values", SHAPED, variadic=True),))
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
