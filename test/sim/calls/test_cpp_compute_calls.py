"""Calls of compute kernels that C++ alone has: other releases' names, ReLU in the packer, masks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cores.compute_core import ComputeCore, Recorder
from cores.tile_bytes import BOTH, core_of, eighths, packed, unpacked
from numpy.typing import NDArray

from ttmlir.layout.enums import DataType
from ttmlir.optable.kernel import ALL_CALLS, SPELLINGS
from ttmlir.optable.kernel.releases import Release
from ttmlir.sim.options import Numerics, SimOptions

Array = NDArray[Any]
A, B, C = eighths(1), eighths(2), eighths(3)


def run(core: ComputeCore, body: str, before: str = "", **options: Any) -> Array:
    """What the section `body` leaves in tile 0 of DST, as the packer writes it to buffer 16."""
    text = f"""void kernel_main() {{
        {before}
        tile_regs_acquire();
        {body}
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, 16);
        tile_regs_release();
    }}"""
    core.run_cpp(text, **options)
    return unpacked(core.bytes_of(16), core.core.cbs[16].data_format)[0]


def test_spellings_name_calls() -> None:
    """Each is another name of a call, and no call's own."""
    names = {definition.cpp for definition in ALL_CALLS}
    assert set(SPELLINGS.values()) <= names
    assert names.isdisjoint(SPELLINGS)


SUMS = "binary_op_init_common(0, 1, 16);"
BINARY: list[tuple[str, str, str, Any]] = [
    (SUMS, "add_init(0, 1);", "add_tiles(0, 1, 0, 0, 0);", A + B),
    (SUMS, "sub_init(0, 1);", "sub_tiles(0, 1, 0, 0, 0);", A - B),
    (SUMS, "binary_tiles_init<true, EltwiseBinaryType::ELWSUB>(0, 1);",
     "sub_tiles(0, 1, 0, 0, 0);", A - B),
    (SUMS, "binary_tiles_init<false, ckernel::ELWADD>(0, 1, true);",
     "add_tiles(0, 1, 0, 0, 0); add_tiles(0, 1, 0, 0, 0);", 2 * (A + B)),
    (SUMS, "binary_op_specific_init<true, ELWADD>();", "add_tiles(0, 1, 0, 0, 0);", A + B),
    (SUMS, "bcast_init<ELWSUB, BroadcastType::ROW>(0, 1);",
     "sub_tiles_bcast<BroadcastType::ROW>(0, 1, 0, 0, 0);", A - B[:1]),
    (SUMS, "add_bcast_cols_init(0, 1);", "add_tiles_bcast_cols(0, 1, 0, 0, 0);", A + B[:, :1]),
    (SUMS, "sub_bcast_scalar_init(0, 1);",
     "sub_tiles_bcast_scalar(0, 1, 0, 0, 0);", A - B[0, 0]),
    (SUMS, "copy_init(0); copy_tile(0, 0, 0); add_reuse_dest_init"
     "<EltwiseBinaryReuseDestType::DEST_TO_SRCA>(1);",
     "add_reuse_dest_tiles<EltwiseBinaryReuseDestType::DEST_TO_SRCA>(1, 0, 0);", A + B),
    (SUMS, "copy_init(0); copy_tile(0, 0, 0); sub_reuse_dest_init"
     "<EltwiseBinaryReuseDestType::DEST_TO_SRCB>(1);",
     "sub_reuse_dest_tiles<EltwiseBinaryReuseDestType::DEST_TO_SRCB>(1, 0, 0);", B - A),
    ("unary_op_init_common(0, 16);", "copy_init(0, 1);", "copy_tile(0, 0, 0);", A.T),
    ("unary_op_init_common(0, 16);", "transpose_init(0);", "transpose_tile(0, 0, 0);", A.T),
    ("unary_op_init_common(0, 16);", "copy_init(0); copy_tile(0, 0, 0);",
     "transpose_wh_dest_init_short(); transpose_wh_dest(0);", A.T),
    ("unary_op_init_common(0, 16);", "copy_init(0); copy_tile(0, 0, 0);",
     "transpose_dest_init(); transpose_dest<false, false>(0);",
     A.reshape(2, 16, 2, 16).transpose(0, 3, 2, 1).reshape(32, 32)),
    ("unary_op_init_common(0, 16);", "copy_block(0, 0, 0, 1);", "", A),
]  # fmt: skip


@pytest.mark.parametrize("numerics", BOTH)
@pytest.mark.parametrize(("before", "init", "body", "expected"), BINARY)
def test_names_of_other_releases(
    before: str, init: str, body: str, expected: Array, numerics: Numerics
) -> None:
    """Sums, differences and copies under the names of 2024 to 2026."""
    watch = Recorder()
    core = core_of(
        (A, DataType.BF16),
        (B, DataType.BF16),
        numerics=numerics,
        watch=watch,
        out=DataType.F32,
        fp32_dest_acc_en=True,
    )
    np.testing.assert_array_equal(run(core, f"{init} {body}", before), expected)
    assert watch.findings == []


def test_the_core_is_configured_for_products() -> None:
    """`SrcOrder::Reverse` takes SrcA from the second factor, as products do."""
    watch = Recorder()
    core = core_of(
        (A, DataType.F16), (B, DataType.BF16), numerics="exact", out=DataType.F32, watch=watch
    )
    before = "compute_kernel_hw_startup<SrcOrder::Reverse>(0, 1, 16);"
    got = run(core, "matmul_init(0, 1); matmul_tiles(0, 1, 0, 0, 0);", before)
    np.testing.assert_allclose(got, A.astype(np.float64) @ B, rtol=1e-6)
    assert watch.findings == []


def test_products_under_the_names_of_2026() -> None:
    """`matmul_init` and `matmul_block_init` prepare them; both formats can be taken anew."""
    for init, product in (
        ("matmul_init(0, 1);", "matmul_tiles(0, 1, 0, 0, 0);"),
        ("matmul_block_init(0, 1, 0, 1, 1, 1);", "matmul_block(0, 1, 0, 0, 0, 0, 1, 1, 1);"),
        (
            "mm_block_init_short_with_both_dt(0, 1, 1, 0, 0, 1, 1, 1);",
            "matmul_block(0, 1, 0, 0, 0, false, 1, 1, 1);",
        ),
    ):
        core = core_of((A, DataType.BF16), (B, DataType.F32), numerics="exact", out=DataType.F32)
        before = "mm_init(0, 1, 16);"
        got = run(core, f"{init} {product}", before)
        np.testing.assert_allclose(got, A.astype(np.float64) @ B, rtol=1e-6)


RELU: list[tuple[str, Any]] = [
    ("ReluType::NO_RELU", A),
    ("ReluType::ZERO_RELU", np.maximum(A, 0)),
    # The threshold 1.5 has the bits 0x3fc0 as bfloat16.
    ("2 | 0x3fc0 << 16", np.where(A > 1.5, A, 0)),
    ("3 | 0x3fc0 << 16", np.clip(A, 0, 1.5)),
]


@pytest.mark.parametrize("numerics", BOTH)
@pytest.mark.parametrize(("config", "expected"), RELU)
def test_packer_applies_relu(config: str, expected: Array, numerics: Numerics) -> None:
    """None, to zero, up to a threshold, and with a threshold on top."""
    core = core_of((A, DataType.BF16), numerics=numerics)
    got = run(core, f"copy_tile(0, 0, 0); PACK((llk_pack_relu_config({config})));", UNARY)
    np.testing.assert_array_equal(got, expected)


UNARY = "unary_op_init_common(0, 16);"


@pytest.mark.parametrize(("name", "value"), [("mask_tile", 0.0), ("mask_posinf_tile", np.inf)])
def test_masks_are_read_behind_the_tile(name: str, value: float) -> None:
    """The mask is tile 1 though the call says 3; what it does not hold is replaced."""
    mask = (np.arange(1024).reshape(32, 32) % 3 != 0).astype(np.float32)
    core = core_of((A, DataType.BF16), (mask, DataType.BF16))
    copies = "copy_tile_init(0); copy_tile(0, 0, 0); copy_tile_init(1); copy_tile(1, 0, 1);"
    got = run(core, f"{copies} mask_tile_init(); {name}(0, 3);", UNARY)
    np.testing.assert_array_equal(got, np.where(mask == 0, value, A))


def test_the_larger_in_place() -> None:
    """`max_tile` of 2025 leaves it in its first tile; functions of later releases beside it."""
    core = core_of((A, DataType.BF16), (B, DataType.BF16))
    copies = "copy_tile_init(0); copy_tile(0, 0, 0); copy_tile_init(1); copy_tile(1, 0, 1);"
    got = run(core, f"{copies} max_tile_init(); max_tile(0, 1);", UNARY)
    np.testing.assert_array_equal(got, np.maximum(A, B))


def test_a_number_minus_a_tile() -> None:
    """`rsub_tile` takes the number by its bits: 2.5."""
    core = core_of((A, DataType.BF16), out=DataType.F32, fp32_dest_acc_en=True)
    got = run(core, "copy_tile(0, 0, 0); rsub_tile_init(); rsub_tile(0, 0x40200000);", UNARY)
    np.testing.assert_array_equal(got, 2.5 - A)


REDUCTIONS: list[tuple[str, dict[str, str]]] = [
    ("<false, PoolType::SUM, ReduceDim::REDUCE_COL>", {}),
    ("<false>", {"REDUCE_OP": "PoolType::SUM", "REDUCE_DIM": "ReduceDim::REDUCE_COL"}),
]


@pytest.mark.parametrize(("template", "defines"), REDUCTIONS)
def test_reductions_without_new_formats(template: str, defines: dict[str, str]) -> None:
    """`reduce_init_delta`; what the kernel does not say is said by macros."""
    ones = np.ones((32, 32), np.float32)
    core = core_of((A, DataType.BF16), (ones, DataType.BF16), numerics="exact", out=DataType.F32)
    kind = "<PoolType::SUM, ReduceDim::REDUCE_COL>"
    body = f"""reduce_init_delta{template}(0, 1, 16); reduce_tile{kind}(0, 1, 0, 0, 0);
        reduce_revert_delta<ReduceDim::REDUCE_COL>(16);"""
    got = run(core, body, SUMS, defines=defines)
    np.testing.assert_array_equal(got[0], A.sum(axis=0))


def test_reductions_of_2024() -> None:
    """`reduce_init` has a flag in front, and packs to circular buffer 16 if it names no other."""
    ones = np.ones((32, 32), np.float32)
    core = core_of((A, DataType.BF16), (ones, DataType.BF16), numerics="exact", out=DataType.F32)
    defines = {"REDUCE_OP": "PoolType::SUM", "REDUCE_DIM": "ReduceDim::REDUCE_COL"}
    body = "reduce_init<true>(0, 1); reduce_tile(0, 1, 0, 0, 0);"
    got = run(core, body, SUMS, defines=defines, release=Release.LATE_2024)
    np.testing.assert_array_equal(got[0], A.sum(axis=0))


@pytest.mark.parametrize("numerics", BOTH)
@pytest.mark.parametrize("rows", [4, 16])
@pytest.mark.parametrize("pool", ["MAX", "SUM"])
def test_sticks_are_pooled(pool: str, rows: int, numerics: Numerics) -> None:
    """Rows of 64 numbers are two tiles; missing rows count as -inf, or as zero."""
    options = SimOptions(numerics=numerics)
    core = ComputeCore(options=options)
    sticks = np.zeros((32, 64), np.float32)
    sticks[:rows] = np.hstack((A, B))[:rows]
    data = packed_rows(sticks)
    core.filled(0, DataType.BF16, [data[:2048], data[2048:]])
    core.filled(1, DataType.BF16, [packed(np.ones((32, 32), np.float32))])
    core.buffer(16, DataType.BF16, 2)
    flags = "true, true, false, false" if pool == "MAX" else "false, true, false, true"
    start = "true, false" if pool == "MAX" else "false, true"
    text = f"""void kernel_main() {{
        tilizeA_B_reduce_init<{start}>(0, 1, 2, 16, 2, {rows});
        tile_regs_acquire();
        unpack_tilizeA_B_block<{flags}>(0, 1, 2, 0, 2, {rows});
        for (uint32_t i = 0; i < 2; ++i) {{
            reduce_tile_math<PoolType::{pool}, ReduceDim::REDUCE_COL>(i, 2);
        }}
        tile_regs_commit();
        tile_regs_wait();
        pack_tile_block(0, 16, 2);
        tile_regs_release();
    }}"""
    core.run_cpp(text)
    got = np.hstack([tile[0] for tile in unpacked(core.bytes_of(16))])
    part = sticks[:rows]
    exact = part.max(axis=0) if pool == "MAX" else part.sum(axis=0)
    np.testing.assert_allclose(got, exact, rtol=2**-7, atol=1e-6)


def packed_rows(rows: Array) -> bytes:
    """Rows of numbers as bfloat16; the values have no more bits."""
    return (np.ascontiguousarray(rows).view(np.uint32) >> 16).astype(np.uint16).tobytes()


def test_fast_tilize_makes_the_same_tiles() -> None:
    """As `tilize_block`, prepared by its own call."""
    core = ComputeCore()
    rows = np.hstack((A, B))
    core.filled(0, DataType.BF16, [packed_rows(rows)[:2048], packed_rows(rows)[2048:]])
    core.buffer(16, DataType.BF16, 2)
    core.run_cpp(
        """void kernel_main() {
            compute_kernel_hw_startup(0, 16);
            fast_tilize_init(0, 2, 16);
            fast_tilize_block(0, 2, 16);
            fast_tilize_uninit(0, 16);
        }"""
    )
    np.testing.assert_array_equal(unpacked(core.bytes_of(16)), [A, B])


def test_rows_under_the_names_of_2025() -> None:
    """`tilize_init_short` and `pack_untilize_dst` prepare and do what the later names do."""
    core = ComputeCore()
    core.filled(0, DataType.BF16, [packed(A), packed(B)])
    core.buffer(16, DataType.BF16, 2)
    core.run_cpp(
        """void kernel_main() {
            unary_op_init_common(0, 16);
            copy_tile_init(0);
            tile_regs_acquire();
            copy_tile(0, 0, 0);
            copy_tile(0, 1, 1);
            tile_regs_commit();
            tile_regs_wait();
            pack_untilize_dst_init_short<2>(16);
            pack_untilize_dst<2>(16);
            pack_untilize_uninit(16);
            tile_regs_release();
        }"""
    )
    got = core.bytes_of(16).view(np.uint16).astype(np.uint32) << 16
    np.testing.assert_array_equal(got.view(np.float32).reshape(32, 64), np.hstack((A, B)))
