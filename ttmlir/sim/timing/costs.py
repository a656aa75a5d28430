"""Cycles that the units of a core take for a tile, and processors for issuing a call.

Rates and floors are those of the hardware manual (tt-isa-documentation, `WormholeB0/TensixTile`);
measured numbers name the pull request or issue of tt-metal or tt-llk that gives them, or the figure
(C1 and so on) of docs/timing.md, which has its source. What a call costs the math thread stands in
its row of `ttmlir.optable.kernel`.
"""

from __future__ import annotations

from functools import cache

from ttmlir.layout.data_format import packed_tile_bytes
from ttmlir.layout.element_type import TileFormat, is_block_float
from ttmlir.layout.enums import Arch, DataType, MathFidelity

UNPACK_RATE = 64
"""Bytes per cycle that the unpackers take out of L1, alone at rate x4 or both at x2 each
(tt-isa-documentation, TensixCoprocessor/UNPACR_Regular.md)."""

SLOW_UNPACK_RATE = 16
"""Bytes per cycle for formats that are always unpacked at rate x1: those of 2 bits (same page)."""

UNPACK_INSTRUCTION = 2
"""Cycles in which an unpack instruction computes its address (same page)."""

FACES = 4
"""Faces of a tile. Element-wise unpacking issues an instruction for each; unpacking for a matrix
product takes a tile in one (tt-llk, llk_unpack_AB.h and llk_unpack_AB_matmul.h)."""

PACK_RATE = 64
"""Bytes per cycle that the four packers write into L1 (tt-isa-documentation, TensixTile/L1.md)."""

PACK_ACCUMULATE_RATE = 32
"""The same when they add to what is there: each 16 bytes in 2 cycles (same page)."""

WIDE_PACK_RATE = 51
"""The same for numbers of 32 bits: 98 to 101 cycles were measured for a tile of 4096 bytes with
the loop around it (tt-llk, perf_evaluation: C35 of docs/timing.md)."""

PACK_OVERHEAD = 13
"""Cycles of a tile beyond its bytes: a tile of 2048 bytes was measured at 45 (tt-llk issue 130)."""

MATMUL_PHASE = 16
"""Cycles of one fidelity phase of a product of two tiles: 32^3 multiplications, 2048 in a cycle
(tt-isa-documentation, TensixCoprocessor/MatrixUnit.md)."""

MATMUL_UNPACK_RATE = 56
"""Bytes per cycle of one tile after the other for products, whose addresses the unpackers compute
in between: 37 to 38 cycles were measured for a tile of 16 bits (tt-llk issue 131, tt-metal PR
55053), 107 for five of bfp8 with the call (tt-llk, perf_evaluation: C34 of docs/timing.md)."""

MATMUL_UNPACK_CALL = 90
"""Cycles of the processor that drives the unpackers for a call that multiplies a block: it looks up
the operands, waits for a set of registers, computes addresses, writes them and starts the program.
It does so while the unpackers work, so it counts where they would be faster: from one block of 1 x
2 products to the next 76 to 101 cycles were measured (tt-llk, perf_evaluation: C32 and C33 of
docs/timing.md). These calls keep one tile each. For a further one only the addresses change, which
hides behind the tiles that stream."""

DST_HANDOVER = 25
"""Cycles of the math thread to hand a half of DST over: it waits for the matrix unit, counts a
semaphore up and changes halves. 49 to 66 are left of the cycles of C32 to C34 when the products are
taken off, of which some pass while the first operands are unpacked."""

REDUCE_MAX = 52
"""Cycles to reduce a tile to its largest numbers: 58 were measured with the loop around it
(tt-metal PR 55053, on Blackhole)."""

MATMUL_HANDOVER = 3
"""Cycles between products of tiles: 34.5 to 36.9 were measured where the phases take 32
(tt-metal PR 55760)."""

TILIZE_UNPACK = 52
"""Cycles to unpack a 16-bit tile out of 32 rows (tt-llk issue 130)."""

TILIZE_BANK_CONFLICTS = 2
"""Factor for rows of a multiple of 4 tiles, whose lines fall into the same banks of L1
(tt-metal issue 21624)."""

PACK_UNTILIZE_UNPACK = 38
"""Cycles to unpack a 16-bit tile that the packer writes out as rows (tt-llk issue 131)."""

PACK_UNTILIZE_PACK = 57
"""Cycles to pack a 16-bit tile as rows (tt-llk issue 131)."""

UNPACK_UNTILIZE_UNPACK = 393
"""Cycles to unpack a 16-bit tile as rows, the way of `untilize_block` (tt-llk issue 131)."""

UNTILIZE_PACK = 47
"""Cycles to pack a 16-bit tile that was unpacked as rows (tt-llk issue 131)."""

READ_ISSUE = 13
"""Cycles of a processor to issue a read, or each packet of a longer one: 24 were measured with the
loop around it (tt-low-level-documentation, L1 Interleaved Page Read Numbers and DRAM Packet Sizes:
C7 and C3 of docs/timing.md)."""

WRITE_ISSUE = 19
"""The same for a write, which has more registers to set and two counters instead of one: 23 to 38
were measured with the loop around it, 30 in the mean (C1, C2, C4, C5 and C6)."""

WORD_ISSUE = 13
"""The same for a word that comes with the command: 22 were measured with the loop (C10)."""

INLINE_STORE = 20
"""Cycles to put such a word into L1, where it has to be: 43 were measured with the loop (C10)."""

_PAGE_ADDRESS = {Arch.WORMHOLE_B0: 25, Arch.BLACKHOLE: 16}
"""Cycles to find the bank and the address of a page of a tensor: 29.13 and 20.00 were measured with
what is done to the result (tt-metal, perf_microbenchmark/tensor_accessor: C12 of
docs/timing.md)."""

_MASKED_ADDRESS = 5
"""The same on Wormhole for a page that is copied out of a number of banks that is a power of two:
it takes no division, and the tables are read while the network interface is busy (C7)."""

RECONFIGURE = 30
"""Cycles of an `_init` call: about as many instructions that write configuration (derived)."""


@cache
def tile_bytes(data_type: DataType) -> int:
    """Bytes of a tile of 32 by 32 numbers in L1; block floats with their exponents."""
    if is_block_float(data_type):
        return packed_tile_bytes(data_type)
    return TileFormat(32, 32, data_type).size_bytes


def page_address_cycles(arch: Arch, banks: int | None = None) -> int:
    """Cycles of a processor to find a page; `banks` says among how many, if it is copied."""
    if arch is Arch.WORMHOLE_B0 and banks is not None and banks & (banks - 1) == 0:
        return _MASKED_ADDRESS
    return _PAGE_ADDRESS[arch]


def fidelity_phases(fidelity: MathFidelity) -> int:
    """How often the matrix unit passes over its operands: 1 for LoFi to 4 for HiFi4."""
    return max(int(fidelity), 1)


@cache
def unpack_cycles(*formats: DataType, instructions: int = FACES) -> int:
    """Cycles to unpack a tile of each of one or two operands together.

    Two unpackers share the bytes per cycle of one, so only the sum of the bytes counts:
    32 + 8 for one tile of bf16, 64 + 8 for two.
    """
    streaming = sum(tile_bytes(each) / _unpack_rate(each) for each in formats)
    return round(streaming) + UNPACK_INSTRUCTION * instructions


@cache
def matmul_unpack_cycles(in0: DataType, in1: DataType, rows: int = 1, columns: int = 1) -> int:
    """Cycles to unpack for `rows` x `columns` products of tiles with one inner tile.

    Of a block the shorter side stays in its source register while the other one streams past:
    2 x 4 tiles take twice one tile of `in0` and four of `in1` (tt-llk, llk_unpack_AB_matmul.h).
    """
    if columns >= rows:
        kept, streamed, rounds, length = in0, in1, rows, columns
    else:
        kept, streamed, rounds, length = in1, in0, columns, rows
    size = tile_bytes(kept) + length * tile_bytes(streamed)
    slow = any(_unpack_rate(each) < UNPACK_RATE for each in (kept, streamed))
    streaming = round(size / (SLOW_UNPACK_RATE if slow else MATMUL_UNPACK_RATE))
    return max(rounds * streaming, MATMUL_UNPACK_CALL)


def matmul_math_cycles(fidelity: MathFidelity, products: int = 1) -> int:
    """Cycles of the matrix unit for products of two tiles."""
    return products * (MATMUL_PHASE * fidelity_phases(fidelity) + MATMUL_HANDOVER)


@cache
def pack_cycles(data_type: DataType, accumulate: bool = False) -> int:
    """Cycles to pack a tile: 45 for 16 bits (measured), by the bytes for other formats.

    `accumulate` adds it to the tile that is there, which takes twice as long for each byte.
    """
    size = tile_bytes(data_type)
    rate = WIDE_PACK_RATE if size == 4096 else PACK_RATE
    return PACK_OVERHEAD + round(size / (PACK_ACCUMULATE_RATE if accumulate else rate))


@cache
def tilize_unpack_cycles(data_type: DataType, width: int) -> int:
    """Cycles to unpack one tile out of rows that are `width` tiles long."""
    conflicts = TILIZE_BANK_CONFLICTS if width % 4 == 0 else 1
    return round(TILIZE_UNPACK * _size_factor(data_type)) * conflicts


@cache
def untilize_cycles(data_type: DataType, by_packer: bool) -> tuple[int, int]:
    """Cycles to unpack and to pack a tile as rows: by `pack_untilize_*`, or by `untilize_block`."""
    if by_packer:
        unpack, pack = PACK_UNTILIZE_UNPACK, PACK_UNTILIZE_PACK
    else:
        unpack, pack = UNPACK_UNTILIZE_UNPACK, UNTILIZE_PACK
    factor = _size_factor(data_type)
    return round(unpack * factor), round(pack * factor)


def _unpack_rate(data_type: DataType) -> int:
    slow = data_type in (DataType.BFP_F2, DataType.BFP_BF2)
    return SLOW_UNPACK_RATE if slow else UNPACK_RATE


def _size_factor(data_type: DataType) -> float:
    """Bytes of a tile relative to the 16-bit tiles that the measurements were made with."""
    return tile_bytes(data_type) / tile_bytes(DataType.BF16)
