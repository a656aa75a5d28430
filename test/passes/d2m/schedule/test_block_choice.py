"""Schedules divide extents, fit into L1 and use the cores that there are."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from ttmlir.layout.enums import Arch
from ttmlir.layout.errors import LayoutError
from ttmlir.passes.d2m.schedule.block_choice import (
    Blocks,
    Machine,
    Nest,
    Schedule,
    Work,
    channels_of,
    choose_schedule,
    divisors,
    operand_depth,
)

CHIP = Machine(8, 8, 1_498_112, 12)


def elementwise(*extents: int, inputs: int = 2, in_dram: bool = True) -> Nest:
    """A nest that goes once over tensors of bf16."""
    iterators = tuple(range(len(extents)))
    blocks = Blocks(iterators, extents, 2048, in_dram=in_dram)
    return Nest(
        extents,
        0,
        iterators,
        (blocks,) * inputs,
        (blocks,),
        (),
        (Work(iterators, extents, 100),),
        8,
    )


def product(rows: int, columns: int, terms: int) -> Nest:
    """A product of matrices of bf16."""
    extents = (rows, columns, terms)
    return Nest(
        extents,
        1,
        (0, 1),
        (Blocks((0, 2), (rows, terms), 2048), Blocks((2, 1), (terms, columns), 2048)),
        (Blocks((0, 1), (rows, columns), 2048),),
        (),
        (Work((0, 1, 2), extents, 40, is_product=True),),
        8,
        accumulates=True,
    )


def check(nest: Nest, machine: Machine = CHIP) -> Schedule:
    """What holds of every schedule."""
    schedule = choose_schedule(nest, machine)
    blocks = [extent // size for extent, size in zip(nest.extents, schedule.sizes, strict=True)]
    assert all(
        extent % size == 0 for extent, size in zip(nest.extents, schedule.sizes, strict=True)
    )
    assert math.prod(schedule.cores) <= machine.rows * machine.columns
    for number, (count, cores) in enumerate(zip(blocks, schedule.cores, strict=True)):
        factor = schedule.factors(nest.extents)[number]
        assert cores == 1 or number in nest.spread
        # No core is without blocks, and together they have all of them.
        assert (cores - 1) * factor < count <= cores * factor
    assert schedule.l1_bytes <= machine.l1_bytes
    return schedule


@pytest.mark.parametrize(
    "extents", [(1, 1), (7, 11), (13, 1), (1, 97), (64, 64), (5, 3, 2, 7), (12, 16, 1), (1, 509)]
)
def test_elementwise(extents: tuple[int, ...]) -> None:
    """Primes, few tiles, several dimensions."""
    check(elementwise(*extents))


def test_chips_have_rates_of_their_own() -> None:
    """Three tensors of 32 MiB take 8 channels of Blackhole 272,000 cycles at 46.3 bytes in each.

    At Wormhole's rate that would be 572,000.
    """
    wormhole = Machine(10, 11, 1_400_000, 8)
    slow = choose_schedule(elementwise(128, 128), wormhole).cycles
    fast = choose_schedule(elementwise(128, 128), replace(wormhole, arch=Arch.BLACKHOLE)).cycles
    assert 270_000 < fast < 400_000
    assert 570_000 < slow < 700_000


def test_all_cores_have_the_same_work() -> None:
    """32x32 tiles are 16 for each of 64 cores."""
    schedule = check(elementwise(32, 32))
    assert math.prod(schedule.cores) == 64
    assert math.prod(schedule.factors((32, 32))) * math.prod(schedule.sizes) == 16


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    "extents", [(64, 64, 64), (16, 24, 96), (7, 5, 13), (1, 1, 200), (3, 40, 1)]
)
def test_products(extents: tuple[int, int, int]) -> None:
    """Square and long ones; products of more tiles than cores are on all of a rectangle."""
    schedule = check(product(*extents))
    assert schedule.cores[2] == 1
    if extents == (64, 64, 64):
        assert schedule.cores == (8, 8, 1)


@pytest.mark.parametrize(("extents", "most"), [((64, 64, 64), 16), ((16, 24, 24), 8)])
def test_steps_of_products(extents: tuple[int, int, int], most: int) -> None:
    """Steps along K are few: in each the packer adds sums to L1, and a multicast is waited for."""
    schedule = check(product(*extents))
    assert schedule.factors(extents)[2] <= most


def test_side_of_products() -> None:
    """Of as many products, those of a row of eight unpack 9 tiles for 8, those of one tile 16."""
    work = Work((0, 1, 2), (1, 8, 8), 40, is_product=True)
    assert work.step_cycles((1, 8, 1), 2, 8) == 40 * 9
    assert work.step_cycles((1, 1, 8), 2, 8) == 40 * 16


def test_products_of_heads() -> None:
    """Twelve products of 16x16 by 16x2 tiles: cores of three rows do not keep DRAM busy."""
    extents = (12, 16, 2, 16)
    nest = Nest(
        extents,
        1,
        (0, 1, 2),
        (Blocks((0, 1, 3), (12, 16, 16), 2048), Blocks((0, 3, 2), (12, 16, 2), 2048)),
        (Blocks((0, 1, 2), (12, 16, 2), 2048),),
        (),
        (Work((0, 1, 2, 3), extents, 40, is_product=True),),
        8,
        accumulates=True,
    )
    assert math.prod(check(nest).cores) >= 48


def test_stores_of_products() -> None:
    """Two kernels store what all cores have to store at once, if nothing is computed meanwhile."""
    nest = replace(product(64, 64, 64), stores_last=True)
    assert check(nest).shares_stores
    slow = replace(nest, works=(*nest.works, Work((0, 1), (64, 64), 2000)))
    assert not check(slow).shares_stores
    assert not check(product(64, 64, 64)).shares_stores


def test_blocks_while_others_are_waited_for() -> None:
    """Cores that tell each other something have room for a third block, if L1 has."""
    nest = replace(elementwise(64, 128, inputs=1), shared=1, sharers=4, is_serial=True)
    alone, together = check(nest), check(replace(nest, exchanges=2))
    assert alone.input_blocks is None
    assert together.input_blocks == 3
    assert (alone.sizes, together.sizes) == ((1, 32), (1, 32))
    assert together.l1_bytes - alone.l1_bytes == 32 * 2048
    small = replace(CHIP, l1_bytes=alone.l1_bytes + 32 * 2048 - 1)
    assert check(replace(nest, exchanges=2), small).input_blocks is None
    # One block, or two, are all that there are of fewer rows.
    few = replace(elementwise(32, 128, inputs=1), shared=1, sharers=4, is_serial=True, exchanges=2)
    assert check(few).input_blocks is None


def test_channels_of_blocks() -> None:
    """Rows of 96 tiles all begin in one of 12 channels, so blocks of 3 columns are in 3."""
    blocks = Blocks((0, 1), (24, 96), 2048)
    assert channels_of(blocks, (8, 12), (1, 8), (3, 1), 12) == 12
    assert channels_of(blocks, (8, 3), (1, 8), (3, 4), 12) == 3
    # Those of 8 cores in rows of 24 tiles begin 3 columns apart.
    assert channels_of(Blocks((0, 1), (24, 24), 2048), (8, 3), (1, 8), (3, 1), 12) == 12
    # Rows of one core follow each other.
    assert channels_of(Blocks((0, None), (5, 7), 2048), (2, 1), (1, 1), (3, 1), 12) == 12
    assert channels_of(Blocks((0, 1), (5, 7), 2048), (1, 2), (1, 1), (5, 4), 12) == 2


def test_few_cores_and_little_memory() -> None:
    """L1 decides the blocks: two tiles for each of three operands are the least."""
    machine = Machine(2, 3, 40_000, 12)
    schedule = check(product(16, 16, 16), machine)
    assert math.prod(schedule.cores) <= 6
    with pytest.raises(LayoutError) as refused:
        choose_schedule(product(16, 16, 16), Machine(2, 3, 4000, 12))
    assert str(refused.value) == (
        "needs 12288 bytes of L1 for its blocks and circular buffers, one tile along each "
        "iterator; there are 4000. Divide it into operations of fewer operands or of shorter rows"
    )


def test_depth_of_operands() -> None:
    """An operand is loaded in the last loop that it follows and that has steps."""
    assert operand_depth((0, 2), (4, 3, 2)) == 3
    assert operand_depth((0, 2), (4, 3, 1)) == 1
    assert operand_depth((0, None), (1, 3, 1)) == 0
    assert operand_depth((1,), (4, 3, 2)) == 2


def test_divisors() -> None:
    """All of a small number, a few of one with many."""
    assert divisors(12) == (1, 2, 3, 4, 6, 12)
    assert divisors(97) == (1, 97)
    assert len(divisors(5040)) == 10
