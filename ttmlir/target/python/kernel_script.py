"""Programs of kernels as a script of Python, which runs them by `ttnn.generic_op`.

A buffer is a tensor whose pages are those of the buffer: tiles that go round the banks of DRAM, or
the shards of a height-sharded tensor, one below the other in the order of the cores. Circular
buffers get their memory when a program starts; kernels ask the chip where its cores are on the
networks (`translate-coordinates`), and are in the form of tt-metal of 2026.

Requires: what ttir-to-ttmetal-pipeline leaves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, MemRefType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects import ttmetal
from ttmlir.dialects.definition.ods import REFERENCE
from ttmlir.dialects.tt import element_of
from ttmlir.dialects.ttcore import device_layout_of
from ttmlir.dialects.ttkernel import CBType
from ttmlir.layout.data_format import TileFormat
from ttmlir.layout.enums import DataType, DeviceMemoryLayout, MemorySpace
from ttmlir.layout.metal import WIDE_BYTES, grid_cores
from ttmlir.layout.system import ChipDesc
from ttmlir.mlir.reporting import OpError, file_line_col, name_of
from ttmlir.program import (
    AddressOfTensor,
    Argument,
    Arguments,
    CircularBufferDescription,
    CircularBufferIndex,
    ComputeConfig,
    CoreRanges,
    KernelDescription,
    ProgramDescription,
    ReaderConfig,
    SemaphoreAt,
    list_ranges,
)
from ttmlir.target.cpp.kernel_api import KernelApi
from ttmlir.target.flatbuffer.programs import system_desc_of
from ttmlir.target.flatbuffer.tensors import TTMETAL, Symbols, Values
from ttmlir.target.flatbuffer.ttmetal import EnqueueWriter, host_padding
from ttmlir.target.python.model_script import (
    FRAME,
    OF_FRAME,
    PROGRAM,
    USAGE,
    identifier,
    imports_of,
    piece,
    printable,
    taken_names,
)
from ttmlir.version import TTNN_VERSION, VERSION

_KERNEL_FRAME = "kernel_frame.py"
_PIECES = (
    *("check_chip", "Blocks", "view", "cores_of", "CIRCULAR_BUFFERS"),
    *("reader", "writer", "compute", "kernel", "circular_buffer", "semaphore"),
)
_CONSTANTS = ("MESH_SHAPE", "TENSORS", "GOLDEN", "KINDS")
_DATA_TYPES = {
    DataType.F32: "float32",
    DataType.BF16: "bfloat16",
    DataType.BFP_BF8: "bfloat8_b",
    DataType.BFP_BF4: "bfloat4_b",
    DataType.U32: "uint32",
    DataType.SI32: "int32",
    DataType.U16: "uint16",
    DataType.U8: "uint8",
}
"""What the library has tensors of."""
_SPREAD = "ttkernel.unary_bcast"
_FIDELITY = {"lofi": "LoFi", "hifi2": "HiFi2", "hifi3": "HiFi3", "hifi4": "HiFi4"}

Buffer = SSAValue[MemRefType[Attribute]]
SourceLine = Callable[[str, int], str | None]


def write_kernel_script(
    module: ModuleOp,
    constants: Mapping[str, str],
    inputs: Sequence[str],
    *,
    title: str,
    script: str,
    source_line: SourceLine | None,
) -> str:
    """The script of a module of ttmetal on memrefs with one program; `script` is its file's name.

    `constants` are the names in the file of tensors of what the module has by symbols, and `inputs`
    those of the program's arguments. `source_line` quotes what the user wrote. OpError for what the
    library has no tensors of.
    """
    symbols = Symbols(module, KernelApi.OF_2026)
    (function,) = programs_of(module, symbols)
    chip = system_desc_of(module).chip_descs[0]
    writer = _ScriptWriter(symbols, chip, constants, source_line)
    arguments = [writer.new_name(identifier(name) or "input") for name in inputs]
    body = writer.body(function, arguments)
    called = "".join(f"read_array(TENSORS, {name!r}), " for name in inputs)
    parameters = "".join(f"{name}: Any, " for name in arguments)
    forward = (
        f"def {PROGRAM}({parameters}device: Any) -> Any:\n"
        '    """The results for arrays of NumPy, which are arrays, too."""\n'
        + "\n".join(f"    {line}".rstrip() for line in body)
    )
    main = (
        "def main(device: Any) -> Any:\n"
        '    """The results for the inputs in the file of tensors."""\n'
        "    check_chip(device)\n"
        f"    return {PROGRAM}({called}device)"
    )
    text = "\n\n\n".join(
        (
            *(piece(_KERNEL_FRAME, name) for name in _PIECES),
            *writer.definitions(),
            forward,
            main,
            piece(_KERNEL_FRAME, "to_array"),
            *(piece(FRAME, name) for name in ("read_array", *OF_FRAME) if name != "to_array"),
            piece(FRAME, ""),
        )
    )
    rows, columns = chip.grid
    facts = (
        f'ARCH, GRID, DRAM_BANKS = "{chip.arch.keyword}", ({columns}, {rows}), '
        f"{chip.num_dram_channels}"
    )
    head = (
        f'"""{title}, as kernels for ttnn {TTNN_VERSION}; written by ttmlir {VERSION}.\n\n'
        f'{USAGE.replace("SCRIPT", script)}"""'
    )
    frame = (*(piece(FRAME, name) for name in _CONSTANTS), piece(_KERNEL_FRAME, "L1_SMALL_SIZE"))
    imports = imports_of(text, script, (FRAME, _KERNEL_FRAME))
    return "\n".join((head, "", imports, *frame, facts, "", "", text)) + "\n"


def programs_of(module: ModuleOp, symbols: Symbols | None = None) -> list[FuncOp]:
    """The functions of a module that are no kernels."""
    known = symbols or Symbols(module)
    return [op for op in module.walk() if isinstance(op, FuncOp) and not known.is_kernel(op)]


class _ScriptWriter:
    """Writes the operations of a program in their order, and what they need."""

    def __init__(
        self,
        symbols: Symbols,
        chip: ChipDesc,
        constants: Mapping[str, str],
        source_line: SourceLine | None,
    ) -> None:
        self._symbols, self._chip = symbols, chip
        self._constants, self._source_line = constants, source_line
        self._writer = EnqueueWriter(Values(TTMETAL), symbols, chip.grid)
        self._names: dict[SSAValue, str] = {}
        self._taken = taken_names() | {*_PIECES, "check_chip"}
        self._blocks: dict[str, str] = {}
        """Names of the ways in which buffers are divided, by what they are."""
        self._kernels: dict[str, str] = {}
        """Texts of kernels by names."""
        self._programs: dict[str, str] = {}
        """Names of functions by their texts after the name."""

    def new_name(self, stem: str) -> str:
        """A name that nothing else has."""
        name, number = stem, 1
        while name in self._taken:
            name, number = f"{stem}_{number}", number + 1
        self._taken.add(name)
        return name

    def definitions(self) -> Iterator[str]:
        """Blocks, kernels and programs."""
        if self._blocks:
            yield "\n".join(f"{name} = {text}" for text, name in self._blocks.items())
        for name, text in self._kernels.items():
            yield f"{name} = {_quoted(text)}"
        for text, name in self._programs.items():
            yield f"def {name}{text}"

    def body(self, function: FuncOp, arguments: Sequence[str]) -> list[str]:
        """The statements of the program."""
        block = function.body.block
        self._names.update(zip(block.args, arguments, strict=True))
        return [line for op in block.ops for line in self._statements(op)]

    def _statements(self, op: Operation) -> Iterator[str]:
        match op:
            case ttmetal.CreateBufferOp():
                yield from self._create(op)
            case ttmetal.EnqueueWriteBufferOp():
                yield self._write(op)
            case ttmetal.EnqueueProgramOp():
                yield from self._enqueue(op)
            case ttmetal.EnqueueReadBufferOp():
                yield self._read(op)
            case ttmetal.DeallocateBufferOp():
                name = self._names.get(op.operands[0])
                if name is not None:
                    yield f"ttnn.deallocate({name})"
            case memref.GetGlobalOp():
                symbol = op.name_.root_reference.data
                stored = self._constants[symbol]
                name = self._names[op.results[0]] = self.new_name(identifier(stored) or "constant")
                yield f"{name} = read_array(TENSORS, {stored!r})"
            case ReturnOp():
                results = [self._names[value] for value in op.operands]
                yield f"return {', '.join(results)}" if results else "return ()"
            case ttmetal.FinishOp() | memref.AllocOp() | memref.DeallocOp():
                pass
            case _:
                raise OpError(
                    op,
                    "cannot be written to a script of kernels, which holds operations of ttmetal "
                    "on memrefs; lower the module with --ttir-to-ttmetal-pipeline first",
                )

    # --- Buffers -------------------------------------------------------------------------------

    def _create(self, op: ttmetal.CreateBufferOp) -> Iterator[str]:
        buffer = cast("Buffer", op.results[0])
        users = [use.operation for use in buffer.uses]
        if all(_is_memory_of_queue(each, buffer) for each in users):
            return
        first = next((each for each in _after(op) if each in users), None)
        if isinstance(first, ttmetal.EnqueueWriteBufferOp):
            return
        stem = "buffer"
        if isinstance(first, ttmetal.EnqueueProgramOp):
            stem = f"{_title(first)}_result"
        name = self._names[buffer] = self.new_name(stem)
        yield f"{name} = {self._blocks_of(buffer, op)}.allocate(device)"

    def _write(self, op: ttmetal.EnqueueWriteBufferOp) -> str:
        host, buffer = (cast("Buffer", value) for value in op.operands)
        source = self._names.get(host)
        if source is None:
            raise OpError(op, "copies memory of the host that holds no numbers yet")
        space = "l1" if self._is_in_l1(buffer) else "dram"
        name = self._names[buffer] = self._names.get(buffer) or self.new_name(f"{source}_{space}")
        _, strides, _ = host_padding(host.type)
        return f"{name} = {self._blocks_of(buffer, op)}.write({source}, {strides}, device)"

    def _read(self, op: ttmetal.EnqueueReadBufferOp) -> str:
        buffer, host = (cast("Buffer", value) for value in op.operands)
        source = self._names[buffer]
        name = self._names[host] = self._names.get(host) or self.new_name(
            source.removesuffix("_result") + "_array"
        )
        shape, strides, _ = host_padding(host.type)
        return f"{name} = {self._blocks_of(buffer, op)}.read({source}, {shape}, {strides})"

    def _is_in_l1(self, buffer: Buffer) -> bool:
        layout = device_layout_of(buffer.type)
        return layout is not None and layout.memory_space is MemorySpace.DEVICE_L1

    def _blocks_of(self, buffer: Buffer, op: Operation) -> str:
        """The name of how a buffer is divided."""
        layout = device_layout_of(buffer.type)
        element = element_of(buffer.type.element_type)
        if layout is None or not isinstance(element, TileFormat):
            raise OpError(
                op,
                f"has a buffer that is no tensor of the ttnn library, '{buffer.type}'; scripts "
                "have buffers of tiles",
            )
        in_l1 = layout.memory_space is MemorySpace.DEVICE_L1
        is_paged = layout.memory_layout is DeviceMemoryLayout.INTERLEAVED
        if not (in_l1 or is_paged or math.prod(layout.shard_shape) == 1):
            raise OpError(
                op,
                f"has shards in single banks of DRAM, '{buffer.type}'; scripts have tiles that go "
                "round the banks, #ttcore.interleaved",
            )
        dtype = _data_type(element.data_type, op)
        text = f"Blocks({dtype}, {layout.grid_shape}, {layout.scalar_shard_shape}"
        if in_l1:
            cores = list_ranges(grid_cores(layout.grid_shape, self._chip.grid))
            count = f", {layout.buffers}" if layout.buffers > 1 else ""
            text += f", {_cores(cores)}{count}"
        text += ")"
        if text not in self._blocks:
            self._blocks[text] = self.new_name(f"BLOCKS_{len(self._blocks)}")
        return self._blocks[text]

    # --- Programs ------------------------------------------------------------------------------

    def _enqueue(self, op: ttmetal.EnqueueProgramOp) -> Iterator[str]:
        place = file_line_col(op.location)
        if place is not None:
            line = self._source_line(place.file, place.line) if self._source_line else None
            file = place.file.replace("\\", "/").rpartition("/")[2]
            yield ""
            yield "# " + printable(f"{file}:{place.line}  {(line or '').strip()}".rstrip())
        description, _ = self._writer.describe(op)
        buffers = cast("tuple[Buffer, ...]", op.group("buffers"))
        text = self._program_text(op, description, len(buffers))
        if text not in self._programs:
            self._programs[text] = self.new_name(_title(op))
        given = ", ".join(self._names[each] for each in buffers)
        yield f"{self._programs[text]}({given})"

    def _program_text(
        self, op: ttmetal.EnqueueProgramOp, program: ProgramDescription, count: int
    ) -> str:
        tensors = [f"buffer{number}" for number in range(count)]
        lines = [
            f"({', '.join(f'{name}: Any' for name in tensors)}) -> None:",
            f'    """{_meaning(op)}."""',
        ]
        every = {each.core_ranges for each in program.kernels}
        shared = next(iter(every)) if len(every) == 1 else None
        if shared is not None:
            lines.append(f"    cores = {_cores(shared)}")

        def on(ranges: CoreRanges) -> str:
            return "cores" if ranges == shared else _cores(ranges)

        lines.append("    kernels = [")
        lines += [f"        {self._kernel(op, each, on)}," for each in program.kernels]
        lines += ["    ]", "    semaphores = ["]
        for number, each in enumerate(program.semaphores):
            index = number if each.id is None else each.id
            lines.append(f"        semaphore({index}, {on(each.core_ranges)}),")
        lines += ["    ]", "    circular_buffers = ["]
        lines += [
            f"        {self._circular_buffer(op, each, on, count)},"
            for each in program.circular_buffers
        ]
        # The library asks for an input and an output.
        operands = tensors if count > 1 else tensors * 2
        lines += [
            "    ]",
            "    program = ttnn.ProgramDescriptor(",
            "        kernels=kernels, semaphores=semaphores, cbs=circular_buffers",
            "    )",
            f"    ttnn.generic_op([{', '.join(operands)}], program)",
        ]
        return "\n".join(lines)

    def _kernel(
        self, op: Operation, kernel: KernelDescription, on: Callable[[CoreRanges], str]
    ) -> str:
        name = identifier(kernel.name).upper()
        if self._kernels.setdefault(name, kernel.source) != kernel.source:
            name = self.new_name(name)
            self._kernels[name] = kernel.source
        self._taken.add(name)
        words = [name, on(kernel.core_ranges)]
        runtime = {arguments for _, arguments in kernel.runtime_args}
        if len(runtime) > 1 or kernel.common_runtime_args or kernel.named_compile_time_args:
            raise OpError(op, "has run-time arguments that differ from core to core")
        if kernel.compile_time_args:
            words.append(_arguments(kernel.compile_time_args))
        if runtime:
            words.append(f"runtime={_arguments(next(iter(runtime)))}")
        config = kernel.config
        if not isinstance(config, ComputeConfig):
            maker = "reader" if isinstance(config, ReaderConfig) else "writer"
            return f"{maker}({', '.join(words)})"
        if config.fp32_dest_acc_en:
            _refuse_wide_rows(op, self._symbols.function(op, kernel.name))
        if (fidelity := _FIDELITY[config.math_fidelity.keyword]) != "HiFi4":
            words.append(f"fidelity={fidelity!r}")
        if config.unpack_to_dest_fp32:
            words.append(f"unpack_to_dest={config.unpack_to_dest_fp32}")
        words += [
            f"{flag}=True"
            for flag in ("fp32_dest_acc_en", "dst_full_sync_en", "math_approx_mode")
            if getattr(config, flag)
        ]
        return f"compute({', '.join(words)})"

    def _circular_buffer(
        self,
        op: Operation,
        queue: CircularBufferDescription,
        on: Callable[[CoreRanges], str],
        count: int,
    ) -> str:
        (form,) = queue.formats
        if queue.tensor is not None and queue.tensor < count:
            return f"ttnn.cb_descriptor_from_sharded_tensor({form.index}, buffer{queue.tensor})"
        dtype = _data_type(form.data_type, op)
        return (
            f"circular_buffer({form.index}, {dtype}, {form.page_size}, {queue.total_size}, "
            f"{on(queue.core_ranges)})"
        )


def _refuse_wide_rows(op: Operation, function: FuncOp) -> None:
    """Refuse what the kernel library of the cards computes otherwise.

    `unary_bcast` of rows moves 16-bit numbers to DST as if that had numbers of 16 bits, too
    (tt-llk, llk_math_eltwise_unary_datacopy.h of tt-metal 0.81: only UInt16 is treated).
    """
    for call in function.walk():
        if call.name != "ttkernel.unary_bcast" or call.properties["bcast_type"] != StringAttr(
            "ROW"
        ):
            continue
        type_ = call.operands[0].type
        assert isinstance(type_, CBType), "tiles are unpacked from circular buffers"
        if element_of(type_.memref.element_type).scalar.size_bytes < WIDE_BYTES:
            raise OpError(
                op,
                "spreads rows of 16-bit numbers in a kernel whose registers hold 32 bits, which "
                "cards get wrong; compute all of it in f32, or in bf16 with options="
                "'fp32-dest-acc-en=false'",
            )


def _is_memory_of_queue(user: Operation, buffer: SSAValue) -> bool:
    """Whether an operation uses a buffer as the memory of a circular buffer alone."""
    if isinstance(user, ttmetal.EnqueueProgramOp):
        return buffer not in user.group("buffers")
    return isinstance(user, ttmetal.DeallocateBufferOp)


def _after(op: Operation) -> Iterator[Operation]:
    following = op.next_op
    while following is not None:
        yield following
        following = following.next_op


def _title(op: Operation) -> str:
    """What a program is called after: the function of the framework that it is of."""
    name = name_of(op.location) or ""
    return identifier(name.rpartition("/")[2]).lower() or "program"


def _meaning(op: Operation) -> str:
    """What a program computes."""
    reference = op.attributes.get(REFERENCE)
    rows = reference.data.get("rows") if isinstance(reference, DictionaryAttr) else None
    words = [
        cast("StringAttr", each.data["mnemonic"]).data
        for each in cast("ArrayAttr[DictionaryAttr]", rows or ArrayAttr[DictionaryAttr]([]))
    ]
    text = ", ".join(words) or "moves numbers"
    return text if len(text) < 80 else f"{text[:76].rpartition(',')[0]}, ..."


def _data_type(data_type: DataType, op: Operation) -> str:
    if data_type not in _DATA_TYPES:
        known = ", ".join(each.keyword for each in _DATA_TYPES)
        raise OpError(
            op, f"has numbers of {data_type.keyword}; the ttnn library has tensors of {known}"
        )
    return f"ttnn.{_DATA_TYPES[data_type]}"


def _cores(ranges: CoreRanges) -> str:
    return str([(*each.start, *each.end) for each in ranges])


def _arguments(arguments: Arguments) -> str:
    return f"[{', '.join(map(_argument, arguments))}]"


def _argument(argument: Argument) -> str:
    match argument:
        case AddressOfTensor(number):
            return f"buffer{number}.buffer_address()"
        case CircularBufferIndex(number) | SemaphoreAt(number):
            return str(number)
        case int():
            return str(argument)
        case _:
            raise AssertionError("programs of ttmetal have no accessors of tensors")


def _quoted(text: str) -> str:
    """A text as a literal of several lines."""
    if '"""' in text or "\\" in text:
        return repr(text)
    return f'"""\\\n{text}"""'
