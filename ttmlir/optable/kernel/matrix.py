"""Calls on the matrix unit (FPU): tiles of circular buffers are multiplied, added, reduced, turned.

Source: tt-metal, compute_kernel_api/*.h. Cycles: tt-isa-documentation, WormholeB0, MatrixUnit.md
(math) and UNPACR_Regular.md (unpack); tt-llk issues 130 and 131 (tilize, untilize).
"""

from __future__ import annotations

from typing import Any

from ttmlir.optable.kernel.row import (
    REFERENCE,
    Cost,
    KernelCall,
    Meaning,
    Option,
    Role,
    Tiles,
    cbs,
    enumerator,
    flag,
    function,
    ints,
    meaning_of,
    number,
    unchanged,
)

# --- Registers ------------------------------------------------------------------------------------
# Calls on DST, the register file of results: who has it, what is copied into it and out of it.
#
# Source: tt-metal, compute_kernel_api/{reg_api,tile_move_copy,pack,reconfig_data_format}.h. Cycles:
# tt-isa-documentation, WormholeB0 (MatrixUnit.md, UNPACR_Regular.md); tt-llk issue 130 (packer).

_LATER = "2026-08"
_REGISTERS = "compute_kernel_api/reg_api.h"
_MOVE = "compute_kernel_api/tile_move_copy.h"
_PACK_HEADER = "compute_kernel_api/pack.h"
_FORMATS = "compute_kernel_api/reconfig_data_format.h"
_UNPACKER = Role.UNPACK | Role.MATH
_INT8 = (flag("to_from_int8", "false"),)
_PACK = (*ints("dst_index"), *cbs("out_cb"), *ints("out_index"))
_COPY_COST = Cost(
    unpack=40, math=8, source="tt-isa-documentation, WormholeB0: UNPACR_Regular.md, MatrixUnit.md"
)
_PACK_COST = Cost(pack=45, source="tt-llk issue 130")


def _transpose_option() -> Option:
    return Option(name="transpose", type="uint32_t", default="0")


_REGISTERS_UNITS = (
    # Operations of tt-mlir on the units below the compute API; no kernel can call them in C++.
    KernelCall(
        mnemonic="pack_set_data_type",
        summary="Set the format that tiles are packed to.",
        header="",
        roles=Role.PACK,
        data_types=("data_type",),
        since=REFERENCE,
    ),
    KernelCall(
        mnemonic="unpack_set_data_type",
        summary="Set the formats that tiles are unpacked from.",
        header="",
        roles=Role.UNPACK,
        data_types=("data_type_a", "data_type_b"),
        since=REFERENCE,
    ),
    KernelCall(
        mnemonic="pack",
        summary="Copy a tile from DST to a circular buffer.",
        header="",
        roles=Role.PACK,
        operands=_PACK,
        since=REFERENCE,
    ),
    KernelCall(
        mnemonic="unpack_a",
        summary="Copy a tile from a circular buffer to SrcA.",
        header="",
        roles=Role.UNPACK,
        operands=(*cbs("cb"), *ints("src_index")),
        since=REFERENCE,
    ),
    KernelCall(
        mnemonic="unpack_ab",
        summary="Copy tiles from two circular buffers to SrcA and SrcB.",
        header="",
        roles=Role.UNPACK,
        operands=(*cbs("cb_a"), *ints("src_a_index"), *cbs("cb_b"), *ints("src_b_index")),
        since=REFERENCE,
    ),
)

_OWNERSHIP = (
    KernelCall(
        mnemonic="acquire_dst",
        summary="Take DST, for all compute threads together.",
        header=_REGISTERS,
        roles=Role.MATH | Role.PACK,
        since=REFERENCE,
    ),
    KernelCall(
        mnemonic="release_dst",
        summary="Give DST back, for all compute threads together.",
        header=_REGISTERS,
        roles=Role.MATH | Role.PACK,
        since=REFERENCE,
    ),
    KernelCall(
        mnemonic="tile_regs_acquire",
        summary="Take a free half of DST for the math thread; wait for one.",
        header=_REGISTERS,
        roles=Role.MATH,
        since=REFERENCE,
    ),
    KernelCall(
        mnemonic="tile_regs_commit",
        summary="Hand the math thread's half of DST to the pack thread.",
        header=_REGISTERS,
        roles=Role.MATH,
        since=REFERENCE,
    ),
    KernelCall(
        mnemonic="tile_regs_wait",
        summary="Take a committed half of DST for the pack thread; wait for one.",
        header=_REGISTERS,
        roles=Role.PACK,
        since=REFERENCE,
    ),
    KernelCall(
        mnemonic="tile_regs_release",
        summary="Give the pack thread's half of DST back.",
        header=_REGISTERS,
        roles=Role.PACK,
        since=REFERENCE,
    ),
)

_PACKING = (
    KernelCall(
        mnemonic="pack_tile",
        summary="Copy a tile from DST to the reserved part of a circular buffer.",
        header=_PACK_HEADER,
        roles=Role.PACK,
        operands=_PACK,
        templates=(flag("out_of_order", "false"),),
        defaults=("0",),
        cost=_PACK_COST,
        since=REFERENCE,
    ),
    KernelCall(
        mnemonic="pack_tile_block",
        summary="Copy so many tiles from DST to the reserved part of a circular buffer, in order.",
        header=_PACK_HEADER,
        roles=Role.PACK,
        operands=(*ints("dst_index"), *cbs("out_cb"), *ints("ntiles")),
        cost=_PACK_COST,
    ),
    KernelCall(
        mnemonic="pack_reconfig_data_format",
        summary="Set the format that tiles are packed to, to that of a circular buffer.",
        header=_PACK_HEADER,
        roles=Role.PACK,
        operands=cbs("out_cb"),
    ),
    KernelCall(
        mnemonic="pack_reconfig_data_format_from",
        summary="`pack_reconfig_data_format`, skipped if the old buffer has the same format.",
        header=_PACK_HEADER,
        roles=Role.PACK,
        operands=cbs("old_cb", "new_cb"),
        cpp="pack_reconfig_data_format",
    ),
    KernelCall(
        mnemonic="pack_reconfig_l1_acc",
        summary="Whether packed tiles are added to what is in L1 (1) or replace it (0).",
        header=_PACK_HEADER,
        roles=Role.PACK,
        operands=ints("l1_acc_en"),
    ),
)


def _reconfigurations() -> tuple[KernelCall, ...]:
    """Calls that set the formats of the unpackers, each also in a form that knows the old ones."""
    forms = (
        ("", "SrcA and SrcB", ("srca", "srcb")),
        ("_srca", "SrcA", ("srca",)),
        ("_srcb", "SrcB", ("srcb",)),
    )
    calls: list[KernelCall] = []
    for suffix, registers, names in forms:
        mnemonic = f"reconfig_data_format{suffix}"
        from_old = [f"{name}_{age}_operand" for name in names for age in ("old", "new")]
        calls += (
            KernelCall(
                mnemonic=mnemonic,
                summary=f"Set the format that tiles are unpacked from to {registers}.",
                header=_FORMATS,
                roles=_UNPACKER,
                operands=cbs(*(f"{name}_new_operand" for name in names)),
                templates=_INT8,
            ),
            KernelCall(
                mnemonic=f"{mnemonic}_from",
                summary=f"`{mnemonic}`, skipped if the old circular buffer has the same format.",
                header=_FORMATS,
                roles=_UNPACKER,
                operands=cbs(*from_old),
                cpp=mnemonic,
                templates=_INT8,
            ),
        )
    return tuple(calls)


_COPYING = (
    KernelCall(
        mnemonic="copy_tile_init",
        summary="Prepare `copy_tile`.",
        header=_MOVE,
        roles=_UNPACKER,
        operands=cbs("cb"),
    ),
    KernelCall(
        mnemonic="copy_tile_to_dst_init_short",
        summary="Prepare `copy_tile`; transposed if so asked.",
        header=_MOVE,
        roles=_UNPACKER,
        operands=cbs("cb"),
        options=(
            _transpose_option(),
            Option(name="transpose_within_16x16_face", type="bool", default="false"),
        ),
    ),
    KernelCall(
        mnemonic="copy_tile_to_dst_init_short_with_dt",
        summary="Prepare `copy_tile` and change the format from that of the old circular buffer.",
        header=_MOVE,
        roles=_UNPACKER,
        operands=cbs("old_cb", "new_cb"),
        options=(_transpose_option(),),
    ),
    KernelCall(
        mnemonic="copy_tile",
        summary="Copy a tile from a circular buffer to DST.",
        header=_MOVE,
        roles=_UNPACKER,
        operands=(*cbs("cb"), *ints("tile_index_cb", "tile_index_dst")),
        init="copy_tile_init",
        meaning=unchanged,
        tiles=Tiles(to="tile_index_dst", cbs=(("cb", "tile_index_cb"),)),
        cost=_COPY_COST,
    ),
    KernelCall(
        mnemonic="copy_block_matmul_partials",
        summary="Copy so many tiles from a circular buffer to DST, in order.",
        header=_MOVE,
        roles=_UNPACKER,
        operands=(*cbs("cb"), *ints("start_in_tile_index", "start_dst_tile_index", "ntiles")),
        init="copy_tile_init",
        cost=_COPY_COST,
    ),
    KernelCall(
        mnemonic="copy_dest_values_init",
        summary="Prepare `copy_dest_values`.",
        header="compute_kernel_api/copy_dest_values.h",
        roles=Role.MATH,
    ),
    KernelCall(
        mnemonic="copy_dest_values",
        summary="Copy a tile of DST to another place in DST.",
        header="compute_kernel_api/copy_dest_values.h",
        roles=Role.MATH,
        operands=ints("idst_in", "idst_out"),
        init="copy_dest_values_init",
        meaning=unchanged,
        tiles=Tiles(to="idst_out", dst=("idst_in",)),
        cost=Cost(math=64, estimated=True, source="a load and a store per vector"),
    ),
)

REGISTERS_CALLS = (*_REGISTERS_UNITS, *_OWNERSHIP, *_PACKING, *_reconfigurations(), *_COPYING)
"""The calls, in the order of the documentation."""


# --- Matrix ---------------------------------------------------------------------------------------

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


def _unit(mnemonic: str, summary: str) -> KernelCall:
    """An operation of tt-mlir on the matrix unit itself; no kernel can call it in C++."""
    return KernelCall(
        mnemonic=mnemonic,
        summary=summary,
        header="",
        operands=ints("dst_index"),
        roles=Role.MATH,
        since=REFERENCE,
    )


def _of_two(*, accumulates: bool = False) -> Tiles:
    """Tiles of two circular buffers make one of DST."""
    return Tiles(
        to="dst_index",
        cbs=(("in0_cb", "in0_tile_index"), ("in1_cb", "in1_tile_index")),
        accumulates=accumulates,
    )


def _spread(dimension: str) -> Meaning:
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


def _broadcast(mnemonic: str, dimension: str) -> Meaning:
    """The elementwise operation with a part of the second tile spread over it."""
    reference = meaning_of(mnemonic)
    spread = _spread(dimension)

    def meaning(xp: Any, x: Any, y: Any) -> Any:
        return reference(xp, x, spread(xp, y))

    return meaning


def _broadcast_as(mnemonic: str) -> Meaning:
    reference = meaning_of(mnemonic)

    def meaning(xp: Any, x: Any, y: Any, *, bcast_type: str) -> Any:
        return reference(xp, x, y if bcast_type == "NONE" else _spread(bcast_type)(xp, y))

    return meaning


def _unary_broadcast(xp: Any, tile: Any, *, bcast_type: str) -> Any:
    return tile if bcast_type == "NONE" else _spread(bcast_type)(xp, tile)


_UNITS = (
    _unit("add", "Add SrcA and SrcB into DST."),
    _unit("sub", "Subtract SrcB from SrcA into DST."),
    _unit("mul", "Multiply SrcA and SrcB into DST."),
    _unit("matmul", "Multiply the matrices SrcA and SrcB onto DST."),
)

_INITIALISATIONS = (
    KernelCall(
        mnemonic="compute_kernel_hw_startup",
        summary="Configure the core, once at the start of the kernel.",
        header=f"{_API}compute_kernel_hw_startup.h",
        operands=cbs("in0_cb", "in1_cb", "out_cb"),
        roles=_COMPUTE,
    ),
    KernelCall(
        mnemonic="binary_op_init_common",
        summary="Configure the core for operations on two operands.",
        header=_BINARY,
        operands=cbs("in0_cb", "in1_cb", "out_cb"),
        since=REFERENCE,
        roles=_COMPUTE,
    ),
    KernelCall(
        mnemonic="unary_op_init_common",
        summary="Configure the core for operations on one operand.",
        header=f"{_API}eltwise_unary/eltwise_unary.h",
        operands=cbs("in_cb", "out_cb"),
        roles=_COMPUTE,
    ),
    KernelCall(
        mnemonic="init_sfpu",
        summary="Configure the core for copies to DST and operations of the vector unit.",
        header=f"{_API}eltwise_unary/eltwise_unary.h",
        operands=cbs("in_cb", "out_cb"),
        roles=_COMPUTE,
    ),
)

_ELEMENTWISE = (
    KernelCall(
        mnemonic="add_tiles_init",
        summary="Prepare `add_tiles`.",
        header=_BINARY,
        operands=_TWO,
        roles=_SOURCES,
        options=(_ACCUMULATE,),
        since=REFERENCE,
    ),
    KernelCall(
        mnemonic="sub_tiles_init",
        summary="Prepare `sub_tiles`.",
        header=_BINARY,
        operands=_TWO,
        roles=_SOURCES,
        options=(_ACCUMULATE,),
    ),
    KernelCall(
        mnemonic="mul_tiles_init",
        summary="Prepare `mul_tiles`.",
        header=_BINARY,
        operands=_TWO,
        roles=_SOURCES,
        options=(_ACCUMULATE,),
        since=REFERENCE,
    ),
    KernelCall(
        mnemonic="add_tiles",
        summary="Add a tile of each circular buffer into DST.",
        header=_BINARY,
        operands=_TILES_OF_TWO,
        roles=_SOURCES,
        init="add_tiles_init",
        meaning=meaning_of("add"),
        tiles=_of_two(),
        cost=_SUM,
        since=REFERENCE,
    ),
    KernelCall(
        mnemonic="sub_tiles",
        summary="Subtract a tile of the second circular buffer from one of the first, into DST.",
        header=_BINARY,
        operands=_TILES_OF_TWO,
        roles=_SOURCES,
        init="sub_tiles_init",
        meaning=meaning_of("subtract"),
        tiles=_of_two(),
        cost=_SUM,
    ),
    KernelCall(
        mnemonic="mul_tiles",
        summary="Multiply a tile of each circular buffer, onto DST.",
        header=_BINARY,
        operands=_TILES_OF_TWO,
        roles=_SOURCES,
        init="mul_tiles_init",
        meaning=meaning_of("multiply"),
        tiles=_of_two(accumulates=True),
        cost=_PRODUCT,
        since=REFERENCE,
    ),
    KernelCall(
        mnemonic="binary_dest_reuse_tiles_init",
        summary="Prepare `binary_dest_reuse_tiles`.",
        header=_BINARY,
        operands=cbs("in_cb"),
        roles=_SOURCES,
        templates=(
            enumerator("eltwise_binary_type", "EltwiseBinaryType"),
            enumerator("reuse_type", "EltwiseBinaryReuseDestType"),
        ),
    ),
    KernelCall(
        mnemonic="binary_dest_reuse_tiles",
        summary="Combine a tile of a circular buffer with one of DST, which moves to SrcA or SrcB.",
        header=_BINARY,
        operands=(*cbs("in_cb"), *ints("in_tile_index", "dst_index")),
        roles=_SOURCES,
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
                KernelCall(
                    mnemonic=init,
                    summary=f"Prepare `{tiles_name}`.",
                    header=_BROADCAST,
                    operands=_TWO,
                    roles=_SOURCES,
                ),
                KernelCall(
                    mnemonic=tiles_name,
                    summary=f"{verb} tiles of circular buffers, the second by its {name} alone.",
                    header=_BROADCAST,
                    operands=_TILES_OF_TWO,
                    roles=_SOURCES,
                    init=init,
                    meaning=_broadcast(row, dimension),
                    tiles=_of_two(accumulates=word == "mul"),
                    cost=cost,
                ),
            )
        calls.append(
            KernelCall(
                mnemonic=f"{word}_tiles_bcast",
                summary=f"{verb} tiles of two circular buffers, the second by a part of it.",
                header=_BROADCAST,
                operands=_TILES_OF_TWO,
                roles=_SOURCES,
                templates=(_BROADCAST_TYPE,),
                init="init_bcast",
                meaning=_broadcast_as(row),
                tiles=_of_two(accumulates=word == "mul"),
                cost=cost,
            )
        )
    return tuple(calls)


_UNARY_BROADCAST = (
    KernelCall(
        mnemonic="init_bcast",
        summary="Configure the core for the operations `*_tiles_bcast`.",
        header=_BROADCAST,
        operands=cbs("in0_cb", "in1_cb", "out_cb"),
        templates=(enumerator("eltwise_binary_type", "EltwiseBinaryType"), _BROADCAST_TYPE),
        roles=_COMPUTE,
    ),
    KernelCall(
        mnemonic="unary_bcast_init",
        summary="Prepare `unary_bcast`.",
        header=_BROADCAST,
        operands=cbs("in_cb", "out_cb"),
        templates=(_BROADCAST_TYPE,),
        roles=_COMPUTE,
    ),
    KernelCall(
        mnemonic="unary_bcast",
        summary="Spread a part of a tile of a circular buffer over a tile of DST.",
        header=_BROADCAST,
        operands=(*cbs("in_cb"), *ints("in_tile_index", "dst_index")),
        roles=_SOURCES,
        templates=(_BROADCAST_TYPE,),
        init="unary_bcast_init",
        meaning=_unary_broadcast,
        tiles=Tiles(to="dst_index", cbs=(("in_cb", "in_tile_index"),)),
        cost=_ONE_TILE,
    ),
)

_BLOCK_SIZES = ints("transpose", "ct_dim", "rt_dim", "kt_dim")
_ONE_PRODUCT = ("0", "1", "1", "1")
_MATMULS = (
    KernelCall(
        mnemonic="mm_init",
        summary="Configure the core for `matmul_tiles`.",
        header=_MATMUL,
        operands=cbs("in0_cb", "in1_cb", "out_cb"),
        options=(_TRANSPOSE,),
        roles=_COMPUTE,
    ),
    KernelCall(
        mnemonic="mm_init_short",
        summary="Prepare `matmul_tiles`.",
        header=_MATMUL,
        operands=_TWO,
        roles=_SOURCES,
        options=(_TRANSPOSE,),
    ),
    KernelCall(
        mnemonic="mm_init_short_with_dt",
        summary="Prepare `matmul_tiles` and change the format of in1 from that of the old buffer.",
        header=_MATMUL,
        operands=cbs("in0_cb", "in1_cb", "old_in1_cb"),
        roles=_SOURCES,
        options=(_TRANSPOSE,),
    ),
    KernelCall(
        mnemonic="matmul_tiles",
        summary="Multiply matrices, a tile of each circular buffer, onto DST.",
        header=_MATMUL,
        operands=_TILES_OF_TWO,
        roles=_SOURCES,
        options=(_TRANSPOSE,),
        init="mm_init_short",
        meaning=function("matmul"),
        tiles=_of_two(accumulates=True),
        cost=_MATRIX_PRODUCT,
    ),
    KernelCall(
        mnemonic="mm_block_init",
        summary="Configure the core for `matmul_block`.",
        header=_MATMUL,
        operands=(*cbs("in0_cb", "in1_cb", "out_cb"), *_BLOCK_SIZES),
        defaults=_ONE_PRODUCT,
        roles=_COMPUTE,
    ),
    KernelCall(
        mnemonic="mm_block_init_short",
        summary="Prepare `matmul_block`.",
        header=_MATMUL,
        operands=(*_TWO, *_BLOCK_SIZES),
        roles=_SOURCES,
        defaults=_ONE_PRODUCT,
    ),
    KernelCall(
        mnemonic="mm_block_init_short_with_dt",
        summary="Prepare `matmul_block` and change the format of in1 from that of the old buffer.",
        header=_MATMUL,
        operands=(*cbs("in0_cb", "in1_cb", "old_in1_cb"), *_BLOCK_SIZES),
        roles=_SOURCES,
        defaults=_ONE_PRODUCT,
    ),
    KernelCall(
        mnemonic="matmul_block",
        summary="Multiply rt_dim tiles of in0 by ct_dim of in1, onto as many of DST, row by row.",
        header=_MATMUL,
        operands=(*_TILES_OF_TWO, *ints("transpose", "ct_dim", "rt_dim", "kt_dim")),
        roles=_SOURCES,
        init="mm_block_init_short",
        cost=_MATRIX_PRODUCT,
    ),
)

_REDUCTIONS = (
    KernelCall(
        mnemonic="reduce_init",
        summary="Prepare `reduce_tile`.",
        header=_REDUCE,
        operands=cbs("in_cb", "scaling_cb", "out_cb"),
        templates=_REDUCTION,
        roles=_COMPUTE,
    ),
    KernelCall(
        mnemonic="reduce_tile",
        summary="Reduce rows, columns or both of a tile, times a factor, onto DST.",
        header=_REDUCE,
        operands=(
            *cbs("in_cb", "scaling_cb"),
            *ints("in_tile_index", "scaling_tile_index", "dst_index"),
        ),
        roles=_SOURCES,
        templates=_REDUCTION,
        init="reduce_init",
        cost=Cost(
            unpack=34,
            math=16,
            phases=True,
            estimated=True,
            source="as a matrix product: GAPOOL is MVMUL (MatrixUnit.md); 52 for the largest "
            "number (tt-metal PR 55053, measured on Blackhole)",
        ),
    ),
    KernelCall(
        mnemonic="reduce_uninit",
        summary="Undo what `reduce_init` set in the packer.",
        header=_REDUCE,
        roles=Role.MATH | Role.PACK,
        templates=(flag("enforce_fp32_accumulation", "false"),),
        options=(Option(name="icb", type="uint32_t", default="0"),),
    ),
)

_TRANSPOSES = (
    KernelCall(
        mnemonic="transpose_wh_init",
        summary="Configure the core for `transpose_wh_tile`.",
        header=_TRANSPOSE_HEADER,
        operands=cbs("in_cb", "out_cb"),
        roles=_COMPUTE,
    ),
    KernelCall(
        mnemonic="transpose_wh_init_short",
        summary="Prepare `transpose_wh_tile`.",
        header=_TRANSPOSE_HEADER,
        operands=cbs("in_cb"),
        roles=_SOURCES,
    ),
    KernelCall(
        mnemonic="transpose_wh_tile",
        summary="Transpose a tile of a circular buffer into DST.",
        header=_TRANSPOSE_HEADER,
        operands=(*cbs("in_cb"), *ints("in_tile_index", "dst_index")),
        roles=_SOURCES,
        init="transpose_wh_init_short",
        meaning=function("transpose"),
        tiles=Tiles(to="dst_index", cbs=(("in_cb", "in_tile_index"),)),
        cost=_ONE_TILE,
    ),
)

_WIDTHS = (number("block_ct_dim", "8"), number("full_ct_dim", "block_ct_dim"))
_LAYOUTS = (
    KernelCall(
        mnemonic="tilize_init",
        summary="Prepare `tilize_block`.",
        header=_TILIZE,
        operands=_BLOCK,
        since=REFERENCE,
        roles=_COMPUTE,
    ),
    KernelCall(
        mnemonic="tilize_init_short_with_dt",
        summary="Prepare `tilize_block` and change the format from that of the old buffer.",
        header=_TILIZE,
        operands=(*cbs("old_cb", "cbIn"), *ints("numTiles"), *cbs("cbOut")),
        roles=_COMPUTE,
    ),
    KernelCall(
        mnemonic="tilize_block",
        summary="Turn 32 rows into so many tiles.",
        header=_TILIZE,
        operands=_BLOCK,
        options=(
            Option(name="input_tile_index", type="uint32_t", default="0"),
            Option(name="output_tile_index", type="uint32_t", default="0"),
        ),
        init="tilize_init",
        cost=Cost(unpack=52, math=8, pack=45, source="tt-llk issue 130"),
        since=REFERENCE,
        roles=_COMPUTE,
    ),
    KernelCall(
        mnemonic="tilize_uninit",
        summary="Undo what `tilize_init` set in the unpacker.",
        header=_TILIZE,
        operands=cbs("cbIn", "cbOut"),
        roles=_COMPUTE,
    ),
    KernelCall(
        mnemonic="tilize_uninit_with_dt",
        summary="`tilize_uninit`, and change the format to that of the new circular buffer.",
        header=_TILIZE,
        operands=cbs("old_cb", "new_cb", "cbOut"),
        roles=_COMPUTE,
    ),
    KernelCall(
        mnemonic="untilize_init",
        summary="Prepare `untilize_block`.",
        header=_UNTILIZE,
        operands=cbs("cbIn", "cbOut"),
        defaults=("16",),
        since=REFERENCE,
        roles=_COMPUTE,
    ),
    KernelCall(
        mnemonic="untilize_block",
        summary="Turn so many tiles into 32 rows.",
        header=_UNTILIZE,
        operands=_BLOCK,
        templates=(number("block_ct_dim", "1"),),
        init="untilize_init",
        cost=Cost(unpack=393, math=8, pack=47, source="tt-llk issue 131"),
        since=REFERENCE,
        roles=_COMPUTE,
    ),
    KernelCall(
        mnemonic="untilize_uninit",
        summary="Undo what `untilize_init` set in the unpacker.",
        header=_UNTILIZE,
        operands=cbs("cbIn"),
        roles=_COMPUTE,
    ),
    KernelCall(
        mnemonic="pack_untilize_init",
        summary="Prepare `pack_untilize_block`.",
        header=_PACK_UNTILIZE,
        operands=cbs("cbIn", "cbOut"),
        templates=_WIDTHS,
        roles=_COMPUTE,
    ),
    KernelCall(
        mnemonic="pack_untilize_block",
        summary="Turn rows of block_ct_dim tiles into rows of numbers, in the packer.",
        header=_PACK_UNTILIZE,
        operands=(*cbs("cbIn"), *ints("block_rt_dim"), *cbs("cbOut")),
        templates=_WIDTHS,
        options=(Option(name="block_c_index", type="uint32_t", default="0"),),
        init="pack_untilize_init",
        cost=Cost(unpack=38, math=8, pack=57, source="tt-llk issue 131"),
        roles=_COMPUTE,
    ),
    KernelCall(
        mnemonic="pack_untilize_uninit",
        summary="Undo what `pack_untilize_init` set in the packer.",
        header=_PACK_UNTILIZE,
        operands=cbs("cbOut"),
        roles=_COMPUTE,
    ),
    KernelCall(
        mnemonic="pack_untilize_dest_init",
        summary="Prepare `pack_untilize_dest`.",
        header=_PACK_UNTILIZE,
        operands=cbs("cbOut"),
        templates=_WIDTHS,
        roles=_COMPUTE,
    ),
    KernelCall(
        mnemonic="pack_untilize_dest",
        summary="Turn block_ct_dim tiles of DST into rows of numbers, in the packer.",
        header=_PACK_UNTILIZE,
        operands=cbs("cbOut"),
        roles=Role.PACK,
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
