namespace experimental {

// Writes a block of tiles as rows of numbers, `columns_at_once` tiles of a row at a time.
template <uint32_t columns_at_once, uint32_t all_columns>
ALWI void pack_untilize_block(uint32_t from, uint32_t to, uint32_t rows, uint32_t columns) {
  for (uint32_t row = 0; row < rows; ++row) {
#ifdef TRISC_PACK
    auto &buffer = get_local_cb_interface(to);
    const uint32_t offset = row * all_columns * buffer.fifo_page_size;
    buffer.fifo_wr_ptr += offset;
#endif
    for (uint32_t part = 0; part < columns / columns_at_once; ++part) {
      tile_regs_acquire();
      for (uint32_t column = 0; column < columns_at_once; ++column) {
        copy_tile(from, row * columns + part * columns_at_once + column, column);
      }
      tile_regs_commit();
      tile_regs_wait();
      pack_untilize_dest<columns_at_once, all_columns>(to, 1, part);
      tile_regs_release();
    }
#ifdef TRISC_PACK
    buffer.fifo_wr_ptr -= offset;
#endif
  }
}

}  // namespace experimental
