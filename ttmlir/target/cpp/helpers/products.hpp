namespace experimental {

// Adds the product of a block of `rows` x `inner` tiles and one of `inner` x `columns` to DST; a
// row of tiles of the second matrix has `stride` tiles.
ALWI void matmul_block(
    uint32_t first, uint32_t second, uint32_t first_tile, uint32_t second_tile, uint32_t target,
    uint32_t transpose, uint32_t columns, uint32_t rows, uint32_t inner, uint32_t stride) {
  for (uint32_t k = 0; k < inner; ++k) {
    ckernel::matmul_block(
        first, second, first_tile + k, second_tile + k * stride, target, transpose, columns, rows,
        inner);
  }
}

}  // namespace experimental
