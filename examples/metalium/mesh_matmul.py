"""Multiply two matrices on one Tensix core, in the style of TT-Metalium of 2026.

    python examples/metalium/mesh_matmul.py [--m 512] [--k 1024] [--n 768] ...

Extents and circular buffers are compile-time arguments with names. The same workload could be
enqueued again, with other matrices in its buffers.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matrix_data import from_tiles, random_matrix, to_tiles
from matrix_options import MatrixOptions, open_mesh, tiles_of
from mesh_eltwise_add import dram_tensor
from outcome import Outcome, main, product_outcome, recording

from ttmlir.metalium import (
    CBIndex,
    CircularBufferConfig,
    ComputeConfig,
    CoreCoord,
    CreateCircularBuffer,
    CreateKernel,
    CreateProgram,
    ReaderDataMovementConfig,
    SetCommonRuntimeArgs,
    SetRuntimeArgs,
    TensorAccessorArgs,
    WriterDataMovementConfig,
    distributed,
    tile_size,
)

KERNELS = Path(__file__).parent / "mesh_kernels"
NAMES = {"a": int(CBIndex.c_0), "b": int(CBIndex.c_1), "c": int(CBIndex.c_16)}


def run(options: MatrixOptions) -> Outcome:
    """Multiply on the device, and compare with NumPy."""
    mesh_device = open_mesh(options)
    queue = mesh_device.mesh_command_queue()
    queue.timeline = recording(options)
    program = CreateProgram()
    core = CoreCoord(0, 0)

    m, k, n = (tiles_of(extent) for extent in (options.m, options.k, options.n))
    a = dram_tensor(mesh_device, m * k, options.data_format)
    b = dram_tensor(mesh_device, k * n, options.data_format)
    c = dram_tensor(mesh_device, m * n, options.data_format)
    page = tile_size(options.data_format)
    for index in NAMES.values():
        config = CircularBufferConfig(2 * page, {index: options.data_format})
        CreateCircularBuffer(program, core, config.set_page_size(index, page))

    layouts: list[int] = []
    for tensor in (a, b):
        TensorAccessorArgs(tensor).append_to(layouts)
    reader = CreateKernel(
        program,
        KERNELS / "read_product.cpp",
        core,
        ReaderDataMovementConfig(layouts, named_compile_args={**NAMES, "Mt": m, "Kt": k, "Nt": n}),
    )
    writer = CreateKernel(
        program,
        KERNELS / "write_results.cpp",
        core,
        WriterDataMovementConfig(
            TensorAccessorArgs(c).get_compile_time_args(),
            named_compile_args={"result": NAMES["c"]},
        ),
    )
    CreateKernel(
        program,
        KERNELS / "multiply.cpp",
        core,
        ComputeConfig(
            math_fidelity=options.fidelity,
            named_compile_args={**NAMES, "num_tiles": m * n, "Kt": k},
        ),
    )
    SetCommonRuntimeArgs(program, reader, [a.address(), b.address()])
    SetCommonRuntimeArgs(program, writer, [c.address()])
    SetRuntimeArgs(program, writer, core, [0, m * n])

    workload = distributed.MeshWorkload()
    workload.add_program(distributed.MeshCoordinateRange(mesh_device.shape()), program)
    first = random_matrix(options.m, options.k, options.seed)
    second = random_matrix(options.k, options.n, options.seed + 1)
    distributed.EnqueueWriteMeshBuffer(queue, a, to_tiles(first, options.data_format), False)
    distributed.EnqueueWriteMeshBuffer(queue, b, to_tiles(second, options.data_format), False)
    distributed.EnqueueMeshWorkload(queue, workload, False)
    distributed.Finish(queue)

    data = np.empty(c.size(), np.uint8)
    distributed.EnqueueReadMeshBuffer(queue, data, c, True)
    mesh_device.close()
    product = from_tiles(data, options.data_format, (options.m, options.n))
    return product_outcome("mesh_matmul", queue, options, first, second, product)


if __name__ == "__main__":
    sys.exit(main(run, __doc__ or ""))
