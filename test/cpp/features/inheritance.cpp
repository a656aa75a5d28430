// Inheritance
// Bases with members, and classes that are given to their base as an argument.
template <typename Derived> struct Shape {
    uint32_t twice() { return 2 * static_cast<Derived*>(this)->area(); }
};
struct Square : Shape<Square> {
    uint32_t side = 3;
    uint32_t area() { return side * side; }
};
struct Point { uint32_t x, y; };
struct Labelled : Point { uint32_t label; Labelled(uint32_t n) : Point{n, n + 1}, label(n + 2) {} };
struct Empty { }; struct Two { int a; int b; };
struct OfTwo : Two { int c; }; struct OfEmpty : Empty { int d; }; struct OfBoth : Two, Empty { int f; };
void kernel_main() {
    Square square;
    Labelled labelled(4);
    note(square.twice()); note(labelled.y); note(labelled.label);
    OfTwo c{{1, 2}, 3}; note(c.a + c.b * 10 + c.c * 100); OfEmpty d{{}, 4}; note(d.d); OfBoth f{{5, 6}, {}, 7}; note(f.a); note(f.f);
    OfTwo g{1, 2, 3}; note(g.c); Two a{8, 9}; OfTwo h{a, 4}; note(h.b); note(h.c); OfBoth k{1, 2, {}, 3}; note(k.f);
}
