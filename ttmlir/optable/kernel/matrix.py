"""Calls on the matrix unit (FPU): tiles of circular buffers are multiplied, added, reduced, turned.

Source: tt-metal, compute_kernel_api/*.h. Cycles: tt-isa-documentation, WormholeB0, MatrixUnit.md
(math) and UNPACR_Regular.md (unpack); tt-llk issues 130 and 131 (tilize, untilize).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ttmlir.optable.elementwise import function
from ttmlir.optable.kernel.kernel_call import (
    REFERENCE,
    Cost,
    KernelCall,
    Option,
    Reference,
    Role,
    Tiles,
    cbs,
    enumerator,
    flag,
    ints,
    number,
    reference_of,
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
        "pack_set_data_type",
        "Set the format that tiles are packed to.",
        header="",
        roles=Role.PACK,
        data_types=("data_type",),
        since=REFERENCE,
    ),
    KernelCall(
        "unpack_set_data_type",
        "Set the formats that tiles are unpacked from.",
        header="",
        roles=Role.UNPACK,
        data_types=("data_type_a", "data_type_b"),
        since=REFERENCE,
    ),
    KernelCall(
        "pack",
        "Copy a tile from DST to a circular buffer.",
        _PACK,
        header="",
        roles=Role.PACK,
        since=REFERENCE,
    ),
    KernelCall(
        "unpack_a",
        "Copy a tile from a circular buffer to SrcA.",
        (*cbs("cb"), *ints("src_index")),
        header="",
        roles=Role.UNPACK,
        since=REFERENCE,
    ),
    KernelCall(
        "unpack_ab",
        "Copy tiles from two circular buffers to SrcA and SrcB.",
        (*cbs("cb_a"), *ints("src_a_index"), *cbs("cb_b"), *ints("src_b_index")),
        header="",
        roles=Role.UNPACK,
        since=REFERENCE,
    ),
)

_OWNERSHIP = (
    KernelCall(
        "acquire_dst",
        "Take DST, for all compute threads together.",
        header=_REGISTERS,
        roles=Role.MATH | Role.PACK,
        since=REFERENCE,
    ),
    KernelCall(
        "release_dst",
        "Give DST back, for all compute threads together.",
        header=_REGISTERS,
        roles=Role.MATH | Role.PACK,
        since=REFERENCE,
    ),
    KernelCall(
        "tile_regs_acquire",
        "Take a free half of DST for the math thread; wait for one.",
        header=_REGISTERS,
        roles=Role.MATH,
        since=REFERENCE,
    ),
    KernelCall(
        "tile_regs_commit",
        "Hand the math thread's half of DST to the pack thread.",
        header=_REGISTERS,
        roles=Role.MATH,
        since=REFERENCE,
    ),
    KernelCall(
        "tile_regs_wait",
        "Take a committed half of DST for the pack thread; wait for one.",
        header=_REGISTERS,
        roles=Role.PACK,
        since=REFERENCE,
    ),
    KernelCall(
        "tile_regs_release",
        "Give the pack thread's half of DST back.",
        header=_REGISTERS,
        roles=Role.PACK,
        since=REFERENCE,
    ),
)

_pack_call = partial(KernelCall, header=_PACK_HEADER, roles=Role.PACK)
_PACKING = (
    _pack_call(
        "pack_tile",
        "Copy a tile from DST to the reserved part of a circular buffer.",
        _PACK,
        templates=(flag("out_of_order", "false"),),
        defaults=("0",),
        cost=_PACK_COST,
        since=REFERENCE,
    ),
    _pack_call(
        "pack_tile_block",
        "Copy so many tiles from DST to the reserved part of a circular buffer, in order.",
        (*ints("dst_index"), *cbs("out_cb"), *ints("ntiles")),
        cost=_PACK_COST,
    ),
    _pack_call(
        "pack_reconfig_data_format",
        "Set the format that tiles are packed to, to that of a circular buffer.",
        cbs("out_cb"),
    ),
    _pack_call(
        "pack_reconfig_data_format_from",
        "`pack_reconfig_data_format`, skipped if the old buffer has the same format.",
        cbs("old_cb", "new_cb"),
        cpp="pack_reconfig_data_format",
    ),
    _pack_call(
        "pack_reconfig_l1_acc",
        "Whether packed tiles are added to what is in L1 (1) or replace it (0).",
        ints("l1_acc_en"),
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
                mnemonic,
                f"Set the format that tiles are unpacked from to {registers}.",
                cbs(*(f"{name}_new_operand" for name in names)),
                header=_FORMATS,
                roles=_UNPACKER,
                templates=_INT8,
            ),
            KernelCall(
                f"{mnemonic}_from",
                f"`{mnemonic}`, skipped if the old circular buffer has the same format.",
                cbs(*from_old),
                header=_FORMATS,
                roles=_UNPACKER,
                cpp=mnemonic,
                templates=_INT8,
            ),
        )
    return tuple(calls)


_move_call = partial(KernelCall, header=_MOVE, roles=_UNPACKER)
_COPYING = (
    _move_call("copy_tile_init", "Prepare `copy_tile`.", cbs("cb")),
    _move_call(
        "copy_tile_to_dst_init_short",
        "Prepare `copy_tile`; transposed if so asked.",
        cbs("cb"),
        options=(
            _transpose_option(),
            Option(name="transpose_within_16x16_face", type="bool", default="false"),
        ),
    ),
    _move_call(
        "copy_tile_to_dst_init_short_with_dt",
        "Prepare `copy_tile` and change the format from that of the old circular buffer.",
        cbs("old_cb", "new_cb"),
        options=(_transpose_option(),),
    ),
    _move_call(
        "copy_tile",
        "Copy a tile from a circular buffer to DST.",
        (*cbs("cb"), *ints("tile_index_cb", "tile_index_dst")),
        init="copy_tile_init",
        reference=unchanged,
        tiles=Tiles(to="tile_index_dst", cbs=(("cb", "tile_index_cb"),)),
        cost=_COPY_COST,
    ),
    _move_call(
        "copy_block_matmul_partials",
        "Copy so many tiles from a circular buffer to DST, in order.",
        (*cbs("cb"), *ints("start_in_tile_index", "start_dst_tile_index", "ntiles")),
        init="copy_tile_init",
        cost=_COPY_COST,
    ),
    KernelCall(
        "copy_dest_values_init",
        "Prepare `copy_dest_values`.",
        header="compute_kernel_api/copy_dest_values.h",
        roles=Role.MATH,
    ),
    KernelCall(
        "copy_dest_values",
        "Copy a tile of DST to another tile of DST.",
        ints("idst_in", "idst_out"),
        header="compute_kernel_api/copy_dest_values.h",
        roles=Role.MATH,
        init="copy_dest_values_init",
        reference=unchanged,
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
        mnemonic, summary, ints("dst_index"), header="", roles=Role.MATH, since=REFERENCE
    )


def _of_two(*, accumulates: bool = False) -> Tiles:
    """Tiles of two circular buffers make one of DST."""
    return Tiles(
        to="dst_index",
        cbs=(("in0_cb", "in0_tile_index"), ("in1_cb", "in1_tile_index")),
        accumulates=accumulates,
    )


def _spread(dimension: str) -> Reference:
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


def _broadcast(mnemonic: str, dimension: str) -> Reference:
    """The elementwise operation with a part of the second tile spread over it."""
    plain = reference_of(mnemonic)
    spread = _spread(dimension)

    def reference(xp: Any, x: Any, y: Any) -> Any:
        return plain(xp, x, spread(xp, y))

    return reference


def _broadcast_as(mnemonic: str) -> Reference:
    plain = reference_of(mnemonic)

    def reference(xp: Any, x: Any, y: Any, *, bcast_type: str) -> Any:
        return plain(xp, x, y if bcast_type == "NONE" else _spread(bcast_type)(xp, y))

    return reference


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
        "compute_kernel_hw_startup",
        "Configure the core, once at the start of the kernel.",
        cbs("in0_cb", "in1_cb", "out_cb"),
        header=f"{_API}compute_kernel_hw_startup.h",
        roles=_COMPUTE,
    ),
    KernelCall(
        "binary_op_init_common",
        "Configure the core for operations on two operands.",
        cbs("in0_cb", "in1_cb", "out_cb"),
        header=_BINARY,
        since=REFERENCE,
        roles=_COMPUTE,
    ),
    KernelCall(
        "unary_op_init_common",
        "Configure the core for operations on one operand.",
        cbs("in_cb", "out_cb"),
        header=f"{_API}eltwise_unary/eltwise_unary.h",
        roles=_COMPUTE,
    ),
    KernelCall(
        "init_sfpu",
        "Configure the core for copies to DST and operations of the vector unit.",
        cbs("in_cb", "out_cb"),
        header=f"{_API}eltwise_unary/eltwise_unary.h",
        roles=_COMPUTE,
    ),
)

_binary_call = partial(KernelCall, header=_BINARY, roles=_SOURCES)
_ELEMENTWISE = (
    _binary_call(
        "add_tiles_init", "Prepare `add_tiles`.", _TWO, options=(_ACCUMULATE,), since=REFERENCE
    ),
    _binary_call("sub_tiles_init", "Prepare `sub_tiles`.", _TWO, options=(_ACCUMULATE,)),
    _binary_call(
        "mul_tiles_init", "Prepare `mul_tiles`.", _TWO, options=(_ACCUMULATE,), since=REFERENCE
    ),
    _binary_call(
        "add_tiles",
        "Add a tile of each circular buffer into DST.",
        _TILES_OF_TWO,
        init="add_tiles_init",
        reference=reference_of("add"),
        tiles=_of_two(),
        cost=_SUM,
        since=REFERENCE,
    ),
    _binary_call(
        "sub_tiles",
        "Subtract a tile of the second circular buffer from one of the first, into DST.",
        _TILES_OF_TWO,
        init="sub_tiles_init",
        reference=reference_of("subtract"),
        tiles=_of_two(),
        cost=_SUM,
    ),
    _binary_call(
        "mul_tiles",
        "Multiply a tile of each circular buffer, onto DST.",
        _TILES_OF_TWO,
        init="mul_tiles_init",
        reference=reference_of("multiply"),
        tiles=_of_two(accumulates=True),
        cost=_PRODUCT,
        since=REFERENCE,
    ),
    _binary_call(
        "binary_dest_reuse_tiles_init",
        "Prepare `binary_dest_reuse_tiles`.",
        cbs("in_cb"),
        templates=(
            enumerator("eltwise_binary_type", "EltwiseBinaryType"),
            enumerator("reuse_type", "EltwiseBinaryReuseDestType"),
        ),
    ),
    _binary_call(
        "binary_dest_reuse_tiles",
        "Combine a tile of a circular buffer with one of DST, which moves to SrcA or SrcB.",
        (*cbs("in_cb"), *ints("in_tile_index", "dst_index")),
        templates=(
            enumerator("eltwise_binary_type", "EltwiseBinaryType"),
            enumerator("reuse_type", "EltwiseBinaryReuseDestType"),
        ),
        init="binary_dest_reuse_tiles_init",
        cost=Cost(unpack=40, math=16, source=_ISA, estimated=True),
    ),
)


_broadcast_call = partial(KernelCall, header=_BROADCAST, roles=_SOURCES)


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
                _broadcast_call(init, f"Prepare `{tiles_name}`.", _TWO),
                _broadcast_call(
                    tiles_name,
                    f"{verb} tiles of circular buffers, the second by its {name} alone.",
                    _TILES_OF_TWO,
                    init=init,
                    reference=_broadcast(row, dimension),
                    tiles=_of_two(accumulates=word == "mul"),
                    cost=cost,
                ),
            )
        calls.append(
            _broadcast_call(
                f"{word}_tiles_bcast",
                f"{verb} tiles of two circular buffers, the second by a part of it.",
                _TILES_OF_TWO,
                templates=(_BROADCAST_TYPE,),
                init="init_bcast",
                reference=_broadcast_as(row),
                tiles=_of_two(accumulates=word == "mul"),
                cost=cost,
            )
        )
    return tuple(calls)


_UNARY_BROADCAST = (
    KernelCall(
        "init_bcast",
        "Configure the core for the operations `*_tiles_bcast`.",
        cbs("in0_cb", "in1_cb", "out_cb"),
        header=_BROADCAST,
        templates=(enumerator("eltwise_binary_type", "EltwiseBinaryType"), _BROADCAST_TYPE),
        roles=_COMPUTE,
    ),
    KernelCall(
        "unary_bcast_init",
        "Prepare `unary_bcast`.",
        cbs("in_cb", "out_cb"),
        header=_BROADCAST,
        templates=(_BROADCAST_TYPE,),
        roles=_COMPUTE,
    ),
    _broadcast_call(
        "unary_bcast",
        "Spread a part of a tile of a circular buffer over a tile of DST.",
        (*cbs("in_cb"), *ints("in_tile_index", "dst_index")),
        templates=(_BROADCAST_TYPE,),
        init="unary_bcast_init",
        reference=_unary_broadcast,
        tiles=Tiles(to="dst_index", cbs=(("in_cb", "in_tile_index"),)),
        cost=_ONE_TILE,
    ),
)

_BLOCK_SIZES = ints("transpose", "ct_dim", "rt_dim", "kt_dim")
_ONE_PRODUCT = ("0", "1", "1", "1")
_matmul_call = partial(KernelCall, header=_MATMUL, roles=_SOURCES)
_MATMULS = (
    KernelCall(
        "mm_init",
        "Configure the core for `matmul_tiles`.",
        cbs("in0_cb", "in1_cb", "out_cb"),
        header=_MATMUL,
        options=(_TRANSPOSE,),
        roles=_COMPUTE,
    ),
    _matmul_call("mm_init_short", "Prepare `matmul_tiles`.", _TWO, options=(_TRANSPOSE,)),
    _matmul_call(
        "mm_init_short_with_dt",
        "Prepare `matmul_tiles` and change the format of in1 from that of the old buffer.",
        cbs("in0_cb", "in1_cb", "old_in1_cb"),
        options=(_TRANSPOSE,),
    ),
    _matmul_call(
        "matmul_tiles",
        "Multiply matrices, a tile of each circular buffer, onto DST.",
        _TILES_OF_TWO,
        options=(_TRANSPOSE,),
        init="mm_init_short",
        reference=function("matmul"),
        tiles=_of_two(accumulates=True),
        cost=_MATRIX_PRODUCT,
    ),
    KernelCall(
        "mm_block_init",
        "Configure the core for `matmul_block`.",
        (*cbs("in0_cb", "in1_cb", "out_cb"), *_BLOCK_SIZES),
        header=_MATMUL,
        defaults=_ONE_PRODUCT,
        roles=_COMPUTE,
    ),
    _matmul_call(
        "mm_block_init_short",
        "Prepare `matmul_block`.",
        (*_TWO, *_BLOCK_SIZES),
        defaults=_ONE_PRODUCT,
    ),
    _matmul_call(
        "mm_block_init_short_with_dt",
        "Prepare `matmul_block` and change the format of in1 from that of the old buffer.",
        (*cbs("in0_cb", "in1_cb", "old_in1_cb"), *_BLOCK_SIZES),
        defaults=_ONE_PRODUCT,
    ),
    _matmul_call(
        "matmul_block",
        "Multiply rt_dim tiles of in0 by ct_dim of in1, onto as many of DST, row by row.",
        (*_TILES_OF_TWO, *ints("transpose", "ct_dim", "rt_dim", "kt_dim")),
        init="mm_block_init_short",
        cost=_MATRIX_PRODUCT,
    ),
)

_REDUCTIONS = (
    KernelCall(
        "reduce_init",
        "Prepare `reduce_tile`. The flag `at_start` of 2024 may come first.",
        cbs("in_cb", "scaling_cb", "out_cb"),
        header=_REDUCE,
        templates=_REDUCTION,
        roles=_COMPUTE,
    ),
    KernelCall(
        "reduce_tile",
        "Reduce rows, columns or both of a tile, times a factor, onto DST.",
        (*cbs("in_cb", "scaling_cb"), *ints("in_tile_index", "scaling_tile_index", "dst_index")),
        header=_REDUCE,
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
        "reduce_uninit",
        "Undo what `reduce_init` set in the packer.",
        header=_REDUCE,
        roles=Role.MATH | Role.PACK,
        templates=(flag("enforce_fp32_accumulation", "false"),),
        options=(Option(name="icb", type="uint32_t", default="0"),),
    ),
)

_TRANSPOSES = (
    KernelCall(
        "transpose_wh_init",
        "Configure the core for `transpose_wh_tile`.",
        cbs("in_cb", "out_cb"),
        header=_TRANSPOSE_HEADER,
        roles=_COMPUTE,
    ),
    KernelCall(
        "transpose_wh_init_short",
        "Prepare `transpose_wh_tile`.",
        cbs("in_cb"),
        header=_TRANSPOSE_HEADER,
        roles=_SOURCES,
    ),
    KernelCall(
        "transpose_wh_tile",
        "Transpose a tile of a circular buffer into DST.",
        (*cbs("in_cb"), *ints("in_tile_index", "dst_index")),
        header=_TRANSPOSE_HEADER,
        roles=_SOURCES,
        init="transpose_wh_init_short",
        reference=function("transpose"),
        tiles=Tiles(to="dst_index", cbs=(("in_cb", "in_tile_index"),)),
        cost=_ONE_TILE,
    ),
)

_WIDTHS = (number("block_ct_dim", "8"), number("full_ct_dim", "block_ct_dim"))
_tilize_call = partial(KernelCall, header=_TILIZE, roles=_COMPUTE)
_untilize_call = partial(KernelCall, header=_PACK_UNTILIZE, roles=_COMPUTE)
_LAYOUTS = (
    _tilize_call("tilize_init", "Prepare `tilize_block`.", _BLOCK, since=REFERENCE),
    _tilize_call(
        "tilize_init_short_with_dt",
        "Prepare `tilize_block` and change the format from that of the old buffer.",
        (*cbs("old_cb", "cbIn"), *ints("numTiles"), *cbs("cbOut")),
    ),
    _tilize_call(
        "tilize_block",
        "Turn 32 rows into so many tiles.",
        _BLOCK,
        options=(
            Option(name="input_tile_index", type="uint32_t", default="0"),
            Option(name="output_tile_index", type="uint32_t", default="0"),
        ),
        init="tilize_init",
        cost=Cost(unpack=52, math=8, pack=45, source="tt-llk issue 130"),
        since=REFERENCE,
    ),
    _tilize_call(
        "tilize_uninit", "Undo what `tilize_init` set in the unpacker.", cbs("cbIn", "cbOut")
    ),
    _tilize_call(
        "tilize_uninit_with_dt",
        "`tilize_uninit`, and change the format to that of the new circular buffer.",
        cbs("old_cb", "new_cb", "cbOut"),
    ),
    KernelCall(
        "untilize_init",
        "Prepare `untilize_block`.",
        cbs("cbIn", "cbOut"),
        header=_UNTILIZE,
        defaults=("16",),
        since=REFERENCE,
        roles=_COMPUTE,
    ),
    KernelCall(
        "untilize_block",
        "Turn so many tiles into 32 rows.",
        _BLOCK,
        header=_UNTILIZE,
        templates=(number("block_ct_dim", "1"),),
        init="untilize_init",
        cost=Cost(unpack=393, math=8, pack=47, source="tt-llk issue 131"),
        since=REFERENCE,
        roles=_COMPUTE,
    ),
    KernelCall(
        "untilize_uninit",
        "Undo what `untilize_init` set in the unpacker.",
        cbs("cbIn"),
        header=_UNTILIZE,
        roles=_COMPUTE,
    ),
    _untilize_call(
        "pack_untilize_init",
        "Prepare `pack_untilize_block`.",
        cbs("cbIn", "cbOut"),
        templates=_WIDTHS,
    ),
    _untilize_call(
        "pack_untilize_block",
        "Turn rows of block_ct_dim tiles into rows of numbers, in the packer.",
        (*cbs("cbIn"), *ints("block_rt_dim"), *cbs("cbOut")),
        templates=_WIDTHS,
        options=(Option(name="block_c_index", type="uint32_t", default="0"),),
        init="pack_untilize_init",
        cost=Cost(unpack=38, math=8, pack=57, source="tt-llk issue 131"),
    ),
    _untilize_call(
        "pack_untilize_uninit", "Undo what `pack_untilize_init` set in the packer.", cbs("cbOut")
    ),
    _untilize_call(
        "pack_untilize_dest_init", "Prepare `pack_untilize_dest`.", cbs("cbOut"), templates=_WIDTHS
    ),
    KernelCall(
        "pack_untilize_dest",
        "Turn block_ct_dim tiles of DST into rows of numbers, in the packer.",
        cbs("cbOut"),
        header=_PACK_UNTILIZE,
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
