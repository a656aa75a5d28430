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
from dataclasses import replace
from functools import partial
from typing import NoReturn, cast

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
from ttmlir.layout.enums import DeviceMemoryLayout, MemorySpace
from ttmlir.layout.metal import grid_cores
from ttmlir.layout.system import ChipDesc
from ttmlir.mlir.reporting import OpError, file_line_col, name_of
from ttmlir.program import (
    ComputeConfig,
    KernelDescription,
    ProgramDescription,
    list_ranges,
)
from ttmlir.target.cpp.kernel_api import KernelApi, with_whole_rows
from ttmlir.target.flatbuffer.programs import system_desc_of
from ttmlir.target.flatbuffer.tensors import TTMETAL, Symbols, Values
from ttmlir.target.flatbuffer.ttmetal import EnqueueWriter, host_padding
from ttmlir.target.python.model_script import (
    PROGRAM,
    identifier,
    printable,
    taken_names,
)
from ttmlir.target.python.program_text import (
    PIECES_OF_PROGRAMS,
    ProgramWriter,
    Refuse,
    cores_text,
    data_type_text,
    frame_script,
)

_PIECES = ("check_chip", "Blocks", "numbers", "view", *PIECES_OF_PROGRAMS)
_ROW = StringAttr("ROW")

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
    rows, columns = chip.grid
    facts = (
        f'ARCH, GRID, DRAM_BANKS = "{chip.arch.keyword}", ({columns}, {rows}), '
        f"{chip.num_dram_channels}"
    )
    parts = (*writer.definitions(), forward, main)
    return frame_script(title, script, facts, (*_PIECES, "to_array"), parts)


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
        self._texts = ProgramWriter(self.new_name, self._taken)
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
        yield from self._texts.definitions()
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
        dtype = data_type_text(element.data_type, partial(_refuse, op))
        text = f"Blocks({dtype}, {layout.grid_shape}, {layout.scalar_shard_shape}"
        if in_l1:
            cores = list_ranges(grid_cores(layout.grid_shape, self._chip.grid))
            count = f", {layout.buffers}" if layout.buffers > 1 else ""
            text += f", {cores_text(cores)}{count}"
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
        kernels = [self._mended(op, each) for each in description.kernels]
        description = replace(description, kernels=tuple(kernels))
        tensors = [f"buffer{number}" for number in range(len(buffers))]
        text = self._texts.text(
            _in_common(op, description), _meaning(op), tensors, partial(_refuse, op)
        )
        if text not in self._programs:
            self._programs[text] = self.new_name(_title(op))
        given = ", ".join(self._names[each] for each in buffers)
        yield f"{self._programs[text]}({given})"

    def _mended(self, op: ttmetal.EnqueueProgramOp, kernel: KernelDescription) -> KernelDescription:
        if not isinstance(kernel.config, ComputeConfig) or not kernel.config.fp32_dest_acc_en:
            return kernel
        function = self._symbols.function(op, kernel.name)
        return replace(kernel, source=mend_rows(function, kernel.source, partial(_refuse, op)))


def _refuse(op: Operation, message: str) -> NoReturn:
    raise OpError(op, message)


def _in_common(op: Operation, program: ProgramDescription) -> ProgramDescription:
    """The program with arguments that are the same on all cores as common ones."""
    kernels = list[KernelDescription]()
    for each in program.kernels:
        own = {arguments for _, arguments in each.runtime_args}
        if len(own) > 1 or each.common_runtime_args:
            raise OpError(op, "has run-time arguments that differ from core to core")
        common = next(iter(own), ())
        kernels.append(replace(each, runtime_args=(), common_runtime_args=common))
    return replace(program, kernels=tuple(kernels))


def mend_rows(function: Operation, source: str, refuse: Refuse) -> str:
    """The text of a kernel whose DST has 32 bits, right where it spreads rows of shorter numbers.

    `refuse` is called for those that the kernel library has no call for.
    """
    formats = {
        element_of(cast("CBType", call.operands[0].type).memref.element_type).scalar
        for call in function.walk()
        if call.name == "ttkernel.unary_bcast" and call.properties["bcast_type"] == _ROW
    }
    if any(each.size_bytes == 1 for each in formats):
        refuse(
            "spreads rows of 8-bit integers in a kernel whose registers hold 32 bits, which cards "
            "do not compute; convert them to ui16 or f32 before"
        )
    has_short = any(each.keyword in ("f16", "bf16") for each in formats)
    return with_whole_rows(source) if has_short else source


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
