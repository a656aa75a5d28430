"""Attributes of tt that hold keywords, such as `#tt.memory_space<l1>`."""

from __future__ import annotations

from typing import Self

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttmlir.dialects.definition.syntax import KeywordAttr, expect, parameter, parse_keyword
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


@irdl_attr_definition
class ArchAttr(
    KeywordAttr[Arch],
    enum=Arch,
    cpp="::mlir::tt::Arch",
    definition="TT_ArchAttr",
):
    """Chip generation: `#tt.arch<wormhole_b0>`."""

    name = "tt.arch"


@irdl_attr_definition
class DataTypeAttr(
    KeywordAttr[DataType],
    enum=DataType,
    cpp="::mlir::tt::DataType",
    definition="TT_DataTypeAttr",
):
    """Storage format: `#tt.supportedDataTypes<bfp_bf8>`."""

    name = "tt.supportedDataTypes"


@irdl_attr_definition
class MemorySpaceAttr(
    KeywordAttr[MemorySpace],
    enum=MemorySpace,
    cpp="::mlir::tt::MemorySpace",
    definition="TT_MemorySpaceAttr",
):
    """Where data lies: `#tt.memory_space<dram>`."""

    name = "tt.memory_space"

    def alias_name(self) -> str:
        """The keyword."""
        return self.data.keyword


@irdl_attr_definition
class TensorMemoryLayoutAttr(
    KeywordAttr[TensorMemoryLayout],
    enum=TensorMemoryLayout,
    cpp="::mlir::tt::TensorMemoryLayout",
    definition="TT_TensorMemoryLayoutAttr",
):
    """How shards are spread over cores and banks: `#tt.tensor_memory_layout<interleaved>`."""

    name = "tt.tensor_memory_layout"


@irdl_attr_definition
class OOBValAttr(
    KeywordAttr[OOBVal],
    enum=OOBVal,
    cpp="::mlir::tt::OOBVal",
    definition="TT_OOBValAttr",
):
    """What padding holds: `#tt.oob_val<undef>`."""

    name = "tt.oob_val"


@irdl_attr_definition
class IteratorTypeAttr(
    KeywordAttr[IteratorType],
    enum=IteratorType,
    cpp="::mlir::tt::IteratorType",
    definition="TT_IteratorTypeAttr",
):
    """Iterator of a `ttir.generic` dimension: `#tt.iterator_type<parallel>`."""

    name = "tt.iterator_type"

    def alias_name(self) -> str:
        """The keyword."""
        return self.data.keyword


@irdl_attr_definition
class BufferAccessAttr(Data[int]):
    """Bits of how a kernel reaches a buffer; part of `#tt.buffer` only."""

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
        """Read the keywords; several of them in quotes."""
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

    def print_parameter(self, printer: Printer) -> None:
        """Write the keywords."""
        printer.print_string(self.text)


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
