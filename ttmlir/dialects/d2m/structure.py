"""Operations outside of regions: buffers, layouts, views and streams."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, TypeVar, cast

from xdsl.dialects.builtin import (
    AffineMapAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    TensorType,
    i1,
    i32,
    i64,
)
from xdsl.ir import (
    Attribute,
    Data,
    Operation,
    ParametrizedAttribute,
    SpacedOpaqueSyntaxAttribute,
    SSAValue,
    TypeAttribute,
)
from xdsl.irdl import irdl_attr_definition, traits_def
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind, Pure

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.assembly import OPERANDS, AssemblyOp, ConversionOp, FormatOp, number
from ttmlir.dialects.definition.ods import (
    AttrConstraint,
    CanonicalPatterns,
    DestinationStyleOp,
    Property,
    Signature,
    TypeConstraint,
    ValueGroup,
    classes_in,
    properties,
    refuse,
    values,
)
from ttmlir.dialects.definition.syntax import EnumT, KeywordAttr, PlainType, expect, parse_keyword
from ttmlir.dialects.definition.table_ops import layout_errors
from ttmlir.dialects.tt.layout import element_of
from ttmlir.dialects.ttcore import (
    MeshShardTypeAttr,
    MetalLayoutAttr,
    device_layout_of,
    is_remote,
    metal_layout_of,
)
from ttmlir.layout.affine import AffineMap, bounds_of, linear_form
from ttmlir.layout.enums import DataType, KeywordEnum, MeshShardType
from ttmlir.layout.tensor_layout import shape_text
from ttmlir.mlir.attributes import affine_map_attr, layout_map
from ttmlir.mlir.printing import SuggestsNames

# --- Attrs ----------------------------------------------------------------------------------------
# Types and attributes of d2m: circular buffers, semaphores, transactions, threads.


class ThreadKind(KeywordEnum):
    """What a region of a `d2m.generic` does."""

    COMPUTE = 0, "compute"
    DATAMOVEMENT = 1, "datamovement"
    UNIFIED = 2, "unified"
    """Both, not yet divided (2026)."""


class ReduceDim(KeywordEnum):
    """Which dimensions of tiles a reduction folds: rows, columns or both."""

    R = 0, "R"
    """Along the columns, so that one number of each row is left."""
    C = 1, "C"
    RC = 2, "RC"


class BroadcastKind(KeywordEnum):
    """What of a tile is repeated over all of it: the first row, the first column or one number."""

    ROW = 0, "row"
    COLUMN = 1, "col"
    SCALAR = 2, "scalar"


@dataclass(frozen=True)
class Thread:
    """A region's kind, and the function that it became."""

    kind: ThreadKind
    symbol: str | None = None
    dm_core: int | None = None
    """The processor that runs a thread of movement, where it is chosen (2026)."""


@irdl_attr_definition
class ThreadAttr(Data[Thread]):
    """The thread that runs a region: `#d2m.thread<compute>`, `#d2m.thread<datamovement, @f>`."""

    name = "d2m.thread"

    @classmethod
    def of(cls, kind: ThreadKind, symbol: str | None = None) -> Self:
        """The thread of a kind, which may name its function."""
        return cls(Thread(kind, symbol))

    @property
    def kind(self) -> ThreadKind:
        """What the thread does."""
        return self.data.kind

    @property
    def symbol(self) -> str | None:
        """The function that takes the region's place."""
        return self.data.symbol

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Thread:
        """Read `<kind>`, `<kind, @symbol>` or `<kind, dm_core = 1>`."""
        expect(parser, "<")
        kind = parse_keyword(parser, ThreadKind, "::mlir::tt::d2m::ThreadType")
        symbol = dm_core = None
        while parser.parse_optional_punctuation(",") is not None:
            if parser.parse_optional_keyword("dm_core") is not None:
                expect(parser, "=")
                dm_core = parser.parse_integer(allow_boolean=False, allow_negative=False)
            else:
                symbol = parser.parse_symbol_name().data
        expect(parser, ">")
        return Thread(kind, symbol, dm_core)

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        printer.print_string(f"<{self.kind.keyword}")
        if self.symbol is not None:
            printer.print_string(", ")
            printer.print_symbol_name(self.symbol)
        if self.data.dm_core is not None:
            printer.print_string(f", dm_core = {self.data.dm_core}")
        printer.print_string(">")


class _BareKeyword(KeywordAttr[EnumT], SpacedOpaqueSyntaxAttribute):
    """A keyword that follows the name of the attribute inside `#d2m<...>`."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> EnumT:
        """Read the keyword."""
        return parse_keyword(parser, cls.enum, cls.cpp_type)

    def print_parameter(self, printer: Printer) -> None:
        """Write the keyword."""
        printer.print_string(self.data.keyword)


@irdl_attr_definition
class ReduceDimAttr(_BareKeyword[ReduceDim], enum=ReduceDim):
    """Which dimensions of tiles are reduced: `#d2m<reduce_dim R>`."""

    name = "d2m.reduce_dim"


@irdl_attr_definition
class BroadcastKindAttr(_BareKeyword[BroadcastKind], enum=BroadcastKind, cpp="TileBcastType"):
    """What of a tile is repeated: `#d2m<tile_bcast_type row>`."""

    name = "d2m.tile_bcast_type"


@irdl_attr_definition
class CBType(ParametrizedAttribute, TypeAttribute):
    """A circular buffer of shards: `!d2m.cb<memref<2x1x!ttcore.tile<32x32, bf16>, #l1>>`."""

    name = "d2m.cb"
    underlying: TensorType[Attribute] | MemRefType[Attribute]

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of a shard."""
        return self.underlying.get_shape()

    @property
    def element_type(self) -> Attribute:
        """The type of the elements, scalars or tiles."""
        return self.underlying.get_element_type()

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<type>`."""
        expect(parser, "<")
        position = parser.pos
        underlying = parser.parse_type()
        if not isinstance(underlying, TensorType | MemRefType):
            parser.raise_error("expected the tensor or memref of a shard", position)
        expect(parser, ">")
        return [cast("Attribute", underlying)]

    @classmethod
    def parse_short(cls, parser: Parser) -> Attribute:
        """Read the type, of which MLIR may leave out all before `<`."""
        if parser.parse_optional_punctuation("<") is None:
            return parser.parse_type()
        underlying = parser.parse_type()
        parser.parse_punctuation(">")
        return cls(cast("TensorType[Attribute] | MemRefType[Attribute]", underlying))

    def print_parameters(self, printer: Printer) -> None:
        """Write `<type>`."""
        printer.print_string("<")
        printer.print_attribute(self.underlying)
        printer.print_string(">")


@irdl_attr_definition
class SemaphoreType(PlainType):
    """A number in the L1 of each core that cores wait for: `!d2m.semaphore`."""

    name = "d2m.semaphore"


@irdl_attr_definition
class GlobalSemaphoreType(PlainType):
    """A semaphore that outlives a program: `!d2m.global_semaphore`."""

    name = "d2m.global_semaphore"


@irdl_attr_definition
class LocalSemaphoreType(PlainType):
    """A semaphore of the cores of one program: `!d2m.local_semaphore`."""

    name = "d2m.local_semaphore"


@irdl_attr_definition
class MemTxType(PlainType):
    """A movement of data that may not be finished yet: `!d2m.mem_tx`."""

    name = "d2m.mem_tx"


ATTRIBUTES = classes_in(globals(), Attribute)
"""Every attribute and type of the dialect."""


# --- Operation ------------------------------------------------------------------------------------
# What the operations of d2m share: their places in regions, and pieces of their text.

ItemT = TypeVar("ItemT")

CANONICAL = "ttmlir.dialects.d2m.generic"
"""The module of the canonical forms."""

KERNEL_THREAD = "d2m.thread"
"""On a function that was a region: its `#d2m.thread`."""

SHAPED = TypeConstraint(
    "ranked tensor or memref of any type values",
    lambda type: isinstance(type, TensorType | MemRefType),
)
MEMREF = TypeConstraint("memref of any type values", lambda type: isinstance(type, MemRefType))
TILE = TypeConstraint("TT tile", lambda type: type.name == "tt.tile")
NUMBER = AttrConstraint(
    "number", lambda attr: isinstance(attr, FloatAttr | IntegerAttr), ods.always
)
INDEX = TypeConstraint("index", lambda type: type.name == "index")
CB = TypeConstraint("circular buffer", lambda type: type.name == "d2m.cb")
SEMAPHORE = TypeConstraint(
    "semaphore",
    lambda type: type.name in ("d2m.semaphore", "d2m.local_semaphore", "d2m.global_semaphore"),
)
GLOBAL_SEMAPHORE = TypeConstraint(
    "global semaphore", lambda type: type.name == "d2m.global_semaphore"
)
MEM_TX = TypeConstraint("memory transaction", lambda type: type.name == "d2m.mem_tx")


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The extents of a tensor or memref."""
    return cast("TensorType[Attribute] | MemRefType[Attribute]", value.type).get_shape()


def element_type_of_value(value: SSAValue) -> Attribute:
    """The type of the elements of a tensor or memref."""
    return cast("TensorType[Attribute] | MemRefType[Attribute]", value.type).get_element_type()


def is_remote_value(value: SSAValue) -> bool:
    """True for what is divided over a grid."""
    return is_remote(value.type)


class WritesMemrefs(MemoryEffect):
    """Effects of operations in destination-passing style: none on tensors."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        """A write if an operand is a memref."""
        if any(value.type.name == "memref" for value in op.operands):
            return {EffectInstance(MemoryEffectKind.WRITE), EffectInstance(MemoryEffectKind.READ)}
        return set()


class Allocates(MemoryEffect):
    """Effects of fresh memory: it is gone if nothing uses it, but never one with another."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        """An allocation of each result."""
        return {EffectInstance(MemoryEffectKind.ALLOC, result) for result in op.results}


class D2MOp(AssemblyOp, SuggestsNames):
    """An operation of the dialect."""

    RESULT_NAME: ClassVar[str] = ""
    """The name that results are printed with."""

    def result_names(self) -> Sequence[str]:
        """The name of the class."""
        return (self.RESULT_NAME,) if self.RESULT_NAME else ()

    def integer(self, name: str) -> int:
        """The number that a property holds."""
        return cast("IntegerAttr", self.properties[name]).value.data


# --- Places ------------------------------------------------------------------------------------


class RegionOp(D2MOp):
    """An operation that stands in a region of a `d2m.generic`, or in a function made of one."""

    THREAD: ClassVar[ThreadKind | None] = None
    """The kind of region that the operation needs."""

    def verify_interfaces(self) -> None:
        """Check the place of the operation."""
        child, parent = self._region_holder()
        if parent is None:
            refuse("D2M Generic Ops must be inside a generic region")
        thread = _thread_of(child, parent)
        if self.THREAD is not None and thread not in (None, ThreadKind.UNIFIED, self.THREAD):
            refuse(f"expected to be in a {self.THREAD.keyword} region")

    def _region_holder(self) -> tuple[Operation, Operation | None]:
        child: Operation = self
        parent = self.parent_op()
        while parent is not None and parent.name not in ("d2m.generic", "func.func"):
            child, parent = parent, parent.parent_op()
        return child, parent


class ComputeOp(RegionOp):
    """An operation of compute regions."""

    THREAD = ThreadKind.COMPUTE


class DataMovementOp(RegionOp):
    """An operation of data-movement regions."""

    THREAD = ThreadKind.DATAMOVEMENT


def _thread_of(child: Operation, parent: Operation) -> ThreadKind | None:
    """The kind of the region that `child` stands in, None for a function that is no kernel."""
    if parent.name == "func.func":
        attr = parent.attributes.get(KERNEL_THREAD)
        return attr.kind if isinstance(attr, ThreadAttr) else None
    threads = parent.properties.get("threads")
    region = child.parent_region()
    items: Sequence[Attribute] = getattr(threads, "data", ())
    if region is None or len(items) != len(parent.regions):
        return None
    attr = items[parent.get_region_index(region)]
    return attr.kind if isinstance(attr, ThreadAttr) else None


# --- Text --------------------------------------------------------------------------------------


def parse_list_in(parser: Parser, opening: str, parse: Callable[[], ItemT]) -> list[ItemT]:
    """Read a list in `(` or `[`, possibly empty."""
    delimiter = Parser.Delimiter.PAREN if opening == "(" else Parser.Delimiter.SQUARE
    return list(parser.parse_comma_separated_list(delimiter, parse))


def parse_optional_indices(parser: Parser) -> list[UnresolvedOperand]:
    """Read `[%i, %j]`, if there."""
    found = parser.parse_optional_comma_separated_list(
        Parser.Delimiter.SQUARE, parser.parse_unresolved_operand
    )
    return list(found or ())


def parse_keyword_and_indices(parser: Parser, keyword: str) -> list[UnresolvedOperand]:
    """Read `core[%y, %x]`, if there."""
    if parser.parse_optional_keyword(keyword) is None:
        return []
    return parse_list_in(parser, "[", parser.parse_unresolved_operand)


def print_indices(printer: Printer, values: Sequence[SSAValue]) -> None:
    """Write `[%i, %j]`, or nothing."""
    if values:
        printer.print_string("[")
        printer.print_list(values, printer.print_ssa_value)
        printer.print_string("]")


class AllocationOp(FormatOp, D2MOp):
    """Syntax `() attr-dict : type`."""

    FORMAT = "`(` `)` attr-dict `:` type(results)"

    @classmethod
    def of(cls, type: Attribute) -> Self:
        """The operation that makes a value of a type."""
        return cls.create(result_types=[type])


class TypedOp(FormatOp, D2MOp):
    """Syntax `attr-dict : type`."""

    FORMAT = "attr-dict `:` type(results)"


class ArrowOp(ConversionOp, D2MOp):
    """A value on the device, or in a region, made of another."""


class CBOp(FormatOp, RegionOp):
    """An operation on a circular buffer, whose type is written short, too: `<tensor<...>>`."""

    FORMAT = "operands attr-dict `:` type(operands)"

    @classmethod
    def parse_type_of(cls, parser: Parser, name: str) -> Attribute:
        """Read the type of the buffer or of the result."""
        return CBType.parse_short(parser) if name == OPERANDS else parser.parse_type()


class NumberedOp(FormatOp, RegionOp):
    """Syntax `(number) attr-dict : type`."""

    NUMBER: ClassVar[str]
    """The property that holds the number."""
    SPELLINGS: ClassVar = dict.fromkeys(
        ("dim", "operand_index", "port"), number(i64, allow_negative=False)
    )

    @classmethod
    def of(cls, number: int, type: Attribute) -> Self:
        """The operation for a number."""
        return cls.create(result_types=[type], properties={cls.NUMBER: IntegerAttr(number, i64)})

    @property
    def number(self) -> int:
        """The number in parentheses."""
        return self.integer(self.NUMBER)


# --- Structure ------------------------------------------------------------------------------------

BOUNCE = "d2m.bounce"
"""On local memory of a region: the input whose elements go through it when they are gathered."""
STORED_BY_READER = "d2m.stored_by_reader"
"""On local memory of a region: the output of whose block the reader stores the last rows, or slices
of the first dimension that is not 1. They go through this memory, and so it has their shape."""
INPUT_BLOCKS = "d2m.input_blocks"
"""On a generic: how many blocks circular buffers of inputs hold, if they are filled so often."""
_SHAPED_RESULT = values(result=SHAPED)


def _is_affine_map(attr: Attribute) -> bool:
    return isinstance(attr, AffineMapAttr)


class EmptyOp(AllocationOp):
    """A tensor that holds nothing yet: `%0 = d2m.empty() : tensor<...>`."""

    name = "d2m.empty"
    SIGNATURE: ClassVar = Signature(results=_SHAPED_RESULT)
    traits = traits_def(Allocates())


class FullOp(TypedOp):
    """A tensor of one number.

        %0 = d2m.full {fill_value = 1.0 : f32, shape = array<i32: 32, 32>} : tensor<32x32xf32>

    C1: the shape is the result's.
    """

    name = "d2m.full"
    SIGNATURE: ClassVar = Signature(
        results=_SHAPED_RESULT, properties=properties(shape=ods.DENSE_I32, fill_value=NUMBER)
    )
    traits = traits_def(Pure())

    @classmethod
    def of(cls, value: Attribute, type: TensorType[Attribute]) -> Self:
        """The tensor of a number, which comes as an attribute."""
        shape = DenseArrayBase.from_list(i32, type.get_shape())
        return cls.create(result_types=[type], properties={"shape": shape, "fill_value": value})

    def verify_op(self) -> None:
        """Compare the shapes (C1)."""
        shape = cast("DenseArrayBase[IntegerType]", self.properties["shape"])
        given, expected = tuple(shape.iter_values()), shape_of(self.results[0])
        if given != expected:
            refuse(f"expected shape ({_numbers(expected)}), got ({_numbers(given)})")


def _numbers(shape: Sequence[int]) -> str:
    return ", ".join(map(str, shape))


# --- Layouts -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LayoutChanges:
    """What a change of layout does."""

    layout: bool
    """Other intervals or alignments."""
    grid: bool
    format: bool
    """Other elements: another number format, or tiles instead of numbers."""
    memory_space: bool
    host: bool
    """From the host to the device or back."""

    @property
    def is_compound(self) -> bool:
        """True if it takes more than one step."""
        return self.layout + self.format + (self.grid or self.memory_space) > 1


class ToLayoutOp(FormatOp, DestinationStyleOp, D2MOp):
    """A tensor in another layout, memory or element type, on the host or on a grid of cores.

        %1 = d2m.to_layout %0, %out : A into B -> B
        %1 = d2m.to_layout %0, %out : A into B hostInfo = #layout -> B

    `hostInfo` is the layout of the device's side, from which the padded buffer of the host follows.

    C1: input and output hold tensors of the same shape; extents of 1 in front of a tensor of less
    than two dimensions, which tiles need, do not count.
    """

    name = "d2m.to_layout"
    FORMAT = (
        "$input `,` $output `:` type($input) `into` type($output) (`hostInfo` `=` $layout^)? "
        "attr-dict (`->` type(results)^)?"
    )
    SIGNATURE: ClassVar = Signature(
        values(input=SHAPED, output=SHAPED),
        (ValueGroup("results", SHAPED, variadic=True),),
        (Property("layout", ods.named_attr("ttcore.metal_layout"), optional=True),),
        init="output",
    )
    traits = traits_def(WritesMemrefs(), CanonicalPatterns(f"{CANONICAL}:TO_LAYOUT_PATTERNS"))

    @classmethod
    def of(
        cls, input: SSAValue, output: SSAValue, host_info: MetalLayoutAttr | None = None
    ) -> Self:
        """The change of `input` to the type of `output`, which takes it."""
        return cls.create(
            operands=[input, output],
            result_types=[output.type] if output.type.name == "tensor" else [],
            properties={} if host_info is None else {"layout": host_info},
        )

    @property
    def input(self) -> SSAValue:
        """What changes."""
        return self.operands[0]

    @property
    def changes(self) -> LayoutChanges:
        """What differs between input and output."""
        before, after = (device_layout_of(value.type) for value in self.operands)
        elements = [element_type_of_value(value) for value in self.operands]
        if before is None or after is None:
            return LayoutChanges(
                layout=False,
                grid=False,
                format=elements[0] != elements[1],
                memory_space=before is not after,
                host=before is not after,
            )
        layouts = [metal_layout_of(value.type) for value in self.operands]
        plans = [
            None
            if each is None
            else (each.data.normalized_intervals, each.data.alignments, each.logical_shape)
            for each in layouts
        ]
        return LayoutChanges(
            layout=plans[0] != plans[1],
            grid=before.grid_shape != after.grid_shape,
            format=elements[0] != elements[1],
            memory_space=before.memory_space is not after.memory_space,
            host=False,
        )

    def verify_op(self) -> None:
        """Compare the shapes (C1)."""
        shapes: list[tuple[int, ...]] = []
        for value in self.operands:
            layout = metal_layout_of(value.type)
            if layout is None and not isinstance(value.type, TensorType):
                return
            shapes.append(shape_of(value) if layout is None else layout.logical_shape)
        if _padded_shape(shapes[0]) != _padded_shape(shapes[1]):
            refuse(
                f"input and output hold tensors of different shapes: {shape_text(shapes[0])} and "
                f"{shape_text(shapes[1])}"
            )


def _padded_shape(shape: Sequence[int]) -> tuple[int, ...]:
    return (*(1,) * (2 - len(shape)), *shape)


class ViewLayoutOp(ArrowOp):
    """Another way to see a buffer; no data is moved.

        %view = d2m.view_layout %0 : A -> B
        %view = d2m.view_layout %0 remapping = #map : A -> B

    Where an element of the view lies in the buffer says the map in its type or, since 2026, that of
    the operation. A view with a map may
    show a part, or repeat. With `reinterpretLayout`, the shards stay and only what they mean
    changes.

    C1: both have as many elements, or the view is a part; only a map may repeat some. C2: of the
    same type. C3: reinterpreted, they have the same grid. C4: the map takes the coordinates of the
    view to those of the buffer.
    """

    name = "d2m.view_layout"
    FORMAT = "$input (`remapping` `=` $remapping^)? attr-dict `:` type($input) `->` type($result)"
    RESULT_NAME: ClassVar = "view"
    SIGNATURE: ClassVar = Signature(
        values(input=SHAPED),
        _SHAPED_RESULT,
        (
            Property("reinterpretLayout", ods.BOOL, optional=True),
            Property(
                "remapping",
                AttrConstraint("AffineMap attribute", _is_affine_map, ods.always),
                optional=True,
            ),
        ),
    )
    traits = traits_def(Pure(), CanonicalPatterns(f"{CANONICAL}:VIEW_PATTERNS"))

    @classmethod
    def convert_properties(
        cls, properties: dict[str, Attribute] | None, attributes: dict[str, Attribute]
    ) -> dict[str, Attribute]:
        """The properties, among them whether it reinterprets."""
        converted = super().convert_properties(properties, attributes)
        converted.setdefault("reinterpretLayout", IntegerAttr(0, i1))
        return converted

    @classmethod
    def of(
        cls,
        operand: SSAValue,
        type: Attribute,
        reinterpret: bool = False,
        remapping: AffineMap | None = None,
    ) -> Self:
        """The view of a type on a buffer."""
        properties: dict[str, Attribute] = {"reinterpretLayout": IntegerAttr(int(reinterpret), i1)}
        if remapping is not None:
            properties["remapping"] = affine_map_attr(remapping)
        return cls.create(operands=[operand], result_types=[type], properties=properties)

    @property
    def remapping(self) -> AffineMap | None:
        """From coordinates of the view to those below it, unless the type of the view has it."""
        attr = self.properties.get("remapping")
        return None if attr is None else layout_map(cast("AffineMapAttr", attr))

    @property
    def input(self) -> SSAValue:
        """The buffer, or the view, below."""
        return self.operands[0]

    @property
    def reinterprets(self) -> bool:
        """True if the shards stay as they are."""
        return "reinterpretLayout" in self.properties and bool(self.integer("reinterpretLayout"))

    def print_dict(self, printer: Printer) -> None:
        """Write the attribute dictionary without what is the default."""
        name = "reinterpretLayout"
        properties = {name: self.properties[name]} if self.reinterprets else {}
        printer.print_op_attributes(dict(sorted({**properties, **self.attributes}.items())))

    def verify_op(self) -> None:
        """Check elements, grid and map (C1 to C4)."""
        source, result = self.operands[0], self.results[0]
        if not self.reinterprets:
            _check_map(source, result, self.remapping)
        if _scalar_type(source) != _scalar_type(result) or (
            not self.reinterprets and element_type_of_value(source) != element_type_of_value(result)
        ):
            refuse("view must not change dtype")
        layouts = [device_layout_of(value.type) for value in (source, result)]
        grids = [None if layout is None else layout.grid_shape for layout in layouts]
        if self.reinterprets and grids[0] != grids[1]:
            refuse("reinterpret_layout cannot change grid shape")


def _check_map(source: SSAValue, result: SSAValue, index_map: AffineMap | None) -> None:
    layout = device_layout_of(result.type)
    if index_map is None and layout is not None:
        index_map = layout.index_map
    if index_map is None or index_map.is_identity:
        if _volume(source) < _volume(result):
            refuse("view must preserve total number of elements")
        return
    given, wanted = (
        (len(index_map.results), index_map.num_dims),
        (len(shape_of(source)), len(shape_of(result))),
    )
    if given != wanted:
        refuse(
            f"the map of a view of rank {wanted[1]} on a buffer of rank {wanted[0]} takes as many "
            f"dimensions and gives as many results, got '{index_map}'"
        )


def _volume(value: SSAValue) -> int:
    return math.prod(shape_of(value))


def _scalar_type(value: SSAValue) -> str:
    with layout_errors():
        return element_of(element_type_of_value(value)).scalar.keyword


class ViewElementsOp(ArrowOp):
    """Tiles whose elements are those of other tiles, anywhere in them; no data is moved.

        %view = d2m.view_elements %0 {map = affine_map<(d0, d1) -> (d1, d0 + 5)>,
            shape = array<i64: 7, 64>} : A -> B

    The map takes the place of an element in the view to its place in the buffer; `shape` are the
    extents of the view without its padding, which is undefined. Whoever reads a tile of the view
    gathers it.

    C1: both have tiles of the same type, on a grid of one core. C2: the map takes the dimensions of
    the view, of which `shape` fits in the tiles, to those of the buffer, in which it stays.
    """

    name = "d2m.view_elements"
    RESULT_NAME: ClassVar = "view"
    SIGNATURE: ClassVar = Signature(
        values(input=SHAPED),
        _SHAPED_RESULT,
        properties(
            map=AttrConstraint("affine map", _is_affine_map, ods.always), shape=ods.DENSE_I64
        ),
    )
    traits = traits_def(Pure())

    @classmethod
    def gather(
        cls, operand: SSAValue, type: Attribute, index_map: AffineMap, shape: Sequence[int]
    ) -> Self:
        """The view of a type on a buffer."""
        return cls.create(
            operands=[operand],
            result_types=[type],
            properties={
                "map": affine_map_attr(index_map),
                "shape": DenseArrayBase.from_list(i64, shape),
            },
        )

    @property
    def input(self) -> SSAValue:
        """The buffer."""
        return self.operands[0]

    @property
    def map(self) -> AffineMap:
        """From places of elements in the view to those in the buffer."""
        return layout_map(cast("AffineMapAttr", self.properties["map"]))

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the view in elements, without padding."""
        return cast("DenseArrayBase[IntegerType]", self.properties["shape"]).get_values()

    def verify_op(self) -> None:
        """Check the tiles (C1) and the map (C2)."""
        _check_gather(self.operands[0], self.results[0], self.map, self.shape)


class ViewNumberedOp(D2MOp):
    """Tiles whose elements are named by numbers in other tiles; no data is moved.

        %view = "d2m.view_numbered"(%0, %numbers) <{map = affine_map<(d0, d1, d2) -> (d2, d1)>,
            places = affine_map<(d0, d1) -> (d0, 0)>, shape = array<i64: 7, 64>, count = 70 : i64}>
            : (A, N) -> B

    `places` takes the place of an element in the view to that of its number, which is the last
    dimension of `map`; the others are those of the view. Numbers below 0 mean 0, numbers from
    `count` on the last one. All else is as in `d2m.view_elements`. An operation that reads the
    view reads the numbers, too.

    C1 and C2: as there. C3: numbers have 32 bits, on a grid of one core, and `places` stays there.
    """

    name = "d2m.view_numbered"
    RESULT_NAME: ClassVar = "view"
    SIGNATURE: ClassVar = Signature(
        values(input=SHAPED, numbers=SHAPED),
        _SHAPED_RESULT,
        properties(
            map=AttrConstraint("affine map", _is_affine_map, ods.always),
            places=AttrConstraint("affine map", _is_affine_map, ods.always),
            shape=ods.DENSE_I64,
            count=ods.I64,
        ),
    )
    traits = traits_def(Pure())

    @classmethod
    def pick(
        cls,
        operands: tuple[SSAValue, SSAValue],
        type: Attribute,
        maps: tuple[AffineMap, AffineMap],
        shape: Sequence[int],
        count: int,
    ) -> Self:
        """The view of a type on a buffer, by numbers: `maps` are `map` and `places`."""
        index_map, places = maps
        return cls.create(
            operands=operands,
            result_types=[type],
            properties={
                "map": affine_map_attr(index_map),
                "places": affine_map_attr(places),
                "shape": DenseArrayBase.from_list(i64, shape),
                "count": IntegerAttr(count, i64),
            },
        )

    @property
    def input(self) -> SSAValue:
        """The buffer."""
        return self.operands[0]

    @property
    def numbers(self) -> SSAValue:
        """The numbers that name elements."""
        return self.operands[1]

    @property
    def map(self) -> AffineMap:
        """From places of elements in the view, and their numbers, to those in the buffer."""
        return layout_map(cast("AffineMapAttr", self.properties["map"]))

    @property
    def places(self) -> AffineMap:
        """From places of elements in the view to those of their numbers."""
        return layout_map(cast("AffineMapAttr", self.properties["places"]))

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the view in elements, without padding."""
        return cast("DenseArrayBase[IntegerType]", self.properties["shape"]).get_values()

    @property
    def count(self) -> int:
        """How many numbers have a meaning of their own, from 0 on."""
        return self.integer("count")

    def verify_op(self) -> None:
        """Check the tiles (C1), the map (C2) and the numbers (C3)."""
        source, numbers = self.operands
        if self.count < 1:
            refuse(f"count must be 1 or more, got {self.count}")
        _check_gather(source, self.results[0], self.map, self.shape, numbered=self.count)
        layout = device_layout_of(numbers.type)
        if (
            layout is None
            or set(layout.grid_shape) != {1}
            or layout.element_type.name != "tt.tile"
            or element_of(layout.element_type).data_type not in (DataType.U32, DataType.SI32)
        ):
            refuse("numbers must be tiles of 32-bit integers, on a grid of one core")
        _check_gather_map(self.places, self.shape, layout.scalar_shard_shape)


Gather = ViewElementsOp | ViewNumberedOp
"""Views whose tiles a kernel puts together."""


def _check_gather(
    source: SSAValue,
    result: SSAValue,
    index_map: AffineMap,
    shape: tuple[int, ...],
    numbered: int | None = None,
) -> None:
    """Check the tiles of a gather, and that its map stays in the buffer.

    `numbered`: how far the number goes that is the last dimension of the map, if there is one.
    """
    if element_type_of_value(source) != element_type_of_value(result):
        refuse("view must not change dtype")
    layouts = [device_layout_of(value.type) for value in (source, result)]
    if any(
        each is None or set(each.grid_shape) != {1} or each.element_type.name != "tt.tile"
        for each in layouts
    ):
        refuse("view and buffer must have tiles, on a grid of one core")
    extents = [each.scalar_shard_shape for each in layouts if each is not None]
    if len(shape) != len(extents[1]) or any(
        not 0 < size <= most for size, most in zip(shape, extents[1], strict=True)
    ):
        refuse(f"the shape {shape_text(shape)} does not fit in {shape_text(extents[1])}")
    _check_gather_map(index_map, shape if numbered is None else (*shape, numbered), extents[0])


def _check_gather_map(
    index_map: AffineMap, shape: tuple[int, ...], extents: tuple[int, ...]
) -> None:
    """Check that a map from places of a shape leads to a buffer of these extents."""
    if (index_map.num_dims, len(index_map.results)) != (len(shape), len(extents)):
        refuse(f"expected a map from {len(shape)} to {len(extents)} dimensions, got '{index_map}'")
    with layout_errors():
        for result, extent in zip(index_map.results, extents, strict=True):
            least, most = bounds_of(linear_form(result, shape), shape)
            if least < 0 or most >= extent:
                refuse(
                    f"'{result}' goes from {least} to {most}; the buffer has {extent} elements "
                    "along this dimension"
                )


class StreamLayoutOp(D2MOp):
    """A buffer that is read in blocks through circular buffers.

        %stream = "d2m.stream_layout"(%0, %storage) : (A, S) -> V

    Reads of the result go to the buffer through the map of its type; `storage` is the memory of the
    circular buffers, one or more shards of the result.

    A stream of a view that has its type reads what the view does, through the map once.

    C1: the storage has the element type of the input, and the rank of the result, whose shards it
    has (C2).
    C3: the result is in the memory of the input.
    """

    name = "d2m.stream_layout"
    RESULT_NAME: ClassVar = "stream"
    SIGNATURE: ClassVar = Signature(values(input=SHAPED, storage=SHAPED), _SHAPED_RESULT)
    traits = traits_def(Pure(), CanonicalPatterns(f"{CANONICAL}:STREAM_PATTERNS"))

    @classmethod
    def of(cls, input: SSAValue, storage: SSAValue, type: Attribute) -> Self:
        """The stream of a type over a buffer."""
        return cls.create(operands=[input, storage], result_types=[type])

    @property
    def input(self) -> SSAValue:
        """The buffer."""
        return self.operands[0]

    @property
    def storage(self) -> SSAValue:
        """The memory of the circular buffers."""
        return self.operands[1]

    def verify_op(self) -> None:
        """Check the storage (C1, C2) and the memory (C3)."""
        source, storage, result = *self.operands, self.results[0]
        if element_type_of_value(source) != element_type_of_value(storage):
            refuse("storage must have the element type of the input")
        if len(shape_of(result)) != len(shape_of(storage)):
            refuse("storage must have the rank of the result")
        stored, viewed, below = (
            device_layout_of(value.type) for value in (storage, result, source)
        )
        if stored is None or viewed is None or below is None:
            refuse(
                "input, storage and result must have a grid: tensors with a metal layout or "
                "memrefs with a device layout"
            )
        if stored.shard_shape != viewed.shard_shape:
            refuse("storage must have the shard shape of the result")
        if below.memory_space is not viewed.memory_space:
            refuse("result must be in the memory space of the input")


def buffer_of_view(value: SSAValue) -> tuple[SSAValue, AffineMap]:
    """What is in memory below views and streams, and the map from coordinates of `value` to it."""
    view = AffineMap.identity(len(shape_of(value)))
    while isinstance(value.owner, ViewLayoutOp | StreamLayoutOp):
        layout = device_layout_of(value.type)
        below = value.owner.operands[0]
        remapping = value.owner.remapping if isinstance(value.owner, ViewLayoutOp) else None
        if remapping is not None:
            value, view = below, remapping.compose(view)
            continue
        if isinstance(value.owner, StreamLayoutOp) and below.type == value.type:
            value = below
            continue
        if layout is None or layout.index_map is None:
            break
        value, view = below, layout.index_map.compose(view)
    return value, view


def memory_of(value: SSAValue) -> SSAValue:
    """The buffer in which the elements of a value are: below views, streams and gathers."""
    value, _ = buffer_of_view(value)
    return memory_of(value.owner.input) if isinstance(value.owner, Gather) else value


class MeshShardOp(ArrowOp):
    """A tensor that is divided over a mesh of chips, or put together again.

        %1 = d2m.mesh_shard %0 {shard_dims = array<i64: 0, 1>, shard_direction =
            #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 4>,
            shard_type = #ttcore.shard_type<devices>} : A -> B

    C1: the type is not `maximal`.
    """

    name = "d2m.mesh_shard"
    SIGNATURE: ClassVar = Signature(
        values(input=SHAPED),
        _SHAPED_RESULT,
        properties(
            shard_type=ods.named_attr("ttcore.shard_type"),
            shard_direction=ods.named_attr("ttcore.shard_direction"),
            shard_shape=ods.DENSE_I64,
            shard_dims=ods.DENSE_I64,
        ),
    )
    traits = traits_def(Pure())

    def verify_op(self) -> None:
        """Check the type (C1)."""
        kind = cast("MeshShardTypeAttr", self.properties["shard_type"]).data
        if kind is MeshShardType.MAXIMAL:
            refuse("Invalid shard_type (maximal) for mesh_shard op.")


STRUCTURE_OPS = classes_in(globals(), Operation)
"""Every operation of this module but the generic."""
