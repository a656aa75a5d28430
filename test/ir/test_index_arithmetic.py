"""Numbers of elements are compared and clamped only where they are not known to be inside."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import TensorType, UnknownLoc, i32
from xdsl.ir import Block, SSAValue

from ttmlir.ir.builder import Builder
from ttmlir.ir.kernel_builder import clamp_inside, test_inside

# Names of pytest's own pattern are tests, which this one is not.
inside = test_inside
del test_inside


def numbers_of(*numbers: int) -> tuple[Builder, SSAValue]:
    """A builder and a constant of these numbers."""
    builder = Builder(Block(), UnknownLoc())
    return builder, builder.create_numbers(numbers, TensorType(i32, (len(numbers),)))


def operations(builder: Builder) -> list[str]:
    """The operations that were made but for constants and destinations."""
    names = [op.name for op in builder.block.ops]
    return [name for name in names if name not in ("ttir.constant", "tensor.empty")]


@pytest.mark.parametrize("numbers", [(0,), (5,), (0, 3, 5), (2, 2)])
def test_numbers_inside_stay(numbers: tuple[int, ...]) -> None:
    """Both ends are inside."""
    builder, value = numbers_of(*numbers)
    assert clamp_inside(builder, value, 5) is value
    assert inside(builder, value, 5) is None
    assert operations(builder) == []


@pytest.mark.parametrize("numbers", [(-1,), (6,), (0, 6), (5, -1)])
def test_numbers_outside_are_clamped_and_found(numbers: tuple[int, ...]) -> None:
    """One beyond either end is enough."""
    builder, value = numbers_of(*numbers)
    assert clamp_inside(builder, value, 5) is not value
    assert operations(builder) == ["ttir.clamp"]
    builder, value = numbers_of(*numbers)
    assert inside(builder, value, 5) is not None
    assert operations(builder) == ["ttir.ge", "ttir.le", "ttir.logical_and"]


def test_unknown_numbers_are_clamped_exactly() -> None:
    """By a float's bound where a float holds it, else by two comparisons of integers."""
    block = Block(arg_types=[TensorType(i32, (3,))])
    builder = Builder(block, UnknownLoc())
    clamp_inside(builder, block.args[0], 1 << 24)
    assert operations(builder) == ["ttir.clamp"]
    clamp_inside(builder, block.args[0], (1 << 24) + 1)
    assert operations(builder)[1:] == ["ttir.maximum", "ttir.minimum"]
