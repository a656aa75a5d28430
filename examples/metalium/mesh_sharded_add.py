"""Add two matrices that stay in L1, in the style of TT-Metalium of 2026.

    python examples/metalium/mesh_sharded_add.py [--m 512] [--n 768] [--format bf16|bfp8] ...

The matrices are cut into shards of whole rows of tiles, one for each core. Circular buffers lie on
the shards, so that nothing is copied: one kernel hands the tiles over, one adds them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matrix_data import from_tiles, random_matrix, to_tiles
from matrix_options import MatrixOptions, open_mesh, tiles_of
from outcome import Outcome, main, recording, sum_outcome

from ttmlir.metalium import (
    TILE_HEIGHT,
    TILE_WIDTH,
    BufferType,
    CBIndex,
    CircularBufferConfig,
    ComputeConfig,
    CoreRangeSet,
    CreateCircularBuffer,
    CreateKernel,
    CreateProgram,
    ReaderDataMovementConfig,
    SetRuntimeArgs,
    ShardOrientation,
    ShardSpecBuffer,
    TensorMemoryLayout,
    distributed,
    num_cores_to_corerangeset,
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

    # As many cores as there are rows of tiles, or all of them with several rows each.
    grid = mesh_device.compute_with_storage_grid_size()
    rows, columns = tiles_of(options.m), tiles_of(options.n)
    rows_per_core = -(-rows // (grid.x * grid.y))
    cores = num_cores_to_corerangeset(-(-rows // rows_per_core), grid, True)
    rows = rows_per_core * cores.num_cores()
    num_tiles = rows_per_core * columns  # of a shard

    tensors = {name: sharded_tensor(mesh_device, options, cores, rows, columns) for name in NAMES}
    page = tile_size(options.data_format)
    for name, index in NAMES.items():
        config = CircularBufferConfig(num_tiles * page, {index: options.data_format})
        config.set_page_size(index, page)
        config.set_globally_allocated_address(tensors[name].get_backing_buffer())
        CreateCircularBuffer(program, cores, config)
    CreateKernel(
        program,
        KERNELS / "hand_over.cpp",
        cores,
        ReaderDataMovementConfig(named_compile_args={**NAMES, "num_tiles": num_tiles}),
    )
    adder = CreateKernel(
        program,
        KERNELS / "add_pairs.cpp",
        cores,
        ComputeConfig(math_fidelity=options.fidelity, named_compile_args=NAMES),
    )
    SetRuntimeArgs(program, adder, cores, [num_tiles])

    workload = distributed.MeshWorkload()
    workload.add_program(distributed.MeshCoordinateRange(mesh_device.shape()), program)
    first = random_matrix(options.m, options.n, options.seed)
    second = random_matrix(options.m, options.n, options.seed + 1)
    for name, matrix in (("a", first), ("b", second)):
        tiles = to_tiles(matrix, options.data_format, rows, columns)
        distributed.WriteShard(queue, tensors[name], tiles, distributed.MeshCoordinate(0, 0))
    distributed.EnqueueMeshWorkload(queue, workload, False)

    data = np.empty(tensors["sum"].size(), np.uint8)
    distributed.ReadShard(queue, data, tensors["sum"], distributed.MeshCoordinate(0, 0))
    mesh_device.close()
    result = from_tiles(data, options.data_format, (options.m, options.n))
    return sum_outcome("mesh_sharded_add", queue, options, first, second, result)


def sharded_tensor(
    mesh_device: distributed.MeshDevice,
    options: MatrixOptions,
    cores: CoreRangeSet,
    rows: int,
    columns: int,
) -> distributed.MeshBuffer:
    """So many rows and columns of tiles in L1, cut into equal shards of whole rows."""
    page = tile_size(options.data_format)
    shard = (rows // cores.num_cores() * TILE_HEIGHT, columns * TILE_WIDTH)
    spec = ShardSpecBuffer(
        cores, shard, ShardOrientation.ROW_MAJOR, (TILE_HEIGHT, TILE_WIDTH), (rows, columns)
    )
    return distributed.MeshBuffer.create(
        distributed.ReplicatedBufferConfig(size=rows * columns * page),
        distributed.DeviceLocalBufferConfig(
            page_size=page,
            buffer_type=BufferType.L1,
            sharding_args=distributed.BufferShardingArgs(spec, TensorMemoryLayout.HEIGHT_SHARDED),
        ),
        mesh_device,
    )


if __name__ == "__main__":
    sys.exit(main(run, __doc__ or ""))
