"""Let no more axes be added to shardings, and drop the axes that tensors are copied over.

Before:

    sdy.mesh @mesh = <["x"=1, "y"=2]>
    func.func @main(%a: tensor<64x32xf32>
        {sdy.sharding = #sdy.sharding<@mesh, [{"y", ?}, {?}], replicated={"x"}>})
        -> tensor<64x32xf32> {
      return %a : tensor<64x32xf32>
    }

After:

    ...
      func.func @main(%arg0: tensor<64x32xf32>
          {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<64x32xf32> {
        ...

Requires: nothing.
Ensures: no sharding has a `?` or names axes that the tensor is not spread over.
Options: none.
Not done here: axes of sums that are not finished (`unreduced`) stay.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.shardy.spreading.shardings import Sharding, map_shardings

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

_REPLICATED = re.compile(r", replicated=\{[^{}]*\}")


@dataclass(frozen=True)
class SdyCloseShardingsPass(ModulePass):
    """Let no more axes be added to shardings."""

    name = "sdy-close-shardings"
    title = "CloseShardingsPass"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Close every sharding."""
        map_shardings(module, _close)


def _close(sharding: Sharding) -> Sharding:
    return replace(sharding.closed(), rest=_REPLICATED.sub("", sharding.rest))
