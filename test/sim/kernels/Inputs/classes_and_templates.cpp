struct Point { uint32_t x = 1; uint32_t y; 
  uint32_t sum() const { return x + y; }
  void scale(uint32_t k) { x *= k; y *= k; }
  static constexpr uint32_t dims = 2;
  static uint32_t twice(uint32_t v) { return 2 * v; }
};
class Counter { public: explicit Counter(uint32_t s, uint32_t step = 3) : value(s), step_(step) { value += 1; }
  uint32_t next() { value += step_; return value; }
  Counter& operator+=(uint32_t n) { value += n; return *this; }
  uint32_t& ref() { return value; }
  operator bool() const { return value > 10; }
 private: uint32_t value; uint32_t step_;
};
template <typename T, uint32_t N = 4> struct Buf { T data[N]; T& operator[](uint32_t i) { return data[i]; } 
  constexpr uint32_t size() const { return N; } template <typename U> U as(uint32_t i) { return (U)data[i]; } };
template <typename T> struct Traits { static constexpr uint32_t id = 1; };
template <> struct Traits<uint16_t> { static constexpr uint32_t id = 2; };
template <typename T> struct Traits<T*> { static constexpr uint32_t id = 10 + Traits<T>::id; };
template <typename T = uint32_t, bool Z = true> T f(T a) { if constexpr (Z) { return a + 1; } else { return nothing(a); } }
template <typename... A> uint32_t total(A... a) { return (a + ... + 0); }
template <typename F> void each(uint32_t n, F f) { for (uint32_t i = 0; i < n; ++i) { f(i); } }
constexpr uint32_t cube(uint32_t n) { uint32_t r = 1; for (uint32_t i = 0; i < 3; ++i) { r *= n; } return r; }
template <typename D> struct Base { uint32_t run() { return static_cast<D*>(this)->impl() + 100; } };
struct Derived : Base<Derived> { uint32_t k = 7; uint32_t impl() { return k; } };
uint32_t ov(int a) { return 1; } uint32_t ov(float a) { return 2; } template <typename T> uint32_t ov(T* p) { return 3; }
enum class E : uint8_t { A = 1, B = 2 };
namespace a::b { inline uint32_t g() { return 5; } }
namespace ab = a::b;
void kernel_main() {
  Point p{2, 3}; p.scale(2); note(p.sum()); note(Point::dims); note(Point::twice(4)); note(p.x);
  Counter c(5); note(c.next()); c += 4; c += 1; note(c.ref()); c.ref() = 50; note(c.next()); if (c) note(77);
  Buf<uint32_t> b = {1, 2, 3, 4}; b[2] = 9; note(b[2]); note(b.size()); note(b.as<uint8_t>(1)); note(b.template as<int>(3));
  note(Traits<int>::id); note(Traits<uint16_t>::id); note(Traits<uint16_t*>::id);
  note(f(3u)); note(f<uint16_t>(65535)); note(total(1, 2, 3)); note(total());
  uint32_t acc = 0; each(5, [&](uint32_t i) { acc += i; }); note(acc);
  auto add = [acc, k = 3](auto x) { return x + acc + k; }; note(add(2u));
  constexpr uint32_t n = cube(3); uint32_t arr[cube(2)]; note(sizeof(arr)); note(n);
  Derived d; note(d.run());
  note(ov(1)); note(ov(1.5f)); note(ov(&acc));
  note(ab::g()); note(static_cast<uint32_t>(E::B)); note(acc > 3 and not (acc < 1));
  union { float f; uint32_t u; } un; un.f = 1.5f; note(un.u); un.u = 0x40000000; note((uint32_t)un.f);
  std::array<uint32_t, 3> sa = {4, 5, 6}; uint32_t s = 0; for (auto x : sa) s += x; note(s); note(sa[1]); note(sa.size());
  const auto [q, r] = std::make_pair(3u, 4u); note(q * 10 + r);
  auto tup = std::make_tuple(1u, 2u, 3u); note(std::get<2>(tup)); auto [t0, t1, t2] = tup; note(t1);
  note(std::is_same_v<uint32_t, uint32_t>); note(std::is_same<int, float>::value);
  std::conditional_t<true, uint8_t, int> w = 300; note(w);
  constexpr auto lut = [] { std::array<uint32_t, 4> t{}; for (uint32_t i = 0; i < 4; ++i) t[i] = i * i; return t; }();
  static_assert(lut[3] == 9); note(lut[2]);
  asm volatile("nop"); uint32_t z{5}; note(z); for (uint32_t i = 0, j = 5; i < j; ++i, --j) note(i + j);
  uint32_t m[2][3] = {{1, 2, 3}, {4, 5, 6}}; for (auto& row : m) for (auto& v : row) v += 1; note(m[1][2]);
  if (uint32_t v = acc; v > 5) note(v);
  note(std::apply([](auto... xs) { return (xs + ...); }, tup));
  std::swap(s, acc); note(s);
}
