// Unions
// The bits of one member as another one, also in unnamed unions and structs.
struct Word {
    union {
        uint32_t all;
        struct { uint16_t low, high; } part;
    };
};
struct Route {
    uint16_t mesh;
    union { uint16_t chip; uint16_t hops; };
    struct { uint8_t first, second; };
};
Route route_to(uint16_t chip) { return {.mesh = 7, .chip = chip, .first = 3, .second = 4}; }
void kernel_main() {
    union { float f; uint32_t u; } bits;
    bits.f = 1.5f;
    note(bits.u);
    Word word;
    word.all = 0x12345678;
    word.part.low = 1;
    note(word.all); note(word.part.high);
    const Route route = route_to(300);
    note(route.mesh); note(route.hops); note(route.first * 10 + route.second);
}
