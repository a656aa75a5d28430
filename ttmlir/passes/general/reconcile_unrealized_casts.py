"""Remove chains of unrealized casts that lead back to the type they began with.

Before:

    func.func @f(%x: i64) -> i64 {
      %0 = builtin.unrealized_conversion_cast %x : i64 to index
      %1 = builtin.unrealized_conversion_cast %0 : index to i64
      return %1 : i64
    }

After:

    module {
      func.func @f(%arg0: i64) -> i64 {
        return %arg0 : i64
      }
    }

Requires: nothing.
Ensures: no cast gives the types of the values that it, or the casts before it, began with; the
casts that are left have users.
Options: none.
Not done here: casts that are left are no error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp, UnrealizedConversionCastOp
    from xdsl.ir import Operation, SSAValue


@dataclass(frozen=True)
class ReconcileUnrealizedCastsPass(ModulePass):
    """Simplify and eliminate unrealized conversion casts."""

    name = "reconcile-unrealized-casts"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Remove the casts of the module that cancel out."""
        fold_casts(module)


def fold_casts(root: Operation) -> None:
    """Let users of casts inside `root` use what was cast, where the types are the same again."""
    from xdsl.dialects.builtin import UnrealizedConversionCastOp

    from ttmlir.ir.rewriting import erase_unused

    casts = [op for op in root.walk() if isinstance(op, UnrealizedConversionCastOp)]
    for cast in casts:
        origin = _origin(cast)
        if origin is not None:
            for result, value in zip(cast.results, origin, strict=True):
                result.replace_all_uses_with(value)
    erase_unused(casts)


def _origin(cast: UnrealizedConversionCastOp) -> Sequence[SSAValue] | None:
    """The values with the result types of `cast` that it and casts before it convert."""
    from xdsl.dialects.builtin import UnrealizedConversionCastOp

    wanted = list(cast.result_types)
    while [value.type for value in cast.inputs] != wanted:
        source = cast.inputs[0].owner if cast.inputs else None
        if not isinstance(source, UnrealizedConversionCastOp):
            return None
        if tuple(source.results) != tuple(cast.inputs):
            return None
        cast = source
    return cast.inputs
