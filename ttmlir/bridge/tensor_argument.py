"""Tensors as the functions that build programs see them: what is known before the numbers are."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ttmlir.layout.element_type import DEFAULT_TILE_SHAPE, TileFormat
from ttmlir.layout.enums import DataType
from ttmlir.layout.tile import padded_shape
from ttmlir.program.custom_kernel import KernelTensor
from ttmlir.program.description import (
    AddressOfTensor,
    CircularBufferDescription,
    CircularBufferFormat,
    CoreRanges,
    TensorAccessorArgs,
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
        """Bytes of a page: of a tile, or of a row."""
        if self.tensor.layout == "tile":
            return TileFormat(*DEFAULT_TILE_SHAPE, self.data_type).size_bytes
        return math.prod(self.shape[-1:]) * TileFormat(1, 1, self.data_type).size_bytes

    @property
    def num_pages(self) -> int:
        """How many pages there are: tiles, or rows."""
        if self.tensor.layout == "tile":
            return math.prod(padded_shape(self.shape)) // math.prod(DEFAULT_TILE_SHAPE)
        return math.prod(self.shape[:-1])

    def circular_buffer(
        self, index: int, core_ranges: CoreRanges, pages: int = 2
    ) -> CircularBufferDescription:
        """A circular buffer for some pages of the tensor."""
        return CircularBufferDescription(
            total_size=pages * self.page_size,
            core_ranges=core_ranges,
            formats=(CircularBufferFormat(index, self.data_type, self.page_size),),
        )
