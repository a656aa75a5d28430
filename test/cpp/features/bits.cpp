// Bits of other types
// Pointers to variables as numbers of other types, `std::bit_cast`, `memcpy` between variables of equal size.
void kernel_main() {
    const uint32_t word = 0x3fc00000;
    const float value = *reinterpret_cast<const float*>(&word);
    note(value * 2);
    float other = -2.5f;
    uint32_t bits;
    std::memcpy(&bits, &other, sizeof(bits));
    const uint8_t* byte = reinterpret_cast<const uint8_t*>(&word);
    note(byte[3]);
    note(bits); note(std::bit_cast<uint32_t>(1.0f) >> 16); note(*(uint32_t*)&other & 0x7fffffff);
    note(__builtin_ctz(0x50)); note(__builtin_clz(0x50)); note(__builtin_popcount(0xF0F));
}
