"""Kernels in the APIs that programs are written with: PyKernel, ttnn, TT-Metalium."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
import torch
from running.randomness import TestGenerator

import ttmlir
from pykernel import PyKernelOp
from ttmlir import metalium, ttnn
from ttmlir.bridge import JAXKernel, NumPyKernel, Shards, TorchKernel
from ttmlir.program import AddressOfTensor, read_custom_kernel

RANDOM = TestGenerator(__name__)
EXAMPLES = Path(__file__).parents[2] / "examples"


def _load_sum() -> type[PyKernelOp]:
    spec = spec_from_file_location("vector_add", EXAMPLES / "pykernel" / "vector_add.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.VectorAdd


Sum: Any = _load_sum()
"""The sum of two tensors, on four cores."""


class Shifted(Sum):
    """Writes behind the address of its result, which programs must not do."""

    def create_kernel(self, kernel: Any, *args: Any, **kwargs: Any) -> Any:
        """As for the sum, but for one address."""
        if kernel is Sum.write:
            cb, out, *rest = args
            args = (cb, out.buffer_address() + 4096, *rest)
        return super().create_kernel(kernel, *args, **kwargs)


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
    """They would be wrong in every other run; here, one is the next tensor's address."""
    a = numbers(32, 32)
    with pytest.raises(ValueError, match="argument of kernel 'write' is computed from an address"):
        NumPyKernel("sum", Shifted()).dump_config(a, a, a)


def test_outputs_may_come_first() -> None:
    """An operation gets its tensors in the order of its parameters."""

    class OutFirst(Sum):
        def invoke(self, out: Any, a: Any, b: Any) -> Any:
            return super().invoke(a, b, out)

    kernel = NumPyKernel("sum", OutFirst(), outputs=("out",))
    a, b = numbers(32, 64), numbers(32, 64)
    np.testing.assert_allclose(kernel(a=a, b=b, out_shape=a), a + b, atol=2**-8)


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


MOVE = """
#include "dataflow_api.h"

void kernel_main() {
    constexpr auto from_args = TensorAccessorArgs<0>();
    constexpr auto to_args = TensorAccessorArgs<from_args.next_compile_time_args_offset()>();
    constexpr uint32_t bytes = get_named_compile_time_arg_val("bytes");
    const auto source = TensorAccessor(from_args, get_arg_val<uint32_t>(0), bytes);
    const auto target = TensorAccessor(to_args, get_arg_val<uint32_t>(1), bytes);
    const uint32_t count = get_arg_val<uint32_t>(2);
    cb_reserve_back(0, 1);
    for (uint32_t i = 0; i < count; i++) {
        noc_async_read_page(i, source, get_write_ptr(0));
        noc_async_read_barrier();
        noc_async_write_page((i + STEPS) % count, target, get_write_ptr(0));
        noc_async_write_barrier();
    }
}
"""


def roll_by_ttnn(x: Any, y: Any, steps: int = 1) -> Any:
    """The program that moves pages, as ttnn describes it; y is made from x."""
    where = ttnn.CoreRangeSet([ttnn.CoreRange((1, 2), (1, 2))])
    size, count = x.spec.page_bytes, x.spec.size_bytes // x.spec.page_bytes
    form = ttnn.CBFormatDescriptor(buffer_index=0, data_format=x.dtype, page_size=size)
    words = [
        word for each in (x, y) for word in ttnn.TensorAccessorArgs(each).get_compile_time_args()
    ]
    kernel = ttnn.KernelDescriptor(
        kernel_source=MOVE,
        source_type=ttnn.KernelDescriptor.SourceType.SOURCE_CODE,
        core_ranges=where,
        compile_time_args=words,
        named_compile_time_args=[("bytes", size)],
        defines=[("STEPS", str(steps))],
        runtime_args=[[[x.buffer_address(), y.buffer_address(), count]]],
        config=ttnn.WriterConfigDescriptor(),
    )
    cb = ttnn.CBDescriptor(total_size=size, core_ranges=where, format_descriptors=[form])
    return ttnn.ProgramDescriptor([kernel], [], [cb])


def roll_by_metalium(x: Any, y: Any, steps: int = 1) -> Any:
    """The same as TT-Metalium's host program."""
    program, core = metalium.CreateProgram(), metalium.CoreCoord(1, 2)
    pages = metalium.CircularBufferConfig(
        x.page_size(), {metalium.CBIndex.c_0: metalium.DataFormat.Float32}
    )
    metalium.CreateCircularBuffer(program, core, pages.set_page_size(0, x.page_size()))
    words: list[int] = []
    for each in (x, y):
        metalium.TensorAccessorArgs(each).append_to(words)
    config = metalium.WriterDataMovementConfig(
        words, {"STEPS": str(steps)}, {"bytes": x.page_size()}
    )
    kernel = metalium.CreateKernelFromString(program, MOVE, core, config)
    metalium.SetRuntimeArgs(program, kernel, core, [x, y, x.num_pages()])
    return program


ROLLS = {"ttnn": roll_by_ttnn, "metalium": roll_by_metalium}


@pytest.mark.parametrize("api", ["ttnn", "metalium"])
@pytest.mark.parametrize(
    "memory", ["dram", "l1", Shards("height_sharded", (3, 1)), Shards("block_sharded", (3, 2))]
)
def test_programs_of_either_api_are_kernels(api: str, memory: Any) -> None:
    """Rows move down by two, wherever the tensors lie; shards have parts of rows as pages."""
    kernel = NumPyKernel("roll", ROLLS[api], layout="row_major", memory=memory, api=api)
    x = numbers(5, 8)
    pages = 2 if memory == Shards("block_sharded", (3, 2)) else 1
    expected = np.roll(x.reshape(5 * pages, -1), 2 * pages, axis=0).reshape(5, 8)
    assert np.array_equal(kernel(x, out_shape=x, steps=2 * pages), expected)


@pytest.mark.parametrize("api", ["ttnn", "metalium"])
def test_programs_of_either_api_are_compiled(api: str) -> None:
    """Their kernels are in the file, with the tensors' addresses of each run."""
    kernel = JAXKernel("roll", ROLLS[api], layout="row_major", api=api)
    x = numbers(7, 16)

    def model(x: Any) -> Any:
        return jnp.sin(kernel(x + 1, out_shape=x))

    expected = np.sin(np.roll(x + 1, 1, axis=0))
    np.testing.assert_allclose(ttmlir.compile(model, x)(x), expected, atol=1e-6)


def test_devices_of_the_user_stay_open() -> None:
    """Kernels are made for a device of their own."""
    device = ttnn.open_device(device_id=0)
    try:
        kept = ttnn.ones((32, 32), layout=ttnn.TILE_LAYOUT, device=device)
        NumPyKernel("sum", Sum()).dump_config(*(numbers(32, 32) for _ in range(3)))
        assert ttnn.to_torch(ttnn.add(kept, kept)).sum() == 2048
    finally:
        ttnn.close_device(device)


CALLS = iter(range(100))

WRONG: list[tuple[dict[str, Any], str]] = [
    (
        {"func": roll_by_ttnn, "api": "metal"},
        "the api 'metal' is not supported; supported are description, ttnn, metalium",
    ),
    (
        {"func": lambda x, y: None, "api": "ttnn"},
        "'roll' returned a NoneType; a function of this api returns its ttnn.ProgramDescriptor",
    ),
    (
        {"func": lambda x, y: roll_by_ttnn, "api": "metalium"},
        "'roll' returned a function; a function of this api returns its Program",
    ),
    (
        {"func": lambda x, y: ttnn.ProgramDescriptor()},
        "returned a ProgramDescriptor; a kernel's function returns the ProgramDescription of its "
        "program, or with api='ttnn'",
    ),
    (
        {"func": lambda x, y: roll_by_ttnn(x, y, next(CALLS)), "api": "ttnn"},
        "'roll' builds another program when it is called again",
    ),
]


@pytest.mark.parametrize(("options", "message"), WRONG, ids=range(len(WRONG)))
def test_what_is_no_program_is_refused(options: dict[str, Any], message: str) -> None:
    """With what a function has to return."""
    x = numbers(4, 8)
    with pytest.raises(ValueError, match=message):
        NumPyKernel("roll", layout="row_major", **options).dump_config(x, x)


def test_kernels_in_files_are_read(tmp_path: Path) -> None:
    """The text that a program carries is complete; eagerly, faults name the file."""
    path = tmp_path / "move.cpp"
    path.write_text(MOVE.replace("noc_async_read_barrier();", ""))

    def build(x: Any, y: Any) -> Any:
        program = roll_by_ttnn(x, y)
        program.kernels[0].kernel_source = str(path)
        program.kernels[0].source_type = ttnn.KernelDescriptor.SourceType.FILE_PATH
        return program

    x = numbers(5, 8)
    kernel = NumPyKernel("roll", build, layout="row_major", api="ttnn")
    with pytest.raises(Exception, match=r"move\.cpp:15:9: error: copies bytes .* a noc_async_read"):
        kernel(x, out_shape=x)
    # What was built before is not kept when the file changes.
    path.write_text(MOVE)
    config, _, _ = kernel.dump_config(x, x)
    path.unlink()
    assert read_custom_kernel(config).program.kernels[0].source == MOVE
    assert np.array_equal(kernel(x, out_shape=x), np.roll(x, 1, axis=0))


def test_kernels_in_files_take_their_headers_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The saved text has them; when a header changes, the kernel is made again."""
    (tmp_path / "fill.cpp").write_text(
        '#include "dataflow_api.h"\n#include "value.hpp"\n'
        "void kernel_main() {\n"
        "    const uint32_t at = get_arg_val<uint32_t>(0);\n"
        "    const auto to = TensorAccessor(TensorAccessorArgs<0>(), at, 128);\n"
        "    cb_reserve_back(0, 1);\n"
        "    auto words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_write_ptr(0));\n"
        "    for (uint32_t i = 0; i < 32; i++) words[i] = value;\n"
        "    noc_async_write_page(0, to, get_write_ptr(0));\n"
        "    noc_async_write_barrier();\n"
        "}\n"
    )
    (tmp_path / "value.hpp").write_text("#pragma once\nconstexpr uint32_t value = 0x40400000;\n")

    def build(x: Any, y: Any) -> Any:
        program = metalium.CreateProgram()
        config = metalium.CircularBufferConfig(128, {0: metalium.DataFormat.UInt32})
        metalium.CreateCircularBuffer(program, (0, 0), config.set_page_size(0, 128))
        kernel = metalium.CreateKernel(
            program,
            tmp_path / "fill.cpp",
            (0, 0),
            metalium.ReaderDataMovementConfig(
                metalium.TensorAccessorArgs(y).get_compile_time_args()
            ),
        )
        metalium.SetRuntimeArgs(program, kernel, (0, 0), [y])
        return program

    fill = NumPyKernel("fill", build, layout="row_major", api="metalium")
    x = np.zeros((1, 32), np.float32)
    assert fill(x, out_shape=x).tolist() == [[3.0] * 32]
    config, *_ = fill.dump_config(x, x)
    assert "constexpr uint32_t value" in read_custom_kernel(config).program.kernels[0].source
    assert str(tmp_path) not in config
    (tmp_path / "value.hpp").write_text("#pragma once\nconstexpr uint32_t value = 0x40800000;\n")
    assert fill(x, out_shape=x).tolist() == [[4.0] * 32]
