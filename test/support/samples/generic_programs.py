"""Programs of kernels as descriptions: exponentials and sums of tiles, on several cores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ttmlir.layout.enums import DataType
from ttmlir.program import (
    AddressOfTensor,
    Arguments,
    CircularBufferDescription,
    CircularBufferFormat,
    CircularBufferIndex,
    ComputeConfig,
    Core,
    CoreRange,
    CoreRanges,
    KernelConfig,
    KernelDescription,
    ProgramDescription,
    ReaderConfig,
    TensorAccessorArgs,
    WriterConfig,
)

READER = """
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t first = get_arg_val<uint32_t>(0);
    const uint32_t count = get_arg_val<uint32_t>(1);
    constexpr uint32_t cb_a = get_compile_time_arg_val(0);
    constexpr auto a_args = TensorAccessorArgs<1>();
    const auto a = TensorAccessor(a_args, get_common_arg_val<uint32_t>(0), get_tile_size(cb_a));
    for (uint32_t i = first; i < first + count; i++) {
        cb_reserve_back(cb_a, 1);
        noc_async_read_tile(i, a, get_write_ptr(cb_a));
        noc_async_read_barrier();
        cb_push_back(cb_a, 1);
    }
}
"""

WRITER = """
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t first = get_arg_val<uint32_t>(0);
    const uint32_t count = get_arg_val<uint32_t>(1);
    constexpr uint32_t cb = get_compile_time_arg_val(0);
    constexpr auto args = TensorAccessorArgs<1>();
    const auto out = TensorAccessor(args, get_common_arg_val<uint32_t>(0), get_tile_size(cb));
    for (uint32_t i = first; i < first + count; i++) {
        cb_wait_front(cb, 1);
        noc_async_write_tile(i, out, get_read_ptr(cb));
        noc_async_write_barrier();
        cb_pop_front(cb, 1);
    }
}
"""

EXP = """
#include "compute_kernel_api/common.h"
#include "compute_kernel_api/tile_move_copy.h"
#include "compute_kernel_api/eltwise_unary/eltwise_unary.h"
#include "compute_kernel_api/eltwise_unary/exp.h"

namespace NAMESPACE {
void MAIN {
    const uint32_t count = get_arg_val<uint32_t>(1);
    constexpr uint32_t cb_in = get_compile_time_arg_val(0);
    constexpr uint32_t cb_out = get_compile_time_arg_val(1);
    init_sfpu(cb_in, cb_out);
    exp_tile_init();
    for (uint32_t i = 0; i < count; i++) {
        cb_wait_front(cb_in, 1);
        cb_reserve_back(cb_out, 1);
        tile_regs_acquire();
        copy_tile(cb_in, 0, 0);
        exp_tile(0);
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, cb_out);
        tile_regs_release();
        cb_pop_front(cb_in, 1);
        cb_push_back(cb_out, 1);
    }
}
}  // namespace NAMESPACE
"""

TILE_BYTES = {DataType.F32: 4096, DataType.BF16: 2048}
"""Bytes of a tile in each of the formats that the programs are made for."""


def split_tiles(tiles: int, cores: tuple[Core, ...]) -> tuple[tuple[Core, tuple[int, int]], ...]:
    """The first tile and the number of tiles of each core, the first ones one more."""
    each, more = divmod(tiles, len(cores))
    counts = [each + (index < more) for index in range(len(cores))]
    return tuple((core, (sum(counts[:index]), counts[index])) for index, core in enumerate(cores))


def tile_kernels(
    cores: CoreRanges,
    work: Sequence[tuple[Core, Arguments]],
    *kernels: tuple[str, str, KernelConfig, Arguments, Arguments],
) -> tuple[KernelDescription, ...]:
    """Kernels that work on the same tiles: `work` is the first tile and their number by core.

    Each kernel is a name, a text, a processor, compile-time arguments and common arguments.
    """
    return tuple(
        KernelDescription(
            name=name,
            source=source,
            config=config,
            core_ranges=cores,
            compile_time_args=compile_time,
            common_runtime_args=common,
            runtime_args=tuple(work),
        )
        for name, source, config, compile_time, common in kernels
    )


def exp_program(
    tiles: int, data_type: DataType = DataType.F32, grid: tuple[int, int] = (2, 1)
) -> ProgramDescription:
    """The exponential of tensor 0 in tensor 1, both tiled and interleaved."""
    ranges = (CoreRange((0, 0), (grid[0] - 1, grid[1] - 1)),)
    source, target = CircularBufferIndex(0), CircularBufferIndex(16)
    page = TILE_BYTES[data_type]
    compute = ComputeConfig(fp32_dest_acc_en=data_type is DataType.F32)
    return ProgramDescription(
        kernels=tile_kernels(
            ranges,
            split_tiles(tiles, tuple(ranges[0])),
            (
                "reader",
                READER,
                ReaderConfig(),
                (source, TensorAccessorArgs(0)),
                (AddressOfTensor(0),),
            ),
            (
                "writer",
                WRITER,
                WriterConfig(),
                (target, TensorAccessorArgs(1)),
                (AddressOfTensor(1),),
            ),
            ("exp", EXP, compute, (source, target), ()),
        ),
        circular_buffers=tuple(
            CircularBufferDescription(
                total_size=2 * page,
                core_ranges=ranges,
                formats=(CircularBufferFormat(each.index, data_type, page),),
            )
            for each in (source, target)
        ),
    )


EXP_TWICE = """
#include "compute_kernel_api/common.h"
#include "compute_kernel_api/tile_move_copy.h"
#include "compute_kernel_api/eltwise_unary/eltwise_unary.h"
#include "compute_kernel_api/eltwise_unary/exp.h"

namespace NAMESPACE {
void MAIN {
    const uint32_t count = get_arg_val<uint32_t>(1);
    constexpr uint32_t cb_in = get_compile_time_arg_val(0);
    constexpr uint32_t cb_out = get_compile_time_arg_val(1);
    init_sfpu(cb_in, cb_out);
    exp_tile_init();
    for (uint32_t i = 0; i < count; i++) {
        cb_wait_front(cb_in, 1);
        cb_reserve_back(cb_out, 2);
        tile_regs_acquire();
        for (uint32_t place = 0; place < 2; place++) {
            copy_tile(cb_in, 0, place);
            for (uint32_t times = 0; times <= place; times++) {
                exp_tile(place);
            }
        }
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, cb_out);
        pack_tile(1, cb_out);
        tile_regs_release();
        cb_pop_front(cb_in, 1);
        cb_push_back(cb_out, 2);
    }
}
}  // namespace NAMESPACE
"""

WRITE_TWO = """
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t first = get_arg_val<uint32_t>(0);
    const uint32_t count = get_arg_val<uint32_t>(1);
    constexpr uint32_t cb = get_compile_time_arg_val(0);
    constexpr auto args = TensorAccessorArgs<1>();
    constexpr auto more = TensorAccessorArgs<2>();
    const auto a = TensorAccessor(args, get_common_arg_val<uint32_t>(0), get_tile_size(cb));
    const auto b = TensorAccessor(more, get_common_arg_val<uint32_t>(1), get_tile_size(cb));
    for (uint32_t i = first; i < first + count; i++) {
        cb_wait_front(cb, 2);
        noc_async_write_tile(i, a, get_read_ptr(cb));
        noc_async_write_tile(i, b, get_read_ptr(cb) + get_tile_size(cb));
        noc_async_write_barrier();
        cb_pop_front(cb, 2);
    }
}
"""


def _exp_of_two() -> ProgramDescription:
    program = exp_program(3)
    reader, writer, maths = program.kernels
    writer = replace(
        writer,
        source=WRITE_TWO,
        compile_time_args=(*writer.compile_time_args, TensorAccessorArgs(2)),
        common_runtime_args=(AddressOfTensor(1), AddressOfTensor(2)),
    )
    return replace(program, kernels=(reader, writer, replace(maths, source=EXP_TWICE)))


EXP_OF_TWO = _exp_of_two()
"""The exponential of tensor 0, of three tiles, in tensor 1, and its exponential in tensor 2."""
