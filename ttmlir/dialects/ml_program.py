"""The ml_program dialect: functions and constants as frameworks export them.

xDSL has two of its operations, with a property that MLIR calls otherwise. Left out are the
operations that order effects by tokens (`global_load_graph`, `global_store_graph`, `token`).
"""

from __future__ import annotations

from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.dialects.utils import parse_func_op_like, print_func_op_like
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, Pure, SymbolOpInterface

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.assembly import AssemblyOp, FormatOp
from ttmlir.dialects.definition.ods import (
    AttrConstraint,
    ODSOperation,
    Property,
    Signature,
    TypeConstraint,
    ValueGroup,
    refuse,
    values,
)

_ANY = TypeConstraint("any type", ods.always)
_MANY = (ValueGroup("operands", _ANY, variadic=True),)
_FUNCTION_TYPE = AttrConstraint(
    "type attribute of function type", ods.is_type, lambda attr: isinstance(attr, FunctionType)
)
_SYMBOL = AttrConstraint(
    "symbol reference attribute", lambda attr: isinstance(attr, SymbolRefAttr), ods.always
)
_VALUE = AttrConstraint("any attribute", ods.always, ods.always)
_DICTIONARIES = ods.array_attr(
    "Array of dictionary attributes", lambda item: isinstance(item, DictionaryAttr)
)
_NAME = (Property("sym_name", ods.STRING), Property("sym_visibility", ods.STRING, optional=True))


class GlobalOp(AssemblyOp):
    """A tensor or number outside of functions.

    C1: one that does not change has a value.
    """

    name = "ml_program.global"
    SPELLED: ClassVar = ("is_mutable", "sym_name", "sym_visibility", "type", "value")
    SIGNATURE: ClassVar = Signature(
        properties=(
            *_NAME,
            Property("type", ods.TYPE),
            Property("is_mutable", ods.UNIT, optional=True),
            Property("value", _VALUE, optional=True),
        )
    )
    traits = traits_def(SymbolOpInterface())

    @property
    def constant(self) -> Attribute | None:
        """The value, if no program changes it."""
        return None if "is_mutable" in self.properties else self.properties.get("value")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        properties: dict[str, Attribute] = {}
        visibility = parser.parse_optional_visibility_keyword()
        if visibility is not None:
            properties["sym_visibility"] = visibility
        if parser.parse_optional_keyword("mutable") is not None:
            properties["is_mutable"] = UnitAttr()
        properties["sym_name"] = parser.parse_symbol_name()
        if parser.parse_optional_punctuation("(") is not None:
            properties["value"] = parser.parse_attribute()
            parser.parse_punctuation(")")
        parser.parse_punctuation(":")
        properties["type"] = parser.parse_type()
        properties, attributes = cls.parse_dict(parser, properties)
        return cls.create(properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        _print_visibility(self, printer)
        printer.print_string(" mutable " if "is_mutable" in self.properties else " ")
        printer.print_symbol_name(cast("StringAttr", self.properties["sym_name"]).data)
        value = self.properties.get("value")
        if value is not None:
            printer.print_string("(")
            printer.print_attribute(value)
            printer.print_string(")")
        printer.print_string(" : ")
        printer.print_attribute(self.properties["type"])
        self.print_dict(printer)

    def verify_op(self) -> None:
        """Ask for a value (C1)."""
        if "is_mutable" not in self.properties and "value" not in self.properties:
            refuse("immutable global must have an initial value")


def _print_visibility(op: ODSOperation, printer: Printer) -> None:
    visibility = op.properties.get("sym_visibility")
    if visibility is not None:
        printer.print_string(f" {cast('StringAttr', visibility).data}")


class _LoadOp(FormatOp):
    """The value of a global, written `@global : type`."""

    FORMAT = "$global `:` type($result) attr-dict"

    SIGNATURE: ClassVar = Signature(
        results=values(result=_ANY), properties=(Property("global", _SYMBOL),)
    )
    traits = traits_def(Pure())


class GlobalLoadConstOp(_LoadOp):
    """The value of a global that does not change."""

    name = "ml_program.global_load_const"


class GlobalLoadOp(_LoadOp):
    """The value that a global has when it is read."""

    name = "ml_program.global_load"
    traits = traits_def()


class GlobalStoreOp(FormatOp):
    """A new value for a global, written `@global = value : type`."""

    name = "ml_program.global_store"
    FORMAT = "$global `=` $value `:` type($value) attr-dict"
    SIGNATURE: ClassVar = Signature(values(value=_ANY), properties=(Property("global", _SYMBOL),))


class _FunctionOp(ODSOperation):
    """A function with the text of `func.func`."""

    SIGNATURE: ClassVar = Signature(
        properties=(
            *_NAME,
            Property("function_type", _FUNCTION_TYPE),
            Property("arg_attrs", _DICTIONARIES, optional=True),
            Property("res_attrs", _DICTIONARIES, optional=True),
        ),
        regions=1,
    )
    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    @property
    def type(self) -> FunctionType:
        """The types of arguments and results."""
        return cast("FunctionType", self.properties["function_type"])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        visibility = parser.parse_optional_visibility_keyword()
        name, inputs, outputs, region, extra, arg_attrs, res_attrs = parse_func_op_like(
            parser, reserved_attr_names=("sym_name", "function_type", "sym_visibility")
        )
        given: dict[str, Attribute | None] = {
            "sym_name": StringAttr(name),
            "sym_visibility": visibility,
            "function_type": FunctionType.from_lists(inputs, outputs),
            "arg_attrs": arg_attrs,
            "res_attrs": res_attrs,
        }
        return cls.create(
            properties={name: attr for name, attr in given.items() if attr is not None},
            attributes=extra.data if extra is not None else {},
            regions=[region],
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        _print_visibility(self, printer)
        print_func_op_like(
            printer,
            cast("StringAttr", self.properties["sym_name"]),
            self.type,
            self.regions[0],
            self.attributes,
            arg_attrs=cast("ArrayAttr[DictionaryAttr] | None", self.properties.get("arg_attrs")),
            res_attrs=cast("ArrayAttr[DictionaryAttr] | None", self.properties.get("res_attrs")),
            reserved_attr_names=(),
        )

    def verify_op(self) -> None:
        """Compare the arguments of the body with those of the type."""
        blocks = self.regions[0].blocks
        if blocks and tuple(blocks[0].arg_types) != self.type.inputs.data:
            refuse("entry block arguments must have the types of the function's inputs")


class FuncOp(_FunctionOp):
    """A function."""

    name = "ml_program.func"


class SubgraphOp(_FunctionOp):
    """A function whose operations are not in order."""

    name = "ml_program.subgraph"


class _EndOp(FormatOp):
    """The end of a function: its results, written `values : types`.

    C1: the results have the types that the function tells.
    """

    FORMAT = "attr-dict (operands^ `:` type(operands))?"

    SIGNATURE: ClassVar = Signature(_MANY)
    traits = traits_def(IsTerminator(), Pure())

    def verify_op(self) -> None:
        """Compare the results with those of the function's type (C1)."""
        function = self.parent_op()
        if not isinstance(function, _FunctionOp):
            refuse("expects parent op to be one of 'ml_program.func' and 'ml_program.subgraph'")
        results = function.type.outputs.data
        name = cast("StringAttr", function.properties["sym_name"]).data
        if len(results) != len(self.operands):
            refuse(
                f"has {len(self.operands)} operands, but enclosing function (@{name}) "
                f"returns {len(results)}"
            )
        for index, (given, asked) in enumerate(zip(self.operand_types, results, strict=True)):
            if given != asked:
                refuse(
                    f"type of return operand {index} ('{ods.text(given)}') doesn't match function "
                    f"result type ('{ods.text(asked)}') in function @{name}"
                )


class ReturnOp(_EndOp):
    """The end of a function."""

    name = "ml_program.return"


class OutputOp(_EndOp):
    """The end of a subgraph."""

    name = "ml_program.output"


ML_PROGRAM = Dialect(
    "ml_program",
    [
        FuncOp,
        GlobalLoadConstOp,
        GlobalLoadOp,
        GlobalOp,
        GlobalStoreOp,
        OutputOp,
        ReturnOp,
        SubgraphOp,
    ],
)
"""The dialect, for an xDSL context."""
