"""Decompose softmax and batch normalization into reductions and elementwise operations.

Before:

    func.func @f(%x: tensor<3x70xf32>) -> tensor<3x70xf32> {
      %0 = tensor.empty() : tensor<3x70xf32>
      %1 = "ttir.softmax"(%x, %0) <{dimension = -1 : si32, operand_constraints =
          [#tt.operand_constraint<any_device>, #tt.operand_constraint<any_device>]}>
          : (tensor<3x70xf32>, tensor<3x70xf32>) -> tensor<3x70xf32>
      return %1 : tensor<3x70xf32>
    }

After:

    ...
        %1 = "ttir.max"(%arg0, %0) <{dim_arg = [1 : i32], keep_dim = true, ...
        %3 = "ttir.subtract"(%arg0, %1, %2) ...
        %5 = "ttir.exp"(%3, %4) ...
        %7 = "ttir.sum"(%5, %6) <{dim_arg = [1 : i32], keep_dim = true, ...
        %9 = "ttir.div"(%5, %7, %8) ...
        return %9 : tensor<3x70xf32>
      }
    }

Requires: nothing.
Ensures: no `ttir.softmax` and no `ttir.batch_norm_inference` is left; ttnn has both, so its
pipeline does without the pass.
Options: none.
Not done here: nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.tensor import EmptyOp

from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import erase_unused, replace
from ttmlir.ir.tensor_types import element_type, tensor_like, value_shape
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import SSAValue

    from ttmlir.dialects.definition.ods import DestinationStyleOp
    from ttmlir.dialects.definition.row_ops import RowOperation


@dataclass(frozen=True)
class TTIRCompositeDecompositionPass(ModulePass):
    """Decompose softmax and batch normalization into operations that kernels compute."""

    name = "ttir-composite-decomposition"
    title = "TTIRCompositeDecomposition"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Apply the rules to every operation inside the module."""
        for op in [op for op in module.walk() if op.name in _RULES]:
            destinations = [value.owner for value in cast("DestinationStyleOp", op).inits]
            replace(op, _RULES[op.name](Builder.before(op), cast("RowOperation", op)))
            erase_unused(owner for owner in destinations if isinstance(owner, EmptyOp))


def _softmax(builder: Builder, op: RowOperation) -> SSAValue:
    """Exponentials, of differences to the largest number, over their sum."""
    value = op.operands[0]
    shape = value_shape(value)
    dim = cast("int", op.parameters()["dimension"]) % len(shape)
    kept = tensor_like(value, [1 if n == dim else extent for n, extent in enumerate(shape)])
    over = {"dim_arg": (dim,), "keep_dim": True}
    largest = builder.create("max", (value,), kept, **over)
    centered = builder.create("subtract", (value, largest), value.type)
    powers = builder.create("exp", (centered,), value.type)
    total = builder.create("sum", (powers,), kept, **over)
    return builder.create("div", (powers, total), op.results[0].type)


def _batch_norm_inference(builder: Builder, op: RowOperation) -> SSAValue:
    """(input - mean) * (scale / sqrt(variance + epsilon)) + offset."""
    value, scale, offset, mean, variance = op.operands[:5]
    parameters = op.parameters()
    dim, rank = cast("int", parameters["dimension"]), len(value_shape(value))

    def place(statistic: SSAValue) -> SSAValue:
        extents = [1] * rank
        extents[dim] = value_shape(value)[dim]
        return builder.reshape(statistic, extents)

    epsilon = builder.create_scalar(cast("float", parameters["epsilon"]), element_type(variance))
    shifted = builder.create("add", (variance, epsilon), variance.type)
    deviation = builder.create("sqrt", (shifted,), variance.type)
    factor = builder.create("div", (scale, deviation), scale.type)
    centered = builder.create("subtract", (value, place(mean)), value.type)
    scaled = builder.create("multiply", (centered, place(factor)), value.type)
    return builder.create("add", (scaled, place(offset)), op.results[0].type)


_RULES: Mapping[str, Callable[[Builder, RowOperation], SSAValue]] = {
    "ttir.batch_norm_inference": _batch_norm_inference,
    "ttir.softmax": _softmax,
}
"""What stands for an operation, by its full name."""
