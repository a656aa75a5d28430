"""Calls of tt-metal 0.81 on several tiles, which are made of calls on one, in kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cores.compute_core import Recorder
from cores.tile_bytes import core_of, eighths, unpacked
from numpy.typing import NDArray

from ttmlir.layout.enums import DataType
from ttmlir.sim.errors import SimError

Array = NDArray[Any]
A, B = (np.stack([eighths(seed + each, 9) for each in range(3)]) for seed in (0, 10))
ONES = np.ones((3, 32, 32), np.float32)

_KERNEL = """
#include "api/compute/eltwise_binary.h"
void kernel_main() {{
    {init}
    cb_reserve_back(16, 2);
    tile_regs_acquire();
    {body}
    tile_regs_commit();
    tile_regs_wait();
    {pack}
    tile_regs_release();
    cb_push_back(16, 2);
}}
"""
_BINARY = "binary_op_init_common(0, 1, 16);"
_ROWS = "reduce_init<PoolType::MAX, ReduceDim::REDUCE_ROW>(0, 1, 16);"
_LARGEST = np.hstack([A[1], A[2]]).max(axis=1)


_PACK = "for (uint32_t i = 0; i < 2; ++i) pack_tile(i, 16);"


def run(init: str, body: str, second: Array, pack: str = _PACK) -> Array:
    """The two tiles of the output; nothing is found wrong."""
    watch = Recorder()
    core = core_of(
        (A, DataType.BF16),
        (second, DataType.BF16),
        out=DataType.F32,
        out_pages=2,
        fp32_dest_acc_en=True,
        watch=watch,
    )
    core.run_cpp(_KERNEL.format(init=init, body=body, pack=pack))
    assert watch.findings == []
    return unpacked(core.bytes_of(16), DataType.F32)


BLOCKS: dict[str, tuple[str, str, Callable[[Array, Array], Array]]] = {
    "add": ("add_tiles_init(0, 1);", "add_block(0, 1, 1, 0, 0, 2);", np.add),
    "sub": ("sub_tiles_init(0, 1);", "sub_block(0, 1, 1, 0, 0, 2);", np.subtract),
    "mul": ("mul_tiles_init(0, 1);", "mul_block(0, 1, 1, 0, 0, 2);", np.multiply),
    "transpose": (
        "transpose_init(0);",
        "transpose_block(0, 1, 0, 2);",
        lambda a, b: a.transpose(0, 2, 1),
    ),
    "any add": (
        "init_bcast<EltwiseBinaryType::ELWADD, BroadcastType::ROW>(0, 1, 16);",
        "for (uint32_t i = 0; i < 2; ++i) any_tiles_bcast<EltwiseBinaryType::ELWADD, "
        "BroadcastType::ROW>(0, 1, 1 + i, i, i);",
        lambda a, b: a + b[:, :1],
    ),
    "any mul": (
        "init_bcast<EltwiseBinaryType::ELWMUL, BroadcastType::COL>(0, 1, 16);",
        "for (uint32_t i = 0; i < 2; ++i) any_tiles_bcast<EltwiseBinaryType::ELWMUL, "
        "BroadcastType::COL>(0, 1, 1 + i, i, i);",
        lambda a, b: a * b[:, :, :1],
    ),
    "sub of columns": (
        "sub_bcast_cols_init_short_custom(0, 1, 2);",
        "sub_tiles_bcast_cols_custom(0, 1, 1, 0, 0, 2);",
        lambda a, b: a - b[:1, :, :1],
    ),
    "products of columns": (
        "mul_bcast_cols_init_short_custom(get_operand_id(0), 1);",
        "static_assert(ckernel::get_dest_max_tiles<DstSync::SyncHalf, true, "
        "ckernel::DstTileShape::Tile32x16>() == 8); "
        "for (uint32_t i = 0; i < 2; ++i) mul_tiles_bcast_cols_custom(0, 1, 1, i, 0, 2);",
        lambda a, b: a * (b[:1, :, :1] + b[1:2, :, :1]),
    ),
    "reuse": (
        "copy_init(0); copy_tile(0, 1, 0); copy_tile(0, 2, 1); binary_reuse_dest_init"
        "<EltwiseBinaryType::ELWSUB, EltwiseBinaryReuseDestType::DEST_TO_SRCB>(1);",
        "for (uint32_t i = 0; i < 2; ++i) binary_reuse_dest_tiles<EltwiseBinaryType::ELWSUB, "
        "EltwiseBinaryReuseDestType::DEST_TO_SRCB>(1, i, i);",
        lambda a, b: b - a,
    ),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks(name: str) -> None:
    """Tiles 1 and 2 of the first buffer, with tiles 0 and 1 of the second one."""
    init, body, function = BLOCKS[name]
    got = run(f"{_BINARY} reconfig_tile_shape(0, 1);", f"{init} {body}", B)
    np.testing.assert_array_equal(got, function(A[1:], B[:2]))


def test_reductions_of_blocks() -> None:
    """Each tile into a tile of its own."""
    body = "reduce_block<PoolType::MAX, ReduceDim::REDUCE_ROW>(0, 1, 1, 0, 0, 2);"
    got = run(_ROWS, body, ONES)
    np.testing.assert_array_equal(got[:, :, 0], A[1:].max(axis=2))


@pytest.mark.parametrize(
    "body",
    [
        "reduce_block_max_row_init<2>(16); reduce_block_max_row<2>(0, 1, 1, 0);",
        "reduce_block_max_row_init_runtime(16, 2, 0, 1); reduce_block_max_row_runtime(0, 1, 1, 0);",
        "reduce_block_max_row_reinit_short<2>(16); reduce_block_max_row<2>(0, 1, 1, 0);",
        "reduce_block_max_row_reinit_minimal_runtime(16, 2); "
        "reduce_block_max_row_runtime(0, 1, 1, 0);",
    ],
)
def test_the_largest_of_rows_of_blocks(body: str) -> None:
    """Tiles 1 and 2 stand side by side."""
    got = run(_ROWS, body, ONES)
    np.testing.assert_array_equal(got[0, :, 0], _LARGEST)


def test_halves_of_rows_wait_for_the_packer() -> None:
    """The unpackers take the second half when the packer says so, and the tokens at the end."""
    body = (
        "PACK((t6_semaphore_init(semaphore::FPU_SFPU, 0, 1))); "
        "PACK((t6_semaphore_init(semaphore::UNPACK_MATH_DONE, 0, 1))); "
        "PACK((t6_semaphore_post<p_stall::STALL_PACK>(semaphore::UNPACK_MATH_DONE))); "
        "PACK((t6_semaphore_post<p_stall::STALL_PACK>(semaphore::FPU_SFPU))); "
        "reduce_block_max_row_init_runtime(16, 2, 0, 1, true); "
        "reduce_block_max_row_runtime(0, 1, 1, 0, true, true); "
        "reduce_block_max_row_uninit_runtime(0, true, true); "
        "PACK((t6_semaphore_post<>(semaphore::FPU_SFPU))); "
        "PACK((t6_semaphore_wait_on_max<p_stall::STALL_SYNC>(semaphore::UNPACK_MATH_DONE))); "
        "UNPACK((t6_semaphore_wait_on_zero<p_stall::STALL_SYNC>(semaphore::FPU_SFPU))); "
    )
    np.testing.assert_array_equal(run(_ROWS, body, ONES)[0, :, 0], _LARGEST)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("wait_on_zero<p_stall::STALL_SYNC>(4)", "semaphore 4 of the units, which is zero"),
        ("get(8)", "t6_semaphore_get of semaphore 8; the units have 8"),
        ("init(3, 0, 16)", "t6_semaphore_init with the maximum 16; it is from 0 to 15"),
        ("init(3, 16, 2)", "t6_semaphore_init with the value 16; it is from 0 to 15"),
        (
            "init(3, 14, 2))); UNPACK((t6_semaphore_post<>(3))); UNPACK((t6_semaphore_post<>(3)",
            "t6_semaphore_post is lost: semaphore 3 of the units has 15 tokens, and no room",
        ),
    ],
)
def test_wrong_semaphores_of_units(call: str, message: str) -> None:
    """Who waits for ever is told for what."""
    with pytest.raises(SimError, match=message):
        run(_BINARY, f"copy_init(0); UNPACK((t6_semaphore_{call}));", B)


@pytest.mark.parametrize(
    ("stride", "columns"), [("", (0, 1)), ("matmul_set_in1_column_stride(1, 2);", (0, 2))]
)
def test_products_without_loops(stride: str, columns: tuple[int, int]) -> None:
    """A tile by two others, side by side or apart."""
    body = (
        f"mm_no_mop_init_short(0, 1, false, 2, 1, 1); {stride} "
        "matmul_block_no_mop(0, 1, 1, 0, 0, false, 2, 1, 1);"
    )
    got = run("mm_block_init(0, 1, 16, 0, 2, 1, 1);", body, B)
    np.testing.assert_array_equal(got, A[1] @ B[list(columns)])


def test_the_packer_takes_several_tiles() -> None:
    """One call packs as many as it is prepared for; a mask leaves what reductions give."""
    body = "copy_init(0); copy_tile(0, 1, 0); copy_tile(0, 2, 1);"
    several = (
        "PACK((llk_pack_init<PackMode::Default, false, true, true>(16, 2))); pack_tile(0, 16);"
    )
    np.testing.assert_array_equal(run(_BINARY, body, B, several), A[1:])
    masked = "PACK((llk_pack_reduce_mask_config<ReduceDim::REDUCE_ROW, PackMode::Default>(16)));"
    cleared = "PACK(({ llk_pack_reduce_mask_clear(); }));"
    got = run(_BINARY, body, B, f"{masked} pack_tile(0, 16); {cleared} pack_tile(1, 16);")
    np.testing.assert_array_equal(got[0], np.where(np.arange(32) == 0, A[1], 0))
    np.testing.assert_array_equal(got[1], A[2])


def test_the_end_of_rows_of_blocks() -> None:
    """Whole tiles are packed again."""
    body = (
        "reduce_block_max_row_init<2>(16); reduce_block_max_row_uninit(0); "
        "copy_init(0); copy_tile(0, 1, 0); copy_tile(0, 2, 1);"
    )
    np.testing.assert_array_equal(run(_ROWS, body, ONES), A[1:])
