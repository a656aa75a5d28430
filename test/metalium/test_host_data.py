"""Helpers of the host: tiles of matrices, packed numbers, work for cores."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from ttmlir.metalium import (
    CoreCoord,
    CoreRange,
    CoreRangeSet,
    DataFormat,
    MetaliumError,
    check_bfloat16_vector_pcc,
    create_constant_vector_of_bfloat16,
    create_random_vector_of_bfloat16,
    num_cores_to_corerangeset,
    pack_bfloat16,
    pack_bfloat16_vec_into_uint32_vec,
    pack_tiles,
    pack_two_bfloat16_into_uint32,
    split_work_to_cores,
    tile_size,
    tilize_nfaces,
    unpack_bfloat16,
    unpack_tiles,
    unpack_uint32_vec_into_bfloat16_vec,
    untilize_nfaces,
)


def test_tiles_face_by_face() -> None:
    """Element (i, j) of a tile is where tt-metal's documentation of tiles says."""
    matrix = np.arange(64 * 96).reshape(64, 96)
    flat = tilize_nfaces(matrix, 64, 96)
    for row, column in [(0, 0), (5, 17), (16, 3), (31, 31), (32, 40), (63, 95)]:
        i, j = row % 32, column % 32
        tile = row // 32 * 3 + column // 32
        element = (2 * (i // 16) + j // 16) * 256 + i % 16 * 16 + j % 16
        assert flat[tile * 1024 + element] == matrix[row, column]
    np.testing.assert_array_equal(untilize_nfaces(flat, 64, 96), matrix)


def test_bfloat16_rounds_to_nearest_even() -> None:
    """Against ml_dtypes, and two numbers in a word, the first in its low half."""
    values = np.random.default_rng(0).normal(size=64).astype(np.float32)
    expected = values.astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(pack_bfloat16(values), expected.view(np.uint16))
    np.testing.assert_array_equal(unpack_bfloat16(pack_bfloat16(values)), expected)
    words = pack_bfloat16_vec_into_uint32_vec(values)
    assert words[0] & 0xFFFF == expected.view(np.uint16)[0]
    np.testing.assert_array_equal(unpack_uint32_vec_into_bfloat16_vec(words), expected)


@pytest.mark.parametrize("data_format", list(DataFormat))
def test_packed_tiles(data_format: DataFormat) -> None:
    """Numbers that every format holds survive, and take the bytes that a tile has."""
    numbers = np.random.default_rng(1).integers(0, 2, (32, 64))
    data = pack_tiles(numbers, data_format)
    assert len(data) == 2 * tile_size(data_format)
    found = unpack_tiles(data, data_format, 32, 64)
    np.testing.assert_array_equal(found, numbers)
    integers = {"UInt32": np.uint32, "UInt16": np.uint16, "UInt8": np.uint8}
    assert found.dtype == integers.get(data_format.name.removeprefix("Raw"), np.float32)


def test_tile_sizes_include_exponents() -> None:
    """64 exponents of a byte precede the numbers of a block float tile."""
    assert tile_size(DataFormat.Bfp8_b) == 1088
    assert tile_size(DataFormat.Bfp4_b) == 576
    assert tile_size(DataFormat.Float32) == 4096


@pytest.mark.parametrize("row_wise", [False, True])
@pytest.mark.parametrize("units", [1, 5, 12, 13, 30])
def test_work_is_split_evenly(units: int, row_wise: bool) -> None:
    """A 4x3 grid: in the order of columns or rows, the first cores get one unit more."""
    grid = CoreCoord(4, 3)
    count, cores, first, second, many, few = split_work_to_cores(grid, units, row_wise)
    order = (
        [(x, y) for y in range(3) for x in range(4)]
        if row_wise
        else [(x, y) for x in range(4) for y in range(3)]
    )
    assert count == min(units, 12)
    assert set(cores) == set(order[:count])
    assert set(first) == set(order[: units % count or count])
    assert set(first) | set(second) == set(cores)
    assert many * first.num_cores() + few * second.num_cores() == units


def test_the_first_cores_of_a_grid() -> None:
    """As few rectangles as there are: whole columns, and the part of one."""
    cores = num_cores_to_corerangeset(7, (4, 3))
    assert cores == CoreRangeSet([CoreRange((0, 0), (1, 2)), CoreRange((2, 0))])
    assert repr(cores.ranges()[0]) == "CoreRange((0, 0), (1, 2))"
    assert cores.ranges()[0].grid_size() == CoreCoord(2, 3)
    assert CoreCoord(2, 0) in cores
    assert CoreCoord(2, 1) not in cores
    assert num_cores_to_corerangeset(12, (4, 3)) == CoreRangeSet([CoreRange((0, 0), (3, 2))])
    assert num_cores_to_corerangeset(0, (4, 3)) == CoreRangeSet([])
    with pytest.raises(MetaliumError, match="-1 cores are more than the 4x3 of the grid"):
        num_cores_to_corerangeset(-1, (4, 3))
    with pytest.raises(MetaliumError, match="13 cores are more than the 4x3 of the grid"):
        num_cores_to_corerangeset(13, (4, 3))


def test_vectors_of_bfloat16() -> None:
    """Random numbers are those that a program of g++ 13 printed: seed 7, up to 2.5, from -1 on.

    They were bf4f29a6 bedd0188 3f7325e4 be4f6e5c 3dc4a7c0 3fb90806 as float32.
    """
    words = create_random_vector_of_bfloat16(12, 2.5, 7, -1.0)
    assert words.tolist() == [0xBEDDBF4F, 0xBE4F3F73, 0x3FB93DC5]
    assert create_constant_vector_of_bfloat16(8, 1.5).tolist() == [0x3FC03FC0] * 2
    assert pack_two_bfloat16_into_uint32((1.0, -2.0)) == 0xC0003F80
    with pytest.raises(MetaliumError, match="6 bytes are no words of two numbers of bfloat16"):
        create_constant_vector_of_bfloat16(6, 1.0)


def test_correlation() -> None:
    """Of numbers, and of bits of bfloat16."""
    assert check_bfloat16_vector_pcc([1, 2, 4], [3, 5, 9]) == pytest.approx(1)
    assert check_bfloat16_vector_pcc([1, 2, 3], [1, 0, 1]) == pytest.approx(0)
    bits = pack_bfloat16([1, 2, 3])
    assert check_bfloat16_vector_pcc(bits, np.array([-1.0, -2.0, -3.0])) == pytest.approx(-1)
    assert check_bfloat16_vector_pcc([2, 2], [2, 2]) == 1
    assert check_bfloat16_vector_pcc([2, 2], [2, 3]) == 0
    with pytest.raises(MetaliumError, match="vectors of 2 and 3 numbers have no correlation"):
        check_bfloat16_vector_pcc([1, 2], [1, 2, 3])
