// Data movement: for each tile of C, copies a row of tiles of A and a column of tiles of B.
#include <cstdint>
#include "api/dataflow/circular_buffer.h"
#include "api/dataflow/dataflow_api.h"
#include "api/dataflow/noc.h"

void kernel_main() {
    const uint32_t a_address = get_common_arg_val<uint32_t>(0);
    const uint32_t b_address = get_common_arg_val<uint32_t>(1);

    constexpr uint32_t cb_a = get_named_compile_time_arg_val("a");
    constexpr uint32_t cb_b = get_named_compile_time_arg_val("b");
    constexpr uint32_t Mt = get_named_compile_time_arg_val("Mt");  // extents in tiles
    constexpr uint32_t Kt = get_named_compile_time_arg_val("Kt");
    constexpr uint32_t Nt = get_named_compile_time_arg_val("Nt");
    constexpr uint32_t tile_bytes = get_tile_size(cb_a);

    constexpr auto a_layout = TensorAccessorArgs<0>();
    constexpr auto b_layout = TensorAccessorArgs<a_layout.next_compile_time_args_offset()>();
    const auto a = TensorAccessor(a_layout, a_address, tile_bytes);
    const auto b = TensorAccessor(b_layout, b_address, tile_bytes);

    Noc noc;
    CircularBuffer to_a(cb_a);
    CircularBuffer to_b(cb_b);
    for (uint32_t tile = 0; tile < Mt * Nt; tile++) {
        const uint32_t row = tile / Nt;
        const uint32_t column = tile % Nt;
        for (uint32_t k = 0; k < Kt; k++) {
            to_a.reserve_back(1);
            to_b.reserve_back(1);
            noc.async_read(a, to_a, tile_bytes, {.page_id = row * Kt + k}, {});
            noc.async_read(b, to_b, tile_bytes, {.page_id = k * Nt + column}, {});
            noc.async_read_barrier();
            to_a.push_back(1);
            to_b.push_back(1);
        }
    }
}
