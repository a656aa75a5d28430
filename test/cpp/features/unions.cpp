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
union Parts { uint32_t u; float f; uint16_t h[2]; uint8_t b[4]; struct { uint8_t first, second; } s; };
struct Tagged { int a; union { uint32_t w; float g; }; };
uint32_t read(const uint32_t* p) { return *p; }
void raise(float& x) { x += 1.0f; }
void addresses_of_members() {
    Parts x; x.f = 1.5f; uint32_t* p = &x.u; note(*p); note(read(&x.u)); *p = 0x40490fdb; note(x.f * 1000);
    float* q = &x.f; *q = 2.0f; note(*p); raise(x.f); note(x.f); note((void*)p == (void*)q); note(&x.u == p);
    x.u = 0x12345678; uint16_t* h = &x.h[1]; note(*h); h[-1] = 7; note(x.u); note(h - x.h);
    uint8_t* b = x.b; note(b[3]); b[2] = 9; uint8_t* second = &x.s.second; *second = 1; note(x.u); note(*(uint16_t*)(b + 2));
    Tagged s{3, {}}; s.g = 3.0f; uint32_t* w = &s.w; note(*w); float& g = s.g; g = 5.0f; note(s.w);
    Parts many[2]; many[1].f = 4.0f; uint32_t& word = many[1].u; note(word); word = 0x3f800000; note(many[1].f);
}
struct Either { Either(uint32_t x) : whole(x), kind(1) {} Either(float x) : kind(2), part(x) {} union { uint32_t whole; float part; }; uint32_t kind; };
struct Nested { Nested(uint32_t x) : b(x), low(5), high(6) {} struct { uint32_t a = 3; uint32_t b; }; union { uint32_t both; struct { uint16_t low; uint16_t high; }; }; };
struct Usual { Usual() {} Usual(float x) : f(x) {} union { uint32_t a = 7; float f; }; };
void unnamed_members() {
    Either one(4u), two(2.5f); note(one.whole + one.kind); note(two.part * two.kind);
    Nested parts(4); note(parts.a); note(parts.b); note(parts.both); Usual usual, other(1.5f); note(usual.a); note(other.f * 2);
}
namespace generic {
// Unnamed unions in templates; pointers to their members, and where these lie.
template<class T> struct V{ union{ T val; uint32_t raw; struct { uint16_t lo, hi; }; }; int k; V(T t):val(t),k(2){} uint32_t bits() const { return raw; } uint16_t high() const { return hi; } };
template<class T> struct W{ int a; struct { T x; union { T y; uint8_t b[4]; }; }; W(): a(1), x(2), y(3) {} T sum(){ return x+y+a; } };
struct A{ int k; union { uint32_t u; float f; }; struct { uint8_t p; uint16_t q; }; };
struct D : A { int z; };
void notes() {
    V<float> v(1.5f); note(v.raw); note(v.bits()); note(v.high()); note(v.lo); v.raw=0x40000000; note(v.val==2.0f); note(v.k);
 W<int> w; note(w.sum()); w.b[1]=1; note(w.y); note(offsetof(W<int>,y)); note(offsetof(A,f)); note(offsetof(A,q)); note(offsetof(A,k)); note(sizeof(A));
 A a{}; a.u=5; a.q=9; auto pu=&A::u; note(a.*pu); a.*pu=0x3f800000; note(a.f==1.0f); auto pq=&A::q; note(a.*pq); A* pa=&a; pa->*pq=11; note(a.q); auto dq=&D::q; D d{}; d.*dq=4; note(d.q); note(offsetof(D,q));
 float A::* pf=&A::f; a.*pf=2.0f; note(a.u); }
}  // namespace generic
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
    addresses_of_members();
    unnamed_members();
    generic::notes();
}
