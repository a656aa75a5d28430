"""The emitpy dialect of 2026: Python as operations, with the verifiers and messages of tt-mlir.

`ttmlir.target.python.emitter` writes it. What has no text of its own here stands in MLIR's generic
form, which everything can be read from.
"""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from typing import ClassVar, Self, TypeVar, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    LocationAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import (
    Attribute,
    Block,
    Dialect,
    Operation,
    ParametrizedAttribute,
    SSAValue,
    TypeAttribute,
)
from xdsl.irdl import irdl_attr_definition, traits_def
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    IsTerminator,
    NoTerminator,
    SymbolOpInterface,
    SymbolTable,
)
from xdsl.utils.exceptions import VerifyException

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.assembly import AssemblyOp, FormatOp, TextOp
from ttmlir.dialects.definition.ods import (
    AttrConstraint,
    Property,
    Signature,
    TypeConstraint,
    ValueGroup,
    classes_in,
    properties,
    refuse,
    text,
    values,
)

OpT = TypeVar("OpT", bound=AssemblyOp)

# --- Attributes and types -------------------------------------------------------------------------


@irdl_attr_definition
class OpaqueAttr(ParametrizedAttribute):
    """Text of Python: `#emitpy.opaque<"ttnn.Layout.TILE">`."""

    name = "emitpy.opaque"
    value: StringAttr


@irdl_attr_definition
class OpaqueType(ParametrizedAttribute, TypeAttribute):
    """A type that only Python knows: `!emitpy.opaque<"ttnn.Tensor">`."""

    name = "emitpy.opaque"
    value: StringAttr

    def verify(self) -> None:
        """Refuse empty text."""
        if not self.value.data:
            raise VerifyException("expected non-empty string in !emitpy.opaque type")


@irdl_attr_definition
class ClassType(ParametrizedAttribute, TypeAttribute):
    """An object of an `emitpy.class`: `!emitpy.class<"Model">`."""

    name = "emitpy.class"
    class_name: StringAttr

    def verify(self) -> None:
        """Refuse empty text."""
        if not self.class_name.data:
            raise VerifyException("expected non-empty string in !emitpy.class type")


@irdl_attr_definition
class StrType(ParametrizedAttribute, TypeAttribute):
    """A string."""

    name = "emitpy.str"


@irdl_attr_definition
class DictType(ParametrizedAttribute, TypeAttribute):
    """A dictionary; of any keys and values: `!emitpy.dict`, `!emitpy.dict<!emitpy.str, Any>`."""

    name = "emitpy.dict"
    types: ArrayAttr[Attribute]

    @classmethod
    def of(cls, *types: Attribute) -> Self:
        """The type, with those of keys and values where they are known; a unit stands for any."""
        return cls(ArrayAttr(types))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `(<key, value>)?`."""
        if parser.parse_optional_punctuation("<") is None:
            return [ArrayAttr([])]
        key = _parse_type_or_any(parser, "key")
        if parser.parse_optional_punctuation(",") is None:
            parser.raise_error("expected comma after key type")
        value = _parse_type_or_any(parser, "value")
        if parser.parse_optional_punctuation(">") is None:
            parser.raise_error("expected '>'")
        return [ArrayAttr([key, value])]

    def print_parameters(self, printer: Printer) -> None:
        """Write what `parse_parameters` reads."""
        if self.types.data:
            printer.print_string("<")
            for number, type in enumerate(self.types.data):
                printer.print_string(", " if number else "")
                if isinstance(type, UnitAttr):
                    printer.print_string("Any")
                else:
                    printer.print_attribute(type)
            printer.print_string(">")


def _parse_type_or_any(parser: AttrParser, what: str) -> Attribute:
    if parser.parse_optional_keyword("Any") is not None:
        return UnitAttr()
    type = parser.parse_optional_type()
    if type is None:
        parser.raise_error(f"expected specified {what} type or 'Any' keyword")
    return type


_VALUE_TYPES = (OpaqueType, ClassType, DictType, StrType)


def _is_value(type: Attribute) -> bool:
    return isinstance(type, _VALUE_TYPES)


EMITPY = TypeConstraint(
    "EmitPy opaque type or EmitPy class type or EmitPy dictionary type or EmitPy string type.",
    _is_value,
)
ANY = TypeConstraint("any type", lambda type: True)
DICT = TypeConstraint("EmitPy dictionary type", lambda type: isinstance(type, DictType))
CONTAINER = TypeConstraint(
    "EmitPy opaque type or EmitPy dictionary type",
    lambda type: isinstance(type, OpaqueType | DictType),
)
KEY = TypeConstraint(
    "index or EmitPy string type.",
    lambda type: isinstance(type, IndexType | StrType | OpaqueType),
)
_TYPED = (IntegerAttr, FloatAttr, DenseIntOrFPElementsAttr, StringAttr)
OPAQUE_OR_TYPED = AttrConstraint(
    "An opaque attribute or TypedAttr instance",
    lambda attr: True,
    lambda attr: isinstance(attr, (OpaqueAttr, *_TYPED)),
)
STRING = AttrConstraint(
    "An Attribute containing a string", lambda attr: isinstance(attr, StringAttr), ods.always
)
STRINGS = ods.array_attr("string array attribute", lambda item: isinstance(item, StringAttr))
METHOD_KIND = "emitpy.method_kind"
"""On a function in a class: instance, staticmethod or classmethod."""
NAME = "emitpy.name"
"""On an argument of a function, or an operation: the name of the variable."""


def opaque(value: str) -> OpaqueAttr:
    """Text of Python as an attribute."""
    return OpaqueAttr(StringAttr(value))


def opaque_type(name: str) -> OpaqueType:
    """A type of Python."""
    return OpaqueType(StringAttr(name))


def _string(op: Operation, name: str) -> str:
    attr = op.properties.get(name)
    return attr.data if isinstance(attr, StringAttr) else ""


def _strings(op: Operation, name: str) -> list[str] | None:
    attr = op.properties.get(name)
    if attr is None:
        return None
    return [each.data for each in cast("ArrayAttr[StringAttr]", attr)]


# --- Calls and values -----------------------------------------------------------------------------


_CALL = "(`(`^ operands `)`)? attr-dict `:` functional-type(operands, results)"
"""The syntax after the name of what is called; parentheses may be left out."""


class CallOpaqueOp(FormatOp):
    """A call; `args` are in order, an `index` stands for the operand with that number.

    `keyword_args` are the names of the arguments, empty ones where they are positional.

    Example:
        %1 = emitpy.call_opaque "ttnn.abs"(%0) {args = [0 : index], keyword_args = [""]}
            : (!emitpy.opaque<"ttnn.Tensor">) -> !emitpy.opaque<"ttnn.Tensor">
    """

    name = "emitpy.call_opaque"
    FORMAT = f"$callee {_CALL}"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("operands", ANY, variadic=True),),
        (ValueGroup("results", ANY, variadic=True),),
        (
            Property("callee", ods.STRING),
            Property("args", ods.ARRAY, optional=True),
            Property("keyword_args", ods.ARRAY, optional=True),
        ),
    )

    @classmethod
    def make(
        cls,
        callee: str,
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        *,
        arguments: Sequence[tuple[str, Attribute]] | None = None,
        location: LocationAttr,
    ) -> Self:
        """Make the operation; `arguments` are names and values."""
        properties: dict[str, Attribute] = {"callee": StringAttr(callee)}
        if arguments is not None:
            properties["args"] = ArrayAttr([value for _, value in arguments])
            properties["keyword_args"] = ArrayAttr([StringAttr(name) for name, _ in arguments])
        return cls.create(
            operands=operands, result_types=result_types, properties=properties, location=location
        )

    @property
    def callee(self) -> str:
        """What is called, in Python."""
        return _string(self, "callee")

    def verify_op(self) -> None:
        """Check the callee and the arguments."""
        if not _string(self, "callee"):
            refuse("callee must not be empty")
        args, names = self.properties.get("args"), self.properties.get("keyword_args")
        if (args is None) != (names is None):
            refuse("args and keyword_args must be specified together")
        if args is None or names is None:
            return
        items = cast("ArrayAttr[Attribute]", args).data
        keywords = cast("ArrayAttr[Attribute]", names).data
        if len(items) != len(keywords):
            refuse(
                "args and keyword_args must have the same size (empty strings are allowed), but "
                f"got args size = {len(items)} and keyword_args size = {len(keywords)}"
            )
        for item in items:
            number = cast("IntegerAttr", item)
            if isinstance(item, IntegerAttr) and isinstance(number.type, IndexType):
                if not 0 <= number.value.data < len(self.operands):
                    refuse("index argument is out of range")


class CreateDictOp(FormatOp):
    """A dictionary of a literal, or of keys and values in turn.

    Example:
        %0 = emitpy.create_dict "cache" {literal_expr = "{}"} : () -> !emitpy.dict
    """

    name = "emitpy.create_dict"
    FORMAT = f"$dict_name {_CALL}"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("items", ANY, variadic=True),),
        values(result=DICT),
        (
            Property("dict_name", ods.STRING),
            Property("literal_expr", ods.STRING, optional=True),
        ),
    )

    def verify_op(self) -> None:
        """Check the name, and that there is a literal or items."""
        if not _string(self, "dict_name").isidentifier():
            refuse("dictionary name must be a valid Python identifier")
        literal = self.properties.get("literal_expr")
        if literal is not None:
            if not _string(self, "literal_expr"):
                refuse("literal_expr must not be empty")
            if self.operands:
                refuse(
                    "cannot have both literal_expr and items operands; use either literal_expr for "
                    "Python dict literals or items for key-value pairs"
                )
            return
        if not self.operands:
            refuse(
                "cannot have both literal_expr and items empty; for an empty dict, use "
                'literal_expr = "{}" instead'
            )
        if len(self.operands) % 2:
            refuse("items must be alternating key-value pairs (even count required)")
        for key in self.operands[::2]:
            if not KEY.holds(key.type):
                refuse(f"dictionary keys must be index or string type, but got '{text(key.type)}'")


class SubscriptOp(FormatOp):
    """An element of a list or a dictionary.

    Example:
        %1 = emitpy.subscript %list[%i]
            : (!emitpy.opaque<"[ttnn.Tensor]">, index) -> !emitpy.opaque<"ttnn.Tensor">
    """

    name = "emitpy.subscript"
    FORMAT = "$value `[` $index `]` attr-dict `:` functional-type(operands, results)"
    SIGNATURE: ClassVar = Signature(values(value=CONTAINER, index=KEY), values(result=EMITPY))

    def verify_op(self) -> None:
        """Strings are keys of dictionaries only."""
        value, index = (operand.type for operand in self.operands)
        if isinstance(index, StrType) and not isinstance(value, DictType):
            refuse(f"cannot use string index on non-dict type '{text(value)}'")


class AssignOp(AssemblyOp):
    """A value under another name, or `target = value` for a variable that is there.

    Example:
        %1 = emitpy.assign %0 : (!emitpy.opaque<"a">) -> !emitpy.opaque<"a">
        emitpy.assign %1 = %0 : (!emitpy.opaque<"a">, !emitpy.opaque<"a">)
    """

    name = "emitpy.assign"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("operands", ANY, variadic=True),), (ValueGroup("result", ANY, optional=True),)
    )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `value` or `target = value`, then the types."""
        operands = [parser.parse_unresolved_operand()]
        if parser.parse_optional_punctuation("=") is not None:
            operands.append(parser.parse_unresolved_operand())
        properties, attributes = cls.parse_dict(parser, {})
        parser.parse_punctuation(":")
        position = parser.pos
        results: Sequence[Attribute] = ()
        if len(operands) == 1:
            function = parser.parse_function_type()
            types, results = function.inputs.data, function.outputs.data
        else:
            with parser.in_parens():
                types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        return cls.create(
            operands=parser.resolve_operands(operands, types, position),
            result_types=results,
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Write what `parse` reads."""
        printer.print_string(" ")
        for number, operand in enumerate(self.operands):
            printer.print_string(" = " if number else "")
            printer.print_operand(operand)
        self.print_dict(printer)
        printer.print_string(" : ")
        if self.results:
            printer.print_operation_type(self)
        else:
            with printer.in_parens():
                printer.print_list(self.operand_types, printer.print_attribute)

    def verify_op(self) -> None:
        """Compare the types."""
        if len(self.operands) == 2 and not self.results:
            target, value = (operand.type for operand in self.operands)
            if target != value:
                refuse(
                    f"target type ('{text(target)}') does not match value type ('{text(value)}')"
                )
        elif len(self.operands) != 1 or not self.results:
            refuse("expected '%target = %value'")


class GetAttrOp(FormatOp):
    """`object.attribute`.

    Example:
        %1 = emitpy.get_attr "weight"(%0) : (!emitpy.class<"M">) -> !emitpy.opaque<"ttnn.Tensor">
    """

    name = "emitpy.get_attr"
    FORMAT = f"$attr_name {_CALL}"
    SIGNATURE: ClassVar = Signature(
        values(object=EMITPY), values(result=ANY), properties(attr_name=ods.STRING)
    )

    def verify_op(self) -> None:
        """The attribute is a name of Python."""
        check_identifier(_string(self, "attr_name"))


class SetAttrOp(FormatOp):
    """`object.attribute = value`.

    Example:
        emitpy.set_attr "weight"(%0, %1) : (!emitpy.class<"M">, !emitpy.opaque<"T">) -> ()
    """

    name = "emitpy.set_attr"
    FORMAT = f"$attr_name {_CALL}"
    SIGNATURE: ClassVar = Signature(
        values(object=EMITPY, value=ANY), properties=properties(attr_name=ods.STRING)
    )

    def verify_op(self) -> None:
        """The attribute is a name of Python."""
        check_identifier(_string(self, "attr_name"))


def check_identifier(name: str) -> None:
    """Refuse what is not the name of a variable."""
    if not name:
        refuse("variable name must not be empty")
    if keyword.iskeyword(name):
        refuse("variable name must not be a keyword")
    if not (name[0].isascii() and (name[0].isalpha() or name[0] == "_")):
        refuse("variable name must start with a letter or '_'")
    if not (name.isascii() and name.isidentifier()):
        refuse("variable name may only contain alphanumeric characters and '_'")


class ConstantOp(AssemblyOp):
    """A constant.

    Example:
        %0 = "emitpy.constant"() <{value = #emitpy.opaque<"None">}> : () -> !emitpy.opaque<"None">
    """

    name = "emitpy.constant"
    SIGNATURE: ClassVar = Signature(
        results=values(result=ANY), properties=properties(value=OPAQUE_OR_TYPED)
    )

    @classmethod
    def make(cls, value: Attribute, result_type: Attribute, *, location: LocationAttr) -> Self:
        """Make the operation."""
        return cls.create(
            result_types=[result_type], properties={"value": value}, location=location
        )

    def verify_op(self) -> None:
        """Compare the type of the value with that of the result."""
        value, result = self.properties["value"], self.results[0].type
        if isinstance(value, OpaqueAttr):
            if not value.value.data:
                refuse("value must not be empty")
            return
        type = getattr(value, "type", None)
        if type != result:
            refuse(
                "requires attribute to either be an #emitpy.opaque attribute or it's type "
                f"({'none' if type is None else chr(39) + text(type) + chr(39)}) to match the "
                f"op's result type ('{text(result)}')"
            )


class LiteralOp(TextOp):
    """Text of Python with a type.

    Example:
        %0 = emitpy.literal "0" : index
    """

    name = "emitpy.literal"
    SIGNATURE: ClassVar = Signature(
        results=values(result=ANY), properties=properties(value=ods.STRING)
    )

    @classmethod
    def make(cls, value: str, result_type: Attribute, *, location: LocationAttr) -> Self:
        """Make the operation."""
        return cls.create(
            result_types=[result_type],
            properties={"value": StringAttr(value)},
            location=location,
        )


def pieces_of(value: str) -> list[str]:
    """The text between placeholders `{}`; `{{` stands for a brace."""
    found: list[str] = []
    piece, rest = "", value
    while rest:
        if rest.startswith("{{"):
            piece, rest = piece + "{", rest[2:]
        elif rest.startswith("{}"):
            found.append(piece)
            piece, rest = "", rest[2:]
        elif rest == "{":
            refuse("expected '}' after unescaped '{' at end of string")
        elif rest.startswith("{"):
            refuse("expected '}' after unescaped '{'")
        else:
            piece, rest = piece + rest[0], rest[1:]
    return [*found, piece]


def _check_placeholders(value: str, count: int, where: str) -> None:
    if count and len(pieces_of(value)) - 1 != count:
        refuse(f"requires operands for each placeholder in the {where} string")


class VerbatimOp(FormatOp):
    """Lines of Python text; each `{}` in it is an operand where there are operands.

    Example:
        emitpy.verbatim "print({})" args %0 : !emitpy.opaque<"ttnn.Tensor">
    """

    name = "emitpy.verbatim"
    FORMAT = "$value (`args` operands^)? attr-dict (`:` type(operands)^)?"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("fmtArgs", ANY, variadic=True),), properties=properties(value=ods.STRING)
    )

    def verify_op(self) -> None:
        """Check that there is an operand for each placeholder."""
        _check_placeholders(_string(self, "value"), len(self.operands), "format")


# --- Globals --------------------------------------------------------------------------------------


def _symbol(op: Operation, name: str) -> str:
    return cast("SymbolRefAttr", op.properties[name]).root_reference.data


def _global_of(op: Operation) -> Operation:
    """The global variable that an operation names."""
    symbol = _symbol(op, "name")
    scope = op.parent_op()
    while scope is not None:
        for block in scope.regions[0].blocks if scope.regions else ():
            for each in block.ops:
                if isinstance(each, GlobalOp) and _string(each, "sym_name") == symbol:
                    return each
        scope = scope.parent_op()
    refuse(f"'{symbol}' does not reference a valid emitpy.global")


class GlobalOp(AssemblyOp):
    """A global variable.

    Example:
        emitpy.global @cache = #emitpy.opaque<"{}">
    """

    name = "emitpy.global"
    SPELLED = ("sym_name", "initial_value")
    SIGNATURE: ClassVar = Signature(
        properties=properties(sym_name=ods.STRING, initial_value=OPAQUE_OR_TYPED)
    )
    traits = traits_def(SymbolOpInterface())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `@name = value attr-dict`."""
        name: Attribute = parser.parse_symbol_name()
        if parser.parse_optional_punctuation("=") is None:
            parser.raise_error("expected '=' after symbol name")
        value = parser.parse_optional_attribute()
        if value is None:
            parser.raise_error("expected initial value for global variable")
        properties, attributes = cls.parse_dict(parser, {"sym_name": name, "initial_value": value})
        return cls.create(properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        """Write what `parse` reads."""
        printer.print_string(" ")
        printer.print_symbol_name(_string(self, "sym_name"))
        printer.print_string(" = ")
        printer.print_attribute(self.properties["initial_value"])
        self.print_dict(printer)

    def verify_op(self) -> None:
        """Check the name."""
        check_identifier(_string(self, "sym_name"))


class GlobalStatementOp(FormatOp):
    """`global name`: the value of a global variable in a function that assigns it.

    Example:
        %0 = emitpy.global_statement @cache : !emitpy.dict
    """

    name = "emitpy.global_statement"
    FORMAT = "$name `:` type($result) attr-dict"
    SIGNATURE: ClassVar = Signature(
        results=values(result=ANY), properties=properties(name=ods.FLAT_SYMBOL)
    )

    def verify_op(self) -> None:
        """Compare the type with the global's, where that has one."""
        value = _global_of(self).properties["initial_value"]
        type, result = getattr(value, "type", None), self.results[0].type
        if type is not None and type != result:
            refuse(f"result type ('{text(result)}') does not match global's type ('{text(type)}')")


class AssignGlobalOp(FormatOp):
    """`name = value` of a global variable.

    Example:
        emitpy.assign_global @cache = %0 : !emitpy.dict
    """

    name = "emitpy.assign_global"
    FORMAT = "$name `=` $value `:` type($value) attr-dict"
    SIGNATURE: ClassVar = Signature(values(value=ANY), properties=properties(name=ods.FLAT_SYMBOL))

    def verify_op(self) -> None:
        """Compare the type with the global's, where that has one."""
        value = _global_of(self).properties["initial_value"]
        type, given = getattr(value, "type", None), self.operands[0].type
        if type is not None and type != given:
            refuse(f"value type ('{text(given)}') does not match global's type ('{text(type)}')")


# --- Structure ------------------------------------------------------------------------------------


class ImportOp(AssemblyOp):
    """`import a`, `import a as b`, `from a import b as c, d`, `from a import *`.

    Example:
        emitpy.import import "ttnn"
        emitpy.import from "math" import "sqrt" as "root", "pi"
    """

    name = "emitpy.import"
    SPELLED = ("module_name", "module_alias", "members_to_import", "member_aliases", "import_all")
    SIGNATURE: ClassVar = Signature(
        properties=(
            Property("module_name", STRING),
            Property("module_alias", ods.STRING, optional=True),
            Property("members_to_import", STRINGS, optional=True),
            Property("member_aliases", STRINGS, optional=True),
            Property("import_all", ods.UNIT, optional=True),
        )
    )

    @classmethod
    def make(cls, module: str, *, location: LocationAttr) -> Self:
        """`import module`."""
        return cls.create(properties={"module_name": StringAttr(module)}, location=location)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read an import as Python writes it, with names in quotes."""
        is_from = parser.parse_optional_keyword("from") is not None
        if not is_from:
            parser.parse_optional_keyword("import")
        spelled: dict[str, Attribute] = {"module_name": _parse_name(parser, "module name")}
        if not is_from:
            if parser.parse_optional_keyword("as") is not None:
                spelled["module_alias"] = _parse_name(parser, "module alias")
        elif parser.parse_optional_keyword("import") is None:
            parser.raise_error("expected string literal 'import'")
        elif parser.parse_optional_characters("*") is not None:
            spelled["import_all"] = UnitAttr()
        else:
            members, aliases = [_parse_name(parser, "member name")], [_parse_alias(parser)]
            while parser.parse_optional_punctuation(",") is not None:
                members.append(_parse_name(parser, "member name"))
                aliases.append(_parse_alias(parser))
            spelled["members_to_import"] = ArrayAttr(members)
            if any(alias.data for alias in aliases):
                spelled["member_aliases"] = ArrayAttr(aliases)
        properties, attributes = cls.parse_dict(parser, spelled)
        return cls.create(properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        """Write what `parse` reads."""
        found = _python_import(self, '"')
        printer.print_string(" " + found)
        self.print_dict(printer)

    def python(self) -> str:
        """The statement."""
        return _python_import(self, "")

    def verify_op(self) -> None:
        """Check what stands together."""
        alias, is_all = self.properties.get("module_alias"), "import_all" in self.properties
        members, aliases = _strings(self, "members_to_import"), _strings(self, "member_aliases")
        if not _string(self, "module_name"):
            refuse("module name attribute must be non-empty")
        for other, star, named in (
            (alias, "cannot specify module alias with *", ""),
            (
                members,
                "cannot specify members to import with *",
                "cannot specify members to import with module alias",
            ),
            (
                aliases,
                "cannot specify members' aliases with *",
                "cannot specify members' aliases with module alias",
            ),
        ):
            if other is not None and is_all:
                refuse(star)
            if other is not None and named and alias is not None:
                refuse(named)
        if members is not None and not members:
            refuse("members to import must not be empty array")
        if members is not None and not all(members):
            refuse("imported member name must be a non-empty string")
        if aliases is not None and members is None:
            refuse("cannot specify member aliases without specifying members to import")
        if aliases is not None and not aliases:
            refuse("member aliases must not be empty array")
        if aliases is not None and members is not None and len(aliases) != len(members):
            refuse(
                "the number of members' aliases must be equal to the number of members to import; "
                "empty string is considered valid member alias"
            )


def _parse_name(parser: Parser, what: str) -> StringAttr:
    name = parser.parse_optional_str_literal()
    if name is None:
        parser.raise_error(f"expected string attribute for {what}")
    return StringAttr(name)


def _parse_alias(parser: Parser) -> StringAttr:
    if parser.parse_optional_keyword("as") is None:
        return StringAttr("")
    return _parse_name(parser, "alias")


def _python_import(op: ImportOp, quote: str) -> str:
    module = f"{quote}{_string(op, 'module_name')}{quote}"
    members = _strings(op, "members_to_import")
    if "import_all" in op.properties:
        return f"from {module} import *"
    if members is not None:
        aliases = _strings(op, "member_aliases") or [""] * len(members)
        names = (
            f"{quote}{member}{quote}" + (f" as {quote}{alias}{quote}" if alias else "")
            for member, alias in zip(members, aliases, strict=True)
        )
        return f"from {module} import {', '.join(names)}"
    alias = _string(op, "module_alias")
    return f"import {module}" + (f" as {quote}{alias}{quote}" if alias else "")


def _parse_body(cls: type[OpT], parser: Parser, spelled: dict[str, Attribute]) -> OpT:
    """Read `(attributes attr-dict)? region`."""
    position = parser.pos
    given = parser.parse_optional_attr_dict_with_keyword()
    attributes = {} if given is None else dict(given.data)
    properties, attributes = cls.split_dict(parser, spelled, attributes, position)
    region = parser.parse_region()
    if not region.blocks:
        region.add_block(Block())
    return cls.create(properties=properties, attributes=attributes, regions=[region])


def _print_body(printer: Printer, op: AssemblyOp) -> None:
    """Write what `_parse_body` reads."""
    if op.attributes:
        printer.print_string(" attributes")
        op.print_dict(printer)
    printer.print_string(" ")
    printer.print_region(op.regions[0], print_entry_block_args=False, print_empty_block=False)


class FileOp(AssemblyOp):
    """A file of its own.

    Example:
        emitpy.file "main" {
          emitpy.import import "ttnn"
        }
    """

    name = "emitpy.file"
    SPELLED = ("id",)
    SIGNATURE: ClassVar = Signature(properties=properties(id=ods.STRING), regions=1)
    traits = traits_def(SymbolTable(), IsolatedFromAbove(), NoTerminator())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `"id" attr-dict region`."""
        name: Attribute = StringAttr(parser.parse_str_literal())
        return _parse_body(cls, parser, {"id": name})

    def print(self, printer: Printer) -> None:
        """Write what `parse` reads."""
        printer.print_string(" ")
        printer.print_attribute(self.properties["id"])
        _print_body(printer, self)


class ClassOp(AssemblyOp):
    """A class; its methods are functions.

    Example:
        emitpy.class @Model {
          func.func @run(%self: !emitpy.class<"Model"> {emitpy.name = "self"}) {
            return
          }
        }
    """

    name = "emitpy.class"
    SPELLED = ("sym_name", "base_classes")
    SIGNATURE: ClassVar = Signature(
        properties=(
            Property("sym_name", ods.STRING),
            Property("base_classes", ods.ARRAY, optional=True),
        ),
        regions=1,
    )
    traits = traits_def(SymbolOpInterface(), SymbolTable(), NoTerminator())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `@name (bases)? attr-dict region`."""
        spelled: dict[str, Attribute] = {"sym_name": parser.parse_symbol_name()}
        if parser.parse_optional_punctuation("(") is not None:
            bases = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_attribute)
            parser.parse_punctuation(")")
            spelled["base_classes"] = ArrayAttr(bases)
        return _parse_body(cls, parser, spelled)

    def print(self, printer: Printer) -> None:
        """Write what `parse` reads."""
        printer.print_string(" ")
        printer.print_symbol_name(_string(self, "sym_name"))
        bases = self.bases()
        if bases:
            with printer.in_parens():
                printer.print_list(bases, printer.print_attribute)
        _print_body(printer, self)

    def bases(self) -> tuple[Attribute, ...]:
        """The classes that it extends."""
        bases = self.properties.get("base_classes")
        return () if bases is None else cast("ArrayAttr[Attribute]", bases).data

    def verify_op(self) -> None:
        """Check the bases and the methods."""
        check_identifier(_string(self, "sym_name"))
        if not all(isinstance(base, SymbolRefAttr | OpaqueAttr) for base in self.bases()):
            refuse("base_classes must be symbol refs or #emitpy.opaque")
        initializers = 0
        for op in self.regions[0].blocks[0].ops if self.regions[0].blocks else ():
            if op.name.partition(".")[0] not in ("emitpy", "func"):
                refuse("only emitpy or func operations are allowed in a class body")
            if isinstance(op, FuncOp):
                initializers += op.sym_name.data == "__init__"
                self._check_method(op)
        if initializers > 1:
            refuse("class body must have at most one __init__")

    def _check_method(self, op: FuncOp) -> None:
        _check_kind(op)
        kind = method_kind(op)
        if kind == "staticmethod":
            return
        if not op.function_type.inputs.data:
            refuse("instance and class methods must take a receiver argument")
        receiver = "self" if kind == "instance" else "cls"
        if argument_name(op, 0) not in (None, receiver):
            refuse(f"first argument must be named '{receiver}' via emitpy.name")
        type = op.function_type.inputs.data[0]
        if kind != "instance":
            return
        if not isinstance(type, ClassType):
            refuse("self argument must have !emitpy.class type")
        if type.class_name.data != _string(self, "sym_name"):
            refuse(f"self type must match class name '{_string(self, 'sym_name')}'")


def _check_kind(op: FuncOp) -> None:
    kind = method_kind(op)
    if kind not in ("instance", "staticmethod", "classmethod"):
        refuse("emitpy.method_kind must be one of 'instance', 'staticmethod', or 'classmethod'")
    if op.sym_name.data == "__init__":
        if kind != "instance":
            refuse("__init__ must be an instance method")
        if op.function_type.outputs.data:
            refuse("__init__ must not return a value")


def method_kind(op: Operation) -> str:
    """What kind of method a function in a class is."""
    kind = op.attributes.get(METHOD_KIND)
    if kind is None:
        return "instance"
    return kind.data if isinstance(kind, StringAttr) else ""


def argument_name(op: FuncOp, number: int) -> str | None:
    """The name that an argument of a function is given, if any."""
    attrs = op.arg_attrs
    name = attrs.data[number].data.get(NAME) if attrs is not None else None
    return name.data if isinstance(name, StringAttr) else None


class ExpressionOp(FormatOp):
    """Operations that are written as one expression.

    Example:
        %1 = emitpy.expression(%0) : (!emitpy.opaque<"a">) -> !emitpy.opaque<"a"> {
        ^bb0(%x: !emitpy.opaque<"a">):
          %2 = emitpy.call_opaque "f"(%x) : (!emitpy.opaque<"a">) -> !emitpy.opaque<"a">
          emitpy.yield %2 : !emitpy.opaque<"a">
        }
    """

    name = "emitpy.expression"
    FORMAT = "`(` operands `)` attr-dict `:` functional-type(operands, results) region"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("args", ANY, variadic=True),),
        values(result=ANY),
        (Property("do_not_inline", ods.UNIT, optional=True),),
        regions=1,
    )

    def verify_op(self) -> None:
        """Check that the body is one expression."""
        block = self.regions[0].first_block
        end = None if block is None else block.last_op
        if block is None or end is None or not end.operands:
            refuse("must yield a value at termination")
        [value] = end.operands
        owner = value.owner
        if not isinstance(owner, Operation):
            refuse("yielded value has no defining op")
        if owner.parent_op() is not self:
            refuse("yielded value not defined within expression")
        if value.type != self.results[0].type:
            refuse("requires yielded type to match return type")
        for op in block.ops:
            if op is not end:
                _check_part(op)


def _check_part(op: Operation) -> None:
    if op.name.partition(".")[0] != "emitpy":
        refuse("contains an unsupported operation")
    if len(op.results) != 1:
        refuse("requires exactly one result for each operation")
    if not op.results[0].first_use:
        refuse("contains an unused operation")
    if isinstance(op, CallOpaqueOp) and not op.results[0].has_one_use():
        refuse("requires exactly one use for operations with side effects")


class _TerminatorOp(FormatOp):
    """The end of a block, with the values that it gives."""

    FORMAT = "attr-dict (operands^ `:` type(operands))?"

    SIGNATURE: ClassVar = Signature((ValueGroup("operands", ANY, variadic=True),))
    traits = traits_def(IsTerminator())
    PARENTS: ClassVar[tuple[str, ...]]

    def verify_op(self) -> None:
        """Check the enclosing operation."""
        parent = self.parent_op()
        if parent is None or parent.name not in self.PARENTS:
            if len(self.PARENTS) == 1:
                refuse(f"expects parent op '{self.PARENTS[0]}'")
            refuse(f"expects parent op to be one of '{', '.join(self.PARENTS)}'")


class YieldOp(_TerminatorOp):
    """The end of an expression, or of a branch."""

    name = "emitpy.yield"
    PARENTS = ("emitpy.expression", "emitpy.if")


class WhileYieldOp(_TerminatorOp):
    """The end of an iteration: what the next one starts with."""

    name = "emitpy.while_yield"
    PARENTS = ("emitpy.while",)


class NestedFuncReturnOp(_TerminatorOp):
    """The end of a nested function."""

    name = "emitpy.nested_func_return"
    PARENTS = ("emitpy.nested_func",)


class IfOp(AssemblyOp):
    """`if condition: ... else: ...`; each `{}` of the condition is an operand."""

    name = "emitpy.if"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("args", ANY, variadic=True),),
        properties=properties(condition=ods.STRING),
        regions=2,
    )

    def verify_op(self) -> None:
        """Check the condition and the branches."""
        if not _string(self, "condition"):
            refuse("condition string must not be empty")
        _check_placeholders(_string(self, "condition"), len(self.operands), "condition")
        then, otherwise = self.regions
        if not then.blocks or then.blocks[0].is_empty:
            refuse("then block must contain at least one operation")
        if len(otherwise.blocks) > 1:
            refuse("else region must have exactly one block")
        if otherwise.blocks and otherwise.blocks[0].is_empty:
            refuse("else block must contain at least one operation if present")


class WhileOp(AssemblyOp):
    """A loop: `while condition:`, or `for _ in range(trip_count):`.

    The last operands, as many as results, are carried: the arguments of the body are the variables
    that hold them, its end assigns them. Placeholders of the condition are the first operands, then
    what is carried.
    """

    name = "emitpy.while"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("operands", ANY, variadic=True),),
        (ValueGroup("results", ANY, variadic=True),),
        (
            Property("condition", ods.STRING, optional=True),
            Property("trip_count", ods.I64, optional=True),
        ),
        regions=1,
    )

    def inits(self) -> Sequence[SSAValue]:
        """What the loop starts with."""
        return self.operands[len(self.operands) - len(self.results) :]

    def verify_op(self) -> None:
        """Check the condition and what is carried."""
        condition, trips = self.properties.get("condition"), self.properties.get("trip_count")
        others = len(self.operands) - len(self.results)
        if (condition is None) == (trips is None):
            refuse("requires exactly one of `condition` or `trip_count`")
        if condition is None and others > 0:
            refuse("condition arguments require a condition string")
        if condition is not None:
            if not _string(self, "condition"):
                refuse("condition string must not be empty")
            pieces_of(_string(self, "condition"))
        block = self.regions[0].first_block
        if block is None:
            refuse("region #0 ('bodyRegion') failed to verify constraint: region with 1 blocks")
        end = block.last_op
        yielded = end.operands if isinstance(end, WhileYieldOp) else ()
        for what, found in (
            ("body block arguments", block.args),
            ("results", self.results),
            ("yielded values", yielded),
        ):
            if len(found) != len(self.results):
                refuse(
                    f"requires {what} to match its loop-carried values, got {len(found)} and "
                    f"{len(self.results)}"
                )
            for number, (value, init) in enumerate(zip(found, self.inits(), strict=True)):
                if value.type != init.type:
                    refuse(
                        f"{what} #{number} has type '{text(value.type)}' but init #{number} has "
                        f"type '{text(init.type)}'"
                    )


class NestedFuncOp(AssemblyOp):
    """A function within a function; its result is the function."""

    name = "emitpy.nested_func"
    SIGNATURE: ClassVar = Signature(results=values(result=ANY), regions=1)


EmitPy = Dialect(
    "emitpy",
    classes_in(globals(), Operation),
    [OpaqueAttr, OpaqueType, ClassType, DictType, StrType],
)
"""The dialect, for an xDSL context."""
