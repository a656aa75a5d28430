"""StableHLO's elementwise operations that mean what one row of the operation table means.

StableHLO asks for operands and results of one shape, except for the predicate of `select`; types,
special numbers and edge cases are those of the rows. Operations whose meaning depends on an
attribute (`compare`) or that need several rows are not listed.
"""

from __future__ import annotations

ELEMENTWISE: dict[str, str] = {
    "stablehlo.abs": "abs",
    "stablehlo.add": "add",
    "stablehlo.and": "bitwise_and",
    "stablehlo.atan2": "atan2",
    "stablehlo.bitcast_convert": "bitcast_convert",
    "stablehlo.cbrt": "cbrt",
    "stablehlo.ceil": "ceil",
    "stablehlo.convert": "typecast",
    "stablehlo.cosine": "cos",
    "stablehlo.count_leading_zeros": "count_leading_zeros",
    "stablehlo.divide": "div",
    "stablehlo.exponential": "exp",
    "stablehlo.exponential_minus_one": "expm1",
    "stablehlo.floor": "floor",
    "stablehlo.is_finite": "isfinite",
    "stablehlo.log": "log",
    "stablehlo.log_plus_one": "log1p",
    "stablehlo.logistic": "sigmoid",
    "stablehlo.maximum": "maximum",
    "stablehlo.minimum": "minimum",
    "stablehlo.multiply": "multiply",
    "stablehlo.negate": "neg",
    "stablehlo.not": "bitwise_not",
    "stablehlo.or": "bitwise_or",
    "stablehlo.popcnt": "population_count",
    "stablehlo.power": "pow",
    "stablehlo.remainder": "remainder",
    "stablehlo.round_nearest_even": "round",
    "stablehlo.rsqrt": "rsqrt",
    "stablehlo.select": "where",
    "stablehlo.shift_left": "logical_left_shift",
    "stablehlo.shift_right_logical": "logical_right_shift",
    "stablehlo.sign": "sign",
    "stablehlo.sine": "sin",
    "stablehlo.sqrt": "sqrt",
    "stablehlo.subtract": "subtract",
    "stablehlo.tan": "tan",
    "stablehlo.tanh": "tanh",
    "stablehlo.xor": "bitwise_xor",
    "chlo.acos": "acos",
    "chlo.acosh": "acosh",
    "chlo.asin": "asin",
    "chlo.asinh": "asinh",
    "chlo.atan": "atan",
    "chlo.atanh": "atanh",
    "chlo.cosh": "cosh",
    "chlo.erf": "erf",
    "chlo.erf_inv": "erfinv",
    "chlo.erfc": "erfc",
    "chlo.lgamma": "lgamma",
    "chlo.sinh": "sinh",
    "chlo.square": "square",
    "chlo.tan": "tan",
}
"""Mnemonic of the row, by the full name of the StableHLO or CHLO operation."""

COMPARISONS: dict[str, str] = {
    "EQ": "eq",
    "NE": "ne",
    "GE": "ge",
    "GT": "gt",
    "LE": "le",
    "LT": "lt",
}
"""Rows of `compare`, by the direction."""

LOGICAL: dict[str, str] = {
    "stablehlo.and": "logical_and",
    "stablehlo.not": "logical_not",
    "stablehlo.or": "logical_or",
    "stablehlo.xor": "logical_xor",
}
"""Rows of the operations that work on truth values where the element type is i1, on bits else."""
