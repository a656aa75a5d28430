using Small = uint8_t; typedef float Real;
enum Colour : uint8_t { RED, GREEN = 5, BLUE };
enum class Kind { ONE = 1, TWO };
struct Bits { uint32_t word = 7; float real = 0.25f; bool flag; Small small; int8_t few[3]; };
struct Outer { Bits bits[2]; uint16_t half; Real last = -1.5f; };

int between(const int& low, int value, const int& high) { return std::min(std::max(low, value), high); }
template <typename T> T larger(const T& a, const T& b) { return a < b ? b : a; }
template <int N, typename T> T scaled(T a) { return N * a; }
auto half(float x) { return x / 2; }
void set(bool& flag, bool value) { flag = value; }
int with_defaults(int a, int b = 3, int c = 2 + 2) { return a * 100 + b * 10 + c; }
void nothing() { return; }
bool is_set(float x) { return x; }

void kernel_main() {
    int a = 5, b = -7; uint32_t u = 3000000000u; float f = 2.5f, z = 0.0f; double d = 1.0 / 3;
    note(std::min(a, b)); note(std::max(a, b)); note(std::min(3, 9)); note(std::max(3u, 9u));
    note(std::min<uint32_t>(a, 9)); note(std::max<uint32_t>(b, 9)); note(std::max(u, u - 1) == u);
    note(std::min(f, 1.5f) * 2); note(std::max(f, 1.5f) * 2); note(std::min<float>(a, f) * 2);
    note(between(a - 8, b, a + 8)); note(between(0, 100, a)); note(between(a, 0, 9));
    note(larger(a, b)); note(larger(u, 5u)); note(scaled<3>(a)); note(scaled<-2>(f));
    note(Small(u)); note(Small(300)); note(Real(a) / 2 * 4); note(int(f)); note(uint16_t(b)); note(Small{9});
    note(half(5) * 4); note(-f * 2); note(+f * 2); note(-(-f) * 2); note(-2.5f * 2); note(!f); note(!z); note(!d);
    note(f / z > 1e30f); note(-f / z < -1e30f); note(z / z == z / z); note(f / -z < 0); note((f - f) / z != 0);
    note(d * 3 == 1.0); note((float)d * 3 == 1.0f); note(f == 2.5); note(f < a); note(a >= f); note(d != f); note(u > f);
    note((int)(d * 9)); note((bool)f); note((bool)z); note(is_set(d)); note(is_set(0)); note(bool(a - 5));
    bool flag = false; set(flag, 4); note(flag); Bits bits; note(bits.word); note(bits.real * 8);
    set(bits.flag, true); note(bits.flag + 1); Bits zero = {}; note(zero.flag); note(zero.word); note(zero.few[1]); note(zero.small);
    Outer outer = {}; note(outer.bits[1].word); note(outer.bits[1].real * 4); note(outer.last * 2); note(outer.half);
    const int& fixed = 3 + 4; note(fixed); const float& whole = a; note(whole / 2 * 4); const int& same = a; note(same);
    uint32_t& word = bits.word; word += 3; note(bits.word); int8_t& third = bits.few[2]; third = -100; third -= 100; note(bits.few[2]);
    a = b = 4; note(a * 10 + b); note((a += 3) * 2); note((bits.small = 300) + 1); note((bits.small += 200) + 1); note(++bits.small); note(bits.small++);
    note(with_defaults(1)); note(with_defaults(1, 2)); note(with_defaults(1, 2, 9)); nothing(); (void)a; (void)nothing();
    a > 3 ? nothing() : note(1); a < 3 ? nothing() : note(2); a > 3 ? note(3) : note(4);
    Colour colour = BLUE; note(colour + 1); note((int)Kind::TWO); note(colour == GREEN); colour = (Colour)5; note(colour == GREEN); note(sizeof(Colour));
    note('a'); note('\n'); note('\t'); note('\0'); note('\\'); note('\''); note(1'000'000); note(0x7fffffffffffffffLL > 0); note(1e3); note(5.f);
    for (u = 0; u < 3; u++) { switch (u) { case 1: { note(11); break; } default: note(12); } }
    int nested[2][2][2] = {{{1, 2}, {3}}, {{4}}}; note(nested[0][0][1]); note(nested[0][1][0]); note(nested[0][1][1]); note(nested[1][0][0]); note(nested[1][1][1]);
    int counted[] = {4, 5, 6}; note(sizeof(counted) / sizeof(counted[0])); note(counted[2]); float reals[3] = {1.5f}; note(reals[0] * 2 + reals[2]);
    int* p = counted; int* q = p + 2; note(q - p); note(p - q); note(1 + p == p + 1); note(*(2 + p)); note(p[q - p]); note(p != q); note(p < q); note(q <= p);
    uint64_t wide = 1ull << 40; double large = wide; note(large == wide); note((uint64_t)(large * 3)); note(-wide < wide); note(wide * 2.5); note((float)wide == wide);
    while (true) { if (a-- < 0) break; } note(a); if (!(a < 0)) { note(1); } else { } if (a > 100) { } else { note(3); }
    do { a++; } while (false); note(a); for (;;) { if (++a > 5) break; } note(a); for (int i = 0; i < a; i++) { if (i == 2) { note(i); break; } }
}
