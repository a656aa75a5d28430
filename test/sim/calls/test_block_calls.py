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
    for (uint32_t i = 0; i < 2; ++i) pack_tile(i, 16);
    tile_regs_release();
    cb_push_back(16, 2);
}}
"""
_BINARY = "binary_op_init_common(0, 1, 16);"
_ROWS = "reduce_init<PoolType::MAX, ReduceDim::REDUCE_ROW>(0, 1, 16);"
_LARGEST = np.hstack([A[1], A[2]]).max(axis=1)


def run(init: str, body: str, second: Array) -> Array:
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
    core.run_cpp(_KERNEL.format(init=init, body=body))
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


def test_the_end_of_rows_of_blocks() -> None:
    """Whole tiles are packed again."""
    body = (
        "reduce_block_max_row_init<2>(16); reduce_block_max_row_uninit(0); "
        "copy_init(0); copy_tile(0, 1, 0); copy_tile(0, 2, 1);"
    )
    np.testing.assert_array_equal(run(_ROWS, body, ONES), A[1:])
