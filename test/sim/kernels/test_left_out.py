"""Branches that `if constexpr` leaves out: their names exist, but in templates."""

from __future__ import annotations

import pytest
from oracles.kernel_oracle import noted

from ttmlir.cpp.errors import CppSyntaxError


def test_names_of_a_branch_exist() -> None:
    """Those of the kernel, of the branch itself, of the library and what is printed."""
    body = """
template <typename T> uint32_t of(T x) {
    if constexpr (sizeof(T) > 8) { return nowhere(x); }
    return 5;
}
static uint32_t outside = 3;
void kernel_main() {
    if constexpr (sizeof(int) == 8) {
        auto twice = [](uint32_t each) { return 2 * each; };
        auto [a, b] = std::pair<uint32_t, uint32_t>{1, outside};
        for (uint32_t i = 0; i < a; ++i) { DPRINT << twice(i) << std::min(a, b) << ENDL(); }
        ASSERT(__builtin_ctz(a) == 0);
    } else {
        note(of(7));
    }
}
"""
    assert noted(body) == [5]


def test_values_of_a_branch_are_not_computed() -> None:
    """Divisions by zero and places outside of arrays are no mistakes there."""
    body = """
constexpr uint32_t zero = 0;
template <uint32_t N> uint32_t product() {
    constexpr uint32_t before = N - 1;
    if constexpr (N == 0) return 1; else if constexpr (N == 1) return before + 1;
    else return N * product<before>();
}
template <bool known> uint32_t of(uint32_t x) {
    if constexpr (known) { uint32_t y = x; x = y / zero; }
    return x;
}
void kernel_main() {
    uint32_t values[2] = {1, 2};
    for (uint32_t i = 0; i < 2; ++i) {
        if constexpr (zero != 0) { note(values[4 / zero]); values[7] = 1; if (i) continue; break; }
        note(of<false>(values[i]));
    }
    note(product<4>());
}
"""
    assert noted(body) == [1, 2, 24]


@pytest.mark.parametrize(
    ("branch", "message"),
    [
        ("uint32_t x = 4; note(x + y);", "'y' is not declared"),
        ("std::pair<int, int> p{1, 2}; p.third = 3;", "has no member 'third'"),
        ("int x = nullptr;", "nullptr is a pointer"),
        ("twice(1, 2);", "'twice' takes 1 argument, not 2"),
        ("for (int i = 0; i < 3; ++i) { if (i == 1) continue; i.k = 2; }", "'int' has no members"),
        ("noc_async_read_barier();", "did you mean 'noc_async_read_barrier'"),
    ],
)
def test_what_does_not_exist_is_said(branch: str, message: str) -> None:
    """As the compiler does it, which looks names up where they are written."""
    outside = "int twice(int x) { return x; }"
    branch = f"if constexpr (sizeof(int) == 8) {{ {branch} }}"
    with pytest.raises(CppSyntaxError, match=message):
        noted(f"{outside}\nvoid kernel_main() {{ {branch} note(1); }}")
