"""Operations on the elements of one tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError
from ttmlir.ttnn.operations.elementwise import meanings
from ttmlir.ttnn.operations.elementwise.activations import activation_of
from ttmlir.ttnn.operations.elementwise.meanings import Meaning, Takes
from ttmlir.ttnn.operations.elementwise.tables import UNARY_TAIL, declare
from ttmlir.ttnn.operations.operation import Operation, table_of
from ttmlir.ttnn.tensor.tensor import Tensor

_ONE = ("input_tensor",)


def _declare(text: str, arguments: str = "", meaning: Meaning | None = None, **facts: Any) -> Any:
    return declare(text, _ONE, UNARY_TAIL, arguments=arguments, meaning=meaning, **facts)


def _array(value: Any) -> Any:
    return value.array if isinstance(value, Tensor) else value


def _prelu(xp: Any, x: Any, *, weight: Any) -> Any:
    """x, or the weight of its channel times a negative one."""
    weights = np.asarray(_array(weight), x.dtype)
    channels = x.shape[1] if x.ndim > 1 else 1
    if weights.ndim == 1 and weights.size not in (1, channels):
        raise ArgumentError(f"weight has {weights.size} numbers for {channels} channels")
    if weights.ndim == 1 and weights.size > 1 and x.ndim > 1:
        weights = weights.reshape(1, -1, *(1,) * (x.ndim - 2))
    return xp.where(x >= 0, x, weights * x)


def _clamp(xp: Any, x: Any, *, min: Any, max: Any) -> Any:
    return meanings.clamp(xp, x, min=_array(min), max=_array(max))


def _chain(xp: Any, x: Any, *, ops_chain: Any) -> Any:
    for each in ops_chain:
        x = activation_of(each)(x)
    return x


_APPROXIMATED = "sqrt rsqrt exp erf erfc gelu log log1p tanh sigmoid_accurate=sigmoid"

_NOT_AS_ROWS = "sigmoid round typecast population_count count_leading_zeros"
"""Rows that ttnn does not have, or with arguments of its own."""

_ROWS = " ".join(
    name for name in meanings.UNARY_ROWS if name not in f"{_APPROXIMATED} {_NOT_AS_ROWS}".split()
)

_SELU = "*, scale=1.0507009873554805, alpha=1.6732632423543772"

OPERATIONS: dict[str, Operation] = table_of(
    _declare(f"{_ROWS} swish=silu"),
    _declare(_APPROXIMATED, "fast_and_approximate_mode=False"),
    _declare("sigmoid", "*, vector_mode=4, fast_and_approximate_mode=False"),
    *(
        _declare(name, meaning=meaning, takes=takes)
        for takes, table in meanings.PLAIN.items()
        for name, meaning in table.items()
    ),
    *(
        _declare(name, "fast_and_approximate_mode=False", meaning, takes=Takes.FLOATS)
        for name, meaning in meanings.APPROXIMATED.items()
    ),
    _declare("heaviside", "value", meanings.heaviside, takes=Takes.FLOATS),
    _declare("leaky_relu", "negative_slope", parameters=(("parameter", "negative_slope"),)),
    _declare("relu_max", "upper_limit", meanings.relu_max),
    _declare("relu_min", "lower_limit", meanings.relu_min),
    _declare("polygamma", "k", meanings.polygamma, takes=Takes.FLOATS),
    _declare("rpow", "exponent", meanings.raise_number, takes=Takes.FLOATS),
    _declare("fill", "fill_value", meanings.fill),
    _declare("threshold", "threshold, value", meanings.threshold, takes=Takes.FLOATS),
    _declare("rdiv", "value, *, rounding_mode=None", meanings.divide_number, takes=Takes.FLOATS),
    _declare("elu", "alpha=1.0", meanings.elu, takes=Takes.FLOATS),
    _declare("celu", "*, alpha=1.0", meanings.celu, takes=Takes.FLOATS),
    _declare("selu", _SELU, meanings.selu, takes=Takes.FLOATS),
    _declare("hardtanh", "*, min_val=-1.0, max_val=1.0", meanings.hardtanh, takes=Takes.FLOATS),
    _declare("softplus", "*, beta=1.0, threshold=20.0", meanings.softplus, takes=Takes.FLOATS),
    _declare("hardshrink", "*, lambd=0.5", meanings.hardshrink, takes=Takes.FLOATS),
    _declare("softshrink", "*, lambd=0.5", meanings.softshrink, takes=Takes.FLOATS),
    _declare("logit", "*, eps=None", meanings.logit, takes=Takes.FLOATS),
    _declare("round", "*, decimals=0", meanings.round_decimals, takes=Takes.FLOATS),
    _declare("tril", "*, diagonal=0", meanings.triangle("tril")),
    _declare("triu", "*, diagonal=0", meanings.triangle("triu")),
    _declare("clamp clip", "min=None, max=None", _clamp),
    _declare("glu", "dim=-1", meanings.glu("sigmoid"), takes=Takes.FLOATS),
    _declare("reglu", "dim=-1", meanings.glu("relu")),
    _declare("geglu", "dim=-1", meanings.glu("gelu"), takes=Takes.FLOATS),
    _declare("swiglu", "dim=-1", meanings.glu("silu"), takes=Takes.FLOATS),
    _declare("unary_chain", "ops_chain", _chain),
    _declare("prelu", "weight", _prelu, takes=Takes.FLOATS),
)
