"""Types and attributes of d2m: circular buffers, semaphores, transactions, threads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, cast

from xdsl.dialects.builtin import MemRefType, TensorType
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

from ttmlir.dialects.definition.syntax import KeywordAttr, expect, parse_keyword
from ttmlir.layout.enums import KeywordEnum

_SYMBOL = re.compile(r"[A-Za-z_][\w$.]*", re.ASCII)


class ThreadKind(KeywordEnum):
    """What a region of a `d2m.generic` does."""

    COMPUTE = 0, "compute"
    DATAMOVEMENT = 1, "datamovement"


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
        """Read `<kind>` or `<kind, @symbol>`."""
        expect(parser, "<")
        kind = parse_keyword(parser, ThreadKind, "::mlir::tt::d2m::ThreadType")
        symbol = None
        if parser.parse_optional_punctuation(",") is not None:
            symbol = parser.parse_symbol_name().data
        expect(parser, ">")
        return Thread(kind, symbol)

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        printer.print_string(f"<{self.kind.keyword}")
        if self.symbol is not None:
            printer.print_string(", @")
            if _SYMBOL.fullmatch(self.symbol):
                printer.print_string(self.symbol)
            else:
                printer.print_string_literal(self.symbol)
        printer.print_string(">")


@irdl_attr_definition
class ReduceDimAttr(
    KeywordAttr[ReduceDim],
    SpacedOpaqueSyntaxAttribute,
    enum=ReduceDim,
    cpp="::mlir::tt::d2m::ReduceDim",
    definition="D2M_ReduceDimAttr",
):
    """Which dimensions of tiles are reduced: `#d2m<reduce_dim R>`."""

    name = "d2m.reduce_dim"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ReduceDim:
        """Read the keyword inside `#d2m<...>`."""
        return parse_keyword(parser, ReduceDim, "::mlir::tt::d2m::ReduceDim")

    def print_parameter(self, printer: Printer) -> None:
        """Write the keyword."""
        printer.print_string(self.data.keyword)


@irdl_attr_definition
class BroadcastKindAttr(
    KeywordAttr[BroadcastKind],
    SpacedOpaqueSyntaxAttribute,
    enum=BroadcastKind,
    cpp="::mlir::tt::d2m::TileBcastType",
    definition="D2M_TileBcastTypeAttr",
):
    """What of a tile is repeated: `#d2m<tile_bcast_type row>`."""

    name = "d2m.tile_bcast_type"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> BroadcastKind:
        """Read the keyword inside `#d2m<...>`."""
        return parse_keyword(parser, BroadcastKind, "::mlir::tt::d2m::TileBcastType")

    def print_parameter(self, printer: Printer) -> None:
        """Write the keyword."""
        printer.print_string(self.data.keyword)


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

    def print_parameters(self, printer: Printer) -> None:
        """Write `<type>`."""
        printer.print_string("<")
        printer.print_attribute(self.underlying)
        printer.print_string(">")


class _TypeWithoutParameters(ParametrizedAttribute, TypeAttribute):
    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read nothing."""
        return []

    def print_parameters(self, printer: Printer) -> None:
        """Write nothing."""


@irdl_attr_definition
class SemaphoreType(_TypeWithoutParameters):
    """A number in the L1 of each core that cores wait for: `!d2m.semaphore`."""

    name = "d2m.semaphore"


@irdl_attr_definition
class MemTxType(_TypeWithoutParameters):
    """A movement of data that may not be finished yet: `!d2m.mem_tx`."""

    name = "d2m.mem_tx"


ATTRIBUTES = (BroadcastKindAttr, CBType, MemTxType, ReduceDimAttr, SemaphoreType, ThreadAttr)
"""Every attribute and type of the dialect."""
