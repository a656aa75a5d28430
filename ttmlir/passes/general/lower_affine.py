"""Write loops and indices of affine in scf, arith and memref.

Before:

    func.func @f(%x: memref<8xf32>) {
      affine.for %i = 0 to 4 {
        %0 = affine.load %x[%i * 2 + 1] : memref<8xf32>
        affine.store %0, %x[%i] : memref<8xf32>
      }
      return
    }

After:

    ...
        %c0 = arith.constant 0 : index
        %c4 = arith.constant 4 : index
        %c1 = arith.constant 1 : index
        scf.for %arg1 = %c0 to %c4 step %c1 {
          %c2 = arith.constant 2 : index
          %0 = arith.muli %arg1, %c2 : index
          %c1_0 = arith.constant 1 : index
          %1 = arith.addi %0, %c1_0 : index
          %2 = memref.load %arg0[%1] : memref<8xf32>
          memref.store %2, %arg0[%arg1] : memref<8xf32>
        }
        return
      }
    ...

Requires: loops whose bounds are single expressions.
Ensures: no loops, loads, stores and `affine.apply` of affine are left.
Options: none.
Not done here: conditions of affine, and what is on vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects import affine, arith, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr

from ttmlir.ir.builder import OpBuilder
from ttmlir.ir.rewriting import erase, refuse, replace
from ttmlir.layout.affine import (
    AffineExpr,
    AffineKind,
    BinaryExpr,
    ConstantExpr,
    DimExpr,
    SymbolExpr,
)
from ttmlir.mlir.attributes import layout_map
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.context import Context
    from xdsl.dialects.builtin import AffineMapAttr, ModuleOp
    from xdsl.ir import Operation, SSAValue

_DIVISIONS = {
    AffineKind.FLOORDIV: arith.FloorDivSIOp,
    AffineKind.CEILDIV: arith.CeilDivSIOp,
}


@dataclass(frozen=True)
class LowerAffinePass(ModulePass):
    """Write loops and indices of affine in scf, arith and memref."""

    name = "lower-affine"
    title = "ConvertAffineToStandard"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert every operation of affine."""
        lower_affine(module)


def lower_affine(root: Operation) -> None:
    """Convert every operation of affine in another one."""
    for op in list(root.walk()):
        match op:
            case affine.ForOp():
                _convert_loop(op)
            case affine.ApplyOp():
                replace(op, *expand(op, op.map, op.mapOperands))
            case affine.LoadOp():
                indices = expand(op, op.map, op.indices)
                new = memref.LoadOp.get(op.memref, indices)
                _put(op, new)
                replace(op, new.res)
            case affine.StoreOp():
                indices = expand(op, op.map, op.indices)
                _put(op, memref.StoreOp.get(op.value, op.memref, indices))
                erase(op)
            case _:
                pass


def _put(before: Operation, new: Operation) -> None:
    new.location = before.location
    OpBuilder.before(before).insert(new)


def _convert_loop(loop: affine.ForOp) -> None:
    bounds: list[SSAValue] = []
    for attr, operands in (
        (loop.lowerBoundMap, loop.lowerBoundOperands),
        (loop.upperBoundMap, loop.upperBoundOperands),
    ):
        found = expand(loop, attr, operands)
        if len(found) != 1:
            refuse(loop, "has a bound of several expressions; supported is one")
        bounds += found
    bounds.append(_constant(OpBuilder.before(loop), loop.step.value.data))
    block = loop.body.detach_block(0)
    end = cast("affine.YieldOp", block.last_op)
    new_end = scf.YieldOp(*end.operands)
    _put(end, new_end)
    erase(end)
    new = scf.ForOp(bounds[0], bounds[1], bounds[2], list(loop.inits), block)
    new.attributes |= loop.attributes
    _put(loop, new)
    replace(loop, *new.results)


def expand(before: Operation, attr: AffineMapAttr, operands: Sequence[SSAValue]) -> list[SSAValue]:
    """The results of a map on values, as operations in front of another one."""
    index_map = layout_map(attr)
    build = OpBuilder.before(before)
    values = list(operands)
    return [
        _value(build, result, values[: index_map.num_dims], values[index_map.num_dims :])
        for result in index_map.results
    ]


def _value(
    build: OpBuilder, expr: AffineExpr, dims: Sequence[SSAValue], symbols: Sequence[SSAValue]
) -> SSAValue:
    match expr:
        case DimExpr():
            return dims[expr.position]
        case SymbolExpr():
            return symbols[expr.position]
        case ConstantExpr():
            return _constant(build, expr.value)
        case BinaryExpr():
            a, b = (_value(build, each, dims, symbols) for each in (expr.lhs, expr.rhs))
            if expr.kind is AffineKind.MOD:
                return _remainder(build, a, b)
            if expr.kind is AffineKind.ADD:
                op: Operation = arith.AddiOp(a, b)
            elif expr.kind is AffineKind.MUL:
                op = arith.MuliOp(a, b)
            else:
                op = _DIVISIONS[expr.kind](a, b)
            return build.put(op)
        case _:
            raise AssertionError("expressions are dimensions, symbols, constants and pairs")


def _constant(build: OpBuilder, number: int) -> SSAValue:
    return build.put(arith.ConstantOp(IntegerAttr(number, IndexType())))


def _remainder(build: OpBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """What a floor division leaves, which is never negative."""
    rest = build.put(arith.RemSIOp(a, b))
    is_negative = build.put(arith.CmpiOp(rest, _constant(build, 0), "slt"))
    return build.put(arith.SelectOp(is_negative, build.put(arith.AddiOp(rest, b)), rest))
