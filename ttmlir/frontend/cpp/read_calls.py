"""Calls of tt-metal's kernel library in C++ as operations of ttkernel, by their rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
from xdsl.rewriter import Rewriter

from ttmlir.cpp.tree import (
    Boolean,
    Integer,
    Name,
    NamedType,
    TemplateArgument,
)
from ttmlir.cpp.types import UNSIGNED, PointerType
from ttmlir.dialects.emitc import EmitC_OpaqueType, LiteralOp
from ttmlir.dialects.tt import TileType
from ttmlir.dialects.ttkernel import RESULT_TYPES, CBType, op_class
from ttmlir.frontend.cpp.read_values import (
    LibraryType,
    TypedValue,
    ValueBuilder,
    ValueType,
    find_value_type,
    known,
)
from ttmlir.layout.enums import CBPort
from ttmlir.optable.kernel import (
    CALLS,
    Form,
    KernelCall,
    Template,
    TemplateKind,
    ValueKind,
    calls_named,
)
from ttmlir.optable.kernel.enums import CONSTANTS, ENUMS

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
        """The operation of a row on these arguments."""
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
                f"{call.cpp} takes {len(call.templates)} template arguments, not {len(given)}"
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


def _wrong_arguments(name: str, rows: Sequence[KernelCall], arguments: Sequence[TypedValue]) -> str:
    parameters = ((*row.constants, *(each for each, _ in row.operands)) for row in rows)
    forms = " or ".join(f"{name}({', '.join(each)})" for each in parameters)
    return (
        f"these {len(arguments)} arguments do not go with {forms}; circular buffers have to be "
        "known when the kernel is compiled"
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
