"""What emitc operations share: constraints of types and pieces of syntax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import IndexType, IntegerType, i1
from xdsl.dialects.emitc import (
    EmitC_ArrayType,
    EmitC_OpaqueType,
    EmitC_PointerType,
    EmitC_PtrDiffT,
    EmitC_SignedSizeT,
    EmitC_SizeT,
    EmitCTypeConstr,
)
from xdsl.ir import Attribute
from xdsl.irdl import VerificationContext
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ttmlir.dialects.ods import ODSOperation, TypeConstraint

_INTEGER_WIDTHS = (1, 8, 16, 32, 64)
_FLOAT_TYPES = ("f16", "bf16", "f32", "f64")


def is_supported(type: Attribute) -> bool:
    """True for the types that can be written in C++."""
    try:
        EmitCTypeConstr.verify(type, VerificationContext())
    except VerifyException:
        return False
    return True


def is_pointer_offset(type: Attribute) -> bool:
    """True for what can be added to a pointer: any integer, or opaque."""
    return isinstance(type, (IntegerType, EmitC_OpaqueType))


def is_integer_like(type: Attribute) -> bool:
    """True for integers, index, size and opaque types."""
    if isinstance(type, IntegerType):
        return cast("IntegerType", type).width.data in _INTEGER_WIDTHS
    return isinstance(
        type, (IndexType, EmitC_OpaqueType, EmitC_PtrDiffT, EmitC_SignedSizeT, EmitC_SizeT)
    )


def _is_number(type: Attribute) -> bool:
    return type.name in _FLOAT_TYPES or is_integer_like(type)


def _is_subscriptable(type: Attribute) -> bool:
    return isinstance(type, (EmitC_ArrayType, EmitC_OpaqueType, EmitC_PointerType))


EMITC = TypeConstraint("type supported by EmitC", is_supported)
ANY = TypeConstraint("any type", lambda type: True)
INTEGER = TypeConstraint("integer, index or opaque type supported by EmitC", is_integer_like)
NUMBER = TypeConstraint(
    "floating-point type supported by EmitC or integer, index or opaque type supported by EmitC",
    _is_number,
)
SUBSCRIPTABLE = TypeConstraint(
    "EmitC array type or EmitC opaque type or EmitC pointer type", _is_subscriptable
)
OPAQUE = TypeConstraint("EmitC opaque type", lambda type: isinstance(type, EmitC_OpaqueType))
OPAQUE_OR_POINTER = TypeConstraint(
    "EmitC opaque type or EmitC pointer type",
    lambda type: isinstance(type, (EmitC_OpaqueType, EmitC_PointerType)),
)
I1 = TypeConstraint(
    "1-bit signless integer",
    lambda type: type == i1,
)


class EmitCOp(ODSOperation):
    """An operation of emitc."""

    SPELLED: ClassVar[tuple[str, ...]] = ()
    """Properties that the syntax spells outside the attribute dictionary."""

    @classmethod
    def parse_dict(
        cls, parser: Parser, spelled: dict[str, Attribute]
    ) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
        """Read the attribute dictionary; returns properties and attributes."""
        position = parser.pos
        attributes = parser.parse_optional_attr_dict()
        return cls.split_dict(parser, spelled, attributes, position)

    @classmethod
    def split_dict(
        cls,
        parser: Parser,
        spelled: dict[str, Attribute],
        attributes: dict[str, Attribute],
        position: int,
    ) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
        """Take the properties out of an attribute dictionary."""
        try:
            properties = cls.convert_properties(None, attributes)
        except VerifyException as error:
            parser.raise_error(f"custom op '{cls.name}' {error}", position)
        return {**properties, **spelled}, attributes

    def print_dict(self, printer: Printer) -> None:
        """Write the attribute dictionary, with the properties that the syntax does not spell."""
        properties = {k: v for k, v in self.properties.items() if k not in self.SPELLED}
        entries = {**properties, **self.attributes}
        printer.print_op_attributes(dict(sorted(entries.items())))


def parse_operands(parser: Parser) -> list[UnresolvedOperand]:
    """Read `%a, %b, ...`, possibly nothing."""
    first = parser.parse_optional_unresolved_operand()
    if first is None:
        return []
    operands = [first]
    while parser.parse_optional_punctuation(",") is not None:
        operands.append(parser.parse_unresolved_operand())
    return operands


class FunctionalOp(EmitCOp):
    """Syntax `operands attr-dict : (operand types) -> result types`."""

    @classmethod
    def parse_spelled(
        cls, parser: Parser
    ) -> tuple[dict[str, Attribute], Sequence[UnresolvedOperand]]:
        """Read what stands before the attribute dictionary."""
        return {}, parse_operands(parser)

    def print_spelled(self, printer: Printer) -> None:
        """Write what stands before the attribute dictionary."""
        printer.print_list(self.operands, printer.print_operand)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        spelled, operands = cls.parse_spelled(parser)
        properties, attributes = cls.parse_dict(parser, spelled)
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_function_type()
        return cls.create(
            operands=parser.resolve_operands(operands, type.inputs.data, position),
            result_types=type.outputs.data,
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_string(" ")
        self.print_spelled(printer)
        self.print_dict(printer)
        printer.print_string(" : ")
        printer.print_operation_type(self)
