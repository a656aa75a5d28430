"""The ttkernel dialect: what kernels do on the cores of a chip."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from xdsl.dialects.builtin import IntAttr, MemRefType, ModuleOp, StringAttr, f32, i1, i32
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
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, Pure, ReturnLike

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import (
    AttrConstraint,
    ODSOperation,
    Property,
    Signature,
    TypeConstraint,
    ValueGroup,
    properties,
    refuse,
)
from ttmlir.dialects.definition.syntax import (
    KeywordAttr,
    expect,
    parameter,
    parse_keyword_or_string,
    parse_memref,
    parse_unsigned,
)
from ttmlir.dialects.tt import element_of
from ttmlir.layout.data_format import TileFormat
from ttmlir.layout.enums import (
    STORED_DATA_TYPES,
    CBPort,
    EthType,
    MathFidelity,
    NocIndex,
    ThreadType,
)
from ttmlir.optable.kernel import CALLS, Form, KernelCall, Template, TemplateKind, ValueKind
from ttmlir.optable.kernel.kernel_call import ENUMS

# --- Attrs ----------------------------------------------------------------------------------------
# Types and attributes of kernels on single cores.

_CB = "TTKernel_CB"


@irdl_attr_definition
class ThreadTypeAttr(
    KeywordAttr[ThreadType],
    enum=ThreadType,
    cpp="::mlir::tt::ttkernel::ThreadType",
    definition="TTKernel_ThreadTypeAttr",
):
    """Processor of a core: `#ttkernel.thread<tensix>`."""

    name = "ttkernel.thread"


@dataclass(frozen=True)
class TensixConfig:
    """Settings of the compute processor; the defaults are those of tt-mlir."""

    math_fidelity: MathFidelity = MathFidelity.HIFI4
    fp32_dest_acc_en: bool = False
    preserve_fp32_precision: bool = False
    math_approx_mode: bool = False


@irdl_attr_definition
class TensixConfigAttr(Data[TensixConfig]):
    """Settings of a compute kernel: `#ttkernel.tensix_config<hifi4, false, false, false>`."""

    name = "ttkernel.tensix_config"

    @property
    def thread_type(self) -> ThreadType:
        """The processor that the kernel runs on."""
        return ThreadType.TENSIX

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> TensixConfig:
        """Read `<fidelity, flag, flag, flag>`."""
        owner = "TTKernel_TensixConfigAttr"
        expect(parser, "<")
        with parameter(parser, owner, "math_fidelity", "MathFidelity"):
            fidelity = parse_keyword_or_string(parser, MathFidelity, "TTKernel Math Fidelity")
        flags: list[bool] = []
        for name in ("fp32_dest_acc_en", "preserve_fp32_precision", "math_approx_mode"):
            expect(parser, ",")
            with parameter(parser, owner, name, "bool"):
                flags.append(_parse_flag(parser))
        expect(parser, ">")
        return TensixConfig(fidelity, *flags)

    def print_parameter(self, printer: Printer) -> None:
        """Write `<fidelity, flag, flag, flag>`."""
        config = self.data
        flags = (config.fp32_dest_acc_en, config.preserve_fp32_precision, config.math_approx_mode)
        texts = ("true" if flag else "false" for flag in flags)
        printer.print_string(f"<{config.math_fidelity.keyword}, {', '.join(texts)}>")


def _parse_flag(parser: AttrParser) -> bool:
    flag = parser.parse_optional_boolean()
    if flag is None:
        parser.raise_error("expected 'true' or 'false'")
    return flag


@irdl_attr_definition
class NocConfigAttr(Data[NocIndex]):
    """Settings of a data movement kernel: `#ttkernel.noc_config<noc0>`."""

    name = "ttkernel.noc_config"

    @property
    def thread_type(self) -> ThreadType:
        """The processor that the kernel runs on."""
        return ThreadType.NOC

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> NocIndex:
        """Read `<network>`."""
        expect(parser, "<")
        index = _parse_noc_index(parser, "TTKernel_NocConfigAttr")
        expect(parser, ">")
        return index

    def print_parameter(self, printer: Printer) -> None:
        """Write `<network>`."""
        printer.print_string(f"<{self.data.keyword}>")


@irdl_attr_definition
class EthernetConfigAttr(Data[tuple[EthType, NocIndex]]):
    """Settings of an Ethernet kernel: `#ttkernel.ethernet_config<sender, noc0>`."""

    name = "ttkernel.ethernet_config"

    @property
    def thread_type(self) -> ThreadType:
        """The processor that the kernel runs on."""
        return ThreadType.ETHERNET

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[EthType, NocIndex]:
        """Read `<side, network>`."""
        owner = "TTKernel_EthernetConfigAttr"
        expect(parser, "<")
        with parameter(parser, owner, "eth_type", "EthType"):
            side = parse_keyword_or_string(parser, EthType, "TTKernel Ethernet Type")
        expect(parser, ",")
        index = _parse_noc_index(parser, owner)
        expect(parser, ">")
        return side, index

    def print_parameter(self, printer: Printer) -> None:
        """Write `<side, network>`."""
        side, index = self.data
        printer.print_string(f"<{side.keyword}, {index.keyword}>")


def _parse_noc_index(parser: AttrParser, owner: str) -> NocIndex:
    with parameter(parser, owner, "noc_index", "NocIndex"):
        return parse_keyword_or_string(parser, NocIndex, "TTKernel NOC Index")


@dataclass(frozen=True)
class CircularBuffer:
    """A circular buffer apart from its memref; address and size in bytes."""

    port: CBPort
    address: int
    page_size: int
    num_buffers: int = 1


@irdl_attr_definition
class CircularBufferParameter(Data[CircularBuffer]):
    """What the type of a circular buffer says beside its memref."""

    name = "ttkernel.cb_parameter"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> CircularBuffer:
        """Part of a type only: there is no text of its own."""
        parser.raise_error("expected a circular buffer type")

    def print_parameter(self, printer: Printer) -> None:
        """Write the fields."""
        printer.print_string(str(self.data))


@irdl_attr_definition
class CBType(ParametrizedAttribute, TypeAttribute):
    """A circular buffer: `!ttkernel.cb<cb_in0, address, memref, page size, number of buffers>`."""

    name = "ttkernel.cb"
    buffer: CircularBufferParameter
    memref: MemRefType[Attribute]

    @classmethod
    def get(cls, port: CBPort, address: int, memref: MemRefType[Attribute]) -> CBType:
        """The buffer of one tile per page, or of one row of a shard of scalars."""
        element = element_of(memref.element_type)
        numbers = 1 if isinstance(element, TileFormat) else memref.get_shape()[-1]
        buffer = CircularBuffer(port, address, numbers * element.size_bytes)
        return cls(CircularBufferParameter(buffer), memref)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read the five parameters."""
        expect(parser, "<")
        with parameter(parser, _CB, "port", "CBPort"):
            summary = "TTKernel Circular Buffer Ports"
            port = parse_keyword_or_string(parser, CBPort, summary)
        address = _parse_number(parser, "address")
        expect(parser, ",")
        with parameter(parser, _CB, "memref", "MemRefType"):
            memref = parse_memref(parser)
        page_size = _parse_number(parser, "page_size")
        num_buffers = _parse_number(parser, "num_buffers")
        expect(parser, ">")
        buffer = CircularBuffer(port, address, page_size, num_buffers)
        return [CircularBufferParameter(buffer), memref]

    def print_parameters(self, printer: Printer) -> None:
        """Write the five parameters."""
        buffer = self.buffer.data
        printer.print_string(f"<{buffer.port.keyword}, {buffer.address}, ")
        printer.print_attribute(self.memref)
        printer.print_string(f", {buffer.page_size}, {buffer.num_buffers}>")


def _parse_number(parser: AttrParser, name: str) -> int:
    expect(parser, ",")
    with parameter(parser, _CB, name, "uint64_t"):
        return parse_unsigned(parser, bits=64)


@irdl_attr_definition
class NocAddrType(ParametrizedAttribute, TypeAttribute):
    """An address on a network of the chip: `!ttkernel.noc_addr`."""

    name = "ttkernel.noc_addr"


@irdl_attr_definition
class LocalSemaphoreType(ParametrizedAttribute, TypeAttribute):
    """A semaphore, the same on every core that has it: `!ttkernel.local_semaphore`."""

    name = "ttkernel.local_semaphore"


_POINTER_WIDTHS = (8, 16, 32)


@irdl_attr_definition
class L1AddrPtrType(ParametrizedAttribute, TypeAttribute):
    """A pointer to volatile integers of so many bits in L1: `!ttkernel.l1_addr_ptr<32>`."""

    name = "ttkernel.l1_addr_ptr"
    width: IntAttr

    @classmethod
    def get(cls, width: int = 32) -> L1AddrPtrType:
        """The pointer to integers of so many bits."""
        return cls(IntAttr(width))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read the width."""
        expect(parser, "<")
        width = parse_unsigned(parser, bits=32)
        if width not in _POINTER_WIDTHS:
            parser.raise_error(
                f"unsupported l1_addr_ptr element width {width}; expected 8, 16, or 32"
            )
        expect(parser, ">")
        return [IntAttr(width)]

    def print_parameters(self, printer: Printer) -> None:
        """Write the width."""
        printer.print_string(f"<{self.width.data}>")


@irdl_attr_definition
class DataFormatType(ParametrizedAttribute, TypeAttribute):
    """A number format: `!ttkernel.DataFormat`."""

    name = "ttkernel.DataFormat"


@irdl_attr_definition
class InterleavedAddrGenType(ParametrizedAttribute, TypeAttribute):
    """Where the pages of an interleaved tensor lie: `!ttkernel.interleaved_addr_gen_fast`."""

    name = "ttkernel.interleaved_addr_gen_fast"


@irdl_attr_definition
class TensorAccessorArgsType(ParametrizedAttribute, TypeAttribute):
    """What a kernel's arguments say about a tensor's layout: `!ttkernel.TensorAccessorArgs`."""

    name = "ttkernel.TensorAccessorArgs"


@irdl_attr_definition
class TensorAccessorType(ParametrizedAttribute, TypeAttribute):
    """Where the pages and shards of any tensor lie: `!ttkernel.TensorAccessor`."""

    name = "ttkernel.TensorAccessor"


KERNEL_CONFIGS = frozenset(
    attr.name for attr in (TensixConfigAttr, NocConfigAttr, EthernetConfigAttr)
)
"""Names of the attributes that configure a kernel."""

ATTRIBUTES: Sequence[type[Attribute]] = (
    CBType,
    DataFormatType,
    EthernetConfigAttr,
    InterleavedAddrGenType,
    L1AddrPtrType,
    LocalSemaphoreType,
    NocAddrType,
    NocConfigAttr,
    TensixConfigAttr,
    TensorAccessorArgsType,
    TensorAccessorType,
    ThreadTypeAttr,
)
"""Every attribute and type of the dialect."""


# --- Ops ------------------------------------------------------------------------------------------
# Operations of ttkernel: the calls of the operation table and three that are written out.

RESULT_TYPES: Mapping[ValueKind, Attribute] = {
    ValueKind.I32: i32,
    ValueKind.BOOL: i1,
    ValueKind.F32: f32,
    ValueKind.NOC_ADDR: NocAddrType(),
    ValueKind.SEMAPHORE: LocalSemaphoreType(),
    ValueKind.L1_PTR: L1AddrPtrType.get(),
    ValueKind.DATA_FORMAT: DataFormatType(),
    ValueKind.ADDR_GEN: InterleavedAddrGenType(),
    ValueKind.ACCESSOR_ARGS: TensorAccessorArgsType(),
    ValueKind.ACCESSOR: TensorAccessorType(),
}
"""Type of what a call returns."""


def _one_of(summary: str, *kinds: ValueKind) -> TypeConstraint:
    types = tuple(RESULT_TYPES[kind] for kind in kinds)
    return TypeConstraint(summary, lambda type: type in types)


_CONSTRAINTS = {
    ValueKind.CB: TypeConstraint("TTKernel cb", lambda type: isinstance(type, CBType)),
    ValueKind.I32: _one_of("32-bit signless integer", ValueKind.I32),
    ValueKind.BOOL: _one_of("1-bit signless integer", ValueKind.BOOL),
    ValueKind.F32: _one_of("32-bit float", ValueKind.F32),
    ValueKind.NOC_ADDR: _one_of("TTKernel noc address", ValueKind.NOC_ADDR),
    ValueKind.ADDRESS: _one_of(
        "32-bit signless integer or TTKernel local semaphore", ValueKind.I32, ValueKind.SEMAPHORE
    ),
    ValueKind.SEMAPHORE: _one_of("TTKernel local semaphore", ValueKind.SEMAPHORE),
    ValueKind.L1_PTR: _one_of("TTKernel pointer to 32-bit words of L1", ValueKind.L1_PTR),
    ValueKind.DATA_FORMAT: _one_of("TTKernel data format", ValueKind.DATA_FORMAT),
    ValueKind.ADDR_GEN: _one_of(
        "TTKernel address generator or tensor accessor", ValueKind.ADDR_GEN, ValueKind.ACCESSOR
    ),
    ValueKind.ACCESSOR_ARGS: _one_of("TTKernel tensor accessor arguments", ValueKind.ACCESSOR_ARGS),
    ValueKind.ACCESSOR: _one_of("TTKernel tensor accessor", ValueKind.ACCESSOR),
}
_ANYTHING = TypeConstraint("any type", ods.always)
_ANY_POINTER = TypeConstraint(
    "TTKernel pointer to integers of L1", lambda type: isinstance(type, L1AddrPtrType)
)
_ANY_WIDTH = (Form.CAST, Form.LOAD, Form.STORE)
_DATA_TYPE = ods.enum_attr(ods.I32, len(STORED_DATA_TYPES), "TT DataTypes")


def _is_memref_or_cb(type: Attribute) -> bool:
    return isinstance(type, CBType) or (isinstance(type, MemRefType) and bool(type.shape.data))


_MEMREF_OR_CB = TypeConstraint(
    "non-0-ranked.memref of any type values or TTKernel cb", _is_memref_or_cb
)


class TTKernelOp(ODSOperation):
    """An operation of a kernel."""


_CONTROL_FLOW = frozenset({"scf.for", "scf.if", "scf.while"})


def _check_parent(op: Operation, word: str, *, nested: bool = True) -> None:
    """Refuse an operation outside of a kernel; with `nested` it may be in loops and branches."""
    parent = op.parent_op()
    while nested and parent is not None and parent.name in _CONTROL_FLOW:
        parent = parent.parent_op()
    inside = parent is not None and (
        parent.name == "ttmetal.dispatch"
        or (parent.name == "func.func" and isinstance(parent.parent_op(), ModuleOp))
    )
    if not inside:
        refuse(f"{word} must be inside of a DispatchOp region")


def _cb(value: SSAValue) -> CBType:
    return cast("CBType", value.type)


def _is_tiled(cb: CBType) -> bool:
    return cb.memref.element_type.name == "tt.tile"


def _check_formats(op: Operation, scalar: SSAValue, tiled: SSAValue) -> None:
    if _cb(scalar).buffer.data.port is _cb(tiled).buffer.data.port:
        refuse("Input circular buffer port and output circular buffer port must be different")
    if _is_tiled(_cb(scalar)):
        refuse("Input to TilizeOp or Output to UntilizeOp must have scalar element type")
    if not _is_tiled(_cb(tiled)):
        refuse("Input to UntilizeOp or Output to TilizeOp must have tile element type")


def _inside(word: str) -> Callable[[Operation], None]:
    return lambda op: _check_parent(op, word)


def _tilize(word: str) -> Callable[[Operation], None]:
    def check(op: Operation) -> None:
        _check_parent(op, word)
        _check_formats(op, scalar=op.operands[0], tiled=op.operands[-1])

    return check


def _untilize(word: str) -> Callable[[Operation], None]:
    def check(op: Operation) -> None:
        _check_parent(op, word)
        _check_formats(op, scalar=op.operands[-1], tiled=op.operands[0])

    return check


_CHECKS: dict[str, Callable[[Operation], None]] = {
    "cb_push_back": _inside("CBPushBackOp"),
    "cb_pop_front": _inside("CBPopFrontOp"),
    "cb_reserve_back": _inside("CBReserveBackOp"),
    "cb_wait_front": _inside("CBWaitFrontOp"),
    "tilize_init": _tilize("TilizeInitOp"),
    "tilize_block": _tilize("TilizeBlockOp"),
    "untilize_init": _untilize("UntilizeInitOp"),
    "untilize_block": _untilize("UntilizeBlockOp"),
}


class CallOp(TTKernelOp):
    """A call that has a definition in the table of kernel calls."""

    CALL: ClassVar[KernelCall]
    CHECK: ClassVar[Callable[[Operation], None] | None] = None

    def verify_op(self) -> None:
        """Check the place of the call and its circular buffers, where it has rules for them."""
        check = type(self).CHECK
        if check is not None:
            check(self)


def _enumerator_attr(enum: str) -> AttrConstraint:
    """A string with the name of a member of an enumeration of tt-metal."""
    names = tuple(ENUMS[enum].members)
    return AttrConstraint(
        f"string attribute whose value is one of {', '.join(names)}",
        lambda attr: isinstance(attr, StringAttr),
        lambda attr: cast("StringAttr", attr).data in names,
    )


def _template_constraint(template: Template) -> AttrConstraint:
    match template.kind:
        case TemplateKind.TYPE:
            return ods.STRING
        case TemplateKind.BOOL:
            return ods.BOOL
        case TemplateKind.INT:
            return ods.I32
        case TemplateKind.ENUM:
            return _enumerator_attr(template.enum)


def _properties(call: KernelCall) -> tuple[Property, ...]:
    templates = (
        Property(
            template.name,
            _template_constraint(template),
            optional=template.default is not None or template.implied is not None,
        )
        for template in (*call.templates, *call.flags)
    )
    return (
        *(Property(name, _DATA_TYPE) for name in call.data_types),
        *(Property(name, ods.I32) for name in call.constants),
        *((Property(call.text, ods.STRING),) if call.text else ()),
        *templates,
    )


def _signature(call: KernelCall) -> Signature:
    values = (ValueGroup("argv", _ANYTHING, variadic=True),) if call.variadic else ()
    kinds = dict(_CONSTRAINTS)
    if call.form in _ANY_WIDTH:
        kinds[ValueKind.L1_PTR] = _ANY_POINTER
    operands = (ValueGroup(name, kinds[kind]) for name, kind in call.operands)
    return Signature(
        (*operands, *values),
        (ValueGroup(call.result[0], kinds[call.result[1]]),) if call.result else (),
        _properties(call),
    )


def _class_of(call: KernelCall) -> type[TTKernelOp]:
    words = call.mnemonic.replace("cb_", "CB_", 1) if call.mnemonic[:3] == "cb_" else call.mnemonic
    class_name = "".join(word[:1].upper() + word[1:] for word in words.split("_")) + "Op"
    check = _CHECKS.get(call.mnemonic)
    contents: dict[str, object] = {
        "name": f"ttkernel.{call.mnemonic}",
        "CALL": call,
        "CHECK": check and staticmethod(check),
        "SIGNATURE": _signature(call),
        "__doc__": call.summary,
        "__module__": __name__,
    }
    return cast("type[TTKernelOp]", type(class_name, (CallOp,), contents))


class BuiltinOp(TTKernelOp):
    """A kernel known by name: `op` of the family `kind`.

    C1: it stands in a dispatch or in a function.
    """

    name = "ttkernel.builtin"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("args", _MEMREF_OR_CB, variadic=True),),
        properties=properties(op=ods.FLAT_SYMBOL, kind=ods.FLAT_SYMBOL),
    )

    def verify_op(self) -> None:
        """Check the place (C1)."""
        _check_parent(self, "KernelOp")


class ReturnOp(TTKernelOp):
    """The end of a kernel.

    C1: it stands in a dispatch or in a function.
    """

    name = "ttkernel.return"
    SIGNATURE: ClassVar = Signature()
    traits = traits_def(Pure(), ReturnLike(), IsTerminator())

    def verify_op(self) -> None:
        """Check the place (C1)."""
        _check_parent(self, "ReturnOp", nested=False)


class UnreachableOp(TTKernelOp):
    """A place that a kernel never reaches."""

    name = "ttkernel.unreachable"
    SIGNATURE: ClassVar = Signature()
    traits = traits_def(Pure(), ReturnLike(), IsTerminator())


OPERATIONS: tuple[type[TTKernelOp], ...] = (
    *(_class_of(call) for call in CALLS),
    BuiltinOp,
    ReturnOp,
    UnreachableOp,
)
"""Every operation of the dialect."""

_BY_MNEMONIC = {op.name.removeprefix("ttkernel."): op for op in OPERATIONS}


def op_class(mnemonic: str) -> type[TTKernelOp]:
    """The class of `ttkernel.<mnemonic>`; KeyError if there is no such operation."""
    return _BY_MNEMONIC[mnemonic]


# --- Ttkernel -------------------------------------------------------------------------------------

__all__ = [
    "KERNEL_CONFIGS",
    "RESULT_TYPES",
    "TTKERNEL",
    "BuiltinOp",
    "CBType",
    "CallOp",
    "CircularBuffer",
    "CircularBufferParameter",
    "DataFormatType",
    "EthernetConfigAttr",
    "InterleavedAddrGenType",
    "L1AddrPtrType",
    "LocalSemaphoreType",
    "NocAddrType",
    "NocConfigAttr",
    "ReturnOp",
    "TTKernelOp",
    "TensixConfig",
    "TensixConfigAttr",
    "TensorAccessorArgsType",
    "TensorAccessorType",
    "ThreadTypeAttr",
    "UnreachableOp",
    "op_class",
]

TTKERNEL = Dialect("ttkernel", cast("list[type[Operation]]", list(OPERATIONS)), list(ATTRIBUTES))
"""The dialect, for an xDSL context."""
