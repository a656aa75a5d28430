// Statements
// `if` and `switch` with declarations, `while`, `do`, `for` with several counters, `and`, `or`, `not`; comparisons that look like template arguments.
constexpr uint32_t low = 3, high = 8;
constexpr bool between = low < high && high > (low + 1);
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
    const bool above = n < low && steps > (n + 1), inner = steps < low || n < high && high > (low);
    for (uint32_t i = 0; i < high && steps > (i + n); i += 5) { if (i < low && steps > (2) + i) { note(i); } }
    note(above * 10 + inner); note(between); note(low < high && high > (low) == between);
    note(steps); note(cost(Kind::Read, 4)); note(cost(Kind::Write, 4)); note(cost(Kind::Both, 4));
}
