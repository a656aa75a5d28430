"""Operations of ttmetal on memrefs (late 2025) as members of the schema's `CommandType` union.

A program names its kernels, which are functions of the module. Its circular buffers lie in memory
that 'ttmetal.create_buffer' has made: of a buffer of the program, whose numbers they hold, or of
their own, a *storage*.
"""

from __future__ import annotations

import math
from typing import cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import DictionaryAttr, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects import ttmetal
from ttmlir.dialects.definition.names import REFERENCE
from ttmlir.dialects.tt import element_of
from ttmlir.dialects.ttcore import device_layout_of, memory_space_of
from ttmlir.dialects.ttkernel import CBType
from ttmlir.dialects.ttmetal.kernel_configs import (
    ComputeKernel,
    KernelArg,
    KernelArgKind,
    NocKernel,
    UnpackToDestMode,
)
from ttmlir.layout.enums import DataType, MemorySpace, NocIndex, ThreadType
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.metal.device_memory import cb_page_bytes
from ttmlir.mlir.reporting.diagnostics import OpError
from ttmlir.program.description import (
    AddressOfTensor,
    Argument,
    Arguments,
    CircularBufferDescription,
    CircularBufferFormat,
    CircularBufferIndex,
    ComputeConfig,
    CoreRange,
    CoreRanges,
    DescriptionError,
    KernelConfig,
    KernelDescription,
    ProgramDescription,
    ReaderConfig,
    SemaphoreAt,
    SemaphoreDescription,
    WriterConfig,
)
from ttmlir.target.flatbuffer.constants import constant_bytes
from ttmlir.target.flatbuffer.file_kind import TTMETAL
from ttmlir.target.flatbuffer.generic import program_table
from ttmlir.target.flatbuffer.memrefs import MemRefTables, buffer_bytes, host_padding, stored_format
from ttmlir.target.flatbuffer.references import fused_reference
from ttmlir.target.flatbuffer.symbols import Symbols
from ttmlir.target.flatbuffer.tensors import Table
from ttmlir.target.flatbuffer.values import Values

Buffer = SSAValue[MemRefType[Attribute]]
Kernel = NocKernel | ComputeKernel

_SUPPORTED = (
    "a program on memrefs has operations of ttmetal, and 'memref.alloc', 'memref.dealloc' and "
    "'memref.get_global' for memory of the host"
)


class EnqueueWriter:
    """Writes the operations of a function in the order of its text."""

    def __init__(self, values: Values, symbols: Symbols, chip_grid: tuple[int, int]) -> None:
        """Write tensors to `values`; kernels and constants are those of `symbols`.

        `chip_grid` is rows and columns of the chip's cores.
        """
        self._values = values
        self._symbols = symbols
        self._tables = MemRefTables(chip_grid)

    def define(self, value: SSAValue, op: Operation) -> Table:
        """A new tensor for a memref."""
        return self._values.add(value, self._ref(value, op))

    def _ref(self, value: SSAValue, op: Operation) -> Table:
        type_: Attribute = value.type
        if not isinstance(type_, MemRefType):
            raise OpError(op, f"{TTMETAL.refused}: it has a '{type_}' beside memrefs")
        try:
            return self._tables.ref(cast("MemRefType[Attribute]", type_))
        except LayoutError as error:
            raise OpError(op, f"{TTMETAL.refused}: {error}") from error

    def write(self, op: Operation) -> tuple[str, Table] | None:
        """Name of the union member and its table; None for memory of the host.

        OpError for what no file holds.
        """
        match op:
            case ttmetal.EnqueueProgramOp():
                return "EnqueueProgramCommand", self._program(op)
            case ttmetal.EnqueueWriteBufferOp():
                return "EnqueueWriteBufferCommand", self._copy(op, to_device=True)
            case ttmetal.EnqueueReadBufferOp():
                return "EnqueueReadBufferCommand", self._copy(op, to_device=False)
            case ttmetal.CreateBufferOp():
                return "CreateBufferCommand", {"ref": self._create(op)}
            case ttmetal.DeallocateBufferOp():
                return "DeallocateBufferCommand", {"ref": self._values.tensor(op.operands[0])}
            case ttmetal.FinishOp():
                return "FinishCommand", {}
            case memref.AllocOp() | memref.GetGlobalOp():
                self._on_host(op)
            case memref.DeallocOp():
                pass
            case _:
                raise OpError(op, f"{TTMETAL.refused}; {_SUPPORTED}")
        return None

    def _on_host(self, op: memref.AllocOp | memref.GetGlobalOp) -> None:
        result = cast("Buffer", op.results[0])
        if memory_space_of(result.type).is_device:
            raise OpError(
                op,
                f"{TTMETAL.refused} on the device; make a buffer with 'ttmetal.create_buffer'",
            )
        table = self.define(result, op)
        if isinstance(op, memref.GetGlobalOp):
            constant = self._symbols.constant(op)
            data = constant_bytes(op, constant.initial_value, TTMETAL)
            table["desc"] = table["desc"] | {"constant_data": data}

    def _create(self, op: ttmetal.CreateBufferOp) -> Table:
        result = cast("Buffer", op.results[0])
        if not memory_space_of(result.type).is_device:
            raise OpError(op, f"{TTMETAL.refused}: its memref is not in dram or l1")
        table = self.define(result, op)
        table["address"] = op.address
        return table

    # -- transfers --------------------------------------------------------------------------------

    def _copy(self, op: Operation, *, to_device: bool) -> Table:
        source, target = (cast("Buffer", value) for value in op.operands)
        host, device = (source, target) if to_device else (target, source)
        if memory_space_of(host.type).is_device or not memory_space_of(device.type).is_device:
            way = "from the host to the device" if to_device else "from the device to the host"
            raise OpError(op, f"copies {way}, but its memrefs are elsewhere")
        kept, wanted = (
            element_of(each.type.element_type).scalar.data_type for each in (host, device)
        )
        # The host rounds weights of f32 to bf16, or packs them as block floats of bf16.
        is_packed = to_device and (kept, wanted) == (DataType.F32, DataType.BF16)
        if kept is not wanted and not is_packed:
            raise OpError(
                op,
                f"copies {kept.keyword} to {wanted.keyword}; a transfer moves bytes: convert the "
                "numbers with a kernel, or on the host",
            )
        refs = [self._values.tensor(each) for each in (source, target)]
        shape = self._values.tensor(device)["desc"]["shape"]
        _, _, volume = host_padding(host.type)
        expected = math.prod(shape)
        if volume != expected:
            raise OpError(
                op,
                f"copies a host buffer of {volume} elements to or from one of {expected} on the "
                "device; give the host's memref the padding by #ttcore.host_layout",
            )
        return {"src": refs[0], "dst": refs[1]}

    # -- kernels ----------------------------------------------------------------------------------

    def _program(self, op: ttmetal.EnqueueProgramOp) -> Table:
        buffers, cbs = (cast("tuple[Buffer, ...]", op.group(name)) for name in ("buffers", "cbs"))
        # Circular buffers that lie on no buffer of the program have memory of their own.
        storages = [each for each in dict.fromkeys(cbs) if each not in buffers]
        numbers = {value: number for number, value in enumerate((*buffers, *storages))}
        try:
            description = self._description(op, [numbers[each] for each in cbs], cbs)
        except DescriptionError as error:
            raise OpError(op, f"{TTMETAL.refused}: {error}") from error
        table: Table = {
            "operands": [self._values.tensor(each) for each in buffers],
            "descriptor": program_table(description),
            "storages": [self._values.tensor(each) for each in storages],
        }
        reference = op.attributes.get(REFERENCE)
        if isinstance(reference, DictionaryAttr):
            table["reference"] = fused_reference(op, reference, len(buffers))
        return table

    def _description(
        self, op: ttmetal.EnqueueProgramOp, numbers: list[int], cbs: tuple[Buffer, ...]
    ) -> ProgramDescription:
        kernels = [each.data for each in op.kernels]
        areas = dict.fromkeys(_core_range(op, kernel) for kernel in kernels)
        semaphores = sorted(
            {
                arg.operand_index
                for kernel in kernels
                for arg in (*kernel.args.ct_args, *kernel.args.rt_args)
                if arg.kind is KernelArgKind.SEMAPHORE
            }
        )
        places = {index: place for place, index in enumerate(semaphores)}
        binding = _Binding(op, places)
        return ProgramDescription(
            kernels=tuple(self._kernel(op, each, binding) for each in kernels),
            circular_buffers=tuple(
                self._circular_buffer(op, value, port, number)
                for value, port, number in zip(cbs, op.cb_ports, numbers, strict=True)
            ),
            semaphores=tuple(
                SemaphoreDescription(core_ranges=_disjoint(areas)) for _ in semaphores
            ),
        )

    def _kernel(
        self, op: ttmetal.EnqueueProgramOp, kernel: Kernel, binding: _Binding
    ) -> KernelDescription:
        function = self._symbols.function(op, kernel.symbol)
        for argument in function.body.block.args:
            type_ = argument.type
            if isinstance(type_, CBType) and int(type_.buffer.data.port) not in op.cb_ports:
                raise OpError(
                    op,
                    f"runs kernel @{kernel.symbol}, which uses circular buffer "
                    f"{int(type_.buffer.data.port)}; the program has {list(op.cb_ports)}",
                )
        area = _core_range(op, kernel)
        runtime_args = binding.arguments(kernel.args.rt_args)
        return KernelDescription(
            name=kernel.symbol,
            source=self._symbols.text(
                op,
                kernel.symbol,
                ThreadType.NOC if isinstance(kernel, NocKernel) else ThreadType.TENSIX,
            ),
            config=_config(kernel),
            core_ranges=(area,),
            compile_time_args=binding.arguments(kernel.args.ct_args),
            runtime_args=tuple((core, runtime_args) for core in area) if runtime_args else (),
        )

    def _circular_buffer(
        self, op: Operation, value: Buffer, port: int, number: int
    ) -> CircularBufferDescription:
        layout = device_layout_of(value.type)
        if layout is None or layout.memory_space is not MemorySpace.DEVICE_L1:
            raise OpError(
                op, f"has circular buffer {port} on '{value.type}', which is no buffer in l1"
            )
        element = element_of(value.type.element_type)
        page = CircularBufferFormat(port, stored_format(element).data_type, cb_page_bytes(element))
        return CircularBufferDescription(
            total_size=buffer_bytes(layout),
            core_ranges=self._tables.cores(layout),
            formats=(page,),
            tensor=number,
        )


class _Binding:
    """What the arguments of the kernels of a program mean."""

    def __init__(self, op: ttmetal.EnqueueProgramOp, semaphores: dict[int, int]) -> None:
        self._op = op
        self._semaphores = semaphores
        self._num_buffers = len(op.group("buffers"))

    def arguments(self, args: tuple[KernelArg, ...]) -> Arguments:
        """The arguments, by what a file says of them."""
        return tuple(self._argument(each) for each in args)

    def _argument(self, arg: KernelArg) -> Argument:
        index = arg.operand_index
        match arg.kind:
            case KernelArgKind.CB_PORT:
                self._check(index, len(self._op.cb_ports), "circular buffer")
                return CircularBufferIndex(self._op.cb_ports[index])
            case KernelArgKind.BUFFER_ADDRESS:
                self._check(index, self._num_buffers, "buffer")
                return AddressOfTensor(index)
            case KernelArgKind.SEMAPHORE:
                return SemaphoreAt(self._semaphores[index])

    def _check(self, index: int, count: int, what: str) -> None:
        if index >= count:
            raise OpError(
                self._op,
                f"has a kernel with {what} {index} among its arguments, but the program has "
                f"{count}; they are numbered from 0",
            )


def _config(kernel: Kernel) -> KernelConfig:
    if isinstance(kernel, NocKernel):
        return ReaderConfig() if kernel.noc is NocIndex.NOC0 else WriterConfig()
    return ComputeConfig(
        math_fidelity=kernel.math_fidelity,
        fp32_dest_acc_en=kernel.fp32_dest_acc_en,
        dst_full_sync_en=kernel.dst_full_sync_en,
        math_approx_mode=kernel.math_approx_mode,
        unpack_to_dest_fp32=tuple(
            port
            for port, mode in enumerate(kernel.unpack_to_dest_modes)
            if mode is UnpackToDestMode.FP32
        ),
    )


def _core_range(op: Operation, kernel: Kernel) -> CoreRange:
    offset, size = kernel.cores.offset, kernel.cores.size
    if len(offset) != 2 or len(size) != 2 or min(size) < 1:
        raise OpError(op, f"runs kernel @{kernel.symbol} on no rectangle of cores")
    (y, x), (rows, columns) = offset, size
    return CoreRange((x, y), (x + columns - 1, y + rows - 1))


def _disjoint(areas: dict[CoreRange, None]) -> CoreRanges:
    """The rectangles without those that lie in others."""
    return tuple(
        each
        for each in areas
        if not any(
            other != each
            and other.start[0] <= each.start[0]
            and other.start[1] <= each.start[1]
            and each.end[0] <= other.end[0]
            and each.end[1] <= other.end[1]
            for other in areas
        )
    )
