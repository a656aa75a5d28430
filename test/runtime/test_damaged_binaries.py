"""Damaged programs give a result or one of the runtime's errors, soon and in little memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from running.confinement import limited_memory
from samples.ttnn_program import ProgramBuilder

from ttmlir.errors import Error
from ttmlir.runtime import Tensor, open_device, read_binary, submit
from ttmlir.runtime.ttrt.running import generate_inputs

_MEMORY_LIMIT = 4096
"""Megabytes."""


def mlp() -> bytes:
    """Matmul, bias, softmax, reductions, a constant and moves."""
    b = ProgramBuilder()
    x, w = b.to_device(b.input((3, 40))), b.to_device(b.input((40, 5), "bf16"))
    c = b.ref((1, 5), "f32", "DeviceDRAM", constant=np.arange(5, dtype=np.float32).tobytes())
    b.op("ConstantOp", device=b.device, out=c)
    y = b.eltwise("Add", [b.compute("MatmulOp", (3, 5), in0=x, in1=w), c], shape=(3, 5))
    y = b.compute("SoftmaxOp", (3, 5), **{"in": y}, dimension=1)
    reduction = {"in": y, "type": "Mean", "dim_arg": [0], "keep_dim": True}
    b.output(b.compute("ReductionOp", (1, 5), **reduction))
    b.output(b.eltwise("Clamp", [y], parameters=[0.0, 0.5]))
    return b.pack()


def images() -> bytes:
    """Convolution, pooling, movement and lookup."""
    b = ProgramBuilder()
    window = {"kernel": (3, 2), "stride": (1, 2), "padding": (1, 0), "dilation": (1, 1)}
    sides = {
        f"{k}_{axis}": v[i] for k, v in window.items() for i, axis in enumerate(("height", "width"))
    }
    image = {"batch_size": 1, "input_height": 6, "input_width": 8}
    x, w = b.input((1, 6, 8, 4)), b.input((6, 2, 3, 2))
    channels = {"in_channels": 4, "out_channels": 6, "groups": 2}
    y = b.compute(
        "Conv2dOp", (1, 6, 4, 6), input=x, weight=w, device=b.device, **image, **channels, **sides
    )
    fields = {"in": y, "device": b.device, "batch_size": 1, "input_height": 6, "input_width": 4}
    y = b.compute("MaxPool2dOp", (1, 6, 2, 6), channels=6, ceil_mode=True, **fields, **sides)
    y = b.compute("ReshapeOp", (6, 12), **{"in": y}, shape=[-1, 12])
    y = b.compute("SliceOp", (3, 5), **{"in": y}, begins=[0, 2], ends=[6, 12], step=[2, 2])
    y = b.compute("PadOp", (4, 7), **{"in": y}, padding=[0, 1, 1, 1], value=2.5)
    y = b.compute("RepeatOp", (8, 7), **{"in": y}, repeat_dimensions=[2, 1])
    i = b.to_device(b.input((3,), "i32"))
    z = b.compute("EmbeddingOp", (3, 7), out_field="output", input=i, weight=y)
    n = b.empty((3, 7), "i32")
    b.op("ArangeOp", out=n, start=1, end=8, step=1, arange_dimension=1)
    b.output(
        b.compute("ConcatOp", (3, 14), inputs=[z, b.eltwise("Typecast", [n], element="f32")], dim=1)
    )
    b.op("DeallocOp", **{"in": y})
    return b.pack()


FILES = {"mlp": mlp(), "images": images()}


@pytest.fixture(autouse=True, scope="module")
def little_memory() -> Iterator[None]:
    """Let allocations beyond a bound fail instead of taking the machine down."""
    with limited_memory(_MEMORY_LIMIT):
        yield


def run(data: bytes) -> None:
    """Run every program of a file."""
    binary = read_binary(data, "test.ttnn")
    for program in binary.programs:
        inputs = generate_inputs(program, "randn", np.random.default_rng(0))
        submit(open_device(), binary, program.index, [Tensor.from_numpy(x) for x in inputs])


@pytest.mark.parametrize("name", FILES)
def test_undamaged_files_run(name: str) -> None:
    """What is damaged below is sound before."""
    run(FILES[name])


@settings(
    max_examples=400, deadline=5000, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data(), st.sampled_from(sorted(FILES)))
def test_altered_bytes(data: st.DataObject, name: str) -> None:
    """One to four bytes replaced anywhere, often by extreme values."""
    content = bytearray(FILES[name])
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.sampled_from([0, 1, 127, 128, 255]) | st.integers(0, 255))
    attempt(bytes(content))


@settings(max_examples=300, deadline=5000)
@given(st.data(), st.sampled_from(sorted(FILES)))
def test_altered_numbers(data: st.DataObject, name: str) -> None:
    """A small number of the file (an extent, a parameter, an id) replaced by another."""
    content = bytearray(FILES[name])
    places = [i for i in range(12, len(content) - 4, 4) if content[i + 2] == content[i + 3] == 0]
    place = data.draw(st.sampled_from(places))
    number = data.draw(
        st.sampled_from([-1, 0, 2, 7, 64, 2**20, 2**30, 2**31 - 1, -(2**31)]) | st.integers(-9, 99)
    )
    content[place : place + 4] = number.to_bytes(4, "little", signed=True)
    attempt(bytes(content))


@settings(max_examples=60, deadline=5000)
@given(st.data(), st.sampled_from(sorted(FILES)))
def test_truncated(data: st.DataObject, name: str) -> None:
    """A file that ends early is always refused."""
    content = FILES[name]
    with pytest.raises(Error):
        run(content[: data.draw(st.integers(0, len(content) - 1))])


def attempt(data: bytes) -> None:
    """Run; the runtime may refuse in one sentence that names the file."""
    message = "test.ttnn"
    try:
        run(data)
    except Error as error:
        message = str(error)
    assert "test.ttnn" in message
    assert "Traceback" not in message
