"""Compute kernels keep the precision of their circular buffers, compared with torch and NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from samples.pykernel_operations import SumRows

import ttmlir.ttnn as ttnn
from pykernel import CircularBuffer, PyKernelOp, compute_thread, reader_thread


class Program(PyKernelOp):
    """A reader, a writer, and between them a compute kernel that subclasses choose."""

    compute: Any
    config: Any = None

    @reader_thread()
    def read(cb: CircularBuffer, addr, tiles):
        source = TensorAccessor(TensorAccessorArgs(1, 0), addr, get_tile_size(cb))
        for tile in range(tiles):
            cb_reserve_back(cb, 1)
            noc_async_read_tile(tile, source, get_write_ptr(cb))
            noc_async_read_barrier()
            cb_push_back(cb, 1)

    def invoke(self, x: Any, out: Any) -> Any:
        """Three kernels on one core."""
        cb_x, cb_out = self.create_cb(x, 0), self.create_cb(out, 1)
        tiles = out.volume() // 1024
        compute = self.create_kernel(
            type(self).compute, cb_x, cb_out, tiles, compute_config=self.config
        )
        self.used = compute.config
        return self.create_program(
            [
                self.create_kernel(Program.read, cb_x, x, tiles, tensor_accessor_configs=[x]),
                compute,
                self.create_kernel(
                    SumRows.write, cb_out, out, tiles, tensor_accessor_configs=[out]
                ),
            ],
            [cb_x, cb_out],
        )


class Exp(Program):
    """The exponential of copies of tiles."""

    @compute_thread()
    def compute(x: CircularBuffer, out: CircularBuffer, tiles):
        init_sfpu(x, out)
        exp_tile_init()
        for _ in range(tiles):
            cb_wait_front(x, 1)
            cb_reserve_back(out, 1)
            tile_regs_acquire()
            copy_tile(x, 0, 0)
            exp_tile(0)
            tile_regs_commit()
            tile_regs_wait()
            pack_tile(0, out)
            tile_regs_release()
            cb_push_back(out, 1)
            cb_pop_front(x, 1)


class Double(Program):
    """Sums of tiles and themselves, which pass the source registers."""

    @compute_thread()
    def compute(x: CircularBuffer, out: CircularBuffer, tiles):
        binary_op_init_common(x, x, out)
        for _ in range(tiles):
            cb_wait_front(x, 1)
            cb_reserve_back(out, 1)
            tile_regs_acquire()
            add_tiles_init(x, x)
            add_tiles(x, x, 0, 0, 0)
            copy_tile_init(x)
            copy_tile(x, 0, 1)
            tile_regs_commit()
            tile_regs_wait()
            pack_tile(0, out)
            tile_regs_release()
            cb_push_back(out, 1)
            cb_pop_front(x, 1)


class Negate(Program):
    """Signed integers with the other sign."""

    @compute_thread()
    def compute(x: CircularBuffer, out: CircularBuffer, tiles):
        init_sfpu(x, out)
        negative_tile_init()
        for _ in range(tiles):
            cb_wait_front(x, 1)
            cb_reserve_back(out, 1)
            tile_regs_acquire()
            copy_tile(x, 0, 0)
            negative_tile_int32(0)
            tile_regs_commit()
            tile_regs_wait()
            pack_tile(0, out)
            tile_regs_release()
            cb_push_back(out, 1)
            cb_pop_front(x, 1)


@pytest.fixture
def device() -> Iterator[Any]:
    """An open device."""
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def run(op: Program, device: Any, data: torch.Tensor, out_dtype: Any = None) -> torch.Tensor:
    """What an operation makes of a tensor."""
    x = ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT, device=device)
    out = ttnn.allocate_tensor_on_device(
        ttnn.Shape(list(data.shape)), out_dtype or x.dtype, ttnn.TILE_LAYOUT, device
    )
    return ttnn.to_torch(op(x, out))


@pytest.mark.parametrize("shape", [(32, 32), (70, 33), (1, 3, 64, 96), (2, 40, 31)])
def test_copies_of_float32_keep_all_bits(device: Any, shape: tuple[int, ...]) -> None:
    """Within torch's default tolerances of torch's own exponential, and of ttnn's."""
    data = torch.randn(shape, generator=torch.Generator().manual_seed(5))
    op = Exp()
    result = run(op, device, data)
    x = ttnn.from_torch(data, layout=ttnn.TILE_LAYOUT, device=device)
    assert torch.allclose(result, torch.exp(data))
    assert torch.allclose(result, ttnn.to_torch(ttnn.exp(x)))
    assert op.used.fp32_dest_acc_en
    assert [mode.name for mode in op.used.unpack_to_dest_mode[:3]] == [
        "UnpackToDestFp32",
        "Default",
        "Default",
    ]


def test_what_passes_the_source_registers_has_ten_bits_of_mantissa(device: Any) -> None:
    """TF32 drops 13 bits, so the sum is below by less than 2**-10; DST has all of its exponent."""
    data = torch.randn((70, 33), generator=torch.Generator().manual_seed(6)) * 1e30
    op = Double()
    result = run(op, device, data)
    assert torch.allclose(result, 2 * data, rtol=2**-10, atol=0)
    dropped = (data.view(torch.int32) & ~0x1FFF).view(torch.float32)
    assert torch.equal(result, 2 * dropped)
    assert not op.used.unpack_to_dest_mode


def test_bfloat16_stays_as_it_is(device: Any) -> None:
    """Tiles of 16 bits need no 32-bit DST, which has half the tiles."""
    data = torch.randn((40, 65), generator=torch.Generator().manual_seed(7)).to(torch.bfloat16)
    op = Double()
    assert torch.equal(run(op, device, data), 2 * data)
    assert not op.used.fp32_dest_acc_en


def test_an_output_of_32_bits_widens_dst(device: Any) -> None:
    """The exponential of bfloat16 as float32 is not rounded to 8 bits."""
    data = torch.randn((33, 64), generator=torch.Generator().manual_seed(8)).to(torch.bfloat16)
    result = run(Exp(), device, data, ttnn.float32)
    assert torch.allclose(result, torch.exp(data.float()))


def test_integers_of_32_bits(device: Any) -> None:
    """A DST of 16 bits has no room for them."""
    data = torch.randint(-(2**30), 2**30, (35, 66), dtype=torch.int32)
    assert torch.equal(run(Negate(), device, data), -data)


def test_a_configuration_of_the_user_counts(device: Any) -> None:
    """Float32 in a DST of 16 bits is rounded to Float16; only kernels that compute take one."""
    data = torch.randn((32, 64), generator=torch.Generator().manual_seed(9))
    op = Exp()
    op.config = ttnn.ComputeConfigDescriptor(fp32_dest_acc_en=False)
    result = run(op, device, data)
    assert not torch.allclose(result, torch.exp(data))
    assert torch.allclose(result, torch.exp(data), rtol=2**-8)

    class Wrong(Exp):
        compute = Program.read

    wrong = Wrong()
    wrong.config = op.config
    message = "kernel 'read' does not compute; leave compute_config out"
    with pytest.raises(TypeError, match=message):
        run(wrong, device, data)
