// One host program for many tests: its first argument says which case runs.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fmt/core.h>
#include <tt-logger/tt-logger.hpp>
#include <tt-metalium/bfloat16.hpp>
#include <tt-metalium/distributed.hpp>
#include <tt-metalium/experimental/fabric/fabric.hpp>
#include <tt-metalium/experimental/sockets/mesh_socket.hpp>
#include <tt-metalium/global_circular_buffer.hpp>
#include <tt-metalium/host_api.hpp>
#include <tt-metalium/tensor_accessor_args.hpp>
#include <tt-metalium/tilize_utils.hpp>
#include <tt-metalium/work_split.hpp>
#include "tt_metal/detail/tt_metal.hpp"

using namespace tt;
using namespace tt::tt_metal;
using namespace tt::tt_metal::distributed;

namespace {

constexpr CoreCoord CORE = {0, 0};

const char* const ADD = R"(
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    const uint32_t address = get_common_arg_val<uint32_t>(0);
    const auto tensor = TensorAccessor(TensorAccessorArgs<0>(), address, 64);
    for (uint32_t page = 0; page < get_arg_val<uint32_t>(0); page++) {
        cb_reserve_back(0, 1);
        noc_async_read_page(page, tensor, get_write_ptr(0));
        noc_async_read_barrier();
        volatile uint32_t* words = (volatile uint32_t*)get_write_ptr(0);
        for (uint32_t i = 0; i < 16; i++) {
            words[i] += get_arg_val<uint32_t>(1);
        }
        noc_async_write_page(page, tensor, get_write_ptr(0));
        noc_async_write_barrier();
    }
}
)";
const char* const BROKEN = "void kernel_main() {\n    fly_away(3);\n}\n";
const char* const PRINTS = R"(
#include "api/debug/dprint.h"
void kernel_main() { DPRINT << "from the kernel" << ENDL(); }
)";
const char* const LOOPS = R"(
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    volatile tt_l1_ptr uint32_t* word =
        (volatile tt_l1_ptr uint32_t*)get_semaphore(get_compile_time_arg_val(0));
    while (true) {
        *word = *word + 1;
    }
}
)";

const char* const SENDS = R"(
#include "api/dataflow/dataflow_api.h"
#include "tt_metal/fabric/hw/inc/linear/api.h"
using namespace tt::tt_fabric;
void kernel_main() {
    std::size_t arg = 0;
    const auto tensor = TensorAccessor(TensorAccessorArgs<0>(), get_arg_val<uint32_t>(arg++), 64);
    const uint64_t signal = get_noc_addr(my_x[0], my_y[0], get_arg_val<uint32_t>(arg++));
    auto sender = WorkerToFabricEdmSender::build_from_args<ProgrammableCoreType::TENSIX>(arg);
    auto* header = PacketHeaderPool::allocate_header();
    cb_reserve_back(0, 1);
    const uint32_t data = get_write_ptr(0);
    noc_async_read_page(0, tensor, data);
    noc_async_read_barrier();
    sender.open();
    linear::experimental::fabric_unicast_noc_fused_unicast_with_atomic_inc(
        &sender, header, data, 64,
        NocUnicastAtomicIncFusedCommandHeader{tensor.get_noc_addr(1), signal, 1}, 1);
    sender.close();
}
)";
const char* const SHARES = R"(
#include "api/dataflow/dataflow_api.h"
#include "tt_metal/fabric/hw/inc/edm_fabric/fabric_connection_manager.hpp"
#include "tt_metal/fabric/hw/inc/packet_header_pool.h"
#include "tt_metal/fabric/hw/inc/noc_addr.h"
#include "tt_metal/fabric/hw/inc/tt_fabric_mux_interface.hpp"
#include "tt_metal/fabric/hw/inc/tt_fabric_mux_v2_sender.hpp"
using namespace tt::tt_fabric;
template <typename Sender>
void send(Sender& sender, uint32_t data, uint64_t to, uint64_t signal) {
    auto* header = PacketHeaderPool::allocate_header();
    header->to_chip_unicast(1);
    header->to_noc_fused_unicast_write_atomic_inc(
        NocUnicastAtomicIncFusedCommandHeader{to, signal, 1}, 64);
    sender.wait_for_empty_write_slot();
    sender.send_payload_without_header_non_blocking_from_address(data, 64);
    sender.send_payload_flush_blocking_from_address((uint32_t)header, sizeof(PACKET_HEADER_TYPE));
}
void kernel_main() {
    std::size_t arg = 0;
    const auto tensor = TensorAccessor(TensorAccessorArgs<0>(), get_arg_val<uint32_t>(arg++), 64);
    const uint64_t signal = get_noc_addr(my_x[0], my_y[0], get_arg_val<uint32_t>(arg++));
    const bool is_second = get_arg_val<uint32_t>(arg++);
    cb_reserve_back(0, 1);
    const uint32_t data = get_write_ptr(0);
    noc_async_read_page(0, tensor, data);
    noc_async_read_barrier();
    if (is_second) {
        auto sender = FabricMuxV2Sender<false>::build_from_args(arg);
        sender.open();
        send(sender, data, tensor.get_noc_addr(1), signal);
        sender.close();
        return;
    }
    const uint32_t* mux = (const uint32_t*)get_arg_addr(arg);
    const uint32_t x = mux[0], y = mux[1], buffers = mux[2];
    auto sender = build_connection_to_fabric_endpoint<2>(
        x, y, mux[3], buffers, mux[4], mux[5], mux[6], mux[7], mux[8], mux[9], 0, 0, 0);
    wait_for_fabric_endpoint_ready(x, y, mux[10], 0);
    fabric_client_connect(sender);
    send(sender, data, tensor.get_noc_addr(1), signal);
    fabric_client_disconnect(sender);
    fabric_endpoint_terminate(x, y, mux[11]);
}
)";
const char* const ADDS = R"(
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    const auto tensor = TensorAccessor(TensorAccessorArgs<0>(), get_arg_val<uint32_t>(0), 64);
    noc_semaphore_wait((volatile tt_l1_ptr uint32_t*)get_arg_val<uint32_t>(1), 1);
    cb_reserve_back(0, 1);
    auto* words = (volatile tt_l1_ptr uint32_t*)get_write_ptr(0);
    noc_async_read_page(1, tensor, get_write_ptr(0));
    noc_async_read_barrier();
    for (uint32_t i = 0; i < 16; i++) {
        words[i] += 100;
    }
    noc_async_write_page(1, tensor, get_write_ptr(0));
    noc_async_write_barrier();
}
)";

const char* const PUSHES = R"(
#include "api/dataflow/dataflow_api.h"
#include "api/socket_api.h"
void kernel_main() {
    cb_reserve_back(0, 1);
    auto* words = (volatile tt_l1_ptr uint32_t*)get_write_ptr(0);
    auto socket = create_sender_socket_interface(get_arg_val<uint32_t>(0));
    set_sender_socket_page_size(socket, 64);
    const auto target = get_downstream_encoding(socket, 0);
    for (uint32_t page = 0; page < 5; page++) {
        for (uint32_t i = 0; i < 16; i++) {
            words[i] = 100 * page + i;
        }
        socket_reserve_pages(socket, 1);
        const uint32_t place = socket.downstream_fifo_addr + socket.write_ptr;
        noc_async_write(
            get_write_ptr(0),
            get_noc_addr(target.d2d.downstream_noc_x, target.d2d.downstream_noc_y, place), 64);
        noc_async_write_barrier();
        socket_push_pages(socket, 1);
        socket_notify_receiver(socket);
    }
    update_socket_config(socket);
    noc_async_write_barrier();
}
)";
const char* const POPS = R"(
#include "api/dataflow/dataflow_api.h"
#include "api/socket_api.h"
void kernel_main() {
    auto socket = create_receiver_socket_interface(get_arg_val<uint32_t>(0));
    set_receiver_socket_page_size(socket, 64);
    uint32_t sum = 0;
    for (uint32_t page = 0; page < 5; page++) {
        socket_wait_for_pages(socket, 1);
        sum += ((volatile tt_l1_ptr uint32_t*)socket.read_ptr)[3];
        socket_pop_pages(socket, 1);
        socket_notify_sender(socket);
    }
    update_socket_config(socket);
    noc_async_write_barrier();
    DPRINT << sum << ENDL();
}
)";
const char* const FEEDS = R"(
#include "api/dataflow/dataflow_api.h"
#include "api/remote_circular_buffer.h"
void kernel_main() {
    cb_reserve_back(0, 1);
    auto* words = (volatile tt_l1_ptr uint32_t*)get_write_ptr(0);
    for (uint32_t i = 0; i < 32; i++) {
        words[i] = 7 * i;
    }
    for (uint32_t page = 0; page < 3; page++) {
        experimental::remote_cb_reserve_back(31, 1);
        experimental::remote_cb_push_back_and_write_pages<false>(31, get_write_ptr(0), 1, 1, 1, 64);
    }
    experimental::remote_cb_sender_barrier(31);
    experimental::update_remote_cb_config_in_l1(31);
    noc_async_full_barrier();
}
)";
const char* const EATS = R"(
#include "api/dataflow/dataflow_api.h"
#include "api/remote_circular_buffer.h"
void kernel_main() {
    uint32_t sum = 0;
    for (uint32_t page = 0; page < 3; page++) {
        cb_reserve_back(1, 1);
        experimental::remote_cb_wait_front(31, 1);
        cb_push_back(1, 1);
        cb_wait_front(1, 1);
        sum += ((volatile tt_l1_ptr uint32_t*)get_read_ptr(1))[1];
        cb_pop_front(1, 1);
        experimental::remote_cb_pop_front(31, 1);
    }
    experimental::update_remote_cb_config_in_l1(31);
    noc_async_atomic_barrier();
    DPRINT << sum << ENDL();
}
)";

struct Opened {
    std::shared_ptr<MeshDevice> device = MeshDevice::create_unit_mesh(0);
    MeshCommandQueue& queue = device->mesh_command_queue();
    std::shared_ptr<MeshBuffer> buffer = MeshBuffer::create(
        ReplicatedBufferConfig{.size = 4 * 64}, DeviceLocalBufferConfig{.page_size = 64},
        device.get());
};

std::vector<uint32_t> counted(size_t size) {
    std::vector<uint32_t> words(size);
    for (size_t i = 0; i < size; i++) {
        words[i] = i;
    }
    return words;
}

// Adds a number to so many pages of a buffer; both are run-time arguments.
KernelHandle add_kernel(Program& program, const MeshBuffer& buffer) {
    CreateCircularBuffer(
        program, CORE,
        CircularBufferConfig(64, {{CBIndex::c_0, DataFormat::UInt32}}).set_page_size(0, 64));
    std::vector<uint32_t> layout;
    TensorAccessorArgs(buffer).append_to(layout);
    KernelHandle kernel =
        CreateKernelFromString(program, ADD, CORE, ReaderDataMovementConfig(layout));
    SetCommonRuntimeArgs(program, kernel, {buffer.address()});
    SetRuntimeArgs(program, kernel, CORE, {4, 100});
    return kernel;
}

void run(MeshDevice& device, Program&& program) {
    MeshWorkload workload;
    workload.add_program(MeshCoordinateRange(device.shape()), std::move(program));
    EnqueueMeshWorkload(device.mesh_command_queue(), workload, false);
}

void run_text(const char* text) {
    Opened opened;
    Program program;
    const uint32_t semaphore = CreateSemaphore(program, CORE, 0);
    CreateKernelFromString(
        program, text, CORE, DataMovementConfig{.compile_args = {semaphore}});
    run(*opened.device, std::move(program));
}

void print_words(const std::vector<uint32_t>& words) { fmt::print("{}\n", words); }

// --- Cases ---

void values() {
    fmt::print(
        "{} {:>6} {:<4}| {:^7} {:#x} {:08.3f} {:.2e} {:+d} {{}} {} {}\n", 1.5f, "ab", 3, "mid", 255,
        -3.14159, 12345.678, 7, true, 'c');
    fmt::print("{1} {0} {2:5} {3}\n", "zero", "one", 0.1, -0.0f);
    fmt::print("{} {} {}\n", uint64_t(1) << 63, std::numeric_limits<int64_t>::min(), 1e300);
    const bfloat16 a(1.00390625f), b(1.01171875f), c = -3;
    fmt::print("{} {} {} {:#x}\n", float(a), float(b), float(c), c.to_packed());
    fmt::print("{} {}\n", tile_size(DataFormat::Bfp8_b), detail::TileSize(DataFormat::Float32));
    const auto [count, all, more, less, per_more, per_less] = split_work_to_cores({3, 2}, 8u);
    fmt::print("{} {} {} {} {} {}\n", count, all, more, less, per_more, per_less);
    const CoreRangeSet set({CoreRange({0, 0}, {1, 1}), CoreRange({3, 0}, {3, 2})});
    fmt::print(
        "{} {} {} {}\n", set.num_cores(), set.bounding_box(), set.contains(CoreCoord(3, 2)),
        set.contains(CoreCoord(2, 0)));
    fmt::print("{}\n", corerange_to_cores(set, 5, true));
    fmt::print("{}\n", grid_to_cores(3, 2, 2));
    std::vector<uint16_t> matrix(32 * 64);
    for (size_t i = 0; i < matrix.size(); i++) {
        matrix[i] = i;
    }
    const auto tiles = tilize_nfaces(matrix, 32, 64);
    fmt::print(
        "{} {} {}\n", tiles[16], tiles[256], untilize_nfaces(tiles, 32, 64) == matrix);
    log_info(LogTest, "{} of {}", 1, 2);
    tt::log_error("alone");
    log_debug(LogTest, "not shown");
    const MeshShape shape(2, 4);
    std::cout << shape.mesh_size() << " " << MeshCoordinateRange(shape).end_coord()[1] << "\n";
}

void enums() {
    for (auto each : {DataFormat::Bfp8_b, DataFormat::UInt32, DataFormat::Float16_b}) {
        fmt::print("DataFormat {}\n", each);
    }
    fmt::print("BufferType {} TensorMemoryLayout {} CBIndex {} CBIndex {} MathFidelity {}\n",
               BufferType::L1, TensorMemoryLayout::BLOCK_SHARDED, +CB::c_intermed0,
               +CBIndex::c_31, MathFidelity::HiFi3);
}

void arguments() {
    Opened opened;
    Program program;
    const KernelHandle kernel = add_kernel(program, *opened.buffer);
    EnqueueWriteMeshBuffer(opened.queue, opened.buffer, counted(64));
    auto& args = GetRuntimeArgs(program, kernel, CORE);
    args[1] = 1000;  // Holds for the runs that follow.
    MeshWorkload workload;
    workload.add_program(MeshCoordinateRange(opened.device->shape()), std::move(program));
    EnqueueMeshWorkload(opened.queue, workload, false);
    args[0] = 1;
    EnqueueMeshWorkload(opened.queue, workload, false);
    std::vector<uint32_t> words;
    EnqueueReadMeshBuffer(opened.queue, words, opened.buffer);
    print_words({words[0], words[15], words[16], words[63]});
    Program& moved = workload.get_programs().begin()->second;
    SetRuntimeArgs(moved, kernel, CORE, {2, 5});
    print_words({args[0], args[1], GetRuntimeArgs(moved, kernel)[0][0][1]});
    GetCommonRuntimeArgs(moved, kernel)[0] = opened.buffer->address();
    EnqueueMeshWorkload(opened.queue, workload, false);
    EnqueueReadMeshBuffer(opened.queue, words, opened.buffer);
    print_words({words[0], words[16], words[63]});
}

void later() {
    Opened opened;
    EnqueueWriteMeshBuffer(opened.queue, opened.buffer, counted(64));
    std::vector<uint32_t> words;
    EnqueueReadMeshBuffer(opened.queue, words, opened.buffer, false);
    print_words({words[5], words[63]});
    Finish(opened.queue);
    print_words({words[5], words[63]});
    std::vector<uint32_t> part(16, 7);
    opened.queue.enqueue_write_shards(
        opened.buffer,
        {{.shard_coord = MeshCoordinate(0, 0), .host_data = part.data(),
          .region = BufferRegion(64, 64)}},
        false);
    opened.queue.enqueue_read_shards(
        {{.shard_coord = MeshCoordinate(0, 0), .host_data = part.data(),
          .region = BufferRegion(0, 64)}},
        opened.buffer, true);
    ReadShard(opened.queue, words, opened.buffer, MeshCoordinate(0, 0));
    print_words({part[3], words[15], words[16], words[32]});
}

void meshes() {
    auto device = MeshDevice::create(MeshDeviceConfig(MeshShape(1, 2)));
    auto& queue = device->mesh_command_queue();
    auto buffer = MeshBuffer::create(
        distributed::ShardedBufferConfig{
            .global_size = 512, .global_buffer_shape = {4, 32}, .shard_shape = {4, 16}},
        DeviceLocalBufferConfig{.page_size = 64}, device.get());
    EnqueueWriteMeshBuffer(queue, buffer, counted(128));
    MeshWorkload workload;
    for (uint32_t column : {0, 1}) {
        Program program;
        const KernelHandle kernel = add_kernel(program, *buffer);
        SetRuntimeArgs(program, kernel, CORE, {4, 1000 * (column + 1)});
        workload.add_program(
            MeshCoordinateRange(MeshCoordinate(0, column)), std::move(program));
    }
    EnqueueMeshWorkload(queue, workload, true);
    std::vector<uint32_t> words, shard;
    EnqueueReadMeshBuffer(queue, words, buffer);
    ReadShard(queue, shard, buffer, MeshCoordinate(0, 1));
    print_words({words[0], words[15], words[16], words[31], words[32], shard[16]});
    fmt::print("{} {} {}\n", buffer->size(), buffer->device_local_size(), shard.size());
    fmt::print(
        "{} {} {}\n", device->get_device(MeshCoordinate(0, 1))->id(),
        device->get_devices().size(), buffer->device() == device.get());
}

/// Each device of a row sends a page to the next one, which adds to it.
void fabric() {
    tt_fabric::SetFabricConfig(tt_fabric::FabricConfig::FABRIC_1D);
    auto device = MeshDevice::create(MeshDeviceConfig(MeshShape(1, 2)));
    auto& queue = device->mesh_command_queue();
    auto buffer = MeshBuffer::create(
        ReplicatedBufferConfig{.size = 128}, DeviceLocalBufferConfig{.page_size = 64},
        device.get());
    EnqueueWriteMeshBuffer(queue, buffer, counted(32));
    const auto arrived = CreateGlobalSemaphore(device.get(), CoreRangeSet(CoreRange(CORE, CORE)), 0);
    MeshWorkload workload;
    const auto here = device->get_fabric_node_id(MeshCoordinate(0, 0));
    const auto there = device->get_fabric_node_id(MeshCoordinate(0, 1));
    std::vector<uint32_t> layout;
    TensorAccessorArgs(*buffer).append_to(layout);
    for (uint32_t column : {0, 1}) {
        Program program;
        CircularBufferConfig config(64, {{0, DataFormat::UInt32}});
        CreateCircularBuffer(program, CORE, config.set_page_size(0, 64));
        const KernelHandle kernel = CreateKernelFromString(
            program, column == 0 ? SENDS : ADDS, CORE, DataMovementConfig{.compile_args = layout});
        std::vector<uint32_t> arguments = {
            static_cast<uint32_t>(buffer->address()), static_cast<uint32_t>(arrived.address())};
        if (column == 0) {
            tt_fabric::append_fabric_connection_rt_args(
                here, there, 1, program, CORE, arguments);
        }
        SetRuntimeArgs(program, kernel, CORE, arguments);
        workload.add_program(
            MeshCoordinateRange(MeshCoordinate(0, column)), std::move(program));
    }
    EnqueueMeshWorkload(queue, workload, true);
    std::vector<uint32_t> shard;
    ReadShard(queue, shard, buffer, MeshCoordinate(0, 1));
    print_words({shard[0], shard[15], shard[16], shard[31]});
    fmt::print(
        "{} {} {}\n", there.chip_id, tt_fabric::get_forwarding_link_indices(here, there),
        tt_fabric::get_tt_fabric_channel_buffer_size_bytes());
    tt_fabric::SetFabricConfig(tt_fabric::FabricConfig::DISABLED);
}

// What the worker is given for its channel of a mux, which is on another core.
std::vector<uint32_t> add_mux(MeshDevice& device, Program& program, bool is_second) {
    using Kind = tt_fabric::FabricMuxChannelType;
    const auto here = device.get_fabric_node_id(MeshCoordinate(0, 0));
    const auto there = device.get_fabric_node_id(MeshCoordinate(0, 1));
    const CoreCoord place(3, 1);
    const auto at = device.worker_core_from_logical_core(place);
    const auto size = tt_fabric::get_tt_fabric_channel_buffer_size_bytes();
    std::vector<uint32_t> arguments;
    if (is_second) {
        const tt_fabric::FabricMuxV2Config config(device, 1, 2, size, 0x20000);
        tt_fabric::add_fabric_mux_v2_to_program(program, config, place, here, there, 0);
        const uint32_t flow = CreateSemaphore(program, CORE, 0);
        config.append_client_connection_rt_args(
            at, 0, {flow, CreateSemaphore(program, CORE, 0)}, arguments);
        return arguments;
    }
    const tt_fabric::FabricMuxConfig config(1, 0, 2, 0, size, 0x20000);
    const KernelHandle kernel = CreateKernel(
        program, "tt_metal/fabric/impl/kernels/tt_fabric_mux.cpp", place,
        DataMovementConfig{.compile_args = config.get_fabric_mux_compile_time_args()});
    SetRuntimeArgs(
        program, kernel, place,
        config.get_fabric_mux_run_time_args(here, there, 0, program, place));
    const auto full = Kind::FULL_SIZE_CHANNEL;
    for (size_t each :
         {at.x, at.y, size_t(config.get_num_buffers(full)),
          config.get_channel_credits_stream_id(full, 0), config.get_buffer_size_bytes(full),
          config.get_channel_base_address(full, 0), config.get_connection_info_address(full, 0),
          config.get_connection_handshake_address(full, 0),
          config.get_flow_control_address(full, 0), config.get_buffer_index_address(full, 0),
          config.get_status_address(), config.get_termination_signal_address()}) {
        arguments.push_back(each);
    }
    return arguments;
}
// The same by a mux of each kind.
void share(bool is_second) {
    tt_fabric::SetFabricConfig(tt_fabric::FabricConfig::FABRIC_1D);
    auto device = MeshDevice::create(MeshDeviceConfig(MeshShape(1, 2)));
    auto& queue = device->mesh_command_queue();
    auto buffer = MeshBuffer::create(
        ReplicatedBufferConfig{.size = 128}, DeviceLocalBufferConfig{.page_size = 64},
        device.get());
    EnqueueWriteMeshBuffer(queue, buffer, counted(32));
    const auto arrived = CreateGlobalSemaphore(device.get(), CoreRangeSet(CoreRange(CORE, CORE)), 0);
    MeshWorkload workload;
    const auto here = device->get_fabric_node_id(MeshCoordinate(0, 0));
    const auto there = device->get_fabric_node_id(MeshCoordinate(0, 1));
    std::vector<uint32_t> layout;
    TensorAccessorArgs(*buffer).append_to(layout);
    for (uint32_t column : {0, 1}) {
        Program program;
        CircularBufferConfig config(64, {{0, DataFormat::UInt32}});
        CreateCircularBuffer(program, CORE, config.set_page_size(0, 64));
        const KernelHandle kernel = CreateKernelFromString(
            program, column == 0 ? SHARES : ADDS, CORE, DataMovementConfig{.compile_args = layout});
        std::vector<uint32_t> arguments = {
            static_cast<uint32_t>(buffer->address()), static_cast<uint32_t>(arrived.address())};
        if (column == 0) {
            arguments.push_back(is_second);
            const auto more = add_mux(*device, program, is_second);
            arguments.insert(arguments.end(), more.begin(), more.end());
        }
        SetRuntimeArgs(program, kernel, CORE, arguments);
        workload.add_program(
            MeshCoordinateRange(MeshCoordinate(0, column)), std::move(program));
    }
    EnqueueMeshWorkload(queue, workload, true);
    std::vector<uint32_t> shard;
    ReadShard(queue, shard, buffer, MeshCoordinate(0, 1));
    print_words({shard[0], shard[15], shard[16], shard[31]});
    tt_fabric::SetFabricConfig(tt_fabric::FabricConfig::DISABLED);
}
void muxes() {
    share(false);
    share(true);
    using Kind = tt_fabric::FabricMuxChannelType;
    const tt_fabric::FabricMuxConfig config(2, 1, 3, 4, 4416, 0x20000);
    const auto headers = Kind::HEADER_ONLY_CHANNEL;
    fmt::print(
        "{} {} {}\n", config.get_num_channels(headers), config.get_num_buffers(headers),
        config.get_buffer_size_bytes(headers));
    print_words(
        {static_cast<uint32_t>(config.get_channel_base_address(Kind::FULL_SIZE_CHANNEL, 1)),
         static_cast<uint32_t>(config.get_memory_map_end_address())});
}

// The fourth words of five pages are 3, 103, .. 403; the second words of receivers 7 and 7 * 17.
void streams() {
    auto device = MeshDevice::create_unit_mesh(0);
    const MeshCoordinate only(0, 0);
    const CoreCoord other(2, 1), third(3, 1);
    const SocketConfig config{
        .socket_connection_config = {{{only, CORE}, {only, other}}},
        .socket_mem_config = {BufferType::L1, 128}};
    auto [sender, receiver] = MeshSocket::create_socket_pair(device, device, config);
    fmt::print(
        "{} {}\n", receiver.get_data_buffer()->page_size(),
        sender.get_config().socket_connection_config.size());
    Program program;
    CreateCircularBuffer(
        program, CORE, CircularBufferConfig(64, {{0, DataFormat::UInt32}}).set_page_size(0, 64));
    SetRuntimeArgs(
        program, CreateKernelFromString(program, PUSHES, CORE, DataMovementConfig{}), CORE,
        {static_cast<uint32_t>(sender.get_config_buffer()->address())});
    SetRuntimeArgs(
        program, CreateKernelFromString(program, POPS, other, DataMovementConfig{}), other,
        {static_cast<uint32_t>(receiver.get_config_buffer()->address())});
    run(*device, std::move(program));

    const CoreRangeSet receivers(CoreRange(other, third));
    const auto pipe = experimental::CreateGlobalCircularBuffer(
        device.get(), {{CORE, receivers}}, 128);
    Program next;
    CreateCircularBuffer(
        next, CORE, CircularBufferConfig(128, {{0, DataFormat::UInt32}}).set_page_size(0, 128));
    CircularBufferConfig source(pipe.size());
    source.remote_index(31).set_page_size(64).set_data_format(DataFormat::UInt32);
    experimental::CreateCircularBuffer(next, CORE, source, pipe);
    CircularBufferConfig target(pipe.size(), {{1, DataFormat::UInt32}});
    target.set_page_size(1, 64).remote_index(31).set_page_size(64);
    experimental::CreateCircularBuffer(next, receivers, target, pipe);
    CreateKernelFromString(next, FEEDS, CORE, DataMovementConfig{});
    CreateKernelFromString(next, EATS, receivers, DataMovementConfig{});
    run(*device, std::move(next));
    fmt::print(
        "{}\n", pipe.config_address() != pipe.buffer_address() &&
                    receiver.get_socket_endpoint_type() == SocketEndpoint::RECEIVER);
}

const char* const RETURNS = R"(
#include "api/dataflow/dataflow_api.h"
#include "api/socket_api.h"
void kernel_main() {
    auto from = create_receiver_socket_interface(get_arg_val<uint32_t>(0));
    auto to = create_sender_socket_interface(get_arg_val<uint32_t>(1));
    set_receiver_socket_page_size(from, 96);
    set_sender_socket_page_size(to, 96);
    noc_write_init_state<write_cmd_buf>(NOC_INDEX, NOC_UNICAST_WRITE_VC);
    const uint64_t high = to.d2h.data_addr_hi;
    const uint64_t base = high << 32 | to.downstream_fifo_addr;
    for (uint32_t i = 0; i < 3; i++) {
        socket_wait_for_pages(from, 1);
        auto* words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(from.read_ptr);
        words[5] += 100;
        socket_reserve_pages(to, 1);
        noc_wwrite_with_state<
            noc_mode, write_cmd_buf, CQ_NOC_SNDL, CQ_NOC_SEND, CQ_NOC_WAIT, true, false>(
            NOC_INDEX, from.read_ptr, to.d2h.pcie_xy_enc, base + to.write_ptr, 96, 1);
        noc_async_writes_flushed();
        socket_push_pages(to, 1);
        socket_notify_receiver(to);
        socket_pop_pages(from, 1);
        socket_notify_sender(from);
    }
    update_socket_config(from);
    update_socket_config(to);
    noc_async_write_barrier();
})";

// Three pages of 24 words, of which each sixth gets 100 more; two fit into a socket.
void host_sockets() {
    auto device = MeshDevice::create_unit_mesh(0);
    const MeshCoreCoord end{MeshCoordinate(0, 0), CORE};
    H2DSocket to(device, end, BufferType::L1, 256, H2DMode::HOST_PUSH);
    D2HSocket back(device, end, 256);
    to.set_page_size(96);
    back.set_page_size(96);
    auto words = counted(72);
    to.write(words.data(), 1);
    fmt::print("{} {} {}\n", to.get_bytes_sent(), to.has_space(), to.has_space(192));
    to.write(words.data() + 24, 1);
    fmt::print("{} {}\n", to.has_space(), back.has_data());
    Program program;
    SetRuntimeArgs(
        program, CreateKernelFromString(program, RETURNS, CORE, DataMovementConfig{}), CORE,
        {to.get_config_buffer_address(), back.get_config_buffer_address()});
    run(*device, std::move(program));
    std::vector<uint32_t> read(72);
    back.read(read.data(), 1);
    to.write(words.data() + 48, 1);
    back.read(read.data() + 24, 2);
    to.barrier();
    back.barrier(1000);
    Finish(device->mesh_command_queue());
    for (const size_t place : {5, 29, 53}) {
        words[place] += 100;
    }
    fmt::print(
        "{} {} {} {}\n", read == words, back.pages_available(), back.get_page_size(),
        to.get_active_cores().at(0).core_coord == CORE);
}
void no_pages() {
    auto device = MeshDevice::create_unit_mesh(0);
    H2DSocket to(device, {MeshCoordinate(0, 0), CORE}, BufferType::L1, 256, H2DMode::HOST_PUSH);
    to.write(nullptr, 3);
}
void pulled() {
    auto device = MeshDevice::create_unit_mesh(0);
    H2DSocket to(device, {MeshCoordinate(0, 0), CORE}, BufferType::L1, 256, H2DMode::DEVICE_PULL);
}
void alone() {
    auto device = MeshDevice::create_unit_mesh(0);
    const MeshCoreCoord end{MeshCoordinate(0, 0), CORE};
    MeshSocket::create_socket_pair(device, device, {{{end, end}}, {BufferType::L1, 100}});
}

void of_2024() {
    Device* device = CreateDevice(0);
    CommandQueue& queue = device->command_queue();
    auto buffer = CreateBuffer(
        InterleavedBufferConfig{.device = device, .size = 256, .page_size = 64});
    uint32_t plain[64];
    EnqueueWriteBuffer(queue, *buffer, counted(64).data(), true);
    EnqueueReadBuffer(queue, buffer, plain, true);
    std::vector<uint32_t> words;
    detail::WriteToDeviceL1(device, CORE, 0x80000, counted(8));
    detail::ReadFromDeviceL1(device, CORE, 0x80000 + 8, 8, words);
    fmt::print("{} {} {}\n", plain[9], words, device->arch() == ARCH::WORMHOLE_B0);
    const auto before = buffer->address();
    buffer.reset();  // Gives its memory back.
    fmt::print("{}\n", CreateBuffer(InterleavedBufferConfig{
                           .device = device, .size = 256, .page_size = 64})
                               ->address() == before);
    auto event = std::make_shared<Event>();
    EnqueueRecordEvent(queue, event);
    EventSynchronize(event);
    CloseDevice(device);
}

void caught() {
    Opened opened;
    try {
        EnqueueWriteMeshBuffer(opened.queue, opened.buffer, counted(3));
    } catch (const std::exception& error) {
        fmt::print("caught {}\n", error.what());
    }
    print_words({opened.buffer->num_pages()});
}

void order() {
    fmt::print("before\n");
    run_text(PRINTS);
    std::cout << "after\n";
}

void fatal() { TT_FATAL(1 + 1 == 3, "{} is not {:>4}", 2, 3); }
void thrown() {
    Opened opened;
    throw std::runtime_error("nobody caught this");
}
void moved() {
    Opened opened;
    Program program;
    MeshWorkload().add_program(
        MeshCoordinateRange(opened.device->shape()), std::move(program));
    CreateSemaphore(program, CORE, 1);
}
void closed() {
    Opened opened;
    opened.device->close();
    EnqueueWriteMeshBuffer(opened.queue, opened.buffer, counted(64));
}
void number() { SetRuntimeArgs(Program(), 77, CORE, {1}); }
void argument() {
    Opened opened;
    Program program;
    GetRuntimeArgs(program, add_kernel(program, *opened.buffer), CORE)[2] = 1;
}
void invalid() { tile_size(DataFormat::Invalid); }
void overlap() {
    const CoreRangeSet set({CoreRange({0, 0}, {1, 1}), CoreRange({1, 1}, {2, 2})});
    set.merge_ranges();
}
void wide() {
    Program program;
    const CoreRange wide({0, 0}, {(size_t(1) << 32) - 1, (size_t(1) << 32) - 1});
    CreateSemaphore(program, wide, 0);
}
void vast() { create_random_vector_of_bfloat16(1ull << 40, 1, 0); }
void odd() {
    Opened opened;
    auto buffer = MeshBuffer::create(
        ReplicatedBufferConfig{.size = 20}, DeviceLocalBufferConfig{.page_size = 20},
        opened.device.get());
    EnqueueWriteMeshBuffer(opened.queue, buffer, counted(5));
    std::vector<uint64_t> words;
    EnqueueReadMeshBuffer(opened.queue, words, buffer);
}
void huge() {
    Opened opened;
    MeshBuffer::create(
        ReplicatedBufferConfig{.size = uint64_t(1) << 63}, DeviceLocalBufferConfig{.page_size = 64},
        opened.device.get());
}
void file() {
    Program program;
    CreateKernel(program, "kernels/nowhere.cpp", CORE, ReaderDataMovementConfig());
}
void broken() { run_text(BROKEN); }
void loops() { run_text(LOOPS); }
void crash() {
    Opened opened;
    raise(SIGSEGV);
}
void endless() {
    Opened opened;
    for (;;) {
        pause();
    }
}
void forked() {
    Opened opened;
    if (fork() == 0) {
        opened.device->id();
    }
    int status = 0;
    wait(&status);
    fmt::print("child {}, id {}\n", WEXITSTATUS(status), opened.device->id());
}
void left_behind() {
    Opened opened;
    if (fork() == 0) {
        close(1);
        close(2);
        sleep(30);
    }
}
void garbage() {
    Opened opened;
    for (int descriptor = 3; descriptor < 64; descriptor++) {
        (void)!write(descriptor, "\xff\xff\xff\xff\xff\xff\xff\xff", 8);
    }
    pause();
}

const std::map<std::string, void (*)()> CASES = {
    {"values", values},     {"enums", enums},     {"arguments", arguments}, {"later", later},
    {"meshes", meshes},     {"fabric", fabric},     {"muxes", muxes},   {"of_2024", of_2024}, {"caught", caught},       {"order", order},
    {"fatal", fatal},       {"thrown", thrown},   {"moved", moved},         {"closed", closed},
    {"number", number},     {"argument", argument}, {"huge", huge},         {"file", file},
    {"odd", odd},           {"streams", streams}, {"alone", alone},
    {"host_sockets", host_sockets}, {"no_pages", no_pages}, {"pulled", pulled},
    {"invalid", invalid}, {"overlap", overlap},   {"wide", wide},           {"vast", vast},
    {"broken", broken},     {"loops", loops},     {"crash", crash},         {"endless", endless},
    {"forked", forked},     {"left_behind", left_behind}, {"garbage", garbage}};

}  // namespace

int main(int argc, char** argv) {
    CASES.at(argv[1])();
    return argc - 2;
}
