"""The IR that kernels print, in the form of PyKernel since late 2025.

Texts of a reader, of a compute kernel and of one with a tensor accessor, close to those below, were
accepted by tt-lang 1.1.1's own verifier.
"""

from __future__ import annotations

import pytest

from pykernel import (
    CircularBuffer,
    CompileTimeValue,
    compute_thread,
    reader_thread,
    ttkernel_compile,
    ttkernel_tensix_compile,
    writer_thread,
)
from ttmlir.dialects import DIALECTS
from ttmlir.mlir.chunk_processing import verify
from ttmlir.mlir.context import make_context
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.reader import parse_module

CB = "!ttkernel.cb<128, !ttcore.tile<32x32, f32>>"


@ttkernel_tensix_compile(verbose=True)
def eltwise_sfpu(cb_in: CircularBuffer, cb_out: CircularBuffer, blocks: CompileTimeValue):
    unary_op_init_common(cb_in, cb_out)
    for _ in range(0, blocks, 1):
        tile_regs_acquire()
        cb_wait_front(cb_in, 1)
        copy_tile(cb_in, 0, 0)
        exp_tile_init()
        exp_tile(0)
        tile_regs_commit()
        tile_regs_wait()
        pack_tile(0, cb_out, 0)
        tile_regs_release()
    return


@compute_thread()
def products(a: CircularBuffer, b: CircularBuffer, c: CircularBuffer):
    mm_init(a, b, c, 0)
    matmul_tiles(a, b, 0, 0, 0, 0)
    reduce_init(a, b, c, PoolType.MAX, ReduceDim.REDUCE_ROW)


@reader_thread()
def read(cb: CircularBuffer, out: CircularBuffer, address, tile, dram: CompileTimeValue):
    format = get_dataformat(cb)
    source = get_interleaved_addr_gen_fast(dram, address, get_tile_size(cb), format)
    noc_async_read_tile(tile, source, get_write_ptr(cb))
    noc_async_read_barrier()


@writer_thread()
def write(cb: CircularBuffer, address, tile):
    target = TensorAccessor(TensorAccessorArgs(2, 1), address, get_tile_size(cb))
    noc_async_write(get_read_ptr(cb), target.get_noc_addr(tile), 2048)


TEXTS = {
    "eltwise_sfpu": lambda: eltwise_sfpu.compile(CircularBuffer(0), CircularBuffer(1), blocks=4),
    "products": lambda: products(*(CircularBuffer(each) for each in range(3))),
    "read": lambda: read(CircularBuffer(0), CircularBuffer(1), 0, 1, dram=True),
    "write": lambda: write(CircularBuffer(0), 0, 1),
}
LINES = {
    "eltwise_sfpu": [
        "func.func @eltwise_sfpu() attributes {ttkernel.arg_spec = #ttkernel.arg_spec< ct_args = "
        "[<arg_type = cb_port, operand_index = 0>, <arg_type = cb_port, operand_index = 1>]>, "
        "ttkernel.thread = #ttkernel.thread<compute>} {",
        f"%0 = ttkernel.get_compile_time_arg_val(0) : () -> {CB}",
        f"%1 = ttkernel.get_compile_time_arg_val(1) : () -> {CB}",
        f"ttkernel.unary_op_init_common(%0, %1) : ({CB}, {CB}) -> ()",
        "ttkernel.tile_regs_acquire() : () -> ()",
        f"ttkernel.cb_wait_front(%0, %c1_i32_0) : ({CB}, i32) -> ()",
        "ttkernel.exp_tile_init() : () -> ()",
        "ttkernel.exp_tile(%c0_i32_3) : (i32) -> ()",
        f"ttkernel.pack_tile(%c0_i32_4, %1, %c0_i32_5, false) : (i32, {CB}, i32) -> ()",
    ],
    "products": [
        f"ttkernel.mm_init(%0, %1, %2, %c0_i32) : ({CB}, {CB}, {CB}, i32) -> ()",
        "ttkernel.matmul_tiles(%0, %1, %c0_i32_0, %c0_i32_1, %c0_i32_2) : "
        f"({CB}, {CB}, i32, i32, i32) -> ()",
        "ttkernel.reduce_init(%0, %1, %2, <reduce_max>, <reduce_dim_row>) : "
        f"({CB}, {CB}, {CB}) -> ()",
    ],
    "read": [
        "%true = arith.constant true",
        "%6 = ttkernel.get_interleaved_addr_gen_fast(%true, %2, %5, %4) : "
        "(i1, i32, i32, !ttkernel.DataFormat) -> !ttkernel.interleaved_addr_gen_fast",
    ],
    "write": [
        "%c2_i32 = arith.constant 2 : i32",
        "%3 = ttkernel.TensorAccessorArgs(%c2_i32, %c1_i32_0)",
        "%7 = ttkernel.tensor_accessor.get_noc_addr(%5, %2, %c0_i32_1) : "
        "(!ttkernel.TensorAccessor, i32, i32) -> !ttkernel.noc_addr",
    ],
}


@pytest.mark.parametrize("name", LINES)
def test_lines(name: str) -> None:
    """Calls in the syntax of 2026, in their order."""
    printed = iter(line.strip() for line in TEXTS[name]().late_ir.splitlines())
    for line in LINES[name]:
        assert line in printed, line


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_printed_is_read(name: str) -> None:
    """And verified, and printed as it was."""
    text = TEXTS[name]().late_ir
    module = parse_module(text, "kernel.mlir", make_context(DIALECTS))
    verify(module)
    assert print_module(module).strip() == text.strip()


def test_verbose_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    """The kernel's own IR stays as it is."""
    kernel = eltwise_sfpu(CircularBuffer(0), CircularBuffer(1), blocks=2)
    assert capsys.readouterr().out == kernel.late_ir
    assert "cb_in0" in kernel.ir


def test_kernels_without_buffers(capsys: pytest.CaptureFixture[str]) -> None:
    """They have no list of arguments."""

    @ttkernel_compile()
    def add():
        for step in range(0, 10, 2):
            if step > 4:
                noc_async_read_barrier()

    add()
    assert capsys.readouterr().out.startswith("module {\n  func.func @add() {\n")


def test_calls_that_are_no_more() -> None:
    """A kernel with one is printed in the form of 2024."""

    @compute_thread()
    def old(a: CircularBuffer):
        acquire_dst()
        release_dst()

    kernel = old(CircularBuffer(0))
    assert kernel.late_ir == kernel.ir


def test_modules_of_upstream() -> None:
    """Programs of 2025 and 2026 import these."""
    from pykernel import PyKernelOp
    from pykernel._src import kernel_ast, kernel_op, kernel_types

    assert kernel_ast.compute_thread is compute_thread
    assert kernel_op.PyKernelOp is PyKernelOp
    assert kernel_types.CircularBuffer is CircularBuffer
