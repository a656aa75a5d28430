// Preprocessor
// Macros with arguments, `#` and `##`, `__VA_ARGS__`, conditions with `defined`, `and`, `not`.
#define JOIN(a, b) a##b
#define CALL(f, ...) f(__VA_ARGS__)
#define REPEAT(...) { __VA_ARGS__; __VA_ARGS__; }
#define WIDTH 4
#if defined(WIDTH) and not defined HEIGHT and WIDTH * 2 == 8
#define AREA(n) ((n) * WIDTH)
#elif defined(HEIGHT)
#error "not this one"
#endif
#ifndef ACTIVATION
#define ACTIVATION(x) x += 1
#endif
uint32_t add_all(uint32_t a, uint32_t b, uint32_t c) { return a + b + c; }
void kernel_main() {
    uint32_t JOIN(num_, tiles) = 3;
    REPEAT(ACTIVATION(num_tiles))
    note(num_tiles); note(CALL(add_all, 1, 2, AREA(2 + 1))); note(__LINE__ > 0);
}
