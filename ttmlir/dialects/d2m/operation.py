"""What the operations of d2m share: their places in regions, and pieces of their text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Self, TypeVar, cast

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, MemRefType, TensorType, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind

from ttmlir.dialects.d2m.attrs import ThreadAttr, ThreadKind
from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.assembly import AssemblyOp, ConversionOp
from ttmlir.dialects.definition.ods import AttrConstraint, TypeConstraint, refuse
from ttmlir.dialects.ttcore import is_remote
from ttmlir.mlir.printing.naming import SuggestsNames

ItemT = TypeVar("ItemT")

CANONICAL = "ttmlir.dialects.d2m.canonical"
"""The module of the canonical forms."""

KERNEL_THREAD = "d2m.thread"
"""On a function that was a region: its `#d2m.thread`."""

SHAPED = TypeConstraint(
    "ranked tensor or memref of any type values",
    lambda type: isinstance(type, TensorType | MemRefType),
)
MEMREF = TypeConstraint("memref of any type values", lambda type: isinstance(type, MemRefType))
TILE = TypeConstraint("TT tile", lambda type: type.name == "tt.tile")
NUMBER = AttrConstraint(
    "number", lambda attr: isinstance(attr, FloatAttr | IntegerAttr), ods.always
)
INDEX = TypeConstraint("index", lambda type: type.name == "index")
CB = TypeConstraint("circular buffer", lambda type: type.name == "d2m.cb")
SEMAPHORE = TypeConstraint("semaphore", lambda type: type.name == "d2m.semaphore")
MEM_TX = TypeConstraint("memory transaction", lambda type: type.name == "d2m.mem_tx")


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The extents of a tensor or memref."""
    return cast("TensorType[Attribute] | MemRefType[Attribute]", value.type).get_shape()


def element_type_of_value(value: SSAValue) -> Attribute:
    """The type of the elements of a tensor or memref."""
    return cast("TensorType[Attribute] | MemRefType[Attribute]", value.type).get_element_type()


def is_remote_value(value: SSAValue) -> bool:
    """True for what is divided over a grid."""
    return is_remote(value.type)


class WritesMemrefs(MemoryEffect):
    """Effects of operations in destination-passing style: none on tensors."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        """A write if an operand is a memref."""
        if any(value.type.name == "memref" for value in op.operands):
            return {EffectInstance(MemoryEffectKind.WRITE), EffectInstance(MemoryEffectKind.READ)}
        return set()


class Allocates(MemoryEffect):
    """Effects of fresh memory: it is gone if nothing uses it, but never one with another."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        """An allocation of each result."""
        return {EffectInstance(MemoryEffectKind.ALLOC, result) for result in op.results}


class D2MOp(AssemblyOp, SuggestsNames):
    """An operation of the dialect."""

    RESULT_NAME: ClassVar[str] = ""
    """The name that results are printed with."""

    def result_names(self) -> Sequence[str]:
        """The name of the class."""
        return (self.RESULT_NAME,) if self.RESULT_NAME else ()

    def integer(self, name: str) -> int:
        """The number that a property holds."""
        return cast("IntegerAttr", self.properties[name]).value.data


# --- Places ------------------------------------------------------------------------------------


class RegionOp(D2MOp):
    """An operation that stands in a region of a `d2m.generic`, or in a function made of one."""

    THREAD: ClassVar[ThreadKind | None] = None
    """The kind of region that the operation needs."""

    def verify_interfaces(self) -> None:
        """Check the place of the operation."""
        child, parent = self._region_holder()
        if parent is None:
            refuse("D2M Generic Ops must be inside a generic region")
        thread = _thread_of(child, parent)
        if self.THREAD is not None and thread is not None and thread is not self.THREAD:
            refuse(f"expected to be in a {self.THREAD.keyword} region")

    def _region_holder(self) -> tuple[Operation, Operation | None]:
        child: Operation = self
        parent = self.parent_op()
        while parent is not None and parent.name not in ("d2m.generic", "func.func"):
            child, parent = parent, parent.parent_op()
        return child, parent


class ComputeOp(RegionOp):
    """An operation of compute regions."""

    THREAD = ThreadKind.COMPUTE


class DataMovementOp(RegionOp):
    """An operation of data-movement regions."""

    THREAD = ThreadKind.DATAMOVEMENT


def _thread_of(child: Operation, parent: Operation) -> ThreadKind | None:
    """The kind of the region that `child` stands in, None for a function that is no kernel."""
    if parent.name == "func.func":
        attr = parent.attributes.get(KERNEL_THREAD)
        return attr.kind if isinstance(attr, ThreadAttr) else None
    threads = parent.properties.get("threads")
    region = child.parent_region()
    items: Sequence[Attribute] = getattr(threads, "data", ())
    if region is None or len(items) != len(parent.regions):
        return None
    attr = items[parent.get_region_index(region)]
    return attr.kind if isinstance(attr, ThreadAttr) else None


# --- Text --------------------------------------------------------------------------------------


def parse_list_in(parser: Parser, opening: str, parse: Callable[[], ItemT]) -> list[ItemT]:
    """Read a list in `(` or `[`, possibly empty."""
    delimiter = Parser.Delimiter.PAREN if opening == "(" else Parser.Delimiter.SQUARE
    return list(parser.parse_comma_separated_list(delimiter, parse))


def parse_optional_indices(parser: Parser) -> list[UnresolvedOperand]:
    """Read `[%i, %j]`, if there."""
    found = parser.parse_optional_comma_separated_list(
        Parser.Delimiter.SQUARE, parser.parse_unresolved_operand
    )
    return list(found or ())


def parse_word_and_indices(parser: Parser, word: str) -> list[UnresolvedOperand]:
    """Read `core[%y, %x]`, if there."""
    if parser.parse_optional_keyword(word) is None:
        return []
    return parse_list_in(parser, "[", parser.parse_unresolved_operand)


def print_indices(printer: Printer, values: Sequence[SSAValue]) -> None:
    """Write `[%i, %j]`, or nothing."""
    if values:
        printer.print_string("[")
        printer.print_list(values, printer.print_ssa_value)
        printer.print_string("]")


class AllocationOp(D2MOp):
    """Syntax `() attr-dict : type`."""

    @classmethod
    def of(cls, type: Attribute) -> Self:
        """The operation that makes a value of a type."""
        return cls.create(result_types=[type])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        parser.parse_punctuation("(")
        parser.parse_punctuation(")")
        properties, attributes = cls.parse_dict(parser, {})
        parser.parse_punctuation(":")
        return cls.create(
            result_types=[parser.parse_type()], properties=properties, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_string("()")
        self.print_dict(printer)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)


class ArrowOp(ConversionOp, D2MOp):
    """A value on the device, or in a region, made of another."""


class NumberedOp(RegionOp):
    """Syntax `(number) attr-dict : type`."""

    NUMBER: ClassVar[str]
    """The property that holds the number."""

    @classmethod
    def of(cls, number: int, type: Attribute) -> Self:
        """The operation for a number."""
        return cls.create(result_types=[type], properties={cls.NUMBER: IntegerAttr(number, i64)})

    @property
    def number(self) -> int:
        """The number in parentheses."""
        return self.integer(self.NUMBER)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        parser.parse_punctuation("(")
        number = parser.parse_integer(allow_boolean=False, allow_negative=False)
        parser.parse_punctuation(")")
        spelled: dict[str, Attribute] = {cls.NUMBER: IntegerAttr(number, i64)}
        properties, attributes = cls.parse_dict(parser, spelled)
        parser.parse_punctuation(":")
        return cls.create(
            result_types=[parser.parse_type()], properties=properties, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_string(f"({self.number})")
        self.print_dict(printer)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)
