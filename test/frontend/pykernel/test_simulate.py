"""One kernel on its own: what comes through its circular buffers, what it prints, what is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from running.python_source import load_module

import ttmlir.ttnn as ttnn
from pykernel import CircularBuffer, CompileTimeValue, simulate
from ttmlir.frontend.pykernel.builder import PyKernelError
from ttmlir.frontend.pykernel.compilation import compute_thread, reader_thread, writer_thread

KERNELS = """
@compute_thread()
def add(a: CircularBuffer, b: CircularBuffer, out: CircularBuffer, tiles, say: CompileTimeValue):
    binary_op_init_common(a, b, out)
    add_tiles_init(a, b)
    for tile in range(tiles):
        cb_wait_front(a, 1)
        cb_wait_front(b, 1)
        cb_reserve_back(out, 1)
        tile_regs_acquire()
        add_tiles(a, b, 0, 0, 0)
        tile_regs_commit()
        tile_regs_wait()
        pack_tile(0, out)
        tile_regs_release()
        cb_push_back(out, 1)
        cb_pop_front(a, 1)
        cb_pop_front(b, 1)
        if say:
            print(tile)

@reader_thread()
def read_backwards(cb: CircularBuffer, addr, tiles):
    source = TensorAccessor(TensorAccessorArgs(1, 0), addr, get_tile_size(cb))
    for tile in range(tiles - 1, -1, -1):
        cb_reserve_back(cb, 1)
        noc_async_read_tile(tile, source, get_write_ptr(cb))
        noc_async_read_barrier()
        cb_push_back(cb, 1)

@writer_thread()
def write(cb: CircularBuffer, addr, tiles):
    target = get_interleaved_addr_gen_fast(True, addr, get_tile_size(cb), get_dataformat(cb))
    for tile in range(tiles):
        cb_wait_front(cb, 1)
        noc_async_write_tile(tile, target, get_read_ptr(cb))
        noc_async_write_barrier()
        cb_pop_front(cb, 1)

@reader_thread()
def count(start, step: CompileTimeValue = 3):
    words = reinterpret_cast(get_semaphore(1))
    print(words[0] + start * step)

@writer_thread()
def forget(cb: CircularBuffer):
    cb_wait_front(cb, 1)
"""


def kernel(name: str) -> Any:
    """A kernel of the text."""
    names = {
        "CircularBuffer": CircularBuffer,
        "CompileTimeValue": CompileTimeValue,
        "compute_thread": compute_thread,
        "reader_thread": reader_thread,
        "writer_thread": writer_thread,
    }
    return load_module(KERNELS, "kernels.py", **names)[name]


def test_a_compute_kernel(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Arrays come through circular buffers, and what it pushes comes back."""
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-99, 99, (70, 33)).astype(np.float32) for _ in range(2))
    out = CircularBuffer(16, a.shape, "Float32")
    run = simulate(kernel("add"), a, torch.from_numpy(b), out, tiles=6, say=True)
    assert np.array_equal(run.buffers["out"], a + b)
    assert set(run.buffers) == {"out"}
    lines = [f"core (0, 0) PACK: {tile}" for tile in range(6)]
    assert [line for line in run.printed if line.startswith("core (0, 0) PACK")] == lines
    assert lines[0] in capsys.readouterr().out
    assert run.findings == ()
    assert 1000 < run.cycles < run.report.cycles
    assert str(run) == f"add: {run.cycles} cycles, {run.cycles / 1000:.1f} us, 1 core"
    run.write_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert "add_tiles" in {each["name"] for each in events}


def test_a_reader_and_a_writer() -> None:
    """Arrays are tensors in DRAM, which the kernel has the addresses of."""
    x = np.arange(96 * 40, dtype=np.int32).reshape(96, 40)
    tiles = np.zeros((96, 64), np.int32)
    tiles[:, :40] = x
    blocks = tiles.reshape(3, 32, 2, 32).transpose(0, 2, 1, 3).reshape(6, 32, 32)
    run = simulate(kernel("read_backwards"), CircularBuffer(0, (192, 32), "INT32"), x, 6)
    assert np.array_equal(run.buffers["cb"], blocks[::-1].reshape(192, 32))
    assert np.array_equal(run.tensors["addr"], x)
    written = simulate(kernel("write"), cb=x, addr=np.zeros_like(x), tiles=6)
    assert np.array_equal(written.tensors["addr"], x)
    assert written.buffers == {}


def test_semaphores_and_defaults() -> None:
    """Constants have their defaults, semaphores their initial values."""
    run = simulate(kernel("count"), 7, semaphores=[5, 100])
    assert run.printed == ("core (0, 0) NCRISC: 121",)


def test_tensors_of_ttnn_and_numerics() -> None:
    """bfloat16 on the device, all digits with exact numerics."""
    x = torch.full((32, 32), 1.00390625).to(torch.bfloat16)
    host = ttnn.from_torch(x)
    out = CircularBuffer(5, (32, 32), "BFloat16")
    for numerics in ("device", "exact"):
        run = simulate(kernel("add"), host, host, out, 1, False, numerics=numerics)
        assert np.array_equal(run.buffers["out"].astype(np.float32), 2 * x.float().numpy())


def test_what_is_wrong_on_the_core() -> None:
    """Deadlocks and findings have the place in the Python, or name the neighbour."""
    x = np.zeros((32, 64), np.float32)
    run = simulate(kernel("forget"), x)
    assert [each.rule for each in run.findings] == ["cb-not-empty"]
    assert "circular buffer 0 still has 2 pages at the end" in str(run)
    with pytest.raises(RuntimeError, match=r"kernels.py:7:9: error: deadlock"):
        simulate(kernel("add"), x, x, CircularBuffer(2, (32, 64), "Float32"), 3, False)
    with pytest.raises(RuntimeError, match=r"neighbour.cpp:\d+:1: error: deadlock: 1 thread"):
        simulate(kernel("add"), x, x, CircularBuffer(2, (32, 64), "Float32"), 1, False)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    "call", ["cb_wait_front(a", "cb_reserve_back(out", "cb_push_back(out", "cb_pop_front(a"]
)
def test_numbers_of_pages_are_not_negative(call: str) -> None:
    """They would turn the circular buffer back."""
    names = {"CircularBuffer": CircularBuffer, "reader_thread": reader_thread}
    text = f"@reader_thread()\ndef k(a: CircularBuffer, out: CircularBuffer):\n    {call}, -1)\n"
    wrong = load_module(text, "k.py", **names)["k"]
    x = np.zeros((32, 64), np.float32)
    with pytest.raises(RuntimeError, match=r"k.py:3:5: error: cb_\w+ of -1 pages of circular buf"):
        simulate(wrong, x, CircularBuffer(1, x.shape, "Float32"))


def test_wrong_arguments() -> None:
    """They name the parameter."""
    x = np.zeros((32, 64), np.float32)
    with pytest.raises(TypeError, match="kernel 'write': missing a required argument: 'tiles'"):
        simulate(kernel("write"), x, x)
    with pytest.raises(TypeError, match="kernel 'count': got an unexpected keyword argument 'x'"):
        simulate(kernel("count"), 1, x=2)
    with pytest.raises(TypeError, match="kernel 'write': 'cb' is a circular buffer; give an array"):
        simulate(kernel("write"), 3, x, 1)
    with pytest.raises(TypeError, match="is no kernel; decorate it with @compute_thread"):
        simulate(len, x)
    text = "@reader_thread()\ndef k(n):\n    cb_wait(n)\n"
    wrong = load_module(text, "k.py", reader_thread=reader_thread)["k"]
    with pytest.raises(PyKernelError, match="there is no call 'cb_wait'"):
        simulate(wrong, 1)


def test_pykernel_has_it_without_loading_ttnn_first() -> None:
    """`import pykernel` stays quick."""
    code = (
        "import sys, pykernel\nassert 'ttmlir.ttnn.tensor' not in sys.modules\n"
        "from pykernel import simulate\nimport ttmlir.pykernel\n"
        "assert simulate is ttmlir.pykernel.simulate\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
