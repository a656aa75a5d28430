static int outer = 3;
int last(int n) { int i; for (i = 0; i * i < n; i++) { } return i; }

void kernel_main() {
    int i, n = 4;
    for (i = 0; i < 5; i++) note(i * 10);
    note(i);
    for (i = 7; i > n; i -= 2) { note(i); }
    note(i);
    for (; n < 9; n += 2) note(n);
    note(n);
    for (; n > 0;) { n -= 4; note(n); }
    for (i = 0, n = 10; i < n; i++, n--) note(i * n);
    note(i + n);
    for (outer = 1; outer < 100; outer *= 3) note(outer);
    note(outer); note(last(17));
    uint8_t wraps = 250; for (; wraps; wraps++) { if (wraps == 253) continue; note(wraps); }
    int64_t wide; for (wide = 1; wide < (1ll << 40); wide <<= 13) note(wide);
    int w[4] = {7}; for (i = 0; i < 4; i++) note(w[i]);
    uint8_t splat[5] = {1, 2}; int s = 0; for (i = 0; i < 5; i++) s = s * 10 + splat[i];
    note(s);
    int grid[2][3] = {{5}}; for (i = 0; i < 2; i++) for (n = 0; n < 3; n++) note(grid[i][n]);
    static int held[3] = {9}; held[2]++; note(held[0] + held[1] + held[2]);
}
