"""Make one operation of several that compute what it computes.

Before:

    func.func @main(%x: tensor<31x66xf32>) -> tensor<31x66xf32> {
      %0 = "ttir.constant"() <{value = dense<1.0> : tensor<31x66xf32>}> : () -> tensor<31x66xf32>
      %1 = "ttir.neg"(%x) : (tensor<31x66xf32>) -> tensor<31x66xf32>
      %2 = "ttir.exp"(%1) : (tensor<31x66xf32>) -> tensor<31x66xf32>
      %3 = "ttir.add"(%0, %2) :
          (tensor<31x66xf32>, tensor<31x66xf32>) -> tensor<31x66xf32>
      %4 = "ttir.div"(%0, %3) :
          (tensor<31x66xf32>, tensor<31x66xf32>) -> tensor<31x66xf32>
      %5 = "ttir.multiply"(%x, %4) :
          (tensor<31x66xf32>, tensor<31x66xf32>) -> tensor<31x66xf32>
      return %5 : tensor<31x66xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<31x66xf32>) -> tensor<31x66xf32> {
        %0 = "ttir.silu"(%arg0) : (tensor<31x66xf32>) -> tensor<31x66xf32>
        return %0 : tensor<31x66xf32>
      }
    }

Requires: ttir of 2025 or later, in which operations make their results; others stay as they are.
Ensures: no rule of `fusing_activations.py`, `fusing_products.py` and `fusing_reductions.py` applies.
Options: none.
Not done here: nothing is rounded as before; what was computed in several steps is computed in one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.ir.builder import Spelling
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttir import fusing_activations, fusing_products, fusing_reductions
from ttmlir.passes.ttir.value_rewriting import Rule, rewrite_values, spelling_of

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class TTIRFusingPass(ModulePass):
    """Make one operation of several that compute what it computes."""

    name = "ttir-fusing"
    title = "TTIRFusing"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Apply the rules until none fits."""
        if spelling_of(module) is Spelling.LATE:
            rewrite_values(module, RULES)


def _merged(*tables: Mapping[str, Sequence[Rule]]) -> dict[str, list[Rule]]:
    found: dict[str, list[Rule]] = {}
    for table in tables:
        for mnemonic, rules in table.items():
            found.setdefault(mnemonic, []).extend(rules)
    return found


RULES = _merged(fusing_activations.RULES, fusing_reductions.RULES, fusing_products.RULES)
"""Rules by the name of the operation that they look at first."""
