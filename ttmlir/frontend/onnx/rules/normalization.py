"""Operators that scale elements by what is around them: normalizations and softmax."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ttmlir.arrays.array import Array
from ttmlir.composites import normalization
from ttmlir.composites.statistics import norm
from ttmlir.composites.windows import pool
from ttmlir.frontend.onnx.call import Call, Rule
from ttmlir.optable.window import WindowAxis


def _batch_norm(call: Call) -> Any:
    x = call.array("X")
    scale, bias = (call.array(name).cast(x.dtype) for name in ("scale", "B"))
    names = ("input_mean", "input_var") if call.version >= 14 else ("mean", "var")
    mean, variance = (call.array(name).cast(x.dtype) for name in names)
    if call["spatial"] == 0:
        call.refuse("statistics of each element (spatial = 0) are not supported")
    epsilon = float(call["epsilon"])
    if not call["training_mode"]:
        return normalization.normalize_by(x, scale, bias, mean, variance, 1, epsilon)
    momentum = 1 - float(call["momentum"])
    value, _, _ = normalization.batch_norm(x, scale, bias, epsilon)
    new_mean, new_variance = normalization.find_statistics(x, 1)
    return (
        value,
        normalization.move_average(mean, new_mean, momentum),
        normalization.move_average(variance, new_variance, momentum),
    )


def _instance_norm(call: Call) -> Array:
    x = call.array("input")
    value, _, _ = normalization.normalize(x, range(2, x.rank), float(call["epsilon"]))
    return normalization.scale_channels(value, call.array("scale"), call.array("B"), 1)


def _group_norm(call: Call) -> Array:
    x, groups = call.array("X"), int(call.required("num_groups"))
    if groups < 1 or x.rank < 3 or x.shape[1] % groups:
        call.refuse(f"{x.shape[1]} channels do not make {groups} groups")
    weight, bias = call.array("scale"), call.array("bias")
    if call.version < 21:
        each = x.shape[1] // groups
        weight, bias = (
            part.unsqueeze(1).broadcast((groups, each)).reshape((x.shape[1],))
            for part in (weight, bias)
        )
    wide = _wide(call, x)
    weight, bias = weight.cast(wide.dtype), bias.cast(wide.dtype)
    value, _, _ = normalization.group_norm(wide, groups, weight, bias, float(call["epsilon"]))
    return value.cast(x.dtype)


def _wide(call: Call, x: Array) -> Array:
    """A tensor in the type that statistics are computed in: f32 for types of 16 bits."""
    return x.cast("f32") if call["stash_type"] == 1 and x.dtype in ("f16", "bf16") else x


def _layer_norm(call: Call) -> tuple[Array, Array, Array]:
    x = call.array("X")
    count = x.rank - call.dim(x.rank)
    value, mean, scale = normalization.layer_norm(
        _wide(call, x), count, None, None, float(call["epsilon"])
    )
    value = value.cast(x.dtype)
    return normalization.scale_channels(value, call.array("Scale"), call.optional("B")), mean, scale


def _rms_norm(call: Call) -> Array:
    x = call.array("X")
    dims = range(call.dim(x.rank), x.rank)
    value = normalization.rms_norm(_wide(call, x), dims, float(call["epsilon"])).cast(x.dtype)
    return value * call.array("scale")


def _lp_norm(call: Call) -> Array:
    x, order = call.array("input"), int(call["p"])
    dim = call.dim(x.rank)
    norms = norm(x, float(order), [dim])
    return norms.eq(0).where(0, x / norms)


def _local_response_norm(call: Call) -> Array:
    """Each element over a power of the sum of squares of the channels around it."""
    x, size = call.array("X"), int(call.required("size"))
    if x.rank < 2 or size < 1:
        call.refuse(f"size is {size}; the tensor has {x.rank} dimensions")
    low = (size - 1) // 2
    channels = WindowAxis(extent=x.shape[1], kernel=size, low=low, high=size - 1 - low)
    width = math.prod(x.shape[2:])
    rows = x.square().reshape((x.shape[0], 1, x.shape[1], width))
    sums = pool(rows, "sum", [channels, WindowAxis(extent=width, kernel=1)]).reshape(x.shape)
    base = sums * (float(call["alpha"]) / size) + float(call["bias"])
    return x / base.pow(float(call["beta"]))


def _along(function: Callable[[Array, int], Array]) -> Rule:
    """A function along a dimension; that of old operator sets is along all from one on."""

    def rule(call: Call) -> Array:
        x = call.array("input")
        dim = call.dim(x.rank)
        if call.version >= 13:
            return function(x, dim)
        flat = x.reshape((math.prod(x.shape[:dim]), math.prod(x.shape[dim:])))
        return function(flat, 1).reshape(x.shape)

    return rule


def _hardmax(x: Array, dim: int) -> Array:
    """1 for the first of the largest, 0 for others."""
    return x.count(dim, dtype="i64").eq(x.argmax(dim)).cast(x.dtype)


RULES: dict[str, Rule] = {
    "BatchNormalization": _batch_norm,
    "GroupNormalization": _group_norm,
    "Hardmax": _along(_hardmax),
    "InstanceNormalization": _instance_norm,
    "LRN": _local_response_norm,
    "LayerNormalization": _layer_norm,
    "LogSoftmax": _along(normalization.log_softmax),
    "LpNormalization": _lp_norm,
    "RMSNormalization": _rms_norm,
    "Softmax": _along(normalization.softmax),
}
"""Rules by the names of operators."""
