"""Integers of 32 bits, and numbers that are wrong only where the kernel does not come."""

from __future__ import annotations

from pathlib import Path

import pytest
from oracles.kernel_oracle import run_by_gcc
from oracles.python_oracle import ARGUMENTS, by_python, by_simulator, compiled
from running.python_source import load_module

from ttmlir.frontend.pykernel.errors import PyKernelError
from ttmlir.frontend.pykernel.kernels import reader_thread

OVERFLOWS = """
    for i in range(40, 47):
        x = i * 70001 * 32003
        least = abs(i * 0 - 2147483648)
        print(x // 7, x % 7, (i + 2147483640) // 5, least // 7, least % 7)
        x += x
        x *= -x
        print(x, -x, ~x, x << 3, x >> 3, x // 8, x % 8, x // -7, x % -7)
"""
LARGE = """
    most = 4294967295
    high = 2147483648
    print(most >> 4, high >> 31, most // 7, most % 7, high // 3, 700 // high, most == -1)
    for i in range(2):
        most -= 1
    print(most // 5, most % 5)
"""
EXCLUDED = """
    n = 0
    x = get_arg_val(int, 1)
    if x > 0 and n != 0:
        print(10 // n, x // n, 10 % n)
    if n > 0 or x > 0:
        print(10 // n)
    for i in range(n):
        for j in range(0, 10, n):
            print(10 // n, T[n - 9])
    while n != 0 and x < 0:
        print(5 << (n - 1), x >> (n - 1), 2 ** (n - 1))
        break
    if x > 0:
        assert n > 0
    y = x // n if n else 7
    print(y, (n != 0 and 10 // n > 1), ZERO and x // ZERO)
    print(half(10, n))
"""
HEAD = """ZERO = 0
T = (1, 2)
def half(a, b):
    if b == 0:
        return a
    return a // b
def kernel():"""


@pytest.mark.parametrize("body", [OVERFLOWS, LARGE, EXCLUDED], ids=["overflow", "large", "never"])
def test_cpython_with_32_bits_agrees(body: str, tmp_path: Path) -> None:
    """So do the simulator and g++."""
    text = HEAD + body
    kernel = compiled(text)
    if body is not LARGE:
        assert by_simulator(kernel) == by_python(text)
    assert run_by_gcc([kernel], ARGUMENTS, tmp_path) == [by_simulator(kernel)]


def test_constants_of_32_bits_are_numbers_with_sign() -> None:
    """A name holds the bits of its constant."""
    assert by_simulator(compiled(HEAD + LARGE)) == [
        *(-1, -1, -1, 6, -715827883, -1, 1),
        *(-1, 2),
    ]


REACHED = [
    ("print(x // n)", "kernel.py:5:15: error: division by zero"),
    ("print(10 % n)", "kernel.py:5:15: error: division by zero"),
    ("print(1 << (n - 1))", "kernel.py:5:15: error: integers have 32 bits; they can be shifted by"),
    (
        "print(2 ** (n - 1))",
        "kernel.py:5:15: error: an exponent is an integer from 0 to 31, not -1",
    ),
    ("print(T[n - 3])", "kernel.py:5:17: error: index -3 is outside of the 2 elements"),
    (
        "for i in range(1, 5, n): pass",
        "kernel.py:5:30: error: the step of range(...) must not be 0",
    ),
    ("if x: print(x // 0)", "kernel.py:5:21: error: division by zero"),
    ("if x: print(x << -1)", "kernel.py:5:21: error: integers have 32 bits; they can be"),
    ("if x: print(T[5])", "kernel.py:5:23: error: index 5 is outside of the 2 elements"),
]


@pytest.mark.parametrize(("line", "message"), REACHED)
def test_what_is_always_wrong_is_refused(line: str, message: str) -> None:
    """Where the kernel always comes, and for numbers that are written there."""
    text = f"T = (1, 2)\n@reader_thread()\ndef kernel(x):\n        n = 0\n        {line}\n"
    with pytest.raises(PyKernelError) as error:
        load_module(text, "kernel.py", reader_thread=reader_thread)["kernel"](1)
    assert str(error.value).startswith(message)


def test_a_kernel_that_comes_there_stops() -> None:
    """What is not excluded is an assertion that does not hold."""
    text = f"{HEAD}\n    n = 0\n    if get_arg_val(int, 1) < 0:\n        print(10 // n)\n"
    with pytest.raises(AssertionError, match="does not hold"):
        by_simulator(compiled(text))
