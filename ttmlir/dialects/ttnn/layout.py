"""Layouts and devices of ttnn as tt-mlir has spelled them since 2025.

    #dram = #ttnn.buffer_type<dram>
    #ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
        memref<2x4x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>

`#ttnn.ttnn_layout` says the same as `#tt.layout`, and passes ask both for their `tensor_layout`.
Tensors in DRAM and on the host are on a grid of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects.builtin import MemRefType, NoneAttr
from xdsl.ir import (
    Attribute,
    Data,
    ParametrizedAttribute,
    SpacedOpaqueSyntaxAttribute,
    TypeAttribute,
)
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttmlir.dialects.definition.syntax import (
    expect,
    parameter,
    parse_dimensions,
    parse_memref,
    parse_nested,
    print_stripped,
)
from ttmlir.dialects.tt.layout import (
    AffineMapParameter,
    GridAttr,
    TensorLayoutAttr,
    element_of,
    element_type_of,
)
from ttmlir.dialects.ttnn.attrs import BufferTypeAttr, TensorMemoryLayoutAttr
from ttmlir.layout.enums import (
    BufferType,
    MemorySpace,
    TensorMemoryLayout,
    TTNNTensorMemoryLayout,
)
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.grid import shape_text
from ttmlir.layout.tensor_layout import TensorLayout
from ttmlir.mlir.attributes.affine import parse_affine_map
from ttmlir.mlir.syntax.core_prefix import note_late_form, note_ttcore

BUFFER_TYPES = {
    MemorySpace.SYSTEM: BufferType.SYSTEM_MEMORY,
    MemorySpace.DEVICE_DRAM: BufferType.DRAM,
    MemorySpace.DEVICE_L1: BufferType.L1,
}
"""ttnn's names of memories."""
_MEMORY_SPACES = {buffer: space for space, buffer in BUFFER_TYPES.items()}

MEMORY_LAYOUTS = {
    TensorMemoryLayout.INTERLEAVED: TTNNTensorMemoryLayout.INTERLEAVED,
    TensorMemoryLayout.SINGLE_BANK: TTNNTensorMemoryLayout.SINGLE_BANK,
    TensorMemoryLayout.HEIGHT_SHARDED: TTNNTensorMemoryLayout.HEIGHT_SHARDED,
    TensorMemoryLayout.WIDTH_SHARDED: TTNNTensorMemoryLayout.WIDTH_SHARDED,
    TensorMemoryLayout.BLOCK_SHARDED: TTNNTensorMemoryLayout.BLOCK_SHARDED,
}
"""ttnn's names of memory layouts."""
_MEMORY_LAYOUTS_READ = {late: layout for layout, late in MEMORY_LAYOUTS.items()}


def _note_reading() -> None:
    """Let the text that is read be one of the later form."""
    note_late_form()
    note_ttcore()


@irdl_attr_definition
class TTNNLayoutAttr(ParametrizedAttribute, TensorLayoutAttr):
    """How a tensor of ttnn lies in memory: `#ttnn.ttnn_layout<map, <grid>, memref, <layout>>`.

    Parameters: the linear map from the tensor's dimensions to physical ones, the grid, the shard of
    one core as a memref whose memory space is a `#ttnn.buffer_type`, and, on a device, how shards
    are spread in memory.
    """

    name = "ttnn.ttnn_layout"
    linear: AffineMapParameter
    grid: GridAttr
    memref: MemRefType[Attribute]
    spread: TensorMemoryLayoutAttr | NoneAttr

    @classmethod
    def of(cls, layout: TensorLayout) -> TTNNLayoutAttr:
        """The attribute of a layout; LayoutError for memories that ttnn has no name for."""
        note_late_form()
        return _layout_attr(layout)

    @property
    def tensor_layout(self) -> TensorLayout:
        """The layout as plain data.

        LayoutError if the memref has a layout map of its own, dynamic extents, or a memory that
        tensors are not in.
        """
        return _tensor_layout(self)

    def alias_name(self) -> str:
        """The stem of the alias."""
        return "ttnn_layout"

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<map, <grid>, memref>` or the same with `, <memory layout>`."""
        owner = "TTNN_TTNNLayoutAttr"
        _note_reading()
        expect(parser, "<")
        with parameter(parser, owner, "linear", "AffineMap"):
            linear = parse_affine_map(parser)
        expect(parser, ",")
        with parameter(parser, owner, "grid", "GridAttr"):
            grid = parse_nested(parser, GridAttr)
        expect(parser, ",")
        with parameter(parser, owner, "memref", "MemRefType"):
            memref = parse_memref(parser)
        spread: Attribute = NoneAttr()
        if parser.parse_optional_punctuation(",") is not None:
            with parameter(parser, owner, "mem_layout", "TensorMemoryLayoutAttr"):
                spread = parse_nested(parser, TensorMemoryLayoutAttr)
        expect(parser, ">")
        return [AffineMapParameter(linear), grid, memref, spread]

    def print_parameters(self, printer: Printer) -> None:
        """Write what `parse_parameters` reads."""
        printer.print_string(f"<{self.linear.data}, <{self.grid.data}>, ")
        printer.print_attribute(self.memref)
        if isinstance(self.spread, TensorMemoryLayoutAttr):
            printer.print_string(", ")
            print_stripped(printer, self.spread)
        printer.print_string(">")


@lru_cache(maxsize=4096)
def _layout_attr(layout: TensorLayout) -> TTNNLayoutAttr:
    buffer = BUFFER_TYPES.get(layout.memory_space)
    if buffer is None:
        raise LayoutError(f"ttnn has no tensors in the memory '{layout.memory_space.keyword}'")
    spread = MEMORY_LAYOUTS.get(layout.memory_layout)
    return TTNNLayoutAttr(
        AffineMapParameter(layout.linear),
        GridAttr(layout.grid),
        MemRefType(
            element_type_of(layout.element), layout.shard, memory_space=BufferTypeAttr(buffer)
        ),
        NoneAttr() if spread is None else TensorMemoryLayoutAttr(spread),
    )


@lru_cache(maxsize=4096)
def _tensor_layout(attribute: TTNNLayoutAttr) -> TensorLayout:
    memref, spread = attribute.memref, attribute.spread
    space = memref.memory_space
    if not isinstance(space, BufferTypeAttr) or space.data not in _MEMORY_SPACES:
        known = ", ".join(buffer.keyword for buffer in _MEMORY_SPACES)
        raise LayoutError(
            f"the memref of a layout of ttnn names one of the memories {known}, got '{memref}'"
        )
    shard = memref.get_shape()
    if not isinstance(memref.layout, NoneAttr) or any(extent < 0 for extent in shard):
        raise LayoutError(f"the memref of a layout is contiguous and static, got '{memref}'")
    return TensorLayout(
        linear=attribute.linear.data,
        grid=attribute.grid.data,
        shard=shard,
        element=element_of(memref.element_type),
        memory_space=_MEMORY_SPACES[space.data],
        memory_layout=(
            _MEMORY_LAYOUTS_READ[spread.data]
            if isinstance(spread, TensorMemoryLayoutAttr)
            else TensorMemoryLayout.NONE
        ),
    )


@irdl_attr_definition
class TTNNDeviceType(ParametrizedAttribute, TypeAttribute):
    """A device, which the module around describes: `!ttnn.device`."""

    name = "ttnn.device"

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read nothing."""
        _note_reading()
        return []


class _MeshExtentsAttr(Data[tuple[int, ...]], SpacedOpaqueSyntaxAttribute):
    """Extents of a mesh of devices, inside `#ttnn<...>`."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[int, ...]:
        """Read the extents, such as `1x1`."""
        position = parser.pos
        extents = parse_dimensions(parser)
        if len(extents) != 2:
            parser.raise_error(f"expected rows and columns, got {len(extents)} extents", position)
        return extents

    def print_parameter(self, printer: Printer) -> None:
        """Write the extents."""
        printer.print_string(shape_text(self.data))


@irdl_attr_definition
class MeshShapeAttr(_MeshExtentsAttr):
    """Rows and columns of a mesh of devices: `#ttnn<mesh_shape 1x1>`."""

    name = "ttnn.mesh_shape"


@irdl_attr_definition
class MeshOffsetAttr(_MeshExtentsAttr):
    """Where a mesh begins in that of the machine: `#ttnn<mesh_offset 0x0>`."""

    name = "ttnn.mesh_offset"


LAYOUT_ATTRIBUTES: Sequence[type[Attribute]] = (
    TTNNLayoutAttr,
    TTNNDeviceType,
    MeshShapeAttr,
    MeshOffsetAttr,
)
"""Every attribute of this module."""
