"""Operations of PyKernel as kernels of frameworks."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
import torch

import ttmlir
from pykernel import CircularBuffer, PyKernelOp, compute_thread, reader_thread, writer_thread
from ttmlir.bridge import JAXKernel, NumPyKernel, TorchKernel
from ttmlir.program.custom_kernel_text import read_custom_kernel
from ttmlir.program.description import AddressOfTensor

RANDOM = np.random.default_rng(0)


class Sum(PyKernelOp):
    """The sum of two tensors, as often as a constant says, on one core."""

    @reader_thread()
    def read(a: CircularBuffer, b: CircularBuffer, a_addr, b_addr, tiles):
        a_at = TensorAccessor(TensorAccessorArgs(2, 0), a_addr, get_tile_size(a))
        b_at = TensorAccessor(TensorAccessorArgs(2, 0), b_addr, get_tile_size(b))
        for tile in range(tiles):
            cb_reserve_back(a, 1)
            cb_reserve_back(b, 1)
            noc_async_read_tile(tile, a_at, get_write_ptr(a))
            noc_async_read_tile(tile, b_at, get_write_ptr(b))
            noc_async_read_barrier()
            cb_push_back(a, 1)
            cb_push_back(b, 1)

    @compute_thread()
    def add(a: CircularBuffer, b: CircularBuffer, out: CircularBuffer, tiles):
        binary_op_init_common(a, b, out)
        add_tiles_init(a, b)
        for _ in range(tiles):
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
    def write(cb: CircularBuffer, addr, tiles):
        where = TensorAccessor(TensorAccessorArgs(1, 0), addr, get_tile_size(cb))
        for tile in range(tiles):
            cb_wait_front(cb, 1)
            noc_async_write_tile(tile, where, get_read_ptr(cb))
            noc_async_write_barrier()
            cb_pop_front(cb, 1)

    def invoke(self, a, b, out, *, offset=0):
        """One core; `offset` is added to an address, which programs must not do."""
        cb_a, cb_b, cb_out = (self.create_cb(each, i) for i, each in enumerate((a, b, out)))
        tiles = (out.volume() + 1023) // 1024
        self.set_tensor_accessor_config([a])
        target = out.buffer_address() + offset if offset else out
        return self.create_program(
            [
                self.create_kernel(Sum.read, cb_a, cb_b, a, b, tiles),
                self.create_kernel(Sum.add, cb_a, cb_b, cb_out, tiles),
                self.create_kernel(Sum.write, cb_out, target, tiles),
            ],
            [cb_a, cb_b, cb_out],
        )


def numbers(*shape: int) -> np.ndarray:
    """From -1 to 1."""
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_an_operation_computes_on_arrays(dtype: Any) -> None:
    """As it does on tensors of ttnn."""
    a, b = numbers(64, 96).astype(dtype), numbers(64, 96).astype(dtype)
    kernel = NumPyKernel("sum", Sum())
    result = kernel(a, b, out_shape=a).astype(np.float64)
    np.testing.assert_allclose(result, a.astype(np.float64) + b.astype(np.float64), atol=2**-7)


def test_addresses_are_those_of_each_run() -> None:
    """The text names tensors where the operation had numbers."""
    a = numbers(32, 32)
    config, inputs, outputs = NumPyKernel("sum", Sum()).dump_config(a, a, a)
    assert (inputs, outputs) == (["a", "b"], ["out"])
    program = read_custom_kernel(config).program
    arguments = [each for kernel in program.kernels for each in kernel.arguments]
    assert [each for each in arguments if isinstance(each, AddressOfTensor)] == [
        AddressOfTensor(0),
        AddressOfTensor(1),
        AddressOfTensor(2),
    ]


def test_numbers_computed_from_addresses_are_refused() -> None:
    """They would be wrong in every other run."""
    a = numbers(32, 32)
    with pytest.raises(ValueError, match="an argument of kernel_2 is computed from an address"):
        NumPyKernel("sum", Sum()).dump_config(a, a, a, offset=64)


def test_an_operation_is_one_of_jax() -> None:
    """Jitted, and compiled into a file."""
    kernel = JAXKernel("sum", Sum())

    def model(x: Any) -> Any:
        return jnp.cos(kernel(x, 2 * x, out_shape=x))

    x = numbers(64, 32)
    np.testing.assert_allclose(jax.jit(model)(x), np.cos(3 * x), atol=2**-8)
    np.testing.assert_allclose(ttmlir.compile(model, x)(x), np.cos(3 * x), atol=1e-6)


def test_an_operation_is_one_of_torch() -> None:
    """Exported, and compiled into a file."""
    kernel = TorchKernel("sum", Sum())

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cos(kernel(x, 2 * x, out_shape=x))

    x = torch.from_numpy(numbers(64, 32))
    exported = torch.export.export(Model(), (x,))
    torch.testing.assert_close(ttmlir.compile(exported)(x), torch.cos(3 * x))


def test_elements_that_ttnn_lacks_are_refused() -> None:
    """With those that it has."""
    a = numbers(32, 32).astype(np.float16)
    with pytest.raises(ValueError, match="'a' has elements of type f16; kernels in Py"):
        NumPyKernel("sum", Sum()).dump_config(a, a, a)
