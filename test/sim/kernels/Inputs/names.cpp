enum Mode { READ, WRITE = 5, BOTH };
enum class Kind : uint8_t { A = 3, B };
using word = uint32_t;
typedef int32_t* pointer;
static_assert(sizeof(word) == 4, "32 bits");
static_assert(BOTH == 6);
template <typename T, uint32_t N> T at_most(T value) { return value < N ? value : N; }
template <typename T> T twice(const T& value) { T result = value; result += value; return result; }
template <typename T> void set(T* where, T value) { *where = value; }
template <bool UP, int BY> int moved(int x) { if constexpr (UP) { return x + BY; } else { return x - BY; } }
int with_default(int a, int b = 3, int c = BOTH) { return a * 100 + b * 10 + c; }
namespace inner { constexpr int FACTOR = 4; int scaled(int x) { return x * FACTOR; } }
using inner::scaled;

int chosen(int x) {
    int result = 0;
    switch (x) {
        case READ: result = 1; break;
        case 2: { result = 2; break; }
        case 3: result += 10;
        case 4:
        case WRITE: result += 20; break;
        case 7: return 70;
        default: result = -1; break;
    }
    switch (x & 1) { default: result *= 2; case 1: result++; }
    return result;
}

void kernel_main() {
    Mode mode = WRITE; note(mode); note(Mode::BOTH); note((int)Kind::B); note(Kind::A == Kind::B);
    Kind kind = Kind::A; kind = Kind::B; note((int)kind); note(sizeof(Kind)); note(sizeof(Mode));
    note(at_most<word, 7>(9)); note(at_most<int8_t, 7>(-3) > 0); note(twice(200)); note(twice((uint8_t)200));
    word w = 1; set(&w, 77u); note(w); int list[3] = {1, 2, 3}; pointer p = list; set(p + 1, -9); note(list[1]);
    note(moved<true, 3>(10)); note(moved<false, 3>(10)); note(with_default(1)); note(with_default(1, 2)); note(with_default(1, 2, 3));
    for (int i = -1; i < 9; i++) note(chosen(i));
    for (int i = 0; i < 4; i++) { switch (i) { case 1: continue; case 2: note(-2); } note(i); }
    note(scaled(3)); using local = uint8_t; local small = 300; note(small);
    switch (BOTH) { case BOTH: note(1); break; case READ: note(2); }
}
