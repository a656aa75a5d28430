// Jumps
// `goto` out of loops, over statements, back to a label, and into blocks and loops; cases in blocks and loops of a `switch`.
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
int into(int k) {
    int n = 0;
    if (k & 1) goto then;
    if (k & 2) goto otherwise;
    if (k & 4) goto inner;
    if (k > 8) { n += 100; then: n += 1; goto out; } else if (k == 8) { n += 1000; } else { otherwise: n += 10; { n += 7; inner: n += 5; } }
    n += 10000;
    out: return n;
}
void into_blocks() {
    int i = 0, n = 0, k = 5, m = 0;
    goto middle;
    while (i < 3) { n += 10; middle: n++; i++; }
    note(n);
    for (k = 0; k < 20; k++) note(into(k));
    k = 5; goto looping;
    for (k = 0; k < 8; k++) { note(700 + k); looping: note(800 + k); if (k == 7) break; }
    goto doing;
    do { note(1); doing: note(2); k--; if (k == 6) goto doing; } while (k > 4);
    back: m++;
    if (m < 4) { note(90 + m); mid: note(60 + m); if (m == 2) goto back; }
    if (m < 3) { m++; goto mid; }
    if (m < 6) { m++; goto back; }
    note(m);
}
uint32_t copy_by_fours(uint32_t count) {
    uint32_t sum = 0, rounds = (count + 3) / 4;
    switch (count % 4) {
        case 0: do { sum += 1; case 3: sum += 10; case 2: sum += 100; case 1: sum += 1000; } while (--rounds > 0);
    }
    return sum;
}
uint32_t find_case(uint32_t i) {
    uint32_t s = 0;
    switch (i) {
        case 0: s++; while (s < 3) { case 1 ... 4: s += 2; if (s > 4) break; continue; case 5: s += 30; switch (s) { case 30: s = 31; break; default: s = 32; } }
            s += 100; break;
        case 7: if (s) { default: s = 77; } else { case 8: return s + 5; }
    }
    return s;
}
enum class Step { first, second, third };
void into_switches() {
    for (uint32_t n = 1; n < 14; ++n) { note(copy_by_fours(n)); note(find_case(n - 1)); }
    for (int i = 0; i < 3; ++i) {
        int s = 0;
        switch (static_cast<Step>(i)) { case Step::first: { s = 1; case Step::second: s += 2; break; } default: for (int j = 0; j < 5; ++j) { if (j == 2) break; if (j == 1) continue; s++; } }
        note(s);
    }
    int s = 0, i = 0; goto in;
again:
    switch (i) { case 0: s += 1; i = 2; goto again; case 1: { in: s += 10; } i = 0; if (s < 15) goto again; break; case 2: s += 100; i = 3; goto in; case 4: last: s += 1000; }
    note(s); if (s < 1000) goto last; note(s);
}
namespace first {
// Loops, branches and labels before the cases of a switch: entered by jumps only.
uint32_t duff(uint32_t n){ uint32_t c=0,i=(n+3)/4; switch(n%4){ do { case 0:c+=1; case 3:c+=10; case 2:c+=100; case 1:c+=1000; } while(--i); } return c; }
uint32_t label(uint32_t x){ switch(x){ here: return 12; case 1: goto here; case 2: return 13; } return 0; }
uint32_t branches(uint32_t x){ uint32_t r=1; switch(x){ if(x==99){ case 1: r=2; } else { case 2: r+=3; } r+=10; default: r*=2; } return r; }
void notes(){ for(int i=1;i<10;i++) note(duff(i)); for(int i=0;i<4;i++) { note(label(i)); note(branches(i)); } }
}  // namespace first
void kernel_main() {
    first::notes();
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
    into_blocks();
    into_switches();
}
