"""Multiply two matrices on all Tensix cores with multicasts, in the style of TT-Metalium of 2026.

    python examples/metalium/mesh_matmul_multicast.py [--m 512] [--k 1024] [--n 768] ...

Blocks travel as in matmul_multicast.py: A along the rows of cores on network 1, B down the columns
on network 0. One kernel brings both: which matrix it is for, and whether a core sends or receives,
are compile-time arguments, and the protocol is in a header.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from blocking import Blocking, choose_blocking
from matrix_data import from_tiles, random_matrix, to_tiles
from matrix_options import MatrixOptions, open_mesh
from mesh_eltwise_add import dram_tensor
from outcome import Outcome, main, product_outcome, recording

from ttmlir.metalium import (
    NOC,
    Buffer,
    CBIndex,
    CircularBufferConfig,
    ComputeConfig,
    CoreCoord,
    CoreRange,
    CreateCircularBuffer,
    CreateKernel,
    CreateProgram,
    CreateSemaphore,
    DataMovementConfig,
    DataMovementProcessor,
    Program,
    SetCommonRuntimeArgs,
    SetRuntimeArgs,
    TensorAccessorArgs,
    corerange_to_cores,
    distributed,
    tile_size,
)

KERNELS = Path(__file__).parent / "mesh_kernels"
NAMES = {"a": int(CBIndex.c_0), "b": int(CBIndex.c_1), "c": int(CBIndex.c_16)}


@dataclass(frozen=True, kw_only=True)
class Way:
    """How the blocks of a matrix come to the cores."""

    along_x: bool
    """Along the rows of cores, or down the columns."""
    tensors: tuple[Buffer, ...]
    """The matrix, and C if the kernel writes it."""
    names: dict[str, int]
    """Of its compile-time arguments."""


def run(options: MatrixOptions) -> Outcome:
    """Multiply on the device, and compare with NumPy."""
    mesh_device = open_mesh(options)
    queue = mesh_device.mesh_command_queue()
    queue.timeline = recording(options)
    program = CreateProgram()

    columns, rows = mesh_device.compute_with_storage_grid_size()
    cut = choose_blocking(options, columns, rows)
    a = dram_tensor(mesh_device, cut.m * cut.k, options.data_format)
    b = dram_tensor(mesh_device, cut.k * cut.n, options.data_format)
    c = dram_tensor(mesh_device, cut.m * cut.n, options.data_format)

    # Two blocks of A and of B, so that one can arrive while one is used, and one of C.
    page = tile_size(options.data_format)
    for index, num_tiles in (
        (NAMES["a"], 2 * cut.block_m * cut.block_k),
        (NAMES["b"], 2 * cut.block_k * cut.block_n),
        (NAMES["c"], cut.block_m * cut.block_n),
    ):
        config = CircularBufferConfig(num_tiles * page, {index: options.data_format})
        CreateCircularBuffer(program, all_cores(cut), config.set_page_size(index, page))
    CreateKernel(
        program,
        KERNELS / "multiply_blocks.cpp",
        all_cores(cut),
        ComputeConfig(
            math_fidelity=options.fidelity,
            named_compile_args={
                **NAMES,
                "num_blocks": cut.num_blocks,
                "rows": cut.block_m,
                "inner": cut.block_k,
                "columns": cut.block_n,
            },
        ),
    )
    block_of_a = {"rows": cut.block_m, "columns": cut.block_k, "row_step": cut.k}
    block_of_b = {"rows": cut.block_k, "columns": cut.block_n, "row_step": cut.n}
    block_of_c = {"c_rows": cut.block_m, "c_columns": cut.block_n, "c_row_step": cut.n}
    for way in (
        Way(
            along_x=True,
            tensors=(a, c),
            names={**block_of_a, **block_of_c, "cb": NAMES["a"], "block_step": cut.block_k},
        ),
        Way(
            along_x=False,
            tensors=(b,),
            names={**block_of_b, "cb": NAMES["b"], "block_step": cut.block_k * cut.n},
        ),
    ):
        create_movers(mesh_device, program, cut, way)

    workload = distributed.MeshWorkload()
    workload.add_program(distributed.MeshCoordinateRange(mesh_device.shape()), program)
    first = random_matrix(options.m, options.k, options.seed)
    second = random_matrix(options.k, options.n, options.seed + 1)
    tiles_of_a = to_tiles(first, options.data_format, cut.m, cut.k)
    tiles_of_b = to_tiles(second, options.data_format, cut.k, cut.n)
    distributed.EnqueueWriteMeshBuffer(queue, a, tiles_of_a, False)
    distributed.EnqueueWriteMeshBuffer(queue, b, tiles_of_b, False)
    distributed.EnqueueMeshWorkload(queue, workload, False)

    data = np.empty(c.size(), np.uint8)
    distributed.EnqueueReadMeshBuffer(queue, data, c, True)
    mesh_device.close()
    product = from_tiles(data, options.data_format, (options.m, options.n), cut.n)
    return product_outcome("mesh_matmul_multicast", queue, options, first, second, product)


def create_movers(
    mesh_device: distributed.MeshDevice, program: Program, cut: Blocking, way: Way
) -> None:
    """The kernels that bring a matrix: one for the first core of each line, one for the others."""
    last = (cut.grid_x if way.along_x else cut.grid_y) - 1
    semaphores = {name: CreateSemaphore(program, all_cores(cut), 0) for name in ("ready", "valid")}
    layouts: list[int] = []
    for tensor in way.tensors:
        TensorAccessorArgs(tensor).append_to(layouts)

    def corner(line: int, place: int) -> CoreCoord:
        return CoreCoord(place, line) if way.along_x else CoreCoord(line, place)

    def on_network(line: int, place: int) -> CoreCoord:
        return mesh_device.worker_core_from_logical_core(corner(line, place))

    lines = cut.grid_y if way.along_x else cut.grid_x
    for sends, begin, end in ((1, 0, 0), (0, 1, last)):
        if begin > end:
            continue
        cores = CoreRange(corner(0, begin), corner(lines - 1, end))
        kernel = CreateKernel(
            program,
            KERNELS / "multicast_blocks.cpp",
            cores,
            DataMovementConfig(
                processor=DataMovementProcessor.RISCV_0
                if way.along_x
                else DataMovementProcessor.RISCV_1,
                noc=NOC.NOC_1 if way.along_x else NOC.NOC_0,
                compile_args=layouts,
                named_compile_args={
                    **way.names,
                    **semaphores,
                    "c": NAMES["c"],
                    "sends": sends,
                    "num_receivers": last,
                    "num_blocks": cut.num_blocks,
                },
                defines={"WRITES_C": "1"} if way.along_x else {},
            ),
        )
        SetCommonRuntimeArgs(program, kernel, [tensor.address() for tensor in way.tensors])
        for core in corerange_to_cores(cores):
            line = core.y if way.along_x else core.x
            ends = [on_network(line, min(1, last)), on_network(line, last)]
            if way.along_x:  # On network 1, which goes up and left, the last corner comes first.
                ends.reverse()
            rows = line * cut.block_m * cut.k if way.along_x else line * cut.block_n
            place_in_c = core.y * cut.block_m * cut.n + core.x * cut.block_n
            sender = on_network(line, 0)
            arguments = [rows, *sender, *ends[0], *ends[1], place_in_c]
            SetRuntimeArgs(program, kernel, core, arguments)


def all_cores(cut: Blocking) -> CoreRange:
    """The cores that make a block of C each."""
    return CoreRange(CoreCoord(0, 0), CoreCoord(cut.grid_x - 1, cut.grid_y - 1))


if __name__ == "__main__":
    sys.exit(main(run, __doc__ or ""))
