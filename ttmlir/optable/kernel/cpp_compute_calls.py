"""Calls of compute kernels on the unpackers, the matrix unit and the packer.

Source: tt-metal, compute_kernel_api/*.h of 2024 to 2026; tt-llk, llk_lib.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from ttmlir.optable.kernel.kernel_call import (
    Cost,
    Element,
    Form,
    KernelCall,
    Operands,
    Option,
    Reference,
    Role,
    Scalar,
    Template,
    ValueKind,
    cbs,
    enumerator,
    flag,
    ints,
    number,
    reference_of,
)
from ttmlir.optable.kernel.vector import (
    API,
    COMPARISONS_OF_2026,
    GENERAL,
    UNARY,
    computation,
    instructions,
    preparation,
)

# --- Compute --------------------------------------------------------------------------------------
# Calls of compute kernels on the unpackers, the matrix unit and the packer.
#
# Source: tt-metal, compute_kernel_api/*.h of 2024 to 2026; tt-llk, llk_lib.

_API = "compute_kernel_api/"
_BINARY = f"{_API}eltwise_binary.h"
_BROADCAST = f"{_API}bcast.h"
_MATMUL = f"{_API}matmul.h"
_REDUCE = f"{_API}reduce.h"
_TILIZE = f"{_API}tilize.h"
_TRANSPOSE_DEST = f"{_API}transpose_wh_dest.h"
_LLK_PACK = "llk_pack_api.h"
_SOURCES = Role.UNPACK | Role.MATH
_TWO = cbs("in0_cb", "in1_cb")
_TYPE = enumerator("eltwise_binary_type", "EltwiseBinaryType")
_ACCUMULATE = Option(name="acc_to_dest", type="bool", default="false")
_REDUCTION = (
    enumerator("reduce_type", "PoolType", "REDUCE_OP"),
    enumerator("reduce_dim", "ReduceDim", "REDUCE_DIM"),
)
_FACES = (
    Option(name="num_faces", type="uint32_t", default="4"),
    Option(name="face_r_dim", type="uint32_t", default="16"),
)
_ISA = "tt-isa-documentation, WormholeB0: UNPACR_Regular.md, MatrixUnit.md"

_binary_call = partial(KernelCall, header=_BINARY, roles=_SOURCES)
_BINARY_OPERATIONS = (
    _binary_call(
        "binary_tiles_init",
        "Prepare `add_tiles`, `sub_tiles` or `mul_tiles`, as the type says.",
        _TWO,
        templates=(flag("full_init"), _TYPE),
        options=(_ACCUMULATE,),
    ),
    _binary_call(
        "binary_op_specific_init",
        "`binary_tiles_init` for the circular buffers that the core is configured for.",
        templates=(flag("full_init"), _TYPE),
    ),
    KernelCall(
        "bcast_init",
        "Prepare an operation with a part of the second tile spread.",
        _TWO,
        header=_BROADCAST,
        roles=_SOURCES,
        templates=(_TYPE, enumerator("bcast_type", "BroadcastType")),
    ),
    KernelCall(
        "unary_bcast_uninit",
        "Undo what `unary_bcast_init` set in the unpacker.",
        cbs("in_cb"),
        header=_BROADCAST,
        roles=_SOURCES,
        templates=(enumerator("bcast_type", "BroadcastType"),),
    ),
    KernelCall(
        "mm_block_init_short_with_both_dt",
        "Prepare `matmul_block` and change both formats from those of the old buffers.",
        (
            *cbs("in0_cb", "in1_cb", "old_in0_cb", "old_in1_cb"),
            *ints("transpose", "ct_dim", "rt_dim", "kt_dim"),
        ),
        header=_MATMUL,
        defaults=("0", "1", "1", "1"),
        roles=_SOURCES,
    ),
)

_semaphore_call = partial(
    KernelCall,
    operands=ints("index"),
    header="ckernel.h",
    roles=Role.COMPUTE,
    templates=(number("stalled", "0"),),
)
_SEMAPHORES = (
    _semaphore_call(
        "t6_semaphore_init",
        "Give one of the eight semaphores of the units a value and a maximum.",
        operands=ints("index", "value", "max_value"),
    ),
    _semaphore_call("t6_semaphore_post", "Add one to a semaphore of the units."),
    _semaphore_call("t6_semaphore_get", "Take one from a semaphore of the units, if it has one."),
    _semaphore_call(
        "t6_semaphore_wait_on_zero", "Wait until a semaphore of the units is not zero."
    ),
    _semaphore_call(
        "t6_semaphore_wait_on_max", "Wait until a semaphore of the units is below its maximum."
    ),
)
_OF_UNPACKERS = (
    KernelCall(
        "builtin_unpack_wait",
        "",
        operands=ints("index"),
        header="ckernel.h",
        roles=Role.UNPACK,
    ),
    KernelCall(
        "builtin_unpack_get",
        "",
        operands=ints("index"),
        header="ckernel.h",
        roles=Role.UNPACK,
    ),
)
"""The same for the unpackers alone, which the package's headers call."""

_STRIDES = (
    KernelCall(
        "matmul_set_in1_column_stride",
        "Let `matmul_block` take the tiles of in1 so many pages apart, until it is prepared anew.",
        (*cbs("in1_cb"), *ints("stride_tiles")),
        header=_MATMUL,
        roles=Role.UNPACK,
    ),
)

_PACKER = (
    KernelCall(
        "llk_pack_init",
        "Let the packer take so many tiles at once: `pack_tile` then packs as many.",
        cbs("out_cb"),
        header=_LLK_PACK,
        roles=Role.PACK,
        templates=(
            number("pack_mode", "PackMode::Default"),
            flag("zero_output", "false"),
            flag("skip_addrmod_config", "false"),
            flag("skip_packer_strides", "false"),
        ),
        options=(Option(name="num_tiles", type="uint32_t", default="1"),),
    ),
    KernelCall(
        "llk_math_reconfig_remap",
        "Let the packer of Blackhole take rows of DST as they are untilized, or tiles again; "
        "the simulator's packer takes both without it.",
        (("enable", ValueKind.BOOL),),
        header="llk_math_common_api.h",
        roles=Role.MATH,
    ),
    KernelCall(
        "llk_pack_reduce_mask_config",
        "Pack only what a reduction of that dimension gives, and zeros elsewhere.",
        cbs("out_cb"),
        header=_LLK_PACK,
        roles=Role.PACK,
        templates=(
            enumerator("reduce_dim", "ReduceDim", "REDUCE_DIM"),
            number("pack_mode", "PackMode::Default"),
        ),
    ),
    KernelCall(
        "llk_pack_reduce_mask_clear",
        "Pack whole tiles again.",
        header=_LLK_PACK,
        roles=Role.PACK,
    ),
    KernelCall(
        "llk_pack_relu_config",
        "Let the packer apply ReLU until it is set again. Bits 0 and 1 of the number say "
        "how: 0 not at all, 1 negative numbers become 0, 2 so do those up to a threshold, 3 those "
        "above it become the threshold, too. The upper half is the threshold, a 16-bit float.",
        ints("config"),
        header=_LLK_PACK,
        roles=Role.PACK,
    ),
)

_tilize_call = partial(KernelCall, header=_TILIZE, roles=Role.COMPUTE)
_REDUCTIONS = (
    KernelCall(
        "reduce_init_delta",
        "`reduce_init`, without a change of formats: (icb0, icb1, ocb), or none of them. "
        "The flag `at_start` of 2024 comes first and then the buffers are (ocb, icb0, icb1).",
        header=_REDUCE,
        options=tuple(
            Option(name=name, type="uint32_t", default=default)
            for name, default in (("icb0", "0"), ("icb1", "1"), ("ocb", "16"))
        ),
        templates=(*_REDUCTION, enumerator("dim_after_at_start", "ReduceDim", "REDUCE_DIM")),
        roles=Role.COMPUTE,
    ),
    KernelCall(
        "reduce_revert_delta",
        "Undo what `reduce_init_delta` set in the packer.",
        header=_REDUCE,
        options=(Option(name="ocb", type="uint32_t", default="16"),),
        templates=(enumerator("reduce_dim", "ReduceDim", "REDUCE_DIM"),),
        roles=Role.MATH | Role.PACK,
    ),
    _tilize_call(
        "tilizeA_B_reduce_init",
        "Configure the core for `unpack_tilizeA_B_block` and `reduce_tile_math`.",
        (*cbs("in_cb", "scaler_cb"), *ints("block"), *cbs("out_cb")),
        templates=(flag("neginf_srcA", "true"), flag("zero_srcA_reduce", "false")),
        options=_FACES,
    ),
    KernelCall(
        "unpack_tilizeA_B_block",
        "Make so many tiles of rows in SrcA, one after another, each with a tile of "
        "factors in SrcB. What the rows do not fill is -inf, or zero if so asked.",
        (*cbs("in_cb", "scaler_cb"), *ints("block", "tile_idx_b")),
        header=_TILIZE,
        templates=(
            flag("neginf_srcA", "true"),
            flag("reload_srcB", "true"),
            flag("zero_srcA", "false"),
            flag("zero_srcA_reduce", "false"),
        ),
        options=_FACES,
        roles=Role.UNPACK,
        cost=Cost(unpack=52, source="tt-llk issue 130"),
    ),
    KernelCall(
        "unpack_tilizeA_B_uninit",
        "Undo what `tilizeA_B_reduce_init` set in the unpacker.",
        cbs("in_cb"),
        header=_TILIZE,
        roles=Role.UNPACK,
    ),
    KernelCall(
        "reduce_tile_math",
        "The part of `reduce_tile` that the math thread has: SrcA, times the factors in "
        "SrcB, is reduced onto DST.",
        ints("dst_index"),
        header=_REDUCE,
        templates=(*_REDUCTION, flag("enforce_fp32_accumulation", "false")),
        options=(Option(name="num_faces", type="uint32_t", default="4"),),
        roles=Role.MATH,
        cost=Cost(
            math=16,
            phases=True,
            estimated=True,
            source="as a matrix product: GAPOOL is MVMUL (MatrixUnit.md)",
        ),
    ),
)

_WITHIN_DST = (
    KernelCall(
        "transpose_wh_dest_init_short",
        "Prepare `transpose_wh_dest`.",
        header=_TRANSPOSE_DEST,
        options=(Option(name="operand", type="uint32_t", default="0"),),
        templates=(flag("is_32bit", "false"), flag("transpose_of_faces", "true")),
        roles=Role.MATH,
    ),
    KernelCall(
        "transpose_wh_dest",
        "Transpose a tile of DST in place; the faces stay where they are if so asked.",
        ints("dst_index"),
        header=_TRANSPOSE_DEST,
        templates=(flag("is_32bit", "false"), flag("transpose_of_faces", "true")),
        roles=Role.MATH,
        cost=Cost(
            math=64,
            estimated=True,
            source="MOVD2B and MOVB2D of 64 rows each, 4 rows at a time, and TRNSPSRCB of 4 faces",
        ),
    ),
)

_FAST_TILIZE = (
    _tilize_call(
        "fast_tilize_init",
        "Prepare `fast_tilize_block`.",
        (*cbs("in_cb"), *ints("full_dim"), *cbs("out_cb")),
    ),
    _tilize_call(
        "fast_tilize_init_with_dt",
        "Prepare `fast_tilize_block` and take the format from the circular buffer.",
        (*cbs("in_cb"), *ints("full_dim"), *cbs("out_cb")),
    ),
    _tilize_call(
        "fast_tilize_block",
        "Turn 32 rows into so many tiles, as `tilize_block` does.",
        (*cbs("in_cb"), *ints("block"), *cbs("out_cb")),
        options=(
            Option(name="input_tile_index", type="uint32_t", default="0"),
            Option(name="output_tile_index", type="uint32_t", default="0"),
        ),
        cost=Cost(unpack=52, math=8, pack=45, source="as tilize_block: tt-llk issue 130"),
    ),
    _tilize_call(
        "fast_tilize_uninit",
        "Undo what `fast_tilize_init` set in the unpacker.",
        cbs("in_cb", "out_cb"),
        options=(Option(name="width", type="uint32_t", default="0"),),
    ),
)

_WAITING = (
    KernelCall(
        "tensix_sync",
        "Wait until the units have done what the thread asked for.",
        header="ckernel.h",
        roles=Role.COMPUTE,
    ),
    *(
        KernelCall(
            f"{name}_fp32_dest_acc",
            f"Hold numbers of {width} bits in DST from now on; the three threads wait for each "
            "other.",
            header=f"{API}compute_kernel_hw_startup.h",
            roles=Role.COMPUTE,
        )
        for name, width in (("enable", 32), ("disable", 16))
    ),
)


def _reuses(operation: str) -> tuple[KernelCall, ...]:
    """The calls of late 2026 on a tile and DST, one pair for each operation."""
    reuse = (enumerator("reuse_dest", "EltwiseBinaryReuseDestType"),)
    return (
        _binary_call(
            f"{operation}_reuse_dest_init",
            f"Prepare `{operation}_reuse_dest_tiles`.",
            cbs("in_cb"),
            templates=reuse,
        ),
        _binary_call(
            f"{operation}_reuse_dest_tiles",
            "`binary_dest_reuse_tiles` of this operation.",
            (*cbs("in_cb"), *ints("in_tile_index", "dst_index")),
            templates=reuse,
            cost=Cost(unpack=40, math=8, phases=operation == "mul", source=_ISA),
        ),
    )


CALLS = (
    *_BINARY_OPERATIONS,
    *(call for operation in ("add", "sub", "mul") for call in _reuses(operation)),
    *_SEMAPHORES,
    *_STRIDES,
    *_PACKER,
    *_REDUCTIONS,
    *_WITHIN_DST,
    *_FAST_TILIZE,
    *_WAITING,
)
"""The calls, in the order of the documentation."""


# --- Columns --------------------------------------------------------------------------------------
# Calls on columns of tiles in DST: sorting (topk), running statistics (Welford), sums and averages
# down the columns, and others that need more than a number at a time.
#
# Source: tt-metal, compute_kernel_api.h and compute_kernel_api/{welford,cumsum,ema,reshuffle}.h;
# tt-llk, ckernel_sfpu_{topk,welfords,cumsum,ema,dropout,reshuffle_rows,max_pool_indices}.h, whose
# instructions the estimates count.

_WELFORD = f"{API}welford.h"
_STABLE = (
    flag("stable_sort", "false"),
    flag("is_fp32_dest_acc_en", "DST_ACCUM_MODE"),
    flag("fused", "false"),
    flag("rank_stamped", "false"),
    enumerator("tie_order", "TopkTieOrder", "TopkTieOrder::Unset"),
)
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
        mnemonic,
        summary,
        operands,
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
    preparation(
        "topk_tile_init",
        "the calls that sort columns",
        GENERAL,
        templates=(flag("fused", "false"), flag("rank_stamped", "false"), number("tag_bits", "16")),
    ),
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
        (flag("idir", "false"), *_STABLE, number("tag_bits", "16")),
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
        "welford_finalize_group_to_face",
        "The same, in the rows of a group.",
        (*ints("mean_dst_idx", "group_id", "scale_idx"), *_TABLE),
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
        "Down each column alpha * (row before) + beta * x, into the tile after x.",
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
        "Add row i to the row of the tile after it that byte 16 + i at an address in L1 names; "
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
        "The largest of the first rows of each column, and what is at its position in a second "
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

COLUMNS_CALLS = (*_SORTING, *_STATISTICS, *_SCANS)
"""The calls, in the order of the documentation."""


# --- Vector ---------------------------------------------------------------------------------------
# Calls of compute kernels on the vector unit (SFPU) that have no operation.
#
# Source: tt-metal, compute_kernel_api.h and compute_kernel_api/*.h of 2024 to 2026.

_MASK = f"{API}mask.h"


def _masking(mnemonic: str, summary: str, *, options: tuple[Option, ...] = ()) -> KernelCall:
    return KernelCall(
        mnemonic,
        f"{summary} where the tile after it in DST is 0, whatever the second operand is.",
        ints("idst_data", "idst_mask"),
        header=_MASK,
        options=options,
        roles=Role.MATH,
        init="mask_tile_init",
        cost=instructions(4),
    )


_MASKS = (
    preparation("mask_tile_init", "the calls that mask a tile", _MASK),
    _masking(
        "mask_tile",
        "0",
        options=(Option(name="data_format", type="DataFormat", default="DataFormat::Float16_b"),),
    ),
    _masking("mask_posinf_tile", "Infinity"),
)


def _in_place(
    mnemonic: str,
    summary: str,
    header: str,
    reference: Reference,
    cost: Cost,
    element: Element,
    init: str,
) -> KernelCall:
    """A call of 2025 whose result takes the place of the first tile."""
    return computation(
        mnemonic,
        summary,
        header,
        reference,
        cost,
        inputs=("idst0", "idst1"),
        output="idst0",
        element=element,
        init=init,
    )


def _reverse_difference(xp: Any, x: Any, *, value: Any) -> Any:
    return value - x


def _log_sigmoid(xp: Any, x: Any, y: Any) -> Any:
    return -xp.log1p(y)


def _power(xp: Any, x: Any, *, value: Any) -> Any:
    return x**value


_OLDER = (
    preparation("max_tile_init", "`max_tile`", GENERAL),
    _in_place(
        "max_tile",
        "The larger, instead of the first.",
        GENERAL,
        reference_of("maximum"),
        instructions(5),
        Element.FLOAT,
        "max_tile_init",
    ),
)

_FUNCTIONS = (
    preparation("rsub_tile_init", "`rsub_tile`", f"{UNARY}reverseops.h"),
    computation(
        "rsub_tile",
        "A number minus x.",
        f"{UNARY}reverseops.h",
        _reverse_difference,
        instructions(3),
        inputs=("idst",),
        output="idst",
        scalars=(("param0", "value", Scalar.FLOAT_BITS),),
    ),
    preparation("logsigmoid_tile_init", "`logsigmoid_tile`", f"{API}logsigmoid.h"),
    computation(
        "logsigmoid_tile",
        "log(1 / (1 + exp(-x))), from x and exp(-x).",
        f"{API}logsigmoid.h",
        _log_sigmoid,
        instructions(20),
        inputs=("idst_in0", "idst_in1"),
        output="idst_out",
    ),
    preparation("power_iterative_tile_init", "`power_iterative_tile`", GENERAL),
    computation(
        "power_iterative_tile",
        "x to the power of a whole number.",
        GENERAL,
        _power,
        instructions(10),
        inputs=("idst",),
        output="idst",
        scalars=(("param0", "value", Scalar.INTEGER),),
    ),
)

VECTOR_CALLS = (*_MASKS, *_OLDER, *_FUNCTIONS, *COMPARISONS_OF_2026)
"""The calls, in the order of the documentation."""


# --- Lanes ----------------------------------------------------------------------------------------
# What sfpi's header (`ttmlir/cpp/standard/sfpi.hpp`) is made of: instructions of the vector unit.
#
# A vector has 32 lanes. Kernels cannot name these calls; the classes of the header can. The letters
# of a signature are: `f` lanes of float32, `i` lanes of 32-bit integers, `b` lanes of truth values,
# `n` a number, `x` a floating-point number. Cycles are those of one vector: one for each
# instruction that the compiler of sfpi makes of a call; on constants and moves it mostly spends
# none.

PREFIX = "builtin_sfpi_"
"""With what the name of each call begins."""

_HEADER = "sfpi.h"
_KINDS = {
    "f": ValueKind.FLOAT_LANES,
    "i": ValueKind.INTEGER_LANES,
    "b": ValueKind.TRUTH_LANES,
    "n": ValueKind.I32,
    "x": ValueKind.F32,
}

_SIGNATURES: tuple[tuple[str, str, int], ...] = (
    # Where the vector unit stands in DST.
    *(("start", "n", 0), ("next_face", "n", 0), ("finish", "", 0), ("advance", "n", 1)),
    *(("load_floats", "n f", 1), ("load_integers", "n i", 1)),
    *(("store_floats", "nf", 1), ("store_integers", "ni", 1)),
    # Constants and registers.
    *(("fill_floats", "x f", 0), ("fill_integers", "n i", 0), ("lane_numbers", " i", 0)),
    *(("read_register", "n i", 0), ("write_register", "ni", 1)),
    *(("read_constant", "n i", 0), ("write_constant", "ni", 2)),
    # Lanes that take part.
    *(("begin_if", "b", 2), ("begin_else", "", 1), ("begin_elseif", "b", 1), ("end_if", "", 1)),
    *(("begin_block", "", 1), ("narrow", "b", 1)),
    *(("set_condition", "b", 1), ("enable_lanes", "", 1)),
    *(("pop_lanes", "", 1), ("complement_lanes", "", 1)),
    *(("assign_floats", "ff f", 0), ("assign_integers", "ii i", 0)),
    # Floating-point numbers.
    *(("add_floats", "ff f", 1), ("subtract_floats", "ff f", 1), ("multiply_floats", "ff f", 1)),
    *(("negate_floats", "f f", 1), ("absolute_floats", "f f", 1)),
    *(("minimum_floats", "ff f", 1), ("maximum_floats", "ff f", 1)),
    *(("approximate_reciprocal", "f f", 1), ("approximate_exponential", "f f", 1)),
    *(("round_to_fp16a", "fn f", 1), ("round_to_fp16b", "fn f", 1)),
    *(("round_to_integers", "fnnn i", 1), ("floats_of_integers", "i f", 1)),
    *(("bits_of_floats", "f i", 0), ("floats_of_bits", "i f", 0)),
    *(("look_up", "fiiiiiinn f", 1),),
    # Integers.
    *(("add_integers", "ii i", 1), ("subtract_integers", "ii i", 1)),
    *(("multiply_integers", "ii i", 1), ("absolute_integers", "i i", 1)),
    *(("and_integers", "ii i", 1), ("or_integers", "ii i", 1), ("xor_integers", "ii i", 1)),
    *(("invert_integers", "i i", 1), ("count_leading_zeros", "i i", 1)),
    *(("shift_integers", "ii i", 1), ("shift_signed", "ii i", 1)),
    *(("draw_integers", " i", 1),),
    # Comparisons: by numbers of `ORDERS`.
    *(("compare_floats", "ffn b", 2), ("compare_integers", "iin b", 2)),
    *(("compare_unsigned", "iin b", 2),),
    *(("and_truths", "bb b", 0), ("or_truths", "bb b", 2), ("invert_truths", "b b", 1)),
    # Lanes among each other.
    *(("rotate_rows", "i i", 2), ("shift_rows", "i i", 2)),
    *(("row_of_registers", "iiiin i", 1),),
)

ORDERS = ("<", "<=", ">", ">=", "==", "!=")
"""The comparisons by their numbers."""


def _instruction(name: str, signature: str, cycles: int) -> KernelCall:
    given, _, made = signature.partition(" ")
    operands = tuple((f"operand{place}", _KINDS[each]) for place, each in enumerate(given))
    return KernelCall(
        f"{PREFIX}{name}",
        "",
        operands,
        result=("lanes", _KINDS[made]) if made else None,
        header=_HEADER,
        roles=Role.MATH | Role.PACK,
        cost=Cost(math=cycles, estimated=True),
    )


def _lanes(name: str, kind: ValueKind) -> KernelCall:
    """The type of a vector's lanes, of which kernels make no objects."""
    return KernelCall(
        f"{PREFIX}{name}", "", result=("lanes", kind), roles=Role.MATH | Role.PACK, form=Form.OBJECT
    )


LANES_CALLS = (
    _lanes("floats", ValueKind.FLOAT_LANES),
    _lanes("integers", ValueKind.INTEGER_LANES),
    _lanes("truths", ValueKind.TRUTH_LANES),
    *(_instruction(*each) for each in _SIGNATURES),
    *_OF_UNPACKERS,
)
"""The calls; `OBJECT` definitions are the types."""
