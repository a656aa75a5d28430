#pragma once

// Sockets: pages from one core to others in order, each with credits of its own.
//
// The host writes a configuration into the L1 of both ends. Sender: seven words, a word of 16 bytes
// per receiver for what it has acknowledged, and where each receiver is. Of compute kernels UNPACK
// alone waits for pages; it tells nobody what it has popped.

#include "api/alignment.h"
#if !defined(TRISC_UNPACK) && !defined(TRISC_MATH) && !defined(TRISC_PACK)
#include "fabric/sender.hpp"
#else
#define COMPUTE_SOCKETS
#endif
#if defined(TRISC_MATH) || defined(TRISC_PACK)
#define WITHOUT_SOCKETS
#endif

struct d2h_sender_socket_md {
    uint32_t bytes_sent_addr_hi;
    uint32_t data_addr_hi;
    uint32_t pcie_xy_enc;
};
struct d2d_sender_socket_md {
    uint32_t downstream_mesh_id;
    uint32_t downstream_chip_id;
    uint32_t downstream_noc_y;
    uint32_t downstream_noc_x;
};
struct sender_downstream_encoding {
    d2d_sender_socket_md d2d;
    d2h_sender_socket_md d2h;
};
struct sender_socket_md {
    uint32_t bytes_sent;
    uint32_t num_downstreams;
    uint32_t write_ptr;
    uint32_t downstream_bytes_sent_addr;
    uint32_t downstream_fifo_addr;
    uint32_t downstream_fifo_total_size;
    uint32_t is_d2h;
};
struct d2d_recv_socket_md {
    uint32_t upstream_mesh_id;
    uint32_t upstream_chip_id;
    uint32_t upstream_noc_y;
    uint32_t upstream_noc_x;
    uint32_t upstream_bytes_acked_addr;
};
struct receiver_socket_md {
    uint32_t bytes_sent;
    uint32_t read_ptr;
    uint32_t fifo_addr;
    uint32_t fifo_total_size;
    uint32_t bytes_acked;
    uint32_t is_h2d;
    d2d_recv_socket_md d2d;
};
struct D2DSocketSendInterface {
    uint32_t downstream_enc_base_addr;
};
struct SocketSenderInterface {
    uint32_t config_addr;
    uint32_t write_ptr;
    uint32_t bytes_sent;
    uint32_t bytes_acked_base_addr;
    uint32_t page_size = 0;
    uint32_t num_downstreams;
    uint32_t downstream_fifo_total_size;
    uint32_t downstream_fifo_curr_size;
    uint32_t downstream_fifo_addr;
    uint32_t downstream_bytes_sent_addr;
    uint32_t is_d2h;
    D2DSocketSendInterface d2d;
    d2h_sender_socket_md d2h;
};
struct SocketReceiverInterface {
    uint32_t config_addr;
    uint32_t read_ptr;
    uint32_t bytes_acked;
    uint32_t bytes_sent_addr;
    uint32_t page_size = 0;
    uint32_t fifo_addr;
    uint32_t fifo_total_size;
    uint32_t fifo_curr_size;
    uint32_t is_h2d;
    d2d_recv_socket_md d2d;
};

constexpr uint32_t sender_socket_md_size_bytes = 32;
constexpr uint32_t bytes_acked_size_bytes = 16;
constexpr uint32_t downstream_encoding_size_bytes = 16;

// --- Senders -------------------------------------------------------------------------------------

inline SocketSenderInterface create_sender_socket_interface(uint32_t config_addr) {
    socket_open(config_addr, true);
    auto* config = reinterpret_cast<volatile sender_socket_md*>(config_addr);
    SocketSenderInterface socket;
    socket.config_addr = config_addr;
    socket.write_ptr = config->write_ptr;
    socket.bytes_sent = config->bytes_sent;
    socket.bytes_acked_base_addr = config_addr + sender_socket_md_size_bytes;
    socket.num_downstreams = config->num_downstreams;
    socket.downstream_fifo_total_size = config->downstream_fifo_total_size;
    socket.downstream_fifo_curr_size = config->downstream_fifo_total_size;
    socket.downstream_fifo_addr = config->downstream_fifo_addr;
    socket.downstream_bytes_sent_addr = config->downstream_bytes_sent_addr;
    socket.is_d2h = config->is_d2h;
    socket.d2d.downstream_enc_base_addr =
        socket.bytes_acked_base_addr + socket.num_downstreams * bytes_acked_size_bytes;
    if (socket.is_d2h) {
        auto* words = reinterpret_cast<volatile uint32_t*>(socket.d2d.downstream_enc_base_addr);
        socket.d2h.bytes_sent_addr_hi = words[0];
        socket.d2h.data_addr_hi = words[1];
        socket.d2h.pcie_xy_enc = words[2];
    }
    return socket;
}

inline sender_downstream_encoding get_downstream_encoding(
    const SocketSenderInterface& socket, uint32_t downstream_id) {
    socket_check_downstream(socket.num_downstreams, downstream_id);
    auto* words = reinterpret_cast<volatile uint32_t*>(
        socket.d2d.downstream_enc_base_addr + downstream_id * downstream_encoding_size_bytes);
    sender_downstream_encoding encoding;
    encoding.d2d.downstream_mesh_id = words[0];
    encoding.d2d.downstream_chip_id = words[1];
    encoding.d2d.downstream_noc_y = words[2];
    encoding.d2d.downstream_noc_x = words[3];
    if (socket.is_d2h) {
        encoding.d2h = socket.d2h;
    }
    return encoding;
}

inline void set_sender_socket_page_size(SocketSenderInterface& socket, uint32_t page_size) {
    const uint32_t total = socket.downstream_fifo_total_size;
    socket_check_page(socket.config_addr, page_size, total);
    const uint32_t whole = total - total % page_size;
    uint32_t next = (socket.write_ptr + page_size - 1) / page_size * page_size;
    if (next >= whole) {
        socket.bytes_sent += total - next;
        next = 0;
    }
    socket.write_ptr = next;
    socket.page_size = page_size;
    socket.downstream_fifo_curr_size = whole;
}

inline void socket_reserve_pages(const SocketSenderInterface& socket, uint32_t num_pages) {
    socket_check_pages(num_pages, socket.page_size, socket.downstream_fifo_curr_size);
    const uint32_t end = socket.bytes_sent + num_pages * socket.page_size;
    if (end > socket.downstream_fifo_total_size) {
        for (uint32_t i = 0; i < socket.num_downstreams; i++) {
            socket_wait(
                socket.bytes_acked_base_addr + i * bytes_acked_size_bytes,
                end - socket.downstream_fifo_total_size,
                true);
        }
    }
}

inline void socket_push_pages(SocketSenderInterface& socket, uint32_t num_pages) {
    const uint32_t size = num_pages * socket.page_size;
    socket_check_pages(num_pages, socket.page_size, socket.downstream_fifo_curr_size);
    if (socket.write_ptr + size >= socket.downstream_fifo_curr_size) {
        socket.write_ptr = socket.write_ptr + size - socket.downstream_fifo_curr_size;
        socket.bytes_sent += size + socket.downstream_fifo_total_size - socket.downstream_fifo_curr_size;
    } else {
        socket.write_ptr += size;
        socket.bytes_sent += size;
    }
    socket_pushed(socket.config_addr, socket.bytes_sent, socket.num_downstreams);
}

#ifndef COMPUTE_SOCKETS
inline void socket_notify_receiver(const SocketSenderInterface& socket, uint8_t noc = noc_index) {
    if (socket.is_d2h) {
        socket_tell_host(socket.config_addr, socket.bytes_sent);
        return;
    }
    socket_check_peers(socket.config_addr);
    for (uint32_t i = 0; i < socket.num_downstreams; i++) {
        const auto encoding = get_downstream_encoding(socket, i);
        noc_inline_dw_write(
            get_noc_addr(
                encoding.d2d.downstream_noc_x,
                encoding.d2d.downstream_noc_y,
                socket.downstream_bytes_sent_addr,
                noc),
            socket.bytes_sent,
            0xF,
            noc);
    }
}
#endif

inline void socket_barrier(const SocketSenderInterface& socket) {
    for (uint32_t i = 0; i < socket.num_downstreams; i++) {
        socket_wait(
            socket.bytes_acked_base_addr + i * bytes_acked_size_bytes, socket.bytes_sent, true);
    }
}

inline void update_socket_config(const SocketSenderInterface& socket) {
    auto* config = reinterpret_cast<volatile sender_socket_md*>(socket.config_addr);
    config->bytes_sent = socket.bytes_sent;
    config->write_ptr = socket.write_ptr;
    socket_close(socket.config_addr);
}

// Pages for the host go over PCIe.
#ifndef COMPUTE_SOCKETS
constexpr uint8_t write_cmd_buf = 0;
enum CQNocFlags { CQ_NOC_NONE, CQ_NOC_SNDL };
enum CQNocWait { CQ_NOC_wait, CQ_NOC_WAIT };
enum CQNocSend { CQ_NOC_send, CQ_NOC_SEND };

template <uint8_t cmd_buf>
void noc_write_init_state(uint32_t noc, uint32_t vc) {}
template <
    uint8_t mode,
    uint8_t cmd_buf,
    CQNocFlags flags,
    CQNocSend send,
    CQNocWait wait,
    bool update_counter = true,
    bool posted = false>
void noc_wwrite_with_state(
    uint32_t noc,
    uint32_t source,
    uint32_t pcie_xy_enc,
    uint64_t target,
    uint32_t size,
    uint32_t num_dests = 1) {
    socket_write_to_host(source, target, size);
}
inline void noc_async_write_clear_pcie_state(uint32_t noc, uint32_t cmd_buf) {}
#endif

// --- Receivers -----------------------------------------------------------------------------------

inline SocketReceiverInterface create_receiver_socket_interface(uint32_t config_addr) {
#ifndef WITHOUT_SOCKETS
    socket_open(config_addr, false);
    auto* config = reinterpret_cast<volatile receiver_socket_md*>(config_addr);
    SocketReceiverInterface socket;
    socket.config_addr = config_addr;
    socket.read_ptr = config->read_ptr;
    socket.bytes_acked = config->bytes_acked;
    socket.bytes_sent_addr = config_addr;
    socket.fifo_addr = config->fifo_addr;
    socket.fifo_total_size = config->fifo_total_size;
    socket.fifo_curr_size = config->fifo_total_size;
    socket.is_h2d = config->is_h2d;
    socket.d2d.upstream_mesh_id = config->d2d.upstream_mesh_id;
    socket.d2d.upstream_chip_id = config->d2d.upstream_chip_id;
    socket.d2d.upstream_noc_y = config->d2d.upstream_noc_y;
    socket.d2d.upstream_noc_x = config->d2d.upstream_noc_x;
    socket.d2d.upstream_bytes_acked_addr = config->d2d.upstream_bytes_acked_addr;
    return socket;
#else
    return SocketReceiverInterface{};
#endif
}

inline void set_receiver_socket_page_size(SocketReceiverInterface& socket, uint32_t page_size) {
#ifndef WITHOUT_SOCKETS
    const uint32_t total = socket.fifo_total_size;
    socket_check_page(socket.config_addr, page_size, total);
    const uint32_t whole = total - total % page_size;
    uint32_t next = (socket.read_ptr - socket.fifo_addr + page_size - 1) / page_size * page_size;
    if (next >= whole) {
        socket_wait(socket.bytes_sent_addr, socket.bytes_acked + total - next, false);
        socket.bytes_acked += total - next;
        next = 0;
    }
    socket.read_ptr = socket.fifo_addr + next;
    socket.page_size = page_size;
    socket.fifo_curr_size = whole;
#endif
}

inline bool socket_wait_for_pages(
    const SocketReceiverInterface& socket, uint32_t num_pages, uint32_t early_exit_iter_count = 0) {
#ifndef WITHOUT_SOCKETS
    uint32_t size = num_pages * socket.page_size;
    socket_check_pages(num_pages, socket.page_size, socket.fifo_curr_size);
    if (socket.read_ptr + size >= socket.fifo_curr_size + socket.fifo_addr) {
        size += socket.fifo_total_size - socket.fifo_curr_size;
    }
    if (early_exit_iter_count != 0) {
        socket_pause(early_exit_iter_count);
        return socket_look(socket.bytes_sent_addr, socket.bytes_acked + size);
    }
    socket_wait(socket.bytes_sent_addr, socket.bytes_acked + size, false);
    return true;
#else
    return true;
#endif
}

inline void socket_pop_pages(SocketReceiverInterface& socket, uint32_t num_pages) {
#ifndef WITHOUT_SOCKETS
    const uint32_t size = num_pages * socket.page_size;
    socket_check_pages(num_pages, socket.page_size, socket.fifo_curr_size);
    if (socket.read_ptr + size >= socket.fifo_curr_size + socket.fifo_addr) {
        socket.read_ptr = socket.read_ptr + size - socket.fifo_curr_size;
        socket.bytes_acked += size + socket.fifo_total_size - socket.fifo_curr_size;
    } else {
        socket.read_ptr += size;
        socket.bytes_acked += size;
    }
    socket_popped(socket.bytes_sent_addr, socket.bytes_acked);
#endif
}

#ifndef COMPUTE_SOCKETS
inline void socket_notify_sender(const SocketReceiverInterface& socket, uint8_t noc = noc_index) {
    if (socket.is_h2d) {
        socket_tell_host(socket.config_addr, socket.bytes_acked);
        return;
    }
    socket_check_peers(socket.config_addr);
    noc_inline_dw_write(
        get_noc_addr(
            socket.d2d.upstream_noc_x,
            socket.d2d.upstream_noc_y,
            socket.d2d.upstream_bytes_acked_addr,
            noc),
        socket.bytes_acked,
        0xF,
        noc);
}
#endif

inline void assign_local_cb_to_socket(const SocketReceiverInterface& socket, uint32_t cb_id) {
#ifndef WITHOUT_SOCKETS
    socket_assign(
        socket.config_addr, cb_id, socket.fifo_addr, socket.fifo_curr_size, socket.read_ptr);
#endif
}

inline void update_socket_config(const SocketReceiverInterface& socket) {
#ifndef WITHOUT_SOCKETS
#ifdef COMPUTE_SOCKETS
    socket_refuse_update();
#endif
    auto* config = reinterpret_cast<volatile receiver_socket_md*>(socket.config_addr);
    config->bytes_acked = socket.bytes_acked;
    config->read_ptr = socket.read_ptr;
    socket_close(socket.config_addr);
#endif
}

#ifndef COMPUTE_SOCKETS
// --- Over the fabric -----------------------------------------------------------------------------

// In one dimension the number of a chip is how many hops away it is.
inline void socket_set_route(volatile PACKET_HEADER_TYPE* header, uint32_t chip, uint32_t mesh) {
    if (fabric_is_2d()) {
        tt::tt_fabric::fabric_set_unicast_route(header, chip, mesh);
    } else {
        header->to_chip_unicast(chip);
    }
}
inline void fabric_set_unicast_route(
    volatile PACKET_HEADER_TYPE* header, const sender_downstream_encoding& target) {
    socket_set_route(header, target.d2d.downstream_chip_id, target.d2d.downstream_mesh_id);
}
inline void fabric_set_unicast_route(
    volatile PACKET_HEADER_TYPE* header, const SocketReceiverInterface& socket) {
    socket_set_route(header, socket.d2d.upstream_chip_id, socket.d2d.upstream_mesh_id);
}

template <typename Sender>
void socket_send_word(
    Sender& connection, volatile PACKET_HEADER_TYPE* header, uint64_t address, uint32_t value) {
    header->to_noc_unicast_inline_write(NocUnicastInlineWriteCommandHeader{address, value});
    connection.wait_for_empty_write_slot();
    connection.send_payload_flush_blocking_from_address((uint32_t)header, sizeof(PACKET_HEADER_TYPE));
}

template <typename Sender>
void fabric_socket_notify_receiver(
    const SocketSenderInterface& socket, Sender& connection, volatile PACKET_HEADER_TYPE* header) {
    for (uint32_t i = 0; i < socket.num_downstreams; i++) {
        const auto encoding = get_downstream_encoding(socket, i);
        fabric_set_unicast_route(header, encoding);
        socket_send_word(
            connection,
            header,
            get_noc_addr(
                encoding.d2d.downstream_noc_x,
                encoding.d2d.downstream_noc_y,
                socket.downstream_bytes_sent_addr),
            socket.bytes_sent);
    }
}

template <typename Sender>
void fabric_socket_notify_sender_stateful(
    const SocketReceiverInterface& socket,
    Sender& connection,
    volatile PACKET_HEADER_TYPE* header,
    uint64_t address) {
    socket_send_word(connection, header, address, socket.bytes_acked);
}

template <typename Sender>
void fabric_socket_notify_sender(
    const SocketReceiverInterface& socket, Sender& connection, volatile PACKET_HEADER_TYPE* header) {
    fabric_set_unicast_route(header, socket);
    fabric_socket_notify_sender_stateful(
        socket,
        connection,
        header,
        get_noc_addr(
            socket.d2d.upstream_noc_x,
            socket.d2d.upstream_noc_y,
            socket.d2d.upstream_bytes_acked_addr));
}
#endif
