"""Metal 2.0: kernels that know arguments, buffers, semaphores and tensors by names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ttmlir.metalium import (
    BufferType,
    CoreCoord,
    CoreRange,
    CreateBuffer,
    CreateDevice,
    CreateProgram,
    DataFormat,
    Device,
    EnqueueReadBuffer,
    EnqueueWriteBuffer,
    InterleavedBufferConfig,
    MetaliumError,
    detail,
    pack_tiles,
    unpack_tiles,
)
from ttmlir.metalium.experimental import (
    AddRuntimeArgsForNode,
    ComputeHardwareConfig,
    DataflowBufferSpec,
    DFBBinding,
    DFBEndpointType,
    KernelRunArgs,
    KernelSpec,
    MakeProgramFromSpec,
    ProgramRunArgs,
    ProgramSpec,
    SemaphoreBinding,
    SemaphoreSpec,
    SetProgramRunArgs,
    TensorArgument,
    TensorBinding,
    TensorParameter,
    WorkUnitSpec,
    create_reader_datamovement_config,
    create_writer_datamovement_config,
)

READER = """#include "api/dataflow/dataflow_api.h"
#include "experimental/kernel_args.h"
void kernel_main() {
    Noc noc;
    DataflowBuffer in(dfb::in);
    const auto source = TensorAccessor(tensor::source);
    const uint32_t first = get_arg(args::first);
    for (uint32_t i = first; i < first + get_arg(args::count); i += get_arg(args::step)) {
        in.reserve_back(1);
        noc.async_read(source, in, in.get_entry_size(), {.page_id = i}, {});
        noc.async_read_barrier();
        in.push_back(1);
    }
    Semaphore<> done(sem::done);
    done.set(get_vararg(0) + get_common_vararg(1));
}
"""
DOUBLE = """#include "api/compute/eltwise_binary.h"
void kernel_main() {
    binary_op_init_common(dfb::a, dfb::a, dfb::sum);
    add_tiles_init(dfb::a, dfb::a);
    DataflowBuffer a(dfb::a);
    DataflowBuffer sum(dfb::sum);
    for (uint32_t i = 0; i < get_arg(args::count); i++) {
        a.wait_front(1);
        tile_regs_acquire();
        add_tiles(dfb::a, dfb::a, 0, 0, 0);
        tile_regs_commit();
        a.pop_front(1);
        sum.reserve_back(1);
        tile_regs_wait();
        pack_tile(0, dfb::sum);
        tile_regs_release();
        sum.push_back(1);
    }
}
"""
WRITER = """#include "api/dataflow/dataflow_api.h"
#include "experimental/kernel_args.h"
void kernel_main() {
    Noc noc;
    DataflowBuffer out(dfb::out);
    const auto target = TensorAccessor(tensor::target);
    for (uint32_t i = 0; i < get_arg(args::count); i++) {
        out.wait_front(1);
        const uint32_t page = get_arg(args::first) + i;
        noc.async_write(out, target, out.get_entry_size(), {}, {.page_id = page});
        noc.async_write_barrier();
        out.pop_front(1);
    }
}
"""
TILE = 2048


def tiles(device: Device, count: int, memory: BufferType = BufferType.DRAM) -> Any:
    """Tiles of bfloat16, one by one in the banks."""
    return CreateBuffer(
        InterleavedBufferConfig(
            device=device, size=count * TILE, page_size=TILE, buffer_type=memory
        )
    )


def make_spec(source: Any, target: Any) -> ProgramSpec:
    """Every second tile of the source, doubled, on two cores."""
    producer, consumer = DFBEndpointType.PRODUCER, DFBEndpointType.CONSUMER

    def bind(name: str, accessor: str, end: DFBEndpointType) -> DFBBinding:
        return DFBBinding(dfb_spec_name=name, accessor_name=accessor, endpoint_type=end)

    return ProgramSpec(
        name="double",
        kernels=[
            KernelSpec(
                unique_id="reader",
                source=READER,
                dfb_bindings=[bind("input", "in", producer)],
                semaphore_bindings=[
                    SemaphoreBinding(semaphore_spec_name="finished", accessor_name="done")
                ],
                tensor_bindings=[
                    TensorBinding(tensor_parameter_name="source", accessor_name="source")
                ],
                compile_time_args={"step": 2},
                runtime_arg_schema={
                    "runtime_arg_names": ["first", "count"],
                    "common_runtime_arg_names": ["unused"],
                },
                hw_config=create_reader_datamovement_config(),
                advanced_options={"num_runtime_varargs": 1, "num_common_runtime_varargs": 2},
            ),
            KernelSpec(
                unique_id="double",
                source=DOUBLE,
                dfb_bindings=[bind("input", "a", consumer), bind("output", "sum", producer)],
                compile_time_args={"count": 2},
                hw_config=ComputeHardwareConfig(),
            ),
            KernelSpec(
                unique_id="writer",
                source=WRITER,
                dfb_bindings=[bind("output", "out", consumer)],
                tensor_bindings=[
                    TensorBinding(tensor_parameter_name="target", accessor_name="target")
                ],
                runtime_arg_schema={
                    "runtime_arg_names": ["first"],
                    "common_runtime_arg_names": ["count"],
                },
                hw_config=create_writer_datamovement_config(),
            ),
        ],
        dataflow_buffers=[
            DataflowBufferSpec(
                unique_id=name,
                entry_size=TILE,
                num_entries=2,
                data_format_metadata=DataFormat.Float16_b,
            )
            for name in ("output", "input")
        ],
        semaphores=[SemaphoreSpec(unique_id="finished", target_nodes=CoreRange((0, 0), (1, 0)))],
        tensor_parameters=[
            TensorParameter(unique_id="source", spec=source),
            TensorParameter(unique_id="target", spec=target),
        ],
        work_units=[
            WorkUnitSpec(
                name="main",
                kernels=["reader", "double", "writer"],
                target_nodes=CoreRange((0, 0), (1, 0)),
            )
        ],
    )


def make_arguments(source: Any, target: Any) -> ProgramRunArgs:
    """Four tiles of the source for each core."""
    reader = KernelRunArgs(
        kernel="reader",
        common_runtime_arg_values={"unused": 0},
        advanced_options={
            "runtime_varargs": {(0, 0): [3], (1, 0): [4]},
            "common_runtime_varargs": [100, 5],
        },
    )
    writer = KernelRunArgs(kernel="writer", common_runtime_arg_values={"count": 2})
    for x in range(2):
        core = CoreCoord(x, 0)
        AddRuntimeArgsForNode(reader.runtime_arg_values, core, {"count": 4})
        AddRuntimeArgsForNode(reader.runtime_arg_values, core, {"first": 4 * x})
        AddRuntimeArgsForNode(writer.runtime_arg_values, core, {"first": 2 * x})
    return ProgramRunArgs(
        kernel_run_args=[writer, reader],
        tensor_args={"source": TensorArgument(source), "target": target},
    )


def test_names_become_arguments_and_numbers() -> None:
    """The program runs twice, the second time on other buffers."""
    device = CreateDevice(0)
    queue = device.command_queue()
    pairs = [(tiles(device, 8), tiles(device, 4)) for _ in range(2)]
    program = MakeProgramFromSpec(device, make_spec(*pairs[0]))
    for seed, (source, target) in enumerate(pairs):
        numbers = np.random.default_rng(seed).integers(-8, 8, (8 * 32, 32)).astype(np.float32)
        EnqueueWriteBuffer(queue, source, pack_tiles(numbers, DataFormat.Float16_b))
        SetProgramRunArgs(program, make_arguments(source, target))
        detail.LaunchProgram(device, program)
        data = EnqueueReadBuffer(queue, target, dtype=np.uint8)
        expected = 2 * numbers.reshape(4, 2, 32, 32)[:, 0].reshape(4 * 32, 32)
        found = unpack_tiles(data, DataFormat.Float16_b, 4 * 32, 32)
        np.testing.assert_array_equal(found, expected)
        words = [
            detail.ReadFromDeviceL1(device, (x, 0), device.simulated.chip.semaphore_base, 4)[0]
            for x in range(2)
        ]
        assert words == [3 + 5, 4 + 5]


def change_kernel(spec: ProgramSpec, number: int, **changes: Any) -> ProgramSpec:
    """The specification with one kernel changed."""
    kernels = list(spec.kernels)
    kernels[number] = replace(kernels[number], **changes)
    return replace(spec, kernels=kernels)


WRONG_SPECS: list[tuple[Callable[[ProgramSpec], object], str]] = [
    (
        lambda spec: replace(spec, dataflow_buffers=spec.dataflow_buffers[:1]),
        "kernel 'reader' names dataflow buffer 'input'; there are 'output'",
    ),
    (
        lambda spec: replace(spec, semaphores=[]),
        "kernel 'reader' names semaphore 'finished'; there are none",
    ),
    (
        lambda spec: replace(
            spec, tensor_parameters=[replace(spec.tensor_parameters[0], unique_id="sourc")]
        ),
        "kernel 'reader' names tensor 'source'; did you mean 'sourc'. there are 'sourc'",
    ),
    (
        lambda spec: replace(spec, work_units=[replace(spec.work_units[0], kernels=["writer"])]),
        "kernel 'reader' is in no work unit, which would say where it runs",
    ),
    (
        lambda spec: replace(spec, work_units=[replace(spec.work_units[0], kernels=["wrter"])]),
        "work unit 'main' names kernel 'wrter'; did you mean 'writer'",
    ),
    (lambda spec: replace(spec, kernels=[*spec.kernels] * 2), "two kernels have the name 'reader'"),
    (
        lambda spec: change_kernel(spec, 0, compile_time_args={"a b": 1}),
        "kernel 'reader' calls argument 'a b', which is no name in C",
    ),
    (
        lambda spec: change_kernel(spec, 0, compile_time_args={"first": 1}),
        "kernel 'reader' has two arguments with the name 'first'",
    ),
    (
        lambda spec: change_kernel(spec, 0, runtime_arg_schema={"runtime_args": []}),
        "RuntimeArgSchema has no option 'runtime_args'; did you mean 'runtime_arg_names'",
    ),
    (
        lambda spec: change_kernel(spec, 0, hw_config=None),
        "'hw_config' of kernel 'reader' is a Data",
    ),
    (
        lambda spec: change_kernel(spec, 2, source="nowhere.cpp"),
        "cannot read kernel nowhere.cpp: No such file or directory",
    ),
    (lambda spec: 5, "MakeProgramFromSpec takes a ProgramSpec, not 5"),
]


@pytest.mark.parametrize(("change", "message"), WRONG_SPECS)
def test_wrong_specifications(change: Callable[[ProgramSpec], Any], message: str) -> None:
    """Each says who names what."""
    device = CreateDevice(0)
    spec = make_spec(tiles(device, 8), tiles(device, 4))
    with pytest.raises(MetaliumError, match=message):
        MakeProgramFromSpec(device, change(spec))


def without_argument(args: ProgramRunArgs) -> None:
    """Forget an argument of a core."""
    args.kernel_run_args[1].runtime_arg_values[(1, 0)] = {"first": 1}


def with_argument(args: ProgramRunArgs) -> None:
    """An argument that the kernel does not have."""
    AddRuntimeArgsForNode(args.kernel_run_args[1].runtime_arg_values, (1, 0), {"frist": 1})


def on_other_core(args: ProgramRunArgs) -> None:
    """Arguments for a core without the kernel."""
    args.kernel_run_args[1].runtime_arg_values[(5, 5)] = {}


def without_tensor(args: ProgramRunArgs) -> None:
    """Forget a tensor."""
    del args.tensor_args["target"]


def without_varargs(args: ProgramRunArgs) -> None:
    """Forget arguments without names."""
    args.kernel_run_args[1].advanced_options = {}


WRONG_ARGUMENTS: list[tuple[Callable[[ProgramRunArgs], object], str]] = [
    (without_argument, r"kernel 'reader' on core \(1, 0\) has no value for argument 'count'"),
    (with_argument, "names argument 'frist'; did you mean 'first'"),
    (on_other_core, r"arguments of kernel 'reader' for core \(5, 5\), on which it does not run"),
    (without_tensor, "tensor 'target' has no buffer in tensor_args"),
    (without_varargs, "0 arguments without names, but its advanced_options say 2"),
    (
        lambda args: args.tensor_args.update(source=5),
        "tensor 'source' is a buffer, not 5",
    ),
    (
        lambda args: args.tensor_args.update(
            source=tiles(args.tensor_args["target"].device(), 8, BufferType.L1)
        ),
        "tensor 'source' has another layout than its TensorParameter",
    ),
    (
        lambda args: args.kernel_run_args.append(KernelRunArgs(kernel="rder")),
        "KernelRunArgs names kernel 'rder'; did you mean 'reader'",
    ),
]


@pytest.mark.parametrize(("change", "message"), WRONG_ARGUMENTS)
def test_wrong_arguments(change: Callable[[ProgramRunArgs], object], message: str) -> None:
    """Each says whose they are."""
    device = CreateDevice(0)
    source, target = tiles(device, 8), tiles(device, 4)
    program = MakeProgramFromSpec(device, make_spec(source, target))
    arguments = make_arguments(source, target)
    change(arguments)
    with pytest.raises(MetaliumError, match=message):
        SetProgramRunArgs(program, arguments)


def test_arguments_are_for_programs_of_specifications() -> None:
    """Other programs have no names."""
    with pytest.raises(MetaliumError, match="takes a program of MakeProgramFromSpec"):
        SetProgramRunArgs(CreateProgram(), ProgramRunArgs())
