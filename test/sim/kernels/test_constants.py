"""Macros, constants and conditions of switches."""

from __future__ import annotations

import pytest
from oracles.kernel_oracle import run

MACROS = {
    "NOC_0": 0,
    "NOC_1": 1,
    "INT32_MAX": 2147483647,
    "INT32_MIN": -2147483648,
    "UINT8_MAX": 255,
    "UINT16_MAX": 65535,
    "UINT32_MAX": 4294967295,
}


@pytest.mark.parametrize("name", MACROS)
def test_macros(name: str) -> None:
    """Their numbers, and whether arithmetic with them is unsigned."""
    assert run(f"void kernel_main() {{ note({name}); }}").noted == [MACROS[name]]
    unsigned = name == "UINT32_MAX"
    below = run(f"void kernel_main() {{ note({name} * 0 - 1 < 0); }}").noted
    assert list(map(bool, below)) == [not unsigned]


@pytest.mark.parametrize("number", range(5))
def test_conditions_of_switches_are_evaluated_once(number: int) -> None:
    """However many cases they are compared with."""
    text = """void kernel_main() {
        int n = get_arg_val<int>(0);
        switch (n++) {
            case 3: note(30);
            case 1: note(10); break;
            case 2: note(20); break;
            default: note(90);
        }
        note(n);
    }"""
    cases = {1: [10], 2: [20], 3: [30, 10]}
    assert run(text, number).noted == [*cases.get(number, [90]), number + 1]
