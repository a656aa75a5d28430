"""Whole programs of ttmetal on memrefs, and what NumPy says they compute."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from samples.metal_programs import (
    HostFunction,
    compute,
    ct,
    host_layout,
    kernel,
    make_module,
    noc,
    on_device,
    on_host,
)
from xdsl.dialects.builtin import ModuleOp

Array = np.ndarray[Any, Any]

HAND_OVER = """#include "dataflow_api.h"
void kernel_main() {
  cb_reserve_back(tt::CBIndex::c_0, %d);
  cb_push_back(tt::CBIndex::c_0, %d);
}
"""
"""A reader of a buffer whose pages are there already."""


@dataclass(frozen=True)
class Example:
    """A module, the shapes of its inputs and the results for them."""

    module: ModuleOp
    shapes: Sequence[tuple[int, ...]]
    reference: Callable[..., Sequence[Array]]
    tolerance: float = 0.0
    """Of device numerics, relative to the largest result."""
    element: str = "f32"

    def inputs(self) -> list[Array]:
        """Numbers from -1 to 1 that the element type holds."""
        rng = np.random.default_rng(7)
        numbers = (rng.uniform(-1, 1, shape) for shape in self.shapes)
        return [np.round(each * 128).astype(np.float32) / 128 for each in numbers]


def exp_on_shards() -> Example:
    """exp of 100x70 numbers in shards of 2x1 tiles on 2x3 cores; circular buffers lie on them."""
    main = HostFunction()
    main.argument("a", on_host((100, 70), padded=(128, 96)))
    shards = on_device((2, 3), (2, 1))
    main.create("x", shards, 0x4000)
    main.create("y", shards, 0x10000)
    main.write("a", "x")
    layout = host_layout((100, 70), (96, 1), 128 * 96)
    reference = (
        '{rows = [{mnemonic = "exp", operands = [0], type = tensor<100x70xf32>}], '
        f"outputs = [{{buffer = 1, value = 2, layout = {layout}}}]}}"
    )
    kernels = [noc("hand_over", cores="0x0, 2x3"), compute("exp", cores="0x0, 2x3", modes="fp32")]
    main.run(("x", "y"), ("x", "y"), (0, 16), kernels, reference)
    main.read("y", "r", on_host((100, 70), padded=(128, 96)))
    main.free("x", "y")
    exp = """#include "compute_kernel_api/common.h"
#include "compute_kernel_api/eltwise_unary/exp.h"
#include "compute_kernel_api/tile_move_copy.h"
namespace NAMESPACE {
void MAIN {
  constexpr uint32_t in = tt::CBIndex::c_0;
  constexpr uint32_t out = tt::CBIndex::c_16;
  init_sfpu(in, out);
  cb_wait_front(in, 2);
  cb_reserve_back(out, 2);
  for (uint32_t i = 0; i < 2; i++) {
    tile_regs_acquire();
    copy_tile_init(in);
    copy_tile(in, i, 0);
    exp_tile_init();
    exp_tile(0);
    tile_regs_commit();
    tile_regs_wait();
    pack_tile(0, out);
    tile_regs_release();
  }
  cb_push_back(out, 2);
  cb_pop_front(in, 2);
}
}
"""
    module = make_module(main, kernel("hand_over", HAND_OVER % (2, 2)), kernel("exp", exp))
    return Example(module, [(100, 70)], lambda a: [np.exp(a.astype(np.float64))], 0.01)


def _interleaved(address: str, cb: str) -> str:
    return (
        f"const InterleavedAddrGenFast<true> {address} = {{.bank_base_address = "
        f"{address}_address, .page_size = get_tile_size({cb}), "
        f".data_format = get_dataformat({cb})}};"
    )


def streamed_add(element: str = "bf16") -> Example:
    """The sum of two tensors of 3x50x100 numbers in DRAM, tile by tile on 2x4 cores."""
    main = HostFunction()
    host = on_host((3, 50, 100), element, padded=(3, 64, 128))
    pages = on_device((1, 1, 1), (3, 2, 4), element, space="dram", interleaved=True)
    main.argument("a", host)
    main.argument("b", host)
    for number, name in enumerate("xyz"):
        main.create(name, pages, 0x10000 * (number + 1))
    pairs = on_device((2, 4), (1, 1), element, buffers=2)
    for number, name in enumerate(("cx", "cy", "cz")):
        main.create(name, pairs, 0x4000 * (number + 1))
    main.write("a", "x")
    main.write("b", "y")
    layout = host_layout((3, 50, 100), (64 * 128, 128, 1), 3 * 64 * 128)
    reference = (
        f'{{rows = [{{mnemonic = "add", operands = [0, 1], type = tensor<3x50x100x{element}>}}], '
        f"outputs = [{{buffer = 2, value = 3, layout = {layout}}}]}}"
    )
    cores = "0x0, 2x4"
    kernels = [
        noc("read", ct("buffer_address[0]", "buffer_address[1]"), cores, 0),
        compute("add", cores=cores, wide=False),
        noc("write", ct("buffer_address[2]"), cores, 1),
    ]
    main.run(("x", "y", "z"), ("cx", "cy", "cz"), (0, 1, 16), kernels, reference)
    main.read("z", "r", host)
    main.free("x", "y", "z", "cx", "cy", "cz")
    first = "uint32_t core = get_relative_logical_y() * 4 + get_relative_logical_x();"
    read = f"""#include "dataflow_api.h"
void kernel_main() {{
  constexpr uint32_t a = tt::CBIndex::c_0;
  constexpr uint32_t b = tt::CBIndex::c_1;
  uint32_t x_address = get_compile_time_arg_val(0);
  uint32_t y_address = get_compile_time_arg_val(1);
  {first}
  {_interleaved("x", "a")}
  {_interleaved("y", "b")}
  for (uint32_t i = 0; i < 3; i++) {{
    cb_reserve_back(a, 1);
    cb_reserve_back(b, 1);
    noc_async_read_tile(core + i * 8, x, get_write_ptr(a));
    noc_async_read_tile(core + i * 8, y, get_write_ptr(b));
    noc_async_read_barrier();
    cb_push_back(a, 1);
    cb_push_back(b, 1);
  }}
}}
"""
    write = f"""#include "dataflow_api.h"
void kernel_main() {{
  constexpr uint32_t c = tt::CBIndex::c_16;
  uint32_t z_address = get_compile_time_arg_val(0);
  {first}
  {_interleaved("z", "c")}
  for (uint32_t i = 0; i < 3; i++) {{
    cb_wait_front(c, 1);
    noc_async_write_tile(core + i * 8, z, get_read_ptr(c));
    noc_async_write_barrier();
    cb_pop_front(c, 1);
  }}
}}
"""
    add = """#include "compute_kernel_api/common.h"
#include "compute_kernel_api/eltwise_binary.h"
namespace NAMESPACE {
void MAIN {
  constexpr uint32_t a = tt::CBIndex::c_0;
  constexpr uint32_t b = tt::CBIndex::c_1;
  constexpr uint32_t c = tt::CBIndex::c_16;
  binary_op_init_common(a, b, c);
  add_tiles_init(a, b);
  for (uint32_t i = 0; i < 3; i++) {
    cb_wait_front(a, 1);
    cb_wait_front(b, 1);
    cb_reserve_back(c, 1);
    tile_regs_acquire();
    add_tiles(a, b, 0, 0, 0);
    tile_regs_commit();
    tile_regs_wait();
    pack_tile(0, c);
    tile_regs_release();
    cb_push_back(c, 1);
    cb_pop_front(a, 1);
    cb_pop_front(b, 1);
  }
}
}
"""
    module = make_module(main, kernel("read", read), kernel("add", add), kernel("write", write))
    return Example(module, [(3, 50, 100)] * 2, lambda a, b: [a + b], 0.01, element)


def sums_of_rows() -> Example:
    """Sums of the rows of 70x150 numbers, 32 rows on each of 3x1 cores, and half of them."""
    main = HostFunction()
    main.argument("a", on_host((70, 150), padded=(96, 160)))
    main.create("x", on_device((3, 1), (1, 5)), 0x4000)
    main.create("y", on_device((3, 1), (1, 1)), 0x10000)
    main.create("half", on_device((3, 1), (1, 1)), 0x14000)
    main.write("a", "x")
    layout = host_layout((70, 1), (32, 1), 96 * 32)
    reference = (
        '{rows = [{mnemonic = "sum", operands = [0], '
        "parameters = {dim_arg = [1 : i32], keep_dim = true}, type = tensor<70x1xf32>}, "
        '{mnemonic = "multiply", operands = [2, 0.5], '
        f"type = tensor<70x1xf32>}}], outputs = [{{buffer = 1, value = 3, layout = {layout}}}]}}"
    )
    kernels = [noc("scale", cores="0x0, 3x1"), compute("sum", cores="0x0, 3x1")]
    main.run(("x", "y"), ("x", "half", "y"), (0, 1, 16), kernels, reference)
    main.read("y", "r", f"memref<70x1xf32, {layout}>")
    scale = """#include "dataflow_api.h"
void kernel_main() {
  constexpr uint32_t scaler = tt::CBIndex::c_1;
  cb_reserve_back(tt::CBIndex::c_0, 5);
  cb_push_back(tt::CBIndex::c_0, 5);
  cb_reserve_back(scaler, 1);
  volatile tt_l1_ptr uint32_t* words =
      reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_write_ptr(scaler));
  for (uint32_t i = 0; i < 1024; i++) {
    words[i] = 0x3f000000;
  }
  cb_push_back(scaler, 1);
}
"""
    total = """#include "compute_kernel_api/common.h"
#include "compute_kernel_api/reduce.h"
namespace NAMESPACE {
void MAIN {
  constexpr uint32_t in = tt::CBIndex::c_0;
  constexpr uint32_t scaler = tt::CBIndex::c_1;
  constexpr uint32_t out = tt::CBIndex::c_16;
  compute_kernel_hw_startup(in, scaler, out);
  reduce_init<PoolType::SUM, ReduceDim::REDUCE_ROW>(in, scaler, out);
  cb_wait_front(in, 5);
  cb_wait_front(scaler, 1);
  cb_reserve_back(out, 1);
  tile_regs_acquire();
  for (uint32_t i = 0; i < 5; i++) {
    reduce_tile<PoolType::SUM, ReduceDim::REDUCE_ROW>(in, scaler, i, 0, 0);
  }
  tile_regs_commit();
  tile_regs_wait();
  pack_tile(0, out);
  tile_regs_release();
  reduce_uninit();
  cb_push_back(out, 1);
  cb_pop_front(in, 5);
  cb_pop_front(scaler, 1);
}
}
"""
    module = make_module(main, kernel("scale", scale), kernel("sum", total))
    return Example(
        module, [(70, 150)], lambda a: [a.astype(np.float64).sum(1, keepdims=True) / 2], 0.01
    )


def multicast_matmul() -> Example:
    """100x90 times 90x50 on 2x2 cores: the first column and row read and multicast blocks."""
    main = HostFunction()
    main.argument("a", on_host((100, 90), padded=(128, 96)))
    main.argument("b", on_host((90, 50), padded=(96, 64)))
    main.create("x", on_device((1, 1), (4, 3), space="dram", interleaved=True), 0x10000)
    main.create("y", on_device((1, 1), (3, 2), space="dram", interleaved=True), 0x20000)
    main.create("z", on_device((2, 2), (2, 1)), 0x10000)
    main.create("cx", on_device((2, 2), (2, 1), buffers=2), 0x4000)
    main.create("cy", on_device((2, 2), (1, 1), buffers=2), 0x8000)
    main.write("a", "x")
    main.write("b", "y")
    layout = host_layout((100, 50), (64, 1), 128 * 64)
    reference = (
        '{rows = [{mnemonic = "matmul", operands = [0, 1], type = tensor<100x50xf32>}], '
        f"outputs = [{{buffer = 2, value = 3, layout = {layout}}}]}}"
    )
    cores = "0x0, 2x2"
    kernels = [
        noc("rows", ct("buffer_address[0]", "semaphore[0]", "semaphore[1]"), cores, 0),
        noc("columns", ct("buffer_address[1]", "semaphore[2]", "semaphore[3]"), cores, 1),
        compute("multiply", cores=cores),
    ]
    main.run(("x", "y", "z"), ("cx", "cy", "z"), (0, 1, 16), kernels, reference)
    main.read("z", "r", f"memref<100x50xf32, {layout}>")

    def mover(cb: int, tiles: int, page: str, mine: str, receiver: str, sender: str) -> str:
        return f"""#include "dataflow_api.h"
void kernel_main() {{
  constexpr uint32_t cb = tt::CBIndex::c_{cb};
  uint32_t t_address = get_compile_time_arg_val(0);
  uint32_t ready = get_semaphore(get_compile_time_arg_val(1));
  uint32_t valid = get_semaphore(get_compile_time_arg_val(2));
  volatile tt_l1_ptr uint32_t* readys = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(ready);
  volatile tt_l1_ptr uint32_t* valids = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(valid);
  uint32_t row = get_relative_logical_y();
  uint32_t column = get_relative_logical_x();
  uint32_t y = my_y[{cb}];
  uint32_t x = my_x[{cb}];
  {_interleaved("t", "cb")}
  for (uint32_t k = 0; k < 3; k++) {{
    cb_reserve_back(cb, {tiles});
    if ({mine} == 0) {{
      uint32_t block = get_write_ptr(cb);
      uint32_t to = block;
      for (uint32_t i = 0; i < {tiles}; i++) {{
        noc_async_read_tile({page}, t, to);
        to += 4096;
      }}
      noc_async_read_barrier();
      noc_semaphore_wait(readys, 1);
      noc_semaphore_set(readys, 0);
      uint64_t there = get_noc_multicast_addr({receiver}, {receiver}, block);
      noc_async_write_multicast(block, there, {tiles} * 4096, 1);
      noc_async_write_barrier();
      noc_semaphore_set(valids, 1);
      uint64_t flag = get_noc_multicast_addr({receiver}, {receiver}, valid);
      noc_semaphore_set_multicast(valid, flag, 1);
      noc_async_write_barrier();
    }} else {{
      noc_semaphore_set(valids, 0);
      noc_semaphore_inc(get_noc_addr({sender}, ready), 1);
      noc_semaphore_wait(valids, 1);
      noc_async_atomic_barrier();
    }}
    cb_push_back(cb, {tiles});
  }}
}}
"""

    multiply = """#include "compute_kernel_api/common.h"
#include "compute_kernel_api/matmul.h"
namespace NAMESPACE {
void MAIN {
  constexpr uint32_t a = tt::CBIndex::c_0;
  constexpr uint32_t b = tt::CBIndex::c_1;
  constexpr uint32_t c = tt::CBIndex::c_16;
  mm_init(a, b, c);
  cb_reserve_back(c, 2);
  tile_regs_acquire();
  for (uint32_t k = 0; k < 3; k++) {
    cb_wait_front(a, 2);
    cb_wait_front(b, 1);
    matmul_tiles(a, b, 0, 0, 0, 0);
    matmul_tiles(a, b, 1, 0, 1, 0);
    cb_pop_front(a, 2);
    cb_pop_front(b, 1);
  }
  tile_regs_commit();
  tile_regs_wait();
  pack_tile(0, c);
  pack_tile(1, c);
  tile_regs_release();
  cb_push_back(c, 2);
}
}
"""
    module = make_module(
        main,
        kernel("rows", mover(0, 2, "(row * 2 + i) * 3 + k", "column", "x + 1, y", "x - 1, y")),
        kernel("columns", mover(1, 1, "k * 2 + column + i", "row", "x, y + 1", "x, y - 1")),
        kernel("multiply", multiply),
    )
    return Example(module, [(100, 90), (90, 50)], lambda a, b: [a.astype(np.float64) @ b], 0.01)


def tilize_and_back(element: str = "f32") -> Example:
    """60x130 numbers in rows, as tiles and in rows again, 32 rows on each of 2x1 cores."""
    main = HostFunction()
    host = on_host((60, 130), element, padded=(64, 160))
    main.argument("a", host)
    rows = on_device((2, 1), (32, 160), element, tiled=False)
    main.create("x", rows, 0x4000)
    main.create("t", on_device((2, 1), (1, 5), element), 0x10000)
    main.create("y", rows, 0x20000)
    main.write("a", "x")
    layout = host_layout((60, 130), (160, 1), 64 * 160)
    moves = f"{{outputs = [{{buffer = 1, value = 0, layout = {layout}}}]}}"
    for name, source, target in (("tilize", "x", "t"), ("untilize", "t", "y")):
        kernels = [noc("hand_over", cores="0x0, 2x1"), compute(name, cores="0x0, 2x1")]
        main.run((source, target), (source, target), (0, 16), kernels, moves)
    main.read("t", "tiles", host)
    main.read("y", "r", host)

    def change(name: str) -> str:
        init = "in, 5, out" if name == "tilize" else "in"
        return f"""#include "compute_kernel_api/common.h"
#include "compute_kernel_api/{name}.h"
namespace NAMESPACE {{
void MAIN {{
  constexpr uint32_t in = tt::CBIndex::c_0;
  constexpr uint32_t out = tt::CBIndex::c_16;
  compute_kernel_hw_startup(in, in, out);
  {name}_init({init});
  cb_wait_front(in, 5);
  cb_reserve_back(out, 5);
  {name}_block(in, 5, out);
  cb_push_back(out, 5);
  cb_pop_front(in, 5);
}}
}}
"""

    kernels = [kernel(name, change(name)) for name in ("tilize", "untilize")]
    module = make_module(main, kernel("hand_over", HAND_OVER % (5, 5)), *kernels)
    return Example(module, [(60, 130)], lambda a: [a, a], 0.0, element)


EXAMPLES: dict[str, Callable[[], Example]] = {
    "exp_on_shards": exp_on_shards,
    "streamed_add": streamed_add,
    "sums_of_rows": sums_of_rows,
    "multicast_matmul": multicast_matmul,
    "tilize_and_back": tilize_and_back,
    "tilize_and_back_bf16": lambda: tilize_and_back("bf16"),
}
