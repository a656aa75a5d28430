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
struct Tables { static const int k = 2; static int table[k]; static short open[]; static int* place; struct In { static uint8_t rows[2][3]; }; };
int Tables::table[k] = {4, 5};
short Tables::open[] = {6, 7, 8};
int* Tables::place = &Tables::table[1];
uint8_t Tables::In::rows[2][3] = {{1, 2, 3}, {4}};
template <typename T, int N> struct Table { static T values[N]; static constexpr T fixed[] = {1, 2, 3}; };
template <typename T, int N> T Table<T, N>::values[N] = {1, T(N), T(sizeof(T))};
void kernel_main() {
    note(next()); note(next()); note(calls);
    Counter a, b; note(Counter::made); note(Counter::gone + table[3]);
    stack.push(5); note(stack.n); note(stack.items[0]); note(stack.items[1]); note(computed); note(after);
    Tables::table[1] += 3; note(Tables::table[1] + *Tables::place); note(Tables::In::rows[1][0] * 10 + Tables::In::rows[0][2]);
    Table<short, 3>::values[0] = 9; note(Table<short, 3>::values[2]); note(Table<int, 3>::values[0] + Table<short, 3>::values[0]);
    note(sizeof(Tables::open)); note(sizeof(Tables::open) / sizeof(Tables::open[0])); note(sizeof(Table<short, 5>::fixed)); note(sizeof(Table<short, 5>::values));
}
