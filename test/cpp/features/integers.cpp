// Integers
// Widths and signs as on the processors: 32-bit `int` and `long`, promotions, wrapping, shifts.
void kernel_main() {
    uint8_t small = 250; small += 10;
    int8_t negative = -100; negative -= 100;
    const uint16_t half = 0xFFFF;
    note(small); note(negative); note(half * 2); note((uint16_t)(half + 1)); note(~half);
    const int i = -7; const uint32_t u = 5;
    note(i / 2); note(i % 3); note(i >> 1); note(u - 6 > 0); note(i < u); note(i % u);
    note(alignof(uint64_t));     note(1ull << 40); note(uint64_t{3} * u << 33); note((uint32_t)(0x123456789ull >> 4));
    note(0b101 + 017 + 0x1F + 1'000); note('a' + '\x41'); note(true + true);
}
