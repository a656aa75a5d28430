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
void kernel_main() {
    Square square;
    Labelled labelled(4);
    note(square.twice()); note(labelled.y); note(labelled.label);
}
