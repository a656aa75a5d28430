// Cases
// `case 1 ... 4`, which compilers add to C++, and `using enum` of C++20.
namespace kinds { enum class Kind : uint8_t { None, Small = 3, Large = 9 }; }
template <uint32_t N = 3, typename T = uint16_t> struct Defaults { static constexpr uint32_t n = N; T v = N; };
int sign(int x) { switch (x) { case -9 ... -1: return 1; case 0 ... +3: return 2; } return 3; }
int before(int a) { int z = 1; switch (a) { int q; uint32_t r, s[2]; case 9: q = 6; z = q; break; case 8: q = 3; s[1] = r = 4; z = q + r + s[1]; } return z; }
int within(int x) { int r = 0; switch (x) { case 0: r = 1; for (int i;;) { i = r; default: r += 20; if (r > 100) break; } } { int i = r; r = i + 1; } return r; }
namespace unreached {
// What stands before the first case; places behind commas, and blocks in blocks.
int f(int x){ int r=0; switch(x){ r=5; note(99); case 1: r+=1; break; default: r+=2; } return r; }
int g(int x){ switch(x){ int q; q=7; case 3: q=4; return q; case 4: { { { } } } ; {{}} return 8; } return 0; }
void notes() {
    note(f(1)); note(f(2)); note(g(3)); note(g(4)); note(g(5)); int x=1,v=2,w=3; (x,v)=77; note(v); (x=5,w)+=2; note(x); note(w); ((x,v))++; note(v); int* p=&(x,v); *p=3; note(v); (x=v+1, v)=x*10; note(x); note(v); int& r=(x,w); r=50; note(w); {{}} {{{}}} {;} {{;}{}} if(x) {{}} else {{}} for(;;){{ break; }} }
}  // namespace unreached
void kernel_main() {
    note(sign(-9)); note(sign(-2)); note(sign(2)); note(sign(-10)); note(before(9)); note(before(8)); note(before(7)); note(within(0)); note(within(3));
    for (int i = -1; i < 9; i++) {
        switch (i) {
            case -1: note(1); break;
            case 1 ... 3: note(100 + i);
            case 5 ... 5: note(200 + i); break;
            case 7 ... 8: { note(300 + i); break; }
            default: note(400 + i);
        }
    }
    using enum kinds::Kind;
    kinds::Kind k = Small;
    switch (k) { case None ... Small: note(7); break; case Large: note(8); break; }
    note(Defaults<>::n); note(sizeof(Defaults<>)); note(Defaults<4>::n);
    Defaults<> d; note(d.v);
    unreached::notes();
}
