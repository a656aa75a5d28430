constexpr uint32_t three = 3;
constexpr uint32_t table[2] = {1, 2};
