"""The tosa dialect: MLIR 19's operations and text, and the forms that operations have had since.

xDSL's dialect lacks most operations, so none of it is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    TensorType,
    UnitAttr,
    UnrankedTensorType,
    i1,
)
from xdsl.ir import (
    Attribute,
    Data,
    Dialect,
    Operation,
    ParametrizedAttribute,
    SSAValue,
    TypeAttribute,
)
from xdsl.irdl import irdl_attr_definition, traits_def
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import ConstantLike, HasFolder, IsTerminator, Pure, RecursiveMemoryEffect

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.assembly import (
    SYMBOL,
    AssemblyOp,
    FormatOp,
    FunctionalOp,
)
from ttmlir.dialects.definition.ods import (
    AttrConstraint,
    ODSOperation,
    Property,
    Signature,
    TypeConstraint,
    ValueGroup,
    classes_in,
    refuse,
)
from ttmlir.dialects.definition.table_ops import broadcast_pair
from ttmlir.mlir.xdsl_internals import operands_of

# --- Attrs ----------------------------------------------------------------------------------------
# Attributes and types of tosa: words that choose a mode, zero points, and lists of extents.


class ModeAttr(Data[str]):
    """One of several words, as `#tosa.nan_mode<PROPAGATE>`."""

    WORDS: ClassVar[tuple[str, ...]]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        """Read `<WORD>`."""
        with parser.in_angle_brackets():
            return cls.parse_word(parser)

    @classmethod
    def parse_word(cls, parser: AttrParser) -> str:
        """Read one of the words."""
        position = parser.pos
        keyword = parser.parse_identifier()
        if keyword not in cls.WORDS:
            parser.raise_error(f"expected {' or '.join(cls.WORDS)}, got {keyword}", position)
        return keyword

    def print_parameter(self, printer: Printer) -> None:
        """Write `<WORD>`."""
        with printer.in_angle_brackets():
            printer.print_string(self.data)


@irdl_attr_definition
class NanModeAttr(ModeAttr):
    """What a comparison with NaN gives: NaN, or the other number."""

    name = "tosa.nan_mode"
    WORDS: ClassVar = ("PROPAGATE", "IGNORE")


@irdl_attr_definition
class RoundingModeAttr(ModeAttr):
    """How a rescaled number is rounded."""

    name = "tosa.rounding_mode"
    WORDS: ClassVar = ("SINGLE_ROUND", "INEXACT_ROUND", "DOUBLE_ROUND")


@irdl_attr_definition
class ResizeModeAttr(ModeAttr):
    """How pixels between given ones are found."""

    name = "tosa.resize_mode"
    WORDS: ClassVar = ("NEAREST_NEIGHBOR", "BILINEAR")


MODES: dict[str, type[ModeAttr]] = {
    "nan_mode": NanModeAttr,
    "rounding_mode": RoundingModeAttr,
    "mode": ResizeModeAttr,
}
"""By the name of the property: the class of its value, which the syntax spells as a keyword."""


def mode_word(attr: Attribute | None, default: str) -> str:
    """The keyword of a mode, which older text gives as a string."""
    return attr.data if isinstance(attr, (ModeAttr, StringAttr)) else default


@irdl_attr_definition
class ShapeType(ParametrizedAttribute, TypeAttribute):
    """`!tosa.shape<rank>`: so many numbers that are known when the program is compiled."""

    name = "tosa.shape"
    rank: IntAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<rank>`."""
        with parser.in_angle_brackets():
            return [IntAttr(parser.parse_integer(allow_boolean=False, allow_negative=False))]

    def print_parameters(self, printer: Printer) -> None:
        """Write `<rank>`."""
        with printer.in_angle_brackets():
            printer.print_string(str(self.rank.data))


class ZeroPointsAttr(ParametrizedAttribute):
    """Zero points of quantized operands, as `#tosa.conv_quant<input_zp = 0, weight_zp = 3>`."""

    FIELDS: ClassVar[tuple[str, ...]]

    values: ArrayAttr[IntAttr]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<field = number, ...>`."""
        values: list[IntAttr] = []
        with parser.in_angle_brackets():
            for number, field in enumerate(cls.FIELDS):
                if number:
                    parser.parse_punctuation(",")
                parser.parse_keyword(field)
                parser.parse_punctuation("=")
                values.append(IntAttr(parser.parse_integer(allow_boolean=False)))
        return [ArrayAttr(values)]

    def print_parameters(self, printer: Printer) -> None:
        """Write `<field = number, ...>`."""
        texts = (
            f"{field} = {value.data}"
            for field, value in zip(self.FIELDS, self.values.data, strict=True)
        )
        with printer.in_angle_brackets():
            printer.print_string(", ".join(texts))

    @classmethod
    def of(cls, *values: int) -> Self:
        """The attribute of these zero points, in the order of the fields."""
        return cls(ArrayAttr([IntAttr(value) for value in values]))


@irdl_attr_definition
class UnaryQuantAttr(ZeroPointsAttr):
    """Zero points of an operand and the result."""

    name = "tosa.unary_quant"
    FIELDS: ClassVar = ("input_zp", "output_zp")


@irdl_attr_definition
class ConvQuantAttr(ZeroPointsAttr):
    """Zero points of an image and weights."""

    name = "tosa.conv_quant"
    FIELDS: ClassVar = ("input_zp", "weight_zp")


@irdl_attr_definition
class MatMulQuantAttr(ZeroPointsAttr):
    """Zero points of two matrices."""

    name = "tosa.matmul_quant"
    FIELDS: ClassVar = ("a_zp", "b_zp")


@irdl_attr_definition
class PadQuantAttr(ZeroPointsAttr):
    """Zero point of what is padded."""

    name = "tosa.pad_quant"
    FIELDS: ClassVar = ("input_zp",)


ATTRIBUTES = classes_in(globals(), Attribute)
"""Every attribute and type of the dialect."""


# --- Forms ----------------------------------------------------------------------------------------
# What the operations of tosa have in common: constraints, and signatures that changed in time.
#
# MLIR 19 gives shapes, permutations and zero points as attributes, later versions as operands. An
# operation is held to the form that its operands and properties fit, which `TosaOp.FORMS` lists.


def element_type_of(type: Attribute) -> Attribute | None:
    """The element type of a tensor, None for other types."""
    if isinstance(type, (TensorType, UnrankedTensorType)):
        return cast("TensorType[Attribute]", type).element_type
    return None


def _is_number(type: Attribute) -> bool:
    element = element_type_of(type)
    return element is not None and (
        isinstance(element, IntegerType) or element.name.startswith(("f", "bf", "tf", "!quant"))
    )


def _is_of(element: Attribute, type: Attribute) -> bool:
    return element_type_of(type) == element


def _is_ranked(type: Attribute) -> bool:
    return _is_number(type) and isinstance(type, TensorType)


def _of_rank(rank: int, type: Attribute) -> bool:
    if not _is_ranked(type):
        return _is_number(type)
    return cast("TensorType[Attribute]", type).get_num_dims() == rank


def _is_extents(type: Attribute) -> bool:
    return isinstance(type, ShapeType) or element_type_of(type) in (
        IntegerType(32),
        IntegerType(64),
    )


def rank(number: int) -> TypeConstraint:
    """A tensor of numbers with so many dimensions, if it tells how many it has."""
    return TypeConstraint(f"{number}-d tensor", lambda type: _of_rank(number, type))


NUMBERS = TypeConstraint("tensor of number values", _is_number)
RANKED = TypeConstraint("ranked tensor of number values", _is_ranked)
BOOLEANS = TypeConstraint("tensor of 1-bit signless integer values", lambda type: _is_of(i1, type))
INT32 = TypeConstraint(
    "tensor of 32-bit signless integer values", lambda type: _is_of(IntegerType(32), type)
)
EXTENTS = TypeConstraint(
    "tensor of 32-bit signless integer or 64-bit signless integer values", _is_extents
)
SHAPE = TypeConstraint("shape type", lambda type: isinstance(type, ShapeType))
ANY = TypeConstraint("any type", ods.always)

I8 = ods.integer_attr(8, Signedness.SIGNLESS)
TYPE = AttrConstraint("type attribute", ods.is_type, ods.always)
NAN_MODE = AttrConstraint(
    "mode", lambda attr: isinstance(attr, (StringAttr, *MODES.values())), ods.always
)
QUANTIZATION = AttrConstraint(
    "zero points", lambda attr: isinstance(attr, ZeroPointsAttr), ods.always
)


def dense_i64(count: int) -> AttrConstraint:
    """`array<i64: ...>` of so many numbers."""
    return AttrConstraint(
        f"i64 dense array attribute with exactly {count} elements",
        ods.DENSE_I64.storage,
        lambda attr: len(cast("ods.DenseArrayBase[IntegerType]", attr)) == count,
    )


def _merge(forms: tuple[Signature, ...]) -> Signature:
    """What is known before the form is: all properties, any operands."""
    by_name: dict[str, Property] = {}
    for form in forms:
        for prop in form.properties:
            by_name.setdefault(prop.name, Property(prop.name, prop.constraint, optional=True))
    return Signature(
        operands=(ValueGroup("operands", ANY, variadic=True),),
        results=forms[0].results,
        properties=tuple(by_name.values()),
        regions=forms[0].regions,
    )


class FormedOp(ODSOperation):
    """An operation of one or several forms."""

    FORMS: ClassVar[tuple[Signature, ...]]
    """Signatures: that of MLIR 19 and, if it changed, the later ones."""
    traits = traits_def(Pure())

    def __init_subclass__(cls) -> None:
        """Let the signature be the only form or what all forms allow."""
        if "FORMS" in cls.__dict__:
            cls.SIGNATURE = cls.FORMS[0] if len(cls.FORMS) == 1 else _merge(cls.FORMS)
        super().__init_subclass__()

    def form(self) -> Signature:
        """The first form that has the operation's properties and number of operands."""
        fitting = (form for form in self.FORMS if self._fits(form))
        return next(fitting, self.FORMS[0])

    def _fits(self, form: Signature) -> bool:
        required = sum(value.is_single for value in form.operands)
        exact = required == len(form.operands)
        count = len(operands_of(self))
        return (count == required if exact else count >= required) and all(
            name in form.by_name for name in self.properties
        )


class TosaOp(FormedOp, FunctionalOp):
    """An operation of tosa, written as a function of its operands."""

    @classmethod
    def parse_dict(
        cls, parser: Parser, spelled: dict[str, Attribute]
    ) -> tuple[dict[str, Attribute], dict[str, Attribute]]:
        """Read the attribute dictionary, in which modes may be bare words."""
        if not any(name in cls.SIGNATURE.by_name for name in MODES):
            return super().parse_dict(parser, spelled)
        position = parser.pos
        attributes: dict[str, Attribute] = {}

        def entry() -> None:
            name = parser.parse_identifier_or_str_literal()
            if parser.parse_optional_punctuation("=") is None:
                attributes[name] = UnitAttr()
                return
            mode = MODES.get(name)
            keyword = mode and parser.parse_optional_keyword_in(mode.WORDS)
            attributes[name] = mode(keyword) if mode and keyword else parser.parse_attribute()

        parser.parse_optional_comma_separated_list(Parser.Delimiter.BRACES, entry)
        return cls.split_dict(parser, spelled, attributes, position)


def op_class(
    base: type[TosaOp], mnemonic: str, *forms: Signature, **contents: object
) -> type[TosaOp]:
    """The class of `tosa.<mnemonic>`, which differs from others in nothing but its signature."""
    name = "".join(part.capitalize() for part in mnemonic.split("_")) + "Op"
    body: dict[str, object] = {"name": f"tosa.{mnemonic}", "FORMS": forms, **contents}
    body["__doc__"] = f"`tosa.{mnemonic}`."
    body["__module__"] = __name__
    return cast("type[TosaOp]", type(name, (base,), body))


def op_classes(forms: Mapping[str, tuple[Signature, ...]]) -> tuple[type[TosaOp], ...]:
    """The classes of operations by their forms."""
    return tuple(op_class(TosaOp, mnemonic, *each) for mnemonic, each in forms.items())


def values(constraint: TypeConstraint, *names: str) -> tuple[ValueGroup, ...]:
    """Operands that are held to the same constraint."""
    return tuple(ValueGroup(name, constraint) for name in names)


def optional(name: str, constraint: AttrConstraint) -> Property:
    """A property that may be left out."""
    return Property(name, constraint, optional=True)


def signature(
    operands: Sequence[ValueGroup],
    *properties: Property,
    result: TypeConstraint = NUMBERS,
    results: int = 1,
) -> Signature:
    """A form with results of one kind."""
    return Signature(
        operands=tuple(operands),
        results=tuple(ValueGroup("output", result) for _ in range(results)),
        properties=properties,
    )


def _axis_of(op: Operation) -> int:
    return cast("IntegerAttr", op.properties["axis"]).value.data


def _check_axis(op: Operation, kind: str, negative: str) -> None:
    """Refuse an axis that operand or result do not have; a scalar counts as having axis 0."""
    axis = _axis_of(op)
    if axis < 0:
        refuse(negative)
    ranks = {
        name: type.get_num_dims()
        for name, type in (("input", op.operands[0].type), ("output", op.results[0].type))
        if isinstance(type, TensorType)
    }
    for name, rank_ in ranks.items():
        if name == "output" and ranks.get("input", rank_) != rank_:
            refuse("expect output tensor rank to be equal to input tensor rank")
        if axis >= max(rank_, 1):
            refuse(f"expect {name} tensor rank ({rank_}) to be larger than {kind} axis ({axis})")


class _ArgmaxOp(TosaOp):
    """The place of the largest element along an axis.

    C1: the result has integers. C2: the operand has the axis.
    """

    def verify_op(self) -> None:
        """Check the result (C1) and the axis (C2)."""
        result = cast("TensorType[Attribute]", self.results[0].type).element_type
        if not isinstance(result, (IntegerType, IndexType)):
            refuse("result tensor is not of integer type")
        operand = self.operands[0].type
        if isinstance(operand, TensorType) and not 0 <= _axis_of(self) < operand.get_num_dims():
            refuse("specified axis is outside the rank of the tensor")


class _ReduceOp(TosaOp):
    """One value for all along an axis.

    C1: operand and result have the axis, and as many dimensions. C2: in the result it is 1.
    """

    def verify_op(self) -> None:
        """Check the axis (C1) and its extent (C2)."""
        _check_axis(self, "reduce", "reduce axis must not be negative")
        result = self.results[0].type
        if isinstance(result, TensorType) and result.get_num_dims():
            extent = result.get_shape()[_axis_of(self)]
            if extent not in (1, DYNAMIC_INDEX):
                refuse(f"expect reduced dimension size to be 1, got {extent}")


class _ReverseOp(TosaOp):
    """The elements from the last to the first along an axis.

    C1: operand and result have the axis, and as many dimensions.
    """

    def verify_op(self) -> None:
        """Check the axis (C1)."""
        _check_axis(self, "reverse", "expected non-negative reverse axis")


AXIS = Property("axis", ods.I32)
NAN = optional("nan_mode", NAN_MODE)
QUANTIZED = optional("quantization_info", QUANTIZATION)


# --- Contraction ----------------------------------------------------------------------------------
# The products of matrices and Fourier transforms of tosa.

_FORMS: dict[str, tuple[Signature, ...]] = {
    "matmul": (
        signature(values(rank(3), "a", "b"), QUANTIZED, result=rank(3)),
        signature((*values(rank(3), "a", "b"), *values(NUMBERS, "a_zp", "b_zp"))),
    ),
    "fully_connected": (
        signature(
            (*values(rank(2), "input", "weight"), ValueGroup("bias", rank(1))),
            QUANTIZED,
            result=rank(2),
        ),
    ),
    "fft2d": (
        signature(
            values(rank(3), "input_real", "input_imag"),
            Property("inverse", ods.BOOL),
            optional("local_bound", ods.BOOL),
            result=rank(3),
            results=2,
        ),
    ),
    "rfft2d": (
        signature(
            values(rank(3), "input"), optional("local_bound", ods.BOOL), result=rank(3), results=2
        ),
    ),
}

CONTRACTION_OPERATIONS = op_classes(_FORMS)
"""The operations of this module."""


# --- Control --------------------------------------------------------------------------------------
# The operations of tosa that choose, repeat and remember: regions and variables.

_MANY = (ValueGroup("output", NUMBERS, variadic=True),)


class YieldOp(FormatOp):
    """The end of a region: the values that it gives."""

    name = "tosa.yield"
    FORMAT = "(operands^)? attr-dict (`:` type(operands)^)?"
    SIGNATURE: ClassVar = Signature(operands=(ValueGroup("inputs", NUMBERS, variadic=True),))
    traits = traits_def(IsTerminator(), Pure())


def _parse_types(parser: Parser) -> Sequence[Attribute]:
    """Read `type` or `(type, ...)`."""
    types = parser.parse_optional_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_type)
    return [parser.parse_type()] if types is None else types


class IfOp(AssemblyOp):
    """One of two regions, by a condition.

    MLIR 19 does not write the type of the condition, later versions do; both are read.
    """

    name = "tosa.cond_if"
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("cond", BOOLEANS), ValueGroup("inputs", NUMBERS, variadic=True)),
        results=_MANY,
        regions=2,
    )
    traits = traits_def(RecursiveMemoryEffect())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        position = parser.pos
        condition = parser.parse_unresolved_operand()
        written = parser.parse_optional_punctuation(":") is not None
        type = parser.parse_type() if written else TensorType(i1, [])
        parser.parse_punctuation("->")
        results = _parse_types(parser)
        chosen = parser.parse_region()
        parser.parse_keyword("else")
        other = parser.parse_region()
        _, attributes = cls.parse_dict(parser, {})
        return cls.create(
            operands=parser.resolve_operands([condition], [type], position),
            result_types=results,
            regions=[chosen, other],
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_string(" ")
        printer.print_operand(self.operands[0])
        if self.operands[0].type != TensorType(i1, []):
            printer.print_string(" : ")
            printer.print_attribute(self.operands[0].type)
        printer.print_string(" -> (")
        printer.print_list(self.result_types, printer.print_attribute)
        printer.print_string(") ")
        printer.print_region(self.regions[0])
        printer.print_string(" else ")
        printer.print_region(self.regions[1])
        self.print_dict(printer)


class WhileOp(AssemblyOp):
    """Repetition of a region for as long as another gives true."""

    name = "tosa.while_loop"
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("inputs", NUMBERS, variadic=True),), results=_MANY, regions=2
    )
    traits = traits_def(RecursiveMemoryEffect())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""

        def start() -> tuple[Parser.UnresolvedArgument, UnresolvedOperand]:
            argument = parser.parse_argument(expect_type=False)
            parser.parse_punctuation("=")
            return argument, parser.parse_unresolved_operand()

        starts = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, start)
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_function_type()
        inputs = type.inputs.data
        operands = parser.resolve_operands([value for _, value in starts], inputs, position)
        arguments = [argument for argument, _ in starts]
        condition = parser.parse_region(
            argument.resolve(type) for argument, type in zip(arguments, inputs, strict=True)
        )
        parser.parse_keyword("do")
        body = parser.parse_region()
        attributes = parser.parse_optional_attr_dict_with_keyword()
        return cls.create(
            operands=operands,
            result_types=type.outputs.data,
            regions=[condition, body],
            attributes={} if attributes is None else attributes.data,
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        condition, body = self.regions
        entry = condition.blocks.first
        arguments = () if entry is None else entry.args
        printer.print_string(" (")
        for number, (argument, value) in enumerate(zip(arguments, self.operands, strict=True)):
            printer.print_string(", " if number else "")
            printer.print_ssa_value(argument)
            printer.print_string(" = ")
            printer.print_ssa_value(value)
        printer.print_string(") : ")
        printer.print_operation_type(self)
        printer.print_string(" ")
        printer.print_region(condition, print_entry_block_args=False)
        printer.print_string(" do ")
        printer.print_region(body)
        printer.print_op_attributes(self.attributes, print_keyword=True)


_NAME = Property("name", ods.STRING)


_NAMED = {"name": SYMBOL}


class VariableOp(AssemblyOp):
    """A tensor that keeps its value between calls."""

    name = "tosa.variable"
    SPELLED: ClassVar = ("name", "type", "initial_value")
    SIGNATURE: ClassVar = Signature(
        properties=(
            _NAME,
            Property("type", TYPE),
            Property("initial_value", ods.ELEMENTS, optional=True),
        )
    )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        spelled: dict[str, Attribute] = {"name": parser.parse_symbol_name()}
        given, attributes = cls.parse_dict(parser, {})
        if parser.parse_optional_punctuation("=") is not None:
            position = parser.pos
            value = parser.parse_attribute()
            if not isinstance(value, DenseIntOrFPElementsAttr):
                parser.raise_error("expected dense elements", position)
            spelled |= {"initial_value": value, "type": value.get_type()}
        else:
            parser.parse_punctuation(":")
            spelled["type"] = parser.parse_type()
        return cls.create(properties=spelled | given, attributes=attributes)

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_string(" ")
        printer.print_symbol_name(cast("StringAttr", self.properties["name"]).data)
        self.print_dict(printer)
        value = self.properties.get("initial_value")
        printer.print_string(" : " if value is None else " = ")
        printer.print_attribute(value or self.properties["type"])


class VariableReadOp(FormatOp):
    """The value of a variable."""

    name = "tosa.variable.read"
    SPELLINGS: ClassVar = _NAMED
    FORMAT = "$name attr-dict `:` type($value)"
    SIGNATURE: ClassVar = Signature(results=(ValueGroup("value", NUMBERS),), properties=(_NAME,))


class VariableWriteOp(FormatOp):
    """A new value for a variable."""

    name = "tosa.variable.write"
    SPELLINGS: ClassVar = _NAMED
    FORMAT = "$name `,` $value attr-dict `:` type($value)"
    SIGNATURE: ClassVar = Signature(operands=(ValueGroup("value", NUMBERS),), properties=(_NAME,))


_CUSTOM = (
    Signature(
        operands=(ValueGroup("inputs", NUMBERS, variadic=True),),
        results=(ValueGroup("outputs", NUMBERS, variadic=True),),
        properties=tuple(
            Property(name, ods.STRING)
            for name in ("operator_name", "domain_name", "implementation_attrs")
        ),
    ),
)

CONTROL_OPERATIONS = (
    YieldOp,
    IfOp,
    WhileOp,
    VariableOp,
    VariableReadOp,
    VariableWriteOp,
    op_class(TosaOp, "custom", *_CUSTOM),
)
"""The operations of this module."""


# --- Creation -------------------------------------------------------------------------------------
# The constants of tosa.


class _ConstantFolds(HasFolder):
    @classmethod
    def fold(cls, op: Operation) -> Sequence[SSAValue | Attribute]:
        return (cast("ConstOp", op).value,)


class ConstOp(FormedOp):
    """A constant tensor, which MLIR writes in the generic form.

    C1: value and result have the same shape.
    """

    name = "tosa.const"
    FORMS: ClassVar = tuple(
        Signature(
            results=(ValueGroup("output", NUMBERS),), properties=(Property(name, ods.ELEMENTS),)
        )
        for name in ("value", "values")
    )
    traits = traits_def(Pure(), ConstantLike(), _ConstantFolds())

    @property
    def value(self) -> Attribute:
        """The elements."""
        return next(iter(self.properties.values()))

    def verify_op(self) -> None:
        """Compare the shapes (C1)."""
        value = cast("DenseIntOrFPElementsAttr", self.value)
        result = cast("TensorType[Attribute]", self.results[0].type)
        if value.type.get_shape() != result.get_shape():
            refuse("failed to verify that all of {value, output} have same shape")


class ConstShapeOp(TosaOp):
    """Numbers that are known when the program is compiled: extents, paddings, multiples.

    C1: as many numbers as the type says; a shape of rank 0 is written as one number.
    """

    name = "tosa.const_shape"
    FORMS: ClassVar = (
        Signature(
            results=(ValueGroup("output", SHAPE),), properties=(Property("values", ods.ELEMENTS),)
        ),
    )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        self.print_dict(printer)
        printer.print_string(" : ")
        printer.print_operation_type(self)

    def verify_op(self) -> None:
        """Count the numbers (C1)."""
        count = cast("DenseIntOrFPElementsAttr", self.properties["values"]).type.get_shape()[0]
        expected = cast("ShapeType", self.results[0].type).rank.data
        if count != max(1, expected):
            refuse(
                f"expect number of elements in attribute values ({count}) to be equal to the "
                f"rank ({expected}) for the result shape type"
            )


CREATION_OPERATIONS: Sequence[type[FormedOp]] = (ConstOp, ConstShapeOp)
"""The operations of this module."""


# --- Elementwise ----------------------------------------------------------------------------------
# The elementwise operations of tosa, with MLIR 19's messages.

Shape = tuple[int, ...]


def _fits(shape: Shape, result: Shape) -> bool:
    """True if the result's last extents are those of the shape, as far as they are known."""
    last = result[len(result) - len(shape) :]
    return len(shape) <= len(result) and all(
        a == b or DYNAMIC_INDEX in (a, b) for a, b in zip(shape, last, strict=True)
    )


def _shape_text(shape: Shape) -> str:
    return "x".join("?" if extent == DYNAMIC_INDEX else str(extent) for extent in shape)


class ElementwiseOp(TosaOp):
    """Operands and result broadcast, and have one element type where `SAME_ELEMENTS` says so."""

    SAME_ELEMENTS: ClassVar[str] = "operands and results"
    """Whose element types agree: `operands`, `operands and results` or nothing."""
    COMPUTED: ClassVar[int | None] = None
    """Number of operands that take part, the first ones, where others describe the numbers."""

    def shaped_types(self) -> list[Attribute]:
        """Types of the operands that take part."""
        return list(self.operand_types)[: self.COMPUTED]

    def verify_op(self) -> None:
        """Check element types and shapes."""
        self._check_elements()
        shape: Shape | None = ()
        for type in self.shaped_types():
            if not isinstance(type, TensorType):
                return
            shape = broadcast_pair(shape, type.get_shape())
            if shape is None:
                refuse("operands don't have broadcast-compatible shapes")
        result = self.results[0].type
        if not isinstance(result, TensorType):
            return
        got = result.get_shape()
        if not _fits(shape, got):
            refuse(
                f"result type '{_shape_text(got)}' not broadcast compatible with broadcasted "
                f"operands's shapes '{_shape_text(shape)}'"
            )

    def _check_elements(self) -> None:
        types = self.shaped_types()
        if self.SAME_ELEMENTS.endswith("results"):
            types += [result.type for result in self.results]
        elements = [element_type_of(type) for type in types]
        if self.SAME_ELEMENTS and any(element != elements[0] for element in elements):
            refuse(f"requires the same element type for all {self.SAME_ELEMENTS}")


def _elementwise(
    operands: int,
    operand: TypeConstraint = NUMBERS,
    result: TypeConstraint | None = None,
    properties: tuple[Property, ...] = (),
) -> Signature:
    return Signature(
        operands=tuple(ValueGroup(f"input{i + 1}", operand) for i in range(operands)),
        results=(ValueGroup("output", result or operand),),
        properties=properties,
    )


_NAN_MODE = (Property("nan_mode", NAN_MODE, optional=True),)
_BOUND = ods.AttrConstraint(
    "number", lambda attr: isinstance(attr, (FloatAttr, IntegerAttr)), ods.always
)
_UNARY = _elementwise(1)
_BINARY = _elementwise(2)
_COMPARISON = _elementwise(2, NUMBERS, BOOLEANS)
_CLAMP = tuple(
    Property(f"{end}_{kind}", constraint)
    for end in ("min", "max")
    for kind, constraint in (("fp", ods.FLOAT), ("int", ods.I64))
)


class ClampOp(ElementwiseOp):
    """`min(max(input, min), max)`, the bounds being given for numbers of both kinds.

    C1: the bounds for floats have the input's element type, if that is a float.
    """

    name = "tosa.clamp"
    FORMS: ClassVar = (
        _elementwise(1, properties=_CLAMP),
        _elementwise(
            1, properties=(Property("min_val", _BOUND), Property("max_val", _BOUND), *_NAN_MODE)
        ),
    )

    def verify_op(self) -> None:
        """Check shapes and bounds (C1)."""
        super().verify_op()
        element = element_type_of(self.operands[0].type)
        names = ("min_val", "max_val") if "min_val" in self.properties else ("min_fp", "max_fp")
        bounds = [cast("FloatAttr", self.properties[name]).type for name in names]
        if not isinstance(element, IntegerType) and any(bound != element for bound in bounds):
            refuse("min/max attributes types are incompatible with input/output element types.")


class MulOp(ElementwiseOp):
    """The product; of integers, shifted to the right by `shift` bits with rounding.

    C1: the operands have one element type, floats that of the result.
    C2: integers of the result are not narrower.
    """

    name = "tosa.mul"
    COMPUTED: ClassVar = 2
    FORMS: ClassVar = (
        _elementwise(2, properties=(Property("shift", I8),)),
        Signature(
            operands=(
                ValueGroup("input1", NUMBERS),
                ValueGroup("input2", NUMBERS),
                ValueGroup("shift", NUMBERS),
            ),
            results=(ValueGroup("output", NUMBERS),),
        ),
    )

    def _check_elements(self) -> None:
        result = element_type_of(self.results[0].type)
        elements = [element_type_of(operand) for operand in self.shaped_types()]
        if isinstance(result, IntegerType) and all(
            isinstance(element, IntegerType) for element in elements
        ):
            widths = [cast("IntegerType", element).width.data for element in elements]
            if elements[0] != elements[1]:
                refuse("requires the same element type for all operands")
            if widths[0] > cast("IntegerType", result).width.data:
                refuse("invalid data type size for operands or result")
        elif any(element != result for element in elements):
            refuse("requires the same element type for all operands and results")


_SIGNATURES: dict[str, Signature] = {
    **dict.fromkeys(
        "abs bitwise_not ceil clz cos exp floor log reciprocal rsqrt sigmoid sin tanh".split(),
        _UNARY,
    ),
    "logical_not": _elementwise(1, BOOLEANS),
    **dict.fromkeys(
        (
            "add bitwise_and bitwise_or bitwise_xor logical_left_shift logical_right_shift pow sub"
        ).split(),
        _BINARY,
    ),
    **dict.fromkeys("maximum minimum".split(), _elementwise(2, properties=_NAN_MODE)),
    "arithmetic_right_shift": _elementwise(2, properties=(Property("round", ods.BOOL),)),
    **dict.fromkeys("int_div intdiv".split(), _elementwise(2, INT32)),
    **dict.fromkeys("logical_and logical_or logical_xor".split(), _elementwise(2, BOOLEANS)),
    **dict.fromkeys("equal greater greater_equal".split(), _COMPARISON),
    "select": Signature(
        operands=(
            ValueGroup("pred", BOOLEANS),
            ValueGroup("on_true", NUMBERS),
            ValueGroup("on_false", NUMBERS),
        ),
        results=(ValueGroup("output", NUMBERS),),
    ),
}
_SAME_ELEMENTS = {
    "equal": "operands",
    "greater": "operands",
    "greater_equal": "operands",
    "select": "",
}


class NegateOp(ElementwiseOp):
    """The number below 0 as far as the input is above it; zero points as attribute or operands."""

    name = "tosa.negate"
    COMPUTED: ClassVar = 1
    FORMS: ClassVar = (
        _elementwise(1, properties=(Property("quantization_info", QUANTIZATION, optional=True),)),
        Signature(
            operands=(
                ValueGroup("input1", NUMBERS),
                ValueGroup("input1_zp", NUMBERS),
                ValueGroup("output_zp", NUMBERS),
            ),
            results=(ValueGroup("output", NUMBERS),),
        ),
    )


_RESCALED = (Property("scale32", ods.BOOL), Property("per_channel", ods.BOOL))
_UNSIGNED = (optional("input_unsigned", ods.BOOL), optional("output_unsigned", ods.BOOL))
_RESCALE = (
    signature(
        values(NUMBERS, "input"),
        Property("input_zp", ods.I32),
        Property("output_zp", ods.I32),
        Property("multiplier", ods.DENSE_I32),
        Property("shift", ods.dense_array_attr(8)),
        Property("double_round", ods.BOOL),
        *_RESCALED,
        *_UNSIGNED,
    ),
    signature(
        values(NUMBERS, "input", "multiplier", "shift", "input_zp", "output_zp"),
        Property("rounding_mode", NAN_MODE),
        *_RESCALED,
        *_UNSIGNED,
    ),
)

ELEMENTWISE_OPERATIONS: Sequence[type[TosaOp]] = (
    ClampOp,
    MulOp,
    NegateOp,
    *(
        op_class(
            ElementwiseOp,
            mnemonic,
            form,
            **({"SAME_ELEMENTS": _SAME_ELEMENTS[mnemonic]} if mnemonic in _SAME_ELEMENTS else {}),
        )
        for mnemonic, form in _SIGNATURES.items()
    ),
    *(op_class(TosaOp, mnemonic, _UNARY) for mnemonic in ("cast", "erf", "identity")),
    op_class(TosaOp, "rescale", *_RESCALE),
)
"""The operations of this module; MLIR does not compare the last ones' result with the operand."""


# --- Indexing -------------------------------------------------------------------------------------
# The operations of tosa that read and write by number.

_INDEXING_FORMS: dict[str, tuple[Signature, ...]] = {
    "gather": (
        signature((ValueGroup("values", rank(3)), ValueGroup("indices", rank(2))), result=rank(3)),
    ),
    "scatter": (
        signature(
            (
                ValueGroup("values_in", rank(3)),
                ValueGroup("indices", rank(2)),
                ValueGroup("input", rank(3)),
            ),
            result=rank(3),
        ),
    ),
    "table": (signature((ValueGroup("input", NUMBERS), ValueGroup("table", rank(1)))),),
}

INDEXING_OPERATIONS = op_classes(_INDEXING_FORMS)
"""The operations of this module."""


# --- Movement -------------------------------------------------------------------------------------
# The operations of tosa that move elements.

_INPUT = values(NUMBERS, "input1")

_MOVEMENT_FORMS: dict[str, tuple[Signature, ...]] = {
    "concat": (signature((ValueGroup("input1", NUMBERS, variadic=True),), AXIS),),
    "pad": (
        signature(
            (
                ValueGroup("input1", RANKED),
                ValueGroup("padding", EXTENTS),
                ValueGroup("pad_const", NUMBERS, optional=True),
            ),
            QUANTIZED,
        ),
    ),
    "reshape": (
        signature(_INPUT, Property("new_shape", ods.DENSE_I64), result=RANKED),
        signature((*_INPUT, ValueGroup("shape", SHAPE)), result=RANKED),
    ),
    "slice": (
        signature(_INPUT, Property("start", ods.DENSE_I64), Property("size", ods.DENSE_I64)),
        signature((*_INPUT, *values(SHAPE, "start", "size"))),
    ),
    "tile": (
        signature(_INPUT, Property("multiples", ods.DENSE_I64)),
        signature((*_INPUT, ValueGroup("multiples", SHAPE))),
    ),
    "transpose": (
        signature((*_INPUT, ValueGroup("perms", EXTENTS))),
        signature(_INPUT, Property("perms", ods.DENSE_I32)),
    ),
}

MOVEMENT_OPERATIONS = (
    *op_classes(_MOVEMENT_FORMS),
    op_class(_ReverseOp, "reverse", signature(_INPUT, AXIS)),
)
"""The operations of this module."""


# --- Reduction ------------------------------------------------------------------------------------
# The reductions of tosa.

_REDUCTION_FORMS: dict[str, tuple[Signature, ...]] = {
    **dict.fromkeys(
        ("reduce_all", "reduce_any", "reduce_prod", "reduce_product", "reduce_sum"),
        (signature(values(NUMBERS, "input"), AXIS),),
    ),
    **dict.fromkeys(
        ("reduce_max", "reduce_min"), (signature(values(NUMBERS, "input"), AXIS, NAN),)
    ),
}

REDUCTION_OPERATIONS = (
    *(op_class(_ReduceOp, mnemonic, *each) for mnemonic, each in _REDUCTION_FORMS.items()),
    op_class(_ArgmaxOp, "argmax", signature(values(NUMBERS, "input"), AXIS, NAN)),
)
"""The operations of this module."""


# --- Window ---------------------------------------------------------------------------------------
# The convolutions, pools and resizing of tosa.


def _convolution(weight: str, rank_: int, *spatial: Property) -> tuple[Signature, Signature]:
    image, kernel, bias = rank(rank_), rank(rank_), rank(1)
    operands = (ValueGroup("input", image), ValueGroup(weight, kernel), ValueGroup("bias", bias))
    shared = (*spatial, optional("acc_type", TYPE), optional("local_bound", ods.BOOL))
    return (
        signature(operands, *shared, QUANTIZED, result=image),
        signature((*operands, *values(NUMBERS, "input_zp", "weight_zp")), *shared, result=image),
    )


def _image(rank_: int) -> tuple[Property, ...]:
    return (
        Property("pad", dense_i64(2 * rank_)),
        Property("stride", dense_i64(rank_)),
        Property("dilation", dense_i64(rank_)),
    )


_POOL = (
    Property("kernel", dense_i64(2)),
    Property("stride", dense_i64(2)),
    Property("pad", dense_i64(4)),
)
_IMAGE = rank(4)
_OUT_PAD = (Property("out_pad", dense_i64(4)), Property("stride", dense_i64(2)))

_WINDOW_FORMS: dict[str, tuple[Signature, ...]] = {
    "conv2d": _convolution("weight", 4, *_image(2)),
    "conv3d": _convolution("weight", 5, *_image(3)),
    "depthwise_conv2d": _convolution("weight", 4, *_image(2)),
    "transpose_conv2d": _convolution(
        "filter", 4, *_OUT_PAD, Property("out_shape", dense_i64(4), optional=True)
    ),
    "max_pool2d": (signature((ValueGroup("input", _IMAGE),), *_POOL, NAN, result=_IMAGE),),
    "avg_pool2d": (
        signature(
            (ValueGroup("input", _IMAGE),),
            *_POOL,
            Property("acc_type", TYPE),
            QUANTIZED,
            result=_IMAGE,
        ),
        signature(
            (ValueGroup("input", _IMAGE), *values(NUMBERS, "input_zp", "output_zp")),
            *_POOL,
            Property("acc_type", TYPE),
            result=_IMAGE,
        ),
    ),
    "resize": (
        signature(
            (ValueGroup("input", _IMAGE),),
            Property("scale", dense_i64(4)),
            Property("offset", dense_i64(2)),
            Property("border", dense_i64(2)),
            Property("mode", NAN_MODE),
            result=_IMAGE,
        ),
        signature(
            (ValueGroup("input", _IMAGE), *values(SHAPE, "scale", "offset", "border")),
            Property("mode", NAN_MODE),
            result=_IMAGE,
        ),
    ),
}

WINDOW_OPERATIONS = op_classes(_WINDOW_FORMS)
"""The operations of this module."""


# --- Tosa -----------------------------------------------------------------------------------------

__all__ = ["OPERATIONS", "TOSA"]

OPERATIONS: Sequence[type[Operation]] = (
    *ELEMENTWISE_OPERATIONS,
    *CREATION_OPERATIONS,
    *MOVEMENT_OPERATIONS,
    *INDEXING_OPERATIONS,
    *REDUCTION_OPERATIONS,
    *CONTRACTION_OPERATIONS,
    *WINDOW_OPERATIONS,
    *CONTROL_OPERATIONS,
)
"""Every operation of the dialect."""

TOSA = Dialect("tosa", list(OPERATIONS), list(ATTRIBUTES))
"""The dialect, for an xDSL context."""
