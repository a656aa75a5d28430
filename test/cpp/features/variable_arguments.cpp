// Variable arguments
// `...` with `va_list`, `va_start`, `va_arg`, `va_copy` and `va_end`; values keep their promoted types.
uint32_t sum(uint32_t count, ...) {
    va_list rest; va_start(rest, count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; ++i) n += va_arg(rest, uint32_t);
    va_end(rest);
    return n;
}
int64_t mixed(int n, ...) {
    va_list a; va_start(a, n);
    int64_t t = 0;
    for (int i = 0; i < n; ++i) {
        switch (i % 4) {
            case 0: t += va_arg(a, int); break;
            case 1: t += va_arg(a, long long); break;
            case 2: t += (int)(va_arg(a, double) * 2); break;
            default: { uint32_t* p = va_arg(a, uint32_t*); t += *p; *p += 1; }
        }
    }
    va_end(a);
    return t;
}
int first(va_list a) { return va_arg(a, int); }
int twice(int n, ...) {
    va_list a, b; va_start(a, n); va_copy(b, a);
    int x = va_arg(a, int), y = first(b);
    va_end(a); va_end(b);
    return x * 100 + y + n;
}
template <typename... T> uint32_t through(T... t) { return sum(sizeof...(t), t...); }
void kernel_main() {
    note(sum(0)); note(sum(2, 3, 4));
    uint32_t k = 5; note(sum(3, k, k * 2, 7)); note(mixed(4, -3, 5000000000LL, 1.5f, &k)); note(k);
    note(mixed(1, (uint8_t)200)); note(twice(2, 7, 8)); note(through(1, 2, 3));
    char c = 'a'; bool b = true; note(sum(2, c, b));
}
