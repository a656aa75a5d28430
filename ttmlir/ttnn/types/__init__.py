"""Types of ttnn: enumerations, shapes, memory configurations, specifications."""

from ttmlir.metalium.cores import CoreCoord, CoreRange, CoreRangeSet
from ttmlir.metalium.enums import BufferType, ShardOrientation, TensorMemoryLayout
from ttmlir.ttnn.namespace import all_names
from ttmlir.ttnn.types.enums import DataType, Layout, MathFidelity, ShardStrategy
from ttmlir.ttnn.types.memory import (
    DRAM_MEMORY_CONFIG,
    L1_MEMORY_CONFIG,
    CoreGrid,
    MemoryConfig,
    Shape,
    ShardSpec,
)

__getattr__ = all_names("types")

__all__ = [
    "DRAM_MEMORY_CONFIG",
    "L1_MEMORY_CONFIG",
    "BufferType",
    "CoreCoord",
    "CoreGrid",
    "CoreRange",
    "CoreRangeSet",
    "DataType",
    "Layout",
    "MathFidelity",
    "MemoryConfig",
    "Shape",
    "ShardOrientation",
    "ShardSpec",
    "ShardStrategy",
    "TensorMemoryLayout",
]
