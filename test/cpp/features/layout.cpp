// Layout of members
// `alignas`, the attributes `aligned` and `packed`, `sizeof`, `alignof` and `offsetof`.
struct alignas(16) Line { uint32_t x; };
struct __attribute__((aligned(8))) Wide { uint8_t x; };
struct Inner { uint8_t a; alignas(8) uint32_t b; };
struct Outer { uint8_t a; Line b; };
struct __attribute__((packed)) Packed { uint8_t a; uint32_t b; uint16_t c; };
struct Nested { uint8_t a; Packed p; uint32_t d; } __attribute__((packed));
struct alignas(uint64_t) Typed { uint8_t e; };
struct Behind { uint8_t a; uint16_t b __attribute__((aligned(8))); };
void kernel_main() {
    note(sizeof(Line)); note(alignof(Line)); note(sizeof(Wide)); note(sizeof(Inner)); note(sizeof(Outer));
    note(sizeof(Packed)); note(alignof(Packed)); note(sizeof(Nested)); note(sizeof(Typed)); note(sizeof(Behind));
    note(offsetof(Packed, c)); note(offsetof(Nested, d)); note(offsetof(Inner, b));
    Packed p{1, 70000, 3};
    p.b += p.a; note(p.b); note(p.c);
    alignas(32) uint32_t v[4] = {1, 2, 3, 4}; note(v[2]);
}
