// Bit-fields
// Members of so many bits: their layout, arithmetic and conversions; without name, of width 0.
struct Header {
    uint32_t kind : 3;
    int32_t step : 5;
    uint32_t : 4;
    bool last : 1;
    uint32_t count : 20;
    uint64_t wide : 40;
};
union Word {
    uint32_t all;
    struct { uint32_t low : 7, middle : 12; int32_t high : 13; } parts;
    Header header;
};
struct Apart { uint8_t a : 3; uint32_t : 0; uint8_t b : 3; uint8_t c; };
struct __attribute__((packed)) Packed { uint8_t a : 3; uint16_t b : 14; uint32_t c : 27; };
struct Made {
    uint32_t small : 4;
    const int32_t fixed : 6;
    Made(uint32_t n) : small(n), fixed(n) { small += 3; }
    uint32_t both() const { return small * 100 + fixed; }
};
enum class Kind : uint8_t { none, some, all };
struct Typed { Kind kind : 2; uint8_t rest : 6; };
uint32_t which(int) { return 1; }
uint32_t which(uint32_t) { return 2; }
uint32_t which(uint64_t) { return 3; }
uint32_t which(int64_t) { return 4; }
struct Mixed { uint32_t a:22; uint64_t b:28; int16_t c:2; uint8_t d:3; int64_t e:20; uint32_t f:32; uint64_t g:40; bool h:1; };
void find_types() {
    Mixed s{}; int i = 1; i += 1; uint8_t u8 = 1; u8 += 1; const Mixed k{};
    note(which(s.a)); note(which(s.a+7)); note(which(+s.a)); note(which(i?s.a:7)); note(which(i?s.a:i)); note(which(i?s.a:s.c)); note(which(i?s.a:s.a)); note(which(i?s.b:7)); note(which(i?s.b:s.b)); note(which(i?s.d:s.c));
    note(which(i?s.d:7)); note(which(i?s.e:7)); note(which(i?s.g:7)); note(which(s.g+7)); note(which(s.b+7)); note(which(s.e+7)); note(which(s.b)); note(which(s.g)); note(which(s.d)); note(which((s.a)));
    note(which(s.a=3)); note(which(s.a++)); note(which(++s.a)); note(which((++s.a)+1)); note(which(s.b++)); note(which(i?s.a:u8)); note(which(i?s.a:1u)); note(which(-s.a)); note(which(~s.b)); note(which(s.a<<1)); note(which(1<<s.a));
    note(which((i?s.a:7)+1)); note(which((i?s.b:s.b)+1)); note(which((s.b=1)+1)); note(which((s.a+=1)+1)); note(which((i?s.h:7))); note(which(i?k.a:k.a)); note(which((i?k.a:k.a)+1)); note(which(uint32_t(s.a)+1)); note(which(!s.a)); note(which(s.b&&s.a)); note(which(s.b==s.a));
    auto x = i ? s.a : 7; note(which(x+1)); auto y = s.b; note(which(y)); auto z = s.b + 1; note(which(z)); auto l = [q = s.b]() { return q; }; note(which(l())); auto m = [&]() { return s.b; }; note(which(m())); note(which(m()+1)); note(which(std::max<uint64_t>(s.b, s.g)));
}
template <typename T> uint32_t size_of(T) { return sizeof(T); }
uint32_t by_value(uint32_t x) { return x + 1; }
uint32_t by_const(const uint32_t& x) { return x + 2; }
int pick(int) { return 1; }
int pick(uint32_t) { return 2; }
void kernel_main() {
    note(sizeof(Header)); note(sizeof(Word)); note(sizeof(Apart)); note(sizeof(Packed));
    note(alignof(Packed)); note(offsetof(Apart, c)); note(sizeof(Typed));
    Header a{5, -7, true, 123456, 0x123456789aULL};
    note(a.kind); note(a.step); note(a.last); note(a.count); note(a.wide);
    a.kind = 13; a.step = 17; a.count += 0xfffff; a.wide <<= 8;
    note(a.kind); note(a.step); note(a.count); note(a.wide);
    note(a.kind - 6 < 0); note(-a.kind); note(~a.kind); note(a.kind << 30); note(a.wide * 2);
    note(a.kind > -1); note((a.kind = 15)); note(a.kind++); note(++a.kind); note(--a.step);
    note(pick(a.kind)); note(size_of(a.kind)); auto copy = a.kind; note(sizeof(copy));
    note(by_value(a.kind)); note(by_const(a.count));
    const uint32_t& kept = a.kind; a.kind = 2; note(kept);
    note(a.last ? a.kind : a.count);
    Word w; w.all = 0x89abcdef;
    note(w.parts.low); note(w.parts.middle); note(w.parts.high);
    w.parts.middle = 0x5a5; w.parts.high = -1; note(w.all); note(w.header.kind); note(w.header.step);
    Word v{.parts = {1, 2, 3}}; note(v.all);
    Made m(21); note(m.small); note(m.fixed); note(m.both()); Made n = m; n.small = 9; note(n.both());
    Typed t{Kind::all, 33}; note(t.kind == Kind::all); note((uint32_t)t.kind); note(t.rest);
    Header many[2] = {{1}, {2, 3}}; many[1].count = 7; for (Header& each : many) { each.kind ^= 3; }
    note(many[0].kind); note(many[1].kind); note(many[1].step + many[1].count);
    auto [kind, step, last, count, wide] = many[1]; note(kind); note(count); note(wide + last + step);
    constexpr Header fixed{7, -16}; static_assert(fixed.kind == 7); note(fixed.kind - 8 < 0);
    find_types();
}
