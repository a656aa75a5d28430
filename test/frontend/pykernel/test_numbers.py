"""Integers of 32 bits, and numbers that are wrong only where the kernel does not come."""

from __future__ import annotations

from pathlib import Path

import pytest
from oracles.kernel_oracle import run_by_gcc
from oracles.python_oracle import ARGUMENTS, by_python, by_simulator, compiled
from running.python_source import load_module

from ttmlir.frontend.pykernel.builder import PyKernelError
from ttmlir.frontend.pykernel.compilation import reader_thread

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
ARRAYS = """
    x = get_arg_val(int, 0)
    a: [int, 3] = [4, x, 6]
    b: [int, 2, 2] = [[1, x], [3, 4]]
    c = [x] * 3
    a[1] += b[1][0]
    c[2] = a[1] + a[2]
    for i in range(3):
        print(a[i], c[i])
    print(b[0][0], b[0][1], b[1][0], b[1][1])
"""
LOGICAL = """
    p, q = get_arg_val(int, 0), get_arg_val(int, 1)
    for n in range(2):
        print(n and p, n or p, n and p and q, n or n or q, n and q or p, (n or p) and q)
        print(p > 0 and n, p > 0 or n, p < 0 and n, p < 0 or n)
        print(int(p > q and n == 0), int(p < q or n == 1), int(p > q and q < 0 and n == 1))
        print(1 and p, 0 or p, 1 and 0 or q, 0 and p or n, p and 0, p or 0)
"""
HEAD = """ZERO = 0
T = (1, 2)
def half(a, b):
    if b == 0:
        return a
    return a // b
def kernel():"""


@pytest.mark.parametrize("body", [OVERFLOWS, LARGE, EXCLUDED, ARRAYS, LOGICAL])
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


def test_arrays_of_one_number() -> None:
    """Each element is the number; elements that are assigned to are others."""
    text = f"""{HEAD}
    x = get_arg_val(int, 0)
    a: [int, 4] = 7
    b: [int, 2, 3] = x
    c: [int, 2] = 0
    a[3] = 9
    b[1, 0] = 8
    for i in range(3):
        print(a[i], b[0, i], b[1, i])
    print(a[3], c[0], c[1])
"""
    assert by_simulator(compiled(text)) == [7, 5, 8, 7, 5, 5, 7, 5, 5, 9, 0, 0]


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
