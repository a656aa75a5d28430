"""The sum of two vectors of tiles on 2x2 cores: each core adds a part of the tiles.

    python -m ttmlir examples/pykernel/vector_add.py

There are 15 tiles, so that the parts differ.
"""

import numpy as np
import ttnn

from pykernel import (
    CircularBuffer,
    PyKernelOp,
    compute_thread,
    reader_thread,
    writer_thread,
)


class VectorAdd(PyKernelOp):
    """Run-time arguments say which tiles a core adds; tensor accessors say where they lie."""

    @reader_thread()
    def read(a: CircularBuffer, b: CircularBuffer, a_addr, b_addr, first, count):
        tile_bytes = get_tile_size(a)
        layout = TensorAccessorArgs(2, 0)
        a_tiles = TensorAccessor(layout, a_addr, tile_bytes)
        b_tiles = TensorAccessor(layout, b_addr, tile_bytes)
        for tile in range(first, first + count):
            cb_reserve_back(a, 1)
            cb_reserve_back(b, 1)
            noc_async_read_tile(tile, a_tiles, get_write_ptr(a))
            noc_async_read_tile(tile, b_tiles, get_write_ptr(b))
            noc_async_read_barrier()
            cb_push_back(a, 1)
            cb_push_back(b, 1)

    @compute_thread()
    def add(a: CircularBuffer, b: CircularBuffer, out: CircularBuffer, count):
        binary_op_init_common(a, b, out)
        add_tiles_init(a, b)
        for _ in range(count):
            cb_wait_front(a, 1)
            cb_wait_front(b, 1)
            tile_regs_acquire()
            add_tiles(a, b, 0, 0, 0)
            tile_regs_commit()
            cb_pop_front(a, 1)
            cb_pop_front(b, 1)
            cb_reserve_back(out, 1)
            tile_regs_wait()
            pack_tile(0, out)
            tile_regs_release()
            cb_push_back(out, 1)

    @writer_thread()
    def write(out: CircularBuffer, addr, first, count):
        tiles = TensorAccessor(TensorAccessorArgs(1, 0), addr, get_tile_size(out))
        for tile in range(first, first + count):
            cb_wait_front(out, 1)
            noc_async_write_tile(tile, tiles, get_read_ptr(out))
            noc_async_write_barrier()
            cb_pop_front(out, 1)

    def define_core_ranges(self, tensors, options):
        """2x2 cores."""
        return ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 1))])

    def invoke(self, a, b, out):
        """Tiles in nearly equal parts, `[x][y]`."""
        tiles, parts = a.volume() // 1024, 4
        bounds = [tiles * part // parts for part in range(parts + 1)]
        first, count = self.create_rt_args(), self.create_rt_args()
        for part in range(parts):
            x, y = part % 2, part // 2
            first[x][y], count[x][y] = bounds[part], bounds[part + 1] - bounds[part]
        cb_a, cb_b, cb_out = (self.create_cb(each, i) for i, each in enumerate((a, b, out)))
        self.set_tensor_accessor_config([a])
        kernels = [
            self.create_kernel(VectorAdd.read, cb_a, cb_b, a, b, first, count),
            self.create_kernel(VectorAdd.add, cb_a, cb_b, cb_out, count),
            self.create_kernel(VectorAdd.write, cb_out, out, first, count),
        ]
        return self.create_program(kernels, [cb_a, cb_b, cb_out])


if __name__ == "__main__":
    device = ttnn.open_device(device_id=0)
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-99, 99, (5 * 32, 3 * 32)).astype(np.float32) for _ in range(2))
    tiled = {"layout": ttnn.TILE_LAYOUT, "device": device}
    x, y = (ttnn.Tensor(each).to(ttnn.TILE_LAYOUT).to(device) for each in (a, b))
    out = ttnn.zeros(a.shape, ttnn.float32, **tiled)
    profile = VectorAdd().profile(x, y, out)
    assert np.array_equal(ttnn.from_device(profile.output).to_numpy(), a + b)
    print(profile)
