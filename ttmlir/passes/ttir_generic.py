"""Wrap operations that have a region form into `ttir.generic`.

Before:

    #t = #tt.operand_constraint<any_device_tile>
    func.func @add(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>) -> tensor<33x70xf32> {
      %0 = tensor.empty() : tensor<33x70xf32>
      %1 = "ttir.add"(%arg0, %arg1, %0) <{operandSegmentSizes = array<i32: 2, 1>,
          operand_constraints = [#t, #t, #t]}>
          : (tensor<33x70xf32>, tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
      return %1 : tensor<33x70xf32>
    }

After:

    ...
    #map = affine_map<(d0, d1) -> (d0, d1)>
    #parallel = #tt.iterator_type<parallel>
    module {
      func.func @add(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>) -> tensor<33x70xf32> {
        %0 = tensor.empty() : tensor<33x70xf32>
        %1 = "ttir.generic"(%arg0, %arg1, %0) <{grid = #tt.grid<1x1>,
            indexing_maps = [#map, #map, #map], iterator_types = [#parallel, #parallel],
            operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device_tile,
            #any_device_tile, #any_device_tile]}> ({
        ^bb0(%arg2: tensor<33x70xf32>, %arg3: tensor<33x70xf32>, %arg4: tensor<33x70xf32>):
          %2 = arith.addf %arg2, %arg3 : tensor<33x70xf32>
          "ttir.yield"(%2) : (tensor<33x70xf32>) -> ()
        }) : (tensor<33x70xf32>, tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
        return %1 : tensor<33x70xf32>
      }
    }

Requires: nothing.
Ensures: every `ttir.add` and `ttir.multiply` on operands of one shape is a `ttir.generic`, whose
operands accept tiles in device memory.
Options: none.
Not done here: operations whose operands broadcast stay as they are, since the body of a generic
computes on operands of one type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineMap

from ttmlir.dialects import ttir
from ttmlir.layout.enums import IteratorType, OperandConstraint
from ttmlir.passes.base import ModulePass
from ttmlir.passes.generics import is_inside_generic, wrap
from ttmlir.passes.rewriting import clean_up

if TYPE_CHECKING:
    from xdsl.context import Context

_FLOAT_OPS = {"add": arith.AddfOp, "multiply": arith.MulfOp}
_INTEGER_OPS = {"add": arith.AddiOp, "multiply": arith.MuliOp}


@dataclass(frozen=True)
class TTIRGenericPass(ModulePass):
    """Wrap operations that have a region form into `ttir.generic`."""

    name = "ttir-generic"
    title = "TTIRGenericRegion"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Wrap every operation of the module that has a region form."""
        for op in [op for op in module.walk() if isinstance(op, ttir.GenericRegionOp)]:
            assert isinstance(op, ttir.TTIRRowOp), "operations with a region form have a row"
            if not is_inside_generic(op) and _have_one_shape(op):
                _wrap(op)
        clean_up(module)


def _have_one_shape(op: Operation) -> bool:
    shapes = [cast("TensorType[Attribute]", value.type).get_shape() for value in op.operands]
    return all(shape == shapes[0] for shape in shapes)


def _wrap(op: ttir.TTIRRowOp) -> None:
    element_type = cast("TensorType[Attribute]", op.operands[0].type).element_type
    ops = _FLOAT_OPS if isinstance(element_type, AnyFloat) else _INTEGER_OPS

    def body(block: Block) -> Sequence[SSAValue]:
        def combine(lhs: SSAValue, rhs: SSAValue) -> SSAValue:
            combined = ops[op.ROW.mnemonic](lhs, rhs)
            combined.location = op.location
            block.add_op(combined)
            return combined.result

        return (reduce(combine, block.args[: len(op.inputs)]),)

    rank = len(cast("TensorType[Attribute]", op.operands[0].type).get_shape())
    wrap(
        op,
        body,
        indexing_maps=[AffineMap.identity(rank)] * len(op.operands),
        iterator_types=[IteratorType.PARALLEL] * rank,
        constraint=OperandConstraint.ANY_DEVICE_TILE,
    )
