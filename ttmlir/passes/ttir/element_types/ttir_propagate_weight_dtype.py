"""Let products say what format their weights are kept in, as the arguments of a function say.

Before:

    func.func @main(%a: tensor<32x64xbf16>,
        %w: tensor<128x64xbf16> {ttcore.weight_dtype = "bfp_bf8"}) -> tensor<32x128xbf16> {
      %0 = "ttir.permute"(%w) <{permutation = array<i64: 1, 0>}>
          : (tensor<128x64xbf16>) -> tensor<64x128xbf16>
      %1 = "ttir.matmul"(%a, %0)
          : (tensor<32x64xbf16>, tensor<64x128xbf16>) -> tensor<32x128xbf16>
      return %1 : tensor<32x128xbf16>
    }

After:

    ...
        %1 = "ttir.matmul"(%arg0, %0) <{transpose_a = false, transpose_b = false}>
            {ttcore.weight_dtype = "bfp_bf8"}
            : (tensor<32x64xbf16>, tensor<64x128xbf16>) -> tensor<32x128xbf16>
        ...

Requires: ttir of 2026.
Ensures: a `ttir.matmul`, `ttir.linear` or `ttir.sparse_matmul` whose second operand comes from
arguments with the attribute has it, too: that of the widest format, if they differ.
Options: none.
Not done here: formats that are unknown are left out, with a warning. What a product says stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp

from ttmlir.ir.rewriting import arguments_behind
from ttmlir.mlir.reporting import op_diagnostic, warn
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.general.const_eval_hoist_transform import argument_attribute
from ttmlir.passes.placement.layout_overrides import WEIGHT_DTYPES

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation, SSAValue

WEIGHT_DTYPE = "ttcore.weight_dtype"
"""The attribute of arguments and products."""
WEIGHTED = ("matmul", "linear", "sparse_matmul")
"""The products whose second operand is a weight."""
_WIDTHS = [each.keyword for each in reversed(WEIGHT_DTYPES)]
"""The formats, the narrowest first."""
_LEGAL = "bfp_bf8, bfp_bf4, bf16"


@dataclass(frozen=True)
class TTIRPropagateWeightDtypePass(ModulePass):
    """Let products say what format their weights are kept in."""

    name = "ttir-propagate-weight-dtype"
    title = "TTIRPropagateWeightDtype"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Set the attribute of every product."""
        said = _formats_of_arguments(module)
        # Most programs say nothing of weights, and what a product is computed from can be long.
        if not said:
            return
        products = {f"ttir.{name}" for name in WEIGHTED}
        for op in module.walk():
            if op.name in products and WEIGHT_DTYPE not in op.attributes:
                found = {said[each] for each in arguments_behind(op.operands[1]) if each in said}
                if found:
                    widest = max(found, key=_WIDTHS.index)
                    op.attributes[WEIGHT_DTYPE] = StringAttr(widest)


def keyword_of_weight(op: Operation, said: object, of: str = "") -> str | None:
    """The format that an attribute names; None, with a warning, where it names none."""
    if said is None:
        return None
    keyword = said.data if isinstance(said, StringAttr) else str(said)
    if keyword in _WIDTHS:
        return keyword
    message = f'ignoring invalid {WEIGHT_DTYPE} "{keyword}"{of}; legal values are: {_LEGAL}'
    warn(op_diagnostic(op, message, severity="warning", with_name=False))
    return None


def _formats_of_arguments(module: ModuleOp) -> dict[SSAValue, str]:
    """What functions say of the formats of their arguments."""
    found: dict[SSAValue, str] = {}
    for function in module.walk():
        if isinstance(function, FuncOp) and function.body.blocks:
            for argument in function.body.blocks[0].args:
                said = argument_attribute(function, argument.index, WEIGHT_DTYPE)
                keyword = keyword_of_weight(function, said, f" on argument {argument.index}")
                if keyword is not None:
                    found[argument] = keyword
    return found
