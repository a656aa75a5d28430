"""Cycles of tiles are those of the hardware manual's tables and of published measurements."""

from __future__ import annotations

import pytest

from ttmlir.layout.enums import Arch, DataType, MathFidelity
from ttmlir.sim.timing import costs

BF16, F32 = DataType.BF16, DataType.F32
BFP8, BFP4, BFP2 = DataType.BFP_BF8, DataType.BFP_BF4, DataType.BFP_BF2


@pytest.mark.parametrize(
    ("formats", "streaming"),
    [
        ((BFP8,), 17),
        ((BF16,), 32),
        ((F32,), 64),
        ((BFP8, BFP8), 34),
        ((BF16, BF16), 64),
        ((F32, F32), 128),
        ((BFP2,), 20),
    ],
)
def test_unpacking_takes_an_instruction_per_face_and_the_bytes(
    formats: tuple[DataType, ...], streaming: int
) -> None:
    """64 bytes per cycle for one operand, 32 for each of two; formats of 2 bits take 16."""
    assert costs.unpack_cycles(*formats) == streaming + 8


@pytest.mark.parametrize(
    ("rows", "columns", "kept", "streamed"),
    [(2, 4, 1, 8), (4, 2, 1, 8), (1, 8, 1, 8), (3, 1, 1, 3)],
)
def test_block_product_keeps_the_operand_of_the_shorter_side(
    rows: int, columns: int, kept: int, streamed: int
) -> None:
    """37 to 38 cycles were measured for a tile of 16 bits: within 3 %.

    Another one that is kept comes through the other unpacker meanwhile.
    """
    cycles = costs.matmul_unpack_cycles(BF16, BF16, rows, columns)
    assert cycles == pytest.approx(37.5 * (kept + streamed), rel=0.03)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 2), (2, 1)])
def test_small_blocks_wait_for_the_processor(rows: int, columns: int) -> None:
    """76 to 101 cycles were measured from one block of 1 x 2 products to the next."""
    assert costs.matmul_unpack_cycles(BFP8, BFP8, rows, columns) == 90


@pytest.mark.parametrize(("rows", "columns"), [(2, 4), (4, 2), (1, 8)])
def test_small_formats_are_unpacked_faster_than_they_are_multiplied(
    rows: int, columns: int
) -> None:
    """The matrix unit binds products of bfp4 at LoFi: 18.9 cycles were measured for each of
    16384^3, everything included."""
    unpacked = costs.matmul_unpack_cycles(BFP4, BFP4, rows, columns) / 8
    assert unpacked < costs.matmul_math_cycles(MathFidelity.LOFI) <= 19


def test_four_tiles_stream_past_one() -> None:
    """107 cycles were measured for bfp8 with the call itself: within 10 %."""
    assert costs.matmul_unpack_cycles(BFP8, BFP8, 1, 4) == pytest.approx(107, rel=0.1)


def test_mixed_formats_are_kept_on_the_right_side() -> None:
    """1 x 4 tiles keep the tile of in0; 4 x 1 that of in1."""
    assert costs.matmul_unpack_cycles(BF16, BFP8, 1, 4) == (32 + 5) + 4 * (16 + 5)
    assert costs.matmul_unpack_cycles(BF16, BFP8, 4, 1) == (16 + 5) + 4 * (32 + 5)


@pytest.mark.parametrize(
    ("fidelity", "phases"),
    [
        (MathFidelity.LOFI, 16),
        (MathFidelity.HIFI2, 32),
        (MathFidelity.HIFI3, 48),
        (MathFidelity.HIFI4, 64),
    ],
)
def test_product_of_tiles_takes_its_phases(fidelity: MathFidelity, phases: int) -> None:
    """The matrix unit multiplies 2048 pairs in a cycle; 3 cycles pass between products."""
    assert costs.matmul_math_cycles(fidelity, products=5) == 5 * (phases + 3)


@pytest.mark.parametrize(("data_type", "cycles"), [(BF16, 45), (F32, 98), (BFP8, 30)])
def test_packing(data_type: DataType, cycles: int) -> None:
    """45 cycles were measured for 16 bits, 98 to 101 for 32; others go by bytes."""
    assert costs.pack_cycles(data_type) == cycles


@pytest.mark.parametrize(("data_type", "cycles"), [(BF16, 77), (F32, 141)])
def test_packing_onto_what_is_there(data_type: DataType, cycles: int) -> None:
    """The packers add 16 bytes each in 2 cycles, instead of writing them in one."""
    assert costs.pack_cycles(data_type, accumulate=True) == cycles


@pytest.mark.parametrize(
    ("arch", "banks", "cycles"),
    [
        (Arch.WORMHOLE_B0, None, 25),
        (Arch.WORMHOLE_B0, 12, 25),
        (Arch.WORMHOLE_B0, 64, 5),
        (Arch.BLACKHOLE, 8, 16),
        (Arch.BLACKHOLE, 7, 16),
    ],
)
def test_address_of_a_page(arch: Arch, banks: int | None, cycles: int) -> None:
    """29.13 and 20.00 cycles were measured alone, hardly any on the way to one of 64 banks."""
    assert costs.page_address_cycles(arch, banks) == cycles


def test_layout_changes() -> None:
    """The measured cycles, doubled for wide rows that conflict and for 32 bits."""
    assert costs.tilize_unpack_cycles(BF16, 3) == 52
    assert costs.tilize_unpack_cycles(BF16, 8) == 104
    assert costs.tilize_unpack_cycles(F32, 3) == 104
    assert costs.untilize_cycles(BF16, by_packer=True) == (38, 57)
    assert costs.untilize_cycles(BF16, by_packer=False) == (393, 47)
