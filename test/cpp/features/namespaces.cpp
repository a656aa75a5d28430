// Namespaces and names
// Nested namespaces, aliases, `using` of names, types and namespaces; `typedef`, `extern`.
namespace tensor::layout {
constexpr uint32_t width = 32;
inline uint32_t offset(uint32_t row, uint32_t column) { return row * width + column; }
namespace inner { using Index = uint16_t; struct Pair { Index a, b; }; }
}  // namespace tensor::layout
namespace layout = tensor::layout;
namespace tensor::kinds { enum class Kind { Plain, Tiled }; struct Tile { static constexpr uint32_t side = 32; }; }
namespace short_names { namespace kinds = tensor::kinds; inline uint32_t side() { return kinds::Tile::side; } }
template <short_names::kinds::Kind kind = short_names::kinds::Kind::Tiled> uint32_t kind_of() { return (uint32_t)kind; }
using tensor::layout::inner::Pair;
typedef uint64_t Address;
template <typename T> using Pointer = T*;
namespace { uint32_t hidden() { return 8; } }
extern "C" { constexpr uint32_t seven = 7; uint32_t times_seven(uint32_t x) { return seven * x; } }
extern "C" uint32_t next(uint32_t x) { return x + 1; }
namespace outer {
namespace detail { template <uint32_t N> struct Impl; struct Plain; uint32_t twice(uint32_t x); }
template <uint32_t N> using Operation = detail::Impl<N>;
template <uint32_t N> struct detail::Impl { uint32_t go() const { return N + 1; } };
struct detail::Plain { uint32_t x = 4; };
uint32_t detail::twice(uint32_t x) { return 2 * x; }
}
namespace made {
template <uint32_t N> struct Maker { static uint32_t make(uint32_t x) { return 100 * N + x; } };
using First = Maker<1>;
}
using namespace made;
template <bool First, uint32_t Maker> uint32_t choose() { return First ? made::Maker<3>::make(Maker) : 0; }
namespace shared { extern int both[2]; extern int one; struct Pair { int a; }; extern Pair pair; namespace deep { extern const int table[3]; extern const int last; } }
int read_shared(int i) { return shared::both[i] + shared::one + shared::deep::table[i] + shared::deep::last + shared::pair.a; }
int shared::both[2] = {4, 5}; int shared::one = 7; const int shared::deep::table[3] = {1, 2, 3}; const int shared::deep::last = 9; shared::Pair shared::pair{30};
int read_later() { extern int later[2]; return later[0]; }
int later[2] = {8, 9};
namespace one_way {} namespace other_way { using namespace one_way; } namespace one_way { using namespace other_way; constexpr int both_ways = 3; }
void kernel_main() {
    note(other_way::both_ways);
    note(First::make(5)); note(Maker<2>::make(6)); note((choose<true, 8>()));
    note(next(times_seven(6))); note(short_names::side()); note(kind_of());
    using namespace tensor;
    note(layout::offset(2, 3)); note(tensor::layout::width); note(sizeof(Pair)); note(sizeof(Address)); note(hidden());
    uint32_t value = 4; Pointer<uint32_t> pointer = &value; note(*pointer);
    note(outer::Operation<3>{}.go()); note(outer::detail::Plain{}.x); note(outer::detail::twice(5));
    note(read_shared(0)); shared::both[1] = 50; note(read_shared(1)); note(read_later()); note(sizeof(shared::both));
}
