"""Expressions of a kernel in Python."""

from __future__ import annotations

import ast
import builtins
import math
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import FunctionType, ModuleType
from typing import NoReturn, SupportsIndex, cast

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    IntegerAttr,
    MemRefType,
    StringAttr,
    UnrealizedConversionCastOp,
    f32,
    i1,
    i32,
)
from xdsl.ir import Attribute, Block, Region, SSAValue

from ttmlir.dialects.emitc import EmitC_OpaqueType, LiteralOp
from ttmlir.dialects.tt import TileType
from ttmlir.dialects.ttkernel import RESULT_TYPES, CBType, op_class
from ttmlir.frontend.pykernel.builder import (
    Array,
    Binding,
    Cell,
    Enumerator,
    Items,
    KernelBuilder,
    Scalar,
    Scope,
    Static,
    Unset,
    Value,
    describe,
    number,
)
from ttmlir.layout.enums import CBPort, ThreadType
from ttmlir.mlir.reporting import near_names
from ttmlir.optable.kernel import CALLS, Form, KernelCall, Role, Template, TemplateKind, ValueKind
from ttmlir.optable.kernel import Scalar as Encoding
from ttmlir.optable.kernel.kernel_call import CONSTANTS, ENUMS, CppEnum

# --- Device calls ---------------------------------------------------------------------------------
# Calls of the kernel library by the names of ttkernel's operations, as their definitions say.

_ROLES = {ThreadType.NOC: Role.DATA, ThreadType.TENSIX: Role.COMPUTE}
_KINDS = {ThreadType.NOC: "data movement", ThreadType.TENSIX: "compute"}
_WHERE = {
    ThreadType.NOC: "compute kernels",
    ThreadType.TENSIX: "data movement kernels",
}
_OBJECTS = (Form.METHOD, Form.LOAD, Form.STORE, Form.STREAM)
_ROWS_OF = {"tilize_init": 0, "tilize_block": 0, "untilize_init": -1, "untilize_block": -1}
"""The operand that is a circular buffer of rows."""


@cache
def functions() -> Mapping[str, tuple[KernelCall, ...]]:
    """What kernels can call, by the names in the IR and in C++."""
    named: dict[str, list[KernelCall]] = {}
    for call in CALLS:
        if call.header and call.form is not Form.METHOD:
            for name in dict.fromkeys((call.mnemonic, call.cpp)):
                named.setdefault(name, []).append(call)
    return {name: tuple(calls) for name, calls in named.items()}


@cache
def methods() -> Mapping[str, tuple[KernelCall, ...]]:
    """The methods of tensor accessors and of their arguments."""
    named: dict[str, list[KernelCall]] = {}
    for call in CALLS:
        if call.form is Form.METHOD:
            named.setdefault(call.cpp, []).append(call)
    return {name: tuple(calls) for name, calls in named.items()}


@dataclass(frozen=True)
class Arguments:
    """The arguments of a call, compiled."""

    positional: tuple[Value, ...]
    named: Mapping[str, Value] = field(default_factory=dict[str, Value])
    node: ast.expr | None = None


@dataclass(frozen=True)
class _Parameter:
    name: str
    part: str
    """`operand`, `constant`, `template` or `option`."""
    required: bool
    kind: ValueKind | None = None
    template: Template | None = None
    default: str = ""


@cache
def _parameters(mnemonic: str) -> tuple[_Parameter, ...]:
    """The parameters in the order of a call in Python.

    What an address generator is made for comes first, as in tt-mlir's operation; other template
    arguments follow the operands, those for types only have their default.
    """
    call = next(each for each in CALLS if each.mnemonic == mnemonic)
    templates = [
        _Parameter(
            each.name,
            "template",
            each.default is None and each.implied is None,
            template=each,
            default=each.default or each.implied or "",
        )
        for each in (*call.templates, *call.flags)
        if each.kind is not TemplateKind.TYPE
    ]
    first = [each for each in templates if call.form in (Form.AGGREGATE, Form.OBJECT)]
    leading = [each for each in first if each.required or call.form is Form.OBJECT]
    fewest = len(call.operands) - len(call.defaults)
    operands = [
        _Parameter(name, "operand", index < fewest, kind)
        for index, (name, kind) in enumerate(call.operands)
    ]
    constants = [_Parameter(name, "constant", True) for name in call.constants]
    options = [
        _Parameter(each.name, "option", False, default=each.default)
        for each in call.options
        if not each.is_attribute
    ]
    others = [each for each in templates if each not in leading]
    return (*leading, *constants, *operands, *others, *options)


class DeviceCalls:
    """Makes operations of calls."""

    def __init__(self, builder: KernelBuilder, entry: Block, thread: ThreadType | None) -> None:
        """Calls of a kernel of a kind; circular buffers by number become arguments of `entry`."""
        self._builder = builder
        self._entry = entry
        self._thread = thread
        self._buffers: dict[CBPort, SSAValue] = {}
        self.compile_time_args: tuple[int, ...] = ()
        """Words that `get_compile_time_arg_val` gives, where they are known."""
        self.rows: dict[SSAValue, None] = {}
        """Circular buffers that hold rows instead of tiles."""

    def add_buffer(self, port: CBPort, value: SSAValue) -> None:
        """Make an argument of the kernel known."""
        self._buffers[port] = value

    # Names.

    def name(self, name: str) -> Value | None:
        """What a name of the library means; None if it has none."""
        if name in CONSTANTS:
            return Scalar(i32, known=CONSTANTS[name], natural=True)
        return Static(ENUMS[name]) if name in ENUMS else None

    def member(self, enum: str, member: str) -> Value:
        """A member of an enumeration."""
        members = ENUMS[enum].members
        if member not in members:
            near = near_names(member, members)
            also = f"; did you mean {' or '.join(near)}?" if near else f": {', '.join(members)}"
            self._builder.refuse(f"{enum} has no member '{member}'{also}")
        if enum == "DataFormat":
            return Static(Enumerator(enum, member))
        if not ENUMS[enum].scoped and enum in ("CB", "CBIndex"):
            return Scalar(i32, known=members[member], natural=True)
        return Static(Enumerator(enum, member))

    # Calls.

    def call(self, name: str, arguments: Arguments) -> Value:
        """A call of a function by its name."""
        rows = functions()[name]
        arguments = _without_type(rows[0], arguments)
        return self._emit(self._choose(name, rows, arguments), arguments)

    def method(self, receiver: Scalar, name: str, arguments: Arguments) -> Value:
        """A call of a method of an object."""
        rows = [
            each
            for each in methods().get(name, ())
            if RESULT_TYPES[each.operands[0][1]] == receiver.type
        ]
        if not rows:
            known = sorted(
                each.cpp
                for calls in methods().values()
                for each in calls
                if RESULT_TYPES[each.operands[0][1]] == receiver.type
            )
            listed = f"; it has {', '.join(known)}" if known else ""
            near = [each for each in (name, f"cb_{name}") if each in functions()]
            if near and not known:
                listed = f"; write {near[0]}(...), with it as an argument"
            self._builder.refuse(f"{describe(receiver)} has no method '{name}'{listed}")
        positional = (receiver, *arguments.positional)
        return self._emit(rows[0], Arguments(positional, arguments.named, arguments.node))

    def call_by_mnemonic(self, mnemonic: str, *arguments: Value) -> Value:
        """The operation with this name in the IR."""
        call = next(each for each in CALLS if each.mnemonic == mnemonic)
        return self._emit(call, Arguments(arguments))

    def print(self, text: str, values: Sequence[Scalar]) -> None:
        """Print a text with a value for each `{}`."""
        operands = [self._builder.ssa(each) for each in values]
        properties: dict[str, Attribute] = {"fmt": StringAttr(text)}
        op = op_class("dprint").create(operands=operands, properties=properties)
        self._builder.add(op)

    def _choose(
        self, name: str, definitions: Sequence[KernelCall], arguments: Arguments
    ) -> KernelCall:
        """The overload that takes the arguments."""
        if len(definitions) == 1:
            return definitions[0]
        for definition in definitions:
            parameters = _parameters(definition.mnemonic)
            given = len(arguments.positional) + len(arguments.named)
            fewest = sum(each.required for each in parameters)
            if fewest <= given <= len(parameters) and all(
                _suits(value, parameter.kind)
                for value, parameter in zip(arguments.positional, parameters, strict=False)
            ):
                return definition
        forms = " or ".join(_form(name, definition) for definition in definitions)
        self._builder.refuse(f"these arguments do not go with {forms}", arguments.node)

    def _emit(self, call: KernelCall, arguments: Arguments) -> Value:
        builder = self._builder
        self._check_thread(call, arguments.node)
        given = self._bind(call, arguments)
        operands, properties = list[SSAValue](), dict[str, Attribute]()
        for parameter, value in given.items():
            match parameter.part:
                case "operand":
                    assert parameter.kind is not None
                    operands.append(self._operand(call, parameter.name, value, parameter.kind))
                case "constant":
                    properties[parameter.name] = IntegerAttr(self._known(parameter, value), i32)
                case "template":
                    attribute = self._template(parameter, value)
                    if attribute is not None:
                        properties[parameter.name] = attribute
                case _:
                    self._check_option(call, parameter, value)
        results = [RESULT_TYPES[call.result[1]]] if call.result else []
        op = op_class(call.mnemonic).create(
            operands=operands, result_types=results, properties=properties
        )
        builder.add(op)
        if call.mnemonic in _ROWS_OF:
            self.rows[operands[_ROWS_OF[call.mnemonic]]] = None
        if not call.result:
            return Static(None)
        known: int | None = None
        if call.mnemonic == "get_compile_time_arg_val":
            (index,) = (self._known(parameter, value) for parameter, value in given.items())
            if index < len(self.compile_time_args):
                known = self.compile_time_args[index]
        natural = call.constant or results[0] == i1
        return Scalar(results[0], op.results[0], known, natural)

    def _check_thread(self, call: KernelCall, node: ast.expr | None) -> None:
        thread = self._thread
        if thread is not None and thread in _ROLES and not call.roles & _ROLES[thread]:
            self._builder.refuse(
                f"'{call.mnemonic}' does nothing in a {_KINDS[thread]} kernel; it belongs into "
                f"{_WHERE[thread]}",
                node,
            )

    def _bind(self, call: KernelCall, arguments: Arguments) -> dict[_Parameter, Value]:
        """The value of each parameter that is given or has a default for the operation."""
        parameters = _parameters(call.mnemonic)
        form, refuse = _form(call.mnemonic, call), self._builder.refuse
        if len(arguments.positional) > len(parameters):
            count = len(arguments.positional)
            refuse(f"{form} does not take {_count(count)}", arguments.node)
        given = dict(zip(parameters, arguments.positional, strict=False))
        by_name = {_plain(each.name): each for each in parameters}
        for name, value in arguments.named.items():
            parameter = by_name.get(_plain(name))
            if parameter is None:
                near = near_names(name, [each.name for each in parameters])
                also = f"; did you mean '{near[0]}'?" if near else ""
                refuse(f"{form} has no parameter '{name}'{also}", arguments.node)
            if parameter in given:
                refuse(f"{form} gets '{name}' twice", arguments.node)
            given[parameter] = value
        missing = [each.name for each in parameters if each.required and each not in given]
        if missing:
            refuse(f"{form} lacks {_list(missing)}", arguments.node)
        defaults = iter(call.defaults)
        for parameter in parameters:
            if parameter.part == "operand" and not parameter.required:
                default = Scalar(i32, known=int(next(defaults)), natural=True)
                given.setdefault(parameter, default)
        return {each: given[each] for each in parameters if each in given}

    # Operands.

    def _operand(self, call: KernelCall, name: str, value: Value, kind: ValueKind) -> SSAValue:
        builder = self._builder
        if kind is ValueKind.CB:
            return self._buffer(call, name, value)
        if kind is ValueKind.DATA_FORMAT:
            value = self._data_format(value)
        if not isinstance(value, Scalar):
            builder.refuse(f"argument '{name}' of {call.mnemonic} is {describe(value)}")
        wanted = RESULT_TYPES.get(kind, i32)
        if value.type == wanted or _suits_type(value.type, kind):
            return builder.ssa(value)
        if kind is ValueKind.L1_PTR and value.is_number:
            return builder.ssa(self.pointer(value))
        if kind is ValueKind.I32 and value.type == f32 and value.is_literal:
            if _takes_bits(call, name):
                assert value.known is not None
                bits = int.from_bytes(struct.pack("<f", value.known), "little")
                return builder.ssa(Scalar(i32, known=bits))
        if not value.is_number or kind not in (
            ValueKind.I32,
            ValueKind.F32,
            ValueKind.BOOL,
            ValueKind.ADDRESS,
        ):
            expected = describe(Scalar(wanted))
            builder.refuse(
                f"argument '{name}' of {call.mnemonic} is {describe(value)}, not {expected}"
            )
        if wanted == i32 and value.type == f32:
            builder.refuse(f"argument '{name}' of {call.mnemonic} is a float, not an integer")
        return builder.ssa(builder.convert(value, wanted))

    def pointer(self, value: Scalar) -> Scalar:
        """The pointer to words of L1 at an address."""
        result = self.call_by_mnemonic("reinterpret_cast", value)
        assert isinstance(result, Scalar)
        return result

    def _buffer(self, call: KernelCall, name: str, value: Value) -> SSAValue:
        match value:
            case Scalar(type=CBType(), ssa=SSAValue() as ssa):
                return ssa
            case Scalar(type=type_, known=int(index)) if type_ == i32 and 0 <= index < len(CBPort):
                return self._numbered_buffer(CBPort(index))
            case _:
                self._builder.refuse(
                    f"argument '{name}' of {call.mnemonic} is {describe(value)}, not a circular "
                    "buffer: a parameter with the annotation CircularBuffer, or a number from 0 "
                    "to 31 that is known when the kernel is compiled"
                )

    def _numbered_buffer(self, port: CBPort) -> SSAValue:
        if port not in self._buffers:
            memref: MemRefType[Attribute] = MemRefType(TileType.of(f32), [1, 1])
            index = len(self._buffers)
            cb = CBType.get(port, 0, memref)
            self._buffers[port] = self._entry.insert_arg(cb, index, self._builder.location)
        return self._buffers[port]

    def _data_format(self, value: Value) -> Value:
        match value:
            case Static(value=Enumerator("DataFormat", member)):
                opaque = EmitC_OpaqueType(StringAttr("DataFormat"))
                text = StringAttr(f"DataFormat::{member}")
                spelled = self._builder.make(LiteralOp, [], opaque, {"value": text})
                type_ = RESULT_TYPES[ValueKind.DATA_FORMAT]
                cast = UnrealizedConversionCastOp.get([spelled], [type_])
                return Scalar(type_, self._builder.add(cast).results[0])
            case _:
                return value

    # What has to be known when the kernel is compiled.

    def _known(self, parameter: _Parameter, value: Value) -> int:
        match value:
            case Scalar(type=type_, known=int(known)) if type_ in (i1, i32):
                return known
            case _:
                self._builder.refuse(
                    f"'{parameter.name}' has to be known when the kernel is compiled: a literal, a "
                    "constant of the module, or a parameter with the annotation CompileTimeValue"
                )

    def _template(self, parameter: _Parameter, value: Value) -> Attribute | None:
        template = parameter.template
        assert template is not None
        if template.kind is TemplateKind.ENUM:
            return StringAttr(self._member(template, value))
        known = self._known(parameter, value)
        if template.kind is TemplateKind.BOOL:
            return _unless_default(parameter, IntegerAttr(int(known != 0), i1))
        return _unless_default(parameter, IntegerAttr(known, i32))

    def _member(self, template: Template, value: Value) -> str:
        members = ENUMS[template.enum].members
        match value:
            case Static(value=Enumerator(enum, member)) if enum == template.enum:
                return member
            case Static(value=str(text)) if text in members:
                return text
            case _:
                names = list(members)[:4]
                self._builder.refuse(
                    f"'{template.name}' is {describe(value)}, not a member of {template.enum}, "
                    f"such as {template.enum}.{names[0]}; members are {', '.join(members)}"
                )

    def _check_option(self, call: KernelCall, parameter: _Parameter, value: Value) -> None:
        """Parameters that the operation lacks may be given only what they have anyway."""
        default = {"false": 0, "true": 1}.get(parameter.default)
        if default is None and parameter.default.isdigit():
            default = int(parameter.default)
        known = value.known if isinstance(value, Scalar) else None
        if known is None or known != default:
            self._builder.refuse(
                f"parameter '{parameter.name}' of {call.mnemonic} has no form in ttkernel other "
                f"than its default, {parameter.default}; leave it out"
            )


def _without_type(call: KernelCall, arguments: Arguments) -> Arguments:
    """`get_arg_val(int, 2)` is `get_arg_val(2)`: integers are what the argument is anyway."""
    match arguments.positional:
        case (Static(value=type() as type_), *others) if type_ is int and call.mnemonic.endswith(
            "_arg_val"
        ):
            return Arguments(tuple(others), arguments.named, arguments.node)
        case _:
            return arguments


def _unless_default(parameter: _Parameter, attribute: IntegerAttr) -> Attribute | None:
    template = parameter.template
    assert template is not None
    number = attribute.value.data
    text = str(number) if template.kind is TemplateKind.INT else ("true" if number else "false")
    return None if text in (template.default, template.implied) else attribute


def _suits(value: Value, kind: ValueKind | None) -> bool:
    """Whether a value can be an operand of a kind: numbers convert, all else is what it is."""
    match value:
        case Scalar(type=CBType()):
            return kind is ValueKind.CB
        case Scalar():
            number = kind in (ValueKind.I32, ValueKind.BOOL, ValueKind.F32, ValueKind.ADDRESS)
            if value.is_number:
                return number or (kind is ValueKind.CB and value.known is not None)
            return kind is not None and _suits_type(value.type, kind)
        case _:
            return kind is None


def _suits_type(type_: Attribute, kind: ValueKind) -> bool:
    match kind:
        case ValueKind.ADDRESS:
            return type_ in (i32, RESULT_TYPES[ValueKind.SEMAPHORE])
        case ValueKind.ADDR_GEN:
            return type_ in (RESULT_TYPES[kind], RESULT_TYPES[ValueKind.ACCESSOR])
        case _:
            return type_ == RESULT_TYPES.get(kind)


def _takes_bits(call: KernelCall, name: str) -> bool:
    scalars = () if call.tiles is None else call.tiles.scalars
    return any(each == name and how is Encoding.FLOAT_BITS for each, _, how in scalars)


def _form(name: str, call: KernelCall) -> str:
    """How a call is written."""

    def spell() -> Iterator[str]:
        for each in _parameters(call.mnemonic):
            if each.part != "option":
                yield each.name if each.required else f"{each.name}={each.default or '0'}"

    return f"{name}({', '.join(spell())})"


def _plain(name: str) -> str:
    """A parameter's name without the difference between camel case and underscores."""
    return name.replace("_", "").lower()


def _count(count: int) -> str:
    return f"{count} argument{'s' if count != 1 else ''}"


def _list(names: Sequence[str]) -> str:
    quoted = [f"'{name}'" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


# --- Expressions ----------------------------------------------------------------------------------

_BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}
_COMPARE: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_UNARY: Mapping[type[ast.unaryop], str] = {
    ast.USub: "-",
    ast.UAdd: "+",
    ast.Invert: "~",
    ast.Not: "not",
}
_L1_POINTER = RESULT_TYPES[ValueKind.L1_PTR]
_EXPRESSIONS = (
    "kernels have integers, truth values, floats, arrays, arithmetic, comparisons, conditional "
    "expressions, calls of the kernel library and of functions of the module"
)
_REFUSED: Mapping[type[ast.expr], str] = {
    ast.Lambda: "a core has no functions as values; write a 'def' in the module",
    ast.ListComp: "a core has no comprehensions; fill an array in a loop: a = [0] * 4",
    ast.SetComp: "a core has no sets",
    ast.DictComp: "a core has no dictionaries",
    ast.GeneratorExp: "a core has no generators; use a loop",
    ast.Dict: "a core has no dictionaries; use an array or 'if'",
    ast.Set: "a core has no sets; use a tuple of constants",
    ast.Await: "kernels wait with calls such as cb_wait_front and noc_async_read_barrier",
    ast.Yield: "a kernel hands pages over with cb_push_back, not values with 'yield'",
    ast.NamedExpr: "':=' is not there in kernels; assign in a line of its own",
    ast.JoinedStr: "texts are there for print(...) only",
    ast.Starred: "'*' does not spread arguments in kernels; write them out",
    ast.Slice: "tuples and arrays of kernels have no slices; use a loop",
}
PRINT_TEXTS = '; texts are there to be printed: print(f"{x}", y)'
BUILTINS = ("abs", "bool", "float", "int", "len", "max", "min", "print", "range")
"""What kernels can use of Python's own functions."""


class Expressions(ABC):
    """Compiles expressions, in the scope `variables`."""

    def __init__(self, builder: KernelBuilder, calls: DeviceCalls, entry: Block) -> None:
        """Begin with no variables."""
        self.builder = builder
        self.calls = calls
        self.entry = entry
        self.variables: Scope = {}

    @abstractmethod
    def inline(self, function: FunctionType, arguments: Arguments) -> Value:
        """The body of a function of the module inlined at its call."""

    @abstractmethod
    def print_call(self, node: ast.Call) -> None:
        """What `print` prints."""

    # Values.

    def value(self, node: ast.expr) -> Value:
        """The value of an expression."""
        self.builder.at(node)
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Name(id=name):
                return self.read(name, node)
            case ast.BinOp():
                return self._binary(node)
            case ast.UnaryOp(op=operator, operand=operand):
                value = self.scalar(operand)
                self.builder.at(node)
                return self.builder.unary(_UNARY[type(operator)], value)
            case ast.BoolOp():
                return self._logical(node)
            case ast.Compare():
                return self._comparison(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._conditional(node, test, body, orelse)
            case ast.Call():
                return self._call(node)
            case _:
                return self._other(node)

    def _other(self, node: ast.expr) -> Value:
        match node:
            case ast.Subscript(value=base, slice=index):
                return self._element(node, base, index)
            case ast.Attribute(value=base, attr=name):
                return self._attribute(node, base, name)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                values = tuple(self.value(each) for each in elements)
                return Items(values, isinstance(node, ast.List))
            case _:
                reason = _REFUSED.get(type(node), _EXPRESSIONS)
                self.builder.refuse(f"{_spell(node)} has no form in a kernel: {reason}", node)

    def scalar(self, node: ast.expr) -> Scalar:
        """The value of an expression that has to be one of the device."""
        value = self.value(node)
        if not isinstance(value, Scalar):
            what = "is a call without result" if _is_none(value) else f"is {describe(value)}"
            self.builder.refuse(f"this {what}, where a number is needed", node)
        return value

    def integer(self, node: ast.expr) -> Scalar:
        """The value of an expression that has to be an integer."""
        value = self.scalar(node)
        self.builder.at(node)
        return self.builder.integer(value)

    def condition(self, node: ast.expr) -> Scalar:
        """Whether an expression is true."""
        match node:
            case ast.BoolOp(op=operator, values=values):
                return self._chain(isinstance(operator, ast.And), values, self.condition, node)
            case _:
                value = self.scalar(node)
                self.builder.at(node)
                return self.builder.truth(value)

    def _constant(self, node: ast.Constant) -> Value:
        match node.value:
            case bool() | int() | float():
                return number(node.value)
            case str() | None:
                return Static(node.value)
            case _:
                self.builder.refuse(f"{_spell(node)} has no form in a kernel: {_EXPRESSIONS}")

    # Names.

    def read(self, name: str, node: ast.expr) -> Value:
        """What a name stands for."""
        binding = self.lookup(name)
        match binding:
            case None if name in functions():
                self.builder.refuse(f"'{name}' is a call; write {name}(...)", node)
            case None:
                self.builder.refuse(f"'{name}' is not defined here{self._nearest(name)}", node)
            case Unset(reason=reason):
                self.builder.refuse(reason, node)
            case Cell(ssa=ssa, type=type_):
                zero = self.builder.index(number(0))
                return Scalar(type_, self.builder.add(memref.LoadOp.get(ssa, [zero])).results[0])
            case _:
                return binding

    def lookup(self, name: str) -> Binding | None:
        """The variable, name of the module or name of the library."""
        if name in self.variables:
            return self.variables[name]
        found, value = self.builder.source.outside(name)
        if found:
            return host_value(value)
        if name in BUILTINS:
            return Static({"int": int, "bool": bool, "float": float}.get(name, name))
        return self.calls.name(name)

    def _nearest(self, name: str) -> str:
        module = [each for each in self.builder.source.module if each[:1] != "_"]
        known = {*self.variables, *functions(), *BUILTINS, *module}
        near = [f"{enum}.{name}" for enum, each in ENUMS.items() if name in each.members]
        near += (each for each in near_names(name, known) if not each.startswith("$"))
        return f"; did you mean {' or '.join(repr(each) for each in near)}?" if near else ""

    # Operators.

    def _binary(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        operator = _BINARY.get(type(node.op))
        if operator == "*" and isinstance(left, Items) and left.is_list:
            return self._repeat(left, right, node)
        self.builder.at(node)
        if operator is None:
            self.builder.refuse("'@' has no form in a kernel; matmul_tiles multiplies tiles", node)
        for each, part in ((left, node.left), (right, node.right)):
            if not isinstance(each, Scalar):
                what = "a call without result" if _is_none(each) else describe(each)
                also = PRINT_TEXTS if what == describe(Static("")) else ""
                self.builder.refuse(f"'{operator}' takes numbers, not {what}{also}", part)
        assert isinstance(left, Scalar)
        assert isinstance(right, Scalar)
        return self.builder.binary(operator, left, right)

    def _repeat(self, items: Items, count: Value, node: ast.BinOp) -> Value:
        """`[0] * 8`."""
        times = count.known if isinstance(count, Scalar) else None
        if not isinstance(times, int) or times < 1 or times * len(items.elements) > MOST_ELEMENTS:
            self.builder.refuse(
                "how often a list is repeated has to be known when the kernel is compiled, from 1 "
                f"to {MOST_ELEMENTS} elements",
                node.right,
            )
        return Items(items.elements * times, is_list=True)

    def _comparison(self, node: ast.Compare) -> Value:
        """One comparison, or several in a chain, each operand computed once."""
        left = self.value(node.left)
        pairs = list(zip(node.ops, node.comparators, strict=True))

        def compare_from(index: int, left: Value) -> Scalar:
            operator, comparator = pairs[index]
            right = self.value(comparator)
            result = self._compare(operator, left, right, comparator, node)
            if index == len(pairs) - 1:
                return result
            return self._both(
                result,
                lambda: compare_from(index + 1, right),
                pairs[index + 1][1],
                conjunction=True,
            )

        return compare_from(0, left)

    def _compare(
        self, operator: ast.cmpop, left: Value, right: Value, second: ast.expr, node: ast.Compare
    ) -> Scalar:
        self.builder.at(node)
        if isinstance(operator, ast.In | ast.NotIn):
            return self._contained(left, right, second, negated=isinstance(operator, ast.NotIn))
        symbol = _COMPARE.get(type(operator))
        if symbol is None:
            self.builder.refuse("'is' does not compare numbers on a core; use '=='", node)
        for each in (left, right):
            if not isinstance(each, Scalar):
                self.builder.refuse(f"'{symbol}' compares numbers, not {describe(each)}", node)
        assert isinstance(left, Scalar)
        assert isinstance(right, Scalar)
        return self.builder.compare(symbol, left, right)

    def _contained(self, left: Value, right: Value, node: ast.expr, *, negated: bool) -> Scalar:
        if not isinstance(right, Items) or not isinstance(left, Scalar):
            self.builder.refuse("'in' takes a number and a tuple of constants", node)
        found = number(False)
        for each in right.elements:
            if not isinstance(each, Scalar):
                self.builder.refuse(f"'in' compares numbers, not {describe(each)}", node)
            equal = self.builder.compare("==", left, each)
            found = equal if found.is_literal and not found.known else self._either(found, equal)
        return self.builder.unary("not", found) if negated else found

    def _either(self, first: Scalar, second: Scalar) -> Scalar:
        return self.builder.binary("|", first, second)

    # What is computed only if it is needed.

    def _logical(self, node: ast.BoolOp) -> Value:
        """`and` and `or` give one of their operands, as in Python."""
        conjunction = isinstance(node.op, ast.And)
        first = self.scalar(node.values[0])

        def choose(first: Scalar, rest: Sequence[ast.expr]) -> Scalar:
            if not rest:
                return first
            if first.is_literal:
                decided = bool(first.known) != conjunction
                return first if decided else choose(self.scalar(rest[0]), rest[1:])
            whole = ast.BoolOp(node.op, list(rest)) if len(rest) > 1 else rest[0]
            if first.type == i1 and not may_act(whole, self._pure):
                second = choose(self.scalar(rest[0]), rest[1:])
                if second.type == i1:
                    self.builder.at(node)
                    return self.builder.binary("&" if conjunction else "|", first, second)
                return self._pick(conjunction, first, lambda: second, node)
            return self._pick(
                conjunction, first, lambda: choose(self.scalar(rest[0]), rest[1:]), node
            )

        return choose(first, node.values[1:])

    def _pick(
        self, conjunction: bool, first: Scalar, second: Callable[[], Scalar], node: ast.expr
    ) -> Scalar:
        """`first and second` or `first or second`, where one is no truth value."""
        self.builder.at(node)
        truth = self.builder.truth(first)

        def other() -> Scalar:
            return first

        return (
            self.choose(truth, second, other, node)
            if conjunction
            else self.choose(truth, other, second, node)
        )

    def _chain(
        self,
        conjunction: bool,
        nodes: Sequence[ast.expr],
        evaluate: Callable[[ast.expr], Scalar],
        node: ast.expr,
    ) -> Scalar:
        """Truth values that are computed one after the other until the outcome is known."""
        first, *rest = nodes
        value = evaluate(first)
        if not rest:
            return value
        if value.is_literal:
            decided = bool(value.known) != conjunction
            return value if decided else self._chain(conjunction, rest, evaluate, node)
        whole = ast.BoolOp(ast.And(), rest) if len(rest) > 1 else rest[0]
        return self._both(
            value,
            lambda: self._chain(conjunction, rest, evaluate, node),
            whole,
            conjunction=conjunction,
        )

    def _both(
        self,
        first: Scalar,
        second: Callable[[], Scalar],
        node: ast.expr,
        *,
        conjunction: bool,
    ) -> Scalar:
        """`first and second` or `first or second` of truth values; `node` is the second."""
        if first.is_literal:
            return second() if bool(first.known) == conjunction else first
        if not may_act(node, self._pure):
            other = second()
            return self.builder.binary("&" if conjunction else "|", first, other)

        def known() -> Scalar:
            return number(not conjunction)

        arms = (second, known) if conjunction else (known, second)
        return self.choose(first, *arms, node)

    def _conditional(
        self, node: ast.IfExp, test: ast.expr, body: ast.expr, orelse: ast.expr
    ) -> Value:
        condition = self.condition(test)
        if condition.is_literal:
            return self.value(body if condition.known else orelse)
        return self.choose(condition, lambda: self.scalar(body), lambda: self.scalar(orelse), node)

    def choose(
        self,
        condition: Scalar,
        then: Callable[[], Scalar],
        otherwise: Callable[[], Scalar],
        node: ast.expr,
    ) -> Scalar:
        """The value of one of two expressions; only that one is computed."""
        location = self.builder.location
        blocks = Block(), Block()
        values = list[Scalar]()
        for block, compute in zip(blocks, (then, otherwise), strict=True):
            with self.builder.into(block):
                values.append(compute())
        common = self._common(values[0], values[1], node)
        plain = all(each.first_op is None for each in blocks)
        self.builder.location = location
        truth = self.builder.ssa(condition)
        if plain:
            first, second = (self.builder.convert(each, common) for each in values)
            natural = first.natural and second.natural
            return self.builder.select(
                Scalar(i1, truth), self.builder.settle(first), self.builder.settle(second), natural
            )
        for block, value in zip(blocks, values, strict=True):
            with self.builder.into(block):
                converted = self.builder.ssa(self.builder.convert(value, common))
                self.builder.add(scf.YieldOp(converted))
        op = scf.IfOp(truth, [common], Region(blocks[0]), Region(blocks[1]))
        natural = all(each.natural for each in values)
        return Scalar(common, self.builder.add(op).results[0], natural=natural)

    def _common(self, first: Scalar, second: Scalar, node: ast.expr) -> Attribute:
        """The type of what is one or the other."""
        common = common_type(first, second)
        if common is None:
            self.builder.refuse(
                f"this is {describe(first)} or {describe(second)}; both have to be of one kind",
                node,
            )
        return common

    def _pure(self, name: str) -> bool:
        """Whether a call by this name only computes."""
        return name in ("abs", "bool", "float", "int", "len", "max", "min") and (
            name not in self.variables
        )

    # Elements and attributes.

    def _element(self, node: ast.Subscript, base: ast.expr, index: ast.expr) -> Value:
        if isinstance(base, ast.Name) and base.id not in self.variables:
            rows = functions().get(base.id, ())
            if rows and rows[0].form is Form.ELEMENT:
                return self.calls.call(base.id, Arguments((self.value(index),), node=node))
        holder = self.value(base)
        self.builder.at(node)
        match holder:
            case Items():
                return self._of_items(holder, index, node)
            case Array():
                return self.load(holder, index, node)
            case Scalar(type=type_) if type_ == _L1_POINTER:
                offset = self.integer(index)
                self.builder.at(node)
                return self.calls.call_by_mnemonic("load_from_l1", holder, offset)
            case _:
                self.builder.refuse(f"{describe(holder)} has no elements", node)

    def _of_items(self, items: Items, index: ast.expr, node: ast.Subscript) -> Value:
        """An element of a tuple, which is a table of the kernel where the index is not known."""
        position = self.integer(index)
        count = len(items.elements)
        if position.known is not None:
            return items.elements[self._check_index(int(position.known), count, index)]
        self.builder.at(node)
        table = self.table(items)
        return self.read_element(table, (self.builder.index(position),))

    def table(self, items: Items) -> Array:
        """A tuple as an array, filled at the start of the kernel."""
        return self.make_array(items)

    def make_array(self, items: Items) -> Array:
        """An array with these elements, of one or two dimensions."""
        rows = [each.elements if isinstance(each, Items) else None for each in items.elements]
        nested = [each for each in rows if each is not None]
        if not items.elements:
            self.builder.refuse("an array has at least one element")
        if nested and (len(nested) != len(rows) or len({len(each) for each in nested}) != 1):
            self.builder.refuse("the rows of an array have to be lists of one length")
        shape = (len(rows), len(nested[0])) if nested else (len(rows),)
        flat = [each for row in nested for each in row] if nested else list(items.elements)
        scalars = list[Scalar]()
        for each in flat:
            if not isinstance(each, Scalar) or not each.is_number:
                self.builder.refuse(f"arrays hold numbers, not {describe(each)}")
            scalars.append(each)
        types = {each.type for each in scalars}
        type_ = types.pop() if len(types) == 1 else (f32 if f32 in types else i32)
        array = self.allocate(shape, type_)
        for position, each in enumerate(scalars):
            indices = divmod(position, len(nested[0])) if nested else (position,)
            self.store_element(array, [self.builder.index(number(i)) for i in indices], each)
        return array

    def allocate(self, shape: tuple[int, ...], type_: Attribute) -> Array:
        """An array without values."""
        if any(extent < 1 for extent in shape) or math.prod(shape) > MOST_ELEMENTS:
            self.builder.refuse(
                f"an array has 1 to {MOST_ELEMENTS} elements; larger tables belong into a circular "
                "buffer"
            )
        op = memref.AllocaOp.get(type_, shape=shape)
        return Array(self.builder.add(op).results[0], type_, shape)

    def indices(self, array: Array, index: ast.expr, node: ast.expr) -> Array:
        """What an index leaves of an array: `a[i, j]`, or `a[i]` and then `[j]`."""
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        free = len(array.shape) - len(array.within)
        if len(parts) > free:
            self.builder.refuse(f"this array has {free} dimension{'s' * (free != 1)}", node)
        indices = list(array.within)
        for part in parts:
            extent = array.shape[len(indices)]
            if isinstance(part, ast.Slice):
                self.builder.refuse("arrays of kernels have no slices; use a loop", node)
            position = self.integer(part)
            if position.known is not None:
                known = self._check_index(int(position.known), extent, part)
                position = number(known)
            self.builder.at(node)
            indices.append(self.builder.index(position))
        return Array(array.ssa, array.type, array.shape, tuple(indices))

    def load(self, array: Array, index: ast.expr, node: ast.expr) -> Value:
        """An element, or a row."""
        element = self.indices(array, index, node)
        if len(element.within) < len(element.shape):
            return element
        return self.read_element(element, element.within)

    def read_element(self, array: Array, indices: Sequence[SSAValue]) -> Scalar:
        """The element at these indices."""
        op = memref.LoadOp.get(array.ssa, indices)
        return Scalar(array.type, self.builder.add(op).results[0])

    def store_element(self, array: Array, indices: Sequence[SSAValue], value: Scalar) -> None:
        """Set the element at these indices."""
        converted = self.builder.ssa(self.builder.convert(value, array.type))
        self.builder.add(memref.StoreOp.get(converted, array.ssa, indices))

    def _check_index(self, known: int, extent: int, node: ast.expr) -> int:
        """An index that counts from the front."""
        if not -extent <= known < extent:
            self.builder.forbid(f"index {known} is outside of the {extent} elements", node)
        return known % extent

    def _attribute(self, node: ast.Attribute, base: ast.expr, name: str) -> Value:
        holder = self.value(base)
        self.builder.at(node)
        match holder:
            case Static(value=CppEnum(name=enum)):
                return self.calls.member(enum, name)
            case _:
                self.builder.refuse(f"{describe(holder)} has no attribute '{name}' in a kernel")

    # Calls.

    def _call(self, node: ast.Call) -> Value:
        match node.func:
            case ast.Name(id=name):
                return self._named_call(node, name)
            case ast.Attribute(value=base, attr=name):
                receiver = self.value(base)
                if not isinstance(receiver, Scalar):
                    self._refuse_method(receiver, name, node.func)
                arguments = self._arguments(node)
                self.builder.at(node)
                return self.calls.method(receiver, name, arguments)
            case _:
                self.builder.refuse("a call in a kernel names what it calls", node.func)

    def _refuse_method(self, receiver: Value, name: str, node: ast.expr) -> NoReturn:
        also = ""
        match receiver:
            case Static(value=ModuleType()):
                tiles = f"{name}_tile"
                also = "; compute constants in the module"
                also += f", and tiles with {tiles}" if tiles in functions() else ""
            case Array() | Items(is_list=True):
                also = "; its length is fixed, and elements are set by a[i] = x"
            case _:
                pass
        self.builder.refuse(f"{describe(receiver)} has no methods in a kernel{also}", node)

    def _named_call(self, node: ast.Call, name: str) -> Value:
        binding = self.lookup(name)
        match binding:
            case Static(value=FunctionType() as function):
                arguments = self._arguments(node)
                self.builder.at(node)
                return self.inline(function, arguments)
            case Static(value=type() as kind) if kind in (int, bool, float):
                return self._cast(kind, node)
            case Static(value=str(text)) if text == name and name in BUILTINS:
                return self._builtin(name, node)
            case _:
                pass
        if name in functions():
            arguments = self._arguments(node)
            self.builder.at(node)
            return self.calls.call(name, arguments)
        if binding is None:
            self.builder.refuse(
                f"there is no call '{name}' on a core{self._instead(name)}", node.func
            )
        value = self.value(node.func)
        if name in self.variables and (name in BUILTINS or name in functions()):
            self.builder.refuse(
                f"'{name}' stands for {describe(value)} here, which cannot be called; give that "
                "another name",
                node.func,
            )
        self.builder.refuse(f"{describe(value)} cannot be called in a kernel", node.func)

    def _instead(self, name: str) -> str:
        """What to call instead of something that is not there."""
        if hasattr(builtins, name):
            return f"; of Python's functions it has {', '.join(BUILTINS)}"
        return self._nearest(name)

    def _arguments(self, node: ast.Call) -> Arguments:
        positional = tuple(self.value(each) for each in node.args)
        named = dict[str, Value]()
        for keyword in node.keywords:
            if keyword.arg is None:
                self.builder.refuse(
                    "'**' does not spread arguments in kernels; write them out", keyword.value
                )
            named[keyword.arg] = self.value(keyword.value)
        return Arguments(positional, named, node)

    def _cast(self, kind: type, node: ast.Call) -> Value:
        if len(node.args) != 1 or node.keywords:
            self.builder.refuse(f"{kind.__name__}(...) takes one number in a kernel", node)
        value = self.scalar(node.args[0])
        self.builder.at(node)
        return self.builder.convert(value, _CASTS[kind])

    def _builtin(self, name: str, node: ast.Call) -> Value:
        if name == "print":
            self.print_call(node)
            return Static(None)
        if node.keywords or not node.args:
            self.builder.refuse(f"{name}(...) takes numbers alone in a kernel", node)
        match name:
            case "len":
                return self._length(node)
            case "min" | "max":
                values = [self.scalar(each) for each in node.args]
                self.builder.at(node)
                if len(values) == 1:
                    self.builder.refuse(f"{name}(...) takes at least two numbers in a kernel", node)
                cls = arith.MinSIOp if name == "min" else arith.MaxSIOp
                return self.builder.extremum(cls, values)
            case "abs":
                value = self.builder.integer(self.scalar(node.args[0]))
                self.builder.at(node)
                negative = self.builder.compare("<", value, number(0))
                negated = self.builder.unary("-", value)
                # The least integer is its own negative.
                return self.builder.select(negative, negated, value)
            case _:
                self.builder.refuse("range(...) is there for 'for' loops only", node)

    def _length(self, node: ast.Call) -> Value:
        value = self.value(node.args[0])
        match value:
            case Array(shape=shape, within=within):
                return number(shape[len(within)])
            case Items(elements=elements):
                return number(len(elements))
            case _:
                self.builder.refuse(f"{describe(value)} has no length", node)


MOST_ELEMENTS = 1024
"""Elements of an array of a kernel: a core's processors have about 4 KB of their own."""

_CASTS: Mapping[type, Attribute] = {int: i32, bool: i1, float: f32}


def host_value(value: object) -> Value:
    """A value of the host as one of the kernel."""
    match value:
        case bool() | int() | float():
            return number(value)
        case tuple() | list():
            listed = cast("Sequence[object]", value)
            elements = tuple(host_value(each) for each in listed)
            return Items(elements)
        case SupportsIndex():
            # An integer of NumPy, for instance.
            return number(value.__index__())
        case _:
            return Static(value)


def common_type(first: Scalar, second: Scalar) -> Attribute | None:
    """The type that holds both values; None if there is none."""
    if first.type == second.type:
        return first.type
    if first.is_number and second.is_number:
        return f32 if f32 in (first.type, second.type) else i32
    return None


def may_act(node: ast.expr, is_pure: Callable[[str], bool]) -> bool:
    """Whether an expression has effects, may fail, or costs as much as a branch."""
    for each in ast.walk(node):
        match each:
            case ast.Call(func=ast.Name(id=name)) if is_pure(name):
                pass
            case ast.Call() | ast.Subscript():
                return True
            case ast.BinOp(op=ast.FloorDiv() | ast.Mod(), right=ast.Constant(value=int(divisor))):
                if divisor == 0:
                    return True
            case ast.BinOp(op=ast.FloorDiv() | ast.Mod()):
                return True
            case _:
                pass
    return False


def _is_none(value: Value) -> bool:
    return isinstance(value, Static) and value.value is None


def _spell(node: ast.expr) -> str:
    """An expression as messages quote it."""
    if isinstance(node, ast.JoinedStr):
        return "an f-string"
    text = ast.unparse(node)
    return f"'{text}'" if len(text) <= 40 else f"'{text[:37]}...'"
