"""Numbers scaled by those around them: means and variances, normalizations, softmax, attention."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ttmlir.arrays.array import Array

# -- means and variances; dimensions stay with an extent of 1 ------------------------------------


def find_variance(
    x: Array, dims: Sequence[int], correction: float = 0, *, keep: bool = True
) -> tuple[Array, Array]:
    """The variance over dimensions, which stay if `keep`, and the mean, in which they stay.

    The sum of squares is divided by the number of elements less the correction.
    """
    mean = x.mean(*dims)
    squares = (x - mean).square()
    if correction == 0:
        return squares.mean(*dims, keep=keep), mean
    count = math.prod(x.shape[dim] for dim in dims)
    return squares.sum(*dims, keep=keep) / max(0.0, count - correction), mean


def normalize(x: Array, dims: Sequence[int], epsilon: float) -> tuple[Array, Array, Array]:
    """(x - mean) / sqrt(variance + epsilon), the mean, and the reciprocal of that root."""
    mean = x.mean(*dims)
    centered = x - mean
    scale = (centered.square().mean(*dims) + epsilon).rsqrt()
    return centered * scale, mean, scale


def rms_norm(x: Array, dims: Sequence[int], epsilon: float) -> Array:
    """x over the root of the mean of its squares, to which epsilon is added."""
    return x * (x.square().mean(*dims) + epsilon).rsqrt()


def put_along(numbers: Array, x: Array, dim: int) -> Array:
    """Numbers, one for each place along a dimension, in a shape that broadcasts against x."""
    return numbers.reshape([n if i == dim % x.rank else 1 for i, n in enumerate(x.shape)])


def scale_channels(
    x: Array, weight: Array | None, bias: Array | None, dim: int | None = None
) -> Array:
    """x * weight + bias, either of which may be missing; their numbers are along a dimension.

    Without a dimension, they are along the last ones.
    """
    if weight is not None:
        x = x * (weight if dim is None else put_along(weight, x, dim))
    if bias is not None:
        x = x + (bias if dim is None else put_along(bias, x, dim))
    return x


def layer_norm(
    x: Array, count: int, weight: Array | None, bias: Array | None, epsilon: float
) -> tuple[Array, Array, Array]:
    """The last dimensions, so many of them, normalized; the mean, and what was multiplied with."""
    value, mean, scale = normalize(x, range(x.rank - count, x.rank), epsilon)
    return scale_channels(value, weight, bias), mean, scale


def group_norm(
    x: Array, groups: int, weight: Array | None, bias: Array | None, epsilon: float
) -> tuple[Array, Array, Array]:
    """Groups of channels of (N, C, ...) normalized, with a weight and a bias for each channel."""
    grouped = x.reshape((x.shape[0], groups, math.prod(x.shape[1:]) // groups))
    value, mean, scale = normalize(grouped, (2,), epsilon)
    return scale_channels(value.reshape(x.shape), weight, bias, 1), mean, scale


def batch_norm(
    x: Array, weight: Array | None, bias: Array | None, epsilon: float
) -> tuple[Array, Array, Array]:
    """Channels of (N, C, ...) normalized over all else."""
    value, mean, scale = normalize(x, (0, *range(2, x.rank)), epsilon)
    return scale_channels(value, weight, bias, 1), mean, scale


def normalize_by(
    x: Array,
    weight: Array | None,
    bias: Array | None,
    mean: Array,
    variance: Array,
    dim: int,
    epsilon: float,
) -> Array:
    """The places along a dimension normalized by given statistics; all four are (places,)."""
    weight = mean.fill(1) if weight is None else weight
    bias = mean.fill(0) if bias is None else bias
    return x.create(
        "batch_norm_inference",
        *(weight, bias, mean, variance),
        parameters={"dimension": dim, "epsilon": epsilon},
    )


def find_statistics(x: Array, dim: int) -> tuple[Array, Array]:
    """The mean and the variance of each place along a dimension, over all others."""
    variance, mean = find_variance(x, _others(x, dim), keep=False)
    return mean.reshape(variance.shape), variance


def differentiate_batch_norm(
    gradient: Array,
    x: Array,
    weight: Array,
    mean: Array,
    variance: Array,
    dim: int,
    epsilon: float,
) -> tuple[Array, Array, Array]:
    """The gradients of x, weight and bias of `normalize_by` with the statistics of x itself.

    With g the gradient, c = x - mean and s = 1 / sqrt(variance + epsilon), they are
    weight * s * (g - mean(g) - c * mean(g * c) * s * s), sum(g * c) * s and sum(g).
    """
    others = _others(x, dim)
    inverse = (variance + epsilon).rsqrt()
    centered = x - put_along(mean, x, dim)
    products = gradient * centered
    slope = products.mean(*others, keep=False) * inverse * inverse
    rest = gradient - gradient.mean(*others) - centered * put_along(slope, x, dim)
    of_x = rest * put_along(weight * inverse, x, dim)
    of_weight = products.sum(*others, keep=False) * inverse
    return of_x, of_weight, gradient.sum(*others, keep=False)


def _others(x: Array, dim: int) -> list[int]:
    return [each for each in range(x.rank) if each != dim]


def move_average(old: Array, new: Array, momentum: float) -> Array:
    """A running average, moved toward a new value."""
    return old * (1 - momentum) + new.cast(old.dtype) * momentum


def differentiate_weight_norm(
    gradient: Array, v: Array, g: Array, norms: Array, dim: int
) -> tuple[Array, Array]:
    """The gradients of v and g of `v * (g / norm(v))`, where the norm leaves one dimension."""
    total = (gradient * v).sum(*(each for each in range(v.rank) if each != dim))
    g, norms = g.reshape(total.shape), norms.reshape(total.shape)
    along = total / norms
    # What is along v does not change v / norm(v).
    return (gradient - v * (along / norms)) * (g / norms), along


# -- softmax -------------------------------------------------------------------------------------


def softmax(x: Array, dim: int) -> Array:
    """Exponentials along a dimension, scaled to the sum 1."""
    if not x.rank:
        return x.fill(1)
    return x.create("softmax", parameters={"dimension": dim % x.rank})


def log_softmax(x: Array, dim: int) -> Array:
    """The logarithm of `softmax`."""
    if not x.rank:
        return x.fill(0)
    shifted = x - x.max(dim)
    return shifted - shifted.exp().sum(dim).log()


def log_sum_exp(x: Array, dim: int) -> Array:
    """The logarithm of the sum of exponentials along a dimension, which stays."""
    largest = x.max(dim)
    return (x - largest).exp().sum(dim).log() + largest


# -- attention -----------------------------------------------------------------------------------
# Queries, keys and values are (..., rows, width).


def score(
    query: Array, key: Array, mask: Array | None, scale: float, *, causal: bool = False
) -> tuple[Array, Array | None]:
    """query @ key^T * scale + mask, and where keys are not hidden.

    Hidden scores are -inf: where a mask of truth values is false, or after the diagonal if causal.
    """
    scores = (query @ key.transpose()) * scale
    if causal:
        # Only causal attention pays for the import.
        import numpy as np

        from ttmlir.arrays.carriers import array_of

        mask = array_of(np.tri(*scores.shape[-2:], dtype=np.bool_))
    if mask is None:
        return scores, None
    if mask.dtype != "i1":
        return scores + mask.cast(scores.dtype), None
    return mask.where(scores, -math.inf), mask


def attend(
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    scale: float,
    *,
    causal: bool = False,
) -> Array:
    """softmax(scores) @ value; rows for which all keys are hidden are 0."""
    scores, allowed = score(query, key, mask, scale, causal=causal)
    return weigh(scores, None if causal else allowed) @ value


def seen_keys(mask: Array | None) -> Array | None:
    """Where a mask hides no key: it is true, or adds more than -inf."""
    return mask if mask is None or mask.dtype == "i1" else mask > -math.inf


def weigh(scores: Array, allowed: Array | None) -> Array:
    """softmax(scores) along the last dimension, 0 in rows in which nothing is allowed."""
    weights = softmax(scores, -1)
    return weights if allowed is None else allowed.any(-1).where(weights, 0)


def join_heads(x: Array) -> Array:
    """Rows of all heads (batch, heads, rows, width) side by side (batch, rows, heads * width)."""
    batch, heads, length, width = x.shape
    return x.permute((0, 2, 1, 3)).reshape((batch, length, heads * width))


def repeat_heads(x: Array, heads: int) -> Array:
    """Keys or values (..., heads, rows, width), each head as often as queries share it."""
    *batch, own, length, width = x.shape
    if own == heads:
        return x
    grouped = x.unsqueeze(-3).broadcast((*batch, own, heads // own, length, width))
    return grouped.reshape((*batch, heads, length, width))


def differentiate_attention(
    gradient: Array,
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    scale: float,
    *,
    causal: bool,
) -> tuple[Array, Array, Array, Array]:
    """The gradients of query, key, value, and of the scores.

    Queries may share the heads of keys and values.
    """
    own = key.shape[-3]
    key, value = (repeat_heads(each, query.shape[-3]) for each in (key, value))
    scores, _ = score(query, key, mask, scale, causal=causal)
    weights = weigh(scores, seen_keys(mask))
    slopes = gradient @ value.transpose()
    of_scores = (slopes - (slopes * weights).sum(-1)) * weights
    scaled = of_scores * scale
    return (
        scaled @ key,
        _sum_heads(scaled.transpose() @ query, own),
        _sum_heads(weights.transpose() @ gradient, own),
        of_scores,
    )


def _sum_heads(x: Array, own: int) -> Array:
    """The gradients of repeated heads, added up for each one."""
    *batch, heads, length, width = x.shape
    if own == heads:
        return x
    grouped = x.reshape((*batch, own, heads // own, length, width))
    return grouped.sum(-3).reshape((*batch, own, length, width))
