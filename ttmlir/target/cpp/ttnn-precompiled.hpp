// What C++ written by ttmlir for ttnn 0.81.1 includes; this file stands beside it.
//
// Namespace `utils` has the functions that `utils.py` has for Python.

#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/experimental/fabric/fabric_edm_types.hpp>
#include <tt-metalium/mesh_device.hpp>
#include <tt_stl/small_vector.hpp>

#include "ttnn/core.hpp"
#include "ttnn/device.hpp"
#include "ttnn/distributed/api.hpp"
#include "ttnn/distributed/distributed_tensor.hpp"
#include "ttnn/distributed/types.hpp"
#include "ttnn/operations/ccl/all_gather/all_gather.hpp"
#include "ttnn/operations/ccl/all_reduce/all_reduce.hpp"
#include "ttnn/operations/ccl/mesh_partition/mesh_partition.hpp"
#include "ttnn/operations/ccl/reduce_scatter/reduce_scatter.hpp"
#include "ttnn/operations/conv/conv1d/conv1d.hpp"
#include "ttnn/operations/conv/conv2d/conv2d.hpp"
#include "ttnn/operations/conv/conv_transpose2d/conv_transpose2d.hpp"
#include "ttnn/operations/copy/typecast/typecast.hpp"
#include "ttnn/operations/core/compute_kernel/compute_kernel_config.hpp"
#include "ttnn/operations/core/core.hpp"
#include "ttnn/operations/core/to_layout/to_layout_op.hpp"
#include "ttnn/operations/core/to_memory_config/to_memory_config_op.hpp"
#include "ttnn/operations/creation/creation.hpp"
#include "ttnn/operations/data_movement/concat/concat.hpp"
#include "ttnn/operations/data_movement/copy/copy.hpp"
#include "ttnn/operations/data_movement/gather/gather.hpp"
#include "ttnn/operations/data_movement/pad/pad.hpp"
#include "ttnn/operations/data_movement/permute/permute.hpp"
#include "ttnn/operations/data_movement/repeat/repeat.hpp"
#include "ttnn/operations/data_movement/repeat_interleave/repeat_interleave.hpp"
#include "ttnn/operations/data_movement/reshape_view/reshape.hpp"
#include "ttnn/operations/data_movement/scatter/scatter.hpp"
#include "ttnn/operations/data_movement/slice/slice.hpp"
#include "ttnn/operations/data_movement/sort/sort.hpp"
#include "ttnn/operations/data_movement/transpose/transpose.hpp"
#include "ttnn/operations/eltwise/binary/binary.hpp"
#include "ttnn/operations/eltwise/quantization/quantization.hpp"
#include "ttnn/operations/eltwise/ternary/ternary.hpp"
#include "ttnn/operations/eltwise/unary/unary.hpp"
#include "ttnn/operations/eltwise/unary_backward/unary_backward.hpp"
#include "ttnn/operations/embedding/embedding.hpp"
#include "ttnn/operations/embedding_backward/embedding_backward.hpp"
#include "ttnn/operations/experimental/conv3d/conv3d.hpp"
#include "ttnn/operations/experimental/paged_cache/paged_cache.hpp"
#include "ttnn/operations/experimental/transformer/nlp_concat_heads/nlp_concat_heads.hpp"
#include "ttnn/operations/experimental/transformer/nlp_concat_heads_decode/nlp_concat_heads_decode.hpp"
#include "ttnn/operations/experimental/transformer/nlp_create_qkv_heads_decode/nlp_create_qkv_heads_decode.hpp"
#include "ttnn/operations/experimental/transformer/rotary_embedding/rotary_embedding.hpp"
#include "ttnn/operations/experimental/transformer/rotary_embedding_llama/rotary_embedding_llama.hpp"
#include "ttnn/operations/kv_cache/kv_cache.hpp"
#include "ttnn/operations/matmul/matmul.hpp"
#include "ttnn/operations/normalization/batch_norm/batch_norm.hpp"
#include "ttnn/operations/normalization/groupnorm/groupnorm.hpp"
#include "ttnn/operations/normalization/layernorm/layernorm.hpp"
#include "ttnn/operations/normalization/rmsnorm/rmsnorm.hpp"
#include "ttnn/operations/normalization/softmax/softmax.hpp"
#include "ttnn/operations/pool/generic/generic_pools.hpp"
#include "ttnn/operations/pool/upsample/upsample.hpp"
#include "ttnn/operations/rand/rand.hpp"
#include "ttnn/operations/reduction/argmax/argmax.hpp"
#include "ttnn/operations/reduction/generic/generic_reductions.hpp"
#include "ttnn/operations/reduction/prod/prod.hpp"
#include "ttnn/operations/reduction/sampling/sampling.hpp"
#include "ttnn/operations/reduction/topk/topk.hpp"
#include "ttnn/operations/transformer/concatenate_heads/concatenate_heads.hpp"
#include "ttnn/operations/transformer/sdpa/sdpa.hpp"
#include "ttnn/operations/transformer/sdpa_decode/sdpa_decode.hpp"
#include "ttnn/operations/transformer/split_query_key_value_and_split_heads/split_query_key_value_and_split_heads.hpp"
#include "ttnn/tensor/serialization.hpp"
#include "ttnn/tensor/tensor.hpp"
#include "ttnn/tensor/tensor_ops.hpp"
#include "ttnn/tensor/types.hpp"
#include "ttnn/types.hpp"

// Files that versions of the library have in other places.
#if __has_include("ttnn/operations/core/to_dtype/to_dtype_op.hpp")
#include "ttnn/operations/core/to_dtype/to_dtype_op.hpp"
#endif
#if __has_include("ttnn/operations/reduction/accumulation/cumprod/cumprod.hpp")
#include "ttnn/operations/reduction/accumulation/cumprod/cumprod.hpp"
#endif
#if __has_include("ttnn/operations/reduction/accumulation/cumsum/cumsum.hpp")
#include "ttnn/operations/reduction/accumulation/cumsum/cumsum.hpp"
#endif

// Names that the text uses, wherever the library declares what they mean.
namespace ttnn {
using operations::core::deallocate;
using operations::core::from_device;
using operations::core::to_device;
using operations::matmul::linear;
using operations::matmul::matmul;
using operations::matmul::sparse_matmul;
using operations::pool::avg_pool2d;
using operations::pool::max_pool2d;
using operations::upsample::upsample;
using tt::tt_metal::BufferType;
using tt::tt_metal::CoreRange;
using tt::tt_metal::CoreRangeSet;
using tt::tt_metal::DataType;
using tt::tt_metal::Layout;
using tt::tt_metal::MemoryConfig;
using tt::tt_metal::Shape;
using tt::tt_metal::TensorMemoryLayout;
using tt::tt_metal::distributed::MeshDevice;
using tt::tt_metal::distributed::MeshShape;
using CoreCoord = tt::xy_pair;

// The device that a program runs on, which is opened when it is first asked for.
class DeviceGetter {
public:
  static constexpr std::size_t l1SmallSize = 1 << 15;

  static MeshDevice *getInstance(const MeshShape &shape = MeshShape(1, 1)) {
    if (given() != nullptr) {
      return given();
    }
    static const std::shared_ptr<MeshDevice> opened = distributed::open_mesh_device(
        shape, l1SmallSize, 0, 1, tt::tt_metal::DispatchCoreConfig{}, std::nullopt, {}, 0);
    return opened.get();
  }

  // Take a device that somebody else has opened, and closes.
  static void setInstance(MeshDevice *device) { given() = device; }

private:
  static MeshDevice *&given() {
    static MeshDevice *device = nullptr;
    return device;
  }
};
} // namespace ttnn

template <typename... Tensors>
std::vector<ttnn::Tensor> util_create_vec(const Tensors &...tensors) {
  return {tensors...};
}

namespace utils {
using Memory = std::optional<ttnn::MemoryConfig>;
using Numbers = std::vector<int64_t>;

// What a function of constants gives: it is called the first time only. Tensors that are kept
// outlive the device, so nothing ends them.
template <auto function, typename... Inputs>
auto compute_once(const Inputs &...inputs) {
  static const auto *kept = new auto(function(inputs...));
  return *kept;
}

template <typename Results>
constexpr bool is_variant = false;
template <typename... Results>
constexpr bool is_variant<std::variant<Results...>> = true;

// One of the tensors that the library gives, in whichever form it gives several.
template <std::size_t index, typename Results>
ttnn::Tensor result(const Results &results) {
  if constexpr (std::is_same_v<Results, ttnn::Tensor>) {
    return results;
  } else if constexpr (is_variant<Results>) {
    return std::visit([](const auto &each) { return result<index>(each); }, results);
  } else if constexpr (requires { results.at(index); }) {
    return results.at(index);
  } else if constexpr (requires { std::get<index>(results); }) {
    if constexpr (std::is_same_v<std::decay_t<decltype(std::get<index>(results))>, ttnn::Tensor>) {
      return std::get<index>(results);
    } else {
      throw std::logic_error("the library gives other results than were asked for");
    }
  } else {
    const auto &[first, second] = results;
    return index == 0 ? first : second;
  }
}

// The one number of a tensor, wherever that lies.
template <typename Number>
Number item(const ttnn::Tensor &tensor) {
  switch (tensor.dtype()) {
  case ttnn::DataType::INT32:
    return static_cast<Number>(tensor.to_vector<int32_t>().front());
  case ttnn::DataType::UINT32:
    return static_cast<Number>(tensor.to_vector<uint32_t>().front());
  case ttnn::DataType::UINT16:
    return static_cast<Number>(tensor.to_vector<uint16_t>().front());
  case ttnn::DataType::UINT8:
    return static_cast<Number>(tensor.to_vector<uint8_t>().front());
  default:
    return static_cast<Number>(tensor.to_vector<float>().front());
  }
}

inline bool is_zero(const ttnn::Tensor &tensor) { return item<double>(tensor) == 0; }

// A tensor of the host in the type, layout and memory that a program goes on with.
inline ttnn::Tensor placed(ttnn::Tensor tensor, ttnn::Layout layout,
                           std::optional<ttnn::DataType> type, ttnn::MeshDevice *device,
                           const Memory &memory) {
  if (type.has_value() && tensor.dtype() != *type) {
    tensor = ttnn::to_dtype(tensor, *type);
  }
  if (tensor.layout() != layout) {
    tensor = ttnn::to_layout(tensor, layout);
  }
  return device == nullptr ? tensor : ttnn::to_device(tensor, device, memory);
}

template <typename Number>
ttnn::Tensor create_tensor(std::vector<Number> numbers, const ttnn::Shape &shape,
                           ttnn::DataType type, ttnn::Layout layout,
                           ttnn::MeshDevice *device = nullptr,
                           const Memory &memory = std::nullopt) {
  const auto own = std::is_same_v<Number, float>     ? ttnn::DataType::FLOAT32
                   : std::is_same_v<Number, int32_t> ? ttnn::DataType::INT32
                                                     : ttnn::DataType::UINT32;
  const tt::tt_metal::TensorSpec spec(
      shape, tt::tt_metal::TensorLayout(own, tt::tt_metal::PageConfig(ttnn::Layout::ROW_MAJOR),
                                        ttnn::MemoryConfig{}));
  auto tensor = ttnn::Tensor::from_vector<Number>(std::move(numbers), spec);
  return placed(tensor, layout, type, device, memory);
}

// The tensor of a file that `ttnn.dump_tensor` has written; its directory is that of this file, or
// the one that the program runs in.
inline ttnn::Tensor read_tensor(const std::string &path) {
  const auto beside = std::filesystem::path(__FILE__).parent_path() / path;
  return ttnn::load_tensor_flatbuffer(std::filesystem::exists(beside) ? beside.string() : path,
                                      nullptr);
}

inline ttnn::Tensor load_tensor(const std::string &path, ttnn::Layout layout,
                                std::optional<ttnn::DataType> type = std::nullopt,
                                ttnn::MeshDevice *device = nullptr,
                                const Memory &memory = std::nullopt) {
  return placed(read_tensor(path), layout, type, device, memory);
}

inline ttnn::Tensor distribute_tensor(const ttnn::Tensor &tensor,
                                      const tt::tt_metal::distributed::MeshMapperConfig &config,
                                      ttnn::MeshDevice *device) {
  return ttnn::distributed::distribute_tensor(
      tensor, ttnn::distributed::TensorToMesh::create(*device, config));
}

inline ttnn::Tensor aggregate_tensor(const ttnn::Tensor &tensor,
                                     const tt::tt_metal::distributed::MeshComposerConfig &config,
                                     ttnn::MeshDevice *device) {
  return ttnn::distributed::aggregate_tensor(
      tensor, ttnn::distributed::MeshToTensor::create(*device, config));
}

// --- Slices at places of an index ----------------------------------------------------------------
// The library of this version has `gather` and `scatter` only, which take an index for each element.

inline ttnn::Tensor in_rows(const ttnn::Tensor &tensor) {
  return ttnn::to_layout(tensor, ttnn::Layout::ROW_MAJOR);
}

inline ttnn::Tensor in_tiles(const ttnn::Tensor &tensor) {
  return ttnn::to_layout(tensor, ttnn::Layout::TILE);
}

inline ttnn::Tensor reshaped(const ttnn::Tensor &tensor, const std::vector<int32_t> &shape) {
  return ttnn::reshape(tensor, std::span<const int32_t>(shape));
}

inline ttnn::Tensor repeated(const ttnn::Tensor &tensor, uint32_t first, uint32_t last) {
  return ttnn::repeat(tensor, ttsl::SmallVector<uint32_t>{first, 1, last}, std::nullopt);
}

inline std::vector<int32_t> extents(const ttnn::Tensor &tensor) {
  const auto &shape = tensor.logical_shape();
  std::vector<int32_t> found;
  for (std::size_t each = 0; each < shape.rank(); ++each) {
    found.push_back(static_cast<int32_t>(shape[each]));
  }
  return found;
}

template <typename Values>
int32_t product(const Values &values, std::size_t from = 0) {
  int32_t found = 1;
  for (std::size_t each = from; each < values.size(); ++each) {
    found *= static_cast<int32_t>(values[each]);
  }
  return found;
}

inline ttnn::Tensor finish(const ttnn::Tensor &tensor, ttnn::Layout layout, const Memory &memory) {
  auto moved = ttnn::to_layout(tensor, layout);
  return memory.has_value() ? ttnn::to_memory_config(moved, *memory) : moved;
}

// The starts of slices in each of the indexed dimensions: [batch, slices, 1] in tiles.
inline std::vector<ttnn::Tensor> starts(const ttnn::Tensor &index) {
  const auto shape = extents(index);
  const auto rows = in_rows(index);
  std::vector<ttnn::Tensor> found;
  for (int32_t place = 0; place < shape[1]; ++place) {
    const auto part = ttnn::slice(rows, ttsl::SmallVector<int32_t>{0, place, 0},
                                  ttsl::SmallVector<int32_t>{shape[0], place + 1, shape[2]},
                                  ttsl::SmallVector<int32_t>{1, 1, 1});
    found.push_back(
        ttnn::typecast(in_tiles(reshaped(part, {shape[0], shape[2], 1})), ttnn::DataType::INT32));
  }
  return found;
}

// The numbers of the rows of slices, slice by slice: [batch, rows, 1] in tiles.
inline ttnn::Tensor row_numbers(const std::vector<ttnn::Tensor> &starts, const Numbers &sizes,
                                const Numbers &windows) {
  std::optional<ttnn::Tensor> numbers;
  std::vector<int32_t> offsets{0};
  for (std::size_t place = 0; place < sizes.size(); ++place) {
    const int32_t stride = product(sizes, place + 1);
    const auto part = stride == 1 ? starts[place] : ttnn::multiply(starts[place], stride);
    numbers = numbers.has_value() ? ttnn::add(*numbers, part) : part;
    std::vector<int32_t> more;
    for (const int32_t offset : offsets) {
      for (int32_t step = 0; step < windows[place]; ++step) {
        more.push_back(offset + step * stride);
      }
    }
    offsets = more;
  }
  const auto shape = extents(starts.front());
  const auto count = static_cast<uint32_t>(offsets.size());
  if (count > 1) {
    const auto within =
        create_tensor<int32_t>(offsets, ttnn::Shape({1, 1, count}), ttnn::DataType::INT32,
                               ttnn::Layout::TILE, starts.front().device());
    numbers = ttnn::add(repeated(*numbers, 1, count), within);
  }
  return reshaped(*numbers, {shape[0], shape[1] * static_cast<int32_t>(count), 1});
}

struct Places {
  ttnn::Tensor index;
  int32_t dim;
  std::vector<int32_t> shape;
};

// An index for each element of rows; columns are looked up as one row.
inline Places places(ttnn::Tensor numbers, int32_t batch, int32_t width) {
  if (extents(numbers)[0] < batch) {
    numbers = repeated(numbers, static_cast<uint32_t>(batch), 1);
  }
  const int32_t rows = extents(numbers)[1];
  const auto index = ttnn::typecast(numbers, ttnn::DataType::UINT32);
  if (width == 1) {
    return {reshaped(index, {batch, 1, rows}), 2, {batch, 1, rows}};
  }
  return {repeated(index, 1, static_cast<uint32_t>(width)), 1, {batch, rows, width}};
}

// A tensor as rows of numbers, or as one row of its columns.
inline ttnn::Tensor table(const ttnn::Tensor &tensor, int32_t count, int32_t width) {
  const int32_t batch = extents(tensor)[0];
  return width > 1 ? reshaped(in_rows(tensor), {batch, count, width})
                   : reshaped(in_rows(tensor), {batch, 1, count});
}

inline std::vector<int32_t> row_of(const ttnn::Tensor &tensor, std::size_t indexed, bool column) {
  const auto shape = extents(tensor);
  using Row = std::vector<int32_t>;
  return column ? Row{} : Row(shape.begin() + 1 + static_cast<std::ptrdiff_t>(indexed), shape.end());
}

// Slices of a tensor that begin at places of an index; those over the border are moved inside, or
// are 0.
inline ttnn::Tensor rows_gather(const ttnn::Tensor &tensor, const ttnn::Tensor &index,
                                const Numbers &sizes, const Numbers &windows, bool column = false,
                                bool fill_out_of_bounds = false,
                                const Memory &memory = std::nullopt) {
  const auto row = row_of(tensor, sizes.size(), column);
  auto inside = starts(index);
  for (std::size_t place = 0; place < sizes.size(); ++place) {
    const auto last = static_cast<int32_t>(sizes[place] - windows[place]);
    inside[place] = ttnn::minimum(ttnn::maximum(inside[place], 0), last);
  }
  const auto numbers = row_numbers(inside, sizes, windows);
  const int32_t batch = extents(tensor)[0];
  const auto found = places(numbers, batch, product(row));
  const auto from = in_tiles(table(tensor, product(sizes), product(row)));
  std::vector<int32_t> shape{batch, extents(numbers)[1]};
  shape.insert(shape.end(), row.begin(), row.end());
  auto gathered = ttnn::gather(from, static_cast<int8_t>(found.dim), found.index, false);
  if (fill_out_of_bounds) {
    const auto begins = starts(index);
    auto kept = ttnn::eq(begins[0], inside[0]);
    for (std::size_t place = 1; place < sizes.size(); ++place) {
      kept = ttnn::logical_and(kept, ttnn::eq(begins[place], inside[place]));
    }
    if (const auto per_slice = static_cast<uint32_t>(product(windows)); per_slice > 1) {
      kept = repeated(kept, 1, per_slice);
    }
    const int32_t count = extents(numbers)[1], groups = extents(numbers)[0];
    kept = product(row) > 1 ? reshaped(kept, {groups, count, 1}) : reshaped(kept, {groups, 1, count});
    gathered = ttnn::where(ttnn::typecast(kept, ttnn::DataType::FLOAT32), gathered, 0.0f);
  }
  return finish(reshaped(in_rows(gathered), shape), tensor.layout(), memory);
}

// Rows of a table of any type; those of bfloat16 are what `ttnn::embedding` takes.
inline ttnn::Tensor embedding_of_rows(const ttnn::Tensor &index, const ttnn::Tensor &weight,
                                      std::optional<int> /*padding*/, ttnn::Layout layout,
                                      ttnn::prim::EmbeddingsType /*kind*/,
                                      std::optional<ttnn::DataType> type = std::nullopt,
                                      const Memory &memory = std::nullopt) {
  const auto shape = extents(weight);
  const int32_t count = shape[shape.size() - 2], width = shape.back();
  auto found = rows_gather(reshaped(in_rows(weight), {1, count, width}),
                           reshaped(in_rows(index), {1, 1, -1}), {count}, {1});
  auto wanted = extents(index);
  wanted.push_back(width);
  found = reshaped(found, wanted);
  if (type.has_value() && found.dtype() != *type) {
    found = ttnn::typecast(found, *type);
  }
  return finish(found, layout, memory);
}

// A tensor with slices written to places of an index; those over the border are dropped: they are
// written to a row behind the last one.
inline ttnn::Tensor rows_scatter(const ttnn::Tensor &tensor, const ttnn::Tensor &index,
                                 const ttnn::Tensor &updates, const Numbers &sizes,
                                 const Numbers &windows, bool column = false,
                                 const std::optional<std::string> &reduce = std::nullopt,
                                 const Memory &memory = std::nullopt) {
  const int32_t count = product(sizes), width = product(row_of(tensor, sizes.size(), column));
  const auto begins = starts(index);
  std::optional<ttnn::Tensor> is_inside;
  for (std::size_t place = 0; place < sizes.size(); ++place) {
    const auto last = static_cast<int32_t>(sizes[place] - windows[place]);
    const auto fits =
        ttnn::logical_and(ttnn::ge(begins[place], 0), ttnn::le(begins[place], last));
    is_inside = is_inside.has_value() ? ttnn::logical_and(*is_inside, fits) : fits;
  }
  auto numbers = row_numbers(begins, sizes, windows);
  const auto per_slice = static_cast<uint32_t>(product(windows));
  if (per_slice > 1) {
    is_inside = repeated(*is_inside, 1, per_slice);
  }
  const auto chosen = reshaped(ttnn::typecast(*is_inside, ttnn::DataType::INT32), extents(numbers));
  numbers = ttnn::where(chosen, numbers, ttnn::add(ttnn::multiply(numbers, 0), count));
  const auto found = places(numbers, extents(tensor)[0], width);
  const auto rows = table(tensor, count, width);
  const auto end = extents(rows);
  auto behind = ttnn::Shape({static_cast<uint32_t>(end[0]), found.dim == 1 ? 1U : uint32_t(end[1]),
                             found.dim == 2 ? 1U : uint32_t(end[2])});
  const auto spare =
      ttnn::zeros(behind, rows.dtype(), ttnn::Layout::ROW_MAJOR, std::ref(*rows.device()));
  const auto written = ttnn::scatter(
      ttnn::concat(std::vector<ttnn::Tensor>{rows, spare}, found.dim), found.dim,
      in_rows(found.index), reshaped(in_rows(updates), found.shape), std::nullopt, reduce);
  const auto kept = ttnn::slice(written, ttsl::SmallVector<int32_t>{0, 0, 0},
                                ttsl::SmallVector<int32_t>{end[0], end[1], end[2]},
                                ttsl::SmallVector<int32_t>{1, 1, 1});
  return finish(reshaped(kept, extents(tensor)), tensor.layout(), memory);
}

// --- Functions that Python has otherwise ---------------------------------------------------------

inline ttnn::Tensor gelu_bw(const ttnn::Tensor &gradient, const ttnn::Tensor &tensor,
                            const std::string &approximate, const Memory &memory = std::nullopt) {
  using ttnn::operations::unary::GeluVariant;
  const auto variant = approximate == "tanh" ? GeluVariant::Tanh : GeluVariant::Accurate;
  return *ttnn::gelu_bw(gradient, tensor, variant, memory).at(0);
}

// The mean over the second and the third dimension.
inline ttnn::Tensor global_avg_pool2d(const ttnn::Tensor &tensor,
                                      const Memory &memory = std::nullopt,
                                      ttnn::DataType type = ttnn::DataType::BFLOAT16) {
  const auto shape = extents(tensor);
  std::vector<uint32_t> sizes(shape.begin(), shape.end());
  const auto pooled = ttnn::avg_pool2d(
      tensor, sizes[0], sizes[1], sizes[2], sizes[3], std::array<uint32_t, 2>{sizes[1], sizes[2]},
      std::array<uint32_t, 2>{1, 1}, std::array<uint32_t, 2>{0, 0}, false, true, std::nullopt,
      memory, std::nullopt, std::nullopt, std::nullopt, false, true, type, ttnn::Layout::TILE,
      false);
  return reshaped(pooled, {shape[0], 1, 1, shape[3]});
}

// --- Functions that change their inputs ----------------------------------------------------------

// A normalized batch, and the mean and the variance, which the library keeps in its inputs.
inline std::tuple<ttnn::Tensor, ttnn::Tensor, ttnn::Tensor> batch_norm_training(
    const ttnn::Tensor &tensor, const std::optional<ttnn::Tensor> &running_mean,
    const std::optional<ttnn::Tensor> &running_var, bool training, float epsilon, float momentum,
    const std::optional<ttnn::Tensor> &weight = std::nullopt,
    const std::optional<ttnn::Tensor> &bias = std::nullopt,
    const std::optional<ttnn::Tensor> &output = std::nullopt, const Memory &memory = std::nullopt,
    const std::optional<ttnn::ComputeKernelConfig> &compute = std::nullopt) {
  const auto channels = static_cast<uint32_t>(extents(tensor)[1]);
  const auto kept = [&](const std::optional<ttnn::Tensor> &given) {
    return given.has_value() ? *given
                             : ttnn::zeros(ttnn::Shape({1, channels, 1, 1}), tensor.dtype(),
                                           ttnn::Layout::TILE, std::ref(*tensor.device()));
  };
  const auto mean = kept(running_mean), variance = kept(running_var);
  return {ttnn::batch_norm(tensor, mean, variance, training, epsilon, momentum, weight, bias,
                           output, memory, compute),
          mean, variance};
}

// Write to a cache at the place that a tensor says.
inline void update_cache(const ttnn::Tensor &cache, const ttnn::Tensor &tensor,
                         const ttnn::Tensor &place, uint32_t batch_offset) {
  ttnn::update_cache(cache, tensor, item<uint32_t>(place), batch_offset);
}

// --- What a program says of its results ----------------------------------------------------------

inline std::tuple<ttnn::Tensor> as_tuple(const ttnn::Tensor &tensor) { return {tensor}; }

template <typename... Tensors>
std::tuple<Tensors...> as_tuple(const std::tuple<Tensors...> &tensors) {
  return tensors;
}

template <typename Results>
std::vector<ttnn::Tensor> as_list(const Results &results) {
  return std::apply([](const auto &...each) { return std::vector<ttnn::Tensor>{each...}; },
                    as_tuple(results));
}

template <typename Number>
std::vector<double> widened(const std::vector<Number> &numbers) {
  return {numbers.begin(), numbers.end()};
}

inline bool is_whole(const ttnn::Tensor &tensor) {
  const auto type = tensor.dtype();
  return type == ttnn::DataType::INT32 || type == ttnn::DataType::UINT32 ||
         type == ttnn::DataType::UINT16 || type == ttnn::DataType::UINT8;
}

inline std::vector<double> numbers_of(const ttnn::Tensor &tensor) {
  switch (tensor.dtype()) {
  case ttnn::DataType::INT32:
    return widened(tensor.to_vector<int32_t>());
  case ttnn::DataType::UINT32:
    return widened(tensor.to_vector<uint32_t>());
  case ttnn::DataType::UINT16:
    return widened(tensor.to_vector<uint16_t>());
  case ttnn::DataType::UINT8:
    return widened(tensor.to_vector<uint8_t>());
  default:
    return widened(tensor.to_vector<float>());
  }
}

// Pearson's correlation coefficient; 1 for equal numbers, even if they are all alike.
inline double correlation(const std::vector<double> &found, const std::vector<double> &golden) {
  std::vector<std::pair<double, double>> finite;
  double first = 0, second = 0;
  for (std::size_t each = 0; each < found.size(); ++each) {
    const double a = found[each], b = golden[each];
    if (std::isfinite(a) && std::isfinite(b)) {
      finite.emplace_back(a, b);
      first += a;
      second += b;
    } else if (a != b && !(std::isnan(a) && std::isnan(b))) {
      return 0;
    }
  }
  const auto count = static_cast<double>(finite.size());
  double product = 0, left = 0, right = 0;
  bool same = true, close = true;
  for (const auto &[a, b] : finite) {
    product += (a - first / count) * (b - second / count);
    left += (a - first / count) * (a - first / count);
    right += (b - second / count) * (b - second / count);
    same = same && a == b;
    close = close && std::abs(a - b) <= 1e-8 + 1e-2 * std::abs(b);
  }
  if (same || left * right == 0) {
    return same || close ? 1 : 0;
  }
  return product / std::sqrt(left * right);
}

// Print how far a result is from the golden one; whether it is near enough.
inline bool compare(std::size_t number, const ttnn::Tensor &tensor, const ttnn::Tensor &expected) {
  const auto found = numbers_of(tensor), golden = numbers_of(expected);
  std::cout << "output" << number << ": ";
  if (found.size() != golden.size()) {
    std::cout << found.size() << " numbers, expected " << golden.size() << '\n';
    return false;
  }
  double largest = 0;
  for (std::size_t each = 0; each < found.size(); ++each) {
    largest = std::max(largest, std::abs(found[each] - golden[each]));
  }
  const double pcc = correlation(found, golden);
  const bool is_right = is_whole(expected) ? largest == 0 : pcc >= 0.99;
  std::cout << "PCC " << pcc << ", atol " << largest << ", " << (is_right ? "right" : "WRONG")
            << '\n';
  return is_right;
}

inline void print(std::size_t number, const ttnn::Tensor &tensor) {
  std::cout << "output" << number << ": [";
  const auto shape = extents(tensor);
  for (std::size_t each = 0; each < shape.size(); ++each) {
    std::cout << (each == 0 ? "" : ", ") << shape[each];
  }
  std::cout << "]\n";
  const auto numbers = numbers_of(tensor);
  for (std::size_t each = 0; each < numbers.size() && each < 20; ++each) {
    std::cout << (each == 0 ? "" : " ") << numbers[each];
  }
  std::cout << (numbers.size() > 20 ? " ...\n" : "\n");
}

// The end of `main`: print results, or with `--check` compare them with those of files.
inline int finish(int argc, char **argv, const std::vector<ttnn::Tensor> &results,
                  const std::vector<std::string> &golden) {
  const bool checks = argc == 2 && std::string(argv[1]) == "--check";
  if (argc > 1 && !checks) {
    std::cerr << argv[0] << ": runs the program and prints the results, or takes --check\n";
    return 2;
  }
  if (checks && golden.empty()) {
    std::cerr << argv[0] << ": there are no golden results; save the model with golden=True\n";
    return 2;
  }
  bool all_right = true;
  for (std::size_t number = 0; number < results.size(); ++number) {
    if (checks) {
      all_right = compare(number, results[number], read_tensor(golden[number])) && all_right;
    } else {
      print(number, results[number]);
    }
  }
  return all_right ? 0 : 1;
}
} // namespace utils
