// Pointers and references
// To variables, elements and members; of functions, and of classes to members; references as parameters and results.
struct Node { uint32_t value; Node* next = nullptr; };
uint32_t total(const Node* node) { return node ? node->value + total(node->next) : 0; }
uint32_t& larger(uint32_t& a, uint32_t& b) { return a < b ? b : a; }
uint32_t square(uint32_t x) { return x * x; }
struct Sides { uint32_t left, right = 2; };
uint32_t sum(const Sides* all, uint32_t count, uint32_t Sides::* side) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; ++i) found += all[i].*side;
    return found;
}
template <typename C, typename T> T double_of(C& object, T C::* side) { return object.*side *= 2; }
struct Called { uint32_t first = 1; uint32_t (*f)(uint32_t) = square; };
struct Top { uint32_t top = 8; };
struct Both : Sides, Top, Called { uint32_t own = 3; };
struct Bound { int v; constexpr Bound(std::nullptr_t) : v(7) {} constexpr Bound(int n) : v(n) {} };
template <int N> struct Holding { static constexpr Bound fixed = nullptr; Bound own{nullptr}; };
namespace named {
// References by other names, and places that are chosen.
using L=int&; using R=int&&; struct P{int a,b;};
template<class T> struct Wrap{ T v; T get(){ return v; } };
template<class T> T pass(T x){ return x; }
int twice(const int& x){ return 2*x; }
void notes() {
    int x=3,y=4; L l=x; l=7; note(x); (x>y?x:y)=1; note(x); note(y); (y>x?x:y)+=5; note(x*10+y); P p{1,2}; int& q=p.b; q=9; note(p.b); L q2=p.a; q2=8; note(p.a);
 Wrap<int&> w{y}; w.v=6; w.get()++; note(y); Wrap<P&> wp{p}; wp.v.a=11; note(p.a); note(pass<int&>(x)); pass<int&>(x)=17; note(x);
 const L cl=x; cl=3; note(x); volatile int vv=3; volatile int& vr=vv; vr=4; note(vv); (x==3?p.a:p.b)++; note(p.a); ++(x==3?x:y); note(x);
 int arr[3]={1,2,3}; (x?arr[0]:arr[1])=10; note(arr[0]); auto&& z=arr[2]; z=30; note(arr[2]); auto&& e=x+1; e=2; note(e); R k=x+1; k+=2; note(k); note(twice(k)); }
}  // namespace named
namespace constants {
// Constant references to numbers, as results: they see what changes later.
int g=1; const int K=5; const int& f(){ return g; } const int& fixed(){ return K; } auto& deduced(){ const int& r=g; return r; }
int which(int&){ return 1; } int which(const int&){ return 2; } template<class T> int of(T&){ return std::is_const_v<T>?7:8; }
struct S{ int m=4; const int& cr() const { return m; } }; struct V{ int d[2]={1,2}; const int& operator[](int i) const { return d[i]; } };
template<class T> const T& least(const T& a,const T& b){ return b<a?b:a; } const int& either(bool first,const int& a,const int& b){ if(first) return a; return b; }
const int& deep(int n,const int& x){ return n?deep(n-1,x):x; } using F=const int&(*)(const int&); const int& same(const int& x){ return x; } const int& other(const int&){ return g; }
const int* const& held(int i){ static const int* p[2]={&g,nullptr}; return p[i]; } const uint32_t& wide(const uint32_t& x){ return x; }
void notes() {
    const int& r=f(); g=9; note(r); auto&& rr=f(); g=10; note(rr); S s; const auto& m=s.cr(); s.m=8; note(m); const int* p=&f(); g=7; note(*p); note(p==&g); note(fixed());
    auto l=[](const int& a)->const int& { return a; }; int k=1; const int& lr=l(k); k=5; note(lr); V v; const int& q=v[1]; v.d[1]=9; note(q); note(deduced()); const int n=4; int sized[n]={1};
    std::array<int,2> a{1,2}; const std::array<int,2>& c=a; const int& e=c[0]; a[0]=6; note(e); const int* pe=&c[1]; a[1]=3; note(*pe); note(least(n,3)); note(sized[0]+l(6));
    note(std::is_same_v<decltype(f()),const int&>); note(of(f())); note(which(f())); int x=2,y=3; const int& lo=least(x,y); x=1; note(lo); y=0; note(least(x,y)); note(least(x,4));
    const int& ei=either(false,x,y); y=12; note(ei); note(either(true,x,8)); note(deep(3,y)); const int& dp=deep(2,x); x=21; note(dp); F pf=g>6?same:other; note(pf(y)); pf=other; note(pf(y)); note(*held(0)); note(held(1)==nullptr);
    uint8_t narrow=200; note(wide(narrow)); const uint32_t& wd=wide(narrow+1); (void)wd; decltype(auto) z=l(k); k=6; note(z);
    int mx=1,my=2; const int& ma=std::max(mx,my); const int& mi=std::min(mx,my); const auto& same_=std::max(my,my); my=7; mx=3; note(ma); note(mi); note(same_); const int& mv=std::max(mx,9); note(mv); note(std::max(mx,my)); const int& ml=std::min(a[0],a[1]); a[1]=-4; note(ml); }
}  // namespace constants
namespace passed {
// Constant references to numbers, as parameters: they see what the call itself changes.
int g=1; const int& f(){ return g; } struct M{ volatile int n=0; int d=1; const int& get() const { return d; } }; int use(M& m,const int& k){ m.d=5; return k; }
struct C{ int a=1,b=2; void set(const int& k){ a=7; b=k; } C& operator+=(const int& k){ a+=k; b+=k; return *this; } int in(const int& k){ a++; return k; } int go(const int& k){ return in(k)+k; } };
int global(const int& k){ g=20; return k; } template<class T> T other(T& v,const T& k){ v=T(9); return k; } template<class... A> int sum(const A&... a){ g+=5; return (a+...); }
struct Vec{ int d[4]={1,2,3,4}; int n=1; void push(const int& v){ d[0]=50; d[n++]=v; } }; void swap_in(int* p,int n,const int& o,const int& w){ for(int i=0;i<n;i++) if(p[i]==o) p[i]=w; }
enum class E: uint8_t { A, B }; constexpr int T[3]={4,5,6}; constexpr int sq(const int& k){ return k*k; } constexpr int TS=sq(T[1]); int fill_in(int& x,const int& k=g){ x=70; return k; }
int narrow(int& x,const uint8_t& k){ x=900; return k; } int wider(int& x,const long& k){ x=900; return k; } struct Bits{ unsigned a:3; unsigned b:5; }; int bits(Bits& s,const unsigned& k){ s.a=1; return k; }
int at(int*& p,int* o,int* const& k){ p=o; return *k; } int kept(const int& a,int& b){ auto l=[&]{ return a; }; b=9; auto m=[a]{ return a; }; b=10; return l()*100+m(); }
struct H{ const int& r; H(const int& x):r(x){} }; struct K{ const int* p=nullptr; void set(const int& k){ p=&k; } }; const int* last; void keep(const int& x){ last=&x; } std::pair<const int&,int> paired(const int& x){ return {x,1}; }
constexpr int squares(int n){ int s=0; for(int i=0;i<n;i++) s+=sq(i); return s; } template<class F> int after(F first,const int& k){ first(); return k; } struct R{ const int& r; }; R hold(const int& x){ return {x}; } const int* address(const int& x){ return &x; }
using P=int(*)(int&,const int&); int through(int& a,const int& k){ a=55; return k; } int around(int& a,const int& k){ g=56; return k+a; } using Q=int(*)(const int&); int one(const int& k){ g+=3; return k; } int two(const int& k){ return 2*k; }
void notes() {
    M mm; note(use(mm,mm.get())); C c; c.set(c.a); note(c.b); c+=c.a; note(c.a); note(c.b); note(c.go(c.a)); note(global(g)); note(global(f())); int x=3; note(other(x,x)); int y=4; int& ry=y; auto l=[&](const int& k){ y=11; return k; }; note(l(y)); y=5; note(l(ry));
    Vec v; v.push(v.d[0]); note(v.d[1]); int a[4]={1,2,1,1}; swap_in(a,4,a[0],a[1]); for(int e:a) note(e); static int s=6; auto st=[](const int& k){ s=60; return k; }; note(st(s)); note(sum(g,1,f())); note(TS);
    E e=E::A; note(int(other(e,e))); float h=1.5f; note(int(other(h,h)*10)); bool b=false; note(other(b,b)); note(fill_in(y)); note(fill_in(g)); x=8; note(narrow(x,x)); x=8; note(wider(x,x)); Bits bs{5,9}; note(bits(bs,bs.a)); int* p=&y; int* o=&x; note(at(p,o,p)); x=3; note(kept(x,x));
    note(after([&]{ x=30; },x)); R r=hold(g); const int* q=address(f()); g=2; note(r.r); note(*q); note(address(g)==&g); std::array<int,3> ar{3,4,5}; ar.fill(ar[1]); note(ar[0]+ar[2]); auto gl=[&](auto& u,const auto& k){ u=3; return k; }; x=44; note(gl(x,x)); note(gl(x,g));
    std::pair<const int&,int> pr(f(),2); g=12; note(pr.first); std::pair<const int&,const int&> ps{x,g}; x=1; g=13; note(ps.first+10*ps.second); std::pair<int,int> copied(f(),g); g=14; note(copied.first);
    int k=1; H hk(k); k=2; note(hk.r); int k2=1; R rk=hold(k2); k2=4; note(rk.r); int k3=1; K set; set.set(k3); k3=5; note(*set.p); int k4=1; auto ad=address(k4); k4=6; note(*ad); int k5=1; keep(k5); k5=7; note(*last); int k6=1; auto pk=paired(k6); k6=8; note(pk.first);
    int sized[squares(3)]={1}; int total=0; for(int i=0;i<5;i++) total+=sized[0]+sq(i); note(total); constexpr int nine=9; H h9(nine); note(h9.r); const int cells=2; H hc(cells); int more[cells]={hc.r}; note(more[0]); uint32_t u=1; note(squares(4)+sq(int(u))); u++;
    P pf=g>0?through:around; note(pf(x,x)); note(pf(x,3)); pf=around; note(pf(x,g)); x=g; note(pf(x,f())); Q qf=g>6000?two:one; note(qf(g)); note(qf(7)); note(qf(x+1)); qf=two; note(qf(g)); qf=[](const int& k){ g=70; return k; }; note(qf(g)); note(qf(a[2])); }
}  // namespace passed
// Assignments and increments are places.
namespace changed {
struct Counter {
    int n = 1;
    Counter& operator++() { ++n; return *this; }
    int& set(int v) { return n = v; }
};
int& raise(int& a) { return ++a; }
int& add(int& a, int b) { return a += b; }
void notes() {
    int a = 1, t[3] = {1, 2, 3}, i = 0;
    int& last = ++a; a = 3; note(last); const int& seen = (a = 6); a = 8; note(seen);
    int* p = &++a; a = 77; note(*p); auto&& u = --a; a = 5; note(u);
    raise(a) += 10; note(a); add(a, 3) *= 2; note(a);
    int& part = (t[i++] += 5); part *= 2; note(t[0]); note(i); (t[i++] = 4) += 1; note(t[1]); note(i);
    Counter c; c.set(3) += 4; const Counter& same = ++c; c.n = 30; note(same.n); note(c.n);
}
}
namespace counted {
int g = 1;
struct Holder {
    int n = 1;
    int go() { int c = 0; for (int& u = n; u < 9; u += 2) c += n; return c; }
    void down() { for (auto& u = --n; u > 6; --u) note(n); }
};
constexpr int sum(int n) { int s = 0; for (int& u = n; u < 5; u++) s += n; return s * 100 + n; }
static_assert(sum(1) == 1005);
template <class T> void raise(T& n) { for (T& u = ++n; u < 9; u += 2) {} }
void notes() {
    using Ref = uint32_t&;
    uint32_t n = 0, m = 1; int a = 1, t[2] = {};
    for (uint32_t& i = n; i < 5; i++) {} note(n); for (Ref i = n; i < 8; i++) note(n); note(n);
    for (auto&& u = ++m; u < 20; u += 7) note(m); note(m);
    for (int k = 5, &u = a; u < k; ++u) note(a); note(a); for (int& u = a; u < 40; u++) { a *= 2; note(u); }
    for (int& u = g; u < 4; u++) note(g); raise(g); note(g);
    for (int j = 0; j < 2; j++) for (int& u = t[j]; u < 2; u++) note(t[j]); note(t[0] + 10 * t[1]);
    Holder h; note(h.go()); note(h.n); h.down(); note(h.n); note(sum(2)); constexpr int k = sum(3); note(k);
}
}
namespace aggregates {
struct Two { uint32_t& n; uint32_t& m; };
struct Last { int k; const int& seen; };
struct Nested { Two two; int& own; };
struct Based : Two { uint32_t z; };
template <class T> struct Any { T& n; };
void set(Two t, uint32_t v) { t.n = v; t.m += v; }
void notes() {
    uint32_t a = 1, b = 2, c = 3; int k = 4, v = 9, w = 5;
    Two g{a, b}; g.n += 5; g.m = g.n + 3; note(a); note(b); a = 50; note(g.n);
    Two h = {.n = b, .m = a}; h.n++; h.m--; note(a); note(b);
    set({a, c}, 11); note(a); note(c); set(Two{c, c}, 7); note(c);
    Last last{3, k}; k = 40; note(last.seen); Nested nested{{a, b}, v}; nested.two.m = 8; nested.own += 2; note(b); note(v);
    Any<uint32_t> any{c}; any.n = 19; note(c); Any<int> some[2] = {{v}, {w}}; some[1].n = 31; note(w);
    Based based{{a, b}, 5}; based.n = 77; note(a); auto made = Any<int>{k}; made.n++; note(k);
    struct Local { int& q; int f() { return q += 1; } }; Local l{w}; l.f(); note(w);
    int f = 1; Any<int> first{++f}; first.n = 50; note(f); Any<int> then = {f = 3}; then.n++; note(f); Any<int> sum{(f += 1)}; sum.n = 8; note(f);
}
}
namespace given {
struct Holder { int& r; Holder(int& k) : r(++k) {} };
struct Counter { int a = 1; int set(const int& k) { a = 7; return k; } };
int which(int&) { return 1; }
int which(int&&) { return 2; }
int which_const(const int&) { return 1; }
int which_const(int&&) { return 2; }
template <class T> int named(T&&) { return std::is_lvalue_reference_v<T>; }
template <class T> void forward(T&& x) { x = 9; }
template <class... T> void all(T&&... x) { ((x += 10), ...); }
void set(int& x) { x *= 3; }
int g = 1;
int late(const int& k) { g = 20; return k; }
int value(int x, int y) { return x * 100 + y; }
const int* last;
void keep(const int& x) { last = &x; }
int twice(int& x, int by) { x *= by; return x; }
void notes() {
    int a = 1, b = 2, t[3] = {1, 2, 3}, i = 0; set(++a); note(a); set(a = 3); note(a); set(a += 2); note(a);
    set((b++, a)); note(a); note(b); set(t[i++] += 4); note(t[0]); note(i); set(++t[i]); note(t[1]);
    forward(a = 3); note(a); forward(--a); note(a); all(++a, b); note(a); note(b); all(a, b = 3); note(a); note(b);
    note(which(++a)); note(which(a = 3)); note(which(a++)); note(which_const(++a)); note(which_const(a + 1));
    note(named(++a)); note(named(a += 2)); note(named(a++));
    note(late(++g)); g = 1; note(late(g += 1)); Counter c; note(c.set(++c.a)); note(c.set(c.a = 4));
    keep(++a); a = 9; note(*last); keep(a = 3); a = 10; note(*last); note(value(++a, b = 4)); note(a); note(b);
    Holder h(a); h.r = 50; note(a); auto k = [&r = ++a] { return r; }; a = 9; note(k()); auto v = [x = ++a, y = (a = 3)] { return x * 100 + y; }; note(v());
    std::pair<int&, int&> p(++a, b); p.first = 7; note(a); std::tuple<int&> one(a = 3); std::get<0>(one) = 9; note(a); std::tie(++a) = std::make_tuple(20); note(a);
    auto raise = [](auto&& x) { x = 4; }; raise(--a); note(a); int (*f)(int&, int) = twice; note(f(++a, 3)); note(f(t[2] += 1, 2)); note(t[2]);
    uint8_t narrow = 254; note(value(narrow += 3, 1)); note(value(++narrow, 1)); const long& wide = a = 5; note(wide); volatile int w = 1; note(value(++w, 3)); note(value(w = 6, 3));
}
}
// Choices and casts of what acts first, and of two places of numbers.
namespace chosen {
struct S { int n = 1; S& operator+=(int v) { n += v; return *this; } S& operator++() { n++; return *this; } };
struct H { int m = 3; int& pick(bool c, int& o) { return c ? ++m : o; } int& cast() { return static_cast<int&>(m += 2); } };
void set(int& x) { x *= 3; }
int late(const int& k, int& g) { g = 20; return k; }
template <class T> T& choose(bool c, T& a, T& b) { return c ? ++a : --b; }
template <class T> void all(T&& x) { x += 100; }
int by_value(int x) { return x + 1; }
int count = 0; bool next() { return ++count % 2; }
void notes() {
    int a = 1, b = 10, t[3] = {1, 2, 3}, i = 0; uint8_t u8 = 255, v8 = 7; S s, z; H h;
    set(next() ? ++a : b); note(a); note(b); set(next() ? a : (b -= 2)); note(b); note(count);
    set(next() ? t[i++] += 4 : t[2]); note(t[0]); note(i); set(next() ? t[0] : ++t[i++]); note(t[1]); note(i);
    (next() ? s += 4 : z) += 2; note(s.n); note(z.n); (next() ? s : ++z).n = 9; note(z.n); note(s.n); (next() ? ++s : ++z).n *= 5; note(s.n);
    h.pick(true, a) = 50; note(h.m); h.pick(false, a) = 51; note(a); h.cast()--; note(h.m);
    choose(next(), a, b) += 7; choose(next(), a, b) += 8; note(a); note(b);
    (next() ? ++u8 : v8) += 255; note(u8); note(v8); (next() ? u8 : v8 = 4) -= 5; note(u8); note(v8);
    note(late(next() ? ++a : b, a)); note(late(next() ? a : ++b, b)); all(next() ? ++a : b); note(a); note(b); all(a > 0 ? b : --a); note(a); note(b);
    note(by_value(next() ? ++a : b)); note(next() ? ++a : 4); note(next() ? 3 : a = 8); note(a);
    int& r = next() ? (next() ? ++a : ++b) : (i = 1); r = 1000; note(a); note(b); note(i);
    auto&& q = next() ? a : --b; q = 6; note(a); note(b); const int& k = next() ? ++a : b; a = 70; b = 71; note(k);
    int* p = &(next() ? a = 2 : b); *p += 40; note(a); note(b); ++(next() ? ++a : ++b); note(a); note(b); note((next() ? a : ++b)++); note(b);
    (true ? ++a : b) = 3; (false ? ++a : b) = 4; note(a); note(b); for (int j = 0; j < 4; j++) (j & 1 ? ++a : b) += j * 10; note(a); note(b);
    static_cast<int&>(a = 5) += 2; note(a); int& w = (int&)(++a); w = 12; note(a); set(static_cast<int&>(--a)); note(a); note(static_cast<int&>((a, b)));
    const int& kc = static_cast<const int&>(++a); a = 90; note(kc); static_cast<S&>(s += 1).n = 8; note(s.n); (next() ? static_cast<int&>(++a) : b) = 14; note(a); note(b);
    long l = 3; note((next() ? ++a : l)); note(next() ? ++a : l); volatile int vo = 3; vo = (next() ? vo : vo); note(vo);
    auto f = [&](bool c) -> int& { return c ? ++a : b; }; f(true) = 31; f(false) = 32; note(a); note(b); a = next() ? ++b : a; note(a);
}
}
// References to arrays, which look like elements of what a call gives.
namespace of_arrays {
using A = int; struct B { int v; };
namespace n { using C = int; struct D { int v; }; }
template <class T> void f(T (&t)[3]) { T (&u)[3] = t; u[1] = 9; T (*p)(T) = [](T x) { return T(x + 1); }; note(p(3)); }
int twice(A x) { return 2 * x; }
void notes() {
    using L = int; typedef B M; B bs[2] = {{1}, {2}}; int t[3] = {1, 2, 3}; int a = 1;
    L (&r)[3] = t; r[0] = 4; note(t[0]); M (&m)[2] = bs; m[1].v = 7; note(bs[1].v); n::C (&c)[3] = t; c[2]--; note(t[2]);
    f(t); note(t[1]); A (*g)(A) = twice; note(g(4)); L (*h)(L) = twice; note(h(5));
    n::D ds[1] = {}; n::D (&d)[1] = ds; d[0].v = 3; note(ds[0].v);
    int i = 0; t[i++] = 5; note(i); auto k = [&](int* p) -> int* { return p; }; k(&a)[0] = 3; note(a);
    int u[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    int (&row)[2] = u[2]; row[0] = 50; note(u[2][0]); note(u[1][1]);
    const int (&v)[3][2] = u; note(v[2][0] + v[0][1]); int n = 0; for (int x : r) { n += x; } note(n); note(sizeof(r));
    struct H { int m[3][2]; } o{}; uint32_t w[3] = {1}; uint32_t (&rw)[3] = w; rw[2] = 5; note(w[2] + w[0]); int (&rm)[2] = o.m[1]; rm[1] = 8; note(o.m[1][1]); int (&all)[3][2] = o.m; all[2][0] = 6; note(o.m[2][0]);
}
}
namespace converted {
// A constant reference to another type refers to what its value converts to.
struct H { const double& d; const int64_t& i; const uint32_t& u; const long& l; }; struct K { const int& s; };
uint32_t counter = 5; const int& signed_counter = counter; const double& half = 0.5f;
int by(const uint8_t& c, char& a) { a = 5; return c; } int by(const long& c, int& a) { a = 5; return c; }
void notes() {
    float f = 4; int n = 4; int8_t s = 4; H h{f, n, (uint32_t)n, n}; K k{.s = s}; f = 5; n = s = 6; note(h.d); note(h.i); note(h.u); note(h.l); note(k.s);
    H literals{2, 3, 4u, 5}; note(literals.d); note(literals.i + literals.u + literals.l); counter = 7; note(signed_counter); note(half * 2);
    char c = 1; note(by(c, c)); n = 1; note(by(n, n)); const uint8_t& byte = c; c = 9; note(byte); const long& wide = n; const int& same = n; n = 77; note(wide); note(same);
}
}
void kernel_main() {
    converted::notes(); chosen::notes(); of_arrays::notes(); counted::notes(); given::notes(); aggregates::notes(); constants::notes(); passed::notes();
    Sides sides[] = {{3, 4}, {5}};
    note(sum(sides, 2, &Sides::left)); note(sum(sides, 2, &Sides::right));
    uint32_t Sides::* side = &Sides::left; (*sides).*side += 20; note(double_of(sides[0], side));
    Both both; both.left = 6; auto at_top = &Both::top; uint32_t Both::* at_right = &Both::right; auto at_own = &Both::own;
    note(both.*at_top); note(both.*at_right); note(both.*at_own); both.*at_top = 50; note(both.top); note(both.own);
    auto called = &Called::f; note((both.*called)(7)); note(((*&both).*called)(8));
    Node last{3}, first{4, &last};
    note(total(&first));
    uint32_t a = 5, b = 6;
    larger(a, b) = 1; larger(a, b) += 10;
    note(a); note(b);
    uint32_t* const pointer = &first.next->value; *pointer = 40; note(last.value);
    uint32_t** which = nullptr; uint32_t* p = &a; which = &p; **which = 7; note(a);
    uint32_t (*function)(uint32_t) = square; note(function(9));
    const uint32_t& copy = a + 1; a = 0; note(copy);
    uint32_t numbers[4] = {1, 2, 3, 4};
    uint32_t *low = numbers, *high = &numbers[3], plain = 7, &other = plain;
    other += *low + *high; note(plain);
    for (uint32_t *i = numbers, *e = numbers + 4; i != e; ++i) note(*i);
    Holding<3> holding; note(holding.own.v); note(Holding<1>::fixed.v); Bound null(nullptr); note(null.v); Bound three = 3; note(three.v);
    named::notes(); changed::notes();
}
