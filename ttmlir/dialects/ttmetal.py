"""Dialect `ttmetal`: the attribute that places kernels on cores."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Data, Dialect
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttmlir.dialects.syntax import expect, parameter, parse_dimensions
from ttmlir.layout.grid import shape_text


@dataclass(frozen=True)
class Area:
    """A rectangle of cores: (y, x) of its first core, and rows and columns."""

    offset: tuple[int, ...]
    size: tuple[int, ...]


@irdl_attr_definition
class CoreRangeAttr(Data[Area]):
    """A rectangle of cores, offset and size: `#ttmetal.core_range<1x0, 2x4>`."""

    name = "ttmetal.core_range"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Area:
        """Read `<offset, size>`."""
        owner, cpp_type = "TTMetal_CoreRangeAttr", "::llvm::ArrayRef<int64_t>"
        expect(parser, "<")
        with parameter(parser, owner, "offset", cpp_type):
            offset = parse_dimensions(parser)
        expect(parser, ",")
        with parameter(parser, owner, "size", cpp_type):
            size = parse_dimensions(parser)
        expect(parser, ">")
        return Area(offset, size)

    def print_parameter(self, printer: Printer) -> None:
        """Write `<offset, size>`."""
        area = self.data
        printer.print_string(f"<{shape_text(area.offset)}, {shape_text(area.size)}>")


TTMETAL = Dialect("ttmetal", [], [CoreRangeAttr])
