"""Cycles that the units of a core take for a tile, and processors to find pages.

The figures stand in `ttmlir.machine`. What a call costs the math thread stands in its row of
`ttmlir.optable.kernel`.
"""

from __future__ import annotations

from functools import cache

from ttmlir.layout.data_format import BLOCK, TileFormat, is_block_float, packed_tile_bytes
from ttmlir.layout.enums import Arch, DataType, MathFidelity
from ttmlir.machine import WORMHOLE, generation

UNITS = WORMHOLE.units
"""Those of all generations: there are no others."""


@cache
def tile_bytes(data_type: DataType) -> int:
    """Bytes of a tile of 32 by 32 numbers in L1; block floats with their exponents."""
    if is_block_float(data_type):
        return packed_tile_bytes(data_type)
    return TileFormat(32, 32, data_type).size_bytes


def page_address_cycles(arch: Arch, banks: int | None = None) -> int:
    """Cycles of a processor to find a page; `banks` says among how many, if it is copied."""
    network = generation(arch.keyword).network
    if banks is not None and banks & (banks - 1) == 0:
        return network.masked_page_address
    return network.page_address


def fidelity_phases(fidelity: MathFidelity) -> int:
    """How often the matrix unit passes over its operands: 1 for LoFi to 4 for HiFi4."""
    return max(int(fidelity), 1)


@cache
def unpack_cycles(*formats: DataType, instructions: int = UNITS.faces) -> int:
    """Cycles to unpack a tile of each of one or two operands together.

    Two unpackers share the bytes per cycle of one, so only the sum of the bytes counts:
    32 + 8 for one tile of bf16, 64 + 8 for two.
    """
    streaming = sum(tile_bytes(each) / _unpack_rate(each) for each in formats)
    return round(streaming) + UNITS.unpack_instruction * instructions


@cache
def streamed_cycles(data_type: DataType) -> int:
    """Cycles of one of the tiles that are unpacked one after the other for products.

    Exponents of block floats come through a port of their own (tt-isa-documentation, L1.md).
    """
    exponents = 32 * 32 // BLOCK if is_block_float(data_type) else 0
    return (tile_bytes(data_type) - exponents) // _unpack_rate(data_type) + UNITS.matmul_unpack_tile


@cache
def matmul_unpack_cycles(in0: DataType, in1: DataType, rows: int = 1, columns: int = 1) -> int:
    """Cycles to unpack for `rows` x `columns` products of tiles with one inner tile.

    Of a block the shorter side stays in its source register while the other one streams past:
    2 x 4 tiles take twice four of `in1` (tt-llk, llk_unpack_AB_matmul.h). The second of those that
    stay comes through the other unpacker, while the first is multiplied.
    """
    if columns >= rows:
        kept, streamed = in0, in1
    else:
        kept, streamed = in1, in0
    streaming = streamed_cycles(kept) + rows * columns * streamed_cycles(streamed)
    return max(streaming, UNITS.matmul_unpack_call)


def lost_to_networks(passed: int, idle: int, cycles: int) -> tuple[int, int]:
    """Cycles that unpackers lose to banks of L1 that the networks read or write in the meantime.

    `passed` are the bytes that the networks moved, of which those moved while the unpackers were
    idle are in nobody's way; `cycles` is what they take by themselves. Also returns the bytes that
    are still to count later.
    """
    flits = passed // UNITS.l1_port_bytes
    busy = min(max(flits - idle, 0), cycles)
    return int(busy * UNITS.l1_conflicts), max(flits - cycles, 0) * UNITS.l1_port_bytes


def block_end(begin: int, first: int, last: int, count: int, product: int) -> tuple[int, int]:
    """When `count` products of `product` cycles each end, and when their first bank is free.

    Their tiles stream through both banks, from `first` to `last`: the unpackers are at most two
    ahead of the matrix unit.
    """
    tile = (last - first) / (count - 1)
    end = max(
        begin + count * product, last + product, int(begin + (count - 2) * tile) + 2 * product
    )
    # The next tile that stays does not need the register of those that stream past.
    return end, max(last, int(end - product - tile))


def matmul_math_cycles(fidelity: MathFidelity, products: int = 1) -> int:
    """Cycles of the matrix unit for products of two tiles."""
    return products * (UNITS.matmul_phase * fidelity_phases(fidelity) + UNITS.matmul_handover)


@cache
def pack_cycles(data_type: DataType, accumulate: bool = False) -> int:
    """Cycles to pack a tile: 45 for 16 bits (measured), by the bytes for other formats.

    `accumulate` adds it to the tile that is there, which takes twice as long for each byte.
    """
    size = tile_bytes(data_type)
    rate = UNITS.wide_pack_rate if size == 4096 else UNITS.pack_rate
    return UNITS.pack_overhead + round(size / (UNITS.pack_accumulate_rate if accumulate else rate))


@cache
def tilize_unpack_cycles(data_type: DataType, width: int) -> int:
    """Cycles to unpack one tile out of rows that are `width` tiles long."""
    conflicts = UNITS.tilize_bank_conflicts if width % 4 == 0 else 1
    return round(UNITS.tilize_unpack * _size_factor(data_type)) * conflicts


@cache
def untilize_cycles(data_type: DataType, by_packer: bool) -> tuple[int, int]:
    """Cycles to unpack and to pack a tile as rows: by `pack_untilize_*`, or by `untilize_block`."""
    if by_packer:
        unpack, pack = UNITS.pack_untilize_unpack, UNITS.pack_untilize_pack
    else:
        unpack, pack = UNITS.unpack_untilize_unpack, UNITS.untilize_pack
    factor = _size_factor(data_type)
    return round(unpack * factor), round(pack * factor)


def _unpack_rate(data_type: DataType) -> int:
    slow = data_type in (DataType.BFP_F2, DataType.BFP_BF2)
    return UNITS.slow_unpack_rate if slow else UNITS.unpack_rate


def _size_factor(data_type: DataType) -> float:
    """Bytes of a tile relative to the 16-bit tiles that the measurements were made with."""
    return tile_bytes(data_type) / tile_bytes(DataType.BF16)
