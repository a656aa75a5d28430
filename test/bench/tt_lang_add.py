"""Adds two matrices of 2048x2048 bf16 tile by tile in tt-lang-sim, and prints the CPU seconds.

Run by `simulation.py` with the `tt-lang-sim` of another project (PyPI, tt-lang-sim 1.1.6). The
program is `examples/metalium/eltwise_add.py` in its language: on one core one thread brings tiles
from DRAM to buffers of two tiles, one adds, one takes the sums to DRAM. Neither library is
installed where this file is checked.
"""

import time

import torch
import ttl
import ttnn

EXTENT = 2048
TILES = EXTENT // 32
REPETITIONS = 3


@ttl.operation(grid=(1, 1))
def add_tiles(a: ttnn.Tensor, b: ttnn.Tensor, total: ttnn.Tensor) -> None:
    """Put a + b into `total`."""
    left = ttl.make_dataflow_buffer_like(a, shape=(1, 1), block_count=2)
    right = ttl.make_dataflow_buffer_like(b, shape=(1, 1), block_count=2)
    sums = ttl.make_dataflow_buffer_like(total, shape=(1, 1), block_count=2)

    @ttl.compute()
    def compute() -> None:
        for _ in range(TILES * TILES):
            with left.wait() as x, right.wait() as y, sums.reserve() as z:
                z.store(x + y)

    @ttl.datamovement()
    def read() -> None:
        for row in range(TILES):
            for column in range(TILES):
                with left.reserve() as x, right.reserve() as y:
                    first = ttl.copy(a[row, column], x)
                    second = ttl.copy(b[row, column], y)
                    first.wait()
                    second.wait()

    @ttl.datamovement()
    def write() -> None:
        for row in range(TILES):
            for column in range(TILES):
                with sums.wait() as z:
                    copy = ttl.copy(z, total[row, column])
                    copy.wait()


def main() -> None:
    """Add on the simulated device, compare with torch, print the time of the fastest run."""
    device = ttnn.open_device(device_id=0)
    torch.manual_seed(0)
    a, b = (torch.randn((EXTENT, EXTENT)).to(torch.bfloat16) for _ in range(2))
    tensors = [
        ttnn.from_torch(
            each,
            dtype=ttnn.bfloat16,
            layout=ttnn.TILE_LAYOUT,
            device=device,
            memory_config=ttnn.DRAM_MEMORY_CONFIG,
        )
        for each in (a, b, torch.zeros_like(a))
    ]
    times = []
    for _ in range(REPETITIONS):
        started = time.process_time()
        add_tiles(*tensors)
        times.append(time.process_time() - started)
    assert torch.allclose(ttnn.to_torch(tensors[2]), a + b, rtol=1e-2, atol=1e-2)
    ttnn.close_device(device)
    print(min(times))


main()
