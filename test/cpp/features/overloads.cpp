// Overloads
// By the ranking of conversions; templates after other functions; `enable_if`.
uint32_t kind(int) { return 1; }
uint32_t kind(float) { return 2; }
template <typename T> uint32_t kind(T*) { return 3; }
template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0> uint32_t sort(T) { return 4; }
template <typename T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0> uint32_t sort(T) { return 5; }
struct Real { float value; Real(float x) : value(x) {} };
struct Whole { int value; Whole(int x) : value(x) {} explicit Whole(const Real& x) : value(7) {} };
uint32_t size(const Real& a, const Real& b) { return 10 + a.value + b.value; }
uint32_t size(const Whole& a, const Whole& b) { return 20 + a.value + b.value; }
uint32_t check(uint32_t x, uint32_t by = 5);
uint32_t check(uint32_t x, uint32_t by) { return x * by; }
uint32_t any(int) { return 1; }
uint32_t any(...) { return 2; }
uint32_t first(uint32_t n, ...) { return n; }
struct WithF { void f() {} };
template <typename T> struct has_f {
    template <typename U> static uint8_t test(decltype(std::declval<U>().f())*);
    template <typename U> static uint32_t test(...);
    static constexpr bool value = sizeof(test<T>(nullptr)) == 1;
};
struct Item { int v; };
int of_place(Item&) { return 1; } int of_place(...) { return 2; }
int of_number(int&) { return 1; } int of_number(...) { return 2; }
template <typename T> int of_any(T&) { return 1; } int of_any(...) { return 2; }
int of_pointer(int*) { return 1; } int of_pointer(const int*) { return 2; }
template <typename T> int of_pointee(T*) { return 1; } template <typename T> int of_pointee(const T*) { return 2; }
int of_given(Item&&) { return 1; } int of_given(const Item&) { return 2; }
void of_constants() {
    const int c = 3; int v = 4; const Item held{1}; Item item{2};
    note(of_place(held)); note(of_place(item)); note(of_number(c)); note(of_number(v)); note(of_any(c)); note(of_any(v));
    note(of_pointer(&c)); note(of_pointer(&v)); note(of_pointee(&c)); note(of_pointee(&v));
    note(of_given(item)); note(of_given(Item{3})); note(of_given(std::move(item))); note(of_given(std::move(held)));
}
struct Wrapped { uint32_t v; operator uint32_t() const { return v; } };
struct Passed { uint32_t v; operator uint32_t() && { return v + 1; } operator uint32_t() & { return v + 2; } };
Passed make_passed() { return Passed{10}; }
uint32_t take(uint32_t x) { return x; } uint32_t take(const char*) { return 100; }
uint32_t change(uint32_t&) { return 1; } uint32_t change(...) { return 2; }
uint32_t only(int) = delete; uint32_t only(float x) { return x * 2; }
template <typename T> uint32_t special(T) = delete;
template <> uint32_t special(int x) { return x; }
struct Strict { uint32_t v; Strict(uint32_t x) : v(x) {} Strict(float) = delete; template <typename T> operator T() const = delete; uint32_t scale(float) = delete; uint32_t scale(uint32_t x) { return v * x; } };
void of_some() {
    const uint32_t fixed = 4; uint32_t x = 5; note(take(Wrapped{4})); note(change(fixed)); note(change(x)); note(change(3));
    note(only(1.5f)); note(special(3)); note(Strict(3u).scale(2u)); Passed passed{1}; uint32_t a = passed, b = make_passed(), c = std::move(passed); note(a); note(b); note(c);
}
struct Picky { template <class T> int g(T) = delete; int g(int) { return 5; } template <class T> static int h(T*) = delete; static int h(int*) { return 6; } Picky& operator=(const Picky&) = delete; };
void kernel_main() {
    { Picky picky; int x = 1; note(picky.g(2)); note(Picky::h(&x)); }
    uint32_t x = 0;
    note(kind(1)); note(kind(1.5f)); note(kind(&x)); note(kind('c')); note(sort(x)); note(sort(2.0f));
    note(size(Real(1.0f), 2)); note(size(3, Whole(4))); note(size(2.0f, Real(3.0f))); note(check(3));
    int8_t table[] = {1, -1}; note(uint32_t(table[1])); uint32_t held(static_cast<uint8_t>(table[1])); note(held);
    note(any(3)); note(any(2.5f)); note(any(WithF())); note(any(nullptr)); note(first(4)); note(first(5, 1, 2.5f));
    note(has_f<WithF>::value); note(has_f<Real>::value);
    of_constants();
    of_some();
}
