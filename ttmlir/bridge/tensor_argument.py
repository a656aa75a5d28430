"""Tensors as the functions that build programs see them: what is known before the numbers are."""

from __future__ import annotations

from dataclasses import dataclass

from ttmlir.bridge.work import CHIP_GRID
from ttmlir.layout.element_type import DEFAULT_TILE_SHAPE, TileFormat
from ttmlir.layout.enums import DataType
from ttmlir.program.custom_kernel import KernelTensor
from ttmlir.program.description import (
    AddressOfTensor,
    CircularBufferDescription,
    CircularBufferFormat,
    CoreRanges,
    TensorAccessorArgs,
    list_ranges,
)


@dataclass(frozen=True)
class TensorArgument:
    """A tensor that a program reads or makes, and its number among those of the program."""

    tensor: KernelTensor
    number: int

    @property
    def name(self) -> str:
        """The name of the function's parameter."""
        return self.tensor.name

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents, without padding."""
        return self.tensor.shape

    @property
    def dtype(self) -> str:
        """Keyword of the element type in the IR, such as `bf16`."""
        return self.tensor.element

    @property
    def data_type(self) -> DataType:
        """How memory holds the numbers."""
        return self.tensor.data_type

    @property
    def is_output(self) -> bool:
        """True for a tensor that the program makes."""
        return self.tensor.role == "out"

    @property
    def address(self) -> AddressOfTensor:
        """The argument of a kernel that is the tensor's address."""
        return AddressOfTensor(self.number)

    @property
    def accessor(self) -> TensorAccessorArgs:
        """The compile-time arguments of a kernel that `TensorAccessorArgs` reads."""
        return TensorAccessorArgs(self.number)

    @property
    def page_size(self) -> int:
        """Bytes of a page: of a tile, or of a row of the tensor or of a shard."""
        if self.tensor.layout == "tile":
            return TileFormat(*DEFAULT_TILE_SHAPE, self.data_type).size_bytes
        return self.tensor.shard[1] * TileFormat(1, 1, self.data_type).size_bytes

    @property
    def num_pages(self) -> int:
        """How many pages there are: tiles, or rows, of which each shard has its part."""
        rows, columns = self.tensor.extents
        if self.tensor.layout == "tile":
            return rows * columns
        return rows * -(-columns // self.tensor.shard[1])

    @property
    def shard_shape(self) -> tuple[int, int]:
        """Rows and columns of a shard in numbers, whole tiles if there are tiles."""
        rows, columns = self.tensor.shard
        height, width = DEFAULT_TILE_SHAPE if self.tensor.layout == "tile" else (1, 1)
        return rows * height, columns * width

    @property
    def shard_pages(self) -> int:
        """How many pages a shard has, those that are not used included."""
        rows, columns = self.tensor.shard
        return rows * columns if self.tensor.layout == "tile" else rows

    @property
    def shard_cores(self) -> CoreRanges:
        """The cores that have shards, the shards row by row; none of an interleaved tensor."""
        shards = self.tensor.shards
        if shards is None:
            return ()
        (rows, columns), (height, width) = self.tensor.extents, self.tensor.shard
        places = [
            (row, column)
            for row in range(-(-rows // height))
            for column in range(-(-columns // width))
        ]
        if shards.grid[0] > CHIP_GRID[1] or shards.grid[1] > CHIP_GRID[0]:
            counted = [row * shards.grid[1] + column for row, column in places]
            return list_ranges([(each % CHIP_GRID[0], each // CHIP_GRID[0]) for each in counted])
        return list_ranges([(column, row) for row, column in places])

    def circular_buffer(
        self, index: int, core_ranges: CoreRanges, pages: int = 2
    ) -> CircularBufferDescription:
        """A circular buffer for some pages of the tensor."""
        return CircularBufferDescription(
            total_size=pages * self.page_size,
            core_ranges=core_ranges,
            formats=(CircularBufferFormat(index, self.data_type, self.page_size),),
        )

    def shard_buffer(self, index: int) -> CircularBufferDescription:
        """The circular buffer that is the shards of the tensor, on the cores that have them."""
        return CircularBufferDescription(
            total_size=self.shard_pages * self.page_size,
            core_ranges=self.shard_cores,
            formats=(CircularBufferFormat(index, self.data_type, self.page_size),),
            tensor=self.number,
        )
