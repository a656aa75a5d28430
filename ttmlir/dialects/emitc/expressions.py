"""emitc operations that are C++ operators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i1,
    i64,
)
from xdsl.dialects.emitc import (
    EmitC_ArrayType,
    EmitC_LValueType,
    EmitC_OpaqueAttr,
    EmitC_OpaqueType,
    EmitC_PointerType,
    EmitC_PtrDiffT,
    EmitC_SignedSizeT,
    EmitC_SizeT,
    EmitCTypeConstr,
)
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute
from xdsl.irdl import VerificationContext
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.assembly import (
    AssemblyOp,
    ConversionOp,
    FormatOp,
    FunctionalOp,
    TextOp,
    word_of,
)
from ttmlir.dialects.definition.ods import (
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
from ttmlir.mlir.core_prefix import note_late_kernels
from ttmlir.mlir.reporting import OpError, note

# --- Types ----------------------------------------------------------------------------------------
# Constraints of the types of emitc.

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


def _is_stored(type: Attribute) -> bool:
    return isinstance(type, EmitC_LValueType) or is_supported(type)


def value_type(type: Attribute) -> Attribute:
    """The type of what a variable holds, which later versions of MLIR write as an lvalue."""
    return type.value_type if isinstance(type, EmitC_LValueType) else type


STORED = TypeConstraint("type supported by EmitC", _is_stored)
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
I1 = TypeConstraint("1-bit signless integer", lambda type: type == i1)


# --- Expressions ----------------------------------------------------------------------------------


def _binary(operand: TypeConstraint, result: TypeConstraint | None = None) -> Signature:
    return Signature(values(lhs=operand, rhs=operand), values(result=result or operand))


_UNARY = Signature(values(operand=EMITC), values(result=EMITC))


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


_PREDICATES = ("eq", "ne", "lt", "le", "gt", "ge", "three_way")


class CmpOp(FormatOp):
    """A comparison.

    Example:
        %0 = emitc.cmp lt, %a, %b : (i32, i32) -> i1
    """

    name = "emitc.cmp"
    FORMAT = "$predicate `,` operands attr-dict `:` functional-type(operands, results)"
    SPELLINGS: ClassVar = {"predicate": word_of(_PREDICATES, i64, name, "predicate")}
    PREDICATES: ClassVar = _PREDICATES
    SIGNATURE: ClassVar = Signature(
        values(lhs=EMITC, rhs=EMITC),
        values(result=EMITC),
        properties(
            predicate=ods.enum_attr(
                ods.I64,
                len(PREDICATES),
                "allowed 64-bit signless integer cases: "
                + ", ".join(str(i) for i in range(len(PREDICATES))),
            )
        ),
    )


class SubscriptOp(FormatOp):
    """An element of an array, or of what a pointer or an opaque value leads to.

    Example:
        %0 = emitc.subscript %array[%i] : (!emitc.array<4xi32>, index) -> i32
    """

    name = "emitc.subscript"
    FORMAT = "$value `[` $indices `]` attr-dict `:` functional-type(operands, results)"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("value", SUBSCRIPTABLE), ValueGroup("indices", EMITC, variadic=True)),
        values(result=STORED),
    )

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
        result = value_type(self.results[0].type)
        if expected != result:
            refuse(f"on {words} ('{text(expected)}') and result type ('{text(result)}') to match")


class _LogicalOp(FormatOp):
    """Syntax `operands attr-dict : operand types`; the result is a truth value."""

    FORMAT = "operands attr-dict `:` type(operands)"
    TYPES: ClassVar = {"result": i1}


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
    SIGNATURE: ClassVar = Signature(values(operand=EMITC), values(result=I1))


class ConditionalOp(FormatOp):
    """`condition ? true_value : false_value`."""

    name = "emitc.conditional"
    FORMAT = "$condition `,` $true_value `,` $false_value attr-dict `:` type($result)"
    TYPES: ClassVar = {"condition": i1, "true_value": "result", "false_value": "result"}
    SIGNATURE: ClassVar = Signature(
        values(condition=I1, true_value=EMITC, false_value=EMITC), values(result=EMITC)
    )

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
    FORMAT = "operands attr-dict `:` type(operands) `to` type(results)"
    SIGNATURE: ClassVar = Signature(values(source=EMITC), values(dest=EMITC))

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
    stored = TypeConstraint(operand.summary, lambda type: operand.holds(value_type(type)))
    return Signature(values(operand=stored), values(result=STORED), properties(member=ods.STRING))


class MemberOp(AssemblyOp):
    """`operand.member`, in MLIR's generic form."""

    name = "emitc.member"
    SIGNATURE: ClassVar = _member(OPAQUE)


class MemberOfPtrOp(AssemblyOp):
    """`operand->member`, in MLIR's generic form."""

    name = "emitc.member_of_ptr"
    SIGNATURE: ClassVar = _member(OPAQUE_OR_POINTER)


# --- Calls ----------------------------------------------------------------------------------------
# emitc operations that name what they mean in C++: calls, literals, includes, verbatim text.

# --- Symbols --------------------------------------------------------------------------------------
# Symbols of emitc, found in the operation that holds them.


def _symbol_in_scope(op: Operation, name: str) -> Operation | None:
    """The operation with this symbol name in the nearest enclosing `builtin.module`."""
    scope = op.parent_op()
    while scope is not None and scope.name != "builtin.module":
        scope = scope.parent_op()
    if scope is None:
        return None
    for block in scope.regions[0].blocks:
        for symbol in block.ops:
            attr = symbol.properties.get("sym_name")
            if isinstance(attr, StringAttr) and attr.data == name:
                return symbol
    return None


def lookup_function(op: Operation, name: str) -> Operation | None:
    """The `emitc.func` with this name."""
    symbol = _symbol_in_scope(op, name)
    return symbol if symbol is not None and symbol.name == "emitc.func" else None


def lookup_global(op: Operation, name: str) -> Operation | None:
    """The `emitc.global` with this name."""
    symbol = _symbol_in_scope(op, name)
    return symbol if symbol is not None and symbol.name == "emitc.global" else None


# --- Calls ----------------------------------------------------------------------------------------


def _string(op: Operation, name: str) -> str:
    return cast("StringAttr", op.properties[name]).data


class ApplyOp(FormatOp):
    """The operators `&` and `*` of C++.

    Example:
        %1 = emitc.apply "&"(%0) : (i32) -> !emitc.ptr<i32>
    """

    name = "emitc.apply"
    FORMAT = "$applicableOperator `(` operands `)` attr-dict `:` functional-type(operands, results)"
    SIGNATURE: ClassVar = Signature(
        values(operand=ANY), values(result=EMITC), properties(applicableOperator=ods.STRING)
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


class CallOpaqueOp(FormatOp):
    """A call of a function that only C++ knows.

    Without `args` the operands are the arguments, in order. With it the arguments are its elements:
    an `index` stands for the operand with that number, everything else for itself. `template_args`
    are types, numbers and opaque text.

    Example:
        %1 = emitc.call_opaque "foo"(%0) {args = [0 : index, 1 : i32]} : (i32) -> i32
    """

    name = "emitc.call_opaque"
    FORMAT = "$callee `(` operands `)` attr-dict `:` functional-type(operands, results)"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("operands", EMITC, variadic=True),),
        (ValueGroup("results", EMITC, variadic=True),),
        (
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
            operands=operands, result_types=result_types, properties=properties, location=location
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


class CallOp(FormatOp):
    """A call of an `emitc.func`.

    Example:
        %1 = emitc.call @f(%0) : (i32) -> i32
    """

    name = "emitc.call"
    FORMAT = "$callee `(` operands `)` attr-dict `:` functional-type(operands, results)"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("operands", EMITC, variadic=True),),
        (ValueGroup("results", EMITC, variadic=True),),
        properties(callee=ods.FLAT_SYMBOL),
    )

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


class LiteralOp(TextOp):
    """C++ text with a type, such as the name of a macro.

    Example:
        %0 = emitc.literal "M_PI" : f32
    """

    name = "emitc.literal"
    SIGNATURE: ClassVar = Signature(
        results=values(result=EMITC), properties=properties(value=ods.STRING)
    )


class VerbatimOp(FormatOp):
    """A line of C++ text; in later versions of MLIR each `{}` in it is an operand.

    Example:
        emitc.verbatim "cb.wait_front({});" args %0 : i32
    """

    name = "emitc.verbatim"
    FORMAT = "$value (`args` operands^)? attr-dict (`:` type(operands)^)?"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("fmtArgs", STORED, variadic=True),), properties=properties(value=ods.STRING)
    )

    @classmethod
    def make(cls, value: str, operands: Sequence[SSAValue] = (), *, location: LocationAttr) -> Self:
        """Make the operation."""
        return cls.create(
            operands=operands, properties={"value": StringAttr(value)}, location=location
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name; only later versions of MLIR have operands here."""
        made = super().parse(parser)
        if made.operands:
            note_late_kernels()
        return made

    def pieces(self) -> list[str]:
        """The text between the operands; one piece, which is the text, without operands."""
        value = _string(self, "value")
        if not self.operands:
            return [value]
        escaped = value.replace("{{", "\0").split("{}")
        return [piece.replace("\0", "{") for piece in escaped]

    def verify_op(self) -> None:
        """Check that there is an operand for each placeholder."""
        if self.operands and len(self.pieces()) - 1 != len(self.operands):
            refuse(
                f"requires operands for each placeholder in the format string, "
                f"got {len(self.pieces()) - 1} and {len(self.operands)}"
            )


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


EXPRESSIONS = classes_in(globals(), Operation)
"""Every operation of this module."""
