namespace experimental {

// Writes `rows` rows of `columns` tiles as rows of numbers.
ALWI void untilize_block(uint32_t from, uint32_t to, uint32_t rows, uint32_t columns) {
  for (uint32_t row = 0; row < rows; ++row) {
#ifdef TRISC_UNPACK
    auto &buffer = get_local_cb_interface(from);
    const uint32_t offset = row * columns * buffer.fifo_page_size;
    buffer.fifo_rd_ptr += offset;
#endif
    ckernel::untilize_block(from, columns, to);
#ifdef TRISC_UNPACK
    buffer.fifo_rd_ptr -= offset;
#endif
  }
}

}  // namespace experimental
