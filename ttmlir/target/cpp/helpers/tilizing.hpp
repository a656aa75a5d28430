namespace experimental {

// Makes `rows` rows of `columns` tiles of as many rows of 32 rows of numbers.
ALWI void tilize_block(uint32_t from, uint32_t to, uint32_t rows, uint32_t columns) {
  for (uint32_t row = 0; row < rows; ++row) {
    ckernel::tilize_block(from, columns, to, row * columns, row * columns);
  }
}

}  // namespace experimental
