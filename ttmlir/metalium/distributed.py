"""The names of `tt_metal::distributed`: meshes of devices.

Source: tt-metal, tt_metal/api/tt-metalium/distributed.hpp and others. Names are loaded on first
use.
"""

from typing import TYPE_CHECKING

from ttmlir.metalium.names import load_names

if TYPE_CHECKING:
    from ttmlir.metalium.host_api import (
        EnqueueRecordEvent,
        EnqueueWaitForEvent,
        EventQuery,
        EventSynchronize,
        Finish,
    )
    from ttmlir.metalium.host_sockets import D2HSocket, H2DMode, H2DSocket
    from ttmlir.metalium.meshes import (
        AddProgramToMeshWorkload,
        BufferShardingArgs,
        CreateMeshWorkload,
        DeviceLocalBufferConfig,
        EnqueueMeshWorkload,
        EnqueueReadMeshBuffer,
        EnqueueRecordEventToHost,
        EnqueueWriteMeshBuffer,
        MeshBuffer,
        MeshCommandQueue,
        MeshCoordinate,
        MeshCoordinateRange,
        MeshDevice,
        MeshDeviceConfig,
        MeshEvent,
        MeshShape,
        MeshWorkload,
        ReadShard,
        ReplicatedBufferConfig,
        ShardDataTransfer,
        ShardedBufferConfig,
        Synchronize,
        WriteShard,
    )
    from ttmlir.metalium.sockets import (
        MeshCoreCoord,
        MeshSocket,
        SocketConfig,
        SocketConnection,
        SocketEndpoint,
        SocketMemoryConfig,
        create_socket_pair,
    )

_HOMES = {
    "ttmlir.metalium.meshes": (
        "MeshDevice",
        "MeshDeviceConfig",
        "BufferShardingArgs",
        "DeviceLocalBufferConfig",
        "MeshBuffer",
        "ReplicatedBufferConfig",
        "ShardedBufferConfig",
        "MeshCoordinate",
        "MeshCoordinateRange",
        "MeshShape",
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
    "ttmlir.metalium.host_sockets": ("D2HSocket", "H2DMode", "H2DSocket"),
    "ttmlir.metalium.sockets": (
        "MeshCoreCoord",
        "MeshSocket",
        "SocketConfig",
        "SocketConnection",
        "SocketEndpoint",
        "SocketMemoryConfig",
        "create_socket_pair",
    ),
    "ttmlir.metalium.host_api": (
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
    "D2HSocket",
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
    "H2DMode",
    "H2DSocket",
    "MeshBuffer",
    "MeshCommandQueue",
    "MeshCoordinate",
    "MeshCoordinateRange",
    "MeshCoreCoord",
    "MeshDevice",
    "MeshDeviceConfig",
    "MeshEvent",
    "MeshShape",
    "MeshSocket",
    "MeshWorkload",
    "ReadShard",
    "ReplicatedBufferConfig",
    "ShardDataTransfer",
    "ShardedBufferConfig",
    "SocketConfig",
    "SocketConnection",
    "SocketEndpoint",
    "SocketMemoryConfig",
    "Synchronize",
    "WriteShard",
    "create_socket_pair",
]

__getattr__ = load_names(__name__, _HOMES)


def __dir__() -> list[str]:
    """Public names, those that are not loaded yet included."""
    return sorted({*globals(), *__all__})
