// fast_untilize_init fast_untilize_init_skip_remap fast_untilize_block fast_untilize_uninit
namespace tiles {

// Tiles that are turned at once: as many as fill a row of blocks, up to what every DST holds.
template <uint32_t full_ct_dim>
constexpr uint32_t untilized_at_once() {
    uint32_t count = 4;
    while (full_ct_dim % count != 0) { --count; }
    return count;
}

template <uint32_t full_ct_dim, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
inline void fast_untilize_init(uint32_t icb, uint32_t ocb, uint32_t call_line = 0) {
    static_assert(full_ct_dim > 0, "fast_untilize_init needs at least one tile");
    constexpr uint32_t width = untilized_at_once<full_ct_dim>();
    reconfig_data_format_srca(icb);
    copy_tile_to_dst_init_short(icb);
    pack_reconfig_data_format(ocb);
    pack_untilize_dest_init<width, full_ct_dim>(ocb);
}

template <uint32_t full_ct_dim, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
inline void fast_untilize_init_skip_remap(uint32_t icb, uint32_t ocb, uint32_t call_line = 0) {
    fast_untilize_init<full_ct_dim, is_fp32_dest_acc_en>(icb, ocb);
}

// Turns a row of tiles into rows of numbers.
template <uint32_t full_ct_dim, bool is_fp32_dest_acc_en = DST_ACCUM_MODE>
inline void fast_untilize_block(
    uint32_t icb, uint32_t ocb, uint32_t input_tile_index = 0, uint32_t output_tile_index = 0) {
    constexpr uint32_t width = untilized_at_once<full_ct_dim>();
    ASSERT(output_tile_index == 0);
    for (uint32_t block = 0; block < full_ct_dim / width; ++block) {
        tile_regs_acquire();
        for (uint32_t tile = 0; tile < width; ++tile) {
            copy_tile(icb, input_tile_index + block * width + tile, tile);
        }
        tile_regs_commit();
        tile_regs_wait();
        pack_untilize_dest<width, full_ct_dim>(ocb, 1, block);
        tile_regs_release();
    }
}

template <uint32_t full_ct_dim>
inline void fast_untilize_uninit(uint32_t ocb) {
    pack_untilize_uninit(ocb);
}

}  // namespace tiles
