// Unions
// The bits of one member as another one, also in unnamed unions and structs.
struct Word {
    union {
        uint32_t all;
        struct { uint16_t low, high; } part;
    };
};
void kernel_main() {
    union { float f; uint32_t u; } bits;
    bits.f = 1.5f;
    note(bits.u);
    Word word;
    word.all = 0x12345678;
    word.part.low = 1;
    note(word.all); note(word.part.high);
}
