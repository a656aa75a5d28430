"""Operations of arith and math that mean what one row of the operation table means.

Operations whose meaning depends on an attribute, on signs or on the width of their operands are not
listed: `passes/convert_arith_to_ttir.py` spells them out.
"""

from __future__ import annotations

ELEMENTWISE: dict[str, str] = {
    "arith.addf": "add",
    "arith.addi": "add",
    "arith.andi": "bitwise_and",
    "arith.divf": "div",
    "arith.divsi": "div",
    "arith.extf": "typecast",
    "arith.fptosi": "typecast",
    "arith.index_cast": "typecast",
    "arith.maximumf": "maximum",
    "arith.maxsi": "maximum",
    "arith.minimumf": "minimum",
    "arith.minsi": "minimum",
    "arith.mulf": "multiply",
    "arith.muli": "multiply",
    "arith.negf": "neg",
    "arith.ori": "bitwise_or",
    "arith.remf": "remainder",
    "arith.remsi": "remainder",
    "arith.select": "where",
    "arith.shli": "logical_left_shift",
    "arith.shrsi": "right_shift",
    "arith.shrui": "logical_right_shift",
    "arith.subf": "subtract",
    "arith.subi": "subtract",
    "arith.truncf": "typecast",
    "arith.xori": "bitwise_xor",
    "math.absf": "abs",
    "math.absi": "abs",
    "math.acos": "acos",
    "math.acosh": "acosh",
    "math.asin": "asin",
    "math.asinh": "asinh",
    "math.atan": "atan",
    "math.atan2": "atan2",
    "math.atanh": "atanh",
    "math.cbrt": "cbrt",
    "math.ceil": "ceil",
    "math.cos": "cos",
    "math.cosh": "cosh",
    "math.ctlz": "count_leading_zeros",
    "math.ctpop": "population_count",
    "math.erf": "erf",
    "math.exp": "exp",
    "math.exp2": "exp2",
    "math.expm1": "expm1",
    "math.floor": "floor",
    "math.log": "log",
    "math.log1p": "log1p",
    "math.powf": "pow",
    "math.roundeven": "round",
    "math.rsqrt": "rsqrt",
    "math.sin": "sin",
    "math.sinh": "sinh",
    "math.sqrt": "sqrt",
    "math.tan": "tan",
    "math.tanh": "tanh",
    "math.trunc": "trunc",
}
"""Mnemonic of the row, by the full name of the operation."""

BOOLEAN: dict[str, str] = {
    "arith.addi": "logical_xor",
    "arith.andi": "logical_and",
    "arith.maxui": "logical_or",
    "arith.minui": "logical_and",
    "arith.muli": "logical_and",
    "arith.ori": "logical_or",
    "arith.subi": "logical_xor",
    "arith.xori": "logical_xor",
}
"""Rows of the operations on one bit, which wrap around."""

UNSIGNED: dict[str, str] = {
    "arith.divui": "div",
    "arith.maxui": "maximum",
    "arith.minui": "minimum",
    "arith.remui": "remainder",
}
"""Rows of the operations that see their operands as numbers without sign."""

ORDERED = ("eq", "gt", "ge", "lt", "le")
"""Rows of the predicates 1 to 5 of `arith.cmpf`, which are false where an operand is NaN."""

INTEGER = ("eq", "ne", "lt", "le", "gt", "ge", "lt", "le", "gt", "ge")
"""Rows of the predicates of `arith.cmpi`, the last four of which are for numbers without sign."""
