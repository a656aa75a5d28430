"""Calls of the ttkernel dialect as expressions of the kernel tree, in the form their rows say."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.ir import Operation

from ttmlir.cpp.errors import CannotEmitError
from ttmlir.cpp.tree import (
    Assign,
    BinaryOperation,
    Boolean,
    Cast,
    Construct,
    Expression,
    FunctionCall,
    Index,
    Initializer,
    Integer,
    Member,
    Name,
    NamedType,
    Position,
    String,
    TemplateArgument,
)
from ttmlir.dialects.ttkernel import CallOp
from ttmlir.optable.kernel import Form, KernelCall, Template, TemplateKind, ValueKind
from ttmlir.optable.kernel.enums import ENUMS
from ttmlir.target.cpp.arithmetic import cpp_type

_END_OF_LINE = FunctionCall(Name("ENDL"))
_WORD = NamedType("uint32_t")


def call_expression(op: CallOp, operands: Sequence[Name], position: Position | None) -> Expression:
    """What an operation is in C++; `operands` are the variables of its operands.

    CannotEmitError if tt-metal has nothing for it.
    """
    call = type(op).CALL
    if not call.header:
        raise CannotEmitError("has no form in C++: tt-metal has no function for it")
    match call.form:
        case Form.CALL | Form.OBJECT | Form.METHOD:
            return _function(op, call, operands, position)
        case Form.ELEMENT:
            return Index(Name(call.cpp), *operands, position=position)
        case Form.LOAD:
            return Index(*operands, position=position)
        case Form.STORE:
            value, pointer, offset = operands
            return Assign(Index(pointer, offset), "=", value, position=position)
        case Form.AGGREGATE:
            elements = map(_initializer, operands, call.operands)
            kind = NamedType(call.cpp, template_arguments(op, call))
            return Construct(kind, tuple(elements), position=position)
        case Form.CAST:
            return Cast(
                "reinterpret_cast", cpp_type(op.results[0].type), operands[0], position=position
            )
        case Form.STREAM:
            return _stream(op, call, operands, position)


def _initializer(operand: Name, member: tuple[str, ValueKind]) -> Initializer:
    """A member of an aggregate; braces do not take a signed number for an unsigned one."""
    name, kind = member
    return Initializer(Cast("c", _WORD, operand) if kind is ValueKind.I32 else operand, name)


def _function(
    op: Operation, call: KernelCall, operands: Sequence[Name], position: Position | None
) -> Expression:
    callee: Name | Member = Name(call.cpp, position=position)
    if call.form is Form.METHOD:
        first, *operands = operands
        callee = Member(first, call.cpp, position=position)
    constants = (Integer(str(_integer(op, name))) for name in call.constants)
    flags = (_flag(op, each) for each in call.flags)
    arguments = (*constants, *operands, *(each for each in flags if each is not None))
    return FunctionCall(callee, arguments, template_arguments(op, call), position=position)


def _flag(op: Operation, option: Template) -> Boolean | None:
    """An option; None where the operation leaves it as it is."""
    attr = op.properties.get(option.name)
    return Boolean(True) if isinstance(attr, IntegerAttr) and attr.value.data else None


def _stream(
    op: Operation, call: KernelCall, operands: Sequence[Name], position: Position | None
) -> Expression:
    """The pieces of a text and the values between them, one after the other."""
    text = op.properties[call.text]
    assert isinstance(text, StringAttr), "the verifier has checked the attribute"
    pieces = text.data.split("{}")
    if len(pieces) != len(operands) + 1:
        raise CannotEmitError(
            f"prints a text with {len(pieces) - 1} places {{}} for {len(operands)} values"
        )
    streamed: Expression = Name(call.cpp, position=position)
    for index, piece in enumerate(pieces):
        if index:
            streamed = BinaryOperation("<<", streamed, operands[index - 1], position=position)
        if piece == "\n" and index == len(pieces) - 1:
            streamed = BinaryOperation("<<", streamed, _END_OF_LINE, position=position)
        elif piece:
            streamed = BinaryOperation("<<", streamed, String(_escape(piece)), position=position)
    return streamed


def _escape(text: str) -> str:
    """A text as it stands between quotes."""
    special = {"\\": r"\\", '"': r"\"", "\n": r"\n", "\t": r"\t", "\r": r"\r"}
    return "".join(special.get(char, char) for char in text)


def template_arguments(op: Operation, call: KernelCall) -> tuple[TemplateArgument, ...]:
    """The template arguments that the operation gives; those at the end that it leaves out are
    left out in C++, too."""
    given = [_template_argument(op, each) for each in call.templates]
    while given and given[-1] is None:
        given.pop()
    return tuple(
        _write(template, template.default) if argument is None else argument
        for template, argument in zip(call.templates, given, strict=False)
    )


def _template_argument(op: Operation, template: Template) -> TemplateArgument | None:
    attr = op.properties.get(template.name)
    match attr:
        case None:
            return None if template.implied is None else _write(template, template.implied)
        case IntegerAttr() if template.kind is TemplateKind.BOOL:
            return Boolean(attr.value.data != 0)
        case IntegerAttr():
            return Integer(str(attr.value.data))
        case StringAttr(data=text) if template.kind is TemplateKind.ENUM:
            member = Name(enumerator_text(template.enum, text))
            return Cast("c", _WORD, member) if template.number else member
        case StringAttr(data=text):
            return NamedType(text)
        case _:
            raise AssertionError("the verifier has checked the attribute")


def _write(template: Template, text: str | None) -> TemplateArgument:
    """An argument that a row spells."""
    assert text is not None, "an operation without the attribute has been refused by its verifier"
    match template.kind:
        case TemplateKind.TYPE:
            return NamedType(text)
        case TemplateKind.BOOL:
            return Boolean(text == "true")
        case TemplateKind.INT | TemplateKind.ENUM:
            return Integer(text) if text.isdigit() else Name(text)


def enumerator_text(enum: str, member: str) -> str:
    """A member of an enumeration as C++ names it."""
    known = ENUMS[enum]
    namespace = f"{known.namespace}::" if known.namespace else ""
    return f"{namespace}{known.name}::{member}"


def _integer(op: Operation, name: str) -> int:
    attr = op.properties[name]
    assert isinstance(attr, IntegerAttr), "the verifier has checked the attribute"
    return attr.value.data
