struct P { uint32_t x; int32_t y = 5; uint8_t b[3]; };
struct Q { P p; uint16_t h; P ps[2]; };
static uint32_t total = 3;

int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
void bump(uint32_t& r, int by) { r += by; total += r; }
void swap(int* a, int* b) { int t = *a; *a = *b; *b = t; }
void fill(uint32_t* a, uint32_t n) { for (uint32_t i = 0; i < n; i++) a[i] = i * i; }
int sum(const P& p) { return p.x + p.y + p.b[0] + p.b[2]; }
P make(uint32_t x) { P p = {.x = x, .b = {1, 2, 3}}; return p; }
void change(P& p) { p.x = 100; p.b[1]--; }
void change_copy(P p) { p.x = 1000; note(p.x); }
uint32_t count() { static uint32_t calls = 10; return calls++; }
namespace deep { namespace er { int twice(int x) { return 2 * x; } } }
using namespace deep;
namespace { int hidden() { return 13; } }

void kernel_main() {
    int s = 0;
    int i = 20;
    for (int k = 0; k < 10; k++) { if (k == 3) continue; if (k == 8) break; int i = k; s += i; }
    note(s); note(i);
    for (int k = 10, z = 0; k >= 0; k -= 3, z++) { note(k * 100 + z); }
    do { s--; if (s & 1) continue; } while (s > 20);
    note(s);
    do { if (s > 3) break; s = 100; } while (0);
    note(s);
    uint32_t arr[5] = {1, 2}; arr[3] += 7; note(arr[3]); note(arr[4]);
    fill(arr, 5); note(arr[4]); fill(arr + 2, 2); note(arr[3]); fill(&arr[1], 2); note(arr[2]);
    int g[2][3] = {{1, 2, 3}, {4, 5, 6}};
    int t = 0;
    for (auto y = 0u; y < 2; ++y) for (int x = 0; x < 3; x++) t = t * 10 + g[y][x];
    note(t);
    int aa = 1, bb = 2; swap(&aa, &bb); note(aa * 10 + bb);
    bump(total, -1); note(total); bump(arr[1], 5); note(arr[1]); note(total);
    P p = make(7); note(sum(p)); change(p); note(p.x + p.b[1]); change_copy(p); note(p.x);
    P q = p; q.x++; note(p.x); note(q.x); q = p; note(q.x); note(make(8).x);
    Q qq = {.p = p, .h = 9}; qq.ps[1].b[2] = 77; Q rr = qq; rr.ps[1].b[2]++;
    note(qq.ps[1].b[2]); note(rr.ps[1].b[2]); note(qq.ps[0].y); note(qq.p.x);
    P* pq = &qq.ps[1]; pq->x = 55; (*pq).y--; note(qq.ps[1].x + qq.ps[1].y); change(qq.ps[0]); note(qq.ps[0].x);
    note(fib(12)); note(count()); note(count()); note(er::twice(4)); note(hidden());
    uint32_t* pp = arr; *pp++ = 5; *pp = 6; pp[1] = 9; note(arr[0] + arr[1] * 10 + arr[2] * 100);
    note(pp - arr); note(pp == &arr[1]); note(pp > arr); pp += 2; note(*(pp - 1)); note(*--pp);
    auto& ref = arr[2]; ref += 3; note(arr[2]); const auto cv = ref; note(cv);
    int x = 3; int& rx = x; rx = 77; note(x); int* px = &x; (*px)--; note(x);
    note(sizeof(P)); note(sizeof(arr)); note(sizeof(Q)); note(sizeof(x)); note(sizeof arr[0]);
    { int x = 1; { int x = 2; note(x); } note(x); }
    uint32_t cnt = 0;
    for (uint32_t k = 0; k <= 5; ++k) { uint8_t l = k; for (; l; l &= l - 1) cnt++; }
    note(cnt); for (uint8_t k = 3; k != 0; k--) cnt += k; note(cnt);
    for (uint8_t k = 250; k >= 250; k++) cnt++; note(cnt);
    for (uint32_t k = 5; k-- > 0;) note(k);
    arr[x & 3] ^= (arr[1]++, 3); note(arr[0]); note(arr[1]);
    int j = 0; arr[j++] += 10; arr[j++]++; note(arr[0] + arr[1] + j);
    if (int(x) == 76) note(1); else if (x) note(2); else note(3);
}
