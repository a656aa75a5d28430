// Namespaces and names
// Nested namespaces, aliases, `using` of names, types and namespaces; `typedef`.
namespace tensor::layout {
constexpr uint32_t width = 32;
inline uint32_t offset(uint32_t row, uint32_t column) { return row * width + column; }
namespace inner { using Index = uint16_t; struct Pair { Index a, b; }; }
}  // namespace tensor::layout
namespace layout = tensor::layout;
using tensor::layout::inner::Pair;
typedef uint64_t Address;
template <typename T> using Pointer = T*;
namespace { uint32_t hidden() { return 8; } }
void kernel_main() {
    using namespace tensor;
    note(layout::offset(2, 3)); note(tensor::layout::width); note(sizeof(Pair)); note(sizeof(Address)); note(hidden());
    uint32_t value = 4; Pointer<uint32_t> pointer = &value; note(*pointer);
}
