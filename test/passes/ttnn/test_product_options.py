"""Formats of weights and fidelities of products: what the options write, and what runs compute."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from running.pass_runner import TTNN_PIPELINE, printed

from ttmlir.compiler import compile_to_cpp, compile_to_ttnn
from ttmlir.cost import estimate_program
from ttmlir.mlir.option_values import OptionError
from ttmlir.mlir.reporting import listening
from ttmlir.runtime import Numerics, open_device, submit
from ttmlir.runtime.loading import read_binary

Numbers = NDArray[np.float32]

_MODEL = """
#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @forward(%x: tensor<33x70xTYPE>, %w: tensor<70x45xTYPE>, %v: tensor<45x9xTYPE>)
    -> tensor<33x9xTYPE> {
  %0 = tensor.empty() : tensor<33x45xTYPE>
  %1 = "ttir.matmul"(%x, %w, %0) <{operand_constraints = [#any, #any, #any]}>
      : (tensor<33x70xTYPE>, tensor<70x45xTYPE>, tensor<33x45xTYPE>) -> tensor<33x45xTYPE>
      loc("fc1")
  %2 = tensor.empty() : tensor<33x9xTYPE>
  %3 = "ttir.matmul"(%1, %v, %2) <{operand_constraints = [#any, #any, #any]}>
      : (tensor<33x45xTYPE>, tensor<45x9xTYPE>, tensor<33x9xTYPE>) -> tensor<33x9xTYPE>
      loc("fc2")
  return %3 : tensor<33x9xTYPE>
}
"""


def _model(type_: str = "f32") -> str:
    return _MODEL.replace("TYPE", type_)


def _compiled(options: str, text: str = "") -> bytes:
    return compile_to_ttnn(text or _model(), f"{TTNN_PIPELINE}{{{options}}}")


def _run(data: bytes, *inputs: Numbers) -> Numbers:
    device = open_device(numerics=Numerics.DEVICE)
    binary = read_binary(data, "net.ttnn")
    given = [
        each.astype(ref.desc.element.host)
        for each, ref in zip(inputs, binary.program(0).inputs, strict=True)
    ]
    [result] = submit(device, binary, 0, given)
    return result.to_numpy().astype(np.float32)


def _cut(values: Numbers, bits: int) -> Numbers:
    """Numbers with so many bits behind the leading one, the others dropped."""
    mantissa, exponent = np.frexp(values.astype(np.float64))
    return np.ldexp(np.trunc(np.ldexp(mantissa, bits + 1)), exponent - bits - 1).astype(np.float32)


def _inputs() -> tuple[Numbers, Numbers, Numbers]:
    random = np.random.default_rng(5)
    shapes = ((33, 70), (70, 45), (45, 9))
    first, second, third = (random.standard_normal(each).astype(np.float32) for each in shapes)
    return first, second, third


def _as_bfp8(weights: Numbers) -> Numbers:
    """One exponent for 16 numbers of a row, and 7 bits of magnitude, ties away from zero."""
    rows, columns = weights.shape
    padded = np.zeros((rows, -(-columns // 16) * 16), np.float64)
    padded[:, :columns] = weights
    blocks = padded.reshape(rows, -1, 16)
    largest = np.abs(blocks).max(axis=2, keepdims=True)
    unit = 2.0 ** (np.floor(np.log2(np.where(largest > 0, largest, 1))) - 6)
    magnitudes = np.minimum(np.floor(np.abs(blocks) / unit + 0.5), 127)
    rounded = np.copysign(magnitudes * unit, blocks).reshape(padded.shape)
    return rounded[:, :columns].astype(np.float32)


def test_weights_in_block_floats_are_rounded_by_blocks() -> None:
    """Both weights are; the numbers that are multiplied with them are not."""
    x, w, v = _inputs()
    expected = x.astype(np.float64) @ _as_bfp8(w) @ _as_bfp8(v)
    result = _run(_compiled("experimental-weight-dtype=bfp_bf8"), x, w, v)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-4)


def test_a_weight_is_picked_by_its_location() -> None:
    """What is said of an operation stands instead of what is said of all."""
    x, w, v = _inputs()
    expected = x.astype(np.float64) @ _as_bfp8(w) @ v
    result = _run(_compiled("override-weight-dtype=fc1=bfp_bf8"), x, w, v)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-4)
    both = "experimental-weight-dtype=bfp_bf8 override-weight-dtype=fc2=bf16"
    text = printed(_model(), f"{TTNN_PIPELINE}={both}")
    assert text.count("memref<3x2x!tt.tile<32x32, bfp_bf8>, #dram>") == 1
    assert text.count("memref<2x1x!tt.tile<32x32, bf16>, #dram>") == 1


@pytest.mark.parametrize("fidelity", ["lofi", "hifi2", "hifi4"])
def test_fidelity_drops_bits_of_operands(fidelity: str) -> None:
    """LoFi takes 4 bits of a weight behind the leading one and 6 of the other operand, HiFi2 all
    of a weight, HiFi4 all of both; bf16 has 7."""
    x, w, v = (_cut(each, 7) for each in _inputs())
    options = f"compute-cfg-math-fidelity={fidelity} compute-cfg-fp32-dest-acc-en=true"
    result = _run(_compiled(options, _model("bf16")), x, w, v)

    def product(a: Numbers, b: Numbers) -> Numbers:
        first = a if fidelity == "hifi4" else _cut(a, 6)
        second = _cut(b, 4) if fidelity == "lofi" else b
        return _round_to_bf16(first @ second)

    np.testing.assert_allclose(result, product(product(x, w), v), rtol=2**-7, atol=1e-2)
    exact = _round_to_bf16(_round_to_bf16(x @ w) @ v)
    is_exact = np.allclose(result, exact, rtol=2**-7, atol=1e-2)
    assert is_exact == (fidelity == "hifi4")


def _round_to_bf16(values: Numbers) -> Numbers:
    mantissa, exponent = np.frexp(values.astype(np.float64))
    return np.ldexp(np.rint(np.ldexp(mantissa, 8)), exponent - 8).astype(np.float32)


def test_hifi3_leaves_out_the_last_bits_of_both() -> None:
    """The rest of one operand meets the first bits of the other alone."""
    options = "compute-cfg-math-fidelity=hifi3 compute-cfg-fp32-dest-acc-en=true"
    x, w, v = _inputs()
    a, b = _cut(x, 10), _cut(w, 9)
    first = _cut(a, 6).astype(np.float64) @ b + (a - _cut(a, 6)).astype(np.float64) @ _cut(b, 4)
    a, b = _cut(first.astype(np.float32), 10), _cut(v, 9)
    second = _cut(a, 6).astype(np.float64) @ b + (a - _cut(a, 6)).astype(np.float64) @ _cut(b, 4)
    # The 32 bits of the first product are cut to 11, which a last bit can change.
    result = _run(_compiled(options), x, w, v)
    np.testing.assert_allclose(result, second, rtol=2e-3, atol=2e-2)


def test_infinities_stay_with_every_fidelity() -> None:
    """Parts of numbers that are not finite are no NaN."""
    x, w, v = np.ones((33, 70)), np.ones((70, 45)), np.ones((45, 9))
    x[3, 5] = np.inf
    for fidelity in ("lofi", "hifi2", "hifi3", "hifi4"):
        data = _compiled(f"compute-cfg-math-fidelity={fidelity}")
        inputs = (each.astype(np.float32) for each in (x, w, v))
        result = _run(data, *inputs)
        assert np.isinf(result[3]).all()
        assert np.isfinite(np.delete(result, 3, axis=0)).all()


def test_estimate_knows_the_fidelity() -> None:
    """What the file says is in the rows of the products."""
    program = read_binary(_compiled("override-math-fidelity=fc2=hifi3"), "net.ttnn").program(0)
    rows = [each for each in estimate_program(program, "n150").operations if "matmul" in each.name]
    assert [str(each.fidelity.keyword) for each in rows if each.fidelity] == ["hifi2", "hifi3"]


def test_cpp_has_the_config_before_the_destination() -> None:
    """As all parameters that came after the first version."""
    text = compile_to_cpp(_model(), f"{TTNN_PIPELINE}{{override-math-fidelity=fc1=lofi}}")
    config = "ttnn::WormholeComputeKernelConfig{.math_fidelity = MathFidelity::LoFi, "
    assert text.count(config) == 1
    assert text.count("ttnn::matmul(") == 2


def test_convolutions_take_a_fidelity() -> None:
    """The bias is added once."""
    text = """
    #any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
    func.func @conv(%x: tensor<1x5x6x3xf32>, %w: tensor<4x3x2x2xf32>, %b: tensor<1x1x1x4xf32>)
        -> tensor<1x4x5x4xf32> {
      %0 = tensor.empty() : tensor<1x4x5x4xf32>
      %1 = "ttir.conv2d"(%x, %w, %b, %0) <{stride_height = 1 : si32, stride_width = 1 : si32,
          dilation_height = 1 : si32, dilation_width = 1 : si32, groups = 1 : si32,
          padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32,
          padding_bottom = 0 : si32, operand_constraints = [#any, #any, #any, #any]}>
          : (tensor<1x5x6x3xf32>, tensor<4x3x2x2xf32>, tensor<1x1x1x4xf32>,
             tensor<1x4x5x4xf32>) -> tensor<1x4x5x4xf32>
      return %1 : tensor<1x4x5x4xf32>
    }
    """
    random = np.random.default_rng(7)
    x, w = (
        random.integers(-9, 9, size).astype(np.float32) for size in ((1, 5, 6, 3), (4, 3, 2, 2))
    )
    bias = np.arange(4, dtype=np.float32).reshape(1, 1, 1, 4)
    expected = np.zeros((1, 4, 5, 4), np.float32)
    for row in range(4):
        for column in range(5):
            window = x[0, row : row + 2, column : column + 2]
            expected[0, row, column] = np.einsum("ijc,ocij->o", window, w) + bias[0, 0, 0]
    options = "compute-cfg-math-fidelity=hifi3 compute-cfg-fp32-dest-acc-en=true"
    np.testing.assert_array_equal(_run(_compiled(options, text), x, w, bias), expected)


@pytest.mark.parametrize("option", ["override-weight-dtype", "override-math-fidelity"])
def test_unknown_names_are_told(option: str) -> None:
    """With names that are like them."""
    word = "bfp_bf8" if "weight" in option else "lofi"
    with listening() as heard:
        _compiled(f"{option}=fc3={word}")
    [message] = heard
    assert f"{option}: no operation has the location 'fc3'; did you mean 'fc" in message
    with listening() as heard:
        _compiled(f"{option}=nope={word}")
    [message] = heard
    assert message.endswith("has the location 'nope'; there are 'fc1', 'fc2'")


@pytest.mark.parametrize(("option", "word"), [("weight-dtype", "bf16"), ("math-fidelity", "lofi")])
def test_names_of_what_takes_no_such_option_are_told(option: str, word: str) -> None:
    """Here nothing takes it."""
    text = """
    #any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
    func.func @forward(%x: tensor<33x45xf32>) -> tensor<33x45xf32> {
      %0 = tensor.empty() : tensor<33x45xf32>
      %1 = "ttir.relu"(%x, %0) <{operandSegmentSizes = array<i32: 1, 1>,
          operand_constraints = [#any, #any]}> : (tensor<33x45xf32>, tensor<33x45xf32>)
          -> tensor<33x45xf32> loc("act")
      return %1 : tensor<33x45xf32>
    }
    """
    with listening() as heard:
        _compiled(f"override-{option}=act={word}", text)
    [message] = heard
    assert f"override-{option}: it does not apply to 'act', which is ttnn." in message
    assert message.endswith('no operation here that takes it has a name, as in loc("add_1")')


@pytest.mark.parametrize(
    "option",
    [
        *(
            "override-math-fidelity=fc1=lofi,fc2=lofi,fc1=hifi2",
            "override-grid-sizes=fc1=4x2,fc1=8x8",
        ),
        *("override-weight-dtype=fc1=bf16,fc1=bf16", "override-output-layout=fc1=dram,fc1=l1"),
        *(
            "insert-memreconfig=fc1=0,fc1=1",
            "override-conv3d-config=fc1=c_in_block#32,fc1=t_out_block#1",
        ),
    ],
)
def test_names_that_are_there_twice_are_refused(option: str) -> None:
    """One of both would have been dropped."""
    with pytest.raises(OptionError, match=f"{option.split('=')[0]} option: 'fc1' is there twice"):
        _compiled(option)


def test_computed_second_operands_are_no_weights() -> None:
    """In attention both operands of a product are computed."""
    text = _model().replace('"ttir.matmul"(%1, %v, %2)', '"ttir.matmul"(%1, %4, %2)')
    text = text.replace(
        "  %2 = tensor",
        """  %e = tensor.empty() : tensor<45x9xf32>
  %4 = "ttir.relu"(%v, %e) <{operandSegmentSizes = array<i32: 1, 1>,
      operand_constraints = [#any, #any]}> : (tensor<45x9xf32>, tensor<45x9xf32>)
      -> tensor<45x9xf32>
  %2 = tensor""",
    )
    assert "bfp_bf8" in printed(text, f"{TTNN_PIPELINE}=experimental-weight-dtype=bfp_bf8")
    only_second = printed(text, f"{TTNN_PIPELINE}=override-weight-dtype=fc2=bfp_bf8")
    assert "tile<32x32, bfp_bf8>" not in only_second
