"""emitc operations that are C++ operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import IntegerAttr, i1, i64
from xdsl.dialects.emitc import EmitC_ArrayType, EmitC_OpaqueType, EmitC_PointerType
from xdsl.ir import Attribute
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.assembly import (
    AssemblyOp,
    ConversionOp,
    FunctionalOp,
    parse_operands,
)
from ttmlir.dialects.definition.ods import (
    Property,
    Signature,
    TypeConstraint,
    ValueGroup,
    refuse,
    text,
)
from ttmlir.dialects.emitc.types import (
    EMITC,
    I1,
    INTEGER,
    NUMBER,
    OPAQUE,
    OPAQUE_OR_POINTER,
    SUBSCRIPTABLE,
    is_integer_like,
    is_pointer_offset,
    is_supported,
)


def _binary(operand: TypeConstraint, result: TypeConstraint | None = None) -> Signature:
    return Signature(
        operands=(ValueGroup("lhs", operand), ValueGroup("rhs", operand)),
        results=(ValueGroup("result", result or operand),),
    )


_UNARY = Signature(operands=(ValueGroup("operand", EMITC),), results=(ValueGroup("result", EMITC),))


def _is_pointer(type: Attribute) -> bool:
    return isinstance(type, EmitC_PointerType)


class AddOp(FunctionalOp):
    """`lhs + rhs`, also of a pointer and an integer."""

    name = "emitc.add"
    SIGNATURE: ClassVar = _binary(EMITC)

    def verify_op(self) -> None:
        """Check pointer arithmetic."""
        lhs, rhs = (operand.type for operand in self.operands)
        if _is_pointer(lhs) and _is_pointer(rhs):
            refuse("requires that at most one operand is a pointer")
        other = rhs if _is_pointer(lhs) else lhs
        if (_is_pointer(lhs) or _is_pointer(rhs)) and not is_pointer_offset(other):
            refuse(
                "requires that one operand is an integer or of opaque type if the other is a "
                "pointer"
            )


class SubOp(FunctionalOp):
    """`lhs - rhs`, also of pointers."""

    name = "emitc.sub"
    SIGNATURE: ClassVar = _binary(EMITC)

    def verify_op(self) -> None:
        """Check pointer arithmetic."""
        lhs, rhs = (operand.type for operand in self.operands)
        if _is_pointer(rhs) and not _is_pointer(lhs):
            refuse("rhs can only be a pointer if lhs is a pointer")
        if not _is_pointer(lhs):
            return
        if not (_is_pointer(rhs) or is_pointer_offset(rhs)):
            refuse("requires that rhs is an integer, pointer or of opaque type if lhs is a pointer")
        if _is_pointer(rhs) and not is_pointer_offset(self.results[0].type):
            refuse(
                "requires that the result is an integer or of opaque type if lhs and rhs are "
                "pointers"
            )


class MulOp(FunctionalOp):
    """`lhs * rhs`."""

    name = "emitc.mul"
    SIGNATURE: ClassVar = _binary(NUMBER)


class DivOp(FunctionalOp):
    """`lhs / rhs`."""

    name = "emitc.div"
    SIGNATURE: ClassVar = _binary(NUMBER)


class RemOp(FunctionalOp):
    """`lhs % rhs`."""

    name = "emitc.rem"
    SIGNATURE: ClassVar = _binary(INTEGER)


class BitwiseAndOp(FunctionalOp):
    """`lhs & rhs`."""

    name = "emitc.bitwise_and"
    SIGNATURE: ClassVar = _binary(EMITC)


class BitwiseOrOp(FunctionalOp):
    """`lhs | rhs`."""

    name = "emitc.bitwise_or"
    SIGNATURE: ClassVar = _binary(EMITC)


class BitwiseXorOp(FunctionalOp):
    """`lhs ^ rhs`."""

    name = "emitc.bitwise_xor"
    SIGNATURE: ClassVar = _binary(EMITC)


class BitwiseLeftShiftOp(FunctionalOp):
    """`lhs << rhs`."""

    name = "emitc.bitwise_left_shift"
    SIGNATURE: ClassVar = _binary(EMITC)


class BitwiseRightShiftOp(FunctionalOp):
    """`lhs >> rhs`."""

    name = "emitc.bitwise_right_shift"
    SIGNATURE: ClassVar = _binary(EMITC)


class BitwiseNotOp(FunctionalOp):
    """`~operand`."""

    name = "emitc.bitwise_not"
    SIGNATURE: ClassVar = _UNARY


class UnaryMinusOp(FunctionalOp):
    """`-operand`."""

    name = "emitc.unary_minus"
    SIGNATURE: ClassVar = _UNARY


class UnaryPlusOp(FunctionalOp):
    """`+operand`."""

    name = "emitc.unary_plus"
    SIGNATURE: ClassVar = _UNARY


class CmpOp(FunctionalOp):
    """A comparison.

    Example:
        %0 = emitc.cmp lt, %a, %b : (i32, i32) -> i1
    """

    name = "emitc.cmp"
    SPELLED = ("predicate",)
    PREDICATES: ClassVar = ("eq", "ne", "lt", "le", "gt", "ge", "three_way")
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("lhs", EMITC), ValueGroup("rhs", EMITC)),
        results=(ValueGroup("result", EMITC),),
        properties=(
            Property(
                "predicate",
                ods.enum_attr(
                    ods.I64,
                    len(PREDICATES),
                    "allowed 64-bit signless integer cases: "
                    + ", ".join(str(i) for i in range(len(PREDICATES))),
                ),
            ),
        ),
    )

    @classmethod
    def parse_spelled(
        cls, parser: Parser
    ) -> tuple[dict[str, Attribute], Sequence[UnresolvedOperand]]:
        """Read the predicate and the operands."""
        position = parser.pos
        keyword = parser.parse_optional_identifier() or parser.parse_optional_str_literal()
        if keyword not in cls.PREDICATES:
            parser.raise_error(
                f"custom op '{cls.name}' expected string or keyword containing one of the "
                "following enum values for attribute 'predicate' "
                f"[{', '.join(cls.PREDICATES)}]",
                position,
            )
        parser.parse_punctuation(",")
        predicate = IntegerAttr(cls.PREDICATES.index(keyword), i64)
        return {"predicate": predicate}, parse_operands(parser)

    def print_spelled(self, printer: Printer) -> None:
        """Write the predicate and the operands."""
        number = cast("IntegerAttr", self.properties["predicate"]).value.data
        printer.print_string(f"{self.PREDICATES[number]}, ")
        super().print_spelled(printer)


class SubscriptOp(FunctionalOp):
    """An element of an array, or of what a pointer or an opaque value leads to.

    Example:
        %0 = emitc.subscript %array[%i] : (!emitc.array<4xi32>, index) -> i32
    """

    name = "emitc.subscript"
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("value", SUBSCRIPTABLE), ValueGroup("indices", EMITC, variadic=True)),
        results=(ValueGroup("result", EMITC),),
    )

    @classmethod
    def parse_spelled(
        cls, parser: Parser
    ) -> tuple[dict[str, Attribute], Sequence[UnresolvedOperand]]:
        """Read `%value[%indices]`."""
        value = parser.parse_unresolved_operand()
        with parser.in_square_brackets():
            return {}, [value, *parse_operands(parser)]

    def print_spelled(self, printer: Printer) -> None:
        """Write `%value[%indices]`."""
        printer.print_operand(self.operands[0])
        with printer.in_square_brackets():
            printer.print_list(self.operands[1:], printer.print_operand)

    def verify_op(self) -> None:
        """Check the indices and the type of the element."""
        indices = [operand.type for operand in self.operands[1:]]
        match self.operands[0].type:
            case EmitC_ArrayType() as array:
                self._check_array(array, indices)
            case EmitC_PointerType() as pointer:
                self._check_pointer(pointer, indices)
            case _:
                pass

    def _check_array(self, array: EmitC_ArrayType, indices: list[Attribute]) -> None:
        if len(indices) != array.get_num_dims():
            refuse(
                f"on array operand requires number of indices ({len(indices)}) to match the rank "
                f"of the array type ({array.get_num_dims()})"
            )
        for number, index in enumerate(indices):
            if not is_integer_like(index):
                refuse(
                    f"on array operand requires index operand {number} to be integer-like, but "
                    f"got '{text(index)}'"
                )
        element: Attribute = array.get_element_type()
        self._check_element("array operand requires element type", element)

    def _check_pointer(self, pointer: EmitC_PointerType, indices: list[Attribute]) -> None:
        if len(indices) != 1:
            refuse(f"on pointer operand requires one index operand, but got {len(indices)}")
        if not is_integer_like(indices[0]):
            refuse(
                "on pointer operand requires index operand to be integer-like, but got "
                f"'{text(indices[0])}'"
            )
        self._check_element("pointer operand requires pointee type", pointer.pointee_type)

    def _check_element(self, words: str, expected: Attribute) -> None:
        result = self.results[0].type
        if expected != result:
            refuse(f"on {words} ('{text(expected)}') and result type ('{text(result)}') to match")


class _LogicalOp(AssemblyOp):
    """Syntax `operands attr-dict : operand types`; the result is a truth value."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        operands = parse_operands(parser)
        properties, attributes = cls.parse_dict(parser, {})
        parser.parse_punctuation(":")
        position = parser.pos
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        return cls.create(
            operands=parser.resolve_operands(operands, types, position),
            result_types=[i1],
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        self.print_dict(printer)
        printer.print_string(" : ")
        printer.print_list(self.operand_types, printer.print_attribute)


class LogicalAndOp(_LogicalOp):
    """`lhs && rhs`."""

    name = "emitc.logical_and"
    SIGNATURE: ClassVar = _binary(EMITC, I1)


class LogicalOrOp(_LogicalOp):
    """`lhs || rhs`."""

    name = "emitc.logical_or"
    SIGNATURE: ClassVar = _binary(EMITC, I1)


class LogicalNotOp(_LogicalOp):
    """`!operand`."""

    name = "emitc.logical_not"
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("operand", EMITC),), results=(ValueGroup("result", I1),)
    )


class ConditionalOp(AssemblyOp):
    """`condition ? true_value : false_value`."""

    name = "emitc.conditional"
    SIGNATURE: ClassVar = Signature(
        operands=(
            ValueGroup("condition", I1),
            ValueGroup("true_value", EMITC),
            ValueGroup("false_value", EMITC),
        ),
        results=(ValueGroup("result", EMITC),),
    )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `operands attr-dict : type`."""
        operands = parse_operands(parser)
        properties, attributes = cls.parse_dict(parser, {})
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_type()
        return cls.create(
            operands=parser.resolve_operands(operands, (i1, type, type), position),
            result_types=[type],
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Write `operands attr-dict : type`."""
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        self.print_dict(printer)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)

    def verify_op(self) -> None:
        """Check that all three have one type."""
        types = {self.operands[1].type, self.operands[2].type, self.results[0].type}
        if len(types) > 1:
            refuse("failed to verify that all of {true_value, false_value, result} have same type")


class CastOp(ConversionOp):
    """`(type) source`.

    Example:
        %1 = emitc.cast %0 : i32 to f32
    """

    name = "emitc.cast"
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("source", EMITC),), results=(ValueGroup("dest", EMITC),)
    )

    WORD: ClassVar = "to"

    def verify_op(self) -> None:
        """Check that C++ can cast between the types."""
        source, result = self.operands[0].type, self.results[0].type
        if not _are_cast_compatible(source, result):
            refuse(
                f"operand type '{text(source)}' and result type '{text(result)}' are cast "
                "incompatible"
            )


def _are_cast_compatible(source: Attribute, result: Attribute) -> bool:
    return all(
        is_supported(type)
        and (
            is_integer_like(type)
            or type.name in ("f16", "bf16", "f32", "f64")
            or isinstance(type, (EmitC_PointerType, EmitC_OpaqueType))
        )
        for type in (source, result)
    )


def _member(operand: TypeConstraint) -> Signature:
    return Signature(
        operands=(ValueGroup("operand", operand),),
        results=(ValueGroup("result", EMITC),),
        properties=(Property("member", ods.STRING),),
    )


class MemberOp(AssemblyOp):
    """`operand.member`, in MLIR's generic form."""

    name = "emitc.member"
    SIGNATURE: ClassVar = _member(OPAQUE)


class MemberOfPtrOp(AssemblyOp):
    """`operand->member`, in MLIR's generic form."""

    name = "emitc.member_of_ptr"
    SIGNATURE: ClassVar = _member(OPAQUE_OR_POINTER)


EXPRESSIONS: Sequence[type[AssemblyOp]] = (
    AddOp,
    SubOp,
    MulOp,
    DivOp,
    RemOp,
    BitwiseAndOp,
    BitwiseOrOp,
    BitwiseXorOp,
    BitwiseLeftShiftOp,
    BitwiseRightShiftOp,
    BitwiseNotOp,
    UnaryMinusOp,
    UnaryPlusOp,
    CmpOp,
    SubscriptOp,
    LogicalAndOp,
    LogicalOrOp,
    LogicalNotOp,
    ConditionalOp,
    CastOp,
    MemberOp,
    MemberOfPtrOp,
)
"""Every operation of this module."""
