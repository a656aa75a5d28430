// CoreLocalMem ScopedLock CircularBuffer_scoped_lock DataflowBuffer_scoped_lock DataflowBuffer_scoped_write_lock DataflowBuffer_scoped_read_lock noc_traits_t Scratchpad ScratchpadBindingToken LocalTensorAccessor make_local_tensor_accessors SemaphoreBindingToken DFBBindingToken NocOptVals Noc_is_read_trid_flushed DataflowBuffer_evil_set_read_ptr DataflowBuffer_evil_set_write_ptr is_dataflow_buffer_v DataflowBuffer_get_stride_size clobber_all_memory scoped_lock_release_cache_ops ncrisc_noc_read_with_transaction_id_flushed DataflowBuffer_read_tile_value
namespace experimental {

// A lock only tells a debugger of tt-metal who uses memory.
struct ScopedLock {};

// A pointer to elements in the memory of this core.
template <typename T, typename AddressType = uint32_t>
class CoreLocalMem {
public:
    AddressType address;

    CoreLocalMem(AddressType given) : address(given) {}
    CoreLocalMem(T* given) : address(reinterpret_cast<AddressType>(given)) {}
    T* get_unsafe_ptr() const { return reinterpret_cast<T*>(address); }
    AddressType get_address() const { return address; }
    ScopedLock scoped_lock(uint32_t count = 1) const { return ScopedLock{}; }
    T& operator[](uint32_t index) const { return get_unsafe_ptr()[index]; }
    T& operator*() const { return *get_unsafe_ptr(); }
    T* operator->() const { return get_unsafe_ptr(); }
    CoreLocalMem& operator+=(int count) {
        address += count * sizeof(T);
        return *this;
    }
    CoreLocalMem& operator-=(int count) {
        address -= count * sizeof(T);
        return *this;
    }
    CoreLocalMem& operator++() {
        address += sizeof(T);
        return *this;
    }
    CoreLocalMem& operator--() {
        address -= sizeof(T);
        return *this;
    }
    CoreLocalMem operator++(int) {
        CoreLocalMem before = *this;
        address += sizeof(T);
        return before;
    }
    CoreLocalMem operator--(int) {
        CoreLocalMem before = *this;
        address -= sizeof(T);
        return before;
    }
    CoreLocalMem operator+(int count) const { return CoreLocalMem(AddressType(address + count * sizeof(T))); }
    CoreLocalMem operator-(int count) const { return CoreLocalMem(AddressType(address - count * sizeof(T))); }
    int operator-(const CoreLocalMem& b) const { return int(address - b.address) / int(sizeof(T)); }
    bool operator==(const CoreLocalMem& b) const { return address == b.address; }
    bool operator!=(const CoreLocalMem& b) const { return address != b.address; }
    bool operator<(const CoreLocalMem& b) const { return address < b.address; }
    bool operator<=(const CoreLocalMem& b) const { return address <= b.address; }
    bool operator>(const CoreLocalMem& b) const { return address > b.address; }
    bool operator>=(const CoreLocalMem& b) const { return address >= b.address; }
    explicit operator bool() const { return address != 0; }
};

// A semaphore that the host program gives a name, and who uses it.
struct SemaphoreBindingToken {
    uint32_t id;
    SemScope scope;
    constexpr operator uint32_t() const { return id; }
};

// The number of a circular buffer that the host program gives a name. How its entries are accessed
// is known for Quasar alone.
template <
    dfb::AccessPattern Producer = dfb::AccessPattern::UNKNOWN,
    dfb::AccessPattern Consumer = dfb::AccessPattern::UNKNOWN>
using DFBBindingToken = uint16_t;
template <typename T> inline constexpr bool is_dataflow_buffer_v = std::is_same_v<T, DataflowBuffer>;

// Memory of this core that the host program gives a name: the common argument with its address.
struct ScratchpadBindingToken {
    uint32_t argument;
    uint32_t bytes;
};

template <typename T>
class Scratchpad {
public:
    uint32_t address;
    uint32_t bytes;

    explicit Scratchpad(const ScratchpadBindingToken& token)
        : address(get_common_arg_val<uint32_t>(token.argument)), bytes(token.bytes) {}
    T& operator[](uint32_t index) const {
        ASSERT(index < size());
        return local_mem()[index];
    }
    uint32_t size() const { return bytes / sizeof(T); }
    uint32_t size_in_bytes() const { return bytes; }
    uint32_t get_base_address() const { return address; }
    CoreLocalMem<T> local_mem() const { return CoreLocalMem<T>(address); }
    CoreLocalMem<T> begin() const { return local_mem(); }
    CoreLocalMem<T> end() const { return CoreLocalMem<T>(address + bytes); }
    ScopedLock scoped_lock(uint32_t first, uint32_t count) const {
        ASSERT(first + count <= size());
        return ScopedLock{};
    }
};

// The part of a tensor in L1 that this core holds, for data movement and for compute kernels.
template <typename T>
class LocalTensorAccessor {
public:
    uint32_t address;

    explicit LocalTensorAccessor(uint32_t given) : address(given) { ASSERT(address % alignof(T) == 0); }
    template <uint32_t Layout, uint32_t Address, uint32_t CommonLayout>
    explicit LocalTensorAccessor(tensor_accessor::TensorBindingToken<Layout, Address, CommonLayout> token)
        : LocalTensorAccessor(get_common_arg_val<uint32_t>(Address)) {
        static_assert(
            !TensorAccessorArgs<Layout, CommonLayout>().is_dram,
            "LocalTensorAccessor takes a tensor in L1, and this one is in DRAM; use TensorAccessor");
    }
    T& operator[](uint32_t index) const { return local_mem()[index]; }
    uint32_t get_bank_base_address() const { return address; }
    ScopedLock scoped_lock(uint32_t first, uint32_t count) const { return ScopedLock{}; }
    CoreLocalMem<T> local_mem() const { return CoreLocalMem<T>(address); }
};

template <typename T, typename Tokens, size_t... Numbers>
auto make_local_accessors(const Tokens& tokens, std::index_sequence<Numbers...>) {
    return std::array<LocalTensorAccessor<T>, sizeof...(Numbers)>{
        LocalTensorAccessor<T>(std::get<Numbers>(tokens))...};
}

template <typename T, typename... Tokens>
auto make_local_tensor_accessors(const std::tuple<Tokens...>& tokens) {
    return make_local_accessors<T>(tokens, std::make_index_sequence<sizeof...(Tokens)>{});
}

inline ScopedLock CircularBuffer_scoped_lock(const CircularBuffer& buffer, uint32_t count = 1) { return ScopedLock{}; }
inline ScopedLock DataflowBuffer_scoped_lock(const DataflowBuffer& buffer, uint32_t count = 1) { return ScopedLock{}; }

// The memory of pages that are reserved or filled.
class LockedPages {
public:
    uint32_t address;

    explicit LockedPages(uint32_t given) : address(given) {}
    template <typename T>
    CoreLocalMem<T> get_ptr() const { return CoreLocalMem<T>(address); }
};

inline LockedPages DataflowBuffer_scoped_write_lock(const DataflowBuffer& buffer, uint32_t count = 1) {
    return LockedPages(buffer.get_write_ptr());
}
inline LockedPages DataflowBuffer_scoped_read_lock(const DataflowBuffer& buffer, uint32_t count = 1) {
    return LockedPages(buffer.get_read_ptr());
}

inline uint32_t DataflowBuffer_read_tile_value(const DataflowBuffer& buffer, uint32_t tile, uint32_t element) {
    return read_tile_value(buffer.get_id(), tile, element);
}
inline uint32_t DataflowBuffer_get_stride_size(const DataflowBuffer& buffer) { return buffer.get_entry_size(); }

// Moves a pointer of this processor; the MATH thread has none.
inline void DataflowBuffer_evil_set_read_ptr(const DataflowBuffer& buffer, uint32_t address) {
#ifndef TRISC_MATH
    get_local_cb_interface(buffer.get_id()).fifo_rd_ptr = address;
#endif
}
inline void DataflowBuffer_evil_set_write_ptr(const DataflowBuffer& buffer, uint32_t address) {
#ifndef TRISC_MATH
    get_local_cb_interface(buffer.get_id()).fifo_wr_ptr = address;
#endif
}

// The number and the virtual channel of a transfer.
struct NocOptVals {
    uint32_t trid = 0;
    uint32_t vc = 0;
};

// Who asks again and again waits, so an answer comes when it is yes.
inline bool Noc_is_read_trid_flushed(const Noc& noc, uint32_t trid) {
    noc.async_read_barrier<NocOptions::TXN_ID>(NocOptVals{trid});
    return true;
}

inline bool ncrisc_noc_read_with_transaction_id_flushed(uint32_t noc, uint32_t trid) {
    noc_async_read_barrier_with_trid(trid, noc);
    return true;
}

// Memory has no caches here, and is read and written in the order of the kernel.
inline void clobber_all_memory() {}
inline void scoped_lock_release_cache_ops(uintptr_t address, uint32_t bytes) {}

// Where in an object a transfer begins, as an object instead of a list in braces.
template <typename T>
struct noc_traits_t {
    struct src_args_type {
        uint32_t offset_bytes = 0;
    };
    using dst_args_type = src_args_type;
    struct dst_args_mcast_type {
        uint32_t noc_x_start = 0;
        uint32_t noc_y_start = 0;
        uint32_t noc_x_end = 0;
        uint32_t noc_y_end = 0;
        uint32_t offset_bytes = 0;
    };
};

template <>
struct noc_traits_t<UnicastEndpoint> {
    struct src_args_type {
        uint32_t noc_x = 0;
        uint32_t noc_y = 0;
        uint32_t addr = 0;
    };
    using dst_args_type = src_args_type;
};

template <>
struct noc_traits_t<MulticastEndpoint> {
    struct dst_args_mcast_type {
        uint32_t noc_x_start = 0;
        uint32_t noc_y_start = 0;
        uint32_t noc_x_end = 0;
        uint32_t noc_y_end = 0;
        uint32_t addr = 0;
    };
};

template <>
struct noc_traits_t<TensorAccessor> {
    struct src_args_type {
        uint32_t page_id = 0;
        uint32_t offset_bytes = 0;
    };
    using dst_args_type = src_args_type;
};

}  // namespace experimental
