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
from xdsl.rewriter import Rewriter

from ttmlir.arrays.array import Array
from ttmlir.composites.normalization import put_along, scale_channels
from ttmlir.ir.builder import Builder, TTIRCarrier, array_in
from ttmlir.ir.rewriting import erase_unused, replace
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import SSAValue

    from ttmlir.dialects.definition.ods import DestinationStyleOp
    from ttmlir.dialects.definition.table_ops import TableOperation


@dataclass(frozen=True)
class TTIRCompositeDecompositionPass(ModulePass):
    """Decompose softmax and batch normalization into operations that kernels compute."""

    name = "ttir-composite-decomposition"
    title = "TTIRCompositeDecomposition"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Apply the rules to every operation inside the module."""
        for op in [op for op in module.walk() if op.name in _RULES]:
            destinations = [value.owner for value in cast("DestinationStyleOp", op).inits]
            carrier = TTIRCarrier(Builder.before(op))
            operands = [array_in(carrier, value) for value in cast("DestinationStyleOp", op).inputs]
            parameters = cast("TableOperation", op).parameters()
            found = _RULES[op.name](*operands, **parameters).value
            replace(op, _with_layout_of(op.results[0], found))
            erase_unused(owner for owner in destinations if isinstance(owner, EmptyOp))


def _with_layout_of(result: SSAValue, found: SSAValue) -> SSAValue:
    """A value in place of a result; the operation that makes it writes it in the result's layout.

    Arrays have no layouts, so what is computed in between has none.
    """
    if found.type == result.type:
        return found
    for init in cast("DestinationStyleOp", found.owner).inits:
        Rewriter.replace_value_with_new_type(init, result.type)
    return Rewriter.replace_value_with_new_type(found, result.type)


def _softmax(x: Array, *, dimension: int) -> Array:
    """Exponentials, of differences to the largest number, over their sum."""
    powers = (x - x.max(dimension)).exp()
    return powers / powers.sum(dimension)


def _batch_norm_inference(
    x: Array,
    scale: Array,
    offset: Array,
    mean: Array,
    variance: Array,
    *,
    dimension: int,
    epsilon: float,
) -> Array:
    factor = scale / (variance + epsilon).sqrt()
    return scale_channels(x - put_along(mean, x, dimension), factor, offset, dimension)


_RULES: Mapping[str, Callable[..., Array]] = {
    "ttir.batch_norm_inference": _batch_norm_inference,
    "ttir.softmax": _softmax,
}
"""What stands for an operation, by its full name."""
