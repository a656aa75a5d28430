// Types of functions
// `using f = R(A)`, pointers and references to functions, which choose overloads, templates and lambdas.
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
void kernel_main() {
  call(one, 1); call2(&two, 2); call3(one, 4); call4(one, 8); call5(two); call5(any);
  fn& r = two; r(10); fn* p = one; p(20); fp q = &two; (*q)(1); const fp s = one; s(2.5f);
  maker* m = make; note(m(1.5f, 3)); uint32_t (&n)(float, const uint8_t&) = make; note(n(2.5f, 4));
  note(pick(two)); note(pick(make)); note(gen(make)); note(apply(twice, 7.0f, uint8_t(3)));
  all(two, uint32_t(5)); fixed<two>(); fixed2<&one>(); Once().run<two>();
  auto t = static_cast<void (*)(uint32_t)>(one); t(2.5f); auto l = [](uint32_t x) { note(x + 70); }; call(l, 6); fp u = l; u(4);
  void (*v)(uint8_t) = any; v(255); void (*w)(float) = any<float>; w(2);
  static_assert(std::is_function_v<fn> && !std::is_function_v<fp>);
}
