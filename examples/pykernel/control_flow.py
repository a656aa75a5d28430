"""Every form of control flow that kernels have, on integers: a core prints what Python does.

    python -m ttmlir examples/pykernel/control_flow.py

What is a plain function in Python is a part of the kernel on a core.
"""

import numpy as np
import ttnn

from pykernel import PyKernelOp, reader_thread

PRIMES = (2, 3, 5, 7, 11)
LIMIT = 30


def collatz(n):
    """Steps until 1."""
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def first_factor(n):
    """The least prime factor in the table; 0 if there is none."""
    for prime in PRIMES:
        if n % prime == 0:
            return prime
    return 0


def report(count):
    """Print some numbers; a kernel on a core, a plain function in Python."""
    squares = [0] * 6
    for i in range(len(squares)):
        squares[i] = i * i
    grid = [[1, 2, 3], [4, 5, 6]]
    total, odd = 0, 0
    for i in range(count):
        if i == 3:
            continue
        elif i > 7 and not total < LIMIT:
            break
        total += squares[i] if i < 6 else -1
        odd += 1 <= i % 4 < 3
    else:
        print("never left early")
    print(f"total {total}, odd {odd}")
    for row in grid:
        for x in row:
            total -= x
    for i in range(9, 0, -4):
        total, odd = odd, total + i
    print("after", total, odd, min(total, odd), max(total, odd, 7), abs(-total), 2**5)
    n = 0
    while True:
        n += 1
        if collatz(n) > 20 or (n in PRIMES and first_factor(n) == 11):
            break
    assert n > 0, "it has been counted up"
    print(f"{n}: {collatz(n)} steps, factor {first_factor(n)}, {-7 // 2} {-7 % 3} {n << 2 ^ 5}")


class Report(PyKernelOp):
    """A kernel that only prints."""

    @reader_thread()
    def kernel(count):
        report(count)

    def invoke(self, tensor, out):
        """One kernel, no circular buffers."""
        return self.create_program([self.create_kernel(Report.kernel, 12)], [])


if __name__ == "__main__":
    device = ttnn.open_device(device_id=0)
    x = ttnn.Tensor(np.zeros((32, 32), np.float32)).to(ttnn.TILE_LAYOUT).to(device)
    profile = Report().profile(x, x)
    print("Python:")
    report(12)
    print(profile)
