"""A function of five calls of ttnn as one kernel, among plain calls of ttnn.

python examples/jit/cosh.py
"""

from __future__ import annotations

# First of all: it makes `import ttnn` find simulated devices where no ttnn is installed.
import ttnn_jit  # isort: skip

import numpy as np
import ttnn


@ttnn_jit.jit()
def cosh(input_tensor: ttnn.Tensor) -> ttnn.Tensor:
    """Half the sum of two powers of e."""
    e_pos_x = ttnn.exp(input_tensor)
    e_neg_x = ttnn.exp(ttnn.neg(input_tensor))
    nr_term = ttnn.add(e_pos_x, e_neg_x)
    return ttnn.multiply(nr_term, 0.5)


def model(input_tensor: ttnn.Tensor) -> ttnn.Tensor:
    """The logarithm of cosh of the square."""
    x = ttnn.square(input_tensor)
    y = cosh(x)
    return ttnn.log(y)


def main() -> None:
    """Compute it, count the programs of kernels, and compare with NumPy."""
    device = ttnn.open_device(device_id=0)
    numbers = np.linspace(-1.5, 1.5, 300 * 200, dtype=np.float32).reshape(300, 200)
    tensor = ttnn.Tensor(numbers, ttnn.bfloat16, device, ttnn.TILE_LAYOUT)
    result = ttnn.to_numpy(model(tensor).cpu()).astype(np.float32)
    reports = device.command_queue().reports
    print(f"cosh is {len(reports)} kernel launch of {reports[0].cycles} cycles")
    correlation = np.corrcoef(result.ravel(), np.log(np.cosh(numbers**2)).ravel())[0, 1]
    print(f"agrees with NumPy: PCC {correlation:.5f}")
    ttnn.close_device(device)


if __name__ == "__main__":
    main()
