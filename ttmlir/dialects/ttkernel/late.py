"""Operations of ttkernel in the form of 2026: signatures, syntax, rules.

    ttkernel.pack_tile(%0, %1, %2, true) : (i32, !ttkernel.cb<2, f32>, i32) -> ()

The forms are those of `ttmlir.optable.kernel.late_calls`. A few operations have a syntax of their
own, which `SYNTAX` lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar, cast

from xdsl.dialects.builtin import (
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    f32,
    i1,
    i32,
)
from xdsl.ir import Attribute, Data, Operation, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import ConstantLike

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.assembly import AssemblyOp
from ttmlir.dialects.definition.ods import (
    SEGMENTS,
    AttrConstraint,
    ODSOperation,
    Property,
    Signature,
    TypeConstraint,
    ValueGroup,
    refuse,
    segments_attr,
)
from ttmlir.dialects.definition.syntax import parse_nested, print_stripped
from ttmlir.dialects.tt.layout import DataTypeAttr
from ttmlir.dialects.ttkernel.attrs import (
    BcastTypeAttr,
    CBType,
    EltwiseBinaryTypeAttr,
    ReduceDim,
    ReduceDimAttr,
    ReduceType,
    ReduceTypeAttr,
    ReuseTypeAttr,
)
from ttmlir.layout.enums import DataType
from ttmlir.mlir.core_prefix import note_late_kernels
from ttmlir.optable.kernel.late_calls import OPERANDS, LateCall, LatePart, late_call

OpT = TypeVar("OpT", bound=AssemblyOp)

# --- Signatures -----------------------------------------------------------------------------------

_BUILTINS: Mapping[str, Callable[[Attribute], bool]] = {
    "f32": lambda type: type == f32,
    "i1": lambda type: type == i1,
    "i8": lambda type: type == IntegerType(8),
    "i16": lambda type: type == IntegerType(16),
    "i32": lambda type: type == i32,
    "index": lambda type: type.name == "index",
    "ui32": lambda type: type == IntegerType(32, Signedness.UNSIGNED),
}
_SUMMARIES = {
    "DataFormat": "TTKernel compute data format type",
    "PageMapping": "TensorAccessor PageMapping struct",
    "TensorAccessor": "TensorAccessor type",
    "TensorAccessorArgs": "TensorAccessorArgs type",
    "cb": "TTKernel cb",
    "f32": "32-bit float",
    "fabric_connection_manager": "TTKernel fabric connection manager",
    "i1": "1-bit signless integer",
    "i16": "16-bit signless integer",
    "i32": "32-bit signless integer",
    "i8": "8-bit signless integer",
    "index": "index",
    "interleaved_addr_gen_fast": "TTKernel InterleavedAddrGenFast type",
    "l1_addr": "TTKernel l1 address",
    "l1_addr_ptr": "TTKernel l1 address pointer",
    "local_semaphore": "TTKernel semaphore",
    "noc_addr": "TTKernel noc address",
    "ui32": "32-bit unsigned integer",
}


def _has_type(word: str) -> Callable[[Attribute], bool]:
    name = f"ttkernel.{word}"
    return _BUILTINS.get(word) or (lambda type: type.name == name)


@cache
def _constraint(kind: str) -> TypeConstraint:
    words = OPERANDS[kind]
    if not words:
        return TypeConstraint("any type", ods.always)
    tests = tuple(map(_has_type, words))
    return TypeConstraint(
        " or ".join(_SUMMARIES[word] for word in words),
        lambda type: any(test(type) for test in tests),
    )


def _attribute(cls: type[Attribute], summary: str) -> AttrConstraint:
    return AttrConstraint(summary, lambda attr: isinstance(attr, cls), ods.always)


_ATTRIBUTES: Mapping[str, AttrConstraint] = {
    "bcast_type": _attribute(BcastTypeAttr, "TTKernel Broadcast Types"),
    "data_type": _attribute(DataTypeAttr, "TT DataTypes"),
    "eltwise_binary_type": _attribute(
        EltwiseBinaryTypeAttr, "TTKernel Elementwise Binary Op Types"
    ),
    "flag": ods.BOOL,
    "i64": ods.I64,
    "number": ods.I32,
    "reduce_dim": _attribute(ReduceDimAttr, "TTKernel Reduce Dimensions"),
    "reduce_type": _attribute(ReduceTypeAttr, "TTKernel Reduce Types"),
    "reuse_type": _attribute(ReuseTypeAttr, "TTKernel Binary Dest Reuse Types"),
    "text": ods.STRING,
    "unit": ods.UNIT,
}


@cache
def late_signature(mnemonic: str) -> Signature | None:
    """What an operation takes in 2026; None for one that is not in the dialect any more."""
    call = late_call(mnemonic)
    if call is None:
        return None
    return Signature(
        tuple(
            ValueGroup(
                part.name,
                _constraint(part.kind),
                variadic=part.variadic,
                optional=part.optional,
            )
            for part in call.operands
        ),
        tuple(ValueGroup("result", _constraint(kind)) for kind in call.results),
        tuple(
            Property(part.name, _ATTRIBUTES[part.kind], optional=part.optional)
            for part in call.attributes
        ),
        regions=1 if mnemonic == _SFPI else 0,
    )


_LATE_TYPES = frozenset(
    (
        *("ttkernel.l1_addr", "ttkernel.PageMapping", "ttkernel.fabric_connection_manager"),
        "ttkernel.mesh_position",
    )
)


def is_late_type(type: Attribute) -> bool:
    """True for types of ttkernel that kernels of 2024 do not have."""
    return type.name in _LATE_TYPES or (isinstance(type, CBType) and type.is_late)


# --- Syntax ---------------------------------------------------------------------------------------

_NESTED: Mapping[str, type[Data[Any]]] = {
    "bcast_type": BcastTypeAttr,
    "data_type": DataTypeAttr,
    "eltwise_binary_type": EltwiseBinaryTypeAttr,
    "reduce_dim": ReduceDimAttr,
    "reduce_type": ReduceTypeAttr,
    "reuse_type": ReuseTypeAttr,
}
_AFTER = frozenset(("posted",))
"""Attributes that follow the parentheses, after their names."""
_SFPI = "invoke_sfpi"
_COMMA_BEFORE_NOTHING = frozenset(
    (
        "experimental::get_device_id_from_logical_mesh_position",
        "interleaved_addr_gen_fast.get_noc_addr",
    )
)
"""Operations whose text has a comma before the last operands even where there are none."""


def _parse_attribute(parser: Parser, part: LatePart) -> Attribute | None:
    """An attribute without its name; None where something else stands."""
    match part.kind:
        case "flag":
            value = parser.parse_optional_boolean()
            return None if value is None else IntegerAttr(int(value), i1)
        case "number":
            return IntegerAttr(parser.parse_integer(), i32)
        case "text":
            return StringAttr(parser.parse_str_literal())
        case _:
            return parse_nested(parser, _NESTED[part.kind])


def _print_attribute(printer: Printer, part: LatePart, value: Attribute) -> None:
    match value:
        case IntegerAttr():
            number = cast("IntegerAttr[IntegerType]", value).value.data
            printer.print_string(
                str(number) if part.kind == "number" else ("true" if number else "false")
            )
        case StringAttr():
            printer.print_attribute(value)
        case _:
            print_stripped(printer, cast("Data[Any]", value))


@dataclass
class _Read:
    """What stands before the dictionary of attributes."""

    operands: list[UnresolvedOperand]
    properties: dict[str, Attribute]


def _parse_parentheses(parser: Parser, call: LateCall) -> _Read:
    read = _Read([], {})
    parser.parse_punctuation("(")
    if parser.parse_optional_punctuation(")") is not None:
        return read
    parts = [part for part in call.parts if not part.in_dictionary and part.name not in _AFTER]
    while True:
        _parse_part(parser, parts, read)
        if parser.parse_optional_punctuation(",") is None:
            break
        if (
            parts
            and (parts[0].variadic or parts[0].optional)
            and parser.parse_optional_punctuation(")") is not None
        ):
            return read
    parser.parse_punctuation(")")
    return read


def _parse_part(parser: Parser, parts: list[LatePart], read: _Read) -> None:
    """Read the next operand or attribute, leaving out optional ones that do not fit."""
    position = parser.pos
    operand = parser.parse_optional_unresolved_operand()
    if operand is not None:
        read.operands.append(operand)
        while parts and parts[0].is_attribute and parts[0].optional:
            parts.pop(0)
        if parts and not parts[0].variadic and not parts[0].is_attribute:
            parts.pop(0)
        return
    while parts:
        part = parts[0]
        if part.is_attribute:
            parts.pop(0)
            value = _parse_attribute(parser, part)
            if value is not None:
                read.properties[part.name] = value
                return
        elif part.optional or part.variadic:
            parts.pop(0)
        else:
            parser.raise_error("expected SSA operand", position)
    parser.raise_error("expected ')'", position)


def parse_late(cls: type[OpT], mnemonic: str, parser: Parser) -> OpT:
    """Read an operation after its name."""
    note_late_kernels()
    own = SYNTAX.get(mnemonic)
    if own is not None:
        return own.parse(cls, parser)
    call = late_call(mnemonic)
    if call is None:
        parser.raise_error(
            f"custom op 'ttkernel.{mnemonic}' has no custom assembly form; write it in the generic "
            f'form, "ttkernel.{mnemonic}"(...) : (...) -> ...'
        )
    read = _parse_parentheses(parser, call)
    for part in call.attributes:
        if part.name in _AFTER and parser.parse_optional_keyword(part.name) is not None:
            read.properties[part.name] = IntegerAttr(int(parser.parse_boolean()), i1)
    properties, attributes = cls.parse_dict(parser, read.properties)
    parser.parse_punctuation(":")
    position = parser.pos
    type = parser.parse_function_type()
    return cls.create(
        operands=parser.resolve_operands(read.operands, type.inputs.data, position),
        result_types=type.outputs.data,
        properties=properties,
        attributes=attributes,
    )


def print_late(op: AssemblyOp, mnemonic: str, printer: Printer) -> None:
    """Write an operation after its name."""
    own = SYNTAX.get(mnemonic)
    if own is not None:
        own.print(op, printer)
        return
    call = late_call(mnemonic)
    assert call is not None, "only operations of 2026 are printed so"
    printer.print_string("(")
    pieces: list[Callable[[], None]] = []
    operands = iter(_by_part(op, call))
    for part in call.parts:
        if not part.is_attribute:
            values = next(operands)
            pieces.extend(map(_piece(printer.print_operand), values))
            if not values and mnemonic in _COMMA_BEFORE_NOTHING:
                pieces.append(lambda: None)
        elif not part.in_dictionary and part.name not in _AFTER:
            value = op.properties.get(part.name)
            if value is None and part.default is not None:
                value = IntegerAttr(part.default, i1)
            if value is not None:
                pieces.append(lambda part=part, value=value: _print_attribute(printer, part, value))
    printer.print_list(pieces, lambda piece: piece())
    printer.print_string(")")
    for part in call.attributes:
        if part.name in _AFTER and (value := op.properties.get(part.name)) is not None:
            printer.print_string(f" {part.name} ")
            _print_attribute(printer, part, value)
    print_dictionary(op, call, printer)
    printer.print_string(" : ")
    printer.print_operation_type(op)


def _piece(print_operand: Callable[[SSAValue], None]) -> Callable[[SSAValue], Callable[[], None]]:
    return lambda value: lambda: print_operand(value)


def _by_part(op: ODSOperation, call: LateCall) -> list[tuple[SSAValue, ...]]:
    return [op.group(part.name) for part in call.operands]


def print_dictionary(op: Operation, call: LateCall, printer: Printer, word: str = "") -> None:
    """Write the attributes that the syntax has no other place for."""
    spelled = {part.name for part in call.attributes if not part.in_dictionary}
    defaults = {
        part.name: IntegerAttr(part.default, i32)
        for part in call.attributes
        if part.default is not None
    }
    entries = {
        name: attr
        for name, attr in op.properties.items()
        if name not in spelled and name != SEGMENTS and defaults.get(name) != attr
    }
    entries |= op.attributes
    if entries:
        printer.print_string(word)
    printer.print_op_attributes(dict(sorted(entries.items())))


@dataclass(frozen=True)
class _OwnSyntax:
    parse: Callable[[type[Any], Parser], Any]
    print: Callable[[AssemblyOp, Printer], None]


def _parse_bitcast(cls: type[OpT], parser: Parser) -> OpT:
    operand = parser.parse_unresolved_operand()
    parser.parse_punctuation(":")
    value = parser.resolve_operand(operand, parser.parse_type())
    parser.parse_characters("to")
    result = parser.parse_type()
    properties, attributes = cls.parse_dict(parser, {})
    return cls.create(
        operands=[value], result_types=[result], properties=properties, attributes=attributes
    )


def _print_bitcast(op: AssemblyOp, printer: Printer) -> None:
    printer.print_string(" ")
    printer.print_operand(op.operands[0])
    printer.print_string(" : ")
    printer.print_attribute(op.operands[0].type)
    printer.print_string(" to ")
    printer.print_attribute(op.results[0].type)
    printer.print_op_attributes(op.attributes)


def _parse_alone(cls: type[OpT], parser: Parser) -> OpT:
    properties, attributes = cls.parse_dict(parser, {})
    return cls.create(properties=properties, attributes=attributes)


def _print_alone(op: AssemblyOp, printer: Printer) -> None:
    printer.print_op_attributes(op.attributes)


def _parse_place(cls: type[OpT], parser: Parser) -> OpT:
    properties, attributes = cls.parse_dict(parser, {})
    parser.parse_punctuation(":")
    type = parser.parse_function_type()
    return cls.create(result_types=type.outputs.data, properties=properties, attributes=attributes)


def _print_place(op: AssemblyOp, printer: Printer) -> None:
    printer.print_op_attributes(op.attributes)
    printer.print_string(" : ")
    printer.print_operation_type(op)


def _parse_sfpi(cls: type[OpT], parser: Parser) -> OpT:
    attributes = parser.parse_optional_attr_dict_with_keyword()
    region = parser.parse_region()
    return cls.create(regions=[region], attributes=attributes.data if attributes else {})


def _print_sfpi(op: AssemblyOp, printer: Printer) -> None:
    if op.attributes:
        printer.print_string(" attributes")
        printer.print_op_attributes(op.attributes)
    printer.print_string(" ")
    printer.print_region(op.regions[0], print_empty_block=False)


_EXPRESSIONS = ("cta_expr", "crta_expr")


def _parse_accessor_args(cls: type[OpT], parser: Parser) -> OpT:
    from ttmlir.dialects.ttkernel.attrs import TensorAccessorArgsType

    parser.parse_punctuation("(")
    result = TensorAccessorArgsType()
    if parser.parse_optional_keyword("prev") is not None:
        parser.parse_punctuation("=")
        previous = parser.parse_unresolved_operand()
        operands = [parser.resolve_operand(previous, result)]
        sizes = (0, 0, 1)
    else:
        first = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        second = parser.parse_unresolved_operand()
        operands = [parser.resolve_operand(each, i32) for each in (first, second)]
        sizes = (1, 1, 0)
    parser.parse_punctuation(")")
    spelled: dict[str, Attribute] = {}
    for name in _EXPRESSIONS:
        if parser.parse_optional_keyword(name) is not None:
            parser.parse_punctuation("=")
            spelled[name] = StringAttr(parser.parse_str_literal())
    properties, attributes = cls.parse_dict(parser, spelled)
    return cls.create(
        operands=operands,
        result_types=[result],
        properties={**properties, SEGMENTS: segments_attr(sizes)},
        attributes=attributes,
    )


def _print_accessor_args(op: AssemblyOp, printer: Printer) -> None:
    previous = op.group("prev_args")
    printer.print_string("(prev = " if previous else "(")
    printer.print_list(previous or op.operands, printer.print_operand)
    printer.print_string(")")
    for name in _EXPRESSIONS:
        if (text := op.properties.get(name)) is not None:
            printer.print_string(f" {name} = ")
            printer.print_attribute(text)
    printer.print_op_attributes(op.attributes)


_PLACE = _OwnSyntax(_parse_place, _print_place)
SYNTAX: Mapping[str, _OwnSyntax] = {
    "TensorAccessorArgs": _OwnSyntax(_parse_accessor_args, _print_accessor_args),
    "bitcast": _OwnSyntax(_parse_bitcast, _print_bitcast),
    "experimental::unpack_stall_on_pack": _OwnSyntax(_parse_alone, _print_alone),
    "my_logical_x_": _PLACE,
    "my_logical_y_": _PLACE,
    _SFPI: _OwnSyntax(_parse_sfpi, _print_sfpi),
}
"""What operations with a syntax of their own are read and written by."""
GENERIC = frozenset(("experimental::matmul_block", "mm_block_init", "mm_block_init_short"))
"""Operations that have the generic form only."""


# --- Rules ----------------------------------------------------------------------------------------


def _check_inside(op: Operation, word: str) -> None:
    parent = op.parent_op()
    while parent is not None and parent.name not in ("func.func", "ttmetal.enqueue_program"):
        parent = parent.parent_op()
    if parent is None:
        refuse(f"{word} must be inside of a EnqueueProgramOp region")


def _is_tiled(value: SSAValue) -> bool:
    return cast("CBType", value.type).memref.element_type.name == "tt.tile"


_SCALAR = "Input to TilizeOp or Output to UntilizeOp must have scalar element type"
_TILED = "Input to UntilizeOp or Output to TilizeOp must have tile element type"


def _check_tilize(op: Operation, scalar: SSAValue, tiled: SSAValue) -> None:
    if _is_tiled(scalar):
        refuse(_SCALAR)
    if not _is_tiled(tiled):
        refuse(_TILED)


def _buffers(op: Operation) -> list[SSAValue]:
    return [operand for operand in op.operands if isinstance(operand.type, CBType)]


def _tilize(word: str) -> Callable[[Operation], None]:
    def check(op: Operation) -> None:
        _check_inside(op, word)
        scalar, tiled = _buffers(op)
        _check_tilize(op, scalar, tiled)

    return check


def _untilize(word: str) -> Callable[[Operation], None]:
    def check(op: Operation) -> None:
        _check_inside(op, word)
        tiled, scalar = _buffers(op)
        _check_tilize(op, scalar, tiled)

    return check


def _number(op: Operation, name: str, default: int = 1) -> int:
    attr = op.properties.get(name)
    return cast("IntegerAttr", attr).value.data if isinstance(attr, IntegerAttr) else default


def constant_of(value: SSAValue) -> int | None:
    """The number that a value is known to be; None for other values."""
    owner = value.owner
    if isinstance(owner, Operation) and owner.has_trait(ConstantLike, value_if_unregistered=False):
        attr = owner.properties.get("value")
        if isinstance(attr, IntegerAttr):
            return cast("IntegerAttr", attr).value.data
    return None


def _check_pack_untilize_init(op: Operation) -> None:
    _untilize("PackUntilizeInitOp")(op)
    if _number(op, "totalColTiles") % max(1, _number(op, "colsPerDstPass")):
        refuse("cols_per_dst_pass must divide total_col_tiles")


def _check_pack_untilize_block(op: Operation) -> None:
    _untilize("ExperimentalPackUntilizeBlockOp")(op)
    columns = constant_of(op.operands[3])
    if columns is None:
        return
    if columns <= 0:
        refuse("block_c must be positive")
    if columns % max(1, _number(op, "colsPerDstPass")):
        refuse("block_c must be divisible by cols_per_dst_pass")


def _check_untilize_init(op: Operation) -> None:
    _check_inside(op, "UntilizeInitOp")
    if not _is_tiled(op.operands[0]):
        refuse("Input to UntilizeInitOp must have tile element type")


def _check_transpose_init(op: Operation) -> None:
    _check_inside(op, "TransposeInitOp")
    for word, value in zip(("Input", "Output"), op.operands, strict=True):
        if not _is_tiled(value):
            refuse(f"{word} to TransposeInitOp must have tile element type")


def _check_transpose(op: Operation) -> None:
    _check_inside(op, "TransposeWHTileOp")
    if not _is_tiled(op.operands[0]):
        refuse("Input to TransposeWHTileOp must have tile element type")


def _check_sfpu_reduce(op: Operation) -> None:
    if cast("ReduceTypeAttr", op.properties["reduce_type"]).data is ReduceType.AVG:
        refuse("sfpu_reduce only supports reduce_type Sum or Max")
    if cast("DataTypeAttr", op.properties["data_format"]).data is not DataType.SI32:
        refuse("sfpu_reduce only supports data_format Int32")
    dim = op.properties.get("reduce_dim")
    if isinstance(dim, ReduceDimAttr) and dim.data is ReduceDim.SCALAR:
        refuse("sfpu_reduce does not support reduce_dim Scalar; decompose into Col + Row")


def _check_print(op: Operation) -> None:
    text = cast("StringAttr", op.properties["fmt"]).data
    if text.count("{}") != len(op.operands):
        refuse("number of format specifiers must match number of operands")


def _check_accessor_args(op: Operation) -> None:
    assert isinstance(op, ODSOperation)
    bases = [op.group(name) for name in ("cta_base", "crta_base")]
    if op.group("prev_args"):
        if any(bases):
            refuse("cta_base and crta_base should not be provided when using prev_args")
        return
    if not all(bases):
        refuse("both cta_base and crta_base are required when prev_args is not provided")
    for word, base in zip(("cta", "crta"), bases, strict=True):
        if f"{word}_expr" not in op.properties and constant_of(base[0]) is None:
            refuse(f"{word}_base must be a constant when {word}_expr is not provided")


def _check_transaction(op: Operation) -> None:
    """C1: a network that is a constant is 0 or 1."""
    assert isinstance(op, ODSOperation)
    for noc in op.group("noc"):
        number = constant_of(noc)
        if number is not None and number not in (0, 1):
            refuse("noc must be in [0, 1].")


def _inside(word: str) -> Callable[[Operation], None]:
    return lambda op: _check_inside(op, word)


CHECKS: Mapping[str, Callable[[Operation], None]] = {
    "TensorAccessorArgs": _check_accessor_args,
    "cb_pop_front": _inside("CBPopFrontOp"),
    "cb_push_back": _inside("CBPushBackOp"),
    "cb_reserve_back": _inside("CBReserveBackOp"),
    "cb_wait_front": _inside("CBWaitFrontOp"),
    "dprint": _check_print,
    "experimental::pack_untilize_block": _check_pack_untilize_block,
    "experimental::tilize_block": _tilize("ExperimentalTilizeBlockOp"),
    "experimental::untilize_block": _untilize("ExperimentalUntilizeBlockOp"),
    "noc_async_read_barrier_with_trid": _check_transaction,
    "noc_async_read_one_packet_with_state_with_trid": _check_transaction,
    "noc_async_read_set_trid": _check_transaction,
    "noc_async_write_barrier_with_trid": _check_transaction,
    "noc_async_write_one_packet_with_trid": _check_transaction,
    "noc_async_write_set_trid": _check_transaction,
    "pack_untilize_init": _check_pack_untilize_init,
    "reset_noc_trid_barrier_counter": _check_transaction,
    "sfpu_reduce": _check_sfpu_reduce,
    "sfpu_reduce_init": _check_sfpu_reduce,
    "tilize_block": _tilize("TilizeBlockOp"),
    "tilize_init": _tilize("TilizeInitOp"),
    "transpose_wh_init": _check_transpose_init,
    "transpose_wh_tile": _check_transpose,
    "untilize_block": _untilize("UntilizeBlockOp"),
    "untilize_init": _check_untilize_init,
}
"""Rules of operations beside their types."""
