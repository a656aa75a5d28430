"""Random JAX functions for tests: all kinds of operations of `jax.lax` and `jax.numpy` in a row.

A program is a list of steps on earlier values. Each value carries a bound of its size, and whether
it is exact: floating point numbers that are small integers, computed without rounding. What jumps,
such as `floor` or a comparison, is only applied to exact values, so results can be compared.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import ml_dtypes
import numpy as np

jax: Any = import_module("jax")
jnp: Any = import_module("jax.numpy")
lax: Any = import_module("jax.lax")

Array = Any
Function = Callable[..., Array]
Shape = tuple[int, ...]

FLOATS = ("float32", "float32", "float32", "bfloat16")
INTEGERS = ("int32", "int32", "int8", "uint8", "uint32", "int16", "uint16")
EXTENTS = (1, 2, 3, 4, 5, 7)
MOST_ELEMENTS = 2000
LARGEST = 1000.0
"""Bound of floats beyond which they do not grow."""
EXACT = {"float32": 2.0**22, "bfloat16": 2.0**7}
"""Bound of integers that a type of floats holds, sums of them included."""


@dataclass(frozen=True)
class Value:
    """A value of the program: its index, type, and what is known of its elements."""

    index: int
    shape: Shape
    dtype: str
    bound: float = math.inf
    exact: bool = True

    @property
    def is_float(self) -> bool:
        """True for floating point numbers."""
        return "float" in self.dtype

    @property
    def is_bool(self) -> bool:
        """True for truth values."""
        return self.dtype == "bool"

    @property
    def is_integer(self) -> bool:
        """True for integers."""
        return not self.is_float and not self.is_bool

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)


@dataclass
class Program:
    """A function that grows step by step."""

    rng: random.Random
    values: list[Value] = field(default_factory=list[Value])
    steps: list[tuple[str, Function, tuple[int, ...]]] = field(
        default_factory=list[tuple[str, Function, tuple[int, ...]]]
    )
    inputs: list[Array] = field(default_factory=list[Array])

    def argument(self, shape: Shape, dtype: str, *, below: int = 5) -> Value:
        """A new argument: small integers, truth values, or indices below a number."""
        low = 0 if dtype.startswith("u") else 1 - below
        numbers = [self.rng.randint(low, below - 1) for _ in range(math.prod(shape))]
        array = np.array(numbers).reshape(shape)
        host = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
        self.inputs.append((array > 0) if dtype == "bool" else array.astype(host))
        return self._new(shape, dtype, float(below), True)

    def _new(self, shape: Shape, dtype: str, bound: float, exact: bool) -> Value:
        value = Value(len(self.values), shape, dtype, bound, exact)
        self.values.append(value)
        return value

    def step(
        self,
        label: str,
        function: Function,
        operands: Sequence[Value],
        *,
        bound: float | None = None,
        exact: bool | None = None,
    ) -> Value | None:
        """Apply a function to values; None, and no step, if the result were empty or too large."""
        avals = [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in operands]
        result = jax.eval_shape(function, *avals)
        if not 0 < math.prod(result.shape) <= MOST_ELEMENTS:
            return None
        dtype = str(result.dtype)
        if bound is None:
            bound = max(each.bound for each in operands)
        if exact is None:
            exact = all(each.exact for each in operands)
        if "float" in dtype:
            if bound > LARGEST:
                return None
            exact = exact and bound <= EXACT[dtype]
        self.steps.append((label, function, tuple(each.index for each in operands)))
        return self._new(tuple(result.shape), dtype, bound, exact)

    def pick(self, test: Callable[[Value], bool] = lambda _: True) -> Value | None:
        """One of the values that pass a test, rather a late one."""
        found = [each for each in self.values if test(each)]
        return self.rng.choice(found[-4:] if self.rng.random() < 0.7 else found) if found else None

    def __call__(self, *arguments: Array) -> tuple[Array, ...]:
        """Run the steps; the results are the last values and those that nobody uses."""
        values = list(arguments)
        used: set[int] = set()
        for _, function, operands in self.steps:
            values.append(function(*(values[i] for i in operands)))
            used.update(operands)
        unused = [value for i, value in enumerate(values) if i not in used]
        return tuple(unused[-4:])

    @property
    def tolerances(self) -> list[float]:
        """For each result, its allowed error relative to the largest element; 0 if exact."""
        used = {i for _, _, operands in self.steps for i in operands}
        unused = [value for value in self.values if value.index not in used]
        coarse = any("bfloat" in value.dtype for value in self.values)
        return [
            0.0 if value.exact or not value.is_float else 5e-2 if coarse else 1e-4
            for value in unused[-4:]
        ]

    def __str__(self) -> str:
        """The steps, one on a line."""
        lines = [f"v{v.index}: argument {v.dtype}{list(v.shape)}" for v in self._arguments()]
        for offset, (label, _, operands) in enumerate(self.steps):
            value = self.values[len(self.inputs) + offset]
            names = ", ".join(f"v{i}" for i in operands)
            lines.append(f"v{value.index}: {label}({names}) {value.dtype}{list(value.shape)}")
        return "\n".join(lines)

    def _arguments(self) -> list[Value]:
        return self.values[: len(self.inputs)]


Step = Callable[[Program], "Value | None"]


def _axes(rng: random.Random, rank: int, least: int = 1) -> tuple[int, ...]:
    return tuple(sorted(rng.sample(range(rank), rng.randint(min(least, rank), rank))))


# -- elementwise -----------------------------------------------------------------------------------

_SMOOTH: dict[str, tuple[Function, float]] = {
    "tanh": (jnp.tanh, 1),
    "sin": (jnp.sin, 1),
    "cos": (jnp.cos, 1),
    "exp": (lambda x: jnp.exp(-jnp.abs(x)), 1),
    "sigmoid": (jax.nn.sigmoid, 1),
    "gelu": (jax.nn.gelu, LARGEST),
    "silu": (jax.nn.silu, LARGEST),
    "softplus": (jax.nn.softplus, LARGEST),
    "sqrt": (lambda x: jnp.sqrt(jnp.abs(x) + 0.5), 32),
    "rsqrt": (lambda x: lax.rsqrt(jnp.abs(x) + 0.5), 2),
    "log1p": (lambda x: jnp.log1p(jnp.abs(x)), 7),
    "erf": (lax.erf, 1),
    "expm1": (lambda x: jnp.expm1(-jnp.abs(x)), 1),
    "cbrt": (lambda x: jnp.cbrt(jnp.abs(x) + 0.5), 10),
    "atan2": (lambda x: jnp.arctan2(x, jnp.abs(x) + 1), 4),
    "asinh": (jnp.arcsinh, 8),
    "pow": (lambda x: jnp.power(jnp.abs(x) + 0.5, 0.7), 130),
    "log_softmax": (lambda x: jax.nn.log_softmax(x.reshape(-1)).reshape(x.shape), LARGEST),
    "norm": (lambda x: (x - jnp.mean(x)) / jnp.sqrt(jnp.var(x) + 1), 50),
    "logsumexp": (lambda x: jax.scipy.special.logsumexp(x, keepdims=True), LARGEST),
}
_JUMPS: dict[str, Function] = {
    "floor": lambda x: jnp.floor(x / 2),
    "ceil": lambda x: jnp.ceil(x / 2),
    "round": lambda x: jnp.round(x / 2),
    "sign": jnp.sign,
    "trunc": lambda x: jnp.trunc(x / 4),
    "int32": lambda x: x.astype("int32"),
    "int8": lambda x: jnp.clip(x, -100, 100).astype("int8"),
    "step": lambda x: jnp.heaviside(x, jnp.ones((), x.dtype)),
    "isfinite": lambda x: lax.is_finite(x),
    "where_pos": lambda x: jnp.where(x > 0, x, 0.25 * x).astype(x.dtype),
}
_OF_INTEGERS: dict[str, Function] = {
    "abs": jnp.abs,
    "neg": lambda x: -x,
    "not": lambda x: ~x,
    "sign": jnp.sign,
    "popcnt": lax.population_count,
    "clz": lax.clz,
    "shl": lambda x: x << 2,
    "shr": lambda x: x >> 1,
    "div": lambda x: x // 3,
    "rem": lambda x: x % 5,
    "lax_rem": lambda x: lax.rem(x, jnp.full_like(x, 3)),
    "lax_div": lambda x: lax.div(x, jnp.full_like(x, 3)),
    "square": lambda x: x * x,
    "pow": lambda x: lax.integer_pow(x, 3),
    "clip": lambda x: jnp.clip(x, 1, 3),
}


def _unary(p: Program) -> Value | None:
    value = p.pick()
    assert value is not None
    if value.is_bool:
        return p.step("logical_not", jnp.logical_not, [value])
    if value.is_integer:
        label = p.rng.choice(list(_OF_INTEGERS))
        return p.step(label, _OF_INTEGERS[label], [value])
    if value.exact and p.rng.random() < 0.5:
        label = p.rng.choice(list(_JUMPS))
        # Rounding half of a number is exact, and so is what comes out; slopes are not.
        return p.step(label, _JUMPS[label], [value], exact=label != "where_pos")
    label = p.rng.choice(list(_SMOOTH))
    function, bound = _SMOOTH[label]
    return p.step(label, function, [value], bound=bound, exact=False)


def _fitting(p: Program, value: Value) -> Value | None:
    """A value of the same type that broadcasts with another one."""

    def test(other: Value) -> bool:
        if other.dtype != value.dtype:
            return False
        try:
            np.broadcast_shapes(other.shape, value.shape)
        except ValueError:
            return False
        return True

    return p.pick(test)


def _binary(p: Program) -> Value | None:
    a = p.pick()
    assert a is not None
    b = _fitting(p, a)
    assert b is not None
    if a.is_bool:
        label = p.rng.choice(("logical_and", "logical_or", "logical_xor"))
        return p.step(label, getattr(jnp, label), [a, b])
    if a.is_integer:
        labels = ("add", "subtract", "multiply", "maximum", "minimum", "bitwise_and", "bitwise_or")
        label = p.rng.choice((*labels, "bitwise_xor", "floor_divide", "less", "equal", "remainder"))
        function = getattr(jnp, label)
        if label in ("floor_divide", "remainder"):
            return p.step(label, lambda x, y: function(x, (y & 7) + 1), [a, b])
        return p.step(label, function, [a, b])
    bounds = {
        "add": a.bound + b.bound,
        "subtract": a.bound + b.bound,
        "multiply": a.bound * b.bound,
        "maximum": max(a.bound, b.bound),
        "minimum": max(a.bound, b.bound),
    }
    if a.exact and b.exact and p.rng.random() < 0.3:
        label = p.rng.choice(("less", "less_equal", "equal", "not_equal", "greater"))
        return p.step(label, getattr(jnp, label), [a, b])
    if p.rng.random() < 0.2:
        return p.step("divide", lambda x, y: x / (jnp.abs(y) + 1), [a, b], exact=False)
    label = p.rng.choice(list(bounds))
    return p.step(label, getattr(jnp, label), [a, b], bound=bounds[label])


def _where(p: Program) -> Value | None:
    condition = p.pick(lambda v: v.is_bool)
    value = p.pick()
    if condition is None or value is None:
        return None
    shapes = (condition.shape, value.shape)
    if not any(np.shape(np.zeros(s)) == shapes[1] for s in shapes) or shapes[0] != shapes[1]:
        return None
    return p.step("where", lambda c, x: jnp.where(c, x, jnp.ones_like(x)), [condition, value])


def _convert(p: Program) -> Value | None:
    value = p.pick(lambda v: not v.is_float or v.exact)
    if value is None:
        return None
    if value.is_float:
        to = p.rng.choice(("int32", "float32", "bool"))
    elif value.is_bool:
        to = p.rng.choice((*FLOATS, *INTEGERS))
    else:
        to = p.rng.choice((*INTEGERS, "bool", "small float"))
    if to == "small float":
        return p.step("mod8_float", lambda x: (x & 7).astype("float32"), [value], bound=8)
    bound = 1.0 if value.is_bool else value.bound
    return p.step(f"to_{to}", lambda x: x.astype(to), [value], bound=bound)


# -- movement --------------------------------------------------------------------------------------


def _movement(p: Program) -> Value | None:
    value = p.pick()
    assert value is not None
    shape, rank, rng = value.shape, len(value.shape), p.rng
    kind = rng.choice(
        ("reshape", "transpose", "broadcast", "slice", "rev", "pad", "roll", "tile", "expand")
    )
    if kind == "expand" or rank == 0:
        axis = rng.randint(0, rank)
        return p.step(f"expand{axis}", lambda x: jnp.expand_dims(x, axis), [value])
    if kind == "reshape":
        new = _factored(rng, value.size)
        return p.step(f"reshape{new}", lambda x: x.reshape(new), [value])
    if kind == "transpose":
        order = tuple(rng.sample(range(rank), rank))
        return p.step(f"transpose{order}", lambda x: jnp.transpose(x, order), [value])
    if kind == "broadcast":
        position, extent = rng.randint(0, rank), rng.choice(EXTENTS)
        new = (*shape[:position], extent, *shape[position:])
        dims = tuple(d for d in range(rank + 1) if d != position)
        return p.step(f"broadcast{new}", lambda x: lax.broadcast_in_dim(x, new, dims), [value])
    if kind == "slice":
        starts = [rng.randint(0, n - 1) for n in shape]
        ends = [rng.randint(s + 1, n) for s, n in zip(starts, shape, strict=True)]
        strides = [rng.randint(1, 3) for _ in shape]
        return p.step(
            f"slice{starts}{ends}{strides}", lambda x: lax.slice(x, starts, ends, strides), [value]
        )
    axes = _axes(rng, rank)
    if kind == "rev":
        return p.step(f"rev{axes}", lambda x: lax.rev(x, axes), [value])
    if kind == "pad":
        config = [(rng.randint(-1, 2), rng.randint(0, 2), rng.choice((0, 0, 1, 2))) for _ in shape]
        if any(n + low + high < 1 for n, (low, high, _) in zip(shape, config, strict=True)):
            return None
        number = rng.choice((0, 1, 2))
        return p.step(
            f"pad{config}",
            lambda x: lax.pad(x, jnp.array(number).astype(x.dtype), config),
            [value],
            bound=max(value.bound, 2),
        )
    if kind == "roll":
        amount = rng.randint(-3, 3)
        return p.step(f"roll{amount}", lambda x: jnp.roll(x, amount, axes[0]), [value])
    counts = tuple(rng.choice((1, 2, 3)) for _ in shape)
    return p.step(f"tile{counts}", lambda x: jnp.tile(x, counts), [value])


def _factored(rng: random.Random, size: int) -> Shape:
    shape: list[int] = []
    while size > 1 and len(shape) < 4:
        factor = rng.choice([n for n in range(1, size + 1) if size % n == 0])
        shape.append(factor)
        size //= factor
    return (*shape, size) if rng.random() < 0.8 or size > 1 else tuple(shape)


def _concatenate(p: Program) -> Value | None:
    value = p.pick(lambda v: len(v.shape) > 0)
    if value is None:
        return None
    axis = p.rng.randrange(len(value.shape))

    def rest(shape: Shape) -> Shape:
        return (*shape[:axis], *shape[axis + 1 :])

    other = p.pick(
        lambda v: (
            v.dtype == value.dtype
            and len(v.shape) == len(value.shape)
            and rest(v.shape) == rest(value.shape)
        )
    )
    assert other is not None
    return p.step(f"concat{axis}", lambda x, y: jnp.concatenate((x, y, x), axis), [value, other])


# -- reductions, windows ---------------------------------------------------------------------------


def _reduce(p: Program) -> Value | None:
    value = p.pick(lambda v: len(v.shape) > 0)
    if value is None:
        return None
    axes = _axes(p.rng, len(value.shape))
    count = math.prod(value.shape[a] for a in axes)
    keep = p.rng.random() < 0.3
    if value.is_bool:
        label = p.rng.choice(("any", "all", "sum", "argmax"))
    else:
        bits = ("bitwise_and", "bitwise_or", "bitwise_xor") if value.is_integer else ()
        cumulative = ("cumsum", "cummax", "cummin")
        label = p.rng.choice(("sum", "max", "min", "prod", "mean", "argmax", *cumulative, *bits))
    if label == "argmax":
        if not value.exact:
            return None
        name = p.rng.choice(("argmax", "argmin"))
        return p.step(f"{name}{axes[0]}", lambda x: getattr(jnp, name)(x, axes[0]), [value])
    if label.startswith("cum"):
        bound = value.bound * value.shape[axes[0]] if label == "cumsum" else value.bound
        reverse = p.rng.random() < 0.5
        function = getattr(lax, label)
        return p.step(
            f"{label}{axes[0]}", lambda x: function(x, axes[0], reverse), [value], bound=bound
        )
    if label.startswith("bitwise"):
        ufunc = getattr(jnp, label)
        return p.step(f"{label}.reduce{axes[0]}", lambda x: ufunc.reduce(x, axes[0]), [value])
    bound = value.bound
    if label == "sum":
        bound *= count
    elif label == "prod":
        bound = max(bound, 1) ** min(count, 30)
    elif label == "mean" and not value.is_float:
        return None
    function = getattr(jnp, label)
    return p.step(
        f"{label}{axes}{'k' * keep}",
        lambda x: function(x, axis=axes, keepdims=keep),
        [value],
        bound=bound,
        exact=value.exact and label != "mean",
    )


def _window(p: Program) -> Value | None:
    value = p.pick(lambda v: len(v.shape) in (1, 2, 3, 4) and not v.is_bool)
    if value is None:
        return None
    window = tuple(p.rng.randint(1, min(n, 3)) for n in value.shape)
    strides = tuple(p.rng.randint(1, 2) for _ in value.shape)
    padding = p.rng.choice(("SAME", "VALID"))
    bits = ("and", "or", "xor") if value.is_integer else ()
    label = p.rng.choice(("add", "max", "min", *bits))
    low, high = (-np.inf, np.inf)
    if value.is_integer:
        low, high = np.iinfo(value.dtype).min, np.iinfo(value.dtype).max
        ones = high if value.dtype.startswith("u") else -1
    else:
        ones = 0
    init = {"add": 0, "max": low, "min": high, "and": ones, "or": 0, "xor": 0}[label]
    combine = {
        **{"add": lax.add, "max": lax.max, "min": lax.min},
        **{"and": lax.bitwise_and, "or": lax.bitwise_or, "xor": lax.bitwise_xor},
    }[label]
    start = np.array(init).astype(value.dtype)
    return p.step(
        f"window_{label}{window}{strides}{padding}",
        lambda x: lax.reduce_window(x, start, combine, window, strides, padding),
        [value],
        bound=value.bound * (math.prod(window) if label == "add" else 1),
        # A sum of floats over windows is an average times the number of elements.
        exact=value.exact and (label != "add" or not value.is_float),
    )


# -- products --------------------------------------------------------------------------------------


def _dot(p: Program) -> Value | None:
    a = p.pick(lambda v: 0 < len(v.shape) <= 4 and not v.is_bool)
    if a is None:
        return None
    rank = len(a.shape)
    order = p.rng.sample(range(rank), rank)
    batch = order[: p.rng.randint(0, rank - 1)]
    contract = order[len(batch) : len(batch) + p.rng.randint(0, 2)]
    free = [p.rng.choice(EXTENTS) for _ in range(p.rng.randint(0, 2))]
    letters = "abcd"[:rank]
    dims = [letters[d] for d in (*batch, *contract)]
    new = ["xy"[i] for i in range(len(free))]
    extents = {letters[d]: a.shape[d] for d in range(rank)} | dict(zip(new, free, strict=True))
    right = p.rng.sample([*dims, *new], len(dims) + len(new))
    if math.prod(extents[each] for each in right) > MOST_ELEMENTS:
        return None
    numbers = np.array(
        [p.rng.randint(0, 2) for _ in range(math.prod(extents[each] for each in right))]
    ).reshape([extents[each] for each in right])
    host = ml_dtypes.bfloat16 if a.dtype == "bfloat16" else np.dtype(a.dtype)
    out = [each for each in (*letters, *new) if each not in {letters[d] for d in contract}]
    out = p.rng.sample(out, len(out))
    equation = f"{letters},{''.join(right)}->{''.join(out)}"
    depth = math.prod(a.shape[d] for d in contract)
    constant = numbers.astype(host)
    return p.step(
        f"einsum[{equation}]",
        lambda x: jnp.einsum(equation, x, constant),
        [a],
        bound=a.bound * 2 * depth,
    )


def _convolution(p: Program) -> Value | None:
    a = p.pick(lambda v: len(v.shape) in (3, 4) and v.dtype == "float32")
    if a is None:
        return None
    rng, rank = p.rng, len(a.shape)
    spatial = "HW"[: rank - 2]
    lhs = "".join(rng.sample("NC" + spatial, rank))
    rhs = "".join(rng.sample("OI" + spatial, rank))
    out = "".join(rng.sample("NC" + spatial, rank))
    extents = dict(zip(lhs, a.shape, strict=True))
    groups = rng.choice([n for n in (1, 2, 3) if extents["C"] % n == 0])
    kernel = {"O": groups * rng.randint(1, 3), "I": extents["C"] // groups}
    kernel |= {s: rng.randint(1, 3) for s in spatial}
    strides = [rng.randint(1, 2) for _ in spatial]
    lhs_dilation = [rng.choice((1, 1, 2)) for _ in spatial]
    rhs_dilation = [rng.choice((1, 1, 2)) for _ in spatial]
    padding = [
        (rng.randint(0, 2) + kernel[s] * rhs_dilation[i], rng.randint(0, 2))
        for i, s in enumerate(spatial)
    ]
    shape = [kernel[each] for each in rhs]
    weights = np.array([rng.randint(-2, 2) for _ in range(math.prod(shape))], np.float32)
    weights = weights.reshape(shape)
    depth = math.prod(kernel.values()) // kernel["O"]
    return p.step(
        f"conv[{lhs},{rhs}->{out}]{strides}{padding}{lhs_dilation}{rhs_dilation}g{groups}",
        lambda x: lax.conv_general_dilated(
            x,
            weights,
            strides,
            padding,
            lhs_dilation,
            rhs_dilation,
            (lhs, rhs, out),
            groups,
        ),
        [a],
        bound=a.bound * 2 * depth,
    )


# -- indices --------------------------------------------------------------------------------


def _indexing(p: Program) -> Value | None:  # noqa: C901 (one branch for each kind)
    value = p.pick(lambda v: len(v.shape) > 0)
    index = p.pick(lambda v: v.dtype == "int32" and v.size < 40)
    if value is None or index is None:
        return None
    axis = p.rng.randrange(len(value.shape))
    mode = p.rng.choice(("clip", "fill", "wrap"))
    n = value.shape[axis]
    kind = p.rng.choice(
        ("take", "dynamic_slice", "update", "set", "add", "max", "at_first", "one_hot", "two")
    )
    if kind == "take":
        number = None if value.is_float else 1

        def take(x: Array, i: Array) -> Array:
            return jnp.take(x, i % 32, axis, mode=mode, fill_value=number or 0)

        return p.step(f"take{axis}{mode}", take, [value, index])
    if kind == "dynamic_slice":
        sizes = [p.rng.randint(1, each) for each in value.shape]
        return p.step(
            f"dynamic_slice{sizes}",
            lambda x, i: lax.dynamic_slice(x, [jnp.ravel(i)[0] + k for k in range(x.ndim)], sizes),
            [value, index],
        )
    if kind == "update":
        sizes = [p.rng.randint(1, each) for each in value.shape]
        return p.step(
            f"dynamic_update_slice{sizes}",
            lambda x, i: lax.dynamic_update_slice(
                x, lax.slice(x, [0] * x.ndim, sizes), [jnp.ravel(i)[0] - k for k in range(x.ndim)]
            ),
            [value, index],
        )
    if kind == "one_hot":
        return p.step("one_hot", lambda i: jax.nn.one_hot(i % 6, 5), [index], bound=1)
    if kind == "two":
        return p.step(
            "two_indices",
            lambda x, i: jnp.swapaxes(x, 0, axis)[jnp.ravel(i) % n, ..., jnp.newaxis],
            [value, index],
        )
    if value.is_bool:
        return None
    if kind == "at_first":
        return p.step(
            "at_multiply",
            lambda x, i: x.at[jnp.ravel(i)[0] % x.shape[0]].multiply(jnp.full((), 2, x.dtype)),
            [value, index],
            bound=2 * value.bound,
        )
    # Of several writes to one place the last one wins nowhere by promise: indices differ.
    mode = p.rng.choice(("drop", "clip"))

    def scatter(x: Array, i: Array) -> Array:
        i = jnp.arange(3) * 2 - 1 if kind == "set" else jnp.ravel(i) % 16 - 4
        at = jnp.moveaxis(x, axis, 0).at[i]
        if kind == "set":
            return at.set(jnp.ones((), x.dtype), mode="drop")
        return getattr(at, kind)(jnp.ones((), x.dtype), mode=mode)

    return p.step(f"scatter_{kind}{axis}{mode}", scatter, [value, index], bound=value.bound + 40)


# -- control flow ----------------------------------------------------------------------------------


def _loop(p: Program) -> Value | None:
    value = p.pick(lambda v: v.is_float and len(v.shape) > 0)
    if value is None:
        return None
    kind = p.rng.choice(("fori", "scan", "cond", "map"))
    if kind == "fori":
        return p.step(
            "fori",
            lambda x: lax.fori_loop(0, 3, lambda i, y: jnp.tanh(y + i.astype(y.dtype)), x),
            [value],
            bound=1,
            exact=False,
        )
    if kind == "scan":
        return p.step(
            "scan",
            lambda x: lax.scan(lambda c, e: (c * 0.5 + e, c - e), x[0], x)[1],
            [value],
            bound=3 * value.bound,
            exact=False,
        )
    if kind == "map":
        return p.step(
            "map",
            lambda x: lax.map(lambda e: jnp.cumsum(jnp.ravel(e))[-1], x),
            [value],
            bound=value.bound * value.size,
        )
    if not value.exact:
        return None
    return p.step(
        "cond",
        lambda x: lax.cond(jnp.sum(x) > 0, lambda y: y * 2, lambda y: y + 1, x),
        [value],
        bound=2 * value.bound + 1,
    )


KINDS: tuple[tuple[int, Step], ...] = (
    (5, _unary),
    (6, _binary),
    (2, _where),
    (2, _convert),
    (6, _movement),
    (2, _concatenate),
    (4, _reduce),
    (2, _window),
    (3, _dot),
    (2, _convolution),
    (4, _indexing),
    (1, _loop),
)


def random_program(seed: int, steps: int = 10) -> Program:
    """The program of a seed, with up to that many steps."""
    p = Program(random.Random(seed))
    for dtype in ("float32", p.rng.choice(FLOATS), p.rng.choice(INTEGERS), "bool", "int32"):
        rank = p.rng.choice((0, 1, 2, 3, 3, 4, 4))
        _ = p.argument(tuple(p.rng.choice(EXTENTS) for _ in range(rank)), dtype)
    weights, kinds = zip(*KINDS, strict=True)
    for _ in range(p.rng.randint(3, steps)):
        _ = p.rng.choices(kinds, weights)[0](p)
    return p
