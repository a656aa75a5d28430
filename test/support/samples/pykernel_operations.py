"""Operations in PyKernel that people write: each form of kernel once, on a few tiles."""

from itertools import pairwise

import ttmlir.ttnn as ttnn
from pykernel import (
    CircularBuffer,
    CompileTimeValue,
    PyKernelOp,
    compute_thread,
    reader_thread,
    writer_thread,
)

TILE = 32


def row_of_cores(count):
    """Cores side by side."""
    return ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(count - 1, 0))])


def split(total, cores):
    """Where the part of each core begins, and how long it is; the last may be shorter."""
    bounds = [min(-(-total // cores) * core, total) for core in range(cores + 1)]
    return [[each] for each in bounds[:-1]], [[b - a] for a, b in pairwise(bounds)]


class AddRow(PyKernelOp):
    """max(x + row, 0): a row that is broadcast, blocks of which the last core has fewer."""

    @reader_thread()
    def read(
        x: CircularBuffer, row: CircularBuffer, x_addr, row_addr, first, rows,
        width: CompileTimeValue,
    ):  # fmt: skip
        layout = TensorAccessorArgs(2, 0)
        tiles = TensorAccessor(layout, x_addr, get_tile_size(x))
        biases = TensorAccessor(layout, row_addr, get_tile_size(row))
        cb_reserve_back(row, width)
        where = get_write_ptr(row)
        for column in range(width):
            noc_async_read_tile(column, biases, where + column * get_tile_size(row))
        noc_async_read_barrier()
        cb_push_back(row, width)
        for tile in range(first * width, (first + rows) * width):
            cb_reserve_back(x, 1)
            noc_async_read_tile(tile, tiles, get_write_ptr(x))
            noc_async_read_barrier()
            cb_push_back(x, 1)

    @compute_thread()
    def add(
        x: CircularBuffer, row: CircularBuffer, out: CircularBuffer, rows, width: CompileTimeValue
    ):
        init_bcast(x, row, out, EltwiseBinaryType.ELWADD, BroadcastType.ROW)
        add_bcast_rows_init_short(x, row)
        relu_tile_init()
        cb_wait_front(row, width)
        for _ in range(rows):
            for column in range(width):
                cb_wait_front(x, 1)
                cb_reserve_back(out, 1)
                tile_regs_acquire()
                add_tiles_bcast_rows(x, row, 0, column, 0)
                relu_tile(0)
                tile_regs_commit()
                tile_regs_wait()
                pack_tile(0, out)
                tile_regs_release()
                cb_push_back(out, 1)
                cb_pop_front(x, 1)
        cb_pop_front(row, width)

    @writer_thread()
    def write(out: CircularBuffer, addr, first, rows, width: CompileTimeValue):
        tiles = TensorAccessor(TensorAccessorArgs(1, 0), addr, get_tile_size(out))
        for tile in range(first * width, (first + rows) * width):
            cb_wait_front(out, 1)
            noc_async_write_tile(tile, tiles, get_read_ptr(out))
            noc_async_write_barrier()
            cb_pop_front(out, 1)

    def define_core_ranges(self, tensors, options):
        return row_of_cores(2)

    def invoke(self, x, row, out):
        width = row.volume() // 1024
        first, rows = split(x.volume() // 1024 // width, 2)
        cbs = self.create_cb(x, 0), self.create_cb(row, 1, num_pages=width), self.create_cb(out, 2)
        self.set_tensor_accessor_config([x])
        return self.create_program(
            [
                self.create_kernel(AddRow.read, cbs[0], cbs[1], x, row, first, rows, width=width),
                self.create_kernel(AddRow.add, *cbs, rows, width=width),
                self.create_kernel(AddRow.write, cbs[2], out, first, rows, width=width),
            ],
            cbs,
        )


class SumRows(PyKernelOp):
    """The sum of each row, in the first column of a tile."""

    @reader_thread()
    def read(x: CircularBuffer, ones: CircularBuffer, addr, tiles):
        cb_reserve_back(ones, 1)
        words = reinterpret_cast(get_write_ptr(ones))
        for word in range(get_tile_size(ones) // 4):
            words[word] = 0x3F803F80
        cb_push_back(ones, 1)
        source = TensorAccessor(TensorAccessorArgs(2, 0), addr, get_tile_size(x))
        for tile in range(tiles):
            cb_reserve_back(x, 1)
            noc_async_read_tile(tile, source, get_write_ptr(x))
            noc_async_read_barrier()
            cb_push_back(x, 1)

    @compute_thread()
    def reduce(
        x: CircularBuffer, ones: CircularBuffer, out: CircularBuffer, rows, width: CompileTimeValue
    ):
        reduce_init(x, ones, out, PoolType.SUM, ReduceDim.REDUCE_ROW)
        cb_wait_front(ones, 1)
        for _ in range(rows):
            tile_regs_acquire()
            for _ in range(width):
                cb_wait_front(x, 1)
                reduce_tile(x, ones, 0, 0, 0, PoolType.SUM, ReduceDim.REDUCE_ROW)
                cb_pop_front(x, 1)
            tile_regs_commit()
            cb_reserve_back(out, 1)
            tile_regs_wait()
            pack_tile(0, out)
            tile_regs_release()
            cb_push_back(out, 1)
        cb_pop_front(ones, 1)

    @writer_thread()
    def write(out: CircularBuffer, addr, tiles):
        target = TensorAccessor(TensorAccessorArgs(1, 0), addr, get_tile_size(out))
        for tile in range(tiles):
            cb_wait_front(out, 1)
            noc_async_write_tile(tile, target, get_read_ptr(out))
            noc_async_write_barrier()
            cb_pop_front(out, 1)

    def invoke(self, x, out):
        tiles, rows = x.volume() // 1024, out.volume() // 1024
        cbs = [self.create_cb(x, 0), self.create_cb(x, 1, num_pages=1), self.create_cb(out, 2)]
        self.set_tensor_accessor_config([x])
        return self.create_program(
            [
                self.create_kernel(SumRows.read, cbs[0], cbs[1], x, tiles),
                self.create_kernel(SumRows.reduce, *cbs, rows, width=tiles // rows),
                self.create_kernel(SumRows.write, cbs[2], out, rows),
            ],
            cbs,
        )


class Linear(PyKernelOp):
    """max(a @ b + bias, 0); the product waits in a circular buffer of the compute kernel."""

    @reader_thread()
    def read(
        a: CircularBuffer, b: CircularBuffer, bias: CircularBuffer, a_addr, b_addr, bias_addr,
        height: CompileTimeValue, inner: CompileTimeValue, width: CompileTimeValue,
    ):  # fmt: skip
        layout = TensorAccessorArgs(3, 0)
        a_tiles = TensorAccessor(layout, a_addr, get_tile_size(a))
        b_tiles = TensorAccessor(layout, b_addr, get_tile_size(b))
        bias_tiles = TensorAccessor(layout, bias_addr, get_tile_size(bias))
        for row in range(height):
            for column in range(width):
                for k in range(inner):
                    cb_reserve_back(a, 1)
                    cb_reserve_back(b, 1)
                    noc_async_read_tile(row * inner + k, a_tiles, get_write_ptr(a))
                    noc_async_read_tile(k * width + column, b_tiles, get_write_ptr(b))
                    noc_async_read_barrier()
                    cb_push_back(a, 1)
                    cb_push_back(b, 1)
                cb_reserve_back(bias, 1)
                noc_async_read_tile(column, bias_tiles, get_write_ptr(bias))
                noc_async_read_barrier()
                cb_push_back(bias, 1)

    @compute_thread()
    def multiply(
        a: CircularBuffer, b: CircularBuffer, bias: CircularBuffer, product: CircularBuffer,
        out: CircularBuffer, tiles: CompileTimeValue, inner: CompileTimeValue,
    ):  # fmt: skip
        mm_init(a, b, out, 0)
        relu_tile_init()
        for _ in range(tiles):
            mm_init_short(a, b, 0)
            tile_regs_acquire()
            for _ in range(inner):
                cb_wait_front(a, 1)
                cb_wait_front(b, 1)
                matmul_tiles(a, b, 0, 0, 0, 0)
                cb_pop_front(a, 1)
                cb_pop_front(b, 1)
            tile_regs_commit()
            cb_reserve_back(product, 1)
            tile_regs_wait()
            pack_tile(0, product)
            tile_regs_release()
            cb_push_back(product, 1)
            cb_wait_front(product, 1)
            cb_wait_front(bias, 1)
            add_bcast_rows_init_short(product, bias)
            tile_regs_acquire()
            add_tiles_bcast_rows(product, bias, 0, 0, 0)
            relu_tile(0)
            tile_regs_commit()
            cb_pop_front(product, 1)
            cb_pop_front(bias, 1)
            cb_reserve_back(out, 1)
            tile_regs_wait()
            pack_tile(0, out)
            tile_regs_release()
            cb_push_back(out, 1)

    def invoke(self, a, b, bias, out):
        width, inner = bias.volume() // 1024, b.volume() // 1024 // (bias.volume() // 1024)
        tiles = out.volume() // 1024
        cbs = [self.create_cb(each, i) for i, each in enumerate((a, b, bias))]
        cbs += [self.create_cb(out, 3, num_pages=1), self.create_cb(out, 4)]
        self.set_tensor_accessor_config([a])
        return self.create_program(
            [
                self.create_kernel(
                    Linear.read, *cbs[:3], a, b, bias,
                    height=tiles // width, inner=inner, width=width,
                ),
                self.create_kernel(Linear.multiply, *cbs, tiles=tiles, inner=inner),
                self.create_kernel(SumRows.write, cbs[4], out, tiles),
            ],
            cbs,
        )  # fmt: skip


def clamp(value, least, most):
    """The nearest number within two others."""
    if value < least:
        return least
    return most if value > most else value


class Gather(PyKernelOp):
    """Tiles of a table, chosen by the first numbers of an index tile; indices are clamped."""

    @reader_thread()
    def read(
        index: CircularBuffer, tile: CircularBuffer, index_addr, table_addr, count, most,
    ):  # fmt: skip
        indices = get_interleaved_addr_gen_fast(
            True, index_addr, get_tile_size(index), get_dataformat(index)
        )
        table = get_interleaved_addr_gen_fast(
            True, table_addr, get_tile_size(tile), get_dataformat(tile)
        )
        cb_reserve_back(index, 1)
        where = get_write_ptr(index)
        noc_async_read_tile(0, indices, where)
        noc_async_read_barrier()
        words = reinterpret_cast(where)
        position = 0
        while True:
            if position >= count:
                break
            chosen = words[position]
            position += 1
            if chosen == -1:
                continue
            cb_reserve_back(tile, 1)
            noc_async_read_tile(clamp(chosen, 0, most), table, get_write_ptr(tile))
            noc_async_read_barrier()
            cb_push_back(tile, 1)

    def invoke(self, index, table, out, count):
        tiles = out.volume() // 1024
        cb_index, cb_tile = self.create_cb(index, 0, num_pages=1), self.create_cb(table, 1)
        most = table.volume() // 1024 - 1
        return self.create_program(
            [
                self.create_kernel(Gather.read, cb_index, cb_tile, index, table, count, most),
                self.create_kernel(
                    SumRows.write, cb_tile, out, tiles, tensor_accessor_configs=[out]
                ),
            ],
            [cb_index, cb_tile],
        )


class Share(PyKernelOp):
    """One core reads tiles and sends each to all others, two at a time; all write them out."""

    @reader_thread()
    def read(
        cb: CircularBuffer, addr, tiles, is_sender, corners, receivers: CompileTimeValue,
        block: CompileTimeValue,
    ):  # fmt: skip
        source = TensorAccessor(TensorAccessorArgs(1, 0), addr, get_tile_size(cb))
        ready, sent = get_semaphore(0), get_semaphore(1)
        ready_word, sent_word = reinterpret_cast(ready), reinterpret_cast(sent)
        x, y, last_x, last_y = corners & 255, corners >> 8 & 255, corners >> 16 & 255, corners >> 24
        size = block * get_tile_size(cb)
        for first in range(0, tiles, block):
            cb_reserve_back(cb, block)
            where = get_write_ptr(cb)
            if is_sender:
                for i in range(block):
                    noc_async_read_tile(first + i, source, where + i * get_tile_size(cb))
                noc_async_read_barrier()
                noc_semaphore_wait(ready_word, receivers)
                noc_semaphore_set(ready_word, 0)
                noc_async_write_multicast(
                    where, get_noc_multicast_addr(x, y, last_x, last_y, where), size, receivers
                )
                noc_semaphore_set(sent_word, 1)
                noc_semaphore_set_multicast(
                    sent, get_noc_multicast_addr(x, y, last_x, last_y, sent), receivers
                )
                noc_async_write_barrier()
            else:
                noc_semaphore_set(sent_word, 0)
                noc_semaphore_inc(get_noc_addr(x - 1, y, ready), 1)
                noc_semaphore_wait(sent_word, 1)
                noc_async_atomic_barrier()
            cb_push_back(cb, block)

    @writer_thread()
    def write(cb: CircularBuffer, addr, tiles, first):
        target = TensorAccessor(TensorAccessorArgs(1, 0), addr, get_tile_size(cb))
        for tile in range(tiles):
            cb_wait_front(cb, 1)
            noc_async_write_tile(first + tile, target, get_read_ptr(cb))
            noc_async_write_barrier()
            cb_pop_front(cb, 1)

    def define_core_ranges(self, tensors, options):
        return row_of_cores(3)

    def invoke(self, x, out):
        tiles, cores = x.volume() // 1024, self.get_core_ranges()
        first_receiver, last = (
            x.device().worker_core_from_logical_core(ttnn.CoreCoord(column, 0)) for column in (1, 2)
        )
        corners = first_receiver.x | first_receiver.y << 8 | last.x << 16 | last.y << 24
        cb = self.create_cb(x, 0, num_pages=4)
        self.set_tensor_accessor_config([x])
        return self.create_program(
            [
                self.create_kernel(
                    Share.read, cb, x, tiles, [[1], [0], [0]], corners, receivers=2, block=2
                ),
                self.create_kernel(Share.write, cb, out, tiles, [[0], [tiles], [2 * tiles]]),
            ],
            [cb],
            [ttnn.SemaphoreDescriptor(id=i, core_ranges=cores) for i in range(2)],
        )
