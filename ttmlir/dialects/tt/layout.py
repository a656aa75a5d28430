"""Grids, tiles, tensor layouts and buffers in the IR; the arithmetic is `ttmlir.layout`'s.

f32_in_l1 = LayoutAttr.get(TensorType(f32, [64, 128]), MemorySpace.DEVICE_L1, (2, 4))
tiled = f32_in_l1.with_element_type(TileType.get(32, 32, DataType.BFP_BF8))
tiled.tensor_layout.stride((64, 128))
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import ClassVar, Self

from xdsl.dialects import builtin
from xdsl.dialects.builtin import MemRefType, NoneAttr, TensorType
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttmlir.dialects.definition.syntax import (
    KeywordAttr,
    expect,
    expect_keyword,
    parameter,
    parse_dimensions,
    parse_keyword,
    parse_keyword_or_string,
    parse_memref,
    parse_nested,
    parse_unsigned,
    verify_at,
)
from ttmlir.layout.affine import AffineMap
from ttmlir.layout.data_format import DEFAULT_TILE_SHAPE, Element, ScalarType, TileFormat
from ttmlir.layout.enums import (
    Arch,
    BufferAccess,
    DataType,
    IteratorType,
    MemorySpace,
    OOBVal,
    OperandConstraint,
    TensorMemoryLayout,
)
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.tensor_layout import (
    DEFAULT_COLLAPSE,
    NO_MAPPING,
    Grid,
    Interval,
    TensorLayout,
    linear_from_strides,
    shape_text,
)
from ttmlir.mlir.attributes import parse_affine_map

# --- Keywords -------------------------------------------------------------------------------------
# Attributes of tt that hold keywords, such as `#tt.memory_space<l1>`.


@irdl_attr_definition
class ArchAttr(KeywordAttr[Arch], enum=Arch):
    """Chip generation: `#tt.arch<wormhole_b0>`."""

    name = "tt.arch"


@irdl_attr_definition
class DataTypeAttr(KeywordAttr[DataType], enum=DataType):
    """Storage format: `#tt.supportedDataTypes<bfp_bf8>`."""

    name = "tt.supportedDataTypes"


@irdl_attr_definition
class MemorySpaceAttr(KeywordAttr[MemorySpace], enum=MemorySpace):
    """Where data lies: `#tt.memory_space<dram>`."""

    name = "tt.memory_space"

    def alias_name(self) -> str:
        """The keyword."""
        return self.data.keyword


@irdl_attr_definition
class TensorMemoryLayoutAttr(KeywordAttr[TensorMemoryLayout], enum=TensorMemoryLayout):
    """How shards are spread over cores and banks: `#tt.tensor_memory_layout<interleaved>`."""

    name = "tt.tensor_memory_layout"


@irdl_attr_definition
class OOBValAttr(KeywordAttr[OOBVal], enum=OOBVal):
    """What padding holds: `#tt.oob_val<undef>`."""

    name = "tt.oob_val"


@irdl_attr_definition
class IteratorTypeAttr(KeywordAttr[IteratorType], enum=IteratorType):
    """Iterator of a `ttir.generic` dimension: `#tt.iterator_type<parallel>`."""

    name = "tt.iterator_type"

    def alias_name(self) -> str:
        """The keyword."""
        return self.data.keyword


@irdl_attr_definition
class BufferAccessAttr(Data[int]):
    """Bits of how a kernel reaches a buffer: `#tt.buffer_access<alias>`."""

    name = "tt.buffer_access"

    @classmethod
    def of(cls, *accesses: BufferAccess) -> Self:
        """The attribute with these bits."""
        return cls(sum(set(accesses)))

    @property
    def text(self) -> str:
        """The keywords joined by `|`, in quotes if there are several."""
        keywords = "|".join(access.keyword for access in BufferAccess if self.data & access)
        return f'"{keywords}"' if "|" in keywords else keywords

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> int:
        """Read `<keywords>`."""
        expect(parser, "<")
        value = cls.parse_keywords(parser)
        expect(parser, ">")
        return value

    def print_parameter(self, printer: Printer) -> None:
        """Write `<keywords>`."""
        printer.print_string(f"<{self.text}>")

    @classmethod
    def parse_keywords(cls, parser: AttrParser) -> int:
        """Read the keywords, as `#tt.buffer` has them; several of them in quotes."""
        summary = "TT Buffer Access"
        position = parser.pos
        text = parser.parse_optional_identifier_or_str_literal()
        if text is None:
            parser.raise_error(f"expected keyword for {summary}", position)
        value = 0
        for keyword in text.split("|"):
            if keyword.strip() not in BufferAccess.keywords():
                parser.raise_error(f"invalid {summary} specification: {text}", position)
            value |= BufferAccess.from_keyword(keyword.strip())
        return value


@irdl_attr_definition
class OperandConstraintAttr(Data[int]):
    """Bits of the layouts that an operand accepts: `#tt.operand_constraint<dram|l1>`.

    Printed are all keywords whose bits are set, groups such as `any_layout` as well as their
    members.
    """

    name = "tt.operand_constraint"

    @classmethod
    def of(cls, *constraints: OperandConstraint) -> Self:
        """The attribute with the union of these constraints."""
        value = 0
        for constraint in constraints:
            value |= constraint
        return cls(value)

    @property
    def value(self) -> int:
        """The bits."""
        return self.data

    def alias_name(self) -> str:
        """The keyword of the exact value, where it is one of four groups."""
        return _ALIASES.get(self.data, "operand_constraint")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> int:
        """Read `<keyword|keyword|...>`."""
        cpp_type = "::mlir::tt::OperandConstraint"
        expect(parser, "<")
        with parameter(parser, "TT_OperandConstraintAttr", "value", cpp_type):
            value = int(parse_keyword(parser, OperandConstraint, cpp_type))
            while parser.parse_optional_punctuation("|") is not None:
                value |= parse_keyword(parser, OperandConstraint, cpp_type)
        expect(parser, ">")
        return value

    def print_parameter(self, printer: Printer) -> None:
        """Write `<keyword|keyword|...>`."""
        keywords = (case.keyword for case in OperandConstraint if (self.data & case) == int(case))
        printer.print_string(f"<{'|'.join(keywords)}>")


_ALIASES = {
    int(constraint): constraint.keyword
    for constraint in (
        OperandConstraint.ANY,
        OperandConstraint.ANY_DEVICE,
        OperandConstraint.ANY_DEVICE_TILE,
        OperandConstraint.L1_BLOCK_SHARDED,
    )
}


# --- Layout ---------------------------------------------------------------------------------------


@irdl_attr_definition
class AffineMapParameter(Data[AffineMap]):
    """A map inside another attribute: bare text, never an alias."""

    name = "tt.affine_map_parameter"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> AffineMap:
        """Read a bare map."""
        return parse_affine_map(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Write the bare map."""
        printer.print_string(str(self.data))


@irdl_attr_definition
class GridAttr(Data[Grid]):
    """A grid of cores: `#tt.grid<2x4>`, `#tt.grid<8x8, (d0, d1) -> (0, d0, d1)>`."""

    name = "tt.grid"

    @classmethod
    def get(cls, attr: Sequence[int] | Grid | Data[Grid], mapping: AffineMap = NO_MAPPING) -> Self:
        """The grid with these extents and this mapping to physical cores."""
        if isinstance(attr, cls):
            return attr
        if isinstance(attr, Grid):
            return cls(attr)
        assert not isinstance(attr, Data), "a grid is made from extents"
        return cls(Grid(tuple(attr), mapping))

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return self.data.shape

    @property
    def mapping(self) -> AffineMap:
        """From a coordinate to (chip index, core y, core x); the empty map if unknown."""
        return self.data.mapping

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Grid:
        """Read `<extents>`, `<extents, mapping>`, or, as since 2026, both maps by their names."""
        expect(parser, "<")
        with parameter(parser, "TT_GridAttr", "shape", "::llvm::ArrayRef<int64_t>"):
            shape = parse_dimensions(parser)
        mapping = inverse = NO_MAPPING
        if parser.parse_optional_punctuation(",") is not None:
            is_named = parser.parse_optional_keyword("virt_to_physical_map") is not None
            if is_named:
                expect(parser, "=")
            with parameter(parser, "TT_GridAttr", "mapping", "AffineMap"):
                mapping = parse_affine_map(parser)
            if is_named:
                expect(parser, ",")
                expect_keyword(parser, "physical_to_virt_map")
                expect(parser, "=")
                with parameter(parser, "TT_GridAttr", "physicalToVirtMap", "AffineMap"):
                    inverse = parse_affine_map(parser)
        expect(parser, ">")
        return Grid(shape, mapping, inverse)

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        printer.print_string(f"<{self.data}>")


@irdl_attr_definition
class TileFormatParameter(Data[TileFormat]):
    """What a tile type says."""

    name = "tt.tile_format_parameter"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> TileFormat:
        """Read `<32x32, f32>`."""
        position = parser.pos
        expect(parser, "<")
        with parameter(parser, "TT_TileType", "shape", "::llvm::ArrayRef<int64_t>"):
            shape = parse_dimensions(parser)
        expect(parser, ",")
        with parameter(parser, "TT_TileType", "dataType", "DataType"):
            data_type = parse_keyword_or_string(parser, DataType, "TT DataTypes")
        expect(parser, ">")
        if len(shape) != 2:
            parser.raise_error("expected 2D shape", position)
        return TileFormat(*shape, data_type)

    def print_parameter(self, printer: Printer) -> None:
        """Write `<32x32, f32>`."""
        printer.print_string(f"<{shape_text(self.data.shape)}, {self.data.data_type.keyword}>")


@irdl_attr_definition
class TileType(ParametrizedAttribute, TypeAttribute):
    """A tile as an element: `!tt.tile<32x32, bfp_bf8>`."""

    name = "tt.tile"
    format: TileFormatParameter

    @classmethod
    def get(cls, height: int, width: int, data_type: DataType) -> TileType:
        """The tile of this height, width and format."""
        return _tile_type(TileFormat(height, width, data_type))

    @classmethod
    def of(cls, element_type: Attribute, shape: tuple[int, int] = DEFAULT_TILE_SHAPE) -> TileType:
        """The tile that holds numbers of a type; LayoutError if no format stores it."""
        return _tile_type(TileFormat.of(element_of(element_type).scalar, shape))

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.format.data.shape

    @property
    def data_type(self) -> DataType:
        """The storage format."""
        return self.format.data.data_type

    @property
    def size_bytes(self) -> int:
        """Bytes of one tile."""
        return self.format.data.size_bytes

    @property
    def scalar_type(self) -> Attribute:
        """The type of the numbers that the tile stands for."""
        return element_type_of(self.format.data.scalar)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<32x32, f32>`."""
        return [TileFormatParameter(TileFormatParameter.parse_parameter(parser))]

    def print_parameters(self, printer: Printer) -> None:
        """Write `<32x32, f32>`."""
        self.format.print_parameter(printer)


@cache
def _tile_type(tile: TileFormat) -> TileType:
    return TileType(TileFormatParameter(tile))


@lru_cache(maxsize=1024)
def element_of(element_type: Attribute) -> Element:
    """What a layout knows of an element type; LayoutError for types that memory does not hold."""
    if isinstance(element_type, TileType):
        return element_type.format.data
    if isinstance(element_type, _SCALAR_TYPES):
        scalar = ScalarType(str(element_type))
        if isinstance(element_type, builtin.AnyFloat):
            # Floats of other widths have no format, whatever lays them out.
            _ = scalar.data_type
        return scalar
    raise LayoutError(
        f"element type '{element_type}' cannot be laid out; "
        "supported are integers, floats, index and tiles"
    )


_SCALAR_TYPES = (builtin.IntegerType, builtin.IndexType, builtin.AnyFloat)

STORED_IN_32_BITS: dict[Attribute, Attribute] = {
    builtin.f64: builtin.f32,
    **{
        builtin.IntegerType(width, builtin.Signedness.SIGNED): builtin.IntegerType(
            32, builtin.Signedness.SIGNED
        )
        for width in (8, 16, 64)
    },
    builtin.IntegerType(64, builtin.Signedness.UNSIGNED): builtin.IntegerType(
        32, builtin.Signedness.UNSIGNED
    ),
}
"""What layouts of 2026 say of elements that devices do not have."""

_FLOAT_TYPES: dict[str, Attribute] = {
    str(element_type): element_type
    for element_type in (builtin.f16, builtin.bf16, builtin.f32, builtin.f64)
}


@cache
def element_type_of(element: Element) -> Attribute:
    """The type in the IR of what a layout holds."""
    if isinstance(element, TileFormat):
        return _tile_type(element)
    keyword = element.keyword
    if keyword in _FLOAT_TYPES:
        return _FLOAT_TYPES[keyword]
    if keyword == "index":
        return builtin.IndexType()
    signs = {"i": builtin.Signedness.SIGNLESS, "s": builtin.Signedness.SIGNED}
    signedness = signs.get(keyword[0], builtin.Signedness.UNSIGNED)
    return builtin.IntegerType(int(keyword.lstrip("sui")), signedness)


class TensorLayoutAttr(Attribute):
    """The encoding of a tensor type that says how the tensor lies in memory, in any spelling."""

    @property
    def tensor_layout(self) -> TensorLayout:
        """The layout as plain data; LayoutError for one that cannot be computed with."""
        raise NotImplementedError

    @property
    def memory_space(self) -> MemorySpace:
        """Where the shards lie; LayoutError if the memref does not name one of tt's memories."""
        return self.tensor_layout.memory_space

    @property
    def memory_layout(self) -> TensorMemoryLayout:
        """How the shards are spread over cores and banks."""
        return self.tensor_layout.memory_layout

    @property
    def shard_shape(self) -> tuple[int, ...]:
        """Extents of a shard in numbers, the padding to whole tiles included."""
        return self.tensor_layout.scalar_shard


@irdl_attr_definition
class LayoutAttr(ParametrizedAttribute, TensorLayoutAttr):
    """How a tensor is divided and laid out in memory; the encoding of its type.

        #tt.layout<(d0, d1) -> (d0, d1), undef, <2x4>, memref<32x32xf32, #tt.memory_space<l1>>>

    Parameters: the linear map from the tensor's dimensions to physical ones, the value of the
    padding, the grid, the shard of one core as a memref, and how shards are spread in memory
    (printed unless `none`). `tensor_layout` is the same as plain data, with all its arithmetic.
    """

    name = "tt.layout"
    linear_parameter: AffineMapParameter
    oob_val_parameter: OOBValAttr
    grid: GridAttr
    memref: MemRefType[Attribute]
    memory_layout_parameter: TensorMemoryLayoutAttr

    # --- Construction ------------------------------------------------------------------------

    @classmethod
    def get(
        cls,
        tensor_type: TensorType[Attribute],
        memory_space: MemorySpace = MemorySpace.SYSTEM,
        grid: GridAttr | Sequence[int] | None = None,
        collapse_intervals: Sequence[Interval] = DEFAULT_COLLAPSE,
        oob_val: OOBVal = OOBVal.UNDEF,
        memory_layout: TensorMemoryLayout = TensorMemoryLayout.NONE,
    ) -> LayoutAttr:
        """The layout of a tensor; see `TensorLayout.of` for the rules and errors."""
        return cls.of(
            tensor_type.get_shape(),
            tensor_type.element_type,
            memory_space,
            grid,
            tuple(collapse_intervals),
            oob_val,
            memory_layout,
        )

    @classmethod
    def of(
        cls,
        shape: Sequence[int],
        element_type: Attribute,
        memory_space: MemorySpace = MemorySpace.SYSTEM,
        grid: GridAttr | Sequence[int] | None = None,
        collapse_intervals: Sequence[Interval] = DEFAULT_COLLAPSE,
        oob_val: OOBVal = OOBVal.UNDEF,
        memory_layout: TensorMemoryLayout = TensorMemoryLayout.NONE,
    ) -> LayoutAttr:
        """The layout of a tensor of this shape with these elements, scalars or tiles."""
        if not isinstance(grid, GridAttr | None):
            grid = GridAttr.get(grid)
        return _layout_attr_of(
            tuple(shape),
            element_type,
            memory_space,
            None if grid is None else grid.data,
            tuple(collapse_intervals),
            oob_val,
            memory_layout,
        )

    @classmethod
    def from_tensor_layout(cls, layout: TensorLayout) -> LayoutAttr:
        """The attribute of a layout."""
        return _layout_attr(layout)

    def with_grid(
        self,
        shape: Sequence[int],
        grid: GridAttr | Sequence[int],
        collapse_intervals: Sequence[Interval] = DEFAULT_COLLAPSE,
    ) -> LayoutAttr:
        """The layout of a tensor of this shape on another grid."""
        return _with_grid(self, tuple(shape), GridAttr.get(grid).data, tuple(collapse_intervals))

    def with_element_type(self, element_type: Attribute) -> LayoutAttr:
        """The layout with other elements, scalars or tiles."""
        return _with_element_type(self, element_type)

    def with_memory_space(self, memory_space: MemorySpace) -> LayoutAttr:
        """The layout in another memory."""
        return _with_memory_space(self, memory_space)

    def with_memory_layout(self, memory_layout: TensorMemoryLayout) -> LayoutAttr:
        """The layout with its shards spread in another way."""
        return _with_memory_layout(self, memory_layout)

    # --- Parameters --------------------------------------------------------------------------

    @property
    def linear(self) -> AffineMap:
        """From the tensor's dimensions to the physical ones."""
        return self.linear_parameter.data

    @property
    def oob_val(self) -> OOBVal:
        """What the padding holds."""
        return self.oob_val_parameter.data

    @property
    def memory_layout(self) -> TensorMemoryLayout:
        """How the shards are spread over cores and banks."""
        return self.memory_layout_parameter.data

    @property
    def element_type(self) -> Attribute:
        """The memref's element type, a scalar or a tile."""
        return self.memref.element_type

    @property
    def scalar_element_type(self) -> Attribute:
        """The type of one number."""
        return element_type_of(self.tensor_layout.scalar_element)

    @property
    def is_tiled(self) -> bool:
        """True if the elements are tiles."""
        return isinstance(self.memref.element_type, TileType)

    def stride(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Distances between neighbours of a tensor of this shape, in numbers."""
        return self.tensor_layout.stride(shape)

    @property
    def tensor_layout(self) -> TensorLayout:
        """The layout as plain data.

        LayoutError if the memref has a layout map of its own, dynamic extents, or a memory space
        that is not one of tt's.
        """
        return _tensor_layout(self)

    # --- Text --------------------------------------------------------------------------------

    def alias_name(self) -> str:
        """The stem of the alias."""
        return "layout"

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<map, padding, <grid>, memref>` or the same with `, memory layout`."""
        owner = "TT_LayoutAttr"
        position = parser.pos
        expect(parser, "<")
        strides = parse_dimensions(parser)
        linear = NO_MAPPING
        if not strides:
            with parameter(parser, owner, "linear", "AffineMap"):
                linear = parse_affine_map(parser)
        expect(parser, ",")
        with parameter(parser, owner, "oob_val", "OOBVal"):
            oob_val = parse_keyword_or_string(parser, OOBVal, "TT OOBVal")
        expect(parser, ",")
        with parameter(parser, owner, "grid", "GridAttr"):
            grid = parse_nested(parser, GridAttr)
        expect(parser, ",")
        with parameter(parser, owner, "memref", "MemRefType"):
            memref = parse_memref(parser)
        memory_layout = TensorMemoryLayout.NONE
        if parser.parse_optional_punctuation(",") is not None:
            with parameter(parser, owner, "mem_layout", "TensorMemoryLayout"):
                memory_layout = parse_keyword_or_string(
                    parser, TensorMemoryLayout, "TT TensorMemoryLayout"
                )
        expect(parser, ">")
        if strides:
            with verify_at(parser, position):
                linear = linear_from_strides(strides, grid.data.rank)
        return [
            AffineMapParameter(linear),
            OOBValAttr(oob_val),
            grid,
            memref,
            TensorMemoryLayoutAttr(memory_layout),
        ]

    def print_parameters(self, printer: Printer) -> None:
        """Write what `parse_parameters` reads."""
        printer.print_string(f"<{self.linear}, {self.oob_val.keyword}, <{self.grid.data}>, ")
        printer.print_attribute(self.memref)
        if self.memory_layout is not TensorMemoryLayout.NONE:
            printer.print_string(f", {self.memory_layout.keyword}")
        printer.print_string(">")


@lru_cache(maxsize=4096)
def _layout_attr(layout: TensorLayout) -> LayoutAttr:
    memref = MemRefType(
        element_type_of(layout.element),
        layout.shard,
        memory_space=MemorySpaceAttr(layout.memory_space),
    )
    return LayoutAttr(
        AffineMapParameter(layout.linear),
        OOBValAttr(layout.oob_val),
        GridAttr(layout.grid),
        memref,
        TensorMemoryLayoutAttr(layout.memory_layout),
    )


@lru_cache(maxsize=4096)
def _tensor_layout(attribute: LayoutAttr) -> TensorLayout:
    memref = attribute.memref
    space = memref.memory_space
    if not isinstance(space, MemorySpaceAttr):
        raise LayoutError(
            f"the memref of a layout names one of the memory spaces "
            f"{', '.join(MemorySpace.keywords())}, got '{memref}'"
        )
    shard = memref.get_shape()
    if not isinstance(memref.layout, NoneAttr) or any(extent < 0 for extent in shard):
        raise LayoutError(f"the memref of a layout is contiguous and static, got '{memref}'")
    return TensorLayout(
        linear=attribute.linear,
        grid=attribute.grid.data,
        shard=shard,
        element=element_of(memref.element_type),
        memory_space=space.data,
        memory_layout=attribute.memory_layout,
        oob_val=attribute.oob_val,
    )


# Passes ask for the same few layouts once per operand: everything that builds one is remembered.


@lru_cache(maxsize=4096)
def _layout_attr_of(
    shape: tuple[int, ...],
    element_type: Attribute,
    memory_space: MemorySpace,
    grid: Grid | None,
    collapse_intervals: tuple[Interval, ...],
    oob_val: OOBVal,
    memory_layout: TensorMemoryLayout,
) -> LayoutAttr:
    layout = TensorLayout.of(
        shape,
        element_of(element_type),
        memory_space,
        grid,
        collapse_intervals=collapse_intervals,
        oob_val=oob_val,
        memory_layout=memory_layout,
    )
    return _layout_attr(layout)


@lru_cache(maxsize=4096)
def _with_grid(
    layout: LayoutAttr, shape: tuple[int, ...], grid: Grid, intervals: tuple[Interval, ...]
) -> LayoutAttr:
    return _layout_attr(layout.tensor_layout.with_grid(shape, grid, intervals))


@lru_cache(maxsize=4096)
def _with_element_type(layout: LayoutAttr, element_type: Attribute) -> LayoutAttr:
    return _layout_attr(layout.tensor_layout.with_element(element_of(element_type)))


@lru_cache(maxsize=4096)
def _with_memory_space(layout: LayoutAttr, memory_space: MemorySpace) -> LayoutAttr:
    return _layout_attr(layout.tensor_layout.with_memory_space(memory_space))


@lru_cache(maxsize=4096)
def _with_memory_layout(layout: LayoutAttr, memory_layout: TensorMemoryLayout) -> LayoutAttr:
    return _layout_attr(layout.tensor_layout.with_memory_layout(memory_layout))


@irdl_attr_definition
class BufferAttr(ParametrizedAttribute):
    """A buffer of a kernel: `#tt.buffer<memref<2x4xf32, #l1_>, alias>`."""

    name = "tt.buffer"
    memref: MemRefType[Attribute]
    access: BufferAccessAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<memref, access>`."""
        expect(parser, "<")
        with parameter(parser, "TT_BufferAttr", "memref", "MemRefType"):
            memref = parse_memref(parser)
        expect(parser, ",")
        with parameter(parser, "TT_BufferAttr", "buffer_access", "BufferAccess"):
            access = BufferAccessAttr.parse_keywords(parser)
        expect(parser, ">")
        return [memref, BufferAccessAttr(access)]

    def print_parameters(self, printer: Printer) -> None:
        """Write `<memref, access>`."""
        printer.print_string("<")
        printer.print_attribute(self.memref)
        printer.print_string(f", {self.access.text}>")


@irdl_attr_definition
class ArgumentAllocationAttr(Data[tuple[int, int, MemorySpace]]):
    """Where a function's argument lies: `#tt.arg_alloc<262144, 32768, l1>`."""

    name = "tt.arg_alloc"
    ADDRESS_BITS: ClassVar[int] = 64

    @property
    def address(self) -> int:
        """First byte."""
        return self.data[0]

    @property
    def size(self) -> int:
        """Number of bytes."""
        return self.data[1]

    @property
    def memory_space(self) -> MemorySpace:
        """Which memory."""
        return self.data[2]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[int, int, MemorySpace]:
        """Read `<address, size, memory space>`."""
        owner = "TT_ArgumentAllocationAttr"
        expect(parser, "<")
        with parameter(parser, owner, "address", "uint64_t"):
            address = parse_unsigned(parser, cls.ADDRESS_BITS)
        expect(parser, ",")
        with parameter(parser, owner, "size", "uint64_t"):
            size = parse_unsigned(parser, cls.ADDRESS_BITS)
        expect(parser, ",")
        with parameter(parser, owner, "memorySpace", "MemorySpace"):
            memory_space = parse_keyword_or_string(parser, MemorySpace, "TT MemorySpace")
        expect(parser, ">")
        return address, size, memory_space

    def print_parameter(self, printer: Printer) -> None:
        """Write `<address, size, memory space>`."""
        printer.print_string(f"<{self.address}, {self.size}, {self.memory_space.keyword}>")
