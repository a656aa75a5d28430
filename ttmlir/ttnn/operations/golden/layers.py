"""Golden functions of windows, of transformers, of normalised features and of order, in torch.

They take what the operation takes, with torch tensors, and swallow what changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

from ttmlir.ttnn.operations.window import as_padding


def _torch() -> Any:
    return import_module("torch")


def _flattened(image: Any) -> Any:
    """(N, C, H, W) as (1, 1, N * H * W, C)."""
    return image.permute(0, 2, 3, 1).reshape(1, 1, -1, image.shape[1])


def _padded(image: Any, padding: Any, value: float = 0.0) -> Any:
    (top, bottom), (left, right) = as_padding(padding)
    return _torch().nn.functional.pad(image, (left, right, top, bottom), value=value)


def _conv2d(
    input_tensor: Any,
    weight_tensor: Any,
    in_channels: int,
    out_channels: int,
    batch_size: int,
    input_height: int,
    input_width: int,
    kernel_size: Any,
    stride: Any = (1, 1),
    padding: Any = (0, 0),
    dilation: Any = (1, 1),
    groups: int = 1,
    bias_tensor: Any = None,
    *unused: Any,
    **_: Any,
) -> Any:
    image = input_tensor.reshape(batch_size, input_height, input_width, in_channels)
    bias = None if bias_tensor is None else bias_tensor.reshape(-1)
    result = _torch().nn.functional.conv2d(
        _padded(image.permute(0, 3, 1, 2), padding),
        weight_tensor,
        bias,
        stride=stride,
        dilation=dilation,
        groups=groups,
    )
    return _flattened(result)


def _conv1d(
    *,
    input_tensor: Any,
    weight_tensor: Any,
    batch_size: int,
    input_length: int,
    in_channels: int,
    stride: int = 1,
    padding: Any = 0,
    dilation: int = 1,
    groups: int = 1,
    bias_tensor: Any = None,
    **_: Any,
) -> Any:
    rows = input_tensor.reshape(batch_size, input_length, in_channels).mT
    sides = (padding, padding) if isinstance(padding, int) else (padding[0], padding[-1])
    bias = None if bias_tensor is None else bias_tensor.reshape(-1)
    functional = _torch().nn.functional
    result = functional.conv1d(
        functional.pad(rows, sides),
        weight_tensor.reshape(*weight_tensor.shape[:3]),
        bias,
        stride=stride,
        dilation=dilation,
        groups=groups,
    )
    return _flattened(result[..., None])


def _conv_transpose2d(
    *,
    input_tensor: Any,
    weight_tensor: Any,
    batch_size: int,
    input_height: int,
    input_width: int,
    in_channels: int,
    stride: Any = (1, 1),
    padding: Any = (0, 0),
    output_padding: Any = (0, 0),
    dilation: Any = (1, 1),
    groups: int = 1,
    bias_tensor: Any = None,
    mirror_kernel: bool = True,
    **_: Any,
) -> Any:
    image = _image(input_tensor, batch_size, input_height, input_width, in_channels)
    (top, bottom), (left, right) = as_padding(padding)
    bias = None if bias_tensor is None else bias_tensor.reshape(-1)
    result = _torch().nn.functional.conv_transpose2d(
        image,
        weight_tensor if mirror_kernel else weight_tensor.flip((2, 3)),
        bias,
        stride=stride,
        output_padding=output_padding,
        dilation=dilation,
        groups=groups,
    )
    height, width = result.shape[2:]
    return _flattened(result[:, :, top : height - bottom, left : width - right])


def _adaptive_pool2d(name: str) -> Callable[..., Any]:
    def golden(
        input_tensor: Any,
        batch_size: int,
        input_h: int,
        input_w: int,
        channels: int,
        output_size: Any,
        **_: Any,
    ) -> Any:
        image = _image(input_tensor, batch_size, input_h, input_w, channels)
        size = output_size if isinstance(output_size, int) else tuple(output_size)
        return _flattened(getattr(_torch().nn.functional, name)(image, size))

    return golden


def _image(x: Any, batch_size: int, input_h: int, input_w: int, channels: int) -> Any:
    return x.reshape(batch_size, input_h, input_w, channels).permute(0, 3, 1, 2)


def _max_pool2d(
    input_tensor: Any,
    batch_size: int,
    input_h: int,
    input_w: int,
    channels: int,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any = (1, 1),
    ceil_mode: bool = False,
    return_indices: bool = False,
    *unused: Any,
    **_: Any,
) -> Any:
    image = _image(input_tensor, batch_size, input_h, input_w, channels)
    functional = _torch().nn.functional
    if not isinstance(padding, int) and len(padding) == 4:
        image, padding = _padded(image, padding, -math.inf), 0
    return _flattened(
        functional.max_pool2d(image, kernel_size, stride, padding, dilation, ceil_mode)
    )


def _avg_pool2d(
    input_tensor: Any,
    batch_size: int,
    input_h: int,
    input_w: int,
    channels: int,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *unused: Any,
    **_: Any,
) -> Any:
    image = _image(input_tensor, batch_size, input_h, input_w, channels)
    counting = (ceil_mode, count_include_pad, divisor_override)
    functional = _torch().nn.functional
    return _flattened(functional.avg_pool2d(image, kernel_size, stride, padding, *counting))


def _global_avg_pool2d(x: Any, **_: Any) -> Any:
    return x.mean((1, 2), keepdim=True)


def _upsample(x: Any, scale_factor: Any, mode: str = "nearest", **_: Any) -> Any:
    aligned = False if mode == "bilinear" else None
    result = _torch().nn.functional.interpolate(
        x.permute(0, 3, 1, 2), scale_factor=scale_factor, mode=mode, align_corners=aligned
    )
    return result.permute(0, 2, 3, 1)


def _grid_sample(
    x: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
    *unused: Any,
    **_: Any,
) -> Any:
    result = _torch().nn.functional.grid_sample(
        x.permute(0, 3, 1, 2), grid, mode, padding_mode, align_corners
    )
    return result.permute(0, 2, 3, 1)


def _batch_norm(
    x: Any,
    *,
    running_mean: Any = None,
    running_var: Any = None,
    training: bool = False,
    eps: float = 1e-5,
    momentum: float = 0.1,
    weight: Any = None,
    bias: Any = None,
    **_: Any,
) -> Any:
    statistics = (
        None if each is None else each.reshape(-1)
        for each in (running_mean, running_var, weight, bias)
    )
    return _torch().nn.functional.batch_norm(x, *statistics, training, momentum, eps)


def _group_norm(
    x: Any,
    *,
    num_groups: int,
    epsilon: float = 1e-5,
    weight: Any = None,
    bias: Any = None,
    **_: Any,
) -> Any:
    parameters = (None if each is None else each.reshape(-1) for each in (weight, bias))
    turned = x.permute(0, 3, 1, 2)
    result = _torch().nn.functional.group_norm(turned, num_groups, *parameters, epsilon)
    return result.permute(0, 2, 3, 1)


def _topk(
    x: Any, k: int = 32, dim: int = -1, largest: bool = True, sorted: bool = True, **_: Any
) -> Any:
    return _torch().topk(x, k, dim, largest, sorted)


def _sort(x: Any, dim: int = -1, descending: bool = False, stable: bool = False, **_: Any) -> Any:
    return _torch().sort(x, dim=dim, descending=descending, stable=stable)


def _split_heads(transposed: str) -> Callable[..., Any]:
    """`transposed` is the keyword for turned keys."""

    def golden(
        x: Any,
        others: Any = None,
        *,
        num_heads: int,
        num_kv_heads: int | None = None,
        **more: Any,
    ) -> Any:
        x = x if others is None else _torch().cat([x, others], -1)
        kv_heads = num_heads if num_kv_heads is None else num_kv_heads
        batch, rows, columns = x.shape[0], x.shape[-2], x.shape[-1]
        count = num_heads + 2 * kv_heads
        heads = x.reshape(batch, rows, count, columns // count).permute(0, 2, 1, 3)
        query, key, value = _torch().split(heads, [num_heads, kv_heads, kv_heads], 1)
        return query, key.mT if more.get(transposed, True) else key, value

    return golden


def _join_heads(x: Any, **_: Any) -> Any:
    return x.permute(0, 2, 1, 3).flatten(-2)


def _join_heads_in_four(x: Any, **_: Any) -> Any:
    return _join_heads(x)[:, None]


def _attention_softmax(
    x: Any, *, head_size: int | None = None, attention_mask: Any = None, **_: Any
) -> Any:
    x = x if head_size is None else x / math.sqrt(head_size)
    return _torch().softmax(x if attention_mask is None else x + attention_mask, -1)


def _attention(
    q: Any,
    k: Any,
    v: Any,
    *,
    attn_mask: Any = None,
    is_causal: bool = True,
    scale: float | None = None,
    **_: Any,
) -> Any:
    return _torch().nn.functional.scaled_dot_product_attention(
        q, k, v, attn_mask, is_causal=is_causal, scale=scale, enable_gqa=True
    )


def _rotate_half(x: Any, **_: Any) -> Any:
    half = x.shape[-1] // 2
    return _torch().cat([-x[..., half:], x[..., :half]], -1)


def _rotary_embedding(x: Any, cos: Any, sin: Any, token: int | None = None, **_: Any) -> Any:
    rows = slice(x.shape[-2]) if token is None else slice(token, token + 1)
    return x * cos[..., rows, :] + _rotate_half(x) * sin[..., rows, :]


def _loss(name: str) -> Callable[..., Any]:
    def golden(reference: Any, prediction: Any, *, reduction: Any = None, **_: Any) -> Any:
        mode = getattr(reduction, "name", reduction or "none").lower()
        return getattr(_torch().nn.functional, name)(prediction, reference, reduction=mode)

    return golden


GOLDENS: dict[str, Callable[..., Any]] = {
    "adaptive_avg_pool2d": _adaptive_pool2d("adaptive_avg_pool2d"),
    "adaptive_max_pool2d": _adaptive_pool2d("adaptive_max_pool2d"),
    "avg_pool2d": _avg_pool2d,
    "batch_norm": _batch_norm,
    "conv1d": _conv1d,
    "conv2d": _conv2d,
    "conv_transpose2d": _conv_transpose2d,
    "experimental.nlp_concat_heads": _join_heads_in_four,
    "experimental.nlp_create_qkv_heads": _split_heads("transpose_k_heads"),
    "experimental.rotary_embedding": _rotary_embedding,
    "experimental.rotate_half": _rotate_half,
    "global_avg_pool2d": _global_avg_pool2d,
    "grid_sample": _grid_sample,
    "group_norm": _group_norm,
    "l1_loss": _loss("l1_loss"),
    "max_pool2d": _max_pool2d,
    "mse_loss": _loss("mse_loss"),
    "sort": _sort,
    "topk": _topk,
    "transformer.attention_softmax": _attention_softmax,
    "transformer.concatenate_heads": _join_heads,
    "transformer.scaled_dot_product_attention": _attention,
    "transformer.split_query_key_value_and_split_heads": _split_heads("transpose_key"),
    "upsample": _upsample,
}
"""Golden functions by the names of operations."""
