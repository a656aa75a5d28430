// Pointers and references
// To variables, elements and members; of functions; references as parameters and results.
struct Node { uint32_t value; Node* next = nullptr; };
uint32_t total(const Node* node) { return node ? node->value + total(node->next) : 0; }
uint32_t& larger(uint32_t& a, uint32_t& b) { return a < b ? b : a; }
uint32_t square(uint32_t x) { return x * x; }
void kernel_main() {
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
}
