namespace std_like { template <typename T> struct wrap { T v; explicit constexpr wrap(T x) : v(x) {} constexpr T get() const { return v; } }; }
template <uint32_t A, uint32_t B = A * 2> struct Args { static constexpr uint32_t next() { return A + B; } static constexpr uint32_t base = A; };
struct Vec { uint32_t x, y; Vec operator+(const Vec& o) const { return {x + o.x, y + o.y}; } bool operator==(const Vec& o) const { return x == o.x && y == o.y; }
  Vec& operator++() { ++x; return *this; } Vec operator++(int) { Vec old = *this; ++x; return old; } friend Vec operator*(const Vec& a, uint32_t k) { return Vec{a.x * k, a.y * k}; } };
inline Vec operator-(const Vec& a, const Vec& b) { return Vec{a.x - b.x, a.y - b.y}; }
struct Range { uint32_t n; struct It { uint32_t i; uint32_t operator*() const { return i; } It& operator++() { ++i; return *this; } bool operator!=(const It& o) const { return i != o.i; } };
  It begin() const { return It{0}; } It end() const { return It{n}; } };
template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>> uint32_t kind(T) { return 1; }
template <typename T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0> uint32_t kind(T) { return 2; }
template <typename T> uint32_t only(T t) { if constexpr (std::is_same_v<T, uint16_t>) { return t + 1; } else if constexpr (std::is_same_v<T, float>) { return (uint32_t)t; } else { static_assert(sizeof(T) > 0); return 99; } }
template <auto F> uint32_t callf(uint32_t x) { return F(x); }
uint32_t dbl(uint32_t x) { return 2 * x; }
struct Sum { uint32_t sum; Sum(uint32_t a, uint32_t b) : sum(a + b) {} };
template <typename T> struct Held { struct Pair { uint32_t a, b; }; };
template <typename T, typename P = const uint32_t*> struct Pointed { P place; T step; uint32_t get() const { return place[step]; } };
uint32_t join(std::optional<Sum> a, const Held<int>::Pair& b) { return (a ? a->sum : 7) * b.a + b.b; }
template <bool P, typename T> struct Part;
template <typename T> struct Part<true, T> { uint32_t size() const; T twice(T x) const; };
template <typename T> struct Part<false, T> { uint32_t size() const { return 1; } T twice(T) const; };
template <typename T> uint32_t Part<true, T>::size() const { return sizeof(T); }
template <typename T> T Part<true, T>::twice(T x) const { return 2 * x; }
template <typename T> T Part<false, T>::twice(T x) const { return x; }
template <uint32_t (*F)(uint32_t)> uint32_t callp(uint32_t x) { return F(x) + 1; }
template <typename... Ts> struct List { static constexpr uint32_t size = sizeof...(Ts); };
template <uint32_t... Is> uint32_t pick(std::integer_sequence<uint32_t, Is...>) { return ((Is + 1) * ...); }
template <size_t... Is> uint32_t idx(std::index_sequence<Is...>) { uint32_t r = 0; ((r = r * 10 + Is), ...); return r; }
template <typename T, uint32_t N> uint32_t len(const T (&a)[N]) { return N; }
template <typename T, size_t N> constexpr uint32_t sum_of(const std::array<T, N>& a) { uint32_t s = 0; for (const auto& v : a) s += v; return s; }
struct Holder { uint32_t& r; Holder(uint32_t& x) : r(x) {} void add(uint32_t n) { r += n; } };
struct Fetch { uint32_t i = 0; template <typename T> T next() { return static_cast<T>(get(i++)); } uint32_t get(uint32_t k) const { return k * 100 + 300; } };
struct Mid : Vec { uint32_t z; Mid(uint32_t a) : Vec{a, a + 1}, z(a + 2) {} uint32_t all() const { return x + y + z; } };
struct U2 { union { float f; uint32_t u; struct { uint16_t lo, hi; } h; }; uint8_t tag; };
struct Static { static uint32_t count; static void bump() { ++count; } };
uint32_t Static::count = 3;
enum class Flag : uint32_t { None = 0, A = 1, B = 2 };
constexpr Flag operator|(Flag a, Flag b) { return static_cast<Flag>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b)); }
template <typename F> struct Guard { F f; explicit Guard(F g) : f(g) {} uint32_t go() { return f(); } };
template <typename T> constexpr bool is_small = sizeof(T) <= 2;
template <typename T> using Ptr = T*;
template <bool B> struct Pick { using type = uint8_t; }; template <> struct Pick<true> { using type = uint32_t; };
class Acc { public: Acc() = default; Acc& add(uint32_t v) { s += v; return *this; } uint32_t get() const { return s; } private: uint32_t s = 5; };
uint32_t defaults(uint32_t a, uint32_t b = 2, uint32_t c = dbl(3)) { return a * 100 + b * 10 + c; }
void outer(uint32_t& r, uint32_t&& v) { r += v; }
template <typename T> void fwd(T&& t) { t += 1; }
auto trailing(uint32_t a) -> uint64_t { return (uint64_t)a << 32; }
void kernel_main() {
  note(std_like::wrap<uint32_t>(4).get()); constexpr std_like::wrap<uint32_t> w(6); constexpr uint32_t wv = w.get(); uint32_t arr[wv]; note(sizeof(arr));
  constexpr auto args = Args<3>(); note(Args<args.next()>::base); note(Args<decltype(args)::next()>::next());
  Vec a{1, 2}, b{3, 4}; Vec c = a + b; note(c.x); note((b - a) == Vec{2, 2}); note((a * 5).y); ++c; note(c.x); Vec o = c++; note(o.x); note(c.x);
  uint32_t s = 0; for (auto i : Range{5}) s += i; note(s); Range rg{3}; for (const auto i : rg) { if (i == 1) continue; s += i; } note(s);
  note(kind(3)); note(kind(2.5f)); note(only<uint16_t>(4)); note(only(2.5f)); note(only('c'));
  note(callf<dbl>(4)); note(callp<dbl>(4)); note(callp<&dbl>(5)); note(List<int, float, char>::size);
  note(pick(std::integer_sequence<uint32_t, 1, 2, 3>{})); note(idx(std::make_index_sequence<4>{}));
  note(len(arr)); constexpr std::array<uint32_t, 3> ca{7, 8, 9}; constexpr uint32_t cs = sum_of(ca); note(cs); static_assert(cs == 24); static_assert(ca[1] == 8);
  uint32_t t = 1; Holder h(t); h.add(5); note(t); Fetch fe; note(fe.next<uint32_t>()); note(fe.next<uint8_t>());
  Mid m(4); note(m.all()); note(m.y); U2 u; u.f = 2.0f; note(u.h.hi); u.h.lo = 0x1234; note(u.u); u.tag = 3; note(u.tag);
  Static::bump(); note(Static::count); note(static_cast<uint32_t>(Flag::A | Flag::B));
  auto g = Guard([&t]() { return t + 1; }); note(g.go()); t = 50; note(g.go());
  note(is_small<uint16_t>); note(is_small<uint32_t>); Ptr<uint32_t> p = &t; *p += 1; note(t); typename Pick<true>::type pk = 70000; note(pk); Pick<false>::type pk2 = 300; note(pk2);
  note(Acc().add(3).add(4).get()); Acc ac; ac.add(1).add(2); note(ac.get()); note(defaults(1)); note(defaults(1, 3)); outer(t, 3); note(t); fwd(t); note(t); note(trailing(3) >> 32);
  auto rec = [](auto self, uint32_t n) -> uint32_t { return n ? n + self(self, n - 1) : 0; }; note(rec(rec, 4));
  uint32_t k = 0; auto inc = [&k]() mutable { return ++k; }; inc(); inc(); note(k); auto nested = [&] { auto in = [&] { k += 10; }; in(); in(); }; nested(); note(k);
  const uint32_t bits = 0x3fc00000; const auto fp = *reinterpret_cast<const float*>(&bits); note((uint32_t)(fp * 2));
  struct Local { uint32_t q; uint32_t twice() const { return 2 * q; } } loc{21}; note(loc.twice()); 
  switch (Flag f = Flag::B; f) { case Flag::A: note(1); break; case Flag::B: note(2); break; default: note(3); }
  std::pair<uint32_t, float> pr{3, 1.5f}; note(pr.first); auto& [pa, pb] = pr; pa = 8; note(pr.first); uint32_t d2[2] = {4, 5}; auto [x0, x1] = d2; note(x1);
  for (const auto& [f1, f2] : std::array<std::pair<uint32_t, uint32_t>, 2>{{{1, 2}, {3, 4}}}) note(f1 * 10 + f2);
  constexpr uint32_t tbl[2][2] = {{1, 2}, {3, 4}}; uint32_t arr2[tbl[1][0]]; note(sizeof(arr2)); note(std::get<1>(std::tuple<int, int>{4, 5}));
  uint32_t (*fptr)(uint32_t) = dbl; note(fptr(8)); note(std::integral_constant<uint32_t, 5>::value); note(__builtin_ctz(8)); note(__builtin_clz(1));
  { std::optional<Sum> none, some(std::in_place, 2, 3); note(join(none, typename Held<int>::Pair{2, 1})); note(join(some, typename Held<int>::Pair{3, 4})); none.emplace(Sum(4, 5)); note(none->sum); uint32_t steps[3] = {5, 6, 7}; Pointed<uint8_t> pointed{steps, 2}; note(pointed.get()); }
  note(Part<true, uint16_t>{}.size()); note(Part<false, uint16_t>{}.size()); note(Part<true, uint8_t>{}.twice(200)); note(Part<false, uint8_t>{}.twice(200));
  volatile float down = -2.5f; note((int)(__builtin_floor(down) * 4)); note((int)__builtin_floorf(down)); note((int)__builtin_floor(2.75)); note((int)__builtin_floor(-3.0));
  volatile float root = 2.0f; note((uint32_t)(__builtin_sqrtf(root) * 1e7f)); note((uint32_t)(__builtin_sqrt(3.0) * 1e9)); note((uint32_t)(1.0f / __builtin_sqrtf(224.0f) * 1e8f));
  note([](uint32_t q) { return q + 1; }(4)); Vec vs[2] = {{1, 2}, {3, 4}}; note(vs[1].y); vs[0] = vs[1]; vs[1].x = 9; note(vs[0].x); note(std::min<uint32_t>(3, 4));
}
