"""emitc operations of C++ statements and declarations: variables, control flow, functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Self, cast

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    i1,
)
from xdsl.dialects.emitc import EmitC_ArrayType, EmitC_LValueType, EmitC_OpaqueAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.irdl import traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, SymbolOpInterface

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.assembly import AssemblyOp, FormatOp, parse_operands
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
from ttmlir.dialects.emitc.expressions import (
    EMITC,
    I1,
    INTEGER,
    STORED,
    is_integer_like,
    is_supported,
    lookup_function,
    lookup_global,
    value_type,
)
from ttmlir.mlir.core_prefix import note_late_kernels
from ttmlir.mlir.printing import show_op
from ttmlir.mlir.upstream_syntax import parse_function, print_function

if TYPE_CHECKING:
    from xdsl.ir import TypeAttribute

    from ttmlir.mlir.attribute_reader import AttributeReader
    from ttmlir.mlir.upstream_syntax import UpstreamPrinter

_TYPED = (IntegerAttr, FloatAttr, DenseIntOrFPElementsAttr, DenseResourceAttr, StringAttr)
OPAQUE_OR_TYPED = AttrConstraint(
    "An opaque attribute or TypedAttr instance",
    lambda attr: True,
    lambda attr: isinstance(attr, (EmitC_OpaqueAttr, *_TYPED)),
)
FUNCTION_TYPE = AttrConstraint(
    "type attribute of function type",
    lambda attr: True,
    lambda attr: isinstance(attr, FunctionType),
)


def _value_type(attr: Attribute) -> Attribute:
    """The type of a typed attribute."""
    typed = cast("IntegerAttr | FloatAttr", attr)
    return typed.type


class _InitializedOp(AssemblyOp):
    """A value written as text or as a typed attribute."""

    SIGNATURE: ClassVar = Signature(
        results=values(result=STORED), properties=properties(value=OPAQUE_OR_TYPED)
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
        if isinstance(value, EmitC_OpaqueAttr):
            return
        if isinstance(value, StringAttr):
            refuse("string attributes are not supported, use #emitc.opaque instead")
        held = value_type(result)
        is_size = isinstance(_value_type(value), IndexType) and is_integer_like(held)
        if _value_type(value) != held and not (is_size and not isinstance(held, IntegerType)):
            refuse(
                "requires attribute to either be an #emitc.opaque attribute or it's type "
                f"('{text(_value_type(value))}') to match the op's result type ('{text(result)}')"
            )


class ConstantOp(_InitializedOp):
    """A constant; it has no address.

    Example:
        %0 = "emitc.constant"() <{value = 42 : i32}> : () -> i32
    """

    name = "emitc.constant"

    def verify_op(self) -> None:
        """Refuse empty text."""
        value = self.properties["value"]
        if isinstance(value, EmitC_OpaqueAttr) and not value.value.data:
            refuse("value must not be empty")
        super().verify_op()


class VariableOp(_InitializedOp):
    """A variable; empty opaque text leaves it uninitialised.

    Example:
        %0 = "emitc.variable"() <{value = #emitc.opaque<"device">}> : () -> !emitc.opaque<"Device">
    """

    name = "emitc.variable"


class _StoredOp(FormatOp):
    """What uses a variable, whose type, an lvalue, is written without its name: `<i32>`."""

    @classmethod
    def parse_type_of(cls, parser: Parser, name: str) -> Attribute:
        """Read a type."""
        if parser.parse_optional_punctuation("<") is None:
            return parser.parse_type()
        note_late_kernels()
        type = parser.parse_type()
        parser.parse_punctuation(">")
        return EmitC_LValueType(type)

    def print_type_of(self, printer: Printer, name: str, type: Attribute) -> None:
        """Write a type."""
        if isinstance(type, EmitC_LValueType):
            with printer.in_angle_brackets():
                printer.print_attribute(type.value_type)
        else:
            printer.print_attribute(type)


class AssignOp(_StoredOp):
    """`var = value;`

    Example:
        emitc.assign %value : i32 to %variable : i32
    """

    name = "emitc.assign"
    FORMAT = "$value `:` type($value) `to` $var `:` type($var) attr-dict"
    SIGNATURE: ClassVar = Signature(values(var=STORED, value=EMITC))
    _TARGETS: ClassVar = (
        "emitc.get_global",
        "emitc.member",
        "emitc.member_of_ptr",
        "emitc.subscript",
        "emitc.variable",
    )

    def verify_op(self) -> None:
        """Check that there is something to assign to, and the types."""
        variable, value = self.operands
        owner = variable.owner
        if not isinstance(owner, Operation) or owner.name not in self._TARGETS:
            refuse(
                f"requires first operand ({_describe(variable)}) to be a get_global, member, "
                "member of pointer, subscript or variable"
            )
        if value_type(variable.type) != value.type:
            refuse(
                f"requires value's type ('{text(value.type)}') to match variable's type "
                f"('{text(variable.type)}')"
            )
        if isinstance(variable.type, EmitC_ArrayType):
            refuse("cannot assign to array type")


class LoadOp(_StoredOp):
    """What a variable holds now.

    Example:
        %1 = emitc.load %variable : <i32>
    """

    name = "emitc.load"
    FORMAT = "$operand attr-dict `:` type($operand)"
    TYPES: ClassVar = {"result": ("operand", value_type)}
    SIGNATURE: ClassVar = Signature(
        values(
            operand=TypeConstraint(
                "EmitC lvalue type", lambda type: isinstance(type, EmitC_LValueType)
            )
        ),
        values(result=EMITC),
    )

    def verify_op(self) -> None:
        """Compare the types."""
        if value_type(self.operands[0].type) != self.results[0].type:
            refuse("failed to verify that result type matches value type of 'operand'")


def _describe(value: SSAValue) -> str:
    if isinstance(value, BlockArgument):
        return f"<block argument> of type '{text(value.type)}' at index: {value.index}"
    assert isinstance(value, OpResult)
    return show_op(value.op)


_SPECIFIERS = ("extern_specifier", "static_specifier", "const_specifier")


class GlobalOp(AssemblyOp):
    """A global variable.

    Example:
        emitc.global static const @g : i32 = 5
    """

    name = "emitc.global"
    SPELLED = ("sym_name", "type", "initial_value", *_SPECIFIERS)
    SIGNATURE: ClassVar = Signature(
        properties=(
            Property("sym_name", ods.STRING),
            Property("type", ods.TYPE),
            Property("initial_value", OPAQUE_OR_TYPED, optional=True),
            *(Property(name, ods.UNIT, optional=True) for name in _SPECIFIERS),
        )
    )
    traits = traits_def(SymbolOpInterface())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `extern? static? const? @name : type (= value)? attr-dict`."""
        spelled: dict[str, Attribute] = {}
        for specifier in _SPECIFIERS:
            if parser.parse_optional_keyword(specifier.removesuffix("_specifier")) is not None:
                spelled[specifier] = UnitAttr()
        spelled["sym_name"] = parser.parse_symbol_name()
        parser.parse_punctuation(":")
        spelled["type"] = type = parser.parse_type()
        if parser.parse_optional_punctuation("=") is not None:
            spelled["initial_value"] = _parse_initial_value(parser, type)
        properties, attributes = cls.parse_dict(parser, spelled)
        return cls.create(properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        """Write `extern? static? const? @name : type (= value)? attr-dict`."""
        for specifier in _SPECIFIERS:
            if specifier in self.properties:
                printer.print_string(" " + specifier.removesuffix("_specifier"))
        printer.print_string(" ")
        printer.print_symbol_name(cast("StringAttr", self.properties["sym_name"]).data)
        printer.print_string(" : ")
        printer.print_attribute(self.properties["type"])
        if (value := self.properties.get("initial_value")) is not None:
            printer.print_string(f" = {_text_without_type(value)}")
        self.print_dict(printer)

    def verify_op(self) -> None:
        """Check the type, the specifiers and the initial value."""
        type, value = self.properties["type"], self.properties.get("initial_value")
        if not is_supported(type):
            refuse("expected valid emitc type")
        if value is not None and not isinstance(value, EmitC_OpaqueAttr):
            _check_initial_value(value, type)
        if "static_specifier" in self.properties and "extern_specifier" in self.properties:
            refuse("cannot have both static and extern specifiers")


def _text_without_type(value: Attribute) -> str:
    whole = text(value)
    if isinstance(value, EmitC_OpaqueAttr):
        return whole
    head, colon, _ = whole.rpartition(" : ")
    return head if colon else whole


def _check_initial_value(value: Attribute, type: Attribute) -> None:
    if isinstance(value, StringAttr):
        refuse(
            "initial value should be a integer, float, elements or opaque attribute, but got "
            f"{text(value)}"
        )
    if _value_type(value) != _initializer_type(type):
        refuse(
            f"initial value expected to be of type '{text(type)}', but was of type "
            f"'{text(_value_type(value))}'"
        )


def _initializer_type(type: Attribute) -> Attribute:
    if not isinstance(type, EmitC_ArrayType):
        return type
    array = cast("EmitC_ArrayType", type)
    return TensorType(cast("Attribute", array.get_element_type()), array.get_shape())


def _parse_initial_value(parser: Parser, type: Attribute) -> Attribute:
    """Read a value whose type is not repeated."""
    expected = _initializer_type(type)
    if type.name == "emitc.array" and parser.parse_optional_keyword("dense") is not None:
        return parser.parse_dense_int_or_fp_elements_attr(cast("TensorType[IntegerType]", expected))
    reader = cast("AttributeReader", parser)
    number = reader.parse_optional_builtin_int_or_float_attr(cast("TypeAttribute", expected))
    return parser.parse_attribute() if number is None else number


class GetGlobalOp(FormatOp):
    """A global variable by its name.

    Example:
        %0 = emitc.get_global @g : i32
    """

    name = "emitc.get_global"
    FORMAT = "$name `:` type($result) attr-dict"
    SIGNATURE: ClassVar = Signature(
        results=values(result=EMITC), properties=properties(name=ods.FLAT_SYMBOL)
    )

    def verify_op(self) -> None:
        """Compare the type with the global's."""
        symbol = cast("SymbolRefAttr", self.properties["name"]).root_reference.data
        found = lookup_global(self, symbol)
        if found is None:
            refuse(f"'{symbol}' does not reference a valid emitc.global")
        expected, result = found.properties["type"], self.results[0].type
        if expected != result:
            refuse(
                f"result type '{text(result)}' does not match type '{text(expected)}' of the "
                f"global @{symbol}"
            )


def _check_parent(op: Operation, *names: str) -> None:
    parent = op.parent_op()
    if parent is not None and parent.name in names:
        return
    if len(names) == 1:
        refuse(f"expects parent op '{names[0]}'")
    refuse(f"expects parent op to be one of '{', '.join(names)}'")


class _TerminatorOp(FormatOp):
    """The end of a block, with at most one value."""

    traits = traits_def(IsTerminator())


class YieldOp(_TerminatorOp):
    """The end of the body of an expression, a conditional or a loop."""

    name = "emitc.yield"
    FORMAT = "attr-dict ($result^ `:` type($result))?"
    SIGNATURE: ClassVar = Signature((ValueGroup("result", EMITC, optional=True),))

    def verify_op(self) -> None:
        """Check the enclosing operation."""
        _check_parent(self, "emitc.expression", "emitc.if", "emitc.for")
        parent = self.parent_op()
        if self.operands and parent is not None and parent.name != "emitc.expression":
            refuse("yields a value not returned by parent")


class ReturnOp(_TerminatorOp):
    """`return operand;`"""

    name = "emitc.return"
    FORMAT = "attr-dict ($operand^ `:` type($operand))?"
    SIGNATURE: ClassVar = Signature((ValueGroup("operand", EMITC, optional=True),))

    def verify_op(self) -> None:
        """Compare the value with the function's result."""
        _check_parent(self, "emitc.func")
        function = cast("FuncOp", self.parent_op())
        if not FUNCTION_TYPE.holds(function.function_type):
            return
        results = function.function_type.outputs.data
        if len(self.operands) != len(results):
            refuse(
                f"has {len(self.operands)} operands, but enclosing function "
                f"(@{function.sym_name}) returns {len(results)}"
            )
        if results and self.operands[0].type != results[0]:
            refuse(
                f"type of the return operand ('{text(self.operands[0].type)}') doesn't match "
                f"function result type ('{text(results[0])}') in function @{function.sym_name}"
            )


class FuncOp(AssemblyOp):
    """A function.

    Example:
        emitc.func @f(%a: i32) -> i32 attributes {specifiers = ["static"]} {
          emitc.return %a : i32
        }
    """

    name = "emitc.func"
    SIGNATURE: ClassVar = Signature(
        properties=(
            Property("sym_name", ods.STRING),
            Property("function_type", FUNCTION_TYPE),
            Property("specifiers", ods.ARRAY, optional=True),
            Property("arg_attrs", ods.ARRAY, optional=True),
            Property("res_attrs", ods.ARRAY, optional=True),
        ),
        regions=1,
    )
    traits = traits_def(SymbolOpInterface())

    @property
    def function_type(self) -> FunctionType:
        """Types of arguments and results."""
        return cast("FunctionType", self.properties["function_type"])

    @property
    def sym_name(self) -> str:
        """Name of the function."""
        return cast("StringAttr", self.properties["sym_name"]).data

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read a function; what is not in the signature moves between the dictionaries."""
        position = parser.pos
        op = cast("Self", parse_function(cls, parser))
        visibility = op.properties.pop("sym_visibility", None)
        op.properties, op.attributes = cls.split_dict(
            parser, op.properties, dict(op.attributes), position
        )
        if visibility is not None:
            op.attributes["sym_visibility"] = visibility
        return op

    def print(self, printer: Printer) -> None:
        """Write the function after the operation's name."""
        print_function(cast("UpstreamPrinter", printer), self)

    def verify_op(self) -> None:
        """Compare the body's arguments with the type, and count the results."""
        type = self.function_type
        entry = self.regions[0].first_block
        if entry is not None:
            self._check_entry(entry)
        if len(type.outputs) > 1:
            refuse(f"requires zero or exactly one result, but has {len(type.outputs)}")
        if len(type.outputs) == 1 and isinstance(type.outputs.data[0], EmitC_ArrayType):
            refuse("cannot return array type")

    def _check_entry(self, entry: Block) -> None:
        inputs = self.function_type.inputs.data
        if len(entry.args) != len(inputs):
            refuse(f"entry block must have {len(inputs)} arguments to match function signature")
        for number, (argument, expected) in enumerate(zip(entry.args, inputs, strict=True)):
            if argument.type != expected:
                refuse(
                    f"type of entry block argument #{number}('{text(argument.type)}') must match "
                    "the type of the corresponding argument in function signature("
                    f"'{text(expected)}')"
                )


class DeclareFuncOp(FormatOp):
    """The declaration of a function that is defined further down.

    Example:
        emitc.declare_func @f
    """

    name = "emitc.declare_func"
    FORMAT = "$sym_name attr-dict"
    SIGNATURE: ClassVar = Signature(properties=properties(sym_name=ods.FLAT_SYMBOL))

    def verify_op(self) -> None:
        """Check that the function exists."""
        symbol = cast("SymbolRefAttr", self.properties["sym_name"]).root_reference.data
        if lookup_function(self, symbol) is None:
            refuse(f"'{symbol}' does not reference a valid function")


# What C++ can write inside one expression.
_IN_EXPRESSIONS = frozenset(
    f"emitc.{name}"
    for name in (
        "add apply bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift "
        "bitwise_xor call call_opaque cast cmp conditional div logical_and logical_not logical_or "
        "mul rem sub unary_minus unary_plus"
    ).split()
)


class ExpressionOp(AssemblyOp):
    """Operations that are written as one expression.

    Example:
        %0 = emitc.expression : i32 {
          %1 = emitc.add %a, %b : (i32, i32) -> i32
          emitc.yield %1 : i32
        }
    """

    name = "emitc.expression"
    SPELLED = ("do_not_inline",)
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("defs", EMITC, variadic=True),),
        values(result=EMITC),
        (Property("do_not_inline", ods.UNIT, optional=True),),
        regions=1,
    )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `operands attr-dict noinline? : type region`; with operands, a function type."""
        operands = parse_operands(parser)
        properties, attributes = cls.parse_dict(parser, {})
        if parser.parse_optional_keyword("noinline") is not None:
            properties["do_not_inline"] = UnitAttr()
        parser.parse_punctuation(":")
        position = parser.pos
        if parser.lexer.input.content.startswith("(", position):
            function = parser.parse_function_type()
            if len(function.outputs) != 1:
                parser.raise_error(f"expected one result, not {len(function.outputs)}", position)
            types, result = function.inputs.data, function.outputs.data[0]
        else:
            types, result = (), parser.parse_type()
        return cls.create(
            operands=parser.resolve_operands(operands, types, position),
            result_types=[result],
            properties=properties,
            attributes=attributes,
            regions=[parser.parse_region()],
        )

    def print(self, printer: Printer) -> None:
        """Write `operands attr-dict noinline? : type region`; with operands, a function type."""
        if self.operands:
            printer.print_string(" ")
            printer.print_list(self.operands, printer.print_operand)
        self.print_dict(printer)
        printer.print_string(" noinline" if "do_not_inline" in self.properties else "")
        printer.print_string(" : ")
        if self.operands:
            printer.print_operation_type(self)
        else:
            printer.print_attribute(self.results[0].type)
        printer.print_string(" ")
        printer.print_region(self.regions[0], print_entry_block_args=False)

    def verify_op(self) -> None:
        """Check that the body is one expression."""
        block = self.regions[0].first_block
        if block is not None and block.args:
            refuse("region should have no arguments")
        end = None if block is None else block.last_op
        if block is None or end is None or not end.operands:
            refuse("must yield a value at termination")
        if end.operands[0].type != self.results[0].type:
            refuse("requires yielded type to match return type")
        for op in block.ops:
            if op is not end:
                _check_in_expression(op)


def _check_in_expression(op: Operation) -> None:
    if op.name not in _IN_EXPRESSIONS:
        refuse("contains an unsupported operation")
    if len(op.results) != 1:
        refuse("requires exactly one result for each operation")
    if not op.results[0].has_one_use():
        refuse("requires exactly one use for each operation")


def _parse_body(parser: Parser, arguments: Sequence[Parser.Argument] | None = None) -> Region:
    """Read a region whose terminator may be left out."""
    region = parser.parse_region(arguments)
    if region.first_block is None:
        region.add_block(Block())
    block = region.blocks[0]
    last = block.last_op
    if last is None or not last.has_trait(IsTerminator):
        block.add_op(YieldOp.create())
    return region


def _print_body(printer: Printer, region: Region) -> None:
    printer.print_string(" ")
    printer.print_region(
        region, print_entry_block_args=False, print_empty_block=False, print_block_terminators=False
    )


class IfOp(AssemblyOp):
    """`if (condition) { ... } else { ... }`"""

    name = "emitc.if"
    SIGNATURE: ClassVar = Signature(values(condition=I1), regions=2)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `condition region (else region)? attr-dict`."""
        operand = parser.parse_unresolved_operand()
        condition = parser.resolve_operand(operand, i1)
        then = _parse_body(parser)
        otherwise = Region()
        if parser.parse_optional_keyword("else") is not None:
            otherwise = _parse_body(parser)
        properties, attributes = cls.parse_dict(parser, {})
        return cls.create(
            operands=[condition],
            properties=properties,
            attributes=attributes,
            regions=[then, otherwise],
        )

    def print(self, printer: Printer) -> None:
        """Write `condition region (else region)? attr-dict`."""
        printer.print_string(" ")
        printer.print_operand(self.operands[0])
        _print_body(printer, self.regions[0])
        if self.regions[1].blocks:
            printer.print_string(" else")
            _print_body(printer, self.regions[1])
        self.print_dict(printer)

    def verify_op(self) -> None:
        """Check the shape of the regions."""
        if not self.regions[0].blocks:
            refuse("region #0 ('thenRegion') failed to verify constraint: region with 1 blocks")
        for number, region in enumerate(self.regions):
            if len(region.blocks) > 1:
                refuse(f"expects region #{number} to have 0 or 1 blocks")
            if region.blocks and region.blocks[0].args:
                refuse(f"region #{number} should have no arguments")


class ForOp(AssemblyOp):
    """`for (i = lower; i < upper; i += step) { ... }`"""

    name = "emitc.for"
    SIGNATURE: ClassVar = Signature(
        values(lowerBound=INTEGER, upperBound=INTEGER, step=INTEGER), regions=1
    )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `i = lower to upper step step (: type)? region attr-dict`."""
        variable = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        bounds = [parser.parse_unresolved_operand()]
        for keyword in ("to", "step"):
            parser.parse_keyword(keyword)
            bounds.append(parser.parse_unresolved_operand())
        type: Attribute = IndexType()
        if parser.parse_optional_punctuation(":") is not None:
            type = parser.parse_type()
        operands = [parser.resolve_operand(bound, type) for bound in bounds]
        body = _parse_body(parser, [variable.resolve(type)])
        properties, attributes = cls.parse_dict(parser, {})
        return cls.create(
            operands=operands, properties=properties, attributes=attributes, regions=[body]
        )

    def print(self, printer: Printer) -> None:
        """Write `i = lower to upper step step (: type)? region attr-dict`."""
        variable = self.regions[0].blocks[0].args[0]
        for keyword, value in zip(
            (" ", " = ", " to ", " step "), (variable, *self.operands), strict=True
        ):
            printer.print_string(keyword)
            printer.print_operand(value)
        if not isinstance(variable.type, IndexType):
            # MLIR writes two blanks here.
            printer.print_string("  : ")
            printer.print_attribute(variable.type)
        _print_body(printer, self.regions[0])
        self.print_dict(printer)

    def verify_op(self) -> None:
        """Check the types of bounds and variable."""
        blocks = self.regions[0].blocks
        if len(blocks) != 1:
            refuse("region #0 ('region') failed to verify constraint: region with 1 blocks")
        bounds = self.operand_types
        if any(bound != bounds[0] for bound in bounds):
            refuse("failed to verify that all of {lowerBound, upperBound, step} have same type")
        arguments = blocks[0].args
        if len(arguments) != 1:
            refuse("expected body to have a single argument, the induction variable")
        if arguments[0].type != bounds[0]:
            refuse("expected induction variable to be same type as bounds and step")


STRUCTURE = classes_in(globals(), Operation)
"""Every operation of this module."""
