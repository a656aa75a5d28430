// Pointers to members
// Chosen while a kernel runs: of variables and of functions, `.*` and `->*`, in tables, members, arguments and results.
struct Pair {
    uint32_t a, b;
    uint32_t sum(uint32_t x) { return a + x; }
    uint32_t product(uint32_t x) { return b * x; }
    uint32_t less(uint32_t x) const { return b - x; }
    void set(int) { a = 99; }
};
using Function = uint32_t (Pair::*)(uint32_t);
using Constant = uint32_t (Pair::*)(uint32_t) const;
using Member = uint32_t Pair::*;
uint32_t call(Pair& s, uint32_t (Pair::*m)(uint32_t), uint32_t x) { return (s.*m)(x); }
uint32_t get(const Pair& s, uint32_t Pair::* m) { return s.*m; }
uint32_t call_constant(const Pair& s, uint32_t (Pair::*m)(uint32_t) const) { return (s.*m)(1); }
struct Operation { Function function = &Pair::sum; Member member = nullptr; };
Function choose(int i) { if (i == 0) return nullptr; return i == 1 ? &Pair::sum : &Pair::product; }
Member member(int i) { switch (i) { case 0: return &Pair::a; case 1: return &Pair::b; } return nullptr; }
template <typename C, typename R, typename... A> R apply(C& c, R (C::*f)(A...), A... a) { return (c.*f)(a...); }
template <typename C, typename T> T& refer(C& c, T C::* m) { return c.*m; }
template <typename F> uint32_t generic(Pair& s, F f) { return (s.*f)(5); }
template <Function f> uint32_t fixed(Pair& s) { return (s.*f)(6); }
struct Base { int x = 1, y = 2; int get() { return x; } };
struct Derived : Base {
    int z = 3;
    int own() { return z; }
    int twice() { return z * 2; }
    int (Derived::*act)() = &Derived::own;
    int run() { return (this->*act)(); }
};
template <typename T> struct Two { T a; T b; };
void of_temporaries() { int Two<int>::*p = &Two<int>::b; note((Two<int>{1, 2}.*p)); note(Two<int>{3, 4}.*p); }
void kernel_main() {
    Pair s{3, 4}; Pair* t = &s;
    for (int i = 0; i < 3; ++i) {
        Function f = choose(i); Member m = member(i);
        note(f == nullptr); note(m ? s.*m : 1000); note(f ? (t->*f)(i) : 0);
        if (m) { refer(s, m) += 5; note(get(s, m)); t->*m -= 1; }
        if (i) note(apply(s, f, 3u));
        uint32_t (Pair::*table[])(uint32_t) = {&Pair::sum, &Pair::product}; note((s.*table[i % 2])(1));
        Member members[] = {&Pair::b, &Pair::a}; note(s.*members[i % 2] + 2 * s.*members[0]); note(members[0] == m);
    }
    note(call(s, &Pair::sum, 1)); note(call(s, &Pair::product, 2)); note(get(s, &Pair::a));
    note(call_constant(s, &Pair::less)); note(apply(s, &Pair::product, 7u));
    note(generic(s, &Pair::less)); note(fixed<&Pair::sum>(s));
    Function f = &Pair::sum; note(f == &Pair::sum); f = &Pair::product; note((s.*f)(2));
    auto known = &Pair::less; Constant c = known; note((s.*c)(1) + (s.*known)(2));
    void (Pair::*set)(int) = &Pair::set; (s.*set)(1); note(s.a);
    auto lambda = [&](Function q) { return ((&s)->*q)(3); }; note(lambda(&Pair::sum)); note(lambda(f));
    Operation operation; note((s.*operation.function)(1)); operation = {f, &Pair::b}; note((s.*operation.function)(1)); note(s.*operation.member);
    Derived d; int Base::* p = &Derived::y; note(d.*p);
    for (int i = 0; i < 3; ++i) {
        int Derived::* q = i == 0 ? &Derived::z : i == 1 ? (int Derived::*)&Base::x : &Derived::y; note(d.*q);
        int (Derived::*g)() = &Derived::own;
        if (i == 1) g = &Base::get;
        if (i == 2) g = &Derived::twice;
        note((d.*g)()); d.act = g; note(d.run());
    }
    of_temporaries();
}
