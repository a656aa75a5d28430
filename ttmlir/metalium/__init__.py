"""TT-Metalium's host API in Python, for programs that run on simulated devices.

Names are those of tt-metal's C++ headers (tt_metal/api/tt-metalium/host_api.hpp and others).
"""

from ttmlir.layout.enums import MathFidelity
from ttmlir.metalium.buffers import Buffer, TensorAccessorArgs
from ttmlir.metalium.configs import (
    CircularBufferConfig,
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
    NOC,
    BufferType,
    CBIndex,
    DataFormat,
    DataMovementProcessor,
    ShardOrientation,
    TensorMemoryLayout,
    UnpackToDestMode,
    tile_size,
)
from ttmlir.metalium.errors import MetaliumError
from ttmlir.metalium.host_api import (
    CloseDevice,
    CreateBuffer,
    CreateCircularBuffer,
    CreateDevice,
    CreateKernel,
    CreateKernelFromString,
    CreateProgram,
    CreateSemaphore,
    DeallocateBuffer,
    EnqueueProgram,
    EnqueueReadBuffer,
    EnqueueWriteBuffer,
    Finish,
    GetRuntimeArgs,
    SetCommonRuntimeArgs,
    SetRuntimeArgs,
)
from ttmlir.metalium.tile_data import (
    pack_bfloat16,
    pack_bfloat16_vec_into_uint32_vec,
    pack_tiles,
    tilize_nfaces,
    unpack_bfloat16,
    unpack_tiles,
    unpack_uint32_vec_into_bfloat16_vec,
    untilize_nfaces,
)
from ttmlir.metalium.work_split import num_cores_to_corerangeset, split_work_to_cores
from ttmlir.sim.execution.program import Program

__all__ = [
    "NOC",
    "Buffer",
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
    "EnqueueWriteBuffer",
    "Finish",
    "GetRuntimeArgs",
    "InterleavedBufferConfig",
    "MathFidelity",
    "MetaliumError",
    "Program",
    "ReaderDataMovementConfig",
    "SetCommonRuntimeArgs",
    "SetRuntimeArgs",
    "ShardOrientation",
    "ShardSpecBuffer",
    "ShardedBufferConfig",
    "TensorAccessorArgs",
    "TensorMemoryLayout",
    "UnpackToDestMode",
    "WriterDataMovementConfig",
    "num_cores_to_corerangeset",
    "pack_bfloat16",
    "pack_bfloat16_vec_into_uint32_vec",
    "pack_tiles",
    "split_work_to_cores",
    "tile_size",
    "tilize_nfaces",
    "unpack_bfloat16",
    "unpack_tiles",
    "unpack_uint32_vec_into_bfloat16_vec",
    "untilize_nfaces",
]
