#pragma once

// Both ends of a link find that the other one is there, before anything else is sent.

#include <cstdint>

namespace erisc::datamover {

namespace handshake {

static constexpr uint32_t A_LONG_TIMEOUT_BEFORE_CONTEXT_SWITCH = 1000000000;

inline void sender_side_start(
    uint32_t address, std::size_t timeout = A_LONG_TIMEOUT_BEFORE_CONTEXT_SWITCH) {
    auto* words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(address);
    for (uint32_t i = 0; i < 4; i++) {
        words[i] = 0;
    }
    eth_send_bytes(address, address, 16);
}
inline void sender_side_finish(
    uint32_t address, std::size_t timeout = A_LONG_TIMEOUT_BEFORE_CONTEXT_SWITCH) {
    eth_wait_for_receiver_done();
}
inline void receiver_side_start(uint32_t address) {}
inline void receiver_side_finish(
    uint32_t address, std::size_t timeout = A_LONG_TIMEOUT_BEFORE_CONTEXT_SWITCH) {
    eth_wait_for_bytes(16);
    eth_receiver_channel_done(0);
}
inline void sender_side_handshake(
    uint32_t address,
    uint16_t mesh = 0,
    uint8_t device = 0,
    std::size_t timeout = A_LONG_TIMEOUT_BEFORE_CONTEXT_SWITCH) {
    sender_side_start(address);
    sender_side_finish(address);
}
inline void receiver_side_handshake(
    uint32_t address,
    uint16_t mesh = 0,
    uint8_t device = 0,
    std::size_t timeout = A_LONG_TIMEOUT_BEFORE_CONTEXT_SWITCH) {
    receiver_side_finish(address);
}

namespace deprecated {

using namespace erisc::datamover::handshake;

}  // namespace deprecated

}  // namespace handshake

inline void eth_setup_handshake(uint32_t address, bool is_sender) {
    if (is_sender) {
        handshake::sender_side_handshake(address);
    } else {
        handshake::receiver_side_handshake(address);
    }
}

}  // namespace erisc::datamover
