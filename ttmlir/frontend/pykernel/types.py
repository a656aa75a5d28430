"""What kernels and operations are annotated and described with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntFlag
from functools import lru_cache

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute

from ttmlir.dialects.tt import TileType
from ttmlir.dialects.ttkernel import CBType
from ttmlir.layout.enums import STORED_DATA_TYPES, CBPort, DataType

TILE = 32
_DATA_TYPES = {
    **{each.name: each for each in STORED_DATA_TYPES},
    **{each.schema_name: each for each in STORED_DATA_TYPES},
    "BFLOAT16": DataType.BF16,
    "FLOAT32": DataType.F32,
    "UINT32": DataType.U32,
    "INT32": DataType.U32,
    "Int32": DataType.U32,
    "UINT16": DataType.U16,
    "UINT8": DataType.U8,
    "BFLOAT8_B": DataType.BFP_BF8,
    "BFLOAT4_B": DataType.BFP_BF4,
}
"""Formats by the names that tt-mlir and ttnn give them; signed integers have unsigned ones."""


class CircularBuffer:
    """Annotation of a parameter that is a circular buffer, and description of one.

    `tensor_shape` is the shape of the tensor that goes through it, in elements.
    """

    def __init__(
        self,
        cb_id: int,
        tensor_shape: Sequence[int] = (8, 128, 128),
        dtype: str = "Float32",
    ) -> None:
        """The circular buffer with a number from 0 to 31."""
        if not 0 <= cb_id < len(CBPort):
            raise ValueError(f"circular buffer {cb_id} does not exist; they are numbered 0 to 31")
        if dtype not in _DATA_TYPES:
            known = ", ".join(each.schema_name for each in STORED_DATA_TYPES)
            raise ValueError(f"unknown format '{dtype}' of a circular buffer; known are {known}")
        self.cb_id = cb_id
        self.tensor_shape = tuple(tensor_shape)
        self.tile_shape = TILE
        self.tilized_shape = self.get_tilized_memref_shape()
        self.dtype = dtype

    def get_tilized_memref_shape(self) -> list[int]:
        """The shape in tiles."""
        shape = list(self.tensor_shape)
        return [*shape[:-2], *(-(-extent // self.tile_shape) for extent in shape[-2:])]

    @property
    def data_type(self) -> DataType:
        """The format of its tiles."""
        return _DATA_TYPES[self.dtype]

    @property
    def type(self) -> CBType:
        """The type in the IR."""
        return _cb_type(self.cb_id, tuple(self.tilized_shape), self.data_type)


@lru_cache(maxsize=256)
def _cb_type(cb_id: int, shape: tuple[int, ...], data_type: DataType) -> CBType:
    memref: MemRefType[Attribute] = MemRefType(TileType.get(TILE, TILE, data_type), shape or (1,))
    return CBType.get(CBPort(cb_id), 0, memref)


class CompileTimeValue:
    """Annotation of a parameter that is a constant of the kernel: an int or a bool."""


CompiledValue = CompileTimeValue


@dataclass
class Arguments:
    """A run-time argument of a kernel on a grid of `x` by `y` cores.

    One that is common to all cores has the number `common_idx` among those; others have a list of
    numbers for each core.
    """

    x: int = 1
    y: int = 1
    is_common: bool = False
    common_idx: int = 0
    _values: dict[tuple[int, int], list[int]] = field(
        default_factory=dict[tuple[int, int], list[int]], repr=False
    )

    def make_common(self, common_idx: int) -> None:
        """Let all cores have it in common."""
        self.is_common = True
        self.common_idx = common_idx

    def set_args_at_core(self, x: int, y: int, args: Sequence[int]) -> None:
        """Set the numbers of a core."""
        self._check(x, y)
        self._values[x, y] = list(args)

    def add_args_at_core(self, x: int, y: int, args: Sequence[int]) -> None:
        """Add numbers to those of a core."""
        self._check(x, y)
        self._values.setdefault((x, y), []).extend(args)

    def get_args(self, x: int, y: int) -> list[int]:
        """The numbers of a core."""
        self._check(x, y)
        return list(self._values.get((x, y), ()))

    def get_all_args(self) -> list[list[list[int]]]:
        """The numbers of all cores, `[x][y]`."""
        return [[self.get_args(x, y) for y in range(self.y)] for x in range(self.x)]

    def _check(self, x: int, y: int) -> None:
        if not (0 <= x < self.x and 0 <= y < self.y):
            raise ValueError(f"core ({x}, {y}) is outside of the {self.x}x{self.y} cores")


class TensorAccessorConfig(IntFlag):
    """What the first compile-time argument of a tensor accessor says (tt-metal, ArgConfig)."""

    NONE = 0
    Sharded = 1
    IsDram = 2
    RuntimeRank = 4
    RuntimeNumBanks = 8
    RuntimeTensorShape = 16
    RuntimeShardShape = 32
    RuntimeBankCoords = 64
