"""Mark the arguments of a function that keep the keys and values of earlier tokens.

Before:

    func.func @main(%cache: tensor<1x4x64x32xbf16>, %new: tensor<1x4x32x32xbf16>)
        -> tensor<1x4x64x32xbf16> {
      "ttir.fill_cache"(%cache, %new) <{batch_offset = 0 : i32}>
          : (tensor<1x4x64x32xbf16>, tensor<1x4x32x32xbf16>) -> ()
      return %cache : tensor<1x4x64x32xbf16>
    }

After:

    ...
      func.func @main(%arg0: tensor<1x4x64x32xbf16> {ttcore.kv_cache}, ...) -> ... {
        ...

Requires: ttir of 2026.
Ensures: arguments that operations on caches write to have `ttcore.kv_cache`.
Options: none.
Not done here: caches that are computed before they are written to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument

from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute

CACHE_OPS = ("fill_cache", "update_cache", "paged_fill_cache", "paged_update_cache")
"""Operations that write to their first operand."""
KV_CACHE = "ttcore.kv_cache"
"""The attribute of arguments."""


@dataclass(frozen=True)
class TTIRInferKVCacheArgumentTypesPass(ModulePass):
    """Mark the arguments of a function that keep the keys and values of earlier tokens."""

    name = "ttir-infer-kv-cache-argument-types"
    title = "TTIRInferKVCacheArgumentTypes"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Set the attribute where an operation on caches writes to an argument."""
        names = {f"ttir.{name}" for name in CACHE_OPS}
        for op in module.walk():
            if op.name in names and isinstance(cache := op.operands[0], BlockArgument):
                function = cache.block.parent_op()
                if isinstance(function, FuncOp):
                    set_argument_attribute(function, cache.index, KV_CACHE, UnitAttr())


def set_argument_attribute(function: FuncOp, number: int, name: str, value: Attribute) -> None:
    """Say something of an argument of a function."""
    said = function.arg_attrs
    count = len(function.function_type.inputs.data)
    dicts = [DictionaryAttr({})] * count if said is None else [*said.data]
    dicts[number] = DictionaryAttr(dicts[number].data | {name: value})
    function.arg_attrs = ArrayAttr(dicts)
