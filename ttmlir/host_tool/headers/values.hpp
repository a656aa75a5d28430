// What a host program passes by value: numbers of bfloat16, cores, enumerations, configurations.
//
// Sources: tt-metal, tt_metal/api/tt-metalium/bfloat16.hpp, core_coord.hpp, kernel_types.hpp,
// buffer_types.hpp, tt_backend_api_types.hpp, mesh_coord.hpp, shape2d.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <compare>
#include <functional>
#include <set>
#include <tuple>

#include "format.hpp"

/// A number of 16 bits: those of a float that has zeros in its lower half.
class bfloat16 {
public:
    static constexpr size_t SIZEOF = 2;
    bfloat16() = default;
    /// The nearest number, the even one of two.
    constexpr bfloat16(float value) {
        const uint32_t bits = std::bit_cast<uint32_t>(value);
        const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
        bits_ = is_nan ? (bits >> 16) | 0x40 : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    }
    constexpr bfloat16(double value) : bfloat16(static_cast<float>(value)) {}
    /// A number with a sign by its value; one without is the bits, as always in tt-metal.
    template <typename T>
        requires std::is_integral_v<T>
    constexpr bfloat16(T value) {
        if constexpr (std::is_signed_v<T>) {
            *this = bfloat16(static_cast<float>(value));
        } else {
            bits_ = static_cast<uint16_t>(value);
        }
    }

    constexpr operator float() const {
        return std::bit_cast<float>(static_cast<uint32_t>(bits_) << 16);
    }
    constexpr float to_float() const { return *this; }
    constexpr uint16_t to_packed() const { return bits_; }
    constexpr uint16_t to_uint16() const { return bits_; }
    /// By the bits, as in tt-metal; with other types the numbers are compared.
    template <typename T>
        requires std::is_same_v<T, bfloat16>
    constexpr bool operator==(const T& other) const {
        return bits_ == other.bits_;
    }
    constexpr bfloat16& operator+=(float other) { return *this = float(*this) + other; }
    constexpr bfloat16& operator-=(float other) { return *this = float(*this) - other; }
    constexpr bfloat16& operator*=(float other) { return *this = float(*this) * other; }
    constexpr bfloat16& operator/=(float other) { return *this = float(*this) / other; }

private:
    uint16_t bits_ = 0;
};
static_assert(sizeof(bfloat16) == 2);
inline std::ostream& operator<<(std::ostream& out, bfloat16 value) { return out << float(value); }

/// A core, or the extent of a grid: column and row.
struct tt_xy_pair {
    constexpr tt_xy_pair() : x(0), y(0) {}
    constexpr tt_xy_pair(size_t column, size_t row) : x(column), y(row) {}
    explicit tt_xy_pair(const ttmlir_host::Value& value) :
        x(value.items.at(0).number), y(value.items.at(1).number) {}
    size_t x;
    size_t y;
    auto operator<=>(const tt_xy_pair&) const = default;
    std::string str() const {
        return "(x=" + std::to_string(x) + ",y=" + std::to_string(y) + ")";
    }
    void encode(ttmlir_host::Message& message) const {
        message.record("CoreCoord", 2);
        message.field("", x);
        message.field("", y);
    }
};
using CoreCoord = tt_xy_pair;
inline std::ostream& operator<<(std::ostream& out, const CoreCoord& core) {
    return out << core.str();
}
template <>
struct std::hash<CoreCoord> {
    size_t operator()(const CoreCoord& core) const { return core.x * 0x9e3779b97f4a7c15 ^ core.y; }
};

/// A rectangle of cores, both corners included.
class CoreRange {
public:
    using Where = ttmlir_host::Where;
    CoreCoord start_coord;
    CoreCoord end_coord;
    CoreRange(const CoreCoord& core) : CoreRange(core, core) {}
    CoreRange(const CoreCoord& start, const CoreCoord& end, Where where = Where::here()) :
        start_coord(start), end_coord(end) {
        if (end.x < start.x || end.y < start.y) {
            ttmlir_host::fail(
                where, "a range of cores goes from its first to its last corner", "{} is before {}",
                end.str(), start.str());
        }
    }
    explicit CoreRange(const ttmlir_host::Value& value) :
        CoreRange(CoreCoord(value.items.at(0)), CoreCoord(value.items.at(1))) {}
    CoreCoord grid_size() const {
        return {end_coord.x - start_coord.x + 1, end_coord.y - start_coord.y + 1};
    }
    size_t size() const { return grid_size().x * grid_size().y; }
    bool contains(const CoreCoord& core) const {
        return start_coord.x <= core.x && core.x <= end_coord.x && start_coord.y <= core.y &&
               core.y <= end_coord.y;
    }
    bool contains(const CoreRange& other) const {
        return contains(other.start_coord) && contains(other.end_coord);
    }
    bool intersects(const CoreRange& other) const { return intersection(other).has_value(); }
    std::optional<CoreRange> intersection(const CoreRange& other) const {
        const CoreCoord first{std::max(start_coord.x, other.start_coord.x),
                              std::max(start_coord.y, other.start_coord.y)};
        const CoreCoord last{std::min(end_coord.x, other.end_coord.x),
                             std::min(end_coord.y, other.end_coord.y)};
        if (first.x > last.x || first.y > last.y) {
            return std::nullopt;
        }
        return CoreRange(first, last);
    }
    auto operator<=>(const CoreRange&) const = default;
    std::string str() const { return "[" + start_coord.str() + " - " + end_coord.str() + "]"; }
    void encode(ttmlir_host::Message& message) const {
        message.record("CoreRange", 2);
        message.field("", start_coord);
        message.field("", end_coord);
    }

    /// The cores, row by row.
    class iterator {
    public:
        using value_type = CoreCoord;
        using difference_type = std::ptrdiff_t;
        using reference = const CoreCoord&;
        using pointer = const CoreCoord*;
        using iterator_category = std::forward_iterator_tag;
        iterator(const CoreRange& range, CoreCoord core) : range_(range), core_(core) {}
        reference operator*() const { return core_; }
        pointer operator->() const { return &core_; }
        iterator& operator++() {
            if (++core_.x > range_.end_coord.x) {
                core_ = {range_.start_coord.x, core_.y + 1};
            }
            return *this;
        }
        bool operator==(const iterator& other) const { return core_ == other.core_; }

    private:
        const CoreRange& range_;
        CoreCoord core_;
    };
    iterator begin() const { return {*this, start_coord}; }
    iterator end() const { return {*this, {start_coord.x, end_coord.y + 1}}; }
};
inline std::ostream& operator<<(std::ostream& out, const CoreRange& range) {
    return out << range.str();
}

/// Rectangles of cores that do not overlap.
class CoreRangeSet {
public:
    using Where = ttmlir_host::Where;
    CoreRangeSet() = default;
    CoreRangeSet(const CoreCoord& core) : ranges_{core} {}
    CoreRangeSet(const CoreRange& range) : ranges_{range} {}
    CoreRangeSet(std::initializer_list<CoreRange> ranges) : ranges_(ranges) {}
    template <typename Ranges>
        requires std::is_same_v<typename Ranges::value_type, CoreRange>
    CoreRangeSet(const Ranges& ranges) : ranges_(ranges.begin(), ranges.end()) {}
    explicit CoreRangeSet(const ttmlir_host::Value& value) {
        for (const auto& each : value.items) {
            ranges_.emplace_back(each);
        }
    }
    const std::vector<CoreRange>& ranges() const { return ranges_; }
    size_t size() const { return ranges_.size(); }
    bool empty() const { return ranges_.empty(); }
    uint32_t num_cores() const {
        uint32_t count = 0;
        for (const auto& each : ranges_) {
            count += each.size();
        }
        return count;
    }
    template <typename Cores>
    bool contains(const Cores& cores, Where where = Where::here()) const {
        return ttmlir_host::call(where, "CoreRangeSet.contains", *this, cores).number;
    }
    /// `contains` by its name of 2024.
    bool core_coord_in_core_ranges(const CoreCoord& core, Where where = Where::here()) const {
        return contains(core, where);
    }
    template <typename Cores>
    bool intersects(const Cores& cores, Where where = Where::here()) const {
        return ttmlir_host::call(where, "CoreRangeSet.intersects", *this, cores).number;
    }
    template <typename Ranges>
    CoreRangeSet merge(const Ranges& other, Where where = Where::here()) const {
        return changed(where, "CoreRangeSet.merge", CoreRangeSet(other));
    }
    CoreRangeSet merge_ranges(Where where = Where::here()) const {
        return changed(where, "CoreRangeSet.merge_ranges");
    }
    CoreRangeSet subtract(const CoreRangeSet& other, Where where = Where::here()) const {
        return changed(where, "CoreRangeSet.subtract", other);
    }
    CoreRangeSet intersection(const CoreRangeSet& other, Where where = Where::here()) const {
        return changed(where, "CoreRangeSet.intersection", other);
    }
    CoreRange bounding_box(Where where = Where::here()) const {
        return CoreRange(ttmlir_host::call(where, "CoreRangeSet.bounding_box", *this));
    }
    bool operator==(const CoreRangeSet&) const = default;
    std::string str() const { return fmt::format("{}", *this); }
    void encode(ttmlir_host::Message& message) const {
        message.record("CoreRangeSet", 1);
        message.field("", ranges_);
    }

private:
    template <typename... Arguments>
    CoreRangeSet changed(Where where, const char* name, const Arguments&... arguments) const {
        return CoreRangeSet(ttmlir_host::call(where, name, *this, arguments...));
    }
    std::vector<CoreRange> ranges_;
};
inline std::ostream& operator<<(std::ostream& out, const CoreRangeSet& set) {
    out << "{";
    for (const char* separator = ""; const auto& each : set.ranges()) {
        out << separator << each;
        separator = ", ";
    }
    return out << "}";
}

enum class MathFidelity : uint8_t { LoFi = 0, HiFi2 = 2, HiFi3 = 3, HiFi4 = 4, Invalid = 0xff };
inline const char* name_of(MathFidelity) { return "MathFidelity"; }

namespace tt {

namespace stl {
template <typename T>
using Span = std::span<T>;
}

enum class ARCH { GRAYSKULL = 1, WORMHOLE_B0 = 2, BLACKHOLE = 3, QUASAR = 4, Invalid = 0xff };

enum class DataFormat : uint8_t {
    Float32 = 0, Float16 = 1, Bfp8 = 2, Bfp4 = 3, Float16_b = 5, Bfp8_b = 6, Bfp4_b = 7,
    UInt16 = 9, Bfp2 = 11, Bfp2_b = 15, UInt32 = 24, UInt8 = 30,
    RawUInt8 = 240, RawUInt16 = 241, RawUInt32 = 242, Invalid = 0xff
};
inline const char* name_of(DataFormat) { return "DataFormat"; }

/// Circular buffers of a core.
enum CBIndex : uint8_t {
    c_0, c_1, c_2, c_3, c_4, c_5, c_6, c_7, c_8, c_9, c_10, c_11, c_12, c_13, c_14, c_15, c_16,
    c_17, c_18, c_19, c_20, c_21, c_22, c_23, c_24, c_25, c_26, c_27, c_28, c_29, c_30, c_31, SIZE
};
inline const char* name_of(CBIndex) { return "CBIndex"; }
/// Their names of 2024.
enum CB : uint8_t {
    c_in0, c_in1, c_in2, c_in3, c_in4, c_in5, c_in6, c_in7,
    dataflow0, dataflow1, dataflow2, dataflow3, dataflow4, dataflow5, dataflow6, dataflow7,
    c_out0, c_out1, c_out2, c_out3, c_out4, c_out5, c_out6, c_out7,
    c_intermed0, c_intermed1, c_intermed2, c_intermed3, c_intermed4, c_intermed5, c_intermed6,
    c_intermed7
};
inline const char* name_of(CB) { return "CBIndex"; }

namespace constants {
constexpr uint32_t TILE_HEIGHT = 32, TILE_WIDTH = 32, TILE_HW = TILE_HEIGHT * TILE_WIDTH;
constexpr uint32_t FACE_HEIGHT = 16, FACE_WIDTH = 16, FACE_HW = FACE_HEIGHT * FACE_WIDTH;
}  // namespace constants

inline uint32_t tile_size(
    DataFormat format, ttmlir_host::Where where = ttmlir_host::Where::here()) {
    return ttmlir_host::call(where, "tile_size", format).number;
}

namespace tt_fabric {

enum class FabricConfig : uint32_t {
    DISABLED, FABRIC_1D_NEIGHBOR_EXCHANGE, FABRIC_1D, FABRIC_1D_RING, FABRIC_2D, FABRIC_2D_TORUS_X,
    FABRIC_2D_TORUS_Y, FABRIC_2D_TORUS_XY
};
inline const char* name_of(FabricConfig) { return "tt_fabric.FabricConfig"; }
enum class FabricMuxChannelType : uint8_t { FULL_SIZE_CHANNEL, HEADER_ONLY_CHANNEL };
inline const char* name_of(FabricMuxChannelType) { return "tt_fabric.FabricMuxChannelType"; }
enum class FabricReliabilityMode : uint32_t {
    STRICT_SYSTEM_HEALTH_SETUP_MODE, RELAXED_SYSTEM_HEALTH_SETUP_MODE,
    DYNAMIC_RECONFIGURATION_SETUP_MODE
};

/// The number of a mesh.
struct MeshId {
    uint32_t value = 0;
    uint32_t operator*() const { return value; }
    auto operator<=>(const MeshId&) const = default;
};
/// A chip as the fabric numbers it.
struct FabricNodeId {
    MeshId mesh_id;
    uint32_t chip_id = 0;
    FabricNodeId(MeshId mesh, uint32_t chip) : mesh_id(mesh), chip_id(chip) {}
    auto operator<=>(const FabricNodeId&) const = default;
    void encode(ttmlir_host::Message& message) const {
        message.record("tt_fabric.FabricNodeId", 2);
        message.field("mesh_id", mesh_id.value);
        message.field("chip_id", chip_id);
    }
};

}  // namespace tt_fabric

namespace tt_metal {

using ::bfloat16;
using ::CoreCoord;
using ::CoreRange;
using ::CoreRangeSet;
using ::MathFidelity;
using DeviceAddr = uint64_t;
using ttmlir_host::Where;

enum class BufferType { DRAM, L1, SYSTEM_MEMORY, L1_SMALL, TRACE };
enum class TensorMemoryLayout {
    INTERLEAVED, SINGLE_BANK, HEIGHT_SHARDED, WIDTH_SHARDED, BLOCK_SHARDED
};
enum class ShardOrientation { ROW_MAJOR, COL_MAJOR };
enum class DataMovementProcessor { RISCV_0, RISCV_1 };
enum NOC : uint8_t { NOC_0 = 0, NOC_1 = 1, RISCV_0_default = 0, RISCV_1_default = 1 };
enum NOC_MODE : uint8_t { DM_DEDICATED_NOC, DM_DYNAMIC_NOC };
enum class KernelBuildOptLevel : uint8_t { O1, O2, O3, O0, Os, Ofast, Oz };
enum class UnpackToDestMode : uint8_t { Default, UnpackToDestFp32 };
enum class CoreType : uint32_t { WORKER, ETH };
enum Eth : uint8_t { SENDER, RECEIVER, IDLE };
inline const char* name_of(CoreType) { return "CoreType"; }
inline const char* name_of(Eth) { return "Eth"; }
inline const char* name_of(BufferType) { return "BufferType"; }
inline const char* name_of(TensorMemoryLayout) { return "TensorMemoryLayout"; }
inline const char* name_of(ShardOrientation) { return "ShardOrientation"; }
inline const char* name_of(DataMovementProcessor) { return "DataMovementProcessor"; }
inline const char* name_of(NOC) { return "NOC"; }
inline const char* name_of(NOC_MODE) { return "NOC_MODE"; }
inline const char* name_of(KernelBuildOptLevel) { return "KernelBuildOptLevel"; }
inline const char* name_of(UnpackToDestMode) { return "UnpackToDestMode"; }

namespace distributed {

enum class H2DMode : uint8_t { HOST_PUSH, DEVICE_PULL };
inline const char* name_of(H2DMode) { return "distributed.H2DMode"; }

}  // namespace distributed

using Defines = std::map<std::string, std::string>;
using NamedArgs = std::unordered_map<std::string, uint32_t>;

struct DataMovementConfig {
    DataMovementProcessor processor = DataMovementProcessor::RISCV_0;
    NOC noc = NOC::RISCV_0_default;
    NOC_MODE noc_mode = NOC_MODE::DM_DEDICATED_NOC;
    std::vector<uint32_t> compile_args;
    Defines defines;
    NamedArgs named_compile_args;
    KernelBuildOptLevel opt_level = KernelBuildOptLevel::O2;
    void encode(ttmlir_host::Message& message) const {
        message.record("DataMovementConfig", 7);
        message.field("processor", processor);
        message.field("noc", noc);
        message.field("noc_mode", noc_mode);
        message.field("compile_args", compile_args);
        message.field("defines", defines);
        message.field("named_compile_args", named_compile_args);
        message.field("opt_level", opt_level);
    }
};
struct ReaderDataMovementConfig : DataMovementConfig {
    ReaderDataMovementConfig(
        std::vector<uint32_t> compile_args = {}, Defines defines = {}, NamedArgs named = {}) :
        DataMovementConfig{
            .processor = DataMovementProcessor::RISCV_1, .noc = NOC::NOC_0,
            .compile_args = std::move(compile_args), .defines = std::move(defines),
            .named_compile_args = std::move(named)} {}
};
struct WriterDataMovementConfig : DataMovementConfig {
    WriterDataMovementConfig(
        std::vector<uint32_t> compile_args = {}, Defines defines = {}, NamedArgs named = {}) :
        DataMovementConfig{
            .processor = DataMovementProcessor::RISCV_0, .noc = NOC::NOC_1,
            .compile_args = std::move(compile_args), .defines = std::move(defines),
            .named_compile_args = std::move(named)} {}
};
struct EthernetConfig {
    Eth eth_mode = Eth::SENDER;
    NOC noc = NOC::NOC_0;
    DataMovementProcessor processor = DataMovementProcessor::RISCV_0;
    std::vector<uint32_t> compile_args;
    Defines defines;
    NamedArgs named_compile_args;
    KernelBuildOptLevel opt_level = KernelBuildOptLevel::Os;
    void encode(ttmlir_host::Message& message) const {
        message.record("EthernetConfig", 7);
        message.field("eth_mode", eth_mode);
        message.field("noc", noc);
        message.field("processor", processor);
        message.field("compile_args", compile_args);
        message.field("defines", defines);
        message.field("named_compile_args", named_compile_args);
        message.field("opt_level", opt_level);
    }
};
struct ComputeConfig {
    MathFidelity math_fidelity = MathFidelity::HiFi4;
    bool fp32_dest_acc_en = false;
    bool dst_full_sync_en = false;
    std::vector<UnpackToDestMode> unpack_to_dest_mode;
    bool bfp8_pack_precise = false;
    bool math_approx_mode = false;
    std::vector<uint32_t> compile_args;
    Defines defines;
    NamedArgs named_compile_args;
    KernelBuildOptLevel opt_level = KernelBuildOptLevel::O3;
    void encode(ttmlir_host::Message& message) const {
        message.record("ComputeConfig", 10);
        message.field("math_fidelity", math_fidelity);
        message.field("fp32_dest_acc_en", fp32_dest_acc_en);
        message.field("dst_full_sync_en", dst_full_sync_en);
        message.field("unpack_to_dest_mode", unpack_to_dest_mode);
        message.field("bfp8_pack_precise", bfp8_pack_precise);
        message.field("math_approx_mode", math_approx_mode);
        message.field("compile_args", compile_args);
        message.field("defines", defines);
        message.field("named_compile_args", named_compile_args);
        message.field("opt_level", opt_level);
    }
};

/// A number of each kind for rows and columns.
class Shape2D {
public:
    constexpr Shape2D(size_t height, size_t width) : height_(height), width_(width) {}
    constexpr Shape2D(std::array<uint32_t, 2> extents) : Shape2D(extents[0], extents[1]) {}
    constexpr size_t height() const { return height_; }
    constexpr size_t width() const { return width_; }
    constexpr bool operator==(const Shape2D&) const = default;
    void encode(ttmlir_host::Message& message) const {
        message.record("tuple", 2);
        message.field("", height_);
        message.field("", width_);
    }

private:
    size_t height_;
    size_t width_;
};

/// How a two-dimensional tensor is cut into shards.
struct ShardSpecBuffer {
    CoreRangeSet core_sets;
    std::array<uint32_t, 2> shard_shape{};
    ShardOrientation orientation = ShardOrientation::ROW_MAJOR;
    std::array<uint32_t, 2> page_shape{};
    std::array<uint32_t, 2> tensor2d_shape_in_pages{};
    ShardSpecBuffer() = default;
    ShardSpecBuffer(
        const CoreRangeSet& cores, std::array<uint32_t, 2> shard, ShardOrientation order,
        std::array<uint32_t, 2> page, std::array<uint32_t, 2> tensor) :
        core_sets(cores), shard_shape(shard), orientation(order), page_shape(page),
        tensor2d_shape_in_pages(tensor) {}
    /// The order of 2024, with whether shards overlap.
    ShardSpecBuffer(
        const CoreRangeSet& cores, std::array<uint32_t, 2> shard, ShardOrientation order,
        bool /*halo*/, std::array<uint32_t, 2> page, std::array<uint32_t, 2> tensor) :
        ShardSpecBuffer(cores, shard, order, page, tensor) {}
    void encode(ttmlir_host::Message& message) const {
        message.record("ShardSpecBuffer", 5);
        message.field("", core_sets);
        message.field("", Shape2D(shard_shape));
        message.field("", orientation);
        message.field("", Shape2D(page_shape));
        message.field("", Shape2D(tensor2d_shape_in_pages));
    }
};

struct BufferRegion {
    DeviceAddr offset = 0;
    DeviceAddr size = 0;
    BufferRegion() = default;
    BufferRegion(DeviceAddr first, DeviceAddr bytes) : offset(first), size(bytes) {}
    void encode(ttmlir_host::Message& message) const {
        message.record("BufferRegion", 2);
        message.field("", offset);
        message.field("", size);
    }
};

namespace distributed {

/// Indices or extents along the dimensions of a mesh.
class MeshExtents {
public:
    MeshExtents(std::initializer_list<uint32_t> places) : places_(places) {}
    explicit MeshExtents(std::vector<uint32_t> places) : places_(std::move(places)) {}
    size_t dims() const { return places_.size(); }
    uint32_t operator[](size_t index) const { return places_.at(index); }
    auto begin() const { return places_.begin(); }
    auto end() const { return places_.end(); }
    auto operator<=>(const MeshExtents&) const = default;

protected:
    void encode_as(ttmlir_host::Message& message, const char* name) const {
        message.record(name, static_cast<uint32_t>(places_.size()));
        for (uint32_t each : places_) {
            message.field("", each);
        }
    }
    std::string text(const char* name) const { return fmt::format("{}({})", name, places_); }
    std::vector<uint32_t> places_;
};

class MeshShape : public MeshExtents {
public:
    explicit MeshShape(uint32_t extent) : MeshExtents({extent}) {}
    MeshShape(uint32_t rows, uint32_t columns) : MeshExtents({rows, columns}) {}
    using MeshExtents::MeshExtents;
    size_t mesh_size() const {
        size_t size = 1;
        for (uint32_t each : places_) {
            size *= each;
        }
        return size;
    }
    void encode(ttmlir_host::Message& message) const {
        encode_as(message, "distributed.MeshShape");
    }
    std::string str() const { return text("MeshShape"); }
};

class MeshCoordinate : public MeshExtents {
public:
    explicit MeshCoordinate(uint32_t place) : MeshExtents({place}) {}
    MeshCoordinate(uint32_t row, uint32_t column) : MeshExtents({row, column}) {}
    using MeshExtents::MeshExtents;
    static MeshCoordinate zero_coordinate(size_t dims) {
        return MeshCoordinate(std::vector<uint32_t>(dims, 0));
    }
    const std::vector<uint32_t>& coords() const { return places_; }
    void encode(ttmlir_host::Message& message) const {
        encode_as(message, "distributed.MeshCoordinate");
    }
    std::string str() const { return text("MeshCoordinate"); }
};

/// A box of devices of a mesh, both corners included.
class MeshCoordinateRange {
public:
    MeshCoordinateRange(const MeshCoordinate& start, const MeshCoordinate& end) :
        start_(start), end_(end) {}
    explicit MeshCoordinateRange(const MeshCoordinate& only) : MeshCoordinateRange(only, only) {}
    explicit MeshCoordinateRange(const MeshShape& shape) :
        start_(MeshCoordinate::zero_coordinate(shape.dims())), end_(last_of(shape)) {}
    const MeshCoordinate& start_coord() const { return start_; }
    const MeshCoordinate& end_coord() const { return end_; }
    MeshShape shape() const {
        std::vector<uint32_t> extents;
        for (size_t i = 0; i < start_.dims(); i++) {
            extents.push_back(end_[i] - start_[i] + 1);
        }
        return MeshShape(extents);
    }
    bool contains(const MeshCoordinate& place) const {
        for (size_t i = 0; i < start_.dims(); i++) {
            if (place[i] < start_[i] || end_[i] < place[i]) {
                return false;
            }
        }
        return true;
    }
    auto operator<=>(const MeshCoordinateRange&) const = default;
    void encode(ttmlir_host::Message& message) const {
        message.record("distributed.MeshCoordinateRange", 2);
        message.field("", start_);
        message.field("", end_);
    }

    /// The devices, row by row.
    class iterator {
    public:
        iterator(const MeshCoordinateRange& range, size_t number) :
            range_(range), number_(number) {}
        MeshCoordinate operator*() const {
            std::vector<uint32_t> places(range_.start_.dims());
            const MeshShape shape = range_.shape();
            size_t left = number_;
            for (size_t i = places.size(); i-- > 0; left /= shape[i]) {
                places[i] = range_.start_[i] + left % shape[i];
            }
            return MeshCoordinate(places);
        }
        iterator& operator++() {
            number_++;
            return *this;
        }
        bool operator==(const iterator& other) const { return number_ == other.number_; }

    private:
        const MeshCoordinateRange& range_;
        size_t number_;
    };
    iterator begin() const { return {*this, 0}; }
    iterator end() const { return {*this, shape().mesh_size()}; }

private:
    static MeshCoordinate last_of(const MeshShape& shape) {
        std::vector<uint32_t> places(shape.begin(), shape.end());
        for (uint32_t& each : places) {
            each--;
        }
        return MeshCoordinate(places);
    }
    MeshCoordinate start_;
    MeshCoordinate end_;
};

struct MeshDeviceConfig {
    MeshShape mesh_shape;
    std::optional<MeshCoordinate> offset;
    std::vector<int> physical_device_ids;
    MeshDeviceConfig(
        const MeshShape& shape, std::optional<MeshCoordinate> first = std::nullopt,
        std::vector<int> ids = {}) :
        mesh_shape(shape), offset(std::move(first)), physical_device_ids(std::move(ids)) {}
    void encode(ttmlir_host::Message& message) const {
        message.record("distributed.MeshDeviceConfig", 3);
        message.field("", mesh_shape);
        message.field("", offset);
        message.field("", physical_device_ids);
    }
};

}  // namespace distributed
}  // namespace tt_metal
}  // namespace tt

using tt::tt_metal::DataMovementProcessor;  // Of the global namespace until 2025.
