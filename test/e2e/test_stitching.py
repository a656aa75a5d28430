"""Two programs, compiled apart, whose tensors stay on the device between them."""

from __future__ import annotations

import numpy as np
import pytest
from running.pass_runner import lowered

from ttmlir.layout.enums import MemorySpace
from ttmlir.runtime import (
    Binary,
    InputError,
    Tensor,
    get_layout,
    get_output_layout,
    open_device,
    read_binary,
    submit,
    to_host,
    to_layout,
)
from ttmlir.target.flatbuffer.ttnn import ttnn_to_flatbuffer

ANY = "#any_device = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>\n"


def compiled(op: str, space: str) -> Binary:
    """An operation on a 33x70 tensor, arguments and results in a memory space."""
    type = "tensor<33x70xf32>"
    text = (
        f"{ANY}func.func @{op}(%x: {type}) -> {type} {{\n  %e = tensor.empty() : {type}\n"
        f'  %r = "ttir.{op}"(%x, %e) <{{operandSegmentSizes = array<i32: 1, 1>, '
        f"operand_constraints = [#any_device, #any_device]}}> : ({type}, {type}) -> {type}\n"
        f"  return %r : {type}\n}}\n"
    )
    module = lowered(
        text,
        "ttir-load-system-desc",
        "ttir-implicit-device",
        f"ttir-layout=init-memory-space={space}",
        "convert-ttir-to-ttnn",
    )
    return read_binary(ttnn_to_flatbuffer(module, mlir_source="", cpp_source=""), f"{op}.ttnn")


def test_training_loop_without_host_trips() -> None:
    """b(a(x)), ten times over, with one tensor to the device and one back."""
    first, second = compiled("sigmoid", "dram"), compiled("neg", "dram")
    assert get_layout(first, 0, 0).memory_space is MemorySpace.DEVICE_DRAM
    assert get_layout(second, 0, 0).agrees_with(get_output_layout(first, 0, 0))
    device = open_device()
    array = np.random.default_rng(0).standard_normal((33, 70)).astype(np.float32)
    tensor = to_layout(Tensor.from_numpy(array), device, get_layout(first, 0, 0))
    expected = array.astype(np.float64)
    for _ in range(10):
        (hidden,) = submit(device, first, 0, [tensor])
        (tensor,) = submit(device, second, 0, [to_layout(hidden, device, get_layout(second, 0, 0))])
        expected = -1 / (1 + np.exp(-expected))
    np.testing.assert_allclose(to_host(tensor).to_numpy(), expected, rtol=1e-5)
    assert (device.counters.writes, device.counters.reads) == (1, 1)


def test_programs_in_different_memories() -> None:
    """What the second program wants elsewhere has to be moved, and says so."""
    first, second = compiled("exp", "dram"), compiled("abs", "system")
    device = open_device()
    array = np.random.default_rng(1).standard_normal((33, 70)).astype(np.float32)
    on_device = to_layout(Tensor.from_numpy(array), device, get_layout(first, 0, 0))
    (hidden,) = submit(device, first, 0, [on_device])
    with pytest.raises(InputError, match="memory space dram instead of system; to_layout"):
        submit(device, second, 0, [hidden])
    (result,) = submit(device, second, 0, [to_layout(hidden, device, get_layout(second, 0, 0))])
    np.testing.assert_allclose(result.to_numpy(), np.exp(array), rtol=1e-6)
