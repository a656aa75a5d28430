"""Calls on DST, the register file of results: who has it, what is copied into it and out of it.

Source: tt-metal, compute_kernel_api/{reg_api,tile_move_copy,pack,reconfig_data_format}.h. Cycles:
tt-isa-documentation, WormholeB0 (MatrixUnit.md, UNPACR_Regular.md); tt-llk issue 130 (packer).
"""

from __future__ import annotations

from ttmlir.optable.kernel.meanings import unchanged
from ttmlir.optable.kernel.row import (
    REFERENCE,
    Cost,
    KernelCall,
    Option,
    Role,
    Tiles,
    cbs,
    flag,
    ints,
)

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


_UNITS = (
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

CALLS = (*_UNITS, *_OWNERSHIP, *_PACKING, *_reconfigurations(), *_COPYING)
"""The calls, in the order of the documentation."""
