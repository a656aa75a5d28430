"""Names that calls have, or had, in other releases of tt-metal, with the same operands.

The table holds each call under one name. Releases are told by their month: kernels of 2024 and of
2025 use the first group, those of late 2026 the second.
"""

from __future__ import annotations

from collections.abc import Mapping

from ttmlir.optable.kernel.cpp_calls.printing import RANGES

_BEFORE_2026 = {
    "tilize_init_short": "tilize_init",
    "untilize_init_short": "untilize_init",
    "pack_untilize_init_short": "pack_untilize_init",
    "pack_untilize_dst_init_short": "pack_untilize_dest_init",
    "pack_untilize_dst": "pack_untilize_dest",
    "matmul_pack_tile": "pack_tile_block",
    "unpack_reconfig_data_format": "reconfig_data_format",
    "unpack_reconfig_data_format_srca": "reconfig_data_format_srca",
    "unpack_reconfig_data_format_srcb": "reconfig_data_format_srcb",
}

_SINCE_MID_2026 = {
    "copy_init": "copy_tile_to_dst_init_short",
    "copy_block": "copy_block_matmul_partials",
    "add_init": "add_tiles_init",
    "sub_init": "sub_tiles_init",
    "mul_init": "mul_tiles_init",
    "matmul_init": "mm_init_short",
    "matmul_block_init": "mm_block_init_short",
    "transpose_init": "transpose_wh_init_short",
    "transpose_tile": "transpose_wh_tile",
    "transpose_dest_init": "transpose_wh_dest_init_short",
    "transpose_dest": "transpose_wh_dest",
    "add_bcast_rows_init": "add_bcast_rows_init_short",
    "add_bcast_cols_init": "add_bcast_cols_init_short",
    "add_bcast_scalar_init": "add_bcast_scalar_init_short",
    "sub_bcast_rows_init": "sub_bcast_rows_init_short",
    "sub_bcast_cols_init": "sub_bcast_cols_init_short",
    "sub_bcast_scalar_init": "sub_tiles_bcast_scalar_init_short",
    "mul_bcast_rows_init": "mul_bcast_rows_init_short",
    "mul_bcast_cols_init": "mul_bcast_cols_init_short",
    "mul_bcast_scalar_init": "mul_tiles_bcast_scalar_init_short",
    "pack_block": "pack_tile_block",
    "pack_init": "pack_reconfig_data_format",
}

_UNITS = {
    "llk_pack_reconfig_l1_acc": "pack_reconfig_l1_acc",
    "pack_relu_config": "llk_pack_relu_config",
}
"""Calls of the layer below the compute API, which kernels make inside of `PACK((...))`."""

_MEMBERS = {f"SliceRange::{name}": f"SliceRange_{name}" for name in RANGES}
"""Static member functions."""

SPELLINGS: Mapping[str, str] = {**_BEFORE_2026, **_SINCE_MID_2026, **_UNITS, **_MEMBERS}
"""The name in the table by the other name."""
