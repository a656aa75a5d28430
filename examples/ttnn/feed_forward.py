"""Two layers with a residual, in plain calls of ttnn, against NumPy.

    python -m ttmlir examples/ttnn/feed_forward.py

The operations are computed at once, in bfloat16; the residual is added by kernels, which the
simulator runs and times.
"""

from __future__ import annotations

import numpy as np
import ttnn
from kernel_sum import add_by_kernels

ROWS, WIDTH, HIDDEN = 100, 96, 200


def reference(x: np.ndarray, w1: np.ndarray, w2: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """What NumPy computes, with the tanh form of GELU, which is near the exact one."""
    hidden = x @ w1 + bias
    inner = np.sqrt(2 / np.pi) * (hidden + 0.044715 * hidden**3)
    return x + (0.5 * hidden * (1 + np.tanh(inner))) @ w2


def main() -> None:
    """Compute both, and compare."""
    rng = np.random.default_rng(0)
    shapes = (ROWS, WIDTH), (WIDTH, HIDDEN), (HIDDEN, WIDTH), (1, HIDDEN)
    arrays = [rng.normal(0, 0.1, shape).astype(np.float32) for shape in shapes]

    device = ttnn.open_device(device_id=0)
    x, w1, w2, bias = (
        ttnn.Tensor(array, ttnn.bfloat16, device, ttnn.TILE_LAYOUT) for array in arrays
    )
    hidden = ttnn.linear(x, w1, bias=bias, activation="gelu", memory_config=ttnn.L1_MEMORY_CONFIG)
    delta = ttnn.linear(hidden, w2)
    ttnn.deallocate(hidden)
    result, cycles = add_by_kernels(x, delta)

    pcc = ttnn.pearson_correlation_coefficient(reference(*arrays), result.cpu().to_numpy())
    print(ttnn.slice(result, [0, 0], [3, 3]))
    print(f"agrees with NumPy: PCC {pcc:.6f}")
    print(f"the sum of {ROWS}x{WIDTH} numbers took {cycles} cycles on one core")
    ttnn.close_device(device)
    assert pcc > 0.999


if __name__ == "__main__":
    main()
