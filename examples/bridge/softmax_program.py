"""The program of a fused softmax along the last dimension: rows of tiles on as many cores."""

from __future__ import annotations

import math
from pathlib import Path

from ttmlir.bridge import TensorArgument, assign_programs
from ttmlir.layout.enums import DataType
from ttmlir.program import (
    CircularBufferDescription,
    CircularBufferFormat,
    ComputeConfig,
    KernelDescription,
    ProgramDescription,
    ReaderConfig,
    WriterConfig,
    list_ranges,
)

KERNELS = Path(__file__).parent / "kernels"
READ = (KERNELS / "read_rows.cpp").read_text()
WRITE = (KERNELS / "write_rows.cpp").read_text()
SOFTMAX = (KERNELS / "softmax_rows.cpp").read_text()


def build_softmax(
    x: TensorArgument, y: TensorArgument, grid: tuple[int, ...]
) -> ProgramDescription:
    """Softmax of `x` in `y`; each program of the grid takes as many rows of tiles as the others."""
    if x.shape != y.shape or x.shape[-1] % 32:
        raise ValueError(f"rows of {x.shape[-1]} numbers; softmax takes rows of whole tiles of 32")
    columns = x.shape[-1] // 32
    rows = x.num_pages // columns
    share = -(-rows // math.prod(grid))
    work = tuple(
        (core, (first * share, min(count * share, rows - first * share)))
        for core, first, count in assign_programs(grid)
        if first * share < rows
    )
    cores = list_ranges([core for core, _ in work])

    # One kernel for each processor that moves data, one for the three that compute.
    wide = x.data_type is DataType.F32
    kernels = (
        ("read_rows", READ, ReaderConfig(), (x.accessor,), (x.address,)),
        ("write_rows", WRITE, WriterConfig(), (y.accessor,), (y.address,)),
        ("softmax_rows", SOFTMAX, ComputeConfig(fp32_dest_acc_en=wide), (), ()),
    )
    ones = CircularBufferFormat(1, DataType.BF16, 2048)
    return ProgramDescription(
        kernels=tuple(
            KernelDescription(
                name=name,
                source=text,
                config=config,
                core_ranges=cores,
                compile_time_args=(columns, *accessors),
                common_runtime_args=addresses,
                runtime_args=work,
            )
            for name, text, config, accessors, addresses in kernels
        ),
        circular_buffers=(
            x.circular_buffer(0, cores, 2 * columns),
            CircularBufferDescription(total_size=2048, core_ranges=cores, formats=(ones,)),
            y.circular_buffer(16, cores),
            x.circular_buffer(24, cores, 1),
            x.circular_buffer(25, cores, columns),
            x.circular_buffer(26, cores, 1),
        ),
    )
