// The left-most core of a row reads a block and sends it to the others; these wait for it.
#include <stdint.h>
#include "dataflow_api.h"
#include "debug/dprint.h"

#ifndef NUM_DESTINATIONS
#define NUM_DESTINATIONS 7
#endif
#define MIN(a, b) ((a) < (b) ? (a) : (b))

struct Block {
    uint32_t width;
    uint32_t height = 1;
    uint32_t tiles[2];
};

inline volatile tt_l1_ptr uint32_t* semaphore(uint32_t index) {
    return reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_semaphore(get_arg_val<uint32_t>(index)));
}

void kernel_main() {
    const uint32_t in0_addr = get_arg_val<uint32_t>(0);
    const uint32_t start_tile = get_arg_val<uint32_t>(1), stride_w = get_arg_val<uint32_t>(2);
    const uint32_t x_start = get_arg_val<uint32_t>(3), x_end = get_arg_val<uint32_t>(4);
    const uint32_t y = (uint32_t)my_y[0];
    const bool is_sender = get_arg_val<uint32_t>(7) != 0;
    constexpr uint32_t cb_id = 0, block_w = 4, block_h = 2, num_blocks = 3;
    Block block = {.width = MIN(block_w, 8), .height = block_h};
    block.tiles[0] = block.width * block.height;

    uint32_t sender_semaphore_addr = get_semaphore(get_arg_val<uint32_t>(5));
    uint32_t receiver_semaphore_addr = get_semaphore(get_arg_val<uint32_t>(6));
    volatile tt_l1_ptr uint32_t* sender_ptr = semaphore(5);
    volatile tt_l1_ptr uint32_t* receiver_ptr = semaphore(6);
    const uint32_t tile_bytes = get_tile_size(cb_id);
    const InterleavedAddrGenFast<true> s0 = {
        .bank_base_address = in0_addr, .page_size = tile_bytes, .data_format = get_dataformat(cb_id)};

    *receiver_ptr = VALID;
    uint32_t tile = start_tile;
    for (uint32_t b = 0; b < num_blocks; ++b, tile += block_w) {
        cb_reserve_back(cb_id, block.tiles[0]);
        uint32_t l1_addr = get_write_ptr(cb_id), start_addr = l1_addr;
        if (is_sender) {
            for (uint32_t h = 0; h < block_h; h++) {
                for (uint32_t w = 0; w < block_w; w++) {
                    noc_async_read_tile(tile + h * stride_w + w, s0, l1_addr);
                    l1_addr += tile_bytes;
                }
            }
            noc_async_read_barrier();
            noc_semaphore_wait(sender_ptr, NUM_DESTINATIONS);
            noc_semaphore_set(sender_ptr, 0);
            uint64_t others = get_noc_multicast_addr(x_end, y, x_start, y, start_addr);
            noc_async_write_multicast(start_addr, others, block.tiles[0] * tile_bytes, NUM_DESTINATIONS);
            uint64_t flags = get_noc_multicast_addr(x_end, y, x_start, y, receiver_semaphore_addr);
            noc_semaphore_set_multicast(receiver_semaphore_addr, flags, NUM_DESTINATIONS);
        } else {
            noc_semaphore_set(receiver_ptr, INVALID);
            noc_semaphore_inc(get_noc_addr(x_start - 1, y, sender_semaphore_addr), 1);
            do {
                invalidate_l1_cache();
            } while (receiver_ptr[0] != VALID);
        }
#ifdef DEBUG_PRINT
        DPRINT << "block " << b << ENDL();
#endif
        cb_push_back(cb_id, block.tiles[0]);
    }
}
