"""Calls that a kernel makes on a core, one row each: the operations of the ttkernel dialect.

The order of operands is that of the call in tt-metal's `compute_kernel_api` and `dataflow_api.h`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class ValueKind(Enum):
    """Type of an operand or result of a call."""

    CB = auto()
    """A circular buffer."""
    I32 = auto()
    """A 32-bit integer: a number, an index or an address in L1."""
    NOC_ADDR = auto()
    """An address on the network on chip: a core and an address in its memory."""


@dataclass(frozen=True, kw_only=True)
class KernelCall:
    """One call: its operands in order, the data types it is configured with, its result."""

    mnemonic: str
    summary: str
    operands: tuple[tuple[str, ValueKind], ...] = ()
    data_types: tuple[str, ...] = ()
    """Attributes that hold the number of a `DataType`."""
    result: tuple[str, ValueKind] | None = None


def _cbs(*names: str) -> tuple[tuple[str, ValueKind], ...]:
    return tuple((name, ValueKind.CB) for name in names)


def _ints(*names: str) -> tuple[tuple[str, ValueKind], ...]:
    return tuple((name, ValueKind.I32) for name in names)


_TILES_OF_TWO = (
    *_cbs("in0_cb", "in1_cb"),
    *_ints("in0_tile_index", "in1_tile_index", "dst_index"),
)
_PAGES = (*_cbs("cb"), *_ints("numPages"))
_BLOCK = (*_cbs("cbIn"), *_ints("numTiles"), *_cbs("cbOut"))
_PACK = (*_ints("dst_index"), *_cbs("out_cb"), *_ints("out_index"))
_NOC_ADDR = ValueKind.NOC_ADDR


def _call(
    mnemonic: str, summary: str, *operands: tuple[str, ValueKind], data_types: tuple[str, ...] = ()
) -> KernelCall:
    return KernelCall(mnemonic=mnemonic, summary=summary, operands=operands, data_types=data_types)


CALLS = (
    _call(
        "pack_set_data_type", "Set the format that tiles are packed to.", data_types=("data_type",)
    ),
    _call(
        "unpack_set_data_type",
        "Set the formats that tiles are unpacked from.",
        data_types=("data_type_a", "data_type_b"),
    ),
    _call("pack", "Copy a tile from DST to a circular buffer.", *_PACK),
    _call(
        "unpack_a", "Copy a tile from a circular buffer to SrcA.", *_cbs("cb"), *_ints("src_index")
    ),
    _call(
        "unpack_ab",
        "Copy tiles from two circular buffers to SrcA and SrcB.",
        *_cbs("cb_a"),
        *_ints("src_a_index"),
        *_cbs("cb_b"),
        *_ints("src_b_index"),
    ),
    _call("acquire_dst", "Take DST, for all compute threads together."),
    _call("release_dst", "Give DST back, for all compute threads together."),
    _call("tile_regs_acquire", "Take a free half of DST for the math thread; wait for one."),
    _call("tile_regs_commit", "Hand the math thread's half of DST to the pack thread."),
    _call("tile_regs_wait", "Take a committed half of DST for the pack thread; wait for one."),
    _call("tile_regs_release", "Give the pack thread's half of DST back."),
    _call("pack_tile", "Copy a tile from DST to the reserved part of a circular buffer.", *_PACK),
    _call("add", "Add SrcA and SrcB into DST.", *_ints("dst_index")),
    _call("sub", "Subtract SrcB from SrcA into DST.", *_ints("dst_index")),
    _call("mul", "Multiply SrcA and SrcB into DST.", *_ints("dst_index")),
    _call("matmul", "Multiply the matrices SrcA and SrcB onto DST.", *_ints("dst_index")),
    _call(
        "binary_op_init_common",
        "Configure the core for operations on two operands.",
        *_cbs("in0_cb", "in1_cb", "out_cb"),
    ),
    _call("add_tiles_init", "Prepare `add_tiles`.", *_cbs("in0_cb", "in1_cb")),
    _call("mul_tiles_init", "Prepare `mul_tiles`.", *_cbs("in0_cb", "in1_cb")),
    _call("add_tiles", "Add a tile of each circular buffer into DST.", *_TILES_OF_TWO),
    _call("mul_tiles", "Multiply a tile of each circular buffer, onto DST.", *_TILES_OF_TWO),
    _call("cb_push_back", "Make reserved pages visible to the consumer.", *_PAGES),
    _call("cb_pop_front", "Free pages that were waited for.", *_PAGES),
    _call("cb_reserve_back", "Wait until so many pages are free.", *_PAGES),
    _call("cb_wait_front", "Wait until so many pages are filled.", *_PAGES),
    _call("tilize_init", "Prepare `tilize_block`.", *_BLOCK),
    _call("untilize_init", "Prepare `untilize_block`.", *_cbs("cbIn", "cbOut")),
    _call("tilize_block", "Turn 32 rows into so many tiles.", *_BLOCK),
    _call("untilize_block", "Turn so many tiles into 32 rows.", *_BLOCK),
    KernelCall(
        mnemonic="get_noc_addr",
        summary="Address of a byte in the memory of the core in column x and row y.",
        operands=_ints("x", "y", "l1Address"),
        result=("nocAddr", _NOC_ADDR),
    ),
    _call(
        "noc_async_read",
        "Start a copy from another core's memory into L1.",
        ("srcNocAddr", _NOC_ADDR),
        *_ints("dstLocalL1Addr", "size"),
    ),
    _call(
        "noc_async_write",
        "Start a copy from L1 into another core's memory.",
        *_ints("srcLocalL1Addr"),
        ("dstNocAddr", _NOC_ADDR),
        *_ints("size"),
    ),
    _call("noc_async_read_barrier", "Wait until the reads that were started have arrived."),
    _call("noc_async_write_barrier", "Wait until the writes that were started have arrived."),
)
