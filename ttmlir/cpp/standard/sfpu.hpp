// _llk_math_eltwise_unary_sfpu_params_ _llk_math_eltwise_binary_sfpu_params_ _llk_math_eltwise_ternary_sfpu_params_ _llk_math_eltwise_unary_sfpu_init_ _llk_math_eltwise_binary_sfpu_init_ _llk_math_eltwise_ternary_sfpu_init_ llk_math_eltwise_unary_sfpu_init llk_math_eltwise_binary_sfpu_init llk_math_eltwise_ternary_sfpu_init
namespace ckernel {

// Calls a function for the faces that a mode takes, each time with the unit at the next one.
template <typename Mode, typename F, typename... Args>
inline void call_on_faces(F&& function, uint32_t tile, Mode mode, Args&&... args) {
    const int number = static_cast<int>(mode);
    const bool is_whole = number == static_cast<int>(VectorMode::RC);
    const bool is_column = number == static_cast<int>(VectorMode::C);
    const bool is_row = number == static_cast<int>(VectorMode::R);
    const uint32_t calls = is_whole ? 4 : is_column || is_row ? 2 : 1;
    builtin_sfpi_start(tile);
    for (uint32_t call = 0; call < calls; ++call) {
        function(args...);
        builtin_sfpi_next_face(is_column ? 2 : 1);
    }
    builtin_sfpi_finish();
}

template <typename F>
inline void _llk_math_eltwise_unary_sfpu_params_(F&& function, uint32_t tile) {
    call_on_faces(function, tile, VectorMode::RC);
}
template <bool Approximate, typename F>
inline void _llk_math_eltwise_unary_sfpu_params_(F&& function, uint32_t tile) {
    call_on_faces(function, tile, VectorMode::RC);
}
template <typename F, typename Mode, typename... Args>
inline void _llk_math_eltwise_unary_sfpu_params_(F&& function, uint32_t tile, Mode mode, Args&&... args) {
    call_on_faces(function, tile, mode, args...);
}
template <bool Approximate, typename F, typename Mode, typename... Args>
inline void _llk_math_eltwise_unary_sfpu_params_(F&& function, uint32_t tile, Mode mode, Args&&... args) {
    call_on_faces(function, tile, mode, args...);
}

template <typename F>
inline void _llk_math_eltwise_binary_sfpu_params_(F&& function, uint32_t in0, uint32_t in1, uint32_t out) {
    call_on_faces(function, 0, VectorMode::RC, in0, in1, out);
}
template <bool Approximate, typename F>
inline void _llk_math_eltwise_binary_sfpu_params_(F&& function, uint32_t in0, uint32_t in1, uint32_t out) {
    call_on_faces(function, 0, VectorMode::RC, in0, in1, out);
}
template <typename F, typename Mode, typename... Args>
inline void _llk_math_eltwise_binary_sfpu_params_(
    F&& function, uint32_t in0, uint32_t in1, uint32_t out, Mode mode, Args&&... args) {
    call_on_faces(function, 0, mode, in0, in1, out, args...);
}
template <bool Approximate, typename F, typename Mode, typename... Args>
inline void _llk_math_eltwise_binary_sfpu_params_(
    F&& function, uint32_t in0, uint32_t in1, uint32_t out, Mode mode, Args&&... args) {
    call_on_faces(function, 0, mode, in0, in1, out, args...);
}

template <typename F, typename Mode, typename... Args>
inline void _llk_math_eltwise_ternary_sfpu_params_(
    F&& function, uint32_t in0, uint32_t in1, uint32_t in2, uint32_t out, Mode mode, Args&&... args) {
    call_on_faces(function, 0, mode, in0, in1, in2, out, args...);
}
template <bool Approximate, typename F, typename Mode, typename... Args>
inline void _llk_math_eltwise_ternary_sfpu_params_(
    F&& function, uint32_t in0, uint32_t in1, uint32_t in2, uint32_t out, Mode mode, Args&&... args) {
    call_on_faces(function, 0, mode, in0, in1, in2, out, args...);
}

// There is nothing to prepare but what a function of the kernel prepares.
template <auto Operation = 0, bool Approximate = false>
inline void llk_math_eltwise_unary_sfpu_init() {}
template <auto Operation = 0, typename F, typename... Args>
inline void llk_math_eltwise_unary_sfpu_init(F&& prepare, Args&&... args) { prepare(args...); }
template <auto Operation = 0, bool Approximate, typename F, typename... Args>
inline void llk_math_eltwise_unary_sfpu_init(F&& prepare, Args&&... args) { prepare(args...); }
template <auto Operation = 0, bool Approximate = false>
inline void llk_math_eltwise_binary_sfpu_init() {}
template <auto Operation = 0, typename F, typename... Args>
inline void llk_math_eltwise_binary_sfpu_init(F&& prepare, Args&&... args) { prepare(args...); }
template <auto Operation = 0, bool Approximate, typename F, typename... Args>
inline void llk_math_eltwise_binary_sfpu_init(F&& prepare, Args&&... args) { prepare(args...); }
template <auto Operation = 0, bool Approximate = false>
inline void llk_math_eltwise_ternary_sfpu_init() {}
template <auto Operation = 0>
inline void _llk_math_eltwise_unary_sfpu_init_() {}
template <auto Operation = 0>
inline void _llk_math_eltwise_binary_sfpu_init_() {}
template <auto Operation = 0>
inline void _llk_math_eltwise_ternary_sfpu_init_() {}

}  // namespace ckernel
