// Text
// String literals where calls take them: in assertions, in printing, as names of arguments.
static_assert(sizeof(uint32_t) == 4, "words have four bytes");
template <typename T> constexpr bool fits() { static_assert(sizeof(T) <= 8, "at most a word pair"); return true; }
void kernel_main() {
    if (fits<uint64_t>()) { note('x'); note('\n'); note('\\'); note('\0'); }
}
