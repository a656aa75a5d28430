// Attributes and assembly
// Attributes are read and left out; `asm` may hold `nop` and fences; `volatile`; pragmas.
[[nodiscard]] inline __attribute__((always_inline)) uint32_t twice(uint32_t x) { return 2 * x; }
static __attribute__((noinline)) uint32_t half([[maybe_unused]] uint32_t unused, uint32_t x) { return x / 2; }
void kernel_main() {
    volatile uint32_t word = 5;
    asm volatile("nop");
    asm("nop");
#pragma GCC unroll 4
    for (uint32_t i = 0; i < 3; ++i) { word = word + twice(i); }
    if (word > 100) [[unlikely]] { note(0); }
    [[maybe_unused]] const uint32_t ignored = 3;
    note(word); note(half(1, 9)); note(__builtin_expect(word == 11, 1));
}
