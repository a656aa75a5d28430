"""Programs made by hand, run, and held against NumPy formulas."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
import torch
from samples.ttnn_program import ProgramBuilder

from ttmlir.runtime import (
    BinaryError,
    ExecutionError,
    InputError,
    Tensor,
    UnsupportedError,
    open_device,
    read_binary,
    submit,
)

BF16 = ml_dtypes.bfloat16


def run(builder: ProgramBuilder, *arrays: np.ndarray, numerics: str = "exact") -> list[np.ndarray]:
    """Pack, load and run a program."""
    binary = read_binary(builder.pack(), "test.ttnn")
    inputs = [Tensor.from_numpy(array) for array in arrays]
    outputs = submit(open_device(numerics=numerics), binary, 0, inputs)
    return [tensor.to_numpy() for tensor in outputs]


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    """Random float32 numbers."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def test_chain_of_matmul_bias_relu() -> None:
    """A layer of an MLP on shapes that no tile divides."""
    b = ProgramBuilder()
    x, w, c = (b.to_device(b.input(shape)) for shape in ((33, 70), (70, 5), (1, 5)))
    y = b.compute("MatmulOp", (33, 5), in0=x, in1=w)
    y = b.eltwise("Add", [y, c], shape=(33, 5))
    b.output(b.eltwise("Relu", [y]))
    arrays = normal(33, 70), normal(70, 5, seed=1), normal(1, 5, seed=2)
    (result,) = run(b, *arrays)
    a, m, v = (array.astype(np.float64) for array in arrays)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, np.maximum(a @ m + v, 0), rtol=1e-5, atol=1e-5)


def test_empty_memory_holds_zeros() -> None:
    """The compiler turns zero constants into `ttnn.empty`."""
    b = ProgramBuilder()
    b.output(b.empty((3, 5)))
    x = b.to_device(b.input((3, 5)))
    b.output(b.eltwise("Add", [b.empty((3, 5)), x]))
    array = normal(3, 5)
    zeros, same = run(b, array)
    assert not zeros.any()
    np.testing.assert_array_equal(same, array)


@pytest.mark.parametrize(
    ("element", "dtype"),
    [("f32", np.float32), ("i32", np.int32), ("bf16", BF16), ("i1", np.bool_), ("i64", np.int64)],
)
def test_constants_keep_their_elements(element: str, dtype: type) -> None:
    """Bytes in the file become the tensor, in every element type."""
    values = (normal(4, 7) * 3).astype(dtype)
    b = ProgramBuilder()
    out = b.ref((4, 7), element, constant=values.tobytes())
    b.op("ConstantOp", device=b.device, out=out)
    b.outputs.append(out)
    (result,) = run(b)
    assert result.dtype == values.dtype
    np.testing.assert_array_equal(result, values)


def test_constant_of_a_wrong_size_is_refused() -> None:
    """One element too few is noticed."""
    b = ProgramBuilder()
    out = b.ref((4, 7), "f32", constant=bytes(4 * 27))
    b.op("ConstantOp", device=b.device, out=out)
    b.outputs.append(out)
    with pytest.raises(BinaryError, match=r"'constant_data' has 108 bytes; .* has 112"):
        run(b)


def test_full_rounds_only_on_the_device() -> None:
    """0.1 is not a bf16 number."""
    b = ProgramBuilder()
    out = b.ref((2, 3), "bf16", "DeviceDRAM", tiled=True)
    b.op("FullOp", device=b.device, fill_value=0.1, out=out)
    wide = b.compute("EltwiseOp", (2, 3), "f32", type="Typecast", ins=[out])
    b.output(wide)
    exact = np.float32(0.1)
    assert (run(b)[0] == exact).all()
    assert (run(b, numerics="device")[0] == np.float32(BF16(0.1))).all()


@pytest.mark.parametrize(
    ("element", "rounded"),
    [
        ("bf16", lambda x: x.astype(BF16).astype(np.float32)),
        ("f16", lambda x: x.astype(np.float16).astype(np.float32)),
        ("f32", lambda x: x),
    ],
)
def test_device_numerics_round_every_result(
    element: str, rounded: Callable[[np.ndarray], np.ndarray]
) -> None:
    """Rounding after exp and after the product, not only at the end."""
    b = ProgramBuilder()
    x = b.to_device(b.input((5, 33)), element=element)
    y = b.eltwise("Exp", [x], element=element)
    z = b.eltwise("Multiply", [y, y], element=element)
    b.output(b.compute("EltwiseOp", (5, 33), "f32", type="Typecast", ins=[z]))
    array = normal(5, 33)
    (result,) = run(b, array, numerics="device")
    step = rounded(np.exp(rounded(array)))
    np.testing.assert_array_equal(result, rounded(step * step))


def test_block_floats_share_exponents_over_16_numbers() -> None:
    """In a row of one large and 31 small numbers, only those beside the large one lose digits."""
    b = ProgramBuilder()
    x = b.to_device(b.input((1, 32)), element="bfp4")
    b.output(b.compute("EltwiseOp", (1, 32), "f32", type="Typecast", ins=[x]))
    array = np.full((1, 32), 1.0, np.float32)
    array[0, 3] = 64.0
    (result,) = run(b, array, numerics="device")
    expected = np.where(np.arange(32) < 16, 0.0, 1.0)
    expected[3] = 64.0
    np.testing.assert_array_equal(result[0], expected)
    np.testing.assert_array_equal(run(b, array)[0], array)


def test_64_bit_integers_wrap_only_on_the_device() -> None:
    """The device keeps 32 bits."""
    b = ProgramBuilder()
    x = b.to_device(b.input((2, 2), "i64"))
    b.output(b.eltwise("Add", [x, x]))
    array = np.array([[1, -5], [2**31, 2**33 + 7]])
    np.testing.assert_array_equal(run(b, array)[0], array * 2)
    np.testing.assert_array_equal(run(b, array, numerics="device")[0], [[2, -10], [0, 14]])


def test_integers_are_exact_and_wrap() -> None:
    """Products of large i32 numbers do not pass through float."""
    b = ProgramBuilder()
    x, y = (b.to_device(b.input((3, 4), "i32")) for _ in range(2))
    b.output(b.eltwise("Multiply", [x, y]))
    rng = np.random.default_rng(5)
    p, q = (rng.integers(-(2**31), 2**31, (3, 4)).astype(np.int32) for _ in range(2))
    expected = (p.astype(object) * q.astype(object) + 2**31) % 2**32 - 2**31
    for numerics in ("exact", "device"):
        np.testing.assert_array_equal(run(b, p, q, numerics=numerics)[0], expected.astype(np.int32))


def test_typecast_saturates_and_drops_nan() -> None:
    """Float to integer truncates towards zero; what does not fit becomes the nearest limit."""
    b = ProgramBuilder()
    x = b.to_device(b.input((1, 6)))
    b.output(b.eltwise("Typecast", [x], element="i32"))
    array = np.array([[1.9, -1.9, 3e9, -3e9, np.nan, np.inf]], np.float32)
    expected = [[1, -1, 2**31 - 1, -(2**31), 0, 2**31 - 1]]
    np.testing.assert_array_equal(run(b, array)[0], expected)


def test_a_cast_rounds_in_both_numerics() -> None:
    """f32 to bf16 and back loses digits even where storage keeps them."""
    b = ProgramBuilder()
    narrow = b.eltwise("Typecast", [b.to_device(b.input((3, 5)))], element="bf16")
    b.output(b.eltwise("Typecast", [narrow], element="f32"))
    array = normal(3, 5)
    for numerics in ("exact", "device"):
        (result,) = run(b, array, numerics=numerics)
        np.testing.assert_array_equal(result, array.astype(BF16).astype(np.float32))


def test_sums_do_not_lose_small_terms() -> None:
    """A million small terms beside a large one, added in float64."""
    b = ProgramBuilder()
    x = b.to_device(b.input((1000, 3)))
    reduction = {"in": x, "type": "Sum", "dim_arg": [0], "keep_dim": False}
    b.output(b.compute("ReductionOp", (3,), **reduction))
    array = np.full((1000, 3), 0.1, np.float32)
    array[0] = 1e6
    expected = array.astype(np.float64).sum(0).astype(np.float32)
    np.testing.assert_array_equal(run(b, array)[0], expected)


def test_reduction_without_dimensions_reduces_all() -> None:
    """An absent `dim_arg` is not an empty one."""
    b = ProgramBuilder()
    x = b.to_device(b.input((2, 3, 5)))
    for keep, shape in ((False, ()), (True, (1, 1, 1))):
        fields = {"in": x, "type": "Max", "dim_arg": None, "keep_dim": keep}
        b.output(b.compute("ReductionOp", shape, **fields))
    array = normal(2, 3, 5)
    for result in run(b, array):
        assert result.ravel() == [array.max()]


def test_the_last_write_to_shared_memory_wins() -> None:
    """Two operations may write to the same `ttnn.empty`, one after the other."""
    b = ProgramBuilder()
    x = b.to_device(b.input((3, 5)))
    out = b.empty((3, 5))
    b.op("EltwiseOp", type="Exp", ins=[x], out=out)
    first = b.eltwise("Neg", [out])
    b.op("EltwiseOp", type="Abs", ins=[x], out=out)
    b.output(first)
    b.output(out)
    array = normal(3, 5)
    negated, absolute = run(b, array)
    np.testing.assert_allclose(negated, -np.exp(array), rtol=1e-6)
    np.testing.assert_array_equal(absolute, np.abs(array))


def test_outputs_share_no_memory() -> None:
    """Changing a result changes neither the input nor another result."""
    b = ProgramBuilder()
    x = b.to_device(b.input((4, 6)))
    b.output(x)
    b.output(b.compute("ReshapeOp", (6, 4), **{"in": x}, shape=[6, 4]))
    array = normal(4, 6)
    first, second = run(b, array)
    kept = array.copy()
    first[:] = 0
    assert second.any()
    second[:] = 0
    np.testing.assert_array_equal(array, kept)


def test_pass_through_copies_the_input() -> None:
    """A program without operations returns its input."""
    b = ProgramBuilder(device=False)
    b.outputs.append(b.input((3, 70)))
    array = normal(3, 70)
    (result,) = run(b, array)
    np.testing.assert_array_equal(result, array)
    assert not np.may_share_memory(result, array)


def test_the_compiler_is_not_loaded() -> None:
    """Running a program imports neither xDSL nor the compiler's packages."""
    b = ProgramBuilder()
    b.output(b.eltwise("Neg", [b.to_device(b.input((3, 5)))]))
    code = (
        "import sys, numpy; from ttmlir.runtime import *;"
        "data = sys.stdin.buffer.read(); binary = read_binary(data, 'x');"
        "x = Tensor.from_numpy(numpy.ones((3, 5), 'float32'));"
        "assert (submit(open_device(), binary, 0, [x])[0].to_numpy() == -1).all();"
        "names = ('xdsl', 'ttmlir.mlir', 'ttmlir.dialects', 'ttmlir.passes', 'ttmlir.target');"
        "print([name for name in names if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], input=b.pack(), capture_output=True)
    assert (done.stdout.strip(), done.stderr) == (b"[]", b"")


# --- Refusals ----------------------------------------------------------------------------------


def test_host_operand_is_refused() -> None:
    """Operations other than convolutions run on the device."""
    b = ProgramBuilder()
    x = b.input((3, 5))
    b.output(b.eltwise("Exp", [x]))
    message = r"operation 2 .*operand 0 of ttnn.exp \(tensor 1\) is in host memory; .*to_device"
    with pytest.raises(BinaryError, match=message):
        run(b, normal(3, 5))


def test_layout_change_does_not_move_to_the_device() -> None:
    """to_layout alone leaves a tensor where it is, whatever its type says."""
    b = ProgramBuilder()
    laid_out = b.ref((3, 5), "f32", "DeviceDRAM", tiled=True)
    b.op("ToLayoutOp", **{"in": b.input((3, 5))}, layout="Tile", device=b.device, out=laid_out)
    b.output(b.eltwise("Exp", [laid_out]))
    with pytest.raises(BinaryError, match=r"operand 0 of ttnn.exp .* is in host memory"):
        run(b, normal(3, 5))


def test_use_after_dealloc_is_refused() -> None:
    """A deallocated tensor has no contents."""
    b = ProgramBuilder()
    x = b.to_device(b.input((3, 5)))
    b.op("DeallocOp", **{"in": x})
    b.output(b.eltwise("Exp", [x]))
    with pytest.raises(BinaryError, match=r"tensor 3 is used after operation 3 deallocated it"):
        run(b, normal(3, 5))


def test_use_before_definition_is_refused() -> None:
    """Every operand is an input or the result of an earlier operation."""
    b = ProgramBuilder()
    b.output(b.eltwise("Exp", [b.ref((3, 5), "f32", "DeviceDRAM", tiled=True)]))
    with pytest.raises(BinaryError, match="tensor 1 is used before it is computed"):
        run(b)


def test_wrong_shape_names_operation_and_shapes() -> None:
    """A matmul that cannot produce its output."""
    b = ProgramBuilder()
    x, w = b.to_device(b.input((33, 70))), b.to_device(b.input((70, 5)))
    b.output(b.compute("MatmulOp", (33, 6), in0=x, in1=w))
    message = (
        r"test.ttnn: program 0 'forward': operation 6 \(MatmulOp, loc\(\"MatmulOp\"\)\): "
        "ttnn.matmul on operands of shape 33x70, 70x5 makes 33x5, but its output is 33x6"
    )
    with pytest.raises(BinaryError, match=message):
        run(b, normal(33, 70), normal(70, 5))


def test_unopened_device_is_refused() -> None:
    """Operations name a device that the program opened."""
    b = ProgramBuilder(device=False)
    b.output(b.empty((3, 5)))
    with pytest.raises(BinaryError, match="device 0 was not opened by a get_device operation"):
        run(b)


def test_unfinished_output_is_refused() -> None:
    """Outputs must be computed."""
    b = ProgramBuilder()
    b.outputs.append(b.ref((3, 5)))
    with pytest.raises(BinaryError, match=r"nothing computes output 0 \(tensor 1\)"):
        run(b)


def test_index_outside_of_the_table_fails_at_run() -> None:
    """Data decides: the message names rows and table."""
    b = ProgramBuilder()
    i, w = b.to_device(b.input((7,), "i32")), b.to_device(b.input((10, 4)))
    fields = {"input": i, "weight": w}
    b.output(b.compute("EmbeddingOp", (7, 4), out_field="output", **fields))
    indices = np.arange(7, dtype=np.int32)
    table = normal(10, 4)
    np.testing.assert_array_equal(run(b, indices, table)[0], table[:7])
    with pytest.raises(ExecutionError, match=r"EmbeddingOp.*Row numbers from 5 to 11 .* 10 rows"):
        run(b, indices + 5, table)


def test_operation_without_type_is_refused() -> None:
    """An operation that the schema's union does not name."""
    b = ProgramBuilder()
    b.operations.append({"debug_info": "nothing"})
    with pytest.raises((BinaryError, UnsupportedError), match="operation 1"):
        run(b)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ((), r"takes 1 input, got 0"),
        ((np.zeros((3, 4), np.float32),), r"input 0 has shape \(3, 4\) instead of \(3, 5\)"),
        ((np.zeros((3, 5), np.int32),), r"input 0 has element i32 instead of f32; to_layout"),
    ],
)
def test_wrong_inputs_are_refused(arrays: tuple[np.ndarray, ...], message: str) -> None:
    """Count, shape and element type of inputs are checked before anything runs."""
    b = ProgramBuilder()
    b.output(b.to_device(b.input((3, 5))))
    with pytest.raises(InputError, match=message):
        run(b, *arrays)


def test_impossible_sizes_are_refused() -> None:
    """A tensor larger than its memory, or than any memory, is not allocated."""
    b = ProgramBuilder()
    b.output(b.to_device(b.input((3, 5))))
    b.inputs[0]["desc"]["shape"] = [3, 2**30]
    with pytest.raises(BinaryError, match="does not fit its memory, which is"):
        run(b, normal(3, 5))
    b.inputs[0]["desc"]["shape"] = [2**20, 2**20]
    with pytest.raises(BinaryError, match="has 1099511627776 elements; at most"):
        run(b, normal(3, 5))
    b.inputs[0]["desc"]["shape"] = [-3, 5]
    with pytest.raises(BinaryError, match="negative extents"):
        run(b, normal(3, 5))


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        ("desc", None, r"inputs\[0\]: field 'desc' is missing"),
        ("desc.shape", None, r"inputs\[0\].desc: field 'shape' is missing"),
        ("desc.layout", None, r"inputs\[0\].desc: field 'layout' is missing"),
        ("desc.layout.memory_desc", None, r"desc.layout: field 'memory_desc' is missing"),
        (
            "desc.layout.memory_desc.tile_shape",
            (1, 2000),
            r"tile shape \[1, 2000\] is out of range",
        ),
        (
            "desc.layout.memory_desc",
            {"data_type": "BFP_Float8", "tile_shape": (1, 3)},
            r"block floats need tiles of a multiple of 16 elements, got \[1, 3\]",
        ),
    ],
)
def test_incomplete_tensors_are_refused(path: str, content: Any, message: str) -> None:
    """The message says which part of which tensor."""
    b = ProgramBuilder()
    b.output(b.to_device(b.input((3, 5))))
    table: dict[str, Any] = b.inputs[0]
    *outer, last = path.split(".")
    for name in outer:
        table = table[name]
    table[last] = content
    with pytest.raises(BinaryError, match=r"^test.ttnn: program 0 'forward': .*" + message):
        run(b, normal(3, 5))


@pytest.mark.parametrize("name", ["in", "out", "shape"])
def test_incomplete_operations_are_refused(name: str) -> None:
    """The message says which field of which operation."""
    b = ProgramBuilder()
    x = b.to_device(b.input((3, 5)))
    fields = {"in": x, "out": b.empty((5, 3)), "shape": [5, 3]}
    del fields[name]
    b.op("ReshapeOp", **fields)
    b.output(x)
    with pytest.raises(
        BinaryError, match=rf"operation 4 \(ReshapeOp, .*: field '{name}' is missing"
    ):
        run(b, normal(3, 5))


def test_files_of_other_kinds_are_recognized() -> None:
    """Files of the wrong kind say what they are and what is supported."""
    data = bytearray(ProgramBuilder().pack())
    data[8:12] = b"TTSY"
    with pytest.raises(BinaryError, match="expected a program, got a system description; give"):
        read_binary(bytes(data), "a.ttsys")
    data[8:12] = b"ABCD"
    for other in (bytes(data), b"abc"):
        with pytest.raises(BinaryError, match=r"a\.ttnn: neither a TTNN nor a TTMetal program nor"):
            read_binary(other, "a.ttnn")
    with pytest.raises(BinaryError, match="expected TTNN, got ABCD; give a file of the right kind"):
        read_binary(bytes(data), "a.ttnn", ignore_version=True)
    with pytest.raises(BinaryError, match="3 bytes are too few for a flatbuffer"):
        read_binary(b"abc", "a.ttnn", ignore_version=True)


@pytest.mark.parametrize("numerics", ["exact", "device"])
def test_tiles_of_bytes_without_an_element_type_are_unsigned(numerics: str) -> None:
    """Files from before the field `element_type` say only how numbers are stored."""
    b = ProgramBuilder()
    x, y = (b.to_device(b.input((5, 33), "ui8")) for _ in range(2))
    b.output(b.eltwise("Maximum", [x, y]))
    data = b.pack()
    assert {ref["desc"]["element_type"] for ref in b.inputs} == {None}
    rng = np.random.default_rng(1)
    given = [rng.integers(0, 256, (5, 33)).astype(np.uint8) for _ in range(2)]
    binary = read_binary(data, "bytes")
    device = open_device(numerics=numerics)
    [result] = submit(device, binary, 0, [Tensor.from_numpy(array) for array in given])
    assert result.to_numpy().dtype == np.uint8
    assert given[0].max() > 127
    np.testing.assert_array_equal(result.to_numpy(), np.maximum(*given))


@pytest.mark.parametrize("framework", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("element", ["f32", "bf16"])
def test_arrays_are_inputs(framework: str, element: str) -> None:
    """Those of NumPy, torch and JAX, in the element type of the program's input."""
    b = ProgramBuilder()
    b.output(b.eltwise("Abs", [b.to_device(b.input((3, 5), element))]))
    binary = read_binary(b.pack(), "abs")
    numbers = np.linspace(-4, 3, 15, dtype=np.float32).reshape(3, 5)
    numbers = numbers.astype(ml_dtypes.bfloat16 if element == "bf16" else np.float32)
    array: Any = numbers
    if framework == "torch":
        dtype = torch.bfloat16 if element == "bf16" else torch.float32
        array = torch.tensor(numbers.astype(np.float32)).to(dtype)
    elif framework == "jax":
        array = jnp.asarray(numbers)
    [result] = submit(open_device(), binary, 0, [array])
    np.testing.assert_array_equal(result.to_numpy(), np.abs(numbers))


def test_an_array_goes_to_the_device_that_the_program_wants_it_on() -> None:
    """A program may take its inputs where another one has left them."""
    b = ProgramBuilder()
    b.output(b.eltwise("Abs", [b.input((3, 5), space="DeviceDRAM")]))
    binary = read_binary(b.pack(), "abs")
    device = open_device()
    [result] = submit(device, binary, 0, [np.full((3, 5), -2, np.float32)])
    np.testing.assert_array_equal(result.to_numpy(), np.full((3, 5), 2))
    assert device.counters.writes == 1


def test_other_things_are_no_inputs() -> None:
    """The message says what is."""
    b = ProgramBuilder()
    b.output(b.eltwise("Abs", [b.to_device(b.input((3, 5)))]))
    binary = read_binary(b.pack(), "abs")
    message = r"input 0 is a list; give a Tensor, or an array of NumPy, JAX or torch"
    with pytest.raises(InputError, match=message):
        submit(open_device(), binary, 0, [[1.0, 2.0]])
    with pytest.raises(InputError, match=r"input 0 has shape \(5, 3\) instead of \(3, 5\)"):
        submit(open_device(), binary, 0, [np.ones((5, 3), np.float32)])
    with pytest.raises(InputError, match=r"input 0 has element f64 instead of f32; to_layout"):
        submit(open_device(), binary, 0, [np.ones((3, 5))])
