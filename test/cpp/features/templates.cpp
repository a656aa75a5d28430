// Function templates
// Types, numbers, enumerations and functions as arguments, defaults, `if constexpr`, specialisation.
enum class Order { Up, Down };
template <typename T = uint16_t, bool Wraps = true> T next(T value) {
    if constexpr (Wraps) { return value + 1; } else { return value.has_no_such_member(); }
}
template <Order order, uint32_t N> uint32_t position(uint32_t i) { return order == Order::Up ? i : N - 1 - i; }
template <auto F> uint32_t twice(uint32_t x) { return F(F(x)); }
uint32_t triple(uint32_t x) { return 3 * x; }
template <typename T> uint32_t width() { return sizeof(T); }
template <> uint32_t width<float>() { return 132; }
template <uint32_t N, bool Up = true> uint32_t move(uint32_t x, uint32_t by = 4);
template <uint32_t N, bool Up> uint32_t move(uint32_t x, uint32_t by) { return Up ? N + x + by : N + x - by; }
struct Fetcher {
    uint32_t index = 0;
    template <typename T> T next() { return static_cast<T>(300 + 10 * index++); }
};
template <typename F> uint32_t sum(F& fetcher) { return fetcher.template next<uint8_t>() + fetcher.template next<uint32_t>(); }
struct Input {
    uint32_t cb, mode;
    constexpr bool is_first() const { return mode == 1; }
};
constexpr Input input(uint32_t cb, uint32_t mode = 0) { return Input{cb, mode}; }
template <uint32_t C> constexpr auto made = input(C, 1);
template <auto I> struct Copy {
    static constexpr uint32_t cb = I.cb;
    uint32_t go() const { if constexpr (I.is_first()) return cb + 100; else return cb; }
};
template <Input I, Input J = input(9)> uint32_t both() { return I.cb * 10 + J.cb; }
template <uint32_t N> struct Narrow { static constexpr uint32_t value = N; };
struct NoOperation { void operator()(uint32_t = 0) const {} };
template <typename T, typename = void> struct IsOperation : std::false_type {};
template <typename T>
struct IsOperation<T, std::void_t<decltype(std::declval<T>()(std::declval<uint32_t>()))>> : std::true_type {};
template <typename T> constexpr bool is_operation = IsOperation<T>::value;
constexpr uint32_t pick(bool first, const int* none = nullptr) { return first ? 7 : 8; }
template <uint32_t N> uint32_t same() { return N; }
template <typename T> bool is_plain(volatile T* pointer) { return std::is_same_v<T, uint16_t>; }
namespace asked {
// Traits of ones own, by partial specialisations and by what a class has.
template<class T,class=void> struct has_size:std::false_type{}; template<class T> struct has_size<T,std::void_t<decltype(std::declval<T>().size())>>:std::true_type{};
template<class T,std::enable_if_t<std::is_integral_v<T>,int> =0> int f(T){ return 1; } template<class T,std::enable_if_t<std::is_floating_point_v<T>,int> =0> int f(T){ return 2; } template<class T> auto f(T t)->std::enable_if_t<has_size<T>::value,int>{ return 3+t.size(); }
template<class T> using Ret=std::conditional_t<(sizeof(T)>2),uint64_t,uint32_t>; template<class T> Ret<T> wide(T t){ return Ret<T>(t)*65537; }
template<class T,class...U> inline constexpr bool one_of=(std::is_same_v<T,U>||...); template<class T> constexpr bool is_small=sizeof(T)<=2&&one_of<T,uint8_t,int8_t,uint16_t>; struct B{ static constexpr int n=7; }; struct C{}; template<class T> constexpr auto n_of(int)->decltype(T::n){ return T::n; } template<class T> constexpr int n_of(...){ return -1; }
template<class T> struct traits{ static constexpr int id=0; }; template<> struct traits<float>{ static constexpr int id=1; }; template<class T> struct traits<T*>{ static constexpr int id=10+traits<T>::id; }; template<class T,size_t N> struct traits<T[N]>{ static constexpr int id=100*N+traits<T>::id; };
void notes() {
    note(f(1)); note(f(1.0f)); note(f(std::array<int,4>{})); note(has_size<int>::value); note(sizeof(wide(uint8_t(3)))); note(wide(3)); note(is_small<uint8_t>); note(is_small<int>); note(n_of<B>(0)); note(n_of<C>(0)); note(traits<float**>::id); note(traits<int[3]>::id); note(traits<float*[2]>::id); note(std::conjunction_v<std::true_type,has_size<std::array<int,1>>>); note(std::is_convertible_v<int,float>); note(std::is_base_of_v<C,B>); }
}  // namespace asked
void kernel_main() {
    note(next<>(65535)); note(next<uint32_t>(65535)); note(position<Order::Down, 10>(3)); note(twice<triple>(5));
    note(width<uint64_t>()); note(width<float>());
    note(move<100>(1)); note(move<100, false>(1, 2));
    Fetcher fetcher;
    note(fetcher.next<uint8_t>()); note(sum(fetcher));
    note(Copy<made<3>>{}.go()); note(Copy<input(4)>{}.go());
    note(both<input(5)>()); note(both<made<2>, input(7, 1)>());
    note(Narrow<static_cast<uint8_t>(300)>::value); note(is_operation<NoOperation>); note(is_operation<Fetcher>);
    note(same<pick(true)>()); note(same<pick(false, nullptr)>()); note(sizeof(std::array<int, pick(false)>));
    const volatile uint16_t* watched = nullptr; note(is_plain(watched)); note(is_plain((volatile uint16_t*)watched));
    asked::notes();
}
