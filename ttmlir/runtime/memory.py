"""What a program's tensors take of the device's memory, operation by operation.

A tensor lives from the operation that makes it to the one that deallocates it, or to the end; the
file says which. In DRAM, and in L1 where it is interleaved, its pages go round the banks, and all
banks set aside as much as the fullest one needs; a sharded tensor takes a shard on each of its
cores. Circular buffers and code of kernels are not counted, nor what fragments leave unused.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ttmlir.layout.data_format import packed_tile_bytes
from ttmlir.layout.element_type import TileFormat, is_block_float
from ttmlir.layout.enums import MemorySpace
from ttmlir.layout.system.chip import ChipDesc
from ttmlir.runtime.binary import BinaryProgram, Operation, TensorRef
from ttmlir.runtime.errors import BinaryError
from ttmlir.runtime.tensor import TensorDesc

LARGEST = 5
"""So many of the largest buffers are named."""


@dataclass(frozen=True)
class LiveBuffer:
    """A tensor while it is in memory."""

    name: str
    """`input 0`, or the operation that made it."""
    desc: TensorDesc
    bank_bytes: int
    """That it takes of each bank: of a channel of DRAM, or of the L1 of each of its cores."""
    made_by: int
    """The index of the operation; -1 for inputs."""
    location: str = ""

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
    return ProgramMemory(
        program,
        chip,
        tracker.use(MemorySpace.DEVICE_DRAM),
        tracker.use(MemorySpace.DEVICE_L1),
        tracker.overflow,
    )


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


@dataclass
class _Tracker:
    """Which buffers are alive while the operations are gone through."""

    program: BinaryProgram
    chip: ChipDesc
    live: dict[int, LiveBuffer] = field(default_factory=dict[int, LiveBuffer])
    dram_used: int = 0
    l1_spread: int = 0
    """Bytes that interleaved tensors take of every core's L1."""
    l1_cores: dict[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    """Bytes of shards by core."""
    history: dict[MemorySpace, list[int]] = field(default_factory=dict[MemorySpace, list[int]])
    peaks: dict[MemorySpace, tuple[int, int, tuple[LiveBuffer, ...]]] = field(
        default_factory=dict[MemorySpace, tuple[int, int, tuple[LiveBuffer, ...]]]
    )
    on_host: set[int] = field(default_factory=set[int])
    """Tensors that are described as those of the device, but are not there yet."""
    overflow: str | None = None

    def run(self) -> None:
        """Define and free what the inputs and operations say."""
        for space in (MemorySpace.DEVICE_DRAM, MemorySpace.DEVICE_L1):
            self.history[space], self.peaks[space] = [], (0, -1, ())
        for number, ref in enumerate(self.program.inputs):
            self.define(ref, f"input {number}", None)
        for operation in self.program.operations:
            for ref in results_of(operation):
                if self._stays_on_host(operation):
                    self.free(ref.global_id)
                    self.on_host.add(ref.global_id)
                else:
                    self.define(ref, operation.title, operation)
            for space in self.history:
                self.history[space].append(self.level(space))
            if operation.table == "DeallocOp":
                self.free(operation.tensor("in").global_id)

    def _stays_on_host(self, operation: Operation) -> bool:
        """True where a layout changes of a tensor that no operation has moved to the device."""
        if operation.table != "ToLayoutOp":
            return False
        source = operation.tensor("in")
        return source.global_id in self.on_host or not source.desc.is_on_device

    def level(self, space: MemorySpace) -> int:
        """Bytes taken of the fullest bank."""
        if space is MemorySpace.DEVICE_DRAM:
            return self.dram_used
        return self.l1_spread + max(self.l1_cores.values(), default=0)

    def define(self, ref: TensorRef, name: str, operation: Operation | None) -> None:
        """A tensor is made; one of the same number gives its place to it."""
        self.free(ref.global_id)
        self.on_host.discard(ref.global_id)
        desc = ref.desc
        if not desc.is_on_device:
            return
        index = -1 if operation is None else operation.index
        location = "" if operation is None else operation.location
        buffer = LiveBuffer(name, desc, bank_bytes(desc, self.chip), index, location)
        self.live[ref.global_id] = buffer
        self._count(buffer, buffer.bank_bytes)
        space = desc.memory_space
        level = self.level(space)
        if level > self.peaks[space][0]:
            self.peaks[space] = (level, index, self._largest(space))
        capacity = capacity_of(space, self.chip)
        if level > capacity and self.overflow is None:
            where = self.program.where if operation is None else operation.where
            self.overflow = f"{where}: {self._advice(buffer, level, capacity)}"

    def free(self, number: int) -> None:
        """A tensor's memory is given back."""
        buffer = self.live.pop(number, None)
        if buffer is not None:
            self._count(buffer, -buffer.bank_bytes)

    def _count(self, buffer: LiveBuffer, size: int) -> None:
        if buffer.space is MemorySpace.DEVICE_DRAM:
            self.dram_used += size
        elif buffer.desc.memory_layout.is_sharded:
            for core in _cores(buffer.desc):
                self.l1_cores[core] = self.l1_cores.get(core, 0) + size
        else:
            self.l1_spread += size

    def _largest(self, space: MemorySpace) -> tuple[LiveBuffer, ...]:
        buffers = [each for each in self.live.values() if each.space is space]
        return tuple(sorted(buffers, key=lambda each: -each.bank_bytes)[:LARGEST])

    def _advice(self, buffer: LiveBuffer, level: int, capacity: int) -> str:
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
            f"{buffer.name if buffer.made_by < 0 else 'its result'} ({buffer.desc}) does not fit: "
            f"{level:,} bytes of {place} would be in use, {capacity:,} are there; {remedy}"
        )

    def use(self, space: MemorySpace) -> MemoryUse:
        """The summary of one memory."""
        peak, index, largest = self.peaks[space]
        return MemoryUse(
            space,
            _banks(space, self.chip),
            capacity_of(space, self.chip),
            tuple(self.history[space]),
            peak,
            index,
            largest,
        )


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


_RESULT_FIELDS = ("out", "output")


def results_of(operation: Operation) -> Sequence[TensorRef]:
    """The tensors that an operation makes."""
    match operation.table:
        case "NONE" | "GetDeviceOp" | "DeallocOp":
            return ()
        case "GenericOp":
            refs = operation.tensors("io_tensors")
            return refs[len(refs) - int(operation.scalar("num_outputs")) :]
        case _:
            for name in _RESULT_FIELDS:
                try:
                    if operation.has(name):
                        return (operation.tensor(name),)
                except KeyError:
                    continue
            raise BinaryError(f"{operation.where}: the operation has no result")
