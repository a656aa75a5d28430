namespace ttmlir {

template <typename... Values>
void dprint(Values &&...values) {
  (DPRINT << ... << values);
}

// A circular buffer among printed values stands for its number.
inline uint32_t CBPrinter(uint32_t buffer) { return buffer; }

}  // namespace ttmlir
