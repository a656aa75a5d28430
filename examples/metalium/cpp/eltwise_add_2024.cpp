// Add two matrices, tile by tile, on one core, in the host API of 2024.
//
//     ttmlir-host examples/metalium/cpp/eltwise_add_2024.cpp
#include "matrix.hpp"
#include "tt_metal/detail/tt_metal.hpp"
#include "tt_metal/host_api.hpp"
#include "tt_metal/impl/device/device.hpp"

using namespace tt;
using namespace tt::tt_metal;

int main(int argc, char** argv) {
    constexpr uint32_t rows = 64, columns = 96, num_tiles = rows * columns / constants::TILE_HW;
    Device* device = CreateDevice(0);
    CommandQueue& queue = device->command_queue();
    Program program = CreateProgram();
    constexpr CoreCoord core = {0, 0};

    const InterleavedBufferConfig in_dram{
        .device = device,
        .size = num_tiles * TILE_BYTES,
        .page_size = TILE_BYTES,
        .buffer_type = BufferType::DRAM};
    std::shared_ptr<Buffer> a = CreateBuffer(in_dram);
    std::shared_ptr<Buffer> b = CreateBuffer(in_dram);
    std::shared_ptr<Buffer> sum = CreateBuffer(in_dram);
    for (uint32_t index : {CB::c_in0, CB::c_in1, CB::c_out0}) {
        create_cb(program, core, index, 2);
    }

    KernelHandle reader = CreateKernel(
        program, "kernels/read_two_tensors.cpp", core,
        DataMovementConfig{
            .processor = DataMovementProcessor::RISCV_1, .noc = NOC::RISCV_0_default});
    KernelHandle writer = CreateKernel(
        program, "kernels/write_tiles.cpp", core,
        DataMovementConfig{
            .processor = DataMovementProcessor::RISCV_0, .noc = NOC::RISCV_1_default});
    KernelHandle adder = CreateKernel(
        program, "kernels/add_tiles.cpp", core,
        ComputeConfig{.math_fidelity = MathFidelity::HiFi4});
    SetRuntimeArgs(program, reader, core, {a->address(), b->address(), num_tiles});
    SetRuntimeArgs(program, writer, core, {sum->address(), 0, num_tiles});
    SetRuntimeArgs(program, adder, core, {num_tiles});

    const Matrix x = random_matrix(rows, columns, 1), y = random_matrix(rows, columns, 2);
    Matrix x_tiles = x, y_tiles = y, result;
    tilize(x_tiles, rows, columns);
    tilize(y_tiles, rows, columns);
    EnqueueWriteBuffer(queue, a, x_tiles, false);
    EnqueueWriteBuffer(queue, b, y_tiles, false);
    EnqueueProgram(queue, program, false);
    Finish(queue);
    EnqueueReadBuffer(queue, sum, result, true);
    CloseDevice(device);

    untilize(result, rows, columns);
    std::vector<float> expected(x.size());
    std::transform(x.begin(), x.end(), y.begin(), expected.begin(), std::plus<float>());
    return report(argc, argv, {x, y}, result, expected, 0.004);
}
