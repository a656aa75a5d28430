// Algorithms
// Those of `<algorithm>` and `<numeric>` over arrays and `std::array`.
void kernel_main() {
    uint32_t b[5] = {4, 1, 3, 9, 3};
    note(std::find(b, b + 5, 9u) - b); note(std::find(b, b + 3, 9u) == b + 3);
    note(std::count(b, b + 5, 3u)); note(std::accumulate(b, b + 5, 0u));
    note(*std::max_element(b, b + 5)); note(std::min_element(b, b + 5) - b);
    note(std::all_of(b, b + 5, [](uint32_t x) { return x > 0; }));
    note(std::any_of(b, b + 5, [](uint32_t x) { return x > 10; }));
    note(std::none_of(b, b + 5, [](uint32_t x) { return x > 10; }));
    note(std::count_if(b, b + 5, [](uint32_t x) { return x % 2; }));
    note(std::find_if(b, b + 5, [](uint32_t x) { return x == 3; }) - b);
    note(std::accumulate(b, b + 5, 1, [](int x, int y) { return x * 2 + y; }));
    std::sort(b, b + 5);
    for (auto x : b) { note(x); }
    note(std::lower_bound(b, b + 5, 4u) - b); note(std::upper_bound(b, b + 5, 3u) - b);
    std::array<int, 3> a;
    std::fill(a.begin(), a.end(), 7); note(a[2]);
    std::copy(b, b + 3, a.begin()); note(a[1]);
    std::reverse(a.begin(), a.end()); note(a[0]);
    std::iota(b, b + 5, 10u); note(b[4]);
    std::transform(b, b + 3, b, [](uint32_t x) { return x * 2; }); note(b[0]);
    uint32_t sum = 0;
    std::for_each(b, b + 2, [&](uint32_t x) { sum += x; }); note(sum);
    note(std::equal(b, b + 2, b)); note(std::equal(b, b + 2, b + 1));
    std::fill_n(b, 2, 5u); std::copy_n(b, 2, b + 2); note(b[3]);
    note(std::clamp(9, 1, 5)); note(std::clamp(-2, 1, 5)); note(std::gcd(12, 18)); note(std::lcm(4, 6));
    const uint32_t* end = b + 5;
    for (uint32_t* p = b; p < end; ++p) { note(*p); }
    for (auto p = b; p != end; p += 5) { note(*p); }
    note(*std::max_element(b, b + 5, [](uint32_t x, uint32_t y) { return x > y; }));
    note(*std::min_element(std::begin(b), std::end(b), [](uint32_t x, uint32_t y) { return x > y; }));
    note(std::distance(b, std::next(b, 2))); note(std::size(b)); note(*std::begin(a));
    int down[] = {3, 1, 4, 1, 5}; std::sort(down, down + 5, [](int a, int b) { return a > b; });
    note(down[0] * 100 + down[1] * 10 + down[4]); std::sort(down + 1, down + 4); note(down[1] * 10 + down[3]);
}
