"""Enumerations of ttnn, with the numbers that ttnn gives them.

Source: tt-metal, ttnn/api/ttnn/types.hpp and tensor/types.hpp.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from ttmlir.layout.enums import DataType as StorageType
from ttmlir.metalium.enums import NamedNumber


class DataType(NamedNumber):
    """What the numbers of a tensor are."""

    BFLOAT16 = 0
    FLOAT32 = 1
    UINT32 = 2
    BFLOAT8_B = 3
    BFLOAT4_B = 4
    UINT8 = 5
    UINT16 = 6
    INT32 = 7
    INVALID = 8

    @property
    def facts(self) -> DataTypeFacts:
        """How the numbers are kept."""
        return _FACTS[self]


class DataTypeFacts(NamedTuple):
    """How the numbers of a data type are kept."""

    storage: StorageType
    """The format as the rest of the project names it."""
    compute: str
    """NumPy's name of the type that operations compute in."""
    element_bytes: int
    """Bytes of a number of a row-major tensor; 0 for block floats, which only come in tiles."""

    @property
    def is_float(self) -> bool:
        """True for floating point and block floats."""
        return self.compute == "float32"

    @property
    def is_block(self) -> bool:
        """True for block floats."""
        return self.element_bytes == 0


_FACTS = {
    DataType.BFLOAT16: DataTypeFacts(StorageType.BF16, "float32", 2),
    DataType.FLOAT32: DataTypeFacts(StorageType.F32, "float32", 4),
    DataType.UINT32: DataTypeFacts(StorageType.U32, "uint32", 4),
    DataType.BFLOAT8_B: DataTypeFacts(StorageType.BFP_BF8, "float32", 0),
    DataType.BFLOAT4_B: DataTypeFacts(StorageType.BFP_BF4, "float32", 0),
    DataType.UINT8: DataTypeFacts(StorageType.U8, "uint8", 1),
    DataType.UINT16: DataTypeFacts(StorageType.U16, "uint16", 2),
    DataType.INT32: DataTypeFacts(StorageType.U32, "int32", 4),
}


class Layout(NamedNumber):
    """Whether a tensor is kept row by row or tile by tile."""

    ROW_MAJOR = 0
    TILE = 1
    INVALID = 2


class SparseKVFormat(NamedNumber):
    """How a cache keeps keys and values, for attention to rows that indices name."""

    BF16 = 0
    FP8_E4M3 = 1
    SCALED_FP8 = 2


class ChunkGdnWyInverse(NamedNumber):
    """How a card inverts the triangle of a chunk, of the gated delta rule."""

    AUTO = 0
    HORNER = 1
    FORWARD_SUBSTITUTION = 2


class StorageKind(NamedNumber):
    """Where a tensor is."""

    HOST = 0
    DEVICE = 1


class ShardStrategy(Enum):
    """How `create_sharded_memory_config` cuts a tensor."""

    HEIGHT = 1
    WIDTH = 2
    BLOCK = 3


class GeluVariant(NamedNumber):
    """How a card computes gelu; here all but `Tanh` are exact."""

    Accurate = 0
    FastLut = 1
    Tanh = 2


class ShardShapeAlignment(NamedNumber):
    """Whether the shape of shards is rounded up."""

    NONE = 0
    REQUIRED = 1
    RECOMMENDED = 2


class ShardDistributionStrategy(NamedNumber):
    """In which order shards are dealt to cores."""

    ROUND_ROBIN_1D = 0
    GRID_2D = 1


class ReduceType(NamedNumber):
    """Kinds of reductions."""

    Sum = 0
    Mean = 1
    Max = 2
    Min = 3
    Std = 4
    Var = 5


class BcastOpMath(NamedNumber):
    """What `bcast` computes."""

    ADD = 0
    SUB = 1
    MUL = 2


class BcastOpDim(NamedNumber):
    """Along which dimensions `bcast` repeats its second operand."""

    H = 0
    W = 1
    HW = 2


class EmbeddingsType(NamedNumber):
    """Kinds of tables of `embedding`."""

    GENERIC = 0
    PADDED = 1
    BINARY = 2


class LossReductionMode(NamedNumber):
    """What losses do with the errors of all elements."""

    NONE = 0
    MEAN = 1
    SUM = 2


class NOC_MODE(NamedNumber):
    """Whether a processor keeps to one network."""

    DM_DEDICATED_NOC = 0
    DM_DYNAMIC_NOC = 1


class CoreType(NamedNumber):
    """Kinds of cores."""

    WORKER = 0
    ETH = 1


class MathFidelity(NamedNumber):
    """Passes of the matrix unit over the bits of its operands."""

    LoFi = 0
    HiFi2 = 2
    HiFi3 = 3
    HiFi4 = 4
    Invalid = 255


class ThrottleLevel(NamedNumber):
    """How much matrix products are slowed down to save power."""

    NO_THROTTLE = 0
    LEVEL_1 = 1
    LEVEL_2 = 2
    LEVEL_3 = 3
    LEVEL_4 = 4
    LEVEL_5 = 5


class TileReshapeMapMode(NamedNumber):
    """Whether a card keeps the table by which `reshape` moves tiles."""

    CACHE = 0
    RECREATE = 1


class Topology(NamedNumber):
    """How the chips of a mesh are linked."""

    Ring = 0
    Linear = 1
    Mesh = 2
    Torus = 3
