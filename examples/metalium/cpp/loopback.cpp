// Copy tiles from DRAM to L1 and back to another place in DRAM, by one kernel on one core.
//
//     ttmlir-host examples/metalium/cpp/loopback.cpp
#include "matrix.hpp"

using namespace tt::tt_metal;

int main(int argc, char** argv) {
    auto mesh_device = distributed::MeshDevice::create_unit_mesh(0);
    auto& queue = mesh_device->mesh_command_queue();
    Program program = CreateProgram();
    constexpr CoreCoord core = {0, 0};

    constexpr uint32_t num_tiles = 7;
    auto from = dram_tiles(*mesh_device, num_tiles);
    auto to = dram_tiles(*mesh_device, num_tiles);
    const distributed::DeviceLocalBufferConfig in_l1{
        .page_size = TILE_BYTES, .buffer_type = BufferType::L1};
    auto between = distributed::MeshBuffer::create(
        distributed::ReplicatedBufferConfig{.size = TILE_BYTES}, in_l1, mesh_device.get());

    std::vector<uint32_t> layouts = {TILE_BYTES};
    TensorAccessorArgs(*from).append_to(layouts);
    TensorAccessorArgs(*to).append_to(layouts);
    KernelHandle kernel = CreateKernel(
        program, "kernels/copy_pages.cpp", core,
        DataMovementConfig{
            .processor = DataMovementProcessor::RISCV_0,
            .noc = NOC::RISCV_0_default,
            .compile_args = layouts});
    SetRuntimeArgs(
        program, kernel, core, {between->address(), from->address(), to->address(), num_tiles});

    const Matrix numbers = random_matrix(num_tiles * 32, 32, 1);
    distributed::EnqueueWriteMeshBuffer(queue, from, numbers, /*blocking=*/false);
    distributed::MeshWorkload workload;
    workload.add_program(
        distributed::MeshCoordinateRange(mesh_device->shape()), std::move(program));
    distributed::EnqueueMeshWorkload(queue, workload, /*blocking=*/false);
    distributed::Finish(queue);

    Matrix result;
    distributed::EnqueueReadMeshBuffer(queue, result, to, /*blocking=*/true);
    mesh_device->close();
    const std::vector<float> expected(numbers.begin(), numbers.end());
    return report(argc, argv, {numbers}, result, expected, 0);
}
