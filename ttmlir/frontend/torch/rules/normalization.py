"""ATen operations that scale elements by what is around them: softmax, mean and variance."""

from __future__ import annotations

import math

from xdsl.ir import SSAValue

from ttmlir.frontend.torch.building import BodyBuilder, Shape
from ttmlir.frontend.torch.call import Result, TorchCall, TorchRule
from ttmlir.frontend.torch.rules.reduction import variance
from ttmlir.ir.tensor_types import element_type, tensor_of, value_shape


def _normalize(
    build: BodyBuilder, x: SSAValue, dims: Shape, epsilon: float
) -> tuple[SSAValue, SSAValue, SSAValue]:
    """(x - mean) / sqrt(variance + epsilon), the mean and the reciprocal of the deviation."""
    spread, mean = (build.array(each) for each in variance(build, x, dims, 0))
    deviation = (spread + epsilon).rsqrt()
    value = (build.array(x) - mean) * deviation
    return value.value, mean.value, deviation.value


def _affine(
    build: BodyBuilder, x: SSAValue, weight: SSAValue | None, bias: SSAValue | None
) -> SSAValue:
    if weight is not None:
        x = build.compute("multiply", x, weight)
    return x if bias is None else build.compute("add", x, bias)


def _along_channels(build: BodyBuilder, vector: SSAValue | None, rank: int) -> SSAValue | None:
    """A number per channel, shaped to broadcast against (N, C, ...)."""
    if vector is None:
        return None
    return build.reshape(vector, (1, *value_shape(vector), *((1,) * (rank - 2))))


def _layer_norm(call: TorchCall) -> Result:
    build, x = call.build, call.tensor("input")
    rank, count = len(value_shape(x)), len(call["normalized_shape"])
    dims = tuple(range(rank - count, rank))
    value, mean, deviation = _normalize(build, x, dims, float(call["eps"]))
    value = _affine(build, value, call.optional("weight"), call.optional("bias"))
    return value, mean, deviation


def _group_norm(call: TorchCall) -> Result:
    build, x = call.build, call.tensor("input")
    batch, groups, rank = call["N"], call["group"], len(value_shape(x))
    grouped = build.reshape(x, (batch, groups, math.prod(value_shape(x)) // (batch * groups)))
    value, mean, deviation = _normalize(build, grouped, (2,), float(call["eps"]))
    weight, bias = (
        _along_channels(build, call.optional(name), rank) for name in ("weight", "bias")
    )
    value = _affine(build, build.reshape(value, value_shape(x)), weight, bias)
    return (
        value,
        build.reshape(mean, call.result_type(1).get_shape()),
        build.reshape(deviation, call.result_type(2).get_shape()),
    )


def _batch_norm(call: TorchCall) -> Result:
    """Normalisation by the statistics that the module has collected."""
    build, x = call.build, call.tensor("input")
    channels = value_shape(x)[1:2]
    scale, offset = (
        build.create_splat(number, tensor_of(call.element, channels))
        if not call.has(name)
        else call.tensor(name)
        for name, number in (("weight", 1.0), ("bias", 0.0))
    )
    statistics = (call.tensor("running_mean"), call.tensor("running_var"))
    value = build.create_inferred(
        "batch_norm_inference",
        *(x, scale, offset, *statistics),
        dimension=1,
        epsilon=float(call["eps"]),
    )
    return value, None, None


def _batch_norm_training(call: TorchCall) -> Result:
    """Normalisation by the statistics of the batch, and the statistics that are kept."""
    build, x = call.build, call.tensor("input")
    rank = len(value_shape(x))
    dims = (0, *range(2, rank))
    value, mean, deviation = _normalize(build, x, dims, float(call["eps"]))
    weight, bias = (
        _along_channels(build, call.optional(name), rank) for name in ("weight", "bias")
    )
    channels = (value_shape(x)[1],)
    results = (
        _affine(build, value, weight, bias),
        build.reshape(mean, channels),
        build.reshape(deviation, channels),
    )
    if not call.has("running_mean"):
        return results
    momentum = float(call["momentum"])
    spread, _ = variance(build, x, dims, 1)
    kept = tuple(
        _move(build, call.tensor(name), build.reshape(new, channels), momentum)
        for name, new in (("running_mean", mean), ("running_var", spread))
    )
    return (*results, *kept)


def _move(build: BodyBuilder, old: SSAValue, new: SSAValue, momentum: float) -> SSAValue:
    """A running average, moved toward a new value."""
    kept = build.array(old)
    moved = build.array(new).cast(kept.dtype)
    return (kept * (1 - momentum) + moved * momentum).value


def _dropout(call: TorchCall) -> Result:
    if call.has("train") and not call["train"]:
        return call.tensor("input"), None
    if call["p"] == 0:
        return call.tensor("input"), None
    call.refuse("dropout in training is random and not supported; call eval() on the module")


def _softmax(call: TorchCall) -> SSAValue:
    build = call.build
    x = build.cast(call.tensor(), call.element)
    return softmax(build, x, call["dim"])


def softmax(build: BodyBuilder, x: SSAValue, dim: int) -> SSAValue:
    """Exponentials along a dimension, scaled to the sum 1."""
    if not (shape := value_shape(x)):
        return build.create_splat(1.0, tensor_of(element_type(x), ()))
    return build.create_inferred("softmax", x, dimension=dim % len(shape))


def _log_softmax(call: TorchCall) -> SSAValue:
    if not call.shape:
        return call.build.create_splat(0.0, tensor_of(call.element, ()))
    x, dim = call.array(), call["dim"]
    shifted = x - x.max(dim)
    return (shifted - shifted.exp().sum(dim).log()).value


def _weight_norm_backward(call: TorchCall) -> Result:
    """Of `v * (g / norm(v))`, where the norm leaves one dimension: gradients of v and g."""
    names = ("grad_w", "saved_v", "saved_g", "saved_norms")
    gradient, v, g, norms = (call.array(name, cast=False) for name in names)
    total = (gradient * v).sum(*(dim for dim in range(v.rank) if dim != call["dim"]))
    g, norms = g.reshape(total.shape), norms.reshape(total.shape)
    along = total / norms
    # What is along v does not change v / norm(v).
    of_v = (gradient - v * (along / norms)) * (g / norms)
    return of_v.value, along.reshape(call.result_type(1).get_shape()).value


def _cumsum(call: TorchCall) -> SSAValue:
    build = call.build
    x = build.cast(call.tensor(), call.element)
    return build.create_inferred("cumsum", x, dim=call.dim(x)) if call.shape else x


RULES: dict[str, TorchRule] = {
    "_log_softmax": _log_softmax,
    "_native_batch_norm_legit.no_stats": _batch_norm_training,
    "_native_batch_norm_legit_functional": _batch_norm_training,
    "_native_batch_norm_legit_no_training": _batch_norm,
    "_softmax": _softmax,
    "_weight_norm_interface_backward": _weight_norm_backward,
    "cumsum": _cumsum,
    "native_dropout": _dropout,
    "native_group_norm": _group_norm,
    "native_layer_norm": _layer_norm,
}
"""Rules by the name of the ATen operation, or of one of its overloads."""
