"""The programs of a `.ttm` file: tensors, commands and kernels, checked as they are read."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ttmlir.layout.data_format import (
    TileFormat,
    is_block_float,
    packed_tile_bytes,
    row_major_strides,
    tilize,
    untilize,
)
from ttmlir.layout.device import DRAM_PAGE_SIZE
from ttmlir.layout.enums import DataType, MathFidelity, MemorySpace, TensorMemoryLayout
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.metal import grid_cores
from ttmlir.limits import MAX_CORES, MAX_RANK, memory_advice, memory_limit
from ttmlir.optable import DEFINITIONS
from ttmlir.optable.op_definition import Kind, OpDefinition, Parameter
from ttmlir.program import DescriptionError, ProgramDescription
from ttmlir.runtime.binary import (
    Binary,
    BinaryProgram,
    Operation,
    TensorRef,
    chip_of,
    location_of,
    require,
)
from ttmlir.runtime.errors import BinaryError, UnsupportedError
from ttmlir.runtime.generic import read_program
from ttmlir.runtime.tensor import (
    ELEMENT_TYPES,
    Array,
    ElementType,
    TensorDesc,
    convert,
    decode_numbers,
    encode_numbers,
    narrow_numbers,
)
from ttmlir.sim.machine.address_generators import Buffer, Sharding
from ttmlir.sim.machine.device import SimChip, SimDevice

if TYPE_CHECKING:
    from ttmlir.runtime.mesh_kernels import MeshPlan

# --- Blocks ---------------------------------------------------------------------------------------
# Buffers that are divided into blocks on a grid, and host buffers with padding (late 2025).
#
# A buffer's numbers are those of all shards side by side, in rows; the shards are blocks of them. A
# shard is stored row by row or, if the buffer is tiled, tile by tile. In L1 each core holds a shard
# at the buffer's address (`grid_cores` says which); in DRAM the shards lie one after another, in
# pages that go round the banks.
#
# Source: tt-mlir, DeviceAttr and the memref layouts of ttcore (late 2025).

Shape = tuple[int, ...]
Table = Mapping[str, Any]

_MAX_BUFFER = 1 << 40
"""Bytes; far above every memory."""


@dataclass(frozen=True)
class BlockPlacement:
    """The place of a buffer; `shard` counts elements or, if the buffer is tiled, tiles."""

    desc: TensorDesc
    grid: Shape
    shard: Shape
    address: int
    bank_bytes: int
    """Bytes of each core in L1, of all of it in DRAM."""
    page_bytes: int
    """Bytes that go to one bank of DRAM; 0 in L1."""
    where: str
    """Names the buffer in messages."""

    @classmethod
    def read(cls, table: Table, desc: TensorDesc, where: str) -> BlockPlacement:
        """The place that a `TensorRef` table gives; BinaryError if it cannot be."""
        buffer: Table = table["buffer"]
        memory: Table = table["desc"]["layout"]["memory_desc"]
        extents = tuple(int(each) for each in memory["shape"] or ())
        grid = tuple(int(each) for each in buffer["grid"] or ())
        if len(grid) != len(extents) or len(grid) < 1 or min(*grid, *extents) < 1:
            raise BinaryError(
                f"{where} is divided by a grid of {list(grid)} and has shards of {list(extents)}; "
                "both have the same number of extents, of 1 or more"
            )
        in_l1 = desc.memory_space is MemorySpace.DEVICE_L1
        if not in_l1 and any(whole % cores for whole, cores in zip(extents, grid, strict=True)):
            raise BinaryError(f"{where}: a grid of {list(grid)} does not divide {list(extents)}")
        whole = extents
        if in_l1:
            whole = tuple(cores * extent for cores, extent in zip(grid, extents, strict=True))
        shard = tuple(extent // cores for extent, cores in zip(whole, grid, strict=True))
        placement = cls(
            desc=desc,
            grid=grid,
            shard=shard,
            address=int(table["address"]),
            bank_bytes=int(table["size"]),
            page_bytes=int(buffer["page_size"]),
            where=where,
        )
        placement._check(int(buffer["num_buffers"]))
        return placement

    def _check(self, num_buffers: int) -> None:
        if self.desc.is_tiled and len(self.shard) < 2:
            raise BinaryError(f"{self.where} has tiles, but shards of one dimension")
        tile = ((1,) * len(self.shard) + self.desc.tile)[-len(self.shard) :]
        factors = zip(self.grid, self.shard, tile, strict=True)
        numbers = tuple(math.prod(each) for each in factors)
        if self.desc.shape != numbers:
            raise BinaryError(
                f"{self.where} has the shape {list(self.desc.shape)}, but its shards have "
                f"{list(numbers)} numbers side by side"
            )
        if self.in_l1:
            if math.prod(self.grid) > MAX_CORES:
                raise BinaryError(f"{self.where} is on more than {MAX_CORES} cores")
            needed = num_buffers * self.shard_bytes
            if not 0 < needed <= self.bank_bytes:
                raise BinaryError(
                    f"{self.where} has {self.bank_bytes} bytes on each core; {num_buffers} "
                    f"buffers of its shards take {needed}"
                )
        elif self.bank_bytes != self.total_bytes or num_buffers != 1:
            raise BinaryError(
                f"{self.where} has {self.bank_bytes} bytes and {num_buffers} buffers in dram; its "
                f"shards take {self.total_bytes}"
            )
        elif self.page_bytes < 1 or self.bank_bytes % self.page_bytes:
            raise BinaryError(
                f"{self.where}: {self.bank_bytes} bytes are not made of pages of {self.page_bytes}"
            )
        if self.bank_bytes > _MAX_BUFFER:
            raise BinaryError(f"{self.where} has {self.bank_bytes} bytes, which fit no memory")

    @property
    def in_l1(self) -> bool:
        """True if worker cores hold the buffer, False for DRAM."""
        return self.desc.memory_space is MemorySpace.DEVICE_L1

    @property
    def shard_bytes(self) -> int:
        """Bytes of one shard."""
        volume = math.prod(self.desc.tile)
        if is_block_float(self.desc.data_type):
            return math.prod(self.shard) * packed_tile_bytes(self.desc.data_type, volume)
        return math.prod(self.shard) * volume * TileFormat(1, 1, self.desc.data_type).size_bytes

    @property
    def total_bytes(self) -> int:
        """Bytes of all shards."""
        return math.prod(self.grid) * self.shard_bytes

    def create(self, device: SimDevice) -> Buffer:
        """The buffer on a device; SimError if its memory cannot be had."""
        space = self.desc.memory_space
        chip = device.chip
        alignment = chip.l1_alignment if self.in_l1 else chip.dram_alignment
        if self.address % alignment:
            raise BinaryError(
                f"{self.where} is at address {self.address}; addresses in {space.keyword} are "
                f"multiples of {alignment}"
            )
        if not self.in_l1:
            return Buffer(device, self.bank_bytes, self.page_bytes, space, address=self.address)
        columns, rows = chip.grid
        try:
            cores = grid_cores(self.grid, (rows, columns))
        except LayoutError as error:
            raise BinaryError(f"{self.where}: {error}") from error
        return Buffer(
            device,
            self.bank_bytes * len(cores),
            self.bank_bytes,
            space,
            sharding=Sharding(
                layout=TensorMemoryLayout.BLOCK_SHARDED,
                cores=cores,
                shape=(len(cores), 1),
                shard_shape=(1, 1),
            ),
            address=self.address,
        )

    def write(self, buffer: Buffer, values: Array) -> None:
        """Fill the buffer with numbers; what lies after a shard in L1 stays as it was."""
        data = self._encode(values)
        buffer.write(data, page_bytes=self.shard_bytes if self.in_l1 else None)

    def read_values(self, buffer: Buffer) -> Array:
        """The numbers of the buffer."""
        return self._decode(buffer.read(page_bytes=self.shard_bytes if self.in_l1 else None))

    @cached_property
    def _numbers(self) -> Shape:
        """The extents of a shard in numbers."""
        if self.total_bytes > memory_limit() or math.prod(self.desc.shape) * 8 > memory_limit():
            raise BinaryError(f"{self.where} has {self.total_bytes} bytes; {memory_advice()}")
        return tuple(
            extent // cores for extent, cores in zip(self.desc.shape, self.grid, strict=True)
        )

    def _encode(self, values: Array) -> memoryview:
        rank, shard = len(self.grid), self._numbers
        mixed = [extent for pair in zip(self.grid, shard, strict=True) for extent in pair]
        order = (*range(0, 2 * rank, 2), *range(1, 2 * rank, 2))
        blocks = values.reshape(mixed).transpose(order).reshape(-1, *shard)
        desc = self.desc
        # What is stored is smaller, and has to be moved, too.
        blocks = narrow_numbers(blocks, desc.data_type)
        numbers = tilize(blocks, desc.tile) if desc.is_tiled else blocks
        return encode_numbers(numbers, desc.data_type, math.prod(desc.tile))

    def _decode(self, data: bytes) -> Array:
        desc, rank, shard = self.desc, len(self.grid), self._numbers
        volume = math.prod(desc.tile)
        numbers = decode_numbers(data, desc.element, desc.data_type, volume)
        if desc.is_tiled:
            tiles = numbers.reshape(-1, *self.shard, volume)
            numbers = untilize(tiles, (len(tiles), *shard), desc.tile)
        order = [axis + half * rank for axis in range(rank) for half in range(2)]
        blocks = numbers.reshape(*self.grid, *shard).transpose(order)
        return convert(blocks.reshape(desc.shape), desc.element.compute)


@dataclass(frozen=True)
class HostBuffer:
    """Where the numbers of a tensor are in a padded buffer of the host, in elements."""

    shape: Shape
    strides: Shape
    volume: int

    def check(self, where: str) -> None:
        """BinaryError for numbers outside of the buffer, and buffers that no host should make."""
        last = sum(
            (extent - 1) * stride for extent, stride in zip(self.shape, self.strides, strict=False)
        )
        if (
            len(self.strides) != len(self.shape)
            or min(self.strides, default=0) < 0
            or (math.prod(self.shape) and last >= self.volume)
        ):
            raise BinaryError(
                f"{where}: a tensor of shape {list(self.shape)} with the strides "
                f"{list(self.strides)} is not within {self.volume} elements"
            )
        if self.volume * 8 > memory_limit():
            raise BinaryError(f"{where}: {self.volume} elements; {memory_advice()}")

    def pad(self, values: Array) -> Array:
        """The buffer that holds a tensor, its padding zero; no copy if there is none."""
        if self._is_whole:
            return values.reshape(-1)
        flat = np.zeros(self.volume, values.dtype)
        self._view(flat)[...] = values
        return flat

    def unpad(self, flat: Array) -> Array:
        """The tensor that a buffer holds; no copy if it holds nothing else."""
        if self._is_whole:
            return flat.reshape(self.shape)
        return np.array(self._view(flat.reshape(-1)))

    @property
    def _is_whole(self) -> bool:
        """Whether the tensor is all of the buffer, in its own order."""
        if math.prod(self.shape) != self.volume:
            return False
        return row_major_strides(self.shape) == tuple(self.strides)

    def _view(self, flat: Array) -> Array:
        strides = [stride * flat.itemsize for stride in self.strides]
        return np.lib.stride_tricks.as_strided(flat, self.shape, strides)


# --- Program --------------------------------------------------------------------------------------

# --- Placement ------------------------------------------------------------------------------------
# Where the numbers of a tensor of a `.ttm` file are, as bytes in the memories of a device.
#
# A tensor's dimensions but the last become rows. The rows are cut into shards, one for each core of
# the tensor's grid; a shard is stored row by row, or tile by tile with its faces one after another.
# In L1 each core holds its shard at the tensor's address. In DRAM the shards lie one after another,
# as if every core of the device had one, in pages of 8192 elements that go round the channels.
#
# Sources: tt-mlir, docs/src/specs/tensor-layout.md and device.md; tt-metal,
# tech_reports/tensor_layouts/tensor_layouts.md.

Shape2D = tuple[int, int]


class Placement(Protocol):
    """Where a tensor is on the device, and how its numbers are kept there."""

    @property
    def desc(self) -> TensorDesc:
        """The tensor."""
        ...

    @property
    def address(self) -> int:
        """The first byte, the same in every bank."""
        ...

    def create(self, device: SimDevice) -> Buffer:
        """The buffer on a device; SimError if its memory cannot be had."""
        ...

    def write(self, buffer: Buffer, values: Array) -> None:
        """Fill the buffer with numbers."""
        ...

    def read_values(self, buffer: Buffer) -> Array:
        """The numbers in the buffer."""
        ...


@dataclass(frozen=True)
class TensorPlacement:
    """The place of one tensor; `shard` counts elements or, if the tensor is tiled, tiles."""

    desc: TensorDesc
    shard: Shape2D
    address: int
    where: str
    """Names the tensor in messages."""

    @property
    def in_l1(self) -> bool:
        """True if worker cores hold the tensor, False for DRAM."""
        return self.desc.memory_space is MemorySpace.DEVICE_L1

    @cached_property
    def grid(self) -> Shape2D:
        """Rows and columns of the cores that hold a shard."""
        ranges = self.desc.core_ranges or ((0, 0, 1, 1),)
        rows = max(y + height for y, _, height, _ in ranges)
        columns = max(x + width for _, x, _, width in ranges)
        covered = {
            (y + row, x + column)
            for y, x, height, width in ranges
            for row in range(height)
            for column in range(width)
        }
        if len(covered) != rows * columns:
            raise BinaryError(f"{self.where}: its cores are no rectangle that begins at (0, 0)")
        return rows, columns

    @property
    def cores(self) -> tuple[tuple[int, int], ...]:
        """Logical (x, y) of the cores that hold a shard, in the order of the shards."""
        rows, columns = self.grid
        return tuple((x, y) for y in range(rows) for x in range(columns))

    @property
    def element_bytes(self) -> int:
        """Bytes of one element of a shard: of a number, or of a tile."""
        volume = math.prod(self.desc.tile)
        if is_block_float(self.desc.data_type):
            return packed_tile_bytes(self.desc.data_type, volume)
        return volume * TileFormat(1, 1, self.desc.data_type).size_bytes

    @property
    def shard_bytes(self) -> int:
        """Bytes that one core holds."""
        return math.prod(self.shard) * self.element_bytes

    @property
    def dram_page_bytes(self) -> int:
        """Bytes that go to one channel of DRAM before the next one's turn."""
        return DRAM_PAGE_SIZE * self.element_bytes

    def dram_bytes(self, device_columns: int) -> int:
        """Bytes of all shards in DRAM, of cores that have none too; whole pages if several."""
        rows, columns = self.grid
        elements = ((rows - 1) * device_columns + columns) * math.prod(self.shard)
        if elements > DRAM_PAGE_SIZE:
            elements = -(-elements // DRAM_PAGE_SIZE) * DRAM_PAGE_SIZE
        return elements * self.element_bytes

    def create(self, device: SimDevice) -> Buffer:
        """The buffer on a device; SimError if its memory cannot be had."""
        if self.in_l1:
            size, space = self.shard_bytes, MemorySpace.DEVICE_L1
            sharding = Sharding(
                layout=TensorMemoryLayout.BLOCK_SHARDED,
                cores=self.cores,
                shape=self.grid,
                shard_shape=(1, 1),
            )
            total = size * len(self.cores)
        else:
            space, sharding = MemorySpace.DEVICE_DRAM, None
            total = self.dram_bytes(device.chip.grid[0])
            size = min(total, self.dram_page_bytes)
        return Buffer(device, total, size, space, sharding=sharding, address=self.address)

    def write(self, buffer: Buffer, values: Array) -> None:
        """Fill the buffer with numbers; padding is zero."""
        shards = self.shards(values)
        if self.in_l1:
            buffer.write(b"".join(shards))
            return
        data = bytearray(buffer.size)
        for start, shard in zip(self._starts(buffer), shards, strict=True):
            data[start : start + len(shard)] = shard
        buffer.write(bytes(data))

    def read_values(self, buffer: Buffer) -> Array:
        """The numbers in the buffer."""
        data, size = buffer.read(), self.shard_bytes
        return self.values([data[start : start + size] for start in self._starts(buffer)])

    def _starts(self, buffer: Buffer) -> list[int]:
        """Where each shard begins among the bytes of the buffer's pages."""
        if self.in_l1:
            return [index * self.shard_bytes for index in range(len(self.cores))]
        columns = buffer.device.chip.grid[0]
        return [(y * columns + x) * self.shard_bytes for x, y in self.cores]

    @cached_property
    def _padded(self) -> Shape2D:
        """Rows and columns of all shards side by side."""
        height, width = (
            extent * tile * cores
            for extent, tile, cores in zip(self.shard, self.desc.tile, self.grid, strict=True)
        )
        if height * width * self.desc.element.compute.itemsize > memory_limit():
            raise BinaryError(
                f"{self.where}: shards of {list(self.shard)} on {self.grid[0]}x{self.grid[1]} "
                f"cores make {height}x{width} numbers; {memory_advice()}"
            )
        return height, width

    @cached_property
    def _rows(self) -> Shape2D:
        """Rows and columns of the tensor without padding."""
        shape = self.desc.shape
        last = len(shape) - 1
        # All dimensions but the last become rows; other layouts are recognised by their shards.
        for split in (last, *range(last - 1, -1, -1)) if shape else (0,):
            rows, columns = math.prod(shape[:split]), math.prod(shape[split:])
            if rows <= self._padded[0] and columns <= self._padded[1]:
                return rows, columns
        raise BinaryError(
            f"{self.where}: a tensor of shape {list(shape)} does not fit into shards of "
            f"{list(self.shard)} on {self.grid[0]}x{self.grid[1]} cores"
        )

    def shards(self, values: Array) -> list[memoryview]:
        """The bytes of each shard; padding is zero."""
        rows, columns = self._rows
        padded = np.zeros(self._padded, values.dtype)
        padded[:rows, :columns] = values.reshape(rows, columns)
        height, width = (
            extent * tile for extent, tile in zip(self.shard, self.desc.tile, strict=True)
        )
        return [
            self._encoded(padded[y * height : (y + 1) * height, x * width : (x + 1) * width])
            for x, y in self.cores
        ]

    def values(self, shards: list[bytes]) -> Array:
        """The numbers of a tensor whose shards hold these bytes."""
        padded = np.zeros(self._padded, self.desc.element.compute)
        height, width = (
            extent * tile for extent, tile in zip(self.shard, self.desc.tile, strict=True)
        )
        for (x, y), data in zip(self.cores, shards, strict=True):
            padded[y * height : (y + 1) * height, x * width : (x + 1) * width] = self._decoded(data)
        rows, columns = self._rows
        return padded[:rows, :columns].reshape(self.desc.shape)

    def _encoded(self, shard: Array) -> memoryview:
        desc = self.desc
        numbers = tilize(shard, desc.tile) if desc.is_tiled else shard
        return encode_numbers(numbers, desc.data_type, math.prod(desc.tile))

    def _decoded(self, data: bytes) -> Array:
        desc = self.desc
        volume = math.prod(desc.tile)
        numbers = decode_numbers(data, desc.element, desc.data_type, volume)
        shape = self.shard[0] * desc.tile[0], self.shard[1] * desc.tile[1]
        if desc.is_tiled:
            rows = untilize(numbers.reshape(*self.shard, volume), shape, desc.tile)
        else:
            rows = numbers.reshape(shape)
        return convert(rows, desc.element.compute)


# --- References -----------------------------------------------------------------------------------
# What programs of kernels compute, as their files say it: operations on the tensors' numbers.


_MAX_ROWS = 1 << 16
_MAX_ELEMENTS = 1 << 36


@dataclass(frozen=True)
class ReferenceRow:
    """An operation on values by number, and on constants."""

    mnemonic: str
    operands: tuple[int | float, ...]
    """Integers number the program's operands and the results of the rows before, other numbers are
    constants."""
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    shape: Shape | None = None
    """Of the result; None for that of the operand that it is written to."""
    element: ElementType | None = None

    @property
    def definition(self) -> OpDefinition:
        """The operation."""
        return DEFINITIONS[self.mnemonic]


@dataclass(frozen=True)
class ReferenceOutput:
    """An operand of the program, and the value that it holds in the end."""

    operand: int
    value: int
    shape: Shape | None = None
    """Without padding; None for that of the operand."""
    strides: Shape = ()
    """Where the numbers are among those of the operand, if it has padding."""


@dataclass(frozen=True)
class Reference:
    """What a program computes: rows in order, and where results go. Without rows, it moves."""

    rows: tuple[ReferenceRow, ...]
    outputs: tuple[ReferenceOutput, ...]

    def last_uses(self, count: int) -> dict[int, list[int]]:
        """By the number of a row's result, the values that nothing uses any more after it.

        `count` is the number of operands; results that no row uses are kept, as are outputs.
        """
        kept = {each.value for each in self.outputs}
        last = {
            value: number
            for number, row in enumerate(self.rows, count)
            for value in row.operands
            if isinstance(value, int) and value not in kept
        }
        ends: dict[int, list[int]] = {}
        for value, number in last.items():
            ends.setdefault(number, []).append(value)
        return ends

    @property
    def title(self) -> str:
        """The operations in a few words."""
        names = [row.mnemonic for row in self.rows]
        if len(names) > _SHOWN:
            return "+".join(names[:_SHOWN]) + f"+{len(names) - _SHOWN} more"
        return "+".join(names) or "move"


_SHOWN = 5


def elementwise_reference(
    mnemonic: str,
    operands: tuple[int | float, ...],
    count: int,
    parameters: Mapping[str, float] | None = None,
) -> Reference:
    """One operation whose result is the last of `count` operands."""
    row = ReferenceRow(mnemonic, operands, parameters or {})
    return Reference((row,), (ReferenceOutput(count - 1, count),))


def read_reference(table: Table | None, operands: int, where: str) -> Reference | None:
    """The reference of a program with so many operands; BinaryError if it does not fit."""
    if table is None:
        return None
    if table["outputs"] is not None:
        return _Reader(operands, where).read(table)
    names: Sequence[str] = table["parameter_names"] or ()
    numbers: Sequence[float] = table["parameter_values"] or ()
    mnemonic = table["mnemonic"] or ""
    _check_mnemonic(mnemonic, where)
    values = _operands(table["operands"] or ())
    if len(names) != len(numbers) or any(
        isinstance(value, int) and value >= operands for value in values
    ):
        raise BinaryError(f"{where}: the reference '{mnemonic}' does not fit the program")
    return elementwise_reference(mnemonic, values, operands, dict(zip(names, numbers, strict=True)))


def _check_mnemonic(mnemonic: str, where: str) -> None:
    if mnemonic not in DEFINITIONS:
        raise UnsupportedError(f"{where}: there is no reference for the operation '{mnemonic}'")


def _operands(tables: Sequence[Table]) -> tuple[int | float, ...]:
    return tuple(
        int(each["index"]) if each["index"] >= 0 else float(each["constant"]) for each in tables
    )


class _Reader:
    """Reads the reference of a fused program."""

    def __init__(self, operands: int, where: str) -> None:
        self._operands = operands
        self._where = where

    def read(self, table: Table) -> Reference:
        tables: Sequence[Table] = table["rows"] or ()
        if len(tables) > _MAX_ROWS:
            raise self._error(f"has {len(tables)} operations; at most {_MAX_ROWS} are taken")
        rows = tuple(self._row(each, number) for number, each in enumerate(tables))
        outputs = tuple(self._output(each, len(rows)) for each in table["outputs"])
        if not outputs:
            raise self._error("has no outputs")
        return Reference(rows, outputs)

    def _row(self, table: Table, number: int) -> ReferenceRow:
        mnemonic = table["mnemonic"] or ""
        _check_mnemonic(mnemonic, self._where)
        operands = _operands(table["operands"] or ())
        known = self._operands + number
        if any(isinstance(each, int) and each >= known for each in operands):
            raise self._error(f"uses a value that is not there before operation {number}")
        element = ELEMENT_TYPES.get(table["element_type"])
        if element is None:
            raise self._error(f"does not say the element type of operation {number}")
        return ReferenceRow(
            mnemonic,
            operands,
            self._parameters(DEFINITIONS[mnemonic], table["parameters"] or ()),
            self._shape(table["shape"]),
            element,
        )

    def _output(self, table: Table, rows: int) -> ReferenceOutput:
        operand, value = int(table["operand"]), int(table["value"])
        if operand >= self._operands or value >= self._operands + rows:
            raise self._error("has an output that is not there")
        shape = self._shape(table["shape"])
        strides = tuple(int(each) for each in table["stride"] or ())
        return ReferenceOutput(operand, value, shape, strides)

    def _shape(self, extents: Sequence[int] | None) -> Shape:
        shape = tuple(int(each) for each in extents or ())
        if len(shape) > MAX_RANK or min(shape, default=0) < 0 or math.prod(shape) > _MAX_ELEMENTS:
            raise self._error(f"has the shape {list(shape)}, which no tensor has")
        return shape

    def _parameters(self, definition: OpDefinition, tables: Sequence[Table]) -> dict[str, Any]:
        declared = {parameter.name: parameter for parameter in definition.parameters}
        # Lists that may be left out are arguments of the reference function all the same.
        values: dict[str, Any] = {
            each.name: None for each in definition.parameters if each.optional and each.kind.is_list
        }
        for table in tables:
            name = table["name"] or ""
            if name not in declared:
                raise self._error(
                    f"gives '{definition.mnemonic}' the parameter '{name}'; it has "
                    f"{', '.join(declared) or 'none'}"
                )
            values[name] = self._parameter(declared[name], table)
        return values

    def _parameter(self, parameter: Parameter, table: Table) -> Any:
        if parameter.kind is Kind.STRING:
            return table["text"] or ""
        numbers: Sequence[float] = table["numbers"] or ()
        read = _NUMBERS.get(parameter.kind, int)
        try:
            values = [read(each) for each in numbers]
        except (ValueError, OverflowError):
            values = []
        if parameter.kind.is_list and len(values) == len(numbers):
            return tuple(values)
        if parameter.kind is Kind.ELEMENTS or len(values) != 1:
            raise self._error(
                f"has a parameter '{parameter.name}' that is no {parameter.kind.value}"
            )
        return values[0]

    def _error(self, what: str) -> BinaryError:
        return BinaryError(f"{self._where}: the reference {what}")


_NUMBERS: dict[Kind, Callable[[float], Any]] = {
    Kind.F32: float,
    Kind.BOOL: bool,
    Kind.DENSE_BOOL: bool,
}


# --- Program --------------------------------------------------------------------------------------


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
    title: str = ""
    """What devices do together, where it is an exchange between them."""

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
        if self.title:
            return self.title
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
    def mesh_plan(self) -> MeshPlan | None:
        """What several chips do; None for a program of one."""
        from ttmlir.runtime.mesh_kernels import read_mesh_plan

        table, binary = self._table["mesh"], self.binary
        if table is None:
            return None
        assert isinstance(binary, MetalBinary), "the program is one of a .ttm file"
        if self.is_function:
            raise BinaryError(f"{self.where} is for several devices; programs alone are")
        plan = read_mesh_plan(table, binary.functions, self.where)
        given = len(plan.plan.inputs), len(plan.plan.outputs)
        if given != (len(self.inputs), len(self.outputs)):
            raise BinaryError(
                f"{self.where} has {len(self.inputs)} inputs and {len(self.outputs)} outputs; its "
                f"steps have {given[0]} and {given[1]}"
            )
        return plan

    @property
    def mesh(self) -> tuple[int, int]:
        """Rows and columns of the devices that it runs on."""
        plan = self.mesh_plan
        return (1, 1) if plan is None else (plan.rows, plan.columns)

    @cached_property
    def commands(self) -> tuple[Command, ...]:
        """Those of the only queue of the only device, in order; of a mesh those of each chip."""
        if self.mesh_plan is not None:
            parts = [each for each in self.mesh_plan.programs if isinstance(each, MetalProgram)]
            return tuple(each for part in parts for each in part.commands)
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

    @property
    def num_launches(self) -> int:
        """Programs of kernels that its commands run."""
        return len(self.launches)

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
                f"{where} has shards of rank {len(shape)}; supported is 2: rows and columns"
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
            program = require(fields, "program", where)
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
            raise BinaryError(f"{where}: {error}") from error
        return replace(command, description=description, storages=storages)

    def _tensors_of(self, kind: str, fields: Table, where: str) -> Iterator[MetalTensor]:
        match kind:
            case "EnqueueProgramCommand":
                for i, table in enumerate(fields["operands"] or ()):
                    yield self.metal_tensor(table, f"{where}: operands[{i}]")
            case "EnqueueWriteBufferCommand" | "EnqueueReadBufferCommand":
                for name in ("src", "dst"):
                    yield self.metal_tensor(require(fields, name, where), f"{where}: {name}")
            case "CreateBufferCommand" | "DeallocateBufferCommand":
                yield self.metal_tensor(require(fields, "ref", where), f"{where}: ref")
            case _:
                raise UnsupportedError(f"{where}: the simulator does not know this command")

    def _kernel(self, table: Table, where: str) -> KernelDesc:
        kernel = require(table, "kernel", where)
        if table["kernel_type"] != "KernelSource":
            raise UnsupportedError(
                f"{where} is a compiled binary; the simulator runs kernels in C++"
            )
        settings = require(kernel, "config", where)
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
        desc = require(table, "desc", where)
        memory = require(desc, "memory_desc", where)
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
