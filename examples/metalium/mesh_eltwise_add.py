"""Add two matrices on all Tensix cores, in the style of TT-Metalium of 2026.

    python examples/metalium/mesh_eltwise_add.py [--m 512] [--n 768] [--format bf16|bfp8] ...

The device is a mesh of one, buffers are those of the mesh, and the program is a part of a
workload. Kernels know circular buffers by the names of compile-time arguments, and the tensors by
`TensorAccessor`; what is the same on all cores are common run-time arguments.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matrix_data import from_tiles, random_matrix, to_tiles
from matrix_options import MatrixOptions, open_mesh, tiles_of
from outcome import Outcome, main, recording, sum_outcome

from ttmlir.metalium import (
    BufferType,
    CBIndex,
    CircularBufferConfig,
    ComputeConfig,
    CreateCircularBuffer,
    CreateKernel,
    CreateProgram,
    DataFormat,
    ReaderDataMovementConfig,
    SetCommonRuntimeArgs,
    SetRuntimeArgs,
    TensorAccessorArgs,
    WriterDataMovementConfig,
    corerange_to_cores,
    distributed,
    split_work_to_cores,
    tile_size,
)

KERNELS = Path(__file__).parent / "mesh_kernels"
NAMES = {"a": int(CBIndex.c_0), "b": int(CBIndex.c_1), "sum": int(CBIndex.c_16)}


def run(options: MatrixOptions) -> Outcome:
    """Add on the device, and compare with NumPy."""
    mesh_device = open_mesh(options)
    queue = mesh_device.mesh_command_queue()
    queue.timeline = recording(options)
    program = CreateProgram()

    # Tiles are dealt to the cores: some get one more than others.
    num_tiles = tiles_of(options.m) * tiles_of(options.n)
    grid = mesh_device.compute_with_storage_grid_size()
    _, all_cores, busier, _, many, few = split_work_to_cores(grid, num_tiles)

    a, b, c = (dram_tensor(mesh_device, num_tiles, options.data_format) for _ in range(3))
    page = tile_size(options.data_format)
    for index in NAMES.values():
        config = CircularBufferConfig(2 * page, {index: options.data_format})
        CreateCircularBuffer(program, all_cores, config.set_page_size(index, page))

    # Layouts of the tensors are compile-time arguments, one behind the other.
    layouts: list[int] = []
    TensorAccessorArgs(a).append_to(layouts)
    TensorAccessorArgs(b).append_to(layouts)
    reader = CreateKernel(
        program,
        KERNELS / "read_pairs.cpp",
        all_cores,
        ReaderDataMovementConfig(layouts, named_compile_args=NAMES),
    )
    writer = CreateKernel(
        program,
        KERNELS / "write_results.cpp",
        all_cores,
        WriterDataMovementConfig(
            TensorAccessorArgs(c).get_compile_time_args(),
            named_compile_args={"result": NAMES["sum"]},
        ),
    )
    adder = CreateKernel(
        program,
        KERNELS / "add_pairs.cpp",
        all_cores,
        ComputeConfig(math_fidelity=options.fidelity, named_compile_args=NAMES),
    )

    # The same for all cores, and what each core has for itself.
    SetCommonRuntimeArgs(program, reader, [a.address(), b.address()])
    SetCommonRuntimeArgs(program, writer, [c.address()])
    cores = corerange_to_cores(all_cores)
    counts = [many if busier.contains(core) else few for core in cores]
    places = [[sum(counts[:number]), count] for number, count in enumerate(counts)]
    SetRuntimeArgs(program, reader, cores, places)
    SetRuntimeArgs(program, writer, cores, places)
    SetRuntimeArgs(program, adder, cores, [[count] for count in counts])

    # A workload is what devices of a mesh run; there is one device here.
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
    return sum_outcome("mesh_eltwise_add", queue, options, first, second, result)


def dram_tensor(
    mesh_device: distributed.MeshDevice, num_tiles: int, data_format: DataFormat
) -> distributed.MeshBuffer:
    """Tiles that are spread over the banks of DRAM, a tile on a page."""
    page = tile_size(data_format)
    return distributed.MeshBuffer.create(
        distributed.ReplicatedBufferConfig(size=num_tiles * page),
        distributed.DeviceLocalBufferConfig(page_size=page, buffer_type=BufferType.DRAM),
        mesh_device,
    )


if __name__ == "__main__":
    sys.exit(main(run, __doc__ or ""))
