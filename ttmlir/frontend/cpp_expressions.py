"""Expressions of a C++ kernel that is read into the IR."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn, TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    MemRefType,
    StringAttr,
    UnrealizedConversionCastOp,
    f32,
    i1,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ttmlir.cpp.errors import Position
from ttmlir.cpp.tree import (
    ASSIGNMENT_OPERATORS,
    Assign,
    BinaryOperation,
    Boolean,
    Braces,
    Cast,
    Character,
    Conditional,
    Construct,
    Decltype,
    Expression,
    Floating,
    Function,
    FunctionCall,
    FunctionOf,
    Inclusions,
    Index,
    Initializer,
    Integer,
    Member,
    Name,
    NamedType,
    Node,
    Reference,
    SizeOf,
    String,
    TemplateArgument,
    Type,
    Unary,
    Update,
    effect,
)
from ttmlir.cpp.tree import Block as Statements
from ttmlir.cpp.types import (
    BOOL,
    CHAR,
    DOUBLE,
    FLOAT,
    INT,
    INT64,
    UNSIGNED,
    VOID,
    FloatType,
    IntType,
    ObjectType,
    PointerType,
    QualifiedType,
    SignatureType,
    find_built_in_type,
    find_common_type,
    find_integer_type,
    keeps_const,
    promote,
    resolve_type,
    size_of,
)
from ttmlir.dialects.emitc import EmitC_OpaqueType, LiteralOp
from ttmlir.dialects.tt import TileType
from ttmlir.dialects.ttkernel import RESULT_TYPES, CBType, op_class
from ttmlir.errors import plural
from ttmlir.ir.builder import OpBuilder
from ttmlir.layout.enums import CBPort
from ttmlir.mlir.reporting import LocatedError, file_location
from ttmlir.optable.kernel import (
    CALLS,
    Form,
    KernelCall,
    Template,
    TemplateKind,
    ValueKind,
    calls_named,
)
from ttmlir.optable.kernel.kernel_call import CONSTANTS, ENUMS

# --- Read values ----------------------------------------------------------------------------------
# Values of a C++ kernel that is read into the IR: what they are there, and arithmetic with them.
#
# Integers are signless in the IR; a value remembers whether its type is unsigned in C++, which
# decides between operations as `arith.divsi` and `arith.divui`. A cast between signed and unsigned
# is therefore nothing in the IR, and the casts with which `arith.addi` is written vanish again. As
# on the cores, `int`, `long` and `size_t` have 32 bits.


@dataclass(frozen=True)
class LibraryType:
    """A type that only the IR has: C++ has numbers, pointers or classes of its own for it."""

    type: Attribute


ValueType: TypeAlias = IntType | FloatType | PointerType | LibraryType
"""Floating-point numbers are `float`, and pointers are to 32-bit words of L1."""


def find_ir_type(type_: ValueType) -> Attribute:
    """The type of the IR."""
    match type_:
        case IntType(bits=bits):
            return IntegerType(bits)
        case FloatType():
            return f32
        case PointerType():
            return RESULT_TYPES[ValueKind.L1_PTR]
        case LibraryType(type=attribute):
            return attribute


def find_value_type(type_: Attribute, *, signed: bool = True) -> ValueType:
    """The type of values of a type of the IR."""
    match type_:
        case IntegerType():
            return find_integer_type(type_.width.data, signed)
        case _ if isinstance(type_, AnyFloat):
            return FLOAT
        case _ if type_ == RESULT_TYPES[ValueKind.L1_PTR]:
            return PointerType(UNSIGNED, volatile=True)
        case _:
            return LibraryType(type_)


@dataclass(frozen=True)
class TypedValue:
    """A value: of an operation, or a number that no operation has been made for yet."""

    ctype: ValueType
    ssa: SSAValue | None = None
    number: int | None = None
    """What it is known to be when the kernel is compiled."""

    @property
    def ir_type(self) -> Attribute:
        """The type in the IR."""
        return find_ir_type(self.ctype)


def known(number: int, ctype: IntType = INT) -> TypedValue:
    """A number."""
    return TypedValue(ctype, number=number)


def width_of(type_: Attribute) -> int | None:
    """Bits of an integer type; None for any other type."""
    match type_:
        case IntegerType():
            return type_.width.data
        case _:
            return None


_INTEGER_OPERATIONS: dict[str, tuple[type[Operation], type[Operation]]] = {
    "+": (arith.AddiOp, arith.AddiOp),
    "-": (arith.SubiOp, arith.SubiOp),
    "*": (arith.MuliOp, arith.MuliOp),
    "/": (arith.DivSIOp, arith.DivUIOp),
    "%": (arith.RemSIOp, arith.RemUIOp),
    "&": (arith.AndIOp, arith.AndIOp),
    "|": (arith.OrIOp, arith.OrIOp),
    "^": (arith.XOrIOp, arith.XOrIOp),
    "<<": (arith.ShLIOp, arith.ShLIOp),
    ">>": (arith.ShRSIOp, arith.ShRUIOp),
}
"""The operations of signed and of unsigned numbers."""
_FLOAT_OPERATIONS: dict[str, type[Operation]] = {
    "+": arith.AddfOp,
    "-": arith.SubfOp,
    "*": arith.MulfOp,
    "/": arith.DivfOp,
}
_PREDICATES = {"==": ("eq", "eq"), "!=": ("ne", "ne")} | {
    operator: (f"s{name}", f"u{name}")
    for operator, name in (("<", "lt"), ("<=", "le"), (">", "gt"), (">=", "ge"))
}


class ValueBuilder(OpBuilder):
    """Adds operations at the location of the node that is being read."""

    def __init__(self, block: Block, position: Position) -> None:
        """Add to `block`."""
        super().__init__(block, _location_of(position))

    def at(self, node: Node) -> None:
        """Take the location of a node, if it has one."""
        if node.position is not None:
            self.location = _location_of(node.position)

    def refuse(self, message: str, node: Node | None = None) -> NoReturn:
        """Fail at a node, or where the builder is."""
        if node is not None:
            self.at(node)
        raise LocatedError(self.location, message)

    def add(self, op: Operation) -> Operation:
        """Add an operation at the location."""
        op.location = self.location
        return self.insert(op)

    def make(
        self,
        cls: type[Operation],
        operands: Sequence[SSAValue],
        type_: Attribute,
        properties: Mapping[str, Attribute] | None = None,
    ) -> SSAValue:
        """Add an operation with one result."""
        op = cls.create(operands=operands, result_types=[type_], properties=dict(properties or {}))
        return self.add(op).results[0]

    # Numbers.

    def ssa(self, value: TypedValue) -> SSAValue:
        """The value of an operation; a number gets a constant."""
        if value.ssa is not None:
            return value.ssa
        type_, number = value.ir_type, value.number
        assert number is not None, "a value is of an operation or a number"
        bits = width_of(type_)
        if bits is None:
            self.refuse(f"a number does not go where a '{type_}' is expected")
        return self.add(arith.ConstantOp(IntegerAttr(_wrap(number, bits), bits))).results[0]

    def floating(self, number: float) -> TypedValue:
        """A floating-point constant."""
        return TypedValue(FLOAT, self.add(arith.ConstantOp(FloatAttr(number, f32))).results[0])

    def convert(self, value: TypedValue, target: ValueType) -> TypedValue:
        """The value as one of another type of numbers."""
        source, wanted = value.ir_type, find_ir_type(target)
        if value.number is not None and value.ssa is None and isinstance(target, IntType):
            number = int(value.number != 0) if wanted == i1 else value.number
            return known(number, target)
        if source == wanted:
            return replace(value, ctype=target)
        from_bits, to_bits = width_of(source), width_of(wanted)
        if isinstance(source, AnyFloat) or isinstance(wanted, AnyFloat):
            cls = self._float_cast(value.ctype, target)
        elif from_bits is None or to_bits is None:
            self.refuse(f"a '{source}' cannot be used as a '{wanted}'")
        elif to_bits == 1:
            assert isinstance(value.ctype, IntType), "it has a width"
            return self.compare("!=", value, known(0, value.ctype))
        elif to_bits < from_bits:
            cls = arith.TruncIOp
        else:
            cls = arith.ExtSIOp if is_signed(value.ctype) else arith.ExtUIOp
        return TypedValue(target, self.make(cls, [self.ssa(value)], wanted), value.number)

    def _float_cast(self, source: ValueType, target: ValueType) -> type[Operation]:
        match source, target:
            case IntType(), FloatType() if source != BOOL:
                return arith.SIToFPOp if source.signed else arith.UIToFPOp
            case FloatType(), IntType() if target != BOOL:
                return arith.FPToSIOp if target.signed else arith.FPToUIOp
            case _:
                names = f"'{find_ir_type(source)}' cannot be used as a '{find_ir_type(target)}'"
                self.refuse(f"a {names}")

    def unify(
        self, left: TypedValue, right: TypedValue
    ) -> tuple[TypedValue, TypedValue, IntType | FloatType]:
        """Both operands in the type that C++ computes with."""
        common: IntType | FloatType = FLOAT
        if not isinstance(left.ctype, FloatType) and not isinstance(right.ctype, FloatType):
            common = find_common_type(self._integer_type(left), self._integer_type(right))
        return self.convert(left, common), self.convert(right, common), common

    def _integer_type(self, value: TypedValue) -> IntType:
        if not isinstance(value.ctype, IntType):
            self.refuse(f"arithmetic on a '{value.ir_type}' has no form in the IR")
        return value.ctype

    def compute(self, operator: str, left: TypedValue, right: TypedValue) -> TypedValue:
        """`left operator right` of numbers."""
        if operator in _PREDICATES:
            return self.compare(operator, left, right)
        common: IntType | FloatType = BOOL
        if operator in ("<<", ">>"):
            common = promote(self._integer_type(left))
            left, right = self.convert(left, common), self.convert(right, common)
        elif operator not in "&|^" or left.ctype != BOOL or right.ctype != BOOL:
            left, right, common = self.unify(left, right)
        if isinstance(common, FloatType):
            cls = _FLOAT_OPERATIONS.get(operator)
            if cls is None:
                self.refuse(f"'{operator}' does not go with floating-point numbers")
        else:
            cls = _INTEGER_OPERATIONS[operator][not common.signed]
        number = _fold(operator, left.number, right.number)
        if number is not None and isinstance(common, IntType):
            number = common.wrap(number)
        operands = [self.ssa(left), self.ssa(right)]
        return TypedValue(common, self.make(cls, operands, find_ir_type(common)), number)

    def compare(self, operator: str, left: TypedValue, right: TypedValue) -> TypedValue:
        """A comparison of numbers."""
        left, right, common = self.unify(left, right)
        if isinstance(common, FloatType):
            self.refuse("comparisons of floating-point numbers have no form in the IR")
        predicate = _PREDICATES[operator][not common.signed]
        operands = self.ssa(left), self.ssa(right)
        return TypedValue(BOOL, self.add(arith.CmpiOp(*operands, predicate)).results[0])

    def truth(self, value: TypedValue) -> SSAValue:
        """Whether a number is not 0."""
        return self.ssa(self.convert(value, BOOL))


def is_signed(type_: ValueType) -> bool:
    """Whether values are integers with a sign."""
    return isinstance(type_, IntType) and type_.signed


def _location_of(position: Position) -> LocationAttr:
    return file_location(position.file, position.line, position.column)


def _wrap(number: int, bits: int) -> int:
    """The number with so many bits, negative if the highest is set."""
    if bits == 1:
        return number & 1
    return (number + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def _fold(operator: str, left: int | None, right: int | None) -> int | None:
    """What plain arithmetic on known numbers gives: enough to number buffers and arguments."""
    if left is None or right is None:
        return None
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case _:
            return None


# --- Read expressions -----------------------------------------------------------------------------

# --- Read calls -----------------------------------------------------------------------------------
# Calls of tt-metal's kernel library in C++ as operations of ttkernel, by their definitions.

_METHODS = {call.cpp: call for call in CALLS if call.form is Form.METHOD}
_INTEGERS = (ValueKind.I32, ValueKind.ADDRESS)
_ROWS_OF = ("tilize_init", "tilize_block")
_ROWS_FROM = ("untilize_init", "untilize_block")

Evaluate = Callable[[TemplateArgument], TypedValue]


def overloads(name: str) -> tuple[KernelCall, ...]:
    """The calls of this name; none if the library has no such function."""
    try:
        return calls_named(name)
    except KeyError:
        return ()


def enumerator(name: str) -> tuple[str, str] | None:
    """Enumeration and member that a qualified name means; None if it is none."""
    *scope, member = name.removeprefix("::").removeprefix("tt::").split("::")
    known_enum = ENUMS.get(scope[-1]) if scope else None
    if known_enum is None or member not in known_enum.members:
        return None
    return known_enum.name, member


class CallReader:
    """Makes operations of calls, and arguments of the kernel of circular buffers."""

    def __init__(self, builder: ValueBuilder, entry: Block) -> None:
        """Add calls with `builder`; circular buffers become arguments of `entry`."""
        self._builder = builder
        self._entry = entry
        self._buffers: dict[CBPort, SSAValue] = {}
        self._rows: dict[CBPort, None] = {}

    # Names.

    def constant(self, name: str) -> TypedValue | None:
        """What a name of the library means: an enumerator or a number; None if it has none."""
        member = enumerator(name)
        if member is None:
            return known(CONSTANTS[name], UNSIGNED) if name in CONSTANTS else None
        enum, text = member
        if enum != "DataFormat":
            return known(ENUMS[enum].members[text], UNSIGNED)
        opaque = EmitC_OpaqueType(StringAttr("DataFormat"))
        spelled = self._builder.make(
            LiteralOp, [], opaque, {"value": StringAttr(f"DataFormat::{text}")}
        )
        format_type = RESULT_TYPES[ValueKind.DATA_FORMAT]
        cast = self._builder.add(UnrealizedConversionCastOp.get([spelled], [format_type]))
        return TypedValue(LibraryType(format_type), cast.results[0])

    def buffer(self, value: TypedValue) -> SSAValue:
        """The circular buffer with a number, an argument of the kernel."""
        if value.number is None or not 0 <= value.number < len(CBPort):
            self._builder.refuse(
                "a circular buffer has to be a number from 0 to 31 or a name such as "
                "tt::CBIndex::c_0 that is known when the kernel is compiled"
            )
        port = CBPort(value.number)
        if port not in self._buffers:
            index = len(self._buffers)
            memref: MemRefType[Attribute] = MemRefType(TileType.of(f32), [1, 1])
            cb = CBType.get(port, 0, memref)
            self._buffers[port] = self._entry.insert_arg(cb, index, self._builder.location)
        return self._buffers[port]

    # Calls.

    def call(
        self,
        name: str,
        arguments: Sequence[TypedValue],
        template_arguments: Sequence[TemplateArgument],
        evaluate: Evaluate,
    ) -> TypedValue | None:
        """A call of a function by its name; its result, if it has one."""
        rows = overloads(name)
        call = next((each for each in rows if _fits(each, arguments)), None)
        if call is None:
            assert rows, "the caller has looked the name up"
            self._builder.refuse(_wrong_arguments(name, rows, arguments))
        return self.emit(call, arguments, template_arguments, evaluate)

    def method(self, name: str, arguments: Sequence[TypedValue]) -> TypedValue | None:
        """A call of a method; the object is the first argument."""
        call = _METHODS.get(name)
        if call is None or not _fits(call, arguments):
            listed = ", ".join(sorted(_METHODS))
            self._builder.refuse(
                f"there is no method '{name}' for this in the IR; tensor accessors have {listed}"
            )
        return self.emit(call, arguments, (), _no_template)

    def emit(
        self,
        call: KernelCall,
        arguments: Sequence[TypedValue],
        template_arguments: Sequence[TemplateArgument],
        evaluate: Evaluate,
        properties: dict[str, Attribute] | None = None,
    ) -> TypedValue | None:
        """The operation of a definition on these arguments."""
        builder = self._builder
        attributes = dict(properties or {})
        constants, given = arguments[: len(call.constants)], arguments[len(call.constants) :]
        for name, value in zip(call.constants, constants, strict=True):
            if value.number is None:
                builder.refuse(f"argument '{name}' has to be known when the kernel is compiled")
            self._check_bits(value.number)
            attributes[name] = IntegerAttr(value.number, i32)
        attributes |= self._templates(call, template_arguments, evaluate)
        operands = self._operands(call, given)
        attributes |= self._options(call, given[len(call.operands) :])
        results = [RESULT_TYPES[call.result[1]]] if call.result else []
        op = op_class(call.mnemonic).create(
            operands=operands, result_types=results, properties=attributes
        )
        builder.add(op)
        self._note_rows(call, operands)
        if not call.result:
            return None
        return TypedValue(_result_type(results[0]), op.results[0])

    def _check_bits(self, number: int) -> None:
        if not -(1 << 31) <= number < 1 << 32:
            self._builder.refuse(f"{number} does not fit into the 32 bits that are taken here")

    def _operands(self, call: KernelCall, given: Sequence[TypedValue]) -> list[SSAValue]:
        count = len(call.operands)
        missing = call.defaults[len(given) - count :] if len(given) < count else ()
        values = [*given[:count], *(known(int(each)) for each in missing)]
        operands = [
            self._operand(value, kind)
            for value, (_, kind) in zip(values, call.operands, strict=True)
        ]
        if call.variadic:
            operands += [self._builder.ssa(value) for value in given[count:]]
        return operands

    def _operand(self, value: TypedValue, kind: ValueKind) -> SSAValue:
        builder = self._builder
        if kind is ValueKind.CB:
            return self.buffer(value)
        semaphore = RESULT_TYPES[ValueKind.SEMAPHORE]
        wanted = RESULT_TYPES.get(kind, i32)
        if value.ir_type == wanted or (kind is ValueKind.ADDRESS and value.ir_type == semaphore):
            return builder.ssa(value)
        accessor = RESULT_TYPES[ValueKind.ACCESSOR]
        if kind is ValueKind.ADDR_GEN and value.ir_type == accessor:
            return builder.ssa(value)
        return builder.ssa(builder.convert(value, find_value_type(wanted)))

    def _options(self, call: KernelCall, given: Sequence[TypedValue]) -> dict[str, Attribute]:
        """Parameters that the operation lacks may be given only what they have anyway."""
        attributes: dict[str, Attribute] = {}
        if call.variadic:
            return attributes
        for option, value in zip(call.options, given, strict=False):
            if option.is_attribute and value.number is not None:
                if value.number:
                    attributes[option.name] = IntegerAttr(1, i1)
                continue
            default = {"false": 0, "true": 1}.get(option.default)
            if default is None and option.default.isdigit():
                default = int(option.default)
            if value.number is None or value.number != default:
                self._builder.refuse(
                    f"parameter '{option.name}' of {call.cpp} has no form in the IR other than "
                    f"its default, {option.default}; leave it out"
                )
        return attributes

    def _templates(
        self, call: KernelCall, given: Sequence[TemplateArgument], evaluate: Evaluate
    ) -> dict[str, Attribute]:
        if len(given) > len(call.templates):
            self._builder.refuse(
                f"{call.cpp} takes {plural(len(call.templates), 'template argument')}, not "
                f"{len(given)}"
            )
        pairs = zip(call.templates, given, strict=False)
        attributes = {
            each.name: self._template(each, argument, evaluate) for each, argument in pairs
        }
        return {name: attribute for name, attribute in attributes.items() if attribute is not None}

    def _template(
        self, template: Template, given: TemplateArgument, evaluate: Evaluate
    ) -> Attribute | None:
        """The attribute for a template argument; None for what is written without one, too."""
        text = _spell(given)
        if text is not None and text in (template.implied, template.default):
            return None
        match template.kind:
            case TemplateKind.TYPE if isinstance(given, NamedType):
                return StringAttr(given.name)
            case TemplateKind.ENUM if (
                isinstance(given, Name) and (member := enumerator(given.text)) is not None
            ):
                return StringAttr(member[1])
            case TemplateKind.BOOL | TemplateKind.INT:
                number = evaluate(given).number
                if number is not None:
                    self._check_bits(number)
                    return IntegerAttr(number, i1 if template.kind is TemplateKind.BOOL else i32)
            case _:
                pass
        self._builder.refuse(
            f"template argument '{template.name}' has to be a {template.kind.name.lower()} that is "
            "known when the kernel is compiled"
        )

    # Circular buffers of rows.

    def _note_rows(self, call: KernelCall, operands: Sequence[SSAValue]) -> None:
        """Remember which buffers hold rows: what is tilized, and what untilizing makes."""
        if call.mnemonic in _ROWS_OF:
            self._hold_rows(operands[0])
        elif call.mnemonic in _ROWS_FROM:
            self._hold_rows(operands[-1])

    def _hold_rows(self, value: SSAValue) -> None:
        cb = value.type
        assert isinstance(cb, CBType), "the operand is a circular buffer"
        self._rows[cb.buffer.data.port] = None

    def finish(self) -> None:
        """Give the buffers of rows their type."""
        for port in self._rows:
            value = self._buffers[port]
            assert isinstance(value.type, CBType), "it has been made so"
            rows: MemRefType[Attribute] = MemRefType(f32, [32, 32])
            self._buffers[port] = Rewriter.replace_value_with_new_type(
                value, CBType(value.type.buffer, rows)
            )


def _no_template(argument: TemplateArgument) -> TypedValue:
    raise AssertionError("methods of the table have no template arguments")


def _fits(call: KernelCall, arguments: Sequence[TypedValue]) -> bool:
    """Whether a call takes so many arguments, and objects where it has them."""
    most = call.most_arguments
    if len(arguments) < call.fewest_arguments or (most is not None and len(arguments) > most):
        return False
    given = arguments[len(call.constants) :]
    return all(_goes(value, kind) for value, (_, kind) in zip(given, call.operands, strict=False))


def _goes(value: TypedValue, kind: ValueKind) -> bool:
    """Whether a value can be an operand of a kind: numbers convert, all else is what it is."""
    match kind:
        case ValueKind.CB:
            return value.number is not None
        case ValueKind.I32 | ValueKind.BOOL | ValueKind.F32:
            return not isinstance(value.ctype, (LibraryType, PointerType))
        case ValueKind.ADDRESS:
            return value.ir_type in (i32, RESULT_TYPES[ValueKind.SEMAPHORE])
        case ValueKind.ADDR_GEN:
            return value.ir_type in (RESULT_TYPES[kind], RESULT_TYPES[ValueKind.ACCESSOR])
        case _:
            return value.ir_type == RESULT_TYPES[kind]


def _wrong_arguments(
    name: str, definitions: Sequence[KernelCall], arguments: Sequence[TypedValue]
) -> str:
    parameters = (
        (*definition.constants, *(each for each, _ in definition.operands))
        for definition in definitions
    )
    forms = " or ".join(f"{name}({', '.join(each)})" for each in parameters)
    return (
        f"cannot pass {plural(len(arguments), 'argument')} of these types to {forms}; "
        "circular buffers have to be known when the kernel is compiled"
    )


def _spell(argument: TemplateArgument) -> str | None:
    match argument:
        case NamedType(name=text) | Name(text=text) | Integer(text=text):
            return text
        case Boolean(value=value):
            return "true" if value else "false"
        case _:
            return None


def _result_type(type_: Attribute) -> ValueType:
    """The type of a result; numbers are unsigned in tt-metal."""
    return find_value_type(type_, signed=False)


# --- Read expressions -----------------------------------------------------------------------------

_UNSUPPORTED_ESCAPE = re.compile(r"(?:[^\\]|\\[ntr0\\'\"ab])*+(\\.)")
_MAX_CALLS = 4096
"""How many calls of its own functions a kernel may inline."""
_MAX_CALL_NESTING = 64

_LARGEST = (2 - 2**-23) * 2.0**127
"""That `float` can hold."""
_CONSTANT = "this is constant and cannot be changed"
_SUPPORTED = (
    "the IR has numbers, variables, calls of the kernel library and of functions in the text, "
    "casts, arithmetic and 32-bit words of L1"
)


@dataclass(frozen=True)
class Variable:
    """A variable: its type, and its value from here on, None before the first."""

    type: ValueType
    value: TypedValue | None
    is_const: bool = False


Scope = dict[str, Variable]


class KernelExpressions(ABC):
    """Reads expressions; assignments in them change `variables`."""

    def __init__(
        self,
        builder: ValueBuilder,
        entry: Block,
        functions: Mapping[str, Function],
        inclusions: Inclusions,
    ) -> None:
        """Begin with no variables; `functions` are those of the text and of its headers."""
        self.inclusions = inclusions
        self.unreadable = dict[str, LocatedError]()
        """What is wrong with variables of headers."""
        self.builder = builder
        self.functions = functions
        self.variables: Scope = {}
        self.calls = CallReader(builder, entry)
        self.calling: list[str] = []
        self._inlined = 0
        self.shared: tuple[str, ...] = ()
        """Variables outside of functions."""

    @abstractmethod
    def function_body(self, body: Statements, returns: list[TypedValue] | None) -> None:
        """Read the body of a function where it is called."""

    # Types.

    def type_of(self, type_: Type) -> ValueType | None:
        """The type of a variable; None where its initial value says it."""
        found = self._resolve(type_)
        if isinstance(type_, Reference):
            if not found.const:
                raise self.unknown_type(type_, "")
            type_ = type_.referent
        if isinstance(type_, NamedType) and type_.name == "auto":
            return None
        match found.type:
            case IntType() | FloatType() | PointerType(pointee=IntType(name="uint32_t")) as known_:
                return known_
            case ObjectType(name="DataFormat"):
                return LibraryType(RESULT_TYPES[ValueKind.DATA_FORMAT])
            case ObjectType():
                return None
            case _:
                raise self.unknown_type(type_, "")

    def is_const(self, type_: Type) -> bool:
        """Whether a variable of this type keeps its first value."""
        return self._resolve(type_).const

    def _resolve(self, type_: Type) -> QualifiedType:
        """The type; `auto*` is a pointer to words, as the IR has no others."""
        return resolve_type(type_, self, QualifiedType(PointerType(UNSIGNED)))

    def find_type(self, name: str) -> QualifiedType | None:
        """The type of a name that a value in the IR can have."""
        found = find_built_in_type(name)
        if found in (VOID, DOUBLE):
            return None
        if found is None and name.removeprefix("::") in ("tt::CB", "tt::CBIndex", "CB"):
            found = UNSIGNED
        if found is None and name in ("DataFormat", "tt::DataFormat"):
            found = ObjectType("DataFormat")
        if found is None and overloads(name):
            found = ObjectType(name)
        return None if found is None else QualifiedType(found)

    def find_templated_type(self, node: NamedType | Name) -> QualifiedType | None:
        """The type of a name with template arguments: those of the library have them."""
        return self.find_type(node.name if isinstance(node, NamedType) else node.text)

    def find_decltype(self, node: Decltype) -> QualifiedType:
        """The IR has no types of expressions."""
        raise self.unknown_type(node, "")

    def find_count(self, node: Expression) -> int:
        """The IR has no arrays."""
        raise self.unknown_type(node, "")

    def find_signature(self, node: FunctionOf) -> SignatureType:
        """The IR has no values that are functions."""
        raise self.unknown_type(node, "")

    def unknown_type(self, node: Node, name: str) -> Exception:
        """The error about a type that the IR has no values of."""
        return self.error(
            node,
            "a value of this type has no form in the IR; it has numbers, bool, circular "
            "buffers, address generators, tensor accessors, volatile tt_l1_ptr uint32_t*",
        )

    def error(self, node: Node, message: str) -> Exception:
        """An error about a node."""
        self.builder.at(node)
        return LocatedError(self.builder.location, message)

    def to_declared(self, value: TypedValue, type_: ValueType) -> TypedValue:
        """The value of a variable of this type."""
        wanted, given = find_ir_type(type_), value.ir_type
        if not isinstance(type_, (IntType, FloatType)):
            if given != wanted:
                self.builder.refuse(f"expected a value of type '{wanted}', got '{given}'")
            return self._to_pointer(value, type_) if isinstance(type_, PointerType) else value
        # Addresses on a network are numbers of 64 bits in C++.
        if given == RESULT_TYPES[ValueKind.NOC_ADDR] and width_of(wanted) == 64:
            return value
        if given == RESULT_TYPES[ValueKind.SEMAPHORE] and width_of(wanted) == 32:
            return value
        return self.builder.convert(value, type_)

    def _to_pointer(self, value: TypedValue, type_: PointerType) -> TypedValue:
        assert isinstance(value.ctype, PointerType), "it has that type in the IR"
        if not keeps_const(type_, value.ctype):
            self.builder.refuse(
                f"'{value.ctype.name}' does not convert to '{type_.name}', through which what is "
                "const could be changed; declare the pointer with const"
            )
        return replace(value, ctype=type_)

    def settled(self, value: TypedValue) -> TypedValue:
        """The value with an operation for it, so that uses are of one constant."""
        return replace(value, ssa=self.builder.ssa(value))

    # Values.

    def current(self, variable: Variable) -> TypedValue:
        """What a variable holds; one without value holds 0, as it may."""
        if variable.value is not None:
            return variable.value
        return TypedValue(variable.type, number=0)

    def evaluate(self, expression: Expression) -> None:
        """An expression for its effects."""
        match expression:
            case BinaryOperation(operator="<<") if (pieces := _stream(expression)) is not None:
                self._print(pieces)
            case FunctionCall():
                self.builder.at(expression)
                self._call(expression)
            case _:
                self.value(expression)

    def value(self, expression: TemplateArgument | Braces) -> TypedValue:
        """The value of an expression."""
        self.builder.at(expression)
        match expression:
            case Integer() | Boolean() | Floating() | Character():
                return self._literal(expression)
            case Name(text=text):
                return self._named(text)
            case FunctionCall():
                result = self._call(expression)
                if result is None:
                    self.builder.refuse("this call has no result", expression)
                return result
            case Unary():
                return self._unary(expression)
            case BinaryOperation():
                return self._binary(expression)
            case Conditional():
                return self._conditional(expression)
            case Assign() | Update():
                return self._assignment(expression)
            case _:
                return self._other(expression)

    def _other(self, expression: TemplateArgument | Braces) -> TypedValue:
        match expression:
            case Cast():
                return self._cast(expression)
            case Index():
                return self._element(expression)
            case Construct(type=NamedType() as type_, elements=elements):
                return self._aggregate(type_, elements)
            case SizeOf(operand=NamedType(name=name), is_alignment=False) if size := size_of(
                find_built_in_type(name) or VOID
            ):
                return known(size, UNSIGNED)
            case _:
                self.builder.refuse(f"this has no form in the IR; {_SUPPORTED}")

    def _literal(self, literal: Integer | Boolean | Floating | Character) -> TypedValue:
        match literal:
            case Integer(value=number) as integer:
                if number >= 1 << 64:
                    self.builder.refuse("this number has more than 64 bits")
                is_long = number >= 1 << 32 or (number >= 1 << 31 and integer.text.isdigit())
                narrow = UNSIGNED if integer.is_unsigned or number >= 1 << 31 else INT
                return known(number, INT64 if is_long and not integer.is_unsigned else narrow)
            case Boolean(value=value):
                return known(int(value), BOOL)
            case Floating(value=number):
                if abs(number) > _LARGEST:
                    self.builder.refuse("the number is too large for the IR, which has 'float'")
                return self.builder.floating(number)
            case Character(text=text) if len(text) == 1:
                return known(ord(text), CHAR)
            case _:
                self.builder.refuse("characters with escapes have no form in the IR")

    def _named(self, text: str) -> TypedValue:
        variable = self.variables.get(text)
        if variable is not None:
            return self.current(variable)
        constant = self.calls.constant(text)
        if constant is not None:
            return constant
        if text in self.unreadable:
            raise self.unreadable[text]
        missing = self.inclusions.describe_missing()
        message = f"'{text}' is no variable of the kernel and no name of the library{missing}"
        self.builder.refuse(message)

    # Operators.

    def _unary(self, node: Unary) -> TypedValue:
        if node.operator == "*":
            return self._load(self.value(node.operand), known(0))
        value = self.value(node.operand)
        self.builder.at(node)
        match node.operator:
            case "+":
                return value
            case "-" if value.number is not None and value.ssa is None:
                return replace(value, number=-value.number)
            case "-" if isinstance(value.ctype, FloatType):
                result = self.builder.make(arith.NegfOp, [self.builder.ssa(value)], value.ir_type)
                return TypedValue(value.ctype, result)
            case "-":
                return self.builder.compute("-", TypedValue(value.ctype, number=0), value)
            case "~":
                return self.builder.compute("^", value, TypedValue(value.ctype, number=-1))
            case "!":
                return self.builder.compute("^", self.builder.convert(value, BOOL), known(1, BOOL))
            case _:
                self.builder.refuse(f"'{node.operator}' has no form in the IR; {_SUPPORTED}")

    def _binary(self, node: BinaryOperation) -> TypedValue:
        if node.operator == ",":
            self.evaluate(node.left)
            return self.value(node.right)
        if node.operator in ("&&", "||"):
            self._refuse_effects(node.right, node.operator)
            left = self.builder.convert(self.value(node.left), BOOL)
            right = self.builder.convert(self.value(node.right), BOOL)
            return self.builder.compute("&" if node.operator == "&&" else "|", left, right)
        left, right = self.value(node.left), self.value(node.right)
        self.builder.at(node)
        return self.builder.compute(node.operator, left, right)

    def _conditional(self, node: Conditional) -> TypedValue:
        for part in (node.true_value, node.false_value):
            self._refuse_effects(part, "?:")
        condition = self.builder.truth(self.value(node.condition))
        first, second = self.value(node.true_value), self.value(node.false_value)
        self.builder.at(node)
        type_ = first.ctype
        if isinstance(type_, PointerType) and isinstance(second.ctype, PointerType):
            type_ = replace(type_, const=type_.const or second.ctype.const)
        elif first.ir_type != second.ir_type or is_signed(type_) != is_signed(second.ctype):
            # The common type is that of arithmetic on both.
            first, second, type_ = self.builder.unify(first, second)
        operands = [condition, self.builder.ssa(first), self.builder.ssa(second)]
        chosen = self.builder.make(arith.SelectOp, operands, first.ir_type)
        return TypedValue(type_, chosen)

    def _refuse_effects(self, node: Node, operator: str) -> None:
        """Refuse what must not happen where an operator does not need the value."""
        found = effect(node)
        if found is not None:
            self.builder.refuse(
                f"calls, assignments and reads after '{operator}' have no form in the IR, which "
                "computes both sides; use an 'if'",
                found,
            )

    # Assignments.

    def _assignment(self, node: Assign | Update) -> TypedValue:
        match node:
            case Assign(target=target, operator="=", value=value):
                new = self.value(value)
                self.builder.at(node)
                return self._store(target, new)
            case Assign(target=target, operator=operator, value=value):
                assert operator in ASSIGNMENT_OPERATORS
                old, right = self.value(target), self.value(value)
                self.builder.at(node)
                return self._store(target, self.builder.compute(operator[:-1], old, right))
            case Update(operator=operator, operand=target, postfix=postfix):
                old = self.value(target)
                self.builder.at(node)
                new = self._store(target, self.builder.compute(operator[0], old, known(1)))
                return old if postfix else new

    def _store(self, target: Expression, value: TypedValue) -> TypedValue:
        match target:
            case Name(text=text) if text in self.variables:
                variable = self.variables[text]
                if variable.is_const:
                    raise self.error(target, _CONSTANT)
                converted = self.to_declared(value, variable.type)
                stored = self.settled(converted)
                self.variables[text] = replace(variable, value=stored)
                return stored
            case Index(base=base, index=index):
                return self._write(self.value(base), self.value(index), value, target)
            case Unary(operator="*", operand=operand):
                return self._write(self.value(operand), known(0), value, target)
            case _:
                self.builder.refuse(
                    "only variables of the kernel and words of L1 can be assigned to", target
                )

    def _load(self, pointer: TypedValue, offset: TypedValue) -> TypedValue:
        return self._call_by_mnemonic("load_from_l1", (pointer, offset))

    def _write(
        self, pointer: TypedValue, offset: TypedValue, value: TypedValue, target: Node
    ) -> TypedValue:
        if isinstance(pointer.ctype, PointerType) and pointer.ctype.const:
            raise self.error(target, _CONSTANT)
        self._call_by_mnemonic("store_to_l1", (value, pointer, offset))
        return value

    def _call_by_mnemonic(self, mnemonic: str, arguments: Sequence[TypedValue]) -> TypedValue:
        call = _BY_MNEMONIC[mnemonic]
        pointer = next(
            value
            for value, (_, kind) in zip(arguments, call.operands, strict=True)
            if kind is ValueKind.L1_PTR
        )
        if not isinstance(pointer.ctype, PointerType):
            self.builder.refuse("elements are of pointers to 32-bit words of L1 only")
        result = self.calls.emit(call, arguments, (), self.value)
        return result or arguments[0]

    def _element(self, node: Index) -> TypedValue:
        if isinstance(node.base, Name) and node.base.text not in self.variables:
            rows = [each for each in overloads(node.base.text) if each.form is Form.ELEMENT]
            if rows:
                result = self.calls.emit(rows[0], [self.value(node.index)], (), self.value)
                assert result is not None, "an element has a value"
                return result
        return self._load(self.value(node.base), self.value(node.index))

    # Casts and aggregates.

    def _cast(self, node: Cast) -> TypedValue:
        value = self.value(node.value)
        self.builder.at(node)
        type_ = self.type_of(node.type)
        if type_ is None:
            self.builder.refuse("a cast needs a type by name", node)
        if isinstance(type_, PointerType):
            result = self.calls.emit(_BY_MNEMONIC["reinterpret_cast"], [value], (), self.value)
            assert result is not None, "a cast has a value"
            return replace(result, ctype=type_)
        return self.to_declared(value, type_)

    def initial_value(self, type_: Type, value: Expression | Braces) -> TypedValue:
        """The initial value of a variable."""
        if not isinstance(value, Braces):
            return self.value(value)
        if not isinstance(type_, NamedType):
            self.builder.refuse(f"this has no form in the IR; {_SUPPORTED}", value)
        return self._aggregate(type_, value.elements)

    def _aggregate(self, type_: NamedType, elements: Sequence[Initializer]) -> TypedValue:
        """An address generator, whose members become operands."""
        scalar = find_built_in_type(type_.name)
        if isinstance(scalar, (IntType, FloatType)) and len(elements) == 1:
            if elements[0].member is None:
                return self.to_declared(self.value(elements[0].value), scalar)
        rows = [each for each in overloads(type_.name) if each.form is Form.AGGREGATE]
        if not rows:
            self.builder.refuse(
                f"structs such as '{type_.name}' have no form in the IR; address generators have",
            )
        names = [name for name, _ in rows[0].operands]
        given = [element.member or name for element, name in zip(elements, names, strict=False)]
        if given != names or len(elements) != len(names):
            self.builder.refuse(f"'{type_.name}' takes {', '.join(names)} in this order")
        values = [self.value(element.value) for element in elements]
        result = self.calls.emit(rows[0], values, type_.template_arguments, self.value)
        assert result is not None, "an address generator is a value"
        return result

    # Calls.

    def _call(self, node: FunctionCall) -> TypedValue | None:
        match node.callee:
            case Member(base=base, member=member):
                arguments = [self.value(base), *(self.value(each) for each in node.arguments)]
                self.builder.at(node)
                return self.calls.method(member, arguments)
            case Name(text=text):
                name = text
            case _:
                raise AssertionError("calls of other things have been refused")
        function = self.functions.get(name)
        if function is not None:
            return self._inline(function, node)
        if not overloads(name):
            self.builder.refuse(
                f"'{name}' is no function of this text and no call that the ttkernel dialect has; "
                f"docs/kernel_calls.md lists those{self.inclusions.describe_missing()}",
                node,
            )
        arguments = [self.value(each) for each in node.arguments]
        self.builder.at(node)
        return self.calls.call(name, arguments, node.template_arguments, self.value)

    def _inline(self, function: Function, node: FunctionCall) -> TypedValue | None:
        """The body of a function of the text inlined at its call."""
        if function.name in self.calling:
            self.builder.refuse(
                f"'{function.name}' calls itself, which has no form in the IR", node
            )
        if len(node.arguments) != len(function.parameters) or function.body is None:
            count = len(function.parameters)
            self.builder.refuse(f"'{function.name}' takes {plural(count, 'argument')}", node)
        self._inlined += 1
        if self._inlined > _MAX_CALLS or len(self.calling) > _MAX_CALL_NESTING:
            self.builder.refuse(
                f"the IR has no functions, and a kernel at most {_MAX_CALLS} calls of its own, "
                f"{_MAX_CALL_NESTING} inside of each other",
                node,
            )
        inner: Scope = {name: self.variables[name] for name in self.shared}
        for parameter, argument in zip(function.parameters, node.arguments, strict=True):
            value = self.value(argument)
            type_ = self.type_of(parameter.type)
            value = value if type_ is None else self.to_declared(value, type_)
            if parameter.name is not None:
                is_const = self.is_const(parameter.type)
                inner[parameter.name] = Variable(value.ctype, value, is_const)
        outer, self.variables = self.variables, inner
        self.calling.append(function.name)
        returns = list[TypedValue]()
        self.function_body(function.body, returns)
        self.calling.pop()
        shared = {name: self.variables[name] for name in self.shared}
        self.variables = outer | shared
        type_ = self.type_of(function.result) if returns else None
        return self.to_declared(returns[0], type_) if returns and type_ else None

    def _print(self, pieces: Sequence[Expression]) -> None:
        """A chain of `DPRINT << ...` as one text with placeholders for values."""
        text, values = "", list[TypedValue]()
        for piece in pieces:
            match piece:
                case String(text=part):
                    escape = _UNSUPPORTED_ESCAPE.match(part)
                    if escape is not None:
                        self.builder.refuse(f"the escape '{escape[1]}' is not supported", piece)
                    text += part.encode().decode("unicode_escape")
                case FunctionCall(callee=Name(text="ENDL")):
                    text += "\n"
                case _:
                    text += "{}"
                    value = self.value(piece)
                    values.append(self.settled(value) if value.ssa is None else value)
        call = overloads("DPRINT")[0]
        properties: dict[str, Attribute] = {call.text: StringAttr(text)}
        self.calls.emit(call, values, (), self.value, properties)


def _stream(expression: Expression) -> list[Expression] | None:
    """What a chain of `<<` prints; None if it is a shift."""
    pieces = list[Expression]()
    while isinstance(expression, BinaryOperation) and expression.operator == "<<":
        pieces.append(expression.right)
        expression = expression.left
    return pieces[::-1] if expression == Name("DPRINT") else None


_BY_MNEMONIC = {call.mnemonic: call for call in CALLS}
