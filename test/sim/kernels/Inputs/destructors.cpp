struct A { uint32_t v; A(uint32_t n) : v(n) {} ~A() { note(v); } bool ok() const { return v > 2; } A& up() { ++v; return *this; } operator bool() const { return v & 1; } uint32_t operator+(const A& o) const { return v + o.v; } };
struct B { A a; uint32_t k; };
struct C { uint32_t x = 9; ~C() { note(900 + x); } };
struct D { C c[2]; A a{77}; C last; };
struct E2 { C c; uint32_t& r; E2(uint32_t& q) : r(q) { note(r); if (r > 5) { return; } note(1); } ~E2() { if (r > 5) { note(55); return; } r += 1; note(r); } };
uint32_t sum(A a, A b) { note(1000); a.v += 1; return a.v + b.v; }
uint32_t one(A a) { note(1001); if (a.v > 3) return 1; return a.v; }
B mk(uint32_t n) { return {A(n), n + 1}; }
A choose(bool c) { if (c) { return A(40); } A x(41); note(5); return x; }
A copyback(A p) { return p; }
template <typename T, uint32_t N> struct Arr { T t[N]; };
template <typename T> void use(T&& t) { note(t.v); }
uint32_t loopy() { uint32_t s = 0; while (true) { A a(60 + s); ++s; if (s == 1) continue; do { A b(70 + s); if (s > 2) break; ++s; } while (s < 4); if (s > 3) return s; } }
uint32_t sw(uint32_t n) { switch (n) { case 0: { A a(80); return 1; } case 1: { A b(81); break; } case 2: { A c(82); } default: { A d(83); break; } } return 2; }
void nothing() { A a(3); }
void chain() { return nothing(); }
void kernel_main() {
  { B b = mk(3); note(b.k); }
  { A a(5); a = A(6); note(a.v); A b = a; b.v = 7; }
  note(one(A(9))); note(one(2)); { A z(11); note(one(z)); }
  { auto x = choose(true); auto y = choose(false); note(x + y); }
  { A q(31); A w = copyback(q); w.v = 32; }
  { D d; note(d.c[1].x); } { uint32_t r = 4; { E2 e(r); } { E2 e(r); r = 9; } { E2 e(r); } }
  note(loopy()); note(sw(0)); note(sw(1)); note(sw(2)); note(sw(5)); chain();
  use(A(90)); { A n(91); use(n); } note(A(1).up().up().v);
  if (A t(7); t.ok()) { note(70); } else { note(71); } if (bool k = A(4)) note(k); else note(72);
  note(A(1) ? 5 : 6); note(A(2).ok() && A(3).ok()); note(A(5).ok() || A(6).ok());
  { Arr<A, 3> arr{{A(1), A(2), A(3)}}; note(arr.t[1].v); }
  { C cs[2][2]; cs[1][0].x = 5; } for (A i(0); i.v < 2; i.up()) { note(i.v + 300); }
  for (uint32_t i = 0; i < 2; ++i) A(i + 400);
  { auto f = [g = A(500)] { return g.v; }; note(f()); auto h = f; note(h()); }
  { A a(1), b(2); { A c(3); } A d(4); }
  const A& r1 = A(600); A&& r2 = A(601); note(r1 + r2); A(602), A(603); (void)A(604);
  { std::pair<A, uint32_t> p{A(700), 2}; note(p.second); }
}
