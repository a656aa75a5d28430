"""Dialect `ttcore`: what the direct-to-metal path knows of devices beyond dialect `tt`.

    tensor = metal_tensor_type((512, 256), TileType.of(bf16), MemorySpace.DEVICE_L1, (8, 8))
    device_layout_of(tensor).shard_shape          # (2, 1)
    memref_type_of(tensor)                        # memref<8x8x2x1x..., #ttcore.shard<..>, #l1>

`ttcore` is also the later name of `tt`: tiles, grids, memory spaces, devices and data types are the
classes of `ttmlir.dialects.tt` under either prefix (`ttmlir/mlir/syntax/core_prefix.py`).
"""

from __future__ import annotations

from typing import cast

from xdsl.ir import Dialect, Operation

from ttmlir.dialects.ttcore.keywords import MeshShardDirectionAttr, MeshShardTypeAttr
from ttmlir.dialects.ttcore.memref_layouts import (
    DeviceLayout,
    DeviceLayoutAttr,
    HostLayoutAttr,
    InterleavedLayoutAttr,
    ShardLayoutAttr,
    TensorMeshAttr,
    ViewLayoutAttr,
    device_layout_of,
    is_remote,
    memory_space_of,
    memref_type_of,
    scalar_shape,
    shard_type_of,
)
from ttmlir.dialects.ttcore.metal_layout import (
    MetalLayoutAttr,
    metal_layout_of,
    metal_tensor_type,
    metal_tile_type,
)
from ttmlir.dialects.ttcore.structure import (
    STRUCTURE_OPS,
    CpuModuleOp,
    DeviceModuleOp,
    DeviceOp,
    device_of,
)

__all__ = [
    "TTCORE",
    "CpuModuleOp",
    "DeviceLayout",
    "DeviceLayoutAttr",
    "DeviceModuleOp",
    "DeviceOp",
    "HostLayoutAttr",
    "InterleavedLayoutAttr",
    "MeshShardDirectionAttr",
    "MeshShardTypeAttr",
    "MetalLayoutAttr",
    "ShardLayoutAttr",
    "TensorMeshAttr",
    "ViewLayoutAttr",
    "device_layout_of",
    "device_of",
    "is_remote",
    "memory_space_of",
    "memref_type_of",
    "metal_layout_of",
    "metal_tensor_type",
    "metal_tile_type",
    "scalar_shape",
    "shard_type_of",
]

TTCORE = Dialect(
    "ttcore",
    cast("list[type[Operation]]", list(STRUCTURE_OPS)),
    [
        HostLayoutAttr,
        InterleavedLayoutAttr,
        MeshShardDirectionAttr,
        MeshShardTypeAttr,
        MetalLayoutAttr,
        ShardLayoutAttr,
        TensorMeshAttr,
        ViewLayoutAttr,
    ],
)
"""The dialect, for an xDSL context."""
