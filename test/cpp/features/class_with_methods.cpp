// Classes
// Members, constructors with initial values, const member functions, operators and conversions.
class Counter {
  public:
    explicit Counter(uint32_t start, uint32_t step = 3) : value(start), step_(step) {}
    uint32_t next() { return value += step_; }
    uint32_t get() const { return value; }
    Counter& operator+=(uint32_t n) { value += n; return *this; }
    operator bool() const { return value > 10; }

  private:
    uint32_t value;
    uint32_t step_;
};
struct Kept {
    int v = 3;
    int get() & { return v + 1; }
    int get() && { return v + 2; }
    int get() const & { return v + 3; }
    int get() const && { return v + 4; }
    Kept& self() & { return *this; }
    Kept&& self() && { return static_cast<Kept&&>(*this); }
    Kept& operator=(const Kept& o) & { v = o.v; return *this; }
};
Kept make_kept() { return Kept{10}; }
template <typename T> int call_on(T&& t) { return std::forward<T>(t).get(); }
struct Once { int x; int take() && { return x; } int take() const& { return -x; } };
void of_places_and_values() {
    Kept a; const Kept c{20};
    note(a.get()); note(make_kept().get()); note(c.get()); note(std::move(c).get()); note(std::move(a).get());
    note(call_on(a)); note(call_on(Kept{5})); note(call_on(c)); note(a.self().get()); note(std::move(a).self().get());
    Kept b; b = a; note(b.v); Once o{4}; note(o.take()); note(Once{5}.take()); note(std::move(o).take());
}
// Members that change in objects that are constant.
namespace mutables {
struct C { mutable int reads = 0; int v = 3; int get() const { ++reads; return v; } };
struct Inner { int n = 1; void up() { n++; } };
struct O { mutable Inner in; mutable int t[2] = {1, 2}; mutable int* p = nullptr; const C c{}; void go() const { in.up(); in.n += 5; t[1] = 8; } };
struct D : C { int z = 1; int use() const { int k = get(); return k + reads; } };
struct Bits { mutable unsigned a : 3; unsigned b : 5; };
int see(const C& c) { c.get(); return c.reads; }
int see_value(C c) { c.get(); return c.reads; }
const C& same(const C& c) { return c; }
const C global; const C gs[2] = {}; const D gd{};
template <class T> int twice(const T& t) { int k = t.get() + t.get(); return k + t.reads; }
struct Holder { const C& c; int f() const { int k = c.get(); return k + c.reads; } };
struct Cache { mutable bool known = false; mutable int kept = 0; int slow(int x) const { if (!known) { kept = x * x; known = true; } return kept; } };
void notes() {
    const C c; note(see(c)); note(c.reads); note(see(c)); note(see_value(c)); note(c.reads); same(c).get(); note(c.reads);
    const C copy = c; copy.get(); note(copy.reads); note(c.reads); const C& r = c; r.reads = 40; note(c.reads); const C* p = &c; p->get(); note(c.reads); note(twice(c));
    C plain; note(see(plain)); note(plain.reads); const C other = plain; plain.get(); note(other.reads); other.get(); note(plain.reads); note(other.reads);
    note(global.get()); note(global.reads); note(see(global)); note(gs[1].get()); note(gs[1].reads); note(gs[0].reads); note(gd.use()); note(gd.reads); see(gd); note(gd.reads);
    const O o; o.go(); note(o.in.n); note(o.t[1]); o.t[0] = 5; note(o.t[0]); int k = 3; o.p = &k; *o.p = 4; note(k); o.c.get(); note(o.c.reads); const O o2 = o; o2.go(); note(o.in.n); note(o2.in.n); o2.t[0] = 6; note(o.t[0]);
    const Bits b{2, 7}; b.a = 5; note(b.a); note(b.b); const Bits b2 = b; note(b2.b);
    const D d; note(d.use()); note(see(d)); Holder h{c}; note(h.f()); note(c.reads); Holder hp{plain}; note(hp.f()); note(plain.reads);
    auto f = [c]() { int k = c.get(); return k + c.reads; }; note(f()); note(f()); note(c.reads); auto g = [&c]() { int k = c.get(); return k + c.reads; }; note(g()); note(c.reads);
    const C list[3] = {{1, 2}, {3, 4}}; for (const C& e : list) e.get(); int s = 0; for (auto e : list) { e.get(); s = s * 10 + e.reads; } note(s); for (const auto& e : list) s = s * 10 + e.reads; note(s);
    const Cache cache; note(cache.slow(3)); note(cache.slow(9)); for (int i = 0; i < 3; i++) { const C in; in.get(); in.get(); note(in.reads); } const C made = C{7, 8}; note(made.get()); note(made.reads);
    static const C st; st.get(); note(st.reads); const std::array<C, 2> arr{}; arr[1].get(); note(arr[1].reads); note(arr[0].reads); const std::pair<C, int> pr{c, 1}; pr.first.get(); note(pr.first.reads - c.reads);
    int& ref = c.reads; ref = 2; note(c.reads); int* at = &c.reads; *at = 9; note(c.reads); const auto [x, y] = c; note(x); (void)y; constexpr C ce{}; note(ce.v); ce.get(); note(ce.reads);
    note(std::is_const_v<decltype(c.reads)>); const C& tmp = C{4, 5}; tmp.get(); note(tmp.reads); const C t2 = see(c) ? c : plain; t2.get(); note(t2.reads); note(c.reads); note(plain.reads);
}
struct L { mutable int n = 3; mutable int t[2] = {4, 5}; int k = 0; int cut() const { return --n; } };
void shrink(const L& l) { l.n -= 1; l.t[0]++; }
int via(const L* l) { return l->n += 2; }
constexpr int pure(const L& l) { return l.k + 1; }
template <class T> int sum(const T& l) { int s = 0; for (int i = 0; i < l.n; i++) { shrink(l); s += 10; } return s + l.n; }
struct W { const L* p; int go() const { shrink(*p); return p->n; } };
void more() {
    const L c; int turns = 0; for (int i = 0; i < c.n; i++) { shrink(c); turns++; } note(turns); note(c.n);
    L d; turns = 0; for (int i = 0; i < d.n; i++) { shrink(d); turns++; } note(turns); note(d.n); note(d.t[0]);
    const L e; turns = 0; const L& r = e; for (int i = 0; i < e.n; i++) { turns += r.cut(); } note(turns); note(e.n); while (e.n < 9) via(&e); note(e.n);
    L f; int before = f.n; note(via(&f) - before); note(f.n); shrink(f); note(f.n); note(sum(f)); note(pure(f));
    const W w{&f}; note(w.go()); note(f.n); auto g = [=] { return e.cut(); }; note(g()); note(g()); note(e.n); auto h = [&] { return e.cut(); }; note(h()); note(e.n);
    const int now = e.n; e.n = 70; note(now); note(e.n); const int& live = e.n; e.n = 71; note(live); L moved = std::move(const_cast<L&>(e)); moved.n = 2; note(e.n);
    for (const L& each : {L{1}, L{2}}) { each.n++; note(each.n); } const L two[2] = {}; for (int i = 0; i < 2; i++) for (int j = 0; j < two[i].n; j++) shrink(two[i]); note(two[0].n); note(two[1].n);
    switch (c.cut()) { case 0: note(5); break; default: note(6); } std::swap(c.n, d.n); note(c.n); note(d.n); const L q = {.n = 8}; note(q.cut()); note(std::min(q.n, 4)); note(std::exchange(q.n, 1)); note(q.n);
    int L::* m = &L::n; d.*m = 12; note(d.n); const std::array<L, 2> a{}; for (auto& each : a) each.n = 40; note(a[0].n + a[1].n); const std::optional<L> o = L{6}; o->n++; note(o->n);
}
}
void kernel_main() {
    mutables::notes(); mutables::more();
    Counter counter(5);
    note(counter.next());
    counter += 7;
    note(counter.get());
    if (counter) { note(1); }
    of_places_and_values();
}
