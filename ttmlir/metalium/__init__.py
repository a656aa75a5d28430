"""TT-Metalium's host API in Python, for programs that run on simulated devices.

Names are those of tt-metal's C++ headers (tt_metal/api/tt-metalium/host_api.hpp and others); its
namespaces `distributed`, `detail` and `experimental` are modules. All are loaded on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ttmlir.metalium.names import NAMESPACES, load_names

if TYPE_CHECKING:
    from ttmlir.layout.enums import MathFidelity
    from ttmlir.metalium import detail, distributed, experimental
    from ttmlir.metalium.arguments import (
        GetCommonRuntimeArgs,
        GetRuntimeArgs,
        RuntimeArgsData,
        SetCommonRuntimeArgs,
        SetRuntimeArgs,
    )
    from ttmlir.metalium.buffers import ArgConfig, Buffer, BufferRegion, TensorAccessorArgs
    from ttmlir.metalium.circular_buffers import (
        CircularBufferConfig,
        CreateCircularBuffer,
        GetCircularBufferConfig,
        UpdateCircularBufferPageSize,
        UpdateCircularBufferTotalSize,
        UpdateDynamicCircularBufferAddress,
        UpdateDynamicCircularBufferAddressAndTotalSize,
    )
    from ttmlir.metalium.configs import (
        ComputeConfig,
        DataMovementConfig,
        InterleavedBufferConfig,
        ReaderDataMovementConfig,
        ShardedBufferConfig,
        ShardSpecBuffer,
        WriterDataMovementConfig,
    )
    from ttmlir.metalium.cores import CoreCoord, CoreRange, CoreRangeSet
    from ttmlir.metalium.device import Device
    from ttmlir.metalium.enums import (
        FACE_HEIGHT,
        FACE_HW,
        FACE_WIDTH,
        NOC,
        NOC_MODE,
        TILE_HEIGHT,
        TILE_HW,
        TILE_WIDTH,
        BufferType,
        CBIndex,
        DataFormat,
        DataMovementProcessor,
        KernelBuildOptLevel,
        ShardOrientation,
        TensorMemoryLayout,
        UnpackToDestMode,
        tile_size,
    )
    from ttmlir.metalium.errors import MetaliumError
    from ttmlir.metalium.global_semaphores import CreateGlobalSemaphore, GlobalSemaphore
    from ttmlir.metalium.host_api import (
        CloseDevice,
        CreateBuffer,
        CreateDevice,
        CreateKernel,
        CreateKernelFromString,
        CreateProgram,
        CreateSemaphore,
        DeallocateBuffer,
    )
    from ttmlir.metalium.queues import (
        EnqueueProgram,
        EnqueueReadBuffer,
        EnqueueReadSubBuffer,
        EnqueueRecordEvent,
        EnqueueWaitForEvent,
        EnqueueWriteBuffer,
        EnqueueWriteSubBuffer,
        Event,
        EventQuery,
        EventSynchronize,
        Finish,
    )
    from ttmlir.metalium.tile_data import (
        check_bfloat16_vector_pcc,
        create_constant_vector_of_bfloat16,
        create_random_vector_of_bfloat16,
        pack_bfloat16,
        pack_bfloat16_vec_into_uint32_vec,
        pack_tiles,
        pack_two_bfloat16_into_uint32,
        tilize_nfaces,
        unpack_bfloat16,
        unpack_tiles,
        unpack_uint32_vec_into_bfloat16_vec,
        untilize_nfaces,
    )
    from ttmlir.metalium.work_split import (
        corerange_to_cores,
        grid_to_cores,
        num_cores_to_corerangeset,
        num_cores_to_corerangeset_in_subcoregrids,
        select_from_corerangeset,
        split_work_to_cores,
    )
    from ttmlir.sim.execution.program import Program

_HOMES = {
    "ttmlir.layout.enums": ("MathFidelity",),
    "ttmlir.metalium.arguments": (
        "GetCommonRuntimeArgs",
        "GetRuntimeArgs",
        "RuntimeArgsData",
        "SetCommonRuntimeArgs",
        "SetRuntimeArgs",
    ),
    "ttmlir.metalium.buffers": (
        "ArgConfig",
        "Buffer",
        "BufferRegion",
        "TensorAccessorArgs",
    ),
    "ttmlir.metalium.circular_buffers": (
        "CircularBufferConfig",
        "CreateCircularBuffer",
        "GetCircularBufferConfig",
        "UpdateCircularBufferPageSize",
        "UpdateCircularBufferTotalSize",
        "UpdateDynamicCircularBufferAddress",
        "UpdateDynamicCircularBufferAddressAndTotalSize",
    ),
    "ttmlir.metalium.configs": (
        "ComputeConfig",
        "DataMovementConfig",
        "InterleavedBufferConfig",
        "ReaderDataMovementConfig",
        "ShardSpecBuffer",
        "ShardedBufferConfig",
        "WriterDataMovementConfig",
    ),
    "ttmlir.metalium.cores": (
        "CoreCoord",
        "CoreRange",
        "CoreRangeSet",
    ),
    "ttmlir.metalium.device": ("Device",),
    "ttmlir.metalium.enums": (
        "BufferType",
        "CBIndex",
        "DataFormat",
        "DataMovementProcessor",
        "FACE_HEIGHT",
        "FACE_HW",
        "FACE_WIDTH",
        "KernelBuildOptLevel",
        "NOC",
        "NOC_MODE",
        "ShardOrientation",
        "TILE_HEIGHT",
        "TILE_HW",
        "TILE_WIDTH",
        "TensorMemoryLayout",
        "UnpackToDestMode",
        "tile_size",
    ),
    "ttmlir.metalium.errors": ("MetaliumError",),
    "ttmlir.metalium.global_semaphores": (
        "CreateGlobalSemaphore",
        "GlobalSemaphore",
    ),
    "ttmlir.metalium.host_api": (
        "CloseDevice",
        "CreateBuffer",
        "CreateDevice",
        "CreateKernel",
        "CreateKernelFromString",
        "CreateProgram",
        "CreateSemaphore",
        "DeallocateBuffer",
    ),
    "ttmlir.metalium.queues": (
        "EnqueueProgram",
        "EnqueueReadBuffer",
        "EnqueueReadSubBuffer",
        "EnqueueRecordEvent",
        "EnqueueWaitForEvent",
        "EnqueueWriteBuffer",
        "EnqueueWriteSubBuffer",
        "Event",
        "EventQuery",
        "EventSynchronize",
        "Finish",
    ),
    "ttmlir.metalium.tile_data": (
        "check_bfloat16_vector_pcc",
        "create_constant_vector_of_bfloat16",
        "create_random_vector_of_bfloat16",
        "pack_bfloat16",
        "pack_bfloat16_vec_into_uint32_vec",
        "pack_tiles",
        "pack_two_bfloat16_into_uint32",
        "tilize_nfaces",
        "unpack_bfloat16",
        "unpack_tiles",
        "unpack_uint32_vec_into_bfloat16_vec",
        "untilize_nfaces",
    ),
    "ttmlir.metalium.work_split": (
        "corerange_to_cores",
        "grid_to_cores",
        "num_cores_to_corerangeset",
        "num_cores_to_corerangeset_in_subcoregrids",
        "select_from_corerangeset",
        "split_work_to_cores",
    ),
    "ttmlir.sim.execution.program": ("Program",),
}

__all__ = [
    "FACE_HEIGHT",
    "FACE_HW",
    "FACE_WIDTH",
    "NOC",
    "NOC_MODE",
    "TILE_HEIGHT",
    "TILE_HW",
    "TILE_WIDTH",
    "ArgConfig",
    "Buffer",
    "BufferRegion",
    "BufferType",
    "CBIndex",
    "CircularBufferConfig",
    "CloseDevice",
    "ComputeConfig",
    "CoreCoord",
    "CoreRange",
    "CoreRangeSet",
    "CreateBuffer",
    "CreateCircularBuffer",
    "CreateDevice",
    "CreateGlobalSemaphore",
    "CreateKernel",
    "CreateKernelFromString",
    "CreateProgram",
    "CreateSemaphore",
    "DataFormat",
    "DataMovementConfig",
    "DataMovementProcessor",
    "DeallocateBuffer",
    "Device",
    "EnqueueProgram",
    "EnqueueReadBuffer",
    "EnqueueReadSubBuffer",
    "EnqueueRecordEvent",
    "EnqueueWaitForEvent",
    "EnqueueWriteBuffer",
    "EnqueueWriteSubBuffer",
    "Event",
    "EventQuery",
    "EventSynchronize",
    "Finish",
    "GetCircularBufferConfig",
    "GetCommonRuntimeArgs",
    "GetRuntimeArgs",
    "GlobalSemaphore",
    "InterleavedBufferConfig",
    "KernelBuildOptLevel",
    "MathFidelity",
    "MetaliumError",
    "Program",
    "ReaderDataMovementConfig",
    "RuntimeArgsData",
    "SetCommonRuntimeArgs",
    "SetRuntimeArgs",
    "ShardOrientation",
    "ShardSpecBuffer",
    "ShardedBufferConfig",
    "TensorAccessorArgs",
    "TensorMemoryLayout",
    "UnpackToDestMode",
    "UpdateCircularBufferPageSize",
    "UpdateCircularBufferTotalSize",
    "UpdateDynamicCircularBufferAddress",
    "UpdateDynamicCircularBufferAddressAndTotalSize",
    "WriterDataMovementConfig",
    "check_bfloat16_vector_pcc",
    "corerange_to_cores",
    "create_constant_vector_of_bfloat16",
    "create_random_vector_of_bfloat16",
    "detail",
    "distributed",
    "experimental",
    "grid_to_cores",
    "num_cores_to_corerangeset",
    "num_cores_to_corerangeset_in_subcoregrids",
    "pack_bfloat16",
    "pack_bfloat16_vec_into_uint32_vec",
    "pack_tiles",
    "pack_two_bfloat16_into_uint32",
    "select_from_corerangeset",
    "split_work_to_cores",
    "tile_size",
    "tilize_nfaces",
    "unpack_bfloat16",
    "unpack_tiles",
    "unpack_uint32_vec_into_bfloat16_vec",
    "untilize_nfaces",
]

_load = load_names(__name__, _HOMES)


def __getattr__(name: str) -> object:
    """Load a public name, or a namespace, from the module that defines it."""
    if name in NAMESPACES:
        return import_module(f"{__name__}.{name}")
    return _load(name)


def __dir__() -> list[str]:
    """Public names, those that are not loaded yet included."""
    return sorted({*globals(), *__all__})
