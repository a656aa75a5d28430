// begin end cbegin cend size distance next prev advance
namespace std {

template <typename T, size_t N>
constexpr T* begin(T (&array)[N]) { return array; }
template <typename C>
constexpr auto begin(C& range) { return range.begin(); }
template <typename T, size_t N>
constexpr T* end(T (&array)[N]) { return array + N; }
template <typename C>
constexpr auto end(C& range) { return range.end(); }
template <typename T, size_t N>
constexpr const T* cbegin(const T (&array)[N]) { return array; }
template <typename T, size_t N>
constexpr const T* cend(const T (&array)[N]) { return array + N; }
template <typename T, size_t N>
constexpr size_t size(const T (&array)[N]) { return N; }
template <typename C>
constexpr size_t size(const C& range) { return range.size(); }

template <typename I>
constexpr int distance(I first, I last) { return last - first; }
template <typename I>
constexpr I next(I place, int count = 1) { return place + count; }
template <typename I>
constexpr I prev(I place, int count = 1) { return place - count; }
template <typename I>
constexpr void advance(I& place, int count) { place += count; }

}  // namespace std
