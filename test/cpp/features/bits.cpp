// Bits of other types
// Pointers to variables as numbers of other types, `std::bit_cast`, `memcpy` between variables of equal size.
namespace counted {
// What `<bit>` counts and turns; bytes of objects; literals by number.
void notes() {
    note(std::popcount(uint64_t(0xff00ff00ff))); note(std::countl_zero(uint8_t(1))); note(std::countr_zero(0u)); note(std::countl_one(0xf0000000u)); note(std::countr_one(uint16_t(7))); note(std::bit_width(0u)); note(std::rotl(uint8_t(0x81),9)); note(std::rotr(0x12345678u,8)); note(std::rotl(1u,-1)); note(std::has_single_bit(0u)); note(std::bit_ceil(uint8_t(100))); constexpr auto k=std::bit_floor(100u); note(k); auto each=[&]<size_t...I>(std::index_sequence<I...>){ (note(I*I),...); }; each(std::make_index_sequence<4>{}); auto size=[]<class T,size_t N>(const std::array<T,N>& a){ return N*sizeof(T); }; note(size(std::array<uint16_t,5>{})); const char* names[]={"ab","cde"}; note(names[1][2]); const char* p="xyz"; ++p; note(*p); }
}  // namespace counted
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
    counted::notes();
}
