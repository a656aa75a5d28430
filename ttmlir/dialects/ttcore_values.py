"""Operations of `ttcore` for what programs in source form keep: globals, tuples, dictionaries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import IntegerAttr, StringAttr, TupleType, i32
from xdsl.ir import Attribute, SSAValue, TypeAttribute
from xdsl.irdl import irdl_attr_definition, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure, SymbolOpInterface

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.assembly import (
    AssemblyOp,
    FormatOp,
    number,
    parse_operands,
)
from ttmlir.dialects.definition.ods import (
    Property,
    Signature,
    TypeConstraint,
    ValueGroup,
    properties,
    refuse,
    text,
    values,
)
from ttmlir.dialects.definition.syntax import PlainType


@irdl_attr_definition
class DictType(PlainType):
    """Values by keys, between calls: `!ttcore.dict`."""

    name = "ttcore.dict"


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
_INDEX = ods.AttrConstraint(
    "32-bit signless integer attribute whose value is non-negative",
    ods.I32.storage,
    lambda attr: ods.I32.holds(attr) and cast("IntegerAttr", attr).value.data >= 0,
)


def tuple_of(types: Iterable[Attribute]) -> TupleType:
    """The type of values of these types."""
    return TupleType(cast("tuple[TypeAttribute, ...]", tuple(types)))


class GlobalOp(FormatOp):
    """A value that all functions of a module share, and the number of the argument it is.

    Example:
        ttcore.global @weight = tensor<32x32xf32> [0]
    """

    name = "ttcore.global"
    FORMAT = "$sym_name `=` $type (` ` `[` $index^ `]`)? attr-dict"
    SPELLINGS: ClassVar = {"index": number(i32, allow_negative=False)}
    SIGNATURE: ClassVar = Signature(
        properties=(
            Property("sym_name", ods.STRING),
            Property("type", ods.TYPE),
            Property("index", ods.I32, optional=True),
        )
    )
    traits = traits_def(SymbolOpInterface())


class GetGlobalOp(FormatOp):
    """The value of a global.

    Example:
        %0 = ttcore.get_global @weight : tensor<32x32xf32>
    """

    name = "ttcore.get_global"
    FORMAT = "$sym_name attr-dict `:` type($result)"
    SIGNATURE: ClassVar = Signature(
        results=(ValueGroup("result"),), properties=properties(sym_name=ods.STRING)
    )


class TupleOp(AssemblyOp):
    """The operands as one value.

    Example:
        %2 = ttcore.tuple %0, %1 : tuple<tensor<32x32xbf16>, tensor<1x32xf32>>
    """

    name = "ttcore.tuple"
    SIGNATURE: ClassVar = Signature((ValueGroup("operands", variadic=True),), values(result=_TUPLE))
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


class GetTupleElementOp(FormatOp):
    """One part of a tuple.

    Example:
        %0 = ttcore.get_tuple_element %arg0[0]
            : (tuple<tensor<32x32xbf16>, tensor<1x32xf32>>) -> tensor<32x32xbf16>
    """

    name = "ttcore.get_tuple_element"
    SPELLINGS: ClassVar = {"index": number(i32)}
    FORMAT = "$operand `[` $index `]` attr-dict `:` functional-type(operands, results)"
    SIGNATURE: ClassVar = Signature(
        values(operand=_TUPLE), (ValueGroup("result"),), properties(index=_INDEX)
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


class GetKeyValueOp(FormatOp):
    """What a dictionary has under a key.

    Example:
        %0 = ttcore.get_key_value %d["main_const_eval_0"] : (!ttcore.dict) -> tuple<tensor<4xf32>>
    """

    name = "ttcore.get_key_value"
    FORMAT = "$dict `[` $key `]` attr-dict `:` functional-type(operands, results)"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("dict", _DICT),), (ValueGroup("result", _VALUE),), properties(key=_KEY)
    )


class SetKeyValueOp(FormatOp):
    """Puts a value under a key of a dictionary.

    Example:
        ttcore.set_key_value %d["main_const_eval_0"] = %t : !ttcore.dict, tuple<tensor<4xf32>>
    """

    name = "ttcore.set_key_value"
    FORMAT = "$dict `[` $key `]` `=` $value attr-dict `:` type($dict) `,` type($value)"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("dict", _DICT), ValueGroup("value", _VALUE)), properties=properties(key=_KEY)
    )


VALUE_OPS = (GlobalOp, GetGlobalOp, TupleOp, GetTupleElementOp, GetKeyValueOp, SetKeyValueOp)
"""Every operation of this module."""
