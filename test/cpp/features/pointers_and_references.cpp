// Pointers and references
// To variables, elements and members; of functions, and of classes to members; references as parameters and results.
struct Node { uint32_t value; Node* next = nullptr; };
uint32_t total(const Node* node) { return node ? node->value + total(node->next) : 0; }
uint32_t& larger(uint32_t& a, uint32_t& b) { return a < b ? b : a; }
uint32_t square(uint32_t x) { return x * x; }
struct Sides { uint32_t left, right = 2; };
uint32_t sum(const Sides* all, uint32_t count, uint32_t Sides::* side) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; ++i) found += all[i].*side;
    return found;
}
template <typename C, typename T> T double_of(C& object, T C::* side) { return object.*side *= 2; }
struct Called { uint32_t first = 1; uint32_t (*f)(uint32_t) = square; };
struct Top { uint32_t top = 8; };
struct Both : Sides, Top, Called { uint32_t own = 3; };
struct Bound { int v; constexpr Bound(std::nullptr_t) : v(7) {} constexpr Bound(int n) : v(n) {} };
template <int N> struct Holding { static constexpr Bound fixed = nullptr; Bound own{nullptr}; };
void kernel_main() {
    Sides sides[] = {{3, 4}, {5}};
    note(sum(sides, 2, &Sides::left)); note(sum(sides, 2, &Sides::right));
    uint32_t Sides::* side = &Sides::left; (*sides).*side += 20; note(double_of(sides[0], side));
    Both both; both.left = 6; auto at_top = &Both::top; uint32_t Both::* at_right = &Both::right; auto at_own = &Both::own;
    note(both.*at_top); note(both.*at_right); note(both.*at_own); both.*at_top = 50; note(both.top); note(both.own);
    auto called = &Called::f; note((both.*called)(7)); note(((*&both).*called)(8));
    Node last{3}, first{4, &last};
    note(total(&first));
    uint32_t a = 5, b = 6;
    larger(a, b) = 1; larger(a, b) += 10;
    note(a); note(b);
    uint32_t* const pointer = &first.next->value; *pointer = 40; note(last.value);
    uint32_t** which = nullptr; uint32_t* p = &a; which = &p; **which = 7; note(a);
    uint32_t (*function)(uint32_t) = square; note(function(9));
    const uint32_t& copy = a + 1; a = 0; note(copy);
    uint32_t numbers[4] = {1, 2, 3, 4};
    uint32_t *low = numbers, *high = &numbers[3], plain = 7, &other = plain;
    other += *low + *high; note(plain);
    for (uint32_t *i = numbers, *e = numbers + 4; i != e; ++i) note(*i);
    Holding<3> holding; note(holding.own.v); note(Holding<1>::fixed.v); Bound null(nullptr); note(null.v); Bound three = 3; note(three.v);
}
