// Multiply two matrices on a grid of cores: the first core of each row multicasts blocks of A along
// it, the first one of each column blocks of B down it.
//
//     ttmlir-host examples/metalium/cpp/matmul_multicast.cpp
#include "matrix.hpp"

using namespace tt::tt_metal;

namespace {

// Extents in tiles: of the grid of cores, of a block, and how many blocks there are along K.
constexpr uint32_t GRID_X = 3, GRID_Y = 2, BLOCK_M = 2, BLOCK_K = 2, BLOCK_N = 1, NUM_BLOCKS = 3;
constexpr uint32_t M = GRID_Y * BLOCK_M, K = NUM_BLOCKS * BLOCK_K, N = GRID_X * BLOCK_N;

const std::unordered_map<std::string, uint32_t> CBS = {
    {"a", tt::CBIndex::c_0}, {"b", tt::CBIndex::c_1}, {"c", tt::CBIndex::c_16}};

using Names = std::unordered_map<std::string, uint32_t>;
using Tensors = std::vector<std::shared_ptr<distributed::MeshBuffer>>;

// The kernels that bring a matrix: one for the first core of each line, one for the others.
void create_movers(
    distributed::MeshDevice& mesh_device, Program& program, bool along_x, const Tensors& tensors,
    Names names) {
    const CoreRange all({0, 0}, {GRID_X - 1, GRID_Y - 1});
    const uint32_t last = (along_x ? GRID_X : GRID_Y) - 1;
    names["c"] = CBS.at("c");
    names["num_receivers"] = last;
    names["num_blocks"] = NUM_BLOCKS;
    names["ready"] = CreateSemaphore(program, all, 0);
    names["valid"] = CreateSemaphore(program, all, 0);
    std::vector<uint32_t> layouts, addresses;
    for (const auto& each : tensors) {
        TensorAccessorArgs(*each).append_to(layouts);
        addresses.push_back(each->address());
    }
    const auto corner = [&](size_t line, size_t place) {
        return along_x ? CoreCoord(place, line) : CoreCoord(line, place);
    };
    const auto on_network = [&](size_t line, size_t place) {
        return mesh_device.worker_core_from_logical_core(corner(line, place));
    };
    const size_t lines = along_x ? GRID_Y : GRID_X;
    for (bool sends : {true, false}) {
        names["sends"] = sends;
        const CoreRange cores(
            corner(0, sends ? 0 : 1), corner(lines - 1, sends ? 0 : last));
        KernelHandle kernel = CreateKernel(
            program, "mesh_kernels/multicast_blocks.cpp", cores,
            DataMovementConfig{
                .processor =
                    along_x ? DataMovementProcessor::RISCV_0 : DataMovementProcessor::RISCV_1,
                .noc = along_x ? NOC::NOC_1 : NOC::NOC_0,
                .compile_args = layouts,
                .defines = along_x ? std::map<std::string, std::string>{{"WRITES_C", "1"}}
                                   : std::map<std::string, std::string>{},
                .named_compile_args = names});
        SetCommonRuntimeArgs(program, kernel, addresses);
        for (const CoreCoord& core : cores) {
            const size_t line = along_x ? core.y : core.x;
            CoreCoord first = on_network(line, 1), end = on_network(line, last);
            if (along_x) {  // On network 1, which goes up and left, the last corner comes first.
                std::swap(first, end);
            }
            const CoreCoord sender = on_network(line, 0);
            const uint32_t page = along_x ? line * BLOCK_M * K : line * BLOCK_N;
            const uint32_t place_in_c = core.y * BLOCK_M * N + core.x * BLOCK_N;
            const std::vector<uint32_t> args = {
                page,          uint32_t(sender.x), uint32_t(sender.y), uint32_t(first.x),
                uint32_t(first.y), uint32_t(end.x),    uint32_t(end.y),    place_in_c};
            SetRuntimeArgs(program, kernel, core, args);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    auto mesh_device = distributed::MeshDevice::create_unit_mesh(0);
    auto& queue = mesh_device->mesh_command_queue();
    Program program = CreateProgram();
    auto a = dram_tiles(*mesh_device, M * K);
    auto b = dram_tiles(*mesh_device, K * N);
    auto c = dram_tiles(*mesh_device, M * N);

    const CoreRange all({0, 0}, {GRID_X - 1, GRID_Y - 1});
    create_cb(program, all, CBS.at("a"), 2 * BLOCK_M * BLOCK_K);
    create_cb(program, all, CBS.at("b"), 2 * BLOCK_K * BLOCK_N);
    create_cb(program, all, CBS.at("c"), BLOCK_M * BLOCK_N);
    Names names = CBS;
    names.insert(
        {{"num_blocks", NUM_BLOCKS}, {"rows", BLOCK_M}, {"inner", BLOCK_K}, {"columns", BLOCK_N}});
    CreateKernel(
        program, "mesh_kernels/multiply_blocks.cpp", all,
        ComputeConfig{.math_fidelity = MathFidelity::HiFi4, .named_compile_args = names});
    create_movers(
        *mesh_device, program, true, {a, c},
        {{"cb", CBS.at("a")}, {"rows", BLOCK_M}, {"columns", BLOCK_K}, {"row_step", K},
         {"block_step", BLOCK_K}, {"c_rows", BLOCK_M}, {"c_columns", BLOCK_N}, {"c_row_step", N}});
    create_movers(
        *mesh_device, program, false, {b},
        {{"cb", CBS.at("b")}, {"rows", BLOCK_K}, {"columns", BLOCK_N}, {"row_step", N},
         {"block_step", BLOCK_K * N}});

    const Matrix x = random_matrix(32 * M, 32 * K, 1), y = random_matrix(32 * K, 32 * N, 2);
    distributed::EnqueueWriteMeshBuffer(queue, a, tilize_nfaces(x, 32 * M, 32 * K));
    distributed::EnqueueWriteMeshBuffer(queue, b, tilize_nfaces(y, 32 * K, 32 * N));
    distributed::MeshWorkload workload;
    workload.add_program(
        distributed::MeshCoordinateRange(mesh_device->shape()), std::move(program));
    distributed::EnqueueMeshWorkload(queue, workload, /*blocking=*/false);
    Matrix result;
    distributed::EnqueueReadMeshBuffer(queue, result, c);
    mesh_device->close();

    std::vector<float> expected(1024 * M * N);
    for (uint32_t m = 0; m < 32 * M; m++) {
        for (uint32_t k = 0; k < 32 * K; k++) {
            for (uint32_t n = 0; n < 32 * N; n++) {
                expected[m * 32 * N + n] += float(x[m * 32 * K + k]) * float(y[k * 32 * N + n]);
            }
        }
    }
    result = untilize_nfaces(result, 32 * M, 32 * N);
    return report(argc, argv, {x, y}, result, expected, 0.02);
}
