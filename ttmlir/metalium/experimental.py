"""The names of `tt_metal::experimental`: Metal 2.0, whose kernels know everything by names.

Also global circular buffers.

Source: tt-metal of late 2026, tt-metalium/experimental/metal2_host_api. Names are loaded on first
use.
"""

from typing import TYPE_CHECKING

from ttmlir.metalium.names import load_names

if TYPE_CHECKING:
    from ttmlir.metalium.global_buffers import (
        CreateCircularBuffer,
        CreateGlobalCircularBuffer,
        GlobalCircularBuffer,
    )
    from ttmlir.metalium.program_specs import (
        AddRuntimeArgsForNode,
        CompilerOptions,
        ComputeHardwareConfig,
        DataflowBufferAdvancedOptions,
        DataflowBufferSpec,
        DataMovement1XXConfig,
        DataMovementHardwareConfig,
        DFBBinding,
        DFBEndpointType,
        KernelAdvancedOptions,
        KernelRunAdvancedArgs,
        KernelRunArgs,
        KernelSpec,
        MakeProgramFromSpec,
        ProgramRunArgs,
        ProgramSpec,
        RuntimeArgSchema,
        SemaphoreBinding,
        SemaphoreSpec,
        SetProgramRunArgs,
        TensorArgument,
        TensorBinding,
        TensorParameter,
        WorkUnitSpec,
        create_reader_datamovement_config,
        create_writer_datamovement_config,
    )

_HOMES = {
    "ttmlir.metalium.global_buffers": (
        "CreateCircularBuffer",
        "CreateGlobalCircularBuffer",
        "GlobalCircularBuffer",
    ),
    "ttmlir.metalium.program_specs": (
        "MakeProgramFromSpec",
        "SetProgramRunArgs",
        "AddRuntimeArgsForNode",
        "CompilerOptions",
        "ComputeHardwareConfig",
        "DFBBinding",
        "DFBEndpointType",
        "DataMovement1XXConfig",
        "DataMovementHardwareConfig",
        "DataflowBufferAdvancedOptions",
        "DataflowBufferSpec",
        "KernelAdvancedOptions",
        "KernelRunAdvancedArgs",
        "KernelRunArgs",
        "KernelSpec",
        "ProgramRunArgs",
        "ProgramSpec",
        "RuntimeArgSchema",
        "SemaphoreBinding",
        "SemaphoreSpec",
        "TensorArgument",
        "TensorBinding",
        "TensorParameter",
        "WorkUnitSpec",
        "create_reader_datamovement_config",
        "create_writer_datamovement_config",
    ),
}

__all__ = [
    "AddRuntimeArgsForNode",
    "CompilerOptions",
    "ComputeHardwareConfig",
    "CreateCircularBuffer",
    "CreateGlobalCircularBuffer",
    "DFBBinding",
    "DFBEndpointType",
    "DataMovement1XXConfig",
    "DataMovementHardwareConfig",
    "DataflowBufferAdvancedOptions",
    "DataflowBufferSpec",
    "GlobalCircularBuffer",
    "KernelAdvancedOptions",
    "KernelRunAdvancedArgs",
    "KernelRunArgs",
    "KernelSpec",
    "MakeProgramFromSpec",
    "ProgramRunArgs",
    "ProgramSpec",
    "RuntimeArgSchema",
    "SemaphoreBinding",
    "SemaphoreSpec",
    "SetProgramRunArgs",
    "TensorArgument",
    "TensorBinding",
    "TensorParameter",
    "WorkUnitSpec",
    "create_reader_datamovement_config",
    "create_writer_datamovement_config",
]

__getattr__ = load_names(__name__, _HOMES)


def __dir__() -> list[str]:
    """Public names, those that are not loaded yet included."""
    return sorted({*globals(), *__all__})
