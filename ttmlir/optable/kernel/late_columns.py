"""Calls on columns of tiles in DST that tt-metal 0.81 has: statistics in two passes, and sorts
whose equal values are told apart by tags in the low bits; also products down the vectors of a tile.

Source: tt-metal 0.81, api/compute/{welford,topk,compute_kernel_api,triangle_solve}.h; tt-llk,
ckernel_sfpu_{welfords_common,topk,tiled_prod,int_sum}.h, whose instructions the estimates count.
"""

from __future__ import annotations

from ttmlir.optable.kernel.kernel_call import (
    Cost,
    KernelCall,
    Operands,
    Option,
    Role,
    Template,
    cbs,
    enumerator,
    flag,
    ints,
    number,
)
from ttmlir.optable.kernel.vector import API, GENERAL, UNARY, instructions, preparation

_WELFORD, _TOPK, _SOLVE = (f"{API}{name}.h" for name in ("welford", "topk", "triangle_solve"))
_DUAL = (flag("dual_m2", "true"),)
_RECIPROCAL = ("mean_dst_idx", "reciprocal_bits")
_WIDE = (flag("is_fp32_dest_acc_en", "DST_ACCUM_MODE"),)
_TAGS = (flag("largest"), number("tag_bits", "16"))
_TILE = 32
"""Vectors of a tile."""


def _call(
    name: str,
    summary: str,
    operands: Operands,
    cycles: int,
    *,
    header: str = _WELFORD,
    init: str = "two_pass_stats_init_shifted",
    templates: tuple[Template, ...] = (),
    options: tuple[Option, ...] = (),
    roles: Role = Role.MATH,
) -> KernelCall:
    return KernelCall(
        name,
        summary,
        operands,
        header=header,
        roles=roles,
        templates=templates,
        options=options,
        init=init,
        cost=Cost(math=cycles, estimated=True, source="about as many instructions"),
    )


def _tagged(
    name: str,
    summary: str,
    operands: Operands,
    count: int,
    tiles: int,
    templates: tuple[Template, ...],
) -> KernelCall:
    """A call of sorting with `count` instructions for each vector of so many tiles."""
    return _call(
        name,
        summary,
        operands,
        count * _TILE * tiles,
        header=_TOPK,
        init="topk_tile_init",
        templates=templates,
    )


_STATISTICS = (
    preparation("two_pass_stats_init_shifted", "statistics in two passes", _WELFORD),
    _call("two_pass_stats_clear", "Clear mean, sums and squares.", (), 3),
    _call(
        "two_pass_stats_update_shifted_rows",
        "Add rows of a tile: differences from the anchor, which `Initialise` takes from the first "
        "row, or squares of differences from the mean.",
        ints("input_dst_idx", "start_row", "num_rows"),
        96,
        templates=(
            enumerator("accumulation", "TwoPassAccumulation"),
            enumerator("anchor", "TwoPassAnchor", "TwoPassAnchor::Reuse"),
            flag("dual_accumulator", "true"),
        ),
    ),
    _call(
        "two_pass_stats_update_rows",
        "Add squares of differences from the mean of rows of a tile.",
        ints("input_dst_idx", "start_row", "num_rows"),
        96,
        templates=_DUAL,
    ),
    _call(
        "two_pass_stats_finish_shifted_mean",
        "Make the sum of differences the mean, given 1 / count as bits, and clear the squares.",
        ints("reciprocal_bits"),
        8,
        templates=(flag("dual_sum", "true"), flag("retain_anchor", "false")),
    ),
    _call(
        "two_pass_stats_save_state",
        "Store mean and squares as the registers hold them, in two tiles.",
        ints("mean_dst_idx"),
        5,
        templates=_DUAL,
    ),
    _call(
        "two_pass_stats_switch_group",
        "Store the state of one group in two tiles and load that of another.",
        ints("mean_dst_idx", "save_group_id", "restore_group_id"),
        8,
        templates=(flag("dual_accumulator"),),
    ),
    _call("two_pass_stats_save_anchor", "Store the anchor in a tile.", ints("anchor_dst_idx"), 2),
    _call(
        "two_pass_stats_restore_anchor",
        "Load what `two_pass_stats_save_anchor` stored.",
        ints("anchor_dst_idx"),
        2,
    ),
    _call(
        "two_pass_stats_save_anchor_to_state",
        "Store the anchor behind the mean of a saved state.",
        ints("mean_dst_idx"),
        2,
    ),
    _call(
        "two_pass_stats_restore_anchor_from_state",
        "Load the anchor of a saved state.",
        ints("mean_dst_idx"),
        2,
    ),
    _call(
        "two_pass_stats_combine_block",
        "Merge mean and squares of a block of so many numbers into a saved state, given 1 / count "
        "of both; numbers are bits of float32.",
        ints("mean_dst_idx", "total_reciprocal_bits", "block_n_bits"),
        24,
        templates=_DUAL,
    ),
    _call(
        "two_pass_stats_finalize_to_row",
        "Store mean and variance in row 0 of two tiles, or the variance alone.",
        ints(*_RECIPROCAL),
        24,
        templates=(*_DUAL, flag("store_mean", "true")),
    ),
    _call(
        "two_pass_stats_finalize_split_mean_to_row",
        "Store the anchor in row 0 of a tile, what the mean lies below it in row 16, and the "
        "variance in row 0 of the next tile.",
        ints(*_RECIPROCAL),
        36,
        templates=_DUAL,
    ),
    _call(
        "two_pass_stats_finalize_to_face",
        "Store mean and variance as the registers hold them, in the rows of a group.",
        ints("mean_dst_idx", "group_id", "reciprocal_bits"),
        8,
        templates=_DUAL,
    ),
    _call(
        "two_pass_stats_finalize_and_combine_to_face",
        "Store mean and variance of all 32 columns together in the rows of a group, or the sum "
        "of variances; the third tile is changed, too.",
        ints("mean_dst_idx", "group_id", "reciprocal_bits"),
        90,
        templates=(*_DUAL, flag("average_variance", "true")),
    ),
)

_SORTING = (
    _tagged(
        "topk_fuse_tile",
        "Put indices, complemented by sign and direction, into the low halves of two tiles of "
        "values.",
        ints("idst"),
        9,
        2,
        (flag("largest"),),
    ),
    _tagged(
        "topk_defuse_tile",
        "Split so many tiles of such words into values and indices.",
        ints("idst", "num_tiles"),
        10,
        1,
        (flag("largest"),),
    ),
    _tagged(
        "topk_stamp_local_positions",
        "Put places in the columns of two tiles, complemented by sign and direction, into the low "
        "bits of values.",
        ints("idst"),
        14,
        2,
        _TAGS,
    ),
    _tagged(
        "topk_stamp_tile_rank_range",
        "The same for one tile, with places counted from a multiple of 32.",
        ints("idst", "dst_tile_index", "rank_base"),
        14,
        1,
        _TAGS,
    ),
    _tagged(
        "topk_canonicalize_negzero_values",
        "Make -0 in two tiles of values 0.",
        ints("idst"),
        7,
        2,
        _WIDE,
    ),
    _tagged(
        "topk_strip_rank_tags",
        "Clear the low bits of a tile of values.",
        ints("idst"),
        3,
        1,
        (number("tag_bits", "16"), *_WIDE),
    ),
    _tagged(
        "topk_finalize_uint16_indices",
        "Move indices of 16 bits to where the packer takes them from.",
        ints("idst"),
        2,
        1,
        _WIDE,
    ),
    _tagged(
        "topk_uint16_move_dest_tile_to_pack_half",
        "The same, without what stands above the 16 bits.",
        ints("idst"),
        3,
        1,
        _WIDE,
    ),
    _tagged(
        "topk_uint16_prepare_value_tile_for_pack",
        "The same for values, where a kernel is compiled for values of 16 bits.",
        ints("idst"),
        3,
        1,
        (),
    ),
)

_OTHERS = (
    preparation("tiled_prod_tile_init", "`tiled_prod_tile`", GENERAL),
    KernelCall(
        "tiled_prod_tile",
        "Products down the 32 vectors of a tile, each with those before it; the first vector of "
        "the next tile is multiplied, too.",
        ints("idst"),
        header=GENERAL,
        roles=Role.MATH,
        init="tiled_prod_tile_init",
        cost=instructions(4),
    ),
    KernelCall(
        "sfpu_add_int",
        "Sum of the integers of a tile and of the next one; they are not negative.",
        ints("idst"),
        header=f"{UNARY}sfpu_int_sum.h",
        roles=Role.MATH,
        options=(
            Option(name="dst_offset", type="uint32_t", default="2"),
            Option(name="iterations", type="int32_t", default="8"),
        ),
        init="sfpu_sum_int_init",
        cost=instructions(6),
    ),
    preparation("triangle_solve_tile_init", "`triangle_solve_tile`", _SOLVE),
    KernelCall(
        "triangle_solve_tile",
        "X of L X = R, where L is a lower triangle with ones on its diagonal, in a circular "
        "buffer; on Blackhole.",
        (*cbs("cb_l"), *ints("l_tile_idx", "idst_in", "idst_out")),
        header=_SOLVE,
        roles=Role.UNPACK | Role.MATH,
        templates=(
            enumerator("l_format", "DataFormat", "DataFormat::Float32"),
            flag("l_negated", "false"),
            flag("l_cached", "true"),
            *_WIDE,
        ),
        init="triangle_solve_tile_init",
        cost=instructions(96),
    ),
)

CALLS = (*_STATISTICS, *_SORTING, *_OTHERS)
"""The calls, in the order of the documentation."""
