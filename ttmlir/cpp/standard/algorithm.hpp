// find find_if count count_if all_of any_of none_of for_each fill fill_n copy copy_n transform equal reverse sort lower_bound upper_bound max_element min_element accumulate iota clamp gcd lcm
namespace std {

template <typename I, typename F>
constexpr I find_if(I first, I last, F is_wanted) {
    while (first != last && !is_wanted(*first)) ++first;
    return first;
}

template <typename I, typename T>
constexpr I find(I first, I last, T value) {
    while (first != last && !(*first == value)) ++first;
    return first;
}

template <typename I, typename F>
constexpr int count_if(I first, I last, F is_wanted) {
    int count = 0;
    for (; first != last; ++first) {
        if (is_wanted(*first)) ++count;
    }
    return count;
}

template <typename I, typename T>
constexpr int count(I first, I last, T value) {
    int count = 0;
    for (; first != last; ++first) {
        if (*first == value) ++count;
    }
    return count;
}

template <typename I, typename F>
constexpr bool any_of(I first, I last, F is_wanted) {
    return std::find_if(first, last, is_wanted) != last;
}

template <typename I, typename F>
constexpr bool none_of(I first, I last, F is_wanted) {
    return std::find_if(first, last, is_wanted) == last;
}

template <typename I, typename F>
constexpr bool all_of(I first, I last, F is_wanted) {
    for (; first != last; ++first) {
        if (!is_wanted(*first)) return false;
    }
    return true;
}

template <typename I, typename F>
constexpr void for_each(I first, I last, F use) {
    for (; first != last; ++first) use(*first);
}

template <typename I, typename T>
constexpr void fill(I first, I last, T value) {
    for (; first != last; ++first) *first = value;
}

template <typename I, typename N, typename T>
constexpr I fill_n(I first, N count, T value) {
    for (N i = 0; i < count; ++i) *first++ = value;
    return first;
}

template <typename I, typename O>
constexpr O copy(I first, I last, O target) {
    while (first != last) *target++ = *first++;
    return target;
}

template <typename I, typename N, typename O>
constexpr O copy_n(I first, N count, O target) {
    for (N i = 0; i < count; ++i) *target++ = *first++;
    return target;
}

template <typename I, typename O, typename F>
constexpr O transform(I first, I last, O target, F make) {
    while (first != last) *target++ = make(*first++);
    return target;
}

template <typename I, typename J>
constexpr bool equal(I first, I last, J other) {
    for (; first != last; ++first, ++other) {
        if (!(*first == *other)) return false;
    }
    return true;
}

template <typename I>
constexpr void reverse(I first, I last) {
    while (first != last && first != --last) {
        auto before = *first;
        *first = *last;
        *last = before;
        ++first;
    }
}

template <typename I, typename F>
constexpr void sort(I first, I last, F is_less) {
    for (I next = first; next != last; ++next) {
        auto value = *next;
        I place = next;
        while (place != first && is_less(value, *(place - 1))) {
            *place = *(place - 1);
            --place;
        }
        *place = value;
    }
}

template <typename I>
constexpr void sort(I first, I last) {
    sort(first, last, [](const auto& a, const auto& b) { return a < b; });
}

template <typename I, typename T>
constexpr I lower_bound(I first, I last, T value) {
    while (first != last && *first < value) ++first;
    return first;
}

template <typename I, typename T>
constexpr I upper_bound(I first, I last, T value) {
    while (first != last && !(value < *first)) ++first;
    return first;
}

template <typename I>
constexpr I max_element(I first, I last) {
    I best = first;
    for (; first != last; ++first) {
        if (*best < *first) best = first;
    }
    return best;
}

template <typename I>
constexpr I min_element(I first, I last) {
    I best = first;
    for (; first != last; ++first) {
        if (*first < *best) best = first;
    }
    return best;
}

template <typename I, typename F>
constexpr I max_element(I first, I last, F is_less) {
    I best = first;
    for (; first != last; ++first) {
        if (is_less(*best, *first)) best = first;
    }
    return best;
}

template <typename I, typename F>
constexpr I min_element(I first, I last, F is_less) {
    I best = first;
    for (; first != last; ++first) {
        if (is_less(*first, *best)) best = first;
    }
    return best;
}

template <typename I, typename T>
constexpr T accumulate(I first, I last, T sum) {
    for (; first != last; ++first) sum = sum + *first;
    return sum;
}

template <typename I, typename T, typename F>
constexpr T accumulate(I first, I last, T sum, F join) {
    for (; first != last; ++first) sum = join(sum, *first);
    return sum;
}

template <typename I, typename T>
constexpr void iota(I first, I last, T value) {
    for (; first != last; ++first, ++value) *first = value;
}

template <typename T>
constexpr T clamp(T value, T low, T high) {
    return value < low ? low : high < value ? high : value;
}

template <typename T>
constexpr T gcd(T a, T b) {
    while (b != 0) {
        T rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

template <typename T>
constexpr T lcm(T a, T b) {
    return a == 0 || b == 0 ? 0 : a / std::gcd(a, b) * b;
}

}  // namespace std
