// Lists in braces
// `std::initializer_list` as parameters, variables and ranges; constructors that take one.
struct Ended { int v; Ended(int v) : v(v) {} Ended(const Ended& o) : v(o.v + 100) {} ~Ended() { note(9000 + v); } };
struct Point { int x, y; };
int sum(std::initializer_list<int> list) { int total = 0; for (int x : list) { total += x; } return total + 100 * list.size(); }
int ends(std::initializer_list<Ended> list) { int total = 0; for (const Ended& x : list) { total += x.v; } return total; }
int corners(const std::initializer_list<Point>& list) { int total = 0; for (auto [x, y] : list) { total += x * y; } return total; }
template <typename T> T first(std::initializer_list<T> list) { return *list.begin(); }
int chosen(std::initializer_list<int>) { return 1; }
int chosen(std::initializer_list<float>) { return 2; }
int chosen(Point) { return 3; }
struct Set {
    uint32_t bits = 0;
    Set() { note(50); }
    Set(std::initializer_list<uint32_t> list) { note(51); for (uint32_t x : list) { bits |= 1u << x; } }
    Set(uint32_t a, uint32_t b) : bits(a * b) { note(52); }
};
template <typename T> struct Stack {
    T items[8]; uint32_t count = 0;
    Stack(std::initializer_list<T> list, int more = 0) : count(list.size() + more) { int i = 0; for (const T& x : list) { items[i++] = x; } }
};
struct Owner { Set set; Owner() : set{1, 3} {} Owner(int n) : set({2, 4, 5}) {} };
template <typename... T> int all(T... x) { return sum({x...}); }
int leave(int n) { for (const Ended& l : {Ended(n), Ended(n + 1)}) { if (l.v == 21) return 5; note(l.v); } return 6; }
constexpr uint32_t added(std::initializer_list<uint32_t> l) { uint32_t s = 0; for (auto x : l) s += x; return s; }
template <typename T> constexpr T most(std::initializer_list<T> l) { T best{}; for (const T& x : l) { if (x > best) best = x; } return best; }
struct Both { uint32_t a, b; };
uint32_t products(std::initializer_list<Both> l) { uint32_t s = 0; for (const auto& [a, b] : l) s += a * b; return s; }
template <uint32_t N> uint32_t fixed() { return N; }
void constants_of_lists() {
    constexpr uint32_t k = added({1, 2, 3}); note(k); note(fixed<added({4, 5})>()); static_assert(added({7}) == 7); note(fixed<most({3u, 9u, 4u})>());
    constexpr auto m = [] { uint32_t s = 0; for (auto x : {1u, 5u}) s += x; return s; }(); note(m); note(products({{1, 2}, {3, 4}}));
    uint32_t n = 4; for (auto x : {n, n + 1, 7u}) { if (x == 5) continue; note(x); n++; } for (auto x : std::initializer_list<uint32_t>{}) note(x);
    std::initializer_list<uint32_t> l = {n, 2}; for (auto& x : l) { note(x); l = {9, 8, 7}; } note(added(l)); for (uint32_t x : l) for (uint32_t y : {1u, 2u}) { if (y == 2) break; note(x * y); }
}
void kernel_main() {
    note(sum({1, 2, 3})); note(sum({})); note(sum({7})); note(all(4, 5, 6, 7)); note(corners({{1, 2}, {3, 4}}));
    note(first({2.5f, 1.0f}) == 2.5f); note(first<int>({8, 9})); note(chosen({1, 2})); note(chosen({1.0f, 2.0f, 3.0f}));
    std::initializer_list<int> list = {5, 6, 7}; note(list.size()); note(list.begin()[2]); note(*(list.end() - 1)); list = {1}; 
    auto made = {10, 20, 30}; note(sum(made)); auto other = made; note(other.size()); auto one{4}; note(one); auto single = {4}; note(single.size());
    for (uint32_t x : {3u, 1u, 2u}) { note(x); }
    note(ends({Ended(1), Ended(2)})); { std::initializer_list<Ended> kept = {Ended(3), 4}; note(kept.size()); note(60); } note(61);
    Set a; Set b{}; Set c{1, 2}; Set d(3, 4); Set e = {0, 7}; Set f{5}; note(a.bits); note(b.bits); note(c.bits); note(d.bits); note(e.bits); note(f.bits);
    Stack<int> s{4, 5}; Stack<Point> t({{1, 2}, {3, 4}, {5, 6}}, 2); note(s.count * 100 + s.items[1]); note(t.count * 100 + t.items[2].y); note(Stack<int>{9, 8, 7}.items[2]);
    Owner o; Owner p(1); note(o.set.bits); note(p.set.bits); note(std::max({3, 9, 4})); note(std::min({2u, 1u}));
    int n = 3; for (auto x : {n, n + 1}) { note(x); } const auto fixed = {n, 2 * n}; note(fixed.begin()[1]);
    for (auto l : {Ended(5), Ended(6)}) { note(l.v); } note(62); for (auto& l : {Ended(7)}) { note(l.v); } note(63);
    Ended nine(9); for (const auto& l : {nine, Ended(10), Ended(11)}) { if (l.v == 10) continue; note(l.v); if (l.v == 11) break; } note(64);
    note(leave(20)); note(leave(30)); for (int i = 0; i < 2; i++) for (auto& l : {Ended(i)}) { note(l.v); }
    constants_of_lists();
}
