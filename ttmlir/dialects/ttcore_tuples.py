"""Tuples of tensors, which functions take and give in text of other languages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import IntegerAttr, TupleType, i32
from xdsl.ir import Attribute, SSAValue, TypeAttribute
from xdsl.irdl import traits_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import Pure

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import (
    AttrConstraint,
    Signature,
    TypeConstraint,
    ValueGroup,
    properties,
    refuse,
    text,
    values,
)
from ttmlir.dialects.definition.syntax import AssemblyOp, FunctionalOp, parse_operands

TUPLE = TypeConstraint("nested tuple of any type values", lambda type: isinstance(type, TupleType))
_INDEX = AttrConstraint(
    "32-bit signless integer attribute whose value is non-negative",
    ods.I32.storage,
    lambda attr: ods.I32.holds(attr) and cast("IntegerAttr", attr).value.data >= 0,
)


def tuple_of(types: Iterable[Attribute]) -> TupleType:
    """The type of values of these types."""
    return TupleType(cast("tuple[TypeAttribute, ...]", tuple(types)))


class TupleOp(AssemblyOp):
    """The operands as one value.

    Example:
        %2 = ttcore.tuple %0, %1 : tuple<tensor<32x32xbf16>, tensor<1x32xf32>>
    """

    name = "ttcore.tuple"
    SIGNATURE: ClassVar = Signature((ValueGroup("operands", variadic=True),), values(result=TUPLE))
    traits = traits_def(Pure())

    @classmethod
    def of(cls, parts: Sequence[SSAValue]) -> Self:
        """The operation that makes one value of several."""
        return cls.create(operands=parts, result_types=[tuple_of(each.type for each in parts)])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `operands attr-dict : type of the tuple`."""
        operands = parse_operands(parser)
        made, attributes = cls.parse_dict(parser, {})
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_type()
        if not isinstance(type, TupleType):
            parser.raise_error("expected tuple type", position)
        return cls.create(
            operands=parser.resolve_operands(operands, type.types.data, position),
            result_types=[type],
            properties=made,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Write what `parse` reads."""
        printer.print_string(" " if self.operands else "")
        printer.print_list(self.operands, printer.print_operand)
        self.print_dict(printer)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)

    def verify_op(self) -> None:
        """Compare the types."""
        made = tuple_of(self.operand_types)
        if self.results[0].type != made:
            refuse(
                f"inferred type(s) '{text(made)}' are incompatible with return type(s) of "
                f"operation '{text(self.results[0].type)}'"
            )


class GetTupleElementOp(FunctionalOp):
    """One part of a tuple.

    Example:
        %0 = ttcore.get_tuple_element %arg0[0]
            : (tuple<tensor<32x32xbf16>, tensor<1x32xf32>>) -> tensor<32x32xbf16>
    """

    name = "ttcore.get_tuple_element"
    SPELLED: ClassVar[tuple[str, ...]] = ("index",)
    SIGNATURE: ClassVar = Signature(
        values(operand=TUPLE), (ValueGroup("result"),), properties(index=_INDEX)
    )
    traits = traits_def(Pure())

    @classmethod
    def of(cls, whole: SSAValue, index: int) -> Self:
        """The operation that gives one part."""
        return cls.create(
            operands=[whole],
            result_types=[cast("TupleType", whole.type).types.data[index]],
            properties={"index": IntegerAttr(index, i32)},
        )

    @property
    def index(self) -> int:
        """Which part."""
        return cast("IntegerAttr", self.properties["index"]).value.data

    @classmethod
    def parse_spelled(
        cls, parser: Parser
    ) -> tuple[dict[str, Attribute], Sequence[UnresolvedOperand]]:
        """Read `%value[number]`."""
        value = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            return {"index": IntegerAttr(parser.parse_integer(), i32)}, [value]

    def print_spelled(self, printer: Printer) -> None:
        """Write `%value[number]`."""
        printer.print_operand(self.operands[0])
        printer.print_string(f"[{self.index}]")

    def verify_op(self) -> None:
        """Look for the part."""
        parts = cast("TupleType", self.operands[0].type).types.data
        if self.index >= len(parts):
            refuse(f"index {self.index} is out of bounds of operand with size {len(parts)}")
        if parts[self.index] != self.results[0].type:
            refuse(
                f"inferred type(s) '{text(parts[self.index])}' are incompatible with return "
                f"type(s) of operation '{text(self.results[0].type)}'"
            )
