"""Types and attributes of kernels on single cores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from xdsl.dialects.builtin import IntAttr, MemRefType
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttmlir.dialects.definition.fields import (
    QUOTED,
    ContentAttr,
    Field,
    ValueSyntax,
    ValueT,
    fields,
    plain,
)
from ttmlir.dialects.definition.ods import classes_in
from ttmlir.dialects.definition.syntax import (
    KeywordAttr,
    PlainType,
    expect,
    parameter,
    parse_keyword_or_string,
    parse_list,
    parse_memref,
    parse_nested,
    parse_unsigned,
    print_stripped,
)
from ttmlir.dialects.tt import element_of
from ttmlir.layout.data_format import TileFormat
from ttmlir.layout.enums import (
    CBPort,
    EthType,
    KeywordEnum,
    MathFidelity,
    NocIndex,
    ThreadType,
)
from ttmlir.mlir.core_prefix import note_late_kernels

EnumT = TypeVar("EnumT", bound=KeywordEnum)

_CB = "TTKernel_CB"


@irdl_attr_definition
class ThreadTypeAttr(KeywordAttr[ThreadType], enum=ThreadType):
    """Processor of a core: `#ttkernel.thread<tensix>`, called `compute` since 2025."""

    name = "ttkernel.thread"

    @property
    def value(self) -> ThreadType:
        """The processor, by one name."""
        return ThreadType.TENSIX if self.data is ThreadType.COMPUTE else self.data

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ThreadType:
        """Read `<keyword>`."""
        if parser.lexer.input.content.startswith("<compute", parser.pos):
            note_late_kernels()
        return super().parse_parameter(parser)


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
    elements: int | None = None
    """In 2026 the number of its elements, all that its type says besides theirs."""


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
    """A circular buffer: `!ttkernel.cb<cb_in0, address, memref, page size, number of buffers>`.

    In 2026 it is `!ttkernel.cb<2, f32>`, of elements; which buffer it is an argument tells.
    """

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
        """Read the five parameters, or the two of 2026."""
        expect(parser, "<")
        position = parser.pos
        elements = parser.parse_optional_integer(allow_boolean=False)
        if elements is not None:
            if not 0 <= elements < 1 << 63:
                parser.raise_error("expected a number of elements from 0 to 2**63 - 1", position)
            note_late_kernels()
            expect(parser, ",")
            with parameter(parser, _CB, "element_type", "Type"):
                element = parser.parse_type()
            expect(parser, ">")
            return cls._parameters_of(elements, element)
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

    @staticmethod
    def _parameters_of(elements: int, element: Attribute) -> Sequence[Attribute]:
        buffer = CircularBuffer(CBPort.IN0, 0, 0, elements=elements)
        return [CircularBufferParameter(buffer), MemRefType(element, [elements])]

    @property
    def is_late(self) -> bool:
        """True in the form of 2026, whose port and address are arguments of the kernel."""
        return self.buffer.data.elements is not None

    def print_parameters(self, printer: Printer) -> None:
        """Write what `parse_parameters` reads."""
        buffer = self.buffer.data
        if buffer.elements is not None:
            printer.print_string(f"<{buffer.elements}, ")
            printer.print_attribute(self.memref.element_type)
            printer.print_string(">")
            return
        printer.print_string(f"<{buffer.port.keyword}, {buffer.address}, ")
        printer.print_attribute(self.memref)
        printer.print_string(f", {buffer.page_size}, {buffer.num_buffers}>")


def _parse_number(parser: AttrParser, name: str) -> int:
    expect(parser, ",")
    with parameter(parser, _CB, name, "uint64_t"):
        return parse_unsigned(parser, bits=64)


@irdl_attr_definition
class NocAddrType(PlainType):
    """An address on a network of the chip: `!ttkernel.noc_addr`."""

    name = "ttkernel.noc_addr"


@irdl_attr_definition
class LocalSemaphoreType(PlainType):
    """A semaphore, the same on every core that has it: `!ttkernel.local_semaphore`."""

    name = "ttkernel.local_semaphore"


_WORD = 32
_POINTER_WIDTHS = (8, 16, _WORD)


@irdl_attr_definition
class L1AddrPtrType(ParametrizedAttribute, TypeAttribute):
    """A pointer to volatile integers of so many bits in L1: `!ttkernel.l1_addr_ptr<32>`.

    Until summer 2026 it was `!ttkernel.l1_addr_ptr`, always of 32 bits.
    """

    name = "ttkernel.l1_addr_ptr"
    width: IntAttr
    """0 where the text has none."""

    @property
    def bits(self) -> int:
        """The width of the integers."""
        return self.width.data or _WORD

    @classmethod
    def get(cls, width: int = 32) -> L1AddrPtrType:
        """The pointer to integers of so many bits."""
        return cls(IntAttr(width))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read the width, if there is one."""
        if parser.parse_optional_punctuation("<") is None:
            note_late_kernels()
            return [IntAttr(0)]
        width = parse_unsigned(parser, bits=32)
        if width not in _POINTER_WIDTHS:
            parser.raise_error(
                f"unsupported l1_addr_ptr element width {width}; expected 8, 16, or 32"
            )
        expect(parser, ">")
        return [IntAttr(width)]

    def print_parameters(self, printer: Printer) -> None:
        """Write the width, if the text had one."""
        if self.width.data:
            printer.print_string(f"<{self.width.data}>")


@irdl_attr_definition
class DataFormatType(PlainType):
    """A number format: `!ttkernel.DataFormat`."""

    name = "ttkernel.DataFormat"


@irdl_attr_definition
class InterleavedAddrGenType(PlainType):
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


# --- 2026 -----------------------------------------------------------------------------------------
# What the dialect has had since 2025.


class _LateType(PlainType):
    """A type without parameters that kernels of 2024 do not have."""

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read nothing."""
        note_late_kernels()
        return []


@irdl_attr_definition
class L1AddrType(_LateType):
    """An address in the memory of a core: `!ttkernel.l1_addr`."""

    name = "ttkernel.l1_addr"


@irdl_attr_definition
class PageMappingType(_LateType):
    """The bank of a page and its offset there: `!ttkernel.PageMapping`."""

    name = "ttkernel.PageMapping"


@irdl_attr_definition
class FabricConnectionManagerType(_LateType):
    """The connections of a core to other chips: `!ttkernel.fabric_connection_manager`."""

    name = "ttkernel.fabric_connection_manager"


@irdl_attr_definition
class MeshPositionType(_LateType):
    """Where a chip stands in a mesh: `!ttkernel.mesh_position`."""

    name = "ttkernel.mesh_position"


class _LateKeyword(KeywordAttr[EnumT]):
    """The keyword of an enumeration that kernels of 2024 do not have."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> EnumT:
        """Read `<keyword>`."""
        note_late_kernels()
        return super().parse_parameter(parser)


class ReduceType(KeywordEnum):
    """How a reduction of tiles combines."""

    SUM = 0, "reduce_sum"
    MAX = 1, "reduce_max"
    AVG = 2, "reduce_avg"


class ReduceDim(KeywordEnum):
    """Which dimensions of tiles are reduced."""

    ROW = 0, "reduce_dim_row"
    COL = 1, "reduce_dim_col"
    SCALAR = 2, "reduce_dim_scalar"


class BcastType(KeywordEnum):
    """What of a tile is repeated over all of it."""

    NONE = 0, "none"
    COL = 1, "col"
    ROW = 2, "row"
    SCALAR = 3, "scalar"


class EltwiseBinaryType(KeywordEnum):
    """What the matrix unit computes of two tiles, element by element."""

    ADD = 0, "add"
    SUB = 1, "sub"
    MUL = 2, "mul"


class ReuseType(KeywordEnum):
    """The source register that a tile of DST is moved to."""

    DEST_TO_SRCA = 0, "dest_to_srca"
    DEST_TO_SRCB = 1, "dest_to_srcb"


@irdl_attr_definition
class ReduceTypeAttr(_LateKeyword[ReduceType], enum=ReduceType):
    """How a reduction combines: `#ttkernel.reduce_type<reduce_max>`."""

    name = "ttkernel.reduce_type"


@irdl_attr_definition
class ReduceDimAttr(_LateKeyword[ReduceDim], enum=ReduceDim):
    """Which dimensions of tiles are reduced: `#ttkernel.reduce_dim<reduce_dim_col>`."""

    name = "ttkernel.reduce_dim"


@irdl_attr_definition
class BcastTypeAttr(_LateKeyword[BcastType], enum=BcastType):
    """What of a tile is repeated: `#ttkernel.bcast_type<row>`."""

    name = "ttkernel.bcast_type"


@irdl_attr_definition
class EltwiseBinaryTypeAttr(_LateKeyword[EltwiseBinaryType], enum=EltwiseBinaryType):
    """What is computed of two tiles: `#ttkernel.eltwise_binary_type<add>`."""

    name = "ttkernel.eltwise_binary_type"


@irdl_attr_definition
class ReuseTypeAttr(_LateKeyword[ReuseType], enum=ReuseType, cpp="BinaryDestReuseType"):
    """Where a tile of DST is moved to: `#ttkernel.reuse_type<dest_to_srca>`."""

    name = "ttkernel.reuse_type"


class ArgType(KeywordEnum):
    """What an argument of a kernel is."""

    CB_PORT = 0, "cb_port"
    BUFFER_ADDRESS = 1, "buffer_address"
    LOCAL_SEMAPHORE = 2, "local_semaphore"
    NAMED_ARGUMENT = 3, "named_argument"
    GLOBAL_SEMAPHORE = 4, "global_semaphore"
    SCALAR = 5, "scalar"
    TENSOR_ACCESSOR_ARGS = 6, "tensor_accessor_args"


@dataclass(frozen=True)
class KernelArgument:
    """An argument of a kernel: what it is, and of which operand of the program."""

    type: ArgType
    operand: int
    is_uniform: bool = True
    name: str | None = None


def _parse_arg_type(parser: AttrParser) -> ArgType:
    position = parser.pos
    word = parser.parse_optional_identifier_or_str_literal()
    if word is None:
        parser.raise_error("expected keyword for TTKernel Argument Types", position)
    known = ArgType.keywords()
    if word not in known:
        parser.raise_error(
            f"expected one of [{', '.join(known)}] for TTKernel Argument Types, got: {word}",
            position,
        )
    return ArgType.from_keyword(word)


_ARG_TYPE = plain(_parse_arg_type, lambda kind: kind.keyword)
_FLAG = plain(_parse_flag, lambda flag: str(flag).lower())


def _parameter(name: str, cpp_type: str, syntax: ValueSyntax[ValueT]) -> ValueSyntax[ValueT]:
    """A parameter of an argument; messages say its type in C++."""

    def read(parser: AttrParser) -> ValueT:
        with parameter(parser, "TTKernel_ArgAttr", name, cpp_type):
            return syntax.read(parser)

    return ValueSyntax(read, syntax.write)


@irdl_attr_definition
class ArgAttr(ContentAttr[KernelArgument]):
    """An argument: `#ttkernel.arg<arg_type = cb_port, operand_index = 0>`."""

    name = "ttkernel.arg"
    CONTENT: ClassVar = fields(
        KernelArgument,
        Field("arg_type", _parameter("arg_type", "ArgType", _ARG_TYPE), "type"),
        Field(
            "operand_index",
            _parameter("operand_index", "size_t", plain(lambda p: parse_unsigned(p, bits=64))),
            "operand",
        ),
        Field("is_uniform", _parameter("is_uniform", "bool", _FLAG), default=True),
        Field("argument_name", _parameter("argument_name", "StringAttr", QUOTED), "name", None),
    )

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> KernelArgument:
        """Read `<arg_type = .., operand_index = ..[, is_uniform = ..][, argument_name = ..]>`."""
        note_late_kernels()
        return super().parse_parameter(parser)


KernelArguments = tuple[KernelArgument, ...]


@irdl_attr_definition
class ArgSpecAttr(Data[tuple[KernelArguments, KernelArguments]]):
    """The arguments of a kernel at run time and at compile time.

    `#ttkernel.arg_spec<rt_args = [<..>] ct_args = [<arg_type = cb_port, operand_index = 0>]>`
    """

    name = "ttkernel.arg_spec"

    @property
    def runtime(self) -> KernelArguments:
        """What the host gives at each run."""
        return self.data[0]

    @property
    def compile_time(self) -> KernelArguments:
        """What is known when the kernel is compiled."""
        return self.data[1]

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[KernelArguments, KernelArguments]:
        """Read `<rt_args = [..] ct_args = [..]>`; both may be left out."""
        note_late_kernels()
        expect(parser, "<")
        found = tuple(_parse_arguments(parser, name) for name in ("rt_args", "ct_args"))
        expect(parser, ">")
        return found[0], found[1]

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        printer.print_string("<")
        self._print_arguments(printer, "rt_args", self.runtime)
        printer.print_string(" ")
        self._print_arguments(printer, "ct_args", self.compile_time)
        printer.print_string(">")

    @staticmethod
    def _print_arguments(printer: Printer, name: str, arguments: KernelArguments) -> None:
        if arguments:
            printer.print_string(f"{name} = [")
            printer.print_list(arguments, lambda each: print_stripped(printer, ArgAttr(each)))
            printer.print_string("]")


def _parse_arguments(parser: AttrParser, name: str) -> KernelArguments:
    if parser.parse_optional_keyword(name) is None:
        return ()
    expect(parser, "=")
    with parameter(parser, "TTKernel_ArgSpecAttr", name, "::llvm::ArrayRef<ArgAttr>"):
        return parse_list(parser, lambda: parse_nested(parser, ArgAttr).data)


KERNEL_CONFIGS = frozenset(
    attr.name for attr in (TensixConfigAttr, NocConfigAttr, EthernetConfigAttr)
)
"""Names of the attributes that configure a kernel."""

ATTRIBUTES = [
    attr for attr in classes_in(globals(), Attribute) if attr is not CircularBufferParameter
]
"""Every attribute and type of the dialect."""
