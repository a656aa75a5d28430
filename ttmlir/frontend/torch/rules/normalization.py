"""ATen operations that scale elements by what is around them: normalizations and softmax."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import SSAValue

from ttmlir.arrays.array import Array
from ttmlir.composites import normalization
from ttmlir.frontend.torch.call import Result, TorchCall, TorchRule, composite


def _layer_norm(call: TorchCall) -> Result:
    x, weight, bias = map(call.argument, ("input", "weight", "bias"))
    count, epsilon = len(call["normalized_shape"]), float(call["eps"])
    return call.results(normalization.layer_norm(x, count, weight, bias, epsilon))


def _group_norm(call: TorchCall) -> Result:
    x, weight, bias = map(call.argument, ("input", "weight", "bias"))
    found = normalization.group_norm(x, call["group"], weight, bias, float(call["eps"]))
    return call.results(found)


def _batch_norm(call: TorchCall) -> Result:
    """Normalization by the statistics that the module has collected."""
    names = ("input", "weight", "bias", "running_mean", "running_var")
    x, weight, bias, mean, variance = map(call.argument, names)
    found = normalization.normalize_by(x, weight, bias, mean, variance, 1, float(call["eps"]))
    return call.results((found, None, None))


def _batch_norm_training(call: TorchCall) -> Result:
    """Normalization by the statistics of the batch, and the statistics that are kept."""
    x, weight, bias = map(call.argument, ("input", "weight", "bias"))
    value, mean, scale = normalization.batch_norm(x, weight, bias, float(call["eps"]))
    if not call.has("running_mean"):
        return call.results((value, mean, scale))
    variance, _ = normalization.find_variance(x, (0, *range(2, x.rank)), 1)
    kept = [
        normalization.move_average(
            call.argument(name), new.reshape((x.shape[1],)), float(call["momentum"])
        )
        for name, new in (("running_mean", mean), ("running_var", variance))
    ]
    return call.results((value, mean, scale, *kept))


def _dropout(call: TorchCall) -> Result:
    if call.has("train") and not call["train"]:
        return call.tensor("input"), None
    if call["p"] == 0:
        return call.tensor("input"), None
    call.refuse("dropout in training is random and not supported; call eval() on the module")


def _along(function: Callable[[Array, int], Array]) -> TorchRule:
    """A function along a dimension, in the element type of the result."""
    return lambda call: call.results(function(call.argument("self", call.element), call["dim"]))


def _cumsum(call: TorchCall) -> SSAValue:
    build = call.build
    x = build.cast(call.tensor(), call.element)
    return build.create_inferred("cumsum", x, dim=call.dim(x)) if call.shape else x


RULES: dict[str, TorchRule] = {
    "_log_softmax": _along(normalization.log_softmax),
    "_native_batch_norm_legit.no_stats": _batch_norm_training,
    "_native_batch_norm_legit_functional": _batch_norm_training,
    "_native_batch_norm_legit_no_training": _batch_norm,
    "_softmax": _along(normalization.softmax),
    "_weight_norm_interface_backward": composite(
        normalization.differentiate_weight_norm,
        "grad_w",
        "saved_v",
        "saved_g",
        "saved_norms",
        "dim",
    ),
    "cumsum": _cumsum,
    "native_dropout": _dropout,
    "native_group_norm": _group_norm,
    "native_layer_norm": _layer_norm,
}
"""Rules by the name of the ATen operation, or of one of its overloads."""
