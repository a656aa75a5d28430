"""Operations with kernels in Python, on the tensors of simulated devices."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running.python_source import load_module

import ttmlir.ttnn as ttnn
from pykernel import (
    CircularBuffer,
    CompileTimeValue,
    PyKernelOp,
    compute_thread,
    reader_thread,
    ttkernel_compile,
    ttkernel_noc_compile,
    ttkernel_tensix_compile,
)
from pykernel.ast import PyKernelError

INPUTS = Path(__file__).parent / "Inputs"


class Add(PyKernelOp):
    """The sum of two tensors, tile by tile, with options that tests set."""

    @reader_thread()
    def read(a: CircularBuffer, b: CircularBuffer, a_addr, b_addr, tiles):
        a_tiles = TensorAccessor(TensorAccessorArgs(2, 0), a_addr, get_tile_size(a))
        b_tiles = TensorAccessor(TensorAccessorArgs(2, 0), b_addr, get_tile_size(b))
        for tile in range(tiles):
            cb_reserve_back(a, 1)
            cb_reserve_back(b, 1)
            noc_async_read_tile(tile, a_tiles, get_write_ptr(a))
            noc_async_read_tile(tile, b_tiles, get_write_ptr(b))
            noc_async_read_barrier()
            cb_push_back(a, 1)
            cb_push_back(b, 1)

    @ttkernel_tensix_compile()
    def add(
        a: CircularBuffer,
        b: CircularBuffer,
        out: CircularBuffer,
        tiles,
        block: CompileTimeValue,
    ):
        binary_op_init_common(a, b, out)
        add_tiles_init(a, b)
        for _ in range(tiles // block):
            cb_reserve_back(out, block)
            for _ in range(block):
                cb_wait_front(a, 1)
                cb_wait_front(b, 1)
                tile_regs_acquire()
                add_tiles(a, b, 0, 0, 0)
                tile_regs_commit()
                cb_pop_front(a, 1)
                cb_pop_front(b, 1)
                tile_regs_wait()
                pack_tile(0, out)
                tile_regs_release()
            cb_push_back(out, block)

    @ttkernel_noc_compile()
    def write(out: CircularBuffer, addr, tiles):
        out_tiles = TensorAccessor(TensorAccessorArgs(1, 0), addr, get_tile_size(out))
        for tile in range(tiles):
            cb_wait_front(out, 1)
            noc_async_write_tile(tile, out_tiles, get_read_ptr(out))
            noc_async_write_barrier()
            cb_pop_front(out, 1)

    def invoke(self, a: Any, b: Any, out: Any, block: int = 1, pages: int | None = None) -> Any:
        """Three kernels on one core."""
        tensors = (a, b, out)
        cbs = [self.create_cb(each, i, num_pages=pages) for i, each in enumerate(tensors)]
        tiles = out.volume() // 1024
        self.set_tensor_accessor_config([a])
        kernels = [
            self.create_kernel(Add.read, cbs[0], cbs[1], a, b.buffer_address(), tiles),
            self.create_kernel(Add.add, *cbs, tiles, block=block),
            self.create_kernel(Add.write, cbs[2], out, tiles),
        ]
        self.program = self.create_program(kernels, cbs)
        return self.program


@pytest.fixture
def device() -> Iterator[Any]:
    """An open device."""
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


def tensor(device: Any, values: np.ndarray[Any, Any]) -> Any:
    """A tensor of tiles in DRAM."""
    return ttnn.Tensor(values.astype(np.float32)).to(ttnn.TILE_LAYOUT).to(device)


def numbers(seed: int, shape: tuple[int, ...] = (64, 96)) -> np.ndarray[Any, Any]:
    """Small integers."""
    return np.random.default_rng(seed).integers(-99, 99, shape)


def test_the_guide_runs_as_it_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    """Its demo compares with ttnn.exp, by torch.allclose with default tolerances."""
    runpy.run_path(str(INPUTS / "guide.py"), run_name="__main__")
    assert capfd.readouterr() == ("Tensors are matching: True\n", "")


def test_addresses_are_those_of_each_call_and_nothing_is_compiled_again(device: Any) -> None:
    """The same operation on other tensors of the same shape."""
    op = Add()
    functions = (Add.read, Add.add, Add.write)
    for each in functions:
        each._compiled.clear()
    compiled = list[int]()
    for seed in range(3):
        a, b = numbers(seed), numbers(seed + 10)
        x, y, out = tensor(device, a), tensor(device, b), tensor(device, 0 * a)
        result = op(x, y, out)
        assert np.array_equal(ttnn.from_device(result).to_numpy(), a + b)
        compiled.append(len(op.kernel_cache))
    assert compiled == [3, 3, 3]
    assert all(len(each._compiled) == 1 for each in functions)


def test_circular_buffers_have_twice_the_pages_that_kernels_ask_for(device: Any) -> None:
    """One page is filled while another is read; `num_pages` says otherwise."""
    a = numbers(0)
    x, y, out = tensor(device, a), tensor(device, a), tensor(device, a)
    op = Add()
    op(x, y, out, block=3)
    assert [each.total_size // 4096 for each in op.program.cbs] == [2, 2, 6]
    op(x, y, out, block=3, pages=12)
    assert [each.total_size // 4096 for each in op.program.cbs] == [12, 12, 12]


def test_a_tensor_larger_than_l1_goes_through(device: Any) -> None:
    """More pages than a core has memory for, and an error where somebody asks for them all."""
    a = numbers(0, (32 * 20, 32 * 20))
    x, y, out = tensor(device, a), tensor(device, 2 * a), tensor(device, a)
    assert np.array_equal(ttnn.from_device(Add()(x, y, out)).to_numpy(), 3 * a)
    with pytest.raises(RuntimeError, match=r"the circular buffers of core .* use fewer pages"):
        Add()(x, y, out, pages=400)


def test_arguments_of_calls_are_not_changed(device: Any) -> None:
    """Lists of run-time arguments stay as they are."""
    a = numbers(0, (32, 32))
    x = tensor(device, a)
    lists = [[3]]

    class Print(PyKernelOp):
        @reader_thread()
        def kernel(first, common):
            print(first, common)

        def invoke(self, *tensors: Any) -> Any:
            kernel = self.create_kernel(Print.kernel, lists, 7)
            assert list(kernel.common_runtime_args) == [7]
            return self.create_program([kernel], [])

    profile = Print().profile(x, x)
    assert profile.printed == ("core (0, 0) NCRISC: 3 7",)
    assert lists == [[3]]


def test_profile(device: Any, tmp_path: Path) -> None:
    """Cycles, threads, a trace, and what the operation returned."""
    a = numbers(0)
    profile = Add().profile(tensor(device, a), tensor(device, a), tensor(device, a))
    assert np.array_equal(ttnn.from_device(profile.output).to_numpy(), 2 * a)
    assert profile.cycles > 1000
    assert str(profile) == f"Add: {profile.cycles} cycles, {profile.cycles / 1000:.1f} us, 1 core"
    first, *_, last = profile.summary().splitlines()
    assert first.startswith(f"Add: {profile.cycles:,} cycles = ")
    assert last.startswith("  bound by ")
    assert profile._repr_html_() == f"<pre>{profile}</pre>"
    rows = profile.threads().splitlines()[1:]
    assert {"read", "add", "write"} <= {row.split(",")[1] for row in rows}
    profile.write_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert {"noc_async_read_tile", "add_tiles"} <= {each["name"] for each in events}
    assert profile.findings == ()


SKELETON = """
class MyCustomOp(PyKernelOp):
    @compute_thread()
    def my_compute_kernel(cb_in: CircularBuffer, cb_out: CircularBuffer,
                          per_core_block_cnt: CompileTimeValue,
                          per_core_block_dim: CompileTimeValue):
        unary_op_init_common(cb_in, cb_out)
        for i in range(0, per_core_block_cnt, 1):
            cb_reserve_back(cb_out, per_core_block_dim)
            for j in range(0, per_core_block_dim, 1):
                tile_regs_acquire()
                cb_wait_front(cb_in, 1)
                cb_pop_front(cb_in, 1)
                tile_regs_release()
            cb_push_back(cb_out, per_core_block_dim)
        return

    @reader_thread()
    def reader(cb_in: CircularBuffer):
        cb_reserve_back(cb_in, 1)
        cb_push_back(cb_in, 1)
        return

    def invoke(self, x, out):
        cb_in, cb_out = self.create_cb(x, 0), self.create_cb(out, 1)
        return self.create_program([
            self.create_kernel(MyCustomOp.my_compute_kernel, cb_in, cb_out,
                               per_core_block_cnt=1, per_core_block_dim=1),
            self.create_kernel(MyCustomOp.reader, cb_in),
        ], [cb_in, cb_out])
"""


def test_the_sanitizer_reports_the_line_of_python(device: Any) -> None:
    """The guide's skeleton frees registers that it never handed over, at its line and column."""
    names = {
        "PyKernelOp": PyKernelOp,
        "CircularBuffer": CircularBuffer,
        "CompileTimeValue": CompileTimeValue,
        "compute_thread": compute_thread,
        "reader_thread": reader_thread,
    }
    op = load_module(SKELETON, "skeleton.py", **names)["MyCustomOp"]()
    x = tensor(device, numbers(0, (32, 32)))
    with pytest.raises(RuntimeError) as error:
        op(x, x)
    *_, place, line, caret, core = str(error.value).splitlines()
    assert place.startswith("skeleton.py:14:17: error: DST is released without being waited for")
    assert line == "                  tile_regs_release()"
    assert caret == "                  ^"
    assert core == "  note: on core (0, 0) PACK"


def run_kernel(device: Any, body: str, **cbs: int) -> Any:
    """Run a reader with a body, and circular buffers of one page."""
    parameters = ", ".join(f"{name}: CircularBuffer" for name in cbs)
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    text = (
        f"class Op(PyKernelOp):\n    @reader_thread()\n    def kernel({parameters}):\n{lines}"
        "    def invoke(self, *tensors):\n"
        f"        cbs = [self.create_cb(tensors[0], i, num_pages=1) for i in {[*cbs.values()]}]\n"
        "        return self.create_program([self.create_kernel(Op.kernel, *cbs)], cbs)\n"
    )
    names = {
        "PyKernelOp": PyKernelOp,
        "CircularBuffer": CircularBuffer,
        "reader_thread": reader_thread,
    }
    x = tensor(device, numbers(0, (32, 32)))
    return load_module(text, "op.py", **names)["Op"]().profile(x, x)


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("a = [1, 2]\ni = get_write_ptr(cb)\nprint(a[i])", "op.py:6:15: error: "),
        ("n = get_write_ptr(cb) * 0\nprint(5 + (3 // n))", "op.py:5:20: error: division by zero"),
        ("n = get_write_ptr(cb)\nassert n < 0, 'no'", "op.py:5:16: error: an assertion does not"),
        ("cb_wait_front(cb, 1)", "op.py:4:9: "),
        ("é = 1; cb_wait_front(cb, 1)", "op.py:4:16: "),
    ],
)
def test_what_goes_wrong_on_the_core_is_at_its_line(device: Any, body: str, place: str) -> None:
    """Undefined behaviour, assertions and waiting without end."""
    with pytest.raises(RuntimeError) as error:
        run_kernel(device, body, cb=0)
    assert place in str(error.value)


def test_a_page_that_the_tensor_does_not_have_is_not_written(device: Any) -> None:
    """The pages behind a tensor may be those of others."""
    a = numbers(0)
    out, other = tensor(device, a[:32, :32]), tensor(device, a)
    x, y = tensor(device, a), tensor(device, a)

    class AddAll(Add):
        def invoke(self, a: Any, b: Any, out: Any, block: int = 1, pages: int | None = None) -> Any:
            cbs = [self.create_cb(each, i) for i, each in enumerate((a, b, out))]
            self.set_tensor_accessor_config([a])
            kernels = [
                self.create_kernel(Add.read, cbs[0], cbs[1], a, b, 6),
                self.create_kernel(Add.add, *cbs, 6, block=1),
                self.create_kernel(Add.write, cbs[2], out, 6),
            ]
            return self.create_program(kernels, cbs)

    with pytest.raises(RuntimeError, match="copies page 1 of a buffer that has 1 page") as error:
        AddAll()(x, y, out)
    assert f"{Path(__file__)}:79:13: error: " in str(error.value)
    assert np.array_equal(ttnn.from_device(other).to_numpy(), a)


def test_a_deadlock_names_the_line(device: Any) -> None:
    """Nobody fills the circular buffer."""
    with pytest.raises(RuntimeError, match=r"op.py:5:13"):
        run_kernel(device, "while True:\n    cb_wait_front(cb, 1)", cb=0)


def test_functions_of_another_file_have_the_place_of_their_call(device: Any) -> None:
    """A kernel's places are all of one file."""
    helper = load_module("def divide(a, b):\n    return a // b\n", "helper.py")["divide"]
    text = (
        "class Op(PyKernelOp):\n    @reader_thread()\n    def kernel(n):\n"
        "        print(divide(3, n))\n"
        "    def invoke(self, *tensors):\n"
        "        return self.create_program([self.create_kernel(Op.kernel, 0)], [])\n"
    )
    op = load_module(
        text, "main.py", PyKernelOp=PyKernelOp, reader_thread=reader_thread, divide=helper
    )["Op"]()
    x = tensor(device, numbers(0, (32, 32)))
    with pytest.raises(RuntimeError, match=r"main.py:4:15: error: division by zero"):
        op(x, x)


def run_on(
    device: Any, cores: tuple[int, int], kernels: str, *argument_lists: Any, **named: Any
) -> tuple[str, ...]:
    """What kernels `k0`, `k1`, ... print on so many columns and rows of cores, sorted."""
    decorators = {
        "reader_thread": reader_thread,
        "ttkernel_noc_compile": ttkernel_noc_compile,
        "CircularBuffer": CircularBuffer,
        "CompileTimeValue": CompileTimeValue,
    }
    module = load_module(kernels, "op.py", **decorators)

    class Op(PyKernelOp):
        def define_core_ranges(self, tensors: Any, options: Any) -> Any:
            end = ttnn.CoreCoord(cores[0] - 1, cores[1] - 1)
            return ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), end)])

        def invoke(self, x: Any, out: Any) -> Any:
            cb = self.create_cb(x, 3, num_pages=1)
            made = [
                self.create_kernel(
                    module[f"k{i}"],
                    *(cb if isinstance(each, str) else each for each in arguments),
                    **named,
                )
                for i, arguments in enumerate(argument_lists)
            ]
            return self.create_program(made, [cb])

    x = tensor(device, numbers(0, (32, 32)))
    return tuple(sorted(Op().profile(x, x).printed))


def test_each_core_has_a_list_of_arguments(device: Any) -> None:
    """Lists `[x][y][n]`, as the demos of tt-mlir write them: n arguments one after another."""
    text = "@reader_thread()\ndef k0(first, last, step):\n    print(first, last, step)\n"
    both = [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
    expected = (
        "core (0, 0) NCRISC: 1 2 9",
        "core (0, 1) NCRISC: 3 4 9",
        "core (1, 0) NCRISC: 5 6 9",
        "core (1, 1) NCRISC: 7 8 9",
    )
    assert run_on(device, (2, 2), text, (both, 9)) == expected
    first, last = [[[1], [3]], [[5], [7]]], [[[2], [4]], [[6], [8]]]
    assert run_on(device, (2, 2), text, (first, last, 9)) == expected
    with pytest.raises(ValueError, match="run-time arguments of cores differ in count: 1 and 2"):
        run_on(device, (2, 1), text, ([[[1]], [[2, 3]]], 9))
    with pytest.raises(TypeError, match=r"'a' is no run-time argument of core \(1, 0\)"):
        run_on(device, (2, 1), text, ([[1], ["a"]], 9))


def test_arguments_and_parameters_that_are_more(device: Any) -> None:
    """Arguments by number, by name and by default; none for what is not read."""
    text = (
        "@reader_thread()\ndef k0(a):\n"
        "    print(a, get_common_arg_val(int, 1), get_arg_val(int, 0))\n"
    )
    assert run_on(device, (1, 1), text, (5, 6, [[7]])) == ("core (0, 0) NCRISC: 5 6 7",)
    text = "@reader_thread()\ndef k0(a, b, unused, c=3):\n    print(a, b, c)\n"
    assert run_on(device, (1, 1), text, (5,), b=8) == ("core (0, 0) NCRISC: 5 8 3",)
    with pytest.raises(ValueError, match=r"op.py:2:1: error: kernel 'k0' needs 'b', which was not"):
        run_on(device, (1, 1), text, (5,))
    with pytest.raises(ValueError, match="kernel 'k0' takes 4 arguments, not 5"):
        run_on(device, (1, 1), text, (5, 6, 7, 8, 9))


def test_flags_may_be_compile_time_arguments(device: Any) -> None:
    """What create_kernel knows of them is known when the kernel is compiled."""
    text = (
        "@reader_thread()\ndef k0(cb: CircularBuffer, address):\n"
        "    in_dram = get_compile_time_arg_val(int, 1)\n"
        "    tiles = get_interleaved_addr_gen_fast(\n"
        "        in_dram, address, get_tile_size(cb), get_dataformat(cb))\n"
        "    cb_reserve_back(cb, 1)\n"
        "    noc_async_read_tile(0, tiles, get_write_ptr(cb))\n"
        "    noc_async_read_barrier()\n"
        "    print(in_dram)\n"
    )
    for config, flag in ((ttnn.DRAM_MEMORY_CONFIG, 1), (ttnn.L1_MEMORY_CONFIG, 0)):
        host = ttnn.Tensor(np.ones((32, 32), np.float32)).to(ttnn.TILE_LAYOUT)
        placed = ttnn.to_device(host, device, memory_config=config)
        printed = run_on(device, (1, 1), text, ("cb", placed), tensor_accessor_configs=[flag])
        assert printed == (f"core (0, 0) NCRISC: {flag}",)


def test_kernels_for_either_processor_take_the_free_one(device: Any) -> None:
    """Two of them run on two processors, and one beside a reader on the writer's."""
    text = "".join(
        f"@{decorator}()\ndef k{i}():\n    print({i})\n"
        for i, decorator in enumerate(["ttkernel_noc_compile"] * 2)
    )
    printed = run_on(device, (1, 1), text, (), ())
    assert printed == ("core (0, 0) BRISC: 0", "core (0, 0) NCRISC: 1")
    beside = text.replace("ttkernel_noc_compile", "reader_thread", 1)
    printed = run_on(device, (1, 1), beside, (), ())
    assert printed == ("core (0, 0) BRISC: 1", "core (0, 0) NCRISC: 0")


def test_kernels_of_one_file_are_named_by_their_functions(device: Any) -> None:
    """Two on one processor: the message has both names."""
    text = "".join(f"@reader_thread()\ndef k{i}():\n    pass\n" for i in range(2))
    with pytest.raises(
        RuntimeError, match=r"kernels 'k0' of op\.py and 'k1' of op\.py both run on"
    ):
        run_on(device, (1, 1), text, (), ())


def test_printed_circular_buffers_are_their_numbers(device: Any) -> None:
    """As in C++, where one is its number."""
    text = '@reader_thread()\ndef k0(cb: CircularBuffer):\n    print("cb", cb, f"{cb}")\n'
    assert run_on(device, (1, 1), text, ("cb",)) == ("core (0, 0) NCRISC: cb 3 3",)


def test_texts_of_assertions_are_in_the_message(device: Any) -> None:
    """A text, what is no text as it is written, and those of called functions."""
    text = (
        "LIMIT = 3\n"
        "def check(n):\n    assert n < LIMIT, 'n is too large'\n    return n\n"
        "@reader_thread()\ndef k0(n):\n"
        "    é = 1; assert n > 1, f'{n} is too small'\n"
        "    print(check(n))\n"
    )
    place = "op.py:7:19: error: an assertion does not hold: f'{n} is too small' [assert]"
    for value, expected in (
        (1, place),
        (5, "op.py:3:12: error: an assertion does not hold: n is too large [assert]"),
    ):
        with pytest.raises(RuntimeError) as error:
            run_on(device, (1, 1), text, (value,))
        assert expected in str(error.value)
    assert run_on(device, (1, 1), text, (2,)) == ("core (0, 0) NCRISC: 2",)


def test_texts_that_are_printed(device: Any) -> None:
    """Control characters come through; texts of C++ end at a NUL, which is refused."""
    text = "@reader_thread()\ndef k0():\n    print('a\\x011b\\tc\\x7f')\n"
    assert run_on(device, (1, 1), text, ()) == ("core (0, 0) NCRISC: a\x011b\tc\x7f",)
    text = "@reader_thread()\ndef k0():\n    print('a\\0b')\n"
    with pytest.raises(PyKernelError, match=r"op.py:3:11: error: a text that is printed must not"):
        run_on(device, (1, 1), text, ())


def test_mistakes_of_the_host(device: Any) -> None:
    """They say what to do."""
    x = tensor(device, numbers(0, (32, 32)))

    class Nothing(PyKernelOp):
        pass

    class Wrong(PyKernelOp):
        def invoke(self, *tensors: Any) -> Any:
            return None

    class Untyped(PyKernelOp):
        @ttkernel_compile("noc")
        def kernel(n):
            pass

        def invoke(self, *tensors: Any) -> Any:
            return self.create_kernel(tensors[0])

    with pytest.raises(TypeError, match=r"create_cb takes a tensor of ttnn, not numpy.ndarray; tt"):
        Nothing().create_cb(numbers(0), 0)
    with pytest.raises(NotImplementedError, match="Nothing has no 'invoke'"):
        Nothing()(x, x)
    with pytest.raises(TypeError, match=r"Wrong.invoke returned None; it has to return"):
        Wrong()(x, x)
    with pytest.raises(TypeError, match="is no kernel; decorate it with"):
        Untyped()(x, x)
    with pytest.raises(ValueError, match="core ranges are known when the operation is called"):
        Nothing().get_core_ranges()


def test_importing_pykernel_finds_ttnn_and_nothing_else() -> None:
    """`import pykernel` is quick to leave torch alone, and lets `import ttnn` work."""
    code = (
        "import sys, pykernel\n"
        "import ttnn\nimport ttmlir.ttnn\nassert ttnn is ttmlir.ttnn\nprint('torch' in sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stdout == "False\n"


def test_module_names_of_all_generations() -> None:
    """The modules of the first guide, those of later ones, and flat imports."""
    code = (
        "from pykernel.ast import *\nfrom pykernel.op import PyKernelOp\n"
        "from pykernel.types import *\nfrom pykernel.kernel_ast import reader_thread as later\n"
        "from pykernel.kernel_types import CompileTimeValue as value\nimport pykernel\n"
        "assert later is reader_thread is pykernel.reader_thread\n"
        "assert value is CompiledValue is pykernel.CompileTimeValue\n"
    )
    namespace: dict[str, object] = {}
    exec(code, namespace)
    assert {"writer_thread", "compute_thread", "Arguments", "Kernel"} <= set(namespace)
