class A { int p = 4; public: int q = 2; int see() { auto f = [this] { return p; }; return f(); } int both(A& o) { return o.p + p; } friend int out(A& a) { return a.p; } };
struct B : A { int g() { return q; } };
class C { int p = 5; friend int outside(C& c); }; int outside(C& c) { return c.p; }
class D { protected: int p = 6; int h() { return p; } }; struct E : D { int g() { return p + h(); } };
struct F { F() = default; F(int q) : n(q) {} int n = 4; };
template <int N> struct G { template <int M> static int f(int x) { return N + M + x; } };
struct H { template <int M> static int g() { return M; } };
struct Mixed { char c; uint16_t h; }; struct Guarded { ~Guarded() { note(0); } };
template <uint32_t N> struct Words { uint32_t values[N]; uint32_t more = N; };
std::optional<uint32_t> maybe(uint32_t x) { if (x) { return x; } return std::nullopt; }
int get() { return 1; }
void kernel_main() {
    B b; note(b.g()); A a; note(a.both(a)); note(a.see()); note(out(a)); C c; note(outside(c)); E e; note(e.g());
    F one, two(7); note(one.n + two.n); note(alignof(uint16_t)); note(alignof(Mixed)); note(alignof(float));
    note(G<3>::template f<4>(1)); note(H::template g<2>()); Words<0> none; note(none.more); uint32_t empty[0]; note(sizeof(empty));
    auto t = std::tuple{1u, 2.5f}; note(std::get<1>(t) * 2); std::tuple u(3u, 4u); note(std::get<1>(u));
    uint32_t x = 1, y = 2; std::tie(x, y) = std::make_pair(y, x + 5); note(x + y * 10); int z; std::tie(std::ignore, z, x) = std::make_tuple(1, 2, 3u); note(z + x);
    switch (get()) { case 0: note(1); case 1: enum I { J = 7, K }; note(K); { enum L { M = 3 }; note(M); } case 2: { note(9); break; } default: enum class N : uint8_t { O = 3 }; note((int)N::O); }
    std::optional<uint32_t> o; note(o.has_value()); o = 5; note(*o); if (o) { note(1); } o.reset(); note(o.value_or(9)); auto p = std::make_optional(3u); p = std::nullopt; note(p.has_value());
    std::optional<Mixed> s = Mixed{'a', 4}; note(s->h); note(maybe(3).value()); note(maybe(0).has_value()); note(o == p);
    note(std::is_trivially_copyable_v<Mixed>); note(std::is_trivially_copyable_v<Guarded>); note(std::is_aggregate_v<Mixed>); note(std::is_aggregate_v<F>); note(__builtin_bit_cast(uint32_t, 1.0f));
}
