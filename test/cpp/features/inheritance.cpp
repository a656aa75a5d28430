// Inheritance
// One or more bases with members, and classes that are given to their base as an argument; `using` of functions and constructors.
template <typename Derived> struct Shape {
    uint32_t twice() { return 2 * static_cast<Derived*>(this)->area(); }
};
struct Square : Shape<Square> {
    uint32_t side = 3;
    uint32_t area() { return side * side; }
};
struct Point { uint32_t x, y; };
struct Labelled : Point { uint32_t label; Labelled(uint32_t n) : Point{n, n + 1}, label(n + 2) {} };
struct Empty { }; struct Two { int a; int b; };
struct OfTwo : Two { int c; }; struct OfEmpty : Empty { int d; }; struct OfBoth : Two, Empty { int f; };
struct Cell { uint32_t a; uint16_t a2; };
struct Slot { uint8_t b = 3; uint32_t b2 = 4; uint32_t sum() const { return b + b2; } };
struct Row : Cell, Slot { uint16_t c; };
struct Inner { uint32_t x = 4; };
struct Outer : Inner, Row { uint32_t d = 5; Slot& slot() { return *this; } Cell* cell() { return this; } };
template <typename D> struct Count { uint32_t n = 0; void up() { n++; static_cast<D*>(this)->touched(n); } };
struct Log { uint32_t last = 0; void touched(uint32_t x) { last = x * 10; } };
struct Data { uint32_t data[3] = {1, 2, 3}; uint32_t& at(uint32_t i) { return data[i]; } };
struct All : Count<All>, Log, Data { uint32_t own = 4; uint32_t all() { up(); return n + last + at(1) + own; } };
struct Start { uint32_t a; Start() : a(7) { note(1); } ~Start() { note(11); } };
struct Next {
    uint32_t b = 6;
    Next() { note(2); }
    Next(uint32_t x) : b(x) { note(3); }
    Next(const Next& o) : b(o.b + 1) { note(4); }
    ~Next() { note(12 + b); }
};
struct Ends : Start, Next { uint32_t c; Ends() : c(b + a) {} explicit Ends(uint32_t x) : Next(x), c(b) {} };
uint32_t second(const Slot* p) { return p ? p->b2 : 77; }
uint32_t raise(Slot& r) { r.b++; return r.sum(); }
void take(Next x) { note(x.b); }
void several_bases() {
    Row r{{1, 2}, {3, 4}, 5}; Row* none = nullptr; Row* p = &r; Slot* q = p;
    note(second(&r)); note(second(none)); note(raise(r)); note(q == p); q->b2 = 9; note(r.b2); note(sizeof(Row)); note(offsetof(Row, c));
    Row rows[3] = {r, r, r}; rows[1].b2 = 50; for (auto& each : rows) note(raise(each)); const Row k = rows[2]; note(k.sum()); note(second(&k)); Row d; d = k; Slot cut = d; cut.b2 = 1; note(d.b2); note(static_cast<Slot&>(d).b); note(static_cast<Slot*>(&d)->b2);
    Outer o; o.a = 6; o.c = 1; note(o.a + o.b + o.c + o.x + o.d); note(raise(o)); o.slot().b = 8; note(o.b); o.cell()->a = 90; note(o.a); Row row = o; note(row.b); note(sizeof(Outer)); Slot* at = &o; at->b++; note(o.b);
    All b; note(b.all()); b.at(1) = 50; note(b.all()); Data& f = b; f.data[0] = 9; note(b.data[0] + b.at(2)); Log l = b; note(l.last);
    Ends e; note(e.c); { Ends g(5); note(g.c); Ends h = g; note(h.b); take(h); }
}
namespace named {
// A member of the base that a name says, where the class has one of the same name.
struct A { int x = 1, y[2] = {3, 4}; int f() const { return 10 + x; } static int s() { return 5; } template <int N> int g() { return N + x; } void set(int v) { x = v; } };
template <class T> struct G { T t = 4; T f() { return t; } };
struct B : A { int x = 2; int f() const { return A::f() + this->A::f() + 100; } int g() const { return A::x * 10 + x; } int s() { A::x = 8; return x + this->A::x + B::x * 100; } int l() { return [this] { return A::x; }(); } };
template <class T> struct C : T, G<int> { int x = 3, t = 9; int h() { return this->T::x + T::f(); } int f() { return this->G<int>::f() + G<int>::t * 10 + t; } };
int read(const B& b) { return b.A::f() + b.named::A::x; }
void notes() {
    B b; B* p = &b; const B* q = p; note(b.f()); note(b.A::f()); note(p->A::f()); note(q->A::f()); note(b.g()); note(b.A::x); note(p->A::x); b.A::x = 7; note(b.A::f()); note(b.x); note(b.A::s()); note(b.g());
    C<B> c; note(c.B::x); note(c.h()); note(c.A::f()); note(c.f()); note(read(b)); p->A::set(9); note(b.A::x); note(b.B::x); note(b.A::y[1]); note(B{}.A::x); p->named::A::x++; note(p->A::g<5>());
    note(&b.A::x == &static_cast<A&>(b).x); note(b.s()); note(b.l()); int A::* m = &A::x; note(b.*m);
}
}
namespace used {
struct A { int x = 1; int g(int) { return 10; } int g(int, int) { return 11; } int h(int) { return 12 + x; } static int s(int) { return 1; } };
struct B : A { int x = 2; int g(float) { return 20 + x; } using A::g; using A::h; using A::s; static int s(float) { return 2; } };
struct C : A { using A::g; int g(int) { return 30; } int call() { return g(1) * 100 + g(1, 2); } }; struct D : private A { using A::h; };
namespace n { struct M { int z = 7; M() : z(1) {} M(int k) : z(k) {} M(const int& a, float b) : z(a + int(b)) {} explicit M(int* p) : z(*p) { *p = 50; } }; }
struct O : n::M { using n::M::M; int w = z * 2; int own() { return z + w; } }; using n::M; struct P : M { using M::M; P(int k) : M(k + 100) {} };
struct Plain { int a; }; struct U : Plain { using Plain::a; int b; }; int take(O o) { return o.w; }
void notes() {
    B b; note(b.g(1)); note(b.g(1.f)); note(b.g(1, 2)); note(b.h(1)); note(B::s(1)); note(B::s(1.f)); C c; note(c.g(1)); note(c.g(1, 2)); note(c.call()); D d; note(d.h(1));
    O o(9); note(o.own()); O e; note(e.own()); O f(1, 2.5f); note(f.own()); int x = 4; O g(&x); note(g.z); note(x); P h(5); note(h.z); P i{2, 3.f}; note(i.z); O j = o; note(j.w); note(take(3)); O k{8}; note(k.own()); U u{{1}, 2}; note(u.a + u.b);
}
}
void kernel_main() {
    named::notes(); used::notes();
    Square square;
    Labelled labelled(4);
    note(square.twice()); note(labelled.y); note(labelled.label);
    OfTwo c{{1, 2}, 3}; note(c.a + c.b * 10 + c.c * 100); OfEmpty d{{}, 4}; note(d.d); OfBoth f{{5, 6}, {}, 7}; note(f.a); note(f.f);
    OfTwo g{1, 2, 3}; note(g.c); Two a{8, 9}; OfTwo h{a, 4}; note(h.b); note(h.c); OfBoth k{1, 2, {}, 3}; note(k.f);
    several_bases();
}
