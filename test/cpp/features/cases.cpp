// Cases
// `case 1 ... 4`, which compilers add to C++, and `using enum` of C++20.
namespace kinds { enum class Kind : uint8_t { None, Small = 3, Large = 9 }; }
template <uint32_t N = 3, typename T = uint16_t> struct Defaults { static constexpr uint32_t n = N; T v = N; };
void kernel_main() {
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
}
