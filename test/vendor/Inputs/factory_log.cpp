// What factories of ttnn 0.81 give to tt-metal, as lines of JSON in the file of FACTORY_LOG.
//
//     g++ -std=c++20 -shared -fPIC factory_log.cpp -o factory_log.so -ldl
//
// The library is one for LD_PRELOAD; TT_METAL_LIBRARY is the path of libtt_metal.so. Types have the
// layout of tt-metal's, of which only what is read here is declared. Words of connections to the
// fabric become numbers of their own, by which they are found again.

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#define CREATE_KERNEL \
    "_ZN2tt8tt_metal12CreateKernelERNS0_7ProgramERKNSt7__cxx1112basic_stringIcSt11char_trai" \
    "tsIcESaIcEEERKSt7variantIJNS_7xy_pairENS0_9CoreRangeENS0_12CoreRangeSetEEERKSB_IJNS0_1" \
    "8DataMovementConfigENS0_13ComputeConfigEEE"
#define SET_ARGS \
    "_ZN2tt8tt_metal14SetRuntimeArgsERKNS0_7ProgramEjRKSt7variantIJNS_7xy_pairENS0_9CoreRan" \
    "geENS0_12CoreRangeSetEEESt4spanIKjLm18446744073709551615EE"
#define SET_ARGS_OF_CORES \
    "_ZN2tt8tt_metal14SetRuntimeArgsERKNS0_7ProgramEjRKSt6vectorINS_7xy_pairESaIS5_EERKS4_I" \
    "S4_IjSaIjEESaISB_EE"
#define SET_COMMON_ARGS \
    "_ZN2tt8tt_metal20SetCommonRuntimeArgsERKNS0_7ProgramEjSt4spanIKjLm18446744073709551615" \
    "EE"
#define CREATE_CB \
    "_ZN2tt8tt_metal20CreateCircularBufferERNS0_7ProgramERKSt7variantIJNS_7xy_pairENS0_9Cor" \
    "eRangeENS0_12CoreRangeSetEEERKNS0_20CircularBufferConfigE"
#define CB_OF_DESCRIPTOR \
    "_ZN2tt8tt_metal20CircularBufferConfigC1ERKNS0_12CBDescriptorE"
#define PROGRAM_OF_DESCRIPTOR \
    "_ZN2tt8tt_metal7ProgramC1ERKNS0_17ProgramDescriptorE"
#define ADD_SEMAPHORE \
    "_ZN2tt8tt_metal6detail11ProgramImpl13add_semaphoreERKNS0_12CoreRangeSetEjjNS_8CoreType" \
    "E"
#define ADD_PROGRAM \
    "_ZN2tt8tt_metal11distributed12MeshWorkload11add_programERKNS1_19MeshCoordinateRangeEON" \
    "S0_7ProgramE"
#define ENQUEUE \
    "_ZN2tt8tt_metal11distributed19EnqueueMeshWorkloadERNS1_16MeshCommandQueueERNS1_12MeshW" \
    "orkloadEb"
#define GLOBAL_SEMAPHORE \
    "_ZN2tt8tt_metal15GlobalSemaphoreC1ERNS0_11distributed10MeshDeviceENS0_12CoreRangeSetEj" \
    "NS0_10BufferTypeE"
#define CREATE_BUFFER \
    "_ZN2tt8tt_metal11distributed10MeshBuffer6createERKSt7variantIJNS1_22ReplicatedBufferCo" \
    "nfigENS1_19ShardedBufferConfigEEERKNS1_23DeviceLocalBufferConfigEPNS1_10MeshDeviceESt8" \
    "optionalImE"
#define CONNECT_PROGRAM \
    "_ZN2tt9tt_fabric32append_fabric_connection_rt_argsINS_8tt_metal7ProgramEEEvRKNS0_12Fab" \
    "ricNodeIdES6_jRT_RKNS_7xy_pairERSt6vectorIjSaIjEENS_8CoreTypeE"
#define CONNECT_DESCRIPTOR \
    "_ZN2tt9tt_fabric32append_fabric_connection_rt_argsINS_8tt_metal17ProgramDescriptorEEEv" \
    "RKNS0_12FabricNodeIdES6_jRT_RKNS_7xy_pairERSt6vectorIjSaIjEENS_8CoreTypeE"
#define CONNECT_PROGRAM_WITHIN \
    "_ZN2tt9tt_fabric32append_fabric_connection_rt_argsINS_8tt_metal7ProgramEEEvRKNS0_13Fab" \
    "ricContextERKNS0_12FabricNodeIdES9_jRT_RKNS_7xy_pairERSt6vectorIjSaIjEENS_8CoreTypeE"
#define CONNECT_DESCRIPTOR_WITHIN \
    "_ZN2tt9tt_fabric32append_fabric_connection_rt_argsINS_8tt_metal17ProgramDescriptorEEEv" \
    "RKNS0_13FabricContextERKNS0_12FabricNodeIdES9_jRT_RKNS_7xy_pairERSt6vectorIjSaIjEENS_8" \
    "CoreTypeE"
#define CONFIG \
    "_ZNK2tt8tt_metal20CircularBufferConfig"

template <class F>
F next(const char* name) {
    static void* library = dlopen(getenv("TT_METAL_LIBRARY"), RTLD_NOLOAD | RTLD_LAZY);
    void* found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "libtt_metal.so has no %s\n", name);
        abort();
    }
    return reinterpret_cast<F>(found);
}

namespace tt {
struct xy_pair { size_t x, y; };
enum class DataFormat : uint8_t {};
namespace tt_metal {
struct CoreRange { xy_pair start, end; };
struct CoreRangeSet { std::vector<CoreRange> ranges; };
struct Program { void* implementation; void* count; };
enum class UnpackToDestMode : uint8_t {};
struct CircularBufferConfig;

struct DataMovementConfig {
    int processor;
    uint8_t noc, mode;
    std::vector<uint32_t> args;
    std::map<std::string, std::string> defines;
    std::unordered_map<std::string, uint32_t> named;
    uint8_t level;
    std::vector<std::filesystem::path> folders;
};
struct ComputeConfig {
    uint8_t fidelity;
    bool wide, full;
    std::vector<UnpackToDestMode> unpack_modes;
    bool precise, approximate, vectors;
    std::vector<uint32_t> args;
    std::map<std::string, std::string> defines;
    std::unordered_map<std::string, uint32_t> named;
    uint8_t level;
    std::vector<std::filesystem::path> folders;
};
}  // namespace tt_metal
}  // namespace tt

using namespace tt;
using namespace tt::tt_metal;
using Cores = std::variant<xy_pair, CoreRange, CoreRangeSet>;
using Words = std::vector<uint32_t>;
struct Node { uint32_t mesh, chip; };

// --- Lines of JSON

static std::string show(std::span<const uint32_t> words) {
    std::string found = "[";
    for (uint32_t each : words) {
        found += (found.size() > 1 ? "," : "") + std::to_string(each);
    }
    return found + "]";
}
static std::string show(const CoreRangeSet& cores) {
    std::string found = "[";
    for (const auto& each : cores.ranges) {
        const Words corners{
            uint32_t(each.start.x), uint32_t(each.start.y), uint32_t(each.end.x),
            uint32_t(each.end.y)};
        found += (found.size() > 1 ? "," : "") + show(corners);
    }
    return found + "]";
}
static std::string show(const Cores& cores) {
    if (auto* place = std::get_if<xy_pair>(&cores)) {
        return show(CoreRangeSet{{{*place, *place}}});
    }
    if (auto* range = std::get_if<CoreRange>(&cores)) {
        return show(CoreRangeSet{{*range}});
    }
    return show(std::get<CoreRangeSet>(cores));
}
static std::string show(const std::string& text) {
    std::string found = "\"";
    for (char each : text) {
        found += each == '\n' ? "\\n" : each == '"' || each == '\\' ? std::string{'\\', each}
                                                                    : std::string{each};
    }
    return found + "\"";
}
static std::string show(uint64_t number) { return std::to_string(number); }

template <class Map>
static std::string show_map(const Map& map) {
    std::string found = "{";
    for (const auto& [key, value] : map) {
        found += (found.size() > 1 ? "," : "") + show(key) + ":" + show(value);
    }
    return found + "}";
}

using Fields = std::vector<std::pair<const char*, std::string>>;
static void write(const char* what, const Fields& fields) {
    static std::recursive_mutex guard;
    static FILE* file = fopen(getenv("FACTORY_LOG"), "a");
    std::lock_guard lock(guard);
    fprintf(file, "{\"do\":\"%s\"", what);
    for (const auto& [name, text] : fields) {
        fprintf(file, ",\"%s\":%s", name, text.c_str());
    }
    fprintf(file, "}\n");
    fflush(file);
}
static std::string key_of(const void* pointer) { return show(uint64_t(size_t(pointer))); }

// --- Kernels and their arguments

namespace tt::tt_metal {
using Config = std::variant<DataMovementConfig, ComputeConfig>;
uint32_t CreateKernel(Program& p, const std::string& file, const Cores& cores, const Config& c) {
    static auto real = next<decltype(&CreateKernel)>(CREATE_KERNEL);
    const uint32_t handle = real(p, file, cores, c);
    Fields fields{
        {"program", key_of(p.implementation)},
        {"handle", show(handle)},
        {"file", show(file)},
        {"cores", show(cores)}};
    if (auto* mover = std::get_if<DataMovementConfig>(&c)) {
        fields.push_back({"processor", show(mover->processor)});
        fields.push_back({"noc", show(mover->noc)});
    } else {
        const auto& computes = std::get<ComputeConfig>(c);
        fields.push_back({"fidelity", show(computes.fidelity)});
        fields.push_back({"wide", show(computes.wide)});
        fields.push_back({"full", show(computes.full)});
        fields.push_back({"approx", show(computes.approximate)});
    }
    std::visit(
        [&](const auto& each) {
            fields.push_back({"args", show(each.args)});
            fields.push_back({"named", show_map(each.named)});
            fields.push_back({"defines", show_map(each.defines)});
        },
        c);
    write("kernel", fields);
    return handle;
}

using Span = std::span<const uint32_t>;
using List = std::initializer_list<uint32_t>;
static void log_args(const Program& p, uint32_t kernel, const Cores& cores, Span args) {
    write(
        "runtime",
        {{"program", key_of(p.implementation)},
         {"handle", show(kernel)},
         {"cores", show(cores)},
         {"args", show(args)}});
}
void SetRuntimeArgs(const Program& p, uint32_t kernel, const Cores& cores, Span args) {
    using Call = void (*)(const Program&, uint32_t, const Cores&, Span);
    static auto real = next<Call>(SET_ARGS);
    log_args(p, kernel, cores, args);
    real(p, kernel, cores, args);
}
void SetRuntimeArgs(const Program& p, uint32_t kernel, const Cores& cores, List args) {
    SetRuntimeArgs(p, kernel, cores, Span(args.begin(), args.size()));
}
void SetRuntimeArgs(
    const Program& p, uint32_t kernel, const std::vector<xy_pair>& cores,
    const std::vector<Words>& args) {
    using Call = void (*)(
        const Program&, uint32_t, const std::vector<xy_pair>&, const std::vector<Words>&);
    static auto real = next<Call>(SET_ARGS_OF_CORES);
    for (size_t i = 0; i < cores.size(); i++) {
        log_args(p, kernel, cores[i], args[i]);
    }
    real(p, kernel, cores, args);
}
void SetCommonRuntimeArgs(const Program& p, uint32_t kernel, Span args) {
    static auto real = next<void (*)(const Program&, uint32_t, Span)>(SET_COMMON_ARGS);
    write(
        "common",
        {{"program", key_of(p.implementation)}, {"handle", show(kernel)}, {"args", show(args)}});
    real(p, kernel, args);
}
void SetCommonRuntimeArgs(const Program& p, uint32_t kernel, List args) {
    SetCommonRuntimeArgs(p, kernel, Span(args.begin(), args.size()));
}

// --- Circular buffers

using Indices = std::unordered_set<uint8_t>;
template <class T>
static T ask(const CircularBufferConfig& config, const char* name) {
    return next<T (*)(const CircularBufferConfig*)>(name)(&config);
}
static Fields describe(const std::string& program, const std::string& cores,
                       const CircularBufferConfig& config) {
    const auto& formats = ask<const std::array<std::optional<DataFormat>, 64>&>(
        config, CONFIG "12data_formatsEv");
    const auto& pages = ask<const std::array<std::optional<uint32_t>, 64>&>(
        config, CONFIG "10page_sizesEv");
    const auto place =
        ask<std::optional<uint32_t>>(config, CONFIG "26globally_allocated_addressEv");
    Fields found{
        {"program", program},
        {"cores", cores},
        {"size", show(ask<uint32_t>(config, CONFIG "10total_sizeEv"))},
        {"address", place ? show(*place) : "null"}};
    std::map<std::string, Words> local;
    for (uint8_t each : ask<const Indices&>(config, CONFIG "20local_buffer_indicesEv")) {
        local[std::to_string(each)] = {
            uint32_t(formats[each].value_or(DataFormat{})), pages[each].value_or(0)};
    }
    found.push_back({"local", show_map(local)});
    return found;
}
size_t CreateCircularBuffer(Program& p, const Cores& cores, const CircularBufferConfig& config) {
    static auto real = next<decltype(&CreateCircularBuffer)>(CREATE_CB);
    write("cb", describe(key_of(p.implementation), show(cores), config));
    return real(p, cores, config);
}
}  // namespace tt::tt_metal

// --- What is declared by the name of its symbol

#define SYMBOL(declaration, name) declaration __asm__(name)
using Buffers = std::shared_ptr<void>;
extern "C" {
SYMBOL(void make_program(Program*, void*), PROGRAM_OF_DESCRIPTOR);
SYMBOL(void make_cb(CircularBufferConfig*, const char*), CB_OF_DESCRIPTOR);
SYMBOL(void add_semaphore(void*, const CoreRangeSet*, uint32_t, uint32_t, int), ADD_SEMAPHORE);
SYMBOL(void add_program(void**, const char*, Program*), ADD_PROGRAM);
SYMBOL(void enqueue(void*, void**, bool), ENQUEUE);
SYMBOL(void make_global(void*, void*, CoreRangeSet*, uint32_t, int), GLOBAL_SEMAPHORE);
}
#define ENDS const Node *here, const Node *there, uint32_t link, void *program, \
    const xy_pair *core, Words *to, int type
#define GIVEN here, there, link, program, core, to, type
extern "C" {
SYMBOL(void connect_program(ENDS), CONNECT_PROGRAM);
SYMBOL(void connect_descriptor(ENDS), CONNECT_DESCRIPTOR);
SYMBOL(void connect_program_within(void* context, ENDS), CONNECT_PROGRAM_WITHIN);
SYMBOL(void connect_descriptor_within(void* context, ENDS), CONNECT_DESCRIPTOR_WITHIN);
}
SYMBOL(
    Buffers make_buffer(const uint64_t*, const uint64_t*, void*, std::optional<uint64_t>),
    CREATE_BUFFER);

static bool is_descriptor = false;
static std::vector<std::pair<std::string, Fields>> pending;
void make_program(Program* self, void* descriptor) {
    static auto real = next<decltype(&make_program)>(PROGRAM_OF_DESCRIPTOR);
    is_descriptor = true;
    pending.clear();
    real(self, descriptor);
    is_descriptor = false;
    for (auto& [name, fields] : pending) {
        fields[0].second = key_of(self->implementation);
        write(name.c_str(), fields);
    }
}
void make_cb(CircularBufferConfig* self, const char* descriptor) {
    static auto real = next<decltype(&make_cb)>(CB_OF_DESCRIPTOR);
    real(self, descriptor);
    if (is_descriptor) {
        const auto& cores = *reinterpret_cast<const CoreRangeSet*>(descriptor + 8);
        pending.emplace_back("cb", describe("0", show(cores), *self));
    }
}
void add_semaphore(void* self, const CoreRangeSet* cores, uint32_t id, uint32_t value, int type) {
    static auto real = next<decltype(&add_semaphore)>(ADD_SEMAPHORE);
    write(
        "semaphore",
        {{"program", key_of(self)}, {"cores", show(*cores)}, {"value", show(value)},
         {"id", show(id)}});
    real(self, cores, id, value, type);
}
void add_program(void** self, const char* range, Program* program) {
    static auto real = next<decltype(&add_program)>(ADD_PROGRAM);
    Words words(32);
    memcpy(words.data(), range, 4 * words.size());
    write(
        "add",
        {{"workload", key_of(*self)}, {"program", key_of(program->implementation)},
         {"range", show(words)}});
    real(self, range, program);
}
void enqueue(void* queue, void** workload, bool blocking) {
    static auto real = next<decltype(&enqueue)>(ENQUEUE);
    write("enqueue", {{"workload", key_of(*workload)}});
    real(queue, workload, blocking);
}
void make_global(void* self, void* device, CoreRangeSet* cores, uint32_t value, int type) {
    static auto real = next<decltype(&make_global)>(GLOBAL_SEMAPHORE);
    static auto address = next<uint64_t (*)(void*)>("_ZNK2tt8tt_metal15GlobalSemaphore7addressEv");
    const std::string places = show(*cores);
    real(self, device, cores, value, type);
    write("global", {{"cores", places}, {"value", show(value)}, {"address", show(address(self))}});
}
Buffers make_buffer(
    const uint64_t* config, const uint64_t* local, void* device, std::optional<uint64_t> address) {
    static auto real = next<decltype(&make_buffer)>(CREATE_BUFFER);
    static auto reference = next<void* (*)(void*)>(
        "_ZNK2tt8tt_metal11distributed10MeshBuffer20get_reference_bufferEv");
    static auto place = next<uint32_t (*)(void*)>("_ZNK2tt8tt_metal6Buffer7addressEv");
    auto made = real(config, local, device, address);
    write(
        "buffer",
        {{"size", show(config[0])}, {"page", show(local[0])}, {"type", show(uint32_t(local[1]))},
         {"address", show(place(reference(made.get())))}});
    return made;
}

static uint32_t count = 0;
static int depth = 0;
template <class F>
static void connect(F real, ENDS) {
    const size_t before = to->size();
    depth++;
    real(GIVEN);
    depth--;
    if (depth) {
        return;
    }
    const Words words(to->begin() + before, to->end());
    for (size_t i = before; i < to->size(); i++) {
        (*to)[i] = 0xFAB00000 + count * 4 + (i - before);
    }
    write(
        "connect",
        {{"id", show(count++)}, {"from", show(here->chip)}, {"to", show(there->chip)},
         {"link", show(link)}, {"words", show(words)}});
}
using Ends = void (*)(ENDS);
using EndsWithin = void (*)(void*, ENDS);
static void connect_within(void* context, EndsWithin real, ENDS) {
    connect([&](auto... rest) { real(context, rest...); }, GIVEN);
}
static void connect_plainly(Ends real, ENDS) {
    connect([&](auto... rest) { real(rest...); }, GIVEN);
}
void connect_program(ENDS) { connect_plainly(next<Ends>(CONNECT_PROGRAM), GIVEN); }
void connect_descriptor(ENDS) { connect_plainly(next<Ends>(CONNECT_DESCRIPTOR), GIVEN); }
void connect_program_within(void* context, ENDS) {
    connect_within(context, next<EndsWithin>(CONNECT_PROGRAM_WITHIN), GIVEN);
}
void connect_descriptor_within(void* context, ENDS) {
    connect_within(context, next<EndsWithin>(CONNECT_DESCRIPTOR_WITHIN), GIVEN);
}
