"""Write operations that few programs have in terms of common ones.

Operands that CHLO broadcasts are brought to one shape; functions of each element and Einstein's
sums are written out; what one device exchanges with others is what it has; what has no elements is
not computed.

Before:

    func.func @scaled(%x: tensor<33x70xf32>, %y: tensor<70xf32>) -> tensor<33x70xf32> {
      %0 = chlo.broadcast_multiply %x, %y : (tensor<33x70xf32>, tensor<70xf32>)
          -> tensor<33x70xf32>
      return %0 : tensor<33x70xf32>
    }

After:

    module {
      func.func @scaled(%arg0: tensor<33x70xf32>, %arg1: tensor<70xf32>) -> tensor<33x70xf32> {
        %0 = stablehlo.broadcast_in_dim %arg1, dims = [1]
            : (tensor<70xf32>) -> tensor<33x70xf32>
        %1 = stablehlo.multiply %arg0, %0 : tensor<33x70xf32>
        return %1 : tensor<33x70xf32>
      }
    }

Requires: calls inlined (`inline`), loops and branches flattened (`stablehlo-flatten-control-flow`),
shapes refined (`stablehlo-refine-shapes`).
Ensures: none of the operations is left that the rules of this pass name.
Options: none.
Not done here: -
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.traits import Pure

from ttmlir.ir.rewriting import erase_unused
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.stablehlo.specification import (
    bits,
    broadcasting,
    collectives,
    nothing,
)
from ttmlir.passes.stablehlo.specification.bits import join_words

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Block, Operation

    from ttmlir.passes.core.ttir_conversion import ConversionRule


@dataclass(frozen=True)
class StableHLOExpandOperationsPass(ModulePass):
    """Write operations that few programs have in terms of common ones."""

    name = "stablehlo-expand-operations"
    title = "StableHLOExpandOperations"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Expand what every function contains."""
        for function in module.ops:
            for region in function.regions:
                for block in region.blocks:
                    _expand(block, RULES)
                    for op in [op for op in block.ops if op.name == _BITCAST]:
                        if bits.is_of_words(op):
                            join_words(op)


def _expand(block: Block, rules: dict[str, ConversionRule]) -> None:
    """Apply rules to the operations of a block, and to what they become."""
    is_changed = False
    op = block.first_op
    while op is not None:
        rule = rules.get(op.name)
        if nothing.has_nothing(op):
            rule = nothing.compute_nothing
        elif rule is None or _is_kept(op):
            for region in op.regions:
                for inner in region.blocks:
                    _expand(inner, RULES_IN_BODIES)
            op = op.next_op
            continue
        before = op.prev_op
        rule(op)
        is_changed = True
        op = block.first_op if before is None else before.next_op
    if is_changed:
        # What took operands apart has no users any more.
        erase_unused(op for op in block.ops if op.results and op.has_trait(Pure))


def _is_kept(op: Operation) -> bool:
    """True for forms of an operation that the conversion to ttir takes."""
    is_expanded = SOMETIMES.get(op.name)
    return is_expanded is not None and not is_expanded(op)


_BITCAST = "stablehlo.bitcast_convert"
SOMETIMES: dict[str, Callable[[Operation], bool]] = {
    "chlo.conj": broadcasting.is_real_conj,
    _BITCAST: bits.is_between_widths,
    "stablehlo.custom_call": collectives.is_spelled,
    **dict.fromkeys(collectives.BETWEEN_DEVICES, collectives.is_for_one_device),
    "stablehlo.reduce_precision": bits.has_no_type,
}
"""What tells which forms of an operation are expanded, where not all are."""


RULES_IN_BODIES: dict[str, ConversionRule] = {
    **broadcasting.RULES,
}
RULES: dict[str, ConversionRule] = {
    **RULES_IN_BODIES,
    **bits.RULES,
    **collectives.RULES,
    _BITCAST: bits.cast_bits,
    "stablehlo.reduce_precision": bits.round_to_format,
}
"""What becomes of each operation."""
