"""Large constants: what they spell, whatever their memory and their order."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import TensorType, f32

from ttmlir.mlir.attributes import LARGE, elements_attr, elements_text, large_bytes
from ttmlir.mlir.large_bytes import LargeBytes

NUMBERS = np.random.default_rng(0).standard_normal((70, 33, 41), np.float32)


def made() -> LargeBytes:
    """The numbers, in memory of their own."""
    return LargeBytes.borrow(NUMBERS.copy())


def test_permutations_follow_each_other() -> None:
    """Permuting twice is one permutation, and one after the other may undo it."""
    once = made().permuted((70, 33, 41), (2, 0, 1))
    assert once.contiguous().tobytes() == NUMBERS.transpose(2, 0, 1).tobytes()
    twice = once.permuted((41, 70, 33), (0, 2, 1))
    assert twice.contiguous().tobytes() == NUMBERS.transpose(2, 1, 0).tobytes()
    back = once.permuted((41, 70, 33), (1, 2, 0))
    assert back == made()
    assert back.array.flags.c_contiguous


def test_permutation_under_another_shape() -> None:
    """Dimensions that are merged in between are put in order first."""
    other = made().permuted((70, 33, 41), (1, 0, 2)).permuted((33 * 70, 41), (1, 0))
    expected = NUMBERS.transpose(1, 0, 2).reshape(33 * 70, 41).T
    assert other.contiguous().tobytes() == expected.tobytes()


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_parts(order: tuple[int, ...]) -> None:
    """Parts and copies are the bytes in row-major order."""
    data = made().permuted((70, 33, 41), order)
    expected = NUMBERS.transpose(order).tobytes()
    assert b"".join(data.pieces()) == expected
    target = bytearray(len(data))
    data.copy_into(memoryview(target))
    assert bytes(target) == expected


def test_equality_is_that_of_bytes() -> None:
    """Memory and order do not matter, one element does, even if no sample shows it."""
    turned = LargeBytes.borrow(np.ascontiguousarray(NUMBERS.T)).permuted((41, 33, 70), (2, 1, 0))
    assert turned == made()
    assert hash(turned) == hash(made())
    for place in range(0, NUMBERS.size, 997):
        other = NUMBERS.copy()
        other.flat[place] += 1
        assert LargeBytes.borrow(other) != made()
    assert made() != made().permuted((70, 33, 41), (1, 0, 2))


def test_moving() -> None:
    """What was permuted moves together with what it was made of."""
    original = made()
    permuted = original.permuted((70, 33, 41), (2, 0, 1))
    file = bytes(3) + permuted.contiguous().tobytes()
    permuted.move_to(memoryview(file)[3:])
    assert not permuted.array.flags.owndata
    assert permuted.array.flags.c_contiguous
    assert original.contiguous().tobytes() == NUMBERS.tobytes()


def test_own() -> None:
    """What others change later does not reach the constant."""
    array = NUMBERS.copy()
    data = LargeBytes.borrow(array)
    data.own()
    array[:] = 0
    assert data == made()


def test_constants_are_large_from_a_size_on() -> None:
    """Both sides of the limit have the same meaning."""
    for count in (LARGE // 4 - 1, LARGE // 4):
        numbers = np.arange(count, dtype=np.float32)
        attr = elements_attr(TensorType(f32, [count]), numbers.tobytes())
        assert (large_bytes(attr) is None) == (count < LARGE // 4)
        assert attr.get_values() == tuple(numbers.tolist())
        assert elements_text(attr) == f'"0x{numbers.tobytes().hex().upper()}"'
        assert attr == elements_attr(TensorType(f32, [count]), memoryview(numbers.tobytes()))
