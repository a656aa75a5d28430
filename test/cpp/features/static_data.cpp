// Static data
// Variables of the whole kernel, in functions and in classes; `inline` and `constexpr` members.
static uint32_t calls = 0;
constexpr uint32_t table[4] = {2, 3, 5, 7};
struct Counter {
    static constexpr uint32_t step = table[2];
    static uint32_t made;
    inline static uint32_t gone = 1;
    Counter() { made += step; }
};
uint32_t Counter::made = 100;
uint32_t next() { static uint32_t value = 10; ++calls; return value++; }
struct Stack { uint32_t n; uint32_t items[4]; Stack(uint32_t first) : n(0) { push(first); } void push(uint32_t x) { items[n++] = x; } };
uint32_t twice(uint32_t x) { return 2 * x; }
Stack stack(twice(21));
uint32_t computed = twice(4), after = computed + 1;
void kernel_main() {
    note(next()); note(next()); note(calls);
    Counter a, b; note(Counter::made); note(Counter::gone + table[3]);
    stack.push(5); note(stack.n); note(stack.items[0]); note(stack.items[1]); note(computed); note(after);
}
