"""Operations of ttir of 2026 that have no definition of their own, by those that have.

    found = COMPOSITES["rms_norm"](x, weight, None, normalized_shape=(64,), epsilon=1e-5)

Each function takes the operands, None for an optional one that is absent, and the parameters of
the form in `ttmlir.optable.late_forms`; `shape` is the result's, where the function asks for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

from ttmlir.arrays.array import Array, concatenate
from ttmlir.arrays.namespace import ARRAYS
from ttmlir.composites import normalization
from ttmlir.composites.arithmetic import signbit
from ttmlir.composites.bits import round_to_format
from ttmlir.composites.indexing import scatter
from ttmlir.composites.statistics import (
    add_exponentials_running,
    find_running_extreme,
    multiply_running,
)
from ttmlir.errors import ArgumentError
from ttmlir.optable import special
from ttmlir.optable.late_forms import COMBINERS
from ttmlir.optable.rearrangement import Rearrangement

Shape = tuple[int, ...]

# --- Elements -------------------------------------------------------------------------------------


def _clamp_tensor(x: Array, low: Array, high: Array) -> Array:
    return x.maximum(low).minimum(high)


def _differentiate_gelu(gradient: Array, x: Array, *, approximate: str) -> Array:
    if approximate == "none":
        density = (x.square() * -0.5).exp() * (1 / math.sqrt(2 * math.pi))
        return gradient * (((x * math.sqrt(0.5)).erf() + 1) * 0.5 + x * density)
    factor = math.sqrt(2 / math.pi)
    tanh = ((x + x * x.square() * 0.044715) * factor).tanh()
    slope = (x.square() * (3 * 0.044715) + 1) * factor
    return gradient * ((tanh + 1) * 0.5 + x * (1 - tanh.square()) * slope * 0.5)


# --- Along dimensions -----------------------------------------------------------------------------


def _repeat_interleave(x: Array, *, repeats: int, dim: int) -> Array:
    dim %= x.rank
    apart = x.unsqueeze(dim + 1)
    spread = apart.broadcast((*apart.shape[: dim + 1], repeats, *apart.shape[dim + 2 :]))
    return spread.reshape([n * repeats if i == dim else n for i, n in enumerate(x.shape)])


def _index(x: Array, *, dim: int, begin: int, end: int, step: int) -> Array:
    extent = x.shape[dim]
    first, last = (n + extent if n < 0 else n for n in (begin, end))
    return x.cut(dim % x.rank, first, min(last, extent), step)


def _index_select(x: Array, *, dim: int, begin: int, length: int, stride: int) -> Array:
    dim %= x.rank
    step = stride or x.shape[dim]
    parts = [x.cut(dim, at, at + length) for at in range(begin, x.shape[dim] - length + 1, step)]
    return parts[0] if len(parts) == 1 else concatenate(parts, dim)


def _slice_dynamic(
    x: Array, begins: Array, ends: Array, *, shape: Shape, step: Shape | None = None
) -> Array:
    if step is not None and any(each != 1 for each in step):
        raise ArgumentError("takes neighbouring elements; steps other than 1 are not supported")
    return x.create("slice_dynamic", begins, shape=shape, parameters={"sizes": shape})


def _cumulative(x: Array, *, dim: int, reduction: str, reverse: bool) -> Array:
    x = x.reverse(dim) if reverse else x
    match reduction:
        case "max" | "min":
            found, _ = find_running_extreme(x, dim, largest=reduction == "max")
        case "prod":
            found = multiply_running(x, dim)
        case "sum":
            found = x.cumsum(dim)
        case "logsumexp":
            found = add_exponentials_running(x, dim)
        case _:
            raise ArgumentError(f"reductions of all elements up to each are not by '{reduction}'")
    return found.reverse(dim) if reverse else found


# --- Rows at an index -----------------------------------------------------------------------------
# The first dimension of a tensor is a batch, the next ones are indexed, the rest are rows. The
# index (batches or 1, indexed dimensions, slices) says where each slice begins.


def _number_rows(
    index: Array, sizes: Shape, windows: Shape, *, moves_inside: bool
) -> tuple[Array, Array | None]:
    """Numbers of the rows of slices, (batches or 1, rows), and which of them are inside.

    Slices that reach outside are moved inside, or told apart.
    """
    index = index.cast("i32")
    batches, _, slices = index.shape
    numbers = index.fill(0, (batches, slices, 1))
    inside: Array | None = None
    for place, (size, window) in enumerate(zip(sizes, windows, strict=True)):
        start = index.cut(1, place, place + 1).reshape((batches, slices, 1))
        if not moves_inside:
            fits = (start >= 0) & (start <= size - window)
            inside = fits if inside is None else inside & fits
        start = start.limit(0, size - window)
        places = start if window == 1 else start + start.count(2, (1, 1, window))
        apart = (numbers * size).unsqueeze(3) + places.unsqueeze(2)
        numbers = apart.reshape((batches, slices, math.prod(apart.shape[2:])))
    rows = numbers.shape[2]
    if inside is not None:
        inside = inside.broadcast(numbers.shape).reshape((batches, slices * rows))
    return numbers.reshape((batches, slices * rows)), inside


def _as_rows(x: Array, sizes: Shape) -> Array:
    batch, count = x.shape[0], math.prod(sizes)
    return x.reshape((batch, count, math.prod(x.shape[1:]) // max(1, count)))


def _gather_rows(
    x: Array,
    index: Array,
    *,
    shape: Shape,
    sizes: Shape,
    windows: Shape,
    column: bool,
    fill_out_of_bounds: bool,
) -> Array:
    rows = _as_rows(x, sizes)
    numbers, inside = _number_rows(index, sizes, windows, moves_inside=not fill_out_of_bounds)
    wanted = (rows.shape[0], numbers.shape[1], rows.shape[2])
    found = rows.gather(1, numbers.unsqueeze(2).broadcast(wanted))
    if inside is not None:
        found = inside.unsqueeze(2).broadcast(wanted).where(found, 0)
    return found.reshape(shape)


def _scatter_rows(
    x: Array,
    index: Array,
    updates: Array,
    *,
    sizes: Shape,
    windows: Shape,
    column: bool,
    reduce: str,
) -> Array:
    if reduce not in COMBINERS:
        raise ArgumentError(f"values that are put in one place are not combined by '{reduce}'")
    rows = _as_rows(x, sizes)
    batch, count, width = rows.shape
    numbers, inside = _number_rows(index, sizes, windows, moves_inside=False)
    assert inside is not None, "there is an indexed dimension"
    # What reaches outside goes to one more row, which is cut off.
    numbers = inside.where(numbers, count)
    wanted = (batch, numbers.shape[1], width)
    places = numbers.unsqueeze(2).broadcast(wanted)
    padded = rows.pad(((0, 0), (0, 1), (0, 0)), 0)
    source = updates.cast(x.dtype).reshape(wanted)
    return scatter(padded, 1, places, source, COMBINERS[reduce]).cut(1, 0, count).reshape(x.shape)


# --- Products and windows -------------------------------------------------------------------------


def _linear(
    a: Array, b: Array, bias: Array | None, *, transpose_a: bool, transpose_b: bool
) -> Array:
    product = (a.transpose() if transpose_a else a) @ (b.transpose() if transpose_b else b)
    return product if bias is None else product + bias


def _global_average(x: Array) -> Array:
    return x.mean(1, 2)


# --- Normalization and attention ------------------------------------------------------------------


def _rms_norm(
    x: Array, weight: Array | None, bias: Array | None, *, normalized_shape: Shape, epsilon: float
) -> Array:
    dims = range(x.rank - len(normalized_shape), x.rank)
    found = normalization.rms_norm(x, tuple(dims), epsilon)
    return normalization.scale_channels(found, weight, bias)


def _layer_norm(
    x: Array, weight: Array | None, bias: Array | None, *, normalized_shape: Shape, epsilon: float
) -> Array:
    return normalization.layer_norm(x, len(normalized_shape), weight, bias, epsilon)[0]


def _group_norm(
    x: Array,
    mask: Array | None,
    weight: Array | None,
    bias: Array | None,
    *,
    num_groups: int,
    epsilon: float,
    channel_dim: int = 1,
) -> Array:
    if mask is not None:
        raise ArgumentError("normalizes groups without a mask")
    order = [0, channel_dim, *(dim for dim in range(1, x.rank) if dim != channel_dim)]
    found, _, _ = normalization.group_norm(x.permute(order), num_groups, weight, bias, epsilon)
    return found.permute([order.index(dim) for dim in range(x.rank)])


def _attention(
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    sink: Array | None,
    *,
    is_causal: bool,
    scale: float | None = None,
    sliding_window_size: int | None = None,
) -> Array:
    if sink is not None or sliding_window_size is not None:
        raise ArgumentError("attends to all keys; sinks and sliding windows are not supported")
    if is_causal and mask is not None:
        raise ArgumentError("hides later keys by itself or by a mask, not by both")
    heads = query.shape[-3]
    key, value = (normalization.repeat_heads(each, heads) for each in (key, value))
    by = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    return normalization.attend(query, key, value, mask, by, causal=is_causal)


def _rearrange(x: Array, *, pattern: str) -> Array:
    plan = Rearrangement.of(pattern, x.shape, {})
    return x.reshape(plan.axes).permute(plan.order).reshape(plan.shape)


def _multiply_running(x: Array, *, dim: int) -> Array:
    return multiply_running(x, dim)


def _reduce_precision(x: Array, *, exponent_bits: int, mantissa_bits: int) -> Array:
    return round_to_format(x, exponent_bits, mantissa_bits)


def _frac(x: Array) -> Array:
    return x - x.trunc()


def _relu6(x: Array) -> Array:
    return x.limit(0, 6)


COMPOSITES: Mapping[str, Callable[..., Array]] = {
    "clamp_tensor": _clamp_tensor,
    "concatenate_heads": normalization.join_heads,
    "cumprod": _multiply_running,
    "cumulative": _cumulative,
    "frac": _frac,
    "gelu_bw": _differentiate_gelu,
    "global_avg_pool2d": _global_average,
    "group_norm": _group_norm,
    "index": _index,
    "index_select": _index_select,
    "layer_norm": _layer_norm,
    "linear": _linear,
    "mish": partial(special.mish, ARRAYS),
    "rearrange": _rearrange,
    "reduce_precision": _reduce_precision,
    "relu6": _relu6,
    "repeat_interleave": _repeat_interleave,
    "rms_norm": _rms_norm,
    "rows_gather": _gather_rows,
    "rows_scatter": _scatter_rows,
    "scaled_dot_product_attention": _attention,
    "selu": partial(special.selu, ARRAYS),
    "signbit": signbit,
    "slice_dynamic": _slice_dynamic,
    "softsign": partial(special.softsign, ARRAYS),
}
"""What operations of 2026 compute, by their names."""

TAKES_SHAPE = frozenset(("rows_gather", "slice_dynamic"))
"""Those whose result's shape is no consequence of the operands' and of the parameters."""

NUMBERS: Mapping[str, float] = {"zeros": 0, "ones": 1}
"""Operations that make a tensor of one number."""
