"""Calls of compute kernels on the unpackers, the matrix unit and the packer.

Source: tt-metal, compute_kernel_api/*.h of 2024 to 2026; tt-llk, llk_lib.
"""

from __future__ import annotations

from ttmlir.optable.kernel.row import (
    Cost,
    KernelCall,
    Option,
    Role,
    cbs,
    enumerator,
    flag,
    ints,
)

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

_BINARY_OPERATIONS = (
    KernelCall(
        mnemonic="binary_tiles_init",
        summary="Prepare `add_tiles`, `sub_tiles` or `mul_tiles`, as the type says.",
        header=_BINARY,
        operands=_TWO,
        roles=_SOURCES,
        templates=(flag("full_init"), _TYPE),
        options=(_ACCUMULATE,),
    ),
    KernelCall(
        mnemonic="binary_op_specific_init",
        summary="`binary_tiles_init` for the circular buffers that the core is configured for.",
        header=_BINARY,
        roles=_SOURCES,
        templates=(flag("full_init"), _TYPE),
    ),
    KernelCall(
        mnemonic="bcast_init",
        summary="Prepare an operation with a part of the second tile spread.",
        header=_BROADCAST,
        operands=_TWO,
        roles=_SOURCES,
        templates=(_TYPE, enumerator("bcast_type", "BroadcastType")),
    ),
    KernelCall(
        mnemonic="unary_bcast_uninit",
        summary="Undo what `unary_bcast_init` set in the unpacker.",
        header=_BROADCAST,
        operands=cbs("in_cb"),
        roles=_SOURCES,
        templates=(enumerator("bcast_type", "BroadcastType"),),
    ),
    KernelCall(
        mnemonic="mm_block_init_short_with_both_dt",
        summary="Prepare `matmul_block` and change both formats from those of the old buffers.",
        header=_MATMUL,
        operands=(
            *cbs("in0_cb", "in1_cb", "old_in0_cb", "old_in1_cb"),
            *ints("transpose", "ct_dim", "rt_dim", "kt_dim"),
        ),
        defaults=("0", "1", "1", "1"),
        roles=_SOURCES,
    ),
)

_PACKER = (
    KernelCall(
        mnemonic="llk_pack_relu_config",
        summary="Let the packer apply ReLU until told otherwise. Bits 0 and 1 of the number say "
        "how: 0 not at all, 1 negative numbers become 0, 2 so do those up to a threshold, 3 those "
        "above it become the threshold, too. The upper half is the threshold, a 16-bit float.",
        header=_LLK_PACK,
        operands=ints("config"),
        roles=Role.PACK,
    ),
)

_REDUCTIONS = (
    KernelCall(
        mnemonic="reduce_init_delta",
        summary="`reduce_init`, without a change of formats: (icb0, icb1, ocb), or none of them. "
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
        mnemonic="reduce_revert_delta",
        summary="Undo what `reduce_init_delta` set in the packer.",
        header=_REDUCE,
        options=(Option(name="ocb", type="uint32_t", default="16"),),
        templates=(enumerator("reduce_dim", "ReduceDim", "REDUCE_DIM"),),
        roles=Role.MATH | Role.PACK,
    ),
    KernelCall(
        mnemonic="tilizeA_B_reduce_init",
        summary="Configure the core for `unpack_tilizeA_B_block` and `reduce_tile_math`.",
        header=_TILIZE,
        operands=(*cbs("in_cb", "scaler_cb"), *ints("block"), *cbs("out_cb")),
        templates=(flag("neginf_srcA", "true"), flag("zero_srcA_reduce", "false")),
        options=_FACES,
        roles=Role.COMPUTE,
    ),
    KernelCall(
        mnemonic="unpack_tilizeA_B_block",
        summary="Make so many tiles of rows in SrcA, one after another, each with a tile of "
        "factors in SrcB. What the rows do not fill is -inf, or zero if so asked.",
        header=_TILIZE,
        operands=(*cbs("in_cb", "scaler_cb"), *ints("block", "tile_idx_b")),
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
        mnemonic="unpack_tilizeA_B_uninit",
        summary="Undo what `tilizeA_B_reduce_init` set in the unpacker.",
        header=_TILIZE,
        operands=cbs("in_cb"),
        roles=Role.UNPACK,
    ),
    KernelCall(
        mnemonic="reduce_tile_math",
        summary="The part of `reduce_tile` that the math thread has: SrcA, times the factors in "
        "SrcB, is reduced onto DST.",
        header=_REDUCE,
        operands=ints("dst_index"),
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
        mnemonic="transpose_wh_dest_init_short",
        summary="Prepare `transpose_wh_dest`.",
        header=_TRANSPOSE_DEST,
        options=(Option(name="operand", type="uint32_t", default="0"),),
        templates=(flag("is_32bit", "false"), flag("transpose_of_faces", "true")),
        roles=Role.MATH,
    ),
    KernelCall(
        mnemonic="transpose_wh_dest",
        summary="Transpose a tile of DST in place; the faces stay where they are if so asked.",
        header=_TRANSPOSE_DEST,
        operands=ints("dst_index"),
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
    KernelCall(
        mnemonic="fast_tilize_init",
        summary="Prepare `fast_tilize_block`.",
        header=_TILIZE,
        operands=(*cbs("in_cb"), *ints("full_dim"), *cbs("out_cb")),
        roles=Role.COMPUTE,
    ),
    KernelCall(
        mnemonic="fast_tilize_init_with_dt",
        summary="Prepare `fast_tilize_block` and take the format from the circular buffer.",
        header=_TILIZE,
        operands=(*cbs("in_cb"), *ints("full_dim"), *cbs("out_cb")),
        roles=Role.COMPUTE,
    ),
    KernelCall(
        mnemonic="fast_tilize_block",
        summary="Turn 32 rows into so many tiles, as `tilize_block` does.",
        header=_TILIZE,
        operands=(*cbs("in_cb"), *ints("block"), *cbs("out_cb")),
        options=(
            Option(name="input_tile_index", type="uint32_t", default="0"),
            Option(name="output_tile_index", type="uint32_t", default="0"),
        ),
        roles=Role.COMPUTE,
        cost=Cost(unpack=52, math=8, pack=45, source="as tilize_block: tt-llk issue 130"),
    ),
    KernelCall(
        mnemonic="fast_tilize_uninit",
        summary="Undo what `fast_tilize_init` set in the unpacker.",
        header=_TILIZE,
        operands=cbs("in_cb", "out_cb"),
        roles=Role.COMPUTE,
    ),
)

_WAITING = (
    KernelCall(
        mnemonic="tensix_sync",
        summary="Wait until the units have done what the thread asked for.",
        header="ckernel.h",
        roles=Role.COMPUTE,
    ),
)


def _reuses(operation: str) -> tuple[KernelCall, ...]:
    """The calls of late 2026 on a tile and DST, one pair for each operation."""
    reuse = (enumerator("reuse_dest", "EltwiseBinaryReuseDestType"),)
    return (
        KernelCall(
            mnemonic=f"{operation}_reuse_dest_init",
            summary=f"Prepare `{operation}_reuse_dest_tiles`.",
            header=_BINARY,
            operands=cbs("in_cb"),
            templates=reuse,
            roles=_SOURCES,
        ),
        KernelCall(
            mnemonic=f"{operation}_reuse_dest_tiles",
            summary="`binary_dest_reuse_tiles` of this operation.",
            header=_BINARY,
            operands=(*cbs("in_cb"), *ints("in_tile_index", "dst_index")),
            templates=reuse,
            roles=_SOURCES,
            cost=Cost(unpack=40, math=8, phases=operation == "mul", source=_ISA),
        ),
    )


CALLS = (
    *_BINARY_OPERATIONS,
    *(call for operation in ("add", "sub", "mul") for call in _reuses(operation)),
    *_PACKER,
    *_REDUCTIONS,
    *_WITHIN_DST,
    *_FAST_TILIZE,
    *_WAITING,
)
"""The calls, in the order of the documentation."""
