"""Tensors that stay on the device between independently compiled programs."""

from __future__ import annotations

import gc

import ml_dtypes
import numpy as np
import pytest
from samples.ttnn_program import ProgramBuilder

from ttmlir.layout.enums import MemorySpace
from ttmlir.runtime import (
    Binary,
    InputError,
    Tensor,
    close_device,
    create_tensor,
    get_layout,
    get_output_layout,
    memcpy,
    open_device,
    read_binary,
    submit,
    to_host,
    to_layout,
    wait,
)
from ttmlir.runtime.session import run_on_arrays
from ttmlir.runtime.tensor import Counters

DRAM = "DeviceDRAM"


def unary(kind: str, shape: tuple[int, ...], *, element: str = "f32", space: str = DRAM) -> Binary:
    """A program whose input and output live on the device."""
    b = ProgramBuilder()
    x = b.input(shape, element, space)
    b.output(b.eltwise(kind, [x]), on_device=True)
    return read_binary(b.pack(), f"{kind}.ttnn")


def normal(*shape: int) -> np.ndarray:
    """Random float32 numbers."""
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


def test_chain_touches_the_host_only_at_its_ends() -> None:
    """Ten rounds of two programs move one tensor to the device and one back."""
    shape = (33, 70)
    first, second = unary("Sigmoid", shape), unary("Neg", shape)
    device = open_device()
    array = normal(*shape)
    tensor = to_layout(Tensor.from_numpy(array), device, get_layout(first, 0, 0))
    expected = array.astype(np.float64)
    for _ in range(10):
        (hidden,) = submit(device, first, 0, [tensor])
        layout = get_layout(second, 0, 0)
        assert get_output_layout(first, 0, 0).agrees_with(layout)
        moved = to_layout(hidden, device, layout)
        assert moved is hidden
        (tensor,) = submit(device, second, 0, [moved])
        expected = -1 / (1 + np.exp(-expected))
    assert (device.counters.writes, device.counters.reads) == (1, 0)
    result = to_host(tensor)
    np.testing.assert_allclose(result.to_numpy(), expected, rtol=1e-5)
    assert (device.counters.writes, device.counters.reads) == (1, 1)
    assert device.counters.programs == 20


def test_arrays_are_moved_as_tensors_are() -> None:
    """The same is counted, and a closed device runs nothing."""
    program, array, device = unary("Neg", (5, 7)), normal(5, 7), open_device()
    (result,) = run_on_arrays(device, program, 0, [array])
    np.testing.assert_array_equal(result, -array)
    size = 4 * 32 * 32  # one tile
    moved = {"writes": 1, "bytes_written": size, "reads": 1, "bytes_read": size}
    assert device.counters == Counters(**moved, programs=1)
    close_device(device)
    with pytest.raises(InputError, match="was closed"):
        run_on_arrays(device, program, 0, [array])


def test_other_layout_on_the_device_costs_no_trip() -> None:
    """From DRAM to L1 the tensor does not pass through the host."""
    first, second = unary("Abs", (5, 7)), unary("Neg", (5, 7), space="DeviceL1")
    device = open_device()
    array = normal(5, 7)
    (hidden,) = submit(
        device, first, 0, [to_layout(Tensor.from_numpy(array), device, get_layout(first, 0, 0))]
    )
    with pytest.raises(InputError, match="input 0 has memory space dram instead of l1; to_layout"):
        submit(device, second, 0, [hidden])
    moved = to_layout(hidden, device, get_layout(second, 0, 0))
    assert moved.desc.memory_space is MemorySpace.DEVICE_L1
    (result,) = submit(device, second, 0, [moved])
    np.testing.assert_array_equal(to_host(result).to_numpy(), -np.abs(array))
    assert (device.counters.writes, device.counters.reads) == (1, 1)


def test_host_tensor_needs_to_be_laid_out_first() -> None:
    """A program that wants device memory says so."""
    with pytest.raises(InputError, match="memory space system instead of dram; to_layout"):
        submit(open_device(), unary("Abs", (5, 7)), 0, [Tensor.from_numpy(normal(5, 7))])


def test_to_layout_rounds_to_the_storage_type_on_the_device_only() -> None:
    """f32 numbers in bf16 tiles."""
    layout = get_layout(unary("Abs", (3, 33), element="bf16"), 0, 0)
    array = normal(3, 33)
    exact = to_layout(Tensor.from_numpy(array), open_device(), layout)
    rounded = to_layout(Tensor.from_numpy(array), open_device(numerics="device"), layout)
    bf16 = array.astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(exact.values, array)
    np.testing.assert_array_equal(rounded.values, bf16.astype(np.float32))
    np.testing.assert_array_equal(to_host(rounded).to_numpy(), bf16)


def test_device_tensors_own_their_memory() -> None:
    """Changing the host array later does not reach the device."""
    device = open_device()
    array = normal(5, 7)
    tensor = to_layout(Tensor.from_numpy(array), device, get_layout(unary("Abs", (5, 7)), 0, 0))
    kept = array.copy()
    array[:] = 0
    np.testing.assert_array_equal(to_host(tensor).to_numpy(), kept)


def test_memory_in_use_follows_tensors() -> None:
    """Deallocation and garbage collection both give memory back; tiles count in full."""
    device = open_device()
    layout = get_layout(unary("Abs", (33, 70)), 0, 0)
    first = to_layout(Tensor.from_numpy(normal(33, 70)), device, layout)
    second = to_layout(Tensor.from_numpy(normal(33, 70)), device, layout)
    tiles = 2 * 3 * 32 * 32 * 4
    assert device.bytes_in_use == {MemorySpace.DEVICE_DRAM: 2 * tiles}
    first.deallocate()
    first.deallocate()
    assert device.bytes_in_use == {MemorySpace.DEVICE_DRAM: tiles}
    with pytest.raises(InputError, match="was deallocated and cannot be used any more"):
        to_host(first)
    with pytest.raises(InputError, match="input 0 was deallocated"):
        submit(device, unary("Abs", (33, 70)), 0, [first])
    del second
    gc.collect()
    assert device.bytes_in_use == {MemorySpace.DEVICE_DRAM: 0}


def test_outputs_are_written_where_the_caller_wants() -> None:
    """The form with output tensors returns an event; memory may be given by address."""
    b = ProgramBuilder()
    b.output(b.eltwise("Neg", [b.to_device(b.input((3, 5)))]))
    binary = read_binary(b.pack(), "neg.ttnn")
    source, target = normal(3, 5), np.zeros((3, 5), np.float32)
    address = target.ctypes.data
    output = create_tensor(address, [3, 5], [5, 1], 4, "f32")
    device = open_device()
    wait(submit(device, binary, 0, [Tensor.from_numpy(source)], [output]))
    np.testing.assert_array_equal(target, -source)
    with pytest.raises(InputError, match="has 1 output, got room for 0"):
        submit(device, binary, 0, [Tensor.from_numpy(source)], [])
    wrong = Tensor.from_numpy(np.zeros((5, 3), np.float32))
    with pytest.raises(InputError, match="output 0 is 3x5xf32, system, but the tensor given"):
        submit(device, binary, 0, [Tensor.from_numpy(source)], [wrong])


def test_strided_memory() -> None:
    """Strides count elements: every second column of an array."""
    wide = normal(4, 6)
    tensor = create_tensor(wide.ctypes.data, [4, 3], [6, 2], 4, "f32")
    np.testing.assert_array_equal(tensor.to_numpy(), wide[:, ::2])
    with pytest.raises(InputError, match="element size 2 does not fit element type f32"):
        create_tensor(wide.ctypes.data, [4, 3], [6, 2], 2, "f32")
    with pytest.raises(InputError, match="differ in length"):
        create_tensor(wide.ctypes.data, [4, 3], [6], 4, "f32")


def test_memcpy_checks_shape_and_type() -> None:
    """Bytes are copied only between tensors of one form."""
    tensor = Tensor.from_numpy(normal(3, 5))
    target = np.zeros((3, 5), np.float32)
    memcpy(target, tensor)
    np.testing.assert_array_equal(target, tensor.to_numpy())
    with pytest.raises(InputError, match=r"cannot be copied to an array of shape \(5, 3\)"):
        memcpy(np.zeros((5, 3), np.float32), tensor)


def test_devices_are_opened_and_closed() -> None:
    """A closed device runs nothing; a program finds the chips that it wants or says which."""
    binary = unary("Abs", (5, 7))
    other = open_device([1])
    layout = get_layout(binary, 0, 0)
    tensor = to_layout(Tensor.from_numpy(normal(5, 7)), other, layout)
    message = r"runs on chips \[0\], but the device was opened with \[1\]; open it with"
    with pytest.raises(InputError, match=message):
        submit(other, binary, 0, [tensor])
    device = open_device()
    with pytest.raises(InputError, match="input 0 is on another device; to_layout"):
        submit(device, binary, 0, [tensor])
    close_device(device)
    with pytest.raises(InputError, match=r"device \[0\] was closed"):
        submit(device, binary, 0, [tensor])
    with pytest.raises(InputError, match="no device ids were given"):
        open_device([])
    with pytest.raises(InputError, match="must be different and not negative"):
        open_device([0, 0])


def test_missing_programs_and_inputs_are_named() -> None:
    """Indices out of range."""
    binary = unary("Abs", (5, 7))
    with pytest.raises(InputError, match="there is no program 1; the file has 1"):
        get_layout(binary, 1, 0)
    with pytest.raises(InputError, match="has no input 2; it has 1 input"):
        get_layout(binary, 0, 2)


def test_arrays_that_no_tensor_can_hold() -> None:
    """Complex numbers are refused with the list of what is supported."""
    with pytest.raises(InputError, match="dtype complex128 cannot become tensors; supported"):
        Tensor.from_numpy(np.zeros(3, np.complex128))
    with pytest.raises(InputError, match="unknown element type 'f8'; supported are f32"):
        Tensor.from_numpy(np.zeros(3), "f8")
