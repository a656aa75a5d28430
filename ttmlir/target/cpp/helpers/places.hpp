namespace experimental {

// Where a core of the grid of workers is on the network.
FORCE_INLINE uint32_t convert_logical_x_to_translated(uint32_t column) {
  return worker_logical_col_to_virtual_col[column];
}

FORCE_INLINE uint32_t convert_logical_y_to_translated(uint32_t row) {
  return worker_logical_row_to_virtual_row[row];
}

}  // namespace experimental
