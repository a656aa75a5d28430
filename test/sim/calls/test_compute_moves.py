"""Copies, layouts, reductions and integers of compute kernels on one core."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from cores.compute_core import Call, ComputeCore, call
from cores.tile_bytes import BOTH, core_of, eighths, packed, result, unpacked
from numpy.typing import NDArray

from ttmlir.layout.enums import DataType
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.errors import SimError
from ttmlir.sim.options import Numerics, SimOptions

Array = NDArray[Any]

SUM, AVG, MAX = range(3)
ROW, COL, SCALAR = range(3)


# --- Copies -------------------------------------------------------------------------------------


@pytest.mark.parametrize("numerics", BOTH)
@pytest.mark.parametrize(
    ("init", "name", "expected"),
    [
        (call("unary_op_init_common", 0, 16), call("copy_tile", 0, 0, 0), lambda x: x),
        (call("init_sfpu", 0, 16), call("copy_tile", 0, 0, 0), lambda x: x),
        (call("transpose_wh_init", 0, 16), call("transpose_wh_tile", 0, 0, 0), lambda x: x.T),
        (
            call("unary_bcast_init", 0, 16, template=(2,)),
            call("unary_bcast", 0, 0, 0, template=(2,)),
            lambda x: np.tile(x[0], (32, 1)),
        ),
        (
            call("unary_bcast_init", 0, 16, template=(1,)),
            call("unary_bcast", 0, 0, 0, template=(1,)),
            lambda x: np.tile(x[:, :1], (1, 32)),
        ),
        (
            call("unary_bcast_init", 0, 16, template=(3,)),
            call("unary_bcast", 0, 0, 0, template=(3,)),
            lambda x: np.full((32, 32), x[0, 0]),
        ),
    ],
)
def test_copies(init: Call, name: Call, expected: Any, numerics: Numerics) -> None:
    """Plain, transposed, and parts of a tile spread over it."""
    x = eighths(1)
    core = core_of((x, DataType.BF16), numerics=numerics)
    np.testing.assert_array_equal(result(core, init, name), expected(x))


class _Reads:
    """Keeps which bytes are read, and lets everything else pass."""

    def __init__(self) -> None:
        self.found: list[tuple[int, int]] = []

    def read_tile(self, memory: Any, address: int, size: int, thread: Any) -> None:
        """Keep the address and how many bytes."""
        self.found.append((address, size))

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: None


@pytest.mark.parametrize(
    ("part", "data_type", "expected"),
    [
        (2, DataType.BF16, [(0, 32), (512, 32)]),
        (1, DataType.BF16, [(0, 512), (1024, 512)]),
        (3, DataType.BF16, [(0, 32)]),
        (2, DataType.F32, [(0, 64), (1024, 64)]),
        # Those of block floats share exponents.
        (2, DataType.BFP_BF8, [(0, 1088)]),
    ],
)
def test_what_of_a_tile_counts_when_a_part_is_spread(
    part: int, data_type: DataType, expected: list[tuple[int, int]]
) -> None:
    """The sanitizer asks for no other bytes."""
    watch = _Reads()
    core = core_of((eighths(1), data_type), watch=watch)
    init = call("unary_bcast_init", 0, 16, template=(part,))
    result(core, init, call("unary_bcast", 0, 0, 0, template=(part,)))
    base = core.core.cbs[0].address
    assert [(address - base, size) for address, size in watch.found] == expected


@pytest.mark.parametrize("numerics", BOTH)
def test_copy_prepared_to_transpose(numerics: Numerics) -> None:
    """`copy_tile_to_dst_init_short` takes the transposition."""
    x = eighths(1)
    core = core_of((x, DataType.BF16), numerics=numerics)
    got = result(
        core,
        call("unary_op_init_common", 0, 16),
        call("copy_tile_to_dst_init_short", 0, 1),
        call("copy_tile", 0, 0, 0),
    )
    np.testing.assert_array_equal(got, x.T)


def test_block_of_partial_results_is_added_to() -> None:
    """Tiles are copied back to DST, and products add to them."""
    rng = np.random.default_rng(8)
    a = rng.integers(-1, 2, (2, 32, 32)).astype(np.float32)
    b = rng.integers(-1, 2, (32, 32)).astype(np.float32)
    core = core_of((a, DataType.BF16), (b, DataType.BF16), out_pages=2)
    core.filled(2, DataType.BF16, [packed(each) for each in a])
    core.run(
        [
            call("mm_init", 0, 1, 16),
            call("copy_tile_to_dst_init_short_with_dt", 1, 2),
            call("tile_regs_acquire"),
            call("copy_block_matmul_partials", 2, 0, 0, 2),
            call("mm_init_short_with_dt", 0, 1, 2),
            call("matmul_tiles", 0, 1, 0, 0, 0),
            call("matmul_tiles", 0, 1, 1, 0, 1),
            call("tile_regs_commit"),
            call("tile_regs_wait"),
            call("pack_tile", 0, 16),
            call("pack_tile", 1, 16),
            call("tile_regs_release"),
        ]
    )
    got = unpacked(core.bytes_of(16))
    np.testing.assert_array_equal(got, [a[0] + a[0] @ b, a[1] + a[1] @ b])


@pytest.mark.parametrize("numerics", BOTH)
@pytest.mark.parametrize("register", [1, 2])
@pytest.mark.parametrize("operation", [0, 2, 3])
def test_dst_as_an_operand(operation: int, register: int, numerics: Numerics) -> None:
    """DST moves to SrcA (1) or SrcB (2), which is the left or the right operand."""
    x, y = eighths(1, 8), eighths(2, 8)
    template = (operation, register)
    core = core_of((x, DataType.BF16), (y, DataType.BF16), numerics=numerics)
    got = result(
        core,
        call("binary_op_init_common", 0, 1, 16),
        call("copy_tile_init", 0),
        call("copy_tile", 0, 0, 0),
        call("binary_dest_reuse_tiles_init", 1, template=template),
        call("binary_dest_reuse_tiles", 1, 0, 0, template=template),
    )
    left, right = (x, y) if register == 1 else (y, x)
    expected = {0: left * right, 2: left + right, 3: left - right}[operation]
    np.testing.assert_array_equal(got, expected)


def test_float32_reaches_dst_whole_only_past_srca() -> None:
    """TF32 drops 13 bits; `unpack_to_dest` keeps them all."""
    x = np.random.default_rng(9).normal(0, 1, (32, 32)).astype(np.float32)
    for direct, mask in ((frozenset[int](), 0xFFFFE000), (frozenset({0}), 0xFFFFFFFF)):
        core = core_of(
            (x, DataType.F32),
            out=DataType.F32,
            fp32_dest_acc_en=True,
            unpack_to_dest=direct,
        )
        got = result(core, call("unary_op_init_common", 0, 16), call("copy_tile", 0, 0, 0))
        expected = (x.view(np.uint32) & np.uint32(mask)).view(np.float32)
        np.testing.assert_array_equal(got, expected)


def test_float32_without_wide_dst_is_half_precision() -> None:
    """A kernel of Float32 alone computes in FP16: 10 bits of mantissa, cut."""
    x = np.random.default_rng(9).normal(0, 1, (32, 32)).astype(np.float32)
    core = core_of((x, DataType.F32), out=DataType.F32)
    got = result(core, call("unary_op_init_common", 0, 16), call("copy_tile", 0, 0, 0))
    cut = (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    np.testing.assert_array_equal(got, np.where(np.abs(x) < 2**-14, 0, cut))


@pytest.mark.parametrize("numerics", BOTH)
@pytest.mark.parametrize(
    ("data_type", "dtype", "wide"),
    [
        (DataType.U32, np.uint32, True),
        (DataType.U16, np.uint16, False),
        (DataType.U8, np.uint8, False),
    ],
)
def test_integers_are_copied(
    data_type: DataType, dtype: Any, wide: bool, numerics: Numerics
) -> None:
    """All bits arrive."""
    x = np.random.default_rng(10).integers(0, np.iinfo(dtype).max, (32, 32), dtype=dtype)
    core = core_of((x, data_type), out=data_type, numerics=numerics, fp32_dest_acc_en=wide)
    got = result(core, call("unary_op_init_common", 0, 16), call("copy_tile", 0, 0, 0))
    np.testing.assert_array_equal(got, x)


# --- Packing ------------------------------------------------------------------------------------


def _two_tiles(core: ComputeCore, *packs: Call) -> Array:
    core.run(
        [
            call("unary_op_init_common", 0, 16),
            call("tile_regs_acquire"),
            call("copy_tile", 0, 0, 0),
            call("copy_tile", 0, 1, 1),
            call("tile_regs_commit"),
            call("tile_regs_wait"),
            *packs,
            call("tile_regs_release"),
        ]
    )
    return unpacked(core.bytes_of(16), core.core.cbs[16].data_format)


def test_index_of_pack_tile_counts_only_out_of_order() -> None:
    """In order the packer has an offset of its own, which a push resets."""
    x = np.stack([eighths(1), eighths(2)])
    core = core_of((x, DataType.BF16), out_pages=2)
    got = _two_tiles(core, call("pack_tile", 0, 16, 1), call("pack_tile", 1, 16, 0))
    np.testing.assert_array_equal(got, x)
    core = core_of((x, DataType.BF16), out_pages=2)
    got = _two_tiles(
        core,
        call("pack_tile", 0, 16, 1, template=(1,)),
        call("pack_tile", 1, 16, 0, template=(1,)),
    )
    np.testing.assert_array_equal(got, x[::-1])


@pytest.mark.parametrize("data_type", [DataType.BF16, DataType.F32])
def test_packer_adds_to_l1(data_type: DataType) -> None:
    """With l1_acc the second tile is added to the first."""
    x = np.stack([eighths(1, 8), eighths(2, 8)])
    core = core_of((x, data_type), out=data_type)
    got = _two_tiles(
        core,
        call("pack_tile", 0, 16, 0, template=(1,)),
        call("pack_reconfig_l1_acc", 1),
        call("pack_tile", 1, 16, 0, template=(1,)),
    )
    np.testing.assert_array_equal(got[0], x[0] + x[1])


def test_a_half_of_dst_is_zero_when_acquired() -> None:
    """Products accumulate, yet each section of DST starts anew, in either half."""
    x = eighths(1, 8)
    core = core_of((x, DataType.BF16), out_pages=5)
    calls = [call("binary_op_init_common", 0, 0, 16), call("mul_tiles_init", 0, 0)]
    for _ in range(5):
        calls += [call("tile_regs_acquire"), call("mul_tiles", 0, 0, 0, 0, 0)]
        calls += [call("tile_regs_commit"), call("tile_regs_wait"), call("pack_tile", 0, 16)]
        calls += [call("tile_regs_release")]
    core.run(calls)
    np.testing.assert_array_equal(unpacked(core.bytes_of(16)), np.stack([x * x] * 5))


# --- Rows of numbers ----------------------------------------------------------------------------


def _strip(data_type: DataType, width: int, rows: int = 1) -> Array:
    rng = np.random.default_rng(11)
    return (rng.integers(-63, 64, (32 * rows, 32 * width)) / 8).astype(np.float32)


@pytest.mark.parametrize("numerics", BOTH)
@pytest.mark.parametrize(
    ("data_type", "dtype"),
    [(DataType.BF16, ml_dtypes.bfloat16), (DataType.F32, np.float32), (DataType.F16, np.float16)],
)
def test_tilize(data_type: DataType, dtype: Any, numerics: Numerics) -> None:
    """32 rows of 96 numbers become three tiles."""
    strip = _strip(data_type, 3)
    core = ComputeCore(ComputeSettings(), SimOptions(numerics=numerics))
    size = 1024 * np.dtype(dtype).itemsize
    data = strip.astype(dtype).tobytes()
    core.filled(0, data_type, [data[page : page + size] for page in range(0, 3 * size, size)])
    core.buffer(16, data_type, 3)
    core.run([call("tilize_init", 0, 3, 16), call("tilize_block", 0, 3, 16)])
    got = unpacked(core.bytes_of(16), data_type)
    np.testing.assert_array_equal(np.concatenate(list(got), axis=1), strip)


@pytest.mark.parametrize("numerics", BOTH)
def test_untilize(numerics: Numerics) -> None:
    """Three tiles become 32 rows of 96 numbers."""
    strip = _strip(DataType.BF16, 3)
    tiles = np.stack(np.split(strip, 3, axis=1))
    core = core_of((tiles, DataType.BF16), out_pages=3, numerics=numerics)
    core.run([call("untilize_init", 0, 16), call("untilize_block", 0, 3, 16)])
    got = core.bytes_of(16).view(ml_dtypes.bfloat16).astype(np.float32)
    np.testing.assert_array_equal(got.reshape(32, 96), strip)


@pytest.mark.parametrize("numerics", BOTH)
def test_untilize_by_the_packer(numerics: Numerics) -> None:
    """Two rows of three tiles, in blocks of three."""
    strip = _strip(DataType.BF16, 3, 2)
    tiles = np.stack([strip[32 * r :, 32 * c :][:32, :32] for r in range(2) for c in range(3)])
    core = core_of((tiles, DataType.BF16), out=DataType.F32, out_pages=6, numerics=numerics)
    template = (3, 3)
    core.run(
        [
            call("pack_untilize_init", 0, 16, template=template),
            call("pack_untilize_block", 0, 2, 16, template=template),
            call("pack_untilize_uninit", 16),
        ]
    )
    got = core.bytes_of(16).view(np.float32)
    np.testing.assert_array_equal(got.reshape(64, 96), strip)


def test_untilize_part_of_wide_rows_from_dst() -> None:
    """Block 1 of rows of four tiles, two tiles at a time; other columns stay as they were."""
    strip = _strip(DataType.BF16, 2)
    tiles = np.stack(np.split(strip, 2, axis=1))
    core = core_of((tiles, DataType.BF16), out_pages=4)
    template = (2, 4)
    core.run(
        [
            call("unary_op_init_common", 0, 16),
            call("pack_untilize_dest_init", 16, template=template),
            call("tile_regs_acquire"),
            call("copy_tile", 0, 0, 0),
            call("copy_tile", 0, 1, 1),
            call("tile_regs_commit"),
            call("tile_regs_wait"),
            call("pack_untilize_dest", 16, 1, 1, template=template),
            call("tile_regs_release"),
        ]
    )
    got = core.bytes_of(16).view(np.uint16).reshape(32, 128)
    expected = strip.astype(ml_dtypes.bfloat16).view(np.uint16)
    np.testing.assert_array_equal(got[:, 64:], expected)
    assert (got[:, :64] == 0xFFFF).all()


@pytest.mark.parametrize("name", ["tilize_block", "pack_untilize_block"])
def test_rows_of_block_floats_are_refused(name: str) -> None:
    """A row has no shared exponents."""
    x = eighths(1)
    tilize = name == "tilize_block"
    first, second = (DataType.BFP_BF8, DataType.BF16)[:: 1 if tilize else -1]
    core = core_of((x, first), out=second)
    calls = (
        [call("tilize_init", 0, 1, 16), call(name, 0, 1, 16)]
        if tilize
        else [
            call("pack_untilize_init", 0, 16, template=(1,)),
            call(name, 0, 1, 16, template=(1,)),
        ]
    )
    with pytest.raises(SimError, match="holds BFP_BFloat8, which comes in tiles only"):
        core.run(calls)


# --- Reductions ---------------------------------------------------------------------------------


def _reduced(x: Array, factor: float, pool: int, dimension: int) -> Array:
    expected = np.zeros((32, 32), np.float32)
    reduce = np.max if pool == MAX else np.sum
    factor = 1 if pool == MAX else factor
    match dimension:
        case 0:
            expected[:, 0] = reduce(x, axis=1) * factor
        case 1:
            expected[0] = reduce(x, axis=0) * factor
        case _:
            expected[0, 0] = reduce(x) * factor * factor
    return expected


@pytest.mark.parametrize("numerics", BOTH)
@pytest.mark.parametrize("pool", [SUM, MAX])
@pytest.mark.parametrize("dimension", [ROW, COL, SCALAR])
def test_reductions(pool: int, dimension: int, numerics: Numerics) -> None:
    """Factor 0.5, of which both dimensions take the square; all sums fit bfloat16."""
    rng = np.random.default_rng(12)
    x = rng.integers(-1, 2, (32, 32)).astype(np.float32) - 2.0 * (pool == MAX)
    scaler = np.zeros((32, 32), np.float32)
    scaler[[0, 0, 16, 16], :] = 0.5
    core = core_of(
        (x, DataType.BF16),
        (scaler, DataType.BF16),
        out=DataType.F32,
        numerics=numerics,
        fp32_dest_acc_en=True,
    )
    template = (pool, dimension)
    got = result(
        core,
        call("reduce_init", 0, 1, 16, template=template),
        call("reduce_tile", 0, 1, 0, 0, 0, template=template),
        call("reduce_uninit"),
    )
    np.testing.assert_array_equal(got, _reduced(x, 0.5, pool, dimension))


@pytest.mark.parametrize("numerics", BOTH)
@pytest.mark.parametrize("pool", [SUM, MAX])
@pytest.mark.parametrize("dimension", [ROW, COL, SCALAR])
def test_reductions_over_several_tiles(pool: int, dimension: int, numerics: Numerics) -> None:
    """The second tile goes onto what the first left."""
    rng = np.random.default_rng(13)
    x = rng.integers(-8, 0, (2, 32, 32)).astype(np.float32)
    ones = np.ones((32, 32), np.float32)
    core = core_of(
        (x, DataType.BF16),
        (ones, DataType.BF16),
        out=DataType.F32,
        numerics=numerics,
        fp32_dest_acc_en=True,
    )
    template = (pool, dimension)
    got = result(
        core,
        call("reduce_init", 0, 1, 16, template=template),
        call("reduce_tile", 0, 1, 0, 0, 0, template=template),
        call("reduce_tile", 0, 1, 1, 0, 0, template=template),
    )
    first, second = (_reduced(each, 1, pool, dimension) for each in x)
    if pool == MAX:
        place = {ROW: np.s_[:, 0], COL: np.s_[0], SCALAR: np.s_[0, 0]}[dimension]
        expected = np.zeros((32, 32), np.float32)
        expected[place] = np.maximum(first, second)[place]
    else:
        expected = first + second
    np.testing.assert_array_equal(got, expected)
