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


@pytest.mark.parametrize(
    ("branch", "message"),
    [
        ("uint32_t x = 4; note(x + y);", "'y' is not declared"),
        ("noc_async_read_barier();", "did you mean 'noc_async_read_barrier'"),
    ],
)
def test_what_does_not_exist_is_said(branch: str, message: str) -> None:
    """As the compiler does it, which looks names up where they are written."""
    with pytest.raises(CppSyntaxError, match=message):
        noted(f"void kernel_main() {{ if constexpr (sizeof(int) == 8) {{ {branch} }} note(1); }}")
