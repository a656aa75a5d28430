namespace experimental {

// Network 1 goes up and left: a rectangle starts with its last corner.
FORCE_INLINE uint64_t get_noc_multicast_addr(
    uint32_t first_x, uint32_t first_y, uint32_t last_x, uint32_t last_y, uint32_t address,
    uint8_t noc = noc_index) {
  return noc == 0 ? ::get_noc_multicast_addr(first_x, first_y, last_x, last_y, address, noc)
                  : ::get_noc_multicast_addr(last_x, last_y, first_x, first_y, address, noc);
}

}  // namespace experimental
