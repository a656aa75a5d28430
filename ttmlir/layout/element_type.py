"""Element types of tensors in memory: scalars and tiles, their sizes and storage formats.

Sizes and the mapping of types to formats are tt-mlir's (lib/Dialect/TT/IR/TTOpsTypes.cpp). Types
that it cannot store are kept in the nearest format: i1 as BFloat16, f64 as Float32, 64-bit
integers and index as UInt32.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from ttmlir.layout.enums import DataType
from ttmlir.layout.errors import LayoutError

DEFAULT_TILE_SHAPE = (32, 32)

_BYTES = {
    DataType.F32: 4,
    DataType.F16: 2,
    DataType.BF16: 2,
    DataType.U32: 4,
    DataType.U16: 2,
    DataType.U8: 1,
    DataType.SI32: 4,
}
_BLOCK_FLOAT_BITS = {
    DataType.BFP_F8: 8,
    DataType.BFP_BF8: 8,
    DataType.BFP_F4: 4,
    DataType.BFP_BF4: 4,
    DataType.BFP_F2: 2,
    DataType.BFP_BF2: 2,
}
_SCALARS = {
    DataType.F32: "f32",
    DataType.F16: "f16",
    DataType.BF16: "bf16",
    DataType.BFP_F8: "f16",
    DataType.BFP_BF8: "bf16",
    DataType.BFP_F4: "f16",
    DataType.BFP_BF4: "bf16",
    DataType.BFP_F2: "f16",
    DataType.BFP_BF2: "bf16",
    DataType.U32: "i32",
    DataType.U16: "i16",
    DataType.U8: "i8",
    DataType.SI32: "si32",
}
_FLOATS = {
    "f16": DataType.F16,
    "bf16": DataType.BF16,
    "f32": DataType.F32,
    "f64": DataType.F32,
}
_INTEGERS = {
    1: DataType.BF16,
    8: DataType.U8,
    16: DataType.U16,
    32: DataType.U32,
    64: DataType.U32,
}
SCHEMA_NAMES = {
    "f32": "Float32",
    "f16": "Float16",
    "bf16": "BFloat16",
    "f64": "Float64",
    "ui32": "UInt32",
    "ui16": "UInt16",
    "ui8": "UInt8",
    "ui64": "UInt64",
    "i32": "Int32",
    "i16": "Int16",
    "i8": "Int8",
    "i64": "Int64",
    "si32": "Int32",
    "si16": "Int16",
    "si8": "Int8",
    "si64": "Int64",
    "index": "Int64",
    "i1": "Bool",
}
"""Name in the schema's `ElementType` of each keyword of the IR; signless integers are signed."""
SUPPORTED_SCALARS = "f16, bf16, f32, f64, integers of 1, 8, 16, 32 or 64 bits, and index"


def is_block_float(data_type: DataType) -> bool:
    """True for the formats whose numbers share exponents."""
    return data_type in _BLOCK_FLOAT_BITS


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A scalar element type by its keyword in the IR, such as `f32`, `si16` or `index`."""

    keyword: str

    @property
    def data_type(self) -> DataType:
        """The format that stores the type; LayoutError if there is none."""
        return _data_type_of(self.keyword)

    @property
    def size_bytes(self) -> int:
        """Bytes of one element in its storage format."""
        return _BYTES[self.data_type]

    @property
    def stored_bytes(self) -> int:
        """The same."""
        return self.size_bytes

    @property
    def scalar(self) -> ScalarType:
        """The type itself."""
        return self

    def __str__(self) -> str:
        """The keyword."""
        return self.keyword


@dataclass(frozen=True, slots=True)
class TileFormat:
    """A tile of `height` x `width` numbers in one format."""

    height: int
    width: int
    data_type: DataType

    @classmethod
    def of(cls, element: ScalarType, shape: Sequence[int] = DEFAULT_TILE_SHAPE) -> TileFormat:
        """The tile that holds numbers of this type; LayoutError if the type has no format."""
        height, width = shape
        return cls(height, width, element.data_type)

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.height, self.width

    @property
    def size_bytes(self) -> int:
        """Bytes of the numbers of a tile; the shared exponents of block floats are not counted."""
        volume = self.height * self.width
        if is_block_float(self.data_type):
            return -(-volume * _BLOCK_FLOAT_BITS[self.data_type] // 8)
        return volume * _BYTES[self.data_type]

    @property
    def stored_bytes(self) -> int:
        """Bytes of a tile in memory, one for the exponent of each 16 block floats included."""
        exponents = self.height * self.width // 16 if is_block_float(self.data_type) else 0
        return self.size_bytes + exponents

    @property
    def scalar(self) -> ScalarType:
        """The scalar type that the tile stands for."""
        return ScalarType(_SCALARS[self.data_type])

    def scalar_shape(self, tiled: Sequence[int]) -> tuple[int, ...]:
        """The extents in numbers of a shape counted in tiles."""
        *outer, rows, columns = self._checked(tiled)
        return (*outer, rows * self.height, columns * self.width)

    def tiled_shape(self, scalar: Sequence[int]) -> tuple[int, ...]:
        """The extents in tiles of a shape counted in numbers, the last ones filled up."""
        *outer, rows, columns = self._checked(scalar)
        return (*outer, -(-rows // self.height), -(-columns // self.width))

    def _checked(self, shape: Sequence[int]) -> Sequence[int]:
        if len(shape) < 2:
            raise LayoutError(
                f"tiles cover the last two dimensions, got a shape of rank {len(shape)}; "
                "use a grid of rank 2 or more"
            )
        if self.height < 1 or self.width < 1:
            raise LayoutError(f"a tile of {self.height}x{self.width} holds no numbers")
        return shape

    def __str__(self) -> str:
        """The IR text of the tile type."""
        return f"!tt.tile<{self.height}x{self.width}, {self.data_type.keyword}>"


Element = ScalarType | TileFormat


@cache
def _data_type_of(keyword: str) -> DataType:
    if keyword in _FLOATS:
        return _FLOATS[keyword]
    if keyword == "index":
        return DataType.U32
    integer = re.fullmatch(r"[su]?i(\d+)", keyword)
    if integer is not None and int(integer[1]) in _INTEGERS:
        return _INTEGERS[int(integer[1])]
    raise LayoutError(
        f"element type '{keyword}' has no storage format; supported are {SUPPORTED_SCALARS}"
    )


PARTS = ("real", "imag")
"""The two real tensors that a complex one becomes; their names end in these, behind a point."""
