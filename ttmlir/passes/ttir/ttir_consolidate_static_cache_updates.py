"""Let the layers of a model count the tokens in their caches together.

Before:

    func.func @main(%k: tensor<1x4x32x64xbf16>, %v: tensor<1x4x32x64xbf16>,
        %new: tensor<1x1x4x64xbf16>, %p: tensor<1xsi32>, %q: tensor<1xsi32>)
        -> (tensor<1xsi32>, tensor<1xsi32>) {
      %one = "ttir.full"() <{fill_value = 1 : i32, shape = array<i32: 1>}> : () -> tensor<1xsi32>
      "ttir.paged_update_cache"(%k, %new, %p) <{share_cache = false}>
          : (tensor<1x4x32x64xbf16>, tensor<1x1x4x64xbf16>, tensor<1xsi32>) -> ()
      "ttir.paged_update_cache"(%v, %new, %q) <{share_cache = false}>
          : (tensor<1x4x32x64xbf16>, tensor<1x1x4x64xbf16>, tensor<1xsi32>) -> ()
      %0 = "ttir.add"(%p, %one) : (tensor<1xsi32>, tensor<1xsi32>) -> tensor<1xsi32>
      %1 = "ttir.add"(%q, %one) : (tensor<1xsi32>, tensor<1xsi32>) -> tensor<1xsi32>
      return %0, %1 : tensor<1xsi32>, tensor<1xsi32>
    }

After:

    ...
        "ttir.paged_update_cache"(%arg0, %arg2, %arg4) ...
        "ttir.paged_update_cache"(%arg1, %arg2, %arg4) ...
        %1 = "ttir.add"(%arg4, %0) ...
        %2 = "ttir.add"(%arg4, %0) ...
        return %1, %2 : tensor<1xsi32>, tensor<1xsi32>
      }
    }

Requires: ttir of 2026; positions that count alike are equal when the function is called.
Ensures: of the arguments that say where caches are written, and that the function returns increased
by one constant, one is used: the one whose sum is returned last.
Options: none.
Not done here: the sums are merged by `cse`; the function keeps its arguments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import BlockArgument

from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttir.value_rewriting import either_way, made_by, number_known

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, SSAValue

_UPDATES = frozenset(("ttir.update_cache", "ttir.paged_update_cache"))
_POSITION = 2
"""The operand that says where a cache is written."""


@dataclass(frozen=True)
class TTIRConsolidateStaticCacheUpdatesPass(ModulePass):
    """Let the layers of a model count the tokens in their caches together."""

    name = "ttir-consolidate-static-cache-updates"
    title = "TTIRConsolidateStaticCacheUpdates"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Use one position of those that count alike, in each function."""
        for function in module.walk():
            if isinstance(function, FuncOp) and function.body.blocks:
                _consolidate(function)


def _consolidate(function: FuncOp) -> None:
    positions = [
        position
        for op in function.walk()
        if op.name in _UPDATES and (position := _argument(op.operands[_POSITION])) is not None
    ]
    end = function.body.blocks[0].last_op
    if len(set(positions)) < 2 or not isinstance(end, ReturnOp):
        return
    alike: dict[tuple[Attribute, float], list[BlockArgument]] = {}
    for value in end.operands:
        counted = _counted(value)
        if counted is not None and counted[0] in positions:
            position, step = counted
            alike.setdefault((position.type, step), []).append(position)
    for same in alike.values():
        for position in dict.fromkeys(same[:-1]):
            if position is not same[-1]:
                position.replace_all_uses_with(same[-1])


def _argument(value: SSAValue) -> BlockArgument | None:
    """The argument that a value is, in whatever shape."""
    while (maker := made_by(value, "reshape")) is not None:
        value = maker.operands[0]
    return value if isinstance(value, BlockArgument) else None


def _counted(value: SSAValue) -> tuple[BlockArgument, float] | None:
    """The argument that a sum with a number is of, and that number."""
    maker = made_by(value, "add")
    for position, step in () if maker is None else either_way(maker):
        number = number_known(step)
        if isinstance(position, BlockArgument) and number is not None:
            return position, number
    return None
