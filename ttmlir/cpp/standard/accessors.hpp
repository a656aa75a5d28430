// Page TensorAccessor_pages TensorAccessor_shard_pages TensorAccessor_dspec TensorAccessor_get_bank_and_offset BankAndOffset AbstractTensorAccessorWrapper make_tensor_accessor_args_tuple make_tensor_accessor_tuple make_tensor_accessor_tuple_uniform_page_size make_tensor_accessors make_abstract_tensor_accessor_wrappers TensorBindingToken has_get_noc_addr_v has_get_aligned_page_size_v has_page_size_v has_log_base_2_of_page_size_v has_required_addrgen_traits_v
namespace tensor_accessor {

// A tensor that the host program gives a name: its first compile-time argument, the common argument
// with its address, and the first one of its layout.
template <uint32_t Layout, uint32_t Address, uint32_t CommonLayout>
struct TensorBindingToken {};

// A page of a tensor, as loops over pages give them.
class Page {
public:
    uint64_t address;
    uint32_t number;

    Page(uint64_t noc_addr = 0, uint32_t page_id = 0) : address(noc_addr), number(page_id) {}
    uint64_t noc_addr() const { return address; }
    uint32_t page_id() const { return number; }
};

constexpr uint32_t no_page = 0xffffffffu;

// Pages one after another, those of a shard without the places that have none.
class PageIterator {
public:
    TensorAccessor accessor;
    uint32_t shard;
    uint32_t place;
    uint32_t last;
    Page current;

    PageIterator(const TensorAccessor& given, uint32_t in_shard, uint32_t first, uint32_t end)
        : accessor(given), shard(in_shard), place(first), last(end), current{} { find(); }
    void find() {
        uint32_t number = no_page;
        while (place < last && number == no_page) {
            number = shard == no_page ? place : accessor.builtin_page_of_shard(shard, place);
            if (number == no_page) {
                place += 1;
            }
        }
        if (place < last) {
            current.number = number;
            current.address = accessor.get_noc_addr(number);
        }
    }
    const Page& operator*() const { return current; }
    const Page* operator->() const { return &current; }
    uint32_t page_id() const { return current.number; }
    PageIterator& operator++() {
        place += 1;
        find();
        return *this;
    }
    PageIterator& operator+=(uint32_t count) {
        for (uint32_t step = 0; step < count && place < last; ++step) {
            place += 1;
            find();
        }
        return *this;
    }
    bool operator==(const PageIterator& b) const { return place >= last; }
    bool operator!=(const PageIterator& b) const { return place < last; }
};

class Pages {
public:
    TensorAccessor accessor;
    uint32_t shard;
    uint32_t first;
    uint32_t last;

    Pages(const TensorAccessor& given, uint32_t in_shard, uint32_t start, uint32_t end)
        : accessor(given), shard(in_shard), first(start), last(end) {}
    PageIterator begin() const { return PageIterator(accessor, shard, first, last); }
    PageIterator end() const { return PageIterator(accessor, shard, last, last); }
};

inline Pages TensorAccessor_pages(const TensorAccessor& accessor, uint32_t start = 0, uint32_t end = 0, uint32_t noc = 0) {
    return Pages(accessor, no_page, start, end == 0 ? accessor.builtin_count(0) : end);
}
inline Pages TensorAccessor_shard_pages(
    const TensorAccessor& accessor, uint32_t shard, uint32_t start = 0, uint32_t end = 0, uint32_t noc = 0) {
    return Pages(accessor, shard, start, end == 0 ? accessor.builtin_count(1) : end);
}

// What is known of the shards of a tensor.
class Extents {
public:
    TensorAccessor accessor;
    uint32_t kind;

    Extents(const TensorAccessor& given, uint32_t of) : accessor(given), kind(of) {}
    uint32_t operator[](uint32_t dimension) const { return accessor.builtin_extent(kind, dimension); }
    uint32_t size() const { return accessor.builtin_count(kind == 5 ? 4 : 2); }
};

class DistributionSpec {
public:
    TensorAccessor accessor;

    explicit DistributionSpec(const TensorAccessor& given) : accessor(given) {}
    uint32_t rank() const { return accessor.builtin_count(2); }
    uint32_t num_banks() const { return accessor.builtin_count(3); }
    uint32_t tensor_volume() const { return accessor.builtin_count(0); }
    uint32_t shard_volume() const { return accessor.builtin_count(1); }
    Extents tensor_shape() const { return Extents(accessor, 0); }
    Extents shard_shape() const { return Extents(accessor, 1); }
    Extents tensor_strides() const { return Extents(accessor, 2); }
    Extents shard_grid() const { return Extents(accessor, 3); }
    Extents shard_grid_strides() const { return Extents(accessor, 4); }
    Extents packed_xy_coords() const { return Extents(accessor, 5); }
};

inline DistributionSpec TensorAccessor_dspec(const TensorAccessor& accessor) { return DistributionSpec(accessor); }

struct BankAndOffset {
    uint32_t bank_id;
    uint32_t bank_page_offset;
};

inline BankAndOffset TensorAccessor_get_bank_and_offset(const TensorAccessor& accessor, uint32_t page) {
    return BankAndOffset{accessor.builtin_bank_of_page(page), accessor.builtin_place_of_page(page)};
}

// Several tensors: their layouts stand one after another.
template <uint32_t Base, uint32_t Number>
constexpr uint32_t find_layout() {
    if constexpr (Number == 0) {
        return Base;
    } else {
        return find_layout<TensorAccessorArgs<Base>().next_compile_time_args_offset(), Number - 1>();
    }
}

template <uint32_t Base, uint32_t Common, size_t... Numbers>
constexpr auto make_layouts(std::index_sequence<Numbers...>) {
    return std::make_tuple(TensorAccessorArgs<find_layout<Base, Numbers>(), Common>()...);
}

template <uint32_t Count, uint32_t Base, uint32_t Common = 0>
constexpr auto make_tensor_accessor_args_tuple() {
    return make_layouts<Base, Common>(std::make_index_sequence<Count>{});
}

template <typename Layouts, size_t... Numbers>
auto make_accessors(const Layouts& layouts, uint32_t address, uint32_t size, std::index_sequence<Numbers...>) {
    return std::make_tuple(TensorAccessor(
        std::get<Numbers>(layouts), get_arg_val<uint32_t>(address + Numbers), kernel_compile_time_args[size + Numbers])...);
}

template <typename... Layouts>
auto make_tensor_accessor_tuple(const std::tuple<Layouts...>& layouts, uint32_t address, uint32_t size) {
    return make_accessors(layouts, address, size, std::make_index_sequence<sizeof...(Layouts)>{});
}

template <typename Layouts, size_t... Numbers>
auto make_whole_accessors(const Layouts& layouts, uint32_t address, std::index_sequence<Numbers...>) {
    return std::make_tuple(TensorAccessor(std::get<Numbers>(layouts), get_arg_val<uint32_t>(address + Numbers))...);
}

// Since 0.81 a layout holds the size of a page.
template <typename... Layouts>
auto make_tensor_accessor_tuple(const std::tuple<Layouts...>& layouts, uint32_t address) {
    return make_whole_accessors(layouts, address, std::make_index_sequence<sizeof...(Layouts)>{});
}

template <typename Layouts, size_t... Numbers>
auto make_even_accessors(const Layouts& layouts, uint32_t address, uint32_t size, std::index_sequence<Numbers...>) {
    return std::make_tuple(
        TensorAccessor(std::get<Numbers>(layouts), get_arg_val<uint32_t>(address + Numbers), size)...);
}

template <typename... Layouts>
auto make_tensor_accessor_tuple_uniform_page_size(
    const std::tuple<Layouts...>& layouts, uint32_t address, uint32_t size) {
    return make_even_accessors(layouts, address, size, std::make_index_sequence<sizeof...(Layouts)>{});
}

template <typename Tokens, size_t... Numbers>
auto make_bound_accessors(const Tokens& tokens, std::index_sequence<Numbers...>) {
    return std::make_tuple(TensorAccessor(std::get<Numbers>(tokens))...);
}

// Of tensors that the host program gives a name together.
template <typename... Tokens>
auto make_tensor_accessors(const std::tuple<Tokens...>& tokens) {
    return make_bound_accessors(tokens, std::make_index_sequence<sizeof...(Tokens)>{});
}

class AbstractTensorAccessorWrapper {
public:
    TensorAccessor accessor;

    explicit AbstractTensorAccessorWrapper(const TensorAccessor& given) : accessor(given) {}
    uint64_t get_noc_addr(uint32_t page, uint32_t offset = 0, uint8_t noc = 0) const {
        return accessor.get_noc_addr(page, offset);
    }
};

template <typename Accessors, size_t... Numbers>
auto make_wrappers(const Accessors& accessors, std::index_sequence<Numbers...>) {
    return std::array<AbstractTensorAccessorWrapper, sizeof...(Numbers)>{
        AbstractTensorAccessorWrapper(std::get<Numbers>(accessors))...};
}

template <typename... Accessors>
auto make_abstract_tensor_accessor_wrappers(const std::tuple<Accessors...>& accessors) {
    return make_wrappers(accessors, std::make_index_sequence<sizeof...(Accessors)>{});
}

// What a class says of its pages.
template <typename T>
constexpr auto gives_address(int) -> decltype((std::declval<T>().get_noc_addr(0u, 0u, uint8_t(0)), true)) { return true; }
template <typename T>
constexpr bool gives_address(...) { return false; }
template <typename T>
inline constexpr bool has_get_noc_addr_v = gives_address<T>(0);

template <typename T>
constexpr auto gives_page_size(int) -> decltype((std::declval<T>().get_aligned_page_size(), true)) { return true; }
template <typename T>
constexpr bool gives_page_size(...) { return false; }
template <typename T>
inline constexpr bool has_get_aligned_page_size_v = gives_page_size<T>(0);

template <typename T>
constexpr auto keeps_page_size(int) -> decltype((std::declval<T>().page_size, true)) { return true; }
template <typename T>
constexpr bool keeps_page_size(...) { return false; }
template <typename T>
inline constexpr bool has_page_size_v = keeps_page_size<T>(0);

template <typename T>
constexpr auto keeps_exponent(int) -> decltype((std::declval<T>().log_base_2_of_page_size, true)) { return true; }
template <typename T>
constexpr bool keeps_exponent(...) { return false; }
template <typename T>
inline constexpr bool has_log_base_2_of_page_size_v = keeps_exponent<T>(0);

template <typename T>
inline constexpr bool has_required_addrgen_traits_v =
    has_get_noc_addr_v<T> &&
    (has_get_aligned_page_size_v<T> || has_page_size_v<T> || has_log_base_2_of_page_size_v<T>);

}  // namespace tensor_accessor
