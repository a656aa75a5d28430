"""exp of every number of a tensor, as a custom operation: the example of the PyKernel guide.

    python -m ttmlir examples/pykernel/eltwise_sfpu.py

One core reads tiles, computes on them and writes them, all at the same time.
"""

import torch
import ttnn

from pykernel.ast import *
from pykernel.op import PyKernelOp
from pykernel.types import *


class EltwiseSFPUPyKernelOp(PyKernelOp):
    """Three kernels: one reads tiles, one computes, one writes."""

    @compute_thread()
    def eltwise_sfpu(
        cb_in: CircularBuffer,
        cb_out: CircularBuffer,
        per_core_block_cnt: CompiledValue,
        per_core_block_dim: CompiledValue,
    ):
        unary_op_init_common(cb_in, cb_out)
        for _ in range(per_core_block_cnt):
            cb_reserve_back(cb_out, per_core_block_dim)
            for _ in range(per_core_block_dim):
                tile_regs_acquire()
                cb_wait_front(cb_in, 1)
                copy_tile(cb_in, 0, 0)
                exp_tile_init()
                exp_tile(0)
                tile_regs_commit()
                tile_regs_wait()
                pack_tile(0, cb_out, 0)
                cb_pop_front(cb_in, 1)
                tile_regs_release()
            cb_push_back(cb_out, per_core_block_dim)

    @writer_thread()
    def writer(cb_out: CircularBuffer, dst_addr, num_tiles, dst_is_dram: CompiledValue):
        tile_bytes = get_tile_size(cb_out)
        s0 = get_interleaved_addr_gen_fast(
            dst_is_dram, dst_addr, tile_bytes, get_dataformat(cb_out)
        )
        for i in range(num_tiles):
            cb_wait_front(cb_out, 1)
            noc_async_write_tile(i, s0, get_read_ptr(cb_out))
            noc_async_write_barrier()
            cb_pop_front(cb_out, 1)

    @reader_thread()
    def reader(cb_in: CircularBuffer, src_addr, num_tiles, src_is_dram: CompiledValue):
        tile_bytes = get_tile_size(cb_in)
        s0 = get_interleaved_addr_gen_fast(src_is_dram, src_addr, tile_bytes, get_dataformat(cb_in))
        for i in range(num_tiles):
            cb_reserve_back(cb_in, 1)
            noc_async_read_tile(i, s0, get_write_ptr(cb_in))
            noc_async_read_barrier()
            cb_push_back(cb_in, 1)

    def invoke(self, a, out, num_tiles):
        """Circular buffers, kernels, and the program of both."""
        cb_in, cb_out = self.create_cb(a, 0), self.create_cb(out, 1)
        is_dram = a.memory_config().buffer_type == ttnn.BufferType.DRAM
        op = EltwiseSFPUPyKernelOp
        kernels = [
            self.create_kernel(
                op.eltwise_sfpu, cb_in, cb_out, per_core_block_cnt=num_tiles, per_core_block_dim=1
            ),
            self.create_kernel(op.writer, cb_out, out, num_tiles, dst_is_dram=is_dram),
            self.create_kernel(op.reader, cb_in, a, num_tiles, src_is_dram=is_dram),
        ]
        return self.create_program(kernels, [cb_in, cb_out])


device = ttnn.open_device(device_id=0)
shape = [1, 4, 32, 32]
data = torch.rand(shape).to(torch.bfloat16)
x = ttnn.from_torch(data, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
out = ttnn.allocate_tensor_on_device(
    ttnn.Shape(shape), ttnn.bfloat16, ttnn.TILE_LAYOUT, device, ttnn.DRAM_MEMORY_CONFIG
)
exp = EltwiseSFPUPyKernelOp()
profile = exp.profile(x, out, num_tiles=4)
matching = torch.allclose(ttnn.to_torch(ttnn.exp(x)), ttnn.to_torch(profile.output))
print(f"{profile}; tensors are matching: {matching}")
assert matching
