"""Softmax over the rows of a matrix in one program: no intermediate result leaves the cores.

    python -m ttmlir examples/pykernel/softmax.py

Three cores take nearly equal numbers of rows of tiles.
"""

from itertools import pairwise

import numpy as np
import ttnn
from tile_rows import exp_of_difference, multiply, reduce_row

from pykernel import *

ONE = 0x3F800000  # The bits of 1.0.


class Softmax(PyKernelOp):
    """Each core takes whole rows of tiles: maximum, exp of the difference, sum, quotient."""

    @reader_thread()
    def read(x: CircularBuffer, ones: CircularBuffer, addr, first, rows, width: CompileTimeValue):
        cb_reserve_back(ones, 1)
        words = reinterpret_cast(get_write_ptr(ones))
        for i in range(1024):
            words[i] = ONE
        cb_push_back(ones, 1)
        tiles = TensorAccessor(TensorAccessorArgs(2, 0), addr, get_tile_size(x))
        for tile in range(first * width, (first + rows) * width):
            cb_reserve_back(x, 1)
            noc_async_read_tile(tile, tiles, get_write_ptr(x))
            noc_async_read_barrier()
            cb_push_back(x, 1)

    @compute_thread()
    def compute(
        x: CircularBuffer, ones: CircularBuffer, largest: CircularBuffer, powers: CircularBuffer,
        total: CircularBuffer, out: CircularBuffer, rows, width: CompileTimeValue,
    ):  # fmt: skip
        binary_op_init_common(x, ones, out)
        cb_wait_front(ones, 1)
        for _ in range(rows):
            cb_wait_front(x, width)
            reduce_row(x, ones, largest, width, PoolType.MAX, False)
            cb_wait_front(largest, 1)
            exp_of_difference(x, largest, powers, width)
            cb_pop_front(x, width)
            cb_pop_front(largest, 1)
            cb_wait_front(powers, width)
            reduce_row(powers, ones, total, width, PoolType.SUM, True)
            cb_wait_front(total, 1)
            multiply(powers, total, out, width)
            cb_pop_front(powers, width)
            cb_pop_front(total, 1)

    @writer_thread()
    def write(out: CircularBuffer, addr, first, rows, width: CompileTimeValue):
        tiles = TensorAccessor(TensorAccessorArgs(1, 0), addr, get_tile_size(out))
        for tile in range(first * width, (first + rows) * width):
            cb_wait_front(out, 1)
            noc_async_write_tile(tile, tiles, get_read_ptr(out))
            noc_async_write_barrier()
            cb_pop_front(out, 1)

    def define_core_ranges(self, tensors, options):
        """A row of three cores."""
        return ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(2, 0))])

    def invoke(self, x, out):
        """Rows of tiles in nearly equal parts."""
        height, width = (extent // 32 for extent in x.shape)
        bounds = [height * core // 3 for core in range(4)]
        first, rows = [[each] for each in bounds[:3]], [[b - a] for a, b in pairwise(bounds)]
        pages = (2 * width, 1, 1, width, 1, 2)
        cbs = [self.create_cb(x, index, num_pages=each) for index, each in enumerate(pages)]
        self.set_tensor_accessor_config([x])
        kernels = [
            self.create_kernel(Softmax.read, cbs[0], cbs[1], x, first, rows, width=width),
            self.create_kernel(Softmax.compute, *cbs, rows, width=width),
            self.create_kernel(Softmax.write, cbs[5], out, first, rows, width=width),
        ]
        return self.create_program(kernels, cbs)


device = ttnn.open_device(device_id=0)
data = np.random.default_rng(3).normal(size=(4 * 32, 3 * 32)).astype(np.float32)
x = ttnn.Tensor(data).to(ttnn.TILE_LAYOUT).to(device)
out = ttnn.zeros(data.shape, ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
profile = Softmax().profile(x, out)
powers = np.exp(data - data.max(axis=1, keepdims=True))
difference = ttnn.from_device(profile.output).to_numpy() - powers / powers.sum(1, keepdims=True)
error = np.abs(difference).max()
assert error < 2e-3, error
print(f"{profile}; largest error {error:.1e}")
