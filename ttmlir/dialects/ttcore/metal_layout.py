"""The layout of tensors on grids of cores: `#ttcore.metal_layout`.

    layout = MetalLayoutAttr.of((512, 256), MemorySpace.DEVICE_L1)
    tensor = layout.tensor_type((8, 8), TileType.of(bf16))
    # tensor<8x8x2x1x!ttcore.tile<32x32, bf16>, #layout>

The arithmetic is in `ttmlir.layout.metal`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, cast

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerType,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttmlir.dialects.definition.syntax import (
    expect,
    expect_keyword,
    parse_dimensions,
    parse_keyword,
    verify_at,
)
from ttmlir.dialects.tt.layout import TileType, element_of
from ttmlir.layout.affine import AffineMap
from ttmlir.layout.element_type import DEFAULT_TILE_SHAPE, TileFormat
from ttmlir.layout.enums import DataType, DeviceMemoryLayout, MemorySpace, OOBVal
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.grid import NO_MAPPING, shape_text
from ttmlir.layout.metal.metal_layout import Interval, MetalLayout
from ttmlir.layout.metal.reblocking import split_device_shape
from ttmlir.mlir.attributes.affine import parse_affine_map
from ttmlir.mlir.reading.type_reader import ChecksShape

_CPP = "::mlir::tt::ttcore::"


@irdl_attr_definition
class MetalLayoutAttr(Data[MetalLayout], ChecksShape):
    """How a tensor is divided over a grid of cores; the encoding of its type.

        #ttcore.metal_layout<logical_shape = 512x256, dim_alignments = 256x32,
            collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>

    The shape of such a tensor is that of the grid, then that of the shard. Read are also the texts
    of other times: with `sharded` spelled out, and without the value of the padding.
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
        if layout.is_view:
            return None
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
        while parser.parse_optional_punctuation(",") is not None:
            if _next_is(parser, "index_map"):
                _expect_name(parser, "index_map")
                index_map = parse_index_map(parser)
            elif _next_is(parser, *OOBVal.keywords()):
                oob_val = parse_keyword(parser, OOBVal, f"{_CPP}OOBVal")
            elif _next_is(parser, *DeviceMemoryLayout.keywords()):
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
) -> TensorType[Attribute]:
    """The type of a tensor on a grid of cores, from its shape on the host.

    LayoutError if the grid does not divide it.
    """
    element = element_of(element_type)
    layout = MetalLayout.of(
        logical_shape,
        memory_space,
        intervals=intervals,
        alignments=alignments,
        tile_shape=element.shape if isinstance(element, TileFormat) else DEFAULT_TILE_SHAPE,
    )
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
        if elements.get_element_type() == i64 and len(shape) == 2 and shape[1] == 2:
            if shape[0] > _MAX_RANK:
                parser.raise_error(f"expected at most {_MAX_RANK} intervals", position)
            numbers = cast("list[int]", list(elements.iter_values()))
            return tuple(zip(numbers[::2], numbers[1::2], strict=True))
    parser.raise_error(
        "expected intervals of dimensions, such as dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>",
        position,
    )
