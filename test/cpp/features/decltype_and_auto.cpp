// Types of expressions
// `decltype`, `auto` results, trailing results, members of types with template arguments.
template <uint32_t Start> struct Args {
    static constexpr uint32_t next() { return Start + 2; }
};
auto widen(uint32_t x) -> uint64_t { return (uint64_t)x << 8; }
int unused();
void of_places() {
    int a = 1, list[2] = {3, 4}; float b = 2; int* p = list;
    decltype(a, b) c = b; c = 8; note(b); decltype(a, 3) d = 4; note(d); decltype((a)) e = a; e = 6; note(a);
    decltype(list[1]) f = list[1]; f = 9; note(list[1]); decltype(*p) g = *p; ++g; note(list[0]); decltype(e) h = e; h = 2; note(a);
    note(std::is_same_v<decltype(a, b), float&>); note(std::is_same_v<decltype(a, 3), int>); note(std::is_same_v<decltype(unused(), b), float&>);
    note(std::is_same_v<decltype((a)), int&>); note(std::is_same_v<decltype(a = 3), int&>); note(std::is_same_v<decltype(++a), int&>);
    note(std::is_same_v<decltype(a++), int>); note(std::is_same_v<decltype(a ? a : a), int&>); note(std::is_same_v<decltype(a ? a : 1), int>);
    note(std::is_same_v<decltype((void)0, a), int&>);
}
template <typename... T> auto all(T... x) -> decltype((x + ...)) { return (x + ...); }
template <typename T, typename U> auto multiply(const T& a, U b) -> decltype(a * b) { return a * b; }
template <typename T> auto first_of(T&& x) -> decltype(x[0] + 0) { return x[0]; }
auto half(uint32_t x) -> decltype(widen(x)) { return widen(x) / 2; }
struct Held { uint16_t v; auto get() -> decltype(v) { return v; } };
void of_parameters() {
    uint32_t row[2] = {4, 5}; Held held{6}; note(all(1, 2, 3)); note(2 * all(1, 2.5f)); note(2 * multiply(2, 1.25f)); note(sizeof(multiply(uint8_t(1), uint8_t(1))));
    note(first_of(row)); note(sizeof(half(1))); note(half(8)); note(sizeof(held.get())); decltype(row[0], held.v) last = held.v; last = 3; note(held.v);
}
namespace referring {
// Types tell `T&&` from `T`; what `decltype(auto)` gives.
using R=int&&; using L=int&; using CR=const int&;
struct H{ R r; L l; };
template<class T> int kind(){ if constexpr(std::is_same_v<T,int>) return 0; else if constexpr(std::is_same_v<T,int&>) return 1; else if constexpr(std::is_same_v<T,int&&>) return 2; else if constexpr(std::is_same_v<T,const int&>) return 3; else return 4; }
template<class T> struct K{ static constexpr int v=0; }; template<class T> struct K<T&>{ static constexpr int v=1; }; template<class T> struct K<T&&>{ static constexpr int v=2; }; template<class T> struct K<const T&>{ static constexpr int v=3; };
template<class T> int fwd(T&& t){ return kind<T>()*10+kind<T&&>(); }
template<class T> int byref(T& t){ return kind<T>(); }
int f(R r){ return r+1; }
R g(int& x){ return static_cast<R>(x); }
int& h(int& x){ return x; }
auto dd(int& x)->decltype(auto){ return (x); }
decltype(auto) de(int& x){ return h(x); }
decltype(auto) df(int& x){ return x; }
decltype(auto) dg(int x){ return x; }
template<class... T> int kinds(T&&... t){ return (kind<T>()+...); }
template<class T> using Add=T&&;
template<class T> struct Hold{ T t; };
void notes() {
    int x=3; const int c=4; R r=5; r=6; note(r); L l=x; l=7; note(x); CR cr=x; note(cr);
 H hh{std::move(x),x}; hh.r=9; note(x); note(kind<decltype(hh.r)>()); note(kind<decltype((hh.r))>()); note(kind<decltype(hh.l)>());
 note(kind<R>()); note(kind<L>()); note(kind<CR>()); note(kind<R&>()); note(kind<L&&>()); note(kind<R&&>()); note(kind<Add<int>>()); note(kind<Add<int&>>());
 note(K<int>::v); note(K<int&>::v); note(K<int&&>::v); note(K<const int&>::v); note(K<R>::v); note(K<L>::v); note(K<decltype((x))>::v); note(K<decltype(std::move(x))>::v);
 note(fwd(x)); note(fwd(5)); note(fwd(c)); note(fwd(std::move(x))); note(byref(x)); note(byref(c));
 note(f(8)); note(f(std::move(x))); note(g(x)); note(kind<decltype(g(x))>()); note(kind<decltype(h(x))>()); note(kind<decltype(dd(x))>());note(kind<decltype(de(x))>());note(kind<decltype(df(x))>()); note(kind<decltype(dg(x))>());
 de(x)=12; note(x); dd(x)=13; note(x);
 note(kinds(x,5,std::move(x)));
 note(std::is_same_v<std::add_rvalue_reference_t<int>,int&&>); note(std::is_same_v<std::add_rvalue_reference_t<int&>,int&>); note(std::is_same_v<std::add_lvalue_reference_t<int&&>,int&>); note(std::is_same_v<std::remove_cvref_t<const int&&>,int>); note(std::is_same_v<std::decay_t<int(&)[3]>,int*>); note(std::is_same_v<std::remove_const_t<const int&>,const int&>);
 note(std::is_rvalue_reference_v<R>); note(std::is_reference_v<int>); note(std::is_integral_v<int&>); note(std::is_same_v<const L,int&>); note(std::is_pointer_v<int*&>); note(std::is_same_v<std::common_type_t<int,long long>,long long>);
 Hold<int&> ho{x}; ho.t=21; note(x); Hold<R> hr{std::move(x)}; hr.t=22; note(x); note(kind<decltype(ho.t)>()); note(kind<decltype(hr.t)>());
 auto lam=[](auto&& a){ return kind<decltype(a)>(); }; note(lam(x)); note(lam(3)); note(lam(c));
 decltype(auto) q=(x); q=31; note(x); decltype(auto) q2=x; q2=32; note(x); auto&& q3=x; q3=33; note(x); auto&& q4=5; note(kind<decltype(q4)>()); note(kind<decltype(q3)>());
 std::tuple<int&&> tr(std::move(x)); std::get<0>(tr)=41; note(x); note(kind<std::tuple_element_t<0,decltype(tr)>>()); auto fa=std::forward_as_tuple(x,3); note(kind<std::tuple_element_t<0,decltype(fa)>>()); note(kind<std::tuple_element_t<1,decltype(fa)>>());
 note(std::is_same_v<decltype(std::tie(x)),std::tuple<int&>>); note(std::is_same_v<decltype(std::make_tuple(x)),std::tuple<int&>>);
}
}  // namespace referring
void kernel_main() {
    constexpr auto first = Args<1>();
    constexpr auto second = Args<first.next()>();
    note(Args<decltype(second)::next()>::next());
    decltype(widen(1)) wide = widen(0x1000000);
    note(wide >> 8); note(sizeof(wide));
    of_places();
    of_parameters();
    referring::notes();
}
