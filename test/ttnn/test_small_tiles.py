"""Kernels that compute on tiles of fewer rows than 32, in circular buffers that say so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ttmlir import ttnn
from ttmlir.metalium import CircularBufferConfig, DataFormat, MetaliumError, Tile

READER = """
#include "api/dataflow/dataflow_api.h"
template <uint32_t cb, typename T>
void fetch(const T& source, uint32_t tiles) {
    for (uint32_t i = 0; i < tiles; ++i) {
        cb_reserve_back(cb, 1);
        noc_async_read(source.get_noc_addr(i), get_write_ptr(cb), get_tile_size(cb));
        noc_async_read_barrier();
        cb_push_back(cb, 1);
    }
}
void kernel_main() {
    constexpr auto a = TensorAccessorArgs<0>();
    constexpr auto b = TensorAccessorArgs<a.next_compile_time_args_offset()>();
    fetch<0>(TensorAccessor(a, get_arg_val<uint32_t>(0), get_tile_size(0)), 2);
    fetch<1>(TensorAccessor(b, get_arg_val<uint32_t>(1), get_tile_size(1)), 2);
}
"""

WRITER = """
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    constexpr auto args = TensorAccessorArgs<1>();
    const auto target = TensorAccessor(args, get_arg_val<uint32_t>(0), get_tile_size(16));
    for (uint32_t i = 0; i < get_compile_time_arg_val(0); ++i) {
        cb_wait_front(16, 1);
        noc_async_write(get_read_ptr(16), target.get_noc_addr(i), get_tile_size(16));
        noc_async_write_barrier();
        cb_pop_front(16, 1);
    }
}
"""

COMPUTE = """
#include "api/compute/compute_kernel_api.h"
#include "api/compute/tile_move_copy.h"
#include "api/compute/matmul.h"
#include "api/compute/bcast.h"
#include "api/compute/reduce.h"
#include "api/compute/eltwise_binary.h"
#include "api/compute/eltwise_unary/eltwise_unary.h"
void give() {
    tile_regs_commit();
    cb_reserve_back(16, 1);
    tile_regs_wait();
    pack_tile(0, 16);
    tile_regs_release();
    cb_push_back(16, 1);
}
void kernel_main() {
    compute_kernel_hw_startup<SrcOrder::Reverse>(0, 1, 16);
    matmul_init(0, 1);
    cb_wait_front(0, 2);
    cb_wait_front(1, 2);
    tile_regs_acquire();
    matmul_tiles(0, 1, 0, 0, 0);
    give();
    reconfig_full_operand(0, 0);
    add_init(0, 0);
    tile_regs_acquire();
    add_tiles(0, 0, 0, 1, 0);
    give();
    sub_bcast_cols_init(0, 0);
    tile_regs_acquire();
    sub_tiles_bcast_cols(0, 0, 0, 1, 0);
    give();
    mul_bcast_rows_init(0, 0);
    tile_regs_acquire();
    mul_tiles_bcast_rows(0, 0, 0, 1, 0);
    give();
    copy_init(0);
    tile_regs_acquire();
    copy_tile(0, 1, 0);
    abs_tile_init();
    abs_tile(0);
    give();
    if constexpr (get_compile_time_arg_val(0) == 6) {
        reconfig_full_operand(0, 1);
        reduce_init<PoolType::SUM, ReduceDim::REDUCE_ROW>(0, 1, 16);
        tile_regs_acquire();
        reduce_tile<PoolType::SUM, ReduceDim::REDUCE_ROW>(0, 1, 0, 1, 0);
        give();
        reduce_uninit();
    }
}
"""

Array = NDArray[np.float32]


def to_pages(tiles: Array) -> Array:
    """Tiles face by face, each in a row."""
    height = tiles.shape[-2]
    face = min(height, 16)
    faces = tiles.reshape(-1, height // face, face, 2, 16).transpose(0, 1, 3, 2, 4)
    return faces.reshape(-1, height * 32)


def to_tiles(pages: Array, height: int) -> Array:
    """The contrary."""
    face = min(height, 16)
    faces = pages.reshape(-1, height // face, 2, face, 16).transpose(0, 1, 3, 2, 4)
    return faces.reshape(-1, height, 32)


def kernel(text: str, config: Any, constants: list[int], arguments: list[int]) -> Any:
    """On core (0, 0)."""
    return ttnn.KernelDescriptor(
        kernel_source=text,
        source_type=ttnn.KernelDescriptor.SourceType.SOURCE_CODE,
        core_ranges=CORE,
        compile_time_args=constants,
        runtime_args=[(ttnn.CoreCoord(0, 0), arguments)],
        config=config,
    )


def circular_buffer(index: int, tile: Any) -> Any:
    """Two tiles."""
    form = ttnn.CBFormatDescriptor(
        buffer_index=index, data_format=ttnn.bfloat16, page_size=tile.height * 64, tile=tile
    )
    return ttnn.CBDescriptor(
        total_size=tile.height * 128, core_ranges=CORE, format_descriptors=[form]
    )


CORE = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (0, 0))])


def compute(device: Any, height: int, results: int) -> tuple[Array, Array]:
    """What the kernels make of two tiles, and what NumPy says.

    The library, version 0.81.1, gave the same on Tenstorrent's simulator for both generations.
    """
    rng = np.random.default_rng(3)
    a = rng.integers(-4, 5, (2, height, 32)).astype(np.float32)
    b = rng.integers(-2, 3, (32, 32)).astype(np.float32)
    ones = np.zeros((1, 1024), np.float32)
    ones.reshape(4, 16, 16)[:, 0] = 1

    def send(pages: Array) -> Any:
        return ttnn.Tensor(
            pages.flatten().tolist(),
            list(pages.shape),
            ttnn.bfloat16,
            ttnn.ROW_MAJOR_LAYOUT,
            device,
        )

    x, w = send(to_pages(a)), send(np.concatenate([to_pages(b), ones]))
    y = send(np.zeros((results, height * 32), np.float32))
    layouts = [ttnn.TensorAccessorArgs(each).get_compile_time_args() for each in (x, w, y)]
    addresses = [each.buffer_address() for each in (x, w, y)]
    small, whole = ttnn.TileDescriptor(height, 32), ttnn.TileDescriptor()
    program = ttnn.ProgramDescriptor(
        kernels=[
            kernel(READER, ttnn.ReaderConfigDescriptor(), layouts[0] + layouts[1], addresses[:2]),
            kernel(WRITER, ttnn.WriterConfigDescriptor(), [results, *layouts[2]], addresses[2:]),
            kernel(COMPUTE, ttnn.ComputeConfigDescriptor(), [results], []),
        ],
        cbs=[circular_buffer(0, small), circular_buffer(1, whole), circular_buffer(16, small)],
    )
    found = ttnn.to_torch(ttnn.generic_op([x, w, y], program)).float().numpy()
    first, second = a
    expected = [
        first @ b,
        first + second,
        first - second[:, :1],
        first * second[:1],
        np.abs(second),
        np.pad(first.sum(1, keepdims=True), ((0, 0), (0, 31))),
    ]
    return to_tiles(found, height), np.stack(expected[:results])


@pytest.mark.parametrize(("height", "results"), [(16, 6), (8, 5), (2, 5), (32, 6)])
def test_tiles_of_fewer_rows(height: int, results: int, device: Any) -> None:
    """Products, sums, broadcasts, functions and, of whole faces, sums of rows."""
    found, expected = compute(device, height, results)
    if results == 6:
        found[5, :, 1:] = 0
    assert found.tolist() == expected.tolist()


def test_tiles_that_cannot_be(device: Any) -> None:
    """What the unpackers of a card do otherwise is refused, as are extents that there are not."""
    with pytest.raises(RuntimeError, match="reduce_tile of tiles of 8 rows, those of circular"):
        compute(device, 8, 6)
    with pytest.raises(RuntimeError, match="a tile of 12 rows; tiles have 1, 2, 4, 8, 16 or 32"):
        compute(device, 12, 1)
    form = ttnn.CBFormatDescriptor(
        buffer_index=0, data_format=ttnn.bfloat16, page_size=1024, tile=ttnn.Tile((32, 16))
    )
    described = ttnn.CBDescriptor(total_size=1024, core_ranges=CORE, format_descriptors=[form])
    x = ttnn.zeros((1, 32), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device)
    with pytest.raises(RuntimeError, match="circular buffer 0 holds tiles of 32x16; tiles have 32"):
        ttnn.generic_op([x, x], ttnn.ProgramDescriptor(cbs=[described]))


def test_tiles_of_metalium() -> None:
    """Bytes of tiles, and what is refused."""
    assert Tile((16, 32)).get_tile_size(DataFormat.Float16_b) == 1024
    assert Tile((4, 32)).get_tile_size(DataFormat.Float32) == 512
    config = CircularBufferConfig(2048, {3: DataFormat.Float16_b}).set_page_size(3, 1024)
    assert config.set_tile_dims(3, Tile((16, 32))).tiles[3].height == 16
    with pytest.raises(MetaliumError, match="tiles have 32 columns here and are not transposed"):
        Tile((32, 16))
    with pytest.raises(MetaliumError, match="a tile of 3 rows; tiles have 1, 2, 4, 8, 16 or 32"):
        Tile((3, 32))
    number: Any = 16
    with pytest.raises(MetaliumError, match="set_tile_dims takes a Tile, such as Tile"):
        config.set_tile_dims(3, number)
