// Data movement: brings the blocks of A or of B to a core. The first core of a row or a column
// copies them from DRAM and multicasts them; the others take delivery.
#include <cstdint>
#include "multicast.hpp"

void kernel_main() {
    const uint32_t address = get_common_arg_val<uint32_t>(0);
    const uint32_t first_page = get_arg_val<uint32_t>(0);
    const uint32_t sender_x = get_arg_val<uint32_t>(1);
    const uint32_t sender_y = get_arg_val<uint32_t>(2);
    const Rectangle receivers = {
        get_arg_val<uint32_t>(3), get_arg_val<uint32_t>(4), get_arg_val<uint32_t>(5),
        get_arg_val<uint32_t>(6)};

    constexpr uint32_t cb_id = get_named_compile_time_arg_val("cb");
    constexpr uint32_t num_receivers = get_named_compile_time_arg_val("num_receivers");
    constexpr bool sends = get_named_compile_time_arg_val("sends") == 1;
    constexpr uint32_t num_blocks = get_named_compile_time_arg_val("num_blocks");
    constexpr uint32_t rows = get_named_compile_time_arg_val("rows");  // of a block, in tiles
    constexpr uint32_t columns = get_named_compile_time_arg_val("columns");
    constexpr uint32_t row_step = get_named_compile_time_arg_val("row_step");  // in pages
    constexpr uint32_t block_step = get_named_compile_time_arg_val("block_step");
    constexpr uint32_t tile_bytes = get_tile_size(cb_id);
    constexpr uint32_t block_tiles = rows * columns;

    constexpr auto layout = TensorAccessorArgs<0>();
    const auto tensor = TensorAccessor(layout, address, tile_bytes);

    Noc noc;
    CircularBuffer cb(cb_id);
    Semaphore<> ready(get_named_compile_time_arg_val("ready"));
    Semaphore<> valid(get_named_compile_time_arg_val("valid"));
    if constexpr (sends) {
        valid.set(VALID);  // what the receivers' word is set to
    }
    for (uint32_t block = 0; block < num_blocks; block++) {
        cb.reserve_back(block_tiles);
        if constexpr (sends) {
            const uint32_t corner = first_page + block * block_step;
            for (uint32_t tile = 0; tile < block_tiles; tile++) {
                const uint32_t page = corner + tile / columns * row_step + tile % columns;
                noc.async_read(
                    tensor, cb, tile_bytes, {.page_id = page}, {.offset_bytes = tile * tile_bytes});
            }
            noc.async_read_barrier();
            if constexpr (num_receivers > 0) {
                send_block<num_receivers>(
                    noc, cb, block_tiles * tile_bytes, receivers, ready, valid);
            }
        } else {
            receive_block(noc, sender_x, sender_y, ready, valid);
        }
        cb.push_back(block_tiles);
    }
    noc.async_write_barrier();

    // The kernel of A has a network to itself then, and takes the block of C to DRAM.
#ifdef WRITES_C
    const uint32_t c_address = get_common_arg_val<uint32_t>(1);
    const uint32_t first_c = get_arg_val<uint32_t>(7);
    constexpr uint32_t c_id = get_named_compile_time_arg_val("c");
    constexpr uint32_t c_rows = get_named_compile_time_arg_val("c_rows");
    constexpr uint32_t c_columns = get_named_compile_time_arg_val("c_columns");
    constexpr uint32_t c_row_step = get_named_compile_time_arg_val("c_row_step");
    constexpr auto c_layout = TensorAccessorArgs<layout.next_compile_time_args_offset()>();
    const auto c_tensor = TensorAccessor(c_layout, c_address, tile_bytes);
    CircularBuffer c(c_id);
    c.wait_front(c_rows * c_columns);
    for (uint32_t tile = 0; tile < c_rows * c_columns; tile++) {
        const uint32_t page = first_c + tile / c_columns * c_row_step + tile % c_columns;
        noc.async_write(
            c, c_tensor, tile_bytes, {.offset_bytes = tile * tile_bytes}, {.page_id = page});
    }
    noc.async_write_barrier();
    c.pop_front(c_rows * c_columns);
#endif
}
