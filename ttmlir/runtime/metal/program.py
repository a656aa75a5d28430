"""The programs of a `.ttm` file: tensors, commands and kernels, checked as they are read."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ttmlir.layout.enums import DataType, MathFidelity
from ttmlir.limits import MAX_CORES
from ttmlir.program.description import DescriptionError, ProgramDescription
from ttmlir.runtime.binary import Binary, BinaryProgram, Operation, TensorRef, location_of
from ttmlir.runtime.compiled_for import chip_of
from ttmlir.runtime.errors import BinaryError, UnsupportedError
from ttmlir.runtime.generic.reading import read_program
from ttmlir.runtime.metal.blocks import BlockPlacement, HostBuffer
from ttmlir.runtime.metal.placement import Placement, Shape2D, TensorPlacement
from ttmlir.runtime.metal.references import Reference, read_reference
from ttmlir.runtime.tensor import TensorDesc
from ttmlir.sim.machine.chip import SimChip

Table = Mapping[str, Any]

PROGRAM = "EnqueueProgramCommand"
WRITE = "EnqueueWriteBufferCommand"
READ = "EnqueueReadBufferCommand"
CREATE = "CreateBufferCommand"
DEALLOCATE = "DeallocateBufferCommand"

_NOTHING_TO_DO = (
    *("CreateEventCommand", "EnqueueRecordEventCommand", "EnqueueWaitForEventCommand"),
    *("EventSynchronizeCommand", "EventQueryCommand", "FinishCommand"),
)
"""Commands of order: here every command is done before the next one begins."""


CALL = re.compile(r"\b([a-z_]\w*)\s*\(")
"""A call in the text of a kernel."""

_WORDS = {
    "add_tiles": "add",
    "mul_tiles": "multiply",
    "untilize_block": "untilize",
    "tilize_block": "tilize",
    "noc_async_read": "move",
    "noc_async_write": "move",
}
"""Calls of tt-mlir's kernels, and what a kernel with such a call does."""


@dataclass(frozen=True)
class MetalTensor:
    """A tensor of a program, and where it is if it is on the device."""

    ref: TensorRef
    placement: Placement | None
    host: HostBuffer | None = None
    """Of a tensor of the host, how it is padded on its way to and from a buffer of blocks."""

    @property
    def id(self) -> int:
        """The same number is the same tensor."""
        return self.ref.global_id


@dataclass(frozen=True, kw_only=True)
class CircularBufferDesc:
    """A circular buffer of a kernel; on a tensor's buffer, or at an address of its own."""

    port: int
    address: int
    page_size: int
    total_size: int
    data_format: DataType
    tensor: MetalTensor | None


@dataclass(frozen=True, kw_only=True)
class KernelDesc:
    """A kernel in C++ on rectangles of cores."""

    source: str
    config: str
    """Member of the schema's `KernelConfig` union."""
    settings: Table
    cores: tuple[tuple[int, int], ...]
    """Logical (x, y)."""
    circular_buffers: tuple[CircularBufferDesc, ...]
    arguments: tuple[tuple[str, int], ...]
    """Run-time arguments: member of the schema's `RuntimeArg` union and operand or value."""

    @property
    def fidelity(self) -> MathFidelity:
        """Of a compute kernel."""
        return MathFidelity.from_schema_name(self.settings["math_fidelity"])


@dataclass(frozen=True, kw_only=True)
class Command:
    """One step of a program."""

    index: int
    kind: str
    """Member of the schema's `CommandType` union."""
    debug_info: str
    tensors: tuple[MetalTensor, ...]
    """Operands of a program, source and target of a copy, or the one tensor."""
    kernels: tuple[KernelDesc, ...] = ()
    description: ProgramDescription | None = None
    """The kernels of a program on buffers of blocks, instead of `kernels`."""
    storages: tuple[MetalTensor, ...] = ()
    """Memory of its circular buffers that hold no tensor."""
    reference: Reference | None = None
    """What the kernels compute, if the file says so."""
    where: str = field(default="", repr=False)

    def __repr__(self) -> str:
        """Number, kind and location."""
        kind = f"launch of {self.meaning}" if self.is_launch else self.kind
        place = f" at {self.location}" if self.location else ""
        return f"Command({self.index}: {kind}{place})"

    @property
    def is_launch(self) -> bool:
        """True if the command runs kernels."""
        return self.kind == PROGRAM

    @property
    def location(self) -> str:
        """The inside of the trailing `loc(...)` of the debug text; empty if there is none."""
        return location_of(self.debug_info)

    @property
    def meaning(self) -> str:
        """A word for what a program of kernels does: the operation, or how it moves numbers."""
        if self.reference is not None:
            return self.reference.title
        if self.description is not None:
            return self.description.title
        calls = {name for kernel in self.kernels for name in CALL.findall(kernel.source)}
        return next((word for name, word in _WORDS.items() if name in calls), "program")

    @property
    def fidelity(self) -> MathFidelity | None:
        """Of the kernel that computes; None if none does."""
        if self.description is not None:
            return self.description.math_fidelity
        computing = (each for each in self.kernels if each.config == "TensixConfig")
        return next((each.fidelity for each in computing), None)


class MetalProgram(BinaryProgram):
    """A function of a `.ttm` file."""

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """None: what the program does are `commands`."""
        return ()

    @cached_property
    def input_tensors(self) -> tuple[MetalTensor, ...]:
        """Tensors to be given, with their places."""
        return self._metal_tensors("inputs")

    @cached_property
    def output_tensors(self) -> tuple[MetalTensor, ...]:
        """Tensors that the program computes, with their places."""
        return self._metal_tensors("outputs")

    def _metal_tensors(self, name: str) -> tuple[MetalTensor, ...]:
        return tuple(
            self.metal_tensor(table, f"{self.where}: {name}[{i}]")
            for i, table in enumerate(self._table[name] or ())
        )

    @cached_property
    def commands(self) -> tuple[Command, ...]:
        """The commands of the only queue of the only device, in order."""
        devices = self._table["device_programs"] or ()
        if len(devices) != 1:
            raise UnsupportedError(
                f"{self.where} is for {len(devices)} devices; supported are programs for one"
            )
        queues = devices[0]["command_queues"] or ()
        if len(queues) != 1:
            raise UnsupportedError(
                f"{self.where} has {len(queues)} command queues; supported is one"
            )
        return tuple(self._command(i, table) for i, table in enumerate(queues[0]["commands"] or ()))

    @property
    def launches(self) -> tuple[Command, ...]:
        """The commands that run kernels."""
        return tuple(command for command in self.commands if command.is_launch)

    def metal_tensor(self, table: Table, where: str) -> MetalTensor:
        """The tensor of a `TensorRef` table."""
        ref = self.tensor(table, where)
        if not ref.desc.is_on_device:
            return MetalTensor(ref, None, _host_buffer(table, ref.desc))
        if table["buffer"] is not None:
            return MetalTensor(ref, BlockPlacement.read(table, ref.desc, where))
        shape = tuple(int(each) for each in table["desc"]["layout"]["memory_desc"]["shape"] or ())
        if len(shape) != 2:
            raise UnsupportedError(
                f"{where} has shards of {len(shape)} dimensions; supported are two: rows and "
                "columns"
            )
        shard: Shape2D = shape
        return MetalTensor(ref, TensorPlacement(ref.desc, shard, int(table["address"]), where))

    def _command(self, index: int, table: Table) -> Command:
        kind = table["type_type"]
        debug_info = table["debug_info"] or ""
        where = f"{self.where}: command {index} ({kind})"
        if kind in _NOTHING_TO_DO:
            return Command(index=index, kind=kind, debug_info=debug_info, tensors=(), where=where)
        fields = table["type"]
        if fields is None:
            raise BinaryError(f"{where} has no contents")
        tensors = tuple(self._tensors_of(kind, fields, where))
        command = Command(
            index=index, kind=kind, debug_info=debug_info, tensors=tensors, where=where
        )
        return self._program(command, fields) if kind == PROGRAM else command

    def _program(self, command: Command, fields: Table) -> Command:
        where, operands = command.where, len(command.tensors)
        command = replace(command, reference=read_reference(fields["reference"], operands, where))
        if fields["descriptor"] is None:
            program = _needed(fields, "program", where)
            kernels = enumerate(program["kernels"] or ())
            return replace(
                command,
                kernels=tuple(self._kernel(each, f"{where}: kernel {i}") for i, each in kernels),
            )
        storages = tuple(
            self.metal_tensor(table, f"{where}: storages[{i}]")
            for i, table in enumerate(fields["storages"] or ())
        )
        description = read_program(fields["descriptor"], where)
        try:
            description.check_tensors(operands + len(storages))
        except DescriptionError as error:
            raise BinaryError(f"{where}: {error}") from None
        return replace(command, description=description, storages=storages)

    def _tensors_of(self, kind: str, fields: Table, where: str) -> Iterator[MetalTensor]:
        match kind:
            case "EnqueueProgramCommand":
                for i, table in enumerate(fields["operands"] or ()):
                    yield self.metal_tensor(table, f"{where}: operands[{i}]")
            case "EnqueueWriteBufferCommand" | "EnqueueReadBufferCommand":
                for name in ("src", "dst"):
                    yield self.metal_tensor(_needed(fields, name, where), f"{where}: {name}")
            case "CreateBufferCommand" | "DeallocateBufferCommand":
                yield self.metal_tensor(_needed(fields, "ref", where), f"{where}: ref")
            case _:
                raise UnsupportedError(f"{where}: the simulator does not know this command")

    def _kernel(self, table: Table, where: str) -> KernelDesc:
        kernel = _needed(table, "kernel", where)
        if table["kernel_type"] != "KernelSource":
            raise UnsupportedError(
                f"{where} is a compiled binary; the simulator runs kernels in C++"
            )
        settings = _needed(kernel, "config", where)
        return KernelDesc(
            source=kernel["source"] or "",
            config=kernel["config_type"],
            settings=settings,
            cores=_cores(table["core_range_set"] or (), where),
            circular_buffers=tuple(
                self._circular_buffer(each, f"{where}: circular buffer {i}")
                for i, each in enumerate(table["cbs"] or ())
            ),
            arguments=tuple(_arguments(table, where)),
        )

    def _circular_buffer(self, table: Table, where: str) -> CircularBufferDesc:
        desc = _needed(table, "desc", where)
        memory = _needed(desc, "memory_desc", where)
        tensor = table["tensor_ref"]
        return CircularBufferDesc(
            port=int(desc["port"]),
            address=int(table["address"]),
            page_size=int(desc["page_size"]),
            total_size=int(memory["size"]) * int(desc["num_buffers"]),
            data_format=DataType.from_schema_name(memory["data_type"]),
            tensor=None if tensor is None else self.metal_tensor(tensor, where),
        )


class MetalBinary(Binary):
    """A loaded `.ttm` file."""

    PROGRAM = MetalProgram
    is_metal = True

    @cached_property
    def metal_programs(self) -> tuple[MetalProgram, ...]:
        """Programs in the order of the file."""
        return tuple(each for each in self.programs if isinstance(each, MetalProgram))

    @cached_property
    def chip(self) -> SimChip:
        """The chip that the file was compiled for; the default one if the file names none."""
        return chip_of(self)


def _needed(table: Table, name: str, where: str) -> Any:
    value = table[name]
    if value is None:
        raise BinaryError(f"{where}: field '{name}' is missing")
    return value


def _host_buffer(table: Table, desc: TensorDesc) -> HostBuffer:
    memory: Table = table["desc"]["layout"]["memory_desc"]
    volume = math.prod(int(extent) for extent in memory["shape"] or ())
    return HostBuffer(desc.shape, desc.stride, volume)


def _cores(ranges: Sequence[Any], where: str) -> tuple[tuple[int, int], ...]:
    if sum(abs(math.prod(each.size)) for each in ranges) > MAX_CORES:
        raise BinaryError(f"{where} runs on more than {MAX_CORES} cores; no chip has so many")
    return tuple(
        (each.loc.x + x, each.loc.y + y)
        for each in ranges
        for y in range(each.size.y)
        for x in range(each.size.x)
    )


def _arguments(table: Table, where: str) -> Iterator[tuple[str, int]]:
    kinds: Sequence[str] = table["runtime_args_type"] or ()
    arguments: Sequence[Table] = table["runtime_args"] or ()
    for kind, argument in zip(kinds, arguments, strict=True):
        match kind:
            case "RuntimeArgTensorAddress":
                yield kind, int(argument["operand_idx"])
            case "RuntimeArgSemaphoreAddress":
                yield kind, int(argument["initial_value"])
            case _:
                raise UnsupportedError(f"{where} has a run-time argument of kind {kind}")
