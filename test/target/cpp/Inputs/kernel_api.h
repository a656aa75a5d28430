// The calls that the kernels of these tests make, without bodies: enough for a compiler to check text.
#pragma once
#include <cstddef>
#include <cstdint>

#define MAIN kernel_entry()
#define NAMESPACE kernel_thread
#define tt_l1_ptr
#define ALWI inline

enum class DataFormat : uint8_t { Float32, Float16_b };

namespace tt {
enum CBIndex : uint32_t { c_0, c_1, c_16 = 16, c_24 = 24 };
enum class CB { c_in0, c_in1, c_out0 };
}  // namespace tt

template <bool in_dram>
struct InterleavedAddrGenFast {
  uint32_t bank_base_address;
  uint32_t page_size;
  DataFormat data_format;
};

struct Printer {
  template <typename T>
  Printer& operator<<(T value);
};
struct ENDL {};
inline Printer DPRINT;

constexpr uint32_t VALID = 1, INVALID = 0;
inline uint8_t my_x[2], my_y[2];

template <typename T>
T get_arg_val(int index);
constexpr uint32_t get_compile_time_arg_val(int index) { return 1 + index; }

template <typename CB>
constexpr uint32_t get_tile_size(CB cb) { return 2048; }
template <typename CB>
constexpr DataFormat get_dataformat(CB cb) { return DataFormat::Float16_b; }
template <typename CB>
uint32_t get_write_ptr(CB cb);
template <typename CB>
uint32_t get_read_ptr(CB cb);
template <typename CB>
void cb_reserve_back(CB cb, uint32_t pages);
template <typename CB>
void cb_push_back(CB cb, uint32_t pages);
template <typename CB>
void cb_wait_front(CB cb, uint32_t pages);
template <typename CB>
void cb_pop_front(CB cb, uint32_t pages);

uint64_t get_noc_addr(uint32_t x, uint32_t y, uint32_t address);
uint64_t get_noc_multicast_addr(uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1, uint32_t address);
template <typename Generator>
void noc_async_read_tile(uint32_t id, const Generator& generator, uint32_t l1_address);
template <typename Generator>
void noc_async_write_tile(uint32_t id, const Generator& generator, uint32_t l1_address);
void noc_async_write(uint32_t l1_address, uint64_t noc_address, uint32_t size);
void noc_async_write_multicast(uint32_t l1_address, uint64_t noc_address, uint32_t size, uint32_t count);
void noc_async_read_barrier();
void noc_async_write_barrier();
uint32_t get_semaphore(uint32_t id);
void noc_semaphore_set(volatile uint32_t* semaphore, uint32_t value);
void noc_semaphore_wait(volatile uint32_t* semaphore, uint32_t value);
void noc_semaphore_inc(uint64_t noc_address, uint32_t value);
void noc_semaphore_set_multicast(uint32_t l1_address, uint64_t noc_address, uint32_t count);
void invalidate_l1_cache();

void tile_regs_acquire();
void tile_regs_commit();
void tile_regs_wait();
void tile_regs_release();
template <typename CB>
void pack_tile(uint32_t dst, CB cb, uint32_t index = 0);
template <typename CB>
void copy_tile(CB cb, uint32_t index, uint32_t dst);
template <typename CB>
void copy_tile_to_dst_init_short(CB cb);
template <typename CB>
void binary_op_init_common(CB in0, CB in1, CB out);
template <typename CB>
void add_tiles_init(CB in0, CB in1);
template <typename CB>
void mul_tiles_init(CB in0, CB in1);
template <typename CB>
void add_tiles(CB in0, CB in1, uint32_t i0, uint32_t i1, uint32_t dst);
template <typename CB>
void mul_tiles(CB in0, CB in1, uint32_t i0, uint32_t i1, uint32_t dst);
template <typename CB>
void mm_init(CB in0, CB in1, CB out);
template <typename CB>
void mm_init_short(CB in0, CB in1);
template <typename CB>
void matmul_tiles(CB in0, CB in1, uint32_t i0, uint32_t i1, uint32_t dst, bool transpose);
