// array
namespace std {

template <typename T, size_t N>
struct array {
    T elements[N];

    constexpr T& operator[](size_t index) { return elements[index]; }
    constexpr const T& operator[](size_t index) const { return elements[index]; }
    constexpr T& at(size_t index) { return elements[index]; }
    constexpr const T& at(size_t index) const { return elements[index]; }
    constexpr T& front() { return elements[0]; }
    constexpr const T& front() const { return elements[0]; }
    constexpr T& back() { return elements[N - 1]; }
    constexpr const T& back() const { return elements[N - 1]; }
    constexpr T* data() { return elements; }
    constexpr const T* data() const { return elements; }
    constexpr T* begin() { return elements; }
    constexpr const T* begin() const { return elements; }
    constexpr T* end() { return elements + N; }
    constexpr const T* end() const { return elements + N; }
    constexpr const T* cbegin() const { return elements; }
    constexpr const T* cend() const { return elements + N; }
    static constexpr size_t size() { return N; }
    static constexpr size_t max_size() { return N; }
    static constexpr bool empty() { return N == 0; }
    constexpr void fill(const T& value) {
        for (size_t index = 0; index < N; ++index) {
            elements[index] = value;
        }
    }
    friend constexpr bool operator==(const array& a, const array& b) {
        for (size_t index = 0; index < N; ++index) {
            if (!(a.elements[index] == b.elements[index])) {
                return false;
            }
        }
        return true;
    }
    friend constexpr bool operator<(const array& a, const array& b) {
        for (size_t index = 0; index < N; ++index) {
            if (a.elements[index] < b.elements[index]) {
                return true;
            }
            if (b.elements[index] < a.elements[index]) {
                return false;
            }
        }
        return false;
    }
    friend constexpr bool operator>(const array& a, const array& b) { return b < a; }
    friend constexpr bool operator<=(const array& a, const array& b) { return !(b < a); }
    friend constexpr bool operator>=(const array& a, const array& b) { return !(a < b); }
};

}  // namespace std
