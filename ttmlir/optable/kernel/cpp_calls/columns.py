"""Calls on columns of tiles in DST: sorting (topk) and running statistics (Welford).

Source: tt-metal, compute_kernel_api.h and welford.h; tt-llk, ckernel_sfpu_{topk,welfords}.h, whose
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

CALLS = (*_SORTING, *_STATISTICS)
"""The calls, in the order of the documentation."""
