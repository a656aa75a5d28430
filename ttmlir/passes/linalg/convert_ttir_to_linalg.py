"""Turn operations of ttir into linalg, arith and math on tensors.

Before:

    func.func @layer(%x: tensor<33x70xf32>, %w: tensor<70x5xf32>) -> tensor<33x1xf32> {
      %0 = "ttir.matmul"(%x, %w) : (tensor<33x70xf32>, tensor<70x5xf32>) -> tensor<33x5xf32>
      %1 = "ttir.exp"(%0) : (tensor<33x5xf32>) -> tensor<33x5xf32>
      %2 = "ttir.sum"(%1) <{dim_arg = [1 : i32], keep_dim = true}>
          : (tensor<33x5xf32>) -> tensor<33x1xf32>
      return %2 : tensor<33x1xf32>
    }

After:

    ...
        %cst = arith.constant dense<0.000000e+00> : tensor<33x5xf32>
        %0 = linalg.matmul ins(%arg0, %arg1 : tensor<33x70xf32>, tensor<70x5xf32>)
            outs(%cst : tensor<33x5xf32>) -> tensor<33x5xf32>
        %1 = tensor.empty() : tensor<33x5xf32>
        %2 = linalg.exp ins(%0 : tensor<33x5xf32>) outs(%1 : tensor<33x5xf32>) -> tensor<33x5xf32>
        %cst_0 = arith.constant dense<0.000000e+00> : tensor<33xf32>
        %3 = linalg.reduce ins(%2 : tensor<33x5xf32>) outs(%cst_0 : tensor<33xf32>)
            dimensions = [1] (%in: f32, %init: f32) {
          %4 = arith.addf %init, %in : f32
          linalg.yield %4 : f32
        }
        %expanded = tensor.expand_shape %3 [[0, 1]] output_shape [33, 1] : ...
        return %expanded : tensor<33x1xf32>
      }
    }

Requires: static shapes; elements without `ui` and `si`, which arith has not.
Ensures: no operation of ttir is left. Operations that linalg has a name for are named ones, others
those of arith and math on tensors; operands are brought to the shape of the result first. Sums and
products of 16-bit floats are added in 32 bits.
Options: none.
Not done here: sorts, gathers, `reverse`, convolutions in groups, quantization, and what several
devices do, which are refused with a location.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerType, Signedness, TensorType
from xdsl.dialects.tensor import EmptyOp

from ttmlir.dialects import ttir
from ttmlir.dialects.definition.ods import DestinationStyleOp
from ttmlir.dialects.definition.table_ops import TableOperation
from ttmlir.ir.rewriting import erase_unused, refuse_to_legalize, replace
from ttmlir.ir.tensor_types import check_static_shape, dtype_of, element_type, value_shape
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation, SSAValue


@dataclass(frozen=True)
class ConvertTTIRToLinalgPass(ModulePass):
    """Turn operations of ttir into linalg, arith and math on tensors."""

    name = "convert-ttir-to-linalg"
    title = "ConvertTTIRToLinalg"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert every operation of ttir."""
        from ttmlir.passes.general.convert_spelling import decompose_late

        decompose_late(module)
        ops = [op for op in module.walk() if op.name.startswith("ttir.")]
        destinations = [
            value.owner for op in ops if isinstance(op, DestinationStyleOp) for value in op.inits
        ]
        for op in ops:
            _convert(op)
        erase_unused(dict.fromkeys(each for each in destinations if isinstance(each, EmptyOp)))


def _convert(op: Operation) -> None:
    if isinstance(op, ttir.ConstantOp):
        result = op.results[0]
        replace_by = ConstantOp.create(
            result_types=[result.type], properties={"value": op.value}, location=op.location
        )
        block = op.parent
        assert block is not None, "operations are in blocks"
        block.insert_op_before(replace_by, op)
        replace(op, replace_by.results[0])
        return
    if not isinstance(op, TableOperation) or len(op.results) != 1:
        refuse_to_legalize(
            op, f"{ConvertTTIRToLinalgPass.name} takes operations on tensors with one result each"
        )
    inputs = op.inputs if isinstance(op, ttir.TTIRTableOp) else op.operands
    _check_types(op, (*inputs, *op.results))
    from ttmlir.ir.linalg_arrays import LinalgCarrier

    carrier = LinalgCarrier.before(op)
    arrays = [carrier.wrap(value) for value in inputs]
    result = op.results[0]
    try:
        found = carrier.create(
            op.DEFINITION,
            arrays,
            value_shape(result),
            dtype_of(element_type(result)),
            dict(op.parameters()),
        )
    except ValueError as error:
        refuse_to_legalize(op, str(error))
    replace(op, found)


def _check_types(op: Operation, values: Sequence[SSAValue]) -> None:
    for value in values:
        check_static_shape(op, value.type)
        element = cast("TensorType[Attribute]", value.type).element_type
        is_signed = (
            isinstance(element, IntegerType)
            and cast("IntegerType", element).signedness.data is not Signedness.SIGNLESS
        )
        if is_signed:
            refuse_to_legalize(
                op,
                f"arith computes on integers without ui and si, got {element}; convert them to "
                "i8, i16 or i32 by ttir.typecast",
            )
