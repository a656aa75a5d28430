// Lambdas
// Captures by value and by reference, initial values, generic parameters, calls at once.
template <typename F> void repeat(uint32_t n, F&& f) {
    for (uint32_t i = 0; i < n; ++i) { f(i); }
}
struct Noted { int v; Noted(int v) : v(v) {} Noted(const Noted& o) : v(o.v) { note(2000 + v); } ~Noted() { note(6000 + v); } };
struct Self {
    int v;
    Self(int v) : v(v) {}
    Self(const Self& o) : v(o.v) { note(2000 + v); }
    ~Self() { note(6000 + v); }
    int twice() const { return 2 * v; }
    auto copy() { return [*this]() { return v + twice(); }; }
    auto change() { return [*this]() mutable { v++; return v; }; }
    auto both(int k) { return [=, *this](int m) { return k + v + m; }; }
};
namespace kept {
// Captures, overloads of lambdas, and lambdas with template parameters.
template<class F> int twice(F f,int x){ return f(f(x)); } auto adder(int n){ return [n](int x){ return x+n; }; }
auto counter(){ return [c=0]() mutable { return ++c; }; } template<class...F> struct over:F...{ using F::operator()...; }; template<class...F> over(F...)->over<F...>;
struct Acc{ int t=0; auto bind(){ return [this](int v){ t+=v; return t; }; } auto copy(){ return [*this](int v) mutable { t+=v; return t; }; } };
void notes() {
    int base=10; auto f=[&](int x){ base+=x; return base; }; note(f(1)); note(base); note(twice(adder(3),4)); auto c=counter(); c(); note(c()); auto d=c; note(d()); note(c()); over o{[](int x){return x;},[](float x){return int(x*2);},[](const char*){return -1;}}; note(o(3)); note(o(2.5f)); note(o("x")); Acc a; auto b=a.bind(); b(5); note(b(6)); note(a.t); auto k=a.copy(); k(1); note(k(2)); note(a.t);
 auto fact=[](auto self,int n)->int{ return n<2?1:n*self(self,n-1); }; note(fact(fact,6)); auto g=[](auto...x){ return (x*...); }; note(g(2,3,4)); int (*p)(int)=[](int x){ return x*x; }; note(p(7)); auto curry=[](int x){ return [x](int y){ return [x,y](int z){ return x*100+y*10+z; }; }; }; note(curry(1)(2)(3)); auto m=[v=std::array<int,3>{4,5,6}](size_t i){ return v[i]; }; note(m(2)); const auto n=[&base]{ return base*2; }; base=4; note(n()); [&]{ base++; }(); note(base); auto tmpl=[]<class T>(T x){ return sizeof(T); }; note(tmpl(uint16_t(1))); }
}  // namespace kept
void kernel_main() {
    uint32_t total = 0;
    repeat(5, [&](uint32_t i) { total += i; });
    auto add = [total, scale = 3](auto x) { return x * scale + total; };
    note(total); note(add(2u)); note([](uint32_t x) { return x + 1; }(4));
    int two[2] = {1, 2}; auto had = [two]() { return two[0] + two[1] * 10; }; two[0] = 5; note(had());
    auto counts = [=]() mutable { two[0]++; return two[0]; }; note(counts()); auto counted = counts; note(counts()); note(counted()); note(two[0]);
    Noted pair[2] = {3, 4}; { auto second = [pair]() { return pair[1].v; }; pair[1].v = 9; note(second()); auto again = second; note(again()); }
    auto nested = [&]() { auto inner = [=]() { return two[1]; }; two[1] = 7; return inner(); }; note(nested());
    Self self(3); { auto copy = self.copy(); self.v = 50; note(copy()); auto other = copy; note(other()); }
    auto change = self.change(); note(change()); note(change()); note(self.v); note(self.both(1)(2));
    int k = 3; auto init = [=, m = k + 1]() mutable { m++; return m * 10 + k; }; note(init()); note(init()); auto ref = [&, k = 2 * k]() { total += k; return k; }; note(ref()); note(total);
    kept::notes();
}
