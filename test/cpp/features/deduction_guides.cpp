// Deduction guides
// What a class template takes for its arguments, said outside of the class; bases from a pack.
template <typename T> struct Box { T v; Box(T v) : v(v) {} template <typename U> Box(U a, T b) : v(a + b) {} };
Box(int) -> Box<float>;
Box(bool) -> Box<uint8_t>;
template <typename T> Box(T, T) -> Box<T>;
template <typename T> struct Agg { T a; T b; };
template <typename T> Agg(T, T) -> Agg<T>;
template <typename A, typename B> Agg(A, B) -> Agg<float>;
template <typename T, int N> struct Arr { T v[N]; int n() { return N; } };
template <typename T, typename... U> Arr(T, U...) -> Arr<T, 1 + sizeof...(U)>;
template <typename... F> struct All : F... { using F::operator()...; };
template <typename... F> All(F...) -> All<F...>;
void kernel_main() {
  Box b(3); note(sizeof(b.v)); note(b.v == 3.0f); Box c(true); note(sizeof(c.v)); Box d('c'); note(sizeof(d.v));
  Box e(uint8_t(1), uint8_t(2)); note(sizeof(e.v)); Box f{2.5f}; note(f.v == 2.5f); Box g = 7; note(sizeof(g.v));
  Agg h{1, 2}; note(h.a + h.b); Agg i{1, 2.5f}; note(i.b == 2.5f); note(sizeof(i.a));
  Arr j{1, 2, 3}; note(j.n() * 10 + j.v[2]); Arr k{uint8_t(1), uint8_t(2)}; note(sizeof(k));
  auto m = Box(4); note(sizeof(m)); note(Box(5).v == 5.0f);
  All n{[](int x) { return x; }, [](float x) { return x == 2.0f ? 20 : 30; }}; note(n(4)); note(n(2.0f));
}
