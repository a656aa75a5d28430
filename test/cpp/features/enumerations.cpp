// Enumerations
// With and without scope, with a type, with operators of one's own; names of their members.
enum Colour : uint8_t { RED, GREEN = 5, BLUE };
enum class Flag : uint32_t { None, Read = 1, Write = 2 };
constexpr Flag operator|(Flag a, Flag b) { return static_cast<Flag>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b)); }
enum { FIRST = 3, SECOND };
void kernel_main() {
    Colour colour = BLUE;
    note(colour); note(sizeof(Colour)); note(Colour::GREEN + 1); note((int)(Flag::Read | Flag::Write)); note(SECOND);
    colour = static_cast<Colour>(5); note(colour == GREEN);
    switch (colour) { case RED: note(1); break; case GREEN: note(2); break; default: note(3); }
}
