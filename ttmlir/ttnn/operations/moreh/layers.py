"""Softmax, norms and losses with their gradients, as `ttnn.moreh_layer_norm`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.arguments import (
    CONFIG,
    keep,
    keep_given,
    read_flags,
    take_tensors,
)
from ttmlir.ttnn.operations.elementwise.semantics import reference_of
from ttmlir.ttnn.operations.operation import (
    Operation,
    as_dimension,
    as_places,
    is_integer,
    table_of,
)
from ttmlir.ttnn.tensor.tensor import Tensor

# --- Softmax --------------------------------------------------------------------------------------


def _softmax(values: dict[str, Any], *, kind: str) -> Tensor:
    (tensor,) = take_tensors(values, "input_tensor")
    dim = _read_dim(values["dim"], tensor)
    array = -tensor.array if kind == "softmin" else tensor.array
    with np.errstate(all="ignore"):
        if kind == "logsoftmax":
            shifted = array - np.max(array, axis=dim, keepdims=True, initial=-np.inf)
            result = shifted - np.log(np.sum(np.exp(shifted), axis=dim, keepdims=True))
        else:
            result = reference_of("softmax")(np, array, dimension=dim)
    return keep(result, tensor, values, "output_tensor")


def _read_dim(dim: Any, tensor: Tensor) -> int:
    if is_integer(dim) and dim < 0:
        raise ArgumentError(f"dim={dim} is negative; dimensions are counted from 0 on")
    return as_dimension(dim, len(tensor.shape))


def _softmax_backward(values: dict[str, Any], *, kind: str) -> Tensor:
    output, grad = take_tensors(values, "output_tensor", "output_grad_tensor")
    if output.shape != grad.shape:
        raise ArgumentError(
            f"output_tensor has {output.shape} and output_grad_tensor {grad.shape}; they have one "
            "shape"
        )
    dim = _read_dim(values["dim"], output)
    y, slope = (each.array.astype(np.float64) for each in (output, grad))
    with np.errstate(all="ignore"):
        if kind == "logsoftmax":
            result = slope - np.exp(y) * np.sum(slope, axis=dim, keepdims=True)
        else:
            result = y * (slope - np.sum(slope * y, axis=dim, keepdims=True))
            result = -result if kind == "softmin" else result
    return keep(result, output, values, "input_grad_tensor")


# --- Norms ----------------------------------------------------------------------------------------


def _count_normalized(values: dict[str, Any], tensor: Tensor) -> tuple[int, ...]:
    count, rank = values["normalized_dims"], len(tensor.shape)
    if not is_integer(count) or not 0 < count <= rank:
        raise ArgumentError(
            f"normalized_dims={count} of a tensor of {tensor.shape}; it is from 1 to {rank}"
        )
    return tuple(range(rank - count, rank))


def _fit(parameter: Tensor, shape: tuple[int, ...], name: str) -> Array:
    """The numbers of a weight as the last dimensions of a tensor."""
    if parameter.array.size != np.prod(shape, dtype=int):
        raise ArgumentError(f"{name} has {parameter.shape}; it has Shape({list(shape)})")
    return parameter.array.reshape(shape)


def _layer_norm(values: dict[str, Any]) -> list[Tensor | None]:
    """The normalized tensor; mean and reciprocal deviation where tensors are given for them."""
    tensor = take_tensors(values, "input", optional=("gamma", "beta"))[0]
    dims = _count_normalized(values, tensor)
    normalized, mean, scale = _normalize(tensor.array, dims, values["eps"])
    inner = tuple(tensor.shape[dims[0] :])
    for name, combine in (("gamma", np.multiply), ("beta", np.add)):
        if values[name] is not None:
            normalized = combine(normalized, _fit(values[name], inner, name))
    made = keep(normalized, tensor, values)
    shape = tuple(tensor.shape[: dims[0]])
    return [made, *_keep_statistics((mean, scale), shape, tensor, values)]


def _normalize(array: Array, dims: tuple[int, ...], eps: float) -> tuple[Array, Array, Array]:
    wide = array.astype(np.float64)
    mean = wide.mean(axis=dims, keepdims=True)
    scale = 1 / np.sqrt(wide.var(axis=dims, keepdims=True) + eps)
    return (wide - mean) * scale, mean, scale


def _keep_statistics(
    found: tuple[Array, Array], shape: tuple[int, ...], tensor: Tensor, values: dict[str, Any]
) -> list[Tensor | None]:
    made: list[Tensor | None] = []
    for name, array in zip(("mean", "rstd"), found, strict=True):
        output = values[name]
        wanted = shape if output is None or output.array.size != array.size else output.array.shape
        made.append(keep_given(array.reshape(wanted), tensor, values, name, wanted=False))
    return made


def _normalized_gradients(
    grad: Array, x: Array, mean: Array, scale: Array, weight: Any, dims: tuple[int, ...]
) -> tuple[Array, Array]:
    """Of what was normalized, and the normalized numbers."""
    normalized = (x - mean) * scale
    slope = grad * weight
    inner = slope - slope.mean(axis=dims, keepdims=True)
    inner = inner - normalized * (slope * normalized).mean(axis=dims, keepdims=True)
    return inner * scale, normalized


def _layer_norm_backward(values: dict[str, Any]) -> list[Tensor | None]:
    tensors = take_tensors(values, "output_grad", "input", "mean", "rstd", optional=("gamma",))
    grad, x, mean, scale = (each.array.astype(np.float64) for each in tensors[:4])
    dims = _count_normalized(values, tensors[1])
    outer, inner = x.shape[: dims[0]], x.shape[dims[0] :]
    for name, array in (("mean", mean), ("rstd", scale)):
        if array.size != np.prod(outer, dtype=int):
            raise ArgumentError(f"{name} has {list(array.shape)}; it has Shape({list(outer)})")
    kept = (*outer, *(1 for _ in inner))
    weight = 1.0 if values["gamma"] is None else _fit(values["gamma"], inner, "gamma")
    result, normalized = _normalized_gradients(
        grad, x, mean.reshape(kept), scale.reshape(kept), weight, dims
    )
    rest = tuple(range(dims[0]))
    made = [keep_given(result, tensors[1], values, "input_grad", wanted=False)]
    for name, total in (("gamma_grad", grad * normalized), ("beta_grad", grad)):
        output = values[name]
        shape = inner if output is None else tuple(output.shape)
        array = total.sum(axis=rest)
        if output is not None and output.array.size == array.size:
            array = array.reshape(shape)
        made.append(keep_given(array, tensors[1], values, name, wanted=False))
    return made


def _read_groups(values: dict[str, Any], tensor: Tensor) -> tuple[int, int, int]:
    """Images, groups, and channels of a group; ArgumentError for what does not divide."""
    count = values["num_groups"]
    if len(tensor.shape) != 4:
        raise ArgumentError(
            f"it takes tensors of Shape([n, channels, height, width]), not {tensor.shape}"
        )
    images, channels = tensor.shape[:2]
    if not is_integer(count) or count < 1 or channels % count:
        raise ArgumentError(f"num_groups={count} does not divide {channels} channels")
    return images, int(count), channels // count


def _group_norm(values: dict[str, Any]) -> list[Tensor | None]:
    tensor = take_tensors(values, "input", optional=("gamma", "beta"))[0]
    images, groups, size = _read_groups(values, tensor)
    grouped = tensor.array.reshape(images, groups, size, *tensor.shape[2:])
    normalized, mean, scale = _normalize(grouped, (2, 3, 4), values["eps"])
    normalized = normalized.reshape(tensor.array.shape)
    for name, combine in (("gamma", np.multiply), ("beta", np.add)):
        if values[name] is not None:
            each = _fit(values[name], (groups * size,), name)
            normalized = combine(normalized, each[:, None, None])
    made: list[Tensor | None] = [keep(normalized, tensor, values)]
    config = values["memory_config"]
    configs = {
        f"{name}_memory_config": values[f"{name}_memory_config"] or config
        for name in ("mean", "rstd")
    }
    for name, array, wanted in zip(
        ("mean", "rstd"),
        (mean, scale),
        read_flags(values["are_required_outputs"], 3)[1:],
        strict=True,
    ):
        given = values[name] is not None
        made.append(
            keep(
                array.reshape(1, 1, images, groups),
                tensor,
                {**values, **configs},
                name,
                f"{name}_memory_config",
            )
            if wanted or given
            else None
        )
    return made


def _group_norm_backward(values: dict[str, Any]) -> list[Tensor | None]:
    tensors = take_tensors(values, "output_grad", "input", "mean", "rstd", optional=("gamma",))
    images, groups, size = _read_groups(values, tensors[1])
    channels, area = groups * size, tensors[1].shape[2:]
    grouped = (images, groups, size, *area)
    grad, x = (each.array.astype(np.float64).reshape(grouped) for each in tensors[:2])
    statistics = [each.array.astype(np.float64) for each in tensors[2:4]]
    for name, array in zip(("mean", "rstd"), statistics, strict=True):
        if array.size != images * groups:
            raise ArgumentError(
                f"{name} has {list(array.shape)}; it has Shape([1, 1, {images}, {groups}])"
            )
    mean, scale = (each.reshape(images, groups, 1, 1, 1) for each in statistics)
    weight: Any = 1.0
    if values["gamma"] is not None:
        weight = _fit(values["gamma"], (channels,), "gamma").reshape(groups, size, 1, 1)
    result, normalized = _normalized_gradients(grad, x, mean, scale, weight, (2, 3, 4))
    found = (
        ("input_grad", result.reshape(images, channels, *area)),
        ("gamma_grad", (grad * normalized).sum(axis=(0, 3, 4)).reshape(1, 1, 1, channels)),
        ("beta_grad", grad.sum(axis=(0, 3, 4)).reshape(1, 1, 1, channels)),
    )
    return [
        keep(array, tensors[1], values, name, f"{name}_memory_config") if wanted else None
        for (name, array), wanted in zip(
            found, read_flags(values["are_required_outputs"], 3), strict=True
        )
    ]


# --- Losses ---------------------------------------------------------------------------------------


def _read_targets(
    target: Tensor, shape: tuple[int, ...], values: dict[str, Any]
) -> tuple[Array, Array]:
    """Classes of all places, and their weights: 0 for those that are ignored."""
    classes = shape[1]
    places = as_places(target.array)
    if places.size * classes != np.prod(shape, dtype=int):
        raise ArgumentError(
            f"target_tensor has {target.shape}; it has {[shape[0], *shape[2:]]}, a class for each "
            "place"
        )
    places = places.reshape(shape[0], *shape[2:])
    counts = (places != values["ignore_index"]) & (places >= 0) & (places < classes)
    safe = np.where(counts, places, 0)
    weights = np.ones(classes)
    if values["weight_tensor"] is not None:
        weights = _fit(values["weight_tensor"], (classes,), "weight_tensor").astype(np.float64)
    return safe, np.where(counts, weights[safe], 0.0)


def _nll_loss(values: dict[str, Any]) -> Tensor:
    """The negative of the number at each target's class, weighted; summed, or their mean."""
    tensors = take_tensors(
        values, "input_tensor", "target_tensor", optional=("weight_tensor", "divisor_tensor")
    )
    tensor, target = tensors[:2]
    places, weights = _read_targets(target, tuple(tensor.shape), values)
    chosen = np.take_along_axis(tensor.array, np.expand_dims(places, 1), 1)[:, 0]
    losses = -weights * chosen
    if values["reduction"] not in ("mean", "sum"):
        shape = losses.shape if losses.ndim > 1 else (1, losses.size)
        return keep(losses.reshape(shape), tensor, values, "output_tensor")
    total = losses.sum()
    if values["reduction"] == "mean":
        divisor = values["divisor_tensor"]
        if divisor is None:
            raise ArgumentError(
                "divisor_tensor is missing: a tensor of one number, for the sum of weights"
            )
        with np.errstate(all="ignore"):
            total = total / weights.sum()
        count = np.full(divisor.array.shape, weights.sum())
        keep_given(count, tensor, values, "divisor_tensor")
    return keep(np.full((1, 1), total), tensor, values, "output_tensor")


def _nll_loss_backward(values: dict[str, Any], *, reduces: bool) -> Tensor:
    tensors = take_tensors(
        values,
        *("target_tensor", "output_grad_tensor"),
        optional=("weight_tensor", "input_grad_tensor"),
    )
    target, grad = tensors[:2]
    output = values["input_grad_tensor"]
    if output is None:
        raise ArgumentError("input_grad_tensor is missing: it says how many classes there are")
    shape = tuple(output.shape)
    places, weights = _read_targets(target, shape, values)
    slopes = grad.array.astype(np.float64)
    if reduces:
        slopes = np.full(places.shape, slopes.reshape(-1)[0])
        if values["reduction_mean"]:
            divisor = values["divisor_tensor"]
            if divisor is None:
                raise ArgumentError("divisor_tensor is missing: the sum of weights of the loss")
            with np.errstate(all="ignore"):
                slopes = slopes / divisor.array.reshape(-1)[0]
    elif slopes.size != places.size:
        raise ArgumentError(
            f"output_grad_tensor has {grad.shape}; it has {list(places.shape)}, as target_tensor"
        )
    result = np.zeros(shape)
    found = -weights * slopes.reshape(places.shape)
    np.put_along_axis(result, np.expand_dims(places, 1), np.expand_dims(found, 1), 1)
    return keep(result, grad, values, "input_grad_tensor")


_KINDS = ("softmax", "softmin", "logsoftmax")
_LOSS = "weight_tensor=None, input_grad_tensor=None"
_IGNORE = f"ignore_index=-100, {CONFIG}"

OPERATIONS: dict[str, Operation] = table_of(
    (
        Operation(
            f"moreh_{kind}",
            partial(_softmax, kind=kind),
            f"input_tensor, dim, *, output_tensor=None, op=None, strategy=None, {CONFIG}",
        )
        for kind in _KINDS
    ),
    (
        Operation(
            f"moreh_{kind}_backward",
            partial(_softmax_backward, kind=kind),
            "output_tensor, output_grad_tensor, dim, *, input_grad_tensor=None, op=None, "
            f"strategy=None, {CONFIG}",
        )
        for kind in _KINDS
    ),
    Operation(
        "moreh_layer_norm",
        _layer_norm,
        "input, normalized_dims, eps=1e-5, gamma=None, beta=None, *, output=None, mean=None, "
        f"rstd=None, {CONFIG}",
    ),
    Operation(
        "moreh_layer_norm_backward",
        _layer_norm_backward,
        "output_grad, input, mean, rstd, normalized_dims, *, gamma=None, input_grad=None, "
        f"gamma_grad=None, beta_grad=None, {CONFIG}",
    ),
    Operation(
        "moreh_group_norm",
        _group_norm,
        "input, num_groups, eps=1e-5, gamma=None, beta=None, *, "
        "are_required_outputs=[True, False, False], output=None, mean=None, rstd=None, "
        "memory_config=None, mean_memory_config=None, rstd_memory_config=None, "
        "compute_kernel_config",
    ),
    Operation(
        "moreh_group_norm_backward",
        _group_norm_backward,
        "output_grad, input, mean, rstd, num_groups, *, are_required_outputs=[True, False, False], "
        "gamma=None, input_grad=None, gamma_grad=None, beta_grad=None, "
        "input_grad_memory_config=None, gamma_grad_memory_config=None, "
        "beta_grad_memory_config=None, compute_kernel_config",
    ),
    Operation(
        "moreh_nll_loss",
        _nll_loss,
        "input_tensor, target_tensor, reduction, *, weight_tensor=None, divisor_tensor=None, "
        f"output_tensor=None, {_IGNORE}",
    ),
    Operation(
        "moreh_nll_loss_backward",
        partial(_nll_loss_backward, reduces=True),
        f"target_tensor, output_grad_tensor, reduction_mean, *, {_LOSS}, divisor_tensor=None, "
        f"{_IGNORE}",
    ),
    Operation(
        "moreh_nll_loss_unreduced_backward",
        partial(_nll_loss_backward, reduces=False),
        f"target_tensor, output_grad_tensor, *, {_LOSS}, {_IGNORE}",
    ),
)
