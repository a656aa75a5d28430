"""Types and attributes of kernels on single cores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IntAttr, MemRefType
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttmlir.dialects.definition.syntax import (
    KeywordAttr,
    expect,
    parameter,
    parse_keyword_or_string,
    parse_memref,
    parse_unsigned,
)
from ttmlir.dialects.tt import element_of
from ttmlir.layout.element_type import TileFormat
from ttmlir.layout.enums import CBPort, EthType, MathFidelity, NocIndex, ThreadType

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
        flags = (
            config.fp32_dest_acc_en,
            config.preserve_fp32_precision,
            config.math_approx_mode,
        )
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
