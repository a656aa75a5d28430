// add_block sub_block mul_block reduce_block transpose_block any_tiles_bcast reduce_block_max_row_init reduce_block_max_row reduce_block_max_row_uninit reduce_block_max_row_reinit_short reduce_block_max_row_reinit_minimal reduce_block_max_row_init_runtime reduce_block_max_row_runtime reduce_block_max_row_uninit_runtime reduce_block_max_row_reinit_short_runtime reduce_block_max_row_reinit_minimal_runtime reconfig_tile_shape reconfig_tile_shape_srca reconfig_tile_shape_srcb mm_uninit dummy_pack dummy_unpack welford_reinit ReluConfig TensorShape tensor_shape_from_num_faces llk_math_eltwise_binary_init llk_unpack_AB_init llk_unpack_reconfig_data_format_srca llk_math_reconfig_data_format_srca p_dim_stride_target llk_unpack_AB_reduce_init llk_math_reduce_init topk_tie_order_from_global_direction set_fp32_dest_acc restore_fp32_dest_acc
namespace blocks {

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
inline void reduce_block_max_row_runtime(
    uint32_t cb, uint32_t scaler, uint32_t first, uint32_t dst, bool split = false, bool overlap = false,
    uint32_t faces = 4) {
    for (uint32_t i = 0; i < tiles_in_row; ++i) {
        reduce_tile<PoolType::MAX, ReduceDim::REDUCE_ROW>(cb, scaler, first + i, 0, dst);
    }
}
inline void reduce_block_max_row_uninit_runtime(uint32_t cb, bool split = false, bool overlap = false) {
    reduce_uninit();
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
