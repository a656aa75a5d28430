"""Elementwise operations: operands broadcast as in NumPy, one result element per position.

Order matters: the number of an operation in the flatbuffer enumeration `EltwiseOpType` is fixed
by its `kind`, and new kinds are only ever appended to the schema.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypedDict, Unpack

from ttmlir.errors import ArgumentError
from ttmlir.optable import special
from ttmlir.optable.op_definition import (
    Domain,
    Family,
    Flatbuffer,
    Kind,
    OpDefinition,
    Operand,
    Parameter,
)

# --- Declaring ------------------------------------------------------------------------------------
# How definitions of elementwise operations are written down: what all of them share is filled in.

REFERENCE = "880154e3c2"
"""The commit of tt-mlir whose operations are all here."""
_LATER = "2026-08"
"""The tt-mlir of this month, whose list the definitions beyond the reference are taken from."""
_FIELDS = (("type", "type"), ("ins", "inputs"), ("out", "output"))
_PARAMETER_FIELD = ("parameters", "parameters")
_OPERAND_NAMES = {
    Family.UNARY: ("input",),
    Family.BINARY: ("lhs", "rhs"),
    Family.TERNARY: ("condition", "on_true", "on_false"),
}


class Facts(TypedDict, total=False):
    """Fields of `OpDefinition` that few operations have; names of operations are separated by
    blanks."""

    kind: str
    """The enumerator in `EltwiseOpType`, where it is not the mnemonic in camel case."""
    parameters: tuple[Parameter, ...]
    since: str
    aliases: str
    truth_aliases: str
    unsigned_aliases: str
    number_aliases: str
    on_truth: str
    direction: str
    gives_truth: bool
    ignores_sign: bool
    commutes: bool
    identity: float
    generic: bool
    takes_types: bool
    ttnn_refuses_integers: bool


def declare(
    family: Family,
    mnemonic: str,
    summary: str,
    formula: str,
    reference: str | Callable[..., Any],
    *domains: Domain,
    **facts: Unpack[Facts],
) -> OpDefinition:
    """The definition of an operation; `reference` may name a function of NumPy."""
    parameters = facts.get("parameters", ())
    camel_case = "".join(each.capitalize() for each in mnemonic.split("_"))
    return OpDefinition(
        mnemonic=mnemonic,
        summary=summary,
        formula=formula,
        family=family,
        operands=tuple(Operand(name=name) for name in _OPERAND_NAMES[family]),
        parameters=parameters,
        reference=function(reference) if isinstance(reference, str) else reference,
        takes_types=facts.get("takes_types", False),
        domains=domains or (Domain.REAL,),
        flatbuffer=Flatbuffer(
            table="EltwiseOp",
            kind=facts.get("kind", camel_case),
            fields=(*_FIELDS, _PARAMETER_FIELD) if parameters else _FIELDS,
        ),
        generic=facts.get("generic", False),
        since=facts.get("since", _LATER),
        aliases=tuple(facts.get("aliases", "").split()),
        truth_aliases=tuple(facts.get("truth_aliases", "").split()),
        unsigned_aliases=tuple(facts.get("unsigned_aliases", "").split()),
        number_aliases=tuple(facts.get("number_aliases", "").split()),
        on_truth=facts.get("on_truth", ""),
        direction=facts.get("direction", ""),
        gives_truth=facts.get("gives_truth", False),
        ignores_sign=facts.get("ignores_sign", False),
        commutes=facts.get("commutes", False),
        identity=facts.get("identity"),
        ttnn_refuses_integers=facts.get("ttnn_refuses_integers", False),
    )


def declare_unary(
    mnemonic: str,
    summary: str,
    formula: str,
    reference: str | Callable[[Any, Any], Any],
    *domains: Domain,
    **facts: Unpack[Facts],
) -> OpDefinition:
    """The definition of an operation on one tensor, without parameters."""
    return declare(Family.UNARY, mnemonic, summary, formula, reference, *domains, **facts)


def declare_binary(
    mnemonic: str,
    summary: str,
    formula: str,
    reference: str | Callable[[Any, Any, Any], Any],
    *domains: Domain,
    **facts: Unpack[Facts],
) -> OpDefinition:
    """The definition of an operation on two tensors, without parameters."""
    return declare(Family.BINARY, mnemonic, summary, formula, reference, *domains, **facts)


def function(name: str) -> Callable[..., Any]:
    """A function of NumPy, of as many arrays as it takes."""

    def reference(xp: Any, *operands: Any) -> Any:
        return getattr(xp, name)(*operands)

    return reference


# --- Meanings -------------------------------------------------------------------------------------
# What elementwise operations compute, where it is more than one function of NumPy.
#
# Booleans are 0 and 1; arithmetic on them follows StableHLO (addition is or, multiplication is
# and).


def _is_integer(xp: Any, *arrays: Any) -> bool:
    return all(xp.issubdtype(array.dtype, xp.integer) for array in arrays)


def _is_boolean(*arrays: Any) -> bool:
    return all(array.dtype == bool for array in arrays)


def negate(xp: Any, x: Any) -> Any:
    """The negative; of a truth value, itself."""
    return x if _is_boolean(x) else -x


def subtract(xp: Any, x: Any, y: Any) -> Any:
    """The difference; of truth values, whether they differ."""
    return xp.logical_xor(x, y) if _is_boolean(x, y) else x - y


def divide(xp: Any, x: Any, y: Any) -> Any:
    """Division; of integers, rounded toward zero, and by 0 all ones, as XLA defines it."""
    if not _is_integer(xp, x, y):
        return xp.true_divide(x, y)
    quotient = xp.floor_divide(x, y)
    inexact = quotient * y != x
    rounded = quotient + (inexact & ((x < 0) != (y < 0)))
    return xp.where(y == 0, ~xp.zeros_like(quotient), rounded)


def remainder(xp: Any, x: Any, y: Any) -> Any:
    """What a division leaves, with the sign of x; of integers and truth values by 0, x."""
    if _is_boolean(x, y):
        return xp.greater(x, y)
    if not _is_integer(xp, x, y):
        return xp.fmod(x, y)
    return xp.where(y == 0, x, xp.fmod(x, y))


def raise_to_power(xp: Any, x: Any, y: Any) -> Any:
    """Power; of integers, as often as they are multiplied, and a fraction rounded toward zero."""
    if not _is_integer(xp, x, y):
        return xp.power(x, y)
    power = xp.power(x, xp.maximum(y, 0))
    # Only 1 and -1 have a reciprocal that is an integer.
    inverse = xp.where(x == 1, 1, xp.where(x == -1, 1 - 2 * (y & 1), 0))
    return xp.where(y < 0, inverse, power).astype(power.dtype)


def sigmoid(xp: Any, x: Any) -> Any:
    """The logistic function."""
    # exp(-|x|) cannot overflow; the subtraction takes booleans, which have no negative.
    decay = xp.exp(0.0 - xp.abs(x))
    return xp.where(x >= 0, 1.0, decay) / (1.0 + decay)


def sign(xp: Any, x: Any) -> Any:
    """-1, 0 or 1; of -0 and of a truth value, itself."""
    if _is_boolean(x):
        return x
    found = xp.sign(x)
    # NumPy makes 0 of -0.
    return xp.copysign(found, x) if xp.issubdtype(x.dtype, xp.floating) else found


def maximum(xp: Any, x: Any, y: Any) -> Any:
    """The larger number; 0 is larger than -0, which NumPy takes for equal."""
    return _order_zeros(xp, xp.maximum(x, y), x, y, xp.logical_and)


def minimum(xp: Any, x: Any, y: Any) -> Any:
    """The smaller number; -0 is smaller than 0, which NumPy takes for equal."""
    return _order_zeros(xp, xp.minimum(x, y), x, y, xp.logical_or)


def _order_zeros(xp: Any, result: Any, x: Any, y: Any, combine: Any) -> Any:
    """The larger or smaller of two numbers, whose sign is that of both combined if both are 0."""
    if not xp.issubdtype(result.dtype, xp.floating) or not (result == 0).any():
        return result
    zeros = xp.where(combine(xp.signbit(x), xp.signbit(y)), -0.0, 0.0).astype(result.dtype)
    return xp.where((x == 0) & (y == 0), zeros, result)


def round_by(xp: Any, function: Any, x: Any) -> Any:
    """What a function of NumPy rounds to; integers stay as they are."""
    return x if _is_boolean(x) or _is_integer(xp, x) else function(x)


def _require_bits(xp: Any, *operands: Any) -> None:
    if not all(_is_boolean(x) or _is_integer(xp, x) for x in operands):
        raise ArgumentError("bits are those of integers and booleans; typecast other numbers")


def bitwise(function: str) -> Callable[..., Any]:
    """A function of NumPy that takes integers and booleans only."""

    def reference(xp: Any, *operands: Any) -> Any:
        _require_bits(xp, *operands)
        return getattr(xp, function)(*operands)

    return reference


def count_ones(xp: Any, x: Any) -> Any:
    """How many bits are 1."""
    _require_bits(xp, x)
    return xp.bitwise_count(_unsigned(xp, x)).astype(x.dtype)


def count_leading_zeros(xp: Any, x: Any) -> Any:
    """How many bits are above the highest 1."""
    _require_bits(xp, x)
    bits = _unsigned(xp, x)
    width = 1 if _is_boolean(x) else 8 * x.dtype.itemsize
    # Ones are spread to the right of the first one, so that counting them gives its place.
    distance = 1
    while distance < width:
        bits = bits | bits >> bits.dtype.type(distance)
        distance *= 2
    return (width - xp.bitwise_count(bits).astype(xp.int64)).astype(x.dtype)


def _unsigned(xp: Any, x: Any) -> Any:
    """The same bits as numbers that are not negative."""
    return x.astype(xp.uint8) if _is_boolean(x) else x.view(f"u{x.dtype.itemsize}")


def bitcast(xp: Any, x: Any, *, source: Any, target: Any) -> Any:
    """The same bits as numbers of the type `target`."""
    return x.astype(source).view(target)


def shift(direction: str, *, arithmetic: bool = False) -> Callable[[Any, Any, Any], Any]:
    """A shift; the distance is an unsigned number, which may be larger than the width."""

    def reference(xp: Any, x: Any, distance: Any) -> Any:
        _require_bits(xp, x, distance)
        if _is_boolean(x):
            return x & (distance == 0)
        width = 8 * x.dtype.itemsize
        has_sign = arithmetic and xp.issubdtype(x.dtype, xp.signedinteger)
        bits = x if has_sign else _unsigned(xp, x)
        steps = _unsigned(xp, distance)
        inside = xp.minimum(steps, width - 1).astype(bits.dtype)
        shifted = getattr(xp, f"{direction}_shift")(bits, inside)
        if not has_sign:
            shifted = xp.where(steps < width, shifted, bits.dtype.type(0))
        return shifted.view(x.dtype)

    return reference


def identity(xp: Any, x: Any) -> Any:
    """The operand itself."""
    return x


def clamp(xp: Any, x: Any, *, min: float, max: float) -> Any:
    """The nearest number within the limits."""
    return xp.minimum(xp.maximum(x, min), max)


def leaky_relu(xp: Any, x: Any, *, parameter: float) -> Any:
    """The number itself, or `parameter` times a negative one."""
    return xp.where(x >= 0, x, parameter * x)


def where(xp: Any, condition: Any, on_true: Any, on_false: Any) -> Any:
    """One of two operands, by a third."""
    return xp.where(condition != 0, on_true, on_false)


# --- Binary ---------------------------------------------------------------------------------------
# Operations on two tensors.

_COMPARISONS = (
    declare_binary(
        "ge",
        "1 where x >= y, else 0.",
        "x >= y",
        "greater_equal",
        kind="GreaterEqual",
        since=REFERENCE,
        direction="GE",
        aliases="tosa.greater_equal aten.ge onnx.GreaterOrEqual",
        gives_truth=True,
    ),
    declare_binary(
        "eq",
        "1 where x equals y, else 0.",
        "x == y",
        "equal",
        kind="Equal",
        direction="EQ",
        aliases="tosa.equal aten.eq onnx.Equal",
        gives_truth=True,
        ignores_sign=True,
        commutes=True,
    ),
    declare_binary(
        "ne",
        "1 where x differs from y, else 0; NaN differs from everything.",
        "x != y",
        "not_equal",
        kind="NotEqual",
        direction="NE",
        aliases="aten.ne",
        gives_truth=True,
        ignores_sign=True,
        commutes=True,
    ),
    declare_binary(
        "gt",
        "1 where x > y, else 0.",
        "x > y",
        "greater",
        kind="GreaterThan",
        direction="GT",
        aliases="tosa.greater aten.gt onnx.Greater",
        gives_truth=True,
    ),
    declare_binary(
        "lt",
        "1 where x < y, else 0.",
        "x < y",
        "less",
        kind="LessThan",
        direction="LT",
        aliases="aten.lt onnx.Less",
        gives_truth=True,
    ),
    declare_binary(
        "le",
        "1 where x <= y, else 0.",
        "x <= y",
        "less_equal",
        kind="LessEqual",
        direction="LE",
        aliases="aten.le onnx.LessOrEqual",
        gives_truth=True,
    ),
)

_LOGICAL = (
    declare_binary(
        "logical_and",
        "1 where both are other than 0, else 0.",
        "x and y",
        "logical_and",
        Domain.BOOLEAN,
        aliases="tosa.logical_and aten.logical_and onnx.And",
        truth_aliases=(
            "stablehlo.and arith.andi arith.maxsi arith.minui arith.muli aten.bitwise_and"
        ),
        gives_truth=True,
        ignores_sign=True,
        commutes=True,
        identity=1,
    ),
    declare_binary(
        "logical_or",
        "1 where either is other than 0, else 0.",
        "x or y",
        "logical_or",
        Domain.BOOLEAN,
        aliases="tosa.logical_or aten.logical_or onnx.Or",
        truth_aliases="stablehlo.or arith.maxui arith.minsi arith.ori aten.bitwise_or",
        gives_truth=True,
        ignores_sign=True,
        commutes=True,
        identity=0,
    ),
    declare_binary(
        "logical_xor",
        "1 where exactly one is other than 0, else 0.",
        "x xor y",
        "logical_xor",
        Domain.BOOLEAN,
        aliases="tosa.logical_xor aten.logical_xor onnx.Xor",
        truth_aliases="stablehlo.xor arith.addi arith.subi arith.xori aten.bitwise_xor",
        gives_truth=True,
        ignores_sign=True,
        commutes=True,
        identity=0,
    ),
    declare_binary(
        "bitwise_and",
        "Bits set in both integers.",
        "x & y",
        bitwise("bitwise_and"),
        Domain.INTEGER,
        aliases="stablehlo.and arith.andi tosa.bitwise_and aten.bitwise_and onnx.BitwiseAnd",
        on_truth="logical_and",
        ignores_sign=True,
        commutes=True,
        identity=-1,
    ),
    declare_binary(
        "bitwise_or",
        "Bits set in either integer.",
        "x | y",
        bitwise("bitwise_or"),
        Domain.INTEGER,
        aliases="stablehlo.or arith.ori tosa.bitwise_or aten.bitwise_or onnx.BitwiseOr",
        on_truth="logical_or",
        ignores_sign=True,
        commutes=True,
        identity=0,
    ),
    declare_binary(
        "bitwise_xor",
        "Bits set in exactly one of the integers.",
        "x ^ y",
        bitwise("bitwise_xor"),
        Domain.INTEGER,
        aliases="stablehlo.xor arith.xori tosa.bitwise_xor aten.bitwise_xor onnx.BitwiseXor",
        on_truth="logical_xor",
        ignores_sign=True,
        commutes=True,
        identity=0,
    ),
)

BINARY = (
    declare_binary(
        "add",
        "Sum.",
        "x + y",
        "add",
        generic=True,
        since=REFERENCE,
        aliases="stablehlo.add arith.addf arith.addi linalg.add tosa.add onnx.Add",
        on_truth="logical_or",
        ignores_sign=True,
        commutes=True,
        identity=0,
    ),
    declare_binary(
        "multiply",
        "Product.",
        "x * y",
        "multiply",
        generic=True,
        since=REFERENCE,
        aliases="stablehlo.multiply arith.mulf arith.muli linalg.mul aten.mul onnx.Mul",
        on_truth="logical_and",
        ignores_sign=True,
        commutes=True,
        identity=1,
    ),
    declare_binary(
        "subtract",
        "Difference.",
        "x - y",
        subtract,
        since=REFERENCE,
        aliases="stablehlo.subtract arith.subf arith.subi linalg.sub tosa.sub onnx.Sub",
        on_truth="logical_xor",
        ignores_sign=True,
    ),
    declare_binary(
        "div",
        "Quotient; of integers, rounded toward 0, and by 0 all ones (-1, or the largest number).",
        "x / y",
        divide,
        Domain.REAL,
        Domain.NONZERO,
        since=REFERENCE,
        aliases="stablehlo.divide arith.divf arith.divsi linalg.div tosa.int_div tosa.intdiv "
        "onnx.Div",
        unsigned_aliases="arith.divui",
    ),
    declare_binary(
        "maximum",
        "The larger; NaN where either is NaN.",
        "max(x, y)",
        maximum,
        since=REFERENCE,
        aliases="stablehlo.maximum arith.maximumf arith.maxsi linalg.max tosa.maximum aten.maximum",
        unsigned_aliases="arith.maxui",
        number_aliases="arith.maxnumf aten.fmax",
        commutes=True,
        on_truth="logical_or",
        identity=-math.inf,
    ),
    declare_binary(
        "minimum",
        "The smaller; NaN where either is NaN.",
        "min(x, y)",
        minimum,
        aliases="stablehlo.minimum arith.minimumf arith.minsi linalg.min tosa.minimum aten.minimum",
        unsigned_aliases="arith.minui",
        number_aliases="arith.minnumf aten.fmin",
        commutes=True,
        on_truth="logical_and",
        identity=math.inf,
    ),
    declare_binary(
        "remainder",
        "Remainder of a division, with the sign of the dividend; of integers and truth values by "
        "0, the dividend.",
        "x - y * trunc(x / y)",
        remainder,
        Domain.REAL,
        Domain.NONZERO,
        aliases="stablehlo.remainder arith.remf arith.remsi aten.fmod",
        unsigned_aliases="arith.remui",
        on_truth="gt",
    ),
    declare_binary(
        "pow",
        "Power.",
        "x ** y",
        raise_to_power,
        Domain.POSITIVE,
        Domain.REAL,
        aliases="stablehlo.power math.powf math.ipowi linalg.powf tosa.pow",
    ),
    declare_binary(
        "atan2",
        "Angle of the point (y, x), in radians.",
        "atan2(x, y)",
        "arctan2",
        aliases="stablehlo.atan2 math.atan2 aten.atan2",
        ttnn_refuses_integers=True,
    ),
    *_COMPARISONS,
    *_LOGICAL,
    declare_binary(
        "logical_left_shift",
        "Bits moved to the left; 0 where the distance is the width of the type or more.",
        "x << y",
        shift("left"),
        Domain.INTEGER,
        Domain.SHIFT,
        aliases="stablehlo.shift_left arith.shli tosa.logical_left_shift aten.__lshift__ "
        "aten.bitwise_left_shift",
    ),
    declare_binary(
        "logical_right_shift",
        "Bits moved to the right, zeros following; 0 where the distance is the width or more.",
        "x >>> y",
        shift("right"),
        Domain.INTEGER,
        Domain.SHIFT,
        aliases="stablehlo.shift_right_logical arith.shrui tosa.logical_right_shift",
    ),
    declare_binary(
        "right_shift",
        "Bits moved to the right; the sign follows, or 0 where the type is unsigned.",
        "x >> y",
        shift("right", arithmetic=True),
        Domain.INTEGER,
        Domain.SHIFT,
        aliases="arith.shrsi aten.__rshift__ aten.bitwise_right_shift",
    ),
)


# --- Ternary --------------------------------------------------------------------------------------
# Operations on three tensors.

TERNARY = (
    declare(
        Family.TERNARY,
        "where",
        "Choice between two tensors by a third.",
        "on_true where condition is other than 0, else on_false",
        where,
        Domain.BOOLEAN,
        Domain.REAL,
        aliases="stablehlo.select arith.select linalg.select tosa.select",
        ignores_sign=True,
    ),
)


# --- Unary ----------------------------------------------------------------------------------------
# Operations on one tensor. New definitions go to the end.

UNARY = (
    declare_unary(
        "abs",
        "Absolute value.",
        "|x|",
        "absolute",
        since=REFERENCE,
        aliases="stablehlo.abs math.absf math.absi linalg.abs tosa.abs aten.abs onnx.Abs",
    ),
    declare_unary(
        "neg",
        "Negation.",
        "-x",
        negate,
        since=REFERENCE,
        aliases="stablehlo.negate arith.negf linalg.negf aten.neg onnx.Neg",
    ),
    declare_unary(
        "relu",
        "Rectified linear unit; NaN stays NaN.",
        "max(x, 0)",
        lambda xp, x: xp.maximum(x, x.dtype.type(0)),
        since=REFERENCE,
        aliases="aten.relu onnx.Relu",
    ),
    declare_unary(
        "sqrt",
        "Square root; NaN below 0.",
        "sqrt(x)",
        "sqrt",
        Domain.POSITIVE,
        since=REFERENCE,
        aliases="stablehlo.sqrt math.sqrt linalg.sqrt aten.sqrt onnx.Sqrt",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "sigmoid",
        "Logistic function.",
        "1 / (1 + exp(-x))",
        sigmoid,
        since=REFERENCE,
        aliases="stablehlo.logistic tosa.sigmoid aten.sigmoid onnx.Sigmoid",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "reciprocal",
        "Reciprocal; infinity at 0.",
        "1 / x",
        lambda xp, x: divide(xp, xp.ones_like(x), x),
        Domain.NONZERO,
        since=REFERENCE,
        aliases="linalg.reciprocal tosa.reciprocal aten.reciprocal onnx.Reciprocal",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "exp",
        "Exponential function.",
        "e ** x",
        "exp",
        since=REFERENCE,
        aliases="stablehlo.exponential math.exp linalg.exp tosa.exp aten.exp onnx.Exp",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "rsqrt",
        "Reciprocal of the square root.",
        "1 / sqrt(x)",
        lambda xp, x: 1.0 / xp.sqrt(x),
        Domain.POSITIVE,
        aliases="stablehlo.rsqrt math.rsqrt linalg.rsqrt tosa.rsqrt aten.rsqrt",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "typecast",
        "Conversion to the element type of the result. Integers wrap; floating-point numbers lose "
        "their fraction and become the nearest integer of the type, NaN becomes 0.",
        "x",
        identity,
        aliases="arith.fptosi",
        ignores_sign=True,
    ),
    declare_unary(
        "cbrt",
        "Cube root.",
        "x ** (1/3)",
        "cbrt",
        aliases="stablehlo.cbrt math.cbrt",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "square",
        "Square.",
        "x * x",
        lambda xp, x: x * x,
        aliases="chlo.square linalg.square aten.square",
        ignores_sign=True,
    ),
    declare_unary(
        "log",
        "Natural logarithm.",
        "ln(x)",
        "log",
        Domain.POSITIVE,
        aliases="stablehlo.log math.log linalg.log tosa.log aten.log onnx.Log",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "log1p",
        "Natural logarithm of 1 + x, exact near 0.",
        "ln(1 + x)",
        "log1p",
        Domain.ABOVE_MINUS_ONE,
        aliases="stablehlo.log_plus_one math.log1p aten.log1p",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "expm1",
        "Exponential function minus 1, exact near 0.",
        "e ** x - 1",
        "expm1",
        aliases="stablehlo.exponential_minus_one math.expm1 aten.expm1",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "sin",
        "Sine of an angle in radians.",
        "sin(x)",
        "sin",
        aliases="stablehlo.sine math.sin tosa.sin aten.sin onnx.Sin",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "cos",
        "Cosine of an angle in radians.",
        "cos(x)",
        "cos",
        aliases="stablehlo.cosine math.cos tosa.cos aten.cos onnx.Cos",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "tan",
        "Tangent of an angle in radians.",
        "tan(x)",
        "tan",
        aliases="stablehlo.tan chlo.tan math.tan aten.tan onnx.Tan",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "atan",
        "Arc tangent, in radians.",
        "atan(x)",
        "arctan",
        aliases="chlo.atan math.atan aten.atan onnx.Atan",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "tanh",
        "Hyperbolic tangent.",
        "tanh(x)",
        "tanh",
        aliases="stablehlo.tanh math.tanh linalg.tanh tosa.tanh aten.tanh onnx.Tanh",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "floor",
        "Largest integer not above x.",
        "floor(x)",
        lambda xp, x: round_by(xp, xp.floor, x),
        aliases="stablehlo.floor math.floor linalg.floor tosa.floor aten.floor onnx.Floor",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "ceil",
        "Smallest integer not below x.",
        "ceil(x)",
        lambda xp, x: round_by(xp, xp.ceil, x),
        aliases="stablehlo.ceil math.ceil linalg.ceil tosa.ceil aten.ceil onnx.Ceil",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "sign",
        "Sign: -1, 0 or 1; NaN stays NaN.",
        "sign(x)",
        sign,
        aliases="stablehlo.sign aten.sign onnx.Sign",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "isfinite",
        "1 where x is neither infinite nor NaN, else 0.",
        "x is finite",
        "isfinite",
        Domain.SPECIAL,
        kind="IsFinite",
        aliases="stablehlo.is_finite aten.isfinite",
        gives_truth=True,
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "logical_not",
        "1 where x is 0, else 0.",
        "not x",
        "logical_not",
        Domain.BOOLEAN,
        aliases="tosa.logical_not aten.logical_not onnx.Not",
        truth_aliases="stablehlo.not aten.bitwise_not",
        gives_truth=True,
        ignores_sign=True,
    ),
    declare_unary(
        "bitwise_not",
        "Complement of every bit of an integer.",
        "~x",
        bitwise("invert"),
        Domain.INTEGER,
        aliases="stablehlo.not tosa.bitwise_not aten.bitwise_not onnx.BitwiseNot",
        on_truth="logical_not",
        ignores_sign=True,
    ),
    declare_unary(
        "erf",
        "Error function.",
        "erf(x)",
        special.erf,
        aliases="chlo.erf math.erf linalg.erf tosa.erf aten.erf onnx.Erf",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "gelu",
        "Gaussian error linear unit, exact.",
        "x * Phi(x)",
        special.gelu,
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "silu",
        "Sigmoid linear unit.",
        "x * sigmoid(x)",
        lambda xp, x: x * sigmoid(xp, x),
        aliases="aten.silu",
        ttnn_refuses_integers=True,
    ),
    declare(
        Family.UNARY,
        "clamp",
        "x limited to [min, max]; NaN stays NaN.",
        "min(max(x, min), max)",
        clamp,
        parameters=(
            Parameter(name="min", kind=Kind.F32, doc="Smallest value of the result."),
            Parameter(name="max", kind=Kind.F32, doc="Largest value of the result."),
        ),
    ),
    declare(
        Family.UNARY,
        "leaky_relu",
        "Rectified linear unit with a slope for negative numbers.",
        "x if x >= 0 else parameter * x",
        leaky_relu,
        parameters=(Parameter(name="parameter", kind=Kind.F32, doc="Slope below 0."),),
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "trunc",
        "Integer part: rounded toward 0.",
        "trunc(x)",
        lambda xp, x: round_by(xp, xp.trunc, x),
        aliases="math.trunc",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "round",
        "Nearest integer, the even one of two.",
        "round(x)",
        lambda xp, x: round_by(xp, xp.rint, x),
        aliases="stablehlo.round_nearest_even math.roundeven onnx.Round",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "exp2",
        "Power of 2.",
        "2 ** x",
        "exp2",
        aliases="math.exp2 aten.exp2",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "sinh",
        "Hyperbolic sine.",
        "sinh(x)",
        "sinh",
        aliases="chlo.sinh math.sinh aten.sinh onnx.Sinh",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "cosh",
        "Hyperbolic cosine.",
        "cosh(x)",
        "cosh",
        aliases="chlo.cosh math.cosh aten.cosh onnx.Cosh",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "asin",
        "Arc sine, in radians.",
        "asin(x)",
        "arcsin",
        Domain.UNIT,
        aliases="chlo.asin math.asin aten.asin onnx.Asin",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "acos",
        "Arc cosine, in radians.",
        "acos(x)",
        "arccos",
        Domain.UNIT,
        aliases="chlo.acos math.acos aten.acos onnx.Acos",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "asinh",
        "Inverse of the hyperbolic sine.",
        "asinh(x)",
        "arcsinh",
        aliases="chlo.asinh math.asinh aten.asinh onnx.Asinh",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "acosh",
        "Inverse of the hyperbolic cosine; NaN below 1.",
        "acosh(x)",
        "arccosh",
        Domain.FROM_ONE,
        aliases="chlo.acosh math.acosh aten.acosh onnx.Acosh",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "atanh",
        "Inverse of the hyperbolic tangent.",
        "atanh(x)",
        "arctanh",
        Domain.UNIT,
        aliases="chlo.atanh math.atanh aten.atanh onnx.Atanh",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "erfc",
        "Complement of the error function, exact far from 0.",
        "1 - erf(x)",
        special.erfc,
        aliases="chlo.erfc aten.erfc",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "erfinv",
        "Inverse of the error function; NaN outside [-1, 1].",
        "erfinv(x)",
        special.erfinv,
        Domain.UNIT,
        kind="ErfInv",
        aliases="chlo.erf_inv aten.erfinv",
        ttnn_refuses_integers=True,
    ),
    declare_unary(
        "lgamma",
        "Logarithm of the absolute value of the gamma function.",
        "ln(|gamma(x)|)",
        special.lgamma,
        Domain.POSITIVE,
        aliases="chlo.lgamma aten.lgamma",
        ttnn_refuses_integers=True,
    ),
    declare(
        Family.UNARY,
        "bitcast_convert",
        "The bits of each element as a number of the result's type, which is as wide.",
        "",
        bitcast,
        Domain.INTEGER,
        takes_types=True,
    ),
    declare_unary(
        "population_count",
        "Number of bits of an integer that are 1.",
        "number of ones in x",
        count_ones,
        Domain.INTEGER,
        aliases="stablehlo.popcnt math.ctpop",
    ),
    declare_unary(
        "count_leading_zeros",
        "Number of bits of an integer above its highest 1; all bits for 0.",
        "number of zeros before the first one of x",
        count_leading_zeros,
        Domain.INTEGER,
        aliases="stablehlo.count_leading_zeros math.ctlz tosa.clz",
    ),
    declare_unary(
        "hardsigmoid",
        "Straight line from 0 at -3 to 1 at 3, level beyond.",
        "min(max(x + 3, 0), 6) / 6",
        lambda xp, x: xp.clip(x + 3.0, 0.0, 6.0) / 6.0,
        aliases="aten.hardsigmoid",
        ttnn_refuses_integers=True,
    ),
)


# --- Elementwise ----------------------------------------------------------------------------------

DEFINITIONS = (*UNARY, *BINARY, *TERNARY)


def arity(definition: OpDefinition) -> int:
    """Number of inputs of an elementwise operation; the IR does not enforce it."""
    return len(definition.operands)
