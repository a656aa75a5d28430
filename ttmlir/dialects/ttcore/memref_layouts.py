"""Layouts of memrefs on devices, and what a memref or tensor type says of grid and shard.

    layout = device_layout_of(value.type)     # None for what is local to a core, or on the host
    layout.grid_shape, layout.shard_shape, layout.memory_space

A memref with one of these layouts is *remote*: its shape is that of a grid and of a shard. One
without is *local*: a shard, as the circular buffers of a core hold it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self, cast

from xdsl.dialects.builtin import MemRefLayoutAttr, MemRefType, NoneAttr, TensorType
from xdsl.ir import Attribute, Data
from xdsl.ir.affine import AffineMap as XdslMap
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttmlir.dialects.definition.syntax import (
    expect,
    expect_keyword,
    parse_dimensions,
    parse_unsigned,
)
from ttmlir.dialects.tt.keywords import MemorySpaceAttr
from ttmlir.dialects.tt.layout import element_of
from ttmlir.dialects.ttcore.metal_layout import metal_layout_of, parse_index_map
from ttmlir.layout.affine import AffineExpr, AffineMap, constant, dims
from ttmlir.layout.element_type import Element
from ttmlir.layout.enums import DeviceMemoryLayout, MemorySpace
from ttmlir.layout.grid import shape_text
from ttmlir.layout.metal.device_memory import shard_strides
from ttmlir.layout.metal.metal_layout import MetalLayout
from ttmlir.layout.metal.reblocking import split_device_shape
from ttmlir.mlir.attributes.affine import affine_map_attr
from ttmlir.mlir.reading.type_reader import ChecksShape

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
    byte: AffineExpr = constant(0)
    for coordinate, stride in zip(coordinates[rank:], strides, strict=True):
        byte = byte + coordinate * stride
    return affine_map_attr(AffineMap(2 * rank, 0, (*coordinates[:rank], byte))).data


class DeviceLayoutAttr(MemRefLayoutAttr, ChecksShape):
    """A layout of memrefs whose shape is a grid and a shard."""


@dataclass(frozen=True)
class Shards:
    """Strides of a shard in bytes, and how many buffers of it there are."""

    strides: Shape
    buffers: int = 1


@irdl_attr_definition
class ShardLayoutAttr(DeviceLayoutAttr, Data[Shards]):
    """Data in shards, one of each core or bank: `#ttcore.shard<4096x2048>`.

    Parameters: the strides of a shard in bytes and, unless it is 1, the number of its buffers.
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
        """How many shards lie behind each other, for loading one while another is used."""
        return self.data.buffers

    def with_buffers(self, buffers: int) -> Self:
        """The layout with this number of buffers."""
        return type(self)(replace(self.data, buffers=buffers))

    def get_affine_map(self) -> XdslMap:
        """From a coordinate to that in the grid, and a byte in the shard."""
        return _byte_map(self.strides)

    def shape_fault(self, shape: Shape, element_type: Attribute) -> str | None:
        """What is wrong with a memref of this shape and layout, or None."""
        return _strides_fault(self.strides, shape)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Shards:
        """Read `<strides>` or `<strides, buffers>`."""
        expect(parser, "<")
        strides = parse_dimensions(parser)
        buffers = 1
        if parser.parse_optional_punctuation(",") is not None:
            position = parser.pos
            buffers = parse_unsigned(parser)
            if buffers < 1:
                parser.raise_error("expected one buffer or more", position)
        expect(parser, ">")
        return Shards(strides, buffers)

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        buffers = f", {self.buffers}" if self.buffers != 1 else ""
        printer.print_string(f"<{shape_text(self.strides)}{buffers}>")


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


@irdl_attr_definition
class ViewLayoutAttr(DeviceLayoutAttr, Data[AffineMap]):
    """No data, but another way to see a buffer: `#ttcore.view<map(4)>` or with a map.

    The map takes coordinates of the view to those of the buffer; `map(4)` is the identity of four
    dimensions, which is read without `map()`, too.
    """

    name = "ttcore.view"

    def get_affine_map(self) -> XdslMap:
        """The map to the buffer."""
        return affine_map_attr(self.data).data

    def shape_fault(self, shape: Shape, element_type: Attribute) -> str | None:
        """What is wrong with a memref of this shape and layout, or None."""
        fault = _grid_and_shard_fault(shape)
        if fault is None and self.data.num_dims != len(shape):
            fault = f"expected a map of {len(shape)} dimensions, got {self.data.num_dims}"
        return fault

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> AffineMap:
        """Read `<map(4)>`, `<4>` or `<(d0, d1) -> ...>`."""
        expect(parser, "<")
        rank = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
        index_map = parse_index_map(parser) if rank is None else AffineMap.identity(min(rank, 64))
        expect(parser, ">")
        return index_map

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        rank = self.data.num_dims
        printer.print_string(f"<map({rank})>" if self.data.is_identity else f"<{self.data}>")


@irdl_attr_definition
class TensorMeshAttr(Data[str]):
    """The mesh of chips that a tensor is spread over: `#ttcore.tensor_mesh<"mesh">`."""

    name = "ttcore.tensor_mesh"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        """Read `<"name">`."""
        expect(parser, "<")
        name = parser.parse_str_literal()
        expect(parser, ">")
        return name

    def print_parameter(self, printer: Printer) -> None:
        """Write `<"name">`."""
        printer.print_string("<")
        printer.print_string_literal(self.data)
        printer.print_string(">")


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
        offset: AffineExpr = constant(0)
        for coordinate, stride in zip(dims(len(strides)), strides, strict=True):
            offset = offset + coordinate * stride
        return affine_map_attr(AffineMap(len(strides), 0, (offset,))).data

    def get_strides(self) -> Shape:
        """Elements between neighbours."""
        return self.data.strides

    def shape_fault(self, shape: Shape, element_type: Attribute) -> str | None:
        """What is wrong with a memref of this shape and layout, or None."""
        if len(shape) != len(self.data.strides):
            return f"expected a memref of {len(self.data.strides)} dimensions, got {len(shape)}"
        return None

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> HostBuffer:
        """Read `<logical_shape = .., host_strides = .., host_volume = ..>`, a mesh behind it."""
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
    """Shards that lie behind each other on a core."""
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
        layout.data if isinstance(layout, ViewLayoutAttr) else None,
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
        attr = ViewLayoutAttr(layout.index_map)
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
