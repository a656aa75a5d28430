"""Add two matrices on all Tensix cores, with names for everything: Metal 2.0.

    python examples/metalium/metal2_eltwise_add.py [--m 512] [--n 768] [--format bf16|bfp8] ...

The program is described by a specification. Kernels know arguments, dataflow buffers and tensors by
the names that it gives them, and no numbers of circular buffers or places of arguments are left.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matrix_data import from_tiles, random_matrix, to_tiles
from matrix_options import MatrixOptions, open_mesh, tiles_of
from mesh_eltwise_add import dram_tensor
from outcome import Outcome, main, recording, sum_outcome

from ttmlir.metalium import (
    Buffer,
    CoreRangeSet,
    corerange_to_cores,
    distributed,
    split_work_to_cores,
    tile_size,
)
from ttmlir.metalium.experimental import (
    AddRuntimeArgsForNode,
    ComputeHardwareConfig,
    DataflowBufferSpec,
    DFBBinding,
    DFBEndpointType,
    KernelRunArgs,
    KernelSpec,
    MakeProgramFromSpec,
    ProgramRunArgs,
    ProgramSpec,
    SetProgramRunArgs,
    TensorArgument,
    TensorBinding,
    TensorParameter,
    WorkUnitSpec,
    create_reader_datamovement_config,
    create_writer_datamovement_config,
)

KERNELS = Path(__file__).parent / "mesh_kernels"


def run(options: MatrixOptions) -> Outcome:
    """Add on the device, and compare with NumPy."""
    mesh_device = open_mesh(options)
    queue = mesh_device.mesh_command_queue()
    queue.timeline = recording(options)

    num_tiles = tiles_of(options.m) * tiles_of(options.n)
    grid = mesh_device.compute_with_storage_grid_size()
    _, all_cores, busier, _, many, few = split_work_to_cores(grid, num_tiles)
    a, b, c = (dram_tensor(mesh_device, num_tiles, options.data_format) for _ in range(3))
    tensors: dict[str, Buffer] = {"a": a, "b": b, "result": c}
    program = MakeProgramFromSpec(mesh_device, describe_program(options, all_cores, tensors))

    # What changes from run to run: numbers for each core, and which buffers the tensors are.
    runs = {name: KernelRunArgs(kernel=name) for name in ("reader", "adder", "writer")}
    first_tile = 0
    for core in corerange_to_cores(all_cores):
        count = many if busier.contains(core) else few
        place = {"first": first_tile, "num_tiles": count}
        AddRuntimeArgsForNode(runs["reader"].runtime_arg_values, core, place)
        AddRuntimeArgsForNode(runs["writer"].runtime_arg_values, core, place)
        AddRuntimeArgsForNode(runs["adder"].runtime_arg_values, core, {"num_tiles": count})
        first_tile += count
    arguments = {name: TensorArgument(buffer) for name, buffer in tensors.items()}
    SetProgramRunArgs(
        program, ProgramRunArgs(kernel_run_args=[*runs.values()], tensor_args={**arguments})
    )

    workload = distributed.MeshWorkload()
    workload.add_program(distributed.MeshCoordinateRange(mesh_device.shape()), program)
    first = random_matrix(options.m, options.n, options.seed)
    second = random_matrix(options.m, options.n, options.seed + 1)
    distributed.EnqueueWriteMeshBuffer(queue, a, to_tiles(first, options.data_format), False)
    distributed.EnqueueWriteMeshBuffer(queue, b, to_tiles(second, options.data_format), False)
    distributed.EnqueueMeshWorkload(queue, workload, False)

    data = np.empty(c.size(), np.uint8)
    distributed.EnqueueReadMeshBuffer(queue, data, c, True)
    mesh_device.close()
    result = from_tiles(data, options.data_format, (options.m, options.n))
    return sum_outcome("metal2_eltwise_add", queue, options, first, second, result)


def describe_program(
    options: MatrixOptions, all_cores: CoreRangeSet, tensors: dict[str, Buffer]
) -> ProgramSpec:
    """Three kernels, the dataflow buffers between them, and the tensors."""
    reader = KernelSpec(
        unique_id="reader",
        source=str(KERNELS / "named_reader.cpp"),
        dfb_bindings=[produces("a"), produces("b")],
        tensor_bindings=[tensor("a"), tensor("b")],
        runtime_arg_schema={"runtime_arg_names": ["first", "num_tiles"]},
        hw_config=create_reader_datamovement_config(),
    )
    adder = KernelSpec(
        unique_id="adder",
        source=str(KERNELS / "named_add.cpp"),
        dfb_bindings=[consumes("a"), consumes("b"), produces("sum")],
        runtime_arg_schema={"runtime_arg_names": ["num_tiles"]},
        hw_config=ComputeHardwareConfig(math_fidelity=options.fidelity),
    )
    writer = KernelSpec(
        unique_id="writer",
        source=str(KERNELS / "named_writer.cpp"),
        dfb_bindings=[consumes("sum", "result")],
        tensor_bindings=[tensor("result")],
        runtime_arg_schema={"runtime_arg_names": ["first", "num_tiles"]},
        hw_config=create_writer_datamovement_config(),
    )
    buffers = [
        DataflowBufferSpec(
            unique_id=name,
            entry_size=tile_size(options.data_format),
            num_entries=2,
            data_format_metadata=options.data_format,
        )
        for name in ("a", "b", "sum")
    ]
    return ProgramSpec(
        name="eltwise_add",
        kernels=[reader, adder, writer],
        dataflow_buffers=buffers,
        tensor_parameters=[
            TensorParameter(unique_id=name, spec=buffer) for name, buffer in tensors.items()
        ],
        work_units=[
            WorkUnitSpec(name="main", kernels=["reader", "adder", "writer"], target_nodes=all_cores)
        ],
    )


def produces(name: str) -> DFBBinding:
    """A kernel fills a dataflow buffer, which it knows by the same name."""
    return DFBBinding(
        dfb_spec_name=name, accessor_name=name, endpoint_type=DFBEndpointType.PRODUCER
    )


def consumes(name: str, accessor: str = "") -> DFBBinding:
    """A kernel empties a dataflow buffer, which it knows by the same or another name."""
    return DFBBinding(
        dfb_spec_name=name,
        accessor_name=accessor or name,
        endpoint_type=DFBEndpointType.CONSUMER,
    )


def tensor(name: str) -> TensorBinding:
    """A kernel knows a tensor by the same name."""
    return TensorBinding(tensor_parameter_name=name, accessor_name=name)


if __name__ == "__main__":
    sys.exit(main(run, __doc__ or ""))
