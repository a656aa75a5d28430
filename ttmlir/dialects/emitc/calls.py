"""emitc operations that name what they mean in C++: calls, literals, includes, verbatim text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    LocationAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.dialects.emitc import EmitC_ArrayType, EmitC_OpaqueAttr
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.assembly import AssemblyOp, FunctionalOp, parse_operands
from ttmlir.dialects.definition.ods import Property, Signature, ValueGroup, refuse, text
from ttmlir.dialects.emitc.symbols import lookup_function
from ttmlir.dialects.emitc.types import ANY, EMITC
from ttmlir.mlir.reporting.diagnostics import OpError, note


def _string(op: Operation, name: str) -> str:
    return cast("StringAttr", op.properties[name]).data


class _NamedCall(FunctionalOp):
    """Syntax `"name"(operands) attr-dict : function type`."""

    @classmethod
    def parse_spelled(
        cls, parser: Parser
    ) -> tuple[dict[str, Attribute], Sequence[UnresolvedOperand]]:
        """Read the name and the operands in parentheses."""
        name: Attribute = StringAttr(parser.parse_str_literal())
        with parser.in_parens():
            operands = parse_operands(parser)
        return {cls.SPELLED[0]: name}, operands

    def print_spelled(self, printer: Printer) -> None:
        """Write the name and the operands in parentheses."""
        printer.print_attribute(self.properties[self.SPELLED[0]])
        printer.print_operands(self.operands)


class ApplyOp(_NamedCall):
    """The operators `&` and `*` of C++.

    Example:
        %1 = emitc.apply "&"(%0) : (i32) -> !emitc.ptr<i32>
    """

    name = "emitc.apply"
    SPELLED = ("applicableOperator",)
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("operand", ANY),),
        results=(ValueGroup("result", EMITC),),
        properties=(Property("applicableOperator", ods.STRING),),
    )

    @classmethod
    def make(
        cls, operator: str, operand: SSAValue, result_type: Attribute, *, location: LocationAttr
    ) -> Self:
        """Make the operation."""
        return cls.create(
            operands=[operand],
            result_types=[result_type],
            properties={"applicableOperator": StringAttr(operator)},
            location=location,
        )

    def verify_op(self) -> None:
        """Check the operator."""
        operator = _string(self, "applicableOperator")
        if not operator:
            refuse("applicable operator must not be empty")
        if operator not in ("&", "*"):
            refuse("applicable operator is illegal")
        owner = self.operands[0].owner
        if isinstance(owner, Operation) and owner.name == "emitc.constant":
            refuse("cannot apply to constant")


class CallOpaqueOp(_NamedCall):
    """A call of a function that only C++ knows.

    Without `args` the operands are the arguments, in order. With it the arguments are its elements:
    an `index` stands for the operand with that number, everything else for itself. `template_args`
    are types, numbers and opaque text.

    Example:
        %1 = emitc.call_opaque "foo"(%0) {args = [0 : index, 1 : i32]} : (i32) -> i32
    """

    name = "emitc.call_opaque"
    SPELLED = ("callee",)
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("operands", EMITC, variadic=True),),
        results=(ValueGroup("results", EMITC, variadic=True),),
        properties=(
            Property("callee", ods.STRING),
            Property("args", ods.ARRAY, optional=True),
            Property("template_args", ods.ARRAY, optional=True),
        ),
    )

    @classmethod
    def make(
        cls,
        callee: str,
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        *,
        args: Sequence[Attribute] | None = None,
        template_args: Sequence[Attribute] | None = None,
        location: LocationAttr,
    ) -> Self:
        """Make the operation."""
        properties: dict[str, Attribute] = {"callee": StringAttr(callee)}
        if args is not None:
            properties["args"] = ArrayAttr(args)
        if template_args is not None:
            properties["template_args"] = ArrayAttr(template_args)
        return cls.create(
            operands=operands,
            result_types=result_types,
            properties=properties,
            location=location,
        )

    def verify_op(self) -> None:
        """Check the callee, the arguments and the results."""
        if not _string(self, "callee"):
            refuse("callee must not be empty")
        for arg in _elements(self.properties.get("args")):
            self._check_arg(arg)
        for arg in _elements(self.properties.get("template_args")):
            if not isinstance(arg, (TypeAttribute, IntegerAttr, FloatAttr, EmitC_OpaqueAttr)):
                refuse("template argument has invalid type")
        if any(isinstance(result.type, EmitC_ArrayType) for result in self.results):
            refuse("cannot return array type")

    def _check_arg(self, arg: Attribute) -> None:
        if isinstance(arg, ArrayAttr):
            refuse("array argument has no type")
        if isinstance(arg, IntegerAttr):
            number = cast("IntegerAttr", arg)
            is_index = isinstance(number.type, IndexType)
            if is_index and not 0 <= number.value.data < len(self.operands):
                refuse("index argument is out of range")


def _quote(types: Iterable[Attribute]) -> str:
    return ", ".join(f"'{text(type)}'" for type in types)


def _elements(array: Attribute | None) -> tuple[Attribute, ...]:
    return () if array is None else cast("ArrayAttr[Attribute]", array).data


class CallOp(FunctionalOp):
    """A call of an `emitc.func`.

    Example:
        %1 = emitc.call @f(%0) : (i32) -> i32
    """

    name = "emitc.call"
    SPELLED = ("callee",)
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("operands", EMITC, variadic=True),),
        results=(ValueGroup("results", EMITC, variadic=True),),
        properties=(Property("callee", ods.FLAT_SYMBOL),),
    )

    @classmethod
    def parse_spelled(
        cls, parser: Parser
    ) -> tuple[dict[str, Attribute], Sequence[UnresolvedOperand]]:
        """Read the symbol and the operands in parentheses."""
        callee = SymbolRefAttr(parser.parse_symbol_name())
        with parser.in_parens():
            return {"callee": callee}, parse_operands(parser)

    def print_spelled(self, printer: Printer) -> None:
        """Write the symbol and the operands in parentheses."""
        printer.print_attribute(self.properties["callee"])
        printer.print_operands(self.operands)

    def verify_op(self) -> None:
        """Compare operands and results with the function."""
        callee = cast("SymbolRefAttr", self.properties["callee"]).root_reference.data
        function = lookup_function(self, callee)
        if function is None:
            refuse(f"'{callee}' does not reference a valid function")
        type = cast("FunctionType", function.properties["function_type"])
        operands = tuple(operand.type for operand in self.operands)
        results = tuple(result.type for result in self.results)
        if len(operands) != len(type.inputs):
            refuse("incorrect number of operands for callee")
        for number, (expected, got) in enumerate(zip(type.inputs, operands, strict=True)):
            if expected != got:
                refuse(
                    f"operand type mismatch: expected operand type '{text(expected)}', but "
                    f"provided '{text(got)}' for operand number {number}"
                )
        if len(results) != len(type.outputs):
            refuse("incorrect number of results for callee")
        for number, (expected, got) in enumerate(zip(type.outputs, results, strict=True)):
            if expected != got:
                raise OpError(
                    self,
                    f"result type mismatch at index {number}",
                    [
                        note(self.location, f"      op result types: {_quote(results)}"),
                        note(self.location, f"function result types: {_quote(type.outputs)}"),
                    ],
                )


class LiteralOp(AssemblyOp):
    """C++ text with a type, such as the name of a macro.

    Example:
        %0 = emitc.literal "M_PI" : f32
    """

    name = "emitc.literal"
    SPELLED = ("value",)
    SIGNATURE: ClassVar = Signature(
        results=(ValueGroup("result", EMITC),), properties=(Property("value", ods.STRING),)
    )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `"text" attr-dict : type`."""
        value: Attribute = StringAttr(parser.parse_str_literal())
        properties, attributes = cls.parse_dict(parser, {"value": value})
        parser.parse_punctuation(":")
        return cls.create(
            result_types=[parser.parse_type()], properties=properties, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        """Write `"text" attr-dict : type`."""
        printer.print_string(" ")
        printer.print_attribute(self.properties["value"])
        self.print_dict(printer)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)

    def verify_op(self) -> None:
        """Refuse empty text."""
        if not _string(self, "value"):
            refuse("value must not be empty")


class VerbatimOp(AssemblyOp):
    """A line of C++ text.

    Example:
        emitc.verbatim "#pragma once"
    """

    name = "emitc.verbatim"
    SPELLED = ("value",)
    SIGNATURE: ClassVar = Signature(properties=(Property("value", ods.STRING),))

    @classmethod
    def make(cls, value: str, *, location: LocationAttr) -> Self:
        """Make the operation."""
        return cls.create(properties={"value": StringAttr(value)}, location=location)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `"text" attr-dict`."""
        value: Attribute = StringAttr(parser.parse_str_literal())
        properties, attributes = cls.parse_dict(parser, {"value": value})
        return cls.create(properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        """Write `"text" attr-dict`."""
        printer.print_string(" ")
        printer.print_attribute(self.properties["value"])
        self.print_dict(printer)


class IncludeOp(AssemblyOp):
    """`#include "file"`, or `#include <file>` for a file of the implementation.

    Example:
        emitc.include <"tuple">
    """

    name = "emitc.include"
    SPELLED = ("include", "is_standard_include")
    SIGNATURE: ClassVar = Signature(
        properties=(
            Property("include", ods.STRING),
            Property("is_standard_include", ods.UNIT, optional=True),
        )
    )

    @classmethod
    def make(cls, file: str, *, is_standard: bool = False, location: LocationAttr) -> Self:
        """Make the operation."""
        standard: Mapping[str, Attribute] = {"is_standard_include": UnitAttr()}
        return cls.create(
            properties={"include": StringAttr(file), **(standard if is_standard else {})},
            location=location,
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `"file"` or `<"file">`."""
        position = parser.pos
        is_standard = parser.parse_optional_punctuation("<") is not None
        file = parser.parse_optional_str_literal()
        if file is None:
            parser.raise_error(f"custom op '{cls.name}' expected string attribute", position)
        if is_standard and parser.parse_optional_punctuation(">") is None:
            parser.raise_error(
                f"custom op '{cls.name}' expected trailing '>' for standard include", position
            )
        properties: dict[str, Attribute] = {"include": StringAttr(file)}
        if is_standard:
            properties["is_standard_include"] = UnitAttr()
        return cls.create(properties=properties)

    def verify_op(self) -> None:
        """Check the enclosing operation."""
        parent = self.parent_op()
        if parent is not None and parent.name != "builtin.module":
            refuse("expects parent op 'builtin.module'")

    def print(self, printer: Printer) -> None:
        """Write `"file"` or `<"file">`."""
        is_standard = "is_standard_include" in self.properties
        printer.print_string(" <" if is_standard else " ")
        printer.print_attribute(self.properties["include"])
        printer.print_string(">" if is_standard else "")


CALLS: Sequence[type[AssemblyOp]] = (
    ApplyOp,
    CallOpaqueOp,
    CallOp,
    LiteralOp,
    VerbatimOp,
    IncludeOp,
)
"""Every operation of this module."""
