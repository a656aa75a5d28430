"""Described programs on the simulator: their numbers against NumPy, their messages."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from samples.generic_programs import exp_program

from ttmlir.layout.enums import DataType, MemorySpace, TensorMemoryLayout
from ttmlir.program import (
    AddressOfTensor,
    CircularBufferDescription,
    CircularBufferFormat,
    CoreRange,
    KernelDescription,
    ProgramDescription,
    ReaderConfig,
    SemaphoreAt,
    SemaphoreDescription,
    TensorAccessorArgs,
    WriterConfig,
    list_ranges,
)
from ttmlir.runtime.errors import BinaryError, ExecutionError
from ttmlir.runtime.generic import (
    GenericProgram,
    GenericRun,
    create_buffer,
    create_sim_program,
    run_generic,
    simulator_options,
)
from ttmlir.runtime.tensor import ELEMENT_TYPES, Array, Numerics, TensorDesc
from ttmlir.sim.machine.device import SimChip, SimDevice


def tiled(shape: tuple[int, ...], element: str = "Float32") -> TensorDesc:
    """A tiled tensor in DRAM."""
    return TensorDesc(
        shape=shape,
        element=ELEMENT_TYPES[element],
        data_type=ELEMENT_TYPES[element].storage,
        memory_space=MemorySpace.DEVICE_DRAM,
        memory_layout=TensorMemoryLayout.INTERLEAVED,
        tile=(32, 32),
    )


def run(program: GenericProgram, *inputs: Array, numerics: Numerics = Numerics.EXACT) -> GenericRun:
    """Run on an n150."""
    return run_generic(program, inputs, SimChip.of_board("n150", 0), simulator_options(numerics))


def exponential(shape: tuple[int, ...], tiles: int, element: str = "Float32") -> GenericProgram:
    """The exponential of a tensor that takes so many tiles."""
    desc = tiled(shape, element)
    description = exp_program(tiles, desc.data_type)
    return GenericProgram(description=description, descs=(desc, desc), num_outputs=1, where="op")


@pytest.mark.parametrize(
    ("shape", "tiles"), [((5, 70), 3), ((2, 3, 40, 33), 24), ((7,), 1), ((64, 32), 2)]
)
@pytest.mark.parametrize("element", ["Float32", "BFloat16"])
def test_exponentials_are_those_of_numpy(shape: tuple[int, ...], tiles: int, element: str) -> None:
    """Kernels find the numbers of tensors of any shape, and their results get back."""
    numbers = np.random.default_rng(0).uniform(-2, 2, shape).astype(np.float32)
    host = ELEMENT_TYPES[element].host
    numbers = numbers.astype(host).astype(np.float32)
    result = run(exponential(shape, tiles, element), numbers)
    expected = np.exp(numbers.astype(np.float64))
    assert result.outputs[0].shape == shape
    np.testing.assert_allclose(
        result.outputs[0], expected, rtol=1e-5 if element == "Float32" else 2**-8
    )
    assert result.report.cycles > 0


def test_tensors_that_are_not_there_are_refused() -> None:
    """An argument names a tensor of the list."""
    with pytest.raises(BinaryError, match="kernel 'writer' is about tensor 1, but there are 1"):
        GenericProgram(
            description=exp_program(1), descs=(tiled((4, 4)),), num_outputs=1, where="op"
        )


def test_tensors_in_host_memory_are_refused() -> None:
    """Kernels reach what is on the device."""
    program = exponential((4, 4), 1)
    host = replace(program.descs[0], memory_space=MemorySpace.SYSTEM)
    program = replace(program, descs=(host, host))
    with pytest.raises(ExecutionError, match="op: tensor 0: it is in host memory"):
        run(program, np.zeros((4, 4), np.float32))


def test_what_kernels_do_wrong_is_shown_in_their_text() -> None:
    """The message of the simulator names the kernel's line."""
    program = exponential((4, 4), 1)
    kernels = program.description.kernels
    text = kernels[0].source.replace("        noc_async_read_barrier();\n", "")
    broken = replace(kernels[0], source=text)
    description = replace(program.description, kernels=(broken, *kernels[1:]))
    with pytest.raises(ExecutionError, match=r"op: reader.cpp:13:9: error: cb_push_back hands"):
        run(replace(program, description=description), np.zeros((4, 4), np.float32))


def test_circular_buffers_on_interleaved_tensors_are_refused() -> None:
    """A circular buffer lies on shards."""
    program = exponential((4, 4), 1)
    first, second = program.description.circular_buffers
    description = replace(program.description, circular_buffers=(replace(first, tensor=0), second))
    with pytest.raises(ExecutionError, match="circular buffer 0 is on tensor 0, which is inter"):
        run(replace(program, description=description), np.zeros((4, 4), np.float32))


def test_words_of_accessors_are_counted() -> None:
    """Those of a sharded tensor are many: 2000 times 39 words are more than a kernel takes."""
    desc = replace(
        tiled((2048, 32)),
        memory_space=MemorySpace.DEVICE_L1,
        memory_layout=TensorMemoryLayout.HEIGHT_SHARDED,
        core_ranges=((0, 0, 64, 1),),
        shard=(1, 1),
    )
    description = exp_program(1)
    reader = replace(description.kernels[0], compile_time_args=(TensorAccessorArgs(0),) * 2000)
    program = GenericProgram(
        description=replace(description, kernels=(reader,)),
        descs=(desc, tiled((5, 5))),
        num_outputs=1,
        where="op",
    )
    with pytest.raises(ExecutionError) as caught:
        run(program, np.ones((2048, 32), np.float32))
    assert str(caught.value) == (
        "op: error: the compile-time arguments of kernel 'reader' are more than 65536 words, with "
        "all that TensorAccessorArgs stand for; give each tensor once, and put tables into a tensor"
    )


def test_cores_off_the_chip_are_refused() -> None:
    """The simulator knows its grid."""
    program = exponential((4, 4), 1)
    far = (CoreRange((20, 0), (20, 0)),)
    kernel = replace(
        program.description.kernels[0],
        core_ranges=far,
        runtime_args=(((20, 0), (0, 0)),),
        common_runtime_args=(AddressOfTensor(0),),
        config=ReaderConfig(),
    )
    description = replace(program.description, kernels=(kernel,))
    with pytest.raises(ExecutionError, match=r"op: .*\(20, 0\)"):
        run(replace(program, description=description), np.zeros((4, 4), np.float32))


def test_addresses_are_those_of_the_buffers_at_hand() -> None:
    """A description is one program for buffers at any addresses."""
    program = exponential((4, 4), 1)
    device = SimDevice(SimChip.of_board("n150", 0))
    seen: list[list[tuple[int, ...]]] = []
    for _ in range(2):
        buffers = [create_buffer(device, desc) for desc in program.descs]
        made = create_sim_program(program.description, buffers)
        seen.append([tuple(kernel.common_arguments) for kernel in made.kernels])
        assert seen[-1] == [(buffers[0].address,), (buffers[1].address,), ()]
    assert seen[0] != seen[1]


PASS_ON = """
#include "dataflow_api.h"

void kernel_main() {
    constexpr auto args = TensorAccessorArgs<0>();
    constexpr uint32_t count = get_named_compile_time_arg_val("count");
    const auto target = TensorAccessor(args, get_common_arg_val<uint32_t>(0), 4096);
    const uint32_t here = get_arg_val<uint32_t>(0);
    const uint32_t mine = get_semaphore(get_common_arg_val<uint32_t>(1));
    auto arrived = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(mine);
    auto numbers = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_write_ptr(0));
    cb_reserve_back(0, 1);
    if (here > 0) {
        noc_semaphore_wait(arrived, 1);
    } else {
        for (uint32_t i = 0; i < 1024; i++) {
            numbers[i] = 0;
        }
    }
    numbers[here] = numbers[here] + 10 * (here + 1);
    noc_async_write_tile(here, target, get_write_ptr(0));
    if (here + 1 < count) {
        const uint32_t x = get_arg_val<uint32_t>(1), y = get_arg_val<uint32_t>(2);
        noc_async_write(get_write_ptr(0), get_noc_addr(x, y, get_write_ptr(0)), 4096);
        noc_async_write_barrier();
        noc_semaphore_inc(get_noc_addr(x, y, mine), 1);
    }
    noc_async_write_barrier();
}
"""


@pytest.mark.parametrize("number", [None, 0, 15])
def test_cores_wait_for_each_other_by_semaphores(number: int | None) -> None:
    """A tile goes from core to core; each adds a number and keeps a copy in the result."""
    chip, cores = SimChip.of_board("n150", 0), ((0, 0), (2, 1), (5, 6))
    ranges = list_ranges(cores)
    following = [chip.noc_coordinate(core) for core in (*cores[1:], cores[0])]
    kernel = KernelDescription(
        name="pass_on",
        source=PASS_ON,
        config=WriterConfig(),
        core_ranges=ranges,
        compile_time_args=(TensorAccessorArgs(0),),
        named_compile_time_args=(("count", 3),),
        runtime_args=tuple((core, (place, *following[place])) for place, core in enumerate(cores)),
        common_runtime_args=(AddressOfTensor(0), SemaphoreAt(1)),
    )
    description = ProgramDescription(
        kernels=(kernel,),
        circular_buffers=(
            CircularBufferDescription(
                total_size=4096,
                core_ranges=ranges,
                formats=(CircularBufferFormat(0, DataType.U32, 4096),),
            ),
        ),
        semaphores=(
            SemaphoreDescription(core_ranges=ranges, initial_value=7),
            SemaphoreDescription(core_ranges=ranges, id=number),
        ),
    )
    desc = tiled((3 * 32, 32), "UInt32")
    program = GenericProgram(description=description, descs=(desc,), num_outputs=1, where="op")
    (result,) = run(program).outputs
    expected = np.zeros((3, 32, 32), np.uint32)
    for place in range(3):
        expected[place:, 0, place] = 10 * (place + 1)
    assert np.array_equal(result, expected.reshape(96, 32))
