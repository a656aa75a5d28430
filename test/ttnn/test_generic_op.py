"""Programs of kernels on tensors: descriptors, arguments, and bytes that both sides see."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from ttmlir import ttnn
from ttmlir.sim.kernels import compiler

KERNELS = Path(__file__).resolve().parents[2] / "examples" / "metalium" / "kernels"

READER = """
#include "dataflow_api.h"

void kernel_main() {
    constexpr uint32_t cb = get_compile_time_arg_val(0);
    constexpr auto args = TensorAccessorArgs<1>();
    const auto source = TensorAccessor(args, get_arg_val<uint32_t>(0), get_tile_size(cb));
    const uint32_t first = get_arg_val<uint32_t>(1);
    const uint32_t count = get_common_arg_val<uint32_t>(0);
    for (uint32_t i = first; i < first + count; i++) {
        cb_reserve_back(cb, 1);
        noc_async_read_tile(i, source, get_write_ptr(cb));
        noc_async_read_barrier();
        cb_push_back(cb, 1);
    }
}
"""

WRITER = """
#include "dataflow_api.h"

void kernel_main() {
    constexpr uint32_t cb = get_compile_time_arg_val(0);
    constexpr auto args = TensorAccessorArgs<1>();
    const auto target = TensorAccessor(args, get_arg_val<uint32_t>(0), get_tile_size(cb));
    const uint32_t first = get_arg_val<uint32_t>(1);
    const uint32_t count = get_common_arg_val<uint32_t>(0);
    for (uint32_t i = first; i < first + count; i++) {
        cb_wait_front(cb, 1);
        noc_async_write_tile(i, target, get_read_ptr(cb));
        noc_async_write_barrier();
        cb_pop_front(cb, 1);
    }
}
"""


def cores(columns: int, rows: int) -> Any:
    """A rectangle of cores at (0, 0)."""
    return ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (columns - 1, rows - 1))])


def circular_buffer(index: int, dtype: Any, where: Any, pages: int = 2) -> Any:
    """A circular buffer of tiles."""
    size = ttnn.Tile((32, 32)).get_tile_size(dtype)
    form = ttnn.CBFormatDescriptor(buffer_index=index, data_format=dtype, page_size=size)
    return ttnn.CBDescriptor(total_size=pages * size, core_ranges=where, format_descriptors=[form])


def copy_program(x: Any, y: Any, where: Any, forms: str) -> Any:
    """Copies a tensor tile by tile, each core its part; arguments in one of the three forms."""
    box = where.bounding_box().grid_size()
    count = x.volume() // 1024 // where.num_cores()
    order = [(core.x, core.y) for core in where]

    def arguments(tensor: Any) -> Any:
        address = tensor.buffer_address()
        by_core = {core: [address, place * count] for place, core in enumerate(order)}
        if forms == "nested":
            return [[by_core[column, row] for row in range(box.y)] for column in range(box.x)]
        if forms == "pairs":
            return [(ttnn.CoreCoord(*core), values) for core, values in by_core.items()]
        args = ttnn.RuntimeArgs()
        for (column, row), values in by_core.items():
            args[column][row] = values
        return args

    def kernel(text: str, tensor: Any, config: Any) -> Any:
        return ttnn.KernelDescriptor(
            kernel_source=text,
            source_type=ttnn.KernelDescriptor.SourceType.SOURCE_CODE,
            core_ranges=where,
            compile_time_args=[0, *ttnn.TensorAccessorArgs(tensor).get_compile_time_args()],
            runtime_args=arguments(tensor),
            common_runtime_args=[count],
            config=config,
        )

    return ttnn.ProgramDescriptor(
        kernels=[
            kernel(READER, x, ttnn.ReaderConfigDescriptor()),
            kernel(WRITER, y, ttnn.WriterConfigDescriptor()),
        ],
        semaphores=[],
        cbs=[circular_buffer(0, x.dtype, where)],
    )


@pytest.mark.parametrize("forms", ["nested", "pairs", "object"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "bfloat8_b", "int32"])
def test_copies_of_tensors(forms: str, dtype: str, device: Any) -> None:
    """Kernels on 2x3 cores copy a tensor in DRAM to one in L1, by all forms of arguments."""
    values = np.random.default_rng(0).integers(-100, 100, (64, 192))
    x = ttnn.from_torch(
        torch.as_tensor(values.astype(np.float32 if dtype != "int32" else np.int32)),
        getattr(ttnn, dtype),
        layout=ttnn.TILE_LAYOUT,
        device=device,
    )
    y = ttnn.allocate_tensor_on_device(
        x.shape, x.dtype, ttnn.TILE_LAYOUT, device, ttnn.L1_MEMORY_CONFIG
    )
    result = ttnn.generic_op([x, y], copy_program(x, y, cores(2, 3), forms))
    assert result is y
    assert torch.equal(ttnn.to_torch(y), ttnn.to_torch(x))


def test_sums_by_kernels_of_files(device: Any) -> None:
    """Operations and kernels work on the same tensors, in turn, at the same addresses."""
    where = cores(1, 1)
    shape = (64, 96)
    rng = np.random.default_rng(1)
    a, b = (torch.as_tensor(rng.integers(-8, 8, shape).astype(np.float32)) for _ in range(2))
    x, y = (
        ttnn.from_torch(each, ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
        for each in (a, b)
    )
    z = ttnn.empty(shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, device)

    def kernel(name: str, args: list[int], config: Any) -> Any:
        return ttnn.KernelDescriptor(
            kernel_source=str(KERNELS / name),
            core_ranges=where,
            runtime_args=[[args]],
            config=config,
        )

    program = ttnn.ProgramDescriptor(
        kernels=[
            kernel(
                "read_two_tensors.cpp",
                [x.buffer_address(), y.buffer_address(), 6],
                ttnn.ReaderConfigDescriptor(),
            ),
            kernel("add_tiles.cpp", [6], ttnn.ComputeConfigDescriptor()),
            kernel("write_tiles.cpp", [z.buffer_address(), 0, 6], ttnn.WriterConfigDescriptor()),
        ],
        cbs=[circular_buffer(index, x.dtype, where) for index in (0, 1, 16)],
    )
    assert torch.equal(ttnn.to_torch(ttnn.generic_op((x, y, z), program)).float(), a + b)
    # What an operation writes, the kernels read at the next call; and the other way round.
    ttnn.mul_(x, 2)
    ttnn.generic_op((x, y, z), program)
    assert torch.equal(ttnn.to_torch(z).float(), 2 * a + b)
    assert torch.equal(ttnn.to_torch(ttnn.relu(z)).float(), (2 * a + b).relu())
    assert device.command_queue().reports[-1].cycles > 1000


def test_programs_on_meshes() -> None:
    """Each device runs the program with its parts, or that of the devices it is among."""
    place, devices = ttnn.MeshCoordinate, ttnn.MeshCoordinateRange
    with ttnn.create_mesh_device(ttnn.MeshShape(1, 2)) as mesh:
        values = torch.randn(64, 128).bfloat16()
        mapper = ttnn.ShardTensorToMesh(mesh, 1)
        x = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=mesh, mesh_mapper=mapper)
        y = ttnn.zeros_like(x)
        program = copy_program(x, y, cores(2, 2), "pairs")
        composer = ttnn.ConcatMeshToTensor(mesh, 1)
        assert ttnn.generic_op([x, y], program) is y
        assert torch.equal(ttnn.to_torch(y, mesh_composer=composer), values)
        z = ttnn.zeros_like(x)
        copy = copy_program(x, z, cores(2, 2), "pairs")
        alone = ttnn.MeshProgramDescriptor({devices(place(0, 1), place(0, 1)): copy})
        ttnn.generic_op([x, z], alone)
        first, second = map(ttnn.to_torch, ttnn.get_device_tensors(z))
        assert not first.any()
        assert torch.equal(second, values[:, 64:])
        assert [*alone] == [devices(place(0, 1), place(0, 1))]
        with pytest.raises(RuntimeError, match=r"MeshCoordinate\(\[0, 1\]\) has a program already"):
            alone[devices(mesh.shape)] = program
        with pytest.raises(TypeError, match=r"devices are a ttnn.MeshCoordinateRange"):
            ttnn.MeshProgramDescriptor({place(0, 0): program})


def test_circular_buffers_on_shards(device: Any) -> None:
    """A circular buffer that lies on a sharded tensor holds the tensor's shards."""
    config = ttnn.create_sharded_memory_config(
        (64, 64), ttnn.CoreGrid(y=2, x=1), ttnn.ShardStrategy.HEIGHT
    )
    values = torch.arange(64 * 64).reshape(64, 64).float() % 200
    x = ttnn.from_torch(
        values, ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=config
    )
    y = ttnn.zeros((64, 64), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
    text = WRITER.replace("cb_wait_front(cb, 1);", "").replace("cb_pop_front(cb, 1);", "")
    text = text.replace("get_read_ptr(cb)", "get_read_ptr(cb) + (i - first) * get_tile_size(cb)")
    where = config.shard_spec.grid
    writer = ttnn.KernelDescriptor(
        kernel_source=text,
        source_type=ttnn.KernelDescriptor.SourceType.SOURCE_CODE,
        core_ranges=where,
        compile_time_args=[3, *ttnn.TensorAccessorArgs(y).get_compile_time_args()],
        runtime_args=[(ttnn.CoreCoord(0, row), [y.buffer_address(), 2 * row]) for row in range(2)],
        common_runtime_args=[2],
        config=ttnn.WriterConfigDescriptor(),
    )
    program = ttnn.ProgramDescriptor([writer], [], [ttnn.cb_descriptor_from_sharded_tensor(3, x)])
    ttnn.generic_op([x, y], program)
    assert torch.equal(ttnn.to_torch(y).float(), values)


def test_faults_of_kernels(device: Any) -> None:
    """A fault says which line of the program ran the kernel, and where in the kernel it is."""
    x = ttnn.ones((32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    program = copy_program(x, x, cores(1, 1), "nested")
    program.kernels[0].kernel_source = READER.replace("noc_async_read_barrier();", "")
    with pytest.raises(RuntimeError) as caught:
        ttnn.generic_op([x, x], program)
    text = str(caught.value)
    assert "error: ttnn.generic_op: a kernel cannot go on\n" in text
    assert "        ttnn.generic_op([x, x], program)\n" in text
    assert "kernel_0.cpp:14:9: error: cb_push_back hands over pages of circular buffer 0" in text


def test_faults_of_kernels_in_files(device: Any, tmp_path: Path) -> None:
    """The fault is at a line of the file, whose path is as it was given."""
    x = ttnn.ones((32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    program = copy_program(x, x, cores(1, 1), "nested")
    path = tmp_path / "my reader.cpp"
    path.write_text(READER.replace("noc_async_read_barrier();", ""))
    program.kernels[0].kernel_source = str(path)
    program.kernels[0].source_type = ttnn.KernelDescriptor.SourceType.FILE_PATH
    with pytest.raises(RuntimeError) as caught:
        ttnn.generic_op([x, x], program)
    assert f"{path}:14:9: error: cb_push_back hands over pages" in str(caught.value)


def test_kernels_are_compiled_once(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second call with other tensors of the same shape compiles nothing."""
    parsed = list[str]()

    def parse(text: str, file: str, **options: Any) -> Any:
        parsed.append(file)
        return compiler_parse(text, file, **options)

    compiler_parse = compiler.parse
    monkeypatch.setattr(compiler, "parse", parse)

    def copy() -> None:
        x, y = (ttnn.ones((64, 64), layout=ttnn.TILE_LAYOUT, device=device) for _ in range(2))
        kept.append((x, y))
        ttnn.generic_op([x, y], copy_program(x, y, cores(2, 1), "pairs"))

    kept: list[Any] = []
    copy()
    compiled = len(parsed)
    copy()
    assert kept[0][1].buffer_address() != kept[1][1].buffer_address()
    assert len(parsed) == compiled


SIGNAL = """
#include "dataflow_api.h"

void kernel_main() {
    constexpr uint32_t number = get_named_compile_time_arg_val("signal");
    noc_semaphore_set(
        reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_semaphore(number)),
        get_named_compile_time_arg_val("value"));
}
"""

AWAIT = """
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t address = get_semaphore(get_arg_val<uint32_t>(0));
    auto here = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(address);
    noc_semaphore_wait(here, get_arg_val<uint32_t>(1));
    DPRINT << "semaphore is " << *here << ENDL();
}
"""


def signal_program(numbers: tuple[int, ...], used: int) -> Any:
    """One kernel sets the semaphore of a number to 5, another one waits for that."""
    where = cores(1, 1)
    forms = {
        SIGNAL: {
            "named_compile_time_args": [("signal", used), ("value", 5)],
            "config": ttnn.ReaderConfigDescriptor(),
        },
        AWAIT: {"runtime_args": [[[used, 5]]], "config": ttnn.WriterConfigDescriptor()},
    }
    return ttnn.ProgramDescriptor(
        kernels=[
            ttnn.KernelDescriptor(
                kernel_source=text,
                source_type=ttnn.KernelDescriptor.SourceType.SOURCE_CODE,
                core_ranges=where,
                **fields,
            )
            for text, fields in forms.items()
        ],
        semaphores=[
            ttnn.SemaphoreDescriptor(id=number, core_ranges=where, initial_value=0)
            for number in numbers
        ],
        cbs=[],
    )


def test_numbers_of_semaphores_and_named_arguments(device: Any) -> None:
    """A semaphore has the number that it was given; kernels find arguments by name."""
    x = ttnn.ones((32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    ttnn.generic_op([x, x], signal_program((3, 7), used=7))
    assert device.command_queue().reports[-1].printed[-1].endswith("semaphore is 5")
    with pytest.raises(RuntimeError, match="semaphore 3 was already created on one of the cores"):
        ttnn.generic_op([x, x], signal_program((3, 3), used=3))
    with pytest.raises(RuntimeError, match="semaphore 16 does not exist; they are numbered 0 to"):
        ttnn.generic_op([x, x], signal_program((16,), used=16))
    program = signal_program((7,), used=7)
    program.kernels[0].named_compile_time_args = [("signals", 7), ("value", 5)]
    message = "no compile-time argument 'signal'; the kernel has 'signals', 'value'; did you mean"
    with pytest.raises(RuntimeError, match=message):
        ttnn.generic_op([x, x], program)
    program.kernels[0].named_compile_time_args = [("signal", 7), ("signal", 5)]
    with pytest.raises(RuntimeError, match="two compile-time arguments named 'signal'"):
        ttnn.generic_op([x, x], program)


def test_programs_that_cannot_be(device: Any) -> None:
    """Too few tensors, tensors on the host, circular buffers that L1 has no room for."""
    x = ttnn.ones((32, 32), layout=ttnn.TILE_LAYOUT, device=device)
    program = copy_program(x, x, cores(1, 1), "nested")
    with pytest.raises(RuntimeError, match="io_tensors has 1 tensor; give the inputs and"):
        ttnn.generic_op([x], program)
    with pytest.raises(RuntimeError, match="operands must be on device"):
        ttnn.generic_op([x, ttnn.from_device(x)], program)
    program.cbs = [circular_buffer(0, ttnn.bfloat16, cores(1, 1), pages=1000)]
    with pytest.raises(RuntimeError, match="L1"):
        ttnn.generic_op([x, x], program)
    program = copy_program(x, x, cores(1, 1), "nested")
    program.kernels[0].runtime_args = [3]
    with pytest.raises(TypeError, match=r"runtime_args are ttnn\.RuntimeArgs, pairs"):
        ttnn.generic_op([x, x], program)
    program.kernels[0].kernel_source = "nothing.cpp"
    program.kernels[0].source_type = ttnn.KernelDescriptor.SourceType.FILE_PATH
    with pytest.raises(RuntimeError, match=r"cannot read kernel nothing\.cpp"):
        ttnn.generic_op([x, x], program)


def test_kernels_in_files_read_headers(
    device: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside the kernel, in folders that are given, and below TT_METAL_HOME; nowhere else."""
    for name in ("kernels", "given", "home/ttnn", "outside"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "kernels" / "fill.cpp").write_text(
        '#include "dataflow_api.h"\n#include "beside.hpp"\n#include "given.hpp"\n'
        "#include <home.hpp>\n"
        "void kernel_main() {\n"
        "    const uint32_t at = get_arg_val<uint32_t>(0);\n"
        "    const auto to = TensorAccessor(TensorAccessorArgs<0>(), at, 128);\n"
        "    cb_reserve_back(0, 1);\n"
        "    auto words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_write_ptr(0));\n"
        "    for (uint32_t i = 0; i < 32; i++) words[i] = first(i) + second() + third;\n"
        "    noc_async_write_page(0, to, get_write_ptr(0));\n"
        "    noc_async_write_barrier();\n"
        "}\n"
    )
    (tmp_path / "kernels" / "beside.hpp").write_text(
        "inline uint32_t first(uint32_t i) { return i; }"
    )
    (tmp_path / "given" / "given.hpp").write_text("inline uint32_t second() { return 100; }")
    (tmp_path / "home" / "ttnn" / "home.hpp").write_text("constexpr uint32_t third = 1000;")
    monkeypatch.setenv("TT_METAL_HOME", str(tmp_path / "home"))
    zeros = ttnn.from_torch(torch.zeros(1, 32, dtype=torch.int32), device=device, dtype=ttnn.uint32)
    result = ttnn.from_torch(
        torch.zeros(1, 32, dtype=torch.int32), device=device, dtype=ttnn.uint32
    )

    def run(folders: list[Path]) -> Any:
        kernel = ttnn.KernelDescriptor(
            kernel_source=str(tmp_path / "kernels" / "fill.cpp"),
            core_ranges=cores(1, 1),
            compile_time_args=ttnn.TensorAccessorArgs(result).get_compile_time_args(),
            runtime_args=[[[result.buffer_address()]]],
            config=ttnn.ReaderConfigDescriptor(),
            include_folders=folders,
        )
        buffer = circular_buffer(0, ttnn.uint32, cores(1, 1))
        program = ttnn.ProgramDescriptor(kernels=[kernel], cbs=[buffer])
        return ttnn.to_torch(ttnn.generic_op([zeros, result], program))

    assert run([tmp_path / "given"]).flatten().tolist() == [1100 + i for i in range(32)]
    with pytest.raises(RuntimeError, match=r"it may come from 'given\.hpp' \(line 3\), which was"):
        run([tmp_path / "outside"])
