// Text
// String literals where calls take them: in assertions, in printing, as names of arguments; `sizeof` and elements.
static_assert(sizeof(uint32_t) == 4, "words have four bytes");
template <typename T> constexpr bool fits() { static_assert(sizeof(T) <= 8, "at most a word pair"); return true; }
void of_characters() { note(sizeof("abc")); note("abc"[1]); note(sizeof("")); note("a\xff\0z"[1]); note(sizeof("a\xff\0z")); for (int i = 0; i < 3; ++i) { note("xyz"[i]); } }
void kernel_main() {
    if (fits<uint64_t>()) { note('x'); note('\n'); note('\\'); note('\0'); }
    of_characters();
}
