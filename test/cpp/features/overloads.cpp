// Overloads
// By the ranking of conversions; templates after other functions; `enable_if`.
uint32_t kind(int) { return 1; }
uint32_t kind(float) { return 2; }
template <typename T> uint32_t kind(T*) { return 3; }
template <typename T, std::enable_if_t<std::is_integral_v<T>, int> = 0> uint32_t sort(T) { return 4; }
template <typename T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0> uint32_t sort(T) { return 5; }
void kernel_main() {
    uint32_t x = 0;
    note(kind(1)); note(kind(1.5f)); note(kind(&x)); note(kind('c')); note(sort(x)); note(sort(2.0f));
}
