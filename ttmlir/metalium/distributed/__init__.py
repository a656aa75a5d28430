"""The names of `tt_metal::distributed`: meshes of devices, which have one device here.

Source: tt-metal, tt_metal/api/tt-metalium/distributed.hpp and others. Names are loaded on first
use.
"""

from typing import TYPE_CHECKING

from ttmlir.metalium.names import load_names

if TYPE_CHECKING:
    from ttmlir.metalium.distributed.devices import MeshDevice, MeshDeviceConfig
    from ttmlir.metalium.distributed.mesh_buffers import (
        BufferShardingArgs,
        DeviceLocalBufferConfig,
        MeshBuffer,
        ReplicatedBufferConfig,
        ShardedBufferConfig,
    )
    from ttmlir.metalium.distributed.shapes import MeshCoordinate, MeshCoordinateRange, MeshShape
    from ttmlir.metalium.distributed.workloads import (
        AddProgramToMeshWorkload,
        CreateMeshWorkload,
        EnqueueMeshWorkload,
        EnqueueReadMeshBuffer,
        EnqueueRecordEventToHost,
        EnqueueWriteMeshBuffer,
        MeshCommandQueue,
        MeshEvent,
        MeshWorkload,
        ReadShard,
        ShardDataTransfer,
        Synchronize,
        WriteShard,
    )
    from ttmlir.metalium.queues import (
        EnqueueRecordEvent,
        EnqueueWaitForEvent,
        EventQuery,
        EventSynchronize,
        Finish,
    )

_HOMES = {
    "ttmlir.metalium.distributed.devices": (
        "MeshDevice",
        "MeshDeviceConfig",
    ),
    "ttmlir.metalium.distributed.mesh_buffers": (
        "BufferShardingArgs",
        "DeviceLocalBufferConfig",
        "MeshBuffer",
        "ReplicatedBufferConfig",
        "ShardedBufferConfig",
    ),
    "ttmlir.metalium.distributed.shapes": (
        "MeshCoordinate",
        "MeshCoordinateRange",
        "MeshShape",
    ),
    "ttmlir.metalium.distributed.workloads": (
        "AddProgramToMeshWorkload",
        "CreateMeshWorkload",
        "EnqueueMeshWorkload",
        "EnqueueReadMeshBuffer",
        "EnqueueRecordEventToHost",
        "EnqueueWriteMeshBuffer",
        "MeshCommandQueue",
        "MeshEvent",
        "MeshWorkload",
        "ReadShard",
        "ShardDataTransfer",
        "Synchronize",
        "WriteShard",
    ),
    "ttmlir.metalium.queues": (
        "EnqueueRecordEvent",
        "EnqueueWaitForEvent",
        "EventQuery",
        "EventSynchronize",
        "Finish",
    ),
}

__all__ = [
    "AddProgramToMeshWorkload",
    "BufferShardingArgs",
    "CreateMeshWorkload",
    "DeviceLocalBufferConfig",
    "EnqueueMeshWorkload",
    "EnqueueReadMeshBuffer",
    "EnqueueRecordEvent",
    "EnqueueRecordEventToHost",
    "EnqueueWaitForEvent",
    "EnqueueWriteMeshBuffer",
    "EventQuery",
    "EventSynchronize",
    "Finish",
    "MeshBuffer",
    "MeshCommandQueue",
    "MeshCoordinate",
    "MeshCoordinateRange",
    "MeshDevice",
    "MeshDeviceConfig",
    "MeshEvent",
    "MeshShape",
    "MeshWorkload",
    "ReadShard",
    "ReplicatedBufferConfig",
    "ShardDataTransfer",
    "ShardedBufferConfig",
    "Synchronize",
    "WriteShard",
]

__getattr__ = load_names(__name__, _HOMES)


def __dir__() -> list[str]:
    """Public names, those that are not loaded yet included."""
    return sorted({*globals(), *__all__})
