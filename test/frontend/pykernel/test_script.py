"""`PyKernelOp.save`: an operation as a script for cards."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from running.randomness import TestGenerator

from pykernel import CircularBuffer, PyKernelOp, compute_thread, reader_thread, writer_thread
from ttmlir import ttnn
from ttmlir.errors import NotSupportedError, UsageError
from ttmlir.program import DescriptionError

_GENERATOR = TestGenerator(__name__)
_CORES = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(0, 1))])


class AddShards(PyKernelOp):
    """x + y: x from DRAM, y the shards of two cores; the cores go one after the other."""

    @reader_thread()
    def read(a: CircularBuffer, b: CircularBuffer, addr, first, noc_x, noc_y, turn):
        tiles = TensorAccessor(TensorAccessorArgs(2, 0), addr, get_tile_size(a))
        if first == 0:
            noc_semaphore_inc(get_noc_addr(noc_x, noc_y, get_semaphore(turn)), 1)
        else:
            noc_semaphore_wait(reinterpret_cast(get_semaphore(turn)), 6)
        cb_reserve_back(b, 2)
        cb_push_back(b, 2)
        for tile in range(first, first + 2):
            cb_reserve_back(a, 1)
            noc_async_read_tile(tile, tiles, get_write_ptr(a))
            noc_async_read_barrier()
            cb_push_back(a, 1)

    @compute_thread()
    def add(a: CircularBuffer, b: CircularBuffer, out: CircularBuffer):
        binary_op_init_common(a, b, out)
        add_tiles_init(a, b)
        cb_wait_front(b, 2)
        for tile in range(2):
            cb_wait_front(a, 1)
            tile_regs_acquire()
            add_tiles(a, b, 0, tile, 0)
            tile_regs_commit()
            cb_pop_front(a, 1)
            cb_reserve_back(out, 1)
            tile_regs_wait()
            pack_tile(0, out)
            tile_regs_release()
            cb_push_back(out, 1)

    @writer_thread()
    def write(out: CircularBuffer, addr, first):
        tiles = TensorAccessor(TensorAccessorArgs(1, 0), addr, get_tile_size(out))
        for tile in range(first, first + 2):
            cb_wait_front(out, 1)
            noc_async_write_tile(tile, tiles, get_read_ptr(out))
            noc_async_write_barrier()
            cb_pop_front(out, 1)

    def define_core_ranges(self, tensors: Any, options: Any) -> Any:
        """Two cores, one below the other."""
        return _CORES

    def invoke(self, x: Any, shards: Any, out: Any, offset: int = 0) -> Any:
        """The second core waits for the first, whose coordinates the chip says."""
        second = x.device().worker_core_from_logical_core(ttnn.CoreCoord(0, 1))
        a, result = self.create_cb(x, 0, num_pages=2), self.create_cb(out, 2, num_pages=2)
        b = self.create_cb(shards, 1)
        first = [[0, 2]]
        self.set_tensor_accessor_config([x])
        read = self.create_kernel(
            AddShards.read, a, b, x.buffer_address() + offset, first, second.x, second.y, 3
        )
        kernels = [
            read,
            self.create_kernel(AddShards.add, a, b, result),
            self.create_kernel(AddShards.write, result, out, first),
        ]
        queue = ttnn.cb_descriptor_from_sharded_tensor(1, shards)
        turn = ttnn.SemaphoreDescriptor(id=3, core_ranges=_CORES, initial_value=5)
        return self.create_program(kernels, [a, queue, result], [turn])


def _tensor(array: Any, dtype: Any, device: Any, memory: Any = ttnn.DRAM_MEMORY_CONFIG) -> Any:
    made = ttnn.Tensor(array, dtype, layout=ttnn.TILE_LAYOUT)
    return ttnn.to_device(made, device, memory_config=memory)


def _operands() -> tuple[list[np.ndarray[Any, Any]], list[Any]]:
    device = ttnn.open_device(device_id=0)
    arrays = [_GENERATOR.integers(-9, 9, (64, 64)).astype(np.float32) for _ in range(3)]
    memory = ttnn.MemoryConfig(
        ttnn.TensorMemoryLayout.HEIGHT_SHARDED,
        ttnn.BufferType.L1,
        ttnn.ShardSpec(_CORES, [32, 64], ttnn.ShardOrientation.ROW_MAJOR),
    )
    memories = (ttnn.DRAM_MEMORY_CONFIG, memory, ttnn.DRAM_MEMORY_CONFIG)
    made = [
        _tensor(array, ttnn.bfloat16, device, each)
        for array, each in zip(arrays, memories, strict=True)
    ]
    return arrays, made


def test_script_computes_what_the_operation_does(tmp_path: Path) -> None:
    """On other numbers and at other addresses, with shards, semaphores and lists for each core."""
    (a, b, _), tensors = _operands()
    script = AddShards().save(tmp_path / "kernels.py", *tensors)
    assert np.array_equal(ttnn.from_device(tensors[2]).to_torch().float().numpy(), a + b)
    text = script.read_text(encoding="utf-8")
    assert "def forward(x: Any, shards: Any, out: Any, device: Any) -> Any:" in text
    assert str(tensors[0].buffer_address()) not in text
    # Coordinates of cores are those of one chip.
    assert 'ARCH, GRID, DRAM_BANKS = "wormhole_b0", (8, 8), 12' in text
    module = SimpleNamespace(**runpy.run_path(str(script)))
    device = ttnn.open_device(device_id=0)
    # What is there moves the tensors of the script.
    other = _tensor(a, ttnn.bfloat16, device)
    result = module.forward(3 * a, b, a, device)
    assert np.array_equal(module.to_array(result), 3 * a + b)
    assert np.array_equal(module.to_array(other), a)
    assert module.compare(0, module.to_array(module.main(device)), 0.99)


def test_a_program_that_is_alike_on_all_boards_says_how_many_cores(tmp_path: Path) -> None:
    """And stops where there are less."""

    class Print(PyKernelOp):
        @reader_thread()
        def kernel(count):
            print(count)

        def define_core_ranges(self, tensors: Any, options: Any) -> Any:
            """The last core of a row."""
            corner = ttnn.CoreCoord(7, 2)
            return ttnn.CoreRangeSet([ttnn.CoreRange(corner, corner)])

        def invoke(self, *tensors: Any) -> Any:
            return self.create_program([self.create_kernel(Print.kernel, 12)], [])

    _, (x, *_) = _operands()
    # A tensor that is given twice is one.
    script = Print().save(tmp_path / "kernels.py", x, x)
    text = script.read_text(encoding="utf-8")
    assert "GRID = (8, 3)" in text
    assert "def forward(tensors_0: Any, device: Any) -> Any:" in text
    assert "ttnn.generic_op([tensors_0, tensors_0], program)" in text


def test_programs_that_are_no_scripts(tmp_path: Path) -> None:
    """Each is refused with what helps, and leaves no file."""
    _, tensors = _operands()
    x, _, out = tensors

    class Other(AddShards):
        @reader_thread()
        def two(a: CircularBuffer, addr):
            tiles = TensorAccessor(TensorAccessorArgs(2, 0), addr, get_tile_size(a))
            noc_async_read_tile(0, tiles, get_write_ptr(a))

        def invoke(self, x: Any, out: Any, kind: str) -> Any:
            made = self.create_cb(x, 0, num_pages=2)
            layouts = {"flags": 2, "two": [x, x]}.get(kind, [x])
            self.set_tensor_accessor_config(layouts)
            cbs = [made] if kind == "two" else [made, self.create_cb(out, 1)]
            kernel = Other.two if kind == "two" else AddShards.read
            numbers = () if kind == "two" else (0, 1, 2, 3)
            read = self.create_kernel(kernel, *cbs, x, *numbers)
            if kind == "processor":
                read.config = ttnn.DataMovementConfigDescriptor()
            if kind == "names":
                read.named_compile_time_args = [("width", 3)]
            if kind == "shared":
                form = made.cb_format
                made = ttnn.CBDescriptor(
                    total_size=4096, core_ranges=_CORES, format_descriptors=[form, form]
                )
            return self.create_program([read], [made])

    for kind, words in (
        ("flags", "give tensors to tensor_accessor_configs"),
        ("processor", "Other chooses processor and network of kernel 'read'; scripts have readers"),
        ("names", "Other names compile-time arguments of kernel 'read'"),
        ("two", r"has TensorAccessorArgs\(2, \.\.\.\) in kernel 'two', behind those of another"),
        ("shared", "Other has circular buffers that share memory"),
    ):
        with pytest.raises(NotSupportedError, match=words):
            Other().save(tmp_path / "kernels.py", x, out, kind=kind)
    with pytest.raises(DescriptionError, match="'read' is computed from an address; pass the"):
        AddShards().save(tmp_path / "kernels.py", *tensors, offset=32)
    with pytest.raises(ValueError, match=r"'my-kernels\.py' is no name of a script"):
        AddShards().save(tmp_path / "my-kernels.py", *tensors)
    with pytest.raises(UsageError, match="save takes tensors on a device"):
        AddShards().save(tmp_path / "kernels.py", ttnn.from_device(x), *tensors[1:])
    with pytest.raises(TypeError, match=r"is a tensor of ttnn, not 1$"):
        AddShards().save(tmp_path / "kernels.py", 1, *tensors[1:])
    assert not list(tmp_path.iterdir())
