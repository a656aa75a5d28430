"""The kernels of a product of matrices, and what the examples have in common."""

import numpy as np
import ttnn

from pykernel import *


class MatmulOp(PyKernelOp):
    """out = a @ b on `columns` by `rows` cores; tiles of the result go to them in turn."""

    def __init__(self, columns, rows):
        """An operation for so many cores."""
        super().__init__()
        self.columns, self.rows = columns, rows

    @reader_thread()
    def read(
        a: CircularBuffer, b: CircularBuffer, a_addr, b_addr, first,
        step: CompileTimeValue, tiles: CompileTimeValue, inner: CompileTimeValue,
        width: CompileTimeValue,
    ):  # fmt: skip
        a_tiles = TensorAccessor(TensorAccessorArgs(2, 0), a_addr, get_tile_size(a))
        b_tiles = TensorAccessor(TensorAccessorArgs(2, 0), b_addr, get_tile_size(b))
        for tile in range(first, tiles, step):
            row, column = tile // width, tile % width
            for k in range(inner):
                cb_reserve_back(a, 1)
                noc_async_read_tile(row * inner + k, a_tiles, get_write_ptr(a))
                cb_reserve_back(b, 1)
                noc_async_read_tile(k * width + column, b_tiles, get_write_ptr(b))
                noc_async_read_barrier()
                cb_push_back(a, 1)
                cb_push_back(b, 1)

    @compute_thread()
    def multiply(
        a: CircularBuffer, b: CircularBuffer, out: CircularBuffer, first,
        step: CompileTimeValue, tiles: CompileTimeValue, inner: CompileTimeValue,
    ):  # fmt: skip
        mm_init(a, b, out)
        for _ in range(first, tiles, step):
            tile_regs_acquire()
            for _ in range(inner):
                cb_wait_front(a, 1)
                cb_wait_front(b, 1)
                matmul_tiles(a, b, 0, 0, 0)
                cb_pop_front(a, 1)
                cb_pop_front(b, 1)
            tile_regs_commit()
            cb_reserve_back(out, 1)
            tile_regs_wait()
            pack_tile(0, out)
            tile_regs_release()
            cb_push_back(out, 1)

    @writer_thread()
    def write(out: CircularBuffer, addr, first, step: CompileTimeValue, tiles: CompileTimeValue):
        out_tiles = TensorAccessor(TensorAccessorArgs(1, 0), addr, get_tile_size(out))
        for tile in range(first, tiles, step):
            cb_wait_front(out, 1)
            noc_async_write_tile(tile, out_tiles, get_read_ptr(out))
            noc_async_write_barrier()
            cb_pop_front(out, 1)

    def define_core_ranges(self, tensors, options):
        """A rectangle of cores."""
        end = ttnn.CoreCoord(self.columns - 1, self.rows - 1)
        return ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), end)])

    def invoke(self, a, b, out):
        """Three kernels on each core, which differ in the first tile."""
        (m, n), k = (extent // 32 for extent in out.shape), a.shape[1] // 32
        cb_a, cb_b, cb_out = (self.create_cb(each, i) for i, each in enumerate((a, b, out)))
        first = [[x * self.rows + y for y in range(self.rows)] for x in range(self.columns)]
        share = {"step": self.columns * self.rows, "tiles": m * n}
        self.set_tensor_accessor_config([a])
        kernels = [
            self.create_kernel(MatmulOp.read, cb_a, cb_b, a, b, first, inner=k, width=n, **share),
            self.create_kernel(MatmulOp.multiply, cb_a, cb_b, cb_out, first, inner=k, **share),
            self.create_kernel(MatmulOp.write, cb_out, out, first, **share),
        ]
        return self.create_program(kernels, [cb_a, cb_b, cb_out])


def check_product(op, m, k, n):
    """Multiply matrices of small integers of so many tiles; the result is exact."""
    device = ttnn.open_device(device_id=0)
    rng = np.random.default_rng(2)
    a = rng.integers(-3, 4, (m * 32, k * 32)).astype(np.float32)
    b = rng.integers(-3, 4, (k * 32, n * 32)).astype(np.float32)
    tiled = {"layout": ttnn.TILE_LAYOUT, "device": device}
    x, y = (ttnn.Tensor(each).to(ttnn.TILE_LAYOUT).to(device) for each in (a, b))
    out = ttnn.zeros((m * 32, n * 32), ttnn.float32, **tiled)
    profile = op.profile(x, y, out)
    assert np.array_equal(ttnn.from_device(profile.output).to_numpy(), a @ b)
    return profile
