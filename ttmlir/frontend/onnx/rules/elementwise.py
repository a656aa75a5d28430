"""Operators that compute each element from the elements at the same place."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from operator import methodcaller

from ttmlir.arrays.array import TRUTH, Array
from ttmlir.arrays.namespace import ARRAYS
from ttmlir.composites.arithmetic import floor_remainder, power, tanh_gelu
from ttmlir.composites.bits import SMALL_FLOATS as FORMATS
from ttmlir.composites.bits import round_to_small_float, width_of
from ttmlir.frontend.onnx.call import Call, Rule, on_arrays
from ttmlir.frontend.onnx.elements import (
    SMALL_FLOATS,
    SMALL_INTEGERS,
    Tensor,
    type_name,
)
from ttmlir.optable import named_in
from ttmlir.optable.op_definition import Family, OpDefinition
from ttmlir.optable.special import elu, log_one_plus_exp

# -- operators that mean what a row of the table of operations means ---------------------------


def _rule_of(definition: OpDefinition) -> Rule:
    if definition.family is Family.UNARY:
        function = methodcaller("apply", definition.mnemonic)
        return lambda call: function(_first(call))
    return lambda call: _apply(definition.mnemonic, *_pair(call))


def _first(call: Call) -> Array:
    """The only input, whatever its name is."""
    (name,) = call.inputs
    return call.array(name)


def _pair(call: Call) -> tuple[Array, Array]:
    """Two inputs; those of old operator sets broadcast from a dimension on."""
    a, b = call.array("A"), call.array("B")
    if call["broadcast"] and b.rank < a.rank:
        at = a.rank - b.rank if call["axis"] is None else call.dim(a.rank)
        b = b.reshape((*b.shape, *(1,) * (a.rank - at - b.rank)))
    return a, b


def _apply(mnemonic: str, a: Array, b: Array) -> Array:
    return a.apply(mnemonic, b)


def _fold(function: Callable[[Array, Array], Array]) -> Rule:
    """A function of two for all inputs, of which there may be many."""

    def rule(call: Call) -> Array:
        (name,) = call.inputs
        return reduce(function, call.arrays(name))

    return rule


def _mean(call: Call) -> Array:
    arrays = call.arrays("data_0")
    return reduce(lambda a, b: a + b, arrays) / len(arrays)


# -- functions of one tensor -------------------------------------------------------------------


def _alpha(function: Callable[[Array, float], Array]) -> Rule:
    return lambda call: function(call.array("X"), float(call["alpha"]))


def leaky_relu(x: Array, alpha: float) -> Array:
    """x times alpha below 0."""
    return x.leaky_relu(parameter=alpha)


def elu_of(x: Array, alpha: float) -> Array:
    """`alpha * (exp(x) - 1)` below 0."""
    return elu(ARRAYS, x, alpha=alpha, scale=1.0, input_scale=1.0)


def _celu(x: Array, alpha: float) -> Array:
    return elu(ARRAYS, x, alpha=alpha, scale=1.0, input_scale=1 / alpha)


def _selu(call: Call) -> Array:
    gamma = float(call["gamma"])
    return elu(ARRAYS, call.array("X"), alpha=float(call["alpha"]), scale=gamma, input_scale=1.0)


def thresholded_relu(x: Array, alpha: float) -> Array:
    """0 up to alpha."""
    return (x > alpha).where(x, 0)


def hard_sigmoid(x: Array, alpha: float, beta: float) -> Array:
    """`alpha * x + beta`, between 0 and 1."""
    return (x * alpha + beta).limit(0.0, 1.0)


def _hard_sigmoid(call: Call) -> Array:
    return hard_sigmoid(call.array("X"), float(call["alpha"]), float(call["beta"]))


def _hard_swish(call: Call) -> Array:
    x = call.array("X")
    return x * x.hardsigmoid()


def softplus(x: Array) -> Array:
    """The logarithm of `exp(x) + 1`."""
    return log_one_plus_exp(ARRAYS, x)


def softsign(x: Array) -> Array:
    """`x / (abs(x) + 1)`."""
    return x / (x.abs() + 1)


def _mish(call: Call) -> Array:
    x = call.array("X")
    return x * softplus(x).tanh()


def swish(x: Array, alpha: float) -> Array:
    """`x` times the sigmoid of `alpha * x`."""
    return x.silu() if alpha == 1 else x * (x * alpha).sigmoid()


def _gelu(call: Call) -> Array:
    x = call.array("X")
    return x.gelu() if call.choose("approximate", ("none", "tanh")) == "none" else tanh_gelu(x)


def _prelu(call: Call) -> Array:
    x, slope = call.array("X"), call.array("slope")
    if call.version < 7 and slope.rank == 1 and x.rank > 1:
        slope = slope.reshape((slope.shape[0], *(1,) * (x.rank - 2)))
    return (x < 0).where(x * slope, x)


def _shrink(call: Call) -> Array:
    x, bias, limit = call.array("input"), float(call["bias"]), float(call["lambd"])
    if not x.is_real:
        wide = x.cast("f32")
        return _shrink_by(wide, bias, limit).cast(x.dtype)
    return _shrink_by(x, bias, limit)


def _shrink_by(x: Array, bias: float, limit: float) -> Array:
    return (x < -limit).where(x + bias, (x > limit).where(x - bias, 0))


def _clip(call: Call) -> Array:
    x = call.array("input")
    for name, mnemonic in (("min", "maximum"), ("max", "minimum")):
        if call[name] is not None:
            x = x.apply(mnemonic, float(call[name]))
        elif call.has(name):
            x = x.apply(mnemonic, call.array(name).reshape(()))
    return x


def _is_infinite(call: Call) -> Array:
    x = call.array("X")
    signs = [
        number
        for number, is_asked in (
            (math.inf, call["detect_positive"]),
            (-math.inf, call["detect_negative"]),
        )
        if is_asked
    ]
    if not signs or not x.is_real:
        return x.fill(False, dtype=TRUTH)
    return x.abs().eq(math.inf) if len(signs) == 2 else x.eq(signs[0])


# -- functions of two tensors ------------------------------------------------------------------


def _pow(call: Call) -> Array:
    base, exponent = call.array("X"), call.array("Y")
    if call["broadcast"]:
        exponent = exponent.reshape(
            (*exponent.shape, *(1,) * (base.rank - exponent.rank - (call["axis"] or 0)))
        )
    if base.is_real and exponent.carrier.holds_numbers and exponent.value.size == 1:
        if exponent.rank <= base.rank:
            return power(base, float(exponent.value.reshape(())))
    if exponent.dtype == base.dtype:
        return _apply("pow", base, exponent)
    if base.is_real:
        return _apply("pow", base, exponent.cast(base.dtype))
    if not exponent.is_real:
        return _apply("pow", base, exponent.cast(base.dtype))
    return _apply("pow", base.cast(exponent.dtype), exponent).cast(base.dtype)


def _mod(call: Call) -> Array:
    a, b = call.array("A"), call.array("B")
    return a.remainder(b) if call["fmod"] else floor_remainder(a, b)


def _shift(call: Call) -> Array:
    is_left = call.choose("direction", ("LEFT", "RIGHT")) == "LEFT"
    x, count = call.array("X"), call.array("Y")
    width, is_signed = width_of(x.dtype), not x.dtype.startswith("u")
    is_inside = count < width
    if is_signed:
        is_inside = is_inside & (count >= 0)
    if is_left or not is_signed:
        # What is moved by all bits and more is nothing.
        mnemonic = "logical_left_shift" if is_left else "logical_right_shift"
        return is_inside.where(x.apply(mnemonic, count), 0)
    # The inverse of a number below 0 is not; what moves in is the sign.
    is_below = x < 0
    size = is_below.where(x.bitwise_not(), x)
    moved = is_inside.where(size.logical_right_shift(count), 0)
    return is_below.where(moved.bitwise_not(), moved)


def _where(call: Call) -> Array:
    return call.array("condition").where(call.array("X"), call.array("Y"))


# -- types -------------------------------------------------------------------------------------


def _cast(call: Call) -> Tensor:
    return cast_to(call, call.tensor("input"), type_name(int(call.required("to"))))


def _cast_like(call: Call) -> Tensor:
    return cast_to(call, call.tensor("input"), call.tensor("target_type").type)


def cast_to(call: Call, given: Tensor, name: str) -> Tensor:
    """A tensor in another element type, by ONNX's name."""
    x, dtype = call.use(given.array), call.dtype_of(name)
    if name == given.type:
        return given
    if name in SMALL_FLOATS:
        return Tensor(
            round_to_format(x, name, saturate=call["saturate"] != 0, mode=call["round_mode"]), name
        )
    if name in SMALL_INTEGERS:
        return Tensor(_keep_bits(x, name), name)
    return Tensor(x.ne(0) if dtype == TRUTH else x.cast(dtype), name)


def _keep_bits(x: Array, name: str) -> Array:
    """The lowest bits of whole numbers, as integers of few bits with or without a sign."""
    low, high = SMALL_INTEGERS[name]
    count = high - low + 1
    lowest = x.cast("i32") & (count - 1)
    return ((lowest > high).where(lowest - count, lowest)).cast("i8" if low else "ui8")


def round_to_format(x: Array, name: str, *, saturate: bool, mode: str | None = None) -> Array:
    """Numbers rounded to a format of few bits, which bf16 holds; `mode` is that of powers of 2."""
    form, x = FORMATS[SMALL_FLOATS[name]], x.cast("f32")
    if form.is_scale:
        return _round_to_power(x, mode or "up", saturate=saturate)
    rounded = round_to_small_float(x, form)
    if saturate:
        is_number = x.eq(x)
        rounded = is_number.where(rounded.limit(-form.largest, form.largest), rounded)
        limits = (x > form.largest).where(form.largest, rounded)
        rounded = (x < -form.largest).where(-form.largest, limits)
    return rounded.cast("bf16")


def _round_to_power(x: Array, mode: str, *, saturate: bool) -> Array:
    """Powers of 2 from the least one of f32 to 2^127; NaN of what has none."""
    bits = x.bitcast("i32")
    half = {"up": (1 << 23) - 1, "nearest": 1 << 22, "down": 0}.get(mode, 0)
    exponent = (bits + half) >> 23
    if saturate:
        exponent = exponent.limit(0, 254)
    power = exponent.eq(0).where(2.0**-127, (exponent << 23).bitcast("f32"))
    is_power = (bits >= 0) & x.eq(x) & (exponent < 255)
    return is_power.where(power, math.nan).cast("bf16")


def _bit_cast(call: Call) -> Tensor:
    name = type_name(int(call.required("to")))
    given, dtype = call.tensor("input"), call.dtype_of(name)
    if {name, given.type} & {*SMALL_FLOATS, *SMALL_INTEGERS}:
        call.refuse("the bits of types of fewer than 8 bits, and of f8, are not kept")
    x = call.use(given.array)
    if TRUTH in (x.dtype, dtype):
        # A truth value is a byte, 0 or 1.
        byte = x.cast("ui8") if x.dtype == TRUTH else x.bitcast("ui8")
        return Tensor(byte.ne(0) if dtype == TRUTH else byte.bitcast(dtype), name)
    return Tensor(x.bitcast(dtype), name)


# -- nothing to compute ------------------------------------------------------------------------


def _identity(call: Call) -> object:
    return call.inputs["input" if "input" in call.inputs else "X"]


def _dropout(call: Call) -> object:
    x = call.tensor("data")
    if call.version >= 12:
        is_training = bool(call.number("training_mode", 0))
        ratio = float(call.number("ratio", 0.5))
    else:
        is_training = call["is_test"] == 0 and call.version < 7
        ratio = float(call["ratio"])
    if is_training and ratio:
        call.refuse(
            "in training it is random, which is not supported; export the model for inference"
        )
    return x, call.fill(True, x.array.shape, TRUTH)


_NAMED = {name.removeprefix("onnx."): definition for name, definition in named_in("onnx").items()}

RULES: dict[str, Rule] = {
    **{
        name: _rule_of(definition)
        for name, definition in _NAMED.items()
        if definition.family.is_elementwise
    },
    "BitCast": _bit_cast,
    "BitShift": _shift,
    "Cast": _cast,
    "CastLike": _cast_like,
    "Celu": _alpha(_celu),
    "Clip": _clip,
    "Dropout": _dropout,
    "Elu": _alpha(elu_of),
    "Gelu": _gelu,
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _hard_swish,
    "Identity": _identity,
    "IsInf": _is_infinite,
    "IsNaN": lambda call: call.array("X").is_nan(),
    "LeakyRelu": _alpha(leaky_relu),
    "Max": _fold(lambda a, b: a.maximum(b)),
    "Mean": _mean,
    "Min": _fold(lambda a, b: a.minimum(b)),
    "Mish": _mish,
    "Mod": _mod,
    "PRelu": _prelu,
    "Pow": _pow,
    "Selu": _selu,
    "Shrink": _shrink,
    "Softplus": on_arrays(softplus, "X"),
    "Softsign": on_arrays(softsign, "input"),
    "Sum": _fold(lambda a, b: a + b),
    "Swish": _alpha(swish),
    "ThresholdedRelu": _alpha(thresholded_relu),
    "Where": _where,
}
"""Rules by the names of operators."""
