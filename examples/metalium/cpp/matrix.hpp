// What the examples share: matrices of bfloat16, buffers for their tiles, and the comparison.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <vector>

#include <tt-metalium/bfloat16.hpp>
#include <tt-metalium/constants.hpp>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/host_api.hpp>
#include <tt-metalium/tensor_accessor_args.hpp>
#include <tt-metalium/tilize_utils.hpp>

using Matrix = std::vector<bfloat16>;  // Row by row.

constexpr uint32_t TILE_BYTES = sizeof(bfloat16) * tt::constants::TILE_HW;

// Random numbers between -1 and 1.
inline Matrix random_matrix(uint32_t rows, uint32_t columns, int seed) {
    return create_random_vector_of_bfloat16_native(
        sizeof(bfloat16) * rows * columns, 2.0f, seed, -1.0f);
}

// Room in DRAM for so many tiles, a tile on a page.
inline std::shared_ptr<tt::tt_metal::distributed::MeshBuffer> dram_tiles(
    tt::tt_metal::distributed::MeshDevice& mesh_device, uint32_t num_tiles) {
    using namespace tt::tt_metal;
    const distributed::DeviceLocalBufferConfig local{
        .page_size = TILE_BYTES, .buffer_type = BufferType::DRAM};
    const distributed::ReplicatedBufferConfig config{.size = num_tiles * TILE_BYTES};
    return distributed::MeshBuffer::create(config, local, &mesh_device);
}

// A circular buffer for so many tiles.
inline void create_cb(
    tt::tt_metal::Program& program, const tt::tt_metal::CoreRangeSet& cores, uint32_t index,
    uint32_t num_tiles) {
    using namespace tt::tt_metal;
    CreateCircularBuffer(
        program, cores,
        CircularBufferConfig(num_tiles * TILE_BYTES, {{index, tt::DataFormat::Float16_b}})
            .set_page_size(index, TILE_BYTES));
}

// Compares numbers with the expected ones, prints the largest difference relative to the largest
// number, and writes all numbers to the file that the first argument names. Returns the status.
inline int report(
    int argc, char** argv, const std::vector<Matrix>& inputs, const Matrix& result,
    const std::vector<float>& expected, float tolerance) {
    float largest = 0, difference = 0;
    for (size_t i = 0; i < expected.size(); i++) {
        largest = std::max(largest, std::fabs(expected[i]));
        difference = std::max(difference, std::fabs(expected[i] - float(result[i])));
    }
    if (argc > 1) {
        std::ofstream file(argv[1], std::ios::binary);
        for (const Matrix& each : inputs) {
            file.write(reinterpret_cast<const char*>(each.data()), each.size() * 2);
        }
        file.write(reinterpret_cast<const char*>(result.data()), result.size() * 2);
    }
    const bool agrees = result.size() == expected.size() && difference <= tolerance * largest;
    std::printf(
        "%s: relative error %.4f (at most %.4f)\n", agrees ? "agrees" : "DIFFERS",
        difference / largest, tolerance);
    return agrees ? 0 : 1;
}
