"""Calls on columns of tiles in DST: sorting (topk), running statistics (Welford), sums and averages
down the columns, and others that need more than a number at a time.

Source: tt-metal, compute_kernel_api.h and compute_kernel_api/{welford,cumsum,ema,reshuffle}.h;
tt-llk, ckernel_sfpu_{topk,welfords,cumsum,ema,dropout,reshuffle_rows,max_pool_indices}.h, whose
instructions the estimates count.
"""

from __future__ import annotations

from ttmlir.optable.kernel.row import (
    Cost,
    KernelCall,
    Operands,
    Option,
    Role,
    Template,
    ValueKind,
    enumerator,
    flag,
    ints,
    number,
)
from ttmlir.optable.kernel.vector import API, GENERAL, preparation

_WELFORD = f"{API}welford.h"
_STABLE = (flag("stable_sort", "false"),)
_TABLE: Operands = (("reciprocal_lut", ValueKind.ARRAY),)
_SIZE = (number("reciprocal_size", "0"),)
_GROUP = Option(name="group_id", type="uint32_t", default="0")


def _estimate(cycles: int, what: str) -> Cost:
    return Cost(math=cycles, estimated=True, source=what)


def _call(
    mnemonic: str,
    summary: str,
    operands: Operands,
    cost: Cost,
    *,
    templates: tuple[Template, ...] = (),
    options: tuple[Option, ...] = (),
    header: str = _WELFORD,
    init: str = "welford_init",
) -> KernelCall:
    return KernelCall(
        mnemonic=mnemonic,
        summary=summary,
        operands=operands,
        header=header,
        roles=Role.MATH,
        templates=templates,
        options=options,
        init=init,
        cost=cost,
    )


def _sorting(
    mnemonic: str,
    summary: str,
    operands: Operands,
    cost: Cost,
    templates: tuple[Template, ...] = _STABLE,
    options: tuple[Option, ...] = (),
) -> KernelCall:
    return _call(
        mnemonic,
        summary,
        operands,
        cost,
        templates=templates,
        options=options,
        header=GENERAL,
        init="topk_tile_init",
    )


_SORTING = (
    preparation("topk_tile_init", "the calls that sort columns", GENERAL),
    _sorting(
        "topk_local_sort",
        "Sort columns of 64, values in tiles 0 and 1, indices in 2 and 3: phase p makes runs of "
        "2^(p+1), falling and rising in turn, the first one falling if idir is 0.",
        ints("idst", "idir", "end_phase"),
        _estimate(3600, "6 phases of 16 groups with about 28 instructions, 3 steps of 16 with 20"),
        options=tuple(
            Option(name=name, type="int", default="0")
            for name in ("start_phase", "end_step", "start_step")
        ),
    ),
    _sorting(
        "topk_merge",
        "Put the larger of each two numbers of runs of k that are 2^m_iter runs apart into the "
        "first run, or the smaller if idir is true.",
        ints("idst", "m_iter", "k"),
        _estimate(320, "32 groups with about 10 instructions"),
        (flag("idir", "false"), *_STABLE),
    ),
    _sorting(
        "topk_rebuild",
        "Sort runs of k that are 2^(m_iter+1) runs apart, falling and rising in turn.",
        ints("idst", "idir", "m_iter", "k", "logk", "skip_second"),
        _estimate(770, "16 groups with about 28 instructions, a step of 16 with 20"),
    ),
)

_STATISTICS = (
    preparation("welford_init", "the calls with mean and variance, and clear both", _WELFORD),
    _call("welford_clear", "Clear mean and variance.", (), _estimate(2, "2 instructions")),
    _call(
        "welford_update",
        "Add the rows of a tile to mean and variance of each column; entry n of the table is "
        "1 / (n + 1) as bits, an empty one has the call divide.",
        (*ints("input_dst_idx", "start_idx"), *_TABLE),
        _estimate(320, "10 instructions for each row"),
        templates=_SIZE,
    ),
    _call(
        "welford_update_rows",
        "Add some rows of a tile.",
        (*ints("input_dst_idx", "start_idx", "start_row", "num_rows"), *_TABLE),
        _estimate(320, "10 instructions for each row"),
        templates=_SIZE,
    ),
    _call(
        "welford_save_state",
        "Store mean and sum of squares as the registers hold them, in two tiles.",
        ints("mean_dst_idx"),
        _estimate(4, "2 stores"),
        options=(_GROUP,),
    ),
    _call(
        "welford_restore_state",
        "Load what `welford_save_state` stored.",
        ints("mean_dst_idx"),
        _estimate(4, "2 loads"),
        options=(_GROUP,),
    ),
    _call(
        "welford_finalize_to_row",
        "Store mean and variance in row 0 of two tiles.",
        (*ints("mean_dst_idx", "scale_idx"), *_TABLE),
        _estimate(24, "a product, 2 transpositions and 16 loads and stores"),
        templates=_SIZE,
    ),
    _call(
        "welford_finalize_to_face",
        "Store mean and variance as the registers hold them, in two tiles.",
        (*ints("mean_dst_idx", "scale_idx"), *_TABLE),
        _estimate(8, "a product and 2 stores"),
        templates=_SIZE,
    ),
    KernelCall(
        mnemonic="welford_finalize_group_to_face",
        summary="The same, in the rows of a group.",
        operands=(*ints("mean_dst_idx", "group_id", "scale_idx"), *_TABLE),
        cpp="welford_finalize_to_face",
        header=_WELFORD,
        roles=Role.MATH,
        templates=_SIZE,
        init="welford_init",
        cost=_estimate(8, "a product and 2 stores"),
    ),
)

_CUMSUM, _EMA, _RESHUFFLE = (f"{API}{name}.h" for name in ("cumsum", "ema", "reshuffle"))
_DROPOUT = f"{API}eltwise_unary/dropout.h"

_SCANS = (
    preparation("cumsum_tile_init", "`cumsum_tile`", _CUMSUM),
    _call(
        "cumsum_tile",
        "Sums down each column, going on from the tile before unless `first`.",
        ints("idst"),
        _estimate(208, "8 groups of 4 rows with about 26 instructions"),
        options=(Option(name="first", type="bool", default="true"),),
        header=_CUMSUM,
        init="cumsum_tile_init",
    ),
    preparation(
        "ema_init",
        "`ema_tile`: alpha and beta as bits of float32",
        _EMA,
        operands=ints("alpha", "beta"),
    ),
    _call(
        "ema_clear_previous_output",
        "Let the next `ema_tile` go on from zeros.",
        (),
        _estimate(1, "1 instruction"),
        header=_EMA,
        init="ema_init",
    ),
    _call(
        "ema_tile",
        "Down each column alpha * (row before) + beta * x, into the tile behind x.",
        ints("input_dst_index"),
        _estimate(240, "8 groups of 4 rows with about 30 instructions"),
        header=_EMA,
        init="ema_init",
    ),
    preparation(
        "dropout_kernel_init",
        "`dropout_tile`; the random numbers are not those of the chip",
        _DROPOUT,
        operands=ints("seed"),
        defaults=("0",),
    ),
    _call(
        "dropout_tile",
        "x times a number, as bits of float32, or 0 in the case of a probability, which is given "
        "times 2^31 - 1.",
        ints("idst", "probability", "scale_factor"),
        _estimate(256, "8 instructions for each of 32 vectors"),
        header=_DROPOUT,
        init="dropout_kernel_init",
    ),
    preparation("reshuffle_rows_tile_init", "`reshuffle_rows_tile`", _RESHUFFLE),
    _call(
        "reshuffle_rows_tile",
        "Add row i to the row of the tile behind it that byte 16 + i at an address in L1 names; "
        "rows for which that is 32 or more are left out.",
        ints("idst", "idx_addr"),
        _estimate(544, "17 instructions for each row"),
        header=_RESHUFFLE,
        init="reshuffle_rows_tile_init",
    ),
    preparation(
        "max_reduce_with_indices_init",
        "`max_reduce_with_indices`",
        GENERAL,
        templates=(enumerator("layout", "DataLayout", "DataLayout::TILE"),),
    ),
    _call(
        "max_reduce_with_indices",
        "The largest of the first rows of each column, and what stands at its place in a second "
        "tile, into row 0.",
        ints("idst", "idst_idx"),
        _estimate(72, "loads, 14 swaps and stores for each of 4 parts"),
        templates=(
            number("num_rows", "9"),
            enumerator("layout", "DataLayout", "DataLayout::TILE"),
            number("more", "0"),
            number("iterations", "8"),
        ),
        options=(Option(name="chunk", type="uint32_t", default="0"),),
        header=GENERAL,
        init="max_reduce_with_indices_init",
    ),
)

CALLS = (*_SORTING, *_STATISTICS, *_SCANS)
"""The calls, in the order of the documentation."""
