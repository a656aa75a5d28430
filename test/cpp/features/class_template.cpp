// Class templates
// Default arguments, full and partial specialisation, and static members.
template <typename T, uint32_t N = 4>
struct Buffer {
    T data[N];
    T& operator[](uint32_t i) { return data[i]; }
    static constexpr uint32_t bytes = N * sizeof(T);
};
template <typename T> struct Rank { static constexpr uint32_t value = 0; };
template <typename T> struct Rank<T*> { static constexpr uint32_t value = 1 + Rank<T>::value; };
template <typename T> uint32_t capacity(const Buffer<T>& buffer) { return sizeof(buffer.data); }
template <bool Chosen, typename Facts, typename T> uint32_t choose(T value) {
    return Chosen ? value + Facts::value : value;
}
template <uint32_t A, uint32_t B, bool C> struct Facts { static constexpr uint32_t value = A + B + C; };
template <typename T> struct Counts { static uint32_t hits; static uint32_t add(uint32_t n); };
template <typename T> uint32_t Counts<T>::hits = 3 + sizeof(T);
template <> uint32_t Counts<char>::hits = 50;
template <> struct Counts<float> { uint32_t other; };
template <typename T> uint32_t Counts<T>::add(uint32_t n) { return hits += n; }
uint32_t hits = 77;
constexpr uint32_t table[] = {4, 5, 6};
template <typename T> struct Wide {
    T x;
    Wide(T x) : x(x) {}
    template <typename U> Wide(const Wide<U>& other) : x(other.x + 100) {}
    template <typename U> Wide(const U& other, int) : x(other.x + 1000) {}
    template <typename U> Wide(const Wide<U>& other, char) : x(other.x + 10) {}
    template <typename U> uint32_t sum(const Wide<U>& other) { return x + other.x; }
};
int subtract(int a, int b) { return a - b; }
template <typename F> struct Held { F f; int run(int a, int b) { return f(a, b); } };
template <typename F> Held<F> hold(F f) { return {f}; }
template <typename T> uint32_t kind() { return std::is_same_v<T, int> ? 1 : 2; }
void kernel_main() {
    Wide<int> wide(3), copy = wide, made = Wide<short>(4), more(Wide<short>(5), 0), less(Wide<short>(6), 'c');
    note(copy.x); note(made.x); note(more.x); note(less.x); note(made.sum(Wide<short>(1))); note(made.sum(wide));
    note(hold(subtract).run(3, 4)); note(kind<decltype(hold(subtract).run(1, 2))>()); note(kind<decltype(std::make_pair(1, 2u).first)>());
    note(capacity(Buffer<uint16_t>{}));
    note(choose < (sizeof(int) == 4) || (table[0] && !table[1]), Facts < table[2],
         table[0], Rank<int*>::value == 1 >> (9u));
    Buffer<uint16_t> buffer = {1, 2, 3, 4};
    buffer[2] = 70;
    note(buffer[2]); note(Buffer<uint32_t, 3>::bytes); note(Rank<int**>::value);
    note(Counts<uint32_t>::add(4)); note(Counts<uint32_t>::hits); note(Counts<uint16_t>::hits);
    note(Counts<char>::hits); note(Counts<float>{9}.other); note(hits);
}
