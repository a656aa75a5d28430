"""What operations of arith are in C++: operators, and which numbers they compute on.

Both ways to C++ read it: kernels as trees, and the emitc dialect.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import Operation

WRAPPING: dict[type[Operation], str] = {
    arith.AddiOp: "+",
    arith.SubiOp: "-",
    arith.MuliOp: "*",
    arith.DivUIOp: "/",
    arith.RemUIOp: "%",
    arith.AndIOp: "&",
    arith.OrIOp: "|",
    arith.XOrIOp: "^",
    arith.ShLIOp: "<<",
    arith.ShRUIOp: ">>",
}
"""Computed on unsigned numbers."""

PLAIN: dict[type[Operation], str] = {
    arith.DivSIOp: "/",
    arith.RemSIOp: "%",
    arith.ShRSIOp: ">>",
    arith.AddfOp: "+",
    arith.SubfOp: "-",
    arith.MulfOp: "*",
    arith.DivfOp: "/",
}
"""Computed on the numbers as they are."""

CASTS = (
    arith.ExtFOp,
    arith.ExtSIOp,
    arith.FPToSIOp,
    arith.IndexCastOp,
    arith.SIToFPOp,
    arith.TruncFOp,
    arith.TruncIOp,
)
UNSIGNED_CASTS = (arith.ExtUIOp, arith.UIToFPOp)
EXTREMA: dict[type[Operation], tuple[str, bool]] = {
    arith.MaxSIOp: (">", False),
    arith.MinSIOp: ("<", False),
    arith.MaxUIOp: (">", True),
    arith.MinUIOp: ("<", True),
}
"""The comparison that chooses the first operand, and whether it is one of unsigned numbers."""

COMPARISONS = (
    *((operator, False) for operator in ("==", "!=", "<", "<=", ">", ">=")),
    *((operator, True) for operator in ("<", "<=", ">", ">=")),
)
"""Of `arith.cmpi` by predicate; and whether the comparison is one of unsigned numbers."""

ON_BOOLEANS = frozenset({"&", "|", "^"})
"""Operators that are fine between booleans, too."""
