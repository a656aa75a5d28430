constexpr uint32_t TABLE[4] = {1u, 2u, 0xffffffffu, 7};

void kernel_main() {
    uint8_t a = 250; a += 10; note(a);
    int8_t c = -100; c -= 100; note(c);
    int m = -7; note(m / 2); note(m % 3); note(m >> 1); note(m << 3); note(m % -2); note(7 / -2);
    unsigned u = 5; note(u - 6 > 0); note(m < u); note(-1 < 1u); note(m / u); note(m % u);
    uint16_t h = 65535; note(h * h); note((uint16_t)(h + 1)); note(~h); note(h << 4); note(-h);
    int i = 3; note(i++ + 4); note(++i); note(i-- - 1); note(i);
    uint64_t w = 1; w <<= 40; note(w); note((uint32_t)(w >> 20)); note((w + u) * 3);
    int64_t big = -5; note(big / 2); note(big >> 1); note(big + u); note((uint32_t)big); note(big < u);
    note((int8_t)200); note((uint8_t)-1); note(static_cast<int>(3.99f)); note('a' + 1);
    note(0x80000000 < 0); note(2147483648u + 2147483648u); note(-(-2147483647 - 1));
    note(5 - 3u - 4); note(10 > 5 == true); note(true + true); note(sizeof(uint16_t) - 3 > 0);
    bool b = 5; note(b); b = b && (i > 3 || i++); note(b + i); b = 0.5f; note(b);
    int n = 7; n = -n; n = ~n; note(n); n = !n; note(n);
    unsigned z = 0; z--; note(z);
    while (z > 4294967290u) { if (z-- % 2) continue; note(z); }
    int x = 5; x = x++ + 1; note(x);
    int e; e = (x++, x + 1); note(e); e = 2 * (x = 12, x += 3, x + 1); note(e); note((e = 1, x));
    note(x ? e ? 1 : 2 : 3); note(x > 2 ? -1 : 1u);
    float f = 1.1f; f = f * 3 + 1; note(f * 1000000); double d = f; note((int)(d / 3 * 1000000));
    note(f < d + 1); note(f == 4.3f); f = 16777216; f += 1.0f; note(f); note(1 / 2 + 1 / 2.0);
    for (int k = 0; k < 4; k++) note(TABLE[k] >> 1);
    note(TABLE[2] + 1); note(0b101 + 017 + 0x1F + 1'000); note(1 << 31); note(1u << 31 >> 31);
    uint32_t s = 3; s <<= s; s |= s >> 1; s ^= 0xF0F0; s &= ~4u; s %= 1000; s /= 3; s *= s; note(s);
    h = 1; h -= 2; note(h); h >>= 3; note(h); c = 127; c++; note(c); c = 7; c /= -2; note(c);
}
