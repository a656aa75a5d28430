// The functions of ttnn that `ttnn-precompiled.hpp` composes others of, on the host.

#include <cstdlib>

namespace ttnn {
struct Content {
  std::vector<int32_t> shape;
  std::vector<double> numbers;
  tt::tt_metal::DataType type;
};
} // namespace ttnn

namespace host {
using ttnn::Tensor;
using Extents = std::vector<int32_t>;
using Scalar = std::variant<unsigned int, int, float>;

Tensor make(Extents shape, std::vector<double> numbers,
            tt::tt_metal::DataType type = tt::tt_metal::DataType::FLOAT32) {
  Tensor made;
  made.content = std::make_shared<ttnn::Content>(shape, std::move(numbers), type);
  return made;
}

std::size_t count(const Extents &shape) {
  std::size_t found = 1;
  for (int32_t each : shape) {
    found *= static_cast<std::size_t>(each);
  }
  return found;
}

// The place of a number in each dimension.
Extents places(std::size_t number, const Extents &shape) {
  Extents found(shape.size());
  for (std::size_t dim = shape.size(); dim-- > 0;) {
    found[dim] = static_cast<int32_t>(number % static_cast<std::size_t>(shape[dim]));
    number /= static_cast<std::size_t>(shape[dim]);
  }
  return found;
}

std::size_t number_of(const Extents &places, const Extents &shape) {
  std::size_t found = 0;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    if (places[dim] < 0 || places[dim] >= shape[dim]) {
      std::abort();
    }
    found = found * static_cast<std::size_t>(shape[dim]) + static_cast<std::size_t>(places[dim]);
  }
  return found;
}

template <typename Function>
Tensor filled(const Extents &shape, tt::tt_metal::DataType type, Function function) {
  std::vector<double> numbers;
  for (std::size_t each = 0; each < count(shape); ++each) {
    numbers.push_back(function(places(each, shape)));
  }
  return make(shape, numbers, type);
}

double at(const Tensor &tensor, const Extents &places) {
  return tensor.content->numbers[number_of(places, tensor.content->shape)];
}

// Two operands, of which one may be smaller in some dimensions.
template <typename Function>
Tensor combined(const Tensor &left, const Tensor &right, Function function) {
  Extents shape = left.content->shape;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    shape[dim] = std::max(shape[dim], right.content->shape[dim]);
  }
  const auto value = [](const Tensor &tensor, Extents where) {
    for (std::size_t dim = 0; dim < where.size(); ++dim) {
      where[dim] = std::min(where[dim], tensor.content->shape[dim] - 1);
    }
    return at(tensor, where);
  };
  return filled(shape, left.content->type, [&](const Extents &where) {
    return function(value(left, where), value(right, where));
  });
}

template <typename Function>
Tensor combined(const Tensor &left, const Scalar &right, Function function) {
  const double number = std::visit([](auto each) { return static_cast<double>(each); }, right);
  return filled(left.content->shape, left.content->type,
                [&](const Extents &where) { return function(at(left, where), number); });
}

#define BINARY(name, value)                                                                        \
  template <typename Right> Tensor name(const Tensor &left, const Right &right) {                  \
    return combined(left, right, [](double a, double b) { return double(value); });                \
  }
BINARY(add, a + b)
BINARY(multiply, a *b)
BINARY(minimum, std::min(a, b))
BINARY(maximum, std::max(a, b))
BINARY(ge, a >= b)
BINARY(le, a <= b)
BINARY(logical_and, a != 0 && b != 0)

Tensor to_layout(const Tensor &tensor, tt::tt_metal::Layout) { return tensor; }
Tensor to_device(const Tensor &tensor, tt::tt_metal::distributed::MeshDevice *) { return tensor; }

Tensor typecast(const Tensor &tensor, tt::tt_metal::DataType type) {
  return make(tensor.content->shape, tensor.content->numbers, type);
}

Tensor reshape(const Tensor &tensor, std::span<const int> shape) {
  Extents wanted(shape.begin(), shape.end());
  for (int32_t &each : wanted) {
    if (each == -1) {
      each = 1;
      each = static_cast<int32_t>(tensor.content->numbers.size() / count(wanted));
    }
  }
  return make(wanted, tensor.content->numbers, tensor.content->type);
}

Tensor repeat(const Tensor &tensor, const std::vector<unsigned int> &times) {
  Extents shape = tensor.content->shape;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    shape[dim] *= static_cast<int32_t>(times[dim]);
  }
  return filled(shape, tensor.content->type, [&](Extents where) {
    for (std::size_t dim = 0; dim < where.size(); ++dim) {
      where[dim] %= tensor.content->shape[dim];
    }
    return at(tensor, where);
  });
}

Tensor where(const Tensor &condition, const std::variant<float, int, Tensor> &left,
             const std::variant<float, int, Tensor> &right) {
  return filled(condition.content->shape, condition.content->type, [&](const Extents &where) {
    return at(std::get<Tensor>(at(condition, where) != 0 ? left : right), where);
  });
}

Tensor gather(const Tensor &tensor, signed char dim, const Tensor &index, bool) {
  return filled(index.content->shape, tensor.content->type, [&](Extents where) {
    where[static_cast<std::size_t>(dim)] = static_cast<int32_t>(at(index, where));
    return at(tensor, where);
  });
}

Tensor scatter(const Tensor &tensor, int dim, const Tensor &index, const Tensor &source,
               const std::optional<tt::tt_metal::MemoryConfig> &,
               const std::optional<std::string> &reduce) {
  Tensor made = make(tensor.content->shape, tensor.content->numbers, tensor.content->type);
  for (std::size_t each = 0; each < source.content->numbers.size(); ++each) {
    Extents where = places(each, index.content->shape);
    where[static_cast<std::size_t>(dim)] = static_cast<int32_t>(index.content->numbers[each]);
    double &number = made.content->numbers[number_of(where, made.content->shape)];
    number = source.content->numbers[each] + (reduce == "add" ? number : 0);
  }
  return made;
}

Tensor concat(const std::vector<Tensor> &tensors, int dim) {
  const std::size_t along = static_cast<std::size_t>(dim);
  Extents shape = tensors[0].content->shape;
  const int32_t first = shape[along];
  shape[along] += tensors[1].content->shape[along];
  return filled(shape, tensors[0].content->type, [&](Extents where) {
    if (where[along] < first) {
      return at(tensors[0], where);
    }
    where[along] -= first;
    return at(tensors[1], where);
  });
}

Tensor zeros(const tt::tt_metal::Shape &shape, std::optional<tt::tt_metal::DataType> type) {
  Extents extents(shape.extents.begin(), shape.extents.end());
  return make(extents, std::vector<double>(count(extents)), *type);
}
} // namespace host

template <typename T> T given() {
  using Value = std::remove_cvref_t<T>;
  if constexpr (!std::is_default_constructible_v<Value>) {
    std::abort();
  } else if constexpr (std::is_reference_v<T>) {
    static Value value{};
    return value;
  } else {
    return Value{};
  }
}

namespace tt::tt_metal {
MemoryConfig::MemoryConfig() = default;
PageConfig::PageConfig(Layout) {}
TensorLayout::TensorLayout(DataType, const PageConfig &, const MemoryConfig &) {}
TensorSpec::TensorSpec(Shape, TensorLayout) {}
} // namespace tt::tt_metal

namespace ttnn {
Tensor to_dtype(const Tensor &tensor, const DataType &type) { return host::typecast(tensor, type); }
Tensor::Tensor() = default;
tt::tt_metal::DataType Tensor::dtype() const { return content->type; }
tt::tt_metal::Layout Tensor::layout() const { return tt::tt_metal::Layout::TILE; }
tt::tt_metal::distributed::MeshDevice *Tensor::device() const {
  return reinterpret_cast<tt::tt_metal::distributed::MeshDevice *>(content.get());
}
const tt::tt_metal::Shape &Tensor::logical_shape() const {
  static std::vector<std::unique_ptr<tt::tt_metal::Shape>> kept;
  kept.push_back(std::make_unique<tt::tt_metal::Shape>(std::initializer_list<uint32_t>{}));
  kept.back()->extents.assign(content->shape.begin(), content->shape.end());
  return *kept.back();
}
template <typename T>
Tensor Tensor::from_vector(std::vector<T> &&numbers, const tt::tt_metal::TensorSpec &) {
  const auto size = static_cast<int32_t>(numbers.size());
  return host::make({1, 1, size}, {numbers.begin(), numbers.end()});
}
template <typename T>
Tensor slice(const Tensor &tensor, const ttsl::SmallVector<T> &begins,
             const ttsl::SmallVector<T> &ends, const ttsl::SmallVector<T> &,
             const std::optional<tt::tt_metal::MemoryConfig> &, const std::optional<Tensor> &,
             const std::optional<float> &, const std::optional<tt::tt_metal::CoreRangeSet> &) {
  std::vector<int32_t> shape;
  for (std::size_t dim = 0; dim < begins.size(); ++dim) {
    shape.push_back(ends[dim] - begins[dim]);
  }
  return host::filled(shape, tensor.content->type, [&](std::vector<int32_t> where) {
    for (std::size_t dim = 0; dim < where.size(); ++dim) {
      where[dim] += begins[dim];
    }
    return host::at(tensor, where);
  });
}
} // namespace ttnn
