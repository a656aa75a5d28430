"""Golden functions of operations, and the correlation that results are judged by."""

from __future__ import annotations

import ast
import inspect
import math
from typing import Any

import numpy as np
import pytest
import torch

from ttmlir import ttnn
from ttmlir.ttnn.registry import find_operation


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    """Random numbers from 0.1 to 0.9."""
    numbers = np.random.default_rng(seed).uniform(0.1, 0.9, shape)
    return torch.as_tensor(numbers.astype(np.float32))


CALLS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    **{name: ((), {}) for name in ("exp", "gelu", "silu", "cbrt", "i1", "log_sigmoid", "softmax")},
    **{name: ((2,), {}) for name in ("pow", "add", "rsub", "rdiv")},
    **{name: ((2, 0.5), {}) for name in ("addalpha", "subalpha")},
    "view": (((1, 7, 10),), {}),
    "softmax_in_place": ((), {"dim": -1}),
    "repeat_interleave": ((2, 1), {}),
    "leaky_relu": ((0.1,), {}),
    "clamp": ((), {"min": 0.3, "max": 0.6}),
    "div": ((3.0,), {"rounding_mode": "floor"}),
    "sum": ((1, True), {}),
    "mean": ((-1,), {}),
    "var": ((0,), {}),
    "std": ((1, True), {"correction": False}),
    "permute": (((1, 0),), {}),
    "reshape": (((5, 14),), {}),
    "transpose": ((0, 1), {}),
    "pad": (([(0, 1), (0, 3)], 2.0), {}),
    "layer_norm": ((), {"epsilon": 1e-5}),
    "rms_norm": ((), {"epsilon": 1e-5}),
    "cumsum": ((), {"dim": 1}),
    "argmax": ((), {"dim": 0, "keepdim": True}),
    "unsqueeze": ((), {"dim": 1}),
    "hardsigmoid": ((), {}),
    "swish": ((), {}),
    "sigmoid": ((), {}),
    "round": ((), {"decimals": 1}),
    "relu_max": ((0.5,), {}),
    "full": ((3.0,), {}),
    "eqz": ((), {}),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_are_golden(name: str, device: Any) -> None:
    """An operation and its golden function, called alike, agree."""
    args, kwargs = CALLS[name]
    operation = getattr(ttnn, name)
    values: Any = draw(7, 10)
    x = ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device)
    if name == "full":
        values, x = (3, 4), (3, 4)
        kwargs = {"dtype": ttnn.float32}
    golden = ttnn.get_golden_function(operation)(values, *args, **kwargs, memory_config=None)
    result = ttnn.to_torch(operation(x, *args, **kwargs))
    assert result.shape == golden.shape
    assert torch.allclose(result.double(), golden.double(), atol=1e-5)


def test_every_elementwise_golden_exists() -> None:
    """The functions that tests ask for most are there; others say that they are missing."""
    for name in ("matmul", "linear", "concat", "add_", "max", "hardswish", "where", "embedding"):
        assert callable(ttnn.get_golden_function(getattr(ttnn, name)))
    with pytest.raises(RuntimeError, match="does not have a golden function"):
        ttnn.get_golden_function(ttnn.tilize)
    ttnn.attach_golden_function(ttnn.tilize, lambda x, **_: x + 1)
    assert ttnn.get_golden_function(ttnn.tilize)(1) == 2


SIGNATURES = {
    "*args, dtype='BFLOAT16', **kwargs": "arange",
    "*args, dtype=None, **kwargs": (
        "bias_gelu eq gcd ge gt lcm ldexp le logaddexp logaddexp2 logical_and logical_or "
        "logical_xor lt maximum minimum ne remainder xlogy"
    ),
    (
        "input, *, running_mean=None, running_var=None, training=False, eps=1e-05, "
        "momentum=0.1, weight=None, bias=None, **_"
    ): "batch_norm",
    "input, dim, index, *, sparse_grad=False, out=None, **_": "gather",
    "input, dim, index, src, *args, **kwargs": "scatter scatter_add",
    "input, dim, index, value, *args, **kwargs": "index_fill",
    "input, end, weight, *args, **kwargs": "lerp",
    "input, output_shape, *args, output=None, **kwargs": "experimental.broadcast_to",
    "input_a, input_b, input_c, *args, value=1, **kwargs": "addcmul",
    "input_tensor, **_": "transformer.concatenate_heads",
    (
        "input_tensor, *, epsilon=1e-12, residual_input_tensor=None, weight=None, bias=None, **_"
    ): "layer_norm",
    "input_tensor, *, head_size=None, attention_mask=None, **_": (
        "transformer.attention_softmax transformer.attention_softmax_"
    ),
    (
        "input_tensor, *, num_groups, epsilon=1e-05, weight=None, bias=None, "
        "memory_config=None, core_grid=None, input_mask=None, **kwargs"
    ): "group_norm",
    "input_tensor, *args, **_": (
        "asinh atan cbrt ceil cos deg2rad digamma eqz erf erfc erfinv exp2 expm1 floor gez "
        "gtz hardmish hardsigmoid hardswish i0 identity isfinite isinf isnan isneginf "
        "isposinf lez lgamma log log10 log1p log2 log_sigmoid logical_not ltz mish "
        "multigammaln neg nez rad2deg relu relu6 rsqrt sigmoid sigmoid_accurate sign signbit "
        "silu sin softsign sqrt square swish tan"
    ),
    "input_tensor, *args, **kwargs": "acos asin cosh i1 reallocate sinh",
    "input_tensor, *args, beta=1.0, threshold=20.0, **kwargs": "softplus",
    "input_tensor, *args, fast_and_approximate_mode=False, **kwargs": "exp tanh",
    "input_tensor, *args, variant=None, fast_and_approximate_mode=False, **kwargs": "gelu",
    "input_tensor, *dtype_args, dtype=None, input_dtype=None, output_dtype=None, **_": "typecast",
    (
        "input_tensor, batch_size, input_h, input_w, channels, kernel_size, stride, padding, "
        "ceil_mode=False, count_include_pad=True, divisor_override=None, dtype=None, **_"
    ): "avg_pool2d",
    (
        "input_tensor, batch_size, input_h, input_w, channels, kernel_size, stride, padding, "
        "dilation, ceil_mode=False, return_indices=False, dtype=None, **_"
    ): "max_pool2d",
    "input_tensor, batch_size, input_h, input_w, channels, output_size, **_": (
        "adaptive_avg_pool2d adaptive_max_pool2d"
    ),
    "input_tensor, chunks, dim, *args, **kwargs": "chunk",
    "input_tensor, diagonal=0, *args, **_": "tril triu",
    "input_tensor, dim, *_, dtype=None, reverse_order=False, **__": "cumprod cumsum",
    "input_tensor, dim, *args, **kwargs": "rpow unsqueeze",
    "input_tensor, dim1, dim2, *args, **kwargs": "transpose",
    "input_tensor, dim=-1, *args, **kwargs": "glu",
    "input_tensor, dim=-1, descending=False, stable=False, *_, **__": "sort",
    "input_tensor, dim=None, **_": "softmax softmax_in_place",
    "input_tensor, dim=None, *args, **kwargs": "squeeze",
    "input_tensor, dim=None, keepdim=False, *, dims=None, **_": "prod",
    "input_tensor, dim=None, keepdim=False, correction=None, scalar=1.0, **_": (
        "argmax max mean min std sum var"
    ),
    "input_tensor, dims, **_": "permute",
    "input_tensor, dtype=None, *, spec=None, layout=None, col_tilize=False, **_": "from_torch",
    "input_tensor, exponent, *args, dtype=None, **kwargs": "pow",
    "input_tensor, fill_value, dtype=None, *_, **__": "full_like",
    (
        "input_tensor, grid, mode='bilinear', padding_mode='zeros', align_corners=False, "
        "use_precomputed_grid=False, batch_output_channels=False, grid_batching_factor=None, "
        "**_"
    ): "grid_sample",
    (
        "input_tensor, k=32, dim=-1, largest=True, sorted=True, *, stable=False, "
        "indices_tensor=None, **_"
    ): "topk",
    (
        "input_tensor, kv_input_tensor=None, *, num_heads, num_kv_heads=None, "
        "transpose_key=True, **_"
    ): "transformer.split_query_key_value_and_split_heads",
    "input_tensor, lower_limit, *args, **kwargs": "relu_min",
    (
        "input_tensor, mat1_tensor, mat2_tensor, alpha=1.0, beta=1.0, out_tensor=None, *, "
        "dtype=None, **kwargs"
    ): "addmm",
    "input_tensor, min=None, max=None, *args, **kwargs": "clamp clip",
    "input_tensor, negative_slope=0.01, *args, **kwargs": "leaky_relu",
    "input_tensor, output_shape, *args, **kwargs": "expand",
    "input_tensor, padding, *args, value=0, **_": "pad",
    "input_tensor, scale, zero_point, *_, axis=None, dtype=None, **__": "dequantize",
    "input_tensor, scale=None, mask=None, *_, **__": "scale_mask_softmax",
    "input_tensor, scale_factor, mode='nearest', **_": "upsample",
    "input_tensor, shape": "reshape",
    "input_tensor, shape, *args, **kwargs": "view",
    "input_tensor, shift_amt, *args, **kwargs": "bitwise_left_shift bitwise_right_shift",
    "input_tensor, shifts, dim=None, *args, **kwargs": "roll",
    "input_tensor, split_size, dim=0, *args, **kwargs": "split",
    "input_tensor, threshold, value, *args, **kwargs": "threshold",
    "input_tensor, upper_limit, *args, **kwargs": "relu_max",
    "input_tensor, weight, *, dtype=None, **_": "embedding",
    (
        "input_tensor, weight=None, *, epsilon=1e-12, bias=None, residual_input_tensor=None, **_"
    ): "rms_norm",
    (
        "input_tensor, weight_tensor, in_channels, out_channels, batch_size, input_height, "
        "input_width, kernel_size, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, "
        "bias_tensor=None, conv_config=None, return_output_dim=False, "
        "return_weights_and_bias=False, dtype=None, **_"
    ): "conv2d",
    "input_tensor_a, *args, **kwargs": (
        "abs acosh atanh bitwise_not frac reciprocal tanhshrink trunc"
    ),
    "input_tensor_a, *args, alpha=1.0, **kwargs": "celu elu",
    "input_tensor_a, *args, eps=None, **kwargs": "logit",
    "input_tensor_a, *args, lambd=0.5, **kwargs": "hardshrink softshrink",
    "input_tensor_a, *args, min_val=-1.0, max_val=1.0, **kwargs": "hardtanh",
    "input_tensor_a, *args, scale=1.0507009873554805, alpha=1.6732632423543772, **kwargs": "selu",
    "input_tensor_a, decimals=None, *args, **kwargs": "round",
    "input_tensor_a, fill_value, *args, **kwargs": "fill",
    "input_tensor_a, input_tensor_b, *args, **kwargs": (
        "add_ atan2 bias_gelu_ div_no_nan divide_ eq_ floor_div ge_ gt_ hypot ldexp_ le_ "
        "logaddexp2_ logaddexp_ logical_and_ logical_or_ logical_xor_ lt_ multiply_ ne_ "
        "nextafter outer prelu rsub_ squared_difference_ subtract_"
    ),
    (
        "input_tensor_a, input_tensor_b, *args, activations=None, "
        "input_tensor_a_activations=None, input_tensor_b_activations=None, dtype=None, "
        "**kwargs"
    ): "add multiply rsub squared_difference subtract",
    "input_tensor_a, input_tensor_b, *args, device=None, **kwargs": "fmod",
    (
        "input_tensor_a, input_tensor_b, *args, rounding_mode=None, "
        "fast_and_approximate_mode=False, activations=None, input_tensor_a_activations=None, "
        "input_tensor_b_activations=None, dtype=None, **kwargs"
    ): "div divide",
    (
        "input_tensor_a, input_tensor_b, *args, rtol=1e-05, atol=1e-08, equal_nan=False, **kwargs"
    ): "isclose",
    "input_tensor_a, input_tensor_b, alpha, *args, **kwargs": "addalpha subalpha",
    "input_tensor_a, input_tensor_b, input_tensor_c, *args, **kwargs": "mac",
    "input_tensor_a, input_tensor_b, input_tensor_c, *args, value=1, **kwargs": "addcdiv",
    (
        "input_tensor_a, input_tensor_b, transpose_a=False, transpose_b=False, *, bias=None, "
        "activation=None, program_config=None, dtype=None, **kwargs"
    ): "matmul",
    (
        "input_tensor_a, input_tensor_b, transpose_a=False, transpose_b=False, *, bias=None, "
        "program_config=None, activation=None, dtype=None, **kwargs"
    ): "linear",
    "input_tensor_a, value, *args, **kwargs": "bitwise_and bitwise_or bitwise_xor heaviside",
    "input_tensor_a, value, *args, rounding_mode=None, **kwargs": "rdiv",
    (
        "input_tensor_q, input_tensor_k, input_tensor_v, *, attn_mask=None, is_causal=True, "
        "scale=None, sliding_window_size=None, attention_sink=None, cu_window_seqlens=None, "
        "windowed_q_token_offset=0, windowed_q_token_offset_tensor=None, **_"
    ): "transformer.scaled_dot_product_attention",
    "input_tensors, dim, *args, **kwargs": "stack",
    "predicate, true_value, false_value, *args, **kwargs": "where",
    "ref_tensor, pred_tensor, *args, reduction='none', **kwargs": "l1_loss mse_loss",
    "shape, *_, dtype='BFLOAT16', low=0.0, high=1.0, **__": "rand",
    "shape, dtype=None, *_, **__": "ones zeros",
    "shape, fill_value, dtype=None, *_, **__": "full",
    "tensor, *args, **kwargs": "from_device to_device to_layout to_memory_config",
    "tensor, *args, dtype=None, **kwargs": "clone",
    "tensor, dtype=None, *, preprocess=None, **kwargs": "as_tensor",
    "tensor, dtype=None, *, torch_rank=None, **kwargs": "to_torch",
    "tensor, dtype=None, *_, **__": "ones_like zeros_like",
    "tensor, repeats, dim=0, **_": "repeat_interleave",
    "tensor, shape, **_": "repeat",
    "tensors, dim=0, groups=1, **_": "concat",
    "x, cos_cached, sin_cached, token_idx, **_": "experimental.rotary_embedding",
}
"""Names and defaults of the arguments of golden functions, as ttnn 0.81.1 describes them (without
those for its own use, `_ttnn_...`), and the operations that have them."""


@pytest.mark.parametrize("text", SIGNATURES)
def test_arguments_are_those_of_ttnn(text: str) -> None:
    """Positional arguments in ttnn's order with its names and defaults; all keywords are taken."""
    wanted = ast.parse(f"def f({text}): pass").body[0]
    assert isinstance(wanted, ast.FunctionDef)
    names = [each.arg for each in wanted.args.args]
    defaults = [ast.literal_eval(each) for each in wanted.args.defaults]
    empty = inspect.Parameter.empty
    expected = list(zip(names, [*[empty] * (len(names) - len(defaults)), *defaults], strict=True))
    for name in SIGNATURES[text].split():
        operation = find_operation(name)
        found = inspect.signature(ttnn.get_golden_function(operation))
        described = [(each.name, each.default) for each in found.parameters.values()]
        assert described[: len(expected)] == expected, name
        kinds = {each.kind for each in found.parameters.values()}
        assert inspect.Parameter.VAR_KEYWORD in kinds, name


def test_arguments_by_name() -> None:
    """By ttnn's names for golden functions, by the operation's, and by place: the same."""
    x, y = draw(3, 4) - 0.5, draw(3, 4, seed=1)
    weight = torch.tensor([0.25])
    prelu = ttnn.get_golden_function(ttnn.prelu)
    expected = torch.where(x >= 0, x, x * 0.25)
    for found in (
        prelu(x, weight),
        prelu(input_tensor_a=x, input_tensor_b=weight),
        prelu(input_tensor=x, weight=weight, memory_config=None),
    ):
        assert torch.equal(found, expected)
    size = ttnn.get_golden_function(ttnn.abs)
    assert torch.equal(size(input_tensor_a=x), x.abs())
    assert torch.equal(size(input_tensor=x), x.abs())
    clamp = ttnn.get_golden_function(ttnn.clamp)
    assert torch.equal(clamp(x, max=0.1), x.clamp(max=0.1))
    loss = ttnn.get_golden_function(ttnn.mse_loss)
    found = loss(ref_tensor=x, pred_tensor=y, reduction="mean")
    assert torch.allclose(found, ((x - y) ** 2).mean())
    product = ttnn.get_golden_function(ttnn.matmul)
    assert torch.equal(product(x, y, transpose_b=True), x @ y.T)
    assert torch.equal(product(x, y, False, True, activation="relu"), (x @ y.T).relu())
    total = ttnn.get_golden_function(ttnn.sum)
    assert torch.allclose(total(x, 0, scalar=2.0), 2 * x.sum(0))
    largest = ttnn.get_golden_function(ttnn.max)
    assert torch.equal(largest(x, 0, False, None, 2.0), 2 * x.amax(0))
    like = ttnn.get_golden_function(ttnn.full_like)
    assert like(x, 2.0, ttnn.bfloat16).dtype == torch.bfloat16
    with pytest.raises(TypeError, match="multiple values for argument 'input_tensor_a'"):
        prelu(x, input_tensor_a=x)


def test_correlation() -> None:
    """1 for equal tensors, 0 where one has nothing, torch's correlation otherwise."""
    a, b = draw(5, 7), draw(5, 7, seed=1)
    expected = float(torch.corrcoef(torch.stack([a.reshape(-1), b.reshape(-1)]))[0, 1])
    assert ttnn.pearson_correlation_coefficient(a, b) == pytest.approx(expected, abs=1e-6)
    assert ttnn.pearson_correlation_coefficient(a, a) == 1.0
    nothing = torch.full((5, 7), math.nan)
    assert ttnn.pearson_correlation_coefficient(nothing, nothing) == 1.0
    assert ttnn.pearson_correlation_coefficient(a, nothing) == 0.0
    assert ttnn.pearson_correlation_coefficient(a, torch.zeros(5, 7)) == 0.0
    assert ttnn.comp_pcc(a, a * 2 + 1) == (True, pytest.approx(1.0))
    assert not ttnn.comp_allclose(a, a + 1)[0]
    assert ttnn.comp_allclose(a, a.clone())[0]
