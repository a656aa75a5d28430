"""Dialect `ttcore`: what the direct-to-metal path knows of devices beyond dialect `tt`.

    tensor = metal_tensor_type((512, 256), TileType.of(bf16), MemorySpace.DEVICE_L1, (8, 8))
    device_layout_of(tensor).shard_shape          # (2, 1)
    memref_type_of(tensor)                        # memref<8x8x2x1x..., #ttcore.shard<..>, #l1>

`ttcore` is also the later name of `tt`: tiles, grids, memory spaces, devices and data types are the
classes of `ttmlir.dialects.tt` under either prefix (`ttmlir/mlir/core_prefix.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    MemRefLayoutAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    i64,
)
from xdsl.ir import (
    Attribute,
    Block,
    Data,
    Dialect,
    Operation,
    ParametrizedAttribute,
    Region,
    SpacedOpaqueSyntaxAttribute,
)
from xdsl.ir.affine import AffineMap as XdslMap
from xdsl.irdl import irdl_attr_definition, traits_def
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.assembly import AssemblyOp, FormatOp, nested
from ttmlir.dialects.definition.fields import (
    EXTENTS,
    NUMBER,
    QUOTED,
    ContentAttr,
    Field,
    ValueSyntax,
    assigned,
    bracketed,
    fields,
    items,
    plain,
)
from ttmlir.dialects.definition.ods import (
    ODSOperation,
    Property,
    Signature,
    ValueGroup,
    classes_in,
    properties,
    refuse,
)
from ttmlir.dialects.definition.syntax import (
    EnumT,
    KeywordAttr,
    expect,
    expect_keyword,
    parse_dimensions,
    parse_keyword,
    parse_keyword_or_string,
    parse_list,
    parse_signed,
    parse_unsigned,
    verify_at,
)
from ttmlir.dialects.tt.device import DeviceAttr
from ttmlir.dialects.tt.layout import MemorySpaceAttr, TileType, element_of
from ttmlir.dialects.ttcore_values import VALUE_OPS, DictType, GetTupleElementOp, TupleOp
from ttmlir.layout.affine import AffineExpr, AffineMap, constant, dims
from ttmlir.layout.data_format import DEFAULT_TILE_SHAPE, Element, TileFormat
from ttmlir.layout.enums import (
    ArgumentType,
    AttentionMaskType,
    DataType,
    DeviceMemoryLayout,
    MemorySpace,
    MeshShardDirection,
    MeshShardType,
    MoEActivationFunction,
    NocIndex,
    OOBVal,
    ReduceType,
    RoutingMode,
    ShardStatus,
    Topology,
)
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.metal import Interval, MetalLayout, shard_strides, split_device_shape
from ttmlir.layout.tensor_layout import NO_MAPPING, shape_text
from ttmlir.mlir.attribute_reader import ChecksShape
from ttmlir.mlir.attributes import affine_map_attr, parse_affine_map

# --- Layouts --------------------------------------------------------------------------------------
# The layout of tensors on grids of cores: `#ttcore.metal_layout`.
#
#     layout = MetalLayoutAttr.of((512, 256), MemorySpace.DEVICE_L1)
#     tensor = layout.tensor_type((8, 8), TileType.of(bf16))
#     # tensor<8x8x2x1x!ttcore.tile<32x32, bf16>, #layout>
#
# The arithmetic is in `ttmlir.layout.metal`.

# --- Metal layout ---------------------------------------------------------------------------------
# The layout of tensors on grids of cores: `#ttcore.metal_layout`.
#
#     layout = MetalLayoutAttr.of((512, 256), MemorySpace.DEVICE_L1)
#     tensor = layout.tensor_type((8, 8), TileType.of(bf16))
#     # tensor<8x8x2x1x!ttcore.tile<32x32, bf16>, #layout>
#
# The arithmetic is in `ttmlir.layout.metal`.

_CPP = "::mlir::tt::ttcore::"


@irdl_attr_definition
class MetalLayoutAttr(Data[MetalLayout], ChecksShape):
    """How a tensor is divided over a grid of cores; the encoding of its type.

        #ttcore.metal_layout<logical_shape = 512x256, dim_alignments = 256x32,
            collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>

    The shape of such a tensor is that of the grid, then that of the shard. From November 2025 on
    `sharded` is spelled out, and from May 2026 on there is no value of the padding; a layout keeps
    the form that it was read in.
    """

    name = "ttcore.metal_layout"

    @classmethod
    def of(
        cls,
        logical_shape: Sequence[int],
        memory_space: MemorySpace,
        *,
        intervals: Sequence[Interval] | None = None,
        alignments: Sequence[int] | None = None,
        memory_layout: DeviceMemoryLayout = DeviceMemoryLayout.SHARDED,
        oob_val: OOBVal = OOBVal.UNDEF,
    ) -> Self:
        """The layout of a tensor; see `MetalLayout.of` for the defaults."""
        return cls(
            MetalLayout.of(
                logical_shape,
                memory_space,
                intervals=intervals,
                alignments=alignments,
                memory_layout=memory_layout,
                oob_val=oob_val,
            )
        )

    @property
    def logical_shape(self) -> tuple[int, ...]:
        """The shape before the tensor was divided."""
        return self.data.logical_shape

    @property
    def memory_space(self) -> MemorySpace:
        """Where the shards lie."""
        return self.data.memory_space

    @property
    def index_map(self) -> AffineMap:
        """From the coordinates of a view to those of its buffer; empty for a buffer."""
        return self.data.index_map

    def tensor_type(self, grid: Sequence[int], element_type: Attribute) -> TensorType[Attribute]:
        """The tensor on a grid; LayoutError if the grid does not divide it."""
        shape = self.data.device_shape(grid, element_of(element_type))
        return TensorType(element_type, shape, self)

    def host_type(self, element_type: Attribute) -> TensorType[Attribute]:
        """The tensor on the host, before it was divided."""
        return TensorType(element_type, self.logical_shape)

    def shape_fault(self, shape: tuple[int, ...], element_type: Attribute) -> str | None:
        """What is wrong with a tensor type of this shape and layout, or None."""
        layout = self.data
        rank = layout.device_rank
        if len(shape) != 2 * rank or any(extent < 0 for extent in shape):
            return (
                f"a tensor with this layout has a static shape of {2 * rank} dimensions, grid and "
                f"shard, got '{shape_text(shape)}'"
            )
        if layout.is_view or layout.names_all or not layout.names_padding:
            return None  # since November 2025 views have such layouts, too
        try:
            grid, shard = split_device_shape(shape)
            expected = layout.shard_shape(grid, element_of(element_type))
        except LayoutError as error:
            return str(error)
        if shard != expected:
            return (
                f"on a grid of {shape_text(grid)}, a tensor with this layout has shards of "
                f"{shape_text(expected)}, got {shape_text(shard)}"
            )
        return None

    # --- Text --------------------------------------------------------------------------------

    def alias_name(self) -> str:
        """The stem of the alias."""
        return "layout"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> MetalLayout:
        """Read `<logical_shape = .., dim_alignments = .., collapsed_intervals = .., ...>`."""
        position = parser.pos
        expect(parser, "<")
        logical_shape = _parse_extents(parser, "logical_shape")
        alignments = _parse_extents(parser, "dim_alignments")
        _expect_name(parser, "collapsed_intervals")
        intervals = _parse_intervals(parser)
        oob_val = OOBVal.UNDEF
        memory_space = MemorySpace.SYSTEM
        memory_layout = DeviceMemoryLayout.SHARDED
        index_map = NO_MAPPING
        names_padding = names_all = False
        while parser.parse_optional_punctuation(",") is not None:
            if _next_is(parser, "index_map"):
                _expect_name(parser, "index_map")
                index_map = parse_index_map(parser)
            elif _next_is(parser, *OOBVal.keywords()):
                names_padding = True
                oob_val = parse_keyword(parser, OOBVal, f"{_CPP}OOBVal")
            elif _next_is(parser, *DeviceMemoryLayout.keywords()):
                names_all = True
                memory_layout = parse_keyword(
                    parser, DeviceMemoryLayout, f"{_CPP}TensorMemoryLayout"
                )
            else:
                memory_space = parse_keyword(parser, MemorySpace, f"{_CPP}MemorySpace")
        expect(parser, ">")
        with verify_at(parser, position):
            return MetalLayout(
                logical_shape,
                alignments,
                intervals,
                memory_space,
                memory_layout,
                oob_val,
                index_map,
                # A text that names neither is one of late 2025 with all defaults.
                names_padding=names_padding or not names_all,
                names_all=names_all and memory_layout is DeviceMemoryLayout.SHARDED,
            )

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        printer.print_string(f"<{self.data}>")


def metal_tensor_type(
    logical_shape: Sequence[int],
    element_type: Attribute,
    memory_space: MemorySpace,
    grid: Sequence[int] = (1, 1),
    *,
    intervals: Sequence[Interval] | None = None,
    alignments: Sequence[int] | None = None,
    late: bool = False,
) -> TensorType[Attribute]:
    """The type of a tensor on a grid of cores, from its shape on the host.

    `late` spells the layout as in 2026. LayoutError if the grid does not divide the tensor.
    """
    element = element_of(element_type)
    layout = MetalLayout.of(
        logical_shape,
        memory_space,
        intervals=intervals,
        alignments=alignments,
        tile_shape=element.shape if isinstance(element, TileFormat) else DEFAULT_TILE_SHAPE,
    )
    if late:
        layout = replace(layout, names_padding=False, names_all=True)
    return MetalLayoutAttr(layout).tensor_type(grid, element_type)


def metal_tile_type(element_type: Attribute) -> TileType:
    """The tile of 32x32 numbers of a type; unlike in 2024, signed integers have their own."""
    scalar = element_of(element_type).scalar
    is_signed = scalar.keyword in ("i32", "si32", "i64", "si64")
    data_type = DataType.SI32 if is_signed else scalar.data_type
    return TileType.get(*DEFAULT_TILE_SHAPE, data_type)


def metal_layout_of(type: Attribute) -> MetalLayoutAttr | None:
    """The layout of a tensor on a grid of cores; None for any other type."""
    if not isinstance(type, TensorType):
        return None
    encoding = cast("TensorType[Attribute]", type).encoding
    return encoding if isinstance(encoding, MetalLayoutAttr) else None


def parse_index_map(parser: AttrParser) -> AffineMap:
    """Read a bare map, `map(4)` for an identity, or `affine_map<...>`; identity: no map."""
    if parser.parse_optional_keyword("map") is not None:
        expect(parser, "(")
        rank = parser.parse_integer(allow_boolean=False, allow_negative=False)
        expect(parser, ")")
        return AffineMap.identity(_checked_rank(parser, rank))
    if parser.parse_optional_keyword("affine_map") is None:
        return parse_affine_map(parser)
    expect(parser, "<")
    index_map = parse_affine_map(parser)
    expect(parser, ">")
    return index_map


_MAX_RANK = 64
"""Dimensions of a map that is written by their number."""


def _checked_rank(parser: AttrParser, rank: int) -> int:
    if rank > _MAX_RANK:
        parser.raise_error(f"expected at most {_MAX_RANK} dimensions, got {rank}")
    return rank


def _expect_name(parser: AttrParser, name: str) -> None:
    expect_keyword(parser, name)
    expect(parser, "=")


def _parse_extents(parser: AttrParser, name: str) -> tuple[int, ...]:
    _expect_name(parser, name)
    extents = parse_dimensions(parser)
    expect(parser, ",")
    return extents


def _next_is(parser: AttrParser, *keywords: str) -> bool:
    text = parser.lexer.input.content
    return any(
        text.startswith(keyword, parser.pos)
        and not text[parser.pos + len(keyword) : parser.pos + len(keyword) + 1].isidentifier()
        for keyword in keywords
    )


def _parse_intervals(parser: AttrParser) -> tuple[Interval, ...]:
    position = parser.pos
    attr = parser.parse_attribute()
    if isinstance(attr, DenseIntOrFPElementsAttr):
        elements = cast("DenseIntOrFPElementsAttr[IntegerType]", attr)
        shape = elements.get_shape()
        if len(shape) != 2:
            parser.raise_error(
                f"collapsed_intervals must be a 2D array, got rank {len(shape)}", position
            )
        if shape[1] != 2:
            parser.raise_error(
                f"collapsed_intervals must have pairs (second dim size 2), got {shape[1]}",
                position,
            )
        if elements.get_element_type() == i64:
            if shape[0] > _MAX_RANK:
                parser.raise_error(f"expected at most {_MAX_RANK} intervals", position)
            numbers = cast("list[int]", list(elements.iter_values()))
            return tuple(zip(numbers[::2], numbers[1::2], strict=True))
    parser.raise_error(
        "expected intervals of dimensions, such as dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>",
        position,
    )


# --- Memref layouts -------------------------------------------------------------------------------
# Layouts of memrefs on devices, and what a memref or tensor type says of grid and shard.
#
#     layout = device_layout_of(value.type)     # None for what is local to a core, or on the host
#     layout.grid_shape, layout.shard_shape, layout.memory_space
#
# A memref with one of these layouts is *remote*: its shape is that of a grid and of a shard. One
# without is *local*: a shard, as the circular buffers of a core hold it.

Shape = tuple[int, ...]


def _grid_and_shard_fault(shape: Shape) -> str | None:
    if len(shape) % 2 or not shape or any(extent < 0 for extent in shape):
        return (
            "a memref with a device layout has a static shape of even rank, grid and shard, got "
            f"'{shape_text(shape)}'"
        )
    return None


def _strides_fault(strides: Shape, shape: Shape) -> str | None:
    fault = _grid_and_shard_fault(shape)
    if fault is None and len(strides) != len(shape) // 2:
        fault = f"expected {len(shape) // 2} strides, one for each dimension of the shard, got "
        fault += str(len(strides))
    return fault


def _byte_map(strides: Shape) -> XdslMap:
    """From grid and shard coordinates to the same grid coordinates and a byte in the shard."""
    rank = len(strides)
    coordinates = dims(2 * rank)
    byte = _byte(strides, rank)
    return affine_map_attr(AffineMap(2 * rank, 0, (*coordinates[:rank], byte))).data


def _byte(strides: Shape, first: int = 0) -> AffineExpr:
    """The place in memory of the coordinates from a number on."""
    byte: AffineExpr = constant(0)
    coordinates = dims(first + len(strides))[first:]
    for coordinate, stride in zip(coordinates, strides, strict=True):
        byte = byte + coordinate * stride
    return byte


class DeviceLayoutAttr(MemRefLayoutAttr, ChecksShape):
    """A layout of memrefs whose shape is a grid and a shard."""


@dataclass(frozen=True)
class Shards:
    """Strides of a shard in bytes, and how many buffers of it there are."""

    strides: Shape
    buffers: int = 1
    spelled_out: bool = field(default=False, compare=False)
    """True where the text has the number of buffers even if it is 1, as in 2026."""


@irdl_attr_definition
class ShardLayoutAttr(DeviceLayoutAttr, Data[Shards]):
    """Data in shards, one of each core or bank: `#ttcore.shard<4096x2048>`.

    Parameters: the strides of a shard in bytes and, unless it is 1, the number of its buffers;
    2026 always writes it.
    """

    name = "ttcore.shard"

    @classmethod
    def of(cls, shard: Sequence[int], element: Element, buffers: int = 1) -> Self:
        """The layout of contiguous shards."""
        return cls(Shards(shard_strides(shard, element), buffers))

    @property
    def strides(self) -> Shape:
        """Bytes between neighbours in a shard."""
        return self.data.strides

    @property
    def buffers(self) -> int:
        """How many shards lie one after another, for loading one while another is used."""
        return self.data.buffers

    def get_affine_map(self) -> XdslMap:
        """From a coordinate to that in the grid, and a byte in the shard."""
        return _byte_map(self.strides)

    def shape_fault(self, shape: Shape, element_type: Attribute) -> str | None:
        """What is wrong with a memref of this shape and layout, or None."""
        return _strides_fault(self.strides, shape)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Shards:
        """Read `<strides>` or `<strides, buffers>`."""
        return _parse_shards(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        is_written = self.buffers != 1 or self.data.spelled_out
        buffers = f", {self.buffers}" if is_written else ""
        printer.print_string(f"<{shape_text(self.strides)}{buffers}>")


def _parse_shards(parser: AttrParser) -> Shards:
    expect(parser, "<")
    strides = parse_dimensions(parser)
    buffers, spelled_out = 1, False
    if parser.parse_optional_punctuation(",") is not None:
        position = parser.pos
        buffers = parse_unsigned(parser)
        if buffers < 1:
            parser.raise_error("expected one buffer or more", position)
        spelled_out = True
    expect(parser, ">")
    return Shards(strides, buffers, spelled_out)


@irdl_attr_definition
class CBLayoutAttr(MemRefLayoutAttr, ChecksShape, Data[Shards]):
    """A shard in a circular buffer, local to a core: `#ttcore.cb_layout<4096x2048, 2>`.

    Parameters: the strides of the shard in bytes, and how many buffers of it there are.
    """

    name = "ttcore.cb_layout"

    def get_affine_map(self) -> XdslMap:
        """From a coordinate to a byte in the shard."""
        strides = self.data.strides
        return affine_map_attr(AffineMap(len(strides), 0, (_byte(strides),))).data

    def shape_fault(self, shape: Shape, element_type: Attribute) -> str | None:
        """What is wrong with a memref of this shape and layout, or None."""
        if len(shape) != len(self.data.strides):
            return (
                "memref layout mismatch between rank and affine map: "
                f"{len(shape)} != {len(self.data.strides)}"
            )
        return None

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Shards:
        """Read `<strides, buffers>`."""
        return _parse_shards(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        printer.print_string(f"<{shape_text(self.data.strides)}, {self.data.buffers}>")


@irdl_attr_definition
class InterleavedLayoutAttr(DeviceLayoutAttr, Data[Shape]):
    """Pages that go round the banks of DRAM: `#ttcore.interleaved<4096x2048>`, with byte strides.

    The grid has one element.
    """

    name = "ttcore.interleaved"

    @classmethod
    def of(cls, shard: Sequence[int], element: Element) -> Self:
        """The layout of a whole tensor."""
        return cls(shard_strides(shard, element))

    @property
    def strides(self) -> Shape:
        """Bytes between neighbours."""
        return self.data

    def get_affine_map(self) -> XdslMap:
        """From a coordinate to that in the grid, and a byte in the tensor."""
        return _byte_map(self.strides)

    def shape_fault(self, shape: Shape, element_type: Attribute) -> str | None:
        """What is wrong with a memref of this shape and layout, or None."""
        fault = _strides_fault(self.strides, shape)
        if fault is None and any(extent != 1 for extent in shape[: len(shape) // 2]):
            fault = "an interleaved memref has a grid of ones, got "
            fault += f"'{shape_text(shape[: len(shape) // 2])}'"
        return fault

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Shape:
        """Read `<strides>`."""
        expect(parser, "<")
        strides = parse_dimensions(parser)
        expect(parser, ">")
        return strides

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        printer.print_string(f"<{shape_text(self.strides)}>")


@dataclass(frozen=True)
class ViewMap:
    """The map of a view."""

    map: AffineMap
    by_rank: bool = field(default=False, compare=False)
    """True for an identity that is written as its rank alone, as in 2026."""


@irdl_attr_definition
class ViewLayoutAttr(DeviceLayoutAttr, Data[ViewMap]):
    """No data, but another way to see a buffer: `#ttcore.view<map(4)>` or with a map.

    The map takes coordinates of the view to those of the buffer; `map(4)` is the identity of four
    dimensions, which 2026 writes `4`: there, `d2m.view_layout` holds the map.
    """

    name = "ttcore.view"

    @classmethod
    def of(cls, index_map: AffineMap) -> Self:
        """The layout of a view through a map."""
        return cls(ViewMap(index_map))

    @property
    def map(self) -> AffineMap:
        """From coordinates of the view to those of the buffer."""
        return self.data.map

    def get_affine_map(self) -> XdslMap:
        """The map to the buffer."""
        return affine_map_attr(self.map).data

    def shape_fault(self, shape: Shape, element_type: Attribute) -> str | None:
        """What is wrong with a memref of this shape and layout, or None."""
        fault = _grid_and_shard_fault(shape)
        if fault is None and self.map.num_dims != len(shape):
            fault = f"expected a map of {len(shape)} dimensions, got {self.map.num_dims}"
        return fault

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ViewMap:
        """Read `<map(4)>`, `<4>` or `<(d0, d1) -> ...>`."""
        expect(parser, "<")
        rank = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
        if rank is None:
            found = ViewMap(parse_index_map(parser))
        else:
            found = ViewMap(AffineMap.identity(_checked_rank(parser, rank)), by_rank=True)
        expect(parser, ">")
        return found

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        rank = str(self.map.num_dims)
        if self.map.is_identity:
            printer.print_string(f"<{rank}>" if self.data.by_rank else f"<map({rank})>")
        else:
            printer.print_string(f"<{self.map}>")


@irdl_attr_definition
class CoreRangeAttr(Data[tuple[int, int, int, int]]):
    """A rectangle of cores by two corners, each as (y, x): `#ttcore.core_range<(0,0), (3,3)>`."""

    name = "ttcore.core_range"

    def overlaps(self, other: CoreRangeAttr) -> bool:
        """True if a core is in both."""
        y0, x0, y1, x1 = self.data
        low_y, low_x, high_y, high_x = other.data
        return y0 <= high_y and low_y <= y1 and x0 <= high_x and low_x <= x1

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[int, int, int, int]:
        """Read `<(y, x), (y, x)>`."""
        position = parser.pos
        expect(parser, "<")
        y0, x0 = _parse_corner(parser)
        expect(parser, ",")
        y1, x1 = _parse_corner(parser)
        expect(parser, ">")
        start, end = (f"#ttcore<core_coord {y}x{x}>" for y, x in ((y0, x0), (y1, x1)))
        for name, shown, low in (("start", start, min(y0, x0)), ("end", end, min(y1, x1))):
            if low < 0:
                parser.raise_error(f"{name} coordinates {shown} must be non-negative", position)
        if y0 > y1 or x0 > x1:
            parser.raise_error(
                f"Start coordinates {start} must be less than or equal to end coordinates {end}",
                position,
            )
        return y0, x0, y1, x1

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        y0, x0, y1, x1 = self.data
        printer.print_string(f"<({y0},{x0}), ({y1},{x1})>")


def _parse_corner(parser: AttrParser) -> tuple[int, int]:
    expect(parser, "(")
    y = parse_signed(parser)
    expect(parser, ",")
    x = parse_signed(parser)
    expect(parser, ")")
    return y, x


@irdl_attr_definition
class TensorMeshAttr(ContentAttr[str]):
    """The mesh of chips that a tensor is spread over: `#ttcore.tensor_mesh<"mesh">`."""

    name = "ttcore.tensor_mesh"
    CONTENT: ClassVar = QUOTED


@dataclass(frozen=True)
class HostBuffer:
    """A padded buffer of the host; strides and volume count elements."""

    logical_shape: Shape
    strides: Shape
    volume: int
    mesh: str | None = None


@irdl_attr_definition
class HostLayoutAttr(MemRefLayoutAttr, ChecksShape, Data[HostBuffer]):
    """A memref of the host with padding between its rows.

    #ttcore.host_layout<logical_shape = 33x70, host_strides = 96x1, host_volume = 6144>
    """

    name = "ttcore.host_layout"

    @classmethod
    def of(cls, layout: MetalLayout, mesh: str | None = None) -> Self:
        """The host's side of a tensor with this layout on the device."""
        return cls(HostBuffer(layout.logical_shape, layout.host_strides, layout.host_volume, mesh))

    def get_affine_map(self) -> XdslMap:
        """From a coordinate to the number of an element in the buffer."""
        strides = self.data.strides
        return affine_map_attr(AffineMap(len(strides), 0, (_byte(strides),))).data

    def get_strides(self) -> Shape:
        """Elements between neighbours."""
        return self.data.strides

    def shape_fault(self, shape: Shape, element_type: Attribute) -> str | None:
        """What is wrong with a memref of this shape and layout, or None."""
        if len(shape) != len(self.data.strides):
            return f"expected a memref of rank {len(self.data.strides)}, got {len(shape)}"
        return None

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> HostBuffer:
        """Read `<logical_shape = .., host_strides = .., host_volume = ..>`, a mesh after it."""
        position = parser.pos
        expect(parser, "<")
        shapes: list[Shape] = []
        for name in ("logical_shape", "host_strides"):
            expect_keyword(parser, name)
            expect(parser, "=")
            shapes.append(parse_dimensions(parser))
            expect(parser, ",")
        expect_keyword(parser, "host_volume")
        expect(parser, "=")
        volume = parse_unsigned(parser, 63)
        mesh = None
        if parser.parse_optional_punctuation(",") is not None:
            mesh = TensorMeshAttr.parse_parameter(parser)
        expect(parser, ">")
        logical_shape, strides = shapes
        if len(logical_shape) != len(strides):
            parser.raise_error(
                f"expected {len(logical_shape)} strides, got {len(strides)}", position
            )
        return HostBuffer(logical_shape, strides, volume, mesh)

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        host = self.data
        printer.print_string(
            f"<logical_shape = {shape_text(host.logical_shape)}, "
            f"host_strides = {shape_text(host.strides)}, host_volume = {host.volume}"
        )
        if host.mesh is not None:
            printer.print_string(", ")
            TensorMeshAttr(host.mesh).print_parameter(printer)
        printer.print_string(">")


# --- Questions to types --------------------------------------------------------------------------


@dataclass(frozen=True)
class DeviceLayout:
    """What the type of a remote tensor or memref says."""

    grid_shape: Shape
    shard_shape: Shape
    element_type: Attribute
    memory_space: MemorySpace
    memory_layout: DeviceMemoryLayout
    buffers: int
    """Shards that lie one after another on a core."""
    index_map: AffineMap | None
    """Of a view, where its elements lie in the buffer; None for a buffer."""

    @property
    def shape(self) -> Shape:
        """Grid and shard."""
        return (*self.grid_shape, *self.shard_shape)

    @property
    def scalar_shard_shape(self) -> Shape:
        """The extents of the shard in numbers."""
        return scalar_shape(self.shard_shape, self.element_type)


def scalar_shape(shape: Sequence[int], element_type: Attribute) -> Shape:
    """The extents in numbers of a shape that may count tiles."""
    element = element_of(element_type)
    tile = getattr(element, "shape", (1, 1))
    outer, inner = shape[: -len(tile)], shape[-len(tile) :]
    return (*outer, *(size * by for size, by in zip(inner, tile[-len(inner) :], strict=True)))


def memory_space_of(type: MemRefType[Attribute]) -> MemorySpace:
    """The memory that a memref names; the host's if it names none."""
    space = type.memory_space
    return space.data if isinstance(space, MemorySpaceAttr) else MemorySpace.SYSTEM


def device_layout_of(type: Attribute) -> DeviceLayout | None:
    """Grid, shard and memory of a remote tensor or memref; None for all other types."""
    if isinstance(type, TensorType):
        return _device_layout_of_tensor(cast("TensorType[Attribute]", type))
    if not isinstance(type, MemRefType):
        return None
    memref = cast("MemRefType[Attribute]", type)
    layout: Attribute = memref.layout
    if not isinstance(layout, DeviceLayoutAttr) or len(memref.get_shape()) % 2:
        return None
    grid, shard = split_device_shape(memref.get_shape())
    interleaved = isinstance(layout, InterleavedLayoutAttr)
    return DeviceLayout(
        grid,
        shard,
        memref.element_type,
        memory_space_of(memref),
        DeviceMemoryLayout.INTERLEAVED if interleaved else DeviceMemoryLayout.SHARDED,
        layout.buffers if isinstance(layout, ShardLayoutAttr) else 1,
        layout.map if isinstance(layout, ViewLayoutAttr) else None,
    )


def _device_layout_of_tensor(tensor: TensorType[Attribute]) -> DeviceLayout | None:
    attr = metal_layout_of(tensor)
    if attr is None or len(tensor.get_shape()) % 2:
        return None
    layout = attr.data
    grid, shard = split_device_shape(tensor.get_shape())
    return DeviceLayout(
        grid,
        shard,
        tensor.element_type,
        layout.memory_space,
        layout.memory_layout,
        1,
        layout.index_map if layout.is_view else None,
    )


def is_remote(type: Attribute) -> bool:
    """True for tensors and memrefs that are divided over a grid."""
    return device_layout_of(type) is not None


def memref_type_of(tensor: TensorType[Attribute], buffers: int = 1) -> MemRefType[Attribute]:
    """The memref that takes the place of a tensor on a grid of cores."""
    layout = _device_layout_of_tensor(tensor)
    assert layout is not None, "the tensor has a metal layout"
    element = element_of(layout.element_type)
    attr: DeviceLayoutAttr
    if layout.index_map is not None:
        attr = ViewLayoutAttr.of(layout.index_map)
    elif layout.memory_layout is DeviceMemoryLayout.INTERLEAVED:
        attr = InterleavedLayoutAttr.of(layout.shard_shape, element)
    else:
        attr = ShardLayoutAttr.of(layout.shard_shape, element, buffers)
    return MemRefType(layout.element_type, layout.shape, attr, MemorySpaceAttr(layout.memory_space))


def shard_type_of(type: Attribute) -> TensorType[Attribute] | MemRefType[Attribute]:
    """The type of one shard of a remote tensor or memref, as a circular buffer holds it."""
    layout = device_layout_of(type)
    assert layout is not None, "the type has a device layout"
    if isinstance(type, TensorType):
        return TensorType(layout.element_type, layout.shard_shape)
    space = MemorySpaceAttr(MemorySpace.DEVICE_L1)
    return MemRefType(layout.element_type, layout.shard_shape, NoneAttr(), space)


# --- Structure ------------------------------------------------------------------------------------
# Operations of ttcore: the device of a module, and the modules of device and host.

# --- Keywords -------------------------------------------------------------------------------------
# Attributes of ttcore that hold keywords, such as `#ttcore.shard_type<devices>`.


@irdl_attr_definition
class MeshShardTypeAttr(KeywordAttr[MeshShardType], enum=MeshShardType):
    """How a tensor is spread over a mesh of chips: `#ttcore.shard_type<replicate>`."""

    name = "ttcore.shard_type"


@irdl_attr_definition
class OOBValAttr(KeywordAttr[OOBVal], enum=OOBVal):
    """What the padding of a tensor holds: `#ttcore.oob_val<zero>`."""

    name = "ttcore.oob_val"


@irdl_attr_definition
class MeshShardDirectionAttr(KeywordAttr[MeshShardDirection], enum=MeshShardDirection):
    """Which way a tensor goes: `#ttcore.shard_direction<full_to_shard>`."""

    name = "ttcore.shard_direction"


@irdl_attr_definition
class ArgumentTypeAttr(KeywordAttr[ArgumentType], enum=ArgumentType):
    """What an argument of a model is: `#ttcore.argument_type<parameter>`."""

    name = "ttcore.argument_type"


@irdl_attr_definition
class ShardStatusAttr(KeywordAttr[ShardStatus], enum=ShardStatus):
    """Whether an argument arrives in parts: `#ttcore.shard_status<unsharded>`."""

    name = "ttcore.shard_status"


@irdl_attr_definition
class ReduceTypeAttr(KeywordAttr[ReduceType], enum=ReduceType):
    """How numbers are combined: `#ttcore.reduce_type<sum>`."""

    name = "ttcore.reduce_type"


@irdl_attr_definition
class TopologyAttr(KeywordAttr[Topology], enum=Topology):
    """How devices are linked: `#ttcore.topology<ring>`."""

    name = "ttcore.topology"


@dataclass(frozen=True)
class FabricConnection:
    """How the cores of a program are connected with other chips."""

    noc: NocIndex
    topology: Topology
    cluster_axis: int
    routing: RoutingMode
    num_links: int


def _keyword_or_string(enum: type[EnumT], summary: str) -> ValueSyntax[EnumT]:
    return plain(
        lambda parser: parse_keyword_or_string(parser, enum, summary), lambda value: value.keyword
    )


@irdl_attr_definition
class FabricConnectionConfigAttr(ContentAttr[FabricConnection]):
    """The connections of a program with other chips.

    `#ttcore.fabric_connection_config<noc_index = noc0, topology = ring, cluster_axis = 1,
    routing_mode = unidir_ring_torus, num_links = 1>`
    """

    name = "ttcore.fabric_connection_config"
    CONTENT: ClassVar = fields(
        FabricConnection,
        Field("noc_index", _keyword_or_string(NocIndex, "TT NocIndex"), "noc"),
        Field("topology", _keyword_or_string(Topology, "TT Topology")),
        Field("cluster_axis", NUMBER),
        Field("routing_mode", _keyword_or_string(RoutingMode, "TT RoutingMode"), "routing"),
        Field("num_links", NUMBER),
    )


# --- Annotations ----------------------------------------------------------------------------------
# What frontends say of arguments, results and meshes.


@irdl_attr_definition
class LocalShapeAttr(ParametrizedAttribute, SpacedOpaqueSyntaxAttribute):
    """The part of a tensor that one device has: `#ttcore<local_shape local_shape = tensor<..>>`."""

    name = "ttcore.local_shape"
    local_shape: TensorType[Attribute]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `local_shape = tensor<...>`."""
        _expect_name(parser, "local_shape")
        position = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, TensorType):
            parser.raise_error("invalid kind of type specified", position)
        return [cast("TensorType[Attribute]", type_)]

    def print_parameters(self, printer: Printer) -> None:
        """Write what `parse_parameters` reads."""
        printer.print_string("local_shape = ")
        printer.print_attribute(self.local_shape)


_MESH = bracketed(assigned(QUOTED, EXTENTS))


@irdl_attr_definition
class MeshesAttr(ContentAttr[tuple[tuple[str, Shape], ...]]):
    """The meshes of a module by their names: `#ttcore.meshes<[<"mesh" = 2x4>]>`."""

    name = "ttcore.meshes"
    CONTENT: ClassVar = ValueSyntax(
        lambda parser: parse_list(parser, lambda: _MESH.read(parser)), items(_MESH).write
    )


@irdl_attr_definition
class LoopBoundAttr(Data[tuple[int, int | None]]):
    """A number that counts iterations, or the operand that is it: `#ttcore.loop_bound<5>`.

    `<0, 2 : i32>` is the number of the third operand.
    """

    name = "ttcore.loop_bound"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[int, int | None]:
        """Read `<number>` or `<number, operand : i32>`."""
        expect(parser, "<")
        number, operand = parse_signed(parser), None
        if parser.parse_optional_punctuation(",") is not None:
            operand = parse_unsigned(parser)
            expect(parser, ":")
            expect_keyword(parser, "i32")
        expect(parser, ">")
        return number, operand

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        number, operand = self.data
        printer.print_string(f"<{number}>" if operand is None else f"<{number}, {operand} : i32>")


@irdl_attr_definition
class AttentionMaskTypeAttr(KeywordAttr[AttentionMaskType], enum=AttentionMaskType):
    """Which positions are hidden: `#ttcore.attention_mask_type<causal>`."""

    name = "ttcore.attention_mask_type"


@irdl_attr_definition
class MoEActivationFunctionAttr(KeywordAttr[MoEActivationFunction], enum=MoEActivationFunction):
    """What experts apply: `#ttcore.moe_activation_function<silu>`."""

    name = "ttcore.moe_activation_function"


# --- Structure ------------------------------------------------------------------------------------


_TENSORS = ValueGroup("inputs", variadic=True)
_RESULTS = ValueGroup("results", variadic=True)


class LoadCachedOp(FormatOp):
    """The results of a function of constants, which is called once and remembered.

    Example:
        %0 = ttcore.load_cached(@main_const_eval_0, [%arg1]) :
            (tensor<32x32xf32>) -> tensor<32x32xf32>
    """

    name = "ttcore.load_cached"
    FORMAT = "`(` $callee `,` `[` operands `]` `)` attr-dict `:` functional-type(operands, results)"
    SIGNATURE: ClassVar = Signature((_TENSORS,), (_RESULTS,), properties(callee=ods.FLAT_SYMBOL))

    @property
    def callee(self) -> str:
        """The name of the function."""
        return cast("SymbolRefAttr", self.properties["callee"]).root_reference.data

    def verify_op(self) -> None:
        """Compare the operation with its function."""
        from ttmlir.dialects.late_checks.functions import check_load_cached

        check_load_cached(self)


class CompositeOp(ODSOperation):
    """An operation of the library, or the function that says what it does.

    Example:
        %0 = "ttcore.composite"(%x) <{composite_attributes = {}, composite_name = "gelu",
            decomposition = @gelu_impl}> : (tensor<32x32xf32>) -> tensor<32x32xf32>
    """

    name = "ttcore.composite"
    SIGNATURE: ClassVar = Signature(
        (_TENSORS,),
        (_RESULTS,),
        (
            Property("composite_name", ods.STRING),
            Property("decomposition", ods.FLAT_SYMBOL),
            Property("composite_attributes", ods.DICTIONARY, optional=True),
        ),
    )

    def verify_op(self) -> None:
        """Compare the operation with its decomposition."""
        from ttmlir.dialects.late_checks.functions import check_composite

        check_composite(self)


class WhileLoopOp(ODSOperation):
    """A loop whose body is a function; it counts, or a function of the state says when it ends.

    `output_indices` numbers the results of the body that are the next iteration's state, which is
    the first `state_count` operands; the others are the same in all iterations.
    """

    name = "ttcore.while_loop"
    SIGNATURE: ClassVar = Signature(
        (_TENSORS,),
        (_RESULTS,),
        (
            Property("body_program", ods.FLAT_SYMBOL),
            Property("condition_program", ods.FLAT_SYMBOL, optional=True),
            Property("output_indices", ods.DENSE_I32),
            Property("state_count", ods.I32),
            *(
                Property(name, ods.named_attr("ttcore.loop_bound"), optional=True)
                for name in ("initial", "limit", "step")
            ),
        ),
    )

    @property
    def state_count(self) -> int:
        """How many operands are carried."""
        return cast("IntegerAttr", self.properties["state_count"]).value.data

    @property
    def output_indices(self) -> tuple[int, ...]:
        """Which results of the body are carried."""
        listed = cast("DenseArrayBase[IntegerType]", self.properties["output_indices"])
        return tuple(listed.get_values())

    @property
    def programs(self) -> tuple[str, ...]:
        """The names of the body, and of what says when the loop ends, if there is that."""
        found = map(self.properties.get, ("body_program", "condition_program"))
        return tuple(each.root_reference.data for each in found if isinstance(each, SymbolRefAttr))

    def bound(self, name: str) -> int | None:
        """A number that the loop counts with; None if it is not said, or is an operand."""
        attr = self.properties.get(name)
        if not isinstance(attr, LoopBoundAttr) or attr.data[1] is not None:
            return None
        return attr.data[0]


class CaseOp(ODSOperation):
    """A branch: calls the function whose number, or whose truth, the first operand is."""

    name = "ttcore.case"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("index"), _TENSORS),
        (_RESULTS,),
        (Property("branch_programs", ods.array_attr("symbol array", ods.FLAT_SYMBOL.storage)),),
    )


class OptimizationBarrierOp(ODSOperation):
    """Its operands, which nothing is moved across."""

    name = "ttcore.optimization_barrier"
    SIGNATURE: ClassVar = Signature((_TENSORS,), (_RESULTS,))


class DeviceOp(FormatOp):
    """The device that the module around it is compiled for, under a name.

    Example:
        ttcore.device @default_device = <workerGrid = #ttcore.grid<8x8, (d0, d1) -> (0, d0, d1)>,
            l1Map = ..., dramMap = ..., meshShape = , chipIds = [0]>
    """

    name = "ttcore.device"
    FORMAT = "$sym_name `=` $device_attr attr-dict"
    SPELLINGS: ClassVar = {"device_attr": nested(DeviceAttr)}
    SIGNATURE: ClassVar = Signature(
        properties=properties(sym_name=ods.STRING, device_attr=ods.named_attr("tt.device"))
    )
    traits = traits_def(SymbolOpInterface())

    @classmethod
    def of(cls, device: DeviceAttr, name: str = "default_device") -> Self:
        """The operation that gives a device a name."""
        return cls.create(properties={"sym_name": StringAttr(name), "device_attr": device})

    @property
    def device(self) -> DeviceAttr:
        """The device."""
        return cast("DeviceAttr", self.properties["device_attr"])


class _ModuleHolder(AssemblyOp):
    """An operation around one module."""

    SIGNATURE: ClassVar = Signature(regions=1)
    traits = traits_def(IsolatedFromAbove(), NoTerminator())

    @classmethod
    def of(cls, module: ModuleOp) -> Self:
        """The operation around a module."""
        return cls.create(regions=[Region(Block([module]))])

    @property
    def module(self) -> ModuleOp:
        """The module inside."""
        module = self.regions[0].block.first_op
        assert isinstance(module, ModuleOp), "the verifier has seen a module"
        return module

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        attributes = {}
        if parser.parse_optional_keyword("attributes") is not None:
            attributes = parser.parse_optional_attr_dict()
        return cls.create(regions=[parser.parse_region()], attributes=attributes)

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.regions[0], print_entry_block_args=False)

    def verify_op(self) -> None:
        """Refuse all but one module."""
        block = self.regions[0].first_block
        operations: list[Operation] = [] if block is None else list(block.ops)
        modules = sum(isinstance(each, ModuleOp) for each in operations)
        if modules != 1 or len(operations) != 1:
            refuse(f"Expected exactly one ModuleOp but found {modules}")


class DeviceModuleOp(_ModuleHolder):
    """What runs on the device: `ttcore.device_module { builtin.module { ... } }`.

    C1: it holds one module.
    """

    name = "ttcore.device_module"


class CpuModuleOp(_ModuleHolder):
    """What runs on the host's processor: `ttcore.cpu_module { builtin.module { ... } }`.

    C1: it holds one module.
    """

    name = "ttcore.cpu_module"


def device_of(op: Operation) -> DeviceAttr | None:
    """The device of the nearest module around an operation that has one."""
    table: Operation | None = op
    while table is not None:
        if isinstance(table, ModuleOp):
            for each in table.body.ops:
                if isinstance(each, DeviceOp):
                    return each.device
        table = table.parent_op()
    return None


STRUCTURE_OPS = classes_in(globals(), Operation)
"""Every operation of the dialect."""


# --- Ttcore ---------------------------------------------------------------------------------------

__all__ = [
    "TTCORE",
    "CBLayoutAttr",
    "CoreRangeAttr",
    "CpuModuleOp",
    "DeviceLayout",
    "DeviceLayoutAttr",
    "DeviceModuleOp",
    "DeviceOp",
    "GetTupleElementOp",
    "HostLayoutAttr",
    "InterleavedLayoutAttr",
    "LoadCachedOp",
    "MeshShardDirectionAttr",
    "MeshShardTypeAttr",
    "MetalLayoutAttr",
    "OOBValAttr",
    "ShardLayoutAttr",
    "TensorMeshAttr",
    "TupleOp",
    "ViewLayoutAttr",
    "device_layout_of",
    "device_of",
    "is_remote",
    "memory_space_of",
    "memref_type_of",
    "metal_layout_of",
    "metal_tensor_type",
    "metal_tile_type",
    "scalar_shape",
    "shard_type_of",
]

TTCORE = Dialect(
    "ttcore",
    cast("list[type[Operation]]", [*STRUCTURE_OPS, *VALUE_OPS]),
    [
        DictType,
        ArgumentTypeAttr,
        AttentionMaskTypeAttr,
        CBLayoutAttr,
        CoreRangeAttr,
        OOBValAttr,
        HostLayoutAttr,
        InterleavedLayoutAttr,
        LocalShapeAttr,
        LoopBoundAttr,
        MeshShardDirectionAttr,
        MeshShardTypeAttr,
        MeshesAttr,
        MetalLayoutAttr,
        MoEActivationFunctionAttr,
        ReduceTypeAttr,
        ShardLayoutAttr,
        ShardStatusAttr,
        FabricConnectionConfigAttr,
        TensorMeshAttr,
        TopologyAttr,
        ViewLayoutAttr,
    ],
)
"""The dialect, for an xDSL context."""
