"""Calls on the matrix unit (FPU): tiles of circular buffers are multiplied, added, reduced, turned.

Source: tt-metal, compute_kernel_api/*.h. Cycles: tt-isa-documentation, WormholeB0, MatrixUnit.md
(math) and UNPACR_Regular.md (unpack); tt-llk issues 130 and 131 (tilize, untilize).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttmlir.optable import elementwise
from ttmlir.optable.kernel.row import (
    FREE,
    Cost,
    KernelCall,
    Operands,
    Option,
    Role,
    Template,
    Tiles,
    cbs,
    enumerator,
    flag,
    ints,
    number,
)

_REFERENCE = "880154e3c2"
_LATER = "2026-08"
_API = "compute_kernel_api/"
_BINARY = f"{_API}eltwise_binary.h"
_BROADCAST = f"{_API}bcast.h"
_MATMUL = f"{_API}matmul.h"
_REDUCE = f"{_API}reduce.h"
_TILIZE = f"{_API}tilize.h"
_UNTILIZE = f"{_API}untilize.h"
_PACK_UNTILIZE = f"{_API}pack_untilize.h"
_TRANSPOSE_HEADER = f"{_API}transpose_wh.h"
_COMPUTE = Role.COMPUTE
_SOURCES = Role.UNPACK | Role.MATH
_ISA = "tt-isa-documentation, WormholeB0: UNPACR_Regular.md, MatrixUnit.md"
_SUM = Cost(unpack=72, math=8, source=_ISA)
_PRODUCT = Cost(unpack=72, math=8, phases=True, source=_ISA)
_MATRIX_PRODUCT = Cost(unpack=72, math=16, phases=True, source=_ISA)
_ONE_TILE = Cost(unpack=40, math=8, source=_ISA)
_TRANSPOSE = Option(name="transpose", type="uint32_t", default="0")
_ACCUMULATE = Option(name="acc_to_dest", type="bool", default="false")
_TWO = cbs("in0_cb", "in1_cb")
_TILES_OF_TWO = (*_TWO, *ints("in0_tile_index", "in1_tile_index", "dst_index"))
_BLOCK = (*cbs("cbIn"), *ints("numTiles"), *cbs("cbOut"))
_BROADCAST_TYPE = enumerator("bcast_type", "BroadcastType")
_REDUCTION = (
    enumerator("reduce_type", "PoolType", "REDUCE_OP"),
    enumerator("reduce_dim", "ReduceDim", "REDUCE_DIM"),
    flag("enforce_fp32_accumulation", "false"),
)
_ROWS = {row.mnemonic: row for row in elementwise.ROWS}


def _call(
    mnemonic: str,
    summary: str,
    header: str,
    operands: Operands = (),
    roles: Role = _COMPUTE,
    *,
    templates: tuple[Template, ...] = (),
    defaults: tuple[str, ...] = (),
    options: tuple[Option, ...] = (),
    init: str = "",
    meaning: Callable[..., Any] | None = None,
    tiles: Tiles | None = None,
    cost: Cost = FREE,
    since: str = _LATER,
) -> KernelCall:
    return KernelCall(
        mnemonic=mnemonic,
        summary=summary,
        operands=operands,
        header=header,
        roles=roles,
        templates=templates,
        defaults=defaults,
        options=options,
        init=init,
        meaning=meaning,
        tiles=tiles,
        cost=cost,
        since=since,
    )


def _unit(mnemonic: str, summary: str) -> KernelCall:
    """An operation of tt-mlir on the matrix unit itself; no kernel can call it in C++."""
    return _call(mnemonic, summary, "", ints("dst_index"), Role.MATH, since=_REFERENCE)


def _of_two(*, accumulates: bool = False) -> Tiles:
    """Tiles of two circular buffers make one of DST."""
    return Tiles(
        to="dst_index",
        cbs=(("in0_cb", "in0_tile_index"), ("in1_cb", "in1_tile_index")),
        accumulates=accumulates,
    )


def _spread(dimension: str) -> Callable[[Any, Any], Any]:
    """The function that spreads a part of a tile over the tile, as a broadcast of the unpacker."""

    def spread(xp: Any, tile: Any) -> Any:
        match dimension:
            case "ROW":
                part = tile[:1, :]
            case "COL":
                part = tile[:, :1]
            case _:
                part = tile[:1, :1]
        return xp.broadcast_to(part, tile.shape)

    return spread


def _broadcast(mnemonic: str, dimension: str) -> Callable[..., Any]:
    """The elementwise operation with a part of the second tile spread over it."""
    reference = _ROWS[mnemonic].reference
    spread = _spread(dimension)

    def meaning(xp: Any, x: Any, y: Any) -> Any:
        return reference(xp, x, spread(xp, y))

    return meaning


def _broadcast_as(mnemonic: str) -> Callable[..., Any]:
    reference = _ROWS[mnemonic].reference

    def meaning(xp: Any, x: Any, y: Any, *, bcast_type: str) -> Any:
        return reference(xp, x, y if bcast_type == "NONE" else _spread(bcast_type)(xp, y))

    return meaning


def _unary_broadcast(xp: Any, tile: Any, *, bcast_type: str) -> Any:
    return tile if bcast_type == "NONE" else _spread(bcast_type)(xp, tile)


def _matrix_product(xp: Any, x: Any, y: Any) -> Any:
    return xp.matmul(x, y)


def _transpose(xp: Any, tile: Any) -> Any:
    return tile.T


_UNITS = (
    _unit("add", "Add SrcA and SrcB into DST."),
    _unit("sub", "Subtract SrcB from SrcA into DST."),
    _unit("mul", "Multiply SrcA and SrcB into DST."),
    _unit("matmul", "Multiply the matrices SrcA and SrcB onto DST."),
)

_INITIALISATIONS = (
    _call(
        "compute_kernel_hw_startup",
        "Configure the core, once at the start of the kernel.",
        f"{_API}compute_kernel_hw_startup.h",
        cbs("in0_cb", "in1_cb", "out_cb"),
    ),
    _call(
        "binary_op_init_common",
        "Configure the core for operations on two operands.",
        _BINARY,
        cbs("in0_cb", "in1_cb", "out_cb"),
        since=_REFERENCE,
    ),
    _call(
        "unary_op_init_common",
        "Configure the core for operations on one operand.",
        f"{_API}eltwise_unary/eltwise_unary.h",
        cbs("in_cb", "out_cb"),
    ),
    _call(
        "init_sfpu",
        "Configure the core for copies to DST and operations of the vector unit.",
        f"{_API}eltwise_unary/eltwise_unary.h",
        cbs("in_cb", "out_cb"),
    ),
)

_ELEMENTWISE = (
    _call(
        "add_tiles_init",
        "Prepare `add_tiles`.",
        _BINARY,
        _TWO,
        _SOURCES,
        options=(_ACCUMULATE,),
        since=_REFERENCE,
    ),
    _call(
        "sub_tiles_init", "Prepare `sub_tiles`.", _BINARY, _TWO, _SOURCES, options=(_ACCUMULATE,)
    ),
    _call("mul_tiles_init", "Prepare `mul_tiles`.", _BINARY, _TWO, _SOURCES, since=_REFERENCE),
    _call(
        "add_tiles",
        "Add a tile of each circular buffer into DST.",
        _BINARY,
        _TILES_OF_TWO,
        _SOURCES,
        init="add_tiles_init",
        meaning=_ROWS["add"].reference,
        tiles=_of_two(),
        cost=_SUM,
        since=_REFERENCE,
    ),
    _call(
        "sub_tiles",
        "Subtract a tile of the second circular buffer from one of the first, into DST.",
        _BINARY,
        _TILES_OF_TWO,
        _SOURCES,
        init="sub_tiles_init",
        meaning=_ROWS["subtract"].reference,
        tiles=_of_two(),
        cost=_SUM,
    ),
    _call(
        "mul_tiles",
        "Multiply a tile of each circular buffer, onto DST.",
        _BINARY,
        _TILES_OF_TWO,
        _SOURCES,
        init="mul_tiles_init",
        meaning=_ROWS["multiply"].reference,
        tiles=_of_two(accumulates=True),
        cost=_PRODUCT,
        since=_REFERENCE,
    ),
    _call(
        "binary_dest_reuse_tiles_init",
        "Prepare `binary_dest_reuse_tiles`.",
        _BINARY,
        cbs("in_cb"),
        _SOURCES,
        templates=(
            enumerator("eltwise_binary_type", "EltwiseBinaryType"),
            enumerator("reuse_type", "EltwiseBinaryReuseDestType"),
        ),
    ),
    _call(
        "binary_dest_reuse_tiles",
        "Combine a tile of a circular buffer with one of DST, which moves to SrcA or SrcB.",
        _BINARY,
        (*cbs("in_cb"), *ints("in_tile_index", "dst_index")),
        _SOURCES,
        templates=(
            enumerator("eltwise_binary_type", "EltwiseBinaryType"),
            enumerator("reuse_type", "EltwiseBinaryReuseDestType"),
        ),
        init="binary_dest_reuse_tiles_init",
        cost=Cost(unpack=40, math=16, source=_ISA, estimated=True),
    ),
)


def _broadcasts() -> tuple[KernelCall, ...]:
    """The short names: operation and part in the name, as bcast.h declares them."""
    sums = (("add", "add", "Add"), ("sub", "subtract", "Subtract"), ("mul", "multiply", "Multiply"))
    parts = (("rows", "ROW", "row 0"), ("cols", "COL", "column 0"), ("scalar", "SCALAR", "number"))
    calls: list[KernelCall] = []
    for word, row, verb in sums:
        cost = _PRODUCT if word == "mul" else _SUM
        for part, dimension, name in parts:
            tiles_name = f"{word}_tiles_bcast_{part}"
            middle = "_tiles" if part == "scalar" and word != "add" else ""
            init = f"{word}{middle}_bcast_{part}_init_short"
            calls += (
                _call(
                    init,
                    f"Prepare `{tiles_name}`.",
                    _BROADCAST,
                    _TWO,
                    _SOURCES,
                ),
                _call(
                    tiles_name,
                    f"{verb} tiles of two circular buffers, the second by its {name} alone.",
                    _BROADCAST,
                    _TILES_OF_TWO,
                    _SOURCES,
                    init=init,
                    meaning=_broadcast(row, dimension),
                    tiles=_of_two(accumulates=word == "mul"),
                    cost=cost,
                ),
            )
        calls.append(
            _call(
                f"{word}_tiles_bcast",
                f"{verb} tiles of two circular buffers, the second by a part of it.",
                _BROADCAST,
                _TILES_OF_TWO,
                _SOURCES,
                templates=(_BROADCAST_TYPE,),
                init="init_bcast",
                meaning=_broadcast_as(row),
                tiles=_of_two(accumulates=word == "mul"),
                cost=cost,
            )
        )
    return tuple(calls)


_UNARY_BROADCAST = (
    _call(
        "init_bcast",
        "Configure the core for the operations `*_tiles_bcast`.",
        _BROADCAST,
        cbs("in0_cb", "in1_cb", "out_cb"),
        templates=(
            enumerator("eltwise_binary_type", "EltwiseBinaryType"),
            _BROADCAST_TYPE,
        ),
    ),
    _call(
        "unary_bcast_init",
        "Prepare `unary_bcast`.",
        _BROADCAST,
        cbs("in_cb", "out_cb"),
        templates=(_BROADCAST_TYPE,),
    ),
    _call(
        "unary_bcast",
        "Spread a part of a tile of a circular buffer over a tile of DST.",
        _BROADCAST,
        (*cbs("in_cb"), *ints("in_tile_index", "dst_index")),
        _SOURCES,
        templates=(_BROADCAST_TYPE,),
        init="unary_bcast_init",
        meaning=_unary_broadcast,
        tiles=Tiles(to="dst_index", cbs=(("in_cb", "in_tile_index"),)),
        cost=_ONE_TILE,
    ),
)

_BLOCK_SIZES = (
    _TRANSPOSE,
    Option(name="ct_dim", type="uint32_t", default="1"),
    Option(name="rt_dim", type="uint32_t", default="1"),
    Option(name="kt_dim", type="uint32_t", default="1"),
)
_MATMULS = (
    _call(
        "mm_init",
        "Configure the core for `matmul_tiles`.",
        _MATMUL,
        cbs("in0_cb", "in1_cb", "out_cb"),
        options=(_TRANSPOSE,),
    ),
    _call(
        "mm_init_short",
        "Prepare `matmul_tiles`.",
        _MATMUL,
        _TWO,
        _SOURCES,
        options=(_TRANSPOSE,),
    ),
    _call(
        "mm_init_short_with_dt",
        "Prepare `matmul_tiles` and change the format of in1 from that of the old buffer.",
        _MATMUL,
        cbs("in0_cb", "in1_cb", "old_in1_cb"),
        _SOURCES,
        options=(_TRANSPOSE,),
    ),
    _call(
        "matmul_tiles",
        "Multiply matrices, a tile of each circular buffer, onto DST.",
        _MATMUL,
        _TILES_OF_TWO,
        _SOURCES,
        options=(_TRANSPOSE,),
        init="mm_init_short",
        meaning=_matrix_product,
        tiles=_of_two(accumulates=True),
        cost=_MATRIX_PRODUCT,
    ),
    _call(
        "mm_block_init",
        "Configure the core for `matmul_block`.",
        _MATMUL,
        cbs("in0_cb", "in1_cb", "out_cb"),
        options=_BLOCK_SIZES,
    ),
    _call(
        "mm_block_init_short",
        "Prepare `matmul_block`.",
        _MATMUL,
        _TWO,
        _SOURCES,
        options=_BLOCK_SIZES,
    ),
    _call(
        "mm_block_init_short_with_dt",
        "Prepare `matmul_block` and change the format of in1 from that of the old buffer.",
        _MATMUL,
        cbs("in0_cb", "in1_cb", "old_in1_cb"),
        _SOURCES,
        options=_BLOCK_SIZES,
    ),
    _call(
        "matmul_block",
        "Multiply rt_dim tiles of in0 by ct_dim of in1, onto as many of DST, row by row.",
        _MATMUL,
        (*_TILES_OF_TWO, *ints("transpose", "ct_dim", "rt_dim", "kt_dim")),
        _SOURCES,
        init="mm_block_init_short",
        cost=_MATRIX_PRODUCT,
    ),
)

_REDUCTIONS = (
    _call(
        "reduce_init",
        "Prepare `reduce_tile`.",
        _REDUCE,
        cbs("in_cb", "scaling_cb", "out_cb"),
        templates=_REDUCTION,
    ),
    _call(
        "reduce_tile",
        "Reduce rows, columns or both of a tile, times a factor, onto DST.",
        _REDUCE,
        (*cbs("in_cb", "scaling_cb"), *ints("in_tile_index", "scaling_tile_index", "dst_index")),
        _SOURCES,
        templates=_REDUCTION,
        init="reduce_init",
        cost=Cost(
            unpack=72,
            math=16,
            phases=True,
            estimated=True,
            source="as a matrix product: GAPOOL is MVMUL (MatrixUnit.md)",
        ),
    ),
    _call(
        "reduce_uninit",
        "Undo what `reduce_init` set in the packer.",
        _REDUCE,
        roles=Role.MATH | Role.PACK,
        templates=(flag("enforce_fp32_accumulation", "false"),),
        options=(Option(name="icb", type="uint32_t", default="0"),),
    ),
)

_TRANSPOSES = (
    _call(
        "transpose_wh_init",
        "Configure the core for `transpose_wh_tile`.",
        _TRANSPOSE_HEADER,
        cbs("in_cb", "out_cb"),
    ),
    _call(
        "transpose_wh_init_short",
        "Prepare `transpose_wh_tile`.",
        _TRANSPOSE_HEADER,
        cbs("in_cb"),
        _SOURCES,
    ),
    _call(
        "transpose_wh_tile",
        "Transpose a tile of a circular buffer into DST.",
        _TRANSPOSE_HEADER,
        (*cbs("in_cb"), *ints("in_tile_index", "dst_index")),
        _SOURCES,
        init="transpose_wh_init_short",
        meaning=_transpose,
        tiles=Tiles(to="dst_index", cbs=(("in_cb", "in_tile_index"),)),
        cost=_ONE_TILE,
    ),
)

_WIDTHS = (number("block_ct_dim", "8"), number("full_ct_dim", "block_ct_dim"))
_LAYOUTS = (
    _call("tilize_init", "Prepare `tilize_block`.", _TILIZE, _BLOCK, since=_REFERENCE),
    _call(
        "tilize_init_short_with_dt",
        "Prepare `tilize_block` and change the format from that of the old circular buffer.",
        _TILIZE,
        (*cbs("old_cb", "cbIn"), *ints("numTiles"), *cbs("cbOut")),
    ),
    _call(
        "tilize_block",
        "Turn 32 rows into so many tiles.",
        _TILIZE,
        _BLOCK,
        options=(
            Option(name="input_tile_index", type="uint32_t", default="0"),
            Option(name="output_tile_index", type="uint32_t", default="0"),
        ),
        init="tilize_init",
        cost=Cost(unpack=52, math=8, pack=45, source="tt-llk issue 130"),
        since=_REFERENCE,
    ),
    _call(
        "tilize_uninit",
        "Undo what `tilize_init` set in the unpacker.",
        _TILIZE,
        cbs("cbIn", "cbOut"),
    ),
    _call(
        "tilize_uninit_with_dt",
        "`tilize_uninit`, and change the format to that of the new circular buffer.",
        _TILIZE,
        cbs("old_cb", "new_cb", "cbOut"),
    ),
    _call(
        "untilize_init",
        "Prepare `untilize_block`.",
        _UNTILIZE,
        cbs("cbIn", "cbOut"),
        defaults=("16",),
        since=_REFERENCE,
    ),
    _call(
        "untilize_block",
        "Turn so many tiles into 32 rows.",
        _UNTILIZE,
        _BLOCK,
        templates=(number("block_ct_dim", "1"),),
        init="untilize_init",
        cost=Cost(unpack=393, math=8, pack=47, source="tt-llk issue 131"),
        since=_REFERENCE,
    ),
    _call(
        "untilize_uninit", "Undo what `untilize_init` set in the unpacker.", _UNTILIZE, cbs("cbIn")
    ),
    _call(
        "pack_untilize_init",
        "Prepare `pack_untilize_block`.",
        _PACK_UNTILIZE,
        cbs("cbIn", "cbOut"),
        templates=_WIDTHS,
    ),
    _call(
        "pack_untilize_block",
        "Turn rows of block_ct_dim tiles into rows of numbers, in the packer.",
        _PACK_UNTILIZE,
        (*cbs("cbIn"), *ints("block_rt_dim"), *cbs("cbOut")),
        templates=_WIDTHS,
        options=(Option(name="block_c_index", type="uint32_t", default="0"),),
        init="pack_untilize_init",
        cost=Cost(unpack=38, math=8, pack=57, source="tt-llk issue 131"),
    ),
    _call(
        "pack_untilize_uninit",
        "Undo what `pack_untilize_init` set in the packer.",
        _PACK_UNTILIZE,
        cbs("cbOut"),
    ),
    _call(
        "pack_untilize_dest_init",
        "Prepare `pack_untilize_dest`.",
        _PACK_UNTILIZE,
        cbs("cbOut"),
        templates=_WIDTHS,
    ),
    _call(
        "pack_untilize_dest",
        "Turn block_ct_dim tiles of DST into rows of numbers, in the packer.",
        _PACK_UNTILIZE,
        cbs("cbOut"),
        Role.PACK,
        templates=_WIDTHS,
        options=(
            Option(name="block_rt_dim", type="uint32_t", default="1"),
            Option(name="block_c_index", type="uint32_t", default="0"),
        ),
        init="pack_untilize_dest_init",
        cost=Cost(pack=57, source="tt-llk issue 131"),
    ),
)

CALLS = (
    *_UNITS,
    *_INITIALISATIONS,
    *_ELEMENTWISE,
    *_broadcasts(),
    *_UNARY_BROADCAST,
    *_MATMULS,
    *_REDUCTIONS,
    *_TRANSPOSES,
    *_LAYOUTS,
)
"""The calls, in the order of the documentation."""
