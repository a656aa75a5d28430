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
void kernel_main() {
    Fields fields{static_cast<Small>(3), BELOW, ALL}; note(fields.small); note(fields.sign); note(fields.large); note(fields.small > -1); note(which(fields.small));
    note(which(+fields.small)); note(which(LOW + 0)); note(which(+fields.large)); note(which(+BELOW)); note(HIGH - 3 < 0); note(ALL > 5);
    note(std::is_signed_v<std::underlying_type_t<Small>>); note(std::is_signed_v<std::underlying_type_t<Signed>>);
    Colour colour = BLUE;
    note(colour); note(sizeof(Colour)); note(Colour::GREEN + 1); note((int)(Flag::Read | Flag::Write)); note(SECOND); note(FOURTH); note(sizeof(FOURTH)); note(FIFTH);
    colour = static_cast<Colour>(5); note(colour == GREEN);
    switch (colour) { case RED: note(1); break; case GREEN: note(2); break; default: note(3); }
}
