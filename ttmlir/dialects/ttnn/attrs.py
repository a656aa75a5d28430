"""Attributes of ttnn: layouts, memory and cores in the library's own terms."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntAttr
from xdsl.ir import Attribute, Data, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttmlir.dialects.definition.syntax import (
    KeywordAttr,
    expect,
    parameter,
    parse_dimensions,
    parse_keyword,
    parse_nested,
    parse_unsigned,
    print_stripped,
)
from ttmlir.layout.compute_config import DeviceComputeConfig
from ttmlir.layout.enums import BufferType, MathFidelity, TTNNLayout, TTNNTensorMemoryLayout
from ttmlir.mlir.syntax.core_prefix import TTCORE, core_prefix


@irdl_attr_definition
class LayoutAttr(
    KeywordAttr[TTNNLayout],
    enum=TTNNLayout,
    cpp="::mlir::tt::ttnn::Layout",
    definition="TTNN_LayoutAttr",
):
    """Rows or tiles: `#ttnn.layout<tile>`."""

    name = "ttnn.layout"


@irdl_attr_definition
class TensorMemoryLayoutAttr(
    KeywordAttr[TTNNTensorMemoryLayout],
    enum=TTNNTensorMemoryLayout,
    cpp="::mlir::tt::ttnn::TensorMemoryLayout",
    definition="TTNN_TensorMemoryLayoutAttr",
):
    """Spread over banks or cores: `#ttnn.tensor_memory_layout<interleaved>`."""

    name = "ttnn.tensor_memory_layout"


@irdl_attr_definition
class BufferTypeAttr(
    KeywordAttr[BufferType],
    enum=BufferType,
    cpp="::mlir::tt::ttnn::BufferType",
    definition="TTNN_BufferTypeAttr",
):
    """Memory: `#ttnn.buffer_type<dram>`."""

    name = "ttnn.buffer_type"

    def alias_name(self) -> str:
        """The keyword, since 2025."""
        return self.data.keyword if core_prefix() == TTCORE else ""


_LATE_MEMORY = re.compile(rf"#|<\s*({'|'.join(BufferType.keywords())})\b")
"""What a memory begins with."""


@irdl_attr_definition
class MemoryConfigAttr(ParametrizedAttribute):
    """Where and how a tensor lies: `#ttnn.memory_config<<interleaved>, <dram>>`.

    Since 2025 the memory comes first: `#ttnn.memory_config<#dram, <interleaved>>`.
    """

    name = "ttnn.memory_config"
    tensor_memory_layout: TensorMemoryLayoutAttr
    buffer_type: BufferTypeAttr

    @classmethod
    def get(cls, layout: TTNNTensorMemoryLayout, buffer: BufferType) -> MemoryConfigAttr:
        """The attribute for these two."""
        return cls(TensorMemoryLayoutAttr(layout), BufferTypeAttr(buffer))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<<layout>, <buffer type>>`, or both the other way round."""
        owner = "TTNN_MemoryConfigAttr"
        expect(parser, "<")
        if core_prefix() == TTCORE and _LATE_MEMORY.match(parser.lexer.input.content, parser.pos):
            buffer = parse_nested(parser, BufferTypeAttr)
            expect(parser, ",")
            layout = parse_nested(parser, TensorMemoryLayoutAttr)
            expect(parser, ">")
            return (layout, buffer)
        with parameter(parser, owner, "tensor_memory_layout", "TensorMemoryLayoutAttr"):
            layout = parse_nested(parser, TensorMemoryLayoutAttr)
        expect(parser, ",")
        with parameter(parser, owner, "buffer_type", "BufferTypeAttr"):
            buffer = parse_nested(parser, BufferTypeAttr)
        expect(parser, ">")
        return (layout, buffer)

    def print_parameters(self, printer: Printer) -> None:
        """Write `<<layout>, <buffer type>>`, or both the other way round."""
        printer.print_string("<")
        if core_prefix() == TTCORE:
            printer.print_attribute(self.buffer_type)
            printer.print_string(", ")
            print_stripped(printer, self.tensor_memory_layout)
            printer.print_string(">")
            return
        print_stripped(printer, self.tensor_memory_layout)
        printer.print_string(", ")
        print_stripped(printer, self.buffer_type)
        printer.print_string(">")


def _extents(extents: Sequence[int]) -> ArrayAttr[IntAttr]:
    return ArrayAttr(IntAttr(extent) for extent in extents)


def _extents_text(extents: ArrayAttr[IntAttr]) -> str:
    return "x".join(str(extent.data) for extent in extents.data)


@irdl_attr_definition
class ShapeAttr(ParametrizedAttribute):
    """Extents of a tensor: `#ttnn.shape<64x128>`; operations that make tensors may say theirs."""

    name = "ttnn.shape"
    shape: ArrayAttr[IntAttr]

    @classmethod
    def of(cls, shape: Sequence[int]) -> ShapeAttr:
        """The attribute of these extents."""
        return cls(_extents(shape))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<extents>`."""
        expect(parser, "<")
        with parameter(parser, "TTNN_ShapeAttr", "shape", "::llvm::ArrayRef<int64_t>"):
            shape = parse_dimensions(parser)
        expect(parser, ">")
        return (_extents(shape),)

    def print_parameters(self, printer: Printer) -> None:
        """Write `<extents>`."""
        printer.print_string(f"<{_extents_text(self.shape)}>")


@irdl_attr_definition
class CoreRangeAttr(ParametrizedAttribute):
    """A rectangle of cores: `#ttnn.core_range<0x0, 8x8>` starts at (0, 0) and has 8x8 cores.

    Also read is the later form, the columns and rows of both corners: `<(0,0), (7,7)>`.
    """

    name = "ttnn.core_range"
    offset: ArrayAttr[IntAttr]
    size: ArrayAttr[IntAttr]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<offset, size>`."""
        owner, cpp_type = "TTNN_CoreRangeAttr", "::llvm::ArrayRef<int64_t>"
        expect(parser, "<")
        position = parser.pos
        if parser.parse_optional_punctuation("(") is not None:
            x0, y0 = _parse_corner(parser)
            expect(parser, ",")
            expect(parser, "(")
            x1, y1 = _parse_corner(parser)
            if x1 < x0 or y1 < y0:
                parser.raise_error("the corner of low columns and rows comes first", position)
            expect(parser, ">")
            return (_extents((y0, x0)), _extents((y1 - y0 + 1, x1 - x0 + 1)))
        with parameter(parser, owner, "offset", cpp_type):
            offset = parse_dimensions(parser)
        expect(parser, ",")
        with parameter(parser, owner, "size", cpp_type):
            size = parse_dimensions(parser)
        expect(parser, ">")
        return (_extents(offset), _extents(size))

    def print_parameters(self, printer: Printer) -> None:
        """Write `<offset, size>`."""
        printer.print_string(f"<{_extents_text(self.offset)}, {_extents_text(self.size)}>")


def _parse_corner(parser: AttrParser) -> tuple[int, int]:
    """Column and row of a core, behind the bracket."""
    x = parse_unsigned(parser)
    expect(parser, ",")
    y = parse_unsigned(parser)
    expect(parser, ")")
    return x, y


@irdl_attr_definition
class DeviceComputeConfigAttr(Data[DeviceComputeConfig]):
    """How the matrix unit computes: fidelity, and whether sums have 32 bits.

    `#ttnn.device_compute_kernel_config<math_fidelity = hifi2, fp32_dest_acc_en = true>`; sums of
    16 bits need not be told.
    """

    name = "ttnn.device_compute_kernel_config"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> DeviceComputeConfig:
        """Read `<math_fidelity = hifi2, fp32_dest_acc_en = true>`."""
        expect(parser, "<")
        _expect_field(parser, "math_fidelity")
        fidelity = parse_keyword(parser, MathFidelity, "::mlir::tt::ttnn::MathFidelity")
        is_wide = False
        if parser.parse_optional_punctuation(",") is not None:
            _expect_field(parser, "fp32_dest_acc_en")
            is_wide = parser.parse_boolean()
        expect(parser, ">")
        return DeviceComputeConfig(math_fidelity=fidelity, fp32_dest_acc_en=is_wide)

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        config = self.data
        wide = ", fp32_dest_acc_en = true" if config.fp32_dest_acc_en else ""
        printer.print_string(f"<math_fidelity = {config.math_fidelity.keyword}{wide}>")


def _expect_field(parser: AttrParser, name: str) -> None:
    parser.parse_keyword(name)
    expect(parser, "=")


ATTRIBUTES: Sequence[type[Attribute]] = (
    LayoutAttr,
    TensorMemoryLayoutAttr,
    BufferTypeAttr,
    MemoryConfigAttr,
    ShapeAttr,
    CoreRangeAttr,
    DeviceComputeConfigAttr,
)
"""Every attribute of this module."""
