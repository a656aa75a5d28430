"""Elementwise operations and matrix products of compute kernels on one core.

Expected values come from NumPy; inputs are chosen so that results are exact in the format.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from cores.compute_core import call
from cores.tile_bytes import BOTH, core_of, eighths, result, unpacked

from ttmlir.layout.enums import DataType, MathFidelity
from ttmlir.sim.options import Numerics, SimOptions

BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply}


@pytest.mark.parametrize("numerics", BOTH)
@pytest.mark.parametrize("operation", BINARY)
@pytest.mark.parametrize(
    "data_type", [DataType.BF16, DataType.F16, DataType.F32, DataType.BFP_BF8, DataType.BFP_F8]
)
def test_elementwise_operations_of_the_matrix_unit(
    operation: str, data_type: DataType, numerics: Numerics
) -> None:
    """in0 (op) in1, exactly: sums and products of small multiples of 1/8 fit all formats."""
    x, y = eighths(1, 8), eighths(2, 8)
    core = core_of((x, data_type), (y, data_type), out=data_type, numerics=numerics)
    got = result(
        core,
        call("binary_op_init_common", 0, 1, 16),
        call(f"{operation}_tiles_init", 0, 1),
        call("cb_wait_front", 0, 1),
        call("cb_wait_front", 1, 1),
        call(f"{operation}_tiles", 0, 1, 0, 0, 0),
        call("cb_pop_front", 0, 1),
        call("cb_pop_front", 1, 1),
    )
    np.testing.assert_array_equal(got, BINARY[operation](x, y))


@pytest.mark.parametrize("numerics", BOTH)
@pytest.mark.parametrize("operation", BINARY)
@pytest.mark.parametrize(("part", "number"), [("rows", 2), ("cols", 1), ("scalar", 3)])
def test_broadcasts(operation: str, part: str, number: int, numerics: Numerics) -> None:
    """Row 0, column 0 or the first number of in1, under both names of the call."""
    x, y = eighths(1, 8), eighths(2, 8)
    spread = {"rows": y[:1], "cols": y[:, :1], "scalar": y[:1, :1]}[part]
    expected = BINARY[operation](x, spread)
    kind = {"add": 2, "sub": 3, "mul": 0}[operation]
    for init, name in (
        (
            call("init_bcast", 0, 1, 16, template=(kind, number)),
            call(f"{operation}_tiles_bcast", 0, 1, 0, 0, 0, template=(number,)),
        ),
        (
            call("init_bcast", 0, 1, 16, template=(kind, number)),
            call(f"{operation}_tiles_bcast_{part}", 0, 1, 0, 0, 0),
        ),
    ):
        core = core_of((x, DataType.BF16), (y, DataType.BF16), numerics=numerics)
        np.testing.assert_array_equal(result(core, init, name), expected)


@pytest.mark.parametrize("numerics", BOTH)
def test_matrix_product_accumulates_over_tiles(numerics: Numerics) -> None:
    """Two products onto the same tile; small integers stay exact in bfloat16's 8 bits."""
    rng = np.random.default_rng(3)
    a = rng.integers(-1, 2, (2, 32, 32)).astype(np.float32)
    b = rng.integers(-1, 2, (2, 32, 32)).astype(np.float32)
    core = core_of((a, DataType.BF16), (b, DataType.BF16), numerics=numerics)
    got = result(
        core,
        call("mm_init", 0, 1, 16),
        call("matmul_tiles", 0, 1, 0, 0, 0),
        call("matmul_tiles", 0, 1, 1, 1, 0),
    )
    np.testing.assert_array_equal(got, a[0] @ b[0] + a[1] @ b[1])


@pytest.mark.parametrize("numerics", BOTH)
@pytest.mark.parametrize("fp32", [False, True])
def test_matrix_product_with_a_transposed_factor(numerics: Numerics, fp32: bool) -> None:
    """`transpose` turns the tiles of in1."""
    rng = np.random.default_rng(3)
    a = rng.integers(-1, 2, (32, 32)).astype(np.float32)
    b = rng.integers(-1, 2, (32, 32)).astype(np.float32)
    core = core_of((a, DataType.BF16), (b, DataType.BF16), numerics=numerics, fp32_dest_acc_en=fp32)
    got = result(core, call("mm_init", 0, 1, 16, 1), call("matmul_tiles", 0, 1, 0, 0, 0))
    np.testing.assert_array_equal(got, a @ b.T)


@pytest.mark.parametrize("numerics", BOTH)
def test_matrix_product_of_blocks(numerics: Numerics) -> None:
    """2 rows of 3 tiles: in0 steps by kt_dim, in1 by one."""
    rng = np.random.default_rng(4)
    a = rng.integers(-1, 2, (4, 32, 32)).astype(np.float32)
    b = rng.integers(-1, 2, (6, 32, 32)).astype(np.float32)
    core = core_of((a, DataType.BF16), (b, DataType.BF16), out_pages=6, numerics=numerics)
    calls = [call("mm_block_init", 0, 1, 16, 0, 3, 2, 2), call("tile_regs_acquire")]
    calls += [call("matmul_block", 0, 1, k, 3 * k, 0, 0, 3, 2, 2) for k in range(2)]
    calls += [call("tile_regs_commit"), call("tile_regs_wait")]
    calls += [call("pack_tile_block", 0, 16, 6), call("tile_regs_release")]
    core.run(calls)
    got = unpacked(core.bytes_of(16))
    for row in range(2):
        for column in range(3):
            expected = a[2 * row] @ b[column] + a[2 * row + 1] @ b[3 + column]
            np.testing.assert_array_equal(got[3 * row + column], expected)


@pytest.mark.parametrize("wide", [False, True])
def test_float32_multiply_without_circular_buffer_calls(wide: bool) -> None:
    """The kernel of tt-mlir's first pipeline for a 64x128 multiply: 8 tiles, no push or pop.

    Operands are cut to 11 bits, and the multiplier drops the last one of SrcA, 2^-10 at most.
    Without a wide DST such a kernel computes in half precision: each of four phases rounds to 11
    bits, by half of the last one.
    """
    rng = np.random.default_rng(14)
    x, y = rng.uniform(0.5, 2, (2, 8, 32, 32)).astype(np.float32)
    core = core_of(
        (x, DataType.F32), (y, DataType.F32), out=DataType.F32, out_pages=8, fp32_dest_acc_en=wide
    )
    calls = [call("binary_op_init_common", 0, 1, 16), call("mul_tiles_init", 0, 1)]
    for index in range(8):
        calls += [call("tile_regs_acquire"), call("mul_tiles", 0, 1, index, index, 0)]
        calls += [call("tile_regs_commit"), call("tile_regs_wait")]
        calls += [call("pack_tile", 0, 16, index), call("tile_regs_release")]
    core.run(calls)
    got = unpacked(core.bytes_of(16), DataType.F32)
    cut_x, cut_y = (
        (each.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)
        for each in (x, y)
    )
    tolerance = 2.0**-10 if wide else 2.0**-10 + 4 * 2.0**-11
    np.testing.assert_allclose(got, cut_x * cut_y, rtol=tolerance)
    assert (np.abs(got / (x.astype(np.float64) * y) - 1) > 2.0**-12).any()


@pytest.mark.parametrize(
    ("fidelity", "bits"),
    [(MathFidelity.LOFI, 4), (MathFidelity.HIFI2, 6), (MathFidelity.HIFI4, 7)],
)
def test_fidelity_of_a_matrix_product(fidelity: MathFidelity, bits: int) -> None:
    """Positive numbers: each factor loses what the phases leave out, and no more."""
    rng = np.random.default_rng(15)
    a, b = rng.uniform(1, 2, (2, 32, 32)).astype(ml_dtypes.bfloat16).astype(np.float32)
    core = core_of(
        (a, DataType.BF16),
        (b, DataType.BF16),
        out=DataType.F32,
        fidelity=fidelity,
        fp32_dest_acc_en=True,
    )
    got = result(core, call("mm_init", 0, 1, 16), call("matmul_tiles", 0, 1, 0, 0, 0))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    loss = 1 - got / exact
    if bits == 7:
        assert np.abs(loss).max() < 2.0**-20
    else:
        assert loss.min() > 0
        assert 2.0 ** -(bits + 4) < loss.max() < 2.0**-bits


def test_two_banks_and_two_halves_change_nothing_with_random_turns() -> None:
    """Threads that run in any order, and hand over at any blocking call, compute the same."""
    rng = np.random.default_rng(16)
    a, b = rng.normal(0, 1, (2, 4, 32, 32)).astype(np.float32)
    outputs: list[bytes] = []
    for seed in (None, 1, 2):
        core = core_of((a, DataType.BF16), (b, DataType.BF16), out_pages=6)
        core.options = SimOptions(schedule_seed=seed)
        calls = [call("mm_init", 0, 1, 16)]
        for _ in range(6):
            calls += [call("tile_regs_acquire")]
            calls += [call("matmul_tiles", 0, 1, k, k, 0) for k in range(4)]
            calls += [call("tile_regs_commit"), call("tile_regs_wait")]
            calls += [call("pack_tile", 0, 16), call("tile_regs_release")]
        core.run(calls)
        outputs.append(core.bytes_of(16).tobytes())
    assert outputs[0] == outputs[1] == outputs[2]
