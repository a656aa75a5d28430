// Compute tanh(sqrt(|x|)) of a matrix on many cores, each of which has some of the tiles.
//
//     ttmlir-host examples/metalium/cpp/sfpu_chain.cpp
#include "matrix.hpp"

#include <tt-metalium/work_split.hpp>

using namespace tt::tt_metal;

int main(int argc, char** argv) {
    constexpr uint32_t rows = 192, columns = 480, num_tiles = rows * columns / 1024;
    auto mesh_device = distributed::MeshDevice::create_unit_mesh(0);
    auto& queue = mesh_device->mesh_command_queue();
    Program program = CreateProgram();

    auto from = dram_tiles(*mesh_device, num_tiles);
    auto to = dram_tiles(*mesh_device, num_tiles);

    // 90 tiles on 64 cores: some cores get two, the others one.
    const auto grid = mesh_device->compute_with_storage_grid_size();
    auto [num_cores, cores, with_more, with_less, more, less] =
        split_work_to_cores(grid, num_tiles);
    create_cb(program, cores, tt::CBIndex::c_0, 2);
    create_cb(program, cores, tt::CBIndex::c_16, 2);

    std::vector<uint32_t> from_layout, to_layout;
    TensorAccessorArgs(*from).append_to(from_layout);
    TensorAccessorArgs(*to).append_to(to_layout);
    auto reader = CreateKernel(
        program, "kernels/read_tiles.cpp", cores, ReaderDataMovementConfig(from_layout));
    auto writer = CreateKernel(
        program, "mesh_kernels/write_results.cpp", cores,
        WriterDataMovementConfig(to_layout, {}, {{"result", tt::CBIndex::c_16}}));
    auto chain = CreateKernel(program, "kernels/tanh_of_root.cpp", cores, ComputeConfig{});

    SetCommonRuntimeArgs(program, writer, {to->address()});
    uint32_t first = 0;
    for (const CoreCoord& core : corerange_to_cores(cores)) {
        const uint32_t count = with_more.contains(core) ? more : less;
        SetRuntimeArgs(program, reader, core, {from->address(), first, count});
        SetRuntimeArgs(program, writer, core, {first, count});
        SetRuntimeArgs(program, chain, core, {count});
        first += count;
    }
    TT_FATAL(first == num_tiles, "{} of {} tiles are on {} cores", first, num_tiles, num_cores);

    const Matrix numbers = random_matrix(rows, columns, 1);
    distributed::EnqueueWriteMeshBuffer(queue, from, tilize_nfaces(numbers, rows, columns));
    distributed::MeshWorkload workload;
    workload.add_program(
        distributed::MeshCoordinateRange(mesh_device->shape()), std::move(program));
    distributed::EnqueueMeshWorkload(queue, workload, /*blocking=*/false);
    Matrix result;
    distributed::EnqueueReadMeshBuffer(queue, result, to);
    mesh_device->close();

    std::vector<float> expected;
    for (float x : numbers) {
        expected.push_back(std::tanh(std::sqrt(std::fabs(x))));
    }
    result = untilize_nfaces(result, rows, columns);
    return report(argc, argv, {numbers}, result, expected, 0.02);
}
