#pragma once

// Remote circular buffers: the ends of a global circular buffer, whose sender writes pages into the
// L1 of its receivers. What each end counts are calls of the simulator. Compute kernels have no
// network, but may have their circular buffers begin at the next page; UNPACK does it.

#include "api/alignment.h"
#if defined(TRISC_MATH) || defined(TRISC_PACK)
#define WITHOUT_REMOTE_BUFFERS
#endif

namespace experimental {

#if !defined(TRISC_UNPACK) && !defined(TRISC_MATH) && !defined(TRISC_PACK)
inline void remote_buffer_tell_all(uint32_t cb_id, uint32_t units, uint8_t noc, bool posted) {
    for (uint32_t i = 0; i < remote_buffer_peers(cb_id); i++) {
        remote_buffer_tell(cb_id, i, units, noc, posted);
    }
}
#endif

template <bool update_remote_over_noc = false>
inline void resize_remote_sender_cb_interface(
    uint32_t cb_id,
    uint32_t page_size,
    uint8_t noc,
    uint8_t nm = 0,
    bool posted = true,
    uint8_t cmd_buf = 0) {
#ifndef WITHOUT_REMOTE_BUFFERS
    const uint32_t skipped = remote_buffer_resize(cb_id, page_size, true);
    if constexpr (update_remote_over_noc) {
        if (skipped != 0) {
            remote_buffer_tell_all(cb_id, skipped, noc, posted);
        }
    }
#endif
}

template <bool update_remote_over_noc = false>
inline void resize_remote_receiver_cb_interface(
    uint32_t cb_id,
    uint32_t page_size,
    uint8_t noc,
    uint8_t nm = 0,
    bool posted = true,
    uint8_t cmd_buf = 0) {
#ifndef WITHOUT_REMOTE_BUFFERS
    const uint32_t skipped = remote_buffer_resize(cb_id, page_size, false);
    if constexpr (update_remote_over_noc) {
        if (skipped != 0) {
            remote_buffer_wait(cb_id, 0, skipped);
            remote_buffer_tell_all(cb_id, skipped, noc, posted);
        }
    }
#endif
}

#if !defined(TRISC_UNPACK) && !defined(TRISC_MATH) && !defined(TRISC_PACK)
inline void remote_cb_reserve_back(uint32_t cb_id, uint32_t num_pages) {
    const uint32_t units = remote_buffer_units(cb_id, num_pages, true);
    for (uint32_t i = 0; i < remote_buffer_peers(cb_id); i++) {
        remote_buffer_wait(cb_id, i, units);
    }
}

template <bool skip_ptr_update = true>
inline void remote_cb_push_back_and_write_pages(
    uint32_t cb_id,
    uint32_t local_cb_addr,
    uint32_t num_pages,
    uint32_t num_rows,
    uint32_t coalesced_num_pages_per_row,
    uint32_t coalesced_page_size,
    uint8_t noc = noc_index) {
    const uint32_t units = remote_buffer_units(cb_id, num_pages, true);
    const uint32_t stride = coalesced_num_pages_per_row * coalesced_page_size;
    const uint32_t count = remote_buffer_peers(cb_id);
    remote_buffer_check_write(cb_id, num_pages, num_rows * stride);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t target = remote_buffer_place(cb_id, i);
        noc_async_write_one_packet_set_state<skip_ptr_update>(target, coalesced_page_size, noc);
        for (uint32_t row = 0; row < num_rows; row++) {
            uint32_t source = local_cb_addr + (row * count + i) * stride;
            for (uint32_t each = 0; each < coalesced_num_pages_per_row; each++) {
                noc_async_write_one_packet_with_state<skip_ptr_update>(source, target, noc);
                source += coalesced_page_size;
                target += coalesced_page_size;
            }
        }
        remote_buffer_tell(cb_id, i, units, noc, skip_ptr_update);
    }
    remote_buffer_move(cb_id, num_pages);
}

inline void remote_cb_sender_barrier(uint32_t cb_id) {
    remote_buffer_units(cb_id, 0, true);
    for (uint32_t i = 0; i < remote_buffer_peers(cb_id); i++) {
        remote_buffer_wait_empty(cb_id, i);
    }
}

inline void remote_cb_wait_front(uint32_t cb_id, uint32_t num_pages) {
    remote_buffer_wait(cb_id, 0, remote_buffer_units(cb_id, num_pages, false));
}

inline void remote_cb_pop_front(uint32_t cb_id, uint32_t num_pages, uint8_t noc = noc_index) {
    const uint32_t units = remote_buffer_units(cb_id, num_pages, false);
    remote_buffer_check_pop(cb_id, units);
    remote_buffer_move(cb_id, num_pages);
    remote_buffer_tell(cb_id, 0, units, noc, true);
}
#endif

inline void update_remote_cb_config_in_l1(uint32_t remote_cb_index) {
#ifndef WITHOUT_REMOTE_BUFFERS
    remote_buffer_commit(remote_cb_index);
#endif
}

template <uint32_t num_local_cbs>
inline void align_local_cbs_to_remote_cb(
    uint32_t remote_cb_index, const uint32_t (&local_cb_indices)[num_local_cbs]) {
#ifndef WITHOUT_REMOTE_BUFFERS
    for (uint32_t i = 0; i < num_local_cbs; i++) {
        remote_buffer_align(remote_cb_index, local_cb_indices[i]);
    }
#endif
}

#if !defined(TRISC_UNPACK) && !defined(TRISC_MATH) && !defined(TRISC_PACK)
class RemoteCircularBuffer {
public:
    enum class RemotePointerUpdate { SKIP, UPDATE_OVER_NOC };

    explicit RemoteCircularBuffer(uint32_t remote_cb_index) : remote_cb_index_(remote_cb_index) {}
    void reserve_back(uint32_t num_pages) { remote_cb_reserve_back(remote_cb_index_, num_pages); }
    template <
        typename Src,
        RemotePointerUpdate update_remote_pointer = RemotePointerUpdate::UPDATE_OVER_NOC>
    void push_back(
        Noc& noc,
        const Src& src,
        uint32_t num_pages,
        uint32_t num_rows,
        uint32_t coalesced_num_pages_per_row,
        uint32_t coalesced_page_size) {
        remote_cb_push_back_and_write_pages<update_remote_pointer == RemotePointerUpdate::UPDATE_OVER_NOC>(
            remote_cb_index_,
            src.get_read_ptr(),
            num_pages,
            num_rows,
            coalesced_num_pages_per_row,
            coalesced_page_size,
            noc.get_noc_id());
    }
    void wait_front(uint32_t num_pages) { remote_cb_wait_front(remote_cb_index_, num_pages); }
    void pop_front(Noc& noc, uint32_t num_pages) {
        remote_cb_pop_front(remote_cb_index_, num_pages, noc.get_noc_id());
    }
    void barrier() { remote_cb_sender_barrier(remote_cb_index_); }
    void commit() { update_remote_cb_config_in_l1(remote_cb_index_); }

private:
    uint32_t remote_cb_index_;
};
#endif

}  // namespace experimental
