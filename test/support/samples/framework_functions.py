"""Functions that build programs of kernels for tensors of any shape, for several frameworks."""

from __future__ import annotations

from samples.generic_programs import EXP, READER, WRITER, tile_kernels

from ttmlir.bridge import TensorArgument, assign_programs
from ttmlir.layout.enums import DataType
from ttmlir.program import (
    CircularBufferIndex,
    ComputeConfig,
    ProgramDescription,
    ReaderConfig,
    TensorAccessorArgs,
    WriterConfig,
    list_ranges,
)

ADD_READER = """
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t first = get_arg_val<uint32_t>(0);
    const uint32_t count = get_arg_val<uint32_t>(1);
    constexpr auto a_args = TensorAccessorArgs<0>();
    constexpr auto b_args = TensorAccessorArgs<1>();
    const auto a = TensorAccessor(a_args, get_common_arg_val<uint32_t>(0), get_tile_size(0));
    const auto b = TensorAccessor(b_args, get_common_arg_val<uint32_t>(1), get_tile_size(1));
    for (uint32_t i = first; i < first + count; i++) {
        cb_reserve_back(0, 1);
        cb_reserve_back(1, 1);
        noc_async_read_tile(i, a, get_write_ptr(0));
        noc_async_read_tile(i, b, get_write_ptr(1));
        noc_async_read_barrier();
        cb_push_back(0, 1);
        cb_push_back(1, 1);
    }
}
"""

ADD = """
#include "compute_kernel_api/common.h"
#include "compute_kernel_api/eltwise_binary.h"

namespace NAMESPACE {
void MAIN {
    const uint32_t count = get_arg_val<uint32_t>(1);
    binary_op_init_common(0, 1, 16);
    add_tiles_init(0, 1);
    for (uint32_t i = 0; i < count; i++) {
        cb_wait_front(0, 1);
        cb_wait_front(1, 1);
        cb_reserve_back(16, 1);
        tile_regs_acquire();
        add_tiles(0, 1, 0, 0, 0);
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, 16);
        tile_regs_release();
        cb_pop_front(0, 1);
        cb_pop_front(1, 1);
        cb_push_back(16, 1);
    }
}
}  // namespace NAMESPACE
"""


def _work(tiles: int, grid: tuple[int, ...]):
    """The first tile and the number of tiles of each core that has some."""
    programs = 1
    for extent in grid:
        programs *= extent
    share = -(-tiles // programs)
    found = []
    for core, first, count in assign_programs(grid):
        begin = min(first * share, tiles)
        end = min((first + count) * share, tiles)
        if end > begin:
            found.append((core, (begin, end - begin)))
    return tuple(found)


def build_exp(x: TensorArgument, y: TensorArgument, grid: tuple[int, ...]) -> ProgramDescription:
    """The exponential of a tensor, tile by tile."""
    work = _work(y.num_pages, grid)
    cores = list_ranges([core for core, _ in work])
    source, target = CircularBufferIndex(0), CircularBufferIndex(16)
    compute = ComputeConfig(fp32_dest_acc_en=x.data_type is DataType.F32)
    return ProgramDescription(
        kernels=tile_kernels(
            cores,
            work,
            ("reader", READER, ReaderConfig(), (source, x.accessor), (x.address,)),
            ("writer", WRITER, WriterConfig(), (target, y.accessor), (y.address,)),
            ("exp", EXP, compute, (source, target), ()),
        ),
        circular_buffers=(x.circular_buffer(0, cores), y.circular_buffer(16, cores)),
    )


def build_add(
    in1: TensorArgument, in2: TensorArgument, out: TensorArgument, grid: tuple[int, ...]
) -> ProgramDescription:
    """The sum of two tensors, tile by tile."""
    work = _work(out.num_pages, grid)
    cores = list_ranges([core for core, _ in work])
    compute = ComputeConfig(fp32_dest_acc_en=out.data_type is DataType.F32)
    target = (CircularBufferIndex(16), TensorAccessorArgs(out.number))
    layouts, addresses = (in1.accessor, in2.accessor), (in1.address, in2.address)
    return ProgramDescription(
        kernels=tile_kernels(
            cores,
            work,
            ("reader", ADD_READER, ReaderConfig(), layouts, addresses),
            ("writer", WRITER, WriterConfig(), target, (out.address,)),
            ("add", ADD, compute, (), ()),
        ),
        circular_buffers=(
            in1.circular_buffer(0, cores),
            in2.circular_buffer(1, cores),
            out.circular_buffer(16, cores),
        ),
    )
