"""The step between ttnn's layouts and those of the direct-to-metal path."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.ir import Operation
from xdsl.irdl import traits_def
from xdsl.traits import HasCanonicalizationPatternsTrait, Pure

from ttmlir.dialects.definition.assembly import ConversionOp
from ttmlir.dialects.definition.ods import Signature, TypeConstraint, ValueGroup

_SHAPED = TypeConstraint(
    "ranked tensor or memref of any type values",
    lambda type: isinstance(type, TensorType | MemRefType),
)


class _CastPatterns(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls):
        """A cast there and back is left out."""
        from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

        class FoldInverse(RewritePattern):
            """A cast of a cast to the type that was there first."""

            def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
                """Take the first value."""
                before = op.operands[0].owner
                if not isinstance(before, TTNNMetalLayoutCastOp):
                    return
                if before.operands[0].type == op.results[0].type:
                    rewriter.replace(op, (), [before.operands[0]])

        return (FoldInverse(),)


class TTNNMetalLayoutCastOp(ConversionOp):
    """A tensor with a layout of ttnn as one with a `#ttcore.metal_layout`, or back.

    No data is moved: both layouts say the same of the memory.

    Example:
        %1 = ttir.ttnn_metal_layout_cast %0 : tensor<32x32xbf16, #ttnn_layout>
            -> tensor<1x1x1x1x!ttcore.tile<32x32, bf16>, #layout>
    """

    name = "ttir.ttnn_metal_layout_cast"
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("input", _SHAPED),), results=(ValueGroup("result", _SHAPED),)
    )
    traits = traits_def(Pure(), _CastPatterns())
