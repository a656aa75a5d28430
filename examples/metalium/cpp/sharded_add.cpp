// Add two matrices that stay in L1: each core has some rows of tiles, on which its circular buffers
// lie, so that nothing is copied.
//
//     ttmlir-host examples/metalium/cpp/sharded_add.cpp
#include "matrix.hpp"

using namespace tt::tt_metal;

int main(int argc, char** argv) {
    constexpr uint32_t num_cores = 6, rows = num_cores * 32, columns = 96;
    constexpr uint32_t tiles_of_shard = columns / 32;
    auto mesh_device = distributed::MeshDevice::create_unit_mesh(0);
    auto& queue = mesh_device->mesh_command_queue();
    Program program = CreateProgram();
    const CoreRangeSet cores(CoreRange({0, 0}, {num_cores - 1, 0}));

    const ShardSpecBuffer spec(
        cores, {32, columns}, ShardOrientation::ROW_MAJOR, {32, 32}, {num_cores, tiles_of_shard});
    const distributed::DeviceLocalBufferConfig in_shards{
        .page_size = TILE_BYTES,
        .buffer_type = BufferType::L1,
        .sharding_args =
            distributed::BufferShardingArgs(spec, TensorMemoryLayout::HEIGHT_SHARDED)};
    const distributed::ReplicatedBufferConfig config{.size = sizeof(bfloat16) * rows * columns};

    std::map<std::string, std::shared_ptr<distributed::MeshBuffer>> tensors;
    const std::unordered_map<std::string, uint32_t> names = {
        {"a", tt::CBIndex::c_0}, {"b", tt::CBIndex::c_1}, {"sum", tt::CBIndex::c_16}};
    for (const auto& [name, index] : names) {
        tensors[name] = distributed::MeshBuffer::create(config, in_shards, mesh_device.get());
        CreateCircularBuffer(
            program, cores,
            CircularBufferConfig(
                tiles_of_shard * TILE_BYTES, {{index, tt::DataFormat::Float16_b}})
                .set_page_size(index, TILE_BYTES)
                .set_globally_allocated_address(*tensors[name]->get_backing_buffer()));
    }
    auto reader_names = names;
    reader_names["num_tiles"] = tiles_of_shard;
    CreateKernel(
        program, "mesh_kernels/hand_over.cpp", cores,
        ReaderDataMovementConfig({}, {}, reader_names));
    auto adder = CreateKernel(
        program, "mesh_kernels/add_pairs.cpp", cores, ComputeConfig{.named_compile_args = names});
    SetRuntimeArgs(program, adder, cores, {tiles_of_shard});

    const Matrix x = random_matrix(rows, columns, 1), y = random_matrix(rows, columns, 2);
    distributed::EnqueueWriteMeshBuffer(queue, tensors["a"], tilize_nfaces(x, rows, columns));
    distributed::EnqueueWriteMeshBuffer(queue, tensors["b"], tilize_nfaces(y, rows, columns));
    distributed::MeshWorkload workload;
    workload.add_program(
        distributed::MeshCoordinateRange(mesh_device->shape()), std::move(program));
    distributed::EnqueueMeshWorkload(queue, workload, /*blocking=*/false);
    Matrix result;
    distributed::EnqueueReadMeshBuffer(queue, result, tensors["sum"]);
    mesh_device->close();

    std::vector<float> expected(x.size());
    std::transform(x.begin(), x.end(), y.begin(), expected.begin(), std::plus<float>());
    result = untilize_nfaces(result, rows, columns);
    return report(argc, argv, {x, y}, result, expected, 0.004);
}
