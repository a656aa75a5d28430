// Class templates
// Default arguments, full and partial specialisation, and static members.
template <typename T, uint32_t N = 4>
struct Buffer {
    T data[N];
    T& operator[](uint32_t i) { return data[i]; }
    static constexpr uint32_t bytes = N * sizeof(T);
};
template <typename T> struct Rank { static constexpr uint32_t value = 0; };
template <typename T> struct Rank<T*> { static constexpr uint32_t value = 1 + Rank<T>::value; };
void kernel_main() {
    Buffer<uint16_t> buffer = {1, 2, 3, 4};
    buffer[2] = 70;
    note(buffer[2]); note(Buffer<uint32_t, 3>::bytes); note(Rank<int**>::value);
}
