// Destructors
// At the end of blocks, of temporaries and of functions, before `return`, `break` and `continue`.
struct Guard {
    uint32_t id;
    explicit Guard(uint32_t n) : id(n) { note(n); }
    ~Guard() { note(100 + id); }
    uint32_t get() const { return id; }
};
struct Pair { Guard first{1}, second{2}; ~Pair() { note(50); } };
struct Derived : Guard { Guard own{4}; Derived() : Guard(3) {} };
Guard make(uint32_t n) { Guard made(n); note(60); return made; }
uint32_t early(uint32_t n) {
    Guard outer(10);
    for (uint32_t i = 0; i < n; ++i) {
        Guard inner(20 + i);
        if (i == 1) { continue; }
        if (i == 2) { break; }
        if (n == 2) { Guard last(30); return outer.get() + inner.get(); }
    }
    return outer.get();
}
template <typename F> struct Final { F f; ~Final() { f(); } };
template <typename F> Final<F> finally(F f) { return {f}; }
uint32_t twice(const Guard& guard) { return 2 * guard.id; }
void kernel_main() {
    uint32_t total = 7;
    { Pair pair; Derived derived; note(total); }
    note(early(2)); note(early(5));
    note(make(5).get() + twice(Guard(6)));
    if (Guard(8).get() == 8) { note(9); }
    const Guard& kept = make(11);
    Guard row[2] = {Guard(12), Guard(13)};
    auto at_end = finally([&] { note(total); });
    total = 3;
    switch (kept.get()) { case 11: { Guard in_case(14); break; } default: break; }
    Guard(15);
    note(total > 2 ? Guard(16).get() : Guard(17).get());
    struct Pair { Guard guard; int n; };
    auto [guard, n] = Pair{Guard(18), 2}; note(guard.get() + n);
}
