"""What operations compute, as functions of torch, and how near results come to them.

A golden function takes torch tensors and the arguments of its operation, in the same order, by the
names that ttnn's golden functions have and by the operation's own, and swallows those that change
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from inspect import Parameter, Signature, signature
from typing import Any, NoReturn

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError, UsageError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.elementwise.tables import Elementwise
from ttmlir.ttnn.operations.golden.layers import GOLDENS
from ttmlir.ttnn.operations.operation import Operation, operations_of
from ttmlir.ttnn.operations.signature import IGNORED, Required, spell_value
from ttmlir.ttnn.operations.signature import Signature as Text
from ttmlir.ttnn.tensor.conversion import (
    as_array,
    from_torch,
    to_torch,
    ttnn_dtype_to_torch_dtype,
)
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType
from ttmlir.ttnn.types.memory import Shape

Golden = Callable[..., Any]

_OTHER_NAMES = {
    "log_sigmoid": "logsigmoid",
    "sigmoid_accurate": "sigmoid",
    "swish": "silu",
    "floor_div": "floor_divide",
}
"""Operations that torch has under another name."""


def _kept(function: Golden, keywords: tuple[str, ...] = ()) -> Golden:
    """The function with those keywords that it takes."""

    def golden(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **{name: kwargs[name] for name in keywords if name in kwargs})

    return golden


def _torch() -> Any:
    return import_module("torch")


def _product(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    *,
    bias: Any = None,
    activation: Any = None,
    **_: Any,
) -> Any:
    left = a.transpose(-1, -2) if transpose_a else a
    result = left @ (b.transpose(-1, -2) if transpose_b else b)
    result = result if bias is None else result + bias
    return result if activation is None else getattr(_torch().nn.functional, activation)(result)


def _layer_norm(
    x: Any,
    *,
    epsilon: float = 1e-12,
    weight: Any = None,
    bias: Any = None,
    residual_input_tensor: Any = None,
    **_: Any,
) -> Any:
    x = x if residual_input_tensor is None else x + residual_input_tensor
    parameters = (each if each is None else each.reshape(-1) for each in (weight, bias))
    return _torch().nn.functional.layer_norm(x, x.shape[-1:], *parameters, eps=epsilon)


def _rms_norm(
    x: Any,
    weight: Any = None,
    *,
    epsilon: float = 1e-12,
    bias: Any = None,
    residual_input_tensor: Any = None,
    **_: Any,
) -> Any:
    x = x if residual_input_tensor is None else x + residual_input_tensor
    result = x * _torch().rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon)
    result = result if weight is None else result * weight.reshape(-1)
    return result if bias is None else result + bias.reshape(-1)


_REDUCTIONS = "argmax max mean min prod std sum var"


def _add_product(
    added: Any, a: Any, b: Any, alpha: float = 1.0, beta: float = 1.0, *unused: Any, **_: Any
) -> Any:
    return _torch().addmm(added, a, b, alpha=alpha, beta=beta)


def _add_scaled(a: Any, b: Any, alpha: float = 1.0, **_: Any) -> Any:
    return a + b * alpha


def _subtract_scaled(a: Any, b: Any, alpha: float = 1.0, **_: Any) -> Any:
    return _add_scaled(a, b, -alpha)


def _reduction(name: str) -> Golden:
    def golden(
        x: Any,
        dim: Any = None,
        keepdim: bool = False,
        correction: bool | None = True,
        scalar: float = 1.0,
        **_: Any,
    ) -> Any:
        function = getattr(_torch(), name)
        own = {"correction": int(correction is not False)} if name in ("var", "std") else {}
        found = function(x, **own) if dim is None else function(x, dim, keepdim=keepdim, **own)
        if name == "argmax" or scalar == 1.0:
            return found
        # Largest and smallest ones come with their places.
        has_places = name in ("max", "min") and dim is not None
        return (found.values if has_places else found) * scalar

    return golden


def _scale_mask_softmax(x: Any, scale: Any = None, mask: Any = None, **_: Any) -> Any:
    x = x if scale is None else x * scale
    return _torch().softmax(x if mask is None else x + mask, -1)


def _pad(x: Any, padding: Any, value: float = 0.0, **_: Any) -> Any:
    sides = [int(side) for pair in reversed(list(padding)) for side in pair]
    return _torch().nn.functional.pad(x, sides, value=value)


def _softmax(x: Any, dim: int | None = None, **_: Any) -> Any:
    return _torch().softmax(x, -1 if dim is None else dim)


def _concat(tensors: Any, dim: int = 0, groups: int = 1, **_: Any) -> Any:
    parts = [each.chunk(groups, dim) for each in tensors]
    return _torch().cat([part for group in zip(*parts, strict=True) for part in group], dim)


def _torch_type(dtype: Any) -> Any:
    return ttnn_dtype_to_torch_dtype(dtype) if isinstance(dtype, DataType) else dtype


def _full(shape: Any, fill_value: float, dtype: Any = None, **_: Any) -> Any:
    return _torch().full(tuple(shape), fill_value, dtype=_torch_type(dtype))


def _full_like(x: Any, fill_value: float, dtype: Any = None, **_: Any) -> Any:
    return _torch().full_like(x, fill_value, dtype=_torch_type(dtype))


def _constant(function: Golden, number: float) -> Golden:
    def golden(first: Any, dtype: Any = None, **_: Any) -> Any:
        return function(first, number, dtype)

    return golden


def _split(x: Any, size: Any, dim: int = 0, **_: Any) -> Any:
    return _torch().split(x, size, dim)


def _squeeze(x: Any, dim: Any = None, **_: Any) -> Any:
    return x.squeeze() if dim is None else x.squeeze(dim)


def _logit(x: Any, eps: Any = None, **_: Any) -> Any:
    return _torch().logit(x, eps)


def _rdiv(x: Any, value: float, rounding_mode: Any = None, **_: Any) -> Any:
    return _torch().div(_torch().full_like(x, value), x, rounding_mode=rounding_mode)


_COMPOSITIONS: dict[str, Golden] = {
    **{name: _reduction(name) for name in _REDUCTIONS.split()},
    "addalpha": _add_scaled,
    "addmm": _add_product,
    "concat": _concat,
    "full": _full,
    "full_like": _full_like,
    "layer_norm": _layer_norm,
    "linear": _product,
    "logit": _logit,
    "matmul": _product,
    "ones": _constant(_full, 1.0),
    "ones_like": _constant(_full_like, 1.0),
    "pad": _pad,
    "rdiv": _rdiv,
    "rms_norm": _rms_norm,
    "scale_mask_softmax": _scale_mask_softmax,
    "softmax": _softmax,
    "softmax_in_place": _softmax,
    "split": _split,
    "squeeze": _squeeze,
    "subalpha": _subtract_scaled,
    "zeros": _constant(_full, 0.0),
    "zeros_like": _constant(_full_like, 0.0),
}
"""Operations that are several of torch."""


def _of_one(torch: Any) -> dict[str, Callable[[Any], Any]]:
    """Functions of one operand."""
    return {
        "cbrt": lambda x: torch.sgn(x) * torch.pow(torch.abs(x), 1 / 3),
        "eqz": lambda x: torch.eq(x, 0),
        "gez": lambda x: torch.ge(x, 0),
        "gtz": lambda x: torch.gt(x, 0),
        "hardmish": lambda x: x * (x + 2).clamp(0, 2) / 2,
        "i1": lambda x: torch.special.i1(x),
        "identity": lambda x: x,
        "lez": lambda x: torch.le(x, 0),
        "ltz": lambda x: torch.lt(x, 0),
        "multigammaln": lambda x: torch.special.multigammaln(x, 4),
        "nez": lambda x: torch.ne(x, 0),
    }


def _of_two(torch: Any) -> dict[str, Callable[[Any, Any], Any]]:
    """Functions of two operands, or of one and a parameter."""
    return {
        "bias_gelu": lambda a, b: torch.nn.functional.gelu(a + b),
        "cumprod": lambda x, dim: torch.cumprod(x, dim),
        "cumsum": lambda x, dim: torch.cumsum(x, dim),
        "unsqueeze": lambda x, dim: torch.unsqueeze(x, dim),
        "expand": lambda x, shape: x.expand(*shape),
        "fill": lambda x, value: torch.full_like(x, value),
        "heaviside": lambda x, value: torch.heaviside(x, torch.tensor(value, dtype=x.dtype)),
        "permute": lambda x, dims: x.permute(tuple(dims)),
        "prelu": lambda x, weight: torch.nn.functional.prelu(x, torch.as_tensor(weight)),
        "relu_max": lambda x, limit: x.clamp(0, limit),
        "relu_min": lambda x, limit: x.clamp(min=limit),
        "repeat": lambda x, counts: x.repeat(*counts),
        "reshape": lambda x, shape: x.reshape(tuple(shape)),
        "round": lambda x, decimals=None: torch.round(x, decimals=decimals or 0),
        "rpow": lambda x, exponent: torch.pow(exponent, x),
        "rsub": lambda a, b: b - a,
        "div_no_nan": lambda a, b: torch.where(b == 0, 0.0, a / b),
        "view": lambda x, shape: x.reshape(tuple(shape)),
        "squared_difference": lambda a, b: torch.square(a - b),
        "typecast": lambda x, dtype: x,
    }


def _of_three(torch: Any) -> dict[str, Callable[[Any, Any, Any], Any]]:
    """Functions of three operands, or of one and two parameters."""
    return {
        "mac": lambda a, b, c: a * b + c,
        "repeat_interleave": lambda x, repeats, dim: x.repeat_interleave(repeats, dim),
        "transpose": lambda x, dim1, dim2: x.transpose(dim1, dim2),
    }


_MOVES = "to_layout to_memory_config to_device from_device clone reallocate from_torch to_torch"
"""Operations whose golden function gives its operand back."""


@cache
def _composed() -> dict[str, Golden]:
    """Functions that are not one of torch with the same arguments."""
    torch = _torch()
    found = {**_COMPOSITIONS, **GOLDENS}
    for table in (_of_one(torch), _of_two(torch), _of_three(torch)):
        for name, function in table.items():
            found[name] = _kept(function, tuple(signature(function).parameters))
    return {**found, **{name: found["identity"] for name in _MOVES.split()}}


def _in_torch(operation: Operation) -> Golden | None:
    """The function of torch of an operation on elements, which takes its parameters."""
    entry, torch = operation.entry, _torch()
    name = operation.name.removeprefix("experimental.").removesuffix("_")
    name = _OTHER_NAMES.get(name, name)
    for space in (torch, torch.nn.functional, torch.special):
        function = getattr(space, name, None)
        if callable(function):
            parameters = entry.parameters if isinstance(entry, Elementwise) else ()
            return _kept(function, tuple(own for _, own in parameters))
    return None


_POSITIONAL = {
    "input": "batch_norm",
    "input, dim, index": "gather",
    "input, dim, index, src": "scatter scatter_add",
    "input, dim, index, value": "index_fill",
    "input, end, weight": "lerp",
    "input, output_shape": "experimental.broadcast_to",
    "input_a, input_b, input_c": "addcmul",
    "input_tensor": "reallocate",
    "input_tensor, batch_size, input_h, input_w, channels, kernel_size, stride, padding, "
    "ceil_mode=False, count_include_pad=True, divisor_override=None, dtype=None": "avg_pool2d",
    "input_tensor, batch_size, input_h, input_w, channels, kernel_size, stride, padding, dilation, "
    "ceil_mode=False, return_indices=False, dtype=None": "max_pool2d",
    "input_tensor, chunks, dim": "chunk",
    "input_tensor, diagonal=0": "tril triu",
    "input_tensor, dim": "rpow",
    "input_tensor, dim=None": "softmax softmax_in_place",
    "input_tensor, dim=None, keepdim=False, correction=None, scalar=1.0": (
        "argmax max mean min std sum var"
    ),
    "input_tensor, dtype=None": "from_torch",
    "input_tensor, fill_value, dtype=None": "full_like",
    "input_tensor, grid, mode='bilinear', padding_mode='zeros', align_corners=False, "
    "use_precomputed_grid=False, batch_output_channels=False, grid_batching_factor=None": (
        "grid_sample"
    ),
    "input_tensor, mat1_tensor, mat2_tensor, alpha=1.0, beta=1.0, out_tensor=None": "addmm",
    "input_tensor, negative_slope=0.01": "leaky_relu",
    "input_tensor, padding, value=0.0": "pad",
    "input_tensor, scale_factor, mode='nearest'": "upsample",
    "input_tensor, shape": "reshape",
    "input_tensor, shift_amt": "bitwise_left_shift bitwise_right_shift",
    "input_tensor, weight=None": "rms_norm",
    "input_tensor, weight_tensor, in_channels, out_channels, batch_size, input_height, "
    "input_width, kernel_size, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1, "
    "bias_tensor=None, conv_config=None, return_output_dim=False, "
    "return_weights_and_bias=False, dtype=None": "conv2d",
    "input_tensor_a": (
        "abs acosh atanh bitwise_not frac reciprocal tanhshrink trunc celu logit hardshrink "
        "softshrink hardtanh selu"
    ),
    "input_tensor_a, alpha=1.0": "elu",
    "input_tensor_a, decimals=None": "round",
    "input_tensor_a, fill_value": "fill",
    "input_tensor_a, input_tensor_b": "prelu",
    "input_tensor_a, input_tensor_b, alpha": "addalpha subalpha",
    "input_tensor_a, input_tensor_b, transpose_a=False, transpose_b=False": "linear matmul",
    "input_tensor_a, value": "bitwise_and bitwise_or bitwise_xor heaviside rdiv",
    "input_tensors, dim": "stack",
    "ref_tensor, pred_tensor": "l1_loss mse_loss",
    "shape": "rand",
    "shape, dtype=None": "ones zeros",
    "shape, fill_value, dtype=None": "full",
    "tensor": "clone from_device to_device to_layout to_memory_config",
    "tensor, dtype=None": "ones_like to_torch zeros_like",
    "tensor, repeats, dim=0": "repeat_interleave",
    "tensor, shape": "repeat",
    "tensors, dim=0, groups=1": "concat",
    "x, cos_cached, sin_cached, token_idx": "experimental.rotary_embedding",
}
"""Positional arguments of golden functions in ttnn 0.81.1, and whose they are, where these are not
the operation's own."""

_TEXTS = {name: text for text, names in _POSITIONAL.items() for name in names.split()}


def _signed(function: Golden, operation: Operation) -> Golden:
    """The function of the arguments that ttnn's golden function has."""
    described = signature(operation).parameters.values()
    own = [
        each
        for each in described
        if each.kind is Parameter.POSITIONAL_OR_KEYWORD and each.name not in IGNORED
    ]
    text = _TEXTS.get(operation.name)
    if text is not None:
        defaults = Text(operation.name, text).defaults
        positional = [
            Parameter(
                name,
                Parameter.POSITIONAL_OR_KEYWORD,
                default=Parameter.empty if value is Required else value,
            )
            for name, value in defaults.items()
        ]
    elif any(each.kind is Parameter.VAR_POSITIONAL for each in described):
        return function
    else:
        positional = own
    names = [each.name for each in positional]
    # What the operation says instead, at the same place.
    other_names = {
        mine.name: name for mine, name in zip(own, names, strict=False) if mine.name not in names
    }

    def golden(*args: Any, **kwargs: Any) -> Any:
        keywords = {other_names.get(name, name): value for name, value in kwargs.items()}
        given = [*args[: len(names)]]
        for name in names[: len(given)]:
            if name in keywords:
                raise ArgumentTypeError(
                    f"the golden function got multiple values for argument '{name}'"
                )
        for name in names[len(given) :]:
            if name not in keywords:
                break
            given.append(keywords.pop(name))
        return function(*given, **keywords)

    others = Parameter("others", Parameter.VAR_KEYWORD)
    golden.__dict__["__signature__"] = Signature([*positional, others])
    return golden


_attached: dict[str, Golden] = {}
"""Golden functions that programs attached."""


def get_golden_function(operation: Any) -> Golden:
    """The golden function of an operation; RuntimeError if it has none."""
    if isinstance(operation, Operation):
        composed, name = _composed(), operation.name
        if name in _attached:
            return _attached[name]
        found = composed.get(name) or composed.get(name.removesuffix("_")) or _in_torch(operation)
        if found is not None:
            return _signed(found, operation)
    raise UsageError(f"{operation!r} does not have a golden function")


def get_fallback_function(operation: Any) -> Golden:
    """The golden function for tensors of ttnn: they become torch's, its results tensors again."""
    golden = get_golden_function(operation)

    def fallback(*args: Any, **kwargs: Any) -> Any:
        given = [each for each in (*args, *kwargs.values()) if isinstance(each, Tensor)]
        if not given:
            raise UsageError("a fallback function takes at least one ttnn.Tensor")
        first = given[0]
        torch = _torch()

        def to_host(value: Any) -> Any:
            return to_torch(value) if isinstance(value, Tensor) else value

        def to_device(value: Any) -> Any:
            if isinstance(value, tuple | list):
                listed: list[Any] = [*value]
                return [to_device(each) for each in listed]
            if not torch.is_tensor(value):
                return value
            dtype = first.dtype if value.is_floating_point() else None
            return from_torch(value, dtype, layout=first.layout, device=first.device())

        keywords = {name: to_host(each) for name, each in kwargs.items()}
        return to_device(golden(*map(to_host, args), **keywords))

    return fallback


def attach_golden_function(
    operation: Operation, golden_function: Golden | None = None, **others: Any
) -> None:
    """Make a function the golden one of an operation."""
    if golden_function is not None:
        _attached[operation.name] = golden_function


def pearson_correlation_coefficient(
    expected_pytorch_result: Any, actual_pytorch_result: Any
) -> float:
    """The correlation of two arrays; 1 for equal ones, and for two that have no numbers but NaN."""
    expected, actual = (
        each.reshape(-1) for each in _as_pair(expected_pytorch_result, actual_pytorch_result)
    )
    if np.array_equal(expected, actual, equal_nan=True):
        return 1.0
    nothing = [bool(np.isnan(each).all()) for each in (expected, actual)]
    if any(nothing):
        return 1.0 if all(nothing) else 0.0
    if bool(np.any(expected)) != bool(np.any(actual)):
        return 0.0
    expected, actual = (np.where(np.isfinite(each), each, 0.0) for each in (expected, actual))
    if np.array_equal(expected, actual):
        return 1.0
    if expected.size < 2:
        return 0.0
    with np.errstate(all="ignore"):
        return float(np.min(np.corrcoef(expected, actual)))


def _as_numbers(values: Any) -> Array:
    """The numbers of an array in f64; ArgumentTypeError for what has none."""
    array = as_array(values)
    if array.dtype.kind in "OSU":
        raise ArgumentTypeError(f"arrays of numbers are compared, not {spell_value(values)}")
    return array.astype(np.float64)


def _as_pair(golden: Any, calculated: Any) -> tuple[Array, Array]:
    """The numbers of two arrays of one size; ArgumentError for others."""
    expected, actual = map(_as_numbers, (golden, calculated))
    if expected.size != actual.size:
        _refuse_sizes(expected, actual)
    return expected, actual


def _refuse_sizes(*arrays: Array) -> NoReturn:
    shapes = " and ".join(str(Shape(each.shape)) for each in arrays)
    raise ArgumentError(f"arrays of different sizes are not compared: {shapes}")


def comp_pcc(golden: Any, calculated: Any, pcc: float = 0.99) -> tuple[bool, float]:
    """Whether arrays correlate as they should, and how they do."""
    found = pearson_correlation_coefficient(golden, calculated)
    return found >= pcc, found


def comp_allclose(
    golden: Any, calculated: Any, rtol: float = 1e-5, atol: float = 1e-8
) -> tuple[bool, str]:
    """Whether all differences are at most atol + rtol * size, and the largest of each."""
    expected, actual = map(_as_numbers, (golden, calculated))
    try:
        np.broadcast_shapes(expected.shape, actual.shape)
    except ValueError:
        _refuse_sizes(expected, actual)
    difference = np.abs(actual - expected)
    with np.errstate(all="ignore"):
        ratio = difference / np.abs(expected)
    if not difference.size:
        raise ArgumentError("there are no numbers to compare")
    text = f"Max ATOL Delta: {difference.max()}, Max RTOL Delta: {ratio.max()}"
    return bool(np.allclose(actual, expected, rtol, atol, equal_nan=True)), text


OPERATIONS: dict[str, Operation] = operations_of(
    get_fallback_function,
    *(get_golden_function, attach_golden_function, pearson_correlation_coefficient),
    *(comp_pcc, comp_allclose),
)
