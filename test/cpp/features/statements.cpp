// Statements
// `if` and `switch` with declarations, `while`, `do`, `for` with several counters, `and`, `or`, `not`.
enum class Kind : uint8_t { Read = 1, Write, Both = 7 };
uint32_t cost(Kind kind, uint32_t pages) {
    switch (kind) {
        case Kind::Read: return pages;
        case Kind::Write: pages *= 2; [[fallthrough]];
        case Kind::Both: pages += 5; break;
        default: return 0;
    }
    return pages;
}
void kernel_main() {
    for (uint32_t i = 0, j = 9; i < j; ++i, j -= 2) { note(i * 10 + j); }
    uint32_t n = 27, steps = 0;
    while (n != 1) { n = n % 2 ? 3 * n + 1 : n / 2; ++steps; if (steps == 100) break; }
    do { n >>= 1; if (n & 1) continue; ++steps; } while (n > 3);
    if (const uint32_t rest = steps % 7; rest > 2 and not(rest == 4) or rest == 6) { note(rest); }
    note(steps); note(cost(Kind::Read, 4)); note(cost(Kind::Write, 4)); note(cost(Kind::Both, 4));
}
