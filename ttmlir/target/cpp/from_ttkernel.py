"""Kernels in the dialects ttkernel, arith and scf as kernel trees.

The text of such a tree is that of tt-mlir: circular buffers first, a variable `v1`, `v2`, ... for
each result, a loop's carried values in variables that are declared before it and assigned at the
end of each iteration. A kernel is a region of a `ttmetal.dispatch` or a `func.func` with the
attribute `ttkernel.thread`. Nodes carry the places of the operations that they are made from.

Supported: the calls of ttkernel; integers and plain floats of arith; `scf.for`, `scf.if`
and `scf.while`; `memref.alloca`, `memref.load` and `memref.store`, arrays in C++; of emitc, unary
operators, comments as `emitc.verbatim`, and `emitc.literal` for what C++ has a name for, with a
`builtin.unrealized_conversion_cast` to a type of ttkernel. Anything else is refused with the error
of that operation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import cast

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    ArrayAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnrealizedConversionCastOp,
    i1,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.func import ReturnOp as FuncReturnOp
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.ir import Block as IRBlock

from ttmlir.cpp.errors import CannotEmitError, Position
from ttmlir.cpp.render import render
from ttmlir.cpp.tree import (
    Assign,
    BinaryOperation,
    Block,
    Boolean,
    Break,
    Cast,
    Comment,
    Conditional,
    Construct,
    Declaration,
    Declarator,
    Evaluate,
    Expression,
    Floating,
    For,
    Function,
    FunctionCall,
    If,
    Include,
    Index,
    Initializer,
    Integer,
    Item,
    LvalueExpression,
    Member,
    Name,
    NamedType,
    Namespace,
    Pointer,
    Return,
    Statement,
    String,
    TemplateArgument,
    TranslationUnit,
    Type,
    Unary,
    While,
)
from ttmlir.cpp.types import FIXED_WIDTHS, find_integer_type
from ttmlir.dialects import ttmetal
from ttmlir.dialects.arith import (
    CASTS,
    COMPARISONS,
    EXTREMA,
    ON_BOOLEANS,
    PLAIN,
    UNSIGNED_CASTS,
    WRAPPING,
)
from ttmlir.dialects.definition.ods import KERNEL_THREAD
from ttmlir.dialects.definition.table_ops import int_property
from ttmlir.dialects.emitc import CallOpaqueOp, ConstantOp, LiteralOp, VerbatimOp
from ttmlir.dialects.emitc import expressions as emitc
from ttmlir.dialects.ttkernel import (
    BuiltinOp,
    CallOp,
    CBType,
    DataFormatType,
    EthernetConfigAttr,
    InterleavedAddrGenType,
    L1AddrPtrType,
    LocalSemaphoreType,
    NocAddrType,
    NocConfigAttr,
    ReturnOp,
    TensixConfigAttr,
    TensorAccessorArgsType,
    TensorAccessorType,
    ThreadTypeAttr,
    TTKernelOp,
)
from ttmlir.layout.enums import ThreadType
from ttmlir.mlir.core_prefix import has_late_kernels
from ttmlir.mlir.reporting import OpError, file_line_col
from ttmlir.mlir.text_files import DEFAULT_MARKER
from ttmlir.nesting import deep_recursion
from ttmlir.optable.kernel import Form, KernelCall, Template, TemplateKind, ValueKind
from ttmlir.optable.kernel.kernel_call import ENUMS
from ttmlir.target.cpp.emitter import UNARY, literal_text, text_of, type_text
from ttmlir.target.cpp.kernel_api import KernelApi, calls_of_2026, header_of_2026, headers_of_2026

# --- Arithmetic -----------------------------------------------------------------------------------
# Operations of arith as expressions of the kernel tree, and values and types with them.
#
# Integers without sign are `int32_t` and the like. What wraps around or is unsigned is computed on
# `uint32_t`, since overflow of signed numbers has no meaning in C++: the operands are cast, and the
# result is cast back, in variables of their own as MLIR's arith-to-emitc does.

CB_TYPE = NamedType("::tt::CB")
_AUTO = NamedType("auto")
_OPAQUE: dict[type[Attribute], NamedType] = {
    CBType: CB_TYPE,
    NocAddrType: NamedType("int64_t"),
    LocalSemaphoreType: NamedType("uint32_t"),
    DataFormatType: NamedType("DataFormat"),
    InterleavedAddrGenType: _AUTO,
    TensorAccessorArgsType: _AUTO,
    TensorAccessorType: _AUTO,
}


def cpp_type(type_: Attribute) -> Type:
    """The C++ type of a value; raises CannotEmitError if it has none."""
    if isinstance(type_, L1AddrPtrType):
        name = find_integer_type(type_.bits, False).name
        return Pointer(NamedType(name, qualifiers=("volatile", "tt_l1_ptr")))
    known = _OPAQUE.get(type(type_))
    return NamedType(type_text(type_)) if known is None else known


def unsigned(type_: Attribute) -> NamedType:
    """The unsigned C++ type of the same width; CannotEmitError if it is no integer."""
    match type_:
        case IndexType():
            return NamedType("size_t")
        case IntegerType() if type_.width.data in FIXED_WIDTHS:
            return NamedType(find_integer_type(type_.width.data, False).name)
        case _:
            raise CannotEmitError(f"cannot emit arithmetic on type '{type_}'")


def literal(value: Attribute) -> Expression:
    """The number that an attribute is."""
    match value:
        case IntegerAttr(value=number, type=IntegerType() as type_) if type_.width.data == 1:
            return Boolean(number.data != 0)
        case IntegerAttr() | FloatAttr():
            return _number(literal_text(value))
        case _:
            raise CannotEmitError(f"cannot emit constant '{value}'; kernels have scalar ones only")


def _number(text: str) -> Expression:
    if text.startswith("-"):
        return Unary("-", _number(text[1:]))
    if text in ("NAN", "INFINITY"):
        return Name(text)
    return Integer(text) if text.isdigit() else Floating(text)


Declare = Callable[[Type, Expression], Name]
"""Makes a variable of this type and value."""


class Arithmetic:
    """Makes the expression of an operation; parts become variables through `declare`."""

    def __init__(self, operand: Callable[[Operation, int], Name], declare: Declare) -> None:
        """`operand` gives the variable of an operand."""
        self._operand = operand
        self._declare = declare

    def expression(self, op: Operation) -> Expression | None:
        """The expression that computes the result; None for an operation of another kind."""
        kind = type(op)
        if kind in WRAPPING:
            return self._wrapping(op, WRAPPING[kind])
        if kind in PLAIN:
            return BinaryOperation(PLAIN[kind], self._as_signed(op, 0), self._as_signed(op, 1))
        if kind in EXTREMA:
            return self._extremum(op, *EXTREMA[kind])
        if isinstance(op, arith.FloorDivSIOp):
            return self._floor_division(op)
        if isinstance(op, emitc.UnaryMinusOp):
            return self._negation(op)
        if isinstance(op, emitc.LogicalNotOp | emitc.BitwiseNotOp | emitc.UnaryPlusOp):
            return Unary(UNARY[op.name], self._operand(op, 0))
        return self._other(op)

    def _other(self, op: Operation) -> Expression | None:
        match op:
            case arith.ConstantOp():
                return literal(op.value)
            case arith.CmpiOp():
                return self._comparison(op)
            case arith.SelectOp():
                return Conditional(*(self._operand(op, index) for index in range(3)))
            case arith.NegfOp():
                return Unary("-", self._operand(op, 0))
            case arith.FPToUIOp() if not _is_boolean(op.results[0].type):
                kind = unsigned(op.results[0].type)
                value = self._declare(kind, Cast("c", kind, self._operand(op, 0)))
                return Cast("c", cpp_type(op.results[0].type), value)
            case _ if isinstance(op, CASTS):
                return self._cast(op, self._operand(op, 0))
            case _ if isinstance(op, UNSIGNED_CASTS):
                return self._cast(op, self._as_unsigned(op, 0))
            case _:
                return None

    def _as_unsigned(self, op: Operation, index: int) -> Name:
        """The operand as an unsigned number."""
        value, type_ = self._operand(op, index), op.operands[index].type
        if isinstance(type_, IndexType) or _is_boolean(type_):
            return value
        kind = unsigned(type_)
        return self._declare(kind, Cast("c", kind, value))

    def _as_signed(self, op: Operation, index: int) -> Name:
        """The operand as it is; an index, `size_t` in C++, as a signed number."""
        value = self._operand(op, index)
        if not isinstance(op.operands[index].type, IndexType):
            return value
        kind = NamedType("int32_t")
        return self._declare(kind, Cast("c", kind, value))

    def _wrapping(self, op: Operation, operator: str) -> Expression:
        result = op.results[0].type
        if _is_boolean(result) and operator not in ON_BOOLEANS:
            raise CannotEmitError("cannot emit arithmetic on booleans; use 'arith.andi' and others")
        left, right = self._as_unsigned(op, 0), self._as_unsigned(op, 1)
        computed = BinaryOperation(operator, left, right)
        if isinstance(result, IndexType) or _is_boolean(result):
            return computed
        return Cast("c", cpp_type(result), self._declare(unsigned(result), computed))

    def _negation(self, op: Operation) -> Expression:
        """`-x`; of integers on unsigned ones, so that the least has a defined result."""
        result: Attribute = op.results[0].type
        if result.name != IntegerType.name:
            return Unary("-", self._operand(op, 0))
        kind = unsigned(result)
        negated = self._declare(kind, Unary("-", self._as_unsigned(op, 0)))
        return Cast("c", cpp_type(result), negated)

    def _floor_division(self, op: Operation) -> Expression:
        """The quotient, one less where a remainder and the divisor differ in sign."""
        result = cpp_type(op.results[0].type)
        left, right = self._as_signed(op, 0), self._as_signed(op, 1)
        quotient = self._declare(result, BinaryOperation("/", left, right))
        rest = self._declare(result, BinaryOperation("%", left, right))
        zero = Integer("0")
        signs = self._declare(result, BinaryOperation("^", rest, right))
        differ = BinaryOperation("<", signs, zero)
        wrong = BinaryOperation("&&", BinaryOperation("!=", rest, zero), differ)
        less = self._declare(NamedType("bool"), wrong)
        return Conditional(less, BinaryOperation("-", quotient, Integer("1")), quotient)

    def _comparison(self, op: arith.CmpiOp) -> Expression:
        operator, is_unsigned = COMPARISONS[op.predicate.value.data]
        operand = self._as_unsigned if is_unsigned else self._as_signed
        return BinaryOperation(operator, operand(op, 0), operand(op, 1))

    def _extremum(self, op: Operation, operator: str, is_unsigned: bool) -> Expression:
        operand = self._as_unsigned if is_unsigned else self._as_signed
        compared = BinaryOperation(operator, operand(op, 0), operand(op, 1))
        chosen = self._declare(NamedType("bool"), compared)
        return Conditional(chosen, self._operand(op, 0), self._operand(op, 1))

    def _cast(self, op: Operation, value: Expression) -> Expression:
        source, target = op.operands[0].type, op.results[0].type
        if _is_boolean(target):
            return Cast("c", NamedType("bool"), BinaryOperation("&", value, Integer("1")))
        cast_ = Cast("c", cpp_type(target), value)
        # A set bit is -1 where the bit is the sign.
        signed = isinstance(op, arith.ExtSIOp | arith.SIToFPOp) and _is_boolean(source)
        return Unary("-", cast_) if signed else cast_


def _is_boolean(type_: Attribute) -> bool:
    return type_ == i1


# --- Calls ----------------------------------------------------------------------------------------
# Calls of the ttkernel dialect as expressions of the kernel tree, in the form their definitions
# say.

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
    constants = (Integer(str(int_property(op, name))) for name in call.constants)
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
    _check_places(pieces, operands)
    streamed: Expression = Name(call.cpp, position=position)
    for index, piece in enumerate(pieces):
        if index:
            streamed = BinaryOperation("<<", streamed, operands[index - 1], position=position)
        if piece == "\n" and index == len(pieces) - 1:
            streamed = BinaryOperation("<<", streamed, _END_OF_LINE, position=position)
        elif piece:
            streamed = BinaryOperation("<<", streamed, String(_escape(piece)), position=position)
    return streamed


def _formatted(
    op: Operation, call: KernelCall, operands: Sequence[Name], position: Position | None
) -> Expression:
    """The call of 2026 that prints a text and values at its places."""
    text = op.properties[call.text]
    assert isinstance(text, StringAttr), "the verifier has checked the attribute"
    pieces = [each.replace("{", "{{").replace("}", "}}") for each in text.data.split("{}")]
    _check_places(pieces, operands)
    callee = Name("DEVICE_PRINT", position=position)
    arguments = (String(_escape("{}".join(pieces))), *operands)
    return FunctionCall(callee, arguments, position=position)


def _check_places(pieces: Sequence[str], operands: Sequence[Name]) -> None:
    if len(pieces) != len(operands) + 1:
        raise CannotEmitError(
            f"prints a text with {len(pieces) - 1} places {{}} for {len(operands)} values"
        )


def _without_warning(value: Expression) -> Expression:
    """A comparison of a variable with itself as its value; compilers warn of it, and end there."""
    match value:
        case BinaryOperation(operator, Name(left), Name(right)) if left == right:
            is_comparison = any(operator == each for each, _ in COMPARISONS)
            return Boolean(operator in ("==", "<=", ">=")) if is_comparison else value
        case _:
            return value


def _escape(text: str) -> str:
    """A text as it stands between quotes."""
    special = {"\\": r"\\", '"': r"\"", "\n": r"\n", "\t": r"\t", "\r": r"\r"}
    return "".join(
        special.get(char, char if char.isprintable() or ord(char) > 127 else f"\\{ord(char):03o}")
        for char in text
    )


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
    """An argument that a definition spells."""
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


# --- From ttkernel --------------------------------------------------------------------------------

# MLIR's printer ends every statement in a loop or branch with a semicolon, loops included.
_NESTED_END = re.compile(r"^( {4,}\})$", re.MULTILINE)

_SUPPORTED = (
    "kernels are written in C++ from calls of ttkernel, scalar arith, local memrefs and scf.for, "
    "scf.if, scf.while"
)


def kernel_tree(
    owner: Operation, region: Region, thread: ThreadType, api: KernelApi = KernelApi.OF_2024
) -> TranslationUnit:
    """The source of the kernel in a region of `owner`; OpError for what C++ cannot say."""
    if len(region.blocks) != 1:
        raise OpError(owner, f"has a kernel of {len(region.blocks)} blocks; {_SUPPORTED}")
    writer = _KernelWriter(_position(owner.location), thread, api)
    with deep_recursion():
        body = writer.body(owner, region.block)
    return frame(body, thread, writer.headers, _position(owner.location), api)


def kernel_text(
    owner: Operation, region: Region, thread: ThreadType, api: KernelApi = KernelApi.OF_2024
) -> str:
    """The C++ of the kernel in a region of `owner`; that of 2024 is letter by letter tt-mlir's."""
    text = render(kernel_tree(owner, region, thread, api))
    if api is KernelApi.OF_2026:
        return text
    return _NESTED_END.sub(r"\1;", text) + "\n"


def _position(location: LocationAttr) -> Position | None:
    place = file_line_col(location)
    return None if place is None else Position(place.file, place.line, place.column)


class _KernelWriter:
    """Appends statements; a method per kind of operation."""

    def __init__(self, position: Position | None, thread: ThreadType, api: KernelApi) -> None:
        self.thread, self._api = thread, api
        self.headers = list[str]()
        self._names: dict[SSAValue, Name] = {}
        self._count = 0
        self._statements: list[Statement] = []
        self._position = position
        self._arithmetic = Arithmetic(lambda op, index: self._name(op.operands[index]), self._let)
        self._rules: dict[type[Operation], Callable[[Operation], None]] = {
            BuiltinOp: self._builtin,
            LiteralOp: self._literal,
            FuncReturnOp: self._return,
            ReturnOp: self._return,
            UnrealizedConversionCastOp: self._same,
            VerbatimOp: self._comment,
            memref.AllocaOp: self._allocate,
            memref.LoadOp: self._load,
            memref.StoreOp: self._store,
            scf.ForOp: self._for,
            scf.IfOp: self._if,
            scf.WhileOp: self._while,
        }

    def body(self, owner: Operation, block: IRBlock) -> Block:
        """The statements of the whole kernel."""
        for argument in block.args:
            if not isinstance(argument.type, CBType):
                raise OpError(
                    owner,
                    f"has a kernel with an argument of type '{argument.type}'; arguments of "
                    "kernels are circular buffers",
                )
            port = argument.type.buffer.data.port
            if self._api is KernelApi.OF_2024:
                self._names[argument] = self._let(CB_TYPE, Name(port.cpp_name))
            else:
                number = Integer(str(port.value))
                self._names[argument] = self._let(_WORD, number, ("constexpr",))
        self._operations(block)
        return Block(tuple(self._statements), position=self._position)

    # Variables.

    def _new_name(self) -> Name:
        self._count += 1
        return Name(f"v{self._count}", position=self._position)

    def _let(self, type_: Type, value: Expression | None, specifiers: tuple[str, ...] = ()) -> Name:
        name = self._new_name()
        if value is not None and self._api is KernelApi.OF_2026:
            value = _without_warning(value)
        declarator = Declarator(name.text, value=value, position=self._position)
        self._add(Declaration(type_, (declarator,), specifiers, position=self._position))
        return name

    def _name(self, value: SSAValue) -> Name:
        name = self._names.get(value)
        if name is None:
            raise CannotEmitError(
                "uses a value from outside of the kernel; a kernel takes circular buffers only"
            )
        return name

    def _declare_all(self, values: Iterable[SSAValue]) -> list[Name]:
        """A variable without value for each."""
        return [self._let(cpp_type(value.type), None) for value in values]

    def _bind(self, values: Sequence[SSAValue], names: Sequence[Name]) -> None:
        self._names.update(zip(values, names, strict=True))

    def _assign_all(self, targets: Sequence[Name], values: Sequence[SSAValue]) -> None:
        """Assign at once: a variable that is still to be read is copied before it changes."""
        sources = [self._name(value) for value in values]
        for index, target in enumerate(targets):
            later = sources[index + 1 :]
            if target in later and sources[index] != target:
                copy = self._let(cpp_type(values[index].type), target)
                sources[index + 1 :] = [copy if each == target else each for each in later]
            self._add(self._evaluate(Assign(target, "=", sources[index])))

    # Statements.

    def _add(self, statement: Statement) -> None:
        self._statements.append(statement)

    def _evaluate(self, expression: Expression) -> Evaluate:
        return Evaluate(expression, position=self._position)

    @contextmanager
    def _nested(self) -> Generator[list[Statement]]:
        """Statements that are added inside go to a list of their own."""
        outer = self._statements
        self._statements = []
        yield self._statements
        self._statements = outer

    def _operations(self, block: IRBlock) -> None:
        for op in block.ops:
            outer, self._position = self._position, _position(op.location)
            try:
                self._operation(op)
            except CannotEmitError as error:
                raise OpError(op, str(error)) from error
            self._position = outer

    def _operation(self, op: Operation) -> None:
        rule = self._rules.get(type(op))
        if rule is not None:
            rule(op)
        elif isinstance(op, CallOp):
            self._call(op)
        elif not isinstance(op, scf.YieldOp | scf.ConditionOp):
            value = self._arithmetic.expression(op)
            if value is None:
                raise CannotEmitError(f"has no form in a kernel; {_SUPPORTED}")
            self._let_result(op, value)

    def _call(self, op: CallOp) -> None:
        operands = tuple(map(self._name, op.operands))
        call, header = type(op).CALL, type(op).CALL.header
        if self._api is KernelApi.OF_2026 and call.form is Form.STREAM:
            self._let_result(op, _formatted(op, call, operands, self._position))
            self.headers.append(header)
            return
        expression = call_expression(op, operands, self._position)
        if self._api is KernelApi.OF_2024 or not isinstance(expression, FunctionCall):
            self._let_result(op, expression)
            self.headers.append(header)
            return
        *before, last = calls_of_2026(expression)
        for each in before:
            self._add(self._evaluate(each))
        self._let_result(op, last)
        self.headers += headers_of_2026(header, (*before, last))

    def _builtin(self, op: Operation) -> None:
        symbol = op.properties["op"]
        assert isinstance(symbol, SymbolRefAttr), "the verifier has checked the attribute"
        callee = Name(symbol.root_reference.data, position=self._position)
        arguments = tuple(map(self._name, op.operands))
        self._let_result(op, FunctionCall(callee, arguments, position=self._position))

    def _literal(self, op: Operation) -> None:
        assert isinstance(op, LiteralOp)
        self._names[op.results[0]] = Name(text_of(op, "value"), position=self._position)

    def _comment(self, op: Operation) -> None:
        text = text_of(op, "value")
        if not all(line.startswith("//") and line[-1:] != "\\" for line in text.split("\n")):
            raise CannotEmitError("has no form in a kernel unless it is a comment, '// ...'")
        self._add(Comment(text, position=self._position))

    def _same(self, op: Operation) -> None:
        """A change of types that are one type in C++."""
        if len(op.operands) != 1 or len(op.results) != 1:
            raise CannotEmitError("has no form in a kernel unless it casts one value to one")
        self._names[op.results[0]] = self._name(op.operands[0])

    def _let_result(self, op: Operation, value: Expression) -> None:
        """A variable for the result, or the value as a statement."""
        if op.results:
            self._bind(op.results, [self._let(cpp_type(op.results[0].type), value)])
        else:
            self._add(self._evaluate(value))

    def _return(self, op: Operation) -> None:
        if op.operands:
            raise CannotEmitError("returns a value, which a kernel does not")
        self._add(Return(position=self._position))

    # Arrays.

    def _allocate(self, op: Operation) -> None:
        type_ = op.results[0].type
        if not isinstance(type_, MemRefType) or op.operands or not type_.has_static_shape():
            raise CannotEmitError("has no form in a kernel unless its extents are constants")
        name = self._new_name()
        sizes = tuple(Integer(str(extent)) for extent in type_.get_shape())
        element = cpp_type(cast("MemRefType[Attribute]", type_).element_type)
        declarator = Declarator(name.text, sizes=sizes, position=self._position)
        self._add(Declaration(element, (declarator,), position=self._position))
        self._bind(op.results, [name])

    def _element(self, array: SSAValue, indices: Iterable[SSAValue]) -> LvalueExpression:
        element: LvalueExpression = self._name(array)
        for index in indices:
            element = Index(element, self._name(index), position=self._position)
        return element

    def _load(self, op: Operation) -> None:
        array, *indices = op.operands
        self._let_result(op, self._element(array, indices))

    def _store(self, op: Operation) -> None:
        value, array, *indices = op.operands
        target = self._element(array, indices)
        self._add(self._evaluate(Assign(target, "=", self._name(value), position=self._position)))

    # Control flow.

    def _for(self, op: Operation) -> None:
        assert isinstance(op, scf.ForOp)
        carried = self._declare_all(op.results)
        self._assign_all(carried, op.iter_args)
        induction, *arguments = op.body.block.args
        name = self._new_name()
        self._bind((induction, *arguments), (name, *carried))
        lower, upper, step = map(self._name, (op.lb, op.ub, op.step))
        start = Declaration(
            cpp_type(induction.type),
            (Declarator(name.text, value=lower, position=self._position),),
            position=self._position,
        )
        body = self._block(op.body.block, carried)
        condition, advance = BinaryOperation("<", name, upper), Assign(name, "+=", step)
        self._add(For(start, condition, advance, body, position=self._position))
        self._bind(op.results, carried)

    def _if(self, op: Operation) -> None:
        assert isinstance(op, scf.IfOp)
        results = self._declare_all(op.results)
        condition = self._name(op.cond)
        then = self._block(op.true_region.block, results)
        blocks = op.false_region.blocks
        otherwise = self._block(op.false_region.block, results) if blocks else None
        self._add(If(condition, then, otherwise, position=self._position))
        self._bind(op.results, results)

    def _while(self, op: Operation) -> None:
        """An endless loop that is left where the condition does not hold."""
        assert isinstance(op, scf.WhileOp)
        before, after = op.before_region.block, op.after_region.block
        carried = self._declare_all(op.arguments)
        self._assign_all(carried, op.arguments)
        self._bind(before.args, carried)
        condition = before.last_op
        assert isinstance(condition, scf.ConditionOp), "the verifier has checked the terminator"
        passed = list(condition.args)
        results = carried if passed == list(before.args) else self._declare_all(op.results)
        with self._nested() as statements:
            self._operations(before)
            if results is not carried:
                self._assign_all(results, passed)
            leave = Unary("!", self._name(condition.condition))
            self._add(If(leave, Block((Break(position=self._position),)), position=self._position))
            self._bind(after.args, results)
            self._operations(after)
            self._yield(after, carried)
        body = Block(tuple(statements), position=self._position)
        self._add(While(Boolean(True), body, position=self._position))
        self._bind(op.results, results)

    def _block(self, block: IRBlock, targets: Sequence[Name]) -> Block:
        """The body of a loop or branch, which assigns what it yields."""
        with self._nested() as statements:
            self._operations(block)
            self._yield(block, targets)
        return Block(tuple(statements), position=self._position)

    def _yield(self, block: IRBlock, targets: Sequence[Name]) -> None:
        terminator = block.last_op
        if targets and terminator is not None:
            self._assign_all(targets, terminator.operands)


# --- Kernels --------------------------------------------------------------------------------------
# The kernels of a module as C++: what `ttmlir-translate --ttkernel-to-cpp` prints.


def write_kernels(module: ModuleOp, api: KernelApi | None = None) -> str:
    """The C++ of every kernel: regions of `ttmetal.dispatch`, and functions that are kernels.

    Without `api` they are for tt-metal of 2024, those in the form of 2026 for that of July 2026,
    in tt-lang's words; `KernelApi.OF_2026` is tt-metal 0.81.

    A function is a kernel if it has the attribute `ttkernel.thread`, which says for which
    processor. Several kernels are separated by the marker that `--split-input-file` knows, each
    after a line that says where it comes from. Raises OpError for what is no kernel in C++, and for
    a module without kernels.
    """
    kernels = list(_kernels(module, api))
    if not kernels:
        raise OpError(
            module,
            "has no kernels: no 'ttmetal.dispatch', and no function with the attribute "
            f"'{KERNEL_THREAD}'; lower the module with --ttir-to-ttmetal-backend-pipeline first",
        )
    if len(kernels) == 1:
        return kernels[0][1]
    return f"{DEFAULT_MARKER}\n".join(f"// {title}\n{text}" for title, text in kernels)


def _kernels(module: ModuleOp, api: KernelApi | None) -> Iterator[tuple[str, str]]:
    """Title and text of each kernel in the order of the module."""
    for op in module.walk():
        match op:
            case ttmetal.DispatchOp():
                yield from _dispatch(op, api)
            case FuncOp() if KERNEL_THREAD in op.attributes:
                yield f"@{op.sym_name.data}", function_text(op, api)
            case FuncOp() if any(isinstance(each, TTKernelOp) for each in op.body.ops):
                raise OpError(
                    op,
                    f"has kernel calls, but no attribute '{KERNEL_THREAD}' with its processor; "
                    "give it #ttkernel.thread<noc>, #ttkernel.thread<tensix> or "
                    "#ttkernel.thread<ethernet>",
                )
            case _:
                pass


def _is_converted(function: FuncOp) -> bool:
    """True for what convert-ttkernel-to-emitc makes; kernels of 2024 hold calls of ttkernel."""
    return any(isinstance(op, CallOpaqueOp | ConstantOp) for op in function.walk())


def function_text(op: FuncOp, api: KernelApi | None) -> str:
    """The C++ of a function that is a kernel, also of one that was converted to emitc."""
    thread = op.attributes[KERNEL_THREAD]
    if not isinstance(thread, ThreadTypeAttr):
        raise OpError(op, f"has an attribute '{KERNEL_THREAD}' that is no #ttkernel.thread")
    if has_late_kernels(op) or _is_converted(op):
        from ttmlir.target.cpp.late_kernels import late_kernel_text

        return late_kernel_text(op, thread.value, api)
    return kernel_text(op, op.body, thread.value, api or KernelApi.OF_2024)


def _dispatch(op: Operation, api: KernelApi | None) -> Iterator[tuple[str, str]]:
    configs = cast(
        "ArrayAttr[TensixConfigAttr | NocConfigAttr | EthernetConfigAttr]",
        op.properties["kernelConfigs"],
    )
    if len(configs) != len(op.regions):
        raise OpError(op, f"has {len(op.regions)} kernels and {len(configs)} kernelConfigs")
    place = file_line_col(op.location)
    where = "" if place is None else f" at {place.file}:{place.line}:{place.column}"
    for index, (region, config) in enumerate(zip(op.regions, configs, strict=True)):
        title = f"kernel {index} of 'ttmetal.dispatch'{where}, {config.thread_type.keyword}"
        yield title, kernel_text(op, region, config.thread_type, api or KernelApi.OF_2024)


# --- Frames ---------------------------------------------------------------------------------------
# What stands around the body of a kernel: its headers, and the way in for each processor.
#
# The frames are those of tt-mlir at 880154e3c2
# (lib/Conversion/TTKernelToEmitC/TTKernelToEmitC.cpp).

ENTRY = "kernel_main"
"""The function that a kernel is."""

HEADERS = {
    ThreadType.NOC: ("dataflow_api.h",),
    ThreadType.TENSIX: (
        "compute_kernel_api/common.h",
        "compute_kernel_api/tilize.h",
        "compute_kernel_api/untilize.h",
        "compute_kernel_api/eltwise_binary.h",
    ),
    ThreadType.ETHERNET: (),
}
"""Headers that every kernel of a thread type includes."""

_HEADERS_OF_2026 = {**HEADERS, ThreadType.TENSIX: HEADERS[ThreadType.TENSIX][:1]}
"""The same in 2026; what computes is named by the calls alone."""

_COVERED = {
    ThreadType.NOC: ("compute_kernel_api/cb_api.h",),
    ThreadType.TENSIX: (
        "compute_kernel_api/cb_api.h",
        "compute_kernel_api/pack.h",
        "compute_kernel_api/reg_api.h",
        "dataflow_api.h",
    ),
    ThreadType.ETHERNET: (),
}
"""Headers whose calls come with others: `common.h` includes those of compute kernels, and
`dataflow_api.h` declares the calls for circular buffers, too."""

_EVERYWHERE = ("cstdint", "compile_time_args.h")


def frame(
    body: Block,
    thread: ThreadType,
    headers: Iterable[str],
    position: Position | None,
    api: KernelApi = KernelApi.OF_2024,
) -> TranslationUnit:
    """The source of a kernel; `headers` are those that declare its calls."""
    covered = (*_COVERED[thread], *_EVERYWHERE)
    if api is KernelApi.OF_2026:
        covered = tuple(map(header_of_2026, covered))
        common = tuple(map(header_of_2026, _HEADERS_OF_2026[thread]))
        found = map(header_of_2026, headers)
    else:
        common, found = HEADERS[thread], headers
    paths = dict.fromkeys((*common, *(each for each in found if each not in covered)))
    includes = (Include("cstdint", standard=True), *map(Include, paths))
    function = Function(ENTRY, definition=body, position=position)
    items: tuple[Item, ...] = (function,)
    if thread is ThreadType.TENSIX and api is KernelApi.OF_2024:
        # Each of the three compute processors is compiled from this text, in its own namespace.
        main = Function("MAIN", definition=Block((Evaluate(FunctionCall(Name(ENTRY))),)))
        items = (Namespace("NAMESPACE", (function, main)),)
    return TranslationUnit((*includes, *items), position=position)
