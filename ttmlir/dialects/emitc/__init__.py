"""The emitc dialect of MLIR 19: C++ as operations.

xDSL has the types and a few operations; here are all operations, with MLIR's verifiers and text.
Variables are values, as the code that we print expects, or lvalues, as in later versions of MLIR.
"""

from __future__ import annotations

from xdsl.dialects.emitc import (
    EmitC_ArrayType,
    EmitC_LValueType,
    EmitC_OpaqueAttr,
    EmitC_OpaqueType,
    EmitC_PointerType,
    EmitC_PtrDiffT,
    EmitC_SignedSizeT,
    EmitC_SizeT,
)
from xdsl.ir import Dialect

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
