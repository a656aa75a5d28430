"""Attributes of ttnn: layouts, memory and cores in the library's own terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Generic, TypeVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, IntAttr
from xdsl.ir import Attribute, Data, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttmlir.layout.enums import BufferType, KeywordEnum, TTNNLayout, TTNNTensorMemoryLayout

EnumT = TypeVar("EnumT", bound=KeywordEnum)


class _KeywordAttr(Data[EnumT], Generic[EnumT]):
    """An enumeration's keyword in angle brackets."""

    ENUM: ClassVar[type[KeywordEnum]]
    CPP_TYPE: ClassVar[str]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Any:
        """Read `<keyword>`."""
        with parser.in_angle_brackets():
            position = parser.pos
            keyword = parser.parse_optional_identifier()
            if keyword not in cls.ENUM.keywords():
                parser.raise_error(
                    f"expected {cls.CPP_TYPE} to be one of: {', '.join(cls.ENUM.keywords())}",
                    position,
                )
            return cls.ENUM.from_keyword(keyword)

    def print_parameter(self, printer: Printer) -> None:
        """Write `<keyword>`."""
        printer.print_string(f"<{self.data.keyword}>")


@irdl_attr_definition
class LayoutAttr(_KeywordAttr[TTNNLayout]):
    """Rows or tiles: `#ttnn.layout<tile>`."""

    name = "ttnn.layout"
    ENUM = TTNNLayout
    CPP_TYPE = "::mlir::tt::ttnn::Layout"


@irdl_attr_definition
class TensorMemoryLayoutAttr(_KeywordAttr[TTNNTensorMemoryLayout]):
    """Spread over banks or cores: `#ttnn.tensor_memory_layout<interleaved>`."""

    name = "ttnn.tensor_memory_layout"
    ENUM = TTNNTensorMemoryLayout
    CPP_TYPE = "::mlir::tt::ttnn::TensorMemoryLayout"


@irdl_attr_definition
class BufferTypeAttr(_KeywordAttr[BufferType]):
    """Memory: `#ttnn.buffer_type<dram>`."""

    name = "ttnn.buffer_type"
    ENUM = BufferType
    CPP_TYPE = "::mlir::tt::ttnn::BufferType"


def _parse_part(
    parser: AttrParser, part: type[TensorMemoryLayoutAttr | BufferTypeAttr]
) -> Attribute:
    """One parameter, as `<keyword>` or written out with its name, or an alias."""
    if (whole := parser.parse_optional_attribute()) is not None:
        if not isinstance(whole, part):
            parser.raise_error("invalid kind of attribute specified")
        return whole
    return part(part.parse_parameter(parser))


@irdl_attr_definition
class MemoryConfigAttr(ParametrizedAttribute):
    """Where and how a tensor lies: `#ttnn.memory_config<<interleaved>, <dram>>`."""

    name = "ttnn.memory_config"
    tensor_memory_layout: TensorMemoryLayoutAttr
    buffer_type: BufferTypeAttr

    @classmethod
    def get(cls, layout: TTNNTensorMemoryLayout, buffer: BufferType) -> MemoryConfigAttr:
        """The attribute for these two."""
        return cls(TensorMemoryLayoutAttr(layout), BufferTypeAttr(buffer))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<<layout>, <buffer type>>`."""
        with parser.in_angle_brackets():
            layout = _parse_part(parser, TensorMemoryLayoutAttr)
            parser.parse_punctuation(",")
            return (layout, _parse_part(parser, BufferTypeAttr))

    def print_parameters(self, printer: Printer) -> None:
        """Write `<<layout>, <buffer type>>`."""
        layout, buffer = self.tensor_memory_layout.data, self.buffer_type.data
        printer.print_string(f"<<{layout.keyword}>, <{buffer.keyword}>>")


def _parse_extents(parser: AttrParser) -> ArrayAttr[IntAttr]:
    position = parser.pos
    extents = parser.parse_dimension_list()
    if DYNAMIC_INDEX in extents:
        parser.raise_error("expected static shape", position)
    return ArrayAttr(IntAttr(extent) for extent in extents)


def _extents_text(extents: ArrayAttr[IntAttr]) -> str:
    return "x".join(str(extent.data) for extent in extents.data)


@irdl_attr_definition
class ShapeAttr(ParametrizedAttribute):
    """Extents of a tensor: `#ttnn.shape<64x128>`."""

    name = "ttnn.shape"
    shape: ArrayAttr[IntAttr]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<extents>`."""
        with parser.in_angle_brackets():
            return (_parse_extents(parser),)

    def print_parameters(self, printer: Printer) -> None:
        """Write `<extents>`."""
        printer.print_string(f"<{_extents_text(self.shape)}>")


@irdl_attr_definition
class CoreRangeAttr(ParametrizedAttribute):
    """A rectangle of cores: `#ttnn.core_range<0x0, 8x8>` starts at (0, 0) and has 8x8 cores."""

    name = "ttnn.core_range"
    offset: ArrayAttr[IntAttr]
    size: ArrayAttr[IntAttr]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<offset, size>`."""
        with parser.in_angle_brackets():
            offset = _parse_extents(parser)
            parser.parse_punctuation(",")
            return (offset, _parse_extents(parser))

    def print_parameters(self, printer: Printer) -> None:
        """Write `<offset, size>`."""
        printer.print_string(f"<{_extents_text(self.offset)}, {_extents_text(self.size)}>")


ATTRIBUTES: Sequence[type[Attribute]] = (
    LayoutAttr,
    TensorMemoryLayoutAttr,
    BufferTypeAttr,
    MemoryConfigAttr,
    ShapeAttr,
    CoreRangeAttr,
)
"""Every attribute of the dialect."""
