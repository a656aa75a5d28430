"""Calls on DST, the register file of results: who has it, what is copied into it and out of it.

Source: tt-metal, compute_kernel_api/{reg_api,tile_move_copy,pack,reconfig_data_format}.h. Cycles:
tt-isa-documentation, WormholeB0 (MatrixUnit.md, UNPACR_Regular.md); tt-llk issue 130 (packer).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
    flag,
    ints,
)

_REFERENCE = "880154e3c2"
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


def _call(
    mnemonic: str,
    summary: str,
    header: str,
    roles: Role,
    operands: Operands = (),
    *,
    cpp: str = "",
    templates: tuple[Template, ...] = (),
    defaults: tuple[str, ...] = (),
    options: tuple[Option, ...] = (),
    data_types: tuple[str, ...] = (),
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
        data_types=data_types,
        cpp=cpp,
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


def _same(xp: Any, tile: Any) -> Any:
    return tile


def _transpose_option() -> Option:
    return Option(name="transpose", type="uint32_t", default="0")


_UNITS = (
    # Operations of tt-mlir on the units below the compute API; no kernel can call them in C++.
    _call(
        "pack_set_data_type",
        "Set the format that tiles are packed to.",
        "",
        Role.PACK,
        data_types=("data_type",),
        since=_REFERENCE,
    ),
    _call(
        "unpack_set_data_type",
        "Set the formats that tiles are unpacked from.",
        "",
        Role.UNPACK,
        data_types=("data_type_a", "data_type_b"),
        since=_REFERENCE,
    ),
    _call(
        "pack",
        "Copy a tile from DST to a circular buffer.",
        "",
        Role.PACK,
        _PACK,
        since=_REFERENCE,
    ),
    _call(
        "unpack_a",
        "Copy a tile from a circular buffer to SrcA.",
        "",
        Role.UNPACK,
        (*cbs("cb"), *ints("src_index")),
        since=_REFERENCE,
    ),
    _call(
        "unpack_ab",
        "Copy tiles from two circular buffers to SrcA and SrcB.",
        "",
        Role.UNPACK,
        (*cbs("cb_a"), *ints("src_a_index"), *cbs("cb_b"), *ints("src_b_index")),
        since=_REFERENCE,
    ),
)

_OWNERSHIP = (
    _call(
        "acquire_dst",
        "Take DST, for all compute threads together.",
        _REGISTERS,
        Role.MATH | Role.PACK,
        since=_REFERENCE,
    ),
    _call(
        "release_dst",
        "Give DST back, for all compute threads together.",
        _REGISTERS,
        Role.MATH | Role.PACK,
        since=_REFERENCE,
    ),
    _call(
        "tile_regs_acquire",
        "Take a free half of DST for the math thread; wait for one.",
        _REGISTERS,
        Role.MATH,
        since=_REFERENCE,
    ),
    _call(
        "tile_regs_commit",
        "Hand the math thread's half of DST to the pack thread.",
        _REGISTERS,
        Role.MATH,
        since=_REFERENCE,
    ),
    _call(
        "tile_regs_wait",
        "Take a committed half of DST for the pack thread; wait for one.",
        _REGISTERS,
        Role.PACK,
        since=_REFERENCE,
    ),
    _call(
        "tile_regs_release",
        "Give the pack thread's half of DST back.",
        _REGISTERS,
        Role.PACK,
        since=_REFERENCE,
    ),
)

_PACKING = (
    _call(
        "pack_tile",
        "Copy a tile from DST to the reserved part of a circular buffer.",
        _PACK_HEADER,
        Role.PACK,
        _PACK,
        templates=(flag("out_of_order", "false"),),
        defaults=("0",),
        cost=_PACK_COST,
        since=_REFERENCE,
    ),
    _call(
        "pack_tile_block",
        "Copy so many tiles from DST to the reserved part of a circular buffer, in order.",
        _PACK_HEADER,
        Role.PACK,
        (*ints("dst_index"), *cbs("out_cb"), *ints("ntiles")),
        cost=_PACK_COST,
    ),
    _call(
        "pack_reconfig_data_format",
        "Set the format that tiles are packed to, to that of a circular buffer.",
        _PACK_HEADER,
        Role.PACK,
        cbs("out_cb"),
    ),
    _call(
        "pack_reconfig_data_format_from",
        "`pack_reconfig_data_format`, skipped if the old circular buffer has the same format.",
        _PACK_HEADER,
        Role.PACK,
        cbs("old_cb", "new_cb"),
        cpp="pack_reconfig_data_format",
    ),
    _call(
        "pack_reconfig_l1_acc",
        "Whether packed tiles are added to what is in L1 (1) or replace it (0).",
        _PACK_HEADER,
        Role.PACK,
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
            _call(
                mnemonic,
                f"Set the format that tiles are unpacked from to {registers}.",
                _FORMATS,
                _UNPACKER,
                cbs(*(f"{name}_new_operand" for name in names)),
                templates=_INT8,
            ),
            _call(
                f"{mnemonic}_from",
                f"`{mnemonic}`, skipped if the old circular buffer has the same format.",
                _FORMATS,
                _UNPACKER,
                cbs(*from_old),
                cpp=mnemonic,
                templates=_INT8,
            ),
        )
    return tuple(calls)


_COPYING = (
    _call("copy_tile_init", "Prepare `copy_tile`.", _MOVE, _UNPACKER, cbs("cb")),
    _call(
        "copy_tile_to_dst_init_short",
        "Prepare `copy_tile`; transposed if so asked.",
        _MOVE,
        _UNPACKER,
        cbs("cb"),
        options=(
            _transpose_option(),
            Option(name="transpose_within_16x16_face", type="bool", default="false"),
        ),
    ),
    _call(
        "copy_tile_to_dst_init_short_with_dt",
        "Prepare `copy_tile` and change the format from that of the old circular buffer.",
        _MOVE,
        _UNPACKER,
        cbs("old_cb", "new_cb"),
        options=(_transpose_option(),),
    ),
    _call(
        "copy_tile",
        "Copy a tile from a circular buffer to DST.",
        _MOVE,
        _UNPACKER,
        (*cbs("cb"), *ints("tile_index_cb", "tile_index_dst")),
        init="copy_tile_init",
        meaning=_same,
        tiles=Tiles(to="tile_index_dst", cbs=(("cb", "tile_index_cb"),)),
        cost=_COPY_COST,
    ),
    _call(
        "copy_block_matmul_partials",
        "Copy so many tiles from a circular buffer to DST, in order.",
        _MOVE,
        _UNPACKER,
        (*cbs("cb"), *ints("start_in_tile_index", "start_dst_tile_index", "ntiles")),
        init="copy_tile_init",
        cost=_COPY_COST,
    ),
    _call(
        "copy_dest_values_init",
        "Prepare `copy_dest_values`.",
        "compute_kernel_api/copy_dest_values.h",
        Role.MATH,
    ),
    _call(
        "copy_dest_values",
        "Copy a tile of DST to another place in DST.",
        "compute_kernel_api/copy_dest_values.h",
        Role.MATH,
        ints("idst_in", "idst_out"),
        init="copy_dest_values_init",
        meaning=_same,
        tiles=Tiles(to="idst_out", dst=("idst_in",)),
        cost=Cost(math=64, estimated=True, source="a load and a store per vector"),
    ),
)

CALLS = (*_UNITS, *_OWNERSHIP, *_PACKING, *_reconfigurations(), *_COPYING)
"""The calls, in the order of the documentation."""
