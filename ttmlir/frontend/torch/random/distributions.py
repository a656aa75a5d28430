"""What each random operation of ATen makes of random words, in operations that are not random."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ttmlir.composites.random_numbers import ROW, threefry
from ttmlir.errors import ArgumentError
from ttmlir.frontend.torch.elements import dtype_name, torch_package

# --- Generator ------------------------------------------------------------------------------------
# The generator: Threefry with 20 rounds on pairs of 32-bit words.
#
# Word i of a seed is that of `jax.random.bits(jax.random.key(seed), (n,))[i]` for any n > i. Words
# are int32 here, of the same bits: torch computes little with uint32.


def draw_words(seed: Any, count: int) -> Any:
    """The first `count` words of a seed, which is an int32 tensor of no dimension."""
    torch = torch_package()
    rows = -(-count // ROW)
    number = torch.arange(rows * ROW, dtype=torch.int32).reshape(rows, ROW)
    left, right = threefry((0, seed), (0, number), _rotate)
    return (left ^ right).reshape(rows * ROW)[:count]


def _rotate(word: Any, places: int) -> Any:
    return (word << places) | shift_down(word, 32 - places)


def shift_down(word: Any, places: int) -> Any:
    """The upper bits of a word without sign, `places` further down."""
    return (word >> places) & ((1 << (32 - places)) - 1)


class Words:
    """The words of a program, which its operations take one after the other."""

    def __init__(self, seed: Any, count: int) -> None:
        """Compute all that will be taken."""
        self._words = draw_words(seed, count)
        self._taken = 0

    def take(self, count: int) -> Any:
        """The next words."""
        begin = self._taken
        self._taken += count
        return self._words[begin : self._taken]


# --- Distributions --------------------------------------------------------------------------------

Arguments = Mapping[str, Any]
"""By the names of the operation's schema."""


@dataclass(frozen=True)
class Draw:
    """How an operation draws."""

    make: Callable[[Words, Arguments, Any], Any]
    """From words, arguments, and a tensor like the (first) result."""
    count: Callable[[Arguments, Any], int]
    """How many words it takes, from arguments and a tensor like the (first) result."""


def _one_each(_: Arguments, like: Any) -> int:
    return like.numel()


# -- numbers from words ------------------------------------------------------------------------

_BITS = {"bfloat16": 8, "float16": 11}
"""Random bits of a number, for the types that hold fewer than 23."""


def _uniform(words: Words, shape: Any, dtype: Any) -> Any:
    """Numbers of [0, 1), as `jax.random.uniform` makes them in f32."""
    torch = torch_package()
    bits = _BITS.get(dtype_name(dtype), 23)
    word = shift_down(words.take(math.prod(shape)), 32 - bits).reshape(shape)
    return word.to(torch.promote_types(dtype, torch.float32)) * 2.0**-bits


def _normal(words: Words, shape: Any, dtype: Any) -> Any:
    """Numbers of the normal distribution, as `jax.random.normal` makes them in f32."""
    torch = torch_package()
    low = -1 + 2.0**-24
    uniform = _uniform(words, shape, torch.promote_types(dtype, torch.float32))
    return torch.erfinv((uniform * (1 - low) + low).clamp(min=low)) * math.sqrt(2)


def _exponential(words: Words, shape: Any, dtype: Any) -> Any:
    torch = torch_package()
    return -torch.log1p(-_uniform(words, shape, torch.promote_types(dtype, torch.float32)))


def _whole(words: Words, shape: Any, low: int, high: int) -> Any:
    """Whole numbers from `low` to `high` - 1."""
    torch, span = torch_package(), high - low
    if span > 1 << 31:
        raise ArgumentError(f"random whole numbers are one of at most 2**31, not of {span}")
    # 31 bits, so that numbers with a sign hold them.
    word = shift_down(words.take(math.prod(shape)), 1).reshape(shape)
    return (word if span == 1 << 31 else word % span).to(torch.int64) + low


# -- operations --------------------------------------------------------------------------------


def _simple(make: Callable[[Words, Any, Any, Arguments], Any]) -> Draw:
    """A function of shape and type that takes one word for each element."""
    return Draw(
        lambda words, given, like: make(words, like.shape, like.dtype, given).to(like.dtype),
        _one_each,
    )


def _probability(given: Arguments) -> Any:
    """A number, or a tensor of one for each element; `bernoulli(p)` has it as `self`."""
    return given["p"] if "p" in given else given["self"]


def _dropout(words: Words, given: Arguments, like: Any) -> Any:
    torch, x, p = torch_package(), given["input"], given["p"]
    if p == 1:
        return torch.zeros_like(x), torch.zeros_like(x, dtype=torch.bool)
    kept = _uniform(words, x.shape, torch.float32) < 1 - p
    return torch.where(kept, x * (1 / (1 - p)), 0.0).to(x.dtype), kept


def _attention(words: Words, given: Arguments, like: Any) -> Any:
    """`scaled_dot_product_attention` with dropout of what softmax gives."""
    torch = torch_package()
    query, key, value = given["query"], given["key"], given["value"]
    if given.get("enable_gqa"):
        times = query.shape[-3] // key.shape[-3]
        key, value = (each.repeat_interleave(times, -3) for each in (key, value))
    scale = given.get("scale")
    scores = query @ key.mT * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    mask = given.get("attn_mask")
    if given.get("is_causal"):
        mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    if mask is not None:
        hidden = torch.zeros_like(scores).masked_fill(~mask, -math.inf)
        scores = scores + (hidden if mask.dtype == torch.bool else mask)
    weights = scores.softmax(-1)
    return _dropout(words, {"input": weights, "p": given["dropout_p"]}, weights)[0] @ value


def _count_weights(given: Arguments, like: Any) -> int:
    return math.prod(like.shape[:-1]) * given["key"].shape[-2]


def _rrelu(words: Words, given: Arguments, like: Any) -> Any:
    torch, x = torch_package(), given["self"]
    low, high = given["lower"], given["upper"]
    slopes = (_uniform(words, x.shape, x.dtype) * (high - low) + low).to(x.dtype)
    noise = torch.where(x <= 0, slopes, 1.0).to(x.dtype)
    return x * noise, noise


def _permutation(words: Words, given: Arguments, like: Any) -> Any:
    return torch_package().argsort(words.take(given["n"]), stable=True).to(like.dtype)


def _multinomial(words: Words, given: Arguments, like: Any) -> Any:
    torch, weights, samples = torch_package(), given["self"], given["num_samples"]
    if given["replacement"]:
        bounds = weights.float().cumsum(-1)
        uniform = _uniform(words, like.shape, torch.float32) * bounds[..., -1:]
        return (bounds[..., None, :] <= uniform[..., None]).sum(-1).clamp(max=weights.shape[-1] - 1)
    # The first ones to arrive, if each arrives at its own rate.
    arrivals = _exponential(words, weights.shape, torch.float32) / weights.float()
    return torch.argsort(arrivals, dim=-1, stable=True)[..., :samples]


def _count_multinomial(given: Arguments, like: Any) -> int:
    return like.numel() if given["replacement"] else given["self"].numel()


def _bounded(words: Words, given: Arguments, like: Any) -> Any:
    """`random_()`: whole numbers below `to`, or as large as the type holds exactly."""
    high = given.get("to")
    if high is None:
        digits = {"bool": 1, "float32": 24, "float16": 11, "bfloat16": 8}
        bits = digits.get(dtype_name(like.dtype), 31)
        high = 1 << (bits if like.dtype.is_floating_point else min(bits, _magnitude(like.dtype)))
    return _whole(words, like.shape, given.get("from") or 0, high).to(like.dtype)


def _magnitude(dtype: Any) -> int:
    torch = torch_package()
    return 1 if dtype == torch.bool else torch.iinfo(dtype).max.bit_length()


_UNIFORM = _simple(lambda words, shape, dtype, _: _uniform(words, shape, dtype))
_STANDARD = _simple(lambda words, shape, dtype, _: _normal(words, shape, dtype))
_NORMAL = _simple(
    lambda words, shape, dtype, given: _normal(words, shape, dtype) * given["std"] + given["mean"]
)
_WHOLE = _simple(
    lambda words, shape, _, given: _whole(words, shape, given.get("low") or 0, given["high"])
)

DRAWS: Mapping[str, Draw] = {
    "bernoulli": _simple(
        lambda words, shape, dtype, given: (
            _uniform(words, shape, torch_package().float32) < _probability(given)
        )
    ),
    "cauchy": _simple(
        lambda words, shape, dtype, given: (
            ((_uniform(words, shape, dtype) - 0.5) * math.pi).tan() * given["sigma"]
            + given["median"]
        )
    ),
    "exponential": _simple(
        lambda words, shape, dtype, given: _exponential(words, shape, dtype) / given["lambd"]
    ),
    "geometric": _simple(
        lambda words, shape, dtype, given: (
            (_exponential(words, shape, dtype) / -math.log1p(-given["p"])).floor() + 1
        )
    ),
    "log_normal": _simple(
        lambda words, shape, dtype, given: (
            _normal(words, shape, dtype) * given["std"] + given["mean"]
        ).exp()
    ),
    "multinomial": Draw(_multinomial, _count_multinomial),
    "native_dropout": Draw(_dropout, _one_each),
    "normal": _NORMAL,
    "normal_functional": _NORMAL,
    "rand": _UNIFORM,
    "rand_like": _UNIFORM,
    "randint": _WHOLE,
    "randint_like": _WHOLE,
    "randn": _STANDARD,
    "randn_like": _STANDARD,
    "random": Draw(_bounded, _one_each),
    "randperm": Draw(_permutation, lambda given, _: given["n"]),
    "rrelu_with_noise": Draw(
        lambda words, given, like: _rrelu(words, given, like)[0],
        _one_each,
    ),
    "rrelu_with_noise_functional": Draw(_rrelu, _one_each),
    "scaled_dot_product_attention": Draw(_attention, _count_weights),
    "uniform": _simple(
        lambda words, shape, dtype, given: (
            _uniform(words, shape, dtype) * (given["to"] - given["from"]) + given["from"]
        )
    ),
}
"""By the names of operations; those that write to a tensor have the same with `_` after them."""
