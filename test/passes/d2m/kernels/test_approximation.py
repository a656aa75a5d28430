"""`math-approx-mode`: coarse exponentials, which take a tenth of the time."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from ml_dtypes import bfloat16
from running.kernel_runs import run_kernels
from running.pass_runner import lowered
from samples.ttir_text import FunctionText, tensor

import ttmlir
from ttmlir.mlir.module_printer import print_module
from ttmlir.program import ComputeConfig
from ttmlir.runtime import read_binary
from ttmlir.runtime.metal_program import MetalBinary
from ttmlir.target.cpp.from_ttkernel import write_kernels
from ttmlir.target.cpp.kernel_api import KernelApi
from ttmlir.target.flatbuffer.ttmetal import ttmetal_to_flatbuffer

Array = np.ndarray[Any, Any]
SHAPE = (40, 100)
MODE = "math-approx-mode=true"
PIPELINE = "ttir-to-ttmetal-pipeline"
SLOPE, OFFSET = 256 / np.log(2), 32500.818359375


def text_of(*mnemonics: str, element: str = "f32") -> str:
    """Elementwise operations one after another."""
    type_ = tensor(*SHAPE, element=element)
    text = FunctionText([type_])
    value = "%arg0"
    for mnemonic in mnemonics:
        value = text.op(mnemonic, [value], type_)
    return text.returning(value)


def numbers() -> Array:
    """From -8 to 8."""
    return np.random.default_rng(7).uniform(-8, 8, SHAPE).astype(np.float32)


def coarse(x: Array) -> Array:
    """What the chip computes: a linear function of x as the bits of a number."""
    bits = np.rint(x.astype(np.float64) * SLOPE + OFFSET).astype(np.uint32) << np.uint32(15)
    return bits.view(np.float32)


@pytest.mark.parametrize("options", ["", MODE])
def test_which_calls_are_coarse(options: str) -> None:
    """Exponentials and what prepares them; other functions are as exact as before."""
    text = text_of("exp", "sqrt", "tanh")
    module = print_module(lowered(text, f"{PIPELINE}={options}" if options else PIPELINE))
    calls = dict(re.findall(r'"ttkernel\.(\w+_tile(?:_init)?)"\([^)]*\) ?(<\{.*?\}>)?', module))
    flags = "<{approx = true, fast_and_approx = true}>" if options else ""
    assert calls["exp_tile"] == flags
    assert calls["exp_tile_init"] == flags
    assert calls["sqrt_tile"] == calls["tanh_tile"] == ""
    flag = "false, true, [" if options else "false, ["
    assert re.search(rf"compute_config<@compute0, .*?hifi4, \w+, {re.escape(flag)}", module)


def test_exponentials_of_16_bits_with_long_sums() -> None:
    """DST has 32 bits for the sum; its exponentials are rounded to 16 bits as elsewhere."""
    type_ = tensor(32, 1024, element="bf16")
    text = FunctionText([type_])
    program = text.returning(text.op("softmax", ["%arg0"], type_, "dimension = 1 : si32"))
    module = lowered(program, PIPELINE)
    calls = re.findall(r'"ttkernel\.(exp_tile\w*)"\([^)]*\) ?(<\{.*?\}>)?', print_module(module))
    assert {flags for _, flags in calls} == {"<{narrow = true}>"}
    assert {name for name, _ in calls} == {"exp_tile", "exp_tile_init"}
    x = (4 * np.random.default_rng(7).standard_normal((32, 1024))).astype(bfloat16)
    (found,) = run_kernels(program, x, exact=False).outputs
    powers = np.exp(x.astype(np.float64) - x.max(1, keepdims=True).astype(np.float64))
    wanted = powers / powers.sum(1, keepdims=True)
    # Four roundings to 8 bits: exponentials, the reciprocal of the sum, which is rounded, too.
    np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=4 * 2**-8)
    assert np.linalg.norm(found - wanted) < 2**-8 * np.linalg.norm(wanted)
    late = write_kernels(module, KernelApi.OF_2026)
    assert "exp_tile<false, false, InputClamping::ClampToNegative, 8, false>(" in late
    assert "exp_tile_init<false, 0x3F800000, InputClamping::ClampToNegative, false>()" in late


@pytest.mark.parametrize(("options", "expected"), [("", False), (f"={MODE}", True)])
def test_the_mode_reaches_files(options: str, expected: bool) -> None:
    """The configuration of the kernel in a `.ttm`."""
    binary = read_binary(
        ttmetal_to_flatbuffer(lowered(text_of("exp"), f"{PIPELINE}{options}")), "a.ttm"
    )
    assert isinstance(binary, MetalBinary)
    [description] = [
        command.description
        for command in binary.metal_programs[0].commands
        if command.description is not None
    ]
    configs = [kernel.config for kernel in description.kernels]
    [config] = [each for each in configs if isinstance(each, ComputeConfig)]
    assert config.math_approx_mode is expected


def test_values_in_device_numerics() -> None:
    """Those of the published algorithm, at most 3.2 % off; without the mode, within rounding."""
    x = numbers()
    (found,) = run_kernels(text_of("exp"), x, options=MODE, exact=False).outputs
    # Numbers of float32 reach the vector unit with all bits, and so do results leave it.
    np.testing.assert_allclose(found, coarse(x), rtol=2**-7)
    np.testing.assert_allclose(found, np.exp(x), rtol=0.032)
    assert np.abs(found / np.exp(x) - 1).max() > 0.02
    (default,) = run_kernels(text_of("exp"), x, exact=False).outputs
    np.testing.assert_allclose(default, np.exp(x), rtol=1e-3)


def test_values_in_exact_numerics() -> None:
    """The function itself: exact numerics do not round."""
    x = numbers()
    (found,) = run_kernels(text_of("exp"), x, options=MODE).outputs
    np.testing.assert_allclose(found, np.exp(x), rtol=1e-6)


def test_softmax_is_off_by_less_than_its_exponentials() -> None:
    """Their errors cancel in part: the sums have them, too."""
    type_ = tensor(*SHAPE)
    text = FunctionText([type_])
    program = text.returning(text.op("softmax", ["%arg0"], type_, "dimension = 1 : si32"))
    x = numbers()
    (found,) = run_kernels(program, x, options=MODE, exact=False).outputs
    powers = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(found, powers / powers.sum(1, keepdims=True), rtol=0.065, atol=1e-6)
    np.testing.assert_allclose(found.sum(1), 1, atol=0.01)


def test_the_mode_is_faster() -> None:
    """672 cycles of a tile are 128."""
    text = text_of("exp", "neg", "exp", element="bf16")
    x = numbers()
    slow, fast = (
        run_kernels(text, x, options=options, timed=True).cycles for options in ("", MODE)
    )
    assert 2 * fast < slow


def test_models_take_the_option() -> None:
    """`ttmlir.compile(options=...)`, on a model of StableHLO."""
    text = """
    func.func @exp(%x: tensor<40x100xf32>) -> tensor<40x100xf32> {
      %0 = stablehlo.exponential %x : tensor<40x100xf32>
      return %0 : tensor<40x100xf32>
    }
    """
    module = ttmlir.compile(text, target="kernels", options=MODE).text("ttmetal")
    assert "approx = true, fast_and_approx = true" in module
