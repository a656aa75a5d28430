// Jumps
// `goto` out of loops, over statements, and back to a label.
uint32_t check(uint32_t x) {
    uint32_t found = 0;
    if (x == 0) goto fail;
    if (x == 1) goto other;
    found = x * 3;
    goto end;
fail:
    found = 90;
    goto end;
other:
    found = 77;
end:
    return found;
}
void kernel_main() {
    int i = 0;
again:
    ++i; note(i);
    if (i < 3) goto again;
    for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < 5; ++b) { if (a * b == 6) goto found; note(a * 10 + b); }
    }
    note(-1);
found:
    for (uint32_t x = 0; x < 3; ++x) note(check(x));
    for (int k = 0; k < 6; ++k) {
    retry:
        int y = k;
        if (y == 2) { k = 3; goto retry; }
        if (y == 4) continue;
        if (y == 5) break;
        switch (y) {
            case 0: note(1); goto next;
            case 3: note(2); continue;
            default: note(3);
        }
        note(4);
    next:
        note(5);
    }
    int n = 0, turns;
top:
    turns = 0;
    while (true) {
        ++n;
        if (n == 3) goto top;
        if (n > 6) goto out;
        if (++turns > 10) break;
        do { if (n == 5) goto skip; note(n); } while (false);
    skip:;
    }
    note(9);
out:
    note(n); note(turns);
    auto fall = [&](int z) { down: if (z > 3) { --z; goto down; } return z; };
    note(fall(9));
}
