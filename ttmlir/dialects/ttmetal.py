"""The ttmetal dialect: what the host asks a device to do, in order, on fixed addresses.

The operations of 2024 work on tensors and hold their kernels in regions (`dispatch.py`). Those of
late 2025, to which d2m is lowered, work on memrefs and name functions (`programs.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    MemRefType,
    Signedness,
    TensorType,
    i64,
)
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

from ttmlir.dialects.alloc import AllocatingOp
from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import (
    SEGMENTS,
    DestinationStyleOp,
    KeepsConstants,
    ODSOperation,
    Property,
    Signature,
    TypeConstraint,
    ValueGroup,
    properties,
    refuse,
    segments_attr,
    values,
)
from ttmlir.dialects.definition.syntax import (
    expect,
    parameter,
    parse_dimensions,
    parse_keyword,
    parse_nested,
    parse_unsigned,
)
from ttmlir.dialects.definition.table_ops import layout_errors, layout_of
from ttmlir.dialects.ttkernel import KERNEL_CONFIGS, CBType
from ttmlir.layout.enums import CBPort, EthType, KeywordEnum, MathFidelity, MemorySpace, NocIndex
from ttmlir.layout.tensor_layout import shape_text

# --- Dispatch -------------------------------------------------------------------------------------
# Operations on tensors: copies between host and device, and kernels in regions (2024).

_RESULT = (ValueGroup("result"),)
_INPUT_AND_OUTPUT = (ValueGroup("input"), ValueGroup("output"))


@dataclass(frozen=True)
class Area:
    """A rectangle of cores: (y, x) of its first core, and rows and columns."""

    offset: tuple[int, ...]
    size: tuple[int, ...]


@irdl_attr_definition
class CoreRangeAttr(Data[Area]):
    """A rectangle of cores, offset and size: `#ttmetal.core_range<1x0, 2x4>`."""

    name = "ttmetal.core_range"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Area:
        """Read `<offset, size>`."""
        owner, cpp_type = "TTMetal_CoreRangeAttr", "::llvm::ArrayRef<int64_t>"
        expect(parser, "<")
        with parameter(parser, owner, "offset", cpp_type):
            offset = parse_dimensions(parser)
        expect(parser, ",")
        with parameter(parser, owner, "size", cpp_type):
            size = parse_dimensions(parser)
        expect(parser, ">")
        return Area(offset, size)

    def print_parameter(self, printer: Printer) -> None:
        """Write `<offset, size>`."""
        area = self.data
        printer.print_string(f"<{shape_text(area.offset)}, {shape_text(area.size)}>")


def _space_of(value: SSAValue) -> MemorySpace:
    layout = layout_of(value)
    if layout is None:
        refuse("Input tensor missing layout attribute")
    with layout_errors():
        return layout.memory_space


class DispatchOp(DestinationStyleOp):
    """Kernels run on ranges of cores: region i on `core_ranges[i]`, set up by `kernelConfigs[i]`.

    A region's arguments are circular buffers; argument j stands for operand j, inputs first. A
    kernel that only moves data by address has none.

    C1: operands carry a layout. C2: they lie on the device. C3: region arguments are circular
    buffers.
    """

    name = "ttmetal.dispatch"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("inputs", variadic=True), ValueGroup("outputs", variadic=True)),
        (ValueGroup("results", variadic=True),),
        properties(
            core_ranges=ods.array_attr("", lambda item: isinstance(item, CoreRangeAttr)),
            kernelConfigs=ods.array_attr("", lambda item: item.name in KERNEL_CONFIGS),
        ),
        regions=None,
        init="outputs",
    )
    traits = traits_def(KeepsConstants())

    def verify_op(self) -> None:
        """Check the operands (C1, C2) and region arguments (C3)."""
        for operand in self.operands:
            if not _space_of(operand).is_device:
                refuse("Input tensor must be in device memory space")
        for region in self.regions:
            first = region.first_block
            if first is not None and not all(isinstance(a.type, CBType) for a in first.args):
                refuse("Block inputs must be CBType")


class HostWriteOp(DestinationStyleOp):
    """A copy of a tensor from the host to the device.

    C1: both tensors carry a layout. C2: the input lies on the host. C3: the output on the device.
    """

    name = "ttmetal.host_write"
    SIGNATURE: ClassVar = Signature(_INPUT_AND_OUTPUT, _RESULT, init="output")

    def verify_op(self) -> None:
        """Check C1 to C3."""
        source, target = _space_of(self.operands[0]), _space_of(self.operands[1])
        if not source.is_system:
            refuse("Input tensor must be in system memory space")
        if not target.is_device:
            refuse("Output tensor must be in device memory space")


class HostReadOp(DestinationStyleOp):
    """A copy of a tensor from the device to the host.

    C1: both tensors carry a layout. C2: the output lies on the host. C3: the input on the device.
    """

    name = "ttmetal.host_read"
    SIGNATURE: ClassVar = Signature(_INPUT_AND_OUTPUT, _RESULT, init="output")

    def verify_op(self) -> None:
        """Check C1 to C3."""
        source, target = _space_of(self.operands[0]), _space_of(self.operands[1])
        if not target.is_system:
            refuse("Output tensor must be in system memory space")
        if not source.is_device:
            refuse("Input tensor must be in device memory space")


class AllocOp(AllocatingOp):
    """Memory at a fixed address for a tensor."""

    name = "ttmetal.alloc"


class DeallocOp(ODSOperation):
    """The end of the life of a tensor's memory."""

    name = "ttmetal.dealloc"
    SIGNATURE: ClassVar = Signature((ValueGroup("input"),))


DISPATCH_OPS = (DispatchOp, HostWriteOp, HostReadOp, AllocOp, DeallocOp)
"""Every operation of this module."""


# --- Kernel configs -------------------------------------------------------------------------------
# Kernels of a program: which function, on which cores, with which arguments and settings.

_CPP = "::mlir::tt::ttmetal::"


class KernelArgKind(KeywordEnum):
    """What a word that a kernel gets is."""

    CB_PORT = 0, "cb_port"
    """The number of a circular buffer, by the operand that it belongs to."""
    BUFFER_ADDRESS = 1, "buffer_address"
    """The address of an operand's buffer."""
    SEMAPHORE = 2, "semaphore"
    """The number of a semaphore."""
    LOCAL_SEMAPHORE = 3, "local_semaphore", "", True
    """The same, in 2026."""
    NAMED_ARGUMENT = 4, "named_argument", "", True
    GLOBAL_SEMAPHORE = 5, "global_semaphore", "", True
    SCALAR = 6, "scalar", "", True
    TENSOR_ACCESSOR_ARGS = 7, "tensor_accessor_args", "", True


class UnpackToDestMode(KeywordEnum):
    """How the tiles of a circular buffer get to DST."""

    DEFAULT = 0, "default"
    FP32 = 1, "fp32"
    """With all bits of 32-bit numbers."""


@dataclass(frozen=True)
class KernelArg:
    """One argument."""

    kind: KernelArgKind
    operand_index: int


@dataclass(frozen=True)
class KernelArgs:
    """The arguments of a kernel: those that it is compiled with, and those of each run."""

    ct_args: tuple[KernelArg, ...] = ()
    rt_args: tuple[KernelArg, ...] = ()
    late: bool = field(default=False, compare=False)
    """True where the text names those of each run first, as in 2026."""


@dataclass(frozen=True)
class NocKernel:
    """A kernel that moves data."""

    symbol: str
    cores: Area
    args: KernelArgs
    noc: NocIndex


@dataclass(frozen=True)
class ComputeKernel:
    """A kernel that computes."""

    symbol: str
    cores: Area
    args: KernelArgs
    math_fidelity: MathFidelity = MathFidelity.HIFI4
    fp32_dest_acc_en: bool = False
    dst_full_sync_en: bool = False
    unpack_to_dest_modes: tuple[UnpackToDestMode, ...] = (UnpackToDestMode.DEFAULT,)
    math_approx_mode: bool = False
    late: bool = field(default=False, compare=False)
    """True where the text says whether functions are approximate even if they are not."""


@dataclass(frozen=True)
class EthernetKernel:
    """A kernel that moves data between chips."""

    symbol: str
    cores: Area
    args: KernelArgs
    side: EthType
    noc: NocIndex


@irdl_attr_definition
class KernelArgAttr(Data[KernelArg]):
    """An argument of a kernel: `#ttmetal.kernel_arg<cb_port[0]>`."""

    name = "ttmetal.kernel_arg"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> KernelArg:
        """Read `<kind[number]>`."""
        expect(parser, "<")
        kind = parse_keyword(parser, KernelArgKind, f"{_CPP}KernelArgType")
        expect(parser, "[")
        index = parse_unsigned(parser)
        expect(parser, "]")
        expect(parser, ">")
        return KernelArg(kind, index)

    def print_parameter(self, printer: Printer) -> None:
        """Write `<kind[number]>`."""
        printer.print_string(f"<{self.data.kind.keyword}[{self.data.operand_index}]>")


@irdl_attr_definition
class KernelArgsAttr(Data[KernelArgs]):
    """The arguments of a kernel: `#ttmetal.kernel_args<ct_args = [<cb_port[0]>]>`."""

    name = "ttmetal.kernel_args"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> KernelArgs:
        """Read `<ct_args = [..], rt_args = [..]>` or, of 2026, `<rt_args = [..] ct_args = [..]>`.

        Each list may be left out; the text of 2026 keeps the blank between them.
        """
        lists: dict[str, tuple[KernelArg, ...]] = {}
        late = parser.lexer.input.content.startswith("< ", parser.pos)
        expect(parser, "<")
        for name in ("rt_args", "ct_args", "rt_args"):
            if name not in lists and parser.parse_optional_keyword(name) is not None:
                late |= name == "rt_args" and not lists
                lists[name] = _parse_arguments(parser)
        expect(parser, ">")
        late |= any(each.kind.is_late for args in lists.values() for each in args)
        return KernelArgs(**lists, late=late)

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        ct_args = _arguments_text("ct_args", self.data.ct_args)
        rt_args = _arguments_text("rt_args", self.data.rt_args)
        if self.data.late:
            printer.print_string(f"<{rt_args} {ct_args}>")
        else:
            printer.print_string(f"<{', '.join(filter(None, (ct_args, rt_args)))}>")


def _parse_arguments(parser: AttrParser) -> tuple[KernelArg, ...]:
    expect(parser, "=")
    found = parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: parse_nested(parser, KernelArgAttr).data
    )
    parser.parse_optional_punctuation(",")
    return tuple(found)


def _arguments_text(name: str, args: Sequence[KernelArg]) -> str:
    texts = ", ".join(f"<{arg.kind.keyword}[{arg.operand_index}]>" for arg in args)
    return f"{name} = [{texts}]" if args else ""


def _parse_kernel(parser: AttrParser) -> tuple[str, Area, KernelArgs]:
    expect(parser, "<")
    symbol = parser.parse_symbol_name().data
    expect(parser, ",")
    cores = parse_nested(parser, CoreRangeAttr).data
    expect(parser, ",")
    args = parse_nested(parser, KernelArgsAttr).data
    expect(parser, ",")
    return symbol, cores, args


def _print_kernel(printer: Printer, kernel: NocKernel | ComputeKernel | EthernetKernel) -> None:
    printer.print_string("<")
    printer.print_symbol_name(kernel.symbol)
    for attr in (CoreRangeAttr(kernel.cores), KernelArgsAttr(kernel.args)):
        printer.print_string(", ")
        printer.print_attribute(attr)


@irdl_attr_definition
class NocConfigAttr(Data[NocKernel]):
    """A kernel that moves data: `#ttmetal.noc_config<@k, #ttmetal.core_range<..>, args, noc0>`."""

    name = "ttmetal.noc_config"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> NocKernel:
        """Read `<@kernel, cores, arguments, network>`."""
        kernel = _parse_kernel(parser)
        noc = parse_keyword(parser, NocIndex, f"{_CPP}NocIndex")
        expect(parser, ">")
        return NocKernel(*kernel, noc)

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        _print_kernel(printer, self.data)
        printer.print_string(f", {self.data.noc.keyword}>")


@irdl_attr_definition
class ComputeConfigAttr(Data[ComputeKernel]):
    """A kernel that computes.

        #ttmetal.compute_config<@k, #ttmetal.core_range<0x0, 8x8>, #ttmetal.kernel_args<..>,
            hifi4, false, false, [default]>

    After the fidelity of products: whether DST holds 32-bit numbers, whether math and packer wait
    for each other, whether functions are approximate (left out if not), and how each circular
    buffer is unpacked.
    """

    name = "ttmetal.compute_config"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ComputeKernel:
        """Read `<@kernel, cores, arguments, fidelity, flag, flag, flag?, [modes]>`."""
        kernel = _parse_kernel(parser)
        fidelity = parse_keyword(parser, MathFidelity, f"{_CPP}MathFidelity")
        flags: list[bool] = []
        for _ in range(2):
            expect(parser, ",")
            flags.append(parser.parse_boolean())
        expect(parser, ",")
        is_approximate = parser.parse_optional_boolean()
        if is_approximate is not None:
            expect(parser, ",")
        modes = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE,
            lambda: parse_keyword(parser, UnpackToDestMode, f"{_CPP}UnpackToDestMode"),
        )
        expect(parser, ">")
        return ComputeKernel(
            *kernel,
            fidelity,
            flags[0],
            flags[1],
            tuple(modes),
            bool(is_approximate),
            late=is_approximate is False,
        )

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        kernel = self.data
        _print_kernel(printer, kernel)
        flags = [kernel.fp32_dest_acc_en, kernel.dst_full_sync_en]
        if kernel.math_approx_mode or kernel.late:
            flags.append(kernel.math_approx_mode)
        printer.print_string(
            f", {kernel.math_fidelity.keyword}, {', '.join(str(flag).lower() for flag in flags)}, "
            f"[{_keywords(kernel.unpack_to_dest_modes)}]>"
        )


@irdl_attr_definition
class EthernetConfigAttr(Data[EthernetKernel]):
    """A kernel of an Ethernet core: `#ttmetal.ethernet_config<@k, cores, args, sender, noc0>`."""

    name = "ttmetal.ethernet_config"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> EthernetKernel:
        """Read `<@kernel, cores, arguments, side, network>`."""
        kernel = _parse_kernel(parser)
        side = parse_keyword(parser, EthType, f"{_CPP}EthType")
        expect(parser, ",")
        noc = parse_keyword(parser, NocIndex, f"{_CPP}NocIndex")
        expect(parser, ">")
        return EthernetKernel(*kernel, side, noc)

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        _print_kernel(printer, self.data)
        printer.print_string(f", {self.data.side.keyword}, {self.data.noc.keyword}>")


@irdl_attr_definition
class GlobalSemaphoreType(ParametrizedAttribute, TypeAttribute):
    """A semaphore at one address of many cores: `!ttmetal.global_semaphore`."""

    name = "ttmetal.global_semaphore"


@irdl_attr_definition
class LocalSemaphoreType(ParametrizedAttribute, TypeAttribute):
    """A semaphore of a program: `!ttmetal.local_semaphore`."""

    name = "ttmetal.local_semaphore"


def _keywords(modes: Sequence[UnpackToDestMode]) -> str:
    return ", ".join(mode.keyword for mode in modes)


# --- Programs -------------------------------------------------------------------------------------
# Operations on memrefs: buffers, transfers and programs of kernels (late 2025).

_MEMREF = TypeConstraint(
    "non-0-ranked.memref of any type values",
    # Arguments that are one number are memrefs of the host without a dimension here.
    lambda type: (
        isinstance(type, MemRefType)
        and bool(type.get_shape() or type.layout.name == "ttcore.host_layout")
    ),
)
_ANY = TypeConstraint("any type", ods.always)
_GLOBAL_SEMAPHORE = TypeConstraint(
    "TTMetal global semaphore", lambda type: isinstance(type, GlobalSemaphoreType)
)
_LOCAL_SEMAPHORE = TypeConstraint(
    "TTMetal local semaphore", lambda type: isinstance(type, LocalSemaphoreType)
)
_UI32 = ods.integer_attr(32, Signedness.UNSIGNED)
_MAP = ods.AttrConstraint(
    "AffineMap attribute", lambda attr: isinstance(attr, AffineMapAttr), ods.always
)
_SHAPED = TypeConstraint(
    "ranked tensor or memref of any type values",
    lambda type: isinstance(type, TensorType | MemRefType),
)


class CreateBufferOp(ODSOperation):
    """A buffer on the device, at a fixed address of each core or bank.

    Example:
        %0 = "ttmetal.create_buffer"() <{address = 1024 : i64}> : () -> memref<8x8x2x1x!tile, ...>
    """

    name = "ttmetal.create_buffer"
    SIGNATURE: ClassVar = Signature(
        results=values(result=_MEMREF),
        properties=(
            *properties(address=ods.I64),
            Property("virtualGridForwardMapping", _MAP, optional=True),
            Property("virtualGridInverseMapping", _MAP, optional=True),
        ),
    )

    @classmethod
    def of(cls, address: int, type: MemRefType[Attribute]) -> Self:
        """The buffer of a type at an address."""
        return cls.create(result_types=[type], properties={"address": IntegerAttr(address, i64)})

    @property
    def address(self) -> int:
        """The first byte."""
        return cast("IntegerAttr", self.properties["address"]).value.data

    def verify_op(self) -> None:
        """Check that the address is none below 0."""
        if self.address < 0:
            refuse(f"expected an address of 0 or above, got {self.address}")


class DeallocateBufferOp(ODSOperation):
    """The end of the life of a buffer."""

    name = "ttmetal.deallocate_buffer"
    SIGNATURE: ClassVar = Signature(values(input=_MEMREF))


class CreateGlobalSemaphoreOp(ODSOperation):
    """A semaphore at an address of each core of a range; it begins with `initial_value`."""

    name = "ttmetal.create_global_semaphore"
    SIGNATURE: ClassVar = Signature(
        results=values(result=_GLOBAL_SEMAPHORE),
        properties=(
            *properties(
                address=ods.I64,
                core_range=ods.named_attr("ttmetal.core_range", "TTMetal grid attribute"),
            ),
            Property("initial_value", _UI32, optional=True),
        ),
    )


class ResetGlobalSemaphoreOp(ODSOperation):
    """Set a semaphore on all of its cores."""

    name = "ttmetal.reset_global_semaphore"
    SIGNATURE: ClassVar = Signature(
        values(semaphore=_GLOBAL_SEMAPHORE), properties=properties(value=_UI32)
    )


class CreateLocalSemaphoreOp(ODSOperation):
    """A semaphore of the cores of a program; it begins with `initial_value`."""

    name = "ttmetal.create_local_semaphore"
    SIGNATURE: ClassVar = Signature(
        results=values(result=_LOCAL_SEMAPHORE),
        properties=(Property("initial_value", _UI32, optional=True),),
    )


class _TransferOp(ODSOperation):
    SIGNATURE: ClassVar = Signature(values(input=_MEMREF, output=_MEMREF))

    @classmethod
    def of(cls, source: SSAValue, target: SSAValue) -> Self:
        """The transfer from `source` to `target`."""
        return cls.create(operands=[source, target])


class EnqueueWriteBufferOp(_TransferOp):
    """A copy from the host (first operand) to the device."""

    name = "ttmetal.enqueue_write_buffer"


class EnqueueReadBufferOp(_TransferOp):
    """A copy from the device (first operand) to the host."""

    name = "ttmetal.enqueue_read_buffer"


class FinishOp(ODSOperation):
    """Wait until everything that was enqueued is done."""

    name = "ttmetal.finish"
    SIGNATURE: ClassVar = Signature()


class EnqueueProgramOp(ODSOperation):
    """A run of kernels on buffers, through circular buffers at fixed ports.

    Circular buffer i lies in the memory of `cbs[i]`, at port `cb_ports[i]`. Arguments of kernels
    count buffers and circular buffers by their positions.

    C1: a port for each circular buffer. C2: ports exist, each once.

    Example:
        "ttmetal.enqueue_program"(%0, %1, %0, %1) <{cb_ports = array<i64: 0, 1>,
            kernelConfigs = [#ttmetal.noc_config<...>, #ttmetal.compute_config<...>],
            operandSegmentSizes = array<i32: 2, 2>}> : (...) -> ()
    """

    name = "ttmetal.enqueue_program"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("buffers", _ANY, variadic=True), ValueGroup("cbs", _MEMREF, variadic=True)),
        properties=(
            *properties(
                cb_ports=ods.DENSE_I64,
                kernelConfigs=ods.array_attr(
                    "kernel configurations",
                    lambda item: isinstance(
                        item, NocConfigAttr | ComputeConfigAttr | EthernetConfigAttr
                    ),
                ),
            ),
            Property(
                "fabricConnectionConfig",
                ods.named_attr("ttcore.fabric_connection_config"),
                optional=True,
            ),
        ),
    )

    @classmethod
    def of(
        cls,
        buffers: Sequence[SSAValue],
        cbs: Sequence[SSAValue],
        cb_ports: Sequence[int],
        kernels: Sequence[NocConfigAttr | ComputeConfigAttr],
    ) -> Self:
        """The run of kernels."""
        return cls.create(
            operands=[*buffers, *cbs],
            properties={
                "cb_ports": DenseArrayBase.from_list(i64, cb_ports),
                "kernelConfigs": ArrayAttr(kernels),
                SEGMENTS: segments_attr((len(buffers), len(cbs))),
            },
        )

    @property
    def cb_ports(self) -> tuple[int, ...]:
        """The port of each circular buffer."""
        attr = cast("DenseArrayBase[IntegerType]", self.properties["cb_ports"])
        return tuple(attr.iter_values())

    @property
    def kernels(self) -> tuple[NocConfigAttr | ComputeConfigAttr, ...]:
        """The kernels in the order of their threads."""
        configs = self.properties["kernelConfigs"]
        return cast("ArrayAttr[NocConfigAttr | ComputeConfigAttr]", configs).data

    def verify_op(self) -> None:
        """Check the ports (C1, C2)."""
        ports, count = self.cb_ports, len(self.group("cbs"))
        if len(ports) != count:
            refuse(f"expected a port for each of {count} circular buffers, got {len(ports)}")
        last = len(CBPort) - 1
        if len(set(ports)) != len(ports) or any(not 0 <= port <= last for port in ports):
            refuse(f"expected different ports from 0 to {last}, got {', '.join(map(str, ports))}")


class MeshShardOp(ODSOperation):
    """A tensor that is divided over a mesh of chips, or put together again."""

    name = "ttmetal.mesh_shard"
    SIGNATURE: ClassVar = Signature(
        values(input=_SHAPED),
        values(result=_SHAPED),
        properties(
            shard_type=ods.named_attr("ttcore.shard_type"),
            shard_direction=ods.named_attr("ttcore.shard_direction"),
            shard_shape=ods.DENSE_I64,
            shard_dims=ods.DENSE_I64,
        ),
    )


PROGRAM_OPS = (
    CreateBufferOp,
    CreateGlobalSemaphoreOp,
    CreateLocalSemaphoreOp,
    ResetGlobalSemaphoreOp,
    DeallocateBufferOp,
    EnqueueWriteBufferOp,
    EnqueueReadBufferOp,
    FinishOp,
    EnqueueProgramOp,
    MeshShardOp,
)
"""Every operation of this module."""


# --- Ttmetal --------------------------------------------------------------------------------------

__all__ = [
    "TTMETAL",
    "AllocOp",
    "Area",
    "ComputeConfigAttr",
    "CoreRangeAttr",
    "CreateBufferOp",
    "CreateGlobalSemaphoreOp",
    "CreateLocalSemaphoreOp",
    "DeallocOp",
    "DeallocateBufferOp",
    "DispatchOp",
    "EnqueueProgramOp",
    "EnqueueReadBufferOp",
    "EnqueueWriteBufferOp",
    "EthernetConfigAttr",
    "FinishOp",
    "GlobalSemaphoreType",
    "HostReadOp",
    "HostWriteOp",
    "KernelArgAttr",
    "KernelArgsAttr",
    "LocalSemaphoreType",
    "MeshShardOp",
    "NocConfigAttr",
    "ResetGlobalSemaphoreOp",
]

TTMETAL = Dialect(
    "ttmetal",
    cast("list[type[Operation]]", [*DISPATCH_OPS, *PROGRAM_OPS]),
    [
        ComputeConfigAttr,
        CoreRangeAttr,
        EthernetConfigAttr,
        GlobalSemaphoreType,
        KernelArgAttr,
        KernelArgsAttr,
        LocalSemaphoreType,
        NocConfigAttr,
    ],
)
"""The dialect, for an xDSL context."""
