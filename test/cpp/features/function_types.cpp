// Types of functions
// `using f = R(A)`, pointers and references to functions, which choose overloads, templates and lambdas; tables of functions, members and results that are chosen while the kernel runs.
using fn = void(uint32_t);
typedef uint32_t maker(float, const uint8_t&);
using fp = void (*)(uint32_t);
void one(uint32_t x) { note(x + 1); }
void two(uint32_t x) { note(x + 2); }
uint32_t one(float x) { note(x + 7); return 2; }
uint32_t make(float x, const uint8_t& y) { return x * y; }
template <typename T> void any(T x) { note(sizeof(x)); note(x * 3); }
void call(fn f, uint32_t x) { f(x); }
void call2(fn* f, uint32_t x) { f(x); (*f)(x); }
void call3(fn& f, uint32_t x) { f(x); }
void call4(uint32_t (&f)(float), float x) { note(f(x)); }
void call5(fp f) { f(3.75f); }
uint32_t pick(void (*f)(uint32_t)) { f(1); return 1; }
uint32_t pick(uint32_t (*f)(float, const uint8_t&)) { return f(2.5f, 4); }
template <typename F> uint32_t gen(F& f) { return f(3, 4); }
template <typename R, typename... A> R apply(R (&f)(A...), A... a) { return f(a...); }
uint32_t twice(float a, uint8_t b) { return a * b; }
template <typename... A> void all(void (*f)(A...), A... a) { f(a...); }
template <fn F> void fixed() { F(40); }
template <fp F> void fixed2() { F(50); }
struct Once { fp* none = nullptr; template <fp F> void run() { F(60); } };
uint32_t next(uint32_t x) { return x + 1; }
uint32_t doubled(uint32_t x) { return x * 2; }
using step = uint32_t (*)(uint32_t);
step late;
constexpr step fixed_steps[] = {next, doubled, nullptr};
auto choose(bool other) -> uint32_t (*)(uint32_t) { return other ? doubled : next; }
uint32_t (*choose_by(int n))(uint32_t) { if (n == 1) return next; return n == 2 ? &doubled : nullptr; }
struct Item { uint32_t (*f)(uint32_t); uint32_t n; uint32_t run() const { return f(n); } };
struct Pair { uint32_t a, b; };
Pair turned(Pair p) { return {p.b, p.a}; }
Pair raised(Pair p) { p.a++; return p; }
uint32_t& left(Pair& p) { return p.a; }
uint32_t& right(Pair& p) { return p.b; }
void add_to(uint32_t& sum, const uint32_t& x, uint32_t* last, Pair&& p) { sum += x + p.a; *last = x; }
void multiply(uint32_t& sum, const uint32_t& x, uint32_t* last, Pair&& p) { sum *= x + p.b; last[1] = x; }
void turn(step& f) { f = f == doubled ? next : doubled; }
uint32_t twice_by(step f, uint32_t x) { uint32_t y = f(x); f = doubled; return f(y); }
uint32_t down(uint32_t n) { return n == 0 ? 0 : 1 + choose(n % 2)(n - 1) % 7 + choose_by(1)(n); }
void chosen_late() {
  step p = next, table[] = {doubled, [](uint32_t x) { return x + 7; }, +[](uint32_t x) { return x * 9; }};
  for (int i = 0; i < 3; i++) { note(p(i)); p = table[i]; note((*p)(20)); note(choose(i & 1)(i)); step q = choose_by(i); note(q ? q(5) : 99); }
  note(fixed_steps[1](4)); note(fixed_steps[2] == nullptr); note(late == nullptr); late = next; note(late(3)); turn(late); note(late(3)); turn(late); note(late(3));
  Item items[] = {{next, 4}, {doubled, 5}}; for (auto& x : items) { note(x.run()); note(x.f(x.n + 1)); } items[0].f = doubled; note(items[0].run()); Item* at = &items[1]; note((at->f)(6));
  Pair (*g)(Pair) = turned; Pair o{1, 2}; for (int i = 0; i < 2; i++) { Pair r = g(o); note(r.a); note(r.b); g = raised; }
  uint32_t& (*h)(Pair&) = left; h(o) = 20; h = right; h(o) += 30; note(o.a); note(o.b);
  uint32_t sum = 3, last[2] = {0, 0}; auto m = add_to; for (int i = 0; i < 2; i++) { m(sum, 5, last, Pair{2, 6}); note(sum); note(last[i]); m = multiply; }
  note(twice_by(next, 4)); note(twice_by(table[2], 4)); note(down(5)); uint32_t i = 1; table[i](2); note(table[i](2)); std::array<decltype(&next), 2> both{next, doubled}; for (auto f : both) note(f(30)); std::swap(both[0], both[1]); note(both[0](8)); note(sizeof(both[0]) == sizeof(p));
}
int by_reference(uint32_t (&f)(uint32_t), int x) { return f(x) + 5; }
int by_reference2(uint32_t (&f)(uint32_t), int x) { return f(x) * 10; }
void functions_by_reference() {
  int (*p)(uint32_t (&)(uint32_t), int) = by_reference;
  for (int i = 0; i < 3; i++) { note(p(next, i)); note(p(doubled, 4)); p = by_reference2; }
}
uint32_t asked(uint32_t (*f)(uint32_t), uint32_t x) { return f ? f(x) : 77; }
uint32_t plus_one(uint32_t x) { return x + 1; }
void kernel_main() {
    note(asked(&plus_one, 3)); note(asked(nullptr, 3)); note(!asked);
  chosen_late(); functions_by_reference();
  call(one, 1); call2(&two, 2); call3(one, 4); call4(one, 8); call5(two); call5(any);
  fn& r = two; r(10); fn* p = one; p(20); fp q = &two; (*q)(1); const fp s = one; s(2.5f);
  maker* m = make; note(m(1.5f, 3)); uint32_t (&n)(float, const uint8_t&) = make; note(n(2.5f, 4));
  note(pick(two)); note(pick(make)); note(gen(make)); note(apply(twice, 7.0f, uint8_t(3)));
  all(two, uint32_t(5)); fixed<two>(); fixed2<&one>(); Once().run<two>();
  auto t = static_cast<void (*)(uint32_t)>(one); t(2.5f); auto l = [](uint32_t x) { note(x + 70); }; call(l, 6); fp u = l; u(4);
  void (*v)(uint8_t) = any; v(255); void (*w)(float) = any<float>; w(2);
  static_assert(std::is_function_v<fn> && !std::is_function_v<fp>);
}
