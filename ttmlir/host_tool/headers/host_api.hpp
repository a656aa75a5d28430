// The host API of TT-Metalium, of 2024 to 2026: each function passes its arguments on, with the
// line that calls it, to the function of the same name in ttmlir.metalium.
//
// Sources: tt-metal, tt_metal/api/tt-metalium/host_api.hpp, distributed.hpp, device.hpp,
// mesh_device.hpp, buffer.hpp, mesh_buffer.hpp, circular_buffer_config.hpp, tt_metal.hpp.
#pragma once

#include <cassert>
#include <chrono>

#include "values.hpp"

namespace tt::tt_metal {

using ttmlir_host::call;
using ttmlir_host::Handle;
using ttmlir_host::Message;
using ttmlir_host::Reference;
using ttmlir_host::Value;
using chip_id_t = int;
using KernelHandle = uint32_t;
using CBHandle = uint32_t;
using CoreSpec = std::variant<CoreCoord, CoreRange, CoreRangeSet>;

/// An object of the simulator.
class Remote {
public:
    Remote() = default;
    explicit Remote(const Value& value) : handle_(value) {}
    void encode(Message& message) const { handle_.encode(message); }

protected:
    template <typename... Arguments>
    Value ask(Where where, const char* name, const Arguments&... arguments) const {
        return call(where, name, *this, arguments...);
    }
    Handle handle_;
};

// --- Devices -------------------------------------------------------------------------------------

class CommandQueue : public Remote {
public:
    using Remote::Remote;
    void finish(Where where = Where::here()) { call(where, "Finish", *this); }
};

class IDevice : public Remote {
public:
    explicit IDevice(const Value& value) : Remote(value) {}
    virtual ~IDevice() = default;
    IDevice(const IDevice&) = delete;
    IDevice& operator=(const IDevice&) = delete;

    int id(Where where = Where::here()) const { return ask(where, "Device.id").number; }
    CommandQueue& command_queue(size_t number = 0, Where where = Where::here()) {
        queue_ = CommandQueue(ask(where, "Device.command_queue", number));
        return queue_;
    }
    CoreCoord compute_with_storage_grid_size(Where where = Where::here()) const {
        return CoreCoord(ask(where, "Device.compute_with_storage_grid_size"));
    }
    CoreCoord grid_size(Where where = Where::here()) const {
        return CoreCoord(ask(where, "Device.grid_size"));
    }
    CoreCoord logical_grid_size(Where where = Where::here()) const {
        return CoreCoord(ask(where, "Device.logical_grid_size"));
    }
    CoreCoord worker_core_from_logical_core(
        const CoreCoord& core, Where where = Where::here()) const {
        return CoreCoord(ask(where, "Device.worker_core_from_logical_core", core));
    }
    int num_dram_channels(Where where = Where::here()) const {
        return ask(where, "Device.num_dram_channels").number;
    }
    uint32_t l1_size_per_core(Where where = Where::here()) const {
        return ask(where, "Device.l1_size_per_core").number;
    }
    uint32_t dram_size_per_channel(Where where = Where::here()) const {
        return ask(where, "Device.dram_size_per_channel").number;
    }
    ARCH arch(Where where = Where::here()) const {
        return static_cast<ARCH>(ask(where, "Device.arch").number + 1);
    }
    bool close(Where where = Where::here()) { return ask(where, "Device.close").number; }

private:
    CommandQueue queue_;
};
using Device = IDevice;

/// The other arguments of C++ are about memory and queues that there are not here.
inline IDevice* CreateDevice(
    chip_id_t id, uint8_t /*num_hw_cqs*/ = 1, size_t /*l1_small_size*/ = 0,
    size_t /*trace_region_size*/ = 0, Where where = Where::here()) {
    return new IDevice(call(where, "CreateDevice", id));
}
inline bool CloseDevice(IDevice* device, Where where = Where::here()) {
    return device->close(where);
}

// --- Buffers -------------------------------------------------------------------------------------

struct InterleavedBufferConfig {
    IDevice* device;
    DeviceAddr size;
    DeviceAddr page_size;
    BufferType buffer_type = BufferType::DRAM;
    TensorMemoryLayout buffer_layout = TensorMemoryLayout::INTERLEAVED;
    void encode(Message& message) const {
        message.record("InterleavedBufferConfig", 5);
        message.field("device", *device);
        message.field("size", size);
        message.field("page_size", page_size);
        message.field("buffer_type", buffer_type);
        message.field("buffer_layout", buffer_layout);
    }
};
struct ShardedBufferConfig {
    IDevice* device;
    DeviceAddr size;
    DeviceAddr page_size;
    BufferType buffer_type = BufferType::L1;
    TensorMemoryLayout buffer_layout = TensorMemoryLayout::HEIGHT_SHARDED;
    ShardSpecBuffer shard_parameters;
    void encode(Message& message) const {
        message.record("ShardedBufferConfig", 6);
        message.field("device", *device);
        message.field("size", size);
        message.field("page_size", page_size);
        message.field("buffer_type", buffer_type);
        message.field("buffer_layout", buffer_layout);
        message.field("shard_parameters", shard_parameters);
    }
};

class Buffer : public Remote {
public:
    Buffer(const Value& value, IDevice* device) : Remote(value), device_(device) {}
    IDevice* device() const { return device_; }
    uint32_t address(Where where = Where::here()) const { return get(where, "Buffer.address"); }
    DeviceAddr size(Where where = Where::here()) const { return get(where, "Buffer.size"); }
    DeviceAddr page_size(Where where = Where::here()) const {
        return get(where, "Buffer.page_size");
    }
    uint32_t num_pages(Where where = Where::here()) const { return get(where, "Buffer.num_pages"); }
    DeviceAddr aligned_page_size(Where where = Where::here()) const {
        return get(where, "Buffer.aligned_page_size");
    }
    DeviceAddr aligned_size(Where where = Where::here()) const {
        return get(where, "Buffer.aligned_size");
    }
    BufferType buffer_type(Where where = Where::here()) const {
        return static_cast<BufferType>(get(where, "Buffer.buffer_type"));
    }
    TensorMemoryLayout buffer_layout(Where where = Where::here()) const {
        return static_cast<TensorMemoryLayout>(get(where, "Buffer.buffer_layout"));
    }
    bool is_l1(Where where = Where::here()) const { return get(where, "Buffer.is_l1"); }
    bool is_dram(Where where = Where::here()) const { return get(where, "Buffer.is_dram"); }
    bool is_allocated(Where where = Where::here()) const {
        return get(where, "Buffer.is_allocated");
    }
    CoreCoord noc_coordinates(uint32_t bank = 0, Where where = Where::here()) const {
        return CoreCoord(ask(where, "Buffer.noc_coordinates", bank));
    }
    DeviceAddr page_address(uint32_t bank, uint32_t page, Where where = Where::here()) const {
        return ask(where, "Buffer.page_address", bank, page).number;
    }

private:
    int64_t get(Where where, const char* name) const { return ask(where, name).number; }
    IDevice* device_;
};

template <typename Config>
std::shared_ptr<Buffer> CreateBuffer(const Config& config, Where where = Where::here()) {
    return std::make_shared<Buffer>(call(where, "CreateBuffer", config), config.device);
}
inline void DeallocateBuffer(Buffer& buffer, Where where = Where::here()) {
    call(where, "DeallocateBuffer", buffer);
}

namespace tensor_accessor {
enum class ArgConfig : uint8_t {
    None = 0, RuntimeNumBanks = 2, RuntimeRank = 4, RuntimeTensorShape = 8, RuntimeShardShape = 16,
    RuntimeBankCoords = 32, Runtime = 62
};
}  // namespace tensor_accessor

/// What a kernel's `TensorAccessorArgs` reads of a buffer from its arguments.
class TensorAccessorArgs {
public:
    explicit TensorAccessorArgs(
        const Buffer& buffer,
        tensor_accessor::ArgConfig config = tensor_accessor::ArgConfig::None,
        Where where = Where::here()) :
        TensorAccessorArgs(
            call(where, "TensorAccessorArgs", buffer, static_cast<uint32_t>(config)), where) {}
    template <typename T>
    explicit TensorAccessorArgs(
        const std::shared_ptr<T>& buffer,
        tensor_accessor::ArgConfig config = tensor_accessor::ArgConfig::None,
        Where where = Where::here()) :
        TensorAccessorArgs(*buffer, config, where) {}
    static TensorAccessorArgs create_dram_interleaved(Where where = Where::here()) {
        return {call(where, "TensorAccessorArgs.create_dram_interleaved"), where};
    }
    static TensorAccessorArgs create_l1_interleaved(Where where = Where::here()) {
        return {call(where, "TensorAccessorArgs.create_l1_interleaved"), where};
    }
    const std::vector<uint32_t>& get_compile_time_args() const { return compile_time_; }
    const std::vector<uint32_t>& get_common_runtime_args() const { return common_; }
    void append_to(std::vector<uint32_t>& compile_time, Where where = Where::here()) const {
        if (!common_.empty()) {
            ttmlir_host::fail(
                where, "a part of the layout is among the common run-time arguments; give "
                       "append_to their vector, too");
        }
        compile_time.insert(compile_time.end(), compile_time_.begin(), compile_time_.end());
    }
    void append_to(std::vector<uint32_t>& compile_time, std::vector<uint32_t>& common) const {
        compile_time.insert(compile_time.end(), compile_time_.begin(), compile_time_.end());
        common.insert(common.end(), common_.begin(), common_.end());
    }

private:
    TensorAccessorArgs(const Value& made, Where where) {
        const Handle args(made);
        compile_time_ =
            call(where, "TensorAccessorArgs.get_compile_time_args", args).numbers<uint32_t>();
        common_ =
            call(where, "TensorAccessorArgs.get_common_runtime_args", args).numbers<uint32_t>();
    }
    std::vector<uint32_t> compile_time_;
    std::vector<uint32_t> common_;
};

// --- Programs and kernels ------------------------------------------------------------------------

/// Run-time arguments of a kernel on a core; what is assigned holds for the runs that follow.
class RuntimeArgsData {
public:
    RuntimeArgsData() = default;
    explicit RuntimeArgsData(std::vector<uint32_t> words) :
        words_(std::move(words)), known_(words_) {}
    uint32_t& operator[](size_t index) {
        if (index >= words_.size()) {
            throw std::out_of_range(
                fmt::format("run-time argument {} of {}", index, words_.size()));
        }
        return words_[index];
    }
    uint32_t& at(size_t index) { return (*this)[index]; }
    uint32_t* data() { return words_.data(); }
    size_t size() const { return words_.size(); }
    auto begin() { return words_.begin(); }
    auto end() { return words_.end(); }
    /// The words, if they are others than the simulator knows, which it is told by this.
    std::optional<std::vector<uint32_t>> take_changes() {
        if (words_ == known_) {
            return std::nullopt;
        }
        return known_ = words_;
    }

private:
    std::vector<uint32_t> words_;
    std::vector<uint32_t> known_;
};

/// What is known here of the arguments of a program.
struct ProgramState {
    Handle handle;
    /// Those that somebody has a reference to.
    std::map<KernelHandle, std::map<CoreCoord, RuntimeArgsData>> arguments{};
    std::map<KernelHandle, RuntimeArgsData> common_arguments{};

    RuntimeArgsData& arguments_of(KernelHandle kernel, const CoreCoord& core, Where where) {
        auto& known = arguments[kernel];
        if (!known.contains(core)) {
            known[core] = RuntimeArgsData(
                call(where, "GetRuntimeArgs", handle, Reference{kernel}, core)
                    .numbers<uint32_t>());
        }
        return known[core];
    }
};

/// The arguments of a kernel on all cores: `grid[x][y]`.
class RuntimeArgsGrid {
public:
    RuntimeArgsGrid(ProgramState& state, KernelHandle kernel, Where where) :
        state_(state), kernel_(kernel), where_(where) {}
    struct Column {
        const RuntimeArgsGrid& grid;
        size_t x;
        RuntimeArgsData& operator[](size_t y) const {
            return grid.state_.arguments_of(grid.kernel_, {x, y}, grid.where_);
        }
    };
    Column operator[](size_t x) const { return {*this, x}; }

private:
    ProgramState& state_;
    KernelHandle kernel_;
    Where where_;
};

class Program {
public:
    Program(Where where = Where::here()) :
        state_(new ProgramState{Handle(call(where, "CreateProgram"))}) {}
    void encode(Message& message) const { message.put(state(message.where()).handle); }

    ProgramState& state(Where where) const {
        if (state_ == nullptr) {
            ttmlir_host::fail(
                where, "the program was moved, such as into a workload; get_programs() has it");
        }
        return *state_;
    }
    /// Tell the simulator of arguments that were changed by reference.
    void flush_arguments(Where where) const {
        for (auto& [kernel, cores] : state(where).arguments) {
            for (auto& [core, words] : cores) {
                if (const auto changed = words.take_changes()) {
                    call(where, "SetRuntimeArgs", *this, Reference{kernel}, core, *changed);
                }
            }
        }
        for (auto& [kernel, words] : state(where).common_arguments) {
            if (const auto changed = words.take_changes()) {
                call(where, "SetCommonRuntimeArgs", *this, Reference{kernel}, *changed);
            }
        }
    }

private:
    std::unique_ptr<ProgramState> state_;
};

inline Program CreateProgram(Where where = Where::here()) { return Program(where); }

template <typename Config>
KernelHandle CreateKernel(
    Program& program, const std::string& file, const CoreSpec& cores, const Config& config,
    Where where = Where::here()) {
    return call(where, "CreateKernel", program, file, cores, config).number;
}
template <typename Config>
KernelHandle CreateKernelFromString(
    Program& program, const std::string& text, const CoreSpec& cores, const Config& config,
    Where where = Where::here()) {
    return call(where, "CreateKernelFromString", program, text, cores, config).number;
}

inline void SetRuntimeArgs(
    const Program& program, KernelHandle kernel, const CoreSpec& cores,
    std::span<const uint32_t> args, Where where = Where::here()) {
    program.flush_arguments(where);
    call(where, "SetRuntimeArgs", program, Reference{kernel}, cores, args);
    for (auto& [core, words] : program.state(where).arguments[kernel]) {
        words = RuntimeArgsData(
            call(where, "GetRuntimeArgs", program, Reference{kernel}, core).numbers<uint32_t>());
    }
}
inline void SetRuntimeArgs(
    const Program& program, KernelHandle kernel, const CoreSpec& cores,
    std::initializer_list<uint32_t> args, Where where = Where::here()) {
    SetRuntimeArgs(program, kernel, cores, std::span(args.begin(), args.size()), where);
}
inline void SetRuntimeArgs(
    const Program& program, KernelHandle kernel, const std::vector<CoreCoord>& cores,
    const std::vector<std::vector<uint32_t>>& args, Where where = Where::here()) {
    if (cores.size() != args.size()) {
        ttmlir_host::fail(
            where, "a list of cores takes a list of run-time arguments for each",
            "{} cores and {} lists", cores.size(), args.size());
    }
    for (size_t i = 0; i < cores.size(); i++) {
        SetRuntimeArgs(program, kernel, cores[i], args[i], where);
    }
}
inline RuntimeArgsData& GetRuntimeArgs(
    const Program& program, KernelHandle kernel, const CoreCoord& core,
    Where where = Where::here()) {
    return program.state(where).arguments_of(kernel, core, where);
}
inline RuntimeArgsGrid GetRuntimeArgs(
    const Program& program, KernelHandle kernel, Where where = Where::here()) {
    return {program.state(where), kernel, where};
}
inline void SetCommonRuntimeArgs(
    const Program& program, KernelHandle kernel, std::span<const uint32_t> args,
    Where where = Where::here()) {
    call(where, "SetCommonRuntimeArgs", program, Reference{kernel}, args);
    program.state(where).common_arguments.erase(kernel);
}
inline void SetCommonRuntimeArgs(
    const Program& program, KernelHandle kernel, std::initializer_list<uint32_t> args,
    Where where = Where::here()) {
    SetCommonRuntimeArgs(program, kernel, std::span(args.begin(), args.size()), where);
}
inline RuntimeArgsData& GetCommonRuntimeArgs(
    const Program& program, KernelHandle kernel, Where where = Where::here()) {
    auto& known = program.state(where).common_arguments;
    if (!known.contains(kernel)) {
        known[kernel] = RuntimeArgsData(
            call(where, "GetCommonRuntimeArgs", program, Reference{kernel}).numbers<uint32_t>());
    }
    return known[kernel];
}

inline uint32_t CreateSemaphore(
    Program& program, const CoreSpec& cores, uint32_t initial_value, Where where = Where::here()) {
    return call(where, "CreateSemaphore", program, cores, initial_value).number;
}

/// A word in the L1 of some cores that programs share.
class GlobalSemaphore : public Remote {
public:
    using Remote::Remote;
    DeviceAddr address(Where where = Where::here()) const {
        return ask(where, "GlobalSemaphore.address").number;
    }
    void reset_semaphore_value(uint32_t value, Where where = Where::here()) const {
        ask(where, "GlobalSemaphore.reset_semaphore_value", value);
    }
};
inline GlobalSemaphore CreateGlobalSemaphore(
    IDevice* device, const CoreRangeSet& cores, uint32_t initial_value,
    BufferType type = BufferType::L1, Where where = Where::here()) {
    return GlobalSemaphore(
        call(where, "CreateGlobalSemaphore", *device, cores, initial_value, type));
}

// --- Circular buffers ----------------------------------------------------------------------------

/// Rows and columns of tiles.
class Tile {
public:
    explicit Tile(std::array<uint32_t, 2> shape = {constants::TILE_HEIGHT, constants::TILE_WIDTH}) : shape_(shape) {}
    uint32_t get_height() const { return shape_[0]; }
    uint32_t get_width() const { return shape_[1]; }

private:
    std::array<uint32_t, 2> shape_;
};

class CircularBufferConfig : public Remote {
public:
    explicit CircularBufferConfig(const Value& value) : Remote(value) {}
    explicit CircularBufferConfig(uint32_t total_size, Where where = Where::here()) :
        CircularBufferConfig(call(where, "CircularBufferConfig", total_size)) {}
    CircularBufferConfig(
        uint32_t total_size, const std::map<uint8_t, DataFormat>& formats,
        Where where = Where::here()) :
        CircularBufferConfig(call(where, "CircularBufferConfig", total_size, formats)) {}
    CircularBufferConfig(
        uint32_t total_size, const std::map<uint8_t, DataFormat>& formats, const Buffer& buffer,
        Where where = Where::here()) :
        CircularBufferConfig(total_size, formats, where) {
        set_globally_allocated_address(buffer, where);
    }
    CircularBufferConfig& set_page_size(
        uint8_t index, uint32_t size, Where where = Where::here()) {
        return set(where, "CircularBufferConfig.set_page_size", index, size);
    }
    CircularBufferConfig& set_tile_dims(
        uint8_t index, const Tile& tile, Where where = Where::here()) {
        return set(
            where, "CircularBufferConfig.set_tile_dims", index, tile.get_height(),
            tile.get_width());
    }
    CircularBufferConfig& set_total_size(uint32_t size, Where where = Where::here()) {
        return set(where, "CircularBufferConfig.set_total_size", size);
    }
    CircularBufferConfig& set_globally_allocated_address(
        const Buffer& buffer, Where where = Where::here()) {
        return set(where, "CircularBufferConfig.set_globally_allocated_address", buffer);
    }
    CircularBufferConfig& set_globally_allocated_address_and_total_size(
        const Buffer& buffer, uint32_t size, Where where = Where::here()) {
        return set_globally_allocated_address(buffer, where).set_total_size(size, where);
    }
    CircularBufferConfig& set_address_offset(uint32_t offset, Where where = Where::here()) {
        return set(where, "CircularBufferConfig.set_address_offset", offset);
    }

    /// Sets up one of the circular buffers.
    class Builder {
    public:
        Builder(CircularBufferConfig& config, uint8_t index) : config_(config), index_(index) {}
        const Builder& set_data_format(DataFormat format, Where where = Where::here()) const {
            config_.set(where, "CircularBufferConfig.set_data_format", index_, format);
            return *this;
        }
        const Builder& set_page_size(uint32_t size, Where where = Where::here()) const {
            config_.set_page_size(index_, size, where);
            return *this;
        }
        const Builder& set_tile_dims(const Tile& tile, Where where = Where::here()) const {
            config_.set_tile_dims(index_, tile, where);
            return *this;
        }
        const Builder& set_total_size(uint32_t size, Where where = Where::here()) const {
            config_.set_total_size(size, where);
            return *this;
        }

    private:
        CircularBufferConfig& config_;
        uint8_t index_;
    };
    Builder index(uint8_t index) { return {*this, index}; }

    /// Sets up an end of a global circular buffer.
    class RemoteBuilder {
    public:
        RemoteBuilder(CircularBufferConfig& config, uint8_t index) :
            config_(config), index_(index) {}
        const RemoteBuilder& set_data_format(DataFormat /*format*/) const { return *this; }
        const RemoteBuilder& set_page_size(uint32_t size, Where where = Where::here()) const {
            config_.set(where, "CircularBufferConfig.set_remote_page_size", index_, size);
            return *this;
        }

    private:
        CircularBufferConfig& config_;
        uint8_t index_;
    };
    RemoteBuilder remote_index(uint8_t index) { return {*this, index}; }

private:
    template <typename... Arguments>
    CircularBufferConfig& set(Where where, const char* name, const Arguments&... arguments) {
        ask(where, name, arguments...);
        return *this;
    }
};

inline CBHandle CreateCircularBuffer(
    Program& program, const CoreSpec& cores, const CircularBufferConfig& config,
    Where where = Where::here()) {
    return call(where, "CreateCircularBuffer", program, cores, config).number;
}
inline CircularBufferConfig GetCircularBufferConfig(
    Program& program, CBHandle handle, Where where = Where::here()) {
    return CircularBufferConfig(
        call(where, "GetCircularBufferConfig", program, Reference{handle}));
}
inline void UpdateCircularBufferTotalSize(
    Program& program, CBHandle handle, uint32_t size, Where where = Where::here()) {
    call(where, "UpdateCircularBufferTotalSize", program, Reference{handle}, size);
}
inline void UpdateCircularBufferPageSize(
    Program& program, CBHandle handle, uint8_t index, uint32_t size, Where where = Where::here()) {
    call(where, "UpdateCircularBufferPageSize", program, Reference{handle}, index, size);
}
inline void UpdateDynamicCircularBufferAddress(
    Program& program, CBHandle handle, const Buffer& buffer, uint32_t offset = 0,
    Where where = Where::here()) {
    call(where, "UpdateDynamicCircularBufferAddress", program, Reference{handle}, buffer, offset);
}
inline void UpdateDynamicCircularBufferAddressAndTotalSize(
    Program& program, CBHandle handle, const Buffer& buffer, uint32_t size,
    Where where = Where::here()) {
    call(
        where, "UpdateDynamicCircularBufferAddressAndTotalSize", program, Reference{handle}, buffer,
        size);
}

// --- Queues --------------------------------------------------------------------------------------

/// Bytes that a call reads go to a vector or to memory of the program, now or when it is finished.
inline void deliver(const Value& read, void* target) {
    std::memcpy(target, read.items.at(0).text.data(), read.items.at(0).text.size());
    if (read.items.size() > 1) {
        ttmlir_host::Connection::get().expect(read.items[1].number, target);
    }
}
template <typename T>
void deliver(const Value& read, std::vector<T>& target) {
    static_assert(std::is_trivially_copyable_v<T>, "a buffer holds numbers");
    const size_t size = read.items.at(0).text.size();
    if (size % sizeof(T) != 0) {
        ttmlir_host::fail(
            ttmlir_host::Connection::last(), "a vector does not hold what is read",
            "{} bytes are no whole number of elements of {}", size, sizeof(T));
    }
    target.resize(size / sizeof(T));
    deliver(read, static_cast<void*>(target.data()));
}
template <typename T>
ttmlir_host::Bytes bytes_of(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>, "a buffer holds numbers");
    return {values.data(), values.size() * sizeof(T)};
}

inline const Buffer& buffer_of(const Buffer& buffer) { return buffer; }
template <typename T>
const Buffer& buffer_of(const std::shared_ptr<T>& buffer) {
    return *buffer;
}

template <typename B, typename T>
void EnqueueWriteBuffer(
    CommandQueue& queue, const B& buffer, const std::vector<T>& source, bool blocking,
    Where where = Where::here()) {
    call(where, "EnqueueWriteBuffer", queue, buffer_of(buffer), bytes_of(source), blocking);
}
template <typename B>
void EnqueueWriteBuffer(
    CommandQueue& queue, const B& buffer, const void* source, bool blocking,
    Where where = Where::here()) {
    const ttmlir_host::Bytes bytes{source, buffer_of(buffer).size(where)};
    call(where, "EnqueueWriteBuffer", queue, buffer_of(buffer), bytes, blocking);
}
/// `target` is a vector, which gets the size, or memory that is large enough.
template <typename B, typename T>
void EnqueueReadBuffer(
    CommandQueue& queue, const B& buffer, T&& target, bool blocking, Where where = Where::here()) {
    deliver(call(where, "EnqueueReadBuffer", queue, buffer_of(buffer), blocking), target);
}
template <typename B, typename T>
void EnqueueWriteSubBuffer(
    CommandQueue& queue, const B& buffer, const std::vector<T>& source, const BufferRegion& region,
    bool blocking, Where where = Where::here()) {
    call(
        where, "EnqueueWriteSubBuffer", queue, buffer_of(buffer), bytes_of(source), region,
        blocking);
}
template <typename B, typename T>
void EnqueueReadSubBuffer(
    CommandQueue& queue, const B& buffer, T&& target, const BufferRegion& region, bool blocking,
    Where where = Where::here()) {
    deliver(
        call(where, "EnqueueReadSubBuffer", queue, buffer_of(buffer), region, blocking), target);
}
inline void EnqueueProgram(
    CommandQueue& queue, Program& program, bool blocking, Where where = Where::here()) {
    program.flush_arguments(where);
    call(where, "EnqueueProgram", queue, program, blocking);
}
inline void Finish(CommandQueue& queue, Where where = Where::here()) { queue.finish(where); }

class Event : public Remote {
public:
    explicit Event(Where where = Where::here()) : Event(call(where, "Event")) {}
    explicit Event(const Value& value) : Remote(value) {}
};
inline void EnqueueRecordEvent(
    CommandQueue& queue, const std::shared_ptr<Event>& event, Where where = Where::here()) {
    call(where, "EnqueueRecordEvent", queue, *event);
}
inline void EnqueueWaitForEvent(
    CommandQueue& queue, const std::shared_ptr<Event>& event, Where where = Where::here()) {
    call(where, "EnqueueWaitForEvent", queue, *event);
}
inline void EventSynchronize(const std::shared_ptr<Event>& event, Where where = Where::here()) {
    call(where, "EventSynchronize", *event);
}
inline bool EventQuery(const std::shared_ptr<Event>& event, Where where = Where::here()) {
    return call(where, "EventQuery", *event).number;
}

// --- Without queues ------------------------------------------------------------------------------

namespace detail {

/// Programs are compiled when they run.
inline void CompileProgram(IDevice*, Program&, bool /*force_slow_dispatch*/ = false) {}
inline void LaunchProgram(
    IDevice* device, Program& program, bool /*wait_until_cores_done*/ = true,
    Where where = Where::here()) {
    program.flush_arguments(where);
    call(where, "detail.LaunchProgram", *device, program);
}
/// ttmlir-host prints the cycles itself, with --perf.
inline void DumpDeviceProfileResults(IDevice*, Program&) {}
inline void DumpDeviceProfileResults(IDevice*) {}
template <typename B, typename T>
void WriteToBuffer(const B& buffer, const std::vector<T>& source, Where where = Where::here()) {
    call(where, "detail.WriteToBuffer", buffer_of(buffer), bytes_of(source));
}
template <typename B, typename T>
void ReadFromBuffer(const B& buffer, std::vector<T>& target, Where where = Where::here()) {
    deliver(call(where, "detail.ReadFromBuffer", buffer_of(buffer)), target);
}
inline bool WriteToDeviceL1(
    IDevice* device, const CoreCoord& core, uint32_t address, const std::vector<uint32_t>& source,
    Where where = Where::here()) {
    return call(where, "detail.WriteToDeviceL1", *device, core, address, bytes_of(source)).number;
}
inline bool ReadFromDeviceL1(
    IDevice* device, const CoreCoord& core, uint32_t address, uint32_t size,
    std::vector<uint32_t>& target, Where where = Where::here()) {
    deliver(call(where, "detail.ReadFromDeviceL1", *device, core, address, size), target);
    return true;
}
inline bool WriteToDeviceDRAMChannel(
    IDevice* device, int channel, uint32_t address, const std::vector<uint32_t>& source,
    Where where = Where::here()) {
    return call(
               where, "detail.WriteToDeviceDRAMChannel", *device, channel, address,
               bytes_of(source))
        .number;
}
inline bool ReadFromDeviceDRAMChannel(
    IDevice* device, int channel, uint32_t address, uint32_t size, std::vector<uint32_t>& target,
    Where where = Where::here()) {
    deliver(
        call(where, "detail.ReadFromDeviceDRAMChannel", *device, channel, address, size), target);
    return true;
}
inline uint32_t TileSize(DataFormat format, Where where = Where::here()) {
    return tt::tile_size(format, where);
}

}  // namespace detail

// --- Cores and work ------------------------------------------------------------------------------

using Split = std::tuple<uint32_t, CoreRangeSet, CoreRangeSet, CoreRangeSet, uint32_t, uint32_t>;
inline Split split_from(const Value& value) {
    const auto& parts = value.items;
    return {parts.at(0).number,        CoreRangeSet(parts.at(1)), CoreRangeSet(parts.at(2)),
            CoreRangeSet(parts.at(3)), parts.at(4).number,        parts.at(5).number};
}
inline Split split_work_to_cores(
    const CoreCoord& grid, uint32_t units, bool row_wise = false, Where where = Where::here()) {
    return split_from(call(where, "split_work_to_cores", grid, units, row_wise));
}
inline Split split_work_to_cores(
    const CoreRangeSet& cores, uint32_t units, bool row_wise = false, Where where = Where::here()) {
    return split_from(call(where, "split_work_to_cores", cores, units, row_wise));
}
inline CoreRangeSet num_cores_to_corerangeset(
    uint32_t count, const CoreCoord& grid, bool row_wise = false, Where where = Where::here()) {
    return CoreRangeSet(call(where, "num_cores_to_corerangeset", count, grid, row_wise));
}
inline CoreRangeSet num_cores_to_corerange_set(
    uint32_t count, const CoreCoord& grid, bool row_wise = false, Where where = Where::here()) {
    return num_cores_to_corerangeset(count, grid, row_wise, where);
}
inline CoreRangeSet num_cores_to_corerangeset_in_subcoregrids(
    const CoreCoord& start, uint32_t count, const CoreRangeSet& cores, bool row_wise = false,
    Where where = Where::here()) {
    return CoreRangeSet(call(
        where, "num_cores_to_corerangeset_in_subcoregrids", start, count, cores, row_wise));
}
inline CoreRangeSet select_from_corerangeset(
    const CoreRangeSet& cores, uint32_t first, uint32_t last, bool row_wise = false,
    Where where = Where::here()) {
    return CoreRangeSet(call(where, "select_from_corerangeset", cores, first, last, row_wise));
}
inline std::vector<CoreCoord> cores_from(const Value& value) {
    std::vector<CoreCoord> made;
    for (const Value& each : value.items) {
        made.emplace_back(each);
    }
    return made;
}
inline std::vector<CoreCoord> corerange_to_cores(
    const CoreRangeSet& cores, std::optional<uint32_t> max_cores = std::nullopt,
    bool row_wise = false, Where where = Where::here()) {
    return cores_from(call(where, "corerange_to_cores", cores, max_cores, row_wise));
}
inline std::vector<CoreCoord> grid_to_cores(
    uint32_t count, uint32_t columns, uint32_t rows, bool row_wise = false,
    Where where = Where::here()) {
    return cores_from(call(where, "grid_to_cores", count, columns, rows, row_wise));
}
inline std::vector<CoreCoord> grid_to_cores(
    const CoreCoord& start, const CoreCoord& end, bool row_wise = false,
    Where where = Where::here()) {
    return cores_from(call(where, "grid_to_cores", start, end, row_wise));
}

}  // namespace tt::tt_metal

// --- Meshes --------------------------------------------------------------------------------------

namespace tt::tt_metal::distributed {

struct BufferShardingArgs {
    std::optional<ShardSpecBuffer> shard_spec;
    TensorMemoryLayout layout = TensorMemoryLayout::INTERLEAVED;
    BufferShardingArgs() = default;
    BufferShardingArgs(std::optional<ShardSpecBuffer> spec, TensorMemoryLayout buffer_layout) :
        shard_spec(std::move(spec)), layout(buffer_layout) {}
    void encode(Message& message) const {
        message.record("distributed.BufferShardingArgs", 2);
        message.field("", shard_spec);
        message.field("", layout);
    }
};
struct DeviceLocalBufferConfig {
    DeviceAddr page_size = 0;
    BufferType buffer_type = BufferType::DRAM;
    BufferShardingArgs sharding_args;
    std::optional<bool> bottom_up;
    void encode(Message& message) const {
        message.record("distributed.DeviceLocalBufferConfig", 4);
        message.field("page_size", page_size);
        message.field("buffer_type", buffer_type);
        message.field("sharding_args", sharding_args);
        message.field("bottom_up", bottom_up);
    }
};
struct ReplicatedBufferConfig {
    DeviceAddr size = 0;
    void encode(Message& message) const {
        message.record("distributed.ReplicatedBufferConfig", 1);
        message.field("size", size);
    }
};
struct ShardedBufferConfig {
    DeviceAddr global_size = 0;
    Shape2D global_buffer_shape{0, 0};
    Shape2D shard_shape{0, 0};
    ShardOrientation shard_orientation = ShardOrientation::ROW_MAJOR;
    void encode(Message& message) const {
        message.record("distributed.ShardedBufferConfig", 4);
        message.field("global_size", global_size);
        message.field("global_buffer_shape", global_buffer_shape);
        message.field("shard_shape", shard_shape);
        message.field("shard_orientation", shard_orientation);
    }
};

class MeshDevice;
using MeshBufferConfig = std::variant<ReplicatedBufferConfig, ShardedBufferConfig>;

class MeshBuffer : public Buffer {
public:
    using Buffer::Buffer;
    static std::shared_ptr<MeshBuffer> create(
        const MeshBufferConfig& config, const DeviceLocalBufferConfig& local, MeshDevice* device,
        std::optional<DeviceAddr> address = std::nullopt, Where where = Where::here());
    std::shared_ptr<Buffer> get_backing_buffer(Where where = Where::here()) const {
        return part(ask(where, "distributed.MeshBuffer.get_backing_buffer"));
    }
    std::shared_ptr<Buffer> get_reference_buffer(Where where = Where::here()) const {
        return part(ask(where, "distributed.MeshBuffer.get_reference_buffer"));
    }
    std::shared_ptr<Buffer> get_device_buffer(
        const MeshCoordinate& place, Where where = Where::here()) const {
        return part(ask(where, "distributed.MeshBuffer.get_device_buffer", place));
    }
    DeviceAddr device_local_size(Where where = Where::here()) const {
        return ask(where, "distributed.MeshBuffer.device_local_size").number;
    }
    void deallocate(Where where = Where::here()) {
        ask(where, "distributed.MeshBuffer.deallocate");
    }

private:
    std::shared_ptr<Buffer> part(const Value& value) const {
        return std::make_shared<Buffer>(value, device());
    }
};

class MeshEvent : public Event {
public:
    using Event::Event;
};

class MeshWorkload : public Remote {
public:
    explicit MeshWorkload(Where where = Where::here()) :
        Remote(call(where, "distributed.MeshWorkload")) {}
    void add_program(
        const MeshCoordinateRange& range, Program&& program, Where where = Where::here()) {
        ask(where, "distributed.MeshWorkload.add_program", range, program);
        programs_.insert_or_assign(range, std::move(program));
    }
    std::map<MeshCoordinateRange, Program>& get_programs() { return programs_; }
    void flush_arguments(Where where) const {
        for (const auto& [range, program] : programs_) {
            program.flush_arguments(where);
        }
    }

private:
    std::map<MeshCoordinateRange, Program> programs_;
};
inline MeshWorkload CreateMeshWorkload(Where where = Where::here()) { return MeshWorkload(where); }
inline void AddProgramToMeshWorkload(
    MeshWorkload& workload, Program&& program, const MeshCoordinateRange& range,
    Where where = Where::here()) {
    workload.add_program(range, std::move(program), where);
}

/// What is written to a device of a mesh, or read from it.
struct ShardDataTransfer {
    MeshCoordinate shard_coord;
    void* host_data = nullptr;
    std::optional<BufferRegion> region;
};

class MeshCommandQueue : public CommandQueue {
public:
    using CommandQueue::CommandQueue;
    void enqueue_mesh_workload(
        MeshWorkload& workload, bool blocking, Where where = Where::here()) {
        workload.flush_arguments(where);
        call(where, "distributed.EnqueueMeshWorkload", *this, workload, blocking);
    }
    void enqueue_write_mesh_buffer(
        const std::shared_ptr<MeshBuffer>& buffer, const void* source, bool blocking,
        Where where = Where::here()) {
        const ttmlir_host::Bytes bytes{source, buffer->size(where)};
        call(where, "distributed.EnqueueWriteMeshBuffer", *this, *buffer, bytes, blocking);
    }
    void enqueue_read_mesh_buffer(
        void* target, const std::shared_ptr<MeshBuffer>& buffer, bool blocking,
        Where where = Where::here()) {
        deliver(
            call(where, "distributed.EnqueueReadMeshBuffer", *this, *buffer, blocking), target);
    }
    void enqueue_write_shards(
        const std::shared_ptr<MeshBuffer>& buffer, const std::vector<ShardDataTransfer>& transfers,
        bool blocking, Where where = Where::here()) {
        for (const auto& each : transfers) {
            const uint64_t size =
                each.region ? each.region->size : buffer->device_local_size(where);
            const ttmlir_host::Bytes bytes{each.host_data, size};
            ask(where, "distributed.MeshCommandQueue.enqueue_write_shards", *buffer,
                each.shard_coord, bytes, each.region, blocking);
        }
    }
    void enqueue_read_shards(
        const std::vector<ShardDataTransfer>& transfers, const std::shared_ptr<MeshBuffer>& buffer,
        bool blocking, Where where = Where::here()) {
        for (const auto& each : transfers) {
            deliver(
                ask(where, "distributed.MeshCommandQueue.enqueue_read_shards", *buffer,
                    each.shard_coord, each.region, blocking),
                each.host_data);
        }
    }
    MeshEvent enqueue_record_event(Where where = Where::here()) {
        return MeshEvent(call(where, "EnqueueRecordEvent", *this));
    }
    MeshEvent enqueue_record_event_to_host(Where where = Where::here()) {
        return enqueue_record_event(where);
    }
    void enqueue_wait_for_event(const MeshEvent& event, Where where = Where::here()) {
        call(where, "EnqueueWaitForEvent", *this, event);
    }
};

class MeshDevice : public IDevice {
public:
    explicit MeshDevice(const Value& value) : IDevice(value) {}
    /// The other arguments of C++ are about memory and queues that there are not here.
    static std::shared_ptr<MeshDevice> create_unit_mesh(
        int device_id, size_t /*l1_small_size*/ = 0, size_t /*trace_region_size*/ = 0,
        size_t /*num_command_queues*/ = 1, Where where = Where::here()) {
        return std::make_shared<MeshDevice>(
            call(where, "distributed.MeshDevice.create_unit_mesh", device_id));
    }
    static std::shared_ptr<MeshDevice> create(
        const MeshDeviceConfig& config, size_t /*l1_small_size*/ = 0,
        size_t /*trace_region_size*/ = 0, size_t /*num_command_queues*/ = 1,
        Where where = Where::here()) {
        return std::make_shared<MeshDevice>(call(where, "distributed.MeshDevice.create", config));
    }
    MeshCommandQueue& mesh_command_queue(size_t number = 0, Where where = Where::here()) {
        mesh_queue_ = MeshCommandQueue(
            ask(where, "distributed.MeshDevice.mesh_command_queue", number));
        return mesh_queue_;
    }
    MeshShape shape(Where where = Where::here()) const {
        return MeshShape(ask(where, "distributed.MeshDevice.shape").numbers<uint32_t>());
    }
    size_t num_devices(Where where = Where::here()) const { return shape(where).mesh_size(); }
    size_t num_rows(Where where = Where::here()) const {
        return ask(where, "distributed.MeshDevice.num_rows").number;
    }
    size_t num_cols(Where where = Where::here()) const {
        return ask(where, "distributed.MeshDevice.num_cols").number;
    }
    std::vector<int> get_device_ids(Where where = Where::here()) const {
        return ask(where, "distributed.MeshDevice.get_device_ids").numbers<int>();
    }
    IDevice* get_device(const MeshCoordinate& place, Where where = Where::here()) {
        return keep(ask(where, "distributed.MeshDevice.get_device", place));
    }
    IDevice* get_device(size_t row, size_t column, Where where = Where::here()) {
        return keep(ask(where, "distributed.MeshDevice.get_device", row, column));
    }
    tt_fabric::FabricNodeId get_fabric_node_id(
        const MeshCoordinate& place, Where where = Where::here()) const {
        const auto made =
            ask(where, "distributed.MeshDevice.get_fabric_node_id", place).numbers<uint32_t>();
        return {tt_fabric::MeshId{made[0]}, made[1]};
    }
    std::vector<IDevice*> get_devices(Where where = Where::here()) {
        std::vector<IDevice*> made;
        for (const MeshCoordinate& place : MeshCoordinateRange(shape(where))) {
            made.push_back(get_device(place, where));
        }
        return made;
    }

private:
    IDevice* keep(const Value& value) {
        return (devices_[value.number] = std::make_unique<IDevice>(value)).get();
    }
    std::map<int64_t, std::unique_ptr<IDevice>> devices_;
    MeshCommandQueue mesh_queue_;
};

inline std::shared_ptr<MeshBuffer> MeshBuffer::create(
    const MeshBufferConfig& config, const DeviceLocalBufferConfig& local, MeshDevice* device,
    std::optional<DeviceAddr> address, Where where) {
    return std::make_shared<MeshBuffer>(
        call(where, "distributed.MeshBuffer.create", config, local, *device, address), device);
}

template <typename T>
void EnqueueWriteMeshBuffer(
    MeshCommandQueue& queue, const std::shared_ptr<MeshBuffer>& buffer,
    const std::vector<T>& source, bool blocking = false, Where where = Where::here()) {
    call(where, "distributed.EnqueueWriteMeshBuffer", queue, *buffer, bytes_of(source), blocking);
}
template <typename T>
void EnqueueReadMeshBuffer(
    MeshCommandQueue& queue, std::vector<T>& target, const std::shared_ptr<MeshBuffer>& buffer,
    bool blocking = true, Where where = Where::here()) {
    deliver(call(where, "distributed.EnqueueReadMeshBuffer", queue, *buffer, blocking), target);
}
template <typename T>
void WriteShard(
    MeshCommandQueue& queue, const std::shared_ptr<MeshBuffer>& buffer,
    const std::vector<T>& source, const MeshCoordinate& place, bool blocking = false,
    Where where = Where::here()) {
    call(
        where, "distributed.WriteShard", queue, *buffer, bytes_of(source), place, blocking);
}
template <typename T>
void ReadShard(
    MeshCommandQueue& queue, std::vector<T>& target, const std::shared_ptr<MeshBuffer>& buffer,
    const MeshCoordinate& place, bool blocking = true, Where where = Where::here()) {
    deliver(call(where, "distributed.ReadShard", queue, *buffer, place, blocking), target);
}
inline void EnqueueMeshWorkload(
    MeshCommandQueue& queue, MeshWorkload& workload, bool blocking, Where where = Where::here()) {
    queue.enqueue_mesh_workload(workload, blocking, where);
}
inline void Finish(MeshCommandQueue& queue, Where where = Where::here()) { queue.finish(where); }
inline void Synchronize(
    MeshDevice* device, std::optional<uint8_t> queue = std::nullopt, Where where = Where::here()) {
    call(where, "distributed.Synchronize", *device, queue);
}
inline MeshEvent EnqueueRecordEvent(MeshCommandQueue& queue, Where where = Where::here()) {
    return queue.enqueue_record_event(where);
}
inline MeshEvent EnqueueRecordEventToHost(MeshCommandQueue& queue, Where where = Where::here()) {
    return queue.enqueue_record_event(where);
}
inline void EnqueueWaitForEvent(
    MeshCommandQueue& queue, const MeshEvent& event, Where where = Where::here()) {
    queue.enqueue_wait_for_event(event, where);
}
inline void EventSynchronize(const MeshEvent& event, Where where = Where::here()) {
    call(where, "EventSynchronize", event);
}
inline bool EventQuery(const MeshEvent& event, Where where = Where::here()) {
    return call(where, "EventQuery", event).number;
}

}  // namespace tt::tt_metal::distributed

namespace tt::tt_metal {
/// ttmlir-host prints the cycles itself, with --perf.
inline void ReadMeshDeviceProfilerResults(distributed::MeshDevice&) {}
}  // namespace tt::tt_metal

// --- Names of 2024 in other namespaces -----------------------------------------------------------

namespace tt {
using tt_metal::corerange_to_cores;
using tt_metal::grid_to_cores;
using tt_metal::num_cores_to_corerange_set;
using tt_metal::num_cores_to_corerangeset;
using tt_metal::split_work_to_cores;
}  // namespace tt

// --- Data ----------------------------------------------------------------------------------------

namespace ttmlir_host {
template <typename T>
std::vector<T> reordered(
    Where where, const char* name, const std::vector<T>& values, uint32_t rows, uint32_t columns) {
    const Bytes bytes{values.data(), values.size() * sizeof(T)};
    return call(where, name, bytes, sizeof(T), rows, columns).elements<T>();
}
/// Row-major numbers tile by tile, face by face.
template <typename T>
std::vector<T> tilize_nfaces(
    const std::vector<T>& values, uint32_t rows, uint32_t columns, Where where = Where::here()) {
    return reordered(where, "tilize_nfaces", values, rows, columns);
}
template <typename T>
std::vector<T> untilize_nfaces(
    const std::vector<T>& values, uint32_t rows, uint32_t columns, Where where = Where::here()) {
    return reordered(where, "untilize_nfaces", values, rows, columns);
}
/// In place, as in 2024.
template <typename T>
void tilize(
    std::vector<T>& values, uint32_t rows, uint32_t columns, Where where = Where::here()) {
    values = tilize_nfaces(values, rows, columns, where);
}
template <typename T>
void untilize(
    std::vector<T>& values, uint32_t rows, uint32_t columns, Where where = Where::here()) {
    values = untilize_nfaces(values, rows, columns, where);
}

inline uint32_t pack_two_bfloat16_into_uint32(std::pair<bfloat16, bfloat16> two) {
    return two.first.to_packed() | static_cast<uint32_t>(two.second.to_packed()) << 16;
}
inline std::pair<bfloat16, bfloat16> unpack_two_bfloat16_from_uint32(uint32_t word) {
    return {bfloat16(static_cast<uint16_t>(word)), bfloat16(static_cast<uint16_t>(word >> 16))};
}
inline std::vector<uint32_t> pack_bfloat16_vec_into_uint32_vec(
    const std::vector<bfloat16>& values) {
    std::vector<uint32_t> words(values.size() / 2);
    std::memcpy(words.data(), values.data(), words.size() * 4);
    return words;
}
inline std::vector<bfloat16> unpack_uint32_vec_into_bfloat16_vec(
    const std::vector<uint32_t>& words,
    const std::function<bfloat16(const bfloat16&)>& change = nullptr) {
    std::vector<bfloat16> values(words.size() * 2);
    std::memcpy(static_cast<void*>(values.data()), words.data(), words.size() * 4);
    if (change) {
        std::transform(values.begin(), values.end(), values.begin(), change);
    }
    return values;
}
inline std::vector<bfloat16> create_random_vector_of_bfloat16_native(
    size_t num_bytes, float rand_max_float, int seed, float offset = 0,
    Where where = Where::here()) {
    return call(
               where, "create_random_vector_of_bfloat16", num_bytes, rand_max_float, seed, offset)
        .elements<bfloat16>();
}
inline std::vector<uint32_t> create_random_vector_of_bfloat16(
    size_t num_bytes, float rand_max_float, int seed, float offset = 0,
    Where where = Where::here()) {
    return pack_bfloat16_vec_into_uint32_vec(
        create_random_vector_of_bfloat16_native(num_bytes, rand_max_float, seed, offset, where));
}
inline std::vector<uint32_t> create_constant_vector_of_bfloat16(
    size_t num_bytes, float value, Where where = Where::here()) {
    return call(where, "create_constant_vector_of_bfloat16", num_bytes, value)
        .elements<uint32_t>();
}
/// A template, so that a function of the program with this name is preferred.
template <typename = void>
float check_bfloat16_vector_pcc(
    const std::vector<bfloat16>& a, const std::vector<bfloat16>& b, Where where = Where::here()) {
    return call(
               where, "check_bfloat16_vector_pcc", tt::tt_metal::bytes_of(a),
               tt::tt_metal::bytes_of(b))
        .real;
}
template <typename T>
bool is_close(T a, T b, float rtol = 0.01f, float atol = 0.001f) {
    const float difference = std::fabs(float(a) - float(b));
    return difference <= atol ||
           difference <= rtol * std::max(std::fabs(float(a)), std::fabs(float(b)));
}
/// Whether two vectors of words agree, by a comparison of their numbers of bfloat16.
inline bool packed_uint32_t_vector_comparison(
    const std::vector<uint32_t>& a, const std::vector<uint32_t>& b,
    const std::function<bool(float, float)>& compare) {
    const auto x = unpack_uint32_vec_into_bfloat16_vec(a);
    const auto y = unpack_uint32_vec_into_bfloat16_vec(b);
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), compare);
}

}  // namespace ttmlir_host

using ttmlir_host::check_bfloat16_vector_pcc;
using ttmlir_host::create_constant_vector_of_bfloat16;
using ttmlir_host::create_random_vector_of_bfloat16;
using ttmlir_host::create_random_vector_of_bfloat16_native;
using ttmlir_host::is_close;
using ttmlir_host::pack_bfloat16_vec_into_uint32_vec;
using ttmlir_host::pack_two_bfloat16_into_uint32;
using ttmlir_host::packed_uint32_t_vector_comparison;
using ttmlir_host::tilize;
using ttmlir_host::tilize_nfaces;
using ttmlir_host::unpack_two_bfloat16_from_uint32;
using ttmlir_host::unpack_uint32_vec_into_bfloat16_vec;
using ttmlir_host::untilize;
using ttmlir_host::untilize_nfaces;
