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
void kernel_main() {
    constants::notes();
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
    named::notes();
}
