"""Which module defines a name of ttnn: modules are loaded when one of their names is used."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import FunctionType
from typing import Any

from ttmlir.ttnn.errors import check_class, locate_errors, type_finders

_TYPES = "ttmlir.ttnn.types"
_TENSOR = "ttmlir.ttnn.tensor"
_DEVICE = "ttmlir.ttnn.device"
_OPERATIONS = "ttmlir.ttnn.operations"

_NAMES = {
    f"{_TYPES}.enums": (
        *("BcastOpDim", "BcastOpMath", "ChunkGdnWyInverse", "CoreType", "DataType"),
        *("EmbeddingsType", "GeluVariant", "Layout", "SparseKVFormat"),
        *("LossReductionMode", "MathFidelity", "NOC_MODE", "ReduceType"),
        *("ShardDistributionStrategy", "ShardShapeAlignment", "ShardStrategy", "ThrottleLevel"),
        *("TileReshapeMapMode", "Topology"),
    ),
    f"{_TYPES}.memory": (
        "Shape",
        *("corerange_to_cores", "grid_to_cores", "num_cores_to_corerangeset_in_subcoregrids"),
        *("CoreGrid", "MemoryConfig", "NdShardSpec", "ShardSpec"),
        *("DRAM_MEMORY_CONFIG", "L1_MEMORY_CONFIG", "L1_BLOCK_SHARDED_MEMORY_CONFIG"),
        *("L1_HEIGHT_SHARDED_MEMORY_CONFIG", "L1_WIDTH_SHARDED_MEMORY_CONFIG"),
        *("create_sharded_memory_config", "create_sharded_memory_config_"),
    ),
    f"{_TYPES}.spec": ("TensorSpec", "Tile", "element_size", "tile_size"),
    f"{_TYPES}.configs": (
        *("Conv1dConfig", "Conv2dConfig", "Conv2dDRAMSliceHeight", "Conv2dDRAMSliceWidth"),
        *("Conv2dL1Full", "Conv2dL1FullSliceConfig", "Conv2dSliceConfig", "Op2DSliceConfig"),
        *("Op2DDRAMSliceHeight", "Op2DDRAMSliceWidth", "Op2DL1Full", "Op2DL1FullSliceConfig"),
        *("BlackholeComputeKernelConfig", "DeviceComputeKernelConfig"),
        "GrayskullComputeKernelConfig",
        *("LayerNormDefaultProgramConfig", "LayerNormShardedMultiCoreProgramConfig"),
        *("MatmulMultiCoreReuseMultiCast1DProgramConfig", "MatmulMultiCoreReuseProgramConfig"),
        "MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig",
        "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig",
        "MatmulMultiCoreReuseMultiCastProgramConfig",
        *("Conv3dConfig", "IndexerScoreProgramConfig", "MinimalMatmulConfig", "SDPAProgramConfig"),
        *("ChunkGdnFusedProgramConfig", "ChunkGdnMonoProgramConfig", "ChunkGdnPhasedProgramConfig"),
        *("SoftmaxDefaultProgramConfig", "SoftmaxProgramConfig"),
        "SoftmaxShardedMultiCoreProgramConfig",
        *("WormholeComputeKernelConfig", "init_device_compute_kernel_config"),
    ),
    f"{_TENSOR}.tensor": ("Tensor",),
    f"{_TENSOR}.conversion": ("ttnn_dtype_to_torch_dtype",),
    f"{_TENSOR}.printing": ("set_printoptions",),
    "ttmlir.ttnn.operations.elementwise.activations": ("UnaryOpType", "UnaryWithParam"),
    "ttmlir.ttnn.programs.descriptors": (
        *("CBDescriptor", "CBFormatDescriptor", "ComputeConfigDescriptor"),
        *("DataMovementConfigDescriptor", "KernelDescriptor", "ProgramDescriptor"),
        "MeshProgramDescriptor",
        *("ReaderConfigDescriptor", "RuntimeArgs", "SemaphoreDescriptor", "TensorAccessorArgs"),
        *("TileDescriptor", "WriterConfigDescriptor", "cb_descriptor_from_sharded_tensor"),
    ),
    "ttmlir.ttnn.programs.fabric": (
        *("MeshId", "fabric_connection_rt_args", "fabric_connection_rt_args_size"),
        *("get_fabric_kernel_defines", "setup_fabric_connection"),
    ),
    "ttmlir.metalium.tt_fabric": (
        *("FabricNodeId", "get_tt_fabric_max_payload_size_bytes"),
        "get_tt_fabric_packet_header_size_bytes",
    ),
    "ttmlir.metalium.cores": (
        "CoreCoord",
        "CoreRange",
        "CoreRangeSet",
        "num_cores_to_corerangeset",
        "split_work_to_cores",
    ),
    "ttmlir.metalium.enums": (
        *("BufferType", "DataMovementProcessor", "NOC", "ShardOrientation", "TensorMemoryLayout"),
        "UnpackToDestMode",
    ),
    f"{_DEVICE}": ("Arch", "Device", "DispatchCoreAxis", "DispatchCoreConfig", "DispatchCoreType"),
    f"{_DEVICE}.events": (
        *("begin_trace_capture", "command_queue", "create_global_semaphore", "end_trace_capture"),
        *("event_synchronize", "execute_trace", "get_global_semaphore_address", "record_event"),
        *("release_trace", "reset_global_semaphore_value", "wait_for_event"),
    ),
    f"{_DEVICE}.reports": ("dump_device_memory_state",),
    f"{_DEVICE}.prefetching": ("create_global_circular_buffer",),
    f"{_DEVICE}.sockets": (
        *("MeshCoreCoord", "MeshSocket", "SocketConfig", "SocketConnection", "SocketMemoryConfig"),
        "create_socket_pair",
    ),
    f"{_DEVICE}.mesh": (
        *("MemoryView", "MeshDevice", "ReadDeviceProfiler", "SubDevice"),
        *("SubDeviceId", "get_memory_view"),
    ),
    "ttmlir.ttnn.configuration": (
        *("CONFIG", "dump_operations", "manage_config", "query_registered_operations"),
        *("register_post_operation_hook", "register_pre_operation_hook"),
        "register_python_operation",
    ),
    f"{_TENSOR}.distribution": (
        *("ConcatMesh2dToTensor", "ConcatMeshToTensor", "CppMeshToTensor", "CppTensorToMesh"),
        *("MeshComposerConfig", "MeshMapperConfig", "MeshToTensor", "PlacementReplicate"),
        *("PlacementShard", "ReplicateTensorToMesh", "ShardTensor2dMesh", "ShardTensorToMesh"),
        *("TensorToMesh", "TensorTopology", "concat_mesh_to_tensor_composer"),
        *("create_mesh_composer", "create_mesh_mapper", "distribute"),
        *("replicate_tensor_to_mesh_mapper", "shard_tensor_to_mesh_mapper"),
    ),
    "ttmlir.metalium.mesh_shapes": ("MeshCoordinate", "MeshCoordinateRange", "MeshShape"),
    f"{_DEVICE}.opening": (
        *("FabricConfig", "FabricReliabilityMode", "FabricTensixConfig"),
        *("close_mesh_device", "create_mesh_device", "open_mesh_device", "set_fabric_config"),
        "get_fabric_config",
        "using_distributed_env",
        *("CloseDevice", "CloseDevices", "CreateDevice", "CreateDevices", "GetDefaultDevice"),
        *("GetNumAvailableDevices", "GetNumPCIeDevices", "GetPCIeDeviceID", "SetDefaultDevice"),
        *("close_device", "get_arch_name", "get_device_ids", "get_dram_alignment"),
        *("get_l1_alignment", "get_max_worker_l1_unreserved_size", "get_num_devices"),
        *("get_num_pcie_devices", "get_pcie_device_ids", "manage_device", "open_device"),
        "synchronize_device",
    ),
}
"""Names by the modules that define them, but for operations."""

_ALIASES = {
    "bfloat16": ("DataType", "BFLOAT16"),
    "float32": ("DataType", "FLOAT32"),
    "uint32": ("DataType", "UINT32"),
    "bfloat8_b": ("DataType", "BFLOAT8_B"),
    "bfloat4_b": ("DataType", "BFLOAT4_B"),
    "uint8": ("DataType", "UINT8"),
    "uint16": ("DataType", "UINT16"),
    "int32": ("DataType", "INT32"),
    "ROW_MAJOR_LAYOUT": ("Layout", "ROW_MAJOR"),
    "TILE_LAYOUT": ("Layout", "TILE"),
    "DEVICE_STORAGE_TYPE": ("StorageKind", "DEVICE"),
    "StorageType": ("StorageKind", ""),
}
"""Members of enumerations that have names of their own."""

_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

_USUAL = (
    *(f"{_TENSOR}.conversion", f"{_TENSOR}.printing", f"{_OPERATIONS}.moves"),
    *(f"{_OPERATIONS}.elementwise.tables", f"{_OPERATIONS}.golden.functions"),
    *(f"{_OPERATIONS}.{name}" for name in ("reductions", "movement", "matmul", "normalization")),
    *(f"{_OPERATIONS}.{name}" for name in ("lookup", "losses", "ordering")),
    *(f"{_OPERATIONS}.{name}" for name in ("quantization", "window")),
    *(f"{_OPERATIONS}.meshes.collectives", f"{_OPERATIONS}.attention.transformer"),
)
"""Modules of operations that most programs use, with a table `OPERATIONS` of callables by name."""

FAMILIES = (
    *_USUAL,
    *(f"{_OPERATIONS}.{name}" for name in ("complex_numbers", "fourier", "grids")),
    *(f"{_OPERATIONS}.attention.{name}" for name in ("delta_rule", "indexed", "heads")),
    *(f"{_OPERATIONS}.{name}" for name in ("scans", "sampling", "patches")),
    *(f"{_OPERATIONS}.{name}" for name in ("parts", "products", "model_norms")),
    *(f"{_OPERATIONS}.meshes.{name}" for name in ("joined", "layers", "sockets")),
    *(f"{_OPERATIONS}.gradients.{name}" for name in ("elementwise", "movement")),
    *(f"{_OPERATIONS}.moreh.{name}" for name in ("sums", "products", "optimizers", "layers")),
    f"{_OPERATIONS}.moreh.movement",
)
"""All modules with such a table."""

_LATE_FAMILIES = {"generic_op": "ttmlir.ttnn.programs.generic"}
"""Operations whose modules are only loaded for them: the simulator of kernels is large."""


def _load(modules: tuple[str, ...]) -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = {}
    for module in modules:
        found |= import_module(module).OPERATIONS
    return found


@cache
def _usual_operations() -> dict[str, Callable[..., Any]]:
    return _load(_USUAL)


@cache
def operations() -> dict[str, Callable[..., Any]]:
    """All operations by name; a program may add its own."""
    return _load(FAMILIES)


def find_operation(name: str) -> Callable[..., Any]:
    """An operation; KeyError if there is none. Others than the usual are loaded for their names."""
    if not operations.cache_info().currsize and name in (usual := _usual_operations()):
        return usual[name]
    return operations()[name]


def find(name: str) -> Any:
    """What a name of ttnn stands for; KeyError for unknown names."""
    if name in _ALIASES:
        owner, member = _ALIASES[name]
        enums = import_module(f"{_TYPES}.enums")
        found = getattr(enums, owner)
        return found[member] if member else found
    if name in _MODULE_OF:
        found = getattr(import_module(_MODULE_OF[name]), name)
        if isinstance(found, type):
            check_class(found)
        return locate_errors(found, f"ttnn.{name}") if isinstance(found, FunctionType) else found
    if name in _LATE_FAMILIES:
        return import_module(_LATE_FAMILIES[name]).OPERATIONS[name]
    return find_operation(name)


type_finders.append(find)


def known_names() -> list[str]:
    """All names of ttnn that are here."""
    public = (name for name in operations() if name not in _INTERNAL)
    return sorted({*_ALIASES, *_MODULE_OF, *_LATE_FAMILIES, *public})


def explain_missing(name: str) -> str:
    """What to say about a name that is not here, with the nearest that are."""
    from difflib import get_close_matches

    names = get_close_matches(name, known_names(), 3, 0.5)
    if name in _NAMES_OF_TORCH:
        names = [_NAMES_OF_TORCH[name]]
    nearest = f"; nearest: {', '.join(f'ttnn.{each}' for each in names)}" if names else ""
    return f"ttnn.{name} {_find_reason(name)}{nearest}"


def _find_reason(name: str) -> str:
    """Why a name is not here."""
    for reason, listed in _REFUSED.items():
        if name in listed.split() or any(
            name.startswith(each[:-1]) for each in listed.split() if each.endswith("*")
        ):
            return reason
    return "is not here yet"


_REFUSED = {
    "is for a host that runs at the same time, in a program of its own": """
        experimental.recv_async_h2d experimental.send_async_d2h""",
    "joins an exchange between devices with what is computed; call the two operations": """
        reduce_to_root experimental.add_shared_expert_weights experimental.all_to_all_*
        experimental.dit_fused_distributed_groupnorm* experimental.halo_scatter
        experimental.llama_rs_* experimental.neighbor_pad_halo experimental.ring_*
        experimental.selective_reduce_combine transformer.ring_mla""",
    "is of one layer of experts, whose weights lie as the banks of one board want them": """
        experimental.get_moe_* experimental.get_weight_* experimental.moe_*
        experimental.prepare_w*""",
    "is about how a card places buffers, which nothing here depends on": """
        copy_host_to_device_tensor_partial
        experimental.can_use_fused_msda_from_offsets_l1_value experimental.matmul_decode
        experimental.prepare_generic_op""",
    "takes what the library's own Python alone has: tables of its profiler, functions in C++, or a "
    "graph of networkx": """
        get_all_programs_perf_data register_cpp_operation tracer.get_graph""",
    "is not in ttnn 0.81, and group_norm needs no such table": "create_group_norm_reciprocals",
    "feeds cores that compute from others while they do, which is not here": """
        experimental.create_global_circular_buffer_for_*
        experimental.create_prefetcher_pipes_for_tensor_prefetcher
        experimental.is_tensor_prefetcher_supported experimental.queue_tensor_prefetcher_request
        experimental.start_tensor_prefetcher experimental.stop_tensor_prefetcher
        experimental.tensor_prefetcher_block_count_for_matmul_1d experimental.test_*
        experimental.wait_for_cq_on_tensor_prefetcher""",
    "is of another machine, the Quasar": "experimental.quasar*",
    "is of one model, DeepSeek": "experimental.deepseek*",
}
"""Why names of ttnn 0.81 are not here, and whose they are; a star stands for any ending."""


_NAMES_OF_TORCH = {
    "bmm": "matmul",
    "cat": "concat",
    "dot": "matmul",
    "flatten": "reshape",
    "mm": "matmul",
    "rsqrt_": "rsqrt",
    "swapaxes": "transpose",
    "tile": "repeat",
    "to": "to_device",
}
"""What programs look for by the name that torch or NumPy has for it."""

_INTERNAL = {"create_tensor", "get_item", "print_tensor"}
"""Operations that only methods of tensors call."""
