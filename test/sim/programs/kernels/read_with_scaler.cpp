// Makes the tile of scalers that a reduction multiplies by, then reads tiles.
#include <stdint.h>
#include "dataflow_api.h"

// Fills the first row of each face with a pair of bfloat16 numbers.
template <uint32_t cb_id>
FORCE_INLINE void generate_reduce_scaler(const uint32_t scaler) {
    cb_reserve_back(cb_id, 1);

    constexpr uint32_t num_zeros_reads = 2048 / MEM_ZEROS_SIZE;
    uint64_t zeros_noc_addr = get_noc_addr(MEM_ZEROS_BASE);
    uint32_t write_addr = get_write_ptr(cb_id);
    volatile tt_l1_ptr uint32_t* ptr = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(write_addr);

    // Fill tile with zeros
    noc_async_read_one_packet_set_state(zeros_noc_addr, MEM_ZEROS_SIZE);
    for (uint32_t i = 0; i < num_zeros_reads; ++i) {
        noc_async_read_one_packet_with_state(zeros_noc_addr, write_addr);
        write_addr += MEM_ZEROS_SIZE;
    }
    noc_async_read_barrier();

    if (scaler != 0) {
        for (int k = 0; k < 4; ++k) {
            uint32_t idx = k << 7;
            for (int j = 0; j < 8; ++j) {
                ptr[idx + j] = scaler;
            }
        }
    }
    cb_push_back(cb_id, 1);
}

void kernel_main() {
    uint32_t src_addr = get_arg_val<uint32_t>(0);
    uint32_t num_tiles = get_arg_val<uint32_t>(1);
    const float scale = 1.0f / get_arg_val<uint32_t>(2);
    uint32_t bits = *reinterpret_cast<const uint32_t*>(&scale);
    uint32_t bf16 = bits >> 16;
    generate_reduce_scaler<tt::CBIndex::c_2>(bf16 << 16 | bf16);

    const InterleavedAddrGenFast<true> s = {
        .bank_base_address = src_addr,
        .page_size = get_tile_size(tt::CBIndex::c_0),
        .data_format = get_dataformat(tt::CBIndex::c_0)};
    for (uint32_t i = 0; i < num_tiles; ++i) {
        cb_reserve_back(tt::CBIndex::c_0, 1);
        noc_async_read_tile(i, s, get_write_ptr(tt::CBIndex::c_0));
        noc_async_read_barrier();
        cb_push_back(tt::CBIndex::c_0, 1);
    }
}
