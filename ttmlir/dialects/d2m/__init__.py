"""Dialect `d2m`: programs for the cores of a chip, before they are kernels (direct to metal).

    tensor = metal_tensor_type((512, 256), TileType.of(bf16), MemorySpace.DEVICE_L1, (8, 8))
    out = EmptyOp.of(tensor)
    generic = GenericOp.of([a], [out.results[0]], [map, map], [PARALLEL] * 2, [ThreadKind.COMPUTE])
    generic.layouts[0].shard_shape, generic.block_factors, generic.cb(0)

A tensor is divided over a grid (`ttmlir.dialects.ttcore`); a `d2m.generic` runs its regions on each
core, on blocks of its operands that come through circular buffers. Textual forms and messages are
those of tt-mlir of 2025-10-29, and of 2026 (`late.py`) where a text has them.
"""

from __future__ import annotations

from typing import cast

from xdsl.ir import Dialect, Operation

from ttmlir.dialects.d2m.gathered import Box, GatherPlaces, bounce_tiles
from ttmlir.dialects.d2m.generic import GenericOp, YieldOp
from ttmlir.dialects.d2m.late import LATE_OPS, RemoteLoadOp, RemoteStoreOp
from ttmlir.dialects.d2m.movement import (
    MOVEMENT_OPS,
    AllGatherOp,
    CoreIndexOp,
    DMAOp,
    DMAReadOp,
    DMAWaitOp,
    DMAWriteOp,
    GetGlobalOperandOp,
    IterIndexOp,
    NullTxOp,
    ReserveOp,
    SemaphoreIncOp,
    SemaphoreSetOp,
    SemaphoreWaitOp,
    StoreOp,
    WaitOp,
)
from ttmlir.dialects.d2m.structure import (
    ATTRIBUTES,
    KERNEL_THREAD,
    STRUCTURE_OPS,
    BroadcastKind,
    BroadcastKindAttr,
    CBType,
    ComputeOp,
    D2MOp,
    DataMovementOp,
    EmptyOp,
    FullOp,
    Gather,
    LayoutChanges,
    MemTxType,
    MeshShardOp,
    ReduceDim,
    ReduceDimAttr,
    SemaphoreType,
    StreamLayoutOp,
    Thread,
    ThreadAttr,
    ThreadKind,
    ToLayoutOp,
    ViewElementsOp,
    ViewLayoutOp,
    ViewNumberedOp,
    buffer_of_view,
    memory_of,
)
from ttmlir.dialects.d2m.tiles import (
    ELEMENTWISE_OPS,
    EXACT,
    TILE_OPS,
    AcquireDstOp,
    CombiningTileOp,
    DstReinterpretCastOp,
    ElementwiseTileOp,
    PackerMaskResetOp,
    TileBcastOp,
    TileFillOp,
    TileMaskOp,
    TileMatmulBlockOp,
    TileMatmulOp,
    TileOp,
    TileReduceMaxOp,
    TileReduceSumOp,
    TileTilizeBlockOp,
    TileTransposeOp,
    TileUntilizeBlockOp,
    tile_op,
    tile_op_of,
)

__all__ = [
    "D2M",
    "ELEMENTWISE_OPS",
    "EXACT",
    "KERNEL_THREAD",
    "AcquireDstOp",
    "AllGatherOp",
    "Box",
    "BroadcastKind",
    "BroadcastKindAttr",
    "CBType",
    "CombiningTileOp",
    "ComputeOp",
    "CoreIndexOp",
    "D2MOp",
    "DMAOp",
    "DMAReadOp",
    "DMAWaitOp",
    "DMAWriteOp",
    "DataMovementOp",
    "DstReinterpretCastOp",
    "ElementwiseTileOp",
    "EmptyOp",
    "FullOp",
    "Gather",
    "GatherPlaces",
    "GenericOp",
    "GetGlobalOperandOp",
    "IterIndexOp",
    "LayoutChanges",
    "MemTxType",
    "MeshShardOp",
    "NullTxOp",
    "PackerMaskResetOp",
    "ReduceDim",
    "ReduceDimAttr",
    "RemoteLoadOp",
    "RemoteStoreOp",
    "ReserveOp",
    "SemaphoreIncOp",
    "SemaphoreSetOp",
    "SemaphoreType",
    "SemaphoreWaitOp",
    "StoreOp",
    "StreamLayoutOp",
    "Thread",
    "ThreadAttr",
    "ThreadKind",
    "TileBcastOp",
    "TileFillOp",
    "TileMaskOp",
    "TileMatmulBlockOp",
    "TileMatmulOp",
    "TileOp",
    "TileReduceMaxOp",
    "TileReduceSumOp",
    "TileTilizeBlockOp",
    "TileTransposeOp",
    "TileUntilizeBlockOp",
    "ToLayoutOp",
    "ViewElementsOp",
    "ViewLayoutOp",
    "ViewNumberedOp",
    "WaitOp",
    "YieldOp",
    "bounce_tiles",
    "buffer_of_view",
    "memory_of",
    "tile_op",
    "tile_op_of",
]

OPERATIONS = (
    *STRUCTURE_OPS,
    GenericOp,
    YieldOp,
    *MOVEMENT_OPS,
    *TILE_OPS,
    *LATE_OPS,
)
"""Every operation of the dialect."""

D2M = Dialect("d2m", cast("list[type[Operation]]", list(OPERATIONS)), list(ATTRIBUTES))
"""The dialect, for an xDSL context."""
