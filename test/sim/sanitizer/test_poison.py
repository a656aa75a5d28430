"""Numbers that nobody wrote travel with their tile, and count where they matter."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from ttmlir.metalium import (
    CircularBufferConfig,
    ComputeConfig,
    CoreCoord,
    CreateBuffer,
    CreateCircularBuffer,
    CreateDevice,
    CreateKernelFromString,
    CreateProgram,
    DataFormat,
    EnqueueProgram,
    EnqueueReadBuffer,
    InterleavedBufferConfig,
    ReaderDataMovementConfig,
    SetRuntimeArgs,
    WriterDataMovementConfig,
)
from ttmlir.sim.errors import SanitizerError

CORE, TILE = CoreCoord(0, 0), 2048
READER = """
#include "dataflow_api.h"
void kernel_main() {
    // Column 0 of the tile is 4.
    cb_reserve_back(0, 1);
    auto numbers = reinterpret_cast<volatile tt_l1_ptr uint16_t*>(get_write_ptr(0));
    for (uint32_t face = 0; face < 4; face += 2)
        for (uint32_t row = 0; row < 16; ++row) numbers[256 * face + 16 * row] = 0x4080;
    cb_push_back(0, 1);
    // All of the other one is 1.
    cb_reserve_back(1, 1);
    auto ones = reinterpret_cast<volatile tt_l1_ptr uint16_t*>(get_write_ptr(1));
    for (uint32_t i = 0; i < 1024; ++i) ones[i] = 0x3f80;
    cb_push_back(1, 1);
}
"""
WRITER = """
#include "dataflow_api.h"
void kernel_main() {
    const InterleavedAddrGen<true> out = {
        .bank_base_address = get_arg_val<uint32_t>(0), .page_size = 2048};
    cb_wait_front(16, 1);
    noc_async_write(get_read_ptr(16), get_noc_addr(0, out), SIZE);
    noc_async_write_barrier();
    cb_pop_front(16, 1);
}
"""
COMPUTE = """
#include "compute_kernel_api/bcast.h"
#include "compute_kernel_api/eltwise_binary.h"
#include "compute_kernel_api/eltwise_unary/eltwise_unary.h"
#include "compute_kernel_api/eltwise_unary/fill.h"
#include "compute_kernel_api/eltwise_unary/sqrt.h"
#include "compute_kernel_api/mask.h"
#include "compute_kernel_api/matmul.h"
#include "compute_kernel_api/reduce.h"
#include "compute_kernel_api/tile_move_copy.h"
#define HAND_OVER(buffer) \\
    tile_regs_commit(); tile_regs_wait(); cb_reserve_back(buffer, 1); pack_tile(0, buffer); \\
    tile_regs_release(); cb_push_back(buffer, 1)
using namespace sfpi;
FUNCTION
namespace NAMESPACE {
void MAIN {
    cb_wait_front(0, 1);
    cb_wait_front(1, 1);
    BODY
}
}
"""
ROOTS = """
    binary_op_init_common(0, 1, 2);
    add_tiles_init(0, 1);
    sqrt_tile_init();
    tile_regs_acquire();
    add_tiles(0, 1, 0, 0, 0);
    sqrt_tile(0);
    HAND_OVER(2);
    cb_wait_front(2, 1);
    """
SPREAD = """
    mul_bcast_cols_init_short(1, 2);
    tile_regs_acquire();
    mul_tiles_bcast_cols(1, 2, 0, 0, 0);
    HAND_OVER(16);
"""
COPIED = """
    copy_tile_to_dst_init_short(2);
    tile_regs_acquire();
    copy_tile(2, 0, 0);
    HAND_OVER(16);
"""
MULTIPLIED = """
    mm_init_short(1, 2);
    tile_regs_acquire();
    matmul_tiles(1, 2, 0, 0, 0, 0);
    HAND_OVER(3);
    cb_wait_front(3, 1);
    """
FIRST_COLUMN = SPREAD.replace("(1, 2", "(1, 3")
PRODUCT = COPIED.replace("(2", "(3")
SUMMED = """
    reduce_init<PoolType::SUM, ReduceDim::REDUCE_ROW>(2, 1, 16);
    tile_regs_acquire();
    reduce_tile<PoolType::SUM, ReduceDim::REDUCE_ROW>(2, 1, 0, 0, 0);
    HAND_OVER(16);
"""


def run(
    body: str, size: int = TILE, function: str = ""
) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """The numbers of the tile that is written, `size` bytes of it; no rule is relaxed."""
    device, program = CreateDevice(0, cycle_limit=1_000_000), CreateProgram()
    queue = device.command_queue()
    config = InterleavedBufferConfig(device=device, size=TILE, page_size=TILE)
    buffer = CreateBuffer(config)
    for index in (0, 1, 2, 3, 16):
        buffers = CircularBufferConfig(TILE, {index: DataFormat.Float16_b})
        CreateCircularBuffer(program, CORE, buffers.set_page_size(index, TILE))
    CreateKernelFromString(program, READER, CORE, ReaderDataMovementConfig())
    defines = {"SIZE": str(size)}
    writer = WriterDataMovementConfig(defines=defines)
    kernel = CreateKernelFromString(program, WRITER, CORE, writer)
    SetRuntimeArgs(program, kernel, CORE, [buffer.address()])
    text = COMPUTE.replace("BODY", body).replace("FUNCTION", function)
    CreateKernelFromString(program, text, CORE, ComputeConfig())
    EnqueueProgram(queue, program)
    found = np.zeros(TILE, np.uint8)
    EnqueueReadBuffer(queue, buffer, found)
    return found[:size].view(ml_dtypes.bfloat16).astype(np.float32)


def test_numbers_that_do_not_matter_are_no_mistake() -> None:
    """Of a tile with one column only that column is used at the end."""
    assert (run(ROOTS + SPREAD) == np.float32(ml_dtypes.bfloat16(5**0.5))).all()


def find(body: str, function: str = "") -> SanitizerError:
    """The finding of a program."""
    with pytest.raises(SanitizerError) as caught:
        run(body, function=function)
    assert caught.value.rule == "uninitialised-read"
    return caught.value


def test_stored_numbers_are_one() -> None:
    """They are found where they become a result; a note says where they were read first."""
    finding = find(ROOTS + COPIED)
    assert finding.source_line.strip().startswith("noc_async_write(get_read_ptr(16)")
    assert "which come from bytes that nobody has written" in finding.message
    (note,) = finding.related
    assert note.source_line.strip() == "add_tiles(0, 1, 0, 0, 0);"
    assert "which nobody has written" in note.message


def test_products_have_rows_and_columns() -> None:
    """Of a product with one column that column is right, and the others are not."""
    root = np.float32(ml_dtypes.bfloat16(5**0.5))
    found = run(ROOTS + MULTIPLIED + FIRST_COLUMN)
    assert (abs(found - 32 * root) < 0.02 * 32 * root).all()
    assert find(ROOTS + MULTIPLIED + PRODUCT).source_line.strip().startswith("noc_async_write")
    swapped = MULTIPLIED.replace("(1, 2", "(2, 1")
    assert find(ROOTS + swapped + FIRST_COLUMN).source_line.strip().startswith("noc_async_write")


@pytest.mark.parametrize("pool", ["SUM", "MAX"])
def test_numbers_that_decide_others_are_one(pool: str) -> None:
    """A sum of rows takes all numbers of each row, and is stored; of columns the first is right."""
    summed = SUMMED.replace("SUM", pool)
    assert find(ROOTS + summed).source_line.strip().startswith("noc_async_write")
    columns = summed.replace("REDUCE_ROW", "REDUCE_COL")
    # The sum of 32 roots times 1, which is the first number of the tile.
    expected = 5**0.5 * (32 if pool == "SUM" else 1)
    np.testing.assert_allclose(run(ROOTS + columns, 2), expected, rtol=0.01)
    assert find(ROOTS + columns).source_line.strip().startswith("noc_async_write")


def test_factors_of_sums_are_the_first_numbers_alone() -> None:
    """Of a tile of factors one row is used, of which one number was written; of zeros all were."""
    swapped = SUMMED.replace("(2, 1, ", "(1, 2, ")
    assert find(ROOTS + swapped).source_line.strip().startswith("noc_async_write")


VECTORS = """
    copy_tile_to_dst_init_short(2);
    tile_regs_acquire();
    copy_tile(2, 0, 0);
    MATH((call()));
    HAND_OVER(16);
"""
FUNCTION = """
#ifdef TRISC_MATH
void call() {
    for (int i = 0; i < 32; i++) {
        vFloat x = dst_reg[i];
        BODY
    }
}
#endif
"""
_ROOT = np.float32(ml_dtypes.bfloat16(5**0.5))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("vFloat y = x * 2.0f; v_if (y > 1.0f) { y = y + 1.0f; } v_else { y = 0.0f; } v_endif; "
         "dst_reg[i] = y;", 2 * _ROOT + 1),
        ("v_if (x > 100.0f) { dst_reg[i] = 7.0f; } v_endif;", _ROOT),
        ("l_reg[LRegs::LReg3] = x; vFloat y = l_reg[LRegs::LReg3]; dst_reg[i] = -y;", -_ROOT),
        ("vInt n = reinterpret<vInt>(x); dst_reg[i] = reinterpret<vFloat>(n | 0);", _ROOT),
    ],
)  # fmt: skip
def test_vectors_carry_their_lanes(function: str, expected: float) -> None:
    """Column 0 is right whatever the others hold, and these are found where they are stored."""
    body = ROOTS + VECTORS
    function = FUNCTION.replace("BODY", function)
    with np.errstate(all="ignore"):
        (found,) = run(body, 2, function)
    np.testing.assert_allclose(found, expected, rtol=0.01)
    assert find(body, function).source_line.strip().startswith("noc_async_write")


@pytest.mark.parametrize(
    "function",
    ["x = 3.0f; dst_reg[i] = x;", "dst_reg[i] = 3.0f; vFloat y = dst_reg[i]; dst_reg[i] = y;"],
)
def test_vectors_that_are_written_are_right(function: str) -> None:
    """What all lanes are given is no longer unwritten."""
    assert (run(ROOTS + VECTORS, TILE, FUNCTION.replace("BODY", function)) == 3).all()


def test_lanes_that_change_places_count_at_once() -> None:
    """A rotation of rows is told where they were read."""
    function = FUNCTION.replace("BODY", "dst_reg[i] = subvec_shflror1(x);")
    assert find(ROOTS + VECTORS, function).source_line.strip() == "copy_tile(2, 0, 0);"


def test_masked_numbers_are_written() -> None:
    """What a mask replaces counts as written."""
    body = """
    copy_tile_to_dst_init_short(2);
    tile_regs_acquire();
    copy_tile(2, 0, 0);
    copy_tile(1, 0, 1);
    fill_tile_init();
    fill_tile(1, 0.0f);
    mask_tile_init();
    mask_tile(0, 1);
    HAND_OVER(16);
    """
    assert (run(ROOTS + body) == 0).all()


def test_part_of_a_tile_is_stored() -> None:
    """Two bytes are, which were written."""
    assert (run(ROOTS + COPIED, 2) == np.float32(ml_dtypes.bfloat16(5**0.5))).all()
