"""Expressions of a C++ kernel that is read into the IR."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import arith
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Block

from ttmlir.cpp.conversions import keeps_const
from ttmlir.cpp.inclusions import Inclusions
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
    Expression,
    Floating,
    Function,
    FunctionCall,
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
)
from ttmlir.cpp.tree import (
    Block as Statements,
)
from ttmlir.cpp.type_names import find_built_in_type, resolve_type
from ttmlir.cpp.types import (
    BOOL,
    CHAR,
    DOUBLE,
    INT,
    INT64,
    UNSIGNED,
    VOID,
    FloatType,
    IntType,
    ObjectType,
    PointerType,
    QualifiedType,
    size_of,
)
from ttmlir.cpp.walk import effect
from ttmlir.dialects.ttkernel import RESULT_TYPES
from ttmlir.frontend.cpp.read_calls import CallReader, overloads
from ttmlir.frontend.cpp.read_values import (
    LibraryType,
    TypedValue,
    ValueBuilder,
    ValueType,
    find_ir_type,
    is_signed,
    known,
    width_of,
)
from ttmlir.mlir.reporting.diagnostics import LocatedError
from ttmlir.optable.kernel import CALLS, Form, ValueKind

_UNSUPPORTED_ESCAPE = re.compile(r"(?:[^\\]|\\[ntr0\\'\"ab])*+(\\.)")
_MAX_CALLS = 4096
"""How many calls of its own functions a kernel may put in their place."""
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

    def find_decltype(self, node: Expression) -> QualifiedType:
        """The IR has no types of expressions."""
        raise self.unknown_type(node, "")

    def find_count(self, node: Expression) -> int:
        """The IR has no arrays."""
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
                f"calls, assignments and reads behind '{operator}' have no form in the IR, which "
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
        return self._row_call("load_from_l1", (pointer, offset))

    def _write(
        self, pointer: TypedValue, offset: TypedValue, value: TypedValue, target: Node
    ) -> TypedValue:
        if isinstance(pointer.ctype, PointerType) and pointer.ctype.const:
            raise self.error(target, _CONSTANT)
        self._row_call("store_to_l1", (value, pointer, offset))
        return value

    def _row_call(self, mnemonic: str, arguments: Sequence[TypedValue]) -> TypedValue:
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
        """The body of a function of the text in the place of its call."""
        if function.name in self.calling:
            self.builder.refuse(
                f"'{function.name}' calls itself, which has no form in the IR", node
            )
        if len(node.arguments) != len(function.parameters) or function.body is None:
            count = len(function.parameters)
            self.builder.refuse(f"'{function.name}' takes {count} arguments", node)
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
        """A chain of `DPRINT << ...` as one text with places for values."""
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
