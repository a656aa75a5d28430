"""Operations of `ttcore` for what programs in source form keep: globals, tuples, dictionaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import IntegerAttr, StringAttr, TupleType, i32
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import irdl_attr_definition, traits_def
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import SymbolOpInterface

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import (
    Property,
    Signature,
    TypeConstraint,
    ValueGroup,
    properties,
    refuse,
    text,
)
from ttmlir.dialects.definition.syntax import AssemblyOp, parse_unsigned


@irdl_attr_definition
class DictType(ParametrizedAttribute, TypeAttribute):
    """Values by keys, between calls: `!ttcore.dict`."""

    name = "ttcore.dict"

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read nothing."""
        return []


_TENSORS = "ranked tensor of any type values"


def _is_tuple(type_: Attribute) -> bool:
    return isinstance(type_, TupleType) and all(
        _is_tuple(each) or ods.TENSOR.holds(each) for each in type_.types.data
    )


_TUPLE = TypeConstraint(f"nested tuple with any combination of {_TENSORS} values", _is_tuple)
_VALUE = TypeConstraint(
    f"{_TENSORS} or nested tuple with any combination of {_TENSORS} values",
    lambda type_: ods.TENSOR.holds(type_) or _is_tuple(type_),
)
_DICT = TypeConstraint("dictionary of values", lambda type_: isinstance(type_, DictType))
_KEY = ods.AttrConstraint(
    "string attribute or index attribute",
    ods.always,
    lambda attr: isinstance(attr, StringAttr | IntegerAttr),
)
_TYPE = ods.AttrConstraint("any type attribute", ods.is_type, ods.always)


class GlobalOp(AssemblyOp):
    """A value that all functions of a module share, and the number of the argument it is.

    Example:
        ttcore.global @weight = tensor<32x32xf32> [0]
    """

    name = "ttcore.global"
    SPELLED: ClassVar = ("sym_name", "type", "index")
    SIGNATURE: ClassVar = Signature(
        properties=(
            Property("sym_name", ods.STRING),
            Property("type", _TYPE),
            Property("index", ods.I32, optional=True),
        )
    )
    traits = traits_def(SymbolOpInterface())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        spelled: dict[str, Attribute] = {"sym_name": parser.parse_symbol_name()}
        parser.parse_punctuation("=")
        spelled["type"] = parser.parse_type()
        if parser.parse_optional_punctuation("[") is not None:
            spelled["index"] = IntegerAttr(parse_unsigned(parser), i32)
            parser.parse_punctuation("]")
        properties, attributes = cls.parse_dict(parser, spelled)
        return cls.create(properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_string(" ")
        printer.print_symbol_name(_symbol(self))
        printer.print_string(" = ")
        printer.print_attribute(self.properties["type"])
        if (index := self.properties.get("index")) is not None:
            printer.print_string(f" [{cast('IntegerAttr', index).value.data}]")
        self.print_dict(printer)


def _symbol(op: Operation) -> str:
    return cast("StringAttr", op.properties["sym_name"]).data


def _make(
    cls: type[AssemblyOp],
    operands: Sequence[SSAValue],
    results: Sequence[Attribute],
    read: tuple[dict[str, Attribute], dict[str, Attribute]],
) -> AssemblyOp:
    properties, attributes = read
    return cls.create(
        operands=operands, result_types=results, properties=properties, attributes=attributes
    )


class GetGlobalOp(AssemblyOp):
    """The value of a global.

    Example:
        %0 = ttcore.get_global @weight : tensor<32x32xf32>
    """

    name = "ttcore.get_global"
    SPELLED: ClassVar = ("sym_name",)
    SIGNATURE: ClassVar = Signature(
        results=(ValueGroup("result"),), properties=properties(sym_name=ods.STRING)
    )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        read = cls.parse_dict(parser, {"sym_name": parser.parse_symbol_name()})
        parser.parse_punctuation(":")
        return cast("Self", _make(cls, [], [parser.parse_type()], read))

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_string(" ")
        printer.print_symbol_name(_symbol(self))
        self.print_dict(printer)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)


class TupleOp(AssemblyOp):
    """Tensors as one value.

    Example:
        %0 = ttcore.tuple %x, %y : tuple<tensor<4xf32>, tensor<5xf32>>
    """

    name = "ttcore.tuple"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("operands", ods.TENSOR, variadic=True),), (ValueGroup("result", _TUPLE),)
    )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        position = parser.pos
        operands = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        read = cls.parse_dict(parser, {})
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        types = type_.types.data if isinstance(type_, TupleType) else ()
        resolved = parser.resolve_operands(operands or [], types, position)
        return cast("Self", _make(cls, resolved, [type_], read))

    def verify_op(self) -> None:
        """Compare the tuple with the operands."""
        types = cast("tuple[TypeAttribute, ...]", tuple(self.operand_types))
        _check_inferred(self, TupleType(types))

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        self.print_dict(printer)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)


def _check_inferred(op: Operation, expected: Attribute) -> None:
    found = op.result_types[0]
    if found != expected:
        refuse(
            f"inferred type(s) '{text(expected)}' are incompatible with return type(s) of "
            f"operation '{text(found)}'"
        )


class GetTupleElementOp(AssemblyOp):
    """One of the tensors of a tuple.

    Example:
        %0 = ttcore.get_tuple_element %t[1] : (tuple<tensor<4xf32>, tensor<5xf32>>)
            -> tensor<5xf32>
    """

    name = "ttcore.get_tuple_element"
    SPELLED: ClassVar = ("index",)
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("operand", _TUPLE),), (ValueGroup("result"),), properties(index=ods.I32)
    )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        position = parser.pos
        operand = parser.parse_unresolved_operand()
        parser.parse_punctuation("[")
        index = IntegerAttr(parse_unsigned(parser), i32)
        parser.parse_punctuation("]")
        read = cls.parse_dict(parser, {"index": index})
        return cast("Self", _finish_call(cls, parser, operand, read, position))

    def verify_op(self) -> None:
        """Check that the tuple has the element, which is of the result's type."""
        types = cast("TupleType", self.operands[0].type).types.data
        index = cast("IntegerAttr", self.properties["index"]).value.data
        if not 0 <= index < len(types):
            refuse(f"index {index} is out of bounds of operand with size {len(types)}")
        _check_inferred(self, types[index])

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_string(" ")
        printer.print_operand(self.operands[0])
        printer.print_string(f"[{cast('IntegerAttr', self.properties['index']).value.data}]")
        self.print_dict(printer)
        printer.print_string(" : ")
        printer.print_operation_type(self)


def _finish_call(
    cls: type[AssemblyOp],
    parser: Parser,
    operand: UnresolvedOperand,
    read: tuple[dict[str, Attribute], dict[str, Attribute]],
    position: int,
) -> AssemblyOp:
    """Read the type of a function of one operand."""
    parser.parse_punctuation(":")
    type_ = parser.parse_function_type()
    resolved = parser.resolve_operands([operand], type_.inputs.data, position)
    return _make(cls, resolved, type_.outputs.data, read)


def _parse_key(parser: Parser) -> Mapping[str, Attribute]:
    parser.parse_punctuation("[")
    key = parser.parse_attribute()
    parser.parse_punctuation("]")
    return {"key": key}


def _print_key(op: AssemblyOp, printer: Printer) -> None:
    printer.print_string(" ")
    printer.print_operand(op.operands[0])
    printer.print_string("[")
    printer.print_attribute(op.properties["key"])
    printer.print_string("]")


class GetKeyValueOp(AssemblyOp):
    """What a dictionary has under a key.

    Example:
        %0 = ttcore.get_key_value %d["main_const_eval_0"] : (!ttcore.dict) -> tuple<tensor<4xf32>>
    """

    name = "ttcore.get_key_value"
    SPELLED: ClassVar = ("key",)
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("dict", _DICT),), (ValueGroup("result", _VALUE),), properties(key=_KEY)
    )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        position = parser.pos
        operand = parser.parse_unresolved_operand()
        read = cls.parse_dict(parser, dict(_parse_key(parser)))
        return cast("Self", _finish_call(cls, parser, operand, read, position))

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        _print_key(self, printer)
        self.print_dict(printer)
        printer.print_string(" : ")
        printer.print_operation_type(self)


class SetKeyValueOp(AssemblyOp):
    """Puts a value under a key of a dictionary.

    Example:
        ttcore.set_key_value %d["main_const_eval_0"] = %t : !ttcore.dict, tuple<tensor<4xf32>>
    """

    name = "ttcore.set_key_value"
    SPELLED: ClassVar = ("key",)
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("dict", _DICT), ValueGroup("value", _VALUE)), properties=properties(key=_KEY)
    )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        position = parser.pos
        operand = parser.parse_unresolved_operand()
        spelled = dict(_parse_key(parser))
        parser.parse_punctuation("=")
        value = parser.parse_unresolved_operand()
        read = cls.parse_dict(parser, spelled)
        parser.parse_punctuation(":")
        types = [parser.parse_type()]
        parser.parse_punctuation(",")
        types.append(parser.parse_type())
        resolved = parser.resolve_operands([operand, value], types, position)
        return cast("Self", _make(cls, resolved, [], read))

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        _print_key(self, printer)
        printer.print_string(" = ")
        printer.print_operand(self.operands[1])
        self.print_dict(printer)
        printer.print_string(" : ")
        printer.print_list(self.operand_types, printer.print_attribute)


VALUE_OPS = (GlobalOp, GetGlobalOp, TupleOp, GetTupleElementOp, GetKeyValueOp, SetKeyValueOp)
"""Every operation of this module."""
