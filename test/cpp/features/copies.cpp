// Copy constructors
// Of arguments, captures, elements and variables; the copy of what is returned may be left out.
struct Counted {
    uint32_t n;
    Counted() : n(0) {}
    Counted(uint32_t n) : n(n) {}
    Counted(const Counted& other) : n(other.n + 1) { note(1000 + n); }
    Counted& operator=(const Counted& other) { n = other.n + 10; return *this; }
};
uint32_t take(Counted c) { c.n += 5; return c.n; }
struct Counting {
    int a; int z[2];
    Counting(int x) : a(x), z{x, x + 1} {}
    Counting(const Counting& o) : a(o.a + 1), z{o.z[0], o.z[1]} { note(2000 + a); }
    Counting(Counting&& o) : a(o.a) { o.a = -1; note(3000 + a); }
    ~Counting() { note(6000 + a); }
};
struct OnTop : Counting { int c; Counting m; OnTop(int x) : Counting(x), c(2), m(x + 10) {} };
struct Higher : OnTop { int d = 5; Higher(int x) : OnTop(x) {} Higher(const Higher&) = default; Higher(Higher&&) = default; };
int raised(OnTop x) { x.a += 100; return x.a + x.c; }
OnTop made(int n) { if (n > 5) { return OnTop(n + 1); } return OnTop(n); }
struct Number { int v; Number& operator=(int n) { v = n * 10; return *this; } };
struct Triple { Number a; int b = 0; template <typename T> Triple& operator=(T n) { b = n * 3; return *this; } };
struct Listed { int v = 0; Listed() = default; Listed(int n) : v(n) {} Listed& operator=(std::initializer_list<int> list) { v = 50 + list.size(); return *this; } };
struct Two { int a, b; Two(int x, int y) : a(x), b(2 * y) {} };
struct Named : Number { Named(int n) : Number{n} {} };
struct Seen { int a; Seen(int x) : a(x) { note(100 + x); } Seen(const Seen& o) : a(o.a + 1000) { note(200 + a); } ~Seen() { note(300 + a); } };
Seen choose_one(bool c, const Seen& t) { return c ? t : Seen(5); }
void chosen() {
    Seen t(1); volatile int zero = 0; bool f = zero != 0;
    Seen u = true ? t : Seen(2); note(u.a); Seen v = f ? t : Seen(3); note(v.a); Seen w = f ? Seen(6) : Seen(7); note(w.a);
    Seen x = choose_one(f, t); note(x.a); Seen y = choose_one(!f, t); note(y.a); note((f ? t : Seen(8)).a); note((f ? Seen(9) : t).a); note((false ? Seen(9) : t).a);
}
namespace copyable {
struct A { int x; }; struct B { B(const B&) = delete; int x; }; struct C { C(C&&) {} int x; }; struct D { B b; }; struct E { C c[2][2]; }; struct F { F(const F&) {} F(F&&) {} };
struct G { G(const G&) = default; G(G&&) = delete; A a[3][2]; };
template <typename T> void ask() { note(std::is_copy_constructible_v<T>); }
void all() { ask<A>(); ask<B>(); ask<C>(); ask<D>(); ask<E>(); ask<F>(); ask<G>(); ask<int>(); ask<int*>(); ask<int[2]>(); ask<void>(); ask<const A>(); }
}
namespace cast {
// Objects as the bits of others.
struct Packed{ uint8_t a,b; uint16_t c; }; struct alignas(4) Four{ uint8_t v[4]; }; struct Pair{ float f; int16_t i, j; };
void notes() {
    note(std::bit_cast<uint32_t>(Packed{1,2,0x304})); auto p=std::bit_cast<Packed>(0xaabbccddu); note(p.a); note(p.c); auto f=std::bit_cast<Four>(0x01020304); note(f.v[0]*10+f.v[3]); auto arr=std::bit_cast<std::array<uint16_t,2>>(0x00050006u); note(arr[0]*10+arr[1]); auto q=std::bit_cast<Pair>(uint64_t(0xfffe000340000000)); note(q.f==2.0f); note(q.i*10+q.j); note(std::bit_cast<uint64_t>(q)>>32); note(std::bit_cast<Four>(1.0f).v[3]); }
}  // namespace cast
void kernel_main() {
    copyable::all();
    Number n{1}, m{2}; n = m; note(n.v); n = 7; note(n.v); n = Number{9}; note(n.v); n = Named(4); note(n.v); n = std::move(m); note(n.v);
    Triple t{{5}, 6}, u; u = 4; u.a = 1; t = u; note(t.b); note(t.a.v); Listed l, k(4); l = k; note(l.v); l = {1, 2}; note(l.v); l = {3}; note(l.v); l = Listed{9}; note(l.v); l = {}; note(l.v);
    Two made_of({3, 4}); note(made_of.a + made_of.b); note(Two({5, 6}).b);
    Counted a(1);
    note(take(a));
    Counted b{a}; note(b.n);
    b = a; note(b.n);
    Counted c = Counted(7); note(c.n);
    const Counted& r = a;
    Counted d = r; note(d.n);
    Counted* p = &a;
    Counted e(*p); note(e.n);
    Counted listed[2] = {a, Counted(3)}; note(listed[0].n); note(listed[1].n);
    auto get = [a]() { return a.n; };
    note(get()); note(a.n);
    { OnTop c(4); OnTop d = c; note(d.a); note(d.m.a); d.z[1] = 0; note(c.z[1]); OnTop e(std::move(d)); note(e.a); note(d.a);
    note(raised(c)); note(raised(OnTop(7))); note(made(3).a); Higher f(1); Higher g = f; note(g.a + g.d); Higher h = std::move(f); note(h.m.a); note(f.a);
    auto of_copy = [c]() { return c.a; }; note(of_copy()); OnTop some[2] = {c, OnTop(8)}; note(some[0].a); }
    chosen();
    cast::notes();
}
