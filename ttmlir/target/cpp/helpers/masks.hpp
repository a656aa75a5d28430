namespace experimental {

// The bits of a whole number below 2048 in a format of 32 or 16 bits.
template <DataFormat format>
constexpr uint32_t bits_of(uint32_t number) {
  static_assert(
      format == DataFormat::Float32 || format == DataFormat::Float16_b ||
          format == DataFormat::Int32,
      "tiles are written in Float32, Float16_b or Int32");
  if constexpr (format == DataFormat::Int32) {
    return number;
  } else {
    if (number == 0) {
      return 0;
    }
    const uint32_t exponent = 31 - __builtin_clz(number);
    const uint32_t bits = (127 + exponent) << 23 | (number << (23 - exponent) & 0x7fffff);
    return format == DataFormat::Float32 ? bits : bits >> 16;
  }
}

// Writes the first tile of a circular buffer, element by element, before it is unpacked. A tile is
// four faces of 16x16 numbers.
template <DataFormat format, typename Number>
ALWI void write_tile([[maybe_unused]] uint32_t buffer, [[maybe_unused]] Number number) {
#ifdef TRISC_UNPACK
  const uint32_t address = get_local_cb_interface(buffer).fifo_rd_ptr << 4;
  for (uint32_t index = 0; index < 1024; ++index) {
    const uint32_t row = (index >> 9) * 16 + (index >> 4 & 15);
    const uint32_t column = (index >> 8 & 1) * 16 + (index & 15);
    const uint32_t bits = bits_of<format>(number(row, column));
    if constexpr (format == DataFormat::Float16_b) {
      reinterpret_cast<volatile tt_l1_ptr uint16_t *>(address)[index] = bits;
    } else {
      reinterpret_cast<volatile tt_l1_ptr uint32_t *>(address)[index] = bits;
    }
  }
#endif
}

template <DataFormat format>
ALWI void write_row_mask_tile(uint32_t rows, uint32_t buffer) {
  write_tile<format>(buffer, [rows](uint32_t row, uint32_t) { return uint32_t(row < rows); });
}

template <DataFormat format>
ALWI void write_col_mask_tile(uint32_t columns, uint32_t buffer) {
  write_tile<format>(
      buffer, [columns](uint32_t, uint32_t column) { return uint32_t(column < columns); });
}

template <DataFormat format>
ALWI void fill_arange_tile(uint32_t buffer) {
  write_tile<format>(buffer, [](uint32_t row, uint32_t column) { return row * 32 + column; });
}

}  // namespace experimental
