// initializer_list
namespace std {

template <typename T>
class initializer_list {
    const T* elements;
    size_t count;

public:
    using value_type = T;
    using const_iterator = const T*;

    constexpr initializer_list() : elements(nullptr), count(0) {}
    constexpr const T* begin() const { return elements; }
    constexpr const T* end() const { return elements + count; }
    constexpr size_t size() const { return count; }
};

}  // namespace std
