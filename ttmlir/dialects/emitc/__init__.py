"""The emitc dialect of MLIR 19: C++ as operations.

xDSL has the types and a few operations; here are all operations, with MLIR's verifiers and text.
Variables are values, as the code that we print expects, or lvalues, as in later versions of MLIR.
"""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, IntAttr
from xdsl.dialects.emitc import (
    EmitC_ArrayType,
    EmitC_LValueType,
    EmitC_OpaqueAttr,
    EmitC_OpaqueType,
    EmitC_PointerType,
    EmitC_PtrDiffT,
    EmitC_SignedSizeT,
    EmitC_SizeT,
    EmitCArrayElementTypeConstr,
)
from xdsl.ir import Attribute, Dialect
from xdsl.parser import AttrParser

from ttmlir.dialects.emitc.expressions import (
    EXPRESSIONS,
    AddOp,
    ApplyOp,
    BitwiseNotOp,
    CallOp,
    CallOpaqueOp,
    CastOp,
    CmpOp,
    ConditionalOp,
    DivOp,
    IncludeOp,
    LiteralOp,
    LogicalNotOp,
    MulOp,
    RemOp,
    SubOp,
    SubscriptOp,
    UnaryMinusOp,
    UnaryPlusOp,
    VerbatimOp,
)
from ttmlir.dialects.emitc.structure import (
    STRUCTURE,
    AssignOp,
    ConstantOp,
    DeclareFuncOp,
    ExpressionOp,
    ForOp,
    FuncOp,
    GetGlobalOp,
    GlobalOp,
    IfOp,
    LoadOp,
    ReturnOp,
    VariableOp,
    YieldOp,
)

__all__ = [
    "AddOp",
    "ApplyOp",
    "AssignOp",
    "BitwiseNotOp",
    "CallOp",
    "CallOpaqueOp",
    "CastOp",
    "CmpOp",
    "ConditionalOp",
    "ConstantOp",
    "DeclareFuncOp",
    "DivOp",
    "EmitC",
    "EmitC_ArrayType",
    "EmitC_LValueType",
    "EmitC_OpaqueAttr",
    "EmitC_OpaqueType",
    "EmitC_PointerType",
    "ExpressionOp",
    "ForOp",
    "FuncOp",
    "GetGlobalOp",
    "GlobalOp",
    "IfOp",
    "IncludeOp",
    "LiteralOp",
    "LoadOp",
    "LogicalNotOp",
    "MulOp",
    "RemOp",
    "ReturnOp",
    "SubOp",
    "SubscriptOp",
    "UnaryMinusOp",
    "UnaryPlusOp",
    "VariableOp",
    "VerbatimOp",
    "YieldOp",
]


def _parse_array(parser: AttrParser) -> tuple[ArrayAttr[IntAttr], Attribute]:
    """Read `<2x3xi32>`; xDSL's reader takes extents of 0, and its errors have no positions."""
    start = parser.pos - len("array")
    with parser.in_angle_brackets():
        extents, element = parser.parse_ranked_shape()
        if not extents:
            parser.raise_error("shape must not be empty", start)
        if DYNAMIC_INDEX in extents:
            parser.raise_error("expected static shape", start)
        if 0 in extents:
            parser.raise_error("dimensions must have positive size", start)
        if not EmitCArrayElementTypeConstr.verifies(element):
            parser.raise_error("invalid array element type", start)
    return ArrayAttr(map(IntAttr, extents)), element


EmitC_ArrayType.parse_parameters = _parse_array

EmitC = Dialect(
    "emitc",
    [*EXPRESSIONS, *STRUCTURE],
    [
        EmitC_ArrayType,
        EmitC_LValueType,
        EmitC_OpaqueAttr,
        EmitC_OpaqueType,
        EmitC_PointerType,
        EmitC_PtrDiffT,
        EmitC_SignedSizeT,
        EmitC_SizeT,
    ],
)
"""The dialect, for an xDSL context."""
