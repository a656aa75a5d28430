// Moves
// `T&&`, `std::move`, `std::forward`; constructors and assignments that take what others had.
struct Handle {
    uint32_t* open;
    explicit Handle(uint32_t* open) : open(open) { ++*open; }
    Handle(Handle&& other) : open(other.open) { other.open = nullptr; }
    Handle(const Handle&) = delete;
    ~Handle() { if (open != nullptr) { --*open; } }
};
struct Number {
    int n;
    Number(int n) : n(n) {}
    Number(const Number& other) : n(other.n) { note(-1); }
    Number(Number&& other) : n(other.n) { other.n = 0; note(-2); }
    Number& operator=(const Number& other) { n = other.n; note(-3); return *this; }
    Number& operator=(Number&& other) { n = other.n; other.n = 0; note(-4); return *this; }
};
struct Counted {
    uint32_t n;
    Counted(uint32_t n) : n(n) {}
    Counted(const Counted& other) : n(other.n) {}
    Counted& operator=(const Counted& other) { n = other.n + 100; return *this; }
    Counted& operator=(Counted&& other) { n = other.n + 10; other.n = 0; return *this; }
};
struct Holder { Counted one; Counted more[2]; uint32_t plain[2]; };
struct Derived : Counted { uint32_t own; Derived(uint32_t n) : Counted(n), own(n + 1) {} };
template <typename T> int is_place(T&&) { return std::is_lvalue_reference_v<T>; }
template <typename T> int is_plain(T&&) { return std::is_same_v<T, std::remove_reference_t<T>>; }
struct Pair { uint32_t first; Number second; Number more[2]; };
struct Own { Number n; Own(Number&& n) : n(std::move(n)) {} Number give() { return std::move(n); } Number show() { return n; } };
int kind(int&) { return 1; }
int kind(const int&) { return 2; }
int kind(int&&) { return 3; }
int kind(Number&) { return 4; }
int kind(Number&&) { return 5; }
template <typename T> int cast(T&& x) { return kind(static_cast<T&&>(x)); }
template <typename T> int pass(T&& x) { return kind(std::forward<T>(x)); }
template <typename T> int relay(T&& x) { return pass<T>(std::forward<T>(x)); }
template <typename... T> int all(T&&... x) { return (kind(std::forward<T>(x)) + ...); }
int named(int&& x) { return kind(x); }
int take(Number x) { return x.n; }
Number back(Number x) { return x; }
Number kept(7);
Number copy_kept() { return kept; }
struct Worn { int v; Worn(int x) : v(x) {} Worn(const Worn& o) : v(o.v) { note(200 + v); } Worn(Worn&& o) : v(o.v) { note(300 + v); } Worn& operator=(const Worn& o) { v = o.v; note(400 + v); return *this; } Worn& operator=(Worn&& o) { v = o.v; note(500 + v); return *this; } };
struct Wrapped { int v; template <typename T> Wrapped(T&& t) { Worn w(std::forward<T>(t)); v = w.v; } };
int unwrap(Wrapped w) { return w.v; }
void choose(const Worn&) { note(1); } void choose(Worn&&) { note(2); }
struct Taken { int a; Taken(int x) : a(x) {} Taken(const Taken& o) : a(o.a) { note(1); } Taken(Taken&& o) : a(o.a) { o.a = -1; note(2); }
    Taken& operator=(Taken&& o) { a = o.a; o.a = -2; note(3); return *this; } Taken& operator=(const Taken& o) { a = o.a; note(4); return *this; } };
struct Holding { Taken t; int n; Taken&& give() && { return std::move(t); } };
void parts() {
    Taken t(5); std::tuple<Taken, int> x(std::move(t), 3); note(t.a); std::tuple<Taken, int> y = std::move(x); note(std::get<0>(x).a); std::tuple<Taken, int> z(y);
    Taken u = std::get<0>(std::move(z)); note(std::get<0>(z).a); auto w = std::make_tuple(std::move(u), 4); note(u.a); note(std::get<0>(w).a); y = std::move(w); note(std::get<0>(y).a);
    std::pair<Taken, int> p(Taken(6), 6), q = std::move(p); note(p.first.a); auto [m, n] = std::move(q); note(m.a + n); note(q.first.a);
    std::array<Taken, 2> r{Taken(1), Taken(2)}, s = std::move(r); note(r[0].a); note(s[1].a);
    Holding h{Taken(8), 2}; Taken first = std::move(h).t; note(h.t.a); Holding k{Taken(9), 2}; Taken second = std::move(k).give(); note(second.a - k.t.a);
}
struct Plain { int v; };
struct Whole { Plain one; Plain more[2]; };
struct Ends { Taken t; Taken more[2]; };
struct Refers { Taken& far; Plain near; };
int sort(Plain&&) { return 1; } int sort(const Plain&) { return 2; } int sort(Plain&) { return 3; }
Whole make_whole() { return Whole{{1}, {{2}, {3}}}; }
Ends make_ends() { return Ends{Taken(1), {Taken(2), Taken(3)}}; }
int take_part(Taken t) { return t.a; }
void parts_of_temporaries() {
    Whole w{{4}, {{5}, {6}}}; const Whole fixed = w; Plain row[2] = {{1}, {2}};
    note(sort(Whole{}.one)); note(sort(make_whole().more[1])); note(sort(w.more[1])); note(sort(std::move(w).more[0])); note(sort(fixed.one)); note(sort(std::move(fixed).one)); note(sort(std::move(row)[1]));
    note(is_place(make_whole().one)); note(is_place(make_whole().more[0].v)); note(is_place(w.one)); note(std::is_lvalue_reference_v<decltype((Whole{}.one))>);
    auto one = &Whole::one; Whole* there = &w; note(sort(make_whole().*one)); note(sort(w.*one)); note(sort(std::move(there)->one)); note(sort(std::move(*there).one));
    Taken far(7); Refers r{far, {8}}; Taken taken = std::move(r).far; note(far.a); note(sort(std::move(r).near)); note(sort(Refers{far, {1}}.near));
    Taken a = make_ends().t; note(a.a); Ends e = make_ends(); Taken b = std::move(e).more[1]; note(e.more[1].a); note(take_part(e.t)); note(take_part(make_ends().more[0]));
    a = make_ends().t; a = e.t; a = std::move(e).more[0]; note(e.more[0].a); const Ends held = make_ends(); Taken c = std::move(held).t; note(c.a);
    auto&& named = make_ends().t; Taken d = named; note(named.a); Taken chosen = far.a ? make_ends().t : make_ends().more[1]; note(chosen.a);
    Taken left(1), two(2); Taken either = left.a ? std::move(left) : two; note(either.a); note(left.a); note(two.a); Taken made = two.a ? Taken(3) : std::move(two); note(made.a);
}
struct Fixed { int v; int get() { return 1; } int get() const { return 2; } };
int sort(Fixed&&) { return 1; } int sort(const Fixed&) { return 2; }
const Fixed make_fixed() { return Fixed{3}; }
void constant_results() { note(make_fixed().get()); note(sort(make_fixed())); Fixed f = make_fixed(); note(f.get()); note(std::is_const_v<decltype(make_fixed())>); }
namespace constants {
int s(int&&) { return 3; } int s(const int&&) { return 4; } int s(const int&) { return 5; }
struct P { int v; }; int p(P&&) { return 3; } int p(const P&&) { return 4; } int p(const P&) { return 5; } int p(P&) { return 6; }
struct A { int f(P&&) { return 1; } int f(const P&&) { return 2; } };
template <class T> int u(T&&) { return 1; } template <class T> int u(const T&&) { return 2; }
struct W { P a; const P c; }; W make() { return W{{7}, {8}}; }
struct B { int v; B(int x) : v(x) {} B(B&& o) : v(o.v + 1) {} B(const B&& o) : v(o.v + 100) {} B(const B& o) : v(o.v + 1000) {} };
struct F { int v; F(int x) : v(x) {} F(const F&& o) : v(o.v + 100) {} F(const F& o) : v(o.v + 1000) {} };
struct H { B b; const B c; H(int x) : b(x), c(x) {} }; struct I { B b; I(const B& o) : b(std::move(o)) {} }; struct N { B b; };
int take(B b) { return b.v; } B give(const B& b) { return std::move(b); }
void calls() {
    int x = 2; const int y = 3; note(s(5)); note(s(std::move(x))); note(s(std::move(y))); note(s(x)); note(s(2.5)); std::pair<int, int> q(1, 2); note(s(std::move(q).first));
    A a; note(a.f(P{1})); note(a.f({})); note(u(5)); note(u(x)); note(u(y)); note(u(std::move(y))); const P k{3}; P l{4}; W w{{1}, {2}};
    note(p(P{1})); note(p(std::move(l))); note(p(std::move(k))); note(p(l)); note(p(k)); note(p({1})); note(p(make().a)); note(p(make().c)); note(p(std::move(w).a)); note(p(std::move(w).c));
}
void objects() {
    B b(1); const B d(3); B c(std::move(b)); note(c.v); B e(std::move(d)); note(e.v); B f = std::move(d); note(f.v); B g = d; note(g.v); note(B{std::move(d)}.v); auto o = std::move(d); note(o.v);
    note(take(std::move(d))); note(take(d)); note(take(std::move(b))); note(give(d).v); note(I(d).b.v); B h = static_cast<const B&&>(d); note(h.v);
    H k(5); const H m(6); note(B(std::move(k).b).v); note(B(std::move(k).c).v); note(B(std::move(m).b).v); note(B(m.b).v); const N w{B(1)}; N i = std::move(w); note(i.b.v); N y{B(2)}; N z = std::move(y); note(z.b.v);
    F p(1); const F q(2); F r = std::move(p), s = std::move(q), t = q, u = p; note(r.v); note(s.v); note(t.v); note(u.v);
}
}
void kernel_main() {
    int a = 1;
    const int c = 2;
    note(pass(a)); note(pass(c)); note(pass(3)); note(pass(std::move(a))); note(relay(a)); note(relay(4));
    note(all(a, 5, c)); note(named(6)); note(kind(static_cast<const int&>(a)));
    Number one(10);
    note(pass(one)); note(pass(Number(1))); note(pass(std::move(one))); note(one.n);
    Number two(std::move(one)); note(one.n); note(two.n);
    Number three = two; note(two.n);
    three = std::move(two); note(three.n); note(two.n);
    one = three; note(take(one)); note(take(std::move(one))); note(one.n);
    note(back(Number(8)).n); note(copy_kept().n); note(kept.n);
    Pair pair{4, Number(5), {Number(6), Number(7)}};
    Pair copied = pair; note(copied.more[1].n);
    Pair moved = std::move(pair); note(moved.second.n); note(pair.second.n); note(pair.first);
    Own own(Number(9)); note(own.show().n); note(own.give().n); note(own.n.n);
    std::swap(one, three); note(one.n); note(three.n);
    auto get = [inner = std::move(one)]() { return inner.n; };
    note(get()); note(one.n);
    uint32_t open = 0;
    { Handle first(&open); note(open); Handle second(std::move(first)); note(open); note(first.open == nullptr); }
    note(open);
    Holder x{1, {2, 3}, {4, 5}}, y{6, {7, 8}, {9, 10}};
    x = y; note(x.one.n); note(x.more[1].n); note(x.plain[1]);
    x = std::move(y); note(x.more[0].n); note(y.more[0].n);
    x = Holder{11, {12, 13}, {14, 15}}; note(x.one.n); note(x.plain[0]);
    Derived d(1), e(5); d = e; note(d.n); note(d.own); Counted base(3); base = e; note(base.n);
    Holder z = (y = x); note(z.one.n);
    note(is_place(a)); note(is_place(3)); note(is_plain(a)); note(is_plain(3)); note(cast(a)); note(cast(4));
    Counted place(1); Counted before = std::exchange(place, Counted(20)); note(before.n); note(place.n);
    auto forward = [](auto&& x) { return kind(std::forward<decltype(x)>(x)); };
    Number kept(1); note(forward(kept)); note(forward(std::move(kept))); note(forward(Number(2)));
    auto give = [](auto&&... x) { return (Number(std::forward<decltype(x)>(x)).n + ...); };
    note(give(kept)); note(kept.n); note(give(Number(3))); note(give(std::move(kept))); note(kept.n);
    auto refers = [](auto&& x) { return std::is_lvalue_reference_v<decltype(x)>; };
    note(refers(place)); note(refers(3)); note(refers(std::move(place)));
    auto&& other = place; using Other = decltype(other); note(std::is_lvalue_reference_v<Other>);
    auto&& made = Counted(4); note(std::is_lvalue_reference_v<decltype(made)>);
    Worn worn(9); const Worn fixed(3); worn = 4; worn = {5}; choose(3); choose({3}); choose(worn); choose(Worn(1));
    note(unwrap(worn)); note(unwrap(fixed)); note(unwrap(Worn(4))); Wrapped both[] = {worn, std::move(worn)}; note(both[1].v);
    parts();
    parts_of_temporaries();
    constant_results();
    constants::calls(); constants::objects();
}
