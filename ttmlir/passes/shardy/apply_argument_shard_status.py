"""Say whether the caller hands over arguments and takes results as a whole or in parts.

Before:

    sdy.mesh @mesh = <["x"=1, "y"=2]>
    func.func @main(%a: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>},
        %b: tensor<64x32xf32>) -> tensor<64x32xf32> {
      %0 = stablehlo.add %a, %b : tensor<64x32xf32>
      return %0 : tensor<64x32xf32>
    }

After:

    module {
      sdy.mesh @mesh = <["x"=1, "y"=2]>
      func.func @main(%arg0: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>,
          ttcore.shard_status = #ttcore.shard_status<presharded>},
          %arg1: tensor<64x32xf32> {ttcore.shard_status = #ttcore.shard_status<unsharded>}) ->
          (tensor<64x32xf32> {ttcore.shard_status = #ttcore.shard_status<unsharded>}) {
        ...

Requires: nothing.
Ensures: each argument of a function has a `ttcore.shard_status`: presharded if it has a sharding;
each result of a public function has one, too.
Options: `result-presharded`: a 1 for each result that is taken in parts, a 0 for the others;
without it results are taken as a whole.
Not done here: what is known already stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.func import FuncOp

from ttmlir.dialects.ttcore import ShardStatusAttr
from ttmlir.ir.rewriting import refuse_at, symbol_visibility
from ttmlir.layout.enums import ShardStatus
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.shardy.spreading.shardings import SHARDING, said_of, set_argument, set_result

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

_STATUS = "ttcore.shard_status"
_SAID = (SHARDING, "mhlo.sharding")


@dataclass(frozen=True)
class ApplyArgumentShardStatusPass(ModulePass):
    """Say whether arguments and results are handed over in parts."""

    name = "apply-argument-shard-status"
    title = "ApplyArgumentShardStatusPass"
    result_presharded: tuple[int, ...] = option(
        (), "1 for each result that is taken in parts, 0 for the others"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Annotate every function."""
        for function in [op for op in module.walk() if isinstance(op, FuncOp)]:
            self._annotate(function)

    def _annotate(self, function: FuncOp) -> None:
        for index in range(len(function.function_type.inputs)):
            said = said_of(function.arg_attrs, index)
            if _STATUS not in said:
                is_spread = any(name in said for name in _SAID)
                set_argument(function, index, ttcore__shard_status=_status(is_spread))
        if symbol_visibility(function) == "private":
            return
        count = len(function.function_type.outputs)
        given = self.result_presharded or (0,) * count
        if len(given) != count:
            refuse_at(
                function,
                "The size of the result shard status does not match the number of results in the "
                f"function: result-presharded has {len(given)}, the function {count}",
            )
        for index, number in enumerate(given):
            known = said_of(function.res_attrs, index)
            if _STATUS not in known:
                set_result(function, index, ttcore__shard_status=_status(bool(number)))


def _status(is_spread: bool) -> ShardStatusAttr:
    return ShardStatusAttr(ShardStatus.PRESHARDED if is_spread else ShardStatus.UNSHARDED)
