"""Elementwise operations: operands broadcast as in NumPy, one result element per position.

Booleans are 0 and 1; arithmetic on them follows StableHLO (addition is or, multiplication is and).
Order matters: the number of an operation in the flatbuffer enumeration `EltwiseOpType` is fixed
by its `kind`, and new kinds are only ever appended to the schema.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttmlir.optable import special
from ttmlir.optable.row import Domain, Family, Flatbuffer, Kind, Operand, Parameter, Row

_FIELDS = (("type", "type"), ("ins", "inputs"), ("out", "output"))
_PARAMETER_FIELD = ("parameters", "parameters")

_ARITY = {Family.UNARY: 1, Family.BINARY: 2, Family.TERNARY: 3}
_OPERAND_NAMES = {
    Family.UNARY: ("input",),
    Family.BINARY: ("lhs", "rhs"),
    Family.TERNARY: ("condition", "on_true", "on_false"),
}
# The tt-mlir of 2026-08, whose list of operations the rows beyond the reference are taken from.
_LATER = "2026-08"


def arity(row: Row) -> int:
    """Number of inputs of an elementwise operation; the IR does not enforce it."""
    return _ARITY[row.family]


def _elementwise(
    family: Family,
    mnemonic: str,
    summary: str,
    formula: str,
    kind: str,
    reference: Callable[..., Any],
    *,
    domains: tuple[Domain, ...] = (Domain.REAL,),
    parameters: tuple[Parameter, ...] = (),
    generic: bool = False,
    takes_types: bool = False,
    since: str = _LATER,
) -> Row:
    return Row(
        mnemonic=mnemonic,
        summary=summary,
        formula=formula,
        family=family,
        operands=tuple(Operand(name=name) for name in _OPERAND_NAMES[family]),
        parameters=parameters,
        reference=reference,
        takes_types=takes_types,
        domains=domains,
        flatbuffer=Flatbuffer(
            table="EltwiseOp",
            kind=kind,
            fields=(*_FIELDS, _PARAMETER_FIELD) if parameters else _FIELDS,
        ),
        generic=generic,
        since=since,
    )


def _unary(
    mnemonic: str,
    summary: str,
    formula: str,
    kind: str,
    reference: Callable[[Any, Any], Any],
    domain: Domain = Domain.REAL,
    since: str = _LATER,
) -> Row:
    return _elementwise(
        Family.UNARY, mnemonic, summary, formula, kind, reference, domains=(domain,), since=since
    )


def _binary(
    mnemonic: str,
    summary: str,
    formula: str,
    kind: str,
    reference: Callable[[Any, Any, Any], Any],
    domains: tuple[Domain, ...] = (Domain.REAL,),
    *,
    generic: bool = False,
    since: str = _LATER,
) -> Row:
    return _elementwise(
        Family.BINARY,
        mnemonic,
        summary,
        formula,
        kind,
        reference,
        domains=domains,
        generic=generic,
        since=since,
    )


_REFERENCE = "880154e3c2"


def _is_integer(xp: Any, *arrays: Any) -> bool:
    return all(xp.issubdtype(array.dtype, xp.integer) for array in arrays)


def _is_boolean(*arrays: Any) -> bool:
    return all(array.dtype == bool for array in arrays)


def _negate(xp: Any, x: Any) -> Any:
    return x if _is_boolean(x) else -x


def _subtract(xp: Any, x: Any, y: Any) -> Any:
    return xp.logical_xor(x, y) if _is_boolean(x, y) else x - y


def _divide(xp: Any, x: Any, y: Any) -> Any:
    """Division; of integers, rounded toward zero, and 0 where the divisor is 0."""
    if not _is_integer(xp, x, y):
        return xp.true_divide(x, y)
    quotient = xp.floor_divide(x, y)
    inexact = quotient * y != x
    return quotient + (inexact & ((x < 0) != (y < 0)) & (y != 0))


def _power(xp: Any, x: Any, y: Any) -> Any:
    """Power; of integers, as often as they are multiplied, and a fraction rounded toward zero."""
    if not _is_integer(xp, x, y):
        return xp.power(x, y)
    power = xp.power(x, xp.maximum(y, 0))
    # Only 1 and -1 have a reciprocal that is an integer.
    inverse = xp.where(x == 1, 1, xp.where(x == -1, 1 - 2 * (y & 1), 0))
    return xp.where(y < 0, inverse, power).astype(power.dtype)


def _sigmoid(xp: Any, x: Any) -> Any:
    # exp(-|x|) cannot overflow; the subtraction takes booleans, which have no negative.
    decay = xp.exp(0.0 - xp.abs(x))
    return xp.where(x >= 0, 1.0, decay) / (1.0 + decay)


def _sign(xp: Any, x: Any) -> Any:
    return x if _is_boolean(x) else xp.sign(x)


def _rounded(xp: Any, function: Any, x: Any) -> Any:
    return x if _is_boolean(x) or _is_integer(xp, x) else function(x)


def _require_bits(xp: Any, *operands: Any) -> None:
    if not all(_is_boolean(x) or _is_integer(xp, x) for x in operands):
        raise ValueError("bits are those of integers and booleans; typecast other numbers")


def _bitwise(function: str) -> Callable[..., Any]:
    """A function of NumPy that takes integers and booleans only."""

    def reference(xp: Any, *operands: Any) -> Any:
        _require_bits(xp, *operands)
        return getattr(xp, function)(*operands)

    return reference


def _population_count(xp: Any, x: Any) -> Any:
    _require_bits(xp, x)
    return xp.bitwise_count(_unsigned(xp, x)).astype(x.dtype)


def _count_leading_zeros(xp: Any, x: Any) -> Any:
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


def _bitcast(xp: Any, x: Any, *, source: Any, target: Any) -> Any:
    return x.astype(source).view(target)


def _shift(direction: str, *, arithmetic: bool = False) -> Callable[[Any, Any, Any], Any]:
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


def _identity(xp: Any, x: Any) -> Any:
    return x


def _clamp(xp: Any, x: Any, *, min: float, max: float) -> Any:
    return xp.minimum(xp.maximum(x, min), max)


def _leaky_relu(xp: Any, x: Any, *, parameter: float) -> Any:
    return xp.where(x >= 0, x, parameter * x)


def _where(xp: Any, condition: Any, on_true: Any, on_false: Any) -> Any:
    return xp.where(condition != 0, on_true, on_false)


UNARY = (
    _unary("abs", "Absolute value.", "|x|", "Abs", lambda xp, x: xp.absolute(x), since=_REFERENCE),
    _unary("neg", "Negation.", "-x", "Neg", _negate, since=_REFERENCE),
    _unary(
        "relu",
        "Rectified linear unit; NaN stays NaN.",
        "max(x, 0)",
        "Relu",
        lambda xp, x: xp.maximum(x, x.dtype.type(0)),
        since=_REFERENCE,
    ),
    _unary(
        "sqrt",
        "Square root; NaN below 0.",
        "sqrt(x)",
        "Sqrt",
        lambda xp, x: xp.sqrt(x),
        Domain.POSITIVE,
        _REFERENCE,
    ),
    _unary(
        "sigmoid", "Logistic function.", "1 / (1 + exp(-x))", "Sigmoid", _sigmoid, since=_REFERENCE
    ),
    _unary(
        "reciprocal",
        "Reciprocal; infinity at 0.",
        "1 / x",
        "Reciprocal",
        lambda xp, x: _divide(xp, xp.ones_like(x), x),
        Domain.NONZERO,
        _REFERENCE,
    ),
    _unary(
        "exp", "Exponential function.", "e ** x", "Exp", lambda xp, x: xp.exp(x), since=_REFERENCE
    ),
    _unary(
        "rsqrt",
        "Reciprocal of the square root.",
        "1 / sqrt(x)",
        "Rsqrt",
        lambda xp, x: 1.0 / xp.sqrt(x),
        Domain.POSITIVE,
    ),
    _unary(
        "typecast",
        "Conversion to the element type of the result. Integers wrap; floating-point numbers lose "
        "their fraction and become the nearest integer of the type, NaN becomes 0.",
        "x",
        "Typecast",
        _identity,
    ),
    _unary("cbrt", "Cube root.", "x ** (1/3)", "Cbrt", lambda xp, x: xp.cbrt(x)),
    _unary("square", "Square.", "x * x", "Square", lambda xp, x: x * x),
    _unary("log", "Natural logarithm.", "ln(x)", "Log", lambda xp, x: xp.log(x), Domain.POSITIVE),
    _unary(
        "log1p",
        "Natural logarithm of 1 + x, exact near 0.",
        "ln(1 + x)",
        "Log1p",
        lambda xp, x: xp.log1p(x),
        Domain.ABOVE_MINUS_ONE,
    ),
    _unary(
        "expm1",
        "Exponential function minus 1, exact near 0.",
        "e ** x - 1",
        "Expm1",
        lambda xp, x: xp.expm1(x),
    ),
    _unary("sin", "Sine of an angle in radians.", "sin(x)", "Sin", lambda xp, x: xp.sin(x)),
    _unary("cos", "Cosine of an angle in radians.", "cos(x)", "Cos", lambda xp, x: xp.cos(x)),
    _unary("tan", "Tangent of an angle in radians.", "tan(x)", "Tan", lambda xp, x: xp.tan(x)),
    _unary("atan", "Arc tangent, in radians.", "atan(x)", "Atan", lambda xp, x: xp.arctan(x)),
    _unary("tanh", "Hyperbolic tangent.", "tanh(x)", "Tanh", lambda xp, x: xp.tanh(x)),
    _unary(
        "floor",
        "Largest integer not above x.",
        "floor(x)",
        "Floor",
        lambda xp, x: _rounded(xp, xp.floor, x),
    ),
    _unary(
        "ceil",
        "Smallest integer not below x.",
        "ceil(x)",
        "Ceil",
        lambda xp, x: _rounded(xp, xp.ceil, x),
    ),
    _unary("sign", "Sign: -1, 0 or 1; NaN stays NaN.", "sign(x)", "Sign", _sign),
    _unary(
        "isfinite",
        "1 where x is neither infinite nor NaN, else 0.",
        "x is finite",
        "IsFinite",
        lambda xp, x: xp.isfinite(x),
        Domain.SPECIAL,
    ),
    _unary(
        "logical_not",
        "1 where x is 0, else 0.",
        "not x",
        "LogicalNot",
        lambda xp, x: xp.logical_not(x),
        Domain.BOOLEAN,
    ),
    _unary(
        "bitwise_not",
        "Complement of every bit of an integer.",
        "~x",
        "BitwiseNot",
        _bitwise("invert"),
        Domain.INTEGER,
    ),
    _unary("erf", "Error function.", "erf(x)", "Erf", special.erf),
    _unary("gelu", "Gaussian error linear unit, exact.", "x * Phi(x)", "Gelu", special.gelu),
    _unary(
        "silu",
        "Sigmoid linear unit.",
        "x * sigmoid(x)",
        "Silu",
        lambda xp, x: x * _sigmoid(xp, x),
    ),
    _elementwise(
        Family.UNARY,
        "clamp",
        "x limited to [min, max]; NaN stays NaN.",
        "min(max(x, min), max)",
        "Clamp",
        _clamp,
        parameters=(
            Parameter(name="min", kind=Kind.F32, doc="Smallest value of the result."),
            Parameter(name="max", kind=Kind.F32, doc="Largest value of the result."),
        ),
    ),
    _elementwise(
        Family.UNARY,
        "leaky_relu",
        "Rectified linear unit with a slope for negative numbers.",
        "x if x >= 0 else parameter * x",
        "LeakyRelu",
        _leaky_relu,
        parameters=(Parameter(name="parameter", kind=Kind.F32, doc="Slope below 0."),),
    ),
    _unary(
        "trunc",
        "Integer part: rounded toward 0.",
        "trunc(x)",
        "Trunc",
        lambda xp, x: _rounded(xp, xp.trunc, x),
    ),
    _unary(
        "round",
        "Nearest integer, the even one of two.",
        "round(x)",
        "Round",
        lambda xp, x: _rounded(xp, xp.rint, x),
    ),
    _unary("exp2", "Power of 2.", "2 ** x", "Exp2", lambda xp, x: xp.exp2(x)),
    _unary("sinh", "Hyperbolic sine.", "sinh(x)", "Sinh", lambda xp, x: xp.sinh(x)),
    _unary("cosh", "Hyperbolic cosine.", "cosh(x)", "Cosh", lambda xp, x: xp.cosh(x)),
    _unary(
        "asin", "Arc sine, in radians.", "asin(x)", "Asin", lambda xp, x: xp.arcsin(x), Domain.UNIT
    ),
    _unary(
        "acos",
        "Arc cosine, in radians.",
        "acos(x)",
        "Acos",
        lambda xp, x: xp.arccos(x),
        Domain.UNIT,
    ),
    _unary(
        "asinh",
        "Inverse of the hyperbolic sine.",
        "asinh(x)",
        "Asinh",
        lambda xp, x: xp.arcsinh(x),
    ),
    _unary(
        "acosh",
        "Inverse of the hyperbolic cosine; NaN below 1.",
        "acosh(x)",
        "Acosh",
        lambda xp, x: xp.arccosh(x),
        Domain.FROM_ONE,
    ),
    _unary(
        "atanh",
        "Inverse of the hyperbolic tangent.",
        "atanh(x)",
        "Atanh",
        lambda xp, x: xp.arctanh(x),
        Domain.UNIT,
    ),
    _unary(
        "erfc",
        "Complement of the error function, exact far from 0.",
        "1 - erf(x)",
        "Erfc",
        special.erfc,
    ),
    _unary(
        "erfinv",
        "Inverse of the error function; NaN outside [-1, 1].",
        "erfinv(x)",
        "ErfInv",
        special.erfinv,
        Domain.UNIT,
    ),
    _unary(
        "lgamma",
        "Logarithm of the absolute value of the gamma function.",
        "ln(|gamma(x)|)",
        "Lgamma",
        special.lgamma,
        Domain.POSITIVE,
    ),
    _elementwise(
        Family.UNARY,
        "bitcast_convert",
        "The bits of each element as a number of the result's type, which is as wide.",
        "",
        "BitcastConvert",
        _bitcast,
        domains=(Domain.INTEGER,),
        takes_types=True,
    ),
    _unary(
        "population_count",
        "Number of bits of an integer that are 1.",
        "number of ones in x",
        "PopulationCount",
        _population_count,
        Domain.INTEGER,
    ),
    _unary(
        "count_leading_zeros",
        "Number of bits of an integer above its highest 1; all bits for 0.",
        "number of zeros before the first one of x",
        "CountLeadingZeros",
        _count_leading_zeros,
        Domain.INTEGER,
    ),
)

_COMPARISONS = (
    _binary(
        "ge",
        "1 where x >= y, else 0.",
        "x >= y",
        "GreaterEqual",
        lambda xp, x, y: xp.greater_equal(x, y),
        since=_REFERENCE,
    ),
    _binary(
        "eq", "1 where x equals y, else 0.", "x == y", "Equal", lambda xp, x, y: xp.equal(x, y)
    ),
    _binary(
        "ne",
        "1 where x differs from y, else 0; NaN differs from everything.",
        "x != y",
        "NotEqual",
        lambda xp, x, y: xp.not_equal(x, y),
    ),
    _binary(
        "gt", "1 where x > y, else 0.", "x > y", "GreaterThan", lambda xp, x, y: xp.greater(x, y)
    ),
    _binary("lt", "1 where x < y, else 0.", "x < y", "LessThan", lambda xp, x, y: xp.less(x, y)),
    _binary(
        "le",
        "1 where x <= y, else 0.",
        "x <= y",
        "LessEqual",
        lambda xp, x, y: xp.less_equal(x, y),
    ),
)

_LOGICAL = (
    _binary(
        "logical_and",
        "1 where both are other than 0, else 0.",
        "x and y",
        "LogicalAnd",
        lambda xp, x, y: xp.logical_and(x, y),
        (Domain.BOOLEAN,),
    ),
    _binary(
        "logical_or",
        "1 where either is other than 0, else 0.",
        "x or y",
        "LogicalOr",
        lambda xp, x, y: xp.logical_or(x, y),
        (Domain.BOOLEAN,),
    ),
    _binary(
        "logical_xor",
        "1 where exactly one is other than 0, else 0.",
        "x xor y",
        "LogicalXor",
        lambda xp, x, y: xp.logical_xor(x, y),
        (Domain.BOOLEAN,),
    ),
    _binary(
        "bitwise_and",
        "Bits set in both integers.",
        "x & y",
        "BitwiseAnd",
        _bitwise("bitwise_and"),
        (Domain.INTEGER,),
    ),
    _binary(
        "bitwise_or",
        "Bits set in either integer.",
        "x | y",
        "BitwiseOr",
        _bitwise("bitwise_or"),
        (Domain.INTEGER,),
    ),
    _binary(
        "bitwise_xor",
        "Bits set in exactly one of the integers.",
        "x ^ y",
        "BitwiseXor",
        _bitwise("bitwise_xor"),
        (Domain.INTEGER,),
    ),
)

BINARY = (
    _binary(
        "add", "Sum.", "x + y", "Add", lambda xp, x, y: xp.add(x, y), generic=True, since=_REFERENCE
    ),
    _binary(
        "multiply",
        "Product.",
        "x * y",
        "Multiply",
        lambda xp, x, y: xp.multiply(x, y),
        generic=True,
        since=_REFERENCE,
    ),
    _binary("subtract", "Difference.", "x - y", "Subtract", _subtract, since=_REFERENCE),
    _binary(
        "div",
        "Quotient; of integers, rounded toward 0.",
        "x / y",
        "Div",
        _divide,
        (Domain.REAL, Domain.NONZERO),
        since=_REFERENCE,
    ),
    _binary(
        "maximum",
        "The larger; NaN where either is NaN.",
        "max(x, y)",
        "Maximum",
        lambda xp, x, y: xp.maximum(x, y),
        since=_REFERENCE,
    ),
    _binary(
        "minimum",
        "The smaller; NaN where either is NaN.",
        "min(x, y)",
        "Minimum",
        lambda xp, x, y: xp.minimum(x, y),
    ),
    _binary(
        "remainder",
        "Remainder of a division, with the sign of the dividend.",
        "x - y * trunc(x / y)",
        "Remainder",
        lambda xp, x, y: xp.fmod(x, y),
        (Domain.REAL, Domain.NONZERO),
    ),
    _binary("pow", "Power.", "x ** y", "Pow", _power, (Domain.POSITIVE, Domain.REAL)),
    _binary(
        "atan2",
        "Angle of the point (y, x), in radians.",
        "atan2(x, y)",
        "Atan2",
        lambda xp, x, y: xp.arctan2(x, y),
    ),
    *_COMPARISONS,
    *_LOGICAL,
    _binary(
        "logical_left_shift",
        "Bits moved to the left; 0 where the distance is the width of the type or more.",
        "x << y",
        "LogicalLeftShift",
        _shift("left"),
        (Domain.INTEGER, Domain.SHIFT),
    ),
    _binary(
        "logical_right_shift",
        "Bits moved to the right, zeros following; 0 where the distance is the width or more.",
        "x >>> y",
        "LogicalRightShift",
        _shift("right"),
        (Domain.INTEGER, Domain.SHIFT),
    ),
    _binary(
        "right_shift",
        "Bits moved to the right; the sign follows, or 0 where the type is unsigned.",
        "x >> y",
        "RightShift",
        _shift("right", arithmetic=True),
        (Domain.INTEGER, Domain.SHIFT),
    ),
)

TERNARY = (
    _elementwise(
        Family.TERNARY,
        "where",
        "Choice between two tensors by a third.",
        "on_true where condition is other than 0, else on_false",
        "Where",
        _where,
        domains=(Domain.BOOLEAN, Domain.REAL),
    ),
)

ROWS = (*UNARY, *BINARY, *TERNARY)
