"""Quantized programs of torch, against torch itself: the reference form of PT2E, packed weights."""

from __future__ import annotations

import math
import re
import warnings
from importlib import import_module
from typing import Any

import pytest

import ttmlir

torch: Any = import_module("torch")
# The operations of PT2E's reference form.
import_module("torch.ao.quantization.fx._decomposed")
q: Any = torch.ops.quantized_decomposed
I8, U8 = torch.int8, torch.uint8


def numbers(*shape: int, scale: float = 3.0, seed: int = 0, dtype: Any = None) -> Any:
    """Numbers of both signs that are not whole."""
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(shape, generator=generator) * scale).to(dtype or torch.float32)


def integers(*shape: int, low: int = -128, high: int = 128, dtype: Any = I8) -> Any:
    """Integers from `low` to `high` - 1."""
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(1)).to(dtype)


def check_equal(function: Any, *arguments: Any) -> None:
    """Compile a function; in both numerics it has the very results of torch."""
    compiled = ttmlir.compile(function, *arguments)
    expected = function(*arguments)
    for numerics in ("exact", "device"):
        actual = compiled(*arguments, numerics=numerics)
        torch.testing.assert_close(actual, expected, rtol=0, atol=0)


def dynamic(x: Any) -> Any:
    """Scale and zero point from the numbers."""
    scale, zero = q.choose_qparams.tensor(x, -128, 127, 1e-5, I8)
    integer = q.quantize_per_tensor.tensor(x, scale, zero, -128, 127, I8)
    return q.dequantize_per_tensor.tensor(integer, scale, zero, -128, 127, I8), scale, zero


def dynamic_symmetric(x: Any) -> Any:
    """The same with a zero point in the middle."""
    scale, zero = q.choose_qparams_symmetric.tensor(x, -127, 127, 1e-5, I8)
    return q.quantize_per_tensor.tensor(x, scale, zero, -127, 127, I8), zero


def by_token(x: Any) -> Any:
    """A scale for each row."""
    scale, zero = q.choose_qparams_per_token(x, I8)
    integer = q.quantize_per_token(x, scale, zero, -128, 127, I8)
    return q.dequantize_per_token(integer, scale, zero, -128, 127, I8, torch.float32)


def by_token_asymmetric(x: Any) -> Any:
    """A scale and a zero point for each row."""
    scale, zero = q.choose_qparams_per_token_asymmetric(x, I8)
    integer = q.quantize_per_token(x, scale, zero, -128, 127, I8)
    return q.dequantize_per_token(integer, scale, zero, -128, 127, I8, torch.float32)


def fixed(x: Any) -> Any:
    """A scale and a zero point that are numbers, of both types of bytes and of halves."""
    integer = q.quantize_per_tensor(x, 0.05, 130, 0, 255, U8)
    number = q.dequantize_per_tensor(integer, 0.05, 130, 0, 255, U8)
    half = q.quantize_per_tensor(x.bfloat16(), 0.1, -3, -128, 127, I8)
    back = q.dequantize_per_tensor(half, 0.1, -3, -128, 127, I8)
    return integer, number, half, back


# torch keeps chosen scales in f64.
@pytest.mark.sampled(every=2)
@pytest.mark.filterwarnings("ignore:.*tensors of f64 are kept as f32")
@pytest.mark.parametrize(
    "function", [fixed, dynamic, dynamic_symmetric, by_token, by_token_asymmetric]
)
def test_scales_of_the_tensor_and_of_rows(function: Any) -> None:
    """Numbers far beyond the range included."""
    check_equal(function, numbers(3, 5, 7, scale=9.0))


def test_scales_of_channels_and_groups() -> None:
    """Integers, numbers, and numbers that are rounded to those that integers stand for."""

    def channels(x: Any, s: Any, z: Any) -> Any:
        integer = q.quantize_per_channel(x, s, z, 1, -128, 127, I8)
        return (
            integer,
            q.dequantize_per_channel(integer, s, z, 1, -128, 127, I8),
            q.dequantize_per_channel(integer, s, None, 1, -128, 127, I8),
            q.fake_quant_per_channel(x, s, z, 1, -8, 7),
        )

    def groups(w: Any, s: Any, z: Any) -> Any:
        integer = q.quantize_per_channel_group(w, s, z, -8, 7, I8, 4)
        return integer, q.dequantize_per_channel_group(integer, s, z, -8, 7, I8, 4, torch.float32)

    scales = numbers(5, scale=0.1).abs() + 0.01
    check_equal(channels, numbers(3, 5, 7), scales, integers(5, low=-3, high=4, dtype=torch.int64))
    scales = numbers(6, 2, scale=0.1).abs() + 0.01
    zeros = integers(6, 2, low=0, high=4, dtype=torch.int64)
    check_equal(groups, numbers(6, 8), scales, zeros)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("terms", [40, 1024, 2600])
def test_products_of_integers(terms: int) -> None:
    """Exact in both numerics, also where their sums do not fit into f32."""
    a, b = integers(17, terms), integers(terms, 24)
    a[0], b[:, 0] = -128, -128
    check_equal(torch._int_mm, a, b)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_weights_of_bytes(dtype: Any) -> None:
    """By torch's operation, and written out; the order of sums differs."""

    def fused(x: Any, w: Any, s: Any) -> Any:
        return torch.ops.aten._weight_int8pack_mm(x, w, s)

    def plain(x: Any, w: Any, s: Any) -> Any:
        return torch.nn.functional.linear(x, w.to(x.dtype)) * s

    x, w, s = numbers(5, 40, dtype=dtype), integers(24, 40), numbers(24, dtype=dtype)
    expected = ((x.double() @ w.double().T) * s.double()).to(dtype)
    tolerance = 0.02 if dtype == torch.bfloat16 else 1e-5
    for function in (fused, plain):
        actual = ttmlir.compile(function, x, w, s)(x, w, s)
        torch.testing.assert_close(actual, expected, rtol=tolerance, atol=tolerance)


FLOATS = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")
EDGES = [float("nan"), 0.0, -0.0, 240.0, 248.0, 448.0, 464.0, 465.0, 57344.0, 61440.0, 61441.0]


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", FLOATS)
def test_floats_of_8_bits(name: str) -> None:
    """Rounded as torch rounds, passed in and out, and kept as weights."""
    dtype = getattr(torch, name)
    x = torch.cat([numbers(300) * 10.0 ** integers(300, low=-6, high=6), torch.tensor(EDGES)])
    if name == "float8_e8m0fnu":
        x = x.abs() + 1e-9
    weight = numbers(x.shape[0]).abs().to(dtype)

    def function(x: Any, y: Any) -> Any:
        return x.to(dtype), y.float() * 2 + weight.float()

    y = x.to(dtype)
    short, wide = ttmlir.compile(function, x, y)(x, y)
    assert short.dtype == dtype
    for actual, expected in zip((short, wide), function(x, y), strict=True):
        a, b = actual.float(), expected.float()
        torch.testing.assert_close(a, b, rtol=0, atol=0, equal_nan=True)


def test_scaled_products_of_floats_of_8_bits() -> None:
    """Scales of matrices, of rows and of columns; sums are in f32."""

    def multiply(a: Any, b: Any, s: Any, t: Any) -> Any:
        return torch._scaled_mm(a, b, s, t, out_dtype=torch.bfloat16)

    a = numbers(16, 32).to(torch.float8_e4m3fn)
    b = numbers(48, 32, seed=1).to(torch.float8_e4m3fn).T
    for s, t in ((torch.tensor(0.5), torch.tensor(0.25)), (numbers(16, 1), numbers(1, 48))):
        actual = ttmlir.compile(multiply, a, b, s.abs(), t.abs())(a, b, s.abs(), t.abs())
        expected = (a.double() * s.abs()) @ (b.double() * t.abs())
        torch.testing.assert_close(actual.double(), expected, rtol=0.005, atol=0.02)


def constants_of(compiled: Any) -> set[str]:
    """The types of a program's constants of two dimensions, of more than one element."""
    text = compiled.text("ttir", elide_above=16)
    found = re.findall(r"dense_resource<__elided__> : tensor<([^>]*)>", text)
    return {each for each in found if each.count("x") > 1}


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", FLOATS[:4])
def test_weights_of_floats_of_8_bits_stay_bytes(name: str) -> None:
    """All finite numbers of a format are taken apart exactly, also where 0 has one sign alone."""
    codes = torch.arange(256, dtype=torch.int16).to(U8).view(getattr(torch, name))
    codes = codes[codes.float().isfinite()]
    weight = codes.repeat(20)[:4400].reshape(40, 110)

    def function(x: Any) -> Any:
        return x + weight.float()

    x = torch.zeros(40, 110)
    compiled = ttmlir.compile(function, x)
    assert constants_of(compiled) == {"40x110xui8"}
    for numerics in ("exact", "device"):
        assert torch.equal(compiled(x, numerics=numerics), weight.float())
    weight = weight.clone()
    weight[3, 5] = math.nan
    compiled = ttmlir.compile(function, x)
    assert constants_of(compiled) == {"40x110xbf16"}
    torch.testing.assert_close(compiled(x), weight.float(), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize(
    ("low", "high", "dtype", "stored"),
    [
        (-8, 8, I8, "28x90xui8"),
        (0, 16, U8, "28x90xui8"),
        (-2, 2, I8, "14x90xui8"),
        (0, 4, I8, "14x90xui8"),
        (-8, 9, I8, "56x90xi8"),
        (-1, 16, I8, "56x90xi8"),
    ],
)
def test_weights_of_few_bits_share_bytes(low: int, high: int, dtype: Any, stored: str) -> None:
    """Integers of 4 and 2 bits, whatever type they are kept in."""
    weight = integers(56, 90, low=low, high=high, dtype=dtype)
    weight[0, :2] = torch.tensor([low, high - 1])
    scale = numbers(56, 1)

    def function(x: Any) -> Any:
        return x + weight * scale

    x = torch.zeros(56, 90)
    compiled = ttmlir.compile(function, x)
    assert constants_of(compiled) - {"56x1xf32"} == {stored}
    for numerics in ("exact", "device"):
        assert torch.equal(compiled(x, numerics=numerics), weight * scale)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_products_with_weights_packed_for_the_cpu(dtype: Any) -> None:
    """torchao's weights of 4 bits on a CPU, in whose order their bytes are."""
    integer = integers(48, 96, low=0, high=16, dtype=torch.int32)
    packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(integer, 1)
    scales = torch.stack([numbers(3, 48).abs(), numbers(3, 48, seed=2)], -1).to(dtype)

    def multiply(x: Any) -> Any:
        return torch.ops.aten._weight_int4pack_mm_for_cpu(x, packed, 32, scales)

    x = numbers(5, 96, dtype=dtype)
    compiled = ttmlir.compile(multiply, x)
    tolerance = 1e-5 if dtype == torch.float32 else 0.02
    expected = multiply(x)
    largest = float(expected.abs().max())
    torch.testing.assert_close(compiled(x), expected, rtol=tolerance, atol=tolerance * largest)
    assert "24x3x32xui8" in constants_of(compiled)

    def give(x: Any, packed: Any) -> Any:
        return torch.ops.aten._weight_int4pack_mm_for_cpu(x, packed, 32, scales)

    with pytest.raises(ttmlir.CompilationError, match="only weights that are constants are"):
        ttmlir.compile(give, x, packed)


def unpack_nibbles(packed: Any) -> Any:
    """Two integers of 4 bits in each byte."""
    return torch.stack(((packed & 15).to(I8) - 8, (packed >> 4).to(I8) - 8), -1).flatten(1)


def unpack_gptq(weight: Any, zeros: Any, scales: Any, group: Any) -> Any:
    """GPTQ's weights: eight of 4 bits in each word, along the rows; zero points along columns."""
    shifts = torch.arange(0, 32, 4, dtype=torch.int32)
    integer = torch.bitwise_right_shift(weight[:, None, :], shifts[None, :, None]).bitwise_and(15)
    zero = torch.bitwise_right_shift(zeros[:, :, None], shifts[None, None, :]).bitwise_and(15) + 1
    zero = zero.reshape(zeros.shape[0], -1)
    return scales[group] * (integer.reshape(-1, weight.shape[1]) - zero[group]).to(scales.dtype)


def unpack_awq(weight: Any, zeros: Any, scales: Any) -> Any:
    """AWQ's weights: eight of 4 bits in each word, along the columns, in an order of their own."""
    shifts = torch.arange(0, 32, 4, dtype=torch.int32)
    order = torch.tensor([0, 4, 1, 5, 2, 6, 3, 7])

    def unpack(words: Any) -> Any:
        parts = torch.bitwise_right_shift(words[:, :, None], shifts).to(I8)
        return torch.bitwise_and(parts[:, :, order].reshape(words.shape[0], -1), 15)

    size = weight.shape[0] // scales.shape[0]
    scale, zero = (x.repeat_interleave(size, dim=0) for x in (scales, unpack(zeros)))
    return (unpack(weight) - zero) * scale


def test_packed_weights() -> None:
    """Nibbles of bytes, and the layouts of GPTQ and AWQ as transformers takes them apart."""
    word = {"low": -(2**31), "high": 2**31, "dtype": torch.int32}
    check_equal(unpack_nibbles, integers(6, 5, low=0, high=256, dtype=U8))
    scales = numbers(2, 24)
    group = torch.arange(16) // 8
    check_equal(unpack_gptq, integers(2, 24, **word), integers(2, 3, **word), scales, group)
    check_equal(unpack_awq, integers(16, 3, **word), integers(2, 3, **word), scales)


def quantize_by_observers(model: Any, *examples: Any) -> Any:
    """A model in PT2E's reference form, its scales observed from examples."""
    fx: Any = import_module("torch.ao.quantization.quantize_fx")
    mapping: Any = import_module("torch.ao.quantization.qconfig_mapping")
    with warnings.catch_warnings():
        # torch tells that the observers move to another package.
        warnings.simplefilter("ignore")
        observed = fx.prepare_fx(model.eval(), mapping.get_default_qconfig_mapping("x86"), examples)
        observed(*examples)
        return fx._convert_to_reference_decomposed_fx(observed)


def test_quantized_networks() -> None:
    """Integers are the same bit by bit, and so are results: all sums of products are exact."""
    nn = torch.nn
    torch.manual_seed(0)
    cnn = nn.Sequential(
        *(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 6, 3)),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 5)),
    )
    mlp = nn.Sequential(nn.Linear(20, 33), nn.ReLU(), nn.Linear(33, 7))
    for model, x in ((cnn, numbers(2, 3, 14, 14)), (mlp, numbers(5, 20))):
        quantized = quantize_by_observers(model, x)
        step = float(list(quantized.graph.nodes)[-2].args[1])
        actual = ttmlir.compile(quantized, x)(x)
        torch.testing.assert_close(actual, quantized(x), rtol=0, atol=1.01 * step)
        exported = torch.export.export(quantized, (x,))
        assert torch.equal(ttmlir.compile(exported)(x), actual)


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("symmetric", [False, True])
def test_ranges_that_follow_the_batches(per_channel: bool, symmetric: bool) -> None:
    """What modules of quantization-aware training observe, and round to."""

    def observe(x: Any, *state: Any) -> Any:
        return torch.ops.aten._fused_moving_avg_obs_fq_helper_functional(
            x, *state, 0.01, *((-128, 127) if symmetric else (0, 127)), 0, per_channel, symmetric
        )

    x = numbers(5, 7) * torch.tensor([[1.0], [3.0], [1e-6], [0.0], [-0.5]])
    count = 5 if per_channel else 1
    on, inf = torch.ones(1, dtype=torch.int64), torch.full((count,), torch.inf)
    scale, zero = torch.ones(count), torch.zeros(count, dtype=torch.int32)
    compiled = ttmlir.compile(observe, x, on, on, inf, -inf, scale, zero)
    rest = on, -torch.rand(count), torch.rand(count) / 2, scale, zero
    for state in (
        (on, on, inf, -inf, scale, zero),
        (on * 0, *rest),
        (on, *rest),
        (on, on * 0, *rest[1:]),
    ):
        for found, wanted in zip(compiled(x, *state), observe(x, *state), strict=True):
            torch.testing.assert_close(found, wanted, rtol=2e-6, atol=1e-6)
    with pytest.raises(ttmlir.CompilationError, match="call the model once before it is compiled"):
        ttmlir.compile(observe, x, on, on, inf[:0], inf[:0], scale[:0], zero[:0])


@pytest.mark.parametrize("per_channel", [False, True])
def test_scales_that_are_learned(per_channel: bool) -> None:
    """Gradients of numbers, scales and zero points, inside of the range and outside."""
    names = ("per_tensor", "per_channel")
    function = getattr(torch, f"_fake_quantize_learnable_{names[per_channel]}_affine")
    count = 4 if per_channel else 1
    further = (1, -8, 7, 0.5) if per_channel else (-8, 7, 0.5)

    def slopes(x: Any, scale: Any, zero: Any) -> Any:
        given = [each.detach().requires_grad_() for each in (x, scale, zero)]
        result = function(*given, *further)
        weights = torch.arange(x.numel(), dtype=x.dtype).reshape(x.shape).cos()
        return result, *torch.autograd.grad((result * weights).sum(), given)

    given = numbers(3, 4, 2), torch.rand(count) / 8 + 0.1, torch.linspace(-1.4, 2.3, count)
    for found, wanted in zip(ttmlir.compile(slopes, *given)(*given), slopes(*given), strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:torch.quantize_per_tensor")
def test_quantization_of_eager_mode_is_refused() -> None:
    """With what to do instead."""
    model = torch.ao.quantization.quantize_dynamic(torch.nn.Sequential(torch.nn.Linear(4, 3)))
    with pytest.raises(ttmlir.CompilationError, match=r"by torchao\.quantization\.pt2e"):
        ttmlir.compile(model, numbers(2, 4))
    with pytest.raises(ttmlir.CompilationError, match=r"by torchao\.quantization\.pt2e"):
        ttmlir.compile(quantize_eagerly, numbers(3))
    with pytest.raises(ttmlir.CompilationError, match="unpack them by & 15 and >> 4"):
        ttmlir.compile(pack, integers(16, 16, dtype=U8))


def quantize_eagerly(x: Any) -> Any:
    """A tensor with a scale of its own."""
    return torch.quantize_per_tensor(x, 0.1, 0, torch.qint8)


def pack(w: Any) -> Any:
    """Weights in the order of another device."""
    return torch.ops.aten._convert_weight_to_int4pack(w, 2)


def test_modules_that_torch_fx_made() -> None:
    """They are traced like others, under the names of their weights."""
    model = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(7, 3), torch.nn.ReLU()))
    x = numbers(5, 7)
    compiled = ttmlir.compile(model, x, weights="arguments")
    torch.testing.assert_close(compiled(x), model(x), rtol=1e-5, atol=1e-5)
    assert [name for name, _ in compiled.source.signature.parameters] == ["0.weight", "0.bias"]
