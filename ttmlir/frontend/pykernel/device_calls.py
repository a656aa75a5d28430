"""Calls of the kernel library by the names of ttkernel's operations, as their rows say."""

from __future__ import annotations

import ast
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from xdsl.dialects.builtin import (
    IntegerAttr,
    MemRefType,
    StringAttr,
    UnrealizedConversionCastOp,
    f32,
    i1,
    i32,
)
from xdsl.ir import Attribute, Block, SSAValue

from ttmlir.dialects.emitc import EmitC_OpaqueType, LiteralOp
from ttmlir.dialects.tt import TileType
from ttmlir.dialects.ttkernel import RESULT_TYPES, CBType, op_class
from ttmlir.frontend.pykernel.builder import KernelBuilder
from ttmlir.frontend.pykernel.values import Enumerator, Scalar, Static, Value, describe
from ttmlir.layout.enums import CBPort, ThreadType
from ttmlir.mlir.reporting.spelling import near_names
from ttmlir.optable.kernel import (
    CALLS,
    Form,
    KernelCall,
    Role,
    Template,
    TemplateKind,
    ValueKind,
)
from ttmlir.optable.kernel import (
    Scalar as Encoding,
)
from ttmlir.optable.kernel.enums import CONSTANTS, ENUMS

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

    def row(self, mnemonic: str, *arguments: Value) -> Value:
        """The operation with this name in the IR."""
        call = next(each for each in CALLS if each.mnemonic == mnemonic)
        return self._emit(call, Arguments(arguments))

    def print(self, text: str, values: Sequence[Scalar]) -> None:
        """Print a text with a value for each `{}`."""
        operands = [self._builder.ssa(each) for each in values]
        properties: dict[str, Attribute] = {"fmt": StringAttr(text)}
        op = op_class("dprint").create(operands=operands, properties=properties)
        self._builder.add(op)

    def _choose(self, name: str, rows: Sequence[KernelCall], arguments: Arguments) -> KernelCall:
        """The overload that takes the arguments."""
        if len(rows) == 1:
            return rows[0]
        for row in rows:
            parameters = _parameters(row.mnemonic)
            given = len(arguments.positional) + len(arguments.named)
            fewest = sum(each.required for each in parameters)
            if fewest <= given <= len(parameters) and all(
                _suits(value, parameter.kind)
                for value, parameter in zip(arguments.positional, parameters, strict=False)
            ):
                return row
        forms = " or ".join(_form(name, row) for row in rows)
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
        return Scalar(results[0], op.results[0], natural=call.constant or results[0] == i1)

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
        result = self.row("reinterpret_cast", value)
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
