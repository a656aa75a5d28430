"""Take over rules that frontends give calls: how their operands and results are spread.

Before:

    func.func @main(%a: tensor<64x32xf32>) -> tensor<64x32xf32> {
      %0 = stablehlo.custom_call @mine(%a) {mhlo.frontend_attributes =
          {xla.sdy.custom_sharding_rule =
          "#sdy.op_sharding_rule<([i, j])->([i, j]) {i=64, j=32}, custom>"}}
          : (tensor<64x32xf32>) -> tensor<64x32xf32>
      return %0 : tensor<64x32xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<64x32xf32>) -> tensor<64x32xf32> {
        %0 = stablehlo.custom_call @mine(%arg0)
            {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=64, j=32}, custom>}
            : (tensor<64x32xf32>) -> tensor<64x32xf32>
        return %0 : tensor<64x32xf32>
      }
    }

Requires: nothing.
Ensures: operations with the frontend attribute `xla.sdy.custom_sharding_rule` have a
`sdy.sharding_rule` instead, which fits them.
Options: none.
Not done here: spreading by the rules.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DictionaryAttr, StringAttr

from ttmlir.dialects import sdy
from ttmlir.ir.rewriting import refuse
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

_WORDS = "mhlo.frontend_attributes"
_RULE = "xla.sdy.custom_sharding_rule"
_FORM = re.compile(rf"#sdy\.op_sharding_rule({sdy.OpShardingRuleAttr.FORM})")


@dataclass(frozen=True)
class RegisterUserShardingRulePass(ModulePass):
    """Take over rules that frontends give calls."""

    name = "register-user-sharding-rule"
    title = "RegisterUserShardingRulePass"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert every rule."""
        for op in module.walk():
            words = op.attributes.get(_WORDS)
            if isinstance(words, DictionaryAttr) and _RULE in words.data:
                _take(op, words)


def _take(op: Operation, words: DictionaryAttr) -> None:
    said = words.data[_RULE]
    found = _FORM.fullmatch(said.data) if isinstance(said, StringAttr) else None
    if found is None:
        refuse(op, f"failed to parse '{_RULE}' frontend attribute as an #sdy.op_sharding_rule")
    rest = {name: value for name, value in words.data.items() if name != _RULE}
    del op.attributes[_WORDS]
    if rest:
        op.attributes[_WORDS] = DictionaryAttr(rest)
    op.attributes["sdy.sharding_rule"] = sdy.OpShardingRuleAttr(found[1])
    if (wrong := sdy.checks().check_rule(op)) is not None:
        refuse(op, wrong)
