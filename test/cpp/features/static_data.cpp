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
void kernel_main() {
    note(next()); note(next()); note(calls);
    Counter a, b; note(Counter::made); note(Counter::gone + table[3]);
}
