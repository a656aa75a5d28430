"""What a program's tensors take of the device's memory, operation by operation.

A tensor lives from the operation that makes it to the one that deallocates it, or to the end; the
file says which. Weights and state that stay on the device live all the time. In DRAM, and in L1
where it is interleaved, its pages go round the banks, and all banks set aside as much as the
fullest one needs; a sharded tensor takes a shard on each of its cores. A view takes nothing, and
what it is of lives as long as one of the two. The circular buffers of a program of kernels in the
file are in L1 while it runs. Those of the library's programs and the code of kernels are not
counted, nor what fragments leave unused.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from ttmlir.layout.data_format import (
    TileFormat,
    has_same_tiles,
    is_block_float,
    packed_tile_bytes,
)
from ttmlir.layout.enums import MemorySpace
from ttmlir.layout.system import ChipDesc
from ttmlir.program import list_cores
from ttmlir.runtime.binary import BinaryProgram, Operation, TensorRef
from ttmlir.runtime.locations import place_in
from ttmlir.runtime.residency import Residency, find_residency, results_of
from ttmlir.runtime.tensor import TensorDesc

LARGEST = 5
"""So many of the largest buffers are named."""


@dataclass(frozen=True)
class LiveBuffer:
    """A tensor while it is in memory."""

    desc: TensorDesc
    bank_bytes: int
    """That it takes of each bank: of a channel of DRAM, or of the L1 of each of its cores."""
    operation: Operation | None
    """That made it; None for inputs."""
    input_index: int = -1

    @property
    def name(self) -> str:
        """`input 0`, or the operation that made it."""
        return f"input {self.input_index}" if self.operation is None else self.operation.title

    @property
    def made_by(self) -> int:
        """The index of the operation; -1 for inputs."""
        return -1 if self.operation is None else self.operation.index

    @property
    def location(self) -> str:
        """That of the operation; empty if there is none."""
        return "" if self.operation is None else self.operation.location

    @property
    def space(self) -> MemorySpace:
        """DRAM or L1."""
        return self.desc.memory_space


@dataclass(frozen=True)
class MemoryUse:
    """One of the device's memories over a program."""

    space: MemorySpace
    banks: int
    """Channels of DRAM, or cores."""
    capacity: int
    """Bytes of a bank that tensors may take."""
    by_operation: tuple[int, ...]
    """Bytes taken of the fullest bank while each operation runs."""
    peak: int
    peak_operation: int
    """The first operation at which the peak is reached; -1: the inputs alone."""
    largest: tuple[LiveBuffer, ...]
    """The largest buffers at the peak."""
    circular_buffers: int = 0
    """Bytes of them in the fullest core at the peak."""
    resident: int = 0
    """Bytes of a bank that weights and state take, which stay there between calls."""

    @property
    def share(self) -> float:
        """The peak, of the capacity."""
        return self.peak / self.capacity if self.capacity else 0.0

    @property
    def total_bytes(self) -> int:
        """The peak over all banks, if they are equally full."""
        return self.peak * self.banks


@dataclass(frozen=True)
class ProgramMemory:
    """DRAM and L1 over a program."""

    program: BinaryProgram
    chip: ChipDesc
    dram: MemoryUse
    l1: MemoryUse
    first_overflow: str | None
    """What does not fit, where, and what to do; None if all fits."""

    @property
    def fits(self) -> bool:
        """True if no memory overflows."""
        return self.first_overflow is None


def program_memory(program: BinaryProgram, chip: ChipDesc) -> ProgramMemory:
    """Follow a program's tensors through the memories of a chip."""
    tracker = _Tracker(program, chip)
    tracker.run()
    dram, l1 = (
        _use_of(tracker, space) for space in (MemorySpace.DEVICE_DRAM, MemorySpace.DEVICE_L1)
    )
    return ProgramMemory(program, chip, dram, l1, tracker.memory.overflow)


def overflow_of(program: BinaryProgram, chip: ChipDesc) -> str | None:
    """What does not fit into a chip's memories, where, and what to do; None if all fits."""
    tracker = _Tracker(program, chip)
    tracker.run()
    return tracker.memory.overflow


def _use_of(tracker: _Tracker, space: MemorySpace) -> MemoryUse:
    """The summary of one memory; what is alive at its peak is found by going there again."""
    peak, index = tracker.memory.peaks[space]
    again = _Tracker(tracker.program, tracker.chip)
    again.run(until=index)
    # Views are the same buffers.
    alive = {id(each): each for each in again.memory.live.values()}.values()
    buffers = [each for each in alive if each.space is space]
    largest = sorted(buffers, key=lambda each: -each.bank_bytes)[:LARGEST] if peak else []
    return MemoryUse(
        space,
        _banks(space, tracker.chip),
        capacity_of(space, tracker.chip),
        tuple(tracker.history[space]),
        peak,
        index,
        tuple(largest),
        tracker.memory.circular_buffers if space is MemorySpace.DEVICE_L1 else 0,
        tracker.resident[space],
    )


def viewed_by(operation: Operation) -> TensorRef | None:
    """What a reshape is a view of, whose tiles stay where they are: the library makes no copy."""
    given = operation.given
    if given is None and operation.table == "ReshapeOp":
        source, result = operation.tensor("in"), operation.tensor("out")
    elif given is not None and given.definition.mnemonic == "reshape":
        source, result = given.operands[0], given.outputs[0]
    else:
        return None
    if source is None:
        return None
    before, after = source.desc, result.desc
    is_plain = before.is_on_device and before.is_tiled and not before.memory_layout.is_sharded
    alike = before == replace(after, shape=before.shape, stride=before.stride)
    return source if is_plain and alike and has_same_tiles(before.shape, after.shape) else None


def bank_bytes(desc: TensorDesc, chip: ChipDesc) -> int:
    """Bytes that a tensor takes of each bank that it is in."""
    unit = chip.address_alignment(desc.memory_space)
    if desc.memory_space is MemorySpace.DEVICE_L1 and desc.memory_layout.is_sharded:
        return _align(_shard_bytes(desc), unit)
    page, count = page_of(desc)
    banks = _banks(desc.memory_space, chip)
    return -(-count // banks) * _align(page, unit)


def page_of(desc: TensorDesc) -> tuple[int, int]:
    """Bytes of a page and how many there are: tiles, or rows of a row-major tensor."""
    if desc.is_tiled:
        page = _tile_bytes(desc)
        return page, math.prod(desc.padded_shape) // math.prod(desc.tile)
    if not desc.volume:
        return 0, 0
    columns = desc.shape[-1] if desc.shape else 1
    return columns * TileFormat(1, 1, desc.data_type).size_bytes, desc.volume // columns


def _tile_bytes(desc: TensorDesc) -> int:
    volume = math.prod(desc.tile)
    if is_block_float(desc.data_type):
        return packed_tile_bytes(desc.data_type, volume)
    return volume * TileFormat(1, 1, desc.data_type).size_bytes


def _shard_bytes(desc: TensorDesc) -> int:
    if desc.shard:
        unit = _tile_bytes(desc) if desc.is_tiled else TileFormat(1, 1, desc.data_type).size_bytes
        return math.prod(desc.shard) * unit
    return -(-desc.size_in_bytes // _core_count(desc))


def _core_count(desc: TensorDesc) -> int:
    return max(1, sum(height * width for _, _, height, width in desc.core_ranges))


def _align(size: int, unit: int) -> int:
    return -(-size // unit) * unit


def _banks(space: MemorySpace, chip: ChipDesc) -> int:
    return chip.num_dram_channels if space is MemorySpace.DEVICE_DRAM else math.prod(chip.grid)


_SPACES = (MemorySpace.DEVICE_DRAM, MemorySpace.DEVICE_L1)


@dataclass
class DeviceMemory:
    """Which buffers of a program are alive, and how full the memories are."""

    program: BinaryProgram
    chip: ChipDesc
    live: dict[int, LiveBuffer] = field(default_factory=dict[int, LiveBuffer])
    """By the numbers of tensors, several of which are the same memory if some are views."""
    dram_used: int = 0
    l1_spread: int = 0
    """Bytes that interleaved tensors take of every core's L1."""
    l1_cores: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    """Bytes of shards by core."""
    peaks: dict[MemorySpace, tuple[int, int]] = field(
        default_factory=lambda: dict.fromkeys(_SPACES, (0, -1))
    )
    """Bytes, and the operation at which they are first reached."""
    circular_buffers: int = 0
    """Bytes of them in the fullest core at the peak of L1."""
    overflow: str | None = None
    """What did not fit first, where, and what to do."""

    def level(self, space: MemorySpace) -> int:
        """Bytes taken of the fullest bank."""
        if space is MemorySpace.DEVICE_DRAM:
            return self.dram_used
        return self.l1_spread + max(self.l1_cores.values(), default=0)

    def define(
        self, number: int, desc: TensorDesc, operation: Operation | None, input_index: int = -1
    ) -> None:
        """A tensor is made; one of the same number gives its place to it."""
        self.free(number)
        space = desc.memory_space
        # Tensors in the memory of the host take nothing of the device.
        if space not in self.peaks:
            return
        buffer = LiveBuffer(desc, bank_bytes(desc, self.chip), operation, input_index)
        self.live[number] = buffer
        self._count(buffer, buffer.bank_bytes)
        level = self.level(space)
        if level > self.peaks[space][0]:
            self.peaks[space] = (level, buffer.made_by)
            if space is MemorySpace.DEVICE_L1:
                # This peak is of tensors alone.
                self.circular_buffers = 0
        if self.overflow is None and level > capacity_of(space, self.chip):
            where = self.program.where if operation is None else operation.where
            self.overflow = f"{where}: {self._advice(buffer, level)}"

    def view(self, number: int, source: int) -> None:
        """A tensor is made that is where another one is."""
        buffer = self.live.get(source)
        self.free(number)
        if buffer is not None:
            self.live[number] = buffer

    def free(self, number: int) -> None:
        """A tensor's memory is given back, unless another one is there, too."""
        buffer = self.live.pop(number, None)
        if buffer is not None and not any(each is buffer for each in self.live.values()):
            self._count(buffer, -buffer.bank_bytes)

    def run_kernels(self, operation: Operation) -> int:
        """A program of kernels runs: bytes of the fullest core with its circular buffers."""
        sizes = _circular_buffers(operation)
        level, core = max(
            ((self.l1_cores.get(core, 0) + size, core) for core, size in sizes.items()),
            default=(0, (0, 0)),
        )
        level += self.l1_spread
        space = MemorySpace.DEVICE_L1
        if level > self.peaks[space][0]:
            self.peaks[space] = (level, operation.index)
            self.circular_buffers = sizes[core]
        if self.overflow is None and level > capacity_of(space, self.chip):
            self.overflow = (
                f"{operation.where}: its circular buffers do not fit: with them {level:,} bytes of "
                f"the L1 of a core would be in use, {capacity_of(space, self.chip):,} are there; "
                "give them fewer pages, or keep tensors in DRAM"
            )
        return level

    def _count(self, buffer: LiveBuffer, size: int) -> None:
        if buffer.space is MemorySpace.DEVICE_DRAM:
            self.dram_used += size
        elif buffer.desc.memory_layout.is_sharded:
            for core in _cores(buffer.desc):
                self.l1_cores[core] = self.l1_cores.get(core, 0) + size
        else:
            self.l1_spread += size

    def _advice(self, buffer: LiveBuffer, level: int) -> str:
        banks = _banks(buffer.space, self.chip)
        if buffer.space is MemorySpace.DEVICE_DRAM:
            place = f"each of {banks} channels of DRAM"
            remedy = (
                "deallocate tensors earlier, use smaller batches or number formats, or compile for "
                "a board with more DRAM"
            )
        else:
            place = "the L1 of a core"
            remedy = (
                "keep the tensor in DRAM, or divide it over more cores; without "
                "sharding-pass-enabled all tensors are in DRAM"
            )
        return (
            f"{buffer.name if buffer.operation is None else 'its result'} ({buffer.desc}) does not "
            f"fit: {level:,} bytes of {place} would be in use, "
            f"{capacity_of(buffer.space, self.chip):,} are there; {remedy}"
        )


@dataclass
class _Tracker:
    """Goes through the operations of a program."""

    program: BinaryProgram
    chip: ChipDesc
    history: dict[MemorySpace, list[int]] = field(
        default_factory=lambda: {space: [] for space in _SPACES}
    )
    on_host: set[int] = field(default_factory=set[int])
    """Tensors that are described as those of the device, but are not there yet."""
    resident: dict[MemorySpace, int] = field(default_factory=lambda: dict.fromkeys(_SPACES, 0))
    """Bytes of a bank that stay taken between calls."""

    @cached_property
    def residency(self) -> Residency:
        """What is on the device before a call."""
        return find_residency(self.program)

    @cached_property
    def memory(self) -> DeviceMemory:
        """What is alive."""
        return DeviceMemory(self.program, self.chip)

    def run(self, until: int | None = None) -> None:
        """Define and free what the inputs and operations say; `until` is the last operation."""
        memory, residency = self.memory, self.residency
        self._define_residents()
        for number, ref in enumerate(self.program.inputs):
            if ref.global_id not in residency.held:
                memory.define(ref.global_id, ref.desc, None, number)
        for operation in self.program.operations:
            if until is not None and operation.index > until:
                return
            self._define_results(operation)
            kernels = memory.run_kernels(operation) if operation.table == "GenericOp" else 0
            for space, levels in self.history.items():
                more = kernels if space is MemorySpace.DEVICE_L1 else 0
                levels.append(max(memory.level(space), more))
            if operation.table == "DeallocOp" and operation.index != until:
                number = operation.tensor("in").global_id
                if number not in residency.resident:
                    memory.free(number)

    def _define_results(self, operation: Operation) -> None:
        for ref in results_of(operation):
            if ref.global_id in self.residency.resident:
                continue
            self.on_host.discard(ref.global_id)
            if self._stays_on_host(operation):
                self.memory.free(ref.global_id)
                self.on_host.add(ref.global_id)
            elif (source := viewed_by(operation)) is not None:
                self.memory.view(ref.global_id, source.global_id)
            else:
                self.memory.define(ref.global_id, ref.desc, operation)

    def _define_residents(self) -> None:
        """What is there before the first call, and whether that fits."""
        memory, chip = self.memory, self.chip
        for number, (ref, operation) in self.residency.held.items():
            memory.define(number, ref.desc, operation)
        self.resident = {space: memory.level(space) for space in _SPACES}
        dram, capacity = self.resident[MemorySpace.DEVICE_DRAM], _dram_bytes(chip)
        if memory.overflow is not None:
            memory.overflow = (
                f"{self.program.where}: weights and state do not fit: "
                f"{dram * chip.num_dram_channels / 1e9:,.1f} GB of {capacity / 1e9:,.1f} GB"
                f"{_on_each(self.program)}; divide them over more devices, give them narrower "
                "formats (experimental-weight-dtype), or compile for a board with more DRAM"
            )

    def _stays_on_host(self, operation: Operation) -> bool:
        """True where a layout changes of a tensor that no operation has moved to the device."""
        if operation.table != "ToLayoutOp":
            return False
        source = operation.tensor("in")
        return source.global_id in self.on_host or not source.desc.is_on_device


def _dram_bytes(chip: ChipDesc) -> int:
    return capacity_of(MemorySpace.DEVICE_DRAM, chip) * chip.num_dram_channels


def _on_each(program: BinaryProgram) -> str:
    """What to say of the devices of a mesh; nothing of a single one."""
    devices = math.prod(program.mesh)
    return f" on each of {devices} devices" if devices > 1 else ""


def capacity_of(space: MemorySpace, chip: ChipDesc) -> int:
    """Bytes of a bank that tensors may take."""
    if space is MemorySpace.DEVICE_DRAM:
        return chip.usable_dram_channel_size
    return chip.usable_l1_size


def _cores(desc: TensorDesc) -> Iterator[tuple[int, int]]:
    for y, x, height, width in desc.core_ranges or ((0, 0, 1, 1),):
        for row in range(y, y + height):
            for column in range(x, x + width):
                yield row, column


def _circular_buffers(operation: Operation) -> dict[tuple[int, int], int]:
    """Bytes that the circular buffers of a program take of each core, by row and column.

    Those on the shards of a tensor take none of their own.
    """
    from ttmlir.runtime.generic import read_program

    program = read_program(operation.table_field("program"), operation.where)
    sizes: dict[tuple[int, int], int] = {}
    for each in program.circular_buffers:
        for x, y in list_cores(each.core_ranges) if each.tensor is None else ():
            sizes[y, x] = sizes.get((y, x), 0) + each.total_size
    return sizes


# --- Memory report --------------------------------------------------------------------------------
# What a program takes of memory, as lines for people and as plain values for JSON.


def memory_lines(memory: ProgramMemory) -> list[str]:
    """Peaks of both memories, where they are reached, and the largest buffers there."""
    lines: list[str] = []
    for use, bank in ((memory.dram, "channel"), (memory.l1, "core")):
        if not use.peak:
            lines.append(f"{use.space.keyword}: nothing")
            continue
        lines.append(
            f"{use.space.keyword}: peak of {use.peak:,} bytes per {bank}, "
            f"{_percent(use.share)} % of {use.capacity:,}, at {_where(memory, use)}"
        )
        if use.resident:
            lines.append(f"  {use.resident:,} bytes per {bank}: weights and state")
        if use.circular_buffers:
            lines.append(f"  {use.circular_buffers:,} bytes per core: its circular buffers")
        lines += [f"  {_buffer(each, bank)}" for each in use.largest]
    if memory.first_overflow is not None:
        lines.append(f"does not fit: {memory.first_overflow}")
    return lines


def _percent(share: float) -> str:
    """Two digits of what is small, and no exponent of what is large."""
    return f"{100 * share:.2g}" if share < 0.095 else f"{100 * share:,.0f}"


def _where(memory: ProgramMemory, use: MemoryUse) -> str:
    if use.peak_operation < 0:
        return "its inputs"
    operation = memory.program.operations[use.peak_operation]
    place = place_in(operation.location)
    return f"operation {operation.index} ({operation.title}{', ' + place if place else ''})"


def _buffer(each: LiveBuffer, bank: str) -> str:
    maker = each.name if each.made_by < 0 else f"operation {each.made_by} ({each.name})"
    return f"{each.bank_bytes:,} bytes per {bank}: {each.desc}, of {maker}"


def memory_document(memory: ProgramMemory) -> dict[str, Any]:
    """Both memories as plain values for JSON."""
    return {
        "dram": _use_document(memory.dram),
        "l1": _use_document(memory.l1),
        "does_not_fit": memory.first_overflow,
    }


def _use_document(use: MemoryUse) -> dict[str, Any]:
    return {
        "banks": use.banks,
        "capacity_per_bank": use.capacity,
        "peak_per_bank": use.peak,
        "peak_operation": use.peak_operation,
        "circular_buffers": use.circular_buffers,
        "resident": use.resident,
        "per_bank_by_operation": list(use.by_operation),
        "largest": [
            {
                "made_by": each.name,
                "operation": each.made_by,
                "tensor": str(each.desc),
                "bytes_per_bank": each.bank_bytes,
                "location": each.location,
            }
            for each in use.largest
        ],
    }
