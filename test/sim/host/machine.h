// What kernels need of a Tensix core to run as a program of the host: a thread for each kernel,
// circular buffers under one lock, L1 and DRAM as bytes, tiles of bfloat16 computed in float.
//
// L1 lies below 4 GiB, so that kernels can make pointers of its addresses.
#pragma once
#include <sys/mman.h>

#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "kernel_calls.h"

namespace host {

constexpr uint32_t L1_START = 0x10000000, L1_SIZE = 1464 << 10;
constexpr uint32_t BANKS = 12, BANK_SIZE = 4 << 20, DRAM_ALIGNMENT = 32;
constexpr uint32_t TILE = 1024;

struct CircularBuffer {
    uint32_t address, page_size, pages, received, acked, packed;
};

inline uint8_t* l1;
inline std::vector<uint8_t> dram[BANKS];
inline CircularBuffer buffers[32];
inline uint32_t l1_free;
inline float dst[8][TILE];
inline std::mutex lock;
inline std::condition_variable changed;
inline thread_local std::vector<uint32_t> arguments;

// A core and channels as after a reset, filled with a byte that is no useful number.
inline void reset() {
    if (l1 == nullptr) {
        void* place = reinterpret_cast<void*>(uintptr_t{L1_START});
        int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
        l1 = static_cast<uint8_t*>(mmap(place, L1_SIZE, PROT_READ | PROT_WRITE, flags, -1, 0));
        if (l1 != place) { std::perror("mmap"); std::exit(1); }
    }
    std::memset(l1, 0xA5, L1_SIZE);
    for (auto& bank : dram) { bank.assign(BANK_SIZE, 0xA5); }
    std::memset(buffers, 0, sizeof(buffers));
    l1_free = L1_START + 4096;
}

inline void create_buffer(uint32_t index, uint32_t pages, uint32_t page_size) {
    buffers[index] = {l1_free, page_size, pages, 0, 0, 0};
    l1_free += pages * page_size;
}

inline uint32_t pitch(uint32_t page_size) {
    return (page_size + DRAM_ALIGNMENT - 1) / DRAM_ALIGNMENT * DRAM_ALIGNMENT;
}

// Where a page of an interleaved buffer lies: the bank above 36 bits of address.
inline uint64_t noc_address(uint32_t base, uint32_t page_size, uint32_t page, uint32_t offset) {
    return uint64_t{page % BANKS} << 36 | (base + page / BANKS * pitch(page_size) + offset);
}

inline uint8_t* dram_at(uint64_t address) {
    return &dram[address >> 36][address & 0xFFFFFFFFF];
}

inline void transfer(const char* file, const char* mode, uint32_t base, uint32_t pages,
                     uint32_t page_size) {
    std::FILE* stream = std::fopen(file, mode);
    if (stream == nullptr) { std::perror(file); std::exit(1); }
    for (uint32_t page = 0; page < pages; page++) {
        uint8_t* place = dram_at(noc_address(base, page_size, page, 0));
        size_t done = *mode == 'r' ? std::fread(place, 1, page_size, stream)
                                   : std::fwrite(place, 1, page_size, stream);
        if (done != page_size) { std::perror(file); std::exit(1); }
    }
    std::fclose(stream);
}

// A circular buffer that is full from the start, and one that is read when all is done.
inline void transfer(const char* file, const char* mode, uint32_t cb) {
    CircularBuffer& buffer = buffers[cb];
    uint8_t* place = l1 + buffer.address - L1_START;
    size_t size = size_t{buffer.pages} * buffer.page_size;
    std::FILE* stream = std::fopen(file, mode);
    if (stream == nullptr) { std::perror(file); std::exit(1); }
    size_t done = *mode == 'r' ? std::fread(place, 1, size, stream)
                               : std::fwrite(place, 1, size, stream);
    if (done != size) { std::perror(file); std::exit(1); }
    if (*mode == 'r') { buffer.received = buffer.pages; }
    std::fclose(stream);
}

struct Kernel {
    void (*entry)();
    std::vector<uint32_t> arguments;
};

inline void run(const std::vector<Kernel>& kernels) {
    std::vector<std::thread> threads;
    for (const Kernel& kernel : kernels) {
        threads.emplace_back([&kernel] {
            arguments = kernel.arguments;
            kernel.entry();
        });
    }
    for (auto& thread : threads) { thread.join(); }
}

inline float from_bfloat16(uint16_t bits) {
    uint32_t word = uint32_t{bits} << 16;
    float value;
    std::memcpy(&value, &word, 4);
    return value;
}

// Nearest, ties to even; none of the numbers here is NaN.
inline uint16_t to_bfloat16(float value) {
    uint32_t word;
    std::memcpy(&word, &value, 4);
    return static_cast<uint16_t>((word + 0x7FFF + (word >> 16 & 1)) >> 16);
}

inline float tile_element(uint32_t cb, uint32_t tile, uint32_t position) {
    uint16_t bits;
    const CircularBuffer& buffer = buffers[cb];
    uint32_t page = (buffer.acked + tile) % buffer.pages;
    std::memcpy(&bits, l1 + buffer.address - L1_START + page * buffer.page_size + 2 * position, 2);
    return from_bfloat16(bits);
}

// The place of an element in a tile of four faces of 16x16.
inline uint32_t place(uint32_t row, uint32_t column) {
    return (row / 16 * 2 + column / 16) * 256 + row % 16 * 16 + column % 16;
}

inline void apply(uint32_t tile, float (*function)(float)) {
    for (float& each : dst[tile]) { each = function(each); }
}

}  // namespace host

// --- Circular buffers ---

inline void cb_reserve_back(uint32_t cb, uint32_t pages) {
    std::unique_lock guard(host::lock);
    auto& buffer = host::buffers[cb];
    host::changed.wait(guard, [&] {
        return buffer.pages - (buffer.received - buffer.acked) >= pages;
    });
}
inline void cb_push_back(uint32_t cb, uint32_t pages) {
    std::unique_lock guard(host::lock);
    host::buffers[cb].received += pages;
    host::buffers[cb].packed = 0;
    host::changed.notify_all();
}
inline void cb_wait_front(uint32_t cb, uint32_t pages) {
    std::unique_lock guard(host::lock);
    auto& buffer = host::buffers[cb];
    host::changed.wait(guard, [&] { return buffer.received - buffer.acked >= pages; });
}
inline void cb_pop_front(uint32_t cb, uint32_t pages) {
    std::unique_lock guard(host::lock);
    host::buffers[cb].acked += pages;
    host::changed.notify_all();
}
inline uint32_t get_write_ptr(uint32_t cb) {
    const auto& buffer = host::buffers[cb];
    return buffer.address + buffer.received % buffer.pages * buffer.page_size;
}
inline uint32_t get_read_ptr(uint32_t cb) {
    const auto& buffer = host::buffers[cb];
    return buffer.address + buffer.acked % buffer.pages * buffer.page_size;
}
inline uint32_t tile_bytes_of(uint32_t cb) { return host::buffers[cb].page_size; }

// --- Data movement ---

template <typename type>
type get_arg_val(uint32_t index) {
    return static_cast<type>(host::arguments.at(index));
}
template <bool dram>
uint64_t InterleavedAddrGen<dram>::get_noc_addr(uint32_t id, uint32_t offset, uint8_t) const {
    return host::noc_address(bank_base_address, page_size, id, offset);
}
template <bool dram, uint32_t tile_hw>
uint64_t InterleavedAddrGenFast<dram, tile_hw>::get_noc_addr(
    uint32_t id, uint32_t offset, uint8_t) const {
    return host::noc_address(bank_base_address, page_size, id, offset);
}
template <AddressGenerator Generator>
uint64_t get_noc_addr(uint32_t id, const Generator& generator, uint32_t offset, uint8_t noc) {
    return generator.get_noc_addr(id, offset, noc);
}
template <uint32_t max_page_size, bool enable_noc_tracing>
void noc_async_read(uint64_t from, uint32_t to, uint32_t size, uint8_t, uint32_t) {
    std::memcpy(host::l1 + to - host::L1_START, host::dram_at(from), size);
}
template <uint32_t max_page_size, bool enable_noc_tracing, bool posted>
void noc_async_write(uint32_t from, uint64_t to, uint32_t size, uint8_t, uint32_t) {
    std::memcpy(host::dram_at(to), host::l1 + from - host::L1_START, size);
}
template <AddressGenerator Generator>
void noc_async_read_tile(
    uint32_t id, const Generator& generator, uint32_t to, uint32_t offset, uint8_t noc) {
    noc_async_read(generator.get_noc_addr(id, offset, noc), to, generator.page_size);
}
template <AddressGenerator Generator>
void noc_async_write_tile(uint32_t id, const Generator& generator, uint32_t from, uint8_t noc) {
    noc_async_write(from, generator.get_noc_addr(id, 0, noc), generator.page_size);
}
inline void noc_async_read_barrier(uint8_t) {}
inline void noc_async_write_barrier(uint8_t) {}
template <typename T>
const Printer& Printer::operator<<(const T&) const { return *this; }

// --- Compute: one thread does what three processors do in turns ---

inline void tile_regs_acquire() { std::memset(host::dst, 0, sizeof(host::dst)); }
inline void tile_regs_commit() {}
inline void tile_regs_wait() {}
inline void tile_regs_release() {}
inline void acquire_dst() { tile_regs_acquire(); }
inline void release_dst() {}
inline void binary_op_init_common(uint32_t, uint32_t, uint32_t) {}
inline void add_tiles_init(uint32_t, uint32_t, bool) {}
inline void add_init(uint32_t, uint32_t, bool) {}
inline void mm_init(uint32_t, uint32_t, uint32_t, uint32_t) {}
inline void matmul_init(uint32_t, uint32_t, uint32_t) {}
inline void compute_kernel_hw_startup(uint32_t, uint32_t, uint32_t) {}
inline void init_sfpu(uint32_t, uint32_t) {}
inline void relu_tile_init() {}
inline void negative_tile_init() {}
inline void copy_tile_init(uint32_t) {}
inline void binary_max_tile_init() {}
template <bool approx, bool fast_and_approx, bool narrow>
void exp_tile_init() {}

inline void copy_tile(uint32_t cb, uint32_t tile, uint32_t to) {
    for (uint32_t i = 0; i < host::TILE; i++) { host::dst[to][i] = host::tile_element(cb, tile, i); }
}
inline void add_tiles(uint32_t a, uint32_t b, uint32_t a_tile, uint32_t b_tile, uint32_t to) {
    for (uint32_t i = 0; i < host::TILE; i++) {
        host::dst[to][i] = host::tile_element(a, a_tile, i) + host::tile_element(b, b_tile, i);
    }
}
inline void matmul_tiles(
    uint32_t a, uint32_t b, uint32_t a_tile, uint32_t b_tile, uint32_t to, uint32_t) {
    using host::place, host::tile_element;
    for (uint32_t row = 0; row < 32; row++) {
        for (uint32_t column = 0; column < 32; column++) {
            float sum = host::dst[to][place(row, column)];
            for (uint32_t k = 0; k < 32; k++) {
                sum += tile_element(a, a_tile, place(row, k)) *
                       tile_element(b, b_tile, place(k, column));
            }
            host::dst[to][place(row, column)] = sum;
        }
    }
}
inline void relu_tile(uint32_t tile) {
    host::apply(tile, [](float x) { return x > 0 ? x : 0; });
}
inline void negative_tile(uint32_t tile) {
    host::apply(tile, [](float x) { return -x; });
}
inline void binary_max_tile(uint32_t a, uint32_t b, uint32_t to) {
    for (uint32_t i = 0; i < host::TILE; i++) {
        host::dst[to][i] = std::fmax(host::dst[a][i], host::dst[b][i]);
    }
}
template <bool approx, bool fast_and_approx, bool narrow>
void exp_tile(uint32_t tile) {
    host::apply(tile, [](float x) { return std::exp(x); });
}
template <bool out_of_order>
void pack_tile(uint32_t from, uint32_t cb, uint32_t index) {
    auto& buffer = host::buffers[cb];
    uint32_t page = (buffer.received + (out_of_order ? index : buffer.packed++)) % buffer.pages;
    uint8_t* target = host::l1 + buffer.address - host::L1_START + page * buffer.page_size;
    for (uint32_t i = 0; i < host::TILE; i++) {
        uint16_t bits = host::to_bfloat16(host::dst[from][i]);
        std::memcpy(target + 2 * i, &bits, 2);
    }
}

// The generated header knows these as constants that are 1.
#define get_tile_size(cb) tile_bytes_of(cb)
#define get_compile_time_arg_val(index) compile_time_args[index]
