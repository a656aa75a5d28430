// Enumerations
// With and without scope, with a type, with operators of one's own; names of their members.
enum Colour : uint8_t { RED, GREEN = 5, BLUE };
enum class Flag : uint32_t { None, Read = 1, Write = 2 };
constexpr Flag operator|(Flag a, Flag b) { return static_cast<Flag>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b)); }
enum { FIRST = 3, SECOND };
enum : uint8_t { THIRD = 7, FOURTH };
enum: uint32_t { FIFTH = 1u << 31 };
enum Small { LOW, MIDDLE, HIGH = 2 }; enum Signed { BELOW = -2, ABOVE = 1 }; enum Large { NONE, ALL = 0xffffffff };
struct Fields { Small small : 2; Signed sign : 2; Large large : 32; };
int which(int) { return 1; }
int which(uint32_t) { return 2; }
int which(Small) { return 3; }
namespace turned {
enum class Turn { A, B, C };
Turn& operator++(Turn& e) { return e = Turn((int(e) + 1) % 3); }
Turn operator++(Turn& e, int) { Turn old = e; ++e; return old; }
Turn& operator+=(Turn& e, int by) { return e = Turn((int(e) + by) % 3); }
Flag& operator|=(Flag& e, Flag k) { return e = e | k; }
Turn& operator-=(Turn& e, int& by) { e = Turn((int(e) + by) % 3); by *= 10; return e; }
struct Holder { Turn e = Turn::B; };
void notes() {
    Turn e = Turn::B; Turn* p = &e; Turn t[2] = {Turn::C}; Holder h;
    ++e; note(int(e)); note(int(e++)); note(int(e)); e += 5; note(int(e)); *p += 2; ++(e += 2); ++ ++e; note(int(e)); note(int(++h.e)); h.e++; note(int(h.e));
    t[0] += 2; ++t[1]; note(int(t[0])); note(int(t[1])); for (Turn u = Turn::A; u != Turn::C; ++u) note(int(u));
    Flag f = Flag::None; f |= Flag::Read; note(int(f)); f |= Flag::Write; note(int(f)); Colour c = RED; c = BLUE; note(c); int i = 3; i++; note(i += 2); int j = 4; e -= j; note(int(e)); note(j);
}
}
namespace chosen {
// An operator of one's own is called where its parameters take the operands, else that of C++.
enum Tone : short { DARK = -3, LIGHT }; int operator*(Tone a, Tone b) { return 1000 + int(a) - int(b); }
enum class Level { A = 2, B = 5 }; bool operator==(Level a, int k) { return int(a) == k; } bool operator<(Level a, Level b) { return int(a) > int(b); }
enum class Mask : uint8_t { A = 2, B = 4 };
template <class T, class = std::enable_if_t<std::is_enum_v<T>>> constexpr T operator|(T a, T b) { return T(std::underlying_type_t<T>(a) | std::underlying_type_t<T>(b)); }
template <class T, class = std::enable_if_t<std::is_enum_v<T>>> constexpr T& operator|=(T& a, T b) { return a = a | b; }
template <class T> Mask operator<<(Mask a, T k) { return Mask(uint8_t(a) << k); }
template <class T> int operator==(T, Mask) { return 77; }
enum Bits : unsigned { TOP = 1u << 31, ONE = 1 }; constexpr Bits operator|(Bits a, Bits b) { return static_cast<Bits>(static_cast<unsigned>(a) | b); }
enum Plain { X = 2, Y = 5 }; bool operator==(Plain, int) { return false; }
enum class Same { A, B }; bool operator==(Same, Same) { return true; } bool operator!(Same) { return false; } int operator&&(Same, Same) { return 5; }
int calls = 0; Level level(Level l) { ++calls; return l; }
void notes() {
    note(DARK * 2); note(2 * DARK); note(DARK * LIGHT); note(LIGHT - DARK); note((TOP | ONE) >> 1); note(X == X); note(X == 2); note(X == Y);
    Mask m = Mask::A; m |= Mask::B; note(int(m)); note(int(Mask::A << 3)); note(1 | 2); note(3 == Mask::A); note(Mask::A == Mask::A);
    note(Level::A == 2); note(Level::A == Level::B); note(Level::A < Level::B); note(int(std::max({Level::A, Level::B, Level(7)})));
    note(int(std::min(level(Level::A), level(Level::B)))); note(calls); note(int(std::max(Mask::A, Mask::B))); note(int(std::clamp(Level(3), Level::B, Level::A)));
    note(std::pair(Same::A, 1) == std::pair(Same::B, 1)); note(std::tuple(Same::A, 1) == std::tuple(Same::B, 1)); std::optional<Same> o = Same::A; note(o == Same::B);
    note(Same::A != Same::B); note(!Same::A); note(Same::A && Same::B);
}
}
void kernel_main() {
    turned::notes();
    chosen::notes();
    Fields fields{static_cast<Small>(3), BELOW, ALL}; note(fields.small); note(fields.sign); note(fields.large); note(fields.small > -1); note(which(fields.small));
    note(which(+fields.small)); note(which(LOW + 0)); note(which(+fields.large)); note(which(+BELOW)); note(HIGH - 3 < 0); note(ALL > 5);
    note(std::is_signed_v<std::underlying_type_t<Small>>); note(std::is_signed_v<std::underlying_type_t<Signed>>);
    Colour colour = BLUE;
    note(colour); note(sizeof(Colour)); note(Colour::GREEN + 1); note((int)(Flag::Read | Flag::Write)); note(SECOND); note(FOURTH); note(sizeof(FOURTH)); note(FIFTH);
    colour = static_cast<Colour>(5); note(colour == GREEN);
    switch (colour) { case RED: note(1); break; case GREEN: note(2); break; default: note(3); }
}
