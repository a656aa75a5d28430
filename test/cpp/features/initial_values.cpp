// Initial values
// Braces, designated members, defaults of members, braces as arguments and as results.
struct Page { uint32_t id = 7, offset{3}; };
struct Request { Page page; uint16_t size[3]; bool last; };
uint32_t total(const Request& request) {
    return request.page.id * 1000 + request.page.offset * 100 + request.size[1] * 10 + request.last;
}
Page shifted(Page page, uint32_t by) { return {page.id, page.offset + by}; }
struct Counted {
    uint32_t count;
    explicit Counted(uint32_t from) : count(from) {}
};
struct Several { int *first, *second, third; int list[2], last = 4; };
struct Area { int value; Area() : value(0) {} Area(int a, int b) : value(a * b) {} };
int add(Several s) { return *s.first + *s.second + s.third + s.list[1] + s.last; }
void fill(Several* s) { *s = {s->first, s->second, 10, {11, 12}}; }
namespace defaults {
// The initial value of a member may name the object and the members before it.
struct A { int a = 1; int b = a * 2; int c = b + get(); constexpr int get() const { return a + 100; } };
struct R { int a = 4; int& r = a; const int& q = a; };
struct Shadowed { int a = 1; int b = a; Shadowed(int a) { note(a); } };
struct Base { int a = 3; int b = a + 1; }; struct D : Base { int d = b * 2; }; struct E : Base { int a = 9; int d; E() : d(b + a) {} };
struct C { int n = 2; int list[2] = {n, n * 2}; A in{n}; };
struct K { int v = 5; int* p = &v; K* self = this; };
struct W { int a = 7; const int& r = a; int& w; W(int& x) : w(x) {} };
struct L { int a = 3; int b = [this] { return a * 5; }(); };
template <class T> struct G { T a = 2; T b = a + T(1); };
struct Bits { unsigned a : 3; unsigned b : 4; int c = a + 1; };
constexpr A known{5}; A global; A many[3] = {{4}, {}, {1, 1}};
void notes() {
    A a; note(a.b); note(a.c); A b{7}; note(b.c); A c{.b = 4}; note(c.c); A copy = b; note(copy.c); note(A{}.c); note(A().b);
    R r; r.r = 8; note(r.a); note(r.q); R s{6}; s.r = 9; note(s.a); R two[2]; two[1].r = 12; note(two[1].a); note(two[0].a);
    Shadowed t(50); note(t.b); D d; note(d.d); D e{{5}}; note(e.d); E f; note(f.d); C g; note(g.list[1]); note(g.in.c); C h{4}; note(h.list[0]); note(h.in.b);
    K k; *k.p = 6; note(k.v); k.self->v = 11; note(*k.p); int x = 1; W w(x); w.w = 3; w.a = 70; note(x); note(w.r); L l; note(l.b);
    G<int> gi; note(gi.b); G<float> gf{1.5f}; note(gf.b * 2); Bits bits{9, 4}; note(bits.c);
    static_assert(known.b == 10); constexpr A inner{3}; static_assert(inner.c == 109); int sized[inner.b]; note(sizeof(sized)); note(global.c); note(many[0].c + many[1].c); note(many[2].c);
}
}
void kernel_main() {
    defaults::notes();
    uint32_t n{4}, empty{};
    const Request request = {.page = {.id = 2}, .size = {1, 5}, .last = true};
    note(total(request)); note(total({{9, 8}, {6}, false})); note(n + empty);
    note(shifted({.offset = 1}, 5).offset); note(Page{}.id); note(Page{.id = 1}.offset);
    uint32_t one = 1;
    Counted first(one), second = first, third(second), *last = &third;
    note(first.count); note(second.count); note(last->count);
    int uno = 1, due = 2;
    Several several{&uno, &due, 3, {4, 5}}; note(add(several)); fill(&several); note(add(several));
    several = {&due, &due}; note(add(several)); note(add((Several){&uno, &uno, 7}));
    Area area; area = {3, 4}; note(area.value); uno = {9}; note(uno); several.list[1] = {}; note(several.list[1]);
}
