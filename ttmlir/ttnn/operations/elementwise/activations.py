"""Unary functions by name, as other operations apply them to their operands and results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from inspect import signature
from numbers import Real
from typing import Any, cast

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.metalium.enums import NamedNumber
from ttmlir.optable import special
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.elementwise import semantics
from ttmlir.ttnn.operations.elementwise.semantics import reference_of
from ttmlir.ttnn.operations.signature import spell_value

_WITH_NUMBER: dict[str, Callable[[Any, Any, float], Any]] = {
    "power": lambda xp, x, exponent: xp.power(x, exponent),
    "power_iterative": lambda xp, x, exponent: xp.power(x, exponent),
    "add_unary_sfpu": lambda xp, x, number: x + number,
    "sub_unary_sfpu": lambda xp, x, number: x - number,
    "mul_unary_sfpu": lambda xp, x, number: x * number,
    "div_unary_sfpu": lambda xp, x, number: x / number,
    "rsub": lambda xp, x, number: number - x,
    "rdiv": lambda xp, x, number: number / x,
    "unary_eq": lambda xp, x, number: x == number,
    "unary_ne": lambda xp, x, number: x != number,
    "unary_gt": lambda xp, x, number: x > number,
    "unary_lt": lambda xp, x, number: x < number,
    "unary_ge": lambda xp, x, number: x >= number,
    "unary_le": lambda xp, x, number: x <= number,
    "maximum": lambda xp, x, number: xp.maximum(x, number),
    "minimum": lambda xp, x, number: xp.minimum(x, number),
    "fmod": lambda xp, x, number: xp.fmod(x, number),
    "remainder": lambda xp, x, number: xp.remainder(x, number),
    "prelu_sfpu": lambda xp, x, slope: xp.where(x >= 0, x, slope * x),
}


def _elu(xp: Any, x: Any, alpha: float = 1.0) -> Any:
    return special.elu(xp, x, alpha=alpha)


def _celu(xp: Any, x: Any, alpha: float = 1.0) -> Any:
    return semantics.celu(xp, x, alpha=alpha)


def _softplus(xp: Any, x: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    return special.softplus(xp, x, beta=beta, threshold=threshold)


def _selu(xp: Any, x: Any) -> Any:
    return special.selu(xp, x, scale=1.0507009873554805, alpha=1.6732632423543772)


def _leaky_relu(xp: Any, x: Any, slope: float = 0.01) -> Any:
    return xp.where(x >= 0, x, slope * x)


_FUNCTIONS: dict[str, Callable[..., Array]] = {
    **{name: reference_of(name) for name in semantics.UNARY_OPERATIONS},
    **semantics.APPROXIMATED,
    **{name: each for table in semantics.PLAIN.values() for name, each in table.items()},
    **_WITH_NUMBER,
    "abs_int32": reference_of("abs"),
    "celu": _celu,
    "clamp_tss": semantics.hardtanh,
    "elu": _elu,
    "fill": semantics.fill,
    "gelu_approx": reference_of("gelu"),
    "hardshrink": semantics.hardshrink,
    "hardtanh": semantics.hardtanh,
    "heaviside": special.heaviside,
    "leaky_relu": _leaky_relu,
    "logical_not_unary": reference_of("logical_not"),
    "logsigmoid": special.log_sigmoid,
    "recip": reference_of("reciprocal"),
    "relu_max": special.relu_max,
    "relu_min": semantics.relu_min,
    "rpow": semantics.raise_number,
    "selu": _selu,
    "sigmoid_approx": reference_of("sigmoid"),
    "softplus": _softplus,
    "softshrink": semantics.softshrink,
    "threshold": semantics.threshold,
}
"""Functions by their names in lower case; parameters follow the array."""

_CHOICES_OF_SPEED = {
    **dict.fromkeys(("erf", "erfc", "exp", "gelu", "log", "log10", "log1p", "log2"), 1),
    **dict.fromkeys(("rsqrt", "sqrt", "tanh"), 1),
    "sigmoid": 2,
}
"""How many parameters of a function only choose how fast the card is; functions are exact here."""


class UnaryType(NamedNumber):
    """Base of `UnaryOpType`."""

    @property
    def function(self) -> Callable[..., Array]:
        """The function of NumPy, the array and the parameters."""
        return _FUNCTIONS[self.name.lower()]


UnaryOpType: Any = UnaryType(
    "UnaryOpType", {name.upper(): number for number, name in enumerate(_FUNCTIONS, 1)}
)
"""Unary functions, by the names that ttnn gives them."""


class UnaryWithParam:
    """A unary function with its parameters."""

    def __init__(self, op_type: Enum, param: float | Sequence[float] | None = None) -> None:
        """A member of `UnaryOpType`, and a number or several."""
        self.op_type = op_type
        given = () if param is None else param
        self.params = tuple(given) if isinstance(given, list | tuple) else (given,)

    def __eq__(self, other: object) -> bool:
        """Whether function and parameters are the same."""
        return isinstance(other, UnaryWithParam) and (self.op_type, self.params) == (
            other.op_type,
            other.params,
        )

    def __hash__(self) -> int:
        """By function and parameters."""
        return hash((self.op_type, self.params))

    def __repr__(self) -> str:
        """As a call that makes it."""
        parameters = "".join(f", {each}" for each in self.params)
        return f"UnaryWithParam(UnaryOpType.{self.op_type.name}{parameters})"


def activation_of(activation: Any) -> Callable[[Array], Array]:
    """The function of an activation: its name, a member of `UnaryOpType`, or with parameters.

    Parameters come in a `UnaryWithParam`, or as a pair of a member and a number. ValueError for
    names that no function has, and for parameters that it does not take.
    """
    parameters: tuple[Any, ...] = ()
    if _is_pair(activation):
        activation = UnaryWithParam(*activation)
    if isinstance(activation, UnaryWithParam):
        activation, parameters = activation.op_type, activation.params
    name = activation.name.lower() if isinstance(activation, Enum) else str(activation)
    function = _FUNCTIONS.get(name)
    if function is None:
        raise ArgumentError(
            f"unknown activation '{name}'; known are {', '.join(sorted(_FUNCTIONS))}"
        )
    if len(parameters) <= _CHOICES_OF_SPEED.get(name, 0):
        parameters = ()
    _check_parameters(name, function, parameters)
    return lambda array: function(np, array, *parameters)


def _is_pair(activation: Any) -> bool:
    """Whether it is a member of `UnaryOpType` and its parameter, and no chain of two functions."""
    match activation:
        # Members are numbers, too.
        case (UnaryType(), Enum()):
            return False
        case (UnaryType(), Real()):
            return isinstance(activation, tuple)
        case _:
            return False


def _check_parameters(
    name: str, function: Callable[..., Array], parameters: tuple[Any, ...]
) -> None:
    try:
        signature(function).bind(np, None, *parameters)
    except TypeError:
        taken = ", ".join([*signature(function).parameters][2:])
        raise ArgumentError(
            f"the parameters of activation '{name}' are ({taken}), but {len(parameters)} were "
            f"given; give them as in ttnn.UnaryWithParam(ttnn.UnaryOpType.{name.upper()}, [...])"
        ) from None


def chain_of(given: Any, name: str) -> list[Any]:
    """The activations of an argument in order: none, one or several; TypeError for others."""
    if given is None:
        return []
    if isinstance(given, str | Enum | UnaryWithParam) or _is_pair(given):
        return [given]
    if isinstance(given, list | tuple):
        return [*cast("Sequence[Any]", given)]
    raise ArgumentTypeError(
        f"{name} is a list of names of functions, or of ttnn.UnaryWithParam, not "
        f"{spell_value(given)}"
    )


def apply_activations(array: Array, chain: Any, name: str = "activation") -> Array:
    """Unary operations of an argument, one after another; errors as `chain_of`, `activation_of`."""
    for each in chain_of(chain, name):
        array = activation_of(each)(array)
    return array
