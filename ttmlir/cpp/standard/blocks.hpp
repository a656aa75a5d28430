// p_stall semaphore TTI_STALLWAIT UnpackToDestEn UnpackToDestDis mm_no_mop_init_short mm_no_mop_reinit_short matmul_block_no_mop mm_no_mop_init_short_fidelity mm_no_mop_reinit_short_fidelity matmul_block_no_mop_fidelity sub_bcast_cols_init_short_custom sub_tiles_bcast_cols_custom llk_unpack_A_init llk_math_eltwise_unary_datacopy_init llk_pack add_block sub_block mul_block reduce_block transpose_block any_tiles_bcast reduce_block_max_row_init reduce_block_max_row reduce_block_max_row_uninit reduce_block_max_row_reinit_short reduce_block_max_row_reinit_minimal reduce_block_max_row_init_runtime reduce_block_max_row_runtime reduce_block_max_row_uninit_runtime reduce_block_max_row_reinit_short_runtime reduce_block_max_row_reinit_minimal_runtime reconfig_tile_shape reconfig_tile_shape_srca reconfig_tile_shape_srcb mm_uninit dummy_pack dummy_unpack welford_reinit ReluConfig TensorShape tensor_shape_from_num_faces llk_math_eltwise_binary_init llk_unpack_AB_init llk_unpack_reconfig_data_format_srca llk_math_reconfig_data_format_srca p_dim_stride_target llk_unpack_AB_reduce_init llk_math_reduce_init topk_tie_order_from_global_direction set_fp32_dest_acc restore_fp32_dest_acc mul_bcast_cols_init_short_custom mul_tiles_bcast_cols_custom llk_matmul_pack get_operand_id get_output_id DstTileShape get_dest_max_tiles
namespace blocks {

// What waits, and for which units.
struct p_stall {
    static constexpr uint32_t NONE = 0, THCON = 1, UNPACK0 = 2, UNPACK1 = 4, UNPACK = 6, PACK = 0x78, MATH = 0x80;
    static constexpr uint32_t SRCA_CLR = 0x100, SRCB_CLR = 0x200, SRCA_VLD = 0x400, SRCB_VLD = 0x800;
    static constexpr uint32_t XMOV = 0x1000, TRISC_CFG = 0x2000, SFPU1 = 0x4000, WAIT_SFPU = 0x4000;
    static constexpr uint32_t STALL_TDMA = 1, STALL_SYNC = 2, STALL_PACK = 4, STALL_UNPACK = 8, STALL_XMOV = 0x10;
    static constexpr uint32_t STALL_THCON = 0x20, STALL_MATH = 0x40, STALL_CFG = 0x80, STALL_SFPU = 0x100;
    static constexpr uint32_t STALL_THREAD = 0x1ff;
};

// What the semaphores of the units are for.
struct semaphore {
    static constexpr uint32_t FPU_SFPU = 0, MATH_PACK = 1, UNPACK_TO_DEST = 2, UNPACK_OPERAND_SYNC = 3;
    static constexpr uint32_t PACK_DONE = 4, UNPACK_SYNC = 5, UNPACK_MATH_DONE = 6, MATH_DONE = 7;
};

// Instructions end in the order of the kernel here, so nothing is left to wait for.
inline void TTI_STALLWAIT(uint32_t stalled, uint32_t awaited) {}

constexpr bool UnpackToDestEn = true, UnpackToDestDis = false;

// Calls on so many tiles, one after another, of circular buffers and of DST.
template <bool Wide = false>
inline void add_block(uint32_t in0, uint32_t in1, uint32_t first0, uint32_t first1, uint32_t dst, uint32_t tiles) {
    for (uint32_t i = 0; i < tiles; ++i) add_tiles(in0, in1, first0 + i, first1 + i, dst + i);
}
template <bool Wide = false>
inline void sub_block(uint32_t in0, uint32_t in1, uint32_t first0, uint32_t first1, uint32_t dst, uint32_t tiles) {
    for (uint32_t i = 0; i < tiles; ++i) sub_tiles(in0, in1, first0 + i, first1 + i, dst + i);
}
template <bool Wide = false>
inline void mul_block(uint32_t in0, uint32_t in1, uint32_t first0, uint32_t first1, uint32_t dst, uint32_t tiles) {
    for (uint32_t i = 0; i < tiles; ++i) mul_tiles(in0, in1, first0 + i, first1 + i, dst + i);
}
template <PoolType Pool, ReduceDim Dim, bool Wide = false>
inline void reduce_block(uint32_t cb, uint32_t scaler, uint32_t first, uint32_t factor, uint32_t dst, uint32_t tiles) {
    for (uint32_t i = 0; i < tiles; ++i) reduce_tile<Pool, Dim>(cb, scaler, first + i, factor, dst + i);
}
template <bool Wide = false>
inline void transpose_block(uint32_t cb, uint32_t first, uint32_t dst, uint32_t tiles) {
    for (uint32_t i = 0; i < tiles; ++i) transpose_wh_tile(cb, first + i, dst + i);
}

// The operation is a template argument; which row is spread is 0 here, as everywhere.
template <EltwiseBinaryType Operation, BroadcastType Part, bool Wide = false>
inline void any_tiles_bcast(uint32_t in0, uint32_t in1, uint32_t first0, uint32_t first1, uint32_t dst, uint32_t row = 0) {
    if constexpr (Operation == EltwiseBinaryType::ELWADD) {
        add_tiles_bcast<Part>(in0, in1, first0, first1, dst);
    } else if constexpr (Operation == EltwiseBinaryType::ELWSUB) {
        sub_tiles_bcast<Part>(in0, in1, first0, first1, dst);
    } else {
        mul_tiles_bcast<Part>(in0, in1, first0, first1, dst);
    }
}

// The layer below the compute API, as kernels call it for one of the threads.
template <EltwiseBinaryType Operation, BroadcastType Part, auto Fidelity = MathFidelity::LoFi>
inline void llk_math_eltwise_binary_init(uint32_t in0, uint32_t in1, uint32_t accumulates = 0) {
    ASSERT(!accumulates || Operation == EltwiseBinaryType::ELWMUL);
    bcast_init<Operation, Part>(in0, in1);
}
template <BroadcastType Part = BroadcastType::NONE>
inline void llk_unpack_AB_init(uint32_t in0, uint32_t in1) {
    bcast_init<EltwiseBinaryType::ELWADD, Part>(in0, in1);
}
template <PoolType Pool, ReduceDim Dim>
inline void llk_unpack_AB_reduce_init(uint32_t cb, uint32_t scaler) {
    reduce_init_delta<false, Pool, Dim>(cb, scaler, cb);
}
template <PoolType Pool, ReduceDim Dim, bool Wide, auto Fidelity = MathFidelity::LoFi>
inline void llk_math_reduce_init(uint32_t cb, uint32_t scaler) {
    reduce_init_delta<false, Pool, Dim>(cb, scaler, cb);
}
enum class p_dim_stride_target { IGNORE, FACE_ROW_MAJOR };
template <bool Wide, p_dim_stride_target Target = p_dim_stride_target::IGNORE, bool IntoDst = false>
inline void llk_unpack_reconfig_data_format_srca(uint32_t old_cb, uint32_t new_cb) {
    reconfig_data_format_srca(old_cb, new_cb);
}
template <bool Wide, bool IntoDst = false>
inline void llk_math_reconfig_data_format_srca(uint32_t old_cb, uint32_t new_cb) {
    reconfig_data_format_srca(old_cb, new_cb);
}

// What `pack_relu_config` takes: how in bits 0 and 1, the threshold in the upper half.
struct ReluConfig {
    ReluType type = ReluType::NO_RELU;
    uint32_t threshold = 0;
    static constexpr ReluConfig none() { return ReluConfig{}; }
    static constexpr ReluConfig zero() { return ReluConfig{ReluType::ZERO_RELU, 0}; }
    static constexpr ReluConfig min_threshold(uint32_t bits) { return ReluConfig{ReluType::MIN_THRESHOLD_RELU, bits}; }
    static constexpr ReluConfig max_threshold(uint32_t bits) { return ReluConfig{ReluType::MAX_THRESHOLD_RELU, bits}; }
    static constexpr ReluConfig from_packed(uint32_t word) {
        return ReluConfig{static_cast<ReluType>(word & 3), word >> 16};
    }
    constexpr operator uint32_t() const { return static_cast<uint32_t>(type) | threshold << 16; }
};

// Tiles have four faces here.
struct TensorShape {
    uint8_t face_r_dim = 16;
    uint8_t face_c_dim = 16;
    uint8_t num_faces_r_dim = 2;
    uint8_t num_faces_c_dim = 2;
};
inline TensorShape tensor_shape_from_num_faces(uint32_t rows, uint32_t faces) { return TensorShape{}; }

// The largest number of each row of tiles side by side, in column 0.
template <uint32_t Tiles, bool Split = false, uint32_t Faces = 4>
inline void reduce_block_max_row_init(uint32_t out) {
    reduce_init_delta<false, PoolType::MAX, ReduceDim::REDUCE_ROW>();
}
template <uint32_t Tiles, bool Split = false, uint32_t Faces = 4>
inline void reduce_block_max_row(uint32_t cb, uint32_t scaler, uint32_t first, uint32_t dst) {
    for (uint32_t i = 0; i < Tiles; ++i) {
        reduce_tile<PoolType::MAX, ReduceDim::REDUCE_ROW>(cb, scaler, first + i, 0, dst);
    }
}
template <bool Split = false>
inline void reduce_block_max_row_uninit(uint32_t cb) { reduce_uninit(); }
template <uint32_t Tiles, bool Split = false, uint32_t Faces = 4>
inline void reduce_block_max_row_reinit_short(uint32_t out) {
    reduce_init_delta<false, PoolType::MAX, ReduceDim::REDUCE_ROW>();
}
template <uint32_t Tiles, bool Split = false, uint32_t Faces = 4>
inline void reduce_block_max_row_reinit_minimal(uint32_t out) {
    reduce_init_delta<false, PoolType::MAX, ReduceDim::REDUCE_ROW>();
}

// The same with a number of tiles that is known when the kernel runs: the preparation has it.
uint32_t tiles_in_row = 1;
inline void reduce_block_max_row_init_runtime(
    uint32_t out, uint32_t tiles, uint32_t cb, uint32_t scaler, bool split = false, uint32_t faces = 4) {
    tiles_in_row = tiles;
    reduce_init_delta<false, PoolType::MAX, ReduceDim::REDUCE_ROW>();
}
// With `split` the packer tells the unpackers when the second half is there, and with `overlap` when the first is.
inline void reduce_block_max_row_runtime(
    uint32_t cb, uint32_t scaler, uint32_t first, uint32_t dst, bool split = false, bool overlap = false,
    uint32_t faces = 4) {
    for (uint32_t i = 0; i < tiles_in_row; ++i) {
        if (split && i == 0) {
            builtin_unpack_wait(overlap ? semaphore::UNPACK_MATH_DONE : semaphore::FPU_SFPU);
        }
        if (split && i == tiles_in_row / 2) builtin_unpack_wait(semaphore::FPU_SFPU);
        reduce_tile<PoolType::MAX, ReduceDim::REDUCE_ROW>(cb, scaler, first + i, 0, dst);
    }
}
inline void reduce_block_max_row_uninit_runtime(uint32_t cb, bool split = false, bool overlap = false) {
    reduce_uninit();
    if (split) builtin_unpack_get(semaphore::FPU_SFPU);
    if (split && overlap) builtin_unpack_get(semaphore::UNPACK_MATH_DONE);
}
inline void reduce_block_max_row_reinit_short_runtime(
    uint32_t out, uint32_t tiles, bool split = false, uint32_t faces = 4) {
    tiles_in_row = tiles;
    reduce_init_delta<false, PoolType::MAX, ReduceDim::REDUCE_ROW>();
}
inline void reduce_block_max_row_reinit_minimal_runtime(
    uint32_t out, uint32_t tiles, bool split = false, uint32_t faces = 4) {
    tiles_in_row = tiles;
    reduce_init_delta<false, PoolType::MAX, ReduceDim::REDUCE_ROW>();
}

// Products that do not use the matrix unit's loops; their numbers are the same.
inline void mm_no_mop_init_short(
    uint32_t in0, uint32_t in1, bool transpose = false, uint32_t columns = 1, uint32_t rows = 1, uint32_t inner = 1) {
    mm_block_init_short(in0, in1, transpose, columns, rows, inner);
}
inline void mm_no_mop_reinit_short(
    uint32_t in0, uint32_t in1, bool transpose = false, uint32_t columns = 1, uint32_t rows = 1, uint32_t inner = 1) {
    mm_block_init_short(in0, in1, transpose, columns, rows, inner);
}
inline void matmul_block_no_mop(
    uint32_t in0, uint32_t in1, uint32_t first0, uint32_t first1, uint32_t dst, bool transpose, uint32_t columns,
    uint32_t rows, uint32_t inner) {
    matmul_block(in0, in1, first0, first1, dst, transpose, columns, rows, inner);
}
template <MathFidelity Fidelity>
inline void mm_no_mop_init_short_fidelity(
    uint32_t in0, uint32_t in1, bool transpose = false, uint32_t columns = 1, uint32_t rows = 1, uint32_t inner = 1) {
    static_assert(static_cast<uint32_t>(Fidelity) == MATH_FIDELITY, "products have the fidelity of the kernel here");
    mm_block_init_short(in0, in1, transpose, columns, rows, inner);
}
template <MathFidelity Fidelity>
inline void mm_no_mop_reinit_short_fidelity(
    uint32_t in0, uint32_t in1, bool transpose = false, uint32_t columns = 1, uint32_t rows = 1, uint32_t inner = 1) {
    mm_block_init_short(in0, in1, transpose, columns, rows, inner);
}
template <MathFidelity Fidelity>
inline void matmul_block_no_mop_fidelity(
    uint32_t in0, uint32_t in1, uint32_t first0, uint32_t first1, uint32_t dst, bool transpose, uint32_t columns,
    uint32_t rows, uint32_t inner) {
    matmul_block(in0, in1, first0, first1, dst, transpose, columns, rows, inner);
}

// Tiles side by side, less the first column of one tile.
inline void sub_bcast_cols_init_short_custom(uint32_t in0, uint32_t in1, uint32_t columns) {
    sub_bcast_cols_init_short(in0, in1);
}
inline void sub_tiles_bcast_cols_custom(
    uint32_t in0, uint32_t in1, uint32_t first0, uint32_t first1, uint32_t dst, uint32_t columns) {
    for (uint32_t i = 0; i < columns; ++i) sub_tiles_bcast_cols(in0, in1, first0 + i, first1, dst + i);
}
// Likewise products with it, which are added to what DST has.
inline void mul_bcast_cols_init_short_custom(uint32_t in0, uint32_t in1) { mul_bcast_cols_init_short(in0, in1); }
inline void mul_tiles_bcast_cols_custom(
    uint32_t in0, uint32_t in1, uint32_t first0, uint32_t first1, uint32_t dst, uint32_t columns) {
    for (uint32_t i = 0; i < columns; ++i) mul_tiles_bcast_cols(in0, in1, first0 + i, first1, dst + i);
}
template <BroadcastType Part, bool Accumulates, auto Reuse, bool IntoDst>
inline void llk_unpack_A_init(uint32_t transpose, uint32_t within_faces, uint32_t cb) {
    copy_tile_to_dst_init_short(cb, transpose);
}
template <auto Copy, bool Wide, BroadcastType Part, bool Integers, auto Mode>
inline void llk_math_eltwise_unary_datacopy_init(uint32_t cb) { copy_tile_to_dst_init_short(cb); }

template <bool Wide, bool OutOfOrder = false, auto Mode = PackMode::Default>
inline void llk_pack(uint32_t dst, uint32_t cb, uint32_t index = 0) { pack_tile<OutOfOrder>(dst, cb, index); }

template <bool Wide, bool OutOfOrder, auto Mode>
inline void llk_matmul_pack(uint32_t first, uint32_t cb, uint32_t tiles, uint32_t index = 0) {
    for (uint32_t i = 0; i < tiles; ++i) pack_tile<OutOfOrder>(first + i, cb, index);
}
// How many tiles DST has for a section.
enum class DstTileShape { Tile32x32, Tile32x16, Tile16x16 };
template <DstSync Sync, bool Wide, DstTileShape Shape>
constexpr uint32_t get_dest_max_tiles() {
    return ((Sync == DstSync::SyncHalf ? 8 : 16) >> uint32_t(Wide)) << uint32_t(Shape);
}

constexpr uint32_t get_operand_id(uint32_t cb) { return cb; }
constexpr uint32_t get_output_id(uint32_t cb) { return cb; }

// All tiles have one shape, and the units keep no state beyond what calls prepare.
template <typename... Buffers>
inline void reconfig_tile_shape(Buffers... buffers) {}
template <typename... Buffers>
inline void reconfig_tile_shape_srca(Buffers... buffers) {}
template <typename... Buffers>
inline void reconfig_tile_shape_srcb(Buffers... buffers) {}
inline void mm_uninit(uint32_t in0, uint32_t in1) {}
inline void dummy_pack(uint32_t cb) {}
inline void dummy_unpack(uint32_t cb) {}
inline void welford_reinit(uint32_t cb) {}

// What decides between equal values of a sort: the order of all, whatever a run of them has.
constexpr TopkTieOrder topk_tie_order_from_global_direction(bool descending) {
    return descending ? TopkTieOrder::Descending : TopkTieOrder::Ascending;
}

// Another width of DST than the kernel is compiled for, and that one again.
template <bool Wide>
inline void set_fp32_dest_acc() {
    if constexpr (Wide && !DST_ACCUM_MODE) enable_fp32_dest_acc();
    if constexpr (!Wide && DST_ACCUM_MODE) disable_fp32_dest_acc();
}
template <bool Wide>
inline void restore_fp32_dest_acc() {
    if constexpr (Wide != DST_ACCUM_MODE) {
        if constexpr (DST_ACCUM_MODE) enable_fp32_dest_acc();
        else disable_fp32_dest_acc();
    }
}

}  // namespace blocks
