// What both data movement kernels of the multicast product share.
#pragma once
#include <cstdint>
#include "api/dataflow/circular_buffer.h"
#include "api/dataflow/dataflow_api.h"
#include "api/dataflow/endpoints.h"
#include "api/dataflow/noc.h"
#include "api/dataflow/noc_semaphore.h"

// A rectangle of cores, by their places on the network.
struct Rectangle {
    uint32_t start_x;
    uint32_t start_y;
    uint32_t end_x;
    uint32_t end_y;
};

// Sends the block at the back of a circular buffer to the same place on other cores.
//
// `ready` counts the receivers that have room; `valid` tells them that the block has arrived. It
// takes the same way as the block and so arrives later.
template <uint32_t num_receivers>
void send_block(
    Noc& noc, CircularBuffer& cb, uint32_t bytes, const Rectangle& to, Semaphore<>& ready,
    Semaphore<>& valid) {
    ready.wait(num_receivers);
    ready.set(0);
    noc.async_write_multicast(
        use<CircularBuffer::AddrSelector::WRITE_PTR>(cb), MulticastEndpoint{}, bytes, num_receivers,
        {.offset_bytes = 0},
        {.noc_x_start = to.start_x,
         .noc_y_start = to.start_y,
         .noc_x_end = to.end_x,
         .noc_y_end = to.end_y,
         .addr = cb.get_write_ptr()},
        true);
    noc.async_writes_flushed();
    valid.set_multicast(noc, to.start_x, to.start_y, to.end_x, to.end_y, num_receivers);
}

// Waits for a block that another core sends.
inline void receive_block(
    Noc& noc, uint32_t sender_x, uint32_t sender_y, Semaphore<>& ready, Semaphore<>& valid) {
    valid.set(INVALID);
    ready.up(noc, sender_x, sender_y, 1);
    valid.wait(VALID);
}
